// SPDX-License-Identifier: Apache-2.0
// A job of many ranks, solved, with the tables of its run and the truth about them.
#ifndef TESTS_UNIT_SOLVED_JOB_H
#define TESTS_UNIT_SOLVED_JOB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/named_cell.h"
#include "tests/unit/comm_job.h"

#define OFFSET_NS 20000 // accuracy of the clocks found
#define MS        1000000

// A job and its results.
struct solved {
    struct job job;
    struct budget budget;
    struct run_comm comm;
    struct arena arena;
    struct report report;
    struct err err;
};

static inline void solve(struct solved *solved)
{
    if (!job_solve(&solved->job, &solved->comm, &solved->budget, &solved->err))
        fail_msg("%s", solved->err.msg);
    arena_init(&solved->arena, NULL);
    solved->report.arena = &solved->arena;
    assert_true(run_clocks_add(&solved->comm, &solved->report, &solved->err));
    assert_true(run_waits_add(&solved->comm, &solved->report, &solved->err));
    assert_true(run_lateness_add(&solved->comm, &solved->report, &solved->err));
    assert_true(run_clocks_judge(&solved->comm, &solved->report, &solved->err));
}

static inline void begin(struct solved *solved, const struct job_shape *shape)
{
    *solved = (struct solved){0};
    job_begin(&solved->job, shape);
}

static inline void end(struct solved *solved)
{
    run_comm_close(&solved->comm);
    arena_free(&solved->arena);
    job_end(&solved->job);
    assert_int_equal(solved->budget.used, 0);
}

static inline int64_t cell(const struct solved *solved, const char *table, size_t row,
                           const char *column)
{
    const struct table *found = report_find(&solved->report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column)->i;
}

static inline struct str text(const struct solved *solved, const char *table, size_t row,
                              const char *column)
{
    const struct cell *found = named_cell(report_find(&solved->report, table), row, column);
    return found->null ? STR("") : found->s;
}

static inline void assert_text(struct str found, const char *expected)
{
    if (!str_equal(found, str_of(expected)))
        fail_msg("found \"%.*s\", expected \"%s\"", (int)found.len, found.at, expected);
}

static inline void assert_near(int64_t found, int64_t expected, int64_t apart)
{
    if (found - expected > apart || expected - found > apart)
        fail_msg("found %lld, expected %lld within %lld", (long long)found, (long long)expected,
                 (long long)apart);
}

static inline void check_clocks(const struct solved *solved)
{
    for (int r = 0; r < solved->job.count; r++) {
        const struct comm_rank *rank = &solved->comm.ranks[r];
        int64_t expected_ns = solved->job.ranks[0].skew_ns - solved->job.ranks[r].skew_ns;
        assert_int_equal(rank->component, 0);
        assert_near(rank->offset_ns, expected_ns, OFFSET_NS);
        assert_true(rank->error_ns >= 0 && rank->error_ns <= OFFSET_NS);
    }
    assert_int_equal(solved->comm.component_count, 1);
}

static inline int64_t sum(const struct solved *solved, const char *table, const char *column)
{
    const struct table *found = report_find(&solved->report, table);
    int64_t total = 0;
    for (size_t i = 0; found && i < found->row_count; i++)
        total += named_cell(found, i, column)->i;
    return total;
}

static inline void check_waits(struct solved *solved)
{
    job_sum(&solved->job);
    int64_t wait_ns = solved->job.total_wait_ns, transfer_ns = solved->job.total_transfer_ns;
    int64_t found_ns = sum(solved, "comm_waits", "wait_ns");
    assert_near(found_ns, wait_ns, wait_ns / 100);
    assert_near(sum(solved, "comm_waits", "transfer_ns"), transfer_ns, transfer_ns / 100);
    assert_int_equal(sum(solved, "comm_waits", "total_ns"),
                     found_ns + sum(solved, "comm_waits", "transfer_ns"));
    int64_t by_rank_ns = 0;
    for (int r = 0; r < solved->job.count; r++)
        by_rank_ns += solved->comm.ranks[r].steady.wait_ns;
    assert_int_equal(by_rank_ns, found_ns);
    assert_int_equal(sum(solved, "comm_waits", "unmatched_calls"), 0);
}

#endif
