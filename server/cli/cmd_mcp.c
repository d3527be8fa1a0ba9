// SPDX-License-Identifier: Apache-2.0
// stepscope mcp: the Model Context Protocol over standard input and output, for files or a service.
#include "server/cli/cmd.h"

#include "server/cli/folder_files.h"
#include "server/cli/hub_bridge.h"
#include "server/cli/line_reader.h"
#include "server/cli/local_hub.h"
#include "server/cli/options.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_message.h"
#include "server/store/rank_name.h"

#include "ingest/base/fd_io.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 45000 }; // clients give up after 60 s

struct mcp_options {
    const char *url, *token;
    uint64_t job_memory_bytes;
};

#define AT(member) offsetof(struct mcp_options, member)
static const struct option table[] = {
    {"--url", "STEPSCOPE_URL", NULL, "URL", "service to ask, instead of files", NULL, OPTION_TEXT,
     AT(url)},
    {"--token", "STEPSCOPE_TOKEN", NULL, "TOKEN",
     "token with the scope read; options are visible to other users: prefer the environment", NULL,
     OPTION_TEXT, AT(token)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory limit of the analysis of one file", NULL, OPTION_BYTES, AT(job_memory_bytes)},
};
static const struct option_set options = {
    "mcp",
    "Serves the Model Context Protocol to an agent over standard input and output: for a service "
    "(--url), or for trace files, which are analyzed in a temporary folder. Files are the ranks of "
    "one run named 'run'; NAME=FILE,FILE... is a run of that name. A file may be a folder or an "
    "archive.",
    "[NAME=]FILE...", table, sizeof table / sizeof *table};

// --- lines --------------------------------------------------------------------------------------

// Answers one line after another until the input ends.
static void serve_lines(void (*answer)(void *context, struct str line, struct buf *out),
                        void *context, int stop_fd)
{
    struct line_reader reader = {.fd = STDIN_FILENO, .stop_fd = stop_fd};
    struct buf out = {0};
    struct str line;
    bool ok = true;
    while (ok && line_reader_next(&reader, &line)) {
        buf_clear(&out);
        answer(context, line, &out);
        ok = !out.failed && fd_write(STDOUT_FILENO, out.at, out.len);
    }
    buf_free(&out);
    line_reader_free(&reader);
}

// --- a service ----------------------------------------------------------------------------------

static void ask_service(void *context, struct str line, struct buf *out)
{
    hub_bridge_answer(context, line, out);
}

static bool serve_service(const struct mcp_options *chosen, struct err *err)
{
    struct hub_bridge *bridge = hub_bridge_open(chosen->url, chosen->token, err);
    if (!bridge)
        return false;
    serve_lines(ask_service, bridge, -1);
    hub_bridge_close(bridge);
    return true;
}

// --- files --------------------------------------------------------------------------------------

static bool is_tool_call(struct str line)
{
    struct mcp_message message;
    mcp_message_read(line, &message);
    bool is_call = message.method && strcmp(message.method, "tools/call") == 0;
    mcp_message_free(&message);
    return is_call;
}

// Tools wait for the analysis; what opens a conversation does not.
static void ask_files(void *context, struct str line, struct buf *out)
{
    struct local_hub *hub = context;
    struct arena arena;
    arena_init(&arena, NULL);
    struct request request = {.services = local_hub_services(hub), .arena = &arena};
    request.who = (struct principal){
        .kind = WHO_LOCAL, .name = STR("local"), .key = STR(""), .scopes = SCOPE_READ};
    if (is_tool_call(line))
        local_hub_wait(hub, PATIENCE_MS);
    mcp_answer_line(&request, line, out);
    arena_free(&arena);
}

static void serve_files(void *context, int stop_fd)
{
    serve_lines(ask_files, context, stop_fd);
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// If some names give a rank, the others are something else, such as a configuration.
static void keep_ranks(struct folder_files *files, size_t folder_len)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++)
        if (rank_name_of(str_of(files->at[i] + folder_len)).rank >= 0)
            files->at[kept++] = files->at[i];
    files->count = kept ? kept : files->count;
}

static bool add_files(struct local_hub *hub, const char *run, const char *operand,
                      struct arena *arena, struct err *err)
{
    struct folder_files files;
    if (!exists(operand))
        return err_set(err, ERR_NOT_FOUND, "%s: found no such file", operand);
    if (!folder_files_is_folder(operand))
        return local_hub_add(hub, run, &operand, 1, err);
    if (!folder_files_list(operand, arena, &files, err))
        return err_wrap(err, "%s", operand);
    keep_ranks(&files, strlen(operand));
    return local_hub_add(hub, run, files.at, files.count, err);
}

// Files joined by commas, unless a file has such a name.
static bool add_list(struct local_hub *hub, const char *run, const char *list, struct arena *arena,
                     struct err *err)
{
    for (const char *rest = list; rest && !exists(rest);) {
        const char *comma = strchr(rest, ',');
        struct str piece = {rest, comma ? (size_t)(comma - rest) : strlen(rest)};
        const char *path = arena_strdup(arena, piece, err);
        if (!path || !add_files(hub, run, path, arena, err))
            return false;
        rest = comma ? comma + 1 : NULL;
        list = rest;
    }
    return !list || add_files(hub, run, list, arena, err);
}

// "NAME=FILE,FILE", or files of the run without a name.
static bool add_operand(struct local_hub *hub, const char *operand, struct arena *arena,
                        struct err *err)
{
    const char *equals = exists(operand) ? NULL : strchr(operand, '=');
    if (!equals)
        return add_list(hub, "run", operand, arena, err);
    const char *run = arena_strdup(arena, (struct str){operand, (size_t)(equals - operand)}, err);
    return run && add_list(hub, run, equals + 1, arena, err);
}

static bool serve_operands(const struct mcp_options *chosen, const struct option_args *args,
                           struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct local_hub *hub = local_hub_open(chosen->job_memory_bytes, err);
    bool ok = hub != NULL;
    for (int i = 0; ok && i < args->operand_count; i++)
        ok = add_operand(hub, args->operands[i], &arena, err);
    ok = ok && local_hub_run(hub, serve_files, hub, err);
    local_hub_close(hub);
    arena_free(&arena);
    return ok;
}

bool cmd_mcp(int argc, char **argv, struct err *err)
{
    struct mcp_options chosen = {0};
    struct option_args args;
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    signal(SIGPIPE, SIG_IGN);
    if (args.operand_count)
        return serve_operands(&chosen, &args, err);
    if (chosen.url)
        return serve_service(&chosen, err);
    return err_set(err, ERR_USAGE, "expected trace files or --url, found neither; see --help");
}
