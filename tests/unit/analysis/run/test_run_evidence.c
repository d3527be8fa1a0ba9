// SPDX-License-Identifier: Apache-2.0
// What logs and other files say about a run joins it, as far as there is room, and never fails it.
#include "analysis/report/rank_source.h"
#include "analysis/report/tables.h"
#include "analysis/report/row.h"
#include "analysis/run/run_evidence.h"
#include "analysis/run/run_tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST_FILES = 8 };

struct files {
    struct arena arena;
    struct report of_file[MOST_FILES];
    size_t count;
    struct report run;
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    struct files *files = context;
    for (; *known; known++) {
        const struct table *table = report_find(&files->of_file[index], (*known)->name);
        if (table && !report_borrow(report, table, err))
            return false;
    }
    return true;
}

static int set_up(void **state)
{
    struct files *files = calloc(1, sizeof *files);
    assert_non_null(files);
    arena_init(&files->arena, NULL);
    files->run = (struct report){.arena = &files->arena};
    *state = files;
    return 0;
}

static int tear_down(void **state)
{
    struct files *files = *state;
    arena_free(&files->arena);
    free(files);
    return 0;
}

// Rows with a number in one column, and nothing in the others.
static void add_rows(struct files *files, const struct table_desc *desc, unsigned column,
                     size_t count)
{
    struct report *report = &files->of_file[files->count - 1];
    struct cell row[TABLE_MAX_COLUMNS];
    struct err err;
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    assert_true(report_room(report, desc, count, &err));
    for (size_t i = 0; i < count; i++) {
        row[column_place(desc, column)] = cell_i64((int64_t)i);
        assert_true(report_add(report, desc, row, &err));
    }
}

static void add_log(struct files *files, size_t steps, size_t curve_rows)
{
    struct cell row[TABLE_MAX_COLUMNS];
    struct err err;
    struct report *report = &files->of_file[files->count++];
    *report = (struct report){.arena = &files->arena};
    for (unsigned i = 0; i < table_logs.column_count; i++)
        row[i] = cell_null();
    row[column_place(&table_logs, LOGS_STEPS)] = cell_i64((int64_t)steps);
    assert_true(report_add(report, &table_logs, row, &err));
    add_rows(files, &table_log_steps, LOG_STEPS_STEP, steps);
    if (curve_rows)
        add_rows(files, &table_log_curve, LOG_CURVE_STEP, curve_rows);
}

static size_t rows_of(struct files *files, const char *name)
{
    const struct table *table = report_find(&files->run, name);
    return table ? table->row_count : 0;
}

static void join(struct files *files)
{
    struct err err = {.pos = ERR_NO_POS};
    struct rank_source source = {.context = files, .load = load, .evidence_count = files->count};
    if (!run_take_evidence(&source, &files->run, &err))
        fail_msg("%s", err.msg);
}

static void assert_doubt(struct files *files, const char *item, int64_t count)
{
    const struct table *trust = report_find(&files->run, "trust");
    assert_non_null(trust);
    assert_int_equal(trust->row_count, 1);
    assert_true(table_is(trust, 0, RUN_TRUST_ITEM, str_of(item)));
    assert_int_equal(table_i64(trust, 0, RUN_TRUST_COUNT, 0), count);
}

static void logs_join_one_after_another(void **state)
{
    struct files *files = *state;
    add_log(files, 10, 3);
    add_log(files, 20, 4);
    join(files);
    assert_int_equal(rows_of(files, "logs"), 2);
    assert_int_equal(rows_of(files, "log_steps"), 30);
    assert_int_equal(rows_of(files, "log_curve"), 7);
    assert_int_equal(rows_of(files, "trust"), 0);
}

static void a_log_of_too_many_steps_leaves_them_out_and_says_so(void **state)
{
    struct files *files = *state;
    add_log(files, 10, 3);
    add_log(files, 500000, 5);
    add_log(files, 20, 4);
    join(files);
    assert_int_equal(rows_of(files, "logs"), 3);
    assert_int_equal(rows_of(files, "log_steps"), 30);
    assert_int_equal(rows_of(files, "log_curve"), 12);
    assert_doubt(files, "log_steps", 1);
}

static void files_beyond_a_million_rows_are_left_out_and_said(void **state)
{
    struct files *files = *state;
    add_log(files, 1, 1100000);
    add_log(files, 2, 0);
    add_log(files, 3, 0);
    join(files);
    assert_int_equal(rows_of(files, "logs"), 1);
    assert_doubt(files, "evidence", 2);
}

static void state_setting(struct files *files, const char *standard, const char *value)
{
    struct err err;
    struct row row = {.desc = &table_job_settings};
    row_word(&row, JOB_SETTINGS_STANDARD, standard);
    row_word(&row, JOB_SETTINGS_STANDARD_VALUE, value);
    assert_true(row_end(&row, &files->run, &err));
}

static void add_samples(struct files *files, int64_t step, int64_t samples)
{
    struct err err;
    struct row row = {.desc = &table_log_steps};
    row_word(&row, LOG_STEPS_FILE, "a.log");
    row_i64(&row, LOG_STEPS_STEP, step);
    row_i64_if(&row, LOG_STEPS_CONSUMED_SAMPLES, samples > 0, samples);
    assert_true(row_end(&row, &files->run, &err));
}

static void tokens_follow_from_samples_or_steps_and_the_length_of_a_sequence(void **state)
{
    struct files *files = *state;
    add_samples(files, 3, 100);
    add_samples(files, 4, 0);
    run_fill_tokens(&files->run);
    const struct table *steps = report_find(&files->run, "log_steps");
    assert_true(table_cell(steps, 0, LOG_STEPS_CONSUMED_TOKENS)->null);
    state_setting(files, "seq_length", "2048");
    state_setting(files, "micro_batch_size", "2");
    state_setting(files, "gradient_accumulation_steps", "4");
    state_setting(files, "world_size", "8");
    state_setting(files, "tensor_parallel_size", "2");
    run_fill_tokens(&files->run);
    assert_int_equal(table_i64(steps, 0, LOG_STEPS_CONSUMED_TOKENS, -1), 100 * 2048);
    assert_int_equal(table_i64(steps, 1, LOG_STEPS_CONSUMED_TOKENS, -1), 4 * 2 * 4 * 4 * 2048);
}

static void batches_of_a_gpu_are_no_steps_whose_samples_are_known(void **state)
{
    struct files *files = *state;
    struct err err;
    struct row log = {.desc = &table_logs};
    row_word(&log, LOGS_FILE, "a.log");
    row_word(&log, LOGS_FRAMEWORK, "openrlhf-bar");
    assert_true(row_end(&log, &files->run, &err));
    add_samples(files, 4, 0);
    state_setting(files, "seq_length", "2048");
    state_setting(files, "global_batch_size", "8");
    run_fill_tokens(&files->run);
    const struct table *steps = report_find(&files->run, "log_steps");
    assert_true(table_cell(steps, 0, LOG_STEPS_CONSUMED_TOKENS)->null);
}

// MaxText's batch is of a device, whether it shares a model with others or not.
static void a_batch_of_a_device_is_of_every_device(void **state)
{
    struct files *files = *state;
    add_samples(files, 4, 0);
    state_setting(files, "seq_length", "2048");
    state_setting(files, "device_batch_size", "2");
    state_setting(files, "gradient_accumulation_steps", "1");
    state_setting(files, "world_size", "8");
    state_setting(files, "tensor_parallel_size", "4");
    run_fill_tokens(&files->run);
    const struct table *steps = report_find(&files->run, "log_steps");
    assert_int_equal(table_i64(steps, 0, LOG_STEPS_CONSUMED_TOKENS, -1), 4 * 2 * 8 * 2048);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(logs_join_one_after_another),
        TEST(a_log_of_too_many_steps_leaves_them_out_and_says_so),
        TEST(tokens_follow_from_samples_or_steps_and_the_length_of_a_sequence),
        TEST(batches_of_a_gpu_are_no_steps_whose_samples_are_known),
        TEST(a_batch_of_a_device_is_of_every_device),
        TEST(files_beyond_a_million_rows_are_left_out_and_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
