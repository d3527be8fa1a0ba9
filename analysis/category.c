// SPDX-License-Identifier: Apache-2.0
// The table that names kinds of work, by operator and by kernel name; the first row that matches
// decides.
#include "analysis/category.h"

#define MAX_NAME 2048 // bytes of a name that the rules look at

// How a row's text is compared, always in lower case.
enum match {
    MATCH_WORD, // the whole name of the operator without namespace, outer underscores, "_backward"
    MATCH_PART, // any part of it
};

struct rule {
    enum match match;
    enum category category;
    const char *text;
};

// By operator: the same on every vendor.
static const struct rule op_rules[] = {
    {MATCH_PART, CATEGORY_TRITON, "triton_"},
    {MATCH_PART, CATEGORY_ATTENTION, "attention"},
    {MATCH_PART, CATEGORY_ATTENTION, "flash_attn"},
    {MATCH_PART, CATEGORY_ATTENTION, "fmha"},
    {MATCH_PART, CATEGORY_ATTENTION, "paged_attn"},
    {MATCH_PART, CATEGORY_MOE, "moe"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "convolution"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv1d"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv2d"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv3d"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "foreach_"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "fused_adam"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "fused_sgd"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "fused_adagrad"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "amp_update_scale"},
    {MATCH_PART, CATEGORY_GEMM, "gemm"},
    {MATCH_PART, CATEGORY_GEMM, "scaled_mm"},
    {MATCH_PART, CATEGORY_GEMM, "grouped_mm"},
    {MATCH_WORD, CATEGORY_GEMM, "mm"},
    {MATCH_WORD, CATEGORY_GEMM, "addmm"},
    {MATCH_WORD, CATEGORY_GEMM, "addmm_activation"},
    {MATCH_WORD, CATEGORY_GEMM, "bmm"},
    {MATCH_WORD, CATEGORY_GEMM, "baddbmm"},
    {MATCH_WORD, CATEGORY_GEMM, "addbmm"},
    {MATCH_WORD, CATEGORY_GEMM, "matmul"},
    {MATCH_WORD, CATEGORY_GEMM, "linear"},
    {MATCH_WORD, CATEGORY_GEMM, "einsum"},
    {MATCH_WORD, CATEGORY_GEMM, "mv"},
    {MATCH_WORD, CATEGORY_GEMM, "addmv"},
    {MATCH_WORD, CATEGORY_GEMM, "dot"},
    {MATCH_PART, CATEGORY_REDUCTION, "vector_norm"},
    {MATCH_WORD, CATEGORY_REDUCTION, "norm"},
    {MATCH_PART, CATEGORY_NORMALIZATION, "norm"},
    {MATCH_PART, CATEGORY_EMBEDDING, "embedding"},
    {MATCH_PART, CATEGORY_EMBEDDING, "embs"},
    {MATCH_PART, CATEGORY_EMBEDDING, "splitlookup"},
    {MATCH_PART, CATEGORY_EMBEDDING, "index"},
    {MATCH_PART, CATEGORY_EMBEDDING, "scatter"},
    {MATCH_PART, CATEGORY_EMBEDDING, "gather"},
    {MATCH_PART, CATEGORY_EMBEDDING, "sparse_data"},
    {MATCH_PART, CATEGORY_EMBEDDING, "sparse_features"},
    {MATCH_WORD, CATEGORY_EMBEDDING, "take"},
    {MATCH_WORD, CATEGORY_EMBEDDING, "masked_select"},
    {MATCH_WORD, CATEGORY_EMBEDDING, "nonzero"},
    {MATCH_WORD, CATEGORY_EMBEDDING, "repeat_interleave"},
    {MATCH_PART, CATEGORY_REDUCTION, "softmax"},
    {MATCH_PART, CATEGORY_REDUCTION, "nll_loss"},
    {MATCH_PART, CATEGORY_REDUCTION, "cumsum"},
    {MATCH_PART, CATEGORY_REDUCTION, "argm"},
    {MATCH_PART, CATEGORY_REDUCTION, "pool"},
    {MATCH_WORD, CATEGORY_REDUCTION, "sum"},
    {MATCH_WORD, CATEGORY_REDUCTION, "mean"},
    {MATCH_WORD, CATEGORY_REDUCTION, "max"},
    {MATCH_WORD, CATEGORY_REDUCTION, "min"},
    {MATCH_WORD, CATEGORY_REDUCTION, "amax"},
    {MATCH_WORD, CATEGORY_REDUCTION, "amin"},
    {MATCH_WORD, CATEGORY_REDUCTION, "aminmax"},
    {MATCH_WORD, CATEGORY_REDUCTION, "any"},
    {MATCH_WORD, CATEGORY_REDUCTION, "all"},
    {MATCH_WORD, CATEGORY_REDUCTION, "prod"},
    {MATCH_WORD, CATEGORY_REDUCTION, "std"},
    {MATCH_WORD, CATEGORY_REDUCTION, "var"},
    {MATCH_WORD, CATEGORY_REDUCTION, "var_mean"},
    {MATCH_WORD, CATEGORY_REDUCTION, "logsumexp"},
    {MATCH_WORD, CATEGORY_REDUCTION, "topk"},
    {MATCH_WORD, CATEGORY_REDUCTION, "sort"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "add"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "sub"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "rsub"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "mul"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "div"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "neg"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "abs"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "exp"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "log"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "log2"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "pow"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "sqrt"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "rsqrt"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "reciprocal"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "sin"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "cos"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "tanh"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "sigmoid"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "logit"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "gelu"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "silu"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "relu"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "swiglu"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "dropout"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "clamp"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "logical_"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "bitwise_"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "masked_fill"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "quantize"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "rotary"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "threshold"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "where"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "eq"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "ne"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "ge"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "gt"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "le"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "lt"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "maximum"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "minimum"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "addcmul"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "addcdiv"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "lerp"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "nan_to_num"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "isfinite"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "copy"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "to_copy"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "clone"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "contiguous"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "cat"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "stack"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "fill"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "zero"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "arange"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "tril"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "triu"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "uniform"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "normal"},
    {MATCH_WORD, CATEGORY_ELEMENTWISE, "bernoulli"},
};

// By the kernel's name, where no operator decides. Only parts; convolutions stand before matrix
// multiplications because their kernels are often called implicit GEMM.
static const struct rule kernel_rules[] = {
    {MATCH_PART, CATEGORY_TRITON, "triton_"},
    {MATCH_PART, CATEGORY_ATTENTION, "flash"},
    {MATCH_PART, CATEGORY_ATTENTION, "fmha"},
    {MATCH_PART, CATEGORY_ATTENTION, "attn"},
    {MATCH_PART, CATEGORY_ATTENTION, "attention"},
    {MATCH_PART, CATEGORY_MOE, "moe"},
    {MATCH_PART, CATEGORY_MOE, "matmul_ogs"},
    {MATCH_PART, CATEGORY_MOE, "topk_forward"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "convolution"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv1d"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv2d"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv3d"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "conv_depthwise"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "asmconv"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "igemm_"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "scudnn"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "winograd"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "fprop"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "dgrad"},
    {MATCH_PART, CATEGORY_CONVOLUTION, "wgrad"},
    {MATCH_PART, CATEGORY_GEMM, "gemm"},
    {MATCH_PART, CATEGORY_GEMM, "gemv"},
    {MATCH_PART, CATEGORY_GEMM, "nvjet"},
    {MATCH_PART, CATEGORY_GEMM, "cijk_"},
    {MATCH_PART, CATEGORY_GEMM, "wvsplitk"},
    {MATCH_PART, CATEGORY_GEMM, "splitkreduce"},
    {MATCH_PART, CATEGORY_GEMM, "matmul"},
    {MATCH_PART, CATEGORY_GEMM, "cutlass"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "multi_tensor_apply"},
    {MATCH_PART, CATEGORY_OPTIMIZER, "adam"},
    {MATCH_PART, CATEGORY_NORMALIZATION, "norm"},
    {MATCH_PART, CATEGORY_NORMALIZATION, "bn_fw"},
    {MATCH_PART, CATEGORY_NORMALIZATION, "bn_bw"},
    {MATCH_PART, CATEGORY_EMBEDDING, "embedding"},
    {MATCH_PART, CATEGORY_EMBEDDING, "embs"},
    {MATCH_PART, CATEGORY_EMBEDDING, "index"},
    {MATCH_PART, CATEGORY_EMBEDDING, "indices"},
    {MATCH_PART, CATEGORY_EMBEDDING, "gather"},
    {MATCH_PART, CATEGORY_EMBEDDING, "scatter"},
    {MATCH_PART, CATEGORY_REDUCTION, "softmax"},
    {MATCH_PART, CATEGORY_REDUCTION, "reduce"},
    {MATCH_PART, CATEGORY_REDUCTION, "scan"},
    {MATCH_PART, CATEGORY_REDUCTION, "sort"},
    {MATCH_PART, CATEGORY_REDUCTION, "topk"},
    {MATCH_PART, CATEGORY_REDUCTION, "argmax"},
    {MATCH_PART, CATEGORY_REDUCTION, "nll_loss"},
    {MATCH_PART, CATEGORY_REDUCTION, "pool"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "elementwise"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "catarray"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "copy"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "fill"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "dropout"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "act_and_mul"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "rotary"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "transpose"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "nchwtonhwc"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "nhwctonchw"},
    {MATCH_PART, CATEGORY_ELEMENTWISE, "quant"},
};

static enum category first_match(const struct rule *rules, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        struct str text = str_of(rules[i].text);
        bool hit = rules[i].match == MATCH_WORD ? str_equal_nocase(name, text)
                                                : str_contains_nocase(name, text);
        if (hit)
            return rules[i].category;
    }
    return CATEGORY_NONE;
}

static bool drop_suffix(struct str *text, struct str suffix)
{
    if (text->len < suffix.len)
        return false;
    struct str end = {text->at + text->len - suffix.len, suffix.len};
    if (!str_equal(end, suffix))
        return false;
    text->len -= suffix.len;
    return true;
}

// What is looked at of a name, so that the rules cost a hostile file no more than a real one.
static struct str front_of(struct str name)
{
    return (struct str){name.at, name.len < MAX_NAME ? name.len : MAX_NAME};
}

// "aten::_softmax_backward_data" -> "softmax_backward_data", "aten::add_" -> "add".
static struct str bare_op(struct str op)
{
    for (size_t at = str_find(op, STR("::")); at != SIZE_MAX; at = str_find(op, STR("::")))
        op = (struct str){op.at + at + 2, op.len - at - 2};
    while (op.len && op.at[0] == '_')
        op = (struct str){op.at + 1, op.len - 1};
    while (drop_suffix(&op, STR("_")) || drop_suffix(&op, STR("_backward")))
        continue;
    return op;
}

enum category category_of_op(struct str op)
{
    return first_match(op_rules, sizeof op_rules / sizeof *op_rules, front_of(bare_op(op)));
}

// The name up to its template arguments or parameters, which tell of types rather than of work.
static struct str head_of(struct str kernel)
{
    struct str anonymous = STR("(anonymous");
    for (size_t i = 0; i < kernel.len; i++) {
        struct str rest = {kernel.at + i, kernel.len - i};
        if (rest.at[0] == '<' || (rest.at[0] == '(' && !str_starts_with(rest, anonymous)))
            return (struct str){kernel.at, i};
    }
    return kernel;
}

enum category category_of_kernel(struct str kernel)
{
    size_t count = sizeof kernel_rules / sizeof *kernel_rules;
    struct str front = front_of(kernel);
    enum category category = first_match(kernel_rules, count, head_of(front));
    return category ? category : first_match(kernel_rules, count, front);
}

const char *category_word(enum category category)
{
    static const char *const words[CATEGORY_COUNT] = {
        [CATEGORY_NONE] = "undecided",
        [CATEGORY_GEMM] = "GEMM",
        [CATEGORY_ATTENTION] = "attention",
        [CATEGORY_CONVOLUTION] = "convolution",
        [CATEGORY_NORMALIZATION] = "normalization",
        [CATEGORY_ELEMENTWISE] = "elementwise",
        [CATEGORY_REDUCTION] = "reduction",
        [CATEGORY_EMBEDDING] = "embedding/indexing",
        [CATEGORY_OPTIMIZER] = "optimizer",
        [CATEGORY_MOE] = "MoE",
        [CATEGORY_TRITON] = "triton-fused",
        [CATEGORY_OTHER] = "other",
        [CATEGORY_COMMUNICATION] = "communication",
        [CATEGORY_COPY] = "copy",
        [CATEGORY_FILL] = "fill",
    };
    return words[category];
}

const char *category_bar_word(enum bar bar)
{
    static const char *const words[BAR_COUNT] = {
        [BAR_GEMM] = "gemm",
        [BAR_ATTENTION] = "attention",
        [BAR_OTHER_COMPUTE] = "other_compute",
        [BAR_EXPOSED_COMM] = "exposed_comm",
        [BAR_EXPOSED_MEMORY] = "exposed_memory",
        [BAR_IDLE_HOST_WAIT] = "idle_host_wait",
        [BAR_IDLE_OTHER] = "idle_other",
    };
    return words[bar];
}

enum bar category_bar(enum device_class class, enum category category)
{
    if (class == CLASS_COMMUNICATION)
        return BAR_EXPOSED_COMM;
    if (class == CLASS_MEMORY)
        return BAR_EXPOSED_MEMORY;
    switch (category) {
    case CATEGORY_GEMM: return BAR_GEMM;
    case CATEGORY_ATTENTION: return BAR_ATTENTION;
    default: return BAR_OTHER_COMPUTE;
    }
}
