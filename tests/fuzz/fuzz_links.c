// SPDX-License-Identifier: Apache-2.0
// Any bytes as tests and records of links: whichever format they look like reads or refuses them.
#include <stdint.h>
#include <stdlib.h>

#include "ingest/evidence/evidence.h"
#include "ingest/format.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_MEMORY ((uint64_t)64 << 20)

// Reads all that was gathered.
static uint64_t sum_of(const struct link_tests *links)
{
    uint64_t sum = 0;
    const struct link_row *rows = links->parts[LINK_ROWS].items;
    const struct link_device *devices = links->parts[LINK_DEVICES].items;
    for (size_t i = 0; i < links->parts[LINK_ROWS].count; i++) {
        if (rows[i].run >= links->parts[LINK_RUNS].count)
            abort();
        sum = sum * 31 + rows[i].type.len + (uint64_t)rows[i].bytes;
    }
    for (size_t i = 0; i < links->parts[LINK_DEVICES].count; i++) {
        if (devices[i].run >= links->parts[LINK_RUNS].count)
            abort();
        sum = sum * 31 + devices[i].host.len + (uint64_t)devices[i].rank;
    }
    return sum;
}

static uint64_t gather_in_steps(const struct format *format, struct str text, size_t step)
{
    struct err err = {0};
    struct budget budget = {.limit = MOST_MEMORY};
    struct evidence evidence;
    evidence_init(&evidence, &budget);
    struct format_input input = {.budget = &budget, .evidence = &evidence};
    input.source = source_mem_open(text.at, text.len, step, &err);
    bool ok = input.source && format->gather(&input, &err);
    if (!ok && err.code == ERR_NONE)
        abort();
    uint64_t sum = sum_of(&evidence.links) * 2 + ok;
    source_close(input.source);
    evidence_free(&evidence);
    if (budget.used)
        abort();
    return sum;
}

static void count(const struct format *format, struct str text)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = MOST_MEMORY};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(text.at, text.len, 0, &err);
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
    struct str text = {(const char *)data + 1, size - 1};
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR(""));
    if (!format || !format->gather || !format->count)
        return 0;
    uint64_t whole = gather_in_steps(format, text, 0);
    if (whole != gather_in_steps(format, text, (size_t)data[0] + 1))
        abort();
    count(format, text);
    return 0;
}
