// SPDX-License-Identifier: Apache-2.0
// Attention: FlashAttention 2, 3 and 4, FlashMLA, the memory-efficient kernels of xFormers,
// FlashInfer, TensorRT-LLM's and vLLM's paged kernels.
#include "analysis/kernel_names/families.h"

static bool is_sm(struct str arg, struct str *version)
{
    struct str name = kernel_last_of(arg);
    if (!str_starts_with(name, STR("Sm")) || name.len < 4 || name.len > 6)
        return false;
    *version = (struct str){name.at + 2, name.len - 2};
    return true;
}

// --- FlashAttention 2 and FlashMLA ---------------------------------------------------------------

// "Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::half_t, ...>"
static void read_traits(struct str traits, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t sizes[3];
    kernel_args_of(traits, &args);
    if (args.count < 3)
        return;
    for (size_t i = 0; i < 3; i++)
        if (!scan_number(args.at[i], &sizes[i]))
            return;
    out->head_dim = sizes[0];
    set_tile(out, sizes + 1, 2);
    out->dtype = scan_first_float(&args);
}

static void read_flash_mla(const struct kernel_text *text, struct kernel_decoded *out)
{
    out->library = LIBRARY_flash_mla;
    set_flag(out, FLAG_mla);
    if (kernel_has(text->base, "metadata")) {
        out->op = OP_attention_helper;
        set_flag(out, FLAG_metadata);
        return;
    }
    set_flag(out, FLAG_split_kv);
    bool combines = kernel_has(text->base, "combine");
    out->op = combines ? OP_attention_helper : OP_attention_fwd;
    set_flag_if(out, FLAG_combine, combines);
    out->dtype = scan_first_float(&text->args);
    if (combines || !text->args.count)
        return;
    read_traits(text->args.at[0], out);
    set_causal(out, scan_bool(&text->args, 1));
}

static bool is_helper(struct str base)
{
    static const char *const words[] = {"dot_do_o", "convert_d",         "clear_d",
                                        "combine",  "reorder_attn_bias", "prepare_varlen"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kernel_has(base, words[i]))
            return true;
    return false;
}

static bool decode_flash2(const struct kernel_text *text, struct kernel_decoded *out)
{
    bool is_fwd = str_starts_with(text->base, STR("flash_fwd_"));
    bool is_bwd = str_starts_with(text->base, STR("flash_bwd_"));
    bool is_metadata = kernel_has(text->base, "get_mla_metadata");
    if (is_metadata || (is_fwd && kernel_has(text->base, "_mla_"))) {
        read_flash_mla(text, out);
        return true;
    }
    struct kernel_args args;
    kernel_open_args(text, &args);
    if ((!is_fwd && !is_bwd) || (!text->space.len && !args.count))
        return false;
    bool splits = kernel_has(text->base, "splitkv");
    out->library = LIBRARY_flash_attn;
    set_flag(out, FLAG_fa2);
    set_flag_if(out, FLAG_pytorch_bundled, kernel_has(text->space, "pytorch_flash"));
    set_flag_if(out, FLAG_split_kv, splits);
    set_flag_if(out, FLAG_combine, kernel_has(text->base, "combine"));
    for (size_t i = 0; i < args.count && !out->head_dim; i++)
        if (kernel_has(kernel_head_of(args.at[i]), "kernel_traits"))
            read_traits(args.at[i], out);
    out->settled = text->base_cut ? 0 : DOUBT_ALL;
    if (is_helper(text->base)) {
        out->op = OP_attention_helper;
        memset(out->tile, 0, sizeof out->tile);
        return true;
    }
    out->op = is_fwd ? OP_attention_fwd : OP_attention_bwd;
    set_causal(out, scan_bool(&text->args, splits ? 1 : 2));
    set_flag_if(out, FLAG_dropout, !splits && scan_bool(&text->args, 1) == 1);
    return true;
}

// --- FlashAttention 3 and 4 ----------------------------------------------------------------------

// CollectiveMainloopFwdSm90<stages, cluster, tuple<M, N, head>, head of V, T, float, Sm90, causal,
// local, softcap, varlen, paged without TMA, append, has Qv, ...>
static void read_mainloop(struct str mainloop, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t sizes[3];
    struct str version;
    kernel_args_of(mainloop, &args);
    size_t tuples = 0;
    size_t arch = args.count;
    for (size_t i = 0; i < args.count && arch == args.count; i++) {
        if (scan_tuple(args.at[i], sizes) == 3 && ++tuples == 2)
            set_tile(out, sizes, 3);
        if (!out->dtype)
            out->dtype =
                type_is_float(scan_cpp_type(args.at[i])) ? scan_cpp_type(args.at[i]) : TYPE_NONE;
        if (is_sm(args.at[i], &version)) {
            set_arch(out, "sm", version);
            arch = i;
        }
    }
    set_causal(out, scan_bool(&args, arch + 1));
    bool has_qv = kernel_has(kernel_head_of(mainloop), "Fwd") && scan_bool(&args, arch + 7) == 1;
    set_flag_if(out, FLAG_mla, has_qv);
    out->head_dim = has_qv ? 0 : out->tile[2]; // with Qv the head is not in one piece
    out->tile[2] = 0;
}

// FlashAttnBwdPreprocess<tuple<M, head>, ...>, FlashAttnBwdPostprocessConvertdQ<...>.
static void read_flash3_helper(struct str kernel, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t sizes[3];
    struct str version;
    kernel_args_of(kernel, &args);
    out->op = OP_attention_helper;
    out->dtype = scan_first_float(&args);
    if (args.count && scan_tuple(args.at[0], sizes) == 2)
        out->head_dim = sizes[1];
    for (size_t i = 0; i < args.count; i++)
        if (is_sm(args.at[i], &version))
            set_arch(out, "sm", version);
    set_flag_if(out, FLAG_combine, kernel_has(kernel_head_of(kernel), "Combine"));
}

// "FlashAttnFwdSm90", with or without the template around it: what the class itself says.
static void read_class(struct str class, struct kernel_decoded *out)
{
    static const struct {
        const char *pattern;
        enum kernel_op op;
    } kinds[] = {{"FlashAttnFwdCombine*", OP_attention_helper},
                 {"FlashAttnBwdPreprocess*", OP_attention_helper},
                 {"FlashAttnBwdPostprocess*", OP_attention_helper},
                 {"FlashAttnFwdSm*", OP_attention_fwd},
                 {"FlashAttnFwd", OP_attention_fwd},
                 {"FlashAttnBwdSm*", OP_attention_bwd},
                 {"FlashAttnBwd", OP_attention_bwd}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !out->op; i++)
        if (kernel_matches(class, kinds[i].pattern))
            out->op = kinds[i].op;
    set_flag_if(out, FLAG_combine, kernel_has(class, "FwdCombine"));
    size_t at = str_find(class, STR("Sm"));
    struct str version = {class.at + class.len, 0};
    if (at != SIZE_MAX)
        version = (struct str){class.at + at + 2, class.len - at - 2};
    size_t digits = str_digits_end(version, 0);
    set_arch(out, "sm", (struct str){version.at, digits});
}

static bool decode_flash3_metadata(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!str_starts_with(text->base, STR("prepare_varlen_num_blocks")))
        return false;
    out->library = LIBRARY_flash_attn;
    out->op = OP_attention_helper;
    set_flag(out, FLAG_fa3);
    set_flag(out, FLAG_metadata);
    return true;
}

static bool decode_flash3_helper(const struct kernel_text *text, struct kernel_decoded *out)
{
    static const char *const helpers[] = {
        "FlashAttnBwdPreprocess<", "FlashAttnBwdPostprocessConvertdQ<", "FlashAttnFwdCombine<"};
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        struct str helper = kernel_instance(text->name, helpers[i]);
        if (!helper.len)
            continue;
        read_flash3_helper(helper, out);
        return true;
    }
    return false;
}

static void read_flash3(const struct kernel_text *text, struct kernel_decoded *out)
{
    size_t at = str_find(text->name, STR("FlashAttn"));
    struct str class = {text->name.at + text->name.len, 0};
    if (at != SIZE_MAX)
        class = kernel_head_of((struct str){text->name.at + at, text->name.len - at});
    read_class(class, out);
    bool is_whole = class.at + class.len < text->name.at + text->name.len;
    out->settled = DOUBT_LIBRARY | DOUBT_FLAGS | (is_whole ? DOUBT_OP : 0);
    read_mainloop(kernel_instance(text->name, "CollectiveMainloop"), out);
}

static bool decode_flash3(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (decode_flash3_metadata(text, out))
        return true;
    bool is_ws = str_starts_with(text->base, STR("compute_attn_ws"));
    bool is_class =
        str_equal(text->space, STR("flash")) && str_starts_with(text->base, STR("FlashAttn"));
    if (!is_ws && !is_class &&
        (!str_equal(text->base, STR("device_kernel")) || !kernel_has(text->name, "flash::")))
        return false;
    out->library = LIBRARY_flash_attn;
    set_flag(out, FLAG_fa3);
    out->settled = DOUBT_LIBRARY | DOUBT_OP | DOUBT_FLAGS;
    if (decode_flash3_helper(text, out))
        return true;
    if (is_ws) {
        out->op = OP_attention_fwd;
        if (text->args.count)
            read_traits(text->args.at[0], out);
        set_causal(out, scan_bool(&text->args, 1));
        return true;
    }
    read_flash3(text, out);
    return true;
}

// kernel_cutlass_..._flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_...: the arguments
// show strides, not whether the mask is causal.
static bool decode_flash4(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!str_starts_with(text->base, STR("kernel_cutlass_")) ||
        !kernel_has(text->base, "flash_attncute"))
        return false;
    out->library = LIBRARY_flash_attn;
    set_flag(out, FLAG_fa4_cute);
    bool helps = kernel_has(text->base, "process") || kernel_has(text->base, "ombine");
    bool is_bwd = kernel_has(text->base, "flash_bwd") || kernel_has(text->base, "Backward");
    out->op = helps ? OP_attention_helper : is_bwd ? OP_attention_bwd : OP_attention_fwd;
    size_t at = str_find(text->base, STR("wardSm")); // of a class "...ForwardSm100"
    size_t start = at == SIZE_MAX ? text->base.len : at + STR("wardSm").len;
    size_t end = str_digits_end(text->base, start);
    if (end < text->base.len)
        set_arch(out, "sm", (struct str){text->base.at + start, end - start});
    return true;
}

// --- memory-efficient attention ------------------------------------------------------------------

// fmha_cutlassB_f16_notaligned_64x64_k128_dropout_sm80
static bool decode_mem_efficient(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    int32_t tile[2];
    bool is_fwd = str_starts_with(text->base, STR("fmha_cutlassF"));
    bool is_bwd = str_starts_with(text->base, STR("fmha_cutlassB"));
    if (!is_fwd && !is_bwd)
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_xformers;
    out->op = is_fwd ? OP_attention_fwd : OP_attention_bwd;
    set_flag(out, FLAG_mem_efficient);
    out->settled = DOUBT_ALL;
    bool ends = !text->cut && tokens.at[tokens.count - 1].len == 4 && // "sm80"
                str_starts_with(tokens.at[tokens.count - 1], STR("sm"));
    for (size_t i = 2; i < tokens.count - (ends ? 0 : 1); i++) {
        struct str token = tokens.at[i];
        if (!out->dtype)
            out->dtype = scan_type(token);
        if (!out->tile[0] && scan_sizes(token, tile, 2) == 2)
            set_tile(out, tile, 2);
        set_flag_if(out, FLAG_misaligned, str_equal(token, STR("notaligned")));
        set_flag_if(out, FLAG_dropout, str_equal(token, STR("dropout")));
        if (str_starts_with(token, STR("sm")) && token.len == 4)
            set_arch(out, "", token);
    }
    return true;
}

// --- FlashInfer ----------------------------------------------------------------------------------

// Hopper's AttentionKernelTraits<by TMA, head size, ...>, in older versions <head size, ...>.
static void read_hopper_traits(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    int32_t head;
    kernel_args_of(kernel_instance(text->name, "AttentionKernelTraits<"), &args);
    out->dtype = scan_first_float(&args);
    for (size_t i = 0; i < 2 && i < args.count && !out->head_dim; i++)
        if (scan_number(args.at[i], &head) && head > 1) // a bool may be a number
            out->head_dim = head;
}

// KernelTraits<mask (1 is causal), tile of queries, MMA_Q, MMA_KV, head size / 16, ...>
static void read_kernel_traits(const struct kernel_text *text, struct kernel_decoded *out)
{
    enum { MASK, HEAD = 4 };
    struct kernel_args args;
    int32_t mask;
    int32_t head;
    if (kernel_has(text->name, "AttentionKernelTraits<")) {
        read_hopper_traits(text, out);
        return;
    }
    kernel_args_of(kernel_instance(text->name, "KernelTraits<"), &args);
    if (args.count <= HEAD)
        return;
    out->dtype = scan_first_float(&args);
    if (kernel_has(text->base, "MLA")) // its arguments have another order
        return;
    if (scan_number(args.at[MASK], &mask) && mask < 2)
        set_causal(out, mask);
    if (scan_number(args.at[HEAD], &head))
        out->head_dim = 16 * head;
}

static bool decode_flashinfer(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (library_of_space(text->space) != LIBRARY_flashinfer)
        return false;
    bool prefill = kernel_has(text->base, "Prefill");
    bool decode = kernel_has(text->base, "BatchDecode") || kernel_has(text->base, "SingleDecode");
    bool merges = kernel_has(text->base, "MergeState");
    bool is_mla = kernel_has(text->base, "MLA");
    if (!prefill && !decode && !merges && !is_mla)
        return false;
    out->library = LIBRARY_flashinfer;
    out->op = merges ? OP_attention_helper : OP_attention_fwd;
    set_flag_if(out, FLAG_prefill, prefill);
    set_flag_if(out, FLAG_decode, decode);
    set_flag_if(out, FLAG_paged, kernel_has(text->base, "Paged"));
    set_flag_if(out, FLAG_mla, is_mla);
    set_flag_if(out, FLAG_combine, merges);
    if (merges)
        out->dtype = scan_first_float(&text->args);
    else
        read_kernel_traits(text, out);
    return true;
}

// --- TensorRT-LLM --------------------------------------------------------------------------------

static enum kernel_type trtllm_type(struct str text, const char *prefix)
{
    static const struct {
        const char *word;
        enum kernel_type type;
    } types[] = {{"E4m3", TYPE_fp8_e4m3},
                 {"E2m1", TYPE_fp4_e2m1},
                 {"Bfloat16", TYPE_bf16},
                 {"Fp16", TYPE_f16}};
    size_t at = str_find(text, str_of(prefix));
    if (at == SIZE_MAX)
        return TYPE_NONE;
    size_t start = at + strlen(prefix);
    struct str rest = {text.at + start, text.len - start};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_starts_with(rest, str_of(types[i].word)))
            return types[i].type;
    return TYPE_NONE;
}

// The number after the first of two spellings; 0 without, or where it touches the end.
static int32_t number_after(struct str text, const char *prefix)
{
    size_t at = str_find(text, str_of(prefix));
    size_t start = at == SIZE_MAX ? text.len : at + strlen(prefix);
    size_t end = str_digits_end(text, start);
    int32_t number = 0;
    bool found = end < text.len && scan_number((struct str){text.at + start, end - start}, &number);
    return found ? number : 0;
}

// fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext
static bool decode_trtllm(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str name = text->base;
    if (!str_starts_with(name, STR("fmhaSm")))
        return false;
    out->library = LIBRARY_tensorrt_llm;
    out->op = OP_attention_fwd;
    size_t digits = str_digits_end(name, 6);
    set_arch(out, "sm", (struct str){name.at + 6, digits - 6});
    out->dtype = trtllm_type(name, "_Qkv");
    if (!out->dtype)
        out->dtype = trtllm_type(name, "_Q");
    out->dtype_out = trtllm_type(name, out->dtype == TYPE_bf16 ? "Bfloat16O" : "O");
    out->head_dim = number_after(name, "HQk");
    if (!out->head_dim)
        out->head_dim = number_after(name, "H");
    set_flag_if(out, FLAG_paged, kernel_has(name, "PagedKv"));
    set_flag_if(out, FLAG_varlen, kernel_has(name, "VarSeq"));
    set_flag_if(out, FLAG_persistent, kernel_has(name, "Persistent"));
    set_flag_if(out, FLAG_sliding_window, kernel_has(name, "SlidingOrChunkedCausal"));
    if (kernel_has(name, "Causal"))
        set_causal(out, 1);
    else if (kernel_has(name, "Dense"))
        set_causal(out, 0);
    return true;
}

// --- paged attention -----------------------------------------------------------------------------

// The size of a head: paged_attention_v1_kernel<T, cache, HEAD, BLOCK, ...>, and on ROCm
// paged_attention_ll4mi_QKV_mfma16_kernel<T, cache, kind, out, BLOCK, HEAD, ...>.
static void read_head(const struct kernel_text *text, bool reduces, struct kernel_decoded *out)
{
    int32_t numbers[3];
    size_t count = 0;
    bool is_rocm = kernel_has(text->base, "ll4mi");
    size_t wanted = is_rocm && !reduces ? 2 : 0;
    for (size_t i = 0; i < text->args.count && count < 3; i++)
        count += scan_number(text->args.at[i], &numbers[count]);
    if (count > wanted)
        out->head_dim = numbers[wanted];
}

static bool decode_paged(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!str_starts_with(text->base, STR("paged_attention_")) || is_bare(text))
        return false;
    bool reduces = kernel_has(text->base, "reduce");
    out->library = library_of_space(text->space);
    out->op = reduces ? OP_attention_helper : OP_attention_fwd;
    out->dtype = scan_first_float(&text->args);
    set_flag(out, FLAG_decode);
    set_flag(out, FLAG_paged);
    set_flag_if(out, FLAG_combine, reduces);
    read_head(text, reduces, out);
    return true;
}

bool family_attention(const struct kernel_text *text, struct kernel_decoded *out)
{
    return decode_flash2(text, out) || decode_flash3(text, out) || decode_flash4(text, out) ||
           decode_mem_efficient(text, out) || decode_flashinfer(text, out) ||
           decode_trtllm(text, out) || decode_paged(text, out);
}
