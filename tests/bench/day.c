// SPDX-License-Identifier: Apache-2.0
// A day of a large team through the real queue and store, with traces replaced by their sizes and
// without tables, which take more time than the rest (deploy/SCALE.md): each
// rank of each run is its own upload, is claimed, ended and joined. Services are processes,
// each with one connection that stores what arrives and one that works. What is stored is at most
// some runs ahead, so that the rate of each tenth of the ranks, which is printed, is one of all
// three, and growth shows. Also prints what part of a day 10,000 runs of 1,024 ranks take at the
// rate of all.
//
//     bench_day PLACE [RUNS [RANKS [SERVICES]]]      PLACE: an empty database, such as
//     postgres://...
#include "server/store/store_sql.h"

#include "analysis/report/report_parts.h"
#include "analysis/report/tables.h"
#include "ingest/base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DAY_RUNS  10000.0
#define DAY_RANKS 1024.0
#define SLICES    10
#define AHEAD     8 // runs

// Shared by all processes.
struct day {
    int64_t runs, ranks, services;
    atomic_llong next;     // rank of a run that is uploaded next
    atomic_llong uploaded; // so far
    atomic_llong ended;    // traces
    atomic_llong joined;   // joins of runs; those that came before the last rank count, too
    atomic_llong begun_ns; // the present slice
    atomic_bool failed;    // one of the processes, so that the others need not wait for it
};

static _Noreturn void die(const struct err *err)
{
    fprintf(stderr, "bench_day: %s\n", err->msg);
    exit(1);
}

static struct store *open_as(const char *place, const char *role, int number)
{
    char owner[16];
    struct err err;
    snprintf(owner, sizeof owner, "n_%s%d", role, number);
    struct store *store = store_open_as(place, owner, &err);
    if (!store)
        die(&err);
    return store;
}

// Every run has its ranks at once, as at the end of a job.
static void upload_one(struct store *store, const struct day *day, int64_t at)
{
    char sha256[65], name[40], file[40];
    struct arena arena;
    struct upload done;
    struct err err = {.pos = ERR_NO_POS};
    snprintf(sha256, sizeof sha256, "%064llx", (unsigned long long)at);
    snprintf(name, sizeof name, "job%lld@1", (long long)(at / day->ranks));
    snprintf(file, sizeof file, "rank%lld.json.gz", (long long)(at % day->ranks));
    struct trace_part part = {
        .sha256 = sha256, .bytes = 3 << 20, .filename = str_of(file), .rank = at % day->ranks};
    struct upload_request request = {
        .run = {.name = str_of(name), .world_size = day->ranks}, .parts = &part, .count = 1};
    arena_init(&arena, NULL);
    if (!store_add_upload(store, &request, &arena, &done, &err))
        die(&err);
    arena_free(&arena);
}

static bool is_ahead(struct day *day)
{
    return atomic_load(&day->uploaded) - atomic_load(&day->ended) > AHEAD * day->ranks;
}

static void upload_all(const char *place, struct day *day, int number)
{
    struct store *store = open_as(place, "up", number);
    int64_t all = day->runs * day->ranks, at;
    while (!atomic_load(&day->failed) && (at = atomic_fetch_add(&day->next, 1)) < all) {
        while (is_ahead(day) && !atomic_load(&day->failed))
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        upload_one(store, day, at);
        atomic_fetch_add(&day->uploaded, 1);
    }
    store_close(store);
}

// A line whenever another slice of all ranks has ended.
static void count_ended(struct day *day)
{
    int64_t all = day->runs * day->ranks, slice = (all + SLICES - 1) / SLICES;
    int64_t ended = atomic_fetch_add(&day->ended, 1) + 1, now_ns = clock_mono_ns();
    if (ended % slice != 0 && ended != all)
        return;
    int64_t last = ended % slice ? ended % slice : slice;
    double seconds = (double)(now_ns - atomic_exchange(&day->begun_ns, now_ns)) / 1e9;
    printf("%9lld ended: %5.0f ranks/s\n", (long long)ended, (double)last / seconds);
    fflush(stdout);
}

static void end_one(struct store *store, struct day *day, const struct job *job, int none)
{
    struct err err = {.pos = ERR_NO_POS};
    struct trace_result result = {.tables = none,
                                  .rank = -1,
                                  .world_size = day->ranks,
                                  .events = 100000,
                                  .text_bytes = 60 << 20,
                                  .kept_bytes = 1 << 20};
    bool is_run = job->kind == JOB_RUN;
    if (!(is_run ? store_finish_run(store, job, none, &err)
                 : store_finish_trace(store, job, &result, &err)))
        die(&err);
    if (is_run)
        atomic_fetch_add(&day->joined, 1);
    else
        count_ended(day);
}

static void work_all(const char *place, struct day *day, int number, int none)
{
    struct store *store = open_as(place, "job", number);
    int64_t all = day->runs * day->ranks;
    for (;;) {
        struct arena arena;
        struct job job;
        struct err err = {.pos = ERR_NO_POS};
        bool found = false, is_late = atomic_load(&day->ended) == all;
        arena_init(&arena, NULL);
        if (!store_claim_job(store, &arena, &job, &found, &err))
            die(&err);
        if (found)
            end_one(store, day, &job, none);
        arena_free(&arena);
        if (!found && (is_late || atomic_load(&day->failed)))
            break;
        if (!found)
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    store_close(store);
}

static void start_all(const char *place, struct day *day, int none)
{
    for (int i = 0; i < day->services; i++) {
        if (fork() == 0) {
            upload_all(place, day, i);
            _exit(0);
        }
        if (fork() == 0) {
            work_all(place, day, i, none);
            _exit(0);
        }
    }
}

static int64_t number(struct store *store, const char *text)
{
    int64_t value;
    struct err err;
    if (!store_number(store, text, (struct str){0}, &value, &err))
        die(&err);
    return value;
}

static void tell(const struct day *day, double seconds)
{
    double all = (double)(day->runs * day->ranks);
    printf(
        "%lld services, %lld runs of %lld ranks: %.0f s; %.0f ranks/s stored, claimed and ended, "
        "%lld joins\n",
        (long long)day->services, (long long)day->runs, (long long)day->ranks, seconds,
        all / seconds, (long long)day->joined);
    printf("10,000 runs of 1,024 ranks at that rate: %.1f hours, %.0f %% of a day. This was %.2f "
           "%% of "
           "them; the rest is not measured\n",
           DAY_RUNS * DAY_RANKS / (all / seconds) / 3600,
           DAY_RUNS * DAY_RANKS / (all / seconds) / 864, all / (DAY_RUNS * DAY_RANKS) * 100);
}

static int64_t argument(int argc, char **argv, int at, int64_t usual)
{
    int64_t value = usual;
    if (at < argc && (!str_to_i64(str_of(argv[at]), &value) || value < 1))
        die(&(struct err){.msg = "expected numbers"});
    return value;
}

int main(int argc, char **argv)
{
    struct err err;
    struct arena arena;
    int failed = 0, status;
    if (argc < 2)
        die(&(struct err){.msg = "expected PLACE [RUNS [RANKS [SERVICES]]]"});
    struct day *day =
        mmap(NULL, sizeof *day, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (day == MAP_FAILED)
        die(&(struct err){.msg = "out of memory"});
    day->runs = argument(argc, argv, 2, 10);
    day->ranks = argument(argc, argv, 3, 1024);
    day->services = argument(argc, argv, 4, 3);
    arena_init(&arena, NULL);
    int none = report_parts_hold(&(struct report){.arena = &arena}, trace_tables, &err);
    struct store *store = none < 0 ? NULL : store_open_as(argv[1], "n_bench", &err);
    if (!store)
        die(&err);
    int64_t begin_ns = clock_mono_ns();
    atomic_store(&day->begun_ns, begin_ns);
    start_all(argv[1], day, none);
    while (wait(&status) > 0) {
        failed += status != 0;
        atomic_store(&day->failed, failed > 0);
    }
    if (failed) {
        fprintf(stderr, "bench_day: stopped after %lld ranks\n", (long long)day->ended);
        return 1;
    }
    tell(day, (double)(clock_mono_ns() - begin_ns) / 1e9);
    int64_t open = number(store, "SELECT count(*) FROM job WHERE state <> 'done'");
    int64_t done = number(store, "SELECT CAST(sum(done) AS BIGINT) FROM stored_run");
    store_close(store);
    arena_free(&arena);
    return open || done != day->runs * day->ranks;
}
