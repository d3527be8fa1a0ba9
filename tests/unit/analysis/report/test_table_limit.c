// SPDX-License-Identifier: Apache-2.0
// A report that is too large loses rows of its largest tables, and says so.
#include "analysis/analysis.h"
#include "analysis/report/trust.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct room {
    struct arena arena;
    struct report report;
    struct err err;
};

static int set_up(void **state)
{
    struct room *r = calloc(1, sizeof *r);
    arena_init(&r->arena, NULL);
    r->report.arena = &r->arena;
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct room *r = *state;
    arena_free(&r->arena);
    free(r);
    return 0;
}

// Rows of nulls with a text in the first column.
static void add_rows(struct room *r, const struct table_desc *desc, size_t rows, const char *text)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++)
        row[c] = cell_null();
    if (desc->columns[0].type == COLUMN_TEXT)
        row[0] = cell_text(str_of(text));
    for (size_t i = 0; i < rows; i++)
        assert_true(report_add(&r->report, desc, row, &r->err));
}

static size_t rows_of(const struct room *r, const char *name)
{
    const struct table *table = report_find(&r->report, name);
    return table ? table->row_count : 0;
}

static void what_fits_stays_as_it_is(void **state)
{
    struct room *r = *state;
    add_rows(r, &table_kernels, 1000, "k");
    assert_true(table_limit(&r->report, report_bytes(&r->report), &table_trust, &r->err));
    assert_true(table_limit(&r->report, 0, &table_trust, &r->err));
    assert_int_equal(rows_of(r, "kernels"), 1000);
    assert_int_equal(rows_of(r, "trust"), 0);
}

static void the_largest_tables_are_cut_and_the_trust_report_says_so(void **state)
{
    struct room *r = *state;
    uint64_t most = (uint64_t)100 << 10;
    add_rows(r, &table_summary, 1, "");
    add_rows(r, &table_environment, 10, "key");
    add_rows(r, &table_kernels, 5000, "a kernel");
    add_rows(r, &table_operators, 9000, "an operator");
    assert_true(table_limit(&r->report, most, &table_trust, &r->err));
    assert_true(report_bytes(&r->report) <= most);
    assert_true(report_bytes(&r->report) >= most * 9 / 10);
    assert_int_equal(rows_of(r, "summary"), 1);
    assert_int_equal(rows_of(r, "environment"), 10);
    size_t kernels = rows_of(r, "kernels"), ops = rows_of(r, "operators");
    assert_true(kernels > 0 && kernels < 5000 && ops > 0 && ops < 9000);
    assert_int_equal(trust_count(&r->report, TRUST_ROWS_LEFT_OUT), 14000 - kernels - ops);
    const struct table *trust = report_find(&r->report, "trust");
    assert_non_null(strstr(named_cell(trust, 0, "detail")->s.at, "kernels keeps "));
    assert_non_null(strstr(named_cell(trust, 0, "detail")->s.at, "--max-tables"));
    const struct table *summary = report_find(&r->report, "summary");
    assert_string_equal(named_cell(summary, 0, "trust_severity")->s.at, "warning");
}

static void a_run_says_it_of_no_rank(void **state)
{
    struct room *r = *state;
    add_rows(r, &table_run_kernels, 5000, "a kernel");
    assert_true(table_limit(&r->report, 50000, &table_run_trust, &r->err));
    const struct table *trust = report_find(&r->report, "trust");
    assert_int_equal(trust->row_count, 1);
    assert_true(named_cell(trust, 0, "rank")->null);
    assert_int_equal(named_cell(trust, 0, "count")->i, 5000 - rows_of(r, "kernels"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_fits_stays_as_it_is),
        TEST(the_largest_tables_are_cut_and_the_trust_report_says_so),
        TEST(a_run_says_it_of_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
