// SPDX-License-Identifier: Apache-2.0
// Writing and reading lines of the trust report.
#include "analysis/report/trust.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

bool doubt_add(struct report *report, const struct doubt *doubt, struct err *err)
{
    struct row row = {.desc = &table_trust};
    row_word(&row, TRUST_ITEM, doubt->item);
    row_word(&row, TRUST_SEVERITY, doubt->severity);
    row_i64(&row, TRUST_COUNT, doubt->count);
    row_i64_if(&row, TRUST_TIME_NS, doubt->timed, doubt->time_ns);
    row_i64_if(&row, TRUST_POSITION, doubt->placed, doubt->position);
    row_word(&row, TRUST_DETAIL, doubt->detail);
    row_word(&row, TRUST_EFFECT, doubt->effect);
    return row_end(&row, report, err);
}

bool doubt_add_of_run(struct report *report, const struct doubt *doubt, struct err *err)
{
    struct row row = {.desc = &table_run_trust};
    row_word(&row, RUN_TRUST_ITEM, doubt->item);
    row_word(&row, RUN_TRUST_SEVERITY, doubt->severity);
    row_i64(&row, RUN_TRUST_COUNT, doubt->count);
    row_word(&row, RUN_TRUST_DETAIL, doubt->detail);
    row_word(&row, RUN_TRUST_EFFECT, doubt->effect);
    return row_end(&row, report, err);
}

unsigned trust_doubt(const struct table_desc *desc)
{
    return desc == &table_run_trust ? RUN_TRUST_DOUBT : TRUST_DOUBT;
}

// A figure of an item; 0 if it is missing.
static int64_t figure_of(const struct report *report, const char *item, unsigned column)
{
    const struct table *table = report_find(report, "trust");
    unsigned doubt = table ? trust_doubt(table->desc) : 0;
    for (size_t i = 0; table && i < table->row_count; i++)
        if (table_is(table, i, doubt + DOUBT_ITEM, str_of(item)))
            return table_i64(table, i, doubt + column, 0);
    return 0;
}

int64_t trust_count(const struct report *report, const char *item)
{
    return figure_of(report, item, DOUBT_COUNT);
}

int64_t trust_time_ns(const struct report *report, const char *item)
{
    return figure_of(report, item, DOUBT_TIME_NS);
}

bool trust_lacks_steps(const struct report *report, int64_t rank)
{
    const struct table *trust = report_find(report, "trust");
    for (size_t i = 0; trust && i < trust->row_count; i++)
        if (table_is(trust, i, RUN_TRUST_ITEM, STR("no_steps")) &&
            table_i64(trust, i, RUN_TRUST_RANK, -1) == rank)
            return true;
    return false;
}

const char *trust_worst(const struct report *report)
{
    static const char *const severities[] = {"error", "warning", "info"};
    const struct table *table = report_find(report, "trust");
    unsigned severity = table ? trust_doubt(table->desc) + DOUBT_SEVERITY : 0;
    for (size_t s = 0; table && s < sizeof severities / sizeof *severities; s++)
        for (size_t i = 0; i < table->row_count; i++)
            if (table_is(table, i, severity, str_of(severities[s])))
                return severities[s];
    return NULL;
}
