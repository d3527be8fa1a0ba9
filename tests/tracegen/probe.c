// SPDX-License-Identifier: Apache-2.0
// No kernel of the probe starts without a known reason: all its idle time is planted.
#include "tests/tracegen/probe.h"

#include "tests/tracegen/idle.h"

enum { PROBE_GAP_NS = 200000, COPY_BYTES = 1 << 20, COPY_NS = 40000, OVERRUN_NS = 250000 };
enum { SIDE_NS = 500000, ELEMENTS = 1 << 22 };

static const struct group tensor_parallel = {"1", "TP", 2, 0, 1};
static const struct group expert_parallel = {"2", "EP", 4, 0, 2};

// The gaps requested on the command line; all causes if it requests none.
static void idle_of_each_cause(struct builder *b)
{
    const int64_t *wanted_ns = b->arguments->idle_ns;
    bool any = false;
    for (int cause = 1; cause < IDLE_COUNT; cause++)
        any = any || wanted_ns[cause];
    for (int cause = 1; cause < IDLE_COUNT; cause++) {
        // A graph's gaps are many and small.
        int64_t usual_ns = cause == IDLE_GRAPH_REPLAY ? PROBE_GAP_NS : PROBE_GAP_NS * cause;
        int64_t ns = any ? wanted_ns[cause] : usual_ns;
        if (ns)
            idle_write(b, (enum idle_cause)cause, ns);
    }
}

static void copy(struct builder *b, enum copy_way way, bool pageable, int64_t bytes)
{
    struct instruction work = {
        .code = CODE_COPY,
        .ns = COPY_NS,
        .bytes = bytes,
        .way = way,
        .pageable = pageable,
    };
    builder_op(b, "aten::copy_", NULL);
    builder_work(b, &work);
    builder_end(b);
}

// The last copy blocks the host until it is done.
static void copies_of_each_direction(struct builder *b)
{
    copy(b, COPY_HTOD, false, COPY_BYTES);
    copy(b, COPY_DTOD, false, COPY_BYTES * 8);
    copy(b, COPY_PTOP, false, COPY_BYTES * 2);
    copy(b, COPY_DTOH, false, COPY_BYTES * 3);
    copy(b, COPY_HTOD, true, COPY_BYTES / 2);
    idle_write(b, IDLE_SYNC, PROBE_GAP_NS);
}

// Two streams busy at once; the second one ends last.
static void overlap_of_streams(struct builder *b)
{
    struct instruction work = {
        .code = CODE_LAUNCH,
        .kernel = &b->vendor->kernels[ROLE_GELU],
        .ns = SIDE_NS,
        .grid = {256, 1, 1},
        .stream = STREAM_SIDE,
    };
    builder_op(b, "aten::gelu", NULL);
    builder_work(b, &work);
    builder_end(b);
    idle_cover(b, IDLE_UNTOLD);
}

// A kernel that, according to the profiler, ran on into the next one on its stream.
static void overrun(struct builder *b)
{
    struct instruction work = {
        .code = CODE_LAUNCH,
        .kernel = &b->vendor->kernels[ROLE_SUM],
        .ns = COPY_NS,
        .grid = {256, 1, 1},
        .overrun_ns = OVERRUN_NS,
    };
    builder_op(b, "aten::sum", NULL);
    builder_work(b, &work);
    builder_end(b);
    work.kernel = &b->vendor->kernels[ROLE_ADD];
    work.ns = SIDE_NS;
    work.overrun_ns = 0;
    builder_op(b, "aten::add", NULL);
    builder_work(b, &work);
    builder_end(b);
}

static void collectives_of_several_groups(struct builder *b)
{
    struct call call = {ROLE_ALL_REDUCE, ELEMENTS, &tensor_parallel, false, false};
    builder_collective_of(b, &call);
    call.group = &expert_parallel;
    call.role = ROLE_ALL_TO_ALL;
    builder_collective_of(b, &call);
    call.role = ROLE_ALL_GATHER;
    call.bare = true;
    builder_wait(b, builder_collective_of(b, &call));
}

static void custom_collective(struct builder *b)
{
    struct instruction work = {
        .code = CODE_LAUNCH,
        .kernel = &b->vendor->kernels[ROLE_CUSTOM_ALL_REDUCE],
        .ns = COPY_NS,
        .grid = {36, 1, 1},
    };
    builder_op(b, "_C_custom_ar::all_reduce", NULL);
    builder_work(b, &work);
    builder_end(b);
}

void probe_write(struct program *program, const struct arguments *arguments)
{
    struct builder builder = {
        .program = program, .arguments = arguments, .vendor = vendor_get(arguments->flavour)};
    struct builder *b = &builder;
    builder_step(b);
    idle_cover(b, IDLE_UNTOLD); // runs before the last step's kernels end
    overlap_of_streams(b);
    collectives_of_several_groups(b);
    idle_cover(b, IDLE_UNTOLD);
    copies_of_each_direction(b);
    custom_collective(b);
    overrun(b);
    idle_of_each_cause(b);
    builder_end(b);
    builder_finish(b);
}
