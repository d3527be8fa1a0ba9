// SPDX-License-Identifier: Apache-2.0
// Strategies recognized from handmade calls.
#include "tests/unit/analysis/ranks/strategy_hand.h"

// --- data parallelism ---------------------------------------------------------------------------

static void buckets_reduced_in_the_backward_are_ddp(void **state)
{
    (void)state;
    struct job job;
    struct members all = {0, 1, 8};
    job_begin(&job, 8);
    add_all(&job, all, (struct what){KIND_BROADCAST, "forward", 2 * MIB, 1}); // buffers
    add_ddp(&job, all);
    add_all(&job, all, (struct what){KIND_ALL_REDUCE, "other", 4, 3}); // norm of the gradients
    assert_overall(&job, "DDP8");
    size_t row = row_of(&job, "data");
    assert_int_equal(cell_of(&job, "strategy", row, "degree")->i, 8);
    assert_int_equal(cell_of(&job, "strategy", row, "groups")->i, 1);
    assert_string_equal(cell_of(&job, "strategy", row, "confidence")->s.at, "high");
    assert_string_equal(cell_of(&job, "strategy", row, "evidence")->s.at,
                        "per rank and step 7 all_reduce of 23.5 MB in backward among ranks "
                        "[0, 1, 2, 3, 4, 5, 6, 7]: gradients are reduced, parameters never move");
    assert_string_equal(job.comm.groups[0].dimension, "data");
    job_end(&job);
}

static void gradients_reduced_after_the_backward_are_ddp_too(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    add_all(&job, (struct members){0, 1, 4}, (struct what){KIND_ALL_REDUCE, "other", 200 * MIB, 2});
    assert_overall(&job, "DDP4");
    job_end(&job);
}

static void norms_of_batches_in_the_forward_leave_it_ddp(void **state)
{
    (void)state;
    struct job job;
    struct members all = {0, 1, 8};
    job_begin(&job, 8);
    add_ddp(&job, all);
    add_all(&job, all, (struct what){KIND_ALL_REDUCE, "forward", 8192, 53});
    add_all(&job, all, (struct what){KIND_ALL_REDUCE, "backward", 8192, 53});
    assert_overall(&job, "DDP8");
    job_end(&job);
}

static void parameters_gathered_for_both_passes_are_fsdp_unless_a_context_is(void **state)
{
    (void)state;
    for (int context = 0; context < 2; context++) {
        struct job job;
        job_begin(&job, 8);
        add_fsdp(&job, (struct members){0, 1, 8});
        job.comm.groups[0].context = context;
        assert_overall(&job, context ? "CP8" : "FSDP8");
        job_end(&job);
    }
}

static void shards_that_are_replicated_are_fsdp_and_ddp(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 8);
    for (uint32_t node = 0; node < 2; node++)
        add_fsdp(&job, (struct members){4 * node, 1, 4});
    for (uint32_t local = 0; local < 4; local++)
        add_all(&job, (struct members){local, 4, 2},
                (struct what){KIND_ALL_REDUCE, "backward", 8 * MIB, 12});
    assert_overall(&job, "FSDP4 x DDP2");
    job_end(&job);
}

static void parameters_sent_by_their_owners_are_zero_1(void **state)
{
    (void)state;
    static const struct {
        enum collective_kind reduce, share;
        const char *when, *after;
    } cases[] = {{KIND_ALL_REDUCE, KIND_ALL_GATHER, "backward", "other"},
                 {KIND_ALL_REDUCE, KIND_BROADCAST, "backward", "optimizer"},
                 {KIND_ALL_REDUCE, KIND_ALL_GATHER, "other", "optimizer"},
                 {KIND_REDUCE_SCATTER, KIND_ALL_GATHER, "other", "other"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job;
        job_begin(&job, 8);
        add_all(&job, (struct members){0, 1, 8},
                (struct what){cases[i].reduce, cases[i].when, 500 * MIB, 2});
        add_all(&job, (struct members){0, 1, 8},
                (struct what){cases[i].share, cases[i].after, 500 * MIB, 2});
        assert_overall(&job, "ZeRO-1:8");
        job_end(&job);
    }
}

static void gradients_scattered_in_the_backward_are_zero_2(void **state)
{
    (void)state;
    static const char *const gathered[] = {"optimizer", "other", "forward"};
    for (size_t i = 0; i < sizeof gathered / sizeof *gathered; i++) {
        struct job job;
        job_begin(&job, 8);
        add_all(&job, (struct members){0, 1, 8},
                (struct what){KIND_REDUCE_SCATTER, "backward", 100 * MIB, 6});
        add_all(&job, (struct members){0, 1, 8},
                (struct what){KIND_ALL_GATHER, gathered[i], 100 * MIB, 6});
        assert_overall(&job, "ZeRO-2:8");
        job_end(&job);
    }
}

static void passes_that_repeat_in_a_step_accumulate_gradients(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    add_ddp(&job, (struct members){0, 1, 2});
    for (uint32_t r = 0; r < 2; r++)
        for (int s = 0; s < STEPS; s++)
            job.passes.ranks[r].steps[s].micro_batches = 4;
    assert_overall(&job, "DDP2");
    assert_int_equal(cell_of(&job, "strategy", row_of(&job, "gradient_accumulation"), "degree")->i,
                     4);
    job_end(&job);
}

// --- within layers ------------------------------------------------------------------------------

static void activations_reduced_in_both_passes_are_tensor_parallel(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 8);
    for (uint32_t r = 0; r < 4; r++)
        add_tensor(&job, (struct members){2 * r, 1, 2});
    for (uint32_t r = 0; r < 2; r++)
        add_ddp(&job, (struct members){r, 2, 4});
    assert_overall(&job, "TP2 x DDP4");
    size_t row = row_of(&job, "tensor");
    assert_int_equal(cell_of(&job, "strategy", row, "groups")->i, 4);
    assert_string_equal(job.comm.groups[0].dimension, "tensor");
    assert_string_equal(job.comm.groups[4].dimension, "data");
    job_end(&job);
}

static void activations_scattered_in_the_forward_are_tensor_parallel_too(void **state)
{
    (void)state;
    static const char *const passes[] = {"forward", "backward"};
    struct job job;
    job_begin(&job, 8);
    for (uint32_t r = 0; r < 2; r++)
        for (int pass = 0; pass < 2; pass++) {
            add_all(&job, (struct members){4 * r, 1, 4},
                    (struct what){KIND_ALL_GATHER, passes[pass], MIB, 24});
            add_all(&job, (struct members){4 * r, 1, 4},
                    (struct what){KIND_REDUCE_SCATTER, passes[pass], MIB, 24});
        }
    for (uint32_t r = 0; r < 4; r++)
        add_fsdp(&job, (struct members){r, 4, 2});
    assert_overall(&job, "TP4 x FSDP2");
    job_end(&job);
}

static void reductions_of_a_job_that_does_not_train_are_tensor_parallel(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    add_all(&job, (struct members){0, 1, 4}, (struct what){KIND_ALL_REDUCE, NULL, MIB, 64});
    for (uint32_t r = 0; r < 4; r++)
        job.passes.ranks[r].count = 0;
    assert_overall(&job, "TP4");
    assert_string_equal(cell_of(&job, "strategy", 1, "confidence")->s.at, "low");
    job_end(&job);
}

// Behind a graph's launch neither phases nor turns are known. One reduction per step cannot be of a
// layer's activations; with optimizer kernels all are of gradients.
static void reductions_within_a_graph_are_not_tensor_parallel(void **state)
{
    (void)state;
    for (int trains = 0; trains < 2; trains++) {
        struct job job;
        job_begin(&job, 4);
        add_all(&job, (struct members){0, 1, 4},
                (struct what){KIND_ALL_REDUCE, NULL, 680 * MIB, trains ? 8 : 1});
        for (uint32_t r = 0; r < 4; r++)
            job.passes.ranks[r].count = 0;
        job.passes.trains = trains;
        if (trains) {
            assert_overall(&job, "DDP4");
        } else {
            assert_true(strategy_add(&job.comm, &job.passes, &job.report, &job.err));
            assert_null(report_find(&job.report, "strategy"));
        }
        job_end(&job);
    }
}

// A compiler-generated optimizer has a meaningless name, but a backward does not.
static void kernels_of_a_backward_show_that_a_job_trains(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        bool trains;
    } cases[] = {
        {"triton_for_fused_0", false},
        {"void vectorized_layer_norm_kernel<float>()", false},
        {"triton_red_fused_native_layer_norm_backward_12", true},
        {"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float>()", true},
        {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", true},
        {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<x>()", true},
        {"sm80_xmma_dgrad_implicit_gemm_indexed_tf32f32", false}, // a transposed convolution
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job;
        job_begin(&job, 1);
        struct cell row[TABLE_MAX_COLUMNS];
        for (unsigned c = 0; c < table_kernels.column_count; c++)
            row[c] = cell_null();
        row[table_column(&table_kernels, STR("name"))] = cell_text(str_of(cases[i].kernel));
        assert_true(report_add(&job.report, &table_kernels, row, &job.err));
        job.passes.count = 0;
        assert_true(run_passes_add(&job.passes, &job.report, &job.err));
        assert_int_equal(job.passes.trains, cases[i].trains);
        job_end(&job);
    }
}

static void tokens_that_change_ranks_are_expert_parallel_unless_they_share_a_context(void **state)
{
    (void)state;
    for (int context = 0; context < 2; context++) {
        struct job job;
        job_begin(&job, 8);
        add_ddp(&job, (struct members){0, 1, 8});
        for (uint32_t r = 0; r < 2; r++)
            for (int b = 0; b < 2; b++)
                add_all(&job, (struct members){4 * r, 1, 4},
                        (struct what){KIND_ALL_TO_ALL, b ? "backward" : "forward", 3 * MIB, 24});
        job.comm.groups[1].context = job.comm.groups[2].context = context;
        for (uint32_t r = 0; r < 4; r++) // experts are replicated less often
            add_all(&job, (struct members){r, 4, 2},
                    (struct what){KIND_ALL_REDUCE, "backward", 25 * MIB, 2});
        assert_overall(&job, context ? "CP4 x DDP8" : "EP4 x DDP8");
        job_end(&job);
    }
}

// What ranks that share a context reduce is no attention.
static void data_passed_round_in_both_passes_is_context_parallel(void **state)
{
    (void)state;
    for (int context = 0; context < 2; context++) {
        struct job job;
        job_begin(&job, 4);
        add_ddp(&job, (struct members){0, 1, 4});
        for (uint32_t r = 0; r < 4; r++)
            for (int pass = 0; pass < 12; pass++)
                add_transfer(&job, r, (r + 1) % 4, 4, pass % 2 ? "backward" : "forward");
        job.comm.groups[0].context = context;
        assert_overall(&job, context ? "CP4" : "CP4 x DDP4");
        assert_int_equal(report_find(&job.report, "strategy")->row_count, context ? 2 : 3);
        assert_null(report_find(&job.report, "pipeline"));
        job_end(&job);
    }
}

static void a_job_that_does_not_talk_has_no_strategy(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 2);
    add_all(&job, (struct members){0, 1, 2}, (struct what){KIND_ALL_REDUCE, "other", 8, 1});
    tell(&job);
    assert_null(report_find(&job.report, "strategy"));
    assert_null(report_find(&job.report, "pipeline"));
    assert_null(job.comm.groups[0].dimension);
    job_end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_reduced_in_the_backward_are_ddp),
        cmocka_unit_test(gradients_reduced_after_the_backward_are_ddp_too),
        cmocka_unit_test(norms_of_batches_in_the_forward_leave_it_ddp),
        cmocka_unit_test(parameters_gathered_for_both_passes_are_fsdp_unless_a_context_is),
        cmocka_unit_test(shards_that_are_replicated_are_fsdp_and_ddp),
        cmocka_unit_test(parameters_sent_by_their_owners_are_zero_1),
        cmocka_unit_test(gradients_scattered_in_the_backward_are_zero_2),
        cmocka_unit_test(passes_that_repeat_in_a_step_accumulate_gradients),
        cmocka_unit_test(activations_reduced_in_both_passes_are_tensor_parallel),
        cmocka_unit_test(activations_scattered_in_the_forward_are_tensor_parallel_too),
        cmocka_unit_test(reductions_of_a_job_that_does_not_train_are_tensor_parallel),
        cmocka_unit_test(reductions_within_a_graph_are_not_tensor_parallel),
        cmocka_unit_test(kernels_of_a_backward_show_that_a_job_trains),
        cmocka_unit_test(tokens_that_change_ranks_are_expert_parallel_unless_they_share_a_context),
        cmocka_unit_test(data_passed_round_in_both_passes_is_context_parallel),
        cmocka_unit_test(a_job_that_does_not_talk_has_no_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
