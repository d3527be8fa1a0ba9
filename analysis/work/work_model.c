// SPDX-License-Identifier: Apache-2.0
// Chooses an operator's family of formulas, and has what the families share.
#include "analysis/work/work_model.h"

#include "analysis/names/category.h"
#include "analysis/work/work_models.h"

const char work_note_shapes[] = "the shapes of its inputs do not fit together";
const char work_note_concrete[] =
    "an input value that the formula needs was not recorded or is unexpected";

int64_t work_bytes(int64_t elements, enum dtype dtype)
{
    int64_t bytes = dtype_bytes(dtype);
    return bytes ? count_mul(elements, bytes) : COUNT_UNKNOWN;
}

int64_t work_tensor_bytes(const struct arg_list *args, int index)
{
    const struct op_arg *tensor = op_args_tensor(args, index);
    return tensor ? op_arg_bytes(tensor) : 0;
}

int64_t work_distinct_bytes(const struct op_arg *arg)
{
    int64_t elements = 1;
    if (arg->kind != OP_ARG_TENSOR || !arg->has_strides)
        return op_arg_bytes(arg);
    for (uint32_t i = 0; i < arg->rank; i++)
        elements = count_mul(elements, arg->strides[i] || !arg->dims[i] ? arg->dims[i] : 1);
    return work_bytes(elements, arg->dtype);
}

int64_t work_product(const struct op_arg *arg, uint32_t from, uint32_t to)
{
    int64_t product = 1;
    for (uint32_t i = from; i < to; i++)
        product = count_mul(product, arg->dims[i]);
    return product;
}

// For an operator without formulas: as much as its category shows.
static enum work_kind kind_of(struct str op)
{
    switch (category_of_op(op)) {
    case CATEGORY_GEMM: return WORK_GEMM;
    case CATEGORY_ATTENTION:
        return str_contains_nocase(op, STR("backward")) || str_contains_nocase(op, STR("bwd"))
                   ? WORK_ATTENTION_BACKWARD
                   : WORK_ATTENTION_FORWARD;
    case CATEGORY_CONVOLUTION:
        return str_contains_nocase(op, STR("backward")) ? WORK_CONV_BACKWARD : WORK_CONV_FORWARD;
    case CATEGORY_NORMALIZATION:
        return str_contains_nocase(op, STR("softmax")) ? WORK_SOFTMAX : WORK_NORM;
    case CATEGORY_ELEMENTWISE: return WORK_ELEMENTWISE;
    case CATEGORY_REDUCTION: return WORK_REDUCTION;
    case CATEGORY_EMBEDDING: return WORK_EMBEDDING;
    case CATEGORY_TRITON: return WORK_TRITON;
    default: return WORK_OTHER;
    }
}

static bool find_family(struct str op, const struct arg_list *args, struct work *work)
{
    static work_family *const families[] = {work_gemm,      work_attention, work_conv,
                                            work_reduction, work_norm,      work_embedding,
                                            work_pointwise, work_triton,    work_serving};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i](op, args, work))
            return true;
    return false;
}

void work_model(struct str op, const struct arg_list *args, struct work *work)
{
    *work = (struct work){.flops = COUNT_UNKNOWN, .bytes = COUNT_UNKNOWN};
    if (args->problem) {
        work->kind = kind_of(op);
        work->note = args->problem;
        return;
    }
    if (!find_family(op, args, work)) {
        work->kind = kind_of(op);
        work->note = "there is no formula for this operator";
        return;
    }
    bool missing =
        !count_known(work->bytes) || (work_kind_has_flops(work->kind) && !count_known(work->flops));
    if (missing && !work->note)
        work->note = "an element type of its inputs is unknown, or a figure is past 63 bits";
}

const char *work_kind_word(enum work_kind kind)
{
    static const char *const words[WORK_KIND_COUNT] = {
        "other",        "gemm",          "attention_forward", "attention_backward",
        "conv_forward", "conv_backward", "elementwise",       "reduction",
        "norm",         "softmax",       "embedding",         "triton",
    };
    return words[kind];
}

bool work_kind_has_flops(enum work_kind kind)
{
    return kind >= WORK_GEMM && kind <= WORK_CONV_BACKWARD;
}
