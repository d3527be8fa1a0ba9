// SPDX-License-Identifier: Apache-2.0
// The list of runs, and one run.
#include "server/api/api.h"

#include "analysis/report/row.h"
#include "ingest/base/clock.h"
#include "server/api/api_parts.h"
#include "server/api/table_reply.h"
#include "server/store/server_tables.h"

// --- the list as a table, for csv, columns and chosen fields ------------------------------------

static struct str keep_text(struct buf *text, struct arena *arena)
{
    const char *kept =
        text->failed ? NULL : arena_strdup(arena, (struct str){text->at, text->len}, NULL);
    struct str joined = {kept ? kept : "", kept ? text->len : 0};
    buf_free(text);
    return joined;
}

static struct str join_pairs(const struct run_tag *pairs, size_t count, struct arena *arena)
{
    struct buf text = {0};
    for (size_t i = 0; i < count; i++) {
        buf_puts(&text, i ? " " : "");
        buf_add_str(&text, pairs[i].key);
        buf_putc(&text, '=');
        buf_add_str(&text, pairs[i].value);
    }
    return keep_text(&text, arena);
}

static struct str join_baselines(const struct run *run, struct arena *arena)
{
    struct buf text = {0};
    for (size_t i = 0; i < run->baseline_count; i++) {
        buf_puts(&text, i ? " " : "");
        buf_add_str(&text, run->baselines[i]);
    }
    return keep_text(&text, arena);
}

static void fill_row(const struct run *run, struct arena *arena, struct cell *cells)
{
    static const struct {
        unsigned column;
        enum run_figure_id figure;
    } shown[] = {{RUNS_TOKENS_PER_S_PER_GPU, RUN_FIGURE_TOKENS_OF_GPU},
                 {RUNS_TFLOPS_PER_GPU, RUN_FIGURE_TFLOPS},
                 {RUNS_MFU, RUN_FIGURE_MFU},
                 {RUNS_MEMORY_SHARE, RUN_FIGURE_MEMORY_SHARE},
                 {RUNS_POWER_W, RUN_FIGURE_POWER},
                 {RUNS_TOKENS_PER_J, RUN_FIGURE_TOKENS_OF_JOULE},
                 {RUNS_LOSS, RUN_FIGURE_LOSS}};
    struct row row = {.desc = &table_runs};
    char created[CLOCK_RFC3339_SIZE];
    clock_rfc3339(run->created_ns, created);
    row_text(&row, RUNS_ID, run->id);
    row_text(&row, RUNS_NAME, run->name);
    row_text(&row, RUNS_PROJECT, run->project);
    row_text(&row, RUNS_SERIES, run->series);
    row_text(&row, RUNS_CREATED, str_of(arena_strdup(arena, str_of(created), NULL)));
    row_word(&row, RUNS_STATUS, run_status_word(run->status));
    row_i64(&row, RUNS_RECEIVED, run->received);
    row_i64_if(&row, RUNS_WORLD_SIZE, run->world_size >= 0, run->world_size);
    row_cell(&row, RUNS_GPU, run->gpu);
    row_text(&row, RUNS_TAGS, join_pairs(run->tags, run->tag_count, arena));
    row_text(&row, RUNS_META, join_pairs(run->meta, run->meta_count, arena));
    row_text(&row, RUNS_BASELINES, join_baselines(run, arena));
    row_text(&row, RUNS_NOTE, run->note);
    row_cell(&row, RUNS_STEP_MEDIAN_NS, run->step_median_ns);
    row_cell(&row, RUNS_BUSY_SHARE, run->busy_share);
    row_cell(&row, RUNS_EXPOSED_COMM_SHARE, run->exposed_comm_share);
    row_cell(&row, RUNS_FINDINGS, run->findings);
    row_cell(&row, RUNS_TRUST_SEVERITY, run->trust_severity);
    for (int p = 0; p < PART_COUNT; p++)
        row_cell(&row, RUNS_GEMM_NS + p, run->parts[p]);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        row_f64(&row, shown[i].column, run->figures[shown[i].figure]);
    row_put(&row, cells);
}

static bool reply_table(struct request *request, struct response *response,
                        const struct table_request *table, const struct run_list *list,
                        struct err *err)
{
    struct table_page page = {.table = {.desc = &table_runs, .row_count = list->count},
                              .total = list->total,
                              .total_is_least = list->total_is_least,
                              .offset = table->query.offset};
    unsigned width = table_runs.column_count;
    page.table.cells =
        arena_array(request->arena, list->count * width, sizeof(*page.table.cells), err);
    if (!page.table.cells)
        return false;
    for (size_t i = 0; i < list->count; i++)
        fill_row(&list->runs[i], request->arena, page.table.cells + i * width);
    return table_reply_tagged(request, response, table, &page, STR("runs"), err);
}

// --- the list -----------------------------------------------------------------------------------

// "14d" ago.
static bool read_since(const struct request *request, int64_t now_ns, struct run_query *query,
                       struct err *err)
{
    struct str text = query_get(&request->query, "since");
    int64_t seconds = 0;
    if (!text.at)
        return true;
    if (!query_duration(text, &seconds, err))
        return false;
    int64_t age_ns = 0;
    if (!__builtin_mul_overflow(seconds, INT64_C(1000000000), &age_ns))
        query->since_ns = now_ns - age_ns;
    return true;
}

#define ANY_NUMBER 1e300

// metric=mfu&min=0.4: of runs whose figure is within bounds.
static bool read_metric(const struct request *request, struct run_query *query, struct err *err)
{
    query->metric = query_text(&request->query, "metric");
    if (!query->metric.len &&
        (query_get(&request->query, "min").at || query_get(&request->query, "max").at))
        return err_set(err, ERR_USAGE, "found min or max without metric=NAME");
    if (query->metric.len && !store_knows_figure(query->metric))
        return api_refuse_metric(query->metric, err);
    return query_get_number(&request->query,
                            (struct query_number){"min", -ANY_NUMBER, -ANY_NUMBER, ANY_NUMBER},
                            &query->least, err) &&
           query_get_number(&request->query,
                            (struct query_number){"max", ANY_NUMBER, -ANY_NUMBER, ANY_NUMBER},
                            &query->most, err);
}

static bool read_query(const struct request *request, const struct table_request *table,
                       int64_t now_ns, struct run_query *query, struct err *err)
{
    *query = (struct run_query){.search = table->query.search,
                                .project = query_text(&request->query, "project"),
                                .gpu = query_text(&request->query, "gpu"),
                                .status = query_text(&request->query, "status"),
                                .series = query_text(&request->query, "series"),
                                .sort_count = table->query.sort_count,
                                .limit = table->query.limit,
                                .offset = table->query.offset};
    memcpy(query->sorts, table->query.sorts, sizeof(query->sorts));
    struct run_tag *tags = NULL;
    if (!api_read_tags(request, &tags, &query->tag_count, err))
        return false;
    query->tags = tags;
    return read_metric(request, query, err) && read_since(request, now_ns, query, err);
}

static bool reply_json(struct request *request, struct response *response,
                       const struct table_request *table, const struct run_list *list,
                       struct err *err)
{
    struct buf *out = &response->body;
    char cursor[TABLE_CURSOR_SIZE];
    uint64_t next = table->query.offset + list->count;
    buf_puts(out, "{\"items\":[");
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            buf_putc(out, ',');
        if (!api_run_json(request, &list->runs[i], out, err))
            return false;
        buf_putc(out, '}');
    }
    buf_puts(out, "],");
    export_json_total(
        &(struct export_end){.total = list->total, .total_is_least = list->total_is_least}, out);
    buf_puts(out, ",\"next_cursor\":");
    table_cursor_write(&table->query, next, cursor);
    buf_json_or_null(out, list->count && next < list->total ? cursor : NULL);
    buf_putc(out, '}');
    return api_finish_json(request, response, "runs", err);
}

// No run of the page depends on the progress of jobs.
static bool is_settled(const struct run_list *list)
{
    size_t i = 0;
    while (i < list->count && list->runs[i].active <= 0)
        i++;
    return i == list->count;
}

// A list of the last days' runs lasts until one of them is too old.
static void note_lasting(struct response *response, const struct run_query *query,
                         const struct run_list *list, int64_t now_ns)
{
    response->lasts = is_settled(list);
    if (query->since_ns <= 0 || list->oldest_ns <= 0)
        return;
    response->from_ns = now_ns;
    response->until_ns = now_ns + (list->oldest_ns - query->since_ns);
}

bool api_list_runs(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"q",      "project", "gpu",    "status", "series", "tag",
                                        "since",  "sort",    "fields", "limit",  "cursor", "format",
                                        "metric", "min",     "max",    NULL};
    struct table_request table;
    struct run_query query;
    struct run_list list;
    // All of them are known here, so that none is taken for a filter of the table.
    if (!query_allow(&request->query, known, err) ||
        !table_request_parse(request, &table_runs, known, &table, err))
        return false;
    int64_t now_ns = clock_wall_ns();
    if (!read_query(request, &table, now_ns, &query, err) ||
        !store_list_runs(request->services->intake->store, &query, request->arena, &list, err))
        return false;
    note_lasting(response, &query, &list, now_ns);
    if (table.export == &export_json && !table.chosen)
        return reply_json(request, response, &table, &list, err);
    return reply_table(request, response, &table, &list, err);
}

// --- one run ------------------------------------------------------------------------------------

bool api_get_run(struct request *request, struct response *response, struct err *err)
{
    static const char *const none[] = {NULL};
    struct store *store = request->services->intake->store;
    struct trace_row *traces = NULL;
    struct run run;
    size_t count = 0;
    if (!query_allow(&request->query, none, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !store_list_traces(store, run.id, request->arena, &traces, &count, err))
        return false;
    struct buf *out = &response->body;
    api_locate_run(request, response, &run, "");
    response->lasts = run.active <= 0; // otherwise it contains the progress
    if (!api_run_json(request, &run, out, err))
        return false;
    buf_puts(out, ",\"traces\":[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        api_trace_json(request, &traces[i], out);
    }
    buf_puts(out, "]}");
    char *tag = arena_printf(request->arena, err, "%.*s.%lld", (int)run.id.len, run.id.at,
                             (long long)run.revision);
    return tag && api_finish_json(request, response, tag, err);
}
