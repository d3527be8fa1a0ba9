// SPDX-License-Identifier: Apache-2.0
// How many jobs services claim per second that share a database, and whether the last of them are
// claimed as fast as the first: a line for each tenth. Each service is a process with its own
// store; the jobs are traces of runs of 128 ranks. What they claimed is checked: every job once,
// and every run's count.
//
// JOBS are there; CLAIMS of them are claimed and ended, all by default. DONE of them were done
// before, so that it shows what a long queue costs, and what those that are done leave behind.
//
//     claims PLACE [NODES [JOBS [CLAIMS [DONE]]]]      PLACE: an empty database, such as
//     postgres://...
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 128, RUNNING = 8, PARTS = 10 };

// Shared by all processes.
struct progress {
    int64_t claims; // that there will be
    atomic_llong claimed;
    atomic_llong begun_ns; // the part that is being claimed
    atomic_llong spent_ns; // by all services, claiming it
};

static _Noreturn void die(const struct err *err)
{
    fprintf(stderr, "claims: %s\n", err->msg);
    exit(1);
}

static int64_t number(struct store *store, const char *text)
{
    int64_t value;
    struct err err;
    if (!store_number(store, text, (struct str){0}, &value, &err))
        die(&err);
    return value;
}

static void fill_with(struct store *store, const char *text, int64_t count)
{
    struct txn txn;
    struct err err;
    if (!txn_begin(store, DB_WRITE, &txn, &err))
        die(&err);
    struct stmt stmt = sql_begin(txn.db, text, &err);
    sql_bind_i64(&stmt, count);
    bool ok = sql_run(&stmt);
    if (!txn_end(&txn, ok, &err))
        die(&err);
}

static void fill(struct store *store, int64_t jobs, int64_t done)
{
    fill_with(store,
              "INSERT INTO stored_run (id, project, name, series, created_ns, received) "
              "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) "
              "SELECT 'r_' || i, 'p', 'a' || i, 's' || i, i, 128 FROM n",
              jobs / RANKS);
    fill_with(store,
              "INSERT INTO blob (sha256, bytes, created_ns) SELECT "
              "'0000000000000000000000000000000000000000000000000000000000000000', 1, ?",
              1);
    fill_with(store,
              "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, "
              "uploaded_ns, state) "
              "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) "
              "SELECT 't_' || i, 'r_' || (i / 128), i % 128, 'field', "
              "'0000000000000000000000000000000000000000000000000000000000000000', 'x', 1, i, "
              "'queued' FROM n",
              jobs);
    fill_with(
        store,
        "INSERT INTO job (kind, run_id, trace_id, created_ns, due_ns) "
        "SELECT 'trace', run_id, id, uploaded_ns, uploaded_ns FROM trace WHERE uploaded_ns < ?",
        jobs);
    fill_with(store, "UPDATE job SET state = 'done', attempts = 1 WHERE due_ns < ?", done);
}

// As little as possible: the traces stay as they are, and are counted in the end.
static void end_some(struct store *store, const int64_t *ids, int count)
{
    struct txn txn;
    struct err err;
    if (!txn_begin(store, DB_WRITE, &txn, &err))
        die(&err);
    struct stmt stmt = sql_begin(txn.db, "UPDATE job SET state = 'done' WHERE id = ?", &err);
    for (int i = 0; i < count; i++) {
        sql_bind_i64(&stmt, ids[i]);
        sql_step_later(&stmt);
    }
    bool ok = sql_end(&stmt);
    if (!txn_end(&txn, ok, &err))
        die(&err);
}

// A line whenever another part of them was claimed, by the service that claims its last.
static void count(struct progress *progress, int64_t took_ns)
{
    int64_t part = (progress->claims + PARTS - 1) / PARTS;
    int64_t spent_ns = atomic_fetch_add(&progress->spent_ns, took_ns) + took_ns;
    int64_t now_ns = clock_mono_ns(), claimed = atomic_fetch_add(&progress->claimed, 1) + 1;
    if (claimed % part != 0 && claimed != progress->claims)
        return;
    int64_t last = claimed % part ? claimed % part : part;
    double seconds = (double)(now_ns - atomic_exchange(&progress->begun_ns, now_ns)) / 1e9;
    atomic_fetch_sub(&progress->spent_ns, spent_ns);
    printf("%9lld claimed: %5.0f claims/s, %.2f ms each\n", (long long)claimed,
           (double)last / seconds, (double)spent_ns / (double)last / 1e6);
    fflush(stdout);
}

// As a service does, it has few running at a time.
static void claim_share(const char *place, int node, int64_t share, struct progress *progress)
{
    char owner[16];
    struct err err;
    struct arena arena;
    bool found = true;
    int64_t running[RUNNING];
    int count_running = 0;
    snprintf(owner, sizeof owner, "n_%d", node);
    struct store *store = store_open_as(place, owner, &err);
    if (!store)
        die(&err);
    for (int64_t i = 1; found && i <= share; i++) {
        struct job job;
        int64_t begin_ns = clock_mono_ns();
        arena_init(&arena, NULL);
        if (!store_claim_job(store, &arena, &job, &found, &err))
            die(&err);
        arena_free(&arena);
        if (found) {
            count(progress, clock_mono_ns() - begin_ns);
            running[count_running++] = job.id;
        }
        if (count_running == RUNNING || i == share || !found) {
            end_some(store, running, count_running);
            count_running = 0;
        }
    }
    store_close(store);
    _exit(0); // the store of the process that started it is not ours
}

static int64_t argument(int argc, char **argv, int at, int64_t usual)
{
    int64_t value = usual;
    if (at < argc && !str_to_i64(str_of(argv[at]), &value))
        die(&(struct err){.msg = "expected numbers"});
    return value;
}

// Of the services; the database's is not theirs.
static double processor_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static struct progress *share_progress(int64_t claims)
{
    struct progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        die(&(struct err){.msg = "out of memory"});
    progress->claims = claims;
    atomic_store(&progress->begun_ns, clock_mono_ns());
    return progress;
}

int main(int argc, char **argv)
{
    int failed = 0, status;
    int64_t nodes = argument(argc, argv, 2, 3);
    int64_t jobs = argument(argc, argv, 3, 10000) / RANKS * RANKS;
    int64_t done = argument(argc, argv, 5, 0) / RANKS * RANKS;
    int64_t claims = argument(argc, argv, 4, 0) / nodes * nodes;
    int64_t share = claims ? claims / nodes : INT64_MAX;
    claims = claims ? claims : jobs - done;
    struct err err;
    struct store *store = argc > 1 ? store_open_as(argv[1], "n_bench", &err) : NULL;
    if (!store)
        die(argc > 1 ? &err : &(struct err){.msg = "expected PLACE [NODES [JOBS]]"});
    fill(store, jobs, done);
    struct progress *progress = share_progress(claims);
    int64_t begin_ns = clock_mono_ns();
    for (int i = 0; i < nodes; i++)
        if (fork() == 0)
            claim_share(argv[1], i, share, progress);
    while (wait(&status) > 0)
        failed += status != 0;
    double seconds = (double)(clock_mono_ns() - begin_ns) / 1e9;
    int64_t once =
        number(store, "SELECT count(*) FROM job WHERE state = 'done' AND attempts = 1") - done;
    int64_t counted = number(store, "SELECT CAST(sum(running) AS BIGINT) FROM stored_run");
    int64_t shares = number(store, "SELECT count(DISTINCT owner) FROM job WHERE owner <> ''");
    printf(
        "%lld services, %lld jobs of which %lld were done: %lld claims in %.2f s, %.0f claims/s, "
        "%.0f us of the services' processor time each; %lld of them had a share; %lld jobs "
        "claimed once, %lld counted as running\n",
        (long long)nodes, (long long)jobs, (long long)done, (long long)claims, seconds,
        (double)claims / seconds, processor_seconds() / (double)claims * 1e6, (long long)shares,
        (long long)once, (long long)counted);
    store_close(store);
    return failed || once != claims || counted != claims;
}
