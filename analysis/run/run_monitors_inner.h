// SPDX-License-Identifier: Apache-2.0
// Between the files of run_monitors.h.
#ifndef ANALYSIS_RUN_MONITORS_INNER_H
#define ANALYSIS_RUN_MONITORS_INNER_H

#include "analysis/run/run_monitors.h"
#include "analysis/stats/busy_match.h"

#define MONITOR_NONE SIZE_MAX

// A device of a rank, as its trace describes it.
struct rank_device {
    size_t rank; // index in the run
    struct str device, uuid, bus_id, node;
    int64_t gpu;      // index on the host, -1 unknown
    struct str basis; // what says so
    bool alone;       // the only device of its rank
    const char *joined_by;
    const char *doubt;
    size_t monitor; // row of the file's monitors, MONITOR_NONE without one
};

// The samples of one GPU within the file's table.
struct gpu_samples {
    size_t first, count; // rows
};

// One monitor's file.
struct monitor_file {
    struct str name;
    const struct table *monitors, *samples; // samples: NULL without any
    struct gpu_samples *of_gpu;             // per row of monitors
    struct arena *arena;                    // until the next file
    double *work;                           // left for finding traces in utilization
};

// How times of a rank's trace follow from those of the monitor.
struct monitor_time {
    const char *aligned_by; // NULL: they do not
    const char *doubt;
    int64_t offset_ns;
    bool has_zone;
    int64_t zone_ns;
    double r, other_r; // NAN unknown
};

// What a rank's trace says about its time.
struct rank_time {
    const struct rank_device *of;
    struct busy_profile profile; // begin on the trace's clock
    bool unix_time;
    struct monitor_time time;
};

// Finds the GPU of each device in the file, or says why there is none.
void monitor_join(const struct monitor_file *file, struct rank_device *devices, size_t count);

// Aligns the times of those ranks, whose devices are joined.
MUST_CHECK bool monitor_align(const struct monitor_file *file, struct rank_time *ranks,
                              size_t count, struct err *err);

// Adds the row and the series of one rank.
MUST_CHECK bool monitor_add_rank(const struct run *run, const struct monitor_file *file,
                                 const struct rank_time *rank, const struct report *own,
                                 struct err *err);

// Time of a row of the samples on the monitor's clock.
static inline int64_t monitor_sample_ns(const struct monitor_file *file, size_t row)
{
    return file->samples->cells[row * file->samples->desc->column_count + 1].i;
}

#endif
