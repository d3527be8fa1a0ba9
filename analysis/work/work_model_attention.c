// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: two matrix products forward, five backward (the scores are
// recomputed); each tensor transferred once. Softmax is not counted.
#include "analysis/work/work_models.h"

#include <inttypes.h>
#include <stdio.h>

enum layout {
    LAYOUT_BHND, // batch, heads, length, head width
    LAYOUT_BNHD,
};

enum causal {
    CAUSAL_FLAG,           // "True" or "False"
    CAUSAL_FLAG_OR_BEFORE, // the same; without a dropout before it, as in FlashAttention 3, one
                           // less
    CAUSAL_MASK,           // a number: 0 none, 1 aligned at the top left, 2 at the bottom right
};

struct attention {
    const char *op;
    bool backward;
    enum layout layout;
    int8_t first; // of query, key, value
    enum causal causal;
    int8_t causal_at;
    int8_t lengths_at; // of the query's cumulative lengths, followed by the keys', then the maximum
                       // of each. -1: none
    int8_t window_at;  // of its left end, which is -1 if there is no window. -1: none
};

// Positions follow the operators' schemas.
static const struct attention attentions[] = {
    {"aten::_scaled_dot_product_flash_attention", false, LAYOUT_BHND, 0, CAUSAL_FLAG, 4, -1, -1},
    {"aten::_scaled_dot_product_efficient_attention", false, LAYOUT_BHND, 0, CAUSAL_FLAG, 6, -1,
     -1},
    {"aten::_scaled_dot_product_cudnn_attention", false, LAYOUT_BHND, 0, CAUSAL_FLAG, 6, -1, -1},
    {"aten::_scaled_dot_product_fused_attention_overrideable", false, LAYOUT_BHND, 0, CAUSAL_FLAG,
     5, -1, -1},
    {"aten::_scaled_dot_product_flash_attention_backward", true, LAYOUT_BHND, 1, CAUSAL_FLAG, 11, 6,
     -1},
    {"aten::_scaled_dot_product_efficient_attention_backward", true, LAYOUT_BHND, 1, CAUSAL_FLAG,
     11, -1, -1},
    {"aten::_scaled_dot_product_cudnn_attention_backward", true, LAYOUT_BHND, 1, CAUSAL_FLAG, 14, 9,
     -1},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward", true, LAYOUT_BHND, 1,
     CAUSAL_FLAG, 13, 8, -1},
    {"aten::_flash_attention_forward", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 8, 3, 11},
    {"aten::_flash_attention_backward", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 11, 6, 15},
    {"aten::_efficient_attention_forward", false, LAYOUT_BNHD, 0, CAUSAL_MASK, 9, 4, -1},
    {"aten::_efficient_attention_backward", true, LAYOUT_BNHD, 1, CAUSAL_MASK, 14, 6, -1},
    {"aten::_cudnn_attention_forward", false, LAYOUT_BHND, 0, CAUSAL_FLAG, 10, 4, -1},
    {"aten::_cudnn_attention_backward", true, LAYOUT_BHND, 1, CAUSAL_FLAG, 14, 9, -1},
    {"flash_attn::_flash_attn_forward", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 5, -1, 6},
    {"flash_attn::_flash_attn_backward", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 11, -1, 12},
    {"flash_attn::_flash_attn_varlen_forward", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 9, 3, 10},
    {"flash_attn::_flash_attn_varlen_backward", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 15, 9, 16},
    {"FlashAttnFunc", false, LAYOUT_BNHD, 0, CAUSAL_FLAG_OR_BEFORE, 5, -1, -1},
    {"aiter::mha_fwd", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 5, -1, 6},
    {"aiter::fmha_v3_fwd", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 5, -1, 6},
    {"aiter::_flash_attn_forward", false, LAYOUT_BNHD, 0, CAUSAL_FLAG, 5, -1, 6},
    {"aiter::mha_bwd", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 8, -1, 9},
    {"aiter::fmha_v3_bwd", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 8, -1, 9},
    {"aiter::_flash_attn_backward", true, LAYOUT_BNHD, 1, CAUSAL_FLAG, 12, -1, 13},
};

// Operators whose work depends on lengths that no trace records.
static const char *const unknown[] = {
    "vllm::unified_attention",   "vllm::unified_attention_with_output",
    "_vllm_fa2_C::varlen_fwd",   "_vllm_fa3_C::fwd",
    "aiter::mha_varlen_fwd",     "aiter::fmha_v3_varlen_fwd",
    "aiter::mha_varlen_bwd",     "aiter::fmha_v3_varlen_bwd",
    "aiter::paged_attention_v1", "_C::paged_attention_v1",
    "_C::paged_attention_v2",    "_rocm_C::paged_attention",
    "flash_attn_3::fwd",         "flash_attn_3::bwd",
    "FlashAttnVarlenFunc",
};

struct qkv {
    const struct op_arg *q, *k, *v;
};

struct problem {
    int64_t batch, heads, kv_heads, queries, keys, qk_width, v_width;
};

static bool read_dense(enum layout layout, const struct qkv *in, struct problem *p)
{
    const struct op_arg *q = in->q, *k = in->k, *v = in->v;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4)
        return false;
    int heads = layout == LAYOUT_BHND ? 1 : 2, length = 3 - heads;
    *p = (struct problem){q->dims[0],      q->dims[heads], k->dims[heads], q->dims[length],
                          k->dims[length], q->dims[3],     v->dims[3]};
    return k->dims[0] == p->batch && v->dims[0] == p->batch && k->dims[3] == p->qk_width &&
           v->dims[length] == p->keys && v->dims[heads] == p->kv_heads;
}

// Sequences concatenated. Their lengths are known only if all are as long as the longest.
static bool read_packed(const struct attention *attention, const struct arg_list *args,
                        const struct qkv *in, struct problem *p)
{
    const struct op_arg *q = in->q, *k = in->k, *v = in->v;
    const struct op_arg *lengths = op_args_tensor(args, attention->lengths_at);
    uint32_t at = q->rank == 4; // a leading batch of 1
    int64_t longest_q, longest_k;
    if (q->rank < 3 || q->rank > 4 || k->rank != q->rank || v->rank != q->rank ||
        lengths->rank != 1 || lengths->dims[0] < 2 || (at && q->dims[0] != 1) ||
        !op_args_int(args, attention->lengths_at + 2, &longest_q) ||
        !op_args_int(args, attention->lengths_at + 3, &longest_k))
        return false;
    *p = (struct problem){
        lengths->dims[0] - 1, q->dims[at + 1], k->dims[at + 1], longest_q, longest_k,
        q->dims[at + 2],      v->dims[at + 2]};
    return count_mul(p->batch, longest_q) == q->dims[at] &&
           count_mul(p->batch, longest_k) == k->dims[at] && v->dims[at] == k->dims[at] &&
           k->dims[at + 2] == p->qk_width;
}

static bool read_causal(const struct attention *attention, const struct arg_list *args,
                        bool *causal)
{
    int64_t mask;
    if (attention->causal == CAUSAL_FLAG_OR_BEFORE &&
        op_args_bool(args, attention->causal_at - 1, causal))
        return true;
    if (attention->causal != CAUSAL_MASK)
        return op_args_bool(args, attention->causal_at, causal);
    if (!op_args_int(args, attention->causal_at, &mask) || mask < 0 || mask > 2)
        return false;
    *causal = mask != 0;
    return true;
}

static bool has_window(const struct attention *attention, const struct arg_list *args)
{
    int64_t left;
    return op_args_int(args, attention->window_at, &left) && left >= 0;
}

static int64_t count_flops(const struct problem *p, bool backward, bool causal)
{
    int64_t pairs = count_mul(count_mul(p->batch, p->heads), count_mul(p->queries, p->keys));
    int64_t width = backward ? count_add(count_mul(3, p->qk_width), count_mul(2, p->v_width))
                             : count_add(p->qk_width, p->v_width);
    int64_t flops = count_mul(2, count_mul(pairs, width));
    bool half = causal && p->queries == p->keys && count_known(flops);
    return half ? flops / 2 : flops;
}

static void fill_flops(const struct attention *attention, const struct arg_list *args,
                       const struct problem *p, struct work *work)
{
    bool causal = false;
    if (!read_causal(attention, args, &causal))
        work->note = "whether it is causal was not recorded";
    else if (has_window(attention, args))
        work->note = "FLOPs of sliding window attention are not modelled";
    else
        work->flops = count_flops(p, attention->backward, causal);
    // Tuples are not recorded.
    if (count_known(work->flops) && attention->causal == CAUSAL_FLAG_OR_BEFORE)
        work->note =
            "with a sliding window, which is not among the recorded inputs, it would be less";
    if (count_known(work->flops) && causal && p->queries != p->keys)
        work->note =
            "causal, but counted as without a mask: the numbers of queries and keys differ";
    snprintf(work->problem, sizeof work->problem,
             "B=%" PRId64 " H=%" PRId64 " Hkv=%" PRId64 " Nq=%" PRId64 " Nkv=%" PRId64
             " dqk=%" PRId64 " dv=%" PRId64 "%s",
             p->batch, p->heads, p->kv_heads, p->queries, p->keys, p->qk_width, p->v_width,
             causal ? " causal" : "");
}

// Q, K, V and O; for backward also their gradients.
static int64_t count_bytes(const struct arg_list *args, int first, bool backward, int64_t outputs)
{
    int64_t bytes = work_bytes(outputs, args->args[first].dtype);
    for (int i = 0; i < 3; i++)
        bytes = count_add(bytes, work_tensor_bytes(args, first + i));
    return backward ? count_mul(2, bytes) : bytes;
}

static void fill(const struct attention *attention, const struct arg_list *args, struct work *work)
{
    int first = attention->first;
    struct qkv in = {op_args_tensor(args, first), op_args_tensor(args, first + 1),
                     op_args_tensor(args, first + 2)};
    bool packed = op_args_tensor(args, attention->lengths_at) != NULL;
    struct problem p;
    if (!in.q || !in.k || !in.v || in.q->rank < 3 || in.q->rank > 4 || in.v->rank != in.q->rank) {
        work->note = work_note_shapes;
        return;
    }
    work->precision = dtype_precision(in.q->dtype);
    int64_t outputs = count_mul(work_product(in.q, 0, in.q->rank - 1), in.v->dims[in.v->rank - 1]);
    work->bytes = count_bytes(args, first, attention->backward, outputs);
    if (packed ? read_packed(attention, args, &in, &p) : read_dense(attention->layout, &in, &p))
        fill_flops(attention, args, &p, work);
    else
        work->note =
            packed ? "sequences of different lengths, which were not recorded" : work_note_shapes;
}

static bool is_backward(struct str op)
{
    return str_contains_nocase(op, STR("bwd")) || str_contains_nocase(op, STR("backward"));
}

bool work_attention(struct str op, const struct arg_list *args, struct work *work)
{
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++)
        if (str_equal(op, str_of(attentions[i].op))) {
            work->kind = attentions[i].backward ? WORK_ATTENTION_BACKWARD : WORK_ATTENTION_FORWARD;
            fill(&attentions[i], args, work);
            return true;
        }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (str_equal(op, str_of(unknown[i]))) {
            work->kind = is_backward(op) ? WORK_ATTENTION_BACKWARD : WORK_ATTENTION_FORWARD;
            work->note = "the lengths of its sequences are not among the recorded inputs";
            return true;
        }
    return false;
}
