// SPDX-License-Identifier: Apache-2.0
// stepscope analyze: reads trace files as the ranks of one run and prints what was found.
#include "server/cmd.h"

#include "server/options.h"
#include "server/pipeline.h"
#include "server/print_report.h"
#include "server/rank_name.h"

#include "analysis/analysis_json.h"
#include "analysis/groups.h"
#include "analysis/peaks.h"

#include <stddef.h>
#include <stdlib.h>
#include <uv.h>

enum { MAX_SHOWN = 8 }; // ranks that text shows one by one

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
    {"--format", NULL, "text", "FORMAT", "text for people or json for programs", "text|json",
     OPTION_CHOICE, AT(format)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory that the analysis of one file may use", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--step", NULL, NULL, "PATTERN",
     "annotation that marks a step; a '*' at its end stands for anything", NULL, OPTION_TEXT,
     AT(step_pattern)},
    {"--warmup", NULL, "auto", "N", "steps to leave out first; auto: those that differ", NULL,
     OPTION_TEXT, AT(warmup)},
    {"--peaks", "STEPSCOPE_PEAKS", NULL, "FILE",
     "peaks of devices that go before those built in, in the form of analysis/peaks.tsv", NULL,
     OPTION_TEXT, AT(peaks_path)},
    {"--tokens-per-step", NULL, NULL, "N", "tokens of a step over all ranks, for tokens per second",
     NULL, OPTION_INT, AT(tokens_per_step)},
    {"--threads", "STEPSCOPE_THREADS", "0", "N", "threads to work with; 0: one per core", NULL,
     OPTION_INT, AT(threads)},
};
static const struct option_set options = {
    "analyze",
    "Analyses PyTorch profiler traces (.json, .json.gz, .json.zst). Several files are the ranks of "
    "one run.",
    "FILE...", table, sizeof table / sizeof *table};

// One file that could be read. Its report is kept as it is saved, which takes a tenth of its
// tables.
struct rank_file {
    const char *path;
    int64_t rank;
    struct buf saved;
};

struct analysis_run {
    struct arena arena; // of the list of files and of the run's report
    struct cores cores;
    struct progress progress;
    struct groups taken; // ranks
    int64_t free_rank;   // those below are taken
    struct rank_file *files;
    size_t count;
    struct report report; // of the run
    struct err first_err; // of the files that could not be read
};

// False in *taken when the rank was free; it is taken now.
static bool take_rank(struct analysis_run *run, int64_t rank, bool *taken, struct err *err)
{
    uint32_t before = run->taken.count, index;
    if (!groups_index(&run->taken, (uint64_t)rank, 0, &index, err))
        return false;
    *taken = index < before;
    return true;
}

// What the file says, its name, or the first rank that is free.
static bool choose_rank(struct analysis_run *run, const char *path, int64_t metadata_rank,
                        int64_t *rank, struct err *err)
{
    const int64_t wishes[] = {metadata_rank, rank_of_filename(str_of(path))};
    bool taken = true;
    for (size_t i = 0; i < 2 && taken; i++) {
        *rank = wishes[i];
        if (*rank >= 0 && !take_rank(run, *rank, &taken, err))
            return false;
    }
    while (taken) {
        *rank = run->free_rank++;
        if (!take_rank(run, *rank, &taken, err))
            return false;
    }
    return true;
}

static void tell(const char *path, const struct err *err)
{
    fprintf(stderr, "stepscope analyze: %s: %s", path, err->msg);
    if (err->pos != ERR_NO_POS)
        fprintf(stderr, " (byte %llu)", (unsigned long long)err->pos);
    fputc('\n', stderr);
}

static bool identify(struct analysis_run *run, struct rank_file *file, int64_t says,
                     struct err *err)
{
    if (!choose_rank(run, file->path, says, &file->rank, err))
        return false;
    if (says >= 0 && file->rank != says)
        fprintf(stderr,
                "stepscope analyze: %s: says it is rank %lld, as another file does; counts as rank "
                "%lld\n",
                file->path, (long long)says, (long long)file->rank);
    return true;
}

static bool analyse_file(struct analysis_run *run, const struct analyze_options *chosen,
                         struct rank_file *file, struct err *err)
{
    struct pipeline_job job = {
        .input_path = file->path, .options = chosen->analysis, .progress = &run->progress};
    struct pipeline_result result;
    struct budget budget = {.limit = chosen->job_memory_bytes};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    bool ok = pipeline_trace(&job, &report, &result, err) &&
              report_save(&report, &file->saved, err) &&
              identify(run, file, result.identity.rank, err);
    arena_free(&arena);
    return ok;
}

// Reads one file; one that cannot be read is told of and left out.
static void read_file(struct analysis_run *run, const char *path,
                      const struct analyze_options *chosen)
{
    struct rank_file *file = &run->files[run->count];
    struct err err = {.pos = ERR_NO_POS};
    *file = (struct rank_file){.path = path};
    if (analyse_file(run, chosen, file, &err)) {
        run->count++;
        return;
    }
    buf_free(&file->saved);
    tell(path, &err);
    if (run->first_err.code == ERR_NONE)
        run->first_err.code = err.code;
}

static int by_rank(const void *left, const void *right)
{
    const struct rank_file *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static bool load_rank(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    const struct buf *saved = &((const struct rank_file *)context)[index].saved;
    return report_load(report, (struct str){saved->at, saved->len}, known, err);
}

static bool join(struct analysis_run *run, struct err *err)
{
    int64_t *ranks = arena_array(&run->arena, run->count + 1, sizeof *ranks, err);
    if (!ranks)
        return false;
    qsort(run->files, run->count, sizeof *run->files, by_rank);
    for (size_t i = 0; i < run->count; i++)
        ranks[i] = run->files[i].rank;
    run->report.arena = &run->arena;
    struct rank_source source = {.ranks = ranks,
                                 .count = run->count,
                                 .context = run->files,
                                 .load = load_rank,
                                 .cores = &run->cores};
    return pipeline_run(&source, &run->report, err);
}

// What is printed of one file, with its report.
typedef bool print_file(const struct rank_file *file, const struct report *report, struct buf *out,
                        struct err *err);

static bool with_report(const struct analysis_run *run, size_t index, print_file *print,
                        struct buf *out, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = load_rank(run->files, index, trace_tables, &report, err) &&
              print(&run->files[index], &report, out, err);
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

// Of many ranks, only those that stand for the others are shown by themselves.
static bool is_shown(const struct analysis_run *run, size_t index)
{
    const struct table *summary = report_find(&run->report, "summary");
    return run->count <= MAX_SHOWN || !summary ||
           run->files[index].rank == table_cell(summary, 0, "headline_rank")->i ||
           run->files[index].rank == table_cell(summary, 0, "slowest_rank")->i;
}

static bool print_text(const struct analysis_run *run, struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (is_shown(run, i) && !with_report(run, i, print_file_text, NULL, err))
            return false;
    if (run->count > MAX_SHOWN)
        printf("of %zu ranks, the one that stands for the run and the slowest; --format json has "
               "all\n\n",
               run->count);
    print_run_report(&run->report, stdout);
    return true;
}

// The analysis's object with what only we know put in front: {"file":...,"run_rank":...,<its
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

// Prints what is there, so that no more than one rank's object is held.
static bool drain(struct buf *out, struct err *err)
{
    if (!buf_ok(out, err))
        return false;
    if (fwrite(out->at, 1, out->len, stdout) != out->len || fflush(stdout) != 0)
        return err_set_errno(err, "writing the result");
    buf_clear(out);
    return true;
}

static bool put_run(const struct analysis_run *run, struct buf *out, struct err *err)
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

static bool print_json(const struct analysis_run *run, struct err *err)
{
    struct buf out = {0};
    bool ok = put_run(run, &out, err);
    buf_free(&out);
    return ok;
}

static bool analyze(struct analysis_run *run, const struct option_args *args,
                    const struct analyze_options *chosen, struct err *err)
{
    run->files = arena_array(&run->arena, (size_t)args->operand_count + 1, sizeof *run->files, err);
    if (!run->files)
        return false;
    for (int i = 0; i < args->operand_count; i++)
        read_file(run, args->operands[i], chosen);
    if (!join(run, err))
        return false;
    if (strcmp(chosen->format, "json") == 0 && !print_json(run, err))
        return false;
    if (strcmp(chosen->format, "text") == 0 && !print_text(run, err))
        return false;
    if (run->first_err.code != ERR_NONE)
        *err = run->first_err; // told already: the message is empty
    return run->first_err.code == ERR_NONE;
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

static void share_cores(struct analysis_run *run, struct analyze_options *chosen)
{
    enum { MAX_THREADS = 1024 };
    int64_t count = chosen->threads ? chosen->threads : uv_available_parallelism();
    cores_init(&run->cores, (unsigned)(count < MAX_THREADS ? count : MAX_THREADS));
    cores_hold(&run->cores); // for this thread
    run->progress.cores = chosen->analysis.cores = &run->cores;
}

bool cmd_analyze(int argc, char **argv, struct err *err)
{
    struct analyze_options chosen = {0};
    struct option_args args;
    struct analysis_run run = {0};
    struct budget uncounted = {0};
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (!choose_steps(&chosen, err))
        return false;
    if (args.operand_count == 0)
        return err_set(err, ERR_USAGE, "expected trace files, found none; see --help");
    arena_init(&run.arena, NULL);
    groups_init(&run.taken, &uncounted);
    share_cores(&run, &chosen);
    bool ok = choose_work(&chosen, &run.arena, err) && analyze(&run, &args, &chosen, err);
    for (size_t i = 0; i < run.count; i++)
        buf_free(&run.files[i].saved);
    groups_free(&run.taken);
    arena_free(&run.arena);
    return ok;
}
