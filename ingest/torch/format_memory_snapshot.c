// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of PyTorch's caching allocator (torch.cuda.memory._dump_snapshot), counted:
// segments reserved from the device, the blocks in them, and per device what the recorded
// allocations add up to.
#include "ingest/format.h"
#include "ingest/pickle/pickle.h"

// What is kept of dicts. Times and call stacks, which would be most of the memory, are not counted.
#define KEYS(ROW)             \
    ROW(segments)             \
    ROW(device_traces)        \
    ROW(external_annotations) \
    ROW(device)               \
    ROW(total_size)           \
    ROW(allocated_size)       \
    ROW(active_size)          \
    ROW(segment_type)         \
    ROW(blocks)               \
    ROW(state)                \
    ROW(size)                 \
    ROW(action)

#define KEY(name)  KEY_##name,
#define NAME(name) #name,
enum key { KEYS(KEY) KEY_COUNT };
static const char *const key_names[] = {KEYS(NAME) NULL};

enum { MOST_DEVICES = 256, MOST_WORDS = 11 };

// Words that a member may be, then NULL; the last stands for any other.
struct words {
    const char *member;
    const char *names[MOST_WORDS];
};

static const struct words types = {"segment_types", {"small", "large", "other"}};
enum { STATE_INACTIVE };
static const struct words states = {
    "block_states",
    {"inactive", "active_allocated", "active_awaiting_free", "active_pending_free", "other"},
};
enum { ACTION_ALLOC, ACTION_FREE_COMPLETED };
static const struct words actions = {
    "actions",
    {"alloc", "free_completed", "free_requested", "segment_alloc", "segment_free", "segment_map",
     "segment_unmap", "snapshot", "oom", "other"},
};

struct word_counts {
    pickle_value values[MOST_WORDS];
    int64_t counts[MOST_WORDS];
};

struct snapshot {
    const struct pickle *pickle;
    struct figures *figures;
    uint64_t visited;
    int64_t segments, reserved, allocated, active, blocks, largest_inactive;
    int64_t allocated_on[MOST_DEVICES];
    struct word_counts types, states;
    unsigned traces;
};

// --- values -------------------------------------------------------------------------------------

// Saturates, as sums do.
static int64_t minus(int64_t from, int64_t number)
{
    int64_t rest;
    return __builtin_sub_overflow(from, number, &rest) ? INT64_MAX : rest;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// The next item of a list, or pair of a dict. Real dumps hold each value that is visited once, so
// all visits are fewer than the bytes of the file.
static bool next(struct snapshot *snapshot, struct pickle_walk *walk, pickle_value *key,
                 pickle_value *item)
{
    return pickle_walk_next(walk, key, item) && snapshot->visited++ < pickle_size(snapshot->pickle);
}

// The members of a dict; PICKLE_ABSENT for those that it does not have.
struct members {
    pickle_value at[KEY_COUNT];
};

static struct members members_of(struct snapshot *snapshot, pickle_value dict)
{
    struct members members = {0};
    pickle_value key, value;
    unsigned place;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, dict);
    while (next(snapshot, &walk, &key, &value))
        if (pickle_is_kept(snapshot->pickle, key, &place))
            members.at[place] = value;
    return members;
}

// A size, an index or a number of things; 0 for anything else.
static int64_t whole(const struct snapshot *snapshot, pickle_value value)
{
    int64_t number;
    return pickle_int(snapshot->pickle, value, &number) && number > 0 ? number : 0;
}

static int64_t length(struct snapshot *snapshot, pickle_value list)
{
    int64_t count = 0;
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, list);
    while (next(snapshot, &walk, &key, &item))
        count++;
    return count;
}

static struct word_counts words_of(const struct pickle *pickle, const struct words *words)
{
    struct word_counts counts = {0};
    for (unsigned i = 0; words->names[i]; i++)
        counts.values[i] = pickle_find_text(pickle, str_of(words->names[i]));
    return counts;
}

// Counts a word and returns its place.
static unsigned note_word(struct word_counts *counts, const struct words *words, pickle_value value)
{
    unsigned i = 0;
    while (words->names[i + 1] && (value == PICKLE_ABSENT || counts->values[i] != value))
        i++;
    counts->counts[i]++;
    return i;
}

// --- segments -----------------------------------------------------------------------------------

static void take_blocks(struct snapshot *snapshot, pickle_value blocks)
{
    pickle_value key, block;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, blocks);
    while (next(snapshot, &walk, &key, &block)) {
        struct members has = members_of(snapshot, block);
        snapshot->blocks++;
        if (note_word(&snapshot->states, &states, has.at[KEY_state]) == STATE_INACTIVE)
            snapshot->largest_inactive =
                larger(snapshot->largest_inactive, whole(snapshot, has.at[KEY_size]));
    }
}

static void take_segments(struct snapshot *snapshot, pickle_value segments)
{
    pickle_value key, segment;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, segments);
    while (next(snapshot, &walk, &key, &segment)) {
        struct members has = members_of(snapshot, segment);
        int64_t allocated = whole(snapshot, has.at[KEY_allocated_size]);
        int64_t device = whole(snapshot, has.at[KEY_device]);
        snapshot->segments++;
        figures_sum(&snapshot->reserved, whole(snapshot, has.at[KEY_total_size]));
        figures_sum(&snapshot->allocated, allocated);
        figures_sum(&snapshot->active, whole(snapshot, has.at[KEY_active_size]));
        if (device < MOST_DEVICES)
            figures_sum(&snapshot->allocated_on[device], allocated);
        note_word(&snapshot->types, &types, has.at[KEY_segment_type]);
        take_blocks(snapshot, has.at[KEY_blocks]);
    }
}

static void report_words(const struct snapshot *snapshot, const struct word_counts *counts,
                         const struct words *words)
{
    for (unsigned i = 0; words->names[i]; i++)
        if (counts->counts[i])
            figures_add(snapshot->figures, counts->counts[i], "%s" IN "%s", words->member,
                        words->names[i]);
}

static void report_segments(const struct snapshot *snapshot)
{
    struct figures *figures = snapshot->figures;
    figures_add(figures, snapshot->segments, "segments");
    figures_add(figures, snapshot->reserved, "reserved");
    figures_add(figures, snapshot->allocated, "allocated");
    figures_add(figures, snapshot->active, "active");
    figures_add(figures, snapshot->blocks, "blocks");
    figures_add(figures, snapshot->largest_inactive, "largest_inactive_block");
    report_words(snapshot, &snapshot->states, &states);
    report_words(snapshot, &snapshot->types, &types);
}

// --- traces -------------------------------------------------------------------------------------

// What a device's allocations add up to, from 0 at the first event that the ring still has.
struct trace_sums {
    int64_t events, net, peak, lowest;
    struct word_counts actions;
};

static struct trace_sums sum_trace(struct snapshot *snapshot, pickle_value trace)
{
    struct trace_sums sums = {.actions = words_of(snapshot->pickle, &actions)};
    pickle_value key, event;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, trace);
    while (next(snapshot, &walk, &key, &event)) {
        struct members has = members_of(snapshot, event);
        int64_t size = whole(snapshot, has.at[KEY_size]);
        unsigned action = note_word(&sums.actions, &actions, has.at[KEY_action]);
        sums.events++;
        if (action == ACTION_ALLOC)
            figures_sum(&sums.net, size);
        else if (action == ACTION_FREE_COMPLETED)
            sums.net = minus(sums.net, size);
        sums.peak = larger(sums.peak, sums.net);
        sums.lowest = sums.net < sums.lowest ? sums.net : sums.lowest;
    }
    return sums;
}

static void report_trace(struct snapshot *snapshot, unsigned device, const struct trace_sums *sums)
{
    struct figures *figures = snapshot->figures;
    unsigned at = snapshot->traces++;
    // The ring may have lost how the run started: what was allocated before follows from the end.
    int64_t end = snapshot->allocated_on[device], baseline = minus(end, sums->net), peak = baseline;
    figures_sum(&peak, sums->peak);
    figures_add(figures, device, "traces" IN "%u" IN "device", at);
    figures_add(figures, sums->events, "traces" IN "%u" IN "events", at);
    for (unsigned i = 0; actions.names[i]; i++)
        if (sums->actions.counts[i])
            figures_add(figures, sums->actions.counts[i], "traces" IN "%u" IN "%s" IN "%s", at,
                        actions.member, actions.names[i]);
    figures_add(figures, sums->net, "traces" IN "%u" IN "net_bytes", at);
    figures_add(figures, sums->peak, "traces" IN "%u" IN "peak_over_start", at);
    figures_add(figures, sums->lowest, "traces" IN "%u" IN "lowest", at);
    figures_add(figures, baseline, "traces" IN "%u" IN "baseline", at);
    figures_add(figures, peak, "traces" IN "%u" IN "peak_allocated", at);
    figures_add(figures, end, "traces" IN "%u" IN "allocated_at_end", at);
}

static void take_traces(struct snapshot *snapshot, pickle_value traces)
{
    pickle_value key, trace;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, traces);
    figures_list(snapshot->figures, "traces" IN);
    for (unsigned device = 0; device < MOST_DEVICES && next(snapshot, &walk, &key, &trace);
         device++) {
        struct trace_sums sums = sum_trace(snapshot, trace);
        if (sums.events)
            report_trace(snapshot, device, &sums);
    }
}

// --- the file -----------------------------------------------------------------------------------

// Before 2.1, only a list of segments.
static bool take_snapshot(struct snapshot *snapshot, struct err *err)
{
    pickle_value root = pickle_root(snapshot->pickle);
    struct members has = members_of(snapshot, root);
    pickle_value segments = pickle_kind_of(root) == PICKLE_DICT ? has.at[KEY_segments] : root;
    if (pickle_kind_of(segments) != PICKLE_LIST)
        return err_set(err, ERR_FORMAT,
                       "found a pickle without a list of segments, expected a memory snapshot");
    take_segments(snapshot, segments);
    report_segments(snapshot);
    take_traces(snapshot, has.at[KEY_device_traces]);
    figures_add(snapshot->figures, length(snapshot, has.at[KEY_external_annotations]),
                "annotations");
    return snapshot->visited <= pickle_size(snapshot->pickle) ||
           err_set(err, ERR_FORMAT, "found the same blocks or events of the snapshot many times");
}

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    struct pickle_input pickled = {input->source, input->budget, key_names};
    struct pickle *pickle = pickle_load(&pickled, err);
    struct snapshot *snapshot = pickle ? budget_zalloc(input->budget, sizeof *snapshot, err) : NULL;
    bool ok = snapshot;
    if (ok) {
        *snapshot = (struct snapshot){
            .pickle = pickle,
            .figures = input->figures,
            .types = words_of(pickle, &types),
            .states = words_of(pickle, &states),
        };
        ok = take_snapshot(snapshot, err);
    }
    budget_free(input->budget, snapshot, sizeof *snapshot);
    pickle_free(pickle);
    return ok;
}

// A pickle whose first bytes have the names of members.
static enum format_likeness probe_snapshot(struct str head, struct str filename)
{
    (void)filename;
    bool pickle = head.len > 2 && head.at[0] == '\x80' && head.at[1] >= 2 && head.at[1] <= 5;
    bool named = str_find(head, STR("allocated_size")) != SIZE_MAX ||
                 str_find(head, STR("device_traces")) != SIZE_MAX;
    return pickle && named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_memory_snapshot = {
    .name = "memory-snapshot",
    .what = "a memory snapshot",
    .advice = "upload the output of prof.export_chrome_trace()",
    .kind = FORMAT_RECORDS,
    .probe = probe_snapshot,
    .count = count_snapshot,
};
