// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of PyTorch's caching allocator as it dumps them
// (torch.cuda.memory._dump_snapshot): a pickle with the segments reserved from devices, the blocks
// in them, and the allocations that a ring buffer still had. Each is taken as it is read.
#include "ingest/pickle/pickle.h"
#include "ingest/torch/snapshot_calls.h"
#include "ingest/torch/snapshot_pickle.h"

// What is kept of dicts.
#define KEYS(ROW)             \
    ROW(segments)             \
    ROW(device_traces)        \
    ROW(external_annotations) \
    ROW(device)               \
    ROW(total_size)           \
    ROW(allocated_size)       \
    ROW(active_size)          \
    ROW(segment_type)         \
    ROW(segment_pool_id)      \
    ROW(is_expandable)        \
    ROW(blocks)               \
    ROW(state)                \
    ROW(size)                 \
    ROW(action)               \
    ROW(address)              \
    ROW(addr)                 \
    ROW(device_free)          \
    ROW(time_us)              \
    ROW(stage)                \
    ROW(frames)               \
    ROW(name)                 \
    ROW(filename)             \
    ROW(line)

#define KEY(name)  KEY_##name,
#define NAME(name) #name,
enum key { KEYS(KEY) KEY_COUNT };
static const char *const key_names[] = {KEYS(NAME) NULL};

// Rows of frames that were seen before, and their stacks; open addressing.
struct known_row {
    uint32_t row, stack; // row 0: free
};

struct reader {
    const struct pickle *pickle;
    struct evidence *evidence;
    struct progress *progress;
    struct snapshot_calls calls;
    struct known_row *rows;
    size_t row_cap, row_count;
    uint64_t records;
};

// --- values -------------------------------------------------------------------------------------

static pickle_value member(const struct pickle_record *record, enum key key)
{
    return pickle_record_member(record, key);
}

// A size or an index; 0 for anything else.
static int64_t whole(const struct pickle_record *record, enum key key)
{
    int64_t number;
    return pickle_int(pickle_record_of(record), member(record, key), &number) && number > 0 ? number
                                                                                            : 0;
}

// 0 if there is none.
static uint64_t address(const struct pickle_record *record, enum key key)
{
    uint64_t bits;
    return pickle_bits(pickle_record_of(record), member(record, key), &bits) ? bits : 0;
}

static struct str text(const struct pickle_record *record, enum key key)
{
    return pickle_text(pickle_record_of(record), member(record, key));
}

// --- frames -------------------------------------------------------------------------------------

static struct call_frame frame_of(const struct reader *reader, pickle_value dict)
{
    struct call_frame frame = {0};
    pickle_value key, value;
    unsigned place;
    struct pickle_walk walk = pickle_walk(reader->pickle, dict);
    while (walk.dict && pickle_walk_next(&walk, &key, &value)) {
        if (!pickle_is_kept(reader->pickle, key, &place))
            continue;
        if (place == KEY_name)
            frame.name = pickle_text(reader->pickle, value);
        else if (place == KEY_filename)
            frame.filename = pickle_text(reader->pickle, value);
        else if (place == KEY_line)
            (void)pickle_int(reader->pickle, value, &frame.line);
    }
    return frame;
}

static bool make_stack(struct reader *reader, pickle_value frames, uint32_t *stack, struct err *err)
{
    enum { MOST_CALLS = 1000 };
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(reader->pickle, frames);
    snapshot_calls_open(&reader->calls);
    for (int i = 0; i < MOST_CALLS && pickle_walk_next(&walk, &key, &item); i++) {
        struct call_frame frame = frame_of(reader, item);
        snapshot_calls_add(&reader->calls, &frame);
    }
    return snapshot_calls_close(&reader->calls, reader->evidence, stack, err);
}

static struct known_row *place_of_row(const struct reader *reader, uint32_t row)
{
    size_t at = (size_t)hash_u64(row) & (reader->row_cap - 1);
    while (reader->rows[at].row && reader->rows[at].row != row)
        at = (at + 1) & (reader->row_cap - 1);
    return &reader->rows[at];
}

static bool grow_rows(struct reader *reader, struct err *err)
{
    struct reader larger = {.row_cap = reader->row_cap ? 2 * reader->row_cap : 1024};
    struct budget *budget = reader->evidence->budget;
    larger.rows = budget_zalloc(budget, larger.row_cap * sizeof *larger.rows, err);
    if (!larger.rows)
        return false;
    for (size_t i = 0; i < reader->row_cap; i++)
        if (reader->rows[i].row)
            *place_of_row(&larger, reader->rows[i].row) = reader->rows[i];
    budget_free(budget, reader->rows, reader->row_cap * sizeof *reader->rows);
    reader->rows = larger.rows;
    reader->row_cap = larger.row_cap;
    return true;
}

// Most events share their frames with another one.
static bool stack_of(struct reader *reader, pickle_value frames, uint32_t *stack, struct err *err)
{
    uint32_t row = pickle_row(reader->pickle, frames);
    *stack = SNAPSHOT_NO_STACK;
    if (!row)
        return true;
    if (2 * (reader->row_count + 1) > reader->row_cap && !grow_rows(reader, err))
        return false;
    struct known_row *known = place_of_row(reader, row);
    if (!known->row) {
        if (!make_stack(reader, frames, stack, err))
            return false;
        *known = (struct known_row){row, *stack};
        reader->row_count++;
    }
    *stack = known->stack;
    return true;
}

// --- records ------------------------------------------------------------------------------------

static bool take_block(struct reader *reader, const struct pickle_record *record, struct err *err)
{
    struct snapshot_block_record block = {
        .address = address(record, KEY_address),
        .size = whole(record, KEY_size),
        .state = snapshot_place(WORD_STATE, text(record, KEY_state)),
    };
    return stack_of(reader, member(record, KEY_frames), &block.stack, err) &&
           memory_snapshot_block(reader->evidence, &block, err);
}

// Its pool is (0, 0) if all may use it.
static bool is_private(const struct pickle_record *record)
{
    enum { PARTS = 2 };
    pickle_value key, item;
    int64_t number, any = 0;
    const struct pickle *pickle = pickle_record_of(record);
    struct pickle_walk walk = pickle_walk(pickle, member(record, KEY_segment_pool_id));
    for (int i = 0; i < PARTS && pickle_walk_next(&walk, &key, &item); i++)
        if (pickle_int(pickle, item, &number))
            any |= number;
    return any != 0;
}

static bool take_segment(struct reader *reader, const struct pickle_record *record, struct err *err)
{
    const struct snapshot_segment segment = {
        .address = address(record, KEY_address),
        .device = whole(record, KEY_device),
        .total_size = whole(record, KEY_total_size),
        .allocated_size = whole(record, KEY_allocated_size),
        .active_size = whole(record, KEY_active_size),
        .type = snapshot_place(WORD_SEGMENT_TYPE, text(record, KEY_segment_type)),
        .expandable = whole(record, KEY_is_expandable) != 0,
        .private = is_private(record),
        .profiled = member(record, KEY_allocated_size) == PICKLE_ABSENT,
    };
    return memory_snapshot_segment(reader->evidence, &segment, err);
}

static bool take_event(struct reader *reader, const struct pickle_record *record, struct err *err)
{
    struct snapshot_event event = {
        .device = pickle_record_index(record, KEY_device_traces),
        .size = whole(record, KEY_size),
        .address = address(record, KEY_addr),
        .time_us = whole(record, KEY_time_us),
        .device_free = whole(record, KEY_device_free),
        .action = snapshot_place(WORD_ACTION, text(record, KEY_action)),
    };
    return event.device < 0 || (stack_of(reader, member(record, KEY_frames), &event.stack, err) &&
                                memory_snapshot_event(reader->evidence, &event, err));
}

static bool take_annotation(struct reader *reader, const struct pickle_record *record,
                            struct err *err)
{
    const struct snapshot_annotation annotation = {
        .name = text(record, KEY_name),
        .start = str_equal(text(record, KEY_stage), STR("START")),
        .device = whole(record, KEY_device),
        .time_us = whole(record, KEY_time_us),
    };
    return memory_snapshot_annotation(reader->evidence, &annotation, err);
}

// Whether the record is in that member of the root: others have the same of the host's memory. Old
// files are only a list of segments.
static bool is_in(const struct pickle_record *record, enum key key)
{
    unsigned place;
    pickle_value within = pickle_record_key(record);
    if (within == PICKLE_ABSENT)
        return key == KEY_segments;
    return pickle_is_kept(pickle_record_of(record), within, &place) && place == key;
}

static bool take(void *context, const struct pickle_record *record, bool *taken, struct err *err)
{
    enum { OFTEN = 4096 };
    struct reader *reader = context;
    *taken = true;
    reader->pickle = pickle_record_of(record);
    if (reader->records++ % OFTEN == 0 && !progress_report(reader->progress, 0, err))
        return false;
    if (member(record, KEY_action) != PICKLE_ABSENT)
        return !is_in(record, KEY_device_traces) || take_event(reader, record, err);
    if (member(record, KEY_state) != PICKLE_ABSENT)
        return !is_in(record, KEY_segments) || take_block(reader, record, err);
    if (member(record, KEY_allocated_size) != PICKLE_ABSENT ||
        member(record, KEY_total_size) != PICKLE_ABSENT)
        return !is_in(record, KEY_segments) || take_segment(reader, record, err);
    if (member(record, KEY_stage) != PICKLE_ABSENT)
        return !is_in(record, KEY_external_annotations) || take_annotation(reader, record, err);
    *taken = false;
    return true;
}

// --- the file -----------------------------------------------------------------------------------

// Old ones are only a list of segments.
static bool check_root(const struct pickle *pickle, struct err *err)
{
    pickle_value root = pickle_root(pickle);
    pickle_value key = pickle_find_text(pickle, STR("segments"));
    pickle_value segments =
        pickle_kind_of(root) == PICKLE_DICT ? pickle_member(pickle, root, key) : root;
    return pickle_kind_of(segments) == PICKLE_LIST ||
           err_set(err, ERR_FORMAT,
                   "found a pickle without a list of segments, expected a memory snapshot");
}

static size_t count_traces(const struct pickle *pickle)
{
    size_t count = 0;
    pickle_value key = pickle_find_text(pickle, STR("device_traces")), item;
    struct pickle_walk walk = pickle_walk(pickle, pickle_member(pickle, pickle_root(pickle), key));
    while (pickle_walk_next(&walk, &key, &item))
        count++;
    return count;
}

bool snapshot_pickle_gather(const struct format_input *input, struct err *err)
{
    struct evidence *evidence = input->evidence;
    struct reader reader = {.evidence = evidence, .progress = input->progress};
    struct pickle_input pickled = {input->source, input->budget, key_names, take, &reader};
    struct pickle *pickle =
        memory_snapshot_start(evidence, input->filename, err) ? pickle_load(&pickled, err) : NULL;
    bool ok = pickle && check_root(pickle, err);
    if (ok)
        memory_snapshot_done(evidence, count_traces(pickle));
    snapshot_calls_free(&reader.calls);
    budget_free(evidence->budget, reader.rows, reader.row_cap * sizeof *reader.rows);
    pickle_free(pickle);
    return ok;
}

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    return snapshot_count(input, snapshot_pickle_gather, err);
}

// A pickle whose first bytes have the names of members.
static enum format_likeness probe_snapshot(const struct format_sample *sample)
{
    bool pickle = sample->head.len > 2 && sample->head.at[0] == '\x80' && sample->head.at[1] >= 2 &&
                  sample->head.at[1] <= 5;
    bool named = str_find(sample->head, STR("allocated_size")) != SIZE_MAX ||
                 str_find(sample->head, STR("device_traces")) != SIZE_MAX;
    return pickle && named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_memory_snapshot = {
    .name = "memory-snapshot",
    .what = "a memory snapshot",
    .kind = FORMAT_RECORDS,
    .ending = ".pickle",
    .probe = probe_snapshot,
    .count = count_snapshot,
    .gather = snapshot_pickle_gather,
};
