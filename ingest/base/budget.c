// SPDX-License-Identifier: Apache-2.0
// Counted allocation.
#include "ingest/base/budget.h"

#include <inttypes.h>
#include <stdlib.h>

static bool reserve(struct budget *budget, size_t size, struct err *err)
{
    if (budget->limit && size > budget->limit - budget->used)
        return err_set(err, ERR_LIMIT,
                       "needs more memory than its budget of %" PRIu64 " MiB allows (used %" PRIu64
                       " MiB, asked for %zu more bytes); raise --job-memory",
                       budget->limit >> 20, budget->used >> 20, size);
    budget->used += size;
    if (budget->used > budget->peak)
        budget->peak = budget->used;
    return true;
}

void *budget_alloc(struct budget *budget, size_t size, struct err *err)
{
    return budget_realloc(budget, NULL, 0, size, err);
}

void *budget_realloc(struct budget *budget, void *block, size_t old_size, size_t new_size,
                     struct err *err)
{
    // Large blocks are moved by remapping, so growing one never holds both.
    if (new_size > old_size && !reserve(budget, new_size - old_size, err))
        return NULL;
    void *grown = realloc(block, new_size ? new_size : 1);
    if (!grown) {
        budget->used -= new_size > old_size ? new_size - old_size : 0;
        err_set(err, ERR_LIMIT, "out of memory asking for %zu bytes", new_size);
        return NULL;
    }
    budget->used -= new_size < old_size ? old_size - new_size : 0;
    return grown;
}

void budget_free(struct budget *budget, void *block, size_t size)
{
    if (!block)
        return;
    budget->used -= size;
    free(block);
}
