// SPDX-License-Identifier: Apache-2.0
// Rules about a device that waits for the host, one for each thing the host may be busy with.
#include "analysis/findings/findings.h"
#include "analysis/names/host_traits.h"
#include "analysis/trace/platform.h"

#include <stdio.h>

// Idle causes covered by one rule.
struct causes {
    enum idle_cause first, last;
    const char *during;
    bool recorded;      // the profiler makes these waits longer
    const char *advice; // NULL: the rule's
};

static const struct causes launching = {IDLE_HOST_COMPUTE, IDLE_LAUNCH_OVERHEAD,
                                        "runs Python and operators, or launches", true, NULL};

// The gaps with these causes in steady steps.
struct waits {
    const struct facts *facts;
    const struct causes *causes;
    int64_t count, total_ns;
    struct atom longest;
};

static bool is_among(const struct facts *facts, const struct causes *causes, const struct gap *gap)
{
    return gap && gap->cause >= causes->first && gap->cause <= causes->last &&
           !findings_is_host_collective(facts, gap);
}

static int64_t claim_gap(const struct finding_case *the_case, const void *context,
                         const struct atom *atom)
{
    return is_among(the_case->facts, context, atom->gap) ? atom->ns : 0;
}

static void add_wait(void *context, const struct atom *atom)
{
    struct waits *waits = context;
    if (!is_among(waits->facts, waits->causes, atom->gap))
        return;
    waits->count++;
    waits->total_ns += atom->ns;
    if (atom->ns > waits->longest.ns)
        waits->longest = *atom;
}

// Some of those waits.
struct kind_of_waits {
    const struct waits *all;
    bool (*is)(struct str host, int64_t ns);
    int64_t total_ns, ns;
};

static void add_of_kind(void *context, const struct atom *atom)
{
    struct kind_of_waits *kind = context;
    const struct facts *facts = kind->all->facts;
    if (!is_among(facts, kind->all->causes, atom->gap))
        return;
    uint32_t event = atom->gap->host_event;
    struct str host =
        event == FACTS_NONE ? STR("") : trace_text(facts->trace, facts->trace->name[event]);
    kind->total_ns += atom->ns;
    kind->ns += kind->is(host, atom->ns) ? atom->ns : 0;
}

// Whether most of the time of these waits is of a kind, by what the host was in and how long.
static bool are_mostly(const struct finding_case *the_case, const struct causes *causes,
                       bool (*is)(struct str host, int64_t ns))
{
    const struct waits all = {.facts = the_case->facts, .causes = causes};
    struct kind_of_waits kind = {.all = &all, .is = is};
    findings_visit_gaps(the_case, add_of_kind, &kind);
    return 2 * kind.ns > kind.total_ns;
}

// A host that took no time would do its collectives in no time, too. Recording takes time of the
// host, which no change of the job gives back.
static enum finding_gain gain_of(const struct facts *facts)
{
    for (uint32_t i = 0; i < facts->gaps.count; i++)
        if (findings_is_host_collective(facts, &facts->gaps.gaps[i]))
            return FINDING_GAIN_OF_CLAIM;
    return FINDING_GAIN_FREE_HOST;
}

// What ends a gap: the operator, else the device event's own name.
static struct str name_after(const struct facts *facts, const struct gap *gap)
{
    if (gap->next == FACTS_NONE)
        return STR("the recording");
    str_id op = facts_device_op(facts, gap->next);
    return facts_short_name(facts->trace, op ? op : facts_device_name(facts, gap->next));
}

// Operators that PyTorch's profiler recorded in a marked step; 0 if steps are not marked, or
// another profiler recorded, whose time per operator is not known.
static int64_t operators_of_step(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    int64_t count = 0;
    if (!facts->marked || !facts->step_count || trace->job.recorder != RECORDER_PYTORCH)
        return 0;
    const struct step *first = &facts->steps[0], *last = &facts->steps[facts->step_count - 1];
    for (uint32_t e = 0; e < trace->event_count; e++)
        count += trace->kind[e] == EVENT_CPU_OP && trace->begin_ns[e] >= first->mark_begin_ns &&
                 trace->begin_ns[e] < last->mark_end_ns;
    return count / facts->step_count;
}

// What recording takes of a step, at most all waits.
static int64_t recording_ns(const struct finding_case *the_case, const struct finding *finding)
{
    int64_t ns = operators_of_step(the_case->facts) * FINDING_RECORDING_NS;
    return ns < finding->cost_ns ? ns : finding->cost_ns;
}

static void tell_recording(const struct finding_case *the_case, const struct finding *finding,
                           struct evidence *evidence)
{
    int64_t operators = operators_of_step(the_case->facts);
    int64_t all_ns = operators * FINDING_RECORDING_NS;
    int64_t ns = all_ns < finding->cost_ns ? all_ns : finding->cost_ns;
    if (ns)
        evidence_add(evidence, "steps",
                     "%s operators were recorded %s, which costs the host about %s: "
                     "without the profiler the device waits %s or more",
                     count_text(operators).text, the_case->per, time_text(all_ns).text,
                     time_text(finding->cost_ns - ns).text);
}

static const char *tell_waits(const struct finding_case *the_case, const struct waits *waits,
                              const struct finding *finding, struct err *err)
{
    const struct facts *facts = the_case->facts;
    const struct gap *gap = waits->longest.gap;
    struct str after = name_after(facts, gap);
    char count[32], href[80];
    struct evidence evidence = {0};
    evidence_add(&evidence, "idle_gaps", "%s such gaps %s",
                 findings_per_step(the_case, waits->count, count), the_case->per);
    snprintf(href, sizeof href, "timeline?at=%lld-%lld",
             (long long)(gap->begin_ns - facts->begin_ns),
             (long long)(gap->end_ns - facts->begin_ns));
    evidence_add(&evidence, href, "the longest, %s, ends with %.*s",
                 time_text(waits->longest.ns).text, (int)after.len, after.at);
    if (gap->host_event != FACTS_NONE) {
        struct str host = facts_short_name(facts->trace, facts->trace->name[gap->host_event]);
        evidence_add(&evidence, "idle_gaps", "meanwhile the host was in %.*s", (int)host.len,
                     host.at);
    }
    if (waits->causes->recorded)
        tell_recording(the_case, finding, &evidence);
    return evidence_end(&evidence, the_case->arena, err);
}

// "52.7 %, 25 % or more without the profiler", or "3.6 %, perhaps none without the profiler".
static void put_share(const struct finding_case *the_case, const struct finding *finding,
                      bool recorded, char text[80])
{
    int64_t recording = recorded ? recording_ns(the_case, finding) : 0;
    double own = findings_percent(the_case, finding->cost_ns);
    int at = snprintf(text, 80, "%.1f %%", own);
    if (!recording || recording >= the_case->step_ns)
        return;
    double rest =
        100 * (double)(finding->cost_ns - recording) / (double)(the_case->step_ns - recording);
    if (rest < 0.5)
        snprintf(text + at, 80 - (size_t)at, ", perhaps none without the profiler");
    else if (own - rest >= 0.5)
        snprintf(text + at, 80 - (size_t)at, ", %.0f %% or more without the profiler", rest);
}

static bool check_causes(const struct finding_case *the_case, const struct causes *causes,
                         bool *fires, struct finding *finding, struct err *err)
{
    struct waits waits = {.facts = the_case->facts, .causes = causes};
    findings_visit_gaps(the_case, add_wait, &waits);
    *fires = false;
    if (!waits.count)
        return true;
    if (!findings_cost(the_case, finding, claim_gap, causes, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_STARVED_SHARE);
    if (!*fires)
        return true;
    char share[80];
    put_share(the_case, finding, causes->recorded, share);
    finding->gain = causes->recorded ? gain_of(the_case->facts) : FINDING_GAIN_OF_CHANGE;
    finding->confidence = "high";
    finding->advice = causes->advice;
    finding->title =
        arena_printf(the_case->arena, err, "the device waits %s %s for the host (%s) while it %s",
                     time_text(finding->cost_ns).text, the_case->per, share, causes->during);
    finding->evidence = tell_waits(the_case, &waits, finding, err);
    return finding->title && finding->evidence;
}

#define STARVED_METHOD(causes)               \
    "Sum of the idle gaps caused by " causes \
    ", per steady step: what delayed the next device event; reported from 3 % of the step."
#define STARVED_ALARMS                                                                      \
    "Recording stacks or shapes slows the host down and widens the gaps; a server without " \
    "requests has nothing to launch."

static bool check_loading(const struct finding_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    static const struct causes loading = {IDLE_DATA_LOADING, IDLE_DATA_LOADING, "loads data", false,
                                          NULL};
    return check_causes(the_case, &loading, fires, finding, err);
}

const struct finding_rule finding_data_loading = {
    .name = "starved_data_loading",
    .change = "data_ready",
    .why = "The device was idle because the next batch was not ready when the host asked for it.",
    .advice = "Use more and persistent loader workers, pinned memory and deeper prefetch; move "
              "preprocessing to the device or out of the loop.",
    .advice_jax = "Load in other processes and ahead (grain, or tf.data with prefetch), put the "
                  "next batch on the device by jax.device_put while this one is computed, and move "
                  "preprocessing into the jitted step or out of the loop.",
    .method = STARVED_METHOD("data_loading"),
    .false_alarms = "The first batch of an epoch starts the workers, which weighs too much in a "
                    "recording of few steps.",
    .check = check_loading,
};

static bool check_sync(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    static const struct causes sync = {IDLE_SYNC, IDLE_SYNC, "synchronizes", false, NULL};
    return check_causes(the_case, &sync, fires, finding, err);
}

const struct finding_rule finding_sync = {
    .name = "starved_sync",
    .why = "The host waited for the device in a synchronizing call instead of launching ahead, so "
           "the device ran out of work.",
    .advice =
        "Find the calls in the idle gaps table and remove them: fewer .item(), .cpu(), tensor "
        "prints and torch.cuda.synchronize(), copies with non_blocking=True from pinned memory.",
    .method = STARVED_METHOD("sync"),
    .false_alarms = "A result that decides what to launch next.",
    .check = check_sync,
};

// "cudaHostAlloc", "cudaMallocHost", "hipHostMalloc".
static bool is_pinning(struct str host, int64_t ns)
{
    (void)ns;
    return str_find(host, STR("Host")) != SIZE_MAX;
}

static bool check_allocator(const struct finding_case *the_case, bool *fires,
                            struct finding *finding, struct err *err)
{
    static const struct causes allocator = {IDLE_ALLOCATOR, IDLE_ALLOCATOR, "allocates memory",
                                            false, NULL};
    static const struct causes pinning = {
        IDLE_ALLOCATOR, IDLE_ALLOCATOR, "allocates pinned host memory", false,
        "Allocate the buffers once and reuse them, let the data loader pin the batches "
        "(pin_memory=True), and do not call pin_memory() in the loop."};
    static const struct causes of_rocm = {
        IDLE_ALLOCATOR, IDLE_ALLOCATOR, "allocates memory", false,
        "Keep shapes constant or padded, leave memory headroom and do not call empty_cache() in "
        "the loop. Only new versions of PyTorch have expandable_segments on ROCm: try it in a "
        "short job first."};
    const char *flavour = platform_flavour(the_case->facts);
    bool rocm = flavour && strcmp(flavour, "rocm") == 0;
    const struct causes *causes = are_mostly(the_case, &allocator, is_pinning) ? &pinning
                                  : rocm                                       ? &of_rocm
                                                                               : &allocator;
    return check_causes(the_case, causes, fires, finding, err);
}

const struct finding_rule finding_allocator = {
    .name = "starved_allocator",
    .why = "Allocating memory from the driver or freeing it is slow and may wait for the device; a "
           "caching allocator should need neither in a steady step.",
    .advice =
        "Keep shapes constant or padded, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, "
        "leave memory headroom and do not call empty_cache() in the loop.",
    .method = STARVED_METHOD("allocator"),
    .false_alarms = "The first steps of a job, which fill the allocator's cache.",
    .check = check_allocator,
};

static bool is_compiling(struct str host, int64_t ns)
{
    (void)ns;
    return host_name_compiles(host);
}

// Launching a graph of many kernels takes as long, too.
static bool is_long(struct str host, int64_t ns)
{
    return ns >= FINDING_LONG_WAIT_NS && str_find(host, STR("Launch")) == SIZE_MAX;
}

static bool check_launching(const struct finding_case *the_case, bool *fires,
                            struct finding *finding, struct err *err)
{
    static const struct causes compiling = {
        IDLE_HOST_COMPUTE, IDLE_LAUNCH_OVERHEAD, "compiles", true,
        "Record later if this is the first time; otherwise shapes or Python values change, and "
        "each change triggers a recompile: TORCH_LOGS=recompiles says which. Use "
        "torch._dynamo.mark_dynamic, pad to a few sizes, and pass no numbers that change."};
    static const struct causes working = {
        IDLE_HOST_COMPUTE, IDLE_LAUNCH_OVERHEAD, "runs Python and operators, or launches", true,
        "Most of it is in waits of 1 ms or more, in which the host does something other "
        "than launch: the timeline shows what. Move it to the device, to another thread, or "
        "behind work that is already queued."};
    const struct causes *causes = are_mostly(the_case, &launching, is_compiling) ? &compiling
                                  : are_mostly(the_case, &launching, is_long)    ? &working
                                                                                 : &launching;
    return check_causes(the_case, causes, fires, finding, err);
}

const struct finding_rule finding_launch_bound = {
    .name = "launch_bound",
    .change = "host_free",
    .why = "The device finished its work before the host got through Python, operators and launch "
           "calls to the next kernel: the host is the bottleneck.",
    .advice =
        "Reduce host work per launch: torch.compile, CUDA graphs, larger batches, fused or foreach "
        "operators; the idle gaps table shows what the host does in the longest gaps.",
    .advice_jax = "Put the whole step under jax.jit, several steps in one call by jax.lax.scan if "
                  "they are short, and let the loop run ahead: no float(loss), print or "
                  "block_until_ready() in each step. The idle gaps table shows the longest waits.",
    .method = STARVED_METHOD("host_compute and launch_overhead"),
    .false_alarms = STARVED_ALARMS,
    .check = check_launching,
};

// --- graphs --------------------------------------------------------------------------------------

// Launches of the steady steps.
struct launching {
    int64_t launches, replayed;
    int64_t least, most; // device events of a step
};

static bool measure_launching(const struct finding_case *the_case, struct launching *sum,
                              struct err *err)
{
    const struct facts *facts = the_case->facts;
    int64_t *events = arena_array(the_case->arena, facts->step_count, sizeof *events, err);
    *sum = (struct launching){.least = INT64_MAX};
    for (uint32_t i = 0; events && i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->launch == FACTS_NONE || !facts_is_steady(facts, i))
            continue;
        events[device->step]++;
        sum->launches++;
        sum->replayed += facts->launches[device->launch].count > 1;
    }
    for (uint32_t s = 0; events && s < facts->step_count; s++) {
        if (!facts->steps[s].steady)
            continue;
        sum->least = events[s] < sum->least ? events[s] : sum->least;
        sum->most = events[s] > sum->most ? events[s] : sum->most;
    }
    return events;
}

// Steps that launch the same each time, and do so one by one.
static bool could_replay(const struct finding_case *the_case, const struct launching *sum)
{
    return the_case->facts->marked && the_case->steps >= FINDING_GRAPHS_STEPS &&
           sum->least == sum->most && sum->least >= FINDING_GRAPHS_LAUNCHES &&
           (double)sum->replayed < FINDING_GRAPHS_REPLAYED * (double)sum->launches;
}

static int64_t claim_launch(const struct finding_case *the_case, const void *context,
                            const struct atom *atom)
{
    (void)context;
    bool waits = is_among(the_case->facts, &launching, atom->gap) && atom->gap->next != FACTS_NONE;
    return waits ? findings_wait(atom) : 0;
}

static bool check_graphs(const struct finding_case *the_case, bool *fires, struct finding *finding,
                         struct err *err)
{
    struct launching sum;
    if (!findings_cost(the_case, finding, claim_launch, NULL, err))
        return false;
    if (!findings_costs(the_case, finding->cost_ns, FINDING_GRAPHS_SHARE))
        return true;
    if (!measure_launching(the_case, &sum, err))
        return false;
    *fires = could_replay(the_case, &sum);
    if (!*fires)
        return true;
    const struct parts *steady = &the_case->facts->steady;
    bool syncs = findings_costs(the_case, steady->idle_ns[IDLE_SYNC] / the_case->steps, 0.01);
    char share[80];
    put_share(the_case, finding, true, share);
    finding->gain = gain_of(the_case->facts);
    finding->confidence = syncs ? "low" : "medium";
    finding->title =
        arena_printf(the_case->arena, err,
                     "the same %s launches in every step cost %s that a graph would save (%s)",
                     count_text(sum.least).text, time_text(finding->cost_ns).text, share);
    finding->evidence =
        findings_fact(the_case, "launch_delays", err,
                      "each of %s steady steps launches %s device events, "
                      "%.0f %% of them from graphs%s",
                      count_text(the_case->steps).text, count_text(sum.least).text,
                      100 * (double)sum.replayed / (double)sum.launches,
                      syncs ? "; the steps synchronize, which a graph cannot contain" : "");
    return finding->title && finding->evidence;
}

const struct finding_rule finding_no_graphs = {
    .name = "no_cuda_graphs",
    .change = "host_free",
    .why = "Every step launches the same kernels with one call each, and the device waits for "
           "these calls; a captured graph launches them all in one call.",
    .advice = "torch.compile(mode=\"reduce-overhead\"), torch.cuda.make_graphed_callables or "
              "torch.cuda.graph around the step, with static shapes and without "
              "synchronization inside.",
    .advice_jax =
        "Put the whole step under one jax.jit, and several steps in one call by jax.lax.scan; XLA "
        "replays parts as graphs (--xla_gpu_enable_command_buffer in XLA_FLAGS).",
    .method = "Waits caused by host_compute and launch_overhead before device events, at most "
              "100 us of each, per steady step; reported from 10 % of the step when 3 or more "
              "steady steps launch the same number of device events, 50 or more, and under 10 % "
              "of them come from graphs.",
    .false_alarms =
        "Equal launch counts do not prove equal shapes; data-dependent work cannot be captured.",
    .check = check_graphs,
};
