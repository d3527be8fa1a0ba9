// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pickle: read or refused, the same in pieces as in one, and as a memory snapshot in
// either form no harm.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/format.h"
#include "ingest/pickle/pickle.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_memory_snapshot, format_memory_snapshot_json;

#define MOST_MEMORY ((uint64_t)64 << 20)

// Visits every value that the root refers to within as many steps as there are bytes.
static uint64_t visit(const struct pickle *pickle, pickle_value value, uint64_t *steps, int depth)
{
    uint64_t sum = value + pickle_text(pickle, value).len;
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(pickle, value);
    while (depth && *steps < pickle_size(pickle) && pickle_walk_next(&walk, &key, &item)) {
        ++*steps;
        sum = sum * 31 + key + visit(pickle, item, steps, depth - 1);
    }
    return sum;
}

static uint64_t read_in_steps(const uint8_t *data, size_t size, size_t step)
{
    struct err err = {0};
    struct budget budget = {.limit = MOST_MEMORY};
    uint64_t sum = 0, steps = 0;
    struct pickle_input input = {source_mem_open(data, size, step, &err), &budget, NULL, NULL, NULL};
    if (!input.source)
        abort();
    struct pickle *pickle = pickle_load(&input, &err);
    if (!pickle && err.code == ERR_NONE)
        abort();
    if (pickle)
        sum = visit(pickle, pickle_root(pickle), &steps, 16);
    pickle_free(pickle);
    source_close(input.source);
    if (budget.used)
        abort();
    return sum ? sum : err.pos;
}

static void count(const struct format *format, const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = MOST_MEMORY};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(data, size, 0, &err);
    if (!input.source || (!format->count(&input, &err) && err.code == ERR_NONE))
        abort();
    source_close(input.source);
    if (budget.used)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (read_in_steps(data + 1, size - 1, 0) !=
        read_in_steps(data + 1, size - 1, (size_t)data[0] + 1))
        abort();
    count(&format_memory_snapshot, data + 1, size - 1);
    count(&format_memory_snapshot_json, data + 1, size - 1);
    return 0;
}
