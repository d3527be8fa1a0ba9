// SPDX-License-Identifier: Apache-2.0
// Hand-written Triton, whose names are bare words that projects share: what they do is mostly
// clear, whose they are is not. Words that kernels in C have as well are not called Triton's.
#include "analysis/kernel_names/families.h"

#define T FLAG_triton

static const struct kernel_rule rules[] = {
    {"", "fused_moe_kernel*", 0, OP_moe_gemm, FROM_NOWHERE, {T}, 0},
    {"", "*invoke_fused_moe*", 0, OP_moe_gemm, FROM_NOWHERE, {T}, 0},
    {"",
     "kernel_unified_attention_3d*",
     0,
     OP_attention_fwd,
     FROM_NOWHERE,
     {T, FLAG_paged, FLAG_split_kv},
     0},
    {"", "kernel_unified_attention*", 0, OP_attention_fwd, FROM_NOWHERE, {T, FLAG_paged}, 0},
    {"", "reduce_segments*", 0, OP_attention_helper, FROM_NOWHERE, {T, FLAG_combine}, 0},
    {"",
     "create_flashinfer_kv_indices*",
     LIBRARY_sglang,
     OP_attention_helper,
     FROM_NOWHERE,
     {T},
     0},
    {"", "_fwd_grouped_kernel_stage1*", 0, OP_attention_fwd, FROM_NOWHERE, {T, FLAG_decode}, 0},
    {"", "_fwd_kernel_stage1*", 0, OP_attention_fwd, FROM_NOWHERE, {T, FLAG_decode}, 0},
    {"", "_fwd_kernel_stage2*", 0, OP_attention_helper, FROM_NOWHERE, {T, FLAG_combine}, 0},
    {"", "*merge_attn_states*", 0, OP_attention_helper, FROM_NOWHERE, {T, FLAG_combine}, 0},
    {"", "*attn*bwd*preprocess*", LIBRARY_triton, OP_attention_helper, FROM_NOWHERE, {T}, 0},
    {"", "*bwd_preprocess*", LIBRARY_triton, OP_attention_helper, FROM_NOWHERE, {T}, 0},
    {"", "_bwd_kernel_dkdv*", LIBRARY_triton, OP_attention_bwd, FROM_NOWHERE, {T}, 0},
    {"", "_bwd_kernel_dq*", LIBRARY_triton, OP_attention_bwd, FROM_NOWHERE, {T}, 0},
    {"", "bwd_kernel_*", LIBRARY_triton, OP_attention_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*attn*bwd*", LIBRARY_triton, OP_attention_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*bwd*attn*", LIBRARY_triton, OP_attention_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*gated_delta_rule*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*delta_rule*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "fused_recurrent_*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*chunk_gla*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*chunk_scaled_dot_kkt*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*chunk_retention*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*linear_attn*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*lightning_attn*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "chunk_fwd_kernel_*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "chunk_bwd_kernel_*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*attn_fwd*", LIBRARY_triton, OP_attention_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*fwd*attn*", LIBRARY_triton, OP_attention_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*flash_attn*", LIBRARY_triton, OP_attention_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*paged_attention*", LIBRARY_triton, OP_attention_fwd, FROM_NOWHERE, {T, FLAG_paged}, 0},
    {"", "_chunk_state_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "_chunk_scan_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "_chunk_cumsum_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "_state_passing_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "_bmm_chunk_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "_selective_scan_update*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {T}, 0},
    {"", "*causal_conv1d_update*", 0, OP_causal_conv1d, FROM_NOWHERE, {T}, 0},
    {"", "*causal_conv1d_fwd*", 0, OP_causal_conv1d, FROM_NOWHERE, {T, FLAG_fwd}, 0},
    {"", "*causal_conv1d_bwd*", 0, OP_causal_conv1d, FROM_NOWHERE, {T, FLAG_bwd}, 0},
    {"", "_sort_chunks_by_idxs*", LIBRARY_transformer_engine, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "_sort_chunks_by_map*", LIBRARY_transformer_engine, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "_row_id_map_pass*", LIBRARY_transformer_engine, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "_make_chunk_sort_map*", LIBRARY_transformer_engine, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "*unpermute*", 0, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "*permute_kernel*", 0, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "*_routing_*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "*bitmatrix*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "_finalize_matmul_scatter*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "_expt_data_*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "_topk_forward*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "_topk_backward*", LIBRARY_triton, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "moe_align_block_size*", 0, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "count_expert_num_tokens*", 0, OP_moe_routing, FROM_NOWHERE, {T}, 0},
    {"", "*ep_gather*", LIBRARY_sglang, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "*ep_scatter*", LIBRARY_sglang, OP_moe_permute, FROM_NOWHERE, {T}, 0},
    {"", "*rms*norm*bwd*", LIBRARY_triton, OP_rms_norm_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*rms*norm*backward*", LIBRARY_triton, OP_rms_norm_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*rms_norm*", LIBRARY_triton, OP_rms_norm_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*rmsnorm*", LIBRARY_triton, OP_rms_norm_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*layer*norm*bwd*", LIBRARY_triton, OP_layer_norm_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*layer*norm*backward*", LIBRARY_triton, OP_layer_norm_bwd, FROM_NOWHERE, {T}, 0},
    {"", "*layer*norm*", LIBRARY_triton, OP_layer_norm_fwd, FROM_NOWHERE, {T}, 0},
    {"", "*swiglu*", 0, OP_act_and_mul, FROM_NOWHERE, {0}, 0},
    {"", "*geglu*", 0, OP_act_and_mul, FROM_NOWHERE, {0}, 0},
    {"", "*silu_and_mul*", 0, OP_act_and_mul, FROM_NOWHERE, {FLAG_silu}, 0},
    {"", "*silu_mul*", 0, OP_act_and_mul, FROM_NOWHERE, {FLAG_silu}, 0},
    {"", "*act_and_mul*", 0, OP_act_and_mul, FROM_NOWHERE, {0}, 0},
    {"", "rotary_kernel*", LIBRARY_triton, OP_rope, FROM_NOWHERE, {T}, 0},
    {"", "*rotary*", 0, OP_rope, FROM_NOWHERE, {0}, 0},
    {"", "*_rope*", 0, OP_rope, FROM_NOWHERE, {0}, 0},
    {"", "*mrope*", 0, OP_rope, FROM_NOWHERE, {0}, 0},
    {"", "*cross_entropy*bwd*", 0, OP_loss_bwd, FROM_NOWHERE, {0}, 0},
    {"", "*cross_entropy*backward*", 0, OP_loss_bwd, FROM_NOWHERE, {0}, 0},
    {"", "*cross_entropy*", 0, OP_loss_fwd, FROM_NOWHERE, {0}, 0},
    {"", "rejection_greedy_sample*", 0, OP_sampling, FROM_NOWHERE, {T}, 0},
    {"", "rejection_random_sample*", 0, OP_sampling, FROM_NOWHERE, {T}, 0},
    {"", "rejection_*sample*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {"", "*reshape_and_cache*", 0, OP_kv_cache_write, FROM_NOWHERE, {T}, 0},
    {"", "*store_cache*", 0, OP_kv_cache_write, FROM_NOWHERE, {T}, 0},
    {"", "*softmax*bwd*", 0, OP_softmax_bwd, FROM_NOWHERE, {0}, 0},
    {"", "*softmax_kernel*", 0, OP_softmax_fwd, FROM_NOWHERE, {0}, 0},
    {"", "*_gemm_mha_v*", 0, OP_attention_fwd, FROM_NOWHERE, {0}, 0}, // TensorRT, as the next
    {"", "*_gemv_mha_v*", 0, OP_attention_fwd, FROM_NOWHERE, {FLAG_decode}, 0},
    // GEMMs whose inputs are quantized, or that quantize what they write.
    {"", "_moe_gemm*", 0, OP_moe_gemm, FROM_NOWHERE, {0}, 0},
    {"", "_batched_gemm*", 0, OP_batched_gemm, FROM_NOWHERE, {0}, 0},
    {"", "_gemm*", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*quantized_linear*", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*dequant*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {"", "*_quant_*", 0, OP_quantize, FROM_NOWHERE, {0}, 0},
    {"", "*quantize*", 0, OP_quantize, FROM_NOWHERE, {0}, 0},
    {"", "*grouped_gemm*", 0, OP_grouped_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*batched_gemm*", 0, OP_batched_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*w8a8*matmul*", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*_scaled_mm", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*_einsum_kernel", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "chunk_kda_*", LIBRARY_triton, OP_linear_attention, FROM_NOWHERE, {T}, 0},
    {"", "*matmul_kernel*", LIBRARY_triton, OP_gemm, FROM_NOWHERE, {T}, 0},
    {"", "*gemm_*kernel*", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "*_gemm_*", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
};

// Functions in C++ that may be recorded by the same bare names.
static bool may_be_cpp(struct str base)
{
    static const char *const patterns[] = {
        "paged_attention*",  "rms_norm_kernel*",   "rmsnorm_kernel*",        "fused_add_rms_norm*",
        "silu_and_mul*",     "act_and_mul*",       "reshape_and_cache*",     "merge_attn_states*",
        "softmax_kernel*",   "layer_norm_kernel*", "moe_align_block_size*",  "dequantize*",
        "rotary_embedding*", "per_token_quant_*",  "per_token_group_quant*", "quantize*",
        "swiglu_kernel*",    "flash_attn*",        "cross_entropy*",
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (kernel_matches(base, patterns[i]))
            return true;
    return false;
}

// Norms and attention are in every library; Triton's functions often start with "_".
static bool is_common(struct str base)
{
    bool is_tutorial = kernel_matches(base, "attn_fwd*") || kernel_matches(base, "attn_bwd*");
    bool is_meant = kernel_matches(base, "*norm*") || kernel_matches(base, "*attn*") ||
                    kernel_matches(base, "*attention*");
    return is_meant && *base.at != '_' && !is_tutorial;
}

// The words of one project may be another's: the library of a Triton kernel stays in doubt.
bool family_triton(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!is_bare(text) || !apply_rules(rules, sizeof rules / sizeof *rules, text, out))
        return false;
    if (may_be_cpp(text->base) || (out->library == LIBRARY_triton && is_common(text->base))) {
        out->library = LIBRARY_NONE;
        clear_flag(out, FLAG_triton);
    }
    if (!out->library && kernel_has(text->base, "_BLOCK_SIZE_")) { // constants that it adds
        out->library = LIBRARY_triton;
        set_flag(out, FLAG_triton);
    }
    if (out->library)
        out->doubts |= DOUBT_LIBRARY;
    bool is_block_scaled =
        kernel_has(text->base, "block_scale") || kernel_has(text->base, "group_quant");
    set_flag_if(out, FLAG_block_scaled, is_block_scaled);
    return true;
}
