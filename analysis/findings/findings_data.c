// SPDX-License-Identifier: Apache-2.0
// The rule that turns the trust report's warnings into findings.
#include "analysis/findings/findings.h"

#include "analysis/report/tables.h"

// Counts rows of a severity; *first becomes the detail of the first one unless already set.
static size_t count_rows(const struct table *trust, struct str severity, const char **first)
{
    size_t count = 0;
    for (size_t i = 0; i < trust->row_count; i++) {
        if (!str_equal(table_cell(trust, i, TRUST_SEVERITY)->s, severity))
            continue;
        count++;
        if (!*first)
            *first = table_cell(trust, i, TRUST_DETAIL)->s.at;
    }
    return count;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const struct table *trust = report_find(the_case->report, "trust");
    const char *worst = NULL;
    size_t errors = trust ? count_rows(trust, STR("error"), &worst) : 0;
    size_t count = errors + (trust ? count_rows(trust, STR("warning"), &worst) : 0);
    *fires = count > 0;
    if (!*fires)
        return true;
    finding->severity = errors ? "medium" : "info";
    finding->confidence = "high";
    finding->title = arena_printf(the_case->arena, err, "the trace has %zu known defect%s", count,
                                  count == 1 ? "" : "s");
    finding->evidence = findings_fact(the_case, "trust", err, "%s", worst);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_data_quality = {
    .name = "data_quality",
    .why = "Events were repaired, left out or cut, so some figures are based on incomplete data.",
    .advice = "Read the trust report; record again if it affects the figures you need.",
    .method = "Rows of the trust report with severity warning or error. No direct cost.",
    .false_alarms = "A cut at the end of a long recording barely changes figures per step.",
    .check = check,
};
