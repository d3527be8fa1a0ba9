// SPDX-License-Identifier: Apache-2.0
// Reading runs: one by id or name, or a list with filters, order and pages.
#include "server/store/store_sql.h"

#include "ingest/base/buf.h"

// --- reading ------------------------------------------------------------------------------------

#define LISTING                                                                                   \
    "SELECT id, name, project, series, note, created, revision, status, world_size, received, "   \
    "done, failed, error, gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner, " \
    "evidence "                                                                                   \
    "FROM run_listing "

static enum run_status status_of(struct str word)
{
    for (enum run_status status = RUN_EMPTY; status <= RUN_PARTIAL; status++)
        if (str_equal(word, str_of(run_status_word(status))))
            return status;
    return RUN_EMPTY;
}

static void read_run(struct stmt *stmt, struct run *run, struct arena *arena)
{
    run->id = sql_text(stmt, 0, arena);
    run->name = sql_text(stmt, 1, arena);
    run->project = sql_text(stmt, 2, arena);
    run->series = sql_text(stmt, 3, arena);
    run->note = sql_text(stmt, 4, arena);
    run->created_ns = sql_i64(stmt, 5);
    run->revision = sql_i64(stmt, 6);
    run->status = status_of(sql_bytes(stmt, 7));
    run->world_size = sql_i64_or(stmt, 8, -1);
    run->received = sql_i64(stmt, 9);
    run->done = sql_i64(stmt, 10);
    run->failed = sql_i64(stmt, 11);
    run->active = run->received - run->done - run->failed;
    run->error = sql_text(stmt, 12, arena);
    run->gpu = sql_cell(stmt, 13, COLUMN_TEXT, arena);
    run->trust_severity = sql_cell(stmt, 14, COLUMN_TEXT, arena);
    run->step_pattern = sql_text(stmt, 15, arena);
    run->warmup_steps = sql_i64_or(stmt, 16, -1);
    run->finalized = !sql_is_null(stmt, 17);
    run->owner = sql_text(stmt, 18, arena);
    run->evidence = sql_i64(stmt, 19);
}

// Tags or settings of a run.
static bool read_pairs(struct stmt *stmt, struct str run_id, struct arena *arena,
                       struct run_tag **pairs, size_t *count)
{
    sql_bind_text(stmt, run_id);
    while (sql_row(stmt)) {
        *pairs = arena_more(arena, *pairs, *count, sizeof **pairs, stmt->err);
        if (!*pairs) {
            stmt->failed = true;
            break;
        }
        (*pairs)[(*count)++] = (struct run_tag){sql_text(stmt, 0, arena), sql_text(stmt, 1, arena)};
    }
    sql_reset(stmt);
    return !stmt->failed;
}

static bool read_baselines(struct stmt *stmt, struct run *run, struct arena *arena)
{
    sql_bind_text(stmt, run->id);
    while (sql_row(stmt)) {
        run->baselines = arena_more(arena, run->baselines, run->baseline_count,
                                    sizeof *run->baselines, stmt->err);
        if (!run->baselines) {
            stmt->failed = true;
            break;
        }
        run->baselines[run->baseline_count++] = sql_text(stmt, 0, arena);
    }
    sql_reset(stmt);
    return !stmt->failed;
}

#define TAGS      "SELECT \"key\", value FROM run_tag WHERE run_id = ? ORDER BY \"key\""
#define META      "SELECT \"key\", value FROM metadata WHERE run_id = ? ORDER BY \"key\""
#define BASELINES "SELECT name FROM baseline WHERE run_id = ? ORDER BY name"

// The statements for reading one run after another.
struct loading {
    struct stmt run, figures, tags, meta, baselines;
};

static struct loading begin_loading(struct db *db, struct err *err)
{
    return (struct loading){sql_begin(db, LISTING "WHERE id = ?", err),
                            sql_begin(db, FIGURES_OF_RUN, err), sql_begin(db, TAGS, err),
                            sql_begin(db, META, err), sql_begin(db, BASELINES, err)};
}

static bool end_loading(struct loading *loading)
{
    bool run_ok = sql_end(&loading->run);
    run_ok = sql_end(&loading->figures) && run_ok;
    bool tags_ok = sql_end(&loading->tags);
    bool meta_ok = sql_end(&loading->meta);
    return sql_end(&loading->baselines) && run_ok && tags_ok && meta_ok;
}

static bool load_run(struct loading *loading, struct str id, struct arena *arena, struct run *run)
{
    *run = (struct run){0};
    sql_bind_text(&loading->run, id);
    bool found = sql_row(&loading->run);
    if (found)
        read_run(&loading->run, run, arena);
    sql_reset(&loading->run);
    if (found)
        figures_read(&loading->figures, run);
    return found && read_pairs(&loading->tags, run->id, arena, &run->tags, &run->tag_count) &&
           read_pairs(&loading->meta, run->id, arena, &run->meta, &run->meta_count) &&
           read_baselines(&loading->baselines, run, arena);
}

bool runs_load(struct db *db, struct str id, struct arena *arena, struct run *run, struct err *err)
{
    struct loading loading = begin_loading(db, err);
    bool found = load_run(&loading, id, arena, run);
    if (!end_loading(&loading))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no run %.*s", (int)id.len, id.at);
}

// --- finding ------------------------------------------------------------------------------------

bool runs_search(struct db *db, const char *text, const struct str parameters[2],
                 struct arena *arena, struct id_search *found, struct err *err)
{
    *found = (struct id_search){0};
    struct stmt stmt = sql_begin(db, text, err);
    for (int i = 0; i < 2; i++)
        if (parameters[i].at)
            sql_bind_text(&stmt, parameters[i]);
    while (found->count < 2 && sql_row(&stmt))
        if (found->count++ == 0)
            found->id = sql_text(&stmt, 0, arena);
    return sql_end(&stmt);
}

// Splits "project/name" in two; false without a slash.
static bool split_project(struct str key, struct str both[2])
{
    size_t slash = str_find(key, STR("/"));
    if (slash == SIZE_MAX)
        return false;
    both[0] = (struct str){key.at, slash};
    both[1] = (struct str){key.at + slash + 1, key.len - slash - 1};
    return true;
}

// The newest of "series" or "project/series".
static bool search_latest(struct db *db, struct str key, struct arena *arena,
                          struct id_search *found, struct err *err)
{
    struct str series[2] = {key};
    return runs_search(db,
                       split_project(key, series)
                           ? "SELECT id FROM run WHERE project = ? AND series = ? "
                             "ORDER BY created_ns DESC, id LIMIT 1"
                           : "SELECT id FROM run WHERE series = ? "
                             "ORDER BY created_ns DESC, id LIMIT 1",
                       series, arena, found, err);
}

// Ids that match a key, by its form.
static bool resolve(struct db *db, struct str key, struct arena *arena, struct id_search *found,
                    struct err *err)
{
    struct str by_id[2] = {key};
    if (!runs_search(db, "SELECT id FROM run WHERE id = ?", by_id, arena, found, err))
        return false;
    if (found->count)
        return true;
    struct str pinned = STR(STORE_BASELINE_PREFIX);
    if (str_starts_with(key, pinned)) {
        struct str name[2] = {{key.at + pinned.len, key.len - pinned.len}};
        return runs_search(db, "SELECT run_id FROM baseline WHERE name = ?", name, arena, found,
                           err);
    }
    struct str latest = STR("~latest");
    if (key.len > latest.len &&
        str_equal((struct str){key.at + key.len - latest.len, latest.len}, latest))
        return search_latest(db, (struct str){key.at, key.len - latest.len}, arena, found, err);
    struct str both[2];
    if (split_project(key, both))
        return runs_search(db, "SELECT id FROM run WHERE project = ? AND name = ?", both, arena,
                           found, err);
    return runs_search(db, "SELECT id FROM run WHERE name = ? LIMIT 2", by_id, arena, found, err);
}

static bool find_run(struct db *db, struct str key, struct arena *arena, struct run *run,
                     struct err *err)
{
    struct id_search found;
    if (!resolve(db, key, arena, &found, err))
        return false;
    if (found.count == 0)
        return err_set(err, ERR_NOT_FOUND, "no run '%.*s'", (int)(key.len < 100 ? key.len : 100),
                       key.at);
    if (found.count > 1)
        return err_set(err, ERR_CONFLICT,
                       "several projects have a run '%.*s': name it by id or as project/name",
                       (int)key.len, key.at);
    return runs_load(db, found.id, arena, run, err);
}

bool store_find_run(struct store *store, struct str key, struct arena *arena, struct run *run,
                    struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = find_run(txn.db, key.at ? key : STR(""), arena, run, err);
    return txn_end(&txn, ok, err);
}

// --- listing ------------------------------------------------------------------------------------

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

// A figure, whose name is bound.
#define BY_FIGURE "(SELECT value FROM figure WHERE run_id = run.id AND metric = ?)"

static const struct sortable *sort_column(struct str name)
{
    static const struct sortable figure = {"", BY_FIGURE, false};
    for (size_t i = 0; i < sizeof sortable / sizeof *sortable; i++)
        if (str_equal(name, str_of(sortable[i].name)))
            return &sortable[i];
    return store_knows_figure(name) ? &figure : NULL;
}

#define LIKE_PATTERN "LIKE ?1 ESCAPE '\\'"

// Where few runs have a tag they are found by it; where many have, a page of them is found by
// going through runs in the order that is asked for.
static void add_tag(struct buf *sql, const struct run_tag *tag, bool is_rare)
{
    buf_puts(sql, is_rare ? " AND id IN (SELECT run_id FROM run_tag WHERE \"key\" = ?"
                          : " AND EXISTS (SELECT 1 FROM run_tag WHERE run_id = run.id "
                            "AND \"key\" = ?");
    buf_puts(sql, tag->value.len ? " AND value = ?)" : ")");
}

// The pattern is ?1 and occurs several times; every other value follows in order. Unused conditions
// are left out, so that SQLite need not check them.
static void add_conditions(struct buf *sql, const struct run_query *query, bool has_rare_tags)
{
    buf_puts(sql, "FROM run WHERE ?1 IS NOT NULL");
    if (query->search.len)
        buf_puts(sql,
                 " AND (name " LIKE_PATTERN " OR project " LIKE_PATTERN " OR note " LIKE_PATTERN
                 " OR gpu " LIKE_PATTERN " OR EXISTS (SELECT 1 FROM run_tag WHERE run_id = run.id "
                 "AND (\"key\" || '=' || value) " LIKE_PATTERN "))");
    buf_puts(sql, query->project.len ? " AND project = ?" : "");
    buf_puts(sql, query->gpu.len ? " AND instr(lower(gpu), lower(?)) > 0" : "");
    buf_puts(sql, query->status.len ? " AND status = ?" : "");
    buf_puts(sql, query->series.len ? " AND series = ?" : "");
    buf_puts(sql, query->metric.len ? " AND " BY_FIGURE " BETWEEN ? AND ?" : "");
    buf_puts(sql, query->since_ns > 0 ? " AND created_ns >= ?" : "");
    buf_puts(sql, query->before_ns > 0 ? " AND created_ns < ?" : "");
    for (size_t i = 0; i < query->tag_count; i++)
        add_tag(sql, &query->tags[i], has_rare_tags);
    buf_putc(sql, ' ');
}

static void bind_if_asked(struct stmt *stmt, struct str value)
{
    if (value.len)
        sql_bind_text(stmt, value);
}

static void bind_conditions(struct stmt *stmt, const struct run_query *query, struct str pattern)
{
    sql_bind_text(stmt, pattern);
    bind_if_asked(stmt, query->project);
    bind_if_asked(stmt, query->gpu);
    bind_if_asked(stmt, query->status);
    bind_if_asked(stmt, query->series);
    if (query->metric.len) {
        sql_bind_text(stmt, query->metric);
        sql_bind_f64(stmt, query->least);
        sql_bind_f64(stmt, query->most);
    }
    if (query->since_ns > 0)
        sql_bind_i64(stmt, query->since_ns);
    if (query->before_ns > 0)
        sql_bind_i64(stmt, query->before_ns);
    for (size_t i = 0; i < query->tag_count; i++) {
        sql_bind_text(stmt, query->tags[i].key);
        bind_if_asked(stmt, query->tags[i].value);
    }
}

static bool add_order(struct buf *sql, const struct run_query *query, struct err *err)
{
    buf_puts(sql, "ORDER BY ");
    for (unsigned i = 0; i < query->sort_count; i++) {
        const struct sort_key *key = &query->sorts[i];
        const struct sortable *column = sort_column(key->column);
        if (!column)
            return err_set(err, ERR_USAGE,
                           "cannot sort runs by '%.*s': known are created, name, project, status, "
                           "received, world_size, gpu, trust_severity, numbers of the summary and "
                           "the breakdown (step_median_ns, gemm_ns, ...) and numbers among the "
                           "metadata (meta.KEY)",
                           (int)(key->column.len < 60 ? key->column.len : 60), key->column.at);
        // An index serves an order only where nothing is said about what is not there.
        buf_printf(sql, "%s %s%s, ", column->sql, key->descending ? "DESC" : "ASC",
                   column->is_known ? "" : " NULLS LAST");
    }
    buf_puts(sql, "created_ns DESC, id");
    return true;
}

// Follows the conditions.
static void bind_order(struct stmt *stmt, const struct run_query *query)
{
    for (unsigned i = 0; i < query->sort_count; i++)
        if (strcmp(sort_column(query->sorts[i].column)->sql, BY_FIGURE) == 0)
            sql_bind_text(stmt, query->sorts[i].column);
}

static bool is_narrowed(const struct run_query *query)
{
    return query->search.len || query->gpu.len || query->status.len || query->metric.len ||
           query->since_ns > 0 || query->before_ns > 0;
}

// Runs of series are counted already.
static void add_count_of_series(struct buf *sql, const struct run_query *query)
{
    buf_puts(sql, "SELECT CAST(coalesce(sum(runs), 0) AS BIGINT) FROM series "
                  "WHERE ?1 IS NOT NULL");
    buf_puts(sql, query->project.len ? " AND project = ?" : "");
    buf_puts(sql, query->series.len ? " AND series = ?" : "");
}

// Those of the tag's index, but for the few in the bin.
static void add_count_of_tag(struct buf *sql, const struct run_tag *tag)
{
    const char *tagged = tag->value.len ? "\"key\" = ?2 AND value = ?3" : "\"key\" = ?2";
    buf_printf(sql,
               "SELECT (SELECT count(*) FROM run_tag WHERE %s) - (SELECT count(*) FROM stored_run "
               "WHERE deleted_ns IS NOT NULL AND EXISTS (SELECT 1 FROM run_tag "
               "WHERE run_id = stored_run.id AND %s)) WHERE ?1 IS NOT NULL",
               tagged, tagged);
}

static void add_count(struct buf *sql, const struct run_query *query)
{
    if (!is_narrowed(query) && query->tag_count == 0) {
        add_count_of_series(sql, query);
    } else if (!is_narrowed(query) && query->tag_count == 1 && !query->project.len &&
               !query->series.len) {
        add_count_of_tag(sql, &query->tags[0]);
    } else {
        buf_puts(sql, "SELECT count(*) ");
        add_conditions(sql, query, true);
    }
}

static bool count_runs(struct db *db, const struct run_query *query, struct str pattern,
                       struct run_list *list, struct err *err)
{
    struct buf sql = {0};
    add_count(&sql, query);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_conditions(&stmt, query, pattern);
        list->total = sql_row(&stmt) ? (uint64_t)sql_i64(&stmt, 0) : 0;
        ok = sql_end(&stmt);
    }
    buf_free(&sql);
    return ok;
}

static bool read_ids(struct stmt *stmt, struct run_list *list, struct arena *arena)
{
    while (sql_row(stmt)) {
        list->runs = arena_more(arena, list->runs, list->count, sizeof *list->runs, stmt->err);
        if (!list->runs) {
            stmt->failed = true;
            break;
        }
        list->runs[list->count++].id = sql_text(stmt, 0, arena);
    }
    return !stmt->failed;
}

// After they were counted.
static bool list_ids(struct db *db, const struct run_query *query, struct str pattern,
                     struct arena *arena, struct run_list *list, struct err *err)
{
    enum { MANY_PAGES = 100 };
    struct buf sql = {0};
    buf_puts(&sql, "SELECT id ");
    add_conditions(&sql, query, list->total / MANY_PAGES < query->limit);
    bool ok = add_order(&sql, query, err);
    buf_puts(&sql, " LIMIT ? OFFSET ?");
    ok = ok && buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_conditions(&stmt, query, pattern);
        bind_order(&stmt, query);
        sql_bind_u64(&stmt, query->limit);
        sql_bind_u64(&stmt, query->offset);
        ok = read_ids(&stmt, list, arena);
        ok = sql_end(&stmt) && ok;
    }
    buf_free(&sql);
    return ok;
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
static bool list_page(struct db *db, const struct run_query *query, struct str pattern,
                      struct arena *arena, struct run_list *list, struct err *err)
{
    if (!list_ids(db, query, pattern, arena, list, err))
        return false;
    struct loading loading = begin_loading(db, err);
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++)
        ok = load_run(&loading, list->runs[i].id, arena, &list->runs[i]);
    return end_loading(&loading) && ok;
}

bool store_list_runs(struct store *store, const struct run_query *query, struct arena *arena,
                     struct run_list *list, struct err *err)
{
    *list = (struct run_list){0};
    struct str pattern = sql_like(arena, query->search, err);
    struct txn txn;
    if (!pattern.at || !txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = count_runs(txn.db, query, pattern, list, err) &&
              list_page(txn.db, query, pattern, arena, list, err) &&
              find_oldest(txn.db, query, list, err);
    return txn_end(&txn, ok, err);
}
