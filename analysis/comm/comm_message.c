// SPDX-License-Identifier: Apache-2.0
// Symmetric memory, custom all-reduce and functional collectives have their tensors as inputs of
// the operator: symm_mem::one_shot_all_reduce(input, op, group), _C_custom_ar::all_reduce(handle,
// input, output, ...), _c10d_functional::all_gather_into_tensor(input, size, group).
#include "analysis/comm/comm_message.h"

#include "analysis/facts/op_args.h"
#include "analysis/facts/op_calls.h"

static const struct op_arg *tensor_at(const struct arg_list *args, uint32_t wanted, bool last)
{
    const struct op_arg *found = NULL;
    for (uint32_t i = 0; i < args->count; i++) {
        const struct op_arg *tensor = op_args_tensor(args, (int)i);
        if (tensor && tensor->rank > 0 && (last || wanted-- == 0)) {
            found = tensor;
            if (!last)
                break;
        }
    }
    return found;
}

// The largest tensor: what all ranks have together, whether it comes first or last.
static int64_t most_bytes(const struct arg_list *args)
{
    int64_t most = COUNT_UNKNOWN;
    for (uint32_t i = 0; i < args->count; i++) {
        const struct op_arg *tensor = op_args_tensor(args, (int)i);
        if (!tensor || tensor->rank == 0)
            continue;
        int64_t bytes = op_arg_bytes(tensor);
        if (!count_known(bytes))
            return COUNT_UNKNOWN;
        most = bytes > most ? bytes : most;
    }
    return most;
}

// The output counts: as given, or the input times the number of ranks. That number precedes the
// group, which comes last: all_gather_into_tensor(input, size, group), all_gather(input, dim, size,
// group).
static int64_t gathered_bytes(const struct arg_list *args)
{
    const struct op_arg *first = tensor_at(args, 0, false), *last = tensor_at(args, 0, true);
    int64_t ranks;
    if (first && last != first)
        return most_bytes(args);
    return first && op_args_int(args, (int)args->count - 2, &ranks) && ranks > 0
               ? count_mul(op_arg_bytes(first), ranks)
               : COUNT_UNKNOWN;
}

static int64_t bytes_of(struct str op, enum collective_kind kind, const struct arg_list *args)
{
    // one_shot_all_reduce_copy(buffer, input, ...): the buffer may be larger.
    bool second = str_find(op, STR("_reduce_copy")) != SIZE_MAX;
    const struct op_arg *input = tensor_at(args, second, false);
    switch (kind) {
    case KIND_REDUCE_SCATTER: return most_bytes(args);
    case KIND_ALL_REDUCE:
    case KIND_ALL_TO_ALL:
    case KIND_BROADCAST:
    case KIND_REDUCE: return input ? op_arg_bytes(input) : COUNT_UNKNOWN;
    case KIND_ALL_GATHER: return gathered_bytes(args);
    default: return COUNT_UNKNOWN;
    }
}

int64_t comm_message_bytes(const struct facts *facts, uint32_t device, enum collective_kind *kind)
{
    const struct trace *trace = facts->trace;
    uint32_t launch = facts->devices[device].launch;
    uint32_t op = launch == FACTS_NONE ? FACTS_NONE : facts->launches[launch].op;
    *kind = bandwidth_kind(trace_text(trace, facts_device_name(facts, device)));
    if (op == FACTS_NONE || *kind == KIND_BARRIER)
        return COUNT_UNKNOWN;
    struct str name = facts_short_name(trace, trace->name[op]);
    enum collective_kind said = bandwidth_kind(name);
    *kind = *kind == KIND_UNKNOWN ? said : *kind;
    uint32_t index = op_calls_inputs(trace, op);
    if (said == KIND_UNKNOWN || index == ARGS_NONE)
        return COUNT_UNKNOWN;
    const struct op_inputs *inputs = &trace->op_inputs[index];
    struct op_arg_texts texts = {.dims = trace_text(trace, inputs->dims),
                                 .types = trace_text(trace, inputs->types),
                                 .concrete = trace_text(trace, inputs->concrete)};
    struct arg_list args;
    op_args_parse(&texts, &args);
    return args.problem ? COUNT_UNKNOWN : bytes_of(name, said, &args);
}
