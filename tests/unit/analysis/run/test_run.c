// SPDX-License-Identifier: Apache-2.0
// Ranks become a run, and two runs a waterfall that sums exactly at every level.
#include "tests/named_cell.h"
#include "tests/unit/hand_trace.h"

#include "analysis/compare/compare.h"

#include <math.h>

#define MAX_RANKS 4

// Traces of some ranks and what was made of them.
struct crew {
    struct hand hands[MAX_RANKS];
    struct rank_report ranks[MAX_RANKS];
    size_t count;
    struct arena arena;
    struct report report;
    struct err err;
};

// One kernel per step in every trace, launched by an operator.
struct work {
    const char *op, *kernel;
    int64_t dur_ns;
};

static void add_step(struct hand *hand, int step, int64_t begin_ns, const struct work *work)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                       .name = step ? "ProfilerStep#2" : "ProfilerStep#1",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 100000,
                                       .pid = 1,
                                       .row = 1});
    int64_t at_ns = begin_ns + 1000;
    for (int i = 0; work[i].kernel; i++) {
        int64_t correlation = 100 * step + i + 1;
        if (work[i].op)
            hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                               .name = work[i].op,
                                               .begin_ns = begin_ns + 10 * i,
                                               .dur_ns = 9,
                                               .pid = 1,
                                               .row = 1});
        hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                           .name = "cudaLaunchKernel",
                                           .begin_ns = begin_ns + 10 * i + 2,
                                           .dur_ns = 5,
                                           .pid = 1,
                                           .row = 1,
                                           .correlation = correlation});
        hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                           .name = work[i].kernel,
                                           .begin_ns = at_ns,
                                           .dur_ns = work[i].dur_ns,
                                           .row = 7,
                                           .correlation = correlation});
        at_ns += work[i].dur_ns;
    }
}

// A trace with `steps` steps of that work; the last event ends the last step.
static void add_rank(struct crew *crew, int64_t rank, int steps, const struct work *work)
{
    struct hand *hand = &crew->hands[crew->count];
    hand_begin(hand);
    hand_member(hand, "distributedInfo", "{\"world_size\": 4, \"backend\": \"nccl\"}");
    for (int step = 0; step < steps; step++)
        add_step(hand, step, 100000 * step, work);
    hand_analyze(hand);
    crew->ranks[crew->count++] = (struct rank_report){rank, &hand->report};
}

static void begin_crew(struct crew *crew)
{
    *crew = (struct crew){.count = 0};
    arena_init(&crew->arena, NULL);
    crew->report.arena = &crew->arena;
}

static void join_crew(struct crew *crew)
{
    assert_true(analyze_reports(crew->ranks, crew->count, &crew->report, &crew->err));
}

static void end_crew(struct crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        hand_end(&crew->hands[i]);
    arena_free(&crew->arena);
}

static const struct cell *cell_of(const struct report *report, const char *table, size_t row,
                                  const char *column)
{
    const struct table *found = report_find(report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static int64_t i64_of(const struct report *report, const char *table, size_t row,
                      const char *column)
{
    const struct cell *cell = cell_of(report, table, row, column);
    assert_false(cell->null);
    return cell->i;
}

static void the_lower_median_rank_represents_the_run(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    static const int64_t durations[] = {300, 100, 400, 200}; // ranks 0 to 3
    for (int r = 0; r < 4; r++)
        add_rank(&crew, r, 1, (const struct work[]){{"aten::mm", "sgemm", durations[r]}, {0}});
    join_crew(&crew);
    assert_int_equal(i64_of(&crew.report, "summary", 0, "headline_rank"), 3);
    assert_int_equal(i64_of(&crew.report, "summary", 0, "slowest_rank"), 2);
    assert_int_equal(i64_of(&crew.report, "summary", 0, "step_median_ns"), 200);
    assert_true(cell_of(&crew.report, "summary", 0, "rank_spread_share")->f == 1.5);
    assert_int_equal(i64_of(&crew.report, "ranks", 3, "headline"), 1);
    assert_int_equal(i64_of(&crew.report, "ranks", 1, "gemm_ns"), 100);
    assert_true(str_equal(cell_of(&crew.report, "breakdown", 0, "scope")->s, STR("run_median")));
    assert_int_equal(i64_of(&crew.report, "breakdown", 0, "gemm_ns"), 200);
    assert_int_equal(i64_of(&crew.report, "breakdown", 1, "gemm_ns"), 400);
    end_crew(&crew);
}

static void kernels_are_joined_over_ranks(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    static const int64_t durations[] = {100, 300, 200};
    for (int r = 0; r < 3; r++)
        add_rank(&crew, 2 * r, 1, (const struct work[]){{"aten::mm", "sgemm", durations[r]}, {0}});
    join_crew(&crew);
    const struct report *run = &crew.report;
    assert_int_equal(report_find(run, "kernels")->row_count, 1);
    assert_int_equal(i64_of(run, "kernels", 0, "ranks"), 3);
    assert_int_equal(i64_of(run, "kernels", 0, "calls"), 3);
    assert_int_equal(i64_of(run, "kernels", 0, "total_ns"), 600);
    assert_int_equal(i64_of(run, "kernels", 0, "rank_min_ns"), 100);
    assert_int_equal(i64_of(run, "kernels", 0, "rank_median_ns"), 200);
    assert_int_equal(i64_of(run, "kernels", 0, "rank_max_ns"), 300);
    assert_int_equal(i64_of(run, "kernels", 0, "slowest_rank"), 2);
    assert_true(fabs(cell_of(run, "kernels", 0, "rank_cv")->f - 0.5) < 1e-12);
    assert_true(cell_of(run, "kernels", 0, "per_step_ns")->f == 200); // rank 4 is the headline
    assert_true(cell_of(run, "kernels", 0, "mean_ns")->f == 200);
    assert_true(cell_of(run, "kernels", 0, "window_share")->f == 1);
    assert_int_equal(i64_of(run, "classes", 0, "sum_ns"), 600);
    end_crew(&crew);
}

static void the_mean_of_a_kernel_is_over_all_its_calls(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    add_rank(&crew, 0, 1, (const struct work[]){{"aten::mm", "sgemm", 100}, {0}});
    add_rank(&crew, 1, 3, (const struct work[]){{"aten::mm", "sgemm", 400}, {0}});
    join_crew(&crew);
    assert_true(cell_of(&crew.report, "kernels", 0, "mean_ns")->f == 1300.0 / 4);
    end_crew(&crew);
}

static void settings_and_missing_ranks_are_those_of_the_run(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    for (int r = 0; r < 3; r++)
        add_rank(&crew, r, 1, (const struct work[]){{"aten::mm", "sgemm", 100}, {0}});
    join_crew(&crew);
    const struct table *settings = report_find(&crew.report, "environment");
    assert_int_equal(settings->row_count, 5); // from the file and derived, each once
    assert_int_equal(named_cell(settings, 0, "ranks")->i, 3);
    const struct table *trust = report_find(&crew.report, "trust");
    assert_true(str_equal(named_cell(trust, 0, "item")->s, STR("missing_ranks")));
    assert_true(named_cell(trust, 0, "rank")->null);
    assert_int_equal(named_cell(trust, 0, "count")->i, 1);
    end_crew(&crew);
}

static void a_rank_without_device_events_does_not_represent_the_run(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    add_rank(&crew, 0, 1, (const struct work[]){{0}});
    add_rank(&crew, 1, 1, (const struct work[]){{"aten::mm", "sgemm", 100}, {0}});
    join_crew(&crew);
    assert_int_equal(i64_of(&crew.report, "summary", 0, "headline_rank"), 1);
    assert_int_equal(i64_of(&crew.report, "summary", 0, "slowest_rank"), 1);
    assert_int_equal(i64_of(&crew.report, "ranks", 0, "window_ns"), 0);
    end_crew(&crew);
}

static void joining_ranks_is_counted_in_the_budget_of_the_report(void **state)
{
    (void)state;
    static const struct work work[] = {{"aten::mm", "gemm", 4000}, {NULL, NULL, 0}};
    struct crew crew;
    struct budget budget = {.limit = 100000};
    begin_crew(&crew);
    crew.arena.budget = &budget;
    add_rank(&crew, 0, 2, work);
    assert_false(analyze_reports(crew.ranks, crew.count, &crew.report, &crew.err));
    assert_int_equal(crew.err.code, ERR_LIMIT);
    end_crew(&crew);
    assert_int_equal(budget.used, 0);
}

static void a_run_without_ranks_is_refused(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    assert_false(analyze_reports(crew.ranks, 0, &crew.report, &crew.err));
    assert_int_equal(crew.err.code, ERR_USAGE);
    end_crew(&crew);
}

static int64_t sum_below(const struct table *fall, int64_t id, const char *column)
{
    int64_t sum = 0;
    for (size_t i = 0; i < fall->row_count; i++) {
        const struct cell *parent = named_cell(fall, i, "parent");
        if (!parent->null && parent->i == id)
            sum += named_cell(fall, i, column)->i;
    }
    return sum;
}

// The rows below each row sum to it, on both sides and in the difference.
static void check_sums(const struct table *fall)
{
    static const char *const columns[] = {"base_ns",       "cand_ns",       "delta_ns",
                                          "base_total_ns", "cand_total_ns", "base_calls"};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (size_t i = 0; i < fall->row_count; i++)
            if (!str_equal(named_cell(fall, i, "level")->s, STR("kernel")))
                assert_int_equal(sum_below(fall, named_cell(fall, i, "id")->i, columns[c]),
                                 named_cell(fall, i, columns[c])->i);
}

static size_t find_row(const struct table *fall, const char *match, const char *op)
{
    for (size_t i = 0; i < fall->row_count; i++) {
        const struct cell *own = named_cell(fall, i, "op");
        bool same = op ? !own->null && str_equal(own->s, str_of(op)) : own->null;
        if (same && str_equal(named_cell(fall, i, "level")->s, STR("op")) &&
            str_equal(named_cell(fall, i, "match")->s, str_of(match)))
            return i;
    }
    fail_msg("no row %s %s", match, op ? op : "(no operator)");
    return 0;
}

static const struct work base_work[] = {
    {"aten::mm", "nvjet_a", 1000},
    {"aten::mm", "nvjet_b", 501},
    {"aten::add", "elementwise", 300},
    {NULL, "softmax_x", 77},
    {"aten::mul", "mul_base", 40},
    {"my::op", "layer_norm_a", 10},
    {0},
};
static const struct work cand_work[] = {
    {"aten::mm", "Cijk_A", 800},   {"aten::add", "elementwise", 350}, {NULL, "softmax_x", 80},
    {"aten::sub", "sub_cand", 33}, {NULL, "flash_attn_fwd", 205},     {0},
};

static void compare_crews(const struct crew *base, const struct crew *cand, struct report *report)
{
    const struct compare_run runs[2] = {{.run = &base->report, .rank = &base->hands[0].report},
                                        {.run = &cand->report, .rank = &cand->hands[0].report}};
    const struct compare_side sides[2] = {{.runs = runs, .run_count = 1},
                                          {.runs = runs + 1, .run_count = 1}};
    const struct compare_options options = {.limits = verdict_default_limits()};
    struct err err;
    assert_true(analyze_compare(&sides[0], &sides[1], 1, &options, report, &err));
}

static void compare_works(struct crew *base, struct crew *cand, struct report *report)
{
    begin_crew(base);
    begin_crew(cand);
    add_rank(base, 0, 5, base_work);
    add_rank(cand, 0, 7, cand_work);
    join_crew(base);
    join_crew(cand);
    report->arena = &base->arena;
    compare_crews(base, cand, report);
}

static void a_waterfall_sums_exactly_and_matches_by_operator_first(void **state)
{
    (void)state;
    struct crew base, cand;
    struct report report = {0};
    compare_works(&base, &cand, &report);
    const struct table *fall = report_find(&report, "compare_waterfall");
    check_sums(fall);
    int64_t delta_ns = 0;
    for (size_t i = 0; i < fall->row_count; i++)
        if (str_equal(named_cell(fall, i, "level")->s, STR("bar")))
            delta_ns += named_cell(fall, i, "delta_ns")->i;
    assert_int_equal(delta_ns, i64_of(&report, "compare_summary", 0, "delta_mean_ns"));
    size_t mm = find_row(fall, "op", "aten::mm");
    assert_int_equal(named_cell(fall, mm, "base_total_ns")->i, 4 * 1501); // four steady steps
    assert_int_equal(named_cell(fall, mm, "cand_total_ns")->i, 6 * 800);
    assert_true(str_equal(named_cell(fall, mm, "base_kernel")->s, STR("nvjet_a")));
    assert_true(str_equal(named_cell(fall, mm, "cand_kernel")->s, STR("Cijk_A")));
    size_t softmax = find_row(fall, "kernel", NULL);
    assert_int_equal(named_cell(fall, softmax, "delta_ns")->i, 3);
    size_t rest = find_row(fall, "category", NULL); // aten::mul against aten::sub
    assert_true(str_equal(named_cell(fall, rest, "category")->s, STR("elementwise")));
    find_row(fall, "unmatched", "my::op");
    find_row(fall, "unmatched", NULL); // flash_attn_fwd
    end_crew(&base);
    end_crew(&cand);
}

static void a_run_compared_with_itself_differs_in_nothing(void **state)
{
    (void)state;
    struct crew crew;
    begin_crew(&crew);
    add_rank(&crew, 0, 3, base_work);
    join_crew(&crew);
    struct report report = {.arena = &crew.arena};
    compare_crews(&crew, &crew, &report);
    const struct table *fall = report_find(&report, "compare_waterfall");
    for (size_t i = 0; i < fall->row_count; i++) {
        assert_int_equal(named_cell(fall, i, "delta_ns")->i, 0);
        assert_int_equal(named_cell(fall, i, "calls_effect_ns")->i, 0);
    }
    assert_true(cell_of(&report, "compare_summary", 0, "speedup")->f == 1);
    assert_true(cell_of(&report, "compare_summary", 0, "matched_share")->f == 1);
    const struct table *settings = report_find(&report, "compare_settings");
    for (size_t i = 0; i < settings->row_count; i++)
        assert_false(named_cell(settings, i, "differs")->i);
    end_crew(&crew);
}

static void a_run_without_device_events_compares_as_nothing(void **state)
{
    (void)state;
    struct crew base, cand;
    begin_crew(&base);
    begin_crew(&cand);
    add_rank(&base, 0, 1, (const struct work[]){{0}});
    add_rank(&cand, 0, 3, cand_work);
    join_crew(&base);
    join_crew(&cand);
    struct report report = {.arena = &base.arena};
    compare_crews(&base, &cand, &report);
    check_sums(report_find(&report, "compare_waterfall"));
    assert_true(cell_of(&report, "compare_summary", 0, "base_step_ns")->null);
    assert_true(cell_of(&report, "compare_summary", 0, "speedup")->null);
    assert_int_equal(i64_of(&report, "compare_summary", 0, "base_mean_ns"), 0);
    assert_true(str_starts_with(cell_of(&report, "compare_summary", 0, "verdict_text")->s,
                                STR("the base has no steps")));
    end_crew(&base);
    end_crew(&cand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lower_median_rank_represents_the_run),
        cmocka_unit_test(kernels_are_joined_over_ranks),
        cmocka_unit_test(the_mean_of_a_kernel_is_over_all_its_calls),
        cmocka_unit_test(settings_and_missing_ranks_are_those_of_the_run),
        cmocka_unit_test(a_rank_without_device_events_does_not_represent_the_run),
        cmocka_unit_test(joining_ranks_is_counted_in_the_budget_of_the_report),
        cmocka_unit_test(a_run_without_ranks_is_refused),
        cmocka_unit_test(a_waterfall_sums_exactly_and_matches_by_operator_first),
        cmocka_unit_test(a_run_compared_with_itself_differs_in_nothing),
        cmocka_unit_test(a_run_without_device_events_compares_as_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
