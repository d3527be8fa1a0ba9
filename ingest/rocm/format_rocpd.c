// SPDX-License-Identifier: Apache-2.0
// rocpd, the SQLite output of rocprofv3: layout 3 with times and places in each row, and layout 4
// with tables of times and tracks. A process's tables end in its GUID.
#include "ingest/rocm/rocpd.h"

#include "ingest/rocm/rocm_names.h"

#include <stdio.h>
#include <stdlib.h>

// --- tables -------------------------------------------------------------------------------------

// "rocpd_region" of this process.
const char *rocpd_table_of(const struct rocpd *rocpd, const char *name, char out[ROCPD_NAME_BYTES])
{
    snprintf(out, ROCPD_NAME_BYTES, "rocpd_%s%s", name, rocpd->suffix);
    return out;
}

// --- processes ----------------------------------------------------------------------------------

// Processes are counted from 1, in the order of their tables.
struct process_list {
    struct database *database;
    bool idle_ones; // whether those without work on a device count
    bool ok;
    int64_t seen;
    int64_t *at;
    uint32_t count, cap;
    struct err *err;
};

static bool has_device_work(const struct process_list *list, const char *suffix, bool *has)
{
    int64_t row = ID_NONE;
    char kernels[ROCPD_NAME_BYTES], copies[ROCPD_NAME_BYTES];
    snprintf(kernels, sizeof kernels, "rocpd_kernel_dispatch%s", suffix);
    snprintf(copies, sizeof copies, "rocpd_memory_copy%s", suffix);
    bool ok = rows_first(list->database, kernels, "id", &row, list->err) &&
              (row != ID_NONE || rows_first(list->database, copies, "id", &row, list->err));
    *has = row != ID_NONE;
    return ok;
}

static bool list_process(void *context, const char *suffix)
{
    struct process_list *list = context;
    bool counts = list->idle_ones;
    list->seen++;
    list->ok = counts || has_device_work(list, suffix, &counts);
    if (list->ok && counts)
        list->at[list->count++] = list->seen;
    return list->ok && list->count < list->cap;
}

static bool is_whole(const struct database *database)
{
    struct database_state state = database_state(database);
    return !state.cut && !state.damaged;
}

// A launcher beside the processes that it started is no rank. All are listed where none has work on
// a device, and where such work may be in what cannot be read.
static bool list_processes(struct process_list *list)
{
    list->ok = true;
    rocpd_each_process(list->database, list_process, list);
    if (list->ok && (list->count == 0 || !is_whole(list->database))) {
        list->idle_ones = true;
        list->seen = list->count = 0;
        rocpd_each_process(list->database, list_process, list);
    }
    return list->ok;
}

static bool rocpd_parts(struct source *source, struct format_parts *parts, struct err *err)
{
    struct database *database = database_open(source, NULL, err);
    struct process_list list = {
        .database = database, .at = parts->at, .cap = FORMAT_MAX_PARTS, .err = err};
    bool ok = database && list_processes(&list);
    database_close(database);
    parts->count = list.count;
    return ok;
}

static bool find_process(const struct rocpd *rocpd, int64_t *process, struct err *err)
{
    int64_t at[2] = {1};
    struct process_list list = {.database = rocpd->tables.database, .at = at, .cap = 2, .err = err};
    *process = rocpd->tables.input->part;
    if (*process != FORMAT_WHOLE)
        return true;
    if (!list_processes(&list))
        return false;
    *process = at[0];
    return list.count < 2 ||
           err_set(err, ERR_UNSUPPORTED,
                   "found several processes, expected one: send the file without a rank, and "
                   "with its name, such as job.db");
}

struct choice {
    int64_t wanted, seen;
    char *suffix;
};

static bool choose(void *context, const char *suffix)
{
    struct choice *choice = context;
    bool is_wanted = ++choice->seen == choice->wanted;
    if (is_wanted)
        snprintf(choice->suffix, ROCPD_SUFFIX_BYTES, "%s", suffix);
    return !is_wanted;
}

static bool find_suffix(struct rocpd *rocpd, struct err *err)
{
    struct choice choice = {.suffix = rocpd->suffix};
    if (!find_process(rocpd, &choice.wanted, err))
        return false;
    rocpd_each_process(rocpd->tables.database, choose, &choice);
    return choice.seen == choice.wanted ||
           err_set(err, ERR_FORMAT, "found no process %lld in it", (long long)choice.wanted);
}

// --- rows ---------------------------------------------------------------------------------------

bool rocpd_load_texts(struct rocpd *rocpd, struct text_table *texts, const char *name,
                      const char *columns, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    return text_table_load(texts, rocpd->tables.input->budget, rocpd->tables.database,
                           rocpd_table_of(rocpd, name, table), columns, err);
}

bool rocpd_load_ids(struct rocpd *rocpd, struct id_table *ids, const char *name,
                    const char *columns, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    return id_table_load(ids, rocpd->tables.input->budget, rocpd->tables.database,
                         rocpd_table_of(rocpd, name, table), columns, err);
}

static bool each_fact(struct rocpd *rocpd, const char *name, const char *columns, rows_take *take,
                      struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    return rows_each(rocpd->tables.database, rocpd_table_of(rocpd, name, table), columns, take,
                     rocpd, err);
}

static bool each_event(struct rocpd *rocpd, const char *name, const char *columns, rows_take *take,
                       struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    return table_reader_each(&rocpd->tables, rocpd_table_of(rocpd, name, table), columns, take,
                             rocpd, err);
}

static bool load_events(struct rocpd *rocpd, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    return rocpd_events_load(&rocpd->events, rocpd->tables.input->budget, rocpd->tables.database,
                             rocpd_table_of(rocpd, "event", table), err);
}

static bool load_tables(struct rocpd *rocpd, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    rocpd_table_of(rocpd, "info_kernel_symbol", table);
    bool shown = database_has_column(rocpd->tables.database, table, "display_name");
    return rocpd_load_texts(rocpd, &rocpd->strings, "string", "id string", err) &&
           rocpd_load_texts(rocpd, &rocpd->symbols, "info_kernel_symbol",
                            shown ? "id display_name" : "id kernel_name", err) &&
           rocpd_load_texts(rocpd, &rocpd->categories, "info_category", "id name", err) &&
           rocpd_load_notes(rocpd, err) && load_events(rocpd, err) &&
           rocpd_load_ids(rocpd, &rocpd->times, "timestamp", "id value", err) &&
           rocpd_load_ids(rocpd, &rocpd->tracks, "track", "id tid agent_id queue_id", err) &&
           rocpd_load_ids(rocpd, &rocpd->streams, "track", "id stream_id", err);
}

static void free_tables(struct rocpd *rocpd)
{
    text_table_free(&rocpd->strings);
    text_table_free(&rocpd->symbols);
    text_table_free(&rocpd->categories);
    text_table_free(&rocpd->notes);
    rocpd_events_free(&rocpd->events);
    id_table_free(&rocpd->times);
    id_table_free(&rocpd->tracks);
    id_table_free(&rocpd->streams);
}

// --- agents -------------------------------------------------------------------------------------

#define AGENT_COLUMNS "id type type_index product_name name extdata"
enum { AGENT_ID, AGENT_TYPE, AGENT_INDEX, AGENT_PRODUCT, AGENT_NAME, AGENT_MORE };

static bool take_agent(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct str type = STR(""), name = STR(""), more = STR("");
    struct rocm_agent agent = {.id = rows_i64_or(rows, AGENT_ID, -1),
                               .device = rows_i64_or(rows, AGENT_INDEX, 0)};
    (void)rows_text(rows, AGENT_TYPE, &type);
    (void)rows_text(rows, AGENT_MORE, &more);
    agent.is_gpu = str_equal(type, STR("GPU"));
    agent.units = rocpd_number_in(more, STR("\"cu_count\""));
    if (!rows_text(rows, AGENT_PRODUCT, &name) || !name.len)
        (void)rows_text(rows, AGENT_NAME, &name);
    return (!agent.is_gpu ||
            trace_builder_text(rocpd->builder, name, ERR_NO_POS, &agent.name, err)) &&
           rocm_agents_add(&rocpd->agents, &agent, rocpd->builder, err);
}

// --- rows ---------------------------------------------------------------------------------------

int64_t rocpd_time_of(const struct rocpd *rocpd, const struct rows *rows, unsigned column,
                      unsigned by_id)
{
    int64_t id;
    if (rows_i64(rows, by_id, &id))
        return id_table_value(&rocpd->times, id, 0);
    return rows_i64_or(rows, column, ID_NONE);
}

// False if the row has no times, which is counted.
static bool take_common(struct rocpd *rocpd, const struct rows *rows, enum event_kind kind,
                        struct event_record *record)
{
    int64_t stack = rocpd_events_stack(&rocpd->events, rows_i64_or(rows, ROCPD_EVENT, -1));
    *record = event_record_of(kind);
    record->correlation = stack > 0 ? stack : VALUE_ABSENT;
    return rocm_times(rocpd->builder, record,
                      rocpd_time_of(rocpd, rows, ROCPD_START, ROCPD_START_ID),
                      rocpd_time_of(rocpd, rows, ROCPD_END, ROCPD_END_ID), ERR_NO_POS);
}

// Of the row or, in layout 4, of its track.
int64_t rocpd_place_of(const struct rocpd *rocpd, const struct rows *rows, unsigned column,
                       unsigned of_track)
{
    int64_t value;
    if (rows_i64(rows, column, &value))
        return value;
    value = id_table_value(&rocpd->tracks, rows_i64_or(rows, ROCPD_TRACK, -1), of_track);
    return value == ID_NONE ? 0 : value;
}

// The columns that say where work of a device ran, after the common ones.
#define WORK_COLUMNS ROCPD_COMMON "queue_id stream_id "
enum { QUEUE = ROCPD_FIRST, STREAM, WORK_FIRST };

// direction: of a copy.
static bool take_place(struct rocpd *rocpd, const struct rows *rows, struct str direction,
                       struct event_record *record, struct err *err)
{
    int64_t of_track = id_table_value(&rocpd->streams, rows_i64_or(rows, ROCPD_TRACK, -1), 0);
    struct rocm_place place = {.device = record->pid.number,
                               .stream = rows_i64_or(rows, STREAM, of_track),
                               .queue = rocpd_place_of(rocpd, rows, QUEUE, ROCPD_TRACK_QUEUE),
                               .direction = direction};
    return rocm_row_of(&rocpd->rows, rocpd->builder, &place, &record->tid, err);
}

// --- kernels ------------------------------------------------------------------------------------

#define KERNEL_COLUMNS                                                        \
    WORK_COLUMNS "agent_id kernel_id group_segment_size grid_size_x "         \
                 "grid_size_y grid_size_z workgroup_size_x workgroup_size_y " \
                 "workgroup_size_z"
enum { AGENT = WORK_FIRST, KERNEL, SHARED, GRID, BLOCK = GRID + 3 };

static void take_shape(const struct rows *rows, struct launch_shape *shape)
{
    int64_t shared = rows_i64_or(rows, SHARED, -1);
    shape->shared_bytes = shared >= 0 ? shared : VALUE_ABSENT;
    for (unsigned i = 0; i < 3; i++)
        rocm_extent(shape, i, rows_i64_or(rows, GRID + i, 0), rows_i64_or(rows, BLOCK + i, 0));
}

static bool take_kernel(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct event_record record;
    if (!take_common(rocpd, rows, EVENT_KERNEL, &record))
        return true;
    const struct rocm_agent *agent =
        rocm_agents_find(&rocpd->agents, rocpd_place_of(rocpd, rows, AGENT, ROCPD_TRACK_AGENT));
    record.pid.number = agent ? agent->device : 0;
    take_shape(rows, &record.shape);
    return take_place(rocpd, rows, STR(""), &record, err) &&
           rocm_kernel_intern(&rocpd->symbols, rocpd->builder, rows_i64_or(rows, KERNEL, -1),
                              &record.name, err) &&
           trace_builder_add(rocpd->builder, &record, err);
}

// --- copies -------------------------------------------------------------------------------------

#define COPY_COLUMNS WORK_COLUMNS "name_id dst_agent_id src_agent_id size"
enum { COPY_NAME = WORK_FIRST, COPY_TO, COPY_FROM, COPY_BYTES };

static const struct rocm_agent *gpu_of(const struct rocpd *rocpd, const struct rows *rows)
{
    const struct rocm_agent *to = rocm_agents_find(&rocpd->agents, rows_i64_or(rows, COPY_TO, -1));
    const struct rocm_agent *from =
        rocm_agents_find(&rocpd->agents, rows_i64_or(rows, COPY_FROM, -1));
    return to && to->is_gpu ? to : from && from->is_gpu ? from : NULL;
}

static void report_copy(struct rocpd *rocpd, const struct event_record *record)
{
    struct figures *figures = rocpd->figures;
    struct str name = strtab_get(trace_builder_strings(rocpd->builder), record->name);
    int64_t bytes = record->shape.bytes == VALUE_ABSENT ? 0 : record->shape.bytes;
    figures_add(figures, 1, "copies" IN "%s" IN "count", name.at);
    figures_add(figures, bytes, "copies" IN "%s" IN "bytes", name.at);
    figures_add(figures, record->dur_ns, "copies" IN "%s" IN "ns", name.at);
}

// Host-to-host copies are not device work.
static bool take_copy(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct event_record record;
    if (!take_common(rocpd, rows, EVENT_MEMCPY, &record))
        return true;
    const struct rocm_agent *gpu = gpu_of(rocpd, rows);
    int64_t bytes = rows_i64_or(rows, COPY_BYTES, -1);
    record.shape.bytes = bytes >= 0 ? bytes : VALUE_ABSENT;
    record.pid.number = gpu ? gpu->device : 0;
    if (!text_table_intern(&rocpd->strings, rocpd->builder, rows_i64_or(rows, COPY_NAME, -1),
                           &record.name, err))
        return false;
    report_copy(rocpd, &record);
    struct str direction = strtab_get(trace_builder_strings(rocpd->builder), record.name);
    return !gpu || (take_place(rocpd, rows, direction, &record, err) &&
                    trace_builder_add(rocpd->builder, &record, err));
}

// --- calls and markers --------------------------------------------------------------------------

#define REGION_COLUMNS ROCPD_COMMON "name_id"
enum { REGION_NAME = ROCPD_FIRST };

// What kind of call it is, by its domain: "HIP_RUNTIME_API_EXT", "HSA_CORE_API", ...
static enum event_kind kind_of(const struct rocpd *rocpd, int64_t event)
{
    struct str domain = STR("");
    int64_t id = rocpd_events_category(&rocpd->events, event);
    const struct text_table *texts =
        rocpd->categories.ids.count ? &rocpd->categories : &rocpd->strings;
    (void)text_table_find(texts, id, &domain);
    return rocm_call_kind(domain);
}

static bool take_region(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct event_record record;
    struct str message;
    int64_t event = rows_i64_or(rows, ROCPD_EVENT, -1);
    figures_add(rocpd->figures, 1, "regions");
    if (!take_common(rocpd, rows, kind_of(rocpd, event), &record))
        return true;
    record.tid.number = rocpd_place_of(rocpd, rows, ROCPD_THREAD, ROCPD_TRACK_THREAD);
    bool named = record.kind == EVENT_ANNOTATION && text_table_find(&rocpd->notes, event, &message);
    bool ok = named ? trace_builder_text(rocpd->builder, message, ERR_NO_POS, &record.name, err)
                    : text_table_intern(&rocpd->strings, rocpd->builder,
                                        rows_i64_or(rows, REGION_NAME, -1), &record.name, err);
    return ok && trace_builder_add(rocpd->builder, &record, err);
}

// roctxMark, which lasts no time. Other samples are of counters.
#define MARK_COLUMNS ROCPD_COMMON "timestamp timestamp_id"
enum { MARK_TIME = ROCPD_FIRST, MARK_TIME_ID };

static bool take_mark(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct event_record record = event_record_of(EVENT_ANNOTATION);
    struct str message;
    int64_t event = rows_i64_or(rows, ROCPD_EVENT, -1);
    int64_t time_ns = rocpd_time_of(rocpd, rows, MARK_TIME, MARK_TIME_ID);
    if (!text_table_find(&rocpd->notes, event, &message) ||
        !event_record_times(rocpd->builder, &record, time_ns, time_ns, ERR_NO_POS))
        return true;
    record.tid.number = rocpd_place_of(rocpd, rows, ROCPD_THREAD, ROCPD_TRACK_THREAD);
    return trace_builder_text(rocpd->builder, message, ERR_NO_POS, &record.name, err) &&
           trace_builder_add(rocpd->builder, &record, err);
}

// --- figures ------------------------------------------------------------------------------------

static bool take_metadata(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd *rocpd = context;
    struct str tag, value;
    (void)err;
    if (rows_text(rows, 0, &tag) && str_equal(tag, STR("schema_version")) &&
        rows_text(rows, 1, &value))
        figures_text(rocpd->figures, value, "schema_version");
    return true;
}

// --- the file -----------------------------------------------------------------------------------

static bool read_all(struct rocpd *rocpd, struct err *err)
{
    trace_builder_base(rocpd->builder, VALUE_ABSENT);
    trace_builder_recorder(rocpd->builder, RECORDER_ROCM);
    figures_add(rocpd->figures, 0, "copies" IN);
    figures_add(rocpd->figures, 0, "regions");
    return find_suffix(rocpd, err) && load_tables(rocpd, err) &&
           each_fact(rocpd, "metadata", "tag value", take_metadata, err) &&
           each_fact(rocpd, "info_agent", AGENT_COLUMNS, take_agent, err) &&
           each_event(rocpd, "kernel_dispatch", KERNEL_COLUMNS, take_kernel, err) &&
           each_event(rocpd, "memory_copy", COPY_COLUMNS, take_copy, err) &&
           each_event(rocpd, "region", REGION_COLUMNS, take_region, err) &&
           each_fact(rocpd, "sample", MARK_COLUMNS, take_mark, err) &&
           rocpd_read_memory(rocpd, err) && rocpd_read_counters(rocpd, err) &&
           table_reader_finish(&rocpd->tables,
                               "record with rocprofv3 --kernel-trace --hip-runtime-trace "
                               "--output-format rocpd",
                               err);
}

static bool rocpd_read(const struct format_input *input, struct err *err)
{
    struct rocpd *rocpd = calloc(1, sizeof *rocpd);
    if (!rocpd)
        return err_set(err, ERR_MEMORY, "out of memory");
    rocpd->builder = input->builder;
    rocpd->figures = input->figures;
    bool ok = table_reader_open(&rocpd->tables, input, err) && read_all(rocpd, err);
    free_tables(rocpd);
    table_reader_close(&rocpd->tables);
    free(rocpd);
    return ok;
}

const struct format format_rocpd = {
    .name = "rocpd",
    .what = "a rocpd database of rocprofv3",
    .kind = FORMAT_TRACE,
    .access = FORMAT_SEEK,
    .ending = ".db",
    .tables = "rocpd_kernel_dispatch*",
    .read = rocpd_read,
    .parts = rocpd_parts,
    .count = rocpd_count,
};
