// SPDX-License-Identifier: Apache-2.0
// The store: runs, uploads, the queue, ranks, results; each test on a new database.
#include "tests/named_cell.h"
#include "tests/unit/store_fixture.h"

#include <unistd.h>

// --- runs ---------------------------------------------------------------------------------------

static void a_new_run_is_empty_and_found_by_id_and_name(void **state)
{
    struct fixture *f = *state;
    struct run_tag tags[] = {{STR("gpu"), STR("h100")}, {STR("batch"), STR("32")}};
    struct run_request request = named("llama@2");
    request.tags = tags;
    request.tag_count = 2;
    struct run made, by_id, by_name, by_path;
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &made, &f->err));
    assert_ok(f, store_find_run(f->store, made.id, &f->arena, &by_id, &f->err));
    assert_ok(f, store_find_run(f->store, STR("llama@2"), &f->arena, &by_name, &f->err));
    assert_ok(f, store_find_run(f->store, STR("default/llama@2"), &f->arena, &by_path, &f->err));
    assert_text(by_name.id, made.id.at);
    assert_text(by_path.id, made.id.at);
    assert_text(by_id.series, "llama");
    assert_int_equal(by_id.status, RUN_EMPTY);
    assert_int_equal(by_id.tag_count, 2);
    assert_text(by_id.tags[0].key, "batch");
    assert_int_equal(by_id.world_size, -1);
    assert_true(by_id.step_median_ns.null);
}

static void names_that_addresses_cannot_hold_are_refused(void **state)
{
    struct fixture *f = *state;
    struct run run;
    const struct str bad[] = {STR("a/b"), STR("a~latest"), STR("a\nb"), STR("\xff"), STR("a\0b")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run_request request = {.name = bad[i], .world_size = STORE_ANY};
        assert_false(store_create_run(f->store, &request, &f->arena, &run, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
    char longest[STORE_NAME_MAX_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    struct run_request request = {.name = {longest, sizeof longest}, .world_size = STORE_ANY};
    assert_false(store_create_run(f->store, &request, &f->arena, &run, &f->err));
    request.name.len--;
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
}

static void no_run_takes_the_name_that_another_has_or_had_as_its_id(void **state)
{
    struct fixture *f = *state;
    struct run_request first = named("first"), second = named("second"), third = {0};
    struct run a, b, found;
    assert_ok(f, store_create_run(f->store, &first, &f->arena, &a, &f->err));
    assert_ok(f, store_create_run(f->store, &second, &f->arena, &b, &f->err));
    struct run_patch patch = {.name = &a.id};
    assert_false(store_patch_run(f->store, b.id, &patch, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    third = named(a.id.at);
    assert_ok(f, store_check_target(f->store, &third, &f->err)); // it is there
    assert_ok(f, store_delete_run(f->store, a.id, STORE_ANY, &f->err));
    assert_false(store_check_target(f->store, &third, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_ok(f, store_check_target(f->store, &first, &f->err));
    assert_false(store_create_run(f->store, &third, &f->arena, &found, &f->err));
    assert_non_null(strstr(f->err.msg, "has the form of a run id"));
    assert_false(store_find_run(f->store, a.id, &f->arena, &found, &f->err));
    const char *good[] = {"r_1", "r_12345678x", "r_1234567u", "R_12345678", "t_12345678"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct run_request request = named(good[i]);
        assert_ok(f, store_create_run(f->store, &request, &f->arena, &found, &f->err));
    }
}

static void tags_are_lines_of_any_text(void **state)
{
    struct fixture *f = *state;
    struct run_tag tag = {STR("git/branch"), STR("fix/~1")};
    struct run_request request = {
        .name = STR("r"), .tags = &tag, .tag_count = 1, .world_size = STORE_ANY};
    struct run run;
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_text(run.tags[0].key, "git/branch");
    request.name = STR("s");
    tag.key = STR("a\nb");
    assert_false(store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void a_name_is_unique_within_its_project_only(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct run_request request = named("a");
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_false(store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    request.project = STR("other");
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_false(store_find_run(f->store, STR("a"), &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_ok(f, store_find_run(f->store, STR("other/a"), &f->arena, &run, &f->err));
}

static void latest_is_the_newest_run_of_a_series(void **state)
{
    struct fixture *f = *state;
    struct run run;
    const char *names[] = {"s@1", "s@2", "s@3"};
    for (int i = 0; i < 3; i++) {
        struct run_request request = named(names[i]);
        assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    }
    assert_ok(f, store_find_run(f->store, STR("s~latest"), &f->arena, &run, &f->err));
    assert_text(run.name, "s@3");
    struct run_request request = named("s@9");
    request.project = STR("other");
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_ok(f, store_find_run(f->store, STR("default/s~latest"), &f->arena, &run, &f->err));
    assert_text(run.name, "s@3");
    assert_ok(f, store_find_run(f->store, STR("other/s~latest"), &f->arena, &run, &f->err));
    assert_text(run.name, "s@9");
    assert_false(store_find_run(f->store, STR("none/s~latest"), &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_find_run(f->store, STR("t~latest"), &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void a_patch_needs_the_revision_the_client_saw(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct run_request request = named("a");
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    struct str name = STR("b@9"), note = STR("faster");
    int64_t world_size = 8;
    struct run_tag tag = {STR("k"), STR("v")};
    struct run_patch patch = {
        .name = &name, .note = &note, .world_size = &world_size, .tags = &tag, .tag_count = 1};
    assert_false(store_patch_run(f->store, run.id, &patch, run.revision + 1, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_ok(f, store_patch_run(f->store, run.id, &patch, run.revision, &f->err));
    struct run after;
    assert_ok(f, store_find_run(f->store, STR("b@9"), &f->arena, &after, &f->err));
    assert_text(after.series, "b");
    assert_text(after.note, "faster");
    assert_int_equal(after.world_size, 8);
    assert_int_equal(after.tag_count, 1);
    assert_true(after.revision > run.revision);
}

static void tags_are_merged_and_only_so_many(void **state)
{
    struct fixture *f = *state;
    static struct run_tag tags[STORE_MAX_TAGS + 1];
    static char keys[STORE_MAX_TAGS + 1][16];
    struct run run;
    for (size_t i = 0; i <= STORE_MAX_TAGS; i++) {
        snprintf(keys[i], sizeof keys[i], "k%zu", i);
        tags[i] = (struct run_tag){str_of(keys[i]), STR("v")};
    }
    struct run_request request = named("tagged");
    request.tags = tags;
    request.tag_count = STORE_MAX_TAGS - 1;
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    struct run_patch one = {.tags = tags + STORE_MAX_TAGS - 1, .tag_count = 1};
    assert_ok(f, store_patch_run(f->store, run.id, &one, STORE_ANY, &f->err));
    struct run_patch more = {.tags = tags + STORE_MAX_TAGS, .tag_count = 1};
    assert_false(store_patch_run(f->store, run.id, &more, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    struct run_tag swap[2] = {{tags[0].key, {NULL, 0}}, tags[STORE_MAX_TAGS]};
    struct run_patch swapped = {.tags = swap, .tag_count = 2};
    assert_ok(f, store_patch_run(f->store, run.id, &swapped, STORE_ANY, &f->err));
    assert_ok(f, store_find_run(f->store, run.id, &f->arena, &run, &f->err));
    assert_int_equal(run.tag_count, STORE_MAX_TAGS);
    struct run_patch none = {.forgets_tags = true, .tags = swap + 1, .tag_count = 1};
    assert_ok(f, store_patch_run(f->store, run.id, &none, STORE_ANY, &f->err));
    assert_ok(f, store_find_run(f->store, run.id, &f->arena, &run, &f->err));
    assert_int_equal(run.tag_count, 1);
}

static void a_list_is_filtered_sorted_and_paged(void **state)
{
    struct fixture *f = *state;
    struct run run;
    const char *names[] = {"alpha", "beta", "Gamma", "50%"};
    for (int i = 0; i < 4; i++) {
        struct run_request request = named(names[i]);
        struct run_tag tag = {STR("n"), i == 1 ? STR("one") : STR("some")};
        request.tags = &tag;
        request.tag_count = 1;
        assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    }
    struct run_list list;
    struct run_query query = {.limit = 2, .sort_count = 1, .sorts = {{STR("name"), true}}};
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 4);
    assert_int_equal(list.count, 2);
    assert_text(list.runs[0].name, "beta");
    query.offset = 2;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_text(list.runs[0].name, "Gamma");
    query = (struct run_query){.limit = 10, .search = STR("GAM")};
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 1);
    query.search = STR("%");
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 1);
    struct run_tag wanted = {STR("n"), STR("one")};
    query = (struct run_query){.limit = 10, .tags = &wanted, .tag_count = 1};
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 1);
    assert_text(list.runs[0].name, "beta");
    wanted.value = STR("");
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.total, 4);
    assert_text(list.runs[0].name, "50%"); // newest first
    query.sort_count = 1;
    query.sorts[0] = (struct sort_key){STR("name; DROP TABLE run"), false};
    assert_false(store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

// --- the queue ----------------------------------------------------------------------------------

static void the_last_trace_queues_the_run_once(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    finish_next(f, -1);
    assert_int_equal(status_of(f, upload.run_id), RUN_RUNNING);
    assert_int_equal(open_jobs(f), 1);
    finish_next(f, -1);
    struct job job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    assert_text(job.run_id, upload.run_id.at);
    bool open;
    assert_ok(f, store_upload_open(f->store, upload.id, &open, &f->err));
    assert_true(open);
    finish_run(f, &job);
    assert_ok(f, store_upload_open(f->store, upload.id, &open, &f->err));
    assert_false(open);
    assert_int_equal(status_of(f, upload.run_id), RUN_DONE);
    assert_int_equal(open_jobs(f), 0);
}

static void a_run_is_not_joined_twice_at_a_time(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    struct job first = claim(f);
    add(f, "r", 'b', 1, "y.json");
    finish_next(f, -1);
    struct job none;
    bool found;
    assert_ok(f, store_claim_job(f->store, &f->arena, &none, &found, &f->err));
    assert_false(found);
    finish_run(f, &first);
    assert_int_equal(claim(f).kind, JOB_RUN);
}

static void a_run_is_joined_before_other_files_are_read(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    add(f, "s", 'b', 0, "y.json");
    finish_next(f, -1);
    struct job job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    assert_text(job.run_id, upload.run_id.at);
}

// The job of a deleted trace must not be mistaken for one that came after it.
static void the_job_of_a_replaced_trace_ends_no_other(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x.json");
    struct job stale = claim(f);
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'b', 0, "y.json");
    struct upload_request request = {
        .run = named("r"), .parts = &part, .count = 1, .replace = true};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_false(store_fail_job(f->store, &stale, "its file is gone", &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_requeue_job(f->store, &stale, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_text(claim(f).trace_id, upload.traces[0].id.at);
}

static void a_failed_trace_leaves_a_partial_run_with_its_reason(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    struct job job = claim(f);
    assert_ok(f, store_fail_job(f->store, &job, "found a PNG image", &f->err));
    finish_next(f, -1);
    job = claim(f);
    finish_run(f, &job);
    struct run run;
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    assert_int_equal(run.status, RUN_PARTIAL);
    assert_text(run.error, "found a PNG image");
    assert_int_equal(run.done, 1);
    assert_int_equal(run.failed, 1);
}

static void a_failed_trace_gives_up_its_rank_to_other_bytes(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x.json");
    struct job job = claim(f);
    assert_ok(f, store_fail_job(f->store, &job, "found a PNG image", &f->err));
    struct upload again = add(f, "r", 'b', 0, "x.json");
    struct trace_row row;
    assert_ok(f, store_find_rank(f->store, again.run_id, 0, &f->arena, &row, &f->err));
    assert_text(row.id, again.traces[0].id.at);
    struct run run;
    assert_ok(f, store_find_run(f->store, again.run_id, &f->arena, &run, &f->err));
    assert_int_equal(run.received, 1);
    assert_int_equal(run.failed, 0);
}

// As after the process ended, cleanly or not.
static void restart(struct fixture *f, bool crashed)
{
    reopen(f);
    assert_ok(f, store_recover_jobs(f->store, crashed, &f->err));
}

static void three_crashes_end_a_job(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    for (int attempt = 1; attempt <= STORE_MAX_FAULTS; attempt++) {
        assert_int_equal(claim(f).attempt, attempt);
        restart(f, true);
    }
    assert_int_equal(trace_of(f, &upload).state, TRACE_FAILED);
    assert_non_null(strstr(trace_of(f, &upload).error.at, "3 of them by itself"));
}

static void being_killed_from_outside_does_not_end_a_job(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    for (int i = 0; i < 3 * STORE_MAX_FAULTS; i++) {
        claim(f);
        restart(f, false);
    }
    finish_next(f, -1);
    assert_int_equal(trace_of(f, &upload).state, TRACE_DONE);
}

static void a_job_that_was_in_a_crash_works_last_and_alone(void **state)
{
    struct fixture *f = *state;
    struct upload suspect = add(f, "r", 'a', 0, "x.json");
    claim(f);
    restart(f, true);
    struct upload other = add(f, "r", 'b', 1, "y.json");
    struct job first = claim(f), none;
    assert_text(first.trace_id, other.traces[0].id.at);
    bool found;
    assert_ok(f, store_claim_job(f->store, &f->arena, &none, &found, &f->err));
    assert_false(found);
    assert_ok(f, store_fail_job(f->store, &first, "why not", &f->err));
    assert_text(claim(f).trace_id, suspect.traces[0].id.at);
    add(f, "r", 'c', 2, "z.json");
    assert_ok(f, store_claim_job(f->store, &f->arena, &none, &found, &f->err));
    assert_false(found);
}

static void a_job_put_back_does_not_count_its_attempt(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x.json");
    for (int i = 0; i < 5; i++) {
        struct job job = claim(f);
        assert_int_equal(job.attempt, 1);
        assert_ok(f, store_requeue_job(f->store, &job, &f->err));
    }
}

static void reanalysis_queues_every_trace_of_a_run(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    finish_next(f, -1);
    finish_next(f, -1);
    struct job job = claim(f);
    finish_run(f, &job);
    assert_ok(f, store_reanalyze_run(f->store, upload.run_id, &f->err));
    assert_ok(f, store_reanalyze_run(f->store, upload.run_id, &f->err));
    assert_int_equal(open_jobs(f), 2);
    assert_false(store_reanalyze_run(f->store, STR("r_none"), &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

// --- results ------------------------------------------------------------------------------------

static void results_read_back_as_they_were_written(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    struct report trace_report = {.arena = &f->arena}, run_report = {.arena = &f->arena};
    assert_ok(f, store_load_trace_report(f->store, upload.traces[0].id, &trace_report, &f->err));
    assert_int_equal(report_find(&trace_report, "kernels")->row_count, 3);
    struct job job = claim(f);
    finish_run(f, &job);
    assert_ok(f, store_load_run_report(f->store, upload.run_id, &run_report, &f->err));
    const struct table *kernels = report_find(&run_report, "kernels");
    assert_int_equal(kernels->row_count, 3);
    assert_text(named_cell(kernels, 1, "name")->s, "gemm");
    assert_int_equal(named_cell(kernels, 1, "total_ns")->i, 300);
    assert_true(named_cell(kernels, 1, "op")->null);
}

static void a_long_table_comes_whole_and_in_parts(void **state)
{
    enum { ROWS = 2 * REPORT_PART_ROWS + 3 };
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next_wide(f, ROWS);
    struct report whole = {.arena = &f->arena};
    struct run run;
    assert_ok(f, store_load_trace_report(f->store, upload.traces[0].id, &whole, &f->err));
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    const struct table *kernels = report_find(&whole, "kernels");
    struct table_cursor cursor = {
        .place = {run.id, run.revision, upload.traces[0].id, kernels->desc}, .more = true};
    size_t row = 0;
    assert_int_equal(kernels->row_count, ROWS);
    while (cursor.more) {
        struct report part = {.arena = &f->arena};
        assert_ok(f, store_read_part(f->store, &cursor, &part, &f->err));
        size_t count = part.table_count ? part.tables[0].row_count : 0;
        assert_true(count <= REPORT_PART_ROWS);
        for (size_t i = 0; i < count; i++, row++) {
            assert_int_equal(named_cell(&part.tables[0], i, "total_ns")->i, row);
            assert_int_equal(named_cell(kernels, row, "total_ns")->i, row);
        }
    }
    assert_int_equal(row, ROWS);
}

static void what_the_disk_spoiled_is_not_blamed_on_the_client(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    db_raw_run(f->path, is_on_sqlite(f) ? "UPDATE trace_table SET report = x'00'"
                                        : "UPDATE trace_table SET report = '\\x00'");
    struct report report = {.arena = &f->arena};
    assert_false(store_load_trace_report(f->store, upload.traces[0].id, &report, &f->err));
    assert_int_equal(f->err.code, ERR_IO);
}

static void a_page_is_what_the_whole_table_gives(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    struct job job = claim(f);
    finish_run(f, &job);
    struct report report = {.arena = &f->arena};
    assert_ok(f, store_load_run_report(f->store, upload.run_id, &report, &f->err));
    const struct table *whole = report_find(&report, "kernels");
    struct table_query queries[] = {
        {.limit = TABLE_QUERY_NO_LIMIT},
        {.limit = 2, .offset = 1},
        {.limit = 9, .offset = 9},
        {.limit = 9, .sort_count = 1, .sorts = {{STR("total_ns"), true}}},
        {.limit = 9, .sort_count = 2, .sorts = {{STR("op"), false}, {STR("name"), true}}},
        {.limit = 9, .sort_count = 1, .sorts = {{STR("op"), true}}},
        {.limit = 9, .search = STR("GEM")},
        {.limit = 9, .search = STR("_")},
        {.limit = 9, .filter_count = 1, .filters = {{STR("total_ns"), STR("300")}}},
        {.limit = 9, .filter_count = 1, .filters = {{STR("op"), STR("")}}},
        {.limit = 9,
         .filter_count = 3,
         .filters = {{STR("name"), STR("gemm")},
                     {STR("calls"), STR("1")},
                     {STR("name"), STR("copy_x")}}},
    };
    size_t totals[] = {3, 3, 3, 3, 3, 3, 1, 1, 1, 2, 2};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct table_page page, memory;
        struct table_place from = {upload.run_id, STORE_ANY, STR(""), whole->desc};
        assert_ok(f, store_read_table(f->store, &from, &queries[i], &f->arena, &page, &f->err));
        assert_ok(f, table_select(whole, &queries[i], &f->arena, &memory, &f->err));
        assert_int_equal(page.total, totals[i]);
        assert_int_equal(memory.total, totals[i]);
        assert_int_equal(page.table.row_count, memory.table.row_count);
        for (size_t row = 0; row < page.table.row_count; row++)
            assert_text(named_cell(&page.table, row, "name")->s,
                        named_cell(&memory.table, row, "name")->s.at);
    }
}

static uint64_t next_random(uint64_t *random, uint64_t limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % limit;
}

static void expect_same_page(const struct table_page *page, const struct table_page *expected)
{
    assert_int_equal(page->total, expected->total);
    assert_int_equal(page->offset, expected->offset);
    assert_int_equal(page->table.row_count, expected->table.row_count);
    for (size_t row = 0; row < page->table.row_count; row++)
        assert_text(named_cell(&page->table, row, "name")->s,
                    named_cell(&expected->table, row, "name")->s.at);
}

// Offsets and limits around the borders of parts, in any mix with sort, search and filter.
static struct table_query random_query(uint64_t *random)
{
    static const uint64_t offsets[] = {0, 1, 1023, 1024, 5000, 14990, 15000, 20000};
    static const uint64_t limits[] = {0, 1, 7, 1024, 3000, TABLE_QUERY_NO_LIMIT};
    struct table_query query = {
        .offset = offsets[next_random(random, 8)],
        .limit = limits[next_random(random, 6)],
        .sorts = {{STR("total_ns"), next_random(random, 2)}},
        .sort_count = (unsigned)next_random(random, 2),
        .search = next_random(random, 3) ? STR("") : STR("K1"),
        .filters = {{STR("total_ns"), STR("300")}},
        .filter_count = next_random(random, 4) ? 0 : 1,
    };
    if (query.filter_count)
        query.offset %= 7;
    return query;
}

static void pages_of_many_parts_are_what_the_whole_table_gives(void **state)
{
    enum { ROWS = 15000, QUERIES = 60 };
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    struct job job = claim(f);
    struct report report = {.arena = &f->arena};
    uint64_t random = 5;
    for (size_t i = 0; i < ROWS; i++)
        add_kernel(f, &report, run_table("kernels"), arena_printf(&f->arena, &f->err, "k%zu", i),
                   (int64_t)next_random(&random, 500));
    assert_ok(f, end_run(f, &job, &report));
    struct table_place from = {upload.run_id, STORE_ANY, STR(""), run_table("kernels")};
    for (int i = 0; i < QUERIES; i++) {
        struct table_query query = random_query(&random);
        struct table_page page, expected;
        struct budget budget = {.limit = 64 << 20};
        struct arena arena;
        arena_init(&arena, &budget);
        assert_ok(f, store_read_table(f->store, &from, &query, &arena, &page, &f->err));
        assert_ok(f, table_select(&report.tables[0], &query, &arena, &expected, &f->err));
        expect_same_page(&page, &expected);
        arena_free(&arena);
    }
}

static void a_query_for_unknown_columns_or_values_is_refused(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    struct table_query queries[] = {
        {.sort_count = 1, .sorts = {{STR("nosuch"), true}}},
        {.filter_count = 1, .filters = {{STR("row"), STR("1")}}},
        {.filter_count = 1, .filters = {{STR("calls"), STR("many")}}},
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct table_page page;
        struct table_place kernels = {upload.run_id, STORE_ANY, STR(""), run_table("kernels")};
        assert_false(store_read_table(f->store, &kernels, &queries[i], &f->arena, &page, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
}

static void deleting_a_run_leaves_only_garbage(void **state)
{
    struct fixture *f = *state;
    struct upload gone = add(f, "gone", 'a', 0, "x.json");
    add(f, "gone", 'b', 1, "y.json");
    finish_next(f, -1);
    struct job running = claim(f);
    struct upload kept = add(f, "kept", 'a', 0, "x.json"); // shares a blob
    struct run run;
    assert_false(store_delete_run(f->store, gone.run_id, 1, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_ok(f, store_delete_run(f->store, gone.run_id, STORE_ANY, &f->err));
    assert_false(store_find_run(f->store, gone.run_id, &f->arena, &run, &f->err));
    assert_false(store_fail_job(f->store, &running, "late", &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    bool named;
    char sha256[STORE_SHA256_SIZE];
    fill_sha256(sha256, 'a');
    assert_ok(f, store_names_blob(f->store, sha256, &named, &f->err));
    assert_true(named);
    fill_sha256(sha256, 'b');
    assert_ok(f, store_names_blob(f->store, sha256, &named, &f->err));
    assert_false(named);
    assert_int_equal(garbage_count(f), 4); // one blob, two trace files, the overview
    assert_int_equal(open_jobs(f), 1);
    add(f, "kept", 'b', 1, "y.json"); // the blob is needed again
    assert_int_equal(garbage_count(f), 3);
    assert_int_equal(status_of(f, kept.run_id), RUN_PENDING);
}

// --- the schema ---------------------------------------------------------------------------------

static void a_newer_database_is_refused(void **state)
{
    struct fixture *f = *state;
    db_raw_run(f->path, is_on_sqlite(f) ? "PRAGMA user_version = 99"
                                        : "UPDATE schema_version SET version = 99");
    struct store *store = store_open(f->path, &f->err);
    assert_null(store);
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_run_is_empty_and_found_by_id_and_name),
        TEST(names_that_addresses_cannot_hold_are_refused),
        TEST(no_run_takes_the_name_that_another_has_or_had_as_its_id),
        TEST(tags_are_lines_of_any_text),
        TEST(a_name_is_unique_within_its_project_only),
        TEST(latest_is_the_newest_run_of_a_series),
        TEST(a_patch_needs_the_revision_the_client_saw),
        TEST(tags_are_merged_and_only_so_many),
        TEST(a_list_is_filtered_sorted_and_paged),
        TEST(the_last_trace_queues_the_run_once),
        TEST(a_run_is_not_joined_twice_at_a_time),
        TEST(a_run_is_joined_before_other_files_are_read),
        TEST(the_job_of_a_replaced_trace_ends_no_other),
        TEST(a_failed_trace_leaves_a_partial_run_with_its_reason),
        TEST(a_failed_trace_gives_up_its_rank_to_other_bytes),
        TEST(three_crashes_end_a_job),
        TEST(being_killed_from_outside_does_not_end_a_job),
        TEST(a_job_that_was_in_a_crash_works_last_and_alone),
        TEST(a_job_put_back_does_not_count_its_attempt),
        TEST(reanalysis_queues_every_trace_of_a_run),
        TEST(results_read_back_as_they_were_written),
        TEST(a_long_table_comes_whole_and_in_parts),
        TEST(what_the_disk_spoiled_is_not_blamed_on_the_client),
        TEST(a_page_is_what_the_whole_table_gives),
        TEST(pages_of_many_parts_are_what_the_whole_table_gives),
        TEST(a_query_for_unknown_columns_or_values_is_refused),
        TEST(deleting_a_run_leaves_only_garbage),
        TEST(a_newer_database_is_refused),
    };
    return run_on_each_kind(tests);
}
