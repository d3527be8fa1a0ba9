// SPDX-License-Identifier: Apache-2.0
// How the stages of a trace job get faster with cores: a column for each number of threads, which
// then stay on as many cores.
#include "analysis/facts/facts.h"
#include "ingest/base/clock.h"
#include "ingest/kineto/format_kineto.h"
#include "ingest/trace/trace_file.h"
#include "server/base/pipeline.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum stage { ZSTD, SOURCE, READ, SEAL, FACTS, ANALYSES, SAVE, JOB, STAGES };

static const char *const stage_names[STAGES] = {
    [ZSTD] = "libzstd alone, one thread",
    [SOURCE] = "decompression and search for secrets",
    [READ] = "the same, scan, columns and seal",
    [SEAL] = "of that, seal",
    [FACTS] = "facts",
    [ANALYSES] = "facts and analyses",
    [SAVE] = "trace file, save",
    [JOB] = "whole job, with trace file",
};

enum { MAX_COLUMNS = 16 };

struct timings {
    unsigned threads;
    int64_t best_ns[STAGES];
};

struct bench {
    const char *path;
    cpu_set_t all;
    int repeats;
    unsigned column_count;
    struct timings columns[MAX_COLUMNS];
    uint64_t events, text_bytes;
};

static void note(struct timings *column, enum stage stage, int64_t begin_ns)
{
    int64_t took_ns = clock_mono_ns() - begin_ns, *best_ns = &column->best_ns[stage];
    *best_ns = *best_ns && *best_ns < took_ns ? *best_ns : took_ns;
}

// This thread, and those it starts, stay on the first cores of those allowed.
static bool stay_on(const struct bench *bench, unsigned threads, struct err *err)
{
    cpu_set_t some;
    CPU_ZERO(&some);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && threads; cpu++) {
        if (!CPU_ISSET(cpu, &bench->all))
            continue;
        CPU_SET(cpu, &some);
        threads--;
    }
    return sched_setaffinity(0, sizeof some, &some) == 0 || err_set_errno(err, "staying on cores");
}

static void init_cores(struct cores *cores, const struct timings *column)
{
    cores_init(cores, column->threads);
    cores_hold(cores);
}

// --- stages --------------------------------------------------------------------------------------

static bool run_zstd(const struct bench *bench, struct timings *column, struct err *err)
{
    int fd;
    if (!source_open_path(bench->path, &fd, err))
        return false;
    struct stat info;
    size_t room = (size_t)512 << 10;
    char *block = malloc(room);
    ZSTD_DStream *stream = ZSTD_createDStream();
    void *bytes = fstat(fd, &info) == 0 ? mmap(NULL, (size_t)info.st_size, PROT_READ,
                                               MAP_PRIVATE | MAP_POPULATE, fd, 0)
                                        : MAP_FAILED;
    bool ok = block && stream && bytes != MAP_FAILED;
    ZSTD_inBuffer in = {bytes, ok ? (size_t)info.st_size : 0, 0};
    int64_t begin_ns = clock_mono_ns();
    while (ok && in.pos < in.size)
        ok = !ZSTD_isError(ZSTD_decompressStream(stream, &(ZSTD_outBuffer){block, room, 0}, &in));
    note(column, ZSTD, begin_ns);
    if (bytes != MAP_FAILED)
        munmap(bytes, in.size);
    ZSTD_freeDStream(stream);
    free(block);
    close(fd);
    return ok || err_set(err, ERR_FORMAT, "this is no zstd file");
}

// As ingest_file stacks them below the thread that reads ahead, for a trace that is a stream.
static struct source *open_source(const struct bench *bench, struct err *err)
{
    struct format_found found;
    struct source *source = source_file_open(bench->path, err);
    source = source ? format_open(source, NULL, &found, err) : NULL;
    return source ? source_limit_open(source, source_trace_limits, err) : NULL;
}

static bool run_source(const struct bench *bench, struct timings *column, struct err *err)
{
    struct secret_tally tally = {0};
    size_t room = (size_t)512 << 10, got = 1;
    char *block = malloc(room);
    int64_t begin_ns = clock_mono_ns();
    struct source *source = block ? open_source(bench, err) : NULL;
    bool ok = source;
    while (ok && got) {
        ok = source_read(source, block, room, &got, err);
        if (ok)
            secret_tally_add(&tally, (struct str){block, got});
    }
    if (source)
        source_close(source);
    note(column, SOURCE, begin_ns);
    free(block);
    return ok;
}

static struct trace *run_read(const struct bench *bench, struct timings *column,
                              struct budget *budget, struct cores *cores, struct err *err)
{
    struct progress progress = {.cores = cores};
    int64_t begin_ns = clock_mono_ns();
    struct trace *trace = ingest_file(bench->path, budget, &progress, err);
    note(column, READ, begin_ns);
    return trace;
}

// Of columns that were read for it, which the row above includes.
static bool run_seal(const struct bench *bench, struct timings *column, struct cores *cores,
                     struct err *err)
{
    struct budget budget = {0};
    struct progress progress = {.cores = cores};
    struct format_input input = {.source = open_source(bench, err),
                                 .builder = trace_builder_new(&budget, err),
                                 .budget = &budget,
                                 .progress = &progress};
    if (!input.source || !input.builder)
        return false;
    bool ok = format_kineto.read(&input, err);
    source_close(input.source);
    if (!ok) {
        trace_builder_free(input.builder);
        return false;
    }
    int64_t begin_ns = clock_mono_ns();
    trace_builder_use(input.builder, cores);
    struct trace *trace = trace_builder_seal(input.builder, err);
    note(column, SEAL, begin_ns);
    if (trace)
        trace_free(trace);
    return trace;
}

static bool run_analyses(const struct trace *trace, struct timings *column, struct cores *cores,
                         struct err *err)
{
    struct analysis_options options = {.warmup_steps = -1, .cores = cores};
    struct arena arena;
    struct facts facts;
    arena_init(&arena, trace->budget);
    int64_t begin_ns = clock_mono_ns();
    bool ok = facts_make(trace, &options, &arena, &facts, err);
    note(column, FACTS, begin_ns);
    arena_free(&arena);
    struct report report = {.arena = &arena};
    begin_ns = clock_mono_ns();
    ok = ok && analyze_trace(trace, &options, &report, err);
    note(column, ANALYSES, begin_ns);
    arena_free(&arena);
    return ok;
}

static int open_kept(void)
{
    char path[] = "/tmp/bench_cores.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    return fd;
}

static bool run_save(const struct trace *trace, struct timings *column, struct err *err)
{
    int fd = open_kept();
    int64_t begin_ns = clock_mono_ns();
    bool ok = trace_file_save_fd(trace, fd, "the trace file", err);
    note(column, SAVE, begin_ns);
    return ok;
}

static bool run_job(struct bench *bench, struct timings *column, struct err *err)
{
    struct cores cores;
    struct budget budget = {0};
    struct arena arena;
    struct progress progress = {.cores = &cores};
    struct pipeline_job job = {.options = {.warmup_steps = -1, .cores = &cores},
                               .progress = &progress};
    struct pipeline_files files = {.kept = -1, .keep = open_kept()};
    struct pipeline_result result;
    init_cores(&cores, column);
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    int64_t begin_ns = clock_mono_ns();
    bool ok = source_open_path(bench->path, &files.input, err) &&
              pipeline_trace(&files, &job, &report, &result, err);
    note(column, JOB, begin_ns);
    close(files.input);
    arena_free(&arena);
    bench->events = (uint64_t)result.events;
    bench->text_bytes = (uint64_t)result.text_bytes;
    return ok;
}

static bool run_stages(struct bench *bench, struct timings *column, struct err *err)
{
    struct budget budget = {0};
    struct cores cores;
    init_cores(&cores, column);
    struct trace *trace = NULL;
    bool ok = stay_on(bench, column->threads, err) && run_zstd(bench, column, err) &&
              run_source(bench, column, err) && run_seal(bench, column, &cores, err) &&
              (trace = run_read(bench, column, &budget, &cores, err)) &&
              run_analyses(trace, column, &cores, err) && run_save(trace, column, err);
    if (trace)
        trace_free(trace);
    return ok && run_job(bench, column, err);
}

// --- the table -----------------------------------------------------------------------------------

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void print_row(const struct bench *bench, enum stage stage)
{
    printf("  %-40s", stage_names[stage]);
    for (unsigned i = 0; i < bench->column_count; i++)
        printf(" %8.1f", ms(bench->columns[i].best_ns[stage]));
    putchar('\n');
}

// The best possible with so many cores: decompression, which one stream has on one at a time, and
// all work spread over them.
static double bound_ns(const struct bench *bench, unsigned threads)
{
    const int64_t *alone = bench->columns[0].best_ns;
    double zstd = (double)alone[ZSTD], all = (double)(alone[READ] + alone[ANALYSES]);
    return all / threads > zstd ? all / threads : zstd;
}

static void print_table(const struct bench *bench)
{
    printf("%s: %.1f MB of JSON, %llu events\n\n  %-40s", bench->path,
           (double)bench->text_bytes / 1e6, (unsigned long long)bench->events, "ms with threads");
    for (unsigned i = 0; i < bench->column_count; i++)
        printf(" %8u", bench->columns[i].threads);
    putchar('\n');
    for (int stage = 0; stage < STAGES; stage++)
        print_row(bench, (enum stage)stage);
    printf("  %-40s", "whole job, GB of JSON a second");
    for (unsigned i = 0; i < bench->column_count; i++)
        printf(" %8.2f", (double)bench->text_bytes / (double)bench->columns[i].best_ns[JOB]);
    printf("\n  %-40s", "whole job to libzstd alone");
    for (unsigned i = 0; i < bench->column_count; i++)
        printf(" %8.2f",
               (double)bench->columns[i].best_ns[JOB] / (double)bench->columns[0].best_ns[ZSTD]);
    printf("\n  %-40s", "whole job to max(D, all / threads)");
    for (unsigned i = 0; i < bench->column_count; i++)
        printf(" %8.2f",
               (double)bench->columns[i].best_ns[JOB] / bound_ns(bench, bench->columns[i].threads));
    printf("\n\n");
}

// --- command line --------------------------------------------------------------------------------

static void choose_columns(struct bench *bench)
{
    unsigned cores = (unsigned)CPU_COUNT(&bench->all);
    bench->column_count = 0;
    for (unsigned threads = 1; bench->column_count < MAX_COLUMNS; threads *= 2) {
        bench->columns[bench->column_count++] =
            (struct timings){.threads = threads < cores ? threads : cores};
        if (threads >= cores)
            return;
    }
}

static bool measure(struct bench *bench, struct err *err)
{
    bool ok = true;
    choose_columns(bench);
    for (int lap = 0; ok && lap < bench->repeats; lap++)
        for (unsigned i = 0; ok && i < bench->column_count; i++)
            ok = run_stages(bench, &bench->columns[i], err);
    if (ok)
        print_table(bench);
    return ok;
}

int main(int argc, char **argv)
{
    struct bench bench = {.repeats = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0};
    if (argc < 3 || bench.repeats < 1)
        return fprintf(stderr, "usage: bench_cores LAPS FILE.json.zst...\n"), 2;
    if (sched_getaffinity(0, sizeof bench.all, &bench.all) != 0)
        return perror("bench_cores"), 1;
    for (int i = 2; i < argc; i++) {
        struct err err = {0};
        bench.path = argv[i];
        if (!measure(&bench, &err))
            return fprintf(stderr, "bench_cores: %s: %s\n", bench.path, err.msg), 1;
    }
    return 0;
}
