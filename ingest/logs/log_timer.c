// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_timer.h"

// It is printed after DeepSpeed's other line of a step.
void log_timer_counts(struct log_timer *timer, const struct log_step *step)
{
    timer->own = timer->own || step->step < timer->job;
    timer->count = step->step;
}

static void drop_lines(struct log_book *book, const struct log_step *step)
{
    const uint32_t figures =
        1u << LOG_MEAN_SAMPLES_PER_S | 1u << LOG_SAMPLES_PER_S | 1u << LOG_MEMORY_BYTES;
    for (; book->step_count; book->step_count--) {
        const struct log_step *last = &book->steps[book->step_count - 1];
        if (!log_step_has(last, LOG_MEAN_SAMPLES_PER_S) || (last->has & ~figures) || last->more ||
            !log_may_be_same_rank(last, step))
            return;
    }
}

void log_timer_others(struct log_timer *timer, struct log_book *book, const struct log_step *step)
{
    bool knew = timer->own, rates = log_step_has(step, LOG_ALL_SKIPPED);
    if (step->step == LOG_NO_STEP)
        return;
    if (rates && step->step < timer->job) // the job began again
        timer->count = LOG_NO_STEP;
    // A progress bar may be one behind.
    if (timer->count != LOG_NO_STEP)
        timer->own = timer->own || step->step < timer->count - !rates;
    if (rates)
        timer->job = step->step;
    if (timer->own && !knew)
        drop_lines(book, step);
}
