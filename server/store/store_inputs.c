// SPDX-License-Identifier: Apache-2.0
// Adds archives to the store and lists what became of their members.
#include "server/store/store_inputs.h"

#include "ingest/base/clock.h"
#include "server/store/store_sql.h"

static enum input_kind kind_of(struct str word)
{
    for (enum input_kind kind = INPUT_ARCHIVE; kind <= INPUT_SKIPPED; kind++)
        if (str_equal(word, str_of(input_kind_word(kind))))
            return kind;
    return INPUT_SKIPPED;
}

// --- reading ------------------------------------------------------------------------------------

#define INPUT_COLUMNS                                                                          \
    "input.id, input.run_id, run.name, input.parent, input.position, input.kind, "             \
    "input.format, input.filename, input.bytes, trace.rank, input.trace_id, "                  \
    "coalesce(trace.state, input.state), "                                                     \
    "coalesce(trace.error, input.reason, CASE WHEN input.kind = 'trace' AND trace.id IS NULL " \
    "THEN 'another trace of its rank replaced it' END), "                                      \
    "input.secrets, input.blob, input.created_ns"
#define INPUT_JOINS                                 \
    "LEFT JOIN trace ON trace.id = input.trace_id " \
    "LEFT JOIN run ON run.id = input.run_id "

static void read_input(struct stmt *stmt, struct input_row *input, struct arena *arena)
{
    *input = (struct input_row){
        .id = sql_text(stmt, 0, arena),
        .run_id = sql_text(stmt, 1, arena),
        .run_name = sql_text(stmt, 2, arena),
        .parent = sql_text(stmt, 3, arena),
        .position = sql_i64(stmt, 4),
        .kind = kind_of(sql_bytes(stmt, 5)),
        .format = sql_text(stmt, 6, arena),
        .filename = sql_text(stmt, 7, arena),
        .bytes = sql_i64(stmt, 8),
        .rank = sql_i64_or(stmt, 9, STORE_NO_RANK),
        .trace_id = sql_text(stmt, 10, arena),
        .state = traces_state(sql_bytes(stmt, 11)),
        .reason = sql_text(stmt, 12, arena),
        .secrets = sql_i64_or(stmt, 13, -1),
        .blob = sql_text(stmt, 14, arena),
        .created_ns = sql_i64(stmt, 15),
    };
}

static bool read_inputs(struct stmt *stmt, struct arena *arena, struct input_row **inputs,
                        size_t *count)
{
    *inputs = NULL;
    *count = 0;
    while (sql_row(stmt)) {
        *inputs = arena_more(arena, *inputs, *count, sizeof **inputs, stmt->err);
        if (!*inputs) {
            stmt->failed = true;
            break;
        }
        read_input(stmt, &(*inputs)[(*count)++], arena);
    }
    return sql_end(stmt);
}

bool store_list_inputs(struct store *store, struct str run_id, struct arena *arena,
                       struct input_row **inputs, size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "SELECT " INPUT_COLUMNS " FROM input " INPUT_JOINS
                  "WHERE input.id IN (SELECT id FROM input WHERE run_id = ?1 "
                  "UNION ALL SELECT member.id FROM input AS archive "
                  "JOIN input AS member ON member.parent = archive.id "
                  "WHERE archive.run_id = ?1 AND archive.parent IS NULL) "
                  "ORDER BY coalesce(parent, input.id), parent IS NOT NULL, position",
                  err);
    sql_bind_text(&stmt, run_id);
    bool ok = read_inputs(&stmt, arena, inputs, count);
    return txn_end(&txn, ok, err);
}

bool store_find_input(struct store *store, struct str id, struct arena *arena,
                      struct input_row *input, struct err *err)
{
    struct txn txn;
    struct input_row *found;
    size_t count;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db, "SELECT " INPUT_COLUMNS " FROM input " INPUT_JOINS "WHERE input.id = ?", err);
    sql_bind_text(&stmt, id);
    bool ok = read_inputs(&stmt, arena, &found, &count);
    if (ok && (count == 0 || !found->run_name.at[0])) // not visible while in the bin
        ok = err_set(err, ERR_NOT_FOUND, "no input %.*s", (int)(id.len < 40 ? id.len : 40), id.at);
    if (ok)
        *input = *found;
    return txn_end(&txn, ok, err);
}

bool inputs_of_upload(struct db *db, struct upload *upload, struct arena *arena, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT " INPUT_COLUMNS " FROM upload_input JOIN input "
                  "ON input.id = input_id OR input.parent = input_id " INPUT_JOINS
                  "WHERE upload_id = ? ORDER BY upload_input.position, parent IS NOT NULL, "
                  "input.position",
                  err);
    sql_bind_text(&stmt, upload->id);
    if (!read_inputs(&stmt, arena, &upload->inputs, &upload->input_count))
        return false;
    stmt =
        sql_begin(db, "SELECT count(*), min(existing) FROM upload_input WHERE upload_id = ?", err);
    sql_bind_text(&stmt, upload->id);
    if (sql_row(&stmt) && sql_i64(&stmt, 0) > 0)
        upload->all_existing = upload->all_existing && sql_i64(&stmt, 1) != 0;
    return sql_end(&stmt);
}

// --- adding an archive --------------------------------------------------------------------------

// An archive of the run with the same bytes. Of files that say something of the run themselves,
// only one with the same name: several ranks may have written the same, and the name says which.
struct present {
    struct str id;     // "" none
    bool works;        // it is queued or being unpacked
    bool can_be_tried; // it failed, and its bytes are kept
    struct str role;
};

static bool find_present(const struct adding *adding, const struct trace_part *part,
                         struct present *present, struct err *err)
{
    struct stmt stmt = sql_begin(adding->db,
                                 "SELECT id, state IN ('queued', 'running'), "
                                 "state = 'failed' AND blob IS NOT NULL, role FROM input "
                                 "WHERE run_id = ? AND sha256 = ? AND (? = 0 OR filename = ?) "
                                 "ORDER BY created_ns DESC, id LIMIT 1",
                                 err);
    sql_bind_text(&stmt, adding->run_id);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_i64(&stmt, evidence_is_in(part->archive));
    sql_bind_clean(&stmt, part->filename);
    *present = (struct present){0};
    if (sql_row(&stmt))
        *present = (struct present){sql_text(&stmt, 0, adding->arena), sql_i64(&stmt, 1) != 0,
                                    sql_i64(&stmt, 2) != 0, sql_text(&stmt, 3, adding->arena)};
    return sql_end(&stmt);
}

bool inputs_mark(struct db *db, struct str id, struct str state, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE input SET reason = CASE state WHEN 'failed' THEN NULL "
                                 "ELSE reason END, state = ? WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, state);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

static bool queue(struct db *db, struct str id, struct err *err)
{
    return jobs_insert(db, JOB_UNPACK, id, err) && inputs_mark(db, id, STR("queued"), err);
}

static bool insert(const struct adding *adding, const struct trace_part *part, struct str id,
                   struct err *err)
{
    struct stmt stmt = sql_begin(adding->db,
                                 "INSERT INTO input (id, run_id, position, kind, format, filename, "
                                 "sha256, blob, bytes, state, owner, adds_only, replaces, "
                                 "created_ns, role) VALUES (?, ?, 0, 'archive', ?, ?, ?5, ?5, ?, "
                                 "'queued', ?, ?, ?, ?, ?)",
                                 err);
    sql_bind_text(&stmt, id);
    sql_bind_text(&stmt, adding->run_id);
    sql_bind_text(&stmt, part->archive);
    sql_bind_clean(&stmt, part->filename);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_i64(&stmt, part->bytes);
    sql_bind_text(&stmt, adding->owner);
    sql_bind_i64(&stmt, adding->adds_only);
    sql_bind_i64(&stmt, adding->replace);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_clean(&stmt, part->role.at ? part->role : STR(""));
    return sql_run(&stmt);
}

// Gives it to the archive's traces as well; the run's tables are made again.
static bool give_role(const struct adding *adding, struct str id, struct str role, struct err *err)
{
    static const char *const statements[] = {
        "UPDATE input SET role = ?1 WHERE id = ?2 AND run_id = ?3",
        "UPDATE trace SET role = ?1 WHERE run_id = ?3 AND id IN "
        "(SELECT trace_id FROM input WHERE parent = ?2)",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct stmt stmt = sql_begin(adding->db, statements[i], err);
        sql_bind_clean(&stmt, role);
        sql_bind_text(&stmt, id);
        sql_bind_text(&stmt, adding->run_id);
        if (!sql_run(&stmt))
            return false;
    }
    return jobs_queue_run_if_due(adding->db, adding->run_id, err) &&
           sql_touch_run(adding->db, adding->run_id, err);
}

bool blobs_note_unneeded(struct db *db, const char *sha256, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO garbage SELECT 'blob', ?1 "
                                 "WHERE NOT EXISTS (SELECT 1 FROM blob WHERE sha256 = ?1) "
                                 "ON CONFLICT DO NOTHING",
                                 err);
    sql_bind_text(&stmt, str_of(sha256));
    return sql_run(&stmt);
}

bool inputs_add_archive(const struct adding *adding, const struct trace_part *part,
                        struct added *added, struct err *err)
{
    struct present present;
    if (!find_present(adding, part, &present, err) ||
        !blobs_may_come(adding->db, part->sha256, err) ||
        !blobs_heal(adding->db, str_of(part->sha256), err))
        return false;
    added->existing = present.id.len && (present.works || !adding->replace);
    bool has_other_role = part->role.len > 0 && !str_equal(part->role, present.role);
    if (adding->locked && (!added->existing || present.can_be_tried || has_other_role))
        return runs_deny(err);
    if (added->existing) {
        memcpy(added->id, present.id.at, present.id.len + 1);
        if (has_other_role && !give_role(adding, present.id, part->role, err))
            return false;
        return present.can_be_tried ? queue(adding->db, present.id, err)
                                    : blobs_note_unneeded(adding->db, part->sha256, err);
    }
    return sql_new_id('i', added->id, err) && blobs_insert(adding->db, part, err) &&
           insert(adding, part, str_of(added->id), err) &&
           owners_count(adding->db, OWNED_INPUT, str_of(added->id), OWNED_COMES, err) &&
           queue(adding->db, str_of(added->id), err);
}

// --- ends ---------------------------------------------------------------------------------------

static bool mark_failed(struct db *db, struct str id, struct str reason, struct err *err)
{
    struct stmt stmt = sql_begin(
        db, "UPDATE input SET state = 'failed', reason = nullif(?, '') WHERE id = ?", err);
    sql_bind_clean(&stmt, reason);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

bool inputs_fail(struct db *db, const struct job *job, struct str reason, struct err *err)
{
    if (!mark_failed(db, job->input_id, reason, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET error = ? WHERE id = ? AND received + "
                                 "evidence = 0 AND unpacking = 0",
                                 err);
    sql_bind_clean(&stmt, reason);
    sql_bind_text(&stmt, job->run_id);
    return sql_run(&stmt) && jobs_queue_run_if_due(db, job->run_id, err) &&
           sql_touch_run(db, job->run_id, err);
}

bool inputs_cancel(struct db *db, struct str run_id, struct str reason, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE input SET state = 'failed', reason = ? WHERE run_id = ? "
                                 "AND state IN ('queued', 'running')",
                                 err);
    sql_bind_text(&stmt, reason);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt);
}

bool inputs_queue_again(struct db *db, struct str run_id, struct err *err)
{
    struct arena arena;
    struct str *ids;
    size_t count;
    struct stmt stmt = sql_begin(db,
                                 "SELECT id FROM input WHERE run_id = ? AND kind = 'archive' "
                                 "AND state <> 'done' AND blob IS NOT NULL "
                                 "AND NOT EXISTS (SELECT 1 FROM job WHERE input_id = input.id "
                                 "AND job.state IN ('queued', 'running')) ORDER BY created_ns, id",
                                 err);
    sql_bind_text(&stmt, run_id);
    arena_init(&arena, NULL);
    bool ok = sql_end_ids(&stmt, &arena, &ids, &count);
    for (size_t i = 0; ok && i < count; i++)
        ok = queue(db, ids[i], err);
    arena_free(&arena);
    return ok;
}
