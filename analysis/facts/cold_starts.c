// SPDX-License-Identifier: Apache-2.0
// Finds the first call of each kind, then looks at later calls of kinds whose first was slow.
#include "analysis/facts/cold_starts.h"

#include "analysis/facts/steps.h"
#include "analysis/stats/sort.h"

// Per string of the trace, as the name of a kind.
struct kind {
    uint32_t first;       // its first call, FACTS_NONE without one
    uint32_t later, slow; // later calls, and those over a COLD_TIMES-th of the first
    uint8_t graph;        // enum graph_launch, as the name of a call
    int64_t first_ns;     // of its first call, like struct call.ns
};

enum graph_launch { GRAPH_UNSEEN, GRAPH_NO, GRAPH_YES };

struct call {
    uint32_t event;
    str_id kind;
    bool kernel; // the kind is a kernel's
    int64_t ns;  // its duration without the part during which the kernel ran: a launch may wait for
                 // it
};

// Kernel launches: the first of each kernel, and all others.
struct launches {
    uint64_t count, slow; // slow: COLD_FROM_NS or more
};

struct search {
    const struct facts *facts;
    struct kind *kinds;
    size_t count;
    struct launches first, later;
};

typedef void call_visitor(struct search *search, const struct call *call);

static bool launches_graph(struct search *search, const struct launch *launch)
{
    const struct trace *trace = search->facts->trace;
    str_id name = trace->name[launch->event];
    uint8_t *graph = &search->kinds[name].graph;
    if (*graph == GRAPH_UNSEEN)
        *graph = str_find(facts_short_name(trace, name), STR("GraphLaunch")) == SIZE_MAX
                     ? GRAPH_NO
                     : GRAPH_YES;
    return launch->count > 1 || *graph == GRAPH_YES;
}

// The kind of a launch of one kernel is that kernel; of any other call, and of a graph launch, its
// own name. False if it copies.
static bool describe(struct search *search, const struct launch *launch, struct call *call)
{
    const struct facts *facts = search->facts;
    *call = (struct call){.event = call->event,
                          .kind = facts->trace->name[call->event],
                          .ns = facts->trace->dur_ns[call->event]};
    if (!launch || launches_graph(search, launch))
        return true;
    const struct device_event *device = &facts->devices[launch->first];
    int64_t begin_ns = facts->trace->begin_ns[call->event];
    int64_t end_ns = facts_event_end(facts->trace, call->event);
    begin_ns = device->begin_ns > begin_ns ? device->begin_ns : begin_ns;
    end_ns = device->end_ns < end_ns ? device->end_ns : end_ns;
    call->ns -= end_ns > begin_ns ? end_ns - begin_ns : 0;
    call->kind = facts->trace->name[device->event];
    call->kernel = true;
    return facts->trace->kind[device->event] == EVENT_KERNEL;
}

// Visits each runtime or driver call except copies.
static void visit_calls(struct search *search, call_visitor *visit)
{
    const struct facts *facts = search->facts;
    const struct trace *trace = facts->trace;
    uint32_t l = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!event_kind_is_launch((enum event_kind)trace->kind[e]))
            continue;
        while (l < facts->launch_count && facts->launches[l].event < e)
            l++;
        bool launches = l < facts->launch_count && facts->launches[l].event == e;
        struct call call = {.event = e};
        if (describe(search, launches ? &facts->launches[l] : NULL, &call))
            visit(search, &call);
    }
}

static void keep_first(struct search *search, const struct call *call)
{
    const int64_t *begin_ns = search->facts->trace->begin_ns;
    struct kind *its = &search->kinds[call->kind];
    if (its->first != FACTS_NONE && begin_ns[call->event] >= begin_ns[its->first])
        return;
    its->first = call->event;
    its->first_ns = call->ns;
}

static void count_later(struct search *search, const struct call *call)
{
    struct kind *its = &search->kinds[call->kind];
    bool first = its->first == call->event;
    struct launches *launches = first ? &search->first : &search->later;
    if (call->kernel) {
        launches->count++;
        launches->slow += call->ns >= COLD_FROM_NS;
    }
    if (first)
        return;
    its->later++;
    its->slow += call->ns > its->first_ns / COLD_TIMES;
}

// The duration of calls that wait for the device or copy depends on that work.
static bool may_be_cold(struct host_traits *traits, const struct kind *kind)
{
    const struct trace *trace = traits->trace;
    if (kind->first == FACTS_NONE || kind->first_ns < COLD_FROM_NS)
        return false;
    unsigned bits = host_traits_of(traits, kind->first);
    struct str name = trace_text(trace, trace->name[kind->first]);
    return !(bits & (1u << HOST_SYNC | 1u << HOST_STREAM_WAIT | 1u << HOST_HOLD)) &&
           str_find(name, STR("Memcpy")) == SIZE_MAX && str_find(name, STR("Memset")) == SIZE_MAX;
}

// A kernel launched only once is compared with all other launches: if later launches of kernels are
// slow about as often, something other than being first makes launches slow.
static bool firsts_are_slow(const struct search *search)
{
    double firsts = (double)search->first.slow * (double)search->later.count;
    return search->later.slow == 0 ||
           firsts > COLD_OFTEN * (double)search->later.slow * (double)search->first.count;
}

static bool is_cold(const struct search *search, struct host_traits *traits,
                    const struct kind *kind, str_id name)
{
    const struct facts *facts = search->facts;
    bool launch = facts->trace->name[kind->first] != name; // the kind is named after its kernel
    bool allocates = host_traits_of(traits, kind->first) >> HOST_ALLOCATOR & 1;
    int64_t alone_ns = allocates && facts->step_count < 2 ? COLD_ALONE_ALLOCATOR_NS : COLD_ALONE_NS;
    if (kind->later == 0)
        return launch ? firsts_are_slow(search) : kind->first_ns >= alone_ns;
    return kind->slow <= kind->later / 2;
}

// How many kinds had a slow first call.
static uint32_t count_slow(const struct search *search, struct host_traits *traits)
{
    uint32_t slow = 0;
    for (size_t k = 0; k < search->count; k++)
        slow += may_be_cold(traits, &search->kinds[k]);
    return slow;
}

static bool list(const struct search *search, uint32_t most, struct arena *arena,
                 struct host_traits *traits, struct err *err)
{
    struct keyed *items = arena_array(arena, 2 * (size_t)most, sizeof *items, err);
    if (!items)
        return false;
    uint32_t count = 0;
    for (size_t k = 0; k < search->count; k++)
        if (may_be_cold(traits, &search->kinds[k]) &&
            is_cold(search, traits, &search->kinds[k], (str_id)k))
            items[count++] = (struct keyed){search->kinds[k].first, 0, 0};
    sort_keyed(items, items + most, count);
    traits->cold = items;
    traits->cold_count = count;
    return true;
}

// Whether code is compiled in fewer than half of the steady steps, and again, after one without, at
// most once.
static bool find_compilations(const struct facts *facts, struct arena *arena,
                              struct host_traits *traits, struct err *err)
{
    const struct trace *trace = facts->trace;
    bool *compiles = arena_array(arena, (size_t)facts->step_count + 1, sizeof *compiles, err);
    if (!compiles)
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        bool range = trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_CPU_OP;
        if (!range || trace->dur_ns[e] < COLD_FROM_NS ||
            !(host_traits_of(traits, e) >> HOST_COMPILE & 1))
            continue;
        uint32_t step = steps_marked_at(facts, trace->begin_ns[e]);
        if (step != FACTS_NONE)
            compiles[step] = true;
    }
    int64_t count = 0, again = 0;
    bool before = true;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        if (!facts->steps[s].steady)
            continue;
        count += compiles[s];
        again += compiles[s] && !before;
        before = compiles[s];
    }
    traits->compiles_once = 2 * count < facts->steady_count && again <= 1;
    return true;
}

bool cold_starts_find(const struct facts *facts, struct arena *arena, struct host_traits *traits,
                      struct err *err)
{
    struct search search = {.facts = facts, .count = facts->trace->strings.count};
    size_t size = search.count * sizeof *search.kinds;
    search.kinds = budget_alloc(facts->budget, size, err);
    if (!search.kinds)
        return false;
    for (size_t k = 0; k < search.count; k++)
        search.kinds[k] = (struct kind){.first = FACTS_NONE};
    visit_calls(&search, keep_first);
    uint32_t slow = count_slow(&search, traits);
    if (slow)
        visit_calls(&search, count_later);
    bool ok =
        list(&search, slow, arena, traits, err) && find_compilations(facts, arena, traits, err);
    budget_free(facts->budget, search.kinds, size);
    return ok;
}
