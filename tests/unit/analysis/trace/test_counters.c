// SPDX-License-Identifier: Apache-2.0
// Counters over the steps, on the cases in CASES.md.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/trace/counter_steps.h"
#include "tests/named_cell.h"
#include "tests/golden/trace_dump.h"

struct counted_trace {
    struct buf text;
    struct budget budget;
    struct arena arena;
    struct report report;
    struct trace *trace;
};

// A kernel from 100 us up to the end, which is the only step; counters are added after it.
static void begin(struct counted_trace *t, int end_us)
{
    *t = (struct counted_trace){.text = {0}};
    buf_printf(&t->text,
               "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
               "\"tid\":7,\"ts\":100,\"dur\":%d}",
               end_us - 100);
}

static void add(struct counted_trace *t, const char *pid, const char *name, int at_us, double value)
{
    buf_printf(&t->text,
               ",{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%s,\"ts\":%d,\"args\":{\"\":", name, pid,
               at_us);
    buf_f64(&t->text, value);
    buf_puts(&t->text, "}}");
}

static void analyze(struct counted_trace *t)
{
    struct err err = {0};
    struct analysis_options options = {.warmup_steps = -1};
    buf_puts(&t->text, "]}");
    t->trace = dump_read((struct str){t->text.at, t->text.len}, 0, &t->budget, &err);
    if (!t->trace)
        fail_msg("%s", err.msg);
    arena_init(&t->arena, &t->budget);
    t->report.arena = &t->arena;
    if (!analyze_trace(t->trace, &options, &t->report, &err))
        fail_msg("%s", err.msg);
}

static void end(struct counted_trace *t)
{
    arena_free(&t->arena);
    trace_free(t->trace);
    buf_free(&t->text);
    assert_int_equal(t->budget.used, 0);
}

static const struct cell *cell(const struct counted_trace *t, const char *table, size_t row,
                               const char *column)
{
    const struct table *found = report_find(&t->report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static void assert_number(const struct counted_trace *t, const char *column, double expected)
{
    const struct cell *found = cell(t, "counters", 0, column);
    assert_false(found->null);
    if (found->f < expected - 1e-9 || found->f > expected + 1e-9)
        fail_msg("%s: expected %g, found %g", column, expected, found->f);
}

static void a_value_counts_for_as_long_as_it_held(void **state)
{
    (void)state;
    struct counted_trace t;
    begin(&t, 200);
    add(&t, "\"GPU 0 Counters\"", "sm__cycles_active.avg", 90, 10);
    add(&t, "\"GPU 0 Counters\"", "sm__cycles_active.avg", 120, 40);
    add(&t, "\"GPU 0 Counters\"", "sm__cycles_active.avg", 150, 20);
    add(&t, "\"GPU 0 Counters\"", "sm__cycles_active.avg", 180, 30);
    analyze(&t);
    // 20 us of 10, 30 of 40, 30 of 20, 20 of 30: (200 + 1200 + 600 + 600) / 100.
    assert_number(&t, "mean", 26);
    assert_number(&t, "min", 10);
    assert_number(&t, "max", 40);
    assert_number(&t, "covered_share", 1);
    assert_int_equal(cell(&t, "counters", 0, "spacing_ns")->i, 30000);
    assert_true(str_equal(cell(&t, "counters", 0, "device")->s, STR("0")));
    assert_true(str_equal(cell(&t, "counters", 0, "unit")->s, STR("cycles")));
    assert_int_equal(cell(&t, "counter_steps", 0, "covered_ns")->i, 100000);
    assert_int_equal(cell(&t, "counter_steps", 0, "busy_ns")->i, 100000);
    assert_int_equal(report_find(&t.report, "counter_series")->row_count, 4);
    assert_int_equal(cell(&t, "counter_series", 0, "time_ns")->i, -10000);
    end(&t);
}

static void where_samples_are_missing_nothing_is_known(void **state)
{
    (void)state;
    static const int at_us[] = {90, 120, 150, 180, 210, 240, 400, 430, 460};
    struct counted_trace t;
    begin(&t, 500);
    for (size_t i = 0; i < sizeof at_us / sizeof *at_us; i++)
        add(&t, "3", "dram__bytes_read.sum.per_second", at_us[i], at_us[i] < 400 ? 2 : 5);
    analyze(&t);
    // 2 from 100 to 270, 5 from 400 to 490: the spacing of 160 is over twice the median of 30.
    assert_number(&t, "mean", (2 * 170 + 5 * 90) / 260.0);
    assert_number(&t, "covered_share", 260 / 400.0);
    assert_true(cell(&t, "counters", 0, "sampled")->i);
    assert_true(str_equal(cell(&t, "counters", 0, "device")->s, STR("")));
    assert_true(str_equal(cell(&t, "counters", 0, "unit")->s, STR("bytes/s")));
    end(&t);
}

static void what_changes_now_and_then_holds_until_it_changes(void **state)
{
    (void)state;
    struct counted_trace t;
    begin(&t, 500);
    add(&t, "0", "queue", 0, 0);
    add(&t, "0", "queue", 100, 5);
    add(&t, "0", "queue", 300, 7);
    analyze(&t);
    // 5 from 100 to 300; the last holds for the median spacing of 100.
    assert_number(&t, "mean", (5 * 200 + 7 * 100) / 300.0);
    assert_number(&t, "min", 5);
    assert_number(&t, "covered_share", 0.75);
    assert_false(cell(&t, "counters", 0, "sampled")->i);
    assert_true(str_equal(cell(&t, "counters", 0, "device")->s, STR("0")));
    end(&t);
}

static void a_thinned_series_keeps_its_extremes(void **state)
{
    (void)state;
    struct counted_trace t;
    begin(&t, 6000);
    for (int i = 0; i < 5000; i++)
        add(&t, "0", "c", 100 + i, i == 1234 ? 99 : i == 4321 ? -99 : i % 7);
    analyze(&t);
    const struct table *series = report_find(&t.report, "counter_series");
    double least = 0, most = 0;
    int64_t last_ns = INT64_MIN;
    assert_in_range(series->row_count, 500, 1000);
    for (size_t i = 0; i < series->row_count; i++) {
        double value = named_cell(series, i, "value")->f;
        least = value < least ? value : least;
        most = value > most ? value : most;
        assert_true(named_cell(series, i, "time_ns")->i > last_ns);
        last_ns = named_cell(series, i, "time_ns")->i;
    }
    assert_true(least < -98 && most > 98);
    assert_int_equal(last_ns, 4999000);
    end(&t);
}

static void units_follow_from_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "percent"},
        {"dram__bytes_read.sum", "bytes"},
        {"dram__bytes_write.sum.per_second", "bytes/s"},
        {"sm__inst_executed.sum.per_second", "1/s"},
        {"GPU 0 Utilization: GPU Utilization", "share"},
        {"Memory Bandwidth (GB/s)", "GB/s"},
        {"mlx5_0: IB: Bytes sent (bytes/s)", "bytes/s"},
        {"mlx5_0: IB: Packets sent (packets/s)", "packets/s"},
        {"mlx5_0: IB: Send waits (ticks/s)", "ticks/s"},
        {"Compute Warps in Flight [Avg Warps per Cycle]", "per cycle"},
        {"sm__inst_executed.avg.per_cycle_active", "per cycle"},
        {"GPC Clock Frequency [MHz]", "MHz"},
        {"SQ_WAVES", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(counter_unit(str_of(cases[i][0])), cases[i][1]);
}

static void a_trace_without_counters_has_no_table_of_them(void **state)
{
    (void)state;
    struct counted_trace t;
    begin(&t, 200);
    analyze(&t);
    assert_int_equal(t.trace->counter_count, 0);
    assert_null(report_find(&t.report, "counters"));
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_counts_for_as_long_as_it_held),
        cmocka_unit_test(where_samples_are_missing_nothing_is_known),
        cmocka_unit_test(what_changes_now_and_then_holds_until_it_changes),
        cmocka_unit_test(a_thinned_series_keeps_its_extremes),
        cmocka_unit_test(units_follow_from_names),
        cmocka_unit_test(a_trace_without_counters_has_no_table_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
