// SPDX-License-Identifier: Apache-2.0
// A run as a Paraver trace in a tar: .prv, .pcf, .row and views. Tasks are ranks; rows are threads,
// then streams, as nsys2prv writes them, then a row per device whose states are its exclusive
// parts. Each row is sorted on its own, then all are merged.
#include "ingest/trace/trace_events.h"
#include "server/exports/event_source.h"
#include "server/exports/launched_kernels.h"
#include "server/exports/paraver_files.h"
#include "server/exports/sorted_spill.h"
#include "server/exports/tar_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STAGE_RANK, STAGE_TRACKS, STAGE_STATES, STAGE_LINES, STAGE_END };

#define PIECE_BYTES  ((size_t)256 << 10)
#define STEP_EVENTS  (1u << 15)
#define MOST_BLOCKS  64u
#define MOST_SWEPT   64u // streams of a device that are swept together
#define MOST_DEVICES 64u
#define DATE_BYTES   64
#define HELD_BYTES   ((uint64_t)64 << 20) // names, runs being merged, and what is kept per text

// When an event of a row ends.
struct ending {
    int64_t end_ns;
    uint32_t kind; // enum prv_kind, or of states: enum device_class
    bool launched; // a kernel whose call is in the trace
};

// A heap of them, the earliest first.
struct endings {
    struct ending *at;
    size_t count, room;
};

// A stream while its device is swept.
struct swept {
    struct trace_cursor cursor;
    struct trace_event event;
    bool has;
};

struct paraver {
    const struct event_source *source;
    int64_t origin_ns, end_ns;
    int stage;
    struct sorted_spill *spill;
    struct prv_names names;
    struct buf threads, rows; // of the header, and lines of .row
    size_t row_count;

    // The current rank.
    size_t index;
    const struct comm_rank *comm;
    struct trace_file *file;
    struct trace_events events;
    struct trace_texts texts;
    struct trace_blocks device_args, launch_args, shapes;
    uint32_t *values; // per text: the value of that name, 0 not known yet
    uint8_t *classes; // per text: 1 + enum device_class of a kernel of that name
    int64_t base_ns;
    struct trace_window window;
    struct launched_kernels kernels;
    uint32_t launched, ended; // kernels, of the current row so far
    unsigned thread;          // number of the current row
    size_t track;             // next one to begin
    bool devices_begun;       // threads first, then streams
    bool in_track;
    struct trace_cursor cursor;
    struct endings endings;
    int64_t last_ns; // time of the last line of the row

    // The device that is swept.
    struct label devices[MOST_DEVICES];
    size_t device_count, device;
    struct swept swept[MOST_SWEPT];
    size_t swept_count, left_out; // streams
    uint32_t running[DEVICE_CLASS_COUNT];
    int64_t state_ns; // since when
    enum prv_state state;
    bool sweeps;
};

// --- lines --------------------------------------------------------------------------------------

// Since the origin, not before the last line of the row.
static int64_t time_of(struct paraver *p, int64_t file_ns)
{
    int64_t ns = event_source_align(p->comm, p->base_ns + file_ns) - p->origin_ns;
    ns = ns < p->last_ns ? p->last_ns : ns;
    return ns > p->end_ns ? p->end_ns : ns;
}

static bool put_event(struct paraver *p, int64_t time_ns, const char *rest, struct err *err)
{
    char line[SPILL_MOST_LINE];
    p->last_ns = time_ns;
    int len = snprintf(line, sizeof line, "2:0:1:%zu:%u:%lld:%s\n", p->index + 1, p->thread,
                       (long long)time_ns, rest);
    return sorted_spill_add(p->spill, time_ns, (struct str){line, (size_t)len}, err);
}

static bool put_state(struct paraver *p, int64_t end_ns, struct err *err)
{
    char line[SPILL_MOST_LINE];
    int64_t begin_ns = p->state_ns;
    int len = snprintf(line, sizeof line, "1:0:1:%zu:%u:%lld:%lld:%d\n", p->index + 1, p->thread,
                       (long long)begin_ns, (long long)end_ns, (int)p->state);
    return end_ns <= begin_ns ||
           sorted_spill_add(p->spill, begin_ns, (struct str){line, (size_t)len}, err);
}

// --- ends ---------------------------------------------------------------------------------------

static bool push_ending(struct endings *endings, struct ending ending, struct err *err)
{
    struct ending *grown =
        budget_room(NULL, endings->at, &endings->room, endings->count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    endings->at = grown;
    size_t at = endings->count++;
    for (; at && endings->at[(at - 1) / 2].end_ns > ending.end_ns; at = (at - 1) / 2)
        endings->at[at] = endings->at[(at - 1) / 2];
    endings->at[at] = ending;
    return true;
}

static struct ending pop_ending(struct endings *endings)
{
    struct ending first = endings->at[0], last = endings->at[--endings->count];
    size_t at = 0;
    for (size_t child = 1; child < endings->count; child = 2 * at + 1) {
        if (child + 1 < endings->count && endings->at[child + 1].end_ns < endings->at[child].end_ns)
            child++;
        if (endings->at[child].end_ns >= last.end_ns)
            break;
        endings->at[at] = endings->at[child];
        at = child;
    }
    if (endings->count)
        endings->at[at] = last;
    return first;
}

// Writes the ends up to a time.
static bool put_endings(struct paraver *p, int64_t until_ns, struct err *err)
{
    char rest[64];
    while (p->endings.count && p->endings.at[0].end_ns <= until_ns) {
        struct ending ending = pop_ending(&p->endings);
        bool copies = ending.kind == PRV_MEMORY;
        int len = snprintf(rest, sizeof rest, "%u:0%s", prv_types[ending.kind],
                           copies ? ":63000002:0" : "");
        if (ending.launched)
            snprintf(rest + len, sizeof rest - (size_t)len, ":%d:%u", PRV_ENDED_TYPE, ++p->ended);
        if (!put_event(p, time_of(p, ending.end_ns), rest, err))
            return false;
    }
    return true;
}

// --- a rank -------------------------------------------------------------------------------------

static void close_rank(struct paraver *p)
{
    launched_kernels_free(&p->kernels);
    trace_events_close(&p->events);
    trace_texts_close(&p->texts);
    trace_blocks_close(&p->device_args);
    trace_blocks_close(&p->launch_args);
    trace_blocks_close(&p->shapes);
    trace_file_close(p->file);
    free(p->values);
    free(p->classes);
    p->file = NULL;
    p->values = NULL;
    p->classes = NULL;
}

static bool open_rank(struct paraver *p, struct err *err)
{
    p->file = p->source->open(p->source->context, p->index, err);
    if (!p->file || !trace_events_open(&p->events, p->file, MOST_BLOCKS, err))
        return false;
    size_t texts = (size_t)trace_file_count(p->file, SECTION_SPANS) + 1;
    p->texts = trace_texts_of(p->file);
    p->device_args = trace_blocks_of(p->file, SECTION_DEVICE_ARGS);
    p->launch_args = trace_blocks_of(p->file, SECTION_LAUNCH_ARGS);
    p->shapes = trace_blocks_of(p->file, SECTION_SHAPES);
    p->values = calloc(texts, sizeof *p->values);
    p->classes = calloc(texts, sizeof *p->classes);
    p->comm = event_source_comm(p->source, p->index);
    p->base_ns = event_source_base(p->file);
    p->window = event_source_window(p->source, p->comm, p->base_ns);
    p->thread = 0;
    p->track = p->device = p->device_count = 0;
    p->devices_begun = p->in_track = p->sweeps = false;
    p->stage = STAGE_TRACKS;
    if (!p->values || !p->classes)
        return err_set(err, ERR_MEMORY, "out of memory for names");
    return launched_kernels_read(&p->kernels, &p->events, &p->device_args, p->window, err);
}

static void put_label(struct paraver *p, struct label label)
{
    struct str text;
    struct err ignored = {.pos = ERR_NO_POS};
    if (label.text && trace_texts_get(&p->texts, label.text, &text, &ignored))
        buf_add_shown(&p->rows, text);
    else
        buf_i64(&p->rows, label.number == VALUE_ABSENT ? 0 : label.number);
}

// Starts a row and its run of lines.
static bool begin_row(struct paraver *p, const struct track *track, struct err *err)
{
    p->thread++;
    p->row_count++;
    p->last_ns = 0;
    p->launched = p->ended = 0;
    p->endings.count = 0;
    if (!track) {
        buf_puts(&p->rows, "GPU-D");
        put_label(p, p->devices[p->device]);
        if (p->left_out)
            buf_printf(&p->rows, " without %zu streams", p->left_out);
    } else if (track_is_device(track)) {
        buf_puts(&p->rows, "CUDA-D");
        put_label(p, track->pid);
        buf_puts(&p->rows, ".S");
        put_label(p, track->tid);
    } else {
        buf_printf(&p->rows, "THREAD 1.%zu.%u", p->index + 1, p->thread);
    }
    buf_putc(&p->rows, '\n');
    return sorted_spill_run(p->spill, err);
}

// --- tracks -------------------------------------------------------------------------------------

static bool kind_of(struct paraver *p, const struct trace_event *event, enum prv_kind *kind,
                    struct err *err)
{
    struct str text;
    switch (event->kind) {
    case EVENT_RUNTIME:
    case EVENT_DRIVER: *kind = PRV_API; return true;
    case EVENT_ANNOTATION: *kind = PRV_NOTE; return true;
    case EVENT_CPU_OP: *kind = PRV_OPERATOR; return true;
    case EVENT_MEMCPY:
    case EVENT_MEMSET: *kind = PRV_MEMORY; return true;
    case EVENT_KERNEL:
    case EVENT_GRAPH: break;
    default: *kind = PRV_KINDS; return true;
    }
    uint8_t *known = &p->classes[event->name];
    if (!*known && !trace_texts_get(&p->texts, event->name, &text, err))
        return false;
    if (!*known)
        *known = (uint8_t)(1 + event_device_class(event->kind, text, false));
    enum device_class class = (enum device_class)(*known - 1);
    *kind = event->collective || class == CLASS_COMMUNICATION ? PRV_NCCL
            : class == CLASS_MEMORY                           ? PRV_MEMORY
                                                              : PRV_KERNEL;
    return true;
}

static bool value_of(struct paraver *p, const struct trace_event *event, enum prv_kind kind,
                     uint32_t *value, struct err *err)
{
    struct str text;
    *value = p->values[event->name];
    if (!*value && (!trace_texts_get(&p->texts, event->name, &text, err) ||
                    !prv_names_value(&p->names, text, value, err)))
        return false;
    p->values[event->name] = *value;
    p->names.list[*value - 1].kinds |= 1u << kind;
    return true;
}

// The correlation of a call or device event, and the bytes of a copy; -1 if not known.
static bool read_args(struct paraver *p, const struct trace_event *event, int64_t *correlation,
                      int64_t *bytes, struct err *err)
{
    *correlation = *bytes = -1;
    if (event->args == ARGS_NONE)
        return true;
    if (event_kind_is_launch(event->kind)) {
        const struct launch_args *args = trace_blocks_element(&p->launch_args, event->args, err);
        *correlation = args ? args->correlation : -1;
        return args;
    }
    if (!event_kind_is_device(event->kind))
        return true;
    const struct device_args *args = trace_blocks_element(&p->device_args, event->args, err);
    if (!args)
        return false;
    *correlation = args->correlation;
    if (trace_file_count(p->file, SECTION_SHAPES) == 0 || args->shape == ARGS_NONE)
        return true;
    const struct launch_shape *shape = trace_blocks_element(&p->shapes, args->shape, err);
    *bytes = shape ? shape->bytes : -1;
    return shape;
}

static bool put_begin(struct paraver *p, const struct trace_event *event, struct err *err)
{
    enum prv_kind kind;
    uint32_t value;
    int64_t correlation, bytes;
    char rest[160];
    if (!put_endings(p, event->begin_ns, err) || !kind_of(p, event, &kind, err))
        return false;
    if (kind == PRV_KINDS)
        return true;
    if (!value_of(p, event, kind, &value, err) || !read_args(p, event, &correlation, &bytes, err))
        return false;
    int len = snprintf(rest, sizeof rest, "%u:%u", prv_types[kind], value);
    if (kind == PRV_MEMORY)
        len += snprintf(rest + len, sizeof rest - (size_t)len, ":%d:%lld", PRV_BYTES_TYPE,
                        (long long)(bytes < 0 ? 0 : bytes));
    if (correlation > 0 && correlation <= INT32_MAX)
        len += snprintf(rest + len, sizeof rest - (size_t)len, ":%d:%lld", PRV_CORRELATION_TYPE,
                        (long long)correlation);
    uint32_t launched =
        event_kind_is_launch(event->kind) ? launched_kernels_begin(&p->kernels, correlation) : 0;
    if (launched)
        snprintf(rest + len, sizeof rest - (size_t)len, ":%d:%u", PRV_LAUNCHED_TYPE,
                 p->launched += launched);
    struct ending ending = {event->end_ns, kind,
                            event->kind == EVENT_KERNEL &&
                                launched_kernels_has(&p->kernels, correlation)};
    return put_event(p, time_of(p, event->begin_ns), rest, err) &&
           push_ending(&p->endings, ending, err);
}

static bool same_label(struct label a, struct label b)
{
    return a.number == b.number && a.text == b.text;
}

static void note_device(struct paraver *p, struct label device)
{
    for (size_t i = 0; i < p->device_count; i++)
        if (same_label(p->devices[i], device))
            return;
    if (p->device_count < MOST_DEVICES)
        p->devices[p->device_count++] = device;
}

static bool next_track(struct paraver *p, struct err *err)
{
    for (; p->track < p->events.track_count; p->track++) {
        const struct track *track = &p->events.tracks[p->track];
        enum track_family wanted = p->devices_begun ? TRACK_DEVICE : TRACK_HOST;
        if (track->family != wanted)
            continue;
        if (wanted == TRACK_DEVICE)
            note_device(p, track->pid);
        p->cursor = trace_events_start(&p->events, p->track++);
        p->in_track = true;
        return begin_row(p, track, err);
    }
    if (p->devices_begun)
        p->stage = STAGE_STATES;
    p->devices_begun = true;
    p->track = 0;
    return true;
}

static bool step_tracks(struct paraver *p, struct err *err)
{
    struct trace_event event;
    bool found = true;
    if (!p->in_track)
        return next_track(p, err);
    for (unsigned i = 0; i < STEP_EVENTS && found; i++)
        if (!trace_events_next(&p->events, &p->cursor, p->window, &event, &found, err) ||
            (found && !put_begin(p, &event, err)))
            return false;
    p->in_track = found;
    return found || put_endings(p, INT64_MAX, err);
}

// --- states of a device -------------------------------------------------------------------------

static enum prv_state state_of(const struct paraver *p)
{
    return p->running[CLASS_COMPUTE]         ? PRV_RUNNING
           : p->running[CLASS_COMMUNICATION] ? PRV_COMMUNICATION
           : p->running[CLASS_MEMORY]        ? PRV_COPY
                                             : PRV_IDLE;
}

// Ends the state at that time, if what runs has changed.
static bool change_state(struct paraver *p, int64_t file_ns, struct err *err)
{
    enum prv_state state = state_of(p);
    int64_t time_ns = time_of(p, file_ns);
    if (state == p->state)
        return true;
    if (!put_state(p, time_ns, err))
        return false;
    p->state_ns = p->last_ns = time_ns;
    p->state = state;
    return true;
}

static bool advance(struct paraver *p, struct swept *swept, struct err *err)
{
    return trace_events_next(&p->events, &swept->cursor, p->window, &swept->event, &swept->has,
                             err);
}

static bool begin_device(struct paraver *p, struct err *err)
{
    p->swept_count = p->left_out = 0;
    memset(p->running, 0, sizeof p->running);
    p->state = PRV_IDLE;
    p->sweeps = true;
    for (size_t i = 0; i < p->events.track_count; i++) {
        const struct track *track = &p->events.tracks[i];
        if (track->family != TRACK_DEVICE || !same_label(track->pid, p->devices[p->device]))
            continue;
        if (p->swept_count == MOST_SWEPT) {
            p->left_out++;
            continue;
        }
        struct swept *swept = &p->swept[p->swept_count++];
        swept->cursor = trace_events_start(&p->events, i);
        if (!advance(p, swept, err))
            return false;
    }
    bool ok = begin_row(p, NULL, err);
    p->state_ns = 0;
    return ok;
}

static struct swept *earliest(struct paraver *p)
{
    struct swept *first = NULL;
    for (size_t i = 0; i < p->swept_count; i++)
        if (p->swept[i].has && (!first || p->swept[i].event.begin_ns < first->event.begin_ns))
            first = &p->swept[i];
    return first;
}

// Ends what is over by then.
static bool end_running(struct paraver *p, int64_t until_ns, struct err *err)
{
    while (p->endings.count && p->endings.at[0].end_ns <= until_ns) {
        struct ending ending = pop_ending(&p->endings);
        p->running[ending.kind]--;
        bool more = p->endings.count && p->endings.at[0].end_ns == ending.end_ns;
        bool touches = ending.end_ns == until_ns; // what begins there may go on with the state
        if (!more && !touches && !change_state(p, ending.end_ns, err))
            return false;
    }
    return true;
}

static bool begin_running(struct paraver *p, struct swept *swept, struct err *err)
{
    static const enum device_class classes[] = {[PRV_NCCL] = CLASS_COMMUNICATION,
                                                [PRV_MEMORY] = CLASS_MEMORY,
                                                [PRV_KERNEL] = CLASS_COMPUTE};
    struct trace_event event = swept->event;
    enum prv_kind kind;
    if (!end_running(p, event.begin_ns, err) || !kind_of(p, &event, &kind, err))
        return false;
    bool counts = kind == PRV_NCCL || kind == PRV_MEMORY || kind == PRV_KERNEL;
    if (counts && event.end_ns > event.begin_ns) {
        p->running[classes[kind]]++;
        if (!push_ending(&p->endings,
                         (struct ending){.end_ns = event.end_ns, .kind = classes[kind]}, err))
            return false;
    }
    if (!advance(p, swept, err))
        return false;
    const struct swept *next = earliest(p);
    return (next && next->event.begin_ns == event.begin_ns) || change_state(p, event.begin_ns, err);
}

static bool end_device(struct paraver *p, struct err *err)
{
    if (!end_running(p, INT64_MAX, err) || !put_state(p, p->end_ns, err))
        return false;
    p->sweeps = false;
    p->device++;
    return true;
}

static bool step_states(struct paraver *p, struct err *err)
{
    if (!p->sweeps && p->device == p->device_count) {
        buf_printf(&p->threads, "%s%u:1", p->index ? "," : "", p->thread);
        close_rank(p);
        p->index++;
        p->stage = STAGE_RANK;
        return true;
    }
    if (!p->sweeps)
        return begin_device(p, err);
    for (unsigned i = 0; i < STEP_EVENTS; i++) {
        struct swept *swept = earliest(p);
        if (!swept)
            return end_device(p, err);
        if (!begin_running(p, swept, err))
            return false;
    }
    return true;
}

// --- the archive --------------------------------------------------------------------------------

// "run.prv" of letters, digits and dashes.
static void name_file(const struct paraver *p, const char *suffix, char name[80])
{
    size_t len = 0;
    for (size_t i = 0; i < p->source->title.len && len < 60; i++) {
        char c = p->source->title.at[i];
        bool plain = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || str_is_digit(c);
        name[len++] = plain || c == '-' || c == '_' ? c : '-';
    }
    snprintf(name + len, 80 - len, "%s%s", len ? "" : "run", suffix);
}

static void write_head(const struct paraver *p, struct buf *out)
{
    char date[DATE_BYTES] = "01/01/1970 at 00:00";
    time_t seconds = (time_t)(p->origin_ns / 1000000000);
    struct tm when;
    if (gmtime_r(&seconds, &when))
        strftime(date, sizeof date, "%d/%m/%Y at %H:%M", &when);
    buf_printf(out, "#Paraver (%s):%lld_ns:0:1:%zu(", date, (long long)p->end_ns, p->source->count);
    buf_add(out, p->threads.at, p->threads.len);
    buf_puts(out, ")\n");
}

static bool begin_lines(struct paraver *p, struct buf *out, struct err *err)
{
    char name[80];
    struct buf head = {0};
    write_head(p, &head);
    name_file(p, ".prv", name);
    tar_head(out, name, head.len + sorted_spill_bytes(p->spill));
    buf_add(out, head.at, head.len);
    p->last_ns = (int64_t)head.len; // padding the file needs its length
    out->failed |= head.failed;
    buf_free(&head);
    p->stage = STAGE_LINES;
    return sorted_spill_merge(p->spill, err);
}

static void put_file(const char *name, struct buf *text, struct buf *out)
{
    tar_head(out, name, text->len);
    buf_add(out, text->at, text->len);
    tar_pad(out, text->len);
    out->failed |= text->failed;
    buf_clear(text);
}

static void write_rows(const struct paraver *p, struct buf *out)
{
    buf_printf(out, "LEVEL TASK SIZE %zu\n", p->source->count);
    for (size_t i = 0; i < p->source->count; i++)
        buf_printf(out, "rank %lld\n", (long long)p->source->ranks[i].rank);
    buf_printf(out, "\nLEVEL THREAD SIZE %zu\n", p->row_count);
    buf_add(out, p->rows.at, p->rows.len);
}

static void put_others(const struct paraver *p, struct buf *out)
{
    char name[80];
    struct buf text = {0};
    prv_write_pcf(&p->names, &text);
    name_file(p, ".pcf", name);
    put_file(name, &text, out);
    write_rows(p, &text);
    name_file(p, ".row", name);
    put_file(name, &text, out);
    for (size_t i = 0; i < prv_view_count; i++) {
        prv_write_view(&prv_views[i], &text);
        put_file(prv_views[i].file, &text, out);
    }
    prv_write_overlap(&text);
    put_file("overlap.cfg", &text, out);
    prv_write_in_flight(&text);
    put_file("kernels_in_flight.cfg", &text, out);
    buf_free(&text);
    tar_end(out);
}

static bool step_lines(struct paraver *p, struct buf *out, struct err *err)
{
    bool more;
    if (!sorted_spill_next(p->spill, PIECE_BYTES, out, &more, err))
        return false;
    if (more)
        return true;
    tar_pad(out, (uint64_t)p->last_ns + sorted_spill_bytes(p->spill));
    put_others(p, out);
    p->stage = STAGE_END;
    return true;
}

static bool next_piece(void *state, struct buf *out, bool *more, struct err *err)
{
    struct paraver *p = state;
    bool ok = true;
    switch (p->stage) {
    case STAGE_RANK:
        ok = p->index < p->source->count ? open_rank(p, err) : begin_lines(p, out, err);
        break;
    case STAGE_TRACKS: ok = step_tracks(p, err); break;
    case STAGE_STATES: ok = step_states(p, err); break;
    case STAGE_LINES: ok = step_lines(p, out, err); break;
    default: break;
    }
    *more = p->stage != STAGE_END;
    return ok && buf_ok(&p->rows, err) && buf_ok(&p->threads, err) && buf_ok(out, err);
}

static bool open_export(const struct event_source *source, void **state, struct err *err)
{
    struct paraver *p = calloc(1, sizeof *p);
    if (!p)
        return err_set(err, ERR_MEMORY, "out of memory");
    *state = p;
    prv_names_init(&p->names);
    p->source = source;
    p->origin_ns = event_source_origin(source);
    p->end_ns = event_source_end(source) - p->origin_ns;
    p->spill = sorted_spill_new(source->min_free_bytes, err);
    return p->spill;
}

static void close_export(void *state)
{
    struct paraver *p = state;
    close_rank(p);
    sorted_spill_free(p->spill);
    prv_names_free(&p->names);
    buf_free(&p->threads);
    buf_free(&p->rows);
    free(p->endings.at);
    free(p);
}

const struct event_export export_paraver = {
    .word = "paraver",
    .type = "application/x-tar",
    .suffix = "tar",
    .help = "a Paraver trace with names and views, a tar on the service and a folder here",
    .whole_run = true,
    .is_archive = true,
    .held_bytes = HELD_BYTES,
    .open = open_export,
    .next = next_piece,
    .close = close_export};
