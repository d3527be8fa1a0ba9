// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pickle: read or refused, the same in pieces as in one, and as a memory snapshot in
// either form no harm.
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/gathered.h"
#include "ingest/source/format.h"
#include "ingest/pickle/pickle.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_memory_snapshot, format_memory_snapshot_json,
    format_memory_snapshot_html;

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
    struct pickle_input input = {source_mem_open(data, size, step, &err), &budget, NULL, NULL,
                                 NULL};
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

// Of the sums and of what is in use.
static uint64_t sum_of(const struct evidence *evidence)
{
    const struct memory_snapshot *memory = evidence->memory;
    uint64_t sum = memory ? memory->live.count + memory->stack_count * 31 : 0;
    for (size_t i = 0; memory && i < SNAPSHOT_MOST_DEVICES; i++)
        if (memory->devices[i])
            sum = sum * 31 + (uint64_t)memory->devices[i]->peak + memory->devices[i]->peaks;
    return sum;
}

static void check(const struct format *format, const uint8_t *data, size_t size)
{
    gathered_check(format, (struct str){(const char *)data + 1, size - 1}, (size_t)data[0] + 1,
                   sum_of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (read_in_steps(data + 1, size - 1, 0) !=
        read_in_steps(data + 1, size - 1, (size_t)data[0] + 1))
        abort();
    check(&format_memory_snapshot, data, size);
    check(&format_memory_snapshot_json, data, size);
    check(&format_memory_snapshot_html, data, size);
    return 0;
}
