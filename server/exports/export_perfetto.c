// SPDX-License-Identifier: Apache-2.0
// Perfetto's trace format: packets of a protobuf, with names interned per rank. Field numbers are
// those of protos/perfetto/trace.
#include "server/exports/event_walk.h"
#include "server/exports/proto_write.h"

#include <stdlib.h>

enum { TRACE_PACKET = 1 };
enum { // of TracePacket
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_INTERNED = 2 };
enum { // of TrackDescriptor
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDER = 11,
    TRACK_PLACE = 12,
    TRACK_MERGE = 15,
};
enum { ORDER_EXPLICIT = 3, MERGE_NONE = 2 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { // of TrackEvent
    EVENT_CATEGORY_IDS = 3,
    EVENT_NOTES = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_TEXT = 23,
    EVENT_DOUBLE = 44,
    EVENT_FLOWS = 47,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2 };
enum { IID = 1, IID_NAME = 2 };
enum { NOTE_INT = 4, NOTE_TEXT = 6, NOTE_NAME = 10 };

#define MATCH_FLOW ((uint64_t)1 << 63) // of the ids of flows between ranks

struct perfetto {
    struct event_walk walk;
    uint8_t *named;             // per text of the rank: a bit, whether its name was interned
    const char *categories[64]; // interned in the rank
    size_t category_count;
    bool is_first; // no packet of the rank was written yet
    struct buf packet, event, part, interned, text;
};

// --- packets ------------------------------------------------------------------------------------

static uint64_t process_of(const struct event_walk *walk)
{
    return (uint64_t)(walk->index + 1) << 40;
}

static uint64_t track_of(const struct event_walk *walk, size_t lane, uint32_t row)
{
    return process_of(walk) | (uint64_t)(lane + 1) << 11 | row;
}

static uint64_t counter_of(const struct event_walk *walk, uint32_t number)
{
    return track_of(walk, walk->events.track_count + 1 + number, 0);
}

// Ends the packet that is being built.
static void put_packet(struct perfetto *p, struct buf *out)
{
    uint64_t flags = FLAG_INTERNED | (p->is_first ? FLAG_CLEARED : 0);
    proto_number(&p->packet, PACKET_SEQUENCE, p->walk.index + 1);
    proto_number(&p->packet, PACKET_FLAGS, flags);
    p->is_first = false;
    proto_message(out, TRACE_PACKET, &p->packet);
    buf_clear(&p->packet);
}

static void put_event(struct perfetto *p, int64_t time_ns, struct buf *out)
{
    proto_number(&p->packet, PACKET_TIMESTAMP, (uint64_t)time_ns);
    if (p->interned.len)
        proto_message(&p->packet, PACKET_INTERNED, &p->interned);
    proto_message(&p->packet, PACKET_EVENT, &p->event);
    buf_clear(&p->interned);
    buf_clear(&p->event);
    put_packet(p, out);
}

// --- tracks -------------------------------------------------------------------------------------

static void put_track(struct perfetto *p, struct buf *out)
{
    proto_number(&p->part, TRACK_MERGE, MERGE_NONE);
    proto_message(&p->packet, PACKET_TRACK, &p->part);
    buf_clear(&p->part);
    put_packet(p, out);
}

static void put_rank(struct event_walk *walk, struct buf *out)
{
    struct perfetto *p = walk->context;
    struct buf process = {0};
    free(p->named);
    p->named = calloc((size_t)trace_file_count(walk->file, SECTION_SPANS) / 8 + 1, 1);
    p->part.failed |= !p->named;
    p->category_count = 0;
    p->is_first = true;
    buf_clear(&p->text);
    buf_printf(&p->text, "rank %lld", (long long)event_walk_rank(walk));
    proto_number(&process, PROCESS_PID, walk->index + 1); // 0 means the idle process
    proto_put_text(&process, PROCESS_NAME, (struct str){p->text.at, p->text.len});
    proto_number(&p->part, TRACK_UUID, process_of(walk));
    proto_message(&p->part, TRACK_PROCESS, &process);
    proto_number(&p->part, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
    proto_number(&p->part, TRACK_PLACE, walk->index);
    buf_free(&process);
    put_track(p, out);
}

// Streams first, then waits, counters and threads.
static uint64_t place_of(const struct event_walk *walk)
{
    if (event_walk_is_waits(walk))
        return 1000000;
    return walk->lane + (track_is_device(&walk->events.tracks[walk->lane]) ? 0 : 3000000);
}

static void put_row(struct event_walk *walk, uint32_t row, struct buf *out)
{
    struct perfetto *p = walk->context;
    buf_clear(&p->text);
    event_walk_name_lane(walk, &p->text);
    if (row)
        buf_printf(&p->text, " (overlap %u)", row);
    proto_number(&p->part, TRACK_UUID, track_of(walk, walk->lane, row));
    proto_number(&p->part, TRACK_PARENT, process_of(walk));
    proto_put_text(&p->part, TRACK_NAME, (struct str){p->text.at, p->text.len});
    proto_number(&p->part, TRACK_PLACE, place_of(walk));
    put_track(p, out);
}

// --- slices -------------------------------------------------------------------------------------

static void intern(struct perfetto *p, unsigned kind, uint64_t id, struct str text)
{
    proto_number(&p->part, IID, id);
    proto_put_text(&p->part, IID_NAME, text);
    proto_message(&p->interned, kind, &p->part);
    buf_clear(&p->part);
}

static void put_category(struct perfetto *p, const char *word)
{
    size_t i = 0;
    while (i < p->category_count && strcmp(p->categories[i], word) != 0)
        i++;
    if (i == sizeof p->categories / sizeof *p->categories)
        return; // there are fewer kinds than that
    if (i == p->category_count) {
        p->categories[p->category_count++] = word;
        intern(p, INTERNED_CATEGORIES, i + 1, str_of(word));
    }
    proto_number(&p->event, EVENT_CATEGORY_IDS, i + 1);
}

static void put_name(struct perfetto *p, const struct walk_slice *slice)
{
    if (!slice->name || !p->named) {
        proto_put_text(&p->event, EVENT_NAME_TEXT, slice->text);
        return;
    }
    uint8_t *bits = &p->named[slice->name / 8], bit = (uint8_t)(1u << slice->name % 8);
    if (!(*bits & bit))
        intern(p, INTERNED_NAMES, slice->name, slice->text);
    *bits |= bit;
    proto_number(&p->event, EVENT_NAME_ID, slice->name);
}

static void put_note(struct perfetto *p, const char *name, struct str text, int64_t number)
{
    proto_put_text(&p->part, NOTE_NAME, str_of(name));
    if (text.at)
        proto_put_text(&p->part, NOTE_TEXT, text);
    else
        proto_number(&p->part, NOTE_INT, (uint64_t)number);
    proto_message(&p->event, EVENT_NOTES, &p->part);
    buf_clear(&p->part);
}

static void put_call(struct perfetto *p, const struct comm_event *call)
{
    const struct run_comm *comm = p->walk.source->comm;
    const struct comm_op *op = &comm->ops[call->op];
    const struct str none = {0};
    if (comm->groups[op->group].name.len)
        put_note(p, "process_group", comm->groups[op->group].name, 0);
    if (op->bytes >= 0)
        put_note(p, "bytes", none, op->bytes);
    if (call->match == RUN_NONE)
        return;
    put_note(p, "wait_ns", none, call->wait_ns);
    proto_fixed64(&p->event, EVENT_FLOWS, MATCH_FLOW | call->match);
}

static void put_slice(struct event_walk *walk, const struct walk_slice *slice, struct buf *out)
{
    struct perfetto *p = walk->context;
    bool crowded = slice->row == LANE_NO_ROW;
    proto_number(&p->event, EVENT_TYPE, crowded ? TYPE_INSTANT : TYPE_BEGIN);
    proto_number(&p->event, EVENT_TRACK, track_of(walk, walk->lane, crowded ? 0 : slice->row));
    put_category(p, slice->category);
    put_name(p, slice);
    if (crowded)
        put_note(p, "dur_ns", (struct str){0}, slice->end_ns - slice->begin_ns);
    if (slice->launch) // goes through all kernels of a launch: an end would keep the first one only
        proto_fixed64(&p->event, EVENT_FLOWS, slice->launch & ~MATCH_FLOW);
    if (slice->call)
        put_call(p, slice->call);
    put_event(p, slice->begin_ns, out);
}

static void put_end(struct event_walk *walk, uint32_t row, int64_t end_ns, struct buf *out)
{
    struct perfetto *p = walk->context;
    proto_number(&p->event, EVENT_TYPE, TYPE_END);
    proto_number(&p->event, EVENT_TRACK, track_of(walk, walk->lane, row));
    put_event(p, end_ns, out);
}

static void put_counter(struct event_walk *walk, const struct walk_counter *counter,
                        struct buf *out)
{
    struct perfetto *p = walk->context;
    if (counter->is_new) {
        struct buf unit = {0};
        if (counter->unit[0])
            proto_number(&unit, COUNTER_UNIT, UNIT_BYTES);
        proto_number(&p->part, TRACK_UUID, counter_of(walk, counter->number));
        proto_number(&p->part, TRACK_PARENT, process_of(walk));
        proto_put_text(&p->part, TRACK_NAME, counter->name);
        proto_number(&p->part, TRACK_PLACE, 2000000 + counter->number);
        proto_message(&p->part, TRACK_COUNTER, &unit);
        buf_free(&unit);
        put_track(p, out);
    }
    proto_number(&p->event, EVENT_TYPE, TYPE_COUNTER);
    proto_number(&p->event, EVENT_TRACK, counter_of(walk, counter->number));
    proto_double(&p->event, EVENT_DOUBLE, counter->value);
    put_event(p, counter->time_ns, out);
}

static const struct walk_writer writer = {
    .rank = put_rank, .row = put_row, .slice = put_slice, .end = put_end, .counter = put_counter};

// --- the export ---------------------------------------------------------------------------------

static bool open_export(const struct event_source *source, void **state, struct err *err)
{
    struct perfetto *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(err, ERR_MEMORY, "out of memory");
    event_walk_open(&p->walk, source, &writer, p);
    *state = p;
    return true;
}

static bool next_piece(void *state, struct buf *out, bool *more, struct err *err)
{
    struct perfetto *p = state;
    return event_walk_next(&p->walk, out, more, err) && buf_ok(&p->packet, err) &&
           buf_ok(&p->event, err) && buf_ok(&p->part, err) && buf_ok(&p->interned, err);
}

static void close_export(void *state)
{
    struct perfetto *p = state;
    event_walk_close(&p->walk);
    free(p->named);
    buf_free(&p->packet);
    buf_free(&p->event);
    buf_free(&p->part);
    buf_free(&p->interned);
    buf_free(&p->text);
    free(p);
}

const struct event_export export_perfetto = {.word = "perfetto",
                                             .type = "application/octet-stream",
                                             .suffix = "pftrace",
                                             .help = "Perfetto's trace, for ui.perfetto.dev",
                                             .open = open_export,
                                             .next = next_piece,
                                             .close = close_export};
