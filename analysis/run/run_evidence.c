// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_evidence.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

static bool take_doubts(const struct table *trust, struct report *report, struct err *err)
{
    for (size_t i = 0; i < trust->row_count; i++) {
        struct row row = {.desc = &table_run_trust};
        row_copy(&row, trust_doubt(&table_run_trust), trust, i, trust_doubt(&table_trust));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool take_tables(const struct report *found, struct report *report, struct err *err)
{
    for (unsigned i = 0; i < found->table_count; i++) {
        const struct table *table = &found->tables[i];
        if (table->desc == &table_trust ? !take_doubts(table, report, err)
                                        : !report_append(report, table, err))
            return false;
    }
    return true;
}

// The rows stay where they were loaded, in the report's own arena.
bool run_take_evidence(const struct rank_source *source, struct report *report, struct err *err)
{
    for (size_t i = 0; i < source->evidence_count; i++) {
        struct report found = {.arena = report->arena};
        if (!source->load(source->context, source->count + i, evidence_tables, &found, err) ||
            !take_tables(&found, report, err))
            return false;
    }
    return true;
}
