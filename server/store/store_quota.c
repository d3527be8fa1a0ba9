// SPDX-License-Identifier: Apache-2.0
// What people have stored and what they send on a day, counted against their quotas. Both are kept
// as sums: those over all of someone's traces would take longer with each upload. In a database
// that several services share, each sum is in up to 16 rows (slot), by the connection that writes,
// so that hardly any service waits for another.
#include "server/store/store_access.h"
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

// --- what is stored -----------------------------------------------------------------------------

#define COUNT(rows)                                                                     \
    "INSERT INTO owner_bytes (who, bytes) SELECT who, ?2 * CAST(sum(bytes) AS BIGINT) " \
    "FROM (" rows ") AS owned WHERE who <> '' GROUP BY who " ADD
#define ADD "ON CONFLICT (who, slot) DO UPDATE SET bytes = owner_bytes.bytes + excluded.bytes"

bool owners_count(struct db *db, enum owned owned, struct str id, enum owned_sign sign,
                  struct err *err)
{
    static const char *const texts[] = {
        [OWNED_UPLOAD] = COUNT("SELECT who, trace_owner.bytes + made AS bytes FROM upload_trace "
                               "JOIN trace_owner ON trace_owner.trace_id = upload_trace.trace_id "
                               "WHERE upload_id = ?1 AND existing = 0"),
        [OWNED_TRACE] = COUNT("SELECT who, bytes + made AS bytes FROM trace_owner "
                              "WHERE trace_id = ?1"),
        [OWNED_INPUT] = COUNT("SELECT owner AS who, bytes FROM input "
                              "WHERE id = ?1 AND blob IS NOT NULL"),
        [OWNED_RUN] = COUNT("SELECT who, trace_owner.bytes + made AS bytes FROM trace "
                            "JOIN trace_owner ON trace_id = trace.id WHERE run_id = ?1 "
                            "UNION ALL SELECT owner, made FROM stored_run WHERE id = ?1 "
                            "UNION ALL SELECT owner, bytes FROM input "
                            "WHERE run_id = ?1 AND blob IS NOT NULL"),
    };
    struct stmt stmt = sql_begin(db, texts[owned], err);
    sql_bind_text(&stmt, id);
    sql_bind_i64(&stmt, sign);
    return sql_run_later(&stmt);
}

static bool make(struct db *db, const char *text, struct str id, int64_t bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, id);
    sql_bind_i64(&stmt, bytes);
    return sql_run_later(&stmt);
}

bool owners_note_trace_made(struct db *db, struct str trace_id, int64_t bytes, struct err *err)
{
    return make(db,
                "INSERT INTO owner_bytes (who, bytes) SELECT who, ?2 - made FROM trace_owner "
                "WHERE trace_id = ?1 " ADD,
                trace_id, bytes, err) &&
           make(db, "UPDATE trace_owner SET made = ?2 WHERE trace_id = ?1", trace_id, bytes, err);
}

bool owners_note_run_made(struct db *db, struct str run_id, int64_t bytes, struct err *err)
{
    return make(db,
                "INSERT INTO owner_bytes (who, bytes) SELECT owner, ?2 - made FROM stored_run "
                "WHERE id = ?1 AND owner <> '' " ADD,
                run_id, bytes, err) &&
           make(db, "UPDATE stored_run SET made = ?2 WHERE id = ?1", run_id, bytes, err);
}

// --- quotas -------------------------------------------------------------------------------------

bool store_quota_use(struct store *store, struct str who, int64_t day, struct quota_use *use,
                     struct err *err)
{
    struct txn txn;
    *use = (struct quota_use){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "SELECT (SELECT sum(bytes) FROM quota_day WHERE who = ?1 AND day = ?2), "
                  "(SELECT sum(bytes) FROM owner_bytes WHERE who = ?1), "
                  "(SELECT sum(flushed) FROM resumable WHERE owner = ?1 AND upload_id IS NULL "
                  "AND refused IS NULL)",
                  err);
    sql_bind_text(&stmt, who);
    sql_bind_i64(&stmt, day);
    if (sql_row(&stmt))
        *use = (struct quota_use){sql_i64_or(&stmt, 0, 0),
                                  sql_i64_or(&stmt, 1, 0) + sql_i64_or(&stmt, 2, 0)};
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool charge(struct db *db, struct str who, int64_t day, uint64_t bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO quota_day (who, day, bytes) VALUES (?, ?, ?) "
                                 "ON CONFLICT (who, day, slot) DO UPDATE "
                                 "SET bytes = quota_day.bytes + excluded.bytes",
                                 err);
    sql_bind_text(&stmt, who);
    sql_bind_i64(&stmt, day);
    sql_bind_u64(&stmt, bytes);
    return sql_run_later(&stmt);
}

int64_t store_today(void)
{
    return clock_wall_ns() / 1000000000 / 86400;
}

bool uploads_charge(struct db *db, struct str who, uint64_t bytes, struct err *err)
{
    return who.len == 0 || bytes == 0 || charge(db, who, store_today(), bytes, err);
}

bool store_quota_charge(struct store *store, struct str who, int64_t day, uint64_t bytes,
                        struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, charge(txn.db, who, day, bytes, err), err);
}

bool uploads_own(struct db *db, struct str who, struct str upload_id, struct err *err)
{
    if (who.len == 0)
        return true;
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO trace_owner (trace_id, who, bytes) "
                                 "SELECT trace.id, ?, blob.bytes FROM upload_trace "
                                 "JOIN trace ON trace.id = upload_trace.trace_id "
                                 "JOIN blob ON blob.sha256 = trace.sha256 "
                                 "WHERE upload_id = ? AND existing = 0 ON CONFLICT DO NOTHING",
                                 err);
    sql_bind_text(&stmt, who);
    sql_bind_text(&stmt, upload_id);
    return sql_run_later(&stmt);
}
