// SPDX-License-Identifier: Apache-2.0
// Device work: kernels, copies, memsets, and graphs recorded as a whole.
#include "ingest/nsys/nsys_nccl.h"

#include <stdio.h>
#include <stdlib.h>

// --- rows of devices ----------------------------------------------------------------------------

// The first columns of all tables of activities.
#define ACTIVITY_COLUMNS "start end deviceId streamId correlationId globalPid "
enum { DEVICE = 2, STREAM, CORRELATION, PROCESS, ACTIVITY_COUNT };

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
    if ((uint64_t)record->pid.number < 64)
        nsys->used_devices |= UINT64_C(1) << record->pid.number;
    record->tid.number = rows_i64_or(rows, STREAM, 0);
    record->correlation = rows_i64_or(rows, CORRELATION, VALUE_ABSENT);
    *skip = !take_times(nsys, rows, record);
    return true;
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

struct user {
    int64_t device, process; // the first device it used
    uint64_t devices;        // all of them: bits by number, below 64
};

struct nsys_users {
    uint32_t count;
    struct user at[FORMAT_MAX_PARTS]; // the last seen first: it is mostly the next one, too
};

static uint64_t bit_of(int64_t device)
{
    return device >= 0 && device < 64 ? UINT64_C(1) << device : 0;
}

static bool take_user(void *context, const struct rows *rows, struct err *err)
{
    struct nsys_users *users = context;
    int64_t process, device = rows_i64_or(rows, 1, 0);
    uint32_t i = 0;
    (void)err;
    if (!rows_i64(rows, 0, &process))
        return true;
    struct user user = {device, process & NSYS_PROCESS_BITS, bit_of(device)};
    while (i < users->count && users->at[i].process != user.process)
        i++;
    if (i == FORMAT_MAX_PARTS)
        return true;
    if (i < users->count) {
        user.device = users->at[i].device < device ? users->at[i].device : device;
        user.devices |= users->at[i].devices;
    }
    users->count += i == users->count;
    memmove(users->at + 1, users->at, i * sizeof user);
    users->at[0] = user;
    return true;
}

static int by_device(const void *left, const void *right)
{
    const struct user *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

// By device and process. NULL with err set.
static struct nsys_users *find_users(struct database *database, struct err *err)
{
    struct nsys_users *users = calloc(1, sizeof *users);
    bool ok = users || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; ok && i < ACTIVITIES; i++)
        ok = rows_each(database, activities[i].table, "globalPid deviceId", take_user, users, err);
    if (ok) {
        qsort(users->at, users->count, sizeof *users->at, by_device);
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
    struct nsys_users *users = database ? find_users(database, err) : NULL;
    parts->count = users ? users->count : 0;
    for (uint32_t i = 0; i < parts->count; i++)
        parts->at[i] = users->at[i].process;
    bool ok = users;
    free(users);
    database_close(database);
    return ok;
}

// The only process that used the device, or else the first.
static int64_t home_of(const struct nsys_users *users, int64_t device)
{
    uint32_t found = 0, count = 0;
    for (uint32_t i = 0; i < users->count; i++)
        if (users->at[i].devices & bit_of(device)) {
            found = i;
            count++;
        }
    return users->at[count == 1 ? found : 0].process;
}

bool nsys_owns(struct nsys *nsys, int64_t global, int64_t device, bool *own, struct err *err)
{
    *own = nsys_is_own(nsys, global);
    if (global != VALUE_ABSENT || nsys->tables.input->part == FORMAT_WHOLE)
        return true;
    if (!nsys->users && !find_all_users(nsys, err))
        return false;
    *own = nsys->users->count < 2 || home_of(nsys->users, device) == nsys->process;
    return true;
}
