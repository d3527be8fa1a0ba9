// SPDX-License-Identifier: Apache-2.0
// What a training log says: the figures that were printed for steps, and what happened between
// them. Everything is as printed, in the order of the file: several ranks may print a step, and
// after a restart step numbers go back.
#ifndef INGEST_EVIDENCE_LOG_BOOK_H
#define INGEST_EVIDENCE_LOG_BOOK_H

#include "ingest/base/arena.h"
#include "ingest/base/str.h"

#include <stdint.h>

// Figures of a step. A rate per GPU is what one device did, whatever the log calls it.
enum log_value {
    LOG_STEP_S,               // seconds per step; the mean of those since the last line
    LOG_LOSS,                 // of training
    LOG_GRAD_NORM,            //
    LOG_LEARNING_RATE,        //
    LOG_TOKENS_PER_S,         // per GPU
    LOG_JOB_TOKENS_PER_S,     // of the whole job
    LOG_COPY_TOKENS_PER_S,    // of the GPUs that hold a copy of the model together
    LOG_SAMPLES_PER_S,        // of the whole job
    LOG_MEAN_SAMPLES_PER_S,   // of the whole job, since it began
    LOG_DEVICE_SAMPLES_PER_S, // per GPU
    LOG_TFLOPS,               // TFLOP/s per GPU
    LOG_MFU,                  // 0 to 1
    LOG_GLOBAL_BATCH,         // samples per step
    LOG_CONSUMED_SAMPLES,     // since the job began
    LOG_CONSUMED_TOKENS,      //
    LOG_MEMORY_BYTES,         // the most that PyTorch reserved or the device had in use, on one GPU
    LOG_SKIPPED,              // steps skipped since the last line
    LOG_ALL_SKIPPED,          // steps skipped since the job began
    LOG_NAN,                  // steps with a loss that is not a number since the last line
    LOG_POWER_W,              // per GPU
    LOG_ENERGY_J,             // per step and GPU
    LOG_EPOCH,                //
    LOG_RUN_S,                // seconds since the job began
    LOG_VALUES
};

#define LOG_NO_STEP INT64_MIN
#define LOG_NO_TIME INT64_MIN

struct log_step {
    int64_t step;       // as printed; LOG_NO_STEP if the log does not number its steps
    int64_t time_ns;    // when it was printed, by the log's clock; LOG_NO_TIME
    int64_t rank;       // who printed it; -1 unknown
    uint64_t pos;       // of its line in the text
    const char *writer; // the framework that prints such lines: "megatron"; lives as the program
    bool more;          // of the step of the line before, printed by another part of the job
    bool bar_time;      // its seconds are what a progress bar says
    uint32_t has;       // bits 1 << enum log_value of what was printed, also as "nan"
    double values[LOG_VALUES];
};

enum log_event_kind {
    LOG_CHECKPOINT, // written or read
    LOG_EVALUATION,
    LOG_GARBAGE, // a collection of Python's garbage
    LOG_PROFILER,
    LOG_FAULT, // an error that ended or may have ended the job
    LOG_EVENT_KINDS
};

struct log_event {
    enum log_event_kind kind;
    int64_t after_step; // the last step printed before it; LOG_NO_STEP
    int64_t time_ns;    // LOG_NO_TIME
    int64_t rank;       // -1 unknown
    int64_t dur_ns;     // -1 if not printed
    uint64_t pos;
    double loss;     // of an evaluation; NAN if not printed
    struct str text; // the line, fit to be stored and cut at 240 bytes
};

struct log_book {
    bool utc;           // times are UTC; otherwise of an unknown zone
    uint64_t nul_bytes; // in holes of the file
    struct log_step *steps;
    size_t step_count, step_cap;
    struct log_event *events;
    size_t event_count, event_cap;
};

static inline void log_step_set(struct log_step *step, enum log_value value, double number)
{
    step->has |= 1u << value;
    step->values[value] = number;
}

static inline bool log_step_has(const struct log_step *step, enum log_value value)
{
    return step->has >> value & 1;
}

// Takes from another line of the same step what is not there yet.
void log_step_fill(struct log_step *step, const struct log_step *from);

struct evidence;

// ERR_LIMIT past the budget.
MUST_CHECK bool log_book_add(struct evidence *evidence, const struct log_step *step,
                             struct err *err);
// The text is copied.
MUST_CHECK bool log_book_note(struct evidence *evidence, const struct log_event *event,
                              struct err *err);

#endif
