// SPDX-License-Identifier: Apache-2.0
// Tables come out the same in every format, safe for spreadsheets, page after page.
#include "server/api/table_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

static const struct column columns[] = {
    {"name", COLUMN_TEXT, "", "its name"},
    {"total_ns", COLUMN_I64, "ns", "its time"},
    {"share", COLUMN_F64, "share", "its share"},
    {"steady", COLUMN_BOOL, "", "whether it is steady"},
};
static const struct table_desc desc = {"things", "some things", columns, 4, 0};

struct fixture {
    struct arena arena;
    struct request request;
    struct response response;
    struct report report;
    struct err err;
};

static void begin(struct fixture *f, const char *query)
{
    *f = (struct fixture){0};
    arena_init(&f->arena, NULL);
    response_init(&f->response);
    f->report.arena = &f->arena;
    f->request =
        (struct request){.arena = &f->arena, .path = STR("/things"), .query_text = str_of(query)};
    assert_true(query_parse(f->request.query_text, &f->arena, &f->request.query, &f->err));
    const struct cell rows[][4] = {
        {cell_text(STR("a,\"b\"")), cell_i64(30), cell_f64(0.5), cell_bool(true)},
        {cell_text(STR("=1+1")), cell_i64(-20), cell_null(), cell_bool(false)},
        {cell_text(STR("caf\xC3\xA9")), cell_i64(10), cell_f64(0.25), cell_null()},
    };
    for (size_t i = 0; i < 3; i++)
        assert_true(report_add(&f->report, &desc, rows[i], &f->err));
}

static void end(struct fixture *f)
{
    response_free(&f->response);
    arena_free(&f->arena);
}

static bool answer(struct fixture *f)
{
    struct table_request table;
    struct table_page page;
    return table_request_parse(&f->request, &desc, NULL, &table, &f->err) &&
           table_select(&f->report.tables[0], &table.query, &f->arena, &page, &f->err) &&
           table_reply_write(&f->request, &f->response, &table, &page, STR("my run-things"),
                             &f->err);
}

static void assert_reply(const char *query, const char *type, const char *expected)
{
    struct fixture f;
    begin(&f, query);
    if (!answer(&f))
        fail_msg("%s: %s", query, f.err.msg);
    assert_string_equal(f.response.type, type);
    assert_string_equal(f.response.body.at, expected);
    end(&f);
}

static void json_has_rows_total_and_columns(void **state)
{
    (void)state;
    assert_reply("sort=total_ns&fields=total_ns,name&q=A", "application/json",
                 "{\"items\":[{\"total_ns\":10,\"name\":\"caf\xC3\xA9\"},"
                 "{\"total_ns\":30,\"name\":\"a,\\\"b\\\"\"}],\"total\":2,\"next_cursor\":null,"
                 "\"columns\":[{\"name\":\"total_ns\",\"type\":\"integer\",\"unit\":\"ns\","
                 "\"help\":\"its time\"},{\"name\":\"name\",\"type\":\"string\",\"unit\":\"\","
                 "\"help\":\"its name\"}]}\n");
}

static void columns_have_values_units_and_helps(void **state)
{
    (void)state;
    assert_reply("format=columns&fields=total_ns,steady", "application/json",
                 "{\"columns\":{\"total_ns\":[30,-20,10],\"steady\":[true,false,null]},\"units\":"
                 "{\"total_ns\":\"ns\",\"steady\":\"\"},\"help\":{\"total_ns\":\"its time\","
                 "\"steady\":\"whether it is steady\"},\"row_count\":3,\"total\":3}\n");
}

static void csv_is_quoted_and_defused(void **state)
{
    (void)state;
    assert_reply("format=csv", "text/csv; charset=utf-8",
                 "name,total_ns,share,steady\r\n\"a,\"\"b\"\"\",30,0.5,true\r\n"
                 "\"'=1+1\",-20,,false\r\n\"caf\xC3\xA9\",10,0.25,\r\n");
}

static void ndjson_has_one_row_per_line(void **state)
{
    (void)state;
    assert_reply("format=ndjson&fields=total_ns&limit=2", "application/x-ndjson",
                 "{\"total_ns\":30}\n{\"total_ns\":-20}\n");
}

static void assert_csv_text(struct str text, const char *expected)
{
    struct buf out = {0};
    export_csv_cell(cell_text(text), COLUMN_TEXT, &out);
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

static void no_line_of_a_csv_cell_is_a_formula(void **state)
{
    (void)state;
    assert_csv_text(STR("@SUM(A1)"), "\"'@SUM(A1)\"");
    assert_csv_text(STR("  -1"), "\"'  -1\"");
    assert_csv_text(STR("\xC2\xA0+1"), "\"'\xC2\xA0+1\"");
    assert_csv_text(STR("\t1"), "\"'\t1\"");
    assert_csv_text(STR("a\n=b"), "\"a\n'=b\"");
    assert_csv_text(STR("a=b-c"), "\"a=b-c\"");
    assert_csv_text(STR(" \xEF\xBC\x9D"
                        "1"),
                    "\"' \xEF\xBC\x9D"
                    "1\"");
    assert_csv_text(STR("\xEF\xBC\xA0x"), "\"'\xEF\xBC\xA0x\"");
    assert_csv_text(STR("\xEF\xBC\xA1"), "\"\xEF\xBC\xA1\"");
    assert_csv_text(STR("a\xFF"
                        "b"),
                    "\"a\xEF\xBF\xBD"
                    "b\"");
    assert_csv_text(STR(""), "\"\"");
}

// The cursor in a JSON answer, or "".
static void next_cursor(const struct fixture *f, char cursor[TABLE_CURSOR_SIZE])
{
    const char *at = strstr(f->response.body.at, "\"next_cursor\":\"");
    cursor[0] = '\0';
    if (!at)
        return;
    at += strlen("\"next_cursor\":\"");
    memcpy(cursor, at, strcspn(at, "\""));
    cursor[strcspn(at, "\"")] = '\0';
}

static void cursors_lead_through_all_pages(void **state)
{
    (void)state;
    static const char *const expected[] = {"-20", "10", "30"};
    char cursor[TABLE_CURSOR_SIZE] = "", query[128], row[64];
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        snprintf(query, sizeof(query), "sort=total_ns&fields=total_ns&limit=1&cursor=%s", cursor);
        snprintf(row, sizeof(row), "{\"items\":[{\"total_ns\":%s}],\"total\":3,", expected[i]);
        begin(&f, query);
        assert_true(answer(&f));
        assert_true(str_starts_with(str_of(f.response.body.at), str_of(row)));
        next_cursor(&f, cursor);
        assert_int_equal(cursor[0] != '\0', i < 2);
        assert_int_equal(f.response.header_count, i < 2); // Link
        end(&f);
    }
}

static void assert_refused(const char *query, const char *message)
{
    struct fixture f;
    begin(&f, query);
    if (answer(&f))
        fail_msg("%s was answered", query);
    assert_int_equal(f.err.code, ERR_USAGE);
    if (!strstr(f.err.msg, message))
        fail_msg("%s: %s", query, f.err.msg);
    end(&f);
}

static void what_a_table_does_not_know_is_refused(void **state)
{
    (void)state;
    assert_refused("totl_ns=1", "found query parameter 'totl_ns', expected limit");
    assert_refused("sort=-nope", "found sort 'nope', expected a column of things: name, total_ns");
    assert_refused("fields=name,x", "found field 'x'");
    assert_refused("fields=", "empty list of fields");
    assert_refused("fields=name,total_ns,name", "found field 'name' twice");
    assert_refused("format=xml", "expected json, columns, csv, ndjson, arrow, parquet, xlsx, "
                                 "speedscope or pprof");
    assert_refused("limit=0", "found limit=0, expected 1 to 10000, or all");
    assert_refused("limit=ten", "found limit=ten");
    assert_refused("cursor=c1-0000000000000001", "cursor that does not belong");
    assert_refused("cursor=x", "cursor that does not belong");
    for (int i = 0; i < 4; i++) { // no order sums to zero, so only their form is wrong
        static const char *const forms[] = {"cursor=c-5-0000000000000000", "cursor=c%201-0",
                                            "cursor=c0x1-0", "cursor=c01-0000000000000000"};
        assert_refused(forms[i], "cursor that does not belong");
    }
    assert_refused("total_ns=abc", "total_ns");
    assert_refused("sort=name,name,name,name,name", "more than 4 columns");
}

static void filters_keep_equal_rows(void **state)
{
    (void)state;
    assert_reply("format=ndjson&fields=total_ns&total_ns=10&total_ns=30&steady=true",
                 "application/x-ndjson", "{\"total_ns\":30}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_rows_total_and_columns),
        cmocka_unit_test(columns_have_values_units_and_helps),
        cmocka_unit_test(csv_is_quoted_and_defused),
        cmocka_unit_test(ndjson_has_one_row_per_line),
        cmocka_unit_test(no_line_of_a_csv_cell_is_a_formula),
        cmocka_unit_test(cursors_lead_through_all_pages),
        cmocka_unit_test(what_a_table_does_not_know_is_refused),
        cmocka_unit_test(filters_keep_equal_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
