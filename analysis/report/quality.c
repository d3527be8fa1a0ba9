// SPDX-License-Identifier: Apache-2.0
// Writing and reading lines of the trust report.
#include "analysis/report/quality.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

bool quality_add(struct report *report, const struct quality *quality, struct err *err)
{
    struct row row = {.desc = &table_quality};
    row_word(&row, QUALITY_ITEM, quality->item);
    row_word(&row, QUALITY_SEVERITY, quality->severity);
    row_i64(&row, QUALITY_COUNT, quality->count);
    row_i64_if(&row, QUALITY_TIME_NS, quality->timed, quality->time_ns);
    row_i64_if(&row, QUALITY_POSITION, quality->placed, quality->position);
    row_word(&row, QUALITY_DETAIL, quality->detail);
    row_word(&row, QUALITY_EFFECT, quality->effect);
    return row_end(&row, report, err);
}

unsigned quality_trust(const struct table_desc *desc)
{
    return desc == &table_run_quality ? RUN_QUALITY_TRUST : QUALITY_TRUST;
}

int64_t quality_count(const struct report *report, const char *item)
{
    const struct table *table = report_find(report, "quality");
    unsigned trust = table ? quality_trust(table->desc) : 0;
    for (size_t i = 0; table && i < table->row_count; i++)
        if (table_is(table, i, trust + TRUST_ITEM, str_of(item)))
            return table_i64(table, i, trust + TRUST_COUNT, 0);
    return 0;
}

const char *quality_worst(const struct report *report)
{
    static const char *const severities[] = {"error", "warning", "info"};
    const struct table *table = report_find(report, "quality");
    unsigned severity = table ? quality_trust(table->desc) + TRUST_SEVERITY : 0;
    for (size_t s = 0; table && s < sizeof severities / sizeof *severities; s++)
        for (size_t i = 0; i < table->row_count; i++)
            if (table_is(table, i, severity, str_of(severities[s])))
                return severities[s];
    return NULL;
}
