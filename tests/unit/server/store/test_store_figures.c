// SPDX-License-Identifier: Apache-2.0
// Figures that are kept of a run are those that counting and its tables give, whatever happens.
#include "tests/named_cell.h"
#include "tests/unit/store_fixture.h"

enum { ROUNDS = 1500, ROUNDS_OF_SERVER = 150 };

// Runs whose stored figures differ from what traces, jobs and results give.
static const char *const wrong_runs =
    "SELECT count(*) FROM run WHERE "
    "received <> (SELECT count(*) FROM trace WHERE run_id = run.id) OR "
    "done <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'done') OR "
    "failed <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'failed') OR "
    "running <> (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'running') OR "
    "joining <> (SELECT count(*) FROM job WHERE run_id = run.id AND kind = 'run' "
    "AND state IN ('queued', 'running')) OR "
    "traced_world_size IS DISTINCT FROM (SELECT max(world_size) FROM trace WHERE run_id = run.id)";

struct life {
    struct fixture *f;
    struct db *db; // of the test, beside the store's
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
    row[table_column(desc, STR("gpu"))] = cell_text(str_of(any_run(life)));
    row[table_column(desc, STR("step_median_ns"))] = cell_i64((int64_t)below(life, 1000));
    row[table_column(desc, STR("findings"))] = cell_i64((int64_t)below(life, 9));
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
        assert_ok(f, store_reanalyze_run(f->store, run.id, &f->err));
    else
        assert_ok(f, store_delete_run(f->store, run.id, STORE_ANY, &f->err));
}

static void assert_same(const struct cell *kept, const struct table *summary, const char *column)
{
    const struct cell *cell = summary && summary->row_count ? named_cell(summary, 0, column) : NULL;
    assert_int_equal(kept->null, !cell || cell->null);
    if (!kept->null)
        assert_int_equal(kept->i, cell->i);
}

// Figures of a run are those of its stored summary.
static void assert_summary(struct life *life, const char *name)
{
    struct fixture *f = life->f;
    struct run run;
    struct report report = {.arena = &f->arena};
    if (!store_find_run(f->store, str_of(name), &f->arena, &run, &f->err))
        return;
    assert_ok(f, store_load_run_report(f->store, run.id, &report, &f->err));
    const struct table *summary = report_find(&report, "summary");
    assert_same(&run.step_median_ns, summary, "step_median_ns");
    assert_same(&run.findings, summary, "findings");
    assert_int_equal(run.gpu.null, !summary || !summary->row_count);
}

static void assert_figures(struct life *life, size_t round)
{
    assert_summary(life, any_run(life));
    struct stmt stmt = sql_begin(life->db, wrong_runs, &life->f->err);
    assert_true(sql_row(&stmt));
    if (sql_i64(&stmt, 0))
        fail_msg("after round %zu the kept figures are wrong", round);
    assert_ok(life->f, sql_end(&stmt));
}

static void kept_figures_are_those_that_counting_gives(void **state)
{
    static void (*const acts[])(struct life *) = {upload,    upload,  begin_job, begin_job,
                                                  begin_job, end_job, end_job,   end_job};
    struct life life = {
        .f = *state, .db = db_raw_open(((struct fixture *)*state)->path), .random = 11};
    size_t rounds = life.db->kind == &db_sqlite ? ROUNDS : ROUNDS_OF_SERVER;
    for (size_t round = 0; round < rounds; round++) {
        uint64_t rare = below(&life, 40);
        if (rare == 0)
            restart(&life);
        else if (rare <= 2)
            change_run(&life);
        else
            acts[below(&life, sizeof acts / sizeof *acts)](&life);
        assert_figures(&life, round);
    }
    assert_true(life.finished > rounds / 15 && life.joined > rounds / 75);
    db_close(life.db, true);
}

static void give(struct fixture *f, const char *name, const char *key, const char *value)
{
    struct run run;
    struct run_tag meta = {str_of(key), value ? str_of(value) : (struct str){NULL, 0}};
    struct run_patch patch = {.meta = &meta, .meta_count = 1};
    assert_ok(f, store_find_run(f->store, str_of(name), &f->arena, &run, &f->err));
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
}

static void expect_order(struct fixture *f, const char *metric, const char *const names[3])
{
    struct run_query query = {.sorts = {{str_of(metric), false}}, .sort_count = 1, .limit = 10};
    struct run_list list;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_text(list.runs[i].name, names[i]);
}

static void runs_are_sorted_by_numbers_that_people_gave(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++)
        add(f, names[i], (char)('a' + i), 0, "x.json");
    give(f, "a", "loss", "10.5");
    give(f, "b", "loss", "9");
    give(f, "c", "loss", "-1e3");
    expect_order(f, "meta.loss", (const char *const[]){"c", "b", "a"});
    give(f, "c", "loss", "none"); // no number any more: last
    expect_order(f, "meta.loss", (const char *const[]){"b", "a", "c"});
    give(f, "a", "loss", "8");
    give(f, "b", "loss", NULL);
    give(f, "c", "loss", "0x10"); // only decimal numbers count
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM figure"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_figures_are_those_that_counting_gives, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(runs_are_sorted_by_numbers_that_people_gave, set_up,
                                        tear_down),
    };
    return run_on_each_kind(tests);
}
