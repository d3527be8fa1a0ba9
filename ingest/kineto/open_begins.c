// SPDX-License-Identifier: Apache-2.0
// Stacks of unmatched begin events, as linked lists in one array.
#include "ingest/kineto/open_begins.h"

void open_begins_init(struct open_begins *begins, struct budget *budget)
{
    *begins = (struct open_begins){.budget = budget};
    record_set_init(&begins->threads, sizeof(struct open_thread), budget);
}

void open_begins_free(struct open_begins *begins)
{
    record_set_free(&begins->threads);
    budget_free(begins->budget, begins->tops, begins->top_cap * sizeof *begins->tops);
    budget_free(begins->budget, begins->items, begins->cap * sizeof *begins->items);
    open_begins_init(begins, begins->budget);
}

static bool thread_index(struct open_begins *begins, const struct open_thread *thread,
                         uint32_t *index, struct err *err)
{
    if (!record_set_add(&begins->threads, thread, index, err))
        return false;
    if (*index < begins->top_cap)
        return true;
    uint32_t cap = begins->top_cap * 2 + 16;
    uint32_t *tops = budget_realloc(begins->budget, begins->tops, begins->top_cap * sizeof *tops,
                                    cap * sizeof *tops, err);
    if (!tops)
        return false;
    memset(tops + begins->top_cap, 0, (cap - begins->top_cap) * sizeof *tops);
    begins->tops = tops;
    begins->top_cap = cap;
    return true;
}

static bool item_index(struct open_begins *begins, uint32_t *index, struct err *err)
{
    if (begins->free) {
        *index = begins->free - 1;
        begins->free = begins->items[*index].below;
        return true;
    }
    if (begins->count == begins->cap) {
        if (begins->cap > UINT32_MAX / 2)
            return err_set(err, ERR_LIMIT, "more than %u begin events without an end",
                           begins->count);
        uint32_t cap = begins->cap + begins->cap / 2 + 64;
        struct open_begin *items = budget_realloc(
            begins->budget, begins->items, begins->cap * sizeof *items, cap * sizeof *items, err);
        if (!items)
            return false;
        begins->items = items;
        begins->cap = cap;
    }
    *index = begins->count++;
    return true;
}

bool open_begins_push(struct open_begins *begins, const struct open_thread *thread,
                      const struct open_begin *begin, struct err *err)
{
    uint32_t at, item;
    if (!thread_index(begins, thread, &at, err) || !item_index(begins, &item, err))
        return false;
    begins->items[item] = *begin;
    begins->items[item].below = begins->tops[at];
    begins->tops[at] = item + 1;
    return true;
}

static void pop(struct open_begins *begins, uint32_t thread, struct open_begin *begin)
{
    uint32_t item = begins->tops[thread] - 1;
    *begin = begins->items[item];
    begins->tops[thread] = begin->below;
    begins->items[item].below = begins->free;
    begins->free = item + 1;
}

bool open_begins_pop(struct open_begins *begins, const struct open_thread *thread,
                     struct open_begin *begin, bool *found, struct err *err)
{
    uint32_t at;
    if (!thread_index(begins, thread, &at, err))
        return false;
    *found = begins->tops[at] != 0;
    if (*found)
        pop(begins, at, begin);
    return true;
}

bool open_begins_take(struct open_begins *begins, struct open_thread *thread,
                      struct open_begin *begin)
{
    // Threads without unmatched begin events are dropped for good.
    while (begins->threads.count) {
        uint32_t last = begins->threads.count - 1;
        if (begins->tops[last]) {
            memcpy(thread, begins->threads.items + last * sizeof *thread, sizeof *thread);
            pop(begins, last, begin);
            return true;
        }
        begins->threads.count--;
    }
    return false;
}
