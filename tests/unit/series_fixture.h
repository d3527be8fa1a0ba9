// SPDX-License-Identifier: Apache-2.0
// Series of runs with given step times in a store.
#ifndef TESTS_UNIT_SERIES_FIXTURE_H
#define TESTS_UNIT_SERIES_FIXTURE_H

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "server/store/store_tracking.h"
#include "tests/unit/store_fixture.h"

// A figure of a run's table of figures; a NULL metric ends a list.
struct planted {
    const char *metric, *source;
    double value;
};

static inline void add_figures(struct fixture *f, const struct planted *figures,
                               struct report *report)
{
    for (; figures && figures->metric; figures++) {
        struct row row = {.desc = &table_run_figures};
        row_word(&row, RUN_FIGURES_METRIC, figures->metric);
        row_word(&row, RUN_FIGURES_SOURCE, figures->source);
        row_f64(&row, RUN_FIGURES_VALUE, figures->value);
        row_bool(&row, RUN_FIGURES_PREFERRED, true);
        assert_ok(f, row_end(&row, report, &f->err));
    }
}

// A run name@number that arrives and is analyzed: one trace whose median step is step_ns.
static inline void add_run_with(struct fixture *f, const char *series, int number, int64_t step_ns,
                                const struct planted *figures)
{
    char name[64];
    snprintf(name, sizeof name, "%s@%d", series, number);
    add(f, name, (char)('A' + number), 0, "rank0.json");
    struct job job = claim(f);
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = 0, .world_size = 1};
    assert_int_equal(job.kind, JOB_TRACE);
    assert_ok(f, end_trace(f, &job, &report, result));
    job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    const struct table_desc *desc = run_table("summary");
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, STR("step_median_ns"))] = cell_i64(step_ns);
    row[table_column(desc, STR("gpu"))] = cell_text(STR("H100"));
    assert_ok(f, report_add(&report, desc, row, &f->err));
    add_figures(f, figures, &report);
    assert_ok(f, end_run(f, &job, &report));
}

static inline void add_run(struct fixture *f, const char *series, int number, int64_t step_ns)
{
    add_run_with(f, series, number, step_ns, NULL);
}

// Runs from number on, with about one percent of noise around 100 ms times share.
static inline void add_runs(struct fixture *f, const char *series, int number, int count,
                            double share)
{
    static const double noise[] = {0, 0.006, -0.004, 0.009, -0.007, 0.003, -0.009, 0.005};
    for (int i = number; i < number + count; i++)
        add_run(f, series, i, (int64_t)(100e6 * share * (1 + noise[i % 8])));
}

static inline void judge_all(struct fixture *f)
{
    assert_ok(f, store_judge_series(f->store, &f->err));
}

static inline struct table alerts(struct fixture *f, const char *status)
{
    struct table table;
    struct alert_query query = {.status = str_of(status)};
    assert_ok(f, store_list_alerts(f->store, &query, &f->arena, &table, &f->err));
    return table;
}

static inline void decide(struct fixture *f, struct str id, const char *status, const char *comment)
{
    struct str texts[2] = {str_of(status ? status : ""), str_of(comment ? comment : "")};
    struct alert_patch patch = {status ? &texts[0] : NULL, comment ? &texts[1] : NULL};
    assert_ok(f, store_patch_alert(f->store, id, &patch, &f->err));
}

#endif
