// SPDX-License-Identifier: Apache-2.0
// What stands out in a series of runs, computed separately for those that are alike.
#include "server/store/series_judge.h"

#include "analysis/stats/change_points.h"
#include "analysis/stats/history_fence.h"
#include "analysis/stats/reals.h"
#include "analysis/stats/verdict.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

enum { REFERENCE_RUNS = 8, HISTORY_RUNS = 64, RETURN_RUNS = 3, SAME_CHANGE_RUNS = 3 };

// Without a fence, a step this close to the previous level counts as a return.
static const double unknown_fence_share = 0.02;

double series_share(double before_ns, double after_ns)
{
    return after_ns / before_ns - 1;
}

// Symmetric: a step twice as long and one half as long are equally far.
static double distance_share(double a_ns, double b_ns)
{
    return expm1(fabs(log(a_ns / b_ns)));
}

// The difference of another figure in that figure's unit.
static bool matters(const struct figure_scale *scale, double before, double after)
{
    if (scale->inverse) {
        before = 1 / before;
        after = 1 / after;
    }
    return fabs(after - before) >= fmax(scale->least_share * before, scale->least);
}

static bool is_relevant(const struct figure_scale *scale, double before_ns, double after_ns)
{
    struct verdict_limits limits = verdict_default_limits();
    if (scale)
        return matters(scale, before_ns, after_ns);
    return fabs(after_ns - before_ns) >= verdict_relevant_from_ns(&limits, before_ns);
}

// --- the runs that are alike --------------------------------------------------------------------

// Values for comparing neighbors: usual runs, with all levels scaled to one height.
struct history {
    double values[HISTORY_RUNS], measured[HISTORY_RUNS];
    size_t count;
    double scale; // from what was measured to height
};

// Usual runs of the level so far, the newest.
struct level {
    double values[REFERENCE_RUNS];
    size_t count;
};

struct lane {
    const struct series_state *state;
    size_t *at; // indexes of its points
    size_t count;
    double *values;
    bool *begins; // a level starts at this point
    struct change_point *changes;
    size_t change_count;
    // Differences that someone marked as noise: of levels, and of levels and single runs.
    double noise_share, run_noise_share;
    double fence_share; // at the end; NaN unknown
    struct arena *arena;
    struct series_judgement *out;
};

static void push(double *values, size_t *count, size_t cap, double value)
{
    if (*count == cap)
        memmove(values, values + 1, --*count * sizeof *values);
    values[(*count)++] = value;
}

static double median_of(const double *values, size_t count)
{
    double sorted[REFERENCE_RUNS];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, order_doubles);
    return reals_median(sorted, count);
}

static const struct series_alert *alert_at(const struct series_state *state, size_t at)
{
    for (size_t i = 0; i < state->alert_count; i++)
        if (state->alerts[i].at == at)
            return &state->alerts[i];
    return NULL;
}

// Of a single run, which says nothing of levels.
static bool is_marked_run(const struct series_alert *alert)
{
    return alert && alert->status == ALERT_NOISE && alert->kind == ALERT_OUTLIER;
}

static bool has_status(const struct lane *lane, size_t at, enum alert_status status)
{
    const struct series_alert *alert = alert_at(lane->state, at);
    return alert && alert->status == status;
}

static size_t previous_of(const struct lane *lane, size_t k)
{
    return k ? lane->at[k - 1] : SERIES_NONE;
}

static double at_least(double fence, double noise)
{
    return fmax(fence, noise > 0 ? noise : NAN); // fmax ignores NaN
}

// The most that neighbors differ by; NaN if that cannot be known yet.
static double fence_of(const struct lane *lane, const struct history *history)
{
    double fence = history_fence(history->values, history->count);
    if (!isnan(fence)) // scaled values do not show how they were printed
        fence = fmax(fence, history_printed_share(history->measured, history->count));
    return at_least(fence, lane->noise_share);
}

// The same for a single run, of which more may have been marked as noise.
static double run_fence_of(const struct lane *lane, const struct history *history)
{
    return at_least(fence_of(lane, history), lane->run_noise_share);
}

// Scales a level to the height of the previous one, so that the step between them does not count as
// a difference.
static void begin_level(struct history *history, struct level *level, double value)
{
    level->count = 0;
    if (history->count)
        history->scale = history->values[history->count - 1] / value;
}

static void keep_usual(struct history *history, struct level *level, double value)
{
    bool joins = level->count == 0 && history->count; // its height is in the history already
    size_t measured = history->count;
    if (!joins) {
        push(history->measured, &measured, HISTORY_RUNS, value);
        push(history->values, &history->count, HISTORY_RUNS, value * history->scale);
    }
    push(level->values, &level->count, REFERENCE_RUNS, value);
}

static bool add_alert(struct lane *lane, struct series_alert alert, struct err *err)
{
    struct series_judgement *out = lane->out;
    size_t cap = lane->state->alert_count + 2 * lane->state->point_count;
    if (out->alert_count == cap)
        return err_set(err, ERR_INTERNAL, "a series has more alerts than points");
    out->alerts[out->alert_count++] = alert;
    return true;
}

// --- single runs --------------------------------------------------------------------------------

// Compares each run with the earlier runs of its level.
struct sweep {
    struct history history;
    struct level level;
    size_t open; // index among the alerts of the current group of outliers, or SERIES_NONE
};

static bool is_outlier(const struct lane *lane, const struct sweep *sweep, size_t k)
{
    if (sweep->level.count == 0 || has_status(lane, lane->at[k], ALERT_NOISE))
        return false;
    double fence = run_fence_of(lane, &sweep->history);
    double before = median_of(sweep->level.values, sweep->level.count);
    return sweep->history.count >= HISTORY_MIN_RUNS && // noise marked by people is not history
           distance_share(before, lane->values[k]) > fence &&
           is_relevant(lane->state->scale, before, lane->values[k]);
}

// Whether a run only continues what the previous one started.
static bool goes_on(const struct lane *lane, const struct sweep *sweep, size_t k)
{
    if (sweep->open == SERIES_NONE)
        return false;
    const struct series_alert *open = &lane->out->alerts[sweep->open];
    bool same_way = (lane->values[k] > open->before_ns) == (open->after_ns > open->before_ns);
    return same_way && distance_share(lane->values[k - 1], lane->values[k]) <=
                           run_fence_of(lane, &sweep->history);
}

// If a level starts among outliers, they were its first sign: their alert becomes the level's,
// which is matched as a nearby one.
static void begin_with(struct lane *lane, struct sweep *sweep, size_t k)
{
    if (sweep->open != SERIES_NONE) {
        struct series_alert *open = &lane->out->alerts[sweep->open];
        if ((lane->values[k] > open->before_ns) == (open->after_ns > open->before_ns))
            open->at = SERIES_NONE;
    }
    begin_level(&sweep->history, &sweep->level, lane->values[k]);
    sweep->open = SERIES_NONE;
}

static bool pass_run(struct lane *lane, struct sweep *sweep, size_t k, struct err *err)
{
    double value = lane->values[k];
    struct series_point *point = &lane->state->points[lane->at[k]];
    if (lane->begins[k])
        begin_with(lane, sweep, k);
    point->fence_share = fence_of(lane, &sweep->history);
    point->usual = sweep->history.count;
    point->outlier = is_outlier(lane, sweep, k);
    if (!point->outlier) {
        if (sweep->open != SERIES_NONE)
            lane->out->alerts[sweep->open].status = ALERT_FIXED;
        sweep->open = SERIES_NONE;
        keep_usual(&sweep->history, &sweep->level, value);
        return true;
    }
    if (goes_on(lane, sweep, k))
        return true;
    double before = median_of(sweep->level.values, sweep->level.count);
    sweep->open = lane->out->alert_count;
    return add_alert(lane,
                     (struct series_alert){.id = STR(""),
                                           .at = lane->at[k],
                                           .kind = ALERT_OUTLIER,
                                           .previous = previous_of(lane, k),
                                           .before_ns = before,
                                           .after_ns = value},
                     err);
}

static bool find_outliers(struct lane *lane, struct err *err)
{
    struct sweep sweep = {.history.scale = 1, .open = SERIES_NONE};
    for (size_t k = 0; k < lane->count; k++)
        if (!pass_run(lane, &sweep, k, err))
            return false;
    lane->fence_share = fence_of(lane, &sweep.history);
    return true;
}

// --- levels -------------------------------------------------------------------------------------

static bool is_noise(const struct lane *lane, const struct change_point *change)
{
    return distance_share(change->before_ns, change->after_ns) <= lane->noise_share ||
           !is_relevant(lane->state->scale, change->before_ns, change->after_ns);
}

static void note_levels(struct lane *lane)
{
    size_t first = 0;
    for (size_t k = 0; k < lane->count; k++) {
        first = lane->begins[k] ? k : first;
        lane->state->points[lane->at[k]].level = lane->at[first];
    }
}

static bool find_levels(struct lane *lane, struct err *err)
{
    struct change_point *found;
    size_t count;
    if (!change_points_find(lane->values, lane->count, lane->arena, &found, &count, err))
        return false;
    lane->changes = found;
    for (size_t i = 0; i < count; i++)
        if (!is_noise(lane, &found[i])) {
            lane->changes[lane->change_count++] = found[i];
            lane->begins[found[i].at] = true;
        }
    for (size_t k = 0; k < lane->count; k++)
        lane->begins[k] = lane->begins[k] || has_status(lane, lane->at[k], ALERT_EXPECTED);
    note_levels(lane);
    return true;
}

// How close to the earlier step time a change counts as a return.
static double return_share(const struct lane *lane, double before_ns, double after_ns)
{
    double fence = isnan(lane->fence_share) ? unknown_fence_share : lane->fence_share;
    return fmin(fence, distance_share(before_ns, after_ns) / 2);
}

// Whether a change of level undoes an earlier one: back to the level before it, or beyond.
static bool is_back(const struct lane *lane, double before_ns, double after_ns, double step_ns)
{
    double tolerance = 1 + return_share(lane, before_ns, after_ns);
    return after_ns > before_ns ? step_ns <= before_ns * tolerance
                                : step_ns >= before_ns / tolerance;
}

static bool newest_are_back(const struct lane *lane, const struct change_point *change)
{
    if (lane->count < change->at + RETURN_RUNS)
        return false;
    for (size_t k = lane->count - RETURN_RUNS; k < lane->count; k++)
        if (!is_back(lane, change->before_ns, change->after_ns, lane->values[k]))
            return false;
    return true;
}

// The run whose alert tells the change. A single run that someone marked as noise keeps that mark
// when more runs show that its level stays: the next one tells it.
static size_t alert_run(const struct lane *lane, const struct change_point *change)
{
    size_t k = change->at;
    while (k + 1 < lane->count && is_marked_run(alert_at(lane->state, lane->at[k])))
        k++;
    return lane->at[k];
}

// The later change that undoes a slower level; SERIES_NONE if there is none. Losing an improvement
// is reported separately.
static size_t find_return(const struct lane *lane, size_t i)
{
    const struct change_point *change = &lane->changes[i];
    bool is_expected = has_status(lane, alert_run(lane, change), ALERT_EXPECTED);
    if (is_expected || change->after_ns < change->before_ns)
        return SERIES_NONE;
    for (size_t later = i + 1; later < lane->change_count; later++)
        if (is_back(lane, change->before_ns, change->after_ns, lane->changes[later].after_ns))
            return later;
    return SERIES_NONE;
}

static bool alert_change(struct lane *lane, size_t i, bool is_fixed, struct err *err)
{
    const struct change_point *change = &lane->changes[i];
    return add_alert(lane,
                     (struct series_alert){.id = STR(""),
                                           .at = alert_run(lane, change),
                                           .kind = ALERT_CHANGE,
                                           .status = is_fixed ? ALERT_FIXED : ALERT_NEW,
                                           .previous = previous_of(lane, change->at),
                                           .before_ns = change->before_ns,
                                           .after_ns = change->after_ns},
                     err);
}

// Changes up to the one that ends a slower level are closed with it; those on the way back are part
// of its end.
static bool alert_changes(struct lane *lane, struct err *err)
{
    size_t over = 0; // changes before this index are closed
    for (size_t i = 0; i < lane->change_count; i++) {
        const struct change_point *change = &lane->changes[i];
        size_t end = find_return(lane, i);
        bool is_fixed = end != SERIES_NONE || i < over || newest_are_back(lane, change);
        if (end != SERIES_NONE && end + 1 > over)
            over = end + 1;
        bool is_way_back = i < over && change->after_ns < change->before_ns;
        if (!is_way_back && !alert_change(lane, i, is_fixed, err))
            return false;
    }
    return true;
}

static void tell_changes(struct lane *lane)
{
    for (size_t i = 0; i < lane->change_count; i++)
        lane->out->changes[lane->out->change_count++] =
            (struct series_change){.at = lane->at[lane->changes[i].at],
                                   .previous = previous_of(lane, lane->changes[i].at),
                                   .reason = "step_time",
                                   .before_ns = lane->changes[i].before_ns,
                                   .after_ns = lane->changes[i].after_ns,
                                   .p_value = lane->changes[i].p_value};
}

// --- lanes --------------------------------------------------------------------------------------

bool series_is_alike(const struct series_point *a, const struct series_point *b)
{
    return a->ranks == b->ranks && str_equal(a->gpu, b->gpu) && str_equal(a->source, b->source);
}

// The first such run; the point itself if there is none before.
static size_t first_alike(const struct series_state *state, size_t at)
{
    size_t first = 0;
    while (!series_is_alike(&state->points[first], &state->points[at]))
        first++;
    return first;
}

// The largest difference that was marked as noise: of levels, and with_runs of single runs, too.
static double noise_of(const struct series_state *state, const struct series_point *alike,
                       bool with_runs)
{
    double share = 0;
    for (size_t i = 0; i < state->alert_count; i++) {
        const struct series_alert *alert = &state->alerts[i];
        if (alert->status == ALERT_NOISE && (with_runs || !is_marked_run(alert)) &&
            series_is_alike(&state->points[alert->at], alike))
            share = fmax(share, distance_share(alert->before_ns, alert->after_ns));
    }
    return share;
}

static bool open_lane(struct lane *lane, size_t first, struct err *err)
{
    const struct series_state *state = lane->state;
    lane->at = arena_array(lane->arena, state->point_count, sizeof *lane->at, err);
    lane->values = arena_array(lane->arena, state->point_count, sizeof *lane->values, err);
    lane->begins = arena_array(lane->arena, state->point_count, sizeof *lane->begins, err);
    if (!lane->at || !lane->values || !lane->begins)
        return false;
    for (size_t i = first; i < state->point_count; i++)
        if (series_is_alike(&state->points[first], &state->points[i])) {
            lane->begins[lane->count] = false;
            lane->at[lane->count] = i;
            lane->values[lane->count++] = state->points[i].step_ns;
        }
    lane->noise_share = noise_of(state, &state->points[first], false);
    lane->run_noise_share = noise_of(state, &state->points[first], true);
    return true;
}

// Where the GPU is not known, as of a run that has only a log, nothing is known to be another one.
static const char *hardware_reason(const struct series_point *before,
                                   const struct series_point *after)
{
    if (!str_equal(before->gpu, after->gpu))
        return "gpu";
    return before->ranks > 0 && after->ranks > 0 && before->ranks != after->ranks ? "ranks" : NULL;
}

static void tell_hardware(struct lane *lane, size_t first)
{
    const struct series_point *points = lane->state->points;
    size_t before = first; // the newest before it with a GPU, or, if it has none, without
    while (before > 0 && !points[before - 1].gpu.len != !points[first].gpu.len)
        before--;
    const char *reason = before ? hardware_reason(&points[before - 1], &points[first]) : NULL;
    if (reason)
        lane->out->changes[lane->out->change_count++] =
            (struct series_change){.at = first,
                                   .previous = before - 1,
                                   .reason = reason,
                                   .before_ns = points[before - 1].step_ns,
                                   .after_ns = points[first].step_ns,
                                   .p_value = NAN};
}

// The newest run compared with those before it.
static double last_share(const struct lane *lane)
{
    size_t before = lane->count - 1;
    size_t used = before < REFERENCE_RUNS ? before : REFERENCE_RUNS;
    if (used == 0)
        return NAN;
    return series_share(median_of(lane->values + before - used, used), lane->values[before]);
}

static bool judge_lane(const struct series_state *state, size_t first, struct arena *arena,
                       struct series_judgement *out, struct err *err)
{
    struct lane lane = {.state = state, .arena = arena, .out = out, .fence_share = NAN};
    if (!open_lane(&lane, first, err) || !find_levels(&lane, err) || !find_outliers(&lane, err) ||
        !alert_changes(&lane, err))
        return false;
    tell_hardware(&lane, first);
    tell_changes(&lane);
    if (lane.at[lane.count - 1] == state->point_count - 1)
        out->change_share = last_share(&lane);
    return true;
}

// --- alerts that are there already --------------------------------------------------------------

static bool is_worse(const struct series_alert *alert)
{
    return alert->after_ns > alert->before_ns;
}

static bool is_near(size_t a, size_t b)
{
    return (a > b ? a - b : b - a) <= SAME_CHANGE_RUNS;
}

// Updates a stored alert that was found again.
static void meet(struct series_alert *stored, const struct series_alert *found)
{
    bool is_open = stored->status == ALERT_NEW || stored->status == ALERT_ACKNOWLEDGED;
    stored->at = found->at;
    stored->kind = found->kind;
    stored->previous = found->previous;
    stored->before_ns = found->before_ns;
    stored->after_ns = found->after_ns;
    if (is_open && found->status == ALERT_FIXED)
        stored->status = ALERT_FIXED;
}

// With more runs a change may turn out to have started slightly earlier or later.
static bool is_moved(const struct series_state *state, const struct series_alert *stored,
                     const struct series_alert *found)
{
    return found->kind == ALERT_CHANGE && stored->status != ALERT_NOISE &&
           is_near(stored->at, found->at) && is_worse(stored) == is_worse(found) &&
           series_is_alike(&state->points[stored->at], &state->points[found->at]);
}

// Matches found alerts with stored ones: of the same run, else (nearby) of an adjacent one.
static void pair(const struct series_state *state, struct series_judgement *found, bool *is_met,
                 bool nearby)
{
    for (size_t i = 0; i < found->alert_count; i++) {
        struct series_alert *alert = &found->alerts[i];
        for (size_t s = 0; s < state->alert_count && alert->at != SERIES_NONE; s++) {
            struct series_alert *stored = &state->alerts[s];
            bool fits = nearby ? is_moved(state, stored, alert) : stored->at == alert->at;
            if (is_met[s] || !fits)
                continue;
            meet(stored, alert);
            is_met[s] = true;
            alert->at = SERIES_NONE; // represented by the stored one
        }
    }
}

// Stored alerts first, then new ones.
static bool settle_alerts(const struct series_state *state, struct series_judgement *found,
                          struct arena *arena, struct err *err)
{
    size_t cap = state->alert_count + found->alert_count;
    struct series_alert *all = arena_array(arena, cap + 1, sizeof *all, err);
    bool *is_met = arena_array(arena, state->alert_count + 1, sizeof *is_met, err);
    if (!all || !is_met)
        return false;
    memset(is_met, 0, (state->alert_count + 1) * sizeof *is_met);
    pair(state, found, is_met, false);
    pair(state, found, is_met, true);
    size_t count = 0;
    for (size_t s = 0; s < state->alert_count; s++) {
        all[count] = state->alerts[s];
        all[count].dropped = !is_met[s] && !all[count].handled && all[count].status == ALERT_NEW;
        count++;
    }
    for (size_t i = 0; i < found->alert_count; i++)
        if (found->alerts[i].at != SERIES_NONE)
            all[count++] = found->alerts[i];
    found->alerts = all;
    found->alert_count = count;
    return true;
}

static int compare_changes(const void *a, const void *b)
{
    size_t x = ((const struct series_change *)a)->at, y = ((const struct series_change *)b)->at;
    return (x > y) - (x < y);
}

bool series_judge(const struct series_state *state, struct arena *arena,
                  struct series_judgement *judgement, struct err *err)
{
    size_t cap = state->alert_count + 2 * state->point_count;
    *judgement = (struct series_judgement){.change_share = NAN};
    judgement->changes =
        arena_array(arena, 2 * state->point_count + 1, sizeof *judgement->changes, err);
    judgement->alerts = arena_array(arena, cap + 1, sizeof *judgement->alerts, err);
    if (!judgement->changes || !judgement->alerts)
        return false;
    for (size_t at = 0; at < state->point_count; at++)
        if (first_alike(state, at) == at && !judge_lane(state, at, arena, judgement, err))
            return false;
    qsort(judgement->changes, judgement->change_count, sizeof *judgement->changes, compare_changes);
    return settle_alerts(state, judgement, arena, err);
}

// --- two of its runs ----------------------------------------------------------------------------

static const struct series_alert *alert_between(const struct series_judgement *judged, size_t from,
                                                size_t to)
{
    for (size_t i = 0; i < judged->alert_count; i++) {
        const struct series_alert *alert = &judged->alerts[i];
        if (alert->at == to && alert->previous == from && !alert->dropped)
            return alert;
    }
    return NULL;
}

// The logarithm by which the level changed after one point and up to another; 0 if it did not, or
// if changes cancel out.
static double level_step(const struct series_state *state, const struct series_judgement *judged,
                         size_t from, size_t to, double *p_value)
{
    double before_ns = NAN, after_ns = NAN, least_share = unknown_fence_share;
    *p_value = 0;
    for (size_t i = 0; i < judged->change_count; i++) {
        const struct series_change *change = &judged->changes[i];
        if (change->at <= from || change->at > to || isnan(change->p_value) ||
            !series_is_alike(&state->points[change->at], &state->points[to]))
            continue;
        before_ns = isnan(before_ns) ? change->before_ns : before_ns;
        after_ns = change->after_ns;
        least_share = fmin(least_share, distance_share(change->before_ns, change->after_ns) / 2);
        *p_value = fmax(*p_value, change->p_value);
    }
    return distance_share(before_ns, after_ns) > least_share ? log(after_ns / before_ns) : 0;
}

// If too few runs came before: how much all runs like the point's differ. A quarter of the
// neighbors may be far apart without affecting it, so a single change of level does not.
static bool judge_whole(const struct series_state *state, size_t at, struct arena *arena,
                        struct series_evidence *evidence, struct err *err)
{
    double *values = arena_array(arena, state->point_count, sizeof *values, err);
    size_t count = 0;
    for (size_t i = 0; values && i < state->point_count; i++)
        if (series_is_alike(&state->points[i], &state->points[at]))
            values[count++] = state->points[i].step_ns;
    if (values && count >= HISTORY_MIN_RUNS) {
        evidence->fence_share =
            at_least(history_fence(values, count), noise_of(state, &state->points[at], false));
        evidence->runs = count;
    }
    return values != NULL;
}

static bool judge_fence(const struct series_state *state, size_t to, struct arena *arena,
                        struct series_evidence *evidence, struct err *err)
{
    evidence->fence_share = state->points[to].fence_share;
    evidence->runs = state->points[to].usual;
    return !isnan(evidence->fence_share) || judge_whole(state, to, arena, evidence, err);
}

// Of a run that was marked as noise its own difference is usual, and another one's beside it.
static double marked_factor(const struct series_state *state, size_t at)
{
    const struct series_alert *alert = alert_at(state, at);
    return is_marked_run(alert) ? 1 + distance_share(alert->before_ns, alert->after_ns) : 1;
}

// What lies between two runs says something of them only if they show it themselves: a level by at
// least half of its change, a single run by more than the fence.
static void judge_change(const struct series_state *state, const struct series_judgement *judged,
                         size_t from, size_t to, struct series_evidence *evidence)
{
    const struct series_point *points = state->points;
    double moved = log(points[to].step_ns / points[from].step_ns), p_value;
    double level = level_step(state, judged, from, to, &p_value);
    bool by_level = moved * level > 0 && fabs(moved) >= fabs(level) / 2;
    bool by_run =
        points[from].outlier != points[to].outlier && expm1(fabs(moved)) > evidence->fence_share;
    const struct series_alert *alert = alert_between(judged, from, to);
    evidence->changed = (by_level || by_run) && !(alert && alert->status == ALERT_NOISE);
    evidence->p_value = evidence->changed && by_level ? p_value : NAN;
}

bool series_judge_pair(const struct series_state *state, size_t a, size_t b, struct arena *arena,
                       struct series_evidence *evidence, struct err *err)
{
    struct series_judgement judged;
    size_t from = a < b ? a : b, to = a < b ? b : a;
    *evidence = (struct series_evidence){.p_value = NAN, .fence_share = NAN};
    if (!series_is_alike(&state->points[from], &state->points[to]))
        return true;
    if (!series_judge(state, arena, &judged, err) || !judge_fence(state, to, arena, evidence, err))
        return false;
    evidence->known = true;
    evidence->fence_share =
        (1 + evidence->fence_share) * marked_factor(state, from) * marked_factor(state, to) - 1;
    judge_change(state, &judged, from, to, evidence);
    return true;
}
