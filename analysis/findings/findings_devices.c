// SPDX-License-Identifier: Apache-2.0
// The rule about several devices of one process that work in turns, or unevenly.
#include "analysis/findings/findings.h"
#include "analysis/facts/track_pairs.h"
#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"
#include "ingest/base/search.h"

// From a time on: the idle time of the devices before it while others work, and the share of the
// devices that idle, each a mean over the devices.
struct idle_mark {
    int64_t at_ns;
    double idle_ns, rate;
};

struct turns {
    const struct facts *facts;
    bool *works; // per device: one process computes on it
    uint32_t count;
    struct idle_mark *marks; // by time
    uint32_t mark_count;
};

static bool is_same(struct label a, struct label b)
{
    return a.number == b.number && a.text == b.text;
}

// Adds the compute of steady steps on each device; false if several processes launch some.
static bool sum_work(const struct facts *facts, int64_t *work_ns)
{
    const struct trace *trace = facts->trace;
    const struct label *process = NULL;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class != CLASS_COMPUTE || device->launch == FACTS_NONE)
            continue;
        uint32_t call = facts->launches[device->launch].event;
        const struct label *pid = &trace->tracks[track_of_event(trace, call)].pid;
        if (process && !is_same(*process, *pid))
            return false;
        process = pid;
        if (facts_is_steady(facts, i))
            work_ns[facts->track_gpu[device->track]] += device->end_ns - device->begin_ns;
    }
    return true;
}

// The devices on which one process computes, without those it uses for something small.
static bool find_devices(struct turns *turns, struct arena *arena, struct err *err)
{
    const struct facts *facts = turns->facts;
    int64_t most_ns = 0;
    int64_t *work_ns = arena_array(arena, facts->gpu_count, sizeof *work_ns, err);
    turns->works = arena_array(arena, facts->gpu_count, sizeof *turns->works, err);
    if (!work_ns || !turns->works)
        return false;
    if (!sum_work(facts, work_ns))
        return true;
    for (uint32_t g = 0; g < facts->gpu_count; g++)
        most_ns = work_ns[g] > most_ns ? work_ns[g] : most_ns;
    for (uint32_t g = 0; g < facts->gpu_count; g++) {
        turns->works[g] =
            work_ns[g] > 0 && (double)work_ns[g] >= FINDING_DEVICE_WORK * (double)most_ns;
        turns->count += turns->works[g];
    }
    return true;
}

// Where each stretch in which a device is busy starts and ends; returns how many such times.
static size_t add_edges(const struct facts *facts, uint32_t gpu, struct keyed *edges)
{
    size_t count = 0;
    for (uint32_t i = facts->gpu_first[gpu]; i < facts->gpu_first[gpu + 1]; i++) {
        const struct device_event *device = &facts->devices[facts->gpu_devices[i]];
        if (count && device->begin_ns <= edges[count - 1].key) {
            if (device->end_ns > edges[count - 1].key)
                edges[count - 1].key = device->end_ns;
            continue;
        }
        edges[count++] = (struct keyed){.key = device->begin_ns, .a = 1};
        edges[count++] = (struct keyed){.key = device->end_ns, .a = 0};
    }
    return count;
}

static bool mark_idle(struct turns *turns, struct arena *arena, struct err *err)
{
    const struct facts *facts = turns->facts;
    size_t room = 2 * (size_t)facts->device_count + 1, count = 0;
    struct keyed *edges = arena_room(arena, 2 * room, sizeof *edges, err);
    turns->marks = arena_room(arena, room, sizeof *turns->marks, err);
    if (!edges || !turns->marks)
        return false;
    for (uint32_t g = 0; g < facts->gpu_count; g++)
        if (turns->works[g])
            count += add_edges(facts, g, edges + count);
    sort_keyed(edges, edges + room, count);
    struct idle_mark mark = {0};
    uint32_t busy = 0;
    for (size_t i = 0; i < count; i++) {
        mark.idle_ns += mark.rate * (double)(i ? edges[i].key - edges[i - 1].key : 0);
        mark.at_ns = edges[i].key;
        busy += edges[i].a ? 1u : UINT32_MAX; // one more or one fewer
        mark.rate = busy ? 1 - (double)busy / turns->count : 0;
        turns->marks[turns->mark_count++] = mark;
    }
    return true;
}

static double idle_before(const struct turns *turns, int64_t time_ns)
{
    uint32_t after = count_upto_i64(FIRST_OF(turns->marks, at_ns), turns->mark_count,
                                    sizeof *turns->marks, time_ns);
    const struct idle_mark *mark = &turns->marks[after ? after - 1 : 0];
    return mark->idle_ns + (after ? mark->rate * (double)(time_ns - mark->at_ns) : 0);
}

// Of a device's time, the share of the devices that meanwhile idle.
static int64_t claim_turns(const struct finding_case *the_case, const void *context,
                           const struct atom *atom)
{
    const struct turns *turns = context;
    if (atom->gap)
        return 0;
    const struct device_event *device = &the_case->facts->devices[atom->device];
    if (!turns->works[turns->facts->track_gpu[device->track]])
        return 0;
    double idle_ns = idle_before(turns, device->end_ns) - idle_before(turns, device->begin_ns);
    return (int64_t)((double)atom->ns * idle_ns / (double)(device->end_ns - device->begin_ns));
}

static void tell_device(const struct table *breakdown, size_t row, const char *which,
                        struct evidence *evidence)
{
    const struct cell *name = table_cell(breakdown, row, BREAKDOWN_DEVICE);
    double window_ns = (double)table_i64(breakdown, row, BREAKDOWN_WINDOW_NS, 1);
    evidence_add(evidence, "breakdown", "device %.*s, %s, is busy for %.0f %% of the recording",
                 (int)name->s.len, name->s.at, which,
                 100 * (double)table_i64(breakdown, row, BREAKDOWN_BUSY_NS, 0) / window_ns);
}

// The busiest of these devices and the one with least work; the table has the devices in order.
static const char *tell(const struct finding_case *the_case, const struct turns *turns,
                        struct err *err)
{
    const struct table *breakdown = report_find(the_case->report, "breakdown");
    struct evidence evidence = {0};
    size_t rows = breakdown ? breakdown->row_count : 0, most = rows, least = rows;
    uint32_t gpu = 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t busy_ns = table_i64(breakdown, i, BREAKDOWN_BUSY_NS, 0);
        if (!table_is(breakdown, i, BREAKDOWN_SCOPE, STR("device")) || !turns->works[gpu++])
            continue;
        if (most == rows || busy_ns > table_i64(breakdown, most, BREAKDOWN_BUSY_NS, 0))
            most = i;
        if (least == rows || busy_ns <= table_i64(breakdown, least, BREAKDOWN_BUSY_NS, 0))
            least = i;
    }
    if (most < rows) {
        tell_device(breakdown, most, "the busiest", &evidence);
        tell_device(breakdown, least, "the least busy", &evidence);
    }
    return evidence_end(&evidence, the_case->arena, err);
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct turns *turns = arena_array(the_case->arena, 1, sizeof *turns, err);
    if (!turns)
        return false;
    if (facts->gpu_count < 2 || facts->trace->job.recorder == RECORDER_XLA)
        return true;
    turns->facts = facts;
    if (!find_devices(turns, the_case->arena, err))
        return false;
    if (turns->count < 2)
        return true;
    if (!mark_idle(turns, the_case->arena, err) ||
        !findings_cost(the_case, finding, claim_turns, turns, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_IDLE_DEVICES);
    if (!*fires)
        return true;
    finding->confidence = "medium";
    finding->gain = FINDING_GAIN_UNKNOWN; // each process would have its host
    finding->title = arena_printf(
        the_case->arena, err,
        "%s devices of one process work in turns or unevenly: each idles %s %s on average while "
        "others work (%.1f %%)",
        count_text(turns->count).text, time_text(finding->cost_ns).text, the_case->per,
        findings_percent(the_case, finding->cost_ns));
    finding->evidence = tell(the_case, turns, err);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_idle_devices = {
    .name = "idle_devices",
    .why = "Devices of one process count as busy while any of them is. Layers placed on several "
           "devices run one after the other, and DataParallel gathers outputs on one of them.",
    .advice = "Training: DistributedDataParallel or FSDP, with one process per device, instead of "
              "DataParallel; a pipeline with micro-batches instead of device_map. Inference: "
              "tensor parallelism, or a replica on each device. Fewer devices if the model fits.",
    .method = "Time in which a device works, times the share of the devices that idle meanwhile, "
              "per steady step, over the devices on which one process launches compute, without "
              "those with under 10 % of the busiest one's: what spreading the same work evenly "
              "would save. Reported from 30 % of the step.",
    .false_alarms = "Devices kept for another model on purpose, such as a reward model.",
    .check = check,
};
