// SPDX-License-Identifier: Apache-2.0
// Any bytes go through the whole trace reader without harm, and give the same in one piece, in
// pieces of the size that the first byte says, and by each way of matching
// layouts or none.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/kineto_layout.h"
#include "tests/golden/trace_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_promises(struct str bytes)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct err err;
    struct trace *trace = dump_read(bytes, 0, &budget, &err);
    if (trace && dump_broken_promise(trace))
        abort();
    trace_free(trace);
    if (budget.used)
        abort();
}

static void check_variant(const struct kineto_match *match, struct str bytes,
                          const struct buf *expected)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct err err = {0};
    struct buf dump = {0};
    dump_result(&dump, dump_read_by(match, bytes, &budget, &err), &err);
    if (!str_equal((struct str){dump.at, dump.len}, (struct str){expected->at, expected->len}))
        abort();
    buf_free(&dump);
}

// What no format takes is no matter of layouts.
static void check_variants(struct str bytes, const struct buf *expected)
{
    if (!format_kineto.probe(bytes))
        return;
    check_variant(NULL, bytes, expected);
    for (const struct kineto_match *match = kineto_match_variants(); match->name; match++)
        check_variant(match, bytes, expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct buf whole = {0}, pieces = {0};
    dump_bytes(&whole, bytes, 0, &budget);
    dump_bytes(&pieces, bytes, (size_t)data[0] + 1, &budget);
    if (budget.used ||
        !str_equal((struct str){whole.at, whole.len}, (struct str){pieces.at, pieces.len}))
        abort();
    check_variants(bytes, &whole);
    buf_free(&whole);
    buf_free(&pieces);
    check_promises(bytes);
    return 0;
}
