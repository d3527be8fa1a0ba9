// SPDX-License-Identifier: Apache-2.0
// stepscope serve: starts the store, the jobs and the web server, and stops them in order.
#include "server/cli/cmd.h"

#include "server/base/metrics.h"
#include "server/api/api_parts.h"
#include "server/api/replays.h"
#include "server/exports/export_spool.h"
#include "server/care/care.h"
#include "server/cli/page_beside.h"
#include "server/cli/serve_access.h"
#include "server/cli/serve_options.h"
#include "server/compare/compare_sides.h"
#include "server/files/data_folder.h"
#include "server/files/pieces.h"
#include "server/agents/known_agents.h"
#include "server/hooks/hooks.h"
#include "server/http/http.h"
#include "server/jobs/crash_mark.h"
#include "server/jobs/job_check.h"
#include "server/routes.h"
#include "server/store/store_copy.h"
#include "server/store/store_place.h"

#include "analysis/names/peaks.h"
#include "ingest/base/buf.h"
#include "ingest/base/log.h"

#include <malloc.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum {
    HTTP_GRACE_MS = 20000,
    JOBS_GRACE_MS = 1000,
    NOTICE_MS = 5000, // balancers ask every second, and close idle connections after 4 (deploy/)
    LOCK_TRIES = 30,
    LOCK_WAIT_MS = 100,
    MAX_RESUME_HOURS = 8760
};

#ifdef STEPSCOPE_SANITIZE
enum { CHECK_JOBS = 0 }; // checks nothing, and takes ten times as long to start
#else
enum { CHECK_JOBS = 1 };
#endif

// Most bytes in the temporary folder, for exports read in ranges.
#define SPOOL_BYTES ((uint64_t)4 << 30)

// Everything that runs; members are filled in order and released in reverse.
struct service {
    struct serve_options options;
    struct arena arena; // of the peaks, and of a path
    struct peaks peaks; // that the user added
    uv_loop_t loop;
    uv_signal_t signals[2];
    struct metrics *metrics;
    struct intake intake;
    struct hooks *hooks; // NULL: none
    struct known_agents *agents;
    bool crashed; // the previous process
    struct serve_access guards;
    struct replays *replays;
    struct export_spool *spool;
    struct http *http;
};

static unsigned worker_count(int64_t asked)
{
    enum { MAX_WORKERS = 256 };
    unsigned count = asked > 0 ? (unsigned)(asked < MAX_WORKERS ? asked : MAX_WORKERS)
                               : uv_available_parallelism();
    return count ? count : 1;
}

// A second signal ends the process at once: what is acknowledged is safe at any moment.
static void stop(uv_signal_t *signal, int number)
{
    struct service *service = signal->data;
    log_info("stopping on %s", number == SIGINT ? "SIGINT" : "SIGTERM");
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&service->signals[i], NULL);
    if (store_is_shared(service->intake.store))
        http_give_way(service->http, service->options.trusted_proxies ? NOTICE_MS : 0);
    else
        http_drain(service->http);
    jobs_stop(service->intake.jobs, JOBS_GRACE_MS); // also releases requests that wait for jobs
    http_stop(service->http, HTTP_GRACE_MS);
    service->http = NULL;
}

static void watch_signals(struct service *service)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&service->loop, &service->signals[i]);
        service->signals[i].data = service;
        uv_signal_start_oneshot(&service->signals[i], stop, numbers[i]);
    }
}

// The cache leaves twice the least free space, so that it neither blocks uploads nor makes the disk
// look nearly full.
static bool write_place(const struct serve_options *chosen, struct buf *place, struct err *err)
{
    buf_printf(
        place, "%s%s" BLOB_KEEP_FREE "%llu", chosen->blobs, strchr(chosen->blobs, '?') ? "" : "?",
        (unsigned long long)(chosen->min_free_bytes < UINT64_MAX / 2 ? 2 * chosen->min_free_bytes
                                                                     : chosen->min_free_bytes));
    return buf_ok(place, err);
}

// A process that was just killed may hold the data directory until its memory is freed.
static struct blobs *open_blobs(const struct serve_options *chosen, struct err *err)
{
    struct buf place = {0};
    if (chosen->blobs && !write_place(chosen, &place, err)) {
        buf_free(&place);
        return NULL;
    }
    struct blobs *blobs = blob_open_at(chosen->data, place.at, err);
    for (int i = 0; !blobs && err->code == ERR_BUSY && i < LOCK_TRIES; i++) {
        uv_sleep(LOCK_WAIT_MS);
        blobs = blob_open_at(chosen->data, place.at, err);
    }
    buf_free(&place);
    return blobs;
}

// Other services cannot see files in this one's folder.
static bool take_files(struct store *store, bool are_shared, struct err *err)
{
    bool is_only = true;
    if (!store_is_shared(store) || are_shared)
        return true;
    return store_take_role(store, CARE_FILES_ROLE, &is_only, err) &&
           (is_only || err_set(err, ERR_BUSY,
                               "another service of this --store keeps its files on its own disk: "
                               "give all of them the same --blobs s3://..."));
}

static bool read_mark(struct service *service, char mark[BLOB_MARK_SIZE], struct err *err)
{
    return blob_store_read_mark(blob_stored(service->intake.blobs), mark, err);
}

// The first service marks its place. One that starts beside it may not see that at once.
static bool compare_marks(struct service *service, const char *kept, char mark[BLOB_MARK_SIZE],
                          struct err *err)
{
    enum { MARK_WAIT_MS = 2000 };
    if (!mark[0])
        uv_sleep(MARK_WAIT_MS);
    return (mark[0] || read_mark(service, mark, err)) &&
           (strcmp(mark, kept) == 0 ||
            err_set(err, ERR_USAGE,
                    "found another file store than that of the other services of this --store; "
                    "if it has their files, put %s into its \"" BLOB_MARK "\"",
                    kept));
}

// Without the right to list, S3 refuses what is missing instead of saying so: each missing file
// would be waited for, and the place would never get its mark.
static bool refuse_rights(struct err *err)
{
    err->code = ERR_DENIED;
    return err_wrap(err, "the keys may write files, but S3 does not say which there are: grant "
                         "s3:ListBucket and s3:GetObject (deploy/s3/policy.json)");
}

// Without a mark, and true, if the place cannot be reached now.
static bool find_mark(struct service *service, char mark[BLOB_MARK_SIZE], bool *is_known,
                      struct err *err)
{
    struct err ignored = {.pos = ERR_NO_POS};
    *is_known = read_mark(service, mark, err);
    bool is_refused = !*is_known && err->code == ERR_BUSY &&
                      blob_store_probe(blob_stored(service->intake.blobs), &ignored);
    if (is_refused) // unless the place came back in between
        *is_known = read_mark(service, mark, err);
    if (*is_known)
        return true;
    if (is_refused && err->code == ERR_BUSY)
        return refuse_rights(err);
    log_warn("cannot tell whether all services use the same file store: %s", err->msg);
    return err->code == ERR_BUSY;
}

static bool check_place(struct service *service, struct err *err)
{
    struct store *store = service->intake.store;
    char mark[BLOB_MARK_SIZE], own[STORE_ID_SIZE], kept[STORE_ID_SIZE];
    bool is_known;
    if (!store_is_shared(store))
        return true;
    if (!find_mark(service, mark, &is_known, err))
        return false;
    if (!is_known)
        return true;
    if (!store_new_name(own, err))
        return false;
    const char *known = mark[0] ? mark : own;
    if (!store_keep_mark(store, known, kept, err))
        return false;
    if (strcmp(known, kept) != 0)
        return compare_marks(service, kept, mark, err);
    return mark[0] || blob_store_write_mark(blob_stored(service->intake.blobs), kept, err);
}

static bool open_store(struct service *service, struct err *err)
{
    const struct serve_options *chosen = &service->options;
    service->intake.blobs = open_blobs(chosen, err);
    if (!service->intake.blobs)
        return false;
    service->intake.store = chosen->store || data_folder_check(chosen->data, err)
                                ? store_open_at(chosen->store, chosen->data, err)
                                : NULL;
    if (!service->intake.store)
        return false;
    store_share_fault(service->intake.store, blob_fault(service->intake.blobs));
    if (store_is_shared(service->intake.store))
        pieces_share(service->intake.blobs, store_owner(service->intake.store).at);
    return store_check_copied(service->intake.store, err) &&
           take_files(service->intake.store, chosen->blobs != NULL, err) &&
           check_place(service, err) &&
           crash_mark_open(service->options.data, &service->crashed, err);
}

static void look_for_news(void *hooks)
{
    hooks_look(hooks);
}

static bool start_hooks(struct service *service, struct err *err)
{
    char url[512];
    const struct serve_options *chosen = &service->options;
    if (!chosen->webhooks_path)
        return true;
    snprintf(url, sizeof url, "%s%s", chosen->public_url ? "" : "http://",
             chosen->public_url ? chosen->public_url : chosen->listen);
    const struct hooks_config config = {.store = service->intake.store,
                                        .targets_path = chosen->webhooks_path,
                                        .data_dir = chosen->data,
                                        .base_url = url};
    service->hooks = hooks_open(&config, err);
    return service->hooks || err_wrap(err, "--webhooks");
}

static bool start_jobs(struct service *service, struct err *err)
{
    bool works = strcmp(service->options.roles, "web") != 0;
    struct jobs_config config = {
        .store = service->intake.store,
        .blobs = service->intake.blobs,
        .metrics = service->metrics,
        .memory_bytes = service->options.job_memory_bytes,
        .tables_bytes = service->options.max_tables_bytes,
        .min_free_bytes = service->options.min_free_bytes,
        .quota = serve_quota(&service->options),
        .job_seconds = service->options.job_seconds > 0 ? service->options.job_seconds : 0,
        .peaks = service->options.peaks_path ? &service->peaks : NULL,
        .crashed = service->crashed,
        .workers = works ? worker_count(service->options.jobs) : 0,
        .place = store_is_shared(service->intake.store) ? service->options.store : NULL,
        .after_run = service->hooks ? look_for_news : NULL,
        .context = service->hooks,
    };
    if (CHECK_JOBS && works && !job_check_run(&config, err))
        return false;
    char count[16];
    snprintf(count, sizeof count, "%u", works ? config.workers : 1);
    setenv("UV_THREADPOOL_SIZE", count, 1); // before the pool's first task, while single-threaded
    service->intake.jobs = jobs_open(&service->loop, &config, err);
    return service->intake.jobs != NULL;
}

static bool start_care(struct service *service, struct err *err)
{
    struct care_config config = {
        .intake = service->intake,
        .metrics = service->metrics,
        .audit = service->guards.audit,
        .spool = service->spool,
        .ballast_bytes = service->options.ballast_bytes,
        .min_free_bytes = service->options.min_free_bytes,
        .retention = service->options.retention,
        .audit_days = service->options.audit_days,
        .crashed = service->crashed,
        .has_files = service->options.blobs == NULL,
    };
    service->intake.care = care_open(&config, err);
    return service->intake.care != NULL;
}

static unsigned thread_count(int64_t connections)
{
    enum { LEAST = 8, MOST = 16384 };
    int64_t least = connections < LEAST ? LEAST : connections;
    return (unsigned)(least < MOST ? least : MOST);
}

static bool page_lacks_data(struct request *request)
{
    return api_page_lacks_run(request) || compare_sides_lack_traces(request);
}

static struct services services_of(const struct service *service)
{
    const struct serve_options *chosen = &service->options;
    return (struct services){
        .intake = &service->intake,
        .metrics = service->metrics,
        .access = service->guards.access,
        .quota = service->guards.quota,
        .audit = service->guards.audit,
        .replays = service->replays,
        .spool = service->spool,
        .hooks = service->hooks,
        .agents = service->agents,
        .public_url = chosen->public_url,
        .web_dir = chosen->web_dir,
        .lacks_data = page_lacks_data,
        .standalone_dir = chosen->standalone_dir,
        .max_upload_bytes = chosen->max_upload_bytes,
        .min_free_bytes = chosen->min_free_bytes,
        .retention = &chosen->retention,
        .uploads_in_flight =
            chosen->uploads_in_flight < UINT_MAX ? (unsigned)chosen->uploads_in_flight : UINT_MAX,
        .queue_limit = chosen->queue_limit > 0 ? (uint64_t)chosen->queue_limit : 0,
        .resume_ns =
            (chosen->resume_hours < MAX_RESUME_HOURS ? chosen->resume_hours : MAX_RESUME_HOURS) *
            INT64_C(3600000000000),
    };
}

static bool start_http(struct service *service, struct err *err)
{
    const struct serve_options *chosen = &service->options;
    struct http_config config = {
        .listen = chosen->listen,
        .allow_hosts = chosen->allow_hosts,
        .threads = thread_count(chosen->connections),
        .per_client = chosen->per_client > 0 && chosen->per_client < UINT_MAX
                          ? (unsigned)chosen->per_client
                          : 0,
        .services = services_of(service),
        .answer = routes_answer,
    };
    service->http = http_start(&config, err);
    return service->http != NULL;
}

// host:port as requested, with the actual port.
static void announce(const struct service *service)
{
    struct str host = str_of(service->options.listen);
    host.len = (size_t)(strrchr(host.at, ':') - host.at);
    if (log_is_json()) { // readers of both streams get lines of one format only
        log_info("listening on http://%.*s:%u/", (int)host.len, host.at, http_port(service->http));
        return;
    }
    printf("listening on http://%.*s:%u/\n", (int)host.len, host.at, http_port(service->http));
    fflush(stdout);
}

static bool read_files(struct service *service, struct err *err)
{
    const char *path = service->options.peaks_path;
    arena_init(&service->arena, NULL);
    if (!service->options.standalone_dir)
        service->options.standalone_dir = page_beside_program(&service->arena);
    return !path || peaks_read(path, &service->arena, &service->peaks, err);
}

static bool open_agents(struct service *service, struct err *err)
{
    char path[1024];
    if ((size_t)snprintf(path, sizeof path, "%s/captures.json", service->options.data) >=
        sizeof path)
        return err_set(err, ERR_USAGE, "the path %s is too long", service->options.data);
    service->agents = known_agents_new(path, err);
    return service->agents != NULL;
}

static bool start(struct service *service, struct err *err)
{
    service->metrics = metrics_new(err);
    if (!service->metrics || !serve_options_check(&service->options, err) ||
        !read_files(service, err) || !open_store(service, err) || !open_agents(service, err) ||
        !serve_access_open(&service->guards, &service->options, service->intake.store, err) ||
        !intake_sweep(&service->intake, err) || !start_hooks(service, err) ||
        !start_jobs(service, err))
        return false;
    service->replays = replays_open(service->options.job_memory_bytes, err);
    service->spool = export_spool_open(SPOOL_BYTES, service->options.min_free_bytes, err);
    if (service->replays && service->spool && start_care(service, err) && start_http(service, err))
        return true;
    jobs_stop(service->intake.jobs, 0);
    uv_run(&service->loop, UV_RUN_DEFAULT);
    return false;
}

static void release(struct service *service)
{
    care_close(service->intake.care);
    jobs_close(service->intake.jobs);
    hooks_close(service->hooks);
    known_agents_free(service->agents);
    serve_access_close(&service->guards);
    uv_loop_close(&service->loop);
    replays_close(service->replays);
    export_spool_close(service->spool);
    store_close(service->intake.store);
    blob_close(service->intake.blobs);
    arena_free(&service->arena);
    metrics_free(service->metrics);
}

// The allocator would take ever larger blocks from its arenas, which it cannot give back in pieces.
// Large blocks are returned to the system when freed.
static void choose_memory(void)
{
    enum { OWN_PAGES_BYTES = 256 << 10, SPARE_BYTES = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, OWN_PAGES_BYTES);
    mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
}

bool cmd_serve(int argc, char **argv, struct err *err)
{
    struct service service = {0};
    struct option_args args;
    bool ok = options_parse(&serve_option_set, argc, argv, &service.options, &args, err);
    if (service.options.log_format) // also for messages about wrong options
        setenv(LOG_FORMAT_ENV, service.options.log_format, 1); // while single-threaded
    if (!ok)
        return false;
    if (args.help) {
        options_help(&serve_option_set, stdout);
        return true;
    }
    choose_memory();
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file size limit fails the write, not the service
    if (uv_loop_init(&service.loop) != 0)
        return err_set(err, ERR_INTERNAL, "cannot start an event loop");
    ok = start(&service, err);
    if (ok) {
        watch_signals(&service);
        announce(&service);
        uv_run(&service.loop, UV_RUN_DEFAULT);
        log_info("stopped");
    }
    release(&service);
    return ok;
}
