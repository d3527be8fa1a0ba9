// SPDX-License-Identifier: Apache-2.0
// Runs that others are held against, each under a name.
#include "server/store_sql.h"

#include "ingest/base/clock.h"

#define SELECT_BASELINES                                                               \
    "SELECT baseline.name, run.id, run.name, run.project, run.step_median_ns, set_ns " \
    "FROM baseline JOIN run ON run.id = run_id "

static void read_baseline(struct stmt *stmt, struct arena *arena, struct baseline *baseline)
{
    *baseline = (struct baseline){.name = sql_text(stmt, 0, arena),
                                  .run_id = sql_text(stmt, 1, arena),
                                  .run_name = sql_text(stmt, 2, arena),
                                  .project = sql_text(stmt, 3, arena),
                                  .step_median_ns = sql_cell(stmt, 4, COLUMN_I64, arena),
                                  .set_ns = sql_i64(stmt, 5)};
}

bool store_list_baselines(struct store *store, struct arena *arena, struct baseline **baselines,
                          size_t *count, struct err *err)
{
    struct txn txn;
    *baselines = NULL;
    *count = 0;
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, SELECT_BASELINES "ORDER BY baseline.name", err);
    while (sql_row(&stmt)) {
        *baselines = sql_grow(arena, *baselines, *count, sizeof **baselines, err);
        if (!*baselines) {
            stmt.failed = true;
            break;
        }
        read_baseline(&stmt, arena, &(*baselines)[(*count)++]);
    }
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool refuse_unknown(struct str name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no baseline '%.*s'", (int)(name.len < 80 ? name.len : 80),
                   name.at);
}

bool store_find_baseline(struct store *store, struct str name, struct arena *arena,
                         struct baseline *baseline, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, SELECT_BASELINES "WHERE baseline.name = ?", err);
    sql_bind_text(&stmt, name);
    bool found = sql_row(&stmt);
    if (found)
        read_baseline(&stmt, arena, baseline);
    bool ok = sql_end(&stmt) && (found || refuse_unknown(name, err));
    return txn_end(&txn, ok, err);
}

// A run shows its baselines, so it changes with them.
static bool touch_pinned(sqlite3 *db, struct str name, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE run SET revision = revision + 1 "
                                 "WHERE id = (SELECT run_id FROM baseline WHERE name = ?)",
                                 err);
    sql_bind_text(&stmt, name);
    return sql_run(&stmt);
}

static bool check_room(sqlite3 *db, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM baseline", err);
    int64_t count = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return count <= (int64_t)STORE_MAX_BASELINES ||
           err_set(err, ERR_CONFLICT, "there are %zu baselines already, the most there can be",
                   STORE_MAX_BASELINES);
}

static bool set_baseline(sqlite3 *db, struct str name, struct str run_id, struct err *err)
{
    if (!touch_pinned(db, name, err) || !sql_touch_run(db, run_id, err))
        return false;
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO baseline VALUES (?, ?, ?) "
                  "ON CONFLICT DO UPDATE SET run_id = excluded.run_id, set_ns = excluded.set_ns",
                  err);
    sql_bind_text(&stmt, name);
    sql_bind_text(&stmt, run_id);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) && check_room(db, err);
}

bool store_set_baseline(struct store *store, struct str name, struct str run_id, struct err *err)
{
    struct txn txn;
    if (!meta_check_word("baseline name", name, err) || !txn_begin(store, TXN_WRITE, &txn, err))
        return false;
    return txn_end(&txn, set_baseline(txn.db, name, run_id, err), err);
}

static bool drop_baseline(sqlite3 *db, struct str name, struct err *err)
{
    if (!touch_pinned(db, name, err))
        return false;
    struct stmt stmt = sql_begin(db, "DELETE FROM baseline WHERE name = ?", err);
    sql_bind_text(&stmt, name);
    return sql_run(&stmt) && (sqlite3_changes(db) == 1 || refuse_unknown(name, err));
}

bool store_drop_baseline(struct store *store, struct str name, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_WRITE, &txn, err))
        return false;
    return txn_end(&txn, drop_baseline(txn.db, name, err), err);
}
