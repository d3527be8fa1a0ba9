// SPDX-License-Identifier: Apache-2.0
// Looking at the queue.
#include "server/store/store_watch.h"

#include "ingest/base/clock.h"
#include "server/store/store_sql.h"

bool store_queue_state(struct store *store, struct queue_state *state, struct err *err)
{
    static const char text[] =
        "SELECT (SELECT count(*) FROM job WHERE state = 'queued'), "
        "(SELECT count(*) FROM job WHERE state = 'running'), "
        "coalesce((SELECT min(created_ns) FROM job WHERE state = 'queued'), 0)";
    struct txn txn;
    *state = (struct queue_state){0};
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, text, err);
    if (sql_row(&stmt))
        *state = (struct queue_state){.queued = (uint64_t)sql_i64(&stmt, 0),
                                      .running = (uint64_t)sql_i64(&stmt, 1),
                                      .oldest_ns = sql_i64(&stmt, 2)};
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_probe(struct store *store, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_WRITE, &txn, err))
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
