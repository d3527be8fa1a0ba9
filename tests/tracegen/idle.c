// SPDX-License-Identifier: Apache-2.0
// One way to produce each cause of idle time, as it looks in real traces.
#include "tests/tracegen/idle.h"

enum { COVER_NS = 400000, GRAPH_GAP_NS = 20000, GRAPH_KERNEL_NS = 30000 };

const char *idle_cause_name(enum idle_cause cause)
{
    static const char *const names[IDLE_COUNT] = {
        [IDLE_UNTOLD] = "untold",
        [IDLE_SYNC] = "sync",
        [IDLE_DATA_LOADING] = "data_loading",
        [IDLE_ALLOCATOR] = "allocator",
        [IDLE_HOST_COMPUTE] = "host_compute",
        [IDLE_LAUNCH_OVERHEAD] = "launch_overhead",
        [IDLE_EVENT_WAIT] = "event_wait",
        [IDLE_GRAPH_REPLAY] = "graph_replay",
        [IDLE_PROFILER] = "profiler",
        [IDLE_COLD_START] = "cold_start",
        [IDLE_UNKNOWN] = "unknown",
        [IDLE_UNRECORDED] = "unrecorded",
    };
    return names[cause];
}

static struct instruction kernel(const struct builder *b, enum instruction_code code,
                                 enum idle_cause cause)
{
    return (struct instruction){
        .code = code,
        .kernel = &b->vendor->kernels[ROLE_ADD],
        .ns = COVER_NS,
        .grid = {4096, 1, 1},
        .cause = cause,
    };
}

static void launch(struct builder *b, const struct instruction *work)
{
    builder_op(b, "aten::add", NULL);
    builder_work(b, work);
    builder_end(b);
}

void idle_cover(struct builder *b, enum idle_cause cause)
{
    struct instruction work = kernel(b, CODE_LAUNCH, cause);
    launch(b, &work);
}

static void hold(struct builder *b, int64_t ns)
{
    builder_add(b, &(struct instruction){.code = CODE_HOLD, .idle_ns = ns});
}

static void call(struct builder *b, const struct vendor_api *api, int64_t ns)
{
    builder_add(b, &(struct instruction){.code = CODE_CALL, .api = api, .idle_ns = ns});
}

// The host waits for the device and notices its end late.
static void sync(struct builder *b, int64_t ns)
{
    builder_op(b, "aten::item", NULL);
    builder_op(b, "aten::_local_scalar_dense", NULL);
    call(b, b->vendor->stream_sync, ns);
    builder_end(b);
    builder_end(b);
    idle_cover(b, IDLE_SYNC);
}

static void load_data(struct builder *b, int64_t ns)
{
    builder_annotation(b, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
    hold(b, ns);
    builder_end(b);
    idle_cover(b, IDLE_DATA_LOADING);
}

static void allocate(struct builder *b, int64_t ns)
{
    builder_op(b, "aten::empty", NULL);
    call(b, b->vendor->malloc, ns);
    builder_end(b);
    idle_cover(b, IDLE_ALLOCATOR);
}

static void compute_on_host(struct builder *b, int64_t ns)
{
    builder_op(b, "aten::sort", NULL);
    hold(b, ns);
    builder_end(b);
    idle_cover(b, IDLE_HOST_COMPUTE);
}

static void launch_slowly(struct builder *b, int64_t ns)
{
    struct instruction work = kernel(b, CODE_LAUNCH, IDLE_LAUNCH_OVERHEAD);
    work.idle_ns = ns;
    launch(b, &work);
}

// Launched in time, but the stream waits for a value written by another process.
static void wait_for_event(struct builder *b, int64_t ns)
{
    struct instruction work = kernel(b, CODE_LAUNCH, IDLE_EVENT_WAIT);
    work.delay_ns = ns;
    call(b, b->vendor->value_wait, 0);
    launch(b, &work);
}

// A graph whose kernels are a small distance apart. The first immediately follows the kernel before
// it.
static void replay_graph(struct builder *b, int64_t ns)
{
    struct instruction work = kernel(b, CODE_GRAPH, IDLE_GRAPH_REPLAY);
    work.ns = GRAPH_KERNEL_NS;
    int32_t gaps = (int32_t)(ns / GRAPH_GAP_NS) + 1;
    work.delay_ns = ns / gaps;
    work.kernels = gaps + 1;
    builder_work(b, &work);
    idle_cover(b, IDLE_UNTOLD);
}

// Starts when the device is done: if it were working before, the profiler would hide other causes.
static void profile(struct builder *b, int64_t ns)
{
    hold(b, 0);
    builder_overhead(b, "Activity Buffer Request");
    hold(b, ns);
    builder_end(b);
    idle_cover(b, IDLE_PROFILER);
}

// The host loads code before it launches.
static void start_cold(struct builder *b, int64_t ns)
{
    builder_op(b, "aten::add", NULL);
    call(b, b->vendor->module_load, ns);
    builder_end(b);
    idle_cover(b, IDLE_COLD_START);
}

// Launched in time, and held up by a kernel that is missing from the trace along with its launch.
static void lose_work(struct builder *b, int64_t ns)
{
    struct instruction work = kernel(b, CODE_LAUNCH, IDLE_UNRECORDED);
    work.delay_ns = ns;
    launch(b, &work);
}

// The host was late, but nothing in the trace says what launched the next kernel.
static void lose_launch(struct builder *b, int64_t ns)
{
    hold(b, ns);
    struct instruction work = kernel(b, CODE_UNLINKED, IDLE_UNKNOWN);
    work.delay_ns = ns;
    builder_work(b, &work);
}

void idle_write(struct builder *b, enum idle_cause cause, int64_t ns)
{
    switch (cause) {
    case IDLE_SYNC: sync(b, ns); break;
    case IDLE_DATA_LOADING: load_data(b, ns); break;
    case IDLE_ALLOCATOR: allocate(b, ns); break;
    case IDLE_HOST_COMPUTE: compute_on_host(b, ns); break;
    case IDLE_LAUNCH_OVERHEAD: launch_slowly(b, ns); break;
    case IDLE_EVENT_WAIT: wait_for_event(b, ns); break;
    case IDLE_GRAPH_REPLAY: replay_graph(b, ns); break;
    case IDLE_PROFILER: profile(b, ns); break;
    case IDLE_COLD_START: start_cold(b, ns); break;
    case IDLE_UNRECORDED: lose_work(b, ns); break;
    case IDLE_UNKNOWN: lose_launch(b, ns); break;
    case IDLE_UNTOLD:
    case IDLE_COUNT: break;
    }
}
