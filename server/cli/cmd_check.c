// SPDX-License-Identifier: Apache-2.0
// stepscope check: whether stored data is intact.
#include "server/cli/cmd.h"

#include "server/care/backup.h"
#include "server/cli/options.h"
#include "server/store/store_care.h"

#include <stddef.h>

struct choices {
    const char *data;
    bool blobs;
};

#define AT(member) offsetof(struct choices, member)
static const struct option table[] = {
    {"--data", "STEPSCOPE_DATA", "./data", "DIR",
     "data folder of a service, running or not, or a backup", NULL, OPTION_TEXT, AT(data)},
    {"--blobs", NULL, NULL, NULL, "read all uploaded files and compare their hashes", NULL,
     OPTION_FLAG, AT(blobs)},
};
static const struct option_set options = {
    "check",
    "Checks the database and that its files exist. Exit status 0 when all is sound, 1 when "
    "something is damaged, 64 for a wrong command line.",
    NULL, table, sizeof table / sizeof *table};

static bool check_database(const char *data, bool *sound, struct err *err)
{
    char path[4096];
    struct store_check found;
    int len = snprintf(path, sizeof path, "%s/stepscope.db", data);
    if (len < 0 || (size_t)len >= sizeof path)
        return err_set(err, ERR_USAGE, "the folder's name is too long");
    if (!store_check_file(path, &found, err))
        return false;
    *sound = !found.damage[0];
    printf("database: %s\n", *sound ? "sound" : found.damage);
    return true;
}

static bool check_files(const struct choices *choices, bool *sound, struct err *err)
{
    struct backup_report report = {.out = stdout};
    if (!backup_check_files(choices->data, choices->blobs, &report, err))
        return false;
    *sound = report.damaged == 0;
    printf("files: %llu of %.1f MB %s, %llu damaged\n", (unsigned long long)report.files,
           (double)report.bytes / 1e6, choices->blobs ? "read" : "looked for",
           (unsigned long long)report.damaged);
    return true;
}

bool cmd_check(int argc, char **argv, int *verdict, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    bool is_database_sound, are_files_sound;
    if (!options_parse(&options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (!check_database(choices.data, &is_database_sound, err) ||
        !check_files(&choices, &are_files_sound, err))
        return false;
    *verdict = !(is_database_sound && are_files_sound);
    return true;
}
