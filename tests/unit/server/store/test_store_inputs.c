// SPDX-License-Identifier: Apache-2.0
// Archives in the store: each member has its own fate, whatever is repeated changes nothing, and no
// file outlives the last row that names it.
#include "server/store/store_access.h"
#include "server/store/store_bin.h"
#include "server/store/store_care.h"
#include "tests/unit/archive_store.h"

static bool is_named(struct fixture *f, char content)
{
    char sha256[STORE_SHA256_SIZE];
    bool named;
    fill_sha256(sha256, content);
    assert_ok(f, store_names_blob(f->store, sha256, &named, &f->err));
    return named;
}

static bool is_garbage(struct fixture *f, char content)
{
    char sha256[STORE_SHA256_SIZE];
    struct garbage *items;
    size_t count;
    fill_sha256(sha256, content);
    assert_ok(f, store_list_garbage(f->store, &f->arena, &items, &count, &f->err));
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == GARBAGE_BLOB && strcmp(items[i].name.at, sha256) == 0)
            return true;
    return false;
}

static size_t count_inputs(struct fixture *f, struct str run_id, struct input_row **inputs)
{
    size_t count;
    assert_ok(f, store_list_inputs(f->store, run_id, &f->arena, inputs, &count, &f->err));
    return count;
}

static enum run_status status_named(struct fixture *f, const char *key)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, str_of(key), &f->arena, &run, &f->err));
    return run.status;
}

static bool is_open(struct fixture *f, struct str upload_id)
{
    bool open;
    assert_ok(f, store_upload_open(f->store, upload_id, &open, &f->err));
    return open;
}

static void an_archive_becomes_its_members(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "run", 'a', false);
    assert_int_equal(upload.count, 0);
    assert_int_equal(upload.input_count, 1);
    assert_false(upload.all_existing);
    assert_int_equal(status_named(f, "run"), RUN_PENDING);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    assert_true(is_open(f, upload.id));
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_false(is_named(f, 'a'));
    assert_true(is_garbage(f, 'a'));
    assert_true(is_named(f, '1') && is_named(f, '2'));
    assert_int_equal(count_inputs(f, upload.run_id, &inputs), 3);
    assert_int_equal(inputs[0].kind, INPUT_ARCHIVE);
    assert_int_equal(inputs[1].kind, INPUT_TRACE);
    assert_int_equal(inputs[1].state, TRACE_QUEUED);
    assert_int_equal(inputs[2].kind, INPUT_ATTACHMENT);
    finish_next(f, 3);
    assert_ok(f, store_find_upload(f->store, upload.id, &f->arena, &upload, &f->err));
    assert_int_equal(upload.count, 1);
    assert_int_equal(upload.traces[0].rank, 3);
    assert_int_equal(claim(f).kind, JOB_RUN);
    assert_true(is_open(f, upload.id));
}

static void a_repeated_attempt_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    struct unpack_state unpack;
    add_two_members(f, &job, "");
    assert_ok(f, store_recover_jobs(f->store, false, &f->err)); // the service was killed
    char sha256[STORE_SHA256_SIZE];
    struct new_member late = member_of(sha256, '9', 2, "late.json");
    assert_false(store_add_members(f->store, &job, &late, 1, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    job = claim_archive(f);
    assert_ok(f, store_begin_unpack(f->store, &job, &f->arena, &unpack, &f->err));
    assert_int_equal(unpack.stored, 2);
    add_two_members(f, &job, "");
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_int_equal(count_inputs(f, upload.run_id, &inputs), 3);
    assert_false(store_finish_unpack(f->store, &job, STR(""), &f->err));
}

static void windows_become_runs_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "exp", 'a', false);
    struct job job = claim_archive(f);
    char shas[3][STORE_SHA256_SIZE];
    struct new_member members[3] = {member_of(shas[0], '1', 0, "iteration_20/rank0.json"),
                                    member_of(shas[1], '2', 1, "iteration_9/rank0.json"),
                                    member_of(shas[2], '3', 2, "iteration_20/rank1.json")};
    members[0].window = members[2].window = STR("iteration_20");
    members[1].window = STR("iteration_9");
    assert_ok(f, store_add_members(f->store, &job, members, 2, &f->err));
    // A run that is renamed meanwhile is still the window's.
    struct run run;
    const struct str name = STR("exp@other");
    const struct run_patch patch = {.name = &name};
    assert_ok(f, store_find_run(f->store, STR("exp@iteration_20"), &f->arena, &run, &f->err));
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
    assert_ok(f, store_add_members(f->store, &job, members, 3, &f->err));
    assert_ok(f, store_find_run(f->store, name, &f->arena, &run, &f->err));
    assert_int_equal(run.received, 2);
    assert_text(run.owner, "me");
    assert_int_equal(count_inputs(f, upload.run_id, &inputs), 4);
    assert_int_equal(count_inputs(f, run.id, &inputs), 2);
    struct run before; // in the order of the windows, not of the members
    assert_ok(f, store_find_run(f->store, STR("exp@iteration_9"), &f->arena, &before, &f->err));
    assert_int_equal(run.created_ns - before.created_ns, 11);
}

static void a_series_gets_no_second_name(void **state)
{
    struct fixture *f = *state;
    struct run run;
    add_archive(f, "exp@7", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "step_5");
    assert_ok(f, store_find_run(f->store, STR("exp@7.step_5"), &f->arena, &run, &f->err));
    assert_text(run.series, "exp");
}

static void a_window_without_a_run_fails_its_members_alone(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    char name[STORE_NAME_MAX_BYTES];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct upload upload = add_archive(f, name, 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "iteration_1");
    assert_int_equal(count_inputs(f, upload.run_id, &inputs), 3);
    assert_int_equal(inputs[1].kind, INPUT_SKIPPED);
    assert_int_equal(inputs[1].state, TRACE_FAILED);
    assert_true(inputs[1].reason.len > 0);
    assert_true(is_garbage(f, '1'));
    assert_int_equal(inputs[2].kind, INPUT_ATTACHMENT);
}

static void the_same_archive_again_is_the_one_that_is_there(void **state)
{
    struct fixture *f = *state;
    struct upload first = add_archive(f, "run", 'a', false);
    struct upload second = add_archive(f, "run", 'a', true); // it still waits
    assert_true(second.all_existing);
    assert_text(second.inputs[0].id, first.inputs[0].id.at);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_ok(f, store_find_upload(f->store, second.id, &f->arena, &second, &f->err));
    assert_int_equal(second.count, 1);
    struct upload third = add_archive(f, "run", 'a', false);
    assert_true(third.all_existing);
    assert_int_equal(third.count, 1);
    assert_true(is_garbage(f, 'a'));
    assert_false(add_archive(f, "run", 'a', true).all_existing);
}

static void a_failed_archive_keeps_its_bytes_and_can_be_tried_again(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    assert_ok(f, store_fail_job(f->store, &job, "no room", &f->err));
    assert_int_equal(status_named(f, "run"), RUN_FAILED);
    assert_true(is_named(f, 'a'));
    assert_false(is_open(f, upload.id));
    assert_ok(f, store_reanalyze_run(f->store, upload.run_id, &f->err));
    assert_int_equal(status_named(f, "run"), RUN_PENDING);
    job = claim_archive(f);
    assert_ok(f, store_fail_job(f->store, &job, "no room", &f->err));
    assert_true(add_archive(f, "run", 'a', false).all_existing);
    claim_archive(f);
}

static void a_damaged_archive_says_so_and_its_bytes_go(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    assert_ok(f, store_finish_unpack(f->store, &job, STR("damaged"), &f->err));
    assert_false(is_named(f, 'a'));
    count_inputs(f, upload.run_id, &inputs);
    assert_int_equal(inputs[0].state, TRACE_FAILED);
    assert_text(inputs[0].reason, "damaged");
    finish_next(f, 0);
    assert_int_equal(claim(f).kind, JOB_RUN);
}

static void deaths_of_its_process_fail_an_archive(void **state)
{
    struct fixture *f = *state;
    const struct job_strike why = {"crashed", "SIGSEGV"};
    bool again = true;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "run", 'a', false);
    for (int i = 0; again; i++) {
        assert_in_range(i, 0, STORE_MAX_FAULTS);
        struct job job = claim_archive(f);
        assert_ok(f, store_strike_job(f->store, &job, &why, &again, &f->err));
    }
    count_inputs(f, upload.run_id, &inputs);
    assert_int_equal(inputs[0].state, TRACE_FAILED);
    assert_non_null(strstr(inputs[0].reason.at, "unpacking this archive crashed 3 times"));
}

static void a_file_that_is_no_archive_becomes_a_trace(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    assert_ok(f, store_unpack_as_trace(f->store, &job, &f->err));
    assert_true(is_named(f, 'a'));
    assert_ok(f, store_find_upload(f->store, upload.id, &f->arena, &upload, &f->err));
    assert_int_equal(upload.count, 1);
    assert_text(upload.traces[0].filename, "job.tar");
    finish_next(f, 0);
}

static void members_count_towards_quotas(void **state)
{
    struct fixture *f = *state;
    struct quota_use use;
    add_archive(f, "run", 'a', false);
    assert_ok(f, store_quota_use(f->store, STR("me"), store_today(), &use, &f->err));
    assert_int_equal(use.stored_bytes, 100);
    struct job job = claim_archive(f);
    char shas[3][STORE_SHA256_SIZE];
    struct new_member members[3] = {member_of(shas[0], '1', 0, "a"),
                                    member_of(shas[1], '2', 1, "b"),
                                    member_of(shas[2], '3', 2, "c")};
    members[2].kind = INPUT_ATTACHMENT;
    assert_ok(f, store_add_members(f->store, &job, members, 3, &f->err));
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_ok(f, store_quota_use(f->store, STR("me"), store_today(), &use, &f->err));
    assert_int_equal(use.stored_bytes, 150);
    assert_int_equal(use.day_bytes, 150);
}

static void deleting_the_run_deletes_everything(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    for (const char *content = "a12"; *content; content++) {
        assert_false(is_named(f, *content));
        assert_true(is_garbage(f, *content));
    }
    assert_false(store_finish_unpack(f->store, &job, STR(""), &f->err));
}

static void a_file_that_a_trace_and_an_attachment_have_stays_for_either(void **state)
{
    struct fixture *f = *state;
    struct upload archive = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    struct upload other = add(f, "other", '2', 0, "x.json");
    assert_ok(f, store_delete_run(f->store, other.run_id, STORE_ANY, &f->err));
    assert_true(is_named(f, '2'));
    other = add(f, "other", '2', 0, "x.json");
    assert_ok(f, store_delete_run(f->store, archive.run_id, STORE_ANY, &f->err));
    assert_true(is_named(f, '2'));
}

static void what_inputs_take_counts_for_their_run(void **state)
{
    struct fixture *f = *state;
    struct stored_list list;
    add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    assert_ok(f, store_list_stored(f->store, STORED_ALL, &f->arena, &list, &f->err));
    assert_int_equal(list.runs[0].bytes, 200);
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_ok(f, store_list_stored(f->store, STORED_ALL, &f->arena, &list, &f->err));
    assert_int_equal(list.runs[0].bytes, 100);
}

static void the_bin_stops_and_restoring_goes_on(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs, input;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    count_inputs(f, upload.run_id, &inputs);
    assert_ok(f, store_bin_run(f->store, upload.run_id, STORE_ANY, STR("me"), &f->err));
    assert_false(store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_false(store_find_input(f->store, inputs[2].id, &f->arena, &input, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_ok(f, store_restore_run(f->store, upload.run_id, &f->err));
    assert_ok(f, store_find_input(f->store, inputs[2].id, &f->arena, &input, &f->err));
    job = claim_archive(f);
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
}

static void a_damaged_attachment_is_named(void **state)
{
    struct fixture *f = *state;
    char sha256[STORE_SHA256_SIZE];
    struct damaged_blob *blobs;
    size_t count;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    add_two_members(f, &job, "");
    fill_sha256(sha256, '2');
    assert_ok(f, store_note_scrub(f->store, sha256, "differs", &f->err));
    assert_ok(f, store_list_damaged(f->store, &f->arena, &blobs, &count, &f->err));
    assert_int_equal(count, 1);
    assert_text(blobs[0].filename, "train.log");
    assert_text(blobs[0].run_id, upload.run_id.at);
}

static void cancelling_a_run_ends_its_archive(void **state)
{
    struct fixture *f = *state;
    struct input_row *inputs;
    struct upload upload = add_archive(f, "run", 'a', false);
    assert_ok(f, store_cancel_run(f->store, upload.run_id, &f->err));
    count_inputs(f, upload.run_id, &inputs);
    assert_int_equal(inputs[0].state, TRACE_FAILED);
    assert_false(is_open(f, upload.id));
}

// All of them are traces of the same blob, which counts once.
static void processes_of_a_file_are_traces_of_its_bytes(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add_archive(f, "run", 'a', false);
    struct job job = claim_archive(f);
    struct new_member members[2];
    char sha256[STORE_SHA256_SIZE];
    for (int i = 0; i < 2; i++) {
        members[i] = member_of(sha256, 'a', i, i ? "rank1" : "rank0");
        members[i].process = 10 + i;
        members[i].is_repeat = i > 0;
    }
    assert_ok(f, store_add_members(f->store, &job, members, 2, &f->err));
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_true(is_named(f, 'a'));
    assert_int_equal(claim(f).process, 10);
    assert_int_equal(claim(f).process, 11);
    struct input_row *inputs;
    assert_int_equal(count_inputs(f, upload.run_id, &inputs), 3);
    assert_string_not_equal(inputs[1].trace_id.at, inputs[2].trace_id.at);
    upload = add_archive(f, "run", 'a', false);
    assert_true(upload.all_existing);
    assert_int_equal(upload.count, 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_archive_becomes_its_members),
        TEST(a_repeated_attempt_changes_nothing),
        TEST(windows_become_runs_of_their_own),
        TEST(a_series_gets_no_second_name),
        TEST(a_window_without_a_run_fails_its_members_alone),
        TEST(the_same_archive_again_is_the_one_that_is_there),
        TEST(a_failed_archive_keeps_its_bytes_and_can_be_tried_again),
        TEST(a_damaged_archive_says_so_and_its_bytes_go),
        TEST(deaths_of_its_process_fail_an_archive),
        TEST(a_file_that_is_no_archive_becomes_a_trace),
        TEST(members_count_towards_quotas),
        TEST(deleting_the_run_deletes_everything),
        TEST(a_file_that_a_trace_and_an_attachment_have_stays_for_either),
        TEST(what_inputs_take_counts_for_their_run),
        TEST(the_bin_stops_and_restoring_goes_on),
        TEST(a_damaged_attachment_is_named),
        TEST(cancelling_a_run_ends_its_archive),
        TEST(processes_of_a_file_are_traces_of_its_bytes),
    };
    return run_on_each_kind(tests);
}
