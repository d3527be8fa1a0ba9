// SPDX-License-Identifier: Apache-2.0
// Sizes of attention by the positions of queries and keys in the operators' schemas. Paged caches
// are missing: how much of them is in use is not among the inputs.
#include "analysis/work/attention_size.h"

enum layout {
    LAYOUT_BHND, // batch, heads, length, head width
    LAYOUT_BNHD,
};

struct layout_of {
    const char *op;
    enum layout layout;
    int8_t lengths; // position of the queries' cumulative lengths, followed by the keys'; 0: it
                    // takes none
};

static const struct layout_of layouts[] = {
    {"aten::scaled_dot_product_attention", LAYOUT_BHND, 0},
    {"aten::_scaled_dot_product_attention_math", LAYOUT_BHND, 0},
    {"aten::_scaled_dot_product_flash_attention", LAYOUT_BHND, 0},
    {"aten::_scaled_dot_product_efficient_attention", LAYOUT_BHND, 0},
    {"aten::_scaled_dot_product_cudnn_attention", LAYOUT_BHND, 0},
    {"aten::_scaled_dot_product_fused_attention_overrideable", LAYOUT_BHND, 0},
    {"aten::_flash_attention_forward", LAYOUT_BNHD, 3},
    {"aten::_efficient_attention_forward", LAYOUT_BNHD, 4},
    {"aten::_cudnn_attention_forward", LAYOUT_BHND, 4},
    {"flash_attn::_flash_attn_forward", LAYOUT_BNHD, 0},
    {"flash_attn::_flash_attn_varlen_forward", LAYOUT_BNHD, 3},
    {"FlashAttnFunc", LAYOUT_BNHD, 0},
    {"FlashAttnVarlenFunc", LAYOUT_BNHD, 3},
    {"aiter::mha_fwd", LAYOUT_BNHD, 0},
    {"aiter::fmha_v3_fwd", LAYOUT_BNHD, 0},
    {"aiter::_flash_attn_forward", LAYOUT_BNHD, 0},
    {"xformers_flash::flash_fwd", LAYOUT_BNHD, 3},
    {"xformers::efficient_attention_forward_cutlass", LAYOUT_BNHD, 4},
    {"xformers::efficient_attention_forward_ck", LAYOUT_BNHD, 4},
};

static const struct layout_of *find(struct str op)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (str_equal(op, str_of(layouts[i].op)))
            return &layouts[i];
    return NULL;
}

bool attention_size_known(struct str op)
{
    return find(op) != NULL;
}

static bool is_sane(const struct attention_size *size)
{
    return size->sequences > 0 && count_known(size->tokens) && count_known(size->keys) &&
           size->tokens >= size->sequences && size->keys >= size->sequences;
}

static bool read_dense(enum layout layout, const struct op_arg *q, const struct op_arg *k,
                       struct attention_size *size)
{
    int heads = layout == LAYOUT_BHND ? 1 : 2, length = 3 - heads;
    if (q->rank != 4 || k->rank != 4 || q->dims[0] != k->dims[0] || q->dims[3] != k->dims[3])
        return false;
    *size = (struct attention_size){q->dims[0], q->dims[heads], q->dims[3],
                                    count_mul(q->dims[0], q->dims[length]),
                                    count_mul(k->dims[0], k->dims[length])};
    return true;
}

// Sequences concatenated.
static bool read_packed(const struct op_arg *lengths, const struct op_arg *q,
                        const struct op_arg *k, struct attention_size *size)
{
    uint32_t at = q->rank == 4; // a leading batch of 1
    if (q->rank < 3 || q->rank > 4 || k->rank != q->rank || lengths->rank != 1 ||
        (at && (q->dims[0] != 1 || k->dims[0] != 1)) || q->dims[at + 2] != k->dims[at + 2])
        return false;
    *size = (struct attention_size){lengths->dims[0] - 1, q->dims[at + 1], q->dims[at + 2],
                                    q->dims[at], k->dims[at]};
    return true;
}

bool attention_size_read(struct str op, const struct arg_list *args, struct attention_size *size)
{
    const struct layout_of *layout = find(op);
    if (!layout || args->problem)
        return false;
    const struct op_arg *q = op_args_tensor(args, 0), *k = op_args_tensor(args, 1);
    const struct op_arg *lengths = layout->lengths ? op_args_tensor(args, layout->lengths) : NULL;
    if (!q || !k)
        return false;
    return (lengths ? read_packed(lengths, q, k, size) : read_dense(layout->layout, q, k, size)) &&
           is_sane(size);
}

bool attention_size_of_scores(const struct arg_list *args, struct attention_size *size)
{
    const struct op_arg *in = args->problem ? NULL : op_args_tensor(args, 0);
    if (!in || in->rank < 3 || in->rank > 4)
        return false;
    const int64_t *dims = &in->dims[in->rank - 3]; // from heads on, or sequences times heads
    int64_t sequences = in->dims[0];
    *size = (struct attention_size){sequences, in->rank == 4 ? dims[0] : 0, 0,
                                    count_mul(sequences, dims[1]), count_mul(sequences, dims[2])};
    return is_sane(size);
}
