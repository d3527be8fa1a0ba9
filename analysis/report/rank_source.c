// SPDX-License-Identifier: Apache-2.0
// Going through the ranks of a run a few at a time.
#include "analysis/report/rank_source.h"

#include "analysis/report/tables.h"
#include "ingest/base/crew.h"

// Ranks loaded at a time: enough to make helper threads worth starting.
enum { BATCH = 16 };

static bool is_listed(const struct table_desc *desc)
{
    const struct table_desc *const *at = run_rank_tables;
    while (*at && *at != desc)
        at++;
    return *at != NULL;
}

static bool load_report(void *context, size_t index, const struct table_desc *const *known,
                        struct report *report, struct err *err)
{
    const struct rank_report *ranks = context;
    for (; *known; known++) {
        if (!is_listed(*known)) // a file of ranks would not have it
            return err_set(err, ERR_INTERNAL, "run_rank_tables lacks %s", (*known)->name);
        const struct table *table = report_find(ranks[index].report, (*known)->name);
        if (table && !report_borrow(report, table, err))
            return false;
    }
    return true;
}

bool rank_source_of(const struct rank_report *ranks, size_t count, struct arena *arena,
                    struct rank_source *source, struct err *err)
{
    int64_t *numbers = arena_room(arena, count + 1, sizeof *numbers, err);
    struct rank_report *kept = arena_room(arena, count + 1, sizeof *kept, err);
    if (!numbers || !kept)
        return false;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = ranks[i].rank;
        kept[i] = ranks[i];
    }
    *source = (struct rank_source){
        .ranks = numbers, .count = count, .context = kept, .load = load_report};
    return true;
}

// One rank being loaded.
struct loading {
    const struct rank_source *source;
    const struct table_desc *const *known;
    size_t index;
    struct arena arena;
    struct report report;
};

static bool load_one(void *context, struct err *err)
{
    struct loading *loading = context;
    const struct rank_source *source = loading->source;
    return source->load(source->context, loading->index, loading->known, &loading->report, err) ||
           err_wrap(err, "rank %lld", (long long)source->ranks[loading->index]);
}

struct batch {
    struct loading loadings[BATCH];
    struct crew_task tasks[BATCH];
    size_t count;
};

static void begin_batch(struct batch *batch, const struct loading *model, size_t count,
                        struct budget *budget)
{
    batch->count = count;
    for (size_t i = 0; i < count; i++) {
        struct loading *loading = &batch->loadings[i];
        *loading = *model;
        loading->index += i;
        arena_init(&loading->arena, budget);
        loading->report.arena = &loading->arena;
        batch->tasks[i] = (struct crew_task){.run = load_one, .context = loading};
    }
}

static bool take_batch(struct batch *batch, rank_take *take, void *context, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < batch->count; i++) {
        struct loading *loading = &batch->loadings[i];
        ok = ok && take(context, loading->index, &loading->report, err);
        arena_free(&loading->arena);
    }
    return ok;
}

bool rank_source_each(const struct rank_source *source, const struct table_desc *const *known,
                      struct budget *budget, rank_take *take, void *context, struct err *err)
{
    struct arena arena;
    arena_init(&arena, budget);
    struct batch *batch = arena_alloc(&arena, sizeof *batch, err);
    bool ok = batch != NULL;
    for (size_t from = 0; ok && from < source->count; from += BATCH) {
        struct loading model = {.source = source, .known = known, .index = from};
        size_t left = source->count - from;
        begin_batch(batch, &model, left < BATCH ? left : BATCH, budget);
        ok = crew_run(source->cores, batch->tasks, batch->count, err);
        if (ok) {
            ok = take_batch(batch, take, context, err);
            continue;
        }
        for (size_t i = 0; i < batch->count; i++)
            arena_free(&batch->loadings[i].arena);
    }
    arena_free(&arena);
    return ok;
}
