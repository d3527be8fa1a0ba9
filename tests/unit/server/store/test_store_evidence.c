// SPDX-License-Identifier: Apache-2.0
// Attachments that say something of their run: they count without any trace, the latest of a name
// counts, and what failed or went leaves nothing.
#include "server/store/store_access.h"
#include "tests/unit/archive_store.h"

static struct run run_named(struct fixture *f, const char *key)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, str_of(key), &f->arena, &run, &f->err));
    return run;
}

static size_t count_evidence(struct fixture *f, struct str run_id)
{
    struct evidence_row *rows;
    size_t count;
    assert_ok(f, store_list_evidence(f->store, run_id, &f->arena, &rows, &count, &f->err));
    return count;
}

// Ends the run's job as if it had found what the attachment said.
static void join(struct fixture *f, int64_t steps)
{
    struct job job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    struct report report = {.arena = &f->arena};
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < table_logs.column_count; i++)
        row[i] = cell_null();
    row[column_place(&table_logs, LOGS_FILE)] = cell_text(STR("train.log"));
    row[column_place(&table_logs, LOGS_STEPS)] = cell_i64(steps);
    row[column_place(&table_logs, LOGS_LAST_LOSS)] = cell_f64(2.5);
    assert_ok(f, report_add(&report, &table_logs, row, &f->err));
    assert_true(end_run(f, &job, &report));
}

static void a_run_without_traces_is_done_with_what_is_said_of_it(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_int_equal(run_named(f, "run").status, RUN_PENDING);
    assert_text(job.filename, "job.tar");
    assert_true(end_evidence(f, &job, 10));
    assert_int_equal(run_named(f, "run").status, RUN_RUNNING);
    join(f, 10);
    struct run run = run_named(f, "run");
    assert_int_equal(run.status, RUN_DONE);
    assert_int_equal(run.received, 0);
    assert_int_equal(run.evidence, 1);
}

static void the_upload_is_open_until_all_is_read(void **state)
{
    struct fixture *f = *state;
    bool open;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    char sha256[STORE_SHA256_SIZE];
    struct new_member member = member_of(sha256, 'A', 0, "");
    member.kind = INPUT_ATTACHMENT;
    member.secrets = 0;
    assert_ok(f, store_unpack_as_attachment(f->store, &job, &member, &f->err));
    assert_ok(f, store_upload_open(f->store, upload.id, &open, &f->err));
    assert_true(open);
    job = claim(f);
    assert_true(end_evidence(f, &job, 10));
    assert_ok(f, store_upload_open(f->store, upload.id, &open, &f->err));
    assert_true(open); // its run is joined next
    join(f, 10);
    assert_ok(f, store_upload_open(f->store, upload.id, &open, &f->err));
    assert_false(open);
}

static void the_latest_of_one_name_counts(void **state)
{
    struct fixture *f = *state;
    struct job first = claim_evidence(f, "run", 'a');
    assert_true(end_evidence(f, &first, 10));
    join(f, 10);
    struct job second = claim_evidence(f, "run", 'b');
    assert_true(end_evidence(f, &second, 20));
    assert_int_equal(count_evidence(f, second.run_id), 1);
    struct evidence_row *rows;
    size_t count;
    assert_ok(f, store_list_evidence(f->store, second.run_id, &f->arena, &rows, &count, &f->err));
    assert_true(str_equal(rows->input_id, second.input_id));
}

static void a_file_that_says_nothing_fails_its_run(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_ok(f, store_fail_job(f->store, &job, "found no step", &f->err));
    struct run run = run_named(f, "run");
    assert_int_equal(run.status, RUN_FAILED);
    assert_text(run.error, "found no step");
    job = claim_evidence(f, "run", 'b'); // another one that does makes up for it
    assert_true(end_evidence(f, &job, 10));
    join(f, 10);
    assert_int_equal(run_named(f, "run").status, RUN_DONE);
}

static void a_failed_file_does_not_fail_a_run_that_has_others(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_true(end_evidence(f, &job, 10));
    join(f, 10);
    job = claim_evidence(f, "run", 'b');
    assert_ok(f, store_fail_job(f->store, &job, "found no step", &f->err));
    assert_int_equal(claim(f).kind, JOB_RUN);
    assert_int_equal(count_evidence(f, job.run_id), 1);
}

static void figures_of_a_log_sort_runs(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_true(end_evidence(f, &job, 10));
    join(f, 10);
    struct run_query query = {
        .sorts = {{STR("log.last_loss"), true}}, .sort_count = 1, .limit = 10};
    struct run_list list;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    query.sorts[0].column = STR("log.file"); // a text is no metric
    assert_false(store_list_runs(f->store, &query, &f->arena, &list, &f->err));
}

static void a_worker_that_lost_its_job_stores_nothing(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_ok(f, store_recover_jobs(f->store, false, &f->err)); // the service was killed
    assert_false(end_evidence(f, &job, 10));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_int_equal(count_evidence(f, job.run_id), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_without_traces_is_done_with_what_is_said_of_it),
        TEST(the_upload_is_open_until_all_is_read),
        TEST(the_latest_of_one_name_counts),
        TEST(a_file_that_says_nothing_fails_its_run),
        TEST(a_failed_file_does_not_fail_a_run_that_has_others),
        TEST(figures_of_a_log_sort_runs),
        TEST(a_worker_that_lost_its_job_stores_nothing),
    };
    return run_on_each_kind(tests);
}
