// SPDX-License-Identifier: Apache-2.0
// Executes a step: what the host does when, when the device gets to it, what that costs.
#include "tests/tracegen/machine.h"

#include "tests/tracegen/plants.h"
#include "tests/tracegen/repeat.h"

#include <stdlib.h>

enum { FIRST_STEP = 3, FIRST_CORRELATION = 4096, HOST_SPREAD_PPM = 150000 };
enum {
    ALLOCATION_NS = 40,
    OP_BEGIN_NS = 1100,
    OP_END_NS = 600,
    LAUNCH_NS = 4300,
    EVENT_CALL_NS = 900
};
enum { LAUNCH_TO_START_NS = 1800, KERNEL_GAP_NS = 450, DATA_NS = 130000, LEAD_NS = 600000 };
// From the end of loading the batch to the start of its first copy.
enum { COPY_PATH_NS = 13000, TINY_NS = 1900, TINY_OP_NS = 2200, CLOCK_SPREAD_NS = 40000 };

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void pass(struct rank *rank, int64_t ns)
{
    rank->now_ns += splitmix_jitter(&rank->rng, ns, HOST_SPREAD_PPM);
}

static void *grow(void *rows, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return rows;
    *capacity = *capacity * 2 + 1024;
    rows = realloc(rows, *capacity * size);
    if (!rows)
        outfile_die("found no memory for %zu rows", *capacity);
    return rows;
}

// --- host rows ----------------------------------------------------------------------------------

// The innermost open row that is (or is not) a Python function.
static const struct host_row *innermost(const struct rank *rank, bool python)
{
    for (size_t i = rank->depth[rank->thread]; i > 0; i--) {
        const struct host_row *row = &rank->rows[rank->open[rank->thread][i - 1]];
        bool op = row->begin->kind == ROW_OP || row->begin->kind == ROW_COLLECTIVE_OP;
        if (python ? row->begin->kind == ROW_PYTHON : op)
            return row;
    }
    return NULL;
}

static void begin_row(struct rank *rank, const struct instruction *instruction)
{
    bool python = instruction->kind == ROW_PYTHON;
    rank->rows = grow(rank->rows, rank->row_count, &rank->row_capacity, sizeof *rank->rows);
    const struct host_row *parent = python ? innermost(rank, true) : NULL;
    if (rank->depth[rank->thread] == MACHINE_DEPTH)
        outfile_die("rows nest deeper than %d", MACHINE_DEPTH);
    struct host_row row = {
        .begin = instruction,
        .begin_ns = rank->now_ns,
        .external_id = python ? rank->next_python++ : rank->next_external++,
        .thread = rank->thread,
    };
    if (python && rank->row_count > 0)
        row.parent_id = parent ? parent->external_id : 0;
    if (instruction->kind == ROW_COLLECTIVE_OP)
        row.call_number = rank->next_call;
    rank->open[rank->thread][rank->depth[rank->thread]++] = rank->row_count;
    rank->rows[rank->row_count++] = row;
    pass(rank, OP_BEGIN_NS);
}

static void end_row(struct rank *rank)
{
    pass(rank, OP_END_NS);
    rank->rows[rank->open[rank->thread][--rank->depth[rank->thread]]].end_ns = rank->now_ns;
}

static const struct instruction *innermost_op(const struct rank *rank)
{
    const struct host_row *op = innermost(rank, false);
    return op ? op->begin : NULL;
}

// Widens the device range of the annotations open around a launch.
static void mark_annotations(struct rank *rank, const struct device_row *call, bool comm)
{
    for (size_t i = 0; i < rank->depth[rank->thread]; i++) {
        struct host_row *row = &rank->rows[rank->open[rank->thread][i]];
        bool marks = row->begin->kind == ROW_ANNOTATION || row->begin->kind == ROW_STEP;
        if (!marks || row->begin->on_comm_stream != comm)
            continue;
        if (row->gpu_end_ns == 0)
            row->gpu_begin_ns = call->begin_ns;
        row->gpu_end_ns = call->end_ns;
    }
}

// --- calls --------------------------------------------------------------------------------------

static struct device_row *call_runtime(struct rank *rank, const struct vendor_api *api, int64_t ns)
{
    const struct host_row *op = innermost(rank, false);
    rank->calls = grow(rank->calls, rank->call_count, &rank->call_capacity, sizeof *rank->calls);
    struct device_row *call = &rank->calls[rank->call_count++];
    *call = (struct device_row){
        .api = api,
        .api_begin_ns = rank->now_ns,
        .external_id = op ? op->external_id : 0,
        .op = op ? op->begin : NULL,
        .correlation = rank->next_correlation++,
        .thread = rank->thread,
    };
    pass(rank, ns);
    call->api_end_ns = rank->now_ns;
    return call;
}

// The earliest time work given to a stream now can start.
static int64_t earliest(const struct machine *machine, struct rank *rank,
                        const struct stream *stream, int64_t launched_ns)
{
    int64_t arrives = launched_ns + splitmix_jitter(&rank->rng, LAUNCH_TO_START_NS, 200000);
    int64_t gap = splitmix_jitter(&rank->rng, machine->kernel_gap_ns, 300000);
    return max_ns(max_ns(arrives, stream->ready_ns), stream->free_ns + gap);
}

// The end of the last work queued on any stream.
static int64_t busy_until(const struct rank *rank)
{
    int64_t until_ns = 0;
    for (int i = 0; i < STREAM_COUNT; i++)
        until_ns = max_ns(until_ns, rank->streams[i].free_ns);
    return until_ns;
}

static void occupy(struct rank *rank, struct stream *stream, struct device_row *call)
{
    stream->begin_ns = call->begin_ns;
    stream->free_ns = call->end_ns;
    mark_annotations(rank, call, stream == &rank->streams[STREAM_COMM]);
}

static enum logbook_class class_of(const struct instruction *work)
{
    if (!work->kernel)
        return LOGBOOK_MEMORY;
    return work->kernel->category == CATEGORY_COMM ? LOGBOOK_COMMUNICATION : LOGBOOK_COMPUTE;
}

// Adds finished device work to the truth.
static void record(struct rank *rank, const struct device_row *call)
{
    logbook_add(&rank->logbook, &(struct logbook_span){
                                    .begin_ns = call->begin_ns,
                                    .end_ns = call->end_ns,
                                    .class = class_of(call->work),
                                    .work = call->work,
                                    .op = call->op,
                                    .op_call = call->external_id,
                                    .api = call->api,
                                    .api_begin_ns = call->api_begin_ns,
                                    .api_end_ns = call->api_end_ns,
                                });
}

// Work on a stream; the caller records it. A full queue blocks the host until a kernel leaves it.
static struct device_row *launch(const struct machine *machine, struct rank *rank,
                                 const struct vendor_api *api, const struct instruction *work,
                                 int64_t device_ns)
{
    struct stream *stream = &rank->streams[work->stream];
    struct device_row *call = call_runtime(rank, api, LAUNCH_NS);
    int64_t *slot = &rank->queue_begin_ns[rank->launches++ % MACHINE_QUEUE];
    rank->now_ns = max_ns(rank->now_ns, *slot);
    if (work->idle_ns)
        rank->now_ns = max_ns(rank->now_ns, busy_until(rank) + work->idle_ns);
    call->api_end_ns = rank->now_ns;
    call->work = work;
    if (work->stream == STREAM_SIDE) // alongside the compute stream's last kernel, not after it
        stream->ready_ns = rank->streams[STREAM_COMPUTE].begin_ns;
    call->begin_ns = earliest(machine, rank, stream, call->api_end_ns);
    if (work->delay_ns && work->code != CODE_GRAPH)
        call->begin_ns = max_ns(call->begin_ns, stream->free_ns + work->delay_ns);
    call->end_ns = call->begin_ns + device_ns;
    *slot = call->begin_ns;
    occupy(rank, stream, call);
    return call;
}

static int64_t noisy(const struct machine *machine, struct rank *rank, int64_t ns)
{
    bool straggles = rank->index == machine->arguments->straggler_rank;
    ns = ns * machine->step_ppm / 1000000;
    ns = splitmix_jitter(&rank->rng, ns, machine->arguments->noise_ppm);
    return max_ns(straggles ? ns * machine->arguments->straggler_percent / 100 : ns, 1);
}

// Adds the part of a kernel's time that is due to a fault.
static void note_plant(struct rank *rank, const struct device_row *call, int64_t busy_ns)
{
    const struct instruction *work = call->work;
    int64_t *cost_ns = &rank->logbook.plant_ns[work->plant];
    if (work->planted_ns)
        *cost_ns += (int64_t)((double)(call->end_ns - call->begin_ns) * (double)work->planted_ns /
                              (double)work->ns);
    if (work->planted_gap)
        *cost_ns += max_ns(call->begin_ns - busy_ns, 0);
}

static void launch_kernel(const struct machine *machine, struct rank *rank,
                          const struct instruction *work)
{
    int64_t ns = noisy(machine, rank, work->ns), busy_ns = busy_until(rank);
    if (work->turns && (machine->step - FIRST_STEP) % work->turns == work->turn) {
        ns += work->late_ns;
        rank->logbook.plant_ns[PLANT_SLOW_CALLS] += work->late_ns;
    }
    const struct device_row *call = launch(machine, rank, work->kernel->launch, work, ns);
    record(rank, call);
    note_plant(rank, call, busy_ns);
}

// Device work with the same launch as the row before.
static void follow(const struct machine *machine, struct rank *rank, const struct instruction *work,
                   int64_t device_ns)
{
    rank->calls = grow(rank->calls, rank->call_count, &rank->call_capacity, sizeof *rank->calls);
    struct device_row *row = &rank->calls[rank->call_count++];
    struct stream *stream = &rank->streams[work->stream];
    *row = row[-1];
    row->api = machine->vendor->graph;
    row->begin_ns = stream->free_ns + work->delay_ns;
    row->end_ns = row->begin_ns + device_ns;
    occupy(rank, stream, row);
    record(rank, row);
    row->api = NULL;
}

static void launch_graph(const struct machine *machine, struct rank *rank,
                         const struct instruction *work)
{
    int64_t ns = noisy(machine, rank, work->ns);
    record(rank, launch(machine, rank, machine->vendor->graph, work, ns));
    for (int32_t i = 1; i < work->kernels; i++)
        follow(machine, rank, work, noisy(machine, rank, work->ns));
}

// A kernel that the profiler recorded without its launch.
static void run_unlinked(const struct machine *machine, struct rank *rank,
                         const struct instruction *work)
{
    rank->calls = grow(rank->calls, rank->call_count, &rank->call_capacity, sizeof *rank->calls);
    struct device_row *row = &rank->calls[rank->call_count++];
    struct stream *stream = &rank->streams[work->stream];
    *row = (struct device_row){.work = work, .correlation = rank->next_correlation++};
    row->begin_ns = stream->free_ns + work->delay_ns;
    row->end_ns = row->begin_ns + noisy(machine, rank, work->ns);
    stream->free_ns = row->end_ns;
    record(rank, row);
}

// A call that launches nothing; it returns when the device has been idle for idle_ns.
static void call_only(struct rank *rank, const struct instruction *instruction)
{
    struct device_row *call = call_runtime(rank, instruction->api, EVENT_CALL_NS);
    if (instruction->idle_ns)
        rank->now_ns = max_ns(rank->now_ns, busy_until(rank) + instruction->idle_ns);
    call->api_end_ns = rank->now_ns;
}

// --- memory -------------------------------------------------------------------------------------

static void note_memory(struct rank *rank, uint64_t address, int64_t bytes)
{
    rank->memory =
        grow(rank->memory, rank->memory_count, &rank->memory_capacity, sizeof *rank->memory);
    rank->memory[rank->memory_count++] = (struct memory_row){
        .at_ns = rank->now_ns,
        .bytes = bytes,
        .allocated_bytes = rank->heap.allocated_bytes,
        .reserved_bytes = rank->heap.reserved_bytes,
        .address = address,
        .thread = rank->thread,
    };
    rank->now_ns += ALLOCATION_NS;
}

static void allocate(struct rank *rank, const struct instruction *what)
{
    const struct instruction *op = innermost_op(rank);
    struct heap_tensor tensor = {.bytes = what->bytes, .op = op ? op->name : NULL};
    uint64_t address = heap_allocate(&rank->heap, what->slot, &tensor, rank->now_ns);
    note_memory(rank, address, what->bytes);
}

static void release(struct rank *rank, const struct instruction *what)
{
    struct heap_tensor tensor = heap_release(&rank->heap, what->slot);
    note_memory(rank, tensor.address, -tensor.bytes);
}

static void set_memory(const struct machine *machine, struct rank *rank,
                       const struct instruction *work)
{
    record(rank, launch(machine, rank, machine->vendor->set, work, work->ns));
}

// A pageable copy blocks the host until it is done.
static void copy_memory(const struct machine *machine, struct rank *rank,
                        const struct instruction *work)
{
    const struct vendor *vendor = machine->vendor;
    const struct vendor_api *api = work->pageable ? vendor->blocking_copy : vendor->copy;
    struct device_row *call = launch(machine, rank, api, work, work->ns);
    int64_t end_ns = call->end_ns;
    if (work->pageable && !vendor->blocking_copy_needs_sync)
        rank->now_ns = call->api_end_ns = max_ns(rank->now_ns, end_ns + EVENT_CALL_NS);
    record(rank, call);
    if (!work->pageable)
        return;
    rank->logbook.plant_ns[PLANT_PAGEABLE_COPIES] += work->ns;
    if (!vendor->blocking_copy_needs_sync)
        return;
    call = call_runtime(rank, vendor->stream_sync, EVENT_CALL_NS);
    rank->now_ns = call->api_end_ns = max_ns(rank->now_ns, end_ns + EVENT_CALL_NS);
}

// --- collectives --------------------------------------------------------------------------------

// The rank's part of a collective, launched; it ends once all ranks have arrived.
static void join(const struct machine *machine, struct rank *rank, const struct instruction *work)
{
    call_runtime(rank, machine->vendor->event_record, EVENT_CALL_NS);
    call_runtime(rank, machine->vendor->stream_wait, EVENT_CALL_NS);
    struct device_row *call = call_runtime(rank, work->kernel->launch, LAUNCH_NS);
    rank->streams[STREAM_COMM].ready_ns = rank->streams[STREAM_COMPUTE].free_ns;
    call->work = work;
    call->call_number = rank->next_call++;
    call->begin_ns = earliest(machine, rank, &rank->streams[STREAM_COMM], call->api_end_ns);
}

static void leave(const struct machine *machine, struct rank *rank, const struct instruction *work,
                  int64_t latest_ns, int64_t end_ns)
{
    struct device_row *call = &rank->calls[rank->call_count - 1];
    int64_t computed_ns = rank->streams[STREAM_COMPUTE].free_ns;
    call->end_ns = end_ns;
    occupy(rank, &rank->streams[STREAM_COMM], call);
    rank->collective_end_ns[work->slot] = end_ns;
    record(rank, call);
    rank->logbook.wait_ns += latest_ns - call->begin_ns;
    rank->logbook.transfer_ns += end_ns - latest_ns;
    int64_t exposed = end_ns - max_ns(computed_ns, call->begin_ns);
    if (work->plant == PLANT_SMALL_COLLECTIVES)
        rank->logbook.plant_ns[PLANT_SMALL_COLLECTIVES] += max_ns(exposed, 0);
    else if (work->last && machine->arguments->plant_ns[PLANT_EXPOSED_COMM])
        rank->logbook.plant_ns[PLANT_EXPOSED_COMM] += exposed;
    else if (rank->logbook.plant_ns[PLANT_LOW_OVERLAP] <
             machine->arguments->plant_ns[PLANT_LOW_OVERLAP]) {
        rank->logbook.plant_ns[PLANT_LOW_OVERLAP] += exposed;
        rank->streams[STREAM_COMPUTE].ready_ns =
            max_ns(rank->streams[STREAM_COMPUTE].ready_ns, end_ns);
    }
    call_runtime(rank, machine->vendor->event_record, EVENT_CALL_NS);
}

static void meet(struct machine *machine, const struct instruction *work)
{
    int64_t latest_ns = 0, end_ns = 0;
    int32_t count = machine->arguments->ranks;
    int64_t planted_ns = work->last ? machine->arguments->plant_ns[PLANT_EXPOSED_COMM] : 0;
    for (int32_t i = 0; i < count; i++) {
        struct rank *rank = &machine->ranks[i];
        join(machine, rank, work);
        latest_ns = max_ns(latest_ns, rank->calls[rank->call_count - 1].begin_ns);
        if (planted_ns)
            end_ns = max_ns(end_ns, rank->streams[STREAM_COMPUTE].free_ns + planted_ns);
    }
    int64_t transfer_ns = splitmix_jitter(&machine->rng, work->ns * machine->run_ppm / 1000000,
                                          machine->arguments->noise_ppm);
    end_ns = max_ns(end_ns, latest_ns + transfer_ns);
    for (int32_t i = 0; i < count; i++)
        leave(machine, &machine->ranks[i], work, latest_ns, end_ns);
}

static void wait_for(const struct machine *machine, struct rank *rank, int32_t slot)
{
    call_runtime(rank, machine->vendor->stream_wait, EVENT_CALL_NS);
    rank->streams[STREAM_COMPUTE].ready_ns =
        max_ns(rank->streams[STREAM_COMPUTE].ready_ns, rank->collective_end_ns[slot]);
}

// --- data, small kernels, throttle --------------------------------------------------------------

// The idle time caused by a late batch comes before the step's first device event.
static void load_data(const struct machine *machine, struct rank *rank)
{
    int64_t planted_ns = machine->arguments->plant_ns[PLANT_STARVATION];
    int64_t needed_ns = rank->streams[STREAM_COMPUTE].free_ns + planted_ns - COPY_PATH_NS;
    pass(rank, DATA_NS);
    if (planted_ns)
        rank->now_ns = max_ns(rank->now_ns, needed_ns);
}

static void note_starvation(const struct machine *machine, struct rank *rank, int64_t idle_from_ns)
{
    if (!machine->arguments->plant_ns[PLANT_STARVATION] || rank->logbook.step_count == 0)
        return;
    rank->logbook.plant_ns[PLANT_STARVATION] += rank->logbook.spans[0].begin_ns - idle_from_ns;
}

static void run_tiny_op(const struct machine *machine, struct rank *rank, uint64_t i)
{
    static const struct instruction ops[] = {
        {.code = CODE_BEGIN, .kind = ROW_OP, .name = "aten::mul_", .sequence = -1, .module = -1},
        {.code = CODE_BEGIN, .kind = ROW_OP, .name = "aten::add_", .sequence = -1, .module = -1},
        {.code = CODE_BEGIN, .kind = ROW_OP, .name = "aten::sqrt", .sequence = -1, .module = -1},
    };
    begin_row(rank, &ops[i % 3]);
    pass(rank, TINY_OP_NS);
    launch_kernel(machine, rank, &machine->tiny[i % 3]);
    end_row(rank);
}

// Unfused elementwise work that takes longer to launch than to run, until it has cost the planted
// time.
static void run_tiny(const struct machine *machine, struct rank *rank)
{
    int64_t planted_ns = machine->arguments->plant_ns[PLANT_TINY_KERNELS];
    int64_t begin_ns = rank->streams[STREAM_COMPUTE].free_ns;
    for (uint64_t i = 0; rank->streams[STREAM_COMPUTE].free_ns - begin_ns < planted_ns; i++)
        run_tiny_op(machine, rank, i);
    if (planted_ns)
        rank->logbook.plant_ns[PLANT_TINY_KERNELS] +=
            rank->streams[STREAM_COMPUTE].free_ns - begin_ns;
}

static void throttle(const struct machine *machine, struct rank *rank)
{
    struct device_row *call = call_runtime(rank, machine->vendor->event_sync, EVENT_CALL_NS);
    rank->now_ns = call->api_end_ns =
        max_ns(rank->now_ns, rank->streams[STREAM_COMPUTE].free_ns - LEAD_NS);
}

// --- steps --------------------------------------------------------------------------------------

static void execute(const struct machine *machine, struct rank *rank,
                    const struct instruction *instruction)
{
    if (!plants_are_due(instruction->schedule, machine->step - FIRST_STEP))
        return;
    switch (instruction->code) {
    case CODE_BEGIN: begin_row(rank, instruction); break;
    case CODE_END: end_row(rank); break;
    case CODE_THREAD: rank->thread = instruction->thread; break;
    case CODE_LOAD_DATA: load_data(machine, rank); break;
    case CODE_LAUNCH: launch_kernel(machine, rank, instruction); break;
    case CODE_GRAPH: launch_graph(machine, rank, instruction); break;
    case CODE_UNLINKED: run_unlinked(machine, rank, instruction); break;
    case CODE_CALL: call_only(rank, instruction); break;
    case CODE_HOLD:
        rank->now_ns = max_ns(rank->now_ns, busy_until(rank)) + instruction->idle_ns;
        break;
    case CODE_ALLOCATE: allocate(rank, instruction); break;
    case CODE_RELEASE: release(rank, instruction); break;
    case CODE_COPY: copy_memory(machine, rank, instruction); break;
    case CODE_SET: set_memory(machine, rank, instruction); break;
    case CODE_TINY: run_tiny(machine, rank); break;
    case CODE_WAIT: wait_for(machine, rank, instruction->slot); break;
    case CODE_THROTTLE: throttle(machine, rank); break;
    case CODE_COLLECTIVE: break; // all ranks together, in meet
    }
}

void machine_step(struct machine *machine)
{
    const struct program *program = machine->program;
    machine->step_ppm =
        splitmix_jitter(&machine->rng, machine->run_ppm, machine->arguments->noise_ppm);
    int32_t count = machine->arguments->ranks;
    for (int32_t i = 0; i < count; i++) {
        struct rank *rank = &machine->ranks[i];
        rank->row_count = rank->call_count = rank->memory_count = 0;
        rank->idle_from_ns = busy_until(rank);
    }
    for (size_t k = 0; k < program->count; k++) {
        const struct instruction *instruction = &program->instructions[k];
        if (instruction->code == CODE_COLLECTIVE)
            meet(machine, instruction);
        for (int32_t i = 0; i < count; i++)
            execute(machine, &machine->ranks[i], instruction);
    }
    for (int32_t i = 0; i < count; i++) {
        struct rank *rank = &machine->ranks[i];
        note_starvation(machine, rank, rank->idle_from_ns);
        logbook_close_step(&rank->logbook, machine->step);
        rank->sequence_base += program->sequences;
        pass(rank, OP_BEGIN_NS);
    }
    machine->step++;
}

void machine_finish(struct machine *machine)
{
    for (int32_t i = 0; i < machine->arguments->ranks; i++) {
        struct rank *rank = &machine->ranks[i];
        rank->row_count = rank->call_count = rank->memory_count = 0;
        struct device_row *call = call_runtime(rank, machine->vendor->device_sync, EVENT_CALL_NS);
        rank->now_ns = call->api_end_ns =
            max_ns(rank->now_ns, rank->streams[STREAM_COMPUTE].free_ns) + 2000;
    }
}

static void start_rank(struct machine *machine, int32_t index)
{
    struct rank *rank = &machine->ranks[index];
    rank->index = index;
    rank->rng.state = machine->arguments->seed * 1000003 + (uint64_t)index * 7919 + 17;
    rank->clock_ns = index ? splitmix_below(&rank->rng, 2 * CLOCK_SPREAD_NS) - CLOCK_SPREAD_NS : 0;
    rank->now_ns = MACHINE_START_NS + splitmix_below(&rank->rng, 200000);
    rank->next_external = 1;
    rank->next_python = 1;
    rank->next_correlation = FIRST_CORRELATION;
    rank->sequence_base = 1000;
    heap_init(&rank->heap, machine->program);
    rank->logbook.keeps_events = machine->arguments->list_events;
    rank->collective_end_ns =
        outfile_memory((size_t)machine->program->slots + 1, sizeof *rank->collective_end_ns);
}

struct machine *machine_new(const struct arguments *arguments, const struct program *program)
{
    struct machine *machine = outfile_memory(1, sizeof *machine);
    machine->arguments = arguments;
    machine->program = program;
    machine->vendor = vendor_get(arguments->flavour);
    machine->step = FIRST_STEP;
    machine->run_ppm = repeat_run_ppm(arguments);
    machine->kernel_gap_ns = arguments->job == JOB_PROBE ? 0 : KERNEL_GAP_NS;
    machine->rng.state = arguments->seed;
    machine->ranks = outfile_memory((size_t)arguments->ranks, sizeof *machine->ranks);
    for (int i = 0; i < 3; i++)
        machine->tiny[i] = (struct instruction){
            .code = CODE_LAUNCH,
            .kernel = &machine->vendor->kernels[ROLE_TINY_MUL + i],
            .ns = TINY_NS * arguments->slow_percent[CATEGORY_ELEMENTWISE] / 100,
            .grid = {16, 1, 1},
        };
    for (int32_t i = 0; i < arguments->ranks; i++)
        start_rank(machine, i);
    return machine;
}

void machine_free(struct machine *machine)
{
    for (int32_t i = 0; i < machine->arguments->ranks; i++) {
        struct rank *rank = &machine->ranks[i];
        free(rank->collective_end_ns);
        free(rank->rows);
        free(rank->calls);
        free(rank->memory);
        heap_free(&rank->heap);
        logbook_free(&rank->logbook);
    }
    free(machine->ranks);
    free(machine);
}
