// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_timer.h"

// Those at the end, which have nothing but the timer's figures.
static void drop_lines(struct log_book *book)
{
    const uint32_t figures =
        1u << LOG_MEAN_SAMPLES_PER_S | 1u << LOG_SAMPLES_PER_S | 1u << LOG_MEMORY_BYTES;
    for (; book->step_count; book->step_count--) {
        const struct log_step *last = &book->steps[book->step_count - 1];
        if (!log_step_has(last, LOG_MEAN_SAMPLES_PER_S) || (last->has & ~figures) || last->more)
            return;
    }
}

// It is printed after DeepSpeed's other line of a step, but before it by other ranks.
void log_timer_counts(struct log_timer *timer, struct log_book *book, const struct log_step *step)
{
    timer->count = step->step;
    if (timer->differs || step->step >= timer->job)
        return;
    timer->differs = true;
    if (book->step_count == 0)
        return;
    struct log_step other = book->steps[--book->step_count];
    drop_lines(book);
    book->steps[book->step_count++] = other;
}

void log_timer_others(struct log_timer *timer, struct log_book *book, const struct log_step *step)
{
    bool rates = log_step_has(step, LOG_ALL_SKIPPED);
    if (step->step == LOG_NO_STEP)
        return;
    if (rates && step->step < timer->job) // the job began again
        timer->count = LOG_NO_STEP;
    if (rates)
        timer->job = step->step;
    // A progress bar may be one behind.
    if (timer->differs || timer->count == LOG_NO_STEP || step->step >= timer->count - !rates)
        return;
    timer->differs = true;
    drop_lines(book);
}
