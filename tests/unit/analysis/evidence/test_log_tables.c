// SPDX-License-Identifier: Apache-2.0
// The tables of training logs: one sequence out of what was printed, and figures of it.
#include "analysis/evidence/evidence_report.h"
#include "analysis/evidence/loss_spikes.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000000)

struct fixture {
    struct budget budget;
    struct evidence evidence;
    struct arena arena;
    struct report report;
    struct err err;
    uint64_t pos; // of the next line
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.err = {.pos = ERR_NO_POS}};
    evidence_init(&f.evidence, &f.budget);
    arena_init(&f.arena, &f.budget);
    f.report = (struct report){.arena = &f.arena};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    evidence_free(&f->evidence);
    arena_free(&f->arena);
    assert_int_equal(f->budget.used, 0);
    return 0;
}

static struct log_step step_of(int64_t number, double step_s, double loss)
{
    struct log_step step = {.step = number, .time_ns = LOG_NO_TIME, .rank = -1};
    if (step_s > 0)
        log_step_set(&step, LOG_STEP_S, step_s);
    log_step_set(&step, LOG_LOSS, loss);
    return step;
}

static void print_step(struct fixture *f, struct log_step step)
{
    step.pos = f->pos;
    f->pos += 100;
    assert_true(log_book_add(&f->evidence, &step, &f->err));
}

static void print_event(struct fixture *f, enum log_event_kind kind, int64_t dur_ns)
{
    struct log_event event = {.kind = kind,
                              .after_step = LOG_NO_STEP,
                              .time_ns = LOG_NO_TIME,
                              .rank = -1,
                              .dur_ns = dur_ns,
                              .pos = f->pos,
                              .loss = NAN,
                              .text = STR("what happened")};
    f->pos += 100;
    assert_true(log_book_note(&f->evidence, &event, &f->err));
}

static const struct table *table_named(struct fixture *f, const char *name)
{
    if (f->report.table_count == 0)
        assert_true(evidence_report(&f->evidence, STR("train.log"), &f->report, &f->err));
    const struct table *table = report_find(&f->report, name);
    assert_non_null(table);
    return table;
}

static int64_t figure(struct fixture *f, unsigned column)
{
    return table_i64(table_named(f, "logs"), 0, column, -1);
}

// --- the sequence -------------------------------------------------------------------------------

static void lines_of_several_ranks_are_one_step(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 3; step++)
        for (int64_t rank = 0; rank < 4; rank++) {
            struct log_step printed = step_of(step, 1, 5);
            printed.rank = rank;
            log_step_set(&printed, LOG_MEMORY_BYTES, 100.0 + (double)(rank == 2 ? step : 0));
            print_step(f, printed);
        }
    assert_int_equal(figure(f, LOGS_STEPS), 3);
    assert_int_equal(figure(f, LOGS_RESTARTS), 0);
    assert_int_equal(figure(f, LOGS_MEMORY_BYTES), 103); // of another rank
}

// The last stage of a pipeline, after the first has printed as many steps.
static void of_ranks_with_as_many_steps_the_one_with_a_loss_counts(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 3; step++)
        for (int64_t rank = 0; rank < 2; rank++) {
            struct log_step printed = step_of(step, 1, 5);
            printed.rank = rank;
            if (!rank)
                printed.has &= ~(1u << LOG_LOSS);
            print_step(f, printed);
        }
    assert_int_equal(figure(f, LOGS_STEPS), 3);
    assert_true(table_f64(table_named(f, "logs"), 0, LOGS_LAST_LOSS, 0) == 5);
}

static void holes_in_the_file_are_said(void **state)
{
    struct fixture *f = *state;
    print_step(f, step_of(1, 1, 5));
    f->evidence.log.nul_bytes = 4096;
    assert_int_equal(figure(f, LOGS_STEPS), 1);
    assert_int_equal(trust_count(&f->report, "log_holes"), 4096);
}

static void lines_of_two_parts_of_a_job_are_one_step(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 3; step++) {
        struct log_step timer = {.step = step, .time_ns = LOG_NO_TIME, .rank = 0};
        struct log_step figures = step_of(step, 1, 5);
        log_step_set(&timer, LOG_MEMORY_BYTES, 100);
        figures.rank = 0;
        figures.more = true;
        print_step(f, timer);
        print_step(f, figures);
    }
    assert_int_equal(figure(f, LOGS_STEPS), 3);
    assert_int_equal(figure(f, LOGS_RESTARTS), 0);
    assert_int_equal(figure(f, LOGS_MEMORY_BYTES), 100);
    assert_true(table_f64(table_named(f, "logs"), 0, LOGS_LAST_LOSS, 0) == 5);
}

static void times_far_apart_are_no_step_times(void **state)
{
    struct fixture *f = *state;
    static const int64_t times[] = {-INT64_MAX / 2, INT64_MAX / 2 - 1, INT64_MAX / 2};
    for (int64_t i = 0; i < 3; i++) {
        struct log_step printed = step_of(i + 1, 0, 5);
        printed.time_ns = times[i];
        print_step(f, printed);
    }
    assert_int_equal(figure(f, LOGS_STEP_MAX_NS), 1);
}

static void a_log_that_always_restarts_has_few_rows_to_draw(void **state)
{
    struct fixture *f = *state;
    for (int64_t i = 0; i < 30000; i++)
        print_step(f, step_of(30000 - i, 1, 5));
    assert_int_equal(figure(f, LOGS_RESTARTS), 29999);
    assert_true(table_named(f, "log_curve")->row_count <= 2000);
    assert_int_equal(table_named(f, "log_events")->row_count, 10000);
    assert_int_equal(table_named(f, "log_steps")->row_count, 30000);
}

static void lines_of_ranks_without_a_name_are_one_step(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 3; step++)
        for (int i = 0; i < 7; i++)
            print_step(f, step_of(step, 1, 5 - (double)step));
    assert_int_equal(figure(f, LOGS_STEPS), 3);
}

static void numbers_that_go_back_are_a_restart(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 10; step++)
        print_step(f, step_of(step, 1, 5));
    for (int64_t step = 6; step <= 8; step++)
        print_step(f, step_of(step, 1, 5));
    const struct table *steps = table_named(f, "log_steps"), *events = table_named(f, "log_events");
    assert_int_equal(figure(f, LOGS_STEPS), 13);
    assert_int_equal(figure(f, LOGS_RESTARTS), 1);
    assert_int_equal(figure(f, LOGS_LAST_STEP), 10);
    assert_int_equal(table_i64(steps, 9, LOG_STEPS_SEGMENT, -1), 0);
    assert_int_equal(table_i64(steps, 10, LOG_STEPS_SEGMENT, -1), 1);
    assert_true(table_is(events, 0, LOG_EVENTS_KIND, STR("restart")));
    assert_int_equal(table_i64(events, 0, LOG_EVENTS_AFTER_STEP, -1), 10);
}

static void steps_without_numbers_are_counted(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        print_step(f, step_of(LOG_NO_STEP, 0, 3 - i));
    assert_int_equal(figure(f, LOGS_FIRST_STEP), 1);
    assert_int_equal(figure(f, LOGS_LAST_STEP), 5);
}

static void the_last_number_there_is_does_not_overflow(void **state)
{
    struct fixture *f = *state;
    print_step(f, step_of(INT64_MAX, 0, 3));
    print_step(f, step_of(LOG_NO_STEP, 0, 4));
    struct log_step early = step_of(INT64_MIN + 1, 0, 5);
    early.time_ns = INT64_MIN + 1;
    print_step(f, early);
    struct log_step late = step_of(INT64_MAX, 0, 5);
    late.time_ns = INT64_MAX;
    print_step(f, late);
    assert_int_equal(figure(f, LOGS_STEPS), 4);
}

// --- times --------------------------------------------------------------------------------------

static void a_log_without_times_of_steps_has_those_of_its_lines(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 0; step <= 50; step += 10) {
        struct log_step printed = step_of(step, 0, 5);
        printed.time_ns = 1000 * SECOND + step * 2 * SECOND;
        print_step(f, printed);
    }
    assert_int_equal(figure(f, LOGS_STEP_MEDIAN_NS), 2 * SECOND);
    assert_int_equal(figure(f, LOGS_DURATION_NS), 100 * SECOND);
    const struct table *steps = table_named(f, "log_steps");
    assert_int_equal(table_i64(steps, 0, LOG_STEPS_STEP_NS, -1), -1);
    assert_int_equal(table_i64(steps, 5, LOG_STEPS_TIME_NS, -1), 100 * SECOND);
    struct str begin = table_text(table_named(f, "logs"), 0, LOGS_BEGIN);
    assert_true(str_equal(begin, STR("1970-01-01T00:16:40.000"))); // of an unknown zone
}

static void a_log_without_a_clock_has_the_sum_of_its_steps(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 10; step <= 30; step += 10)
        print_step(f, step_of(step, 2, 5));
    print_step(f, step_of(20, 3, 5)); // a restart
    const struct table *steps = table_named(f, "log_steps");
    const int64_t since_s[] = {0, 20, 40, 43};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(table_i64(steps, i, LOG_STEPS_TIME_NS, -1), since_s[i] * SECOND);
    assert_true(table_cell(table_named(f, "logs"), 0, LOGS_DURATION_NS)->null);
}

static void add_span(struct fixture *f, struct str name, int64_t step, int64_t dur_ns)
{
    struct metric_span span = {.name = name, .step = step, .dur_ns = dur_ns};
    assert_true(metric_book_add_span(&f->evidence, &span, &f->err));
}

static void phases_of_a_host_have_their_longest_and_those_that_never_ended(void **state)
{
    struct fixture *f = *state;
    f->evidence.metrics.rank = 3;
    for (int64_t step = 1; step <= 3; step++) {
        add_span(f, STR("optim"), step, step * SECOND);
        add_span(f, STR("step"), step, 10 * SECOND);
    }
    add_span(f, STR("optim"), 4, -1);
    print_step(f, step_of(1, 2, 5));
    const struct table *phases = table_named(f, "host_phases");
    assert_int_equal(phases->row_count, 2);
    assert_true(str_equal(table_text(phases, 0, HOST_PHASES_PHASE), STR("optim")));
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_RANK, -1), 3);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_CALLS, -1), 3);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_TOTAL_NS, -1), 6 * SECOND);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_MEDIAN_NS, -1), 2 * SECOND);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_MAX_STEP, -1), 3);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_UNFINISHED, -1), 1);
    assert_int_equal(table_i64(phases, 0, HOST_PHASES_UNFINISHED_STEP, -1), 4);
    assert_int_equal(table_i64(phases, 1, HOST_PHASES_UNFINISHED, -1), 0);
}

static void slow_steps_after_a_start_are_no_steady_ones(void **state)
{
    struct fixture *f = *state;
    const double seconds[] = {40, 9, 2, 2, 2, 9, 2, 2, 2, 2};
    for (int64_t i = 0; i < 10; i++)
        print_step(f, step_of(i + 1, seconds[i], 5));
    const struct table *steps = table_named(f, "log_steps");
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(table_i64(steps, i, LOG_STEPS_STEADY, -1), i >= 2);
    assert_int_equal(figure(f, LOGS_STEP_MEDIAN_NS), 2 * SECOND);
    assert_int_equal(figure(f, LOGS_STEP_MAX_NS), 9 * SECOND);
}

static void a_slow_step_has_what_stands_beside_it(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 20; step++) {
        if (step == 11) {
            print_event(f, LOG_GARBAGE, SECOND / 10);
            print_event(f, LOG_CHECKPOINT, 3 * SECOND);
        }
        print_step(f, step_of(step, step == 11 ? 5 : step == 15 ? 3 : 2, 5));
    }
    const struct table *slow = table_named(f, "log_slow_steps");
    assert_int_equal(slow->row_count, 2);
    assert_int_equal(table_i64(slow, 0, LOG_SLOW_STEPS_STEP, -1), 11);
    assert_int_equal(table_i64(slow, 0, LOG_SLOW_STEPS_LOST_NS, -1), 3 * SECOND);
    assert_true(table_is(slow, 0, LOG_SLOW_STEPS_KIND, STR("checkpoint")));
    assert_int_equal(table_i64(slow, 1, LOG_SLOW_STEPS_STEP, -1), 15);
    assert_true(table_text(slow, 1, LOG_SLOW_STEPS_KIND).len == 0);
    assert_int_equal(figure(f, LOGS_CHECKPOINTS), 1);
}

static void print_by(struct fixture *f, int64_t rank, int64_t time_ns, const char *text)
{
    struct log_event event = {.kind = LOG_GARBAGE,
                              .after_step = 10,
                              .time_ns = time_ns,
                              .rank = rank,
                              .dur_ns = SECOND,
                              .pos = f->pos++,
                              .loss = NAN,
                              .text = str_of(text)};
    assert_true(log_book_note(&f->evidence, &event, &f->err));
}

static void what_every_rank_prints_happened_once(void **state)
{
    struct fixture *f = *state;
    for (int64_t rank = 0; rank < 4; rank++)
        for (int i = 0; i < (rank == 2 ? 3 : 2); i++)
            print_by(f, rank, i * 60 * SECOND, "collection");
    assert_int_equal(table_named(f, "log_events")->row_count, 3); // rank 2's
}

static void every_fault_counts(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        print_event(f, LOG_FAULT, -1);
    assert_int_equal(figure(f, LOGS_FAULTS), 3);
}

static void the_same_words_at_once_are_of_ranks_that_do_not_say_who_they_are(void **state)
{
    struct fixture *f = *state;
    print_by(f, -1, 0, "collection of 0.06 seconds");
    print_by(f, -1, SECOND / 2, "collection of 0.1 seconds");
    print_by(f, -1, SECOND / 2, "collection of the oldest");
    print_by(f, -1, 60 * SECOND, "collection of 0.06 seconds");
    print_by(f, -1, LOG_NO_TIME, "collection of 0.07 seconds");
    print_by(f, -1, LOG_NO_TIME, "collection of 0.07 seconds");
    assert_int_equal(table_named(f, "log_events")->row_count, 4);
}

// --- loss ---------------------------------------------------------------------------------------

static void losses_that_are_no_numbers_are_counted_and_left_out(void **state)
{
    struct fixture *f = *state;
    print_step(f, step_of(1, 1, 5));
    print_step(f, step_of(2, 1, (double)NAN));
    print_step(f, step_of(3, 1, 4));
    struct log_step counted = {.step = 4, .time_ns = LOG_NO_TIME, .rank = -1};
    log_step_set(&counted, LOG_NAN, 2);
    log_step_set(&counted, LOG_SKIPPED, 1);
    print_step(f, counted);
    const struct table *logs = table_named(f, "logs");
    assert_int_equal(figure(f, LOGS_NAN_STEPS), 3);
    assert_int_equal(figure(f, LOGS_SKIPPED_STEPS), 1);
    assert_true(table_f64(logs, 0, LOGS_FIRST_LOSS, 0) == 5);
    assert_true(table_f64(logs, 0, LOGS_LAST_LOSS, 0) == 4);
    assert_true(table_f64(logs, 0, LOGS_LOWEST_LOSS, 0) == 4);
}

// The line of the first step, whose skipped step is in the line of ten steps as well.
static void a_step_that_was_printed_first_is_skipped_once(void **state)
{
    struct fixture *f = *state;
    static const int64_t steps[] = {1, 10, 20, 30};
    for (size_t i = 0; i < 4; i++) {
        struct log_step step = step_of(steps[i], 1, 5);
        step.writer = "megatron";
        log_step_set(&step, LOG_SKIPPED, i == 1 ? 10 : i == 0);
        print_step(f, step);
    }
    assert_int_equal(figure(f, LOGS_SKIPPED_STEPS), 10);
}

// 63 losses of 2 +- 0.01 have a median absolute deviation of 0.005 or so: 2.03 is within noise or
// below 2 %, 2.6 is not.
static void a_spike_is_far_above_the_losses_before(void **state)
{
    (void)state;
    struct loss_window window = {0};
    for (int i = 0; i < 200; i++)
        assert_false(loss_spikes(&window, 2 + 0.01 * ((i * 7) % 5 - 2)));
    assert_false(loss_spikes(&window, 2.03));
    assert_true(loss_spikes(&window, 2.6));
    assert_false(loss_spikes(&window, 2.0));
    assert_false(loss_spikes(&window, 1.0));
}

static void few_losses_have_no_spikes(void **state)
{
    (void)state;
    struct loss_window window = {0};
    for (int i = 0; i < LOSS_LEAST - 1; i++)
        assert_false(loss_spikes(&window, 2));
    assert_false(loss_spikes(&window, 100));
}

// Every order of what comes in must leave the window sorted.
static void the_window_keeps_the_latest_losses(void **state)
{
    (void)state;
    struct loss_window window = {0};
    for (int i = 0; i < 1000; i++)
        (void)loss_spikes(&window, (i * 37) % 101);
    assert_int_equal(window.count, LOSS_WINDOW);
    double sum = 0, wanted = 0;
    for (size_t i = 0; i < window.count; i++) {
        assert_true(i == 0 || window.sorted[i - 1] <= window.sorted[i]);
        sum += window.sorted[i];
        wanted += ((1000 - 1 - (int)i) * 37) % 101;
    }
    assert_true(sum == wanted);
}

// --- drawing ------------------------------------------------------------------------------------

static void a_long_log_is_drawn_in_a_thousand_rows_that_cover_it(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 2500; step++)
        print_step(f, step_of(step, 1, step == 1234 ? 9 : 5));
    const struct table *curve = table_named(f, "log_curve");
    assert_int_equal(curve->row_count, 834); // of three each
    int64_t steps = 0;
    double highest = 0;
    for (size_t i = 0; i < curve->row_count; i++) {
        steps += table_i64(curve, i, LOG_CURVE_STEPS, 0);
        highest = fmax(highest, table_f64(curve, i, LOG_CURVE_LOSS_HIGH, 0));
    }
    assert_int_equal(steps, 2500);
    assert_true(highest == 9);
    assert_int_equal(table_i64(curve, 833, LOG_CURVE_STEP, -1), 2500);
}

static void a_row_to_draw_ends_at_a_restart(void **state)
{
    struct fixture *f = *state;
    for (int64_t step = 1; step <= 1999; step++)
        print_step(f, step_of(step, 1, 5));
    for (int64_t step = 1; step <= 1999; step++)
        print_step(f, step_of(step, 1, 5));
    const struct table *curve = table_named(f, "log_curve");
    for (size_t i = 1; i < curve->row_count; i++)
        if (table_i64(curve, i, LOG_CURVE_SEGMENT, -1) == 1) {
            assert_int_equal(table_i64(curve, i - 1, LOG_CURVE_STEP, -1), 1999);
            return;
        }
    fail();
}

static void settings_have_no_secrets(void **state)
{
    struct fixture *f = *state;
    assert_true(evidence_set(&f->evidence, STR("global_batch_size"), STR("128"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("wandb_api_key"),
                             STR("0123456789abcdef0123456789abcdef01234567"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("global_batch_size"), STR("256"), &f->err));
    const struct table *settings = table_named(f, "job_settings");
    assert_int_equal(settings->row_count, 2);
    assert_true(table_is(settings, 0, JOB_SETTINGS_VALUE, STR("256")));
    assert_true(table_is(settings, 1, JOB_SETTINGS_VALUE, STR("[redacted:named]")));
}

static void settings_of_a_list_of_variants_are_not_decided(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name, *value, *standard;
    } cases[] = {
        {"small.num_layers", "16", ""},
        {"large.num_layers", "32", ""},
        {"text.hidden_size", "1024", ""},
        {"hidden_size", "4096", "hidden_size"},
        {"trainer.precision", "bf16-mixed", "precision"},
        {"model.params_dtype", "torch.bfloat16", "precision"},
        {"name", "x", ""},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    for (size_t i = 0; i < CASES; i++)
        assert_true(
            evidence_set(&f->evidence, str_of(cases[i].name), str_of(cases[i].value), &f->err));
    const struct table *settings = table_named(f, "job_settings");
    assert_int_equal(settings->row_count, CASES);
    for (size_t i = 0; i < CASES; i++)
        assert_true(table_is(settings, i, JOB_SETTINGS_STANDARD, str_of(cases[i].standard)) ||
                    (!*cases[i].standard && table_cell(settings, i, JOB_SETTINGS_STANDARD)->null));
    assert_true(table_is(settings, 5, JOB_SETTINGS_STANDARD_VALUE, STR("bf16")));
}

static void a_type_that_says_synthetic_overrides_a_name(void **state)
{
    struct fixture *f = *state;
    assert_true(evidence_set(&f->evidence, STR("dataset_path"), STR("gs://data"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("dataset_name"), STR("c4/en:3.0.1"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("dataset_type"), STR("synthetic"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("data_path"), STR("/data"), &f->err));
    const struct table *settings = table_named(f, "job_settings");
    assert_true(table_cell(settings, 1, JOB_SETTINGS_STANDARD)->null);
    assert_true(table_is(settings, 2, JOB_SETTINGS_STANDARD, STR("data")));
    assert_true(table_is(settings, 2, JOB_SETTINGS_STANDARD_VALUE, STR("synthetic")));
    assert_true(table_cell(settings, 3, JOB_SETTINGS_STANDARD)->null);
}

// Hugging Face's configurations of DeepSeek-V3 have both, Megatron-LM the second without the rotary
// part.
static void a_key_size_without_its_rotary_part_counts(void **state)
{
    struct fixture *f = *state;
    assert_true(evidence_set(&f->evidence, STR("qk_head_dim"), STR("192"), &f->err));
    assert_true(evidence_set(&f->evidence, STR("qk_nope_head_dim"), STR("128"), &f->err));
    const struct table *settings = table_named(f, "job_settings");
    assert_true(table_cell(settings, 0, JOB_SETTINGS_STANDARD)->null);
    assert_true(table_is(settings, 1, JOB_SETTINGS_STANDARD, STR("latent_key_size")));
    assert_true(table_is(settings, 1, JOB_SETTINGS_STANDARD_VALUE, STR("128")));
}

static void what_says_nothing_has_no_tables_but_a_doubt(void **state)
{
    struct fixture *f = *state;
    assert_true(evidence_report(&f->evidence, STR("empty.log"), &f->report, &f->err));
    assert_int_equal(f->report.table_count, 1);
    assert_int_equal(trust_count(&f->report, "file_without_rows"), 1);
}

// Older versions of DeepSpeed print no rate of a step.
static void a_rate_of_the_whole_job_stands_where_steps_have_none(void **state)
{
    struct fixture *f = *state;
    for (int i = 1; i <= 8; i++) {
        struct log_step step = step_of(10 * i, 1.5, 2);
        log_step_set(&step, LOG_MEAN_SAMPLES_PER_S, 80 + i);
        print_step(f, step);
    }
    const struct table *logs = table_named(f, "logs");
    assert_true(table_cell(logs, 0, LOGS_SAMPLES_PER_S)->f == 88);
}

static void a_rate_of_the_job_is_none_of_a_gpu(void **state)
{
    struct fixture *f = *state;
    for (int i = 1; i <= 8; i++) {
        struct log_step step = step_of(i, 1.5, 2);
        log_step_set(&step, LOG_JOB_TOKENS_PER_S, 8000);
        log_step_set(&step, LOG_COPY_TOKENS_PER_S, 4000);
        print_step(f, step);
    }
    const struct table *logs = table_named(f, "logs");
    assert_true(table_f64(logs, 0, LOGS_JOB_TOKENS_PER_S, 0) == 8000);
    assert_true(table_cell(logs, 0, LOGS_TOKENS_PER_S)->null);
}

// Ten steps of 5 s to a line: five after a checkpoint, fifteen after the end of an epoch.
static void sums_of_nemo_are_of_the_steps_in_them(void **state)
{
    struct fixture *f = *state;
    static const int64_t steps[] = {109, 119, 129, 144, 154};
    static const double shares[] = {0.5, 1, 1, 1.5, 1};
    for (size_t i = 0; i < 5; i++) {
        struct log_step step = step_of(steps[i], 5 * shares[i], 2 * shares[i]);
        step.writer = "nemo2";
        log_step_set(&step, LOG_GLOBAL_BATCH, 512 * shares[i]);
        log_step_set(&step, LOG_MEMORY_BYTES, 1000 * shares[i]);
        log_step_set(&step, LOG_CONSUMED_SAMPLES, 27648);
        print_step(f, step);
    }
    const struct table *logs = table_named(f, "logs"), *rows = table_named(f, "log_steps");
    assert_true(table_f64(logs, 0, LOGS_LOWEST_LOSS, 0) == 2);
    assert_int_equal(table_i64(logs, 0, LOGS_MEMORY_BYTES, -1), 1000);
    for (size_t i = 0; i < 5; i++) {
        assert_true(table_f64(rows, i, LOG_STEPS_LOSS, 0) == 2);
        assert_int_equal(table_i64(rows, i, LOG_STEPS_STEP_NS, -1), 5 * SECOND);
        assert_int_equal(table_i64(rows, i, LOG_STEPS_GLOBAL_BATCH, -1), 512);
        assert_true(table_cell(rows, i, LOG_STEPS_CONSUMED_SAMPLES)->null);
    }
}

// Three of ten steps: 37.2 of 124, by whose quotient a batch is just below 124.
static void batches_of_nemo_stay_whole(void **state)
{
    struct fixture *f = *state;
    static const double batches[] = {37.2, 124, 124};
    for (int i = 0; i < 3; i++) {
        struct log_step step = step_of(109 + 10 * i, 5, 2);
        step.writer = "nemo2";
        log_step_set(&step, LOG_GLOBAL_BATCH, batches[i]);
        print_step(f, step);
    }
    assert_int_equal(table_i64(table_named(f, "log_steps"), 0, LOG_STEPS_GLOBAL_BATCH, -1), 124);
}

// Lines of each step, of which most were cut out: batches that grow are none of fewer steps.
static void growing_batches_of_nemo_are_left(void **state)
{
    struct fixture *f = *state;
    static const int64_t steps[] = {10, 20, 30, 31};
    for (size_t i = 0; i < 4; i++) {
        struct log_step step = step_of(steps[i], 5, 2);
        step.writer = "nemo2";
        log_step_set(&step, LOG_GLOBAL_BATCH, i ? 512 : 256);
        log_step_set(&step, LOG_CONSUMED_SAMPLES, 27648);
        print_step(f, step);
    }
    const struct table *rows = table_named(f, "log_steps");
    assert_int_equal(table_i64(rows, 0, LOG_STEPS_GLOBAL_BATCH, -1), 256);
    assert_int_equal(table_i64(rows, 0, LOG_STEPS_STEP_NS, -1), 5 * SECOND);
    assert_int_equal(table_i64(rows, 0, LOG_STEPS_CONSUMED_SAMPLES, -1), 27648);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_rate_of_the_whole_job_stands_where_steps_have_none),
        TEST(a_rate_of_the_job_is_none_of_a_gpu),
        TEST(sums_of_nemo_are_of_the_steps_in_them),
        TEST(batches_of_nemo_stay_whole),
        TEST(growing_batches_of_nemo_are_left),
        TEST(lines_of_several_ranks_are_one_step),
        TEST(of_ranks_with_as_many_steps_the_one_with_a_loss_counts),
        TEST(holes_in_the_file_are_said),
        TEST(lines_of_two_parts_of_a_job_are_one_step),
        TEST(times_far_apart_are_no_step_times),
        TEST(a_log_that_always_restarts_has_few_rows_to_draw),
        TEST(lines_of_ranks_without_a_name_are_one_step),
        TEST(numbers_that_go_back_are_a_restart),
        TEST(steps_without_numbers_are_counted),
        TEST(the_last_number_there_is_does_not_overflow),
        TEST(a_log_without_times_of_steps_has_those_of_its_lines),
        TEST(a_log_without_a_clock_has_the_sum_of_its_steps),
        TEST(phases_of_a_host_have_their_longest_and_those_that_never_ended),
        TEST(slow_steps_after_a_start_are_no_steady_ones),
        TEST(a_slow_step_has_what_stands_beside_it),
        TEST(what_every_rank_prints_happened_once),
        TEST(every_fault_counts),
        TEST(the_same_words_at_once_are_of_ranks_that_do_not_say_who_they_are),
        TEST(losses_that_are_no_numbers_are_counted_and_left_out),
        TEST(a_step_that_was_printed_first_is_skipped_once),
        TEST(a_spike_is_far_above_the_losses_before),
        TEST(few_losses_have_no_spikes),
        TEST(the_window_keeps_the_latest_losses),
        TEST(a_long_log_is_drawn_in_a_thousand_rows_that_cover_it),
        TEST(a_row_to_draw_ends_at_a_restart),
        TEST(settings_have_no_secrets),
        TEST(settings_of_a_list_of_variants_are_not_decided),
        TEST(a_type_that_says_synthetic_overrides_a_name),
        TEST(a_key_size_without_its_rotary_part_counts),
        TEST(what_says_nothing_has_no_tables_but_a_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
