// SPDX-License-Identifier: Apache-2.0
// A copy of a database: who may be copied to whom, and table by table what is there already.
#include "server/store/store_copy.h"

#include "server/store/store_copy_table.h"

#include <stdio.h>
#include <stdlib.h>

struct store_copy {
    struct db *from, *to;
    uint64_t rows; // seen in this pass
    const struct store_copy_watch *watch;
};

// --- who ----------------------------------------------------------------------------------------

static bool check_versions(struct store_copy *copy, struct err *err)
{
    int64_t from, to;
    if (!migrate_check(copy->from, err) || !migrate_schema(copy->to, err) ||
        !copy->from->kind->read_version(copy->from, &from, err) ||
        !copy->to->kind->read_version(copy->to, &to, err))
        return false;
    return from == to ||
           err_set(err, ERR_UNSUPPORTED,
                   "the source has schema %lld, this program %lld: start this program's service on "
                   "it once, then stop it",
                   (long long)from, (long long)to);
}

// Whether a service uses the database: it keeps a role for as long as it runs.
static bool check_unused(struct db *db, const char *which, struct err *err)
{
    int64_t now_ns, until_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "SELECT coalesce(max(until_ns), 0) FROM leader WHERE until_ns < ? "
                                 "AND role NOT LIKE 'hook %'",
                                 err);
    sql_bind_i64(&stmt, INT64_MAX);
    until_ns = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        return false;
    return until_ns <= now_ns ||
           err_set(err, ERR_BUSY,
                   "a service uses the %s: stop all of them, and try again in %lld s", which,
                   (long long)((until_ns - now_ns) / 1000000000 + 1));
}

static bool set_role(struct db *db, const char *role, struct str owner, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM leader WHERE role IN ('copy', 'copied')", err);
    if (!sql_run(&stmt))
        return false;
    stmt = sql_begin(db, "INSERT INTO leader VALUES (?, ?, ?)", err);
    sql_bind_text(&stmt, str_of(role));
    sql_bind_text(&stmt, owner);
    sql_bind_i64(&stmt, INT64_MAX);
    return sql_run(&stmt);
}

// The source's name, by which a copy of it is known.
static bool name_source(struct db *db, char name[STORE_ID_SIZE], struct err *err)
{
    char own[STORE_ID_SIZE];
    bool ok = store_new_name(own, err) && db->kind->begin(db, DB_WRITE, err) &&
              leader_keep(db, "origin", str_of(own), name, err) && db->kind->commit(db, err);
    if (!ok)
        db->kind->rollback(db);
    return ok;
}

static bool find_rows(struct db *db, const char *table, bool *found, struct err *err)
{
    char text[100];
    snprintf(text, sizeof text, "SELECT 1 FROM %s LIMIT 1", table);
    struct stmt stmt = sql_begin(db, text, err);
    *found = sql_row(&stmt);
    return sql_end(&stmt);
}

static bool check_empty(struct db *db, struct err *err)
{
    bool found = false;
    for (const struct copied_table *table = copied_tables; table->name; table++) {
        if (!find_rows(db, table->name, &found, err))
            return false;
        if (found)
            return err_set(err, ERR_CONFLICT,
                           "the target has other data (in the table %s), expected an empty "
                           "database or an earlier copy of this source",
                           table->name);
    }
    return true;
}

// Whose copy the target has; "" if none.
static bool copied_from(struct db *db, char name[STORE_ID_SIZE], struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT owner FROM leader WHERE role IN ('copy', 'copied')", err);
    struct str owner = sql_row(&stmt) ? sql_bytes(&stmt, 0) : STR("");
    snprintf(name, STORE_ID_SIZE, "%.*s", (int)owner.len, owner.at);
    return sql_end(&stmt);
}

static bool take_target(struct store_copy *copy, const char *source, struct err *err)
{
    char earlier[STORE_ID_SIZE];
    if (!check_unused(copy->to, "target", err) || !copied_from(copy->to, earlier, err))
        return false;
    bool goes_on = earlier[0] != '\0';
    if (goes_on && strcmp(earlier, source) != 0)
        return err_set(err, ERR_CONFLICT, "the target has a copy of another source");
    return (goes_on || check_empty(copy->to, err)) &&
           set_role(copy->to, "copy", str_of(source), err);
}

static bool mark_target(struct store_copy *copy, const char *source, struct err *err)
{
    bool ok = copy->to->kind->begin(copy->to, DB_WRITE, err) && take_target(copy, source, err) &&
              copy->to->kind->commit(copy->to, err);
    if (!ok)
        copy->to->kind->rollback(copy->to);
    return ok;
}

static bool take_both(struct store_copy *copy, struct err *err)
{
    char source[STORE_ID_SIZE];
    bool is_alone = false;
    if (!check_versions(copy, err) || !check_unused(copy->from, "source", err) ||
        !name_source(copy->from, source, err) ||
        !copy->to->kind->take_alone(copy->to, &is_alone, err))
        return false;
    return is_alone ? mark_target(copy, source, err)
                    : err_set(err, ERR_BUSY, "another copy into the target is at work");
}

// Checked first, since opening a database for writing creates it.
static bool check_source(const char *from, struct err *err)
{
    struct db *db = db_open_existing(from, err);
    db_close(db, true);
    return db;
}

struct store_copy *store_copy_open(const char *from, const char *to, struct err *err)
{
    struct store_copy *copy = calloc(1, sizeof *copy);
    if (!copy) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    copy->from = check_source(from, err) ? db_open(from, DB_WRITE, NULL, err) : NULL;
    copy->to = copy->from ? db_open(to, DB_WRITE, NULL, err) : NULL;
    if (copy->to && take_both(copy, err))
        return copy;
    store_copy_close(copy);
    return NULL;
}

void store_copy_close(struct store_copy *copy)
{
    if (!copy)
        return;
    db_close(copy->from, true);
    db_close(copy->to, true);
    free(copy);
}

bool store_copy_has_mark(struct store_copy *copy, bool *has_mark, struct err *err)
{
    struct stmt stmt = sql_begin(copy->to, "SELECT 1 FROM leader WHERE role = 'place'", err);
    *has_mark = sql_row(&stmt);
    return sql_end(&stmt);
}

bool store_copy_keep_mark(struct store_copy *copy, const char *mark, char kept[STORE_ID_SIZE],
                          struct err *err)
{
    return leader_keep(copy->to, "place", str_of(mark), kept, err);
}

// --- table by table -----------------------------------------------------------------------------

static bool differs(const struct copied_table *table, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "the rows of %s are not those of the source: it has changed since the copy "
                   "began, or the target has; empty the target and copy again (files that are "
                   "there stay)",
                   table->name);
}

struct passing {
    struct store_copy *copy;
    const struct copied_table *table;
    struct copied_columns columns;
    bool inserts; // what is missing; otherwise that is an error
};

// Some rows of the source, and what the target has in their place.
static bool pass_rows(struct passing *passing, const struct copied_rows *rows,
                      struct copied_range range, struct err *err)
{
    struct store_copy *copy = passing->copy;
    struct copied_rows there;
    bool ok = copied_rows_read(copy->to, passing->table, &passing->columns, range, &there, err);
    bool equal = ok && copied_rows_equal(&passing->columns, rows, &there);
    bool is_missing = ok && there.count == 0 && passing->inserts;
    arena_free(&there.arena);
    if (!ok || equal)
        return ok;
    return is_missing ? copied_rows_insert(copy->to, passing->table, &passing->columns, rows, err)
                      : differs(passing->table, err);
}

// The key of the last row, for the next range; the values stay in the arena of these rows.
static bool pass_next(struct passing *passing, struct copied_rows *before, bool *more,
                      struct err *err)
{
    const struct copied_table *table = passing->table;
    size_t width = (size_t)passing->columns.count;
    struct copied_rows rows;
    struct copied_range range = {
        .after = before->count ? &before->values[(before->count - 1) * width] : NULL,
        .most = table->rows};
    bool ok = copied_rows_read(passing->copy->from, table, &passing->columns, range, &rows, err);
    *more = ok && rows.count == (size_t)table->rows;
    range.last = *more ? &rows.values[(rows.count - 1) * width] : NULL;
    range.most = table->rows + 1; // one more than there may be
    ok = ok && pass_rows(passing, &rows, range, err);
    passing->copy->rows += rows.count;
    arena_free(&before->arena);
    *before = rows;
    return ok;
}

static bool count_rows(struct db *db, const struct copied_table *table, int64_t *count,
                       struct err *err)
{
    char text[300];
    snprintf(text, sizeof text, "SELECT count(*) FROM %s WHERE %s", table->name,
             table->where ? table->where : "1 = 1");
    struct stmt stmt = sql_begin(db, text, err);
    *count = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// Counts the rows: after a key that had to be cleaned, rows near it may have been skipped.
static bool check_count(struct passing *passing, uint64_t passed, struct err *err)
{
    int64_t from, to;
    if (!count_rows(passing->copy->from, passing->table, &from, err) ||
        !count_rows(passing->copy->to, passing->table, &to, err))
        return false;
    return (from == to && (uint64_t)from == passed) ||
           err_set(err, ERR_CONFLICT,
                   "the table %s has %lld rows in the source and %lld in the target, of which %llu "
                   "were compared",
                   passing->table->name, (long long)from, (long long)to,
                   (unsigned long long)passed);
}

static bool pass_table(struct passing *passing, struct err *err)
{
    struct store_copy *copy = passing->copy;
    struct copied_columns there;
    struct copied_rows rows = {.count = 0};
    bool more = true;
    if (!copied_columns_read(copy->from, passing->table, &passing->columns, err) ||
        !copied_columns_read(copy->to, passing->table, &there, err))
        return false;
    if (!copied_columns_equal(&passing->columns, &there))
        return err_set(err, ERR_INTERNAL, "the table %s has other columns in the target",
                       passing->table->name);
    arena_init(&rows.arena, NULL);
    bool ok = true;
    uint64_t before = copy->rows;
    while (ok && more) {
        ok = pass_next(passing, &rows, &more, err);
        copy->watch->tell(copy->watch->context, passing->table->name, copy->rows);
    }
    arena_free(&rows.arena);
    return ok && (passing->inserts || check_count(passing, copy->rows - before, err));
}

static bool pass(struct store_copy *copy, const struct store_copy_watch *watch, bool inserts,
                 struct err *err)
{
    copy->rows = 0;
    copy->watch = watch;
    for (const struct copied_table *table = copied_tables; table->name; table++) {
        struct passing passing = {.copy = copy, .table = table, .inserts = inserts};
        if (!pass_table(&passing, err))
            return false;
    }
    return true;
}

bool store_copy_rows(struct store_copy *copy, const struct store_copy_watch *watch, struct err *err)
{
    bool ok = pass(copy, watch, true, err);
    for (const struct copied_table *table = copied_tables; ok && table->name; table++)
        ok = !table->counts_ids || copy->to->kind->continue_ids(copy->to, table->name, err);
    return ok;
}

bool store_copy_compare(struct store_copy *copy, const struct store_copy_watch *watch,
                        uint64_t *rows, struct err *err)
{
    bool ok = pass(copy, watch, false, err);
    *rows = copy->rows;
    return ok;
}

bool store_copy_end(struct store_copy *copy, struct err *err)
{
    return runs_index_texts(copy->to, err) &&
           sql_execute(copy->to, "UPDATE leader SET role = 'copied' WHERE role = 'copy'", err);
}

// --- services -----------------------------------------------------------------------------------

static bool forget(struct db *db, bool *is_open, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT 1 FROM leader WHERE role = 'copy'", err);
    *is_open = sql_row(&stmt);
    return sql_end(&stmt) && (*is_open || sql_execute(db,
                                                      "DELETE FROM leader WHERE role = "
                                                      "'copied'",
                                                      err));
}

bool store_check_copied(struct store *store, struct err *err)
{
    struct txn txn;
    bool is_open = false;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = forget(txn.db, &is_open, err);
    if (!txn_end(&txn, ok, err))
        return false;
    return !is_open || err_set(err, ERR_CONFLICT,
                               "a copy into this database has not ended: run 'stepscope copy' "
                               "again; it continues where it stopped");
}
