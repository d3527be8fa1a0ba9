// SPDX-License-Identifier: Apache-2.0
// Work is named the same on both vendors.
#include "analysis/category.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_decide_without_namespace_and_underscores),
        cmocka_unit_test(kernels_of_both_vendors_are_recognized),
        cmocka_unit_test(classes_and_categories_lead_to_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
