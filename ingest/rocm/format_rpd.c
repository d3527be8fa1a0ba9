// SPDX-License-Identifier: Apache-2.0
// rpd, the SQLite output of rocmProfileData (runTracer.sh, rpd_tracer).
#include "ingest/format.h"
#include "ingest/sqlite/event_rows.h"
#include "ingest/sqlite/id_table.h"
#include "ingest/sqlite/text_table.h"

#include <stdlib.h>

enum { BETWEEN = 1024, NUMBER_BYTES = 64 };

struct rpd {
    const struct format_input *input;
    struct trace_builder *builder;
    struct database *database;
    struct text_table strings;
    struct id_table api_of_op, copied, grids, blocks; // the last three by call
    uint64_t rows;
};

typedef bool take_row(struct rpd *rpd, const struct rows *rows, struct err *err);

static bool go_on(struct rpd *rpd, struct err *err)
{
    struct progress *progress = rpd->input->progress;
    if (++rpd->rows % BETWEEN || !progress)
        return true;
    progress->done_bytes = database_taken(rpd->database);
    return !progress->cancel || err_set(err, ERR_CANCELLED, "cancelled while reading");
}

static bool each_row(struct rpd *rpd, const char *table, const char *columns, take_row *take,
                     struct err *err)
{
    struct rows rows;
    bool ok = rows_open(rpd->database, table, columns, &rows, err);
    while (ok && rows_next(&rows))
        ok = go_on(rpd, err) && take(rpd, &rows, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- operations of devices ----------------------------------------------------------------------

#define OP_COLUMNS "id gpuId queueId start end description_id opType_id"
enum { OP_ID, OP_GPU, OP_QUEUE, OP_START, OP_END, OP_TEXT, OP_TYPE };

// "KernelExecution", "CopyDeviceToHost", "FillBuffer"; graphs are "Task".
static enum event_kind kind_of(struct str type)
{
    if (str_starts_with(type, STR("Copy")))
        return EVENT_MEMCPY;
    return str_starts_with(type, STR("Fill")) ? EVENT_MEMSET : EVENT_KERNEL;
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
    struct figures *figures = rpd->input->figures;
    figures_add(figures, 1, "ops");
    figures_add(figures, record->dur_ns, "ops_total_ns");
    figures_add(figures, 1, "ops_by_type" IN "%.*s", (int)type.len, type.at);
}

static bool take_op(struct rpd *rpd, const struct rows *rows, struct err *err)
{
    struct str type = STR(""), text = STR("");
    int64_t name = rows_i64_or(rows, OP_TEXT, -1), type_id = rows_i64_or(rows, OP_TYPE, -1);
    (void)text_table_find(&rpd->strings, type_id, &type);
    (void)text_table_find(&rpd->strings, name, &text);
    struct event_record record = event_row(kind_of(type));
    if (!event_row_times(rpd->builder, &record, rows_i64_or(rows, OP_START, VALUE_ABSENT),
                         rows_i64_or(rows, OP_END, VALUE_ABSENT)))
        return true;
    record.pid.number = rows_i64_or(rows, OP_GPU, 0);
    record.tid.number = rows_i64_or(rows, OP_QUEUE, 0);
    take_call(rpd, id_table_value(&rpd->api_of_op, rows_i64_or(rows, OP_ID, -1), 0), &record);
    report_op(rpd, type, &record);
    return text_table_intern(&rpd->strings, text.len ? name : type_id, &record.name, err) &&
           trace_builder_add(rpd->builder, &record, err);
}

// --- calls --------------------------------------------------------------------------------------

#define API_COLUMNS "id pid tid start end apiName_id args_id"
enum { API_ID, API_PROCESS, API_THREAD, API_START, API_END, API_NAME, API_ARGS };

static bool take_api(struct rpd *rpd, const struct rows *rows, struct err *err)
{
    struct str name = STR("");
    (void)text_table_find(&rpd->strings, rows_i64_or(rows, API_NAME, -1), &name);
    bool marker = str_equal(name, STR("UserMarker")); // its text is the argument
    struct event_record record = event_row(marker ? EVENT_ANNOTATION : EVENT_RUNTIME);
    figures_add(rpd->input->figures, 1, "api_calls");
    if (!event_row_times(rpd->builder, &record, rows_i64_or(rows, API_START, VALUE_ABSENT),
                         rows_i64_or(rows, API_END, VALUE_ABSENT)))
        return true;
    record.pid.number = rows_i64_or(rows, API_PROCESS, 0);
    record.tid.number = rows_i64_or(rows, API_THREAD, 0);
    record.correlation = rows_i64_or(rows, API_ID, VALUE_ABSENT);
    int64_t text = rows_i64_or(rows, marker ? API_ARGS : API_NAME, -1);
    return text_table_intern(&rpd->strings, text, &record.name, err) &&
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

static bool take_monitor(struct rpd *rpd, const struct rows *rows, struct err *err)
{
    struct str type = STR("");
    struct counter_record record = {.pid = {rows_i64_or(rows, MONITOR_DEVICE, 0), 0},
                                    .time_ns = rows_i64_or(rows, MONITOR_START, TRACE_MAX_NS)};
    figures_add(rpd->input->figures, 1, "monitor_rows");
    bool timed = record.time_ns > -TRACE_MAX_NS && record.time_ns < TRACE_MAX_NS;
    if (!timed || !rows_text(rows, MONITOR_TYPE, &type) || !number_of(rows, &record.value)) {
        trace_builder_repair(rpd->builder, REPAIR_INCOMPLETE_OTHER, ERR_NO_POS);
        return true;
    }
    return trace_builder_text(rpd->builder, type, ERR_NO_POS, &record.name, err) &&
           trace_builder_text(rpd->builder, STR("value"), ERR_NO_POS, &record.key, err) &&
           trace_builder_count(rpd->builder, &record, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool load_ids(struct rpd *rpd, struct id_table *ids, const char *table, const char *columns,
                     struct err *err)
{
    return id_table_load(ids, rpd->input->budget, rpd->database, table, columns, err);
}

static bool read_all(struct rpd *rpd, struct err *err)
{
    uint64_t size = 0;
    if (!text_table_load(&rpd->strings, rpd->builder, rpd->database, "rocpd_string", "id string",
                         err) ||
        !load_ids(rpd, &rpd->api_of_op, "rocpd_api_ops", "op_id api_id", err) ||
        !load_ids(rpd, &rpd->copied, "rocpd_copyapi", "api_ptr_id size", err) ||
        !load_ids(rpd, &rpd->grids, "rocpd_kernelapi", "api_ptr_id gridX gridY gridZ", err) ||
        !load_ids(rpd, &rpd->blocks, "rocpd_kernelapi",
                  "api_ptr_id workgroupX workgroupY workgroupZ", err) ||
        !each_row(rpd, "rocpd_op", OP_COLUMNS, take_op, err) ||
        !each_row(rpd, "rocpd_api", API_COLUMNS, take_api, err) ||
        !each_row(rpd, "rocpd_monitor", MONITOR_COLUMNS, take_monitor, err))
        return false;
    if (database_state(rpd->database).cut || database_state(rpd->database).has_log)
        trace_builder_repair(rpd->builder, REPAIR_TRUNCATED, ERR_NO_POS);
    trace_builder_base(rpd->builder, VALUE_ABSENT);
    trace_builder_recorder(rpd->builder, RECORDER_ROCM);
    (void)source_size(rpd->input->source, &size);
    trace_builder_count_input(rpd->builder, rpd->rows, size);
    return rpd->rows || err_set(err, ERR_FORMAT, "found an rpd database without any record");
}

static bool rpd_read(const struct format_input *input, struct err *err)
{
    struct rpd rpd = {.input = input, .builder = input->builder};
    rpd.database =
        database_open(input->source, input->progress ? &input->progress->cancel : NULL, err);
    bool ok = rpd.database && read_all(&rpd, err);
    text_table_free(&rpd.strings);
    id_table_free(&rpd.api_of_op);
    id_table_free(&rpd.copied);
    id_table_free(&rpd.grids);
    id_table_free(&rpd.blocks);
    database_close(rpd.database);
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
};
