// SPDX-License-Identifier: Apache-2.0
// When the ranks' traces were recorded on a monitor's clock: by UTC, by the zone in which the
// monitor covers them, or by finding their busy intervals in the monitor's utilization.
#include "analysis/run/run_monitors_inner.h"

#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

#define MINUTE_NS    (60 * INT64_C(1000000000))
#define COVERS_SHARE 0.5 // of the window

// Offsets from UTC that some place on earth uses, in minutes, besides whole hours.
static const int16_t odd_zones[] = {-570, -210, -150, 210, 270, 330, 345,
                                    390,  525,  570,  630, 765, 825};
enum { ODD_ZONES = sizeof odd_zones / sizeof *odd_zones, FIRST_HOUR = -12, LAST_HOUR = 14 };
enum { ZONES = ODD_ZONES + LAST_HOUR - FIRST_HOUR + 1, MOST_PAIRS = 8 };

static int64_t zone_ns(size_t i)
{
    int64_t minutes = i < ODD_ZONES ? odd_zones[i] : ((int64_t)(i - ODD_ZONES) + FIRST_HOUR) * 60;
    return minutes * MINUTE_NS;
}

// Ranks whose traces have the same clock.
struct clock_group {
    const struct monitor_file *file;
    struct rank_time *ranks;
    size_t count;
    int64_t begin_ns, end_ns;  // of all windows
    int64_t first_ns, last_ns; // of the monitor's samples of their GPUs
};

static void span_group(struct clock_group *group)
{
    group->begin_ns = group->first_ns = INT64_MAX;
    group->end_ns = group->last_ns = INT64_MIN;
    for (size_t i = 0; i < group->count; i++) {
        const struct busy_profile *profile = &group->ranks[i].profile;
        const struct gpu_samples *gpu = &group->file->of_gpu[group->ranks[i].of->monitor];
        int64_t end_ns = profile->begin_ns + profile->window_ns;
        group->begin_ns = profile->begin_ns < group->begin_ns ? profile->begin_ns : group->begin_ns;
        group->end_ns = end_ns > group->end_ns ? end_ns : group->end_ns;
        if (gpu->count == 0)
            continue;
        int64_t first_ns = monitor_sample_ns(group->file, gpu->first);
        int64_t last_ns = monitor_sample_ns(group->file, gpu->first + gpu->count - 1);
        group->first_ns = first_ns < group->first_ns ? first_ns : group->first_ns;
        group->last_ns = last_ns > group->last_ns ? last_ns : group->last_ns;
    }
}

static bool covers(const struct clock_group *group, int64_t offset_ns)
{
    int64_t from_ns = group->first_ns + offset_ns, to_ns = group->last_ns + offset_ns;
    from_ns = from_ns > group->begin_ns ? from_ns : group->begin_ns;
    to_ns = to_ns < group->end_ns ? to_ns : group->end_ns;
    return to_ns > from_ns &&
           (double)(to_ns - from_ns) >= COVERS_SHARE * (double)(group->end_ns - group->begin_ns);
}

static void conclude(struct clock_group *group, const struct monitor_time *time)
{
    for (size_t i = 0; i < group->count; i++)
        group->ranks[i].time = *time;
}

// --- by utilization -----------------------------------------------------------------------------

static bool take_samples(const struct monitor_file *file, size_t monitor, struct busy_samples *out,
                         struct err *err)
{
    const struct gpu_samples *gpu = &file->of_gpu[monitor];
    int64_t *time_ns = arena_array(file->arena, gpu->count + 1, sizeof *time_ns, err);
    double *share = arena_array(file->arena, gpu->count + 1, sizeof *share, err);
    if (!time_ns || !share)
        return false;
    for (size_t i = 0; i < gpu->count; i++) {
        double value = table_f64(file->samples, gpu->first + i, MONITOR_SAMPLES_UTILIZATION, NAN);
        if (isnan(value))
            continue;
        time_ns[out->count] = monitor_sample_ns(file, gpu->first + i);
        share[out->count++] = value;
    }
    out->time_ns = time_ns;
    out->share = share;
    return true;
}

// A few ranks say as much as all, and cost less. A profile of several GPUs fits none of them.
// offsets_ns may be NULL.
static bool match(const struct clock_group *group, const int64_t *offsets_ns, size_t count,
                  struct busy_match *found, struct err *err)
{
    size_t pairs_count = group->count < MOST_PAIRS ? group->count : MOST_PAIRS, alone = 0;
    struct busy_pair *pairs = arena_array(group->file->arena, pairs_count, sizeof *pairs, err);
    int64_t period_ns =
        table_i64(group->file->monitors, group->ranks[0].of->monitor, MONITORS_PERIOD_NS, 0);
    *found = (struct busy_match){.r = NAN, .other_r = NAN};
    if (!pairs)
        return false;
    for (size_t i = 0; i < pairs_count; i++) {
        const struct rank_time *rank = &group->ranks[i * group->count / pairs_count];
        if (!rank->of->alone)
            continue;
        pairs[alone] = (struct busy_pair){.profile = rank->profile};
        if (!take_samples(group->file, rank->of->monitor, &pairs[alone++].samples, err))
            return false;
    }
    if (period_ns > 0 && alone)
        *found = busy_match_find(
            &(struct busy_search){pairs, alone, period_ns, offsets_ns, count, group->file->work});
    return true;
}

static const char *why_not_found(const struct busy_match *found)
{
    return found->tried ? "the busy intervals of the trace fit the utilization nowhere, or in "
                          "several places"
                        : "the clocks share no reference, and utilization has too few samples, too "
                          "many or too little change to find the trace in it";
}

static bool align_by_utilization(struct clock_group *group, struct err *err)
{
    struct busy_match found;
    if (!match(group, NULL, 0, &found, err))
        return false;
    struct monitor_time time = {.r = found.r, .other_r = found.other_r};
    if (found.unique) {
        time.aligned_by = "utilization";
        time.offset_ns = found.offset_ns;
    } else {
        time.doubt = group->ranks[0].of->alone ? why_not_found(&found)
                                               : "the clocks share no reference, and the trace has "
                                                 "one busy time for several GPUs";
    }
    conclude(group, &time);
    return true;
}

// --- by time of day -----------------------------------------------------------------------------

// How well an offset fits that is known otherwise.
static bool check(const struct clock_group *group, struct monitor_time *time, struct err *err)
{
    struct busy_match found;
    if (!match(group, &time->offset_ns, 1, &found, err))
        return false;
    time->r = found.r;
    return true;
}

static bool align_utc(struct clock_group *group, struct err *err)
{
    struct monitor_time time = {.aligned_by = "UTC", .r = NAN, .other_r = NAN};
    if (!covers(group, 0))
        time = (struct monitor_time){
            .doubt = "the monitor did not record while the trace did", .r = NAN, .other_r = NAN};
    else if (!check(group, &time, err))
        return false;
    conclude(group, &time);
    return true;
}

static bool align_zone(struct clock_group *group, struct err *err)
{
    int64_t offsets_ns[ZONES];
    size_t count = 0;
    struct busy_match found;
    struct monitor_time time = {.has_zone = true, .r = NAN, .other_r = NAN};
    for (size_t i = 0; i < ZONES; i++)
        if (covers(group, -zone_ns(i)))
            offsets_ns[count++] = -zone_ns(i);
    if (count == 0)
        time = (struct monitor_time){
            .doubt = "the monitor did not record while the trace did, whichever time zone its "
                     "local times are in",
            .r = NAN,
            .other_r = NAN};
    if (count > 1 && !match(group, offsets_ns, count, &found, err))
        return false;
    if (count == 1) {
        time.aligned_by = "zone";
        time.offset_ns = offsets_ns[0];
        if (!check(group, &time, err))
            return false;
    } else if (count > 1 && found.unique) {
        time.aligned_by = "zone by utilization";
        time.offset_ns = found.offset_ns;
    } else if (count > 1) {
        time = (struct monitor_time){
            .doubt = "the monitor's local times fit the trace in several zones, and utilization "
                     "does not tell which: record in UTC (TZ=UTC nvidia-smi ...)"};
    }
    if (count > 1) {
        time.r = found.r;
        time.other_r = found.other_r;
    }
    time.zone_ns = -time.offset_ns;
    conclude(group, &time);
    return true;
}

// --- all ranks ----------------------------------------------------------------------------------

static bool align_group(struct clock_group *group, struct err *err)
{
    const struct table *monitors = group->file->monitors;
    size_t monitor = group->ranks[0].of->monitor;
    span_group(group);
    if (group->first_ns >= group->last_ns) {
        conclude(group, &(struct monitor_time){
                            .doubt = "the monitor recorded a single moment, or none of its times "
                                     "can be read",
                            .r = NAN,
                            .other_r = NAN});
        return true;
    }
    bool local = table_is(monitors, monitor, MONITORS_CLOCK, STR("local"));
    bool utc = table_is(monitors, monitor, MONITORS_CLOCK, STR("UTC"));
    if (group->ranks[0].unix_time && utc)
        return align_utc(group, err);
    if (group->ranks[0].unix_time && local)
        return align_zone(group, err);
    return align_by_utilization(group, err);
}

// Those with Unix times come first.
static int by_clock(const void *left, const void *right)
{
    const struct rank_time *a = left, *b = right;
    if (a->unix_time != b->unix_time)
        return a->unix_time ? -1 : 1;
    return (a->of > b->of) - (a->of < b->of);
}

bool monitor_align(const struct monitor_file *file, struct rank_time *ranks, size_t count,
                   struct err *err)
{
    size_t common = 0;
    if (count)
        qsort(ranks, count, sizeof *ranks, by_clock);
    while (common < count && ranks[common].unix_time)
        common++;
    struct clock_group group = {.file = file, .ranks = ranks, .count = common};
    bool ok = common == 0 || align_group(&group, err);
    for (size_t i = common; ok && i < count; i++) {
        group.ranks = &ranks[i];
        group.count = 1;
        ok = align_group(&group, err);
    }
    return ok;
}
