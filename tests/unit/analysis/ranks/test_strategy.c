// SPDX-License-Identifier: Apache-2.0
// Strategies recognized from handmade calls, and bubbles computed by hand.
#include "analysis/ranks/strategy.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#define MIB        ((int64_t)1 << 20)
#define STEPS      2
#define MAX_RANKS  32
#define MAX_OPS    4096
#define MAX_GROUPS 256
#define MAX_CALLS  1024

// A job whose calls are added one by one.
struct job {
    struct budget budget;
    struct arena arena;
    struct run_comm comm;
    struct run_passes passes;
    struct report report;
    struct err err;
    int64_t transfer_bytes; // of what add_transfer adds; 0: 4 MiB
};

static void *room(struct job *job, size_t count, size_t size)
{
    void *at = arena_array(&job->arena, count, size, &job->err);
    assert_non_null(at);
    return at;
}

static void job_begin(struct job *job, uint32_t ranks)
{
    *job = (struct job){0};
    arena_init(&job->arena, &job->budget);
    job->report.arena = &job->arena;
    job->comm = (struct run_comm){.budget = &job->budget, .rank_count = ranks};
    job->comm.ranks = room(job, ranks, sizeof *job->comm.ranks);
    job->comm.ops = room(job, MAX_OPS, sizeof *job->comm.ops);
    job->comm.groups = room(job, MAX_GROUPS, sizeof *job->comm.groups);
    assert_true(run_passes_open(&job->passes, ranks, &job->budget, &job->err));
    job->passes.count = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        struct comm_rank *rank = &job->comm.ranks[r];
        *rank = (struct comm_rank){.rank = r, .step_count = STEPS};
        rank->events = room(job, MAX_CALLS, sizeof *rank->events);
        rank->steps = room(job, STEPS, sizeof *rank->steps);
        job->passes.ranks[r].steps = room(job, STEPS, sizeof(struct step_times));
        job->passes.ranks[r].count = STEPS;
        for (int s = 0; s < STEPS; s++) {
            rank->steps[s] = (struct comm_step){.number = s, .steady = s > 0};
            job->passes.ranks[r].steps[s] =
                (struct step_times){.number = s, .steady = s > 0, .micro_batches = 1};
        }
    }
}

static void job_end(struct job *job)
{
    run_passes_close(&job->passes);
    arena_free(&job->arena);
    assert_int_equal(job->budget.used, 0);
}

// The ranks first, first + stride, ... as a group.
struct members {
    uint32_t first, stride, size;
};

static uint32_t group_of(struct job *job, struct members members)
{
    char list[256] = "[";
    uint32_t *ranks = room(job, members.size, sizeof *ranks);
    size_t len = 1;
    for (uint32_t i = 0; i < members.size; i++) {
        ranks[i] = members.first + i * members.stride;
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%u", i ? ", " : "", ranks[i]);
    }
    snprintf(list + len, sizeof list - len, "]");
    for (uint32_t g = 0; g < job->comm.group_count; g++)
        if (str_equal(job->comm.groups[g].list, str_of(list)))
            return g;
    assert_true(job->comm.group_count < MAX_GROUPS);
    struct comm_group *group = &job->comm.groups[job->comm.group_count];
    char *text = arena_strdup(&job->arena, str_of(list), &job->err);
    *group = (struct comm_group){.name = str_of(text),
                                 .list = str_of(text),
                                 .size = members.size,
                                 .ranks = ranks,
                                 .rank_count = members.size};
    return job->comm.group_count++;
}

static uint32_t op_of(struct job *job, struct comm_op op)
{
    for (uint32_t o = 0; o < job->comm.op_count; o++) {
        const struct comm_op *known = &job->comm.ops[o];
        if (known->group == op.group && known->kind == op.kind && known->bytes == op.bytes &&
            known->peer == op.peer && str_equal(known->phase, op.phase))
            return o;
    }
    assert_true(job->comm.op_count < MAX_OPS);
    job->comm.ops[job->comm.op_count] = op;
    return job->comm.op_count++;
}

// A call by one rank in each step.
static void add_call(struct job *job, uint32_t rank, struct comm_op op)
{
    uint32_t index = op_of(job, op);
    struct comm_rank *at = &job->comm.ranks[rank];
    for (uint32_t step = 0; step < STEPS; step++) {
        assert_true(at->count < MAX_CALLS);
        at->events[at->count++] = (struct comm_event){.op = index, .step = step};
    }
}

// What all ranks of a group call in each step.
struct what {
    enum collective_kind kind;
    const char *phase;
    int64_t bytes;
    int calls;
};

static void add_all(struct job *job, struct members members, struct what what)
{
    struct comm_op op = {.group = group_of(job, members),
                         .kind = what.kind,
                         .bytes = what.bytes,
                         .peer = -1,
                         .dtype = STR("Float"),
                         .phase = str_of(what.phase)};
    for (uint32_t i = 0; i < members.size; i++)
        for (int c = 0; c < what.calls; c++)
            add_call(job, members.first + i * members.stride, op);
}

// One micro-batch's tensor from one rank to another, all sends launched by the main thread.
static void add_transfer(struct job *job, uint32_t from, uint32_t to, uint32_t world,
                         const char *phase)
{
    struct comm_op op = {.group = group_of(job, (struct members){0, 1, world}),
                         .kind = KIND_SEND,
                         .bytes = job->transfer_bytes ? job->transfer_bytes : 4 * MIB,
                         .peer = to,
                         .dtype = STR("BFloat16"),
                         .phase = str_of(phase)};
    add_call(job, from, op);
    op.kind = KIND_RECV;
    op.peer = from;
    add_call(job, to, op);
}

static const struct cell *cell_of(const struct job *job, const char *table, size_t row,
                                  const char *column)
{
    const struct table *found = report_find(&job->report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static void tell(struct job *job)
{
    assert_true(strategy_add(&job->comm, &job->passes, &job->report, &job->err));
}

static void assert_overall(struct job *job, const char *expected)
{
    tell(job);
    assert_string_equal(cell_of(job, "strategy", 0, "dimension")->s.at, "overall");
    assert_string_equal(cell_of(job, "strategy", 0, "variant")->s.at, expected);
}

static size_t row_of(const struct job *job, const char *dimension)
{
    const struct table *table = report_find(&job->report, "strategy");
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(named_cell(table, row, "dimension")->s.at, dimension) == 0)
            return row;
    fail_msg("no row %s", dimension);
    return 0;
}

// --- data parallelism ---------------------------------------------------------------------------

static void add_ddp(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 25 * MIB, 6});
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 7 * MIB, 1});
}

static void add_fsdp(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_GATHER, "forward", 32 * MIB, 12});
    add_all(job, members, (struct what){KIND_ALL_GATHER, "backward", 32 * MIB, 11});
    add_all(job, members, (struct what){KIND_REDUCE_SCATTER, "backward", 32 * MIB, 12});
}

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

static void add_tensor(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "forward", 16 * MIB, 24});
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 16 * MIB, 24});
}

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

static void tokens_that_change_ranks_are_expert_parallel(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 8);
    add_ddp(&job, (struct members){0, 1, 8});
    for (uint32_t r = 0; r < 2; r++) {
        add_all(&job, (struct members){4 * r, 1, 4},
                (struct what){KIND_ALL_TO_ALL, "forward", 3 * MIB, 24});
        add_all(&job, (struct members){4 * r, 1, 4},
                (struct what){KIND_ALL_TO_ALL, "backward", 3 * MIB, 24});
    }
    for (uint32_t r = 0; r < 4; r++) // experts are replicated less often
        add_all(&job, (struct members){r, 4, 2},
                (struct what){KIND_ALL_REDUCE, "backward", 25 * MIB, 2});
    assert_overall(&job, "EP4 x DDP8");
    job_end(&job);
}

static void data_passed_round_in_both_passes_is_context_parallel(void **state)
{
    (void)state;
    struct job job;
    job_begin(&job, 4);
    add_ddp(&job, (struct members){0, 1, 4});
    for (uint32_t r = 0; r < 4; r++)
        for (int layer = 0; layer < 6; layer++) {
            add_transfer(&job, r, (r + 1) % 4, 4, "forward");
            add_transfer(&job, r, (r + 1) % 4, 4, "backward");
        }
    assert_overall(&job, "CP4 x DDP4");
    assert_null(report_find(&job.report, "pipeline"));
    job_end(&job);
}

// --- pipelines ----------------------------------------------------------------------------------

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
        cmocka_unit_test(tokens_that_change_ranks_are_expert_parallel),
        cmocka_unit_test(data_passed_round_in_both_passes_is_context_parallel),
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
        cmocka_unit_test(a_job_that_does_not_talk_has_no_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
