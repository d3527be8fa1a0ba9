// SPDX-License-Identifier: Apache-2.0
// Reading the state of the queue.
#include "server/store/store_watch.h"

#include "ingest/base/clock.h"
#include "server/store/store_sql.h"

#include <stdio.h>

bool store_queue_state(struct store *store, struct queue_state *state, struct err *err)
{
    static const char text[] =
        "SELECT (SELECT count(*) FROM job WHERE state = 'queued' AND due_ns >= 0), "
        "(SELECT count(*) FROM job WHERE state = 'running'), "
        "coalesce((SELECT min(created_ns) FROM job WHERE state = 'queued' AND due_ns >= 0), 0)";
    struct txn txn;
    *state = (struct queue_state){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, text, err);
    if (sql_row(&stmt))
        *state = (struct queue_state){.queued = (uint64_t)sql_i64(&stmt, 0),
                                      .running = (uint64_t)sql_i64(&stmt, 1),
                                      .oldest_ns = sql_i64(&stmt, 2)};
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

static bool read_owners(struct db *db, struct store_room *room, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT who, sum(bytes) FROM owner_bytes GROUP BY who "
                                 "HAVING sum(bytes) > 0 ORDER BY 2 DESC, who",
                                 err);
    while (sql_row(&stmt)) {
        uint64_t bytes = (uint64_t)sql_i64(&stmt, 1);
        if (room->owner_count == STORE_OWNERS_MOST) {
            room->others_bytes += bytes;
            continue;
        }
        struct store_owner *owner = &room->owners[room->owner_count++];
        struct str who = sql_bytes(&stmt, 0);
        snprintf(owner->who, sizeof(owner->who), "%.*s", (int)who.len, who.at);
        owner->bytes = bytes;
    }
    return sql_end(&stmt);
}

static bool read_room(struct db *db, struct store_room *room, struct err *err)
{
    static const char text[] =
        "SELECT (SELECT count(*) FROM resumable WHERE upload_id IS NULL AND refused IS NULL), "
        "(SELECT coalesce(sum(flushed), 0) FROM resumable WHERE upload_id IS NULL AND refused IS "
        "NULL), (SELECT coalesce(max(id), 0) FROM audit), (SELECT coalesce(sum(runs), 0) FROM "
        "series), "
        "coalesce((SELECT avg(bytes) FROM (SELECT (SELECT sum(bytes) FROM trace WHERE run_id = "
        "newest.id) AS bytes FROM (SELECT id FROM run ORDER BY created_ns DESC, id LIMIT ?) AS "
        "newest) AS sizes), 0.0), "
        "(SELECT count(*) FROM stored_run WHERE deleted_ns IS NOT NULL), "
        "(SELECT coalesce(sum(bytes), 0) FROM trace WHERE run_id IN "
        "(SELECT id FROM stored_run WHERE deleted_ns IS NOT NULL))";
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, STORE_RECENT_RUNS);
    if (sql_row(&stmt)) {
        room->pieces = (uint64_t)sql_i64(&stmt, 0);
        room->pieces_bytes = (uint64_t)sql_i64(&stmt, 1);
        room->audit_entries = (uint64_t)sql_i64(&stmt, 2);
        room->runs = (uint64_t)sql_i64(&stmt, 3);
        room->recent_run_bytes = (double)sql_i64(&stmt, 4);
        room->bin_runs = (uint64_t)sql_i64(&stmt, 5);
        room->bin_bytes = (uint64_t)sql_i64(&stmt, 6);
    }
    return sql_end(&stmt);
}

bool store_measure_room(struct store *store, struct store_room *room, struct err *err)
{
    struct txn txn;
    *room = (struct store_room){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = read_owners(txn.db, room, err) && read_room(txn.db, room, err);
    return txn_end(&txn, ok, err);
}

bool store_probe(struct store *store, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt add = sql_begin(txn.db, "INSERT INTO probe VALUES (?)", err);
    sql_bind_i64(&add, clock_wall_ns());
    bool ok = sql_run(&add);
    if (ok) {
        struct stmt remove = sql_begin(txn.db, "DELETE FROM probe", err);
        ok = sql_run(&remove);
    }
    return txn_end(&txn, ok, err);
}

double store_queue_age_s(const struct queue_state *state)
{
    int64_t age_ns = state->oldest_ns ? clock_wall_ns() - state->oldest_ns : 0;
    return age_ns > 0 ? (double)age_ns / 1e9 : 0; // the clock may have been set back
}
