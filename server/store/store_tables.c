// SPDX-License-Identifier: Apache-2.0
// Reports of traces and of runs, as tables in compressed parts.
#include "server/store/store_sql.h"

#include "server/store/store_inputs.h"

#include "analysis/report/report_parts.h"

#define REPORT_MAX_BYTES ((size_t)1 << 30) // of all tables in one, as older programs stored them

// --- whose tables -------------------------------------------------------------------------------

// The statements on the tables of traces, or of runs. "IN (" is followed by names.
struct statements {
    const char *forget_first, *forget_later;
    const char *insert_first, *insert_later;
    const char *some_first, *some_later;
    const char *first, *later;
};

#define STATEMENTS(of)                                                                          \
    {                                                                                           \
        .forget_first = "DELETE FROM " of "_table WHERE " of "_id = ?",                         \
        .forget_later = "DELETE FROM " of "_table_part WHERE " of "_id = ?",                    \
        .insert_first = "INSERT INTO " of "_table VALUES (?, ?, ?)",                            \
        .insert_later = "INSERT INTO " of "_table_part VALUES (?, ?, ?, ?)",                    \
        .some_first = "SELECT name, 0, report FROM " of "_table WHERE " of "_id = ? "           \
                      "AND name IN (",                                                          \
        .some_later = "SELECT name, part, report FROM " of "_table_part WHERE " of "_id = ? "   \
                      "AND name IN (",                                                          \
        .first = "SELECT name, 0, report, EXISTS (SELECT 1 FROM " of "_table_part WHERE " of    \
                 "_id = ?1 "                                                                    \
                 "AND name = ?2 AND part = 1) FROM " of "_table WHERE " of "_id = ?1 "          \
                 "AND name = ?2",                                                               \
        .later = "SELECT name, part, report, EXISTS (SELECT 1 FROM " of "_table_part WHERE " of \
                 "_id = ?1 "                                                                    \
                 "AND name = ?2 AND part = ?3 + 1) FROM " of "_table_part WHERE " of            \
                 "_id = ?1 AND name = ?2 AND part = ?3",                                        \
    }

static const struct statements of_traces = STATEMENTS("trace"), of_runs = STATEMENTS("run"),
                               of_inputs = STATEMENTS("input");

// A trace, a run, or an attachment that was read.
struct owner {
    const struct statements *sql;
    struct str id;
};

// --- writing ------------------------------------------------------------------------------------

// Tables being stored.
struct storing {
    struct stmt first, later;
    struct str id; // of the owner
    int64_t bytes;
};

static bool store_part(struct storing *storing, const struct report_part *part)
{
    struct stmt *insert = part->number ? &storing->later : &storing->first;
    sql_bind_text(insert, storing->id);
    sql_bind_text(insert, str_of(part->desc->name));
    if (part->number)
        sql_bind_u64(insert, part->number);
    sql_bind_bytes(insert, part->frame);
    sql_step_later(insert);
    storing->bytes += (int64_t)part->frame.len;
    return !insert->failed;
}

static bool insert_parts(struct db *db, const struct owner *owner,
                         const struct table_desc *const *known, int fd, int64_t *bytes,
                         struct err *err)
{
    struct storing storing = {.id = owner->id};
    struct report_parts parts;
    bool found = true, ok = true;
    storing.first = sql_begin(db, owner->sql->insert_first, err);
    storing.later = sql_begin(db, owner->sql->insert_later, err);
    report_parts_open(&parts, fd, known);
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = store_part(&storing, &parts.part);
    report_parts_close(&parts);
    bool ended = sql_end(&storing.first);
    *bytes = storing.bytes;
    return sql_end(&storing.later) && ended && ok;
}

static bool forget(struct db *db, const char *text, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, id);
    return sql_run_later(&stmt);
}

static bool forget_tables(struct db *db, const struct owner *owner, struct err *err)
{
    return forget(db, owner->sql->forget_first, owner->id, err) &&
           forget(db, owner->sql->forget_later, owner->id, err);
}

bool tables_forget_trace(struct db *db, struct str trace_id, struct err *err)
{
    return forget_tables(db, &(struct owner){&of_traces, trace_id}, err);
}

bool tables_save_trace(struct db *db, struct str trace_id, int tables, int64_t *bytes,
                       struct err *err)
{
    // A row of trace_report says that there is a report.
    struct owner owner = {&of_traces, trace_id};
    struct stmt head =
        sql_begin(db,
                  "INSERT INTO trace_report VALUES (?, ?, ?) ON CONFLICT (trace_id) DO UPDATE SET "
                  "version = excluded.version, report = excluded.report",
                  err);
    sql_bind_text(&head, trace_id);
    sql_bind_i64(&head, ANALYSIS_VERSION);
    sql_bind_bytes(&head, STR(""));
    return sql_run_later(&head) && insert_parts(db, &owner, trace_tables, tables, bytes, err);
}

bool tables_save_run(struct db *db, struct str run_id, int tables, int64_t *bytes, struct err *err)
{
    struct owner owner = {&of_runs, run_id};
    return forget_tables(db, &owner, err) &&
           insert_parts(db, &owner, run_tables, tables, bytes, err) &&
           figures_take(db, run_id, err);
}

bool tables_save_input(struct db *db, struct str input_id, int tables, struct err *err)
{
    struct owner owner = {&of_inputs, input_id};
    int64_t bytes;
    return forget_tables(db, &owner, err) &&
           insert_parts(db, &owner, evidence_tables, tables, &bytes, err);
}

// --- reading whole tables -----------------------------------------------------------------------

// A part as it is stored.
struct frame {
    struct str bytes;
    size_t most_bytes; // limit of its unpacked size
};

// Parts of some tables, in an arena: nothing is decompressed while a connection is held.
struct frames {
    struct arena arena;
    struct frame *at;
    size_t count;
};

static void put_select(struct buf *sql, const char *text, const struct table_desc *const *known)
{
    buf_puts(sql, text);
    for (size_t i = 0; known[i]; i++)
        buf_puts(sql, i ? ", ?" : "?");
    buf_puts(sql, ") ORDER BY 1, 2");
}

static bool take_frame(void *context, struct stmt *stmt)
{
    struct frames *frames = context;
    frames->at =
        arena_more(&frames->arena, frames->at, frames->count, sizeof *frames->at, stmt->err);
    stmt->failed = stmt->failed || !frames->at;
    if (stmt->failed)
        return false;
    struct frame *frame = &frames->at[frames->count++];
    frame->most_bytes = sql_bytes(stmt, 0).len ? REPORT_PART_MOST_BYTES : REPORT_MAX_BYTES;
    frame->bytes = sql_text(stmt, 2, &frames->arena);
    return !stmt->failed;
}

// Some tables of an owner, and what to do with each of their parts.
struct walk {
    struct str id;
    const struct table_desc *const *known;
    bool (*take)(void *context, struct stmt *stmt); // false ends the walk
    void *context;
};

static bool each_part(struct db *db, const char *text, const struct walk *walk, struct err *err)
{
    const struct table_desc *const *known = walk->known;
    struct buf sql = {0};
    put_select(&sql, text, known);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        sql_bind_text(&stmt, walk->id);
        for (size_t i = 0; known[i]; i++)
            sql_bind_text(&stmt, str_of(known[i]->name));
        while (ok && sql_row(&stmt))
            ok = walk->take(walk->context, &stmt);
        ok = sql_end(&stmt) && ok;
    }
    buf_free(&sql);
    return ok;
}

static bool read_some(struct db *db, const struct owner *owner,
                      const struct table_desc *const *known, struct frames *frames, struct err *err)
{
    struct walk walk = {owner->id, known, take_frame, frames};
    return each_part(db, owner->sql->some_first, &walk, err) &&
           (frames->count == 0 || each_part(db, owner->sql->some_later, &walk, err));
}

// The older form, all tables of a trace in one frame without a name.
static bool read_older(struct db *db, struct str trace_id, struct frames *frames, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT '', 0, report FROM trace_report WHERE trace_id = ?", err);
    sql_bind_text(&stmt, trace_id);
    if (sql_row(&stmt))
        (void)take_frame(frames, &stmt);
    return sql_end(&stmt) &&
           (frames->count > 0 || err_set(err, ERR_NOT_FOUND, "trace %.*s has no report yet",
                                         (int)trace_id.len, trace_id.at));
}

// Data damaged on disk is not the client's input.
static bool unpack(const struct frame *frame, const struct table_desc *const *known,
                   struct report *report, struct err *err)
{
    if (frame->bytes.len == 0 || report_unpack(frame->bytes, frame->most_bytes, known, report, err))
        return true; // an empty one has no tables
    err->code = err->code == ERR_FORMAT ? ERR_IO : err->code;
    return false;
}

static bool unpack_all(const struct frames *frames, const struct table_desc *const *known,
                       struct report *report, struct err *err)
{
    for (size_t i = 0; i < frames->count; i++)
        if (!unpack(&frames->at[i], known, report, err))
            return false;
    return true;
}

static bool is_trace(const struct owner *owner)
{
    return owner->sql == &of_traces;
}

static bool load_some(struct store *store, const struct owner *owner,
                      const struct table_desc *const *known, struct report *report, struct err *err)
{
    struct frames frames = {0};
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    arena_init(&frames.arena, NULL);
    bool ok = read_some(txn.db, owner, known, &frames, err) &&
              (frames.count > 0 || !is_trace(owner) || read_older(txn.db, owner->id, &frames, err));
    ok = txn_end(&txn, ok, err) && unpack_all(&frames, known, report, err);
    arena_free(&frames.arena);
    return ok;
}

bool store_load_trace_tables(struct store *store, struct str trace_id,
                             const struct table_desc *const *known, struct report *report,
                             struct err *err)
{
    struct owner owner = {&of_traces, trace_id};
    return load_some(store, &owner, known, report, err);
}

bool store_load_trace_report(struct store *store, struct str trace_id, struct report *report,
                             struct err *err)
{
    return store_load_trace_tables(store, trace_id, trace_tables, report, err);
}

bool store_load_input_tables(struct store *store, struct str input_id,
                             const struct table_desc *const *known, struct report *report,
                             struct err *err)
{
    struct owner owner = {&of_inputs, input_id};
    return load_some(store, &owner, known, report, err);
}

bool store_load_run_tables(struct store *store, struct str run_id,
                           const struct table_desc *const *known, struct report *report,
                           struct err *err)
{
    struct owner owner = {&of_runs, run_id};
    return load_some(store, &owner, known, report, err);
}

bool store_load_run_report(struct store *store, struct str run_id, struct report *report,
                           struct err *err)
{
    return store_load_run_tables(store, run_id, run_tables, report, err);
}

bool tables_load_run(struct db *db, struct str run_id, const struct table_desc *const *known,
                     struct report *report, struct err *err)
{
    struct owner owner = {&of_runs, run_id};
    struct frames frames = {0};
    arena_init(&frames.arena, NULL);
    bool ok = read_some(db, &owner, known, &frames, err) && unpack_all(&frames, known, report, err);
    arena_free(&frames.arena);
    return ok;
}

// --- copying ------------------------------------------------------------------------------------

struct copying {
    const struct table_desc *const *known;
    int fd;
    size_t found;
    struct err *err;
};

// Writes a part as it is stored.
static bool take_copy(void *context, struct stmt *stmt)
{
    struct copying *copying = context;
    struct str name = sql_bytes(stmt, 0);
    struct report_part part = {.number = (uint64_t)sql_i64(stmt, 1), .frame = sql_bytes(stmt, 2)};
    while (!str_equal(str_of(copying->known[part.table]->name), name))
        part.table++;
    copying->found++;
    return report_part_write(&part, copying->fd, copying->err);
}

// *found: how many parts there were.
static bool copy_parts(struct store *store, const struct owner *owner,
                       const struct table_desc *const *known, int fd, size_t *found,
                       struct err *err)
{
    struct copying copying = {.known = known, .fd = fd, .err = err};
    struct walk walk = {owner->id, known, take_copy, &copying};
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    txn.db->kind->limit_time(txn.db, 0); // a disk too slow for it now will be too slow next time
    bool ok = each_part(txn.db, owner->sql->some_first, &walk, err) &&
              each_part(txn.db, owner->sql->some_later, &walk, err);
    *found = copying.found;
    return txn_end(&txn, ok, err);
}

bool store_copy_trace_parts(struct store *store, struct str trace_id,
                            const struct table_desc *const *known, int fd, struct err *err)
{
    struct owner owner = {&of_traces, trace_id};
    size_t found;
    return copy_parts(store, &owner, known, fd, &found, err) &&
           (found || err_set(err, ERR_BUSY, "trace %.*s is being analyzed again", (int)trace_id.len,
                             trace_id.at));
}

bool store_copy_input_parts(struct store *store, struct str input_id,
                            const struct table_desc *const *known, int fd, struct err *err)
{
    struct owner owner = {&of_inputs, input_id};
    size_t found;
    return copy_parts(store, &owner, known, fd, &found, err);
}

// --- a part at a time ---------------------------------------------------------------------------

// The first part sets the revision if none was asked for.
static bool check_revision(struct db *db, struct table_place *place, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT revision FROM run WHERE id = ?", err);
    sql_bind_text(&stmt, place->run_id);
    bool found = sql_row(&stmt);
    int64_t revision = found ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    if (found && place->revision == STORE_ANY)
        place->revision = revision;
    return (found && revision == place->revision) ||
           err_set(err, ERR_BUSY, "the run changed while its table was read");
}

static struct owner owner_of(const struct table_place *place)
{
    return place->trace_id.len ? (struct owner){&of_traces, place->trace_id}
                               : (struct owner){&of_runs, place->run_id};
}

static bool read_part(struct db *db, struct table_cursor *cursor, struct frames *frames,
                      struct err *err)
{
    struct owner owner = owner_of(&cursor->place);
    struct stmt stmt = sql_begin(db, cursor->next ? owner.sql->later : owner.sql->first, err);
    sql_bind_text(&stmt, owner.id);
    sql_bind_text(&stmt, str_of(cursor->place.desc->name));
    if (cursor->next)
        sql_bind_u64(&stmt, cursor->next);
    bool found = sql_row(&stmt);
    if (found)
        cursor->more = take_frame(frames, &stmt) && sql_i64(&stmt, 3) != 0;
    if (!sql_end(&stmt))
        return false;
    return found || cursor->next || !is_trace(&owner) || read_older(db, owner.id, frames, err);
}

bool store_read_part(struct store *store, struct table_cursor *cursor, struct report *report,
                     struct err *err)
{
    const struct table_desc *const known[] = {cursor->place.desc, NULL};
    struct frames frames = {0};
    struct txn txn;
    cursor->more = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    arena_init(&frames.arena, NULL);
    bool ok =
        check_revision(txn.db, &cursor->place, err) && read_part(txn.db, cursor, &frames, err);
    cursor->next++;
    ok = txn_end(&txn, ok, err) && unpack_all(&frames, known, report, err);
    arena_free(&frames.arena);
    return ok;
}
