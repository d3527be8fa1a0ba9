// SPDX-License-Identifier: Apache-2.0
// The tables of a run, or of one of its ranks.
#include "server/api.h"

#include "analysis/tables.h"
#include "ingest/base/hash.h"
#include "server/routes.h"
#include "server/table_reply.h"

// Run tables with rows of every rank: there rank=N is a filter. Elsewhere it asks for the table of
// that rank's own trace.
static bool holds_ranks(const struct table_desc *desc)
{
    return desc == &table_run_ranks || desc == &table_run_steps || desc == &table_run_breakdown ||
           desc == &table_run_findings || desc == &table_run_quality;
}

static const struct table_desc *trace_table(const char *name)
{
    for (const struct table_desc *const *desc = trace_tables; *desc; desc++)
        if (strcmp((*desc)->name, name) == 0)
            return *desc;
    return NULL;
}

// Rows of the table as one rank's trace has it.
static bool read_rank(const struct request *request, const struct run *run, int64_t rank,
                      const struct table_request *table, struct table_page *page, struct err *err)
{
    struct store *store = request->services->intake.store;
    struct trace_row trace;
    struct report report = {.arena = request->arena};
    if (!store_find_rank(store, run->id, rank, request->arena, &trace, err))
        return false;
    if (!store_load_trace_report(store, trace.id, &report, err))
        return err_wrap(err, "rank %lld", (long long)rank);
    struct table none = {.desc = table->desc};
    const struct table *found = report_find(&report, table->desc->name);
    return table_select(found ? found : &none, &table->query, request->arena, page, err);
}

static bool read_page(const struct request *request, const struct run *run, int64_t rank,
                      const struct table_request *table, struct table_page *page, struct err *err)
{
    if (rank >= 0)
        return read_rank(request, run, rank, table, page, err);
    return store_read_table(request->services->intake.store,
                            (struct run_table){run->id, table->desc}, &table->query, request->arena,
                            page, err);
}

bool api_get_table(struct request *request, struct response *response, struct err *err)
{
    static const char *const rank_parameter[] = {"rank", NULL};
    const struct table_desc *desc = request->route->table;
    struct run run;
    struct table_request table;
    struct table_page page;
    int64_t rank = -1;
    if (!api_find_run(request, response, request->captures[0], &run, err))
        return false;
    bool of_rank = !holds_ranks(desc) && query_get(&request->query, "rank").at;
    if (of_rank && (!query_get_int(&request->query, (struct query_int){"rank", -1, 0, INT32_MAX},
                                   &rank, err) ||
                    !(desc = trace_table(desc->name))))
        return false;
    if (!table_request_parse(request, desc, of_rank ? rank_parameter : NULL, &table, err))
        return false;
    char *rest = arena_printf(request->arena, err, "/%s", desc->name);
    char *name =
        arena_printf(request->arena, err, "%.*s-%s", (int)run.name.len, run.name.at, desc->name);
    if (!rest || !name)
        return false;
    api_locate_run(request, response, &run, rest);
    uint64_t form = hash_bytes(request->query_text.at, request->query_text.len) + table.format;
    if (response_unchanged(request, response, "%.*s.%lld-%d-%016llx", (int)run.id.len, run.id.at,
                           (long long)run.revision, ANALYSIS_VERSION, (unsigned long long)form))
        return true;
    return read_page(request, &run, rank, &table, &page, err) &&
           table_reply_write(request, response, &table, &page, str_of(name), err);
}
