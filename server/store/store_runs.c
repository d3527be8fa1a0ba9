// SPDX-License-Identifier: Apache-2.0
// Reading runs: one by id or name, or all of a page that was found (store_run_list.c).
#include "server/store/store_sql.h"

// --- reading ------------------------------------------------------------------------------------

#define LISTING                                                                                   \
    "SELECT id, name, project, series, note, created, revision, status, world_size, received, "   \
    "done, failed, error, gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner, " \
    "evidence "                                                                                   \
    "FROM run_listing "

static enum run_status status_of(struct str word)
{
    for (enum run_status status = RUN_EMPTY; status <= RUN_PARTIAL; status++)
        if (str_equal(word, str_of(run_status_word(status))))
            return status;
    return RUN_EMPTY;
}

static void read_run(struct stmt *stmt, struct run *run, struct arena *arena)
{
    run->id = sql_text(stmt, 0, arena);
    run->name = sql_text(stmt, 1, arena);
    run->project = sql_text(stmt, 2, arena);
    run->series = sql_text(stmt, 3, arena);
    run->note = sql_text(stmt, 4, arena);
    run->created_ns = sql_i64(stmt, 5);
    run->revision = sql_i64(stmt, 6);
    run->status = status_of(sql_bytes(stmt, 7));
    run->world_size = sql_i64_or(stmt, 8, -1);
    run->received = sql_i64(stmt, 9);
    run->done = sql_i64(stmt, 10);
    run->failed = sql_i64(stmt, 11);
    run->active = run->received - run->done - run->failed;
    run->error = sql_text(stmt, 12, arena);
    run->gpu = sql_cell(stmt, 13, COLUMN_TEXT, arena);
    run->trust_severity = sql_cell(stmt, 14, COLUMN_TEXT, arena);
    run->step_pattern = sql_text(stmt, 15, arena);
    run->warmup_steps = sql_i64_or(stmt, 16, -1);
    run->finalized = !sql_is_null(stmt, 17);
    run->owner = sql_text(stmt, 18, arena);
    run->evidence = sql_i64(stmt, 19);
}

// Tags or settings of a run.
static bool read_pairs(struct stmt *stmt, struct str run_id, struct arena *arena,
                       struct run_tag **pairs, size_t *count)
{
    sql_bind_text(stmt, run_id);
    while (sql_row(stmt)) {
        *pairs = arena_more(arena, *pairs, *count, sizeof **pairs, stmt->err);
        if (!*pairs) {
            stmt->failed = true;
            break;
        }
        (*pairs)[(*count)++] = (struct run_tag){sql_text(stmt, 0, arena), sql_text(stmt, 1, arena)};
    }
    sql_reset(stmt);
    return !stmt->failed;
}

static bool read_baselines(struct stmt *stmt, struct run *run, struct arena *arena)
{
    sql_bind_text(stmt, run->id);
    while (sql_row(stmt)) {
        run->baselines = arena_more(arena, run->baselines, run->baseline_count,
                                    sizeof *run->baselines, stmt->err);
        if (!run->baselines) {
            stmt->failed = true;
            break;
        }
        run->baselines[run->baseline_count++] = sql_text(stmt, 0, arena);
    }
    sql_reset(stmt);
    return !stmt->failed;
}

#define TAGS      "SELECT \"key\", value FROM run_tag WHERE run_id = ? ORDER BY \"key\""
#define META      "SELECT \"key\", value FROM metadata WHERE run_id = ? ORDER BY \"key\""
#define BASELINES "SELECT name FROM baseline WHERE run_id = ? ORDER BY name"

// The statements for reading one run after another.
struct loading {
    struct stmt run, figures, tags, meta, baselines;
};

static struct loading begin_loading(struct db *db, struct err *err)
{
    return (struct loading){sql_begin(db, LISTING "WHERE id = ?", err),
                            sql_begin(db, FIGURES_OF_RUN, err), sql_begin(db, TAGS, err),
                            sql_begin(db, META, err), sql_begin(db, BASELINES, err)};
}

static bool end_loading(struct loading *loading)
{
    bool run_ok = sql_end(&loading->run);
    run_ok = sql_end(&loading->figures) && run_ok;
    bool tags_ok = sql_end(&loading->tags);
    bool meta_ok = sql_end(&loading->meta);
    return sql_end(&loading->baselines) && run_ok && tags_ok && meta_ok;
}

static bool load_run(struct loading *loading, struct str id, struct arena *arena, struct run *run)
{
    *run = (struct run){0};
    sql_bind_text(&loading->run, id);
    bool found = sql_row(&loading->run);
    if (found)
        read_run(&loading->run, run, arena);
    sql_reset(&loading->run);
    if (found)
        figures_read(&loading->figures, arena, run);
    return found && read_pairs(&loading->tags, run->id, arena, &run->tags, &run->tag_count) &&
           read_pairs(&loading->meta, run->id, arena, &run->meta, &run->meta_count) &&
           read_baselines(&loading->baselines, run, arena);
}

bool runs_load(struct db *db, struct str id, struct arena *arena, struct run *run, struct err *err)
{
    struct loading loading = begin_loading(db, err);
    bool found = load_run(&loading, id, arena, run);
    if (!end_loading(&loading))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no run %.*s", (int)id.len, id.at);
}

bool runs_load_listed(struct db *db, struct arena *arena, struct run_list *list, struct err *err)
{
    struct loading loading = begin_loading(db, err);
    bool ok = true;
    for (size_t i = 0; ok && i < list->count; i++)
        ok = load_run(&loading, list->runs[i].id, arena, &list->runs[i]);
    return end_loading(&loading) && ok;
}

// --- finding ------------------------------------------------------------------------------------

bool runs_search(struct db *db, const char *text, const struct str parameters[2],
                 struct arena *arena, struct id_search *found, struct err *err)
{
    *found = (struct id_search){0};
    struct stmt stmt = sql_begin(db, text, err);
    for (int i = 0; i < 2; i++)
        if (parameters[i].at)
            sql_bind_text(&stmt, parameters[i]);
    while (found->count < 2 && sql_row(&stmt))
        if (found->count++ == 0) {
            found->id = sql_text(&stmt, 0, arena);
            found->world_size = sql_i64_or(&stmt, 1, -1);
        }
    return sql_end(&stmt);
}

// Splits "project/name" in two; false without a slash.
static bool split_project(struct str key, struct str both[2])
{
    size_t slash = str_find(key, STR("/"));
    if (slash == SIZE_MAX)
        return false;
    both[0] = (struct str){key.at, slash};
    both[1] = (struct str){key.at + slash + 1, key.len - slash - 1};
    return true;
}

// The newest of "series" or "project/series".
static bool search_latest(struct db *db, struct str key, struct arena *arena,
                          struct id_search *found, struct err *err)
{
    struct str series[2] = {key};
    return runs_search(db,
                       split_project(key, series)
                           ? "SELECT id FROM run WHERE project = ? AND series = ? "
                             "ORDER BY created_ns DESC, id LIMIT 1"
                           : "SELECT id FROM run WHERE series = ? "
                             "ORDER BY created_ns DESC, id LIMIT 1",
                       series, arena, found, err);
}

// Ids that match a key, by its form.
static bool resolve(struct db *db, struct str key, struct arena *arena, struct id_search *found,
                    struct err *err)
{
    struct str by_id[2] = {key};
    if (!runs_search(db, "SELECT id FROM run WHERE id = ?", by_id, arena, found, err))
        return false;
    if (found->count)
        return true;
    struct str pinned = STR(STORE_BASELINE_PREFIX);
    if (str_starts_with(key, pinned)) {
        struct str name[2] = {{key.at + pinned.len, key.len - pinned.len}};
        return runs_search(db, "SELECT run_id FROM baseline WHERE name = ?", name, arena, found,
                           err);
    }
    struct str latest = STR("~latest");
    if (key.len > latest.len &&
        str_equal((struct str){key.at + key.len - latest.len, latest.len}, latest))
        return search_latest(db, (struct str){key.at, key.len - latest.len}, arena, found, err);
    struct str both[2];
    if (split_project(key, both))
        return runs_search(db, "SELECT id FROM run WHERE project = ? AND name = ?", both, arena,
                           found, err);
    return runs_search(db, "SELECT id FROM run WHERE name = ? LIMIT 2", by_id, arena, found, err);
}

static bool find_run(struct db *db, struct str key, struct arena *arena, struct run *run,
                     struct err *err)
{
    struct id_search found;
    if (!resolve(db, key, arena, &found, err))
        return false;
    if (found.count == 0)
        return err_set(err, ERR_NOT_FOUND, "no run '%.*s'", (int)(key.len < 100 ? key.len : 100),
                       key.at);
    if (found.count > 1)
        return err_set(err, ERR_CONFLICT,
                       "several projects have a run '%.*s': name it by id or as project/name",
                       (int)key.len, key.at);
    return runs_load(db, found.id, arena, run, err);
}

bool store_find_run(struct store *store, struct str key, struct arena *arena, struct run *run,
                    struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = find_run(txn.db, key.at ? key : STR(""), arena, run, err);
    return txn_end(&txn, ok, err);
}
