// SPDX-License-Identifier: Apache-2.0
// AMD's aiter: kernels in assembly, whose names list what they are made for.
#include "analysis/kernel_names/families.h"

// The sizes of the last word such as "64x128" that is neither a transposition nor a vector.
static void read_tile(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    int32_t tile[3];
    for (size_t i = 1; i < tokens->count && !out->tile[0]; i++)
        if (scan_sizes(tokens->at[i], tile, 2) == 2)
            set_tile(out, tile, 2);
}

static enum kernel_type first_type(const struct kernel_tokens *tokens)
{
    enum kernel_type type = TYPE_NONE;
    for (size_t i = 0; i < tokens->count && !type; i++)
        type = scan_type(tokens->at[i]);
    return type;
}

// fmha_bwd_hd192_hd128_bf16_causal_a16_pssk: head sizes of queries and of values.
static void read_fmha(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    bool is_helper = scan_has_token(tokens, "odo") || scan_has_token(tokens, "dq");
    bool is_bwd = scan_has_token(tokens, "bwd");
    out->op = is_helper ? OP_attention_helper : is_bwd ? OP_attention_bwd : OP_attention_fwd;
    out->dtype = first_type(tokens);
    for (size_t i = 0; i + 1 < tokens->count && !out->head_dim; i++) // never the last word
        if (!scan_after(tokens->at[i], "hd", &out->head_dim))
            out->head_dim = 0;
    set_flag_if(out, FLAG_dq_acc_f32, scan_has_token(tokens, "a32"));
    set_flag_if(out, FLAG_dq_acc_16bit, scan_has_token(tokens, "a16"));
    set_flag_if(out, FLAG_varlen, scan_has_token(tokens, "group"));
    set_flag_if(out, FLAG_sliding_window, scan_has_token(tokens, "swa"));
    bool is_causal = scan_has_token(tokens, "causal");
    if (!is_helper && !scan_has_token(tokens, "swa") && out->dtype)
        set_causal(out, is_causal);
    out->settled = is_causal ? DOUBT_ALL & ~(uint32_t)DOUBT_OP : DOUBT_DTYPE | DOUBT_REST;
}

static void read_decode(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    bool is_mla = scan_has_token(tokens, "mla");
    bool is_prefill = scan_has_token(tokens, "pfl") || scan_has_token(tokens, "prefill");
    out->op = OP_attention_fwd;
    set_flag(out, is_prefill ? FLAG_prefill : FLAG_decode);
    set_flag(out, is_mla ? FLAG_mla : FLAG_paged);
    out->dtype = first_type(tokens);
}

// "bf16gemm_fp32bf16_tn_32x64_splitk_clean", "f4gemm_bf16_per1x32Fp4_BpreShuffle_128x512".
static void read_gemm(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    struct str first = tokens->at[0];
    struct str word = {first.at, first.len - STR("gemm").len};
    out->op = OP_gemm;
    out->dtype = str_equal(word, STR("f4"))   ? TYPE_mxfp4
                 : str_equal(word, STR("I8")) ? TYPE_int8
                                              : scan_type(word);
    read_tile(tokens, out);
    set_flag_if(out, FLAG_split_k, scan_has_token(tokens, "splitk*"));
    set_flag_if(out, FLAG_preshuffled_b,
                scan_has_token(tokens, "*BpreShuffle*") || scan_has_token(tokens, "bshuffle"));
    set_flag_if(out, FLAG_block_scaled,
                scan_has_token(tokens, "*blockscale*") || scan_has_token(tokens, "per1x32*"));
}

static void read_moe(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    static const struct {
        const char *word;
        enum kernel_type type;
    } types[] = {
        {"*MXfp8*", TYPE_mxfp8}, {"*MXfp4*", TYPE_mxfp4}, {"*Fp8*", TYPE_fp8},
        {"*Int8*", TYPE_int8},   {"*I8*", TYPE_int8},     {"*Fp4*", TYPE_mxfp4},
        {"*Bf16", TYPE_bf16},    {"*Fp16", TYPE_f16},
    };
    out->op = OP_moe_gemm;
    for (size_t i = 0; i < sizeof types / sizeof *types && !out->dtype; i++)
        if (scan_has_token(tokens, types[i].word))
            out->dtype = types[i].type;
    read_tile(tokens, out);
    set_flag_if(out, FLAG_silu, scan_has_token(tokens, "silu"));
    set_flag_if(out, FLAG_gelu, scan_has_token(tokens, "gelu"));
    set_flag_if(out, FLAG_block_scaled,
                scan_has_token(tokens, "blockscale*") || scan_has_token(tokens, "per1x32*"));
}

static bool decode_asm(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    kernel_tokens_of(text->base, &tokens);
    tokens.count -= text->cut && tokens.count ? 1 : 0;
    if (text->args.count || !tokens.count)
        return false;
    struct str first = tokens.at[0];
    if (str_equal(first, STR("fmha")))
        read_fmha(&tokens, out);
    else if (str_equal(first, STR("mla")) || str_equal(first, STR("pa")))
        read_decode(&tokens, out);
    else if (kernel_matches(first, "*gemm"))
        read_gemm(&tokens, out);
    else if (str_equal(first, STR("fmoe")))
        read_moe(&tokens, out);
    else if (str_equal(first, STR("topksoftmax")))
        out->op = OP_moe_routing;
    else
        return false;
    set_flag(out, FLAG_asm);
    out->settled |= DOUBT_LIBRARY | DOUBT_TILE;
    if (!str_equal(first, STR("fmha")))
        out->settled |= DOUBT_OP | DOUBT_DTYPE;
    return true;
}

static const struct kernel_rule bare[] = {
    {"",
     "kn_mla_reduce*",
     LIBRARY_aiter,
     OP_attention_helper,
     FROM_NOWHERE,
     {FLAG_mla, FLAG_combine},
     0},
    {"",
     "kn_get_mla_metadata*",
     LIBRARY_aiter,
     OP_attention_helper,
     FROM_NOWHERE,
     {FLAG_mla, FLAG_metadata},
     0},
    {"*", "kn_entry_*", LIBRARY_aiter, OP_rope, FROM_FLOAT, {0}, 0},
};

bool family_aiter(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (apply_rules(bare, sizeof bare / sizeof *bare, text, out))
        return true;
    if (library_of_space(text->space) != LIBRARY_aiter || !decode_asm(text, out))
        return false; // kernels in C++ follow the rules of words
    out->library = LIBRARY_aiter;
    return true;
}
