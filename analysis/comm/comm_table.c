// SPDX-License-Identifier: Apache-2.0
// Every collective call, in integers, and what the device did up to each.
#include "analysis/comm/comm_table.h"

#include "analysis/comm/comm_blocked.h"
#include "analysis/comm/comm_pieces.h"
#include "analysis/comm/group_ranks.h"
#include "analysis/facts/sweep.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "ingest/trace/record_set.h"

// What the device did, without overlap.
enum doing {
    DOING_COMPUTE,
    DOING_MEMORY,
    DOING_COMM,
    DOING_DATA_LOADING,
    DOING_HOST,
    DOING_IDLE,
    DOING_UNRECORDED,
    DOING_COUNT
};

static const unsigned doing_columns[DOING_COUNT] = {
    [DOING_COMPUTE] = COMM_CALLS_COMPUTE_NS,
    [DOING_MEMORY] = COMM_CALLS_MEMORY_NS,
    [DOING_COMM] = COMM_CALLS_COMM_NS,
    [DOING_DATA_LOADING] = COMM_CALLS_DATA_LOADING_NS,
    [DOING_HOST] = COMM_CALLS_HOST_NS,
    [DOING_IDLE] = COMM_CALLS_IDLE_NS,
    [DOING_UNRECORDED] = COMM_CALLS_UNRECORDED_NS,
};

// Common to all calls of one operation. Compared as bytes.
struct comm_op {
    uint32_t group; // index into comm_table.groups, FACTS_NONE without metadata
    str_id dtype, kernel;
    uint16_t kind, phase; // enum collective_kind, enum comm_phase
    int64_t bytes, peer;  // VALUE_ABSENT when not known
};

// What was done between the starts of the window and of a call.
struct before {
    int64_t ns[DOING_COUNT];
    int64_t kernels;
};

// A row of comm_calls: a call, or a send or receive of a batch.
struct entry {
    uint32_t call, part;
    uint32_t collective; // index into the trace's collectives, ARGS_NONE without metadata
};

struct comm_table {
    const struct facts *facts;
    const struct comm_calls *calls;
    struct entry *entries;
    uint32_t count; // entries
    const struct comm_phases *phases;
    struct groups groups;      // keys as of comm_calls_group
    struct group_about *about; // per group
    int64_t *sizes;            // per group, 0 when not known
    struct str *lists;         // per group
    struct record_set ops;     // struct comm_op
    uint32_t *group_of;        // per entry: its group, FACTS_NONE without metadata
    uint32_t *op_of;           // per entry
    struct before *before;     // per entry
    struct comm_pieces pieces; // per call
    struct comm_blocked blocked;
};

// The first COMM_TABLE_MAX_CALLS of them.
static bool list_entries(struct comm_table *all, struct arena *arena, struct err *err)
{
    const struct comm_calls *calls = all->calls;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < calls->count; i++)
        rows += calls->calls[i].part_count ? calls->calls[i].part_count : 1;
    uint32_t most = rows < COMM_TABLE_MAX_CALLS ? (uint32_t)rows : COMM_TABLE_MAX_CALLS;
    all->entries = arena_room(arena, most, sizeof *all->entries, err);
    for (uint32_t i = 0; all->entries && i < calls->count; i++) {
        const struct comm_call *call = &calls->calls[i];
        for (uint32_t part = 0;
             all->count < most && part < (call->part_count ? call->part_count : 1); part++)
            all->entries[all->count++] = (struct entry){
                i, part, call->part_count ? calls->parts[call->part + part] : call->collective};
    }
    return all->entries != NULL;
}

static const struct comm_call *call_of(const struct comm_table *all, uint32_t index)
{
    return &all->calls->calls[all->entries[index].call];
}

// --- process groups -----------------------------------------------------------------------------

static bool find_groups(struct comm_table *all, struct arena *arena, struct err *err)
{
    const struct trace *trace = all->facts->trace;
    bool *recorded = arena_array(arena, trace->collective_count, sizeof *recorded, err);
    all->group_of = arena_room(arena, all->count, sizeof *all->group_of, err);
    all->about = arena_array(arena, (size_t)trace->collective_count + 1, sizeof *all->about, err);
    if (!recorded || !all->group_of || !all->about)
        return false;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t collective = all->entries[i].collective, group = FACTS_NONE;
        struct group_key key =
            comm_calls_group(all->facts, &(struct comm_call){.collective = collective});
        uint32_t known = all->groups.count;
        if (collective != ARGS_NONE && !groups_index(&all->groups, key.a, key.b, &group, err))
            return false;
        all->group_of[i] = group;
        if (all->groups.count > known)
            all->about[group] = group_about_none();
        if (group != FACTS_NONE && !recorded[collective])
            group_about_add(&all->about[group], trace, &trace->collectives[collective]);
        if (group != FACTS_NONE)
            recorded[collective] = true;
    }
    return true;
}

static bool place_groups(struct comm_table *all, struct arena *arena, struct err *err)
{
    const struct trace *trace = all->facts->trace;
    uint32_t count = all->groups.count;
    all->sizes = arena_array(arena, count, sizeof *all->sizes, err);
    all->lists = arena_array(arena, count, sizeof *all->lists, err);
    if (!all->sizes || !all->lists)
        return false;
    bool ok = true;
    for (uint32_t g = 0; ok && g < count; g++) {
        struct group_place place;
        str_id name = (str_id)all->groups.keys[g].a;
        ok = group_place_find(trace, name, &all->about[g], arena, &place, err);
        all->lists[g] = ok ? group_ranks_list(place.ranks, arena, err) : (struct str){0};
        all->sizes[g] = ok ? place.size : 0;
        ok = ok && all->lists[g].at;
    }
    return ok;
}

// --- operations ---------------------------------------------------------------------------------

// The peer of a send or recv in the whole job: as recorded, else by its place in the group.
static int64_t peer_of(const struct comm_table *all, const struct collective *c, uint32_t group)
{
    struct str list = all->lists[group];
    int64_t rank, place = c->peer_in_group;
    if (c->peer != VALUE_ABSENT || place < 0 || place >= GROUP_RANKS_MAX)
        return c->peer;
    while (group_ranks_next(&list, &rank))
        if (place-- == 0)
            return rank;
    return VALUE_ABSENT;
}

// Per collective of the trace, computed on first use; INT64_MAX before.
static bool find_peers(const struct comm_table *all, struct arena *arena, int64_t **peers,
                       struct err *err)
{
    const struct trace *trace = all->facts->trace;
    *peers = arena_array(arena, trace->collective_count, sizeof **peers, err);
    for (uint32_t i = 0; *peers && i < trace->collective_count; i++)
        (*peers)[i] = INT64_MAX;
    for (uint32_t i = 0; *peers && i < all->count; i++) {
        uint32_t collective = all->entries[i].collective;
        if (collective != ARGS_NONE && (*peers)[collective] == INT64_MAX)
            (*peers)[collective] = peer_of(all, &trace->collectives[collective], all->group_of[i]);
    }
    return *peers != NULL;
}

// A collective whose name does not show its kind, such as "coalesced", has the kernel's kind.
static enum collective_kind kind_of(const struct comm_table *all, uint32_t index)
{
    uint32_t collective = all->entries[index].collective;
    enum collective_kind kind = collective == ARGS_NONE ? call_of(all, index)->own.kind
                                                        : all->calls->sizes[collective].kind;
    if (kind != KIND_UNKNOWN)
        return kind;
    return bandwidth_kind(
        trace_text(all->facts->trace, facts_device_name(all->facts, call_of(all, index)->device)));
}

static struct comm_op op_of(const struct comm_table *all, uint32_t index, const int64_t *peers)
{
    const struct comm_call *call = call_of(all, index);
    const struct device_event *device = &all->facts->devices[call->device];
    uint32_t collective = all->entries[index].collective;
    bool known = collective != ARGS_NONE;
    int64_t bytes = known ? all->calls->sizes[collective].bytes : call->own.bytes;
    return (struct comm_op){
        .group = all->group_of[index],
        .dtype = known ? all->facts->trace->collectives[collective].dtype : 0,
        .kernel = known ? 0 : facts_device_name(all->facts, call->device),
        .kind = (uint16_t)kind_of(all, index),
        .phase = (uint16_t)comm_phase_of(all->phases, device->launch),
        .bytes = bytes < 0 ? VALUE_ABSENT : bytes,
        .peer = known ? peers[collective] : VALUE_ABSENT,
    };
}

static bool find_ops(struct comm_table *all, struct arena *arena, struct err *err)
{
    int64_t *peers;
    all->op_of = arena_room(arena, all->count, sizeof *all->op_of, err);
    if (!all->op_of || !find_peers(all, arena, &peers, err))
        return false;
    for (uint32_t i = 0; i < all->count; i++) {
        struct comm_op op = op_of(all, i, peers);
        if (!record_set_add(&all->ops, &op, &all->op_of[i], err))
            return false;
    }
    return true;
}

static bool add_ops(const struct comm_table *all, struct report *report, struct err *err)
{
    const struct trace *trace = all->facts->trace;
    size_t room = COMM_TABLE_MAX_LISTS;
    for (uint32_t i = 0; i < all->ops.count; i++) {
        const struct comm_op *op = (const struct comm_op *)(const void *)all->ops.items + i;
        bool grouped = op->group != FACTS_NONE;
        str_id name = grouped ? (str_id)all->groups.keys[op->group].a : 0;
        struct str list = grouped ? all->lists[op->group] : STR("");
        list.len = list.len <= room ? list.len : 0;
        room -= list.len;
        int64_t size = grouped ? all->sizes[op->group] : 0;
        struct row row = {.desc = &table_comm_ops};
        row_text_if(&row, COMM_OPS_PROCESS_GROUP, name != 0, trace_text(trace, name));
        row_text_if(&row, COMM_OPS_GROUP_RANKS, list.len != 0, list);
        row_i64_if(&row, COMM_OPS_GROUP_SIZE, size > 0, size);
        row_word(&row, COMM_OPS_KIND, bandwidth_kind_word((enum collective_kind)op->kind));
        row_text_if(&row, COMM_OPS_DTYPE, op->dtype != 0, trace_text(trace, op->dtype));
        row_i64_if(&row, COMM_OPS_BYTES, op->bytes != VALUE_ABSENT, op->bytes);
        row_i64_if(&row, COMM_OPS_PEER, op->peer != VALUE_ABSENT, op->peer);
        row_word(&row, COMM_OPS_PHASE, comm_phase_word((enum comm_phase)op->phase));
        row_text_if(&row, COMM_OPS_KERNEL, op->kernel != 0, trace_text(trace, op->kernel));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

// --- what was done before -----------------------------------------------------------------------

static enum doing doing_of(const struct segment *segment)
{
    if (segment->bar == BAR_EXPOSED_COMM)
        return DOING_COMM;
    if (segment->bar == BAR_EXPOSED_MEMORY)
        return DOING_MEMORY;
    if (segment->bar < BAR_DEVICE_COUNT)
        return DOING_COMPUTE;
    if (segment->bar == BAR_UNRECORDED)
        return DOING_UNRECORDED;
    if (segment->cause == IDLE_DATA_LOADING)
        return DOING_DATA_LOADING;
    return segment->bar == BAR_IDLE_HOST_WAIT ? DOING_HOST : DOING_IDLE;
}

struct sum_up {
    struct comm_table *all;
    struct before sum;
    uint32_t next; // first call that started no earlier than the segment
    struct err *err;
    bool failed;
};

static int64_t begin_of(const struct comm_table *all, uint32_t call)
{
    return all->facts->devices[call_of(all, call)->device].begin_ns;
}

static bool keep_piece(struct sum_up *up, const struct segment *segment)
{
    struct comm_table *all = up->all;
    uint32_t call = comm_calls_of(all->calls, segment->device);
    if (call == all->calls->count)
        return true;
    int64_t begin_ns = all->facts->devices[segment->device].begin_ns;
    struct comm_piece piece = {.begin_ns = segment->begin_ns - begin_ns,
                               .end_ns = segment->end_ns - begin_ns,
                               .step = segment->step};
    return comm_pieces_add(&all->pieces, call, piece, up->err);
}

static void sum_segment(void *context, const struct segment *segment)
{
    struct sum_up *up = context;
    enum doing doing = doing_of(segment);
    if (segment->bar == BAR_EXPOSED_COMM)
        up->failed = up->failed || !keep_piece(up, segment);
    for (; up->next < up->all->count; up->next++) {
        int64_t begin_ns = begin_of(up->all, up->next);
        if (begin_ns >= segment->end_ns)
            break;
        struct before *before = &up->all->before[up->next];
        memcpy(before->ns, up->sum.ns, sizeof before->ns);
        before->ns[doing] += begin_ns - segment->begin_ns;
    }
    up->sum.ns[doing] += segment->end_ns - segment->begin_ns;
}

static void count_kernels(struct comm_table *all)
{
    const struct facts *facts = all->facts;
    uint32_t next = 0;
    int64_t kernels = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        int64_t begin_ns = begin_of(all, i);
        for (; next < facts->device_count && facts->devices[next].begin_ns < begin_ns; next++)
            kernels += facts->devices[next].class == CLASS_COMPUTE;
        all->before[i].kernels = kernels;
    }
}

static bool look_back(struct comm_table *all, struct arena *arena, struct err *err)
{
    all->before = arena_array(arena, all->count, sizeof *all->before, err);
    if (!all->before || !comm_pieces_open(&all->pieces, all->calls->count, arena, err))
        return false;
    struct sum_up up = {.all = all, .err = err};
    sweep_run(all->facts, SWEEP_ALL, sum_segment, &up);
    for (; up.next < all->count; up.next++) // started at the window's very end
        memcpy(all->before[up.next].ns, up.sum.ns, sizeof up.sum.ns);
    count_kernels(all);
    return !up.failed;
}

// --- calls --------------------------------------------------------------------------------------

static void add_time(const struct facts *facts, const struct device_event *device, bool first,
                     struct row *row)
{
    const struct trace *trace = facts->trace;
    uint32_t args = trace->args[device->event];
    uint32_t sequence = args == ARGS_NONE ? ARGS_NONE : trace->device_args[args].sequence;
    uint32_t comms_id = trace_comms_id(trace, args);
    bool stepped = device->step != FACTS_NONE, launched = device->launch != FACTS_NONE;
    row_i64_if(row, COMM_CALLS_SEQUENCE, sequence != ARGS_NONE, sequence);
    row_i64_if(row, COMM_CALLS_COMMS_ID, comms_id != 0, comms_id);
    row_i64_if(row, COMM_CALLS_STEP, stepped, stepped ? facts->steps[device->step].number : 0);
    row_i64(row, COMM_CALLS_BEGIN_NS, device->begin_ns - facts->begin_ns);
    row_i64(row, COMM_CALLS_DUR_NS, device->end_ns - device->begin_ns);
    row_i64(row, COMM_CALLS_EXPOSED_NS, first ? device->owned_ns : 0);
    uint32_t launch = launched ? facts->launches[device->launch].event : device->event;
    row_i64_if(row, COMM_CALLS_LAUNCH_NS, launched, trace->begin_ns[launch] - facts->begin_ns);
}

// Omitted for calls that are exposed entirely or not at all.
static void add_pieces(const struct comm_table *all, uint32_t index, struct buf *text,
                       struct row *row)
{
    const struct device_event *device = &all->facts->devices[call_of(all, index)->device];
    bool partly = all->entries[index].part == 0 && device->owned_ns > 0 &&
                  device->owned_ns < device->end_ns - device->begin_ns;
    buf_clear(text);
    if (partly)
        comm_pieces_put(&all->pieces, all->entries[index].call, text);
    row_text_if(row, COMM_CALLS_EXPOSED_AT, partly, (struct str){text->at, text->len});
}

static void add_blocked(const struct comm_table *all, uint32_t index, struct row *row)
{
    const struct facts *facts = all->facts;
    uint32_t launch = facts->devices[call_of(all, index)->device].launch;
    bool known = launch != FACTS_NONE;
    int64_t at_ns = known ? facts->trace->begin_ns[facts->launches[launch].event] : 0;
    row_i64_if(row, COMM_CALLS_BLOCKED_NS, known, comm_blocked_until(&all->blocked, at_ns));
}

static bool add_rows(const struct comm_table *all, struct buf *text, struct report *report,
                     struct err *err)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct before *before = &all->before[i];
        struct row row = {.desc = &table_comm_calls};
        row_i64(&row, COMM_CALLS_OP, all->op_of[i]);
        add_time(all->facts, &all->facts->devices[call_of(all, i)->device],
                 all->entries[i].part == 0, &row);
        row_i64(&row, COMM_CALLS_KERNELS, before->kernels);
        for (int doing = 0; doing < DOING_COUNT; doing++)
            row_i64(&row, doing_columns[doing], before->ns[doing]);
        row_i64(&row, COMM_CALLS_PART, all->entries[i].part);
        add_pieces(all, i, text, &row);
        add_blocked(all, i, &row);
        if (!buf_ok(text, err) || !row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool add_calls(const struct comm_table *all, struct report *report, struct err *err)
{
    struct buf text = {0};
    bool ok = add_rows(all, &text, report, err);
    buf_free(&text);
    return ok;
}

static bool fill(struct comm_table *all, struct arena *arena, struct report *report,
                 struct err *err)
{
    return list_entries(all, arena, err) && find_groups(all, arena, err) &&
           place_groups(all, arena, err) && find_ops(all, arena, err) &&
           look_back(all, arena, err) && comm_blocked_make(all->facts, arena, &all->blocked, err) &&
           add_ops(all, report, err) && add_calls(all, report, err);
}

bool comm_table_add(const struct facts *facts, const struct comm_calls *calls,
                    const struct comm_phases *phases, struct report *report, struct err *err)
{
    struct comm_table all = {
        .facts = facts,
        .calls = calls,
        .phases = phases,
    };
    struct arena arena;
    arena_init(&arena, facts->budget);
    groups_init(&all.groups, facts->budget);
    record_set_init(&all.ops, sizeof(struct comm_op), facts->budget);
    bool ok = fill(&all, &arena, report, err);
    record_set_free(&all.ops);
    groups_free(&all.groups);
    arena_free(&arena);
    return ok;
}
