// SPDX-License-Identifier: Apache-2.0
// Rules about what a run's traces lack.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
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
        arena_printf(the_case->arena, err, "%s of %s ranks have no trace", count_text(missing).text,
                     count_text(missing + (int64_t)the_case->ranks).text);
    evidence_add(&evidence, "ranks", "%s ranks have a trace",
                 count_text((int64_t)the_case->ranks).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule missing_rule = {
    .name = "missing_ranks",
    .why = "Waits for a missing rank look like transfers, and a straggler among the missing ranks "
           "cannot be identified.",
    .advice = "Upload the traces of the other ranks to the same run.",
    .method = "World size of the job minus the ranks with a trace. No direct cost.",
    .false_alarms = "Profiling only some ranks of a large job is common and often sufficient.",
};

const struct run_rule finding_run_missing = {
    .about = &missing_rule,
    .check = check_missing,
    .of_data = true,
};

// --- several jobs --------------------------------------------------------------------------------

// The trust report's row about them; the row count if there is none.
static size_t row_of_jobs(const struct table *trust)
{
    size_t row = 0;
    while (trust && row < trust->row_count &&
           !table_is(trust, row, RUN_TRUST_ITEM, STR("several_jobs")))
        row++;
    return row;
}

bool run_has_jobs(const struct run_case *the_case)
{
    const struct table *trust = report_find(the_case->report, "trust");
    return trust && row_of_jobs(trust) < trust->row_count;
}

static bool check_jobs(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    const struct table *trust = report_find(the_case->report, "trust");
    *fires = run_has_jobs(the_case);
    if (!*fires)
        return true;
    size_t row = row_of_jobs(trust);
    int64_t count = table_i64(trust, row, RUN_TRUST_COUNT, 0);
    struct evidence evidence = {0};
    finding->severity = "high";
    finding->confidence = "high";
    finding->title = arena_printf(
        the_case->arena, err,
        "this run holds several jobs: %" PRId64
        " of %zu ranks %s of another one, and ranks of different jobs are not compared",
        count, the_case->ranks, count == 1 ? "is" : "are");
    evidence_add(&evidence, "trust", "%s", table_cell(trust, row, RUN_TRUST_DETAIL)->s.at);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule jobs_rule = {
    .name = "several_jobs",
    .why =
        "Ranks of different jobs do not wait for each other, run different work, and have "
        "unrelated clocks: stragglers, imbalance or efficiency across them would be meaningless.",
    .advice = "Upload the traces of each job as a separate run.",
    .method =
        "Ranks of one job have the same device model and world size, and were recorded within a "
        "minute of each other, or as much later as the steps in between take. No direct cost.",
    .false_alarms = "Hosts whose clocks differ by more than a minute; a job on two device models.",
};

const struct run_rule finding_run_jobs = {
    .about = &jobs_rule,
    .check = check_jobs,
    .of_data = true,
};

// --- defects -------------------------------------------------------------------------------------

// Rows of the trust report with that severity, except missing ranks and several jobs; *first: the
// first one's detail.
static size_t count_rows(const struct table *trust, struct str severity, const char **first)
{
    size_t count = 0;
    for (size_t i = 0; trust && i < trust->row_count; i++) {
        if (!table_is(trust, i, RUN_TRUST_SEVERITY, severity) ||
            table_is(trust, i, RUN_TRUST_ITEM, STR("missing_ranks")) ||
            table_is(trust, i, RUN_TRUST_ITEM, STR("several_jobs")))
            continue;
        count++;
        if (!*first)
            *first = table_cell(trust, i, RUN_TRUST_DETAIL)->s.at;
    }
    return count;
}

static bool check_trust(const struct run_case *the_case, bool *fires, struct finding *finding,
                        struct err *err)
{
    const struct table *trust = report_find(the_case->report, "trust");
    const char *worst = NULL;
    size_t errors = count_rows(trust, STR("error"), &worst);
    size_t count = errors + count_rows(trust, STR("warning"), &worst);
    *fires = count > 0;
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->severity = errors ? "medium" : "info";
    finding->confidence = "high";
    finding->title = arena_printf(the_case->arena, err, "the traces have %zu known defect%s", count,
                                  count == 1 ? "" : "s");
    evidence_add(&evidence, "trust", "%s", worst);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

const struct run_rule finding_run_trust = {
    .about = &finding_data_quality,
    .check = check_trust,
    .of_data = true,
};
