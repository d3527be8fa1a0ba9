// SPDX-License-Identifier: Apache-2.0
// The rule about collectives that run on the host: the device has no kernels for them, and idles.
#include "analysis/findings/findings.h"

bool findings_is_host_collective(const struct facts *facts, const struct gap *gap)
{
    static const char *const backends[] = {"gloo:", "mpi:"};
    if (gap->host_event == FACTS_NONE)
        return false;
    struct str name = trace_text(facts->trace, facts->trace->name[gap->host_event]);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (str_starts_with(name, str_of(backends[i])))
            return true;
    return false;
}

static int64_t claim_gap(const struct finding_case *the_case, const void *context,
                         const struct atom *atom)
{
    (void)context;
    return atom->gap && findings_is_host_collective(the_case->facts, atom->gap) ? atom->ns : 0;
}

struct longest {
    const struct facts *facts;
    struct atom atom;
    int64_t count;
};

static void add_gap(void *context, const struct atom *atom)
{
    struct longest *longest = context;
    if (!findings_is_host_collective(longest->facts, atom->gap))
        return;
    longest->count++;
    if (atom->ns > longest->atom.ns)
        longest->atom = *atom;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const struct trace *trace = the_case->facts->trace;
    struct longest longest = {.facts = the_case->facts};
    findings_visit_gaps(the_case, add_gap, &longest);
    if (!longest.count)
        return true;
    if (!findings_cost(the_case, finding, claim_gap, NULL, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_STARVED_SHARE);
    if (!*fires)
        return true;
    struct str name = facts_short_name(trace, trace->name[longest.atom.gap->host_event]);
    char count[32];
    finding->confidence = "high";
    finding->gain = FINDING_GAIN_UNKNOWN; // another backend takes time, too
    finding->title =
        arena_printf(the_case->arena, err,
                     "the device waits %s %s (%.1f %%) for collectives that run on the host (%.*s)",
                     time_text(finding->cost_ns).text, the_case->per,
                     findings_percent(the_case, finding->cost_ns), (int)name.len, name.at);
    finding->evidence = findings_fact(
        the_case, "idle_gaps", err, "%s gaps %s, the longest %s, in which the host was in %.*s",
        findings_per_step(the_case, longest.count, count), the_case->per,
        time_text(longest.atom.ns).text, (int)name.len, name.at);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_host_collectives = {
    .name = "host_collectives",
    .why = "Gloo, and MPI without device support, copy each tensor to the host, exchange it "
           "there over sockets, and copy it back, while the device has nothing to do. The time "
           "includes waiting for ranks that arrive later.",
    .advice = "Use the backend of the device, NCCL or RCCL (init_process_group(\"nccl\")), which "
              "moves tensors from device to device alongside compute; keep gloo for tensors on the "
              "host. Where another finding names a rank that is late, start with that.",
    .method = "Idle gaps during which the launching thread is in an annotation of a host "
              "backend, such as gloo:all_reduce, per steady step; reported from 3 % of the step.",
    .false_alarms = "A test whose ranks share one device, which NCCL does not support.",
    .check = check,
};
