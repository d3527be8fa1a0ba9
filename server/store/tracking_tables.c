// SPDX-License-Identifier: Apache-2.0
// The tables of runs over time as the API shows them.
#include "server/store/tracking_tables.h"

#include "analysis/report/table_columns.h"

static const struct column columns_baselines[] = {
    TEXT("name", "Name of the baseline: @baseline:name works wherever a run is expected."),
    TEXT("run", "Identifier of the run it is pinned to."),
    TEXT("run_name", "Name of that run."),
    TEXT("project", "Project of that run."),
    I64("step_median_ns", "ns", "Its median steady step; empty until analyzed."),
    TEXT("set", "When it was pinned, UTC, RFC 3339."),
};

static const struct column columns_series[] = {
    TEXT("project", "Project."),
    TEXT("series", "Name up to '@' that its runs share."),
    I64("runs", "count", "Runs of the series."),
    I64("points", "count", "Runs with a step time among the newest 500."),
    TEXT("first", "When its oldest run was created, UTC, RFC 3339."),
    TEXT("last", "When its newest run was created, UTC, RFC 3339."),
    TEXT("last_run", "Identifier of the newest run with a step time; empty without one."),
    I64("step_median_ns", "ns", "Median steady step of that run."),
    F64("change_share", "share",
        "Change of that step from the median of up to 8 earlier runs on as many ranks of the same "
        "GPU: 0.02 is 2 % slower."),
    I64("open_alerts", "count", "Alerts that are new or acknowledged."),
};

static const struct column columns_series_points[] = {
    TEXT("run", "Identifier of the run."),
    TEXT("name", "Name of the run."),
    TEXT("created", "When it was created, UTC, RFC 3339; the order of the rows."),
    TEXT("commit", "Code version, from its metadata."),
    I64("step_median_ns", "ns", "Median steady step."),
    I64("step_ci_low_ns", "ns", "Lower bound of the 95 % confidence interval of the median."),
    I64("step_ci_high_ns", "ns", "Upper bound of the same interval."),
    I64("gemm_ns", "ns", "Time per step in matrix products."),
    I64("attention_ns", "ns", "Time per step in attention kernels."),
    I64("other_compute_ns", "ns", "Time per step in all other compute kernels."),
    I64("exposed_comm_ns", "ns", "Time per step in which only communication ran."),
    I64("exposed_memory_ns", "ns", "Time per step in which only copies ran."),
    I64("idle_host_wait_ns", "ns", "Idle time per step caused by the host."),
    I64("idle_other_ns", "ns", "All other idle time per step."),
    I64("unrecorded_ns", "ns", "Time per step of work missing from the recording."),
    TEXT("gpu", "Name of the device; only runs on the same device are compared."),
    I64("ranks", "count", "Ranks of the run; only runs with as many ranks are compared."),
    BOOLEAN("outlier",
            "True when it differs from its neighbours in the series by more than usual."),
};

static const struct column columns_series_changes[] = {
    TEXT("run", "Identifier of the first run of the new level."),
    TEXT("run_name", "Name of that run."),
    TEXT("created", "When it was created, UTC, RFC 3339."),
    TEXT("previous_run", "The previous run; empty when it was deleted."),
    TEXT("reason",
         "step_time: the step became faster or slower; gpu, ranks: first run on that hardware."),
    I64("before_ns", "ns", "Median step of the previous level."),
    I64("after_ns", "ns", "Median step of the new level."),
    F64("change_share", "share", "Change from the previous level: 0.02 is 2 % slower."),
    F64("p_value", "", "Mann-Whitney p-value of the two levels; empty for other hardware."),
};

static const struct column columns_alerts[] = {
    TEXT("id", "Identifier."),
    TEXT("project", "Project."),
    TEXT("series", "Series of the run."),
    TEXT("run", "The first run that is faster or slower."),
    TEXT("run_name", "Name of that run."),
    TEXT("previous_run", "The previous run; empty when it was deleted."),
    I64("before_ns", "ns", "Median step of the previous runs."),
    I64("after_ns", "ns", "Step of the run, or median of the new level."),
    F64("change_share", "share", "Change from before to after: 0.02 is 2 % slower."),
    TEXT("kind", "outlier: one run that differs by more than usual; change: a new level."),
    TEXT("status", "new, acknowledged, expected (a new level starts), noise (such a difference is "
                   "usual) or fixed (the step is back)."),
    TEXT("comment", "Comment of a user."),
    TEXT("created", "When it was raised, UTC, RFC 3339."),
    TEXT("updated", "Last change, UTC, RFC 3339."),
};

const struct table_desc table_baselines =
    TABLE("baselines", baselines, "Runs that others are compared with, by name.");
const struct table_desc table_series =
    TABLE("series", series, "Runs of one measurement over time, newest first.");
const struct table_desc table_series_points =
    TABLE("series_points", series_points, "The newest runs of a series, oldest first.");
const struct table_desc table_series_changes =
    TABLE("series_changes", series_changes, "Starts of new levels of a series, oldest first.");
const struct table_desc table_alerts =
    TABLE("alerts", alerts, "Runs whose step time stands out, slower ones first.");

const struct table_desc *const tracking_tables[] = {&table_baselines,     &table_series,
                                                    &table_series_points, &table_series_changes,
                                                    &table_alerts,        NULL};
