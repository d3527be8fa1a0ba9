// SPDX-License-Identifier: Apache-2.0
// Appends instructions, and models the time of single kernels.
#include "tests/tracegen/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_FLOOR_NS = 1400, GEMM_FLOOR_NS = 2500, BF16_BYTES = 2 };

static void keep(struct program *program, void *memory)
{
    if (program->text_count == program->text_capacity) {
        program->text_capacity = program->text_capacity * 2 + 64;
        program->texts = realloc(program->texts, program->text_capacity * sizeof(void *));
        if (!program->texts)
            outfile_die("found no memory for a program's texts");
    }
    program->texts[program->text_count++] = memory;
}

const char *builder_text(struct builder *b, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        outfile_die("found no memory for a text");
    va_end(arguments);
    keep(b->program, text);
    return text;
}

void *builder_table(struct builder *b, size_t count, size_t size)
{
    void *table = outfile_memory(count, size);
    keep(b->program, table);
    return table;
}

void builder_finish(struct builder *b)
{
    free(b->sequence_paths);
    b->sequence_paths = NULL;
}

// Rows that an instruction adds to the trace, including arrows.
static int64_t count_rows(const struct instruction *instruction)
{
    switch (instruction->code) {
    case CODE_BEGIN: return instruction->links ? 2 : 1;
    case CODE_LAUNCH:
    case CODE_UNLINKED:
    case CODE_COPY:
    case CODE_SET: return 4;
    case CODE_COLLECTIVE: return 8;
    case CODE_GRAPH: return 2 + 2 * (int64_t)instruction->kernels;
    case CODE_ALLOCATE:
    case CODE_RELEASE:
    case CODE_CALL:
    case CODE_WAIT: return 1;
    default: return 0;
    }
}

void builder_add(struct builder *b, const struct instruction *instruction)
{
    struct program *program = b->program;
    if (program->count == program->capacity) {
        program->capacity = program->capacity * 2 + 1024;
        program->instructions =
            realloc(program->instructions, program->capacity * sizeof *program->instructions);
        if (!program->instructions)
            outfile_die("found no memory for %zu instructions", program->capacity);
    }
    program->instructions[program->count++] = *instruction;
    program->events += count_rows(instruction);
}

static struct instruction row(enum row_kind kind, const char *name, const char *args)
{
    return (struct instruction){
        .code = CODE_BEGIN, .kind = kind, .name = name, .args = args, .sequence = -1, .module = -1};
}

void builder_op(struct builder *b, const char *name, const char *args)
{
    struct instruction instruction = row(ROW_OP, name, args);
    builder_add(b, &instruction);
}

void builder_end(struct builder *b)
{
    builder_add(b, &(struct instruction){.code = CODE_END});
}

void builder_leaf(struct builder *b, const char *name, const char *args)
{
    builder_op(b, name, args);
    builder_end(b);
}

void builder_annotation(struct builder *b, const char *name)
{
    struct instruction instruction = row(ROW_ANNOTATION, name, NULL);
    builder_add(b, &instruction);
}

void builder_thread(struct builder *b, enum host_thread thread)
{
    builder_add(b, &(struct instruction){.code = CODE_THREAD, .thread = thread});
}

void builder_inner(struct builder *b, const char *name, const char *args, int32_t sequence)
{
    struct instruction instruction = row(ROW_OP, name, args);
    instruction.sequence = sequence;
    builder_add(b, &instruction);
}

// The modules around a forward are those of its backward, too.
static void remember_path(struct builder *b, int32_t sequence)
{
    if ((size_t)sequence >= b->sequence_capacity) {
        b->sequence_capacity = b->sequence_capacity * 2 + 1024;
        b->sequence_paths =
            realloc(b->sequence_paths, b->sequence_capacity * sizeof *b->sequence_paths);
        if (!b->sequence_paths)
            outfile_die("found no memory for %zu sequence numbers", b->sequence_capacity);
    }
    b->sequence_paths[sequence] = b->path;
}

int32_t builder_forward(struct builder *b, const char *name, const char *args)
{
    struct instruction instruction = row(ROW_OP, name, args);
    instruction.sequence = b->program->sequences++;
    instruction.links = true;
    builder_add(b, &instruction);
    remember_path(b, instruction.sequence);
    return instruction.sequence;
}

void builder_backward(struct builder *b, const char *node, int32_t sequence)
{
    struct instruction engine =
        row(ROW_OP, builder_text(b, "autograd::engine::evaluate_function: %s", node), NULL);
    engine.sequence = sequence;
    engine.backward = true;
    builder_add(b, &engine);
    struct instruction inner = row(ROW_OP, node, NULL);
    inner.sequence = sequence;
    inner.backward = true;
    inner.links = true;
    builder_add(b, &inner);
    b->path = b->sequence_paths[sequence];
    b->phase = PHASE_BACKWARD;
}

void builder_backward_leave(struct builder *b)
{
    builder_end(b);
    b->path = NULL;
}

void builder_backward_end(struct builder *b)
{
    builder_end(b);
    builder_backward_leave(b);
}

static void push_path(struct builder *b)
{
    if (b->depth == BUILDER_DEPTH)
        outfile_die("Python functions nest deeper than %d", BUILDER_DEPTH);
    b->paths[b->depth++] = b->path;
}

void builder_python(struct builder *b, const char *name)
{
    push_path(b);
    struct instruction instruction = row(ROW_PYTHON, name, NULL);
    if (b->arguments->stacks)
        builder_add(b, &instruction);
}

void builder_module(struct builder *b, const char *kind, int32_t index)
{
    struct instruction instruction = row(ROW_PYTHON, NULL, NULL);
    instruction.module = b->modules++;
    push_path(b);
    b->path = b->path ? builder_text(b, "%s/%s_%d", b->path, kind, index)
                      : builder_text(b, "%s_%d", kind, index);
    instruction.name = builder_text(b, "nn.Module: %s_%d", kind, index);
    if (b->arguments->stacks)
        builder_add(b, &instruction);
    builder_python(b, "torch/nn/modules/module.py(1762): _call_impl");
    builder_python(b, builder_text(b, "model.py(%d): forward", 40 + (int)strlen(kind)));
}

void builder_python_end(struct builder *b)
{
    b->path = b->paths[--b->depth];
    if (b->arguments->stacks)
        builder_end(b);
}

void builder_step(struct builder *b)
{
    struct instruction instruction = row(ROW_STEP, "ProfilerStep#", NULL);
    builder_add(b, &instruction);
}

void builder_overhead(struct builder *b, const char *name)
{
    struct instruction instruction = row(ROW_OVERHEAD, name, NULL);
    builder_add(b, &instruction);
}

void builder_worth(struct builder *b, int64_t flops, int64_t least_bytes)
{
    static const char key[] = "\"Input Dims\": ";
    struct instruction *op = &b->program->instructions[b->program->count - 1];
    const char *dims = strstr(op->args, key);
    if (op->code != CODE_BEGIN || !dims)
        outfile_die("found work of %s, expected it behind an operator with shapes", op->name);
    op->flops = flops;
    op->least_bytes = least_bytes;
    op->dims = dims + sizeof key - 1;
}

void builder_work(struct builder *b, const struct instruction *work)
{
    struct instruction instruction = *work;
    instruction.path = b->path;
    instruction.phase = b->phase;
    builder_add(b, &instruction);
}

static void allocate(struct builder *b, int64_t bytes, int32_t slot)
{
    builder_add(b, &(struct instruction){.code = CODE_ALLOCATE, .bytes = bytes, .slot = slot});
}

void builder_keep(struct builder *b, int64_t bytes)
{
    if (!b->arguments->memory || b->forgets)
        return;
    if (b->kept == BUILDER_TENSORS)
        outfile_die("found more than %d tensors, expected fewer", BUILDER_TENSORS);
    b->tensors[b->kept++] = (size_t)b->program->tensors;
    allocate(b, bytes, b->program->tensors++);
}

void builder_drop(struct builder *b)
{
    if (b->arguments->memory)
        builder_add(
            b, &(struct instruction){.code = CODE_RELEASE, .slot = (int32_t)b->tensors[--b->kept]});
}

void builder_lose(struct builder *b, int64_t bytes)
{
    allocate(b, bytes, -1);
}

static void launch(struct builder *b, enum role role, int64_t ns, uint64_t blocks)
{
    const struct kernel *kernel = &b->vendor->kernels[role];
    struct instruction instruction = {
        .code = CODE_LAUNCH,
        .kernel = kernel,
        .ns = ns * b->arguments->slow_percent[kernel->category] / 100,
        .grid = {blocks > 0 ? (uint32_t)blocks : 1, 1, 1},
    };
    if (kernel->launch->grid_in_items)
        instruction.grid[0] *= kernel->block[0];
    builder_work(b, &instruction);
}

void builder_gemm(struct builder *b, enum role role, int64_t m, int64_t n, int64_t k)
{
    const struct kernel *kernel = &b->vendor->kernels[role];
    int64_t ns = 2 * m * n * k / b->vendor->gemm_flop_per_ns + GEMM_FLOOR_NS;
    launch(b, role, ns, (uint64_t)((m / kernel->tile + 1) * (n / 128 + 1)));
}

void builder_traffic(struct builder *b, enum role role, int64_t elements, int64_t bytes)
{
    const struct kernel *kernel = &b->vendor->kernels[role];
    int64_t ns = bytes / b->vendor->bytes_per_ns + KERNEL_FLOOR_NS;
    launch(b, role, ns, (uint64_t)(elements / kernel->tile));
}

void builder_attention(struct builder *b, enum role role, int64_t flop, uint32_t blocks)
{
    launch(b, role, flop / b->vendor->attention_flop_per_ns + GEMM_FLOOR_NS, blocks);
}

void builder_set(struct builder *b, int64_t bytes)
{
    int64_t ns = bytes / b->vendor->bytes_per_ns + KERNEL_FLOOR_NS;
    builder_work(b, &(struct instruction){.code = CODE_SET, .ns = ns, .bytes = bytes});
}

// The names of a collective: c10d operator, recorded name, annotation, kind.
struct naming {
    const char *op, *recorded, *annotation, *kind;
};

static struct naming name_collective(enum role role)
{
    switch (role) {
    case ROLE_ALL_GATHER:
        return (struct naming){"c10d::_allgather_base_", "_allgather_base", "nccl:_all_gather_base",
                               "all_gather"};
    case ROLE_REDUCE_SCATTER:
        return (struct naming){"c10d::_reduce_scatter_base_", "_reduce_scatter_base",
                               "nccl:_reduce_scatter_base", "reduce_scatter"};
    case ROLE_ALL_TO_ALL:
        return (struct naming){"c10d::alltoall_base_", "all_to_allv", "nccl:all_to_all",
                               "all_to_all"};
    default:
        return (struct naming){"c10d::allreduce_", "allreduce", "nccl:all_reduce", "all_reduce"};
    }
}

// The group's ranks as the profiler writes them: a string, shortened beyond 30 members.
static void list_ranks(char *text, size_t size, const struct group *group)
{
    size_t used = 0;
    int32_t shown = group->size > 30 ? 29 : group->size;
    for (int32_t i = 0; i < shown; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %d" : "%d",
                                 group->start + i * group->stride);
    if (group->size > shown)
        snprintf(text + used, size - used, ", ..., %d",
                 group->start + (group->size - 1) * group->stride);
}

static const char *collective_args(struct builder *b, const struct call *call)
{
    char ranks[512];
    int64_t share = call->elements / call->group->size;
    list_ranks(ranks, sizeof ranks, call->group);
    return builder_text(
        b,
        "\"Collective name\": \"%s\", \"In msg nelems\": %lld, \"Out msg nelems\": %lld, "
        "\"Group size\": %d, \"dtype\": \"BFloat16\", \"In split size\": \"[]\", "
        "\"Out split size\": \"[]\", \"Process Group Name\": \"%s\", "
        "\"Process Group Description\": \"%s\", \"Process Group Ranks\": \"[%s]\"",
        name_collective(call->role).recorded,
        (long long)(call->role == ROLE_ALL_GATHER ? share : call->elements),
        (long long)(call->role == ROLE_REDUCE_SCATTER ? share : call->elements), call->group->size,
        call->group->name, call->group->description, ranks);
}

static const struct collective *describe(struct builder *b, const struct call *call)
{
    int64_t size = call->group->size;
    bool reduces_all = call->role == ROLE_ALL_REDUCE;
    struct collective *collective = builder_table(b, 1, sizeof *collective);
    int64_t moved = call->elements * BF16_BYTES * (size - 1) / size * (reduces_all ? 2 : 1);
    int64_t ns = moved / b->vendor->bus_bytes_per_ns + b->vendor->collective_latency_ns;
    collective->group = call->group;
    collective->args = collective_args(b, call);
    collective->kind = name_collective(call->role).kind;
    collective->bare = call->bare;
    collective->bytes = call->elements * BF16_BYTES;
    collective->transfer_ns = ns * b->arguments->slow_percent[CATEGORY_COMM] / 100;
    return collective;
}

int32_t builder_collective_of(struct builder *b, const struct call *call)
{
    struct naming naming = name_collective(call->role);
    const struct collective *collective = describe(b, call);
    builder_op(b, naming.op, NULL);
    struct instruction comms = row(ROW_COLLECTIVE_OP, "record_param_comms", NULL);
    comms.collective = collective;
    builder_add(b, &comms);
    struct instruction annotation = row(ROW_ANNOTATION, naming.annotation, NULL);
    annotation.on_comm_stream = true;
    builder_add(b, &annotation);
    builder_work(b, &(struct instruction){.code = CODE_COLLECTIVE,
                                          .kernel = &b->vendor->kernels[call->role],
                                          .collective = collective,
                                          .ns = collective->transfer_ns,
                                          .grid = {24, 1, 1},
                                          .slot = b->program->slots,
                                          .stream = STREAM_COMM,
                                          .last = call->last});
    builder_end(b);
    builder_end(b);
    builder_end(b);
    return b->program->slots++;
}

int32_t builder_collective(struct builder *b, enum role role, int64_t elements, bool last)
{
    struct group *all = builder_table(b, 1, sizeof *all);
    *all = (struct group){"0", "default_pg", b->arguments->world, 0, 1};
    return builder_collective_of(b, &(struct call){role, elements, all, last, false});
}

void builder_wait(struct builder *b, int32_t slot)
{
    builder_add(b, &(struct instruction){.code = CODE_WAIT, .slot = slot});
}
