// SPDX-License-Identifier: Apache-2.0
// Attachments whose format says something about the run: their jobs, and the tables read from them.
#include "ingest/source/format.h"
#include "server/store/store_inputs.h"
#include "server/store/store_sql.h"

// --- queueing -----------------------------------------------------------------------------------

bool evidence_is_in(struct str format)
{
    const struct format *found = format_named(format);
    return found && found->gather;
}

static bool has_job(struct db *db, struct str input_id, bool *has, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT 1 FROM job WHERE input_id = ? AND state = 'queued'", err);
    sql_bind_text(&stmt, input_id);
    *has = sql_row(&stmt);
    return sql_end(&stmt);
}

bool evidence_queue(struct db *db, struct str input_id, struct err *err)
{
    bool queued; // not for a run in the bin
    return jobs_insert(db, JOB_EVIDENCE, input_id, err) && has_job(db, input_id, &queued, err) &&
           (!queued || inputs_mark(db, input_id, STR("queued"), err));
}

// Attachments whose format is read; including those that an older version only kept.
static bool queue_each(struct db *db, struct stmt stmt, struct err *err)
{
    struct arena arena;
    struct str *ids = NULL;
    size_t count = 0;
    arena_init(&arena, NULL);
    while (sql_row(&stmt)) {
        if (!evidence_is_in(sql_bytes(&stmt, 1)))
            continue;
        ids = arena_more(&arena, ids, count, sizeof *ids, err);
        stmt.failed = !ids;
        if (!ids)
            break;
        ids[count++] = sql_text(&stmt, 0, &arena);
    }
    bool ok = sql_end(&stmt);
    for (size_t i = 0; ok && i < count; i++)
        ok = evidence_queue(db, ids[i], err);
    arena_free(&arena);
    return ok;
}

static bool queue_of_run(struct db *db, struct str run_id, int64_t version, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT id, format FROM input WHERE run_id = ? "
                                 "AND kind = 'attachment' AND blob IS NOT NULL "
                                 "AND coalesce(analysis_version, 0) < ? ORDER BY id",
                                 err);
    sql_bind_text(&stmt, run_id);
    sql_bind_i64(&stmt, version);
    return queue_each(db, stmt, err);
}

bool evidence_queue_run(struct db *db, struct str run_id, struct err *err)
{
    return queue_of_run(db, run_id, INT64_MAX, err);
}

bool evidence_queue_unread(struct db *db, struct str run_id, struct err *err)
{
    return queue_of_run(db, run_id, ANALYSIS_VERSION, err);
}

bool evidence_queue_stale(struct db *db, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT id, format FROM input WHERE analysis_version < ? AND blob IS NOT NULL "
                  "AND state = 'done'",
                  err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    return queue_each(db, stmt, err);
}

// --- results ------------------------------------------------------------------------------------

static bool mark_read(struct db *db, struct str input_id, int64_t join_bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE input SET state = 'done', analysis_version = ?, "
                                 "join_bytes = ? WHERE id = ?",
                                 err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    sql_bind_i64(&stmt, join_bytes);
    sql_bind_text(&stmt, input_id);
    return sql_run(&stmt);
}

// A log that is uploaded again while it grows has the same name: the latest counts.
#define COUNTS(input, later)                                                                   \
    later ".run_id = " input ".run_id AND " later ".analysis_version IS NOT NULL AND " later   \
          ".filename = " input ".filename AND " later ".format = " input ".format AND (" later \
          ".created_ns, " later ".id) > (" input ".created_ns, " input ".id)"

static bool note_replaced(struct db *db, struct str input_id, struct err *err)
{
    return sql_run_with(db,
                        "UPDATE input SET reason = 'a later file of this name counts instead' "
                        "WHERE id IN (SELECT before.id FROM input AS mine JOIN input AS before "
                        "ON " COUNTS("before", "mine") " WHERE mine.id = ? "
                                                       "AND before.analysis_version IS NOT NULL)",
                        input_id, err);
}

// The run may have failed because of another attachment that could not be read.
static bool forgive_run(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(db, "UPDATE stored_run SET error = NULL WHERE id = ? AND received = 0",
                        run_id, err);
}

static bool finish(struct db *db, const struct job *job, int tables, int64_t join_bytes,
                   struct err *err)
{
    return jobs_end(db, job, STR("done"), STR(""), err) &&
           tables_save_input(db, job->input_id, tables, err) &&
           runs_count_evidence(db, job->run_id, job->input_id, err) &&
           mark_read(db, job->input_id, join_bytes, err) && note_replaced(db, job->input_id, err) &&
           forgive_run(db, job->run_id, err) && jobs_queue_run_if_due(db, job->run_id, err) &&
           sql_touch_run(db, job->run_id, err);
}

bool store_finish_evidence(struct store *store, const struct job *job, int tables,
                           int64_t join_bytes, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = finish(txn.db, job, tables, join_bytes, err);
    return txn_end(&txn, ok, err);
}

#define READ                                                                              \
    "SELECT id, join_bytes FROM input WHERE run_id = ? AND analysis_version IS NOT NULL " \
    "AND NOT EXISTS (SELECT 1 FROM input AS later WHERE " COUNTS(                         \
        "input", "later") ") ORDER BY filename, id"

bool store_list_evidence(struct store *store, struct str run_id, struct arena *arena,
                         struct evidence_row **rows, size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, READ, err);
    sql_bind_text(&stmt, run_id);
    *rows = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *rows = arena_more(arena, *rows, *count, sizeof **rows, err);
        if (!*rows) {
            stmt.failed = true;
            break;
        }
        (*rows)[(*count)++] = (struct evidence_row){sql_text(&stmt, 0, arena), sql_i64(&stmt, 1)};
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}
