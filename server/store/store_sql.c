// SPDX-License-Identifier: Apache-2.0
// Statements of the store: strings without secrets, cells and tables; and ids.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"
#include "ingest/base/secrets.h"

#include <openssl/rand.h>

struct stmt sql_begin_holding(struct db *db, const char *text, const char *tables, struct err *err)
{
    struct buf held = {0};
    if (!db->is_beside)
        return sql_begin(db, text, err);
    buf_puts(&held, text);
    buf_puts(&held, db->kind->holding);
    buf_puts(&held, tables);
    struct stmt stmt = buf_ok(&held, err) ? sql_begin(db, held.at, err)
                                          : (struct stmt){.db = db, .failed = true, .err = err};
    buf_free(&held);
    return stmt;
}

void sql_bind_clean(struct stmt *stmt, struct str value)
{
    sql_bind_clean_value(stmt, STR(""), value);
}

void sql_bind_clean_value(struct stmt *stmt, struct str name, struct str value)
{
    struct buf clean = {0};
    uint64_t found = secrets_redact_value(name, value, &clean);
    stmt->failed = stmt->failed || !buf_ok(&clean, stmt->err);
    if (found)
        sql_bind_text_copy(stmt, (struct str){clean.at, clean.len});
    else
        sql_bind_text(stmt, value);
    buf_free(&clean);
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

struct cell sql_cell(struct stmt *stmt, int column, enum column_type type, struct arena *arena)
{
    if (sql_is_null(stmt, column))
        return cell_null();
    switch (type) {
    case COLUMN_I64: return cell_i64(sql_i64(stmt, column));
    case COLUMN_BOOL: return cell_bool(sql_i64(stmt, column) != 0);
    case COLUMN_F64: return cell_f64(sql_f64(stmt, column));
    case COLUMN_TEXT: return cell_text(sql_text(stmt, column, arena));
    }
    return cell_null();
}

static struct cell read_cell(struct stmt *stmt, int column, enum column_type type,
                             struct arena *arena)
{
    char time[CLOCK_RFC3339_SIZE];
    bool is_time = type == COLUMN_TEXT && sql_is_i64(stmt, column);
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
        table->cells = arena_more(arena, table->cells, table->row_count,
                                  width * sizeof *table->cells, stmt->err);
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

bool sql_run_with(struct db *db, const char *text, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

bool sql_end_ids(struct stmt *stmt, struct arena *arena, struct str **ids, size_t *count)
{
    *ids = NULL;
    *count = 0;
    while (sql_row(stmt)) {
        *ids = arena_more(arena, *ids, *count, sizeof **ids, stmt->err);
        if (!*ids) {
            stmt->failed = true;
            break;
        }
        (*ids)[(*count)++] = sql_text(stmt, 0, arena);
    }
    return sql_end(stmt);
}

// Without i, l, o and u: easy to read aloud.
static const char id_digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
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

bool sql_touch_run(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET revision = revision + 1 "
                                 "WHERE id = ? AND deleted_ns IS NULL",
                                 err);
    sql_bind_text(&stmt, run_id);
    if (!sql_run(&stmt))
        return false;
    if (db_changes(db) == 0)
        return err_set(err, ERR_NOT_FOUND, "no run %.*s", (int)run_id.len, run_id.at);
    return true;
}

static struct str like(struct arena *arena, struct str text, bool escapes, struct err *err)
{
    if (text.len == 0)
        return (struct str){"", 0};
    char *out = arena_alloc(arena, 2 * text.len + 3, err);
    if (!out)
        return (struct str){NULL, 0};
    size_t len = 0;
    out[len++] = '%';
    for (size_t i = 0; i < text.len; i++) {
        bool special = strchr("%_\\", text.at[i]) && text.at[i];
        if (special && escapes)
            out[len++] = '\\';
        out[len++] = special && !escapes ? '_' : text.at[i];
    }
    out[len++] = '%';
    return (struct str){out, len};
}

struct str sql_like(struct arena *arena, struct str text, struct err *err)
{
    return like(arena, text, true, err);
}

struct str sql_like_more(struct arena *arena, struct str text, struct err *err)
{
    return like(arena, text, false, err);
}
