// SPDX-License-Identifier: Apache-2.0
// One training step as the ranks of a stage see it.
#include "tests/tracegen/mesh.h"

#include <stdlib.h>

#define FORWARD_NS   INT64_C(1200000) // of a layer; its backward takes twice that
#define OPTIMIZER_NS INT64_C(600000)
#define EXTRA_NS     INT64_C(100000) // of a kernel of more work
#define TENSOR_BYTES INT64_C(2097152)
#define LAYER_BYTES  INT64_C(8388608) // gradients or parameters
#define TOKEN_BYTES  INT64_C(1048576)
#define STAGE_BYTES  INT64_C(2097152) // activations between stages

struct writing {
    const struct mesh *mesh;
    struct mesh_program *program;
    enum mesh_phase phase;
    int32_t rank, stage;
    bool late;              // the straggler
    int64_t more_work;      // kernels per forward, for the straggler
    int32_t gathers[2][64]; // slots of the parameters of each layer that were asked for, per phase
};

static struct mesh_instruction *add(struct writing *w, struct mesh_instruction instruction)
{
    struct mesh_program *p = w->program;
    if (p->count == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 256;
        p->at = realloc(p->at, p->capacity * sizeof *p->at);
        if (!p->at)
            outfile_die("out of memory for a step");
    }
    instruction.phase = w->phase;
    p->at[p->count] = instruction;
    return &p->at[p->count++];
}

static bool has(const struct writing *w, enum mesh_dimension dimension)
{
    return w->mesh->group_of[dimension][w->rank] >= 0;
}

static void run(struct writing *w, int64_t ns)
{
    const struct mesh_options *o = w->mesh->options;
    int64_t all_ns = (int64_t)o->micro_batches * o->layers * 3 * FORWARD_NS;
    if (w->late && o->cause == CAUSE_COMPUTE_SLOWER && w->phase != MESH_OPTIMIZER)
        ns += (int64_t)((double)ns * (double)o->delay_ns / (double)all_ns);
    add(w, (struct mesh_instruction){.code = MESH_DO_RUN, .kind = MESH_COMPUTE, .ns = ns});
}

// Compute goes on when it is done.
static void call(struct writing *w, enum mesh_dimension dimension, enum mesh_kind kind,
                 int64_t bytes)
{
    if (has(w, dimension))
        add(w, (struct mesh_instruction){.code = MESH_DO_CALL,
                                         .kind = kind,
                                         .dimension = dimension,
                                         .bytes = bytes,
                                         .slot = -1});
}

// Compute goes on beside it; the slot is awaited later.
static int32_t start(struct writing *w, enum mesh_dimension dimension, enum mesh_kind kind,
                     int64_t bytes)
{
    if (!has(w, dimension))
        return -1;
    int32_t slot = w->program->slots++;
    add(w, (struct mesh_instruction){.code = MESH_DO_CALL,
                                     .kind = kind,
                                     .dimension = dimension,
                                     .bytes = bytes,
                                     .slot = slot});
    return slot;
}

static void await(struct writing *w, int32_t slot)
{
    if (slot >= 0)
        add(w, (struct mesh_instruction){.code = MESH_DO_AWAIT, .slot = slot});
}

static void pass_on(struct writing *w, enum mesh_kind kind, int32_t peer)
{
    if (peer < 0 || peer >= w->mesh->options->pp)
        return;
    int32_t slot = kind == MESH_SEND ? w->program->slots++ : -1;
    add(w, (struct mesh_instruction){.code = MESH_DO_CALL,
                                     .kind = kind,
                                     .dimension = MESH_PIPELINE,
                                     .bytes = STAGE_BYTES,
                                     .slot = slot,
                                     .peer = peer});
}

// --- parameters that are gathered when they are needed ------------------------------------------

static int32_t *gather_of(struct writing *w, int32_t layer)
{
    return &w->gathers[w->phase == MESH_BACKWARD][layer % 64];
}

static void ask_for(struct writing *w, int32_t layer)
{
    const struct mesh_options *o = w->mesh->options;
    if (o->data == MESH_FSDP && layer >= 0 && layer < o->layers)
        *gather_of(w, layer) = start(w, MESH_DATA, MESH_ALL_GATHER, LAYER_BYTES);
}

static void need(struct writing *w, int32_t layer)
{
    if (w->mesh->options->data == MESH_FSDP)
        await(w, *gather_of(w, layer));
}

// --- layers -------------------------------------------------------------------------------------

static void write_experts(struct writing *w, int64_t ns)
{
    call(w, MESH_EXPERT, MESH_ALL_TO_ALL, TOKEN_BYTES);
    run(w, ns);
    call(w, MESH_EXPERT, MESH_ALL_TO_ALL, TOKEN_BYTES);
}

// Joins activations of the tensor parallel ranks, before or after a part of a layer.
static void join(struct writing *w, bool after)
{
    if (!w->mesh->options->sequence_parallel) {
        if (after)
            call(w, MESH_TENSOR, MESH_ALL_REDUCE, TENSOR_BYTES);
        return;
    }
    call(w, MESH_TENSOR, after ? MESH_REDUCE_SCATTER : MESH_ALL_GATHER, TENSOR_BYTES);
}

static void write_forward_layer(struct writing *w, int32_t layer)
{
    need(w, layer);
    ask_for(w, layer + 1);
    join(w, false);
    run(w, FORWARD_NS / 2);
    write_experts(w, FORWARD_NS / 2);
    join(w, true);
}

// Gradients of a layer are there.
static void share_gradients(struct writing *w, bool last)
{
    const struct mesh_options *o = w->mesh->options;
    if (o->data == MESH_FSDP)
        start(w, MESH_DATA, MESH_REDUCE_SCATTER, LAYER_BYTES);
    else if (last && o->data == MESH_ZERO2)
        start(w, MESH_DATA, MESH_REDUCE_SCATTER, LAYER_BYTES);
    else if (last)
        start(w, MESH_DATA, MESH_ALL_REDUCE, LAYER_BYTES);
}

static void write_backward_layer(struct writing *w, int32_t layer, bool last)
{
    need(w, layer);
    ask_for(w, layer - 1);
    join(w, false);
    write_experts(w, FORWARD_NS);
    run(w, FORWARD_NS);
    join(w, true);
    share_gradients(w, last);
}

// --- micro-batches ------------------------------------------------------------------------------

static void write_forward(struct writing *w)
{
    w->phase = MESH_FORWARD;
    pass_on(w, MESH_RECV, w->stage - 1);
    ask_for(w, 0);
    for (int64_t i = 0; i < w->more_work; i++)
        run(w, EXTRA_NS);
    for (int32_t layer = 0; layer < w->mesh->options->layers; layer++)
        write_forward_layer(w, layer);
    pass_on(w, MESH_SEND, w->stage + 1);
}

static void write_backward(struct writing *w, bool last)
{
    int32_t layers = w->mesh->options->layers;
    w->phase = MESH_BACKWARD;
    if (w->stage + 1 < w->mesh->options->pp)
        pass_on(w, MESH_RECV, w->stage + 1);
    ask_for(w, layers - 1);
    for (int32_t layer = layers; layer-- > 0;)
        write_backward_layer(w, layer, last);
    pass_on(w, MESH_SEND, w->stage - 1);
}

static void write_micro_batches(struct writing *w)
{
    const struct mesh_options *o = w->mesh->options;
    int32_t count = o->micro_batches, ahead = o->pp - 1 - w->stage;
    if (o->gpipe)
        ahead = count;
    ahead = ahead < count ? ahead : count;
    for (int32_t i = 0; i < ahead; i++)
        write_forward(w);
    for (int32_t i = 0; i < count; i++) {
        if (i + ahead < count)
            write_forward(w);
        write_backward(w, i + 1 == count);
    }
}

static void write_update(struct writing *w)
{
    const struct mesh_options *o = w->mesh->options;
    for (int32_t slot = 0, slots = w->program->slots; slot < slots; slot++)
        await(w, slot);
    w->phase = MESH_OPTIMIZER;
    call(w, MESH_WORLD, MESH_ALL_REDUCE, 4);
    run(w, OPTIMIZER_NS);
    if (o->data == MESH_ZERO1 || o->data == MESH_ZERO2)
        call(w, MESH_DATA, MESH_ALL_GATHER, LAYER_BYTES / 2);
}

static void write_delay(struct writing *w)
{
    const struct mesh_options *o = w->mesh->options;
    w->phase = MESH_FORWARD;
    if (o->cause == CAUSE_DATA_LOADING || o->cause == CAUSE_HOST)
        add(w, (struct mesh_instruction){.code = MESH_DO_STALL, .ns = o->delay_ns});
    if (o->cause == CAUSE_COPIES)
        add(w, (struct mesh_instruction){
                   .code = MESH_DO_PAGEABLE, .kind = MESH_COPY, .ns = o->delay_ns});
    if (o->cause == CAUSE_MORE_WORK)
        w->more_work = o->delay_ns / EXTRA_NS / o->micro_batches;
}

void mesh_program_build(const struct mesh *mesh, int32_t rank, struct mesh_program *program)
{
    struct writing w = {.mesh = mesh,
                        .program = program,
                        .rank = rank,
                        .stage = mesh_stage_of(mesh, rank),
                        .late = rank == mesh->options->straggler};
    *program = (struct mesh_program){0};
    if (w.late)
        write_delay(&w);
    write_micro_batches(&w);
    write_update(&w);
}
