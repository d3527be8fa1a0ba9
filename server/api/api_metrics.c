// SPDX-License-Identifier: Apache-2.0
// The service's counters, and how full and busy it is, for Prometheus.
#include "server/api/api.h"

#include "server/access/audit.h"
#include "server/base/metrics.h"
#include "server/base/process_state.h"
#include "server/care/backup.h"
#include "server/http/connections.h"
#include "server/store/store_watch.h"

#include <stdio.h>
#include <sys/stat.h>

static const char *const no_parameters[] = {NULL};

static void write_gauge(struct buf *out, const char *name, const char *help, double value)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n%s ", name, help, name, name);
    buf_f64(out, value);
    buf_putc(out, '\n');
}

// --- files --------------------------------------------------------------------------------------

// A file that has vanished counts as empty.
static uint64_t file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static void write_database(const struct services *services, struct buf *out)
{
    static const char *const files[][3] = {
        {"stepscope.db", "stepscope_database_bytes", "Bytes of the database."},
        {"stepscope.db-wal", "stepscope_wal_bytes", "Bytes of the database's write-ahead log."}};
    for (size_t i = 0; i < 2; i++) {
        char path[BLOB_PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", blob_root(services->intake->blobs), files[i][0]);
        write_gauge(out, files[i][1], files[i][2], (double)file_bytes(path));
    }
}

// --- current values -----------------------------------------------------------------------------

static void write_queue(const struct queue_state *queue, struct buf *out)
{
    write_gauge(out, "stepscope_jobs_queued", "Queued jobs.", (double)queue->queued);
    write_gauge(out, "stepscope_jobs_running", "Running jobs.", (double)queue->running);
    write_gauge(out, "stepscope_job_oldest_seconds", "Age of the oldest queued job.",
                store_queue_age_s(queue));
}

static void write_process(struct buf *out)
{
    struct process_state state;
    process_state_read(&state);
    write_gauge(out, "process_resident_memory_bytes", "Resident memory of the process.",
                (double)state.resident_bytes);
    write_gauge(out, "process_open_fds", "Open file descriptors.", (double)state.open_fds);
    write_gauge(out, "process_max_fds", "Maximum open file descriptors.", (double)state.max_fds);
    write_gauge(out, "process_threads", "Threads.", (double)state.threads);
    write_gauge(out, "process_start_time_seconds", "Start time of the process since 1970.",
                state.start_s);
    buf_puts(out, "# HELP process_cpu_seconds_total CPU time.\n# TYPE process_cpu_seconds_total "
                  "counter\nprocess_cpu_seconds_total ");
    buf_f64(out, state.cpu_s);
    buf_putc(out, '\n');
}

// A name in quotes, as in the text format.
static void write_label(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(out, '\\');
        buf_putc(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

// Only a few: each owner becomes a separate series in the monitoring system.
static void write_owners(const struct store_room *room, struct buf *out)
{
    buf_puts(
        out,
        "# HELP stepscope_token_stored_bytes Bytes stored, files and their results, by uploader: "
        "the largest, and all others together.\n# TYPE stepscope_token_stored_bytes gauge\n");
    for (size_t i = 0; i < room->owner_count; i++) {
        buf_puts(out, "stepscope_token_stored_bytes{who=\"");
        write_label(out, room->owners[i].who);
        buf_printf(out, "\"} %llu\n", (unsigned long long)room->owners[i].bytes);
    }
    buf_printf(out, "stepscope_token_stored_bytes{who=\"others\"} %llu\n",
               (unsigned long long)room->others_bytes);
}

static void write_room(const struct services *services, const struct store_room *room,
                       struct buf *out)
{
    const char *data = blob_root(services->intake->blobs);
    write_gauge(out, "stepscope_pieces_open", "Incomplete resumable uploads.",
                (double)room->pieces);
    write_gauge(out, "stepscope_pieces_bytes", "Bytes received of incomplete resumable uploads.",
                (double)room->pieces_bytes);
    write_gauge(out, "stepscope_runs", "Runs.", (double)room->runs);
    write_gauge(out, "stepscope_bin_runs", "Deleted runs that can be restored.",
                (double)room->bin_runs);
    write_gauge(out, "stepscope_bin_bytes", "Bytes of the files of deleted runs.",
                (double)room->bin_bytes);
    write_gauge(out, "stepscope_recent_run_bytes",
                "Mean bytes of files per run, over the newest 32 runs.", room->recent_run_bytes);
    write_gauge(out, "stepscope_audit_entries", "Entries ever written to the audit log.",
                (double)room->audit_entries);
    write_gauge(out, "stepscope_audit_log_bytes", "Bytes of audit.log and its rotated files.",
                services->audit ? (double)audit_file_bytes(services->audit) : 0);
    write_gauge(out, "stepscope_last_backup_timestamp_seconds",
                "Time of the last backup since 1970; 0: never.", backup_last_s(data));
    write_owners(room, out);
}

static void write_disk(const struct services *services, uint64_t free_bytes, struct buf *out)
{
    uint64_t files = 0, free_files = 0;
    blob_files_left(services->intake->blobs, &files, &free_files);
    write_gauge(out, "stepscope_disk_free_bytes", "Bytes available on the disk.",
                (double)free_bytes);
    write_gauge(out, "stepscope_disk_inodes", "Inodes of the disk; 0: unlimited.", (double)files);
    write_gauge(out, "stepscope_disk_free_inodes", "Free inodes of the disk.", (double)free_files);
}

static void write_connections(const struct services *services, struct buf *out)
{
    uint64_t open = 0, closed = 0;
    if (services->connections)
        connections_count(services->connections, &open, &closed);
    write_gauge(out, "stepscope_connections", "Open connections.", (double)open);
    write_gauge(out, "stepscope_connections_limit", "Maximum connections served at a time.",
                (double)connections_limit(services->connections));
    buf_printf(out,
               "# HELP stepscope_connections_closed_total Idle connections closed because there "
               "were too many.\n# TYPE stepscope_connections_closed_total "
               "counter\nstepscope_connections_closed_total %llu\n",
               (unsigned long long)closed);
}

static void write_build(struct buf *out)
{
    buf_printf(out,
               "# HELP stepscope_build_info Version of the service.\n# TYPE stepscope_build_info "
               "gauge\nstepscope_build_info{version=\"%s\",analysis_version=\"%d\"} 1\n",
               STEPSCOPE_VERSION, ANALYSIS_VERSION);
}

bool api_get_metrics(struct request *request, struct response *response, struct err *err)
{
    const struct services *services = request->services;
    struct buf *out = &response->body;
    struct queue_state queue;
    struct store_room room;
    uint64_t free_bytes = 0;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_queue_state(services->intake->store, &queue, err) ||
        !store_measure_room(services->intake->store, &room, err) ||
        !blob_free_bytes(services->intake->blobs, &free_bytes, err))
        return false;
    metrics_write(services->metrics, out);
    write_queue(&queue, out);
    write_gauge(out, "stepscope_uploads_in_flight", "Uploads being received.",
                (double)atomic_load(services->uploads));
    write_gauge(out, "stepscope_uploads_in_flight_limit", "Maximum uploads received at a time.",
                (double)services->uploads_in_flight);
    write_disk(services, free_bytes, out);
    write_room(services, &room, out);
    write_connections(services, out);
    write_database(services, out);
    write_process(out);
    write_build(out);
    response->type = "text/plain; version=0.0.4; charset=utf-8";
    response->cache = CACHE_NEVER;
    return buf_ok(out, err);
}
