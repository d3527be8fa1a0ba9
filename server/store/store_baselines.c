// SPDX-License-Identifier: Apache-2.0
// Runs that others are compared with, each under a name.
#include "server/store/store_sql.h"
#include "server/store/server_tables.h"

#include "ingest/base/clock.h"

#define STEP_MEDIAN                                                 \
    "(SELECT value FROM figure WHERE run_id = run.id AND metric = " \
    "'step_median_ns' AND " STEPS_ARE_MARKED("run") ")"

bool store_list_baselines(struct store *store, struct str name, struct arena *arena,
                          struct table *table, struct err *err)
{
    struct txn txn;
    *table = (struct table){.desc = &table_baselines};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db,
        name.len ? "SELECT baseline.name, run.id, run.name, run.project, " STEP_MEDIAN ", set_ns "
                   "FROM baseline JOIN run ON run.id = run_id WHERE baseline.name = ?"
                 : "SELECT baseline.name, run.id, run.name, run.project, " STEP_MEDIAN ", set_ns "
                   "FROM baseline CROSS JOIN run ON run.id = run_id ORDER BY baseline.name",
        err);
    if (name.len)
        sql_bind_text(&stmt, name);
    return txn_end(&txn, sql_end_table(&stmt, arena, table), err);
}

// A run shows its baselines, so it changes with them.
static bool touch_pinned(struct db *db, struct str name, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET revision = revision + 1 "
                                 "WHERE id = (SELECT run_id FROM baseline WHERE name = ?)",
                                 err);
    sql_bind_text(&stmt, name);
    return sql_run(&stmt);
}

static bool check_room(struct db *db, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM baseline", err);
    int64_t count = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return count <= (int64_t)STORE_MAX_BASELINES ||
           err_set(err, ERR_CONFLICT, "there are already %zu baselines, the limit",
                   STORE_MAX_BASELINES);
}

static bool set_baseline(struct db *db, struct str name, struct str run_id, struct err *err)
{
    if (!touch_pinned(db, name, err) || !sql_touch_run(db, run_id, err))
        return false;
    struct stmt stmt = sql_begin(
        db,
        "INSERT INTO baseline VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, set_ns = excluded.set_ns",
        err);
    sql_bind_text(&stmt, name);
    sql_bind_text(&stmt, run_id);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) && check_room(db, err);
}

bool store_set_baseline(struct store *store, struct str name, struct str run_id, struct err *err)
{
    struct txn txn;
    if (!text_check_word("baseline name", name, err) || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, set_baseline(txn.db, name, run_id, err), err);
}

static bool drop_baseline(struct db *db, struct str name, struct err *err)
{
    if (!touch_pinned(db, name, err))
        return false;
    struct stmt stmt = sql_begin(db, "DELETE FROM baseline WHERE name = ?", err);
    sql_bind_text(&stmt, name);
    return sql_run(&stmt) &&
           (db_changes(db) == 1 || err_set(err, ERR_NOT_FOUND, "no baseline '%.*s'",
                                           (int)(name.len < 80 ? name.len : 80), name.at));
}

bool store_drop_baseline(struct store *store, struct str name, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, drop_baseline(txn.db, name, err), err);
}
