// SPDX-License-Identifier: Apache-2.0
// Names of every tool come into one spelling, whole or cut, and mangled ones are read.
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/kernel_names/kernel_mangled.h"
#include "analysis/kernel_names/kernel_text.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

static void assert_str(struct str found, const char *expected)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)(found.len < 500 ? found.len : 500), found.at);
    assert_string_equal(text, expected);
}

static void assert_spelled(const char *name, const char *expected)
{
    struct kernel_text text;
    kernel_text_read(str_of(name), &text);
    assert_str(text.name, expected);
}

static void assert_demangled(const char *name, const char *expected, bool expected_cut)
{
    char text[1024];
    bool cut = false;
    size_t len = kernel_demangle(str_of(name), text, sizeof text, &cut);
    assert_str((struct str){text, len}, expected);
    assert_int_equal(cut, expected_cut);
}

static void casts_namespaces_and_results_are_left_out(void **state)
{
    (void)state;
    assert_spelled("void f<(int)4, (bool)1, (bool)0, (ns::Kind)2>(int, T2)",
                   "f<4, true, false, 2>");
    assert_spelled("void at::(anonymous namespace)::f<int>(int)", "at::f<int>");
    assert_spelled("void at::<unnamed>::f<int>(int)", "at::f<int>");
    assert_spelled("at::_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f63::f<int>(int)", "at::f<int>");
    assert_spelled("std::enable_if<!(false), void>::type a::k<int>(int)", "a::k<int>");
    assert_spelled("f<[lambda(float) (instance 1)], char *>(int)", "f<{lambda(float)#1}, char*>");
}

static void suffixes_and_marks_of_a_cut_are_no_part_of_a_name(void **state)
{
    (void)state;
    struct kernel_text text;
    assert_spelled("kernel_a.kd", "kernel_a");
    assert_spelled("kernel_a [clone .kd]", "kernel_a");
    kernel_text_read(STR("void a::b<c, d..."), &text);
    assert_true(text.cut);
    assert_str(text.base, "b");
    assert_int_equal(text.args.count, 1); // the second touches the cut
    assert_str(text.args.at[0], "c");
}

static void space_base_and_arguments_are_found(void **state)
{
    (void)state;
    struct kernel_text text;
    kernel_text_read(STR("void a::b::c<d<e, f>, 3, g<h>::i>(int, char)"), &text);
    assert_str(text.space, "a::b");
    assert_str(text.base, "c");
    assert_int_equal(text.args.count, 3);
    assert_str(text.args.at[0], "d<e, f>");
    assert_str(text.args.at[2], "g<h>::i");
    assert_false(text.cut);
}

static void mangled_names_read_as_demangled_ones(void **state)
{
    (void)state;
    assert_demangled(
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4EE"
        "EEEvT1_",
        "at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
        "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4>>",
        false);
    assert_demangled("_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_"
                     "cudaERNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
                     "at::native::vectorized_elementwise_kernel<8, "
                     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
                     "{lambda(float)#1}, std::array<char*, 2>>",
                     false);
    assert_demangled("_ZN4vllm25fused_add_rms_norm_kernelIN3c104HalfELb1ELin3EEEvPT_",
                     "vllm::fused_add_rms_norm_kernel<c10::Half, true, -3>", false);
    assert_demangled("_Z1fILN2ns4KindE2EEvv", "f<(ns::Kind)2>", false);
    assert_demangled("_Z1fIXadL_Z4siluIfEvPT_EEEvv", "f<silu<float>(void, T*)>", false);
}

static void a_mangled_name_that_is_cut_gives_what_precedes(void **state)
{
    (void)state;
    assert_demangled("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8Redu",
                     "at::native::reduce_kernel<512, 1, at::native::", true);
    assert_demangled("_ZN2at6nat", "at::", true);
    assert_demangled("_ZNK9", "", true);
    assert_demangled("_Z1fIS5_Evv", "f<", true); // refers to what was never there
}

static void nesting_beyond_bounds_ends_the_reading(void **state)
{
    (void)state;
    char name[4096] = "_Z1fI";
    memset(name + 5, 'P', 2000);
    char text[1024];
    bool cut = false;
    kernel_demangle(str_of(name), text, sizeof text, &cut);
    assert_true(cut);
    memset(name, '<', sizeof name);
    struct kernel_text parts;
    kernel_text_read((struct str){name, sizeof name}, &parts);
    assert_true(parts.cut);
}

static void lambdas_of_any_number_are_read(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    assert_demangled("_Z1fIZ1gvEUlvE9999998_Evv", "f<g()::{lambda()#10000000}>", false);
    kernel_decode(STR("_ZUlvE9999999_"), &decoded);
    assert_true(decoded.label[0]);
}

static void patterns_match_with_stars_anywhere(void **state)
{
    (void)state;
    assert_true(kernel_matches(STR("abc"), "abc"));
    assert_false(kernel_matches(STR("abcd"), "abc"));
    assert_true(kernel_matches(STR("abcd"), "a*d"));
    assert_true(kernel_matches(STR("max_pool_backward_nchw"), "*pool*backward*"));
    assert_false(kernel_matches(STR("backward_pool"), "*pool*backward*"));
    assert_true(kernel_matches(STR(""), "*"));
    assert_false(kernel_matches(STR("ab"), "ab*b"));
}

static void a_number_at_a_cut_is_not_read(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x16"), &decoded);
    assert_int_equal(decoded.op, OP_gemm);
    assert_int_equal(decoded.tile[0], 0);
    kernel_decode(
        STR("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align1..."),
        &decoded);
    assert_int_equal(decoded.stages, 6);
    assert_int_equal(decoded.alignment, 0); // could be 16
}

static void the_last_argument_may_be_open(void **state)
{
    (void)state;
    struct kernel_args args;
    assert_true(kernel_open_args_of(STR("f<1, g<2>, h<3, k"), &args));
    assert_int_equal(args.count, 3);
    assert_str(args.at[2], "h<3, k");
    kernel_args_of(STR("f<1, g<2>, h<3, k"), &args);
    assert_int_equal(args.count, 2);
    assert_false(kernel_open_args_of(STR("f<1>"), &args));
    assert_int_equal(args.count, 1);
}

static void types_of_results_are_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {
        "std::enable_if<!(false), void>::type f<int>(int)",
        "std::enable_if<(a<4), void>::type f<int>(int)",
        "std::enable_if<T2>(int)0&&a::b<T1>::exists, void>::type f<int>(int)",
        "std::enable_if<std::is_same<a<int>::type const, b>::value, void>::type f<int>(int)",
        "std::enable_if<T2>(int)0&&a<b<T1>::type , c>::value, void>::type f<int>(int)",
        "std::conditional<true, int, float>::type f<int>(int)",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct kernel_text text;
        kernel_text_read(str_of(names[i]), &text);
        assert_str(text.base, "f");
        assert_int_equal(text.args.count, 1);
    }
}

static void words_that_anyone_may_use_are_no_proof(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("void aiter::smallReduceKernel<float>(float*)"), &decoded);
    assert_int_equal(decoded.op, OP_NONE);
    kernel_decode(STR("void aiter::allReduceKernel<float>(float*)"), &decoded);
    assert_int_equal(decoded.op, OP_all_reduce);
    kernel_decode(STR("void mine::permute_kernel<float>(float*)"), &decoded);
    assert_int_equal(decoded.doubts, DOUBT_OP);
    kernel_decode(STR("void vllm::moe::permute_kernel<float>(float*)"), &decoded);
    assert_int_equal(decoded.doubts, 0);
    kernel_decode(STR("rejection_sample_kernel"), &decoded);
    assert_false(kernel_has_flag(&decoded, FLAG_triton));
}

// DeepSpeed's lists of tensors are named as apex's.
static void lists_without_a_namespace_are_not_surely_of_apex(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, "
                      "int>, float, float>(long, int volatile*)"),
                  &decoded);
    assert_int_equal(decoded.library, LIBRARY_apex);
    assert_int_equal(decoded.doubts, DOUBT_LIBRARY);
    kernel_decode(STR("void multi_tensor_apply_kernel<TensorListMetadata<4>, "
                      "transformer_engine::multi_tensor_adam::AdamFunctor<float, int>, float>(x)"),
                  &decoded);
    assert_int_equal(decoded.library, LIBRARY_transformer_engine);
    assert_int_equal(decoded.doubts, 0);
}

static void a_cut_name_is_sure_of_what_its_rest_cannot_change(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Ave..."), &decoded);
    assert_int_equal(decoded.dtype, TYPE_fp8_e4m3);
    assert_int_equal(decoded.doubts, DOUBT_DTYPE); // scales would make it mxfp8
    kernel_decode(
        STR("void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_co..."),
        &decoded);
    assert_int_equal(decoded.op, OP_copy); // which alone starts so
    assert_true(decoded.doubts & DOUBT_OP);
    kernel_decode(
        STR("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<..."),
        &decoded);
    assert_int_equal(decoded.op, OP_fill);
    assert_false(decoded.doubts & (DOUBT_OP | DOUBT_LIBRARY | DOUBT_FUNC));
    kernel_decode(STR("aiter::fmha_fwd_hd128_bf16_..."), &decoded);
    assert_true(decoded.causal == KERNEL_CAUSAL_UNSAID || (decoded.doubts & DOUBT_CAUSAL));
}

static void types_with_scales_are_read_from_templates(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int, "
                      "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::Mainloop<3>, "
                      "cute::tuple<cute::C<128>, cute::C<64>, cute::C<32> >, cute::tuple<cutlass::"
                      "float_e2m1_t, cutlass::float_ue8m0_t>, int> > >(int)"),
                  &decoded);
    assert_int_equal(decoded.dtype, TYPE_mxfp4);
    assert_true(kernel_has_flag(&decoded, FLAG_block_scaled));
}

static void products_of_tf32_are_not_called_f32(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(
        STR("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_"
            "execute_segment_k_off_kernel__5x_cublas"),
        &decoded);
    assert_int_equal(decoded.op, OP_gemm);
    assert_int_equal(decoded.dtype, TYPE_tf32);
    kernel_decode(STR("sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nchw_"
                      "tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn"),
                  &decoded);
    assert_int_equal(decoded.op, OP_conv_fwd);
    assert_int_equal(decoded.dtype, TYPE_tf32);
    assert_int_equal(decoded.dtype_out, TYPE_f32);
    kernel_decode(STR("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_kernel"),
                  &decoded);
    assert_int_equal(decoded.dtype, TYPE_f32);
}

static void the_type_of_arithmetic_is_not_that_of_the_data(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("void transformer_engine::gated_act_kernel<8, float, transformer_engine::"
                      "Empty, &transformer_engine::silu, __nv_bfloat16, __nv_bfloat16>(int)"),
                  &decoded);
    assert_int_equal(decoded.op, OP_act_and_mul);
    assert_int_equal(decoded.dtype, TYPE_NONE);
    kernel_decode(STR("void transformer_engine::unary_kernel<8, true, float, transformer_engine::"
                      "Empty, &transformer_engine::identity, __nv_bfloat16, __nv_fp8_e4m3>(int)"),
                  &decoded);
    assert_int_equal(decoded.op, OP_elementwise);
    assert_int_equal(decoded.dtype, TYPE_NONE);
    kernel_decode(
        STR("void transformer_engine::cast_transpose_fused_kernel_notaligned<true, float, "
            "__nv_bfloat16, __nv_fp8_e4m3>(int)"),
        &decoded);
    assert_int_equal(decoded.library, LIBRARY_transformer_engine);
    assert_int_equal(decoded.op, OP_quantize);
    assert_int_equal(decoded.dtype, TYPE_NONE);
    assert_true(kernel_has_flag(&decoded, FLAG_transposing));
}

static void a_functor_tells_whose_multi_tensor_kernel_it_is(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("void multi_tensor_apply_kernel<TensorListMetadata<4, false>, transformer_"
                      "engine::multi_tensor_adam::AdamFunctorMaster<float, float, float, int>, "
                      "float>(long)"),
                  &decoded);
    assert_int_equal(decoded.library, LIBRARY_transformer_engine);
    assert_int_equal(decoded.func, FUNC_adam);
    kernel_decode(STR("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, "
                      "float, int>, float>(long)"),
                  &decoded);
    assert_int_equal(decoded.library, LIBRARY_apex);
}

static void a_comparison_in_parentheses_closes_no_template(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("std::enable_if<(((8)>(0))&&vllm::_typeConvert<c10::BFloat16>::exists), "
                      "void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)"),
                  &decoded);
    assert_int_equal(decoded.library, LIBRARY_vllm);
    assert_int_equal(decoded.op, OP_rms_norm_fwd);
    assert_int_equal(decoded.dtype, TYPE_bf16);
    assert_true(kernel_has_flag(&decoded, FLAG_fused_add));
    struct kernel_args args;
    kernel_args_of(STR("f<(1 < 2), g<(3)>, h(a->b)>"), &args);
    assert_int_equal(args.count, 3);
    assert_str(args.at[1], "g<(3)>");
}

static void no_field_says_more_than_the_name(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(
        STR("void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVS"
            "<ck_tile::BlockFmhaPipelineProblem<unsigned short, unsigned short, unsigned "
            "short, float, float> > > >(int)"),
        &decoded);
    assert_int_equal(decoded.op, OP_attention_fwd);
    assert_int_equal(decoded.dtype, TYPE_bf16);
    kernel_decode(
        STR("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
            "MinMaxOps<float, float, int>, unsigned int, float, 4> >(int)"),
        &decoded);
    assert_int_equal(decoded.op, OP_reduce);
    assert_int_equal(decoded.func, FUNC_NONE);
    kernel_decode(STR("rms_norm_kernel"), &decoded);
    assert_int_equal(decoded.op, OP_rms_norm_fwd);
    assert_int_equal(decoded.library, LIBRARY_NONE);
    assert_false(kernel_has_flag(&decoded, FLAG_triton));
    assert_string_equal(decoded.label, "RMSNorm fwd");
    kernel_decode(STR("paged_attention_v2_kernel"), &decoded);
    assert_false(kernel_has_flag(&decoded, FLAG_triton));
    kernel_decode(STR("_attn_fwd"), &decoded);
    assert_true(kernel_has_flag(&decoded, FLAG_triton));
    assert_string_equal(decoded.label, "attention fwd");
    kernel_decode(STR("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
                  &decoded);
    assert_int_equal(decoded.algo, KERNEL_ALGO_RING);
    assert_null(strstr(decoded.label, "ring"));
}

static void an_unknown_name_says_nothing_but_itself(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("my_team::secret_kernel<float, 4>(float*)"), &decoded);
    assert_int_equal(decoded.library, LIBRARY_NONE);
    assert_int_equal(decoded.op, OP_NONE);
    assert_int_equal(decoded.dtype, TYPE_NONE);
    assert_string_equal(decoded.label, "secret_kernel");
    kernel_decode(STR(""), &decoded);
    assert_string_equal(decoded.label, "?");
    kernel_decode(STR("\xe4\xbd\xa0\xe5\xa5\xbd_kernel"), &decoded); // of two characters
    assert_string_equal(decoded.label, "??_kernel");
}

static void a_label_is_at_most_48_characters(void **state)
{
    (void)state;
    struct kernel_decoded decoded;
    kernel_decode(STR("a_function_with_a_name_that_is_much_longer_than_any_column_of_a_table"),
                  &decoded);
    assert_string_equal(decoded.label, "a_function_with_a_name_\xe2\x80\xa6"
                                       "an_any_column_of_a_table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_namespaces_and_results_are_left_out),
        cmocka_unit_test(suffixes_and_marks_of_a_cut_are_no_part_of_a_name),
        cmocka_unit_test(space_base_and_arguments_are_found),
        cmocka_unit_test(mangled_names_read_as_demangled_ones),
        cmocka_unit_test(a_mangled_name_that_is_cut_gives_what_precedes),
        cmocka_unit_test(nesting_beyond_bounds_ends_the_reading),
        cmocka_unit_test(lambdas_of_any_number_are_read),
        cmocka_unit_test(patterns_match_with_stars_anywhere),
        cmocka_unit_test(a_number_at_a_cut_is_not_read),
        cmocka_unit_test(the_last_argument_may_be_open),
        cmocka_unit_test(types_of_results_are_left_out),
        cmocka_unit_test(words_that_anyone_may_use_are_no_proof),
        cmocka_unit_test(lists_without_a_namespace_are_not_surely_of_apex),
        cmocka_unit_test(a_cut_name_is_sure_of_what_its_rest_cannot_change),
        cmocka_unit_test(types_with_scales_are_read_from_templates),
        cmocka_unit_test(products_of_tf32_are_not_called_f32),
        cmocka_unit_test(the_type_of_arithmetic_is_not_that_of_the_data),
        cmocka_unit_test(a_functor_tells_whose_multi_tensor_kernel_it_is),
        cmocka_unit_test(a_comparison_in_parentheses_closes_no_template),
        cmocka_unit_test(no_field_says_more_than_the_name),
        cmocka_unit_test(an_unknown_name_says_nothing_but_itself),
        cmocka_unit_test(a_label_is_at_most_48_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
