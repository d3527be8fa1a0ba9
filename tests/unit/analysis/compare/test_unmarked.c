// SPDX-License-Identifier: Apache-2.0
// Recordings in which no step is marked: what is compared is called a recording, not a step.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

#define SUMMARY "compare_summary"

// A side of one run, in whose recording a step may be marked; calls of one kernel take 10 ms or
// less.
static void add_recording(struct bench *bench, int64_t ns, bool has_steps)
{
    bench_add(bench);
    int64_t calls = ns > 10000000 ? 2 : 1;
    bench_part(bench,
               (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", calls, ns});
    bench_steps(bench, 1, ns);
    if (!has_steps)
        ROW(bench_rank(bench), &table_trust, {"item", .text = "no_steps"}, {"count", .i = 1});
    bench_side(bench, 1);
}

static bool verdict_has(const struct bench *bench, const char *part)
{
    struct str text = bench_cell(bench, SUMMARY, 0, "verdict_text")->s;
    return str_find(text, str_of(part)) != SIZE_MAX;
}

static bool reason_has(const struct bench *bench, const char *part)
{
    struct str text = bench_cell(bench, "compare_reasons", 0, "why")->s;
    return str_find(text, str_of(part)) != SIZE_MAX;
}

static void steps_are_named_only_where_they_are_marked(void **state)
{
    (void)state;
    static const struct {
        bool base, cand;
        const char *says;
    } rows[] = {
        {true, true, "the candidate's median step is 20.0 ms, the base's 10.0 ms: 100.0 % longer;"},
        {false, false,
         "the candidate's recording takes 20.0 ms, the base's 10.0 ms: 100.0 % longer;"},
        {false, true, "; no step of the base is marked, so its whole recording counts as one;"},
        {true, false,
         "; no step of the candidate is marked, so its whole recording counts as one;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench;
        bench_begin(&bench);
        add_recording(&bench, 10000000, rows[i].base);
        add_recording(&bench, 20000000, rows[i].cand);
        bench_compare(&bench);
        assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_no_steps"), !rows[i].base);
        assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_no_steps"), !rows[i].cand);
        assert_true(verdict_has(&bench, rows[i].says));
        bool has_steps = rows[i].base || rows[i].cand;
        assert_true(reason_has(&bench, has_steps ? "2 calls per step instead of 1"
                                                 : "2 calls instead of 1"));
        assert_true(verdict_has(&bench, has_steps ? "calls per step match" : "calls match"));
        bench_end(&bench);
    }
}

// One repeat with steps is enough for the others to be compared with it.
static void a_side_has_steps_if_one_of_its_runs_has(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_recording(&bench, 10000000, false);
    add_recording(&bench, 10000000, true);
    bench.side_count = 0;
    bench_side(&bench, 2);
    add_recording(&bench, 20000000, false);
    bench_compare(&bench);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_no_steps"), 0);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "cand_no_steps"), 1);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_named_only_where_they_are_marked),
        cmocka_unit_test(a_side_has_steps_if_one_of_its_runs_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
