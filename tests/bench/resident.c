// SPDX-License-Identifier: Apache-2.0
// Starts this program again for one job and reads the memory figures it prints.
#include "tests/bench/resident.h"
#include "analysis/trace/analyses.h"
#include "analysis/analysis.h"
#include "ingest/base/clock.h"
#include "ingest/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool do_job(const char *path, struct err *err)
{
    struct cores cores;
    struct budget budget = {0};
    struct progress progress = {.cores = &cores};
    struct analysis_options options = {.warmup_steps = -1, .cores = &cores};
    cores_init(&cores, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    cores_hold(&cores);
    struct trace *trace = ingest_file(path, &budget, &progress, err);
    if (!trace)
        return false;
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    bool ok = analyze_trace(trace, &options, &report, err);
    arena_free(&arena);
    trace_free(trace);
    return ok;
}

static uint64_t peak_kib(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

bool resident_job(int argc, char **argv, int *status)
{
    if (argc != 3 || strcmp(argv[1], RESIDENT_OPTION) != 0)
        return false;
    struct err err = {0};
    *status = 0;
    if (do_job(argv[2], &err)) {
        printf("%llu\n", (unsigned long long)peak_kib());
    } else {
        fprintf(stderr, "%s: %s\n", argv[2], err.msg);
        *status = 1;
    }
    return true;
}

static _Noreturn void become_job(const char *path, int out)
{
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", "bench", RESIDENT_OPTION, path, (char *)NULL);
    _exit(127);
}

bool resident_run(const char *path, struct resident *resident, struct err *err)
{
    int ends[2], status = 1;
    char text[32] = "";
    if (pipe(ends) != 0)
        return err_set_errno(err, "cannot make a pipe");
    fflush(stdout);
    int64_t begin_ns = clock_mono_ns();
    pid_t child = fork();
    if (child == 0)
        become_job(path, ends[1]);
    close(ends[1]);
    ssize_t got = child > 0 ? read(ends[0], text, sizeof text - 1) : 0;
    close(ends[0]);
    bool ok = child > 0 && waitpid(child, &status, 0) == child && status == 0 && got > 0;
    resident->took_ns = clock_mono_ns() - begin_ns;
    resident->peak_bytes = strtoull(text, NULL, 10) << 10;
    return ok || err_set(err, ERR_INTERNAL, "the job of %s failed", path);
}
