// SPDX-License-Identifier: Apache-2.0
// Rules of a run: each finds its case in handmade tables, with the right cost, and is silent
// otherwise; no part of the step is explained twice.
#include "analysis/run/run_recorded.h"
#include "analysis/ranks/run_links.h"
#include "tests/unit/run_findings_hand.h"

static void a_run_in_which_nothing_is_wrong_has_no_findings(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, 60 + i % 2, 1, 2);
    ROW(&run.report, &table_run_lateness, {"rank", cell_i64(2)},
        {"caused_wait_ns", cell_i64(30 * MS)}, {"reason", word("compute_slower")});
    ROW(&run.report, &table_run_lateness, {"rank", cell_i64(0)},
        {"caused_wait_ns", cell_i64(10 * MS)}, {"reason", word("unknown")});
    ROW(&run.report, &table_run_comm_waits, {"kind", word("all_reduce")}, {"ranks", word("0-3")},
        {"calls", cell_i64(STEPS)}, {"bytes", cell_i64(100000000)},
        {"exposed_wait_ns", cell_i64(4 * STEPS * MS)},
        {"exposed_transfer_ns", cell_i64(8 * STEPS * MS)}, {"transfer_median_ns", cell_i64(2 * MS)},
        {"algo_gbps", cell_f64(50)});
    analyze(&run);
    assert_int_equal(count(&run), 0);
    end(&run);
}

// Rank 2 is late in most collectives; the others wait 20 ms of each step.
static void add_straggler(struct hand_run *run, const char *reason)
{
    for (int i = 0; i < 4; i++)
        add_rank(run, i == 2 ? 80 : 60, i == 2 ? 0 : 20, 3);
    ROW(&run->report, &table_run_lateness, {"rank", cell_i64(3)},
        {"caused_wait_ns", cell_i64(800 * MS)}, {"reason", word("communication")});
    ROW(&run->report, &table_run_lateness, {"rank", cell_i64(2)}, {"calls", cell_i64(50)},
        {"late_calls", cell_i64(48)}, {"caused_wait_ns", cell_i64(540 * MS)},
        {"reason", word(reason)}, {"reason_share", cell_f64(0.97)});
    ROW(&run->report, &table_run_lateness, {"rank", cell_i64(0)},
        {"caused_wait_ns", cell_i64(60 * MS)}, {"reason", word("unknown")});
}

static void a_straggler_is_named_with_its_reason(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_straggler(&run, "compute_slower");
    analyze(&run);
    assert_int_equal(cost_of(&run, "straggler"), 20 * MS); // 23 ms exposed, 3 on rank 2
    assert_string_equal(word_of(&run, "straggler", "id"), "straggler:2");
    assert_string_equal(word_of(&run, "straggler", "ranks"), "2");
    assert_non_null(
        strstr(word_of(&run, "straggler", "title"), "its kernels take longer for the same work"));
    assert_true(cell_of(&run, "straggler", "rank")->null);
    // What remains of the waits is too little to report, and a single rank is no imbalance.
    assert_int_equal(count(&run), 1);
    end(&run);
}

static void without_steps_the_recording_is_meant(void **state)
{
    (void)state;
    static const char *const said[] = {"the other ranks wait 20.0 ms per step for rank 2",
                                       "the other ranks wait 20.0 ms in the recording for rank 2"};
    for (int whole = 0; whole < 2; whole++) {
        struct hand_run run;
        begin(&run);
        add_straggler(&run, "compute_slower");
        ROW(&run.report, &table_run_trust, {"rank", cell_i64(whole ? 1 : 0)},
            {"item", word("no_steps")}, {"severity", word("info")});
        analyze(&run);
        assert_non_null(strstr(word_of(&run, "straggler", "title"), said[whole]));
        end(&run);
    }
}

static void waits_that_no_rank_alone_causes_are_reported_as_such(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, 60, i == 0 ? 3 : 4 * i, 3);
    for (int64_t i = 0; i < 4; i++)
        ROW(&run.report, &table_run_lateness, {"rank", cell_i64(i)},
            {"caused_wait_ns", cell_i64((30 - i) * MS)}, {"reason", word("host")});
    analyze(&run);
    assert_int_equal(cost_of(&run, "exposed_wait"), 4 * MS); // of 3, 4, 8, 12
    assert_int_equal(count(&run), 1);
    end(&run);
}

static void a_straggler_of_a_pipeline_is_compared_with_its_stage(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 8; i++)
        add_rank(&run, 60, 0, i < 4 ? 30 : i == 6 ? 12 : 20);
    ROW(&run.report, &table_run_lateness, {"rank", cell_i64(6)},
        {"caused_wait_ns", cell_i64(540 * MS)}, {"reason", word("host")});
    ROW(&run.report, &table_run_pipeline, {"stage", cell_i64(0)}, {"ranks", word("0-3")});
    ROW(&run.report, &table_run_pipeline, {"stage", cell_i64(1)}, {"ranks", word("4-7")});
    analyze(&run);
    assert_int_equal(cost_of(&run, "straggler"), 8 * MS);
    end(&run);
}

static void each_reason_has_its_advice(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"more_work", "evenly"},
                                           {"data_loading", "loader"},
                                           {"host", "CPUs"},
                                           {"copies", "link"},
                                           {"unknown", "timeline"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_run run;
        begin(&run);
        add_straggler(&run, cases[i][0]);
        analyze(&run);
        assert_non_null(strstr(word_of(&run, "straggler", "advice"), cases[i][1]));
        end(&run);
    }
}

// The late rank's own table of gaps, as supplied by a source of ranks.
static bool load_gaps(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    (void)index;
    const struct table *gaps = report_find(context, (*known)->name);
    return !gaps || report_borrow(report, gaps, err);
}

// What each rank's device waited for data in all steady steps.
static bool load_idle(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    const int64_t *loading_ns = context;
    if (*known != &table_idle_causes)
        return true;
    struct row row = {.desc = &table_idle_causes};
    row_word(&row, IDLE_CAUSES_CAUSE, "data_loading");
    row_i64(&row, IDLE_CAUSES_STEADY_NS, loading_ns[index]);
    return row_end(&row, report, err);
}

static void a_rank_whose_loader_is_slow_holds_all_up(void **state)
{
    (void)state;
    static struct {
        int64_t loading_ns[4];
        const char *rank; // NULL: none
        int64_t cost_ns;
    } cases[] = {
        {{0, 0, 0, 0}, NULL, 0},
        {{MS * STEPS, 0, 31 * MS * STEPS, 2 * MS * STEPS}, "2", 30 * MS},
        {{30 * MS * STEPS, 31 * MS * STEPS, 30 * MS * STEPS, 30 * MS * STEPS}, NULL, 0}, // all
        {{0, 0, 0, 2 * MS * STEPS}, NULL, 0}, // 2 % of the step
    };
    static const int64_t ranks[] = {0, 1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_run run;
        struct rank_source source = {
            .ranks = ranks, .count = 4, .context = cases[i].loading_ns, .load = load_idle};
        begin(&run);
        for (int rank = 0; rank < 4; rank++)
            add_rank(&run, 60, 0, 0);
        run.source = &source;
        analyze(&run);
        if (cases[i].rank) {
            assert_int_equal(cost_of(&run, "slow_loader"), cases[i].cost_ns);
            assert_string_equal(word_of(&run, "slow_loader", "ranks"), cases[i].rank);
        } else {
            assert_int_equal(count(&run), 0);
        }
        end(&run);
    }
}

// Rank 2 is late by 20 ms in each of 12 steps, 240 ms; of the gaps before its kernels 200 ms are in
// save_checkpoint and 30 outside any range, or the other way round.
static void the_range_in_which_a_host_is_late_is_named(void **state)
{
    (void)state;
    for (int64_t inside = 30; inside <= 200; inside += 170) {
        struct hand_run run;
        struct report gaps;
        static const int64_t ranks[] = {0, 1, 2, 3};
        struct rank_source source = {
            .ranks = ranks, .count = 4, .context = &gaps, .load = load_gaps};
        begin(&run);
        gaps = (struct report){.arena = &run.arena};
        add_straggler(&run, "host");
        ROW(&gaps, &table_idle_gaps, {"dur_ns", cell_i64(inside * MS)}, {"step", cell_i64(3)},
            {"cause", word("host_compute")}, {"host_range", word("save_checkpoint")});
        ROW(&gaps, &table_idle_gaps, {"dur_ns", cell_i64((230 - inside) * MS)},
            {"step", cell_i64(4)}, {"cause", word("host_compute")},
            {"host_range", word("ProfilerStep#4")});
        ROW(&gaps, &table_idle_gaps, {"dur_ns", cell_i64(900 * MS)}, {"step", cell_i64(4)},
            {"cause", word("data_loading")}, {"host_range", word("fetch")});
        run.source = &source;
        analyze(&run);
        const char *title = word_of(&run, "straggler", "title");
        assert_non_null(strstr(title, "its host is late to launch"));
        assert_int_equal(strstr(title, ", in save_checkpoint") != NULL, inside == 200);
        end(&run);
    }
}

static void a_log_shows_what_recording_costs(void **state)
{
    (void)state;
    static const struct {
        int64_t trace_ns, log_ns;
        const char *detail; // NULL: none
    } cases[] = {
        {17 * MS, 10760000, "58 %"}, {44 * MS, 43640000, NULL}, // 1 %
        {100 * MS, 10 * MS, NULL},                              // of several steps of the log
        {17 * MS, 0, NULL},                                     // a log without times
        {17 * MS, 100 * MS, NULL},                              // faster
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_run run;
        begin(&run);
        ROW(&run.report, &table_run_summary, {"step_median_ns", cell_i64(cases[i].trace_ns)});
        ROW(&run.report, &table_logs, {"step_median_ns", cell_i64(cases[i].log_ns)});
        assert_true(run_judge_recorded(&run.report, &run.err));
        const struct table *trust = report_find(&run.report, "trust");
        assert_int_equal(trust != NULL, cases[i].detail != NULL);
        if (trust) {
            assert_string_equal(named_cell(trust, 0, "item")->s.at, "recorded_slower");
            assert_non_null(strstr(named_cell(trust, 0, "detail")->s.at, cases[i].detail));
        }
        end(&run);
    }
}

static void waits_of_a_pipeline_are_its_bubble(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, 60, 20, 2);
    ROW(&run.report, &table_run_comm_waits, {"kind", word("recv")},
        {"exposed_wait_ns", cell_i64(95 * MS)});
    ROW(&run.report, &table_run_comm_waits, {"kind", word("all_reduce")}, {"ranks", word("0-1")},
        {"exposed_wait_ns", cell_i64(5 * MS)});
    ROW(&run.report, &table_run_comm_waits, {"kind", word("all_reduce")}, {"ranks", word("0-3")},
        {"exposed_wait_ns", cell_i64(100 * MS)}); // of all stages
    ROW(&run.report, &table_run_pipeline, {"stage", cell_i64(0)}, {"ranks", word("0-1")});
    ROW(&run.report, &table_run_pipeline, {"stage", cell_i64(1)}, {"ranks", word("2-3")});
    analyze(&run);
    assert_int_equal(count(&run), 0); // a twentieth of 20 ms is 1 ms
    end(&run);
}

static void a_slow_link_costs_the_rank_that_bears_most(void **state)
{
    (void)state;
    struct slow_link link = {&(struct comm_group){.name = STR("dp")},
                             KIND_ALL_REDUCE,
                             100000000,
                             10 * MS,
                             4 * MS,
                             120 * MS};
    for (int64_t cost = 0; cost <= 6; cost += 3) {
        struct run_links links = {&link, 1, 1, cost * MS / 3, "3,7"}; // 1 ms is 1 % of the step
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < 8; i++)
            add_rank(&run, 60, 0, i % 4 == 3 ? 4 : 3);
        run.links = &links;
        analyze(&run);
        assert_int_equal(count(&run), cost > 0);
        if (cost > 0) {
            assert_int_equal(cost_of(&run, "slow_link"), cost * MS / 3);
            assert_string_equal(word_of(&run, "slow_link", "ranks"), "3,7");
            assert_non_null(strstr(word_of(&run, "slow_link", "title"), "2.5 times slower"));
        }
        end(&run);
    }
}

static void many_small_messages_cost_what_bandwidth_does_not_explain(void **state)
{
    (void)state;
    for (int64_t calls = 19; calls <= 20; calls++) {
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < 2; i++)
            add_rank(&run, 60, 0, 4);
        ROW(&run.report, &table_run_comm_waits, {"kind", word("all_reduce")},
            {"ranks", word("0-1")}, {"calls", cell_i64(STEPS * calls)}, {"bytes", cell_i64(100000)},
            {"exposed_transfer_ns", cell_i64(2 * STEPS * 4 * MS)},
            {"transfer_median_ns", cell_i64(200000)}, {"algo_gbps", cell_f64(0.5)});
        ROW(&run.report, &table_run_comm_waits, {"kind", word("broadcast")}, {"ranks", word("0-1")},
            {"calls", cell_i64(1)}, {"bytes", cell_i64(100000000)},
            {"transfer_median_ns", cell_i64(1)}, {"algo_gbps", cell_f64(5)});
        analyze(&run);
        assert_int_equal(count(&run), calls == 20);
        if (calls == 20) // 100 kB at 5 GB/s take a tenth of the time
            assert_in_range(cost_of(&run, "small_messages"), 3599999, 3600001);
        end(&run);
    }
}

static void transfers_that_nothing_hides_are_found(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 5);
    add_rank(&run, 60, 0, 6);
    add_rank(&run, 60, 0, 20);
    analyze(&run);
    assert_int_equal(cost_of(&run, "exposed_transfer"), 6 * MS);
    assert_string_equal(word_of(&run, "exposed_transfer", "confidence"), "high");
    assert_int_equal(count(&run), 1);
    end(&run);
}

static void transfers_that_may_be_waits_are_doubted(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct hand_run run;
        begin(&run);
        for (int r = 0; r < 3; r++)
            add_rank(&run, 60, 0, 20);
        if (i == 1)
            ROW(&run.report, &table_run_trust, {"item", word("missing_ranks")},
                {"severity", word("warning")}, {"count", cell_i64(1)}, {"detail", word("absent")});
        ROW(&run.report, &table_run_comm_waits, {"group_size", cell_i64(3)}, {"calls", cell_i64(5)},
            {"unmatched_calls", cell_i64(i == 2 ? 16 : 15)});
        analyze(&run);
        assert_string_equal(word_of(&run, "exposed_transfer", "confidence"), i ? "low" : "high");
        end(&run);
    }
}

static void several_ranks_with_more_compute_are_an_imbalance(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 8; i++)
        add_rank(&run, i < 4 ? 50 : 70, 0, 0);
    analyze(&run);
    assert_int_equal(cost_of(&run, "imbalance"), 10 * MS);
    assert_int_equal(count(&run), 1);
    end(&run);
}

static void one_rank_with_more_compute_is_an_imbalance_when_no_wait_tells(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, i == 2 ? 70 : 60, 0, 0);
    analyze(&run);
    assert_int_equal(cost_of(&run, "imbalance"), 7500000);
    end(&run);
}

// For rank 1, which represents the run, all compute beyond the mean is gained; next to it are waits
// that balance would not remove, none of which are counted.
static void a_rank_with_less_compute_lets_the_others_gain_compute(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    run.steady.bar_ns[BAR_EXPOSED_COMM] = STEPS * 2 * MS;
    run.steady.bar_ns[BAR_IDLE_HOST_WAIT] = 0;
    for (int i = 0; i < 4; i++)
        add_rank(&run, i == 3 ? 40 : 60, i == 3 ? 20 : 2, 0);
    analyze(&run);
    assert_int_equal(cost_of(&run, "imbalance"), 5 * MS);
    assert_int_equal(cell_of(&run, "imbalance", "own_cost_ns")->i, 5 * MS);
    assert_true(cell_of(&run, "imbalance", "overlaps")->null);
    end(&run);
}

// With a mean of 60 ms per step and a maximum of 72 ms; the headline rank waits 8 ms.
static void an_imbalance_costs_waits_and_compute_as_the_headline_rank_has_them(void **state)
{
    (void)state;
    static const struct {
        int64_t compute_ms[4], own_ms;
    } cases[] = {
        {{72, 70, 50, 48}, 12}, // it gains 10 ms of compute, 2 of waits
        {{72, 62, 58, 48}, 12}, // 2 and 10
        {{72, 58, 62, 48}, 8},  // none, and all of its waits
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_run run;
        begin(&run);
        run.steady.bar_ns[BAR_EXPOSED_COMM] = STEPS * 8 * MS;
        run.steady.bar_ns[BAR_IDLE_HOST_WAIT] = 0;
        for (int r = 0; r < 4; r++)
            add_rank(&run, cases[i].compute_ms[r], 8, 0);
        analyze(&run);
        assert_int_equal(cost_of(&run, "imbalance"), 12 * MS);
        assert_int_equal(cell_of(&run, "imbalance", "own_cost_ns")->i, cases[i].own_ms * MS);
        end(&run);
    }
}

static void add_stages(struct hand_run *run, double share, double ideal)
{
    for (int64_t i = 0; i < 4; i++)
        ROW(&run->report, &table_run_pipeline, {"stage", cell_i64(i)}, {"steps", cell_i64(STEPS)},
            {"micro_batches", cell_i64(8)}, {"interval_ns", cell_i64(90 * MS)},
            {"bubble_ns", cell_i64((int64_t)(share * 90e6))}, {"bubble_share", cell_f64(share)},
            {"ideal_share", ideal < 0 ? cell_null() : cell_f64(ideal)});
}

static void a_bubble_beyond_the_ideal_costs_the_difference(void **state)
{
    (void)state;
    static const struct {
        double share, ideal;
        int64_t cost_ns; // 0: silent
        const char *severity;
    } cases[] = {
        {0.40, 0.30, 9 * MS, "medium"}, // stages are uneven
        {0.11, 0.10, 0, NULL},
        {0.36, 0.35, 32400000, "info"}, // few micro-batches
        {0.28, 0.27, 0, NULL},
        {0.40, -1, 0, NULL}, // the number of micro-batches is not known
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_run run;
        begin(&run);
        for (int r = 0; r < 4; r++)
            add_rank(&run, 60, 0, 0);
        add_stages(&run, cases[i].share, cases[i].ideal);
        analyze(&run);
        assert_int_equal(count(&run), cases[i].cost_ns != 0);
        if (cases[i].cost_ns) {
            assert_in_range(cost_of(&run, "pipeline_bubble"), cases[i].cost_ns - 1,
                            cases[i].cost_ns);
            assert_string_equal(word_of(&run, "pipeline_bubble", "severity"), cases[i].severity);
        }
        end(&run);
    }
}

// Rates of a run's ranks: from `first` on they need 1.2 times the time, 8 ms more per step.
static void add_rates(struct hand_run *run, struct rank_rate rates[8], size_t first)
{
    for (size_t i = 0; i < run->ranks; i++)
        rates[i] = i < first ? (struct rank_rate){.rank = (int64_t)i, .ratio = 1, .sure = true}
                             : (struct rank_rate){.rank = (int64_t)i,
                                                  .ratio = 1.2,
                                                  .slow = true,
                                                  .sure = true,
                                                  .slow_ns = (8 + (int64_t)(i - first)) * MS,
                                                  .kernels = 12,
                                                  .kernel = STR("gemm"),
                                                  .call_ns = 1200,
                                                  .usual_ns = 1000};
    run->rates = rates;
}

static void a_rank_that_is_slow_at_the_same_work_is_named(void **state)
{
    (void)state;
    struct rank_rate rates[8];
    struct hand_run run;
    begin(&run);
    for (int r = 0; r < 4; r++)
        add_rank(&run, r == 3 ? 68 : 60, 0, 0);
    add_rates(&run, rates, 3);
    analyze(&run);
    // Its compute of 68 ms is the work of 60, as on the others: no imbalance.
    assert_int_equal(count(&run), 1);
    assert_int_equal(cost_of(&run, "slow_rank_kernels"), 8 * MS);
    assert_string_equal(word_of(&run, "slow_rank_kernels", "id"), "slow_rank_kernels:3");
    assert_string_equal(word_of(&run, "slow_rank_kernels", "confidence"), "high");
    assert_non_null(strstr(word_of(&run, "slow_rank_kernels", "title"), "20 % longer on rank 3 "));
    assert_non_null(strstr(word_of(&run, "slow_rank_kernels", "evidence"), "1.20 us"));
    end(&run);
}

// Ranks 4 to 7 are node b and take 8, 9, 10 and 11 ms longer; the others wait 12 ms for them.
static void ranks_that_are_slow_together_are_one_cause(void **state)
{
    (void)state;
    struct rank_rate rates[8];
    struct hand_run run;
    begin(&run);
    for (int64_t r = 0; r < 8; r++) {
        ROW(&run.report, &table_run_ranks, {"rank", cell_i64((int64_t)run.ranks++)},
            {"steady_steps", cell_i64(STEPS)}, {"node", word(r < 4 ? "a" : "b")},
            {"compute_ns", cell_i64((r < 4 ? 60 : 64 + r) * MS)},
            {"exposed_wait_ns", cell_i64((r < 4 ? 12 : 7 - r) * MS)},
            {"exposed_comm_ns", cell_i64((r < 4 ? 12 : 7 - r) * MS)},
            {"exposed_transfer_ns", cell_i64(0)});
        ROW(&run.report, &table_run_lateness, {"rank", cell_i64(7 - r)}, {"calls", cell_i64(50)},
            {"late_calls", cell_i64(r < 4 ? 12 : 0)},
            {"caused_wait_ns", cell_i64((r < 4 ? 100 - r : 1) * MS)},
            {"reason", word(r < 4 ? "compute_slower" : "unknown")}, {"reason_share", cell_f64(1)});
    }
    add_rates(&run, rates, 4);
    analyze(&run);
    assert_int_equal(count(&run), 2);
    assert_string_equal(word_of(&run, "straggler", "id"), "straggler:4-7");
    assert_int_equal(cost_of(&run, "straggler"), 12 * MS); // rank 7 has no exposed communication
    assert_non_null(strstr(word_of(&run, "straggler", "title"), "ranks 4-7 (node b)"));
    assert_string_equal(word_of(&run, "slow_rank_kernels", "ranks"), "4-7");
    assert_int_equal(cost_of(&run, "slow_rank_kernels"), 9 * MS); // of 8, 9, 10, 11
    // The reason they are late has no time of its own.
    assert_int_equal(cell_of(&run, "straggler", "own_cost_ns")->i, 12 * MS);
    assert_int_equal(cell_of(&run, "slow_rank_kernels", "own_cost_ns")->i, 0);
    assert_string_equal(word_of(&run, "slow_rank_kernels", "overlaps"), "straggler");
    end(&run);
}

static void missing_ranks_and_defects_of_any_rank_are_reported(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 0);
    add_rank(&run, 60, 0, 0);
    ROW(&run.report, &table_run_trust, {"item", word("missing_ranks")},
        {"severity", word("warning")}, {"count", cell_i64(6)}, {"detail", word("absent")});
    analyze(&run);
    assert_int_equal(count(&run), 1);
    assert_string_equal(word_of(&run, "missing_ranks", "title"), "6 of 8 ranks have no trace");
    end(&run);
    begin(&run);
    add_rank(&run, 60, 0, 0);
    add_rank(&run, 60, 0, 0);
    ROW(&run.report, &table_run_trust, {"rank", cell_i64(1)}, {"item", word("truncated")},
        {"severity", word("error")}, {"detail", word("the file ends early")});
    analyze(&run);
    assert_string_equal(word_of(&run, "data_quality", "severity"), "medium");
    end(&run);
}

static void of_several_jobs_nothing_is_judged_but_that(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_straggler(&run, "compute_slower");
    ROW(&run.report, &table_run_trust, {"item", word("several_jobs")}, {"severity", word("error")},
        {"count", cell_i64(2)}, {"detail", word("by time: 2-3")});
    analyze(&run);
    assert_int_equal(count(&run), 1);
    assert_string_equal(word_of(&run, "several_jobs", "severity"), "high");
    assert_non_null(strstr(word_of(&run, "several_jobs", "title"), "2 of 4 ranks are of another"));
    end(&run);
}

// --- joined with the headline rank's -------------------------------------------------------------

static void add_own(struct hand_run *run, const char *rule, int64_t cost, int64_t own)
{
    ROW(&run->own, &table_findings, {"rule", word(rule)}, {"id", word(rule)},
        {"cost_ns", cell_i64(cost * MS)}, {"own_cost_ns", cell_i64(own * MS)},
        {"overlaps", own == cost ? cell_null() : word("exposed_communication")});
}

static void what_the_run_tells_better_is_left_out_and_nothing_counts_twice(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_straggler(&run, "host");
    add_own(&run, "exposed_communication", 30, 30);
    add_own(&run, "low_overlap", 25, 0);
    add_own(&run, "launch_bound", 10, 10);
    analyze(&run);
    assert_int_equal(count(&run), 2); // 3 ms of transfers are too few to judge overlap
    assert_int_equal(cell_of(&run, "straggler", "own_cost_ns")->i, 20 * MS);
    assert_int_equal(cell_of(&run, "launch_bound", "own_cost_ns")->i, 10 * MS);
    end(&run);
}

// Every tenth step of the headline rank takes 200 ms longer, in which it waits or computes.
static void add_slow_steps(struct hand_run *run, bool waits)
{
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t more_ms = step == 3 ? 200 : 0;
        ROW(&run->report, &table_run_rank_steps, {"rank", cell_i64(1)}, {"step", cell_i64(step)},
            {"steady", cell_bool(true)}, {"step_ns", cell_i64((80 + more_ms) * MS)},
            {"compute_ns", cell_i64((60 + (waits ? 0 : more_ms)) * MS)},
            {"exposed_wait_ns", cell_i64((waits ? more_ms : 0) * MS)},
            {"exposed_transfer_ns", cell_i64(10 * MS)}, {"idle_ns", cell_i64(10 * MS)});
    }
}

static void slow_steps_share_what_they_have_more_of(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct hand_run run;
        begin(&run);
        add_straggler(&run, "host");
        add_slow_steps(&run, waits);
        add_own(&run, "unstable_steps", 20, 20);
        analyze(&run);
        assert_int_equal(cell_of(&run, "straggler", "own_cost_ns")->i, 20 * MS);
        assert_int_equal(cell_of(&run, "unstable_steps", "own_cost_ns")->i, waits ? 0 : 20 * MS);
        if (waits)
            assert_string_equal(word_of(&run, "unstable_steps", "overlaps"), "straggler");
        end(&run);
    }
}

static void overlap_can_gain_transfers_only(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, 60, 23, 7);
    add_own(&run, "exposed_communication", 30, 30);
    add_own(&run, "low_overlap", 25, 0);
    analyze(&run);
    assert_int_equal(count(&run), 3); // waits, transfers, overlap
    assert_int_equal(cost_of(&run, "low_overlap"), 7 * MS);
    assert_non_null(strstr(word_of(&run, "low_overlap", "title"), "7.00 ms of data transfer"));
    assert_int_equal(cell_of(&run, "exposed_wait", "own_cost_ns")->i, 23 * MS);
    assert_int_equal(cell_of(&run, "exposed_transfer", "own_cost_ns")->i, 7 * MS);
    assert_int_equal(cell_of(&run, "low_overlap", "own_cost_ns")->i, 0);
    assert_string_equal(word_of(&run, "low_overlap", "overlaps"), "exposed_transfer");
    end(&run);
}

// The late rank hides all but some of its transfers; those of the others, which have nothing left
// to compute by then, are exposed because it is late.
static void what_a_late_rank_exposes_bounds_what_overlap_gains(void **state)
{
    (void)state;
    for (int64_t late_ms = 4; late_ms <= 6; late_ms += 2) {
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < 4; i++)
            add_rank(&run, 60, i == 2 ? 0 : 18, i == 2 ? late_ms : 12);
        add_own(&run, "low_overlap", 25, 25);
        analyze(&run);
        if (late_ms == 6) // 4 are under 5 % of the step
            assert_int_equal(cost_of(&run, "low_overlap"), 6 * MS);
        assert_int_equal(count(&run), late_ms == 6 ? 3 : 2); // besides waits and transfers
        end(&run);
    }
}

static void what_needs_its_result_at_once_has_no_low_overlap(void **state)
{
    (void)state;
    static const char *const dimensions[] = {"tensor", "expert", "data"};
    for (size_t d = 0; d < 3; d++) {
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < 4; i++)
            add_rank(&run, 60, 1, 7);
        ROW(&run.report, &table_run_comm_waits, {"kind", word("all_reduce")},
            {"ranks", word("0-3")}, {"dimension", word(dimensions[d])}, {"calls", cell_i64(STEPS)},
            {"exposed_transfer_ns", cell_i64(4 * STEPS * 7 * MS)});
        add_own(&run, "low_overlap", 7, 7);
        analyze(&run);
        assert_int_equal(count(&run), d == 2 ? 2 : 1); // besides exposed_transfer
        const char *evidence = word_of(&run, "exposed_transfer", "evidence");
        assert_non_null(
            strstr(evidence, "most in all_reduce, whose size is not recorded: 7.00 ms"));
        end(&run);
    }
}

static void a_straggler_that_stands_for_the_run_has_its_time_where_it_is_late(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    for (int i = 0; i < 4; i++)
        add_rank(&run, i == 1 ? 80 : 60, i == 1 ? 0 : 20, 3);
    ROW(&run.report, &table_run_lateness, {"rank", cell_i64(1)},
        {"caused_wait_ns", cell_i64(600 * MS)}, {"reason", word("data_loading")});
    run.steady.bar_ns[BAR_EXPOSED_COMM] = STEPS * 3 * MS;
    run.steady.bar_ns[BAR_IDLE_HOST_WAIT] = STEPS * 37 * MS;
    add_own(&run, "starved_data_loading", 18, 18);
    analyze(&run);
    assert_int_equal(cell_of(&run, "straggler", "own_cost_ns")->i, 20 * MS);
    assert_int_equal(cell_of(&run, "starved_data_loading", "own_cost_ns")->i, 17 * MS);
    assert_string_equal(word_of(&run, "starved_data_loading", "overlaps"), "straggler");
    end(&run);
}

static void a_lone_rank_keeps_its_findings(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 20, 10);
    add_own(&run, "exposed_communication", 30, 30);
    analyze(&run);
    assert_int_equal(count(&run), 1);
    assert_int_equal(cost_of(&run, "exposed_communication"), 30 * MS);
    end(&run);
}

// CASES.md, "One trace, one cost": two of them see 50 ms of compute and idle time together, the
// third all of the compute, and no rule of a run explains any of it.
static void findings_of_a_trace_keep_their_own_costs(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 4; ranks += 3) {
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < ranks; i++)
            add_rank(&run, 60, 1, 1);
        run.steady.bar_ns[BAR_GEMM] = STEPS * 5 * MS; // 65 ms of other parts are explained here
        run.steady.bar_ns[BAR_OTHER_COMPUTE] = STEPS * 55 * MS;
        add_own(&run, "launch_bound", 40, 40);
        ROW(&run.own, &table_findings, {"rule", word("tiny_kernels")},
            {"cost_ns", cell_i64(30 * MS)}, {"own_cost_ns", cell_i64(20 * MS)},
            {"overlaps", word("launch_bound")});
        add_own(&run, "slow_calls", 25, 25);
        analyze(&run);
        assert_int_equal(cell_of(&run, "launch_bound", "own_cost_ns")->i, 40 * MS);
        assert_true(cell_of(&run, "launch_bound", "overlaps")->null);
        assert_int_equal(cell_of(&run, "tiny_kernels", "own_cost_ns")->i, 20 * MS);
        assert_string_equal(word_of(&run, "tiny_kernels", "overlaps"), "launch_bound");
        assert_int_equal(cell_of(&run, "slow_calls", "own_cost_ns")->i, 25 * MS);
        assert_true(cell_of(&run, "slow_calls", "overlaps")->null);
        end(&run);
    }
}

static void lists_of_ranks_are_counted(void **state)
{
    (void)state;
    assert_int_equal(run_list_count(STR("7")), 1);
    assert_int_equal(run_list_count(STR("0-7,9,12-13")), 11);
    assert_int_equal(run_list_count(STR("")), 0);
    assert_int_equal(run_list_count(STR("3-1")), 0);
    assert_int_equal(run_list_count(STR("1,x")), 0);
    assert_int_equal(run_list_count(STR("1-2-3")), 0);
    assert_int_equal(run_list_count(STR("1,")), 0);
    assert_true(run_list_has(STR("0-7,9"), 9));
    assert_true(run_list_has(STR("0-7,9"), 3));
    assert_false(run_list_has(STR("0-7,9"), 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_which_nothing_is_wrong_has_no_findings),
        cmocka_unit_test(a_straggler_is_named_with_its_reason),
        cmocka_unit_test(without_steps_the_recording_is_meant),
        cmocka_unit_test(waits_that_no_rank_alone_causes_are_reported_as_such),
        cmocka_unit_test(a_straggler_of_a_pipeline_is_compared_with_its_stage),
        cmocka_unit_test(each_reason_has_its_advice),
        cmocka_unit_test(the_range_in_which_a_host_is_late_is_named),
        cmocka_unit_test(a_rank_whose_loader_is_slow_holds_all_up),
        cmocka_unit_test(a_log_shows_what_recording_costs),
        cmocka_unit_test(waits_of_a_pipeline_are_its_bubble),
        cmocka_unit_test(a_slow_link_costs_the_rank_that_bears_most),
        cmocka_unit_test(many_small_messages_cost_what_bandwidth_does_not_explain),
        cmocka_unit_test(transfers_that_nothing_hides_are_found),
        cmocka_unit_test(transfers_that_may_be_waits_are_doubted),
        cmocka_unit_test(several_ranks_with_more_compute_are_an_imbalance),
        cmocka_unit_test(a_rank_with_less_compute_lets_the_others_gain_compute),
        cmocka_unit_test(an_imbalance_costs_waits_and_compute_as_the_headline_rank_has_them),
        cmocka_unit_test(one_rank_with_more_compute_is_an_imbalance_when_no_wait_tells),
        cmocka_unit_test(a_bubble_beyond_the_ideal_costs_the_difference),
        cmocka_unit_test(a_rank_that_is_slow_at_the_same_work_is_named),
        cmocka_unit_test(ranks_that_are_slow_together_are_one_cause),
        cmocka_unit_test(missing_ranks_and_defects_of_any_rank_are_reported),
        cmocka_unit_test(of_several_jobs_nothing_is_judged_but_that),
        cmocka_unit_test(what_the_run_tells_better_is_left_out_and_nothing_counts_twice),
        cmocka_unit_test(slow_steps_share_what_they_have_more_of),
        cmocka_unit_test(overlap_can_gain_transfers_only),
        cmocka_unit_test(what_a_late_rank_exposes_bounds_what_overlap_gains),
        cmocka_unit_test(what_needs_its_result_at_once_has_no_low_overlap),
        cmocka_unit_test(a_straggler_that_stands_for_the_run_has_its_time_where_it_is_late),
        cmocka_unit_test(a_lone_rank_keeps_its_findings),
        cmocka_unit_test(findings_of_a_trace_keep_their_own_costs),
        cmocka_unit_test(lists_of_ranks_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
