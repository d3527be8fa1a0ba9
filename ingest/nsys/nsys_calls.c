// SPDX-License-Identifier: Apache-2.0
// What the host called: the CUDA runtime and driver, and waits.
#include "ingest/nsys/nsys.h"

#define CALL_COLUMNS "start end globalTid correlationId nameId eventClass"
enum { START, END, THREAD, CORRELATION, NAME, CLASS };

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
    while (at > 0 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9')
        at--;
    bool versioned = at < end && at > 2 && name.at[at - 1] == 'v' && name.at[at - 2] == '_';
    return (struct str){name.at, versioned ? at - 2 : name.len};
}

static bool name_call(struct nsys *nsys, int64_t id, str_id *name, struct err *err)
{
    struct str text;
    if (!text_table_find(&nsys->texts, id, &text))
        return text_table_intern(&nsys->texts, id, name, err);
    return trace_builder_text(nsys->builder, without_version(text), ERR_NO_POS, name, err);
}

static bool read_call(struct nsys *nsys, const struct rows *rows, struct err *err)
{
    bool driver = rows_i64_or(rows, CLASS, 0) == 1;
    struct event_record record = nsys_record(driver ? EVENT_DRIVER : EVENT_RUNTIME);
    if (!nsys_go_on(nsys, err))
        return false;
    if (!nsys_is_own(nsys, rows_i64_or(rows, THREAD, VALUE_ABSENT)) ||
        !nsys_times(nsys, rows_i64_or(rows, START, VALUE_ABSENT),
                    rows_i64_or(rows, END, VALUE_ABSENT), &record))
        return true;
    take_thread(rows, &record);
    record.correlation = rows_i64_or(rows, CORRELATION, VALUE_ABSENT);
    return name_call(nsys, rows_i64_or(rows, NAME, 0), &record.name, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

static bool read_calls(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    bool ok = rows_open(nsys->database, "CUPTI_ACTIVITY_KIND_RUNTIME", CALL_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = read_call(nsys, &rows, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- waits --------------------------------------------------------------------------------------

#define SYNC_COLUMNS "start end deviceId streamId globalPid correlationId syncType"
enum { SYNC_DEVICE = 2, SYNC_STREAM, SYNC_PROCESS, SYNC_CORRELATION, SYNC_TYPE };

// The words of Kineto.
static const char *sync_word(int64_t type)
{
    static const char *const words[] = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    return type >= 0 && (size_t)type < sizeof words / sizeof *words ? words[type] : "Unknown";
}

static bool read_sync(struct nsys *nsys, const struct rows *rows, struct err *err)
{
    struct event_record record = nsys_record(EVENT_SYNC);
    if (!nsys_go_on(nsys, err))
        return false;
    if (!nsys_is_own(nsys, rows_i64_or(rows, SYNC_PROCESS, VALUE_ABSENT)) ||
        !nsys_times(nsys, rows_i64_or(rows, START, VALUE_ABSENT),
                    rows_i64_or(rows, END, VALUE_ABSENT), &record))
        return true;
    record.pid.number = rows_i64_or(rows, SYNC_DEVICE, 0);
    record.tid.number = rows_i64_or(rows, SYNC_STREAM, -1);
    const char *word = sync_word(rows_i64_or(rows, SYNC_TYPE, 0));
    return trace_builder_text(nsys->builder, str_of(word), ERR_NO_POS, &record.name, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

static bool read_syncs(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    bool ok =
        rows_open(nsys->database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SYNC_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = read_sync(nsys, &rows, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

bool nsys_read_calls(struct nsys *nsys, struct err *err)
{
    return read_calls(nsys, err) && read_syncs(nsys, err);
}
