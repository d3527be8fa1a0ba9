// SPDX-License-Identifier: Apache-2.0
// Kernels that PyTorch's compiler writes in Triton: triton_red_fused__to_copy_add_mul_3. The list
// of operators says where the code comes from: `addmm` in a pointwise kernel is only its epilogue.
#include "analysis/kernel_names/families.h"

#include "analysis/kernel_names/inductor_ops.h"

enum { TRIES_MAX = 2 * KERNEL_OPS_MAX }; // of hostile names, which are all underscores

static struct str skip(struct str text, size_t count)
{
    return (struct str){text.at + count, text.len - count};
}

// Without "_12" and "_0d1d2d" at the end; where the name is cut, without its last word.
static struct str without_number(struct str ops, bool cut)
{
    for (;;) {
        size_t start = ops.len;
        while (start && ops.at[start - 1] != '_')
            start--;
        if (!cut && (start == ops.len || !str_is_digit(ops.at[start])))
            return ops;
        ops.len = start ? start - 1 : 0;
        if (cut || !ops.len)
            return ops;
    }
}

static bool is_single(struct str word)
{
    return str_is_one_of(word, inductor_single, sizeof inductor_single / sizeof *inductor_single);
}

static bool starts_with_op(struct str rest, struct str op)
{
    return str_starts_with(rest, op) && (rest.len == op.len || rest.at[op.len] == '_');
}

static struct str longest_op(struct str rest, bool *is_known)
{
    *is_known = true;
    struct str best = {rest.at, 0};
    for (size_t i = 0; i < sizeof inductor_ops / sizeof *inductor_ops; i++) {
        struct str op = str_of(inductor_ops[i]);
        if (op.len > best.len && *op.at == *rest.at && starts_with_op(rest, op))
            best.len = op.len;
    }
    if (best.len)
        return best;
    size_t len = *rest.at == '_';
    while (len < rest.len && rest.at[len] != '_')
        len++;
    *is_known = is_single((struct str){rest.at, len});
    return (struct str){rest.at, len};
}

// Adds an operator; adjacent words that are not operators are taken for one of another library.
static void add_op(struct str op, bool is_known, bool joins, struct kernel_decoded *out)
{
    struct str *last = out->op_count ? &out->ops[out->op_count - 1] : NULL;
    if (!is_known)
        out->doubts |= DOUBT_OPS;
    if (last && joins)
        last->len = (size_t)(op.at + op.len - last->at);
    else
        out->ops[out->op_count++] = op;
}

// The compiler sorts the list: where the words found are not in order, they are not the operators.
static void doubt_order(struct kernel_decoded *out)
{
    for (uint32_t i = 1; i < out->op_count; i++)
        if (str_compare(out->ops[i - 1], out->ops[i]) > 0)
            out->doubts |= DOUBT_OPS;
}

static void read_ops(struct str rest, struct kernel_decoded *out)
{
    bool was_unknown = false;
    for (int tries = 0; rest.len && out->op_count < KERNEL_OPS_MAX && tries < TRIES_MAX; tries++) {
        bool is_known;
        struct str op = longest_op(rest, &is_known);
        if (op.len > 1 || *op.at != '_') {
            add_op(op, is_known, was_unknown && !is_known, out);
            was_unknown = !is_known;
        }
        rest = skip(rest, op.len);
        rest = rest.len ? skip(rest, 1) : rest; // the underscore between two
    }
    doubt_order(out);
}

static bool has_op(const struct kernel_decoded *out, const char *pattern)
{
    for (uint32_t i = 0; i < out->op_count; i++)
        if (kernel_matches(out->ops[i], pattern))
            return true;
    return false;
}

static enum kernel_op template_of(const struct kernel_decoded *out)
{
    if (has_op(out, "flex_attention_backward"))
        return OP_attention_bwd;
    if (has_op(out, "flex_attention"))
        return OP_attention_fwd;
    if (has_op(out, "convolution"))
        return OP_conv_fwd;
    bool multiplies = has_op(out, "*mm") || has_op(out, "*mm*");
    return multiplies ? OP_template_gemm : OP_fused;
}

static const struct {
    const char *word;
    enum kernel_op op;
} kinds[] = {
    {"poi", OP_fused_pointwise}, {"red", OP_fused_reduction}, {"per", OP_fused_reduction},
    {"tem", OP_template_gemm},   {"for", OP_foreach},         {"spl", OP_fused_scan},
};

bool family_inductor(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str start = STR("triton_");
    if (!str_starts_with(text->raw, start) || !is_bare(text))
        return false;
    struct str rest = skip(text->raw, start.len);
    if (str_starts_with(rest, STR("_")) && rest.len > 1 && str_is_digit(rest.at[1])) {
        out->library = LIBRARY_inductor;
        out->op = OP_fused;
        set_flag(out, FLAG_opaque);
        out->settled = DOUBT_ALL;
        return true;
    }
    struct str fused = STR("_fused");
    if (rest.len < 3 + fused.len || !str_starts_with(skip(rest, 3), fused))
        return false;
    struct str kind = {rest.at, 3};
    struct str ops = skip(rest, 3 + fused.len);
    ops = ops.len ? skip(ops, 1) : ops;
    out->library = LIBRARY_inductor;
    read_ops(without_number(ops, text->cut), out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_equal(kind, str_of(kinds[i].word)))
            out->op = kinds[i].op;
    set_flag_if(out, FLAG_persistent, str_equal(kind, STR("per")));
    bool is_template = out->op == OP_template_gemm;
    bool has_number = ops.len && str_is_digit(ops.at[ops.len - 1]);
    if (!has_number) // all names have one: the list may go on
        out->doubts |= DOUBT_OPS | (is_template ? DOUBT_OP : 0);
    if (is_template)
        out->op = template_of(out);
    out->settled = DOUBT_LIBRARY | DOUBT_FLAGS | (is_template ? 0 : DOUBT_OP);
    return true;
}
