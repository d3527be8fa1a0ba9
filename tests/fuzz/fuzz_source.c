// SPDX-License-Identifier: Apache-2.0
// Any bytes go through detection, decompression and limits without harm, and give the same bytes in
// pieces as in one.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "ingest/base/buf.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct source_limits limits = {.max_bytes = (uint64_t)1 << 18, .max_ratio = 200};

struct outcome {
    struct buf bytes;
    enum err_code code;
};

static struct outcome drain(struct source *source)
{
    struct outcome outcome = {0};
    struct err err = {0};
    char block[4096];
    size_t got = 1;
    while (got > 0 && source_read(source, block, sizeof block, &got, &err))
        buf_add(&outcome.bytes, block, got);
    outcome.code = err.code;
    return outcome;
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->at, b->at, a->len) == 0);
}

static struct outcome read_all(const uint8_t *data, size_t size, size_t step)
{
    struct err err = {0};
    struct source *source = source_mem_open(data, size, step, &err);
    if (source)
        source = format_open(source, NULL, &(struct format_found){0}, &err);
    if (source)
        source = source_limit_open(source, limits, &err);
    if (!source)
        return (struct outcome){.code = err.code};
    struct outcome outcome = drain(source);
    source_close(source);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct outcome whole = read_all(data + 1, size - 1, 0);
    struct outcome pieces = read_all(data + 1, size - 1, (size_t)data[0] + 1);
    // Damage may be noticed a block earlier or later, but never in one case only.
    if ((whole.code == ERR_NONE) != (pieces.code == ERR_NONE))
        abort();
    if (whole.code == ERR_NONE && pieces.code == ERR_NONE &&
        !same_bytes(&whole.bytes, &pieces.bytes))
        abort();
    buf_free(&whole.bytes);
    buf_free(&pieces.bytes);
    return 0;
}
