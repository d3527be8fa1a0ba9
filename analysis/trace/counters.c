// SPDX-License-Identifier: Apache-2.0
// Counters that the profiler sampled alongside the events: of the device's units, or of the host.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/trace/counter_steps.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#include <inttypes.h>
#include <stdio.h>

// Real recordings have a few; a damaged file may have any number.
#define MOST_COUNTERS  512u
#define MOST_STEP_ROWS 100000u
#define MOST_POINTS    100000u // of all counters
#define POINTS         1000u   // of each
#define KEPT           4       // per piece: first, minimum, maximum and last

struct counting {
    const struct facts *facts;
    const struct counter *counter;
    struct report *report;
    struct counter_reader reader;
    char device[32], name[192];
    int64_t origin_ns;
    uint32_t pieces;
    uint32_t step_rows; // that may still be added
};

// --- names ---------------------------------------------------------------------------------------

// "GPU 3 Counters" belongs to device 3.
static bool device_of_text(struct str text, char device[32])
{
    int64_t number;
    if (!str_starts_with(text, STR("GPU ")))
        return false;
    size_t digits = str_digits_end(text, 4);
    if (!str_to_i64((struct str){text.at + 4, digits - 4}, &number))
        return false;
    snprintf(device, 32, "%" PRId64, number);
    return true;
}

// By the process, its name or the counter's own; a numeric process if it is a device.
static void find_device(struct counting *counting)
{
    const struct trace *trace = counting->facts->trace;
    const struct counter *counter = counting->counter;
    counting->device[0] = '\0';
    if (device_of_text(trace_text(trace, counter->pid_text), counting->device) ||
        device_of_text(trace_text(trace, counter->process), counting->device) ||
        device_of_text(trace_text(trace, counter->name), counting->device) || counter->pid_text)
        return;
    for (uint32_t g = 0; g < counting->facts->gpu_count; g++)
        if (!counting->facts->gpus[g].text && counting->facts->gpus[g].number == counter->pid)
            snprintf(counting->device, sizeof counting->device, "%" PRId64, counter->pid);
}

static void find_name(struct counting *counting)
{
    const struct trace *trace = counting->facts->trace;
    struct str name = facts_short_name(trace, counting->counter->name);
    struct str key = facts_short_name(trace, counting->counter->key);
    bool named = key.len == 0 || str_equal(key, name) || str_equal(key, STR("value"));
    snprintf(counting->name, sizeof counting->name, "%.*s%s%.*s", (int)name.len, name.at,
             named ? "" : ": ", named ? 0 : (int)key.len, key.at);
}

static void begin_row(const struct counting *counting, struct row *row, unsigned column)
{
    row_text(row, column + COUNTER_NAME_DEVICE, str_of(counting->device));
    row_text(row, column + COUNTER_NAME_COUNTER, str_of(counting->name));
}

// --- rows ----------------------------------------------------------------------------------------

// The columns mean, min and max.
static void end_mean(struct row *row, unsigned column, const struct counter_mean *mean)
{
    bool known = mean->covered_ns > 0;
    row_f64_if(row, column, known, counter_mean_value(mean));
    row_f64_if(row, column + 1, known, mean->least);
    row_f64_if(row, column + 2, known, mean->most);
}

static bool add_step(struct counting *counting, uint32_t s, const struct counter_mean *mean,
                     struct err *err)
{
    const struct facts *facts = counting->facts;
    const struct step *step = &facts->steps[s];
    struct row row = {.desc = &table_counter_steps};
    if (counting->step_rows == 0)
        return true;
    counting->step_rows--;
    begin_row(counting, &row, COUNTER_STEPS_COUNTER_NAME);
    row_i64(&row, COUNTER_STEPS_STEP, step->number);
    row_bool(&row, COUNTER_STEPS_STEADY, step->steady);
    end_mean(&row, COUNTER_STEPS_MEAN, mean);
    row_i64(&row, COUNTER_STEPS_COVERED_NS, mean->covered_ns);
    row_i64(&row, COUNTER_STEPS_BUSY_NS, parts_busy_ns(&facts->step_parts[s]));
    row_i64(&row, COUNTER_STEPS_STEP_NS, step->end_ns - step->begin_ns);
    return row_end(&row, counting->report, err);
}

static void join(struct counter_mean *all, const struct counter_mean *one)
{
    if (one->covered_ns == 0)
        return;
    bool first = all->covered_ns == 0;
    all->least = first || one->least < all->least ? one->least : all->least;
    all->most = first || one->most > all->most ? one->most : all->most;
    all->weighted += one->weighted;
    all->covered_ns += one->covered_ns;
}

static bool add_means(struct counting *counting, struct err *err)
{
    const struct facts *facts = counting->facts;
    const struct counter *counter = counting->counter;
    struct counter_mean steady = {0};
    int64_t steady_ns = 0;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        const struct step *step = &facts->steps[s];
        struct counter_mean mean = {0};
        counter_mean_add(&counting->reader, step, &mean);
        if (step->steady) {
            join(&steady, &mean);
            steady_ns += step->end_ns - step->begin_ns;
        }
        if (!add_step(counting, s, &mean, err))
            return false;
    }
    char process[32];
    struct label pid = {counter->pid, counter->process ? counter->process : counter->pid_text};
    struct row row = {.desc = &table_counters};
    begin_row(counting, &row, COUNTERS_COUNTER_NAME);
    row_word(&row, COUNTERS_UNIT, counter_unit(str_of(counting->name)));
    row_i64(&row, COUNTERS_SAMPLES, counter->count);
    row_i64_if(&row, COUNTERS_SPACING_NS, counting->reader.pace.median_ns > 0,
               counting->reader.pace.median_ns);
    row_bool(&row, COUNTERS_SAMPLED, counting->reader.pace.sampled);
    end_mean(&row, COUNTERS_MEAN, &steady);
    row_share(&row, COUNTERS_COVERED_SHARE, steady.covered_ns, steady_ns);
    row_text(&row, COUNTERS_PROCESS, facts_label(facts->trace, pid, process));
    return row_end(&row, counting->report, err);
}

// --- the series ----------------------------------------------------------------------------------

static bool add_point(const struct counting *counting, uint32_t sample, struct err *err)
{
    const struct counter_sample *at = &counting->facts->trace->counter_samples[sample];
    struct row row = {.desc = &table_counter_series};
    begin_row(counting, &row, COUNTER_SERIES_COUNTER_NAME);
    row_i64(&row, COUNTER_SERIES_TIME_NS, at->time_ns - counting->origin_ns);
    row_f64(&row, COUNTER_SERIES_VALUE, at->value);
    return row_end(&row, counting->report, err);
}

// Adds, of samples first .. end - 1, the first, the last, and the first minimum and maximum.
static bool add_piece(const struct counting *counting, uint32_t first, uint32_t end,
                      struct err *err)
{
    const struct counter_sample *samples = counting->facts->trace->counter_samples;
    uint32_t least = first, most = first;
    for (uint32_t i = first + 1; i < end; i++) {
        least = samples[i].value < samples[least].value ? i : least;
        most = samples[i].value > samples[most].value ? i : most;
    }
    uint32_t low = least < most ? least : most, high = least < most ? most : least;
    const uint32_t kept[KEPT] = {first, low, high, end - 1};
    for (unsigned i = 0; i < KEPT; i++)
        if ((i == 0 || kept[i] != kept[i - 1]) && !add_point(counting, kept[i], err))
            return false;
    return true;
}

static bool add_series(const struct counting *counting, struct err *err)
{
    uint32_t first = counting->counter->first, count = counting->counter->count;
    uint32_t pieces = count <= counting->pieces * KEPT ? count : counting->pieces;
    for (uint32_t p = 0; p < pieces; p++) {
        uint32_t begin = (uint32_t)((uint64_t)count * p / pieces);
        uint32_t end = (uint32_t)((uint64_t)count * (p + 1) / pieces);
        if (!add_piece(counting, first + begin, first + end, err))
            return false;
    }
    return true;
}

static uint32_t most_samples(const struct trace *trace)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < trace->counter_count; i++)
        most = trace->counters[i].count > most ? trace->counters[i].count : most;
    return most;
}

static bool add_all(const struct facts *facts, struct arena *arena, struct report *report,
                    struct err *err)
{
    const struct trace *trace = facts->trace;
    uint32_t count = trace->counter_count < MOST_COUNTERS ? trace->counter_count : MOST_COUNTERS;
    int64_t *scratch = arena_array(arena, 2 * (size_t)most_samples(trace), sizeof *scratch, err);
    if (!scratch)
        return false;
    uint32_t points = MOST_POINTS / count < POINTS ? MOST_POINTS / count : POINTS;
    struct counting counting = {
        .facts = facts,
        .report = report,
        .pieces = points / KEPT,
        .step_rows = MOST_STEP_ROWS,
        .origin_ns = facts->device_count ? facts->begin_ns : trace->counter_samples[0].time_ns};
    for (uint32_t i = 0; i < count; i++) {
        counting.counter = &trace->counters[i];
        counting.reader = counter_read(trace, counting.counter, scratch);
        find_device(&counting);
        find_name(&counting);
        if (!add_means(&counting, err) || !add_series(&counting, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    if (facts->trace->counter_count == 0)
        return true;
    return add_all(facts, arena, report, err);
}

const struct analysis counters_analysis = {"counters", run};
