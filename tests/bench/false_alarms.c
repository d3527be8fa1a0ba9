// SPDX-License-Identifier: Apache-2.0
// How often verdicts, gates, rows and change points are wrong, and what they find: one table each.
#include "analysis/stats/anytime.h"
#include "analysis/stats/change_points.h"
#include "analysis/stats/significance.h"
#include "analysis/stats/verdict.h"
#include "tests/unit/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS    16
#define MOST_HISTORY 64
#define ROWS         200
#define SERIES_RUNS  100
#define MOST_DELAY   40
#define MOST_PAIRS   30

static const char *const kind_names[NOISE_KINDS] = {"normal", "heavy tails (t, 3)", "skewed",
                                                    "5 % of outliers"};

static void check(bool done, const struct err *err)
{
    if (done)
        return;
    fprintf(stderr, "false_alarms: %s\n", err->msg);
    exit(EXIT_FAILURE);
}

// --- verdict and gate ---------------------------------------------------------------------------

struct scene {
    enum noise_kind kind;
    double shift;
    size_t base, cand; // runs per side
    size_t history;
};

struct rates {
    double significant, relevant, covered;
    double gates[3]; // at 3 %
};

static struct judgement judge(struct noise *noise, const struct scene *scene)
{
    double base[MOST_RUNS], cand[MOST_RUNS], past[MOST_HISTORY];
    noise_fill(noise, scene->kind, 0, past, scene->history);
    noise_fill(noise, scene->kind, 0, base, scene->base);
    noise_fill(noise, scene->kind, scene->shift, cand, scene->cand);
    struct verdict_limits limits = verdict_default_limits();
    struct judgement judgement;
    struct err err = {0};
    const struct verdict_history history = {.runs = {past, scene->history}};
    check(verdict_judge((struct samples){base, scene->base}, (struct samples){cand, scene->cand},
                        &history, &limits, &judgement, &err),
          &err);
    return judgement;
}

static struct rates rates_of(const struct scene *scene, int rounds)
{
    struct noise noise = {1};
    struct rates rates = {0};
    double each = 1 / (double)rounds;
    for (int round = 0; round < rounds; round++) {
        struct judgement judgement = judge(&noise, scene);
        rates.significant += judgement.verdict == VERDICT_SIGNIFICANT ? each : 0;
        rates.relevant += judgement.relevant ? each : 0;
        rates.gates[verdict_gate(&judgement, 0.03)] += each;
        bool covered = judgement.low_share <= scene->shift && scene->shift <= judgement.high_share;
        rates.covered += judgement.has_interval && covered ? each : 0;
    }
    return rates;
}

static void print_verdict_row(const struct scene *scene, int rounds)
{
    struct rates rates = rates_of(scene, rounds);
    printf("| %-18s | %2zu | %2zu | %3.0f %% | %5.1f %% | %5.1f %% | %5.1f %% | %5.1f / %5.1f / "
           "%5.1f %% |\n",
           kind_names[scene->kind], scene->base, scene->history, 100 * scene->shift,
           100 * rates.significant, 100 * rates.relevant, 100 * rates.covered,
           100 * rates.gates[GATE_PASS], 100 * rates.gates[GATE_FAIL],
           100 * rates.gates[GATE_UNDECIDED]);
}

static void print_shifts(enum noise_kind kind, size_t runs, size_t history, int rounds)
{
    static const double shifts[] = {0, 0.01, 0.02, 0.03, 0.05};
    size_t count = kind == NOISE_NORMAL ? 5 : 3;
    for (size_t i = 0; i < count; i++)
        print_verdict_row(&(struct scene){kind, shifts[i], runs, runs, history}, rounds);
}

static void print_verdicts(int rounds)
{
    static const size_t sides[][2] = {{1, 8}, {1, 16}, {1, 64}, {3, 16}, {4, 0},
                                      {5, 0}, {6, 0},  {8, 0},  {16, 0}};
    printf("Verdict and gate (3 %%), step times with 1 %% noise from run to run\n\n"
           "| noise | runs a side | history | slower by | significant | relevant | interval holds "
           "| gate passes / fails / undecided |\n|---|---|---|---|---|---|---|---|\n");
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
            print_shifts(kind, sides[i][0], sides[i][1], rounds);
}

// --- gates --------------------------------------------------------------------------------------

// The former rule: the whole interval is within the limit.
static enum gate gate_by_interval(const struct judgement *judgement, double limit)
{
    struct judgement old = *judgement;
    old.bound_share = old.high_share;
    if (old.has_interval && old.high_share <= limit)
        old.shift_share = fmin(old.shift_share, limit);
    return verdict_gate(&old, limit);
}

static void print_gate_row(const struct scene *scene, int rounds)
{
    struct noise noise = {1};
    double old[3] = {0}, now[3] = {0};
    for (int round = 0; round < rounds; round++) {
        struct judgement judgement = judge(&noise, scene);
        old[gate_by_interval(&judgement, 0.03)] += 100 / (double)rounds;
        now[verdict_gate(&judgement, 0.03)] += 100 / (double)rounds;
    }
    printf("| %-18s | %zu against %zu | %.0f %% | %5.1f / %5.1f / %5.1f | %5.1f / %5.1f / %5.1f "
           "|\n",
           kind_names[scene->kind], scene->base, scene->cand, 100 * scene->shift, now[GATE_PASS],
           now[GATE_FAIL], now[GATE_UNDECIDED], old[GATE_PASS], old[GATE_FAIL],
           old[GATE_UNDECIDED]);
}

static void print_gates(int rounds)
{
    static const double shifts[] = {0, 0.02, 0.03, 0.05};
    static const size_t sides[][2] = {{4, 4}, {5, 5}, {8, 8}, {3, 5}, {2, 8}};
    printf("\nGate at 3 %%: passes / fails / undecided, by the bound and by the whole interval\n\n"
           "| noise | runs | slower by | bound | interval |\n|---|---|---|---|---|\n");
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
            for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++)
                print_gate_row(&(struct scene){kind, shifts[k], sides[i][0], sides[i][1], 0},
                               rounds);
}

// The sequential test, read after each pair of runs until it decides.
static enum anytime_result read_pairs(struct noise *noise, const struct scene *scene, size_t *pairs)
{
    double base[MOST_PAIRS], cand[MOST_PAIRS];
    enum anytime_result result = ANYTIME_UNDECIDED;
    for (*pairs = 0; *pairs < MOST_PAIRS && result == ANYTIME_UNDECIDED; ++*pairs) {
        base[*pairs] = 0.01 * noise_of_kind(noise, scene->kind);
        cand[*pairs] = log1p(scene->shift) + 0.01 * noise_of_kind(noise, scene->kind);
        result = anytime_judge((struct samples){base, *pairs + 1},
                               (struct samples){cand, *pairs + 1}, log1p(0.03), 0.05)
                     .result;
    }
    return result;
}

static void print_anytime_row(const struct scene *scene, int rounds)
{
    struct noise noise = {5};
    double results[3] = {0}, by[MOST_PAIRS + 1] = {0};
    for (int round = 0; round < rounds; round++) {
        size_t pairs;
        enum anytime_result result = read_pairs(&noise, scene, &pairs);
        results[result] += 100 / (double)rounds;
        for (size_t i = pairs; i <= MOST_PAIRS && result != ANYTIME_UNDECIDED; i++)
            by[i] += 100 / (double)rounds;
    }
    printf("| %-18s | %.0f %% | %5.1f | %5.1f | %5.1f | %3.0f | %3.0f | %3.0f | %3.0f |\n",
           kind_names[scene->kind], 100 * scene->shift, results[ANYTIME_BELOW],
           results[ANYTIME_ABOVE], results[ANYTIME_UNDECIDED], by[3], by[4], by[5], by[8]);
}

static void print_anytime(int rounds)
{
    static const double shifts[] = {0, 0.02, 0.03, 0.04, 0.05};
    printf(
        "\nSequential test at 3 %%, read after each of %d pairs, in %%\n\n"
        "| noise | slower by | ever passes | ever fails | undecided | decided by 3 | by 4 | by 5 "
        "| by 8 pairs |\n|---|---|---|---|---|---|---|---|---|\n",
        MOST_PAIRS);
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
            print_anytime_row(&(struct scene){.kind = kind, .shift = shifts[i]}, rounds);
}

// --- rows ---------------------------------------------------------------------------------------

struct row_scene {
    size_t runs, slower; // rows that are slower
    double shift;        // by this much
    double common;       // noise common to all rows of a run
};

static void fill_rows(struct noise *noise, const struct row_scene *scene, double *times)
{
    double together[2 * MOST_RUNS];
    for (size_t run = 0; run < 2 * scene->runs; run++)
        together[run] = scene->common * noise_normal(noise);
    for (size_t row = 0; row < ROWS; row++) {
        double deviation = 0.01 * exp(0.5 * noise_normal(noise));
        for (size_t run = 0; run < 2 * scene->runs; run++) {
            double shift = row < scene->slower && run >= scene->runs ? scene->shift : 0;
            double log_time = shift + together[run] + deviation * noise_normal(noise);
            times[row * 2 * scene->runs + run] = 1e6 * exp(log_time);
        }
    }
}

static void print_rows_row(const struct row_scene *scene, int rounds)
{
    static double times[ROWS * 2 * MOST_RUNS];
    static struct row_test tests[ROWS];
    struct noise noise = {2};
    struct err err = {0};
    double any = 0, wrong_share = 0, found = 0;
    for (int round = 0; round < rounds; round++) {
        fill_rows(&noise, scene, times);
        check(significance_rows(times, ROWS, scene->runs, scene->runs, tests, &err), &err);
        size_t right = 0, wrong = 0;
        for (size_t i = 0; i < ROWS; i++) {
            bool reported = tests[i].q_value <= 0.05;
            right += reported && i < scene->slower;
            wrong += reported && i >= scene->slower;
        }
        any += wrong > 0;
        wrong_share += right + wrong ? (double)wrong / (double)(right + wrong) : 0;
        found += scene->slower ? (double)right / (double)scene->slower : 0;
    }
    printf("| %zu | %zu of %d | %2.0f %% | %.0f %% | %4.1f %% | %4.1f %% | %5.1f %% |\n",
           scene->runs, scene->slower, ROWS, 100 * scene->shift, 100 * scene->common,
           100 * any / rounds, 100 * wrong_share / rounds, 100 * found / rounds);
}

static void print_rows(int rounds)
{
    static const struct row_scene scenes[] = {
        {3, 0, 0, 0},      {5, 0, 0, 0},    {5, 0, 0, 0.01},  {3, 1, 0.10, 0},    {5, 1, 0.05, 0},
        {5, 1, 0.10, 0},   {5, 1, 0.20, 0}, {3, 20, 0.10, 0}, {5, 20, 0.05, 0},   {5, 20, 0.10, 0},
        {5, 1, 0.1, 0.01}, {3, 0, 0, 0.01}, {5, 0, 0, 0.03},  {5, 20, 0.05, 0.01}};
    printf("\nRows: q <= 5 %%, noise of each row 0.3 to 3 %% (median 1 %%)\n\n"
           "| runs a side | slower rows | by | noise all share | any false row | false of reported "
           "| found |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        print_rows_row(&scenes[i], rounds);
}

// --- change points ------------------------------------------------------------------------------

static size_t find_points(const double *step_ns, size_t count, size_t *last)
{
    struct arena arena;
    struct err err = {0};
    struct change_point *points;
    size_t found;
    arena_init(&arena, NULL);
    check(change_points_find(step_ns, count, &arena, &points, &found, &err), &err);
    *last = found ? points[found - 1].at : 0;
    arena_free(&arena);
    return found;
}

static void correlate(double *step_ns, size_t count, double r)
{
    for (size_t i = 1; i < count; i++)
        step_ns[i] =
            1e8 * exp(r * log(step_ns[i - 1] / 1e8) + sqrt(1 - r * r) * log(step_ns[i] / 1e8));
}

static void print_quiet_series(enum noise_kind kind, double correlation, int rounds)
{
    struct noise noise = {3};
    double step_ns[SERIES_RUNS];
    int ever = 0, at_end = 0;
    for (int round = 0; round < rounds; round++) {
        noise_fill(&noise, kind, 0, step_ns, SERIES_RUNS);
        correlate(step_ns, SERIES_RUNS, correlation);
        size_t found = 0, last, grown = 0;
        for (size_t count = 1; count <= SERIES_RUNS; count++) {
            found = find_points(step_ns, count, &last);
            grown += found > 0;
        }
        ever += grown > 0;
        at_end += found > 0;
    }
    printf("| %-18s | %.1f | %4.1f %% | %4.1f %% |\n", kind_names[kind], correlation,
           100.0 * ever / rounds, 100.0 * at_end / rounds);
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static size_t delay_of(struct noise *noise, size_t before, double shift)
{
    double step_ns[SERIES_RUNS];
    noise_fill(noise, NOISE_NORMAL, 0, step_ns, before);
    noise_fill(noise, NOISE_NORMAL, shift, step_ns + before, MOST_DELAY);
    for (size_t delay = 1; delay <= MOST_DELAY; delay++) {
        size_t last, found = find_points(step_ns, before + delay, &last);
        if (found && last + 2 >= before && last <= before + 2)
            return delay;
    }
    return MOST_DELAY + 1;
}

static void print_delay(size_t before, double shift, size_t rounds)
{
    struct noise noise = {4};
    size_t *delays = calloc(rounds, sizeof *delays), missed = 0;
    if (!delays)
        return;
    for (size_t round = 0; round < rounds; round++) {
        delays[round] = delay_of(&noise, before, shift);
        missed += delays[round] > MOST_DELAY;
    }
    qsort(delays, rounds, sizeof *delays, compare_sizes);
    printf("| %zu | %.0f %% | %zu | %zu | %4.1f %% |\n", before, 100 * shift, delays[rounds / 2],
           delays[rounds * 9 / 10], 100 * (double)missed / (double)rounds);
    free(delays);
}

static void print_series(int rounds)
{
    printf(
        "\nChange points: series of %d runs without a change, judged after every run\n\n"
        "| noise | correlation of neighbors | false alarm at any point | false alarm at the end |\n"
        "|---|---|---|---|\n",
        SERIES_RUNS);
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        print_quiet_series(kind, 0, rounds);
    print_quiet_series(NOISE_NORMAL, 0.3, rounds);
    print_quiet_series(NOISE_NORMAL, 0.5, rounds);
    print_quiet_series(NOISE_NORMAL, 0.7, rounds);
    printf("\nDelay: runs of the new level until it is detected within two runs of where it "
           "started, 1 "
           "%% noise; %d "
           "at most\n\n| runs before | change | median | 90 %% within | missed |\n"
           "|---|---|---|---|---|\n",
           MOST_DELAY);
    for (size_t before = 10; before <= 50; before += 20)
        for (int percent = 1; percent <= 5; percent++)
            print_delay(before, percent / 100.0, (size_t)rounds);
}

struct part {
    const char *name;
    void (*print)(int rounds);
    int share; // of the rounds, as series take long
};

int main(int argc, char **argv)
{
    static const struct part parts[] = {{"verdicts", print_verdicts, 1},
                                        {"gates", print_gates, 1},
                                        {"anytime", print_anytime, 1},
                                        {"rows", print_rows, 2},
                                        {"series", print_series, 10}};
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    if (argc > 3 || rounds < 100 || rounds > 10000000) {
        fprintf(stderr, "usage: false_alarms [ROUNDS, 10000, at least 100 [PART]]\n");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 3 || strcmp(argv[2], parts[i].name) == 0)
            parts[i].print((int)rounds / parts[i].share);
    return EXIT_SUCCESS;
}
