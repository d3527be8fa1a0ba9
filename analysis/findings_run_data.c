// SPDX-License-Identifier: Apache-2.0
// Rules about what a run's traces lack.
#include "analysis/findings_run.h"

#include <inttypes.h>

static bool check_missing(const struct run_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    int64_t missing = run_missing_ranks(the_case);
    *fires = missing > 0;
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->severity = "info";
    finding->confidence = "high";
    finding->title =
        arena_printf(the_case->arena, err, "%" PRId64 " of %" PRId64 " ranks have no trace",
                     missing, missing + (int64_t)the_case->ranks);
    evidence_add(&evidence, "ranks", "%zu ranks are there", the_case->ranks);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule missing_rule = {
    .name = "missing_ranks",
    .why = "Waits for a rank that is missing look like transfers, and a straggler among the "
           "missing ones cannot be named.",
    .advice = "Upload the other ranks' traces into the same run.",
    .method = "Ranks of the job, as the traces say, less those that are there. It costs no time "
              "itself.",
    .false_alarms = "Profiling some ranks of a large job is common and often enough.",
};

const struct run_rule finding_run_missing = {
    .about = &missing_rule,
    .check = check_missing,
};

// Rows of the trust report with that severity, missing ranks aside; *first: the first one's detail.
static size_t count_rows(const struct table *quality, struct str severity, const char **first)
{
    size_t count = 0;
    for (size_t i = 0; quality && i < quality->row_count; i++) {
        if (!run_cell_is(quality, i, "severity", severity) ||
            run_cell_is(quality, i, "item", STR("missing_ranks")))
            continue;
        count++;
        if (!*first)
            *first = table_cell(quality, i, "detail")->s.at;
    }
    return count;
}

static bool check_quality(const struct run_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    const struct table *quality = report_find(the_case->report, "quality");
    const char *worst = NULL;
    size_t errors = count_rows(quality, STR("error"), &worst);
    size_t count = errors + count_rows(quality, STR("warning"), &worst);
    *fires = count > 0;
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->severity = errors ? "medium" : "info";
    finding->confidence = "high";
    finding->title = arena_printf(the_case->arena, err, "the traces have %zu known defect%s", count,
                                  count == 1 ? "" : "s");
    evidence_add(&evidence, "quality", "%s", worst);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

const struct run_rule finding_run_quality = {
    .about = &finding_data_quality,
    .check = check_quality,
};
