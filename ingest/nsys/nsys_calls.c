// SPDX-License-Identifier: Apache-2.0
// Host calls (CUDA's runtime and driver, MPI, the operating system) and synchronizations.
#include "ingest/nsys/nsys_nccl.h"

#define CALL_COLUMNS "start end globalTid correlationId nameId textId eventClass"
enum { START, END, THREAD, CORRELATION, NAME, TEXT, CLASS };

// Driver calls are in the runtime's table, with their own class.
static const struct call_table {
    const char *table;
    enum event_kind kind;
} call_tables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", EVENT_RUNTIME},
    {"OSRT_API", EVENT_OS_CALL},
    {"PROFILER_OVERHEAD", EVENT_OVERHEAD},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", EVENT_OVERHEAD},
    {"MPI_COLLECTIVES_EVENTS", EVENT_ANNOTATION},
    {"MPI_P2P_EVENTS", EVENT_ANNOTATION},
    {"MPI_START_WAIT_EVENTS", EVENT_ANNOTATION},
    {"MPI_OTHER_EVENTS", EVENT_ANNOTATION},
    {"UCP_SUBMIT_EVENTS", EVENT_ANNOTATION},
    {"UCP_PROGRESS_EVENTS", EVENT_ANNOTATION},
};

static void take_thread(const struct rows *rows, struct event_record *record)
{
    int64_t thread = rows_i64_or(rows, THREAD, 0);
    record->pid.number = nsys_pid(thread);
    record->tid.number = nsys_tid(thread);
}

// "cudaLaunchKernel_v7000_ptsz" is the version of an entry point of the library.
static struct str without_version(struct str name)
{
    size_t at = name.len;
    if (at > 5 &&
        (memcmp(name.at + at - 5, "_ptsz", 5) == 0 || memcmp(name.at + at - 5, "_ptds", 5) == 0))
        at -= 5;
    size_t digits = str_digits_start(name, at);
    bool versioned =
        digits < at && digits > 2 && name.at[digits - 1] == 'v' && name.at[digits - 2] == '_';
    return (struct str){name.at, versioned ? digits - 2 : name.len};
}

enum { WAITS_UNKNOWN, WAITS_FOR_EVENT, STREAM_WAITS, WAITS_FOR_STREAM, WAITS_FOR_CONTEXT };

// What a call waits for, WAITS_UNKNOWN if it does not.
static int64_t waits_for(struct str name)
{
    static const struct {
        const char *call; // without "cuda" or "cu"
        int64_t type;
    } calls[] = {
        {"EventSynchronize", WAITS_FOR_EVENT},    {"EventQuery", WAITS_FOR_EVENT},
        {"StreamSynchronize", WAITS_FOR_STREAM},  {"StreamQuery", WAITS_FOR_STREAM},
        {"DeviceSynchronize", WAITS_FOR_CONTEXT}, {"CtxSynchronize", WAITS_FOR_CONTEXT},
        {"StreamWaitEvent", STREAM_WAITS},
    };
    size_t start = str_starts_with(name, STR("cuda")) ? 4 : 2;
    if (!str_starts_with(name, STR("cu")))
        return WAITS_UNKNOWN;
    struct str call = {name.at + start, name.len - start};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_starts_with(call, str_of(calls[i].call)))
            return calls[i].type;
    return WAITS_UNKNOWN;
}

static bool name_call(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                      struct err *err)
{
    struct str text;
    int64_t id = rows_i64_or(rows, NAME, 0);
    if (!text_table_find(&nsys->texts, id, &text))
        return text_table_intern(&nsys->texts, nsys->builder, id, &record->name, err);
    struct id_row wait = {record->correlation, {waits_for(text), ID_NONE, ID_NONE}};
    bool waits = wait.value[0] != WAITS_UNKNOWN && wait.id != VALUE_ABSENT;
    return (!waits || id_table_add(&nsys->waits, &wait, err)) &&
           trace_builder_text(nsys->builder, without_version(text), ERR_NO_POS, &record->name, err);
}

static bool complete_call(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                          struct err *err)
{
    int64_t name;
    take_thread(rows, record);
    record->correlation = rows_i64_or(rows, CORRELATION, VALUE_ABSENT);
    if (!event_kind_is_launch(record->kind))
        return (!rows_i64(rows, NAME, &name) && !rows_i64(rows, TEXT, &name)) ||
               text_table_intern(&nsys->texts, nsys->builder, name, &record->name, err);
    nccl_call(nsys->nccl, rows_i64_or(rows, THREAD, 0), record->begin_ns, record->correlation);
    return name_call(nsys, rows, record, err);
}

struct call_walk {
    struct nsys *nsys;
    enum event_kind kind;
};

static bool take_call(void *context, const struct rows *rows, struct err *err)
{
    const struct call_walk *walk = context;
    struct nsys *nsys = walk->nsys;
    bool driver = walk->kind == EVENT_RUNTIME && rows_i64_or(rows, CLASS, 0) == 1;
    struct event_record record = event_record_of(driver ? EVENT_DRIVER : walk->kind);
    bool own;
    if (!nsys_owns(nsys, rows_i64_or(rows, THREAD, VALUE_ABSENT), -1, &own, err))
        return false;
    if (!own || !nsys_times(nsys, rows, &record))
        return true;
    return complete_call(nsys, rows, &record, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

// --- waits --------------------------------------------------------------------------------------

#define SYNC_COLUMNS "start end deviceId streamId globalPid correlationId syncType contextId"
enum { SYNC_DEVICE = 2, SYNC_STREAM, SYNC_PROCESS, SYNC_CORRELATION, SYNC_TYPE, SYNC_CONTEXT };

// Kineto's words. Exports err in the numbers that their own table explains: files of schemas 3.20.2
// and 3.24.14 have 2 where a call waits for a stream, those of 3.16.1 and 3.17.2 have 0 for all. So
// the call tells.
static const char *sync_word(const struct nsys *nsys, const struct rows *rows)
{
    static const char *const words[] = {[WAITS_UNKNOWN] = "Unknown",
                                        [WAITS_FOR_EVENT] = "Event Sync",
                                        [STREAM_WAITS] = "Stream Wait Event",
                                        [WAITS_FOR_STREAM] = "Stream Sync",
                                        [WAITS_FOR_CONTEXT] = "Context Sync"};
    int64_t correlation = rows_i64_or(rows, SYNC_CORRELATION, ID_NONE);
    int64_t type = id_table_value(&nsys->waits, correlation, 0);
    type = type == ID_NONE ? rows_i64_or(rows, SYNC_TYPE, WAITS_UNKNOWN) : type;
    return type >= 0 && (size_t)type < sizeof words / sizeof *words ? words[type] : "Unknown";
}

static bool take_sync(void *context, const struct rows *rows, struct err *err)
{
    struct nsys *nsys = context;
    struct event_record record = event_record_of(EVENT_SYNC);
    int64_t device = rows_i64_or(rows, SYNC_DEVICE, 0);
    bool own;
    if (!nsys_owns(nsys, rows_i64_or(rows, SYNC_PROCESS, VALUE_ABSENT), device, &own, err))
        return false;
    if (!own || !nsys_times(nsys, rows, &record))
        return true;
    struct nsys_stream stream = {device, rows_i64_or(rows, SYNC_CONTEXT, 0),
                                 rows_i64_or(rows, SYNC_STREAM, -1)};
    if (stream.number == UINT32_MAX)
        stream.number = -1; // of all streams, as Kineto numbers it
    record.pid.number = device;
    return nsys_stream(nsys, &stream, &record.tid, err) &&
           trace_builder_text(nsys->builder, str_of(sync_word(nsys, rows)), ERR_NO_POS,
                              &record.name, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

// --- memory -------------------------------------------------------------------------------------

#define MEMORY_COLUMNS "start globalPid deviceId address bytes memKind memoryOperationType"
enum { MEMORY_PROCESS = 1, MEMORY_DEVICE, MEMORY_ADDRESS, MEMORY_BYTES, MEMORY_KIND, MEMORY_STEP };

// Device memory only: what a framework's allocator takes from the driver.
static bool take_allocation(void *context, const struct rows *rows, struct err *err)
{
    enum { DEVICE_MEMORY = 2, RELEASE = 1, CUDA = 1 };
    struct nsys *nsys = context;
    struct event_record record = event_record_of(EVENT_ALLOCATION);
    int64_t start_ns = rows_i64_or(rows, START, VALUE_ABSENT);
    int64_t process = rows_i64_or(rows, MEMORY_PROCESS, VALUE_ABSENT);
    int64_t bytes = rows_i64_or(rows, MEMORY_BYTES, 0);
    int64_t device = rows_i64_or(rows, MEMORY_DEVICE, 0);
    bool own;
    if (!nsys_owns(nsys, process, device, &own, err))
        return false;
    if (!own || bytes <= 0 || device < 0 || device > INT32_MAX ||
        rows_i64_or(rows, MEMORY_KIND, DEVICE_MEMORY) != DEVICE_MEMORY ||
        !event_record_times(nsys->builder, &record, start_ns, start_ns, ERR_NO_POS))
        return true;
    record.pid.number = process == VALUE_ABSENT ? 0 : nsys_pid(process);
    record.memory.address = rows_i64_or(rows, MEMORY_ADDRESS, VALUE_ABSENT);
    record.memory.bytes = rows_i64_or(rows, MEMORY_STEP, 0) == RELEASE ? -bytes : bytes;
    record.memory.device_type = CUDA;
    record.memory.device = (int32_t)device;
    return trace_builder_text(nsys->builder, STR("[memory]"), ERR_NO_POS, &record.name, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

bool nsys_read_calls(struct nsys *nsys, struct err *err)
{
    struct table_reader *tables = &nsys->tables;
    for (size_t i = 0; i < sizeof call_tables / sizeof *call_tables; i++) {
        struct call_walk walk = {nsys, call_tables[i].kind};
        if (!table_reader_each(tables, call_tables[i].table, CALL_COLUMNS, take_call, &walk, err))
            return false;
    }
    id_table_sort(&nsys->waits);
    return table_reader_each(tables, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SYNC_COLUMNS, take_sync,
                             nsys, err) &&
           table_reader_each(tables, "CUDA_GPU_MEMORY_USAGE_EVENTS", MEMORY_COLUMNS,
                             take_allocation, nsys, err);
}
