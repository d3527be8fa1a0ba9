// SPDX-License-Identifier: Apache-2.0
// The rule that carries the trust report's warnings into the findings.
#include "analysis/findings.h"
#include "analysis/quality.h"

static size_t count_severe(const struct table *quality, const char **worst)
{
    size_t count = 0;
    for (size_t i = 0; i < quality->row_count; i++) {
        if (str_equal(table_cell(quality, i, "severity")->s, STR("info")))
            continue;
        if (count++ == 0)
            *worst = table_cell(quality, i, "detail")->s.at;
    }
    return count;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    const struct table *quality = report_find(the_case->report, "quality");
    const char *worst = NULL;
    size_t count = quality ? count_severe(quality, &worst) : 0;
    *fires = count > 0;
    if (!*fires)
        return true;
    bool error = strcmp(quality_worst(the_case->report), "error") == 0;
    finding->severity = error ? "medium" : "info";
    finding->confidence = "high";
    finding->title = arena_printf(the_case->arena, err, "the trace has %zu known defect%s", count,
                                  count == 1 ? "" : "s");
    finding->evidence = findings_fact(the_case, "quality", err, "%s", worst ? worst : "");
    return finding->title && finding->evidence;
}

const struct finding_rule finding_data_quality = {
    .name = "data_quality",
    .why = "Events were repaired, left out or cut, so that some figures stand on less than was "
           "recorded.",
    .advice = "Read the trust report; record again when it concerns what you look at.",
    .method = "Rows of the trust report with severity warning or error. It costs no time itself.",
    .false_alarms = "A cut at the end of a long recording hardly changes figures per step.",
    .check = check,
};
