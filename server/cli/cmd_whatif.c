// SPDX-License-Identifier: Apache-2.0
// stepscope whatif: replays trace files with changes and says how long their steps would take.
#include "server/cli/cmd.h"

#include "analysis/replay/whatif.h"
#include "analysis/stats/time_text.h"
#include "ingest/base/buf.h"
#include "ingest/ingest.h"
#include "server/cli/options.h"
#include "server/cli/shown.h"

#include <stddef.h>
#include <stdio.h>
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
    snprintf(summary, sizeof summary,
             "Replays traces of one rank each as graphs of what waited for what, and says how long "
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
    if (!base->refused)
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
    bool selects = question->list.count == 0;
    for (uint32_t c = 0; c < question->list.count; c++)
        selects = selects || answer->touched_ns[c] > 0;
    puts(selects ? "" : "  (selects nothing)");
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

static void put_head(struct buf *out, const char *path, const struct whatif *whatif,
                     const struct whatif_answer *base)
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
    put_refusal(out, base->refused);
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

// --- files --------------------------------------------------------------------------------------

static bool answer_all(const struct whatif *whatif, const char *path,
                       const struct questions *questions, struct buf *out, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct whatif_answer base, answer;
    struct arena arena;
    arena_init(&arena, whatif->facts->budget);
    bool ok = whatif_change(whatif, &nothing, &arena, &base, err);
    if (ok && out)
        put_head(out, path, whatif, &base);
    else if (ok)
        print_head(path, &base);
    for (uint32_t q = 0; ok && !base.refused && q < questions->count; q++) {
        ok = whatif_change(whatif, &questions->at[q].list, &arena, &answer, err);
        if (ok && out)
            buf_puts(out, q ? "," : "");
        if (ok && out)
            put_answer(out, &questions->at[q], &answer);
        else if (ok)
            print_answer(&questions->at[q], &answer);
    }
    if (ok && out)
        buf_puts(out, "]}");
    bool refused = ok && base.refused;
    arena_free(&arena);
    if (refused)
        err->code = ERR_FORMAT; // already printed: the message is empty
    return ok && !refused;
}

static bool replay_file(const char *path, const struct whatif_options *chosen,
                        const struct questions *questions, struct buf *out, struct err *err)
{
    struct budget budget = {.limit = chosen->job_memory_bytes};
    struct analysis_options analysis = {.step_pattern = chosen->step_pattern, .warmup_steps = -1};
    struct arena arena;
    struct facts facts;
    struct whatif whatif;
    struct trace *trace = ingest_file(path, &budget, NULL, err);
    if (!trace)
        return err_wrap(err, "%s", path);
    arena_init(&arena, &budget);
    bool ok = facts_make(trace, &analysis, &arena, &facts, err) &&
              whatif_open(&facts, &arena, &whatif, err);
    if (!ok)
        err_wrap(err, "%s", path);
    ok = ok && answer_all(&whatif, path, questions, out, err);
    arena_free(&arena);
    trace_free(trace);
    return ok;
}

static bool replay_files(const struct option_args *args, const struct whatif_options *chosen,
                         const struct questions *questions, struct err *err)
{
    bool as_json = strcmp(chosen->format, "json") == 0;
    struct buf out = {0};
    struct err first = {.code = ERR_NONE};
    buf_puts(&out, "{\"traces\":[\n");
    for (int i = 0; i < args->operand_count; i++) {
        struct err why = {.pos = ERR_NO_POS};
        buf_puts(&out, i ? ",\n" : "");
        bool ok = replay_file(args->operands[i], chosen, questions, as_json ? &out : NULL, &why);
        if (!ok && why.msg[0]) {
            buf_free(&out);
            *err = why;
            return false;
        }
        first = !ok && first.code == ERR_NONE ? why : first;
    }
    buf_puts(&out, "]}\n");
    bool ok = !as_json || (buf_ok(&out, err) && fwrite(out.at, 1, out.len, stdout) == out.len);
    buf_free(&out);
    if (!ok || fflush(stdout) != 0 || ferror(stdout))
        return err->code != ERR_NONE ? false : err_set_errno(err, "writing the result");
    err->code = first.code;
    return first.code == ERR_NONE;
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
