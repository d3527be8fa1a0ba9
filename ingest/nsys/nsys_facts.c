// SPDX-License-Identifier: Apache-2.0
// What the export says of the machine, the processes and itself.
#include "ingest/nsys/nsys.h"

// --- time ---------------------------------------------------------------------------------------

static bool read_start(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    int64_t base_ns = VALUE_ABSENT;
    bool ok = rows_open(nsys->database, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &rows, err);
    if (ok && rows_next(&rows))
        base_ns = rows_i64_or(&rows, 0, VALUE_ABSENT);
    trace_builder_base(nsys->builder, base_ns);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- devices ------------------------------------------------------------------------------------

#define DEVICE_COLUMNS "id cuDevice name totalMemory smCount computeMajor computeMinor"
enum { ID, ORDINAL, NAME, MEMORY, SM_COUNT, MAJOR, MINOR };

// The id is not the number that events use; that is the ordinal, where it is given.
static bool read_devices(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    bool ok = rows_open(nsys->database, "TARGET_INFO_GPU", DEVICE_COLUMNS, &rows, err);
    while (ok && rows_next(&rows)) {
        struct str name = STR("");
        int64_t id = rows_i64_or(&rows, ID, 0);
        struct trace_device device = {
            .id = rows_i64_or(&rows, ORDINAL, id),
            .memory_bytes = rows_i64_or(&rows, MEMORY, VALUE_ABSENT),
            .multiprocessors = rows_i64_or(&rows, SM_COUNT, VALUE_ABSENT),
            .compute_major = rows_i64_or(&rows, MAJOR, VALUE_ABSENT),
            .compute_minor = rows_i64_or(&rows, MINOR, VALUE_ABSENT),
        };
        (void)rows_text(&rows, NAME, &name);
        ok = trace_builder_text(nsys->builder, name, ERR_NO_POS, &device.name, err) &&
             trace_builder_device(nsys->builder, &device, err);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- threads ------------------------------------------------------------------------------------

static bool read_threads(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    int64_t thread, name;
    str_id text;
    bool ok = rows_open(nsys->database, "ThreadNames", "globalTid nameId", &rows, err);
    while (ok && rows_next(&rows)) {
        if (!rows_i64(&rows, 0, &thread) || !nsys_is_own(nsys, thread) ||
            !rows_i64(&rows, 1, &name))
            continue;
        ok = text_table_intern(&nsys->texts, name, &text, err) &&
             trace_builder_name_thread(nsys->builder, (struct label){nsys_pid(thread), 0},
                                       (struct label){nsys_tid(thread), 0}, text, err);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

bool nsys_read_facts(struct nsys *nsys, struct err *err)
{
    return read_start(nsys, err) && read_devices(nsys, err) && read_threads(nsys, err);
}
