// SPDX-License-Identifier: Apache-2.0
// stepscope export: reads trace files as the ranks of one run and writes them for other tools.
#include "server/cli/cmd.h"

#include "server/cli/export_files.h"
#include "server/cli/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct export_options {
    const char *out;
    const char *name;
    uint64_t job_memory_bytes;
    const char *step_pattern;
    int64_t from_ns, to_ns; // to 0: to the end
    const char *lanes;
    bool events;
    int64_t threads; // 0: one per core
};

#define AT(member) offsetof(struct export_options, member)
static const struct option table[] = {
    {"-o", NULL, NULL, "OUT", "file or folder to write, - for standard output", NULL, OPTION_TEXT,
     AT(out)},
    {"--name", NULL, "run", "NAME", "name of the run", NULL, OPTION_TEXT, AT(name)},
    {"--from-ns", NULL, "0", "NS", "start of the window, counted from the first rank's first event",
     NULL, OPTION_INT, AT(from_ns)},
    {"--to-ns", NULL, "0", "NS", "end of the window; 0: the end of the recording", NULL, OPTION_INT,
     AT(to_ns)},
    {"--lanes", NULL, "all", "LANES", "device: only streams; all: threads, too", "all|device",
     OPTION_CHOICE, AT(lanes)},
    {"--events", NULL, NULL, NULL, "write events as one file, in a table format", NULL, OPTION_FLAG,
     AT(events)},
    {"--step", NULL, NULL, "PATTERN",
     "annotation that marks a step; a trailing '*' matches anything", NULL, OPTION_TEXT,
     AT(step_pattern)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory limit of the analysis of one file", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--threads", "STEPSCOPE_THREADS", "0", "N", "worker threads; 0: one per core", NULL,
     OPTION_INT, AT(threads)},
};
static const struct option_set options = {"export", NULL, "FORMAT FILE...", table,
                                          sizeof table / sizeof *table};

static void show_help(void)
{
    struct buf text = {0};
    buf_puts(&text, "Reads profiler traces as the ranks of one run and writes them for other tools "
                    "to the file or folder -o. Formats: ");
    export_files_formats(&text);
    buf_puts(&text, ". Exit status 0 when all were read and written, otherwise that of the first "
                    "failure: 1 for an internal error, 2 for a wrong command "
                    "line, " CMD_SHARED_EXIT_CODES);
    struct option_set shown = options;
    shown.summary = text.at;
    options_help(&shown, stdout);
    buf_free(&text);
}

// Each rank's trace is kept in an unnamed file, so its descriptor stays open.
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// Options that the format would ignore.
static bool check_format(const struct export_files *what, struct err *err)
{
    bool cuts = what->from_ns != 0 || what->to_ns >= 0 || what->device_only;
    bool is_folder = what->tables && what->tables != &export_xlsx;
    if (cuts && (what->tables || what->events->whole_run))
        return err_set(
            err, ERR_USAGE,
            "found --from-ns, --to-ns or --lanes, which %s does not take: it is always complete",
            what->tables ? what->tables->word : what->events->word);
    if (is_folder && strcmp(what->out, "-") == 0)
        return err_set(err, ERR_USAGE, "found -o -, expected a folder for %s", what->tables->word);
    return true;
}

static bool read_and_write(const struct option_args *args, const struct export_options *chosen,
                           struct rank_files *run, struct err *err)
{
    struct cores cores;
    struct progress progress = {.cores = &cores};
    struct export_files what = {.run = run,
                                .out = chosen->out,
                                .name = str_of(chosen->name),
                                .from_ns = chosen->from_ns,
                                .to_ns = chosen->to_ns ? chosen->to_ns : -1,
                                .device_only = str_equal(str_of(chosen->lanes), STR("device")),
                                .wants_events = chosen->events};
    if (!export_files_find(&what, str_of(args->operands[0]), err) || !check_format(&what, err))
        return false;
    allow_many_files();
    rank_files_share_cores(&cores, chosen->threads);
    struct rank_files_options how = {
        .command = options.command,
        .analysis = {.step_pattern = chosen->step_pattern, .warmup_steps = -1, .cores = &cores},
        .job_memory_bytes = chosen->job_memory_bytes,
        .progress = &progress,
        .keeps = what.events != NULL};
    if (!rank_files_read(run, (const char *const *)args->operands + 1,
                         (size_t)args->operand_count - 1, &how, err))
        return false;
    if (run->count && !export_files_write(&what, err))
        return false;
    if (run->unread.code != ERR_NONE)
        *err = run->unread; // already printed: the message is empty
    return run->unread.code == ERR_NONE;
}

bool cmd_export(int argc, char **argv, struct err *err)
{
    struct export_options chosen = {0};
    struct option_args args;
    struct rank_files run = {0};
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        show_help();
        return true;
    }
    if (args.operand_count < 2)
        return err_set(err, ERR_USAGE, "expected a format and trace files; see --help");
    if (!chosen.out)
        return err_set(err, ERR_USAGE, "expected -o OUT, found none; see --help");
    if (chosen.to_ns && chosen.to_ns <= chosen.from_ns)
        return err_set(err, ERR_USAGE, "found --from-ns %lld, expected less than --to-ns %lld",
                       (long long)chosen.from_ns, (long long)chosen.to_ns);
    bool ok = read_and_write(&args, &chosen, &run, err);
    rank_files_free(&run);
    return ok;
}
