// SPDX-License-Identifier: Apache-2.0
// What an older version stored is there after an upgrade, and is analyzed again.
#include "server/store/schema_data.h"
#include "server/store/store_tracking.h"
#include "server/store/store_care.h"
#include "tests/named_cell.h"
#include "tests/unit/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

// What the first schema's version left: a run with a rank that was read, one that failed and a tag.
static const char *const first_content =
    "INSERT INTO run (id, project, name, series, note, created_ns, world_size, analysis_version) "
    "VALUES ('r_old', 'p', 'old@1', 'old', 'a note', 5, 8, 1);"
    "INSERT INTO run_tag VALUES ('r_old', 'gpu', 'H100');"
    "INSERT INTO blob VALUES (printf('%064d', 1), 10, 5), (printf('%064d', 2), 10, 5);"
    "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, uploaded_ns, state, "
    "error, analysis_version) VALUES "
    "('t_done', 'r_old', 0, 'field', printf('%064d', 1), 'a.json', 10, 5, 'done', NULL, 1),"
    "('t_failed', 'r_old', 1, 'field', printf('%064d', 2), 'b.json', 10, 5, 'failed', 'cut', 1);"
    "INSERT INTO trace_report VALUES ('t_done', 1, x'00');"
    "INSERT INTO run_summary (run_id, \"row\", gpu, step_median_ns) "
    "VALUES ('r_old', 0, 'H100', 77);"
    "INSERT INTO run_breakdown (run_id, \"row\", scope, gemm_ns) "
    "VALUES ('r_old', 0, 'run_median', 33);";

// In place of the empty store, one as the first schema's program left it.
static void fill_first(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(unlink(f->path), 0);
    db_raw_run(f->path, schema_sqlite.files[0].sql);
    db_raw_run(f->path, first_content);
    db_raw_run(f->path, "PRAGMA user_version = 1");
}

static void runs_of_the_first_schema_keep_all_that_was_known(void **state)
{
    struct fixture *f = *state;
    struct run run;
    fill_first(f);
    reopen(f);
    assert_ok(f, store_find_run(f->store, STR("old@1"), &f->arena, &run, &f->err));
    assert_text(run.id, "r_old");
    assert_text(run.note, "a note");
    assert_text(run.gpu.s, "H100");
    assert_int_equal(run.world_size, 8);
    assert_int_equal(run.tag_count, 1);
    assert_int_equal(run.received, 2);
    assert_int_equal(run.done, 1);
    assert_int_equal(run.failed, 1);
    assert_int_equal(run.status, RUN_PARTIAL);
    assert_int_equal(run.step_median_ns.i, 77);
    assert_text(run.step_pattern, "");
    assert_int_equal(run.warmup_steps, -1);
    int64_t believed_ns;
    assert_ok(f, store_believed_clock(f->store, &believed_ns, &f->err));
    assert_int_equal(believed_ns, 5); // when the newest data arrived
}

static void runs_of_the_first_schema_are_points_of_their_series(void **state)
{
    struct fixture *f = *state;
    struct table table;
    struct series_query query = {.search = STR("")};
    struct series_key key = {STR(""), STR("old")};
    fill_first(f);
    reopen(f);
    assert_ok(f, store_judge_series(f->store, &f->err));
    assert_ok(f, store_list_series(f->store, &query, &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 1);
    assert_int_equal(named_cell(&table, 0, "points")->i, 1);
    assert_int_equal(named_cell(&table, 0, "step_median_ns")->i, 77);
    assert_ok(f, store_find_series(f->store, &key, &f->arena, &f->err));
    assert_ok(f, store_list_points(f->store, &key, STR("mfu"), &f->arena, &table, &f->err));
    assert_string_equal(named_cell(&table, 0, "gpu")->s.at, "H100");
}

static void traces_of_an_older_analysis_are_read_again(void **state)
{
    struct fixture *f = *state;
    fill_first(f);
    reopen(f);
    assert_ok(f, store_recover_jobs(f->store, false, &f->err));
    struct job job = claim(f);
    assert_text(job.trace_id, "t_done");
    assert_text(job.step_pattern, "");
    assert_int_equal(job.warmup_steps, -1);
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = -1, .world_size = -1};
    assert_ok(f, end_trace(f, &job, &report, result));
    job = claim(f);
    assert_int_equal(job.kind, JOB_RUN); // what failed once is not retried
    assert_ok(f, end_run(f, &job, &report));
    assert_ok(f, store_recover_jobs(f->store, false, &f->err));
    uint64_t open;
    assert_ok(f, store_count_jobs(f->store, &open, &f->err));
    assert_int_equal(open, 0); // all is of this version now
}

static void figures_of_runs_follow_what_happens_after_an_upgrade(void **state)
{
    struct fixture *f = *state;
    struct run_query running = {.status = STR("running"), .limit = 10};
    struct run_list list;
    fill_first(f);
    reopen(f);
    add(f, "r_old", 'n', 7, "new.json");
    assert_ok(f, store_list_runs(f->store, &running, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 1);
    assert_int_equal(list.runs[0].received, 3);
    assert_int_equal(list.runs[0].done, 1);
    assert_text(list.runs[0].error, "cut");
}

static void reports_that_an_older_program_stored_whole_are_read(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    db_raw_run(f->path, "UPDATE trace_report SET report = (SELECT report FROM trace_table); "
                        "DELETE FROM trace_table");
    const struct table_desc *const kernels[] = {table_named(trace_tables, "kernels"), NULL};
    const struct table_desc *const steps[] = {table_named(trace_tables, "steps"), NULL};
    struct report one = {.arena = &f->arena}, none = one, all = one;
    struct str trace = upload.traces[0].id;
    assert_ok(f, store_load_trace_tables(f->store, trace, kernels, &one, &f->err));
    assert_int_equal(one.tables[0].row_count, 3);
    assert_ok(f, store_load_trace_tables(f->store, trace, steps, &none, &f->err));
    assert_int_equal(none.table_count, 0);
    assert_ok(f, store_load_trace_report(f->store, trace, &all, &f->err));
    assert_int_equal(all.table_count, 1);
}

// As the last program with SQL tables of runs left it: version 24.
static const char *const last_content =
    "INSERT INTO stored_run (id, project, name, series, created_ns, gpu, step_median_ns) "
    "VALUES ('r_new', 'p', 'new', 'new', 5, 'MI300X', 70), "
    "('r_bare', 'p', 'bare', 'bare', 6, NULL, NULL);"
    "INSERT INTO metadata VALUES ('r_new', 'loss', '2.5'), ('r_new', 'commit', 'abc');"
    "INSERT INTO run_summary (run_id, \"row\", gpu, step_median_ns, busy_share, findings) "
    "VALUES ('r_new', 0, 'MI300X', 70, 0.5, 1);"
    "INSERT INTO run_breakdown (run_id, \"row\", scope, steps, gemm_ns) "
    "VALUES ('r_new', 0, 'run_median', 3, 33), ('r_new', 1, 'rank', 1, 99);"
    "INSERT INTO run_findings (run_id, \"row\", id) VALUES ('r_new', 0, 'starved');"
    "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999) "
    "INSERT INTO run_kernels (run_id, \"row\", name, total_ns) "
    "SELECT 'r_new', i, 'k' || i, i FROM n;";

static void fill_last(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(unlink(f->path), 0);
    for (int i = 0; i < 24; i++)
        db_raw_run(f->path, schema_sqlite.files[i].sql);
    db_raw_run(f->path, last_content);
    db_raw_run(f->path, "PRAGMA user_version = 24");
}

static void expect_kernels(const struct table *kernels)
{
    assert_int_equal(kernels->row_count, 3000);
    for (size_t row = 0; row < kernels->row_count; row++)
        assert_int_equal(named_cell(kernels, row, "total_ns")->i, row);
    assert_text(named_cell(kernels, 2999, "name")->s, "k2999");
    assert_true(named_cell(kernels, 0, "calls")->null);
}

static void expect_all_of_last(struct fixture *f)
{
    struct run run;
    struct report report = {.arena = &f->arena};
    assert_ok(f, store_find_run(f->store, STR("new"), &f->arena, &run, &f->err));
    assert_text(run.gpu.s, "MI300X");
    assert_int_equal(run.step_median_ns.i, 70);
    assert_int_equal(run.findings.i, 1);
    assert_false(run.busy_share.null || run.busy_share.f < 0.5 || run.busy_share.f > 0.5);
    assert_int_equal(run.parts[0].i, 11); // gemm_ns of the headline rank, per step
    assert_true(run.parts[1].null);
    assert_int_equal(db_raw_number(f->path, "SELECT value * 10 FROM figure "
                                            "WHERE metric = 'meta.loss'"),
                     25);
    assert_int_equal(
        db_raw_number(f->path, "SELECT count(*) FROM figure WHERE metric LIKE 'meta.%'"), 1);
    assert_ok(f, store_load_run_report(f->store, run.id, &report, &f->err));
    expect_kernels(report_find(&report, "kernels"));
    assert_ok(f, store_dismiss(f->store, run.id, STR("starved"), STR("known"), &f->err));
    assert_ok(f, store_find_run(f->store, STR("bare"), &f->arena, &run, &f->err));
    assert_true(run.step_median_ns.null && run.gpu.null);
}

static void tables_of_runs_become_parts_and_figures(void **state)
{
    struct fixture *f = *state;
    fill_last(f);
    reopen(f);
    expect_all_of_last(f);
}

// Another process opens the store; the first byte that it writes past `most` of any file ends it,
// as SIGKILL would: nothing of it runs afterwards. Returns whether it was through before.
static bool opens_within(struct fixture *f, rlim_t most)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
        _exit(store_open(f->path, &f->err) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGXFSZ : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
}

// In the copy that is made first, in the log ahead of the database and in the database itself.
static void a_store_whose_upgrade_is_killed_again_and_again_is_whole(void **state)
{
    struct fixture *f = *state;
    unsigned killed = 0;
    fill_last(f);
    for (rlim_t most = 20000; !opens_within(f, most); most += most / 4) {
        assert_int_equal(db_raw_number(f->path, "PRAGMA user_version"), 24);
        killed++;
    }
    assert_true(killed >= 5);
    reopen(f);
    expect_all_of_last(f);
}

static void a_database_of_a_newer_program_is_refused_and_left_alone(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", schema_sqlite.version + 1);
    db_raw_run(f->path, sql);
    f->store = store_open(f->path, &f->err);
    assert_null(f->store);
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "run a newer one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_of_the_first_schema_keep_all_that_was_known, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(runs_of_the_first_schema_are_points_of_their_series, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(traces_of_an_older_analysis_are_read_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(figures_of_runs_follow_what_happens_after_an_upgrade,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(reports_that_an_older_program_stored_whole_are_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(tables_of_runs_become_parts_and_figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_whose_upgrade_is_killed_again_and_again_is_whole,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_database_of_a_newer_program_is_refused_and_left_alone,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
