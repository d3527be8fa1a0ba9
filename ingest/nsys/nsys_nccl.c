// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsys/nsys_nccl.h"
#include "ingest/base/fuzzed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DTYPE        "Byte" // sizes are given in bytes, not in elements
#define NOT_LAUNCHED INT64_MIN
#define DEEPEST      64   // ranges before a call that are searched for the one around it
#define MAX_GROUP    4096 // ranges in a group
#define NONE         UINT32_MAX

enum operation {
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    BROADCAST,
    REDUCE,
    ALL_TO_ALL,
    GATHER,
    SCATTER,
    SEND,
    RECV,
    OPERATIONS,
    GROUP_START = OPERATIONS,
    GROUP_END,
    OTHER
};

// NCCL's names, and PyTorch's for the same operations.
static const struct {
    const char *range, *name;
} operations[OPERATIONS] = {
    [ALL_REDUCE] = {"ncclAllReduce", "allreduce"},
    [ALL_GATHER] = {"ncclAllGather", "_allgather_base"},
    [REDUCE_SCATTER] = {"ncclReduceScatter", "_reduce_scatter_base"},
    [BROADCAST] = {"ncclBroadcast", "broadcast"},
    [REDUCE] = {"ncclReduce", "reduce"},
    [ALL_TO_ALL] = {"ncclAlltoAll", "all_to_all"},
    [GATHER] = {"ncclGather", "gather"},
    [SCATTER] = {"ncclScatter", "scatter"},
    [SEND] = {"ncclSend", "send"},
    [RECV] = {"ncclRecv", "recv"},
};

struct kernel {
    struct launch_shape shape;
    int64_t begin_ns, dur_ns, device, correlation;
    struct label stream;
    int64_t thread, launch_ns; // of the call, NOT_LAUNCHED if it was not recorded
    str_id name;
};

struct range {
    int64_t thread, start_ns, end_ns;
    int64_t communicator, bytes, peer; // VALUE_ABSENT if not given
    uint32_t first;                    // of the end of a group: its first range, NONE otherwise
    uint32_t launches, taken;          // kernels launched in it
    enum operation operation;
};

struct communicator {
    int64_t id, rank, size;
};

enum { MAX_COMMUNICATORS = FUZZED_SIZE(4096, 64) };

struct nccl {
    struct nsys *nsys;
    struct kernel *kernels; // by correlation once there are calls
    struct range *ranges;
    size_t kernel_count, kernel_cap, range_count, range_cap;
    bool sorted, has_older; // has_older: see uses_older
    uint32_t communicator_count;
    struct communicator communicators[MAX_COMMUNICATORS];
    struct nccl_schemas schemas;
};

static struct budget *budget_of(const struct nccl *nccl)
{
    return trace_builder_budget(nccl->nsys->builder);
}

struct nccl *nccl_new(struct nsys *nsys, struct err *err)
{
    struct nccl *nccl = calloc(1, sizeof *nccl);
    if (!nccl) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    nccl->nsys = nsys;
    if (nccl_schemas_read(nsys->tables.database, &nccl->schemas, err))
        return nccl;
    nccl_free(nccl);
    return NULL;
}

void nccl_free(struct nccl *nccl)
{
    if (!nccl)
        return;
    budget_free(budget_of(nccl), nccl->kernels, nccl->kernel_cap * sizeof *nccl->kernels);
    budget_free(budget_of(nccl), nccl->ranges, nccl->range_cap * sizeof *nccl->ranges);
    free(nccl);
}

// --- kernels and their launches -----------------------------------------------------------------

bool nccl_kernel(struct nccl *nccl, const struct event_record *kernel, struct err *err)
{
    struct kernel *kernels = budget_room(budget_of(nccl), nccl->kernels, &nccl->kernel_cap,
                                         nccl->kernel_count + 1, sizeof *kernels, err);
    if (!kernels)
        return false;
    nccl->kernels = kernels;
    kernels[nccl->kernel_count++] = (struct kernel){.shape = kernel->shape,
                                                    .begin_ns = kernel->begin_ns,
                                                    .dur_ns = kernel->dur_ns,
                                                    .device = kernel->pid.number,
                                                    .stream = kernel->tid,
                                                    .correlation = kernel->correlation,
                                                    .launch_ns = NOT_LAUNCHED,
                                                    .name = kernel->name};
    return true;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_correlation(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    int by = order(a->correlation, b->correlation);
    return by ? by : order(a->begin_ns, b->begin_ns);
}

void nccl_call(struct nccl *nccl, int64_t thread, int64_t start_ns, int64_t correlation)
{
    size_t from = 0, to = nccl->kernel_count;
    if (!to || correlation == VALUE_ABSENT)
        return;
    if (!nccl->sorted)
        qsort(nccl->kernels, to, sizeof *nccl->kernels, by_correlation);
    nccl->sorted = true;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (nccl->kernels[middle].correlation < correlation)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < nccl->kernel_count && nccl->kernels[from].correlation == correlation &&
           nccl->kernels[from].launch_ns == NOT_LAUNCHED;
         from++) {
        nccl->kernels[from].thread = thread;
        nccl->kernels[from].launch_ns = start_ns;
    }
}

// --- ranges -------------------------------------------------------------------------------------

static enum operation operation_of(struct str name)
{
    if (str_equal(name, STR("ncclGroupStart")))
        return GROUP_START;
    if (str_equal(name, STR("ncclGroupEnd")))
        return GROUP_END;
    if (str_equal(name, STR("ncclBcast")))
        return BROADCAST;
    int found = 0;
    while (found < OPERATIONS && !str_equal(name, str_of(operations[found].range)))
        found++;
    return found < OPERATIONS ? (enum operation)found : OTHER;
}

static struct communicator *find_communicator(struct nccl *nccl, int64_t id)
{
    for (uint32_t i = 0; i < nccl->communicator_count; i++)
        if (nccl->communicators[i].id == id)
            return &nccl->communicators[i];
    return NULL;
}

static void add_communicator(struct nccl *nccl, struct communicator communicator)
{
    if (communicator.id != VALUE_ABSENT && nccl->communicator_count < MAX_COMMUNICATORS &&
        !(communicator.id && find_communicator(nccl, communicator.id)))
        nccl->communicators[nccl->communicator_count++] = communicator;
}

// Creating a communicator reveals this process's rank in it. A split gives the size and rank in the
// parent; growing one gives no rank. A plain ncclCommInitRank gives 0 for all of them.
static void note_communicator(struct nccl *nccl, struct str call, const int64_t values[NCCL_FIELDS])
{
    bool split = str_equal(call, STR("ncclCommSplit"));
    int64_t size = values[NCCL_RANKS], rank = values[NCCL_RANK];
    int64_t id = values[split ? NCCL_PARENT : NCCL_COMMUNICATOR];
    if (split)
        add_communicator(
            nccl, (struct communicator){values[NCCL_COMMUNICATOR], VALUE_ABSENT, VALUE_ABSENT});
    if (size >= 1 && rank >= 0 && rank < size && !str_equal(call, STR("ncclCommGrow")))
        add_communicator(nccl, (struct communicator){id, rank, size});
}

bool nccl_range(struct nccl *nccl, const struct nccl_label *label, struct err *err)
{
    struct nccl_payload payload;
    if (!nccl_payload_read(&nccl->schemas, label->domain, label->payload, &payload))
        for (int i = 0; i < NCCL_FIELDS; i++)
            payload.values[i] = VALUE_ABSENT;
    note_communicator(nccl, label->name, payload.values);
    enum operation operation = operation_of(label->name);
    if (operation == OTHER)
        return true;
    struct range *ranges = budget_room(budget_of(nccl), nccl->ranges, &nccl->range_cap,
                                       nccl->range_count + 1, sizeof *ranges, err);
    if (!ranges)
        return false;
    nccl->ranges = ranges;
    ranges[nccl->range_count++] = (struct range){.thread = label->thread,
                                                 .start_ns = label->start_ns,
                                                 .end_ns = label->end_ns,
                                                 .communicator = payload.values[NCCL_COMMUNICATOR],
                                                 .bytes = payload.values[NCCL_BYTES],
                                                 .peer = payload.values[NCCL_PEER],
                                                 .first = NONE,
                                                 .operation = operation};
    return true;
}

void nccl_world(const struct nccl *nccl, int64_t *rank, int64_t *size)
{
    *rank = *size = VALUE_ABSENT;
    for (uint32_t i = 0; !nccl->has_older && i < nccl->communicator_count; i++)
        if (nccl->communicators[i].size > *size) {
            *rank = nccl->communicators[i].rank;
            *size = nccl->communicators[i].size;
        }
}

static int by_thread(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    int by = order(a->thread, b->thread);
    by = by ? by : order(a->start_ns, b->start_ns);
    return by ? by : order(b->end_ns, a->end_ns);
}

// The end of the outermost group launches what was called since its start.
static void close_groups(struct nccl *nccl)
{
    uint32_t first = NONE, depth = 0;
    for (uint32_t i = 0; i < nccl->range_count; i++) {
        struct range *range = &nccl->ranges[i];
        if (i && range->thread != nccl->ranges[i - 1].thread)
            depth = 0;
        if (range->operation == GROUP_START && depth++ == 0)
            first = i + 1;
        if (range->operation == GROUP_END && depth > 0 && --depth == 0)
            range->first = first;
    }
}

// Whether a communicator is used that was made before the recording started: it may be that of the
// whole job. If some were made without a number it may be one of those.
static bool uses_older(struct nccl *nccl)
{
    int64_t known = 0;
    if (find_communicator(nccl, 0))
        return false;
    for (uint32_t i = 0; i < nccl->range_count; i++) {
        int64_t id = nccl->ranges[i].communicator;
        if (id == VALUE_ABSENT || id == 0 || id == known)
            continue;
        if (!find_communicator(nccl, id))
            return true;
        known = id;
    }
    return false;
}

static uint32_t range_around(const struct nccl *nccl, int64_t thread, int64_t at_ns)
{
    size_t from = 0, to = nccl->range_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct range *range = &nccl->ranges[middle];
        if (range->thread < thread || (range->thread == thread && range->start_ns <= at_ns))
            from = middle + 1;
        else
            to = middle;
    }
    for (size_t i = from; i > 0 && from - i < DEEPEST; i--) {
        const struct range *range = &nccl->ranges[i - 1];
        if (range->thread != thread)
            break;
        if (range->end_ns >= at_ns)
            return (uint32_t)(i - 1);
    }
    return NONE;
}

// --- collectives --------------------------------------------------------------------------------

// What one kernel does.
struct message {
    enum operation operation;
    int64_t communicator, peer, sent, received; // bytes
    uint32_t sends, receives;
    bool known;
};

// A kernel may do all calls of a group.
static void add_call(struct message *message, const struct range *range)
{
    bool point = range->operation == SEND || range->operation == RECV;
    bool was_point = message->operation == SEND || message->operation == RECV;
    bool first = message->operation == OTHER;
    int64_t *sum = range->operation == RECV ? &message->received : &message->sent;
    bool other = range->communicator != message->communicator ||
                 (range->operation != message->operation && !(point && was_point));
    message->known &= range->bytes >= 0 && (first || !other) &&
                      !__builtin_add_overflow(*sum, range->bytes > 0 ? range->bytes : 0, sum);
    message->sends += range->operation == SEND;
    message->receives += range->operation == RECV;
    message->operation = range->operation;
    message->communicator = range->communicator;
    message->peer = range->peer;
}

// Kernels of a group are its calls in order, unless one does them all.
static struct message message_of(struct nccl *nccl, uint32_t index)
{
    struct message message = {.operation = OTHER, .known = true};
    struct range *range = &nccl->ranges[index];
    uint32_t calls = 0, wanted = range->taken++;
    if (range->operation < OPERATIONS)
        add_call(&message, range);
    if (range->first != NONE && index - range->first > MAX_GROUP)
        return (struct message){0};
    for (uint32_t i = range->first; range->first != NONE && i < index; i++)
        calls += nccl->ranges[i].operation < OPERATIONS;
    if (calls && range->launches > 1 && range->launches != calls)
        return (struct message){0};
    for (uint32_t i = range->first, call = 0; calls && i < index; i++) {
        if (nccl->ranges[i].operation >= OPERATIONS)
            continue;
        if (range->launches == 1 || call == wanted)
            add_call(&message, &nccl->ranges[i]);
        call++;
    }
    message.known &= message.operation < OPERATIONS;
    return message;
}

static int64_t times(int64_t bytes, int64_t ranks)
{
    int64_t all;
    return ranks > 0 && !__builtin_mul_overflow(bytes, ranks, &all) ? all : VALUE_ABSENT;
}

// Of what ranks gather, scatter or exchange, NCCL gives one rank's part.
static void size_of(const struct message *message, int64_t ranks, struct collective *collective)
{
    collective->in_elems = collective->out_elems = message->sent;
    switch (message->operation) {
    case ALL_GATHER:
    case GATHER: collective->out_elems = times(message->sent, ranks); break;
    case REDUCE_SCATTER:
    case SCATTER: collective->in_elems = times(message->sent, ranks); break;
    case ALL_TO_ALL:
        collective->in_elems = collective->out_elems = times(message->sent, ranks);
        break;
    case SEND:
    case RECV:
        collective->in_elems = message->sends ? message->sent : message->received;
        collective->out_elems = message->receives ? message->received : message->sent;
        break;
    default: break;
    }
}

// PyTorch does an all-to-all by sending to and receiving from each rank that it has data for,
// itself included. A stage of a pipeline exchanges with up to two neighbors.
static const char *name_of(const struct message *message, int64_t ranks)
{
    bool several = message->sends == message->receives && message->sends > 1;
    if (message->sends + message->receives < 2)
        return operations[message->operation].name;
    if (message->sends && message->receives)
        return several && (message->sends > 2 || ranks <= 2) ? "all_to_all" : "send_recv";
    return message->sends ? "send" : "recv";
}

static bool name_group(struct nccl *nccl, const struct message *message, int64_t ranks,
                       struct collective *collective, struct err *err)
{
    char name[24];
    if (message->communicator == VALUE_ABSENT)
        return true;
    snprintf(name, sizeof name, "0x%" PRIx64, (uint64_t)message->communicator);
    struct trace_group group = {.size = ranks};
    if (!trace_builder_text(nccl->nsys->builder, str_of(name), ERR_NO_POS, &group.name, err))
        return false;
    collective->group = group.name;
    return trace_builder_group(nccl->nsys->builder, &group, err);
}

static bool describe(struct nccl *nccl, const struct message *message,
                     struct collective *collective, struct err *err)
{
    const struct communicator *communicator = find_communicator(nccl, message->communicator);
    int64_t rank, world, ranks = communicator ? communicator->size : VALUE_ABSENT;
    bool alone = message->sends + message->receives == 1;
    struct trace_builder *builder = nccl->nsys->builder;
    nccl_world(nccl, &rank, &world);
    collective->group_size = ranks;
    collective->rank_start = collective->rank_stride = VALUE_ABSENT;
    collective->peer_in_group = alone ? message->peer : VALUE_ABSENT;
    collective->peer = alone && ranks > 0 && ranks == world ? message->peer : VALUE_ABSENT;
    size_of(message, ranks, collective);
    return trace_builder_text(builder, str_of(name_of(message, ranks)), ERR_NO_POS,
                              &collective->name, err) &&
           trace_builder_text(builder, STR(DTYPE), ERR_NO_POS, &collective->dtype, err) &&
           name_group(nccl, message, ranks, collective, err);
}

static bool add_kernel(struct nccl *nccl, const struct kernel *kernel, uint32_t range,
                       struct err *err)
{
    struct event_record record = event_record_of(EVENT_KERNEL);
    record.name = kernel->name;
    record.begin_ns = kernel->begin_ns;
    record.dur_ns = kernel->dur_ns;
    record.pid.number = kernel->device;
    record.tid = kernel->stream;
    record.correlation = kernel->correlation;
    record.shape = kernel->shape;
    if (range != NONE) {
        struct message message = message_of(nccl, range);
        if (message.known && !describe(nccl, &message, &record.collective, err))
            return false;
    }
    return trace_builder_add(nccl->nsys->builder, &record, err);
}

static int by_launch(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    int by = order(a->launch_ns, b->launch_ns);
    return by ? by : order(a->begin_ns, b->begin_ns);
}

static uint32_t range_of(const struct nccl *nccl, const struct kernel *kernel)
{
    return kernel->launch_ns == NOT_LAUNCHED
               ? NONE
               : range_around(nccl, kernel->thread, kernel->launch_ns);
}

bool nccl_finish(struct nccl *nccl, struct err *err)
{
    if (nccl->range_count >= NONE)
        return err_set(err, ERR_LIMIT, "found more NCCL ranges than can be read");
    if (nccl->range_count)
        qsort(nccl->ranges, nccl->range_count, sizeof *nccl->ranges, by_thread);
    if (nccl->kernel_count)
        qsort(nccl->kernels, nccl->kernel_count, sizeof *nccl->kernels, by_launch);
    close_groups(nccl);
    nccl->has_older = uses_older(nccl);
    for (size_t i = 0; i < nccl->kernel_count; i++) {
        uint32_t range = range_of(nccl, &nccl->kernels[i]);
        if (range != NONE)
            nccl->ranges[range].launches++;
    }
    for (size_t i = 0; i < nccl->kernel_count; i++)
        if (!add_kernel(nccl, &nccl->kernels[i], range_of(nccl, &nccl->kernels[i]), err))
            return false;
    nccl->kernel_count = 0;
    return true;
}
