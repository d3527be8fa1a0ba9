// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/monitor_samples.h"

#include "analysis/evidence/monitor_view.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#include <math.h>

enum { MOST_ROWS = 200000 };

enum kind {
    UTILIZATION,
    POWER,
    ENERGY,
    CLOCK,
    TEMPERATURE,
    MEMORY,
    THROTTLE,
    POWER_VIOLATION,
    HEAT_VIOLATION,
    POWER_TIME,
    HEAT_TIME,
    FIGURES
};

// The series of one GPU, walked together.
struct walk {
    const struct sample_series *series[FIGURES]; // NULL: none
    size_t next[FIGURES];
    double energy;           // the last, NAN without one
    struct sample before[2]; // the last violation times, NAN without one
};

// All that is known of one moment, NAN where nothing is.
struct moment {
    int64_t time_ns;
    double values[FIGURES];
    bool old; // a sample that came again
};

static struct walk walk_of(const struct sample_set *set, uint32_t index)
{
    struct monitor_gpu gpu = monitor_gpu_of(set, index);
    return (struct walk){
        .series = {[UTILIZATION] = gpu.utilization,
                   [POWER] = gpu.power,
                   [ENERGY] = gpu.energy,
                   [CLOCK] = gpu.clock,
                   [TEMPERATURE] = gpu.temperature,
                   [MEMORY] = gpu.memory,
                   [THROTTLE] = gpu.throttle,
                   [POWER_VIOLATION] = gpu.violations[0],
                   [HEAT_VIOLATION] = gpu.violations[1],
                   [POWER_TIME] = gpu.violated_s[0],
                   [HEAT_TIME] = gpu.violated_s[1]},
        .energy = NAN,
        .before = {{0, NAN}, {0, NAN}},
    };
}

// A GPU always uses energy: a sum that is the same again is an old sample, which an exporter gave
// once more, and sums beside it do not say what came since.
static void drop_old(struct walk *walk, struct moment *moment)
{
    double energy = moment->values[ENERGY];
    moment->old = energy == walk->energy;
    walk->energy = isnan(energy) ? walk->energy : energy;
    moment->values[ENERGY] = moment->old ? NAN : energy;
}

static bool next_moment(struct walk *walk, struct moment *moment)
{
    bool any = false;
    for (unsigned i = 0; i < FIGURES; i++) {
        const struct sample_series *series = walk->series[i];
        if (!series || walk->next[i] == series->count)
            continue;
        int64_t time_ns = series->at[walk->next[i]].time_ns;
        if (!any || time_ns < moment->time_ns)
            moment->time_ns = time_ns;
        any = true;
    }
    for (unsigned i = 0; any && i < FIGURES; i++) {
        const struct sample_series *series = walk->series[i];
        bool has = series && walk->next[i] < series->count &&
                   series->at[walk->next[i]].time_ns == moment->time_ns;
        moment->values[i] = has ? series->at[walk->next[i]++].value : NAN;
    }
    if (any)
        drop_old(walk, moment);
    return any;
}

// --- how much of the time the clock was throttled -----------------------------------------------

struct held {
    double share; // NAN unknown
    unsigned bits;
};

// A sum of seconds that grew since it was last known.
static double grown_share(struct walk *walk, const struct moment *moment, unsigned which)
{
    double now = moment->values[POWER_TIME + which];
    struct sample before = walk->before[which];
    if (isnan(now) || moment->old)
        return NAN;
    double span_s = ((double)moment->time_ns - (double)before.time_ns) / 1e9;
    walk->before[which] = (struct sample){moment->time_ns, now};
    return now >= before.value && span_s > 0 ? fmin((now - before.value) / span_s, 1) : NAN;
}

static struct held held_at(struct walk *walk, const struct moment *moment)
{
    static const unsigned bits[2] = {SAMPLE_THROTTLE_POWER, SAMPLE_THROTTLE_HEAT};
    double reasons = moment->values[THROTTLE];
    bool whole = reasons >= 0 && reasons < 4294967296.0, measured = false;
    struct held held = {NAN, 0};
    for (unsigned i = 0; i < 2; i++) {
        double percent = moment->values[POWER_VIOLATION + i];
        double grown = grown_share(walk, moment, i);
        bool is_share = percent >= 0 && percent <= 100;
        double share = is_share ? percent / 100 : grown;
        measured = measured || is_share;
        held.bits |= share > 0 ? bits[i] : 0;
        held.share = fmax(held.share, share);
    }
    if (isnan(reasons))
        return held;
    double share = measured ? held.share : monitor_is_throttled(reasons);
    return (struct held){share, whole ? (unsigned)reasons : 0};
}

// --- rows ---------------------------------------------------------------------------------------

// Moments of one piece of the time.
struct piece {
    size_t moments;
    double since_ns; // sum of their times since the first
    int64_t first_ns;
    double sums[MEMORY + 1], share;
    size_t counts[MEMORY + 1], shares;
    unsigned bits;
};

static void take(struct piece *piece, const struct moment *moment, struct held held)
{
    if (piece->moments++ == 0)
        piece->first_ns = moment->time_ns;
    piece->since_ns += (double)moment->time_ns - (double)piece->first_ns;
    for (unsigned i = 0; i <= MEMORY; i++) {
        bool known = !isnan(moment->values[i]);
        piece->sums[i] += known ? moment->values[i] : 0;
        piece->counts[i] += known;
    }
    piece->share += isnan(held.share) ? 0 : held.share;
    piece->shares += !isnan(held.share);
    piece->bits |= held.bits;
}

static bool end_piece(struct piece *piece, uint32_t device, struct report *report, struct err *err)
{
    static const unsigned columns[MEMORY + 1] = {
        MONITOR_SAMPLES_UTILIZATION, MONITOR_SAMPLES_POWER_W,       MONITOR_SAMPLES_ENERGY_J,
        MONITOR_SAMPLES_CLOCK_MHZ,   MONITOR_SAMPLES_TEMPERATURE_C, MONITOR_SAMPLES_MEMORY_BYTES};
    struct row row = {.desc = &table_monitor_samples};
    if (piece->moments == 0)
        return true;
    row_i64(&row, MONITOR_SAMPLES_DEVICE, device);
    row_i64(&row, MONITOR_SAMPLES_TIME_NS,
            piece->first_ns + (int64_t)(piece->since_ns / (double)piece->moments));
    for (unsigned i = 0; i <= MEMORY; i++) {
        double mean = piece->sums[i] / (i == UTILIZATION ? 100 : 1) / (double)piece->counts[i];
        bool known = piece->counts[i] && isfinite(mean);
        row_f64_if(&row, columns[i], known, known ? mean : 0);
    }
    row_f64_if(&row, MONITOR_SAMPLES_THROTTLED_SHARE, piece->shares,
               piece->shares ? piece->share / (double)piece->shares : 0);
    row_i64_if(&row, MONITOR_SAMPLES_THROTTLE_BITS, piece->bits, piece->bits);
    *piece = (struct piece){0};
    return row_end(&row, report, err);
}

static size_t count_moments(struct walk walk)
{
    struct moment moment;
    size_t count = 0;
    while (next_moment(&walk, &moment))
        count++;
    return count;
}

static bool add_device(const struct sample_set *set, uint32_t device, size_t most,
                       struct report *report, struct err *err)
{
    struct walk walk = walk_of(set, device);
    struct moment moment;
    struct piece piece = {0};
    size_t count = count_moments(walk), of_piece = (count + most - 1) / most;
    while (next_moment(&walk, &moment)) {
        take(&piece, &moment, held_at(&walk, &moment));
        if (piece.moments >= of_piece && !end_piece(&piece, device, report, err))
            return false;
    }
    return end_piece(&piece, device, report, err);
}

// At once: a table that grows would take twice the memory.
static bool make_room(const struct sample_set *set, size_t most, struct report *report,
                      struct err *err)
{
    size_t rows = 0;
    for (uint32_t i = 0; i < set->device_count; i++) {
        size_t count = count_moments(walk_of(set, i));
        rows += count < most ? count : most;
    }
    return rows == 0 || report_room(report, &table_monitor_samples, rows, err);
}

bool monitor_samples_add(const struct sample_set *set, struct report *report, struct err *err)
{
    size_t most = set->device_count ? MOST_ROWS / set->device_count : 0;
    most = most ? most : 1;
    if (set->clock == SAMPLE_NO_CLOCK || set->device_count == 0)
        return true;
    if (!make_room(set, most, report, err))
        return false;
    for (uint32_t i = 0; i < set->device_count; i++)
        if (!add_device(set, i, most, report, err))
            return false;
    return true;
}
