// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_filters.h"

#include "server/store/run_search.h"

#include <stdio.h>
#include <string.h>

enum { MANY = RUN_FILTERS_MANY, NEWEST = 1000 };

// --- figures that have an index by value --------------------------------------------------------

bool run_figure_is_ordered(struct str metric)
{
    char quoted[40];
    return metric.len < sizeof quoted - 3 &&
           snprintf(quoted, sizeof quoted, "'%.*s'", (int)metric.len, metric.at) > 0 &&
           strstr(ORDERED_FIGURES, quoted) != NULL;
}

// --- filters ------------------------------------------------------------------------------------

static void check_project(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to, " AND project = ?", filters->query->project);
}

static void check_series(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to, " AND series = ?", filters->query->series);
}

static void check_status(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to, " AND status = ?", filters->query->status);
}

static void check_time(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    if (filters->query->since_ns > 0)
        writing_put_i64(to, " AND created_ns >= ?", filters->query->since_ns);
    if (filters->query->before_ns > 0)
        writing_put_i64(to, " AND created_ns < ?", filters->query->before_ns);
}

// From one name to the next: there are few of them, however many runs there are.
#define GPUS                                                                                    \
    "(WITH RECURSIVE model (gpu) AS (SELECT min(gpu) FROM run WHERE gpu IS NOT NULL UNION ALL " \
    "SELECT (SELECT min(gpu) FROM run WHERE gpu > model.gpu) FROM model "                       \
    "WHERE model.gpu IS NOT NULL) SELECT gpu FROM model WHERE instr(lower(gpu), lower(?)) > 0)"

static void find_gpu(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to, "SELECT id AS run_id FROM run WHERE gpu IN " GPUS, filters->query->gpu);
}

// The condition for a run that was found otherwise.
static void check_gpu(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to, " AND coalesce(gpu, '') IN " GPUS, filters->query->gpu);
}

static void put_figure(struct writing *to, const struct run_filters *filters)
{
    const struct run_query *query = filters->query;
    writing_put_text(to, "metric = ?", query->metric);
    if (run_figure_is_ordered(query->metric))
        writing_put(to, " AND " ORDERED_FIGURES);
    writing_put_f64(to, " AND value BETWEEN ?", query->least);
    writing_put_f64(to, " AND ?", query->most);
}

static void find_figure(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put(to, "SELECT run_id FROM figure WHERE ");
    put_figure(to, filters);
}

static void check_figure(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put(to, " AND EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND ");
    put_figure(to, filters);
    writing_put(to, ")");
}

static void put_tag(struct writing *to, const struct run_tag *tag)
{
    writing_put_text(to, "\"key\" = ?", tag->key);
    if (tag->value.len)
        writing_put_text(to, " AND value = ?", tag->value);
}

static void find_tag(struct writing *to, const struct run_filters *filters, size_t at)
{
    writing_put(to, "SELECT run_id FROM run_tag WHERE ");
    put_tag(to, &filters->query->tags[at]);
}

static void check_tag(struct writing *to, const struct run_filters *filters, size_t at)
{
    writing_put(to, " AND EXISTS (SELECT 1 FROM run_tag WHERE run_id = run.id AND ");
    put_tag(to, &filters->query->tags[at]);
    writing_put(to, ")");
}

struct filter_kind {
    // A condition for a run.
    void (*check)(struct writing *to, const struct run_filters *filters, size_t at);
    // The ids of its runs, once each, as run_id; NULL: only its condition finds them.
    void (*find)(struct writing *to, const struct run_filters *filters, size_t at);
    // Its runs have an index in the order of the list, newest first.
    bool is_in_order;
    // Its runs can be found without looking at others.
    bool is_indexed;
    // It looks for a facet of runs.
    bool is_facet;
};

static const struct filter_kind by_project = {check_project, NULL, true, true, false},
                                by_series = {check_series, NULL, true, true, false},
                                by_status = {check_status, NULL, true, true, true},
                                by_time = {check_time, NULL, true, true, false},
                                by_gpu = {check_gpu, find_gpu, false, true, true},
                                by_figure = {check_figure, find_figure, false, true, false},
                                by_other_figure = {check_figure, find_figure, false, false, false},
                                by_tag = {check_tag, find_tag, false, true, false},
                                by_search = {run_search_check, run_search_find, false, true, false};

static void add_filter(struct run_filters *filters, bool is_asked, const struct filter_kind *kind,
                       size_t at)
{
    if (is_asked)
        filters->all[filters->count++] = (struct run_filter){kind, at, 0};
}

static bool add_filters(struct run_filters *filters, struct err *err)
{
    enum { MOST_SINGLE = 8 };
    const struct run_query *query = filters->query;
    filters->all =
        arena_array(filters->arena, query->tag_count + MOST_SINGLE, sizeof *filters->all, err);
    if (!filters->all)
        return false;
    add_filter(filters, query->project.len, &by_project, 0);
    add_filter(filters, query->series.len, &by_series, 0);
    add_filter(filters, query->status.len, &by_status, 0);
    add_filter(filters, query->since_ns > 0 || query->before_ns > 0, &by_time, 0);
    add_filter(filters, query->gpu.len, &by_gpu, 0);
    add_filter(filters, query->metric.len,
               run_figure_is_ordered(query->metric) ? &by_figure : &by_other_figure, 0);
    for (size_t i = 0; i < query->tag_count; i++)
        add_filter(filters, true, &by_tag, i);
    add_filter(filters, query->search.len, &by_search, 0);
    return true;
}

// --- statements of runs -------------------------------------------------------------------------

struct writing run_filters_begin(const struct run_filters *filters)
{
    return (struct writing){.arena = filters->arena};
}

static void put_found(struct writing *to, const struct run_filters *filters,
                      const struct run_filter *filter)
{
    if (filter->kind->find) {
        filter->kind->find(to, filters, filter->at);
        return;
    }
    writing_put(to, "SELECT id AS run_id FROM run WHERE TRUE");
    filter->kind->check(to, filters, filter->at);
}

// Conditions of all filters but one, which may be NULL.
static void put_checks_but(struct writing *to, const struct run_filters *filters,
                           const struct run_filter *but)
{
    for (size_t i = 0; i < filters->count; i++)
        if (&filters->all[i] != but)
            filters->all[i].kind->check(to, filters, filters->all[i].at);
}

void run_filters_put(struct writing *to, const struct run_filters *filters)
{
    if (filters->few) {
        writing_put(to, "FROM (");
        put_found(to, filters, filters->few);
        writing_put(to, ") AS found CROSS JOIN run ON run.id = found.run_id WHERE TRUE");
    } else {
        writing_put(to, "FROM run WHERE TRUE");
    }
    put_checks_but(to, filters, filters->few);
    writing_put(to, " ");
}

// --- which filter has few runs ------------------------------------------------------------------

static bool count_alone(struct run_filters *filters, struct run_filter *filter, struct err *err)
{
    struct writing count = run_filters_begin(filters);
    if (filter->kind == &by_search && !run_search_choose(filters, err))
        return false;
    writing_put(&count, "SELECT count(*) FROM (SELECT 1 FROM (");
    if (filter->kind == &by_search)
        run_search_estimate(&count, filters);
    else
        put_found(&count, filters, filter);
    writing_put_i64(&count, ") AS found LIMIT ?) AS bounded", MANY + 1);
    return writing_read_numbers(filters->db, &count, &filter->runs, 1, err);
}

// A search costs most: it comes last, and only if no other filter has few runs.
static bool should_count(const struct run_filters *filters, const struct run_filter *filter)
{
    return filter->kind->is_indexed && (filter->kind != &by_search || !filters->few);
}

static bool find_few(struct run_filters *filters, struct err *err)
{
    for (size_t i = 0; i < filters->count; i++) {
        struct run_filter *filter = &filters->all[i];
        filter->runs = MANY + 1;
        if (should_count(filters, filter) && !count_alone(filters, filter, err))
            return false;
        if (filter->runs <= MANY && (!filters->few || filter->runs < filters->few->runs))
            filters->few = filter;
    }
    return true;
}

void run_filters_put_checks(struct writing *to, const struct run_filters *filters)
{
    put_checks_but(to, filters, NULL);
}

void run_filters_put_facet_checks(struct writing *to, const struct run_filters *filters,
                                  bool are_facets)
{
    for (size_t i = 0; i < filters->count; i++)
        if (filters->all[i].kind->is_facet == are_facets)
            filters->all[i].kind->check(to, filters, filters->all[i].at);
}

bool run_filters_open(struct run_filters *filters, struct err *err)
{
    return add_filters(filters, err) && find_few(filters, err);
}

// --- pages --------------------------------------------------------------------------------------

void run_filters_put_page(struct writing *to, uint64_t limit, uint64_t offset)
{
    writing_put_i64(to, " LIMIT ?", limit < INT64_MAX ? (int64_t)limit : INT64_MAX);
    writing_put_i64(to, " OFFSET ?", offset < INT64_MAX ? (int64_t)offset : INT64_MAX);
}

static bool add_id(struct stmt *stmt, struct run_list *list, struct arena *arena)
{
    list->runs = arena_more(arena, list->runs, list->count, sizeof *list->runs, stmt->err);
    stmt->failed |= !list->runs;
    if (!stmt->failed)
        list->runs[list->count++].id = sql_text(stmt, 0, arena);
    return !stmt->failed;
}

bool run_filters_read_ids(const struct run_filters *filters, struct writing *from,
                          struct run_list *list, struct err *err)
{
    bool ok = buf_ok(&from->sql, err);
    if (ok) {
        struct stmt stmt = writing_begin(filters->db, from, err);
        while (sql_row(&stmt) && add_id(&stmt, list, filters->arena))
            ;
        ok = sql_end(&stmt);
    }
    buf_free(&from->sql);
    return ok;
}

bool run_filters_read_few(const struct run_filters *filters, struct writing *from,
                          struct run_list *list, struct err *err)
{
    const struct run_query *query = filters->query;
    bool ok = buf_ok(&from->sql, err);
    if (ok) {
        struct stmt stmt = writing_begin(filters->db, from, err);
        for (; sql_row(&stmt); list->total++)
            if (list->total >= query->offset && list->count < query->limit &&
                !add_id(&stmt, list, filters->arena))
                break;
        ok = sql_end(&stmt);
    }
    buf_free(&from->sql);
    return ok;
}

// --- counting -----------------------------------------------------------------------------------

static bool is_place(const struct run_filter *filter)
{
    return filter->kind == &by_project || filter->kind == &by_series;
}

static bool has_only_places(const struct run_filters *filters)
{
    bool only = true;
    for (size_t i = 0; i < filters->count; i++)
        only &= is_place(&filters->all[i]);
    return only;
}

// Runs of series are counted already.
static void write_count_of_series(struct writing *to, const struct run_query *query)
{
    writing_put(to, "SELECT CAST(coalesce(sum(runs), 0) AS BIGINT), 0 FROM series WHERE TRUE");
    if (query->project.len)
        writing_put_text(to, " AND project = ?", query->project);
    if (query->series.len)
        writing_put_text(to, " AND series = ?", query->series);
}

// A single filter with an index was counted already. The count includes runs in the bin, but those
// are few.
static bool is_counted(const struct run_filters *filters)
{
    return filters->count == 1 && filters->all[0].kind->is_indexed;
}

// With filters that are looked up run by run.
static bool has_lookups(const struct run_filters *filters)
{
    bool has = false;
    for (size_t i = 0; i < filters->count; i++)
        has |= !filters->all[i].kind->is_in_order;
    return has;
}

// Of the newest runs that match the ordered filters: how many match the others, too, and how many
// were looked at.
static void write_count_of_newest(struct writing *to, const struct run_filters *filters)
{
    writing_put(to, "SELECT CAST(coalesce(sum(CASE WHEN TRUE");
    for (size_t i = 0; i < filters->count; i++)
        if (!filters->all[i].kind->is_in_order)
            filters->all[i].kind->check(to, filters, filters->all[i].at);
    writing_put(
        to,
        " THEN 1 ELSE 0 END), 0) AS BIGINT), count(*) FROM (SELECT id, gpu FROM run WHERE TRUE");
    for (size_t i = 0; i < filters->count; i++)
        if (filters->all[i].kind->is_in_order)
            filters->all[i].kind->check(to, filters, filters->all[i].at);
    writing_put_i64(to, " ORDER BY created_ns DESC, id LIMIT ?) AS run", NEWEST + 1);
}

// Counts the entries of one index.
static void write_count_in_order(struct writing *to, const struct run_filters *filters)
{
    writing_put(to, "SELECT count(*), count(*) FROM (SELECT id FROM run WHERE TRUE");
    run_filters_put_checks(to, filters);
    writing_put_i64(to, " ORDER BY created_ns DESC, id LIMIT ?) AS run", MANY + 1);
}

static void write_count(struct writing *to, const struct run_filters *filters)
{
    if (has_lookups(filters))
        write_count_of_newest(to, filters);
    else
        write_count_in_order(to, filters);
}

bool run_filters_count(struct run_filters *filters, struct run_list *list, struct err *err)
{
    struct writing count = run_filters_begin(filters);
    uint64_t numbers[2] = {MANY, MANY + 1}; // the runs; those that were looked at
    bool is_of_places = has_only_places(filters);
    uint64_t most = !is_of_places && has_lookups(filters) && !is_counted(filters) ? NEWEST : MANY;
    if (is_of_places)
        write_count_of_series(&count, filters->query);
    else if (!is_counted(filters))
        write_count(&count, filters);
    if (count.sql.len && !writing_read_numbers(filters->db, &count, numbers, 2, err))
        return false;
    list->total_is_least = numbers[1] > most;
    list->total = list->total_is_least && numbers[0] > most ? most : numbers[0];
    return true;
}

// --- facets -------------------------------------------------------------------------------------

// Whether one looks for a facet, has no runs in the order of lists, and the others ask for no more
// than facets and times.
static bool need_facets(const struct run_filters *filters)
{
    bool need = false;
    for (size_t i = 0; i < filters->count; i++) {
        const struct filter_kind *kind = filters->all[i].kind;
        if (!kind->is_facet && kind != &by_time)
            return false;
        need |= kind->is_facet && !kind->is_in_order;
    }
    return need;
}

static bool has_place(const struct run_filters *filters)
{
    bool has = false;
    for (size_t i = 0; i < filters->count; i++)
        has |= is_place(&filters->all[i]);
    return has;
}

// The runs of a project are soon sorted, while a facet that has none of them is looked through to
// its end.
bool run_filters_suit_facets(struct run_filters *filters, bool *suit, struct err *err)
{
    enum { MOST_SORTED = 50000 };
    bool is_sorted = filters->query->sort_count > 0;
    *suit = is_sorted || need_facets(filters);
    if (!is_sorted || !has_place(filters))
        return true;
    struct writing count = run_filters_begin(filters);
    uint64_t numbers[2];
    write_count_of_series(&count, filters->query);
    if (!writing_read_numbers(filters->db, &count, numbers, 2, err))
        return false;
    *suit = numbers[0] > MOST_SORTED;
    return true;
}
