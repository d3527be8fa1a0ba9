// SPDX-License-Identifier: Apache-2.0
// Changing runs: creating, patching and deleting them, and which names are valid.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

// --- names --------------------------------------------------------------------------------------

// The first character of valid UTF-8.
static uint32_t first_of(struct str text)
{
    static const unsigned char masks[] = {0x7f, 0x7f, 0x1f, 0x0f, 0x07};
    size_t len = 1;
    while (len < text.len && len < 4 && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len++;
    uint32_t c = (unsigned char)text.at[0] & masks[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)text.at[i] & 0x3f);
    return c;
}

static uint32_t last_of(struct str text)
{
    size_t at = text.len - 1;
    while (at > 0 && ((unsigned char)text.at[at] & 0xc0) == 0x80)
        at--;
    return first_of((struct str){text.at + at, text.len - at});
}

// Blanks, zero-width characters, and those that change the text direction: they make two names look
// alike.
static bool is_unseen(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {' ', ' '},       {0xa0, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160},
        {0x1680, 0x1680}, {0x180b, 0x180f}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
        {0x3000, 0x3000}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

// "." and ".." are folders in a URL.
static bool is_hard_to_name(struct str name)
{
    return str_equal(name, STR(".")) || str_equal(name, STR("..")) || is_unseen(first_of(name)) ||
           is_unseen(last_of(name));
}

static bool check_line(const char *what, struct str text, struct err *err)
{
    if (text.len == 0)
        return err_set(err, ERR_USAGE, "%s is empty", what);
    return text_check_line(what, text, STORE_NAME_MAX_BYTES, err) &&
           text_check_secret(what, text, err);
}

// A line that can be part of a URL.
static bool check_name(const char *what, struct str name, struct err *err)
{
    if (!check_line(what, name, err))
        return false;
    if (is_hard_to_name(name))
        return err_set(
            err, ERR_USAGE,
            "%s '%.*s' is a dot, or starts or ends with a space or an invisible character", what,
            (int)(name.len < 60 ? name.len : 60), name.at);
    if (str_starts_with(name, STR(STORE_BASELINE_PREFIX)))
        return err_set(err, ERR_USAGE, "%s '%.*s' starts like the key of a baseline", what,
                       (int)(name.len < 60 ? name.len : 60), name.at);
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] == '/' || name.at[i] == '~')
            return err_set(err, ERR_USAGE, "%s has a '%c', which is reserved in URLs", what,
                           name.at[i]);
    return true;
}

// After a run is deleted, links by its id must lead nowhere rather than to another run with that
// name.
static bool check_no_id(struct str name, struct err *err)
{
    return !sql_has_id_form('r', name) ||
           err_set(err, ERR_USAGE, "run name '%.*s' has the form of a run id", (int)name.len,
                   name.at);
}

static bool refuse_tags(size_t count, struct err *err)
{
    return err_set(err, ERR_USAGE, "found %zu tags of a run, expected at most %zu", count,
                   STORE_MAX_TAGS);
}

static bool check_tags(const struct run_tag *tags, size_t count, struct err *err)
{
    if (count > 2 * STORE_MAX_TAGS) // some entries of a change may be removals
        return refuse_tags(count, err);
    for (size_t i = 0; i < count; i++)
        if (tags[i].value.at &&
            (!check_line("tag", tags[i].key, err) ||
             !text_check("tag value", tags[i].value, STORE_NAME_MAX_BYTES, err)))
            return false; // an entry to remove may have any old value
    return true;
}

static bool check_world_size(int64_t size, struct err *err)
{
    return size > 0 || size == STORE_ANY ||
           err_set(err, ERR_USAGE, "a world size of %lld is impossible", (long long)size);
}

static bool check_steps(struct str pattern, const int64_t *warmup_steps, struct err *err)
{
    if (warmup_steps && (*warmup_steps < -1 || *warmup_steps > INT32_MAX))
        return err_set(err, ERR_USAGE, "a warm-up of %lld steps is impossible",
                       (long long)*warmup_steps);
    return pattern.len == 0 || check_line("step pattern", pattern, err);
}

static struct str project_of(const struct run_request *request)
{
    return request->project.len ? request->project : STR("default");
}

bool store_check_run(const struct run_request *request, struct err *err)
{
    return (request->name.len == 0 || check_name("run name", request->name, err)) &&
           check_name("project", project_of(request), err) &&
           text_check("note", request->note, STORE_NOTE_MAX_BYTES, err) &&
           check_tags(request->tags, request->tag_count, err) &&
           meta_check(request->meta, request->meta_count, err) &&
           check_world_size(request->world_size, err) &&
           check_steps(request->step_pattern, request->warmup_steps, err);
}

// Repeats of one measurement share the part before '@'.
static struct str series_of(struct str name)
{
    const char *at = memchr(name.at, '@', name.len);
    return at && at > name.at ? (struct str){name.at, (size_t)(at - name.at)} : name;
}

// --- making -------------------------------------------------------------------------------------

static bool set_tag(struct db *db, struct str run_id, const struct run_tag *tag, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO run_tag VALUES (?, ?, ?) "
                  "ON CONFLICT (run_id, \"key\") DO UPDATE SET value = excluded.value",
                  err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, tag->key);
    sql_bind_clean_value(&stmt, tag->key, tag->value);
    return sql_run(&stmt);
}

static bool remove_tag(struct db *db, struct str run_id, struct str key, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM run_tag WHERE run_id = ? AND \"key\" = ?", err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, key);
    return sql_run(&stmt);
}

static bool count_tags(struct db *db, struct str run_id, size_t *count, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM run_tag WHERE run_id = ?", err);
    sql_bind_text(&stmt, run_id);
    *count = sql_row(&stmt) ? (size_t)sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// A run that has too many, from before there was a limit, may still change those it has.
static bool merge_tags(struct db *db, struct str run_id, const struct run_tag *tags, size_t count,
                       struct err *err)
{
    size_t before = 0, now = 0;
    if (count == 0)
        return true;
    if (!count_tags(db, run_id, &before, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(tags[i].value.at ? set_tag(db, run_id, &tags[i], err)
                               : remove_tag(db, run_id, tags[i].key, err)))
            return false;
    return count_tags(db, run_id, &now, err) &&
           (now <= STORE_MAX_TAGS || now <= before || refuse_tags(now, err));
}

static void bind_optional(struct stmt *stmt, const struct str *text)
{
    if (text)
        sql_bind_clean(stmt, *text);
    else
        sql_bind_null(stmt);
}

// Sets how steps are found, each unless NULL; if that changes, all traces are read again.
static bool set_steps(struct db *db, struct str run_id, const struct str *pattern,
                      const int64_t *warmup_steps, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "UPDATE stored_run SET step_pattern = CASE WHEN CAST(?1 AS TEXT) IS NULL THEN step_pattern "
        "ELSE nullif(?1, '') END, warmup_steps = CASE ?2 WHEN 1 THEN ?3 ELSE warmup_steps END "
        "WHERE id = ?4 AND ((CAST(?1 AS TEXT) IS NOT NULL AND step_pattern IS DISTINCT FROM "
        "nullif(?1, '')) "
        "OR (?2 = 1 AND warmup_steps IS DISTINCT FROM ?3))",
        err);
    bind_optional(&stmt, pattern);
    sql_bind_i64(&stmt, warmup_steps != NULL);
    sql_bind_i64_if(&stmt, warmup_steps && *warmup_steps >= 0, warmup_steps ? *warmup_steps : 0);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt) &&
           (db_changes(db) == 0 || (txn_has_turn(db, err) && jobs_queue_traces(db, run_id, err)));
}

static bool set_asked_steps(struct db *db, struct str run_id, const struct run_request *request,
                            struct err *err)
{
    const struct str *pattern = request->step_pattern.len ? &request->step_pattern : NULL;
    return (!pattern && !request->warmup_steps) ||
           set_steps(db, run_id, pattern, request->warmup_steps, err);
}

// "upload-20260102-030405-x7k2m9q4": the time for people, the tail as unique as the id.
static struct str make_up_name(struct arena *arena, int64_t now_ns, const char *id, struct err *err)
{
    char time[CLOCK_RFC3339_SIZE];
    clock_rfc3339(now_ns, time);
    char *name = arena_printf(arena, err, "upload-%.4s%.2s%.2s-%.2s%.2s%.2s-%s", time, time + 5,
                              time + 8, time + 11, time + 14, time + 17, id + strlen("r_"));
    return str_of(name);
}

static bool insert_run(struct db *db, const struct run_request *request, struct arena *arena,
                       struct str *id, struct err *err)
{
    char fresh[STORE_ID_SIZE];
    if (!check_no_id(request->name, err) || !sql_new_id('r', fresh, err))
        return false;
    *id = str_of(arena_strdup(arena, str_of(fresh), err));
    int64_t now_ns = request->created_ns ? request->created_ns : clock_wall_ns();
    struct str name = request->name.len ? request->name : make_up_name(arena, now_ns, fresh, err);
    if (!id->at || !name.at)
        return false;
    struct stmt stmt = sql_begin(
        db,
        "INSERT INTO stored_run (id, project, name, series, note, created_ns, world_size, owner) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        err);
    sql_bind_text(&stmt, *id);
    sql_bind_text(&stmt, project_of(request));
    sql_bind_text(&stmt, name);
    sql_bind_text(&stmt, series_of(name));
    sql_bind_clean(&stmt, request->note);
    sql_bind_i64(&stmt, now_ns);
    sql_bind_i64_if(&stmt, request->world_size > 0, request->world_size);
    sql_bind_text(&stmt, request->owner);
    return sql_run(&stmt) && series_join(db, *id, err) &&
           merge_tags(db, *id, request->tags, request->tag_count, err) &&
           meta_merge(db, *id, request->meta, request->meta_count, err) &&
           set_asked_steps(db, *id, request, err) && runs_note_text(db, *id, err);
}

static bool set_world_size(struct db *db, struct str id, int64_t size, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "UPDATE stored_run SET world_size = ?1 WHERE id = ?2 AND world_size IS DISTINCT FROM ?1",
        err);
    sql_bind_i64_if(&stmt, size > 0, size);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && (db_changes(db) == 0 || series_note_point(db, id, err));
}

static bool set_note(struct db *db, struct str id, struct str note, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE stored_run SET note = ? WHERE id = ?", err);
    sql_bind_clean(&stmt, note);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

// Adds a later upload's description to a run. Most of them repeat what is known.
static bool update_run(struct db *db, const struct run_request *request,
                       const struct id_search *run, struct err *err)
{
    struct str id = run->id;
    bool is_sized = request->world_size <= 0 || request->world_size == run->world_size;
    bool has_text = request->note.len > 0 || request->tag_count > 0;
    return (request->note.len == 0 || set_note(db, id, request->note, err)) &&
           (is_sized || set_world_size(db, id, request->world_size, err)) &&
           merge_tags(db, id, request->tags, request->tag_count, err) &&
           meta_merge(db, id, request->meta, request->meta_count, err) &&
           set_asked_steps(db, id, request, err) && (!has_text || runs_note_text(db, id, err));
}

// The same for a run that the caller may not change: what is already there may be repeated.
static bool repeat_run(struct db *db, const struct run_request *request,
                       const struct id_search *run, struct arena *arena, struct err *err)
{
    struct str before, after;
    return runs_said(db, run->id, arena, &before, err) && update_run(db, request, run, err) &&
           runs_said(db, run->id, arena, &after, err) &&
           (str_equal(before, after) || runs_deny(err));
}

// The run that a request names, by id or by project and name.
static bool find_requested(struct db *db, const struct run_request *request, struct arena *arena,
                           struct id_search *found, struct err *err)
{
    *found = (struct id_search){0};
    if (request->name.len == 0)
        return true;
    struct str by_id[2] = {request->name};
    struct str by_name[2] = {project_of(request), request->name};
    if (str_starts_with(request->name, STR("r_")) &&
        !runs_search(db, "SELECT id, world_size FROM run WHERE id = ?", by_id, arena, found, err))
        return false;
    return found->count ||
           runs_search(db, "SELECT id, world_size FROM run WHERE project = ? AND name = ?", by_name,
                       arena, found, err);
}

bool store_check_target(struct store *store, const struct run_request *request, struct err *err)
{
    struct txn txn;
    struct arena arena;
    struct id_search found;
    if (!store_check_run(request, err))
        return false;
    if (!sql_has_id_form('r', request->name))
        return true;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    arena_init(&arena, NULL);
    bool ok = find_requested(txn.db, request, &arena, &found, err) &&
              (found.count || check_no_id(request->name, err));
    arena_free(&arena);
    return txn_end(&txn, ok, err);
}

// For what follows, with which it is sent.
static bool hold_run(struct db *db, struct str id, struct err *err)
{
    if (!db->is_beside)
        return true;
    struct stmt stmt = sql_begin_holding(db, "SELECT 1 FROM run WHERE id = ?", "run", err);
    sql_bind_text(&stmt, id);
    return sql_run_later(&stmt);
}

bool runs_get_or_create(struct db *db, const struct run_request *request, struct arena *arena,
                        struct str *id, struct err *err)
{
    struct id_search found;
    if (!store_check_run(request, err) || !find_requested(db, request, arena, &found, err))
        return false;
    if (found.count == 0)
        return txn_has_turn(db, err) && insert_run(db, request, arena, id, err);
    *id = found.id;
    bool locked = false;
    if (!hold_run(db, *id, err) || !runs_is_locked(db, *id, request, &locked, err))
        return false;
    return locked ? repeat_run(db, request, &found, arena, err)
                  : update_run(db, request, &found, err);
}

// Empty runs are rows that cost a client almost nothing to create.
static bool check_empty_runs(struct db *db, struct str owner, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT count(*) FROM run WHERE owner = ? AND status = 'empty'", err);
    sql_bind_text(&stmt, owner);
    int64_t count = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt) &&
           (count < STORE_MAX_EMPTY_RUNS ||
            err_set(err, ERR_BUSY, "%lld runs already wait for their first trace, the limit is %d",
                    (long long)count, STORE_MAX_EMPTY_RUNS));
}

static bool create_run(struct db *db, const struct run_request *request, struct arena *arena,
                       struct run *run, struct err *err)
{
    struct id_search found;
    struct str id;
    if (!store_check_run(request, err) || !find_requested(db, request, arena, &found, err))
        return false;
    if (found.count)
        return err_set(err, ERR_CONFLICT, "run '%.*s' already exists, %.*s", (int)request->name.len,
                       request->name.at, (int)found.id.len, found.id.at);
    return check_empty_runs(db, request->owner, err) && insert_run(db, request, arena, &id, err) &&
           runs_load(db, id, arena, run, err);
}

bool store_create_run(struct store *store, const struct run_request *request, struct arena *arena,
                      struct run *run, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = create_run(txn.db, request, arena, run, err);
    return txn_end(&txn, ok, err);
}

// --- changing -----------------------------------------------------------------------------------

// The statement selects a revision by the run's id.
static bool compare_revision(struct stmt stmt, struct str id, int64_t expected, struct err *err)
{
    sql_bind_text(&stmt, id);
    int64_t revision = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    if (revision == 0)
        return err_set(err, ERR_NOT_FOUND, "no run %.*s", (int)id.len, id.at);
    if (expected != STORE_ANY && revision != expected)
        return err_set(err, ERR_CONFLICT, "the run has changed: it is at revision %lld, not %lld",
                       (long long)revision, (long long)expected);
    return true;
}

bool runs_check_revision(struct db *db, struct str id, int64_t expected, struct err *err)
{
    return compare_revision(sql_begin(db, "SELECT revision FROM run WHERE id = ?", err), id,
                            expected, err);
}

static bool check_patch(const struct run_patch *patch, struct err *err)
{
    return (!patch->name ||
            (check_name("run name", *patch->name, err) && check_no_id(*patch->name, err))) &&
           (!patch->project || check_name("project", *patch->project, err)) &&
           (!patch->note || text_check("note", *patch->note, STORE_NOTE_MAX_BYTES, err)) &&
           (!patch->world_size || check_world_size(*patch->world_size, err)) &&
           check_steps(patch->step_pattern ? *patch->step_pattern : STR(""), patch->warmup_steps,
                       err) &&
           check_tags(patch->tags, patch->tag_count, err) &&
           meta_check(patch->meta, patch->meta_count, err);
}

// The name must be free in the target project.
static bool check_free(struct db *db, struct str id, const struct run_patch *patch, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT other.id FROM run AS other, run AS this WHERE this.id = ? "
                                 "AND other.id <> this.id AND other.name = coalesce(?, this.name) "
                                 "AND other.project = coalesce(?, this.project)",
                                 err);
    sql_bind_text(&stmt, id);
    bind_optional(&stmt, patch->name);
    bind_optional(&stmt, patch->project);
    bool is_taken = sql_row(&stmt);
    if (!sql_end(&stmt))
        return false;
    return !is_taken || err_set(err, ERR_CONFLICT, "the project has another run of that name");
}

#define FORGET_TAGS "DELETE FROM run_tag WHERE run_id = ?"

// Whether a run will be in another series, or the same one of another project.
static bool will_move(struct db *db, struct str id, const struct run_patch *patch,
                      struct str series, bool *moves, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT 1 FROM run WHERE id = ? AND (series <> coalesce(?, series) "
                  "OR project <> coalesce(?, project))",
                  err);
    sql_bind_text(&stmt, id);
    bind_optional(&stmt, patch->name ? &series : NULL);
    bind_optional(&stmt, patch->project);
    *moves = sql_row(&stmt);
    return sql_end(&stmt);
}

// Alerts move with their runs.
static bool arrive(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE alert SET (project, series) = (SELECT project, series "
                                 "FROM stored_run WHERE id = ?1) WHERE run_id = ?1",
                                 err);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && series_join(db, id, err);
}

static bool patch_run(struct db *db, struct str id, const struct run_patch *patch, struct err *err)
{
    bool moves;
    struct str series = patch->name ? series_of(*patch->name) : STR("");
    if (!will_move(db, id, patch, series, &moves, err) || (moves && !series_leave(db, id, err)))
        return false;
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE stored_run SET name = coalesce(?, name), series = coalesce(?, series), "
                  "project = coalesce(?, project), note = coalesce(?, note), "
                  "revision = revision + 1 WHERE id = ?",
                  err);
    bind_optional(&stmt, patch->name);
    bind_optional(&stmt, patch->name ? &series : NULL);
    bind_optional(&stmt, patch->project);
    bind_optional(&stmt, patch->note);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && (!moves || arrive(db, id, err)) &&
           (!patch->world_size || set_world_size(db, id, *patch->world_size, err)) &&
           (!patch->forgets_tags || sql_run_with(db, FORGET_TAGS, id, err)) &&
           merge_tags(db, id, patch->tags, patch->tag_count, err) &&
           meta_merge(db, id, patch->meta, patch->meta_count, err) &&
           set_steps(db, id, patch->step_pattern, patch->warmup_steps, err) &&
           runs_note_text(db, id, err);
}

bool store_patch_run(struct store *store, struct str id, const struct run_patch *patch,
                     int64_t expected, struct err *err)
{
    struct txn txn;
    if (!check_patch(patch, err) || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = runs_check_revision(txn.db, id, expected, err) &&
              check_free(txn.db, id, patch, err) && patch_run(txn.db, id, patch, err);
    return txn_end(&txn, ok, err);
}

bool store_delete_run(struct store *store, struct str id, int64_t expected, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = compare_revision(
        sql_begin(txn.db, "SELECT revision FROM stored_run WHERE id = ?", err), id, expected, err);
    ok = ok && runs_drop(txn.db, id, err);
    return txn_end(&txn, ok, err);
}

bool store_finalize_run(struct store *store, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db, "UPDATE stored_run SET finalized_ns = coalesce(finalized_ns, ?) WHERE id = ?", err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, id);
    bool ok = sql_run(&stmt) && sql_touch_run(txn.db, id, err);
    return txn_end(&txn, ok, err);
}
