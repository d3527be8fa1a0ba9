// SPDX-License-Identifier: Apache-2.0
// Any bytes read in pieces, with the size given by the first two bytes and the number of cores by
// the third, give the same trace as reading in one go.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/kineto/format_kineto.h"
#include "ingest/source/source.h"
#include "tests/unit/same_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct trace *read_trace(struct str bytes, size_t pieces, unsigned count,
                                struct budget *budget, struct err *err)
{
    struct cores cores;
    cores_init(&cores, count);
    struct progress progress = {.cores = &cores};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, err);
    struct trace_builder *builder = source ? trace_builder_new(budget, err) : NULL;
    if (!builder)
        abort();
    struct format_input input = {.source = source,
                                 .head = bytes,
                                 .builder = builder,
                                 .budget = budget,
                                 .progress = pieces ? &progress : NULL};
    bool ok = pieces ? kineto_read_pieces(pieces, &input, err) : format_kineto.read(&input, err);
    source_close(source);
    if (ok)
        return trace_builder_seal(builder, err);
    trace_builder_free(builder);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct str bytes = {(const char *)data + 3, size - 3};
    struct budget budget = {.limit = 0};
    struct err whole_err = {.code = ERR_NONE}, split_err = {.code = ERR_NONE};
    if (format_like(&format_kineto, bytes, STR("")) == FORMAT_UNLIKE)
        return 0;
    struct trace *whole = read_trace(bytes, 0, 0, &budget, &whole_err);
    struct trace *split =
        read_trace(bytes, 1 + data[0] + 16 * (size_t)data[1], 1 + data[2] % 4, &budget, &split_err);
    if (!whole != !split || whole_err.code != split_err.code || whole_err.pos != split_err.pos)
        abort();
    if (whole && trace_difference(whole, split))
        abort();
    trace_free(whole);
    trace_free(split);
    if (budget.used)
        abort();
    return 0;
}
