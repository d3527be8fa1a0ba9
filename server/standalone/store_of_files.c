// SPDX-License-Identifier: Apache-2.0
// Reading the one run that there is.
#include "server/standalone/store_of_files.h"

#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "server/files/blob.h"
#include "server/store/store_care.h"
#include "server/store/store_inputs.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

// --- the run ------------------------------------------------------------------------------------

// What a service reads from its rows for lists is in the summary, too.
static struct cell of_summary(const struct store *store, unsigned column)
{
    const struct table *summary = report_find(&store->files.report, table_run_summary.name);
    return summary && summary->row_count ? *table_cell(summary, 0, column) : cell_null();
}

static struct cell no_steps(const struct store *store)
{
    struct cell headline = of_summary(store, RUN_SUMMARY_HEADLINE_RANK);
    bool lacks = trust_lacks_steps(&store->files.report, headline.null ? -1 : headline.i);
    return lacks ? cell_i64(1) : cell_null();
}

static struct run run_of(const struct store *store)
{
    int64_t ranks = (int64_t)store->files.count;
    struct run run = {.id = STR(STORE_OF_FILES_RUN),
                      .name = store->name,
                      .project = STR("default"),
                      .series = store->name,
                      .note = STR(""),
                      .created_ns = store->created_ns,
                      .revision = 1,
                      .status = RUN_DONE,
                      .world_size = -1,
                      .finalized = true,
                      .received = ranks,
                      .done = ranks,
                      .warmup_steps = -1,
                      .gpu = of_summary(store, RUN_SUMMARY_GPU),
                      .step_median_ns = of_summary(store, RUN_SUMMARY_STEP_MEDIAN_NS),
                      .no_steps = no_steps(store),
                      .busy_share = of_summary(store, RUN_SUMMARY_BUSY_SHARE),
                      .exposed_comm_share = cell_null(),
                      .findings = cell_null(),
                      .trust_severity = cell_null()};
    for (int part = 0; part < PART_COUNT; part++)
        run.parts[part] = cell_null();
    for (int figure = 0; figure < RUN_FIGURE_COUNT; figure++)
        run.figures[figure] = NAN;
    return run;
}

bool store_find_run(struct store *store, struct str key, struct arena *arena, struct run *run,
                    struct err *err)
{
    (void)arena;
    *run = run_of(store);
    return str_equal(key, run->id) || str_equal(key, run->name) ||
           err_set(err, ERR_NOT_FOUND, "found no run '%.*s'", (int)(key.len < 100 ? key.len : 100),
                   key.at);
}

bool store_list_runs(struct store *store, const struct run_query *query, struct arena *arena,
                     struct run_list *list, struct err *err)
{
    bool shows = query->offset == 0 && query->limit > 0;
    *list = (struct run_list){.runs = arena_alloc(arena, sizeof *list->runs, err), .total = 1};
    if (!list->runs)
        return false;
    list->count = shows;
    list->runs[0] = run_of(store);
    return true;
}

bool store_knows_figure(struct str metric)
{
    return run_figure_named(metric) != NULL;
}

bool store_list_dismissals(struct store *store, struct str run_id, struct arena *arena,
                           struct dismissal **dismissals, size_t *count, struct err *err)
{
    (void)store, (void)run_id, (void)arena, (void)err;
    *dismissals = NULL;
    *count = 0;
    return true;
}

bool store_list_inputs(struct store *store, struct str run_id, struct arena *arena,
                       struct input_row **inputs, size_t *count, struct err *err)
{
    (void)store, (void)run_id;
    *count = 0; // what is in an archive is a rank
    *inputs = arena_array(arena, 1, sizeof **inputs, err);
    return *inputs;
}

bool store_count_damaged(struct store *store, struct str run_id, int64_t *count, struct err *err)
{
    (void)store, (void)run_id, (void)err;
    *count = 0;
    return true;
}

// --- its ranks ----------------------------------------------------------------------------------

static struct str id_of(size_t index, struct arena *arena, struct err *err)
{
    char *id = arena_printf(arena, err, "t_%zu", index);
    return id ? str_of(id) : STR("");
}

static size_t index_of(const struct store *store, struct str id)
{
    int64_t index;
    bool named = str_starts_with(id, STR("t_")) &&
                 str_to_i64((struct str){id.at + 2, id.len - 2}, &index) && index >= 0;
    return named && (size_t)index < store->files.count ? (size_t)index : SIZE_MAX;
}

static struct trace_row row_of(const struct store *store, size_t index, struct str id)
{
    const struct rank_file *file = &store->files.at[index];
    return (struct trace_row){.id = id,
                              .run_id = STR(STORE_OF_FILES_RUN),
                              .filename = str_of(file->path),
                              .sha256 = STR(""),
                              .rank = file->rank,
                              .rank_from = STR("metadata"),
                              .bytes = -1,
                              .uploaded_ns = store->created_ns,
                              .state = TRACE_DONE,
                              .error = STR(""),
                              .warning = STR(""),
                              .secrets = -1,
                              .damage = STR("")};
}

bool store_list_traces(struct store *store, struct str run_id, struct arena *arena,
                       struct trace_row **traces, size_t *count, struct err *err)
{
    (void)run_id;
    *count = store->files.count;
    *traces = arena_array(arena, *count + 1, sizeof **traces, err);
    for (size_t i = 0; *traces && i < *count; i++)
        (*traces)[i] = row_of(store, i, id_of(i, arena, err));
    return *traces;
}

bool store_find_rank(struct store *store, struct str run_id, int64_t rank, struct arena *arena,
                     struct trace_row *trace, struct err *err)
{
    (void)run_id;
    for (size_t i = 0; i < store->files.count; i++)
        if (store->files.at[i].rank == rank) {
            *trace = row_of(store, i, id_of(i, arena, err));
            return trace->id.len > 0;
        }
    return err_set(err, ERR_NOT_FOUND, "the run has no rank %lld", (long long)rank);
}

bool blob_open_trace(const struct blobs *blobs, const char *trace_id, int *fd, uint64_t *size_bytes,
                     struct err *err)
{
    size_t index = index_of(blobs->store, str_of(trace_id));
    int kept = index == SIZE_MAX ? -1 : blobs->store->files.at[index].kept;
    struct stat info;
    *fd = kept >= 0 ? dup(kept) : -1;
    if (*fd < 0 || fstat(*fd, &info) != 0)
        return err_set(err, ERR_NOT_FOUND, "the trace was not kept");
    *size_bytes = (uint64_t)info.st_size;
    return true;
}

// --- tables -------------------------------------------------------------------------------------

bool store_load_trace_tables(struct store *store, struct str trace_id,
                             const struct table_desc *const *known, struct report *report,
                             struct err *err)
{
    size_t index = index_of(store, trace_id);
    if (index == SIZE_MAX)
        return err_set(err, ERR_NOT_FOUND, "found no such trace");
    return rank_files_load(&store->files, index, known, report, err);
}

bool store_load_run_tables(struct store *store, struct str run_id,
                           const struct table_desc *const *known, struct report *report,
                           struct err *err)
{
    (void)run_id, (void)known, (void)err;
    struct arena *arena = report->arena;
    *report = store->files.report;
    report->arena = arena;
    return true;
}

bool store_read_table(struct store *store, const struct table_place *place,
                      const struct table_query *query, struct arena *arena, struct table_page *page,
                      struct err *err)
{
    const struct table_desc *const only[] = {place->desc, NULL};
    struct table none = {.desc = place->desc};
    struct report of_rank = {.arena = arena};
    const struct report *report = &store->files.report;
    if (place->trace_id.len) {
        if (!store_load_trace_tables(store, place->trace_id, only, &of_rank, err))
            return false;
        report = &of_rank;
    }
    const struct table *found = report_find(report, place->desc->name);
    return table_select(found ? found : &none, query, arena, page, err);
}

// All of the table is one part.
bool store_read_matches(struct store *store, struct table_cursor *cursor,
                        const struct table_query *query, struct arena *arena,
                        struct table_page *matches, struct err *err)
{
    struct table_query all = *query;
    all.limit = TABLE_QUERY_NO_LIMIT;
    all.offset = 0;
    all.sort_count = 0;
    cursor->more = false;
    cursor->next++;
    return store_read_table(store, &cursor->place, &all, arena, matches, err);
}
