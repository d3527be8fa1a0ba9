// SPDX-License-Identifier: Apache-2.0
// PLACEHOLDER
#include "analysis/context.h"

bool context_make(struct facts *facts, struct err *err)
{
    facts->modules = arena_array(facts->arena, 1, sizeof *facts->modules, err);
    facts->module_count = 1;
    return facts->modules != NULL;
}

bool context_at(const struct facts *facts, uint32_t event, struct context *context, struct err *err)
{
    (void)facts;
    (void)event;
    (void)err;
    *context = (struct context){FACTS_NONE, FACTS_NONE, 0};
    return true;
}

struct str context_module_path(const struct facts *facts, uint32_t module, struct arena *arena,
                               struct err *err)
{
    (void)facts;
    (void)module;
    (void)arena;
    (void)err;
    return STR("");
}
