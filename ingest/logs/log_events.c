// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_events.h"

#include "ingest/logs/log_text.h"

#include <math.h>

#define NEEDLE(text)             \
    {                            \
        "" text, sizeof text - 1 \
    }

// Where a framework prints the start and the end, the end: it may say how long it took.
const struct log_phrase log_phrases[LOG_PHRASE_COUNT] = {
    {LOG_CHECKPOINT, NEEDLE("successfully saved checkpoint"), NULL, NULL},
    {LOG_CHECKPOINT, NEEDLE("successfully loaded checkpoint"), NULL, NULL},
    {LOG_CHECKPOINT, NEEDLE("Finished saving the checkpoint"), ") in ", NULL},
    {LOG_CHECKPOINT, NEEDLE("Finished loading the checkpoint"), " in ", NULL},
    {LOG_CHECKPOINT, NEEDLE("Saving model checkpoint to"), NULL, NULL},
    {LOG_CHECKPOINT, NEEDLE("Saved a checkpoint at step"), NULL, NULL},
    {LOG_EVALUATION, NEEDLE("validation loss at"), NULL, "lm loss value:"},
    {LOG_EVALUATION, NEEDLE("validate step:"), NULL, "loss:"},
    {LOG_EVALUATION, NEEDLE("'eval_loss':"), "'eval_runtime':", "'eval_loss':"},
    {LOG_GARBAGE, NEEDLE("periodical GC collection"), "collection.", NULL},
    {LOG_PROFILER, NEEDLE("Finished dumping profiler traces"), " in ", NULL},
    {LOG_FAULT, NEEDLE("CUDA out of memory"), NULL, NULL},
    {LOG_FAULT, NEEDLE("HIP out of memory"), NULL, NULL},
    {LOG_FAULT, NEEDLE("Watchdog caught collective operation timeout"), NULL, NULL},
    {LOG_FAULT, NEEDLE("ncclSystemError"), NULL, NULL},
    {LOG_FAULT, NEEDLE("ncclRemoteError"), NULL, NULL},
    {LOG_FAULT, NEEDLE("illegal memory access"), NULL, NULL},
    {LOG_FAULT, NEEDLE("ChildFailedError"), NULL, NULL},
    {LOG_FAULT, NEEDLE("CANCELLED AT "), NULL, NULL},
};

static bool number_after(struct str line, const char *word, double *number)
{
    size_t at = word ? str_find(line, str_of(word)) : SIZE_MAX;
    return at != SIZE_MAX && log_number(log_from(line, at + strlen(word)), number) &&
           isfinite(*number);
}

#define MOST_SECONDS 1e8 // three years

void log_phrase_read(const struct log_phrase *phrase, struct str line, struct log_event *event)
{
    double seconds;
    bool timed =
        number_after(line, phrase->after, &seconds) && seconds >= 0 && seconds < MOST_SECONDS;
    event->kind = phrase->kind;
    event->dur_ns = timed ? (int64_t)llround(seconds * 1e9) : -1;
    if (!number_after(line, phrase->loss, &event->loss))
        event->loss = NAN;
}
