// SPDX-License-Identifier: Apache-2.0
// Why two steps differ: which parts are named, with what share, and what each sentence says.
#include "analysis/compare/reasons.h"
#include "tests/unit/compare_hand.h"

#define REASONS "compare_reasons"

enum { MS = 1000000 };

static void add_gpu(struct bench *bench, const char *gpu)
{
    ROW(bench_run(bench), &table_run_environment, {"key", .text = "gpu"}, {"value", .text = gpu},
        {"ranks", .i = 1});
}

// One step of two operators and a wait; the rest of the time is common to both sides.
static void add_run(struct bench *bench, struct hand_part changed, int64_t step_ns)
{
    bench_add(bench);
    bench_part(bench, (struct hand_part){"other_compute", "elementwise", "aten::add", "[[8]]", NULL,
                                         "add", 10, 5 * MS});
    bench_part(bench, changed);
    bench_steps(bench, 1, step_ns);
    bench_side(bench, 1);
}

static void assert_why(const struct bench *bench, size_t row, const char *rule, const char *why)
{
    struct str text = bench_cell(bench, REASONS, row, "why")->s;
    if (!str_equal(text, str_of(why)))
        fail_msg("%.*s", (int)text.len, text.at);
    assert_true(bench_says(bench, REASONS, row, "rule", rule));
}

static void compare_two(struct bench *bench, struct hand_part base, struct hand_part cand)
{
    bench_begin(bench);
    add_run(bench, base, 5 * MS + base.ns);
    add_run(bench, cand, 5 * MS + cand.ns);
    bench_compare(bench);
}

static void gains_come_first_and_shares_are_gross(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 4,
                                              side ? 6 * MS : 10 * MS});
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::addmm", "[[8]]", NULL, "am", 4,
                                              side ? 2 * MS : 3 * MS});
        bench_part(&bench, (struct hand_part){"idle_host_wait", "data_loading", NULL, NULL, NULL,
                                              NULL, 0, side ? 7 * MS : 2 * MS});
        bench_steps(&bench, 1, 15 * MS);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 3);
    assert_true(bench_says(&bench, REASONS, 0, "title", "aten::mm"));
    assert_int_equal(bench_i64(&bench, REASONS, 0, "gross_ns"), -5 * MS);
    assert_true(bench_f64(&bench, REASONS, 0, "gross_share") == 0.8);
    assert_true(bench_cell(&bench, REASONS, 0, "delta_share")->null); // the means are equal
    assert_true(bench_says(&bench, REASONS, 2, "kind", "cause"));
    assert_true(bench_f64(&bench, REASONS, 2, "gross_share") == 1);
    assert_why(&bench, 2, "idle", "The candidate waits longer for input data");
    bench_end(&bench);
}

static void work_that_a_recording_lacks_is_no_wait(void **state)
{
    (void)state;
    for (int least = 0; least < 2; least++) {
        struct bench bench;
        bench_begin(&bench);
        for (int side = 0; side < 2; side++) {
            bench_add(&bench);
            bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm",
                                                  4, 10 * MS});
            if (side || least)
                bench_part(&bench, (struct hand_part){"unrecorded", "unrecorded", NULL, NULL, NULL,
                                                      NULL, 0, side ? 7 * MS : 2 * MS});
            bench_steps(&bench, 1, side ? 17 * MS : 10 * MS + least * 2 * MS);
            bench_side(&bench, 1);
        }
        bench_compare(&bench);
        assert_why(&bench, 0, "idle",
                   least ? "The candidate ran more work that its recording lacks"
                         : "Only the candidate ran work that its recording "
                           "lacks");
        bench_end(&bench);
    }
}

static void what_only_one_side_runs_is_said(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 2, 4 * MS},
            9 * MS);
    add_run(&bench,
            (struct hand_part){"other_compute", "reduction", "aten::sum", "[[8]]", NULL, "s", 3,
                               1 * MS},
            6 * MS);
    bench_compare(&bench);
    assert_why(&bench, 0, "one_side", "Only the base runs it, 2 times per step");
    assert_why(&bench, 1, "one_side", "Only the candidate runs it, 3 times per step");
    bench_end(&bench);
}

static void what_only_changed_its_name_is_one_part(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench,
                (struct hand_part){"gemm", "GEMM", "my::old", NULL, NULL, "ampere_sgemm_128x64_tn",
                                   2, 10 * MS},
                (struct hand_part){"gemm", "other", "my::new", NULL, NULL, "ampere_sgemm_32x32_tn",
                                   2, 10400000});
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 1);
    assert_int_equal(bench_i64(&bench, REASONS, 0, "delta_ns"), 400000);
    assert_why(&bench, 0, "replaced",
               "The candidate runs new in its place, 10.4 ms per step instead of 10.0 ms");
    bench_end(&bench);
}

static void another_operation_replaces_nothing(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench,
                (struct hand_part){"gemm", "GEMM", "my::old", NULL, NULL, "ampere_sgemm_128x64_tn",
                                   2, 10 * MS},
                (struct hand_part){"gemm", "other", "my::new", NULL, NULL, "new", 2, 10400000});
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 2);
    bench_end(&bench);
}

static void more_calls_of_much_more_time_do_not_explain_it(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench,
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 2, 4 * MS},
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 4, 5 * MS});
    assert_why(&bench, 0, "slower",
               "A call of the same kernel takes 38 % less, 1.25 ms instead of 2.00 ms");
    bench_end(&bench);
}

static void kernels_of_one_label_are_not_called_different(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench,
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL,
                                   "void cutlass::Kernel2<a::Old>(P)", 2, 4 * MS},
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL,
                                   "void cutlass::Kernel2<a::New>(P)", 2, 2 * MS});
    assert_why(&bench, 0, "slower", "A call takes 50 % less, 1.00 ms instead of 2.00 ms");
    bench_end(&bench);
}

static void more_calls_are_the_reason_if_they_explain_it(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench,
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 2, 4 * MS},
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 4, 8 * MS});
    assert_why(&bench, 0, "calls", "4 calls per step instead of 2");
    bench_end(&bench);
    compare_two(
        &bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 1275, 8 * MS},
        (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 1, 8 * MS / 1275});
    assert_why(&bench, 0, "calls", "1 call per step instead of 1,275");
    bench_end(&bench);
}

static void other_shapes_are_named(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(
        &bench,
        (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8,4],[4,16]]", NULL, "mm", 2, 4 * MS},
        (struct hand_part){"gemm", "GEMM", "aten::mm", "[[9,4],[4,16]]", NULL, "mm", 2, 8 * MS});
    assert_why(&bench, 0, "shapes",
               "Different shapes: mostly 8x4, 4x16 on the base, 9x4, 4x16 on the candidate");
    bench_end(&bench);
}

static void another_kernel_is_named_without_its_arguments(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(
        &bench,
        (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL,
                           "void my::Slow<my::Policy>(Params)", 2, 4 * MS},
        (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "my::fast<8>", 2, 1 * MS});
    assert_why(&bench, 0, "kernel",
               "The base runs Slow, the candidate runs fast: a call takes 0.500 ms instead "
               "of 2.00 ms");
    bench_end(&bench);
}

// Each side runs both kernels; which has more time differs by chance, and each took twice as long.
static void kernels_that_both_sides_run_are_no_other_ones(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "my::one",
                                              1, side ? 2001000 : 1001000});
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[9]]", NULL, "my::two",
                                              1, side ? 2002000 : 1000000});
        bench_steps(&bench, 1, side ? 4003000 : 2001000);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    struct str why = bench_cell(&bench, REASONS, 0, "why")->s;
    assert_true(str_starts_with(why, STR("A call takes 100 % longer, 2.00 ms instead of 1.00 ms")));
    bench_end(&bench);
}

static void add_rate(struct bench *bench, const char *kernel, int64_t work, int64_t ns)
{
    ROW(bench_rank(bench), &table_kernel_rates, {"kernel", .text = kernel},
        {"basis", .text = "shapes"}, {"work", .i = work}, {"calls", .i = 1}, {"total_ns", .i = ns});
}

// The kernel itself became 20 % slower; its neighbors did so, too, or kept their pace.
static void the_pace_of_other_kernels_tells_clocks_from_code(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *why;
    } cases[] = {{1000, "A call of the same kernel takes 20 % longer, 2.40 ms instead of 2.00 ms; "
                        "other kernels with equal work keep their pace"},
                 {1200, "A call of the same kernel takes 20 % longer, 2.40 ms instead of 2.00 ms; "
                        "other kernels with equal work also take 1.20 times as long: check "
                        "clocks, power and heat"}};
    for (size_t i = 0; i < 2; i++) {
        struct bench bench;
        bench_begin(&bench);
        for (int side = 0; side < 2; side++) {
            add_run(&bench,
                    (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 2,
                                       side ? 4800000 : 4 * MS},
                    side ? 9800000 : 9 * MS);
            add_rate(&bench, "mm", 1, side ? 1200000 : 1000000);
            for (int k = 0; k < 6; k++)
                add_rate(&bench, (const char *[]){"a", "b", "c", "d", "e", "f"}[k], 1,
                         side ? cases[i].ns : 1000);
        }
        bench_compare(&bench);
        assert_why(&bench, 0, "slower", cases[i].why);
        bench_end(&bench);
    }
}

static void a_large_factor_is_no_percentage(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        int ns = side ? 8 * MS : 80000;
        add_run(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "mm", 2, ns},
                ns + 5 * MS);
    }
    bench_compare(&bench);
    assert_why(&bench, 0, "slower",
               "A call of the same kernel takes 100 times as long, 4,000 us instead of 40.0 us");
    bench_end(&bench);
}

// A copy may take as long as before: only what nothing hides is known of it.
static void exposed_time_is_no_time_of_a_call(void **state)
{
    (void)state;
    static const struct {
        const char *bar, *kernels[2], *why;
        int64_t base_ns, cand_ns;
    } cases[] = {{"exposed_memory",
                  {"Memcpy HtoD", "Memcpy HtoD"},
                  "2.00 ms of a call is exposed instead of 0.105 ms: it takes longer, or compute "
                  "hides less of it",
                  105000,
                  2 * MS},
                 {"exposed_comm",
                  {"nccl:AllReduce_RING", "nccl:AllReduce_TREE"},
                  "0.105 ms of a call is exposed instead of 2.00 ms: it takes less, or compute "
                  "hides more of it",
                  2 * MS,
                  105000}};
    for (size_t i = 0; i < 2; i++) {
        const char *bar = cases[i].bar, *const *kernels = cases[i].kernels;
        struct bench bench;
        compare_two(
            &bench,
            (struct hand_part){bar, "copy", NULL, NULL, NULL, kernels[0], 1, cases[i].base_ns},
            (struct hand_part){bar, "copy", NULL, NULL, NULL, kernels[1], 1, cases[i].cand_ns});
        assert_why(&bench, 0, "exposed", cases[i].why);
        bench_end(&bench);
    }
}

static void add_roofline(struct bench *bench, int64_t busy_ns, double efficiency, double peak)
{
    ROW(bench_rank(bench), &table_roofline, {"op", .text = "aten::mm"}, {"dims", .text = "[[8]]"},
        {"calls", .i = 2}, {"busy_ns", .i = busy_ns}, {"flops", .i = 1000 * MS},
        {"bytes", .i = 50 * MS}, {"bound", .text = "memory"}, {"peak_tflops", .f = 989},
        {"peak_tbps", .f = peak}, {"roofline_ns", .i = (int64_t)((double)busy_ns * efficiency)});
}

static void across_devices_peaks_and_what_is_reached_explain_it(void **state)
{
    (void)state;
    static const struct {
        double reached;
        const char *why;
    } cases[] = {
        {0.25, "MI300X has 1.6 times the memory bandwidth, and both reach about 25 % of it"},
        {0.5, "MI300X has 1.6 times the memory bandwidth and reaches 50 % of it, H100 25 %"}};
    for (size_t i = 0; i < 2; i++) {
        struct bench bench;
        bench_begin(&bench);
        for (int side = 0; side < 2; side++) {
            add_run(&bench,
                    (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, side ? "b" : "a",
                                       2, side ? 2 * MS : 4 * MS},
                    side ? 7 * MS : 9 * MS);
            add_gpu(&bench, side ? "AMD Instinct MI300X VF" : "NVIDIA H100 80GB HBM3");
            add_roofline(&bench, side ? 2 * MS : 4 * MS, side ? cases[i].reached : 0.25,
                         side ? 5.3 : 3.35);
        }
        bench_compare(&bench);
        assert_why(&bench, 0, "peaks", cases[i].why);
        assert_true(bench_f64(&bench, REASONS, 0, "base_gbps") == 25);
        assert_true(bench_f64(&bench, REASONS, 0, "cand_tflops") == 1);
        assert_true(bench_says(&bench, REASONS, 0, "bound", "memory"));
        bench_end(&bench);
    }
}

static void
a_kernel_of_an_older_generation_at_alignment_1_is_named_with_the_odd_length(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        add_run(&bench,
                (struct hand_part){
                    "gemm", "GEMM", "aten::bmm", "[[16,5185,64],[16,64,5185]]", NULL,
                    side ? "Cijk_Ailk_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT64x288x64_MI16x16x1"
                         : "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128"
                           "_tn_align1>(Params)",
                    2, side ? 2 * MS : 4 * MS},
                side ? 7 * MS : 9 * MS);
        add_gpu(&bench, side ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3");
    }
    bench_compare(&bench);
    assert_why(&bench, 0, "kernel_kind",
               "H100 runs an Ampere kernel at alignment 1, as length 5185 is odd");
    bench_end(&bench);
}

// The rule that speaks if these kernels run on H100 on both sides, the candidate's for longer.
static void assert_rule(const char *base, const char *cand, const char *rule)
{
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        add_run(&bench,
                (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, side ? cand : base, 2,
                                   side ? 4 * MS : 2 * MS},
                side ? 9 * MS : 7 * MS);
        add_gpu(&bench, "NVIDIA H100 80GB HBM3");
    }
    bench_compare(&bench);
    assert_true(bench_says(&bench, REASONS, 0, "rule", rule));
    bench_end(&bench);
}

static void a_kernel_that_is_no_older_than_the_other_or_simt_is_not_blamed(void **state)
{
    (void)state;
    assert_rule("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel",
                "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn", "kernel_kind");
    assert_rule("turing_fp16_s1688gemm_fp16_128x64_ldg8_f2f_nn",
                "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn", "kernel");
    assert_rule("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel",
                "ampere_sgemm_128x64_tn", "kernel");
}

static void add_attention(struct bench *bench, bool fused, int64_t scale)
{
    bench_add(bench);
    if (fused)
        bench_part(bench, (struct hand_part){"attention", "attention",
                                             "aten::scaled_dot_product_attention", "[[8]]", NULL,
                                             "flash", 1, 2 * MS * scale});
    else
        for (int i = 0; i < 2; i++)
            bench_part(bench,
                       (struct hand_part){"attention", "attention",
                                          i ? "aten::bmm" : "aten::_softmax", "[[8]]", NULL,
                                          i ? "bmm" : "softmax", 2, (i ? 6 : 4) * MS * scale});
    bench_steps(bench, 1, (fused ? 2 : 10) * MS * scale);
    bench_side(bench, 1);
}

static void composed_attention_is_one_part(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_attention(&bench, false, 1);
    add_attention(&bench, true, 1);
    bench_compare(&bench);
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 1);
    assert_true(bench_says(&bench, REASONS, 0, "kind", "attention"));
    assert_int_equal(bench_i64(&bench, REASONS, 0, "base_ns"), 10 * MS);
    assert_int_equal(bench_i64(&bench, REASONS, 0, "cand_ns"), 2 * MS);
    assert_why(&bench, 0, "attention",
               "Fused on the candidate only: the base builds it from batched products and a "
               "softmax, and all scores go through memory");
    bench_end(&bench);
    bench_begin(&bench);
    add_attention(&bench, false, 1);
    add_attention(&bench, false, 2);
    bench_compare(&bench);
    assert_why(&bench, 0, "attention",
               "Not fused on either side, so all scores go through memory: bmm +6.00 ms, _softmax "
               "+4.00 ms. In bmm, a call of the same kernel takes 100 % longer, 6.00 ms instead of "
               "3.00 ms");
    bench_end(&bench);
}

static void add_collective(struct bench *bench, int64_t ns, int64_t exposed_ns)
{
    ROW(bench_rank(bench), &table_comm_sizes, {"kind", .text = "all_reduce"}, {"calls", .i = 1},
        {"calls_per_step", .f = 1}, {"steady_ns", .i = ns}, {"steady_exposed_ns", .i = exposed_ns},
        {"size_class", .text = "1 MiB - 2 MiB"}, {"process_group", .text = "0"});
}

static void a_collective_that_compute_hides_no_longer_says_so(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"exposed_comm", "communication", "record_param_comms",
                                              NULL, NULL, "nccl", 1, side ? 9 * MS : 1 * MS});
        bench_steps(&bench, 1, side ? 9 * MS : 1 * MS);
        add_collective(&bench, 10 * MS, side ? 9 * MS : 1 * MS);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 1);
    assert_true(bench_says(&bench, REASONS, 0, "kind", "collective"));
    assert_why(&bench, 0, "hidden",
               "It takes about as long, 10.0 ms, but compute hides 8.00 ms less of it");
    bench_end(&bench);
}

static void all_sizes_of_a_kind_of_collective_count(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"exposed_comm", "communication", "record_param_comms",
                                              NULL, NULL, "nccl", 1, side ? 9 * MS : 1 * MS});
        bench_steps(&bench, 1, side ? 9 * MS : 1 * MS);
        ROW(bench_rank(&bench), &table_comm_sizes, {"kind", .text = "all_reduce"},
            {"calls", .i = 2}, {"calls_per_step", .f = 2},
            {"steady_ns", .i = side ? 9 * MS : 1 * MS},
            {"steady_exposed_ns", .i = side ? 9 * MS : 1 * MS},
            {"size_class", .text = side ? "1 MiB - 2 MiB" : "2 MiB - 4 MiB"},
            {"process_group", .text = "0"});
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    assert_int_equal(bench_table(&bench, REASONS)->row_count, 1);
    assert_why(&bench, 0, "none",
               "They take 9.00 ms per step instead of 1.00 ms, waiting for other ranks included");
    bench_end(&bench);
}

// A rank of the newest run.
static void add_rank(struct bench *bench, int64_t rank, int64_t compute_ns, int64_t wait_ns)
{
    ROW(bench_run(bench), &table_run_ranks, {"rank", .i = rank}, {"compute_ns", .i = compute_ns},
        {"exposed_wait_ns", .i = wait_ns});
}

// Rank 0 receives; the transfer takes as long in both, and another rank may compute for longer.
static void compare_receives(struct bench *bench, int64_t grown_ns, int64_t waited_ns)
{
    bench_begin(bench);
    for (int side = 0; side < 2; side++) {
        int64_t ns = 10 * MS + side * 4 * MS;
        bench_add(bench);
        bench_part(bench, (struct hand_part){"exposed_comm", "communication", "record_param_comms",
                                             NULL, NULL, "nccl", 1, ns});
        bench_steps(bench, 1, ns);
        ROW(bench_rank(bench), &table_comm_sizes, {"kind", .text = "recv"}, {"calls", .i = 1},
            {"calls_per_step", .f = 1}, {"steady_ns", .i = ns}, {"steady_exposed_ns", .i = ns},
            {"bytes", .i = 100}, {"bus_gbps", .f = 10e6 / (double)ns});
        for (int64_t rank = 0; rank < 4; rank++)
            add_rank(bench, rank, 60 * MS + (rank == 2 ? side * grown_ns : 0),
                     rank == 0 ? 9 * MS + side * waited_ns : 0);
        bench_side(bench, 1);
    }
    bench_compare(bench);
}

static void a_receive_that_waits_is_not_blamed_on_the_wire(void **state)
{
    (void)state;
    static const struct {
        int64_t grown_ns, waited_ns;
        const char *rule, *why;
    } rows[] = {
        {6 * MS, 4 * MS, "wait",
         "The others wait for rank 2 of the candidate, which computes for 66.0 ms per step instead "
         "of 60.0 ms"},
        {1 * MS, 4 * MS, "wait",
         "This rank waits for others, not for the transfer: 13.0 ms per step of its exposed "
         "communication instead of 9.00 ms"},
        {6 * MS, 1 * MS, "bandwidth",
         "0.714 GB/s of bus bandwidth on the candidate instead of 1, waiting for other ranks "
         "included"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench;
        compare_receives(&bench, rows[i].grown_ns, rows[i].waited_ns);
        assert_why(&bench, 0, rows[i].rule, rows[i].why);
        bench_end(&bench);
    }
}

static void work_that_one_rank_alone_does_slower_says_so(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct bench bench;
        bench_begin(&bench);
        for (int side = 0; side < 2; side++) {
            int64_t ns = 10 * MS + side * 4 * MS;
            bench_add(&bench);
            bench_part(&bench,
                       (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", 4, ns});
            bench_steps(&bench, 1, ns);
            for (int64_t rank = 0; rank < 4; rank++)
                add_rank(&bench, rank, rank == 0 || all ? ns : 10 * MS, 0);
            bench_side(&bench, 1);
        }
        bench_compare(&bench);
        assert_why(&bench, 0, "slower",
                   all ? "A call of the same kernel takes 40 % longer, 3.50 ms instead of 2.50 ms"
                       : "A call of the same kernel takes 40 % longer, 3.50 ms instead of 2.50 ms; "
                         "only on rank 0 of 4");
        bench_end(&bench);
    }
}

static void names_and_shapes_are_short(void **state)
{
    (void)state;
    assert_string_equal(reason_kernel(STR("void at::native::(anonymous namespace)::soft<8, float>("
                                          "int)"))
                            .text,
                        "soft");
    assert_string_equal(reason_kernel(STR("Memcpy HtoD (Pinned -> Device)")).text,
                        "Memcpy HtoD (Pinned -> Device)");
    assert_string_equal(reason_kernel(STR("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x160"
                                          "x64_WG32_8_1"))
                            .text,
                        "Cijk_Alik_Bljk_BBS_BH_Bias_H..._WG32_8_1");
    assert_string_equal(reason_shapes(STR("[[16,5185,64],[],[16,64,5185]]")).text,
                        "16x5185x64, 16x64x5185");
    assert_string_equal(reason_shapes(STR("[[[")).text, "");
    assert_string_equal(reason_kernel(STR("<")).text, "<");
    assert_string_equal(reason_count(12.5).text, "12.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_come_first_and_shares_are_gross),
        cmocka_unit_test(work_that_a_recording_lacks_is_no_wait),
        cmocka_unit_test(what_only_one_side_runs_is_said),
        cmocka_unit_test(what_only_changed_its_name_is_one_part),
        cmocka_unit_test(another_operation_replaces_nothing),
        cmocka_unit_test(more_calls_of_much_more_time_do_not_explain_it),
        cmocka_unit_test(kernels_of_one_label_are_not_called_different),
        cmocka_unit_test(more_calls_are_the_reason_if_they_explain_it),
        cmocka_unit_test(other_shapes_are_named),
        cmocka_unit_test(another_kernel_is_named_without_its_arguments),
        cmocka_unit_test(kernels_that_both_sides_run_are_no_other_ones),
        cmocka_unit_test(a_large_factor_is_no_percentage),
        cmocka_unit_test(exposed_time_is_no_time_of_a_call),
        cmocka_unit_test(the_pace_of_other_kernels_tells_clocks_from_code),
        cmocka_unit_test(across_devices_peaks_and_what_is_reached_explain_it),
        cmocka_unit_test(
            a_kernel_of_an_older_generation_at_alignment_1_is_named_with_the_odd_length),
        cmocka_unit_test(a_kernel_that_is_no_older_than_the_other_or_simt_is_not_blamed),
        cmocka_unit_test(composed_attention_is_one_part),
        cmocka_unit_test(a_collective_that_compute_hides_no_longer_says_so),
        cmocka_unit_test(all_sizes_of_a_kind_of_collective_count),
        cmocka_unit_test(a_receive_that_waits_is_not_blamed_on_the_wire),
        cmocka_unit_test(work_that_one_rank_alone_does_slower_says_so),
        cmocka_unit_test(names_and_shapes_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
