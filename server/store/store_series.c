// SPDX-License-Identifier: Apache-2.0
// Reading series: a list of them, and the points and levels of one.
#include "server/store/store_sql.h"
#include "server/store/server_tables.h"

#include "ingest/base/buf.h"

// --- the list -----------------------------------------------------------------------------------

#define SELECT_SERIES                                                                       \
    "SELECT project, series, runs, points, first_ns, last_ns, last_point, step_median_ns, " \
    "change_share, (SELECT count(*) FROM alert WHERE alert.project = series.project "       \
    "AND alert.series = series.series AND status IN ('new', 'acknowledged')) FROM series "

// The pattern is ?1; every other value follows in order.
static void put_conditions(struct buf *sql, const struct series_query *query)
{
    buf_puts(sql, "WHERE last_ns IS NOT NULL AND ?1 IS NOT NULL");
    if (query->search.len)
        buf_puts(sql, " AND (series LIKE ?1 ESCAPE '\\' OR project LIKE ?1 ESCAPE '\\')");
    buf_puts(sql, query->project.len ? " AND project = ?" : "");
    for (size_t i = 0; i < query->tag_count; i++) {
        buf_puts(sql, " AND EXISTS (SELECT 1 FROM run CROSS JOIN run_tag ON run_id = run.id "
                      "WHERE run.project = series.project AND run.series = series.series "
                      "AND \"key\" = ?");
        buf_puts(sql, query->tags[i].value.len ? " AND value = ?)" : ")");
    }
    buf_puts(sql, " ORDER BY last_ns DESC, project, series LIMIT ?");
}

static void bind_conditions(struct stmt *stmt, const struct series_query *query, struct str pattern)
{
    sql_bind_text(stmt, pattern);
    if (query->project.len)
        sql_bind_text(stmt, query->project);
    for (size_t i = 0; i < query->tag_count; i++) {
        sql_bind_text(stmt, query->tags[i].key);
        if (query->tags[i].value.len)
            sql_bind_text(stmt, query->tags[i].value);
    }
    sql_bind_u64(stmt, STORE_MAX_SERIES);
}

static bool list_series(struct db *db, const struct series_query *query, struct str pattern,
                        struct arena *arena, struct table *table, struct err *err)
{
    struct buf sql = {0};
    buf_puts(&sql, SELECT_SERIES);
    put_conditions(&sql, query);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_conditions(&stmt, query, pattern);
        ok = sql_end_table(&stmt, arena, table);
    }
    buf_free(&sql);
    return ok;
}

bool store_list_series(struct store *store, const struct series_query *query, struct arena *arena,
                       struct table *table, struct err *err)
{
    struct txn txn;
    struct str pattern = sql_like(arena, query->search, err);
    *table = (struct table){.desc = &table_series};
    if (!pattern.at || !txn_begin(store, DB_READ, &txn, err))
        return false;
    return txn_end(&txn, list_series(txn.db, query, pattern, arena, table, err), err);
}

// --- one series ---------------------------------------------------------------------------------

static bool search_projects(struct db *db, const struct series_key *key, struct arena *arena,
                            struct id_search *found, struct err *err)
{
    struct str by_name[2] = {key->series};
    struct str by_both[2] = {key->series, key->project};
    return key->project.len
               ? runs_search(db, "SELECT project FROM series WHERE series = ? AND project = ?",
                             by_both, arena, found, err)
               : runs_search(db, "SELECT project FROM series WHERE series = ? LIMIT 2", by_name,
                             arena, found, err);
}

bool store_find_series(struct store *store, struct series_key *key, struct arena *arena,
                       struct err *err)
{
    struct txn txn;
    struct id_search found;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = search_projects(txn.db, key, arena, &found, err);
    if (!txn_end(&txn, ok, err))
        return false;
    key->project = found.id;
    if (found.count > 1)
        return err_set(err, ERR_CONFLICT, "several projects have a series '%.*s': add project=NAME",
                       (int)(key->series.len < 100 ? key->series.len : 100), key->series.at);
    return found.count == 1 ||
           err_set(err, ERR_NOT_FOUND, "no series '%.*s'",
                   (int)(key->series.len < 100 ? key->series.len : 100), key->series.at);
}

// Ids of the points that count.
#define NEWEST_POINTS                                                                \
    "(SELECT id FROM run WHERE project = ? AND series = ? AND point_ns IS NOT NULL " \
    "ORDER BY created_ns DESC, id LIMIT ?)"

#define FIGURE(metric) \
    ", (SELECT value FROM figure WHERE run_id = run.id AND metric = '" #metric "')"
#define POINT_FIGURES         \
    FIGURE(step_ci_low_ns)    \
    FIGURE(step_ci_high_ns)   \
    FIGURE(gemm_ns)           \
    FIGURE(attention_ns)      \
    FIGURE(other_compute_ns)  \
    FIGURE(exposed_comm_ns)   \
    FIGURE(exposed_memory_ns) \
    FIGURE(idle_host_wait_ns) \
    FIGURE(idle_other_ns)     \
    FIGURE(unrecorded_ns)

struct rows_asked {
    const char *sql;
    struct str metric; // of the first parameter, if there is one before the series; NULL text: none
    const struct series_key *key;
};

static bool read_rows(struct store *store, const struct rows_asked *asked, struct arena *arena,
                      struct table *table, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, asked->sql, err);
    if (asked->metric.at)
        sql_bind_text(&stmt, asked->metric);
    sql_bind_text(&stmt, asked->key->project);
    sql_bind_text(&stmt, asked->key->series);
    sql_bind_u64(&stmt, STORE_MAX_POINTS);
    return txn_end(&txn, sql_end_table(&stmt, arena, table), err);
}

bool store_list_points(struct store *store, const struct series_key *key, struct str metric,
                       struct arena *arena, struct table *table, struct err *err)
{
    static const char sql[] =
        "SELECT run.id, run.name, run.created_ns, "
        "(SELECT value FROM metadata WHERE run_id = run.id AND \"key\" = 'commit'), "
        "run.point_ns" POINT_FIGURES ", run.gpu, "
        "coalesce(run.world_size, run.traced_world_size, run.received), run.outlier, "
        "value, source FROM run LEFT JOIN figure ON run_id = run.id AND metric = ? "
        "WHERE run.id IN " NEWEST_POINTS " ORDER BY run.created_ns, run.id DESC";
    *table = (struct table){.desc = &table_series_points};
    const struct rows_asked asked = {sql, metric.at ? metric : STR(""), key};
    return read_rows(store, &asked, arena, table, err);
}

bool store_list_level_changes(struct store *store, const struct series_key *key,
                              struct arena *arena, struct table *table, struct err *err)
{
    static const char sql[] =
        "SELECT run.id, run.name, run.created_ns, previous_id, reason, before_ns, after_ns, "
        "CAST(after_ns AS DOUBLE PRECISION) / before_ns - 1, p_value "
        "FROM run CROSS JOIN level_change ON run_id = run.id "
        "WHERE run.id IN " NEWEST_POINTS " ORDER BY run.created_ns, run.id DESC";
    *table = (struct table){.desc = &table_series_changes};
    const struct rows_asked asked = {sql, {NULL, 0}, key};
    return read_rows(store, &asked, arena, table, err);
}
