// SPDX-License-Identifier: Apache-2.0
// stepscope analyze: reads trace files as the ranks of one run and prints the results.
#include "server/cli/cmd.h"

#include "server/cli/options.h"
#include "server/cli/print_report.h"
#include "server/cli/rank_files.h"

#include "analysis/report/tables.h"
#include "analysis/run/analysis_json.h"
#include "analysis/names/peaks.h"

#include <stddef.h>

enum { MAX_SHOWN = 8 }; // ranks printed individually as text

struct analyze_options {
    const char *format;
    uint64_t job_memory_bytes;
    const char *step_pattern;
    const char *warmup;
    const char *peaks_path;
    int64_t tokens_per_step;
    int64_t threads; // 0: one per core
    struct peaks peaks;
    struct analysis_options analysis; // from those above
};

#define AT(member) offsetof(struct analyze_options, member)
static const struct option table[] = {
    {"--format", NULL, "text", "FORMAT", "output format: text or json", "text|json", OPTION_CHOICE,
     AT(format)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory limit of the analysis of one file", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--step", NULL, NULL, "PATTERN",
     "annotation that marks a step; a trailing '*' matches anything", NULL, OPTION_TEXT,
     AT(step_pattern)},
    {"--warmup", NULL, "auto", "N", "warm-up steps to leave out; auto: leading steps that differ",
     NULL, OPTION_TEXT, AT(warmup)},
    {"--peaks", "STEPSCOPE_PEAKS", NULL, "FILE",
     "table of device peaks that overrides the built-in one, as analysis/names/peaks.tsv", NULL,
     OPTION_TEXT, AT(peaks_path)},
    {"--tokens-per-step", NULL, NULL, "N", "tokens per step over all ranks, for tokens per second",
     NULL, OPTION_INT, AT(tokens_per_step)},
    {"--threads", "STEPSCOPE_THREADS", "0", "N", "worker threads; 0: one per core", NULL,
     OPTION_INT, AT(threads)},
};
static const struct option_set options = {"analyze", NULL, "FILE|DIR...", table,
                                          sizeof table / sizeof *table};

static void show_help(void)
{
    char traces[FORMAT_ENDINGS_BYTES], archives[FORMAT_ENDINGS_BYTES], summary[1024];
    format_endings(1u << FORMAT_TRACE, traces);
    format_endings(1u << FORMAT_ARCHIVE, archives);
    snprintf(summary, sizeof summary,
             "Analyzes profiler traces (%s). Several files are the ranks of one run, and "
             "so are the traces in an archive (%s) or below a folder. Exit status 0 when all were "
             "read, otherwise "
             "that of the first failure: 1 for an internal error, 2 for a wrong command "
             "line, " CMD_SHARED_EXIT_CODES,
             traces, archives);
    struct option_set shown = options;
    shown.summary = summary;
    options_help(&shown, stdout);
}

// Prints one file with its report.
typedef bool print_file(const struct rank_file *file, const struct report *report, struct buf *out,
                        struct err *err);

static bool with_report(const struct rank_files *run, size_t index, print_file *print,
                        struct buf *out, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = rank_files_load(run, index, trace_tables, &report, err) &&
              print(&run->at[index], &report, out, err);
    arena_free(&arena);
    return ok;
}

static bool print_file_text(const struct rank_file *file, const struct report *report,
                            struct buf *out, struct err *err)
{
    (void)out;
    (void)err;
    print_trace_report(report, file->path, file->rank, stdout);
    return true;
}

// Of many ranks, only representative ones are printed individually.
static bool is_shown(const struct rank_files *run, size_t index)
{
    const struct table *summary = report_find(&run->report, "summary");
    return run->count <= MAX_SHOWN || !summary ||
           run->at[index].rank == table_cell(summary, 0, RUN_SUMMARY_HEADLINE_RANK)->i ||
           run->at[index].rank == table_cell(summary, 0, RUN_SUMMARY_SLOWEST_RANK)->i;
}

static bool print_text(const struct rank_files *run, struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (is_shown(run, i) && !with_report(run, i, print_file_text, NULL, err))
            return false;
    if (run->count > MAX_SHOWN)
        printf("of %zu ranks, the typical and the slowest one; --format json has all\n\n",
               run->count);
    print_run_report(&run->report, stdout);
    return true;
}

// The analysis's object preceded by what only this command knows: {"file":...,"run_rank":...,<its
// keys>}.
static bool put_trace(const struct rank_file *file, const struct report *report, struct buf *out,
                      struct err *err)
{
    struct buf object = {0};
    bool ok = analysis_json_trace(report, &object, err) && buf_ok(&object, err);
    if (ok) {
        buf_puts(out, "{\"file\":");
        buf_json(out, str_of(file->path));
        buf_printf(out, ",\"run_rank\":%lld,", (long long)file->rank);
        buf_add(out, object.at + 1, object.len - 1);
    }
    buf_free(&object);
    return ok;
}

// Prints what is there, so that at most one rank's object is held.
static bool drain(struct buf *out, struct err *err)
{
    if (!buf_ok(out, err))
        return false;
    if (fwrite(out->at, 1, out->len, stdout) != out->len || fflush(stdout) != 0)
        return err_set_errno(err, "writing the result");
    buf_clear(out);
    return true;
}

static bool put_run(const struct rank_files *run, struct buf *out, struct err *err)
{
    buf_printf(out, "{\"run\":{\"ranks\":%zu,\"tables\":", run->count);
    report_json(&run->report, out);
    buf_puts(out, "},\"traces\":[");
    for (size_t i = 0; i < run->count; i++) {
        buf_puts(out, i ? ",\n" : "\n");
        if (!drain(out, err) || !with_report(run, i, put_trace, out, err))
            return false;
    }
    buf_puts(out, "]}\n");
    return drain(out, err);
}

static bool print_json(const struct rank_files *run, struct err *err)
{
    struct buf out = {0};
    bool ok = put_run(run, &out, err);
    buf_free(&out);
    return ok;
}

static bool analyze(const struct option_args *args, const struct analyze_options *chosen,
                    struct progress *progress, struct rank_files *run, struct err *err)
{
    struct rank_files_options how = {.command = options.command,
                                     .analysis = chosen->analysis,
                                     .job_memory_bytes = chosen->job_memory_bytes,
                                     .progress = progress};
    if (!rank_files_read(run, (const char *const *)args->operands, (size_t)args->operand_count,
                         &how, err))
        return false;
    if (strcmp(chosen->format, "json") == 0 && !print_json(run, err))
        return false;
    if (strcmp(chosen->format, "text") == 0 && !print_text(run, err))
        return false;
    if (run->unread.code != ERR_NONE)
        *err = run->unread; // already printed: the message is empty
    return run->unread.code == ERR_NONE;
}

static bool choose_steps(struct analyze_options *chosen, struct err *err)
{
    int64_t steps = -1;
    struct str text = str_of(chosen->warmup);
    if (!str_equal(text, STR("auto")) &&
        (!str_to_i64(text, &steps) || steps < 0 || steps > INT32_MAX))
        return err_set(err, ERR_USAGE, "found --warmup '%.20s', expected a number of steps or auto",
                       chosen->warmup);
    chosen->analysis =
        (struct analysis_options){.step_pattern = chosen->step_pattern, .warmup_steps = (int)steps};
    return true;
}

// The rows of the user's peaks live in the arena.
static bool choose_work(struct analyze_options *chosen, struct arena *arena, struct err *err)
{
    chosen->analysis.tokens_per_step = chosen->tokens_per_step;
    if (!chosen->peaks_path)
        return true;
    chosen->analysis.peaks = &chosen->peaks;
    return peaks_read(chosen->peaks_path, arena, &chosen->peaks, err);
}

bool cmd_analyze(int argc, char **argv, struct err *err)
{
    struct analyze_options chosen = {0};
    struct option_args args;
    struct rank_files run = {0};
    struct arena arena;
    struct cores cores;
    struct progress progress = {.cores = &cores};
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        show_help();
        return true;
    }
    if (!choose_steps(&chosen, err))
        return false;
    if (args.operand_count == 0)
        return err_set(err, ERR_USAGE, "expected trace files, found none; see --help");
    arena_init(&arena, NULL);
    rank_files_share_cores(&cores, chosen.threads);
    chosen.analysis.cores = &cores;
    bool ok = choose_work(&chosen, &arena, err) && analyze(&args, &chosen, &progress, &run, err);
    rank_files_free(&run);
    arena_free(&arena);
    return ok;
}
