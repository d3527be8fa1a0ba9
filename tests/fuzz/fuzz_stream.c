// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace that is read as a stream: the same events in pieces as in one.
#include <stdlib.h>

#include "ingest/ingest.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct trace *read_in_steps(struct str bytes, size_t step, struct budget *budget)
{
    struct err err = {0};
    struct source *source = source_mem_open(bytes.at, bytes.len, step, &err);
    struct trace *trace = source ? ingest_source(source, budget, NULL, &err) : NULL;
    if (!trace && err.code == ERR_NONE)
        abort();
    return trace;
}

static uint64_t sum_of(const struct trace *trace)
{
    uint64_t sum = trace->event_count;
    for (uint32_t i = 0; i < trace->event_count; i++)
        sum = sum * 31 + (uint64_t)trace->begin_ns[i] + (uint64_t)trace->dur_ns[i] * 7 +
              trace->kind[i] + trace_text(trace, trace->name[i]).len;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct str bytes = {(const char *)data + 1, size - 1};
    struct trace *whole = read_in_steps(bytes, 0, &budget);
    struct trace *pieces = read_in_steps(bytes, (size_t)data[0] + 1, &budget);
    if (!whole != !pieces || (whole && sum_of(whole) != sum_of(pieces)))
        abort();
    if (whole) {
        trace_free(whole);
        trace_free(pieces);
    }
    if (budget.used)
        abort();
    return 0;
}
