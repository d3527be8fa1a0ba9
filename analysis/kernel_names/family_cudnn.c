// SPDX-License-Identifier: Apache-2.0
// cuDNN's own kernels: fused attention, convolutions without tensor cores, norms, pooling.
#include "analysis/kernel_names/families.h"

// cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_...: "f16" is any
// type of 16 bits.
static bool decode_sdpa(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    int32_t tile[3];
    if (!str_starts_with(text->base, STR("cudnn_generated_")))
        return false;
    out->library = LIBRARY_cudnn;
    kernel_tokens_of(text->base, &tokens);
    if (!kernel_has(text->base, "sdpa"))
        return true;
    set_flag(out, FLAG_sdpa);
    out->op = kernel_has(text->base, "_fprop")   ? OP_attention_fwd
              : kernel_has(text->base, "_bprop") ? OP_attention_bwd
                                                 : OP_NONE;
    for (size_t i = 0; i + 1 < tokens.count; i++) {
        if (str_starts_with(tokens.at[i], STR("sm")) && !out->arch[0])
            set_arch(out, "", tokens.at[i]);
        if (!out->tile[0] && scan_sizes(tokens.at[i], tile, 3) == 3)
            set_tile(out, tile, 2);
    }
    return true;
}

static const struct kernel_rule rules[] = {
    {NULL, "*winograd*", LIBRARY_cudnn, OP_conv_helper, FROM_FIRST, {FLAG_winograd}, 0},
    {NULL, "*Winograd*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {FLAG_winograd}, 0},
    {NULL, "bn_bw_*", LIBRARY_cudnn, OP_batch_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "bn_fw_*", LIBRARY_cudnn, OP_batch_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "batchnorm_bwtr*", LIBRARY_cudnn, OP_batch_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "batchnorm_fwtr*", LIBRARY_cudnn, OP_batch_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "batchnorm_fw*", LIBRARY_cudnn, OP_batch_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "nhwc_batch_norm_bwd*", LIBRARY_cudnn, OP_batch_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "nhwc_batch_norm_fwd*", LIBRARY_cudnn, OP_batch_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "dgrad_engine", LIBRARY_cudnn, OP_conv_dgrad, FROM_FLOAT, {0}, 0},
    {NULL, "dgrad2d*", LIBRARY_cudnn, OP_conv_dgrad, FROM_FLOAT, {0}, 0},
    {NULL, "dgrad_alg*", LIBRARY_cudnn, OP_conv_dgrad, FROM_FLOAT, {0}, 0},
    {NULL, "wgrad_alg*", LIBRARY_cudnn, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {NULL, "wgrad2d*", LIBRARY_cudnn, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {NULL, "implicit_convolve_sgemm", LIBRARY_cudnn, OP_conv_fwd, FROM_FLOAT, {FLAG_simt}, 0},
    {NULL, "explicit_convolve_sgemm", LIBRARY_cudnn, OP_conv_fwd, FROM_FLOAT, {FLAG_simt}, 0},
    {NULL, "convolve_common_engine*", LIBRARY_cudnn, OP_conv_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "conv2d_grouped_direct_kernel", LIBRARY_cudnn, OP_conv_fwd, FROM_SECOND, {0}, 0},
    {NULL, "conv2d_c1_k1*", LIBRARY_cudnn, OP_conv_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "*dgrad2d_grouped_direct*", LIBRARY_cudnn, OP_conv_dgrad, FROM_FLOAT, {0}, 0},
    {NULL, "*wgrad2d_grouped_direct*", LIBRARY_cudnn, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {NULL, "computeOffsetsKernel*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {NULL, "computeBOffsetsKernel*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {NULL, "computeWgrad*OffsetsKernel*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {NULL, "kern_precompute_indices", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {NULL, "scalePackedTensor_kernel", LIBRARY_cudnn, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {NULL, "calc_bias_diff", LIBRARY_cudnn, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {NULL, "im2col4d_kernel", LIBRARY_cudnn, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {NULL, "fft2d_*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {FLAG_fft}, 0},
    {NULL, "fft1d_*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {FLAG_fft}, 0},
    {NULL, "flip_filter", LIBRARY_cudnn, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {NULL, "nchwToNhwcKernel", LIBRARY_cudnn, OP_transpose, FROM_FLOAT, {0}, 0},
    {NULL, "nhwcToNchwKernel", LIBRARY_cudnn, OP_transpose, FROM_FLOAT, {0}, 0},
    {NULL, "*nchwToFoldedNhwcKernel", LIBRARY_cudnn, OP_transpose, FROM_FLOAT, {0}, 0},
    {NULL, "*foldedNhwcToNchwKernel", LIBRARY_cudnn, OP_transpose, FROM_FLOAT, {0}, 0},
    {NULL, "tensorTransformGeneric", LIBRARY_cudnn, OP_transpose, FROM_FLOAT, {0}, 0},
    {NULL, "pooling_fw*", LIBRARY_cudnn, OP_pool_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "pooling_bw*", LIBRARY_cudnn, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "softmax_fw*", LIBRARY_cudnn, OP_softmax_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "softmax_bw*", LIBRARY_cudnn, OP_softmax_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "add_tensor_kernel*", LIBRARY_cudnn, OP_elementwise, FROM_FLOAT, {0}, FUNC_add},
    {NULL, "op_generic_tensor_kernel", LIBRARY_cudnn, OP_elementwise, FROM_FLOAT, {0}, 0},
    {NULL, "op_tensor_kernel*", LIBRARY_cudnn, OP_elementwise, FROM_FLOAT, {0}, 0},
    {NULL, "activation_fw*", LIBRARY_cudnn, OP_elementwise, FROM_FLOAT, {0}, 0},
    {NULL, "activation_bw*", LIBRARY_cudnn, OP_elementwise, FROM_FLOAT, {0}, 0},
    {"cudnn*",
     "compute_dot_do_o*",
     LIBRARY_cudnn,
     OP_attention_helper,
     FROM_NOWHERE,
     {FLAG_sdpa},
     0},
    {"cudnn*", "*convert_dq*", LIBRARY_cudnn, OP_attention_helper, FROM_NOWHERE, {FLAG_sdpa}, 0},
    {"*cudnn*", "reduce*", LIBRARY_cudnn, OP_conv_helper, FROM_NOWHERE, {0}, 0},
};

// Volta_hmma_implicit_gemm_fprop_fp32_nhwc_128x128x64x1_..., of cuDNN 7.
static bool decode_hmma(const struct kernel_text *text, struct kernel_decoded *out)
{
    static const struct kernel_rule hmma[] = {
        {"", "*_hmma_implicit_gemm_fprop_*", LIBRARY_cudnn, OP_conv_fwd, FROM_NOWHERE, {0}, 0},
        {"", "*_hmma_implicit_gemm_dgrad_*", LIBRARY_cudnn, OP_conv_dgrad, FROM_NOWHERE, {0}, 0},
        {"", "*_hmma_implicit_gemm_wgrad_*", LIBRARY_cudnn, OP_conv_wgrad, FROM_NOWHERE, {0}, 0},
    };
    if (!apply_rules(hmma, sizeof hmma / sizeof *hmma, text, out))
        return false;
    if (kernel_has(text->base, "_nhwc_"))
        set_layout(out, STR("nhwc"));
    return true;
}

bool family_cudnn(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (decode_sdpa(text, out) || decode_hmma(text, out))
        return true;
    bool is_cudnn = library_of_space(text->space) == LIBRARY_cudnn;
    if (!is_cudnn && text->space.len)
        return false;
    if (!apply_rules(rules, sizeof rules / sizeof *rules, text, out))
        return false;
    if (!is_cudnn && !kernel_has(text->raw, "cudnn")) // its structures are named after it
        out->doubts |= DOUBT_LIBRARY;
    return true;
}
