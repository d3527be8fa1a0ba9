// SPDX-License-Identifier: Apache-2.0
// Where device time went: all devices merged, each device alone, and over the steady steps.
#include "analysis/analyses.h"
#include "analysis/sweep.h"
#include "analysis/tables.h"

#define MAX_DEVICE_ROWS 4096 // more devices than any machine has come from a damaged file

// What a row covers.
struct scope {
    const char *word;
    const char *device; // NULL: all merged
    int64_t steps;      // -1: not by steps
};

static bool add_row(struct report *report, struct scope scope, const struct parts *parts,
                    struct err *err)
{
    struct row row = {0};
    row_word(&row, scope.word);
    row_word(&row, scope.device);
    row_i64_if(&row, scope.steps >= 0, scope.steps);
    parts_row(&row, parts);
    return row_end(&row, &table_breakdown, report, err);
}

static void add_to_parts(void *context, const struct segment *segment)
{
    sweep_add(context, segment);
}

// Indices of the device events by device, each ascending; first[g] .. first[g + 1] - 1 are g's.
static bool partition(const struct facts *facts, struct arena *arena, uint32_t **list,
                      uint32_t **first, struct err *err)
{
    *list = arena_array(arena, facts->device_count, sizeof **list, err);
    *first = arena_array(arena, (size_t)facts->gpu_count + 2, sizeof **first, err);
    if (!*list || !*first)
        return false;
    uint32_t *ends = *first + 1; // first[g + 1] counts up from g's begin to its end
    for (uint32_t i = 0; i < facts->device_count; i++)
        ends[facts->track_gpu[facts->devices[i].track] + 1]++;
    for (uint32_t g = 0; g < facts->gpu_count; g++)
        ends[g + 1] += ends[g];
    for (uint32_t i = 0; i < facts->device_count; i++)
        (*list)[ends[facts->track_gpu[facts->devices[i].track]]++] = i;
    return true;
}

static bool add_devices(const struct facts *facts, struct arena *arena, struct report *report,
                        struct err *err)
{
    uint32_t *list, *first;
    if (!partition(facts, arena, &list, &first, err))
        return false;
    for (uint32_t g = 0; g < facts->gpu_count && g < MAX_DEVICE_ROWS; g++) {
        struct parts parts = {0};
        char text[32];
        struct str name = facts_label(facts->trace, facts->gpus[g], text);
        if (facts->gpu_count == 1)
            parts = facts->whole;
        else
            sweep_run(facts, list + first[g], first[g + 1] - first[g], add_to_parts, &parts);
        if (!add_row(report, (struct scope){"device", name.at, -1}, &parts, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    if (facts->device_count == 0)
        return true;
    if (!add_row(report, (struct scope){"trace", NULL, -1}, &facts->whole, err) ||
        !add_row(report, (struct scope){"steady", NULL, facts->steady_count}, &facts->steady, err))
        return false;
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    bool ok = add_devices(facts, &scratch, report, err);
    arena_free(&scratch);
    return ok;
}

const struct analysis breakdown_analysis = {"breakdown", run};
