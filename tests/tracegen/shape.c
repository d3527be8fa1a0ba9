// SPDX-License-Identifier: Apache-2.0
// Synthetic rows: units of operators, a launch and its kernel, in blocks inside a tower of rows.
#include "tests/tracegen/shape.h"

#include "tests/tracegen/arguments.h"
#include "tests/tracegen/kineto_text.h"
#include "tests/tracegen/put.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOST_PID = 100, FIRST_STREAM = 7, EVENT_BYTES = 65536, BLOCK_UNITS = 16, STEP_SLOTS = 64 };
enum { DEFAULT_EVENTS = 100000, EVENTS_PER_STREAM = 512, TOWERS = 10, SLOT_BITS = 20 };
enum { COPY_EVERY = 16, COLLECTIVE_EVERY = 32, SYNC_EVERY = 64, MEMORY_EVERY = 8 };

// What the first event's time is relative to: the machine's boot, as profilers write it today, or
// 1970, as they did until 2023; 13 and 16 digits before the point.
#define BEGIN_NS      INT64_C(1428625746000000)
#define BEGIN_1970_NS INT64_C(1682725898000000000)
#define UNIT_NS       INT64_C(20000)
#define WITH_EVENTS   (-1) // grows in proportion to the events

enum args { ARGS_NONE, ARGS_USUAL, ARGS_MANY, ARGS_ESCAPED };

enum order { ORDER_TIME, ORDER_REVERSED, ORDER_SHUFFLED };

struct shape {
    const char *name;
    int32_t threads, streams; // or WITH_EVENTS
    int32_t tower;            // rows around each block, or WITH_EVENTS
    int32_t depth;            // nested rows in a unit
    int32_t names;            // of operators and of kernels, or WITH_EVENTS
    int32_t name_bytes;       // of kernels, at least
    enum args args;
    enum order order;
    bool python;    // towers and units are Python functions around one operator
    bool same_time; // everything starts at once and lasts equally long
    bool since_1970;
};

static const struct shape shapes[] = {
    {"standard", 2, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"since_1970", 2, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, true},
    {"small", 2, 3, 0, 2, 200, 0, ARGS_NONE, ORDER_TIME, false, false, false},
    {"args", 2, 3, 0, 2, 200, 60, ARGS_MANY, ORDER_TIME, false, false, false},
    {"escapes", 2, 3, 0, 2, 200, 60, ARGS_ESCAPED, ORDER_TIME, false, false, false},
    {"python", 2, 3, 40, 20, 400, 60, ARGS_USUAL, ORDER_TIME, true, false, false},
    {"long_names", 2, 3, 0, 2, 400, 1200, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"one_thread", 1, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"one_stream", 2, 1, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"same_time", 2, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, true, false},
    {"deep", 1, 3, WITH_EVENTS, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"streams", 2, WITH_EVENTS, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"threads", WITH_EVENTS, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"names", 2, 3, 0, 2, WITH_EVENTS, 60, ARGS_USUAL, ORDER_TIME, false, false, false},
    {"reversed", 2, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_REVERSED, false, false, false},
    {"shuffled", 2, 3, 0, 2, 200, 60, ARGS_USUAL, ORDER_SHUFFLED, false, false, false},
};

struct writer {
    struct outfile *out;
    const struct shape *shape;
    const struct layout *layout;
    int64_t threads, streams, tower, units; // of this trace; units per block
    int64_t block, unit;                    // the current ones, from 0
    int64_t events, device_events, device_sum_ns;
    uint64_t correlation;
};

// A row and where it is.
struct row {
    const char *cat;
    const char *name; // numbered if `number` is not negative
    int64_t number, name_bytes;
    int64_t pid, tid, begin_ns, dur_ns;
};

const struct shape *shape_find(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    return NULL;
}

// --- text ---------------------------------------------------------------------------------------

static const char many_args[] =
    ", \"Concrete Inputs\": [\"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"1\"]"
    ", \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"ScalarList\", \"ScalarList\", "
    "\"ScalarList\", \"Scalar\", \"Scalar\"]"
    ", \"Input Strides\": [[3145728, 1536, 1], [1536, 1], [], [], [], [], []]"
    ", \"Input Dims\": [[16, 2048, 1536], [6144, 1536], [], [], [], [], []]"
    ", \"Module Hierarchy\": \"TransformerBlock::layers.3.MLP::feed_forward.Linear::w1\""
    ", \"Call stack\": \"train.py(88): main;model.py(412): forward;mlp.py(57): forward\""
    ", \"kernel_hash\": \"c3f2mgyrwfvbrwz7u3bfxrffgxq2u3bfxrffgxq2u3bfxrffgxq\""
    ", \"kernel_backend\": \"triton\", \"num_warps\": 8, \"num_stages\": 3, \"num_ctas\": 1"
    ", \"registers spilled\": 0, \"constant bytes\": 960, \"local bytes\": 0, \"priority\": -1"
    ", \"graph id\": 0, \"graph node id\": 0, \"channel\": 12, \"channel type\": \"compute\""
    ", \"cluster\": [1, 1, 1], \"launch type\": 0, \"blocks per SM\": 11.636364"
    ", \"warps per SM\": 93.090912, \"tile\": \"128x256x64\", \"mma\": \"64x256x16\""
    ", \"warmup\": false";

static const char escaped_arg[] = ", \"note\": \"a \\\"quoted\\\" word and a \\\\ backslash\"";

static char *put_extra_args(const struct writer *w, char *p)
{
    if (w->shape->args >= ARGS_MANY)
        p = put_text(p, many_args);
    return w->shape->args == ARGS_ESCAPED ? put_text(p, escaped_arg) : p;
}

static char *put_number(char *p, const char *key, int64_t value)
{
    return put_i64(put_text(p, key), value);
}

// The time in the file's unit.
static int64_t time_of(const struct writer *w, int64_t ns)
{
    return (w->shape->since_1970 ? BEGIN_1970_NS : BEGIN_NS) + (w->shape->same_time ? 0 : ns);
}

static char *put_name(char *p, const struct row *row)
{
    static const char pad[] = "at::native::vectorized_elementwise_kernel<4, "
                              "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >, ";
    char *begin = p;
    p = put_text(p, row->name);
    if (row->number >= 0)
        p = put_u64(p, (uint64_t)row->number);
    while (p - begin < row->name_bytes)
        p = put_text(p, pad);
    return p;
}

// A row up to its args, which start with `open` if it has any.
static char *begin_row(struct writer *w, const struct row *row, const char *open)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(put_text(p, w->layout->open), "\"ph\": \"X\", \"cat\": \"");
    p = put_text(put_text(p, row->cat), "\", \"name\": \"");
    p = put_number(put_name(p, row), "\", \"pid\": ", row->pid);
    p = put_number(p, ", \"tid\": ", row->tid);
    p = put_text(put_text(p, ","), w->layout->line);
    p = put_us(put_text(p, "\"ts\": "), time_of(w, row->begin_ns));
    p = put_us(put_text(p, ", \"dur\": "), w->shape->same_time ? UNIT_NS : row->dur_ns);
    return open ? put_text(put_text(put_text(p, ","), w->layout->args), open) : p;
}

static void end_row(struct writer *w, char *p, bool has_args)
{
    p = has_args ? put_text(p, w->layout->args_end) : p;
    outfile_commit(w->out, put_text(p, w->layout->close));
    w->events++;
}

static void write_flow(struct writer *w, const struct row *row, const char *head)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(put_text(p, w->layout->open), head);
    p = put_number(p, ", \"id\": ", (int64_t)w->correlation);
    p = put_number(put_number(p, ", \"pid\": ", row->pid), ", \"tid\": ", row->tid);
    p = put_us(put_text(p, ", \"ts\": "), time_of(w, row->begin_ns));
    p = put_text(put_text(p, ","), w->layout->line);
    p = put_text(p, "\"cat\": \"ac2g\", \"name\": \"ac2g\"");
    end_row(w, p, false);
}

// --- rows ---------------------------------------------------------------------------------------

static int64_t name_number(const struct writer *w, int64_t salt)
{
    int64_t number = w->unit * 32 + salt;
    return w->shape->names == WITH_EVENTS ? number : number * 7 % w->shape->names;
}

static void write_op(struct writer *w, struct row *row)
{
    row->cat = "cpu_op";
    if (w->shape->args == ARGS_NONE) {
        end_row(w, begin_row(w, row, NULL), false);
        return;
    }
    char *p = begin_row(w, row, "\"External id\": ");
    p = put_number(put_i64(p, w->unit + 1),
                   ", \"Record function id\": 0, \"Sequence number\": ", w->unit);
    if (w->shape->args >= ARGS_MANY)
        p = put_extra_args(w, p);
    else
        p = put_text(p, ", \"Fwd thread id\": 0, \"Input type\": [\"float\", \"float\"], "
                        "\"Input Dims\": [[64, 2048], [2048, 768]]");
    end_row(w, put_number(p, ", \"Ev Idx\": ", w->events), true);
}

static void write_python(struct writer *w, struct row *row)
{
    row->cat = "python_function";
    char *p = begin_row(w, row, "\"Python parent id\": ");
    p = put_number(put_i64(p, w->events), ", \"Python id\": ", w->events + 1);
    end_row(w, put_number(p, ", \"Ev Idx\": ", w->events), true);
}

// Nested rows, the outermost first; each is `edge_ns` shorter at both ends.
static void write_nest(struct writer *w, struct row row, int64_t rows, int64_t edge_ns)
{
    static const char *const ops[] = {"aten::add_", "aten::mm_", "aten::linear_", "aten::copy_"};
    for (int64_t i = 0; i < rows; i++) {
        row.number = name_number(w, i % 32);
        row.name =
            w->shape->python ? "torch/nn/modules/module.py(1750): call_" : ops[row.number % 4];
        if (w->shape->python)
            write_python(w, &row);
        else
            write_op(w, &row);
        row.begin_ns += edge_ns;
        row.dur_ns -= 2 * edge_ns;
    }
}

static const char collective_args[] =
    ", \"Collective name\": \"allreduce\", \"In msg nelems\": 26214400, \"Out msg nelems\": "
    "26214400, \"Group size\": 8, \"dtype\": \"Float\", \"In split size\": \"[]\", \"Out split "
    "size\": \"[]\", \"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", "
    "\"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7]\"";

static void write_launch(struct writer *w, struct row row)
{
    row.cat = "cuda_runtime";
    row.number = -1;
    row.name = w->unit % COPY_EVERY == 0 ? "cudaMemcpyAsync" : "cudaLaunchKernel";
    char *p = begin_row(w, &row, "\"correlation\": ");
    p = put_i64(p, (int64_t)w->correlation);
    if (w->shape->args != ARGS_NONE)
        p = put_number(p, ", \"cbid\": 211, \"External id\": ", w->unit + 1);
    end_row(w, p, true);
    if (w->shape->args != ARGS_NONE)
        write_flow(w, &row, "\"ph\": \"s\"");
}

static char *put_kernel_args(const struct writer *w, char *p)
{
    if (w->unit % COPY_EVERY == 0)
        return put_text(p, ", \"bytes\": 4194304, \"memory bandwidth (GB/s)\": 21.500000");
    if (w->shape->args != ARGS_NONE)
        p = put_text(p,
                     ", \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": "
                     "11.636364, \"warps per SM\": 93.090912, \"grid\": [1536, 1, 1], \"block\": "
                     "[256, 1, 1], \"est. achieved occupancy %\": 100");
    p = put_extra_args(w, p);
    if (w->unit % COLLECTIVE_EVERY == 1)
        p = put_number(put_text(p, collective_args), ", \"Seq\": ", w->unit / COLLECTIVE_EVERY);
    return p;
}

static void write_device(struct writer *w, struct row row)
{
    bool copy = w->unit % COPY_EVERY == 0;
    row.cat = copy ? "gpu_memcpy" : "kernel";
    row.number = copy ? -1 : name_number(w, 31);
    row.name = copy                              ? "Memcpy HtoD (Pageable -> Device)"
               : w->unit % COLLECTIVE_EVERY == 1 ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                                                 : "void some::compute_kernel<float, 4>_";
    row.name_bytes = copy ? 0 : w->shape->name_bytes;
    char *p = begin_row(w, &row, "\"stream\": ");
    p = put_number(put_i64(p, row.tid), ", \"correlation\": ", (int64_t)w->correlation);
    if (w->shape->args != ARGS_NONE)
        p = put_number(p, ", \"device\": 0, \"context\": 1, \"External id\": ", w->unit + 1);
    end_row(w, put_kernel_args(w, p), true);
    if (w->shape->args != ARGS_NONE)
        write_flow(w, &row, "\"ph\": \"f\", \"bp\": \"e\"");
    w->device_events++;
    w->device_sum_ns += w->shape->same_time ? UNIT_NS : row.dur_ns;
}

static void write_sync(struct writer *w, struct row row)
{
    row.cat = "cuda_runtime";
    row.number = -1;
    row.name = "cudaStreamSynchronize";
    char *p = begin_row(w, &row, "\"cbid\": 131, \"correlation\": ");
    end_row(w, put_i64(p, (int64_t)++w->correlation), true);
}

static void write_memory(struct writer *w, const struct row *row)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(put_text(p, w->layout->open), "\"ph\": \"i\", \"cat\": \"cpu_instant_event\", "
                                               "\"s\": \"t\", \"name\": \"[memory]\", \"pid\": ");
    p = put_number(put_i64(p, row->pid), ", \"tid\": ", row->tid);
    p = put_us(put_text(p, ", \"ts\": "), time_of(w, row->begin_ns));
    p = put_text(put_text(p, ","), w->layout->args);
    bool gives = w->unit / MEMORY_EVERY % 2 == 1;
    p = put_text(p, "\"Total Reserved\": 536870912, \"Total Allocated\": ");
    p = put_text(p, gives ? "1048576, \"Bytes\": -524288" : "1572864, \"Bytes\": 524288");
    p = put_number(p, ", \"Addr\": ", 4096 * (w->unit / MEMORY_EVERY / 2 % 64 + 1));
    end_row(w, put_text(p, ", \"Device Id\": 0, \"Device Type\": 1"), true);
}

// --- blocks -------------------------------------------------------------------------------------

// The kernels of threads that share a stream follow one another.
static void write_unit(struct writer *w, int64_t begin_ns, int64_t turn)
{
    int64_t thread = w->block % w->threads;
    int64_t share = (w->threads + w->streams - 1) / w->streams, dur_ns = UNIT_NS * 2 / 5 / share;
    struct row host = {
        .pid = HOST_PID, .tid = HOST_PID + thread, .begin_ns = begin_ns, .dur_ns = UNIT_NS * 3 / 5};
    struct row device = {.pid = 0,
                         .tid = FIRST_STREAM + (turn * w->threads + thread) % w->streams,
                         .begin_ns = begin_ns + UNIT_NS / 2 + thread / w->streams * dur_ns,
                         .dur_ns = dur_ns};
    struct row launch = host;
    launch.begin_ns += UNIT_NS / 4;
    launch.dur_ns = UNIT_NS / 8;
    w->correlation++;
    write_nest(w, host, w->shape->depth, 100);
    if (w->shape->python) {
        struct row op = launch;
        op.name = "aten::add_";
        op.number = name_number(w, 30);
        write_op(w, &op);
    }
    if (w->unit % MEMORY_EVERY == 0)
        write_memory(w, &launch);
    write_launch(w, launch);
    write_device(w, device);
    if (w->unit % SYNC_EVERY == SYNC_EVERY - 1) {
        launch.begin_ns += UNIT_NS / 8 + 1000;
        launch.dur_ns = 500;
        write_sync(w, launch);
    }
    w->unit++;
}

static int64_t slot_of(const struct writer *w)
{
    int64_t slot = w->block / w->threads, last = (1 << SLOT_BITS) - 1;
    switch (w->shape->order) {
    case ORDER_TIME: break;
    case ORDER_REVERSED: return last - slot;
    case ORDER_SHUFFLED: return slot * 2654435761 & last;
    }
    return slot;
}

static void write_step(struct writer *w, int64_t slot, int64_t begin_ns, int64_t dur_ns)
{
    int64_t slots = w->shape->tower == WITH_EVENTS ? 1 : STEP_SLOTS;
    if (w->shape->same_time || w->block % w->threads != 0 || slot % slots != 0)
        return;
    struct row row = {.cat = "user_annotation",
                      .name = "ProfilerStep#",
                      .number = slot / slots,
                      .pid = HOST_PID,
                      .tid = HOST_PID,
                      .begin_ns = begin_ns,
                      .dur_ns = dur_ns * slots - 1};
    char *p = begin_row(w, &row, "\"External id\": 0");
    end_row(w, p, true);
}

static void write_block(struct writer *w)
{
    int64_t edge_ns = 10, slot = slot_of(w);
    int64_t lead_ns = w->tower * edge_ns + 1000;
    int64_t slot_ns = 2 * lead_ns + w->units * UNIT_NS, begin_ns = slot * slot_ns;
    struct row tower = {.pid = HOST_PID,
                        .tid = HOST_PID + w->block % w->threads,
                        .begin_ns = begin_ns + 500,
                        .dur_ns = slot_ns - 1000};
    write_step(w, slot, begin_ns, slot_ns);
    write_nest(w, tower, w->tower, edge_ns);
    for (int64_t i = 0; i < w->units; i++)
        write_unit(w, begin_ns + lead_ns + i * UNIT_NS, slot * w->units + i);
    w->block++;
}

// --- files --------------------------------------------------------------------------------------

static void write_head(struct writer *w)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(p,
                 "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, "
                 "\"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 84942979072,\n"
                 "      \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132\n    }\n  ],\n"
                 "  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [\n");
    outfile_commit(w->out, p);
}

static void write_tail(struct writer *w)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(p,
                 "  {\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": 100, \"tid\": "
                 "100, \"args\": {\"name\": \"python3\"}}\n  ],\n"
                 "  \"traceName\": \"./traces/rank0.json\"\n}\n");
    w->events++;
    outfile_commit(w->out, p);
}

static int64_t in_proportion(int32_t wanted, int64_t events, int64_t per)
{
    return wanted != WITH_EVENTS ? wanted : events / per + 1;
}

static void write_truth(const struct writer *w, const char *folder, uint64_t bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/truth.json", folder);
    FILE *out = fopen(path, "w");
    if (!out)
        outfile_die("cannot create %s: %s", path, strerror(errno));
    fprintf(out,
            "{\"shape\": \"%s\", \"events\": %lld, \"device_events\": %lld, "
            "\"device_sum_ns\": %lld, \"json_bytes\": %llu}\n",
            w->shape->name, (long long)w->events, (long long)w->device_events,
            (long long)w->device_sum_ns, (unsigned long long)bytes);
    if (fclose(out) != 0)
        outfile_die("cannot write %s: %s", path, strerror(errno));
}

void shape_generate(const struct arguments *a)
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/rank0.json%s", a->out, suffixes[a->format]) >= PATH_MAX)
        outfile_die("found a path of more than %d bytes", PATH_MAX);
    const struct shape *shape = a->shape;
    // A wanted size fixes the number of events only roughly, and so what is proportional to it.
    int64_t events = a->events ? a->events : a->size ? (int64_t)(a->size / 256) : DEFAULT_EVENTS;
    bool towers = shape->tower == WITH_EVENTS;
    struct writer w = {.out = outfile_open(path, a->format, a->spacing),
                       .shape = shape,
                       .layout = kineto_layout(a),
                       .threads = in_proportion(shape->threads, events, EVENTS_PER_STREAM),
                       .streams = in_proportion(shape->streams, events, EVENTS_PER_STREAM),
                       .tower = in_proportion(shape->tower, events, (int64_t)2 * TOWERS),
                       .units = towers ? events / (TOWERS * 12) + 1 : BLOCK_UNITS};
    write_head(&w);
    while (a->size && !a->events ? outfile_text_bytes(w.out) < a->size : w.events + 1 < events)
        write_block(&w);
    write_tail(&w);
    write_truth(&w, a->out, outfile_text_bytes(w.out));
    outfile_close(w.out);
}
