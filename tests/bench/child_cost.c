// SPDX-License-Identifier: Apache-2.0
// What it costs to read a trace in a separate process: the same file is read by the same functions
// in this process and in one like the service's, alternately; the best time of each counts.
#include "server/cli/cmd.h"
#include "server/jobs/job_child.h"

#include "ingest/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uv.h>

struct bench {
    const char *path;
    struct cores cores;
    struct cores_page *page;
    int cores_fd;
};

static int64_t read_here(struct bench *bench, struct err *err)
{
    struct arena arena;
    struct progress progress = {.cores = &bench->cores};
    struct pipeline_job job = {.options = {.warmup_steps = -1, .cores = &bench->cores},
                               .progress = &progress};
    struct budget budget = {0};
    struct pipeline_result found;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    int64_t begin_ns = clock_mono_ns();
    bool ok = pipeline_file(bench->path, &job, &report, &found, err);
    arena_free(&arena);
    return ok ? clock_mono_ns() - begin_ns : -1;
}

static int64_t read_in_child(struct bench *bench, struct err *err)
{
    struct progress progress = {0};
    struct job_child_task task = {.order = {.service_pid = getpid(),
                                            .cpu_seconds = 10000,
                                            .file_bytes = 1 << 30,
                                            .has_input = true,
                                            .options = {.warmup_steps = -1}},
                                  .files = {-1, -1, -1},
                                  .tables = memfd_create("tables", MFD_CLOEXEC),
                                  .cores = &bench->cores,
                                  .cores_fd = bench->cores_fd,
                                  .limit_ns = INT64_MAX / 2,
                                  .progress = &progress};
    struct job_reply reply;
    struct job_death death;
    int64_t begin_ns = clock_mono_ns();
    bool ok = source_open_path(bench->path, &task.files.input, err) &&
              job_child_run(&task, &reply, &death, err) && reply.ok;
    int64_t took_ns = clock_mono_ns() - begin_ns;
    close(task.tables);
    if (task.files.input >= 0)
        close(task.files.input);
    return ok ? took_ns : -1;
}

static int64_t lesser(int64_t best_ns, int64_t took_ns)
{
    return took_ns < best_ns ? took_ns : best_ns;
}

static bool measure(struct bench *bench, int laps, struct err *err)
{
    int64_t here_ns = INT64_MAX, child_ns = INT64_MAX;
    for (int i = 0; i < laps; i++) {
        here_ns = lesser(here_ns, read_here(bench, err));
        child_ns = lesser(child_ns, read_in_child(bench, err));
        if (here_ns < 0 || child_ns < 0)
            return false;
    }
    printf("%s: %.1f ms here, %.1f ms in a process: %.1f ms (%.1f %%) more, best of %d\n",
           bench->path, (double)here_ns / 1e6, (double)child_ns / 1e6,
           (double)(child_ns - here_ns) / 1e6,
           100.0 * (double)(child_ns - here_ns) / (double)here_ns, laps);
    return true;
}

int main(int argc, char **argv)
{
    struct err err = {.msg = "usage: child_cost LAPS FILE..."};
    struct bench bench;
    int64_t laps = 0;
    if (argc == 2 && strcmp(argv[1], "_job") == 0)
        return !cmd_job(0, argv + 2, &err);
    bool known = argc > 2 && str_to_i64(str_of(argv[1]), &laps) && laps > 0;
    bench.page = !known ? NULL : shared_page_new(&bench.cores_fd, &err);
    if (!bench.page)
        return fprintf(stderr, "%s\n", err.msg), 2;
    cores_share(&bench.cores, &bench.page->free, NULL);
    cores_give(&bench.cores, uv_available_parallelism() - 1); // one is for this thread
    for (int i = 2; i < argc; i++) {
        bench.path = argv[i];
        if (!measure(&bench, (int)laps, &err))
            return fprintf(stderr, "%s: %s\n", bench.path, err.msg), 1;
    }
    shared_page_close(bench.page, bench.cores_fd);
    return 0;
}
