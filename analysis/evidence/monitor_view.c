// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/monitor_view.h"

#include "analysis/stats/ordered.h"
#include "analysis/stats/stats.h"

#include <math.h>

// --- series -------------------------------------------------------------------------------------

const struct sample_series *monitor_first_of(const struct sample_set *set, uint32_t device,
                                             const enum sample_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sample_series *series = samples_of(set, device, metrics[i]);
        if (series && series->count) // a column may hold nothing but "N/A"
            return series;
    }
    return NULL;
}

struct monitor_gpu monitor_gpu_of(const struct sample_set *set, uint32_t index)
{
    return (struct monitor_gpu){
        .at = &set->devices[index],
        .utilization = MONITOR_FIRST_OF(set, index, SAMPLE_UTILIZATION, SAMPLE_ENGINE_ACTIVITY),
        .power = MONITOR_FIRST_OF(set, index, SAMPLE_POWER, SAMPLE_POWER_INSTANT),
        .energy = MONITOR_FIRST_OF(set, index, SAMPLE_ENERGY),
        .clock = MONITOR_FIRST_OF(set, index, SAMPLE_SM_CLOCK, SAMPLE_GRAPHICS_CLOCK),
        .rated = MONITOR_FIRST_OF(set, index, SAMPLE_SM_CLOCK_MAX, SAMPLE_GRAPHICS_CLOCK_MAX),
        .temperature = MONITOR_FIRST_OF(set, index, SAMPLE_TEMPERATURE, SAMPLE_HOTSPOT_TEMPERATURE),
        .memory = MONITOR_FIRST_OF(set, index, SAMPLE_MEMORY_USED),
        .throttle = MONITOR_FIRST_OF(set, index, SAMPLE_THROTTLE_REASONS),
        .violations = {MONITOR_FIRST_OF(set, index, SAMPLE_POWER_VIOLATION),
                       MONITOR_FIRST_OF(set, index, SAMPLE_THERMAL_VIOLATION)},
        .violated_s = {MONITOR_FIRST_OF(set, index, SAMPLE_POWER_VIOLATION_TIME),
                       MONITOR_FIRST_OF(set, index, SAMPLE_THERMAL_VIOLATION_TIME)},
    };
}

double monitor_value_at(const struct sample_series *series, int64_t time_ns)
{
    size_t low = 0, high = series ? series->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->at[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? series->at[low - 1].value : (double)NAN;
}

// --- reasons ------------------------------------------------------------------------------------

static const struct {
    unsigned bit;
    const char *word;
} reasons[MONITOR_REASONS] = {{SAMPLE_THROTTLE_POWER, "power cap"},
                              {SAMPLE_THROTTLE_HEAT, "heat"},
                              {SAMPLE_THROTTLE_HARDWARE_HEAT, "heat (hardware)"},
                              {SAMPLE_THROTTLE_POWER_BRAKE, "power brake"},
                              {SAMPLE_THROTTLE_SYNC, "sync boost"},
                              {SAMPLE_THROTTLE_HARDWARE, "hardware slowdown"}};

static bool has_reason(double bits, size_t reason)
{
    return bits >= 0 && bits < 4294967296.0 && ((uint64_t)bits & reasons[reason].bit);
}

bool monitor_is_throttled(double bits)
{
    for (size_t i = 0; i < MONITOR_REASONS; i++)
        if (has_reason(bits, i))
            return true;
    return false;
}

void monitor_count_reasons(double bits, size_t counts[MONITOR_REASONS])
{
    for (size_t i = 0; i < MONITOR_REASONS; i++)
        counts[i] += has_reason(bits, i);
}

// Of equally frequent ones the first.
const char *monitor_main_reason(const size_t counts[MONITOR_REASONS])
{
    size_t most = 0;
    for (size_t i = 1; i < MONITOR_REASONS; i++)
        most = counts[i] > counts[most] ? i : most;
    return counts[most] ? reasons[most].word : NULL;
}

// --- the clock ----------------------------------------------------------------------------------

enum { FEWEST_BUSY = 10 }; // fewest samples, with a busy GPU, that show its clock
#define SAME_MHZ   8.0     // half of the steps in which clocks are set
#define SAME_SHARE 0.95    // of those samples have the usual clock
#define SET_SHARE  0.5     // of those samples say that someone set the clock

double monitor_throttled_at(const struct monitor_gpu *gpu, int64_t time_ns)
{
    double percent = fmax(monitor_value_at(gpu->violations[0], time_ns),
                          monitor_value_at(gpu->violations[1], time_ns));
    double bits = monitor_value_at(gpu->throttle, time_ns);
    if (percent >= 0 && percent <= 100)
        return percent / 100;
    return isnan(bits) ? (double)NAN : monitor_is_throttled(bits);
}

bool monitor_is_free(const struct monitor_gpu *gpu, int64_t time_ns)
{
    return monitor_value_at(gpu->utilization, time_ns) >= MONITOR_BUSY_FROM &&
           !(monitor_throttled_at(gpu, time_ns) >= MONITOR_THROTTLED_FROM);
}

static bool is_set(const struct monitor_gpu *gpu, int64_t time_ns)
{
    double bits = monitor_value_at(gpu->throttle, time_ns);
    return bits >= 0 && bits < 4294967296.0 && ((uint64_t)bits & SAMPLE_THROTTLE_SETTING);
}

static double rated_of(const struct monitor_gpu *gpu)
{
    double most = NAN;
    for (size_t i = 0; gpu->rated && i < gpu->rated->count; i++)
        most = fmax(most, gpu->rated->at[i].value);
    return most;
}

static const char *state_of(double usual, double rated, bool set)
{
    if (usual >= rated - SAME_MHZ)
        return "highest";
    return set || usual < rated ? "pinned" : "constant"; // neither if NAN
}

bool monitor_clock_of(const struct monitor_gpu *gpu, struct arena *scratch,
                      struct monitor_clock *clock, struct err *err)
{
    size_t cap = gpu->clock ? gpu->clock->count : 0, count = 0, same = 0, set = 0;
    int64_t *values = arena_array(scratch, cap + 1, sizeof *values, err);
    int64_t *spare = arena_array(scratch, cap + 1, sizeof *spare, err);
    *clock = (struct monitor_clock){NULL, NAN};
    if (!values || !spare)
        return false;
    for (size_t i = 0; i < cap; i++) {
        const struct sample *sample = &gpu->clock->at[i];
        if (!monitor_is_free(gpu, sample->time_ns))
            continue;
        values[count++] = ordered_of(sample->value);
        set += is_set(gpu, sample->time_ns);
    }
    if (count < FEWEST_BUSY)
        return true;
    double usual = ordered_double(stats_quantiles(values, spare, count).median);
    for (size_t i = 0; i < count; i++)
        same += fabs(ordered_double(values[i]) - usual) <= SAME_MHZ;
    bool constant = (double)same >= SAME_SHARE * (double)count;
    clock->state = constant
                       ? state_of(usual, rated_of(gpu), (double)set > SET_SHARE * (double)count)
                       : "varying";
    if (strcmp(clock->state, "pinned") == 0)
        clock->mhz = usual;
    return true;
}
