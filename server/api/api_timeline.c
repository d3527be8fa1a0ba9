// SPDX-License-Identifier: Apache-2.0
// A window of one rank's trace for the timeline.
#include "server/api/api.h"

#include "analysis/names/category.h"
#include "analysis/report/tables.h"
#include "ingest/base/log.h"
#include "ingest/trace/timeline.h"
#include "server/http/reply_room.h"
#include "server/http/route.h"

#include <stdio.h>
#include <stdlib.h>

// Classes of slices: the categories of device events, then the kinds of all others.
enum { FIRST_KIND = (int)CATEGORY_COUNT, CLASS_COUNT = FIRST_KIND + (int)EVENT_KIND_COUNT };

// The request; times are relative to the trace's first event.
struct asked {
    int64_t rank, from_ns, to_ns, px, rows; // to_ns -1: to the end
    bool device_only;
};

// An answer being built.
struct drawing {
    struct request *request;
    struct response *response;
    struct asked asked;
    const struct trace_file *file;
    struct timeline timeline;
    uint8_t *classes; // per slice
    const struct table *steps;
};

static const char *class_word(uint32_t class)
{
    return class < FIRST_KIND ? category_word((enum category) class)
                              : event_kind_word((enum event_kind)(class - FIRST_KIND));
}

static uint8_t class_of(const struct slice *slice, struct str name)
{
    enum event_kind kind = (enum event_kind)slice->kind;
    if (!event_kind_is_device(kind))
        return (uint8_t)(FIRST_KIND + (int)kind);
    enum device_class class = event_device_class(kind, name, slice->collective);
    if (class == CLASS_COMMUNICATION)
        return CATEGORY_COMMUNICATION;
    if (class == CLASS_MEMORY)
        return kind == EVENT_MEMSET ? CATEGORY_FILL : CATEGORY_COPY;
    enum category category = category_of_kernel(name);
    return (uint8_t)(category == CATEGORY_NONE ? CATEGORY_OTHER : category);
}

// Looks up each name once for each kind it occurs with.
static bool classify(struct drawing *drawing, struct err *err)
{
    const struct timeline *t = &drawing->timeline;
    const size_t forms = EVENT_KIND_COUNT * 2;
    struct arena *arena = drawing->request->arena;
    uint8_t *known = arena_array(arena, t->name_count, forms, err); // class + 1
    drawing->classes = arena_room(arena, t->slice_count + 1, 1, err);
    if (!known || !drawing->classes)
        return false;
    for (size_t i = 0; i < t->slice_count; i++) {
        const struct slice *slice = &t->slices[i];
        uint8_t *class = &known[slice->name * forms + slice->kind * 2u + slice->collective];
        if (!*class)
            *class = (uint8_t)(class_of(slice, t->names[slice->name]) + 1);
        drawing->classes[i] = (uint8_t)(*class - 1);
    }
    return true;
}

// --- JSON ---------------------------------------------------------------------------------------

// An integer and a comma; replies have hundreds of thousands of them.
static void put_number(struct buf *out, int64_t value)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    text[--at] = ',';
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        text[--at] = '-';
    buf_add(out, text + at, sizeof text - at);
}

static void open_list(struct buf *out, const char *name)
{
    buf_printf(out, "\"%s\":[", name);
}

// Ends a list whose items are each followed by a comma, and continues.
static void close_list(struct buf *out, const char *next)
{
    if (out->len && out->at[out->len - 1] == ',')
        out->len--;
    buf_putc(out, ']');
    buf_puts(out, next);
}

static void put_label(struct buf *out, const struct timeline *t, struct label label)
{
    if (label.text)
        buf_add_str(out, t->names[label.text]);
    else if (label.number == VALUE_ABSENT)
        buf_putc(out, '?');
    else
        buf_i64(out, label.number);
}

static void name_lane(struct buf *out, const struct timeline *t, const struct track *track)
{
    static const char *const notes[] = {
        [TRACK_HOST] = "",          [TRACK_PYTHON] = " (python)",
        [TRACK_DEVICE] = "",        [TRACK_DEVICE_NOTE] = " (annotations)",
        [TRACK_OTHER] = " (other)",
    };
    bool device = track->family == TRACK_DEVICE || track->family == TRACK_DEVICE_NOTE;
    if (device)
        buf_puts(out, "GPU ");
    if (device)
        put_label(out, t, track->pid);
    if (track->name && !device) {
        buf_add_str(out, t->names[track->name]);
    } else {
        buf_puts(out, device ? " stream " : "thread ");
        put_label(out, t, track->tid);
    }
    buf_puts(out, notes[track->family]);
}

static void put_text(struct buf *out, const char *name, struct buf *scratch)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json(out, (struct str){scratch->at, scratch->len});
    buf_clear(scratch);
}

static void put_lane(struct buf *out, const struct timeline *t, const struct timeline_lane *lane,
                     struct buf *scratch)
{
    static const char *const kinds[] = {
        [TRACK_HOST] = "thread",   [TRACK_PYTHON] = "thread",          [TRACK_OTHER] = "thread",
        [TRACK_DEVICE] = "stream", [TRACK_DEVICE_NOTE] = "annotation",
    };
    buf_printf(out, "{\"kind\":\"%s\",\"track\":%u,\"rows\":%u,\"events\":%u",
               kinds[lane->track.family], lane->number, lane->rows ? lane->rows : 1,
               lane->track.count);
    name_lane(scratch, t, &lane->track);
    put_text(out, "name", scratch);
    put_label(scratch, t, lane->track.pid);
    put_text(out, "process", scratch);
    put_label(scratch, t, lane->track.tid);
    put_text(out, "thread", scratch);
    buf_puts(out, "},");
}

static void put_lanes(const struct drawing *drawing, struct buf *out)
{
    struct buf scratch = {0};
    open_list(out, "lanes");
    for (size_t i = 0; i < drawing->timeline.lane_count; i++)
        put_lane(out, &drawing->timeline, &drawing->timeline.lanes[i], &scratch);
    close_list(out, ",");
    if (scratch.failed)
        out->failed = true;
    buf_free(&scratch);
}

static void put_names(const struct drawing *drawing, struct buf *out)
{
    open_list(out, "names");
    for (size_t i = 0; i < drawing->timeline.name_count; i++) {
        buf_json(out, drawing->timeline.names[i]);
        buf_putc(out, ',');
    }
    close_list(out, ",");
}

// Only classes that occur get a number.
static void put_classes(const struct drawing *drawing, struct buf *out)
{
    const struct timeline *t = &drawing->timeline;
    uint8_t number[CLASS_COUNT] = {0}, count = 0;
    open_list(out, "class");
    for (size_t i = 0; i < t->slice_count; i++) {
        uint8_t *own = &number[drawing->classes[i]];
        if (!*own)
            *own = ++count;
        put_number(out, *own - 1);
    }
    close_list(out, "},");
    open_list(out, "classes");
    for (uint32_t wanted = 1; wanted <= count; wanted++)
        for (uint32_t class = 0; class < CLASS_COUNT; class ++)
            if (number[class] == wanted)
                buf_printf(out, "\"%s\",", class_word(class));
    close_list(out, ",");
}

static void put_slices(const struct drawing *drawing, struct buf *out)
{
    const struct timeline *t = &drawing->timeline;
    int64_t zero_ns = trace_file_header(drawing->file)->begin_ns;
    buf_puts(out, "\"slices\":{");
    open_list(out, "lane");
    for (size_t lane = 0; lane < t->lane_count; lane++)
        for (size_t i = 0; i < t->lanes[lane].count; i++)
            put_number(out, (int64_t)lane);
    close_list(out, ",");
    open_list(out, "row");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].row);
    close_list(out, ",");
    open_list(out, "begin_ns");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].begin_ns - zero_ns);
    close_list(out, ",");
    open_list(out, "dur_ns");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].end_ns - t->slices[i].begin_ns);
    close_list(out, ",");
    open_list(out, "busy_ns");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].busy_ns);
    close_list(out, ",");
    open_list(out, "name");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].name);
    close_list(out, ",");
    open_list(out, "count");
    for (size_t i = 0; i < t->slice_count; i++)
        put_number(out, t->slices[i].count);
    close_list(out, ",");
    put_classes(drawing, out);
}

// The report's steps, shifted from the start of device work to the start of the trace.
static void put_steps(const struct drawing *drawing, struct buf *out)
{
    const struct trace_file_header *header = trace_file_header(drawing->file);
    int64_t shift_ns = header->device_begin_ns - header->begin_ns;
    open_list(out, "steps");
    for (size_t i = 0; drawing->steps && i < drawing->steps->row_count; i++) {
        int64_t begin_ns = table_cell(drawing->steps, i, STEPS_BEGIN_NS)->i + shift_ns;
        int64_t end_ns = begin_ns + table_cell(drawing->steps, i, STEPS_WINDOW_NS)->i;
        if (begin_ns < drawing->asked.to_ns && end_ns > drawing->asked.from_ns)
            buf_printf(out, "{\"number\":%lld,\"begin_ns\":%lld,\"end_ns\":%lld},",
                       (long long)table_cell(drawing->steps, i, STEPS_STEP)->i, (long long)begin_ns,
                       (long long)end_ns);
    }
    close_list(out, "}");
}

static void put_reply(const struct drawing *drawing, struct buf *out)
{
    const struct trace_file_header *header = trace_file_header(drawing->file);
    const struct asked *asked = &drawing->asked;
    buf_printf(out,
               "{\"rank\":%lld,\"begin_ns\":0,\"end_ns\":%lld,\"from_ns\":%lld,\"to_ns\":%lld,"
               "\"resolution_ns\":%lld,\"lanes_left_out\":%zu,",
               (long long)asked->rank, (long long)(header->end_ns - header->begin_ns),
               (long long)asked->from_ns, (long long)asked->to_ns,
               (long long)drawing->timeline.resolution_ns, drawing->timeline.lanes_left_out);
    put_lanes(drawing, out);
    put_names(drawing, out);
    put_slices(drawing, out);
    put_steps(drawing, out);
}

// --- the request --------------------------------------------------------------------------------

bool api_read_lanes(const struct request *request, bool *device_only, struct err *err)
{
    struct str lanes = query_get(&request->query, "lanes");
    *device_only = str_equal(lanes, STR("device"));
    return !lanes.at || *device_only || str_equal(lanes, STR("all")) ||
           err_set(err, ERR_USAGE, "found lanes=%.*s, expected device or all",
                   (int)(lanes.len < 20 ? lanes.len : 20), lanes.at);
}

static bool read_asked(const struct request *request, struct asked *asked, struct err *err)
{
    static const char *const known[] = {"rank", "from_ns", "to_ns", "px", "rows", "lanes", NULL};
    const struct query *query = &request->query;
    return query_allow(query, known, err) &&
           query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asked->rank, err) &&
           query_get_int(query, (struct query_int){"from_ns", 0, 0, TRACE_MAX_NS}, &asked->from_ns,
                         err) &&
           query_get_int(query, (struct query_int){"to_ns", -1, 1, TRACE_MAX_NS}, &asked->to_ns,
                         err) &&
           query_get_int(query, (struct query_int){"px", 1600, TIMELINE_MIN_PX, 8192}, &asked->px,
                         err) &&
           query_get_int(query, (struct query_int){"rows", 16, 1, TIMELINE_ROWS}, &asked->rows,
                         err) &&
           api_read_lanes(request, &asked->device_only, err);
}

void api_explain_trace(struct response *response, int64_t rank, struct err *err)
{
    if (err->code != ERR_NOT_FOUND && err->code != ERR_UNSUPPORTED && err->code != ERR_FORMAT)
        return;
    if (err->code == ERR_FORMAT)
        log_warn("the trace file of rank %lld cannot be used: %s", (long long)rank, err->msg);
    response->fix =
        STR("wait until the run is done, or analyze it again: POST /api/v1/runs/{run}/reanalyze "
            "rebuilds the trace file from the upload");
    err_set(err, ERR_NOT_FOUND, "found no readable trace file of rank %lld", (long long)rank);
}

struct trace_file *api_open_trace(struct request *request, struct response *response,
                                  const struct trace_row *trace, struct err *err)
{
    int fd;
    uint64_t bytes;
    char id[STORE_ID_SIZE];
    snprintf(id, sizeof id, "%.*s", (int)trace->id.len, trace->id.at);
    struct trace_file *file =
        blob_open_trace(request->services->intake->blobs, id, &fd, &bytes, err)
            ? trace_file_open_fd(fd, id, err)
            : NULL;
    if (!file)
        api_explain_trace(response, trace->rank, err);
    return file;
}

static bool read_window(struct drawing *drawing, struct err *err)
{
    const struct trace_file_header *header = trace_file_header(drawing->file);
    struct asked *asked = &drawing->asked;
    int64_t whole_ns = header->end_ns - header->begin_ns;
    if (asked->to_ns < 0)
        asked->to_ns = whole_ns > 0 ? whole_ns : 1;
    if (asked->from_ns >= asked->to_ns)
        return err_set(err, ERR_USAGE, "found from_ns=%lld, expected less than to_ns=%lld",
                       (long long)asked->from_ns, (long long)asked->to_ns);
    // Zero-length events at the very last instant belong to the whole trace, too.
    struct timeline_query query = {.from_ns = header->begin_ns + asked->from_ns,
                                   .to_ns =
                                       header->begin_ns + asked->to_ns + (asked->to_ns == whole_ns),
                                   .px = (uint32_t)asked->px,
                                   .rows = (uint32_t)asked->rows,
                                   .device_only = asked->device_only};
    if (timeline_read(drawing->file, &query, drawing->request->arena, &drawing->timeline, err))
        return classify(drawing, err);
    api_explain_trace(drawing->response, asked->rank, err);
    return false;
}

static bool find_steps(struct drawing *drawing, const struct trace_row *trace, struct err *err)
{
    struct report *report = arena_alloc(drawing->request->arena, sizeof *report, err);
    if (!report)
        return false;
    *report = (struct report){.arena = drawing->request->arena};
    const struct table_desc *const only[] = {&table_steps, NULL};
    if (!store_load_trace_tables(drawing->request->services->intake->store, trace->id, only, report,
                                 err))
        return false;
    drawing->steps = report_find(report, table_steps.name);
    return true;
}

static bool draw_in_turn(struct drawing *drawing, const struct trace_row *trace, struct err *err)
{
    struct trace_file *file = api_open_trace(drawing->request, drawing->response, trace, err);
    if (!file)
        return false;
    drawing->file = file;
    bool ok = read_window(drawing, err) && find_steps(drawing, trace, err);
    if (ok)
        put_reply(drawing, &drawing->response->body);
    trace_file_close(file);
    return ok && buf_ok(&drawing->response->body, err);
}

static bool draw(struct drawing *drawing, const struct trace_row *trace, struct err *err)
{
    if (!api_take_turn(drawing->request, drawing->response, err))
        return false;
    bool ok = draw_in_turn(drawing, trace, err);
    reply_room_end(drawing->request->services->room);
    return ok;
}

bool api_get_timeline(struct request *request, struct response *response, struct err *err)
{
    struct drawing drawing = {.request = request, .response = response};
    struct asked *asked = &drawing.asked;
    struct run run;
    struct trace_row trace;
    if (!read_asked(request, asked, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        (asked->rank < 0 && !api_headline_rank(request, &run, &asked->rank, err)))
        return false;
    if (asked->rank < 0) {
        response->fix = STR("wait until a trace of the run is analyzed");
        return err_set(err, ERR_NOT_FOUND, "found no analyzed trace of the run");
    }
    if (!store_find_rank(request->services->intake->store, run.id, asked->rank, request->arena,
                         &trace, err))
        return false;
    api_locate_run(request, response, &run, "/timeline");
    if (api_run_unchanged(request, response, &run, "timeline", 0))
        return true;
    response->type = "application/json";
    return draw(&drawing, &trace, err);
}
