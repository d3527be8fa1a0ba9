// SPDX-License-Identifier: Apache-2.0
// Any bytes as ranks merged into one file: each that is found is read without harm.
#include <stdint.h>
#include <stdlib.h>

#include "tests/golden/trace_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_READ = 4 };
#define LIMIT ((uint64_t)64 << 20)

static void read_part(const struct format *format, struct str bytes, int64_t part)
{
    struct budget budget = {.limit = LIMIT};
    struct err err = {0};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &err);
    struct trace_builder *builder = source ? trace_builder_new(&budget, &err) : NULL;
    struct format_input input = {
        .source = source, .head = bytes, .builder = builder, .budget = &budget, .part = part};
    bool ok = builder && format->read(&input, &err);
    source_close(source);
    struct trace *trace = ok ? trace_builder_seal(builder, &err) : NULL;
    if (!ok)
        trace_builder_free(builder);
    if ((trace && dump_broken_promise(trace)) || (ok && trace->job.rank != (part >> 32) - 1))
        abort();
    trace_free(trace);
    if (budget.used)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct format_parts parts;
    struct err err = {0};
    struct str bytes = {(const char *)data, size};
    const struct format *format = format_named(STR("kineto-merged"));
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &err);
    if (!source || !format->parts(source, &parts, &err))
        abort();
    source_close(source);
    for (uint32_t i = 0; i < parts.count && i < MOST_READ; i++)
        read_part(format, bytes, parts.at[i]);
    return 0;
}
