// SPDX-License-Identifier: Apache-2.0
// Traces and uploads in the store.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

enum trace_state traces_state(struct str word)
{
    for (enum trace_state state = TRACE_QUEUED; state <= TRACE_FAILED; state++)
        if (str_equal(word, str_of(trace_state_word(state))))
            return state;
    return TRACE_QUEUED;
}

// --- reading ------------------------------------------------------------------------------------

#define TRACE_COLUMNS                                                                     \
    "trace.id, trace.run_id, trace.filename, trace.sha256, trace.rank, trace.rank_from, " \
    "trace.bytes, trace.uploaded_ns, trace.state, trace.error, trace.warning, "           \
    "trace.secrets, (SELECT damage FROM blob WHERE blob.sha256 = trace.sha256), trace.role"
enum { TRACE_COLUMN_COUNT = 14 };

static void read_trace(struct stmt *stmt, struct trace_row *trace, struct arena *arena)
{
    *trace = (struct trace_row){
        .id = sql_text(stmt, 0, arena),
        .run_id = sql_text(stmt, 1, arena),
        .filename = sql_text(stmt, 2, arena),
        .sha256 = sql_text(stmt, 3, arena),
        .rank = sql_i64_or(stmt, 4, STORE_NO_RANK),
        .rank_from = sql_text(stmt, 5, arena),
        .bytes = sql_i64(stmt, 6),
        .uploaded_ns = sql_i64(stmt, 7),
        .state = traces_state(sql_bytes(stmt, 8)),
        .error = sql_text(stmt, 9, arena),
        .warning = sql_text(stmt, 10, arena),
        .secrets = sql_i64_or(stmt, 11, -1),
        .damage = sql_text(stmt, 12, arena),
        .role = sql_text(stmt, 13, arena),
    };
}

struct trace_list {
    struct trace_row *rows;
    size_t count;
};

static bool read_traces(struct stmt *stmt, bool has_existing, struct arena *arena,
                        struct trace_list *list)
{
    while (sql_row(stmt)) {
        list->rows = arena_more(arena, list->rows, list->count, sizeof *list->rows, stmt->err);
        if (!list->rows) {
            stmt->failed = true;
            break;
        }
        struct trace_row *row = &list->rows[list->count++];
        read_trace(stmt, row, arena);
        row->existing = has_existing && sql_i64(stmt, TRACE_COLUMN_COUNT) != 0;
    }
    return sql_end(stmt);
}

bool store_list_traces(struct store *store, struct str run_id, struct arena *arena,
                       struct trace_row **traces, size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT " TRACE_COLUMNS " FROM trace WHERE run_id = ? "
                                 "ORDER BY rank NULLS LAST, uploaded_ns, id",
                                 err);
    sql_bind_text(&stmt, run_id);
    struct trace_list list = {0};
    bool ok = read_traces(&stmt, false, arena, &list);
    *traces = list.rows;
    *count = list.count;
    return txn_end(&txn, ok, err);
}

bool store_find_rank(struct store *store, struct str run_id, int64_t rank, struct arena *arena,
                     struct trace_row *trace, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "SELECT " TRACE_COLUMNS " FROM trace WHERE run_id = ? AND rank = ?", err);
    sql_bind_text(&stmt, run_id);
    sql_bind_i64(&stmt, rank);
    struct trace_list list = {0};
    bool ok = read_traces(&stmt, false, arena, &list);
    if (ok && list.count == 0)
        ok = err_set(err, ERR_NOT_FOUND, "the run has no rank %lld", (long long)rank);
    if (ok)
        *trace = list.rows[0];
    return txn_end(&txn, ok, err);
}

// Of the upload that has this id.
static bool load_upload_traces(struct db *db, struct upload *upload, struct arena *arena,
                               struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT " TRACE_COLUMNS ", upload_trace.existing FROM upload_trace "
                  "JOIN trace ON trace.id = upload_trace.trace_id WHERE upload_id = ? "
                  "ORDER BY position",
                  err);
    sql_bind_text(&stmt, upload->id);
    struct trace_list list = {0};
    if (!read_traces(&stmt, true, arena, &list))
        return false;
    upload->traces = list.rows;
    upload->count = list.count;
    upload->all_existing = true;
    for (size_t i = 0; i < list.count; i++)
        upload->all_existing = upload->all_existing && list.rows[i].existing;
    return true;
}

static bool load_upload(struct db *db, struct str id, struct arena *arena, struct upload *upload,
                        struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT id, run_id, created_ns FROM upload WHERE id = ?", err);
    sql_bind_text(&stmt, id);
    bool found = sql_row(&stmt);
    *upload = (struct upload){0};
    if (found) {
        upload->id = sql_text(&stmt, 0, arena);
        upload->run_id = sql_text(&stmt, 1, arena);
        upload->created_ns = sql_i64(&stmt, 2);
    }
    if (!sql_end(&stmt))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "no upload %.*s", (int)(id.len < 40 ? id.len : 40),
                       id.at);
    return load_upload_traces(db, upload, arena, err) && inputs_of_upload(db, upload, arena, err);
}

bool store_find_upload(struct store *store, struct str id, struct arena *arena,
                       struct upload *upload, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = load_upload(txn.db, id, arena, upload, err);
    return txn_end(&txn, ok, err);
}

// --- adding -------------------------------------------------------------------------------------

// The existing trace in a part's place.
struct present {
    struct str trace_id; // "" none
    bool same;           // its bytes are the part's
    bool needs_rank;     // it has no rank yet, and the part has one
    bool failed;         // it could not be read, so replacing it loses nothing
    struct str filename, role;
    bool is_damaged; // the bytes, as they are kept
    bool is_leaving; // the bytes, from another machine
};

// The trace that a statement finds, if any, and whether the part's bytes are kept damaged or are
// being removed at that time.
#define WITH_BYTES(time, statement)                                                           \
    "SELECT EXISTS (SELECT 1 FROM blob WHERE sha256 = ?1 AND damage <> ''), "                 \
    "EXISTS (SELECT 1 FROM removal WHERE sha256 = ?1 AND until_ns > " time "), found.* FROM " \
    "(SELECT 1) AS asked LEFT JOIN (" statement " LIMIT 1) AS found ON TRUE"

// The trace at the rank of a part.
static bool look_at_rank(const struct adding *adding, const struct trace_part *part, int64_t now_ns,
                         struct present *present, struct err *err)
{
    struct stmt stmt = sql_begin(
        adding->db,
        WITH_BYTES(
            "?5", "SELECT id, sha256 = ?1 AND process = ?4, FALSE AS needs_rank, state = 'failed', "
                  "filename, role FROM trace WHERE run_id = ?2 AND rank = ?3 UNION ALL "
                  "SELECT id, TRUE, TRUE, state = 'failed', filename, role FROM trace "
                  "WHERE run_id = ?2 AND rank IS NULL AND sha256 = ?1 AND process = ?4 "
                  "ORDER BY needs_rank"),
        err);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_text(&stmt, adding->run_id);
    sql_bind_i64(&stmt, part->rank);
    sql_bind_i64(&stmt, part->process);
    sql_bind_i64(&stmt, now_ns);
    *present = (struct present){0};
    if (sql_row(&stmt))
        *present = (struct present){.is_damaged = sql_i64(&stmt, 0) != 0,
                                    .is_leaving = sql_i64(&stmt, 1) != 0,
                                    .trace_id = sql_text(&stmt, 2, adding->arena),
                                    .same = sql_i64(&stmt, 3) != 0,
                                    .needs_rank = sql_i64(&stmt, 4) != 0,
                                    .failed = sql_i64(&stmt, 5) != 0,
                                    .filename = sql_text(&stmt, 6, adding->arena),
                                    .role = sql_text(&stmt, 7, adding->arena)};
    return sql_end(&stmt);
}

// Without a rank the same bytes anywhere in the run are the same trace.
static bool look_at_bytes(const struct adding *adding, const struct trace_part *part,
                          int64_t now_ns, struct present *present, struct err *err)
{
    struct stmt stmt = sql_begin(
        adding->db,
        WITH_BYTES("?4", "SELECT id, role FROM trace WHERE run_id = ?2 AND sha256 = ?1 AND "
                         "process = ?3 ORDER BY rank NULLS FIRST"),
        err);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_text(&stmt, adding->run_id);
    sql_bind_i64(&stmt, part->process);
    sql_bind_i64(&stmt, now_ns);
    *present = (struct present){0};
    if (sql_row(&stmt))
        *present = (struct present){.is_damaged = sql_i64(&stmt, 0) != 0,
                                    .is_leaving = sql_i64(&stmt, 1) != 0,
                                    .trace_id = sql_text(&stmt, 2, adding->arena),
                                    .same = true,
                                    .role = sql_text(&stmt, 3, adding->arena)};
    return sql_end(&stmt);
}

static bool give_rank(struct db *db, struct str trace_id, int64_t rank, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "UPDATE trace SET rank = ?, rank_from = 'field' WHERE id = ?", err);
    sql_bind_i64(&stmt, rank);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt);
}

// The run's tables are made again.
static bool give_role(const struct adding *adding, struct str trace_id, struct str role,
                      struct err *err)
{
    struct stmt stmt = sql_begin(adding->db, "UPDATE trace SET role = ? WHERE id = ?", err);
    sql_bind_clean(&stmt, role);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt) && jobs_queue_run_if_due(adding->db, adding->run_id, err) &&
           sql_touch_run(adding->db, adding->run_id, err);
}

bool blobs_insert(struct db *db, const struct trace_part *part, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "INSERT INTO blob (sha256, bytes, created_ns, checked_ns) VALUES (?1, ?2, ?3, ?3) "
        "ON CONFLICT DO NOTHING",
        err);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_i64(&stmt, part->bytes);
    sql_bind_i64(&stmt, clock_wall_ns());
    if (!sql_run_later(&stmt))
        return false;
    stmt = sql_begin(db, "DELETE FROM garbage WHERE kind = 'blob' AND name = ?", err);
    sql_bind_text(&stmt, str_of(part->sha256));
    return sql_run_later(&stmt);
}

static bool insert_trace(const struct adding *adding, const struct trace_part *part, struct str id,
                         struct err *err)
{
    struct stmt stmt = sql_begin(adding->db,
                                 "INSERT INTO trace (id, run_id, rank, rank_from, replaces, "
                                 "sha256, process, role, filename, bytes, uploaded_ns, state) "
                                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued')",
                                 err);
    sql_bind_text(&stmt, id);
    sql_bind_text(&stmt, adding->run_id);
    sql_bind_i64_if(&stmt, part->rank >= 0, part->rank);
    sql_bind_text(&stmt, part->rank >= 0 ? STR("field") : STR("pending"));
    sql_bind_i64(&stmt, adding->replace);
    sql_bind_text(&stmt, str_of(part->sha256));
    sql_bind_i64(&stmt, part->process);
    sql_bind_clean(&stmt, part->role.at ? part->role : STR(""));
    sql_bind_clean(&stmt, part->filename);
    sql_bind_i64(&stmt, part->bytes);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run_later(&stmt);
}

static bool add_new(const struct adding *adding, const struct trace_part *part,
                    char id[STORE_ID_SIZE], struct err *err)
{
    return sql_new_id('t', id, err) && blobs_insert(adding->db, part, err) &&
           insert_trace(adding, part, str_of(id), err) &&
           jobs_insert(adding->db, JOB_TRACE, str_of(id), err) &&
           runs_count_move(adding->db, adding->run_id, MOVE_ADDED, err);
}

static bool look(const struct adding *adding, const struct trace_part *part,
                 struct present *present, struct err *err)
{
    int64_t now_ns;
    return adding->db->kind->clock(adding->db, &now_ns, err) &&
           (part->rank >= 0 ? look_at_rank : look_at_bytes)(adding, part, now_ns, present, err) &&
           (!present->is_leaving || blobs_refuse(err));
}

bool traces_add(const struct adding *adding, const struct trace_part *part, struct added *added,
                struct err *err)
{
    struct present present;
    if (!look(adding, part, &present, err) ||
        ((present.trace_id.len || present.is_damaged) && !txn_has_turn(adding->db, err)) ||
        (present.is_damaged && !blobs_heal(adding->db, str_of(part->sha256), err)))
        return false;
    added->existing = present.trace_id.len > 0 && present.same;
    bool has_other_role = part->role.len > 0 && !str_equal(part->role, present.role);
    if (adding->locked && (!added->existing || present.needs_rank || has_other_role))
        return runs_deny(err);
    if (added->existing) {
        memcpy(added->id, present.trace_id.at, present.trace_id.len + 1);
        return (!present.needs_rank || give_rank(adding->db, present.trace_id, part->rank, err)) &&
               (!has_other_role || give_role(adding, present.trace_id, part->role, err));
    }
    if (present.trace_id.len && !present.failed && !adding->replace)
        return err_set(err, ERR_CONFLICT,
                       "rank %lld of this run already exists with other content, from '%.*s'",
                       (long long)part->rank,
                       (int)(present.filename.len < 80 ? present.filename.len : 80),
                       present.filename.at);
    if (present.trace_id.len && !traces_drop(adding->db, present.trace_id, err))
        return false;
    return add_new(adding, part, added->id, err);
}

static bool insert_upload(struct db *db, const struct upload *upload, struct err *err)
{
    struct stmt stmt = sql_begin(db, "INSERT INTO upload VALUES (?, ?, ?)", err);
    sql_bind_text(&stmt, upload->id);
    sql_bind_text(&stmt, upload->run_id);
    sql_bind_i64(&stmt, upload->created_ns);
    return sql_run_later(&stmt);
}

static bool begin_upload(struct db *db, struct str run_id, struct arena *arena,
                         struct upload *upload, struct err *err)
{
    char id[STORE_ID_SIZE];
    if (!sql_new_id('u', id, err))
        return false;
    *upload = (struct upload){.id = str_of(arena_strdup(arena, str_of(id), err)),
                              .run_id = run_id,
                              .created_ns = clock_wall_ns()};
    return upload->id.at && insert_upload(db, upload, err);
}

static bool link(struct db *db, const char *text, struct str upload_id, size_t position,
                 const struct added *added, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, upload_id);
    sql_bind_i64(&stmt, (int64_t)position);
    sql_bind_text(&stmt, str_of(added->id));
    sql_bind_i64(&stmt, added->existing);
    return sql_run_later(&stmt);
}

// An archive that is there already has members that are traces.
static bool link_members(struct db *db, struct str upload_id, size_t position,
                         const struct added *archive, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO upload_trace "
                                 "SELECT ?1, ((?2 + 1) << 20) + position, trace_id, 1 FROM input "
                                 "WHERE parent = ?3 AND trace_id IS NOT NULL "
                                 "ON CONFLICT DO NOTHING",
                                 err);
    sql_bind_text(&stmt, upload_id);
    sql_bind_i64(&stmt, (int64_t)position);
    sql_bind_text(&stmt, str_of(archive->id));
    return sql_run(&stmt);
}

static bool add_part(const struct adding *adding, const struct trace_part *part,
                     struct str upload_id, size_t position, struct err *err)
{
    struct added added;
    if (part->archive.len == 0)
        return traces_add(adding, part, &added, err) &&
               link(adding->db, "INSERT INTO upload_trace VALUES (?, ?, ?, ?)", upload_id, position,
                    &added, err);
    return inputs_add_archive(adding, part, &added, err) &&
           link(adding->db, "INSERT INTO upload_input VALUES (?, ?, ?, ?)", upload_id, position,
                &added, err) &&
           link_members(adding->db, upload_id, position, &added, err);
}

static bool check_part(const struct trace_part *part, struct err *err)
{
    if (part->rank != STORE_NO_RANK && (part->rank < 0 || part->rank > INT32_MAX))
        return err_set(err, ERR_USAGE, "a rank of %lld is impossible", (long long)part->rank);
    if (str_valid_utf8(part->filename) != part->filename.len)
        return err_set(err, ERR_USAGE, "a file name is not valid UTF-8");
    return true;
}

// Part of the upload's transaction: a crash in between would do it twice, or not count it.
static bool settle_claims(struct db *db, const struct upload_request *request, struct str id,
                          struct err *err)
{
    return (request->key.text.len == 0 || upload_key_insert(db, request, id, err)) &&
           (request->resumable_id.len == 0 || resumable_accept(db, request->resumable_id, id, err));
}

static bool add_parts(const struct adding *adding, const struct upload_request *request,
                      struct str upload_id, struct err *err)
{
    for (size_t i = 0; i < request->count; i++)
        if (!check_part(&request->parts[i], err) ||
            !add_part(adding, &request->parts[i], upload_id, i, err))
            return false;
    return true;
}

// What was made of the parts. A trace that is new has changed its run's revision already.
static bool end_upload(struct db *db, const struct upload_request *request, struct arena *arena,
                       struct upload *upload, struct err *err)
{
    bool has_archive = false;
    for (size_t i = 0; i < request->count; i++)
        has_archive = has_archive || request->parts[i].archive.len > 0;
    if (!load_upload_traces(db, upload, arena, err) ||
        (has_archive && !inputs_of_upload(db, upload, arena, err)))
        return false;
    bool has_new = false;
    for (size_t i = 0; i < upload->count; i++)
        has_new = has_new || !upload->traces[i].existing;
    return has_new || sql_touch_run(db, upload->run_id, err);
}

static bool count_owned(struct db *db, struct str owner, struct str upload_id, struct err *err)
{
    return owner.len == 0 || owners_count(db, OWNED_UPLOAD, upload_id, OWNED_COMES, err);
}

// What the owner has and sends comes last, as others of the owner may wait for it from then on.
static bool add_upload(struct db *db, const struct upload_request *request, struct arena *arena,
                       struct upload *upload, struct err *err)
{
    struct adding adding = {.db = db,
                            .replace = request->replace,
                            .arena = arena,
                            .owner = request->owner,
                            .adds_only = request->run.adds_only};
    return runs_get_or_create(db, &request->run, arena, &adding.run_id, err) &&
           runs_is_locked(db, adding.run_id, &request->run, &adding.locked, err) &&
           begin_upload(db, adding.run_id, arena, upload, err) &&
           settle_claims(db, request, upload->id, err) &&
           add_parts(&adding, request, upload->id, err) &&
           uploads_own(db, request->owner, upload->id, err) &&
           end_upload(db, request, arena, upload, err) &&
           count_owned(db, request->owner, upload->id, err) &&
           uploads_charge(db, request->owner, request->sent_bytes, err);
}

// Several files of one upload, or of an archive, could wait in a circle for those of others.
static bool is_one_trace(const struct upload_request *request)
{
    return request->count == 1 && request->parts[0].archive.len == 0;
}

struct uploading {
    const struct upload_request *request;
    struct arena *arena;
    struct upload *upload; // set
};

static bool upload_beside(struct db *db, void *context, struct err *err)
{
    const struct uploading *uploading = context;
    return (is_one_trace(uploading->request) || txn_has_turn(db, err)) &&
           add_upload(db, uploading->request, uploading->arena, uploading->upload, err);
}

bool store_add_upload(struct store *store, const struct upload_request *request,
                      struct arena *arena, struct upload *upload, struct err *err)
{
    return txn_write(store, upload_beside, &(struct uploading){request, arena, upload}, err);
}
