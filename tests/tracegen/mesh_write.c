// SPDX-License-Identifier: Apache-2.0
// The trace of one rank of a mesh, in the words of PyTorch's profiler.
#include "tests/tracegen/mesh.h"
#include "tests/tracegen/put.h"

#include <limits.h>
#include <stdio.h>

enum { EVENT_BYTES = 16384, FIRST_PID = 1000, AUTOGRAD_TID = 97, COMPUTE_STREAM = 7 };

#define START_NS     INT64_C(3743411222000000) // of all clocks, after the base time
#define BASE_TIME_NS "1767189312000000000"

struct writer {
    const struct mesh_job *job;
    const struct mesh *mesh;
    const struct mesh_rank *record;
    struct outfile *out;
    int32_t rank, pid, device;
    uint64_t correlation;
};

static const struct words {
    const char *name, *kernel, *op;
} words[] = {
    [MESH_ALL_REDUCE] = {"allreduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                         "c10d::allreduce_"},
    [MESH_ALL_GATHER] = {"_allgather_base", "ncclDevKernel_AllGather_RING_LL",
                         "c10d::_allgather_base_"},
    [MESH_REDUCE_SCATTER] = {"_reduce_scatter_base", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
                             "c10d::_reduce_scatter_base_"},
    [MESH_ALL_TO_ALL] = {"all_to_all", "ncclDevKernel_SendRecv", "c10d::alltoall_base_"},
    [MESH_SEND] = {"send", "ncclDevKernel_SendRecv", "c10d::send"},
    [MESH_RECV] = {"recv", "ncclDevKernel_SendRecv", "c10d::recv_"},
};

static const char *const descriptions[DIMENSIONS] = {
    [MESH_WORLD] = "default_pg",
    [MESH_TENSOR] = "TENSOR_MODEL_PARALLEL_GROUP",
    [MESH_DATA] = "DATA_PARALLEL_GROUP",
    [MESH_EXPERT] = "EXPERT_MODEL_PARALLEL_GROUP",
    [MESH_PIPELINE] = "PIPELINE_MODEL_PARALLEL_GROUP",
};

static char *put_ranks(char *p, const struct mesh_group *group, bool shortens)
{
    *p++ = '[';
    for (int32_t i = 0; i < group->size; i++) {
        bool hidden = shortens && group->size > 30 && i >= 20 && i + 1 < group->size;
        if (hidden && i > 20)
            continue;
        p = put_text(p, i ? ", " : "");
        p = hidden ? put_text(p, "...") : put_i64(p, group->ranks[i]);
    }
    *p++ = ']';
    return p;
}

// --- what stands around the events --------------------------------------------------------------

static void write_groups(struct writer *w)
{
    bool first = true;
    for (int d = 0; d < DIMENSIONS; d++) {
        int32_t index = w->mesh->group_of[d][w->rank];
        if (index < 0)
            continue;
        const struct mesh_group *group = &w->mesh->groups[index];
        char *p = outfile_reserve(w->out, EVENT_BYTES);
        p = put_text(p, first ? "" : ", ");
        p = put_i64(put_text(p, "{\"pg_name\": \""), group->name);
        p = put_text(put_text(p, "\", \"pg_desc\": \""), descriptions[d]);
        p = put_i64(put_text(p, "\", \"backend_config\": \"cuda:nccl\", \"pg_size\": "),
                    group->size);
        p = put_ranks(put_text(p, ", \"ranks\": "), group, false);
        *p++ = '}';
        outfile_commit(w->out, p);
        first = false;
    }
}

static void write_head(struct writer *w)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(p, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": ");
    p = put_i64(p, w->device);
    p = put_text(p, ", \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 84978434048, "
                    "\"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}],\n"
                    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ");
    p = put_i64(put_text(put_i64(p, w->rank), ", \"world_size\": "), w->mesh->world);
    p = put_text(p, ", \"nccl_version\": \"2.22.3\", \"pg_config\": [");
    outfile_commit(w->out, p);
    if (!w->mesh->options->no_metadata)
        write_groups(w);
    p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(p, "]},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": " BASE_TIME_NS
                    ",\n\"traceEvents\": [\n");
    outfile_commit(w->out, p);
}

static void write_tail(struct writer *w)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_text(p, "{\"ph\": \"M\", \"name\": \"thread_name\", \"ts\": 0, \"pid\": ");
    p = put_i64(put_text(put_i64(p, w->pid), ", \"tid\": "), w->pid + AUTOGRAD_TID);
    p = put_text(p, ", \"args\": {\"name\": \"pt_autograd_0\"}}\n],\n\"traceName\": \"rank");
    p = put_text(put_i64(p, w->rank), ".json\"\n}\n");
    outfile_commit(w->out, p);
}

// --- events -------------------------------------------------------------------------------------

static char *put_event(const struct writer *w, char *p, const char *cat, const char *name,
                       int32_t tid)
{
    p = put_text(put_text(p, "{\"ph\": \"X\", \"cat\": \""), cat);
    p = put_text(put_text(p, "\", \"name\": \""), name);
    bool device = cat[0] == 'k' || cat[0] == 'g';
    p = put_i64(put_text(p, "\", \"pid\": "), device ? w->device : w->pid);
    return put_i64(put_text(p, ", \"tid\": "), tid);
}

static char *put_times(const struct writer *w, char *p, int64_t begin_ns, int64_t end_ns)
{
    p = put_us(put_text(p, ", \"ts\": "), START_NS + w->record->clock_ns + begin_ns);
    return put_us(put_text(p, ", \"dur\": "), end_ns - begin_ns);
}

// When a host row lasts.
struct span {
    int64_t begin_ns, end_ns;
};

static void write_row(struct writer *w, const char *cat, const char *name, int32_t tid,
                      struct span span)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_times(w, put_event(w, p, cat, name, tid), span.begin_ns, span.end_ns);
    outfile_commit(w->out, put_text(p, "},\n"));
}

static int32_t thread_of(const struct writer *w, const struct mesh_event *event)
{
    return w->pid + (event->phase == MESH_BACKWARD ? AUTOGRAD_TID : 0);
}

static const char *op_of(const struct mesh_event *event)
{
    if (event->kind < MESH_COMPUTE)
        return words[event->kind].op;
    return event->kind == MESH_COPY         ? "aten::copy_"
           : event->phase == MESH_OPTIMIZER ? "aten::_fused_adamw_"
                                            : "aten::mm";
}

static void write_host(struct writer *w, const struct mesh_event *event)
{
    int32_t tid = thread_of(w, event);
    int64_t at = event->launch_ns, end = at + 3000;
    if (event->kind == MESH_COPY)
        end = event->end_ns;
    if (event->phase == MESH_BACKWARD)
        write_row(w, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", tid,
                  (struct span){at - 1500, end + 600});
    if (event->phase == MESH_OPTIMIZER && event->kind == MESH_COMPUTE)
        write_row(w, "user_annotation", "Optimizer.step#AdamW.step", tid,
                  (struct span){at - 1500, end + 600});
    write_row(w, "cpu_op", op_of(event), tid, (struct span){at - 1000, end + 300});
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_event(w, p, "cuda_runtime",
                  event->kind == MESH_COPY      ? "cudaMemcpyAsync"
                  : event->kind == MESH_COMPUTE ? "cudaLaunchKernel"
                                                : "cudaLaunchKernelExC",
                  tid);
    p = put_times(w, p, at, end);
    p = put_u64(put_text(p, ", \"args\": {\"cbid\": 211, \"correlation\": "), w->correlation);
    outfile_commit(w->out, put_text(p, "}},\n"));
}

static int32_t stream_of(const struct writer *w, const struct mesh_event *event)
{
    if (event->kind >= MESH_COMPUTE)
        return COMPUTE_STREAM;
    if (event->kind >= MESH_SEND)
        return event->kind == MESH_SEND ? 40 : 44;
    return 20 + 4 * (int32_t)w->mesh->groups[event->group].dimension;
}

// Elements that a rank gives and gets, of two bytes each; of the loss's sum, four bytes.
static char *put_elements(char *p, const struct mesh_event *event, int32_t size)
{
    int64_t elements = event->bytes < 16 ? event->bytes / 4 : event->bytes / 2;
    int64_t in = event->kind == MESH_ALL_GATHER ? elements / size : elements;
    int64_t out = event->kind == MESH_REDUCE_SCATTER ? elements / size : elements;
    p = put_i64(put_text(p, ", \"In msg nelems\": "), in);
    p = put_i64(put_text(p, ", \"Out msg nelems\": "), out);
    return put_text(p, event->bytes < 16 ? ", \"dtype\": \"Float\"" : ", \"dtype\": \"BFloat16\"");
}

static int32_t place_in(const struct mesh_group *group, int32_t rank)
{
    int32_t place = 0;
    while (group->ranks[place] != rank)
        place++;
    return place;
}

static char *put_metadata(const struct writer *w, char *p, const struct mesh_event *event)
{
    const struct mesh_group *group = &w->mesh->groups[event->group];
    p = put_text(put_text(p, ", \"Collective name\": \""), words[event->kind].name);
    p = put_elements(put_text(p, "\""), event, group->size);
    p = put_i64(put_text(p, ", \"Group size\": "), group->size);
    p = put_i64(put_text(p, ", \"Process Group Name\": \""), group->name);
    p = put_text(put_text(p, "\", \"Process Group Description\": \""),
                 descriptions[group->dimension]);
    p = put_ranks(put_text(p, "\", \"Process Group Ranks\": \""), group, true);
    *p++ = '"';
    if (event->peer >= 0) { // its place in the group, then its rank in the job, as torch has them
        p = put_i64(put_text(p, ", \"Rank\": "), place_in(group, event->peer));
        p = put_i64(put_text(p, event->kind == MESH_SEND ? ", \"Dst Rank\": " : ", \"Src Rank\": "),
                    event->peer);
    }
    if (!w->mesh->options->no_sequence)
        p = put_u64(put_text(p, ", \"Seq\": "), event->sequence + 1);
    return p;
}

static const char *kernel_of(const struct mesh_event *event)
{
    if (event->kind < MESH_COMPUTE)
        return words[event->kind].kernel;
    if (event->kind == MESH_COPY)
        return "Memcpy HtoD (Pageable -> Device)";
    return event->phase == MESH_OPTIMIZER
               ? "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
               : "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64";
}

static void write_device(struct writer *w, const struct mesh_event *event)
{
    bool talks = event->kind < MESH_COMPUTE;
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    int32_t stream = stream_of(w, event);
    p = put_event(w, p, event->kind == MESH_COPY ? "gpu_memcpy" : "kernel", kernel_of(event),
                  stream);
    p = put_times(w, p, event->begin_ns, event->end_ns);
    p = put_i64(put_text(p, ", \"args\": {\"device\": "), w->device);
    p = put_i64(put_text(p, ", \"stream\": "), stream);
    p = put_u64(put_text(p, ", \"correlation\": "), w->correlation);
    if (talks && !w->mesh->options->no_metadata)
        p = put_metadata(w, p, event);
    if (event->kind == MESH_COPY)
        p = put_text(p, ", \"bytes\": 33554432");
    outfile_commit(w->out, put_text(p, "}},\n"));
}

// --- a rank -------------------------------------------------------------------------------------

static void write_step(struct writer *w, int32_t step)
{
    const struct mesh_options *o = w->mesh->options;
    int64_t begin_ns = w->record->step_begin_ns[step];
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", step + 1);
    write_row(w, "user_annotation", name, w->pid,
              (struct span){begin_ns, w->record->step_end_ns[step]});
    if (w->rank != o->straggler || (o->cause != CAUSE_DATA_LOADING && o->cause != CAUSE_HOST))
        return;
    bool loads = o->cause == CAUSE_DATA_LOADING;
    write_row(w, loads ? "user_annotation" : "cpu_op",
              loads ? "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
                    : "aten::sort",
              w->pid, (struct span){begin_ns + 100, begin_ns + o->delay_ns + 149000});
}

uint64_t mesh_write(const struct mesh_job *job, int32_t rank)
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    const struct mesh_options *o = job->mesh->options;
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/rank%d.json%s", o->out, rank, suffixes[o->format]);
    if (n >= (int)sizeof path)
        outfile_die("found a path of %d bytes, expected fewer than %d", n, PATH_MAX);
    struct writer w = {.job = job,
                       .mesh = job->mesh,
                       .record = &job->ranks[rank],
                       .out = outfile_open(path, o->format, SPACING_AS_WRITTEN),
                       .rank = rank,
                       .pid = FIRST_PID + rank % o->node_gpus,
                       .device = rank % o->node_gpus};
    write_head(&w);
    for (int32_t step = 0; step < o->steps; step++)
        write_step(&w, step);
    for (size_t i = 0; i < w.record->count; i++) {
        w.correlation++;
        if (w.record->events[i].dropped)
            continue;
        write_host(&w, &w.record->events[i]);
        write_device(&w, &w.record->events[i]);
    }
    write_tail(&w);
    uint64_t bytes = outfile_text_bytes(w.out);
    outfile_close(w.out);
    return bytes;
}
