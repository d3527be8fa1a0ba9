// SPDX-License-Identifier: Apache-2.0
// Collectives of jobs whose truth is known: matches, clocks, waits, and who made the others wait.
#include "analysis/report/trust.h"
#include "tests/named_cell.h"
#include "tests/unit/solved_job.h"

static void clocks_and_waits_are_those_of_the_job(void **state)
{
    (void)state;
    const struct job_shape shapes[] = {
        {.tensor = 1, .data = 2, .pipeline = 1, .buckets = 4},
        {.tensor = 2, .data = 1, .pipeline = 1, .numbered = true},
        {.tensor = 1, .data = 8, .pipeline = 1, .buckets = 5, .listed = true, .numbered = true},
        {.tensor = 2, .data = 2, .pipeline = 2, .buckets = 2, .world = true},
        {.tensor = 2, .data = 4, .pipeline = 2, .buckets = 3, .listed = true, .world = true},
        {.tensor = 4, .data = 4, .pipeline = 4, .buckets = 2, .listed = true, .world = true},
        {.tensor = 8, .data = 8, .pipeline = 1, .buckets = 2, .numbered = true},
        {.tensor = 4, .data = 2, .pipeline = 2, .buckets = 2, .world = true, .by_id = true},
        {.tensor = 4, .data = 4, .pipeline = 1, .buckets = 2, .by_id = true, .numbered = true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct job_shape shape = shapes[i];
        shape.steps = 6;
        shape.layers = 6;
        shape.skew_ns = 50 * MS;
        shape.jitter_ns = 300;
        shape.cause = JOB_SLOWER;
        struct solved solved;
        begin(&solved, &shape);
        solve(&solved);
        check_clocks(&solved);
        check_waits(&solved);
        assert_null(report_find(&solved.report, "trust"));
        end(&solved);
    }
}

static void a_thousand_ranks_are_aligned(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 8,
                                       .data = 32,
                                       .pipeline = 4,
                                       .steps = 3,
                                       .layers = 3,
                                       .buckets = 2,
                                       .world = true,
                                       .numbered = true,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 500,
                                       .cause = JOB_HOST,
                                       .straggler = 700});
    solve(&solved);
    check_clocks(&solved);
    check_waits(&solved);
    assert_int_equal(cell(&solved, "lateness", 0, "rank"), 700);
    end(&solved);
}

static void ends_that_jitter_and_a_rank_that_ends_late_do_no_harm(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 1,
                                       .data = 8,
                                       .pipeline = 1,
                                       .steps = 20,
                                       .layers = 4,
                                       .buckets = 10,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 12000});
    struct job_rank *late = &solved.job.ranks[5];
    for (int i = 0; i < late->count; i += 4)
        late->calls[i].recorded_end_ns += 3 * MS;
    solve(&solved);
    for (int r = 0; r < 8; r++)
        assert_near(solved.comm.ranks[r].offset_ns,
                    solved.job.ranks[0].skew_ns - solved.job.ranks[r].skew_ns, 3000);
    end(&solved);
}

// Drops calls of one operation of a rank: those with one of the given counts.
static void drop(struct solved *solved, int rank, enum job_op op, const int *numbers, size_t count)
{
    struct job_rank *of = &solved->job.ranks[rank];
    int seen = 0;
    for (int i = 0; i < of->count; i++) {
        if (of->calls[i].op != (int)op)
            continue;
        for (size_t n = 0; n < count; n++)
            of->calls[i].dropped = of->calls[i].dropped || numbers[n] == seen;
        seen++;
    }
}

// The true call of an event: ranks record all except the dropped ones.
static const struct job_call *call_of(const struct job_rank *rank, uint32_t event)
{
    const struct job_call *call = rank->calls;
    for (;; call++) {
        if (call->dropped)
            continue;
        if (event-- == 0)
            return call;
    }
}

// The members of every match belong to one true collective: they ended at the same true time.
static void check_members(const struct solved *solved)
{
    for (uint32_t m = 0; m < solved->comm.match_count; m++) {
        const struct comm_match *match = &solved->comm.matches[m];
        const struct comm_member *members = &solved->comm.members[match->first];
        int64_t ended_ns = call_of(&solved->job.ranks[members[0].rank], members[0].event)->end_ns;
        for (uint32_t i = 1; i < match->count; i++)
            assert_int_equal(call_of(&solved->job.ranks[members[i].rank], members[i].event)->end_ns,
                             ended_ns);
    }
}

static void calls_that_ranks_miss_leave_the_others_matched(void **state)
{
    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        struct solved solved;
        begin(&solved, &(struct job_shape){.tensor = 4,
                                           .data = 2,
                                           .pipeline = 1,
                                           .steps = 6,
                                           .layers = 20,
                                           .buckets = 2,
                                           .numbered = numbered,
                                           .skew_ns = 50 * MS,
                                           .jitter_ns = 3000});
        drop(&solved, 1, JOB_TENSOR, (const int[]){33, 34, 71}, 3);
        drop(&solved, 2, JOB_TENSOR, (const int[]){7}, 1);
        drop(&solved, 3, JOB_TENSOR, (const int[]){0, 119}, 2);
        drop(&solved, 4, JOB_GRADIENTS, (const int[]){3}, 1);
        solve(&solved);
        check_clocks(&solved);
        check_members(&solved);
        // The call of rank 0 whose partner, rank 4, has lost its own.
        assert_int_equal(cell(&solved, "trust", 0, "count"), 1);
        assert_text(text(&solved, "trust", 0, "item"), "unmatched_collectives");
        assert_int_equal(cell(&solved, "trust", 1, "count"), 6); // those of ranks 1 to 3
        assert_text(text(&solved, "trust", 1, "item"), "missing_calls");
        uint32_t unmatched = 0;
        for (int r = 0; r < 8; r++)
            for (uint32_t i = 0; i < solved.comm.ranks[r].count; i++)
                unmatched += solved.comm.ranks[r].events[i].match == RUN_NONE;
        assert_int_equal(unmatched, 1);
        end(&solved);
    }
}

// A group that is created again restarts its numbering.
static void numbers_that_start_again_do_not_mislead(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 4,
                                       .data = 1,
                                       .pipeline = 1,
                                       .steps = 8,
                                       .layers = 5,
                                       .numbered = true,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 3000,
                                       .cause = JOB_SLOWER,
                                       .straggler = 2});
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < solved.job.ranks[r].count; i++)
            solved.job.ranks[r].calls[i].sequence %= 7;
    drop(&solved, 1, JOB_TENSOR, (const int[]){6, 7, 8}, 3);
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    assert_int_equal(cell(&solved, "lateness", 0, "rank"), 2);
    end(&solved);
}

static void a_rank_whose_recording_begins_late_is_matched_by_its_steps(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 4,
                                       .data = 1,
                                       .pipeline = 1,
                                       .steps = 60,
                                       .layers = 20,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 3000});
    for (int r = 1; r < 3; r++)
        for (int i = 0; i < solved.job.ranks[r].count; i++)
            solved.job.ranks[r].calls[i].dropped = solved.job.ranks[r].calls[i].step < 30 * r - 20;
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    end(&solved);
}

static void a_rank_with_other_marks_is_matched_by_order(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 4,
                                       .data = 1,
                                       .pipeline = 1,
                                       .steps = 10,
                                       .layers = 4,
                                       .marked = 2,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 1000});
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    end(&solved);
}

// Records rank 1 from one step later on than rank 0, in as many steps less some calls; both number
// their steps by place.
static void record_apart(struct solved *solved, int64_t jitter_ns, int64_t skew_ns, int fewer)
{
    begin(solved, &(struct job_shape){.tensor = 2,
                                      .data = 1,
                                      .pipeline = 1,
                                      .steps = 12,
                                      .layers = 4,
                                      .marked = 1,
                                      .skew_ns = skew_ns,
                                      .jitter_ns = jitter_ns});
    struct job_rank *ranks = solved->job.ranks;
    for (int i = 0; i < ranks[1].count; i++) {
        ranks[0].calls[i].dropped = ranks[0].calls[i].step == 11;
        ranks[1].calls[i].dropped = ranks[1].calls[i].step == 0 || (i >= 4 && i < 4 + fewer);
    }
    solve(solved);
}

static void recordings_that_start_a_step_apart_are_matched_by_their_ends(void **state)
{
    (void)state;
    for (int fewer = 0; fewer < 3; fewer++)
        for (int skewed = 0; skewed < 2; skewed++) {
            struct solved solved;
            record_apart(&solved, 500, skewed * 50 * MS, fewer);
            check_clocks(&solved);
            check_members(&solved);
            assert_int_equal(solved.comm.match_count, 40 - fewer);
            assert_text(text(&solved, "trust", 0, "item"), "unmatched_collectives");
            end(&solved);
        }
}

// Groups with a call per step have too few to show by their own ends which step is which.
static void few_calls_are_matched_by_the_clocks_that_others_show(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 2,
                                       .data = 2,
                                       .pipeline = 1,
                                       .steps = 6,
                                       .layers = 8,
                                       .buckets = 1,
                                       .world = true,
                                       .marked = 1,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 500});
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < solved.job.ranks[r].count; i++) {
            struct job_call *call = &solved.job.ranks[r].calls[i];
            call->dropped = call->step == (r == 1 ? 0 : 5);
        }
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    assert_int_equal(trust_count(&solved.report, "uncertain_matches"), 0);
    end(&solved);
}

// Ends that vary by more than steps do fit several steps.
static void calls_that_could_be_those_of_another_step_are_said_to_be(void **state)
{
    (void)state;
    struct solved solved;
    record_apart(&solved, 60000, 50 * MS, 0);
    assert_text(text(&solved, "trust", 0, "item"), "uncertain_matches");
    assert_int_equal(cell(&solved, "trust", 0, "count"), 1);
    end(&solved);
}

static void sends_are_matched_even_when_one_is_missing(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 2,
                                       .data = 1,
                                       .pipeline = 3,
                                       .steps = 12,
                                       .layers = 2,
                                       .world = true,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 1000});
    drop(&solved, 2, JOB_RECV, (const int[]){5}, 1);
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    assert_int_equal(sum(&solved, "comm_waits", "unmatched_calls"), 1);
    end(&solved);
}

// Rank 1 lacks the first receive and rank 0 the last send; steps are numbered by place, and there
// are too few to show by their ends that they are one step apart.
static void sends_that_began_after_their_receives_are_not_matched(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 1,
                                       .data = 1,
                                       .pipeline = 2,
                                       .steps = 6,
                                       .layers = 4,
                                       .world = true,
                                       .marked = 1,
                                       .jitter_ns = 1000});
    drop(&solved, 0, JOB_SEND, (const int[]){0}, 1);
    drop(&solved, 1, JOB_RECV, (const int[]){5}, 1);
    solve(&solved);
    check_clocks(&solved);
    check_members(&solved);
    assert_int_equal(trust_count(&solved.report, "impossible_matches"), 5);
    assert_int_equal(trust_count(&solved.report, "unmatched_collectives"), 10);
    end(&solved);
}

static void the_straggler_is_named_with_its_cause(void **state)
{
    (void)state;
    static const char *const words[] = {[JOB_SLOWER] = "compute_slower",
                                        [JOB_MORE_WORK] = "more_work",
                                        [JOB_DATA] = "data_loading",
                                        [JOB_HOST] = "host",
                                        [JOB_COPIES] = "copies"};
    for (int cause = JOB_SLOWER; cause <= JOB_COPIES; cause++)
        for (int shape = 0; shape < 3; shape++) {
            struct solved solved;
            begin(&solved, &(struct job_shape){.tensor = shape == 0 ? 1 : 2,
                                               .data = 4,
                                               .pipeline = shape == 2 ? 2 : 1,
                                               .steps = 6,
                                               .layers = 8,
                                               .buckets = 3,
                                               .world = shape > 0,
                                               .skew_ns = 50 * MS,
                                               .jitter_ns = 2000,
                                               .cause = (enum job_straggler)cause,
                                               .straggler = 3});
            solve(&solved);
            assert_int_equal(cell(&solved, "lateness", 0, "rank"), 3);
            assert_text(text(&solved, "lateness", 0, "reason"), words[cause]);
            int64_t caused_ns = cell(&solved, "lateness", 0, "caused_wait_ns");
            int64_t all_ns = sum(&solved, "lateness", "caused_wait_ns");
            if (10 * caused_ns < 9 * all_ns)
                fail_msg("%s, shape %d: %lld of %lld", words[cause], shape, (long long)caused_ns,
                         (long long)all_ns);
            end(&solved);
        }
}

static void slow_compute_beside_communication_is_not_more_work(void **state)
{
    (void)state;
    static const char *const words[] = {
        [JOB_SLOWER] = "compute_slower", [JOB_MORE_WORK] = "more_work"};
    for (int cause = JOB_SLOWER; cause <= JOB_MORE_WORK; cause++) {
        struct solved solved;
        begin(&solved, &(struct job_shape){.tensor = 4,
                                           .data = 1,
                                           .pipeline = 1,
                                           .steps = 6,
                                           .layers = 8,
                                           .beside = true,
                                           .cause = (enum job_straggler)cause,
                                           .straggler = 3});
        solve(&solved);
        assert_int_equal(cell(&solved, "lateness", 0, "rank"), 3);
        assert_text(text(&solved, "lateness", 0, "reason"), words[cause]);
        end(&solved);
    }
}

// Rank 3 takes a third longer. Judged by 1.1 over all steps, a tenth of that is slowness and the
// rest more work; once its kernels show that it takes 4 / 3.3 of that in these steps, all of it is
// slowness.
static void a_rank_slow_in_some_steps_does_no_more_work(void **state)
{
    (void)state;
    for (int shown = 0; shown < 2; shown++) {
        struct solved solved;
        begin(&solved, &(struct job_shape){.tensor = 1,
                                           .data = 4,
                                           .pipeline = 1,
                                           .steps = 6,
                                           .layers = 8,
                                           .buckets = 3,
                                           .cause = JOB_SLOWER,
                                           .straggler = 3});
        assert_true(job_solve(&solved.job, &solved.comm, &solved.budget, &solved.err));
        for (uint32_t r = 0; r < 4; r++)
            solved.comm.ranks[r].work_ratio = r == 3 ? 1.1 : 1;
        for (uint32_t i = 0; shown && i < solved.comm.ranks[3].step_count; i++)
            solved.comm.ranks[3].steps[i].ratio = 4 / 3.3;
        arena_init(&solved.arena, NULL);
        solved.report.arena = &solved.arena;
        assert_true(run_lateness_add(&solved.comm, &solved.report, &solved.err));
        assert_text(text(&solved, "lateness", 0, "reason"), shown ? "compute_slower" : "more_work");
        end(&solved);
    }
}

static void blame_passes_to_who_kept_a_late_rank_waiting(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 2,
                                       .data = 4,
                                       .pipeline = 1,
                                       .steps = 6,
                                       .layers = 8,
                                       .buckets = 1,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 2000,
                                       .cause = JOB_SLOWER,
                                       .straggler = 3});
    // Rank 3 makes rank 2 late for its own data group.
    solve(&solved);
    const struct table *table = report_find(&solved.report, "lateness");
    for (size_t i = 0; i < table->row_count; i++) {
        if (named_cell(table, i, "rank")->i != 2)
            continue;
        assert_true(named_cell(table, i, "late_calls")->i >= 5);
        assert_text(named_cell(table, i, "reason")->s, "communication");
        assert_true(named_cell(table, i, "lateness_ns")->i > MS);
        assert_true(20 * named_cell(table, i, "caused_wait_ns")->i <
                    cell(&solved, "lateness", 0, "caused_wait_ns"));
    }
    end(&solved);
}

// Zeros for each rank would say that none is late.
static void without_a_matched_call_nothing_is_said_about_lateness(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved,
          &(struct job_shape){
              .tensor = 1, .data = 2, .pipeline = 1, .steps = 6, .layers = 4, .buckets = 2});
    for (int i = 0; i < solved.job.ranks[1].count; i++)
        solved.job.ranks[1].calls[i].dropped = true;
    solve(&solved);
    assert_null(report_find(&solved.report, "lateness"));
    end(&solved);
}

static void stages_of_a_pipeline_are_not_late_by_design(void **state)
{
    (void)state;
    struct solved solved;
    begin(&solved, &(struct job_shape){.tensor = 1,
                                       .data = 1,
                                       .pipeline = 4,
                                       .steps = 6,
                                       .layers = 4,
                                       .world = true,
                                       .skew_ns = 50 * MS,
                                       .jitter_ns = 100});
    solve(&solved);
    check_clocks(&solved);
    check_waits(&solved);
    assert_true(sum(&solved, "comm_waits", "wait_ns") > 10 * MS);
    assert_int_equal(sum(&solved, "lateness", "late_calls"), 0);
    assert_int_equal(sum(&solved, "lateness", "caused_wait_ns"), 0);
    end(&solved);
}

// --- a ring -------------------------------------------------------------------------------------

enum { RING_RANKS = 4, RING_OPS = 5, RING_STEPS = 6 };

static void add_ring_op(int64_t rank, const char *kind, const char *phase, struct report *report)
{
    struct row row = {.desc = &table_comm_ops};
    struct err err;
    row_word(&row, COMM_OPS_PROCESS_GROUP, phase ? "cp" : "world");
    row_word(&row, COMM_OPS_GROUP_RANKS, "[0, 1, 2, 3]");
    row_i64(&row, COMM_OPS_GROUP_SIZE, RING_RANKS);
    row_word(&row, COMM_OPS_KIND, kind);
    row_i64(&row, COMM_OPS_BYTES, 1000);
    if (phase) {
        int64_t next = str_equal(str_of(kind), STR("send")) ? 1 : RING_RANKS - 1;
        row_i64(&row, COMM_OPS_PEER, (rank + next) % RING_RANKS);
        row_word(&row, COMM_OPS_PHASE, phase);
    }
    assert_true(row_end(&row, report, &err));
}

// Ranks pass data on in both passes and reduce at the end; rank 2 computes longer before that.
static void add_ring_rank(int64_t rank, struct run_comm *comm, struct err *err)
{
    static const char *const phases[] = {"forward", "backward"};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct job job = {0};
    int64_t now_ns = JOB_EPOCH_NS, compute_ns = 0;
    for (int p = 0; p < 2; p++) {
        add_ring_op(rank, "send", phases[p], &report);
        add_ring_op(rank, "recv", phases[p], &report);
    }
    add_ring_op(rank, "all_reduce", NULL, &report);
    for (int step = 0; step < RING_STEPS; step++, now_ns += MS) {
        for (int op = 0; op < RING_OPS; op++) {
            int64_t late_ns = op == RING_OPS - 1 && rank == 2 ? 200000 : 0;
            struct job_call call = {
                .op = op, .step = step, .begin_ns = now_ns + op * 100000 + late_ns};
            call.before_ns[BEFORE_COMPUTE] = compute_ns += 50000 + late_ns;
            call.recorded_end_ns = now_ns + op * 100000 + (op == RING_OPS - 1 ? 300000 : 50000);
            assert_true(job_add_call(&job, &call, &report, err));
        }
        struct row row = {.desc = &table_steps};
        row_i64(&row, STEPS_STEP, step);
        row_bool(&row, STEPS_STEADY, step > 0);
        assert_true(row_end(&row, &report, err));
    }
    assert_true(run_comm_add(comm, rank, &report, err));
    arena_free(&arena);
}

static void a_group_shares_a_context_if_its_description_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *description;
        bool context;
    } cases[] = {{"CONTEXT_PARALLEL_GROUP", true},
                 {"mesh_cp", true},
                 {"DATA_PARALLEL_GROUP_WITH_CP", false},
                 {"DATA_AND_CONTEXT_PARALLEL_DATA_PARALLEL_GROUP", false},
                 {"TENSOR_AND_CONTEXT_PARALLEL_GROUP", false}, // of amax and of auxiliary losses
                 {"TENSOR_MODEL_PARALLEL_GROUP", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solved solved = {0};
        struct err *err = &solved.err;
        arena_init(&solved.arena, NULL);
        solved.report.arena = &solved.arena;
        struct row row = {.desc = &table_process_groups};
        row_word(&row, PROCESS_GROUPS_PROCESS_GROUP, "world");
        row_word(&row, PROCESS_GROUPS_DESCRIPTION, cases[i].description);
        row_i64(&row, PROCESS_GROUPS_SIZE, RING_RANKS);
        assert_true(row_end(&row, &solved.report, err));
        add_ring_op(0, "all_gather", NULL, &solved.report);
        struct job job = {0};
        struct job_call call = {.begin_ns = JOB_EPOCH_NS, .recorded_end_ns = JOB_EPOCH_NS + 1000};
        assert_true(job_add_call(&job, &call, &solved.report, err));
        assert_true(run_comm_open(&solved.comm, 1, &solved.budget, err));
        assert_true(run_comm_add(&solved.comm, 0, &solved.report, err));
        assert_true(run_comm_solve(&solved.comm, err));
        assert_int_equal(solved.comm.group_count, 1);
        assert_int_equal(solved.comm.groups[0].context, cases[i].context);
        end(&solved);
    }
}

static void ranks_of_a_ring_can_be_late(void **state)
{
    (void)state;
    struct solved solved = {0};
    struct err *err = &solved.err;
    assert_true(run_comm_open(&solved.comm, RING_RANKS, &solved.budget, err));
    for (int64_t rank = 0; rank < RING_RANKS; rank++)
        add_ring_rank(rank, &solved.comm, err);
    assert_true(run_comm_solve(&solved.comm, err));
    arena_init(&solved.arena, NULL);
    solved.report.arena = &solved.arena;
    assert_true(run_lateness_add(&solved.comm, &solved.report, err));
    assert_int_equal(cell(&solved, "lateness", 0, "rank"), 2);
    assert_int_equal(cell(&solved, "lateness", 0, "late_calls"), RING_STEPS - 1);
    assert_text(text(&solved, "lateness", 0, "reason"), "compute_slower");
    end(&solved);
}

static void kernels_without_metadata_are_not_matched(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err = {0};
    struct run_comm comm;
    assert_true(run_comm_open(&comm, 2, &budget, &err));
    for (int r = 0; r < 2; r++) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        struct row row = {.desc = &table_comm_ops};
        row_word(&row, COMM_OPS_KIND, "send_recv");
        row_word(&row, COMM_OPS_KERNEL, "ncclKernel_SendRecv");
        assert_true(row_end(&row, &report, &err));
        struct job job = {0};
        for (int i = 0; i < 3; i++)
            assert_true(job_add_call(
                &job, &(struct job_call){.begin_ns = 100 * i, .recorded_end_ns = 100 * i + 50},
                &report, &err));
        assert_true(run_comm_add(&comm, r, &report, &err));
        arena_free(&arena);
    }
    assert_true(run_comm_solve(&comm, &err));
    assert_int_equal(comm.match_count, 0);
    assert_int_equal(comm.component_count, 2);
    assert_int_equal(comm.ranks[1].error_ns, -1);
    run_comm_close(&comm);
    assert_int_equal(budget.used, 0);
}

static void groups_that_no_list_tells_apart_have_no_ranks(void **state)
{
    (void)state;
    struct solved solved = {0};
    struct err *err = &solved.err;
    assert_true(run_comm_open(&solved.comm, 4, &solved.budget, err));
    for (int r = 0; r < 4; r++) { // two groups of two, both called "1"
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        struct job job = {0};
        struct row row = {.desc = &table_comm_ops};
        row_word(&row, COMM_OPS_PROCESS_GROUP, "1");
        row_i64(&row, COMM_OPS_GROUP_SIZE, 2);
        row_word(&row, COMM_OPS_KIND, "all_reduce");
        assert_true(row_end(&row, &report, err));
        row = (struct row){.desc = &table_steps};
        row_i64(&row, STEPS_STEP, 0);
        row_bool(&row, STEPS_STEADY, true);
        assert_true(row_end(&row, &report, err));
        assert_true(job_add_call(&job, &(struct job_call){.recorded_end_ns = 50}, &report, err));
        assert_true(run_comm_add(&solved.comm, r, &report, err));
        arena_free(&arena);
    }
    assert_true(run_comm_solve(&solved.comm, err));
    arena_init(&solved.arena, NULL);
    solved.report.arena = &solved.arena;
    assert_true(run_waits_add(&solved.comm, &solved.report, err));
    assert_int_equal(cell(&solved, "comm_waits", 0, "unmatched_calls"), 4);
    assert_text(text(&solved, "comm_waits", 0, "ranks"), "");
    end(&solved);
}

static void tokens_of_ever_other_sizes_are_one_row(void **state)
{
    (void)state;
    static const struct {
        int sizes;
        bool uneven; // the second rank gives others for the same calls
        size_t rows;
    } cases[] = {{8, false, 8}, {9, false, 1}, {2, true, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int sizes = cases[i].sizes;
        struct solved solved = {0};
        struct err *err = &solved.err;
        assert_true(run_comm_open(&solved.comm, 2, &solved.budget, err));
        for (int r = 0; r < 2; r++) {
            struct arena arena;
            arena_init(&arena, NULL);
            struct report report = {.arena = &arena};
            struct job job = {0};
            struct row row = {.desc = &table_steps};
            row_i64(&row, STEPS_STEP, 0);
            row_bool(&row, STEPS_STEADY, true);
            assert_true(row_end(&row, &report, err));
            for (int op = 0; op < sizes; op++) {
                row = (struct row){.desc = &table_comm_ops};
                row_word(&row, COMM_OPS_PROCESS_GROUP, "ep");
                row_i64(&row, COMM_OPS_GROUP_SIZE, 2);
                row_word(&row, COMM_OPS_KIND, "all_to_all");
                row_i64(&row, COMM_OPS_BYTES, cases[i].uneven && r == 1 ? 8000 : 1000 + op);
                assert_true(row_end(&row, &report, err));
                struct job_call call = {.op = op, .begin_ns = 100 * op};
                call.recorded_end_ns = call.begin_ns + 50;
                assert_true(job_add_call(&job, &call, &report, err));
            }
            assert_true(run_comm_add(&solved.comm, r, &report, err));
            arena_free(&arena);
        }
        assert_true(run_comm_solve(&solved.comm, err));
        arena_init(&solved.arena, NULL);
        solved.report.arena = &solved.arena;
        assert_true(run_waits_add(&solved.comm, &solved.report, err));
        const struct table *waits = report_find(&solved.report, "comm_waits");
        assert_int_equal(waits->row_count, cases[i].rows);
        assert_int_equal(named_cell(waits, 0, "bytes")->null, cases[i].rows == 1);
        assert_int_equal(named_cell(waits, 0, "bus_gbps")->null, cases[i].rows == 1);
        assert_int_equal(sum(&solved, "comm_waits", "calls"), sizes);
        end(&solved);
    }
}

static void a_call_of_no_operation_is_refused(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err = {0};
    struct run_comm comm;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct row row = {.desc = &table_comm_ops};

    assert_true(row_end(&row, &report, &err));
    struct job job = {0};
    assert_true(job_add_call(&job, &(struct job_call){.op = 1}, &report, &err));
    assert_true(run_comm_open(&comm, 1, &budget, &err));
    assert_false(run_comm_add(&comm, 0, &report, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    run_comm_close(&comm);
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_and_waits_are_those_of_the_job),
        cmocka_unit_test(a_thousand_ranks_are_aligned),
        cmocka_unit_test(ends_that_jitter_and_a_rank_that_ends_late_do_no_harm),
        cmocka_unit_test(calls_that_ranks_miss_leave_the_others_matched),
        cmocka_unit_test(numbers_that_start_again_do_not_mislead),
        cmocka_unit_test(a_rank_whose_recording_begins_late_is_matched_by_its_steps),
        cmocka_unit_test(a_rank_with_other_marks_is_matched_by_order),
        cmocka_unit_test(recordings_that_start_a_step_apart_are_matched_by_their_ends),
        cmocka_unit_test(few_calls_are_matched_by_the_clocks_that_others_show),
        cmocka_unit_test(calls_that_could_be_those_of_another_step_are_said_to_be),
        cmocka_unit_test(sends_are_matched_even_when_one_is_missing),
        cmocka_unit_test(sends_that_began_after_their_receives_are_not_matched),
        cmocka_unit_test(the_straggler_is_named_with_its_cause),
        cmocka_unit_test(slow_compute_beside_communication_is_not_more_work),
        cmocka_unit_test(a_rank_slow_in_some_steps_does_no_more_work),
        cmocka_unit_test(blame_passes_to_who_kept_a_late_rank_waiting),
        cmocka_unit_test(without_a_matched_call_nothing_is_said_about_lateness),
        cmocka_unit_test(stages_of_a_pipeline_are_not_late_by_design),
        cmocka_unit_test(a_group_shares_a_context_if_its_description_says_so),
        cmocka_unit_test(ranks_of_a_ring_can_be_late),
        cmocka_unit_test(kernels_without_metadata_are_not_matched),
        cmocka_unit_test(groups_that_no_list_tells_apart_have_no_ranks),
        cmocka_unit_test(tokens_of_ever_other_sizes_are_one_row),
        cmocka_unit_test(a_call_of_no_operation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
