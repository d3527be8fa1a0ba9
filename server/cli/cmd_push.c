// SPDX-License-Identifier: Apache-2.0
// stepscope push and watch: files of a node go to a service, now or as they appear.
#include "server/cli/cmd.h"

#include "server/cli/folder_files.h"
#include "server/cli/options.h"
#include "server/collect/folder_send.h"
#include "server/collect/stop_signal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000LL

struct choices {
    const char *url, *token, *run, *project, *role, *meta, *only, *state;
    int64_t patience_s, settle_s, drain_s;
    bool replace, finalize, removes;
};

#define AT(member) offsetof(struct choices, member)
#define SHARED_OPTIONS                                                                             \
    {"--url", "STEPSCOPE_URL", NULL, "URL", "address of the service", NULL, OPTION_TEXT, AT(url)}, \
        {"--token",                                                                                \
         "STEPSCOPE_TOKEN",                                                                        \
         NULL,                                                                                     \
         "TOKEN",                                                                                  \
         "token with the scope upload; options are visible to other users: prefer the "            \
         "environment",                                                                            \
         NULL,                                                                                     \
         OPTION_TEXT,                                                                              \
         AT(token)},                                                                               \
        {"--run", "STEPSCOPE_RUN", NULL,   "NAME", "run that the files belong to",                 \
         NULL,    OPTION_TEXT,     AT(run)},                                                       \
        {"--project", NULL, NULL, "NAME", "project of a new run", NULL, OPTION_TEXT, AT(project)}, \
        {"--role",                                                                                 \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "ROLE",                                                                                   \
         "role of these traces in a reinforcement learning job: policy, generation, reward, ...",  \
         NULL,                                                                                     \
         OPTION_TEXT,                                                                              \
         AT(role)},                                                                                \
        {"--meta", "STEPSCOPE_META", NULL,    "K=V,K=V", "metadata of the run",                    \
         NULL,     OPTION_TEXT,      AT(meta)},                                                    \
        {"--only",                                                                                 \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "GLOB,GLOB",                                                                              \
         "names of files to send from folders, instead of traces, logs, settings and tables",      \
         NULL,                                                                                     \
         OPTION_TEXT,                                                                              \
         AT(only)},                                                                                \
    {                                                                                              \
        "--replace", NULL, NULL, NULL, "replace other traces of the same rank (scope write)",      \
            NULL, OPTION_FLAG, AT(replace)                                                         \
    }

static const struct option push_table[] = {
    SHARED_OPTIONS,
    {"--state", NULL, NULL, "FILE",
     "list of files already sent; default: DIR/.stepscope-sent, none for files", NULL, OPTION_TEXT,
     AT(state)},
    {"--patience", NULL, "15m", "TIME", "give up after this long without progress; 0: never", NULL,
     OPTION_SECONDS, AT(patience_s)},
    {"--finalize", NULL, NULL, NULL, "then say that no more ranks will come", NULL, OPTION_FLAG,
     AT(finalize)},
};
static const struct option_set push_options = {
    "push",
    "Sends files, and what is in folders, to a service: each once, resuming where a connection "
    "broke off. Exits with 0 when the service has all of them, 4 when it refuses one, 6 when it "
    "cannot be reached, or another process sends from the folder, 7 when it denies access.",
    "FILE|DIR...", push_table, sizeof push_table / sizeof *push_table};

static const struct option watch_table[] = {
    SHARED_OPTIONS,
    {"--state", NULL, NULL, "FILE", "list of files already sent; default: DIR/.stepscope-sent",
     NULL, OPTION_TEXT, AT(state)},
    {"--settle", NULL, "2s", "TIME",
     "send a file once it is closed and has not changed for this long", NULL, OPTION_SECONDS,
     AT(settle_s)},
    {"--remove", NULL, NULL, NULL,
     "remove files once the service has them and they do not change, other than logs and files "
     "that are read as one with others: for a folder of nothing but recordings",
     NULL, OPTION_FLAG, AT(removes)},
    {"--drain", NULL, "25s", "TIME", "after SIGTERM, send what is left for at most this long", NULL,
     OPTION_SECONDS, AT(drain_s)},
};
static const struct option_set watch_options = {
    "watch",
    "Sends files to a service as they appear in a folder, until SIGTERM: one process for all "
    "ranks of a node. It waits for a service that is gone, and never sends a file twice.",
    "DIR", watch_table, sizeof watch_table / sizeof *watch_table};

// What both commands set up.
struct sending {
    const struct choices *choices;
    struct stop_signal stop;
    struct remote_hub hub;
    struct send_target target;
    struct file_list list;
    struct buf whereto; // service and run, as the list of sent files names them
    struct folder_send send;
    char folder[PATH_MAX]; // of send
};

static bool open_sending(struct sending *sending, const struct choices *choices, struct err *err)
{
    sending->choices = choices;
    sending->list.fd = -1;
    sending->stop = (struct stop_signal){.fd = -1, .deadline_ns = choices->drain_s * SECOND_NS};
    sending->hub.stop = &sending->stop;
    sending->hub.patience_s = choices->patience_s;
    sending->target = (struct send_target){.hub = &sending->hub,
                                           .run = choices->run,
                                           .project = choices->project,
                                           .role = choices->role,
                                           .meta = choices->meta,
                                           .replace = choices->replace};
    if (!choices->run || !*choices->run)
        return err_set(err, ERR_USAGE, "found no --run, expected the name of a run");
    if (!remote_hub_open(&sending->hub, choices->url, choices->token, err))
        return false;
    buf_printf(&sending->whereto, "%s %s", sending->hub.base.at, choices->run);
    return buf_ok(&sending->whereto, err) && stop_signal_open(&sending->stop, err);
}

static void close_sending(struct sending *sending)
{
    file_list_free(&sending->list);
    remote_hub_close(&sending->hub);
    stop_signal_close(&sending->stop);
    buf_free(&sending->whereto);
}

// The list belongs to the folder, or, for files, to nobody.
static bool open_list(struct sending *sending, const char *folder, struct err *err)
{
    char path[4200];
    const char *state = sending->choices->state;
    file_list_free(&sending->list);
    if (folder)
        snprintf(path, sizeof path, "%s/.stepscope-sent", folder);
    return file_list_open(&sending->list,
                          state    ? state
                          : folder ? path
                                   : NULL,
                          sending->whereto.at, err);
}

// --- push ---------------------------------------------------------------------------------------

// What is below the folder is opened by a path without links; its own may have some.
static bool open_folder(struct sending *sending, const char *folder, struct err *err)
{
    sending->send.folder = realpath(folder, sending->folder);
    return sending->send.folder || err_set_errno(err, "cannot open %.150s", folder);
}

static bool push_folder(struct sending *sending, const char *folder, struct err *err)
{
    if (!open_folder(sending, folder, err))
        return false;
    if (!open_list(sending, folder, err)) {
        if (err->code == ERR_BUSY || sending->choices->state)
            return false;
        fprintf(stderr, "warning: %s\n", err->msg); // the hub knows what it has
        if (!file_list_open(&sending->list, NULL, sending->whereto.at, err))
            return false;
    }
    return folder_send_pass(&sending->send, err);
}

static bool push_file(struct sending *sending, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char *real = realpath(path, NULL); // a link named on the command line is followed
    bool ok = open_list(sending, NULL, err) &&
              folder_send_one(&sending->send, real ? real : path, slash ? slash + 1 : path, err);
    free(real);
    return ok;
}

static bool finalize(struct sending *sending, struct err *err)
{
    struct buf path = {0};
    buf_printf(&path, "/api/v1/runs/%s/finalize", sending->send.run_id);
    const struct hub_call call = {.method = "POST", .path = path.at, .timeout_s = 60};
    bool ok = buf_ok(&path, err) && remote_hub_ask(&sending->hub, &call, err);
    if (ok && sending->hub.answer.status / 100 != 2)
        ok = remote_hub_refused(&sending->hub, err);
    buf_free(&path);
    return ok;
}

static void tell_left(const struct folder_send *send)
{
    char text[FILES_LEFT_BYTES];
    files_left_say(&send->left, text);
    if (*text)
        fprintf(stderr, "left out: %s; name a file, or use --only, to send it anyway\n", text);
}

static bool sum_up(struct sending *sending, struct err *err)
{
    const struct folder_send *send = &sending->send;
    if (sending->choices->finalize && send->run_id[0] && !finalize(sending, err))
        return err_wrap(err, "finalize");
    fprintf(stderr, "%zu sent, %zu already known, %zu refused, %zu failed\n", send->sent,
            send->known, send->refused, send->failed);
    tell_left(send);
    if (send->run_id[0])
        printf("%s/runs/%s\n", sending->hub.base.at, send->run_id);
    if (send->failed)
        return err_set(err, ERR_IO, "%zu files could not be read, or changed", send->failed);
    if (send->refused)
        return err_set(err, ERR_FORMAT, "the service refused %zu files", send->refused);
    return send->sent || send->known || err_set(err, ERR_NOT_FOUND, "found no file to send");
}

bool cmd_push(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    if (!options_parse(&push_options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&push_options, stdout);
        return true;
    }
    if (!args.operand_count)
        return err_set(err, ERR_USAGE, "expected files or a folder, found none; see --help");
    struct sending sending = {.send = {.notify = -1, .only = choices.only, .retry = true}};
    sending.send.target = &sending.target;
    sending.send.list = &sending.list;
    bool ok = open_sending(&sending, &choices, err);
    for (int i = 0; ok && i < args.operand_count; i++)
        ok = folder_files_is_folder(args.operands[i]) ? push_folder(&sending, args.operands[i], err)
                                                      : push_file(&sending, args.operands[i], err);
    ok = ok && sum_up(&sending, err);
    close_sending(&sending);
    return ok;
}

// --- watch --------------------------------------------------------------------------------------

static bool watch(struct sending *sending, const char *folder, struct err *err)
{
    if (!open_folder(sending, folder, err) || !open_list(sending, folder, err))
        return false;
    fprintf(stderr, "watching %s for run %s\n", folder, sending->choices->run);
    bool ok = folder_send_watch(&sending->send, &sending->stop, err);
    fprintf(stderr, "%zu sent, %zu refused, %zu left\n", sending->send.sent, sending->send.refused,
            sending->send.waiting);
    return ok;
}

bool cmd_watch(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    if (!options_parse(&watch_options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&watch_options, stdout);
        return true;
    }
    if (args.operand_count != 1 || !folder_files_is_folder(args.operands[0]))
        return err_set(err, args.operand_count == 1 ? ERR_NOT_FOUND : ERR_USAGE,
                       "expected one folder; see --help");
    struct sending sending = {
        .send = {.notify = -1, .only = choices.only, .removes = choices.removes}};
    sending.send.target = &sending.target;
    sending.send.list = &sending.list;
    sending.send.settle_ns = (choices.settle_s ? choices.settle_s * SECOND_NS : 1);
    bool ok = open_sending(&sending, &choices, err) && watch(&sending, args.operands[0], err);
    close_sending(&sending);
    return ok;
}
