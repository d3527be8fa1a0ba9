// SPDX-License-Identifier: Apache-2.0
// Any bytes as records of a format: the same in pieces as in one, and figures of them.
#ifndef TESTS_FUZZ_GATHERED_H
#define TESTS_FUZZ_GATHERED_H

#include <stdlib.h>

#include "analysis/evidence/evidence_report.h"
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#define GATHERED_MOST_MEMORY ((uint64_t)64 << 20)

// Of all that was gathered; aborts if something in it is wrong.
typedef uint64_t sum_of_evidence(const struct evidence *evidence);

// Whatever was gathered can be made tables of.
static inline void gathered_tables(const struct evidence *evidence)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = GATHERED_MOST_MEMORY};
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    if (!evidence_report(evidence, (struct str){"x", 1}, &report, &err) && err.code == ERR_NONE)
        abort();
    arena_free(&arena);
}

static inline uint64_t gathered_in_steps(const struct format *format, struct str bytes, size_t step,
                                         sum_of_evidence *sum_of)
{
    struct err err = {0};
    struct budget budget = {.limit = GATHERED_MOST_MEMORY};
    struct evidence evidence;
    evidence_init(&evidence, &budget);
    struct format_input input = {.budget = &budget, .evidence = &evidence};
    input.source = source_mem_open(bytes.at, bytes.len, step, &err);
    bool ok = input.source && format->gather(&input, &err);
    if (!ok && err.code == ERR_NONE)
        abort();
    uint64_t sum = sum_of(&evidence);
    if (ok)
        gathered_tables(&evidence);
    source_close(input.source);
    evidence_free(&evidence);
    if (budget.used)
        abort();
    return ok ? 2 * sum + 1 : 0; // how far a refused file was read depends on the pieces
}

static inline void gathered_count(const struct format *format, struct str bytes)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = GATHERED_MOST_MEMORY};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(bytes.at, bytes.len, 0, &err);
    if (!input.source || (!format->count(&input, &err) && err.code == ERR_NONE) || budget.used)
        abort();
    source_close(input.source);
    arena_free(&arena);
}

static inline void gathered_check(const struct format *format, struct str bytes, size_t step,
                                  sum_of_evidence *sum_of)
{
    if (gathered_in_steps(format, bytes, 0, sum_of) !=
        gathered_in_steps(format, bytes, step, sum_of))
        abort();
    gathered_count(format, bytes);
}

#endif
