// SPDX-License-Identifier: Apache-2.0
// Communication call by call, and grouped by process group and by size.
#include "analysis/trace/analyses.h"
#include "analysis/comm/comm_calls.h"
#include "analysis/comm/comm_table.h"
#include "analysis/trace/step_passes.h"

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct comm_calls calls;
    struct comm_phases phases;
    return comm_calls_make(facts, scratch, &calls, err) &&
           (calls.count == 0 || (process_groups_add(facts, &calls, report, err) &&
                                 comm_sizes_add(facts, &calls, report, err) &&
                                 comm_phases_make(facts, scratch, &phases, err) &&
                                 comm_table_add(facts, &calls, &phases, report, err) &&
                                 step_passes_add(facts, &phases, report, err)));
}

const struct analysis communication_analysis = {"communication", run};

// Communication by size for a part of a trace; its calls are chosen from those of the whole.
static bool run_sizes(const struct facts *facts, struct arena *scratch, struct report *report,
                      struct err *err)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    struct comm_calls calls;
    if (first[0] == first[1])
        return true;
    return comm_calls_make(facts, scratch, &calls, err) &&
           comm_sizes_add(facts, &calls, report, err);
}

const struct analysis comm_sizes_analysis = {"comm_sizes", run_sizes};
