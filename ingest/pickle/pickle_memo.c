// SPDX-License-Identifier: Apache-2.0
#include "ingest/pickle/pickle_memo.h"

#include "ingest/base/fuzzed.h"

#include <string.h>

#define PAGE ((size_t)FUZZED_SIZE(4096, 4)) // values

static bool is_after(const struct pickle_memo *memo, size_t page)
{
    return page && memo->pages[page - 1] == memo->pages[page];
}

static bool is_before(const struct pickle_memo *memo, size_t page)
{
    return page + 1 < memo->page_count && memo->pages[page + 1] == memo->pages[page];
}

// Pages that share their memory are neighbors.
static bool is_shared(const struct pickle_memo *memo, size_t page)
{
    return is_after(memo, page) || is_before(memo, page);
}

static void drop(struct pickle_memo *memo, size_t page)
{
    if (memo->pages[page] && !is_shared(memo, page))
        budget_free(memo->budget, memo->pages[page], PAGE * sizeof(pickle_value));
    memo->pages[page] = NULL;
}

void pickle_memo_free(struct pickle_memo *memo)
{
    for (size_t i = 0; i < memo->page_count; i++)
        drop(memo, i);
    budget_free(memo->budget, memo->pages, memo->page_cap * sizeof *memo->pages);
}

pickle_value pickle_memo_get(const struct pickle_memo *memo, uint64_t at)
{
    uint64_t page = at / PAGE;
    return page < memo->page_count && memo->pages[page] ? memo->pages[page][at % PAGE]
                                                        : PICKLE_ABSENT;
}

// What was numbered last may still change, so a page is compared two pages later.
static void share(struct pickle_memo *memo, size_t count)
{
    pickle_value *before = count > 3 ? memo->pages[count - 4] : NULL;
    pickle_value *at = count > 3 ? memo->pages[count - 3] : NULL;
    if (!before || !at || before == at || memcmp(before, at, PAGE * sizeof *at) != 0)
        return;
    drop(memo, count - 3);
    memo->pages[count - 3] = before;
}

static bool make_pages(struct pickle_memo *memo, size_t count, struct err *err)
{
    pickle_value **pages =
        budget_room(memo->budget, memo->pages, &memo->page_cap, count, sizeof *pages, err);
    if (!pages)
        return false;
    memo->pages = pages;
    while (memo->page_count < count)
        pages[memo->page_count++] = NULL;
    share(memo, count);
    return true;
}

static pickle_value *copy(struct pickle_memo *memo, const pickle_value *page, struct err *err)
{
    pickle_value *made = budget_zalloc(memo->budget, PAGE * sizeof *made, err);
    if (made && page)
        memcpy(made, page, PAGE * sizeof *made);
    return made;
}

// Writing to a page between two that share its memory separates them: those after it get a copy.
static bool part(struct pickle_memo *memo, size_t page, struct err *err)
{
    const pickle_value *shared = memo->pages[page];
    if (!shared || !is_after(memo, page) || !is_before(memo, page))
        return true;
    pickle_value *rest = copy(memo, shared, err);
    for (size_t i = page + 1; rest && i < memo->page_count && memo->pages[i] == shared; i++)
        memo->pages[i] = rest;
    return rest;
}

// Gives a page that is about to change separate memory.
static bool own(struct pickle_memo *memo, size_t page, struct err *err)
{
    if (memo->pages[page] && !is_shared(memo, page))
        return true;
    if (!part(memo, page, err))
        return false;
    pickle_value *own = copy(memo, memo->pages[page], err);
    if (own)
        memo->pages[page] = own;
    return own;
}

bool pickle_memo_set(struct pickle_memo *memo, uint64_t at, pickle_value value, struct err *err)
{
    size_t page = (size_t)(at / PAGE);
    if ((page >= memo->page_count && !make_pages(memo, page + 1, err)) || !own(memo, page, err))
        return false;
    pickle_value *place = &memo->pages[page][at % PAGE];
    memo->set += *place == PICKLE_ABSENT;
    *place = value;
    return true;
}
