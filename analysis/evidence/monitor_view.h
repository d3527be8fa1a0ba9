// SPDX-License-Identifier: Apache-2.0
// The series of a monitor's GPU in the form that figures need, whichever tool recorded them.
#ifndef ANALYSIS_EVIDENCE_MONITOR_VIEW_H
#define ANALYSIS_EVIDENCE_MONITOR_VIEW_H

#include "ingest/evidence/evidence.h"

#define MONITOR_BUSY_FROM 50.0 // percent
#define MONITOR_LONG_GAP  5.0  // sampling periods; over gaps as long nothing was recorded
// Of the time of a sample: with less throttling it shows the clock without.
#define MONITOR_THROTTLED_FROM 0.05

// NULL: the GPU has none.
struct monitor_gpu {
    const struct sample_device *at;
    const struct sample_series *utilization, *power, *energy, *clock, *rated, *temperature, *memory;
    const struct sample_series *throttle;      // bits: how much, where there are no shares
    const struct sample_series *violations[2]; // shares of the time: power, heat
    const struct sample_series *violated_s[2]; // the same as sums since some start
};

struct monitor_gpu monitor_gpu_of(const struct sample_set *set, uint32_t index);

// The first of those metrics with a sample; NULL without one.
const struct sample_series *monitor_first_of(const struct sample_set *set, uint32_t device,
                                             const enum sample_metric *metrics, size_t count);
#define MONITOR_FIRST_OF(set, device, ...)                                       \
    monitor_first_of((set), (device), (const enum sample_metric[]){__VA_ARGS__}, \
                     sizeof(const enum sample_metric[]){__VA_ARGS__} / sizeof(enum sample_metric))

// The value of a series at that time or the last before it; NAN without one.
double monitor_value_at(const struct sample_series *series, int64_t time_ns);

// How much of the time the clock was throttled then: by the violations, else 0 or 1 by the bits.
// NAN if neither is known.
double monitor_throttled_at(const struct monitor_gpu *gpu, int64_t time_ns);
// Whether the GPU was busy then, and its clock not throttled as far as is known.
bool monitor_is_free(const struct monitor_gpu *gpu, int64_t time_ns);

// Idling, a display and clocks that someone set do not count as throttling.
enum { MONITOR_REASONS = 6 };
bool monitor_is_throttled(double bits);
void monitor_count_reasons(double bits, size_t counts[MONITOR_REASONS]);
const char *monitor_main_reason(const size_t counts[MONITOR_REASONS]); // NULL without any

// Whether the clock of a busy GPU is pinned.
struct monitor_clock {
    const char *state; // "pinned", "highest", "constant", "varying"; NULL unknown
    double mhz;        // that it is pinned to, else NAN
};
MUST_CHECK bool monitor_clock_of(const struct monitor_gpu *gpu, struct arena *scratch,
                                 struct monitor_clock *clock, struct err *err);

#endif
