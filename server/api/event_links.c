// SPDX-License-Identifier: Apache-2.0
#include "server/api/event_links.h"

#include "ingest/base/search.h"
#include "ingest/base/orders.h"

#include <stdlib.h>

#define MS              ((int64_t)1000000)
#define CLOCKS_APART_NS MS // how far a device event may precede its launch
#define MOST_LAUNCHES   ((size_t)1 << 16)
#define WAIT_FROM_NS    3000 // a shorter gap needs no reason

struct reader {
    const struct trace_file *file;
    struct trace_events events;
    struct trace_blocks device_args, launch_args, rows;
    struct trace_texts texts;
    struct event_links *links;
    int64_t *launches; // correlations, ascending
    size_t launch_count;
};

// Called for each event of a window; *stop ends the walk.
struct visit {
    bool (*event)(struct reader *reader, const struct placed_event *at, void *context, bool *stop,
                  struct err *err);
    void *context;
};

// --- walks --------------------------------------------------------------------------------------

static bool place(struct reader *reader, uint64_t index, struct placed_event *at, struct err *err)
{
    const uint8_t *row = trace_blocks_element(&reader->rows, index, err);
    if (row)
        at->row = *row & (TIMELINE_COMM - 1);
    return row;
}

static bool walk_lane(struct reader *reader, size_t lane, struct trace_window window,
                      const struct visit *visit, struct err *err)
{
    struct trace_cursor cursor = trace_events_start(&reader->events, lane);
    struct placed_event at = {.lane = lane};
    bool found = true;
    for (bool stop = false; !stop;) {
        if (!trace_events_next(&reader->events, &cursor, window, &at.event, &found, err))
            return false;
        if (!found)
            return true;
        if (!place(reader, cursor.next - 1, &at, err) ||
            !visit->event(reader, &at, visit->context, &stop, err))
            return false;
    }
    return true;
}

static bool walk_family(struct reader *reader, enum track_family family, struct trace_window window,
                        const struct visit *visit, struct err *err)
{
    for (size_t lane = 0; lane < reader->events.track_count; lane++)
        if (reader->events.tracks[lane].family == family &&
            !walk_lane(reader, lane, window, visit, err))
            return false;
    return true;
}

static bool is_same_label(struct label a, struct label b)
{
    return a.text == b.text && a.number == b.number;
}

// Tracks of one thread: its calls, its frames.
static bool is_same_thread(const struct reader *reader, size_t a, size_t b)
{
    const struct track *left = &reader->events.tracks[a], *right = &reader->events.tracks[b];
    return is_same_label(left->pid, right->pid) && is_same_label(left->tid, right->tid);
}

static bool correlation_of(struct reader *reader, const struct trace_event *event,
                           int64_t *correlation, struct err *err)
{
    *correlation = VALUE_ABSENT;
    if (event->args == ARGS_NONE)
        return true;
    if (event_kind_is_device(event->kind)) {
        const struct device_args *args =
            trace_blocks_element(&reader->device_args, event->args, err);
        *correlation = args ? args->correlation : VALUE_ABSENT;
        return args;
    }
    if (!event_kind_is_launch(event->kind))
        return true;
    const struct launch_args *args = trace_blocks_element(&reader->launch_args, event->args, err);
    *correlation = args ? args->correlation : VALUE_ABSENT;
    return args;
}

// Rows alone do not tell: events nested too deep for the timeline have none.
static bool is_same(const struct placed_event *a, const struct placed_event *b)
{
    return a->lane == b->lane && a->row == b->row && a->event.begin_ns == b->event.begin_ns &&
           a->event.end_ns == b->event.end_ns && a->event.name == b->event.name;
}

// --- the event ----------------------------------------------------------------------------------

struct wanted {
    const struct event_place *place;
    bool found;
};

static bool take_wanted(struct reader *reader, const struct placed_event *at, void *context,
                        bool *stop, struct err *err)
{
    struct wanted *wanted = context;
    (void)err;
    if (at->event.begin_ns != wanted->place->begin_ns ||
        (wanted->place->dur_ns >= 0 &&
         at->event.end_ns - at->event.begin_ns != wanted->place->dur_ns))
        return true;
    reader->links->event = *at;
    wanted->found = *stop = true;
    return true;
}

static bool find_event(struct reader *reader, const struct event_place *asked, bool *found,
                       struct err *err)
{
    struct wanted wanted = {.place = asked};
    struct visit visit = {take_wanted, &wanted};
    struct trace_window window = {asked->begin_ns, asked->begin_ns + 1};
    *found = false;
    if (asked->lane >= reader->events.track_count)
        return true;
    if (!walk_lane(reader, asked->lane, window, &visit, err))
        return false;
    *found = wanted.found;
    return true;
}

// --- its launch ---------------------------------------------------------------------------------

static bool take_launch(struct reader *reader, const struct placed_event *at, void *context,
                        bool *stop, struct err *err)
{
    int64_t correlation;
    (void)context;
    if (!event_kind_is_launch(at->event.kind))
        return true;
    if (!correlation_of(reader, &at->event, &correlation, err))
        return false;
    if (correlation != reader->links->correlation)
        return true;
    reader->links->launch = *at;
    reader->links->has_launch = *stop = true;
    return true;
}

// Most calls are shortly before what they launch: the windows grow.
static bool find_launch(struct reader *reader, struct err *err)
{
    static const int64_t reaches_ns[] = {10 * MS, 1000 * MS, 100000 * MS};
    struct event_links *links = reader->links;
    struct visit visit = {take_launch, NULL};
    if (links->correlation == VALUE_ABSENT || links->correlation == 0)
        return true;
    for (size_t i = 0; i < 3 && !links->has_launch; i++) {
        int64_t seen_ns = i ? -reaches_ns[i - 1] : CLOCKS_APART_NS;
        struct trace_window window = {links->event.event.begin_ns - reaches_ns[i],
                                      links->event.event.begin_ns + seen_ns};
        if (!walk_family(reader, TRACK_HOST, window, &visit, err))
            return false;
    }
    return true;
}

// --- what encloses it ---------------------------------------------------------------------------

static bool encloses(const struct placed_event *outer, const struct placed_event *inner)
{
    return !is_same(outer, inner) && outer->event.begin_ns <= inner->event.begin_ns &&
           outer->event.end_ns >= inner->event.end_ns;
}

static int outermost_first(const void *a, const void *b)
{
    const struct placed_event *left = a, *right = b;
    if (left->event.begin_ns != right->event.begin_ns)
        return left->event.begin_ns < right->event.begin_ns ? -1 : 1;
    if (left->event.end_ns != right->event.end_ns)
        return left->event.end_ns > right->event.end_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

// The innermost ones stay.
static void push(struct event_links *links, const struct placed_event *at)
{
    struct placed_event *outermost = &links->stack[0];
    if (links->stack_count < EVENT_STACK_MOST) {
        links->stack[links->stack_count++] = *at;
        return;
    }
    for (unsigned i = 1; i < links->stack_count; i++)
        if (outermost_first(&links->stack[i], outermost) < 0)
            outermost = &links->stack[i];
    if (outermost_first(outermost, at) < 0)
        *outermost = *at;
}

static bool take_enclosing(struct reader *reader, const struct placed_event *at, void *context,
                           bool *stop, struct err *err)
{
    (void)stop;
    (void)err;
    if (encloses(at, context))
        push(reader->links, at);
    return true;
}

static bool find_stack(struct reader *reader, struct placed_event *inner, struct err *err)
{
    struct event_links *links = reader->links;
    struct visit visit = {take_enclosing, inner};
    struct trace_window window = {inner->event.begin_ns, inner->event.begin_ns + 1};
    for (size_t lane = 0; lane < reader->events.track_count; lane++)
        if (!track_is_device(&reader->events.tracks[lane]) &&
            is_same_thread(reader, lane, inner->lane) &&
            !walk_lane(reader, lane, window, &visit, err))
            return false;
    if (links->stack_count)
        qsort(links->stack, links->stack_count, sizeof *links->stack, outermost_first);
    return true;
}

// --- what it launched ---------------------------------------------------------------------------

static bool take_call(struct reader *reader, const struct placed_event *at, void *context,
                      bool *stop, struct err *err)
{
    const struct placed_event *outer = context;
    int64_t correlation;
    if (at->event.begin_ns < outer->event.begin_ns || at->event.end_ns > outer->event.end_ns)
        return true;
    if (!correlation_of(reader, &at->event, &correlation, err))
        return false;
    if (event_kind_is_launch(at->event.kind) && correlation != VALUE_ABSENT && correlation != 0)
        reader->launches[reader->launch_count++] = correlation;
    *stop = reader->launch_count == MOST_LAUNCHES;
    return true;
}

static bool list_calls(struct reader *reader, struct placed_event *outer, struct err *err)
{
    struct visit visit = {take_call, outer};
    struct trace_window window = {outer->event.begin_ns, outer->event.end_ns + 1};
    reader->launches = calloc(MOST_LAUNCHES, sizeof *reader->launches);
    if (!reader->launches)
        return err_set(err, ERR_MEMORY, "out of memory for calls");
    for (size_t lane = 0; lane < reader->events.track_count; lane++)
        if (reader->events.tracks[lane].family == TRACK_HOST &&
            is_same_thread(reader, lane, outer->lane) && reader->launch_count < MOST_LAUNCHES &&
            !walk_lane(reader, lane, window, &visit, err))
            return false;
    if (reader->launch_count)
        qsort(reader->launches, reader->launch_count, sizeof *reader->launches, order_i64);
    return true;
}

static bool take_launched(struct reader *reader, const struct placed_event *at, void *context,
                          bool *stop, struct err *err)
{
    struct launched_work *work = context;
    int64_t correlation;
    (void)stop;
    if (!correlation_of(reader, &at->event, &correlation, err))
        return false;
    if (!bsearch(&correlation, reader->launches, reader->launch_count, sizeof correlation,
                 order_i64))
        return true;
    if (!work->count || at->event.begin_ns < work->begin_ns) {
        work->begin_ns = at->event.begin_ns;
        work->first = *at;
    }
    if (!work->count || at->event.end_ns > work->end_ns)
        work->end_ns = at->event.end_ns;
    work->count++;
    work->busy_ns += at->event.end_ns - at->event.begin_ns;
    return true;
}

// The window grows while nothing is found, or something in its last half.
static bool find_launched(struct reader *reader, struct placed_event *outer, struct err *err)
{
    static const int64_t reaches_ns[] = {50 * MS, 1000 * MS, 100000 * MS};
    struct launched_work *work = &reader->links->work;
    struct visit visit = {take_launched, work};
    if (!list_calls(reader, outer, err))
        return false;
    for (size_t i = 0; reader->launch_count && i < 3; i++) {
        struct trace_window window = {outer->event.begin_ns - CLOCKS_APART_NS,
                                      outer->event.end_ns + reaches_ns[i]};
        *work = (struct launched_work){0};
        if (!walk_family(reader, TRACK_DEVICE, window, &visit, err))
            return false;
        if (work->count && work->end_ns < outer->event.end_ns + reaches_ns[i] / 2)
            break;
    }
    work->complete = reader->launch_count < MOST_LAUNCHES;
    return true;
}

// --- what it waited for -------------------------------------------------------------------------

// The event that ended last up to an instant, on one stream or on all others.
struct last_ended {
    size_t lane;
    bool others, known;
    int64_t up_to_ns, after_ns; // ended after_ns < ... <= up_to_ns
    struct placed_event at;
};

static bool take_last(struct reader *reader, const struct placed_event *at, void *context,
                      bool *stop, struct err *err)
{
    struct last_ended *last = context;
    (void)stop;
    (void)err;
    if (is_same(at, &reader->links->event) || (at->lane == last->lane) == last->others ||
        at->event.end_ns > last->up_to_ns || at->event.end_ns <= last->after_ns ||
        (last->known && at->event.end_ns <= last->at.event.end_ns))
        return true;
    last->at = *at;
    last->known = true;
    return true;
}

static bool find_last(struct reader *reader, struct last_ended *last, struct err *err)
{
    struct visit visit = {take_last, last};
    struct trace_window window = {last->after_ns, last->up_to_ns + 1};
    return walk_family(reader, TRACK_DEVICE, window, &visit, err);
}

static void note_wait(struct event_links *links, enum event_wait wait,
                      const struct last_ended *last)
{
    links->wait = wait;
    links->waited_for = last->at;
}

// Why a device event did not start when it was launched. Clear only where it waited for long.
static bool explain_start(struct reader *reader, struct err *err)
{
    struct event_links *links = reader->links;
    const struct placed_event *own = &links->event;
    int64_t from_ns = links->launch.event.end_ns, begin_ns = own->event.begin_ns;
    if (!links->has_launch || begin_ns - from_ns < WAIT_FROM_NS)
        return true;
    struct last_ended last = {.lane = own->lane, .up_to_ns = begin_ns, .after_ns = from_ns};
    if (!find_last(reader, &last, err))
        return false;
    if (last.known && begin_ns - last.at.event.end_ns < WAIT_FROM_NS) {
        note_wait(links, WAIT_STREAM, &last);
        return true;
    }
    last.others = true;
    last.known = false;
    last.after_ns = begin_ns - WAIT_FROM_NS > from_ns ? begin_ns - WAIT_FROM_NS : from_ns;
    if (!find_last(reader, &last, err))
        return false;
    if (last.known)
        note_wait(links, WAIT_OTHER_STREAM, &last);
    return true;
}

// A call that waits for the device ends soon after the device's last event.
static bool explain_call(struct reader *reader, struct err *err)
{
    struct event_links *links = reader->links;
    const struct placed_event *own = &links->event;
    struct str name;
    if (!event_kind_is_launch(own->event.kind) ||
        own->event.end_ns - own->event.begin_ns < WAIT_FROM_NS)
        return true;
    if (!trace_texts_get(&reader->texts, own->event.name, &name, err))
        return false;
    if (!str_contains_nocase(name, STR("synchronize")) && !str_contains_nocase(name, STR("memcpy")))
        return true;
    struct last_ended last = {.lane = SIZE_MAX,
                              .others = true,
                              .up_to_ns = own->event.end_ns,
                              .after_ns = own->event.begin_ns};
    if (!find_last(reader, &last, err))
        return false;
    if (last.known)
        note_wait(links, WAIT_DEVICE, &last);
    return true;
}

// --- all together -------------------------------------------------------------------------------

static bool link_device(struct reader *reader, struct err *err)
{
    struct event_links *links = reader->links;
    return find_launch(reader, err) &&
           (!links->has_launch || find_stack(reader, &links->launch, err)) &&
           explain_start(reader, err);
}

static bool link_host(struct reader *reader, struct err *err)
{
    struct placed_event *own = &reader->links->event;
    return find_stack(reader, own, err) && find_launched(reader, own, err) &&
           explain_call(reader, err);
}

static bool link_all(struct reader *reader, struct err *err)
{
    struct event_links *links = reader->links;
    const struct track *track = &reader->events.tracks[links->event.lane];
    if (!correlation_of(reader, &links->event.event, &links->correlation, err))
        return false;
    if (track->family == TRACK_DEVICE)
        return link_device(reader, err);
    return track_is_device(track) || link_host(reader, err);
}

bool event_links_read(const struct trace_file *file, const struct event_place *asked,
                      struct event_links *links, bool *found, struct err *err)
{
    struct reader reader = {.file = file,
                            .device_args = trace_blocks_of(file, SECTION_DEVICE_ARGS),
                            .launch_args = trace_blocks_of(file, SECTION_LAUNCH_ARGS),
                            .rows = trace_blocks_of(file, SECTION_ROW),
                            .texts = trace_texts_of(file),
                            .links = links};
    *links = (struct event_links){.correlation = VALUE_ABSENT};
    *found = false;
    bool ok = trace_events_open(&reader.events, file, 4, err) &&
              find_event(&reader, asked, found, err) && (!*found || link_all(&reader, err));
    trace_events_close(&reader.events);
    trace_blocks_close(&reader.device_args);
    trace_blocks_close(&reader.launch_args);
    trace_blocks_close(&reader.rows);
    trace_texts_close(&reader.texts);
    free(reader.launches);
    return ok;
}
