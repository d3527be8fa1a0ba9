// SPDX-License-Identifier: Apache-2.0
// The tables of a run, or of one of its ranks.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "analysis/run/run_ranges.h"
#include "analysis/trace/range_rows.h"
#include "analysis/trace/range_view.h"
#include "ingest/base/hash.h"
#include "server/api/table_parts.h"
#include "server/http/reply_room.h"
#include "server/http/route.h"

#define LARGE_ROWS   1000                  // larger pages take turns
#define SORTED_BYTES ((uint64_t)512 << 20) // most memory for sorting a whole table

static const struct table_desc *trace_table(const char *name)
{
    for (const struct table_desc *const *desc = trace_tables; *desc; desc++)
        if (strcmp((*desc)->name, name) == 0)
            return *desc;
    return NULL;
}

// Run tables with rows of every rank, where rank=N is a filter. Elsewhere it selects the table of
// that rank's own trace, if traces have one of that name.
static bool holds_ranks(const struct table_desc *desc)
{
    return desc == &table_run_steps || desc == &table_run_breakdown ||
           desc == &table_run_findings || desc == &table_run_trust || !trace_table(desc->name);
}

static bool is_listed(const struct table_desc *const *tables, const struct table_desc *desc)
{
    while (*tables && *tables != desc)
        tables++;
    return *tables != NULL;
}

bool api_read_run_table(const struct request *request, const struct run *run,
                        const struct table_desc *desc, const struct table_query *query,
                        struct table_page *page, struct err *err)
{
    struct table_place place = {run->id, STORE_ANY, STR(""), desc};
    return store_read_table(request->services->intake->store, &place, query, request->arena, page,
                            err);
}

bool api_headline_rank(const struct request *request, const struct run *run, int64_t *rank,
                       struct err *err)
{
    struct table_page page;
    struct table_query query = {.limit = 1};
    if (!api_read_run_table(request, run, &table_run_summary, &query, &page, err))
        return false;
    const struct table *summary = &page.table;
    *rank = summary->row_count ? table_cell(summary, 0, RUN_SUMMARY_HEADLINE_RANK)->i : -1;
    return true;
}

bool api_find_details(const struct request *request, const struct run *run, int64_t *rank,
                      struct str *trace_id, struct err *err)
{
    struct trace_row trace;
    *trace_id = STR("");
    if (*rank < 0 && !api_headline_rank(request, run, rank, err))
        return false;
    if (*rank < 0)
        return true;
    if (!store_find_rank(request->services->intake->store, run->id, *rank, request->arena, &trace,
                         err))
        return false;
    *trace_id = trace.id;
    return true;
}

bool api_is_detail(const struct table_desc *desc)
{
    for (const struct table_desc *const *other = run_tables; *other; other++)
        if (strcmp((*other)->name, desc->name) == 0)
            return false;
    return desc != &table_range_rows;
}

// The requested table: of the run, or of one rank's trace.
struct asked {
    const struct table_desc *desc;
    bool of_rank;
    int64_t rank;     // -1 while no trace of the run is done
    struct str range; // its part within a named range; NULL: all of it
};

// What is requested, and how.
struct table_question {
    struct asked asked;
    const struct table_request *table;
    struct str name; // of a download
};

// Where its rows are; nowhere for a rank while no trace of the run is done. A run that changed
// since it was found is no reason to refuse: what is read may be newer than its ETag says.
static bool find_place(const struct request *request, const struct run *run,
                       const struct asked *asked, struct table_place *place, struct err *err)
{
    struct trace_row trace;
    *place = (struct table_place){run->id, STORE_ANY, STR(""), asked->desc};
    if (!asked->of_rank || asked->rank < 0)
        return true;
    if (!store_find_rank(request->services->intake->store, run->id, asked->rank, request->arena,
                         &trace, err))
        return false;
    place->trace_id = trace.id;
    return true;
}

// All rows that match a query.
static bool read_parts(const struct request *request, const struct table_place *place,
                       struct table_query *query, struct arena *arena, struct table_page *page,
                       struct err *err)
{
    query->limit = TABLE_QUERY_NO_LIMIT;
    return store_read_table(request->services->intake->store, place, query, arena, page, err);
}

// The rows stored for a range, under the name of the table they belong to.
static bool read_range_rows(const struct request *request, const struct table_place *place,
                            const struct asked *asked, struct arena *arena, struct report *report,
                            struct err *err)
{
    struct table_query query = {.filter_count = 3};
    struct table_place from = *place;
    struct table_page page;
    query.filters[0] = (struct table_filter){STR("range"), asked->range};
    query.filters[1] = (struct table_filter){STR("table"), str_of(asked->desc->name)};
    query.filters[2] = (struct table_filter){STR("table"), STR(RANGE_ROWS_HEAD)};
    from.desc = &table_range_rows;
    return read_parts(request, &from, &query, arena, &page, err) &&
           range_rows_view(&page.table, asked->desc, report, err);
}

// What a range has of a table, from the parts it consists of.
static bool read_range(const struct request *request, const struct table_place *place,
                       const struct table_question *question, struct arena *arena,
                       struct table_page *page, struct err *err)
{
    const struct asked *asked = &question->asked;
    struct table_query query = {.filter_count = 1};
    struct table_place from = *place;
    struct report report = {.arena = arena};
    query.filters[0] = (struct table_filter){STR("range"), asked->range};
    from.desc = &table_range_parts;
    if (!read_parts(request, &from, &query, arena, page, err))
        return false;
    if (page->table.row_count == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "rank %lld has no range '%.*s'; its table ranges lists all",
                       (long long)asked->rank, (int)asked->range.len, asked->range.at);
    if (!(range_view_has(asked->desc)
              ? range_view_add(&page->table, asked->desc, &report, err)
              : read_range_rows(request, place, asked, arena, &report, err)))
        return false;
    struct table none = {.desc = asked->desc};
    const struct table *found = report_find(&report, asked->desc->name);
    return table_select(found ? found : &none, &question->table->query, arena, page, err);
}

// The ranks within a range, of which the run keeps sums.
static bool read_ranks(const struct request *request, const struct table_place *place,
                       const struct table_question *question, struct arena *arena,
                       struct table_page *page, struct err *err)
{
    struct table_query query = {.filter_count = 1};
    struct table_place from = *place;
    struct report report = {.arena = arena};
    const struct str range = question->asked.range;
    query.filters[0] = (struct table_filter){STR("name"), range};
    from.desc = &table_run_rank_ranges;
    if (!read_parts(request, &from, &query, arena, page, err))
        return false;
    if (page->table.row_count == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "no rank has the range '%.*s' among the 64 with the most device time; the "
                       "table rank_ranges lists them",
                       (int)range.len, range.at);
    return run_ranges_view(&page->table, &report, err) &&
           table_select(report_find(&report, "ranks"), &question->table->query, arena, page, err);
}

static bool read_page(const struct request *request, const struct table_place *place,
                      const struct table_question *question, struct arena *arena,
                      struct table_page *page, struct err *err)
{
    struct store *store = request->services->intake->store;
    const struct asked *asked = &question->asked;
    const struct table_request *table = question->table;
    struct table none = {.desc = asked->desc};
    if (asked->of_rank && asked->rank < 0)
        return table_select(&none, &table->query, arena, page, err);
    if (asked->range.at)
        return asked->desc == &table_run_ranks
                   ? read_ranks(request, place, question, arena, page, err)
                   : read_range(request, place, question, arena, page, err);
    return store_read_table(store, place, &table->query, arena, page, err) ||
           (asked->of_rank && err_wrap(err, "rank %lld", (long long)asked->rank));
}

// The table of a trace of that name, if it exists per range and the client asks for a range.
static const struct table_desc *table_by_range(const struct request *request)
{
    const struct table_desc *desc = trace_table(request->route->table->name);
    bool asked = query_get(&request->query, "range").at;
    return asked && desc && (range_view_has(desc) || range_rows_have(desc)) ? desc : NULL;
}

// Details exist per trace only; without a rank those of the headline rank are returned.
static bool settle(const struct request *request, const struct run *run, struct asked *asked,
                   struct err *err)
{
    const struct table_desc *desc = request->route->table, *by_range = table_by_range(request);
    bool detail = is_listed(trace_tables, desc) || by_range;
    bool given = query_get(&request->query, "rank").at && (by_range || !holds_ranks(desc));
    *asked = (struct asked){.desc = desc, .of_rank = detail || given, .rank = -1};
    if (given && !query_get_int(&request->query, (struct query_int){"rank", -1, 0, INT32_MAX},
                                &asked->rank, err))
        return false;
    if (given || by_range)
        asked->desc = trace_table(desc->name);
    if (by_range || desc == &table_run_ranks)
        asked->range = query_get(&request->query, "range");
    return given || !detail || api_headline_rank(request, run, &asked->rank, err);
}

// A page, or a whole sorted table, which must be held in memory for that.
static bool answer_page(struct request *request, struct response *response,
                        const struct table_place *place, const struct table_question *question,
                        struct err *err)
{
    struct budget budget = {.limit = SORTED_BYTES};
    struct arena arena;
    struct table_page page;
    bool large = question->table->query.limit > LARGE_ROWS;
    if (large && !api_take_turn(request, response, err))
        return false;
    arena_init(&arena, &budget);
    bool ok = read_page(request, place, question, &arena, &page, err) &&
              table_reply_write(request, response, question->table, &page, question->name, err);
    arena_free(&arena);
    if (large)
        reply_room_end(request->services->room);
    return ok;
}

static bool answer_table(struct request *request, struct response *response,
                         const struct table_place *place, const struct table_question *question,
                         struct err *err)
{
    const struct table_query *query = &question->table->query;
    bool has_rows = !question->asked.of_rank || question->asked.rank >= 0;
    if (has_rows && !question->asked.range.at && query->limit == TABLE_QUERY_NO_LIMIT &&
        query->sort_count == 0)
        return table_parts_stream(request, response, place, question->table, question->name, err);
    return answer_page(request, response, place, question, err);
}

bool api_get_table(struct request *request, struct response *response, struct err *err)
{
    static const char *const rank_parameter[] = {"rank", NULL};
    static const char *const ranges[] = {"range", NULL}, *const range_parameters[] = {
                                                             "rank", "range", NULL};
    struct run run;
    struct asked asked;
    struct table_request table;
    struct table_place place;
    if (!api_find_run(request, response, request->captures[0], &run, err) ||
        !settle(request, &run, &asked, err) ||
        !table_request_parse(request, asked.desc,
                             asked.range.at  ? (asked.of_rank ? range_parameters : ranges)
                             : asked.of_rank ? rank_parameter
                                             : NULL,
                             &table, err))
        return false;
    char *rest = arena_printf(request->arena, err, "/%s", asked.desc->name);
    char *name = arena_printf(request->arena, err, "%.*s-%s", (int)run.name.len, run.name.at,
                              asked.desc->name);
    if (!rest || !name)
        return false;
    api_locate_run(request, response, &run, rest);
    response->lasts = true;
    if (api_run_unchanged(request, response, &run, "table", export_hash(table.export)))
        return true;
    struct table_question question = {asked, &table, str_of(name)};
    return find_place(request, &run, &asked, &place, err) &&
           answer_table(request, response, &place, &question, err);
}
