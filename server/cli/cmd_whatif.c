// SPDX-License-Identifier: Apache-2.0
// stepscope whatif: replays trace files with changes and says how long their steps would take.
#include "server/cli/cmd.h"

#include "analysis/replay/whatif_job.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"
#include "ingest/base/buf.h"
#include "server/cli/options.h"
#include "server/cli/rank_files.h"
#include "server/cli/shown.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 44, MOST_ANSWERS = 64 };

struct whatif_options {
    const char *format;
    uint64_t job_memory_bytes;
    const char *change, *counterpart, *step_pattern;
};

#define AT(member) offsetof(struct whatif_options, member)
static const struct option table[] = {
    {"--change", NULL, NULL, "CHANGES",
     "changes to make, joined by ';'; default: each ready-made change by itself", NULL, OPTION_TEXT,
     AT(change)},
    {"--counterpart", NULL, NULL, "FILE",
     "trace of another run, whose times counterpart:WHAT takes", NULL, OPTION_TEXT,
     AT(counterpart)},
    {"--format", NULL, "text", "FORMAT", "output format: text or json", "text|json", OPTION_CHOICE,
     AT(format)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES", "memory limit of reading one file",
     NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--step", NULL, NULL, "PATTERN",
     "annotation that marks a step; a trailing '*' matches anything", NULL, OPTION_TEXT,
     AT(step_pattern)},
};
static const struct option_set options = {"whatif", NULL, "FILE...", table,
                                          sizeof table / sizeof *table};

static void show_help(void)
{
    char summary[1600];
    snprintf(
        summary, sizeof summary,
        "Replays the traces of a job's ranks, given as files, folders or archives, as a graph of "
        "what waited for what, and says how long "
        "their steady steps would take after changes. Each answer has an interval: what 90 of "
        "100 further steps take, widened by the error of the unchanged replay. There is no answer "
        "where that error exceeds 3 %% of the step. A change is %s. Exit status 0 when all were "
        "answered, "
        "otherwise that of the first failure: 1 for an internal error, 2 for a wrong command "
        "line, 4 also for a trace that cannot be replayed, " CMD_SHARED_EXIT_CODES,
        change_syntax);
    struct option_set shown = options;
    shown.summary = summary;
    options_help(&shown, stdout);
}

// Changes that are answered together, and what they are called.
struct question {
    struct str text;
    struct change_list list;
};

struct questions {
    struct question at[MOST_ANSWERS];
    uint32_t count;
};

// Which changes make sense.
struct asked_of {
    bool ranks; // several
    bool pair;  // and another run
};

static bool ask_all(struct questions *questions, struct asked_of of, struct err *err)
{
    for (const struct change_ready *ready = change_ready_made; ready->name; ready++) {
        if ((ready->of_ranks && !of.ranks) || (ready->of_pairs && !of.pair))
            continue;
        struct question *question = &questions->at[questions->count++];
        question->text = str_of(ready->name);
        if (!change_parse(question->text, &question->list, err))
            return false;
    }
    return true;
}

static bool ask(const char *change, bool pair, struct questions *questions, struct err *err)
{
    struct question *question = &questions->at[questions->count++];
    question->text = str_of(change);
    for (const char *at = change; *at;) {
        size_t length = strcspn(at, ";");
        if (length && !change_parse((struct str){at, length}, &question->list, err))
            return false;
        at += length + (at[length] == ';');
    }
    if (!pair && change_needs_counterpart(&question->list))
        return err_set(err, ERR_USAGE,
                       "counterpart:WHAT takes the times of another run, expected "
                       "--counterpart FILE");
    return true;
}

// --- text ---------------------------------------------------------------------------------------

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_head(const char *path, const struct whatif_answer *base)
{
    shown_put(stdout, str_of(path), SIZE_MAX);
    if (base->step_count)
        printf(
            ": %u steady step%s of %s on average; the unchanged replay is off by %.2f %%, at most "
            "%.2f %%",
            base->step_count, base->step_count == 1 ? "" : "s",
            time_text((int64_t)base->measured_ns).text, 100 * base->error_share,
            100 * base->worst_error_share);
    if (base->refused)
        printf("%s not answered: %s", base->step_count ? ";" : ":", base->refused);
    putchar('\n');
}

static void print_missing(const struct whatif_job *job)
{
    long long missing = whatif_job_missing(job);
    if (missing)
        printf("  warning: %lld of the job's %lld ranks %s not replayed; waits for %s count as "
               "communication,\n  so gains from changing communication are upper bounds\n",
               missing, missing + job->count, missing == 1 ? "is" : "are",
               missing == 1 ? "it" : "them");
}

static void print_columns(void)
{
    printf("  %-*s %11s %11s %7s  %s\n", NAME_WIDTH, "change", "step", "gain", "gain %",
           "step between");
}

static void print_answer(const struct whatif_job *job, const struct question *question,
                         const struct whatif_answer *answers, uint32_t shown)
{
    const struct whatif_answer *answer = &answers[shown];
    double gain_ns = answer->measured_ns - answer->candidate_ns;
    printf("  ");
    shown_put(stdout, question->text, SIZE_MAX);
    for (size_t i = question->text.len; i < NAME_WIDTH; i++)
        putchar(' ');
    printf(" %11s %11s %6.1f%%", time_text((int64_t)answer->candidate_ns).text,
           time_text((int64_t)gain_ns).text, share(gain_ns, answer->measured_ns));
    if (answer->has_interval)
        printf("  %s and %s", time_text((int64_t)answer->low_ns).text,
               time_text((int64_t)answer->high_ns).text);
    else
        fputs("  not known from one step", stdout);
    bool selects = question->list.count == 0 || question->list.balanced;
    for (uint32_t c = 0; c < question->list.count; c++)
        selects = selects || whatif_job_touched(job, answers, c) > 0;
    puts(selects ? "" : "  (selects nothing)");
}

// What the steps of the rank that is shown waited for.
static void print_path(const struct path_sums *path, const struct whatif_answer *base)
{
    fputs("  critical path:", stdout);
    const char *before = " ";
    for (int part = 0; part < PATH_PARTS; part++) {
        if (path->ns[part] == 0)
            continue;
        printf("%s%s %.1f %%", before, path_part_word((enum path_part)part),
               share((double)path->ns[part] / base->step_count, base->measured_ns));
        before = ", ";
    }
    putchar('\n');
}

// --- JSON ---------------------------------------------------------------------------------------

static void put_path(struct buf *out, const struct path_sums *path)
{
    buf_puts(out, "\"critical_path_ns\":{");
    for (int part = 0; part < PATH_PARTS; part++)
        buf_printf(out, "%s\"%s\":%lld", part ? "," : "", path_part_word((enum path_part)part),
                   (long long)path->ns[part]);
    buf_puts(out, "},");
}

// path: NULL if it was not asked for.
static void put_head(struct buf *out, const struct whatif_rank *rank,
                     const struct whatif_answer *base, const struct path_sums *path)
{
    buf_puts(out, "{\"file\":");
    buf_json(out, str_of(rank->name));
    buf_printf(out, ",\"rank\":%lld,\"steps\":%u,\"measured_ns\":%.0f,\"replayed_ns\":%.0f,",
               (long long)rank->number, base->step_count, base->measured_ns, base->replayed_ns);
    buf_printf(out, "\"error_share\":%.6f,\"worst_error_share\":%.6f,\"known_share\":%.6f,",
               base->error_share, base->worst_error_share, base->known_share);
    buf_printf(out, "\"nodes\":%u,\"edges\":%u,\"violated_edges\":%u,",
               rank->whatif.graph.graph.node_count, rank->whatif.graph.graph.edge_count,
               base->violated);
    if (!base->refused && path)
        put_path(out, path);
    buf_puts(out, "\"refused\":");
    buf_json_or_null(out, base->refused);
    buf_puts(out, ",\"answers\":[");
}

static void put_answer(struct buf *out, const struct question *question,
                       const struct whatif_answer *answer)
{
    buf_puts(out, "\n{\"change\":");
    buf_json(out, question->text);
    buf_puts(out, ",\"touched_ns\":[");
    for (uint32_t c = 0; c < question->list.count; c++)
        buf_printf(out, "%s%lld", c ? "," : "", (long long)answer->touched_ns[c]);
    buf_printf(out, "],\"candidate_ns\":%.0f,\"gain_ns\":%.0f,", answer->candidate_ns,
               answer->measured_ns - answer->candidate_ns);
    if (answer->has_interval)
        buf_printf(out,
                   "\"low_ns\":%.0f,\"high_ns\":%.0f,\"gain_low_ns\":%.0f,"
                   "\"gain_high_ns\":%.0f,",
                   answer->low_ns, answer->high_ns, answer->gain_low_ns, answer->gain_high_ns);
    else
        buf_puts(out, "\"low_ns\":null,\"high_ns\":null,\"gain_low_ns\":null,"
                      "\"gain_high_ns\":null,");
    buf_puts(out, "\"steps\":[");
    for (uint32_t s = 0; s < answer->step_count; s++)
        buf_printf(out,
                   "%s{\"step\":%lld,\"measured_ns\":%lld,\"replayed_ns\":%lld,"
                   "\"changed_ns\":%lld}",
                   s ? "," : "", (long long)answer->steps[s].number,
                   (long long)answer->steps[s].measured_ns, (long long)answer->steps[s].replayed_ns,
                   (long long)answer->steps[s].changed_ns);
    buf_puts(out, "]}");
}

// --- ranks --------------------------------------------------------------------------------------

// The traces that were named, and what is asked of all of them.
struct opened_job {
    struct rank_files files, others; // others: of the other run
    struct whatif_job job;
    struct budget budget, other_budget;
    struct arena arena; // of the answers
    struct arena other; // of the other run's tables
    struct analysis_options options;
    uint32_t shown;       // the rank that stands for the job
    struct job_path path; // of its steps
};

// Two recordings of one rank are no job.
static bool check_ranks(const struct rank_files *files, struct err *err)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->at[i].says >= 0 && files->at[i].rank != files->at[i].says)
            return err_set(err, ERR_USAGE, "%s: expected traces of different ranks of one job",
                           files->at[i].path);
    return true;
}

static bool read_files(struct opened_job *opened, struct rank_files *files,
                       const char *const *paths, size_t count, struct err *err)
{
    struct cores cores;
    struct progress progress = {.cores = &cores};
    struct rank_files_options how = {.command = options.command,
                                     .analysis = opened->options,
                                     .job_memory_bytes = opened->budget.limit,
                                     .progress = &progress,
                                     .keeps = files == &opened->files};
    rank_files_share_cores(&cores, 0);
    how.analysis.cores = &cores;
    if (!rank_files_read(files, paths, count, &how, err))
        return false;
    if (files->unread.code != ERR_NONE)
        *err = files->unread; // already reported: the message is empty
    return files->unread.code == ERR_NONE && check_ranks(files, err);
}

static bool add_rank(struct opened_job *opened, size_t index, struct err *err)
{
    struct budget *budget = arena_alloc(&opened->arena, sizeof *budget, err); // one for each file
    if (!budget)
        return false;
    *budget = (struct budget){.limit = opened->budget.limit};
    const struct rank_file *file = &opened->files.at[index];
    struct whatif_source source = {rank_files_trace(&opened->files, index, budget, err), file->rank,
                                   file->path};
    return (source.trace && whatif_job_add(&opened->job, &source, &opened->options, err)) ||
           err_wrap(err, "%s", file->path);
}

static void close_job(struct opened_job *opened)
{
    whatif_job_close(&opened->job);
    arena_free(&opened->arena);
    arena_free(&opened->other);
    rank_files_free(&opened->files);
    rank_files_free(&opened->others);
}

static bool add_tables(struct opened_job *opened, uint32_t rank, struct err *err)
{
    struct arena arena;
    arena_init(&arena, opened->job.ranks[rank]->trace->budget);
    struct report report = {.arena = &arena};
    bool ok = rank_files_load(&opened->files, rank, whatif_job_tables, &report, err) &&
              whatif_job_add_tables(&opened->job, rank, &report, err);
    arena_free(&arena);
    return ok;
}

static bool join(struct opened_job *opened, struct err *err)
{
    if (!whatif_job_sort(&opened->job, err))
        return false;
    if (!whatif_job_is_joint(&opened->job))
        return true;
    for (uint32_t i = 0; i < opened->job.count; i++)
        if (!add_tables(opened, i, err))
            return false;
    return whatif_job_join(&opened->job, err);
}

static void begin_job(struct opened_job *opened, const struct whatif_options *chosen)
{
    *opened =
        (struct opened_job){.budget = {.limit = chosen->job_memory_bytes},
                            .options = {.step_pattern = chosen->step_pattern, .warmup_steps = -1}};
    arena_init(&opened->arena, NULL);
    opened->other_budget.limit = opened->budget.limit;
    arena_init(&opened->other, &opened->other_budget);
}

static bool open_job(struct opened_job *opened, const struct option_args *args, struct err *err)
{
    if (!read_files(opened, &opened->files, (const char *const *)args->operands,
                    (size_t)args->operand_count, err) ||
        !whatif_job_open(&opened->job, (uint32_t)opened->files.count, &opened->budget, err))
        return false;
    for (size_t i = 0; i < opened->files.count; i++)
        if (!add_rank(opened, i, err))
            return false;
    opened->path.ranks =
        arena_array(&opened->arena, opened->job.count, sizeof(struct path_rank), err);
    return opened->path.ranks && join(opened, err);
}

// --- the other run ------------------------------------------------------------------------------

// Whose rows all questions share.
static bool open_counterpart(struct opened_job *opened, const char *path,
                             struct questions *questions, struct err *err)
{
    static const struct table_desc *const wanted[] = {&table_roofline, NULL};
    struct report *report = arena_alloc(&opened->other, sizeof *report, err);
    if (!report)
        return false;
    *report = (struct report){.arena = &opened->other};
    if (!read_files(opened, &opened->others, &path, 1, err) ||
        !rank_files_load(&opened->others, 0, wanted, report, err))
        return false;
    for (uint32_t q = 0; q < questions->count; q++)
        questions->at[q].list.counterpart = report_find(report, table_roofline.name);
    return true;
}

// --- answers ------------------------------------------------------------------------------------

static void print_text(const struct opened_job *opened, const struct questions *questions,
                       struct whatif_answer *const *answers)
{
    uint32_t shown = opened->shown;
    struct whatif_answer base = answers[0][shown];
    base.refused = whatif_job_refusal(&opened->job, answers[0]);
    if (opened->job.count > 1)
        printf("%u ranks together, %u joint calls; represented by rank %lld\n", opened->job.count,
               opened->job.replay.join_count, (long long)opened->job.ranks[shown]->number);
    print_head(opened->job.ranks[shown]->name, &base);
    if (base.refused)
        return;
    print_missing(&opened->job);
    print_path(&opened->path.sums, &base);
    print_columns();
    for (uint32_t q = 0; q < questions->count; q++)
        print_answer(&opened->job, &questions->at[q], answers[q + 1], shown);
}

static bool print_json(const struct opened_job *opened, const struct questions *questions,
                       struct whatif_answer *const *answers, struct err *err)
{
    const struct whatif_job *job = &opened->job;
    struct buf out = {0};
    buf_printf(&out,
               "{\"headline_rank\":%lld,\"joint_calls\":%u,\"missing_ranks\":%lld,"
               "\"traces\":[\n",
               (long long)job->ranks[opened->shown]->number, job->replay.join_count,
               (long long)whatif_job_missing(job));
    for (uint32_t i = 0; i < job->count; i++) {
        buf_puts(&out, i ? ",\n" : "");
        put_head(&out, job->ranks[i], &answers[0][i],
                 i == opened->shown ? &opened->path.sums : NULL);
        for (uint32_t q = 0; !answers[0][i].refused && q < questions->count; q++) {
            buf_puts(&out, q ? "," : "");
            put_answer(&out, &questions->at[q], &answers[q + 1][i]);
        }
        buf_puts(&out, "]}");
    }
    buf_puts(&out, "]}\n");
    bool ok = buf_ok(&out, err) && (fwrite(out.at, 1, out.len, stdout) == out.len ||
                                    err_set_errno(err, "writing the result"));
    buf_free(&out);
    return ok;
}

// Without a change, once more for the path of the rank that stands for the job.
static bool answer_base(struct opened_job *opened, struct whatif_answer *answers, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    if (!whatif_job_ask(&opened->job, &nothing, &opened->arena, answers, NULL, err))
        return false;
    opened->shown = opened->path.rank = whatif_job_headline(&opened->job, answers);
    return whatif_job_refusal(&opened->job, answers) ||
           whatif_job_ask(&opened->job, &nothing, &opened->arena, answers, &opened->path, err);
}

static bool answer_all(struct opened_job *opened, const struct questions *questions, bool as_json,
                       struct err *err)
{
    struct whatif_answer *answers[MOST_ANSWERS + 1];
    for (uint32_t q = 0; q <= questions->count; q++) {
        answers[q] = arena_array(&opened->arena, opened->job.count, sizeof *answers[q], err);
        if (!answers[q] || (q == 0 && !answer_base(opened, answers[0], err)) ||
            (q > 0 && !whatif_job_ask(&opened->job, &questions->at[q - 1].list, &opened->arena,
                                      answers[q], NULL, err)))
            return false;
    }
    if (!as_json)
        print_text(opened, questions, answers);
    else if (!print_json(opened, questions, answers, err))
        return false;
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set_errno(err, "writing the result");
    bool refused = whatif_job_refusal(&opened->job, answers[0]) != NULL;
    err->code = refused ? ERR_FORMAT : err->code; // already printed: the message is empty
    return !refused;
}

static bool replay_files(const struct option_args *args, const struct whatif_options *chosen,
                         struct questions *questions, struct err *err)
{
    struct opened_job opened;
    begin_job(&opened, chosen);
    bool ok =
        open_job(&opened, args, err) &&
        (chosen->change ||
         ask_all(questions, (struct asked_of){opened.job.count > 1, chosen->counterpart}, err)) &&
        (!chosen->counterpart || open_counterpart(&opened, chosen->counterpart, questions, err)) &&
        answer_all(&opened, questions, strcmp(chosen->format, "json") == 0, err);
    close_job(&opened);
    return ok;
}

bool cmd_whatif(int argc, char **argv, struct err *err)
{
    struct whatif_options chosen = {0};
    struct questions questions = {.count = 0};
    struct option_args args;
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        show_help();
        return true;
    }
    if (args.operand_count == 0)
        return err_set(err, ERR_USAGE, "expected trace files, found none; see --help");
    return (!chosen.change || ask(chosen.change, chosen.counterpart, &questions, err)) &&
           replay_files(&args, &chosen, &questions, err);
}
