// SPDX-License-Identifier: Apache-2.0
// Labels such as "GEMM bf16 tn 128x64x64 sm80 align2".
#include "analysis/kernel_names/kernel_label.h"

#include "analysis/kernel_names/families.h"

#include <stdio.h>

struct label {
    char text[256];
    size_t len;
};

static void add(struct label *label, struct str word)
{
    size_t space = label->len > 0;
    if (!word.len || label->len + space + word.len >= sizeof label->text)
        return;
    if (space)
        label->text[label->len++] = ' ';
    memcpy(label->text + label->len, word.at, word.len);
    label->len += word.len;
}

static void add_word(struct label *label, const char *word)
{
    add(label, str_of(word));
}

// "layer_norm_fwd" reads "layer norm fwd".
static void add_spaced(struct label *label, const char *word)
{
    char spaced[64];
    size_t len = 0;
    for (; word && word[len] && len + 1 < sizeof spaced; len++)
        spaced[len] = word[len] == '_' ? ' ' : word[len];
    add(label, (struct str){spaced, len});
}

static const struct {
    enum kernel_op op;
    const char *text;
} op_texts[] = {
    {OP_gemm, "GEMM"},
    {OP_batched_gemm, "batched GEMM"},
    {OP_grouped_gemm, "grouped GEMM"},
    {OP_moe_gemm, "MoE GEMM"},
    {OP_template_gemm, "GEMM"},
    {OP_gemm_splitk_reduce, "GEMM split-K reduce"},
    {OP_act_and_mul, "act*mul"},
    {OP_rms_norm_fwd, "RMSNorm fwd"},
    {OP_rms_norm_bwd, "RMSNorm bwd"},
    {OP_layer_norm_fwd, "LayerNorm fwd"},
    {OP_layer_norm_bwd, "LayerNorm bwd"},
    {OP_all_reduce, "AllReduce"},
    {OP_all_gather, "AllGather"},
    {OP_reduce_scatter, "ReduceScatter"},
    {OP_broadcast, "Broadcast"},
    {OP_reduce_coll, "Reduce"},
    {OP_send_recv, "SendRecv"},
    {OP_all_to_all, "all-to-all"},
    {OP_memcpy_h2d, "copy host to device"},
    {OP_memcpy_d2h, "copy device to host"},
    {OP_memcpy_d2d, "copy device to device"},
    {OP_memcpy_p2p, "copy between devices"},
    {OP_memcpy_h2h, "copy host to host"},
    {OP_moe_routing, "MoE routing"},
    {OP_moe_permute, "MoE permute"},
    {OP_rope, "rotary embedding"},
    {OP_kv_cache_write, "KV cache write"},
    {OP_ssm_scan, "SSM scan"},
    {OP_rng, "random"},
    {OP_foreach, "multi-tensor"},
    {OP_attention_fwd, "attention fwd"},
    {OP_conv, "conv"},
};

static const char *op_text(enum kernel_op op)
{
    for (size_t i = 0; i < sizeof op_texts / sizeof *op_texts; i++)
        if (op_texts[i].op == op)
            return op_texts[i].text;
    return kernel_op_word(op);
}

// Libraries that a reader knows a kernel by; for most matrix products the library says little.
static const char *library_text(const struct kernel_decoded *decoded)
{
    bool is_fa2 = kernel_has_flag(decoded, FLAG_fa2);
    bool is_fa3 = kernel_has_flag(decoded, FLAG_fa3);
    bool is_fa4 = kernel_has_flag(decoded, FLAG_fa4_cute);
    switch (decoded->library) {
    case LIBRARY_flash_attn: return is_fa2 ? "FA2" : is_fa3 ? "FA3" : is_fa4 ? "FA4" : "Flash";
    case LIBRARY_flash_mla: return "FlashMLA";
    case LIBRARY_xformers: return "mem-eff";
    case LIBRARY_nccl: return "NCCL";
    case LIBRARY_rccl: return "RCCL";
    case LIBRARY_deep_ep: return "DeepEP";
    case LIBRARY_deep_gemm: return "DeepGEMM";
    case LIBRARY_flashinfer: return "FlashInfer";
    case LIBRARY_tensorrt_llm: return "TRT-LLM";
    case LIBRARY_transformer_engine: return "TE";
    case LIBRARY_xla: return "XLA";
    case LIBRARY_cub: return "CUB";
    case LIBRARY_rocprim: return "rocPRIM";
    case LIBRARY_miopen: return "MIOpen";
    case LIBRARY_aiter: return "aiter";
    case LIBRARY_ck: return "CK";
    case LIBRARY_ck_tile: return "CK-tile";
    case LIBRARY_vllm: return "vLLM";
    case LIBRARY_sglang: return "SGLang";
    case LIBRARY_apex: return "apex";
    case LIBRARY_fbgemm: return "FBGEMM";
    case LIBRARY_cupy: return "CuPy";
    case LIBRARY_magma: return "MAGMA";
    case LIBRARY_deepseek: return "DeepSeek";
    case LIBRARY_mamba: return "Mamba";
    case LIBRARY_ggml: return "ggml";
    case LIBRARY_triton: return decoded->doubts & DOUBT_LIBRARY ? NULL : "Triton";
    default: return NULL;
    }
}

static void add_number(struct label *label, const char *prefix, int32_t number)
{
    char text[32];
    if (!number)
        return;
    snprintf(text, sizeof text, "%s%d", prefix, (int)number);
    add_word(label, text);
}

static void add_tile(struct label *label, const int32_t *tile)
{
    char text[48];
    if (!tile[0])
        return;
    if (tile[2])
        snprintf(text, sizeof text, "%dx%dx%d", (int)tile[0], (int)tile[1], (int)tile[2]);
    else
        snprintf(text, sizeof text, "%dx%d", (int)tile[0], (int)tile[1]);
    add_word(label, text);
}

// What makes a kernel differ from its neighbors, most telling first.
static const enum kernel_flag shown_flags[] = {
    FLAG_simt,       FLAG_naive,         FLAG_winograd,      FLAG_wmma,        FLAG_split_k,
    FLAG_stream_k,   FLAG_sparse,        FLAG_N2sm,          FLAG_mla,         FLAG_paged,
    FLAG_decode,     FLAG_prefill,       FLAG_split_kv,      FLAG_combine,     FLAG_metadata,
    FLAG_misaligned, FLAG_strided,       FLAG_casting,       FLAG_log,         FLAG_one_shot,
    FLAG_two_shot,   FLAG_symmetric,     FLAG_nvls,          FLAG_generic,     FLAG_marlin,
    FLAG_pageable,   FLAG_pinned,        FLAG_dispatch,      FLAG_low_latency, FLAG_gemm_epilogue,
    FLAG_bias,       FLAG_epilogue_relu, FLAG_epilogue_gelu, FLAG_silu,        FLAG_gelu,
    FLAG_fused_add,
};

static void add_flags(struct label *label, const struct kernel_decoded *decoded)
{
    for (size_t i = 0; i < sizeof shown_flags / sizeof *shown_flags; i++)
        if (kernel_has_flag(decoded, shown_flags[i]) &&
            (shown_flags[i] != FLAG_split_k || decoded->op != OP_gemm_splitk_reduce))
            add_spaced(label, kernel_flag_word(shown_flags[i]));
}

// "fused: add, mul, silu"
static void add_ops(struct label *label, const struct kernel_decoded *decoded)
{
    for (uint32_t i = 0; i < decoded->op_count; i++) {
        struct str op = decoded->ops[i];
        while (op.len && *op.at == '_')
            op = (struct str){op.at + 1, op.len - 1};
        char text[80];
        int len = snprintf(text, sizeof text, "%.*s%s", (int)(op.len < 70 ? op.len : 70), op.at,
                           i + 1 < decoded->op_count ? "," : "");
        add(label, (struct str){text, (size_t)len});
    }
}

static void compose(struct label *label, const struct kernel_decoded *decoded)
{
    add_word(label, library_text(decoded));
    bool has_func = decoded->func != FUNC_NONE;
    bool repeats = has_func && (decoded->op == OP_copy || decoded->op == OP_fill ||
                                decoded->op == OP_elementwise);
    if (!repeats)
        add_spaced(label, op_text(decoded->op));
    if (decoded->op_count)
        label->text[label->len++] = ':';
    if (has_func)
        add_spaced(label, kernel_func_word(decoded->func));
    add_word(label, kernel_type_word(decoded->dtype));
    bool casts = decoded->op == OP_quantize && decoded->dtype_out;
    if (casts) {
        add_word(label, "to");
        add_word(label, kernel_type_word(decoded->dtype_out));
    }
    add_number(label, "hd", decoded->head_dim);
    if (decoded->causal == KERNEL_CAUSAL_YES)
        add_word(label, "causal");
    add_word(label, decoded->layout);
    add_tile(label, decoded->tile);
    add_word(label, decoded->arch);
    if (decoded->alignment && decoded->alignment < 4)
        add_number(label, "align", decoded->alignment);
    add_number(label, "vec", decoded->vec);
    bool carries = decoded->library == LIBRARY_nccl || decoded->library == LIBRARY_rccl;
    if (!carries) { // such kernels run other algorithms and protocols than they are named after
        add_word(label, kernel_algo_word(decoded));
        add_word(label, kernel_proto_word(decoded));
    }
    add_flags(label, decoded);
    add_ops(label, decoded);
}

// Cuts to the bytes of a label, with an ellipsis at the end or in the middle.
static void store(const struct label *label, bool in_middle, struct kernel_decoded *decoded)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    size_t len = label->len;
    char *out = decoded->label;
    if (len <= KERNEL_LABEL_MAX) {
        memcpy(out, label->text, len);
        out[len] = '\0';
        return;
    }
    size_t kept = KERNEL_LABEL_MAX - 1;
    size_t head = in_middle ? kept / 2 : kept;
    memcpy(out, label->text, head);
    memcpy(out + head, ellipsis, sizeof ellipsis - 1);
    size_t tail = kept - head;
    memcpy(out + head + sizeof ellipsis - 1, label->text + len - tail, tail);
    out[head + sizeof ellipsis - 1 + tail] = '\0';
}

// A character outside ASCII is one question mark, however many bytes it has.
static char shown(struct str name, size_t at)
{
    unsigned char c = (unsigned char)name.at[at];
    bool goes_on = (c & 0xc0) == 0x80 && at && ((unsigned char)name.at[at - 1] & 0x80);
    if (goes_on)
        return '\0';
    return c >= ' ' && c <= '~' ? (char)c : '?';
}

// The function's own name if nothing was decoded.
static void from_name(const struct kernel_text *text, struct kernel_decoded *decoded)
{
    struct label label = {.len = 0};
    struct str name = text->base.len ? text->base : text->raw;
    for (size_t i = 0; i < name.len && label.len < sizeof label.text; i++) {
        char c = shown(name, i);
        if (c)
            label.text[label.len++] = c;
    }
    if (!label.len)
        label.text[label.len++] = '?';
    store(&label, true, decoded);
}

void kernel_label(const struct kernel_text *text, struct kernel_decoded *decoded)
{
    struct label label = {.len = 0};
    if (decoded->op == OP_NONE) {
        from_name(text, decoded);
        return;
    }
    compose(&label, decoded);
    store(&label, false, decoded);
}
