// SPDX-License-Identifier: Apache-2.0
// CUTLASS 3.x:
// cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_
// align8_warpspecialized_pingpong, and templates with a CollectiveMma.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word;
    enum kernel_flag flag;
} marks[] = {
    {"pingpong", FLAG_pingpong},
    {"cooperative", FLAG_cooperative},
    {"2sm", FLAG_N2sm},
    {"fastaccum", FLAG_fastaccum},
    {"bias", FLAG_bias},
    {"relu", FLAG_epilogue_relu},
    {"gelu", FLAG_epilogue_gelu},
    {"silu", FLAG_epilogue_silu},
    {"sptensorop", FLAG_sparse},
    {"simt", FLAG_simt},
    {"bstensorop", FLAG_block_scaled},
    {"wmma", FLAG_wmma},
    {"sigmoid", FLAG_epilogue_sigmoid},
};

static void read_mark(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    struct str token = tokens->at[at];
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        set_flag_if(out, marks[i].flag, str_equal(token, str_of(marks[i].word)));
    set_flag_if(out, FLAG_stream_k,
                str_equal(token, STR("k")) && str_equal(tokens->at[at - 1], STR("stream")));
    int32_t number;
    if (scan_after(token, "align", &number))
        out->alignment = number;
}

// "f4" and "f8" say the width alone.
static enum kernel_type element_type(struct str element)
{
    if (str_equal(element, STR("f4")))
        return TYPE_fp4_e2m1;
    if (str_equal(element, STR("e3m2")) || str_equal(element, STR("e2m3")))
        return TYPE_mxfp6;
    return str_equal(element, STR("f8")) ? TYPE_fp8 : scan_type(element);
}

// Block-scaled types are written with the type of their scales: "ue8m0xe4m3", "ue4m3xf4". Scales
// that are powers of two make the types of the MX standard.
static enum kernel_type operand_type(struct str token)
{
    size_t x = str_find(token, STR("x"));
    if (!str_starts_with(token, STR("ue")) || x == SIZE_MAX)
        return scan_type(token);
    enum kernel_type element = element_type((struct str){token.at + x + 1, token.len - x - 1});
    if (!str_starts_with(token, STR("ue8m0")))
        return element;
    switch (element) {
    case TYPE_fp8:
    case TYPE_fp8_e4m3:
    case TYPE_fp8_e5m2: return TYPE_mxfp8;
    case TYPE_fp4_e2m1: return TYPE_mxfp4;
    case TYPE_mxfp6: return TYPE_mxfp6;
    default: return TYPE_NONE;
    }
}

// A, B, accumulator, C and D; C may be void.
static bool read_types(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    if (at + 5 > tokens->count)
        return false;
    enum kernel_type a = operand_type(tokens->at[at]);
    enum kernel_type b = operand_type(tokens->at[at + 1]);
    enum kernel_type acc = scan_type(tokens->at[at + 2]);
    if (!a || !b || !acc)
        return false;
    out->dtype = a;
    out->dtype_b = b == a ? TYPE_NONE : b;
    out->dtype_acc = acc;
    out->dtype_out = scan_type(tokens->at[at + 4]);
    return true;
}

// Tile, cluster, stages (0: chosen by the compiler) and the layouts of A, B and C. Where the
// cluster is chosen at run time, it is not in the name.
static size_t read_shape(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    int32_t tile[3];
    int32_t cluster[3];
    if (at >= tokens->count || scan_sizes(tokens->at[at], tile, 3) != 3)
        return at;
    set_tile(out, tile, 3);
    at++;
    if (at < tokens->count && scan_sizes(tokens->at[at], cluster, 3) == 3) {
        memcpy(out->cluster, cluster, sizeof out->cluster);
        at++;
    }
    if (at >= tokens->count || !scan_number(tokens->at[at], &out->stages))
        return at;
    at++;
    struct str layout = at < tokens->count ? tokens->at[at] : (struct str){NULL, 0};
    if (layout.len == 3 && strchr("nt", layout.at[0]) && strchr("nt", layout.at[1]))
        set_layout(out, (struct str){layout.at, 2});
    return at + 1;
}

static void decode_identifier(struct str name, bool cut, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    kernel_tokens_of(name, &tokens);
    bool ends = !cut && scan_has_token(&tokens, "align*");
    size_t complete = tokens.count - (ends ? 0 : 1);
    size_t at = 1;
    out->library = LIBRARY_cutlass;
    out->settled = DOUBT_ALL;
    if (at < complete && str_starts_with(tokens.at[at], STR("sm")))
        set_arch(out, "", tokens.at[at++]);
    for (; at < complete && !kernel_matches(tokens.at[at], "*gemm"); at++)
        read_mark(&tokens, at, out);
    if (at >= complete)
        return;
    out->op = OP_gemm;
    set_flag_if(out, FLAG_sparse, kernel_matches(tokens.at[at], "*spgemm"));
    tokens.count = complete;
    at++;
    bool is_scaled = at + 1 < complete && str_equal(tokens.at[at], STR("block")) &&
                     str_equal(tokens.at[at + 1], STR("scaled"));
    at += is_scaled ? 2 : 0;
    if (!read_types(&tokens, at, out))
        return;
    for (at = read_shape(&tokens, at + 5, out); at < complete; at++)
        read_mark(&tokens, at, out);
}

// --- templates -----------------------------------------------------------------------------------

// "cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<stages, cluster, schedule>"
static void read_dispatch(struct str policy, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t cluster[3];
    struct str head = kernel_last_of(kernel_head_of(policy));
    size_t sm = str_find(head, STR("Sm"));
    size_t end = sm == SIZE_MAX ? 0 : str_digits_end(head, sm + 2);
    if (end > sm + 2)
        set_arch(out, "sm", (struct str){head.at + sm + 2, end - sm - 2});
    kernel_args_of(policy, &args);
    for (size_t i = 0; i < args.count && !out->cluster[0]; i++)
        if (scan_tuple(args.at[i], cluster) == 3)
            memcpy(out->cluster, cluster, sizeof out->cluster);
    if (args.count && !scan_number(args.at[0], &out->stages))
        out->stages = 0;
    set_flag_if(out, FLAG_pingpong, kernel_has(policy, "Pingpong"));
    set_flag_if(out, FLAG_cooperative, kernel_has(policy, "Cooperative"));
    set_flag_if(out, FLAG_fastaccum, kernel_has(policy, "FP8FastAccum"));
}

// An element type, or a tuple of that and the type of its scales.
static enum kernel_type element_of(struct str type, struct kernel_decoded *out)
{
    struct kernel_args parts;
    enum kernel_type element = scan_cpp_type(type);
    kernel_args_of(type, &parts);
    if (element || parts.count != 2)
        return element;
    element = scan_cpp_type(parts.at[0]);
    bool is_mx = kernel_has(parts.at[1], "ue8m0");
    set_flag_if(out, FLAG_block_scaled, element != TYPE_NONE);
    if (!is_mx)
        return element;
    bool is_fp8 = element == TYPE_fp8_e4m3 || element == TYPE_fp8_e5m2;
    return element == TYPE_fp4_e2m1 ? TYPE_mxfp4 : is_fp8 ? TYPE_mxfp8 : TYPE_NONE;
}

static void decode_collective(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t tile[3];
    kernel_args_of(kernel_instance(text->name, "CollectiveMma<"), &args);
    bool is_grouped = kernel_has(text->name, "GroupProblemShape") ||
                      kernel_has(text->name, "PtrArray") ||
                      kernel_has(text->name, "MoEProblemShape");
    out->op = is_grouped ? OP_grouped_gemm : OP_gemm;
    enum kernel_library library = library_of_space(text->space);
    if (library == LIBRARY_NONE && kernel_has(text->name, "vllm::"))
        library = LIBRARY_vllm;
    out->library = library ? library : LIBRARY_cutlass;
    if (!args.count)
        return;
    read_dispatch(args.at[0], out);
    if (args.count > 1 && scan_tuple(args.at[1], tile) == 3)
        set_tile(out, tile, 3);
    if (args.count > 2)
        out->dtype = element_of(args.at[2], out);
    enum kernel_type b = args.count > 4 ? element_of(args.at[4], out) : TYPE_NONE;
    out->dtype_b = b != out->dtype ? b : TYPE_NONE;
}

bool family_cutlass3(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (str_starts_with(text->base, STR("cutlass3x_"))) {
        decode_identifier(text->base, text->cut, out);
        return true;
    }
    bool is_wrapped =
        str_starts_with(text->base, STR("Kernel")) || str_equal(text->base, STR("device_kernel"));
    if (!is_wrapped)
        return false;
    if (text->args.count && str_starts_with(text->args.at[0], STR("cutlass3x_"))) {
        decode_identifier(text->args.at[0], false, out);
        return true;
    }
    if (!kernel_has(text->name, "CollectiveMma<"))
        return false;
    decode_collective(text, out);
    return true;
}
