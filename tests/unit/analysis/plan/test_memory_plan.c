// SPDX-License-Identifier: Apache-2.0
// The memory planner against the tables of the papers whose formulas it uses.
#include "analysis/names/gpu_memory.h"
#include "analysis/plan/plan_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

// What one GPU would need; fails the test if the numbers do not add up.
static struct memory_plan plan_of(struct plan_model model, struct plan_job job)
{
    struct arena arena;
    struct memory_plan plan;
    struct err err = {.pos = ERR_NO_POS};
    arena_init(&arena, NULL);
    job.dp = job.dp ? job.dp : 1;
    job.tp = job.tp ? job.tp : 1;
    job.pp = job.pp ? job.pp : 1;
    job.micro_batch = job.micro_batch ? job.micro_batch : 1;
    job.interleave = job.interleave ? job.interleave : 1;
    if (!memory_plan_make(&model, &job, &arena, &plan, &err))
        fail_msg("%s", err.msg);
    arena_free(&arena);
    return plan;
}

static int64_t part_bytes(struct plan_model model, struct plan_job job, enum plan_part_kind kind)
{
    return plan_of(model, job).parts[kind].bytes;
}

static void adam_in_mixed_precision_takes_16_bytes_of_each_parameter(void **state)
{
    (void)state;
    struct plan_model model = {.parameters = 7e9};
    struct memory_plan one = plan_of(model, (struct plan_job){.precision = PLAN_MIXED_BF16});
    assert_int_equal(one.bytes_per_parameter, 16);
    assert_int_equal(one.static_bytes, 112000000000);
    assert_int_equal(one.model_static_bytes, 112000000000);
    assert_int_equal(one.parts[PLAN_PARAMETERS].bytes, 14000000000);
    assert_int_equal(one.parts[PLAN_GRADIENTS].bytes, 14000000000);
    assert_int_equal(one.parts[PLAN_MASTER].bytes, 28000000000);
    assert_int_equal(one.parts[PLAN_OPTIMIZER].bytes, 56000000000);
    struct memory_plan four = plan_of(
        model, (struct plan_job){.precision = PLAN_MIXED_BF16, .strategy = PLAN_ZERO3, .dp = 4});
    assert_int_equal(four.static_bytes, 28000000000);
    assert_int_equal(four.model_static_bytes, 112000000000);
    assert_int_equal(four.gpus, 4);
}

static void eight_bits_and_weights_alone_take_their_own_bytes_of_each_parameter(void **state)
{
    (void)state;
    // Weight, gradient, master copy, two states; 16-bit weights with two copies in 8 bits.
    static const struct {
        enum plan_precision precision;
        enum plan_optimizer optimizer;
        int bytes;
    } cases[] = {
        {PLAN_FP8, PLAN_ADAM, 4 + 2 + 4 + 8},    {PLAN_FP8_WEIGHTS, PLAN_ADAM, 2 + 2 + 4 + 8},
        {PLAN_FP8_WEIGHTS, PLAN_SGD, 2 + 2 + 4}, {PLAN_FP32, PLAN_NO_OPTIMIZER, 4},
        {PLAN_MIXED_BF16, PLAN_NO_OPTIMIZER, 2}, {PLAN_FP8, PLAN_NO_OPTIMIZER, 1},
    };
    struct plan_model model = {.parameters = 7e9};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_job job = {.precision = cases[i].precision, .optimizer = cases[i].optimizer};
        assert_int_equal(plan_of(model, job).bytes_per_parameter, cases[i].bytes);
    }
}

static void products_in_eight_bits_keep_the_inputs_of_linear_layers_in_eight(void **state)
{
    (void)state;
    struct plan_model model = {
        .parameters = 7e9, .layers = 32, .hidden = 4096, .heads = 32, .seq_len = 4096};
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .flash_attention = true};
    const int64_t sbh = (int64_t)4096 * 4096;
    assert_int_equal(part_bytes(model, job, PLAN_ACTIVATIONS), 32 * sbh * 34);
    // 14 of the 34 bytes are inputs of the four linear layers: 2, 2, 2 and 8.
    job.precision = PLAN_FP8;
    assert_int_equal(part_bytes(model, job, PLAN_ACTIVATIONS), 32 * sbh * (34 - 14 / 2));
    job.optimizer = PLAN_NO_OPTIMIZER;
    assert_int_equal(part_bytes(model, job, PLAN_ACTIVATIONS), 0);
}

// Table 1 of the ZeRO paper: GB per GPU by degree of data parallelism, as printed there.
struct zero_row {
    int64_t dp;
    double gb[3]; // sharding the optimizer; also gradients; also parameters
};

static void assert_zero_table(double parameters, const struct zero_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int stage = 0; stage < 3; stage++) {
            struct plan_job job = {.precision = PLAN_MIXED_FP16,
                                   .strategy = (enum plan_strategy)(PLAN_ZERO1 + stage),
                                   .dp = rows[i].dp};
            double gb =
                (double)plan_of((struct plan_model){.parameters = parameters}, job).static_bytes /
                1e9;
            // Printed to about three digits, some of them truncated rather than rounded.
            double unit = rows[i].gb[stage] < 1 ? 0.01 : rows[i].gb[stage] < 100 ? 0.1 : 1;
            if (fabs(gb - rows[i].gb[stage]) > unit)
                fail_msg("%g parameters, zero%d on %lld: found %g GB, expected %g", parameters,
                         stage + 1, (long long)rows[i].dp, gb, rows[i].gb[stage]);
        }
}

static void the_table_of_the_zero_paper_comes_out(void **state)
{
    (void)state;
    static const struct zero_row small[] = {{1, {120, 120, 120}},     {4, {52.5, 41.3, 30}},
                                            {16, {35.6, 21.6, 7.5}},  {64, {31.4, 16.6, 1.88}},
                                            {256, {30.4, 15.4, .47}}, {1024, {30.1, 15.1, .12}}};
    static const struct zero_row large[] = {{1, {2048, 2048, 2048}}, {4, {896, 704, 512}},
                                            {16, {608, 368, 128}},   {64, {536, 284, 32}},
                                            {256, {518, 263, 8}},    {1024, {513, 257, 2}}};
    static const struct zero_row huge[] = {{1, {16000, 16000, 16000}}, {4, {7000, 5500, 4000}},
                                           {16, {4750, 2875, 1000}},   {64, {4187, 2218, 250}},
                                           {256, {4046, 2054, 62.5}},  {1024, {4011, 2013, 15.6}}};
    assert_zero_table(7.5e9, small, 6);
    assert_zero_table(128e9, large, 6);
    assert_zero_table(1e12, huge, 6);
}

static void bytes_per_parameter_follow_precision_and_optimizer(void **state)
{
    (void)state;
    static const struct {
        struct plan_job job;
        int64_t bytes;
    } rows[] = {
        {{.precision = PLAN_FP32}, 16},
        {{.precision = PLAN_FP32, .optimizer = PLAN_SGD}, 8},
        {{.precision = PLAN_BF16, .optimizer = PLAN_ADAMW}, 8},
        {{.precision = PLAN_MIXED_BF16, .fp32_gradients = true}, 18},
        {{.precision = PLAN_MIXED_BF16, .optimizer = PLAN_ADAM_8BIT}, 10},
        {{.precision = PLAN_MIXED_BF16, .optimizer = PLAN_SGD_MOMENTUM}, 12},
        {{.precision = PLAN_MIXED_FP16, .optimizer = PLAN_LION}, 12},
        {{.precision = PLAN_MIXED_FP16, .optimizer = PLAN_SGD}, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            plan_of((struct plan_model){.parameters = 1e6}, rows[i].job).bytes_per_parameter,
            rows[i].bytes);
}

// Megatron Core's table: 6 + 12 / d bytes with 16-bit weights and 32-bit gradients, 8 + 8 / d with
// everything in 32 bits.
static void megatrons_distributed_optimizer_comes_out(void **state)
{
    (void)state;
    struct plan_model model = {.parameters = 1e9};
    struct plan_job job = {
        .precision = PLAN_MIXED_BF16, .fp32_gradients = true, .strategy = PLAN_ZERO1, .dp = 8};
    assert_int_equal(plan_of(model, job).static_bytes, 7500000000);
    job = (struct plan_job){.precision = PLAN_FP32, .strategy = PLAN_ZERO1, .dp = 8};
    assert_int_equal(plan_of(model, job).static_bytes, 9000000000);
}

// --- activations --------------------------------------------------------------------------------

// GPT-3 with 175 billion parameters, as in table 3 of the paper on recomputation.
static const struct plan_model gpt3 = {.parameters = 175e9,
                                       .layers = 96,
                                       .hidden = 12288,
                                       .heads = 96,
                                       .seq_len = 2048,
                                       .vocab = 51200};

static const double gpt3_sbh = 2048.0 * 12288;

static int64_t kept(struct plan_job job)
{
    return part_bytes(gpt3, job, PLAN_ACTIVATIONS);
}

static int64_t rounded(double bytes)
{
    return (int64_t)ceil(bytes);
}

static void activations_follow_each_row_of_the_papers_table(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16};
    double all = 96 * gpt3_sbh; // L s b h; 5 a s / h is 80
    assert_int_equal(kept(job), rounded(all * (34 + 80)));
    job.tp = 8;
    assert_int_equal(kept(job), rounded(all * (10 + 24.0 / 8 + 80.0 / 8)));
    job.sequence_parallel = true;
    assert_int_equal(kept(job), rounded(all * (34.0 / 8 + 80.0 / 8)));
    job.recompute = PLAN_SELECTIVE;
    assert_int_equal(kept(job), rounded(all * 34 / 8));
    job.sequence_parallel = false;
    assert_int_equal(kept(job), rounded(all * (10 + 24.0 / 8)));
    job.recompute = PLAN_FULL;
    assert_int_equal(kept(job), rounded(all * 2));
}

// Section 5: recomputing only the attention saves 70 % of GPT-3's activations and 65 % of those of
// MT-NLG with 530 billion parameters; 5 a s / h is 80 and 64.
static void the_papers_savings_of_selective_recomputation_come_out(void **state)
{
    (void)state;
    static const struct plan_model mt_nlg = {.parameters = 530e9,
                                             .layers = 105,
                                             .hidden = 20480,
                                             .heads = 128,
                                             .seq_len = 2048,
                                             .vocab = 51200};
    const struct plan_model *models[] = {&gpt3, &mt_nlg};
    const double saved[] = {.70, .65}, pairs[] = {80, 64};
    for (int i = 0; i < 2; i++) {
        struct plan_job job = {.precision = PLAN_MIXED_FP16, .tp = 8, .sequence_parallel = true};
        double all = (double)part_bytes(*models[i], job, PLAN_ACTIVATIONS);
        job.recompute = PLAN_SELECTIVE;
        double rest = (double)part_bytes(*models[i], job, PLAN_ACTIVATIONS);
        assert_true(fabs(all / rest - (34 + pairs[i]) / 34) < 1e-9);
        assert_true(fabs(1 - rest / all - saved[i]) < .006);
    }
}

static void a_pipelines_first_stage_holds_as_many_layers_as_the_model_has(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .tp = 8};
    int64_t whole = kept(job);
    job.pp = 8;
    assert_int_equal(kept(job), whole); // 96 / 8 layers of 8 micro-batches
    job.micro_batches = 4;
    assert_int_equal(kept(job), whole / 2);
    job.micro_batches = 0;
    job.interleave = 3; // L (1 + (p - 1) / (p m)), section 4.2.3
    assert_int_equal(kept(job), rounded(96 * gpt3_sbh * (10 + 3 + 10) * (1 + 7.0 / 24)));
}

static void flash_attention_stores_no_pairs_of_tokens(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .flash_attention = true};
    assert_int_equal(kept(job), rounded(96 * gpt3_sbh * 34));
    assert_int_equal(part_bytes(gpt3, job, PLAN_RECOMPUTED), 0);
    job.flash_attention = false;
    job.recompute = PLAN_SELECTIVE;
    assert_int_equal(kept(job), rounded(96 * gpt3_sbh * 34));
    assert_int_equal(part_bytes(gpt3, job, PLAN_RECOMPUTED), rounded(gpt3_sbh * 80));
    job.recompute = PLAN_FULL;
    assert_int_equal(part_bytes(gpt3, job, PLAN_RECOMPUTED), rounded(gpt3_sbh * (34 + 80 - 2)));
}

static void activations_of_32_bits_double_all_but_the_masks(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_FP32};
    assert_int_equal(kept(job), rounded(96 * gpt3_sbh * (66 + 9.0 * 96 * 2048 / 12288)));
}

// Section 4.3: s b h L / t (p / L + [p = 1] 4 / L (1 + v / h)).
static void the_output_layer_follows_the_papers_section(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .tp = 8, .sequence_parallel = true};
    assert_int_equal(part_bytes(gpt3, job, PLAN_OUTPUT),
                     rounded(gpt3_sbh / 8 * (1 + 4 * (1 + 51200.0 / 12288))));
    job.pp = 8;
    assert_int_equal(part_bytes(gpt3, job, PLAN_OUTPUT), rounded(gpt3_sbh / 8 * 8));
}

// --- the rest -----------------------------------------------------------------------------------

static void tensors_and_stages_share_out_what_is_left(void **state)
{
    (void)state;
    struct plan_job job = {
        .precision = PLAN_MIXED_BF16, .strategy = PLAN_ZERO1, .dp = 4, .tp = 8, .pp = 2};
    struct memory_plan plan = plan_of((struct plan_model){.parameters = 16e9}, job);
    assert_int_equal(plan.gpus, 64);
    assert_int_equal(plan.static_bytes, 4000000000 + 3000000000); // 4 P / 16, 12 P / 64
}

static void full_sharding_gathers_two_layers_at_a_time(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .strategy = PLAN_ZERO3, .dp = 8};
    assert_int_equal(part_bytes(gpt3, job, PLAN_GATHERED), rounded(6 * 175e9 / 96));
    job.dp = 1;
    assert_int_equal(part_bytes(gpt3, job, PLAN_GATHERED), 0);
    job.dp = 8;
    assert_int_equal(part_bytes((struct plan_model){.parameters = 7e9}, job, PLAN_GATHERED),
                     COUNT_UNKNOWN);
}

static void what_the_model_does_not_tell_is_not_made_up(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16, .overhead_bytes = 2e9};
    struct memory_plan plan = plan_of((struct plan_model){.parameters = 1e9}, job);
    assert_false(plan.complete);
    assert_int_equal(plan.parts[PLAN_ACTIVATIONS].bytes, COUNT_UNKNOWN);
    assert_int_equal(plan.total_bytes, 18000000000);
    assert_true(plan_of(gpt3, job).complete);
}

static void the_parts_sum_to_the_total(void **state)
{
    (void)state;
    struct plan_job job = {.precision = PLAN_MIXED_BF16,
                           .strategy = PLAN_ZERO3,
                           .recompute = PLAN_FULL,
                           .dp = 3,
                           .tp = 5,
                           .pp = 7,
                           .overhead_bytes = 1.5e9};
    struct memory_plan plan = plan_of(gpt3, job);
    int64_t sum = 0;
    for (int i = 0; i < PLAN_PARTS; i++)
        sum += plan.parts[i].bytes;
    assert_int_equal(plan.total_bytes, sum);
}

static void numbers_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct plan_model model;
        struct plan_job job;
        const char *message;
    } faults[] = {
        {{.parameters = 0}, {.dp = 1, .tp = 1, .pp = 1}, "parameters: expected a count"},
        {{.parameters = NAN}, {.dp = 1, .tp = 1, .pp = 1}, "parameters: expected a count"},
        {{.parameters = 1e9, .layers = 4}, {.dp = 1, .tp = 1, .pp = 8}, "pp: found 8 stages"},
        {{.parameters = 1e9, .hidden = 64, .heads = 4},
         {.dp = 1, .tp = 8, .pp = 1},
         "tp: found 8 GPUs"},
        {{.parameters = 1e9, .hidden = 64, .heads = 7},
         {.dp = 1, .tp = 1, .pp = 1},
         "which does not divide hidden=64"},
        {{.parameters = 1e9}, {.dp = 1, .tp = 1, .pp = 1, .interleave = 2}, "expected a pipeline"},
        {{.parameters = 1e9, .layers = 1000, .hidden = 1000, .heads = 1000, .seq_len = 100000000},
         {.dp = 1, .tp = 1, .pp = 1, .micro_batch = 1000, .interleave = 1},
         "more than 9 PB"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct arena arena;
        struct memory_plan plan;
        struct err err = {.pos = ERR_NO_POS};
        arena_init(&arena, NULL);
        assert_false(memory_plan_make(&faults[i].model, &faults[i].job, &arena, &plan, &err));
        assert_int_equal(err.code, ERR_USAGE);
        if (!strstr(err.msg, faults[i].message))
            fail_msg("found: %s, expected: %s", err.msg, faults[i].message);
        arena_free(&arena);
    }
}

static void gpus_are_found_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(gpu_memory_find(STR("H100 SXM"))->bytes, 80000000000);
    assert_int_equal(gpu_memory_find(STR("mi300x"))->bytes, 192000000000);
    assert_int_equal(gpu_memory_find(STR("AMD Instinct MI300X"))->bytes, 192000000000);
    assert_null(gpu_memory_find(STR("H100")));
    assert_null(gpu_memory_find(STR("")));
    for (size_t i = 0; i < gpu_memory_count; i++) {
        assert_ptr_equal(gpu_memory_find(str_of(gpu_memories[i].name)), &gpu_memories[i]);
        assert_non_null(strstr(gpu_memories[i].source, "data sheet"));
    }
}

static const struct plan_model llama_3_8b = {.parameters = 8.03e9,
                                             .layers = 32,
                                             .hidden = 4096,
                                             .heads = 32,
                                             .kv_heads = 8,
                                             .seq_len = 8192,
                                             .vocab = 128256};

static void keys_and_values_take_what_their_heads_take(void **state)
{
    (void)state;
    // 2 x 2 bytes x 32 layers x 8 heads x 128: 128 KiB of each token, 1 GiB of 8192
    struct plan_job job = {
        .precision = PLAN_BF16, .optimizer = PLAN_NO_OPTIMIZER, .flash_attention = true};
    assert_int_equal(part_bytes(llama_3_8b, job, PLAN_CACHE), 0);
    job.cached = 1;
    assert_int_equal(part_bytes(llama_3_8b, job, PLAN_CACHE), 1 << 30);
    job.cached = 16;
    job.tp = 4;
    assert_int_equal(part_bytes(llama_3_8b, job, PLAN_CACHE), INT64_C(4) << 30);
    job.fp8_cache = true;
    assert_int_equal(part_bytes(llama_3_8b, job, PLAN_CACHE), INT64_C(2) << 30);
    job.tp = 32; // no head is split
    assert_int_equal(part_bytes(llama_3_8b, job, PLAN_CACHE), INT64_C(1) << 30);
}

static void the_largest_model_fits_and_a_larger_one_does_not(void **state)
{
    (void)state;
    const int64_t memory = 80000000000;
    const struct plan_job job = {.precision = PLAN_MIXED_BF16,
                                 .strategy = PLAN_ZERO3,
                                 .dp = 8,
                                 .tp = 1,
                                 .pp = 1,
                                 .micro_batch = 1,
                                 .interleave = 1,
                                 .flash_attention = true};
    struct err err;
    double largest, alone;
    assert_true(plan_largest(&llama_3_8b, &job, memory, &largest, &err));
    struct plan_model model = llama_3_8b;
    model.parameters = largest;
    model.hidden = (int64_t)round(4096 * sqrt(largest / 8.03e9) / 32) * 32;
    assert_true(plan_of(model, job).total_bytes <= memory);
    model.parameters = largest * 1.05;
    model.hidden = (int64_t)round(4096 * sqrt(model.parameters / 8.03e9) / 32) * 32;
    assert_true(plan_of(model, job).total_bytes > memory);
    // 16 bytes of each of 5e9 parameters
    const struct plan_model bare = {.parameters = 1e9};
    const struct plan_job plain = {
        .precision = PLAN_MIXED_BF16, .dp = 1, .tp = 1, .pp = 1, .micro_batch = 1, .interleave = 1};
    assert_true(plan_largest(&bare, &plain, memory, &alone, &err));
    assert_true(fabs(alone - 5e9) < 10);
    assert_true(plan_largest(&llama_3_8b, &plain, 1000, &alone, &err));
    assert_true(alone < 100);
}

static void setups_that_fit_come_first_and_split_least(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    struct plan_setup *setups;
    size_t count, fitting = 0;
    const int64_t memory = 80000000000;
    const struct plan_job job = {
        .precision = PLAN_MIXED_BF16, .micro_batch = 1, .flash_attention = true};
    const struct plan_search asked = {&llama_3_8b, &job, 16, memory};
    arena_init(&arena, NULL);
    assert_true(plan_setups(&asked, &arena, &setups, &count, &err));
    assert_true(count > 50);
    for (size_t i = 0; i < count; i++) {
        const struct plan_job *way = &setups[i].job;
        assert_int_equal(way->dp * way->tp * way->pp, 16);
        assert_int_equal(setups[i].total_bytes, plan_of(llama_3_8b, *way).total_bytes);
        fitting += setups[i].total_bytes <= memory;
        assert_true((setups[i].total_bytes <= memory) == (fitting == i + 1));
    }
    assert_true(fitting > 0 && fitting < count);
    assert_int_equal(setups[0].job.recompute, PLAN_KEEP_ALL);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_in_mixed_precision_takes_16_bytes_of_each_parameter),
        cmocka_unit_test(eight_bits_and_weights_alone_take_their_own_bytes_of_each_parameter),
        cmocka_unit_test(products_in_eight_bits_keep_the_inputs_of_linear_layers_in_eight),
        cmocka_unit_test(the_table_of_the_zero_paper_comes_out),
        cmocka_unit_test(bytes_per_parameter_follow_precision_and_optimizer),
        cmocka_unit_test(megatrons_distributed_optimizer_comes_out),
        cmocka_unit_test(activations_follow_each_row_of_the_papers_table),
        cmocka_unit_test(the_papers_savings_of_selective_recomputation_come_out),
        cmocka_unit_test(a_pipelines_first_stage_holds_as_many_layers_as_the_model_has),
        cmocka_unit_test(flash_attention_stores_no_pairs_of_tokens),
        cmocka_unit_test(activations_of_32_bits_double_all_but_the_masks),
        cmocka_unit_test(the_output_layer_follows_the_papers_section),
        cmocka_unit_test(tensors_and_stages_share_out_what_is_left),
        cmocka_unit_test(full_sharding_gathers_two_layers_at_a_time),
        cmocka_unit_test(what_the_model_does_not_tell_is_not_made_up),
        cmocka_unit_test(the_parts_sum_to_the_total),
        cmocka_unit_test(numbers_that_do_not_go_together_are_refused),
        cmocka_unit_test(keys_and_values_take_what_their_heads_take),
        cmocka_unit_test(the_largest_model_fits_and_a_larger_one_does_not),
        cmocka_unit_test(setups_that_fit_come_first_and_split_least),
        cmocka_unit_test(gpus_are_found_by_their_names),
    };
    return cmocka_run_group_tests_name("memory_plan", tests, NULL, NULL);
}
