// SPDX-License-Identifier: Apache-2.0
// Deleted runs: gone from everything but the bin, restored as they were, and the space their files
// take.
#include "server/store/store_access.h"
#include "server/store/store_bin.h"
#include "tests/named_cell.h"
#include "tests/unit/series_fixture.h"

static struct run find(struct fixture *f, const char *key)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, str_of(key), &f->arena, &run, &f->err));
    return run;
}

static struct str bin(struct fixture *f, const char *key)
{
    struct run run = find(f, key);
    assert_ok(f, store_bin_run(f->store, run.id, run.revision, STR("ada"), &f->err));
    return run.id;
}

static void restore(struct fixture *f, struct str id)
{
    assert_ok(f, store_restore_run(f->store, id, &f->err));
}

static void assert_no_run(struct fixture *f, const char *key)
{
    struct run run;
    assert_false(store_find_run(f->store, str_of(key), &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static struct stored_list stored(struct fixture *f, enum stored_which which)
{
    struct stored_list list;
    assert_ok(f, store_list_stored(f->store, which, &f->arena, &list, &f->err));
    return list;
}

static uint64_t count_runs(struct fixture *f, struct run_query query)
{
    struct run_list list;
    query.limit = 50;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, list.total);
    return list.total;
}

static struct table series(struct fixture *f)
{
    struct series_query query = {.search = STR("")};
    struct table table;
    assert_ok(f, store_list_series(f->store, &query, &f->arena, &table, &f->err));
    return table;
}

static void nothing_but_the_bin_sees_a_deleted_run(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 3, 1);
    struct run_tag tag = {STR("k"), STR("v")}, any = {STR("k"), STR("")};
    struct run_patch patch = {.tags = &tag, .tag_count = 1};
    assert_ok(f, store_patch_run(f->store, find(f, "s@2").id, &patch, STORE_ANY, &f->err));
    assert_ok(f, store_patch_run(f->store, find(f, "s@3").id, &patch, STORE_ANY, &f->err));
    struct str id = bin(f, "s@3");
    assert_int_equal(count_runs(f, (struct run_query){.tags = &tag, .tag_count = 1}), 1);
    assert_int_equal(count_runs(f, (struct run_query){.tags = &any, .tag_count = 1}), 1);
    assert_no_run(f, id.at);
    assert_no_run(f, "s@3");
    assert_no_run(f, "default/s@3");
    assert_text(find(f, "s~latest").name, "s@2");
    assert_int_equal(count_runs(f, (struct run_query){.limit = 1}), 2);
    assert_int_equal(count_runs(f, (struct run_query){.search = STR("s@")}), 2);
    assert_int_equal(count_runs(f, (struct run_query){.search = id}), 0);
    assert_int_equal(count_runs(f, (struct run_query){.series = STR("s")}), 2);
    assert_int_equal(count_runs(f, (struct run_query){.status = STR("done")}), 2);
    judge_all(f);
    struct table table = series(f);
    assert_int_equal(table.row_count, 1);
    assert_int_equal(named_cell(&table, 0, "runs")->i, 2);
    assert_int_equal(named_cell(&table, 0, "points")->i, 2);
    struct stored_list in_bin = stored(f, STORED_IN_BIN);
    assert_int_equal(in_bin.count, 1);
    assert_text(in_bin.runs[0].name, "s@3");
    assert_text(in_bin.runs[0].deleted_by, "ada");
    assert_true(in_bin.runs[0].deleted_ns > 0);
    assert_int_equal(in_bin.runs[0].bytes, 100);
    assert_int_equal(stored(f, STORED_ALL).count, 3);
}

static void add_at(struct fixture *f, struct str name, int64_t created_ns)
{
    struct run run;
    struct run_request request = {.name = name, .world_size = STORE_ANY, .created_ns = created_ns};
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
}

// Retention looks at no others.
static void only_series_with_an_old_run_are_looked_at(void **state)
{
    struct fixture *f = *state;
    struct stored_list list;
    add_at(f, STR("a@1"), 1000);
    add_at(f, STR("a@2"), 3000);
    add_at(f, STR("b@1"), 3000);
    assert_ok(f, store_list_old(f->store, 2000, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 2);
    assert_text(list.runs[0].name, "a@1");
    assert_text(list.runs[1].name, "a@2");
    bin(f, "a@1");
    assert_ok(f, store_list_old(f->store, 2000, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
}

static void a_restored_run_is_as_it_was(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 3, 1);
    struct run before = find(f, "s@2");
    restore(f, bin(f, "s@2"));
    struct run after = find(f, "s@2");
    assert_text(after.id, before.id.at);
    assert_int_equal(after.created_ns, before.created_ns);
    assert_int_equal(after.status, RUN_DONE);
    assert_int_equal(after.step_median_ns.i, before.step_median_ns.i);
    assert_true(after.revision > before.revision); // pages fetch again
    judge_all(f);
    struct table table = series(f);
    assert_int_equal(named_cell(&table, 0, "points")->i, 3);
    assert_int_equal(stored(f, STORED_IN_BIN).count, 0);
    assert_false(store_restore_run(f->store, after.id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void the_last_run_takes_its_series_along_and_brings_it_back(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 1, 1);
    struct str id = bin(f, "s@1");
    assert_int_equal(series(f).row_count, 0);
    restore(f, id);
    assert_int_equal(series(f).row_count, 1);
}

static void the_name_of_a_deleted_run_is_free(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "a.json");
    struct str first = bin(f, "r");
    struct upload again = add(f, "r", 'a', 0, "a.json");
    assert_string_not_equal(again.run_id.at, first.at);
    assert_false(again.all_existing);
    assert_false(store_restore_run(f->store, first, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_non_null(strstr(f->err.msg, again.run_id.at));
    struct str second = bin(f, "r");
    restore(f, first);
    assert_text(find(f, "r").id, first.at);
    assert_false(store_restore_run(f->store, second, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
}

static void nothing_is_added_to_a_deleted_run(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "a.json");
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'b', 1, "b.json");
    struct str id = bin(f, "r"), name = STR("other");
    struct upload_request request = {
        .run = {.name = id, .world_size = STORE_ANY}, .parts = &part, .count = 1};
    struct run_patch patch = {.name = &name};
    assert_false(store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_false(store_patch_run(f->store, id, &patch, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_set_baseline(f->store, STR("main"), id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_finalize_run(f->store, id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_bin_run(f->store, id, STORE_ANY, STR(""), &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void a_baseline_is_not_deleted(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "a.json");
    struct str id = find(f, "r").id;
    assert_ok(f, store_set_baseline(f->store, STR("main"), id, &f->err));
    assert_false(store_bin_run(f->store, id, STORE_ANY, STR("ada"), &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_non_null(strstr(f->err.msg, "'main'"));
    assert_ok(f, store_drop_baseline(f->store, STR("main"), &f->err));
    bin(f, "r");
}

static void a_changed_run_is_not_deleted(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "a.json");
    struct run seen = find(f, "r");
    add(f, "r", 'b', 1, "b.json");
    assert_false(store_bin_run(f->store, seen.id, seen.revision, STR(""), &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
}

static uint64_t open_job_count(struct fixture *f)
{
    uint64_t open;
    assert_ok(f, store_count_jobs(f->store, &open, &f->err));
    return open;
}

static void work_on_a_deleted_run_ends_and_goes_on_when_it_is_restored(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "a.json");
    add(f, "r", 'b', 1, "b.json");
    struct job job = claim(f);
    struct str id = bin(f, "r");
    assert_int_equal(open_job_count(f), 0);
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = 0, .world_size = 2};
    assert_false(end_trace(f, &job, &report, result)); // too late
    assert_ok(f, store_recover_jobs(f->store, false, &f->err));
    assert_ok(f, store_reanalyze_run(f->store, id, &f->err) || f->err.code == ERR_NOT_FOUND);
    assert_int_equal(open_job_count(f), 0);
    restore(f, id);
    assert_int_equal(open_job_count(f), 2);
    for (int i = 0; i < 2; i++) {
        job = claim(f);
        result.rank = i;
        assert_ok(f, end_trace(f, &job, &report, result));
    }
    job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
}

static void a_join_that_a_deletion_cut_short_is_queued_again(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 1, 1);
    assert_ok(f, store_reanalyze_run(f->store, find(f, "s@1").id, &f->err));
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = 0, .world_size = 1};
    struct job job = claim(f);
    assert_ok(f, end_trace(f, &job, &report, result));
    assert_int_equal(open_job_count(f), 1);
    restore(f, bin(f, "s@1"));
    assert_int_equal(open_job_count(f), 1);
    job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
}

static void an_alert_keeps_what_people_said(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 150000000);
    judge_all(f);
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    struct str alert = named_cell(&table, 0, "id")->s;
    decide(f, alert, "acknowledged", "a bad node");
    struct str id = bin(f, "s@13");
    judge_all(f);
    assert_int_equal(alerts(f, "").row_count, 0);
    table = series(f);
    assert_int_equal(named_cell(&table, 0, "open_alerts")->i, 0);
    assert_false(store_find_alert(f->store, alert, &f->arena, &table, &f->err));
    struct str status = STR("noise");
    struct alert_patch patch = {.status = &status};
    assert_false(store_patch_alert(f->store, alert, &patch, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    restore(f, id);
    judge_all(f);
    table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_text(named_cell(&table, 0, "id")->s, alert.at);
    assert_text(named_cell(&table, 0, "comment")->s, "a bad node");
    assert_text(named_cell(&table, 0, "status")->s, "acknowledged");
    assert_text(named_cell(&table, 0, "series")->s, "s");
}

static void a_file_of_several_runs_counts_once(void **state)
{
    struct fixture *f = *state;
    add(f, "one", 'a', 0, "a.json");
    add(f, "two", 'a', 0, "a.json");
    struct stored_list all = stored(f, STORED_ALL);
    assert_int_equal(all.runs[0].bytes + all.runs[1].bytes, 100);
    bin(f, "two");
    assert_int_equal(stored(f, STORED_IN_BIN).runs[0].bytes, 0); // run one still needs it
    bin(f, "one");
    struct stored_list in_bin = stored(f, STORED_IN_BIN);
    assert_int_equal(in_bin.runs[0].bytes + in_bin.runs[1].bytes, 100);
    assert_int_equal(in_bin.trace_count, 2);
}

static int64_t stored_by(struct fixture *f, const char *who)
{
    struct quota_use use;
    assert_ok(f, store_quota_use(f->store, str_of(who), 1, &use, &f->err));
    return use.stored_bytes;
}

static void what_is_in_the_bin_counts_against_its_senders_quota(void **state)
{
    struct fixture *f = *state;
    add_by(f, "k_1", "r", 'a');
    int64_t before = stored_by(f, "k_1");
    assert_true(before >= 100);
    struct str id = bin(f, "r");
    assert_int_equal(stored_by(f, "k_1"), before);
    assert_ok(f, store_delete_run(f->store, id, STORE_ANY, &f->err));
    assert_int_equal(stored_by(f, "k_1"), 0);
}

static void what_goes_from_the_bin_is_gone(void **state)
{
    struct fixture *f = *state;
    struct garbage *items;
    size_t count;
    add(f, "r", 'a', 0, "a.json");
    struct str id = bin(f, "r");
    assert_ok(f, store_list_garbage(f->store, &f->arena, &items, &count, &f->err));
    assert_int_equal(count, 0);
    assert_ok(f, store_delete_run(f->store, id, STORE_ANY, &f->err));
    assert_ok(f, store_list_garbage(f->store, &f->arena, &items, &count, &f->err));
    assert_int_equal(count, 3); // the upload, its trace, the overview of ranks
    assert_int_equal(stored(f, STORED_ALL).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_but_the_bin_sees_a_deleted_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_series_with_an_old_run_are_looked_at, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_restored_run_is_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_run_takes_its_series_along_and_brings_it_back,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_name_of_a_deleted_run_is_free, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_added_to_a_deleted_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_baseline_is_not_deleted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_run_is_not_deleted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_on_a_deleted_run_ends_and_goes_on_when_it_is_restored,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_join_that_a_deletion_cut_short_is_queued_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_alert_keeps_what_people_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_of_several_runs_counts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_in_the_bin_counts_against_its_senders_quota, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_goes_from_the_bin_is_gone, set_up, tear_down),
    };
    return run_on_each_kind(tests);
}
