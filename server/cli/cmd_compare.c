// SPDX-License-Identifier: Apache-2.0
// stepscope compare: compares the runs of two sides, read from trace files, and judges whether the
// steps became slower.
#include "server/cli/cmd.h"

#include "server/cli/file_sides.h"
#include "server/cli/options.h"
#include "server/cli/print_compare.h"

#include <stddef.h>

struct compare_choices {
    const char *format, *per, *rank, *step_pattern;
    double max_regression, alpha, relevant_share, relevant_ms;
    int64_t base_tokens, cand_tokens, threads;
    uint64_t job_memory_bytes;
    bool sequential;
};

#define AT(member) offsetof(struct compare_choices, member)
static const struct option table[] = {
    {"--format", NULL, "text", "FORMAT", "output format: text or json", "text|json", OPTION_CHOICE,
     AT(format)},
    {"--max-regression", NULL, "0.03", "SHARE", "largest acceptable slowdown of steps, as a share",
     NULL, OPTION_NUMBER, AT(max_regression)},
    {"--sequential", NULL, NULL, NULL,
     "use the sequential test, which stays valid when repeated after every further run", NULL,
     OPTION_FLAG, AT(sequential)},
    {"--per", NULL, "step", "UNIT", "token: scale the candidate to the base's tokens per step",
     "step|token", OPTION_CHOICE, AT(per)},
    {"--base-tokens", NULL, NULL, "N", "tokens per step of the base over all ranks", NULL,
     OPTION_INT, AT(base_tokens)},
    {"--cand-tokens", NULL, NULL, "N", "tokens per step of the candidate over all ranks", NULL,
     OPTION_INT, AT(cand_tokens)},
    {"--rank", NULL, "headline", "RANK", "the rank that represents a run", "headline|slowest",
     OPTION_CHOICE, AT(rank)},
    {"--alpha", NULL, "0.05", "P", "significance level of the tests", NULL, OPTION_NUMBER,
     AT(alpha)},
    {"--relevant-share", NULL, "0.002", "SHARE", "smallest relevant share of the base's step", NULL,
     OPTION_NUMBER, AT(relevant_share)},
    {"--relevant-ms", NULL, "0.1", "MS", "smallest relevant difference of a step", NULL,
     OPTION_NUMBER, AT(relevant_ms)},
    {"--step", NULL, NULL, "PATTERN",
     "annotation that marks a step; a trailing '*' matches anything", NULL, OPTION_TEXT,
     AT(step_pattern)},
    {"--job-memory", "STEPSCOPE_JOB_MEMORY", "4G", "BYTES",
     "memory limit of the analysis of one file", NULL, OPTION_BYTES, AT(job_memory_bytes)},
    {"--threads", "STEPSCOPE_THREADS", "0", "N", "worker threads; 0: one per core", NULL,
     OPTION_INT, AT(threads)},
};
static const struct option_set options = {
    "compare",
    "Compares two runs of PyTorch profiler traces and judges whether steps became slower. Each "
    "side is a trace file, a folder or an archive whose files are the ranks of one run, or repeats "
    "of these joined by commas. Exit status 0 when the candidate passes, 1 when it fails, 2 when "
    "undecided, 64 for a wrong command line, 70 for an internal error, " CMD_SHARED_EXIT_CODES,
    "BASE CANDIDATE", table, sizeof table / sizeof *table};

static struct compare_options options_of(const struct compare_choices *chosen)
{
    return (struct compare_options){.per_token = strcmp(chosen->per, "token") == 0,
                                    .slowest = strcmp(chosen->rank, "slowest") == 0,
                                    .limits = {.alpha = chosen->alpha,
                                               .relevant_share = chosen->relevant_share,
                                               .relevant_ns = chosen->relevant_ms * 1e6}};
}

static bool check_limits(const struct compare_choices *chosen, struct err *err)
{
    struct verdict_limits limits = options_of(chosen).limits;
    if (chosen->max_regression < GATE_LEAST_REGRESSION ||
        chosen->max_regression > GATE_MOST_REGRESSION)
        return err_set(err, ERR_USAGE,
                       "--max-regression: found %g, expected a number from %g to %g",
                       chosen->max_regression, GATE_LEAST_REGRESSION, GATE_MOST_REGRESSION);
    return verdict_check_limits(&limits, err);
}

static bool print(const struct compare_choices *chosen, const struct gate_question *question,
                  const struct gate_answer *answer, struct err *err)
{
    if (strcmp(chosen->format, "json") == 0)
        return print_compare_json(question, answer, stdout, err);
    print_compare_text(question, answer, stdout);
    return true;
}

// Exit codes of the verdicts.
static int code_of(enum gate gate)
{
    switch (gate) {
    case GATE_PASS: return 0;
    case GATE_FAIL: return 1;
    case GATE_UNDECIDED: break;
    }
    return 2;
}

static bool judge(struct file_side sides[2], const struct compare_choices *chosen,
                  struct arena *arena, int *verdict, struct err *err)
{
    struct compare_options how = options_of(chosen);
    struct report report = {.arena = arena};
    struct gate_answer answer;
    file_sides_shorten(sides, 2);
    if (!analyze_compare(&sides[0].side, &sides[1].side, 1, &how, &report, err))
        return false;
    struct gate_question question = {.pair = {.report = &report,
                                              .cand = 1,
                                              .base = &sides[0].side,
                                              .side = &sides[1].side,
                                              .per_token = how.per_token},
                                     .limits = how.limits,
                                     .max_regression = chosen->max_regression,
                                     .of_files = true,
                                     .sequential = chosen->sequential};
    if (!gate_answer(&question, arena, &answer, err) || !print(chosen, &question, &answer, err))
        return false;
    *verdict = code_of(answer.gate);
    return true;
}

static bool read_sides(struct file_side sides[2], char *const *operands,
                       const struct compare_choices *chosen, struct arena *arena, struct err *err)
{
    struct cores cores;
    struct progress progress = {.cores = &cores};
    rank_files_share_cores(&cores, chosen->threads);
    struct file_side_options how = {.reading = {.command = options.command,
                                                .analysis = {.step_pattern = chosen->step_pattern,
                                                             .warmup_steps = -1,
                                                             .cores = &cores},
                                                .job_memory_bytes = chosen->job_memory_bytes,
                                                .progress = &progress},
                                    .slowest = strcmp(chosen->rank, "slowest") == 0,
                                    .base_rank = -1};
    const int64_t tokens[2] = {chosen->base_tokens, chosen->cand_tokens};
    for (int i = 0; i < 2; i++) {
        how.tokens_per_step = how.reading.analysis.tokens_per_step = tokens[i];
        if (!file_side_read(&sides[i], operands[i], &how, arena, err))
            return false;
        how.base_rank = sides[0].runs[0].which.number;
    }
    return true;
}

bool cmd_compare(int argc, char **argv, int *verdict, struct err *err)
{
    struct compare_choices chosen = {0};
    struct option_args args;
    struct file_side sides[2] = {{0}};
    struct arena arena;
    if (!options_parse(&options, argc, argv, &chosen, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    if (!check_limits(&chosen, err))
        return false;
    if (args.operand_count != 2)
        return err_set(err, ERR_USAGE,
                       "expected two sides, found %d; join repeats of one by commas, see --help",
                       args.operand_count);
    arena_init(&arena, NULL);
    bool ok = read_sides(sides, args.operands, &chosen, &arena, err) &&
              judge(sides, &chosen, &arena, verdict, err);
    for (int i = 0; i < 2; i++)
        file_side_free(&sides[i]);
    arena_free(&arena);
    return ok;
}
