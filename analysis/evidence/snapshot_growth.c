// SPDX-License-Identifier: Apache-2.0
// Growth of memory: what was allocated throughout the steps and never freed, by the calls that did.
#include "analysis/evidence/snapshot_view.h"
#include "analysis/report/tables.h"

#include <stdlib.h>

// A call grows if it left something in each third of the steps. A buffer that is replaced or
// emptied now and then only leaves what it has held since.
enum { THIRDS = 3, ALL_THIRDS = (1 << THIRDS) - 1, FEWEST_STEPS = THIRDS };

struct steps {
    int64_t *from; // their starts, and the end of the last
    size_t count;
};

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

// --- steps -------------------------------------------------------------------------------------

// Starts of steps, of the profiler where it marked them.
static void find_marks(const struct snapshot_view *view, bool profiler, struct steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < view->snapshot->mark_count; i++) {
        const struct snapshot_mark *mark = &view->snapshot->marks[i];
        if (mark->device == view->number && mark->step == profiler)
            steps->from[count++] = mark->time_us;
    }
    qsort(steps->from, count, sizeof *steps->from, by_number);
    steps->count = count ? count - 1 : 0;
}

// The first fills caches and the last may still be in use: both are left out, and so are those that
// the ring buffer has lost.
static bool find_steps(const struct snapshot_view *view, struct steps *steps, struct err *err)
{
    size_t room = view->snapshot->mark_count + 2;
    steps->from = arena_array(view->scratch, room, sizeof *steps->from, err);
    if (!steps->from)
        return false;
    find_marks(view, true, steps);
    if (steps->count == 0)
        find_marks(view, false, steps);
    for (; steps->count && steps->from[1] <= view->device->first_us; steps->count--)
        steps->from++;
    steps->from++;
    steps->count = steps->count >= FEWEST_STEPS + 2 ? steps->count - 2 : 0;
    return true;
}

// Which step a time is in; SIZE_MAX: none.
static size_t step_of(const struct steps *steps, int64_t time_us)
{
    size_t low = 0, high = steps->count;
    if (time_us < steps->from[0] || time_us >= steps->from[high])
        return SIZE_MAX;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (steps->from[middle] <= time_us)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// --- what was left ------------------------------------------------------------------------------

struct left {
    uint32_t stack;
    int64_t time_us, size;
};

static int by_stack(const void *left, const void *right)
{
    const struct left *a = left, *b = right;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return (a->time_us > b->time_us) - (a->time_us < b->time_us);
}

static struct left *find_left(const struct snapshot_view *view, size_t *count, struct err *err)
{
    const struct live_blocks *live = &view->snapshot->live;
    struct left *left = arena_array(view->scratch, live->count + 1, sizeof *left, err);
    *count = 0;
    for (size_t i = 0; left && i < live->cap; i++) {
        const struct live_block *block = &live->slots[i];
        if (block->device == view->number)
            left[(*count)++] = (struct left){block->stack, block->time_us, block->size};
    }
    if (left)
        qsort(left, *count, sizeof *left, by_stack);
    return left;
}

struct grown {
    uint32_t stack;
    size_t steps, last;
    unsigned thirds; // a bit for each that has a step
    int64_t blocks, bytes;
};

static void add_left(struct grown *grown, const struct steps *steps, const struct left *left)
{
    size_t step = step_of(steps, left->time_us);
    if (step == SIZE_MAX)
        return;
    grown->steps += grown->blocks == 0 || step != grown->last;
    grown->last = step;
    grown->thirds |= 1u << (step * THIRDS / steps->count);
    grown->blocks++;
    figures_sum(&grown->bytes, left->size);
}

static bool add_row(const struct snapshot_view *view, const struct grown *grown,
                    const struct steps *steps, struct err *err)
{
    struct row row = {.desc = &table_snapshot_growth};
    enum snapshot_category category = snapshot_category_of(view->snapshot, grown->stack);
    snapshot_row_place(view, &row);
    row_word(&row, SNAPSHOT_GROWTH_CATEGORY,
             category == SNAPSHOT_UNKNOWN ? NULL : snapshot_category_words[category]);
    snapshot_row_calls(view, &row, SNAPSHOT_GROWTH_CALLS, grown->stack);
    row_i64(&row, SNAPSHOT_GROWTH_STEPS, (int64_t)grown->steps);
    row_i64(&row, SNAPSHOT_GROWTH_OF_STEPS, (int64_t)steps->count);
    row_i64(&row, SNAPSHOT_GROWTH_BLOCKS, grown->blocks);
    row_i64(&row, SNAPSHOT_GROWTH_BYTES, grown->bytes);
    row_f64(&row, SNAPSHOT_GROWTH_PER_STEP, (double)grown->bytes / (double)steps->count);
    return row_end(&row, view->report, err);
}

static bool judge(const struct snapshot_view *view, const struct grown *grown,
                  const struct steps *steps, struct snapshot_growing *growing, struct err *err)
{
    enum { MOST_ROWS = 1000 };
    if (grown->thirds != ALL_THIRDS)
        return true;
    figures_sum(&growing->bytes, grown->bytes);
    return growing->rows++ >= MOST_ROWS || add_row(view, grown, steps, err);
}

bool snapshot_growth_add(const struct snapshot_view *view, struct snapshot_growing *growing,
                         struct err *err)
{
    struct steps steps;
    size_t count;
    *growing = (struct snapshot_growing){0};
    if (!find_steps(view, &steps, err))
        return false;
    const struct left *left = steps.count ? find_left(view, &count, err) : NULL;
    if (steps.count == 0 || !left)
        return steps.count == 0;
    growing->steps = steps.count;
    for (size_t i = 0; i < count;) {
        struct grown grown = {.stack = left[i].stack};
        for (; i < count && left[i].stack == grown.stack; i++)
            add_left(&grown, &steps, &left[i]);
        if (!judge(view, &grown, &steps, growing, err))
            return false;
    }
    return true;
}
