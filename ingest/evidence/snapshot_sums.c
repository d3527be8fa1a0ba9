// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/snapshot_sums.h"

// Up to NULL.
struct words {
    const char *figure;
    const char *names[SNAPSHOT_MOST_WORDS];
};

enum { STATE_INACTIVE };
enum {
    ACTION_ALLOC,
    ACTION_FREE_COMPLETED,
    ACTION_FREE_REQUESTED,
    ACTION_SEGMENT_ALLOC,
    ACTION_SEGMENT_FREE,
    ACTION_SEGMENT_MAP,
    ACTION_SEGMENT_UNMAP,
    ACTION_SNAPSHOT,
    ACTION_OOM
};

static const struct words known[SNAPSHOT_WORDS] = {
    [WORD_SEGMENT_TYPE] = {"segment_types", {"small", "large", "other"}},
    [WORD_STATE] = {"block_states",
                    {"inactive", "active_allocated", "active_awaiting_free", "active_pending_free",
                     "other"}},
    [WORD_ACTION] = {"actions",
                     {"alloc", "free_completed", "free_requested", "segment_alloc", "segment_free",
                      "segment_map", "segment_unmap", "snapshot", "oom", "other"}},
};

unsigned snapshot_place(enum snapshot_word member, struct str word)
{
    const struct words *words = &known[member];
    unsigned i = 0;
    while (words->names[i + 1] && !str_equal(word, str_of(words->names[i])))
        i++;
    return i;
}

bool snapshot_is_in_use(unsigned state)
{
    return state != STATE_INACTIVE;
}

enum snapshot_effect snapshot_effect(unsigned action)
{
    static const enum snapshot_effect effects[SNAPSHOT_MOST_WORDS] = {
        [ACTION_ALLOC] = SNAPSHOT_ALLOC,
        [ACTION_FREE_COMPLETED] = SNAPSHOT_FREE,
        [ACTION_SEGMENT_ALLOC] = SNAPSHOT_RESERVE,
        [ACTION_SEGMENT_FREE] = SNAPSHOT_RELEASE,
        [ACTION_SEGMENT_MAP] = SNAPSHOT_RESERVE,
        [ACTION_SEGMENT_UNMAP] = SNAPSHOT_RELEASE,
        [ACTION_OOM] = SNAPSHOT_OOM,
    };
    return effects[action];
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// The ring may have lost how the run started, so this follows from the end. Blocks that await their
// free are replayed as in use, so those at the end count, too.
int64_t snapshot_before(const struct snapshot_sums *sums, int64_t device, int64_t net)
{
    int64_t end = larger(sums->active_on[device], sums->allocated_on[device]);
    bool all_recorded = figures_minus(end, sums->rounded_on[device]) == net;
    return all_recorded ? 0 : figures_minus(end, net);
}

void snapshot_add_segment(struct snapshot_sums *sums, const struct snapshot_segment *segment)
{
    sums->segments++;
    sums->profiled |= segment->profiled;
    sums->types.at[segment->type]++;
    figures_sum(&sums->reserved, segment->total_size);
    figures_sum(&sums->allocated, segment->allocated_size);
    figures_sum(&sums->active, segment->active_size);
    if (segment->device >= SNAPSHOT_MOST_DEVICES)
        return;
    figures_sum(&sums->allocated_on[segment->device], segment->allocated_size);
    figures_sum(&sums->active_on[segment->device], segment->active_size);
}

void snapshot_add_block(struct snapshot_sums *sums, const struct snapshot_change *block)
{
    sums->blocks++;
    sums->states.at[block->word]++;
    if (block->word == STATE_INACTIVE)
        sums->largest_inactive = larger(sums->largest_inactive, block->size);
}

void snapshot_add_event(struct snapshot_sums *sums, int64_t device,
                        const struct snapshot_change *event)
{
    if (device >= SNAPSHOT_MOST_DEVICES)
        return;
    struct trace_sums *trace = &sums->traces[device];
    trace->events++;
    trace->actions.at[event->word]++;
    if (event->word == ACTION_ALLOC) {
        figures_sum(&trace->net, event->size);
    } else if (event->word == ACTION_FREE_REQUESTED) {
        figures_sum(&trace->asked, event->size);
    } else if (event->word == ACTION_FREE_COMPLETED) {
        figures_sum(&trace->freed, event->size);
        trace->net = figures_minus(trace->net, event->size);
    }
    trace->peak = larger(trace->peak, trace->net);
    trace->lowest = trace->net < trace->lowest ? trace->net : trace->lowest;
}

void snapshot_drop(struct snapshot_sums *sums, uint32_t device)
{
    sums->allocated = figures_minus(sums->allocated, sums->allocated_on[device]);
    sums->active = figures_minus(sums->active, sums->active_on[device]);
    sums->traces[device] = (struct trace_sums){0};
}

void snapshot_forget(struct snapshot_sums *sums, uint32_t device)
{
    struct trace_sums *trace = &sums->traces[device];
    sums->rounded_on[device] = 0;
    trace->net = trace->peak = trace->lowest = 0;
}

// --- figures ------------------------------------------------------------------------------------

static void report_words(const struct word_counts *counts, enum snapshot_word member,
                         struct figures *figures)
{
    const struct words *words = &known[member];
    for (unsigned i = 0; words->names[i]; i++)
        if (counts->at[i])
            figures_add(figures, counts->at[i], "%s" IN "%s", words->figure, words->names[i]);
}

static void report_actions(const struct word_counts *counts, unsigned at, struct figures *figures)
{
    const struct words *words = &known[WORD_ACTION];
    for (unsigned i = 0; words->names[i]; i++)
        if (counts->at[i])
            figures_add(figures, counts->at[i], "traces" IN "%u" IN "%s" IN "%s", at, words->figure,
                        words->names[i]);
}

static void report_trace(const struct snapshot_sums *sums, unsigned device, unsigned at,
                         struct figures *figures)
{
    const struct trace_sums *trace = &sums->traces[device];
    int64_t end = sums->allocated_on[device];
    int64_t baseline = snapshot_before(sums, device, trace->net), peak = baseline;
    figures_sum(&peak, trace->peak);
    figures_add(figures, device, "traces" IN "%u" IN "device", at);
    figures_add(figures, trace->events, "traces" IN "%u" IN "events", at);
    report_actions(&trace->actions, at, figures);
    figures_add(figures, trace->net, "traces" IN "%u" IN "net_bytes", at);
    figures_add(figures, trace->peak, "traces" IN "%u" IN "peak_over_start", at);
    figures_add(figures, trace->lowest, "traces" IN "%u" IN "lowest", at);
    figures_add(figures, baseline, "traces" IN "%u" IN "baseline", at);
    figures_add(figures, peak, "traces" IN "%u" IN "peak_allocated", at);
    figures_add(figures, end, "traces" IN "%u" IN "allocated_at_end", at);
}

static void report_end(const struct snapshot_sums *sums, struct figures *figures)
{
    if (sums->profiled) {
        figures_add(figures, sums->allocated, "allocated");
        return;
    }
    figures_add(figures, sums->segments, "segments");
    figures_add(figures, sums->reserved, "reserved");
    figures_add(figures, sums->allocated, "allocated");
    figures_add(figures, sums->active, "active");
    figures_add(figures, sums->blocks, "blocks");
    figures_add(figures, sums->largest_inactive, "largest_inactive_block");
    report_words(&sums->states, WORD_STATE, figures);
    report_words(&sums->types, WORD_SEGMENT_TYPE, figures);
}

void snapshot_report(const struct snapshot_sums *sums, struct figures *figures)
{
    unsigned traces = 0;
    report_end(sums, figures);
    figures_list(figures, "traces" IN);
    for (unsigned device = 0; device < SNAPSHOT_MOST_DEVICES; device++)
        if (sums->traces[device].events)
            report_trace(sums, device, traces++, figures);
    figures_add(figures, sums->annotations, "annotations");
}
