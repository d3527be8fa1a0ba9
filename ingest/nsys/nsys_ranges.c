// SPDX-License-Identifier: Apache-2.0
// NVTX ranges of the host.
#include "ingest/nsys/nsys.h"

#define RANGE_COLUMNS "start end eventType text textId globalTid domainId"
enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, DOMAIN };

enum {
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60,
    NVTX_EXTENDED_PUSH_POP = 70,
    NVTX_EXTENDED_START_END = 71,
};

bool nsys_is_range(int64_t type)
{
    return type == NVTX_PUSH_POP || type == NVTX_START_END || type == NVTX_EXTENDED_PUSH_POP ||
           type == NVTX_EXTENDED_START_END;
}

bool nsys_label(const struct nsys *nsys, const struct rows *rows, unsigned text, struct str *label)
{
    int64_t id;
    return rows_text(rows, text, label) ||
           (rows_i64(rows, text + 1, &id) && text_table_find(&nsys->texts, id, label));
}

// Registered texts are in the table of texts, others in the row; neither occurs, too.
static bool name_range(struct nsys *nsys, const struct rows *rows, str_id *name, struct err *err)
{
    struct str text;
    int64_t id;
    if (rows_text(rows, TEXT, &text))
        return trace_builder_text(nsys->builder, text, ERR_NO_POS, name, err);
    *name = 0;
    return !rows_i64(rows, TEXT_ID, &id) || text_table_intern(&nsys->texts, id, name, err);
}

static bool read_range(struct nsys *nsys, const struct rows *rows, struct err *err)
{
    struct event_record record = nsys_record(EVENT_ANNOTATION);
    int64_t thread = rows_i64_or(rows, THREAD, VALUE_ABSENT), end_ns;
    if (!nsys_go_on(nsys, err))
        return false;
    if (!nsys_is_range(rows_i64_or(rows, TYPE, 0)) || !nsys_is_own(nsys, thread))
        return true;
    if (!rows_i64(rows, END, &end_ns)) {
        trace_builder_repair(nsys->builder, REPAIR_BEGIN_WITHOUT_END, ERR_NO_POS);
        end_ns = trace_builder_last_ns(nsys->builder);
    }
    if (!nsys_times(nsys, rows_i64_or(rows, START, VALUE_ABSENT), end_ns, &record))
        return true;
    thread = thread == VALUE_ABSENT ? 0 : thread;
    record.pid.number = nsys_pid(thread);
    record.tid.number = nsys_tid(thread);
    return name_range(nsys, rows, &record.name, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

bool nsys_read_ranges(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    bool ok = rows_open(nsys->database, "NVTX_EVENTS", RANGE_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = read_range(nsys, &rows, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}
