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
    size_t end = at;
    while (at > 0 && str_is_digit(name.at[at - 1]))
        at--;
    bool versioned = at < end && at > 2 && name.at[at - 1] == 'v' && name.at[at - 2] == '_';
    return (struct str){name.at, versioned ? at - 2 : name.len};
}

static bool name_call(struct nsys *nsys, int64_t id, str_id *name, struct err *err)
{
    struct str text;
    if (!text_table_find(&nsys->texts, id, &text))
        return text_table_intern(&nsys->texts, nsys->builder, id, name, err);
    return trace_builder_text(nsys->builder, without_version(text), ERR_NO_POS, name, err);
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
    return name_call(nsys, rows_i64_or(rows, NAME, 0), &record->name, err);
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

#define SYNC_COLUMNS "start end deviceId streamId globalPid correlationId syncType"
enum { SYNC_DEVICE = 2, SYNC_STREAM, SYNC_PROCESS, SYNC_CORRELATION, SYNC_TYPE };

// Kineto's words.
static const char *sync_word(int64_t type)
{
    static const char *const words[] = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
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
    record.pid.number = device;
    record.tid.number = rows_i64_or(rows, SYNC_STREAM, -1);
    const char *word = sync_word(rows_i64_or(rows, SYNC_TYPE, 0));
    return trace_builder_text(nsys->builder, str_of(word), ERR_NO_POS, &record.name, err) &&
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
    return table_reader_each(tables, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SYNC_COLUMNS, take_sync,
                             nsys, err) &&
           table_reader_each(tables, "CUDA_GPU_MEMORY_USAGE_EVENTS", MEMORY_COLUMNS,
                             take_allocation, nsys, err);
}
