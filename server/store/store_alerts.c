// SPDX-License-Identifier: Apache-2.0
// Alerts: listing them and recording people's decisions.
#include "server/store/store_sql.h"
#include "server/store/server_tables.h"

#include "analysis/run/run_figures.h"
#include "ingest/base/buf.h"
#include "ingest/base/clock.h"

static bool refuse(struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no alert '%.*s'", (int)(id.len < 40 ? id.len : 40), id.at);
}

static bool check_status(struct str status, struct err *err)
{
    static const char *const words[] = {"new", "acknowledged", "expected", "noise", "fixed"};
    return str_is_one_of(status, words, sizeof words / sizeof *words) ||
           err_set(err, ERR_USAGE,
                   "found status '%.*s', expected new, acknowledged, expected, noise or fixed",
                   (int)(status.len < 40 ? status.len : 40), status.at);
}

// --- the list -----------------------------------------------------------------------------------

#define STEP_NS(value) "CASE WHEN metric = 'step_ns' THEN CAST(" value " AS BIGINT) END"
#define STEP_TIMES     STEP_NS("before_value") ", " STEP_NS("after_value")
#define SELECT_ALERTS                                                                          \
    "SELECT alert.id, alert.project, alert.series, run_id, run.name, previous_id, " STEP_TIMES \
    ", change_share, kind, alert.status, comment, alert.created_ns, updated_ns, metric, "      \
    "NULL, NULL, NULL, before_value, after_value, worse_share, " IS_RECORDING " "              \
    "FROM alert CROSS JOIN run ON run.id = run_id "

static void put_conditions(struct buf *sql, const struct alert_query *query)
{
    buf_puts(sql, "WHERE alert.id IN (SELECT id FROM alert "
                  "WHERE created_ns >= 0 AND project <> ''"); // project '': the run is in the bin
    buf_puts(sql, query->project.len ? " AND project = ?" : "");
    buf_puts(sql, query->series.len ? " AND series = ?" : "");
    buf_puts(sql, query->status.len ? " AND status = ?" : "");
    buf_puts(sql, query->metric.len ? " AND metric = ?" : "");
    buf_puts(sql, " ORDER BY created_ns DESC LIMIT ?) "
                  "ORDER BY worse_share DESC, alert.created_ns DESC, alert.id");
}

static void bind_conditions(struct stmt *stmt, const struct alert_query *query)
{
    if (query->project.len)
        sql_bind_text(stmt, query->project);
    if (query->series.len)
        sql_bind_text(stmt, query->series);
    if (query->status.len)
        sql_bind_text(stmt, query->status);
    if (query->metric.len)
        sql_bind_text(stmt, query->metric);
    sql_bind_u64(stmt, STORE_MAX_ALERTS);
}

static void set_cell(struct table *table, size_t row, unsigned column, const char *word)
{
    size_t place = row * table->desc->column_count + column_place(table->desc, column);
    table->cells[place] = cell_text(str_of(word));
}

// What is known of the figure by its name.
static void name_figures(struct table *table)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const struct run_figure *figure =
            run_figure_named(table_cell(table, row, ALERTS_METRIC)->s);
        if (!figure)
            continue;
        set_cell(table, row, ALERTS_LABEL, figure->label);
        set_cell(table, row, ALERTS_UNIT, figure->unit);
        set_cell(table, row, ALERTS_BETTER, figure->more_is_better ? "more" : "less");
    }
}

static bool list_alerts(struct db *db, const struct alert_query *query, struct arena *arena,
                        struct table *table, struct err *err)
{
    struct buf sql = {0};
    buf_puts(&sql, SELECT_ALERTS);
    put_conditions(&sql, query);
    bool ok = buf_ok(&sql, err);
    if (ok) {
        struct stmt stmt = sql_begin(db, sql.at, err);
        bind_conditions(&stmt, query);
        ok = sql_end_table(&stmt, arena, table);
    }
    buf_free(&sql);
    return ok;
}

bool store_list_alerts(struct store *store, const struct alert_query *query, struct arena *arena,
                       struct table *table, struct err *err)
{
    struct txn txn;
    *table = (struct table){.desc = &table_alerts};
    if ((query->status.len && !check_status(query->status, err)) ||
        !txn_begin(store, DB_READ, &txn, err))
        return false;
    if (!txn_end(&txn, list_alerts(txn.db, query, arena, table, err), err))
        return false;
    name_figures(table);
    return true;
}

bool store_find_alert(struct store *store, struct str id, struct arena *arena, struct table *table,
                      struct err *err)
{
    struct txn txn;
    *table = (struct table){.desc = &table_alerts};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, SELECT_ALERTS "WHERE alert.id = ?", err);
    sql_bind_text(&stmt, id);
    bool ok = sql_end_table(&stmt, arena, table) && (table->row_count || refuse(id, err));
    if (ok)
        name_figures(table);
    return txn_end(&txn, ok, err);
}

// --- deciding -----------------------------------------------------------------------------------

static bool check_comment(struct str comment, struct err *err)
{
    if (comment.len > STORE_NOTE_MAX_BYTES)
        return err_set(err, ERR_USAGE, "found a comment of %zu bytes, expected at most %zu",
                       comment.len, STORE_NOTE_MAX_BYTES);
    return str_valid_utf8(comment) == comment.len ||
           err_set(err, ERR_USAGE, "found a comment that is not valid UTF-8");
}

// Setting an alert to new gives it back to the service; it is removed once it no longer applies.
static bool update_alert(struct db *db, struct str id, const struct alert_patch *patch,
                         struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "UPDATE alert SET status = coalesce(?1, status), comment = coalesce(?2, comment), "
        "handled = CASE WHEN coalesce(?1, status) <> 'new' "
        "OR coalesce(?2, comment) <> '' THEN 1 ELSE 0 END, updated_ns = ?3 "
        "WHERE id = ?4 AND project <> ''",
        err);
    for (int i = 0; i < 2; i++) {
        const struct str *text = i ? patch->comment : patch->status;
        if (text)
            sql_bind_clean(&stmt, *text);
        else
            sql_bind_null(&stmt);
    }
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && (db_changes(db) == 1 || refuse(id, err));
}

// Decisions change how the series is judged.
static bool touch_series(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE series SET changed = changed + 1 WHERE (project, series) = "
                  "(SELECT alert.project, alert.series FROM alert WHERE id = ?)",
                  err);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt);
}

bool store_patch_alert(struct store *store, struct str id, const struct alert_patch *patch,
                       struct err *err)
{
    struct txn txn;
    if ((patch->status && !check_status(*patch->status, err)) ||
        (patch->comment && !check_comment(*patch->comment, err)) ||
        !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = update_alert(txn.db, id, patch, err) && touch_series(txn.db, id, err);
    return txn_end(&txn, ok, err);
}
