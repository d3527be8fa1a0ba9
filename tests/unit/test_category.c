// SPDX-License-Identifier: Apache-2.0
// Work is named the same on both vendors, and bandwidths follow from what a collective moves.
#include "analysis/bandwidth.h"
#include "analysis/category.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

struct sample {
    const char *name;
    enum category category;
};

static void operators_decide_without_namespace_and_underscores(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"aten::mm", CATEGORY_GEMM},
        {"aten::_scaled_mm", CATEGORY_GEMM},
        {"aten::add_", CATEGORY_ELEMENTWISE},
        {"aten::threshold_backward", CATEGORY_ELEMENTWISE},
        {"aten::_flash_attention_backward", CATEGORY_ATTENTION},
        {"aten::convolution_backward", CATEGORY_CONVOLUTION},
        {"aten::native_layer_norm", CATEGORY_NORMALIZATION},
        {"aten::linalg_vector_norm", CATEGORY_REDUCTION},
        {"aten::_softmax_backward_data", CATEGORY_REDUCTION},
        {"aten::embedding_dense_backward", CATEGORY_EMBEDDING},
        {"aten::_fused_adamw_", CATEGORY_OPTIMIZER},
        {"triton_poi_fused_add_0", CATEGORY_TRITON},
        {"aten::comma", CATEGORY_NONE}, // not mm
        {"my::own_thing", CATEGORY_NONE},
        {"", CATEGORY_NONE},
        {"___", CATEGORY_NONE},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (category_of_op(str_of(samples[i].name)) != samples[i].category)
            fail_msg("%s is %s", samples[i].name,
                     category_word(category_of_op(str_of(samples[i].name))));
}

static void kernels_of_both_vendors_are_recognized(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT", CATEGORY_GEMM},
        {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", CATEGORY_GEMM},
        {"volta_sgemm_64x64_nt", CATEGORY_GEMM},
        {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<cutlass::x>>(int)",
         CATEGORY_ATTENTION},
        {"attn_fwd", CATEGORY_ATTENTION},
        {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", CATEGORY_CONVOLUTION},
        {"void cudnn::detail::dgrad_engine<float>(int)", CATEGORY_CONVOLUTION},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::reduce_x>(int)",
         CATEGORY_ELEMENTWISE},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>(y)",
         CATEGORY_OPTIMIZER},
        {"void cudnn::bn_bw_1C11_kernel_new<float>(float)", CATEGORY_NORMALIZATION},
        {"void cub::DeviceScanKernel<x>(y)", CATEGORY_REDUCTION},
        {"triton_red_fused_mean_1", CATEGORY_TRITON},
        {"mystery", CATEGORY_NONE},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (category_of_kernel(str_of(samples[i].name)) != samples[i].category)
            fail_msg("%s is %s", samples[i].name,
                     category_word(category_of_kernel(str_of(samples[i].name))));
}

static void classes_and_categories_lead_to_bars(void **state)
{
    (void)state;
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_GEMM), BAR_GEMM);
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_ATTENTION), BAR_ATTENTION);
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_MOE), BAR_OTHER_COMPUTE);
    assert_int_equal(category_bar(CLASS_COMMUNICATION, CATEGORY_COMMUNICATION), BAR_EXPOSED_COMM);
    assert_int_equal(category_bar(CLASS_MEMORY, CATEGORY_FILL), BAR_EXPOSED_MEMORY);
}

static void collectives_are_recognized_by_their_own_or_the_kernels_name(void **state)
{
    (void)state;
    assert_int_equal(bandwidth_kind(STR("_allgather_base")), KIND_ALL_GATHER);
    assert_int_equal(bandwidth_kind(STR("_reduce_scatter_base")), KIND_REDUCE_SCATTER);
    assert_int_equal(bandwidth_kind(STR("allreduce_coalesced")), KIND_ALL_REDUCE);
    assert_int_equal(bandwidth_kind(STR("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)")),
                     KIND_ALL_REDUCE);
    assert_int_equal(bandwidth_kind(STR("ncclKernel_SendRecv_RING_SIMPLE")), KIND_SEND_RECV);
    assert_int_equal(bandwidth_kind(STR("all_to_allv")), KIND_ALL_TO_ALL);
    assert_int_equal(bandwidth_kind(STR("ncclDevKernel_Generic_1(x)")), KIND_UNKNOWN);
    assert_null(bandwidth_kind_word(KIND_UNKNOWN));
}

static void message_sizes_are_those_of_nccl_tests(void **state)
{
    (void)state;
    assert_int_equal(bandwidth_bytes(KIND_ALL_REDUCE, 100, 100, 2), 200);
    assert_int_equal(bandwidth_bytes(KIND_ALL_GATHER, 100, 800, 2), 1600);
    assert_int_equal(bandwidth_bytes(KIND_REDUCE_SCATTER, 800, 100, 4), 3200);
    assert_int_equal(bandwidth_bytes(KIND_ALL_REDUCE, 100, 100, 0), -1);
    assert_int_equal(bandwidth_bytes(KIND_ALL_REDUCE, VALUE_ABSENT, 1, 4), -1);
    assert_int_equal(bandwidth_bytes(KIND_ALL_REDUCE, INT64_MAX, 1, 4), -1);
    assert_int_equal(bandwidth_element_bytes(STR("BFloat16")), 2);
    assert_int_equal(bandwidth_element_bytes(STR("Long")), 8);
    assert_int_equal(bandwidth_element_bytes(STR("tensor")), 0);
}

static void bus_factors_are_those_of_nccl_tests(void **state)
{
    (void)state;
    assert_true(bandwidth_bus_factor(KIND_ALL_REDUCE, 8) == 1.75);
    assert_true(bandwidth_bus_factor(KIND_ALL_GATHER, 8) == 0.875);
    assert_true(bandwidth_bus_factor(KIND_ALL_TO_ALL, 4) == 0.75);
    assert_true(bandwidth_bus_factor(KIND_BROADCAST, 8) == 1);
    assert_true(isnan(bandwidth_bus_factor(KIND_UNKNOWN, 8)));
    assert_true(isnan(bandwidth_bus_factor(KIND_ALL_REDUCE, VALUE_ABSENT)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_decide_without_namespace_and_underscores),
        cmocka_unit_test(kernels_of_both_vendors_are_recognized),
        cmocka_unit_test(classes_and_categories_lead_to_bars),
        cmocka_unit_test(collectives_are_recognized_by_their_own_or_the_kernels_name),
        cmocka_unit_test(message_sizes_are_those_of_nccl_tests),
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
