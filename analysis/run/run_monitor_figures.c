// SPDX-License-Identifier: Apache-2.0
// Figures of a rank's GPU by its monitor, over the steady steps of the trace. A sample stands for
// the time since the one before it; power is linear between samples.
#include "analysis/run/run_monitors_inner.h"

#include "analysis/evidence/monitor_view.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#include <math.h>

enum { MOST_SERIES_ROWS = 500, MOST_ROWS = 100000, FEWEST_SERIES_ROWS = 20 };
#define MARGIN 0.1 // of the window, drawn before and after it

struct interval_ns {
    int64_t begin, end;
};

struct view {
    const struct run *run;
    const struct monitor_file *file;
    const struct rank_time *rank;
    size_t first, count; // rows of the samples
    int64_t period_ns;
    struct interval_ns *intervals; // on the monitor's clock, ascending and disjoint
    size_t interval_count, steps;  // steps: 0 if the interval is the window
};

static double value_of(const struct view *view, size_t i, unsigned column)
{
    return table_f64(view->file->samples, view->first + i, column, NAN);
}

static int64_t time_of(const struct view *view, size_t i)
{
    return monitor_sample_ns(view->file, view->first + i);
}

// --- intervals ----------------------------------------------------------------------------------

static void add_interval(struct view *view, int64_t begin_ns, int64_t length_ns)
{
    const struct rank_time *rank = view->rank;
    int64_t from_ns = rank->profile.begin_ns - rank->time.offset_ns + begin_ns;
    if (length_ns > 0)
        view->intervals[view->interval_count++] =
            (struct interval_ns){from_ns, from_ns + length_ns};
}

static bool find_intervals(struct view *view, const struct table *steps, struct err *err)
{
    size_t cap = steps ? steps->row_count : 0;
    view->intervals = arena_array(view->file->arena, cap + 1, sizeof *view->intervals, err);
    if (!view->intervals)
        return false;
    for (size_t i = 0; i < cap; i++)
        if (table_i64(steps, i, STEPS_STEADY, 0))
            add_interval(view, table_i64(steps, i, STEPS_BEGIN_NS, 0),
                         table_i64(steps, i, STEPS_TIMES, 0));
    view->steps = view->interval_count;
    if (view->steps == 0)
        add_interval(view, 0, view->rank->profile.window_ns);
    return true;
}

// Length of all intervals within that time; *next is the first that may be.
static int64_t within(const struct view *view, size_t *next, struct interval_ns time)
{
    int64_t sum_ns = 0;
    while (*next < view->interval_count && view->intervals[*next].end <= time.begin)
        ++*next;
    for (size_t i = *next; i < view->interval_count && view->intervals[i].begin < time.end; i++) {
        struct interval_ns at = view->intervals[i];
        int64_t from_ns = at.begin > time.begin ? at.begin : time.begin;
        int64_t to_ns = at.end < time.end ? at.end : time.end;
        sum_ns += to_ns - from_ns;
    }
    return sum_ns;
}

// The time that a sample stands for.
static struct interval_ns span_of(const struct view *view, size_t i)
{
    int64_t end_ns = time_of(view, i), begin_ns = end_ns - view->period_ns;
    if (i > 0 &&
        (double)(end_ns - time_of(view, i - 1)) < MONITOR_LONG_GAP * (double)view->period_ns)
        begin_ns = time_of(view, i - 1);
    return (struct interval_ns){begin_ns, end_ns};
}

// --- figures over them --------------------------------------------------------------------------

struct weighted {
    double sum, weight;
};

static void weigh(struct weighted *to, double value, double weight)
{
    if (isnan(value) || !(weight > 0))
        return;
    to->sum += value * weight;
    to->weight += weight;
}

static double mean_of(struct weighted of)
{
    return of.weight > 0 && isfinite(of.sum) ? of.sum / of.weight : NAN;
}

struct found {
    size_t samples;
    struct weighted utilization, clock, free_clock, throttled_clock, throttled;
    double lowest_mhz, hottest_c, most_bytes;
    size_t reasons[MONITOR_REASONS];
};

static void take_sample(const struct view *view, size_t i, double weight, struct found *found)
{
    double share = value_of(view, i, MONITOR_SAMPLES_THROTTLED_SHARE);
    double clock = value_of(view, i, MONITOR_SAMPLES_CLOCK_MHZ);
    double utilization = value_of(view, i, MONITOR_SAMPLES_UTILIZATION);
    found->samples++;
    weigh(&found->utilization, utilization, weight);
    weigh(&found->clock, clock, weight);
    weigh(&found->throttled, share, weight);
    if (share > 0)
        weigh(&found->throttled_clock, clock, weight * share);
    if (share < MONITOR_THROTTLED_FROM && utilization >= MONITOR_BUSY_FROM / 100)
        weigh(&found->free_clock, clock, weight);
    found->lowest_mhz = fmin(found->lowest_mhz, clock);
    found->hottest_c = fmax(found->hottest_c, value_of(view, i, MONITOR_SAMPLES_TEMPERATURE_C));
    found->most_bytes = fmax(found->most_bytes, value_of(view, i, MONITOR_SAMPLES_MEMORY_BYTES));
    monitor_count_reasons(
        (double)table_i64(view->file->samples, view->first + i, MONITOR_SAMPLES_THROTTLE_BITS, 0),
        found->reasons);
}

static struct found find_figures(const struct view *view)
{
    struct found found = {.lowest_mhz = NAN, .hottest_c = NAN, .most_bytes = NAN};
    size_t next = 0;
    for (size_t i = 0; i < view->count; i++) {
        int64_t weight_ns = within(view, &next, span_of(view, i));
        if (weight_ns > 0)
            take_sample(view, i, (double)weight_ns, &found);
    }
    return found;
}

// --- power and energy ---------------------------------------------------------------------------

// Samples of one column that have a value.
struct curve {
    const struct view *view;
    unsigned column;
    size_t at, next; // the last one not after the time asked for last, and the one after it
};

// view->count or more if there is none.
static size_t next_of(const struct curve *curve, size_t from)
{
    while (from < curve->view->count && isnan(value_of(curve->view, from, curve->column)))
        from++;
    return from;
}

// False if the column has no value.
static bool curve_start(struct curve *curve, const struct view *view, unsigned column)
{
    *curve = (struct curve){.view = view, .column = column};
    curve->at = next_of(curve, 0);
    curve->next = next_of(curve, curve->at + 1);
    return curve->at < view->count;
}

// Samples of long recordings are means of several, and further apart than the tool took them.
static bool is_gap(const struct view *view, int64_t ns)
{
    int64_t all_ns = time_of(view, view->count - 1) - time_of(view, 0);
    double usual_ns = (double)all_ns / (double)view->count;
    return view->period_ns > 0 &&
           (double)ns >= MONITOR_LONG_GAP * fmax((double)view->period_ns, usual_ns);
}

// Linear between samples, NAN outside and in gaps. Times must not descend from call to call.
static double curve_at(struct curve *curve, int64_t time_ns)
{
    size_t count = curve->view->count;
    while (curve->next < count && time_of(curve->view, curve->next) <= time_ns) {
        curve->at = curve->next;
        curve->next = next_of(curve, curve->at + 1);
    }
    int64_t from_ns = time_of(curve->view, curve->at);
    double from = value_of(curve->view, curve->at, curve->column);
    if (time_ns < from_ns || (time_ns > from_ns && curve->next >= count))
        return NAN;
    if (time_ns == from_ns)
        return from;
    int64_t to_ns = time_of(curve->view, curve->next);
    if (is_gap(curve->view, to_ns - from_ns))
        return NAN;
    double to = value_of(curve->view, curve->next, curve->column);
    return from + (to - from) * (double)(time_ns - from_ns) / (double)(to_ns - from_ns);
}

// Watts over that time in joules, NAN unless the samples cover all of it.
static double integral(struct curve *curve, struct interval_ns time)
{
    double before = curve_at(curve, time.begin), sum = 0;
    int64_t at_ns = time.begin;
    while (!isnan(before) && curve->next < curve->view->count &&
           time_of(curve->view, curve->next) < time.end) {
        int64_t next_ns = time_of(curve->view, curve->next);
        if (is_gap(curve->view, next_ns - at_ns))
            return NAN;
        double power = curve_at(curve, next_ns);
        sum += (before + power) / 2 * (double)(next_ns - at_ns) / 1e9;
        before = power;
        at_ns = next_ns;
    }
    double last = curve_at(curve, time.end);
    return sum + (before + last) / 2 * (double)(time.end - at_ns) / 1e9;
}

struct energy {
    double joules;   // over the intervals that samples cover
    int64_t span_ns; // length of those intervals
    size_t intervals;
};

static struct energy sum_power(const struct view *view)
{
    struct curve curve;
    struct energy energy = {0};
    bool any = curve_start(&curve, view, MONITOR_SAMPLES_POWER_W);
    for (size_t i = 0; any && i < view->interval_count; i++) {
        double joules = integral(&curve, view->intervals[i]);
        if (isnan(joules))
            continue;
        energy.joules += joules;
        energy.span_ns += view->intervals[i].end - view->intervals[i].begin;
        energy.intervals++;
    }
    return energy;
}

// Over all that was recorded.
static double mean_power(const struct view *view)
{
    struct curve curve;
    double joules = 0, seconds = 0;
    bool any = curve_start(&curve, view, MONITOR_SAMPLES_POWER_W);
    while (any && curve.next < view->count) {
        int64_t from_ns = time_of(view, curve.at), to_ns = time_of(view, curve.next);
        double from = value_of(view, curve.at, curve.column), to = curve_at(&curve, to_ns);
        if (is_gap(view, to_ns - from_ns))
            continue;
        joules += (from + to) / 2 * (double)(to_ns - from_ns) / 1e9;
        seconds += (double)(to_ns - from_ns) / 1e9;
    }
    return seconds > 0 ? joules / seconds : NAN;
}

// A counter of energy; one that was set back in between says nothing.
static struct energy sum_counter(const struct view *view)
{
    struct curve curve;
    struct energy energy = {0};
    bool any = curve_start(&curve, view, MONITOR_SAMPLES_ENERGY_J);
    for (size_t i = 0; any && i < view->interval_count; i++) {
        double from = curve_at(&curve, view->intervals[i].begin);
        double to = curve_at(&curve, view->intervals[i].end);
        if (!(to >= from))
            continue;
        energy.joules += to - from;
        energy.span_ns += view->intervals[i].end - view->intervals[i].begin;
        energy.intervals++;
    }
    return energy;
}

static void row_energy(const struct view *view, struct row *row)
{
    struct energy power = sum_power(view), counter = sum_counter(view);
    const struct energy *best = counter.intervals ? &counter : &power;
    int64_t all_ns = 0;
    for (size_t i = 0; i < view->interval_count; i++)
        all_ns += view->intervals[i].end - view->intervals[i].begin;
    row_share(row, RUN_RANK_MONITORS_COVERED_SHARE, best->span_ns, all_ns);
    if (best->intervals == 0)
        return;
    row_f64(row, RUN_RANK_MONITORS_POWER_W, best->joules / ((double)best->span_ns / 1e9));
    if (view->steps == 0)
        return;
    row_f64(row, RUN_RANK_MONITORS_ENERGY_J_PER_STEP, best->joules / (double)best->intervals);
    row_word(row, RUN_RANK_MONITORS_ENERGY_BASIS, counter.intervals ? "counter" : "power");
}

// --- throttling ---------------------------------------------------------------------------------

static int64_t compute_per_step_ns(const struct view *view)
{
    size_t rank = view->rank->of->rank;
    struct parts parts = run_steady_parts(view->run, rank);
    int64_t steps = run_summary_i64(view->run, rank, SUMMARY_STEADY_STEPS, 0);
    int64_t sum_ns =
        parts.bar_ns[BAR_GEMM] + parts.bar_ns[BAR_ATTENTION] + parts.bar_ns[BAR_OTHER_COMPUTE];
    return steps > 0 ? sum_ns / steps : 0;
}

static double usual_mhz(const struct view *view, const struct found *found)
{
    const struct table *monitors = view->file->monitors;
    size_t monitor = view->rank->of->monitor;
    double mhz = mean_of(found->free_clock);
    if (isnan(mhz))
        mhz = table_f64(monitors, monitor, MONITORS_FREE_MHZ, NAN);
    return isnan(mhz) ? table_f64(monitors, monitor, MONITORS_CLOCK_RATED_MHZ, NAN) : mhz;
}

static void row_throttling(const struct view *view, const struct found *found, struct row *row)
{
    double share = mean_of(found->throttled), mhz = mean_of(found->throttled_clock);
    double usual = usual_mhz(view, found);
    row_f64(row, RUN_RANK_MONITORS_THROTTLED_SHARE, share);
    row_word(row, RUN_RANK_MONITORS_THROTTLE_REASON, monitor_main_reason(found->reasons));
    row_f64(row, RUN_RANK_MONITORS_THROTTLED_MHZ, mhz);
    bool slower = share > 0 && mhz > 0 && usual > mhz;
    double cost_ns = slower ? share * (1 - mhz / usual) * (double)compute_per_step_ns(view) : 0;
    row_i64_if(row, RUN_RANK_MONITORS_THROTTLE_COST_NS, !isnan(share) && view->steps,
               (int64_t)llround(cost_ns));
}

// --- rows ---------------------------------------------------------------------------------------

// The busy share by the trace, which has one profile for all its GPUs.
static double busy_of(const struct view *view)
{
    struct weighted busy = {0};
    for (size_t i = 0; view->rank->of->alone && i < view->interval_count; i++) {
        struct interval_ns at = view->intervals[i];
        int64_t offset_ns = view->rank->time.offset_ns;
        weigh(&busy, busy_share(&view->rank->profile, at.begin + offset_ns, at.end + offset_ns),
              (double)(at.end - at.begin));
    }
    return mean_of(busy);
}

static void row_aligned(const struct view *view, struct row *row)
{
    struct found found = find_figures(view);
    row_word(row, RUN_RANK_MONITORS_COVERS, view->steps ? "steps" : "window");
    row_i64(row, RUN_RANK_MONITORS_SAMPLES, (int64_t)found.samples);
    row_f64(row, RUN_RANK_MONITORS_UTILIZATION_SHARE, mean_of(found.utilization));
    row_f64(row, RUN_RANK_MONITORS_BUSY_SHARE, busy_of(view));
    row_f64(row, RUN_RANK_MONITORS_CLOCK_MHZ, mean_of(found.clock));
    row_f64(row, RUN_RANK_MONITORS_CLOCK_LOWEST_MHZ, found.lowest_mhz);
    row_f64(row, RUN_RANK_MONITORS_CLOCK_FREE_MHZ, mean_of(found.free_clock));
    row_f64(row, RUN_RANK_MONITORS_TEMPERATURE_C, found.hottest_c);
    row_bytes(row, RUN_RANK_MONITORS_MEMORY_BYTES, found.most_bytes);
    row_energy(view, row);
    row_throttling(view, &found, row);
}

// Figures over all that the monitor recorded.
static void row_whole(const struct view *view, struct row *row)
{
    static const unsigned columns[][2] = {
        {RUN_RANK_MONITORS_SAMPLES, MONITORS_SAMPLES},
        {RUN_RANK_MONITORS_UTILIZATION_SHARE, MONITORS_UTILIZATION_SHARE},
        {RUN_RANK_MONITORS_CLOCK_MHZ, MONITORS_CLOCK_MHZ},
        {RUN_RANK_MONITORS_CLOCK_LOWEST_MHZ, MONITORS_CLOCK_LOWEST_MHZ},
        {RUN_RANK_MONITORS_CLOCK_FREE_MHZ, MONITORS_FREE_MHZ},
        {RUN_RANK_MONITORS_TEMPERATURE_C, MONITORS_TEMPERATURE_C},
        {RUN_RANK_MONITORS_MEMORY_BYTES, MONITORS_MEMORY_BYTES},
        {RUN_RANK_MONITORS_THROTTLED_SHARE, MONITORS_THROTTLED_SHARE},
        {RUN_RANK_MONITORS_THROTTLE_REASON, MONITORS_THROTTLE_REASON},
        {RUN_RANK_MONITORS_THROTTLED_MHZ, MONITORS_THROTTLED_MHZ}};
    const struct table *monitors = view->file->monitors;
    size_t monitor = view->rank->of->monitor;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        row_cell(row, columns[i][0], *table_cell(monitors, monitor, columns[i][1]));
    row_word(row, RUN_RANK_MONITORS_COVERS, "recording");
    double power = mean_power(view);
    if (isnan(power))
        power = table_f64(monitors, monitor, MONITORS_POWER_W, NAN);
    int64_t step_ns = run_summary_i64(view->run, view->rank->of->rank, SUMMARY_STEP_MEDIAN_NS, -1);
    row_f64(row, RUN_RANK_MONITORS_POWER_W, power);
    if (step_ns <= 0 || isnan(power))
        return;
    row_f64(row, RUN_RANK_MONITORS_ENERGY_J_PER_STEP, power * ((double)step_ns / 1e9));
    row_word(row, RUN_RANK_MONITORS_ENERGY_BASIS, "mean power");
}

static void row_identity(const struct view *view, struct row *row)
{
    const struct table *monitors = view->file->monitors;
    const struct rank_device *of = view->rank->of;
    const struct monitor_time *time = &view->rank->time;
    row_i64(row, RUN_RANK_MONITORS_RANK, view->run->ranks[of->rank]);
    row_text(row, RUN_RANK_MONITORS_DEVICE, of->device);
    row_text(row, RUN_RANK_MONITORS_FILE, view->file->name);
    row_cell(row, RUN_RANK_MONITORS_HOST, *table_cell(monitors, of->monitor, MONITORS_HOST));
    row_cell(row, RUN_RANK_MONITORS_GPU, *table_cell(monitors, of->monitor, MONITORS_GPU));
    row_cell(row, RUN_RANK_MONITORS_NAME, *table_cell(monitors, of->monitor, MONITORS_NAME));
    row_cell(row, RUN_RANK_MONITORS_CLOCK_STATE,
             *table_cell(monitors, of->monitor, MONITORS_CLOCK_STATE));
    row_word(row, RUN_RANK_MONITORS_JOINED_BY, of->joined_by);
    row_word(row, RUN_RANK_MONITORS_ALIGNED_BY, time->aligned_by);
    row_word(row, RUN_RANK_MONITORS_DOUBT, time->doubt ? time->doubt : of->doubt);
    row_i64_if(row, RUN_RANK_MONITORS_OFFSET_NS, time->aligned_by, time->offset_ns);
    row_i64_if(row, RUN_RANK_MONITORS_ZONE_NS, time->aligned_by && time->has_zone, time->zone_ns);
    row_f64(row, RUN_RANK_MONITORS_MATCH_R, time->r);
    row_f64(row, RUN_RANK_MONITORS_OTHER_MATCH_R, time->other_r);
}

// --- over time ----------------------------------------------------------------------------------

// Means of the samples from first to before last.
static bool add_point(const struct view *view, size_t first, size_t last, struct err *err)
{
    static const unsigned columns[][2] = {
        {RUN_RANK_MONITOR_SERIES_UTILIZATION_SHARE, MONITOR_SAMPLES_UTILIZATION},
        {RUN_RANK_MONITOR_SERIES_POWER_W, MONITOR_SAMPLES_POWER_W},
        {RUN_RANK_MONITOR_SERIES_CLOCK_MHZ, MONITOR_SAMPLES_CLOCK_MHZ},
        {RUN_RANK_MONITOR_SERIES_TEMPERATURE_C, MONITOR_SAMPLES_TEMPERATURE_C},
        {RUN_RANK_MONITOR_SERIES_MEMORY_BYTES, MONITOR_SAMPLES_MEMORY_BYTES},
        {RUN_RANK_MONITOR_SERIES_THROTTLED_SHARE, MONITOR_SAMPLES_THROTTLED_SHARE}};
    const struct rank_time *rank = view->rank;
    int64_t offset_ns = rank->time.offset_ns;
    struct row row = {.desc = &table_run_rank_monitor_series};
    row_i64(&row, RUN_RANK_MONITOR_SERIES_RANK, view->run->ranks[rank->of->rank]);
    row_text(&row, RUN_RANK_MONITOR_SERIES_DEVICE, rank->of->device);
    row_text(&row, RUN_RANK_MONITOR_SERIES_FILE, view->file->name);
    row_i64(&row, RUN_RANK_MONITOR_SERIES_TIME_NS,
            time_of(view, last - 1) + offset_ns - rank->profile.begin_ns);
    row_f64_if(&row, RUN_RANK_MONITOR_SERIES_BUSY_SHARE, rank->of->alone,
               busy_share(&rank->profile, span_of(view, first).begin + offset_ns,
                          time_of(view, last - 1) + offset_ns));
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        struct weighted of = {0};
        for (size_t i = first; i < last; i++)
            weigh(&of, value_of(view, i, columns[c][1]), 1);
        row_f64(&row, columns[c][0], mean_of(of));
    }
    return row_end(&row, view->run->report, err);
}

static size_t first_after(const struct view *view, int64_t time_ns)
{
    size_t low = 0, high = view->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (time_of(view, middle) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_series(const struct view *view, struct err *err)
{
    const struct busy_profile *profile = &view->rank->profile;
    int64_t begin_ns = profile->begin_ns - view->rank->time.offset_ns;
    int64_t margin_ns = (int64_t)(MARGIN * (double)profile->window_ns) + 2 * view->period_ns;
    size_t first = first_after(view, begin_ns - margin_ns);
    size_t last = first_after(view, begin_ns + profile->window_ns + margin_ns + 1);
    size_t most = MOST_ROWS / (view->run->count + 1);
    most = most < FEWEST_SERIES_ROWS ? FEWEST_SERIES_ROWS : most;
    most = most > MOST_SERIES_ROWS ? MOST_SERIES_ROWS : most;
    size_t each = (last - first + most - 1) / most;
    for (size_t i = first; i < last; i += each)
        if (!add_point(view, i, i + each < last ? i + each : last, err))
            return false;
    return true;
}

bool monitor_add_rank(const struct run *run, const struct monitor_file *file,
                      const struct rank_time *rank, const struct report *own, struct err *err)
{
    size_t monitor = rank->of->monitor;
    struct row row = {.desc = &table_run_rank_monitors};
    struct view view = {.run = run,
                        .file = file,
                        .rank = rank,
                        .first = file->of_gpu[monitor].first,
                        .count = file->of_gpu[monitor].count,
                        .period_ns = table_i64(file->monitors, monitor, MONITORS_PERIOD_NS, 0)};
    row_identity(&view, &row);
    if (!rank->time.aligned_by) {
        row_whole(&view, &row);
        return row_end(&row, run->report, err);
    }
    if (!find_intervals(&view, report_find(own, "steps"), err))
        return false;
    row_aligned(&view, &row);
    return row_end(&row, run->report, err) && add_series(&view, err);
}
