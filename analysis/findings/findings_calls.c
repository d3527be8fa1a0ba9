// SPDX-License-Identifier: Apache-2.0
// The rule about kernel calls that take longer than most equal calls.
#include "analysis/findings/call_places.h"

struct slow_calls {
    const struct facts *facts;
    struct grouping grouping;
    int64_t *usual_ns;          // per device event: usual for its kind at its place
    int64_t *cost_ns;           // per group
    int64_t slow;               // calls
    int64_t slow_ns, beside_ns; // their time, and that of those with concurrent communication
    int64_t *comm_until_ns;     // per communication event by begin: latest end so far
};

// Inputs of the operator that launched a device event, ARGS_NONE if not recorded.
static uint32_t inputs_of(const struct facts *facts, uint32_t device)
{
    const struct trace *trace = facts->trace;
    uint32_t launch = facts->devices[device].launch;
    uint32_t op = launch == FACTS_NONE ? FACTS_NONE : facts->launches[launch].op;
    uint32_t args = op == FACTS_NONE ? ARGS_NONE : trace->args[op];
    return args == ARGS_NONE ? ARGS_NONE : trace->op_args[args].inputs;
}

// The same kernel for the same operator and shapes, in a steady step. Without recorded shapes equal
// calls cannot be identified.
static bool call_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    uint64_t op = facts_device_op(facts, device), inputs = inputs_of(facts, device);
    uint64_t shape = args == ARGS_NONE ? ARGS_NONE : facts->trace->device_args[args].shape;
    *key = (struct group_key){op << 32 | facts_device_name(facts, device), inputs << 32 | shape};
    return inputs != ARGS_NONE && facts->devices[device].class == CLASS_COMPUTE &&
           facts_is_steady(facts, device);
}

static int64_t time_of(const struct device_event *device)
{
    return device->end_ns - device->begin_ns;
}

// By how much a call exceeds the usual of its kind at its place, 0 unless that is a lot.
static int64_t excess_of(const struct slow_calls *all, uint32_t device)
{
    bool known = all->grouping.group_of[device] != FACTS_NONE && all->usual_ns[device] != INT64_MAX;
    return known ? call_excess(time_of(&all->facts->devices[device]), all->usual_ns[device]) : 0;
}

static int64_t claim_slow(const struct finding_case *the_case, const void *context,
                          const struct atom *atom)
{
    int64_t excess_ns = atom->gap ? 0 : excess_of(context, atom->device);
    if (excess_ns == 0)
        return 0;
    int64_t call_ns = time_of(&the_case->facts->devices[atom->device]);
    return (int64_t)((double)atom->ns * (double)excess_ns / (double)call_ns);
}

static bool find_comm(struct slow_calls *all, struct arena *arena, struct err *err)
{
    const struct facts *facts = all->facts;
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    int64_t latest_ns = INT64_MIN;
    all->comm_until_ns =
        arena_room(arena, (size_t)(first[1] - first[0]) + 1, sizeof *all->comm_until_ns, err);
    if (!all->comm_until_ns)
        return false;
    for (uint32_t c = 0; c < first[1] - first[0]; c++) {
        int64_t end_ns = facts->devices[facts->class_devices[first[0] + c]].end_ns;
        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
        all->comm_until_ns[c] = latest_ns;
    }
    return true;
}

// Whether communication runs at any time during the device event.
static bool has_comm_beside(const struct slow_calls *all, const struct device_event *device)
{
    const struct facts *facts = all->facts;
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    uint32_t low = 0, high = first[1] - first[0]; // those that start before its end
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->devices[facts->class_devices[first[0] + middle]].begin_ns < device->end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && all->comm_until_ns[low - 1] > device->begin_ns;
}

static void add_slow(const struct finding_case *the_case, struct slow_calls *all, uint32_t device)
{
    const struct device_event *event = &all->facts->devices[device];
    struct atom atom = {.device = device, .ns = all->facts->steady_owned_ns[device]};
    all->cost_ns[all->grouping.group_of[device]] += claim_slow(the_case, all, &atom);
    all->slow++;
    all->slow_ns += time_of(event);
    all->beside_ns += has_comm_beside(all, event) ? time_of(event) : 0;
}

static bool measure(const struct finding_case *the_case, struct slow_calls *all, struct err *err)
{
    const struct facts *facts = all->facts = the_case->facts;
    bool ok = grouping_make(facts, call_key, the_case->arena, &all->grouping, err) &&
              grouping_sort(facts, the_case->arena, &all->grouping, err) &&
              call_places_make(facts, &all->grouping, the_case->arena, &all->usual_ns, err) &&
              find_comm(all, the_case->arena, err);
    if (ok) {
        all->cost_ns = arena_array(the_case->arena, (size_t)all->grouping.groups.count + 1,
                                   sizeof *all->cost_ns, err);
        ok = all->cost_ns;
    }
    for (uint32_t i = 0; ok && i < facts->device_count; i++) {
        if (excess_of(all, i) > 0)
            add_slow(the_case, all, i);
    }
    return ok;
}

// In the costliest kind, the call that loses most.
static uint32_t find_worst(const struct slow_calls *all)
{
    uint32_t worst = FACTS_NONE;
    for (uint32_t i = 0; i < all->facts->device_count; i++) {
        int64_t excess_ns = excess_of(all, i);
        if (excess_ns == 0)
            continue;
        if (worst == FACTS_NONE) {
            worst = i;
            continue;
        }
        int64_t more_ns =
            all->cost_ns[all->grouping.group_of[i]] - all->cost_ns[all->grouping.group_of[worst]];
        if (more_ns > 0 || (more_ns == 0 && excess_ns > excess_of(all, worst)))
            worst = i;
    }
    return worst;
}

static bool describe(const struct finding_case *the_case, const struct slow_calls *all,
                     struct finding *finding, struct err *err)
{
    const struct facts *facts = all->facts;
    uint32_t worst = find_worst(all), group = all->grouping.group_of[worst];
    uint32_t first = all->grouping.first[group], past = all->grouping.first[group + 1];
    struct str name = facts_short_name(facts->trace, facts_device_name(facts, worst));
    char count[32];
    struct evidence evidence = {0};
    finding->title = arena_printf(
        the_case->arena, err,
        "slow kernel calls, %s %s, take %s longer than the same calls usually do (%.1f %%)",
        findings_per_step(the_case, all->slow, count), the_case->per,
        time_text(finding->cost_ns).text, findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, href_of_kernel(name).text,
                 "most time is lost in %.*s: usually %s, at worst %s, in %s calls", (int)name.len,
                 name.at, time_text(all->usual_ns[worst]).text,
                 time_text(time_of(&facts->devices[worst])).text, count_text(past - first).text);
    evidence_add(&evidence, "collectives",
                 "communication runs during %.0f %% of the slow calls' time",
                 100 * (double)all->beside_ns / (double)all->slow_ns);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool judge(const struct finding_case *the_case, struct slow_calls *all, bool *fires,
                  struct finding *finding, struct err *err)
{
    if (!measure(the_case, all, err))
        return false;
    if (!findings_cost(the_case, finding, claim_slow, all, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_SLOW_CALLS_SHARE);
    if (!*fires)
        return true;
    finding->confidence = "medium";
    return describe(the_case, all, finding, err);
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct slow_calls *all = arena_array(the_case->arena, 1, sizeof *all, err);
    if (!all)
        return false;
    bool ok = judge(the_case, all, fires, finding, err);
    grouping_free(&all->grouping); // claims need only what is in the arena
    return ok;
}

const struct finding_rule finding_slow_calls = {
    .name = "slow_calls",
    .why =
        "The same kernel on the same shapes usually runs faster at the same place: something took "
        "bandwidth or SMs away (a concurrent collective, another process), or clocks "
        "dropped.",
    .advice = "Check in the timeline what runs concurrently with the slow calls: use fewer "
              "channels for collectives (NCCL_MAX_CTAS), keep other work off the device, monitor "
              "power and temperature.",
    .method = "Compares 10 or more calls of one kernel with the same grid, operator and shapes in "
              "the steady steps; slow calls take 1.3 times their median and 5 us more. The median "
              "is that of the calls at the same place (in the step, replay, operator call, module "
              "or layer period) when that explains more than all calls together. Cost: owned time "
              "beyond the median; reported from 1 % of the step. Needs recorded shapes.",
    .false_alarms = "Kernels whose work depends on input values.",
    .check = check,
};
