// SPDX-License-Identifier: Apache-2.0
// Clocks linked by sends, or not at all, that drift or were set; and exposed time by its place.
#include "tests/named_cell.h"
#include "tests/unit/solved_job.h"

#include <math.h>

// Two stages linked only by sends, in one direction.
static const struct job_shape stages = {.tensor = 2,
                                        .data = 1,
                                        .pipeline = 2,
                                        .steps = 4,
                                        .layers = 4,
                                        .listed = true,
                                        .skew_ns = 50 * MS};

static void sends_join_clocks_that_no_collective_does(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &stages);
    solve(&solved);
    check_clocks(&solved);
    check_waits(&solved);
    assert_null(report_find(&solved.report, "trust"));
    end(&solved);
}

// Receives end up to 6 ms after their sends, so they prove nothing: no waits, not even of 0.
static void ranks_that_nothing_joins_are_not_compared(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &stages);
    for (int r = 2; r < 4; r++)
        for (int i = 0, n = 0; i < solved.job.ranks[r].count; i++)
            if (solved.job.ranks[r].calls[i].op == JOB_RECV)
                solved.job.ranks[r].calls[i].recorded_end_ns += 2 * MS * (n++ % 4);
    solve(&solved);
    assert_int_equal(solved.comm.component_count, 2);
    assert_int_equal(solved.comm.ranks[1].component, 0);
    assert_int_equal(solved.comm.ranks[2].component, 1);
    assert_int_equal(solved.comm.ranks[2].offset_ns, 0);
    assert_near(solved.comm.ranks[3].offset_ns,
                solved.job.ranks[2].skew_ns - solved.job.ranks[3].skew_ns, OFFSET_NS);
    assert_text(text(&solved, "trust", 0, "item"), "clocks_not_comparable");
    assert_int_equal(cell(&solved, "trust", 0, "count"), 2);
    for (uint32_t m = 0; m < solved.comm.match_count; m++) {
        const struct comm_match *match = &solved.comm.matches[m];
        bool p2p = run_comm_is_p2p(solved.comm.ops[match->op].kind);
        assert_int_equal(match->latest_rank == RUN_NONE, p2p);
    }
    const struct table *waits = report_find(&solved.report, "comm_waits");
    for (size_t i = 0; i < waits->row_count; i++) {
        bool sends = str_equal(text(&solved, "comm_waits", i, "kind"), STR("send_recv"));
        assert_int_equal(named_cell(waits, i, "wait_ns")->null, sends);
        assert_int_equal(named_cell(waits, i, "exposed_transfer_ns")->null, sends);
    }
    assert_int_equal(solved.comm.ranks[0].steady.apart_calls, 3);
    assert_true(solved.comm.ranks[0].steady.apart_ns > 0);
    end(&solved);
}

static void drift(struct solved *solved, int rank, double ppm)
{
    for (int i = 0; i < solved->job.ranks[rank].count; i++) {
        struct job_call *call = &solved->job.ranks[rank].calls[i];
        call->recorded_end_ns += llround((double)call->recorded_end_ns * ppm * 1e-6);
        call->end_ns += llround((double)call->end_ns * ppm * 1e-6);
        call->begin_ns += llround((double)call->begin_ns * ppm * 1e-6);
    }
}

static void check_drifts(const struct solved *solved, const double *ppm)
{
    const struct table *clocks = report_find(&solved->report, "clocks");
    for (size_t r = 0; r < clocks->row_count; r++) {
        double found = named_cell(clocks, r, "drift_ppm")->f;
        if (!(fabs(found - ppm[r]) <= (ppm[r] != 0)))
            fail_msg("found a drift of %g ppm of rank %zu, expected %g", found, r, ppm[r]);
    }
}

// A drift of 20 ppm and a jump of 8 ms in the middle, on two of eight ranks.
static void drifts_and_jumps_are_taken_out(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 2,
                                       .data = 4,
                                       .pipeline = 1,
                                       .steps = 200,
                                       .layers = 6,
                                       .buckets = 2,
                                       .world = true,
                                       .numbered = true,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 300,
                                       .cause = JOB_SLOWER,
                                       .straggler = 6});
    drift(&solved, 3, 20);
    int half = solved.job.ranks[5].count / 2;
    int64_t jump_at_ns = solved.job.ranks[5].calls[half].begin_ns;
    for (int i = half; i < solved.job.ranks[5].count; i++) {
        solved.job.ranks[5].calls[i].begin_ns += 8 * MS;
        solved.job.ranks[5].calls[i].recorded_end_ns += 8 * MS;
        solved.job.ranks[5].calls[i].end_ns += 8 * MS;
    }
    solve(&solved);
    check_clocks(&solved);
    check_waits(&solved);
    check_drifts(&solved, (const double[]){0, 0, 0, 20, 0, 0, 0, 0});
    for (size_t r = 0; r < 8; r++)
        assert_int_equal(cell(&solved, "clocks", r, "jumps"), r == 5);
    assert_near(cell(&solved, "clocks", 5, "jump_ns"), 8 * MS, 1000);
    assert_near(cell(&solved, "clocks", 5, "jump_at_ns"), jump_at_ns, MS);
    assert_text(text(&solved, "trust", 0, "item"), "clock_jump");
    assert_text(text(&solved, "trust", 1, "item"), "clock_drift");
    assert_int_equal(cell(&solved, "trust", 1, "count"), 1);
    assert_int_equal(cell(&solved, "lateness", 0, "rank"), 6);
    end(&solved);
}

// The others' rates relative to the lowest rank's, -24.5, -38.9 and 48.4 ppm, with no majority; and
// 30 ppm of the lowest rank relative to the three that agree; also from the twelve calls of six
// long steps.
static void drifts_of_all_ranks_are_taken_out(void **state)
{
    (void)state;
    static const double each[4] = {0, -24.5, -38.9, 48.4}, lowest[4] = {30, 0, 0, 0};
    for (int few = 0; few < 2; few++)
        for (int which = 0; which < 2; which++) {
            struct solved solved;
            begin(&solved, &(struct job_shape){.tensor = 1,
                                               .data = 4,
                                               .pipeline = 1,
                                               .steps = few ? 6 : 100,
                                               .layers = few ? 300 : 6,
                                               .buckets = 2,
                                               .numbered = true,
                                               .skew_ns = 50 * MS,
                                               .jitter_ns = 300,
                                               .cause = JOB_SLOWER,
                                               .straggler = 2});
            const double *ppm = which ? lowest : each;
            for (int r = 0; r < 4; r++)
                drift(&solved, r, ppm[r]);
            solve(&solved);
            check_clocks(&solved);
            check_waits(&solved);
            check_drifts(&solved, ppm);
            end(&solved);
        }
}

// One call of a rank: its start and end, the time left exposed by compute, its part of a kernel.
struct hand_call {
    int64_t op, begin_ns, end_ns, exposed_ns, part;
    const char *exposed_at;
};

static void add_hand_op(struct report *report, const char *kind, int64_t size, int64_t peer)
{
    struct row row = {.desc = &table_comm_ops};
    struct err err;
    row_word(&row, COMM_OPS_PROCESS_GROUP, "pp");
    row_i64(&row, COMM_OPS_GROUP_SIZE, size);
    row_word(&row, COMM_OPS_KIND, kind);
    row_i64(&row, COMM_OPS_BYTES, 100);
    if (peer >= 0)
        row_i64(&row, COMM_OPS_PEER, peer);
    assert_true(row_end(&row, report, &err));
}

static void add_hand_calls(struct report *report, const struct hand_call *calls, size_t count)
{
    struct row row = {.desc = &table_steps};
    struct err err;
    row_i64(&row, STEPS_STEP, 0);
    row_bool(&row, STEPS_STEADY, true);
    row_i64(&row, STEPS_BEGIN_NS, 0);
    row_i64(&row, STEPS_WINDOW_NS, 1000 * (int64_t)MS);
    assert_true(row_end(&row, report, &err));
    for (size_t i = 0; i < count; i++) {
        const struct table_desc *desc = &table_comm_calls;
        row = (struct row){.desc = &table_comm_calls};
        for (unsigned c = 0; c < desc->column_count; c++)
            if (desc->columns[c].type == COLUMN_I64 && COMM_CALLS_OP + c != COMM_CALLS_SEQUENCE)
                row_i64(&row, COMM_CALLS_OP + c, 0);
        row_i64(&row, COMM_CALLS_OP, calls[i].op);
        row_i64(&row, COMM_CALLS_BEGIN_NS, calls[i].begin_ns);
        row_i64(&row, COMM_CALLS_DUR_NS, calls[i].end_ns - calls[i].begin_ns);
        row_i64(&row, COMM_CALLS_EXPOSED_NS, calls[i].exposed_ns);
        row_i64(&row, COMM_CALLS_PART, calls[i].part);
        if (calls[i].exposed_at)
            row_word(&row, COMM_CALLS_EXPOSED_AT, calls[i].exposed_at);
        assert_true(row_end(&row, report, &err));
    }
}

// Two ranks in one all_reduce, in us: rank 0 from 0 to 100 with compute from 10 to 70, rank 1 from
// 60 to 100. Rank 0 waits 60, of which 10 are exposed; min(exposed, wait) would be 40.
static void exposed_time_is_wait_up_to_the_latest_start(void **state)
{
    (void)state;
    static const struct hand_call calls[2] = {{0, 0, 100000, 40000, 0, "0+10000 70000+30000"},
                                              {0, 60000, 100000, 40000, 0, NULL}};
    struct solved solved = {0};
    assert_true(run_comm_open(&solved.comm, 2, &solved.budget, &solved.err));
    for (int r = 0; r < 2; r++) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        add_hand_op(&report, "all_reduce", 2, -1);
        add_hand_calls(&report, &calls[r], 1);
        assert_true(run_comm_add(&solved.comm, r, &report, &solved.err));
        arena_free(&arena);
    }
    assert_true(run_comm_solve(&solved.comm, &solved.err));
    const struct comm_sums *sums = &solved.comm.ranks[0].steady;
    assert_int_equal(sums->wait_ns, 60000);
    assert_int_equal(sums->exposed_wait_ns, 10000);
    assert_int_equal(sums->exposed_transfer_ns, 30000);
    assert_int_equal(solved.comm.ranks[1].steady.exposed_wait_ns, 0);
    assert_int_equal(solved.comm.ranks[1].steady.exposed_transfer_ns, 40000);
    run_comm_close(&solved.comm);
    assert_int_equal(solved.budget.used, 0);
}

// Both ranks send eleven times; the clock of rank 1 is 1 ms ahead. Buffered sends end at once, and
// their receives 30, 70, ... 430 us later (on rank 1: 50, 90, ... 450). The second smallest of each
// direction are the bounds, -1,070 and -910 us, and the correction is halfway between: -990 us.
static void buffered_sends_bound_clocks_from_both_sides(void **state)
{
    (void)state;
    struct solved solved = {0};
    assert_true(run_comm_open(&solved.comm, 2, &solved.budget, &solved.err));
    for (int64_t r = 0; r < 2; r++) {
        struct hand_call calls[22];
        for (int64_t i = 0; i < 11; i++) {
            int64_t at_ns = i * 4 * MS + r * MS, lag_ns = (r ? 30 : 50) * 1000 + i * 40000;
            int64_t send_ns = at_ns + 2 * MS * r, recv_ns = at_ns + 2 * MS * !r;
            calls[2 * i + r] = (struct hand_call){0, send_ns, send_ns + 10000, 0, 0, NULL};
            calls[2 * i + !r] =
                (struct hand_call){1, recv_ns, recv_ns + 10000 + lag_ns, 0, 0, NULL};
        }
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        add_hand_op(&report, "send", 2, 1 - r);
        add_hand_op(&report, "recv", 2, 1 - r);
        add_hand_calls(&report, calls, 22);
        assert_true(run_comm_add(&solved.comm, r, &report, &solved.err));
        arena_free(&arena);
    }
    assert_true(run_comm_solve(&solved.comm, &solved.err));
    assert_int_equal(solved.comm.component_count, 1);
    assert_int_equal(solved.comm.ranks[1].offset_ns, -990000);
    run_comm_close(&solved.comm);
    assert_int_equal(solved.budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_join_clocks_that_no_collective_does),
        cmocka_unit_test(ranks_that_nothing_joins_are_not_compared),
        cmocka_unit_test(buffered_sends_bound_clocks_from_both_sides),
        cmocka_unit_test(drifts_and_jumps_are_taken_out),
        cmocka_unit_test(drifts_of_all_ranks_are_taken_out),
        cmocka_unit_test(exposed_time_is_wait_up_to_the_latest_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
