// SPDX-License-Identifier: Apache-2.0
// Rules about the efficiency of products and attention: each with the right cost, silent otherwise.
#include "tests/unit/findings_hand.h"

#define MM(m, k, n) "[[" #m "," #k "],[" #k "," #n "]]"
#define BF16        "[\"c10::BFloat16\",\"c10::BFloat16\"]"
#define FP32        "[\"float\",\"float\"]"
#define FP8         "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"float\",\"float\"]"

// 2 * 4096^3 operations: 139 us at the bf16 peak of 989 TFLOP/s.
#define ROOF_NS (2.0 * 4096 * 4096 * 4096 / 989e3)

static struct busy_work product(const char *dims, const char *types, int64_t dur_ns)
{
    return (struct busy_work){"aten::mm", "nvjet_tst_256x128", dims, types, dur_ns, 0, 0, NULL};
}

static void fp32_products_beside_bf16_cost_what_the_roofline_says(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 200 * US));
    busy_repeat(&busy, 2, product(MM(4096, 4096, 4096), FP32, 3 * MS));
    hand_analyze(&busy.hand);
    assert_about(cost_of(&busy.hand, "gemm_precision"), 6e6 * (1 - 67.0 / 989));
    assert_non_null(strstr(finding_word(&busy.hand, "gemm_precision", "title"), "fp32"));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

// It may be a choice.
static void fp32_alone_is_for_information(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 12, product(MM(4096, 4096, 4096), FP32, 3 * MS));
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    assert_about(cost_of(&busy.hand, "bf16_unused"), 36e6 * (1 - 67.0 / 989));
    assert_string_equal(finding_word(&busy.hand, "bf16_unused", "severity"), "info");
    hand_end(&busy.hand);
}

// A V100 has no bf16, and its fp32 never uses tensor cores.
static void where_there_is_no_bf16_fp16_is_advised(void **state)
{
    (void)state;
    struct busy busy;
    struct busy_work work = product(MM(4096, 4096, 4096), FP32, 9 * MS);
    work.kernel = "volta_sgemm_128x64_nn";
    busy_begin(&busy);
    hand_member(&busy.hand, "deviceProperties",
                "[{\"id\": 0, \"name\": \"Tesla V100-SXM2-16GB\", \"numSms\": 80}]");
    busy_repeat(&busy, 12, work);
    hand_analyze(&busy.hand);
    assert_about(cost_of(&busy.hand, "bf16_unused"), 108e6 * (1 - 15.7 / 125));
    assert_non_null(strstr(finding_word(&busy.hand, "bf16_unused", "title"), "fp16 could save"));
    assert_non_null(strstr(finding_word(&busy.hand, "bf16_unused", "advice"), "torch.float16"));
    hand_end(&busy.hand);
}

// Quantized products, and others whose precision is not known.
static void fp32_beside_other_products_is_not_all_of_them(void **state)
{
    (void)state;
    static const struct busy_work others[] = {
        {"aten::_int_mm", "kernel", "[[4096,4096],[4096,4096]]",
         "[\"signed char\",\"signed char\"]", 10 * MS, 0, 0, NULL},
        {"aten::mm", "kernel", MM(4096, 4096, 4096), "[]", 10 * MS, 0, 0, NULL},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct busy busy;
        busy_begin(&busy);
        busy_repeat(&busy, 4, product(MM(4096, 4096, 4096), FP32, 3 * MS));
        busy_repeat(&busy, 4, others[i]);
        hand_analyze(&busy.hand);
        assert_false(has_finding(&busy.hand, "bf16_unused"));
        hand_end(&busy.hand);
    }
}

static void a_little_fp32_beside_bf16_does_not_matter(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 200 * US));
    busy_run(&busy, product(MM(256, 256, 256), FP32, 20 * US));
    hand_analyze(&busy.hand);
    assert_false(has_finding(&busy.hand, "gemm_precision"));
    hand_end(&busy.hand);
}

#define ALIGN1 \
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_nn_align1>()"

static void fp32_products_without_tensor_cores_cost_what_tf32_would_save(void **state)
{
    (void)state;
    struct busy busy;
    struct busy_work work = product(MM(4096, 4096, 4096), FP32, 3 * MS);
    work.kernel = "ampere_sgemm_128x128_nn";
    busy_begin(&busy);
    busy_repeat(&busy, 4, work);
    hand_analyze(&busy.hand);
    assert_about(cost_of(&busy.hand, "fp32_without_tensor_cores"), 12e6 * (1 - 67.0 / 495));
    assert_false(has_finding(&busy.hand, "gemm_precision"));
    assert_false(has_finding(&busy.hand, "bf16_unused"));
    assert_false(has_finding(&busy.hand, "older_architecture")); // a sgemm has no generation
    hand_end(&busy.hand);
}

static void kernels_for_an_older_device_cost_two_fifths_of_their_time(void **state)
{
    (void)state;
    struct busy busy;
    struct busy_work work = product(MM(4096, 4096, 4096), BF16, 200 * US);
    busy_begin(&busy);
    busy_repeat(&busy, 10, work);
    work.kernel = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn";
    busy_repeat(&busy, 5, work);
    hand_analyze(&busy.hand);
    assert_about(cost_of(&busy.hand, "older_architecture"), 0.4 * 1e6);
    const char *evidence = finding_word(&busy.hand, "older_architecture", "evidence");
    assert_non_null(strstr(evidence, "GEMM bf16 nn 128x64x64 sm80"));
    assert_non_null(strstr(evidence, "takes 33 % of the time"));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void only_loads_below_16_bytes_rule_newer_kernels_out(void **state)
{
    static const struct {
        const char *kernel;
        bool claims;
    } cases[] = {
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8>(P)",
         false},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align2>(P)",
         true},
        {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x4_tn_align4>(P)", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        struct busy_work work = product(MM(4096, 4096, 4096), BF16, 200 * US);
        work.kernel = cases[i].kernel;
        busy_begin(&busy);
        busy_repeat(&busy, 10, work);
        hand_analyze(&busy.hand);
        const char *evidence = finding_word(&busy.hand, "older_architecture", "evidence");
        assert_int_equal(strstr(evidence, "rules newer ones out") != NULL, cases[i].claims);
        hand_end(&busy.hand);
    }
}

static void products_that_are_not_aligned_cost_time_beyond_the_roofline(void **state)
{
    (void)state;
    struct busy busy;
    struct busy_work work = product(MM(4096, 4096, 4097), BF16, MS);
    work.kernel = ALIGN1;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 200 * US));
    busy_repeat(&busy, 4, work);
    hand_analyze(&busy.hand);
    double best = ROOF_NS * 4097 / 4096 / 0.45;
    assert_about(cost_of(&busy.hand, "misaligned_products"), 4 * (1e6 - best));
    const char *evidence = finding_word(&busy.hand, "misaligned_products", "evidence");
    assert_non_null(strstr(evidence, "N = 4097 is not a multiple of 8"));
    assert_non_null(strstr(evidence, "align1"));
    assert_string_equal(finding_word(&busy.hand, "misaligned_products", "confidence"), "high");
    hand_end(&busy.hand);
}

static void an_aligned_kernel_of_the_device_s_own_generation_is_not_found(void **state)
{
    (void)state;
    struct busy busy;
    struct busy_work work = product(MM(4096, 4096, 4096), BF16, 200 * US);
    work.kernel = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
                  "execute_segment_k_off_kernel__5x_cublas";
    busy_begin(&busy);
    busy_repeat(&busy, 10, work);
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

static void bf16_beside_fp8_is_for_information(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 5, product(MM(4096, 4096, 4096), BF16, 200 * US));
    for (int i = 0; i < 10; i++)
        busy_run(&busy,
                 (struct busy_work){"aten::_scaled_mm", "nvjet_qqtst",
                                    "[[4096,4096],[4096,4096],[],[]]", FP8, 100 * US, 0, 0, NULL});
    hand_analyze(&busy.hand);
    assert_about(cost_of(&busy.hand, "fp8_unused"), 1e6 * (1 - 989.0 / 1979));
    assert_string_equal(finding_word(&busy.hand, "fp8_unused", "severity"), "info");
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void a_job_without_any_fp8_has_no_such_finding(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 200 * US));
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

static void a_product_far_below_others_costs_the_difference(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 200 * US));
    busy_repeat(&busy, 4, product(MM(4096, 4096, 4097), BF16, MS));
    hand_analyze(&busy.hand);
    double reach = ROOF_NS / 200e3, efficiency = ROOF_NS * 4097 / 4096 / 1e6;
    assert_about(cost_of(&busy.hand, "gemm_below_roofline"), 4e6 * (1 - efficiency / reach));
    assert_non_null(strstr(finding_word(&busy.hand, "gemm_below_roofline", "evidence"),
                           "N = 4097 is not a multiple of 8"));
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    hand_end(&busy.hand);
}

static void products_that_all_do_what_is_common_are_not_found(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4096), BF16, 300 * US)); // 46 %
    busy_repeat(&busy, 10, product(MM(4096, 4096, 4097), BF16, 400 * US)); // 35 %
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

// 136 MB, which memory moves in 41 us at best.
static void products_bound_by_memory_are_no_example_for_others(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 20, product(MM(4096, 4096, 4096), BF16, 290 * US)); // 48 %
    busy_repeat(&busy, 20, product(MM(8192, 64, 8192), BF16, 50 * US));    // 81 %
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 0);
    hand_end(&busy.hand);
}

static void reasons_are_known_by_shape(void **state)
{
    (void)state;
    static const struct {
        const char *dims, *reason;
    } cases[] = {
        {MM(1024, 4100, 1024), "K = 4100 is not a multiple of 8"},
        {MM(1024, 4096, 1024), "its 64 tiles of 128 x 128 leave multiprocessors idle"},
        {MM(1536, 4096, 1536), "wave quantization: its 144 tiles of 128 x 128 need 2 waves"},
        {MM(8192, 4096, 4168), "N = 4168 is not a multiple of 64"},
        {MM(16384, 4096, 64), "tile quantization: M x N fills its tiles of 128 x 128 to 50 %"},
        {MM(131072, 4096, 64), "tile quantization: M x N fills its tiles of 128 x 128 to 50 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        busy_begin(&busy);
        struct busy_work work = product(cases[i].dims, BF16, 20 * MS);
        work.kernel = "some_gemm";
        busy_repeat(&busy, 3, work);
        hand_analyze(&busy.hand);
        const char *evidence = finding_word(&busy.hand, "gemm_below_roofline", "evidence");
        if (!strstr(evidence, cases[i].reason))
            fail_msg("%s: %s", cases[i].dims, evidence);
        hand_end(&busy.hand);
    }
}

static void tiles_are_those_that_the_kernel_s_name_tells(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *reason;
    } cases[] = {
        {"Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI16x16x1",
         "its 150 tiles of 32 x 64 need 2 waves of 132"},
        {"nvjet_tst_64x32_64x4_1x2_h_bz_TNT", "its 150 tiles of 32 x 64 need 2 waves"},
        {"cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8",
         "its 12 tiles of 256 x 128"},
        {"sm90_xmma_gemm_tilesize128x128x64_warpgroupsize1x1x1", "its 21 tiles of 128 x 128"},
        {"gemm_12345x678_0x99_8x8_99999999999999999999x64", "its 21 tiles of 128 x 128"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy_work work = product(MM(788, 3072, 384), BF16, 20 * MS);
        struct busy busy;
        work.kernel = cases[i].kernel;
        busy_begin(&busy);
        busy_repeat(&busy, 3, work);
        hand_analyze(&busy.hand);
        const char *evidence = finding_word(&busy.hand, "gemm_below_roofline", "evidence");
        if (!strstr(evidence, cases[i].reason))
            fail_msg("%s: %s", cases[i].kernel, evidence);
        hand_end(&busy.hand);
    }
}

static void short_products_are_not_held_to_the_roofline(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 15, product(MM(128, 128, 128), BF16, 12 * US)); // could take 10 us at best
    hand_analyze(&busy.hand);
    assert_false(has_finding(&busy.hand, "gemm_below_roofline"));
    hand_end(&busy.hand);
}

#define QKV "[[8,32,1024,64],[8,32,1024,64],[8,32,1024,64],[],[],[],[]]"
#define QKV_TYPES                                                                   \
    "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\"," \
    "\"Scalar\",\"Scalar\"]"
#define NOT_CAUSAL "[\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"\"]"

static void slow_attention_costs_what_is_beyond_reach(void **state)
{
    (void)state;
    // 2 * 8 * 32 * 1024^2 * 128 operations: 69 us at the peak.
    double roof_ns = 2.0 * 8 * 32 * 1024 * 1024 * 128 / 989e3;
    for (int slow = 0; slow < 2; slow++) {
        struct busy busy;
        busy_begin(&busy);
        busy_repeat(&busy, 10,
                    (struct busy_work){"aten::_scaled_dot_product_flash_attention",
                                       "flash_fwd_kernel", QKV, QKV_TYPES, slow ? MS : 250 * US, 0,
                                       0, NOT_CAUSAL});
        hand_analyze(&busy.hand);
        assert_int_equal(has_finding(&busy.hand, "attention_below_roofline"), slow);
        if (slow)
            assert_about(cost_of(&busy.hand, "attention_below_roofline"),
                         1e7 * (1 - roof_ns / 1e6 / 0.30));
        hand_end(&busy.hand);
    }
}

// --- attention from parts ------------------------------------------------------------------------

#define SCORES "[[256,1024,64],[256,64,1024]]"
#define VALUES "[[256,1024,1024],[256,1024,64]]"

static void run_parts(struct busy *busy, const char *middle, const char *kernel)
{
    busy_run(busy,
             (struct busy_work){"aten::bmm", "nvjet_bmm", SCORES, BF16, 300 * US, 0, 0, NULL});
    busy_run(busy, (struct busy_work){"aten::div", "div_kernel", "[[256,1024,1024],[]]", BF16,
                                      100 * US, 0, 0, NULL});
    busy_run(busy,
             (struct busy_work){middle, kernel, "[[256,1024,1024]]", BF16, 200 * US, 0, 0, NULL});
    busy_run(busy,
             (struct busy_work){"aten::bmm", "nvjet_bmm", VALUES, BF16, 300 * US, 0, 0, NULL});
}

static void what_stands_between_two_products_of_attention_is_the_cost(void **state)
{
    (void)state;
    static const struct {
        const char *middle, *kernel;
        bool fires;
    } cases[] = {
        {"aten::_softmax", "softmax_warp_forward", true},
        {"aten::_softmax_backward_data", "softmax_warp_backward", true},
        {"aten::gelu", "gelu_kernel", false},
        {"aten::_log_softmax", "cunn_SoftMaxForward", false},
        {"aten::mm", "nvjet_tst", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        busy_begin(&busy);
        for (int layer = 0; layer < 4; layer++)
            run_parts(&busy, cases[i].middle, cases[i].kernel);
        hand_analyze(&busy.hand);
        assert_int_equal(has_finding(&busy.hand, "unfused_attention"), cases[i].fires);
        if (cases[i].fires)
            assert_int_equal(cost_of(&busy.hand, "unfused_attention"), 4 * 300 * US);
        hand_end(&busy.hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp32_products_beside_bf16_cost_what_the_roofline_says),
        cmocka_unit_test(fp32_alone_is_for_information),
        cmocka_unit_test(where_there_is_no_bf16_fp16_is_advised),
        cmocka_unit_test(fp32_beside_other_products_is_not_all_of_them),
        cmocka_unit_test(a_little_fp32_beside_bf16_does_not_matter),
        cmocka_unit_test(fp32_products_without_tensor_cores_cost_what_tf32_would_save),
        cmocka_unit_test(kernels_for_an_older_device_cost_two_fifths_of_their_time),
        cmocka_unit_test(only_loads_below_16_bytes_rule_newer_kernels_out),
        cmocka_unit_test(products_that_are_not_aligned_cost_time_beyond_the_roofline),
        cmocka_unit_test(an_aligned_kernel_of_the_device_s_own_generation_is_not_found),
        cmocka_unit_test(bf16_beside_fp8_is_for_information),
        cmocka_unit_test(a_job_without_any_fp8_has_no_such_finding),
        cmocka_unit_test(a_product_far_below_others_costs_the_difference),
        cmocka_unit_test(products_that_all_do_what_is_common_are_not_found),
        cmocka_unit_test(reasons_are_known_by_shape),
        cmocka_unit_test(products_bound_by_memory_are_no_example_for_others),
        cmocka_unit_test(tiles_are_those_that_the_kernel_s_name_tells),
        cmocka_unit_test(short_products_are_not_held_to_the_roofline),
        cmocka_unit_test(slow_attention_costs_what_is_beyond_reach),
        cmocka_unit_test(what_stands_between_two_products_of_attention_is_the_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
