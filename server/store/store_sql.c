// SPDX-License-Identifier: Apache-2.0
// Statements: binding, stepping and reading with one error kept for the end.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"
#include "ingest/base/secrets.h"

#include <errno.h>
#include <openssl/rand.h>

// A file that cannot be opened for want of descriptors is as good as ever.
static bool is_out_of_descriptors(sqlite3 *db)
{
    int reason = sqlite3_system_errno(db);
    return reason == EMFILE || reason == ENFILE;
}

enum err_code sql_code(sqlite3 *db, int rc)
{
    if (rc == SQLITE_IOERR_NOMEM)
        return ERR_MEMORY;
    switch (rc & 0xff) {
    case SQLITE_FULL: return ERR_SPACE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT: return ERR_BUSY; // a reader's time is over
    case SQLITE_CONSTRAINT: return ERR_CONFLICT;
    case SQLITE_NOMEM: return ERR_MEMORY;
    case SQLITE_TOOBIG: return ERR_LIMIT;
    case SQLITE_CANTOPEN: return is_out_of_descriptors(db) ? ERR_BUSY : ERR_IO;
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CORRUPT: // what we stored is not what a client sent: no ERR_FORMAT
    case SQLITE_NOTADB: return ERR_IO;
    default: return ERR_INTERNAL;
    }
}

static void fail(struct stmt *stmt, int rc)
{
    if (!stmt->failed)
        err_set(stmt->err, sql_code(stmt->db, rc), "database: %s", sqlite3_errmsg(stmt->db));
    stmt->failed = true;
}

static void check(struct stmt *stmt, int rc)
{
    if (rc != SQLITE_OK)
        fail(stmt, rc);
}

struct stmt sql_begin(sqlite3 *db, const char *text, struct err *err)
{
    struct stmt stmt = {.db = db, .err = err};
    check(&stmt, sqlite3_prepare_v2(db, text, -1, &stmt.at, NULL));
    return stmt;
}

void sql_bind_text(struct stmt *stmt, struct str value)
{
    if (!stmt->failed)
        check(stmt, sqlite3_bind_text64(stmt->at, ++stmt->bound, value.at ? value.at : "",
                                        value.len, SQLITE_STATIC, SQLITE_UTF8));
}

void sql_bind_clean(struct stmt *stmt, struct str value)
{
    sql_bind_clean_value(stmt, STR(""), value);
}

void sql_bind_clean_value(struct stmt *stmt, struct str name, struct str value)
{
    struct buf clean = {0};
    if (secrets_redact_value(name, value, &clean) == 0 && !clean.failed) {
        sql_bind_text(stmt, value);
    } else if (clean.failed) {
        fail(stmt, SQLITE_NOMEM);
    } else if (!stmt->failed) {
        check(stmt, sqlite3_bind_text64(stmt->at, ++stmt->bound, clean.at, clean.len,
                                        SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    buf_free(&clean);
}

void sql_bind_i64(struct stmt *stmt, int64_t value)
{
    if (!stmt->failed)
        check(stmt, sqlite3_bind_int64(stmt->at, ++stmt->bound, value));
}

void sql_bind_u64(struct stmt *stmt, uint64_t value)
{
    sql_bind_i64(stmt, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void sql_bind_f64(struct stmt *stmt, double value)
{
    if (!stmt->failed)
        check(stmt, sqlite3_bind_double(stmt->at, ++stmt->bound, value));
}

void sql_bind_null(struct stmt *stmt)
{
    if (!stmt->failed)
        check(stmt, sqlite3_bind_null(stmt->at, ++stmt->bound));
}

void sql_bind_bytes(struct stmt *stmt, struct str bytes)
{
    if (!stmt->failed)
        check(stmt,
              sqlite3_bind_blob64(stmt->at, ++stmt->bound, bytes.at, bytes.len, SQLITE_STATIC));
}

void sql_bind_cell(struct stmt *stmt, const struct column *column, const struct cell *cell)
{
    if (cell->null) {
        sql_bind_null(stmt);
        return;
    }
    switch (column->type) {
    case COLUMN_I64:
    case COLUMN_BOOL: sql_bind_i64(stmt, cell->i); break;
    case COLUMN_F64: sql_bind_f64(stmt, cell->f); break;
    case COLUMN_TEXT: sql_bind_text(stmt, cell->s); break;
    }
}

bool sql_row(struct stmt *stmt)
{
    if (stmt->failed)
        return false;
    int rc = sqlite3_step(stmt->at);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        fail(stmt, rc);
    return rc == SQLITE_ROW;
}

void sql_reset(struct stmt *stmt)
{
    if (!stmt->failed)
        check(stmt, sqlite3_reset(stmt->at));
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
    check(stmt, sqlite3_finalize(stmt->at)); // also tells of columns that could not be read
    stmt->at = NULL;
    return !stmt->failed;
}

bool sql_run(struct stmt *stmt)
{
    sql_step(stmt);
    return sql_end(stmt);
}

bool sql_is_null(const struct stmt *stmt, int column)
{
    return stmt->failed || sqlite3_column_type(stmt->at, column) == SQLITE_NULL;
}

int64_t sql_i64(const struct stmt *stmt, int column)
{
    return stmt->failed ? 0 : sqlite3_column_int64(stmt->at, column);
}

int64_t sql_i64_or(const struct stmt *stmt, int column, int64_t if_null)
{
    return sql_is_null(stmt, column) ? if_null : sql_i64(stmt, column);
}

struct str sql_bytes(const struct stmt *stmt, int column)
{
    if (stmt->failed)
        return (struct str){"", 0};
    const char *at = sqlite3_column_blob(stmt->at, column); // before its size: the documented order
    return (struct str){at ? at : "", (size_t)sqlite3_column_bytes(stmt->at, column)};
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

struct cell sql_cell(struct stmt *stmt, int column, enum column_type type, struct arena *arena)
{
    if (sql_is_null(stmt, column))
        return cell_null();
    switch (type) {
    case COLUMN_I64: return cell_i64(sql_i64(stmt, column));
    case COLUMN_BOOL: return cell_bool(sql_i64(stmt, column) != 0);
    case COLUMN_F64: return cell_f64(sqlite3_column_double(stmt->at, column));
    case COLUMN_TEXT: return cell_text(sql_text(stmt, column, arena));
    }
    return cell_null();
}

static struct cell read_cell(struct stmt *stmt, int column, enum column_type type,
                             struct arena *arena)
{
    char time[CLOCK_RFC3339_SIZE];
    bool is_time = type == COLUMN_TEXT && sqlite3_column_type(stmt->at, column) == SQLITE_INTEGER;
    if (!is_time)
        return sql_cell(stmt, column, type, arena);
    clock_rfc3339(sql_i64(stmt, column), time);
    struct str text = str_of(time);
    text.at = arena_strdup(arena, text, stmt->err);
    stmt->failed = stmt->failed || !text.at;
    return stmt->failed ? cell_null() : cell_text(text);
}

bool sql_end_table(struct stmt *stmt, struct arena *arena, struct table *table)
{
    unsigned width = table->desc->column_count;
    while (sql_row(stmt)) {
        table->cells = sql_grow(arena, table->cells, table->row_count, width * sizeof *table->cells,
                                stmt->err);
        if (!table->cells) {
            stmt->failed = true;
            break;
        }
        struct cell *row = &table->cells[table->row_count++ * width];
        for (unsigned i = 0; i < width && !stmt->failed; i++)
            row[i] = read_cell(stmt, (int)i, table->desc->columns[i].type, arena);
    }
    return sql_end(stmt);
}

static const char id_digits[] = "0123456789abcdefghjkmnpqrstvwxyz"; // no i l o u: easy to read out
enum { RUN_DIGITS = 8, OTHER_DIGITS = 12 };

static size_t id_digit_count(char prefix)
{
    return prefix == 'r' ? RUN_DIGITS : OTHER_DIGITS;
}

bool sql_new_id(char prefix, char id[STORE_ID_SIZE], struct err *err)
{
    unsigned char random[OTHER_DIGITS];
    if (RAND_bytes(random, sizeof random) != 1)
        return err_set(err, ERR_INTERNAL, "no random bytes for an id");
    size_t count = id_digit_count(prefix);
    id[0] = prefix;
    id[1] = '_';
    for (size_t i = 0; i < count; i++)
        id[2 + i] = id_digits[random[i] & 31];
    id[2 + count] = '\0';
    return true;
}

bool sql_has_id_form(char prefix, struct str text)
{
    if (text.len != 2 + id_digit_count(prefix) || text.at[0] != prefix || text.at[1] != '_')
        return false;
    for (size_t i = 2; i < text.len; i++)
        if (!memchr(id_digits, text.at[i], sizeof id_digits - 1))
            return false;
    return true;
}

bool sql_touch_run(sqlite3 *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET revision = revision + 1 "
                                 "WHERE id = ? AND deleted_ns IS NULL",
                                 err);
    sql_bind_text(&stmt, run_id);
    if (!sql_run(&stmt))
        return false;
    if (sqlite3_changes(db) == 0)
        return err_set(err, ERR_NOT_FOUND, "no run %.*s", (int)run_id.len, run_id.at);
    return true;
}

void *sql_grow(struct arena *arena, void *items, size_t count, size_t size, struct err *err)
{
    bool is_full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    if (!is_full)
        return items;
    void *grown = arena_array(arena, count < 8 ? 8 : count * 2, size, err);
    if (grown && count)
        memcpy(grown, items, count * size);
    return grown;
}

struct str sql_like(struct arena *arena, struct str text, struct err *err)
{
    if (text.len == 0)
        return (struct str){"", 0};
    char *out = arena_alloc(arena, 2 * text.len + 3, err);
    if (!out)
        return (struct str){NULL, 0};
    size_t len = 0;
    out[len++] = '%';
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("%_\\", text.at[i]) && text.at[i])
            out[len++] = '\\';
        out[len++] = text.at[i];
    }
    out[len++] = '%';
    return (struct str){out, len};
}
