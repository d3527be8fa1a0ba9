// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of PyTorch's caching allocator as it dumps them
// (torch.cuda.memory._dump_snapshot), counted: a pickle with the segments reserved from devices,
// the blocks in them, and the allocations that a ring buffer still had.
#include "ingest/format.h"
#include "ingest/pickle/pickle.h"
#include "ingest/torch/snapshot_sums.h"

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

struct snapshot {
    const struct pickle *pickle;
    uint64_t visited;
    struct snapshot_sums sums;
};

// --- values -------------------------------------------------------------------------------------

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

// A size or an index; 0 for anything else.
static int64_t whole(const struct snapshot *snapshot, pickle_value value)
{
    int64_t number;
    return pickle_int(snapshot->pickle, value, &number) && number > 0 ? number : 0;
}

static unsigned place_of(const struct snapshot *snapshot, enum snapshot_word member,
                         pickle_value value)
{
    return snapshot_place(member, pickle_text(snapshot->pickle, value));
}

// --- its parts ----------------------------------------------------------------------------------

static void take_blocks(struct snapshot *snapshot, pickle_value blocks)
{
    pickle_value key, block;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, blocks);
    while (next(snapshot, &walk, &key, &block)) {
        struct members has = members_of(snapshot, block);
        const struct snapshot_change read = {
            .size = whole(snapshot, has.at[KEY_size]),
            .word = place_of(snapshot, WORD_STATE, has.at[KEY_state]),
        };
        snapshot_add_block(&snapshot->sums, &read);
    }
}

static void take_segments(struct snapshot *snapshot, pickle_value segments)
{
    pickle_value key, segment;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, segments);
    while (next(snapshot, &walk, &key, &segment)) {
        struct members has = members_of(snapshot, segment);
        const struct snapshot_segment read = {
            .device = whole(snapshot, has.at[KEY_device]),
            .total_size = whole(snapshot, has.at[KEY_total_size]),
            .allocated_size = whole(snapshot, has.at[KEY_allocated_size]),
            .active_size = whole(snapshot, has.at[KEY_active_size]),
            .type = place_of(snapshot, WORD_SEGMENT_TYPE, has.at[KEY_segment_type]),
        };
        snapshot_add_segment(&snapshot->sums, &read);
        take_blocks(snapshot, has.at[KEY_blocks]);
    }
}

static void take_trace(struct snapshot *snapshot, int64_t device, pickle_value trace)
{
    pickle_value key, event;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, trace);
    while (next(snapshot, &walk, &key, &event)) {
        struct members has = members_of(snapshot, event);
        const struct snapshot_change read = {
            .size = whole(snapshot, has.at[KEY_size]),
            .word = place_of(snapshot, WORD_ACTION, has.at[KEY_action]),
        };
        snapshot_add_event(&snapshot->sums, device, &read);
    }
}

static void take_traces(struct snapshot *snapshot, pickle_value traces)
{
    pickle_value key, trace;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, traces);
    for (int64_t device = 0; next(snapshot, &walk, &key, &trace); device++)
        take_trace(snapshot, device, trace);
}

static void take_annotations(struct snapshot *snapshot, pickle_value annotations)
{
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(snapshot->pickle, annotations);
    while (next(snapshot, &walk, &key, &item))
        snapshot->sums.annotations++;
}

// --- the file -----------------------------------------------------------------------------------

// Old ones are only a list of segments.
static bool take_snapshot(struct snapshot *snapshot, struct err *err)
{
    pickle_value root = pickle_root(snapshot->pickle);
    struct members has = members_of(snapshot, root);
    pickle_value segments = pickle_kind_of(root) == PICKLE_DICT ? has.at[KEY_segments] : root;
    if (pickle_kind_of(segments) != PICKLE_LIST)
        return err_set(err, ERR_FORMAT,
                       "found a pickle without a list of segments, expected a memory snapshot");
    take_segments(snapshot, segments);
    take_traces(snapshot, has.at[KEY_device_traces]);
    take_annotations(snapshot, has.at[KEY_external_annotations]);
    return snapshot->visited <= pickle_size(snapshot->pickle) ||
           err_set(err, ERR_FORMAT, "found the same blocks or events of the snapshot many times");
}

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    struct pickle_input pickled = {input->source, input->budget, key_names};
    struct pickle *pickle = pickle_load(&pickled, err);
    struct snapshot *snapshot = pickle ? budget_zalloc(input->budget, sizeof *snapshot, err) : NULL;
    bool ok = false;
    if (snapshot) {
        snapshot->pickle = pickle;
        ok = take_snapshot(snapshot, err);
    }
    if (ok)
        snapshot_report(&snapshot->sums, input->figures);
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
