// SPDX-License-Identifier: Apache-2.0
// Kernels of PyTorch that no template names.
#include "analysis/kernel_names/families.h"

#define PT LIBRARY_pytorch

static const struct kernel_rule rules[] = {
    {NULL, "CatArrayBatchedCopy*", PT, OP_cat, FROM_FIRST, {0}, 0},
    {"at::*", "chunk_cat*", PT, OP_cat, FROM_FLOAT, {0}, 0},
    {"at::*", "split_with_sizes_copy_out*", PT, OP_copy, FROM_NOWHERE, {0}, 0},
    {"at::*", "fused_dropout_kernel*", PT, OP_dropout, FROM_FLOAT, {0}, 0},
    {"at::*", "dropout_kernel*", PT, OP_dropout, FROM_FLOAT, {0}, 0},
    {"at::*", "indexSelect*", PT, OP_gather, FROM_FIRST, {0}, 0},
    {"at::*", "vectorized_gather_kernel*", PT, OP_gather, FROM_NOWHERE, {0}, 0},
    {"at::*", "gather_kernel*", PT, OP_gather, FROM_FIRST, {0}, 0},
    {"at::*", "indexFunc*", PT, OP_index_add, FROM_FIRST, {0}, 0},
    {"at::*", "indexAdd*", PT, OP_index_add, FROM_FIRST, {0}, 0},
    {NULL, "indexing_backward_kernel*", PT, OP_index_put, FROM_FIRST, {0}, 0},
    {"at::*", "embedding_backward_feature_kernel", PT, OP_embedding_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "embedding_dense_backward*", PT, OP_embedding_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "compute_grad_weight*", PT, OP_embedding_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "sum_and_scatter", PT, OP_embedding_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "compute_num_of_partial_segments*", PT, OP_embedding_bwd, FROM_NOWHERE, {0}, 0},
    {"at::*", "krn_partial*", PT, OP_embedding_bwd, FROM_NOWHERE, {0}, 0},
    {"at::*", "write_num_of_segments*", PT, OP_embedding_bwd, FROM_NOWHERE, {0}, 0},
    {"at::*", "EmbeddingBag_update*", PT, OP_embedding_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "EmbeddingBag_acc*", PT, OP_embedding_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "renorm_kernel", PT, OP_embedding_helper, FROM_FLOAT, {0}, 0},
    {"at::*", "vectorized_layer_norm_kernel*", PT, OP_layer_norm_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "LayerNormForward*", PT, OP_layer_norm_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "layer_norm_grad_input*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "LayerNormBackward*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "cuComputeGradInput*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "cuCompute*GradGammaBeta*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "cuComputePartGradGammaBeta*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "cuComputeGradGammaBeta*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "GammaBetaBackwardCUDAKernel1", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "GammaBetaBackwardCUDAKernel2", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "GammaBetaBackward*", PT, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "GammaBeta1dBackward*", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "ComputeInternalGradients*", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "ComputeBackwardFusedParams*", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "Compute1dBackwardFusedParams*", PT, OP_group_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "ComputeFusedParams*", PT, OP_group_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "groupnorm_kernel*", PT, OP_group_norm_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "RowwiseMoments*", PT, OP_norm_stats, FROM_FLOAT, {0}, 0},
    {"at::*", "batch_norm_backward*", PT, OP_batch_norm_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "batch_norm_*", PT, OP_batch_norm_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*batch_norm*backward*", PT, OP_batch_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "softmax_warp_forward", PT, OP_softmax_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "softmax_warp_backward", PT, OP_softmax_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "masked_softmax_warp_forward", PT, OP_softmax_fwd, FROM_FLOAT, {FLAG_masked}, 0},
    {NULL, "cunn_SoftMaxForward*", PT, OP_softmax_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "cunn_SoftMaxBackward*", PT, OP_softmax_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "cunn_SpatialSoftMaxForward", PT, OP_softmax_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "cunn_SpatialSoftMaxBackward", PT, OP_softmax_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "nll_loss*forward*", PT, OP_loss_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "nll_loss_forward*", PT, OP_loss_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "nll_loss2d_forward*", PT, OP_loss_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "nll_loss_backward*", PT, OP_loss_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "nll_loss2d_backward*", PT, OP_loss_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "ctc_loss_backward*", PT, OP_loss_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "ctc_loss*", PT, OP_loss_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "MultiMarginLoss_forward*", PT, OP_loss_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "MultiMarginLoss_backward*", PT, OP_loss_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*pool*backward*", PT, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*averagepool*gradinput*", PT, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*average_gradinput*", PT, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*averagegradinput*", PT, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*atomic_adaptive_average_grad*", PT, OP_pool_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*_pool*", PT, OP_pool_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "adaptive_average_pool*", PT, OP_pool_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "adaptivemaxpool*", PT, OP_pool_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "upsample_*backward*", PT, OP_upsample_bwd, FROM_FLOAT, {0}, 0},
    {"at::*", "upsample_*", PT, OP_upsample_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "*_pad_*", PT, OP_pad, FROM_FLOAT, {0}, 0},
    {"at::*", "*reflection_pad*", PT, OP_pad, FROM_FLOAT, {0}, 0},
    {"at::*", "*replication_pad*", PT, OP_pad, FROM_FLOAT, {0}, 0},
    {"at::*", "tensor_kernel_scan*", PT, OP_scan, FROM_FIRST, {0}, 0},
    {"at::*", "scan_*", PT, OP_scan, FROM_FIRST, {0}, 0},
    {"*mbtopk", "*", PT, OP_topk, FROM_FLOAT, {0}, 0},
    {"*sbtopk", "*", PT, OP_topk, FROM_FLOAT, {0}, 0},
    {"at::*", "*TopK*", PT, OP_topk, FROM_FLOAT, {0}, 0},
    {"at::*", "gatherKthValue", PT, OP_topk, FROM_FLOAT, {0}, 0},
    {"at::*", "bitonicSort*", PT, OP_sort, FROM_TYPE, {0}, 0},
    {"at::*", "radixSort*", PT, OP_sort, FROM_TYPE, {0}, 0},
    {"at::*", "warpMergeSort*", PT, OP_sort, FROM_TYPE, {0}, 0},
    {"at::*", "*sort_postprocess*", PT, OP_sort, FROM_NOWHERE, {0}, 0},
    {"at::*", "fill_reverse_indices*", PT, OP_sort, FROM_NOWHERE, {0}, 0},
    {"at::*", "fill_index_and_segment*", PT, OP_sort, FROM_NOWHERE, {0}, 0},
    {"at::*", "searchsorted*", PT, OP_search, FROM_FIRST, {0}, 0},
    {"at::*", "sampleMultinomial*", PT, OP_sampling, FROM_FLOAT, {0}, 0},
    {"at::*", "renormRows*", PT, OP_sampling, FROM_FLOAT, {0}, 0},
    {"at::*", "write_indices", PT, OP_select, FROM_NOWHERE, {0}, 0},
    {"at::*", "flag_kernel", PT, OP_select, FROM_FIRST, {0}, 0},
    {"at::*", "spin_kernel", PT, OP_spin, FROM_NOWHERE, {0}, 0},
    {"at::*", "*im2col_kernel", PT, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {"at::*", "*col2im*kernel", PT, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {"at::*", "vol2*_kernel", PT, OP_conv_helper, FROM_FLOAT, {0}, 0},
    {"at::*", "conv_depthwise*_forward_kernel*", PT, OP_conv_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "conv_depthwise*_backward_weight_kernel*", PT, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {"at::*", "*depthwise*grad_weight*", PT, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {"at::*", "*depthwise*backward_weight*", PT, OP_conv_wgrad, FROM_FLOAT, {0}, 0},
    {"at::*", "*depthwise*backward*", PT, OP_conv_dgrad, FROM_FLOAT, {0}, 0},
    {"at::*", "conv_depthwise*", PT, OP_conv_fwd, FROM_FLOAT, {0}, 0},
    {"at::*", "lpnorm_cleanup*", PT, OP_foreach, FROM_FLOAT, {0}, FUNC_norm},
    {"at::*", "tinygemm*", PT, OP_gemm, FROM_NOWHERE, {FLAG_weight_only_quant}, 0},
    {"at::*", "transform_bias_rescale_qkv*", PT, OP_attention_helper, FROM_FLOAT, {0}, 0},
    {"at::*", "triu_tril_kernel", PT, OP_elementwise, FROM_FIRST, {0}, 0},
    {"at::*", "roll_cuda_kernel", PT, OP_copy, FROM_FIRST, {0}, 0},
    {"at::*", "*flip*kernel*", PT, OP_copy, FROM_FIRST, {0}, 0},
};

// Whether it is a log_softmax.
static bool is_log(const struct kernel_text *text)
{
    enum { IS_LOG = 4 };
    if (str_starts_with(text->base, STR("softmax_warp_")))
        return scan_bool(&text->args, IS_LOG) == 1;
    return kernel_has(text->name, "LogSoftMax");
}

bool family_pytorch(const struct kernel_text *text, struct kernel_decoded *out)
{
    enum { IS_MASKED = 5, IS_RMS = 2 };
    if (!apply_rules(rules, sizeof rules / sizeof *rules, text, out))
        return false;
    if (is_bare(text))
        out->doubts |= DOUBT_LIBRARY;
    bool is_softmax = out->op == OP_softmax_fwd || out->op == OP_softmax_bwd;
    set_flag_if(out, FLAG_log, is_softmax && is_log(text));
    set_flag_if(out, FLAG_masked,
                str_starts_with(text->base, STR("softmax_warp_")) &&
                    scan_bool(&text->args, IS_MASKED) == 1);
    if (out->op == OP_cat || out->op == OP_index_put)
        read_opaque_size(text->name, out);
    bool is_rms = scan_bool(&text->args, IS_RMS) == 1;
    if (out->op == OP_layer_norm_fwd || out->op == OP_layer_norm_bwd)
        out->settled &= text->args.count > IS_RMS ? DOUBT_ALL : ~(uint32_t)DOUBT_OP;
    if (is_rms && out->op == OP_layer_norm_fwd)
        out->op = OP_rms_norm_fwd;
    if (is_rms && str_starts_with(text->base, STR("layer_norm_grad_input")))
        out->op = OP_rms_norm_bwd;
    return true;
}
