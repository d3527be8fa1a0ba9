// SPDX-License-Identifier: Apache-2.0
// Reads the shapes of products and softmaxes, and compares them.
#include "analysis/facts/attention_scores.h"

#include "analysis/facts/op_args.h"
#include "analysis/facts/op_calls.h"

static bool read_inputs(const struct facts *facts, uint32_t op, struct arg_list *args)
{
    const struct trace *trace = facts->trace;
    uint32_t index = op_calls_inputs(trace, op);
    if (index == ARGS_NONE)
        return false;
    const struct op_inputs *inputs = &trace->op_inputs[index];
    struct op_arg_texts texts = {.dims = trace_text(trace, inputs->dims),
                                 .types = trace_text(trace, inputs->types)};
    op_args_parse(&texts, args);
    return !args->problem;
}

void scores_of_product(const struct facts *facts, uint32_t op, struct scores_shape *shape)
{
    struct arg_list args;
    struct str name = facts_short_name(facts->trace, facts->trace->name[op]);
    int first = str_equal(name, STR("aten::baddbmm"));
    *shape = (struct scores_shape){0};
    if (!read_inputs(facts, op, &args))
        return;
    const struct op_arg *a = op_args_tensor(&args, first), *b = op_args_tensor(&args, first + 1);
    if (!a || !b || a->rank != 3 || b->rank != 3 || a->dims[0] != b->dims[0] ||
        a->dims[2] != b->dims[1])
        return;
    *shape = (struct scores_shape){.known = true,
                                   .batch = a->dims[0],
                                   .in = {{a->dims[1], a->dims[2]}, {b->dims[1], b->dims[2]}},
                                   .out = {a->dims[1], b->dims[2]}};
}

void scores_of_softmax(const struct facts *facts, uint32_t op, struct scores_shape *shape)
{
    struct arg_list args;
    *shape = (struct scores_shape){0};
    if (!read_inputs(facts, op, &args))
        return;
    const struct op_arg *in = op_args_tensor(&args, 0);
    if (in && in->rank >= 1 && in->rank <= OP_ARGS_MAX_RANK && count_known(in->elements))
        *shape = (struct scores_shape){
            .known = true, .elements = in->elements, .width = in->dims[in->rank - 1]};
}

static bool is_same(struct matrix x, struct matrix y)
{
    return (x.rows == y.rows && x.columns == y.columns) ||
           (x.rows == y.columns && x.columns == y.rows);
}

bool scores_made(const struct scores_shape *product, int64_t batch, struct matrix scores)
{
    return product->known && product->batch == batch && is_same(product->out, scores);
}

bool scores_used(const struct scores_shape *product, int64_t batch, struct matrix scores)
{
    return product->known && product->batch == batch &&
           (is_same(product->out, scores) || is_same(product->in[0], scores) ||
            is_same(product->in[1], scores));
}

bool scores_softened(const struct scores_shape *softmax, int64_t batch, struct matrix scores)
{
    int64_t all = count_mul(batch, count_mul(scores.rows, scores.columns));
    if (!softmax->known || softmax->elements == all)
        return true;
    int64_t rows = softmax->width > 0 ? softmax->elements / softmax->width : 0;
    return (rows == count_mul(batch, scores.rows) && softmax->width > scores.columns) ||
           (rows == count_mul(batch, scores.columns) && softmax->width > scores.rows);
}
