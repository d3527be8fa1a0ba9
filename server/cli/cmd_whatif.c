// SPDX-License-Identifier: Apache-2.0
// stepscope whatif: replays trace files with changes and says how long their steps would take.
#include "server/cli/cmd.h"

#include "analysis/analysis.h"
#include "analysis/replay/critical_path.h"
#include "analysis/replay/job_replay.h"
#include "analysis/stats/time_text.h"
#include "ingest/base/buf.h"
#include "ingest/ingest.h"
#include "server/cli/options.h"
#include "server/cli/shown.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 44, MOST_ANSWERS = 64 };

struct whatif_options {
    const char *format;
    uint64_t job_memory_bytes;
    const char *change, *step_pattern;
};

#define AT(member) offsetof(struct whatif_options, member)
static const struct option table[] = {
    {"--change", NULL, NULL, "CHANGES",
     "what changes, several joined by ';'; without it each ready-made change by itself", NULL,
     OPTION_TEXT, AT(change)},
    {"--format", NULL, "text", "FORMAT", "output format: text or json", "text|json", OPTION_CHOICE,
     AT(format)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES", "memory that one file may use", NULL,
     OPTION_BYTES, AT(job_memory_bytes)},
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
        "Replays the traces of a job's ranks as a graph of what waited for what, and says how long "
        "their steady steps would take after changes. Each answer is an interval: the spread "
        "of the gain over the steps, and the error of the unchanged replay, beyond 3 %% of "
        "which there is no answer. A change is %s. Exit status 0 when all were answered, "
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

static bool ask_all(struct questions *questions, struct err *err)
{
    for (size_t i = 0; change_ready_made[i] && questions->count < MOST_ANSWERS; i++) {
        struct question *question = &questions->at[questions->count++];
        question->text = str_of(change_ready_made[i]);
        if (!change_parse(question->text, &question->list, err))
            return false;
    }
    return true;
}

static bool ask(const char *change, struct questions *questions, struct err *err)
{
    if (!change)
        return ask_all(questions, err);
    struct question *question = &questions->at[questions->count++];
    question->text = str_of(change);
    for (const char *at = change; *at;) {
        size_t length = strcspn(at, ";");
        if (length && !change_parse((struct str){at, length}, &question->list, err))
            return false;
        at += length + (at[length] == ';');
    }
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
        printf(": %u steady step%s of %s on average; the unchanged replay misses %.2f %%, at most "
               "%.2f %%",
               base->step_count, base->step_count == 1 ? "" : "s",
               time_text((int64_t)base->measured_ns).text, 100 * base->error_share,
               100 * base->worst_error_share);
    if (base->refused)
        printf("%s not answered: %s", base->step_count ? ";" : ":", base->refused);
    putchar('\n');
}

static void print_columns(void)
{
    printf("  %-*s %11s %11s %7s  %s\n", NAME_WIDTH, "change", "step", "gain", "gain %",
           "step between");
}

static void print_answer(const struct question *question, const struct whatif_answer *answer)
{
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
        selects = selects || answer->touched_ns[c] > 0;
    puts(selects ? "" : "  (selects nothing)");
}

// Of one rank by itself: what its steps waited for.
static bool print_path(const struct whatif *whatif, double measured_ns, struct err *err)
{
    int64_t sums_ns[PATH_PARTS];
    if (!critical_path_sums(whatif, sums_ns, err))
        return false;
    fputs("  critical path:", stdout);
    const char *before = " ";
    for (int part = 0; part < PATH_PARTS; part++) {
        double ns = (double)sums_ns[part] / whatif->graph.step_count;
        if (sums_ns[part] == 0)
            continue;
        printf("%s%s %.1f %%", before, path_part_word((enum path_part)part),
               share(ns, measured_ns));
        before = ", ";
    }
    putchar('\n');
    return true;
}

// --- JSON ---------------------------------------------------------------------------------------

static void put_refusal(struct buf *out, const char *refused)
{
    buf_puts(out, "\"refused\":");
    if (refused)
        buf_json(out, str_of(refused));
    else
        buf_puts(out, "null");
}

static bool put_path(struct buf *out, const struct whatif *whatif, struct err *err)
{
    int64_t sums_ns[PATH_PARTS];
    if (!critical_path_sums(whatif, sums_ns, err))
        return false;
    buf_puts(out, "\"critical_path_ns\":{");
    for (int part = 0; part < PATH_PARTS; part++)
        buf_printf(out, "%s\"%s\":%lld", part ? "," : "", path_part_word((enum path_part)part),
                   (long long)sums_ns[part]);
    buf_puts(out, "},");
    return true;
}

static bool put_head(struct buf *out, const char *path, const struct whatif *whatif,
                     const struct whatif_answer *base, struct err *err)
{
    buf_puts(out, "{\"file\":");
    buf_json(out, str_of(path));
    buf_printf(out, ",\"rank\":%lld,\"steps\":%u,\"measured_ns\":%.0f,\"replayed_ns\":%.0f,",
               (long long)whatif->facts->identity.rank, base->step_count, base->measured_ns,
               base->replayed_ns);
    buf_printf(out, "\"error_share\":%.6f,\"worst_error_share\":%.6f,\"known_share\":%.6f,",
               base->error_share, base->worst_error_share, base->known_share);
    buf_printf(out, "\"nodes\":%u,\"edges\":%u,\"violated_edges\":%u,",
               whatif->graph.graph.node_count, whatif->graph.graph.edge_count, base->violated);
    if (!base->refused && !put_path(out, whatif, err))
        return false;
    put_refusal(out, base->refused);
    buf_puts(out, ",\"answers\":[");
    return true;
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
        buf_printf(out, "\"low_ns\":%.0f,\"high_ns\":%.0f,", answer->low_ns, answer->high_ns);
    else
        buf_puts(out, "\"low_ns\":null,\"high_ns\":null,");
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

// A trace that was read.
struct opened {
    const char *path;
    struct budget budget;
    struct arena arena;
    struct trace *trace;
    struct facts facts;
    struct whatif whatif;
};

struct opened_job {
    struct opened *at; // by rank
    uint32_t count;
    struct arena arena;
    struct run_comm comm;
    struct job_rank *ranks;
    struct job_replay replay; // of several
    const char *refused;      // why they cannot be replayed together
};

static bool open_trace(struct opened *opened, const char *path, const struct whatif_options *chosen,
                       struct err *err)
{
    const struct analysis_options analysis = {.step_pattern = chosen->step_pattern,
                                              .warmup_steps = -1};
    *opened = (struct opened){.path = path, .budget = {.limit = chosen->job_memory_bytes}};
    arena_init(&opened->arena, &opened->budget);
    opened->trace = ingest_file(path, &opened->budget, NULL, err);
    return (opened->trace &&
            facts_make(opened->trace, &analysis, &opened->arena, &opened->facts, err) &&
            whatif_open(&opened->facts, &opened->arena, &opened->whatif, err)) ||
           err_wrap(err, "%s", path);
}

static void close_job(struct opened_job *job)
{
    run_comm_close(&job->comm);
    for (uint32_t i = 0; i < job->count; i++) {
        arena_free(&job->at[i].arena);
        trace_free(job->at[i].trace);
    }
    arena_free(&job->arena);
}

static int by_rank(const void *left, const void *right)
{
    const struct opened *a = left, *b = right;
    int64_t rank_a = a->facts.identity.rank, rank_b = b->facts.identity.rank;
    return (rank_a > rank_b) - (rank_a < rank_b);
}

static bool add_comm(struct opened_job *job, struct opened *opened, struct err *err)
{
    const struct analysis_options analysis = {.warmup_steps = -1};
    struct arena arena;
    arena_init(&arena, &opened->budget);
    struct report report = {.arena = &arena};
    bool ok = analyze_trace(opened->trace, &analysis, &report, err) &&
              run_comm_add(&job->comm, opened->facts.identity.rank, &report, err);
    arena_free(&arena);
    return ok;
}

static bool join(struct opened_job *job, struct err *err)
{
    job->ranks = arena_array(&job->arena, job->count, sizeof *job->ranks, err);
    if (!job->ranks || !run_comm_open(&job->comm, job->count, &job->at[0].budget, err))
        return false;
    for (uint32_t i = 0; i < job->count; i++) {
        struct opened *opened = &job->at[i];
        int64_t rank = opened->facts.identity.rank;
        if (rank < 0 || (i > 0 && rank == job->ranks[i - 1].rank))
            return err_set(err, ERR_USAGE, "%s: expected traces of different ranks of one job",
                           opened->path);
        job->ranks[i] = (struct job_rank){rank, &opened->whatif, 0};
        job->refused = job->refused ? job->refused : opened->whatif.refused;
        if (!job->refused && !add_comm(job, opened, err))
            return false;
    }
    if (job->refused)
        return true;
    if (!run_comm_solve(&job->comm, err))
        return false;
    if (job_replay_make(job->ranks, &job->comm, &job->arena, &job->replay, err))
        return true;
    if (err->code == ERR_FORMAT)
        job->refused = arena_strdup(&job->arena, str_of(err->msg), err);
    return job->refused != NULL;
}

static bool open_job(struct opened_job *job, const struct option_args *args,
                     const struct whatif_options *chosen, struct err *err)
{
    arena_init(&job->arena, NULL);
    job->at = arena_array(&job->arena, (size_t)args->operand_count, sizeof *job->at, err);
    for (int i = 0; job->at && i < args->operand_count; i++) {
        job->count++;
        if (!open_trace(&job->at[i], args->operands[i], chosen, err))
            return false;
    }
    if (!job->at || job->count == 1)
        return job->at != NULL;
    qsort(job->at, job->count, sizeof *job->at, by_rank);
    return join(job, err);
}

// --- answers ------------------------------------------------------------------------------------

static bool answer(struct opened_job *job, const struct change_list *list,
                   struct whatif_answer *answers, struct err *err)
{
    if (job->count == 1)
        return whatif_change(&job->at[0].whatif, list, &job->arena, answers, err);
    if (!job->refused)
        return job_replay_change(&job->replay, list, &job->arena, answers, err);
    for (uint32_t i = 0; i < job->count; i++)
        answers[i] = (struct whatif_answer){.refused = job->refused};
    return true;
}

// The rank with the lower-median step stands for the run.
static uint32_t headline(const struct opened_job *job, const struct whatif_answer *base)
{
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t below = 0;
        for (uint32_t k = 0; k < job->count; k++)
            below += base[k].measured_ns < base[i].measured_ns ||
                     (base[k].measured_ns <= base[i].measured_ns && k < i);
        if (below == (job->count - 1) / 2)
            return i;
    }
    return 0;
}

static const char *first_refusal(const struct opened_job *job, const struct whatif_answer *base)
{
    for (uint32_t i = 0; i < job->count; i++)
        if (base[i].refused)
            return base[i].refused;
    return NULL;
}

static bool print_text(const struct opened_job *job, const struct questions *questions,
                       struct whatif_answer *const *answers, struct err *err)
{
    uint32_t shown = headline(job, answers[0]);
    struct whatif_answer base = answers[0][shown];
    base.refused = first_refusal(job, answers[0]);
    if (job->count > 1)
        printf("%u ranks together, %u joint calls; rank %lld stands for them\n", job->count,
               job->replay.join_count, (long long)job->at[shown].facts.identity.rank);
    print_head(job->at[shown].path, &base);
    if (!base.refused && !print_path(&job->at[shown].whatif, base.measured_ns, err))
        return false;
    if (!base.refused)
        print_columns();
    for (uint32_t q = 0; !base.refused && q < questions->count; q++)
        print_answer(&questions->at[q], &answers[q + 1][shown]);
    return true;
}

static bool print_json(const struct opened_job *job, const struct questions *questions,
                       struct whatif_answer *const *answers, struct err *err)
{
    struct buf out = {0};
    uint32_t shown = headline(job, answers[0]);
    buf_printf(&out, "{\"headline_rank\":%lld,\"joint_calls\":%u,\"traces\":[\n",
               (long long)job->at[shown].facts.identity.rank, job->replay.join_count);
    for (uint32_t i = 0; i < job->count; i++) {
        buf_puts(&out, i ? ",\n" : "");
        if (!put_head(&out, job->at[i].path, &job->at[i].whatif, &answers[0][i], err)) {
            buf_free(&out);
            return false;
        }
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

static bool answer_all(struct opened_job *job, const struct questions *questions, bool as_json,
                       struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct whatif_answer *answers[MOST_ANSWERS + 1];
    for (uint32_t q = 0; q <= questions->count; q++) {
        answers[q] = arena_array(&job->arena, job->count, sizeof *answers[q], err);
        const struct change_list *list = q ? &questions->at[q - 1].list : &nothing;
        if (!answers[q] || !answer(job, list, answers[q], err))
            return false;
    }
    if (as_json ? !print_json(job, questions, answers, err)
                : !print_text(job, questions, answers, err))
        return false;
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set_errno(err, "writing the result");
    bool refused = first_refusal(job, answers[0]) != NULL;
    err->code = refused ? ERR_FORMAT : err->code; // already printed: the message is empty
    return !refused;
}

static bool replay_files(const struct option_args *args, const struct whatif_options *chosen,
                         const struct questions *questions, struct err *err)
{
    struct opened_job job = {.count = 0};
    bool ok = open_job(&job, args, chosen, err) &&
              answer_all(&job, questions, strcmp(chosen->format, "json") == 0, err);
    close_job(&job);
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
    return ask(chosen.change, &questions, err) && replay_files(&args, &chosen, &questions, err);
}
