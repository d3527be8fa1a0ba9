// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, softmax, copies and fills: every input read once, the output written once.
#include "analysis/work/work_models.h"

enum output { OUTPUT_PROMOTED, OUTPUT_FLOATING, OUTPUT_FIRST, OUTPUT_BOOL, OUTPUT_GIVEN };

#define GIVEN_DTYPE 3 // position of the type for OUTPUT_GIVEN

struct pointwise {
    const char *op; // without "aten::" and the "_" of the in-place form
    int8_t inputs;  // leading arguments that may be tensors
    enum output output;
    int8_t choice; // arguments before this one select; they do not affect the output's type
    enum work_kind kind;
};

#define UNARY(op)                                   \
    {                                               \
        op, 1, OUTPUT_PROMOTED, 0, WORK_ELEMENTWISE \
    }
#define FLOATING(op)                                \
    {                                               \
        op, 1, OUTPUT_FLOATING, 0, WORK_ELEMENTWISE \
    }
#define BINARY(op)                                  \
    {                                               \
        op, 2, OUTPUT_PROMOTED, 0, WORK_ELEMENTWISE \
    }
#define TERNARY(op)                                 \
    {                                               \
        op, 3, OUTPUT_PROMOTED, 0, WORK_ELEMENTWISE \
    }
#define COMPARE(op)                             \
    {                                           \
        op, 2, OUTPUT_BOOL, 0, WORK_ELEMENTWISE \
    }

static const struct pointwise pointwises[] = {
    UNARY("abs"),
    UNARY("neg"),
    UNARY("relu"),
    UNARY("gelu"),
    UNARY("silu"),
    UNARY("mish"),
    UNARY("hardtanh"),
    UNARY("hardswish"),
    UNARY("hardsigmoid"),
    UNARY("leaky_relu"),
    UNARY("elu"),
    UNARY("softplus"),
    UNARY("square"),
    UNARY("ceil"),
    UNARY("floor"),
    UNARY("round"),
    UNARY("trunc"),
    UNARY("sign"),
    UNARY("nan_to_num"),
    UNARY("bitwise_not"),
    UNARY("threshold"),
    UNARY("cumsum"),
    UNARY("cumprod"),
    UNARY("tril"),
    UNARY("triu"),
    UNARY("roll"),
    UNARY("flip"),
    UNARY("log_sigmoid_forward"),
    FLOATING("exp"),
    FLOATING("exp2"),
    FLOATING("expm1"),
    FLOATING("log"),
    FLOATING("log2"),
    FLOATING("log10"),
    FLOATING("log1p"),
    FLOATING("sqrt"),
    FLOATING("rsqrt"),
    FLOATING("sin"),
    FLOATING("cos"),
    FLOATING("tan"),
    FLOATING("tanh"),
    FLOATING("sigmoid"),
    FLOATING("logit"),
    FLOATING("erf"),
    FLOATING("reciprocal"),
    BINARY("add"),
    BINARY("sub"),
    BINARY("rsub"),
    BINARY("mul"),
    BINARY("pow"),
    BINARY("remainder"),
    BINARY("fmod"),
    BINARY("floor_divide"),
    BINARY("maximum"),
    BINARY("minimum"),
    BINARY("bitwise_and"),
    BINARY("bitwise_or"),
    BINARY("bitwise_xor"),
    BINARY("clamp_min"),
    BINARY("clamp_max"),
    BINARY("threshold_backward"),
    BINARY("gelu_backward"),
    BINARY("silu_backward"),
    BINARY("sigmoid_backward"),
    BINARY("tanh_backward"),
    BINARY("logit_backward"),
    BINARY("hardtanh_backward"),
    BINARY("hardswish_backward"),
    BINARY("leaky_relu_backward"),
    BINARY("softplus_backward"),
    {"div", 2, OUTPUT_FLOATING, 0, WORK_ELEMENTWISE},
    {"atan2", 2, OUTPUT_FLOATING, 0, WORK_ELEMENTWISE},
    TERNARY("clamp"),
    TERNARY("lerp"),
    TERNARY("addcmul"),
    TERNARY("addcdiv"),
    TERNARY("mse_loss_backward"),
    {"where", 3, OUTPUT_PROMOTED, 1, WORK_ELEMENTWISE},
    {"masked_fill", 2, OUTPUT_FIRST, 0, WORK_ELEMENTWISE},
    COMPARE("eq"),
    COMPARE("ne"),
    COMPARE("lt"),
    COMPARE("le"),
    COMPARE("gt"),
    COMPARE("ge"),
    COMPARE("logical_and"),
    COMPARE("logical_or"),
    COMPARE("logical_xor"),
    {"logical_not", 1, OUTPUT_BOOL, 0, WORK_ELEMENTWISE},
    {"isnan", 1, OUTPUT_BOOL, 0, WORK_ELEMENTWISE},
    {"isinf", 1, OUTPUT_BOOL, 0, WORK_ELEMENTWISE},
    {"isfinite", 1, OUTPUT_BOOL, 0, WORK_ELEMENTWISE},
    {"_softmax_backward_data", 2, OUTPUT_GIVEN, 0, WORK_SOFTMAX},
    {"_log_softmax_backward_data", 2, OUTPUT_GIVEN, 0, WORK_SOFTMAX},
};

// Only written, whatever else is passed.
static const char *const fills[] = {"fill",   "zero",      "normal",      "uniform",
                                    "random", "bernoulli", "exponential", "zeros_like"};

struct shape {
    uint32_t rank;
    int64_t dims[OP_ARGS_MAX_RANK];
};

// Widens *shape by broadcasting it with the tensor; dimensions count from the last.
static bool broadcast(const struct op_arg *tensor, struct shape *shape)
{
    uint32_t rank = tensor->rank > shape->rank ? tensor->rank : shape->rank;
    if (rank > OP_ARGS_MAX_RANK)
        return false;
    struct shape wide = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++) { // i-th from the last
        int64_t a = i < shape->rank ? shape->dims[shape->rank - 1 - i] : 1;
        int64_t b = i < tensor->rank ? tensor->dims[tensor->rank - 1 - i] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        wide.dims[rank - 1 - i] = a == 1 ? b : a;
    }
    *shape = wide;
    return true;
}

static int64_t elements_of(const struct shape *shape)
{
    int64_t elements = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        elements = count_mul(elements, shape->dims[i]);
    return elements;
}

// A single number next to a tensor of the same category does not widen its type.
static enum dtype join(enum dtype type, uint32_t rank, const struct op_arg *tensor)
{
    bool same = dtype_is_floating(type) == dtype_is_floating(tensor->dtype);
    if (type == DTYPE_UNKNOWN || tensor->dtype == DTYPE_UNKNOWN)
        return DTYPE_UNKNOWN;
    if (same && (rank == 0) != (tensor->rank == 0))
        return rank == 0 ? tensor->dtype : type;
    return dtype_promote(type, tensor->dtype);
}

struct inputs {
    int64_t bytes;
    struct shape shape;
    enum dtype type;
    bool any, fit, typed;
};

static void add_input(const struct op_arg *tensor, bool counts, struct inputs *inputs)
{
    uint32_t rank = inputs->shape.rank;
    inputs->bytes = count_add(inputs->bytes, work_distinct_bytes(tensor));
    inputs->fit = inputs->fit && broadcast(tensor, &inputs->shape);
    inputs->any = true;
    if (!counts)
        return;
    inputs->type = inputs->typed ? join(inputs->type, rank, tensor) : tensor->dtype;
    inputs->typed = true;
}

static enum dtype output_type(const struct pointwise *form, const struct arg_list *args,
                              const struct inputs *inputs)
{
    int64_t number;
    enum dtype given = DTYPE_UNKNOWN;
    switch (form->output) {
    case OUTPUT_BOOL: return DTYPE_BOOL;
    case OUTPUT_GIVEN:
        if (op_args_int(args, GIVEN_DTYPE, &number))
            given = dtype_of_number(number);
        return given == DTYPE_UNKNOWN ? inputs->type : given;
    case OUTPUT_FIRST: return args->args[0].dtype;
    case OUTPUT_FLOATING:
        return inputs->type == DTYPE_UNKNOWN || dtype_is_floating(inputs->type) ? inputs->type
                                                                                : DTYPE_FP32;
    case OUTPUT_PROMOTED: break;
    }
    return inputs->type;
}

static void fill(const struct pointwise *form, bool in_place, const struct arg_list *args,
                 struct work *work)
{
    struct inputs inputs = {.fit = true};
    for (int i = 0; i < form->inputs; i++)
        if (op_args_tensor(args, i))
            add_input(&args->args[i], i >= form->choice, &inputs);
    work->kind = form->kind;
    if (!inputs.any || !inputs.fit) {
        work->note = work_note_shapes;
        return;
    }
    int64_t written =
        in_place ? work_distinct_bytes(&args->args[0])
                 : work_bytes(elements_of(&inputs.shape), output_type(form, args, &inputs));
    work->bytes = count_add(inputs.bytes, written);
}

// aten::_softmax(self, dim, half_to_float) and its logarithm.
static void fill_softmax(const struct arg_list *args, struct work *work)
{
    const struct op_arg *in = op_args_tensor(args, 0);
    bool widens = false;
    work->kind = WORK_SOFTMAX;
    if (!in) {
        work->note = work_note_shapes;
        return;
    }
    if (!op_args_bool(args, 2, &widens))
        work->note = "conversion to fp32 was not recorded: assumed not";
    work->bytes = count_add(work_distinct_bytes(in),
                            work_bytes(in->elements, widens ? DTYPE_FP32 : in->dtype));
}

static void fill_copy(const struct arg_list *args, struct work *work)
{
    const struct op_arg *to = op_args_tensor(args, 0), *from = op_args_tensor(args, 1);
    work->kind = WORK_ELEMENTWISE;
    if (to && from)
        work->bytes = count_add(work_distinct_bytes(to), work_distinct_bytes(from));
    else
        work->note = work_note_shapes;
}

static void fill_written(const struct arg_list *args, struct work *work)
{
    const struct op_arg *to = op_args_tensor(args, 0);
    work->kind = WORK_ELEMENTWISE;
    if (to)
        work->bytes = op_arg_bytes(to);
    else
        work->note = work_note_shapes;
}

// aten::cat(tensors, dim) and aten::stack: all of them are read and written.
static void fill_joined(const struct arg_list *args, struct work *work)
{
    work->kind = WORK_ELEMENTWISE;
    if (args->count && args->args[0].kind == OP_ARG_TENSORS)
        work->bytes = count_mul(2, op_arg_bytes(&args->args[0]));
    if (!count_known(work->bytes))
        work->note = "the element type of the list was not recorded";
}

// "aten::add_" -> "add", in place.
static bool base_name(struct str op, struct str *name, bool *in_place)
{
    if (!str_starts_with(op, STR("aten::")))
        return false;
    *name = (struct str){op.at + 6, op.len - 6};
    *in_place = name->len > 1 && name->at[name->len - 1] == '_';
    name->len -= *in_place;
    return true;
}

bool work_pointwise(struct str op, const struct arg_list *args, struct work *work)
{
    struct str name;
    bool in_place;
    if (!base_name(op, &name, &in_place))
        return false;
    if (str_equal(name, STR("copy"))) {
        fill_copy(args, work);
        return true;
    }
    if (str_equal(name, STR("cat")) || str_equal(name, STR("stack"))) {
        fill_joined(args, work);
        return true;
    }
    if (str_equal(name, STR("_softmax")) || str_equal(name, STR("_log_softmax"))) {
        fill_softmax(args, work);
        return true;
    }
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (str_equal(name, str_of(fills[i]))) {
            fill_written(args, work);
            return true;
        }
    for (size_t i = 0; i < sizeof pointwises / sizeof *pointwises; i++)
        if (str_equal(name, str_of(pointwises[i].op))) {
            fill(&pointwises[i], in_place, args, work);
            return true;
        }
    return false;
}

// Kernels of torch.compile: the tensors among their arguments, each read or written. Which ones are
// both is not recorded.
bool work_triton(struct str op, const struct arg_list *args, struct work *work)
{
    int64_t bytes = 0;
    bool any = false;
    if (!str_starts_with(op, STR("triton_")) || str_starts_with(op, STR("triton_tem_")))
        return false; // templates are products and attention, of which the shapes say nothing
    work->kind = WORK_TRITON;
    for (uint32_t i = 0; i < args->count; i++) {
        if (args->args[i].kind == OP_ARG_OTHER)
            continue;
        bytes = count_add(bytes, work_distinct_bytes(&args->args[i]));
        any = true;
    }
    if (any)
        work->bytes = bytes;
    else
        work->note = work_note_shapes;
    return true;
}
