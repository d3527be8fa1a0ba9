// SPDX-License-Identifier: Apache-2.0
// Which rank represents a run in a comparison, and the words about how runs are read.
#include "analysis/compare/compare_read.h"
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

// A run whose ranks 0, 1, ... have these median steps.
static void add_run(struct bench *bench, const int64_t *steps_ns, size_t ranks, int64_t headline)
{
    bench_add(bench);
    bench_part(bench,
               (struct hand_part){"gemm", "GEMM", "aten::mm", NULL, NULL, "k", 1, steps_ns[0]});
    bench_steps(bench, 1, steps_ns[0]);
    int64_t slowest = 0;
    for (size_t i = 0; i < ranks; i++) {
        slowest = steps_ns[i] > steps_ns[slowest] ? (int64_t)i : slowest;
        ROW(bench_run(bench), &table_run_ranks, {"rank", .i = (int64_t)i},
            {"step_median_ns", .i = steps_ns[i]});
    }
    ROW(bench_run(bench), &table_run_summary, {"ranks", .i = (int64_t)ranks},
        {"headline_rank", .i = headline}, {"slowest_rank", .i = slowest});
}

static void the_bases_rank_represents_runs_where_its_step_is_alike(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, (int64_t[]){100000, 101000, 101001}, 3, 0);
    const struct report *run = bench_run(&bench);
    assert_int_equal(compare_rank_of(run, false, -1).number, 0);
    assert_int_equal(compare_rank_of(run, false, 1).number, 1);
    assert_int_equal(compare_rank_of(run, false, 2).number, 0); // more than 1 % apart
    assert_int_equal(compare_rank_of(run, false, 7).number, 0); // it has no such rank
    assert_int_equal(compare_rank_of(run, true, 1).number, 2);
    bench_add(&bench);
    assert_int_equal(compare_rank_of(bench_run(&bench), false, 1).number, -1);
    bench_end(&bench);
}

static void assert_said(int64_t base, int64_t cand, int64_t cand_again, const char *expected)
{
    struct bench bench;
    struct words words = {.len = 0};
    bench_begin(&bench);
    const int64_t numbers[] = {base, cand, cand_again};
    for (size_t i = 0; i < 3; i++) {
        add_run(&bench, (int64_t[]){100000, 100000, 100000}, 3, 0);
        bench.handles[i].which = (struct compare_rank){numbers[i], 3};
        if (i != 1)
            bench_side(&bench, i ? 2 : 1);
    }
    compare_read_say(&bench.sides[0], &bench.sides[1], &words);
    assert_true(str_equal(words_str(&words), str_of(expected)));
    bench_compare(&bench);
    struct str text = bench_cell(&bench, "compare_summary", 0, "verdict_text")->s;
    assert_true(str_find(text, str_of(expected)) != SIZE_MAX);
    bench_end(&bench);
}

static void texts_name_the_ranks_of_both_sides(void **state)
{
    (void)state;
    assert_said(1, 1, 1, "; on rank 1 of both sides");
    assert_said(1, 2, 0,
                "; on rank 1 of the base and ranks 0,2 of the candidate, so parts may differ as "
                "they do between ranks of one run");
}

static void runs_of_one_rank_need_no_words(void **state)
{
    (void)state;
    const struct compare_run run = {.which = {0, 1}};
    const struct compare_side side = {.runs = &run, .run_count = 1};
    struct words words = {.len = 0};
    compare_read_say(&side, &side, &words);
    assert_int_equal(words.len, 0);
}

static void copies_of_a_run_are_mentioned(void **state)
{
    (void)state;
    const struct compare_run run = {.which = {0, 1}};
    const struct compare_side base = {.runs = &run, .run_count = 1, .copies = 1};
    const struct compare_side cand = {.runs = &run, .run_count = 1, .copies = 3};
    struct words words = {.len = 0};
    compare_read_say(&base, &cand, &words);
    assert_true(str_equal(
        words_str(&words),
        STR("; 1 more run of the base has the same files as another one and does not count; 3 more "
            "runs of the candidate have the same files as another one and do not count")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bases_rank_represents_runs_where_its_step_is_alike),
        cmocka_unit_test(texts_name_the_ranks_of_both_sides),
        cmocka_unit_test(runs_of_one_rank_need_no_words),
        cmocka_unit_test(copies_of_a_run_are_mentioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
