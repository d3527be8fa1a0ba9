// SPDX-License-Identifier: Apache-2.0
// Metadata, baselines, series and alerts in the store: what is kept, what goes, and that judging
// may be interrupted, repeated and happen in any order.
#include "tests/named_cell.h"
#include "tests/unit/series_fixture.h"

#include <math.h>

static struct run find(struct fixture *f, const char *key)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, str_of(key), &f->arena, &run, &f->err));
    return run;
}

static bool is_found(struct fixture *f, const char *key)
{
    struct run run;
    return store_find_run(f->store, str_of(key), &f->arena, &run, &f->err);
}

static struct str text_at(const struct table *table, size_t row, const char *column)
{
    assert_true(row < table->row_count);
    return named_cell(table, row, column)->s;
}

// --- metadata -----------------------------------------------------------------------------------

static void make(struct fixture *f, const char *name, const struct run_tag *meta, size_t count)
{
    struct run run;
    struct run_request request = {
        .name = str_of(name), .meta = meta, .meta_count = count, .world_size = STORE_ANY};
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
}

static void patch_meta(struct fixture *f, const char *key, const struct run_tag *meta, size_t count)
{
    struct run run = find(f, key);
    struct run_patch patch = {.meta = meta, .meta_count = count};
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
}

static void metadata_are_merged_and_outlive_a_restart(void **state)
{
    struct fixture *f = *state;
    const struct run_tag given[] = {{STR("commit"), STR("abc")}, {STR("batch_size"), STR("64")}};
    const struct run_tag changed[] = {
        {STR("commit"), {NULL, 0}}, {STR("model"), STR("llama")}, {STR("batch_size"), STR("32")}};
    make(f, "r", given, 2);
    patch_meta(f, "r", changed, 3);
    reopen(f);
    struct run run = find(f, "r");
    assert_int_equal(run.meta_count, 2);
    assert_text(run.meta[0].key, "batch_size");
    assert_text(run.meta[0].value, "32");
    assert_text(run.meta[1].key, "model");
    assert_int_equal(run.tag_count, 0);
}

static void later_uploads_add_metadata(void **state)
{
    struct fixture *f = *state;
    const struct run_tag first = {STR("commit"), STR("abc")}, second = {STR("data"), STR("real")};
    char sha256[STORE_SHA256_SIZE];
    struct upload upload;
    make(f, "r", &first, 1);
    struct trace_part part = part_of(sha256, 'a', 0, "x.json");
    struct upload_request request = {
        .run = {.name = STR("r"), .meta = &second, .meta_count = 1, .world_size = STORE_ANY},
        .parts = &part,
        .count = 1};
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(find(f, "r").meta_count, 2);
}

static void refuse_meta(struct fixture *f, struct str key, struct str value, const char *piece)
{
    struct run_tag meta = {key, value};
    struct run_request request = {
        .name = STR("x"), .meta = &meta, .meta_count = 1, .world_size = STORE_ANY};
    assert_false(store_check_run(&request, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    if (!strstr(f->err.msg, piece))
        fail_msg("'%s' does not say '%s'", f->err.msg, piece);
}

static void hostile_metadata_are_refused(void **state)
{
    struct fixture *f = *state;
    char lengthy[STORE_NAME_MAX_BYTES + 1];
    memset(lengthy, 'x', sizeof lengthy);
    refuse_meta(f, STR(""), STR("v"), "0 bytes");
    refuse_meta(f, STR("a b"), STR("v"), "0x20");
    refuse_meta(f, STR(".."), STR("v"), "dots");
    refuse_meta(f, (struct str){lengthy, STORE_WORD_MAX_BYTES + 1}, STR("v"), "65 bytes");
    refuse_meta(f, STR("k"), STR(""), "0 bytes");
    refuse_meta(f, STR("k"), (struct str){lengthy, sizeof lengthy}, "201 bytes");
    refuse_meta(f, STR("k"), STR("a\nb"), "0x0a");
    refuse_meta(f, STR("k"), STR("\xff"), "UTF-8");
    refuse_meta(f, STR("batch_size"), STR("many"), "batch_size 'many'");
    refuse_meta(f, STR("tokens_per_step"), STR("0"), "from 1 to 2^48");
    refuse_meta(f, STR("tokens_per_step"), STR("281474976710657"), "from 1 to 2^48");
    refuse_meta(f, STR("data"), STR("Real"), "real or synthetic");
}

static void a_run_has_no_more_settings_than_are_allowed(void **state)
{
    struct fixture *f = *state;
    struct run_tag meta[STORE_MAX_META + 1];
    char keys[STORE_MAX_META + 1][16];
    for (size_t i = 0; i <= STORE_MAX_META; i++) {
        snprintf(keys[i], sizeof keys[i], "k%zu", i);
        meta[i] = (struct run_tag){str_of(keys[i]), STR("v")};
    }
    make(f, "r", meta, STORE_MAX_META);
    struct run_patch patch = {.meta = meta + STORE_MAX_META, .meta_count = 1};
    assert_false(store_patch_run(f->store, find(f, "r").id, &patch, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_int_equal(find(f, "r").meta_count, STORE_MAX_META);
}

// --- baselines ----------------------------------------------------------------------------------

static size_t baseline_count(struct fixture *f)
{
    struct table table;
    assert_ok(f, store_list_baselines(f->store, STR(""), &f->arena, &table, &f->err));
    return table.row_count;
}

static void a_baseline_finds_its_run_and_moves(void **state)
{
    struct fixture *f = *state;
    make(f, "a", NULL, 0);
    make(f, "b", NULL, 0);
    int64_t revision = find(f, "a").revision;
    assert_ok(f, store_set_baseline(f->store, STR("main"), find(f, "a").id, &f->err));
    struct run run = find(f, "@baseline:main");
    assert_text(run.name, "a");
    assert_int_equal(run.baseline_count, 1);
    assert_text(run.baselines[0], "main");
    assert_true(run.revision > revision);
    assert_ok(f, store_set_baseline(f->store, STR("main"), find(f, "b").id, &f->err));
    assert_text(find(f, "@baseline:main").name, "b");
    assert_int_equal(find(f, "a").baseline_count, 0);
    assert_int_equal(baseline_count(f), 1);
    assert_ok(f, store_drop_baseline(f->store, STR("main"), &f->err));
    assert_false(is_found(f, "@baseline:main"));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_drop_baseline(f->store, STR("main"), &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void a_baseline_goes_with_its_run(void **state)
{
    struct fixture *f = *state;
    make(f, "a", NULL, 0);
    struct str id = find(f, "a").id;
    assert_ok(f, store_set_baseline(f->store, STR("main"), id, &f->err));
    assert_ok(f, store_delete_run(f->store, id, STORE_ANY, &f->err));
    assert_int_equal(baseline_count(f), 0);
    assert_false(store_set_baseline(f->store, STR("main"), id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void names_that_cannot_be_baselines_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"", "a/b", "a b", "..", "a\x01", "\xc3\xa9"};
    make(f, "a", NULL, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(store_set_baseline(f->store, str_of(bad[i]), find(f, "a").id, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
    struct run_request request = {.name = STR("@baseline:x"), .world_size = STORE_ANY};
    assert_false(store_check_run(&request, &f->err));
}

// --- series -------------------------------------------------------------------------------------

static struct table series(struct fixture *f)
{
    struct table table;
    struct series_query query = {.search = STR("")};
    assert_ok(f, store_list_series(f->store, &query, &f->arena, &table, &f->err));
    return table;
}

static struct table points(struct fixture *f, const char *name)
{
    struct table table;
    struct series_key key = {STR(""), str_of(name)};
    assert_ok(f, store_find_series(f->store, &key, &f->arena, &f->err));
    assert_ok(f, store_list_points(f->store, &key, STR("mfu"), &f->arena, &table, &f->err));
    return table;
}

static void a_series_counts_its_runs_and_points(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 3, 1);
    make(f, "s@empty", NULL, 0);
    judge_all(f);
    struct table table = series(f);
    assert_int_equal(table.row_count, 1);
    assert_int_equal(named_cell(&table, 0, "runs")->i, 4);
    assert_int_equal(named_cell(&table, 0, "points")->i, 3);
    assert_string_equal(text_at(&table, 0, "last_run").at, find(f, "s@3").id.at);
    struct table list = points(f, "s");
    assert_int_equal(list.row_count, 3);
    assert_text(text_at(&list, 0, "name"), "s@1");
    assert_text(text_at(&list, 2, "name"), "s@3");
    assert_int_equal(named_cell(&list, 0, "ranks")->i, 1);
}

static void known(struct fixture *f, const char *name, struct table *table)
{
    struct series_key key = {STR("default"), str_of(name)};
    assert_ok(f, store_list_known_figures(f->store, &key, &f->arena, table, &f->err));
}

static void the_figures_of_a_series_are_known_with_where_they_come_from(void **state)
{
    struct fixture *f = *state;
    struct table table;
    const struct planted logged[] = {{"loss", "log", 2.5}, {"mfu", "log", 0.4}, {0}};
    const struct planted traced[] = {{"mfu", "trace", 0.5}, {0}};
    const struct run_tag score = {STR("score"), STR("7")};
    add_run_with(f, "s", 1, 100, logged);
    add_run_with(f, "s", 2, 100, logged);
    add_run_with(f, "s", 3, 100, traced);
    patch_meta(f, "s@1", &score, 1);
    known(f, "s", &table);
    assert_int_equal(table.row_count, 4);
    assert_text(text_at(&table, 0, "metric"), "mfu");
    assert_text(text_at(&table, 0, "better"), "more");
    assert_text(text_at(&table, 0, "source"), "log");
    assert_int_equal(named_cell(&table, 0, "runs")->i, 2);
    assert_text(text_at(&table, 1, "source"), "trace");
    assert_text(text_at(&table, 2, "metric"), "loss");
    assert_text(text_at(&table, 3, "metric"), "meta.score");
    assert_text(text_at(&table, 3, "label"), "score");
    assert_text(text_at(&table, 3, "source"), "typed");
    judge_all(f);
    known(f, "", &table); // the newest run of every series
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "source"), "trace");
    table = points(f, "s");
    assert_text(text_at(&table, 0, "source"), "log");
    assert_text(text_at(&table, 2, "source"), "trace");
    assert_true(named_cell(&table, 2, "value")->f > 0.4);
}

static void a_series_follows_its_runs_when_they_are_renamed_and_deleted(void **state)
{
    struct fixture *f = *state;
    struct str name = STR("t@1");
    struct run_patch patch = {.name = &name};
    add_runs(f, "s", 1, 2, 1);
    assert_ok(f, store_patch_run(f->store, find(f, "s@2").id, &patch, STORE_ANY, &f->err));
    judge_all(f);
    assert_int_equal(series(f).row_count, 2);
    assert_int_equal(points(f, "s").row_count, 1);
    assert_int_equal(points(f, "t").row_count, 1);
    assert_ok(f, store_delete_run(f->store, find(f, "s@1").id, STORE_ANY, &f->err));
    judge_all(f);
    struct table table = series(f);
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "series"), "t");
}

static void a_run_that_is_analyzed_again_stays_a_point_until_it_fails(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 1, 1);
    assert_ok(f, store_reanalyze_run(f->store, find(f, "s@1").id, &f->err));
    assert_int_equal(points(f, "s").row_count, 1);
    struct job job = claim(f);
    assert_ok(f, store_fail_job(f->store, &job, "cut", &f->err));
    job = claim(f);
    assert_ok(f, store_fail_job(f->store, &job, "no rank", &f->err));
    assert_int_equal(points(f, "s").row_count, 0);
}

static void series_of_several_projects_need_the_project(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct run_request request = {
        .name = STR("s@1"), .project = STR("other"), .world_size = STORE_ANY};
    make(f, "s@1", NULL, 0);
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    struct series_key key = {STR(""), STR("s")};
    assert_false(store_find_series(f->store, &key, &f->arena, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    key = (struct series_key){STR("other"), STR("s")};
    assert_ok(f, store_find_series(f->store, &key, &f->arena, &f->err));
    key = (struct series_key){STR(""), STR("nothing")};
    assert_false(store_find_series(f->store, &key, &f->arena, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

// --- alerts -------------------------------------------------------------------------------------

static void a_planted_change_becomes_one_alert(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    judge_all(f);
    assert_int_equal(alerts(f, "").row_count, 0);
    for (int i = 13; i < 19; i++) {
        add_runs(f, "s", i, 1, 1.1);
        judge_all(f);
        assert_int_equal(alerts(f, "new").row_count, 1);
    }
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "kind"), "change");
    assert_text(text_at(&table, 0, "run_name"), "s@13");
    assert_string_equal(text_at(&table, 0, "previous_run").at, find(f, "s@12").id.at);
    double share = named_cell(&table, 0, "change_share")->f;
    assert_true(share > 0.09 && share < 0.11);
    struct table list = series(f);
    assert_int_equal(named_cell(&list, 0, "open_alerts")->i, 1);
    judge_all(f);
    reopen(f);
    judge_all(f);
    assert_int_equal(alerts(f, "").row_count, 1);
}

static void judging_late_finds_the_same(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    add_runs(f, "s", 13, 6, 1.1);
    reopen(f); // as after kill -9 between the end of a job and its judgement
    judge_all(f);
    struct table table = alerts(f, "new");
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "run_name"), "s@13");
}

static void an_alert_goes_with_its_run_and_closes_when_it_holds_no_more(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 150000000);
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 1);
    struct run run = find(f, "s@13");
    assert_ok(f, store_reanalyze_run(f->store, run.id, &f->err));
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 1); // not before it is known
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = 0, .world_size = 1};
    struct job job = claim(f);
    assert_ok(f, end_trace(f, &job, &report, result));
    job = claim(f);
    const struct table_desc *desc = run_table("summary");
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, STR("step_median_ns"))] = cell_i64(100000000);
    row[table_column(desc, STR("gpu"))] = cell_text(STR("H100"));
    assert_ok(f, report_add(&report, desc, row, &f->err));
    assert_ok(f, end_run(f, &job, &report));
    judge_all(f);
    assert_int_equal(alerts(f, "").row_count, 0);
    add_run(f, "s", 14, 160000000);
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 1);
    assert_ok(f, store_delete_run(f->store, find(f, "s@14").id, STORE_ANY, &f->err));
    assert_int_equal(alerts(f, "").row_count, 0);
}

static void what_was_decided_is_kept_and_counts(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 110000000);
    judge_all(f);
    struct table table = alerts(f, "new");
    decide(f, text_at(&table, 0, "id"), "noise", "the cluster was shared");
    reopen(f);
    add_run(f, "s", 14, 109000000);
    judge_all(f);
    table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "status"), "noise");
    assert_text(text_at(&table, 0, "comment"), "the cluster was shared");
}

static void an_expected_change_begins_a_level(void **state)
{
    struct fixture *f = *state;
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 150000000);
    judge_all(f);
    struct table table = alerts(f, "new");
    decide(f, text_at(&table, 0, "id"), "expected", NULL);
    add_runs(f, "s", 14, 6, 1.5);
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 0);
    assert_int_equal(alerts(f, "expected").row_count, 1);
}

// Ten usual runs, then two of other levels.
static void add_levels(struct fixture *f, double step_share, double mfu_share, double memory_share)
{
    static const double noise[] = {0, 0.002, -0.001, 0.003, -0.002, 0.001, -0.003, 0.002};
    for (int i = 0; i < 13; i++) {
        bool other = i >= 10;
        double wave = 1 + noise[i % 8];
        const struct planted figures[] = {
            {"mfu", "trace", 0.4 * wave * (other ? mfu_share : 1)},
            {"idle_share", "trace", other ? 0.9 : 0.1}, // follows from others
            {"loss", "log", 0},                         // has no share
            {"memory_bytes", "log", 6e10 * wave * (other ? memory_share : 1)},
            {NULL, NULL, 0}};
        add_run_with(f, "figures", i, (int64_t)(1e8 / wave * (other ? step_share : 1)), figures);
    }
    judge_all(f);
}

static void assert_near(const struct table *table, const char *column, double wanted)
{
    double found = named_cell(table, 0, column)->f;
    if (!(fabs(found - wanted) < 0.03 * fabs(wanted)))
        fail_msg("%s is %g, expected about %g", column, found, wanted);
}

static void a_figure_that_changes_raises_an_alert_of_its_own(void **state)
{
    struct fixture *f = *state;
    add_levels(f, 1, 0.9, 1);
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_true(str_equal(named_cell(&table, 0, "metric")->s, STR("mfu")));
    assert_true(str_equal(named_cell(&table, 0, "label")->s, STR("MFU")));
    assert_true(str_equal(named_cell(&table, 0, "better")->s, STR("more")));
    assert_true(str_equal(named_cell(&table, 0, "run_name")->s, STR("figures@10")));
    assert_true(named_cell(&table, 0, "before_ns")->null);
    assert_near(&table, "before_value", 0.4);
    assert_near(&table, "after_value", 0.36);
    assert_near(&table, "change_share", -0.1);
    assert_near(&table, "worse_share", 1 / 0.9 - 1);
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 1);
}

// The judged points from the first one on that is of the last one's level.
static size_t level_of(struct fixture *f, const struct level_query *query, const char *first)
{
    struct series_state judged;
    size_t count = 0;
    assert_ok(f, store_judge_levels(f->store, query, &f->arena, &judged, &f->err));
    size_t level = judged.points[judged.point_count - 1].level;
    assert_text(judged.points[level].run_id, find(f, first).id.at);
    for (size_t i = 0; i < judged.point_count; i++)
        count += judged.points[i].level == level;
    return count;
}

static void runs_of_the_newest_level_are_found(void **state)
{
    struct fixture *f = *state;
    struct level_query query = {.key = {STR("default"), STR("s")}};
    add_runs(f, "s", 1, 12, 1.1);
    add_runs(f, "s", 13, 6, 1);
    assert_int_equal(level_of(f, &query, "s@13"), 6);
    struct str without[6];
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "s@%d", 13 + i);
        without[i] = find(f, name).id;
    }
    query.without = without;
    query.without_count = 6;
    assert_int_equal(level_of(f, &query, "s@1"), 12);
}

static void a_step_s_alert_speaks_for_what_follows_from_it(void **state)
{
    struct fixture *f = *state;
    add_levels(f, 1.1, 1 / 1.1, 1.3);
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 2);
    assert_true(str_equal(named_cell(&table, 0, "metric")->s, STR("memory_bytes")));
    assert_true(str_equal(named_cell(&table, 1, "metric")->s, STR("step_ns")));
    assert_true(named_cell(&table, 1, "before_ns")->i > 90000000);
    assert_false(named_cell(&table, 1, "no_steps")->i);
    struct alert_query query = {.metric = STR("memory_bytes")};
    assert_ok(f, store_list_alerts(f->store, &query, &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 1);
}

// Sixteen runs whose steps stay as they are; from the eleventh on their MFU is another.
static void add_mfu(struct fixture *f, const char *source, double later_mfu)
{
    static const double noise[] = {0, 0.002, -0.001, 0.003, -0.002, 0.001, -0.003, 0.002};
    for (int i = 0; i < 16; i++) {
        double wave = 1 + noise[i % 8];
        const struct planted figures[] = {
            {"mfu", i < 10 ? "trace" : source, (i < 10 ? 0.4 : later_mfu) * wave}, {NULL, NULL, 0}};
        add_run_with(f, "figures", i, (int64_t)(1e8 * wave), figures);
    }
    judge_all(f);
}

static void a_figure_from_another_source_raises_no_alert(void **state)
{
    struct fixture *f = *state;
    add_mfu(f, "log", 0.3);
    assert_int_equal(alerts(f, "").row_count, 0);
    size_t mfu = (size_t)(run_figure_named(STR("mfu")) - run_figures);
    assert_text(find(f, "figures@12").figure_sources[mfu], "log");
}

// Sixteen runs; in the last six no step is marked, so that step_median_ns is of a whole recording.
static void add_recordings(struct fixture *f, const struct planted *figures)
{
    add_runs(f, "s", 1, 10, 1);
    for (int i = 11; i < 17; i++)
        add_run_with(f, "s", i, 800000000, figures);
    judge_all(f);
}

static void recordings_without_steps_are_not_compared_with_steps(void **state)
{
    struct fixture *f = *state;
    add_recordings(f, (struct planted[]){{"no_steps", "trace", 1}, {NULL, NULL, 0}});
    assert_false(find(f, "s@12").no_steps.null);
    assert_int_equal(alerts(f, "").row_count, 0);
    struct table table = points(f, "s");
    assert_int_equal(named_cell(&table, 11, "step_median_ns")->i, 800000000);
    assert_true(named_cell(&table, 11, "no_steps")->i);
    assert_false(named_cell(&table, 9, "no_steps")->i);
    table = series(f);
    assert_true(named_cell(&table, 0, "no_steps")->i);
}

static void an_alert_about_recordings_says_so(void **state)
{
    struct fixture *f = *state;
    const struct planted whole[] = {{"no_steps", "trace", 1}, {NULL, NULL, 0}};
    for (int i = 1; i < 17; i++)
        add_run_with(f, "s", i, (i < 11 ? 800000000 : 900000000) + i % 3 * 1000000, whole);
    judge_all(f);
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_true(named_cell(&table, 0, "no_steps")->i);
}

static void the_step_of_a_log_counts_where_the_trace_marks_none(void **state)
{
    struct fixture *f = *state;
    add_recordings(f, (struct planted[]){{"no_steps", "trace", 1},
                                         {"step_ns", "log", 100000000},
                                         {NULL, NULL, 0}});
    assert_int_equal(alerts(f, "").row_count, 0);
    struct table table = points(f, "s");
    assert_int_equal(named_cell(&table, 11, "step_median_ns")->i, 100000000);
    assert_false(named_cell(&table, 11, "no_steps")->i);
}

static void a_figure_has_levels_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct level_query query = {.key = {STR("default"), STR("figures")}, .metric = STR("mfu")};
    add_mfu(f, "trace", 0.3);
    assert_int_equal(alerts(f, "").row_count, 1);
    assert_int_equal(level_of(f, &query, "figures@10"), 6);
    query.metric = STR("");
    assert_int_equal(level_of(f, &query, "figures@0"), 16);
}

// As after an update whose analysis gives figures to the runs that are already there.
static void update_program(struct fixture *f)
{
    db_raw_run(f->path, "DELETE FROM alert");
    db_raw_run(f->path, "UPDATE series SET figures_version = 0, changed = changed + 1");
    reopen(f);
}

static void figures_of_runs_before_an_update_raise_no_alert(void **state)
{
    struct fixture *f = *state;
    add_levels(f, 1.1, 1 / 1.1, 1.3);
    assert_int_equal(alerts(f, "").row_count, 2);
    update_program(f);
    for (int i = 13; i < 16; i++) {
        const struct planted figures[] = {{"memory_bytes", "log", 6e10 * 1.6}, {NULL, NULL, 0}};
        add_run_with(f, "figures", i, 110000000, figures);
        judge_all(f); // first with a run since the update, while the rest stays as it is
    }
    struct table table = alerts(f, "");
    assert_int_equal(table.row_count, 2);
    assert_true(str_equal(named_cell(&table, 0, "run_name")->s, STR("figures@13")));
    assert_true(str_equal(named_cell(&table, 0, "metric")->s, STR("memory_bytes")));
    assert_true(str_equal(named_cell(&table, 1, "metric")->s, STR("step_ns")));
}

static void alerts_follow_a_run_into_its_new_series(void **state)
{
    struct fixture *f = *state;
    struct str name = STR("t@1");
    struct run_patch patch = {.name = &name};
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 150000000);
    judge_all(f);
    struct table table = alerts(f, "new");
    decide(f, text_at(&table, 0, "id"), "acknowledged", NULL);
    assert_ok(f, store_patch_run(f->store, find(f, "s@13").id, &patch, STORE_ANY, &f->err));
    judge_all(f);
    table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    assert_text(text_at(&table, 0, "series"), "t");
}

static void hostile_decisions_are_refused(void **state)
{
    struct fixture *f = *state;
    static char lengthy[STORE_NOTE_MAX_BYTES + 1];
    memset(lengthy, 'x', sizeof lengthy);
    struct str done = STR("done"), noise = STR("noise"), bad = STR("\xff");
    struct str much = {lengthy, sizeof lengthy};
    struct alert_patch status = {&done, NULL}, comment = {NULL, &much}, broken = {NULL, &bad};
    struct alert_patch fine = {&noise, NULL};
    assert_false(store_patch_alert(f->store, STR("a_1"), &status, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_false(store_patch_alert(f->store, STR("a_1"), &comment, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_false(store_patch_alert(f->store, STR("a_1"), &broken, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_false(store_patch_alert(f->store, STR("a_1"), &fine, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(metadata_are_merged_and_outlive_a_restart),
        CASE(later_uploads_add_metadata),
        CASE(hostile_metadata_are_refused),
        CASE(a_run_has_no_more_settings_than_are_allowed),
        CASE(a_baseline_finds_its_run_and_moves),
        CASE(a_baseline_goes_with_its_run),
        CASE(names_that_cannot_be_baselines_are_refused),
        CASE(a_series_counts_its_runs_and_points),
        CASE(the_figures_of_a_series_are_known_with_where_they_come_from),
        CASE(a_series_follows_its_runs_when_they_are_renamed_and_deleted),
        CASE(a_run_that_is_analyzed_again_stays_a_point_until_it_fails),
        CASE(series_of_several_projects_need_the_project),
        CASE(a_planted_change_becomes_one_alert),
        CASE(judging_late_finds_the_same),
        CASE(an_alert_goes_with_its_run_and_closes_when_it_holds_no_more),
        CASE(what_was_decided_is_kept_and_counts),
        CASE(an_expected_change_begins_a_level),
        CASE(a_figure_that_changes_raises_an_alert_of_its_own),
        CASE(a_figure_from_another_source_raises_no_alert),
        CASE(runs_of_the_newest_level_are_found),
        CASE(recordings_without_steps_are_not_compared_with_steps),
        CASE(an_alert_about_recordings_says_so),
        CASE(the_step_of_a_log_counts_where_the_trace_marks_none),
        CASE(a_figure_has_levels_of_its_own),
        CASE(a_step_s_alert_speaks_for_what_follows_from_it),
        CASE(figures_of_runs_before_an_update_raise_no_alert),
        CASE(alerts_follow_a_run_into_its_new_series),
        CASE(hostile_decisions_are_refused),
    };
    return run_on_each_kind(tests);
}
