// SPDX-License-Identifier: Apache-2.0
// Kernels in C++ of libraries around PyTorch: vLLM, SGLang, FlashInfer, TensorRT-LLM, aiter,
// Transformer Engine, apex, DeepSeek, FBGEMM, Mamba.
#include "analysis/kernel_names/families.h"

// Words that mean the same in every library; the namespaces say whose kernel it is.
static const struct kernel_rule shared[] = {
    {NULL, "*silu_and_mul*quant*", 0, OP_act_and_mul, FROM_FLOAT, {FLAG_silu}, 0},
    {NULL, "*silu_and_mul*", 0, OP_act_and_mul, FROM_FLOAT, {FLAG_silu}, 0},
    {NULL, "*gelu_and_mul*", 0, OP_act_and_mul, FROM_FLOAT, {FLAG_gelu}, 0},
    {NULL, "*gelu_tanh_and_mul*", 0, OP_act_and_mul, FROM_FLOAT, {FLAG_gelu}, 0},
    {NULL, "*act_and_mul*", 0, OP_act_and_mul, FROM_FLOAT, {0}, 0},
    {NULL, "*swiglu*", 0, OP_act_and_mul, FROM_FLOAT, {0}, 0},
    {NULL, "*doActivation*", 0, OP_act_and_mul, FROM_FLOAT, {0}, 0},
    {NULL, "*reshape_and_cache*", 0, OP_kv_cache_write, FROM_FLOAT, {0}, 0},
    {NULL, "*concat_and_cache_mla*", 0, OP_kv_cache_write, FROM_FLOAT, {FLAG_mla}, 0},
    {NULL, "*store_kvcache*", LIBRARY_sglang, OP_kv_cache_write, FROM_FLOAT, {0}, 0},
    {NULL, "*AppendPagedKVCache*", 0, OP_kv_cache_write, FROM_FLOAT, {FLAG_paged}, 0},
    {NULL, "*AppendPagedKVMlaCache*", 0, OP_kv_cache_write, FROM_FLOAT, {FLAG_paged, FLAG_mla}, 0},
    {NULL, "*copy_blocks_kernel*", 0, OP_copy, FROM_FLOAT, {0}, 0},
    {NULL, "*fused_add_rms_norm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {FLAG_fused_add}, 0},
    {NULL, "*FusedAddRMSNorm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {FLAG_fused_add}, 0},
    {NULL, "*rms*norm*bwd*", 0, OP_rms_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "*rms*norm*backward*", 0, OP_rms_norm_bwd, FROM_FLOAT, {0}, 0},
    {NULL, "*rms_norm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "*rmsnorm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "*RMSNorm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {0}, 0},
    {NULL, "*rotary*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*Rotary*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*fused_rope*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*_rope_*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*moe_align_block*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "count_and_sort_expert_tokens*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "topkGating*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "topk_gating*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "moeSoftmax", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "moeTopK", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "moe_fused_gate*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*grouped_topk*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*topk_with_k_group*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*group_idx_and_topk*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*moe_sum*", 0, OP_moe_permute, FROM_FLOAT, {0}, 0},
    {NULL, "finalizeMoeRouting*", 0, OP_moe_permute, FROM_FLOAT, {0}, 0},
    {NULL, "expandInputRows*", 0, OP_moe_permute, FROM_FLOAT, {0}, 0},
    {NULL, "computeExpertFirstTokenOffset*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*moe_permute*", 0, OP_moe_permute, FROM_NOWHERE, {0}, 0},
    {NULL, "*moe_unpermute*", 0, OP_moe_permute, FROM_NOWHERE, {0}, 0},
    {NULL, "*permute_kernel*", 0, OP_moe_permute, FROM_NOWHERE, {0}, 0},
    {NULL, "*ExpertPrefixSum*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*moe_sort*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {"*::moe", "*opk*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*fusedBuildExpertMaps*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*MoeRouting*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*moe_routing*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*topk_softmax*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "deepseek_v3_topk*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {NULL, "*router_gemm*", 0, OP_gemm, FROM_FIRST, {0}, 0},
    {NULL, "fused_a_gemm_kernel", 0, OP_gemm, FROM_NOWHERE, {0}, 0},
    {NULL, "wvSplitKQ*", LIBRARY_vllm, OP_gemm, FROM_SECOND, {0}, 0},
    {NULL, "wvSplitK*", LIBRARY_vllm, OP_gemm, FROM_FLOAT, {0}, 0},
    {NULL, "LLGemm1*", LIBRARY_vllm, OP_gemm, FROM_FLOAT, {0}, 0},
    {NULL, "*BiasRope*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*NormRope*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*RoPE*", 0, OP_rope, FROM_FLOAT, {0}, 0},
    {NULL, "*TopKSampling*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*TopPSampling*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*TopKTopPSampling*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*TopPRenorm*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*TopKRenorm*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*SamplingFrom*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*MinPSampling*", 0, OP_sampling, FROM_NOWHERE, {0}, 0},
    {NULL, "*apply_repetition_penalties*", 0, OP_sampling, FROM_FLOAT, {0}, 0},
    {NULL, "*causal_conv1d*fwd*", LIBRARY_mamba, OP_causal_conv1d, FROM_NOWHERE, {FLAG_fwd}, 0},
    {NULL, "*causal_conv1d*bwd*", LIBRARY_mamba, OP_causal_conv1d, FROM_NOWHERE, {FLAG_bwd}, 0},
    {NULL, "*causal_conv1d*", LIBRARY_mamba, OP_causal_conv1d, FROM_NOWHERE, {0}, 0},
    {NULL, "selective_scan_*", LIBRARY_mamba, OP_ssm_scan, FROM_NOWHERE, {0}, 0},
    {NULL, "*merge_attn_states*", 0, OP_attention_helper, FROM_FLOAT, {FLAG_combine}, 0},
};

static const struct kernel_rule quantization[] = {
    {NULL, "*per_token_group_quant*", 0, OP_quantize, FROM_FLOAT, {FLAG_block_scaled}, 0},
    {NULL, "*per_token*cast_back*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*cast_back*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*FP8rowwise_to_float*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*fused8bitrowwise_to_float*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*rowwise_to_float*", 0, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*dequant*", 0, OP_dequantize, FROM_FLOAT, {0}, 0},
    {NULL, "*Dequant*", 0, OP_dequantize, FROM_FLOAT, {0}, 0},
    {NULL, "*cast_transpose*", 0, OP_quantize, FROM_NOWHERE, {FLAG_transposing}, 0},
    {NULL, "*scaled_fp8_quant*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*scaled_int8_quant*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*cvt_fp16_to_fp4*", 0, OP_quantize, FROM_FLOAT, {FLAG_block_scaled}, 0},
    {NULL, "*per_token_cast_to_fp8*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*cast_to_fp8*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*float_to_FP8rowwise*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*FP8_qparam*", 0, OP_quantize, FROM_NOWHERE, {0}, 0},
    {NULL, "*float_to_fused8bitrowwise*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*quantize_with_block_size*", 0, OP_quantize, FROM_FLOAT, {FLAG_block_scaled}, 0},
    {NULL, "*quantize_mx*", 0, OP_quantize, FROM_FLOAT, {FLAG_block_scaled}, 0},
    {NULL, "*quantize*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*Quantize*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*_quant_*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "*quant_kernel*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
    {NULL, "segmented_max_reduction*", 0, OP_quantize, FROM_FLOAT, {0}, 0},
};

// The first type of Transformer Engine's kernels is often that of the arithmetic, which says
// nothing about the data.
static const struct kernel_rule owned[] = {
    {"*transformer_engine*", "rmsnorm_bwd*", 0, OP_rms_norm_bwd, FROM_NESTED, {0}, 0},
    {"*transformer_engine*", "rmsnorm_fwd*", 0, OP_rms_norm_fwd, FROM_NESTED, {0}, 0},
    {"*transformer_engine*", "ln_bwd*", 0, OP_layer_norm_bwd, FROM_NESTED, {0}, 0},
    {"*transformer_engine*", "ln_fwd*", 0, OP_layer_norm_fwd, FROM_NESTED, {0}, 0},
    {"*transformer_engine*", "*softmax*backward*", 0, OP_softmax_bwd, FROM_FLOAT, {FLAG_masked}, 0},
    {"*transformer_engine*", "*softmax*forward*", 0, OP_softmax_fwd, FROM_FLOAT, {FLAG_masked}, 0},
    {"*transformer_engine*", "*gated_*", 0, OP_act_and_mul, FROM_NOWHERE, {0}, 0},
    {"*transformer_engine*", "*permutation_kernel*", 0, OP_moe_permute, FROM_FLOAT, {0}, 0},
    {"*transformer_engine*", "*permute*", 0, OP_moe_permute, FROM_FLOAT, {0}, 0},
    {"*transformer_engine*",
     "*cast_transpose*",
     0,
     OP_quantize,
     FROM_NOWHERE,
     {FLAG_transposing},
     0},
    {"*transformer_engine*", "*transpose*", 0, OP_transpose, FROM_FLOAT, {0}, 0},
    {"*transformer_engine*", "*amax*", 0, OP_reduce, FROM_FLOAT, {0}, FUNC_max},
    {"*transformer_engine*", "unary_kernel", 0, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"layer_norm",
     "ln_bwd*",
     LIBRARY_NONE,
     OP_layer_norm_bwd,
     FROM_NESTED,
     {FLAG_fast_layer_norm},
     0},
    {"layer_norm",
     "ln_fwd*",
     LIBRARY_NONE,
     OP_layer_norm_fwd,
     FROM_NESTED,
     {FLAG_fast_layer_norm},
     0},
    {"", "cuApplyLayerNorm*", LIBRARY_apex, OP_layer_norm_fwd, FROM_FLOAT, {0}, 0},
    {"", "cuApplyRMSNorm*", LIBRARY_apex, OP_rms_norm_fwd, FROM_FLOAT, {0}, 0},
    {"", "cuCompute*", LIBRARY_apex, OP_layer_norm_bwd, FROM_FLOAT, {0}, 0},
    {"", "*scaled_*softmax_warp_forward", 0, OP_softmax_fwd, FROM_FLOAT, {FLAG_masked}, 0},
    {"", "*scaled_*softmax_warp_backward", 0, OP_softmax_bwd, FROM_FLOAT, {FLAG_masked}, 0},
    {"cuda", "swiglu*", LIBRARY_deepseek, OP_act_and_mul, FROM_FLOAT, {0}, 0},
    {"cuda", "per_token_cast_back*", LIBRARY_deepseek, OP_dequantize, FROM_NOWHERE, {0}, 0},
    {"cuda", "*cast_to_fp8*", LIBRARY_deepseek, OP_quantize, FROM_FLOAT, {0}, 0},
    {"dpsk*", "*transpose*", LIBRARY_deepseek, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"dpsk*grouped_gemm*", "*", LIBRARY_deepseek, OP_NONE, FROM_NOWHERE, {0}, 0},
    {"fused_moe", "run_global*", 0, OP_moe_gemm, FROM_NESTED, {0}, 0},
    {"moe::dev*", "finalize*", 0, OP_moe_permute, FROM_NESTED, {0}, 0},
    {"moe::dev*", "permute*", 0, OP_moe_permute, FROM_NESTED, {0}, 0},
    {"moe::dev*", "routing*", 0, OP_moe_routing, FROM_NOWHERE, {0}, 0},
    {"moe::dev*", "activation*", 0, OP_act_and_mul, FROM_NOWHERE, {0}, 0},
    {NULL,
     "split_embedding*backward*",
     LIBRARY_fbgemm,
     OP_embedding_bwd,
     FROM_NOWHERE,
     {FLAG_fused_optimizer},
     0},
    {NULL, "split_embedding*forward*", LIBRARY_fbgemm, OP_embedding_fwd, FROM_NOWHERE, {0}, 0},
    {NULL, "dense_embedding*backward*", LIBRARY_fbgemm, OP_embedding_bwd, FROM_NOWHERE, {0}, 0},
    {NULL, "dense_embedding*forward*", LIBRARY_fbgemm, OP_embedding_fwd, FROM_NOWHERE, {0}, 0},
    {"", "bounds_check_indices_kernel*", LIBRARY_fbgemm, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"", "linearize_index*kernel", LIBRARY_fbgemm, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"", "permute_pooled_embs_kernel", LIBRARY_fbgemm, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"",
     "split_embedding_codegen_grad_indice*",
     LIBRARY_fbgemm,
     OP_embedding_bwd,
     FROM_NOWHERE,
     {0},
     0},
    {"fbgemm*", "*bucketize*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"fbgemm*", "*linearize*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"fbgemm*", "*permute*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"fbgemm*", "*bounds_check*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"fbgemm*", "*jagged*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"fbgemm*", "*offsets*", 0, OP_embedding_helper, FROM_NOWHERE, {0}, 0},
    {"flashinfer*", "*norm*", 0, OP_rms_norm_fwd, FROM_FLOAT, {0}, 0},
};

// An activation may be a template argument: act_and_mul_kernel<T, &(silu(float const&))>.
static void read_activation(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    kernel_open_args(text, &args);
    for (size_t i = 1; i < args.count; i++) {
        set_flag_if(out, FLAG_silu, kernel_has(args.at[i], "silu"));
        set_flag_if(out, FLAG_gelu, kernel_has(args.at[i], "gelu"));
    }
}

// quantize<bf16, fp8>: the second type is the result's.
static void read_result(const struct kernel_text *text, struct kernel_decoded *out)
{
    for (size_t i = 0; i < text->args.count && !out->dtype_out; i++) {
        enum kernel_type type = scan_cpp_type(text->args.at[i]);
        if (type != out->dtype && type >= TYPE_fp8_e4m3 && type <= TYPE_int8)
            out->dtype_out = type;
    }
}

// The architecture in the name of a class, "Sm100BlockScaledPersistentDenseGemmKernel", or of a
// file, "gemm_sm120".
static void read_cute_arch(struct str name, struct kernel_decoded *out)
{
    static const char *const starts[] = {"Sm1", "Sm9", "_sm1", "_sm9"};
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < sizeof starts / sizeof *starts && at == SIZE_MAX; i++)
        at = str_find(name, str_of(starts[i]));
    at += at != SIZE_MAX && name.at[at] == '_';
    size_t start = at == SIZE_MAX ? name.len : at + 2;
    size_t end = str_digits_end(name, start);
    if (end < name.len)
        set_arch(out, "sm", (struct str){name.at + start, end - start});
}

static const struct {
    const char *word;
    enum kernel_op op;
} cute_ops[] = {
    {"RMSNorm", OP_rms_norm_fwd},
    {"rmsnorm", OP_rms_norm_fwd},
    {"Quantize", OP_quantize},
    {"GroupedGemm", OP_grouped_gemm},
    {"grouped_gemm", OP_grouped_gemm},
    {"Gemm", OP_gemm},
    {"gemm", OP_gemm},
};

// The type of the first tensor among the parameters.
static enum kernel_type cute_type(struct str name)
{
    static const struct {
        const char *word;
        enum kernel_type type;
    } types[] = {
        {"tensorptrbf16", TYPE_bf16}, {"tensorptrf16", TYPE_f16}, {"tensorptrf32", TYPE_f32}};
    size_t first = SIZE_MAX;
    enum kernel_type type = TYPE_NONE;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t at = str_find(name, str_of(types[i].word));
        type = at < first ? types[i].type : type;
        first = at < first ? at : first;
    }
    return type;
}

// kernel_cutlass_kernel_flashinfernormkernelsrmsnormRMSNormKernel_object_at__tensorptrbf16...
static bool decode_cute(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str name = text->base;
    if (!str_starts_with(name, STR("kernel_cutlass_")))
        return false;
    set_flag(out, FLAG_cute_dsl);
    if (kernel_has(name, "flashinfer"))
        out->library = LIBRARY_flashinfer;
    for (size_t i = 0; i < sizeof cute_ops / sizeof *cute_ops && !out->op; i++)
        if (kernel_has(name, cute_ops[i].word))
            out->op = cute_ops[i].op;
    set_flag_if(out, FLAG_fused_add, kernel_has(name, "FusedAdd"));
    set_flag_if(out, FLAG_block_scaled,
                kernel_has(name, "BlockScaled") || kernel_has(name, "blockscaled"));
    read_cute_arch(name, out);
    out->dtype = cute_type(name);
    return true;
}

// cutlass::device_kernel<dpsk::grouped_gemm::cuda::m_grouped_fp8_...::GemmKernel>
static bool decode_deepseek_gemm(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!str_equal(text->base, STR("device_kernel")) || !text->args.count ||
        !str_starts_with(text->args.at[0], STR("dpsk::")))
        return false;
    struct str name = text->args.at[0];
    out->library = LIBRARY_deepseek;
    out->op = kernel_has(name, "grouped_gemm") ? OP_grouped_gemm
              : kernel_has(name, "emm")        ? OP_gemm
                                               : OP_NONE;
    out->dtype = kernel_has(name, "fp8") ? TYPE_fp8 : TYPE_NONE;
    return true;
}

// Anyone's tensors are permuted: the experts' tokens are only in libraries for language models.
static bool is_any_permutation(const struct kernel_text *text)
{
    enum kernel_library library = library_of_space(text->space);
    return kernel_matches(text->base, "*permute_kernel*") && !kernel_has(text->name, "moe") &&
           (!library || library == LIBRARY_pytorch);
}

bool family_serving(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (decode_cute(text, out) || decode_deepseek_gemm(text, out))
        return true;
    if (is_bare(text) && !kernel_matches(text->base, "split_embedding*") &&
        !kernel_matches(text->base, "dense_embedding*"))
        return false;
    bool found = apply_rules(owned, sizeof owned / sizeof *owned, text, out) ||
                 apply_rules(shared, sizeof shared / sizeof *shared, text, out) ||
                 apply_rules(quantization, sizeof quantization / sizeof *quantization, text, out);
    if (!found)
        return false;
    if (is_any_permutation(text))
        out->doubts |= DOUBT_OP;
    if (out->op == OP_act_and_mul)
        read_activation(text, out);
    if (out->op == OP_gemm && kernel_has(text->base, "router_gemm"))
        out->dtype_out = scan_nth_float(&text->args, 1);
    if (out->op == OP_quantize)
        read_result(text, out);
    return true;
}

// Words that mean this much only in libraries that are known.
static const struct kernel_rule known[] = {
    {NULL, "*topk*", 0, OP_topk, FROM_NOWHERE, {0}, 0},
    {NULL, "*topK*", 0, OP_topk, FROM_NOWHERE, {0}, 0},
    {NULL, "*TopK*", 0, OP_topk, FROM_NOWHERE, {0}, 0},
    {NULL, "*all_reduce*", 0, OP_all_reduce, FROM_FLOAT, {0}, 0},
    {NULL, "*allreduce*", 0, OP_all_reduce, FROM_FLOAT, {0}, 0},
    {NULL, "*AllReduce*", 0, OP_all_reduce, FROM_FLOAT, {0}, 0},
    {NULL, "allReduce*", 0, OP_all_reduce, FROM_FLOAT, {0}, 0},
    {NULL, "*_allReduce*", 0, OP_all_reduce, FROM_FLOAT, {0}, 0},
    {NULL, "*AllToAll*", 0, OP_all_to_all, FROM_FLOAT, {0}, 0},
    {NULL, "*all_to_all*", 0, OP_all_to_all, FROM_FLOAT, {0}, 0},
    {NULL, "*Rope*", 0, OP_rope, FROM_FLOAT, {0}, 0},
};

// Only whose kernel it is.
bool family_libraries(const struct kernel_text *text, struct kernel_decoded *out)
{
    out->library = library_of_space(text->space);
    if (out->library && apply_rules(known, sizeof known / sizeof *known, text, out))
        return true;
    bool has_parts = out->library == LIBRARY_deepseek; // libraries under DeepSeek's namespace
    out->settled = has_parts ? 0 : DOUBT_LIBRARY;
    return out->library != LIBRARY_NONE;
}
