// SPDX-License-Identifier: Apache-2.0
// What keeps two sides from being compared as asked: graphs recorded as a whole, and a step pattern
// that matches nothing on one side.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

#define SUMMARY "compare_summary"
#define REASONS "compare_reasons"

enum { MS = 1000000 };

static void add_setting(struct bench *bench, const char *key, const char *value)
{
    ROW(bench_run(bench), &table_run_environment, {"key", .text = key}, {"value", .text = value},
        {"ranks", .i = 1});
}

static void end_run(struct bench *bench, int64_t step_ns)
{
    bench_steps(bench, 1, step_ns);
    bench_side(bench, 1);
}

// Kernels that the host launches, with a wait before them.
static void add_kernels(struct bench *bench)
{
    bench_add(bench);
    bench_part(bench, (struct hand_part){"gemm", "GEMM", NULL, NULL, NULL, "gemm", 20, 10 * MS});
    bench_part(bench, (struct hand_part){"idle_host_wait", "launch_overhead", NULL, NULL, NULL,
                                         NULL, 0, 8 * MS});
    bench_part(bench,
               (struct hand_part){"idle_other", "graph_replay", NULL, NULL, NULL, NULL, 0, 2 * MS});
    add_setting(bench, "precision", "bf16");
    end_run(bench, 20 * MS);
}

// The same in one graph: its kernels and the time between them are not recorded.
static void add_graph(struct bench *bench, int64_t busy_ns)
{
    bench_add(bench);
    bench_part(bench, (struct hand_part){"other_compute", "other", NULL, NULL, NULL, "CUDA graph 4",
                                         1, 13 * MS});
    ROW(bench_rank(bench), &table_trust, {"item", .text = "graphs_whole"}, {"count", .i = 1},
        {"time_ns", .i = 13 * MS});
    ROW(bench_rank(bench), &table_breakdown, {"scope", .text = "trace"}, {"busy_ns", .i = busy_ns});
    end_run(bench, 13 * MS);
}

static struct str text_of(const struct bench *bench, const char *table, size_t row,
                          const char *column)
{
    return bench_cell(bench, table, row, column)->s;
}

static void kernels_that_graphs_hide_are_not_compared(void **state)
{
    (void)state;
    struct bench bench;
    const char *says = "the candidate recorded CUDA graphs as a whole, so kernels in them cannot "
                       "be compared: record with --cuda-graph-trace=node";
    bench_begin(&bench);
    add_kernels(&bench);
    add_graph(&bench, 13 * MS);
    bench_compare(&bench);
    assert_true(str_equal(text_of(&bench, SUMMARY, 0, "doubts"), str_of(says)));
    assert_true(str_starts_with(text_of(&bench, SUMMARY, 0, "verdict_text"), str_of(says)));
    assert_true(bench_cell(&bench, SUMMARY, 0, "same_work")->null);
    assert_true(bench_cell(&bench, SUMMARY, 0, "same_work_share")->null);
    assert_true(bench_cell(&bench, SUMMARY, 0, "speedup")->null);
    assert_int_equal(bench_i64(&bench, "compare_settings", 0, "differs"), 0);
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 2);
    assert_true(bench_says(&bench, REASONS, 0, "title", "launch_overhead"));
    assert_int_equal(bench_i64(&bench, REASONS, 0, "delta_ns"), -8 * MS);
    assert_true(bench_says(&bench, REASONS, 1, "kind", "work"));
    assert_int_equal(bench_i64(&bench, REASONS, 1, "base_ns"), 12 * MS);
    assert_int_equal(bench_i64(&bench, REASONS, 1, "cand_ns"), 13 * MS);
    bench_end(&bench);
}

static void graphs_of_both_sides_are_compared(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_graph(&bench, 13 * MS);
    add_graph(&bench, 13 * MS);
    bench_compare(&bench);
    assert_true(str_starts_with(text_of(&bench, SUMMARY, 0, "doubts"), STR("both sides ")));
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "same_work"), 1);
    bench_end(&bench);
}

static void short_graphs_hide_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_kernels(&bench);
    add_graph(&bench, (int64_t)1400 * MS);
    bench_compare(&bench);
    assert_true(bench_cell(&bench, SUMMARY, 0, "doubts")->null);
    assert_false(bench_cell(&bench, SUMMARY, 0, "same_work")->null);
    bench_end(&bench);
}

static void a_step_pattern_that_a_side_lacks_is_said(void **state)
{
    (void)state;
    static const struct {
        bool missed[2];
        const char *says;
    } rows[] = {
        {{false, true},
         "no annotation of the candidate matches the step pattern 'batch', so the candidate's "
         "steps are not those asked for"},
        {{true, false},
         "no annotation of the base matches the step pattern 'batch', so the base's steps are not "
         "those asked for"},
        {{true, true},
         "no annotation of either side matches the step pattern 'batch', so their steps are not "
         "those asked for"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench;
        bench_begin(&bench);
        for (int side = 0; side < 2; side++) {
            add_kernels(&bench);
            add_setting(&bench, "stepscope.step", "batch");
            if (rows[i].missed[side])
                ROW(bench_rank(&bench), &table_trust, {"item", .text = "step_pattern_missed"},
                    {"count", .i = 1});
        }
        bench_compare(&bench);
        assert_true(str_equal(text_of(&bench, SUMMARY, 0, "doubts"), str_of(rows[i].says)));
        bench_end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_graphs_hide_are_not_compared),
        cmocka_unit_test(graphs_of_both_sides_are_compared),
        cmocka_unit_test(short_graphs_hide_nothing),
        cmocka_unit_test(a_step_pattern_that_a_side_lacks_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
