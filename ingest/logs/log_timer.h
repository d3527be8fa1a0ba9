// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's timer counts since it was made, also in a job that began from a checkpoint, and
// before 2023 batches that are part of a step. Where other lines say so, its numbers are no steps.
#ifndef INGEST_LOGS_LOG_TIMER_H
#define INGEST_LOGS_LOG_TIMER_H

#include "ingest/evidence/log_book.h"

struct log_timer {
    int64_t job;   // the last step by DeepSpeed's other line; LOG_NO_STEP
    int64_t count; // the timer's last number; LOG_NO_STEP
    bool differs;  // the timer does not count the job's steps
};

// A line of the timer, and any other one, before they are in the book. Once they differ, the
// timer's lines before them leave the book.
void log_timer_counts(struct log_timer *timer, struct log_book *book, const struct log_step *step);
void log_timer_others(struct log_timer *timer, struct log_book *book, const struct log_step *step);

#endif
