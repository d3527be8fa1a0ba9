// SPDX-License-Identifier: Apache-2.0
// Runs all ranks at once. A communication ends for all of its ranks at the same time except for
// jitter, some time after the last of them has started; each rank's streams proceed in launch
// order.
#include "tests/tracegen/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_SEND = DIMENSIONS, STREAM_RECV, STREAMS };

#define LAUNCH_NS     5000   // of the host
#define DELAY_NS      4000   // from the launch to the device
#define HEAD_START_NS 150000 // the host finishes this long before the device is done with a step
#define LATENCY_NS    12000
#define INSIDE_GBPS   300 // bytes per nanosecond within a node
#define BETWEEN_GBPS  45
#define JITTER_PPM    5000

struct member {
    int32_t rank;
    uint32_t event;
};

// One communication, once per group and position.
struct instance {
    struct member *members;
    int32_t arrived;
    int64_t latest_ns;
};

// A group, or two pipeline neighbors in one direction.
struct channel {
    struct instance *at;
    size_t count, capacity;
    int32_t size;
};

struct part {
    uint32_t event;
    size_t channel, instance;
};

// A kernel: a communication, or a send and a receive.
struct waiting {
    struct part parts[2];
    int part_count;
    int64_t post_ns;
};

struct queue {
    struct waiting *at;
    size_t first, count, capacity;
    int64_t free_ns;
};

struct worker {
    struct mesh_program program;
    size_t pc;
    int32_t step;
    int64_t host_ns, compute_ns;
    int64_t blocked_on; // an event, -1 for none
    struct queue queues[STREAMS];
    uint32_t *slots;                 // events
    uint32_t counts[DIMENSIONS + 4]; // calls so far: per dimension, and per neighbor and direction
    uint32_t calls, dropped;         // of all kinds; of these, how many are in no trace
    uint32_t drop_every;             // 0: all are recorded
    struct splitmix rng;
};

struct machine {
    const struct mesh *mesh;
    struct mesh_job *job;
    struct worker *workers;
    struct channel *channels;
    size_t channel_count;
    int32_t *ready; // ranks that may continue
    size_t ready_count;
    struct head {
        int32_t rank, stream;
    } * heads; // streams whose next communication can start
    size_t head_count, head_capacity;
    struct splitmix rng;
};

static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    items = realloc(items, *capacity * size);
    if (!items)
        outfile_die("out of memory for the job");
    return items;
}

// --- communication ------------------------------------------------------------------------------

// Channels: one per group, then four per pipeline stage of a group: to and from the next, twice.
static size_t channel_of(const struct mesh *mesh, int32_t rank, const struct mesh_instruction *call)
{
    int32_t group = mesh->group_of[call->dimension][rank];
    if (call->kind < MESH_SEND)
        return (size_t)group;
    int32_t stage = mesh_stage_of(mesh, rank);
    int32_t from = call->kind == MESH_SEND ? stage : call->peer;
    int32_t to = call->kind == MESH_SEND ? call->peer : stage;
    int32_t index = group * mesh->options->pp + (from < to ? from : to);
    return (size_t)(mesh->group_count + 2 * index + (from > to));
}

static struct mesh_event *event_of(const struct machine *machine, struct member member)
{
    return &machine->job->ranks[member.rank].events[member.event];
}

// Whether it leaves the node, and whether it crosses the slow link.
static void find_way(const struct machine *machine, struct member member, bool *leaves, bool *slow)
{
    const struct mesh *mesh = machine->mesh;
    const struct mesh_event *event = event_of(machine, member);
    const struct mesh_group *group = &mesh->groups[event->group];
    *leaves = group->spans_nodes;
    *slow = group->slow;
    if (event->peer < 0)
        return;
    int32_t node = mesh_node_of(mesh, member.rank), other = mesh_node_of(mesh, event->peer);
    *leaves = node != other;
    *slow = *leaves && mesh_is_slow(mesh, node, other);
}

static int64_t transfer_ns(struct machine *machine, struct member member)
{
    const struct mesh_event *event = event_of(machine, member);
    const struct mesh_group *group = &machine->mesh->groups[event->group];
    bool leaves, slow;
    find_way(machine, member, &leaves, &slow);
    double n = event->kind < MESH_SEND ? group->size : 2;
    double factor = event->kind == MESH_ALL_REDUCE ? 2 * (n - 1) / n
                    : event->kind < MESH_SEND      ? (n - 1) / n
                                                   : 1;
    double ns = LATENCY_NS + (double)event->bytes * factor / (leaves ? BETWEEN_GBPS : INSIDE_GBPS);
    if (slow)
        ns = ns * machine->mesh->options->slow_percent / 100;
    return splitmix_jitter(&machine->rng, (int64_t)ns, JITTER_PPM);
}

static void note_head(struct machine *machine, int32_t rank, int32_t stream)
{
    machine->heads =
        grow(machine->heads, machine->head_count, &machine->head_capacity, sizeof *machine->heads);
    machine->heads[machine->head_count++] = (struct head){rank, stream};
}

static int32_t stream_of(const struct mesh_event *event, const struct mesh *mesh)
{
    bool sends = event->kind == MESH_SEND && mesh->options->passing != PASSING_BATCHED;
    if (event->kind >= MESH_SEND)
        return sends ? STREAM_SEND : STREAM_RECV;
    return (int32_t)mesh->groups[event->group].dimension;
}

// For a kernel that sends and receives: whether the other half is over, too, so that both end.
static bool is_over(struct mesh_event *event)
{
    struct mesh_event *other = event->joins ? event + 1 : event - 1;
    if (!event->joins && !event->joined)
        return true;
    if (other->end_ns < 0)
        return false;
    int64_t end_ns = other->end_ns > event->end_ns ? other->end_ns : event->end_ns;
    int64_t wait_ns = other->wait_ns > event->wait_ns ? other->wait_ns : event->wait_ns;
    event->end_ns = other->end_ns = end_ns;
    event->wait_ns = other->wait_ns = wait_ns;
    return true;
}

static void finish(struct machine *machine, struct member member, int64_t end_ns)
{
    struct mesh_event *event = event_of(machine, member);
    struct worker *worker = &machine->workers[member.rank];
    int32_t stream = stream_of(event, machine->mesh);
    struct queue *queue = &worker->queues[stream];
    event->end_ns = end_ns;
    if (!is_over(event))
        return;
    queue->free_ns = end_ns = event->end_ns;
    queue->first++;
    if (queue->first < queue->count)
        note_head(machine, member.rank, stream);
    if (worker->blocked_on == member.event ||
        (event->joins && worker->blocked_on == (int64_t)member.event + 1)) {
        worker->blocked_on = -1;
        machine->ready[machine->ready_count++] = member.rank;
    }
}

// The last member to start among those in a trace; -1 if there is at most one, so that no wait is
// visible.
static int32_t latest_known(const struct machine *machine, const struct channel *channel,
                            const struct instance *instance)
{
    int32_t known = 0, latest = -1;
    for (int32_t i = 0; i < channel->size; i++) {
        const struct mesh_event *event = event_of(machine, instance->members[i]);
        if (event->dropped)
            continue;
        known++;
        if (latest < 0 || event->begin_ns > event_of(machine, instance->members[latest])->begin_ns)
            latest = i;
    }
    return known > 1 ? latest : -1;
}

// Who waited how long, as far as traces show.
static void find_waits(struct machine *machine, const struct channel *channel,
                       const struct instance *instance)
{
    int32_t latest = latest_known(machine, channel, instance);
    if (latest < 0)
        return;
    const struct mesh_event *last = event_of(machine, instance->members[latest]);
    bool blames = instance->members[latest].rank == machine->mesh->options->straggler &&
                  last->kind < MESH_SEND;
    for (int32_t i = 0; i < channel->size; i++) {
        struct mesh_event *event = event_of(machine, instance->members[i]);
        event->last = i == latest;
        event->matched = !event->dropped;
        if (event->dropped || event->last)
            continue;
        event->wait_ns = last->begin_ns - event->begin_ns;
        if (blames)
            machine->job->caused_wait_ns[event->step] += event->wait_ns;
    }
}

// All have started, so the end is known.
static void resolve(struct machine *machine, const struct channel *channel,
                    struct instance *instance)
{
    const struct mesh_options *o = machine->mesh->options;
    int64_t end_ns = instance->latest_ns + transfer_ns(machine, instance->members[0]);
    find_waits(machine, channel, instance);
    for (int32_t i = 0; i < channel->size; i++) {
        int64_t late_ns = splitmix_below(&machine->rng, o->jitter_ns + 1);
        finish(machine, instance->members[i], end_ns + late_ns);
    }
    free(instance->members);
    instance->members = NULL;
}

static struct instance *instance_at(struct channel *channel, size_t index)
{
    while (channel->count <= index) {
        channel->at = grow(channel->at, channel->count, &channel->capacity, sizeof *channel->at);
        channel->at[channel->count++] = (struct instance){
            .members = outfile_memory((size_t)channel->size, sizeof(struct member)),
            .latest_ns = INT64_MIN};
    }
    return &channel->at[index];
}

static void begin_part(struct machine *machine, int32_t rank, const struct part *part,
                       int64_t begin_ns)
{
    struct member member = {rank, part->event};
    struct mesh_event *event = event_of(machine, member);
    struct channel *channel = &machine->channels[part->channel];
    struct instance *instance = instance_at(channel, part->instance);
    event->begin_ns = begin_ns;
    instance->members[instance->arrived++] = member;
    if (event->begin_ns > instance->latest_ns)
        instance->latest_ns = event->begin_ns;
    if (instance->arrived == channel->size)
        resolve(machine, channel, instance);
}

// The next communication of a stream starts.
static void begin_head(struct machine *machine, struct head head)
{
    const struct queue *queue = &machine->workers[head.rank].queues[head.stream];
    struct waiting waiting = queue->at[queue->first];
    int64_t begin_ns = waiting.post_ns > queue->free_ns ? waiting.post_ns : queue->free_ns;
    for (int i = 0; i < waiting.part_count; i++)
        begin_part(machine, head.rank, &waiting.parts[i], begin_ns);
}

// --- one rank -----------------------------------------------------------------------------------

static struct mesh_event *add_event(struct machine *machine, int32_t rank,
                                    const struct mesh_instruction *what)
{
    struct mesh_rank *record = &machine->job->ranks[rank];
    struct worker *worker = &machine->workers[rank];
    record->events = grow(record->events, record->count, &record->capacity, sizeof *record->events);
    struct mesh_event *event = &record->events[record->count++];
    worker->host_ns += LAUNCH_NS;
    *event = (struct mesh_event){.launch_ns = worker->host_ns,
                                 .end_ns = -1,
                                 .group = -1,
                                 .peer = -1,
                                 .step = worker->step,
                                 .bytes = what->bytes,
                                 .kind = (uint8_t)what->kind,
                                 .phase = (uint8_t)what->phase,
                                 .kernel = (uint8_t)what->kernel,
                                 .rows = what->rows,
                                 .joins = what->joins,
                                 .joined = what->joined};
    return event;
}

// When the device can start what was just launched, after all earlier compute.
static int64_t device_ns(const struct worker *worker)
{
    int64_t now = worker->host_ns + DELAY_NS;
    return now > worker->compute_ns ? now : worker->compute_ns;
}

static void compute(struct machine *machine, int32_t rank, const struct mesh_instruction *what)
{
    struct worker *worker = &machine->workers[rank];
    struct mesh_event *event = add_event(machine, rank, what);
    event->begin_ns = device_ns(worker);
    event->end_ns = event->begin_ns +
                    splitmix_jitter(&worker->rng, what->ns, machine->mesh->options->noise_ppm);
    worker->compute_ns = event->end_ns;
    if (what->code == MESH_DO_PAGEABLE)
        worker->host_ns = event->end_ns;
}

static int32_t peer_of(const struct mesh *mesh, int32_t rank, const struct mesh_instruction *call)
{
    int32_t group = mesh->group_of[MESH_PIPELINE][rank];
    return call->kind < MESH_SEND ? -1 : mesh->groups[group].ranks[call->peer];
}

// The rank's call counter for this one's channel.
static int count_of(const struct mesh *mesh, int32_t rank, const struct mesh_instruction *call)
{
    if (call->kind < MESH_SEND)
        return (int)mesh->groups[mesh->group_of[call->dimension][rank]].dimension;
    bool back = call->peer < mesh_stage_of(mesh, rank);
    return DIMENSIONS + 2 * (call->kind == MESH_RECV) + back;
}

// A trace lacks some communications, evenly spread, or is missing altogether.
static bool is_dropped(const struct mesh_options *o, int32_t rank, struct worker *worker)
{
    worker->calls++;
    bool due = worker->drop_every && worker->calls % worker->drop_every == 0 &&
               worker->dropped < (uint32_t)o->drop_count;
    worker->dropped += due;
    return due || rank == o->without;
}

static uint32_t drop_every(const struct mesh_options *o, int32_t rank,
                           const struct mesh_program *program)
{
    uint32_t calls = 0;
    for (size_t i = 0; i < program->count; i++)
        calls += program->at[i].code == MESH_DO_CALL;
    uint32_t every = calls * (uint32_t)o->steps / ((uint32_t)o->drop_count + 1);
    return rank != o->drop_rank ? 0 : every ? every : 1;
}

static void post(struct machine *machine, int32_t rank, const struct mesh_instruction *call)
{
    struct worker *worker = &machine->workers[rank];
    const struct mesh *mesh = machine->mesh;
    struct mesh_event *event = add_event(machine, rank, call);
    uint32_t index = (uint32_t)(machine->job->ranks[rank].count - 1);
    size_t channel = channel_of(mesh, rank, call);
    event->group = mesh->group_of[call->dimension][rank];
    event->peer = peer_of(mesh, rank, call);
    event->dropped = is_dropped(mesh->options, rank, worker);
    event->sequence = worker->counts[count_of(mesh, rank, call)]++;
    int32_t stream = stream_of(event, mesh);
    struct queue *queue = &worker->queues[stream];
    if (!call->joined) {
        queue->at = grow(queue->at, queue->count, &queue->capacity, sizeof *queue->at);
        queue->at[queue->count++] = (struct waiting){.part_count = 0};
        if (queue->first + 1 == queue->count)
            note_head(machine, rank, stream);
    }
    struct waiting *waiting = &queue->at[queue->count - 1];
    waiting->parts[waiting->part_count++] = (struct part){index, channel, event->sequence};
    waiting->post_ns = device_ns(worker);
    if (call->slot >= 0)
        worker->slots[call->slot] = index;
    else if (!call->joins)
        worker->blocked_on = index;
}

static void begin_step(struct machine *machine, int32_t rank)
{
    struct worker *worker = &machine->workers[rank];
    int64_t back_ns = worker->compute_ns - HEAD_START_NS;
    worker->host_ns = back_ns > worker->host_ns ? back_ns : worker->host_ns;
    machine->job->ranks[rank].step_begin_ns[worker->step] = worker->host_ns;
}

static void end_step(struct machine *machine, int32_t rank)
{
    struct worker *worker = &machine->workers[rank];
    int64_t back_ns = worker->compute_ns - HEAD_START_NS;
    machine->job->ranks[rank].step_end_ns[worker->step++] =
        back_ns > worker->host_ns ? back_ns : worker->host_ns;
    worker->pc = 0;
    for (int i = 0; i < STREAMS; i++)
        worker->queues[i].first = worker->queues[i].count = 0; // nothing is outstanding any more
}

// False when it has to wait.
static bool follow(struct machine *machine, int32_t rank)
{
    struct worker *worker = &machine->workers[rank];
    const struct mesh_instruction *what = &worker->program.at[worker->pc];
    const struct mesh_event *events = machine->job->ranks[rank].events;
    switch (what->code) {
    case MESH_DO_RUN:
    case MESH_DO_PAGEABLE: compute(machine, rank, what); break;
    case MESH_DO_STALL: worker->host_ns += HEAD_START_NS + what->ns; break;
    case MESH_DO_CALL: post(machine, rank, what); break;
    case MESH_DO_AWAIT: {
        const struct mesh_event *event = &events[worker->slots[what->slot]];
        if (event->end_ns < 0) {
            worker->blocked_on = worker->slots[what->slot];
            return false;
        }
        if (event->end_ns > worker->compute_ns)
            worker->compute_ns = event->end_ns;
        break;
    }
    }
    worker->pc++;
    return worker->blocked_on < 0;
}

// What it waited for last has ended.
static void wake(struct machine *machine, int32_t rank)
{
    struct worker *worker = &machine->workers[rank];
    const struct mesh_instruction *last = &worker->program.at[worker->pc ? worker->pc - 1 : 0];
    const struct mesh_rank *record = &machine->job->ranks[rank];
    if (worker->pc && last->code == MESH_DO_CALL && last->slot < 0) {
        int64_t end_ns = record->events[record->count - 1].end_ns;
        worker->compute_ns = end_ns > worker->compute_ns ? end_ns : worker->compute_ns;
    }
}

static void advance(struct machine *machine, int32_t rank)
{
    struct worker *worker = &machine->workers[rank];
    wake(machine, rank);
    while (worker->step < machine->mesh->options->steps) {
        if (worker->pc == 0)
            begin_step(machine, rank);
        while (worker->pc < worker->program.count)
            if (!follow(machine, rank))
                return;
        end_step(machine, rank);
    }
}

// --- all of them --------------------------------------------------------------------------------

static void open_worker(struct machine *machine, int32_t rank)
{
    const struct mesh_options *o = machine->mesh->options;
    struct worker *worker = &machine->workers[rank];
    struct mesh_rank *record = &machine->job->ranks[rank];
    mesh_program_build(machine->mesh, rank, &worker->program);
    worker->blocked_on = -1;
    worker->drop_every = drop_every(o, rank, &worker->program);
    worker->slots = outfile_memory((size_t)worker->program.slots + 1, sizeof *worker->slots);
    worker->rng.state = o->seed * 1000003 + (uint64_t)rank;
    record->step_count = o->steps;
    record->parts = outfile_memory((size_t)o->steps, sizeof *record->parts);
    record->step_begin_ns = outfile_memory((size_t)o->steps, sizeof(int64_t));
    record->step_end_ns = outfile_memory((size_t)o->steps, sizeof(int64_t));
    struct splitmix rng = {o->seed * 7919 + (uint64_t)rank};
    record->clock_ns = o->skew_ns ? splitmix_below(&rng, 2 * o->skew_ns + 1) - o->skew_ns : 0;
    for (int32_t i = 0; i < o->drift_count; i++)
        record->drift_ppm += o->drifts[i].rank == rank ? o->drifts[i].amount : 0;
    for (int32_t i = 0; i < o->jump_count; i++)
        record->jump_ns += o->jumps[i].rank == rank ? o->jumps[i].amount : 0;
}

// In the middle of the middle step.
static void place_jump(const struct mesh_options *o, struct mesh_rank *record)
{
    int32_t step = o->steps / 2;
    record->jump_at_ns =
        record->step_begin_ns[step] + (record->step_end_ns[step] - record->step_begin_ns[step]) / 2;
}

int64_t mesh_clock_at(const struct mesh_rank *rank, int64_t true_ns)
{
    return rank->clock_ns + true_ns / 1000 * rank->drift_ppm / 1000 +
           (rank->jump_ns && true_ns >= rank->jump_at_ns ? rank->jump_ns : 0);
}

static void open_channels(struct machine *machine)
{
    const struct mesh *mesh = machine->mesh;
    size_t groups = (size_t)mesh->group_count;
    machine->channel_count = groups + 2 * groups * (size_t)mesh->options->pp;
    machine->channels = outfile_memory(machine->channel_count, sizeof *machine->channels);
    for (size_t i = 0; i < machine->channel_count; i++)
        machine->channels[i].size = i < groups ? mesh->groups[i].size : 2;
}

static void close_machine(struct machine *machine)
{
    for (int32_t rank = 0; rank < machine->mesh->world; rank++) {
        struct worker *worker = &machine->workers[rank];
        if (worker->step < machine->mesh->options->steps)
            outfile_die("rank %d waits for ever in step %d", rank, worker->step);
        for (int i = 0; i < STREAMS; i++)
            free(worker->queues[i].at);
        free(worker->program.at);
        free(worker->slots);
    }
    for (size_t i = 0; i < machine->channel_count; i++)
        free(machine->channels[i].at);
    free(machine->channels);
    free(machine->workers);
    free(machine->ready);
    free(machine->heads);
}

static void run_all(struct machine *machine)
{
    while (machine->ready_count || machine->head_count) {
        if (machine->head_count)
            begin_head(machine, machine->heads[--machine->head_count]);
        else
            advance(machine, machine->ready[--machine->ready_count]);
    }
}

// --- what compute did not hide ------------------------------------------------------------------

static int compare_begins(const void *a, const void *b)
{
    const struct mesh_event *x = *(const struct mesh_event *const *)a;
    const struct mesh_event *y = *(const struct mesh_event *const *)b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x > y) - (x < y);
}

// Time from begin to end with no compute; *next is the first kernel that may matter.
static int64_t uncovered(const struct mesh_rank *rank, size_t *next, int64_t begin_ns,
                         int64_t end_ns)
{
    int64_t ns = end_ns - begin_ns;
    while (*next < rank->count &&
           (rank->events[*next].kind != MESH_COMPUTE || rank->events[*next].end_ns <= begin_ns))
        ++*next;
    for (size_t i = *next; i < rank->count; i++) {
        const struct mesh_event *event = &rank->events[i];
        if (event->kind != MESH_COMPUTE)
            continue;
        if (event->begin_ns >= end_ns)
            break;
        int64_t from = event->begin_ns > begin_ns ? event->begin_ns : begin_ns;
        int64_t to = event->end_ns < end_ns ? event->end_ns : end_ns;
        ns -= to > from ? to - from : 0;
    }
    return ns;
}

static int64_t later_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static void find_ends(struct mesh_rank *rank)
{
    for (size_t i = 0; i < rank->count; i++) {
        const struct mesh_event *event = &rank->events[i];
        int64_t *done_ns = &rank->parts[event->step].done_ns;
        if (event->kind == MESH_COMPUTE && event->end_ns > *done_ns)
            *done_ns = event->end_ns;
    }
    for (int32_t s = 1; s < rank->step_count; s++)
        rank->parts[s].done_ns = later_of(rank->parts[s].done_ns, rank->parts[s - 1].done_ns);
}

// The part of a stretch of time that is in a step.
struct stretch {
    int64_t begin_ns, end_ns;
};

static struct stretch within(const struct mesh_rank *rank, int32_t step, struct stretch all)
{
    int64_t from_ns = step ? rank->parts[step - 1].done_ns : 0;
    if (all.begin_ns < from_ns)
        all.begin_ns = from_ns;
    if (all.end_ns > rank->parts[step].done_ns)
        all.end_ns = rank->parts[step].done_ns;
    if (all.end_ns < all.begin_ns)
        all.end_ns = all.begin_ns;
    return all;
}

// Credits each step with the part of a call during it; before from_ns another call is exposed.
static void part_call(struct mesh_rank *rank, const struct mesh_event *call, int64_t from_ns,
                      size_t next)
{
    int64_t latest_ns = call->begin_ns + call->wait_ns;
    if (latest_ns > call->end_ns)
        latest_ns = call->end_ns;
    for (int32_t s = 0; s < rank->step_count; s++) {
        struct mesh_parts *parts = &rank->parts[s];
        struct stretch wait = within(rank, s, (struct stretch){call->begin_ns, latest_ns});
        struct stretch transfer = within(rank, s, (struct stretch){latest_ns, call->end_ns});
        parts->wait_ns += wait.end_ns - wait.begin_ns;
        parts->transfer_ns += transfer.end_ns - transfer.begin_ns;
        wait.begin_ns = later_of(wait.begin_ns, from_ns);
        transfer.begin_ns = later_of(transfer.begin_ns, from_ns);
        if (wait.begin_ns < wait.end_ns)
            parts->exposed_wait_ns += uncovered(rank, &next, wait.begin_ns, wait.end_ns);
        if (transfer.begin_ns < transfer.end_ns)
            parts->exposed_transfer_ns +=
                uncovered(rank, &next, transfer.begin_ns, transfer.end_ns);
    }
}

// An instant belongs to compute, otherwise to the communication that started first.
static void expose(struct mesh_rank *rank)
{
    find_ends(rank);
    struct mesh_event **calls = outfile_memory(rank->count + 1, sizeof(struct mesh_event *));
    size_t count = 0, next = 0;
    for (size_t i = 0; i < rank->count; i++)
        if (rank->events[i].kind < MESH_COMPUTE && !rank->events[i].dropped)
            calls[count++] = &rank->events[i];
    qsort(calls, count, sizeof(struct mesh_event *), compare_begins);
    int64_t owned_until = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t from = calls[i]->begin_ns > owned_until ? calls[i]->begin_ns : owned_until;
        if (!calls[i]->joined)
            part_call(rank, calls[i], from, next);
        if (calls[i]->end_ns > from) {
            int64_t latest_ns = calls[i]->begin_ns + calls[i]->wait_ns;
            int64_t until_ns = latest_ns < from               ? from
                               : latest_ns > calls[i]->end_ns ? calls[i]->end_ns
                                                              : latest_ns;
            calls[i]->exposed_wait_ns = uncovered(rank, &next, from, until_ns);
            calls[i]->exposed_ns =
                calls[i]->exposed_wait_ns + uncovered(rank, &next, until_ns, calls[i]->end_ns);
            owned_until = calls[i]->end_ns;
        }
    }
    free(calls);
}

void mesh_run(const struct mesh *mesh, struct mesh_job *job)
{
    size_t world = (size_t)mesh->world;
    *job = (struct mesh_job){.mesh = mesh};
    job->ranks = outfile_memory(world, sizeof *job->ranks);
    job->caused_wait_ns = outfile_memory((size_t)mesh->options->steps, sizeof(int64_t));
    struct machine machine = {.mesh = mesh, .job = job, .rng = {mesh->options->seed}};
    machine.workers = outfile_memory(world, sizeof *machine.workers);
    machine.ready = outfile_memory(world, sizeof *machine.ready);
    open_channels(&machine);
    for (int32_t rank = 0; rank < mesh->world; rank++) {
        open_worker(&machine, rank);
        machine.ready[machine.ready_count++] = rank;
    }
    run_all(&machine);
    close_machine(&machine);
    for (int32_t rank = 0; rank < mesh->world; rank++) {
        expose(&job->ranks[rank]);
        place_jump(mesh->options, &job->ranks[rank]);
    }
}

void mesh_job_free(struct mesh_job *job)
{
    for (int32_t rank = 0; rank < job->mesh->world; rank++) {
        free(job->ranks[rank].events);
        free(job->ranks[rank].parts);
        free(job->ranks[rank].step_begin_ns);
        free(job->ranks[rank].step_end_ns);
    }
    free(job->ranks);
    free(job->caused_wait_ns);
}
