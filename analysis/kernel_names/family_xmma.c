// SPDX-License-Identifier: Apache-2.0
// Kernels that cuBLAS, cuDNN and TensorRT share:
// sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_..._kernel__5x_cublas.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word;
    enum kernel_op op;
} kinds[] = {
    {"gemm", OP_gemm},        {"fprop", OP_conv_fwd},   {"dgrad", OP_conv_dgrad},
    {"wgrad", OP_conv_wgrad}, {"pooling", OP_pool_fwd},
};

static void read_pair(struct str token, enum kernel_type *first, enum kernel_type *second)
{
    enum kernel_type one = scan_type_prefix(&token);
    enum kernel_type two = scan_type_prefix(&token);
    if (!one || !two || token.len)
        return;
    *first = one;
    *second = two;
}

// (A, result), (A, accumulator) and the scalar of the epilogue.
static size_t read_types(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    while (at < tokens->count && !out->dtype) {
        read_pair(tokens->at[at++], &out->dtype, &out->dtype_out);
        if (kernel_matches(tokens->at[at - 1], "tilesize*"))
            return at - 1;
    }
    enum kernel_type again = TYPE_NONE;
    if (at < tokens->count)
        read_pair(tokens->at[at], &again, &out->dtype_acc);
    if (again && out->dtype == TYPE_f32) // stored as f32, multiplied as tf32
        out->dtype = again;
    return at;
}

static void read_layout(struct str token, struct kernel_decoded *out)
{
    static const char *const gemms[] = {"nn", "nt", "tn", "tt"};
    static const char *const convs[] = {"nhwc", "nchw", "ndhwc", "ncdhw"};
    for (size_t i = 0; i < sizeof gemms / sizeof *gemms; i++) {
        bool is_gemm = out->op == OP_gemm && str_equal(token, str_of(gemms[i]));
        bool is_conv = out->op != OP_gemm && str_equal(token, str_of(convs[i]));
        if (is_gemm || is_conv)
            set_layout(out, token);
    }
}

static void read_option(struct str token, struct kernel_decoded *out)
{
    int32_t tile[3];
    struct str size = STR("tilesize");
    if (str_starts_with(token, size)) {
        size_t count = scan_sizes((struct str){token.at + size.len, token.len - size.len}, tile, 3);
        set_tile(out, tile, count);
    }
    int32_t number;
    if (scan_after(token, "stage", &number))
        out->stages = number;
    if (scan_after(token, "aligna", &number))
        out->alignment = number;
    if (!out->tile[0] && !out->layout[0])
        read_layout(token, out);
    set_flag_if(out, FLAG_simt, str_equal(token, STR("ff")) || str_equal(token, STR("ffma")));
    set_flag_if(out, FLAG_epilogue_relu, str_equal(token, STR("relu")));
    set_flag_if(out, FLAG_epilogue_gelu, kernel_matches(token, "gelu*"));
}

// A word without a number may be read even if the name is cut after it.
static bool ends_in_letter(const struct kernel_text *text)
{
    return !text->cut && text->base.len && !str_is_digit(text->base.at[text->base.len - 1]);
}

bool family_xmma(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    kernel_tokens_of(text->base, &tokens);
    if (tokens.count < 3 || !str_equal(tokens.at[1], STR("xmma")) ||
        !str_starts_with(tokens.at[0], STR("sm")))
        return false;
    bool ends = !text->cut && scan_has_token(&tokens, "kernel*");
    tokens.count -= ends || ends_in_letter(text) ? 0 : 1;
    set_arch(out, "", tokens.at[0]);
    size_t kind = tokens.count > 3 && str_equal(tokens.at[2], STR("sparse")) ? 3 : 2;
    set_flag_if(out, FLAG_sparse, kind == 3);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tokens.count > kind && str_equal(tokens.at[kind], str_of(kinds[i].word)))
            out->op = kinds[i].op;
    out->library = kernel_has(text->base, "cublas")  ? LIBRARY_cublas
                   : kernel_has(text->base, "cudnn") ? LIBRARY_cudnn
                                                     : LIBRARY_NONE;
    for (size_t i = read_types(&tokens, kind + 1, out); i < tokens.count; i++)
        read_option(tokens.at[i], out);
    set_flag_if(out, FLAG_split_k, kernel_has(text->base, "_split_k_kernel"));
    out->settled = DOUBT_OP | DOUBT_TILE | DOUBT_REST | DOUBT_FLAGS |
                   (out->tile[0] ? DOUBT_DTYPE | DOUBT_TYPES : 0);
    if (!ends)
        doubt_unsettled(out);
    return true;
}
