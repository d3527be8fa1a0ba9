// SPDX-License-Identifier: Apache-2.0
// The list of runs, and one run.
#include "server/api/api.h"

#include "ingest/base/clock.h"
#include "server/api/table_reply.h"

// --- the list as a table, for csv, columns and chosen fields ------------------------------------

enum {
    RUN_ID,
    RUN_NAME,
    RUN_PROJECT,
    RUN_SERIES,
    RUN_CREATED,
    RUN_STATUS,
    RUN_RECEIVED,
    RUN_WORLD_SIZE,
    RUN_GPU,
    RUN_TAGS,
    RUN_META,
    RUN_BASELINES,
    RUN_NOTE,
    RUN_STEP_MEDIAN,
    RUN_BUSY,
    RUN_EXPOSED,
    RUN_FINDINGS,
    RUN_QUALITY,
    RUN_FIRST_PART,
    RUN_COLUMNS = RUN_FIRST_PART + PART_COUNT
};

static const struct column run_columns[RUN_COLUMNS] = {
    {"id", COLUMN_TEXT, "", "identifier of the run"},
    {"name", COLUMN_TEXT, "", "name, unique in its project"},
    {"project", COLUMN_TEXT, "", "project that the run belongs to"},
    {"series", COLUMN_TEXT, "", "name up to '@': repeats of one measurement share it"},
    {"created", COLUMN_TEXT, "", "when the run was made, UTC, RFC 3339"},
    {"status", COLUMN_TEXT, "", "empty, pending, running, done, partial or failed"},
    {"received", COLUMN_I64, "count", "traces received"},
    {"world_size", COLUMN_I64, "count", "world size, as set or as recorded in its traces"},
    {"gpu", COLUMN_TEXT, "", "name of the device"},
    {"tags", COLUMN_TEXT, "", "key=value of every tag, separated by spaces"},
    {"meta", COLUMN_TEXT, "", "key=value of every setting entered by users, separated by spaces"},
    {"baselines", COLUMN_TEXT, "", "names of the baselines pinned to it, separated by spaces"},
    {"note", COLUMN_TEXT, "", "free text"},
    {"step_median_ns", COLUMN_I64, "ns", "median steady step of the headline rank"},
    {"busy_share", COLUMN_F64, "share", "share of recorded step time in which the device was busy"},
    {"exposed_comm_share", COLUMN_F64, "share",
     "share of step time in which only communication ran"},
    {"findings", COLUMN_I64, "count", "number of findings"},
    {"worst_quality", COLUMN_TEXT, "", "worst severity in the trust report"},
    {"gemm_ns", COLUMN_I64, "ns", "time per step in matrix products"},
    {"attention_ns", COLUMN_I64, "ns", "time per step in attention kernels"},
    {"other_compute_ns", COLUMN_I64, "ns", "time per step in all other compute kernels"},
    {"exposed_comm_ns", COLUMN_I64, "ns", "time per step in which only communication ran"},
    {"exposed_memory_ns", COLUMN_I64, "ns", "time per step in which only copies ran"},
    {"idle_host_wait_ns", COLUMN_I64, "ns", "idle time per step caused by the host"},
    {"idle_other_ns", COLUMN_I64, "ns", "all other idle time per step"},
    {"unrecorded_ns", COLUMN_I64, "ns", "time per step of work missing from the recording"},
};

static const struct table_desc runs_table = {"runs", "stored runs", run_columns, RUN_COLUMNS, 0};

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

static void fill_row(const struct run *run, struct arena *arena, struct cell *row)
{
    char created[CLOCK_RFC3339_SIZE];
    clock_rfc3339(run->created_ns, created);
    row[RUN_ID] = cell_text(run->id);
    row[RUN_NAME] = cell_text(run->name);
    row[RUN_PROJECT] = cell_text(run->project);
    row[RUN_SERIES] = cell_text(run->series);
    row[RUN_CREATED] = cell_text(str_of(arena_strdup(arena, str_of(created), NULL)));
    row[RUN_STATUS] = cell_text(str_of(run_status_word(run->status)));
    row[RUN_RECEIVED] = cell_i64(run->received);
    row[RUN_WORLD_SIZE] = run->world_size < 0 ? cell_null() : cell_i64(run->world_size);
    row[RUN_GPU] = run->gpu;
    row[RUN_TAGS] = cell_text(join_pairs(run->tags, run->tag_count, arena));
    row[RUN_META] = cell_text(join_pairs(run->meta, run->meta_count, arena));
    row[RUN_BASELINES] = cell_text(join_baselines(run, arena));
    row[RUN_NOTE] = cell_text(run->note);
    row[RUN_STEP_MEDIAN] = run->step_median_ns;
    row[RUN_BUSY] = run->busy_share;
    row[RUN_EXPOSED] = run->exposed_comm_share;
    row[RUN_FINDINGS] = run->findings;
    row[RUN_QUALITY] = run->worst_quality;
    memcpy(row + RUN_FIRST_PART, run->parts, sizeof(run->parts));
}

static bool reply_table(struct request *request, struct response *response,
                        const struct table_request *table, const struct run_list *list,
                        struct err *err)
{
    struct table_page page = {.table = {.desc = &runs_table, .row_count = list->count},
                              .total = list->total,
                              .offset = table->query.offset};
    page.table.cells =
        arena_array(request->arena, list->count * RUN_COLUMNS, sizeof(*page.table.cells), err);
    if (!page.table.cells)
        return false;
    for (size_t i = 0; i < list->count; i++)
        fill_row(&list->runs[i], request->arena, page.table.cells + i * RUN_COLUMNS);
    return table_reply_tagged(request, response, table, &page, STR("runs"), err);
}

// --- the list -----------------------------------------------------------------------------------

// "14d" ago.
static bool read_since(const struct request *request, struct run_query *query, struct err *err)
{
    struct str text = query_get(&request->query, "since");
    int64_t seconds = 0;
    if (!text.at)
        return true;
    if (!query_duration(text, &seconds, err))
        return false;
    int64_t age_ns = 0;
    if (!__builtin_mul_overflow(seconds, INT64_C(1000000000), &age_ns))
        query->since_ns = clock_wall_ns() - age_ns;
    return true;
}

static struct str text_of(const struct request *request, const char *name)
{
    struct str value = query_get(&request->query, name);
    return value.at ? value : STR("");
}

static bool read_query(const struct request *request, const struct table_request *table,
                       struct run_query *query, struct err *err)
{
    *query = (struct run_query){.search = table->query.search,
                                .project = text_of(request, "project"),
                                .gpu = text_of(request, "gpu"),
                                .status = text_of(request, "status"),
                                .series = text_of(request, "series"),
                                .sort_count = table->query.sort_count,
                                .limit = table->query.limit,
                                .offset = table->query.offset};
    memcpy(query->sorts, table->query.sorts, sizeof(query->sorts));
    struct run_tag *tags = NULL;
    if (!api_read_tags(request, &tags, &query->tag_count, err))
        return false;
    query->tags = tags;
    return read_since(request, query, err);
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
    buf_printf(out, "],\"total\":%llu,\"next_cursor\":", (unsigned long long)list->total);
    table_cursor_write(&table->query, next, cursor);
    if (list->count && next < list->total)
        buf_json(out, str_of(cursor));
    else
        buf_puts(out, "null");
    buf_putc(out, '}');
    return api_finish_json(request, response, "runs", err);
}

bool api_list_runs(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"q",      "project", "gpu",  "status", "series",
                                        "tag",    "since",   "sort", "fields", "limit",
                                        "cursor", "format",  NULL};
    struct table_request table;
    struct run_query query;
    struct run_list list;
    // All of them are handled here, so that none is taken for a filter on the table.
    if (!query_allow(&request->query, known, err) ||
        !table_request_parse(request, &runs_table, known, &table, err))
        return false;
    if (!read_query(request, &table, &query, err) ||
        !store_list_runs(request->services->intake->store, &query, request->arena, &list, err))
        return false;
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
