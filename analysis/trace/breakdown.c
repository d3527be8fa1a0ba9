// SPDX-License-Identifier: Apache-2.0
// Where device time went: all devices merged, each device separately, and over the steady steps.
#include "analysis/trace/analyses.h"
#include "analysis/facts/sweep.h"
#include "analysis/report/tables.h"

// What a row covers.
struct scope {
    const char *word;
    const char *device; // NULL: all merged
    int64_t steps;      // -1: not by steps
};

static bool add_row(struct report *report, struct scope scope, const struct parts *parts,
                    struct err *err)
{
    struct row row = {.desc = &table_breakdown};
    row_word(&row, BREAKDOWN_SCOPE, scope.word);
    row_word(&row, BREAKDOWN_DEVICE, scope.device);
    row_i64_if(&row, BREAKDOWN_STEPS, scope.steps >= 0, scope.steps);
    parts_row(&row, BREAKDOWN_TIMES, parts);
    return row_end(&row, report, err);
}

static void add_to_parts(void *context, const struct segment *segment)
{
    sweep_add(context, segment);
}

static bool add_devices(const struct facts *facts, struct report *report, struct err *err)
{
    for (uint32_t g = 0; g < facts->gpu_count && g < FACTS_DEVICE_ROWS; g++) {
        struct parts parts = {0};
        char text[32];
        struct str name = facts_label(facts->trace, facts->gpus[g], text);
        if (facts->gpu_count == 1)
            parts = facts->whole;
        else
            sweep_run(facts, g, add_to_parts, &parts);
        if (!add_row(report, (struct scope){"device", name.at, -1}, &parts, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    if (facts->device_count == 0)
        return true;
    if (!add_row(report, (struct scope){"trace", NULL, -1}, &facts->whole, err) ||
        !add_row(report, (struct scope){"steady", NULL, facts->steady_count}, &facts->steady, err))
        return false;
    return add_devices(facts, report, err);
}

const struct analysis breakdown_analysis = {"breakdown", run};
