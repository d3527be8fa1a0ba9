// SPDX-License-Identifier: Apache-2.0
// The tables of runs over time as the API shows them.
#include "server/store/tracking_tables.h"

#include "analysis/report/table_columns.h"

static const struct column columns_baselines[] = {
    TEXT("name", "Name of the baseline: @baseline:name finds its run wherever a run is asked for."),
    TEXT("run", "Identifier of the run it is pinned to."),
    TEXT("run_name", "Name of that run."),
    TEXT("project", "Project of that run."),
    I64("step_median_ns", "ns", "Its median steady step; empty until analysed."),
    TEXT("set", "When it was pinned, UTC, RFC 3339."),
};

static const struct column columns_series[] = {
    TEXT("project", "Project."),
    TEXT("series", "Name up to '@' that its runs share."),
    I64("runs", "count", "Runs of the series."),
    I64("points", "count", "Those of the newest 500 with a step time."),
    TEXT("first", "When its oldest run was made, UTC, RFC 3339."),
    TEXT("last", "When its newest run was made, UTC, RFC 3339."),
    TEXT("last_run", "Identifier of the newest run with a step time; empty without one."),
    I64("step_median_ns", "ns", "Median steady step of that run."),
    F64("change_share", "share",
        "That step against the median of up to 8 runs before on as many ranks of the same GPU: "
        "0.02 is 2 % slower."),
    I64("open_alerts", "count", "Alerts that are new or acknowledged."),
};

static const struct column columns_series_points[] = {
    TEXT("run", "Identifier of the run."),
    TEXT("name", "Name of the run."),
    TEXT("created", "When it was made, UTC, RFC 3339; the order of the rows."),
    TEXT("commit", "Code version, as its metadata say."),
    I64("step_median_ns", "ns", "Median steady step."),
    I64("step_ci_low_ns", "ns", "Lower bound of the 95 % confidence interval of the median."),
    I64("step_ci_high_ns", "ns", "Upper bound of the same interval."),
    I64("gemm_ns", "ns", "Time per step in matrix products."),
    I64("attention_ns", "ns", "Time per step in attention kernels."),
    I64("other_compute_ns", "ns", "Time per step in all other compute kernels."),
    I64("exposed_comm_ns", "ns", "Time per step in which only communication ran."),
    I64("exposed_memory_ns", "ns", "Time per step in which only copies ran."),
    I64("idle_host_wait_ns", "ns", "Idle time per step that the host causes."),
    I64("idle_other_ns", "ns", "All other idle time per step."),
    I64("unrecorded_ns", "ns", "Time per step of work that the recording lacks."),
    TEXT("gpu", "Name of the device; only runs on the same one are held against each other."),
    I64("ranks", "count", "Ranks of the run; likewise."),
    BOOLEAN("outlier", "Whether it stands beyond what neighbours in the series usually differ by."),
};

static const struct column columns_series_changes[] = {
    TEXT("run", "Identifier of the first run of the new level."),
    TEXT("run_name", "Name of that run."),
    TEXT("created", "When it was made, UTC, RFC 3339."),
    TEXT("previous_run", "The run before; empty when it was deleted."),
    TEXT("reason",
         "step_time: the step became faster or slower; gpu, ranks: first run on that hardware."),
    I64("before_ns", "ns", "Median step of the level before."),
    I64("after_ns", "ns", "Median step of the new level."),
    F64("change_share", "share", "New level against the one before: 0.02 is 2 % slower."),
    F64("p_value", "", "Mann-Whitney of the two levels; empty for other hardware."),
};

static const struct column columns_alerts[] = {
    TEXT("id", "Identifier."),
    TEXT("project", "Project."),
    TEXT("series", "Series of the run."),
    TEXT("run", "The first run that is faster or slower."),
    TEXT("run_name", "Name of that run."),
    TEXT("previous_run", "The run before; empty when it was deleted."),
    I64("before_ns", "ns", "Median step of the runs before."),
    I64("after_ns", "ns", "Step of the run, or median of the new level."),
    F64("change_share", "share", "After against before: 0.02 is 2 % slower."),
    TEXT("kind", "outlier: one run beyond what neighbours usually differ by; change: a new level."),
    TEXT("status",
         "new, acknowledged, expected (a new level begins), noise (such a difference is usual) or "
         "fixed (the step is back)."),
    TEXT("comment", "What people say of it."),
    TEXT("created", "When it was raised, UTC, RFC 3339."),
    TEXT("updated", "When it changed last, UTC, RFC 3339."),
};

const struct table_desc table_baselines =
    TABLE("baselines", baselines, "Runs that others are held against, by name.");
const struct table_desc table_series =
    TABLE("series", series, "Runs of one measurement over time, newest first.");
const struct table_desc table_series_points =
    TABLE("series_points", series_points, "The newest runs of a series, oldest first.");
const struct table_desc table_series_changes =
    TABLE("series_changes", series_changes, "Where a new level of a series begins, oldest first.");
const struct table_desc table_alerts =
    TABLE("alerts", alerts, "Runs whose step time stands out, slower ones first.");

const struct table_desc *const tracking_tables[] = {&table_baselines,     &table_series,
                                                    &table_series_points, &table_series_changes,
                                                    &table_alerts,        NULL};
