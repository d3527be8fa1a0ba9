// SPDX-License-Identifier: Apache-2.0
// The timeline of a run of any size: what its files take, how long the overview of all ranks takes
// to write, and windows of both to read when nothing of them is in memory.
//
//   all_ranks FOLDER RANKS EVENTS [FILES]
//
// Each rank has that many events. FILES traces (16) are written; ranks share them, each with
// its own clock.
#include "ingest/base/clock.h"
#include "ingest/trace/overview.h"
#include "ingest/trace/timeline.h"
#include "ingest/trace/trace_builder.h"
#include "ingest/trace/trace_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WINDOWS = 400, LAYERS = 24, MOST_FILES = 64 };

struct sizes {
    const char *folder;
    uint32_t ranks, events, files;
};

static void must(bool ok, const struct err *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", err->msg);
    exit(1);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// --- traces -------------------------------------------------------------------------------------

static const char *const op_names[] = {"aten::linear", "aten::mm",        "aten::gelu",
                                       "aten::add_",   "nccl:all_reduce", "aten::layer_norm"};
static const char *const kernel_names[] = {
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize256x128x64",
    "void at::native::vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>",
    "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"};

struct making {
    struct trace_builder *builder;
    str_id ops[6], kernels[6], launch;
    uint64_t state;
    int64_t host_ns, device_ns, correlation;
};

static void put(struct making *making, struct event_record event)
{
    struct err err;
    must(trace_builder_add(making->builder, &event, &err), &err);
}

// An operator, its launch and its kernel; times vary by a percent.
static void put_op(struct making *making, uint32_t i, uint32_t file)
{
    bool comm = i % 6 == 4;
    int64_t dur_ns = (comm ? 60000 : 9000 + 700 * (i % LAYERS)) * (100 + (comm ? 0 : file)) / 100;
    dur_ns += dur_ns * (int64_t)(next_random(&making->state) % 200) / 10000;
    int64_t host_ns = 5000 + (int64_t)(next_random(&making->state) % 60);
    int64_t device_ns = making->host_ns + 3000;
    device_ns = device_ns > making->device_ns ? device_ns : making->device_ns + 800;
    put(making, (struct event_record){.kind = EVENT_CPU_OP,
                                      .pid = {1, 0},
                                      .tid = {1, 0},
                                      .name = making->ops[i % 6],
                                      .begin_ns = making->host_ns,
                                      .dur_ns = host_ns});
    put(making, (struct event_record){.kind = EVENT_RUNTIME,
                                      .pid = {1, 0},
                                      .tid = {1, 0},
                                      .name = making->launch,
                                      .begin_ns = making->host_ns + 1200,
                                      .dur_ns = 2500,
                                      .correlation = ++making->correlation});
    put(making, (struct event_record){.kind = EVENT_KERNEL,
                                      .pid = {0, 0},
                                      .tid = {comm ? 20 : 7, 0},
                                      .name = making->kernels[i % 6],
                                      .begin_ns = device_ns,
                                      .dur_ns = dur_ns,
                                      .correlation = making->correlation});
    making->host_ns += host_ns + 400;
    if (device_ns - making->host_ns > 2000000) // the host waits
        making->host_ns = device_ns;
    if (!comm)
        making->device_ns = device_ns + dur_ns;
}

static void path_of(const struct sizes *sizes, uint32_t file, char path[512])
{
    snprintf(path, 512, "%s/trace%u.sst", sizes->folder, file);
}

static uint64_t make_trace(const struct sizes *sizes, uint32_t file)
{
    struct budget budget = {0};
    struct err err;
    struct stat info = {0};
    char path[512];
    struct making making = {.builder = trace_builder_new(&budget, &err), .state = file + 1};
    must(making.builder, &err);
    struct strtab *strings = trace_builder_strings(making.builder);
    for (size_t i = 0; i < 6; i++) {
        must(strtab_intern(strings, str_of(op_names[i]), &making.ops[i], &err), &err);
        must(strtab_intern(strings, str_of(kernel_names[i]), &making.kernels[i], &err), &err);
    }
    must(strtab_intern(strings, STR("cudaLaunchKernel"), &making.launch, &err), &err);
    for (uint32_t i = 0; i < sizes->events / 3; i++)
        put_op(&making, i, file);
    struct trace *trace = trace_builder_seal(making.builder, &err);
    must(trace, &err);
    path_of(sizes, file, path);
    unlink(path);
    must(trace_file_save(trace, path, &err), &err);
    trace_free(trace);
    stat(path, &info);
    return (uint64_t)info.st_size;
}

// --- reading ------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

// What windows took on the clock and of a core; the first is the whole.
struct times {
    int64_t clock_ns[WINDOWS], core_ns[WINDOWS], first_ns;
};

static int64_t core_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static double at_share(int64_t *times, double share)
{
    qsort(times, WINDOWS, sizeof *times, by_value);
    return (double)times[(size_t)(share * WINDOWS)] / 1e6;
}

static void print_times(const char *what, struct times *times, size_t most_bytes)
{
    printf("%s: first %.1f ms, p50 %.2f, p99 %.2f; of a core p50 %.2f, p99 %.2f; %.0f KiB\n", what,
           (double)times->first_ns / 1e6, at_share(times->clock_ns, 0.5),
           at_share(times->clock_ns, 0.99), at_share(times->core_ns, 0.5),
           at_share(times->core_ns, 0.99), (double)most_bytes / 1024);
}
// Nothing of the file stays in memory.
static void forget(int fd)
{
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static double cpu_seconds(void)
{
    return (double)core_ns() / 1e9;
}

struct span {
    int64_t from_ns, to_ns;
};

// Any zoom, from the whole to 1 / 65,536 of it, anywhere.
static struct span any_span(struct span whole, uint64_t *state)
{
    int64_t length_ns = (whole.to_ns - whole.from_ns) >> (next_random(state) % 17);
    length_ns = length_ns > 16 ? length_ns : 16;
    int64_t room_ns = whole.to_ns - whole.from_ns - length_ns;
    int64_t from_ns = whole.from_ns +
                      (int64_t)((double)room_ns * ((double)(next_random(state) >> 1) / (1u << 30)));
    return (struct span){from_ns, from_ns + length_ns};
}

// A window of all ranks or of some, as the service reads it for one request.
static size_t read_ranks(int file, struct span span, uint32_t first, uint32_t count)
{
    struct err err;
    struct arena arena;
    struct overview_window window;
    struct overview *overview = overview_open_fd(dup(file), &err);
    must(overview, &err);
    struct overview_query query = {span.from_ns, span.to_ns, 600, first, count, 16};
    arena_init(&arena, NULL);
    must(overview_read(overview, &query, &arena, &window, &err), &err);
    size_t used = arena_bytes(&arena);
    arena_free(&arena);
    overview_close(overview);
    return used;
}

// A window of one rank, or all of it.
static size_t read_rank(int fd, bool whole, uint64_t *state)
{
    struct err err;
    struct arena arena;
    struct timeline timeline;
    struct trace_file *file = trace_file_open_fd(dup(fd), "trace", &err);
    must(file, &err);
    const struct trace_file_header *header = trace_file_header(file);
    struct span span = {header->begin_ns, header->end_ns};
    span = whole ? span : any_span(span, state);
    struct timeline_query query = {span.from_ns, span.to_ns, 1600, 16, false};
    arena_init(&arena, NULL);
    must(timeline_read(file, &query, &arena, &timeline, &err), &err);
    size_t used = arena_bytes(&arena);
    arena_free(&arena);
    trace_file_close(file);
    return used;
}

static void note(struct times *times, size_t i, int64_t began_ns, int64_t began_core_ns)
{
    times->clock_ns[i] = clock_mono_ns() - began_ns;
    times->core_ns[i] = core_ns() - began_core_ns;
    if (i == 0)
        times->first_ns = times->clock_ns[0];
}

static void time_overview(const struct sizes *sizes, int file, struct span whole)
{
    static const uint32_t widths[] = {1024, 64, 8};
    struct times times;
    uint64_t state = 1;
    size_t most = 0;
    for (size_t i = 0; i < WINDOWS; i++) {
        uint32_t count = widths[next_random(&state) % 3];
        count = i == 0 || count > sizes->ranks ? sizes->ranks : count;
        uint32_t first = (uint32_t)(next_random(&state) % (sizes->ranks - count + 1));
        struct span span = i ? any_span(whole, &state) : whole;
        forget(file);
        int64_t began_ns = clock_mono_ns(), began_core_ns = core_ns();
        size_t used = read_ranks(file, span, first, count);
        note(&times, i, began_ns, began_core_ns);
        most = used > most ? used : most;
    }
    print_times("all ranks, 64 or 8, any zoom, cold", &times, most);
}

static void time_rank(const struct sizes *sizes)
{
    struct times times;
    uint64_t state = 1;
    size_t most = 0;
    for (size_t i = 0; i < WINDOWS; i++) {
        char path[512];
        path_of(sizes, (uint32_t)(next_random(&state) % sizes->files), path);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        forget(fd);
        int64_t began_ns = clock_mono_ns(), began_core_ns = core_ns();
        size_t used = read_rank(fd, i == 0, &state);
        note(&times, i, began_ns, began_core_ns);
        most = used > most ? used : most;
        close(fd);
    }
    print_times("one rank, any zoom, cold", &times, most);
}

// --- the whole ----------------------------------------------------------------------------------

static struct trace_file *open_rank(void *context, uint32_t index, struct err *err)
{
    const struct sizes *sizes = context;
    char path[512];
    path_of(sizes, index % sizes->files, path);
    return trace_file_open(path, err);
}

static int write_overview(struct sizes *sizes, struct span *whole)
{
    struct err err;
    struct budget budget = {0};
    struct stat info = {0};
    char path[512], scratch_path[512];
    int64_t *ranks = calloc(sizes->ranks, sizeof *ranks);
    struct piece_clock *clocks = calloc(sizes->ranks, sizeof *clocks);
    snprintf(path, sizeof path, "%s/overview.sst", sizes->folder);
    snprintf(scratch_path, sizeof scratch_path, "%s/scratch", sizes->folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int scratch = open(scratch_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (uint32_t i = 0; i < sizes->ranks; i++) {
        ranks[i] = i;
        clocks[i].offset_ns = i * 100;
    }
    struct overview_source source = {sizes->ranks, sizes, open_rank, ranks, clocks};
    double began = cpu_seconds();
    must(overview_write(&source, fd, scratch, &budget, &err), &err);
    double seconds = cpu_seconds() - began, events = (double)sizes->ranks * sizes->events;
    fstat(fd, &info);
    printf("overview written: %.1f s of a core, %.1f ns an event, %.2f bytes an event, %.1f MiB, "
           "peak %.1f MiB\n",
           seconds, seconds * 1e9 / events, (double)info.st_size / events,
           (double)info.st_size / 1048576, (double)budget.peak / 1048576);
    struct overview *overview = overview_open_fd(dup(fd), &err);
    must(overview, &err);
    *whole =
        (struct span){overview_ranks(overview)[0].begin_ns, overview_ranks(overview)[0].end_ns};
    overview_close(overview);
    unlink(scratch_path);
    close(scratch);
    free(ranks);
    free(clocks);
    return fd;
}

static bool read_number(const char *text, uint32_t *number)
{
    int64_t value;
    if (!str_to_i64(str_of(text), &value) || value < 1 || value > 10000000)
        return false;
    *number = (uint32_t)value;
    return true;
}

int main(int argc, char **argv)
{
    struct sizes sizes = {.files = 16};
    if (argc < 4 || !read_number(argv[2], &sizes.ranks) || !read_number(argv[3], &sizes.events) ||
        (argc > 4 && (!read_number(argv[4], &sizes.files) || sizes.files > MOST_FILES))) {
        fprintf(stderr, "usage: all_ranks FOLDER RANKS EVENTS [FILES]\n");
        return 2;
    }
    sizes.folder = argv[1];
    sizes.files = sizes.files < sizes.ranks ? sizes.files : sizes.ranks;
    uint64_t bytes = 0;
    struct span whole;
    double began = cpu_seconds();
    for (uint32_t i = 0; i < sizes.files; i++)
        bytes += make_trace(&sizes, i);
    printf("%u ranks x %u events: %u traces made in %.1f s of a core, %.2f bytes an event\n",
           sizes.ranks, sizes.events, sizes.files, cpu_seconds() - began,
           (double)bytes / ((double)sizes.files * sizes.events));
    int file = write_overview(&sizes, &whole);
    time_overview(&sizes, file, whole);
    time_rank(&sizes);
    close(file);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak of the process %.0f MiB, of which making traces is most\n",
           (double)usage.ru_maxrss / 1024);
    return 0;
}
