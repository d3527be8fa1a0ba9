// SPDX-License-Identifier: Apache-2.0
// Device work: kernels, copies, memsets, and graphs recorded as a whole.
#include "ingest/nsys/nsys_nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// --- rows of devices ----------------------------------------------------------------------------

// The first columns of all tables of activities.
#define ACTIVITY_COLUMNS "start end deviceId streamId correlationId globalPid contextId "
enum { DEVICE = 2, STREAM, CORRELATION, PROCESS, CONTEXT, ACTIVITY_COUNT };

// Several processes in one trace would mix their devices and correlations.
static bool choose_process(struct nsys *nsys, int64_t process, struct err *err)
{
    if (nsys->process == FORMAT_WHOLE)
        nsys->process = process & NSYS_PROCESS_BITS;
    return nsys->process == (process & NSYS_PROCESS_BITS) ||
           err_set(err, ERR_UNSUPPORTED,
                   "found several processes, expected one: send the file without a rank, "
                   "and with its name, such as job.sqlite");
}

// Notes the first row with text for a time: a single one may be damage, but a table without any
// other kind was copied as text.
static bool take_times(struct nsys *nsys, const struct rows *rows, struct event_record *record)
{
    struct str text;
    bool timed = nsys_times(nsys, rows, record);
    nsys->is_timed |= timed;
    if (!timed && !nsys->text_row && (rows_text(rows, 0, &text) || rows_text(rows, 1, &text)))
        nsys->text_row = nsys->tables.rows;
    return timed;
}

bool nsys_stream(struct nsys *nsys, const struct nsys_stream *stream, struct label *label,
                 struct err *err)
{
    char name[64];
    *label = (struct label){stream->number, 0};
    if ((uint64_t)stream->device >= NSYS_DEVICES || stream->context <= 0 || stream->number < 0)
        return true;
    int64_t *first = &nsys->contexts[stream->device];
    if (!*first)
        *first = stream->context;
    if (*first == stream->context)
        return true;
    snprintf(name, sizeof name, "%" PRId64 " (context %" PRId64 ")", stream->number,
             stream->context);
    return trace_builder_text(nsys->builder, str_of(name), ERR_NO_POS, &label->text, err);
}

// *skip: the row is another process's, or has no times.
static bool start_activity(struct nsys *nsys, const struct rows *rows, enum event_kind kind,
                           struct event_record *record, bool *skip, struct err *err)
{
    bool own;
    int64_t process = rows_i64_or(rows, PROCESS, VALUE_ABSENT);
    *skip = true;
    *record = event_record_of(kind);
    if (process != VALUE_ABSENT && nsys->tables.input->part == FORMAT_WHOLE &&
        !choose_process(nsys, process, err))
        return false;
    if (!nsys_owns(nsys, process, rows_i64_or(rows, DEVICE, 0), &own, err))
        return false;
    if (!own)
        return true;
    record->pid.number = rows_i64_or(rows, DEVICE, 0);
    if ((uint64_t)record->pid.number < NSYS_DEVICES)
        nsys->used_devices |= UINT64_C(1) << record->pid.number;
    record->correlation = rows_i64_or(rows, CORRELATION, VALUE_ABSENT);
    *skip = !take_times(nsys, rows, record);
    struct nsys_stream stream = {record->pid.number, rows_i64_or(rows, CONTEXT, 0),
                                 rows_i64_or(rows, STREAM, 0)};
    return nsys_stream(nsys, &stream, &record->tid, err);
}

// A table of activities.
struct activity {
    const char *table, *columns;
    enum event_kind kind;
    // Completes a record from the table's own columns.
    bool (*complete)(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                     struct err *err);
};

// --- kernels ------------------------------------------------------------------------------------

#define KERNEL_COLUMNS                                                                 \
    ACTIVITY_COLUMNS "demangledName shortName gridX gridY gridZ blockX blockY blockZ " \
                     "registersPerThread staticSharedMemory dynamicSharedMemory "      \
                     "kernel_name"
enum {
    NAME = ACTIVITY_COUNT,
    SHORT_NAME,
    GRID,
    BLOCK = GRID + 3,
    REGISTERS = BLOCK + 3,
    STATIC,
    DYNAMIC,
    TEXT_NAME
};

static int32_t small(const struct rows *rows, unsigned column, int32_t otherwise)
{
    int64_t number = rows_i64_or(rows, column, -1);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : otherwise;
}

static bool name_kernel(struct nsys *nsys, const struct rows *rows, str_id *name, struct err *err)
{
    int64_t id;
    struct str text;
    if (rows_i64(rows, NAME, &id) || rows_i64(rows, SHORT_NAME, &id))
        return text_table_intern(&nsys->texts, nsys->builder, id, name, err);
    if (!rows_text(rows, TEXT_NAME, &text))
        text = STR("unnamed kernel");
    return trace_builder_text(nsys->builder, text, ERR_NO_POS, name, err);
}

static bool complete_kernel(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                            struct err *err)
{
    int64_t fixed = rows_i64_or(rows, STATIC, -1), dynamic = rows_i64_or(rows, DYNAMIC, -1);
    bool shares = fixed >= 0 && fixed <= INT32_MAX && dynamic >= 0 && dynamic <= INT32_MAX;
    for (unsigned i = 0; i < 3; i++) {
        record->shape.grid[i] = small(rows, GRID + i, 0);
        record->shape.block[i] = small(rows, BLOCK + i, 0);
    }
    record->shape.registers = small(rows, REGISTERS, -1);
    record->shape.shared_bytes = shares ? fixed + dynamic : VALUE_ABSENT;
    return name_kernel(nsys, rows, &record->name, err);
}

// --- copies -------------------------------------------------------------------------------------

#define COPY_COLUMNS ACTIVITY_COLUMNS "bytes copyKind srcKind dstKind"
enum { BYTES = ACTIVITY_COUNT, COPY_KIND, FROM_KIND, TO_KIND };
#define MEMSET_COLUMNS ACTIVITY_COLUMNS "bytes memKind"
enum { MEMORY_KIND = ACTIVITY_COUNT + 1 };

// Kineto's words, so that copies have the same names in traces of both.
static const char *memory_word(int64_t kind)
{
    static const char *const words[] = {"Pageable", "Pinned",        "Device",        "Array",
                                        "Managed",  "Device Static", "Managed Static"};
    return kind >= 0 && (size_t)kind < sizeof words / sizeof *words ? words[kind] : "Unknown";
}

const char *nsys_copy_word(int64_t kind)
{
    static const char *const words[NSYS_COPY_KINDS] = {
        "Unknown", "HtoD", "DtoH", "HtoA", "AtoH",     "AtoA",     "AtoD",
        "DtoA",    "DtoD", "HtoH", "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
    return kind >= 0 && kind < NSYS_COPY_KINDS ? words[kind] : "Unknown";
}

static void take_bytes(const struct rows *rows, struct event_record *record)
{
    int64_t bytes = rows_i64_or(rows, BYTES, VALUE_ABSENT);
    record->shape.bytes = bytes >= 0 ? bytes : VALUE_ABSENT;
}

static bool complete_copy(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                          struct err *err)
{
    char name[80];
    snprintf(
        name, sizeof name, "Memcpy %s (%s -> %s)", nsys_copy_word(rows_i64_or(rows, COPY_KIND, 0)),
        memory_word(rows_i64_or(rows, FROM_KIND, -1)), memory_word(rows_i64_or(rows, TO_KIND, -1)));
    take_bytes(rows, record);
    return trace_builder_text(nsys->builder, str_of(name), ERR_NO_POS, &record->name, err);
}

static bool complete_memset(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                            struct err *err)
{
    char name[80];
    snprintf(name, sizeof name, "Memset (%s)", memory_word(rows_i64_or(rows, MEMORY_KIND, -1)));
    take_bytes(rows, record);
    return trace_builder_text(nsys->builder, str_of(name), ERR_NO_POS, &record->name, err);
}

// --- graphs -------------------------------------------------------------------------------------

#define GRAPH_COLUMNS ACTIVITY_COLUMNS "graphId"
enum { GRAPH = ACTIVITY_COUNT };

static bool complete_graph(struct nsys *nsys, const struct rows *rows, struct event_record *record,
                           struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "CUDA graph %lld", (long long)rows_i64_or(rows, GRAPH, 0));
    return trace_builder_text(nsys->builder, str_of(name), ERR_NO_POS, &record->name, err);
}

// --- all tables ---------------------------------------------------------------------------------

static const struct activity activities[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", KERNEL_COLUMNS, EVENT_KERNEL, complete_kernel},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", COPY_COLUMNS, EVENT_MEMCPY, complete_copy},
    {"CUPTI_ACTIVITY_KIND_MEMSET", MEMSET_COLUMNS, EVENT_MEMSET, complete_memset},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GRAPH_COLUMNS, EVENT_GRAPH, complete_graph},
};
enum { ACTIVITIES = sizeof activities / sizeof *activities };

static bool add_activity(struct nsys *nsys, const struct event_record *record, struct err *err)
{
    struct str name = strtab_get(trace_builder_strings(nsys->builder), record->name);
    return record->kind == EVENT_KERNEL && str_starts_with(name, STR("nccl"))
               ? nccl_kernel(nsys->nccl, record, err)
               : trace_builder_add(nsys->builder, record, err);
}

struct activity_walk {
    struct nsys *nsys;
    const struct activity *activity;
};

static bool take_activity(void *context, const struct rows *rows, struct err *err)
{
    const struct activity_walk *walk = context;
    struct event_record record;
    bool skip;
    if (!start_activity(walk->nsys, rows, walk->activity->kind, &record, &skip, err))
        return false;
    return skip || (walk->activity->complete(walk->nsys, rows, &record, err) &&
                    add_activity(walk->nsys, &record, err));
}

bool nsys_read_device(struct nsys *nsys, struct err *err)
{
    for (size_t i = 0; i < ACTIVITIES; i++) {
        struct activity_walk walk = {nsys, &activities[i]};
        uint64_t before = nsys->tables.rows;
        if (!table_reader_each(&nsys->tables, activities[i].table, activities[i].columns,
                               take_activity, &walk, err))
            return false;
        if (nsys->text_row > before && !nsys->is_timed)
            return err_set(err, ERR_FORMAT,
                           "found text as the time of row %llu of %s, expected integers, in "
                           "nanoseconds: make it again with nsys export --type sqlite",
                           (unsigned long long)(nsys->text_row - before), activities[i].table);
    }
    return true;
}

// --- processes ----------------------------------------------------------------------------------

static bool take_user(void *context, const struct rows *rows, struct err *err)
{
    int64_t process;
    (void)err;
    if (rows_i64(rows, 0, &process))
        device_users_add(context, process & NSYS_PROCESS_BITS, rows_i64_or(rows, 1, 0));
    return true;
}

// By device and process. NULL with err set.
static struct device_users *find_users(struct database *database, struct err *err)
{
    struct device_users *users = calloc(1, sizeof *users);
    bool ok = users || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; ok && i < ACTIVITIES; i++)
        ok = rows_each(database, activities[i].table, "globalPid deviceId", take_user, users, err);
    if (ok) {
        device_users_sort(users);
        return users;
    }
    free(users);
    return NULL;
}

// Users among the rows of all processes, not only of the one that is read.
static bool find_all_users(struct nsys *nsys, struct err *err)
{
    database_only(nsys->tables.database, NULL);
    nsys->users = find_users(nsys->tables.database, err);
    database_only(nsys->tables.database, nsys->own);
    return nsys->users;
}

bool nsys_parts(struct source *source, struct format_parts *parts, struct err *err)
{
    struct database *database = database_open(source, NULL, err);
    struct device_users *users = database ? find_users(database, err) : NULL;
    bool ok = users;
    if (ok)
        device_users_list(users, parts);
    free(users);
    database_close(database);
    return ok;
}

bool nsys_owns(struct nsys *nsys, int64_t global, int64_t device, bool *own, struct err *err)
{
    *own = nsys_is_own(nsys, global);
    if (global != VALUE_ABSENT || nsys->tables.input->part == FORMAT_WHOLE)
        return true;
    if (!nsys->users && !find_all_users(nsys, err))
        return false;
    *own = nsys->users->count < 2 || device_users_home(nsys->users, device) == nsys->process;
    return true;
}
