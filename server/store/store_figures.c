// SPDX-License-Identifier: Apache-2.0
// Figures: the numbers of runs that lists, trends and sorts use, one per run and metric. A metric
// is a name in the run's table of figures, a column of the summary, or of the headline rank's
// breakdown (per step), or "log." and a column of the training log with the most steps, or "meta."
// and the key of metadata that is a number.
#include "server/store/store_sql.h"

#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/run/run_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- metrics ------------------------------------------------------------------------------------

// Numbers without a unit are ids, such as a rank.
static bool is_metric(const struct column *column)
{
    return (column->type == COLUMN_I64 || column->type == COLUMN_F64) && column->unit[0];
}

static bool has_metric(const struct table_desc *desc, struct str name)
{
    for (unsigned i = 0; i < desc->column_count; i++)
        if (is_metric(&desc->columns[i]) && str_equal(name, str_of(desc->columns[i].name)))
            return true;
    return false;
}

// In a log, columns without a unit count too, such as a loss.
static bool is_log_metric(const struct column *column)
{
    return column->type == COLUMN_F64 || is_metric(column);
}

static bool has_log_metric(struct str metric)
{
    size_t prefix = sizeof STORE_LOG_METRIC - 1;
    if (!str_starts_with(metric, STR(STORE_LOG_METRIC)))
        return false;
    int column = table_column(&table_logs, (struct str){metric.at + prefix, metric.len - prefix});
    return column >= 0 && is_log_metric(&table_logs.columns[column]);
}

bool store_knows_figure(struct str metric)
{
    return str_starts_with(metric, STR(STORE_META_METRIC)) || has_log_metric(metric) ||
           run_figure_named(metric) || has_metric(&table_run_summary, metric) ||
           has_metric(&table_run_breakdown, metric);
}

// --- writing ------------------------------------------------------------------------------------

#define SET_FIGURE                                                            \
    "INSERT INTO figure (run_id, source, metric, value) VALUES (?, ?, ?, ?) " \
    "ON CONFLICT (run_id, metric) DO UPDATE SET value = excluded.value, source = excluded.source"

// Whose figures are being set.
struct origin {
    struct str run_id, source;
};

static bool set_figure(struct stmt *insert, struct origin of, struct str metric, double value)
{
    sql_bind_text(insert, of.run_id);
    sql_bind_text(insert, of.source);
    sql_bind_text(insert, metric);
    sql_bind_f64(insert, value);
    sql_step(insert);
    return !insert->failed;
}

// Times cover `steps` steps.
static bool take_row(struct stmt *insert, struct str run_id, const struct table *table, size_t row,
                     int64_t steps)
{
    const struct origin of = {run_id, STR("trace")};
    for (unsigned i = 0; i < table->desc->column_count; i++) {
        const struct column *column = &table->desc->columns[i];
        const struct cell *cell = &table->cells[row * table->desc->column_count + i];
        bool per_step = strcmp(column->unit, "ns") == 0 && steps > 1;
        bool is_f64 = column->type == COLUMN_F64;
        if (cell->null || !is_metric(column) || (is_f64 && !isfinite(cell->f)))
            continue;
        int64_t whole = per_step ? cell->i / steps : cell->i;
        if (!set_figure(insert, of, str_of(column->name), is_f64 ? cell->f : (double)whole))
            return false;
    }
    return true;
}

static bool take_breakdown(struct stmt *insert, struct str run_id, const struct table *table)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const struct cell *steps = table_cell(table, row, RUN_BREAKDOWN_STEPS);
        if (table_is(table, row, RUN_BREAKDOWN_SCOPE, STR("run_median")))
            return take_row(insert, run_id, table, row, steps->null ? 1 : steps->i);
    }
    return true;
}

static bool take_log(struct stmt *insert, struct str run_id, const struct table *logs, size_t row)
{
    const struct origin of = {run_id, STR("log")};
    for (unsigned i = 0; i < logs->desc->column_count; i++) {
        const struct column *column = &logs->desc->columns[i];
        const struct cell *cell = &logs->cells[row * logs->desc->column_count + i];
        bool is_f64 = column->type == COLUMN_F64;
        char metric[64];
        if (cell->null || !is_log_metric(column) || (is_f64 && !isfinite(cell->f)))
            continue;
        snprintf(metric, sizeof metric, STORE_LOG_METRIC "%s", column->name);
        if (!set_figure(insert, of, str_of(metric), is_f64 ? cell->f : (double)cell->i))
            return false;
    }
    return true;
}

// Takes the log with the most steps.
static bool take_logs(struct stmt *insert, struct str run_id, const struct table *logs)
{
    size_t most = 0;
    for (size_t row = 1; row < logs->row_count; row++)
        if (table_i64(logs, row, LOGS_STEPS, 0) > table_i64(logs, most, LOGS_STEPS, 0))
            most = row;
    return logs->row_count == 0 || take_log(insert, run_id, logs, most);
}

// The figures that represent the run.
static bool take_figures(struct stmt *insert, struct str run_id, const struct table *figures)
{
    for (size_t row = 0; row < figures->row_count; row++) {
        const struct cell *metric = table_cell(figures, row, RUN_FIGURES_METRIC);
        const struct cell *value = table_cell(figures, row, RUN_FIGURES_VALUE);
        const struct cell *source = table_cell(figures, row, RUN_FIGURES_SOURCE);
        const struct origin of = {run_id, source->null ? STR("") : source->s};
        if (table_cell(figures, row, RUN_FIGURES_PREFERRED)->i && !value->null &&
            !set_figure(insert, of, metric->s, value->f))
            return false;
    }
    return true;
}

// A run of which no step is marked has the figure no_steps beside its step_median_ns, which then is
// the time of the recording.
static bool take_summary(struct stmt *insert, struct str run_id, const struct report *report)
{
    const struct table *summary = report_find(report, table_run_summary.name);
    if (!summary || !summary->row_count)
        return true;
    int64_t headline = table_i64(summary, 0, RUN_SUMMARY_HEADLINE_RANK, -1);
    return take_row(insert, run_id, summary, 0, 1) &&
           (!trust_lacks_steps(report, headline) ||
            set_figure(insert, (struct origin){run_id, STR("trace")}, STR("no_steps"), 1));
}

static bool insert_figures(struct db *db, struct str run_id, const struct report *report,
                           struct err *err)
{
    const struct table *figures = report_find(report, table_run_figures.name);
    const struct table *breakdown = report_find(report, table_run_breakdown.name);
    const struct table *logs = report_find(report, table_logs.name);
    struct stmt insert = sql_begin(db, SET_FIGURE, err);
    bool ok = (!figures || take_figures(&insert, run_id, figures)) &&
              (!logs || take_logs(&insert, run_id, logs)) &&
              (!breakdown || take_breakdown(&insert, run_id, breakdown)) &&
              take_summary(&insert, run_id, report);
    return sql_end(&insert) && ok;
}

// A file may name its GPU as it likes, and keys of an index are short.
static struct str shortened(struct str word)
{
    size_t most = word.len < STORE_NAME_MAX_BYTES ? word.len : STORE_NAME_MAX_BYTES;
    return (struct str){word.at, str_valid_utf8((struct str){word.at, most})};
}

static bool set_words(struct db *db, struct str run_id, const struct table *summary,
                      struct err *err)
{
    static const unsigned columns[] = {RUN_SUMMARY_GPU, RUN_SUMMARY_TRUST_SEVERITY};
    static const char *const texts[] = {
        "UPDATE stored_run SET gpu = ?1 WHERE id = ?2 AND gpu IS DISTINCT FROM ?1",
        "UPDATE stored_run SET trust_severity = ?1 WHERE id = ?2 AND trust_severity IS DISTINCT "
        "FROM ?1"};
    for (size_t i = 0; i < 2; i++) {
        const struct cell *cell =
            summary && summary->row_count ? table_cell(summary, 0, columns[i]) : NULL;
        struct stmt stmt = sql_begin(db, texts[i], err);
        bool known = cell && !cell->null;
        sql_bind_text_if(&stmt, known, known ? shortened(cell->s) : STR(""));
        sql_bind_text(&stmt, run_id);
        bool judged_by = columns[i] == RUN_SUMMARY_GPU; // runs of a series are compared on one GPU
        if (!sql_run(&stmt) ||
            (judged_by && db_changes(db) &&
             !(series_note_point(db, run_id, err) && runs_note_text(db, run_id, err))))
            return false;
    }
    return true;
}

bool figures_take_words(struct db *db, struct str run_id, struct err *err)
{
    static const struct table_desc *const wanted[] = {&table_run_summary, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = tables_load_run(db, run_id, wanted, &report, err) &&
              set_words(db, run_id, report_find(&report, table_run_summary.name), err);
    arena_free(&arena);
    return ok;
}

static bool forget_figures(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(
        db, "DELETE FROM figure WHERE run_id = ? AND metric NOT LIKE '" STORE_META_METRIC "%'",
        err);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt);
}

// What follows from a price that people gave and a rate that was measured.
static bool derive_cost(struct db *db, struct str run_id, struct err *err)
{
    static const char *const texts[] = {
        "DELETE FROM figure WHERE run_id = ? AND metric = '" RUN_FIGURE_COST_METRIC "'",
        "INSERT INTO figure (run_id, metric, value, source) "
        "SELECT price.run_id, '" RUN_FIGURE_COST_METRIC "', "
        "price.value / 3600 / rate.value * 1e6, 'computed' FROM figure AS price CROSS JOIN figure "
        "AS rate "
        "ON rate.run_id = price.run_id WHERE price.run_id = ? "
        "AND price.metric = '" STORE_META_METRIC "gpu_hour_price' AND price.value >= 0 "
        "AND rate.metric = 'tokens_per_s_per_gpu' AND rate.value > 0"};
    for (size_t i = 0; i < 2; i++) {
        struct stmt stmt = sql_begin(db, texts[i], err);
        sql_bind_text(&stmt, run_id);
        if (!sql_run(&stmt))
            return false;
    }
    return true;
}

bool figures_take(struct db *db, struct str run_id, struct err *err)
{
    static const struct table_desc *const wanted[] = {&table_run_summary, &table_run_breakdown,
                                                      &table_logs,        &table_run_figures,
                                                      &table_run_trust,   NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = tables_load_run(db, run_id, wanted, &report, err) &&
              forget_figures(db, run_id, err) && insert_figures(db, run_id, &report, err) &&
              derive_cost(db, run_id, err) &&
              series_note_point(db, run_id, err); // its figures are judged, too
    arena_free(&arena);
    return ok;
}

// --- numbers that people gave -------------------------------------------------------------------

// The value as stored, which is without secrets.
static bool read_meta(struct db *db, struct str run_id, struct str key, struct arena *arena,
                      struct str *value, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT value FROM metadata WHERE run_id = ? AND \"key\" = ?", err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, key);
    *value = sql_row(&stmt) ? sql_text(&stmt, 0, arena) : STR("");
    return sql_end(&stmt);
}

static bool give(struct db *db, struct str run_id, struct str metric, struct str value,
                 struct err *err)
{
    double number = 0;
    bool is_number = str_to_f64(value, &number);
    struct stmt stmt = sql_begin(
        db, is_number ? SET_FIGURE : "DELETE FROM figure WHERE run_id = ? AND metric = ?", err);
    if (is_number) {
        bool ok = set_figure(&stmt, (struct origin){run_id, STR("typed")}, metric, number);
        return sql_end(&stmt) && ok;
    }
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, metric);
    return sql_run(&stmt);
}

bool figures_give(struct db *db, struct str run_id, struct str key, struct err *err)
{
    struct arena arena;
    struct str value;
    arena_init(&arena, NULL);
    char *metric = arena_printf(&arena, err, STORE_META_METRIC "%.*s", (int)key.len, key.at);
    bool ok = metric && read_meta(db, run_id, key, &arena, &value, err) &&
              give(db, run_id, str_of(metric), value, err) && derive_cost(db, run_id, err);
    arena_free(&arena);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

// The first letter is compared first: it rules out most rows.
static bool is(struct str metric, const char *name)
{
    return metric.len && *metric.at == *name && str_equal(metric, str_of(name));
}

// The member of a run that holds a figure, NULL if there is none.
static struct cell *figure_of(struct run *run, struct str metric, enum column_type *type)
{
    const struct {
        const char *metric;
        enum column_type type;
        struct cell *cell;
    } known[] = {{"step_median_ns", COLUMN_I64, &run->step_median_ns},
                 {"no_steps", COLUMN_I64, &run->no_steps},
                 {"busy_share", COLUMN_F64, &run->busy_share},
                 {"exposed_comm_share", COLUMN_F64, &run->exposed_comm_share},
                 {"findings", COLUMN_I64, &run->findings}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *type = known[i].type;
        if (is(metric, known[i].metric))
            return known[i].cell;
    }
    *type = COLUMN_I64;
    for (size_t part = 0; part < PART_COUNT; part++)
        if (is(metric, run_part_columns[part]))
            return &run->parts[part];
    return NULL;
}

void figures_read(struct stmt *stmt, struct arena *arena, struct run *run)
{
    for (size_t part = 0; part < PART_COUNT; part++)
        run->parts[part] = cell_null();
    run->step_median_ns = run->busy_share = cell_null();
    run->exposed_comm_share = run->findings = run->no_steps = cell_null();
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
        run->figures[i] = NAN;
    sql_bind_text(stmt, run->id);
    while (sql_row(stmt)) {
        enum column_type type;
        const struct run_figure *figure = run_figure_named(sql_bytes(stmt, 0));
        struct cell *cell = figure_of(run, sql_bytes(stmt, 0), &type);
        if (figure) {
            run->figures[figure - run_figures] = sql_f64(stmt, 1);
            run->figure_sources[figure - run_figures] = sql_text(stmt, 2, arena);
        }
        if (cell)
            *cell = type == COLUMN_I64 ? cell_i64(sql_i64(stmt, 1)) : cell_f64(sql_f64(stmt, 1));
    }
    sql_reset(stmt);
}
