// SPDX-License-Identifier: Apache-2.0
// XPlane, the profile that JAX and TensorFlow write: planes of devices and of the host, each with
// lines of events. Fields are numbered as in tsl/profiler/protobuf/xplane.proto.
#include "ingest/source/format.h"
#include "ingest/trace/event_record.h"
#include "ingest/xplane/plane_names.h"

#include <stdio.h>
#include <stdlib.h>

enum { SPACE_PLANES = 1, SPACE_ERRORS, SPACE_WARNINGS };
enum { PLANE_NAME = 2, PLANE_LINES, PLANE_EVENT_NAMES, PLANE_STAT_NAMES, PLANE_STATS };
enum { LINE_ID = 1, LINE_NAME, LINE_TIME, LINE_EVENTS, LINE_SHOWN_NAME = 11 };
enum { EVENT_NAME_ID = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STATS };

enum {
    MOST_TEXT = 64 << 10,
    LINE_NAME_BYTES = 256,
    BETWEEN = 1024,
    MOST_MESSAGE = 500,
    MOST_MESSAGES = 2000
};

// Rows of the SparseCores of a TPU count from here, after those of the device's own lines.
#define SPARSE_CORE_ROWS INT64_C(1000)

// Later times are since 1970: no machine runs that long.
#define SINCE_1970_NS INT64_C(1000000000000000000)

enum plane_kind { PLANE_OTHER, PLANE_GPU, PLANE_TPU, PLANE_SPARSE_CORE, PLANE_HOST, PLANE_TASK };

struct xplane {
    const struct format_input *input;
    struct trace_builder *builder;
    struct proto_file *file;
    char *text;
    uint64_t planes, events;
    int64_t start_ns;    // of the profile, since 1970; VALUE_ABSENT
    bool since_1970;     // whether lines have such times, too
    struct buf messages; // what the profiler says about itself
    uint64_t message_count;
    // of the current plane:
    enum plane_kind kind;
    int64_t device, core;
    struct plane_names names;
    uint64_t lines;
};

// What the events of a line are.
enum line_kind { LINE_LEFT_OUT, LINE_HOST, LINE_WORK, LINE_STEPS };

// What an event says.
struct moment {
    uint64_t name, offset_ps, dur_ps;
    int64_t correlation, step; // VALUE_ABSENT
    enum plane_stat work;      // the one that says what work it is
    struct launch_shape shape;
    const char *host_memory; // of a copy; NULL: none, or unknown
    struct plane_op op;      // if the event itself has a category
};

struct line {
    char name[LINE_NAME_BYTES];
    int64_t id, time_ns;
    enum line_kind kind;
    enum event_kind work; // of what does not say so itself
    uint64_t events, total_ps;
    struct moment before; // the event before
    struct proto rest;    // what follows the event
};

static bool text_of(struct xplane *xplane, const struct proto *bytes, struct str *text,
                    struct err *err)
{
    size_t len;
    if (!proto_text(bytes, xplane->text, MOST_TEXT, &len, err))
        return false;
    *text = (struct str){xplane->text, len};
    return true;
}

// --- events -------------------------------------------------------------------------------------

// What comes after a key in "kind_src:pinned kind_dst:device size:4096 dest:0 async:1".
static struct str detail(struct str details, const char *key)
{
    struct str start = str_of(key);
    size_t at = str_find(details, start);
    size_t from = at == SIZE_MAX ? details.len : at + start.len;
    return (struct str){details.at + from, details.len - from};
}

static int64_t number_of(struct str details, const char *key)
{
    struct str rest = detail(details, key);
    int64_t number;
    return str_take_i64(&rest, &number) && number >= 0 ? number : VALUE_ABSENT;
}

// "264,1,1"
static void take_dimensions(struct str rest, int32_t dimensions[3])
{
    int64_t number;
    for (int i = 0; i < 3 && str_take_i64(&rest, &number); i++) {
        dimensions[i] = number > 0 && number <= INT32_MAX ? (int32_t)number : 0;
        if (str_starts_with(rest, STR(",")))
            rest = (struct str){rest.at + 1, rest.len - 1};
    }
}

// "regs:32 static_shared:0 dynamic_shared:98304 grid:264,1,1 block:256,1,1 occ_pct:50", of ROCm
// "grid:1280,1,1 block:256,1,1 private_mem:0 group_mem:0 occ_pct:0". 0 is no occupancy.
static void read_launch(struct str details, struct launch_shape *shape)
{
    int64_t fixed = number_of(details, "static_shared:");
    int64_t chosen = number_of(details, "dynamic_shared:");
    int64_t registers = number_of(details, "regs:"), percent = number_of(details, "occ_pct:");
    take_dimensions(detail(details, "grid:"), shape->grid);
    take_dimensions(detail(details, "block:"), shape->block);
    shape->shared_bytes = number_of(details, "group_mem:");
    if (fixed >= 0 && chosen >= 0 && __builtin_add_overflow(fixed, chosen, &shape->shared_bytes))
        shape->shared_bytes = VALUE_ABSENT;
    if (registers >= 0 && registers <= INT32_MAX)
        shape->registers = (int32_t)registers;
    if (percent > 0 && percent <= 100)
        shape->occupancy_percent = (int32_t)percent;
}

// "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"; of a memset "kind:device
// num_bytes:8".
static void read_copy(struct str details, struct moment *moment)
{
    bool pageable = str_find(details, STR(":pageable")) != SIZE_MAX;
    bool pinned = str_find(details, STR(":pinned")) != SIZE_MAX;
    int64_t bytes = number_of(details, " size:");
    moment->shape.bytes = bytes == VALUE_ABSENT ? number_of(details, " num_bytes:") : bytes;
    moment->host_memory = pageable ? "pageable" : pinned ? "pinned" : NULL;
}

static bool read_details(struct xplane *xplane, const struct plane_value *value,
                         struct moment *moment, struct err *err)
{
    struct str text;
    moment->work = value->stat;
    if (!text_of(xplane, &value->text, &text, err))
        return false;
    if (value->stat == STAT_KERNEL)
        read_launch(text, &moment->shape);
    else
        read_copy(text, moment);
    return true;
}

static bool read_stat(struct xplane *xplane, struct proto stat, struct moment *moment,
                      struct err *err)
{
    struct plane_value value;
    if (!plane_names_value(&xplane->names, stat, &value, err))
        return false;
    switch (value.stat) {
    case STAT_CORRELATION: moment->correlation = (int64_t)value.number; break;
    case STAT_STEP: moment->step = (int64_t)value.number; break;
    case STAT_COPY:
    case STAT_SET:
    case STAT_KERNEL: return read_details(xplane, &value, moment, err);
    case STAT_GRAPH:
    case STAT_NO_WORK: moment->work = value.stat; break;
    case STAT_CATEGORY: moment->op = value.op; break;
    case STAT_START_TIME:
    case STAT_OTHER: break;
    }
    return true;
}

static bool read_moment(struct xplane *xplane, struct proto event, struct moment *moment,
                        struct err *err)
{
    struct proto_field field;
    *moment = (struct moment){.correlation = VALUE_ABSENT,
                              .step = VALUE_ABSENT,
                              .shape = event_record_of(EVENT_OTHER).shape};
    while (proto_next(&event, &field, err)) {
        if (field.number == EVENT_STATS && field.is_bytes &&
            !read_stat(xplane, field.bytes, moment, err))
            return false;
        if (field.is_bytes)
            continue;
        if (field.number == EVENT_NAME_ID)
            moment->name = field.value;
        else if (field.number == EVENT_OFFSET)
            moment->offset_ps = field.value;
        else if (field.number == EVENT_DURATION)
            moment->dur_ps = field.value;
    }
    return err->code == ERR_NONE;
}

static bool starts_with(const struct xplane *xplane, str_id name, const char *start)
{
    struct str text = strtab_get(trace_builder_strings(xplane->builder), name);
    return str_starts_with(text, str_of(start));
}

// Runtime and driver calls are named after the function; Python frames start with "$". The thunks
// of a CPU may be a "custom-call" or "cumsum".
static enum event_kind kind_of_host(const struct xplane *xplane, str_id name)
{
    if (starts_with(xplane, name, "hip") || starts_with(xplane, name, "cuda"))
        return EVENT_RUNTIME;
    struct str text = strtab_get(trace_builder_strings(xplane->builder), name);
    if (text.len > 2 && str_starts_with(text, STR("cu")) && text.at[2] >= 'A' && text.at[2] <= 'Z')
        return EVENT_DRIVER;
    return starts_with(xplane, name, "$") ? EVENT_PYTHON : EVENT_CPU_OP;
}

static bool starts_with_any(const struct xplane *xplane, str_id name, const char *const starts[],
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (starts_with(xplane, name, starts[i]))
            return true;
    return false;
}

// What a GPU's stream does, by names that XLA's tracers give. EVENT_OTHER: no work, such as
// "MemoryAlloc", "Memory Device", which lasts as long as the memory is there, and
// "UM_GPU_PAGE_FAULT".
static enum event_kind kind_by_name(const struct xplane *xplane, const struct line *line,
                                    str_id name)
{
    static const char *const copies[] = {"Memcpy", "UM_BYTES_TRANSFER"};
    static const char *const none[] = {"Memory", "UM_", "HostRegister", "HostUnregister"};
    if (starts_with_any(xplane, name, copies, sizeof copies / sizeof *copies))
        return EVENT_MEMCPY;
    if (starts_with_any(xplane, name, none, sizeof none / sizeof *none))
        return EVENT_OTHER;
    return starts_with(xplane, name, "Memset") ? EVENT_MEMSET : line->work;
}

// One stream has work of all kinds. Files of other writers lack the details that tell them apart.
static enum event_kind kind_of_work(const struct xplane *xplane, const struct line *line,
                                    const struct moment *moment, str_id name)
{
    switch (moment->work) {
    case STAT_COPY: return EVENT_MEMCPY;
    case STAT_SET: return EVENT_MEMSET;
    case STAT_KERNEL: return EVENT_KERNEL;
    case STAT_GRAPH: return EVENT_GRAPH;
    case STAT_NO_WORK: return EVENT_OTHER;
    default: break;
    }
    return kind_by_name(xplane, line, name);
}

static bool within(const struct moment *inner, const struct moment *outer)
{
    uint64_t after_ps = inner->offset_ps - outer->offset_ps;
    return inner->offset_ps >= outer->offset_ps && after_ps < outer->dur_ps &&
           inner->dur_ps <= outer->dur_ps - after_ps;
}

// Whether the event before or behind this one happens within it: so do all that it holds.
static bool has_inner(struct xplane *xplane, const struct line *line, const struct moment *moment,
                      bool *has, struct err *err)
{
    struct proto rest = line->rest;
    struct proto_field field;
    struct moment next;
    *has = within(&line->before, moment);
    while (!*has && proto_next(&rest, &field, err)) {
        if (field.number != LINE_EVENTS || !field.is_bytes)
            continue;
        if (!read_moment(xplane, field.bytes, &next, err))
            return false;
        *has = within(&next, moment);
        break;
    }
    return err->code == ERR_NONE;
}

static bool add_collective(struct xplane *xplane, struct event_record *record, struct str name,
                           struct err *err)
{
    record->collective = (struct collective){.in_elems = VALUE_ABSENT,
                                             .out_elems = VALUE_ABSENT,
                                             .group_size = VALUE_ABSENT,
                                             .rank_start = VALUE_ABSENT,
                                             .rank_stride = VALUE_ABSENT,
                                             .peer = VALUE_ABSENT,
                                             .peer_in_group = VALUE_ABSENT};
    return trace_builder_text(xplane->builder, name, ERR_NO_POS, &record->collective.name, err);
}

// Operations that wait for the host are no work. Nor are loops and branches: what they do is on
// the same line.
static bool add_operation(struct xplane *xplane, const struct line *line,
                          const struct moment *moment, const struct plane_op *op,
                          struct event_record *record, struct err *err)
{
    bool inner = false;
    if (op->holds && !has_inner(xplane, line, moment, &inner, err))
        return false;
    if (op->awaits_host || inner)
        return true;
    record->kind = EVENT_KERNEL;
    return (!op->collective || add_collective(xplane, record, str_of(op->collective), err)) &&
           trace_builder_add(xplane->builder, record, err);
}

// Analyses read the kind of host memory in names: "MemcpyH2D (pageable)".
static bool name_copy(struct xplane *xplane, const char *host_memory, str_id *name, struct err *err)
{
    struct buf whole = {0};
    buf_add_str(&whole, strtab_get(trace_builder_strings(xplane->builder), *name));
    buf_printf(&whole, " (%s)", host_memory);
    bool ok = buf_ok(&whole, err) &&
              trace_builder_text(xplane->builder, (struct str){whole.at, whole.len}, ERR_NO_POS,
                                 name, err);
    buf_free(&whole);
    return ok;
}

static bool add_work(struct xplane *xplane, const struct line *line, const struct moment *moment,
                     struct event_record *record, struct err *err)
{
    record->kind = kind_of_work(xplane, line, moment, record->name);
    record->shape = moment->shape;
    if (record->kind == EVENT_MEMCPY && moment->host_memory &&
        !name_copy(xplane, moment->host_memory, &record->name, err))
        return false;
    return record->kind == EVENT_OTHER || trace_builder_add(xplane->builder, record, err);
}

// --- steps --------------------------------------------------------------------------------------

static bool add_mark(struct xplane *xplane, struct event_record *record, int64_t step,
                     struct err *err)
{
    char name[48];
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)step);
    return trace_builder_text(xplane->builder, str_of(name), ERR_NO_POS, &record->name, err) &&
           trace_builder_add(xplane->builder, record, err);
}

// What JAX's StepTraceAnnotation and TensorFlow's Trace mark may have any name, so a mark like
// those of PyTorch's profiler is added.
static bool add_host(struct xplane *xplane, const struct moment *moment,
                     struct event_record *record, struct err *err)
{
    bool step = moment->step >= 0;
    record->kind = step ? EVENT_ANNOTATION : kind_of_host(xplane, record->name);
    return trace_builder_add(xplane->builder, record, err) &&
           (!step || add_mark(xplane, record, moment->step, err));
}

// "7", or "train 7".
static int64_t number_at_end(struct str name)
{
    int64_t number;
    size_t at = str_digits_start(name, name.len);
    return str_to_i64((struct str){name.at + at, name.len - at}, &number) ? number : VALUE_ABSENT;
}

// The profiler's line of steps on a device.
static bool add_step(struct xplane *xplane, const struct moment *moment,
                     struct event_record *record, struct err *err)
{
    struct str name = strtab_get(trace_builder_strings(xplane->builder), record->name);
    int64_t step = moment->step >= 0 ? moment->step : number_at_end(name);
    record->kind = EVENT_GPU_ANNOTATION;
    return step < 0 || add_mark(xplane, record, step, err);
}

// --- one event ----------------------------------------------------------------------------------

static bool is_far(uint64_t ps)
{
    return ps / 1000 > (uint64_t)TRACE_MAX_NS;
}

static bool add_event(struct xplane *xplane, const struct line *line, const struct moment *moment,
                      struct err *err)
{
    struct event_record record = event_record_of(EVENT_OTHER);
    struct plane_event event;
    record.pid.number = xplane->device;
    record.tid.number = line->id;
    record.correlation = moment->correlation;
    if (is_far(moment->offset_ps) || is_far(moment->dur_ps)) {
        trace_builder_repair(xplane->builder, REPAIR_INCOMPLETE, ERR_NO_POS);
        return true;
    }
    // The end is truncated like the start, so that adjacent events stay adjacent.
    int64_t from_ns = (int64_t)(moment->offset_ps / 1000);
    record.begin_ns = line->time_ns + from_ns;
    record.dur_ns = (int64_t)((moment->offset_ps + moment->dur_ps) / 1000) - from_ns;
    if (!plane_names_event(&xplane->names, moment->name, &event, err))
        return false;
    record.name = event.name;
    if (line->kind == LINE_HOST)
        return add_host(xplane, moment, &record, err);
    if (line->kind == LINE_STEPS)
        return add_step(xplane, moment, &record, err);
    if (xplane->names.operations)
        return add_operation(xplane, line, moment,
                             plane_op_is_plain(moment->op) ? &event.op : &moment->op, &record, err);
    return add_work(xplane, line, moment, &record, err);
}

static bool go_on(struct xplane *xplane, uint64_t at, struct err *err)
{
    return ++xplane->events % BETWEEN || progress_report(xplane->input->progress, at, err);
}

static bool read_event(struct xplane *xplane, struct line *line, struct proto bytes,
                       struct err *err)
{
    struct moment moment;
    if (!go_on(xplane, bytes.at, err) || !read_moment(xplane, bytes, &moment, err))
        return false;
    line->events++;
    line->total_ps += moment.dur_ps;
    bool ok = line->kind == LINE_LEFT_OUT || add_event(xplane, line, &moment, err);
    line->before = moment;
    return ok;
}

// --- lines --------------------------------------------------------------------------------------

// What a stream's events are that do not say so themselves. Its name lists the kinds of all its
// events: "Stream #13(MemcpyD2H,Memset,Compute)".
static enum event_kind work_of_stream(struct str name)
{
    bool kernels =
        str_find(name, STR("Compute")) != SIZE_MAX || str_find(name, STR("Kernel")) != SIZE_MAX;
    bool copies = str_find(name, STR("Memcpy")) != SIZE_MAX;
    bool sets = str_find(name, STR("Memset")) != SIZE_MAX;
    return kernels ? EVENT_KERNEL : copies ? EVENT_MEMCPY : sets ? EVENT_MEMSET : EVENT_KERNEL;
}

// Other lines of devices, "XLA Modules" and the like, repeat what streams show. A stream is named
// "CUPTI overhead" if it has some.
static void judge_line(const struct xplane *xplane, struct line *line)
{
    struct str name = str_of(line->name);
    bool gpu = xplane->kind == PLANE_GPU, tpu = xplane->kind == PLANE_TPU;
    bool sparse = xplane->kind == PLANE_SPARSE_CORE;
    bool stream = str_starts_with(name, STR("Stream #"));
    bool overhead = gpu && str_equal(name, STR("CUPTI overhead"));
    bool work = (gpu && stream) || overhead || (tpu && str_equal(name, STR("XLA Ops"))) ||
                (sparse && str_equal(name, STR("Sparse Core Ops")));
    bool steps = (gpu || tpu) && str_equal(name, STR("Steps"));
    line->kind = xplane->kind == PLANE_HOST ? LINE_HOST
                 : work                     ? LINE_WORK
                 : steps                    ? LINE_STEPS
                                            : LINE_LEFT_OUT;
    line->work = overhead ? EVENT_OTHER : work_of_stream(name);
    if (stream)
        line->id = strtoll(line->name + sizeof "Stream #" - 1, NULL, 10);
    if (sparse)
        line->id = SPARSE_CORE_ROWS + xplane->core;
}

static bool read_line_head(struct xplane *xplane, struct proto bytes, struct line *line,
                           struct err *err)
{
    struct proto_field field;
    struct str text;
    bool shown = false;
    *line = (struct line){.id = (int64_t)xplane->lines, .before.dur_ps = UINT64_MAX};
    while (proto_next(&bytes, &field, err)) {
        if (field.number == LINE_ID && !field.is_bytes)
            line->id = (int64_t)field.value;
        if (field.number == LINE_TIME && !field.is_bytes)
            line->time_ns = (int64_t)field.value;
        bool name = field.number == LINE_NAME && !shown;
        if (!field.is_bytes || (!name && field.number != LINE_SHOWN_NAME))
            continue;
        if (!text_of(xplane, &field.bytes, &text, err))
            return false;
        shown |= field.number == LINE_SHOWN_NAME && text.len;
        if (text.len)
            snprintf(line->name, sizeof line->name, "%.*s", (int)text.len, text.at);
    }
    judge_line(xplane, line);
    if (line->time_ns >= TRACE_MAX_NS || line->time_ns <= -TRACE_MAX_NS)
        line->kind = LINE_LEFT_OUT;
    xplane->since_1970 |= line->kind != LINE_LEFT_OUT && line->time_ns >= SINCE_1970_NS;
    return err->code == ERR_NONE;
}

static bool name_row(struct xplane *xplane, const struct line *line, struct err *err)
{
    str_id name;
    return line->kind == LINE_LEFT_OUT ||
           (trace_builder_text(xplane->builder, str_of(line->name), ERR_NO_POS, &name, err) &&
            trace_builder_name_thread(xplane->builder, (struct label){xplane->device, 0},
                                      (struct label){line->id, 0}, name, err));
}

static void report_line(struct xplane *xplane, const struct line *line)
{
    unsigned long long plane = xplane->planes, index = xplane->lines;
    struct figures *figures = xplane->input->figures;
    figures_text(figures, str_of(line->name), "planes" IN "%llu" IN "lines" IN "%llu" IN "name",
                 plane, index);
    figures_add(figures, (int64_t)line->events, "planes" IN "%llu" IN "lines" IN "%llu" IN "events",
                plane, index);
    figures_add(figures, (int64_t)line->total_ps,
                "planes" IN "%llu" IN "lines" IN "%llu" IN "total_ps", plane, index);
}

static bool read_line(struct xplane *xplane, struct proto bytes, struct err *err)
{
    struct line line;
    struct proto_field field;
    if (!read_line_head(xplane, bytes, &line, err) || !name_row(xplane, &line, err))
        return false;
    while (proto_next(&bytes, &field, err)) {
        line.rest = bytes;
        if (field.number == LINE_EVENTS && field.is_bytes &&
            !read_event(xplane, &line, field.bytes, err))
            return false;
    }
    report_line(xplane, &line);
    xplane->lines++;
    return err->code == ERR_NONE;
}

// --- planes -------------------------------------------------------------------------------------

// "0 SparseCore 1": a part of a TPU.
static bool is_sparse_core(struct xplane *xplane, struct str number)
{
    struct str part = STR(" SparseCore ");
    if (!str_take_i64(&number, &xplane->device) || !str_starts_with(number, part))
        return false;
    number = (struct str){number.at + part.len, number.len - part.len};
    return str_to_i64(number, &xplane->core);
}

// "/device:GPU:0 [4711]" is of another process, whose devices have the same numbers.
static void judge_plane(struct xplane *xplane, struct str name)
{
    static const struct {
        const char *start;
        enum plane_kind kind;
    } starts[] = {{"/device:GPU:", PLANE_GPU},     {"/device:TPU:", PLANE_TPU},
                  {"/host:CPU", PLANE_HOST},       {"/host:CUPTI", PLANE_HOST},
                  {"/host:ROCTRACER", PLANE_HOST}, {"Task Environment", PLANE_TASK}};
    xplane->kind = PLANE_OTHER;
    xplane->device = 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct str start = str_of(starts[i].start);
        if (!str_starts_with(name, start))
            continue;
        struct str number = {name.at + start.len, name.len - start.len};
        xplane->kind = starts[i].kind;
        if (str_to_i64(number, &xplane->device))
            continue;
        if (xplane->kind == PLANE_TPU && is_sparse_core(xplane, number)) {
            xplane->kind = PLANE_SPARSE_CORE;
            continue;
        }
        xplane->device = 0;
        bool device = xplane->kind == PLANE_GPU || xplane->kind == PLANE_TPU;
        xplane->kind = device && number.len ? PLANE_OTHER : xplane->kind;
    }
}

static bool name_plane(struct xplane *xplane, const struct proto *bytes, struct err *err)
{
    struct str name;
    unsigned long long plane = xplane->planes;
    if (!text_of(xplane, bytes, &name, err))
        return false;
    judge_plane(xplane, name);
    figures_text(xplane->input->figures, name, "planes" IN "%llu" IN "name", plane);
    figures_list(xplane->input->figures, "planes" IN "%llu" IN "lines" IN, plane);
    return true;
}

// Names come after the lines that use them.
static bool read_plane_head(struct xplane *xplane, struct proto bytes, struct err *err)
{
    struct proto_field field;
    struct plane_names *names = &xplane->names;
    judge_plane(xplane, STR(""));
    while (proto_next(&bytes, &field, err)) {
        if (!field.is_bytes)
            continue;
        if ((field.number == PLANE_NAME && !name_plane(xplane, &field.bytes, err)) ||
            (field.number == PLANE_EVENT_NAMES &&
             !plane_names_add(names, &names->events, field.bytes, err)) ||
            (field.number == PLANE_STAT_NAMES &&
             !plane_names_add(names, &names->stats, field.bytes, err)))
            return false;
    }
    names->operations = xplane->kind == PLANE_TPU || xplane->kind == PLANE_SPARSE_CORE;
    return err->code == ERR_NONE && plane_names_done(names, err);
}

// The start of the profile, which times of lines are relative to.
static bool read_plane_stat(struct xplane *xplane, struct proto stat, struct err *err)
{
    struct plane_value value;
    if (xplane->kind != PLANE_TASK)
        return true;
    if (!plane_names_value(&xplane->names, stat, &value, err))
        return false;
    if (value.stat == STAT_START_TIME && value.number >= (uint64_t)SINCE_1970_NS &&
        value.number < (uint64_t)TRACE_MAX_NS)
        xplane->start_ns = (int64_t)value.number;
    return true;
}

static bool read_plane(struct xplane *xplane, struct proto bytes, struct err *err)
{
    struct proto_field field;
    bool ok = read_plane_head(xplane, bytes, err);
    xplane->lines = 0;
    while (ok && proto_next(&bytes, &field, err)) {
        if (field.number == PLANE_LINES && field.is_bytes)
            ok = read_line(xplane, field.bytes, err);
        if (field.number == PLANE_STATS && field.is_bytes)
            ok = read_plane_stat(xplane, field.bytes, err);
    }
    plane_names_clear(&xplane->names);
    xplane->planes++;
    return ok && err->code == ERR_NONE;
}

// --- the file -----------------------------------------------------------------------------------

// Errors and warnings of the profiler.
static bool hear(struct xplane *xplane, const struct proto *bytes, struct err *err)
{
    struct str text;
    unsigned long long index = xplane->message_count++;
    if (!text_of(xplane, bytes, &text, err))
        return false;
    figures_text(xplane->input->figures, text, "messages" IN "%llu", index);
    text.len = text.len < MOST_MESSAGE ? text.len : MOST_MESSAGE;
    if (xplane->messages.len < MOST_MESSAGES) {
        buf_puts(&xplane->messages, xplane->messages.len ? "; " : "");
        buf_add_shown(&xplane->messages, text);
    }
    return buf_ok(&xplane->messages, err);
}

static bool read_planes(struct xplane *xplane, struct err *err)
{
    struct proto space = {xplane->file, 0, xplane->file->size};
    struct proto_field field;
    figures_list(xplane->input->figures, "planes" IN);
    while (proto_next(&space, &field, err)) {
        bool message = field.number == SPACE_ERRORS || field.number == SPACE_WARNINGS;
        if ((field.number == SPACE_PLANES && field.is_bytes &&
             !read_plane(xplane, field.bytes, err)) ||
            (message && field.is_bytes && !hear(xplane, &field.bytes, err)))
            return false;
    }
    return err->code == ERR_NONE;
}

static bool add_messages(struct xplane *xplane, struct err *err)
{
    struct trace_setting setting = {.number = (int64_t)xplane->message_count};
    struct trace_builder *builder = xplane->builder;
    struct str text = {xplane->messages.at, xplane->messages.len};
    return !xplane->message_count ||
           (trace_builder_text(builder, STR(TRACE_MESSAGES), ERR_NO_POS, &setting.key, err) &&
            trace_builder_text(builder, text, ERR_NO_POS, &setting.text, err) &&
            trace_builder_setting(builder, &setting, err));
}

static bool refuse(const struct xplane *xplane, struct err *err)
{
    if (xplane->file->damaged)
        return err_set(err, ERR_FORMAT,
                       "found an XPlane profile that is truncated, or was copied as text: "
                       "copy it as a binary file");
    if (xplane->message_count)
        return err_set(err, ERR_FORMAT,
                       "found an XPlane profile without any event; the profiler said: %.*s",
                       (int)xplane->messages.len, xplane->messages.at);
    return err_set(err, ERR_FORMAT, "found an XPlane profile without any event");
}

static bool read_space(struct xplane *xplane, struct err *err)
{
    err->code = ERR_NONE;
    if (!read_planes(xplane, err))
        return false;
    if (xplane->events == 0)
        return refuse(xplane, err);
    if (xplane->file->damaged)
        trace_builder_repair(xplane->builder, REPAIR_TRUNCATED, ERR_NO_POS);
    trace_builder_base(xplane->builder, xplane->since_1970 ? 0 : xplane->start_ns);
    trace_builder_recorder(xplane->builder, RECORDER_XLA);
    trace_builder_count_input(xplane->builder, xplane->events, xplane->file->size);
    return add_messages(xplane, err);
}

static bool xplane_read(const struct format_input *input, struct err *err)
{
    struct err own = {.code = ERR_NONE, .pos = ERR_NO_POS};
    struct xplane xplane = {.input = input,
                            .builder = input->builder,
                            .file = calloc(1, sizeof *xplane.file),
                            .text = malloc(MOST_TEXT),
                            .start_ns = VALUE_ABSENT};
    bool ok = (xplane.file && xplane.text) || err_set(&own, ERR_MEMORY, "out of memory");
    if (ok) {
        xplane.names = (struct plane_names){
            .builder = input->builder, .text = xplane.text, .text_cap = MOST_TEXT};
        xplane.file->source = input->source;
        (void)source_size(input->source, &xplane.file->size);
        ok = read_space(&xplane, &own);
    }
    buf_free(&xplane.messages);
    free(xplane.file);
    free(xplane.text);
    if (!ok && err)
        *err = own;
    return ok;
}

static size_t skip_varint(struct str head, size_t at)
{
    while (at < head.len && head.at[at] & 0x80)
        at++;
    return at + 1;
}

// The first plane, perhaps with a number, then its name.
static bool starts_with_plane(struct str head)
{
    if (head.len == 0 || head.at[0] != 0x0A)
        return false;
    size_t at = skip_varint(head, 1);
    if (at + 1 < head.len && head.at[at] == 0x08)
        at = skip_varint(head, at + 1);
    if (at + 2 > head.len || head.at[at] != 0x12)
        return false;
    struct str name = {head.at + at + 2, head.len - at - 2};
    return str_starts_with(name, STR("/host:")) || str_starts_with(name, STR("/device:")) ||
           str_starts_with(name, STR("Task Environment"));
}

static enum format_likeness probe_xplane(const struct format_sample *sample)
{
    const struct str end = STR(".xplane.pb");
    bool named =
        sample->filename.len > end.len &&
        str_equal_nocase(
            (struct str){sample->filename.at + sample->filename.len - end.len, end.len}, end);
    // a plane, an error or a warning
    bool begins = sample->head.len && memchr("\x0A\x12\x1A", sample->head.at[0], 3);
    return starts_with_plane(sample->head) ? FORMAT_SURE
           : named && begins               ? FORMAT_PERHAPS
                                           : FORMAT_UNLIKE;
}

const struct format format_xplane = {
    .name = "xplane",
    .what = "an XPlane profile of JAX or TensorFlow",
    .kind = FORMAT_TRACE,
    .access = FORMAT_SEEK,
    .ending = ".xplane.pb",
    .probe = probe_xplane,
    .read = xplane_read,
};
