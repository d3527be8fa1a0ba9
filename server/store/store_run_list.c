// SPDX-License-Identifier: Apache-2.0
// Lists of runs with filters (run_filters), order and pages.
#include "server/store/run_facets.h"

// --- order --------------------------------------------------------------------------------------

// What a list may be sorted by, the column, whether each run has a value, and whether it is a facet
// (run_facets).
static const struct sortable {
    const char *name, *sql;
    bool is_known, is_facet;
} sortable[] = {
    {"created", "created_ns", true, false},
    {"name", "name", true, false},
    {"project", "project", true, false},
    {"status", "status", true, true},
    {"received", "received", true, false},
    {"world_size", "coalesce(world_size, traced_world_size)", false, true},
    {"gpu", "gpu", false, true},
    {"trust_severity", "trust_severity", false, true},
};

static const struct sortable by_value = {
    "", "(SELECT value FROM figure WHERE run_id = run.id AND metric = ?)", false, false};

static const struct sortable *sort_column(struct str name)
{
    for (size_t i = 0; i < sizeof sortable / sizeof *sortable; i++)
        if (str_equal(name, str_of(sortable[i].name)))
            return &sortable[i];
    return store_knows_figure(name) ? &by_value : NULL;
}

static bool check_sorts(const struct run_query *query, struct err *err)
{
    for (unsigned i = 0; i < query->sort_count; i++) {
        struct str name = query->sorts[i].column;
        if (!sort_column(name))
            return err_set(err, ERR_USAGE,
                           "cannot sort runs by '%.*s': known are created, name, project, status, "
                           "received, world_size, gpu, trust_severity, numbers of the summary and "
                           "the breakdown (step_median_ns, gemm_ns, ...) and numbers among the "
                           "metadata (meta.KEY)",
                           (int)(name.len < 60 ? name.len : 60), name.at);
    }
    return true;
}

// The sort keys from the one at `from` on.
static void put_order(struct writing *to, const struct run_query *query, unsigned from)
{
    for (unsigned i = from; i < query->sort_count; i++) {
        const struct sort_key *key = &query->sorts[i];
        const struct sortable *column = sort_column(key->column);
        if (column == &by_value)
            writing_put_text(to, column->sql, key->column);
        else
            writing_put(to, column->sql);
        // No NULLS LAST where no value is null: with it, the index would not be used.
        writing_put(to, key->descending ? " DESC" : " ASC");
        writing_put(to, column->is_known ? ", " : " NULLS LAST, ");
    }
}

// --- pages --------------------------------------------------------------------------------------

static struct writing all_in_order(const struct run_filters *filters)
{
    struct writing all = run_filters_begin(filters);
    writing_put(&all, "SELECT run.id ");
    run_filters_put(&all, filters);
    writing_put(&all, "ORDER BY ");
    put_order(&all, filters->query, 0);
    writing_put(&all, "created_ns DESC, run.id");
    return all;
}

static bool list_in_order(struct run_filters *filters, uint64_t limit, struct run_list *list,
                          struct err *err)
{
    struct writing page = all_in_order(filters);
    run_filters_put_page(&page, limit, filters->query->offset);
    return run_filters_read_ids(filters, &page, list, err);
}

// Runs that have the figure that is sorted by first.
static void put_with_figure(struct writing *to, const struct run_filters *filters)
{
    writing_put_text(
        to,
        "FROM figure AS ordered CROSS JOIN run ON run.id = ordered.run_id WHERE ordered.metric = ?",
        filters->query->sorts[0].column);
    writing_put(to, " AND " ORDERED_FIGURES);
    run_filters_put_checks(to, filters);
}

static bool count_with_figure(struct run_filters *filters, uint64_t *runs, struct err *err)
{
    struct writing count = run_filters_begin(filters);
    writing_put(&count, "SELECT count(*) ");
    put_with_figure(&count, filters);
    return writing_read_numbers(filters->db, &count, runs, 1, err);
}

static bool list_without_figure(struct run_filters *filters, uint64_t limit, struct run_list *list,
                                struct err *err)
{
    const struct run_query *query = filters->query;
    uint64_t with = query->offset + list->count;
    if (list->count == 0 && query->offset > 0 && !count_with_figure(filters, &with, err))
        return false;
    struct writing page = run_filters_begin(filters);
    writing_put(&page, "SELECT run.id ");
    run_filters_put(&page, filters);
    writing_put_text(
        &page,
        "AND NOT EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND metric = ?) ORDER BY ",
        query->sorts[0].column);
    put_order(&page, query, 1);
    writing_put(&page, "created_ns DESC, run.id");
    run_filters_put_page(&page, limit - list->count,
                         query->offset > with ? query->offset - with : 0);
    return run_filters_read_ids(filters, &page, list, err);
}

// Follows the index of the figure; ties are in the order of ids, as in the index, so that no page
// has to read all ties.
static bool list_by_figure(struct run_filters *filters, uint64_t limit, struct run_list *list,
                           struct err *err)
{
    const struct run_query *query = filters->query;
    const char *down = query->sorts[0].descending ? " DESC" : "";
    struct writing page = run_filters_begin(filters);
    writing_put(&page, "SELECT run.id ");
    put_with_figure(&page, filters);
    writing_put(&page, " ORDER BY ordered.value");
    writing_put(&page, down);
    writing_put(&page, ", ");
    put_order(&page, query, 1);
    writing_put(&page, "ordered.run_id");
    writing_put(&page, down);
    run_filters_put_page(&page, limit, query->offset);
    return run_filters_read_ids(filters, &page, list, err) &&
           (list->count == limit || list_without_figure(filters, limit, list, err));
}

// Whether there are too many runs to sort for one page.
static bool are_many(const struct run_list *list)
{
    return list->total_is_least || list->total > RUN_FILTERS_MANY;
}

static bool goes_by_figure(const struct run_query *query)
{
    return query->sort_count && run_figure_is_ordered(query->sorts[0].column);
}

static bool has_only_facets(const struct run_query *query)
{
    bool only = true;
    for (unsigned i = 0; i < query->sort_count; i++)
        only &= sort_column(query->sorts[i].column)->is_facet;
    return only;
}

// *done false: another way is better.
static bool list_by_facets(struct run_filters *filters, uint64_t limit, struct run_list *list,
                           bool *done, struct err *err)
{
    bool suit;
    *done = false;
    return run_filters_suit_facets(filters, &suit, err) &&
           (!suit || run_facets_list(filters, put_order, limit, list, done, err));
}

// In the way that has to look at the fewest runs.
static bool list_page(struct run_filters *filters, uint64_t limit, struct run_list *list,
                      struct err *err)
{
    bool done = false;
    if (are_many(list) && goes_by_figure(filters->query))
        return list_by_figure(filters, limit, list, err);
    if (are_many(list) && has_only_facets(filters->query) &&
        !list_by_facets(filters, limit, list, &done, err))
        return false;
    return done || list_in_order(filters, limit, list, err);
}

// Where the total is not known, one run more than the page tells whether another page follows.
static bool list_ids(struct run_filters *filters, struct run_list *list, struct err *err)
{
    const struct run_query *query = filters->query;
    uint64_t limit = query->limit + (list->total_is_least && query->limit < UINT64_MAX);
    if (!list_page(filters, limit, list, err))
        return false;
    uint64_t seen = query->offset + list->count;
    bool is_end = list->count < limit && (list->count || !query->offset);
    if (list->total_is_least && (is_end || (list->count && list->total < seen)))
        list->total = seen;
    list->total_is_least &= !is_end;
    list->count = list->count < query->limit ? list->count : query->limit;
    return true;
}

// The next run that will be too old for the list, whatever else is asked for.
static bool find_oldest(struct db *db, const struct run_query *query, struct run_list *list,
                        struct err *err)
{
    if (query->since_ns <= 0)
        return true;
    struct stmt stmt = sql_begin(
        db, "SELECT created_ns FROM run WHERE created_ns >= ? ORDER BY created_ns LIMIT 1", err);
    sql_bind_i64(&stmt, query->since_ns);
    list->oldest_ns = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// Where a filter has no run, nothing more is looked for.
static bool find_runs(struct run_filters *filters, struct run_list *list, struct err *err)
{
    if (filters->few && filters->few->runs == 0)
        return true;
    if (filters->few) {
        struct writing all = all_in_order(filters);
        return run_filters_read_few(filters, &all, list, err);
    }
    return run_filters_count(filters, list, err) && list_ids(filters, list, err);
}

// Sorts only ids; everything else is read just for the runs on the page.
static bool list_runs(struct run_filters *filters, struct run_list *list, struct err *err)
{
    return run_filters_open(filters, err) && find_runs(filters, list, err) &&
           runs_load_listed(filters->db, filters->arena, list, err) &&
           find_oldest(filters->db, filters->query, list, err);
}

bool store_list_runs(struct store *store, const struct run_query *query, struct arena *arena,
                     struct run_list *list, struct err *err)
{
    *list = (struct run_list){0};
    struct str pattern = sql_like(arena, query->search, err);
    struct str loose = sql_like_more(arena, query->search, err);
    struct txn txn;
    if (!pattern.at || !loose.at || !check_sorts(query, err) ||
        !txn_begin(store, DB_READ, &txn, err))
        return false;
    struct run_filters filters = {
        .db = txn.db, .query = query, .pattern = pattern, .loose = loose, .arena = arena};
    return txn_end(&txn, list_runs(&filters, list, err), err);
}
