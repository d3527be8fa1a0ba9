// SPDX-License-Identifier: Apache-2.0
// Any bytes as the inputs of an operator: never a crash, and figures are either known or marked.
// The input is an operator's name, shapes, types, strides and concrete inputs, one line each.
#include "analysis/work/work_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str take_line(struct str *rest)
{
    const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
    struct str line = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t taken = line.len + (end != NULL);
    *rest = (struct str){rest->at + taken, rest->len - taken};
    return line;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    struct str rest = {size ? (const char *)data : empty, size};
    struct arg_list args;
    struct work work;
    struct str op = take_line(&rest);
    struct op_arg_texts texts;
    texts.dims = take_line(&rest);
    texts.types = take_line(&rest);
    texts.strides = take_line(&rest);
    texts.concrete = take_line(&rest);
    op_args_parse(&texts, &args);
    check(args.count <= OP_ARGS_MAX && (!args.problem || args.count == 0));
    for (uint32_t i = 0; i < args.count; i++)
        check(args.args[i].elements >= COUNT_UNKNOWN && args.args[i].tensors >= 0);
    work_model(op, &args, &work);
    check(work.flops >= COUNT_UNKNOWN && work.bytes >= COUNT_UNKNOWN);
    check(count_known(work.bytes) || work.note);
    check(memchr(work.problem, '\0', sizeof work.problem) != NULL);
    return 0;
}
