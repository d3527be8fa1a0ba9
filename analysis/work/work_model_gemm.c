// SPDX-License-Identifier: Apache-2.0
// Matrix products: 2 M N K operations, and each matrix transferred once.
#include "analysis/work/work_models.h"

#include <inttypes.h>
#include <stdio.h>

enum form {
    FORM_MM,      // [M,K] [K,N]
    FORM_LINEAR,  // [*,K] [N,K]: weights as stored by PyTorch
    FORM_SWAPPED, // [N,K] [*,K]: same with the weights first
    FORM_BMM,     // [B,M,K] [B,K,N]
    FORM_MV,      // [M,K] [K]
    FORM_DOT,     // [K] [K]
    FORM_MATMUL,  // any of these, by the ranks
};

enum output { OUTPUT_AS_INPUT, OUTPUT_INT32, OUTPUT_CHOSEN };

struct gemm {
    const char *op;
    enum form form;
    int8_t a, b;
    int8_t bias, beta; // -1: none
    enum output output;
    int8_t out_dtype; // position of the output's type where one is given, -1: not among the inputs
};

// Positions follow the operators' schemas; those of vendors' operators their libraries'.
static const struct gemm gemms[] = {
    {"aten::mm", FORM_MM, 0, 1, -1, -1, OUTPUT_AS_INPUT, 2},
    {"aten::addmm", FORM_MM, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::addmm_", FORM_MM, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::_addmm_activation", FORM_MM, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::bmm", FORM_BMM, 0, 1, -1, -1, OUTPUT_AS_INPUT, 2},
    {"aten::baddbmm", FORM_BMM, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::baddbmm_", FORM_BMM, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::mv", FORM_MV, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"aten::addmv", FORM_MV, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::addmv_", FORM_MV, 1, 2, 0, 3, OUTPUT_AS_INPUT, -1},
    {"aten::dot", FORM_DOT, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"aten::vdot", FORM_DOT, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"aten::matmul", FORM_MATMUL, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"aten::linear", FORM_LINEAR, 0, 1, 2, -1, OUTPUT_AS_INPUT, -1},
    {"aten::_int_mm", FORM_MM, 0, 1, -1, -1, OUTPUT_INT32, -1},
    {"aten::_scaled_mm", FORM_MM, 0, 1, 4, -1, OUTPUT_CHOSEN, 6},
    {"trtllm::cublas_scaled_mm", FORM_MM, 0, 1, 4, -1, OUTPUT_CHOSEN, 5},
    {"bitsandbytes::int8_linear_matmul", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_INT32, -1},
    {"_C::cutlass_scaled_mm", FORM_MM, 1, 2, 5, -1, OUTPUT_CHOSEN, -1},
    {"vllm::rocm_unquantized_gemm", FORM_LINEAR, 0, 1, 2, -1, OUTPUT_AS_INPUT, -1},
    {"vllm::rocm_unquantized_gemm_impl", FORM_LINEAR, 0, 1, 2, -1, OUTPUT_AS_INPUT, -1},
    {"_rocm_C::wvSplitK", FORM_SWAPPED, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"_rocm_C::LLMM1", FORM_SWAPPED, 0, 1, -1, -1, OUTPUT_AS_INPUT, -1},
    {"aiter::gemm_a8w8", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a8w8_ck", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a8w8_CK", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a8w8_bpreshuffle", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a8w8_blockscale", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a8w8_blockscale_ck", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::gemm_a4w4", FORM_LINEAR, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
    {"aiter::hipb_mm", FORM_MM, 0, 1, -1, -1, OUTPUT_CHOSEN, -1},
};

// Of PyTorch 2.1 to 2.4: the type is where the second scale is now, before both scales.
static const struct gemm older_scaled = {"aten::_scaled_mm", FORM_MM, 0, 1, 2, -1,
                                         OUTPUT_CHOSEN,      3};

// NULL if it is none.
static const struct gemm *gemm_of(struct str op, const struct arg_list *args)
{
    if (str_equal(op, str_of(older_scaled.op)) && !op_args_tensor(args, older_scaled.out_dtype))
        return &older_scaled;
    for (size_t i = 0; i < sizeof gemms / sizeof *gemms; i++)
        if (str_equal(op, str_of(gemms[i].op)))
            return &gemms[i];
    return NULL;
}

struct product {
    int64_t batch, m, n, k;
};

static bool fits(const struct op_arg *a, const struct op_arg *b)
{
    return a->rank >= 1 && b->rank >= 1 && a->rank <= OP_ARGS_MAX_RANK &&
           b->rank <= OP_ARGS_MAX_RANK;
}

// The last dimension is K, all before it are M.
static void collapse(const struct op_arg *a, struct product *product)
{
    product->m = work_product(a, 0, a->rank - 1);
    product->k = a->dims[a->rank - 1];
}

static bool multiply_weights(const struct op_arg *a, const struct op_arg *weights,
                             struct product *product)
{
    collapse(a, product);
    product->n = weights->rank == 2 ? weights->dims[0] : 1;
    return weights->rank <= 2 && weights->dims[weights->rank - 1] == product->k;
}

static bool multiply_matrix(const struct op_arg *a, const struct op_arg *b, struct product *product)
{
    collapse(a, product);
    product->n = b->rank == 2 ? b->dims[1] : 1;
    return b->rank <= 2 && b->dims[0] == product->k;
}

static bool multiply_batch(const struct op_arg *a, const struct op_arg *b, struct product *product)
{
    uint32_t rank = a->rank;
    if (rank < 3 || rank != b->rank)
        return false;
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    product->batch = work_product(a, 0, rank - 2);
    product->m = a->dims[rank - 2];
    product->k = a->dims[rank - 1];
    product->n = b->dims[rank - 1];
    return b->dims[rank - 2] == product->k;
}

static bool multiply(enum form form, const struct op_arg *a, const struct op_arg *b,
                     struct product *product)
{
    *product = (struct product){.batch = 1};
    if (!fits(a, b))
        return false;
    switch (form) {
    case FORM_MM: return a->rank == 2 && b->rank == 2 && multiply_matrix(a, b, product);
    case FORM_MV: return a->rank == 2 && b->rank == 1 && multiply_matrix(a, b, product);
    case FORM_DOT: return a->rank == 1 && b->rank == 1 && multiply_matrix(a, b, product);
    case FORM_LINEAR: return multiply_weights(a, b, product);
    case FORM_SWAPPED: return multiply_weights(b, a, product);
    case FORM_BMM: return multiply_batch(a, b, product);
    case FORM_MATMUL:
        return b->rank <= 2 ? multiply_matrix(a, b, product) : multiply_batch(a, b, product);
    }
    return false;
}

static enum dtype output_type(const struct gemm *gemm, const struct arg_list *args,
                              struct work *work)
{
    int64_t number;
    if (gemm->output == OUTPUT_INT32)
        return DTYPE_INT32;
    if (op_args_int(args, gemm->out_dtype, &number) && dtype_of_number(number) != DTYPE_UNKNOWN)
        return dtype_of_number(number);
    if (gemm->output == OUTPUT_AS_INPUT)
        return args->args[gemm->a].dtype;
    work->note = "the type of the output was not recorded: assumed to be 2 bytes per element";
    return DTYPE_BF16;
}

// An element holds two values of a narrow type.
static int64_t values(int64_t k, enum dtype dtype)
{
    return dtype == DTYPE_FP4 ? count_mul(k, 2) : k;
}

static const struct op_arg *bias_of(const struct gemm *gemm, const struct arg_list *args)
{
    if (gemm->beta >= 0 && op_args_is_zero(args, gemm->beta))
        return NULL;
    return op_args_tensor(args, gemm->bias);
}

static void describe(const struct product *p, int64_t k, struct work *work)
{
    int len = 0;
    if (p->batch != 1)
        len = snprintf(work->problem, sizeof work->problem, "B=%" PRId64 " ", p->batch);
    snprintf(work->problem + len, sizeof work->problem - (size_t)len,
             "M=%" PRId64 " N=%" PRId64 " K=%" PRId64, p->m, p->n, k);
}

static void fill(const struct gemm *gemm, const struct arg_list *args, const struct product *p,
                 struct work *work)
{
    const struct op_arg *a = &args->args[gemm->a], *b = &args->args[gemm->b];
    const struct op_arg *bias = bias_of(gemm, args);
    int64_t k = values(p->k, a->dtype), outputs = count_mul(p->batch, count_mul(p->m, p->n));
    work->precision = dtype_precision(a->dtype);
    work->flops = count_mul(2, count_mul(outputs, k));
    work->bytes = count_add(count_add(op_arg_bytes(a), op_arg_bytes(b)),
                            work_bytes(outputs, output_type(gemm, args, work)));
    if (bias) {
        work->flops = count_add(work->flops, outputs);
        work->bytes = count_add(work->bytes, op_arg_bytes(bias));
    }
    describe(p, k, work);
}

// --- grouped products ----------------------------------------------------------------------------

struct grouped {
    const char *op;
    int8_t offsets, out_dtype;
    enum output output;
};

static const struct grouped groupeds[] = {
    {"aten::_grouped_mm", 2, 4, OUTPUT_AS_INPUT},
    {"aten::_scaled_grouped_mm", 4, 7, OUTPUT_CHOSEN},
};

// Which of the two is a stack of matrices determines the dimension cut by the offsets: rows,
// columns, or K if neither is; then each group has its own output.
static bool multiply_groups(const struct op_arg *a, const struct op_arg *b, int64_t groups,
                            struct product *p, int64_t *outputs)
{
    if (!fits(a, b) || a->rank < 2 || a->rank > 3 || b->rank < 2 || b->rank > 3)
        return false;
    *p = (struct product){1, a->dims[a->rank - 2], b->dims[b->rank - 1], a->dims[a->rank - 1]};
    if (b->dims[b->rank - 2] != p->k || (a->rank == 3 && b->rank == 3 && a->dims[0] != b->dims[0]))
        return false;
    if (a->rank == 3 && b->rank == 3)
        p->batch = a->dims[0];
    *outputs = count_mul(p->batch, count_mul(p->m, p->n));
    if (a->rank == 2 && b->rank == 2)
        *outputs = count_mul(*outputs, groups);
    return true;
}

static void fill_grouped(const struct grouped *grouped, const struct arg_list *args,
                         struct work *work)
{
    const struct op_arg *a = op_args_tensor(args, 0), *b = op_args_tensor(args, 1);
    const struct op_arg *offsets = op_args_tensor(args, grouped->offsets);
    struct gemm like = {.output = grouped->output, .out_dtype = grouped->out_dtype};
    struct product p;
    int64_t outputs;
    int64_t groups = offsets && offsets->rank == 1 ? offsets->dims[0] : COUNT_UNKNOWN;
    if (!a || !b || !multiply_groups(a, b, groups, &p, &outputs)) {
        work->note = work_note_shapes;
        return;
    }
    int64_t k = values(p.k, a->dtype);
    work->precision = dtype_precision(a->dtype);
    work->flops = count_mul(2, count_mul(p.batch, count_mul(p.m, count_mul(p.n, k))));
    work->bytes = count_add(count_add(op_arg_bytes(a), op_arg_bytes(b)),
                            work_bytes(outputs, output_type(&like, args, work)));
    if (offsets)
        work->note = "assumes that the groups cover all rows of the inputs";
    describe(&p, k, work);
}

bool work_gemm(struct str op, const struct arg_list *args, struct work *work)
{
    for (size_t i = 0; i < sizeof groupeds / sizeof *groupeds; i++)
        if (str_equal(op, str_of(groupeds[i].op))) {
            work->kind = WORK_GEMM;
            fill_grouped(&groupeds[i], args, work);
            return true;
        }
    const struct gemm *gemm = gemm_of(op, args);
    if (!gemm)
        return false;
    struct product product;
    const struct op_arg *a = op_args_tensor(args, gemm->a), *b = op_args_tensor(args, gemm->b);
    work->kind = WORK_GEMM;
    if (a && b && multiply(gemm->form, a, b, &product))
        fill(gemm, args, &product, work);
    else
        work->note = work_note_shapes;
    return true;
}
