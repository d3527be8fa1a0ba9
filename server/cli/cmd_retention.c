// SPDX-License-Identifier: Apache-2.0
// stepscope retention: which runs given rules would delete, and why; it deletes nothing.
#include "server/cli/cmd.h"

#include "server/care/retention_plan.h"
#include "server/care/stored_runs.h"
#include "server/cli/options.h"
#include "server/cli/shown.h"

#include "ingest/base/clock.h"
#include "server/cli/retention_options.h"

#include <unistd.h>

struct choices {
    const char *data;
    struct retention_rules rules;
};

static const struct option table[] = {
    {"--data", "STEPSCOPE_DATA", "./data", "DIR", "data folder of a service, running or not", NULL,
     OPTION_TEXT, offsetof(struct choices, data)},
    RETENTION_OPTIONS(offsetof(struct choices, rules)),
};
static const struct option_set options = {
    "retention",
    "Lists which runs a service with these options would delete now, why, and how much disk space "
    "that frees. Deletes nothing.",
    NULL, table, sizeof table / sizeof *table};

static const char *reason_of(enum retention_fate fate)
{
    switch (fate) {
    case GOES_FOR_AGE: return "older than --retain-days";
    case GOES_FOR_SIZE: return "beyond --retain-size";
    case GOES_FOR_GOOD: return "in the bin for --bin-days";
    default: return "";
    }
}

static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

static void print_run(const struct stored_run *run, enum retention_fate fate)
{
    char created[CLOCK_RFC3339_SIZE];
    clock_rfc3339(run->created_ns, created);
    printf("%-10s  %.10s  %10.1f MB  %-25s  ", fate == GOES_FOR_GOOD ? "for good" : "to the bin",
           created, megabytes(run->bytes), reason_of(fate));
    shown_put(stdout, run->project, SHOWN_LINE_WIDTH);
    putchar('/');
    shown_put(stdout, run->name, SHOWN_LINE_WIDTH);
    printf("  %.*s\n", (int)run->id.len, run->id.at);
}

static void print_plan(const struct retention_rules *rules, const struct stored_list *list,
                       const struct retention_plan *plan)
{
    uint64_t in_bin = 0;
    size_t going = 0;
    for (size_t i = 0; i < list->count; i++) {
        in_bin += list->runs[i].deleted_ns ? list->runs[i].bytes : 0;
        if (!retention_goes(plan->fates[i]))
            continue;
        print_run(&list->runs[i], plan->fates[i]);
        going++;
    }
    printf(
        "%zu of %zu runs would be deleted: %.1f MB to the bin for %lld days, %.1f MB permanently\n",
        going, list->count, megabytes(plan->bin_bytes), (long long)rules->bin_days,
        megabytes(plan->free_bytes));
    printf("stored now: %.1f MB, of these %.1f MB in the bin\n", megabytes(stored_runs_bytes(list)),
           megabytes(in_bin));
    if (plan->over_bytes)
        printf("the rest would exceed --retain-size by %.1f MB: baselines, runs under analysis and "
               "the newest of each series are kept\n",
               megabytes(plan->over_bytes));
}

static bool show(const struct choices *choices, struct store *store, struct arena *arena,
                 struct err *err)
{
    struct stored_list list;
    struct retention_plan plan;
    struct blob_store *files = blob_store_open(choices->data, NULL, err);
    bool ok = files && stored_runs_list(store, files, STORED_ALL, arena, &list, err);
    blob_store_close(files);
    if (!ok || !retention_plan(&choices->rules, &list, clock_wall_ns(), arena, &plan, err))
        return false;
    print_plan(&choices->rules, &list, &plan);
    return true;
}

static struct store *open_store(const char *data, struct arena *arena, struct err *err)
{
    char *path = arena_printf(arena, err, "%s/stepscope.db", data);
    if (path && access(path, F_OK) != 0) {
        err_set(err, ERR_NOT_FOUND, "found no %s; --data must be the service's data folder", path);
        return NULL;
    }
    return path ? store_open(path, err) : NULL;
}

bool cmd_retention(int argc, char **argv, struct err *err)
{
    struct choices choices = {0};
    struct option_args args;
    struct arena arena;
    if (!options_parse(&options, argc, argv, &choices, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (!retention_check(&choices.rules, err))
        return false;
    arena_init(&arena, NULL);
    struct store *store = open_store(choices.data, &arena, err);
    bool ok = store && show(&choices, store, &arena, err);
    store_close(store);
    arena_free(&arena);
    return ok;
}
