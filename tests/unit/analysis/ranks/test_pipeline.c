// SPDX-License-Identifier: Apache-2.0
// Pipelines recognized from handmade calls, and bubbles computed by hand.
#include "tests/unit/analysis/ranks/strategy_hand.h"

// Stages are `stride` ranks apart.
static void add_pipeline(struct job *job, uint32_t first, uint32_t stride, uint32_t stages,
                         int batches)
{
    for (int b = 0; b < batches; b++)
        for (uint32_t s = 0; s + 1 < stages; s++) {
            uint32_t low = first + s * stride;
            add_transfer(job, low, low + stride, job->comm.rank_count, "forward");
        }
    for (int b = 0; b < batches; b++)
        for (uint32_t s = stages - 1; s > 0; s--) {
            uint32_t high = first + s * stride;
            add_transfer(job, high, high - stride, job->comm.rank_count, "forward");
        }
}

static void ranks_that_send_in_a_row_are_a_pipeline(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    add_pipeline(&job, 0, 1, 4, 8);
    assert_overall(&job, "PP4");
    size_t row = row_of(&job, "pipeline");
    assert_int_equal(cell_of(&job, "strategy", row, "degree")->i, 4);
    assert_int_equal(cell_of(&job, "strategy", row, "groups")->i, 1);
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "micro_batches"), "degree")->i, 8);
    assert_string_equal(job.comm.groups[0].dimension, "pipeline");
    const struct table *table = report_find(&job.report, "pipeline");
    assert_int_equal(table->row_count, 4);
    for (size_t s = 0; s < 4; s++) {
        assert_int_equal(named_cell(table, s, "stage")->i, s);
        assert_int_equal(named_cell(table, s, "ranks")->s.at[0], '0' + (int)s);
        assert_true(fabs(named_cell(table, s, "ideal_share")->f - 3.0 / 11) < 1e-12);
        assert_true(named_cell(table, s, "interval_ns")->null); // no passes were recorded
    }
    job_end(&job);
}

// With packed sequences the micro-batches of a step differ in size.
static void micro_batches_of_different_sizes_count_by_the_turns_of_the_last_stage(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    for (int64_t b = 0; b < 8; b++) {
        job.transfer_bytes = (4 + b) * MIB;
        add_pipeline(&job, 0, 1, 4, 1);
    }
    for (int s = 0; s < STEPS; s++)
        job.passes.ranks[3].steps[s].micro_batches = 8;
    assert_overall(&job, "PP4");
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "micro_batches"), "degree")->i, 8);
    assert_true(fabs(cell_of(&job, "pipeline", 0, "ideal_share")->f - 3.0 / 11) < 1e-12);
    job_end(&job);
}

static void a_mesh_of_three_dimensions_is_recognized(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 16); // rank = (stage * 4 + replica) * 2 + part
    for (uint32_t r = 0; r < 8; r++)
        add_tensor(&job, (struct members){2 * r, 1, 2});
    for (uint32_t stage = 0; stage < 2; stage++)
        for (uint32_t part = 0; part < 2; part++)
            add_ddp(&job, (struct members){8 * stage + part, 2, 4});
    for (uint32_t r = 0; r < 8; r++)
        add_pipeline(&job, r, 8, 2, 4);
    assert_overall(&job, "TP2 x PP2 x DDP4");
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "pipeline"), "groups")->i, 8);
    assert_string_equal(cell_of(&job, "pipeline", 0, "ranks")->s.at, "0-7");
    assert_string_equal(cell_of(&job, "pipeline", 1, "ranks")->s.at, "8-15");
    assert_int_equal(cell_of(&job, "pipeline", 0, "micro_batches")->i, 4);
    job_end(&job);
}

static void calls_that_were_joined_make_a_pipeline_of_their_group(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 8);
    for (uint32_t r = 0; r < 2; r++)
        add_all(&job, (struct members){r, 2, 4}, (struct what){KIND_SEND_RECV, "forward", 0, 12});
    for (uint32_t stage = 0; stage < 4; stage++)
        add_ddp(&job, (struct members){2 * stage, 1, 2});
    for (uint32_t r = 0; r < 8; r++)
        job.passes.ranks[r].steps[1].micro_batches = 6;
    assert_overall(&job, "PP4 x DDP2");
    assert_string_equal(cell_of(&job, "pipeline", 2, "ranks")->s.at, "4,5");
    size_t row = row_of(&job, "micro_batches");
    assert_int_equal(cell_of(&job, "strategy", row, "degree")->i, 6);
    assert_string_equal(cell_of(&job, "strategy", row, "confidence")->s.at, "low");
    job_end(&job);
}

static void one_turn_of_the_passes_does_not_tell_micro_batches_of_a_pipeline(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    add_all(&job, (struct members){0, 1, 4}, (struct what){KIND_SEND_RECV, "forward", 0, 12});
    for (uint32_t r = 0; r < 4; r++) // all forwards, then all backwards
        job.passes.ranks[r].steps[1].micro_batches = 1;
    assert_overall(&job, "PP4");
    const struct table *strategy = report_find(&job.report, "strategy");
    for (size_t i = 0; i < strategy->row_count; i++)
        assert_string_not_equal(named_cell(strategy, i, "dimension")->s.at, "micro_batches");
    job_end(&job);
}

static void stages_may_descend(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 3);
    for (int b = 0; b < 5; b++) {
        add_transfer(&job, 2, 1, 3, "forward");
        add_transfer(&job, 1, 0, 3, "forward");
    }
    for (int b = 0; b < 5; b++) {
        add_transfer(&job, 0, 1, 3, "forward");
        add_transfer(&job, 1, 2, 3, "forward");
    }
    assert_overall(&job, "PP3");
    assert_string_equal(cell_of(&job, "pipeline", 0, "ranks")->s.at, "2");
    assert_int_equal(cell_of(&job, "pipeline", 0, "micro_batches")->i, 5);
    job_end(&job);
}

static void chunks_that_pass_the_stages_again_are_no_more_micro_batches(void **state)
{
    (void)state;
    for (int chunks = 2; chunks <= 5; chunks++) {
        struct job job;
        job_begin(&job, 4);
        for (int chunk = 0; chunk < chunks; chunk++) {
            add_pipeline(&job, 0, 1, 4, 8);
            for (int b = 0; chunk > 0 && b < 8; b++) {
                add_transfer(&job, 3, 0, 4, "forward");
                add_transfer(&job, 0, 3, 4, "forward");
            }
        }
        tell(&job);
        assert_overall(&job, "PP4");
        assert_int_equal(cell_of(&job, "pipeline", 0, "micro_batches")->i, 8);
        double ideal = 3.0 / (8 * chunks + 3); // each chunk is a pass through the stages
        assert_true(fabs(cell_of(&job, "pipeline", 0, "ideal_share")->f - ideal) < 1e-12);
        job_end(&job);
    }
}

// If the engine sends gradients back, a pipeline's ranks send in both passes, like those of a ring.
static void many_chunks_are_no_ring(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    for (uint32_t pass = 0; pass < 5 * 4; pass++)
        for (int b = 0; b < 8 && pass + 1 < 5 * 4; b++) {
            add_transfer(&job, pass % 4, (pass + 1) % 4, 4, "forward");
            add_transfer(&job, (pass + 1) % 4, pass % 4, 4, "backward");
        }
    tell(&job);
    assert_overall(&job, "PP4");
    job_end(&job);
}

static void ranks_that_are_missing_still_make_a_pipeline(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    job.comm.ranks[1].rank = 3; // ranks 1 and 2 of four are missing
    struct comm_op op = {.group = group_of(&job, (struct members){0, 1, 2}),
                         .bytes = MIB,
                         .dtype = STR("Float"),
                         .phase = STR("forward")};
    for (int b = 0; b < 6; b++) {
        op.kind = KIND_SEND;
        op.peer = 1;
        add_call(&job, 0, op);
        op.kind = KIND_RECV;
        op.peer = 2;
        add_call(&job, 1, op);
    }
    op.peer = 1;
    add_call(&job, 0, op); // a gradient
    op.kind = KIND_SEND;
    op.peer = 2;
    add_call(&job, 1, op);
    tell(&job);
    // 0 and 1 send to each other, and so do 2 and 3: nothing shows that 1 and 2 do.
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "pipeline"), "degree")->i, 2);
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "micro_batches"), "degree")->i, 6);
    job_end(&job);
}

// Two stages over [0, 100) and [20, 80) on the common clock; the second one's clock is 1000 late.
static void set_times(struct job *job)
{
    struct step_times *first = &job->passes.ranks[0].steps[1];
    struct step_times *second = &job->passes.ranks[1].steps[1];
    first->passes = (struct pass_times){5000, 5100, 80};
    first->optimizer = (struct pass_times){5110, 5150, 40};
    second->passes = (struct pass_times){4020, 4080, 50};
    second->optimizer = (struct pass_times){4090, 4110, 10}; // half of it while the first computes
    job->comm.ranks[1].offset_ns = 1000;
}

static void the_bubble_is_what_a_stage_does_not_compute_of_the_common_interval(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    add_pipeline(&job, 0, 1, 2, 4);
    set_times(&job);
    tell(&job);
    static const struct {
        const char *column;
        int64_t values[2];
    } expected[] = {{"steps", {1, 1}},
                    {"interval_ns", {100, 100}},
                    {"compute_ns", {80, 55}},
                    {"bubble_ns", {20, 45}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (size_t stage = 0; stage < 2; stage++)
            assert_int_equal(cell_of(&job, "pipeline", stage, expected[i].column)->i,
                             expected[i].values[stage]);
    assert_true(cell_of(&job, "pipeline", 1, "bubble_share")->f == 0.45);
    assert_true(fabs(cell_of(&job, "pipeline", 0, "ideal_share")->f - 0.2) < 1e-12);
    job_end(&job);
}

// The second rank counts its steps from one later on, and so works on the first one's step 1 in its
// step 0; or it recorded nothing at that time.
static void steps_of_stages_are_joined_by_time_where_their_numbers_differ(void **state)
{
    (void)state;
    for (int recorded = 0; recorded < 2; recorded++) {
        struct job job;
        job_begin(&job, 2);
        add_pipeline(&job, 0, 1, 2, 4);
        set_times(&job);
        struct step_times *second = job.passes.ranks[1].steps;
        if (recorded) {
            second[0].passes = second[1].passes;
            second[0].optimizer = second[1].optimizer;
        }
        second[1].passes = (struct pass_times){4120, 4180, 50};
        second[1].optimizer = (struct pass_times){4190, 4210, 10};
        tell(&job);
        assert_int_equal(cell_of(&job, "pipeline", 0, "steps")->i, recorded);
        assert_int_equal(cell_of(&job, "pipeline", 0, "interval_ns")->null, !recorded);
        assert_int_equal(cell_of(&job, "pipeline", 0, "interval_ns")->i, recorded ? 100 : 0);
        assert_int_equal(cell_of(&job, "pipeline", 1, "compute_ns")->i, recorded ? 55 : 0);
        assert_int_equal(trust_count(&job.report, "pipeline_steps_apart"), !recorded);
        job_end(&job);
    }
}

static void without_common_clocks_the_longest_span_is_the_interval(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    add_pipeline(&job, 0, 1, 2, 4);
    set_times(&job);
    job.comm.ranks[1].offset_ns = 0;
    job.comm.ranks[1].component = 1;
    tell(&job);
    assert_int_equal(cell_of(&job, "pipeline", 0, "interval_ns")->i, 100);
    assert_int_equal(cell_of(&job, "pipeline", 1, "compute_ns")->i, 50);
    assert_int_equal(cell_of(&job, "pipeline", 1, "bubble_ns")->i, 50);
    job_end(&job);
}

static void without_the_first_stage_no_interval_is_known(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    add_pipeline(&job, 0, 1, 2, 4);
    set_times(&job);
    job.comm.ranks[0].rank = 7; // its sends now come from elsewhere
    job.comm.ranks[0].count = 0;
    tell(&job);
    assert_int_equal(cell_of(&job, "pipeline", 1, "ranks")->s.at[0], '1');
    assert_true(cell_of(&job, "pipeline", 1, "bubble_share")->null);
    assert_int_equal(cell_of(&job, "pipeline", 1, "micro_batches")->i, 4);
    job_end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_send_in_a_row_are_a_pipeline),
        cmocka_unit_test(micro_batches_of_different_sizes_count_by_the_turns_of_the_last_stage),
        cmocka_unit_test(a_mesh_of_three_dimensions_is_recognized),
        cmocka_unit_test(calls_that_were_joined_make_a_pipeline_of_their_group),
        cmocka_unit_test(one_turn_of_the_passes_does_not_tell_micro_batches_of_a_pipeline),
        cmocka_unit_test(stages_may_descend),
        cmocka_unit_test(chunks_that_pass_the_stages_again_are_no_more_micro_batches),
        cmocka_unit_test(many_chunks_are_no_ring),
        cmocka_unit_test(ranks_that_are_missing_still_make_a_pipeline),
        cmocka_unit_test(the_bubble_is_what_a_stage_does_not_compute_of_the_common_interval),
        cmocka_unit_test(steps_of_stages_are_joined_by_time_where_their_numbers_differ),
        cmocka_unit_test(without_common_clocks_the_longest_span_is_the_interval),
        cmocka_unit_test(without_the_first_stage_no_interval_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
