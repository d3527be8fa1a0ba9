// SPDX-License-Identifier: Apache-2.0
// The figures that triggers keep in a run's row equal those from counting, whatever happens.
#include "tests/unit/store_fixture.h"

enum { ROUNDS = 1500 };

// Runs whose stored figures differ from what traces, jobs and results give.
static const char *const wrong_runs =
    "SELECT count(*) FROM run WHERE "
    "received <> (SELECT count(*) FROM trace WHERE run_id = run.id) OR "
    "done <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'done') OR "
    "failed <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'failed') OR "
    "running <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'running') OR "
    "joining <> (SELECT count(*) FROM job WHERE run_id = run.id AND kind = 'run' "
    "AND state IN ('queued', 'running')) OR "
    "traced_world_size IS NOT (SELECT max(world_size) FROM trace WHERE run_id = run.id) OR "
    "(gpu, step_median_ns, busy_share, exposed_comm_share, findings, worst_quality) IS NOT "
    "(SELECT gpu, step_median_ns, busy_share, exposed_comm_share, findings, worst_quality "
    "FROM run_summary WHERE run_id = run.id AND \"row\" = 0)";

struct life {
    struct fixture *f;
    sqlite3 *db; // the test's, separate from the store's
    uint64_t random;
    struct job job; // the last one claimed; it may be gone
    size_t finished, joined;
};

static uint64_t below(struct life *life, uint64_t limit)
{
    life->random = life->random * 6364136223846793005u + 1442695040888963407u;
    return (life->random >> 33) % limit;
}

static const char *any_run(struct life *life)
{
    static const char *const names[] = {"a", "b", "c"};
    return names[below(life, 3)];
}

// Few contents and ranks, so that they collide; a conflict is refused as a whole.
static void upload(struct life *life)
{
    char sha256[STORE_SHA256_SIZE];
    int64_t rank = below(life, 2) ? (int64_t)below(life, 3) : STORE_NO_RANK;
    struct trace_part part = part_of(sha256, (char)('a' + below(life, 6)), rank, "x.json");
    struct upload_request request = {
        .run = {.name = str_of(any_run(life)), .world_size = STORE_ANY},
        .parts = &part,
        .count = 1,
        .replace = below(life, 2)};
    struct upload made;
    if (!store_add_upload(life->f->store, &request, &life->f->arena, &made, &life->f->err))
        assert_int_equal(life->f->err.code, ERR_CONFLICT);
}

static void add_summary(struct life *life, struct report *report)
{
    const struct table_desc *desc = run_table("summary");
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, "gpu")] = cell_text(str_of(any_run(life)));
    row[table_column(desc, "step_median_ns")] = cell_i64((int64_t)below(life, 1000));
    row[table_column(desc, "findings")] = cell_i64((int64_t)below(life, 9));
    assert_ok(life->f, report_add(report, desc, row, &life->f->err));
}

// A job whose trace or run was deleted is refused as gone.
static void finish(struct life *life)
{
    struct fixture *f = life->f;
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = (int64_t)below(life, 5) - 1,
                                  .world_size = (int64_t)below(life, 9) - 1};
    if (life->job.kind == JOB_RUN && below(life, 4))
        add_summary(life, &report);
    bool ok = life->job.kind == JOB_RUN ? end_run(f, &life->job, &report)
                                        : end_trace(f, &life->job, &report, result);
    if (!ok)
        assert_int_equal(f->err.code, ERR_NOT_FOUND);
    life->finished += ok;
    life->joined += ok && life->job.kind == JOB_RUN;
}

static void end_job(struct life *life)
{
    struct fixture *f = life->f;
    if (!life->job.id)
        return;
    if (below(life, 3))
        finish(life);
    else if (!(below(life, 2) ? store_fail_job(f->store, &life->job, "cut", &f->err)
                              : store_requeue_job(f->store, &life->job, &f->err)))
        assert_int_equal(f->err.code, ERR_NOT_FOUND);
    life->job.id = 0;
}

static void begin_job(struct life *life)
{
    bool found;
    if (life->job.id) // no worker has two
        return;
    assert_ok(life->f,
              store_claim_job(life->f->store, &life->f->arena, &life->job, &found, &life->f->err));
}

// The service stops and starts again.
static void restart(struct life *life)
{
    assert_ok(life->f, store_recover_jobs(life->f->store, below(life, 2), &life->f->err));
    life->job.id = 0;
}

static void change_run(struct life *life)
{
    struct fixture *f = life->f;
    struct run run;
    if (!store_find_run(f->store, str_of(any_run(life)), &f->arena, &run, &f->err))
        return;
    if (below(life, 3))
        assert_ok(f, store_reanalyse_run(f->store, run.id, &f->err));
    else
        assert_ok(f, store_delete_run(f->store, run.id, STORE_ANY, &f->err));
}

static void assert_figures(struct life *life, size_t round)
{
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(life->db, wrong_runs, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    if (sqlite3_column_int(stmt, 0))
        fail_msg("after round %zu the kept figures are wrong", round);
    sqlite3_finalize(stmt);
}

static void kept_figures_are_those_that_counting_gives(void **state)
{
    static void (*const acts[])(struct life *) = {upload,    upload,  begin_job, begin_job,
                                                  begin_job, end_job, end_job,   end_job};
    struct life life = {.f = *state, .db = open_raw(*state), .random = 11};
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t rare = below(&life, 40);
        if (rare == 0)
            restart(&life);
        else if (rare <= 2)
            change_run(&life);
        else
            acts[below(&life, sizeof acts / sizeof *acts)](&life);
        assert_figures(&life, round);
    }
    assert_true(life.finished > 100 && life.joined > 20);
    sqlite3_close(life.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_figures_are_those_that_counting_gives, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
