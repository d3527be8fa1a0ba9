// SPDX-License-Identifier: Apache-2.0
// The three lines of a gate: what a tired person reads, for each kind of answer.
#include "server/compare/gate.h"

#include "analysis/report/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MS = 1000000 };

struct fixture {
    struct arena arena;
    struct report report, ranks[2]; // of the comparison, and of the base's and candidate's rank
    struct compare_run runs[2][4];
    struct compare_side sides[2];
    struct gate_question question;
    struct gate_answer answer;
    struct err err;
};

static void set_up(struct fixture *f)
{
    static const char *const names[2] = {"main@1", "pr@1"};
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, NULL);
    f->report.arena = &f->arena;
    for (int side = 0; side < 2; side++) {
        f->ranks[side].arena = &f->arena;
        for (int i = 0; i < 4; i++)
            f->runs[side][i] =
                (struct compare_run){.name = str_of(names[side]), .rank = &f->ranks[side]};
        f->sides[side] = (struct compare_side){.runs = f->runs[side], .run_count = 1};
    }
    f->question = (struct gate_question){
        .pair = {.report = &f->report, .cand = 1, .base = &f->sides[0], .side = &f->sides[1]},
        .limits = verdict_default_limits(),
        .max_regression = 0.03};
}

static void tear_down(struct fixture *f)
{
    arena_free(&f->arena);
}

// --- rows ---------------------------------------------------------------------------------------

// A cell by its column's name.
struct given {
    const char *column;
    struct cell cell;
};

#define END  ((struct given){0})
#define I(n) cell_i64(n)
#define F(n) cell_f64(n)
#define T(s) cell_text(STR(s))

static void add(struct fixture *f, struct report *report, const struct table_desc *desc,
                const struct given *given)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    for (; given->column; given++)
        row[table_column(desc, str_of(given->column))] = given->cell;
    assert_true(report_add(report, desc, row, &f->err));
}

static void add_run(struct fixture *f, int64_t cand, int64_t median_ns)
{
    const struct given row[] = {{"cand", I(cand)}, {"step_median_ns", I(median_ns)}, END};
    add(f, &f->report, &table_compare_runs, row);
}

// A judged shift from 500 ms.
struct judged_shift {
    double share, low, high, p_value, threshold;
    const char *verdict, *method;
    bool no_steps[2]; // of base and candidate
    const char *doubts;
};

static struct cell share_cell(double value)
{
    return isnan(value) ? cell_null() : cell_f64(value);
}

static void add_summary(struct fixture *f, struct judged_shift shift)
{
    int64_t delta_ns = llround(500.0 * (double)MS * shift.share);
    const struct given row[] = {
        {"cand", I(1)},
        {"base_step_ns", I((int64_t)500 * MS)},
        {"cand_step_ns", I((int64_t)500 * MS + delta_ns)},
        {"shift_ns", I(delta_ns)},
        {"shift_share", F(shift.share)},
        {"shift_low_share", share_cell(shift.low)},
        {"shift_high_share", share_cell(shift.high)},
        {"p_value", share_cell(shift.p_value)},
        {"threshold_share", share_cell(shift.threshold)},
        {"verdict", cell_text(str_of(shift.verdict))},
        {"method", cell_text(str_of(shift.method))},
        {"relevant", cell_bool(true)},
        {"relevant_from_ns", I(1 * MS)},
        {"base_steps", I(10)},
        {"cand_steps", I(10)},
        {"base_no_steps", cell_bool(shift.no_steps[0])},
        {"cand_no_steps", cell_bool(shift.no_steps[1])},
        {"delta_mean_ns", I(delta_ns)},
        {"doubts", shift.doubts ? cell_text(str_of(shift.doubts)) : cell_null()},
        END};
    add(f, &f->report, &table_compare_summary, row);
}

static void add_reason(struct fixture *f, const char *kind, struct str title, int64_t delta_ns)
{
    const struct given row[] = {{"cand", I(1)},
                                {"kind", cell_text(str_of(kind))},
                                {"title", cell_text(title)},
                                {"delta_ns", I(delta_ns)},
                                {"why", delta_ns == 14500000 ? T("Only pr\x1b runs it") : T("")},
                                END};
    add(f, &f->report, &table_compare_reasons, row);
}

static void add_setting(struct fixture *f, const char *key, bool differs)
{
    const struct given row[] = {
        {"cand", I(1)}, {"key", cell_text(str_of(key))}, {"differs", cell_bool(differs)}, END};
    add(f, &f->report, &table_compare_settings, row);
}

static void assert_lines(struct fixture *f, enum gate gate, const char *const lines[GATE_LINES])
{
    assert_true(gate_answer(&f->question, &f->arena, &f->answer, &f->err));
    for (int i = 0; i < GATE_LINES; i++)
        assert_string_equal(f->answer.lines[i], lines[i]);
    assert_int_equal(f->answer.gate, gate);
}

// --- answers ------------------------------------------------------------------------------------

static const struct judged_shift regression = {.share = 0.041,
                                               .low = 0.032,
                                               .high = 0.05,
                                               .p_value = 0.0286,
                                               .threshold = NAN,
                                               .verdict = "significant",
                                               .method = "mann_whitney"};

static void add_repeats(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        add_run(f, 0, (int64_t)500 * MS + i);
        add_run(f, 1, (int64_t)520 * MS + i);
    }
    f->sides[0].run_count = f->sides[1].run_count = 4;
}

static void a_regression_fails_with_its_parts_and_its_evidence(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, regression);
    add_reason(&f, "operator", STR("aten::mm"), 14500000);
    add_reason(&f, "operator", STR("flash_attn"), -900000);
    add_reason(&f, "collective", STR("all_reduce"), 4100000);
    add_reason(&f, "cause", STR("data_loading"), 2200000);
    add_setting(&f, "torch", true);
    add_setting(&f, "gpu_name", false);
    assert_lines(
        &f, GATE_FAIL,
        (const char *const[]){
            "fail: a step of pr@1 and 3 more runs takes 4.1 % longer than one of main@1 and 3 more "
            "runs over all pairs of runs (medians 520 ms and 500 ms), with 95 % confidence +3.2 % "
            "to "
            "+5.0 %; the limit is "
            "+3.0 %",
            "why: aten::mm +14.5 ms (71 % of the mean step's +20.5 ms), exposed all_reduce +4.10 "
            "ms (20 %), idle by data loading +2.20 ms (11 %). aten::mm: Only pr? runs it",
            "evidence: 4 runs per side, exact Mann-Whitney p = 0.029 (significant up to 0.05); "
            "settings that differ: torch; the page shows every part; if the change is meant, pin "
            "the candidate as the new baseline"});
    tear_down(&f);
}

static void ranks_that_represent_the_sides_are_named(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, regression);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 4; i++)
            f.runs[side][i].which = (struct compare_rank){side, 8};
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_non_null(strstr(f.answer.lines[2], "; on rank 0 of the base and rank 1 of the candid"));
    tear_down(&f);
}

static void a_change_within_the_limit_passes(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, (struct judged_shift){.share = -0.0004,
                                          .low = -0.004,
                                          .high = 0.011,
                                          .p_value = 0.69,
                                          .threshold = NAN,
                                          .verdict = "within noise",
                                          .method = "mann_whitney"});
    add_reason(&f, "operator", STR("aten::mm"), -150000);
    assert_lines(
        &f, GATE_PASS,
        (const char *const[]){
            "pass: a step of pr@1 and 3 more runs takes 0.04 % less than one of main@1 and 3 more "
            "runs over all pairs of runs (medians 500 ms and 500 ms), with 95 % confidence at most "
            "-0.04 %; the limit is "
            "+3.0 %",
            "why: within noise; the largest parts of the difference are aten::mm -0.150 ms (75 % "
            "of the mean step's -0.200 ms)",
            "evidence: 4 runs per side, exact Mann-Whitney p = 0.69 (significant up to 0.05)"});
    tear_down(&f);
}

static void one_run_per_side_is_undecided_and_says_what_to_upload(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_run(&f, 0, (int64_t)500 * MS);
    add_run(&f, 1, (int64_t)510 * MS);
    add_summary(&f, (struct judged_shift){.share = 0.02,
                                          .low = NAN,
                                          .high = NAN,
                                          .p_value = NAN,
                                          .threshold = NAN,
                                          .verdict = "noise unknown",
                                          .method = "none"});
    assert_lines(
        &f, GATE_UNDECIDED,
        (const char *const[]){
            "undecided: a step of pr@1 takes 2.0 % longer than one of main@1 (510 ms against 500 "
            "ms); the limit is +3.0 %, and the noise between runs is unknown",
            "why: no operator, collective or cause of idle time changed by 1 us or more",
            "noise unknown: 1 run per side, 0 of 8 earlier runs in the base's series; upload 3 "
            "more repeats of the base, each as a new main@N, and 3 more repeats of the candidate, "
            "each as a new pr@N, and ask with base=main@* and cand=pr@*"});
    f.question.of_files = true;
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_string_equal(f.answer.lines[2],
                        "noise unknown: 1 run per side; give 3 more repeats of the base and 3 of "
                        "the candidate, as A,B,...");
    f.question.of_files = false;
    f.runs[1][0].name = STR("main@2"); // a single series, of which only the candidate lacks repeats
    for (int i = 0; i < 4; i++)
        add_run(&f, 0, (int64_t)(500 + i) * MS);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_string_equal(f.answer.lines[2],
                        "noise unknown: 5 runs of the base, 1 of the candidate, 0 of 8 runs in "
                        "the base's series; upload 2 more repeats of the candidate, and "
                        "ask with the names of each side's runs joined by commas");
    tear_down(&f);
}

static void the_history_of_the_series_is_evidence_of_a_single_run(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.sides[0].history_count = 12;
    add_run(&f, 0, (int64_t)500 * MS);
    add_run(&f, 1, (int64_t)550 * MS);
    add_summary(&f, (struct judged_shift){.share = 0.1,
                                          .low = 0.088,
                                          .high = 0.112,
                                          .p_value = NAN,
                                          .threshold = 0.012,
                                          .verdict = "significant",
                                          .method = "history"});
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_int_equal(f.answer.gate, GATE_FAIL);
    assert_non_null(strstr(f.answer.lines[0],
                           ", with the usual noise of the series +8.8 % to +11.2 %; the limit"));
    assert_non_null(strstr(f.answer.lines[2],
                           "evidence: 1 run per side, against 12 runs of the base's series, "
                           "which differ by up to 1.2 % from one to the next without a cause"));
    tear_down(&f);
}

static void the_same_run_on_both_sides_passes(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.sides[1] = f.sides[0];
    add_run(&f, 0, (int64_t)500 * MS);
    add_run(&f, 1, (int64_t)500 * MS);
    add_summary(&f, (struct judged_shift){.share = 0,
                                          .low = 0,
                                          .high = 0,
                                          .p_value = 1,
                                          .threshold = NAN,
                                          .verdict = "within noise",
                                          .method = "equal"});
    assert_lines(
        &f, GATE_PASS,
        (const char *const[]){
            "pass: a step of main@1 takes no longer than one of main@1 (500 ms against 500 ms); "
            "the limit is +3.0 %",
            "why: no operator, collective or cause of idle time changed by 1 us or more",
            "evidence: 1 run per side, all with the same step times"});
    tear_down(&f);
}

// Two pairs of runs: the rank test needs four of each; the sequential test says how many it
// expects.
static void the_sequential_test_says_what_it_still_needs(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    for (int i = 0; i < 2; i++) {
        add_run(&f, 0, (int64_t)(500 + 5 * i) * MS);
        add_run(&f, 1, (int64_t)(500 + 5 * i) * MS);
    }
    f.question.sequential = true;
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_int_equal(f.answer.gate, GATE_UNDECIDED);
    assert_true(f.answer.anytime.has_forecast && f.answer.anytime.more_pairs > 0);
    char expected[80];
    snprintf(expected, sizeof expected, "20 decides, expected with %zu more run",
             f.answer.anytime.more_pairs);
    assert_non_null(strstr(f.answer.lines[2], expected));
    for (int i = 0; i < 8; i++) {
        add_run(&f, 0, (int64_t)(500 + 5 * (i % 2)) * MS);
        add_run(&f, 1, (int64_t)(500 + 5 * (i % 2)) * MS);
    }
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_int_equal(f.answer.gate, GATE_PASS);
    assert_non_null(strstr(f.answer.lines[0], ", by the sequential test; the limit is +3.0 %"));
    struct buf json = {0};
    gate_anytime_json(f.question.limits.alpha, &f.answer, &json);
    assert_non_null(strstr(json.at, "{\"result\":\"pass\",\"pass_evidence\":"));
    assert_non_null(strstr(json.at, ",\"decides_from\":20,\"more_pairs\":0}"));
    buf_free(&json);
    tear_down(&f);
}

static void a_side_without_steps_is_undecided_and_says_so(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    const struct given row[] = {{"cand", I(1)},
                                {"base_step_ns", I((int64_t)500 * MS)},
                                {"verdict", T("noise unknown")},
                                {"method", T("none")},
                                END};
    add_run(&f, 0, (int64_t)500 * MS);
    add_reason(&f, "operator", STR("aten::mm"), -(int64_t)300 * MS);
    add(&f, &f.report, &table_compare_summary, row);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_int_equal(f.answer.gate, GATE_UNDECIDED);
    assert_string_equal(f.answer.lines[0], "undecided: the candidate has no steady steps on a "
                                           "device, so there is nothing to compare");
    assert_string_equal(f.answer.lines[1],
                        "why: without steady steps the parts of a step are unknown");
    tear_down(&f);
}

static void doubts_come_before_the_figures(void **state)
{
    (void)state;
    struct fixture f;
    struct judged_shift shift = regression;
    shift.doubts = "no annotation of the base matches";
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, shift);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    const char *start = "fail: no annotation of the base matches; a step of pr@1";
    assert_memory_equal(f.answer.lines[0], start, strlen(start));
    tear_down(&f);
}

static void recordings_without_steps_are_called_that(void **state)
{
    (void)state;
    static const struct {
        bool base, cand, repeats;
        const char *parts[3]; // of the lines
    } rows[] = {
        {false, false, true, {"a step of pr@1", "the mean step's", "0.05)"}},
        {true, true, true, {"the recording of pr@1", "the mean recording's", "0.05)"}},
        {true, true, false, {"the recording of pr@1", "the recording's", "0.05)"}},
        {true,
         false,
         true,
         {"a step of pr@1", "the mean step's",
          "0.05); no step of the base is marked, so its whole recording counts as one"}},
        {false,
         true,
         true,
         {"a step of pr@1", "the mean step's",
          "0.05); no step of the candidate is marked, so its whole recording counts as one"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct judged_shift shift = regression;
        shift.no_steps[0] = rows[i].base;
        shift.no_steps[1] = rows[i].cand;
        set_up(&f);
        add_repeats(&f);
        if (!rows[i].repeats)
            f.sides[0].run_count = f.sides[1].run_count = 1;
        add_summary(&f, shift);
        add_reason(&f, "operator", STR("aten::mm"), 30 * MS);
        assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
        for (int line = 0; line < GATE_LINES; line++)
            assert_non_null(strstr(f.answer.lines[line], rows[i].parts[line]));
        assert_int_equal(strstr(f.answer.lines[2], "is marked") != NULL,
                         rows[i].base != rows[i].cand);
        tear_down(&f);
    }
}

static void parts_that_go_against_the_difference_are_reported(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, regression);
    add_reason(&f, "operator", STR("aten::mm"), 30 * MS);
    add_reason(&f, "operator", STR("aten::bmm"), 100000);
    add_reason(&f, "operator", STR("flash_attn"), -9 * MS);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_string_equal(f.answer.lines[1], "why: aten::mm +30.0 ms (146 % of the mean step's +20.5 "
                                           "ms); against that flash_attn -9.00 ms");
    tear_down(&f);
}

static void names_from_traces_can_command_no_terminal(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    add_repeats(&f);
    add_summary(&f, regression);
    add_reason(&f, "operator", STR("evil\x1b[2J\r\n\xff op"), 14500000);
    add_reason(&f, "operator",
               STR("a name that is far longer than what anybody would like to read in a "
                   "line of a log of a job, and goes on"),
               2000000);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    for (int i = 0; i < GATE_LINES; i++) {
        struct str line = str_of(f.answer.lines[i]);
        assert_int_equal(str_valid_utf8(line), line.len);
        for (size_t c = 0; c < line.len; c++)
            assert_true((unsigned char)line.at[c] >= ' ' && line.at[c] != 0x7f);
    }
    assert_non_null(strstr(f.answer.lines[1], "evil?[2J??? op"));
    assert_non_null(strstr(f.answer.lines[1], "... +2.00 ms"));
    tear_down(&f);
}

// The gate's answer for a figure of four runs a side.
static struct gate_answer answer_metric(const char *name, double base, double cand,
                                        struct arena *arena)
{
    double values[2][4];
    struct gate_answer answer;
    struct err err;
    for (int i = 0; i < 4; i++) {
        values[0][i] = base * (1 + 0.001 * i);
        values[1][i] = cand * (1 + 0.001 * i);
    }
    struct gate_metric question = {.figure = run_figure_named(str_of(name)),
                                   .values = {values[0], values[1]},
                                   .counts = {base > 0 ? 4 : 0, 4},
                                   .names = {"main", "pr"},
                                   .limits = verdict_default_limits(),
                                   .max_regression = 0.03};
    assert_true(gate_metric_answer(&question, arena, &answer, &err));
    return answer;
}

static void figures_are_judged_by_what_is_better(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    const struct gate_answer slower = answer_metric("mfu", 0.5, 0.4, &arena);
    assert_int_equal(slower.gate, GATE_FAIL);
    assert_non_null(strstr(slower.lines[0],
                           "fail: MFU of pr is 20.0 % worse than that of main over all pairs of "
                           "runs (medians 40.1 % and 50.1 %), with 95 % confidence "));
    assert_int_equal(answer_metric("mfu", 0.4, 0.5, &arena).gate, GATE_PASS);
    assert_int_equal(answer_metric("memory_bytes", 5e10, 6e10, &arena).gate, GATE_FAIL);
    assert_int_equal(answer_metric("memory_bytes", 6e10, 5e10, &arena).gate, GATE_PASS);
    const struct gate_answer zero = answer_metric("mfu", 0.5, 0, &arena);
    assert_int_equal(zero.gate, GATE_UNDECIDED);
    assert_string_equal(zero.lines[0], "undecided: MFU is 0 in 4 runs of the candidate; a share of "
                                       "it cannot be judged");
    const struct gate_answer unknown = answer_metric("mfu", 0, 0.5, &arena);
    assert_int_equal(unknown.gate, GATE_UNDECIDED);
    assert_false(unknown.has_steps);
    arena_free(&arena);
}

static void figures_from_two_sources_are_not_compared(void **state)
{
    (void)state;
    struct arena arena;
    struct gate_answer answer;
    struct err err;
    arena_init(&arena, NULL);
    const double logged[] = {0.4, 0.41, 0.42, 0.43};
    struct gate_metric question = {.figure = run_figure_named(STR("mfu")),
                                   .values = {logged, logged},
                                   .counts = {0, 4},
                                   .names = {"main", "pr"},
                                   .sources = {STR("trace"), STR("log")},
                                   .limits = verdict_default_limits(),
                                   .max_regression = 0.03};
    assert_true(gate_metric_answer(&question, &arena, &answer, &err));
    assert_int_equal(answer.gate, GATE_UNDECIDED);
    assert_string_equal(answer.lines[0],
                        "undecided: MFU of pr is from the log, that of main from the trace, which "
                        "may measure it differently, so there is nothing to compare");
    arena_free(&arena);
}

static void which_runs_of_a_series_are_the_base_is_said(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.question.base_note = "of main@* the 1 run since main@9 counts";
    add_run(&f, 0, (int64_t)500 * MS);
    add_run(&f, 1, (int64_t)510 * MS);
    assert_true(gate_answer(&f.question, &f.arena, &f.answer, &f.err));
    assert_non_null(strstr(f.answer.lines[2], "; of main@* the 1 run since main@9 counts; "));
    tear_down(&f);
}

static struct gate_answer answer_values(struct gate_metric *question, struct arena *arena)
{
    struct gate_answer answer;
    struct err err;
    question->names[0] = "main";
    question->names[1] = "pr";
    question->limits = verdict_default_limits();
    assert_true(gate_metric_answer(question, arena, &answer, &err));
    return answer;
}

static void a_pass_of_a_figure_names_the_bound_that_decides(void **state)
{
    (void)state;
    static const double base[] = {400, 402, 399, 401}, cand[] = {397, 400.8, 394, 398.5};
    struct arena arena;
    arena_init(&arena, NULL);
    struct gate_metric question = {.figure = run_figure_named(STR("tflops_per_gpu")),
                                   .values = {base, cand},
                                   .counts = {4, 4},
                                   .max_regression = 0.015};
    const struct gate_answer answer = answer_values(&question, &arena);
    assert_int_equal(answer.gate, GATE_PASS);
    assert_string_equal(
        answer.lines[0],
        "pass: TFLOP/s per GPU of pr is 0.7 % worse than that of main over all pairs of "
        "runs (medians 397.7 TFLOP/s and 400.5 TFLOP/s), with 95 % confidence at "
        "most +1.5 % worse; the limit is "
        "+1.5 %");
    arena_free(&arena);
}

// Equal as printed: one value a side proves nothing, two do.
static void one_rounded_value_a_side_is_no_proof(void **state)
{
    (void)state;
    static const double values[] = {5e8, 5e8};
    struct arena arena;
    arena_init(&arena, NULL);
    struct gate_metric question = {
        .figure = run_figure_named(STR("step_ns")), .values = {values, values}, .counts = {1, 1}};
    const struct gate_answer alone = answer_values(&question, &arena);
    assert_int_equal(alone.gate, GATE_UNDECIDED);
    assert_string_equal(alone.lines[0],
                        "undecided: Step time of pr is the same as that of main (500.0 ms against "
                        "500.0 ms); the limit is +0.0 %, and the noise between runs is unknown");
    assert_string_equal(alone.lines[2], "noise unknown: 1 run of the base, 1 of the candidate; 3 "
                                        "more runs of the base and 3 of the candidate would tell");
    question.counts[0] = question.counts[1] = 2;
    assert_int_equal(answer_values(&question, &arena).gate, GATE_PASS);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_judged_by_what_is_better),
        cmocka_unit_test(figures_from_two_sources_are_not_compared),
        cmocka_unit_test(which_runs_of_a_series_are_the_base_is_said),
        cmocka_unit_test(a_pass_of_a_figure_names_the_bound_that_decides),
        cmocka_unit_test(one_rounded_value_a_side_is_no_proof),
        cmocka_unit_test(a_regression_fails_with_its_parts_and_its_evidence),
        cmocka_unit_test(ranks_that_represent_the_sides_are_named),
        cmocka_unit_test(a_change_within_the_limit_passes),
        cmocka_unit_test(one_run_per_side_is_undecided_and_says_what_to_upload),
        cmocka_unit_test(the_history_of_the_series_is_evidence_of_a_single_run),
        cmocka_unit_test(the_same_run_on_both_sides_passes),
        cmocka_unit_test(the_sequential_test_says_what_it_still_needs),
        cmocka_unit_test(a_side_without_steps_is_undecided_and_says_so),
        cmocka_unit_test(doubts_come_before_the_figures),
        cmocka_unit_test(recordings_without_steps_are_called_that),
        cmocka_unit_test(parts_that_go_against_the_difference_are_reported),
        cmocka_unit_test(names_from_traces_can_command_no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
