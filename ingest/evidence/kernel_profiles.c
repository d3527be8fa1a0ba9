// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

#include <math.h>

static const char *const words[] = {
    "long_scoreboard",
    "short_scoreboard",
    "wait",
    "not_selected",
    "selected",
    "barrier",
    "branch_resolve",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "sleeping",
    "tex_throttle",
    "gmma",
    "warpgroup_arrive",
    "branch_resolving",
    "no_instructions",
    "dispatch",
    // rocprof-compute
    "dependency_wait",
    "issue_wait",
};
_Static_assert(sizeof words / sizeof *words <= PROFILE_STALLS, "there is no room for all stalls");

const char *profile_stall_word(unsigned stall)
{
    return stall < sizeof words / sizeof *words ? words[stall] : NULL;
}

unsigned profile_stall_of(struct str name)
{
    for (unsigned i = 0; profile_stall_word(i); i++)
        if (str_equal(name, str_of(words[i])))
            return i;
    return PROFILE_STALLS;
}

struct kernel_profile *kernel_profiles_add(struct evidence *evidence, struct err *err)
{
    struct kernel_profiles *profiles = &evidence->profiles;
    if (profiles->count == PROFILE_MOST_LAUNCHES) {
        profiles->left_out++;
        return NULL;
    }
    struct kernel_profile *grown = budget_room(evidence->budget, profiles->items, &profiles->cap,
                                               profiles->count + 1, sizeof *grown, err);
    if (!grown)
        return NULL;
    profiles->items = grown;
    struct kernel_profile *added = &grown[profiles->count++];
    *added = (struct kernel_profile){
        .kernel = STR(""), .launch = -1, .process = -1, .device = -1, .capability = STR("")};
    for (int i = 0; i < PROFILE_FIGURES; i++)
        added->figures[i] = NAN;
    for (int i = 0; i < PROFILE_STALLS; i++)
        added->stalls[i] = NAN;
    return added;
}

void kernel_profiles_free(struct kernel_profiles *profiles, struct budget *budget)
{
    budget_free(budget, profiles->items, profiles->cap * sizeof *profiles->items);
    *profiles = (struct kernel_profiles){0};
}
