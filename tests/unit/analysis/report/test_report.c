// SPDX-License-Identifier: Apache-2.0
// Reports keep their rows, write them as JSON, and survive being saved, damaged and loaded.
#include "analysis/analysis.h"
#include "analysis/compare/compare.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static const struct column fruit_columns[] = {
    {"name", COLUMN_TEXT, "", "Name."},
    {"count", COLUMN_I64, "count", "How many."},
    {"weight", COLUMN_F64, "", "How heavy."},
    {"ripe", COLUMN_BOOL, "", "Whether it is ripe."},
};
static const struct table_desc fruit = {"fruit", "Fruit.", fruit_columns, 4, 0};

static const struct column later_columns[] = {
    {"ripe", COLUMN_BOOL, "", "Whether it is ripe."},
    {"color", COLUMN_TEXT, "", "Color."},
    {"name", COLUMN_TEXT, "", "Name."},
    {"count", COLUMN_TEXT, "", "Now a text."},
};
static const struct table_desc later_fruit = {"fruit", "Fruit.", later_columns, 4, 0};

static const struct column other_columns[] = {{"x", COLUMN_I64, "", "X."}};
static const struct table_desc other = {"other", "Other.", other_columns, 1, 0};

static void add_fruit(struct report *report)
{
    struct err err;
    const struct cell rows[2][4] = {
        {cell_text(STR("pear \"A\"")), cell_i64(-3), cell_f64(0.5), cell_bool(true)},
        {cell_null(), cell_i64(INT64_MAX), cell_null(), cell_bool(false)},
    };
    for (int i = 0; i < 2; i++)
        assert_true(report_add(report, &fruit, rows[i], &err));
    assert_true(report_add(report, &other, (struct cell[]){cell_i64(1)}, &err));
}

static void rows_are_found_by_table_and_column(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    add_fruit(&report);
    const struct table *table = report_find(&report, "fruit");
    assert_int_equal(table->row_count, 2);
    assert_int_equal(named_cell(table, 1, "count")->i, INT64_MAX);
    assert_true(named_cell(table, 1, "name")->null);
    assert_null(report_find(&report, "stones"));
    assert_int_equal(table_column(&fruit, STR("weight")), 2);
    assert_int_equal(table_column(&fruit, STR("stone")), -1);
    arena_free(&arena);
}

static void joined_reports_read_as_if_written_one_after_the_other(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct arena arenas[3];
    struct report reports[3] = {0};
    struct buf joined = {0}, direct = {0};
    struct err err;
    for (int i = 0; i < 3; i++) {
        arena_init(&arenas[i], &budget);
        reports[i].arena = &arenas[i];
        add_fruit(&reports[i]);
    }
    add_fruit(&reports[2]); // what the first two should become
    assert_true(report_join(&reports[0], &reports[1], &err));
    assert_int_equal(reports[1].table_count, 0);
    arena_free(&arenas[1]);
    report_json(&reports[0], &joined);
    report_json(&reports[2], &direct);
    assert_int_equal(joined.len, direct.len);
    assert_memory_equal(joined.at, direct.at, direct.len);
    add_fruit(&reports[0]); // there is room for more
    assert_int_equal(reports[0].tables[0].row_count, reports[2].tables[0].row_count * 3 / 2);
    arena_free(&arenas[0]);
    arena_free(&arenas[2]);
    buf_free(&joined);
    buf_free(&direct);
    assert_int_equal(budget.used, 0);
}

static void a_report_is_written_as_json(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct buf out = {0};
    report_json(&report, &out);
    assert_string_equal(out.at, "{}");
    buf_clear(&out);
    add_fruit(&report);
    report_json(&report, &out);
    assert_string_equal(
        out.at,
        "{\"fruit\":[{\"name\":\"pear \\\"A\\\"\",\"count\":-3,\"weight\":0.5,\"ripe\":true},"
        "{\"name\":null,\"count\":9223372036854775807,\"weight\":null,\"ripe\":false}],"
        "\"other\":[{\"x\":1}]}");
    buf_free(&out);
    arena_free(&arena);
}

static void save_fruit(struct arena *arena, struct buf *saved)
{
    struct report report = {.arena = arena};
    struct err err;
    add_fruit(&report);
    assert_true(report_save(&report, saved, &err));
}

static void a_saved_report_loads_as_it_was(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&other, &fruit, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct buf saved = {0}, first = {0}, second = {0};
    save_fruit(&arena, &saved);
    struct report report = {.arena = &arena}, loaded = {.arena = &arena};
    struct err err;
    add_fruit(&report);
    assert_true(report_load(&loaded, (struct str){saved.at, saved.len}, known, &err));
    report_json(&report, &first);
    report_json(&loaded, &second);
    assert_string_equal(first.at, second.at);
    buf_free(&saved);
    buf_free(&first);
    buf_free(&second);
    arena_free(&arena);
}

// Columns of every kind: constant, growing evenly, small, wide, extreme, mostly and wholly null.
static const struct column many_columns[] = {
    {"constant", COLUMN_I64, "", "C."}, {"growing", COLUMN_I64, "", "G."},
    {"falling", COLUMN_I64, "", "F."},  {"wide", COLUMN_I64, "", "W."},
    {"extreme", COLUMN_I64, "", "E."},  {"sparse", COLUMN_I64, "", "S."},
    {"none", COLUMN_I64, "", "N."},     {"fraction", COLUMN_F64, "", "D."},
    {"text", COLUMN_TEXT, "", "T."},    {"flag", COLUMN_BOOL, "", "B."},
};
static const struct table_desc many = {"many", "Many.", many_columns, 10, 0};

static void add_many(struct report *report, int64_t rows)
{
    static const char *const texts[] = {"", "a", "kernel", "\xc3\xa4"};
    uint64_t random = 1;
    for (int64_t i = 0; i < rows; i++) {
        struct err err;
        random = random * 6364136223846793005u + 1442695040888963407u;
        const struct cell row[] = {
            cell_i64(-7),
            cell_i64(1700000000000000000 + i * 1000),
            cell_i64(-i * 70000),
            cell_i64((int64_t)random),
            cell_i64(i % 2 ? INT64_MAX : INT64_MIN),
            i % 9 == 3 ? cell_i64(i) : cell_null(),
            cell_null(),
            cell_f64((double)i / 3),
            i % 5 ? cell_text(str_of(texts[i % 4])) : cell_null(),
            cell_bool(i % 3 == 0),
        };
        assert_true(report_add(report, &many, row, &err));
    }
}

static void columns_of_every_kind_load_as_they_were(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&many, NULL};
    static const int64_t counts[] = {1, 2, 8, 9, 1000};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena}, loaded = {.arena = &arena};
        struct buf saved = {0}, first = {0}, second = {0};
        struct err err;
        add_many(&report, counts[n]);
        assert_true(report_save(&report, &saved, &err));
        assert_true(report_load(&loaded, (struct str){saved.at, saved.len}, known, &err));
        report_json(&report, &first);
        report_json(&loaded, &second);
        assert_string_equal(first.at, second.at);
        buf_free(&saved);
        buf_free(&first);
        buf_free(&second);
        arena_free(&arena);
    }
}

static void what_grows_evenly_takes_little_room(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct buf saved = {0};
    struct err err;
    for (int64_t i = 0; i < 10000; i++)
        assert_true(report_add(&report, &other,
                               (struct cell[]){cell_i64(1700000000000000000 + i * 1001)}, &err));
    assert_true(report_save(&report, &saved, &err));
    assert_true(saved.len < 10200); // a byte per row
    buf_free(&saved);
    arena_free(&arena);
}

static void a_report_of_another_version_is_refused(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&other, &fruit, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct buf saved = {0};
    struct report loaded = {.arena = &arena};
    struct err err;
    save_fruit(&arena, &saved);
    saved.at[7] = 1;
    assert_false(report_load(&loaded, (struct str){saved.at, saved.len}, known, &err));
    assert_non_null(strstr(err.msg, "found version 1"));
    buf_free(&saved);
    arena_free(&arena);
}

static void tables_and_columns_that_nobody_knows_are_left_out(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&later_fruit, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct buf saved = {0}, out = {0};
    save_fruit(&arena, &saved);
    struct report loaded = {.arena = &arena};
    struct err err;
    assert_true(report_load(&loaded, (struct str){saved.at, saved.len}, known, &err));
    report_row_json(&loaded.tables[0], 0, &out);
    assert_int_equal(loaded.table_count, 1);
    assert_string_equal(
        out.at, "{\"ripe\":true,\"color\":null,\"name\":\"pear \\\"A\\\"\",\"count\":null}");
    buf_free(&saved);
    buf_free(&out);
    arena_free(&arena);
}

static void a_report_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&other, &fruit, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct buf saved = {0};
    save_fruit(&arena, &saved);
    for (size_t len = 0; len < saved.len; len++) {
        struct report loaded = {.arena = &arena};
        struct err err;
        char *cut = malloc(len ? len : 1); // so that reads past the cut are detected
        memcpy(cut, saved.at, len);
        assert_false(report_load(&loaded, (struct str){cut, len}, known, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        free(cut);
    }
    buf_free(&saved);
    arena_free(&arena);
}

static void a_report_with_any_byte_changed_does_no_harm(void **state)
{
    (void)state;
    const struct table_desc *const known[] = {&other, &fruit, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct buf saved = {0};
    save_fruit(&arena, &saved);
    size_t refused = 0;
    for (size_t i = 0; i < saved.len; i++) {
        struct report loaded = {.arena = &arena};
        struct err err;
        saved.at[i] = (char)~saved.at[i];
        refused += !report_load(&loaded, (struct str){saved.at, saved.len}, known, &err);
        saved.at[i] = (char)~saved.at[i];
    }
    assert_true(refused > saved.len / 4); // lengths and types; texts and numbers may be anything
    buf_free(&saved);
    arena_free(&arena);
}

static void a_row_is_filled_in_any_order_and_the_rest_is_null(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct row row = {.desc = &table_step_stats};
    struct err err;
    row_f64(&row, STEP_STATS_DISTRIBUTION + DISTRIBUTION_MEAN_NS, NAN);
    row_i64(&row, STEP_STATS_COUNT, 3);
    row_word(&row, STEP_STATS_METRIC, "step");
    assert_true(row_end(&row, &report, &err));
    const struct table *table = report_find(&report, "step_stats");
    assert_true(table_is(table, 0, STEP_STATS_METRIC, STR("step")));
    assert_int_equal(table_i64(table, 0, STEP_STATS_COUNT, -1), 3);
    assert_int_equal(table_i64(table, 0, STEP_STATS_MIN_NS, -1), -1);
    assert_true(table_f64(table, 0, STEP_STATS_MEAN_NS, 5) == 5);
    assert_int_equal(table_text(table, 0, STEP_STATS_CI_NOTE).len, 0);
    assert_false(table_is(table, 0, STEP_STATS_CI_NOTE, STR("")));
    assert_int_equal(STEP_STATS_MEAN_NS - STEP_STATS_DISTRIBUTION, DISTRIBUTION_MEAN_NS);
    arena_free(&arena);
}

static void a_row_takes_over_columns_of_the_same_names(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct row trust = {.desc = &table_trust}, row = {.desc = &table_run_trust};
    struct err err;
    row_i64(&trust, TRUST_COUNT, 7);
    row_word(&trust, TRUST_EFFECT, "none");
    assert_true(row_end(&trust, &report, &err));
    row_copy(&row, RUN_TRUST_DOUBT, &report.tables[0], 0, TRUST_DOUBT);
    struct cell cells[TABLE_MAX_COLUMNS];
    row_put(&row, cells);
    assert_true(cells[column_place(row.desc, RUN_TRUST_RANK)].null);
    assert_int_equal(cells[column_place(row.desc, RUN_TRUST_COUNT)].i, 7);
    assert_true(str_equal(cells[column_place(row.desc, RUN_TRUST_EFFECT)].s, STR("none")));
    arena_free(&arena);
}

static void every_table_has_a_name_and_every_column_a_definition(void **state)
{
    (void)state;
    const struct table_desc *const *const lists[] = {trace_tables, run_tables, compare_tables};
    for (size_t l = 0; l < 3; l++)
        for (size_t t = 0; lists[l][t]; t++) {
            const struct table_desc *desc = lists[l][t];
            assert_true(t < REPORT_MAX_TABLES);
            assert_true(desc->number > 0);
            assert_true(desc->column_count <= TABLE_MAX_COLUMNS);
            assert_non_null(strrchr(desc->help, '.'));
            for (unsigned c = 0; c < desc->column_count; c++) {
                assert_int_equal(table_column(desc, str_of(desc->columns[c].name)), c);
                assert_non_null(strrchr(desc->columns[c].help, '.'));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_table_and_column),
        cmocka_unit_test(joined_reports_read_as_if_written_one_after_the_other),
        cmocka_unit_test(a_report_is_written_as_json),
        cmocka_unit_test(a_saved_report_loads_as_it_was),
        cmocka_unit_test(columns_of_every_kind_load_as_they_were),
        cmocka_unit_test(what_grows_evenly_takes_little_room),
        cmocka_unit_test(a_report_of_another_version_is_refused),
        cmocka_unit_test(tables_and_columns_that_nobody_knows_are_left_out),
        cmocka_unit_test(a_report_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_report_with_any_byte_changed_does_no_harm),
        cmocka_unit_test(a_row_is_filled_in_any_order_and_the_rest_is_null),
        cmocka_unit_test(a_row_takes_over_columns_of_the_same_names),
        cmocka_unit_test(every_table_has_a_name_and_every_column_a_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
