// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2.x, in cuBLAS and cuDNN too:
// cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8 inside of cutlass::Kernel2<...>.
#include "analysis/kernel_names/families.h"

// "s16816gemm", "s1688tf32gemm", "s1688fprop", "dgemm".
struct main_word {
    enum kernel_type acc, type;
    enum kernel_op op;
    bool has_tensor_cores;
};

static const struct {
    const char *word;
    enum kernel_op op;
} kinds[] = {
    {"spgemm", OP_gemm},      {"gemm", OP_gemm},          {"fprop", OP_conv_fwd},
    {"dgrad", OP_conv_dgrad}, {"deconv", OP_conv_dgrad},  {"wgrad", OP_conv_wgrad},
    {"fprop3d", OP_conv_fwd}, {"dgrad3d", OP_conv_dgrad}, {"wgrad3d", OP_conv_wgrad},
};

static enum kernel_type type_of_letter(char letter)
{
    switch (letter) {
    case 's': return TYPE_f32;
    case 'h': return TYPE_f16;
    case 'd': return TYPE_f64;
    case 'i': return TYPE_int32;
    case 'c': return TYPE_c64;
    case 'z': return TYPE_c128;
    default: return TYPE_NONE;
    }
}

static bool read_main(struct str token, struct main_word *word)
{
    *word = (struct main_word){.acc = token.len ? type_of_letter(*token.at) : TYPE_NONE};
    if (!word->acc)
        return false;
    struct str rest = {token.at + 1, token.len - 1};
    size_t digits = str_digits_end(rest, 0);
    word->has_tensor_cores = digits > 0;
    rest = (struct str){rest.at + digits, rest.len - digits};
    word->type = scan_type_prefix(&rest);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_equal(rest, str_of(kinds[i].word))) {
            word->op = kinds[i].op;
            return true;
        }
    return false;
}

static void set_types(struct kernel_decoded *out, const struct main_word *word,
                      enum kernel_type before, enum kernel_type after)
{
    enum kernel_type type = word->type ? word->type : after;
    if (!type && word->has_tensor_cores && word->acc == TYPE_f32)
        type = TYPE_tf32;
    out->dtype = type ? type : word->acc;
    out->dtype_acc = word->acc;
    out->dtype_out = before ? before : word->acc;
}

// A word after the main one; sizes are the tile and then K with the stages.
static void read_option(struct str token, struct kernel_decoded *out)
{
    static const char *const layouts[] = {"nn", "nt", "tn", "tt", "nhwc", "ndhwc", "nchw"};
    int32_t sizes[2];
    if (scan_sizes(token, sizes, 2) == 2) {
        if (!out->tile[0]) {
            set_tile(out, sizes, 2);
        } else if (!out->tile[2]) {
            out->tile[2] = sizes[0];
            out->stages = sizes[1];
        }
        return;
    }
    int32_t number;
    if (scan_after(token, "align", &number))
        out->alignment = number;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (str_equal(token, str_of(layouts[i])))
            set_layout(out, token);
    set_flag_if(out, FLAG_epilogue_relu, str_equal(token, STR("relu")));
    set_flag_if(out, FLAG_epilogue_gelu, str_equal(token, STR("gelu")));
    set_flag_if(out, FLAG_epilogue_silu, str_equal(token, STR("silu")));
    set_flag_if(out, FLAG_epilogue_sigmoid, str_equal(token, STR("sigmoid")));
    set_flag_if(out, FLAG_split_k, kernel_matches(token, "split*"));
    set_flag_if(out, FLAG_stream_k, kernel_matches(token, "streamk*"));
    set_flag_if(out, FLAG_sliced_k, kernel_matches(token, "sliced*"));
    if (str_equal(token, STR("grouped")))
        out->op = OP_grouped_gemm;
}

static void read_class(struct str token, struct kernel_decoded *out)
{
    set_flag_if(out, FLAG_wmma, str_equal(token, STR("wmma")));
    set_flag_if(out, FLAG_simt, str_equal(token, STR("simt")));
    set_flag_if(out, FLAG_sparse, str_equal(token, STR("sptensorop")));
}

static bool is_class(struct str token)
{
    static const char *const classes[] = {"wmma", "tensorop", "simt", "sptensorop"};
    return str_is_one_of(token, classes, sizeof classes / sizeof *classes);
}

// Types come before the tile, K after it, and the layout after everything that shows the operation.
static void settle(struct kernel_decoded *out)
{
    out->settled = DOUBT_LIBRARY | DOUBT_REST | DOUBT_FLAGS;
    out->settled |= out->tile[0] ? DOUBT_DTYPE | DOUBT_TYPES : 0;
    out->settled |= out->tile[2] ? DOUBT_TILE : 0;
    out->settled |= out->layout[0] ? DOUBT_OP : 0;
}

static bool decode_identifier(struct str name, bool cut, bool is_inner, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    int32_t version;
    struct main_word word;
    kernel_tokens_of(name, &tokens);
    size_t at = 1;
    bool ends = !cut && scan_has_token(&tokens, "align*");
    size_t complete = tokens.count - (ends || is_inner ? 0 : 1);
    if (complete < 3 || !str_equal(tokens.at[0], STR("cutlass")))
        return false;
    if (scan_number(tokens.at[at], &version))
        set_arch(out, "sm", tokens.at[at++]);
    if (!is_class(tokens.at[at]))
        return false;
    for (; at < complete && is_class(tokens.at[at]); at++)
        read_class(tokens.at[at], out);
    enum kernel_type before = at < complete ? scan_type(tokens.at[at]) : TYPE_NONE;
    at += before != TYPE_NONE;
    if (at >= complete || !read_main(tokens.at[at++], &word))
        return true;
    out->op = word.op;
    enum kernel_type after = TYPE_NONE;
    for (; at < complete && !out->tile[0]; at++) {
        enum kernel_type type = scan_type(tokens.at[at]);
        if (type && after && type != after)
            out->dtype_b = type;
        after = after ? after : type;
        read_option(tokens.at[at], out);
    }
    set_types(out, &word, before, after);
    for (; at < complete; at++)
        read_option(tokens.at[at], out);
    settle(out);
    if (complete < tokens.count)
        doubt_unsettled(out);
    return true;
}

// The first GemmShape is that of a block, later ones those of warps and instructions.
static void read_shape(struct str name, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t tile[3];
    kernel_args_of(kernel_instance(name, "GemmShape<"), &args);
    if (args.count == 3 && scan_number(args.at[0], &tile[0]) && scan_number(args.at[1], &tile[1]) &&
        scan_number(args.at[2], &tile[2]))
        set_tile(out, tile, 3);
}

// A template instead of a generated name: only what it plainly says.
static void decode_template(struct str name, struct kernel_decoded *out)
{
    read_shape(name, out);
    if (kernel_has(name, "ReduceSplitK")) {
        out->op = out->library == LIBRARY_cudnn ? OP_conv_helper : OP_gemm_splitk_reduce;
        set_flag(out, FLAG_split_k);
    } else if (kernel_has(name, "::ImplicitGemmConvolution")) {
        out->op = kernel_has(name, "Wgrad")   ? OP_conv_wgrad
                  : kernel_has(name, "Dgrad") ? OP_conv_dgrad
                  : kernel_has(name, "Fprop") ? OP_conv_fwd
                                              : OP_conv;
    } else if (kernel_has(name, "GemmGrouped")) {
        out->op = OP_grouped_gemm;
    } else if (kernel_has(name, "::gemm::kernel::")) {
        out->op = OP_gemm;
    }
}

// device_kernel<flashinfer::gemm::DeviceGemmFp4GemmSm100<...>>: another library's class.
static void read_owner(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    kernel_open_args(text, &args);
    if (!args.count)
        return;
    struct str path = kernel_head_of(args.at[0]);
    struct str class = kernel_last_of(path);
    struct str space = {path.at, path.len - class.len - (path.len > class.len ? 2 : 0)};
    enum kernel_library library = library_of_space(space);
    if (!library || library == LIBRARY_pytorch)
        return;
    out->library = library;
    out->settled |= DOUBT_LIBRARY;
    if (!out->op && (kernel_has(class, "Gemm") || kernel_has(class, "gemm")))
        out->op = OP_gemm;
}

bool family_cutlass2(const struct kernel_text *text, struct kernel_decoded *out)
{
    bool is_wrapped =
        kernel_matches(text->space, "cutlass*") &&
        (kernel_matches(text->base, "Kernel*") || str_equal(text->base, STR("device_kernel")));
    struct str name = text->base;
    bool cut = text->cut;
    if (is_wrapped) {
        struct str rest = {name.at + name.len, 0};
        rest.len = (size_t)(text->name.at + text->name.len - rest.at);
        name = text->args.count ? text->args.at[0] : rest;
        cut = cut && !text->args.count;
        if (name.len && *name.at == '<')
            name = (struct str){name.at + 1, name.len - 1};
    }
    struct kernel_decoded read = *out;
    bool is_inner = text->args.count > 0; // complete
    if (decode_identifier(name, cut, is_inner, &read)) {
        *out = read;
    } else if (!is_wrapped) {
        return false;
    } else {
        out->library = library_of_space(text->space);
        decode_template(text->name, out);
        out->doubts |= text->args.count ? 0 : DOUBT_LIBRARY | DOUBT_OP; // it may wrap any other
    }
    bool is_cudnn = library_of_space(text->space) == LIBRARY_cudnn;
    out->library = is_cudnn ? LIBRARY_cudnn : LIBRARY_cutlass;
    if (is_wrapped)
        read_owner(text, out);
    return true;
}
