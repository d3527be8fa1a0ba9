// SPDX-License-Identifier: Apache-2.0
// Reads a window: for each track the level that is just fine enough, and of that the blocks that
// overlap the window.
#include "ingest/trace/timeline.h"

#include "ingest/trace/timeline_names.h"
#include "ingest/trace/trace_tracks.h"

#include <stdlib.h>

// One of the two families of columns: events, and the slices of all levels.
struct source {
    enum section_id begin, dur, name, kind, row, times;
    bool merged; // has the columns of merged slices
};

static const struct source event_source = {SECTION_BEGIN, SECTION_DUR,   SECTION_NAME, SECTION_KIND,
                                           SECTION_ROW,   SECTION_TIMES, false};
static const struct source slice_source = {SECTION_SLICE_BEGIN,
                                           SECTION_SLICE_DUR,
                                           SECTION_SLICE_NAME,
                                           SECTION_SLICE_KIND,
                                           SECTION_SLICE_ROW,
                                           SECTION_SLICE_TIMES,
                                           true};

struct block {
    const struct source *source; // NULL: none yet
    uint64_t number;
    size_t count;
    int64_t begin_ns[COLUMN_BLOCK], dur_ns[COLUMN_BLOCK], idle_ns[COLUMN_BLOCK],
        others_ns[COLUMN_BLOCK];
    str_id name[COLUMN_BLOCK];
    uint32_t events[COLUMN_BLOCK];
    uint8_t kind[COLUMN_BLOCK], row[COLUMN_BLOCK];
};

struct reader {
    const struct trace_file *file;
    const struct timeline_query *query;
    int64_t resolution_ns;
    struct block *block;
    struct block_times *event_times, *slice_times;
    struct level_entry *levels;
    size_t level_count, next_level;
    struct slice open[TIMELINE_ROWS];
    uint64_t is_open;
    struct slice *slices; // malloc
    size_t slice_count, slice_cap;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory for the timeline");
}

static bool push(struct reader *reader, const struct slice *slice, struct err *err)
{
    struct slice *slices = budget_room(NULL, reader->slices, &reader->slice_cap,
                                       reader->slice_count + 1, sizeof *slices, err);
    if (!slices)
        return false;
    reader->slices = slices;
    reader->slices[reader->slice_count++] = *slice;
    return true;
}

static bool add(struct reader *reader, const struct slice *slice, struct err *err)
{
    struct slice *open = &reader->open[slice->row];
    uint64_t bit = (uint64_t)1 << slice->row;
    bool was_open = reader->is_open & bit;
    if (was_open && slice_merge(open, slice, reader->resolution_ns))
        return true;
    if (was_open && !push(reader, open, err))
        return false;
    *open = *slice;
    reader->is_open |= bit;
    return true;
}

static bool close_rows(struct reader *reader, struct err *err)
{
    for (; reader->is_open; reader->is_open &= reader->is_open - 1)
        if (!push(reader, &reader->open[__builtin_ctzll(reader->is_open)], err))
            return false;
    return true;
}

// --- blocks -------------------------------------------------------------------------------------

static bool unpack(struct reader *reader, const struct source *source, uint64_t number,
                   struct err *err)
{
    struct block *b = reader->block;
    const struct trace_file *file = reader->file;
    if (b->source == source && b->number == number)
        return true;
    b->source = NULL;
    if (!trace_file_block(file, source->begin, number, b->begin_ns, err) ||
        !trace_file_block(file, source->dur, number, b->dur_ns, err) ||
        !trace_file_block(file, source->name, number, b->name, err) ||
        !trace_file_block(file, source->kind, number, b->kind, err) ||
        !trace_file_block(file, source->row, number, b->row, err))
        return false;
    if (source->merged &&
        (!trace_file_block(file, SECTION_SLICE_IDLE, number, b->idle_ns, err) ||
         !trace_file_block(file, SECTION_SLICE_OTHERS, number, b->others_ns, err) ||
         !trace_file_block(file, SECTION_SLICE_COUNT, number, b->events, err)))
        return false;
    b->source = source;
    b->number = number;
    b->count = trace_file_block_count(file, source->begin, number);
    return true;
}

// The slice at a position in a block. Only slices in shown rows are checked; others are unused.
static bool slice_at(const struct reader *reader, size_t i, struct slice *slice)
{
    const struct block *b = reader->block;
    bool merged = b->source->merged;
    int64_t begin_ns = b->begin_ns[i], dur_ns = b->dur_ns[i];
    if (begin_ns < -TRACE_MAX_NS || begin_ns > TRACE_MAX_NS || dur_ns > 2 * TRACE_MAX_NS ||
        dur_ns < (merged ? 0 : -2 * TRACE_MAX_NS) || b->kind[i] >= EVENT_KIND_COUNT ||
        b->name[i] >= trace_file_count(reader->file, SECTION_SPANS))
        return false;
    dur_ns = dur_ns < 0 ? 0 : dur_ns;
    *slice = (struct slice){begin_ns,
                            begin_ns + dur_ns,
                            dur_ns,
                            dur_ns,
                            b->name[i],
                            1,
                            b->kind[i],
                            b->row[i] & (TIMELINE_COMM - 1),
                            b->row[i] & TIMELINE_COMM};
    if (!merged)
        return true;
    return !__builtin_sub_overflow(dur_ns, b->idle_ns[i], &slice->busy_ns) &&
           !__builtin_sub_overflow(slice->busy_ns, b->others_ns[i], &slice->longest_ns) &&
           slice->longest_ns >= 0 && slice->longest_ns <= slice->busy_ns &&
           (slice->count = b->events[i]) > 0;
}

// Adds elements from .. to - 1 of the unpacked block that overlap the window.
static bool add_block(struct reader *reader, size_t from, size_t to, struct err *err)
{
    const struct block *b = reader->block;
    const struct timeline_query *query = reader->query;
    for (size_t i = from; i < to; i++) {
        struct slice slice;
        if ((b->row[i] & (TIMELINE_COMM - 1)) >= query->rows || b->begin_ns[i] >= query->to_ns)
            continue;
        if (!slice_at(reader, i, &slice))
            return trace_file_damaged(reader->file, "a value of the timeline is out of bounds",
                                      err);
        if ((slice.end_ns > query->from_ns || slice.begin_ns >= query->from_ns) &&
            !add(reader, &slice, err))
            return false;
    }
    return true;
}

// Adds elements first .. first + count - 1 of a source.
static bool add_range(struct reader *reader, const struct source *source, uint64_t first,
                      uint64_t count, struct err *err)
{
    const struct block_times *times = source->merged ? reader->slice_times : reader->event_times;
    uint64_t end = first + count;
    for (uint64_t number = first / COLUMN_BLOCK; number * COLUMN_BLOCK < end; number++) {
        if (times[number].end_ns < reader->query->from_ns ||
            times[number].begin_ns >= reader->query->to_ns)
            continue;
        uint64_t base = number * COLUMN_BLOCK;
        if (!unpack(reader, source, number, err) ||
            !add_block(reader, first > base ? (size_t)(first - base) : 0,
                       end - base < COLUMN_BLOCK ? (size_t)(end - base) : COLUMN_BLOCK, err))
            return false;
    }
    return true;
}

// --- tracks -------------------------------------------------------------------------------------

// The coarsest level of a track that the resolution allows; NULL: its events. Levels are grouped by
// track.
static const struct level_entry *level_for(struct reader *reader, size_t track)
{
    const struct level_entry *best = NULL;
    for (; reader->next_level < reader->level_count; reader->next_level++) {
        const struct level_entry *level = &reader->levels[reader->next_level];
        if (level->track > track)
            break;
        if (level->track == track && level->width_ns <= reader->resolution_ns &&
            (!best || level->width_ns > best->width_ns))
            best = level;
    }
    return best;
}

// Sorts a lane's slices by row; within a row they are already in order.
static bool sort_rows(struct reader *reader, struct timeline_lane *lane, struct err *err)
{
    if (lane->count < 2) {
        lane->rows = lane->count ? reader->slices[lane->first].row + 1u : 0;
        return true;
    }
    struct slice *slices = reader->slices + lane->first;
    size_t place[TIMELINE_ROWS + 1] = {0};
    for (size_t i = 0; i < lane->count; i++)
        place[slices[i].row + 1]++;
    for (uint32_t row = 0; row < TIMELINE_ROWS; row++) {
        lane->rows = place[row + 1] ? row + 1 : lane->rows;
        place[row + 1] += place[row];
    }
    if (lane->rows < 2)
        return true;
    struct slice *sorted = malloc(lane->count * sizeof *sorted);
    if (!sorted)
        return no_memory(err);
    for (size_t i = 0; i < lane->count; i++)
        sorted[place[slices[i].row]++] = slices[i];
    memcpy(slices, sorted, lane->count * sizeof *sorted);
    free(sorted);
    return true;
}

static bool read_lane(struct reader *reader, struct timeline_lane *lane, struct err *err)
{
    const struct level_entry *level = level_for(reader, lane->number);
    lane->first = reader->slice_count;
    bool ok = level ? add_range(reader, &slice_source, level->first, level->count, err)
                    : add_range(reader, &event_source, lane->track.first, lane->track.count, err);
    if (!ok || !close_rows(reader, err))
        return false;
    lane->count = reader->slice_count - lane->first;
    return sort_rows(reader, lane, err);
}

// The requested lanes; slices are read later.
static void list_lanes(const struct reader *reader, const struct track *tracks, size_t count,
                       struct timeline *timeline)
{
    for (size_t i = 0; i < count; i++) {
        if (reader->query->device_only && !track_is_device(&tracks[i]))
            continue;
        timeline->lanes[timeline->lane_count++] =
            (struct timeline_lane){.track = tracks[i], .number = (uint32_t)i};
    }
}

static int by_count_descending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left < right) - (left > right);
}

// If there are too many lanes, keeps the TIMELINE_LANES with the most events, in their order.
static bool leave_out(struct timeline *timeline, struct arena *arena, struct err *err)
{
    size_t count = timeline->lane_count, kept = 0, equal = TIMELINE_LANES;
    if (count <= TIMELINE_LANES)
        return true;
    uint32_t *events = arena_room(arena, count, sizeof *events, err);
    if (!events)
        return false;
    for (size_t i = 0; i < count; i++)
        events[i] = timeline->lanes[i].track.count;
    qsort(events, count, sizeof *events, by_count_descending);
    uint32_t least = events[TIMELINE_LANES - 1];
    for (size_t i = 0; i < TIMELINE_LANES; i++)
        equal -= events[i] > least;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = timeline->lanes[i].track.count;
        if (own < least || (own == least && equal == 0))
            continue;
        equal -= own == least;
        timeline->lanes[kept++] = timeline->lanes[i];
    }
    timeline->lane_count = kept;
    timeline->lanes_left_out = count - kept;
    return true;
}

static bool read_lanes(struct reader *reader, struct timeline *timeline, struct arena *arena,
                       struct err *err)
{
    struct track *tracks;
    size_t count;
    if (!trace_tracks_read(reader->file, arena, &tracks, &count, err))
        return false;
    timeline->lanes = arena_array(arena, count + 1, sizeof *timeline->lanes, err);
    if (!timeline->lanes)
        return false;
    list_lanes(reader, tracks, count, timeline);
    if (!leave_out(timeline, arena, err))
        return false;
    for (size_t i = 0; i < timeline->lane_count; i++)
        if (!read_lane(reader, &timeline->lanes[i], err))
            return false;
    return true;
}

// --- the whole ----------------------------------------------------------------------------------

static bool check_levels(const struct reader *reader, struct err *err)
{
    uint64_t slices = trace_file_count(reader->file, SECTION_SLICE_BEGIN);
    for (size_t i = 0; i < reader->level_count; i++)
        if (reader->levels[i].first > slices ||
            reader->levels[i].count > slices - reader->levels[i].first)
            return trace_file_damaged(reader->file, "a level is out of bounds", err);
    return true;
}

// Any two neighbors on a row together last longer than this, so that at most px slices are in the
// window: at most px / 2 pairs fit in it, plus four slices at its ends.
static int64_t resolution(const struct timeline_query *query)
{
    int64_t pairs = (query->px - 4) / 2;
    return (query->to_ns - query->from_ns + pairs - 1) / pairs;
}

static bool read_all(struct reader *reader, struct arena *arena, struct timeline *timeline,
                     struct err *err)
{
    const struct trace_file *file = reader->file;
    reader->level_count = (size_t)trace_file_count(file, SECTION_LEVELS);
    if (!(reader->event_times = trace_tracks_section(file, SECTION_TIMES, arena, err)) ||
        !(reader->slice_times = trace_tracks_section(file, SECTION_SLICE_TIMES, arena, err)) ||
        !(reader->levels = trace_tracks_section(file, SECTION_LEVELS, arena, err)) ||
        !(reader->block = arena_room(arena, 1, sizeof *reader->block, err)) ||
        !check_levels(reader, err))
        return false;
    reader->block->source = NULL;
    return read_lanes(reader, timeline, arena, err);
}

bool timeline_read(const struct trace_file *file, const struct timeline_query *query,
                   struct arena *arena, struct timeline *timeline, struct err *err)
{
    struct reader reader = {.file = file, .query = query, .resolution_ns = resolution(query)};
    *timeline = (struct timeline){.resolution_ns = reader.resolution_ns};
    bool ok = read_all(&reader, arena, timeline, err);
    if (ok) {
        size_t bytes = reader.slice_count * sizeof *reader.slices;
        timeline->slice_count = reader.slice_count;
        timeline->slices = arena_room(arena, reader.slice_count + 1, sizeof *reader.slices, err);
        ok = timeline->slices;
        if (ok && bytes)
            memcpy(timeline->slices, reader.slices, bytes);
    }
    free(reader.slices);
    return ok && timeline_names_read(file, arena, timeline, err);
}
