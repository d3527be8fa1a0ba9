// SPDX-License-Identifier: Apache-2.0
// Chrome's JSON of trace events: complete events, flows, counters; the process is the rank.
// Overlapping slices have their own thread.
#include "server/exports/event_walk.h"

#include <math.h>
#include <stdlib.h>

struct chrome {
    struct event_walk walk;
    struct buf text;
    bool has_events;
    bool *exported;  // by rank of the run's collectives
    int64_t from_ns; // where the window starts, on the common clock
};

static unsigned long long thread_of(size_t lane, uint32_t row)
{
    return (unsigned long long)lane << 11 | (row == LANE_NO_ROW ? 0 : row);
}

// Starts an event; phase as in the format.
static void open_event(struct event_walk *walk, const char *phase, struct buf *out)
{
    struct chrome *c = walk->context;
    buf_printf(out, "%s{\"ph\":\"%s\",\"pid\":%lld", c->has_events ? ",\n" : "\n", phase,
               (long long)event_walk_rank(walk));
    c->has_events = true;
}

// Microseconds with all digits of the nanoseconds.
static void put_us(struct buf *out, const char *name, int64_t ns)
{
    buf_printf(out, ",\"%s\":%lld.%03lld", name, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void put_text(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json(out, text);
}

static void put_head(struct event_walk *walk, struct buf *out)
{
    buf_puts(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"run\":");
    buf_json(out, walk->source->title);
    buf_puts(out, "},\"traceEvents\":[");
}

static void put_tail(struct event_walk *walk, struct buf *out)
{
    (void)walk;
    buf_puts(out, "\n]}\n");
}

static void put_rank(struct event_walk *walk, struct buf *out)
{
    open_event(walk, "M", out);
    buf_printf(out, ",\"name\":\"process_name\",\"args\":{\"name\":\"rank %lld\"}}",
               (long long)event_walk_rank(walk));
    open_event(walk, "M", out);
    buf_printf(out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%zu}}", walk->index);
}

static void put_row(struct event_walk *walk, uint32_t row, struct buf *out)
{
    struct chrome *c = walk->context;
    buf_clear(&c->text);
    event_walk_name_lane(walk, &c->text);
    if (row)
        buf_printf(&c->text, " (overlap %u)", row);
    open_event(walk, "M", out);
    buf_printf(out, ",\"tid\":%llu,\"name\":\"thread_name\",\"args\":{\"name\":",
               thread_of(walk->lane, row));
    buf_json(out, (struct str){c->text.at, c->text.len});
    buf_puts(out, "}}");
    bool is_first = !event_walk_is_waits(walk) && track_is_device(&walk->events.tracks[walk->lane]);
    open_event(walk, "M", out);
    buf_printf(out, ",\"tid\":%llu,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%llu}}",
               thread_of(walk->lane, row),
               thread_of(walk->lane, row) + (is_first ? 0 : 1000000000ULL));
}

static void put_flow(struct event_walk *walk, const struct walk_slice *slice, const char *phase,
                     unsigned long long id, struct buf *out)
{
    open_event(walk, phase, out);
    buf_printf(out, ",\"tid\":%llu,\"cat\":\"flow\",\"name\":\"flow\",\"id\":%llu%s",
               thread_of(walk->lane, slice->row), id, phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
    put_us(out, "ts", slice->begin_ns);
    buf_putc(out, '}');
}

// Whether this call started first among the ranks' calls of the collective that are exported.
static bool is_first_of(const struct event_walk *walk, const struct comm_event *call)
{
    const struct chrome *c = walk->context;
    const struct run_comm *comm = walk->source->comm;
    const struct comm_match *match = &comm->matches[call->match];
    int64_t own_ns = run_comm_begin(walk->comm, call);
    for (uint32_t i = 0; i < match->count; i++) {
        const struct comm_member *member = &comm->members[match->first + i];
        const struct comm_rank *rank = &comm->ranks[member->rank];
        int64_t begin_ns = run_comm_begin(rank, &rank->events[member->event]);
        bool seen = c->exported[member->rank] &&
                    run_comm_end(rank, &rank->events[member->event]) > c->from_ns;
        if (!seen)
            continue;
        if (begin_ns < own_ns || (begin_ns == own_ns && rank < walk->comm))
            return false;
    }
    return true;
}

static void put_call(const struct event_walk *walk, const struct comm_event *call, struct buf *out)
{
    const struct run_comm *comm = walk->source->comm;
    const struct comm_op *op = &comm->ops[call->op];
    buf_puts(out, ",\"args\":{\"process_group\":");
    buf_json(out, comm->groups[op->group].name);
    if (op->bytes >= 0)
        buf_printf(out, ",\"bytes\":%lld", (long long)op->bytes);
    if (call->match != RUN_NONE)
        buf_printf(out, ",\"wait_ns\":%lld", (long long)call->wait_ns);
    buf_putc(out, '}');
}

static void put_slice(struct event_walk *walk, const struct walk_slice *slice, struct buf *out)
{
    open_event(walk, slice->row == LANE_NO_ROW ? "i" : "X", out);
    buf_printf(out, ",\"tid\":%llu", thread_of(walk->lane, slice->row));
    put_text(out, "cat", str_of(slice->category));
    put_text(out, "name", slice->text);
    put_us(out, "ts", slice->begin_ns);
    put_us(out, "dur", slice->end_ns - slice->begin_ns);
    if (slice->call)
        put_call(walk, slice->call, out);
    buf_putc(out, '}');
    if (slice->launch)
        put_flow(walk, slice, slice->launches ? "s" : "f", slice->launch & ((1ULL << 52) - 1), out);
    if (slice->call && slice->call->match != RUN_NONE)
        put_flow(walk, slice, is_first_of(walk, slice->call) ? "s" : "f",
                 (1ULL << 52) | slice->call->match, out);
}

static void put_counter(struct event_walk *walk, const struct walk_counter *counter,
                        struct buf *out)
{
    if (!isfinite(counter->value))
        return;
    open_event(walk, "C", out);
    put_text(out, "name", counter->name);
    put_us(out, "ts", counter->time_ns);
    buf_puts(out, ",\"args\":{\"value\":");
    buf_f64(out, counter->value);
    buf_puts(out, "}}");
}

static const struct walk_writer writer = {.head = put_head,
                                          .rank = put_rank,
                                          .row = put_row,
                                          .slice = put_slice,
                                          .counter = put_counter,
                                          .tail = put_tail};

static bool mark_exported(struct chrome *c, const struct event_source *source)
{
    c->from_ns =
        source->from_ns > 0 ? source->ranks[source->base].begin_ns + source->from_ns : INT64_MIN;
    if (!source->comm)
        return true;
    c->exported = calloc((size_t)source->comm->rank_count + 1, sizeof *c->exported);
    for (size_t i = 0; c->exported && i < source->count; i++) {
        const struct comm_rank *rank = event_source_comm(source, i);
        if (rank)
            c->exported[rank - source->comm->ranks] = true;
    }
    return c->exported;
}

static bool open_export(const struct event_source *source, void **state, struct err *err)
{
    struct chrome *c = calloc(1, sizeof *c);
    if (!c || !mark_exported(c, source)) {
        free(c);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    event_walk_open(&c->walk, source, &writer, c);
    *state = c;
    return true;
}

static bool next_piece(void *state, struct buf *out, bool *more, struct err *err)
{
    struct chrome *c = state;
    return event_walk_next(&c->walk, out, more, err) && buf_ok(&c->text, err);
}

static void close_export(void *state)
{
    struct chrome *c = state;
    event_walk_close(&c->walk);
    buf_free(&c->text);
    free(c->exported);
    free(c);
}

const struct event_export export_chrome = {.word = "chrome",
                                           .type = "application/json",
                                           .suffix = "json",
                                           .help = "Chrome's JSON of trace events",
                                           .open = open_export,
                                           .next = next_piece,
                                           .close = close_export};
