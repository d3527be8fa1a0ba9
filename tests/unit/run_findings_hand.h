// SPDX-License-Identifier: Apache-2.0
// Handmade runs for tests of the rules of a run.
#ifndef TESTS_UNIT_RUN_FINDINGS_HAND_H
#define TESTS_UNIT_RUN_FINDINGS_HAND_H

#include "analysis/run/findings_run.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define MS    INT64_C(1000000)
#define STEPS 10

// A run of some ranks whose headline rank 1 has steps of 100 ms: 60 compute, 30 exposed
// communication, 10 idle.
struct hand_run {
    struct arena arena;
    struct report report, own;
    struct parts steady;
    size_t ranks;
    const struct rank_rate *rates;
    const struct run_links *links;
    const struct rank_source *source;
    struct report monitors;
    struct err err;
};

// A named cell of a row; the rest are null.
struct named {
    const char *column;
    struct cell cell;
};

static inline void add_row(struct report *report, const struct table_desc *desc,
                           const struct named *cells)
{
    struct cell row[TABLE_MAX_COLUMNS];
    struct err err;
    for (unsigned c = 0; c < desc->column_count; c++)
        row[c] = cell_null();
    for (; cells->column; cells++) {
        int column = table_column(desc, str_of(cells->column));
        assert_true(column >= 0);
        row[column] = cells->cell;
    }
    assert_true(report_add(report, desc, row, &err));
}

#define ROW(report, desc, ...) \
    add_row(report, desc, (const struct named[]){__VA_ARGS__, {NULL, cell_null()}})

static inline struct cell word(const char *text)
{
    return cell_text(str_of(text));
}

static inline void begin(struct hand_run *run)
{
    *run = (struct hand_run){.ranks = 0};
    arena_init(&run->arena, NULL);
    run->report.arena = run->own.arena = run->monitors.arena = &run->arena;
    run->steady.bar_ns[BAR_GEMM] = STEPS * 60 * MS;
    run->steady.bar_ns[BAR_EXPOSED_COMM] = STEPS * 30 * MS;
    run->steady.bar_ns[BAR_IDLE_HOST_WAIT] = STEPS * 10 * MS;
}

// The next rank, with its compute and exposed waits and transfers per step in ms.
static inline void add_rank(struct hand_run *run, int64_t compute, int64_t wait, int64_t transfer)
{
    ROW(&run->report, &table_run_ranks, {"rank", cell_i64((int64_t)run->ranks++)},
        {"steady_steps", cell_i64(STEPS)}, {"compute_ns", cell_i64(compute * MS)},
        {"exposed_wait_ns", cell_i64(wait * MS)},
        {"exposed_comm_ns", cell_i64((wait + transfer) * MS)},
        {"exposed_transfer_ns", cell_i64(transfer * MS)});
}

static inline void analyze(struct hand_run *run)
{
    struct run_findings of = {
        .own = report_find(&run->own, "findings"),
        .headline = 1,
        .steps = STEPS,
        .all_steps = STEPS + 2,
        .steady = &run->steady,
        .ranks = run->ranks,
        .rates = run->rates,
        .links = run->links,
        .source = run->source,
        .monitors = report_find(&run->monitors, "monitors"),
    };
    assert_true(findings_of_run(&of, &run->report, &run->err));
}

static inline void end(struct hand_run *run)
{
    arena_free(&run->arena);
}

static inline size_t count(const struct hand_run *run)
{
    const struct table *found = report_find(&run->report, "findings");
    return found ? found->row_count : 0;
}

static inline const struct cell *cell_of(const struct hand_run *run, const char *rule,
                                         const char *column)
{
    const struct table *found = report_find(&run->report, "findings");
    for (size_t i = 0; i < count(run); i++)
        if (str_equal(named_cell(found, i, "rule")->s, str_of(rule)))
            return named_cell(found, i, column);
    fail_msg("%s is silent", rule);
    return NULL;
}

static inline int64_t cost_of(const struct hand_run *run, const char *rule)
{
    return cell_of(run, rule, "cost_ns")->i;
}

static inline const char *word_of(const struct hand_run *run, const char *rule, const char *column)
{
    const struct cell *cell = cell_of(run, rule, column);
    return cell->null ? NULL : cell->s.at;
}

#endif
