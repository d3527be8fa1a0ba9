// SPDX-License-Identifier: Apache-2.0
// Keeps the events of each piece of a curve that a chart must not lose.
#include "analysis/memory/memory_timeline.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#define KEPT   6 // per piece: first, last, minimum and maximum of two figures
#define PIECES ((MEMORY_TIMELINE_POINTS - 1) / KEPT)

struct timeline {
    const struct trace *trace;
    const struct memory_curve *curve;
    struct str device;
    int64_t origin_ns;
    struct report *report;
};

static bool add(const struct timeline *timeline, int64_t time_ns, int64_t allocated,
                int64_t reserved, struct err *err)
{
    struct row row = {.desc = &table_memory_timeline};
    row_text(&row, MEMORY_TIMELINE_DEVICE, timeline->device);
    row_i64(&row, MEMORY_TIMELINE_TIME_NS, time_ns - timeline->origin_ns);
    row_i64(&row, MEMORY_TIMELINE_ALLOCATED_BYTES, allocated);
    row_i64_if(&row, MEMORY_TIMELINE_RESERVED_BYTES, reserved != VALUE_ABSENT, reserved);
    return row_end(&row, timeline->report, err);
}

static bool add_point(const struct timeline *timeline, uint32_t point, struct err *err)
{
    return add(timeline, memory_curve_time(timeline->trace, timeline->curve, point),
               timeline->curve->allocated[point],
               memory_curve_reserved(timeline->trace, timeline->curve, point), err);
}

// Minimum and maximum of one figure in a piece; FACTS_NONE if not recorded.
struct extremes {
    uint32_t least, most;
    int64_t least_bytes, most_bytes;
};

static void widen(struct extremes *extremes, uint32_t point, int64_t bytes)
{
    bool first = extremes->least == FACTS_NONE;
    if (bytes == VALUE_ABSENT)
        return;
    if (first || bytes < extremes->least_bytes) {
        extremes->least = point;
        extremes->least_bytes = bytes;
    }
    if (first || bytes > extremes->most_bytes) {
        extremes->most = point;
        extremes->most_bytes = bytes;
    }
}

// The points of a piece to keep, ascending; those of unrecorded figures come last.
static void choose(const struct timeline *timeline, uint32_t first, uint32_t end,
                   uint32_t kept[KEPT])
{
    struct extremes allocated = {.least = FACTS_NONE, .most = FACTS_NONE}, reserved = allocated;
    for (uint32_t i = first; i < end; i++) {
        widen(&allocated, i, timeline->curve->allocated[i]);
        widen(&reserved, i, memory_curve_reserved(timeline->trace, timeline->curve, i));
    }
    const uint32_t found[KEPT] = {first,          end - 1,        allocated.least,
                                  allocated.most, reserved.least, reserved.most};
    for (unsigned i = 0; i < KEPT; i++) {
        unsigned at = i;
        for (; at > 0 && kept[at - 1] > found[i]; at--)
            kept[at] = kept[at - 1];
        kept[at] = found[i];
    }
}

static bool add_piece(const struct timeline *timeline, uint32_t first, uint32_t end,
                      struct err *err)
{
    uint32_t kept[KEPT];
    choose(timeline, first, end, kept);
    for (unsigned i = 0; i < KEPT && kept[i] != FACTS_NONE; i++)
        if ((i == 0 || kept[i] != kept[i - 1]) && !add_point(timeline, kept[i], err))
            return false;
    return true;
}

bool memory_timeline_add(const struct trace *trace, const struct memory_curve *curve,
                         int64_t origin_ns, struct report *report, struct err *err)
{
    char device[32];
    struct timeline timeline = {trace, curve, memory_curve_device(curve, device), origin_ns,
                                report};
    uint32_t count = curve->count;
    if (!add(&timeline, memory_curve_time(trace, curve, 0), curve->begin_bytes, VALUE_ABSENT, err))
        return false;
    uint32_t pieces = count < MEMORY_TIMELINE_POINTS ? count : PIECES;
    for (uint32_t p = 0; p < pieces; p++) {
        uint32_t first = (uint32_t)((uint64_t)count * p / pieces);
        uint32_t end = (uint32_t)((uint64_t)count * (p + 1) / pieces);
        if (!add_piece(&timeline, first, end, err))
            return false;
    }
    return true;
}
