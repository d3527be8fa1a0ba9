// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as an XPlane profile or refused.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/source/format.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_xplane;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (uint64_t)256 << 20};
    struct err err = {0};
    struct source *source = source_mem_open(data, size, 0, &err);
    struct trace_builder *builder = source ? trace_builder_new(&budget, &err) : NULL;
    if (!builder)
        abort();
    struct format_input input = {.source = source, .builder = builder, .budget = &budget};
    bool ok = format_xplane.read(&input, &err);
    source_close(source);
    if (ok)
        trace_free(trace_builder_seal(builder, &err));
    else
        trace_builder_free(builder);
    if (budget.used)
        abort();
    return 0;
}
