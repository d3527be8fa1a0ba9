// SPDX-License-Identifier: Apache-2.0
#include "analysis/comm/link_reference.h"

#include "ingest/base/first_after.h"

#include <math.h>
#include <stdlib.h>

static const double ENOUGH_SHARE = 0.8, RISING = 1.05;
static const double FLOOR_SIZES = 4, FLOOR_TIMES = 1.5;

// --- measurements -------------------------------------------------------------------------------

struct sample {
    enum collective_kind kind;
    bool guessed;
    int64_t ranks, nodes;
    struct link_point point;
};

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_curve(const struct sample *a, const struct sample *b)
{
    int kind = order(a->kind, b->kind), ranks = order(a->ranks, b->ranks);
    return kind ? kind : ranks ? ranks : order(a->nodes, b->nodes);
}

static int by_size(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int curve = by_curve(a, b);
    return curve ? curve : order(a->point.bytes, b->point.bytes);
}

// Printed bandwidths have two decimals, which is coarse for small messages. The time is more
// precise if it is the collective's; with -C it is the host's.
static struct link_point point_of(const struct link_row *row, double factor)
{
    static const double UNIT = 0.01e9, TOLERANCE = 0.01;
    struct link_point point = {row->bytes, row->bus_bps, NAN, row->run};
    double algorithm = (double)row->bytes / (row->time_ns / 1e9);
    double apart = fabs(algorithm - row->algorithm_bps);
    if (!(row->time_ns > 0) || !(apart <= fmax(UNIT, TOLERANCE * algorithm)))
        return point;
    point.time_ns = row->time_ns;
    if (!(row->bus_bps > 100 * UNIT))
        point.bus_bps = algorithm * factor;
    return point;
}

static bool is_test(const struct link_run *run)
{
    return run->ranks > 1 && link_run_is_collective(run);
}

static size_t collect(const struct link_tests *tests, struct sample *samples)
{
    const struct link_run *runs = tests->parts[LINK_RUNS].items;
    const struct link_row *rows = tests->parts[LINK_ROWS].items;
    size_t count = 0;
    for (size_t i = 0; i < tests->parts[LINK_ROWS].count; i++) {
        const struct link_run *run = &runs[rows[i].run];
        enum collective_kind kind = bandwidth_kind(run->collective);
        double factor = bandwidth_bus_factor(kind, run->ranks);
        if (!is_test(run) || isnan(factor) || rows[i].bytes <= 0 || rows[i].wrong > 0)
            continue;
        struct link_point point = point_of(&rows[i], factor);
        if (point.bus_bps > 0)
            samples[count++] = (struct sample){kind, run->guessed, run->ranks, run->nodes, point};
    }
    if (count)
        qsort(samples, count, sizeof *samples, by_size);
    return count;
}

// --- curves -------------------------------------------------------------------------------------

static void find_peak(struct link_curve *curve)
{
    const struct link_point *points = curve->points;
    size_t peak = 0, last = curve->count - 1;
    for (size_t i = 1; i < curve->count; i++)
        peak = points[i].bus_bps > points[peak].bus_bps ? i : peak;
    curve->peak_bps = points[peak].bus_bps;
    curve->peak_bytes = points[peak].bytes;
    curve->rising =
        last == 0 || (peak == last && points[last].bus_bps > RISING * points[last - 1].bus_bps);
    for (size_t i = 0; !curve->enough_bytes; i++)
        if (points[i].bus_bps >= ENOUGH_SHARE * curve->peak_bps)
            curve->enough_bytes = points[i].bytes;
}

static void find_floor(struct link_curve *curve)
{
    double least_ns = NAN, later_ns = NAN; // of all sizes, and of those that are large enough
    for (size_t i = 0; i < curve->count; i++) {
        double time_ns = curve->points[i].time_ns;
        least_ns = fmin(least_ns, time_ns);
        if ((double)curve->points[i].bytes >= FLOOR_SIZES * (double)curve->points[0].bytes)
            later_ns = fmin(later_ns, time_ns);
    }
    curve->floor_ns = later_ns <= FLOOR_TIMES * curve->points[0].time_ns ? least_ns : NAN;
}

// How many samples from there on belong to one curve.
static size_t curve_length(const struct sample *samples, size_t count)
{
    size_t same = 1;
    while (same < count && by_curve(&samples[same], samples) == 0)
        same++;
    return same;
}

// The best of each size; returns how many sizes.
static size_t merge(const struct sample *samples, size_t count, struct link_point *points)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct link_point *point = &samples[i].point;
        if (kept && points[kept - 1].bytes == point->bytes) {
            struct link_point *best = &points[kept - 1];
            best->run = point->bus_bps > best->bus_bps ? point->run : best->run;
            best->bus_bps = fmax(best->bus_bps, point->bus_bps);
            best->time_ns = fmin(best->time_ns, point->time_ns);
        } else {
            points[kept++] = *point;
        }
    }
    return kept;
}

static struct link_curve curve_of(const struct sample *samples, size_t count,
                                  struct link_point *points)
{
    struct link_curve curve = {
        .kind = samples->kind, .ranks = samples->ranks, .nodes = samples->nodes, .points = points};
    for (size_t i = 0; i < count; i++)
        curve.guessed = curve.guessed || samples[i].guessed;
    curve.count = merge(samples, count, points);
    find_peak(&curve);
    find_floor(&curve);
    return curve;
}

static size_t count_curves(const struct sample *samples, size_t count)
{
    size_t curves = 0;
    for (size_t i = 0; i < count; i += curve_length(samples + i, count - i))
        curves++;
    return curves;
}

bool link_reference_make(const struct link_tests *tests, struct arena *arena,
                         struct link_reference *reference, struct err *err)
{
    size_t rows = tests->parts[LINK_ROWS].count;
    *reference = (struct link_reference){0};
    if (rows == 0)
        return true;
    struct sample *samples = arena_room(arena, rows, sizeof *samples, err);
    struct link_point *points = samples ? arena_room(arena, rows, sizeof *points, err) : NULL;
    if (!points)
        return false;
    size_t count = collect(tests, samples);
    struct link_curve *curves =
        arena_array(arena, count_curves(samples, count) + 1, sizeof *curves, err);
    if (!curves)
        return false;
    for (size_t i = 0, length; i < count; i += length) {
        length = curve_length(samples + i, count - i);
        curves[reference->count++] = curve_of(samples + i, length, points + i);
    }
    reference->curves = curves;
    return true;
}

// --- looking up ---------------------------------------------------------------------------------

static bool has_other_nodes(const struct link_curve *curve, const struct link_query *query)
{
    if (query->nodes == LINK_NODES_SEVERAL)
        return curve->nodes == 1;
    return query->nodes && curve->nodes && curve->nodes != query->nodes;
}

static enum link_answer find_curve(const struct link_reference *reference,
                                   const struct link_query *query, const struct link_curve **found)
{
    enum link_answer answer = LINK_NO_COLLECTIVE;
    size_t fit = 0;
    for (size_t i = 0; i < reference->count; i++) {
        const struct link_curve *curve = &reference->curves[i];
        if (curve->kind != query->kind)
            continue;
        answer = answer == LINK_NO_COLLECTIVE ? LINK_NO_RANKS : answer;
        if (curve->ranks != query->ranks || has_other_nodes(curve, query))
            continue;
        // curves whose number of nodes is known come after those without
        bool same_nodes = query->nodes && curve->nodes == query->nodes;
        fit = same_nodes ? 1 : fit + 1;
        *found = curve;
        answer = fit > 1 ? LINK_SEVERAL_NODES : LINK_FOUND;
    }
    if (answer != LINK_FOUND)
        *found = NULL;
    return answer;
}

static bool is_smaller(const void *points, size_t index, const void *bytes)
{
    return ((const struct link_point *)points)[index].bytes < *(const int64_t *)bytes;
}

static double between(const struct link_point *low, const struct link_point *high, int64_t bytes)
{
    double share =
        log((double)bytes / (double)low->bytes) / log((double)high->bytes / (double)low->bytes);
    return low->bus_bps * pow(high->bus_bps / low->bus_bps, share);
}

// The bandwidth expected at a size: between two points by interpolation, just beyond the ends that
// of the end.
static void expect(struct link_expected *expected, int64_t bytes)
{
    const struct link_point *points = expected->curve->points;
    size_t count = expected->curve->count;
    size_t at = first_after(points, count, is_smaller, &bytes);
    const struct link_point *end = &points[at < count ? at : count - 1];
    expected->run = end->run;
    if (at > 0 && at < count)
        expected->bus_bps = between(&points[at - 1], end, bytes);
    else if ((double)bytes <= LINK_NEAR * (double)end->bytes &&
             (double)end->bytes <= LINK_NEAR * (double)bytes)
        expected->bus_bps = end->bus_bps;
    else
        expected->answer = at == 0 ? LINK_TOO_SMALL : LINK_TOO_LARGE;
}

struct link_expected link_reference_find(const struct link_reference *reference,
                                         const struct link_query *query)
{
    struct link_expected expected = {.bus_bps = NAN, .time_ns = NAN};
    expected.answer = find_curve(reference, query, &expected.curve);
    if (expected.answer == LINK_FOUND)
        expect(&expected, query->bytes);
    double factor = bandwidth_bus_factor(query->kind, query->ranks);
    expected.time_ns = (double)query->bytes * factor / expected.bus_bps * 1e9;
    return expected;
}
