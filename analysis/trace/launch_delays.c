// SPDX-License-Identifier: Apache-2.0
// The cost of launching, by the name of the launching call.
#include "analysis/trace/analyses.h"
#include "analysis/stats/groups.h"
#include "analysis/report/ranked.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#define SLOW_CALL_NS  50000
#define LONG_DELAY_NS 100000

// Figures of the launches, grouped by name.
struct delays {
    struct groups names;
    uint32_t *name_of;                      // per launch
    uint32_t *first;                        // per name, plus one
    int64_t *call_ns, *delay_ns, *start_ns; // one per launch
    int64_t *scratch;                       // room for as many
    int64_t *short_kernels;                 // per name
};

static bool group(const struct facts *facts, struct arena *arena, struct delays *delays,
                  struct err *err)
{
    uint32_t count = facts->launch_count;
    delays->name_of = arena_room(arena, count, sizeof(uint32_t), err);
    if (!delays->name_of)
        return false;
    for (uint32_t l = 0; l < count; l++)
        if (!groups_index(&delays->names, facts->trace->name[facts->launches[l].event], 0,
                          &delays->name_of[l], err))
            return false;
    delays->first = arena_array(arena, (size_t)delays->names.count + 2, sizeof(uint32_t), err);
    delays->call_ns = arena_room(arena, count, sizeof(int64_t), err);
    delays->delay_ns = arena_room(arena, count, sizeof(int64_t), err);
    delays->start_ns = arena_room(arena, count, sizeof(int64_t), err);
    delays->scratch = arena_room(arena, count, sizeof(int64_t), err);
    delays->short_kernels = arena_array(arena, delays->names.count, sizeof(int64_t), err);
    return delays->first && delays->call_ns && delays->delay_ns && delays->start_ns &&
           delays->scratch && delays->short_kernels;
}

// later - earlier, saturating.
static int64_t since(int64_t earlier_ns, int64_t later_ns)
{
    int64_t difference_ns;
    if (__builtin_sub_overflow(later_ns, earlier_ns, &difference_ns))
        return later_ns < earlier_ns ? INT64_MIN : INT64_MAX;
    return difference_ns;
}

static void place(const struct facts *facts, uint32_t launch, uint32_t at, struct delays *delays)
{
    const struct trace *trace = facts->trace;
    uint32_t event = facts->launches[launch].event;
    const struct device_event *device = &facts->devices[facts->launches[launch].first];
    int64_t delay_ns = since(facts_event_end(trace, event), device->begin_ns);
    delays->call_ns[at] = trace->dur_ns[event];
    delays->delay_ns[at] = delay_ns > 0 ? delay_ns : 0;
    delays->start_ns[at] = since(trace->begin_ns[event], device->begin_ns);
    delays->short_kernels[delays->name_of[launch]] +=
        device->end_ns - device->begin_ns < trace->dur_ns[event];
}

static void fill(const struct facts *facts, struct delays *delays)
{
    uint32_t *ends = delays->first + 1; // count up from each name's start to its end
    for (uint32_t l = 0; l < facts->launch_count; l++)
        ends[delays->name_of[l] + 1]++;
    for (uint32_t n = 0; n < delays->names.count; n++)
        ends[n + 1] += ends[n];
    for (uint32_t l = 0; l < facts->launch_count; l++)
        place(facts, l, ends[delays->name_of[l]]++, delays);
}

static int64_t count_above(const int64_t *values, uint32_t count, int64_t limit)
{
    int64_t above = 0;
    for (uint32_t i = 0; i < count; i++)
        above += values[i] > limit;
    return above;
}

static bool add_row(const struct facts *facts, const struct delays *delays, uint32_t name,
                    struct report *report, struct err *err)
{
    uint32_t first = delays->first[name], count = delays->first[name + 1] - first;
    int64_t slow = count_above(delays->call_ns + first, count, SLOW_CALL_NS);
    int64_t late = count_above(delays->delay_ns + first, count, LONG_DELAY_NS);
    struct quantiles call = stats_quantiles(delays->call_ns + first, delays->scratch, count);
    struct quantiles delay = stats_quantiles(delays->delay_ns + first, delays->scratch, count);
    struct quantiles start = stats_quantiles(delays->start_ns + first, delays->scratch, count);
    struct row row = {.desc = &table_launch_delays};
    row_text(&row, LAUNCH_DELAYS_CALL,
             trace_text(facts->trace, (str_id)delays->names.keys[name].a));
    row_i64(&row, LAUNCH_DELAYS_LAUNCHES, count);
    row_i64(&row, LAUNCH_DELAYS_CALL_MEDIAN_NS, call.median);
    row_i64(&row, LAUNCH_DELAYS_CALL_P95_NS, call.p95);
    row_i64(&row, LAUNCH_DELAYS_DELAY_MEDIAN_NS, delay.median);
    row_i64(&row, LAUNCH_DELAYS_DELAY_P95_NS, delay.p95);
    row_i64(&row, LAUNCH_DELAYS_START_MEDIAN_NS, start.median);
    row_i64(&row, LAUNCH_DELAYS_SHORT_KERNELS, delays->short_kernels[name]);
    row_i64(&row, LAUNCH_DELAYS_SLOW_CALLS, slow);
    row_i64(&row, LAUNCH_DELAYS_LONG_DELAYS, late);
    return row_end(&row, report, err);
}

// Rows by number of launches.
static bool add_rows(const struct facts *facts, const struct delays *delays, struct arena *arena,
                     struct report *report, struct err *err)
{
    uint32_t names = delays->names.count;
    struct ranked *ranked = arena_array(arena, names, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t n = 0; n < names; n++) {
        uint32_t count = delays->first[n + 1] - delays->first[n];
        ranked[n] =
            (struct ranked){count, trace_text(facts->trace, (str_id)delays->names.keys[n].a), n};
    }
    ranked_sort(ranked, names);
    for (uint32_t n = 0; n < names; n++)
        if (!add_row(facts, delays, ranked[n].index, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    struct delays delays = {0};
    groups_init(&delays.names, facts->budget);
    bool ok = group(facts, arena, &delays, err);
    if (ok)
        fill(facts, &delays);
    ok = ok && add_rows(facts, &delays, arena, report, err);
    groups_free(&delays.names);
    return ok;
}

const struct analysis launch_delays_analysis = {"launch_delays", run};
