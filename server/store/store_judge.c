// SPDX-License-Identifier: Apache-2.0
// Judges series whose points changed: read them, compute without holding the database, and write if
// nothing changed meanwhile.
#include "server/store/judged_figures.h"

#include "analysis/analysis.h"
#include "ingest/base/clock.h"

#include <math.h>

enum { BATCH = 16 };

static const char *const kind_words[] = {"outlier", "change"};
static const char *const status_words[] = {"new", "acknowledged", "expected", "noise", "fixed"};

// A series being judged.
struct judging {
    struct series_key key;
    int64_t changed;         // as it was when read
    int64_t figures_from_ns; // alerts of figures are of runs since then
    struct series_state state;
    bool *was_outlier;
    struct series_judgement judgement;
    struct judged_figures figures; // beside step time
};

struct batch {
    struct judging series[BATCH];
    size_t count;
};

static int word_index(const char *const *words, size_t count, struct str word)
{
    size_t at = str_place(word, words, count);
    return at < count ? (int)at : 0;
}

// --- reading ------------------------------------------------------------------------------------

// A new version may add figures to old runs, which is no news: alerts of figures begin with runs
// after the update, which is when the program was started.
static bool find_changed(struct db *db, int64_t opened_ns, struct arena *arena, struct batch *batch,
                         struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT project, series, changed, "
                                 "CASE WHEN points = 0 OR figures_version = ? THEN figures_from_ns "
                                 "ELSE ? END FROM series WHERE judged < changed LIMIT ?",
                                 err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    sql_bind_i64(&stmt, opened_ns);
    sql_bind_i64(&stmt, BATCH);
    batch->count = 0;
    while (sql_row(&stmt))
        batch->series[batch->count++] =
            (struct judging){.key = {sql_text(&stmt, 0, arena), sql_text(&stmt, 1, arena)},
                             .changed = sql_i64(&stmt, 2),
                             .figures_from_ns = sql_i64(&stmt, 3)};
    return sql_end(&stmt);
}

static bool add_point(struct stmt *stmt, struct judging *series, struct arena *arena)
{
    struct series_state *state = &series->state;
    series->was_outlier = arena_more(arena, series->was_outlier, state->point_count,
                                     sizeof *series->was_outlier, stmt->err);
    state->points =
        arena_more(arena, state->points, state->point_count, sizeof *state->points, stmt->err);
    if (!state->points || !series->was_outlier) {
        stmt->failed = true;
        return false;
    }
    series->was_outlier[state->point_count] = sql_i64(stmt, 4) != 0;
    state->points[state->point_count++] = (struct series_point){.run_id = sql_text(stmt, 0, arena),
                                                                .step_ns = (double)sql_i64(stmt, 1),
                                                                .gpu = sql_text(stmt, 2, arena),
                                                                .ranks = sql_i64(stmt, 3),
                                                                .created_ns = sql_i64(stmt, 5),
                                                                .source = sql_text(stmt, 6, arena)};
    return !stmt->failed;
}

// Oldest first.
static bool read_points(struct db *db, struct judging *series, struct arena *arena, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "SELECT id, point_ns, gpu, coalesce(world_size, traced_world_size, received), outlier, "
        "created_ns, CASE WHEN " STEPS_ARE_MARKED(
            "run") " THEN 'trace' "
                   "WHEN EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND metric = "
                   "'step_ns') "
                   "THEN 'log' ELSE 'recording' END "
                   "FROM run WHERE project = ? AND series = ? AND point_ns > 0 AND point_ns IS NOT "
                   "NULL "
                   "ORDER BY created_ns DESC, id LIMIT ?",
        err);
    sql_bind_text(&stmt, series->key.project);
    sql_bind_text(&stmt, series->key.series);
    sql_bind_u64(&stmt, STORE_MAX_POINTS);
    while (sql_row(&stmt) && add_point(&stmt, series, arena))
        continue;
    struct series_state *state = &series->state;
    for (size_t i = 0; i < state->point_count / 2; i++) {
        size_t other = state->point_count - 1 - i;
        struct series_point point = state->points[i];
        bool was_outlier = series->was_outlier[i];
        state->points[i] = state->points[other];
        series->was_outlier[i] = series->was_outlier[other];
        state->points[other] = point;
        series->was_outlier[other] = was_outlier;
    }
    return sql_end(&stmt);
}

static void read_alert(struct stmt *stmt, const struct series_state *state, struct arena *arena,
                       struct series_alert *alert)
{
    *alert = (struct series_alert){
        .id = sql_text(stmt, 0, arena),
        .kind = (enum alert_kind)word_index(kind_words, 2, sql_bytes(stmt, 2)),
        .status = (enum alert_status)word_index(status_words, 5, sql_bytes(stmt, 3)),
        .handled = sql_i64(stmt, 4) != 0,
        .before_ns = judged_value(state->scale, sql_f64(stmt, 5)),
        .after_ns = judged_value(state->scale, sql_f64(stmt, 6)),
        .previous = SERIES_NONE};
}

// The points of the metric; NULL if it is not judged.
static struct series_state *state_of(struct judging *series, struct str metric)
{
    return str_equal(metric, str_of(run_figures[RUN_FIGURE_STEP].metric))
               ? &series->state
               : judged_figure_state(&series->figures, metric);
}

// Alerts of runs that count; older ones stay as they are.
static bool read_alerts(struct db *db, struct judging *series, struct arena *arena, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT id, run_id, kind, status, handled, before_value, after_value, metric "
                  "FROM alert WHERE project = ? AND series = ?",
                  err);
    sql_bind_text(&stmt, series->key.project);
    sql_bind_text(&stmt, series->key.series);
    while (sql_row(&stmt)) {
        struct series_state *state = state_of(series, sql_bytes(&stmt, 7));
        size_t at = state ? judged_point_of(state, sql_bytes(&stmt, 1)) : SERIES_NONE;
        if (at == SERIES_NONE)
            continue;
        state->alerts =
            arena_more(arena, state->alerts, state->alert_count, sizeof *state->alerts, err);
        if (!state->alerts) {
            stmt.failed = true;
            break;
        }
        read_alert(&stmt, state, arena, &state->alerts[state->alert_count]);
        state->alerts[state->alert_count++].at = at;
    }
    return sql_end(&stmt);
}

static bool read_batch(struct store *store, struct arena *arena, struct batch *batch,
                       struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = find_changed(txn.db, store_opened_ns(store), arena, batch, err);
    for (size_t i = 0; ok && i < batch->count; i++)
        ok = read_points(txn.db, &batch->series[i], arena, err) &&
             judged_figures_read(txn.db, &batch->series[i].key, &batch->series[i].state, arena,
                                 &batch->series[i].figures, err) &&
             read_alerts(txn.db, &batch->series[i], arena, err);
    return txn_end(&txn, ok, err);
}

// --- writing ------------------------------------------------------------------------------------

static void bind_run(struct stmt *stmt, const struct series_state *state, size_t at)
{
    if (at == SERIES_NONE)
        sql_bind_null(stmt);
    else
        sql_bind_text(stmt, state->points[at].run_id);
}

static bool mark_outliers(struct db *db, const struct judging *series, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE stored_run SET outlier = ? WHERE id = ?", err);
    for (size_t i = 0; i < series->state.point_count; i++) {
        const struct series_point *point = &series->state.points[i];
        if (point->outlier == series->was_outlier[i])
            continue;
        sql_bind_i64(&stmt, point->outlier);
        sql_bind_text(&stmt, point->run_id);
        sql_step(&stmt);
    }
    return sql_end(&stmt);
}

static bool forget_changes(struct db *db, const struct judging *series, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM level_change WHERE run_id = ?", err);
    for (size_t i = 0; i < series->state.point_count; i++) {
        sql_bind_text(&stmt, series->state.points[i].run_id);
        sql_step(&stmt);
    }
    return sql_end(&stmt);
}

static bool write_changes(struct db *db, const struct judging *series, struct err *err)
{
    if (!forget_changes(db, series, err))
        return false;
    struct stmt stmt = sql_begin(
        db,
        "INSERT INTO level_change (run_id, previous_id, reason, before_ns, after_ns, p_value) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        err);
    for (size_t i = 0; i < series->judgement.change_count; i++) {
        const struct series_change *change = &series->judgement.changes[i];
        bind_run(&stmt, &series->state, change->at);
        bind_run(&stmt, &series->state, change->previous);
        sql_bind_text(&stmt, str_of(change->reason));
        sql_bind_i64(&stmt, llround(change->before_ns));
        sql_bind_i64(&stmt, llround(change->after_ns));
        sql_bind_f64_if(&stmt, !isnan(change->p_value), change->p_value);
        sql_step(&stmt);
    }
    return sql_end(&stmt);
}

// The alerts of a series that are of one metric.
struct judged {
    const struct series_key *key;
    const char *metric;
    const struct series_state *state;
    const struct series_judgement *judgement;
    int64_t from_ns; // new alerts are of runs since then
};

// Step times are whole nanoseconds.
static double kept_value(const struct judged *judged, double value)
{
    const struct figure_scale *scale = judged->state->scale;
    return scale ? judged_value(scale, value) : round(value);
}

static void bind_alert(struct stmt *stmt, const struct judged *judged,
                       const struct series_alert *alert)
{
    double before = kept_value(judged, alert->before_ns);
    double after = kept_value(judged, alert->after_ns);
    bind_run(stmt, judged->state, alert->at);
    bind_run(stmt, judged->state, alert->previous);
    sql_bind_text(stmt, str_of(kind_words[alert->kind]));
    sql_bind_text(stmt, str_of(status_words[alert->status]));
    sql_bind_f64(stmt, before);
    sql_bind_f64(stmt, after);
    sql_bind_f64(stmt, series_share(before, after));
    sql_bind_f64(stmt, series_share(alert->before_ns, alert->after_ns));
    sql_bind_i64(stmt, clock_wall_ns());
}

static bool insert_alert(struct db *db, const struct judged *judged,
                         const struct series_alert *alert, struct err *err)
{
    char id[STORE_ID_SIZE];
    if (!sql_new_id('a', id, err))
        return false;
    struct stmt stmt = sql_begin(
        db,
        "INSERT INTO alert (run_id, previous_id, kind, status, before_value, after_value, "
        "change_share, worse_share, created_ns, updated_ns, id, project, series, metric) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9, ?10, ?11, ?12, ?13)",
        err);
    bind_alert(&stmt, judged, alert);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, judged->key->project);
    sql_bind_text(&stmt, judged->key->series);
    sql_bind_text(&stmt, str_of(judged->metric));
    return sql_run(&stmt);
}

// Writes the row only if something changed.
static bool update_alert(struct db *db, const struct judged *judged,
                         const struct series_alert *alert, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE alert SET run_id = ?1, previous_id = ?2, kind = ?3, status = ?4, "
                  "before_value = ?5, after_value = ?6, change_share = ?7, worse_share = ?8, "
                  "updated_ns = ?9 WHERE id = ?10 "
                  "AND (run_id, kind, status, before_value, after_value) <> (?1, ?3, ?4, ?5, ?6)",
                  err);
    bind_alert(&stmt, judged, alert);
    sql_bind_text(&stmt, alert->id);
    return sql_run(&stmt);
}

static bool is_news(const struct judged *judged, const struct series_alert *alert)
{
    return judged->state->points[alert->at].created_ns >= judged->from_ns;
}

static bool write_alerts(struct db *db, const struct judged *judged, struct err *err)
{
    const struct series_judgement *found = judged->judgement;
    bool ok = true;
    for (size_t i = 0; ok && i < found->alert_count; i++) // a run may have only one at a time
        if (found->alerts[i].dropped && found->alerts[i].id.len)
            ok = sql_run_with(db, "DELETE FROM alert WHERE id = ?", found->alerts[i].id, err);
    for (size_t i = 0; ok && i < found->alert_count; i++) {
        const struct series_alert *alert = &found->alerts[i];
        if (!alert->dropped && alert->id.len)
            ok = update_alert(db, judged, alert, err);
        else if (!alert->dropped && is_news(judged, alert))
            ok = insert_alert(db, judged, alert, err);
    }
    return ok;
}

static bool write_all_alerts(struct db *db, const struct judging *series, struct err *err)
{
    const struct judged steps = {&series->key, run_figures[RUN_FIGURE_STEP].metric, &series->state,
                                 &series->judgement, INT64_MIN};
    bool ok = write_alerts(db, &steps, err);
    for (size_t i = 0; ok && i < series->figures.count; i++) {
        const struct judged_figure *figure = &series->figures.items[i];
        ok = write_alerts(db,
                          &(struct judged){&series->key, figure->figure->metric, &figure->state,
                                           &figure->judgement, series->figures_from_ns},
                          err);
    }
    return ok;
}

static bool write_figures(struct db *db, const struct judging *series, struct err *err)
{
    size_t count = series->state.point_count;
    struct stmt stmt = sql_begin(
        db,
        "UPDATE series SET judged = changed, points = ?, last_point = ?, step_median_ns = ?, "
        "change_share = ?, figures_version = ?, figures_from_ns = ? "
        "WHERE project = ? AND series = ?",
        err);
    sql_bind_u64(&stmt, count);
    bind_run(&stmt, &series->state, count ? count - 1 : SERIES_NONE);
    sql_bind_i64_if(&stmt, count, count ? llround(series->state.points[count - 1].step_ns) : 0);
    double share = series->judgement.change_share;
    sql_bind_f64_if(&stmt, !isnan(share), share);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    sql_bind_i64(&stmt, series->figures_from_ns);
    sql_bind_text(&stmt, series->key.project);
    sql_bind_text(&stmt, series->key.series);
    return sql_run(&stmt);
}

// Whether nobody judged or changed the series since it was read.
static bool is_current(struct db *db, const struct judging *series, bool *current, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT 1 FROM series WHERE project = ? AND series = ? "
                                 "AND changed = ? AND judged < changed",
                                 err);
    sql_bind_text(&stmt, series->key.project);
    sql_bind_text(&stmt, series->key.series);
    sql_bind_i64(&stmt, series->changed);
    *current = sql_row(&stmt);
    return sql_end(&stmt);
}

static bool write_batch(struct store *store, const struct batch *batch, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < batch->count; i++) {
        const struct judging *series = &batch->series[i];
        bool current;
        ok = is_current(txn.db, series, &current, err) &&
             (!current ||
              (mark_outliers(txn.db, series, err) && write_changes(txn.db, series, err) &&
               write_all_alerts(txn.db, series, err) && write_figures(txn.db, series, err)));
    }
    return txn_end(&txn, ok, err);
}

// --- its levels ---------------------------------------------------------------------------------

static bool is_left_out(const struct level_query *query, struct str run_id)
{
    for (size_t i = 0; i < query->without_count; i++)
        if (str_equal(query->without[i], run_id))
            return true;
    return false;
}

static void leave_out(const struct level_query *query, struct series_state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->point_count; i++)
        if (!is_left_out(query, state->points[i].run_id))
            state->points[kept++] = state->points[i];
    state->point_count = kept;
}

static bool read_levels(struct db *db, const struct level_query *query, struct judging *series,
                        struct arena *arena, struct err *err)
{
    if (!read_points(db, series, arena, err))
        return false;
    leave_out(query, &series->state);
    return (!query->metric.len ||
            judged_figures_read(db, &series->key, &series->state, arena, &series->figures, err)) &&
           read_alerts(db, series, arena, err);
}

bool store_judge_levels(struct store *store, const struct level_query *query, struct arena *arena,
                        struct series_state *judged, struct err *err)
{
    struct txn txn;
    struct series_judgement judgement;
    struct judging series = {.key = query->key};
    if (!txn_begin(store, DB_READ, &txn, err) ||
        !txn_end(&txn, read_levels(txn.db, query, &series, arena, err), err))
        return false;
    const struct series_state *of_figure = judged_figure_state(&series.figures, query->metric);
    *judged = of_figure ? *of_figure : series.state;
    return series_judge(judged, arena, &judgement, err);
}

// --- two of its runs ----------------------------------------------------------------------------

static bool read_series(struct store *store, struct judging *series, struct arena *arena,
                        struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = read_points(txn.db, series, arena, err) && read_alerts(txn.db, series, arena, err);
    return txn_end(&txn, ok, err);
}

bool store_judge_pair(struct store *store, const struct series_key *key,
                      const struct str run_ids[2], struct arena *arena,
                      struct series_evidence *evidence, struct err *err)
{
    struct judging series = {.key = *key};
    *evidence = (struct series_evidence){.p_value = NAN, .fence_share = NAN};
    if (!read_series(store, &series, arena, err))
        return false;
    size_t a = judged_point_of(&series.state, run_ids[0]),
           b = judged_point_of(&series.state, run_ids[1]);
    return a == SERIES_NONE || b == SERIES_NONE || a == b ||
           series_judge_pair(&series.state, a, b, arena, evidence, err);
}

// --- all of it ----------------------------------------------------------------------------------

static bool judge_one(struct judging *series, struct arena *arena, struct err *err)
{
    return series_judge(&series->state, arena, &series->judgement, err) &&
           judged_figures_judge(&series->figures, &series->judgement, arena, err);
}

static bool judge_batch(struct store *store, struct arena *arena, struct batch *batch,
                        struct err *err)
{
    if (!read_batch(store, arena, batch, err))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        if (!judge_one(&batch->series[i], arena, err))
            return false;
    return batch->count == 0 || write_batch(store, batch, err);
}

bool store_judge_series(struct store *store, struct err *err)
{
    bool ok = true, more = true;
    while (ok && more) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct batch *batch = arena_alloc(&arena, sizeof *batch, err); // too large for a stack
        ok = batch && judge_batch(store, &arena, batch, err);
        more = ok && batch->count > 0;
        arena_free(&arena);
    }
    return ok;
}
