// SPDX-License-Identifier: Apache-2.0
// Lists of runs with filters, order and pages, in a time that does not grow with the runs: where a
// filter has few runs they are found by its index and sorted, and where each has many, a page is
// found by going through the order that is asked for. Nothing is counted beyond MANY of one filter;
// of several, which are looked up run by run, only the NEWEST are counted.
#include "server/store/store_sql.h"

#include "ingest/base/buf.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 5000, NEWEST = 1000 };

// --- statements with their values ---------------------------------------------------------------

struct bound {
    enum { BOUND_TEXT, BOUND_I64, BOUND_F64 } type;
    struct str text;
    int64_t i;
    double f;
};

// A statement while it is written, with what is bound to its places in their order.
struct writing {
    struct buf sql;
    struct bound *bound;
    size_t count;
    struct arena *arena;
};

static void put(struct writing *to, const char *sql)
{
    buf_puts(&to->sql, sql);
}

static void bind(struct writing *to, struct bound value)
{
    struct bound *more = arena_more(to->arena, to->bound, to->count, sizeof *more, NULL);
    to->sql.failed |= !more;
    if (!more)
        return;
    to->bound = more;
    to->bound[to->count++] = value;
}

static void put_text(struct writing *to, const char *sql, struct str value)
{
    put(to, sql);
    bind(to, (struct bound){.type = BOUND_TEXT, .text = value});
}

static void put_i64(struct writing *to, const char *sql, int64_t value)
{
    put(to, sql);
    bind(to, (struct bound){.type = BOUND_I64, .i = value});
}

static void put_f64(struct writing *to, const char *sql, double value)
{
    put(to, sql);
    bind(to, (struct bound){.type = BOUND_F64, .f = value});
}

static struct stmt begin_written(struct db *db, const struct writing *from, struct err *err)
{
    struct stmt stmt = sql_begin(db, from->sql.at, err);
    for (size_t i = 0; i < from->count; i++) {
        const struct bound *value = &from->bound[i];
        if (value->type == BOUND_TEXT)
            sql_bind_text(&stmt, value->text);
        else if (value->type == BOUND_I64)
            sql_bind_i64(&stmt, value->i);
        else
            sql_bind_f64(&stmt, value->f);
    }
    return stmt;
}

// Its rows of whole numbers, of which the first is read.
static bool read_numbers(struct db *db, struct writing *from, uint64_t *numbers, int count,
                         struct err *err)
{
    bool ok = buf_ok(&from->sql, err);
    if (ok) {
        struct stmt stmt = begin_written(db, from, err);
        bool found = sql_row(&stmt);
        for (int i = 0; i < count; i++)
            numbers[i] = found ? (uint64_t)sql_i64(&stmt, i) : 0;
        ok = sql_end(&stmt);
    }
    buf_free(&from->sql);
    return ok;
}

// --- figures that have an index by value --------------------------------------------------------

// Word for word as in the index figure_by_value: what the list of runs shows. Of an IN, SQLite
// would make the set for each row that it writes.
#define ORDERED_FIGURES                                               \
    "(metric = 'attention_ns' OR metric = 'busy_share' OR "           \
    "metric = 'exposed_comm_ns' OR metric = 'exposed_comm_share' OR " \
    "metric = 'exposed_memory_ns' OR metric = 'findings' OR "         \
    "metric = 'gemm_ns' OR metric = 'hfu' OR "                        \
    "metric = 'idle_host_wait_ns' OR metric = 'idle_other_ns' OR "    \
    "metric = 'loss' OR metric = 'memory_share' OR "                  \
    "metric = 'mfu' OR metric = 'other_compute_ns' OR "               \
    "metric = 'power_w' OR metric = 'step_median_ns' OR "             \
    "metric = 'tflops_per_gpu' OR metric = 'tokens_per_j' OR "        \
    "metric = 'tokens_per_s_per_gpu' OR metric = 'unrecorded_ns')"

static bool is_ordered_figure(struct str metric)
{
    char quoted[40];
    return metric.len < sizeof quoted - 3 &&
           snprintf(quoted, sizeof quoted, "'%.*s'", (int)metric.len, metric.at) > 0 &&
           strstr(ORDERED_FIGURES, quoted) != NULL;
}

// --- filters ------------------------------------------------------------------------------------

#define LIKE_PATTERN "LIKE ? ESCAPE '\\'"

struct asked {
    const struct run_query *query;
    struct str pattern; // of its search
};

static void check_project(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put_text(to, " AND project = ?", asked->query->project);
}

static void check_series(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put_text(to, " AND series = ?", asked->query->series);
}

static void check_status(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put_text(to, " AND status = ?", asked->query->status);
}

static void check_time(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    if (asked->query->since_ns > 0)
        put_i64(to, " AND created_ns >= ?", asked->query->since_ns);
    if (asked->query->before_ns > 0)
        put_i64(to, " AND created_ns < ?", asked->query->before_ns);
}

// From one name to the next: there are few of them, however many runs there are.
#define GPUS_THAT(match)                                                                        \
    "(WITH RECURSIVE model (gpu) AS (SELECT min(gpu) FROM run WHERE gpu IS NOT NULL UNION ALL " \
    "SELECT (SELECT min(gpu) FROM run WHERE gpu > model.gpu) FROM model "                       \
    "WHERE model.gpu IS NOT NULL) SELECT gpu FROM model WHERE " match ")"
#define GPUS      GPUS_THAT("instr(lower(gpu), lower(?)) > 0")
#define GPUS_LIKE GPUS_THAT("gpu " LIKE_PATTERN)

static void find_gpu(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put_text(to, "SELECT id AS run_id FROM run WHERE gpu IN " GPUS, asked->query->gpu);
}

// Of a run that was found otherwise.
static void check_gpu(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put_text(to, " AND coalesce(gpu, '') IN " GPUS, asked->query->gpu);
}

static void put_figure(struct writing *to, const struct asked *asked)
{
    const struct run_query *query = asked->query;
    put_text(to, "metric = ?", query->metric);
    if (is_ordered_figure(query->metric))
        put(to, " AND " ORDERED_FIGURES);
    put_f64(to, " AND value BETWEEN ?", query->least);
    put_f64(to, " AND ?", query->most);
}

static void find_figure(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put(to, "SELECT run_id FROM figure WHERE ");
    put_figure(to, asked);
}

static void check_figure(struct writing *to, const struct asked *asked, size_t at)
{
    (void)at;
    put(to, " AND EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND ");
    put_figure(to, asked);
    put(to, ")");
}

static void put_tag(struct writing *to, const struct run_tag *tag)
{
    put_text(to, "\"key\" = ?", tag->key);
    if (tag->value.len)
        put_text(to, " AND value = ?", tag->value);
}

static void find_tag(struct writing *to, const struct asked *asked, size_t at)
{
    put(to, "SELECT run_id FROM run_tag WHERE ");
    put_tag(to, &asked->query->tags[at]);
}

static void check_tag(struct writing *to, const struct asked *asked, size_t at)
{
    put(to, " AND EXISTS (SELECT 1 FROM run_tag WHERE run_id = run.id AND ");
    put_tag(to, &asked->query->tags[at]);
    put(to, ")");
}

static void check_search(struct writing *to, const struct asked *asked, size_t at)
{
    static const char *const texts[] = {" AND (name " LIKE_PATTERN, " OR project " LIKE_PATTERN,
                                        " OR note " LIKE_PATTERN, " OR gpu " LIKE_PATTERN,
                                        " OR EXISTS (SELECT 1 FROM run_tag WHERE run_id = run.id "
                                        "AND (\"key\" || '=' || value) " LIKE_PATTERN "))"};
    (void)at;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(to, texts[i], asked->pattern);
}

// All runs with the text, each field by its own index. What costs least is first: a text that many
// runs have is seldom looked for to the end.
static void find_search(struct writing *to, const struct asked *asked, size_t at)
{
    static const char *const texts[] = {
        "SELECT DISTINCT run_id FROM (SELECT id AS run_id FROM run WHERE project IN "
        "(SELECT project FROM series WHERE project " LIKE_PATTERN,
        ") UNION ALL SELECT id AS run_id FROM run WHERE gpu IN " GPUS_LIKE,
        " UNION ALL SELECT id AS run_id FROM run WHERE note <> '' AND note " LIKE_PATTERN,
        " UNION ALL SELECT id AS run_id FROM run WHERE name " LIKE_PATTERN,
        " UNION ALL SELECT run_id FROM run_tag WHERE (\"key\" || '=' || value) " LIKE_PATTERN};
    (void)at;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(to, texts[i], asked->pattern);
    put(to, ") AS matching");
}

struct filter_kind {
    // A condition for a run.
    void (*check)(struct writing *to, const struct asked *asked, size_t at);
    // The ids of its runs, once each, as run_id; NULL: by their condition alone.
    void (*find)(struct writing *to, const struct asked *asked, size_t at);
    // Its runs have an index in the order of the list, newest first.
    bool is_in_order;
    // Its runs can be found without looking at others.
    bool is_indexed;
};

static const struct filter_kind by_project = {check_project, NULL, true, true},
                                by_series = {check_series, NULL, true, true},
                                by_status = {check_status, NULL, true, true},
                                by_time = {check_time, NULL, true, true},
                                by_gpu = {check_gpu, find_gpu, false, true},
                                by_figure = {check_figure, find_figure, false, true},
                                by_other_figure = {check_figure, find_figure, false, false},
                                by_tag = {check_tag, find_tag, false, true},
                                by_search = {check_search, find_search, false, true};

struct filter {
    const struct filter_kind *kind;
    size_t at;     // which of its tags
    uint64_t runs; // it has alone, up to MANY + 1
};

// What a list asks for, and how it is answered.
struct listing {
    struct db *db;
    struct asked asked;
    struct arena *arena;
    struct filter *filters;
    size_t count;
    const struct filter *few; // the one that finds all runs; NULL: each has many
};

static void add_filter(struct listing *listing, bool is_asked, const struct filter_kind *kind,
                       size_t at)
{
    if (is_asked)
        listing->filters[listing->count++] = (struct filter){kind, at, 0};
}

static bool add_filters(struct listing *listing, struct err *err)
{
    enum { MOST_SINGLE = 8 };
    const struct run_query *query = listing->asked.query;
    listing->filters =
        arena_array(listing->arena, query->tag_count + MOST_SINGLE, sizeof *listing->filters, err);
    if (!listing->filters)
        return false;
    add_filter(listing, query->project.len, &by_project, 0);
    add_filter(listing, query->series.len, &by_series, 0);
    add_filter(listing, query->status.len, &by_status, 0);
    add_filter(listing, query->since_ns > 0 || query->before_ns > 0, &by_time, 0);
    add_filter(listing, query->gpu.len, &by_gpu, 0);
    add_filter(listing, query->metric.len,
               is_ordered_figure(query->metric) ? &by_figure : &by_other_figure, 0);
    for (size_t i = 0; i < query->tag_count; i++)
        add_filter(listing, true, &by_tag, i);
    add_filter(listing, query->search.len, &by_search, 0);
    return true;
}

static struct writing begin_writing(const struct listing *listing)
{
    return (struct writing){.arena = listing->arena};
}

static void put_found(struct writing *to, const struct listing *listing,
                      const struct filter *filter)
{
    if (filter->kind->find) {
        filter->kind->find(to, &listing->asked, filter->at);
        return;
    }
    put(to, "SELECT id AS run_id FROM run WHERE TRUE");
    filter->kind->check(to, &listing->asked, filter->at);
}

// Conditions of all filters but one, which may be NULL.
static void put_checks(struct writing *to, const struct listing *listing, const struct filter *but)
{
    for (size_t i = 0; i < listing->count; i++)
        if (&listing->filters[i] != but)
            listing->filters[i].kind->check(to, &listing->asked, listing->filters[i].at);
}

// The runs of all filters, if one has few.
static void put_runs(struct writing *to, const struct listing *listing)
{
    if (listing->few) {
        put(to, "FROM (");
        put_found(to, listing, listing->few);
        put(to, ") AS found CROSS JOIN run ON run.id = found.run_id WHERE TRUE");
    } else {
        put(to, "FROM run WHERE TRUE");
    }
    put_checks(to, listing, listing->few);
    put(to, " ");
}

static bool count_alone(struct listing *listing, struct filter *filter, struct err *err)
{
    struct writing count = begin_writing(listing);
    put(&count, "SELECT count(*) FROM (SELECT 1 FROM (");
    put_found(&count, listing, filter);
    put_i64(&count, ") AS found LIMIT ?) AS bounded", MANY + 1);
    return read_numbers(listing->db, &count, &filter->runs, 1, err);
}

// Of the newest runs that filters with an order have: those that the others have, too, and how
// many they were. Of one filter alone, if only is not NULL.
static void write_count_of_newest(struct writing *to, const struct listing *listing,
                                  const struct filter *only)
{
    put(to, "SELECT CAST(coalesce(sum(CASE WHEN TRUE");
    for (size_t i = 0; i < listing->count; i++)
        if (!listing->filters[i].kind->is_in_order && (!only || only == &listing->filters[i]))
            listing->filters[i].kind->check(to, &listing->asked, listing->filters[i].at);
    put(to, " THEN 1 ELSE 0 END), 0) AS BIGINT), count(*) FROM (SELECT id, name, project, note, "
            "gpu FROM run WHERE TRUE");
    for (size_t i = 0; i < listing->count; i++)
        if (listing->filters[i].kind->is_in_order && !only)
            listing->filters[i].kind->check(to, &listing->asked, listing->filters[i].at);
    put_i64(to, " ORDER BY created_ns DESC, id LIMIT ?) AS run", NEWEST + 1);
}

// Whether so many of the newest have the text that going through all of them finds a page soon.
static bool is_frequent(struct listing *listing, const struct filter *filter, bool *frequent,
                        struct err *err)
{
    enum { ONE_OF = 20 };
    struct writing count = begin_writing(listing);
    uint64_t numbers[2];
    write_count_of_newest(&count, listing, filter);
    if (!read_numbers(listing->db, &count, numbers, 2, err))
        return false;
    *frequent = numbers[1] > NEWEST && numbers[0] > NEWEST / ONE_OF;
    return true;
}

// A search costs most: it is the last, and only made where nothing else has few runs.
static bool should_count(struct listing *listing, const struct filter *filter, bool *should,
                         struct err *err)
{
    bool frequent = false;
    *should = filter->kind->is_indexed;
    if (filter->kind != &by_search)
        return true;
    if (!listing->few && !is_frequent(listing, filter, &frequent, err))
        return false;
    *should = !listing->few && !frequent;
    return true;
}

static bool find_few(struct listing *listing, struct err *err)
{
    for (size_t i = 0; i < listing->count; i++) {
        struct filter *filter = &listing->filters[i];
        bool should;
        filter->runs = MANY + 1;
        if (!should_count(listing, filter, &should, err) ||
            (should && !count_alone(listing, filter, err)))
            return false;
        if (filter->runs <= MANY && (!listing->few || filter->runs < listing->few->runs))
            listing->few = filter;
    }
    return true;
}

// --- counting -----------------------------------------------------------------------------------

static bool has_only_places(const struct listing *listing)
{
    bool only = true;
    for (size_t i = 0; i < listing->count; i++)
        only &= listing->filters[i].kind == &by_project || listing->filters[i].kind == &by_series;
    return only;
}

// Runs of series are counted already.
static void write_count_of_series(struct writing *to, const struct run_query *query)
{
    put(to, "SELECT CAST(coalesce(sum(runs), 0) AS BIGINT), 0 FROM series WHERE TRUE");
    if (query->project.len)
        put_text(to, " AND project = ?", query->project);
    if (query->series.len)
        put_text(to, " AND series = ?", query->series);
}

// A single filter with an index was counted already, except where a search was not made. Those that
// are in the bin are few.
static bool is_counted(const struct listing *listing)
{
    return listing->count == 1 && listing->filters[0].kind->is_indexed &&
           listing->filters[0].kind != &by_search;
}

// With filters that are looked up run by run.
static bool has_lookups(const struct listing *listing)
{
    bool has = false;
    for (size_t i = 0; i < listing->count; i++)
        has |= !listing->filters[i].kind->is_in_order;
    return has;
}

// Those that one index has.
static void write_count_in_order(struct writing *to, const struct listing *listing)
{
    put(to, "SELECT count(*), count(*) FROM (SELECT id FROM run WHERE TRUE");
    put_checks(to, listing, NULL);
    put_i64(to, " ORDER BY created_ns DESC, id LIMIT ?) AS run", MANY + 1);
}

static void write_count(struct writing *to, const struct listing *listing)
{
    if (listing->few) {
        put(to, "SELECT count(*), 0 ");
        put_runs(to, listing);
    } else if (has_lookups(listing)) {
        write_count_of_newest(to, listing, NULL);
    } else {
        write_count_in_order(to, listing);
    }
}

static bool count_runs(struct listing *listing, struct run_list *list, struct err *err)
{
    struct writing count = begin_writing(listing);
    uint64_t numbers[2] = {MANY, MANY + 1}; // the runs; those that were looked at
    bool is_of_places = has_only_places(listing);
    uint64_t most = !is_of_places && has_lookups(listing) && !is_counted(listing) ? NEWEST : MANY;
    if (is_of_places)
        write_count_of_series(&count, listing->asked.query);
    else if (listing->few || !is_counted(listing))
        write_count(&count, listing);
    if (count.sql.len && !read_numbers(listing->db, &count, numbers, 2, err))
        return false;
    list->total_is_least = numbers[1] > most;
    list->total = list->total_is_least && numbers[0] > most ? most : numbers[0];
    return true;
}

// --- order --------------------------------------------------------------------------------------

// What a list may be sorted by, and the column; whether each run has one.
static const struct sortable {
    const char *name, *sql;
    bool is_known;
} sortable[] = {
    {"created", "created_ns", true},
    {"name", "name", true},
    {"project", "project", true},
    {"status", "status", true},
    {"received", "received", true},
    {"world_size", "coalesce(world_size, traced_world_size)", false},
    {"gpu", "gpu", false},
    {"trust_severity", "trust_severity", false},
};

static const struct sortable by_value = {
    "", "(SELECT value FROM figure WHERE run_id = run.id AND metric = ?)", false};

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

// From the one at `from` on.
static void put_order(struct writing *to, const struct run_query *query, unsigned from)
{
    for (unsigned i = from; i < query->sort_count; i++) {
        const struct sort_key *key = &query->sorts[i];
        const struct sortable *column = sort_column(key->column);
        put(to, column->sql);
        if (column == &by_value)
            bind(to, (struct bound){.type = BOUND_TEXT, .text = key->column});
        // An index serves an order only where nothing is said about what is not there.
        put(to, key->descending ? " DESC" : " ASC");
        put(to, column->is_known ? ", " : " NULLS LAST, ");
    }
}

// --- pages --------------------------------------------------------------------------------------

static bool read_ids(struct listing *listing, struct writing *from, struct run_list *list,
                     struct err *err)
{
    bool ok = buf_ok(&from->sql, err);
    if (ok) {
        struct stmt stmt = begin_written(listing->db, from, err);
        while (sql_row(&stmt)) {
            list->runs =
                arena_more(listing->arena, list->runs, list->count, sizeof *list->runs, err);
            stmt.failed |= !list->runs;
            if (stmt.failed)
                break;
            list->runs[list->count++].id = sql_text(&stmt, 0, listing->arena);
        }
        ok = sql_end(&stmt);
    }
    buf_free(&from->sql);
    return ok;
}

static void put_page(struct writing *to, uint64_t limit, uint64_t offset)
{
    put_i64(to, " LIMIT ?", limit < INT64_MAX ? (int64_t)limit : INT64_MAX);
    put_i64(to, " OFFSET ?", offset < INT64_MAX ? (int64_t)offset : INT64_MAX);
}

static bool list_in_order(struct listing *listing, uint64_t limit, struct run_list *list,
                          struct err *err)
{
    struct writing page = begin_writing(listing);
    put(&page, "SELECT run.id ");
    put_runs(&page, listing);
    put(&page, "ORDER BY ");
    put_order(&page, listing->asked.query, 0);
    put(&page, "created_ns DESC, run.id");
    put_page(&page, limit, listing->asked.query->offset);
    return read_ids(listing, &page, list, err);
}

// Runs that have the figure that is sorted by first.
static void put_with_figure(struct writing *to, const struct listing *listing)
{
    put_text(
        to,
        "FROM figure AS ordered CROSS JOIN run ON run.id = ordered.run_id WHERE ordered.metric = ?",
        listing->asked.query->sorts[0].column);
    put(to, " AND " ORDERED_FIGURES);
    put_checks(to, listing, NULL);
}

static bool count_with_figure(struct listing *listing, uint64_t *runs, struct err *err)
{
    struct writing count = begin_writing(listing);
    put(&count, "SELECT count(*) ");
    put_with_figure(&count, listing);
    return read_numbers(listing->db, &count, runs, 1, err);
}

static bool list_without_figure(struct listing *listing, uint64_t limit, struct run_list *list,
                                struct err *err)
{
    const struct run_query *query = listing->asked.query;
    uint64_t with = query->offset + list->count;
    if (list->count == 0 && query->offset > 0 && !count_with_figure(listing, &with, err))
        return false;
    struct writing page = begin_writing(listing);
    put(&page, "SELECT run.id ");
    put_runs(&page, listing);
    put_text(&page,
             "AND NOT EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND metric = ?) ORDER BY ",
             query->sorts[0].column);
    put_order(&page, query, 1);
    put(&page, "created_ns DESC, run.id");
    put_page(&page, limit - list->count, query->offset > with ? query->offset - with : 0);
    return read_ids(listing, &page, list, err);
}

// Along the index of the figure; what is equal is in the order of ids, as there, so that no page
// needs all that is equal.
static bool list_by_figure(struct listing *listing, uint64_t limit, struct run_list *list,
                           struct err *err)
{
    const struct run_query *query = listing->asked.query;
    const char *down = query->sorts[0].descending ? " DESC" : "";
    struct writing page = begin_writing(listing);
    put(&page, "SELECT run.id ");
    put_with_figure(&page, listing);
    put(&page, " ORDER BY ordered.value");
    put(&page, down);
    put(&page, ", ");
    put_order(&page, query, 1);
    put(&page, "ordered.run_id");
    put(&page, down);
    put_page(&page, limit, query->offset);
    return read_ids(listing, &page, list, err) &&
           (list->count == limit || list_without_figure(listing, limit, list, err));
}

// Whether more runs than a page sorts at once are in the order of a figure.
static bool goes_by_figure(const struct listing *listing, const struct run_list *list)
{
    const struct run_query *query = listing->asked.query;
    return query->sort_count && !listing->few && (list->total_is_least || list->total > MANY) &&
           is_ordered_figure(query->sorts[0].column);
}

// Where the total is not known, one run more than the page tells whether another page follows.
static bool list_ids(struct listing *listing, struct run_list *list, struct err *err)
{
    const struct run_query *query = listing->asked.query;
    uint64_t limit = query->limit + (list->total_is_least && query->limit < UINT64_MAX);
    if (!(goes_by_figure(listing, list) ? list_by_figure : list_in_order)(listing, limit, list,
                                                                          err))
        return false;
    uint64_t seen = query->offset + list->count;
    bool is_end = list->count < limit && (list->count || !query->offset);
    if (list->total_is_least && (is_end || list->total < seen))
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

// Sorts only ids; everything else is read just for the runs on the page.
static bool list_runs(struct listing *listing, struct run_list *list, struct err *err)
{
    return add_filters(listing, err) && find_few(listing, err) && count_runs(listing, list, err) &&
           list_ids(listing, list, err) &&
           runs_load_listed(listing->db, listing->arena, list, err) &&
           find_oldest(listing->db, listing->asked.query, list, err);
}

bool store_list_runs(struct store *store, const struct run_query *query, struct arena *arena,
                     struct run_list *list, struct err *err)
{
    *list = (struct run_list){0};
    struct str pattern = sql_like(arena, query->search, err);
    struct txn txn;
    if (!pattern.at || !check_sorts(query, err) || !txn_begin(store, DB_READ, &txn, err))
        return false;
    struct listing listing = {.db = txn.db, .asked = {query, pattern}, .arena = arena};
    return txn_end(&txn, list_runs(&listing, list, err), err);
}
