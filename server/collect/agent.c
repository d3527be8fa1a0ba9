// SPDX-License-Identifier: Apache-2.0
// Two threads: one answers processes, which wait no longer than 90 ms; the other talks to the hub.
#include "server/collect/agent.h"

#include "ingest/base/clock.h"
#include "ingest/base/visible.h"
#include "server/base/startup_pages.h"
#include "server/collect/agent_state.h"
#include "server/collect/process_rank.h"
#include "server/collect/send_file.h"
#include "server/collect/stop_signal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL
enum { ANSWER_SECONDS = 20, MOST_SEEN = 1024 };
enum { MOST_LISTED = 64 }; // processes: the hub takes no more

struct agent {
    const struct agent_config *config;
    int fd;
    pthread_mutex_t lock; // guards the state
    struct agent_state state;
    bool said_full; // that there are more processes than it can know
};

// --- processes ----------------------------------------------------------------------------------

// Traces of a capture, written by a user's processes: in a folder that only they can write.
static bool folder_for(const struct agent *agent, const char *id, uid_t uid, char *path,
                       size_t size, struct err *err)
{
    struct stat info;
    snprintf(path, size, "%s/%s-%u", agent->config->traces, id, (unsigned)uid);
    if (mkdir(path, 0700) == 0 && uid != geteuid() && lchown(path, uid, (gid_t)-1) != 0)
        return err_set_errno(err, "cannot give %.100s to its user", path);
    return (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == uid) ||
           err_set(err, ERR_DENIED, "%.100s belongs to another user", path);
}

// The process in the name of a file, which Kineto ends with _PID.json, and .json.tmp before; 0:
// none.
static int32_t pid_in(const char *name)
{
    const char *at = strrchr(name, '_');
    int64_t pid = 0;
    size_t digits = at ? strspn(at + 1, "0123456789") : 0;
    return at && str_to_i64((struct str){at + 1, digits}, &pid) && pid <= INT32_MAX ? (int32_t)pid
                                                                                    : 0;
}

// Processes that have a file of a capture have started it. With the lock held; whether pid has one.
static bool see_files(struct agent *agent, const char *id, const char *folder, int32_t pid)
{
    bool found = false;
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    for (int i = 0; i < MOST_SEEN && dir && (entry = readdir(dir)); i++) { // others wait
        int32_t one = pid_in(entry->d_name);
        agent_state_start(&agent->state, id, one);
        found = found || one == pid;
    }
    if (dir)
        closedir(dir);
    return found;
}

// What a process is to record: the text of its settings, or nothing.
static void choose(struct agent *agent, struct agent_process *process, struct buf *text)
{
    char folder[200], path[240];
    bool is_first;
    struct err err = {.pos = ERR_NO_POS};
    const struct fabric_capture *capture =
        agent_state_take(&agent->state, process, clock_mono_ns(), &is_first);
    if (!capture)
        return;
    bool ok = folder_for(agent, capture->id, process->uid, folder, sizeof folder, &err);
    if (ok && !is_first && see_files(agent, capture->id, folder, process->own_pid))
        return;
    snprintf(path, sizeof path, "%s/rank%lld.json", folder, (long long)process->rank);
    if (process->rank < 0)
        snprintf(path, sizeof path, "%s/trace.json", folder);
    ok = ok && fabric_settings(capture, path, text, &err);
    if (ok && is_first)
        fprintf(stderr, "process %d records %lld steps for run %s\n", (int)process->pid,
                (long long)capture->steps, capture->run);
    else if (!ok)
        fprintf(stderr, "process %d cannot record: %s\n", (int)process->pid, err.msg);
}

struct received {
    char bytes[FABRIC_MOST_BYTES];
    size_t len;
    struct sockaddr_un from;
    socklen_t from_len;
    struct ucred who;
    bool is_whole;
};

static bool receive(int fd, struct received *got)
{
    char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {got->bytes, sizeof got->bytes};
    struct msghdr message = {.msg_name = &got->from,
                             .msg_namelen = sizeof got->from,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    memset(&got->from, 0, sizeof got->from);
    ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (len < 0)
        return false;
    got->len = (size_t)len;
    got->from_len = message.msg_namelen;
    got->is_whole = false;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at))
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&got->who, CMSG_DATA(at), sizeof got->who);
            got->is_whole = !(message.msg_flags & MSG_TRUNC);
        }
    return true;
}

static void answer_request(struct agent *agent, const struct received *got,
                           const struct fabric_message *message, struct buf *out)
{
    char name[sizeof got->from.sun_path + 1];
    struct buf text = {0};
    bool abstract = !agent->config->socket_folder;
    snprintf(name, sizeof name, "%s", got->from.sun_path + abstract);
    pthread_mutex_lock(&agent->lock);
    struct agent_process *process = agent_state_see(&agent->state, name, message, clock_mono_ns());
    if (process) {
        bool is_new = process->pid != got->who.pid;
        process->pid = got->who.pid;
        process->uid = got->who.uid;
        process->is_busy = !(message->type & 2);
        process->rank = is_new ? process_rank_of(got->who.pid) : process->rank;
        agent_state_place(&agent->state, process, message);
        choose(agent, process, &text);
    } else if (!agent->said_full) {
        agent->said_full = true;
        fprintf(stderr, "more than %d processes ask: the others are not recorded\n",
                AGENT_MOST_PROCESSES);
    }
    pthread_mutex_unlock(&agent->lock);
    fabric_answer(text.failed ? STR("") : (struct str){text.at, text.len}, out);
    buf_free(&text);
}

// One answer to each message, from the socket that processes know, to an address of their kind and
// never an empty datagram: anything else would kill a training job, or stop it from listening.
static void answer_message(struct agent *agent, const struct received *got)
{
    struct fabric_message message;
    struct buf out = {0};
    const char *folder = agent->config->socket_folder;
    enum fabric_kind kind =
        got->is_whole ? fabric_parse((struct str){got->bytes, got->len}, &message) : FABRIC_BAD;
    if (kind == FABRIC_BAD || !fabric_is_client(&got->from, got->from_len, folder))
        return;
    if (kind == FABRIC_REQUEST)
        answer_request(agent, got, &message, &out);
    else
        fabric_count(1, &out);
    if (!out.failed && out.len >= FABRIC_HEADER_BYTES)
        (void)sendto(agent->fd, out.at, out.len, MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)&got->from, got->from_len);
    buf_free(&out);
}

// --- the hub ------------------------------------------------------------------------------------

static void describe(struct agent *agent, struct buf *body)
{
    const struct agent_process *listed[MOST_LISTED];
    buf_puts(body, "{\"node\":");
    buf_json(body, str_of(agent->config->node));
    buf_puts(body, ",\"processes\":[");
    pthread_mutex_lock(&agent->lock);
    agent_state_age(&agent->state, clock_mono_ns());
    size_t count = agent_state_list(&agent->state, listed, MOST_LISTED);
    for (size_t i = 0; i < count; i++)
        buf_printf(body, "%s{\"pid\":%d,\"job\":%lld,\"rank\":%lld,\"busy\":%s}", i ? "," : "",
                   (int)listed[i]->pid, (long long)listed[i]->job, (long long)listed[i]->rank,
                   listed[i]->is_busy ? "true" : "false");
    pthread_mutex_unlock(&agent->lock);
    buf_puts(body, "]}");
}

// A capture as the hub describes it; the hub is checked like anyone else.
static bool read_capture(const json_t *value, struct fabric_capture *capture)
{
    struct err ignored;
    const char *id = json_string_value(json_object_get(value, "id"));
    const char *run = json_string_value(json_object_get(value, "run"));
    const char *job = json_string_value(json_object_get(value, "job"));
    if (!id || !run || !job || strlen(id) >= sizeof capture->id ||
        strlen(run) >= sizeof capture->run || strlen(job) >= sizeof capture->job)
        return false;
    *capture =
        (struct fabric_capture){.steps = json_integer_value(json_object_get(value, "steps")),
                                .warmup = json_integer_value(json_object_get(value, "warmup")),
                                .roundup = json_integer_value(json_object_get(value, "roundup"))};
    const json_t *ranks = json_object_get(value, "ranks"), *rank;
    size_t i;
    if (json_array_size(ranks) > FABRIC_MOST_RANKS)
        return false;
    json_array_foreach(ranks, i, rank) capture->ranks[capture->rank_count++] =
        json_integer_value(rank);
    snprintf(capture->id, sizeof capture->id, "%s", id);
    snprintf(capture->run, sizeof capture->run, "%s", run);
    snprintf(capture->job, sizeof capture->job, "%s", job);
    return fabric_check(capture, &ignored);
}

// Beside each capture's folders, so that a new agent still knows their run.
static bool remember_run(const struct agent *agent, const struct fabric_capture *capture)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.run", agent->config->traces, capture->id);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno == EEXIST;
    size_t len = strlen(capture->run);
    bool ok = write(fd, capture->run, len) == (ssize_t)len;
    close(fd);
    if (!ok)
        unlink(path);
    return ok;
}

static void take_captures(struct agent *agent, const json_t *captures)
{
    size_t i;
    const json_t *value;
    struct fabric_capture capture;
    json_array_foreach(captures, i, value)
    {
        if (!read_capture(value, &capture) || !remember_run(agent, &capture))
            continue;
        pthread_mutex_lock(&agent->lock);
        (void)agent_state_add(&agent->state, &capture, clock_mono_ns());
        pthread_mutex_unlock(&agent->lock);
    }
}

static bool ask_hub(struct agent *agent, struct err *err)
{
    struct remote_hub *hub = agent->config->hub;
    struct buf body = {0};
    describe(agent, &body);
    const struct hub_call call = {.method = "POST",
                                  .path = "/api/v1/agents/poll",
                                  .headers = {"Content-Type: application/json"},
                                  .body = {body.at, body.len},
                                  .timeout_s = ANSWER_SECONDS};
    bool ok = buf_ok(&body, err) && remote_hub_try(hub, &call, err) &&
              (hub->answer.status == 200 || remote_hub_refused(hub, err));
    if (ok) {
        json_t *answer = json_loadb(hub->answer.body.at, hub->answer.body.len, 0, NULL);
        take_captures(agent, json_object_get(answer, "captures"));
        json_decref(answer);
    }
    buf_free(&body);
    return ok;
}

// --- what was recorded --------------------------------------------------------------------------

static bool read_run(const struct agent *agent, const char *id, char run[256])
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.run", agent->config->traces, id);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t len = fd >= 0 ? read(fd, run, 255) : -1;
    if (fd >= 0)
        close(fd);
    run[len > 0 ? len : 0] = '\0';
    return len > 0;
}

// A complete file has its last name; while it is written it ends with .tmp.
static bool is_trace(const char *name)
{
    size_t len = strlen(name);
    return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".json") == 0;
}

// Users choose the names.
static void tell_sent(const char *name, bool ok, const struct err *err)
{
    struct buf line = {0};
    buf_puts(&line, ok ? "sent " : "refused ");
    buf_add_visible(&line, str_of(name));
    if (!ok)
        buf_printf(&line, ": %s", err->msg);
    if (buf_ok(&line, NULL))
        fprintf(stderr, "%s\n", line.at);
    buf_free(&line);
}

static bool send_trace(struct agent *agent, const char *run, const char *folder, const char *name,
                       struct err *err)
{
    char path[520], shown[320];
    struct send_result result;
    const struct send_target target = {.hub = agent->config->hub, .run = run};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(shown, sizeof shown, "%s/%s", agent->config->node, name);
    bool ok = send_file(&target, path, shown, &result, err);
    if (ok || err->code == ERR_FORMAT) {
        tell_sent(shown, ok, err);
        unlink(path);
        return true;
    }
    return err->code == ERR_CONFLICT || err->code == ERR_IO || err->code == ERR_NOT_FOUND ||
           err->code == ERR_USAGE;
}

static bool send_folder(struct agent *agent, const char *name, struct err *err)
{
    char folder[256], id[64], run[256];
    const char *dash = strrchr(name, '-');
    struct stat info;
    if (!dash || dash - name >= (ptrdiff_t)sizeof id)
        return true;
    snprintf(id, sizeof id, "%.*s", (int)(dash - name), name);
    snprintf(folder, sizeof folder, "%s/%s", agent->config->traces, name);
    if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || !read_run(agent, id, run))
        return true;
    pthread_mutex_lock(&agent->lock);
    (void)see_files(agent, id, folder, 0);
    pthread_mutex_unlock(&agent->lock);
    DIR *dir = opendir(folder);
    bool ok = true;
    for (const struct dirent *entry; ok && dir && (entry = readdir(dir));)
        if (is_trace(entry->d_name))
            ok = send_trace(agent, run, folder, entry->d_name, err);
    if (dir)
        closedir(dir);
    return ok;
}

static bool send_all(struct agent *agent, struct err *err)
{
    bool ok = true;
    DIR *dir = opendir(agent->config->traces);
    if (!dir)
        return err_set_errno(err, "cannot list %.150s", agent->config->traces);
    for (const struct dirent *entry; ok && (entry = readdir(dir));)
        if (strncmp(entry->d_name, "c_", 2) == 0)
            ok = send_folder(agent, entry->d_name, err);
    closedir(dir);
    return ok;
}

// A hub that is gone is asked again, ever more rarely; word of it is printed once.
static void *talk(void *context)
{
    struct agent *agent = context;
    struct stop_signal *stop = agent->config->stop;
    int64_t wait_s = agent->config->poll_s;
    bool was_fine = true, is_first = true;
    while (!stop_signal_now(stop)) {
        struct err err = {.pos = ERR_NO_POS};
        bool fine = ask_hub(agent, &err) && send_all(agent, &err);
        if (!fine && was_fine && err.code != ERR_CANCELLED)
            fprintf(stderr, "waiting: %s\n", err.msg);
        wait_s = fine ? agent->config->poll_s : wait_s < 60 ? 2 * wait_s : 60;
        was_fine = fine;
        if (is_first)
            startup_pages_release();
        is_first = false;
        for (int64_t i = 0; i < 4 * wait_s && !stop_signal_now(stop); i++)
            usleep(250000);
    }
    return NULL;
}

// --- running ------------------------------------------------------------------------------------

// Whether the socket file is that of a daemon that has ended.
static bool is_left_over(const struct sockaddr_un *address, socklen_t len)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool refused = probe >= 0 && connect(probe, (const struct sockaddr *)address, len) != 0 &&
                   errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return refused;
}

static bool bind_socket(struct agent *agent, struct err *err)
{
    struct sockaddr_un address;
    socklen_t len;
    int on = 1;
    const char *folder = agent->config->socket_folder;
    if (!fabric_address(folder, &address, &len, err))
        return false;
    agent->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (agent->fd < 0 || setsockopt(agent->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return err_set_errno(err, "cannot make the socket");
    if (folder && is_left_over(&address, len))
        unlink(address.sun_path);
    if (bind(agent->fd, (const struct sockaddr *)&address, len) != 0) {
        if (errno == EADDRINUSE)
            return err_set(err, ERR_BUSY, "another daemon has the socket%s", folder ? " file" : "");
        return err_set_errno(err, "cannot bind the socket");
    }
    return !folder || chmod(address.sun_path, 0666) == 0 ||
           err_set_errno(err, "cannot open the socket to processes");
}

static void serve(struct agent *agent)
{
    struct received *got = malloc(sizeof *got);
    while (got && !stop_signal_now(agent->config->stop))
        if (stop_signal_wait(agent->config->stop, agent->fd, SECOND_NS))
            while (receive(agent->fd, got))
                answer_message(agent, got);
    free(got);
}

bool agent_run(const struct agent_config *config, struct err *err)
{
    pthread_t thread;
    struct agent *agent = calloc(1, sizeof *agent);
    if (!agent)
        return err_set(err, ERR_MEMORY, "out of memory for the agent");
    agent->config = config;
    agent->fd = -1;
    pthread_mutex_init(&agent->lock, NULL);
    bool ok = bind_socket(agent, err);
    if (ok && pthread_create(&thread, NULL, talk, agent) != 0)
        ok = err_set(err, ERR_LIMIT, "cannot start a thread");
    if (ok) {
        fprintf(stderr, "waiting for training processes, as %s\n", config->node);
        serve(agent);
        pthread_join(thread, NULL);
    }
    if (agent->fd >= 0)
        close(agent->fd);
    pthread_mutex_destroy(&agent->lock);
    free(agent);
    return ok;
}
