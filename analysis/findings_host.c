// SPDX-License-Identifier: Apache-2.0
// Rules about a device that waits for the host.
#include "analysis/findings.h"
#include "analysis/short_kernels.h"
#include "analysis/step_gaps.h"

#include <inttypes.h>

// The gaps in which the device waits for the host, in steady steps.
struct waits {
    const struct facts *facts;
    int64_t count;
    int64_t longest_ns, gap_ns; // gap_ns: of the gap that is being walked
    uint32_t longest, gap;      // the device events that end them
};

static void add_wait(void *context, const struct gap *gap, int64_t length_ns)
{
    struct waits *waits = context;
    if (idle_cause_bar((enum idle_cause)gap->cause) != BAR_IDLE_HOST_WAIT)
        return;
    if (gap->next != waits->gap) {
        waits->gap = gap->next;
        waits->gap_ns = 0;
        waits->count++;
    }
    waits->gap_ns += length_ns; // a step may begin within a gap
    if (waits->gap_ns <= waits->longest_ns)
        return;
    waits->longest_ns = waits->gap_ns;
    waits->longest = waits->gap;
}

// What ends the longest gap: its operator, else its own name.
static struct str longest_name(const struct waits *waits)
{
    str_id op = facts_device_op(waits->facts, waits->longest);
    str_id name = op ? op : facts_device_name(waits->facts, waits->longest);
    return facts_short_name(waits->facts->trace, name);
}

// What people are told of each cause for which the host is to blame.
static const struct {
    const char *during, *advice;
} starving[] = {
    [IDLE_SYNC] = {"it synchronizes",
                   "Find the calls in the table of idle gaps and leave them out: fewer .item(), "
                   ".cpu(), printing of tensors and torch.cuda.synchronize(), copies with "
                   "non_blocking=True from pinned memory."},
    [IDLE_DATA_LOADING] = {"it loads data",
                           "Give the loader more workers, persistent ones, pinned memory and a "
                           "deeper prefetch; move preparing of samples to the device or out of "
                           "the loop."},
    [IDLE_ALLOCATOR] = {"it allocates memory",
                        "Keep shapes constant or padded, set "
                        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, keep away from the "
                        "limit of memory and do not call empty_cache() in the loop."},
    [IDLE_HOST_COMPUTE] = {"it runs Python and operators",
                           "Launch the same work with less of the host: torch.compile, CUDA "
                           "graphs, larger batches, fused or foreach operators; see the table of "
                           "idle gaps for what runs in the longest."},
    [IDLE_LAUNCH_OVERHEAD] = {"it launches", "Launching is the limit, so launch less: CUDA graphs, "
                                             "torch.compile, fused operators, larger batches."},
};

// Of the causes for which the host is to blame the one with most time.
static enum idle_cause main_cause(const struct parts *parts)
{
    enum idle_cause most = IDLE_SYNC;
    for (int c = 0; c < (int)(sizeof starving / sizeof *starving); c++)
        if (parts->idle_ns[c] > parts->idle_ns[most])
            most = (enum idle_cause)c;
    return most;
}

static bool describe_starved(const struct finding_case *the_case, struct finding *finding,
                             struct err *err)
{
    struct waits waits = {.facts = the_case->facts, .longest = FACTS_NONE, .gap = FACTS_NONE};
    step_gaps_visit(the_case->facts, add_wait, &waits);
    enum idle_cause cause = main_cause(&the_case->facts->steady);
    int64_t cause_ns = the_case->facts->steady.idle_ns[cause] / the_case->steps;
    struct str name = longest_name(&waits);
    char count[32];
    finding->confidence = "high";
    finding->advice = starving[cause].advice;
    finding->title = arena_printf(
        the_case->arena, err, "the device waits %s %s for the host (%.1f %%), %s while %s",
        time_text(finding->cost_ns).text, the_case->per,
        findings_percent(the_case, finding->cost_ns),
        cause_ns > finding->cost_ns / 2 ? "mostly" : "most of all", starving[cause].during);
    finding->evidence = findings_fact(
        the_case, "idle_gaps", err,
        "%s gaps %s that the host causes, %s of their time by %s; the longest, %s, ends with %.*s",
        findings_per_step(the_case, waits.count, count), the_case->per, time_text(cause_ns).text,
        idle_cause_word(cause), time_text(waits.longest_ns).text, (int)name.len, name.at);
    return finding->title && finding->evidence;
}

static bool check_starved(const struct finding_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    finding->cost_ns = the_case->facts->steady.bar_ns[BAR_IDLE_HOST_WAIT] / the_case->steps;
    *fires = finding->cost_ns > 0 &&
             (double)finding->cost_ns >= FINDING_STARVED_SHARE * (double)the_case->step_ns;
    return !*fires || describe_starved(the_case, finding, err);
}

const struct finding_rule finding_gpu_starved = {
    .name = "gpu_starved",
    .why = "The device had nothing to do because the host had not yet launched the next kernel: "
           "it was loading data, waiting in a synchronizing call, or busy in Python.",
    .method = "Sum of the idle gaps caused by sync, data_loading, allocator, host_compute and "
              "launch_overhead, per steady step; reported from 5 % of the step.",
    .false_alarms = "A profiler with stacks or shapes slows the host down and widens the gaps; a "
                    "server without requests has nothing to launch.",
    .check = check_starved,
};

struct tiny {
    const struct facts *facts;
    int64_t owned_ns, wait_ns, calls, short_calls;
    int64_t replayed; // short calls whose launch owns several kernels
    int64_t left_ns;  // what the wait that is being walked may still count
    uint32_t next;    // the kernel that ends it
};

static bool is_short(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    return event->class == CLASS_COMPUTE && event->end_ns - event->begin_ns < SHORT_KERNEL_NS;
}

// Counts the wait directly before a short kernel, but no more of it than a launch takes: a longer
// wait has another cause.
static void add_tiny_wait(void *context, const struct gap *gap, int64_t length_ns)
{
    struct tiny *tiny = context;
    if (gap->next == FACTS_NONE || !is_short(tiny->facts, gap->next) ||
        idle_cause_bar((enum idle_cause)gap->cause) != BAR_IDLE_HOST_WAIT)
        return;
    if (tiny->next != gap->next) {
        tiny->next = gap->next;
        tiny->left_ns = FINDING_TINY_WAIT_NS;
    }
    int64_t counted_ns = length_ns < tiny->left_ns ? length_ns : tiny->left_ns;
    tiny->wait_ns += counted_ns;
    tiny->left_ns -= counted_ns;
}

static bool are_many(const struct tiny *tiny)
{
    return tiny->short_calls >= FINDING_TINY_CALLS * (int64_t)tiny->facts->steady_count &&
           (double)tiny->short_calls >= FINDING_TINY_CALLS_SHARE * (double)tiny->calls;
}

static struct tiny measure_tiny(const struct facts *facts)
{
    struct tiny tiny = {.facts = facts, .next = FACTS_NONE};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        bool tiny_one = is_short(facts, i);
        if (tiny_one)
            tiny.owned_ns += facts->steady_owned_ns[i]; // whichever step launched it
        if (device->class != CLASS_COMPUTE || device->step == FACTS_NONE ||
            !facts->steps[device->step].steady)
            continue;
        tiny.calls++;
        if (!tiny_one)
            continue;
        tiny.short_calls++;
        tiny.replayed += device->launch != FACTS_NONE && facts->launches[device->launch].count > 1;
    }
    if (are_many(&tiny))
        step_gaps_visit(facts, add_tiny_wait, &tiny);
    return tiny;
}

static bool check_tiny(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct tiny tiny = measure_tiny(the_case->facts);
    int64_t cost_ns = (tiny.owned_ns + tiny.wait_ns) / the_case->steps;
    *fires = are_many(&tiny) && (double)cost_ns >= FINDING_TINY_SHARE * (double)the_case->step_ns;
    if (!*fires)
        return true;
    finding->cost_ns = cost_ns;
    bool mostly_replayed = tiny.replayed > tiny.short_calls / 2;
    finding->confidence = mostly_replayed                ? "low"
                          : tiny.wait_ns > tiny.owned_ns ? "high"
                                                         : "medium";
    finding->title = arena_printf(the_case->arena, err,
                                  "%" PRId64 " kernels %s run under 10 us and cost %s (%.1f %%)",
                                  tiny.short_calls / the_case->steps, the_case->per,
                                  time_text(cost_ns).text, findings_percent(the_case, cost_ns));
    finding->evidence = findings_fact(
        the_case, "short_kernels", err,
        "%.0f %% of the compute kernels are short; %s they run, %s the device waits directly "
        "before them for their launch %s%s",
        100 * (double)tiny.short_calls / (double)tiny.calls,
        time_text(tiny.owned_ns / the_case->steps).text,
        time_text(tiny.wait_ns / the_case->steps).text, the_case->per,
        mostly_replayed ? "; most are replayed by graphs already, where only fusing helps" : "");
    return finding->title && finding->evidence;
}

const struct finding_rule finding_tiny_kernels = {
    .name = "tiny_kernels",
    .why = "A kernel of a few microseconds costs the host as much to launch as the device to run, "
           "and moves its data to memory and back for little work.",
    .advice = "Fuse them: torch.compile, fused optimizers (fused=True), foreach variants; or "
              "replay the step as a CUDA graph so that launching costs nothing.",
    .method = "Time owned by compute kernels under 10 us plus the waits for the host directly "
              "before them (at most 100 us each: a longer one has another cause), per steady step; "
              "reported when they are 20 per step, half of the compute kernels and cost 5 % of the "
              "step.",
    .false_alarms = "Inside a graph replay short kernels cost no launches.",
    .check = check_tiny,
};
