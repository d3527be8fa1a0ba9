// SPDX-License-Identifier: Apache-2.0
// The rule about many small collectives in one trace; the run's rule separates waits from
// transfers.
#include "analysis/comm/comm_calls.h"
#include "analysis/findings/findings.h"

struct small {
    const struct facts *facts;
    struct comm_calls calls;
    double best; // bandwidth of the trace's calls, in bytes per ns
    int64_t count, total_ns, bytes;
    uint32_t worst; // call that runs longest, FACTS_NONE without one
};

static int64_t time_of(const struct small *small, uint32_t call)
{
    const struct device_event *device = &small->facts->devices[small->calls.calls[call].device];
    return device->end_ns - device->begin_ns;
}

// Gradients and parameters could be sent in larger pieces; others transfer what they must.
static bool is_small(const struct small *small, uint32_t call)
{
    uint32_t collective = small->calls.calls[call].collective;
    if (collective == ARGS_NONE)
        return false;
    const struct comm_size *size = &small->calls.sizes[collective];
    bool joins = size->kind == KIND_ALL_REDUCE || size->kind == KIND_ALL_GATHER ||
                 size->kind == KIND_REDUCE_SCATTER || size->kind == KIND_BROADCAST;
    return joins && size->bytes > 0 && size->bytes < FINDING_SMALL_BYTES;
}

// The share of a call's time that its bytes do not need.
static double spare_of(const struct small *small, uint32_t call)
{
    int64_t call_ns = time_of(small, call);
    if (!is_small(small, call) || call_ns <= 0)
        return 0;
    double needed = (double)comm_calls_bytes(&small->calls, call) / small->best / (double)call_ns;
    return needed < 1 ? 1 - needed : 0;
}

static int64_t claim_small(const struct finding_case *the_case, const void *context,
                           const struct atom *atom)
{
    const struct small *small = context;
    if (atom->gap || the_case->facts->devices[atom->device].bar != BAR_EXPOSED_COMM)
        return 0;
    uint32_t call = comm_calls_of(&small->calls, atom->device);
    return call < small->calls.count ? (int64_t)((double)atom->ns * spare_of(small, call)) : 0;
}

static bool measure(const struct finding_case *the_case, struct small *small, struct err *err)
{
    const struct facts *facts = the_case->facts;
    *small = (struct small){.facts = facts, .worst = FACTS_NONE};
    if (!comm_calls_make(facts, the_case->arena, &small->calls, err))
        return false;
    for (uint32_t c = 0; c < small->calls.count; c++) {
        int64_t bytes = comm_calls_bytes(&small->calls, c), call_ns = time_of(small, c);
        double speed = bytes > 0 && call_ns > 0 ? (double)bytes / (double)call_ns : 0;
        small->best = speed > small->best ? speed : small->best;
        if (!is_small(small, c) || !facts_is_steady(facts, small->calls.calls[c].device))
            continue;
        small->count++;
        small->total_ns += call_ns;
        small->bytes += bytes;
        if (small->worst == FACTS_NONE || call_ns > time_of(small, small->worst))
            small->worst = c;
    }
    return true;
}

static bool describe(const struct finding_case *the_case, const struct small *small,
                     struct finding *finding, struct err *err)
{
    char count[32];
    struct evidence evidence = {0};
    uint32_t worst = small->calls.calls[small->worst].collective;
    const char *kind = bandwidth_kind_word(small->calls.sizes[worst].kind);
    finding->confidence = "medium";
    finding->title = arena_printf(
        the_case->arena, err,
        "%s collectives under 1 MB %s cost %s more than their bytes need (%.1f %%)",
        findings_per_step(the_case, small->count, count), the_case->per,
        time_text(finding->cost_ns).text, findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "comm_sizes",
                 "on average %s bytes in %s; the best bandwidth in this trace is "
                 "%.1f GB/s",
                 count_text(small->bytes / small->count).text,
                 time_text(small->total_ns / small->count).text, small->best);
    evidence_add(&evidence, "collectives",
                 "the longest, %s of %s bytes, takes %s, waiting for other ranks included, which "
                 "one trace cannot separate",
                 kind, count_text(small->calls.sizes[worst].bytes).text,
                 time_text(time_of(small, small->worst)).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const uint32_t *first = the_case->facts->class_first + CLASS_COMMUNICATION;
    struct small *small = arena_array(the_case->arena, 1, sizeof *small, err);
    if (!small)
        return false;
    if (first[0] == first[1] || !findings_has_backward(the_case->facts))
        return true;
    if (!measure(the_case, small, err))
        return false;
    if (small->count < FINDING_SMALL_CALLS * the_case->steps)
        return true;
    if (!findings_cost(the_case, finding, claim_small, small, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_SMALL_SHARE);
    return !*fires || describe(the_case, small, finding, err);
}

const struct finding_rule finding_small_messages = {
    .name = "small_messages",
    .why = "A collective takes several microseconds however little it moves; many small ones are "
           "bound by latency instead of bandwidth.",
    .advice = "Send fewer and larger ones: let DDP use buckets (bucket_cap_mb) instead of reducing "
              "each parameter separately, flatten gradients before a custom reduction, fewer FSDP "
              "units, coalesced collectives.",
    .method = "Exposed time of all_reduce, all_gather, reduce_scatter and broadcast under 1 MB per "
              "typical step, minus the time their bytes would take at the best bandwidth of the "
              "trace; reported when there are 20 per step, costing 2 % of it. Only in training, "
              "where a backward was recorded.",
    .false_alarms = "From one rank alone, waiting for a late rank looks like a slow transfer; "
                    "small results may be needed at once, as in tensor parallelism.",
    .check = check,
};
