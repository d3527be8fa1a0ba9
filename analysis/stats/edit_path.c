// SPDX-License-Identifier: Apache-2.0
// Myers' greedy search forward, edit by edit, and the way back through what it reached.
#include "analysis/stats/edit_path.h"

// How far along a each diagonal k = x - y got with d edits: rows[d][(k + d) / 2].
struct search {
    struct edit_symbols a, b;
    int32_t *rows[EDIT_PATH_MAX + 1];
};

static int32_t reached(const struct search *search, int32_t edits, int32_t diagonal)
{
    if (edits < 0 || diagonal < -edits || diagonal > edits)
        return -1;
    return search->rows[edits][(diagonal + edits) / 2];
}

// Whether the path to a diagonal with that many edits came by an insertion from the one above.
static bool comes_down(const struct search *search, int32_t edits, int32_t diagonal)
{
    return diagonal == -edits ||
           (diagonal != edits &&
            reached(search, edits - 1, diagonal - 1) < reached(search, edits - 1, diagonal + 1));
}

// Where a diagonal starts with that many edits, before equal symbols are followed.
static int32_t begin_of(const struct search *search, int32_t edits, int32_t diagonal)
{
    if (edits == 0)
        return 0;
    return comes_down(search, edits, diagonal) ? reached(search, edits - 1, diagonal + 1)
                                               : reached(search, edits - 1, diagonal - 1) + 1;
}

static int32_t follow(const struct search *search, int32_t x, int32_t diagonal)
{
    int32_t a_count = (int32_t)search->a.count, b_count = (int32_t)search->b.count;
    while (x < a_count && x - diagonal < b_count && search->a.at[x] == search->b.at[x - diagonal])
        x++;
    return x;
}

// One round; true once the end of both is reached.
static bool advance(struct search *search, int32_t edits)
{
    int32_t a_count = (int32_t)search->a.count, b_count = (int32_t)search->b.count;
    for (int32_t k = -edits; k <= edits; k += 2) {
        int32_t x = begin_of(search, edits, k);
        if (x <= a_count && x - k <= b_count && x - k >= 0)
            x = follow(search, x, k);
        search->rows[edits][(k + edits) / 2] = x;
        if (k == a_count - b_count && x >= a_count)
            return true;
    }
    return false;
}

static void walk_back(const struct search *search, int32_t edits, uint32_t *pairs)
{
    int32_t diagonal = (int32_t)search->a.count - (int32_t)search->b.count;
    for (; edits >= 0; edits--) {
        int32_t begin = begin_of(search, edits, diagonal);
        for (int32_t x = reached(search, edits, diagonal) - 1; x >= begin; x--)
            pairs[x] = (uint32_t)(x - diagonal);
        if (edits > 0)
            diagonal += comes_down(search, edits, diagonal) ? 1 : -1;
    }
}

static bool search_path(struct search *search, uint32_t *pairs, struct arena *scratch, bool *found,
                        struct err *err)
{
    for (int32_t edits = 0; edits <= EDIT_PATH_MAX; edits++) {
        search->rows[edits] =
            arena_room(scratch, (size_t)edits + 1, sizeof *search->rows[edits], err);
        if (!search->rows[edits])
            return false;
        if (!advance(search, edits))
            continue;
        walk_back(search, edits, pairs);
        *found = true;
        return true;
    }
    return true;
}

bool edit_path_find(struct edit_symbols a, struct edit_symbols b, uint32_t *pairs,
                    struct arena *scratch, bool *found, struct err *err)
{
    for (uint32_t i = 0; i < a.count; i++)
        pairs[i] = EDIT_PATH_NONE;
    uint32_t apart = a.count > b.count ? a.count - b.count : b.count - a.count;
    *found = false;
    if (apart > EDIT_PATH_MAX)
        return true;
    struct search *search = arena_alloc(scratch, sizeof *search, err);
    if (!search)
        return false;
    search->a = a;
    search->b = b;
    return search_path(search, pairs, scratch, found, err);
}
