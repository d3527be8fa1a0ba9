// SPDX-License-Identifier: Apache-2.0
// AMD's Composable Kernel, with templates of two generations: ck:: and ck_tile::.
#include "analysis/kernel_names/families.h"

struct word_op {
    const char *word;
    enum kernel_op op;
    enum kernel_flag flag;
};

// The first word in the name of the function decides.
static const struct word_op words[] = {
    {"conv_bwd_weight", OP_conv_wgrad, FLAG_NONE},
    {"bwd_weight", OP_conv_wgrad, FLAG_NONE},
    {"conv_bwd_data", OP_conv_dgrad, FLAG_NONE},
    {"bwd_data", OP_conv_dgrad, FLAG_NONE},
    {"conv_fwd", OP_conv_fwd, FLAG_NONE},
    {"softmax_gemm", OP_attention_fwd, FLAG_NONE},
    {"mha_bwd", OP_attention_bwd, FLAG_NONE},
    {"moe_gemm", OP_moe_gemm, FLAG_NONE},
    {"moe_mxgemm", OP_moe_gemm, FLAG_block_scaled},
    {"grouped_gemm", OP_grouped_gemm, FLAG_NONE},
    {"batched_gemm", OP_batched_gemm, FLAG_NONE},
    {"gemm", OP_gemm, FLAG_NONE},
    {"contraction", OP_gemm, FLAG_NONE},
    {"layernorm", OP_layer_norm_fwd, FLAG_NONE},
    {"batchnorm", OP_batch_norm_fwd, FLAG_NONE},
    {"softmax", OP_softmax_fwd, FLAG_NONE},
    {"reduce", OP_reduce, FLAG_NONE},
    {"elementwise", OP_elementwise, FLAG_NONE},
    {"im2col", OP_conv_helper, FLAG_NONE},
};

static const struct word_op tile_words[] = {
    {"FmhaFwdSplitKVCombine", OP_attention_helper, FLAG_combine},
    {"FmhaFwdSplitKV", OP_attention_fwd, FLAG_split_kv},
    {"FmhaFwdPagedKV", OP_attention_fwd, FLAG_paged},
    {"FmhaFwdAppendKV", OP_kv_cache_write, FLAG_NONE},
    {"FmhaBatchPrefillWithPagedKV", OP_attention_fwd, FLAG_paged},
    {"FmhaFwd", OP_attention_fwd, FLAG_NONE},
    {"FmhaBwdOGradDotO", OP_attention_helper, FLAG_NONE},
    {"FmhaBwdConvert", OP_attention_helper, FLAG_NONE},
    {"FmhaBwd", OP_attention_bwd, FLAG_NONE},
    {"Rmsnorm2d", OP_rms_norm_fwd, FLAG_NONE},
    {"AddRmsnorm2dRdquant", OP_rms_norm_fwd, FLAG_fused_add},
    {"Layernorm2d", OP_layer_norm_fwd, FLAG_NONE},
    {"MoeSorting", OP_moe_routing, FLAG_NONE},
    {"TopkSoftmax", OP_moe_routing, FLAG_NONE},
    {"MoeFlatmm", OP_moe_gemm, FLAG_NONE},
    {"FusedMoeGemm", OP_moe_gemm, FLAG_NONE},
    {"MoeSmoothquant", OP_quantize, FLAG_NONE},
    {"Smoothquant", OP_quantize, FLAG_NONE},
    {"GroupedGemm", OP_grouped_gemm, FLAG_NONE},
    {"BatchedGemm", OP_batched_gemm, FLAG_NONE},
    {"GroupedConvolutionForward", OP_conv_fwd, FLAG_NONE},
    {"GroupedConvolutionBackwardData", OP_conv_dgrad, FLAG_NONE},
    {"GroupedConvolutionBackwardWeight", OP_conv_wgrad, FLAG_NONE},
    {"Flatmm", OP_gemm, FLAG_preshuffled_b},
    {"QuantGemm", OP_gemm, FLAG_block_scaled},
    {"StreamKKernel", OP_gemm, FLAG_stream_k},
    {"GemmKernel", OP_gemm, FLAG_NONE},
    {"BatchedTranspose", OP_transpose, FLAG_NONE},
    {"Reduce", OP_reduce, FLAG_NONE},
    {"ElementWise", OP_elementwise, FLAG_NONE},
};

static bool read_word(const struct word_op *list, size_t count, struct str name,
                      struct kernel_decoded *out)
{
    for (size_t i = 0; i < count; i++) {
        if (!kernel_has(name, list[i].word))
            continue;
        out->op = list[i].op;
        set_flag_if(out, list[i].flag, list[i].flag != FLAG_NONE);
        return true;
    }
    return false;
}

// The letter of BLAS, which thinks in columns: row-major A and column-major B are "tn".
static char transposition(struct str layout)
{
    struct str name = kernel_last_of(layout);
    bool is_row = str_equal(name, STR("RowMajor"));
    if (!is_row && !str_equal(name, STR("ColumnMajor")))
        return '\0';
    return is_row ? 't' : 'n';
}

// Only block-scaled kernels have their tile at a known place: block size, scales M, N, K, then the
// tile. Types and layouts of A and B come first.
static void read_scaled(struct str gridwise, struct kernel_decoded *out)
{
    enum { TYPE_A = 4, TILE = 18 };
    struct kernel_args args;
    int32_t tile[3];
    kernel_args_of(gridwise, &args);
    set_flag(out, FLAG_block_scaled);
    if (args.count < TILE + 3)
        return;
    out->dtype = scan_cpp_type(args.at[TYPE_A]);
    char layout[2] = {transposition(args.at[0]), transposition(args.at[1])};
    if (layout[0] && layout[1])
        set_layout(out, (struct str){layout, 2});
    for (size_t i = 0; i < 3; i++)
        if (!scan_number(args.at[TILE + i], &tile[i]))
            return;
    set_tile(out, tile, 3);
}

static void decode_ck(const struct kernel_text *text, struct kernel_decoded *out)
{
    out->library = LIBRARY_ck;
    out->settled = DOUBT_LIBRARY;
    read_word(words, sizeof words / sizeof *words, text->base, out);
    struct str gridwise = text->args.count ? kernel_head_of(text->args.at[0]) : text->base;
    if (out->op == OP_NONE || out->op == OP_gemm)
        set_flag_if(out, FLAG_preshuffled_b, kernel_has(gridwise, "b_preshuffle"));
    set_flag_if(out, FLAG_mfma, kernel_has(text->base, "xdl") || kernel_has(gridwise, "xdl"));
    set_flag_if(out, FLAG_wmma, kernel_has(text->base, "wmma") || kernel_has(gridwise, "wmma"));
    if (out->op == OP_gemm && kernel_has(gridwise, "GridwiseGemmMultiD_ABScale"))
        read_scaled(text->args.at[0], out);
    if (out->op == OP_gemm && kernel_has(gridwise, "moe_gemm"))
        out->op = OP_moe_gemm;
}

// The first type of a problem is that of the queries; later ones accumulate. Where the compiler has
// no bf16 of its own, it is spelled as the integer that holds it.
static enum kernel_type problem_type(struct str name)
{
    struct kernel_args args;
    kernel_args_of(kernel_instance(name, "PipelineProblem<"), &args);
    if (!args.count)
        return TYPE_NONE;
    if (str_equal(args.at[0], STR("unsigned short")))
        return TYPE_bf16;
    enum kernel_type type = scan_cpp_type(args.at[0]);
    return type_is_float(type) ? type : TYPE_NONE;
}

static void decode_ck_tile(const struct kernel_text *text, struct kernel_decoded *out)
{
    out->library = LIBRARY_ck_tile;
    out->settled = DOUBT_LIBRARY;
    struct str name = text->base;
    // kentry<blocks, Kernel, ...>; older: kentry<threads, blocks, Kernel, ...>
    struct kernel_args args;
    bool is_open = kernel_open_args(text, &args);
    for (size_t i = 0; i < args.count && i < 4; i++) {
        struct str head = kernel_head_of(args.at[i]);
        int32_t number;
        if (scan_number(head, &number) || kernel_matches(head, "*::gfx*_t")) // a kind of devices
            continue;
        name = kernel_last_of(head);
        bool touches_cut = is_open && head.at + head.len == text->name.at + text->name.len;
        out->settled = DOUBT_LIBRARY | (touches_cut ? 0 : DOUBT_OP);
        break;
    }
    read_word(tile_words, sizeof tile_words / sizeof *tile_words, name, out);
    bool is_attention = out->op == OP_attention_fwd || out->op == OP_attention_bwd;
    if (is_attention)
        out->dtype = problem_type(text->name);
}

bool family_ck(const struct kernel_text *text, struct kernel_decoded *out)
{
    enum kernel_library library = library_of_space(text->space);
    if (library == LIBRARY_ck)
        decode_ck(text, out);
    else if (library == LIBRARY_ck_tile)
        decode_ck_tile(text, out);
    return library == LIBRARY_ck || library == LIBRARY_ck_tile;
}
