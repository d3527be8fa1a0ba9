// SPDX-License-Identifier: Apache-2.0
// Adds the members of an archive to the store. Members are identified by their position in the
// archive, so a repeated step changes nothing.
#include "ingest/base/clock.h"
#include "server/store/store_inputs.h"
#include "server/store/store_sql.h"

#include <stdio.h>

#define MOST_WINDOWS INT64_C(1000000000)

// Members of one archive that are being added.
struct unpacking {
    struct db *db;
    struct arena *arena;
    const struct job *job;
    struct run run;   // of the archive
    struct str owner; // who uploaded it
    struct str role;  // of its traces
    bool adds_only, replaces;
    int64_t bytes, created_ns;
    struct str filename, blob;
    struct str window, window_run; // of the last member that had a window
    struct err window_error;       // why there is no run for that window
};

// --- the archive --------------------------------------------------------------------------------

static bool check_job(struct db *db, const struct job *job, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT 1 FROM job WHERE id = ? AND state = 'running' AND attempts = ?", err);
    sql_bind_i64(&stmt, job->id);
    sql_bind_i64(&stmt, job->attempt);
    bool found = sql_row(&stmt);
    return sql_end(&stmt) &&
           (found || err_set(err, ERR_NOT_FOUND, "job %lld was requeued, or deleted with its run",
                             (long long)job->id));
}

static bool load(struct unpacking *unpacking, struct err *err)
{
    struct stmt stmt =
        sql_begin(unpacking->db,
                  "SELECT owner, adds_only, replaces, bytes, filename, blob, created_ns, role "
                  "FROM input WHERE id = ?",
                  err);
    sql_bind_text(&stmt, unpacking->job->input_id);
    bool found = sql_row(&stmt);
    if (found) {
        unpacking->owner = sql_text(&stmt, 0, unpacking->arena);
        unpacking->adds_only = sql_i64(&stmt, 1) != 0;
        unpacking->replaces = sql_i64(&stmt, 2) != 0;
        unpacking->bytes = sql_i64(&stmt, 3);
        unpacking->filename = sql_text(&stmt, 4, unpacking->arena);
        unpacking->blob = sql_text(&stmt, 5, unpacking->arena);
        unpacking->created_ns = sql_i64(&stmt, 6);
        unpacking->role = sql_text(&stmt, 7, unpacking->arena);
    }
    return sql_end(&stmt) && (found || err_set(err, ERR_NOT_FOUND, "the archive is gone")) &&
           runs_load(unpacking->db, unpacking->job->run_id, unpacking->arena, &unpacking->run, err);
}

bool store_begin_unpack(struct store *store, const struct job *job, struct arena *arena,
                        struct unpack_state *state, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "SELECT owner, (SELECT coalesce(max(position) + 1, 0) FROM input AS member "
                  "WHERE member.parent = input.id), token.day_bytes, token.stored_bytes "
                  "FROM input LEFT JOIN token ON token.id = owner WHERE input.id = ?",
                  err);
    sql_bind_text(&stmt, job->input_id);
    bool found = sql_row(&stmt);
    if (found)
        *state = (struct unpack_state){
            .owner = sql_text(&stmt, 0, arena),
            .stored = sql_i64(&stmt, 1),
            .limits = {sql_i64_or(&stmt, 2, -1), sql_i64_or(&stmt, 3, -1), -1}};
    bool ok = sql_end(&stmt) && (found || err_set(err, ERR_NOT_FOUND, "the archive is gone"));
    return txn_end(&txn, ok, err);
}

// --- runs of windows ----------------------------------------------------------------------------

// The run that earlier members of the window went to, even if it was renamed since.
static bool find_window(struct unpacking *unpacking, struct str window, struct err *err)
{
    struct stmt stmt = sql_begin(unpacking->db,
                                 "SELECT run.id FROM input JOIN run ON run.id = input.run_id "
                                 "WHERE parent = ? AND \"window\" = ? AND \"window\" <> '' LIMIT 1",
                                 err);
    sql_bind_text(&stmt, unpacking->job->input_id);
    sql_bind_text(&stmt, window);
    unpacking->window_run = sql_row(&stmt) ? sql_text(&stmt, 0, unpacking->arena) : STR("");
    return sql_end(&stmt);
}

// "exp42@iteration_10", or "exp@42.iteration_10" if the run is in a series already.
static char *window_name(struct unpacking *unpacking, struct str window, struct err *err)
{
    struct str name = unpacking->run.name;
    bool in_series = name.len && memchr(name.at, '@', name.len);
    return arena_printf(unpacking->arena, err, "%.*s%c%.*s", (int)name.len, name.at,
                        in_series ? '.' : '@', (int)window.len, window.at);
}

// The number of a window, limited to the nanoseconds of a second: it is added to the time of the
// archive, so that windows are in the order of their numbers, not of the members.
static int64_t number_of(struct str window)
{
    size_t digits = str_digits_start(window, window.len);
    int64_t number = 0;
    bool ok = str_to_i64((struct str){window.at + digits, window.len - digits}, &number);
    return ok && number < MOST_WINDOWS ? number : MOST_WINDOWS;
}

// A window's run takes its settings from the archive's run.
static bool make_window(struct unpacking *unpacking, struct str window, struct err *err)
{
    const struct run *run = &unpacking->run;
    char *name = window_name(unpacking, window, err);
    bool locked = false;
    struct run_request request = {
        .name = str_of(name),
        .project = run->project,
        .note = STR(""),
        .tags = run->tags,
        .tag_count = run->tag_count,
        .meta = run->meta,
        .meta_count = run->meta_count,
        .world_size = run->world_size,
        .step_pattern = run->step_pattern,
        .warmup_steps = run->warmup_steps >= 0 ? &run->warmup_steps : NULL,
        .owner = unpacking->owner,
        .created_ns = unpacking->created_ns + number_of(window),
        .adds_only = unpacking->adds_only,
    };
    return name &&
           runs_get_or_create(unpacking->db, &request, unpacking->arena, &unpacking->window_run,
                              err) &&
           runs_is_locked(unpacking->db, unpacking->window_run, &request, &locked, err) &&
           (!locked || runs_deny(err));
}

// Errors with a window's run that fail its members only, not the archive.
static bool is_of_member(const struct err *err)
{
    return err->code == ERR_USAGE || err->code == ERR_DENIED || err->code == ERR_CONFLICT ||
           err->code == ERR_NOT_FOUND;
}

static bool enter_window(struct unpacking *unpacking, struct str window, struct err *err)
{
    if (str_equal(window, unpacking->window))
        return true;
    struct err why = {.pos = ERR_NO_POS};
    unpacking->window = window;
    unpacking->window_error = why;
    if (!find_window(unpacking, window, err))
        return false;
    if (unpacking->window_run.len || make_window(unpacking, window, &why))
        return true;
    if (!is_of_member(&why)) {
        *err = why;
        return false;
    }
    unpacking->window_error = why;
    unpacking->window_run = STR("");
    return true;
}

// --- one member ---------------------------------------------------------------------------------

static bool is_there(struct unpacking *unpacking, const struct new_member *member, bool *there,
                     struct err *err)
{
    struct stmt stmt =
        sql_begin(unpacking->db, "SELECT 1 FROM input WHERE parent = ? AND position = ?", err);
    sql_bind_text(&stmt, unpacking->job->input_id);
    sql_bind_i64(&stmt, member->position);
    *there = sql_row(&stmt);
    return sql_end(&stmt);
}

// The trace belongs to every upload of the archive, after the files of the upload.
static bool link_uploads(struct unpacking *unpacking, const struct new_member *member,
                         const struct added *added, struct err *err)
{
    struct stmt stmt = sql_begin(unpacking->db,
                                 "INSERT INTO upload_trace SELECT upload_id, "
                                 "((position + 1) << 20) + ?, ?, ? FROM upload_input "
                                 "WHERE input_id = ? ON CONFLICT DO NOTHING",
                                 err);
    sql_bind_i64(&stmt, member->position);
    sql_bind_text(&stmt, str_of(added->id));
    sql_bind_i64(&stmt, added->existing);
    sql_bind_text(&stmt, unpacking->job->input_id);
    return sql_run(&stmt);
}

static bool own_trace(struct unpacking *unpacking, const struct added *added, int64_t bytes,
                      struct err *err)
{
    if (unpacking->owner.len == 0 || added->existing)
        return true;
    struct stmt stmt = sql_begin(
        unpacking->db,
        "INSERT INTO trace_owner (trace_id, who, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        err);
    sql_bind_text(&stmt, str_of(added->id));
    sql_bind_text(&stmt, unpacking->owner);
    sql_bind_i64(&stmt, bytes);
    return sql_run(&stmt) &&
           owners_count(unpacking->db, OWNED_TRACE, str_of(added->id), OWNED_COMES, err);
}

static bool add_trace(struct unpacking *unpacking, const struct new_member *member,
                      struct str run_id, struct added *added, struct err *err)
{
    struct adding adding = {.db = unpacking->db,
                            .run_id = run_id,
                            .replace = unpacking->replaces,
                            .arena = unpacking->arena};
    struct trace_part part = {.sha256 = member->sha256,
                              .process = member->process,
                              .bytes = member->bytes,
                              .filename = member->filename,
                              .role = unpacking->role,
                              .rank = STORE_NO_RANK};
    return traces_add(&adding, &part, added, err) && link_uploads(unpacking, member, added, err) &&
           own_trace(unpacking, added, member->is_repeat ? 0 : member->bytes, err);
}

static bool add_attachment(struct unpacking *unpacking, const struct new_member *member,
                           struct err *err)
{
    struct trace_part part = {.sha256 = member->sha256, .bytes = member->bytes};
    return blobs_may_come(unpacking->db, member->sha256, err) &&
           blobs_heal(unpacking->db, str_of(member->sha256), err) &&
           blobs_insert(unpacking->db, &part, err);
}

static bool is_evidence(const struct new_member *member)
{
    return member->kind == INPUT_ATTACHMENT && !member->failed && evidence_is_in(member->format);
}

static bool insert(struct unpacking *unpacking, const struct new_member *member, struct str run_id,
                   const struct added *added, struct err *err)
{
    char id[STORE_ID_SIZE];
    if (!sql_new_id('i', id, err))
        return false;
    struct stmt stmt = sql_begin(
        unpacking->db,
        "INSERT INTO input (id, run_id, parent, position, kind, format, filename, \"window\", "
        "blob, trace_id, bytes, secrets, state, reason, owner, created_ns) VALUES (?, ?, ?, ?, ?, "
        "?, ?, ?, nullif(?, ''), nullif(?, ''), ?, nullif(?, -1), ?, nullif(?, ''), ?, ?)",
        err);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, unpacking->job->input_id);
    sql_bind_i64(&stmt, member->position);
    sql_bind_text(&stmt, str_of(input_kind_word(member->kind)));
    sql_bind_text(&stmt, member->format);
    sql_bind_clean(&stmt, member->filename);
    sql_bind_text(&stmt, member->window);
    sql_bind_text(&stmt, member->kind == INPUT_ATTACHMENT ? str_of(member->sha256) : STR(""));
    sql_bind_text(&stmt, str_of(added->id));
    sql_bind_i64(&stmt, member->is_repeat ? 0 : member->bytes);
    sql_bind_i64(&stmt, member->kind == INPUT_ATTACHMENT ? member->secrets : -1);
    sql_bind_text(&stmt, member->failed ? STR("failed") : STR("done"));
    sql_bind_clean(&stmt, member->reason);
    sql_bind_text(&stmt, unpacking->owner);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt) &&
           owners_count(unpacking->db, OWNED_INPUT, str_of(id), OWNED_COMES, err) &&
           (!is_evidence(member) || evidence_queue(unpacking->db, str_of(id), err));
}

// A trace that has no run to go to.
static struct new_member without_run(const struct new_member *member, const struct err *why)
{
    struct new_member failed = *member;
    failed.kind = INPUT_SKIPPED;
    failed.bytes = 0;
    failed.window = STR("");
    failed.failed = true;
    failed.reason = str_of(why->msg);
    return failed;
}

static bool add_member(struct unpacking *unpacking, const struct new_member *given, struct err *err)
{
    struct added added = {.id = ""};
    struct new_member member = *given;
    struct str run_id = unpacking->job->run_id;
    bool there;
    if (!is_there(unpacking, &member, &there, err) || there)
        return there;
    if (member.window.len && !enter_window(unpacking, member.window, err))
        return false;
    if (member.window.len && unpacking->window_run.len)
        run_id = unpacking->window_run;
    else if (member.window.len)
        member = without_run(given, &unpacking->window_error);
    bool ok = member.kind == INPUT_TRACE        ? add_trace(unpacking, &member, run_id, &added, err)
              : member.kind == INPUT_ATTACHMENT ? add_attachment(unpacking, &member, err)
              : given->sha256[0] ? blobs_note_unneeded(unpacking->db, given->sha256, err)
                                 : true;
    return ok && insert(unpacking, &member, run_id, &added, err) &&
           (member.kind != INPUT_TRACE || sql_touch_run(unpacking->db, run_id, err));
}

// --- steps --------------------------------------------------------------------------------------

// What a step takes besides the job: members or the reason of a failure.
struct unpack_step {
    const struct new_member *members;
    size_t count;
    struct str reason;
};

static bool add_members(struct unpacking *unpacking, const struct unpack_step *step,
                        struct err *err)
{
    bool ok = check_job(unpacking->db, unpacking->job, err) && load(unpacking, err);
    for (size_t i = 0; ok && i < step->count; i++)
        ok = add_member(unpacking, &step->members[i], err);
    return ok && sql_touch_run(unpacking->db, unpacking->job->run_id, err);
}

// Unpacked bytes beyond those of the upload also count as sent today.
static bool charge(struct unpacking *unpacking, int64_t bytes, struct err *err)
{
    int64_t more = bytes > unpacking->bytes ? bytes - unpacking->bytes : 0;
    return uploads_charge(unpacking->db, unpacking->owner, (uint64_t)more, err);
}

static bool charge_members(struct unpacking *unpacking, struct err *err)
{
    struct stmt stmt =
        sql_begin(unpacking->db, "SELECT coalesce(sum(bytes), 0) FROM input WHERE parent = ?", err);
    sql_bind_text(&stmt, unpacking->job->input_id);
    int64_t bytes = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt) && charge(unpacking, bytes, err);
}

static bool count_input(struct unpacking *unpacking, enum owned_sign sign, struct err *err)
{
    return owners_count(unpacking->db, OWNED_INPUT, unpacking->job->input_id, sign, err);
}

static bool let_bytes_go(struct unpacking *unpacking, struct err *err)
{
    if (!count_input(unpacking, OWNED_GOES, err))
        return false;
    struct stmt stmt = sql_begin(unpacking->db,
                                 "UPDATE input SET blob = NULL, reason = NULL, state = 'done' "
                                 "WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, unpacking->job->input_id);
    return sql_run(&stmt) && blobs_release(unpacking->db, unpacking->blob, err);
}

static bool finish(struct unpacking *unpacking, const struct unpack_step *step, struct err *err)
{
    const struct job *job = unpacking->job;
    struct str reason = step->reason;
    return load(unpacking, err) &&
           jobs_end(unpacking->db, job, reason.len ? STR("failed") : STR("done"), reason, err) &&
           let_bytes_go(unpacking, err) && charge_members(unpacking, err) &&
           (reason.len ? inputs_fail(unpacking->db, job, reason, err)
                       : jobs_queue_run_if_due(unpacking->db, job->run_id, err)) &&
           sql_touch_run(unpacking->db, job->run_id, err);
}

// The upload is no archive: its job is done.
static bool end_alone(struct unpacking *unpacking, struct err *err)
{
    return blobs_release(unpacking->db, unpacking->blob, err) &&
           jobs_end(unpacking->db, unpacking->job, STR("done"), STR(""), err) &&
           sql_touch_run(unpacking->db, unpacking->job->run_id, err);
}

static bool become_trace(struct unpacking *unpacking, const struct unpack_step *step,
                         struct err *err)
{
    (void)step;
    struct added added = {.id = ""};
    if (!check_job(unpacking->db, unpacking->job, err) || !load(unpacking, err))
        return false;
    struct new_member member = {.kind = INPUT_TRACE,
                                .filename = unpacking->filename,
                                .sha256 = unpacking->blob.at,
                                .bytes = unpacking->bytes};
    if (!add_trace(unpacking, &member, unpacking->job->run_id, &added, err) ||
        !count_input(unpacking, OWNED_GOES, err))
        return false;
    struct stmt stmt = sql_begin(unpacking->db,
                                 "UPDATE input SET kind = 'trace', trace_id = ?, blob = NULL, "
                                 "state = 'done' WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, str_of(added.id));
    sql_bind_text(&stmt, unpacking->job->input_id);
    return sql_run(&stmt) && end_alone(unpacking, err);
}

static bool become_attachment(struct unpacking *unpacking, const struct unpack_step *step,
                              struct err *err)
{
    const struct new_member *member = step->members;
    if (!check_job(unpacking->db, unpacking->job, err) || !load(unpacking, err) ||
        !add_attachment(unpacking, member, err) || !count_input(unpacking, OWNED_GOES, err))
        return false;
    struct stmt stmt = sql_begin(unpacking->db,
                                 "UPDATE input SET kind = 'attachment', format = ?, blob = ?, "
                                 "bytes = ?, secrets = ?, state = 'done', "
                                 "reason = nullif(?, '') WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, member->format);
    sql_bind_text(&stmt, str_of(member->sha256));
    sql_bind_i64(&stmt, member->bytes);
    sql_bind_i64(&stmt, member->secrets);
    sql_bind_clean(&stmt, member->reason);
    sql_bind_text(&stmt, unpacking->job->input_id);
    return sql_run(&stmt) && count_input(unpacking, OWNED_COMES, err) &&
           end_alone(unpacking, err) && charge(unpacking, member->bytes, err) &&
           (!is_evidence(member) || evidence_queue(unpacking->db, unpacking->job->input_id, err));
}

// --- transactions -------------------------------------------------------------------------------

static bool in_transaction(struct store *store, const struct job *job,
                           bool (*run)(struct unpacking *unpacking, const struct unpack_step *step,
                                       struct err *err),
                           const struct unpack_step *step, struct err *err)
{
    struct txn txn;
    struct arena arena;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    arena_init(&arena, NULL);
    struct unpacking unpacking = {
        .db = txn.db, .arena = &arena, .job = job, .window = STR(""), .window_run = STR("")};
    bool ok = run(&unpacking, step, err);
    arena_free(&arena);
    return txn_end(&txn, ok, err);
}

bool store_add_members(struct store *store, const struct job *job, const struct new_member *members,
                       size_t count, struct err *err)
{
    struct unpack_step step = {.members = members, .count = count};
    return in_transaction(store, job, add_members, &step, err);
}

bool store_finish_unpack(struct store *store, const struct job *job, struct str reason,
                         struct err *err)
{
    struct unpack_step step = {.reason = reason};
    return in_transaction(store, job, finish, &step, err);
}

bool store_unpack_as_attachment(struct store *store, const struct job *job,
                                const struct new_member *member, struct err *err)
{
    struct unpack_step step = {.members = member, .count = 1};
    return in_transaction(store, job, become_attachment, &step, err);
}

bool store_unpack_as_trace(struct store *store, const struct job *job, struct err *err)
{
    struct unpack_step step = {.count = 0};
    return in_transaction(store, job, become_trace, &step, err);
}
