// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/device_pieces.h"

#include "ingest/trace/trace_events.h"

#include <math.h>
#include <stdlib.h>

#define MOST_STREAMS 4096u // of a device
#define MOST_DEVICES 256u
#define KEPT_BLOCKS  256u // of events; more streams than that may need a block again and again
#define MOST_TIMES   32u  // that a block may be looked up, on average

static int64_t add_within(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

int64_t piece_clock_at(const struct piece_clock *clock, int64_t file_ns)
{
    double since_ns = (double)file_ns - (double)clock->origin_ns, most_ns = (double)TRACE_FAR_NS;
    double drift_ns = clock->drift * since_ns;
    drift_ns = isfinite(drift_ns) ? fmin(fmax(drift_ns, -most_ns), most_ns) : 0;
    int64_t shift_ns = add_within(clock->base_ns, clock->offset_ns);
    if (since_ns >= (double)clock->jump_after_ns)
        shift_ns = add_within(shift_ns, clock->jump_ns);
    return add_within(file_ns, add_within(shift_ns, (int64_t)drift_ns));
}

// --- what one device does -----------------------------------------------------------------------

// A stream and its next event.
struct stream {
    struct trace_cursor cursor;
    struct trace_event event;
};

struct reading {
    struct trace_events events;
    struct trace_texts texts;
    uint8_t *classes; // per text and kind, with and without metadata: device_class + 1
    const struct piece_clock *clock;
    struct device_pieces *pieces;
    struct stream *streams; // a heap, the one whose event is next first
    size_t stream_count;
    uint64_t most_uses;            // of blocks
    int64_t reach_ns[PIECE_PARTS]; // until when this part or one before it covers the time
};

enum { FORMS = 8 }; // of a name: four kinds, with metadata or not

static size_t form_of(const struct trace_event *event)
{
    size_t kind = event->kind == EVENT_GRAPH ? 3 : (size_t)event->kind - EVENT_KERNEL;
    return event->name * (size_t)FORMS + kind * 2 + event->collective;
}

static bool part_of(struct reading *reading, const struct trace_event *event, enum piece_part *part,
                    struct err *err)
{
    static const enum piece_part parts[] = {[CLASS_COMPUTE] = PIECE_COMPUTE,
                                            [CLASS_COMMUNICATION] = PIECE_COMMUNICATION,
                                            [CLASS_MEMORY] = PIECE_COPY};
    uint8_t *class = &reading->classes[form_of(event)];
    struct str name;
    if (!*class) {
        if (!trace_texts_get(&reading->texts, event->name, &name, err))
            return false;
        *class = (uint8_t)(event_device_class(event->kind, name, event->collective) + 1);
    }
    *part = parts[*class - 1];
    return true;
}

// Adds a span that is covered from a part on.
static void cover(struct device_pieces *pieces, enum piece_part part, int64_t from_ns,
                  int64_t to_ns)
{
    int64_t width_ns = (int64_t)1 << pieces->width_bits;
    int64_t begin_ns = pieces->first * width_ns, end_ns = begin_ns + pieces->count * width_ns;
    from_ns = from_ns > begin_ns ? from_ns : begin_ns;
    to_ns = to_ns < end_ns ? to_ns : end_ns;
    while (from_ns < to_ns) {
        int64_t piece = (from_ns - begin_ns) >> pieces->width_bits;
        int64_t until_ns = begin_ns + (piece + 1) * width_ns;
        until_ns = until_ns < to_ns ? until_ns : to_ns;
        pieces->ns[part][piece] += until_ns - from_ns;
        from_ns = until_ns;
    }
}

// Events come in order of their start. What a part covers counts for all parts after it, too, until
// subtract_parts.
static void add_event(struct reading *reading, enum piece_part part, int64_t begin_ns,
                      int64_t end_ns)
{
    for (enum piece_part i = part; i < PIECE_PARTS; i++) {
        int64_t *reach_ns = &reading->reach_ns[i];
        cover(reading->pieces, i, begin_ns > *reach_ns ? begin_ns : *reach_ns, end_ns);
        *reach_ns = end_ns > *reach_ns ? end_ns : *reach_ns;
    }
}

static bool next_of(struct reading *reading, size_t stream, struct err *err)
{
    static const struct trace_window all = {INT64_MIN, INT64_MAX};
    struct stream *at = &reading->streams[stream];
    bool found;
    if (!trace_events_next(&reading->events, &at->cursor, all, &at->event, &found, err))
        return false;
    if (!found)
        *at = reading->streams[--reading->stream_count];
    return reading->events.uses <= reading->most_uses ||
           err_set(err, ERR_LIMIT, "streams of a device take turns too often");
}

static void sift_down(struct reading *reading, size_t at)
{
    struct stream *streams = reading->streams, moved = streams[at];
    size_t child;
    while ((child = 2 * at + 1) < reading->stream_count) {
        size_t other = child + 1;
        if (other < reading->stream_count &&
            streams[other].event.begin_ns < streams[child].event.begin_ns)
            child = other;
        if (streams[child].event.begin_ns >= moved.event.begin_ns)
            break;
        streams[at] = streams[child];
        at = child;
    }
    streams[at] = moved;
}

static bool add_first(struct reading *reading, struct err *err)
{
    const struct trace_event *event = &reading->streams[0].event;
    enum piece_part part;
    if (event_kind_is_device(event->kind) && event->end_ns > event->begin_ns) {
        if (!part_of(reading, event, &part, err))
            return false;
        add_event(reading, part, piece_clock_at(reading->clock, event->begin_ns),
                  piece_clock_at(reading->clock, event->end_ns));
    }
    return next_of(reading, 0, err);
}

// Merges the events of the streams.
static bool add_streams(struct reading *reading, struct err *err)
{
    for (enum piece_part i = 0; i < PIECE_PARTS; i++)
        reading->reach_ns[i] = INT64_MIN;
    for (size_t i = reading->stream_count; i-- > 0;)
        if (!next_of(reading, i, err))
            return false;
    for (size_t at = reading->stream_count / 2; at-- > 0;)
        sift_down(reading, at);
    while (reading->stream_count) {
        if (!add_first(reading, err))
            return false;
        sift_down(reading, 0);
    }
    return true;
}

// --- all devices --------------------------------------------------------------------------------

static bool same_device(const struct track *a, const struct track *b)
{
    return a->pid.number == b->pid.number && a->pid.text == b->pid.text;
}

// All streams of the first one's device, which are marked as done.
static bool add_device(struct reading *reading, size_t first, uint8_t *done, struct err *err)
{
    const struct trace_events *events = &reading->events;
    if (reading->pieces->devices++ == MOST_DEVICES)
        return err_set(err, ERR_LIMIT, "found more than %u devices", MOST_DEVICES);
    reading->stream_count = 0;
    for (size_t i = first; i < events->track_count; i++) {
        if (events->tracks[i].family != TRACK_DEVICE ||
            !same_device(&events->tracks[i], &events->tracks[first]))
            continue;
        if (reading->stream_count == MOST_STREAMS)
            return err_set(err, ERR_LIMIT, "found more than %u streams of a device", MOST_STREAMS);
        reading->streams[reading->stream_count++].cursor = trace_events_start(events, i);
        done[i] = 1;
    }
    return add_streams(reading, err);
}

static void subtract_parts(struct device_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->count; i++)
        for (enum piece_part part = PIECE_PARTS - 1; part > 0; part--)
            pieces->ns[part][i] -= pieces->ns[part - 1][i];
}

static bool read_all(struct reading *reading, const struct trace_file *file, struct arena *arena,
                     struct err *err)
{
    struct device_pieces *pieces = reading->pieces;
    for (enum piece_part part = 0; part < PIECE_PARTS; part++)
        if (!(pieces->ns[part] = arena_array(arena, pieces->count + 1, sizeof(int64_t), err)))
            return false;
    reading->streams = arena_array(arena, MOST_STREAMS, sizeof *reading->streams, err);
    reading->classes =
        arena_array(arena, (size_t)trace_file_count(file, SECTION_SPANS) + 1, FORMS, err);
    const struct trace_events *events = &reading->events;
    reading->most_uses = MOST_TIMES * (trace_file_count(file, SECTION_BEGIN) / COLUMN_BLOCK +
                                       events->track_count + 1);
    uint8_t *done = arena_array(arena, events->track_count + 1, 1, err);
    if (!reading->streams || !reading->classes || !done)
        return false;
    for (size_t i = 0; i < events->track_count; i++)
        if (events->tracks[i].family == TRACK_DEVICE && !done[i] &&
            !add_device(reading, i, done, err))
            return false;
    subtract_parts(pieces);
    return true;
}

bool device_pieces_read(const struct trace_file *file, const struct piece_clock *clock,
                        struct arena *arena, struct device_pieces *pieces, struct err *err)
{
    struct reading reading = {.texts = trace_texts_of(file), .clock = clock, .pieces = pieces};
    pieces->devices = 0;
    bool ok = trace_events_open(&reading.events, file, KEPT_BLOCKS, err) &&
              read_all(&reading, file, arena, err);
    trace_events_close(&reading.events);
    trace_texts_close(&reading.texts);
    return ok;
}
