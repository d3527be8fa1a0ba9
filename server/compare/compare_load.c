// SPDX-License-Identifier: Apache-2.0
// Loads the tables of the runs to compare, and compares them. A comparison is computed again for
// each request: it takes milliseconds and depends only on the stored tables. A few are computed at
// a time, and their runs' tables are freed before the answer is sent: there are many connections,
// and some readers are slow.
#include "server/compare/compare_sides.h"

#include "analysis/compare/compare_read.h"
#include "analysis/report/tables.h"
#include "server/api/api_parts.h"

static bool refuse_unanalyzed(struct response *response, const struct run *run, struct err *err)
{
    if (run->received == 0 && run->evidence > 0) {
        response->fix = STR("upload a trace of each rank to it; training logs are compared by "
                            "/api/v1/runs/RUN/log_curve");
        return response_refuse(response, err, (struct refusal){409, "no-trace"},
                               "run %.*s has no trace, only other files about it", (int)run->id.len,
                               run->id.at);
    }
    response->fix = STR("wait until the run's status is done or partial");
    return response_refuse(response, err, (struct refusal){409, "not-analyzed"},
                           "run %.*s has no results yet, or none of its traces could be read",
                           (int)run->id.len, run->id.at);
}

// One request's comparison while its runs are loaded.
struct loading {
    struct request *request;
    struct response *response;
    bool slowest, settings_only;
    int64_t base_rank;   // that represents the base's first run, -1 until it is loaded
    struct arena tables; // of the runs: freed as soon as they are compared
};

static bool load_rank(const struct loading *loading, const struct run *run, int64_t rank,
                      struct report *report, struct err *err)
{
    struct store *store = loading->request->services->intake->store;
    struct trace_row trace;
    return store_find_rank(store, run->id, rank, loading->request->arena, &trace, err) &&
           store_load_trace_tables(store, trace.id, compare_rank_tables, report, err);
}

static bool has_key(const struct run_tag *meta, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(meta[i].key, key))
            return true;
    return false;
}

// What people entered for the run. The tag tokens_per_step counts, too, as in summaries.
static bool take_meta(const struct run *run, struct arena *arena, struct compare_run *loaded,
                      struct err *err)
{
    struct compare_setting *meta =
        arena_array(arena, run->meta_count + run->tag_count + 1, sizeof *meta, err);
    if (!meta)
        return false;
    struct str tokens = STR("tokens_per_step");
    loaded->meta = meta;
    for (size_t i = 0; i < run->meta_count; i++)
        meta[loaded->meta_count++] = (struct compare_setting){run->meta[i].key, run->meta[i].value};
    for (size_t i = 0; i < run->tag_count; i++)
        if (str_equal(run->tags[i].key, tokens) && !has_key(run->meta, run->meta_count, tokens))
            meta[loaded->meta_count++] = (struct compare_setting){tokens, run->tags[i].value};
    return true;
}

static bool load_run(struct loading *loading, const struct run *run, struct compare_run *loaded,
                     struct err *err)
{
    struct request *request = loading->request;
    struct report *reports = arena_array(&loading->tables, 2, sizeof *reports, err);
    if (!reports)
        return false;
    reports[0].arena = reports[1].arena = &loading->tables;
    *loaded =
        (struct compare_run){.id = run->id, .name = run->name, .run = reports, .rank = reports + 1};
    if (!take_meta(run, request->arena, loaded, err) ||
        !store_load_run_tables(request->services->intake->store, run->id, compare_run_tables,
                               reports, err))
        return false;
    loaded->which = compare_rank_of(reports, loading->slowest, loading->base_rank);
    int64_t rank = loaded->which.number;
    loading->base_rank = loading->base_rank < 0 ? rank : loading->base_rank;
    if (rank < 0 && loading->settings_only && run->evidence > 0)
        return true;
    return rank < 0 ? refuse_unanalyzed(loading->response, run, err)
                    : load_rank(loading, run, rank, reports + 1, err);
}

static bool load_side(struct loading *loading, const struct compared_side *side,
                      struct compare_side *loaded, struct err *err)
{
    struct compare_run *runs = arena_array(loading->request->arena, side->count, sizeof *runs, err);
    if (!runs)
        return false;
    *loaded = (struct compare_side){.runs = runs, .run_count = side->count, .copies = side->copies};
    for (size_t i = 0; i < side->count; i++)
        if (!load_run(loading, &side->runs[i], &runs[i], err))
            return false;
    return true;
}

static bool load_and_compare(struct loading *loading, const struct compared *compared,
                             struct comparison *comparison, struct err *err)
{
    struct compare_side *sides = comparison->sides;
    for (size_t i = 0; i < compared->side_count; i++)
        if (!load_side(loading, &compared->sides[i], &sides[i], err))
            return false;
    sides[0].history = compared->history;
    sides[0].history_count = compared->history_count;
    for (size_t i = 1; i < compared->side_count; i++)
        sides[i].series = compared->series[i];
    return analyze_compare(&sides[0], &sides[1], compared->side_count - 1, &compared->options,
                           &comparison->report, err);
}

bool compare_sides_analyze(struct request *request, struct response *response,
                           const struct compared *compared, struct comparison *comparison,
                           struct err *err)
{
    struct loading loading = {.request = request,
                              .response = response,
                              .slowest = compared->options.slowest,
                              .base_rank = -1,
                              .settings_only = compared->settings_only};
    *comparison = (struct comparison){.report = {.arena = request->arena}};
    arena_init(&loading.tables, NULL);
    while (sem_wait(request->services->comparing) != 0)
        continue; // interrupted
    bool ok = load_and_compare(&loading, compared, comparison, err);
    arena_free(&loading.tables);
    sem_post(request->services->comparing);
    return ok;
}
