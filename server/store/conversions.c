// SPDX-License-Identifier: Apache-2.0
// Converts what older versions stored to the current form while the schema is updated.
#include "server/store/store_sql.h"

#include "analysis/report/report_parts.h"

#include <unistd.h>

// --- tables of runs, which were SQL tables run_<name> -------------------------------------------

// The columns that both such a table and its descriptor have.
struct shared_columns {
    const struct table_desc *desc;
    unsigned at[TABLE_MAX_COLUMNS];
    unsigned count;
};

// Of the SQL table, without run_.
static const char *old_name_of(const struct table_desc *desc)
{
    return desc == &table_run_trust ? "quality" : desc->name;
}

static const char *old_column(const char *name)
{
    return strcmp(name, "trust_severity") == 0 ? "worst_quality" : name;
}

static bool share_columns(struct db *db, const struct table_desc *desc,
                          struct shared_columns *shared, struct err *err)
{
    *shared = (struct shared_columns){.desc = desc};
    struct stmt stmt =
        sql_begin(db, "SELECT name FROM pragma_table_info('run_' || ?) WHERE cid > 1", err);
    sql_bind_text(&stmt, str_of(old_name_of(desc)));
    while (sql_row(&stmt)) {
        struct str name = sql_bytes(&stmt, 0);
        for (unsigned i = 0; i < desc->column_count; i++)
            if (str_equal(name, str_of(old_column(desc->columns[i].name))))
                shared->at[shared->count++] = i;
    }
    return sql_end(&stmt);
}

static bool add_row(struct stmt *stmt, const struct shared_columns *shared, struct report *report)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < shared->desc->column_count; i++)
        row[i] = cell_null();
    for (unsigned i = 0; i < shared->count; i++)
        row[shared->at[i]] =
            sql_cell(stmt, (int)i, shared->desc->columns[shared->at[i]].type, report->arena);
    return !stmt->failed && report_add(report, shared->desc, row, stmt->err);
}

static bool read_rows(struct db *db, const struct shared_columns *shared, struct str run_id,
                      struct report *report, struct err *err)
{
    struct buf sql = {0};
    for (unsigned i = 0; i < shared->count; i++)
        buf_printf(&sql, "%s\"%s\"", i ? ", " : "SELECT ",
                   old_column(shared->desc->columns[shared->at[i]].name));
    buf_printf(&sql, " FROM \"run_%s\" WHERE run_id = ? ORDER BY \"row\"",
               old_name_of(shared->desc));
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        sql_bind_text(&stmt, run_id);
        while (ok && sql_row(&stmt))
            ok = add_row(&stmt, shared, report);
        ok = sql_end(&stmt) && ok;
    }
    buf_free(&sql);
    return ok;
}

static bool read_tables(struct db *db, struct str run_id, struct report *report, struct err *err)
{
    for (const struct table_desc *const *desc = run_tables; *desc; desc++) {
        struct shared_columns shared;
        if (!share_columns(db, *desc, &shared, err) ||
            (shared.count && !read_rows(db, &shared, run_id, report, err)))
            return err_wrap(err, "table %s", (*desc)->name);
    }
    return true;
}

static bool convert_meta(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT \"key\" FROM metadata WHERE run_id = ?", err);
    bool ok = true;
    sql_bind_text(&stmt, run_id);
    while (ok && sql_row(&stmt))
        ok = figures_give(db, run_id, sql_bytes(&stmt, 0), err);
    return sql_end(&stmt) && ok;
}

// What owners have is counted by a later step.
static bool note_made(struct db *db, struct str run_id, int64_t bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE stored_run SET made = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, bytes);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt);
}

static bool convert_run(struct db *db, struct str run_id, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    int parts = -1;
    int64_t bytes;
    bool ok =
        read_tables(db, run_id, &report, err) &&
        (report.table_count == 0 ||
         ((parts = report_parts_hold(&report, run_tables, err)) >= 0 &&
          tables_save_run(db, run_id, parts, &bytes, err) && note_made(db, run_id, bytes, err))) &&
        convert_meta(db, run_id, err);
    arena_free(&arena);
    if (parts >= 0)
        close(parts);
    return ok;
}

static bool convert_runs(struct db *db, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT id FROM stored_run ORDER BY id", err);
    bool ok = true;
    while (ok && sql_row(&stmt)) {
        struct str id = sql_bytes(&stmt, 0);
        ok = convert_run(db, id, err) || err_wrap(err, "run %.*s", (int)id.len, id.at);
    }
    return sql_end(&stmt) && ok;
}

// Figures are written with a column that only a later file adds, so it is added here for the time
// being.
bool convert_run_tables(struct db *db, struct err *err)
{
    return sql_execute_all(db, "ALTER TABLE figure ADD COLUMN source TEXT", err) &&
           convert_runs(db, err) &&
           sql_execute_all(db, "ALTER TABLE figure DROP COLUMN source", err);
}
