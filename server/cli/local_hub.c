// SPDX-License-Identifier: Apache-2.0
// A service for a few files, which leaves nothing behind.
#include "server/cli/local_hub.h"

#include "ingest/base/clock.h"
#include "server/api/replays.h"
#include "server/base/metrics.h"
#include "server/http/reply_room.h"
#include "server/uploads/sniff.h"
#include "server/uploads/upload_form.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 20, OPEN_FOLDERS = 16, FOLDER_SIZE = 1024, STOP_GRACE_MS = 200 };
#define ROOM_BYTES ((uint64_t)256 << 20)

struct local_hub {
    char folder[FOLDER_SIZE]; // "" before it exists
    struct arena arena;       // of the uploads' identifiers
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_async_t served; // the serving thread has returned
    int stop_pipe[2];
    bool has_run;
    struct intake intake;
    struct services services;
    struct metrics *metrics;
    struct replays *replays;
    struct reply_room room;
    sem_t comparing;
    struct str uploads[LOCAL_HUB_MAX_UPLOADS];
    size_t upload_count;
    void (*serve)(void *context, int stop_fd);
    void *context;
};

// --- opening ------------------------------------------------------------------------------------

// The serving thread ends the loop.
static void stop_serving(uv_signal_t *handle, int number)
{
    struct local_hub *hub = handle->data;
    (void)number;
    ssize_t ignored = write(hub->stop_pipe[1], "", 1);
    (void)ignored;
}

static void watch_signals(struct local_hub *hub)
{
    static const int numbers[2] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&hub->loop, &hub->signals[i]);
        hub->signals[i].data = hub;
        uv_signal_start(&hub->signals[i], stop_serving, numbers[i]);
    }
}

static void unwatch_signals(struct local_hub *hub)
{
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&hub->signals[i], NULL);
}

static bool make_folder(struct local_hub *hub, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    int len = snprintf(hub->folder, sizeof hub->folder, "%s/stepscope-mcp-XXXXXX",
                       parent && *parent ? parent : "/tmp");
    if (len < 0 || (size_t)len >= sizeof hub->folder || !mkdtemp(hub->folder)) {
        hub->folder[0] = '\0';
        return err_set_errno(err, "making a temporary folder");
    }
    return true;
}

static bool open_store(struct local_hub *hub, struct err *err)
{
    char path[FOLDER_SIZE + 16];
    snprintf(path, sizeof path, "%s/stepscope.db", hub->folder);
    hub->intake.blobs = blob_open(hub->folder, err);
    hub->intake.store = hub->intake.blobs ? store_open(path, err) : NULL;
    return hub->intake.store != NULL;
}

static bool open_jobs(struct local_hub *hub, uint64_t job_memory_bytes, struct err *err)
{
    char count[16];
    struct jobs_config config = {.store = hub->intake.store,
                                 .blobs = hub->intake.blobs,
                                 .metrics = hub->metrics,
                                 .memory_bytes = job_memory_bytes,
                                 .workers = uv_available_parallelism()};
    snprintf(count, sizeof count, "%u", config.workers);
    setenv("UV_THREADPOOL_SIZE", count, 1); // while single-threaded
    hub->intake.jobs = jobs_open(&hub->loop, &config, err);
    return hub->intake.jobs != NULL;
}

static void init(struct local_hub *hub)
{
    enum { TURNS = 1 };
    arena_init(&hub->arena, NULL);
    reply_room_init(&hub->room, ROOM_BYTES, TURNS);
    sem_init(&hub->comparing, 0, TURNS);
    hub->stop_pipe[0] = hub->stop_pipe[1] = -1;
    hub->services = (struct services){.intake = &hub->intake,
                                      .metrics = hub->metrics,
                                      .replays = hub->replays,
                                      .room = &hub->room,
                                      .comparing = &hub->comparing};
}

struct local_hub *local_hub_open(uint64_t job_memory_bytes, struct err *err)
{
    struct local_hub *hub = calloc(1, sizeof *hub);
    if (!hub || uv_loop_init(&hub->loop) != 0) {
        free(hub);
        err_set(err, ERR_MEMORY, "out of memory for an event loop");
        return NULL;
    }
    hub->metrics = metrics_new(err);
    hub->replays = hub->metrics ? replays_open(job_memory_bytes, err) : NULL;
    init(hub);
    watch_signals(hub); // so that the folder is always removed
    if (hub->replays && pipe2(hub->stop_pipe, O_CLOEXEC) == 0 && make_folder(hub, err) &&
        open_store(hub, err) && open_jobs(hub, job_memory_bytes, err))
        return hub;
    local_hub_close(hub);
    return NULL;
}

const struct services *local_hub_services(const struct local_hub *hub)
{
    return &hub->services;
}

// --- files --------------------------------------------------------------------------------------

static bool copy_rest(int fd, struct str first, struct spool *spool, struct err *err)
{
    char *bytes = malloc(COPY_BYTES);
    ssize_t got = 1;
    bool ok = (bytes || err_set(err, ERR_MEMORY, "out of memory for a file")) &&
              blob_spool_write(spool, first.at, first.len, err);
    while (ok && got > 0) {
        got = read(fd, bytes, COPY_BYTES);
        if (got < 0)
            ok = err_set_errno(err, "reading");
        else if (got > 0)
            ok = blob_spool_write(spool, bytes, (size_t)got, err);
    }
    free(bytes);
    return ok && blob_spool_seal(spool, err);
}

// The first bytes, fewer of a shorter file.
static ssize_t read_head(int fd, char head[SNIFF_BYTES])
{
    ssize_t len = 0, got = 1;
    while (got > 0 && (size_t)len < SNIFF_BYTES) {
        got = read(fd, head + len, SNIFF_BYTES - (size_t)len);
        len += got > 0 ? got : 0;
    }
    return got < 0 ? got : len;
}

static bool copy_file(struct local_hub *hub, int fd, struct intake_part *part, struct err *err)
{
    char head[SNIFF_BYTES];
    ssize_t len = read_head(fd, head);
    if (len < 0)
        return err_set_errno(err, "reading");
    struct str first = {head, (size_t)len};
    if (!sniff_upload(first, part->filename, &part->archive, err))
        return false;
    part->spool = blob_spool_open(hub->intake.blobs, 0, err);
    return part->spool && copy_rest(fd, first, part->spool, err);
}

static bool read_part(struct local_hub *hub, const char *path, struct intake_part *part,
                      struct err *err)
{
    *part = (struct intake_part){.rank = STORE_NO_RANK};
    if (!upload_display_name(str_of(path), &hub->arena, &part->filename, err))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 ? copy_file(hub, fd, part, err) : err_set_errno(err, "opening");
    if (fd >= 0)
        close(fd);
    return ok || err_wrap(err, "%s", path);
}

static bool accept_parts(struct local_hub *hub, const char *run, const struct intake_part *parts,
                         size_t count, struct err *err)
{
    struct upload upload;
    struct intake_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = parts, .count = count};
    request.run.project = request.run.note = request.run.step_pattern = request.run.owner = STR("");
    request.owner = request.resumable_id = request.key.text = STR("");
    if (hub->upload_count == LOCAL_HUB_MAX_UPLOADS)
        return err_set(err, ERR_LIMIT, "found too many files");
    if (!intake_accept(&hub->intake, &request, &hub->arena, &upload, err))
        return err_wrap(err, "run %s", run);
    hub->uploads[hub->upload_count++] = upload.id;
    return true;
}

static bool add_some(struct local_hub *hub, const char *run, const char *const *paths, size_t count,
                     struct err *err)
{
    struct intake_part parts[UPLOAD_MAX_FILES] = {{0}};
    size_t read = 0;
    bool ok = true;
    for (; ok && read < count; read++)
        ok = read_part(hub, paths[read], &parts[read], err);
    ok = ok && accept_parts(hub, run, parts, count, err);
    for (size_t i = 0; i < read; i++)
        blob_spool_close(parts[i].spool);
    return ok;
}

bool local_hub_add(struct local_hub *hub, const char *run, const char *const *paths, size_t count,
                   struct err *err)
{
    for (size_t at = 0; at < count; at += UPLOAD_MAX_FILES) {
        size_t left = count - at, some = left < UPLOAD_MAX_FILES ? left : UPLOAD_MAX_FILES;
        if (!add_some(hub, run, paths + at, some, err))
            return false;
    }
    return true;
}

void local_hub_wait(struct local_hub *hub, uint64_t timeout_ms)
{
    int64_t end_ns = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
    for (size_t i = 0; i < hub->upload_count; i++) {
        int64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
        if (left_ms <= 0 || !jobs_wait_upload(hub->intake.jobs, hub->uploads[i], (uint64_t)left_ms))
            return;
    }
}

// --- running ------------------------------------------------------------------------------------

static void end_loop(struct local_hub *hub)
{
    uv_close((uv_handle_t *)&hub->served, NULL);
    unwatch_signals(hub);
    jobs_stop(hub->intake.jobs, STOP_GRACE_MS);
}

static void note_served(uv_async_t *served)
{
    end_loop(served->data);
}

static void run_thread(void *data)
{
    struct local_hub *hub = data;
    hub->serve(hub->context, hub->stop_pipe[0]);
    uv_async_send(&hub->served);
}

bool local_hub_run(struct local_hub *hub, void (*serve)(void *context, int stop_fd), void *context,
                   struct err *err)
{
    uv_thread_t thread;
    hub->has_run = true;
    hub->serve = serve;
    hub->context = context;
    uv_async_init(&hub->loop, &hub->served, note_served);
    hub->served.data = hub;
    bool ok = uv_thread_create(&thread, run_thread, hub) == 0 ||
              err_set(err, ERR_LIMIT, "cannot start a thread");
    if (!ok)
        end_loop(hub);
    uv_run(&hub->loop, UV_RUN_DEFAULT);
    if (ok)
        uv_thread_join(&thread);
    return ok;
}

// --- closing ------------------------------------------------------------------------------------

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void local_hub_close(struct local_hub *hub)
{
    if (!hub)
        return;
    if (!hub->has_run)
        unwatch_signals(hub);
    if (!hub->has_run && hub->intake.jobs)
        jobs_stop(hub->intake.jobs, 0);
    uv_run(&hub->loop, UV_RUN_DEFAULT);
    jobs_close(hub->intake.jobs);
    uv_loop_close(&hub->loop);
    store_close(hub->intake.store);
    blob_close(hub->intake.blobs);
    if (hub->folder[0])
        nftw(hub->folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < 2; i++)
        if (hub->stop_pipe[i] >= 0)
            close(hub->stop_pipe[i]);
    replays_close(hub->replays);
    sem_destroy(&hub->comparing);
    reply_room_destroy(&hub->room);
    metrics_free(hub->metrics);
    arena_free(&hub->arena);
    free(hub);
}
