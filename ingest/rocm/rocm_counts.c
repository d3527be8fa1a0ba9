// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_counts.h"

#include <stdlib.h>

void rocm_counts_free(struct rocm_counts *counts)
{
    if (counts->budget)
        budget_free(counts->budget, counts->at, counts->cap * sizeof *counts->at);
    *counts = (struct rocm_counts){0};
}

bool rocm_counts_add(struct rocm_counts *counts, int64_t counter, double value, struct err *err)
{
    struct rocm_count *at =
        budget_room(counts->budget, counts->at, &counts->cap, counts->count + 1, sizeof *at, err);
    if (!at)
        return false;
    counts->at = at;
    at[counts->count++] = (struct rocm_count){counter, value};
    return true;
}

// Also by value, so that sums are the same on all systems.
static int by_counter(const void *left, const void *right)
{
    const struct rocm_count *a = left, *b = right;
    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

bool rocm_counts_end(struct rocm_counts *counts, struct text_table *names,
                     struct trace_builder *builder, const struct counter_record *when,
                     struct err *err)
{
    struct counter_record record = *when;
    const struct rocm_count *at = counts->at;
    size_t count = counts->count;
    if (count)
        qsort(counts->at, count, sizeof *at, by_counter);
    counts->count = 0;
    for (size_t i = 0; i < count;) {
        int64_t counter = at[i].counter;
        record.value = 0;
        for (; i < count && at[i].counter == counter; i++)
            record.value += at[i].value;
        if (!text_table_intern(names, builder, counter, &record.name, err) ||
            !trace_builder_count(builder, &record, err))
            return false;
    }
    return true;
}
