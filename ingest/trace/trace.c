// SPDX-License-Identifier: Apache-2.0
// Releasing a trace, and words about it.
#include "ingest/trace/trace.h"

#include "ingest/base/search.h"

const char *trace_recorder_name(enum trace_recorder recorder)
{
    static const char *const names[RECORDER_COUNT] = {[RECORDER_PYTORCH] = "PyTorch profiler",
                                                      [RECORDER_NSYS] = "Nsight Systems",
                                                      [RECORDER_ROCM] = "ROCm profiler",
                                                      [RECORDER_XLA] = "XLA profiler",
                                                      [RECORDER_EXTRAE] = "Extrae"};
    return names[recorder];
}

struct wording {
    const char *word, *text;
};

static const struct wording wordings[REPAIR_COUNT] = {
    [REPAIR_TRUNCATED] = {"truncated", "the file ends inside the events; complete events count"},
    [REPAIR_MALFORMED] = {"malformed", "events that are not JSON, skipped up to the next one"},
    [REPAIR_OVERSIZE] = {"oversize", "events or values larger than the limit, skipped"},
    [REPAIR_NOT_OBJECT] = {"not-an-object", "items of the event list that are not objects"},
    [REPAIR_INCOMPLETE] = {"incomplete",
                           "device, launch or operator events without ts, dur or name, left out"},
    [REPAIR_INCOMPLETE_OTHER] = {"incomplete-other", "other events without ts or name, left out"},
    [REPAIR_NO_DURATION] = {"no-duration", "other events without dur, counted with zero duration"},
    [REPAIR_NEGATIVE_DURATION] =
        {"negative-duration", "host events that end before they start, counted with zero duration"},
    [REPAIR_BAD_NUMBER] = {"bad-number", "inf, nan or no number where one was expected"},
    [REPAIR_TEXT] = {"text", "texts with invalid UTF-8, escapes or control characters, repaired"},
    [REPAIR_LONG_TEXT] = {"long-text", "texts longer than 64 KiB, cut"},
    [REPAIR_COMMA] = {"comma", "missing or surplus commas"},
    [REPAIR_UNKNOWN_PHASE] = {"unknown-phase",
                              "events without a phase or with an undefined one, left out"},
    [REPAIR_END_WITHOUT_BEGIN] = {"end-without-begin", "end events without a begin, left out"},
    [REPAIR_BEGIN_WITHOUT_END] =
        {"begin-without-end",
         "begin events without an end; they last to the end of the trace, device work is left out"},
    [REPAIR_BYTE_ORDER_MARK] = {"byte-order-mark", "a byte order mark before the text, skipped"},
    [REPAIR_TRAILING] = {"trailing", "bytes after the end of the document, left out"},
    [REPAIR_METADATA] = {"metadata", "top-level members too large to keep"},
    [REPAIR_COMPRESSION] =
        {"compression", "the compressed stream is truncated or damaged; events before that count"},
    [REPAIR_ARGS] = {"args", "operators whose args are not JSON, kept without them"},
    [REPAIR_FAR_TIME] = {"far-time",
                         "times more than 73 years from 1970, counted from the first such time"},
    [REPAIR_SECOND_LIST] =
        {"second-list",
         "further lists of events, as of other processes, read as one with the first"},
    [REPAIR_LOG] = {"database-log",
                    "a database whose last rows may still be in a file that ends in -wal"},
    [REPAIR_DAMAGED] = {"damaged", "pages of the database that cannot be read; other rows count"},
    [REPAIR_LOST] = {"lost-events", "warnings from the profiler that events may be lost"},
    [REPAIR_LONG_DURATION] = {"long-duration",
                              "host events that last over a day, counted with zero duration"},
};

const char *repair_word(enum repair repair)
{
    return wordings[repair].word;
}

const char *repair_text(enum repair repair)
{
    return wordings[repair].text;
}

const struct trace_setting *trace_setting_find(const struct trace *trace, struct str key)
{
    for (uint32_t i = 0; i < trace->setting_count; i++)
        if (str_equal(trace_text(trace, trace->settings[i].key), key))
            return &trace->settings[i];
    return NULL;
}

const struct trace_group *trace_group_find(const struct trace *trace, str_id name)
{
    uint32_t low = 0, high = trace->group_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->groups[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->group_count && trace->groups[low].name == name ? &trace->groups[low] : NULL;
}

static void release(struct budget *budget, const void *column, size_t count, size_t size)
{
    // Columns are const for readers; only the owner frees them.
    union {
        const void *borrowed;
        void *owned;
    } block = {column};
    budget_free(budget, block.owned, count * size);
}

uint32_t trace_comms_id(const struct trace *trace, uint32_t args)
{
    const struct comms_id *ids = trace->comms_ids;
    uint32_t at = count_below_u32(FIRST_OF(ids, args), trace->comms_id_count, sizeof *ids, args);
    return at < trace->comms_id_count && ids[at].args == args ? ids[at].id : 0;
}

void trace_free(struct trace *trace)
{
    if (!trace)
        return;
    struct budget *budget = trace->budget;
    size_t n = trace->event_count;
    release(budget, trace->begin_ns, n, sizeof *trace->begin_ns);
    release(budget, trace->dur_ns, n, sizeof *trace->dur_ns);
    release(budget, trace->name, n, sizeof *trace->name);
    release(budget, trace->kind, n, sizeof *trace->kind);
    release(budget, trace->args, n, sizeof *trace->args);
    release(budget, trace->tracks, trace->track_count, sizeof *trace->tracks);
    release(budget, trace->device_args, trace->device_args_count, sizeof *trace->device_args);
    release(budget, trace->comms_ids, trace->comms_id_count, sizeof *trace->comms_ids);
    release(budget, trace->launch_args, trace->launch_args_count, sizeof *trace->launch_args);
    release(budget, trace->op_args, trace->op_args_count, sizeof *trace->op_args);
    release(budget, trace->memory_args, trace->memory_args_count, sizeof *trace->memory_args);
    release(budget, trace->shapes, trace->shape_count, sizeof *trace->shapes);
    release(budget, trace->collectives, trace->collective_count, sizeof *trace->collectives);
    release(budget, trace->copy_calls, trace->copy_call_count, sizeof *trace->copy_calls);
    release(budget, trace->op_inputs, trace->op_inputs_count, sizeof *trace->op_inputs);
    release(budget, trace->devices, trace->device_count, sizeof *trace->devices);
    release(budget, trace->groups, trace->group_count, sizeof *trace->groups);
    release(budget, trace->settings, trace->setting_count, sizeof *trace->settings);
    release(budget, trace->counters, trace->counter_count, sizeof *trace->counters);
    release(budget, trace->counter_samples, trace->counter_sample_count,
            sizeof *trace->counter_samples);
    strtab_free(&trace->strings);
    budget_free(budget, trace, sizeof *trace);
}
