// SPDX-License-Identifier: Apache-2.0
// Runs side by side: the overview of a comparison, and its tables.
#include "server/compare/compare_reply.h"

#include "analysis/analysis.h"
#include "analysis/report/tables.h"
#include "server/api/api_parts.h"
#include "server/api/table_reply.h"
#include "server/compare/compare_sides.h"
#include "server/compare/gate.h"
#include "server/http/route.h"

// One request: which runs, which table of their comparison, in which format.
struct asked {
    struct compared compared;
    struct table_request table;
    int64_t only; // candidate whose rows are requested, 0 all
};

// No run has progress of jobs.
static bool is_settled(const struct compared *compared)
{
    for (size_t side = 0; side < compared->side_count; side++)
        for (size_t i = 0; i < compared->sides[side].count; i++)
            if (compared->sides[side].runs[i].active > 0)
                return false;
    return true;
}

static bool is_unchanged(const struct request *request, struct response *response,
                         const struct asked *asked)
{
    uint64_t hash =
        compare_sides_hash(request, &asked->compared) + export_hash(asked->table.export);
    response->lasts = is_settled(&asked->compared);
    return response_data_unchanged(request, response, "c%d-%016llx", ANALYSIS_VERSION,
                                   (unsigned long long)hash);
}

static struct str download_name(struct request *request, const struct asked *asked)
{
    const struct compared *compared = &asked->compared;
    const struct str base = compared->sides[0].runs[0].name, cand = compared->sides[1].runs[0].name;
    const char *more = compared->side_count > 2 ? "-and-others" : "";
    char *name =
        arena_printf(request->arena, NULL, "%.*s%s-vs-%.*s-%s", (int)cand.len, cand.at, more,
                     (int)base.len, base.at, asked->table.desc->name + strlen("compare_"));
    return name ? str_of(name) : STR("compare");
}

// --- tables -------------------------------------------------------------------------------------

// The rows of one candidate, before any other selection: cursors count in them.
static bool keep_only(struct request *request, int64_t only, struct table *table, struct err *err)
{
    char *number = arena_printf(request->arena, err, "%lld", (long long)only);
    struct table_page page;
    if (!number)
        return false;
    struct table_query query = {.filters = {{STR("cand"), str_of(number)}},
                                .filter_count = 1,
                                .limit = TABLE_QUERY_NO_LIMIT};
    if (!table_select(table, &query, request->arena, &page, err))
        return false;
    *table = page.table;
    return true;
}

static bool reply_table(struct request *request, struct response *response,
                        const struct asked *asked, const struct report *report, struct err *err)
{
    struct table rows = {.desc = asked->table.desc};
    struct table_page page;
    const struct table *found = report_find(report, asked->table.desc->name);
    if (found)
        rows = *found;
    return (!asked->only || keep_only(request, asked->only, &rows, err)) &&
           table_select(&rows, &asked->table.query, request->arena, &page, err) &&
           table_reply_write(request, response, &asked->table, &page, download_name(request, asked),
                             err);
}

static bool find(struct request *request, struct response *response, struct asked *asked,
                 struct err *err)
{
    if (!compare_sides_find(request, response, &asked->compared, err))
        return false;
    struct query_int only = {"only", 0, 1, (int64_t)asked->compared.side_count - 1};
    return query_get_int(&request->query, only, &asked->only, err);
}

bool compare_get_table(struct request *request, struct response *response, struct err *err)
{
    struct asked asked = {0};
    struct comparison comparison;
    if (!table_request_parse(request, request->route->table, compare_sides_parameters, &asked.table,
                             err) ||
        !find(request, response, &asked, err))
        return false;
    asked.compared.settings_only = request->route->table == &table_compare_settings;
    return is_unchanged(request, response, &asked) ||
           (compare_sides_analyze(request, response, &asked.compared, &comparison, err) &&
            reply_table(request, response, &asked, &comparison.report, err));
}

// --- the overview -------------------------------------------------------------------------------

static bool runs_json(const struct request *request, const struct compared_side *side,
                      struct buf *out, struct err *err)
{
    buf_puts(out, "{\"runs\":[");
    for (size_t i = 0; i < side->count; i++) {
        buf_puts(out, i ? "," : "");
        if (!api_run_json(request, &side->runs[i], out, err))
            return false;
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    return true;
}

// Durations of the steady steps of the rank that represents the run.
static bool read_steps(const struct request *request, const struct run *run, int64_t rank,
                       struct table_page *page, struct err *err)
{
    const char *value = arena_printf(request->arena, err, "%lld", (long long)rank);
    struct table_query query = {
        .filters = {{STR("rank"), str_of(value)}, {STR("steady"), STR("true")}},
        .filter_count = 2,
        .limit = TABLE_QUERY_NO_LIMIT};
    return value && api_read_run_table(request, run, &table_run_steps, &query, page, err);
}

static bool run_steps_json(const struct request *request, const struct run *run, int64_t rank,
                           struct buf *out, struct err *err)
{
    struct table_page page;
    if (!read_steps(request, run, rank, &page, err))
        return false;
    buf_putc(out, '[');
    for (size_t row = 0; row < page.table.row_count; row++) {
        buf_puts(out, row ? "," : "");
        buf_i64(out, table_cell(&page.table, row, RUN_STEPS_WINDOW_NS)->i);
    }
    buf_putc(out, ']');
    return true;
}

static bool side_json(const struct request *request, const struct compared_side *side,
                      const struct compare_side *loaded, struct buf *out, struct err *err)
{
    if (!runs_json(request, side, out, err))
        return false;
    buf_puts(out, ",\"steps\":[");
    for (size_t i = 0; i < side->count; i++) {
        buf_puts(out, i ? "," : "");
        if (!run_steps_json(request, &side->runs[i], loaded->runs[i].which.number, out, err))
            return false;
    }
    buf_putc(out, ']');
    return true;
}

// The candidate's row of figures.
static void summary_json(const struct report *report, int64_t cand, struct buf *out)
{
    const struct table *summary = report_find(report, table_compare_summary.name);
    for (size_t row = 0; summary && row < summary->row_count; row++)
        if (table_cell(summary, row, COMPARE_SUMMARY_CAND)->i == cand) {
            report_row_json(summary, row, out);
            return;
        }
    buf_puts(out, "null");
}

// The candidate's rows of a table. They all have the number of the candidate first.
static void rows_json(const struct report *report, const struct table_desc *desc, int64_t cand,
                      struct buf *out)
{
    const struct table *table = report_find(report, desc->name);
    const char *comma = "";
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (table_cell(table, row, table_first(desc) + CANDIDATE_CAND)->i != cand)
            continue;
        buf_puts(out, comma);
        report_row_json(table, row, out);
        comma = ",";
    }
}

static bool candidate_json(const struct request *request, const struct compared *compared,
                           size_t index, const struct comparison *comparison, struct buf *out,
                           struct err *err)
{
    const struct report *report = &comparison->report;
    if (!side_json(request, &compared->sides[index], &comparison->sides[index], out, err))
        return false;
    buf_puts(out, ",\"summary\":");
    summary_json(report, (int64_t)index, out);
    buf_puts(out, ",\"reasons\":[");
    rows_json(report, &table_compare_reasons, (int64_t)index, out);
    buf_puts(out, "],\"settings\":[");
    rows_json(report, &table_compare_settings, (int64_t)index, out);
    buf_puts(out, "]}");
    return true;
}

static bool reply_json(struct request *request, struct response *response,
                       const struct compared *compared, const struct comparison *comparison,
                       struct err *err)
{
    struct buf *out = &response->body;
    buf_puts(out, "{\"base\":");
    if (!side_json(request, &compared->sides[0], &comparison->sides[0], out, err))
        return false;
    buf_puts(out, ",\"note\":");
    buf_json_or_null(out, compared->base_note);
    buf_puts(out, "},\"candidates\":[");
    for (size_t i = 1; i < compared->side_count; i++) {
        buf_puts(out, i > 1 ? "," : "");
        if (!candidate_json(request, compared, i, comparison, out, err))
            return false;
    }
    buf_puts(out, "],\"thresholds\":");
    gate_limits_json(&compared->options.limits, out);
    buf_printf(out, ",\"per\":\"%s\",\"rank\":\"%s\"}\n",
               compared->options.per_token ? "token" : "step",
               compared->options.slowest ? "slowest" : "headline");
    response->type = "application/json";
    return buf_ok(out, err);
}

bool compare_get(struct request *request, struct response *response, struct err *err)
{
    struct asked asked = {0};
    struct comparison comparison;
    if (!table_request_parse(request, &table_compare_summary, compare_sides_parameters,
                             &asked.table, err) ||
        !find(request, response, &asked, err))
        return false;
    if (is_unchanged(request, response, &asked))
        return true;
    if (!compare_sides_analyze(request, response, &asked.compared, &comparison, err))
        return false;
    return asked.table.export == &export_json
               ? reply_json(request, response, &asked.compared, &comparison, err)
               : reply_table(request, response, &asked, &comparison.report, err);
}
