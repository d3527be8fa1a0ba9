// SPDX-License-Identifier: Apache-2.0
// Reading series: a list of them, and the points and levels of one.
#include "server/store/store_sql.h"
#include "server/store/server_tables.h"
#include "server/store/writing.h"

// --- the list -----------------------------------------------------------------------------------

#define SELECT_SERIES                                                                       \
    "SELECT project, series, runs, points, first_ns, last_ns, last_point, step_median_ns, " \
    "change_share, (SELECT count(*) FROM alert WHERE alert.project = series.project "       \
    "AND alert.series = series.series AND status IN ('new', 'acknowledged')), "             \
    "(SELECT " IS_RECORDING " FROM run WHERE run.id = last_point) FROM series "

static bool is_rare(struct db *db, const struct run_tag *tag, struct arena *arena, bool *rare,
                    struct err *err)
{
    enum { MANY = 5000 };
    struct writing count = {.arena = arena};
    uint64_t runs;
    writing_put_text(&count, "SELECT count(*) FROM (SELECT 1 FROM run_tag WHERE \"key\" = ?",
                     tag->key);
    if (tag->value.len)
        writing_put_text(&count, " AND value = ?", tag->value);
    writing_put_i64(&count, " LIMIT ?) AS bounded", MANY + 1);
    if (!writing_read_numbers(db, &count, &runs, 1, err))
        return false;
    *rare = runs <= MANY;
    return true;
}

// Where few runs have the tag they tell the series; where many do, those of a series are soon
// found to have it.
static bool put_tag(struct writing *to, struct db *db, const struct run_tag *tag, struct err *err)
{
    bool rare;
    if (!is_rare(db, tag, to->arena, &rare, err))
        return false;
    writing_put(to, rare ? " AND (project, series) IN (SELECT run.project, run.series "
                           "FROM run_tag CROSS JOIN run ON run.id = run_id WHERE "
                         : " AND EXISTS (SELECT 1 FROM run CROSS JOIN run_tag "
                           "ON run_id = run.id WHERE run.project = series.project "
                           "AND run.series = series.series AND ");
    writing_put_text(to, "\"key\" = ?", tag->key);
    if (tag->value.len)
        writing_put_text(to, " AND value = ?", tag->value);
    writing_put(to, ")");
    return true;
}

static bool write_list(struct writing *to, struct db *db, const struct series_query *query,
                       struct str pattern, struct err *err)
{
    writing_put(to, SELECT_SERIES "WHERE last_ns IS NOT NULL");
    if (query->search.len) {
        writing_put_text(to, " AND (series LIKE ? ESCAPE '\\'", pattern);
        writing_put_text(to, " OR project LIKE ? ESCAPE '\\')", pattern);
    }
    if (query->project.len)
        writing_put_text(to, " AND project = ?", query->project);
    for (size_t i = 0; i < query->tag_count; i++)
        if (!put_tag(to, db, &query->tags[i], err))
            return false;
    writing_put_i64(to, " ORDER BY last_ns DESC, project, series LIMIT ?", STORE_MAX_SERIES);
    return buf_ok(&to->sql, err);
}

static bool list_series(struct db *db, const struct series_query *query, struct str pattern,
                        struct arena *arena, struct table *table, struct err *err)
{
    struct writing list = {.arena = arena};
    bool ok = write_list(&list, db, query, pattern, err);
    if (ok) {
        struct stmt stmt = writing_begin(db, &list, err);
        ok = sql_end_table(&stmt, arena, table);
    }
    buf_free(&list.sql);
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
        "value, source, " IS_RECORDING
        " FROM run LEFT JOIN figure ON run_id = run.id AND metric = ? "
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
