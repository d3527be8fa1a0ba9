// SPDX-License-Identifier: Apache-2.0
// stepscope backup and restore: a copy of a data folder, and a data folder from a copy.
#include "server/cli/cmd.h"

#include "server/care/backup.h"
#include "server/cli/options.h"

#include <stddef.h>
#include <sys/stat.h>

struct choices {
    const char *data, *other;
};

#define AT(member) offsetof(struct choices, member)
static const struct option backup_table[] = {
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "data folder of a service, running or not", NULL,
     OPTION_TEXT, AT(data)},
    {"--to", NULL, NULL, "DIR", "folder for the backup; an existing backup is updated", NULL,
     OPTION_TEXT, AT(other)},
};
static const struct option_set backup_options = {
    "backup",
    "Copies all stored data, even of a running service, and verifies the copy. On the same "
    "filesystem the files share disk space with the originals.",
    NULL, backup_table, sizeof backup_table / sizeof *backup_table};

static const struct option restore_table[] = {
    {"--from", NULL, NULL, "DIR", "folder with a backup", NULL, OPTION_TEXT, AT(other)},
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "folder to restore to; must be empty or missing",
     NULL, OPTION_TEXT, AT(data)},
};
static const struct option_set restore_options = {
    "restore", "Restores a data folder from a backup and verifies it.", NULL, restore_table,
    sizeof restore_table / sizeof *restore_table};

// *done: --help was asked for.
static bool parse(const struct option_set *set, int argc, char **argv, struct choices *choices,
                  bool *done, struct err *err)
{
    struct option_args args;
    if (!options_parse(set, argc, argv, choices, &args, err))
        return false;
    *done = args.help;
    if (args.help)
        options_help(set, stdout);
    return args.help || choices->other ||
           err_set(err, ERR_USAGE, "found no %s, expected the folder of the backup",
                   set == &backup_options ? "--to" : "--from");
}

static bool tell(const struct backup_report *report, const char *verb, struct err *err)
{
    printf("%s %llu files of %.1f MB, %llu of them new; %llu removed; %llu damaged\n", verb,
           (unsigned long long)report->files, (double)report->bytes / 1e6,
           (unsigned long long)report->added, (unsigned long long)report->removed,
           (unsigned long long)report->damaged);
    return report->damaged == 0 ||
           err_set(err, ERR_IO, "%llu files are missing or damaged, all others are intact",
                   (unsigned long long)report->damaged);
}

bool cmd_backup(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct backup_report report = {.out = stdout};
    bool done;
    umask(077);
    if (!parse(&backup_options, argc, argv, &choices, &done, err))
        return false;
    return done ||
           (backup_make(choices.data, choices.other, &report, err) && tell(&report, "saved", err));
}

bool cmd_restore(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct backup_report report = {.out = stdout};
    bool done;
    umask(077);
    if (!parse(&restore_options, argc, argv, &choices, &done, err))
        return false;
    if (done)
        return true;
    if (!backup_restore(choices.other, choices.data, &report, err))
        return false;
    printf("tokens and sessions are valid as they were when the backup was made: what was revoked "
           "since "
           "has to be revoked again, see stepscope token list --data %s\n",
           choices.data);
    return tell(&report, "restored", err);
}
