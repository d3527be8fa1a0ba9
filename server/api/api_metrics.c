// SPDX-License-Identifier: Apache-2.0
// What the service counts, and how full and how busy it is, for Prometheus.
#include "server/api/api.h"

#include "ingest/base/clock.h"
#include "server/http/connections.h"
#include "server/http/process_state.h"
#include "server/store/store_watch.h"

#include <stdio.h>
#include <sys/stat.h>

#define WALK_EVERY_NS ((int64_t)300 * 1000000000) // sizes of all files: a walk through folders

static const char *const no_parameters[] = {NULL};

static void write_gauge(struct buf *out, const char *name, const char *help, double value)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n%s ", name, help, name, name);
    buf_f64(out, value);
    buf_putc(out, '\n');
}

// --- files --------------------------------------------------------------------------------------

struct walk {
    const struct blobs *blobs;
    uint64_t blob_bytes, blob_files, trace_bytes, trace_files;
};

// A file that went meanwhile counts as empty.
static uint64_t file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static bool add_blob(void *ctx, const char *sha256, struct err *err)
{
    struct walk *walk = ctx;
    char path[BLOB_PATH_SIZE];
    (void)err;
    blob_path(walk->blobs, sha256, path);
    walk->blob_bytes += file_bytes(path);
    walk->blob_files++;
    return true;
}

static bool add_trace(void *ctx, const char *trace_id, struct err *err)
{
    struct walk *walk = ctx;
    char path[BLOB_PATH_SIZE];
    (void)err;
    blob_trace_path(walk->blobs, trace_id, path);
    walk->trace_bytes += file_bytes(path);
    walk->trace_files++;
    return true;
}

// When it fails the old sizes stand.
static void measure_files(const struct services *services)
{
    struct walk walk = {.blobs = services->intake.blobs};
    struct blob_visitor visitor = {add_blob, add_trace, &walk};
    struct err err = {0};
    if (!metrics_claim(services->metrics, METRIC_BLOB_BYTES, WALK_EVERY_NS) ||
        !blob_each(services->intake.blobs, &visitor, &err))
        return;
    metrics_set(services->metrics, METRIC_BLOB_BYTES, walk.blob_bytes);
    metrics_set(services->metrics, METRIC_BLOB_FILES, walk.blob_files);
    metrics_set(services->metrics, METRIC_TRACE_BYTES, walk.trace_bytes);
    metrics_set(services->metrics, METRIC_TRACE_FILES, walk.trace_files);
}

static void write_database(const struct services *services, struct buf *out)
{
    static const char *const files[][3] = {
        {"stepscope.db", "stepscope_database_bytes", "Bytes of the database."},
        {"stepscope.db-wal", "stepscope_wal_bytes", "Bytes of the database's log."}};
    for (size_t i = 0; i < 2; i++) {
        char path[BLOB_PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", blob_root(services->intake.blobs), files[i][0]);
        write_gauge(out, files[i][1], files[i][2], (double)file_bytes(path));
    }
}

// --- what is now --------------------------------------------------------------------------------

static void write_queue(const struct queue_state *queue, struct buf *out)
{
    write_gauge(out, "stepscope_jobs_queued", "Jobs that wait.", (double)queue->queued);
    write_gauge(out, "stepscope_jobs_running", "Jobs at work.", (double)queue->running);
    write_gauge(out, "stepscope_job_oldest_seconds", "Age of the job that waits longest.",
                store_queue_age_s(queue));
}

static void write_process(struct buf *out)
{
    struct process_state state;
    process_state_read(&state);
    write_gauge(out, "process_resident_memory_bytes", "Memory of the process.",
                (double)state.resident_bytes);
    write_gauge(out, "process_open_fds", "Open descriptors.", (double)state.open_fds);
    write_gauge(out, "process_max_fds", "Descriptors that may be open.", (double)state.max_fds);
    write_gauge(out, "process_threads", "Threads.", (double)state.threads);
    write_gauge(out, "process_start_time_seconds", "When the process began, since 1970.",
                state.start_s);
    buf_puts(out, "# HELP process_cpu_seconds_total Time on the processors.\n"
                  "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ");
    buf_f64(out, state.cpu_s);
    buf_putc(out, '\n');
}

static void write_connections(const struct services *services, struct buf *out)
{
    uint64_t open = 0, closed = 0;
    if (services->connections)
        connections_count(services->connections, &open, &closed);
    write_gauge(out, "stepscope_connections", "Connections that are open.", (double)open);
    buf_printf(out,
               "# HELP stepscope_connections_closed_total Closed because they said nothing while "
               "there were too many.\n# TYPE stepscope_connections_closed_total counter\n"
               "stepscope_connections_closed_total %llu\n",
               (unsigned long long)closed);
}

static void write_build(struct buf *out)
{
    buf_printf(out,
               "# HELP stepscope_build_info What runs here.\n# TYPE stepscope_build_info gauge\n"
               "stepscope_build_info{version=\"%s\",analysis_version=\"%d\"} 1\n",
               STEPSCOPE_VERSION, ANALYSIS_VERSION);
}

bool api_get_metrics(struct request *request, struct response *response, struct err *err)
{
    const struct services *services = request->services;
    struct buf *out = &response->body;
    struct queue_state queue;
    uint64_t free_bytes = 0;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_queue_state(services->intake.store, &queue, err) ||
        !blob_free_bytes(services->intake.blobs, &free_bytes, err))
        return false;
    measure_files(services);
    metrics_write(services->metrics, out);
    write_queue(&queue, out);
    write_gauge(out, "stepscope_uploads_in_flight", "Uploads being received.",
                (double)atomic_load(services->uploads));
    write_gauge(out, "stepscope_disk_free_bytes", "Bytes that may still be written.",
                (double)free_bytes);
    write_connections(services, out);
    write_database(services, out);
    write_process(out);
    write_build(out);
    response->type = "text/plain; version=0.0.4; charset=utf-8";
    response->cache = CACHE_NEVER;
    return buf_ok(out, err);
}
