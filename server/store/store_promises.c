// SPDX-License-Identifier: Apache-2.0
// Promises, and the run that can say what came of them.
#include "server/store/store_promises.h"
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

static bool check_promise(const struct promise *promise, struct err *err)
{
    if (text_is_blank(promise->changes))
        return err_set(err, ERR_USAGE, "found no change, expected one at least");
    return text_check("changes", promise->changes, STORE_CHANGES_MAX_BYTES, err) &&
           text_check_line("author", promise->author, STORE_NAME_MAX_BYTES, err);
}

// NULL is -1.
static int64_t known_ns(struct stmt *stmt, int column)
{
    struct cell cell = sql_cell(stmt, column, COLUMN_I64, NULL);
    return cell.null ? -1 : cell.i;
}

static void bind_known(struct stmt *stmt, int64_t ns)
{
    static const struct column column = {.type = COLUMN_I64};
    struct cell cell = ns < 0 ? cell_null() : cell_i64(ns);
    sql_bind_cell(stmt, &column, &cell);
}

bool store_list_promises(struct store *store, struct str run_id, struct arena *arena,
                         struct promise **promises, size_t *count, struct err *err)
{
    struct txn txn;
    *promises = NULL;
    *count = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db,
        "SELECT id, changes, author, base_ns, step_ns, low_ns, high_ns, created_ns FROM promise "
        "WHERE run_id = ? ORDER BY created_ns, id",
        err);
    sql_bind_text(&stmt, run_id);
    while (sql_row(&stmt)) {
        *promises = arena_more(arena, *promises, *count, sizeof **promises, err);
        if (!*promises) {
            stmt.failed = true;
            break;
        }
        (*promises)[(*count)++] = (struct promise){.id = sql_text(&stmt, 0, arena),
                                                   .changes = sql_text(&stmt, 1, arena),
                                                   .author = sql_text(&stmt, 2, arena),
                                                   .base_ns = sql_i64(&stmt, 3),
                                                   .step_ns = sql_i64(&stmt, 4),
                                                   .low_ns = known_ns(&stmt, 5),
                                                   .high_ns = known_ns(&stmt, 6),
                                                   .created_ns = sql_i64(&stmt, 7)};
    }
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool check_room(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM promise WHERE run_id = ?", err);
    sql_bind_text(&stmt, run_id);
    int64_t found = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return found <= (int64_t)STORE_MAX_PROMISES ||
           err_set(err, ERR_CONFLICT, "there are already %zu promises of this run, the limit",
                   STORE_MAX_PROMISES);
}

static bool add(struct db *db, struct str run_id, const struct promise *promise, struct err *err)
{
    char id[STORE_ID_SIZE];
    if (!sql_new_id('w', id, err))
        return false;
    struct stmt stmt = sql_begin(db, "INSERT INTO promise VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, run_id);
    sql_bind_clean(&stmt, promise->changes);
    sql_bind_i64(&stmt, promise->base_ns);
    sql_bind_i64(&stmt, promise->step_ns);
    bind_known(&stmt, promise->low_ns);
    bind_known(&stmt, promise->high_ns);
    sql_bind_clean(&stmt, promise->author);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) && check_room(db, run_id, err);
}

bool store_add_promise(struct store *store, struct str run_id, const struct promise *promise,
                       struct err *err)
{
    struct txn txn;
    if (!check_promise(promise, err) || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, add(txn.db, run_id, promise, err), err);
}

bool store_drop_promise(struct store *store, struct str run_id, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM promise WHERE id = ? AND run_id = ?", err);
    sql_bind_text(&stmt, id);
    sql_bind_text(&stmt, run_id);
    bool ok = sql_run(&stmt) && (db_changes(txn.db) == 1 ||
                                 err_set(err, ERR_NOT_FOUND, "the run has no promise '%.*s'",
                                         (int)(id.len < 40 ? id.len : 40), id.at));
    return txn_end(&txn, ok, err);
}

// --- the run beside -----------------------------------------------------------------------------

static bool find_point(struct store *store, const char *sql, const struct run *run,
                       struct arena *arena, struct str *id, struct err *err)
{
    struct txn txn;
    *id = STR("");
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, sql, err);
    sql_bind_text(&stmt, run->series);
    sql_bind_i64(&stmt, run->created_ns);
    sql_bind_text(&stmt, run->project);
    if (sql_row(&stmt))
        *id = sql_text(&stmt, 0, arena);
    return txn_end(&txn, sql_end(&stmt), err);
}

bool store_next_point(struct store *store, const struct run *run, struct arena *arena,
                      struct str *id, struct err *err)
{
    return find_point(store,
                      "SELECT id FROM run WHERE series = ? AND created_ns > ? AND project = ? "
                      "AND point_ns IS NOT NULL ORDER BY created_ns, id LIMIT 1",
                      run, arena, id, err);
}

bool store_previous_point(struct store *store, const struct run *run, struct arena *arena,
                          struct str *id, struct err *err)
{
    return find_point(store,
                      "SELECT id FROM run WHERE series = ? AND created_ns < ? AND project = ? "
                      "AND point_ns IS NOT NULL ORDER BY created_ns DESC, id LIMIT 1",
                      run, arena, id, err);
}
