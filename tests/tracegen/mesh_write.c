// SPDX-License-Identifier: Apache-2.0
// The trace of one rank of a mesh, in the format of PyTorch's profiler.
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

#define RCCL_KERNEL "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"

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

// Whether its trace has metadata.
static bool has_metadata(const struct writer *w)
{
    const struct mesh_options *o = w->mesh->options;
    return !o->no_metadata && (o->metadata_ranks < 0 || w->rank < o->metadata_ranks);
}

static bool is_batched(const struct writer *w, const struct mesh_event *event)
{
    return w->mesh->options->passing == PASSING_BATCHED && event->kind >= MESH_SEND &&
           event->kind < MESH_COMPUTE;
}

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

// --- around the events ---------------------------------------------------------------------------

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
    bool rocm = w->mesh->options->flavour == VENDOR_ROCM;
    p = put_text(p, rocm ? ", \"name\": \"AMD Instinct MI300X\", \"totalGlobalMem\": 205822885888, "
                           "\"computeMajor\": 9, \"computeMinor\": 4, \"numSms\": 304}],\n"
                         : ", \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": "
                           "84978434048, \"computeMajor\": 9, \"computeMinor\": 0, "
                           "\"numSms\": 132}],\n");
    p = put_text(p, rocm ? "\"roctracer_version\": 4.1,\n" : "\"cupti_version\": 26,\n");
    p = put_text(p, "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ");
    p = put_i64(put_text(put_i64(p, w->rank), ", \"world_size\": "), w->mesh->world);
    p = put_text(p, ", \"nccl_version\": \"2.22.3\", \"pg_config\": [");
    outfile_commit(w->out, p);
    if (has_metadata(w))
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

// A time span, in true time.
struct span {
    int64_t begin_ns, end_ns;
};

// A device event keeps its length when the host's clock jumps during it; a host row does not,
// unless it would end before it starts.
static char *put_times(const struct writer *w, char *p, struct span span, bool device)
{
    const struct mesh_rank *record = w->record;
    int64_t begin = span.begin_ns + mesh_clock_at(record, span.begin_ns);
    int64_t end = span.end_ns + mesh_clock_at(record, span.end_ns);
    bool jumps = span.begin_ns < record->jump_at_ns && span.end_ns >= record->jump_at_ns;
    p = put_us(put_text(p, ", \"ts\": "), START_NS + w->mesh->options->later_ns + begin);
    return put_us(put_text(p, ", \"dur\": "),
                  end - begin - (jumps && (device || end < begin) ? record->jump_ns : 0));
}

static void write_row(struct writer *w, const char *cat, const char *name, int32_t tid,
                      struct span span)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_times(w, put_event(w, p, cat, name, tid), span, false);
    outfile_commit(w->out, put_text(p, "},\n"));
}

static int32_t thread_of(const struct writer *w, const struct mesh_event *event)
{
    return w->pid + (event->phase == MESH_BACKWARD && !is_batched(w, event) ? AUTOGRAD_TID : 0);
}

static bool is_grouped(const struct writer *w, const struct mesh_event *event)
{
    const struct mesh_options *o = w->mesh->options;
    bool experts = o->ep > 1 || (o->more.percent && o->more_of == MORE_EXPERTS);
    return experts && event->kernel == MESH_MLP;
}

static const char *op_of(const struct writer *w, const struct mesh_event *event)
{
    if (event->kind < MESH_COMPUTE)
        return words[event->kind].op;
    return event->kind == MESH_COPY         ? "aten::copy_"
           : event->phase == MESH_OPTIMIZER ? "aten::_fused_adamw_"
           : is_grouped(w, event)           ? "aten::_grouped_mm"
                                            : "aten::mm";
}

// The operator of a compute kernel, with its shapes except the optimizer's.
static void write_op(struct writer *w, const struct mesh_event *event, struct span span)
{
    char shapes[256];
    bool backward = event->phase == MESH_BACKWARD;
    int32_t columns = backward ? 14336 : 7168;
    if (event->kind != MESH_COMPUTE || event->phase == MESH_OPTIMIZER) {
        write_row(w, "cpu_op", op_of(w, event), thread_of(w, event), span);
        return;
    }
    snprintf(shapes, sizeof shapes,
             ", \"args\": {\"Input Dims\": [[%d, %d], [%s%d, 7168]], \"Input type\": "
             "[\"c10::BFloat16\", \"c10::BFloat16\"]}},\n",
             event->rows, columns, is_grouped(w, event) ? "8, " : "", columns);
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_event(w, p, "cpu_op", op_of(w, event), thread_of(w, event));
    outfile_commit(w->out, put_text(put_times(w, p, span, false), shapes));
}

// Elements a rank sends and receives, two bytes each; four bytes for the sum of the loss.
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
    if (event->peer >= 0) { // its place in the group, then its rank in the job, as in torch
        p = put_i64(put_text(p, ", \"Rank\": "), place_in(group, event->peer));
        p = put_i64(put_text(p, event->kind == MESH_SEND ? ", \"Dst Rank\": " : ", \"Src Rank\": "),
                    event->peer);
    }
    if (!w->mesh->options->no_sequence)
        p = put_u64(put_text(p, ", \"Seq\": "), event->sequence + 1);
    return p;
}

static void write_launch(struct writer *w, const struct mesh_event *event, struct span span)
{
    static const char *const names[2][3] = {
        {"cudaLaunchKernelExC", "cudaLaunchKernel", "cudaMemcpyAsync"},
        {"hipExtLaunchKernel", "hipLaunchKernel", "hipMemcpyAsync"}};
    bool rocm = w->mesh->options->flavour == VENDOR_ROCM;
    int what = event->kind < MESH_COMPUTE ? 0 : event->kind == MESH_COPY ? 2 : 1;
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_event(w, p, "cuda_runtime", names[rocm][what], thread_of(w, event));
    p = put_times(w, p, span, false);
    p = put_u64(put_text(p, ", \"args\": {\"cbid\": 211, \"correlation\": "), w->correlation);
    outfile_commit(w->out, put_text(p, "}},\n"));
}

// The operator that describes what is sent and received.
static void write_record(struct writer *w, const struct mesh_event *event, struct span span)
{
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    p = put_times(w, put_event(w, p, "cpu_op", "record_param_comms", thread_of(w, event)), span,
                  false);
    p = put_text(p, ", \"args\": {\"Record function id\": 0");
    outfile_commit(w->out, put_text(put_metadata(w, p, event), "}},\n"));
}

// The launch comes after all scopes have ended.
static void write_batch_host(struct writer *w, const struct mesh_event *event)
{
    int64_t at = event->launch_ns;
    write_row(w, "cpu_op", op_of(w, event), thread_of(w, event),
              (struct span){at - 1000, at + 500});
    if (has_metadata(w))
        write_record(w, event, (struct span){at - 700, at + 300});
    if (!event->joins)
        write_launch(w, event, (struct span){at + 700, at + 3000});
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
    write_op(w, event, (struct span){at - 1000, end + 300});
    if (has_metadata(w) && w->mesh->options->passing == PASSING_LENT && event->kind < MESH_COMPUTE)
        write_record(w, event, (struct span){at - 700, end + 100});
    write_launch(w, event, (struct span){at, end});
}

static int32_t stream_of(const struct writer *w, const struct mesh_event *event)
{
    if (event->kind >= MESH_COMPUTE)
        return COMPUTE_STREAM;
    if (event->kind >= MESH_SEND)
        return event->kind == MESH_SEND && !is_batched(w, event) ? 40 : 44;
    return 20 + 4 * (int32_t)w->mesh->groups[event->group].dimension;
}

static const char *const products[2][MESH_WGRAD + 1] = {
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64"},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1",
     "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1",
     "Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1"}};
static const char *const grouped[2] = {
    "void cutlass::device_kernel<at::cuda::detail::GemmUniversal<GroupProblemShape>>",
    "void ck::kernel_grouped_gemm_xdl_fixed_nk<GridwiseGemm>"};

static const char *kernel_of(const struct writer *w, const struct mesh_event *event)
{
    bool rocm = w->mesh->options->flavour == VENDOR_ROCM;
    if (event->kind < MESH_COMPUTE)
        return rocm ? RCCL_KERNEL : words[event->kind].kernel;
    if (event->kind == MESH_COPY)
        return "Memcpy HtoD (Pageable -> Device)";
    if (event->phase == MESH_OPTIMIZER)
        return "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>";
    if (is_grouped(w, event))
        return grouped[rocm];
    return products[rocm][event->kernel == MESH_EXTRA ? MESH_MIXER : event->kernel];
}

// Blocks of 128 by 128 results; a grouped product has enough to fill the device.
static char *put_grid(const struct writer *w, char *p, const struct mesh_event *event)
{
    if (event->phase == MESH_OPTIMIZER)
        return put_text(p, ", \"grid\": [2048, 1, 1], \"block\": [512, 1, 1]");
    if (is_grouped(w, event))
        return put_text(p, ", \"grid\": [132, 1, 1], \"block\": [384, 1, 1]");
    p = put_i64(put_text(p, ", \"grid\": ["), (event->rows + 127) / 128);
    return put_text(p, ", 56, 1], \"block\": [384, 1, 1]");
}

static void write_device(struct writer *w, const struct mesh_event *event)
{
    bool talks = event->kind < MESH_COMPUTE;
    char *p = outfile_reserve(w->out, EVENT_BYTES);
    int32_t stream = stream_of(w, event);
    p = put_event(w, p, event->kind == MESH_COPY ? "gpu_memcpy" : "kernel", kernel_of(w, event),
                  stream);
    p = put_times(w, p, (struct span){event->begin_ns, event->end_ns}, true);
    p = put_i64(put_text(p, ", \"args\": {\"device\": "), w->device);
    p = put_i64(put_text(p, ", \"stream\": "), stream);
    p = put_u64(put_text(p, ", \"correlation\": "), w->correlation);
    if (talks && has_metadata(w) && w->mesh->options->passing != PASSING_LENT &&
        !is_batched(w, event))
        p = put_metadata(w, p, event);
    if (event->kind == MESH_COPY)
        p = put_text(p, ", \"bytes\": 33554432");
    if (event->kind == MESH_COMPUTE)
        p = put_grid(w, p, event);
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
        const struct mesh_event *event = &w.record->events[i];
        if (event->dropped)
            continue;
        if (is_batched(&w, event))
            write_batch_host(&w, event);
        else
            write_host(&w, event);
        if (!event->joins)
            write_device(&w, event);
    }
    write_tail(&w);
    uint64_t bytes = outfile_text_bytes(w.out);
    outfile_close(w.out);
    return bytes;
}
