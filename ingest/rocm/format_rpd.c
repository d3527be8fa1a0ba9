// SPDX-License-Identifier: Apache-2.0
// rpd, the SQLite output of rocmProfileData (runTracer.sh, rpd_tracer).
#include "ingest/source/format.h"
#include "ingest/rocm/rocm_names.h"
#include "ingest/rocm/rpd_processes.h"
#include "ingest/sqlite/table_reader.h"
#include "ingest/sqlite/text_table.h"
#include "ingest/trace/event_record.h"

#include <stdlib.h>

#define ARGS_TABLE "rocpd_ustring" // since schema 3; in rocpd_string before

enum { NUMBER_BYTES = 64 };

struct rpd {
    struct table_reader tables;
    struct trace_builder *builder;
    struct figures *figures;
    struct text_table strings, args;                  // args: of markers, since schema 3
    struct id_table api_of_op, copied, grids, blocks; // the last three by call
    struct rpd_processes *processes;
};

// Whether work of a call, or of a GPU (ID_NONE), belongs to the process that is read.
static bool is_own(const struct rpd *rpd, int64_t call, int64_t gpu)
{
    int64_t part = rpd->tables.input->part;
    return part == FORMAT_WHOLE || rpd_process_of(rpd->processes, call, gpu) == part;
}

static struct str text_at(const struct rpd *rpd, const struct rows *rows, unsigned column)
{
    struct str text = STR("");
    (void)text_table_find(&rpd->strings, rows_i64_or(rows, column, -1), &text);
    return text;
}

// --- operations of devices ----------------------------------------------------------------------

#define OP_COLUMNS "id gpuId queueId start end description_id opType_id"
enum { OP_ID, OP_GPU, OP_QUEUE, OP_START, OP_END, OP_TEXT, OP_TYPE };

// "KernelExecution", "CopyDeviceToHost", "FillBuffer"; graphs are "Task". Since schema 3 "Memcpy"
// with "SDMA" or "Fill" as its description, and "Memset".
static enum event_kind kind_of(struct str type, struct str text)
{
    if (str_starts_with(type, STR("Fill")) || str_equal(type, STR("Memset")) ||
        (str_equal(type, STR("Memcpy")) && str_equal(text, STR("Fill"))))
        return EVENT_MEMSET;
    bool copy = str_starts_with(type, STR("Copy")) || str_equal(type, STR("Memcpy"));
    return copy ? EVENT_MEMCPY : EVENT_KERNEL;
}

static int32_t extent(int64_t number)
{
    return number > 0 && number <= INT32_MAX ? (int32_t)number : 0;
}

static void take_call(const struct rpd *rpd, int64_t call, struct event_record *record)
{
    int64_t bytes = id_table_value(&rpd->copied, call, 0);
    if (call == ID_NONE)
        return;
    record->correlation = call;
    record->shape.bytes = bytes >= 0 ? bytes : VALUE_ABSENT;
    for (unsigned i = 0; i < 3; i++) {
        record->shape.grid[i] = extent(id_table_value(&rpd->grids, call, i));
        record->shape.block[i] = extent(id_table_value(&rpd->blocks, call, i));
    }
}

static void report_op(const struct rpd *rpd, struct str type, const struct event_record *record)
{
    struct figures *figures = rpd->figures;
    figures_add(figures, 1, "ops");
    figures_add(figures, record->dur_ns, "ops_total_ns");
    figures_add(figures, 1, "ops_by_type" IN "%.*s", (int)type.len, type.at);
}

static bool take_op(void *context, const struct rows *rows, struct err *err)
{
    struct rpd *rpd = context;
    struct str type = text_at(rpd, rows, OP_TYPE), text = text_at(rpd, rows, OP_TEXT);
    struct event_record record = event_record_of(kind_of(type, text));
    int64_t call = id_table_value(&rpd->api_of_op, rows_i64_or(rows, OP_ID, -1), 0);
    record.pid.number = rows_i64_or(rows, OP_GPU, 0);
    if (!is_own(rpd, call, record.pid.number))
        return true;
    if (!rocm_times(rpd->builder, &record, rows_i64_or(rows, OP_START, VALUE_ABSENT),
                    rows_i64_or(rows, OP_END, VALUE_ABSENT), ERR_NO_POS))
        return true;
    record.tid.number = rows_i64_or(rows, OP_QUEUE, 0);
    take_call(rpd, call, &record);
    report_op(rpd, type, &record);
    if (str_equal(type, STR("Barrier"))) // the queue waits, and computes nothing
        return true;
    bool named = text.len && !str_equal(text, STR("SDMA")); // which says only by what it is copied
    int64_t name = rows_i64_or(rows, named ? OP_TEXT : OP_TYPE, -1);
    return rocm_kernel_intern(&rpd->strings, rpd->builder, name, &record.name, err) &&
           trace_builder_add(rpd->builder, &record, err);
}

// --- calls --------------------------------------------------------------------------------------

#define API_COLUMNS "id pid tid start end apiName_id args_id domain_id category_id"
enum {
    API_ID,
    API_PROCESS,
    API_THREAD,
    API_START,
    API_END,
    API_NAME,
    API_ARGS,
    API_DOMAIN,
    API_CATEGORY
};

// Calls have no domain before schema 3, where ranges of Python have their names as calls do.
static enum event_kind kind_by_name(struct str name)
{
    static const char *const libraries[] = {"hip", "__hip", "hsa", "cuda"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (str_starts_with(name, str_of(libraries[i])))
            return EVENT_RUNTIME;
    return EVENT_ANNOTATION;
}

// What a library logs, as "miopen", is a range.
static enum event_kind kind_of_call(const struct rpd *rpd, const struct rows *rows)
{
    static const struct {
        const char *domain;
        enum event_kind kind;
    } domains[] = {{"hip", EVENT_RUNTIME},
                   {"cuda", EVENT_RUNTIME},
                   {"hsa", EVENT_DRIVER},
                   {"rpd_tracer", EVENT_OVERHEAD}};
    struct str domain = text_at(rpd, rows, API_DOMAIN);
    if (!domain.len)
        return kind_by_name(text_at(rpd, rows, API_NAME));
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (str_equal(domain, str_of(domains[i].domain)))
            return domains[i].kind;
    bool function = str_equal(domain, STR("torch")) && // "function", "backward_function"
                    str_ends_with(text_at(rpd, rows, API_CATEGORY), STR("function"));
    return function ? EVENT_CPU_OP : EVENT_ANNOTATION;
}

static bool intern_call(struct rpd *rpd, const struct rows *rows, bool marker, str_id *name,
                        struct err *err)
{
    bool apart = marker && database_has(rpd->tables.database, ARGS_TABLE);
    int64_t text = rows_i64_or(rows, marker ? API_ARGS : API_NAME, -1);
    return text_table_intern(apart ? &rpd->args : &rpd->strings, rpd->builder, text, name, err);
}

// Its text is the argument.
static bool is_marker(const struct rpd *rpd, const struct rows *rows, unsigned name)
{
    return str_equal(text_at(rpd, rows, name), STR("UserMarker"));
}

static bool take_api(void *context, const struct rows *rows, struct err *err)
{
    struct rpd *rpd = context;
    bool marker = is_marker(rpd, rows, API_NAME);
    struct event_record record =
        event_record_of(marker ? EVENT_ANNOTATION : kind_of_call(rpd, rows));
    figures_add(rpd->figures, 1, "api_calls");
    if (!event_record_times(rpd->builder, &record, rows_i64_or(rows, API_START, VALUE_ABSENT),
                            rows_i64_or(rows, API_END, VALUE_ABSENT), ERR_NO_POS))
        return true;
    record.pid.number = rows_i64_or(rows, API_PROCESS, 0);
    record.tid.number = rows_i64_or(rows, API_THREAD, 0);
    record.correlation = rows_i64_or(rows, API_ID, VALUE_ABSENT);
    return intern_call(rpd, rows, marker, &record.name, err) &&
           trace_builder_add(rpd->builder, &record, err);
}

// --- monitors -----------------------------------------------------------------------------------

#define MONITOR_COLUMNS "deviceId monitorType start value"
enum { MONITOR_DEVICE, MONITOR_TYPE, MONITOR_START, MONITOR_VALUE };

// Values are texts.
static bool number_of(const struct rows *rows, double *value)
{
    struct str text;
    char copy[NUMBER_BYTES], *end;
    if (rows_f64(rows, MONITOR_VALUE, value))
        return true;
    if (!rows_text(rows, MONITOR_VALUE, &text) || !text.len || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    *value = strtod(copy, &end);
    return end != copy;
}

static bool take_monitor(void *context, const struct rows *rows, struct err *err)
{
    struct rpd *rpd = context;
    struct str type = STR("");
    struct counter_record record = {.pid = {rows_i64_or(rows, MONITOR_DEVICE, 0), 0},
                                    .time_ns = rows_i64_or(rows, MONITOR_START, TRACE_MAX_NS)};
    if (!is_own(rpd, ID_NONE, record.pid.number))
        return true;
    figures_add(rpd->figures, 1, "monitor_rows");
    if (!rows_text(rows, MONITOR_TYPE, &type) || !number_of(rows, &record.value)) {
        trace_builder_repair(rpd->builder, REPAIR_INCOMPLETE_OTHER, ERR_NO_POS);
        return true;
    }
    return trace_builder_text(rpd->builder, type, ERR_NO_POS, &record.name, err) &&
           trace_builder_text(rpd->builder, STR("value"), ERR_NO_POS, &record.key, err) &&
           trace_builder_count(rpd->builder, &record, err);
}

// --- arguments ----------------------------------------------------------------------------------

struct marker_args {
    struct rpd *rpd;
    struct id_table ids;
};

enum { MARKER_NAME, MARKER_ARGS };

static bool take_marker(void *context, const struct rows *rows, struct err *err)
{
    struct marker_args *args = context;
    struct id_row row = {rows_i64_or(rows, MARKER_ARGS, -1), {ID_NONE, ID_NONE, ID_NONE}};
    return !is_marker(args->rpd, rows, MARKER_NAME) || id_table_add(&args->ids, &row, err);
}

static bool take_args(void *context, const struct rows *rows, struct err *err)
{
    struct marker_args *args = context;
    struct str text;
    int64_t id;
    return !rows_i64(rows, 0, &id) || !rows_text(rows, 1, &text) ||
           !id_table_find(&args->ids, id) || text_table_add(&args->rpd->args, id, text, err);
}

// Those of markers only: each call of PyTorch has some, with sizes and stacks.
static bool load_args(struct rpd *rpd, struct err *err)
{
    struct database *database = rpd->tables.database;
    struct marker_args args = {rpd, {.budget = rpd->tables.input->budget}};
    rpd->args.ids.budget = args.ids.budget;
    if (!database_has(database, ARGS_TABLE))
        return true;
    bool ok = rows_each(database, "rocpd_api", "apiName_id args_id", take_marker, &args, err);
    id_table_sort(&args.ids);
    ok = ok && rows_each(database, ARGS_TABLE, "id string", take_args, &args, err);
    text_table_sort(&rpd->args);
    id_table_free(&args.ids);
    return ok;
}

// --- the file -----------------------------------------------------------------------------------

static bool load_ids(struct rpd *rpd, struct id_table *ids, const char *table, const char *columns,
                     struct err *err)
{
    return id_table_load(ids, rpd->tables.input->budget, rpd->tables.database, table, columns, err);
}

static bool load_processes(struct rpd *rpd, struct err *err)
{
    if (!rpd_processes_load(rpd->processes, rpd->tables.database, &rpd->api_of_op, err))
        return false;
    return rpd->tables.input->part != FORMAT_WHOLE || rpd->processes->users.count < 2 ||
           err_set(err, ERR_UNSUPPORTED,
                   "found several processes, expected one: send the file without a rank, and "
                   "with its name, such as job.rpd");
}

static bool load_tables(struct rpd *rpd, struct err *err)
{
    return text_table_load(&rpd->strings, rpd->tables.input->budget, rpd->tables.database,
                           "rocpd_string", "id string", err) &&
           load_args(rpd, err) &&
           load_ids(rpd, &rpd->api_of_op, "rocpd_api_ops", "op_id api_id", err) &&
           load_processes(rpd, err) &&
           load_ids(rpd, &rpd->copied, "rocpd_copyapi", "api_ptr_id size", err) &&
           load_ids(rpd, &rpd->grids, "rocpd_kernelapi", "api_ptr_id gridX gridY gridZ", err) &&
           load_ids(rpd, &rpd->blocks, "rocpd_kernelapi",
                    "api_ptr_id workgroupX workgroupY workgroupZ", err);
}

static bool read_calls(struct rpd *rpd, struct err *err)
{
    int64_t part = rpd->tables.input->part;
    const struct rows_only own[] = {{"pid", part, part}, {NULL, 0, 0}};
    database_only(rpd->tables.database, part == FORMAT_WHOLE ? NULL : own);
    bool ok = table_reader_each(&rpd->tables, "rocpd_api", API_COLUMNS, take_api, rpd, err);
    database_only(rpd->tables.database, NULL);
    return ok;
}

static bool read_all(struct rpd *rpd, struct err *err)
{
    struct table_reader *tables = &rpd->tables;
    trace_builder_base(rpd->builder, VALUE_ABSENT);
    trace_builder_recorder(rpd->builder, RECORDER_ROCM);
    if (database_has(tables->database, "rocpd_monitor"))
        figures_add(rpd->figures, 0, "monitor_rows");
    return load_tables(rpd, err) &&
           table_reader_each(tables, "rocpd_op", OP_COLUMNS, take_op, rpd, err) &&
           read_calls(rpd, err) &&
           table_reader_each(tables, "rocpd_monitor", MONITOR_COLUMNS, take_monitor, rpd, err) &&
           table_reader_finish(tables, "record with runTracer.sh", err);
}

static bool rpd_read(const struct format_input *input, struct err *err)
{
    struct rpd rpd = {.builder = input->builder, .figures = input->figures};
    rpd.processes = budget_zalloc(input->budget, sizeof *rpd.processes, err);
    bool ok = rpd.processes && table_reader_open(&rpd.tables, input, err) && read_all(&rpd, err);
    text_table_free(&rpd.strings);
    text_table_free(&rpd.args);
    id_table_free(&rpd.api_of_op);
    id_table_free(&rpd.copied);
    id_table_free(&rpd.grids);
    id_table_free(&rpd.blocks);
    if (rpd.processes)
        rpd_processes_free(rpd.processes);
    budget_free(input->budget, rpd.processes, sizeof *rpd.processes);
    table_reader_close(&rpd.tables);
    return ok;
}

const struct format format_rpd = {
    .name = "rpd",
    .what = "an rpd database of rocmProfileData",
    .kind = FORMAT_TRACE,
    .access = FORMAT_SEEK,
    .ending = ".rpd",
    .tables = "rocpd_op",
    .read = rpd_read,
    .parts = rpd_parts,
};
