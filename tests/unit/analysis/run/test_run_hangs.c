// SPDX-License-Identifier: Apache-2.0
// Dumps among the files of a run become its verdict on a hang, or a doubt where they take too much.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/flight_job.h"

#include "analysis/evidence/flight_tables.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_hangs.h"

enum { MOST_FILES = 40 };

struct files {
    struct arena arena; // of the files' rows
    struct report rows[MOST_FILES];
    size_t count;
    bool cancelled;
    struct budget budget; // of the run
    struct arena run_arena;
    struct report run;
    struct err err;
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    const struct files *files = context;
    if (files->cancelled)
        return err_set(err, ERR_CANCELLED, "cancelled");
    for (; *known; known++) {
        const struct table *table = report_find(&files->rows[index], (*known)->name);
        const struct cell *cells = table ? table->cells : NULL;
        for (size_t i = 0; table && i < table->row_count; i++, cells += (*known)->column_count)
            if (!report_add(report, *known, cells, err))
                return false;
    }
    return true;
}

static int set_up(void **state)
{
    struct files *files = calloc(1, sizeof *files);
    assert_non_null(files);
    arena_init(&files->arena, NULL);
    arena_init(&files->run_arena, &files->budget);
    files->run = (struct report){.arena = &files->run_arena};
    *state = files;
    return 0;
}

static int tear_down(void **state)
{
    struct files *files = *state;
    arena_free(&files->arena);
    arena_free(&files->run_arena);
    assert_int_equal(files->budget.used, 0);
    free(files);
    return 0;
}

static void add_dump(struct files *files, const struct job *job, int rank)
{
    struct budget budget = {0};
    struct evidence evidence;
    struct buf json = {0};
    char name[32];
    snprintf(name, sizeof name, "_dump_%d", rank);
    job_put_dump(job, rank, &json);
    evidence_init(&evidence, &budget);
    struct report *rows = &files->rows[files->count++];
    *rows = (struct report){.arena = &files->arena};
    if (!flight_read((struct str){json.at, json.len}, name, &evidence, &files->err) ||
        !flight_tables_add(&evidence, STR("dump"), rows, &files->err))
        fail_msg("%s", files->err.msg);
    evidence_free(&evidence);
    buf_free(&json);
}

// 16 ranks, of which one enters nothing any more.
static void add_job(struct files *files, int culprit)
{
    struct job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    *job = (struct job){.pp = 1, .dp = 4, .tp = 4, .ring = 1000, .all_entries = true};
    job_start(job);
    job_break(job, FAULT_HOST, culprit, 30);
    job_run(job, 10);
    for (int rank = 0; rank < job->ranks; rank++)
        add_dump(files, job, rank);
    free(job);
}

static bool join(struct files *files)
{
    const struct rank_source source = {
        .context = files, .load = load, .evidence_count = files->count};
    return run_find_hangs(&source, &files->run, &files->err);
}

static void dumps_of_all_ranks_give_one_verdict(void **state)
{
    struct files *files = *state;
    add_job(files, 6);
    files->count++; // a file that is no dump
    assert_true(join(files));
    const struct table *verdict = report_find(&files->run, "hang_verdict");
    assert_non_null(verdict);
    assert_true(table_is(verdict, 0, HANG_VERDICT_KIND, STR("host")));
    assert_true(table_is(verdict, 0, HANG_VERDICT_RANKS, STR("6")));
    assert_int_equal(report_find(&files->run, "hang_ranks")->row_count, 16);
    assert_null(report_find(&files->run, "flight_entries"));
    assert_null(report_find(&files->run, "trust"));
}

static void a_second_dump_of_a_rank_is_a_doubt(void **state)
{
    struct files *files = *state;
    add_job(files, 6);
    add_job(files, 6);
    assert_true(join(files));
    assert_int_equal(report_find(&files->run, "hang_ranks")->row_count, 16);
    const struct table *trust = report_find(&files->run, "trust");
    assert_non_null(trust);
    assert_int_equal(trust->row_count, 1);
    assert_true(table_is(trust, 0, RUN_TRUST_ITEM, STR("dumps_of_one_rank")));
    assert_int_equal(table_i64(trust, 0, RUN_TRUST_COUNT, 0), 16);
}

static void files_without_dumps_give_none(void **state)
{
    struct files *files = *state;
    files->count = 3;
    assert_true(join(files));
    assert_int_equal(files->run.table_count, 0);
}

static void dumps_that_take_too_much_memory_are_a_doubt(void **state)
{
    struct files *files = *state;
    add_job(files, 6);
    files->budget.limit = 300 << 10;
    if (!join(files))
        fail_msg("%s", files->err.msg);
    assert_null(report_find(&files->run, "hang_verdict"));
    const struct table *trust = report_find(&files->run, "trust");
    assert_non_null(trust);
    assert_int_equal(trust->row_count, 1);
    assert_true(table_is(trust, 0, RUN_TRUST_ITEM, STR("hangs")));
    assert_true(files->budget.peak <= files->budget.limit);
}

static void other_failures_are_failures(void **state)
{
    struct files *files = *state;
    add_job(files, 6);
    files->cancelled = true;
    assert_false(join(files));
    assert_int_equal(files->err.code, ERR_CANCELLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dumps_of_all_ranks_give_one_verdict),
        TEST(a_second_dump_of_a_rank_is_a_doubt),
        TEST(files_without_dumps_give_none),
        TEST(dumps_that_take_too_much_memory_are_a_doubt),
        TEST(other_failures_are_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
