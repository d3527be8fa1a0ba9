// SPDX-License-Identifier: Apache-2.0
// The program of a row of the ledger: its inputs, the call, and how long the device takes for it.
#include "analysis/compare/parity_code.h"

#include <inttypes.h>

enum { MOST_NAME = 96, MOST_PIECES = 4096, MOST_SPREAD = 64 };

// How to call an operator whose other arguments are not recorded. $0 is the first argument.
struct recipe {
    const char *op, *setup, *call;
    const char *assumed; // the value used for what is not recorded
};

#define ATTENTION "torch.nn.functional.scaled_dot_product_attention"
#define PLAIN     "without a mask, dropout or causality"
#define LAST_DIM  "over the last dimension"

static const struct recipe recipes[] = {
    {"aten::scaled_dot_product_attention", NULL, ATTENTION "($0, $1, $2)", PLAIN},
    {"aten::scaled_dot_product_attention_backward",
     "qkv = [x.detach().requires_grad_() for x in ($1, $2, $3)]\n"
     "out = " ATTENTION "(*qkv)\n",
     "torch.autograd.grad(out, qkv, $0, retain_graph=True)", PLAIN},
    {"aten::native_layer_norm", NULL, "torch.nn.functional.layer_norm($0, $2.shape, $2, $3)", NULL},
    {"aten::layer_norm", NULL, "torch.nn.functional.layer_norm($0, $2.shape, $2, $3)", NULL},
    {"aten::native_layer_norm_backward", NULL,
     "torch.ops.aten.native_layer_norm_backward($0, $1, list($5.shape), $3, $4, $5, $6,"
     " [True, True, True])",
     NULL},
    {"aten::_softmax", NULL, "torch.softmax($0, -1)", LAST_DIM},
    {"aten::softmax", NULL, "torch.softmax($0, -1)", LAST_DIM},
    {"aten::_log_softmax", NULL, "torch.log_softmax($0, -1)", LAST_DIM},
    {"aten::_softmax_backward_data", NULL,
     "torch.ops.aten._softmax_backward_data($0, $1, -1, $0.dtype)", LAST_DIM},
    {"aten::_log_softmax_backward_data", NULL,
     "torch.ops.aten._log_softmax_backward_data($0, $1, -1, $0.dtype)", LAST_DIM},
    {"aten::sum", NULL, "torch.sum($0, -1)", LAST_DIM},
    {"aten::mean", NULL, "torch.mean($0, -1)", LAST_DIM},
    {"aten::cumsum", NULL, "torch.cumsum($0, -1)", LAST_DIM},
    {"aten::argmax", NULL, "torch.argmax($0, -1)", LAST_DIM},
    {"aten::native_dropout", NULL, "torch.ops.aten.native_dropout($0, 0.1, True)", "a tenth"},
    {"aten::threshold_backward", NULL, "torch.ops.aten.threshold_backward($0, $1, 0)", NULL},
    {"aten::masked_fill", NULL, "torch.masked_fill($0, $1, 0)", NULL},
    {"aten::masked_fill_", NULL, "$0.masked_fill_($1, 0)", NULL},
    {"aten::fill_", NULL, "$0.fill_(1)", NULL},
    {"aten::clamp", NULL, "torch.clamp($0, -1, 1)", NULL},
    {"aten::clamp_min", NULL, "torch.clamp_min($0, 0)", NULL},
    {"aten::pow", NULL, "torch.pow($0, 2)", "a square"},
    {"aten::embedding", NULL, "torch.nn.functional.embedding($1, $0)", NULL},
    {"aten::index_select", NULL, "torch.index_select($0, 0, $2)", "of the first dimension"},
    {"aten::cat", NULL, "torch.cat($0)", "pieces of one size"},
};

// Operators that take a number in place of their second tensor.
static const char *const of_number[] = {
    "aten::add",  "aten::add_", "aten::sub",  "aten::sub_", "aten::mul",
    "aten::mul_", "aten::div",  "aten::div_", "aten::rsub", "aten::gt",
    "aten::ge",   "aten::lt",   "aten::le",   "aten::eq",   "aten::ne",
};

// Operators whose arguments after the tensors have defaults.
static const char *const with_defaults[] = {
    "aten::addmm",   "aten::baddbmm",  "aten::add",        "aten::add_",     "aten::sub",
    "aten::sub_",    "aten::mul",      "aten::mul_",       "aten::div",      "aten::div_",
    "aten::copy_",   "aten::clone",    "aten::contiguous", "aten::gelu",     "aten::gelu_backward",
    "aten::addcmul", "aten::addcmul_", "aten::addcdiv",    "aten::addcdiv_", "aten::_scaled_mm",
    "aten::linear",
};

struct code {
    struct str op;
    struct arg_list args;
    const struct recipe *recipe;
    struct buf *out;
};

// --- names --------------------------------------------------------------------------------------

// The type as PyTorch writes it; NULL for one that the program could not make.
static const char *torch_type(const struct op_arg *arg)
{
    static const char *const words[DTYPE_COUNT] = {
        [DTYPE_BOOL] = "bool",
        [DTYPE_UINT8] = "uint8",
        [DTYPE_INT8] = "int8",
        [DTYPE_INT16] = "int16",
        [DTYPE_INT32] = "int32",
        [DTYPE_INT64] = "int64",
        [DTYPE_FP8] = "float8_e4m3fn",
        [DTYPE_BF16] = "bfloat16",
        [DTYPE_FP16] = "float16",
        [DTYPE_FP32] = "float32",
        [DTYPE_FP64] = "float64",
        [DTYPE_COMPLEX64] = "complex64",
        [DTYPE_COMPLEX128] = "complex128",
    };
    return words[arg->dtype];
}

static bool is_word(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return text.len > 0;
}

// "aten::mm" in two words.
static bool split_name(struct str op, struct str *space, struct str *name)
{
    for (size_t i = 0; i + 2 < op.len && op.len <= MOST_NAME; i++)
        if (op.at[i] == ':' && op.at[i + 1] == ':') {
            *space = (struct str){op.at, i};
            *name = (struct str){op.at + i + 2, op.len - i - 2};
            return is_word(*space) && is_word(*name);
        }
    return false;
}

static const struct recipe *recipe_of(struct str op)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (str_equal(op, str_of(recipes[i].op)))
            return &recipes[i];
    return NULL;
}

// --- inputs -------------------------------------------------------------------------------------

static void put_list(const int64_t *values, uint32_t count, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < count; i++)
        buf_printf(out, "%s%" PRId64, i ? ", " : "", values[i]);
    buf_putc(out, ']');
}

// Indices point to rows of the first argument; other integers are 0 or 1.
static int64_t integers_below(const struct code *code)
{
    const struct op_arg *first = op_args_tensor(&code->args, 0);
    bool indexes = str_equal(code->op, STR("aten::embedding")) ||
                   str_equal(code->op, STR("aten::index_select"));
    return indexes && first && first->rank && first->dims[0] > 0 ? first->dims[0] : 2;
}

// How many elements a tensor spans from its first to its last; 0 if it is contiguous, or spans more
// than a slice of another tensor would.
static int64_t spread_of(const struct op_arg *arg)
{
    int64_t spread = 1, dense = 1;
    bool in_order = true;
    if (!arg->has_strides || !count_known(arg->elements) || arg->elements < 1)
        return 0;
    for (uint32_t i = arg->rank; i-- > 0;) {
        if (arg->strides[i] < 0)
            return 0;
        in_order &= arg->dims[i] == 1 || arg->strides[i] == dense;
        dense *= arg->dims[i];
        spread = count_add(spread, count_mul(arg->dims[i] - 1, arg->strides[i]));
    }
    bool near = count_known(spread) && spread / MOST_SPREAD <= arg->elements;
    return in_order || !near ? 0 : spread;
}

static bool is_strided(const struct code *code)
{
    for (uint32_t i = 0; i < code->args.count; i++)
        if (code->args.args[i].kind == OP_ARG_TENSOR && spread_of(&code->args.args[i]))
            return true;
    return false;
}

// PyTorch records a Python number beside tensors as one more tensor. It is on the host: the kernel
// gets its value and reads no memory for it.
static bool is_number(const struct code *code, const struct op_arg *arg)
{
    bool pythons = arg->dtype == DTYPE_FP64 || arg->dtype == DTYPE_INT64;
    for (uint32_t i = 0; i < code->args.count && pythons && arg->rank == 0; i++)
        if (code->args.args[i].kind == OP_ARG_TENSOR && code->args.args[i].rank)
            return true;
    return false;
}

static void put_tensor(const struct code *code, const struct op_arg *arg)
{
    int64_t spread = spread_of(arg);
    struct op_arg whole = *arg;
    if (is_number(code, arg)) {
        buf_printf(code->out, "torch.tensor(2, dtype=torch.%s)", torch_type(arg));
        return;
    }
    if (spread) {
        whole.rank = 1;
        whole.dims[0] = spread;
    }
    bool integer = !dtype_is_floating(arg->dtype) && arg->dtype < DTYPE_COMPLEX32;
    if (integer)
        buf_printf(code->out, "torch.randint(0, %" PRId64 ", ", integers_below(code));
    else
        buf_puts(code->out, "torch.randn(");
    put_list(whole.dims, whole.rank, code->out);
    buf_printf(code->out, ", device=\"cuda\").to(torch.%s)", torch_type(arg));
    if (!spread)
        return;
    buf_puts(code->out, ".as_strided(");
    put_list(arg->dims, arg->rank, code->out);
    buf_puts(code->out, ", ");
    put_list(arg->strides, arg->rank, code->out);
    buf_putc(code->out, ')');
}

static void put_pieces(const struct code *code, const struct op_arg *arg)
{
    struct op_arg piece = {.dtype = arg->dtype, .rank = 1};
    piece.dims[0] = arg->elements / arg->tensors;
    buf_putc(code->out, '[');
    put_tensor(code, &piece);
    buf_printf(code->out, " for _ in range(%" PRId64 ")]", arg->tensors);
}

static void put_inputs(const struct code *code)
{
    for (uint32_t i = 0; i < code->args.count; i++) {
        const struct op_arg *arg = &code->args.args[i];
        if (arg->kind == OP_ARG_OTHER)
            continue;
        buf_printf(code->out, "a%u = ", i);
        if (arg->kind == OP_ARG_TENSOR)
            put_tensor(code, arg);
        else
            put_pieces(code, arg);
        buf_putc(code->out, '\n');
    }
}

// --- the call -----------------------------------------------------------------------------------

static void put_recipe(const struct code *code, const char *text)
{
    for (; *text; text++)
        buf_putc(code->out, *text == '$' ? 'a' : *text);
}

// The recipe's arguments must be tensors.
static bool fits(const struct code *code, const char *text)
{
    for (; text && *text; text++) {
        if (*text != '$')
            continue;
        uint32_t index = (uint32_t)(text[1] - '0');
        if (index >= code->args.count || code->args.args[index].kind == OP_ARG_OTHER)
            return false;
    }
    return true;
}

static uint32_t leading_tensors(const struct code *code)
{
    uint32_t count = 0;
    while (count < code->args.count && code->args.args[count].kind == OP_ARG_TENSOR)
        count++;
    return count;
}

// What the operator is called with when no recipe says so: its tensors, and perhaps a number.
static const char *check_plain(const struct code *code)
{
    uint32_t tensors = leading_tensors(code);
    if (tensors == code->args.count ||
        str_is_one_of(code->op, with_defaults, sizeof with_defaults / sizeof *with_defaults))
        return tensors ? NULL : "none of its inputs is a tensor";
    return tensors == 1 && str_is_one_of(code->op, of_number, sizeof of_number / sizeof *of_number)
               ? NULL
               : "its other arguments are not kept";
}

static void put_plain(const struct code *code, struct str space, struct str name)
{
    uint32_t tensors = leading_tensors(code);
    bool numbered = tensors == 1 && code->args.count > 1 &&
                    str_is_one_of(code->op, of_number, sizeof of_number / sizeof *of_number);
    buf_printf(code->out, "torch.ops.%.*s.%.*s(", (int)space.len, space.at, (int)name.len, name.at);
    for (uint32_t i = 0; i < tensors; i++)
        buf_printf(code->out, "%sa%u", i ? ", " : "", i);
    buf_puts(code->out, numbered ? ", 2)" : ")");
}

static const char *check_inputs(const struct code *code)
{
    if (code->args.problem || !code->args.count)
        return "its shapes and types are not recorded";
    for (uint32_t i = 0; i < code->args.count; i++) {
        const struct op_arg *arg = &code->args.args[i];
        bool pieces = arg->kind == OP_ARG_TENSORS;
        if (arg->kind == OP_ARG_OTHER)
            continue;
        if (!torch_type(arg) || arg->rank > OP_ARGS_MAX_RANK)
            return "an input has a type or shape that cannot be made";
        if (pieces && (!code->recipe || arg->tensors < 1 || arg->tensors > MOST_PIECES ||
                       !count_known(arg->elements)))
            return "it takes a list of tensors";
    }
    return NULL;
}

// Calls are captured in a graph, so that the host's time for a call does not count.
static void put_timing(struct buf *out)
{
    buf_puts(out, "\nfor _ in range(3):\n"
                  "    call()\n"
                  "torch.cuda.synchronize()\n"
                  "graph = torch.cuda.CUDAGraph()\n"
                  "with torch.cuda.graph(graph):\n"
                  "    for _ in range(20):\n"
                  "        call()\n"
                  "start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))\n"
                  "graph.replay()\n"
                  "start.record()\n"
                  "for _ in range(5):\n"
                  "    graph.replay()\n"
                  "end.record()\n"
                  "torch.cuda.synchronize()\n"
                  "print(f\"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: "
                  "{start.elapsed_time(end) * 10:.2f} us per call\")\n");
}

static void put_program(const struct code *code, struct str space, struct str name)
{
    const struct recipe *recipe = code->recipe;
    buf_printf(code->out, "# %.*s, %s", (int)code->op.len, code->op.at,
               is_strided(code) ? "inputs laid out as recorded" : "contiguous inputs");
    if (recipe && recipe->assumed)
        buf_printf(code->out, ", %s", recipe->assumed);
    buf_puts(code->out, "\nimport torch\n\n");
    put_inputs(code);
    if (recipe && recipe->setup)
        put_recipe(code, recipe->setup);
    buf_puts(code->out, "\ndef call():\n    return ");
    if (recipe)
        put_recipe(code, recipe->call);
    else
        put_plain(code, space, name);
    buf_putc(code->out, '\n');
    put_timing(code->out);
}

const char *parity_code(struct str op, const struct op_arg_texts *inputs, struct buf *out)
{
    struct str space, name;
    struct code code = {.op = op, .recipe = recipe_of(op), .out = out};
    if (!split_name(op, &space, &name))
        return "it has no operator that PyTorch could call";
    op_args_parse(inputs, &code.args);
    const char *why = check_inputs(&code);
    if (!why && code.recipe && !(fits(&code, code.recipe->setup) && fits(&code, code.recipe->call)))
        why = "its inputs are not those of PyTorch's operator";
    if (!why && !code.recipe)
        why = check_plain(&code);
    if (!why)
        put_program(&code, space, name);
    return why;
}
