// SPDX-License-Identifier: Apache-2.0
// One process per trace job: started from the running program; it gets descriptors and nothing
// else.
#include "server/jobs/job_child.h"

#include "server/jobs/job_tables.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 50, // how soon a cancellation is noticed
    READ_BYTES = 16 << 10,
    LOG_MAX_BYTES = 64 << 10,
    FIRST_SAFE_FD = 32, // above every number that the process will use
};

// A running process.
struct child {
    const struct job_child_task *task;
    struct job_page *page;
    int fds[JOB_FD_COUNT]; // what it gets; -1: nothing
    int page_fd;
    int reply_fd, log_fd; // our ends
    pid_t pid;
    struct job_stop stop;
    struct buf reply, log;
    bool floods;         // it sent more than a reply may hold
    const char *stopped; // why we ended it; NULL: we did not
};

// --- starting -----------------------------------------------------------------------------------

static bool no_resources(const char *what, struct err *err)
{
    return err_set(err, ERR_BUSY, "%s: %s", what, strerror(errno));
}

// A copy with a number that the process will not use.
static int lift(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_SAFE_FD);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

// An unnamed file that holds the order, positioned at its start.
static int order_file(const struct job_order *order)
{
    struct buf text = {0};
    job_wire_put_order(order, &text);
    int fd = text.failed ? -1 : memfd_create("stepscope-order", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < text.len;) {
        ssize_t wrote = pwrite(fd, text.at + at, text.len - at, (off_t)at);
        if (wrote < 0)
            close_fd(&fd);
        else
            at += (size_t)wrote;
    }
    buf_free(&text);
    return fd;
}

// A pipe; the process gets the writing end.
static bool open_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *ours = ends[0];
    *theirs = lift(ends[1]);
    close(ends[1]);
    return *theirs >= 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_fds(struct child *child, struct err *err)
{
    const struct pipeline_files *files = &child->task->files;
    int order_fd = order_file(&child->task->order);
    child->page = shared_page_new(&child->page_fd, err);
    const int given[JOB_FD_COUNT] = {[JOB_FD_ORDER] = order_fd,
                                     [JOB_FD_REPLY] = -1,
                                     [JOB_FD_LOG] = -1,
                                     [JOB_FD_INPUT] = files->input,
                                     [JOB_FD_KEPT] = files->kept,
                                     [JOB_FD_KEEP] = files->keep,
                                     [JOB_FD_TABLES] = child->task->tables,
                                     [JOB_FD_CORES] = child->task->cores_fd,
                                     [JOB_FD_PAGE] = child->page_fd};
    bool ok = order_fd >= 0 && child->page;
    for (int i = 0; i < JOB_FD_COUNT; i++) {
        child->fds[i] = lift(given[i]);
        ok = ok && (given[i] < 0 || child->fds[i] >= 0);
    }
    close_fd(&order_fd);
    ok = ok && open_pipe(&child->reply_fd, &child->fds[JOB_FD_REPLY]) &&
         open_pipe(&child->log_fd, &child->fds[JOB_FD_LOG]);
    return ok || no_resources("cannot prepare a process for the analysis", err);
}

static void close_given(struct child *child)
{
    for (int i = 0; i < JOB_FD_COUNT; i++)
        close_fd(&child->fds[i]);
}

static bool is_for_loader(const char *variable)
{
    static const char *const prefixes[] = {"LD_",   "MALLOC_", "GLIBC_TUNABLES=", "ASAN_", "UBSAN_",
                                           "LSAN_", "TSAN_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

// Settings for the loader and the memory allocator, and nothing else from our environment.
static void choose_environment(char *chosen[], size_t room)
{
    size_t count = 0;
    for (char **at = environ; *at && count + 1 < room; at++)
        if (is_for_loader(*at))
            chosen[count++] = *at;
    chosen[count] = NULL;
}

static int give_fds(posix_spawn_file_actions_t *actions, const struct child *child)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < JOB_FD_COUNT; i++)
        rc = child->fds[i] >= 0 ? posix_spawn_file_actions_adddup2(actions, child->fds[i], i)
                                : posix_spawn_file_actions_addclose(actions, i);
    return rc ? rc : posix_spawn_file_actions_addclosefrom_np(actions, JOB_FD_COUNT);
}

// Signals are reset as for a fresh program, and terminal signals go to the service only.
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

static bool spawn(struct child *child, struct err *err)
{
    enum { MAX_VARIABLES = 32 };
    char name[] = "stepscope", command[] = "_job";
    char *arguments[] = {name, command, NULL}, *environment[MAX_VARIABLES];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    choose_environment(environment, MAX_VARIABLES);
    int rc = give_fds(&actions, child);
    if (rc == 0)
        rc = set_attributes(&attributes);
    if (rc == 0)
        rc = posix_spawn(&child->pid, "/proc/self/exe", &actions, &attributes, arguments,
                         environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close_given(child); // so that our ends see when the process is gone
    errno = rc;
    return rc == 0 || no_resources("cannot start a process for the analysis", err);
}

// --- watching -----------------------------------------------------------------------------------

// Reads what is available. Past the limit bytes are read and dropped, and it returns false. Closes
// at end of file.
static bool read_some(int *fd, struct buf *into, size_t most)
{
    char bytes[READ_BYTES];
    ssize_t got = *fd < 0 ? -1 : read(*fd, bytes, sizeof bytes);
    bool fits = got <= 0 || into->len + (size_t)got <= most;
    if (got > 0)
        buf_add(into, bytes, fits ? (size_t)got : 0);
    else if (*fd >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR)))
        close_fd(fd);
    return fits;
}

static void read_reply(struct child *child)
{
    child->floods = !read_some(&child->reply_fd, &child->reply, JOB_REPLY_MAX_BYTES);
    if (child->floods)
        close_fd(&child->reply_fd);
}

static const char *reason_to_stop(const struct job_stop *stop)
{
    if (stop->progress->cancel)
        return "cancelled";
    return clock_mono_ns() > stop->deadline_ns ? "time" : NULL;
}

// Until the process closes its end of the reply pipe: then it is done or dead.
static void watch(struct child *child)
{
    while (child->reply_fd >= 0 && !child->stopped) {
        struct pollfd ends[] = {{.fd = child->reply_fd, .events = POLLIN},
                                {.fd = child->log_fd, .events = POLLIN}};
        poll(ends, 2, TICK_MS);
        if (ends[0].revents)
            read_reply(child);
        if (ends[1].revents)
            read_some(&child->log_fd, &child->log, LOG_MAX_BYTES);
        child->task->progress->done_bytes = child->page->progress.done_bytes;
        child->stopped = reason_to_stop(&child->stop);
    }
}

// Returns the extra cores that the process still held, or takes back the one it lent while waiting.
// The count it reports is trusted up to the most a job can have.
static void settle_cores(const struct child *child)
{
    enum { MOST = 64 };
    int held = atomic_load(&child->page->held);
    if (held > 0)
        cores_give(child->task->cores, held < MOST ? (unsigned)held : MOST);
    else if (held < 0)
        cores_hold(child->task->cores);
}

// No more of the reply is expected; SIGKILL does not change the status of a process that is already
// exiting.
static int end(struct child *child)
{
    int status = 0;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    settle_cores(child);
    return status;
}

// --- judging ------------------------------------------------------------------------------------

static void tell_log(const struct child *child)
{
    struct str left = {child->log.at, child->log.len};
    while (left.len) {
        const char *line_end = memchr(left.at, '\n', left.len);
        size_t len = line_end ? (size_t)(line_end - left.at) : left.len;
        if (len)
            log_info("job %lld: %.*s", (long long)child->task->job_id, (int)len, left.at);
        left.at += len + (line_end != NULL);
        left.len -= len + (line_end != NULL);
    }
}

static void blame(struct job_death *death, const char *verb, const char *detail)
{
    death->verb = verb;
    snprintf(death->detail, sizeof death->detail, "%s", detail);
}

static void blame_signal(struct job_death *death, int number)
{
    const char *name = sigabbrev_np(number);
    blame(death, number == SIGXCPU ? "was stopped" : "crashed", "");
    snprintf(death->detail, sizeof death->detail, "SIG%s%s", name ? name : "?",
             number == SIGKILL   ? ", which the system sends when memory runs out"
             : number == SIGSYS  ? ", a system call that is forbidden"
             : number == SIGXCPU ? ", its limit of processor time"
                                 : "");
}

// Whether there is a reply to read.
static bool judge_end(const struct child *child, int status, struct job_death *death,
                      struct err *err)
{
    const char *stopped = child->stopped;
    if (stopped && strcmp(stopped, "cancelled") == 0)
        return err_set(err, ERR_CANCELLED, "cancelled");
    if (stopped && strcmp(stopped, "time") == 0) {
        blame(death, "was stopped", "");
        snprintf(death->detail, sizeof death->detail, "it took longer than %lld s",
                 (long long)(child->task->limit_ns / 1000000000));
        return false;
    }
    if (child->floods)
        return true;
    if (WIFSIGNALED(status) && (WTERMSIG(status) != SIGKILL || child->reply.len == 0))
        blame_signal(death, WTERMSIG(status));
    else if (child->reply.len == 0) {
        blame(death, "ended without a result", "");
        snprintf(death->detail, sizeof death->detail, "exit code %d", WEXITSTATUS(status));
    }
    return !death->verb;
}

static bool take_answer(const struct child *child, struct job_reply *reply, struct err *err)
{
    const struct job_child_task *task = child->task;
    struct str text = {child->reply.at, child->floods ? 0 : child->reply.len};
    return job_wire_take_reply(text, reply, err) &&
           (!reply->ok || task->order.unpacks || // whose list the service reads itself
            job_tables_check(task->tables, &task->order, &child->stop, &reply->tables, err));
}

static bool judge(const struct child *child, int status, struct job_reply *reply,
                  struct job_death *death, struct err *err)
{
    if (!judge_end(child, status, death, err))
        return false;
    struct err why = {.pos = ERR_NO_POS};
    if (take_answer(child, reply, &why))
        return true;
    if (why.code == ERR_FORMAT)
        blame(death, "ended without a result", why.msg);
    else
        *err = why;
    return false;
}

static void release(struct child *child)
{
    close_given(child);
    close_fd(&child->reply_fd);
    close_fd(&child->log_fd);
    shared_page_close(child->page, child->page_fd);
    buf_free(&child->reply);
    buf_free(&child->log);
}

bool job_child_run(const struct job_child_task *task, struct job_reply *reply,
                   struct job_death *death, struct err *err)
{
    struct child child = {.task = task, .page_fd = -1, .reply_fd = -1, .log_fd = -1};
    child.stop = (struct job_stop){task->progress, clock_mono_ns() + task->limit_ns};
    for (int i = 0; i < JOB_FD_COUNT; i++)
        child.fds[i] = -1;
    *death = (struct job_death){0};
    bool ok = open_fds(&child, err) && spawn(&child, err);
    if (ok) {
        watch(&child);
        int status = end(&child);
        read_some(&child.log_fd, &child.log, LOG_MAX_BYTES);
        tell_log(&child);
        ok = judge(&child, status, reply, death, err);
    }
    release(&child);
    return ok;
}
