// SPDX-License-Identifier: Apache-2.0
#include "server/store/judged_figures.h"

#include <math.h>

// Runs between the alerts of two figures that have one cause.
enum { SAME_CAUSE_RUNS = 3 };

// With so many figures judged, some differ a little by chance.
#define LEAST_CHANGE      0.03
#define LEAST_LOSS_CHANGE 0.005
#define LEAST_OF_SHARE    0.01 // absolute

double judged_value(const struct figure_scale *scale, double value)
{
    return scale && scale->inverse ? 1 / value : value;
}

static bool is_judged(const struct run_figure *figure)
{
    return figure->kind != FIGURE_FOLLOWS && figure != &run_figures[RUN_FIGURE_STEP];
}

// --- reading ------------------------------------------------------------------------------------

size_t judged_point_of(const struct series_state *state, struct str run_id)
{
    for (size_t i = 0; i < state->point_count; i++)
        if (str_equal(state->points[i].run_id, run_id))
            return i;
    return SERIES_NONE;
}

static struct judged_figure *figure_of(struct judged_figures *figures, struct str metric)
{
    for (size_t i = 0; i < figures->count; i++)
        if (str_equal(metric, str_of(figures->items[i].figure->metric)))
            return &figures->items[i];
    return NULL;
}

struct series_state *judged_figure_state(struct judged_figures *figures, struct str metric)
{
    struct judged_figure *figure = figure_of(figures, metric);
    return figure ? &figure->state : NULL;
}

// All that are judged, in the order of all tables of figures.
static void list_figures(struct judged_figures *figures)
{
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
        if (!is_judged(&run_figures[i]))
            continue;
        bool is_share = strcmp(run_figures[i].unit, "share") == 0;
        double least_share =
            run_figures[i].kind == FIGURE_OF_LOSS ? LEAST_LOSS_CHANGE : LEAST_CHANGE;
        struct judged_figure *figure = &figures->items[figures->count++];
        *figure = (struct judged_figure){.figure = &run_figures[i],
                                         .scale = {.inverse = run_figures[i].more_is_better,
                                                   .least_share = least_share,
                                                   .least = is_share ? LEAST_OF_SHARE : 0}};
        figure->state.scale = &figure->scale;
    }
}

// A figure of a run: NAN if it has none.
struct value {
    double value;
    struct str source;
};

// Of all figures and points.
struct values {
    struct value *of[RUN_FIGURE_COUNT];
};

static bool open_values(struct values *values, const struct judged_figures *figures,
                        struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < figures->count; i++) {
        values->of[i] = arena_array(arena, figures->point_count + 1, sizeof(struct value), err);
        if (!values->of[i])
            return false;
        for (size_t at = 0; at < figures->point_count; at++)
            values->of[i][at] = (struct value){.value = NAN};
    }
    return true;
}

// Rows of a run follow one another.
static void take_rows(struct stmt *stmt, const struct series_state *points, struct arena *arena,
                      struct judged_figures *figures, struct values *values)
{
    size_t at = SERIES_NONE;
    while (sql_row(stmt)) {
        struct judged_figure *figure = figure_of(figures, sql_bytes(stmt, 1));
        struct str run_id = sql_bytes(stmt, 0);
        if (at == SERIES_NONE || !str_equal(points->points[at].run_id, run_id))
            at = judged_point_of(points, run_id);
        if (figure && at != SERIES_NONE)
            values->of[figure - figures->items][at] =
                (struct value){sql_f64(stmt, 2), sql_text(stmt, 3, arena)};
    }
}

// Figures that are zero have no share to compare.
static bool is_comparable(double value)
{
    return value > 0 && isfinite(value);
}

static bool add_points(struct judged_figure *figure, const struct series_state *points,
                       const struct value *values, struct arena *arena, struct err *err)
{
    struct series_state *state = &figure->state;
    state->points = arena_array(arena, points->point_count + 1, sizeof *state->points, err);
    figure->at = arena_array(arena, points->point_count + 1, sizeof *figure->at, err);
    if (!state->points || !figure->at)
        return false;
    for (size_t at = 0; at < points->point_count; at++) {
        struct series_point *point = &state->points[state->point_count];
        if (!is_comparable(values[at].value))
            continue;
        *point = points->points[at];
        point->step_ns = judged_value(&figure->scale, values[at].value);
        point->source = values[at].source;
        point->outlier = false;
        figure->at[state->point_count++] = at;
    }
    return true;
}

bool judged_figures_read(struct db *db, const struct series_key *key,
                         const struct series_state *points, struct arena *arena,
                         struct judged_figures *figures, struct err *err)
{
    struct values values;
    *figures = (struct judged_figures){.point_count = points->point_count};
    list_figures(figures);
    if (!open_values(&values, figures, arena, err))
        return false;
    struct stmt stmt =
        sql_begin(db,
                  "SELECT run_id, metric, value, source FROM figure WHERE run_id IN (SELECT id "
                  "FROM run WHERE project = ? AND series = ? AND point_ns > 0 "
                  "AND point_ns IS NOT NULL ORDER BY created_ns DESC, id LIMIT ?)",
                  err);
    sql_bind_text(&stmt, key->project);
    sql_bind_text(&stmt, key->series);
    sql_bind_u64(&stmt, STORE_MAX_POINTS);
    take_rows(&stmt, points, arena, figures, &values);
    bool ok = sql_end(&stmt);
    for (size_t i = 0; ok && i < figures->count; i++)
        ok = add_points(&figures->items[i], points, values.of[i], arena, err);
    return ok;
}

// --- judging ------------------------------------------------------------------------------------

// At which points there are alerts of each kind.
struct raised {
    bool *of[FIGURE_OF_LOSS + 1];
    size_t count;
};

static bool is_raised(const struct raised *raised, enum run_figure_kind kind, size_t at)
{
    size_t first = at > SAME_CAUSE_RUNS ? at - SAME_CAUSE_RUNS : 0;
    for (size_t i = first; i < raised->count && i <= at + SAME_CAUSE_RUNS; i++)
        if (raised->of[kind][i])
            return true;
    return false;
}

static void note(struct raised *raised, enum run_figure_kind kind,
                 const struct series_judgement *judgement, const size_t *at)
{
    for (size_t i = 0; i < judgement->alert_count; i++) {
        const struct series_alert *alert = &judgement->alerts[i];
        if (!alert->dropped)
            raised->of[kind][at ? at[alert->at] : alert->at] = true;
    }
}

// Alerts that someone has looked at stay.
static void drop_repeated(struct judged_figure *figure, const struct raised *raised)
{
    for (size_t i = 0; i < figure->judgement.alert_count; i++) {
        struct series_alert *alert = &figure->judgement.alerts[i];
        bool is_open = !alert->handled && (alert->id.len == 0 || alert->status == ALERT_NEW);
        alert->dropped = alert->dropped || (is_open && is_raised(raised, figure->figure->kind,
                                                                 figure->at[alert->at]));
    }
}

bool judged_figures_judge(struct judged_figures *figures, const struct series_judgement *of_steps,
                          struct arena *arena, struct err *err)
{
    struct raised raised = {.count = figures->point_count};
    for (int kind = FIGURE_FOLLOWS; kind <= FIGURE_OF_LOSS; kind++) {
        raised.of[kind] = arena_array(arena, raised.count + 1, sizeof(bool), err);
        if (!raised.of[kind])
            return false;
        memset(raised.of[kind], 0, (raised.count + 1) * sizeof(bool));
    }
    note(&raised, FIGURE_OF_TIME, of_steps, NULL);
    for (size_t i = 0; i < figures->count; i++) {
        struct judged_figure *figure = &figures->items[i];
        if (!series_judge(&figure->state, arena, &figure->judgement, err))
            return false;
        drop_repeated(figure, &raised);
        note(&raised, figure->figure->kind, &figure->judgement, figure->at);
    }
    return true;
}
