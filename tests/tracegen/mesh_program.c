// SPDX-License-Identifier: Apache-2.0
// One training step as the ranks of a stage see it.
#include "tests/tracegen/mesh.h"

#include <stdlib.h>

#define FORWARD_NS   INT64_C(1200000) // per layer; its backward takes twice as long
#define ROWS         4096             // of a product: about 700 TFLOP/s
#define OPTIMIZER_NS INT64_C(600000)
#define EXTRA_NS     INT64_C(100000) // of a kernel with extra work
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
    int32_t gathers[2][64]; // slots of each layer's requested parameters, per phase
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

static bool is_some(const struct writing *w, const struct mesh_some *some)
{
    return some->percent && w->rank >= some->first && w->rank <= some->last;
}

// What slow devices and extra work add to a kernel's time.
static int64_t planted_ns(const struct writing *w, enum mesh_kernel kernel, int64_t ns)
{
    const struct mesh_options *o = w->mesh->options;
    int64_t planted = is_some(w, &o->slow) ? ns * o->slow.percent / 100 : 0;
    bool more = is_some(w, &o->more) && kernel != MESH_ADAM &&
                (o->more_of == MORE_LONGER || (o->more_of == MORE_EXPERTS && kernel == MESH_MLP));
    return planted + (more ? ns * o->more.percent / 100 : 0);
}

static void run(struct writing *w, enum mesh_kernel kernel, int64_t ns)
{
    const struct mesh_options *o = w->mesh->options;
    int64_t all_ns = (int64_t)o->micro_batches * o->layers * 3 * FORWARD_NS;
    int64_t planted = planted_ns(w, kernel, ns);
    bool longer = is_some(w, &o->more) && o->more_of == MORE_LONGER;
    int32_t rows = kernel == MESH_EXTRA ? ROWS / 6 : ROWS;
    rows = rows * (longer ? 100 + o->more.percent : 100) / 100;
    if (w->late && o->cause == CAUSE_COMPUTE_SLOWER && w->phase != MESH_OPTIMIZER)
        ns += (int64_t)((double)ns * (double)o->delay_ns / (double)all_ns);
    w->program->planted_ns += planted;
    add(w, (struct mesh_instruction){.code = MESH_DO_RUN,
                                     .kind = MESH_COMPUTE,
                                     .kernel = kernel,
                                     .rows = rows,
                                     .ns = ns + planted});
}

// Layers that only some ranks have, with the usual shapes.
static void run_more_layers(struct writing *w, bool backward)
{
    const struct mesh_options *o = w->mesh->options;
    bool more = is_some(w, &o->more) && o->more_of == MORE_LAYERS;
    for (int32_t i = 0; more && i < o->layers * o->more.percent / 100; i++) {
        w->program->planted_ns += backward ? 2 * FORWARD_NS : FORWARD_NS;
        run(w, backward ? MESH_DGRAD : MESH_MIXER, backward ? FORWARD_NS : FORWARD_NS / 2);
        run(w, backward ? MESH_WGRAD : MESH_MLP, backward ? FORWARD_NS : FORWARD_NS / 2);
    }
}

// Compute waits for it.
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

// Compute goes on alongside it; the slot is awaited later.
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
    const struct mesh_options *o = w->mesh->options;
    if (peer < 0 || peer >= o->pp)
        return;
    bool sends = kind == MESH_SEND && o->passing != PASSING_BATCHED;
    int32_t slot = sends ? w->program->slots++ : -1;
    add(w, (struct mesh_instruction){.code = MESH_DO_CALL,
                                     .kind = kind,
                                     .dimension = MESH_PIPELINE,
                                     .bytes = STAGE_BYTES,
                                     .slot = slot,
                                     .peer = peer});
}

// Sends to a neighbor and receives from it in one kernel.
static void exchange(struct writing *w, int32_t peer)
{
    if (peer < 0 || peer >= w->mesh->options->pp)
        return;
    pass_on(w, MESH_SEND, peer);
    w->program->at[w->program->count - 1].joins = true;
    pass_on(w, MESH_RECV, peer);
    w->program->at[w->program->count - 1].joined = true;
}

// --- parameters that are gathered on demand ------------------------------------------------------

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

static void write_experts(struct writing *w, enum mesh_kernel kernel, int64_t ns)
{
    call(w, MESH_EXPERT, MESH_ALL_TO_ALL, TOKEN_BYTES);
    run(w, kernel, ns);
    call(w, MESH_EXPERT, MESH_ALL_TO_ALL, TOKEN_BYTES);
}

// Joins activations of the tensor-parallel ranks, before or after a part of a layer.
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
    run(w, MESH_MIXER, FORWARD_NS / 2);
    write_experts(w, MESH_MLP, FORWARD_NS / 2);
    join(w, true);
}

// The gradients of a layer are ready.
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
    write_experts(w, MESH_DGRAD, FORWARD_NS);
    run(w, MESH_WGRAD, FORWARD_NS);
    join(w, true);
    share_gradients(w, last);
}

// --- micro-batches ------------------------------------------------------------------------------

static void write_forward_layers(struct writing *w)
{
    w->phase = MESH_FORWARD;
    ask_for(w, 0);
    for (int64_t i = 0; i < w->more_work; i++)
        run(w, MESH_EXTRA, EXTRA_NS);
    for (int32_t layer = 0; layer < w->mesh->options->layers; layer++)
        write_forward_layer(w, layer);
    run_more_layers(w, false);
}

static void write_backward_layers(struct writing *w, bool last)
{
    int32_t layers = w->mesh->options->layers;
    w->phase = MESH_BACKWARD;
    ask_for(w, layers - 1);
    run_more_layers(w, true);
    for (int32_t layer = layers; layer-- > 0;)
        write_backward_layer(w, layer, last);
}

static void write_forward(struct writing *w)
{
    w->phase = MESH_FORWARD;
    pass_on(w, MESH_RECV, w->stage - 1);
    write_forward_layers(w);
    pass_on(w, MESH_SEND, w->stage + 1);
}

static void write_backward(struct writing *w, bool last)
{
    w->phase = MESH_BACKWARD;
    pass_on(w, MESH_RECV, w->stage + 1);
    write_backward_layers(w, last);
    pass_on(w, MESH_SEND, w->stage - 1);
}

// One forward, one backward, as in libraries that batch sends and receives: what goes to a
// neighbor and what comes from it at the same time is one kernel.
static void write_exchanges(struct writing *w, int32_t ahead)
{
    int32_t count = w->mesh->options->micro_batches;
    w->phase = MESH_FORWARD;
    if (ahead < count)
        pass_on(w, MESH_RECV, w->stage - 1);
    for (int32_t i = 0; i + ahead < count; i++) {
        write_forward_layers(w);
        exchange(w, w->stage + 1);
        write_backward_layers(w, ahead == 0 && i + 1 == count);
        if (i + ahead + 1 < count)
            exchange(w, w->stage - 1);
        else
            pass_on(w, MESH_SEND, w->stage - 1);
    }
    for (int32_t i = count - ahead; i < count; i++)
        write_backward(w, i + 1 == count);
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
    if (o->passing == PASSING_BATCHED && !o->gpipe) {
        write_exchanges(w, ahead);
        return;
    }
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
    run(w, MESH_ADAM, OPTIMIZER_NS);
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
