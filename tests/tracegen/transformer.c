// SPDX-License-Identifier: Apache-2.0
// The model: 8 x 1,024 tokens, width 2,048, 32 heads of 64, a feed-forward part of 8,192.
#include "tests/tracegen/transformer.h"

#include "tests/tracegen/idle.h"
#include "tests/tracegen/plants.h"

enum { BATCH = 8, LENGTH = 1024, WIDTH = 2048, HEADS = 32, HEAD = 64, INNER = 8192 };
enum { VOCABULARY = 32000, TOKENS = BATCH * LENGTH, ADAM_BYTES = 20, FILLERS_PER_LAYER = 4 };
enum { ADAM_CHUNK = 20971520, BF16_BYTES = 2, PARAMETER_BYTES = 14 };

// Sequence numbers of one layer's forward operators.
struct numbers {
    int32_t norm1, qkv, attention, projection, add1, norm2, up, gelu, down, add2;
};

// A layer whose forward is repeated.
struct checkpoint {
    int32_t sequence;
    int32_t modules; // Python modules before it
};

struct model {
    struct builder b;
    int32_t layers;
    bool sharded;
    struct numbers *numbers;                           // per layer
    struct checkpoint *checkpoints;                    // per layer
    int32_t *gathers;                                  // slot of the gather of each half layer
    int32_t embedding, final_norm, head, softmax, nll; // sequence numbers
    const char *linear_args[4], *addmm_args[4], *dgrad_args[4], *wgrad_args[4];
    const char *hidden_args, *norm_args, *add_args, *inner_args, *logits_args, *embedding_args;
    const char *attention_args, *flash_args, *flash_inner_args;
    const char *flash_backward_args, *flash_inner_backward_args;
};

// The four linear layers of a block: outputs and inputs.
static const int64_t linear_sizes[4][2] = {
    {3 * WIDTH, WIDTH}, {WIDTH, WIDTH}, {INNER, WIDTH}, {WIDTH, INNER}};
enum linear { LINEAR_QKV, LINEAR_PROJECTION, LINEAR_UP, LINEAR_DOWN };

#define BF16                 "\"c10::BFloat16\""
#define TYPES(inputs, types) "\"Concrete Inputs\": [" inputs "], \"Input type\": [" types "], "

static void describe_linear(struct model *model, enum linear which)
{
    struct builder *b = &model->b;
    int n = (int)linear_sizes[which][0], k = (int)linear_sizes[which][1];
    model->linear_args[which] =
        builder_text(b,
                     TYPES("\"\", \"\", \"\"", BF16
                           ", " BF16 ", " BF16) "\"Input Strides\": [[%d, %d, 1], [%d, 1], [1]], "
                                                "\"Input Dims\": [[%d, %d, %d], [%d, %d], "
                                                "[%d]]",
                     LENGTH * k, k, k, BATCH, LENGTH, k, n, k, n);
    model->addmm_args[which] =
        builder_text(b,
                     TYPES("\"\", \"\", \"\", \"1\", \"1\"", BF16
                           ", " BF16 ", " BF16
                           ", \"Scalar\", \"Scalar\"") "\"Input Strides\": [[1], [%d, 1], [1, %d], "
                                                       "[], []], \"Input Dims\": [[%d], [%d, %d], "
                                                       "[%d, %d], [], []]",
                     k, k, n, TOKENS, k, k, n);
    model->dgrad_args[which] =
        builder_text(b,
                     TYPES("\"\", \"\"", BF16 ", " BF16) "\"Input Strides\": [[%d, 1], [%d, 1]], "
                                                         "\"Input Dims\": [[%d, %d], [%d, %d]]",
                     n, k, TOKENS, n, n, k);
    model->wgrad_args[which] =
        builder_text(b,
                     TYPES("\"\", \"\"", BF16 ", " BF16) "\"Input Strides\": [[1, %d], [%d, 1]], "
                                                         "\"Input Dims\": [[%d, %d], [%d, %d]]",
                     n, k, n, TOKENS, TOKENS, k);
}

static void describe_shapes(struct model *model)
{
    struct builder *b = &model->b;
    for (int i = 0; i < 4; i++)
        describe_linear(model, (enum linear)i);
    model->hidden_args = builder_text(
        b, TYPES("\"\"", BF16) "\"Input Strides\": [[%d, %d, 1]], \"Input Dims\": [[%d, %d, %d]]",
        LENGTH * WIDTH, WIDTH, BATCH, LENGTH, WIDTH);
    model->add_args = builder_text(
        b,
        TYPES("\"\", \"\", \"1\"",
              BF16 ", " BF16 ", \"Scalar\"") "\"Input Strides\": [[%d, %d, 1], [%d, %d, 1], []], "
                                             "\"Input Dims\": [[%d, %d, %d], "
                                             "[%d, %d, %d], []]",
        LENGTH * WIDTH, WIDTH, LENGTH * WIDTH, WIDTH, BATCH, LENGTH, WIDTH, BATCH, LENGTH, WIDTH);
    model->inner_args = builder_text(
        b,
        TYPES("\"\", \"\"", BF16 ", \"\"") "\"Input Strides\": [[%d, %d, 1], []], \"Input "
                                           "Dims\": [[%d, %d, %d], []]",
        LENGTH * INNER, INNER, BATCH, LENGTH, INNER);
    model->norm_args = builder_text(
        b,
        TYPES("\"\", \"[%d]\", \"\", \"\", \"1.0000000000000001e-05\"", BF16
              ", \"ScalarList\", " BF16 ", " BF16
              ", \"Scalar\"") "\"Input Strides\": [[%d, %d, 1], [], [1], [1], []], \"Input Dims\": "
                              "[[%d, %d, %d], [], [%d], [%d], []]",
        WIDTH, LENGTH * WIDTH, WIDTH, BATCH, LENGTH, WIDTH, WIDTH, WIDTH);
    model->logits_args =
        builder_text(b,
                     TYPES("\"\", \"1\", \"False\"",
                           BF16 ", \"Scalar\", \"Scalar\"") "\"Input Strides\": [[%d, 1], [], []], "
                                                            "\"Input Dims\": [[%d, %d], [], []]",
                     VOCABULARY, TOKENS, VOCABULARY);
    model->embedding_args = builder_text(
        b,
        TYPES("\"\", \"\", \"-1\", \"False\", \"False\"", BF16
              ", \"long int\", \"Scalar\", \"Scalar\", \"Scalar\"") "\"Input Strides\": [[%d, 1], "
                                                                    "[%d, 1], [], [], []], \"Input "
                                                                    "Dims\": [[%d, %d], "
                                                                    "[%d, %d], [], [], []]",
        WIDTH, LENGTH, VOCABULARY, WIDTH, BATCH, LENGTH);
}

// A tensor's dimensions in attention: heads before positions outside the kernel call, after them
// inside.
static const char *attention_dims(struct builder *b, bool inner)
{
    return builder_text(b, "[%d, %d, %d, %d]", BATCH, inner ? LENGTH : HEADS,
                        inner ? HEADS : LENGTH, HEAD);
}

// The gradient, then query, key, value and output, then the logarithms of the sums.
static const char *attention_backward_args(struct builder *b, const char *dims)
{
    return builder_text(
        b,
        TYPES("\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"%d\", \"%d\", \"0.\", "
              "\"True\", \"\", \"\", \"0.125\"",
              BF16 ", " BF16 ", " BF16 ", " BF16 ", " BF16 ", \"float\", \"\", \"\", \"Scalar\", "
                   "\"Scalar\", \"Scalar\", \"Scalar\", \"unsigned long\", "
                   "\"unsigned long\", \"Scalar\"") "\"Input Dims\": [%s, %s, %s, %s, %s, [%d, %d, "
                                                    "%d], [], [], [], [], [], [], [2], [], []]",
        LENGTH, LENGTH, dims, dims, dims, dims, dims, BATCH, HEADS, LENGTH);
}

static void describe_attention(struct model *model)
{
    struct builder *b = &model->b;
    const char *outer = attention_dims(b, false), *inner = attention_dims(b, true);
    model->attention_args = builder_text(
        b,
        TYPES("\"\", \"\", \"\", \"\", \"0.\", \"True\", \"\", \"False\"",
              BF16 ", " BF16 ", " BF16
                   ", \"\", \"Scalar\", \"Scalar\", \"\", \"Scalar\"") "\"Input Dims\": [%s, %s, "
                                                                       "%s, [], [], [], [], []]",
        outer, outer, outer);
    model->flash_args = builder_text(
        b,
        TYPES("\"\", \"\", \"\", \"0.\", \"True\", \"False\", \"0.125\"",
              BF16 ", " BF16 ", " BF16
                   ", \"Scalar\", \"Scalar\", \"Scalar\", \"Scalar\"") "\"Input Dims\": [%s, %s, "
                                                                       "%s, [], [], [], []]",
        outer, outer, outer);
    model->flash_inner_args = builder_text(
        b,
        TYPES("\"\", \"\", \"\", \"\", \"\", \"%d\", \"%d\", \"0.\", \"True\", \"False\", "
              "\"0.125\"",
              BF16 ", " BF16 ", " BF16 ", \"\", \"\", \"Scalar\", \"Scalar\", \"Scalar\", "
                   "\"Scalar\", \"Scalar\", \"Scalar\"") "\"Input Dims\": [%s, %s, %s, [], [], [], "
                                                         "[], [], [], [], []]",
        LENGTH, LENGTH, inner, inner, inner);
    model->flash_backward_args = attention_backward_args(b, outer);
    model->flash_inner_backward_args = attention_backward_args(b, inner);
}

// Both factors and the product, each once.
static int64_t gemm_bytes(int64_t m, int64_t n, int64_t k)
{
    return (m * k + k * n + m * n) * BF16_BYTES;
}

static int32_t linear_forward(struct model *model, enum linear which)
{
    struct builder *b = &model->b;
    int64_t n = linear_sizes[which][0], k = linear_sizes[which][1];
    builder_module(b, "Linear", b->modules);
    int32_t sequence = builder_forward(b, "aten::linear", model->linear_args[which]);
    builder_op(b, "aten::t", NULL);
    builder_op(b, "aten::transpose", NULL);
    builder_leaf(b, "aten::as_strided", NULL);
    builder_end(b);
    builder_end(b);
    for (int64_t i = 0; i < b->filler; i++)
        builder_leaf(b, "aten::view", model->hidden_args);
    builder_inner(b, "aten::addmm", model->addmm_args[which], sequence);
    builder_worth(b, 2 * TOKENS * n * k + TOKENS * n, gemm_bytes(TOKENS, n, k) + n * BF16_BYTES);
    builder_keep(b, TOKENS * n * BF16_BYTES);
    builder_gemm(b, ROLE_GEMM_FORWARD, TOKENS, n, k);
    builder_end(b);
    builder_end(b);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    return sequence;
}

static int32_t norm_forward(struct model *model)
{
    struct builder *b = &model->b;
    builder_module(b, "LayerNorm", b->modules);
    int32_t sequence = builder_forward(b, "aten::layer_norm", model->norm_args);
    builder_inner(b, "aten::native_layer_norm", model->norm_args, sequence);
    builder_leaf(b, "aten::empty", NULL);
    builder_leaf(b, "aten::empty", NULL);
    builder_keep(b, (int64_t)TOKENS * WIDTH * BF16_BYTES);
    builder_traffic(b, ROLE_NORM_FORWARD, (int64_t)TOKENS * WIDTH, (int64_t)TOKENS * WIDTH * 4);
    builder_end(b);
    builder_end(b);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    return sequence;
}

static int32_t add_forward(struct model *model)
{
    struct builder *b = &model->b;
    int32_t sequence = builder_forward(b, "aten::add", model->add_args);
    builder_keep(b, (int64_t)TOKENS * WIDTH * BF16_BYTES);
    builder_traffic(b, ROLE_ADD, (int64_t)TOKENS * WIDTH, (int64_t)TOKENS * WIDTH * 6);
    builder_end(b);
    return sequence;
}

static int32_t attention_core_forward(struct model *model)
{
    struct builder *b = &model->b;
    int64_t flop = (int64_t)2 * BATCH * HEADS * LENGTH * LENGTH * HEAD;
    builder_leaf(b, "aten::split", NULL);
    builder_leaf(b, "aten::view", NULL);
    builder_leaf(b, "aten::transpose", NULL);
    int32_t sequence =
        builder_forward(b, "aten::scaled_dot_product_attention", model->attention_args);
    builder_inner(b, "aten::_scaled_dot_product_flash_attention", model->flash_args, sequence);
    builder_inner(b, "aten::_flash_attention_forward", model->flash_inner_args, -1);
    builder_worth(b, flop, (int64_t)4 * TOKENS * WIDTH * BF16_BYTES);
    builder_keep(b, (int64_t)TOKENS * WIDTH * BF16_BYTES);
    builder_leaf(b, "aten::empty_like", NULL);
    builder_attention(b, ROLE_ATTENTION_FORWARD, flop, BATCH * HEADS * LENGTH / 128);
    builder_end(b);
    builder_end(b);
    builder_end(b);
    return sequence;
}

static int32_t gelu_forward(struct model *model)
{
    struct builder *b = &model->b;
    int32_t sequence = builder_forward(b, "aten::gelu", model->inner_args);
    builder_keep(b, (int64_t)TOKENS * INNER * BF16_BYTES);
    builder_traffic(b, ROLE_GELU, (int64_t)TOKENS * INNER, (int64_t)TOKENS * INNER * 4);
    builder_end(b);
    return sequence;
}

// Parameters of the attention half (even) or the feed-forward half (odd) of a layer.
static int64_t half_parameters(int32_t half)
{
    return (int64_t)(half % 2 ? 8 : 4) * WIDTH * WIDTH + (half % 2 ? 13 : 8) * WIDTH;
}

static void gather(struct model *model, int32_t half, const char *annotation)
{
    struct builder *b = &model->b;
    if (!model->sharded || half < 0 || half >= 2 * model->layers)
        return;
    builder_annotation(b, annotation);
    model->gathers[half] = builder_collective(b, ROLE_ALL_GATHER, half_parameters(half), false);
    builder_end(b);
}

// Waits for the half layer's parameters and starts fetching the next ones.
static void enter_half(struct model *model, int32_t half, int32_t next)
{
    if (!model->sharded || model->b.phase == PHASE_RECOMPUTE)
        return;
    builder_wait(&model->b, model->gathers[half]);
    gather(model, next,
           next > half ? "FullyShardedDataParallel._pre_forward"
                       : "FullyShardedDataParallel._pre_backward_prefetch");
}

static void layer_forward(struct model *model, int32_t layer)
{
    struct builder *b = &model->b;
    struct numbers *n = &model->numbers[layer];
    builder_module(b, "Block", layer);
    enter_half(model, 2 * layer, 2 * layer + 1);
    n->norm1 = norm_forward(model);
    builder_module(b, "Attention", layer);
    n->qkv = linear_forward(model, LINEAR_QKV);
    n->attention = attention_core_forward(model);
    n->projection = linear_forward(model, LINEAR_PROJECTION);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    n->add1 = add_forward(model);
    enter_half(model, 2 * layer + 1, 2 * layer + 2);
    n->norm2 = norm_forward(model);
    builder_module(b, "FeedForward", layer);
    n->up = linear_forward(model, LINEAR_UP);
    n->gelu = gelu_forward(model);
    n->down = linear_forward(model, LINEAR_DOWN);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    n->add2 = add_forward(model);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
}

static void accumulate(struct builder *b)
{
    builder_op(b, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", NULL);
    builder_op(b, "torch::autograd::AccumulateGrad", NULL);
    builder_op(b, "aten::detach", NULL);
    builder_leaf(b, "detach", NULL);
    builder_end(b);
    builder_end(b);
    builder_end(b);
}

static void linear_backward(struct model *model, enum linear which, int32_t sequence)
{
    struct builder *b = &model->b;
    int64_t n = linear_sizes[which][0], k = linear_sizes[which][1];
    builder_backward(b, "AddmmBackward0", sequence);
    builder_leaf(b, "aten::t", NULL);
    builder_op(b, "aten::mm", model->dgrad_args[which]);
    builder_worth(b, 2 * TOKENS * n * k, gemm_bytes(TOKENS, k, n));
    builder_gemm(b, ROLE_GEMM_DGRAD, TOKENS, k, n);
    builder_end(b);
    builder_leaf(b, "aten::t", NULL);
    builder_op(b, "aten::mm", model->wgrad_args[which]);
    builder_worth(b, 2 * TOKENS * n * k, gemm_bytes(n, k, TOKENS));
    if (b->arguments->flavour == VENDOR_CUDA)
        builder_set(b, 65536);
    builder_gemm(b, ROLE_GEMM_WGRAD, n, k, TOKENS);
    builder_end(b);
    builder_drop(b);
    builder_end(b);
    builder_op(b, "aten::sum", model->hidden_args);
    builder_traffic(b, ROLE_SUM, TOKENS * n, TOKENS * n * 2);
    builder_end(b);
    builder_backward_leave(b);
    accumulate(b);
    accumulate(b);
}

static void norm_backward(struct model *model, int32_t sequence)
{
    struct builder *b = &model->b;
    int64_t elements = (int64_t)TOKENS * WIDTH;
    builder_backward(b, "NativeLayerNormBackward0", sequence);
    builder_op(b, "aten::native_layer_norm_backward", model->add_args);
    builder_leaf(b, "aten::empty_like", NULL);
    builder_traffic(b, ROLE_NORM_BACKWARD_INPUT, elements, elements * 6);
    builder_traffic(b, ROLE_NORM_BACKWARD_WEIGHT, elements, elements * 4);
    builder_drop(b);
    builder_end(b);
    builder_backward_end(b);
    builder_op(b, "aten::add_", model->add_args);
    builder_traffic(b, ROLE_ADD, elements, elements * 6);
    builder_end(b);
    accumulate(b);
    accumulate(b);
}

static void attention_core_backward(struct model *model, int32_t sequence)
{
    struct builder *b = &model->b;
    int64_t flop = (int64_t)5 * BATCH * HEADS * LENGTH * LENGTH * HEAD;
    int64_t elements = (int64_t)TOKENS * WIDTH;
    builder_backward(b, "ScaledDotProductFlashAttentionBackward0", sequence);
    builder_op(b, "aten::_scaled_dot_product_flash_attention_backward", model->flash_backward_args);
    builder_op(b, "aten::_flash_attention_backward", model->flash_inner_backward_args);
    builder_worth(b, flop, (int64_t)8 * TOKENS * WIDTH * BF16_BYTES);
    builder_leaf(b, "aten::empty_like", NULL);
    builder_traffic(b, ROLE_ATTENTION_PREPARE, elements / 64, elements * 4);
    builder_attention(b, ROLE_ATTENTION_BACKWARD, flop, BATCH * HEADS * LENGTH / 128);
    builder_end(b);
    builder_drop(b);
    builder_end(b);
    builder_backward_end(b);
}

static void gelu_backward(struct model *model, int32_t sequence)
{
    struct builder *b = &model->b;
    int64_t elements = (int64_t)TOKENS * INNER;
    builder_backward(b, "GeluBackward0", sequence);
    builder_op(b, "aten::gelu_backward", model->inner_args);
    builder_traffic(b, ROLE_GELU_BACKWARD, elements, elements * 6);
    builder_end(b);
    builder_drop(b);
    builder_backward_end(b);
}

// Hands the gradients of a half layer to the communication stream.
static void reduce_half(struct model *model, int32_t half)
{
    struct builder *b = &model->b;
    enum role role = model->sharded ? ROLE_REDUCE_SCATTER : ROLE_ALL_REDUCE;
    if (model->sharded)
        builder_annotation(b, "FullyShardedDataParallel._post_backward_hook");
    builder_collective(b, role, half_parameters(half), model->sharded && half == 0);
    if (model->sharded)
        builder_end(b);
}

static void add_backward(struct builder *b, int32_t sequence)
{
    builder_backward(b, "AddBackward0", sequence);
    builder_drop(b);
    builder_backward_end(b);
}

static void layer_backward(struct model *model, int32_t layer)
{
    const struct numbers *n = &model->numbers[layer];
    add_backward(&model->b, n->add2);
    enter_half(model, 2 * layer + 1, 2 * layer);
    linear_backward(model, LINEAR_DOWN, n->down);
    gelu_backward(model, n->gelu);
    linear_backward(model, LINEAR_UP, n->up);
    norm_backward(model, n->norm2);
    reduce_half(model, 2 * layer + 1);
    add_backward(&model->b, n->add1);
    enter_half(model, 2 * layer, 2 * layer - 1);
    linear_backward(model, LINEAR_PROJECTION, n->projection);
    attention_core_backward(model, n->attention);
    linear_backward(model, LINEAR_QKV, n->qkv);
    norm_backward(model, n->norm1);
    if (layer > 0 || !model->sharded)
        reduce_half(model, 2 * layer);
}

// Activation checkpointing: the forward keeps nothing but its number, the backward repeats it.
static void checkpoint_forward(struct model *model, int32_t layer)
{
    struct builder *b = &model->b;
    builder_python(b, "torch/utils/checkpoint.py(496): checkpoint");
    model->checkpoints[layer].sequence = builder_forward(b, "CheckpointFunction", NULL);
    model->checkpoints[layer].modules = b->modules;
    b->forgets = true;
    layer_forward(model, layer);
    b->forgets = false;
    builder_end(b);
    builder_python_end(b);
}

static void checkpoint_backward(struct model *model, int32_t layer)
{
    struct builder *b = &model->b;
    int32_t modules = b->modules;
    builder_backward(b, "CheckpointFunctionBackward", model->checkpoints[layer].sequence);
    builder_python(b, "torch/utils/checkpoint.py(296): backward");
    b->modules = model->checkpoints[layer].modules;
    b->phase = PHASE_RECOMPUTE;
    layer_forward(model, layer);
    b->modules = modules;
    b->phase = PHASE_BACKWARD;
    builder_python(b, "torch/autograd/graph.py(824): _engine_run_backward");
    layer_backward(model, layer);
    builder_python_end(b);
    builder_python_end(b);
    builder_backward_end(b);
}

static const char *mm_args(struct builder *b, int m, int n, int k)
{
    return builder_text(
        b,
        TYPES("\"\", \"\"",
              BF16 ", " BF16) "\"Input Strides\": [[%d, 1], [%d, 1]], \"Input Dims\": [[%d, %d], "
                              "[%d, %d]]",
        k, n, m, k, k, n);
}

static void head_forward(struct model *model)
{
    struct builder *b = &model->b;
    int64_t logits = (int64_t)TOKENS * VOCABULARY;
    model->final_norm = norm_forward(model);
    builder_module(b, "Linear", b->modules);
    model->head = builder_forward(b, "aten::linear", NULL);
    builder_op(b, "aten::matmul", NULL);
    builder_op(
        b, "aten::mm",
        builder_text(
            b,
            TYPES("\"\", \"\"", BF16
                  ", " BF16) "\"Input Strides\": [[%d, 1], [1, %d]], \"Input Dims\": [[%d, %d], "
                             "[%d, %d]]",
            WIDTH, WIDTH, TOKENS, WIDTH, WIDTH, VOCABULARY));
    builder_worth(b, (int64_t)2 * TOKENS * VOCABULARY * WIDTH,
                  gemm_bytes(TOKENS, VOCABULARY, WIDTH));
    builder_keep(b, logits * BF16_BYTES);
    builder_gemm(b, ROLE_GEMM_FORWARD, TOKENS, VOCABULARY, WIDTH);
    builder_end(b);
    builder_end(b);
    builder_end(b);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    builder_op(b, "aten::cross_entropy_loss", NULL);
    model->softmax = builder_forward(b, "aten::log_softmax", model->logits_args);
    builder_inner(b, "aten::_log_softmax", model->logits_args, model->softmax);
    builder_keep(b, logits * 4);
    builder_traffic(b, ROLE_LOG_SOFTMAX, logits, logits * 6);
    builder_end(b);
    builder_end(b);
    model->nll = builder_forward(b, "aten::nll_loss_nd", NULL);
    builder_inner(b, "aten::nll_loss_forward", NULL, model->nll);
    builder_keep(b, 512);
    builder_traffic(b, ROLE_NLL, 1, (int64_t)TOKENS * 2048);
    builder_end(b);
    builder_end(b);
    builder_end(b);
}

static void head_backward(struct model *model)
{
    struct builder *b = &model->b;
    int64_t logits = (int64_t)TOKENS * VOCABULARY;
    builder_op(b, "aten::ones_like", NULL);
    builder_op(b, "aten::fill_", NULL);
    builder_traffic(b, ROLE_FILL, 1, 4);
    builder_end(b);
    builder_end(b);
    builder_backward(b, "NllLossBackward0", model->nll);
    builder_op(b, "aten::nll_loss_backward", NULL);
    builder_set(b, 65536);
    builder_traffic(b, ROLE_NLL_BACKWARD, 1, (int64_t)TOKENS * 2048);
    builder_end(b);
    builder_drop(b);
    builder_backward_end(b);
    builder_backward(b, "LogSoftmaxBackward0", model->softmax);
    builder_op(b, "aten::_log_softmax_backward_data", NULL);
    builder_traffic(b, ROLE_LOG_SOFTMAX_BACKWARD, logits, logits * 10);
    builder_end(b);
    builder_drop(b);
    builder_backward_end(b);
    builder_backward(b, "MmBackward0", model->head);
    builder_op(b, "aten::mm", mm_args(b, TOKENS, WIDTH, VOCABULARY));
    builder_worth(b, (int64_t)2 * TOKENS * VOCABULARY * WIDTH,
                  gemm_bytes(TOKENS, WIDTH, VOCABULARY));
    builder_gemm(b, ROLE_GEMM_DGRAD, TOKENS, WIDTH, VOCABULARY);
    builder_end(b);
    builder_op(b, "aten::mm", mm_args(b, VOCABULARY, WIDTH, TOKENS));
    builder_worth(b, (int64_t)2 * TOKENS * VOCABULARY * WIDTH,
                  gemm_bytes(VOCABULARY, WIDTH, TOKENS));
    builder_gemm(b, ROLE_GEMM_WGRAD, VOCABULARY, WIDTH, TOKENS);
    builder_end(b);
    builder_drop(b);
    builder_backward_end(b);
    accumulate(b);
    builder_collective(b, model->sharded ? ROLE_REDUCE_SCATTER : ROLE_ALL_REDUCE,
                       (int64_t)VOCABULARY * WIDTH, false);
    norm_backward(model, model->final_norm);
}

static void embedding_forward(struct model *model)
{
    struct builder *b = &model->b;
    int64_t elements = (int64_t)TOKENS * WIDTH;
    builder_module(b, "Embedding", 0);
    model->embedding = builder_forward(b, "aten::embedding", model->embedding_args);
    builder_inner(b, "aten::index_select", NULL, -1);
    builder_keep(b, elements * BF16_BYTES);
    builder_traffic(b, ROLE_EMBEDDING, elements, elements * 4);
    builder_end(b);
    builder_end(b);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    add_forward(model);
}

// The token table is frozen; only the small table of positions gets a gradient. It goes out with
// the last collective, which is why little communication stays exposed.
static void embedding_backward(struct model *model)
{
    struct builder *b = &model->b;
    int64_t table = (int64_t)LENGTH * WIDTH;
    builder_backward(b, "EmbeddingBackward0", model->embedding);
    builder_op(b, "aten::embedding_dense_backward", NULL);
    builder_traffic(b, ROLE_EMBEDDING_BACKWARD, table, (int64_t)TOKENS * WIDTH * 6);
    builder_end(b);
    builder_drop(b); // the sum with the positions
    builder_drop(b);
    builder_backward_end(b);
    accumulate(b);
    if (model->sharded)
        reduce_half(model, 0);
    else
        builder_collective(b, ROLE_ALL_REDUCE, table, true);
}

static int64_t parameters(const struct model *model)
{
    int64_t count = (int64_t)(VOCABULARY + LENGTH) * WIDTH;
    count += model->layers * (half_parameters(0) + half_parameters(1));
    return model->sharded ? count / model->b.arguments->world : count;
}

static void optimize(struct model *model)
{
    struct builder *b = &model->b;
    builder_annotation(b, "Optimizer.step#AdamW.step");
    builder_op(b, "aten::_foreach_add_", NULL);
    builder_traffic(b, ROLE_TINY_ADD, 1, 4);
    builder_end(b);
    builder_op(b, "aten::_fused_adamw_", NULL);
    for (int64_t left = parameters(model); left > 0; left -= ADAM_CHUNK) {
        int64_t chunk = left < ADAM_CHUNK ? left : ADAM_CHUNK;
        builder_traffic(b, ROLE_ADAM, chunk, chunk * ADAM_BYTES);
    }
    builder_end(b);
    plants_write_optimizer(b);
    builder_end(b);
}

static void copy_batch(struct model *model)
{
    struct builder *b = &model->b;
    int64_t planted = b->arguments->plant_ns[PLANT_PAGEABLE_COPIES];
    int64_t bytes = (int64_t)TOKENS * 8;
    int64_t ns = bytes / b->vendor->copy_bytes_per_ns + 1200;
    struct instruction copy = {.code = CODE_COPY, .ns = ns, .bytes = bytes};
    if (planted) {
        copy.ns = planted / 2;
        copy.bytes = planted * 3; // two copies at 6 GB/s
        copy.pageable = true;
    }
    copy.ns = copy.ns * b->arguments->slow_percent[CATEGORY_COPY] / 100;
    for (int i = 0; i < 2; i++) {
        builder_op(b, "aten::to", NULL);
        builder_op(b, "aten::_to_copy", NULL);
        builder_op(b, "aten::copy_", NULL);
        builder_add(b, &copy);
        builder_end(b);
        builder_end(b);
        builder_end(b);
    }
}

static void load_batch(struct model *model)
{
    struct builder *b = &model->b;
    builder_python(b, "torch/utils/data/dataloader.py(701): __next__");
    builder_annotation(b, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    builder_leaf(b, "aten::stack", NULL);
    builder_add(b, &(struct instruction){.code = CODE_LOAD_DATA});
    builder_end(b);
    builder_python_end(b);
    copy_batch(model);
    builder_annotation(b, "Optimizer.zero_grad#AdamW.zero_grad");
    builder_end(b);
}

static void forward(struct model *model)
{
    struct builder *b = &model->b;
    builder_annotation(b, model->sharded ? "FullyShardedDataParallel.forward"
                                         : "DistributedDataParallel.forward");
    builder_module(b, model->sharded ? "FullyShardedDataParallel" : "DistributedDataParallel", 0);
    gather(model, 0, "FullyShardedDataParallel._pre_forward");
    embedding_forward(model);
    builder_add(b, &(struct instruction){.code = CODE_TINY});
    for (int32_t layer = 0; layer < model->layers; layer++)
        if (b->arguments->checkpoint)
            checkpoint_forward(model, layer);
        else
            layer_forward(model, layer);
    head_forward(model);
    for (int i = 0; i < 3; i++)
        builder_python_end(b);
    builder_end(b);
}

static void backward(struct model *model)
{
    struct builder *b = &model->b;
    builder_python(b, "torch/autograd/graph.py(824): _engine_run_backward");
    builder_thread(b, THREAD_AUTOGRAD);
    head_backward(model);
    plants_write_backward(b);
    for (int32_t layer = model->layers - 1; layer >= 0; layer--)
        if (b->arguments->checkpoint)
            checkpoint_backward(model, layer);
        else
            layer_backward(model, layer);
    embedding_backward(model);
    plants_write_gradients(b);
    builder_thread(b, THREAD_MAIN);
    b->phase = PHASE_FORWARD;
    builder_python_end(b);
    builder_wait(b, b->program->slots - 1);
}

// Idle time requested on the command line, each with its own cause.
static void plant_idle(struct builder *b)
{
    for (int cause = 1; cause < IDLE_COUNT; cause++) {
        if (!b->arguments->idle_ns[cause])
            continue;
        idle_cover(b, IDLE_UNTOLD);
        idle_write(b, (enum idle_cause)cause, b->arguments->idle_ns[cause]);
    }
}

// Like a job that appends each step's results to a list on the device.
static void leak(struct builder *b)
{
    if (!b->arguments->leak_bytes)
        return;
    builder_op(b, "aten::clone", NULL);
    builder_lose(b, b->arguments->leak_bytes);
    builder_end(b);
}

int64_t transformer_fillers(int32_t layers)
{
    return (int64_t)layers * FILLERS_PER_LAYER;
}

void transformer_write(struct program *program, const struct arguments *arguments, int32_t layers,
                       int64_t filler)
{
    struct model model = {
        .b = {.program = program,
              .arguments = arguments,
              .vendor = vendor_get(arguments->flavour),
              .filler = filler},
        .layers = layers,
        .sharded = arguments->strategy == STRATEGY_FSDP,
    };
    struct builder *b = &model.b;
    model.checkpoints = builder_table(b, (size_t)layers, sizeof *model.checkpoints);
    model.numbers = builder_table(b, (size_t)layers, sizeof *model.numbers);
    model.gathers = builder_table(b, (size_t)layers * 2, sizeof *model.gathers);
    describe_shapes(&model);
    describe_attention(&model);
    program->base_bytes = parameters(&model) * PARAMETER_BYTES + arguments->held_bytes;
    program->spare_bytes = arguments->spare_bytes;
    builder_step(b);
    builder_python(b, "train.py(163): train_step");
    load_batch(&model);
    plants_write_start(b);
    forward(&model);
    plant_idle(b);
    plants_write_model(b);
    backward(&model);
    optimize(&model);
    leak(b);
    builder_add(b, &(struct instruction){.code = CODE_THROTTLE});
    builder_python_end(b);
    builder_end(b);
    plants_change(b);
    builder_finish(b);
}
