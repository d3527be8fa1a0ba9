// SPDX-License-Identifier: Apache-2.0
// stepscope agent: on a node, recordings of running PyTorch processes when someone asks for them.
#include "server/cli/cmd.h"

#include "server/cli/options.h"
#include "server/collect/agent.h"
#include "server/collect/stop_signal.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct choices {
    const char *url, *token, *node, *socket_folder, *traces;
    int64_t poll_s;
};

#define AT(member) offsetof(struct choices, member)
static const struct option table[] = {
    {"--url", "STEPSCOPE_URL", NULL, "URL", "address of the service", NULL, OPTION_TEXT, AT(url)},
    {"--token", "STEPSCOPE_TOKEN", NULL, "TOKEN",
     "token with the scope upload; options are visible to other users: prefer the environment",
     NULL, OPTION_TEXT, AT(token)},
    {"--node", NULL, NULL, "NAME", "name of this node; default: its host name", NULL, OPTION_TEXT,
     AT(node)},
    {"--socket-dir", "KINETO_IPC_SOCKET_DIR", NULL, "DIR",
     "folder of the socket, the same as in the environment of the processes; without it the "
     "abstract socket, which every user of the host can reach",
     NULL, OPTION_TEXT, AT(socket_folder)},
    {"--traces", "STEPSCOPE_AGENT_TRACES", "/tmp/stepscope-agent", "DIR",
     "folder that processes write traces to: below /tmp, or below KINETO_ONDEMAND_TRACE_DIR of the "
     "processes",
     NULL, OPTION_TEXT, AT(traces)},
    {"--poll", NULL, "5s", "TIME", "how often to ask the service", NULL, OPTION_SECONDS,
     AT(poll_s)},
};
static const struct option_set options = {
    "agent",
    "Runs on a node next to training jobs that were started with KINETO_USE_DAEMON=1. Asks a "
    "service whether someone wants a recording, has the processes record the same steps, and sends "
    "the traces. Opens no port.",
    NULL, table, sizeof table / sizeof *table};

static bool make_folder(const char *path, struct err *err)
{
    struct stat info;
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return err_set_errno(err, "cannot make %.150s", path);
    return (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid()) ||
           err_set(err, ERR_DENIED, "%.150s belongs to another user; choose another --traces",
                   path);
}

// Traces are opened by a path without links; the folder's may have some.
static bool find_folder(const char *path, char real[PATH_MAX], struct err *err)
{
    return realpath(path, real) || err_set_errno(err, "cannot open %.150s", path);
}

static bool run(const struct choices *choices, struct err *err)
{
    char host[64] = "";
    struct stop_signal stop = {.fd = -1};
    struct remote_hub hub = {.stop = &stop, .patience_s = 1};
    char traces[PATH_MAX] = "";
    (void)gethostname(host, sizeof host - 1);
    const struct agent_config config = {.hub = &hub,
                                        .stop = &stop,
                                        .node = choices->node ? choices->node : host,
                                        .socket_folder = choices->socket_folder,
                                        .traces = traces,
                                        .poll_s = choices->poll_s > 0 ? choices->poll_s : 1};
    bool ok = remote_hub_open(&hub, choices->url, choices->token, err) &&
              make_folder(choices->traces, err) && find_folder(choices->traces, traces, err) &&
              stop_signal_open(&stop, err) && agent_run(&config, err);
    remote_hub_close(&hub);
    stop_signal_close(&stop);
    return ok;
}

bool cmd_agent(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    if (!options_parse(&options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (args.operand_count)
        return err_set(err, ERR_USAGE, "found '%.60s', expected options only; see --help",
                       args.operands[0]);
    if (choices.socket_folder && !*choices.socket_folder)
        choices.socket_folder = NULL;
    return run(&choices, err);
}
