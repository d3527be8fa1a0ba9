// SPDX-License-Identifier: Apache-2.0
// Classifies host names by prefix and suffix.
#include "analysis/names/host_names.h"

// "torch/utils/checkpoint.py(1500): recompute_fn", whatever the version calls the function.
static bool is_recompute(struct str name)
{
    static const char *const functions[] = {"): recompute_fn", "): unpack_hook", "): unpack",
                                            "): backward"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_ends_with(name, str_of(functions[i])))
            return str_find(name, STR("checkpoint.py(")) != SIZE_MAX;
    return false;
}

// "AddmmBackward0", "FooBackward".
static bool is_node(struct str name)
{
    name.len = str_digits_start(name, name.len);
    return str_ends_with(name, STR("Backward"));
}

static enum host_name kind_of(struct str name)
{
    if (str_starts_with(name, STR("nn.Module: ")))
        return NAME_MODULE;
    if (str_starts_with(name, STR("autograd::engine::evaluate_function")))
        return str_find(name, STR("Checkpoint")) == SIZE_MAX ? NAME_EVALUATE
                                                             : NAME_EVALUATE_CHECKPOINT;
    if (is_node(name))
        return NAME_NODE;
    if (str_ends_with(name, STR("run_backward")) ||
        str_starts_with(name, STR("<built-in method run_backward")))
        return NAME_RUN_BACKWARD;
    return is_recompute(name) ? NAME_RECOMPUTE : NAME_PLAIN;
}

bool host_names_make(struct host_names *names, const struct trace *trace, struct budget *budget,
                     struct err *err)
{
    *names = (struct host_names){.size = trace->strings.count};
    names->kinds = budget_alloc(budget, names->size, err);
    if (!names->kinds)
        return false;
    for (uint32_t id = 0; id < trace->strings.count; id++) {
        enum host_name kind = kind_of(trace_text(trace, id));
        names->kinds[id] = (uint8_t)kind;
        names->backward |= kind >= NAME_EVALUATE;
        names->checkpoint |= kind == NAME_RECOMPUTE || kind == NAME_EVALUATE_CHECKPOINT;
    }
    return true;
}

void host_names_free(struct host_names *names, struct budget *budget)
{
    budget_free(budget, names->kinds, names->size);
    names->kinds = NULL;
}
