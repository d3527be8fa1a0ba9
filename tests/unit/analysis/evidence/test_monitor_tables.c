// SPDX-License-Identifier: Apache-2.0
// The tables of monitors: figures of each GPU, throttling, and few enough rows to draw.
#include "analysis/evidence/evidence_report.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000000)

struct fixture {
    struct budget budget;
    struct evidence evidence;
    struct arena arena;
    struct report report;
    struct err err;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.err = {.pos = ERR_NO_POS}};
    evidence_init(&f.evidence, &f.budget);
    f.evidence.samples.clock = SAMPLE_CLOCK_LOCAL;
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

static uint32_t gpu(struct fixture *f, int64_t index)
{
    uint32_t device;
    struct sample_identity is = {STR("node0"), STR(""), STR(""), STR("H100"), STR(""), index};
    assert_true(samples_device(&f->evidence, &is, &device, &f->err));
    return device;
}

static void record(struct fixture *f, uint32_t device, enum sample_metric metric, int64_t second,
                   double value)
{
    struct sample sample = {second * SECOND, value};
    assert_true(samples_add(&f->evidence, device, metric, sample, &f->err));
}

static const struct table *table_of(struct fixture *f, const char *name)
{
    if (!f->report.table_count) {
        samples_settle(&f->evidence);
        assert_true(evidence_report(&f->evidence, STR("smi.csv"), &f->report, &f->err));
    }
    const struct table *table = report_find(&f->report, name);
    assert_non_null(table);
    return table;
}

static double figure(struct fixture *f, size_t row, unsigned column)
{
    const struct cell *cell = table_cell(table_of(f, "monitors"), row, column);
    return cell->null ? (double)NAN : cell->f;
}

static void power_and_energy_are_over_the_recorded_time(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 3);
    for (int i = 0; i <= 10; i++) // 500 to 600 W in ten seconds
        record(f, device, SAMPLE_POWER, 100 + i, 500 + 10 * i);
    record(f, device, SAMPLE_POWER_LIMIT, 100, 700);
    assert_true(figure(f, 0, MONITORS_POWER_W) == 550);
    assert_true(figure(f, 0, MONITORS_POWER_MAX_W) == 600);
    assert_true(figure(f, 0, MONITORS_ENERGY_J) == 5500);
    assert_true(figure(f, 0, MONITORS_POWER_LIMIT_W) == 700);
    const struct table *table = table_of(f, "monitors");
    assert_int_equal(table_i64(table, 0, MONITORS_GPU, -1), 3);
    assert_int_equal(table_i64(table, 0, MONITORS_DURATION_NS, -1), 10 * SECOND);
    assert_true(isnan(figure(f, 0, MONITORS_THROTTLED_SHARE))); // not recorded, which is not none
}

static void joined_files_of_nodes_are_said(void **state)
{
    struct fixture *f = *state;
    record(f, gpu(f, 3), SAMPLE_POWER, 100, 500);
    f->evidence.samples.joined_nodes = 2;
    const struct table *table = table_of(f, "trust");
    assert_true(table_is(table, 0, TRUST_ITEM, STR("monitor_nodes_joined")));
    assert_int_equal(table_i64(table, 0, TRUST_COUNT, -1), 2);
}

static void energy_is_not_counted_over_gaps(void **state)
{
    struct fixture *f = *state;
    for (int64_t index = 0; index < 2; index++)
        for (int i = 0; i < 20; i++) // ten samples each on two days; one is missing
            if (i != 5)
                record(f, gpu(f, index), SAMPLE_POWER, i + (i < 10 ? 0 : 86400), 300);
    assert_true(figure(f, 0, MONITORS_ENERGY_J) == 2 * 9 * 300);
    const struct table *table = table_of(f, "monitors");
    assert_int_equal(table_i64(table, 0, MONITORS_PERIOD_NS, -1), SECOND);
    table = table_of(f, "trust");
    assert_int_equal(table->row_count, 1);
    assert_true(table_is(table, 0, TRUST_ITEM, STR("monitor_gaps")));
    assert_int_equal(table_i64(table, 0, TRUST_COUNT, -1), 2);
    assert_true(table_is(table, 0, TRUST_DETAIL,
                         STR("smi.csv has gaps of 5 sampling periods or more, the longest of "
                             "86401 s")));
}

static void idling_is_not_throttling(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i < 10; i++) {
        bool capped = i < 4, idle = i >= 8;
        record(f, device, SAMPLE_UTILIZATION, i, idle ? 0 : 100);
        record(f, device, SAMPLE_SM_CLOCK, i, capped ? 1410 : idle ? 345 : 1980);
        record(f, device, SAMPLE_THROTTLE_REASONS, i,
               capped ? SAMPLE_THROTTLE_POWER
               : idle ? SAMPLE_THROTTLE_IDLE
                      : 0);
    }
    assert_true(figure(f, 0, MONITORS_THROTTLED_SHARE) == 0.4);
    assert_true(figure(f, 0, MONITORS_THROTTLED_MHZ) == 1410);
    assert_true(figure(f, 0, MONITORS_FREE_MHZ) == 1980);
    assert_true(figure(f, 0, MONITORS_CLOCK_LOWEST_MHZ) == 1410);
    assert_true(figure(f, 0, MONITORS_IDLE_SHARE) == 0.2);
    assert_true(figure(f, 0, MONITORS_UTILIZATION_SHARE) == 0.8);
    assert_true(table_is(table_of(f, "monitors"), 0, MONITORS_THROTTLE_REASON, STR("power cap")));
}

static void shares_of_violations_are_throttling_too(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i < 4; i++) {
        record(f, device, SAMPLE_POWER_VIOLATION, i, 0);
        record(f, device, SAMPLE_THERMAL_VIOLATION, i, 25);
    }
    assert_true(figure(f, 0, MONITORS_THROTTLED_SHARE) == 0.25);
    assert_true(table_is(table_of(f, "monitors"), 0, MONITORS_THROTTLE_REASON, STR("heat")));
}

static void a_long_recording_is_drawn_in_few_rows(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t device = gpu(f, i);
        for (int second = 0; second < 3000; second++)
            record(f, device, SAMPLE_POWER, second, i);
    }
    const struct table *table = table_of(f, "monitor_series");
    assert_int_equal(table->row_count, 20000);
    assert_int_equal(table_i64(table, 0, MONITOR_SERIES_TIME_NS, -1), 0);
    for (size_t row = 0; row < table->row_count; row += 777)
        assert_true(table_cell(table, row, MONITOR_SERIES_POWER_W)->f ==
                    (double)table_i64(table, row, MONITOR_SERIES_GPU, -1));
}

static void the_pieces_hold_every_sample_once(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i <= 1000; i++)
        record(f, device, SAMPLE_POWER, i, i);
    const struct table *table = table_of(f, "monitor_series");
    assert_int_equal(table->row_count, 500);
    assert_true(table_cell(table, 0, MONITOR_SERIES_POWER_W)->f == 0.5);   // 0 and 1
    assert_true(table_cell(table, 499, MONITOR_SERIES_POWER_W)->f == 999); // 998 to 1000
}

static void a_single_moment_has_no_curve(void **state)
{
    struct fixture *f = *state;
    f->evidence.samples.clock = SAMPLE_NO_CLOCK;
    record(f, gpu(f, 0), SAMPLE_POWER, 0, 300);
    assert_true(figure(f, 0, MONITORS_POWER_W) == 300);
    assert_null(report_find(&f->report, "monitor_series"));
}

static void a_column_without_values_gives_way_to_the_next(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i < 3; i++) {
        record(f, device, SAMPLE_TEMPERATURE, i, (double)NAN);
        record(f, device, SAMPLE_HOTSPOT_TEMPERATURE, i, 50 + i);
    }
    assert_true(figure(f, 0, MONITORS_TEMPERATURE_C) == 52);
    assert_true(table_cell(table_of(f, "monitor_series"), 0, MONITOR_SERIES_TEMPERATURE_C)->f ==
                50);
}

static void assumed_times_give_no_duration_and_no_energy(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    f->evidence.samples.clock = SAMPLE_CLOCK_RELATIVE;
    f->evidence.samples.period_ns = SECOND;
    for (int i = 0; i <= 10; i++)
        record(f, device, SAMPLE_POWER, i, 500);
    assert_true(figure(f, 0, MONITORS_POWER_W) == 500);
    assert_true(isnan(figure(f, 0, MONITORS_ENERGY_J)));
    assert_true(table_cell(table_of(f, "monitors"), 0, MONITORS_DURATION_NS)->null);
    assert_int_equal(table_of(f, "monitor_series")->row_count, 11); // drawn nonetheless
    assert_int_equal(table_of(f, "trust")->row_count, 1);
    assert_true(table_is(table_of(f, "trust"), 0, TRUST_ITEM, STR("monitor_without_times")));
}

static void rows_that_could_not_be_read_are_reported(void **state)
{
    struct fixture *f = *state;
    record(f, gpu(f, 0), SAMPLE_POWER, 0, 500);
    samples_bad_row(&f->evidence.samples, 77);
    samples_bad_row(&f->evidence.samples, 99);
    const struct table *trust = table_of(f, "trust");
    assert_true(table_is(trust, 0, TRUST_ITEM, STR("monitor_rows_left_out")));
    assert_int_equal(table_i64(trust, 0, TRUST_COUNT, -1), 2);
    assert_int_equal(table_i64(trust, 0, TRUST_POSITION, -1), 77);
}

static void gpus_that_failed_are_reported(void **state)
{
    struct fixture *f = *state;
    record(f, gpu(f, 0), SAMPLE_POWER, 0, 500);
    uint32_t failed = gpu(f, 1);
    record(f, failed, SAMPLE_POWER, 0, 500);
    f->evidence.samples.devices[failed].failed_rows = 7;
    const struct table *trust = table_of(f, "trust");
    assert_int_equal(trust->row_count, 1);
    assert_true(table_is(trust, 0, TRUST_ITEM, STR("monitor_gpu_failed")));
    assert_int_equal(table_i64(trust, 0, TRUST_COUNT, -1), 7);
    assert_true(str_find(table_text(trust, 0, TRUST_DETAIL), STR("1 of 2 GPUs")) != SIZE_MAX);
}

static void times_at_the_ends_of_the_range_do_not_overflow(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    struct sample first = {INT64_MIN, 1}, last = {INT64_MAX, 2};
    assert_true(samples_add(&f->evidence, device, SAMPLE_POWER, first, &f->err));
    assert_true(samples_add(&f->evidence, device, SAMPLE_POWER, last, &f->err));
    assert_true(table_cell(table_of(f, "monitors"), 0, MONITORS_DURATION_NS)->null);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void samples_are_rows_of_a_gpu_and_time_with_sums_as_shares(void **state)
{
    struct fixture *f = *state;
    uint32_t first = gpu(f, 0), second = gpu(f, 1);
    for (int64_t second_of = 0; second_of < 3; second_of++) {
        record(f, first, SAMPLE_UTILIZATION, second_of, 50);
        record(f, first, SAMPLE_POWER_VIOLATION_TIME, second_of, 0.25 * (double)second_of);
    }
    record(f, second, SAMPLE_POWER, 1, 600);
    record(f, second, SAMPLE_SM_CLOCK, 2, 1980);
    const struct table *table = table_of(f, "monitor_samples");
    assert_int_equal(table->row_count, 5);
    assert_true(isnan(table_f64(table, 0, MONITOR_SAMPLES_THROTTLED_SHARE, (double)NAN)));
    assert_true(table_f64(table, 1, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.25);
    assert_int_equal(table_i64(table, 1, MONITOR_SAMPLES_THROTTLE_BITS, 0), SAMPLE_THROTTLE_POWER);
    assert_true(table_f64(table, 2, MONITOR_SAMPLES_UTILIZATION, 0) == 0.5);
    assert_int_equal(table_i64(table, 3, MONITOR_SAMPLES_DEVICE, 0), 1);
    assert_true(table_f64(table, 3, MONITOR_SAMPLES_POWER_W, 0) == 600);
    assert_true(table_cell(table, 3, MONITOR_SAMPLES_CLOCK_MHZ)->null);
    assert_true(table_f64(table, 4, MONITOR_SAMPLES_CLOCK_MHZ, 0) == 1980);
}

// An exporter that samples each 30 s is asked each 5 s; the GPU takes 400 W, half of them
// throttled.
static void a_sum_that_comes_again_is_an_old_sample(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i <= 12; i++) {
        record(f, device, SAMPLE_POWER, 5 * i, 400);
        record(f, device, SAMPLE_ENERGY, 5 * i, 12000 * (i / 6));
        record(f, device, SAMPLE_POWER_VIOLATION_TIME, 5 * i, 15 * (i / 6));
    }
    const struct table *table = table_of(f, "monitor_samples");
    assert_int_equal(table->row_count, 13);
    for (size_t row = 0; row < table->row_count; row++) {
        bool sampled = row % 6 == 0;
        assert_int_equal(table_cell(table, row, MONITOR_SAMPLES_ENERGY_J)->null, !sampled);
        assert_int_equal(table_cell(table, row, MONITOR_SAMPLES_THROTTLED_SHARE)->null,
                         !sampled || row == 0);
        assert_true(table_f64(table, row, MONITOR_SAMPLES_POWER_W, 0) == 400);
    }
    assert_true(table_f64(table, 6, MONITOR_SAMPLES_ENERGY_J, 0) == 12000);
    assert_true(table_f64(table, 6, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.5);
    assert_true(table_f64(table, 12, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.5);
}

static void a_sum_grows_since_it_was_last_known(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i <= 4; i++) {
        record(f, device, SAMPLE_POWER, 5 * i, 400);
        if (i % 2 == 0)
            record(f, device, SAMPLE_THERMAL_VIOLATION_TIME, 5 * i, i);
    }
    const struct table *table = table_of(f, "monitor_samples");
    assert_true(table_cell(table, 1, MONITOR_SAMPLES_THROTTLED_SHARE)->null);
    assert_true(table_f64(table, 2, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.2);
    assert_true(table_f64(table, 4, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.2);
}

// As amd-smi metric has them: a violation of 1 % of the time is active.
static void where_shares_are_known_bits_are_only_reasons(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    static const double percent[] = {50, 25, 0, 0};
    for (int i = 0; i < 4; i++) {
        record(f, device, SAMPLE_POWER_VIOLATION, i, percent[i]);
        record(f, device, SAMPLE_THROTTLE_REASONS, i, percent[i] > 0 ? SAMPLE_THROTTLE_POWER : 0);
    }
    assert_true(figure(f, 0, MONITORS_THROTTLED_SHARE) == 0.1875);
    assert_true(table_is(table_of(f, "monitors"), 0, MONITORS_THROTTLE_REASON, STR("power cap")));
    const struct table *samples = table_of(f, "monitor_samples");
    assert_true(table_f64(samples, 1, MONITOR_SAMPLES_THROTTLED_SHARE, 0) == 0.25);
    assert_int_equal(table_i64(samples, 1, MONITOR_SAMPLES_THROTTLE_BITS, 0),
                     SAMPLE_THROTTLE_POWER);
    assert_true(table_f64(samples, 2, MONITOR_SAMPLES_THROTTLED_SHARE, 1) == 0);
    const struct table *series = table_of(f, "monitor_series");
    assert_true(table_cell(series, 0, MONITOR_SERIES_THROTTLED_SHARE)->f == 0.5);
}

static void a_clock_that_is_hardly_throttled_is_free(void **state)
{
    struct fixture *f = *state;
    uint32_t device = gpu(f, 0);
    for (int i = 0; i < 40; i++) {
        bool capped = i == 20;
        record(f, device, SAMPLE_UTILIZATION, i, 99);
        record(f, device, SAMPLE_POWER_VIOLATION, i, capped ? 60 : 3);
        record(f, device, SAMPLE_THROTTLE_REASONS, i, SAMPLE_THROTTLE_POWER);
        record(f, device, SAMPLE_SM_CLOCK, i, capped ? 1410 : 2100);
        record(f, device, SAMPLE_SM_CLOCK_MAX, i, 2100);
    }
    assert_true(figure(f, 0, MONITORS_FREE_MHZ) == 2100);
    assert_true(figure(f, 0, MONITORS_THROTTLED_MHZ) == 1410);
    assert_true(table_is(table_of(f, "monitors"), 0, MONITORS_CLOCK_STATE, STR("highest")));
}

static void a_clock_that_stays_below_the_rated_one_is_pinned(void **state)
{
    struct fixture *f = *state;
    uint32_t first = gpu(f, 0);
    for (int64_t i = 0; i < 20; i++) {
        record(f, first, SAMPLE_UTILIZATION, i, i < 5 ? 0 : 98);
        record(f, first, SAMPLE_SM_CLOCK, i, i < 5 ? 345 : 1410);
        record(f, first, SAMPLE_SM_CLOCK_MAX, i, 1980);
    }
    const struct table *table = table_of(f, "monitors");
    assert_true(table_is(table, 0, MONITORS_CLOCK_STATE, STR("pinned")));
    assert_true(table_f64(table, 0, MONITORS_CLOCK_PINNED_MHZ, 0) == 1410);
    const struct table *settings = table_of(f, "job_settings");
    assert_true(table_is(settings, 0, JOB_SETTINGS_STANDARD, STR("gpu_clocks")));
    assert_true(table_is(settings, 0, JOB_SETTINGS_VALUE, STR("pinned at 1410 MHz")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(power_and_energy_are_over_the_recorded_time),
        TEST(joined_files_of_nodes_are_said),
        TEST(energy_is_not_counted_over_gaps),
        TEST(idling_is_not_throttling),
        TEST(shares_of_violations_are_throttling_too),
        TEST(a_long_recording_is_drawn_in_few_rows),
        TEST(the_pieces_hold_every_sample_once),
        TEST(a_single_moment_has_no_curve),
        TEST(samples_are_rows_of_a_gpu_and_time_with_sums_as_shares),
        TEST(a_sum_that_comes_again_is_an_old_sample),
        TEST(a_sum_grows_since_it_was_last_known),
        TEST(where_shares_are_known_bits_are_only_reasons),
        TEST(a_clock_that_is_hardly_throttled_is_free),
        TEST(a_clock_that_stays_below_the_rated_one_is_pinned),
        TEST(a_column_without_values_gives_way_to_the_next),
        TEST(assumed_times_give_no_duration_and_no_energy),
        TEST(rows_that_could_not_be_read_are_reported),
        TEST(gpus_that_failed_are_reported),
        TEST(times_at_the_ends_of_the_range_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
