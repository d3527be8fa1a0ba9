// SPDX-License-Identifier: Apache-2.0
// The rows that maintenance needs: which file to check, which is damaged, what is old enough to
// delete.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>

#define DAMAGE_WARNING "the stored file is damaged; upload it again"

// --- files --------------------------------------------------------------------------------------

// The first blob that a query with one parameter returns.
static bool find_blob(struct txn *txn, const char *sql, int64_t at_ns, struct store_blob *blob,
                      struct err *err)
{
    struct stmt stmt = sql_begin(txn->db, sql, err);
    sql_bind_i64(&stmt, at_ns);
    blob->sha256[0] = '\0';
    if (sql_row(&stmt)) {
        struct str sha256 = sql_bytes(&stmt, 0);
        snprintf(blob->sha256, sizeof blob->sha256, "%.*s", (int)sha256.len, sha256.at);
        blob->bytes = sql_i64(&stmt, 1);
    }
    return sql_end(&stmt);
}

#define OLDEST_BLOB \
    "SELECT sha256, bytes FROM blob WHERE checked_ns <= ? ORDER BY checked_ns LIMIT 1"
// Verified at a time in the future: the clock was set back since.
#define FUTURE_BLOB "SELECT sha256, bytes FROM blob WHERE checked_ns > ? LIMIT 1"

bool store_next_to_scrub(struct store *store, int64_t before_ns, struct store_blob *blob,
                         bool *found, struct err *err)
{
    struct txn txn;
    *found = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = find_blob(&txn, OLDEST_BLOB, before_ns, blob, err) &&
              (blob->sha256[0] || find_blob(&txn, FUTURE_BLOB, clock_wall_ns(), blob, err));
    *found = ok && blob->sha256[0];
    return txn_end(&txn, ok, err);
}

static bool note_look(struct db *db, struct str sha256, struct str damage, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "UPDATE blob SET checked_ns = ?, damage = ? WHERE sha256 = ?", err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, damage);
    sql_bind_text(&stmt, sha256);
    return sql_run(&stmt);
}

static bool was_damaged(struct db *db, struct str sha256, bool *damaged, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT 1 FROM blob WHERE sha256 = ? AND damage <> ''", err);
    sql_bind_text(&stmt, sha256);
    *damaged = sql_row(&stmt);
    return sql_end(&stmt);
}

// A different warning is kept; the list of damaged files names this one anyway.
static bool warn_traces(struct db *db, struct str sha256, bool is_damaged, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  is_damaged ? "UPDATE trace SET warning = ?2 WHERE sha256 = ?1 AND warning IS NULL"
                             : "UPDATE trace SET warning = NULL WHERE sha256 = ?1 AND warning = ?2",
                  err);
    sql_bind_text(&stmt, sha256);
    sql_bind_text(&stmt, STR(DAMAGE_WARNING));
    if (!sql_run(&stmt))
        return false;
    stmt = sql_begin(db,
                     "UPDATE stored_run SET revision = revision + 1 WHERE id IN "
                     "(SELECT run_id FROM trace WHERE sha256 = ?)",
                     err);
    sql_bind_text(&stmt, sha256);
    return sql_run(&stmt);
}

// Records the result of checking a blob's bytes ("" sound), and warns on its traces.
static bool note_blob(struct db *db, struct str sha256, struct str damage, struct err *err)
{
    bool damaged;
    return was_damaged(db, sha256, &damaged, err) && note_look(db, sha256, damage, err) &&
           (damaged == (damage.len > 0) || warn_traces(db, sha256, !damaged, err));
}

bool blobs_heal(struct db *db, struct str sha256, struct err *err)
{
    bool damaged;
    return was_damaged(db, sha256, &damaged, err) &&
           (!damaged ||
            (note_blob(db, sha256, STR(""), err) && jobs_queue_failed_of(db, sha256, err)));
}

bool store_blob_sound_ns(struct store *store, struct str sha256, int64_t *at_ns, struct err *err)
{
    return store_number(store,
                        "SELECT coalesce((SELECT checked_ns FROM blob WHERE sha256 = ? "
                        "AND damage = ''), 0)",
                        sha256, at_ns, err);
}

bool store_note_scrub(struct store *store, const char *sha256, const char *damage, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = note_blob(txn.db, str_of(sha256), str_of(damage), err);
    return txn_end(&txn, ok, err);
}

static bool read_damaged(struct stmt *stmt, struct arena *arena, struct damaged_blob **blobs,
                         size_t *count)
{
    while (sql_row(stmt)) {
        *blobs = arena_more(arena, *blobs, *count, sizeof **blobs, stmt->err);
        if (!*blobs) {
            stmt->failed = true;
            break;
        }
        (*blobs)[(*count)++] =
            (struct damaged_blob){sql_text(stmt, 0, arena), sql_text(stmt, 1, arena),
                                  sql_text(stmt, 2, arena), sql_text(stmt, 3, arena)};
    }
    return sql_end(stmt);
}

bool store_list_damaged(struct store *store, struct arena *arena, struct damaged_blob **blobs,
                        size_t *count, struct err *err)
{
    struct txn txn;
    *blobs = NULL;
    *count = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "SELECT blob.sha256, damage, coalesce(trace.filename, input.filename), "
                  "coalesce(trace.run_id, input.run_id) FROM blob "
                  "LEFT JOIN trace ON trace.id = (SELECT min(other.id) FROM trace AS other "
                  "JOIN run ON run.id = other.run_id WHERE other.sha256 = blob.sha256) "
                  "LEFT JOIN input ON input.id = (SELECT min(other.id) FROM input AS other "
                  "JOIN run ON run.id = other.run_id WHERE other.blob = blob.sha256) "
                  "WHERE damage <> '' ORDER BY blob.sha256",
                  err);
    bool ok = read_damaged(&stmt, arena, blobs, count);
    return txn_end(&txn, ok, err);
}

bool store_count_damaged(struct store *store, struct str run_id, int64_t *count, struct err *err)
{
    return store_number(store,
                        "SELECT count(*) FROM blob JOIN trace ON trace.sha256 = blob.sha256 "
                        "WHERE damage <> '' AND run_id = ?",
                        run_id, count, err);
}

// --- what is old --------------------------------------------------------------------------------

bool store_believed_clock(struct store *store, int64_t *at_ns, struct err *err)
{
    return store_number(store, "SELECT at_ns FROM believed_clock WHERE only_row = 1",
                        (struct str){NULL, 0}, at_ns, err);
}

bool store_believe_clock(struct store *store, int64_t at_ns, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "INSERT INTO believed_clock VALUES (1, ?) ON CONFLICT (only_row) "
                                 "DO UPDATE SET at_ns = excluded.at_ns",
                                 err);
    sql_bind_i64(&stmt, at_ns);
    bool ok = sql_run(&stmt);
    return txn_end(&txn, ok, err);
}

enum { PRUNED_AT_ONCE = 2000 }; // so that other writers wait only milliseconds

static bool prune(struct db *db, const char *text, int64_t before_ns, uint64_t *pruned,
                  struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, before_ns);
    sql_bind_i64(&stmt, PRUNED_AT_ONCE);
    bool ok = sql_run(&stmt);
    *pruned += ok ? (uint64_t)db_changes(db) : 0;
    return ok;
}

static bool forget_days(struct db *db, int64_t before_ns, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM quota_day WHERE day < ?", err);
    sql_bind_i64(&stmt, before_ns / 1000000000 / 86400);
    return sql_run(&stmt);
}

bool store_prune(struct store *store, int64_t before_ns, uint64_t *pruned, struct err *err)
{
    struct txn txn;
    *pruned = 0;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = forget_days(txn.db, before_ns, err) &&
              prune(txn.db,
                    "DELETE FROM job WHERE id IN (SELECT id FROM job WHERE finished_ns < ? "
                    "AND finished_ns IS NOT NULL AND state IN ('done', 'failed') LIMIT ?)",
                    before_ns, pruned, err) &&
              prune(txn.db,
                    "DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE created_ns < ? "
                    "LIMIT ?)",
                    before_ns, pruned, err);
    return txn_end(&txn, ok, err);
}
