// SPDX-License-Identifier: Apache-2.0
// Measures how long it takes to match, align and judge the collectives of a run, and what the
// result holds.
#include "ingest/base/clock.h"
#include "tests/unit/comm_job.h"

#include <time.h>

static const char usage[] =
    "usage: bench_comm [--max-ms N] [--max-mb N] [--drop N] [--cores N] [TENSOR DATA PIPELINE "
    "STEPS "
    "LAYERS]\n"
    "  fails when it takes longer or more memory; 8 x 32 x 4 ranks of 2,000 calls by default\n"
    "  --drop N   each rank misses N calls, and none is numbered\n"
    "  --cores N  solve on so many\n";

struct choices {
    int64_t ms, mb; // 0: none
    int64_t drop, cores;
};

// CPU time, which other work on the machine hardly changes.
static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Loads the ranks one by one, as a run does; the reports are not counted.
static bool load(const struct job *job, struct run_comm *comm, struct budget *budget,
                 int64_t *load_ns, struct err *err)
{
    bool ok = run_comm_open(comm, (size_t)job->count, budget, err);
    for (int r = 0; ok && r < job->count; r++) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        ok = job_report(job, r, &report, err);
        int64_t begin_ns = cpu_ns();
        ok = ok && run_comm_add(comm, r, &report, err);
        *load_ns += cpu_ns() - begin_ns;
        arena_free(&arena);
    }
    return ok;
}

static bool add_tables(const struct run_comm *comm, struct report *report, struct err *err)
{
    return run_waits_add(comm, report, err) && run_lateness_add(comm, report, err) &&
           run_clocks_add(comm, report, err) && run_clocks_judge(comm, report, err);
}

static bool judge(int64_t total_ns, uint64_t peak, const struct choices *choices)
{
    bool slow = choices->ms && total_ns > choices->ms * 1000000;
    bool large = choices->mb && peak > (uint64_t)choices->mb * 1000000;
    if (slow || large)
        fprintf(stderr, "bench_comm: too %s\n", slow ? "slow" : "large");
    return !slow && !large;
}

static bool measure(const struct job *job, const struct choices *choices, struct err *err)
{
    struct budget budget = {0};
    struct run_comm comm = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    int64_t load_ns = 0, calls = 0;
    bool ok = load(job, &comm, &budget, &load_ns, err);
    struct cores cores;
    cores_init(&cores, (unsigned)choices->cores);
    cores_hold(&cores);
    comm.cores = &cores;
    int64_t begin_ns = cpu_ns(), wall_ns = clock_mono_ns();
    ok = ok && run_comm_solve(&comm, err);
    int64_t solve_ns = cpu_ns() - begin_ns;
    wall_ns = clock_mono_ns() - wall_ns;
    begin_ns = cpu_ns();
    ok = ok && add_tables(&comm, &report, err);
    int64_t tables_ns = cpu_ns() - begin_ns;
    for (uint32_t r = 0; ok && r < comm.rank_count; r++)
        calls += comm.ranks[r].count;
    if (ok)
        printf(
            "%d ranks, %lld calls, %u matches: load %.0f ms, solve %.0f ms (%.0f ms of wall time), "
            "tables %.0f ms, peak %.0f MB (%.0f bytes per call)\n",
            job->count, (long long)calls, comm.match_count, (double)load_ns / 1e6,
            (double)solve_ns / 1e6, (double)wall_ns / 1e6, (double)tables_ns / 1e6,
            (double)budget.peak / 1e6, (double)budget.peak / (double)calls);
    ok = ok && judge(load_ns + solve_ns + tables_ns, budget.peak, choices);
    run_comm_close(&comm);
    arena_free(&arena);
    return ok;
}

static void drop_calls(struct job *job, int64_t count)
{
    for (int r = 0; r < job->count; r++)
        for (int64_t i = 0; i < count; i++)
            job->ranks[r].calls[job_between(job, 0, job->ranks[r].count - 1)].dropped = true;
}

// Index of the first argument that is not an option.
static int take_options(int argc, char **argv, struct choices *choices)
{
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        int64_t *number = strcmp(argv[at], "--max-ms") == 0   ? &choices->ms
                          : strcmp(argv[at], "--max-mb") == 0 ? &choices->mb
                          : strcmp(argv[at], "--cores") == 0  ? &choices->cores
                                                              : &choices->drop;
        *number = strtoll(argv[at + 1], NULL, 10);
    }
    return at;
}

int main(int argc, char **argv)
{
    int shape[5] = {8, 32, 4, 10, 190};
    struct choices choices = {.cores = 1};
    int at = take_options(argc, argv, &choices);
    if (argc != at && argc != at + 5) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = 0; at < argc; i++, at++)
        shape[i] = (int)strtol(argv[at], NULL, 10);
    struct job job;
    job_begin(&job, &(struct job_shape){.tensor = shape[0],
                                        .data = shape[1],
                                        .pipeline = shape[2],
                                        .steps = shape[3],
                                        .layers = shape[4],
                                        .buckets = 8,
                                        .numbered = choices.drop == 0,
                                        .listed = true,
                                        .world = true,
                                        .skew_ns = 50000000,
                                        .jitter_ns = 2000,
                                        .cause = JOB_SLOWER,
                                        .straggler = 3});
    drop_calls(&job, choices.drop);
    struct err err = {0};
    bool ok = measure(&job, &choices, &err);
    if (!ok && err.code)
        fprintf(stderr, "bench_comm: %s\n", err.msg);
    job_end(&job);
    return ok ? 0 : 1;
}
