// SPDX-License-Identifier: Apache-2.0
// The service joins a small number of rows itself, which is faster. For more, a process gets the
// tables as they are stored and returns those of the run; the service holds only a part of them at
// a time.
#include "server/jobs/job_run.h"

#include "server/jobs/job_overview.h"
#include "server/jobs/job_ranks.h"
#include "server/store/store_inputs.h"

#include "analysis/report/report_parts.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"

#include <sys/stat.h>
#include <unistd.h>

#define SERVICE_MOST_BYTES ((int64_t)8 << 20) // of tables; joining takes about ten times that

struct joining {
    struct job_site *site;
    const struct job *job;
    struct progress *progress;
    struct rank_trace *traces;
    size_t count;
    struct evidence_row *evidence;
    size_t evidence_count;
    int tables; // the run's
};

static bool is_cancelled(const struct joining *joining, struct err *err)
{
    return joining->progress->cancel &&
           !err_set(err, ERR_CANCELLED, "cancelled while ranks were merged");
}

// --- by the service -----------------------------------------------------------------------------

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    const struct joining *joining = context;
    struct store *store = joining->site->config->store;
    if (is_cancelled(joining, err))
        return false;
    if (index < joining->count)
        return store_load_trace_tables(store, joining->traces[index].trace_id, known, report, err);
    return store_load_input_tables(store, joining->evidence[index - joining->count].input_id, known,
                                   report, err);
}

static bool join_in_service(struct joining *joining, struct arena *arena, struct err *err)
{
    const struct job_site *site = joining->site;
    struct rank_source source = {.context = joining,
                                 .count = joining->count,
                                 .evidence_count = joining->evidence_count,
                                 .load = load,
                                 .cores = site->cores,
                                 .peaks = site->config->peaks};
    int64_t *ranks = arena_array(arena, source.count + 1, sizeof *ranks, err);
    struct str *roles = arena_array(arena, source.count + 1, sizeof *roles, err);
    bool *by_order = arena_array(arena, source.count + 1, sizeof *by_order, err);
    for (size_t i = 0; ranks && roles && by_order && i < source.count; i++) {
        ranks[i] = joining->traces[i].rank;
        by_order[i] = joining->traces[i].by_order;
        roles[i] = joining->traces[i].role;
    }
    source.ranks = ranks;
    source.roles = roles;
    source.by_order = by_order;
    struct report report = {.arena = arena};
    return ranks && roles && by_order && pipeline_run(&source, &report, err) &&
           table_limit(&report, site->config->tables_bytes, &table_run_trust, err) &&
           (joining->tables = report_parts_hold(&report, run_tables, err)) >= 0;
}

// --- by a process -------------------------------------------------------------------------------

static bool write_ranks(const struct joining *joining, int fd, struct err *err)
{
    const struct jobs_config *config = joining->site->config;
    for (size_t i = 0; i < joining->count; i++)
        if (is_cancelled(joining, err) || !job_room_check(config, "merge the ranks", err) ||
            !job_ranks_write(config->store, &joining->traces[i], fd, err))
            return false;
    for (size_t i = 0; i < joining->evidence_count; i++)
        if (is_cancelled(joining, err) ||
            !job_ranks_write_evidence(config->store, joining->evidence[i].input_id, fd, err))
            return false;
    return true;
}

static int64_t size_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? info.st_size : 0;
}

static bool run_child(struct joining *joining, int ranks, struct job_death *death, struct err *err)
{
    const struct job_site *site = joining->site;
    struct job_child_task task = {.files = {.input = ranks, .kept = -1, .keep = -1},
                                  .tables = joining->tables,
                                  .cores = site->cores,
                                  .cores_fd = site->cores_fd,
                                  .progress = joining->progress,
                                  .job_id = joining->job->id};
    struct job_reply reply;
    int64_t bytes = size_of(ranks), seconds = job_trace_seconds(site->config, bytes);
    task.limit_ns = seconds * 1000000000;
    task.order = job_trace_order(site->config, &task.files, seconds, bytes);
    task.order.joins = true;
    if (!job_child_run(&task, &reply, death, err))
        return false;
    if (!reply.ok)
        *err = reply.err;
    return reply.ok;
}

static bool join_in_process(struct joining *joining, struct job_death *death, struct err *err)
{
    const struct blobs *blobs = joining->site->config->blobs;
    int ranks = blob_scratch(blobs, err);
    bool ok = ranks >= 0 && (joining->tables = blob_scratch(blobs, err)) >= 0 &&
              write_ranks(joining, ranks, err) && run_child(joining, ranks, death, err);
    if (ranks >= 0)
        close(ranks);
    return ok;
}

// --- either -------------------------------------------------------------------------------------

// Whether there is little to join, or an unknown amount: tables stored by an older program come in
// parts too large for a process.
static bool fits_service(const struct joining *joining)
{
    int64_t sum = 0;
    for (size_t i = 0; i < joining->evidence_count; i++)
        sum += joining->evidence[i].join_bytes;
    for (size_t i = 0; i < joining->count; i++) {
        if (joining->traces[i].join_bytes < 0)
            return true;
        sum += joining->traces[i].join_bytes;
    }
    return sum <= SERVICE_MOST_BYTES;
}

static bool draw_ranks(const struct joining *joining, struct err *err)
{
    return job_overview_make(&(struct overview_task){.site = joining->site,
                                                     .run_id = joining->job->run_id,
                                                     .traces = joining->traces,
                                                     .count = joining->count,
                                                     .tables = joining->tables,
                                                     .progress = joining->progress},
                             err);
}

static bool find_ranks(struct joining *joining, struct arena *arena, struct err *err)
{
    struct store *store = joining->site->config->store;
    struct str run_id = joining->job->run_id;
    return store_done_ranks(store, run_id, arena, &joining->traces, &joining->count, err) &&
           (store_processes_are_ordered(joining->traces, joining->count) ||
            (store_order_processes(store, run_id, arena, err) &&
             store_done_ranks(store, run_id, arena, &joining->traces, &joining->count, err)));
}

bool job_run_join(struct job_site *site, const struct job *job, struct progress *progress,
                  struct job_death *death, struct err *err)
{
    struct joining joining = {.site = site, .job = job, .progress = progress, .tables = -1};
    struct budget budget = {.limit = site->config->memory_bytes};
    struct arena arena;
    arena_init(&arena, &budget);
    bool ok = find_ranks(&joining, &arena, err) &&
              store_list_evidence(site->config->store, job->run_id, &arena, &joining.evidence,
                                  &joining.evidence_count, err) &&
              (fits_service(&joining) ? join_in_service(&joining, &arena, err)
                                      : join_in_process(&joining, death, err)) &&
              draw_ranks(&joining, err);
    arena_free(&arena); // free before the tables need the memory
    ok = ok && store_finish_run(site->config->store, job, joining.tables, err);
    if (joining.tables >= 0)
        close(joining.tables);
    return ok;
}
