// SPDX-License-Identifier: Apache-2.0
// Rows and levels of a track, made in one pass: a slice that one level closes goes to the next.
#include "ingest/trace/timeline_levels.h"

#include "ingest/trace/trace_file_format.h"

#include <stdlib.h>

#define FEW_EVENTS     4096 // are read directly
#define EVENTS_A_SLICE 16   // in the first level, at average density
#define FAR_EVENTS     64   // 1 in 64 events at either end is ignored for that average
#define LEAST_SLICES   64   // fewest slices for the last level

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory for the timeline");
}

static bool push(struct timeline_level *level, const struct slice *slice, struct err *err)
{
    struct slice *slices =
        budget_room(NULL, level->slices, &level->cap, level->count + 1, sizeof *slices, err);
    if (!slices)
        return false;
    level->slices = slices;
    level->slices[level->count++] = *slice;
    return true;
}

// Adds a slice to a level; what that closes goes to the next level, and so on.
static bool add(struct timeline_levels *levels, uint32_t first, struct slice slice, struct err *err)
{
    uint64_t bit = (uint64_t)1 << slice.row;
    for (uint32_t i = first; i < levels->level_count; i++) {
        struct timeline_level *level = &levels->level[i];
        struct slice *open = &level->open[slice.row];
        bool was_open = level->is_open & bit;
        if (was_open && slice_merge(open, &slice, level->width_ns))
            return true;
        struct slice closed = *open;
        *open = slice;
        level->is_open |= bit;
        if (!was_open)
            return true;
        if (!push(level, &closed, err))
            return false;
        slice = closed;
    }
    return true;
}

static bool close_all(struct timeline_levels *levels, struct err *err)
{
    for (uint32_t i = 0; i < levels->level_count; i++)
        for (uint32_t row = 0; row < TIMELINE_ROWS; row++) {
            struct timeline_level *level = &levels->level[i];
            if (level->is_open >> row & 1 && (!push(level, &level->open[row], err) ||
                                              !add(levels, i + 1, level->open[row], err)))
                return false;
        }
    return true;
}

// Until when each row is taken.
struct rows {
    int64_t end_ns[TIMELINE_ROWS];
    uint64_t taken;
};

// Host events go below all that are still running, device events to the first free row.
static uint32_t take_row(struct rows *rows, bool device, int64_t begin_ns, int64_t end_ns)
{
    for (uint64_t left = rows->taken; left; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctzll(left);
        if (rows->end_ns[row] <= begin_ns)
            rows->taken &= ~((uint64_t)1 << row);
    }
    uint32_t row = 0;
    if (rows->taken)
        row = device ? (~rows->taken ? (uint32_t)__builtin_ctzll(~rows->taken) : TIMELINE_ROWS)
                     : 64 - (uint32_t)__builtin_clzll(rows->taken);
    if (row >= TIMELINE_ROWS)
        return TIMELINE_NO_ROW;
    rows->end_ns[row] = end_ns;
    rows->taken |= (uint64_t)1 << row;
    return row;
}

static bool has_collective(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->args[event];
    return event_kind_is_device((enum event_kind)trace->kind[event]) &&
           args < trace->device_args_count && trace->device_args[args].collective != ARGS_NONE;
}

static bool fill(const struct trace *trace, const struct track *track,
                 struct timeline_levels *levels, struct err *err)
{
    struct rows rows = {.taken = 0};
    bool device = track->family == TRACK_DEVICE || track->family == TRACK_DEVICE_NOTE;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = track->first + i;
        int64_t begin_ns = trace->begin_ns[event], dur_ns = trace->dur_ns[event];
        dur_ns = dur_ns < 0 ? 0 : dur_ns;
        uint32_t row = take_row(&rows, device, begin_ns, begin_ns + dur_ns);
        struct slice slice = {begin_ns,
                              begin_ns + dur_ns,
                              dur_ns,
                              dur_ns,
                              trace->name[event],
                              1,
                              trace->kind[event],
                              (uint8_t)row,
                              has_collective(trace, event)};
        levels->rows[i] = (uint8_t)(row | (slice.collective ? TIMELINE_COMM : 0));
        if (row != TIMELINE_NO_ROW && !add(levels, 0, slice, err))
            return false;
    }
    return close_all(levels, err);
}

// The time that a track's events span.
static int64_t span_of(const struct trace *trace, const struct track *track)
{
    int64_t end_ns = trace->begin_ns[track->first];
    for (uint32_t i = track->first; i < track->first + track->count; i++)
        if (trace->begin_ns[i] + trace->dur_ns[i] > end_ns)
            end_ns = trace->begin_ns[i] + trace->dur_ns[i];
    return end_ns - trace->begin_ns[track->first];
}

// Same without the events at either end: a few with a wrong clock may be far from all others.
static int64_t usual_span(const struct trace *trace, const struct track *track)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    uint32_t far = track->count / FAR_EVENTS;
    return begin_ns[track->count - 1 - far] - begin_ns[far];
}

static bool choose_levels(const struct trace *trace, const struct track *track,
                          struct timeline_levels *levels, struct err *err)
{
    if (track->count < FEW_EVENTS)
        return true;
    int64_t span_ns = span_of(trace, track), width_ns = 1;
    while (width_ns < usual_span(trace, track) / (track->count / EVENTS_A_SLICE))
        width_ns *= 2;
    for (; levels->level_count < TIMELINE_LEVELS && width_ns <= span_ns / LEAST_SLICES;
         width_ns *= 2) {
        struct timeline_level *level = &levels->level[levels->level_count++];
        level->width_ns = width_ns;
        level->open = calloc(TIMELINE_ROWS, sizeof *level->open);
        if (!level->open)
            return no_memory(err);
    }
    return true;
}

bool timeline_levels_make(const struct trace *trace, const struct track *track,
                          struct timeline_levels *levels, struct err *err)
{
    *levels = (struct timeline_levels){.rows = malloc((size_t)track->count + 1)};
    if (!levels->rows)
        return no_memory(err);
    return choose_levels(trace, track, levels, err) && fill(trace, track, levels, err);
}

void timeline_levels_free(struct timeline_levels *levels)
{
    for (uint32_t i = 0; i < levels->level_count; i++) {
        free(levels->level[i].slices);
        free(levels->level[i].open);
    }
    free(levels->rows);
}
