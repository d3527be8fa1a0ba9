// SPDX-License-Identifier: Apache-2.0
// The rule about calls that wait for the device so often that it never has work queued: each is
// short, as the device is idle by then, so time in the calls does not show what they cost.
#include "analysis/findings/findings.h"
#include "analysis/facts/awaited_copies.h"
#include "analysis/facts/host_stack.h"
#include "analysis/names/host_traits.h"
#include "ingest/base/search.h"

struct syncs {
    const struct facts *facts;
    struct host_traits traits;
    bool *waited;     // per launch: made for a synchronizing call, or the first one after it
    uint32_t *counts; // per string: calls in steady steps by operators or, without one, by calls
    int64_t count, call_ns;
    str_id most;     // by which most are made
    uint32_t before; // the call before the one looked at, on its row
    uint32_t copied; // if the last such call is a copy, its operator or, without one, the copy
};

static uint32_t first_launch_from(const struct facts *facts, uint32_t event)
{
    return count_below_u32(FIRST_OF(facts->launches, event), facts->launch_count,
                           sizeof *facts->launches, event);
}

// The launches around a call: the last one before it, and the first one after it on its thread.
struct around {
    uint32_t before, after; // FACTS_NONE without one
};

static struct around look_around(const struct facts *facts, const struct track *track,
                                 uint32_t call)
{
    uint32_t next = first_launch_from(facts, call + 1);
    bool before = next > 0 && facts->launches[next - 1].event >= track->first;
    bool after =
        next < facts->launch_count && facts->launches[next].event < track->first + track->count;
    return (struct around){before ? next - 1 : FACTS_NONE, after ? next : FACTS_NONE};
}

static bool is_steady(const struct facts *facts, struct around around)
{
    uint32_t launch = around.before == FACTS_NONE ? around.after : around.before;
    return launch != FACTS_NONE && facts_is_steady(facts, facts->launches[launch].first);
}

// The copy of a value that the host reads is launched within the operator that then waits for it.
static void mark_launches(struct syncs *syncs, struct around around, uint32_t op)
{
    if (around.after != FACTS_NONE)
        syncs->waited[around.after] = true;
    if (around.before != FACTS_NONE && op != FACTS_NONE &&
        syncs->facts->launches[around.before].event > op)
        syncs->waited[around.before] = true;
}

// "aten::item" for the operator that only it calls.
static str_id name_of(const struct trace *trace, uint32_t call, uint32_t op, uint32_t caller)
{
    if (op == FACTS_NONE)
        return trace->name[call];
    bool inner = str_equal(trace_text(trace, trace->name[op]), STR("aten::_local_scalar_dense"));
    return trace->name[inner && caller != FACTS_NONE ? caller : op];
}

// Reading a value is one call: the copy that waits, and the wait for it that follows in the same
// operator or, without one, directly.
static void add_call(struct syncs *syncs, uint32_t call, uint32_t op, str_id name)
{
    const struct trace *trace = syncs->facts->trace;
    bool copies = str_find(trace_text(trace, trace->name[call]), STR("Memcpy")) != SIZE_MAX;
    uint32_t around = op != FACTS_NONE ? op : copies ? call : syncs->before;
    bool follows = !copies && around != FACTS_NONE && around == syncs->copied;
    syncs->copied = copies ? around : FACTS_NONE;
    if (trace->dur_ns[call] < INT64_MAX - syncs->call_ns)
        syncs->call_ns += trace->dur_ns[call];
    if (follows)
        return;
    syncs->count++;
    syncs->counts[name]++;
    if (!syncs->most || syncs->counts[name] > syncs->counts[syncs->most])
        syncs->most = name;
}

// The operator in which a call is made, and the one that called it.
struct place {
    uint32_t op, caller;
};

static void look_at_call(struct syncs *syncs, const struct track *track, uint32_t call,
                         struct place place)
{
    if (!(host_traits_of(&syncs->traits, call) >> HOST_SYNC & 1))
        return;
    struct around around = look_around(syncs->facts, track, call);
    if (!is_steady(syncs->facts, around))
        return;
    add_call(syncs, call, place.op, name_of(syncs->facts->trace, call, place.op, place.caller));
    mark_launches(syncs, around, place.op);
}

static bool find_on(struct syncs *syncs, const struct track *track, struct host_stack *stack,
                    struct err *err)
{
    const struct trace *trace = syncs->facts->trace;
    uint32_t event, parent, last_op = FACTS_NONE, caller = FACTS_NONE;
    host_stack_start(stack, track, HOST_STACK_OPS);
    syncs->before = FACTS_NONE;
    for (;;) {
        if (!host_stack_next(stack, &event, &parent, err))
            return false;
        if (event == FACTS_NONE)
            return true;
        if (trace->kind[event] == EVENT_CPU_OP) {
            last_op = event;
            caller = parent;
        }
        if (!event_kind_is_launch((enum event_kind)trace->kind[event]))
            continue;
        look_at_call(syncs, track, event,
                     (struct place){parent, parent == last_op ? caller : FACTS_NONE});
        syncs->before = event;
    }
}

static bool find_all(struct syncs *syncs, struct err *err)
{
    const struct trace *trace = syncs->facts->trace;
    struct host_stack stack;
    bool ok = true;
    host_stack_init(&stack, trace, syncs->facts->budget);
    for (uint32_t t = 0; ok && t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            ok = find_on(syncs, &trace->tracks[t], &stack, err);
    host_stack_free(&stack);
    return ok;
}

static bool measure(const struct finding_case *the_case, struct syncs *syncs, struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct arena *arena = the_case->arena;
    *syncs = (struct syncs){.facts = facts, .copied = FACTS_NONE};
    syncs->waited = arena_array(arena, (size_t)facts->launch_count + 1, sizeof(bool), err);
    syncs->counts = arena_array(arena, facts->trace->strings.count, sizeof(uint32_t), err);
    if (!syncs->waited || !syncs->counts ||
        !host_traits_make(&syncs->traits, facts->trace, facts->budget, err))
        return false;
    bool ok = awaited_copies_find(facts, arena, &syncs->traits, err) && find_all(syncs, err);
    host_traits_free(&syncs->traits);
    return ok;
}

static int64_t claim_wait(const struct finding_case *the_case, const void *context,
                          const struct atom *atom)
{
    const struct syncs *syncs = context;
    const struct facts *facts = the_case->facts;
    if (!atom->gap || atom->gap->next == FACTS_NONE)
        return 0;
    uint32_t launch = facts->devices[atom->gap->next].launch;
    enum idle_cause cause = (enum idle_cause)atom->gap->cause;
    bool loads = cause == IDLE_DATA_LOADING || cause == IDLE_ALLOCATOR;
    return launch == FACTS_NONE || loads || !syncs->waited[launch] ? 0 : findings_wait(atom);
}

static bool tell(const struct finding_case *the_case, const struct syncs *syncs,
                 struct finding *finding, struct err *err)
{
    struct str name = facts_short_name(the_case->facts->trace, syncs->most);
    char count[32], most[32];
    findings_per_step(the_case, syncs->count, count);
    finding->title = arena_printf(
        the_case->arena, err, "%s synchronizing calls %s, most by %.*s, cost %s (%.1f %%)", count,
        the_case->per, (int)name.len, name.at, time_text(finding->cost_ns).text,
        findings_percent(the_case, finding->cost_ns));
    finding->evidence = findings_fact(
        the_case, "idle_gaps", err,
        "%s of them %s by %.*s; a call takes %s on average, and the device has nothing queued "
        "until the launch after it",
        findings_per_step(the_case, syncs->counts[syncs->most], most), the_case->per, (int)name.len,
        name.at, time_text(syncs->call_ns / syncs->count).text);
    return finding->title && finding->evidence;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct syncs *syncs = arena_array(the_case->arena, 1, sizeof *syncs, err);
    if (!syncs || !measure(the_case, syncs, err))
        return false;
    if (syncs->count < FINDING_SYNC_CALLS * the_case->steps)
        return true;
    if (!findings_cost(the_case, finding, claim_wait, syncs, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_SYNCS_SHARE);
    finding->confidence = "medium";
    return !*fires || tell(the_case, syncs, finding, err);
}

const struct finding_rule finding_frequent_syncs = {
    .name = "frequent_syncs",
    .why = "Each call waits until the device is done, so nothing is queued when it returns, and "
           "the device idles until the host has launched again. Where the device is idle anyway, "
           "the calls return at once, but still take the host's time.",
    .advice = "Keep numbers on the device: sum losses and norms there and read them every few "
              "steps; replace .item(), bool(tensor), nonzero() and masks by torch.where and fixed "
              "shapes; torch.cuda.set_sync_debug_mode(\"warn\") shows the lines.",
    .method = "Waits for the host before what a synchronizing call's own operator launches, and "
              "before the first launch after the call, at most 100 us each, per steady step; "
              "reported from 5 calls and 2 % of the step.",
    .false_alarms = "Values that decide what to launch next. Tracing slows the host down, so each "
                    "wait is longer than without it.",
    .check = check,
};
