// SPDX-License-Identifier: Apache-2.0
// Both pages of Nsight Compute's CSV, with numbers as locales write them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/format.h"
#include "ingest/source/source.h"

static bool count_text(struct str text, struct arena *arena, struct buf *out, struct err *err)
{
    *err = (struct err){0};
    struct budget budget = {0};
    struct figures figures = {.arena = arena};
    const struct format *format = format_find(text, STR("x.csv"));
    assert_non_null(format);
    assert_string_equal(format->name, "ncu-csv");
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(text.at, text.len, 0, err);
    bool ok = format->count(&input, err);
    source_close(input.source);
    assert_int_equal(budget.used, 0);
    figures_json(&figures, out);
    return ok;
}

static void assert_counted(struct str text, const char *expected)
{
    struct err err;
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    if (!count_text(text, &arena, &out, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(out.at, expected);
    buf_free(&out);
    arena_free(&arena);
}

#define DETAILS \
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define RAW "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n"

static void details_have_a_row_per_metric(void **state)
{
    (void)state;
    assert_counted(STR("==PROF== Profiling \"b\" - 0: 10 passes\n" DETAILS
                       "\"0\",\"1\",\"b\",\"Duration\",\"us\",\"1,234.5\"\n"
                       "\"0\",\"1\",\"b\",\"Hits\",\"\",\"n/a\"\n"
                       "\"1\",\"1\",\"a\",\"\",\"\",\"\"\n"
                       "\"2\"\n"
                       "\"0\",\"1\",\"b\",\"Duration\",\"us\",\"2\"\n"),
                   "{\"page\":\"details\",\"kernels\":2,\"metric_rows\":3,\"not_a_number\":1,"
                   "\"kernel_names\":[\"a\",\"b\"]}");
}

static void raw_has_a_row_per_launch_after_the_units(void **state)
{
    (void)state;
    assert_counted(STR(RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"1,234.5\",\"n/a\"\n"
                           "\"1\",\"1\",\"a\",\"2\"\n"),
                   "{\"page\":\"raw\",\"kernels\":2,\"decimal_comma\":0,"
                   "\"duration_ns_total\":1236500,\"not_a_number\":1,\"kernel_names\":[\"a\"]}");
}

static void one_decimal_comma_decides_for_the_file(void **state)
{
    (void)state;
    assert_counted(STR(RAW "\"\",\"\",\"\",\"ns\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"1.234,567\",\"5\"\n"
                           "\"1\",\"1\",\"a\",\"2.000\",\"0,25\"\n"),
                   "{\"page\":\"raw\",\"kernels\":2,\"decimal_comma\":1,"
                   "\"duration_ns_total\":3234.567,\"not_a_number\":0,\"kernel_names\":[\"a\"]}");
}

static void an_open_quote_before_the_table_is_said(void **state)
{
    (void)state;
    struct err err;
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    assert_false(count_text(STR("\"never closed\n" DETAILS), &arena, &out, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    buf_free(&out);
    arena_free(&arena);
}

static void it_is_no_trace(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(format_of_trace(STR(RAW), STR(""), &err));
    assert_non_null(strstr(err.msg, "found a CSV of Nsight Compute, expected a trace"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_have_a_row_per_metric),
        cmocka_unit_test(raw_has_a_row_per_launch_after_the_units),
        cmocka_unit_test(one_decimal_comma_decides_for_the_file),
        cmocka_unit_test(an_open_quote_before_the_table_is_said),
        cmocka_unit_test(it_is_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
