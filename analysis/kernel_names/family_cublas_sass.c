// SPDX-License-Identifier: Apache-2.0
// Generated kernels of cuBLAS and cuDNN, named after a generation of devices:
// ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn, volta_scudnn_128x64_relu_small_nn_v1.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word, *arch;
} generations[] = {
    {"kepler", "35"}, {"maxwell", "50"}, {"pascal", "60"}, {"volta", "70"},
    {"turing", "75"}, {"ampere", "80"},  {"ada", "89"},    {"hopper", "90"},
};

static const char *arch_of(struct str generation)
{
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
        if (str_equal(generation, str_of(generations[i].word)))
            return generations[i].arch;
    return NULL;
}

// "s16816gemm": letter of the accumulator, digits of the tensor core instruction, kind.
struct main_word {
    enum kernel_type acc;
    struct str digits;
    bool is_conv;
};

static bool read_main(struct str token, struct main_word *word)
{
    static const struct {
        const char *letters;
        enum kernel_type type;
    } accumulators[] = {{"gc", TYPE_c64},  {"s", TYPE_f32}, {"h", TYPE_f16}, {"d", TYPE_f64},
                        {"i", TYPE_int32}, {"c", TYPE_c64}, {"z", TYPE_c128}};
    word->is_conv = kernel_matches(token, "*cudnn");
    if (!word->is_conv && !kernel_matches(token, "*gemm"))
        return false;
    size_t end = token.len - (word->is_conv ? STR("cudnn").len : STR("gemm").len);
    for (size_t i = 0; i < sizeof accumulators / sizeof *accumulators; i++) {
        struct str letters = str_of(accumulators[i].letters);
        if (letters.len > end || !str_starts_with(token, letters))
            continue;
        word->acc = accumulators[i].type;
        word->digits = (struct str){token.at + letters.len, end - letters.len};
        int32_t number;
        return !word->digits.len || scan_number(word->digits, &number);
    }
    return false;
}

// The types of operands and result of a matrix product.
static void set_types(struct kernel_decoded *out, const struct main_word *word,
                      enum kernel_type before, enum kernel_type after)
{
    bool has_tensor_cores = word->digits.len > 0;
    enum kernel_type narrow = after ? after : before;
    if (!has_tensor_cores) {
        out->dtype = narrow ? narrow : word->acc;
        set_flag_if(out, FLAG_simt, word->acc == TYPE_f32 || word->acc == TYPE_c64);
        return;
    }
    bool is_ampere = str_equal(str_of(out->arch), STR("sm80"));
    if (!narrow && word->acc == TYPE_f32)
        narrow = is_ampere && str_equal(word->digits, STR("1688")) ? TYPE_tf32 : TYPE_f16;
    out->dtype = narrow ? narrow : word->acc;
    out->dtype_acc = word->acc;
    out->dtype_out = before ? before : word->acc;
}

static enum kernel_op conv_of(struct str name)
{
    if (kernel_has(name, "winograd"))
        return OP_conv; // runs in both directions
    if (kernel_has(name, "wgrad") || kernel_has(name, "stridedB_splitK"))
        return OP_conv_wgrad;
    if (kernel_has(name, "dgrad") || kernel_has(name, "stridedB"))
        return OP_conv_dgrad;
    return kernel_has(name, "relu") ? OP_conv_fwd : OP_conv;
}

static void read_conv(struct str name, struct kernel_decoded *out)
{
    out->library = LIBRARY_cudnn;
    out->op = conv_of(name);
    set_flag_if(out, FLAG_winograd, kernel_has(name, "winograd"));
    set_flag_if(out, FLAG_split_k, kernel_has(name, "splitK"));
    if (kernel_has(name, "_nhwc_"))
        set_layout(out, STR("nhwc"));
    else if (kernel_has(name, "_nchw_"))
        set_layout(out, STR("nchw"));
}

static bool is_layout(struct str token)
{
    return token.len == 2 && strchr("nt", token.at[0]) && strchr("nt", token.at[1]);
}

// Each name has a layout towards its end, those of convolutions too.
static bool has_layout(const struct kernel_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (is_layout(tokens->at[i]))
            return true;
    return false;
}

// One word after the main one: sizes, what is loaded at once, options, the layout.
static void read_option(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    struct str token = tokens->at[at];
    int32_t sizes[2];
    bool is_gemm = out->op == OP_gemm;
    if (scan_sizes(token, sizes, 2) == 2) {
        bool is_pipeline = str_equal(tokens->at[at - 1], STR("stages"));
        if (is_pipeline) {
            out->tile[2] = out->tile[0] ? sizes[0] : 0;
            out->stages = sizes[1];
        } else if (!out->tile[0]) {
            set_tile(out, sizes, 2);
        }
        return;
    }
    int32_t number;
    if (is_gemm && scan_after(token, "ldg", &number))
        out->alignment = number;
    set_flag_if(out, FLAG_sliced_k, str_starts_with(token, STR("sliced1x")));
    set_flag_if(out, FLAG_split_k, str_equal(token, STR("splitK")));
    set_flag_if(out, FLAG_epilogue_relu, is_gemm && str_equal(token, STR("relu")));
    if (is_gemm && is_layout(token))
        set_layout(out, token);
}

bool family_cublas_sass(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    struct main_word word;
    kernel_tokens_of(text->base, &tokens);
    size_t at = tokens.count > 2 && str_equal(tokens.at[0], STR("cudnn")) ? 2 : 0;
    at = str_starts_with(text->base, STR("_5x_cudnn_")) ? 3 : at;
    const char *arch = at < tokens.count ? arch_of(tokens.at[at++]) : NULL;
    if (!arch || at >= tokens.count)
        return false;
    enum kernel_type before = scan_type(tokens.at[at]);
    at += before != TYPE_NONE;
    if (at >= tokens.count || !read_main(tokens.at[at++], &word))
        return false;
    enum kernel_type after = at < tokens.count ? scan_type(tokens.at[at]) : TYPE_NONE;
    set_arch(out, "sm", str_of(arch));
    out->library = LIBRARY_cublas;
    out->op = OP_gemm;
    set_types(out, &word, before, after);
    if (word.is_conv)
        read_conv(text->base, out);
    size_t main_at = at - 1;
    bool ends = !text->cut && has_layout(&tokens);
    size_t complete = tokens.count - (ends ? 0 : 1);
    for (; at < complete; at++)
        read_option(&tokens, at, out);
    bool is_gemm = !word.is_conv && main_at < complete;
    out->settled = DOUBT_REST | DOUBT_FLAGS | (is_gemm ? DOUBT_LIBRARY | DOUBT_OP : 0) |
                   (out->tile[0] ? DOUBT_DTYPE | DOUBT_TYPES : 0) | (out->tile[2] ? DOUBT_TILE : 0);
    if (word.is_conv && main_at < complete)
        out->settled |= DOUBT_LIBRARY;
    if (!ends)
        doubt_unsettled(out);
    return true;
}
