// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/trace_events.h"

#include <stdlib.h>

struct event_block {
    uint64_t number, used; // used: 0 for none
    size_t count;
    int64_t begin_ns[COLUMN_BLOCK], dur_ns[COLUMN_BLOCK];
    str_id name[COLUMN_BLOCK];
    uint32_t args[COLUMN_BLOCK];
    uint8_t kind[COLUMN_BLOCK], row[COLUMN_BLOCK];
};

bool trace_events_open(struct trace_events *events, const struct trace_file *file, unsigned blocks,
                       struct err *err)
{
    *events = (struct trace_events){.file = file, .kept = blocks};
    arena_init(&events->arena, NULL);
    events->blocks = arena_array(&events->arena, blocks, sizeof *events->blocks, err);
    return events->blocks &&
           trace_tracks_read(file, &events->arena, &events->tracks, &events->track_count, err) &&
           (events->times = trace_tracks_section(file, SECTION_TIMES, &events->arena, err));
}

void trace_events_close(struct trace_events *events)
{
    for (unsigned i = 0; events->blocks && i < events->kept; i++)
        free(events->blocks[i]);
    arena_free(&events->arena);
    *events = (struct trace_events){0};
}

struct trace_cursor trace_events_start(const struct trace_events *events, size_t track)
{
    const struct track *at = &events->tracks[track];
    return (struct trace_cursor){.next = at->first, .end = (uint64_t)at->first + at->count};
}

// --- blocks -------------------------------------------------------------------------------------

static bool is_sound(const struct trace_events *events, const struct event_block *block, size_t i)
{
    return block->begin_ns[i] >= -TRACE_MAX_NS && block->begin_ns[i] <= TRACE_MAX_NS &&
           block->dur_ns[i] >= -2 * TRACE_MAX_NS && block->dur_ns[i] <= 2 * TRACE_MAX_NS &&
           block->kind[i] < EVENT_KIND_COUNT &&
           block->name[i] < trace_file_count(events->file, SECTION_SPANS);
}

static bool unpack(const struct trace_events *events, uint64_t number, struct event_block *block,
                   struct err *err)
{
    const struct trace_file *file = events->file;
    block->used = 0;
    if (!trace_file_block(file, SECTION_BEGIN, number, block->begin_ns, err) ||
        !trace_file_block(file, SECTION_DUR, number, block->dur_ns, err) ||
        !trace_file_block(file, SECTION_NAME, number, block->name, err) ||
        !trace_file_block(file, SECTION_ARGS, number, block->args, err) ||
        !trace_file_block(file, SECTION_KIND, number, block->kind, err) ||
        !trace_file_block(file, SECTION_ROW, number, block->row, err))
        return false;
    block->number = number;
    block->count = trace_file_block_count(file, SECTION_BEGIN, number);
    for (size_t i = 0; i < block->count; i++)
        if (!is_sound(events, block, i))
            return trace_file_damaged(file, "an event is out of bounds", err);
    return true;
}

// Where a block is, or where it should go: a free place, else that of the one used longest ago.
static unsigned place_of(const struct trace_events *events, uint64_t number)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < events->kept; i++) {
        const struct event_block *block = events->blocks[i];
        if (!block || (block->used && block->number == number))
            return i;
        if (block->used < events->blocks[oldest]->used)
            oldest = i;
    }
    return oldest;
}

static struct event_block *block_at(struct trace_events *events, uint64_t number, unsigned *hint,
                                    struct err *err)
{
    struct event_block *block = *hint < events->kept ? events->blocks[*hint] : NULL;
    if (block && block->used && block->number == number)
        return block;
    *hint = place_of(events, number);
    block = events->blocks[*hint];
    if (!block && !(block = events->blocks[*hint] = calloc(1, sizeof *block))) {
        err_set(err, ERR_MEMORY, "out of memory for a block of a trace");
        return NULL;
    }
    if ((!block->used || block->number != number) && !unpack(events, number, block, err))
        return NULL;
    block->used = ++events->uses;
    return block;
}

// --- the walk -----------------------------------------------------------------------------------

static struct trace_event event_at(const struct event_block *block, size_t i)
{
    int64_t dur_ns = block->dur_ns[i] < 0 ? 0 : block->dur_ns[i];
    return (struct trace_event){.begin_ns = block->begin_ns[i],
                                .end_ns = block->begin_ns[i] + dur_ns,
                                .name = block->name[i],
                                .args = block->args[i],
                                .kind = (enum event_kind)block->kind[i],
                                .collective = block->row[i] & TIMELINE_COMM};
}

static bool is_within(const struct trace_event *event, struct trace_window window)
{
    return event->begin_ns < window.to_ns &&
           (event->end_ns > window.from_ns || event->begin_ns >= window.from_ns);
}

// Passes over blocks that have nothing of the window.
static void skip(const struct trace_events *events, struct trace_cursor *cursor,
                 struct trace_window window)
{
    while (cursor->next < cursor->end) {
        const struct block_times *times = &events->times[cursor->next / COLUMN_BLOCK];
        if (times->end_ns >= window.from_ns && times->begin_ns < window.to_ns)
            return;
        cursor->next = (cursor->next / COLUMN_BLOCK + 1) * COLUMN_BLOCK;
    }
}

bool trace_events_next(struct trace_events *events, struct trace_cursor *cursor,
                       struct trace_window window, struct trace_event *event, bool *found,
                       struct err *err)
{
    *found = false;
    for (skip(events, cursor, window); cursor->next < cursor->end; skip(events, cursor, window)) {
        uint64_t number = cursor->next / COLUMN_BLOCK;
        const struct event_block *block = block_at(events, number, &cursor->hint, err);
        if (!block)
            return false;
        uint64_t stop = number * COLUMN_BLOCK + block->count;
        stop = stop < cursor->end ? stop : cursor->end;
        while (cursor->next < stop) {
            *event = event_at(block, (size_t)(cursor->next++ - number * COLUMN_BLOCK));
            if (is_within(event, window)) {
                *found = true;
                return true;
            }
        }
    }
    return true;
}
