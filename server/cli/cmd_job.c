// SPDX-License-Identifier: Apache-2.0
// stepscope _job: runs one job in a process started for it by the service. All it has are the
// descriptors of job_wire.h; it sandboxes itself before it looks at an untrusted byte.
#include "server/cli/cmd.h"

#include "server/jobs/job_ranks.h"
#include "server/jobs/job_wire.h"
#include "server/jobs/members.h"
#include "server/jobs/sandbox.h"
#include "server/jobs/shared_page.h"

#include "analysis/report/report_parts.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "ingest/base/clock.h"
#include "ingest/base/fd_io.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_order(struct arena *arena, struct job_order *order, struct err *err)
{
    struct stat info;
    if (fstat(JOB_FD_ORDER, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0 ||
        (uint64_t)info.st_size > JOB_ORDER_MAX_BYTES)
        return err_set(err, ERR_USAGE, "this command is internal to the service");
    size_t size = (size_t)info.st_size;
    char *text = arena_room(arena, size, 1, err);
    if (!text)
        return false;
    if (pread(JOB_FD_ORDER, text, size, 0) != (ssize_t)size)
        return err_set_errno(err, "reading the job");
    return job_wire_take_order((struct str){text, size}, arena, order, err);
}

// Ends with the service, however that ends.
static bool follow(const struct job_order *order, struct err *err)
{
    // Sent to all processes of a machine or a terminal, these are meant for the service, which then
    // decides: the file is not at fault.
    static const int polite[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof polite / sizeof *polite; i++)
        signal(polite[i], SIG_IGN);
    prctl(PR_SET_NAME, "stepscope-job"); // for process listings
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return err_set_errno(err, "watching the service");
    return getppid() == (pid_t)order->service_pid ||
           err_set(err, ERR_CANCELLED, "the service is gone");
}

// When memory runs out, this process goes first. Best effort.
static void offer_itself(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t ignored = fd >= 0 ? write(fd, "1000", 4) : 0;
    (void)ignored;
    if (fd >= 0)
        close(fd);
}

// Opens now what libraries would open later, when the sandbox forbids it.
static void warm_up(void)
{
    char now[CLOCK_RFC3339_SIZE];
    clock_rfc3339(clock_wall_ns(), now);
    json_object_seed(0); // opens /dev/urandom
}

static bool shut_in(const struct job_order *order, unsigned *walls, struct err *err)
{
    struct sandbox_limits limits = {.address_bytes = order->address_bytes,
                                    .cpu_seconds = order->cpu_seconds,
                                    .file_bytes = order->file_bytes,
                                    .descriptors = JOB_FD_COUNT};
    offer_itself();
    warm_up();
    return sandbox_enter(&limits, walls, err);
}

static bool join_ranks(const struct job_order *order, struct cores *cores, struct report *report,
                       struct err *err)
{
    struct rank_source source;
    if (!job_ranks_read(JOB_FD_INPUT, report->arena, &source, err))
        return false;
    source.cores = cores;
    source.peaks = order->options.peaks;
    return pipeline_run(&source, report, err) &&
           table_limit(report, order->tables_bytes, &table_run_trust, err) &&
           report_parts_write(report, run_tables, JOB_FD_TABLES, err);
}

// The kept file takes the members' bytes.
static bool unpack(const struct job_order *order, struct progress *progress, struct err *err)
{
    struct members_work work = {.input = JOB_FD_INPUT,
                                .bytes = JOB_FD_KEEP,
                                .list = JOB_FD_TABLES,
                                .max_bytes = order->unpack_bytes,
                                .memory_bytes = order->memory_bytes,
                                .filename = order->filename,
                                .progress = progress};
    return members_write(&work, err);
}

// The kept file serves as scratch.
static bool gather(const struct job_order *order, struct progress *progress, struct report *report,
                   struct err *err)
{
    struct pipeline_files files = {.input = JOB_FD_INPUT, .kept = -1, .keep = JOB_FD_KEEP};
    return pipeline_evidence(&files, order->filename, progress, report, err) &&
           table_limit(report, order->tables_bytes, &table_trust, err) &&
           report_parts_write(report, evidence_tables, JOB_FD_TABLES, err);
}

static void work(const struct job_order *order, struct cores *cores, struct progress *progress,
                 struct report *report, struct job_reply *reply)
{
    if (order->joins) {
        reply->ok = join_ranks(order, cores, report, &reply->err);
        return;
    }
    if (order->unpacks) {
        reply->ok = unpack(order, progress, &reply->err);
        return;
    }
    if (order->gathers) {
        reply->ok = gather(order, progress, report, &reply->err);
        return;
    }
    struct pipeline_files files = {.input = order->has_input ? JOB_FD_INPUT : -1,
                                   .kept = order->has_kept ? JOB_FD_KEPT : -1,
                                   .keep = order->has_keep ? JOB_FD_KEEP : -1};
    struct pipeline_job job = {
        .options = order->options, .progress = progress, .process = order->process};
    job.options.cores = cores;
    progress->cores = cores;
    reply->ok = pipeline_trace(&files, &job, report, &reply->found, &reply->err) &&
                table_limit(report, order->tables_bytes, &table_trust, &reply->err) &&
                report_parts_write(report, trace_tables, JOB_FD_TABLES, &reply->err);
}

static bool answer(const struct job_reply *reply, struct err *err)
{
    struct buf message = {0};
    job_wire_put_reply(reply, &message);
    bool ok = buf_ok(&message, err) && (fd_write(JOB_FD_REPLY, message.at, message.len) ||
                                        err_set_errno(err, "answering the service"));
    buf_free(&message);
    return ok;
}

static bool do_job(struct job_order *order, struct arena *arena, struct err *err)
{
    struct cores_page *shared = shared_page_map(JOB_FD_CORES, err);
    struct job_page *page = shared ? shared_page_map(JOB_FD_PAGE, err) : NULL;
    struct job_reply reply = {.err = {.pos = ERR_NO_POS}};
    if (!page || !shut_in(order, &reply.walls, err))
        return false;
    struct cores cores;
    cores_share(&cores, &shared->free, &page->held);
    struct budget budget = {.limit = order->memory_bytes};
    arena->budget = &budget;
    struct report report = {.arena = arena};
    work(order, &cores, &page->progress, &report, &reply);
    bool ok = answer(&reply, err);
    if (ok)
        _exit(0); // at once: the service has what it wants, and the system reclaims memory faster
    arena_free(arena);
    arena->budget = NULL;
    return ok;
}

bool cmd_job(int argc, char **argv, struct err *err)
{
    (void)argv;
    struct arena arena, orders;
    struct job_order order;
    if (argc)
        return err_set(err, ERR_USAGE, "this command is internal to the service");
    arena_init(&arena, NULL);
    arena_init(&orders, NULL);
    bool ok =
        read_order(&orders, &order, err) && follow(&order, err) && do_job(&order, &arena, err);
    arena_free(&arena);
    arena_free(&orders);
    return ok;
}
