// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_events.h"

#include "ingest/logs/log_text.h"

#include <math.h>

enum { MOST_BETWEEN = 1024 }; // events between the start and the end of one

const struct log_event_row log_event_rows[] = {
    // Megatron-LM
    {.mark = "saving checkpoint", .kind = LOG_CHECKPOINT, .also = "iteration"},
    {.mark = "successfully saved checkpoint", .kind = LOG_CHECKPOINT, .ends = true},
    {.mark = "successfully loaded checkpoint", .kind = LOG_CHECKPOINT, .ends = true},
    {.mark = "loading checkpoint from", .kind = LOG_CHECKPOINT},
    {.mark = "validation loss at ", .kind = LOG_EVALUATION, .loss = "lm loss value:"},
    // torchtitan
    {.mark = "Saving the checkpoint", .kind = LOG_CHECKPOINT},
    {.mark = "Saving a full checkpoint", .kind = LOG_CHECKPOINT},
    {.mark = "Finished saving the checkpoint", .kind = LOG_CHECKPOINT, .ends = true},
    {.mark = "Loading the checkpoint", .kind = LOG_CHECKPOINT},
    {.mark = "Finished loading the checkpoint", .kind = LOG_CHECKPOINT, .ends = true},
    {.mark = "validate step:", .kind = LOG_EVALUATION, .loss = "loss:"},
    {.mark = "GC collection", .kind = LOG_GARBAGE},
    {.mark = "Dumping traces", .kind = LOG_PROFILER},
    {.mark = "Dumping profiler traces", .kind = LOG_PROFILER},
    {.mark = "Dumping memory snapshot", .kind = LOG_PROFILER},
    {.mark = "Finished dumping ", .kind = LOG_PROFILER, .ends = true},
    // NeMo
    {.mark = "checkpoint save for step", .kind = LOG_CHECKPOINT},
    {.mark = "Saved checkpoint", .kind = LOG_CHECKPOINT, .ends = true},
    // DeepSpeed, HF Trainer, Automodel
    {.mark = "Saving model checkpoint", .kind = LOG_CHECKPOINT},
    {.mark = "[Torch] Saving ", .kind = LOG_CHECKPOINT},
    {.mark = "[Torch] Saved ", .kind = LOG_CHECKPOINT, .ends = true},
    {.mark = "'eval_loss': ",
     .kind = LOG_EVALUATION,
     .loss = "'eval_loss':",
     .duration = "'eval_runtime':"},
    // verl's trainer of fine-tuning
    {.mark = "val/loss:", .kind = LOG_EVALUATION, .loss = "val/loss:"},
    {.mark = "[val] name ", .kind = LOG_EVALUATION, .loss = "| loss "},
    // modded-nanogpt
    {.mark = " val_loss:", .kind = LOG_EVALUATION, .also = "ms step_avg:", .loss = "val_loss:"},
    // faults
    {.mark = "CUDA out of memory", .kind = LOG_FAULT},
    {.mark = "HIP out of memory", .kind = LOG_FAULT},
    {.mark = "OutOfMemoryError", .kind = LOG_FAULT},
    {.mark = "RESOURCE_EXHAUSTED: ", .kind = LOG_FAULT},
    {.mark = "Watchdog caught collective operation timeout", .kind = LOG_FAULT},
    {.mark = "NCCL error", .kind = LOG_FAULT},
    {.mark = "CUDA error: ", .kind = LOG_FAULT},
    {.mark = "HIP error: ", .kind = LOG_FAULT},
    {.mark = "Memory access fault by GPU", .kind = LOG_FAULT},
    {.mark = "watchdog got stuck for ", .kind = LOG_FAULT},
    {.mark = "Got completion from peer ", .kind = LOG_FAULT}, // NCCL, of a link that failed
    {.mark = "Segmentation fault", .kind = LOG_FAULT},
    {.mark = "failed (exitcode: ", .kind = LOG_FAULT},        // torchrun
    {.mark = "exits with return code = ", .kind = LOG_FAULT}, // DeepSpeed's launcher
    {.mark = "HW Exception by GPU", .kind = LOG_FAULT},
    {.mark = "oss is nan, stopping training", .kind = LOG_FAULT}, // of many programs
    {.mark = "oss is NaN, stopping training", .kind = LOG_FAULT},
    {.mark = "oss is NAN, stopping training", .kind = LOG_FAULT},
    {.mark = "oss is inf, stopping training", .kind = LOG_FAULT},
    {.mark = "remote task has failed", .kind = LOG_FAULT},        // JAX
    {.mark = "worker died or was killed", .kind = LOG_FAULT},     // Ray
    {.mark = "killed due to memory pressure", .kind = LOG_FAULT}, // Ray
    // faults of the kernel's log, of which each may be of another GPU
    {.mark = "NVRM: Xid (", .kind = LOG_FAULT, .most = 50},
    {.mark = "fallen off the bus", .kind = LOG_FAULT, .most = 50},
    {.mark = "GPU reset begin", .kind = LOG_FAULT, .most = 50},
    {.mark = "ut of memory: Killed process", .kind = LOG_FAULT, .most = 50},
    {.mark = "srun: error: ", .kind = LOG_FAULT},
    {.mark = "slurmstepd: error: ", .kind = LOG_FAULT},
    {.mark = " CANCELLED AT ", .kind = LOG_FAULT, .also = "*** "}, // with a time before "error:"
};
const size_t log_event_row_count = sizeof log_event_rows / sizeof *log_event_rows;
_Static_assert(sizeof log_event_rows / sizeof *log_event_rows <= LOG_MOST_EVENT_ROWS,
               "the faults of each row are counted");

// "val_loss:{val_loss:.4f}": some programs print their own source code.
static bool is_source_code(struct str text, const char *after)
{
    size_t at = str_find(text, str_of(after));
    return at < text.len && str_starts_with(log_trim(log_from(text, at + strlen(after))), STR("{"));
}

// The number after a text; NAN if there is none. Quotes and blanks may come between.
static double number_after(struct str text, const char *after)
{
    double number;
    struct str rest;
    size_t at = str_find(text, str_of(after));
    if (at == SIZE_MAX)
        return NAN;
    rest = log_trim(log_from(text, at + strlen(after)));
    if (rest.len && memchr("'\"", *rest.at, 2))
        rest = log_from(rest, 1);
    return log_number(rest, &number, &rest) == LOG_NUMBER ? number : NAN;
}

// Of "0.06 seconds" at the end of the sentence.
static double seconds_in(struct str text)
{
    double number;
    struct str rest;
    size_t end = str_find(text, STR(" seconds")), from = end;
    if (end == SIZE_MAX)
        return NAN;
    while (from > 0 && (str_is_digit(text.at[from - 1]) || text.at[from - 1] == '.'))
        from--;
    struct str digits = {text.at + from, end - from};
    return log_number(digits, &number, &rest) == LOG_NUMBER ? number : NAN;
}

bool log_event_read(const struct log_event_row *row, struct str text, struct log_event *event,
                    bool *utc)
{
    if ((row->also && str_find(text, str_of(row->also)) == SIZE_MAX) ||
        (row->loss && is_source_code(text, row->loss)))
        return false;
    struct log_prefix prefix = log_prefix_of(text);
    double seconds = row->duration ? number_after(text, row->duration) : seconds_in(text);
    *event = (struct log_event){
        .kind = row->kind,
        .after_step = LOG_NO_STEP,
        .time_ns = prefix.time_ns,
        .rank = prefix.rank,
        .dur_ns = seconds >= 0 && seconds < 1e9 ? (int64_t)llround(seconds * 1e9) : -1,
        .loss = row->loss ? number_after(text, row->loss) : NAN};
    *utc = prefix.utc;
    return true;
}

struct log_event *log_event_begun(const struct log_book *book, const struct log_event *end)
{
    int64_t after_step = book->step_count ? book->steps[book->step_count - 1].step : LOG_NO_STEP;
    for (size_t i = book->event_count, far = 0; i > 0 && far < MOST_BETWEEN; i--, far++) {
        struct log_event *event = &book->events[i - 1];
        if (event->after_step != after_step)
            break;
        if (event->kind == end->kind && event->rank == end->rank && event->dur_ns < 0)
            return event;
    }
    return NULL;
}
