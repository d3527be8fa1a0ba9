// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/event_record.h"

struct event_record event_record_of(enum event_kind kind)
{
    return (struct event_record){
        .kind = kind,
        .correlation = VALUE_ABSENT,
        .sequence = VALUE_ABSENT,
        .shape = {.registers = -1,
                  .occupancy_percent = -1,
                  .shared_bytes = VALUE_ABSENT,
                  .bytes = VALUE_ABSENT},
        .memory = {VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, -1, -1, 0, 0}};
}

static bool is_time(int64_t ns)
{
    return ns > -TRACE_MAX_NS && ns < TRACE_MAX_NS;
}

bool event_record_times(struct trace_builder *builder, struct event_record *record,
                        int64_t start_ns, int64_t end_ns, uint64_t pos)
{
    if (!is_time(start_ns) || !is_time(end_ns)) {
        bool timed = event_kind_is_timed(record->kind);
        trace_builder_repair(builder, timed ? REPAIR_INCOMPLETE : REPAIR_INCOMPLETE_OTHER, pos);
        return false;
    }
    record->begin_ns = start_ns;
    record->dur_ns = end_ns - start_ns;
    if (record->dur_ns < 0 && !event_kind_is_device(record->kind)) {
        trace_builder_repair(builder, REPAIR_NEGATIVE_DURATION, pos);
        record->dur_ns = 0;
    }
    return true;
}
