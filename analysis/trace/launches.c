// SPDX-License-Identifier: Apache-2.0
// How host launches and device events are linked.
#include "analysis/trace/analyses.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

struct metric {
    const char *name;
    int64_t value;
    const char *unit;
    const char *help;
    bool of_whole; // not known of a part, which has only launches with a device event
};

static bool add(struct report *report, struct metric metric, struct err *err)
{
    struct row row = {.desc = &table_launches};
    row_word(&row, LAUNCHES_METRIC, metric.name);
    row_i64(&row, LAUNCHES_VALUE, metric.value);
    row_word(&row, LAUNCHES_UNIT, metric.unit);
    row_word(&row, LAUNCHES_HELP, metric.help);
    return row_end(&row, report, err);
}

// Correlations count up, so events with a lower one than every launch were launched earlier. A
// trace without launches does not show it.
static int64_t count_early(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    int64_t lowest = INT64_MIN, count = 0;
    for (uint32_t i = 0; i < trace->launch_args_count; i++) {
        int64_t correlation = trace->launch_args[i].correlation;
        if (correlation > 0 && (lowest == INT64_MIN || correlation < lowest))
            lowest = correlation;
    }
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t args = trace->args[facts->devices[i].event];
        if (args == ARGS_NONE || facts->devices[i].launch != FACTS_NONE)
            continue;
        int64_t correlation = trace->device_args[args].correlation;
        count += correlation > 0 && correlation < lowest;
    }
    return count;
}

static bool add_counts(const struct facts *facts, struct report *report, struct err *err)
{
    int64_t graphs = 0, replayed = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        graphs += facts->launches[l].count > 1;
        replayed += facts->launches[l].count > 1 ? facts->launches[l].count : 0;
    }
    const struct metric metrics[] = {
        {"linked_device_events", facts->linked, "count", "Device events with a launch.", false},
        {"unlinked_device_events", facts->device_count - facts->linked, "count",
         "Device events without a launch: launched before the recording, or the launch was not "
         "recorded.",
         false},
        {"launched_before_recording", count_early(facts), "count",
         "Device events without a launch whose correlation is lower than that of every launch in "
         "the trace.",
         false},
        {"launches", facts->launch_count, "count", "Calls that launched a device event.", false},
        {"launches_without_device_events", (int64_t)facts->launches_without_events, "count",
         "Kernel launches whose device event is not in the trace.", true},
        {"graph_launches", graphs, "count", "Calls that launched more than one device event.",
         false},
        {"graph_device_events", replayed, "count",
         "Device events of calls that launched more than one.", false},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!(metrics[i].of_whole && facts->is_part) && !add(report, metrics[i], err))
            return false;
    return true;
}

// Times between launches and their device events.
struct delays {
    int64_t *delay_ns, *start_ns; // from the end and from the start of the launch; one per link
    int64_t *scratch;
};

static int64_t since(int64_t earlier_ns, int64_t later_ns)
{
    int64_t difference_ns;
    return __builtin_sub_overflow(later_ns, earlier_ns, &difference_ns) ? 0 : difference_ns;
}

static uint32_t measure(const struct facts *facts, const struct delays *delays)
{
    const struct trace *trace = facts->trace;
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->launch == FACTS_NONE)
            continue;
        uint32_t event = facts->launches[device->launch].event;
        int64_t delay_ns = since(facts_event_end(trace, event), device->begin_ns);
        delays->delay_ns[count] = delay_ns < 0 ? 0 : delay_ns;
        delays->start_ns[count++] = since(trace->begin_ns[event], device->begin_ns);
    }
    return count;
}

static bool add_delays(const struct facts *facts, const struct delays *delays,
                       struct report *report, struct err *err)
{
    uint32_t count = measure(facts, delays);
    struct quantiles delay = stats_quantiles(delays->delay_ns, delays->scratch, count);
    struct quantiles start = stats_quantiles(delays->start_ns, delays->scratch, count);
    const struct metric metrics[] = {
        {"launch_delay_median_ns", delay.median, "ns",
         "Median time from the end of a launch to the start of its device event, 0 if that was "
         "earlier.",
         false},
        {"launch_delay_p95_ns", delay.p95, "ns",
         "95th percentile of the time from the end of a launch to the start of its device event.",
         false},
        {"launch_delay_max_ns", delay.max, "ns",
         "Longest time from the end of a launch to the start of its device event.", false},
        {"launch_to_start_median_ns", start.median, "ns",
         "Median time from the start of a launch to the start of its device event.", false},
        {"launch_to_start_p95_ns", start.p95, "ns",
         "95th percentile of the time from the start of a launch to the start of its device "
         "event.",
         false},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!add(report, metrics[i], err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    if (!add_counts(facts, report, err))
        return false;
    if (facts->linked == 0)
        return true;
    size_t count = facts->linked, size = 3 * count * sizeof(int64_t);
    int64_t *values = budget_alloc(facts->budget, size, err);
    if (!values)
        return false;
    struct delays delays = {values, values + count, values + 2 * count};
    bool ok = add_delays(facts, &delays, report, err);
    budget_free(facts->budget, values, size);
    return ok;
}

const struct analysis launches_analysis = {"launches", run};
