// SPDX-License-Identifier: Apache-2.0
// Settles a trace's rank in its run, once its file was read.
#include "server/store/rank_name.h"
#include "server/store/store_sql.h"

// A trace whose rank is being settled.
struct placing {
    struct db *db;
    struct arena *arena;
    struct str run_id, trace_id;
    bool is_process; // one of several of its file, of which the file's name says nothing
    bool replaces;
    int64_t uploaded_ns;
    bool superseded;     // a later upload has replaced it before it was read
    int64_t rank;        // found so far, or STORE_NO_RANK
    const char *from;    // where it was found
    const char *warning; // NULL: none
};

static bool first_free_rank(struct placing *placing, int64_t *rank, struct err *err)
{
    struct stmt stmt = sql_begin(
        placing->db, "SELECT rank FROM trace WHERE run_id = ? AND rank IS NOT NULL ORDER BY rank",
        err);
    sql_bind_text(&stmt, placing->run_id);
    *rank = 0;
    while (sql_row(&stmt) && sql_i64(&stmt, 0) == *rank)
        (*rank)++;
    return sql_end(&stmt);
}

// The trace that has a rank now.
struct holder {
    struct str trace_id; // "": none
    struct str filename;
    bool is_named;     // it got the rank by its name
    bool has_no_claim; // because it was free
    bool failed;       // it could not be read, so replacing it loses nothing
    bool supersedes;   // it was to replace what had been uploaded before it
};

static bool find_holder(struct placing *placing, int64_t rank, struct holder *holder,
                        struct err *err)
{
    struct stmt stmt = sql_begin(placing->db,
                                 "SELECT id, filename, rank_from = 'filename', rank_from = 'next', "
                                 "state = 'failed', replaces = 1 AND uploaded_ns > ? FROM trace "
                                 "WHERE run_id = ? AND rank = ?",
                                 err);
    sql_bind_i64(&stmt, placing->uploaded_ns);
    sql_bind_text(&stmt, placing->run_id);
    sql_bind_i64(&stmt, rank);
    *holder = (struct holder){0};
    if (sql_row(&stmt))
        *holder = (struct holder){sql_text(&stmt, 0, placing->arena),
                                  sql_text(&stmt, 1, placing->arena),
                                  sql_i64(&stmt, 2) != 0,
                                  sql_i64(&stmt, 3) != 0,
                                  sql_i64(&stmt, 4) != 0,
                                  sql_i64(&stmt, 5) != 0};
    return sql_end(&stmt);
}

// A holder that has the rank only because it was free moves to another free one.
static bool move_holder(struct placing *placing, struct str trace_id, struct err *err)
{
    int64_t free_rank;
    if (!first_free_rank(placing, &free_rank, err))
        return false;
    struct stmt stmt = sql_begin(placing->db, "UPDATE trace SET rank = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, free_rank);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt);
}

// Takes a rank for which there is evidence, if available. A number that no request can name is not
// a rank.
static bool try_rank(struct placing *placing, int64_t rank, const char *from, struct err *err)
{
    struct holder holder;
    if (rank < 0 || rank > INT32_MAX || placing->rank >= 0 || placing->superseded)
        return true;
    if (!find_holder(placing, rank, &holder, err))
        return false;
    bool is_taken = holder.trace_id.len > 0;
    if (is_taken && holder.has_no_claim) {
        if (!move_holder(placing, holder.trace_id, err))
            return false;
    } else if (is_taken && holder.supersedes) {
        placing->superseded = true;
        return true;
    } else if (is_taken && (placing->replaces || holder.failed)) {
        if (!traces_drop(placing->db, holder.trace_id, err))
            return false;
    } else if (is_taken) {
        placing->warning = arena_printf(
            placing->arena, err, "its %s says rank %lld, already taken by '%.*s' in this run", from,
            (long long)rank, (int)(holder.filename.len < 120 ? holder.filename.len : 120),
            holder.filename.at);
        return placing->warning != NULL;
    }
    placing->rank = rank;
    placing->from = from;
    return true;
}

static bool write_rank(struct placing *placing, struct err *err)
{
    struct stmt stmt = sql_begin(
        placing->db, "UPDATE trace SET rank = ?, rank_from = ?, warning = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, placing->rank);
    sql_bind_text(&stmt, str_of(placing->from));
    sql_bind_text_if(&stmt, placing->warning, str_of(placing->warning));
    sql_bind_text(&stmt, placing->trace_id);
    return sql_run(&stmt);
}

// Whether all traces of the run, more than this file, are in the folder: then it is not one rank's
// folder.
static bool holds_all(struct placing *placing, struct str filename, struct str folder, bool *all,
                      struct err *err)
{
    struct stmt stmt = sql_begin(placing->db,
                                 "SELECT filename FROM trace WHERE run_id = ? AND rank IS NOT NULL "
                                 "AND filename <> ?",
                                 err);
    sql_bind_text(&stmt, placing->run_id);
    sql_bind_text(&stmt, filename);
    *all = false;
    while (sql_row(&stmt) && (*all = str_starts_with(sql_text(&stmt, 0, placing->arena), folder)))
        ;
    return sql_end(&stmt);
}

// The first trace of such a folder was alone in it until now.
static bool give_up_claim(struct placing *placing, int64_t rank, struct err *err)
{
    struct holder holder;
    if (!find_holder(placing, rank, &holder, err))
        return false;
    if (!holder.is_named || !rank_name_of(holder.filename).folder.len)
        return true;
    struct stmt stmt =
        sql_begin(placing->db, "UPDATE trace SET rank_from = 'next' WHERE id = ?", err);
    sql_bind_text(&stmt, holder.trace_id);
    return sql_run(&stmt) && move_holder(placing, holder.trace_id, err);
}

static bool try_name(struct placing *placing, struct str filename, struct err *err)
{
    struct rank_name name = rank_name_of(filename);
    bool all = false;
    if (placing->rank >= 0 || placing->superseded || placing->is_process)
        return true;
    if (name.folder.len && !holds_all(placing, filename, name.folder, &all, err))
        return false;
    return all ? give_up_claim(placing, name.rank, err)
               : try_rank(placing, name.rank, "filename", err);
}

// In order: from the upload's field, the file's metadata, its name, the first free rank. Those of
// processes are put in order later (store_process_order.c).
static bool settle_rank(struct placing *placing, struct str filename, int64_t metadata_rank,
                        struct err *err)
{
    if (!try_rank(placing, metadata_rank, "metadata", err) || !try_name(placing, filename, err))
        return false;
    if (placing->superseded)
        return traces_drop(placing->db, placing->trace_id, err);
    if (placing->rank < 0) {
        placing->from = "next";
        if (!first_free_rank(placing, &placing->rank, err))
            return false;
    }
    return write_rank(placing, err);
}

// Reads the trace's row. *is_pending false: its rank is settled.
static bool look_at_trace(struct placing *placing, struct str *filename, bool *is_pending,
                          struct err *err)
{
    struct stmt stmt = sql_begin(placing->db,
                                 "SELECT filename, replaces, rank IS NULL, uploaded_ns, process <> "
                                 "0 FROM trace WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, placing->trace_id);
    *is_pending = false;
    if (sql_row(&stmt)) {
        *filename = sql_text(&stmt, 0, placing->arena);
        placing->replaces = sql_i64(&stmt, 1) != 0;
        *is_pending = sql_i64(&stmt, 2) != 0;
        placing->uploaded_ns = sql_i64(&stmt, 3);
        placing->is_process = sql_i64(&stmt, 4) != 0;
    }
    return sql_end(&stmt);
}

bool traces_settle_rank(struct db *db, const struct job *job, int64_t metadata_rank, bool *is_kept,
                        struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct placing placing = {.db = db,
                              .arena = &arena,
                              .run_id = job->run_id,
                              .trace_id = job->trace_id,
                              .rank = STORE_NO_RANK};
    struct str filename;
    bool is_pending;
    bool ok = look_at_trace(&placing, &filename, &is_pending, err) &&
              (!is_pending || settle_rank(&placing, filename, metadata_rank, err));
    *is_kept = !placing.superseded;
    arena_free(&arena);
    return ok;
}
