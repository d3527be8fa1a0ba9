// SPDX-License-Identifier: Apache-2.0
// Any bytes go through the whole trace reader without harm, and give the same result in one piece
// as in another way, which the first byte chooses: in small pieces, or with one variant of matching
// layouts or none.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/kineto/kineto_layout.h"
#include "tests/golden/trace_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT ((uint64_t)64 << 20)

enum way { WAY_PIECES, WAY_NO_LAYOUTS, WAY_VARIANT };

static void dump_whole(struct buf *out, struct str bytes)
{
    struct budget budget = {.limit = LIMIT};
    struct err err = {0};
    struct trace *trace = dump_read(bytes, 0, &budget, &err);
    if (trace && dump_broken_promise(trace))
        abort();
    dump_result(out, trace, &err);
    if (budget.used)
        abort();
}

static const struct kineto_match *choose(unsigned number)
{
    const struct kineto_match *variants = kineto_match_variants();
    unsigned count = 0;
    while (variants[count].name)
        count++;
    return count ? &variants[number % count] : NULL;
}

static void dump_again(struct buf *out, struct str bytes, unsigned number)
{
    struct budget budget = {.limit = LIMIT};
    struct err err = {0};
    enum way way = (enum way)(number % 3);
    // Layouts have no part in input of another format, or of none.
    if (way == WAY_PIECES || format_find(bytes, (struct str){"", 0}) != &format_kineto) {
        dump_bytes(out, bytes, number + 1, &budget);
    } else {
        const struct kineto_match *match = way == WAY_NO_LAYOUTS ? NULL : choose(number / 3);
        dump_result(out, dump_read_by(match, bytes, &budget, &err), &err);
    }
    if (budget.used)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    struct buf whole = {0}, again = {0};
    dump_whole(&whole, bytes);
    dump_again(&again, bytes, data[0]);
    if (!str_equal((struct str){whole.at, whole.len}, (struct str){again.at, again.len}))
        abort();
    buf_free(&whole);
    buf_free(&again);
    return 0;
}
