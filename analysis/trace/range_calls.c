// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_calls.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/trace/analyses.h"

// Rows follow the device's communication; those of a batch after its first repeat the kernel.
static bool find_sets(const struct range_tree *tree, const uint32_t *node_sets,
                      struct range_calls *calls, struct err *err)
{
    const struct facts *facts = tree->facts;
    const uint32_t *devices = facts->class_devices + facts->class_first[CLASS_COMMUNICATION];
    uint32_t *sets = arena_array(tree->arena, calls->calls->row_count, sizeof *sets, err);
    uint32_t next = 0;
    for (size_t i = 0; sets && i < calls->calls->row_count; i++) {
        if (table_i64(calls->calls, i, COMM_CALLS_PART, 0) == 0)
            next++;
        uint32_t call = tree->device_call[devices[next - 1]];
        sets[i] = call == FACTS_NONE ? 0 : node_sets[tree->calls[call].node];
    }
    calls->sets = sets;
    return sets;
}

bool range_calls_make(const struct range_tree *tree, const uint32_t *node_sets,
                      const struct report *report, struct range_calls *calls, struct err *err)
{
    *calls = (struct range_calls){.ops = report_find(report, table_comm_ops.name),
                                  .calls = report_find(report, table_comm_calls.name)};
    return !calls->calls || find_sets(tree, node_sets, calls, err);
}

bool range_calls_add(const struct range_calls *calls, unsigned range, size_t most,
                     struct report *report, struct err *err)
{
    struct cell cells[TABLE_MAX_COLUMNS];
    size_t count = calls->calls ? calls->calls->row_count : 0, added = 0;
    int64_t op_count = 0;
    int64_t *ops = arena_array(report->arena, count ? calls->ops->row_count : 0, sizeof *ops, err);
    bool ok = ops; // from 1, 0: none yet
    for (size_t i = 0; ok && i < count; i++) {
        if (!(calls->sets[i] >> range & 1))
            continue;
        size_t op = (size_t)table_i64(calls->calls, i, COMM_CALLS_OP, 0);
        if (ops[op] == 0) {
            ops[op] = ++op_count;
            ok = report_add(report, &table_comm_ops,
                            calls->ops->cells + op * table_comm_ops.column_count, err);
        }
        if (added++ >= most)
            continue;
        memcpy(cells, calls->calls->cells + i * table_comm_calls.column_count,
               table_comm_calls.column_count * sizeof *cells);
        cells[column_place(&table_comm_calls, COMM_CALLS_OP)] = cell_i64(ops[op] - 1);
        ok = ok && report_add(report, &table_comm_calls, cells, err);
    }
    return ok;
}
