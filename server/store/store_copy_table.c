// SPDX-License-Identifier: Apache-2.0
// The tables that a copy of a database has, and their rows, read, compared and inserted.
#include "server/store/store_copy_table.h"

#include "server/db/postgres_value.h"

#include <stdio.h>

// Tables with parts of up to a megabyte.
enum { FEW = 32, MANY = 500 };

const struct copied_table copied_tables[] = {
    {"stored_run", {"id"}, NULL, MANY, false},
    {"blob", {"sha256"}, NULL, MANY, false},
    {"trace", {"id"}, NULL, MANY, false},
    {"alert", {"id"}, NULL, MANY, false},
    {"audit", {"id"}, NULL, MANY, true},
    {"baseline", {"name"}, NULL, MANY, false},
    {"believed_clock", {"only_row"}, NULL, MANY, false},
    {"comment", {"id"}, NULL, MANY, false},
    {"database_check", {"kind"}, NULL, MANY, false},
    {"figure", {"run_id", "metric"}, NULL, MANY, false},
    {"finding_dismissal", {"run_id", "finding"}, NULL, MANY, false},
    {"garbage", {"kind", "name"}, NULL, MANY, false},
    {"input", {"id"}, "parent IS NULL", MANY, false},
    {"input", {"id"}, "parent IS NOT NULL", MANY, false},
    {"input_table", {"input_id", "name"}, NULL, FEW, false},
    {"input_table_part", {"input_id", "name", "part"}, NULL, FEW, false},
    {"job", {"id"}, NULL, MANY, true},
    {"level_change", {"run_id"}, NULL, MANY, false},
    {"metadata", {"run_id", "key"}, NULL, MANY, false},
    {"owner_bytes", {"who", "slot"}, NULL, MANY, false},
    {"promise", {"id"}, NULL, MANY, false},
    {"quota_day", {"who", "day", "slot"}, NULL, MANY, false},
    {"run_table", {"run_id", "name"}, NULL, FEW, false},
    {"run_table_part", {"run_id", "name", "part"}, NULL, FEW, false},
    {"run_tag", {"run_id", "key"}, NULL, MANY, false},
    {"run_text", {"id"}, NULL, MANY, true},
    {"saved_view", {"id"}, NULL, MANY, false},
    {"series", {"project", "series"}, NULL, MANY, false},
    {"token", {"id"}, NULL, MANY, false},
    {"session", {"hash"}, NULL, MANY, false},
    {"trace_owner", {"trace_id"}, NULL, MANY, false},
    {"trace_report", {"trace_id"}, NULL, FEW, false},
    {"trace_table", {"trace_id", "name"}, NULL, FEW, false},
    {"trace_table_part", {"trace_id", "name", "part"}, NULL, FEW, false},
    {"upload", {"id"}, NULL, MANY, false},
    {"upload_input", {"upload_id", "position"}, NULL, MANY, false},
    {"upload_key", {"owner", "key"}, NULL, MANY, false},
    {"upload_trace", {"upload_id", "position"}, NULL, MANY, false},
    {"user_session", {"hash"}, NULL, MANY, false},
    {0},
};

// The bytes of resumable uploads are in the folder of the service that has them. What a connection
// committed last concerns nobody else, nor do removals elsewhere and failures of the last minute.
const char *const uncopied_tables[] = {"last_commit", "leader", "login_failure", "probe", "removal",
                                       "resumable",   NULL};

// --- columns ------------------------------------------------------------------------------------

static bool type_of(struct str word, enum copied_type *type)
{
    static const struct {
        const char *word;
        enum copied_type type;
    } known[] = {{"INTEGER", COPIED_INTEGER}, {"bigint", COPIED_INTEGER},
                 {"REAL", COPIED_REAL},       {"double precision", COPIED_REAL},
                 {"TEXT", COPIED_TEXT},       {"text", COPIED_TEXT},
                 {"BLOB", COPIED_BYTES},      {"bytea", COPIED_BYTES}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(word, str_of(known[i].word))) {
            *type = known[i].type;
            return true;
        }
    return false;
}

static bool add_column(struct stmt *stmt, struct copied_columns *columns)
{
    struct str name = sql_bytes(stmt, 0), type = sql_bytes(stmt, 1);
    int at = columns->count;
    if (at == COPY_MAX_COLUMNS || name.len >= sizeof columns->names[0])
        return err_set(stmt->err, ERR_INTERNAL, "a table has too many columns to copy");
    snprintf(columns->names[at], sizeof columns->names[at], "%.*s", (int)name.len, name.at);
    columns->count++;
    return type_of(type, &columns->types[at]) ||
           err_set(stmt->err, ERR_INTERNAL, "column %s has the type %.*s, which is not copied",
                   columns->names[at], (int)type.len, type.at);
}

static bool find_keys(const struct copied_table *table, struct copied_columns *columns,
                      struct err *err)
{
    for (int k = 0; k < COPY_MAX_KEYS && table->keys[k]; k++) {
        int at = 0;
        while (at < columns->count && strcmp(columns->names[at], table->keys[k]) != 0)
            at++;
        if (at == columns->count)
            return err_set(err, ERR_INTERNAL, "table %s has no column %s", table->name,
                           table->keys[k]);
        columns->keys[columns->key_count++] = at;
    }
    return true;
}

bool copied_columns_read(struct db *db, const struct copied_table *table,
                         struct copied_columns *columns, struct err *err)
{
    *columns = (struct copied_columns){0};
    struct stmt stmt = sql_begin(db, db->kind->columns, err);
    sql_bind_text(&stmt, str_of(table->name));
    while (sql_row(&stmt))
        stmt.failed = !add_column(&stmt, columns);
    return sql_end(&stmt) && find_keys(table, columns, err);
}

bool copied_columns_equal(const struct copied_columns *a, const struct copied_columns *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++)
        equal = a->types[i] == b->types[i] && strcmp(a->names[i], b->names[i]) == 0;
    return equal;
}

// --- statements ---------------------------------------------------------------------------------

static void write_names(struct buf *text, const struct copied_columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        buf_printf(text, "%s\"%s\"", i ? ", " : "", columns->names[i]);
}

static void write_keys(struct buf *text, const struct copied_table *table)
{
    for (int i = 0; i < COPY_MAX_KEYS && table->keys[i]; i++)
        buf_printf(text, "%s\"%s\"", i ? ", " : "", table->keys[i]);
}

static void write_marks(struct buf *text, int count)
{
    for (int i = 0; i < count; i++)
        buf_puts(text, i ? ", ?" : "?");
}

static void write_bound(struct buf *text, const struct copied_table *table, const char *relation,
                        int keys)
{
    buf_puts(text, " AND (");
    write_keys(text, table);
    buf_printf(text, ") %s (", relation);
    write_marks(text, keys);
    buf_putc(text, ')');
}

static void write_select(struct buf *text, const struct copied_table *table,
                         const struct copied_columns *columns, struct copied_range range)
{
    buf_puts(text, "SELECT ");
    write_names(text, columns);
    buf_printf(text, " FROM %s WHERE %s", table->name, table->where ? table->where : "1 = 1");
    if (range.after)
        write_bound(text, table, ">", columns->key_count);
    if (range.last)
        write_bound(text, table, "<=", columns->key_count);
    buf_puts(text, " ORDER BY ");
    write_keys(text, table);
    buf_printf(text, " LIMIT %d", range.most);
}

static void write_insert(struct buf *text, const struct copied_table *table,
                         const struct copied_columns *columns, size_t rows)
{
    buf_printf(text, "INSERT INTO %s (", table->name);
    write_names(text, columns);
    buf_puts(text, ") VALUES ");
    for (size_t i = 0; i < rows; i++) {
        buf_puts(text, i ? ", (" : "(");
        write_marks(text, columns->count);
        buf_putc(text, ')');
    }
}

// --- values -------------------------------------------------------------------------------------

static void bind(struct stmt *stmt, enum copied_type type, const struct copied_value *value)
{
    if (value->is_null)
        sql_bind_null(stmt);
    else if (type == COPIED_INTEGER)
        sql_bind_i64(stmt, value->i64);
    else if (type == COPIED_REAL)
        sql_bind_f64(stmt, value->f64);
    else if (type == COPIED_TEXT)
        sql_bind_text(stmt, value->bytes);
    else
        sql_bind_bytes(stmt, value->bytes);
}

static void bind_keys(struct stmt *stmt, const struct copied_columns *columns,
                      const struct copied_value *row)
{
    for (int i = 0; row && i < columns->key_count; i++)
        bind(stmt, columns->types[columns->keys[i]], &row[columns->keys[i]]);
}

// The text as every kind of database can store it.
static struct str clean(struct stmt *stmt, struct str text, struct arena *arena)
{
    struct buf words = {0};
    postgres_clean_text(text, &words);
    stmt->failed = stmt->failed || !buf_ok(&words, stmt->err);
    char *copy =
        stmt->failed
            ? NULL
            : arena_strdup(arena, (struct str){words.at ? words.at : "", words.len}, stmt->err);
    struct str cleaned = {copy ? copy : "", copy ? words.len : 0};
    stmt->failed = stmt->failed || !copy;
    buf_free(&words);
    return cleaned;
}

static void read_value(struct stmt *stmt, int at, enum copied_type type, struct arena *arena,
                       struct copied_value *value)
{
    *value = (struct copied_value){.is_null = sql_is_null(stmt, at), .bytes = STR("")};
    if (value->is_null)
        return;
    if (type == COPIED_INTEGER)
        value->i64 = sql_i64(stmt, at);
    else if (type == COPIED_REAL)
        value->f64 = sql_f64(stmt, at) + 0.0; // without the sign of a zero, which SQLite drops
    else if (type == COPIED_TEXT && !postgres_is_clean(sql_bytes(stmt, at)))
        value->bytes = clean(stmt, sql_bytes(stmt, at), arena);
    else
        value->bytes = sql_text(stmt, at, arena);
}

bool copied_rows_read(struct db *db, const struct copied_table *table,
                      const struct copied_columns *columns, struct copied_range range,
                      struct copied_rows *rows, struct err *err)
{
    struct buf text = {0};
    size_t width = (size_t)columns->count;
    arena_init(&rows->arena, NULL);
    rows->count = 0;
    rows->values = arena_array(&rows->arena, (size_t)range.most * width, sizeof *rows->values, err);
    write_select(&text, table, columns, range);
    bool ok = rows->values && buf_ok(&text, err);
    struct stmt stmt = {0};
    if (ok) {
        stmt = sql_begin(db, text.at, err);
        bind_keys(&stmt, columns, range.after);
        bind_keys(&stmt, columns, range.last);
        while (sql_row(&stmt)) {
            struct copied_value *row = &rows->values[rows->count++ * width];
            for (int i = 0; i < columns->count; i++)
                read_value(&stmt, i, columns->types[i], &rows->arena, &row[i]);
        }
        ok = sql_end(&stmt);
    }
    buf_free(&text);
    return ok;
}

static bool value_equal(enum copied_type type, const struct copied_value *a,
                        const struct copied_value *b)
{
    if (a->is_null || b->is_null)
        return a->is_null == b->is_null;
    return type == COPIED_INTEGER ? a->i64 == b->i64
           : type == COPIED_REAL  ? memcmp(&a->f64, &b->f64, sizeof a->f64) == 0
                                  : str_equal(a->bytes, b->bytes);
}

bool copied_rows_equal(const struct copied_columns *columns, const struct copied_rows *a,
                       const struct copied_rows *b)
{
    bool equal = a->count == b->count;
    size_t width = (size_t)columns->count;
    for (size_t i = 0; equal && i < a->count * width; i++)
        equal = value_equal(columns->types[i % width], &a->values[i], &b->values[i]);
    return equal;
}

// --- inserting ----------------------------------------------------------------------------------

// As many rows in a statement as it may have parameters.
static bool insert_some(struct db *db, const struct copied_table *table,
                        const struct copied_columns *columns, const struct copied_value *values,
                        size_t rows, struct err *err)
{
    struct buf text = {0};
    write_insert(&text, table, columns, rows);
    bool ok = buf_ok(&text, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, text.at, err);
        for (size_t i = 0; i < rows * (size_t)columns->count; i++)
            bind(&stmt, columns->types[i % (size_t)columns->count], &values[i]);
        ok = sql_run(&stmt);
    }
    buf_free(&text);
    return ok;
}

// Takes the lock again: a connection that was reopened has lost it.
static bool stay_alone(struct db *db, struct err *err)
{
    bool is_alone = false;
    return db->kind->take_alone(db, &is_alone, err) &&
           (is_alone || err_set(err, ERR_BUSY, "another copy into the target is at work"));
}

bool copied_rows_insert(struct db *db, const struct copied_table *table,
                        const struct copied_columns *columns, const struct copied_rows *rows,
                        struct err *err)
{
    enum { PARAMETERS = 900 };
    size_t width = (size_t)columns->count, most = PARAMETERS / width;
    bool ok = db->kind->begin(db, DB_WRITE, err) && stay_alone(db, err);
    for (size_t i = 0; ok && i < rows->count; i += most)
        ok = insert_some(db, table, columns, &rows->values[i * width],
                         rows->count - i < most ? rows->count - i : most, err);
    ok = ok && db->kind->commit(db, err);
    if (!ok)
        db->kind->rollback(db);
    return ok;
}
