// SPDX-License-Identifier: Apache-2.0
// XPlane, the profile that JAX and TensorFlow write: planes of devices and of the host, each with
// lines of events. Fields are numbered as in tsl/profiler/protobuf/xplane.proto.
#include "ingest/source/format.h"
#include "ingest/trace/event_record.h"
#include "ingest/xplane/proto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPACE_PLANES = 1 };
enum { PLANE_NAME = 2, PLANE_LINES, PLANE_EVENT_NAMES, PLANE_STAT_NAMES };
enum { LINE_ID = 1, LINE_NAME, LINE_TIME, LINE_EVENTS, LINE_SHOWN_NAME = 11 };
enum { EVENT_NAME_ID = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STATS };
enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { META_NAME = 2 };
enum { STAT_ID = 1, STAT_UNSIGNED = 3, STAT_SIGNED = 4 };

enum { MOST_TEXT = 64 << 10, LINE_NAME_BYTES = 256, BETWEEN = 1024 };

// A name by its number, interned when it is first used.
struct meta {
    uint64_t id;
    struct proto name;
    str_id interned;
};

struct metas {
    struct meta *at;
    size_t count, cap;
};

enum plane_kind { PLANE_OTHER, PLANE_GPU, PLANE_TPU, PLANE_HOST };

struct xplane {
    const struct format_input *input;
    struct trace_builder *builder;
    struct proto_file *file;
    char *text;
    uint64_t planes, events;
    // of the current plane:
    enum plane_kind kind;
    int64_t device;
    struct metas names;
    uint64_t correlation_stat, step_stat; // numbers of statistics, 0: none
    uint64_t lines;
};

struct line {
    char name[LINE_NAME_BYTES];
    int64_t id, time_ns;
    enum event_kind kind;
    bool kept;
    bool mixed; // its kind is that of what is not named as another
    uint64_t events, total_ps;
};

// --- names --------------------------------------------------------------------------------------

static bool add_meta(struct xplane *xplane, struct metas *metas, struct meta meta, struct err *err)
{
    struct meta *at = budget_room(xplane->input->budget, metas->at, &metas->cap, metas->count + 1,
                                  sizeof *at, err);
    if (!at)
        return false;
    metas->at = at;
    at[metas->count++] = meta;
    return true;
}

static void forget(struct xplane *xplane, struct metas *metas)
{
    budget_free(xplane->input->budget, metas->at, metas->cap * sizeof *metas->at);
    *metas = (struct metas){0};
}

static int by_id(const void *left, const void *right)
{
    const struct meta *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static struct meta *find_meta(const struct metas *metas, uint64_t id)
{
    struct meta key = {.id = id};
    return metas->count ? bsearch(&key, metas->at, metas->count, sizeof key, by_id) : NULL;
}

// An entry of a map from numbers to messages with a name.
static bool read_entry(struct proto entry, struct meta *meta, struct err *err)
{
    struct proto_field field;
    *meta = (struct meta){.name = {entry.file, 0, 0}};
    while (proto_next(&entry, &field, err)) {
        if (field.number == ENTRY_KEY && !field.is_bytes)
            meta->id = field.value;
        if (field.number != ENTRY_VALUE || !field.is_bytes)
            continue;
        struct proto value = field.bytes;
        while (proto_next(&value, &field, err))
            if (field.number == META_NAME && field.is_bytes)
                meta->name = field.bytes;
    }
    return err->code == ERR_NONE;
}

static bool text_of(struct xplane *xplane, const struct proto *bytes, struct str *text,
                    struct err *err)
{
    size_t len;
    if (!proto_text(bytes, xplane->text, MOST_TEXT, &len, err))
        return false;
    *text = (struct str){xplane->text, len};
    return true;
}

static bool intern(struct xplane *xplane, uint64_t id, str_id *name, struct err *err)
{
    struct str text;
    char number[24];
    struct meta *meta = find_meta(&xplane->names, id);
    if (!meta) {
        snprintf(number, sizeof number, "%" PRIu64, id);
        return trace_builder_text(xplane->builder, str_of(number), ERR_NO_POS, name, err);
    }
    *name = meta->interned;
    if (meta->interned)
        return true;
    if (!text_of(xplane, &meta->name, &text, err) ||
        !trace_builder_text(xplane->builder, text, meta->name.at, &meta->interned, err))
        return false;
    *name = meta->interned;
    return true;
}

// --- events -------------------------------------------------------------------------------------

struct moment {
    uint64_t name, offset_ps, dur_ps;
    int64_t correlation, step; // VALUE_ABSENT
};

static bool read_stat(const struct xplane *xplane, struct proto stat, struct moment *moment,
                      struct err *err)
{
    struct proto_field field;
    uint64_t id = 0, value = 0;
    while (proto_next(&stat, &field, err)) {
        if (field.number == STAT_ID)
            id = field.value;
        else if (field.number == STAT_UNSIGNED || field.number == STAT_SIGNED)
            value = field.value;
    }
    if (id && id == xplane->correlation_stat)
        moment->correlation = (int64_t)value;
    if (id && id == xplane->step_stat)
        moment->step = (int64_t)value;
    return err->code == ERR_NONE;
}

static bool read_moment(const struct xplane *xplane, struct proto event, struct moment *moment,
                        struct err *err)
{
    struct proto_field field;
    *moment = (struct moment){.correlation = VALUE_ABSENT, .step = VALUE_ABSENT};
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

// Runtime and driver calls are named after the function; Python frames start with "$".
static enum event_kind kind_of_host(const struct xplane *xplane, str_id name)
{
    if (starts_with(xplane, name, "hip") || starts_with(xplane, name, "cuda"))
        return EVENT_RUNTIME;
    if (starts_with(xplane, name, "cu"))
        return EVENT_DRIVER;
    return starts_with(xplane, name, "$") ? EVENT_PYTHON : EVENT_CPU_OP;
}

static bool is_named(const struct xplane *xplane, str_id name, const char *word)
{
    return str_equal(strtab_get(trace_builder_strings(xplane->builder), name), str_of(word));
}

// What a stream of mixed work does; a stream of one kind may have other names for it. EVENT_OTHER:
// no work.
static enum event_kind kind_of_work(const struct xplane *xplane, const struct line *line,
                                    str_id name)
{
    static const char *const none[] = {"MemoryAlloc",  "MemoryFree",     "MemoryResidency",
                                       "HostRegister", "HostUnregister", "Overhead"};
    if (!line->mixed)
        return line->kind;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (is_named(xplane, name, none[i]))
            return EVENT_OTHER;
    if (starts_with(xplane, name, "Memcpy") || is_named(xplane, name, "UnifiedMemory"))
        return EVENT_MEMCPY;
    return starts_with(xplane, name, "Memset") ? EVENT_MEMSET : EVENT_KERNEL;
}

static bool is_far(uint64_t ps)
{
    return ps / 1000 > (uint64_t)TRACE_MAX_NS;
}

// What JAX's StepTraceAnnotation and TensorFlow's Trace mark may have any name, so a mark like
// those of PyTorch's profiler is added.
static bool add_step(struct xplane *xplane, struct event_record *record, int64_t step,
                     struct err *err)
{
    char name[48];
    record->kind = EVENT_ANNOTATION;
    if (!trace_builder_add(xplane->builder, record, err))
        return false;
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)step);
    return trace_builder_text(xplane->builder, str_of(name), ERR_NO_POS, &record->name, err) &&
           trace_builder_add(xplane->builder, record, err);
}

static bool add_event(struct xplane *xplane, const struct line *line, const struct moment *moment,
                      struct err *err)
{
    struct event_record record = event_record_of(line->kind);
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
    if (!intern(xplane, moment->name, &record.name, err))
        return false;
    record.kind = xplane->kind == PLANE_HOST ? kind_of_host(xplane, record.name)
                                             : kind_of_work(xplane, line, record.name);
    if (record.kind == EVENT_OTHER)
        return true;
    if (xplane->kind == PLANE_HOST && moment->step >= 0)
        return add_step(xplane, &record, moment->step, err);
    return trace_builder_add(xplane->builder, &record, err);
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
    return !line->kept || add_event(xplane, line, &moment, err);
}

// --- lines --------------------------------------------------------------------------------------

// The name of a stream lists what is on it, such as "Stream #14(Compute,MemcpyD2D,Memset)". Other
// lines of devices, "XLA Modules" and the like, repeat what streams show.
static void judge_line(const struct xplane *xplane, struct line *line)
{
    struct str name = str_of(line->name);
    bool stream = str_starts_with(name, STR("Stream #"));
    bool one = str_find(name, STR("(")) != SIZE_MAX && str_find(name, STR(",")) == SIZE_MAX;
    bool copies = one && str_find(name, STR("Memcpy")) != SIZE_MAX;
    bool sets = one && str_find(name, STR("Memset")) != SIZE_MAX;
    line->mixed = stream && !copies && !sets;
    line->kept = xplane->kind == PLANE_HOST || (xplane->kind == PLANE_GPU && stream) ||
                 (xplane->kind == PLANE_TPU && str_equal(name, STR("XLA Ops")));
    line->kind = copies ? EVENT_MEMCPY : sets ? EVENT_MEMSET : EVENT_KERNEL;
    if (stream)
        line->id = strtoll(line->name + sizeof "Stream #" - 1, NULL, 10);
}

static bool read_line_head(struct xplane *xplane, struct proto bytes, struct line *line,
                           struct err *err)
{
    struct proto_field field;
    struct str text;
    bool shown = false;
    *line = (struct line){.id = (int64_t)xplane->lines};
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
    bool far = line->time_ns >= TRACE_MAX_NS || line->time_ns <= -TRACE_MAX_NS;
    line->kept &= !far;
    return err->code == ERR_NONE;
}

static bool name_row(struct xplane *xplane, const struct line *line, struct err *err)
{
    str_id name;
    return !line->kept ||
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
    while (proto_next(&bytes, &field, err))
        if (field.number == LINE_EVENTS && field.is_bytes &&
            !read_event(xplane, &line, field.bytes, err))
            return false;
    report_line(xplane, &line);
    xplane->lines++;
    return err->code == ERR_NONE;
}

// --- planes -------------------------------------------------------------------------------------

static void judge_plane(struct xplane *xplane, struct str name)
{
    static const struct {
        const char *start;
        enum plane_kind kind;
    } starts[] = {
        {"/device:GPU:", PLANE_GPU}, {"/device:TPU:", PLANE_TPU}, {"/host:CPU", PLANE_HOST}};
    xplane->kind = PLANE_OTHER;
    xplane->device = 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct str start = str_of(starts[i].start);
        if (!str_starts_with(name, start))
            continue;
        struct str number = {name.at + start.len, name.len - start.len};
        xplane->kind = starts[i].kind;
        if (xplane->kind != PLANE_HOST && !str_to_i64(number, &xplane->device))
            xplane->device = 0;
    }
}

static bool note_stat(struct xplane *xplane, const struct meta *meta, struct err *err)
{
    struct str name;
    if (!text_of(xplane, &meta->name, &name, err))
        return false;
    if (str_equal(name, STR("correlation_id")))
        xplane->correlation_stat = meta->id;
    if (str_equal(name, STR("step_num")))
        xplane->step_stat = meta->id;
    return true;
}

// Names come after the lines that use them.
static bool read_plane_head(struct xplane *xplane, struct proto bytes, struct err *err)
{
    struct proto_field field;
    struct meta meta;
    struct str name = STR("");
    judge_plane(xplane, name);
    xplane->correlation_stat = xplane->step_stat = 0;
    while (proto_next(&bytes, &field, err)) {
        if (!field.is_bytes)
            continue;
        if (field.number == PLANE_NAME) {
            if (!text_of(xplane, &field.bytes, &name, err))
                return false;
            judge_plane(xplane, name);
            figures_text(xplane->input->figures, name, "planes" IN "%llu" IN "name",
                         (unsigned long long)xplane->planes);
            figures_list(xplane->input->figures, "planes" IN "%llu" IN "lines" IN,
                         (unsigned long long)xplane->planes);
        }
        bool names = field.number == PLANE_EVENT_NAMES, stats = field.number == PLANE_STAT_NAMES;
        if ((names || stats) && !read_entry(field.bytes, &meta, err))
            return false;
        if ((names && !add_meta(xplane, &xplane->names, meta, err)) ||
            (stats && !note_stat(xplane, &meta, err)))
            return false;
    }
    if (xplane->names.count)
        qsort(xplane->names.at, xplane->names.count, sizeof meta, by_id);
    return err->code == ERR_NONE;
}

static bool read_plane(struct xplane *xplane, struct proto bytes, struct err *err)
{
    struct proto_field field;
    bool ok = read_plane_head(xplane, bytes, err);
    xplane->lines = 0;
    while (ok && proto_next(&bytes, &field, err))
        if (field.number == PLANE_LINES && field.is_bytes)
            ok = read_line(xplane, field.bytes, err);
    forget(xplane, &xplane->names);
    xplane->planes++;
    return ok && err->code == ERR_NONE;
}

// --- the file -----------------------------------------------------------------------------------

static bool read_space(struct xplane *xplane, struct err *err)
{
    struct proto space = {xplane->file, 0, xplane->file->size};
    struct proto_field field;
    err->code = ERR_NONE;
    while (proto_next(&space, &field, err))
        if (field.number == SPACE_PLANES && field.is_bytes && !read_plane(xplane, field.bytes, err))
            return false;
    if (err->code != ERR_NONE)
        return false;
    if (xplane->file->damaged && xplane->events == 0)
        return err_set(err, ERR_FORMAT,
                       "found an XPlane profile that is truncated, or was copied as text: "
                       "copy it as a binary file");
    if (xplane->file->damaged)
        trace_builder_repair(xplane->builder, REPAIR_TRUNCATED, ERR_NO_POS);
    trace_builder_base(xplane->builder, VALUE_ABSENT);
    trace_builder_recorder(xplane->builder, RECORDER_XLA);
    trace_builder_count_input(xplane->builder, xplane->events, xplane->file->size);
    return xplane->events || err_set(err, ERR_FORMAT, "found an XPlane profile without any event");
}

static bool xplane_read(const struct format_input *input, struct err *err)
{
    struct err own = {.code = ERR_NONE, .pos = ERR_NO_POS};
    struct xplane xplane = {.input = input,
                            .builder = input->builder,
                            .file = calloc(1, sizeof *xplane.file),
                            .text = malloc(MOST_TEXT)};
    bool ok = (xplane.file && xplane.text) || err_set(&own, ERR_MEMORY, "out of memory");
    if (ok) {
        xplane.file->source = input->source;
        (void)source_size(input->source, &xplane.file->size);
        ok = read_space(&xplane, &own);
    }
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
    return starts_with_plane(sample->head)                           ? FORMAT_SURE
           : named && sample->head.len && sample->head.at[0] == 0x0A ? FORMAT_PERHAPS
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
