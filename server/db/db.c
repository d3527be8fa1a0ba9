// SPDX-License-Identifier: Apache-2.0
// Statements for any kind of database: binding, stepping and reading, with one error kept for the
// end.
#include "server/db/db.h"

#include <string.h>

const struct db_kind *const db_kinds[] = {&db_sqlite, &db_postgres, NULL};

// --- connections --------------------------------------------------------------------------------

static const struct db_kind *kind_of(const char *place, struct err *err)
{
    for (size_t i = 0; db_kinds[i]; i++)
        if (db_kinds[i]->is_place(place))
            return db_kinds[i];
    err_set(err, ERR_USAGE, "%.200s is no place of a database", place);
    return NULL;
}

struct db *db_open(const char *place, enum db_access access, const struct db_watch *watch,
                   struct err *err)
{
    const struct db_kind *kind = kind_of(place, err);
    return kind ? kind->open(place, access, watch, err) : NULL;
}

struct db *db_open_existing(const char *place, struct err *err)
{
    const struct db_kind *kind = kind_of(place, err);
    if (!kind)
        return NULL;
    if (kind->exists(place))
        return kind->open(place, DB_READ, NULL, err);
    err_set(err, ERR_NOT_FOUND, "found no database %s", place);
    return NULL;
}

void db_close(struct db *db, bool flush)
{
    if (db)
        db->kind->close(db, flush);
}

int64_t db_changes(struct db *db)
{
    return db->kind->changes(db);
}

// --- statements ---------------------------------------------------------------------------------

struct stmt sql_begin(struct db *db, const char *text, struct err *err)
{
    struct stmt stmt = {.db = db, .err = err};
    const char *rest;
    stmt.failed = !db->kind->prepare(&stmt, text, &rest);
    return stmt;
}

void sql_bind_text(struct stmt *stmt, struct str value)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_text(stmt, value, false);
}

void sql_bind_text_copy(struct stmt *stmt, struct str value)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_text(stmt, value, true);
}

void sql_bind_i64(struct stmt *stmt, int64_t value)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_i64(stmt, value);
}

void sql_bind_u64(struct stmt *stmt, uint64_t value)
{
    sql_bind_i64(stmt, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void sql_bind_f64(struct stmt *stmt, double value)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_f64(stmt, value);
}

void sql_bind_null(struct stmt *stmt)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_null(stmt);
}

void sql_bind_i64_if(struct stmt *stmt, bool known, int64_t value)
{
    if (known)
        sql_bind_i64(stmt, value);
    else
        sql_bind_null(stmt);
}

void sql_bind_f64_if(struct stmt *stmt, bool known, double value)
{
    if (known)
        sql_bind_f64(stmt, value);
    else
        sql_bind_null(stmt);
}

void sql_bind_text_if(struct stmt *stmt, bool known, struct str value)
{
    if (known)
        sql_bind_text(stmt, value);
    else
        sql_bind_null(stmt);
}

void sql_bind_bytes(struct stmt *stmt, struct str bytes)
{
    stmt->bound++;
    stmt->failed = stmt->failed || !stmt->db->kind->bind_bytes(stmt, bytes);
}

bool sql_row(struct stmt *stmt)
{
    if (stmt->failed)
        return false;
    enum db_step step = stmt->db->kind->step(stmt);
    stmt->failed = step == DB_FAILED;
    return step == DB_ROW;
}

void sql_reset(struct stmt *stmt)
{
    stmt->failed = stmt->failed || !stmt->db->kind->reset(stmt);
    stmt->bound = 0;
}

void sql_step(struct stmt *stmt)
{
    while (sql_row(stmt))
        continue;
    sql_reset(stmt);
}

bool sql_end(struct stmt *stmt)
{
    bool ok = stmt->db->kind->finish(stmt); // also reports columns that could not be read
    stmt->at = NULL;
    stmt->failed = stmt->failed || !ok;
    return !stmt->failed;
}

bool sql_run(struct stmt *stmt)
{
    sql_step(stmt);
    return sql_end(stmt);
}

void sql_step_later(struct stmt *stmt)
{
    bool (*run_later)(struct stmt *) = stmt->db->kind->run_later;
    if (!run_later) {
        sql_step(stmt);
        return;
    }
    stmt->failed = stmt->failed || !run_later(stmt);
    sql_reset(stmt);
}

bool sql_run_later(struct stmt *stmt)
{
    sql_step_later(stmt);
    return sql_end(stmt);
}

bool sql_execute(struct db *db, const char *text, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    return sql_run(&stmt);
}

bool sql_may_be_kept(const char *text)
{
    static const char *const starts[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

bool sql_execute_all(struct db *db, const char *text, struct err *err)
{
    while (*text) {
        struct stmt stmt = {.db = db, .err = err};
        if (!db->kind->prepare(&stmt, text, &text))
            return false;
        if (!stmt.at)
            break; // only whitespace and comments are left
        if (!sql_run(&stmt))
            return false;
    }
    return true;
}

bool sql_is_null(const struct stmt *stmt, int column)
{
    return stmt->failed || stmt->db->kind->is_null(stmt, column);
}

bool sql_is_i64(const struct stmt *stmt, int column)
{
    return !stmt->failed && stmt->db->kind->is_i64(stmt, column);
}

int64_t sql_i64(const struct stmt *stmt, int column)
{
    return stmt->failed ? 0 : stmt->db->kind->i64(stmt, column);
}

int64_t sql_i64_or(const struct stmt *stmt, int column, int64_t if_null)
{
    return sql_is_null(stmt, column) ? if_null : sql_i64(stmt, column);
}

double sql_f64(const struct stmt *stmt, int column)
{
    return stmt->failed ? 0 : stmt->db->kind->f64(stmt, column);
}

struct str sql_bytes(const struct stmt *stmt, int column)
{
    return stmt->failed ? (struct str){"", 0} : stmt->db->kind->bytes(stmt, column);
}

struct str sql_text(struct stmt *stmt, int column, struct arena *arena)
{
    struct str value = sql_bytes(stmt, column);
    if (stmt->failed || value.len == 0)
        return (struct str){"", 0};
    value.at = arena_strdup(arena, value, stmt->err);
    stmt->failed = !value.at;
    return value.at ? value : (struct str){"", 0};
}
