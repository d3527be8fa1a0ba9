// SPDX-License-Identifier: Apache-2.0
// Collects communication, and gives operators' metadata to kernels without any.
#include "analysis/comm/comm_calls.h"

#include "analysis/comm/comm_message.h"
#include "analysis/facts/facts_within.h"
#include "analysis/facts/host_stack.h"
#include "ingest/base/search.h"

#include <assert.h>

static uint32_t own_collective(const struct facts *facts, uint32_t device)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    return args == ARGS_NONE ? ARGS_NONE : facts->trace->device_args[args].collective;
}

// --- metadata of operators ----------------------------------------------------------------------

static uint32_t op_collective(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->args[event];
    bool has = trace->kind[event] == EVENT_CPU_OP && args != ARGS_NONE;
    return has ? trace->op_args[args].collective : ARGS_NONE;
}

// Whether it is a single send or receive.
static bool passes_on(const struct comm_size *sizes, uint32_t collective)
{
    return collective != ARGS_NONE &&
           (sizes[collective].kind == KIND_SEND || sizes[collective].kind == KIND_RECV);
}

// Whether a kernel with that metadata, if any, may be a batch of sends and receives. All of RCCL's
// kernels are called generic.
static bool may_batch(const struct facts *facts, const struct comm_size *sizes, uint32_t collective,
                      uint32_t device)
{
    if (collective != ARGS_NONE && sizes[collective].kind != KIND_UNKNOWN &&
        !passes_on(sizes, collective))
        return false;
    struct str kernel = trace_text(facts->trace, facts_device_name(facts, device));
    enum collective_kind named = bandwidth_kind(kernel);
    return named == KIND_SEND_RECV ||
           (named == KIND_UNKNOWN && str_contains_nocase(kernel, STR("ccl")));
}

static bool anything_to_lend(const struct facts *facts, const struct comm_size *sizes)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    bool recorded = false, lacking = false;
    for (uint32_t i = 0; i < facts->trace->op_args_count && !recorded; i++)
        recorded = facts->trace->op_args[i].collective != ARGS_NONE;
    for (uint32_t i = first[0]; recorded && i < first[1] && !lacking; i++) {
        uint32_t device = facts->class_devices[i], own = own_collective(facts, device);
        lacking = facts->devices[device].launch != FACTS_NONE &&
                  (own == ARGS_NONE || may_batch(facts, sizes, own, device));
    }
    return lacking;
}

// The metadata that launches take from operators.
struct lending {
    const struct facts *facts;
    const struct comm_size *sizes;
    struct arena *arena;
    uint32_t *lent;  // per launch: the collective of the innermost record around it, or ARGS_NONE
    uint32_t *batch; // per launch: index of its first in parts plus 1, 0 without a batch
    uint32_t *ends;  // per launch with a batch: the end of its range in parts
    uint32_t *parts; // sends and receives taken by batches, then those of the row still without a
                     // kernel
    uint32_t part_count, part_cap, taken;
    uint32_t *nearest; // per event of a row: collective of the innermost operator with one
    uint32_t next;     // launch
};

static bool keep_part(struct lending *lending, uint32_t collective, struct err *err)
{
    if (lending->part_count == lending->part_cap) {
        uint32_t cap = lending->part_cap ? 2 * lending->part_cap : 256;
        uint32_t *parts = arena_grow(lending->arena, lending->parts,
                                     lending->part_cap * sizeof *parts, cap * sizeof *parts, err);
        if (!parts)
            return false;
        lending->parts = parts;
        lending->part_cap = cap;
    }
    lending->parts[lending->part_count++] = collective;
    return true;
}

// A communication launch settles what its thread has recorded so far: that is its batch, or is
// dropped if the launch has a record itself.
static void settle_launch(struct lending *lending, uint32_t outer)
{
    const struct facts *facts = lending->facts;
    uint32_t launch = lending->next++, device = facts->launches[launch].first;
    lending->lent[launch] = outer;
    if (facts->devices[device].class != CLASS_COMMUNICATION)
        return;
    uint32_t own = own_collective(facts, device);
    bool inside = passes_on(lending->sizes, outer);
    if (!inside && lending->part_count > lending->taken &&
        may_batch(facts, lending->sizes, own == ARGS_NONE ? outer : own, device)) {
        lending->batch[launch] = lending->taken + 1;
        lending->ends[launch] = lending->taken = lending->part_count;
    } else if (outer != ARGS_NONE || own != ARGS_NONE) {
        lending->part_count = lending->taken;
    }
}

// Walks one row.
static bool lend_row(struct lending *lending, const struct track *track, struct err *err)
{
    const struct facts *facts = lending->facts;
    struct host_stack stack;
    host_stack_init(&stack, facts->trace, facts->budget);
    host_stack_start(&stack, track, HOST_STACK_OPS);
    uint32_t event, around;
    bool ok;
    lending->part_count = lending->taken;
    while ((ok = host_stack_next(&stack, &event, &around, err)) && event != FACTS_NONE) {
        uint32_t outer = around == FACTS_NONE ? ARGS_NONE : lending->nearest[around - track->first];
        uint32_t own = op_collective(facts->trace, event);
        lending->nearest[event - track->first] = own == ARGS_NONE ? outer : own;
        if (passes_on(lending->sizes, own) && !keep_part(lending, own, err)) {
            ok = false;
            break;
        }
        if (lending->next < facts->launch_count && facts->launches[lending->next].event == event)
            settle_launch(lending, outer);
    }
    host_stack_free(&stack);
    return ok;
}

static bool lend(struct lending *lending, struct err *err)
{
    const struct facts *facts = lending->facts;
    const struct trace *trace = facts->trace;
    uint32_t longest = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && trace->tracks[t].count > longest)
            longest = trace->tracks[t].count;
    size_t size = longest * sizeof(uint32_t);
    lending->lent = arena_array(lending->arena, facts->launch_count, sizeof(uint32_t), err);
    lending->batch = arena_array(lending->arena, facts->launch_count, sizeof(uint32_t), err);
    lending->ends = arena_array(lending->arena, facts->launch_count, sizeof(uint32_t), err);
    lending->nearest = budget_alloc(facts->budget, size, err);
    bool ok = lending->lent && lending->batch && lending->ends && lending->nearest;
    for (uint32_t t = 0; ok && t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            ok = lend_row(lending, &trace->tracks[t], err);
    budget_free(facts->budget, lending->nearest, size);
    return ok;
}

// --- calls --------------------------------------------------------------------------------------

static bool measure(const struct trace *trace, struct arena *arena, struct comm_calls *calls,
                    struct err *err)
{
    calls->sizes = arena_array(arena, trace->collective_count, sizeof *calls->sizes, err);
    for (uint32_t i = 0; calls->sizes && i < trace->collective_count; i++) {
        const struct collective *c = &trace->collectives[i];
        calls->sizes[i].kind = bandwidth_kind(trace_text(trace, c->name));
        calls->sizes[i].bytes = bandwidth_bytes(
            calls->sizes[i].kind, c, bandwidth_element_bytes(trace_text(trace, c->dtype)));
    }
    return calls->sizes != NULL;
}

static void borrow(const struct lending *lending, uint32_t launch, struct comm_call *call)
{
    if (lending->batch[launch]) {
        call->part = lending->batch[launch] - 1;
        call->part_count = lending->ends[launch] - call->part;
        call->collective = lending->parts[call->part];
    } else if (call->collective == ARGS_NONE) {
        call->collective = lending->lent[launch];
    }
}

static bool collect(const struct facts *facts, const struct lending *lending, struct arena *arena,
                    struct comm_calls *calls, struct err *err)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    calls->count = first[1] - first[0];
    calls->parts = lending->parts;
    calls->calls = arena_room(arena, calls->count, sizeof *calls->calls, err);
    for (uint32_t n = 0; calls->calls && n < calls->count; n++) {
        uint32_t device = facts->class_devices[first[0] + n];
        struct comm_call *call = &calls->calls[n];
        assert(n == 0 || call[-1].device < device);
        *call = (struct comm_call){.device = device, .collective = own_collective(facts, device)};
        uint32_t launch = facts->devices[device].launch;
        if (lending->lent && launch != FACTS_NONE)
            borrow(lending, launch, call);
        if (call->collective == ARGS_NONE)
            call->own.bytes = comm_message_bytes(facts, device, &call->own.kind);
    }
    return calls->calls != NULL;
}

// Of the calls of a whole trace, keeps those of the part.
static void keep_chosen(const struct facts_part *part, struct comm_calls *calls)
{
    uint32_t count = 0, device = 0;
    for (uint32_t i = 0; i < calls->count; i++) {
        while (device < part->facts.device_count && part->chosen[device] < calls->calls[i].device)
            device++;
        if (device == part->facts.device_count || part->chosen[device] != calls->calls[i].device)
            continue;
        calls->calls[count] = calls->calls[i];
        calls->calls[count++].device = device;
    }
    calls->count = count;
}

// What a launch takes depends on the launches before it, so a part is chosen from all calls.
bool comm_calls_make(const struct facts *facts, struct arena *arena, struct comm_calls *calls,
                     struct err *err)
{
    const struct facts *all = facts->is_part ? facts_part(facts)->of : facts;
    *calls = (struct comm_calls){0};
    if (!measure(all->trace, arena, calls, err))
        return false;
    struct lending lending = {.facts = all, .sizes = calls->sizes, .arena = arena};
    bool ok = (!anything_to_lend(all, calls->sizes) || lend(&lending, err)) &&
              collect(all, &lending, arena, calls, err);
    if (ok && facts->is_part)
        keep_chosen(facts_part(facts), calls);
    return ok;
}

uint32_t comm_calls_of(const struct comm_calls *calls, uint32_t device)
{
    const struct comm_call *all = calls->calls;
    uint32_t at = count_below_u32(FIRST_OF(all, device), calls->count, sizeof *all, device);
    return at < calls->count && all[at].device == device ? at : calls->count;
}

struct group_key comm_calls_group(const struct facts *facts, const struct comm_call *call)
{
    if (call->collective == ARGS_NONE)
        return (struct group_key){UINT64_MAX, 0};
    const struct collective *c = &facts->trace->collectives[call->collective];
    return (struct group_key){c->group, (uint64_t)c->group_size};
}

static int64_t batch_bytes(const struct comm_calls *calls, const struct comm_call *call)
{
    int64_t sent = 0, received = 0;
    for (uint32_t i = 0; i < call->part_count; i++) {
        const struct comm_size *size = &calls->sizes[calls->parts[call->part + i]];
        int64_t *sum = size->kind == KIND_SEND ? &sent : &received;
        if (size->bytes < 0 || __builtin_add_overflow(*sum, size->bytes, sum))
            return -1;
    }
    return sent > received ? sent : received;
}

int64_t comm_calls_bytes(const struct comm_calls *calls, uint32_t index)
{
    const struct comm_call *call = &calls->calls[index];
    if (call->part_count > 1)
        return batch_bytes(calls, call);
    return call->collective == ARGS_NONE ? call->own.bytes : calls->sizes[call->collective].bytes;
}

enum collective_kind comm_calls_kind(const struct comm_calls *calls, uint32_t index)
{
    const struct comm_call *call = &calls->calls[index];
    if (call->collective == ARGS_NONE)
        return call->own.kind;
    enum collective_kind kind = calls->sizes[call->collective].kind;
    for (uint32_t i = 1; i < call->part_count; i++)
        if (calls->sizes[calls->parts[call->part + i]].kind != kind)
            return KIND_SEND_RECV;
    return kind;
}

bool comm_calls_order(const struct comm_calls *calls, const uint32_t *group_of,
                      uint32_t group_count, struct arena *arena, struct comm_order *order,
                      struct err *err)
{
    order->first = arena_array(arena, (size_t)group_count + 2, sizeof *order->first, err);
    order->order = arena_room(arena, calls->count, sizeof *order->order, err);
    if (!order->first || !order->order)
        return false;
    uint32_t *at = order->first + 1; // moves on to the start of the next group while filling
    for (uint32_t i = 0; i < calls->count; i++)
        at[group_of[i] + 1]++;
    for (uint32_t g = 0; g < group_count; g++)
        at[g + 1] += at[g];
    for (uint32_t i = 0; i < calls->count; i++)
        order->order[at[group_of[i]]++] = i;
    return true;
}
