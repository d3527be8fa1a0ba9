// SPDX-License-Identifier: Apache-2.0
// Attachments that say something of their run: they count without any trace, the latest of a name
// counts, and what failed or went leaves nothing.
#include "server/store/store_access.h"
#include "server/store/store_bin.h"
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
    add_log(f, &report, steps);
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
    struct new_member member = attachment_of(sha256, 'A', "");
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

static struct input_row input_of(struct fixture *f, struct str id)
{
    struct input_row input;
    assert_ok(f, store_find_input(f->store, id, &f->arena, &input, &f->err));
    return input;
}

static void a_file_that_no_longer_counts_says_so(void **state)
{
    struct fixture *f = *state;
    struct job first = claim_evidence(f, "run", 'a');
    assert_true(end_evidence(f, &first, 10));
    assert_int_equal(input_of(f, first.input_id).reason.len, 0);
    join(f, 10);
    struct job second = claim_evidence(f, "run", 'b');
    assert_true(end_evidence(f, &second, 20));
    assert_text(input_of(f, first.input_id).reason, "a later file of this name counts instead");
    assert_int_equal(input_of(f, second.input_id).reason.len, 0);
    assert_int_equal(run_named(f, "run").evidence, 2);
}

static void the_reason_of_a_cut_file_outlives_its_reading(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_cut_evidence(f, "run", 'a', "damaged gzip stream");
    assert_text(input_of(f, job.input_id).reason, "damaged gzip stream");
    assert_true(end_evidence(f, &job, 10));
    assert_text(input_of(f, job.input_id).reason, "damaged gzip stream");
}

static void the_reason_of_a_failure_goes_when_it_is_read_again(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_ok(f, store_fail_job(f->store, &job, "found no step", &f->err));
    assert_text(input_of(f, job.input_id).reason, "found no step");
    assert_ok(f, store_reanalyze_run(f->store, job.run_id, &f->err));
    job = claim(f);
    assert_int_equal(job.kind, JOB_EVIDENCE);
    assert_true(end_evidence(f, &job, 10));
    assert_int_equal(input_of(f, job.input_id).reason.len, 0);
}

// A file that was sent as what it is; returns whether it was there already.
static bool send(struct fixture *f, char content, const char *filename)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, STORE_NO_RANK, filename);
    part.archive = STR("training-log");
    struct upload_request request = {
        .run = named("run"), .parts = &part, .count = 1, .sent_bytes = 100};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(upload.input_count, 1);
    assert_text(upload.inputs[0].filename, filename);
    return upload.all_existing;
}

static void equal_bytes_of_another_name_are_another_file(void **state)
{
    struct fixture *f = *state;
    assert_false(send(f, 'a', "rank5.log"));
    assert_false(send(f, 'a', "rank6.log"));
    assert_true(send(f, 'a', "rank5.log"));
    assert_true(send(f, 'a', "rank6.log"));
    for (size_t read = 0; read < 2;) {
        struct job job = claim(f);
        char sha256[STORE_SHA256_SIZE];
        struct new_member member = attachment_of(sha256, 'a', "");
        if (job.kind == JOB_UNPACK) {
            assert_ok(f, store_unpack_as_attachment(f->store, &job, &member, &f->err));
            continue;
        }
        assert_int_equal(job.kind, JOB_EVIDENCE);
        assert_true(end_evidence(f, &job, 10));
        assert_int_equal(count_evidence(f, job.run_id), ++read);
    }
}

static void what_it_unpacks_to_counts_as_sent(void **state)
{
    struct fixture *f = *state;
    struct quota_use before, after;
    assert_ok(f, store_quota_use(f->store, STR("me"), store_today(), &before, &f->err));
    add_archive(f, "run", 'a', false); // 100 bytes
    struct job job = claim_archive(f);
    char sha256[STORE_SHA256_SIZE];
    struct new_member member = attachment_of(sha256, 'A', "");
    member.bytes = 350;
    assert_ok(f, store_unpack_as_attachment(f->store, &job, &member, &f->err));
    assert_ok(f, store_quota_use(f->store, STR("me"), store_today(), &after, &f->err));
    assert_int_equal(after.day_bytes - before.day_bytes, 350);
}

static void restoring_reads_nothing_again(void **state)
{
    struct fixture *f = *state;
    struct job job = claim_evidence(f, "run", 'a');
    assert_true(end_evidence(f, &job, 10));
    join(f, 10);
    assert_ok(f, store_bin_run(f->store, job.run_id, STORE_ANY, STR("me"), &f->err));
    assert_ok(f, store_recover_jobs(f->store, false, &f->err));
    assert_int_equal(open_jobs(f), 0);
    assert_ok(f, store_restore_run(f->store, job.run_id, &f->err));
    assert_int_equal(open_jobs(f), 0);
    assert_int_equal(run_named(f, "run").status, RUN_DONE);
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
        TEST(a_file_that_no_longer_counts_says_so),
        TEST(the_reason_of_a_cut_file_outlives_its_reading),
        TEST(the_reason_of_a_failure_goes_when_it_is_read_again),
        TEST(equal_bytes_of_another_name_are_another_file),
        TEST(what_it_unpacks_to_counts_as_sent),
        TEST(restoring_reads_nothing_again),
        TEST(a_file_that_says_nothing_fails_its_run),
        TEST(a_failed_file_does_not_fail_a_run_that_has_others),
        TEST(figures_of_a_log_sort_runs),
        TEST(a_worker_that_lost_its_job_stores_nothing),
    };
    return run_on_each_kind(tests);
}
