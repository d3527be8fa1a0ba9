// SPDX-License-Identifier: Apache-2.0
// Matrix products of generators: DeepGEMM, TensorRT-LLM's, Marlin, Triton's.
#include "analysis/kernel_names/families.h"

// deep_gemm::fp8_gemm_kernel<N, K, tile M, N, K, ..., type>: 0 is plain, 1 and 2 are grouped.
static void read_deep_gemm_kernel(const struct kernel_text *text, struct kernel_decoded *out)
{
    int32_t numbers[5];
    int32_t kind;
    const struct kernel_args *args = &text->args;
    out->dtype = TYPE_fp8_e4m3;
    set_flag(out, FLAG_block_scaled);
    if (args->count < 6)
        return;
    for (size_t i = 0; i < 5; i++)
        if (!scan_number(args->at[i], &numbers[i]))
            return;
    out->shape_n = numbers[0];
    out->shape_k = numbers[1];
    set_tile(out, numbers + 2, 3);
    bool says_kind = !text->cut && scan_number(args->at[args->count - 1], &kind);
    if (says_kind && (kind == 1 || kind == 2))
        out->op = OP_grouped_gemm;
    else if (!says_kind || kind)
        out->doubts |= DOUBT_OP;
}

static bool decode_deep_gemm(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (library_of_space(text->space) != LIBRARY_deep_gemm &&
        !kernel_matches(text->space, "dpsk::gemm*"))
        return false;
    out->library = LIBRARY_deep_gemm;
    kernel_tokens_of(text->base, &tokens);
    bool is_gemm = kernel_has(text->base, "gemm") || kernel_has(text->base, "hc_prenorm");
    bool ends = text->args.count > 0; // the last word is complete
    for (size_t i = 0; i + (ends ? 0 : 1) < tokens.count; i++)
        if (str_starts_with(tokens.at[i], STR("sm")))
            set_arch(out, "", tokens.at[i]);
    if (!is_gemm) {
        bool is_transpose = kernel_has(text->base, "transpose");
        out->op = is_transpose ? OP_transpose : OP_NONE;
        return true;
    }
    out->op = OP_gemm;
    if (str_equal(text->base, STR("fp8_gemm_kernel"))) {
        read_deep_gemm_kernel(text, out);
        return true;
    }
    for (size_t i = 0; i < tokens.count && !out->dtype; i++)
        out->dtype = scan_type(tokens.at[i]);
    for (size_t i = text->cut ? 0 : text->args.count; i && !out->dtype_out; i--)
        out->dtype_out = scan_cpp_type(text->args.at[i - 1]); // the last of the types
    if (out->dtype == TYPE_fp8)
        out->dtype = TYPE_fp8_e4m3;
    set_flag_if(out, FLAG_block_scaled, kernel_has(text->base, "1d"));
    // Newer kernels name the kind: "(deep_gemm::GemmType)1".
    if (kernel_has(text->raw, "GemmType)") && !kernel_has(text->raw, "GemmType)0"))
        out->op = OP_grouped_gemm;
    return true;
}

// "MxE2m1MxE4m3", "E4m3E4m3", "Bfloat16": the type at the start, which is cut off.
static enum kernel_type take_trtllm_type(struct str *text)
{
    static const struct {
        const char *word;
        enum kernel_type type;
    } types[] = {
        {"MxE2m1", TYPE_mxfp4},  {"MxE4m3", TYPE_mxfp8},  {"E2m1", TYPE_fp4_e2m1},
        {"E4m3", TYPE_fp8_e4m3}, {"E5m2", TYPE_fp8_e5m2}, {"Bfloat16", TYPE_bf16},
        {"Fp16", TYPE_f16},      {"Fp32", TYPE_f32},      {"MxInt4", TYPE_NONE},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_starts_with(*text, str_of(types[i].word))) {
            size_t len = strlen(types[i].word);
            *text = (struct str){text->at + len, text->len - len};
            return types[i].type;
        }
    return TYPE_NONE;
}

// bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_..._sm100f: result, A and B, accumulator.
static bool decode_trtllm(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    int32_t tile[3];
    kernel_tokens_of(text->base, &tokens);
    bool is_bmm = str_equal(tokens.at[0], STR("bmm"));
    if (tokens.count < 5 || !(is_bmm || str_equal(tokens.at[0], STR("gemm"))))
        return false;
    struct str result = tokens.at[1];
    struct str operands = tokens.at[2];
    struct str accumulator = tokens.at[3];
    enum kernel_type type = take_trtllm_type(&result);
    enum kernel_type a = take_trtllm_type(&operands);
    enum kernel_type acc = take_trtllm_type(&accumulator);
    if (!type || !a || !acc)
        return false;
    enum kernel_type b = take_trtllm_type(&operands);
    out->library = LIBRARY_tensorrt_llm;
    out->op = is_bmm ? OP_batched_gemm : OP_gemm;
    out->dtype = a;
    out->dtype_b = b == a ? TYPE_NONE : b;
    out->dtype_out = type;
    out->dtype_acc = acc;
    out->settled = DOUBT_ALL;
    bool ends = !text->cut && str_starts_with(tokens.at[tokens.count - 1], STR("sm1"));
    for (size_t i = 4; i < tokens.count - (ends ? 0 : 1); i++) {
        struct str token = tokens.at[i];
        size_t digits = 1;
        while (digits < token.len && (token.at[digits] == 'x' || str_is_digit(token.at[digits])))
            digits++;
        struct str sizes = {token.at + 1, digits - 1};
        if (token.len && *token.at == 't' && !out->tile[0] && scan_sizes(sizes, tile, 3) == 3)
            set_tile(out, tile, 3);
        if (!out->stages && !scan_after(token, "s", &out->stages))
            out->stages = 0;
        set_flag_if(out, FLAG_swiglu, str_equal(token, STR("swiGlu")));
        if (str_starts_with(token, STR("sm")) && token.len > 4)
            set_arch(
                out, "",
                (struct str){token.at, token.at[token.len - 1] > '9' ? token.len - 1 : token.len});
    }
    return true;
}

// _matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu: result, A and B; tile and parts of K.
static bool decode_matmul_ogs(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    int32_t sizes[4];
    if (!str_starts_with(text->base, STR("_matmul_ogs_")) &&
        !str_starts_with(text->base, STR("_p_matmul_ogs_")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_triton;
    out->op = OP_moe_gemm;
    for (size_t i = 3; i < tokens.count; i++) {
        struct str token = tokens.at[i];
        enum kernel_type found[3];
        size_t count = 0;
        for (struct str rest = token; rest.len && count < 3; count++) {
            found[count] = scan_type_prefix(&rest);
            if (!found[count])
                break;
            if (rest.len && *rest.at == 'x')
                rest = (struct str){rest.at + 1, rest.len - 1};
        }
        if (count == 3) {
            out->dtype_out = found[0];
            out->dtype = found[1];
            out->dtype_b = found[2] == found[1] ? TYPE_NONE : found[2];
        }
        bool touches_cut = text->cut && i + 1 == tokens.count;
        if (!touches_cut && scan_sizes(token, sizes, 4) == 4) {
            set_tile(out, sizes, 3);
            set_flag_if(out, FLAG_split_k, sizes[3] > 1);
        }
        set_flag_if(out, FLAG_swiglu, str_equal(token, STR("swiglu")));
    }
    return true;
}

#define MARLIN                              \
    {                                       \
        FLAG_marlin, FLAG_weight_only_quant \
    }

static const struct kernel_rule marlin[] = {
    {"sglang*marlin_moe*", "Marlin", 0, OP_moe_gemm, FROM_NOWHERE, MARLIN, 0},
    {"sglang*", "Marlin", 0, OP_gemm, FROM_NOWHERE, MARLIN, 0},
    {"*marlin_moe*", "Marlin", LIBRARY_vllm, OP_moe_gemm, FROM_NOWHERE, MARLIN, 0},
    {"*", "Marlin", LIBRARY_vllm, OP_gemm, FROM_NOWHERE, MARLIN, 0},
    {"*",
     "Marlin_24",
     LIBRARY_vllm,
     OP_gemm,
     FROM_NOWHERE,
     {FLAG_marlin, FLAG_weight_only_quant, FLAG_sparse},
     0},
    {"*", "MarlinMoE*", LIBRARY_vllm, OP_moe_gemm, FROM_NOWHERE, MARLIN, 0},
};

bool family_gemm_generators(const struct kernel_text *text, struct kernel_decoded *out)
{
    return decode_deep_gemm(text, out) || decode_trtllm(text, out) ||
           decode_matmul_ogs(text, out) ||
           apply_rules(marlin, sizeof marlin / sizeof *marlin, text, out);
}
