// SPDX-License-Identifier: Apache-2.0
#include "server/exports/event_walk.h"

#include "ingest/base/search.h"

#include <stdio.h>
#include <stdlib.h>

#define PIECE_BYTES    ((size_t)256 << 10)
#define PIECE_STEPS    ((size_t)1 << 15)
#define BLOCKS_A_TRACK 2u

static int64_t since_origin(const struct event_walk *walk, int64_t file_ns)
{
    int64_t ns = event_source_align(walk->comm, walk->base_ns + file_ns) - walk->origin_ns;
    return ns < 0 ? 0 : ns;
}

// --- a rank -------------------------------------------------------------------------------------

static void close_rank(struct event_walk *walk)
{
    trace_events_close(&walk->events);
    trace_texts_close(&walk->texts);
    trace_texts_close(&walk->labels);
    trace_blocks_close(&walk->device_args);
    trace_blocks_close(&walk->launch_args);
    trace_blocks_close(&walk->memory_args);
    trace_blocks_close(&walk->counters);
    trace_blocks_close(&walk->samples);
    trace_file_close(walk->file);
    free(walk->classes);
    walk->file = NULL;
    walk->classes = NULL;
}

static void start_lane(struct event_walk *walk, size_t lane)
{
    walk->lane = lane;
    walk->rows_begun = 0;
    walk->last_ns = 0;
    walk->rows.nests = true;
    if (lane < walk->events.track_count) {
        walk->cursor = trace_events_start(&walk->events, lane);
        walk->rows.nests = walk->events.tracks[lane].family != TRACK_DEVICE;
    }
}

static bool open_rank(struct event_walk *walk, struct err *err)
{
    const struct event_source *source = walk->source;
    walk->file = source->open(source->context, walk->index, err);
    if (!walk->file || !trace_events_open(&walk->events, walk->file, BLOCKS_A_TRACK, err))
        return false;
    walk->texts = walk->labels = trace_texts_of(walk->file);
    walk->device_args = trace_blocks_of(walk->file, SECTION_DEVICE_ARGS);
    walk->launch_args = trace_blocks_of(walk->file, SECTION_LAUNCH_ARGS);
    walk->memory_args = trace_blocks_of(walk->file, SECTION_MEMORY_ARGS);
    walk->counters = trace_blocks_of(walk->file, SECTION_COUNTERS);
    walk->samples = trace_blocks_of(walk->file, SECTION_COUNTER_SAMPLES);
    walk->classes = calloc((size_t)trace_file_count(walk->file, SECTION_SPANS) + 1, 1);
    walk->base_ns = event_source_base(walk->file);
    walk->comm = event_source_comm(source, walk->index);
    walk->window = event_source_window(source, walk->comm, walk->base_ns);
    walk->next_call = 0;
    walk->next_counter = walk->next_sample = 0;
    walk->counter_begun = false;
    memset(walk->memory_keys, 0, sizeof walk->memory_keys);
    start_lane(walk, 0);
    return walk->classes || err_set(err, ERR_MEMORY, "out of memory for names");
}

static bool next_rank(struct event_walk *walk, struct err *err)
{
    if (walk->index == walk->source->count) {
        if (walk->writer->tail)
            walk->writer->tail(walk, walk->out);
        walk->stage = WALK_DONE;
        return true;
    }
    if (!open_rank(walk, err))
        return false;
    if (walk->writer->rank)
        walk->writer->rank(walk, walk->out);
    walk->stage = WALK_TRACKS;
    return true;
}

// --- a lane -------------------------------------------------------------------------------------

static void end_slice(void *context, uint32_t row, int64_t end_ns)
{
    struct event_walk *walk = context;
    if (walk->writer->end)
        walk->writer->end(walk, row, end_ns, walk->out);
}

static void end_lane(struct event_walk *walk)
{
    struct lane_ends ends = {end_slice, walk};
    lane_rows_finish(&walk->rows, &ends);
}

static bool put_slice(struct event_walk *walk, struct walk_slice *slice, struct err *err)
{
    struct lane_ends ends = {end_slice, walk};
    if (slice->begin_ns < walk->last_ns) // a clock that was set back
        slice->begin_ns = walk->last_ns;
    if (slice->end_ns < slice->begin_ns)
        slice->end_ns = slice->begin_ns;
    walk->last_ns = slice->begin_ns;
    if (!lane_rows_place(&walk->rows, slice->begin_ns, slice->end_ns, &ends, &slice->row))
        return err_set(err, ERR_MEMORY, "out of memory for the rows of a lane");
    for (; slice->row != LANE_NO_ROW && walk->rows_begun <= slice->row; walk->rows_begun++)
        if (walk->writer->row)
            walk->writer->row(walk, walk->rows_begun, walk->out);
    walk->writer->slice(walk, slice, walk->out);
    return true;
}

static const char *category_of(struct event_walk *walk, const struct trace_event *event,
                               struct str text)
{
    if (!event_kind_is_device(event->kind))
        return event_kind_word(event->kind);
    if (event->kind != EVENT_KERNEL || event->collective)
        return event_device_class_word(event_device_class(event->kind, text, event->collective));
    uint8_t *known = &walk->classes[event->name];
    if (!*known)
        *known = (uint8_t)(1 + event_device_class(EVENT_KERNEL, text, false));
    return event_device_class_word((enum device_class)(*known - 1));
}

// What links a call with what it launched; 0 nothing.
static bool find_launch(struct event_walk *walk, const struct trace_event *event,
                        struct walk_slice *slice, struct err *err)
{
    int64_t correlation = VALUE_ABSENT;
    slice->launches = event_kind_is_launch(event->kind);
    if (event->args == ARGS_NONE || walk->source->device_only)
        return true;
    if (event_kind_is_device(event->kind)) {
        const struct device_args *args = trace_blocks_element(&walk->device_args, event->args, err);
        if (!args)
            return false;
        correlation = args->correlation;
    } else if (slice->launches) {
        const struct launch_args *args = trace_blocks_element(&walk->launch_args, event->args, err);
        if (!args)
            return false;
        correlation = args->correlation;
    }
    if (correlation != VALUE_ABSENT && correlation != 0)
        slice->launch = hash_u64((uint64_t)correlation ^ (uint64_t)(walk->index + 1) << 48) | 1;
    return true;
}

// The collective that a device event is: the one of the same times.
static const struct comm_event *find_call(const struct event_walk *walk,
                                          const struct trace_event *event)
{
    const struct comm_rank *comm = walk->comm;
    if (!comm || !event_kind_is_device(event->kind))
        return NULL;
    int64_t begin_ns = walk->base_ns + event->begin_ns, dur_ns = event->end_ns - event->begin_ns;
    uint32_t low = 0, high = comm->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (comm->events[middle].begin_ns < begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < comm->count && comm->events[low].begin_ns == begin_ns; low++)
        if (comm->events[low].dur_ns == dur_ns && !comm->events[low].joined)
            return &comm->events[low];
    return NULL;
}

// --- memory: allocations are a counter ----------------------------------------------------------

static void name_memory(const struct memory_args *args, char name[64])
{
    if (args->device_type == 0 || args->device < 0)
        snprintf(name, 64, "memory allocated, host");
    else
        snprintf(name, 64, "memory allocated, GPU %d", args->device);
}

static bool put_allocation(struct event_walk *walk, const struct trace_event *event,
                           struct err *err)
{
    char name[64];
    if (event->args == ARGS_NONE || !walk->writer->counter)
        return true;
    const struct memory_args *args = trace_blocks_element(&walk->memory_args, event->args, err);
    if (!args)
        return false;
    if (args->allocated == VALUE_ABSENT)
        return true;
    uint64_t key = 1 + ((uint64_t)(uint32_t)args->device_type << 32 | (uint32_t)args->device);
    uint32_t i = 0;
    while (i < WALK_MEMORY_DEVICES && walk->memory_keys[i] && walk->memory_keys[i] != key)
        i++;
    if (i == WALK_MEMORY_DEVICES)
        return true;
    name_memory(args, name);
    struct walk_counter counter = {.number = i,
                                   .is_new = !walk->memory_keys[i],
                                   .unit = "bytes",
                                   .name = str_of(name),
                                   .time_ns = since_origin(walk, event->begin_ns),
                                   .value = (double)args->allocated};
    walk->memory_keys[i] = key;
    walk->writer->counter(walk, &counter, walk->out);
    return true;
}

// --- tracks -------------------------------------------------------------------------------------

static bool put_event(struct event_walk *walk, const struct trace_event *event, struct err *err)
{
    struct walk_slice slice = {.begin_ns = since_origin(walk, event->begin_ns),
                               .end_ns = since_origin(walk, event->end_ns),
                               .kind = event->kind,
                               .name = event->name,
                               .call = find_call(walk, event)};
    if (event->kind == EVENT_ALLOCATION)
        return put_allocation(walk, event, err);
    if (!trace_texts_get(&walk->texts, event->name, &slice.text, err) ||
        !find_launch(walk, event, &slice, err))
        return false;
    slice.category = category_of(walk, event, slice.text);
    return put_slice(walk, &slice, err);
}

static bool step_track(struct event_walk *walk, struct err *err)
{
    struct trace_event event;
    bool found = false;
    if (walk->lane == walk->events.track_count) {
        walk->stage = WALK_WAITS;
        return true;
    }
    bool wanted = !walk->source->device_only || track_is_device(&walk->events.tracks[walk->lane]);
    if (wanted &&
        !trace_events_next(&walk->events, &walk->cursor, walk->window, &event, &found, err))
        return false;
    if (found)
        return put_event(walk, &event, err);
    end_lane(walk);
    start_lane(walk, walk->lane + 1);
    return true;
}

// --- waits --------------------------------------------------------------------------------------

static bool put_wait(struct event_walk *walk, const struct comm_event *call, struct err *err)
{
    const struct run_comm *comm = walk->source->comm;
    const struct comm_match *match = &comm->matches[call->match];
    char name[48];
    if (match->latest_rank == RUN_NONE)
        return true;
    snprintf(name, sizeof name, "wait for rank %lld",
             (long long)comm->ranks[match->latest_rank].rank);
    struct walk_slice slice = {
        .begin_ns = since_origin(walk, call->begin_ns - walk->base_ns),
        .end_ns = since_origin(walk, call->begin_ns - walk->base_ns + call->wait_ns),
        .kind = EVENT_OTHER,
        .category = "wait",
        .text = str_of(name)};
    return put_slice(walk, &slice, err);
}

static bool step_waits(struct event_walk *walk, struct err *err)
{
    if (!walk->comm || walk->next_call == walk->comm->count) {
        end_lane(walk);
        walk->stage = WALK_COUNTERS;
        return true;
    }
    const struct comm_event *call = &walk->comm->events[walk->next_call++];
    int64_t begin_ns = call->begin_ns - walk->base_ns;
    bool shown = call->match != RUN_NONE && !call->joined && call->wait_ns > 0 &&
                 begin_ns < walk->window.to_ns && begin_ns + call->wait_ns > walk->window.from_ns;
    return !shown || put_wait(walk, call, err);
}

// --- counters -----------------------------------------------------------------------------------

static bool name_counter(struct event_walk *walk, const struct counter *at, struct buf *name,
                         struct err *err)
{
    struct str text;
    if (!trace_texts_get(&walk->texts, at->name, &text, err))
        return false;
    buf_add_str(name, text);
    if (!trace_texts_get(&walk->texts, at->key, &text, err))
        return false;
    if (text.len) {
        buf_puts(name, " ");
        buf_add_str(name, text);
    }
    return buf_ok(name, err);
}

static bool put_sample(struct event_walk *walk, const struct counter *at,
                       const struct counter_sample *sample, struct err *err)
{
    struct buf name = {0};
    struct walk_counter counter = {
        .number = WALK_MEMORY_DEVICES + (uint32_t)walk->next_counter,
        .is_new = !walk->counter_begun,
        .unit = "",
        .value = sample->value,
    };
    bool ok = name_counter(walk, at, &name, err);
    counter.name = (struct str){name.at, name.len};
    counter.time_ns = since_origin(walk, sample->time_ns);
    if (ok)
        walk->writer->counter(walk, &counter, walk->out);
    walk->counter_begun = true;
    buf_free(&name);
    return ok;
}

static bool is_shown(const struct event_walk *walk, const struct counter_sample *sample)
{
    return sample->time_ns >= -TRACE_MAX_NS && sample->time_ns <= TRACE_MAX_NS &&
           sample->time_ns >= walk->window.from_ns && sample->time_ns < walk->window.to_ns;
}

static void end_rank(struct event_walk *walk)
{
    close_rank(walk);
    walk->index++;
    walk->stage = WALK_RANK;
}

static bool step_counters(struct event_walk *walk, struct err *err)
{
    if (!walk->writer->counter ||
        walk->next_counter == trace_file_count(walk->file, SECTION_COUNTERS)) {
        end_rank(walk);
        return true;
    }
    const struct counter *at = trace_blocks_element(&walk->counters, walk->next_counter, err);
    if (!at)
        return false;
    if (walk->next_sample == at->count) {
        walk->next_counter++;
        walk->next_sample = 0;
        walk->counter_begun = false;
        return true;
    }
    const struct counter_sample *sample =
        trace_blocks_element(&walk->samples, at->first + walk->next_sample++, err);
    if (!sample)
        return false;
    return !is_shown(walk, sample) || put_sample(walk, at, sample, err);
}

// --- the walk -----------------------------------------------------------------------------------

void event_walk_open(struct event_walk *walk, const struct event_source *source,
                     const struct walk_writer *writer, void *context)
{
    *walk = (struct event_walk){.source = source,
                                .writer = writer,
                                .context = context,
                                .origin_ns = event_source_origin(source)};
}

void event_walk_close(struct event_walk *walk)
{
    lane_rows_free(&walk->rows);
    close_rank(walk);
}

static bool step(struct event_walk *walk, struct err *err)
{
    switch (walk->stage) {
    case WALK_HEAD:
        if (walk->writer->head)
            walk->writer->head(walk, walk->out);
        walk->stage = WALK_RANK;
        return true;
    case WALK_RANK: return next_rank(walk, err);
    case WALK_TRACKS: return step_track(walk, err);
    case WALK_WAITS: return step_waits(walk, err);
    case WALK_COUNTERS: return step_counters(walk, err);
    case WALK_DONE: break;
    }
    return true;
}

bool event_walk_next(struct event_walk *walk, struct buf *out, bool *more, struct err *err)
{
    size_t goal = out->len + PIECE_BYTES;
    walk->out = out;
    for (size_t i = 0; i < PIECE_STEPS && walk->stage != WALK_DONE && out->len < goal; i++)
        if (!step(walk, err))
            return false;
    *more = walk->stage != WALK_DONE;
    return buf_ok(out, err);
}

// --- names of lanes -----------------------------------------------------------------------------

static void put_label(struct event_walk *walk, struct label label, struct buf *out)
{
    struct str text;
    struct err ignored = {.pos = ERR_NO_POS};
    if (label.text && trace_texts_get(&walk->labels, label.text, &text, &ignored))
        buf_add_str(out, text);
    else if (label.number == VALUE_ABSENT)
        buf_putc(out, '?');
    else
        buf_i64(out, label.number);
}

// The thread's name, which often contains the number already.
static void put_thread(struct event_walk *walk, const struct track *track, struct buf *out)
{
    struct buf number = {0};
    put_label(walk, track->tid, &number);
    struct str id = {number.at, number.len};
    if (track->name)
        put_label(walk, (struct label){VALUE_ABSENT, track->name}, out);
    else
        buf_puts(out, "thread ");
    if (!track->name || str_find((struct str){out->at, out->len}, id) == SIZE_MAX) {
        buf_puts(out, track->name ? " " : "");
        buf_add_str(out, id);
    }
    buf_free(&number);
}

void event_walk_name_lane(struct event_walk *walk, struct buf *out)
{
    static const char *const notes[] = {
        [TRACK_HOST] = "",          [TRACK_PYTHON] = " (python)",
        [TRACK_DEVICE] = "",        [TRACK_DEVICE_NOTE] = " (annotations)",
        [TRACK_OTHER] = " (other)",
    };
    if (event_walk_is_waits(walk)) {
        buf_puts(out, "waits in collectives");
        return;
    }
    const struct track *track = &walk->events.tracks[walk->lane];
    if (track_is_device(track)) {
        buf_puts(out, "GPU ");
        put_label(walk, track->pid, out);
        buf_puts(out, " stream ");
        put_label(walk, track->tid, out);
    } else {
        put_thread(walk, track, out);
    }
    buf_puts(out, notes[track->family]);
}
