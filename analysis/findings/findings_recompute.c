// SPDX-License-Identifier: Apache-2.0
// The rule about what activation checkpointing repeats.
#include "analysis/findings/findings.h"

#include "analysis/report/tables.h"

// Without Python frames, collectives launched by hooks in a checkpointed function's backward cannot
// be distinguished from repeated ones; gradients are far more common.
static bool is_repeated(const struct facts *facts, uint32_t device)
{
    uint32_t launch = facts->devices[device].launch;
    bool unsure = facts->devices[device].class == CLASS_COMMUNICATION && !facts->frame_state;
    return launch != FACTS_NONE && facts->launches[launch].recompute && !unsure;
}

static int64_t claim_repeated(const struct finding_case *the_case, const void *context,
                              const struct atom *atom)
{
    (void)context;
    return !atom->gap && is_repeated(the_case->facts, atom->device) ? atom->ns : 0;
}

// Smallest share of a device's memory that was never held; negative if unknown.
static double free_share(const struct report *report)
{
    const struct table *memory = report_find(report, "memory");
    double least = -1;
    for (size_t i = 0; memory && i < memory->row_count; i++) {
        const struct cell *capacity = table_cell(memory, i, MEMORY_CAPACITY_BYTES);
        const struct cell *held = table_cell(memory, i, MEMORY_PEAK_RESERVED_BYTES);
        if (capacity->null || held->null || capacity->i <= 0)
            continue;
        double share = 1 - (double)held->i / (double)capacity->i;
        least = least < 0 || share < least ? share : least;
    }
    return least;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    if (!findings_cost(the_case, finding, claim_repeated, NULL, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_RECOMPUTE_SHARE);
    if (!*fires)
        return true;
    double spare = free_share(the_case->report);
    struct evidence evidence = {0};
    finding->confidence = spare >= 0 ? "high" : "medium";
    finding->title = arena_printf(the_case->arena, err,
                                  "activation checkpointing repeats %s of the forward %s (%.1f %%)",
                                  time_text(finding->cost_ns).text, the_case->per,
                                  findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "modules", "%s of repeated forward passes %s",
                 time_text(finding->cost_ns).text, the_case->per);
    if (spare >= 0)
        evidence_add(&evidence, "memory", "%.0f %% of the device's memory was never used",
                     100 * spare);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_recompute = {
    .name = "recompute",
    .change = "no_recompute",
    .why =
        "Checkpointing drops activations to save memory and recomputes them in the backward pass.",
    .advice =
        "Where memory allows, checkpoint fewer layers, or selectively: keep results that are "
        "expensive to compute (products, attention), recompute cheap ones (norms, activations).",
    .method = "Owned time of device events launched in forward passes that the backward repeats, "
              "per steady step; reported from 2 % of the step.",
    .false_alarms = "A model that does not fit into memory otherwise.",
    .check = check,
};
