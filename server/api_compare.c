// SPDX-License-Identifier: Apache-2.0
// Two runs beside each other. The comparison is worked out anew for each request: it takes
// milliseconds and depends on nothing but the two stored reports.
#include "server/api.h"

#include "analysis/compare.h"
#include "analysis/tables.h"
#include "ingest/base/hash.h"
#include "server/table_reply.h"

struct comparison {
    struct run base, cand;
    struct report base_report, cand_report; // the runs' tables that a comparison reads
    struct report report;                   // the comparison's
    enum table_format format;
};

static const char *const own_parameters[] = {"base", "cand", NULL};

static bool load_side(struct request *request, struct response *response, const char *name,
                      struct run *run, struct err *err)
{
    struct str key = query_get(&request->query, name);
    if (!key.len)
        return err_set(err, ERR_USAGE, "found no %s=RUN, expected base=RUN and cand=RUN", name);
    return api_find_run(request, response, key, run, err) || err_wrap(err, "%s", name);
}

static bool load_report(struct request *request, struct response *response, const struct run *run,
                        struct report *report, struct err *err)
{
    static const struct table_desc *const compared[] = {&table_run_summary, &table_run_breakdown,
                                                        &table_run_environment, NULL};
    static const struct table_desc *const of_rank[] = {&table_parts, NULL};
    struct store *store = request->services->intake.store;
    struct trace_row trace;
    report->arena = request->arena;
    if (!store_load_run_tables(store, run->id, compared, report, err))
        return false;
    const struct table *summary = report_find(report, table_run_summary.name);
    if (summary && summary->row_count)
        return store_find_rank(store, run->id, table_cell(summary, 0, "headline_rank")->i,
                               request->arena, &trace, err) &&
               store_load_trace_tables(store, trace.id, of_rank, report, err);
    response->fix = STR("wait until the run's status is done or partial");
    return response_refuse(response, err, (struct refusal){409, "not-analysed"},
                           "run %.*s has no results yet, or none of its traces could be read",
                           (int)run->id.len, run->id.at);
}

// Finds both runs; *unchanged: the client has this comparison already.
static bool begin(struct request *request, struct response *response, struct comparison *both,
                  bool *unchanged, struct err *err)
{
    if (!load_side(request, response, "base", &both->base, err) ||
        !load_side(request, response, "cand", &both->cand, err))
        return false;
    uint64_t form = hash_bytes(request->query_text.at, request->query_text.len) ^
                    hash_bytes(both->base.id.at, both->base.id.len) ^ (uint64_t)both->format;
    *unchanged = response_unchanged(request, response, "%.*s.%lld.%lld-%d-%016llx",
                                    (int)both->cand.id.len, both->cand.id.at,
                                    (long long)both->base.revision, (long long)both->cand.revision,
                                    ANALYSIS_VERSION, (unsigned long long)form);
    return true;
}

static bool compare_reports(struct comparison *both, struct err *err)
{
    const struct compare_run runs[2] = {
        {both->base.id, both->base.name, &both->base_report, &both->base_report, NULL, 0},
        {both->cand.id, both->cand.name, &both->cand_report, &both->cand_report, NULL, 0}};
    const struct compare_side base = {runs, 1, NULL, 0}, cand = {runs + 1, 1, NULL, 0};
    const struct compare_options options = {.limits = {0.05, 0.002, 1e5}};
    return analyse_compare(&base, &cand, 1, &options, &both->report, err);
}

static bool compare(struct request *request, struct response *response, struct comparison *both,
                    struct err *err)
{
    both->report.arena = request->arena;
    return load_report(request, response, &both->base, &both->base_report, err) &&
           load_report(request, response, &both->cand, &both->cand_report, err) &&
           compare_reports(both, err);
}

static bool select_rows(struct request *request, const struct comparison *both,
                        const struct table_request *table, struct table_page *page, struct err *err)
{
    struct table none = {.desc = table->desc};
    const struct table *found = report_find(&both->report, table->desc->name);
    return table_select(found ? found : &none, &table->query, request->arena, page, err);
}

static struct str download_name(struct request *request, const struct comparison *both)
{
    char *name = arena_printf(request->arena, NULL, "%.*s-vs-%.*s", (int)both->cand.name.len,
                              both->cand.name.at, (int)both->base.name.len, both->base.name.at);
    return name ? str_of(name) : STR("compare");
}

bool api_get_waterfall(struct request *request, struct response *response, struct err *err)
{
    struct comparison both = {0};
    struct table_request table;
    struct table_page page;
    bool unchanged = false;
    if (!table_request_parse(request, &table_compare_waterfall, own_parameters, &table, err))
        return false;
    both.format = table.format;
    if (!begin(request, response, &both, &unchanged, err))
        return false;
    return unchanged || (compare(request, response, &both, err) &&
                         select_rows(request, &both, &table, &page, err) &&
                         table_reply_write(request, response, &table, &page,
                                           download_name(request, &both), err));
}

// --- the summary --------------------------------------------------------------------------------

static void settings_json(const struct table *settings, struct buf *out)
{
    bool first = true;
    buf_puts(out, ",\"settings\":[");
    for (int differs = 1; differs >= 0; differs--)
        for (size_t row = 0; settings && row < settings->row_count; row++) {
            if (table_cell(settings, row, "differs")->i != differs)
                continue;
            if (!first)
                buf_putc(out, ',');
            first = false;
            report_row_json(settings, row, out);
        }
    buf_putc(out, ']');
}

// Durations of the steady steps of the rank that represents the run.
static bool steps_json(const struct request *request, const struct run *run,
                       const struct report *report, struct buf *out, struct err *err)
{
    const struct cell *rank =
        table_cell(report_find(report, table_run_summary.name), 0, "headline_rank");
    struct table_page page;
    const char *value = arena_printf(request->arena, err, "%lld", (long long)rank->i);
    if (!value)
        return false;
    struct table_query query = {
        .filters = {{STR("rank"), str_of(value)}, {STR("steady"), STR("true")}},
        .filter_count = 2,
        .limit = TABLE_QUERY_NO_LIMIT};
    struct run_table steps = {run->id, &table_run_steps};
    if (!store_read_table(request->services->intake.store, steps, &query, request->arena, &page,
                          err))
        return false;
    buf_putc(out, '[');
    for (size_t row = 0; row < page.table.row_count; row++) {
        if (row)
            buf_putc(out, ',');
        buf_i64(out, table_cell(&page.table, row, "window_ns")->i);
    }
    buf_putc(out, ']');
    return true;
}

static bool reply_json(struct request *request, struct response *response,
                       const struct comparison *both, struct err *err)
{
    struct buf *out = &response->body;
    const struct table *summary = report_find(&both->report, table_compare_summary.name);
    buf_puts(out, "{\"base\":");
    if (!api_run_json(request, &both->base, out, err))
        return false;
    buf_puts(out, "},\"cand\":");
    if (!api_run_json(request, &both->cand, out, err))
        return false;
    buf_puts(out, "},\"summary\":");
    if (summary && summary->row_count)
        report_row_json(summary, 0, out);
    else
        buf_puts(out, "null");
    settings_json(report_find(&both->report, table_compare_settings.name), out);
    buf_puts(out, ",\"steps\":{\"base\":");
    if (!steps_json(request, &both->base, &both->base_report, out, err))
        return false;
    buf_puts(out, ",\"cand\":");
    if (!steps_json(request, &both->cand, &both->cand_report, out, err))
        return false;
    buf_puts(out, "}}\n");
    response->type = "application/json";
    return buf_ok(out, err);
}

bool api_get_compare(struct request *request, struct response *response, struct err *err)
{
    struct comparison both = {0};
    struct table_request table;
    struct table_page page;
    bool unchanged = false;
    static const char *const known[] = {"base", "cand", "fields", "format", NULL};
    if (!query_allow(&request->query, known, err) ||
        !table_request_parse(request, &table_compare_summary, own_parameters, &table, err))
        return false;
    both.format = table.format;
    if (!begin(request, response, &both, &unchanged, err))
        return false;
    if (unchanged)
        return true;
    if (!compare(request, response, &both, err))
        return false;
    if (table.format == TABLE_JSON)
        return reply_json(request, response, &both, err);
    return select_rows(request, &both, &table, &page, err) &&
           table_reply_write(request, response, &table, &page, download_name(request, &both), err);
}
