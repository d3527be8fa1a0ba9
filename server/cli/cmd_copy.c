// SPDX-License-Identifier: Apache-2.0
// stepscope copy: everything of a service into another kind of database and place of files.
#include "server/cli/cmd.h"

#include "server/care/copy.h"
#include "server/cli/options.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

struct choices {
    const char *from, *to, *from_blobs, *to_blobs, *blobs;
};

#define AT(member) offsetof(struct choices, member)
static const struct option table[] = {
    {"--from", NULL, NULL, "PLACE", "sqlite:DIR (the data folder of a service) or postgres://...",
     NULL, OPTION_TEXT, AT(from)},
    {"--to", NULL, NULL, "PLACE",
     "the same; must be empty, or have an interrupted copy of the same source", NULL, OPTION_TEXT,
     AT(to)},
    {"--blobs", NULL, NULL, "PLACE",
     "files of the side that is on PostgreSQL: s3://... or a folder", NULL, OPTION_TEXT, AT(blobs)},
    {"--from-blobs", NULL, NULL, "PLACE", "files of --from, if they are not in DIR", NULL,
     OPTION_TEXT, AT(from_blobs)},
    {"--to-blobs", NULL, NULL, "PLACE",
     "files of --to; the same as --from-blobs leaves them where they are", NULL, OPTION_TEXT,
     AT(to_blobs)},
};
static const struct option_set options = {
    "copy",
    "Copies everything a service stores to another database and file store, then compares every "
    "value of every row and the SHA-256 of every file with the copy. Stop the services on both "
    "sides first. If interrupted, start it again and it continues. Of the source only its name "
    "changes. Not copied: unfinished resumable uploads, stage times of running jobs, waiting "
    "webhooks, and audit.log (the database has all of it). Keys of S3 and PGPASSWORD are read as "
    "by serve.",
    NULL, table, sizeof table / sizeof *table};

static bool is_on_postgres(const char *place)
{
    return strncmp(place, "postgres", strlen("postgres")) == 0 && strstr(place, "://");
}

static bool read_side(const char *option, const char *place, const char *blobs,
                      struct copy_side *side, struct err *err)
{
    static const char folder[] = "sqlite:";
    side->blobs = blobs;
    if (place && is_on_postgres(place))
        side->store = place;
    else if (place && strncmp(place, folder, strlen(folder)) == 0 && place[strlen(folder)])
        side->folder = place + strlen(folder);
    else
        return err_set(err, ERR_USAGE,
                       "found %s with another kind of place, expected "
                       "sqlite:DIR or postgres://...",
                       option);
    return side->folder || blobs ||
           err_set(err, ERR_USAGE,
                   "found no location of the files of %s, expected --blobs s3://...", option);
}

static bool read_sides(const struct choices *choices, struct copy_request *request, struct err *err)
{
    bool from_shared = choices->from && is_on_postgres(choices->from);
    bool to_shared = choices->to && is_on_postgres(choices->to);
    if (choices->blobs && from_shared == to_shared)
        return err_set(err, ERR_USAGE,
                       "found --blobs, expected --from-blobs and --to-blobs: it is not clear whose "
                       "files are there");
    const char *from = from_shared && choices->blobs ? choices->blobs : choices->from_blobs;
    const char *to = to_shared && choices->blobs ? choices->blobs : choices->to_blobs;
    return read_side("--from", choices->from, from, &request->from, err) &&
           read_side("--to", choices->to, to, &request->to, err);
}

bool cmd_copy(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    struct copy_request request = {.out = stdout};
    umask(077);
    if (!options_parse(&options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    return read_sides(&choices, &request, err) && copy_service(&request, err);
}
