// SPDX-License-Identifier: Apache-2.0
// stepscope token: creates, lists and revokes tokens of a data folder, even while a service runs.
#include "server/cli/cmd.h"

#include "server/access/audit.h"
#include "server/base/token.h"
#include "server/cli/options.h"
#include "server/files/data_folder.h"
#include "server/store/server_tables.h"
#include "server/store/store_access.h"
#include "server/store/store_place.h"

#include "ingest/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct token_options {
    const char *data, *store, *name, *scopes;
    int64_t expires_s;
    const char *day_bytes, *stored_bytes, *in_flight;
};

#define AT(member) offsetof(struct token_options, member)
static const struct option table[] = {
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "folder of the service", NULL, OPTION_TEXT,
     AT(data)},
    {"--store", "STEPSCOPE_STORE", NULL, "PLACE", "database of the service, as for serve", NULL,
     OPTION_TEXT, AT(store)},
    {"--name", NULL, NULL, "NAME", "create: name of the token", NULL, OPTION_TEXT, AT(name)},
    {"--scopes", NULL, NULL, "SCOPE,...",
     "create: one or more of read, upload, write (includes read) and admin (includes all)", NULL,
     OPTION_TEXT, AT(scopes)},
    {"--expires", NULL, "0", "DURATION", "create: lifetime, such as 90d; 0: unlimited", NULL,
     OPTION_SECONDS, AT(expires_s)},
    {"--day-bytes", NULL, NULL, "COUNT", "create: maximum bytes uploaded per day; 0: no limit",
     NULL, OPTION_TEXT, AT(day_bytes)},
    {"--stored-bytes", NULL, NULL, "COUNT", "create: maximum bytes stored; 0: no limit", NULL,
     OPTION_TEXT, AT(stored_bytes)},
    {"--in-flight", NULL, NULL, "COUNT", "create: maximum concurrent uploads; 0: no limit", NULL,
     OPTION_TEXT, AT(in_flight)},
};
static const struct option_set set = {
    "token",
    "Creates, lists and revokes access tokens of a service.",
    "create|list|revoke [ID|NAME]",
    table,
    sizeof table / sizeof *table,
};

// One invocation of the command.
struct task {
    struct token_options options;
    struct arena arena;
    struct store *store;
    struct audit *audit;
};

static void note(struct task *task, struct str action, struct str id)
{
    char who[48];
    snprintf(who, sizeof who, "command line (user %lld)", (long long)getuid());
    char *object = arena_printf(&task->arena, NULL, "token %.*s", (int)id.len, id.at);
    struct audit_entry entry = {.who = str_of(who),
                                .peer = STR("local"),
                                .action = action,
                                .object = str_of(object),
                                .request_id = STR("")};
    audit_write(task->audit, &entry);
}

// --- create -------------------------------------------------------------------------------------

static bool read_limit(const char *name, const char *text, int64_t *limit, struct err *err)
{
    *limit = -1;
    return !text || (str_to_i64(str_of(text), limit) && *limit >= 0) ||
           err_set(err, ERR_USAGE, "%s: found '%.40s', expected a whole number", name, text);
}

static bool read_request(const struct token_options *options, struct token_request *wanted,
                         struct err *err)
{
    if (!options->name || !options->scopes)
        return err_set(err, ERR_USAGE, "create needs --name and --scopes");
    if (options->expires_s > STORE_TOKEN_MAX_SECONDS)
        return err_set(err, ERR_USAGE, "--expires: found %lld s, expected at most 10 years",
                       (long long)options->expires_s);
    wanted->name = str_of(options->name);
    wanted->expires_ns = options->expires_s ? clock_wall_ns() + options->expires_s * 1000000000 : 0;
    return token_parse_scopes(str_of(options->scopes), &wanted->scopes, err) &&
           read_limit("--day-bytes", options->day_bytes, &wanted->limits.day_bytes, err) &&
           read_limit("--stored-bytes", options->stored_bytes, &wanted->limits.stored_bytes, err) &&
           read_limit("--in-flight", options->in_flight, &wanted->limits.in_flight, err);
}

// Only the token goes to standard output, so that a script can capture it.
static bool create_one(struct task *task, struct err *err)
{
    struct token_request wanted;
    char secret[TOKEN_SIZE], hash[TOKEN_HASH_SIZE];
    struct str id;
    if (!read_request(&task->options, &wanted, err) || !token_make(TOKEN_PREFIX, secret, err) ||
        !token_hash(str_of(secret), hash, err) ||
        !store_add_token(task->store, &wanted, hash, &task->arena, &id, err))
        return false;
    note(task, STR("create token"), id);
    fprintf(stderr, "token %.*s has the scopes %s; keep it, it is not shown again:\n", (int)id.len,
            id.at, task->options.scopes);
    return puts(secret) >= 0 || err_set_errno(err, "standard output");
}

// --- list and revoke ----------------------------------------------------------------------------

static void print_row(const struct cell *row)
{
    static const int widths[] = {14, 20, 24, 8, 24, 24, 24};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct str text = row[i].null || row[i].s.len == 0 ? STR("-") : row[i].s;
        printf("%s%-*.*s", i ? "  " : "", widths[i], (int)text.len, text.at);
    }
    putchar('\n');
}

static bool list_all(struct task *task, struct err *err)
{
    struct table tokens;
    if (!store_list_tokens(task->store, STR(""), &task->arena, &tokens, err))
        return false;
    struct cell head[7];
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        head[i] = cell_text(str_of(table_tokens.columns[i].name));
    print_row(head);
    for (size_t i = 0; i < tokens.row_count; i++)
        print_row(&tokens.cells[i * table_tokens.column_count]);
    return fflush(stdout) == 0 || err_set_errno(err, "standard output");
}

static bool revoke_one(struct task *task, const char *key, struct err *err)
{
    struct str id;
    if (!store_revoke_token(task->store, str_of(key), &task->arena, &id, err))
        return false;
    note(task, STR("revoke token"), id);
    printf("%.*s is revoked\n", (int)id.len, id.at);
    return true;
}

// --- the command --------------------------------------------------------------------------------

// The first token is created before the first start, so the folder may have to be created, too.
static bool open_task(struct task *task, bool makes, struct err *err)
{
    const char *data = task->options.data, *place = task->options.store;
    umask(077);
    if (makes && mkdir(data, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "%s", data);
    char *path = arena_printf(&task->arena, err, "%s/stepscope.db", data);
    if (!path)
        return false;
    if (!place && !makes && access(path, F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "found no %s; --data must be the service's data folder",
                       path);
    task->store = place || data_folder_check(data, err) ? store_open_at(place, data, err) : NULL;
    task->audit = task->store ? audit_open(task->store, data, err) : NULL;
    return task->audit != NULL;
}

static bool do_task(struct task *task, const struct option_args *args, struct err *err)
{
    const char *verb = args->operand_count ? args->operands[0] : "";
    bool creates = strcmp(verb, "create") == 0, revokes = strcmp(verb, "revoke") == 0;
    if (!creates && !revokes && strcmp(verb, "list") != 0)
        return err_set(err, ERR_USAGE, "found '%.40s', expected create, list or revoke", verb);
    if (args->operand_count != (revokes ? 2 : 1))
        return err_set(err, ERR_USAGE, "%s takes %s", verb,
                       revokes ? "the id or name of one token" : "no operand");
    if (!open_task(task, creates, err))
        return false;
    if (revokes)
        return revoke_one(task, args->operands[1], err);
    return creates ? create_one(task, err) : list_all(task, err);
}

bool cmd_token(int argc, char **argv, struct err *err)
{
    struct task task = {0};
    struct option_args args;
    if (!options_parse(&set, argc, argv, &task.options, &args, err))
        return false;
    if (args.help) {
        options_help(&set, stdout);
        return true;
    }
    arena_init(&task.arena, NULL);
    bool ok = do_task(&task, &args, err);
    audit_close(task.audit);
    store_close(task.store);
    arena_free(&task.arena);
    return ok;
}
