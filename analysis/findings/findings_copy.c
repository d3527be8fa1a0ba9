// SPDX-License-Identifier: Apache-2.0
// Rules about copies that hold up the host, and about others that hold up the device.
#include "analysis/trace/copy_kind.h"
#include "analysis/findings/findings.h"
#include "analysis/names/host_traits.h"
#include "analysis/facts/track_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct copies {
    const struct facts *facts;
    struct copy_names names;
    struct host_traits traits;
    int64_t count, pageable, to_host, bytes;
    int64_t owned_ns, others_ns; // of these copies; of others and memsets
    int64_t *until_ns; // per launch: until when its call blocked the host, INT64_MIN until computed
    int64_t *held_ns;  // per gap: how long the copy before it blocked the host, 0 if none
};

// Whether a copy goes through a staging buffer or its call waits for it.
static bool is_blocking(const struct copy_kind *kind)
{
    return kind->direction != COPY_MEMSET &&
           (kind->host == COPY_HOST_PAGEABLE || kind->wait == COPY_WAIT_YES);
}

// Whether a device event is such a copy.
static bool blocks(const struct copies *copies, uint32_t device, struct copy_kind *kind)
{
    if (copies->facts->devices[device].class != CLASS_MEMORY)
        return false;
    *kind = copy_kind_of(&copies->names, device);
    return is_blocking(kind);
}

// The end of the call that copies, or of the one directly after it that waits for the copy.
static int64_t look_for_end(struct copies *copies, uint32_t call)
{
    const struct trace *trace = copies->facts->trace;
    const struct track *track = &trace->tracks[track_of_event(trace, call)];
    for (uint32_t e = call + 1; e < track->first + track->count; e++) {
        if (!event_kind_is_launch((enum event_kind)trace->kind[e]))
            continue;
        bool waits = host_traits_of(&copies->traits, e) >> HOST_SYNC & 1;
        return facts_event_end(trace, waits ? e : call);
    }
    return facts_event_end(trace, call);
}

// Computed once per launch: a call with many copies may be followed by many events.
static int64_t held_until(struct copies *copies, uint32_t launch)
{
    int64_t *until_ns = &copies->until_ns[launch];
    if (*until_ns == INT64_MIN)
        *until_ns = look_for_end(copies, copies->facts->launches[launch].event);
    return *until_ns;
}

static void measure_gap(struct copies *copies, uint32_t g)
{
    const struct facts *facts = copies->facts;
    const struct gap *gap = &facts->gaps.gaps[g];
    struct copy_kind kind;
    bool copied = gap->before != FACTS_NONE && facts->devices[gap->before].launch != FACTS_NONE &&
                  blocks(copies, gap->before, &kind);
    // A loader or the allocator would hold the device up without the copy, too.
    if (!copied || gap->cause == IDLE_DATA_LOADING || gap->cause == IDLE_ALLOCATOR)
        return;
    uint32_t launch = facts->devices[gap->before].launch;
    int64_t until_ns = held_until(copies, launch);
    until_ns = until_ns < gap->begin_ns ? until_ns : gap->begin_ns;
    copies->held_ns[g] = until_ns - facts->trace->begin_ns[facts->launches[launch].event];
}

// No more of a gap than another launch takes: what the host does beyond that is not the copy's.
static int64_t claim_copy(const struct finding_case *the_case, const void *context,
                          const struct atom *atom)
{
    const struct copies *copies = context;
    struct copy_kind kind;
    if (!atom->gap)
        return blocks(copies, atom->device, &kind) ? atom->ns : 0;
    int64_t held_ns = copies->held_ns[atom->gap - the_case->facts->gaps.gaps];
    int64_t wait_ns = findings_wait(atom);
    return held_ns < 0 ? 0 : wait_ns < held_ns ? wait_ns : held_ns;
}

// The change removes all copies and memsets: more than a rule claims, where others take long.
static enum finding_gain gain_of(int64_t owned_ns, int64_t others_ns)
{
    bool alone = (double)others_ns <= FINDING_OTHER_COPIES * (double)owned_ns;
    return alone ? FINDING_GAIN_OF_CHANGE : FINDING_GAIN_OF_CLAIM;
}

static void count_copies(struct copies *copies)
{
    const struct facts *facts = copies->facts;
    const uint32_t *first = facts->class_first + CLASS_MEMORY;
    for (uint32_t at = first[0]; at < first[1]; at++) {
        uint32_t i = facts->class_devices[at];
        struct copy_kind kind;
        if (!blocks(copies, i, &kind)) {
            copies->others_ns += facts->steady_owned_ns[i];
            continue;
        }
        copies->owned_ns += facts->steady_owned_ns[i];
        if (!facts_is_steady(facts, i))
            continue;
        copies->count++;
        copies->pageable += kind.host == COPY_HOST_PAGEABLE;
        copies->to_host += kind.direction == COPY_DTOH;
        copies->bytes +=
            kind.bytes > 0 && kind.bytes < INT64_MAX / 2 - copies->bytes ? kind.bytes : 0;
    }
}

static bool measure(const struct finding_case *the_case, struct copies *copies, struct err *err)
{
    const struct facts *facts = the_case->facts;
    *copies = (struct copies){.facts = facts};
    copies->held_ns =
        arena_array(the_case->arena, (size_t)facts->gaps.count + 1, sizeof *copies->held_ns, err);
    if (!copies->held_ns || !copy_names_make(facts, the_case->arena, &copies->names, err))
        return false;
    count_copies(copies);
    if (copies->count == 0)
        return true;
    copies->until_ns =
        arena_room(the_case->arena, (size_t)facts->launch_count + 1, sizeof(int64_t), err);
    if (!copies->until_ns || !host_traits_make(&copies->traits, facts->trace, facts->budget, err))
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        copies->until_ns[l] = INT64_MIN;
    for (uint32_t g = 0; g < facts->gaps.count; g++)
        measure_gap(copies, g);
    host_traits_free(&copies->traits);
    return true;
}

// "80 blocking copies per step (55 to the host, 80 with pageable memory), 177,315,680 bytes per
// step; 13.3 ms exposed, then the device waits 2.69 ms for the host".
static const char *tell(const struct finding_case *the_case, const struct copies *copies,
                        int64_t waits_ns, struct err *err)
{
    char count[32], to_host[32], pageable[32], waits[64] = "";
    int64_t bytes = copies->bytes / the_case->steps;
    findings_per_step(the_case, copies->count, count);
    if (waits_ns > 0)
        snprintf(waits, sizeof waits, ", then the device waits %s for the host",
                 time_text(waits_ns).text);
    return findings_fact(
        the_case, "kernels?category=copy", err,
        "%s blocking %s %s (%s to the host, %s with pageable memory), %s bytes %s; %s "
        "exposed%s",
        count, strcmp(count, "1") == 0 ? "copy" : "copies", the_case->per,
        findings_per_step(the_case, copies->to_host, to_host),
        findings_per_step(the_case, copies->pageable, pageable),
        copies->bytes ? count_text(bytes).text : "an unknown number of", the_case->per,
        time_text(copies->owned_ns / the_case->steps).text, waits);
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct copies *copies = arena_array(the_case->arena, 1, sizeof *copies, err);
    if (!copies || !measure(the_case, copies, err))
        return false;
    if (copies->count == 0)
        return true;
    if (!findings_cost(the_case, finding, claim_copy, copies, err))
        return false;
    int64_t cost_ns = finding->cost_ns, owned_ns = copies->owned_ns / the_case->steps;
    *fires = findings_costs(the_case, cost_ns, FINDING_COPY_SHARE);
    if (!*fires)
        return true;
    finding->confidence = "medium";
    finding->gain = gain_of(copies->owned_ns, copies->others_ns);
    finding->title =
        arena_printf(the_case->arena, err, "blocking copies cost %s %s (%.1f %%)",
                     time_text(cost_ns).text, the_case->per, findings_percent(the_case, cost_ns));
    finding->evidence = tell(the_case, copies, cost_ns - owned_ns, err);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_blocking_copies = {
    .name = "blocking_copies",
    .change = "no_copies",
    .why = "A copy from or to pageable memory goes through a staging buffer and blocks the host "
           "until it is done; so does a synchronous copy. The device then waits for the host.",
    .advice = "Copies to the device: pin_memory=True in the data loader, non_blocking=True in "
              ".to(), the next batch on a separate stream while this one computes. Copies to "
              "the host (.item(), .cpu(), printing a loss): fewer of them, or to pinned memory "
              "with non_blocking=True, read one step later.",
    .advice_jax = "Copies to the device: jax.device_put of the next batch while this one computes. "
                  "Copies to the host (float(loss), np.asarray, printing): fewer of them, or start "
                  "them with copy_to_host_async() and read them one step later.",
    .method =
        "Exposed time of copies that are pageable or whose call waits for them, plus the waits for "
        "the host directly after them, per steady step: at most as long as the copy blocked the "
        "host, at most 100 us each, and none during data loading. What the host does before a copy "
        "or long after it is a separate cause. Reported from 1 % of the step.",
    .false_alarms = "A result that the host needs at once.",
    .check = check,
};

// --- copies that nothing hides -------------------------------------------------------------------

// Copies in steady steps that block nothing, by direction.
struct streamed {
    struct copy_names names;
    struct {
        int64_t owned_ns, total_ns, bytes;
        bool sized; // all with their bytes
    } of[COPY_MEMSET];
    int64_t owned_ns, others_ns; // of these copies; of blocking ones and memsets
};

static int64_t claim_streamed(const struct finding_case *the_case, const void *context,
                              const struct atom *atom)
{
    const struct streamed *streamed = context;
    if (atom->gap || the_case->facts->devices[atom->device].class != CLASS_MEMORY)
        return 0;
    struct copy_kind kind = copy_kind_of(&streamed->names, atom->device);
    return kind.direction == COPY_MEMSET || is_blocking(&kind) ? 0 : atom->ns;
}

static void sum_streamed(const struct facts *facts, struct streamed *streamed)
{
    const uint32_t *first = facts->class_first + CLASS_MEMORY;
    for (int d = 0; d < COPY_MEMSET; d++)
        streamed->of[d].sized = true;
    for (uint32_t at = first[0]; at < first[1]; at++) {
        uint32_t i = facts->class_devices[at];
        struct copy_kind kind = copy_kind_of(&streamed->names, i);
        if (!facts_is_steady(facts, i))
            continue;
        if (kind.direction == COPY_MEMSET || is_blocking(&kind)) {
            streamed->others_ns += facts->steady_owned_ns[i];
            continue;
        }
        bool sized =
            kind.bytes > 0 && kind.bytes < INT64_MAX / 2 - streamed->of[kind.direction].bytes;
        streamed->owned_ns += facts->steady_owned_ns[i];
        streamed->of[kind.direction].owned_ns += facts->steady_owned_ns[i];
        streamed->of[kind.direction].total_ns +=
            facts->devices[i].end_ns - facts->devices[i].begin_ns;
        streamed->of[kind.direction].bytes += sized ? kind.bytes : 0;
        streamed->of[kind.direction].sized &= sized;
    }
}

// "to the device: 60.0 ms exposed, 3,000,000,000 bytes per step at 50.0 GB/s".
static const char *tell_streamed(const struct finding_case *the_case,
                                 const struct streamed *streamed, struct err *err)
{
    static const char *const directions[COPY_MEMSET] = {[COPY_UNKNOWN] = "in an unknown direction",
                                                        [COPY_HTOD] = "to the device",
                                                        [COPY_DTOH] = "to the host",
                                                        [COPY_DTOD] = "within the device",
                                                        [COPY_PTOP] = "between devices",
                                                        [COPY_HTOH] = "within the host"};
    struct evidence evidence = {0};
    for (int d = 0; d < COPY_MEMSET; d++) {
        char moved[80] = "";
        if (streamed->of[d].owned_ns == 0)
            continue;
        if (streamed->of[d].sized && streamed->of[d].total_ns > 0)
            snprintf(moved, sizeof moved, ", %s bytes %s at %.1f GB/s",
                     count_text(streamed->of[d].bytes / the_case->steps).text, the_case->per,
                     (double)streamed->of[d].bytes / (double)streamed->of[d].total_ns);
        evidence_add(&evidence, "copies", "%s: %s exposed%s", directions[d],
                     time_text(streamed->of[d].owned_ns / the_case->steps).text, moved);
    }
    return evidence_end(&evidence, the_case->arena, err);
}

static bool check_streamed(const struct finding_case *the_case, bool *fires,
                           struct finding *finding, struct err *err)
{
    const uint32_t *first = the_case->facts->class_first + CLASS_MEMORY;
    struct streamed *streamed = arena_array(the_case->arena, 1, sizeof *streamed, err);
    if (!streamed)
        return false;
    // A file of copies alone does not say what would hide them.
    if (first[0] == first[1] || parts_compute_ns(&the_case->facts->steady) == 0)
        return true;
    if (!copy_names_make(the_case->facts, the_case->arena, &streamed->names, err) ||
        !findings_cost(the_case, finding, claim_streamed, streamed, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_COPIES_SHARE);
    if (!*fires)
        return true;
    sum_streamed(the_case->facts, streamed);
    finding->confidence = "high";
    finding->gain = gain_of(streamed->owned_ns, streamed->others_ns);
    finding->title =
        arena_printf(the_case->arena, err, "%s of copies %s are not hidden by compute (%.1f %%)",
                     time_text(finding->cost_ns).text, the_case->per,
                     findings_percent(the_case, finding->cost_ns));
    finding->evidence = tell_streamed(the_case, streamed, err);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_exposed_copies = {
    .name = "exposed_copies",
    .change = "no_copies",
    .why = "While a copy runs alone, the device does no compute: an asynchronous copy delays "
           "the kernel that needs its data, and others on its stream.",
    .advice = "To and from the host, as in offloading: start the copy on a separate stream "
              "while the previous layer computes, offload less, and keep what fits in device "
              "memory. Within the device: fewer contiguous(), clone() and cat().",
    .advice_jax = "To and from the host: jax.device_put of the next batch while this one computes, "
                  "offload less, and keep what fits in device memory. Within the device: "
                  "donate inputs that the step replaces (donate_argnums of jax.jit), so that XLA "
                  "writes in place.",
    .method =
        "Time in which copies run and neither compute nor communication does, per steady "
        "step, without those of blocking_copies; reported from 5 % of the step, where compute "
        "was recorded.",
    .false_alarms = "A model that does not fit into device memory must be copied; compute may be "
                    "too short to hide it.",
    .check = check_streamed,
};
