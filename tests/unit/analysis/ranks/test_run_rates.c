// SPDX-License-Identifier: Apache-2.0
// Ranks compared at equal work: distinguishes slow devices from more work, and one slow rank from
// many.
#include "analysis/ranks/run_rates.h"

#include "analysis/report/row.h"
#include "analysis/ranks/run_split.h"
#include "analysis/report/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define STEPS 10

// A row of a rank's table: a kernel, how its work is known, and its calls in the steady steps.
struct kind {
    const char *kernel, *basis;
    int64_t work, calls, call_ns;
};

// The kernels of a rank that does the same as all. A step has 100 + 60 + 20 + 20 us.
static const struct kind usual[] = {
    {"gemm_a", "shapes", 1, STEPS, 100000},
    {"gemm_b", "shapes", 2, 2 * STEPS, 30000},
    {"norm", "grid", 3, STEPS, 20000},
    {"lookup", "values", 4, STEPS, 20000},
};

enum { KINDS = sizeof usual / sizeof *usual };

struct hand {
    struct budget budget;
    struct run_rates rates;
    int64_t count;
    struct err err;
};

static void begin(struct hand *hand)
{
    *hand = (struct hand){.count = 0};
    assert_true(run_rates_open(&hand->rates, 32, &hand->budget, &hand->err));
}

static void end(struct hand *hand)
{
    run_rates_close(&hand->rates);
    assert_int_equal(hand->budget.used, 0);
}

static void add_kind(struct report *report, const struct kind *kind, struct err *err)
{
    struct row row = {.desc = &table_kernel_rates};
    row_word(&row, KERNEL_RATES_KERNEL, kind->kernel);
    row_word(&row, KERNEL_RATES_BASIS, kind->basis);
    row_i64(&row, KERNEL_RATES_WORK, kind->work);
    row_i64(&row, KERNEL_RATES_CALLS, kind->calls);
    row_i64(&row, KERNEL_RATES_TOTAL_NS, kind->calls * kind->call_ns);
    assert_true(row_end(&row, report, err));
}

static void add_summary(struct report *report, struct err *err)
{
    struct row row = {.desc = &table_summary};
    row_i64(&row, SUMMARY_STEADY_STEPS, STEPS);
    assert_true(row_end(&row, report, err));
}

static void add_job_rank(struct hand *hand, const struct kind *kinds, size_t count, uint32_t job)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    add_summary(&report, &hand->err);
    for (size_t i = 0; i < count; i++)
        add_kind(&report, &kinds[i], &hand->err);
    assert_true(run_rates_add(&hand->rates, hand->count++, job, &report, &hand->err));
    arena_free(&arena);
}

static void add_rank(struct hand *hand, const struct kind *kinds, size_t count)
{
    add_job_rank(hand, kinds, count, 0);
}

// The usual work in `percent` of the usual time.
static void add_slow(struct hand *hand, int64_t percent)
{
    struct kind kinds[KINDS];
    for (int i = 0; i < KINDS; i++) {
        kinds[i] = usual[i];
        kinds[i].call_ns = kinds[i].call_ns * percent / 100;
    }
    add_rank(hand, kinds, KINDS);
}

static const struct rank_rate *judge(struct hand *hand)
{
    assert_true(run_rates_judge(&hand->rates, &hand->err));
    return hand->rates.ranks;
}

static size_t slow_ranks(const struct hand *hand)
{
    size_t slow = 0;
    for (uint32_t r = 0; r < hand->rates.count; r++)
        slow += hand->rates.ranks[r].slow;
    return slow;
}

static void one_slow_rank_is_reported_with_what_it_takes_longer(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand);
    for (int r = 0; r < 4; r++)
        add_slow(&hand, r == 2 ? 120 : r == 3 ? 101 : 100);
    const struct rank_rate *rank = &judge(&hand)[2];
    assert_int_equal(slow_ranks(&hand), 1);
    assert_true(rank->slow && rank->sure);
    assert_int_equal(rank->kernels, 3);
    assert_float_equal(rank->ratio, 1.2, 1e-9);
    // A fifth of 180 us, and a sixth of the lookup's 24 us, by which it exceeds the usual time.
    assert_in_range(rank->slow_ns, 39999, 40000);
    assert_string_equal(rank->kernel.at, "gemm_a");
    assert_int_equal(rank->call_ns, 120000);
    assert_int_equal(rank->usual_ns, 100000);
    end(&hand);
}

static void half_of_the_ranks_are_slow_against_the_fast_half(void **state)
{
    (void)state;
    for (int slow = 8; slow <= 12; slow += 4) { // of 16: the lower median is slow with 12
        struct hand hand;
        begin(&hand);
        for (int r = 0; r < 16; r++)
            add_slow(&hand, r < slow ? 112 : 100);
        judge(&hand);
        assert_int_equal(slow_ranks(&hand), slow);
        assert_float_equal(hand.rates.ranks[0].ratio, 1.12, 1e-9);
        assert_float_equal(hand.rates.ranks[15].ratio, 1, 1e-9);
        end(&hand);
    }
}

static void ranks_that_differ_by_degrees_and_a_single_fast_one_accuse_nobody(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand);
    for (int r = 0; r < 8; r++)
        add_slow(&hand, 100 + 2 * r);
    judge(&hand);
    assert_int_equal(slow_ranks(&hand), 0);
    end(&hand);
    begin(&hand);
    for (int r = 0; r < 8; r++)
        add_slow(&hand, r == 5 ? 90 : 100);
    judge(&hand);
    assert_int_equal(slow_ranks(&hand), 0);
    end(&hand);
}

// Rank 1 has longer sequences, more layers, or experts with more tokens: no difference at equal
// work.
static void more_work_is_no_slow_device(void **state)
{
    (void)state;
    static const struct kind cases[][KINDS] = {
        {{"gemm_a", "shapes", 91, STEPS, 140000},
         {"gemm_b", "shapes", 92, 2 * STEPS, 42000},
         {"norm", "grid", 93, STEPS, 28000},
         {"lookup", "values", 4, STEPS, 28000}},
        {{"gemm_a", "shapes", 1, 2 * STEPS, 100000},
         {"gemm_b", "shapes", 2, 4 * STEPS, 30000},
         {"norm", "grid", 3, 2 * STEPS, 20000},
         {"lookup", "values", 4, STEPS, 20000}},
        {{"gemm_a", "shapes", 1, STEPS, 100000},
         {"gemm_b", "shapes", 2, 2 * STEPS, 30000},
         {"norm", "grid", 3, STEPS, 20000},
         {"lookup", "values", 4, STEPS, 90000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin(&hand);
        for (int r = 0; r < 4; r++)
            add_rank(&hand, r == 1 ? cases[i] : usual, KINDS);
        const struct rank_rate *rank = &judge(&hand)[1];
        assert_int_equal(slow_ranks(&hand), 0);
        assert_float_equal(rank->ratio, 1, 1e-9); // also of what no other rank has
        end(&hand);
    }
}

static void one_kernel_alone_is_no_slow_device(void **state)
{
    (void)state;
    struct kind kinds[KINDS];
    memcpy(kinds, usual, sizeof kinds);
    kinds[0].call_ns = 150000;
    struct hand hand;
    begin(&hand);
    for (int r = 0; r < 4; r++)
        add_rank(&hand, r == 1 ? kinds : usual, KINDS);
    assert_true(judge(&hand)[1].ratio > 1.2);
    assert_int_equal(slow_ranks(&hand), 0);
    end(&hand);
}

// Kernels whose grid only fills the device do not count while others show the work; if only names
// are recorded, equal numbers of calls are taken for equal work, and the result says so.
static void what_is_recorded_decides_how_sure_it_is(void **state)
{
    (void)state;
    static const struct kind grown[] = {{"gemm_a", "few_blocks", 1, STEPS, 140000},
                                        {"gemm_b", "few_blocks", 2, STEPS, 42000},
                                        {"norm", "grid", 93, STEPS, 80000},
                                        {"adam", "grid", 5, STEPS, 80000}};
    static const struct kind before[] = {{"gemm_a", "few_blocks", 1, STEPS, 100000},
                                         {"gemm_b", "few_blocks", 2, STEPS, 30000},
                                         {"norm", "grid", 3, STEPS, 50000},
                                         {"adam", "grid", 5, STEPS, 80000}};
    struct hand hand;
    begin(&hand);
    for (int r = 0; r < 4; r++)
        add_rank(&hand, r == 1 ? grown : before, KINDS);
    assert_float_equal(judge(&hand)[1].ratio, 1, 1e-9);
    end(&hand);
    static const struct kind bare[] = {{"a", NULL, 1, STEPS, 100}, {"b", NULL, 1, STEPS, 100}};
    static const struct kind slow[] = {{"a", NULL, 1, STEPS, 120}, {"b", NULL, 1, STEPS, 120}};
    static const struct kind more[] = {{"a", NULL, 1, 2 * STEPS, 120},
                                       {"b", NULL, 1, 2 * STEPS, 120}};
    begin(&hand);
    for (int r = 0; r < 6; r++)
        add_rank(&hand, r == 1 ? slow : r == 4 ? more : bare, 2);
    judge(&hand);
    assert_int_equal(slow_ranks(&hand), 1);
    assert_true(hand.rates.ranks[1].slow);
    assert_false(hand.rates.ranks[1].sure);
    end(&hand);
}

static void ranks_of_different_jobs_are_not_compared(void **state)
{
    (void)state;
    static const struct kind other[] = {{"gemm_a", "shapes", 1, STEPS, 150000},
                                        {"gemm_b", "shapes", 2, 2 * STEPS, 45000},
                                        {"norm", "grid", 3, STEPS, 30000}};
    struct hand hand;
    begin(&hand);
    for (int r = 0; r < 8; r++)
        add_job_rank(&hand, r < 4 ? usual : other, 3, r >= 4);
    judge(&hand);
    assert_int_equal(slow_ranks(&hand), 0);
    assert_float_equal(hand.rates.ranks[7].ratio, 1, 1e-9);
    end(&hand);
}

static void clusters_on_a_line_are_split_at_the_widest_gap(void **state)
{
    (void)state;
    static const struct {
        double values[8];
        size_t count, low;
    } cases[] = {
        {{1, 1.01, 1.12, 1.13}, 4, 2},
        {{1, 1.01, 1.02, 1.03}, 4, 4},
        {{1, 1.12}, 2, 1},
        {{0.9, 1, 1, 1}, 4, 4},             // a single fast one
        {{1, 1, 1, 1.12, 1.12, 1.5}, 6, 3}, // two levels of slow ones
        {{1, 1.02, 1.05, 1.09}, 4, 4},      // gradual: the gap is no wider than the rest
        {{1}, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(run_split_low(cases[i].values, cases[i].count, 0.03), cases[i].low);
    assert_int_equal(run_split_low(NULL, 0, 0.03), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slow_rank_is_reported_with_what_it_takes_longer),
        cmocka_unit_test(half_of_the_ranks_are_slow_against_the_fast_half),
        cmocka_unit_test(ranks_that_differ_by_degrees_and_a_single_fast_one_accuse_nobody),
        cmocka_unit_test(more_work_is_no_slow_device),
        cmocka_unit_test(one_kernel_alone_is_no_slow_device),
        cmocka_unit_test(what_is_recorded_decides_how_sure_it_is),
        cmocka_unit_test(ranks_of_different_jobs_are_not_compared),
        cmocka_unit_test(clusters_on_a_line_are_split_at_the_widest_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
