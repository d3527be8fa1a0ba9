// SPDX-License-Identifier: Apache-2.0
// What held the memory of a device at its peak, and at its last request that failed.
#include "analysis/evidence/snapshot_view.h"
#include "analysis/report/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HOLDERS = 200 };

struct holder {
    int64_t bytes, blocks;
    uint32_t stack;
    bool before; // the recording
};

struct moment {
    const struct snapshot_view *view;
    const char *name;
    bool peak;                   // else the last OOM
    int64_t all;                 // allocated
    struct snapshot_use *before; // by stack, of blocks that were there before the recording
    struct holder *holders;
    size_t count;
};

static struct snapshot_use use_of(const struct moment *moment, size_t stack)
{
    const struct snapshot_device *device = moment->view->device;
    if (stack >= device->site_cap)
        return (struct snapshot_use){0};
    const struct snapshot_site *site = &device->sites[stack];
    return moment->peak ? snapshot_use_at_peak(device, site) : site->oom;
}

static void take(struct moment *moment, size_t stack, struct snapshot_use use, bool before)
{
    if (use.bytes > 0)
        moment->holders[moment->count++] =
            (struct holder){use.bytes, use.blocks, (uint32_t)stack, before};
}

static int by_bytes(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

// What was allocated before the recording and is still there at the end was there all the time;
// without recorded calls its holder is unknown.
static bool find_before(struct moment *moment, struct err *err)
{
    const struct snapshot_view *view = moment->view;
    moment->before =
        arena_array(view->scratch, view->snapshot->stack_count, sizeof *moment->before, err);
    if (!moment->before)
        return false;
    snapshot_add_before(view->snapshot, view->number, moment->before);
    moment->before[SNAPSHOT_NO_STACK] = (struct snapshot_use){0};
    return true;
}

static bool find_holders(struct moment *moment, struct err *err)
{
    size_t stacks = moment->view->snapshot->stack_count;
    moment->holders = arena_array(moment->view->scratch, 2 * stacks, sizeof *moment->holders, err);
    if (!moment->holders || !find_before(moment, err))
        return false;
    for (size_t stack = 0; stack < stacks; stack++) {
        take(moment, stack, use_of(moment, stack), false);
        take(moment, stack, moment->before[stack], true);
    }
    qsort(moment->holders, moment->count, sizeof *moment->holders, by_bytes);
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

struct cells {
    const char *category, *origin;
    int64_t bytes;
};

static struct row start_row(const struct moment *moment, const struct cells *cells)
{
    struct row row = {.desc = &table_snapshot_holders};
    snapshot_row_place(moment->view, &row);
    row_word(&row, SNAPSHOT_HOLDERS_MOMENT, moment->name);
    row_word(&row, SNAPSHOT_HOLDERS_CATEGORY, cells->category);
    row_word(&row, SNAPSHOT_HOLDERS_ORIGIN, cells->origin);
    row_i64(&row, SNAPSHOT_HOLDERS_BYTES, cells->bytes);
    row_share(&row, SNAPSHOT_HOLDERS_SHARE, cells->bytes, moment->all);
    return row;
}

static const char *category_word(enum snapshot_category category)
{
    return category == SNAPSHOT_UNKNOWN ? NULL : snapshot_category_words[category];
}

static const char *word_of(const struct moment *moment, const struct holder *holder)
{
    return category_word(snapshot_category_of(moment->view->snapshot, holder->stack));
}

static bool add_holder(const struct moment *moment, const struct holder *holder, struct err *err)
{
    const struct cells cells = {word_of(moment, holder), holder->before ? "before" : "recorded",
                                holder->bytes};
    struct row row = start_row(moment, &cells);
    snapshot_row_calls(moment->view, &row, SNAPSHOT_HOLDERS_CALLS, holder->stack);
    row_i64(&row, SNAPSHOT_HOLDERS_BLOCKS, holder->blocks);
    return row_end(&row, moment->view->report, err);
}

static bool add_rest(const struct moment *moment, enum snapshot_category category, struct err *err)
{
    struct holder rest = {0};
    for (size_t i = MOST_HOLDERS; i < moment->count; i++) {
        const struct holder *holder = &moment->holders[i];
        if (snapshot_category_of(moment->view->snapshot, holder->stack) != category)
            continue;
        figures_sum(&rest.bytes, holder->bytes);
        rest.blocks += holder->blocks;
        rest.stack = holder->stack;
    }
    if (rest.blocks == 0)
        return true;
    const struct cells cells = {word_of(moment, &rest), "rest", rest.bytes};
    struct row row = start_row(moment, &cells);
    row_i64(&row, SNAPSHOT_HOLDERS_BLOCKS, rest.blocks);
    return row_end(&row, moment->view->report, err);
}

// What no block explains: freed during the recording, or without calls.
static int64_t unexplained(const struct moment *moment)
{
    int64_t rest = moment->all;
    for (size_t i = 0; i < moment->count; i++)
        if (__builtin_sub_overflow(rest, moment->holders[i].bytes, &rest))
            return 0;
    return rest;
}

static bool add_rows(const struct moment *moment, struct err *err)
{
    const struct cells before = {NULL, "before", unexplained(moment)};
    for (size_t i = 0; i < moment->count && i < MOST_HOLDERS; i++)
        if (!add_holder(moment, &moment->holders[i], err))
            return false;
    for (int category = 0; category < SNAPSHOT_CATEGORIES; category++)
        if (!add_rest(moment, (enum snapshot_category)category, err))
            return false;
    struct row row = start_row(moment, &before);
    return before.bytes == 0 || row_end(&row, moment->view->report, err);
}

static void find_top(const struct moment *moment, struct snapshot_top *top)
{
    int64_t sums[SNAPSHOT_CATEGORIES] = {0};
    for (size_t i = 0; i < moment->count; i++)
        figures_sum(&sums[snapshot_category_of(moment->view->snapshot, moment->holders[i].stack)],
                    moment->holders[i].bytes);
    *top = (struct snapshot_top){"before", unexplained(moment)};
    for (enum snapshot_category i = SNAPSHOT_UNKNOWN; i < SNAPSHOT_CATEGORIES; i++)
        if (sums[i] > top->bytes)
            *top = (struct snapshot_top){category_word(i), sums[i]};
}

static bool last_oom(const struct snapshot_view *view, int64_t *allocated)
{
    bool found = false;
    for (size_t i = 0; i < view->snapshot->oom_count; i++)
        if (view->snapshot->ooms[i].device == view->number) {
            *allocated = view->snapshot->ooms[i].allocated;
            found = true;
        }
    figures_sum(allocated, snapshot_allocated_before(view->snapshot, view->number));
    return found;
}

bool snapshot_holders_add(const struct snapshot_view *view, struct snapshot_top *top,
                          struct err *err)
{
    struct moment peak = {.view = view, .name = "peak", .peak = true, .all = view->device->peak};
    struct moment oom = {.view = view, .name = "oom"};
    figures_sum(&peak.all, snapshot_allocated_before(view->snapshot, view->number));
    if (!find_holders(&peak, err) || !add_rows(&peak, err))
        return false;
    find_top(&peak, top);
    return !last_oom(view, &oom.all) || (find_holders(&oom, err) && add_rows(&oom, err));
}
