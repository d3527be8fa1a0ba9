// SPDX-License-Identifier: Apache-2.0
// Reductions: the input read once, the remaining output written once.
#include "analysis/work/work_models.h"

enum output { OUTPUT_SAME, OUTPUT_SUM, OUTPUT_BOOL, OUTPUT_INT64 };

struct reduction {
    const char *op;
    uint32_t whole_below; // with fewer arguments than this, all dimensions are reduced
    int8_t dim;           // position of the dimension or the list of them
    int8_t dtype;         // position of the requested type, -1: none
    int8_t whole_dtype;   // same if all dimensions are reduced
    enum output output;
    int8_t results; // tensors of that size, of the output's type
    bool indices;   // and one of int64, if along a dimension
};

// Positions follow the operators' schemas.
static const struct reduction reductions[] = {
    {"aten::sum", 3, 1, 3, 1, OUTPUT_SUM, 1, false},
    {"aten::nansum", 3, 1, 3, 1, OUTPUT_SUM, 1, false},
    {"aten::mean", 3, 1, 3, 1, OUTPUT_SAME, 1, false},
    {"aten::prod", 3, 1, 3, 1, OUTPUT_SUM, 1, false},
    {"aten::amax", 1, 1, -1, -1, OUTPUT_SAME, 1, false},
    {"aten::amin", 1, 1, -1, -1, OUTPUT_SAME, 1, false},
    {"aten::max", 2, 1, -1, -1, OUTPUT_SAME, 1, true},
    {"aten::min", 2, 1, -1, -1, OUTPUT_SAME, 1, true},
    {"aten::argmax", 1, 1, -1, -1, OUTPUT_INT64, 1, false},
    {"aten::argmin", 1, 1, -1, -1, OUTPUT_INT64, 1, false},
    {"aten::all", 2, 1, -1, -1, OUTPUT_BOOL, 1, false},
    {"aten::any", 2, 1, -1, -1, OUTPUT_BOOL, 1, false},
    {"aten::norm", 3, 2, 4, 2, OUTPUT_SAME, 1, false},
    {"aten::linalg_vector_norm", 1, 2, 4, 4, OUTPUT_SAME, 1, false},
    {"aten::logsumexp", 1, 1, -1, -1, OUTPUT_SAME, 1, false},
    {"aten::var", 3, 1, -1, -1, OUTPUT_SAME, 1, false},
    {"aten::std", 3, 1, -1, -1, OUTPUT_SAME, 1, false},
    {"aten::var_mean", 3, 1, -1, -1, OUTPUT_SAME, 2, false},
    {"aten::std_mean", 3, 1, -1, -1, OUTPUT_SAME, 2, false},
};

// The dimensions reduced, as a set; all of them if none or an empty list is given.
static bool read_dims(const struct arg_list *args, int index, uint32_t rank, uint32_t *set)
{
    int64_t dims[OP_ARGS_MAX_RANK];
    uint32_t count = 0;
    *set = 0;
    if (op_args_is_none(args, index)) {
        *set = UINT32_MAX;
        return true;
    }
    if (op_args_int(args, index, dims))
        count = 1;
    else if (!op_args_ints(args, index, dims, OP_ARGS_MAX_RANK, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t dim = dims[i] < 0 ? dims[i] + (int64_t)rank : dims[i];
        if (dim < 0 || dim >= (int64_t)(rank ? rank : 1))
            return false;
        *set |= (uint32_t)1 << dim;
    }
    *set = count ? *set : UINT32_MAX;
    return true;
}

static int64_t count_left(const struct op_arg *in, uint32_t reduced)
{
    int64_t left = 1;
    for (uint32_t i = 0; i < in->rank; i++)
        left = count_mul(left, reduced >> i & 1 ? 1 : in->dims[i]);
    return left;
}

static enum dtype output_type(const struct reduction *form, const struct arg_list *args, bool whole,
                              enum dtype in)
{
    int64_t number;
    if (op_args_int(args, whole ? form->whole_dtype : form->dtype, &number))
        return dtype_of_number(number);
    switch (form->output) {
    case OUTPUT_SUM: return dtype_is_floating(in) || in == DTYPE_UNKNOWN ? in : DTYPE_INT64;
    case OUTPUT_BOOL: return DTYPE_BOOL;
    case OUTPUT_INT64: return DTYPE_INT64;
    case OUTPUT_SAME: break;
    }
    return in;
}

static void fill(const struct reduction *form, const struct arg_list *args, struct work *work)
{
    const struct op_arg *in = op_args_tensor(args, 0);
    bool whole = args->count < form->whole_below;
    uint32_t reduced = UINT32_MAX;
    work->kind = WORK_REDUCTION;
    if (!in || in->rank > OP_ARGS_MAX_RANK) {
        work->note = work_note_shapes;
        return;
    }
    if (!whole && !read_dims(args, form->dim, in->rank, &reduced)) {
        work->note = work_note_concrete;
        return;
    }
    int64_t left = count_left(in, reduced);
    enum dtype type = output_type(form, args, whole, in->dtype);
    work->bytes =
        count_add(work_distinct_bytes(in), work_bytes(count_mul(left, form->results), type));
    if (form->indices && !whole)
        work->bytes = count_add(work->bytes, work_bytes(left, DTYPE_INT64));
}

bool work_reduction(struct str op, const struct arg_list *args, struct work *work)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        const struct reduction *form = &reductions[i];
        if (!str_equal(op, str_of(form->op)))
            continue;
        // max(self, other) compares two tensors.
        if (form->indices && op_args_tensor(args, 1)) {
            work->note = "there is no formula for this form of the operator";
            work->kind = WORK_ELEMENTWISE;
        } else {
            fill(form, args, work);
        }
        return true;
    }
    return false;
}
