// SPDX-License-Identifier: Apache-2.0
// Any bytes load as a stored result or are refused, and what loads can be saved and loaded again.
#include "analysis/analysis.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena}, again = {.arena = &arena};
    struct buf saved = {0};
    struct err err;
    if (report_load(&report, (struct str){(const char *)data, size}, trace_tables, &err) &&
        (!report_save(&report, &saved, &err) ||
         (!report_load(&again, (struct str){saved.at, saved.len}, trace_tables, &err) &&
          err.code != ERR_LIMIT)))
        abort();
    buf_free(&saved);
    arena_free(&arena);
    if (budget.used)
        abort();
    return 0;
}
