// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/monitor_tables.h"

#include "analysis/evidence/monitor_samples.h"
#include "analysis/evidence/monitor_view.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/stats/ordered.h"
#include "analysis/stats/stats.h"
#include "ingest/base/clock.h"

#include <math.h>
#include <stdio.h>

enum { MOST_DEVICE_ROWS = 500, MOST_ROWS = 20000 };

#define IDLE_BELOW 5.0 // percent

struct monitor {
    const struct sample_set *set;
    struct str tool, file;
    struct report *report;
    struct arena scratch;     // of one device
    int64_t begin_ns, end_ns; // of all samples
    int64_t gaps;             // of all devices
    double longest_gap_ns;
};

// --- series -------------------------------------------------------------------------------------

static double highest(const struct sample_series *series)
{
    double most = (double)NAN;
    for (size_t i = 0; series && i < series->count; i++)
        most = fmax(most, series->at[i].value);
    return most;
}

static double mean(const struct sample_series *series)
{
    double sum = 0;
    for (size_t i = 0; series && i < series->count; i++)
        sum += series->at[i].value;
    return series && isfinite(sum) ? sum / (double)series->count : (double)NAN;
}

// --- one row per GPU ----------------------------------------------------------------------------

struct values {
    int64_t *at, *scratch;
    size_t count;
};

static bool make_values(struct monitor *monitor, const struct sample_series *series,
                        struct values *values, struct err *err)
{
    size_t count = series ? series->count : 0;
    *values = (struct values){arena_array(&monitor->scratch, count + 1, sizeof(int64_t), err),
                              arena_array(&monitor->scratch, count + 1, sizeof(int64_t), err), 0};
    return values->at && values->scratch;
}

static double median_of(const struct values *values)
{
    struct quantiles found = stats_quantiles(values->at, values->scratch, values->count);
    return values->count ? ordered_double(found.median) : (double)NAN;
}

// Median time between samples; 0 unless there are two.
static bool find_period(struct monitor *monitor, const struct sample_series *series,
                        int64_t *period_ns, struct err *err)
{
    struct values times;
    *period_ns = 0;
    if (!series || series->count < 2)
        return true;
    if (!make_values(monitor, series, &times, err))
        return false;
    for (size_t i = 1; i < series->count; i++) {
        int64_t ns;
        if (!__builtin_sub_overflow(series->at[i].time_ns, series->at[i - 1].time_ns, &ns))
            times.at[times.count++] = ns;
    }
    *period_ns = times.count ? stats_quantiles(times.at, times.scratch, times.count).median : 0;
    return true;
}

// The integral by the trapezoidal rule over samples in order of time; not over gaps, in which the
// power is unknown.
static double over_time(struct monitor *monitor, const struct sample_series *series,
                        int64_t period_ns)
{
    double sum = 0;
    for (size_t i = 1; series && i < series->count; i++) {
        const struct sample *sample = &series->at[i];
        double ns = (double)sample->time_ns - (double)sample[-1].time_ns;
        if (period_ns > 0 && ns >= MONITOR_LONG_GAP * (double)period_ns) {
            monitor->gaps++;
            monitor->longest_gap_ns = fmax(monitor->longest_gap_ns, ns);
            continue;
        }
        sum += (sample->value + sample[-1].value) / 2 * ns / 1e9;
    }
    return series && sum > 0 && isfinite(sum) ? sum : (double)NAN;
}

static bool row_energy(struct monitor *monitor, const struct monitor_gpu *device, struct row *row,
                       struct err *err)
{
    int64_t period_ns;
    if (monitor->set->period_ns || monitor->set->clock == SAMPLE_NO_CLOCK)
        return true;
    if (!find_period(monitor, device->power, &period_ns, err))
        return false;
    row_f64(row, MONITORS_ENERGY_J, over_time(monitor, device->power, period_ns));
    return true;
}

static void row_power(const struct monitor_gpu *device, struct values *values, struct row *row)
{
    for (size_t i = 0; device->power && i < device->power->count; i++)
        values->at[values->count++] = ordered_of(device->power->at[i].value);
    struct quantiles found = stats_quantiles(values->at, values->scratch, values->count);
    bool known = values->count > 0;
    row_f64_if(row, MONITORS_POWER_W, known, ordered_double(found.median));
    row_f64_if(row, MONITORS_POWER_P95_W, known, ordered_double(found.p95));
    row_f64_if(row, MONITORS_POWER_MAX_W, known, ordered_double(found.max));
}

enum state { ANY, THROTTLED, FREE_AND_BUSY };

static bool is_in(const struct monitor_gpu *device, const struct sample *sample, enum state state)
{
    if (state == ANY)
        return true;
    if (state == THROTTLED)
        return monitor_throttled_at(device, sample->time_ns) >= MONITOR_THROTTLED_FROM;
    return monitor_is_free(device, sample->time_ns);
}

static double median_clock(const struct monitor_gpu *device, struct values *values,
                           enum state state)
{
    values->count = 0;
    for (size_t i = 0; device->clock && i < device->clock->count; i++)
        if (is_in(device, &device->clock->at[i], state))
            values->at[values->count++] = ordered_of(device->clock->at[i].value);
    return median_of(values);
}

static double lowest_busy_clock(const struct monitor_gpu *device)
{
    double lowest = (double)NAN;
    for (size_t i = 0; device->clock && i < device->clock->count; i++)
        if (monitor_value_at(device->utilization, device->clock->at[i].time_ns) >=
            MONITOR_BUSY_FROM)
            lowest = fmin(lowest, device->clock->at[i].value);
    return lowest;
}

static void row_clock(const struct monitor *monitor, const struct monitor_gpu *device,
                      uint32_t index, struct values *values, struct row *row)
{
    row_f64(row, MONITORS_CLOCK_MHZ, median_clock(device, values, ANY));
    row_f64(row, MONITORS_CLOCK_LOWEST_MHZ, lowest_busy_clock(device));
    row_f64(row, MONITORS_CLOCK_RATED_MHZ,
            highest(MONITOR_FIRST_OF(monitor->set, index, SAMPLE_SM_CLOCK_MAX,
                                     SAMPLE_GRAPHICS_CLOCK_MAX)));
    if (!device->throttle)
        return;
    row_f64(row, MONITORS_THROTTLED_MHZ, median_clock(device, values, THROTTLED));
    row_f64(row, MONITORS_FREE_MHZ, median_clock(device, values, FREE_AND_BUSY));
}

// The most frequent reason; of equal ones the first.
static void row_throttling(const struct monitor_gpu *device, struct row *row)
{
    size_t counts[MONITOR_REASONS] = {0}, throttled = 0;
    const struct sample_series *series = device->throttle;
    for (size_t i = 0; series && i < series->count; i++) {
        double bits = series->at[i].value;
        throttled += monitor_is_throttled(bits);
        monitor_count_reasons(bits, counts);
    }
    row_f64_if(row, MONITORS_THROTTLED_SHARE, series,
               series ? (double)throttled / (double)series->count : 0);
    row_word(row, MONITORS_THROTTLE_REASON, monitor_main_reason(counts));
}

// Throttling as shares of the time. Bits beside them only say that there was any at all.
static void row_violations(const struct monitor_gpu *device, struct row *row)
{
    static const char *const words[] = {"power cap", "heat"};
    double most = (double)NAN;
    const char *word = NULL;
    for (size_t i = 0; i < 2; i++) {
        double share = mean(device->violations[i]) / 100;
        word = share > 0 && !(share <= most) ? words[i] : word;
        most = fmax(most, share);
    }
    row_f64_if(row, MONITORS_THROTTLED_SHARE, most >= 0 && most <= 1, most);
    row_word(row, MONITORS_THROTTLE_REASON, word);
}

static double idle_share(const struct sample_series *series)
{
    size_t idle = 0;
    for (size_t i = 0; series && i < series->count; i++)
        idle += series->at[i].value < IDLE_BELOW;
    return series ? (double)idle / (double)series->count : (double)NAN;
}

static void row_identity(const struct monitor *monitor, const struct sample_identity *is,
                         struct row *row)
{
    row_text(row, MONITORS_FILE, monitor->file);
    row_text_if(row, MONITORS_TOOL, monitor->tool.len, monitor->tool);
    row_text_if(row, MONITORS_HOST, is->host.len, is->host);
    row_i64_if(row, MONITORS_GPU, is->index >= 0, is->index);
    row_text_if(row, MONITORS_PART, is->part.len, is->part);
    row_text_if(row, MONITORS_UUID, is->uuid.len, is->uuid);
    row_text_if(row, MONITORS_BUS_ID, is->bus_id.len, is->bus_id);
    row_text_if(row, MONITORS_NAME, is->name.len, is->name);
}

// The first and last time over all its series.
static void find_times(const struct sample_set *set, uint32_t device, int64_t *first, int64_t *last)
{
    for (int metric = 0; metric < SAMPLE_METRICS; metric++) {
        const struct sample_series *series = samples_of(set, device, (enum sample_metric)metric);
        if (!series || !series->count)
            continue;
        *first = series->at[0].time_ns < *first ? series->at[0].time_ns : *first;
        int64_t end = series->at[series->count - 1].time_ns;
        *last = end > *last ? end : *last;
    }
}

static const char *const clock_words[] = {
    [SAMPLE_NO_CLOCK] = NULL,
    [SAMPLE_CLOCK_RELATIVE] = "numbered",
    [SAMPLE_CLOCK_LOCAL] = "local",
    [SAMPLE_CLOCK_UTC] = "UTC",
};

static void row_times(const struct monitor *monitor, uint32_t device, struct row *row,
                      char begin[CLOCK_RFC3339_SIZE])
{
    int64_t first = INT64_MAX, last = INT64_MIN, ns = 0;
    enum sample_clock clock = monitor->set->clock;
    find_times(monitor->set, device, &first, &last);
    if (clock == SAMPLE_NO_CLOCK || first > last || __builtin_sub_overflow(last, first, &ns))
        return;
    row_word(row, MONITORS_CLOCK, clock_words[clock]);
    row_i64_if(row, MONITORS_DURATION_NS, !monitor->set->period_ns, ns);
    if (clock == SAMPLE_CLOCK_RELATIVE)
        return;
    clock_rfc3339(first, begin);
    size_t len = strlen(begin);
    row_text(row, MONITORS_BEGIN,
             (struct str){begin, len && clock != SAMPLE_CLOCK_UTC ? len - 1 : len});
}

static bool row_clock_state(struct monitor *monitor, const struct monitor_gpu *device,
                            struct row *row, struct err *err)
{
    struct monitor_clock clock;
    if (!monitor_clock_of(device, &monitor->scratch, &clock, err))
        return false;
    row_word(row, MONITORS_CLOCK_STATE, clock.state);
    row_f64(row, MONITORS_CLOCK_PINNED_MHZ, clock.mhz);
    return true;
}

// The period of the series with the most samples.
static bool row_period(struct monitor *monitor, const struct monitor_gpu *device, struct row *row,
                       struct err *err)
{
    const struct sample_series *series = device->utilization;
    int64_t period_ns;
    if (!series || (device->power && device->power->count > series->count))
        series = device->power;
    if (monitor->set->clock == SAMPLE_NO_CLOCK || !series || series->count < 2)
        return true;
    if (!find_period(monitor, series, &period_ns, err))
        return false;
    row_i64(row, MONITORS_PERIOD_NS, period_ns);
    return true;
}

static bool add_device(struct monitor *monitor, uint32_t index, struct err *err)
{
    char begin[CLOCK_RFC3339_SIZE];
    struct monitor_gpu device = monitor_gpu_of(monitor->set, index);
    struct row row = {.desc = &table_monitors};
    struct values power, clock;
    if (!make_values(monitor, device.power, &power, err) ||
        !make_values(monitor, device.clock, &clock, err))
        return false;
    row_identity(monitor, &device.at->is, &row);
    row_i64(&row, MONITORS_SAMPLES, device.at->rows);
    row_times(monitor, index, &row, begin);
    if (!row_period(monitor, &device, &row, err))
        return false;
    row_f64(&row, MONITORS_UTILIZATION_SHARE, mean(device.utilization) / 100);
    row_f64(&row, MONITORS_IDLE_SHARE, idle_share(device.utilization));
    row_power(&device, &power, &row);
    if (!row_energy(monitor, &device, &row, err))
        return false;
    row_f64(&row, MONITORS_POWER_LIMIT_W,
            highest(MONITOR_FIRST_OF(monitor->set, index, SAMPLE_POWER_LIMIT)));
    row_clock(monitor, &device, index, &clock, &row);
    if (!row_clock_state(monitor, &device, &row, err))
        return false;
    row_f64(&row, MONITORS_TEMPERATURE_C, highest(device.temperature));
    row_bytes(&row, MONITORS_MEMORY_BYTES, highest(device.memory));
    row_bytes(&row, MONITORS_CAPACITY_BYTES,
              highest(MONITOR_FIRST_OF(monitor->set, index, SAMPLE_MEMORY_TOTAL)));
    if (device.violations[0] || device.violations[1])
        row_violations(&device, &row);
    else
        row_throttling(&device, &row);
    return row_end(&row, monitor->report, err);
}

// --- over time ----------------------------------------------------------------------------------

// Samples are taken one after another, from the piece of time that ends before them.
struct cursor {
    const struct sample_series *series;
    size_t next;
};

static double mean_until(struct cursor *cursor, int64_t end_ns, bool throttled)
{
    double sum = 0;
    size_t count = 0;
    while (cursor->series && cursor->next < cursor->series->count &&
           cursor->series->at[cursor->next].time_ns < end_ns) {
        double value = cursor->series->at[cursor->next++].value;
        sum += throttled ? monitor_is_throttled(value) : value;
        count++;
    }
    return count && isfinite(sum) ? sum / (double)count : (double)NAN;
}

struct cursors {
    struct cursor utilization, power, clock, temperature, memory, throttle, violations[2];
};

static double throttled_until(struct cursors *cursors, int64_t end_ns)
{
    double bits = mean_until(&cursors->throttle, end_ns, true);
    double percent = fmax(mean_until(&cursors->violations[0], end_ns, false),
                          mean_until(&cursors->violations[1], end_ns, false));
    return percent >= 0 && percent <= 100 ? percent / 100 : bits;
}

static bool add_piece(const struct monitor *monitor, const struct sample_identity *is,
                      struct cursors *cursors, const int64_t times[2], struct err *err)
{
    struct row row = {.desc = &table_monitor_series};
    const double utilization = mean_until(&cursors->utilization, times[1], false);
    const double values[] = {
        mean_until(&cursors->power, times[1], false), mean_until(&cursors->clock, times[1], false),
        mean_until(&cursors->temperature, times[1], false),
        mean_until(&cursors->memory, times[1], false), throttled_until(cursors, times[1])};
    bool any = !isnan(utilization);
    row_text(&row, MONITOR_SERIES_FILE, monitor->file);
    row_text_if(&row, MONITOR_SERIES_HOST, is->host.len, is->host);
    row_i64_if(&row, MONITOR_SERIES_GPU, is->index >= 0, is->index);
    row_text_if(&row, MONITOR_SERIES_PART, is->part.len, is->part);
    row_i64(&row, MONITOR_SERIES_TIME_NS, times[0] - monitor->begin_ns);
    row_f64(&row, MONITOR_SERIES_UTILIZATION_SHARE, utilization / 100);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        row_f64(&row, MONITOR_SERIES_POWER_W + i, values[i]);
        any |= !isnan(values[i]);
    }
    return !any || row_end(&row, monitor->report, err);
}

static bool add_series(const struct monitor *monitor, uint32_t index, size_t rows, struct err *err)
{
    struct monitor_gpu device = monitor_gpu_of(monitor->set, index);
    struct cursors cursors = {.utilization = {device.utilization, 0},
                              .power = {device.power, 0},
                              .clock = {device.clock, 0},
                              .temperature = {device.temperature, 0},
                              .memory = {device.memory, 0},
                              .throttle = {device.throttle, 0},
                              .violations = {{device.violations[0], 0}, {device.violations[1], 0}}};
    int64_t span_ns = monitor->end_ns - monitor->begin_ns;
    for (size_t i = 0; i < rows; i++) {
        double from = (double)span_ns * (double)i / (double)rows;
        double to = (double)span_ns * (double)(i + 1) / (double)rows;
        int64_t times[2] = {monitor->begin_ns + (int64_t)from,
                            i + 1 < rows ? monitor->begin_ns + (int64_t)to : INT64_MAX};
        if (!add_piece(monitor, &device.at->is, &cursors, times, err))
            return false;
    }
    return true;
}

// No rows if times cannot be drawn.
static size_t rows_of_device(struct monitor *monitor)
{
    const struct sample_set *set = monitor->set;
    int64_t span;
    monitor->begin_ns = INT64_MAX;
    monitor->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < set->device_count; i++)
        find_times(set, i, &monitor->begin_ns, &monitor->end_ns);
    if (set->clock == SAMPLE_NO_CLOCK || monitor->begin_ns >= monitor->end_ns ||
        __builtin_sub_overflow(monitor->end_ns, monitor->begin_ns, &span))
        return 0;
    size_t most = MOST_ROWS / set->device_count;
    return most < MOST_DEVICE_ROWS ? most : MOST_DEVICE_ROWS;
}

// --- settings -----------------------------------------------------------------------------------

// The clock and power limit common to all GPUs that report one; comparisons list what differs.
struct common {
    const char *state; // of the clock, NULL unknown
    double mhz, limit_w;
    bool states_differ, limits_differ;
};

static void take_common(const struct table *rows, size_t row, struct common *common)
{
    struct str state = table_text(rows, row, MONITORS_CLOCK_STATE);
    double mhz = table_f64(rows, row, MONITORS_CLOCK_PINNED_MHZ, (double)NAN);
    double limit_w = table_f64(rows, row, MONITORS_POWER_LIMIT_W, (double)NAN);
    if (state.len && common->state)
        common->states_differ |= !str_equal(state, str_of(common->state)) ||
                                 (!isnan(mhz) && fabs(mhz - common->mhz) > 0.5);
    if (!isnan(limit_w) && !isnan(common->limit_w))
        common->limits_differ |= fabs(limit_w - common->limit_w) > 0.5;
    common->state = state.len ? state.at : common->state;
    common->mhz = state.len ? mhz : common->mhz;
    common->limit_w = isnan(limit_w) ? common->limit_w : limit_w;
}

static bool add_setting(const struct monitor *monitor, const char *name, const char *value,
                        const char *unit, struct err *err)
{
    struct row row = {.desc = &table_job_settings};
    row_text(&row, JOB_SETTINGS_FILE, monitor->file);
    row_word(&row, JOB_SETTINGS_NAME, name);
    row_word(&row, JOB_SETTINGS_VALUE, value);
    row_word(&row, JOB_SETTINGS_STANDARD, name);
    row_word(&row, JOB_SETTINGS_STANDARD_VALUE, value);
    row_word(&row, JOB_SETTINGS_UNIT, unit);
    return row_end(&row, monitor->report, err);
}

static bool add_settings(const struct monitor *monitor, struct err *err)
{
    struct common common = {.mhz = (double)NAN, .limit_w = (double)NAN};
    const struct table *rows = report_find(monitor->report, "monitors");
    char clocks[64], limit[32];
    for (size_t i = 0; rows && i < rows->row_count; i++)
        take_common(rows, i, &common);
    if (isnan(common.mhz))
        snprintf(clocks, sizeof clocks, "%s", common.state ? common.state : "");
    else
        snprintf(clocks, sizeof clocks, "pinned at %.0f MHz", common.mhz);
    snprintf(limit, sizeof limit, "%.0f", common.limit_w);
    bool clocks_known = common.state && !common.states_differ;
    bool limit_known = common.limit_w > 0 && !common.limits_differ;
    return (!clocks_known || add_setting(monitor, "gpu_clocks", clocks, NULL, err)) &&
           (!limit_known || add_setting(monitor, "gpu_power_limit", limit, "W", err));
}

// --- doubts -------------------------------------------------------------------------------------

static bool doubt_times(const struct monitor *monitor, struct err *err)
{
    const char *detail =
        arena_printf(monitor->report->arena, err,
                     "%.*s does not say when or how often it was sampled: a second between samples "
                     "is assumed",
                     (int)monitor->file.len, monitor->file.at);
    return detail && doubt_add(monitor->report,
                               &(struct doubt){.item = "monitor_without_times",
                                               .severity = "info",
                                               .count = (int64_t)monitor->set->rows,
                                               .detail = detail,
                                               .effect = "its duration and energy are unknown, and "
                                                         "curves may be stretched"},
                               err);
}

static bool doubt_rows(const struct monitor *monitor, struct err *err)
{
    const char *detail = arena_printf(monitor->report->arena, err,
                                      "%.*s has rows that could not be read, or are of too many "
                                      "devices",
                                      (int)monitor->file.len, monitor->file.at);
    return detail && doubt_add(monitor->report,
                               &(struct doubt){.item = "monitor_rows_left_out",
                                               .severity = "warning",
                                               .count = (int64_t)(monitor->set->bad_rows +
                                                                  monitor->set->lost_rows),
                                               .placed = monitor->set->bad_rows > 0,
                                               .position = (int64_t)monitor->set->bad_pos,
                                               .detail = detail,
                                               .effect = "figures of the GPUs leave them out"},
                               err);
}

// The GPUs of which the tool said in some row that they are lost or need a reset.
static bool doubt_failed(const struct monitor *monitor, struct err *err)
{
    int64_t gpus = 0, rows = 0;
    for (size_t i = 0; i < monitor->set->device_count; i++) {
        gpus += monitor->set->devices[i].failed_rows > 0;
        rows += monitor->set->devices[i].failed_rows;
    }
    if (gpus == 0)
        return true;
    const char *detail = arena_printf(
        monitor->report->arena, err, "%.*s shows %lld of %zu GPUs as lost, or as requiring a reset",
        (int)monitor->file.len, monitor->file.at, (long long)gpus, monitor->set->device_count);
    return detail &&
           doubt_add(monitor->report,
                     &(struct doubt){.item = "monitor_gpu_failed",
                                     .severity = "warning",
                                     .count = rows,
                                     .detail = detail,
                                     .effect = "there are no samples of them from then on"},
                     err);
}

static bool doubt_gaps(const struct monitor *monitor, struct err *err)
{
    const char *detail = arena_printf(
        monitor->report->arena, err,
        "%.*s has gaps of %.0f sampling periods or more, the longest of %.0f s",
        (int)monitor->file.len, monitor->file.at, MONITOR_LONG_GAP, monitor->longest_gap_ns / 1e9);
    return detail &&
           doubt_add(monitor->report,
                     &(struct doubt){.item = "monitor_gaps",
                                     .severity = "info",
                                     .count = monitor->gaps,
                                     .detail = detail,
                                     .effect = "energy leaves them out; the duration has them, and "
                                               "curves are drawn over them"},
                     err);
}

static bool doubt_nodes(const struct monitor *monitor, struct err *err)
{
    const char *detail = arena_printf(
        monitor->report->arena, err,
        "%.*s has a header after which the same times come again, as where files of %u nodes are "
        "joined",
        (int)monitor->file.len, monitor->file.at, monitor->set->joined_nodes);
    return detail &&
           doubt_add(monitor->report,
                     &(struct doubt){.item = "monitor_nodes_joined",
                                     .severity = "info",
                                     .count = monitor->set->joined_nodes,
                                     .detail = detail,
                                     .effect = "GPUs with the same number are those of different "
                                               "nodes, whose names are not known"},
                     err);
}

static bool add_doubts(const struct monitor *monitor, struct err *err)
{
    bool left_out = monitor->set->bad_rows || monitor->set->lost_rows;
    return (!monitor->set->period_ns || doubt_times(monitor, err)) &&
           (!monitor->gaps || doubt_gaps(monitor, err)) &&
           (!monitor->set->joined_nodes || doubt_nodes(monitor, err)) &&
           (!left_out || doubt_rows(monitor, err)) && doubt_failed(monitor, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool add_devices(struct monitor *monitor, struct err *err)
{
    size_t rows = rows_of_device(monitor);
    for (uint32_t i = 0; i < monitor->set->device_count; i++) {
        arena_init(&monitor->scratch, monitor->report->arena->budget);
        bool ok = add_device(monitor, i, err) && (!rows || add_series(monitor, i, rows, err));
        arena_free(&monitor->scratch);
        if (!ok)
            return false;
    }
    return true;
}

bool monitor_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                        struct err *err)
{
    struct monitor monitor = {
        .set = &evidence->samples, .tool = evidence->source, .file = file, .report = report};
    if (evidence->samples.device_count == 0)
        return true;
    return add_devices(&monitor, err) && monitor_samples_add(monitor.set, report, err) &&
           add_settings(&monitor, err) && add_doubts(&monitor, err);
}
