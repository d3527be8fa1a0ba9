// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_timer.h"

// It is printed after DeepSpeed's other line of a step.
void log_timer_counts(struct log_timer *timer, const struct log_step *step)
{
    timer->own = timer->own || step->step < timer->job;
    timer->count = step->step;
}

bool log_timer_others(struct log_timer *timer, const struct log_step *step)
{
    bool knew = timer->own;
    bool rates = log_step_has(step, LOG_ALL_SKIPPED);
    if (step->step == LOG_NO_STEP)
        return false;
    if (rates && step->step < timer->job) // the job began again
        timer->count = LOG_NO_STEP;
    // A progress bar may be one behind.
    if (timer->count != LOG_NO_STEP)
        timer->own = timer->own || step->step < timer->count - !rates;
    if (rates)
        timer->job = step->step;
    return timer->own && !knew;
}
