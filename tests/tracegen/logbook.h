// SPDX-License-Identifier: Apache-2.0
// The truth of one rank: what its device did, summed step by step as it is generated.
#pragma once

#include "tests/tracegen/ledger.h"
#include "tests/tracegen/program.h"

#include <stddef.h>
#include <stdint.h>

enum logbook_class { LOGBOOK_COMPUTE, LOGBOOK_COMMUNICATION, LOGBOOK_MEMORY, LOGBOOK_CLASSES };

// Exclusive times of one window: window = compute + exposed_comm + exposed_memory + idle.
struct logbook_times {
    int64_t events;
    int64_t class_events[LOGBOOK_CLASSES], class_sum_ns[LOGBOOK_CLASSES];
    int64_t window_ns, compute_ns, exposed_comm_ns, exposed_memory_ns, idle_ns;
    int64_t busy_ns, total_comm_ns, total_memory_ns;
};

struct logbook_step {
    int32_t number;               // N of ProfilerStep#N
    int64_t begin_ns, end_ns;     // from the end of the previous step to the end of its last event
    int64_t wait_ns, transfer_ns; // of its collectives
    int64_t plant_ns[PLANT_COUNT];
    struct logbook_times times;
};

// One device event. Each instant of a step belongs to one of the events running then: compute
// before communication before memory, then the one that started first.
struct logbook_span {
    int64_t begin_ns, end_ns, owned_ns;
    enum logbook_class class;
    const struct instruction *work;
    const struct instruction *op; // that launched it, NULL for none
    uint32_t op_call;             // which call of it
    const struct vendor_api *api; // the launching call, NULL if the trace has none
    int64_t api_begin_ns, api_end_ns;
};

// Time without device work.
struct logbook_gap {
    int64_t begin_ns, end_ns;
    enum idle_cause cause;
};

struct logbook {
    struct logbook_step *steps;
    size_t step_count, step_capacity;
    struct logbook_span *spans; // of the open step
    size_t span_count, span_capacity;
    int64_t plant_ns[PLANT_COUNT]; // of the open step
    int64_t wait_ns, transfer_ns;
    struct logbook_gap *gaps; // of all closed steps, with a planted cause
    size_t gap_count, gap_capacity;
    struct ledger ledger;        // of all closed steps
    bool keeps_events;           // keeps the spans of closed steps
    struct logbook_span *events; // of all closed steps
    size_t event_count, event_capacity;
};

void logbook_add(struct logbook *logbook, const struct logbook_span *span);

// Ends the open step. Its spans must start at or after the end of all earlier ones, and the last to
// end must be compute, which is where a step ends.
void logbook_close_step(struct logbook *logbook, int32_t number);

// The sum over all closed steps, from the start of the first event to the end of the last.
struct logbook_times logbook_total(const struct logbook *logbook);

void logbook_free(struct logbook *logbook);
