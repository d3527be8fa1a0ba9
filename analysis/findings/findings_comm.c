// SPDX-License-Identifier: Apache-2.0
// Rules about communication that compute does not hide.
#include "analysis/names/bandwidth.h"
#include "analysis/findings/findings.h"

#include <ctype.h>

static int64_t claim_exposed(const struct finding_case *the_case, const void *context,
                             const struct atom *atom)
{
    (void)context;
    bool device = !atom->gap;
    return device && the_case->facts->devices[atom->device].bar == BAR_EXPOSED_COMM ? atom->ns : 0;
}

// From one rank of several, a replay cannot tell waits for the others from transfers.
static enum finding_gain gain_of(const struct finding_case *the_case)
{
    return the_case->facts->identity.world_size > 1 ? FINDING_GAIN_UNKNOWN : FINDING_GAIN_OF_CHANGE;
}

static bool check_exposed(const struct finding_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    const struct parts *steady = &the_case->facts->steady;
    if (!findings_cost(the_case, finding, claim_exposed, NULL, err))
        return false;
    int64_t cost_ns = finding->cost_ns;
    *fires = findings_costs(the_case, cost_ns, FINDING_EXPOSED_SHARE);
    if (!*fires)
        return true;
    finding->confidence = "high";
    finding->gain = gain_of(the_case);
    finding->title = arena_printf(
        the_case->arena, err, "%s of communication %s is not hidden by compute (%.1f %%)",
        time_text(cost_ns).text, the_case->per, findings_percent(the_case, cost_ns));
    finding->evidence =
        findings_fact(the_case, "collectives?sort=-exposed_ns", err,
                      "%s of the %s in which communication runs %s", time_text(cost_ns).text,
                      time_text(steady->total_comm_ns / the_case->steps).text, the_case->per);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_exposed_communication = {
    .name = "exposed_communication",
    .change = "infinite_network",
    .why = "While a collective runs alone, the device does no compute: it moves data or waits for "
           "a late rank.",
    .advice = "First compare the traces of all ranks: when one is late, the others wait in the "
              "collective and the network is not at fault. Otherwise start with the collectives "
              "with the most exposed time: fewer and larger messages, earlier prefetch, lower "
              "precision on the wire.",
    .method = "Time in which communication kernels run and no compute kernel does, per steady "
              "step; reported from 5 % of the step.",
    .false_alarms = "From one rank alone, waiting for a late rank looks like a slow transfer.",
    .check = check_exposed,
};

// Collectives of data-parallel training can overlap with compute; all_to_all and point to point
// usually block it.
static bool can_overlap(enum collective_kind kind)
{
    return kind == KIND_ALL_REDUCE || kind == KIND_ALL_GATHER || kind == KIND_REDUCE_SCATTER ||
           kind == KIND_BROADCAST;
}

// The next word of a group's description, such as "tp" of "mesh_tp"; empty at its end.
static struct str take_word(struct str *text)
{
    size_t from = 0, to;
    while (from < text->len && !isalpha((unsigned char)text->at[from]))
        from++;
    for (to = from; to < text->len && isalpha((unsigned char)text->at[to]);)
        to++;
    struct str word = {text->at + from, to - from};
    *text = (struct str){text->at + to, text->len - to};
    return word;
}

// Whether layers need a group's results at once, by its description. Megatron-LM's groups of
// replicas may name the experts or the context, too.
static bool is_within_layers(struct str description)
{
    static const char *const layers[] = {"tp",     "ep",     "cp",     "sp",
                                         "etp",    "tensor", "expert", "context",
                                         "TENSOR", "EXPERT", "CONTEXT"};
    static const char *const replicas[] = {"dp", "ddp", "fsdp", "hsdp", "data", "DATA"};
    bool within = false;
    for (struct str word = take_word(&description); word.len; word = take_word(&description)) {
        if (str_is_one_of(word, replicas, sizeof replicas / sizeof *replicas))
            return false;
        within |= str_is_one_of(word, layers, sizeof layers / sizeof *layers);
    }
    return within;
}

static struct str description_of(const struct trace *trace, const struct collective *collective)
{
    const struct trace_group *group = trace_group_find(trace, collective->group);
    bool own = collective->group_description || !group;
    return trace_text(trace, own ? collective->group_description : group->description);
}

// Whether a device event is communication that can overlap with compute.
static bool could_hide(const struct facts *facts, uint32_t device)
{
    const struct trace *trace = facts->trace;
    uint32_t args = trace->args[facts->devices[device].event];
    uint32_t index = args == ARGS_NONE ? ARGS_NONE : trace->device_args[args].collective;
    if (index == ARGS_NONE)
        return can_overlap(bandwidth_kind(trace_text(trace, facts_device_name(facts, device))));
    const struct collective *collective = &trace->collectives[index];
    return can_overlap(bandwidth_kind(trace_text(trace, collective->name))) &&
           !is_within_layers(description_of(trace, collective));
}

// Communication of steady steps that could overlap with compute: what it owns, how long it runs,
// and whether any of it shares its stream with compute.
struct overlap {
    int64_t exposed_ns, total_ns;
    bool shares_stream;
};

// stream_computes has one entry per track.
static struct overlap measure(const struct facts *facts, bool *stream_computes)
{
    struct overlap sum = {0};
    for (uint32_t i = 0; i < facts->device_count; i++)
        stream_computes[facts->devices[i].track] |= facts->devices[i].class == CLASS_COMPUTE;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class != CLASS_COMMUNICATION || device->step == FACTS_NONE ||
            !facts->steps[device->step].steady || !could_hide(facts, i))
            continue;
        sum.exposed_ns += device->owned_ns;
        sum.total_ns += device->end_ns - device->begin_ns;
        sum.shares_stream |= stream_computes[device->track];
    }
    // Collectives that run concurrently hide none of their time.
    if (sum.total_ns > facts->steady.total_comm_ns)
        sum.total_ns = facts->steady.total_comm_ns;
    if (sum.total_ns < sum.exposed_ns)
        sum.total_ns = sum.exposed_ns;
    return sum;
}

static int64_t hidden_of(const struct overlap *overlap)
{
    return overlap->total_ns - overlap->exposed_ns;
}

// Compute of the steady steps that hides no communication yet.
static int64_t room_of(const struct facts *facts, const struct overlap *overlap)
{
    return parts_compute_ns(&facts->steady) - hidden_of(overlap);
}

// Such communication. No more of it can be hidden than there is compute left to overlap with.
static int64_t claim_overlap(const struct finding_case *the_case, const void *context,
                             const struct atom *atom)
{
    const struct overlap *overlap = context;
    if (claim_exposed(the_case, NULL, atom) == 0 || !could_hide(the_case->facts, atom->device))
        return 0;
    int64_t room_ns = room_of(the_case->facts, overlap);
    if (room_ns >= overlap->exposed_ns)
        return atom->ns;
    return (int64_t)((double)atom->ns * (double)room_ns / (double)overlap->exposed_ns);
}

static bool keep_overlap(const struct finding_case *the_case, const struct overlap *overlap,
                         struct finding *finding, struct err *err)
{
    struct overlap *kept = arena_room(the_case->arena, 1, sizeof *kept, err);
    if (!kept)
        return false;
    *kept = *overlap;
    return findings_cost(the_case, finding, claim_overlap, kept, err);
}

static bool describe_overlap(const struct finding_case *the_case, const struct overlap *overlap,
                             struct finding *finding, struct err *err)
{
    double hidden = 1 - (double)overlap->exposed_ns / (double)overlap->total_ns;
    finding->confidence = overlap->shares_stream ? "high" : "medium";
    finding->gain = gain_of(the_case);
    finding->title = arena_printf(
        the_case->arena, err,
        "only %.0f %% of %s communication %s is hidden; %s more could be (%.1f %%)", 100 * hidden,
        time_text(overlap->total_ns / the_case->steps).text, the_case->per,
        time_text(finding->cost_ns).text, findings_percent(the_case, finding->cost_ns));
    struct evidence evidence = {0};
    evidence_add(&evidence, "collectives?sort=-exposed_ns", "%s",
                 overlap->shares_stream
                     ? "communication runs on a stream that also computes"
                     : "communication has its own streams, but little compute overlaps it");
    evidence_add(&evidence, "collectives?sort=-exposed_ns",
                 "some of it may be waiting for other ranks, which this trace does not show and "
                 "overlap does not hide");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

// Whether this is inference: PyTorch's operators launch work, but none is of a backward.
static bool is_inference(const struct facts *facts)
{
    bool operators = false;
    for (uint32_t l = 0; l < facts->launch_count && !operators; l++)
        operators = facts->launches[l].op != FACTS_NONE;
    return operators && facts->trace->job.recorder == RECORDER_PYTORCH &&
           !findings_has_backward(facts);
}

static bool check_overlap(const struct finding_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    const struct facts *facts = the_case->facts;
    if (is_inference(facts))
        return true;
    bool *streams = arena_array(the_case->arena, facts->trace->track_count, sizeof *streams, err);
    if (!streams)
        return false;
    struct overlap overlap = measure(facts, streams);
    double total_ns = (double)overlap.total_ns;
    double steady_ns = (double)the_case->step_ns * (double)the_case->steps;
    *fires = total_ns >= FINDING_OVERLAP_COMM * steady_ns &&
             (double)hidden_of(&overlap) < FINDING_OVERLAP_SHARE * total_ns &&
             room_of(facts, &overlap) > 0 && !facts->waits_only;
    return !*fires || (keep_overlap(the_case, &overlap, finding, err) &&
                       describe_overlap(the_case, &overlap, finding, err));
}

const struct finding_rule finding_low_overlap = {
    .name = "low_overlap",
    .change = "perfect_overlap",
    .why = "Data-parallel collectives can overlap compute; here most of them run alone, although "
           "there is compute to hide them.",
    .advice = "Reduce gradients in buckets during the backward pass (DDP) or prefetch the next "
              "layer's parameters (FSDP); run communication on a separate stream.",
    .advice_jax = "Let XLA overlap them. On GPUs: --xla_gpu_enable_latency_hiding_scheduler=true "
                  "in XLA_FLAGS, and JAX_ENABLE_PGLE=true, so that it schedules by measured "
                  "times. On TPUs: --xla_tpu_enable_async_collective_fusion=true in "
                  "LIBTPU_INIT_ARGS.",
    .method =
        "Hidden share of all_reduce, all_gather, reduce_scatter and broadcast in the steady steps; "
        "reported when it is under 50 %, such communication is at least 5 % of the step and there "
        "is compute left to hide it. Not for inference (PyTorch operators, but no backward), nor "
        "for groups described as tensor, expert, context or sequence parallel. Part of the exposed "
        "communication, not an additional cost. With several ranks, at most what is exposed after "
        "the last one started, and at most what any rank exposes; reported from 5 % of the step.",
    .false_alarms = "Tensor parallelism in groups without a description: it needs the result at "
                    "once and cannot overlap.",
    .check = check_overlap,
};
