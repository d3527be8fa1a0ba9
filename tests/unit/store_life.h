// SPDX-License-Identifier: Apache-2.0
// A store in which everything happens at least once, for tests that examine its statements.
#ifndef TESTS_UNIT_STORE_LIFE_H
#define TESTS_UNIT_STORE_LIFE_H

#include "server/store/store_access.h"
#include "server/store/store_announced.h"
#include "server/store/store_bin.h"
#include "server/store/store_care.h"
#include "server/store/store_resumable.h"
#include "server/store/store_promises.h"
#include "server/store/store_said.h"
#include "server/store/store_watch.h"
#include "tests/unit/archive_store.h"
#include "tests/named_cell.h"
#include "tests/unit/series_fixture.h"

#include <sys/mman.h>

static inline void list(struct fixture *f, struct run_query query)
{
    struct run_list runs, none;
    query.limit = 10;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &runs, &f->err));
    query.limit = 0; // as where very many match
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &none, &f->err));
    assert_int_equal(runs.total, none.total);
}

static inline void list_runs_in_every_way(struct fixture *f)
{
    static const char *const columns[] = {
        "created",    "name", "project",        "status",         "received",
        "world_size", "gpu",  "trust_severity", "step_median_ns", "meta.loss"};
    struct run_tag pair = {STR("k"), STR("v")}, any = {STR("k"), STR("")};
    list(f, (struct run_query){.limit = 10});
    list(f, (struct run_query){.project = STR("p")});
    list(f, (struct run_query){.status = STR("done")});
    list(f, (struct run_query){.series = STR("s")});
    list(f, (struct run_query){.since_ns = 5});
    list(f, (struct run_query){.project = STR("p"), .series = STR("s"), .before_ns = 5});
    list(f, (struct run_query){.gpu = STR("h100")});
    list(f, (struct run_query){.search = STR("x")});
    list(f, (struct run_query){.tags = &pair, .tag_count = 1});
    list(f, (struct run_query){.tags = &any, .tag_count = 1});
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        list(f, (struct run_query){.sorts = {{str_of(columns[i]), i % 2 == 0}}, .sort_count = 1});
}

static inline void read_tables(struct fixture *f, struct str run_id)
{
    for (const struct table_desc *const *desc = run_tables; *desc; desc++) {
        struct table_place place = {run_id, STORE_ANY, STR(""), *desc};
        struct table_query query = {.limit = 10};
        struct table_page page;
        assert_ok(f, store_read_table(f->store, &place, &query, &f->arena, &page, &f->err));
    }
}

static inline void find_runs_in_every_way(struct fixture *f, struct upload *upload)
{
    struct run run;
    struct trace_row row, *rows;
    struct upload again;
    size_t count;
    bool open;
    assert_ok(f, store_find_run(f->store, upload->run_id, &f->arena, &run, &f->err));
    assert_ok(f, store_find_run(f->store, STR("r"), &f->arena, &run, &f->err));
    assert_ok(f, store_find_run(f->store, STR("default/r"), &f->arena, &run, &f->err));
    assert_ok(f, store_find_run(f->store, STR("r~latest"), &f->arena, &run, &f->err));
    assert_ok(f, store_find_run(f->store, STR("default/r~latest"), &f->arena, &run, &f->err));
    assert_ok(f, store_find_rank(f->store, run.id, 0, &f->arena, &row, &f->err));
    assert_ok(f, store_list_traces(f->store, run.id, &f->arena, &rows, &count, &f->err));
    assert_ok(f, store_find_upload(f->store, upload->id, &f->arena, &again, &f->err));
    assert_ok(f, store_upload_open(f->store, upload->id, &open, &f->err));
    assert_ok(f, store_names_blob(f->store, row.sha256.at, &open, &f->err));
    assert_ok(f, store_names_trace(f->store, row.id.at, &open, &f->err));
}

// Each table of the run, and one of a trace, part by part.
static inline void read_parts(struct fixture *f, struct upload *upload)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, upload->run_id, &f->arena, &run, &f->err));
    for (const struct table_desc *const *desc = run_tables; *desc; desc++) {
        struct report part = {.arena = &f->arena};
        struct table_cursor cursor = {.place = {run.id, run.revision, STR(""), *desc}};
        assert_ok(f, store_read_part(f->store, &cursor, &part, &f->err));
        assert_false(cursor.more);
    }
    struct table_cursor cursor = {
        .place = {run.id, STORE_ANY, upload->traces[0].id, table_named(trace_tables, "kernels")}};
    for (size_t i = 0; i < 2; i++) { // what follows the last part is empty
        struct report part = {.arena = &f->arena};
        assert_ok(f, store_read_part(f->store, &cursor, &part, &f->err));
        assert_false(cursor.more);
        assert_int_equal(part.table_count, i == 0);
    }
    assert_int_equal(cursor.place.revision, run.revision);
    int fd = memfd_create("parts", MFD_CLOEXEC);
    assert_ok(f,
              store_copy_trace_parts(f->store, cursor.place.trace_id, trace_tables, fd, &f->err));
    close(fd);
    struct report none = {.arena = &f->arena};
    cursor.place.revision++;
    assert_false(store_read_part(f->store, &cursor, &none, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
}

static inline void read_reports(struct fixture *f, struct upload *upload)
{
    struct report whole = {.arena = &f->arena}, part = whole, run = whole;
    const struct table_desc *const kernels[] = {table_named(trace_tables, "kernels"), NULL};
    const struct table_desc *const steps[] = {table_named(trace_tables, "steps"), NULL};
    struct str trace = upload->traces[0].id;
    struct rank_trace *ranks;
    size_t count;
    assert_ok(f, store_load_trace_report(f->store, trace, &whole, &f->err));
    assert_ok(f, store_load_trace_tables(f->store, trace, kernels, &part, &f->err));
    assert_int_equal(part.table_count, 1);
    assert_int_equal(part.tables[0].row_count, 3);
    assert_ok(f, store_load_trace_tables(f->store, trace, steps, &run, &f->err));
    assert_int_equal(run.table_count, 0);
    assert_ok(f, store_load_run_report(f->store, upload->run_id, &run, &f->err));
    read_parts(f, upload);
    assert_ok(f, store_done_ranks(f->store, upload->run_id, &f->arena, &ranks, &count, &f->err));
}

static inline void add_new_rank_1(struct fixture *f, struct str role, bool replace)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'g', 1, "new.json");
    part.role = role;
    struct upload_request request = {
        .run = {.name = STR("r"), .note = STR("n"), .world_size = STORE_ANY},
        .parts = &part,
        .count = 1,
        .replace = replace};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
}

static inline void dismiss_a_finding(struct fixture *f, struct str run_id)
{
    struct str finding = STR("starved");
    struct dismissal *dismissals;
    size_t count;
    assert_ok(f, store_dismiss(f->store, run_id, finding, STR("known"), &f->err));
    assert_ok(f, store_list_dismissals(f->store, run_id, &f->arena, &dismissals, &count, &f->err));
    assert_ok(f, store_take_back_dismissal(f->store, run_id, finding, &f->err));
}

static inline void say_and_keep(struct fixture *f, struct str run_id)
{
    struct comment comment = {.text = STR("known"), .author = STR("Ada")}, *comments;
    struct saved_view view = {.address = STR("/"), .name = STR("all"), .author = STR("Ada")};
    struct saved_view link = {.address = STR("/"), .author = STR("Ada")}, *views;
    size_t count;
    assert_ok(f, store_add_comment(f->store, run_id, &comment, &f->err));
    assert_ok(f, store_list_comments(f->store, run_id, &f->arena, &comments, &count, &f->err));
    assert_ok(f, store_drop_comment(f->store, run_id, comments[0].id, &f->err));
    assert_ok(f, store_save_view(f->store, &f->arena, &view, &f->err));
    assert_ok(f, store_save_view(f->store, &f->arena, &link, &f->err));
    assert_ok(f, store_list_views(f->store, &f->arena, &views, &count, &f->err));
    assert_ok(f, store_find_view(f->store, view.id, &f->arena, &view, &f->err));
    assert_ok(f, store_drop_view(f->store, view.id, &f->err));
}

static inline void promise_a_gain(struct fixture *f, struct str run_id)
{
    struct promise promise = {.changes = STR("host_free"), .author = STR("Ada")}, *promises;
    struct run run = {.series = STR("s"), .project = STR("default"), .created_ns = 1};
    struct str id;
    size_t count;
    assert_ok(f, store_add_promise(f->store, run_id, &promise, &f->err));
    assert_ok(f, store_list_promises(f->store, run_id, &f->arena, &promises, &count, &f->err));
    assert_ok(f, store_drop_promise(f->store, run_id, promises[0].id, &f->err));
    assert_ok(f, store_next_point(f->store, &run, &f->arena, &id, &f->err));
    assert_ok(f, store_previous_point(f->store, &run, &f->arena, &id, &f->err));
}

static inline void list_series_in_every_way(struct fixture *f)
{
    struct run_tag pair = {STR("k"), STR("v")}, any = {STR("k"), STR("")};
    struct series_query queries[] = {
        {.search = STR("")},
        {.project = STR("p")},
        {.search = STR("x")},
        {.tags = &pair, .tag_count = 1},
        {.tags = &any, .tag_count = 1},
    };
    struct table table;
    struct series_key key = {STR(""), STR("s")}, full = {STR("default"), STR("s")};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_ok(f, store_list_series(f->store, &queries[i], &f->arena, &table, &f->err));
    assert_ok(f, store_find_series(f->store, &key, &f->arena, &f->err));
    assert_ok(f, store_find_series(f->store, &full, &f->arena, &f->err));
    assert_ok(f, store_list_points(f->store, &key, STR("mfu"), &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 13);
    assert_ok(f, store_list_level_changes(f->store, &key, &f->arena, &table, &f->err));
    struct series_key all = {STR("default"), STR("")};
    assert_ok(f, store_list_known_figures(f->store, &key, &f->arena, &table, &f->err));
    assert_ok(f, store_list_known_figures(f->store, &all, &f->arena, &table, &f->err));
}

static inline void list_alerts_in_every_way(struct fixture *f)
{
    struct alert_query queries[] = {{.project = STR("p")},
                                    {.series = STR("s")},
                                    {.status = STR("new"), .metric = STR("mfu")},
                                    {STR("p"), STR("s"), STR("new"), STR("mfu")}};
    struct table table;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_ok(f, store_list_alerts(f->store, &queries[i], &f->arena, &table, &f->err));
}

// An outlier that goes away with its cause, one that becomes a change, and a change that passes.
static inline void track_a_series(struct fixture *f)
{
    struct run run;
    struct table table;
    add_runs(f, "s", 1, 12, 1);
    add_run(f, "s", 13, 150000000);
    judge_all(f);
    table = alerts(f, "");
    assert_int_equal(table.row_count, 1);
    list_series_in_every_way(f);
    list_alerts_in_every_way(f);
    struct str id = named_cell(&table, 0, "id")->s;
    assert_ok(f, store_find_alert(f->store, id, &f->arena, &table, &f->err));
    decide(f, id, "new", "");
    add_runs(f, "s", 14, 4, 1.5);
    judge_all(f);
    table = alerts(f, "");
    assert_string_equal(named_cell(&table, 0, "kind")->s.at, "change");
    for (int i = 13; i < 18; i++) {
        char name[16];
        snprintf(name, sizeof name, "s@%d", i);
        struct str moved = str_of(arena_printf(&f->arena, &f->err, "t%d", i));
        struct run_patch patch = {.name = &moved};
        assert_ok(f, store_find_run(f->store, str_of(name), &f->arena, &run, &f->err));
        assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
    }
    judge_all(f);
    assert_int_equal(alerts(f, "").row_count, 0);
}

static inline void pin_and_describe_a_run(struct fixture *f, struct str run_id)
{
    struct run run;
    struct table table;
    struct run_tag meta[] = {{STR("commit"), STR("abc")}, {STR("gone"), {NULL, 0}}};
    int64_t world_size = 2;
    struct run_patch patch = {.world_size = &world_size, .meta = meta, .meta_count = 2};
    assert_ok(f, store_patch_run(f->store, run_id, &patch, STORE_ANY, &f->err));
    assert_ok(f, store_set_baseline(f->store, STR("main"), run_id, &f->err));
    assert_ok(f, store_find_run(f->store, STR("@baseline:main"), &f->arena, &run, &f->err));
    assert_ok(f, store_list_baselines(f->store, STR(""), &f->arena, &table, &f->err));
    assert_ok(f, store_list_baselines(f->store, STR("main"), &f->arena, &table, &f->err));
    assert_ok(f, store_drop_baseline(f->store, STR("main"), &f->err));
}

static inline bool ignore_blob(void *context, const struct store_blob *blob, struct err *err)
{
    (void)context, (void)blob, (void)err;
    return true;
}

static inline bool ignore_trace(void *context, const char *trace_id, struct err *err)
{
    (void)context, (void)trace_id, (void)err;
    return true;
}

static inline void look_after_a_run(struct fixture *f, struct upload *upload)
{
    static const atomic_bool never;
    const char *sha256 = upload->traces[0].sha256.at;
    struct store_check check;
    struct store_blob blob;
    struct damaged_blob *blobs;
    size_t count;
    uint64_t pruned;
    bool found;
    int64_t believed_ns, damaged;
    assert_ok(f, store_believe_clock(f->store, 5, &f->err));
    assert_ok(f, store_believed_clock(f->store, &believed_ns, &f->err));
    assert_ok(f, store_check_database(f->store, false, &never, &check, &f->err));
    assert_ok(f, store_check_database(f->store, true, &never, &check, &f->err));
    assert_ok(f, store_note_check(f->store, true, &check, &f->err));
    assert_ok(f, store_last_check(f->store, true, &check, &f->err));
    assert_ok(f, store_next_to_scrub(f->store, INT64_MAX, &blob, &found, &f->err));
    assert_ok(f, store_note_scrub(f->store, sha256, "is missing", &f->err));
    assert_ok(f, store_list_damaged(f->store, &f->arena, &blobs, &count, &f->err));
    assert_ok(f, store_count_damaged(f->store, upload->run_id, &damaged, &f->err));
    assert_int_equal(damaged, 1);
    int64_t sound_ns;
    assert_ok(f, store_blob_sound_ns(f->store, str_of(sha256), &sound_ns, &f->err));
    assert_int_equal(sound_ns, 0);
    add(f, "r", sha256[0], upload->traces[0].rank, "again.json");
    assert_ok(f, store_blob_sound_ns(f->store, str_of(sha256), &sound_ns, &f->err));
    assert_true(sound_ns > 0);
    assert_ok(f, store_note_scrub(f->store, sha256, "", &f->err));
    assert_ok(f, store_each_blob(f->path, ignore_blob, NULL, &f->err));
    assert_ok(f, store_each_trace(f->path, ignore_trace, NULL, &f->err));
    assert_ok(f, store_prune(f->store, 1, &pruned, &f->err));
    struct store_names names;
    assert_ok(f, store_blobs_from(f->store, STR("aa"), &f->arena, &names, &f->err));
    assert_ok(f, store_traces_from(f->store, STR("t_a"), &f->arena, &names, &f->err));
}

static const char abc_sha256[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // of "abc", FIPS 180

static inline void guard_a_service(struct fixture *f)
{
    const char *hash = abc_sha256;
    struct token_request request = {.name = STR("ci"), .scopes = SCOPE_READ};
    struct audit_row row = {.who = STR("x")};
    struct audit_query queries[] = {{.before = 5, .limit = 5},
                                    {.who = STR("x"), .before = 5, .limit = 5}};
    struct quota_use use;
    struct token token;
    struct table table;
    struct str id;
    int64_t count;
    uint64_t pruned;
    bool found;
    assert_ok(f, store_add_token(f->store, &request, hash, &f->arena, &id, &f->err));
    assert_ok(f, store_find_token(f->store, hash, &f->arena, &token, &found, &f->err));
    assert_ok(f, store_touch_token(f->store, &token, &f->err));
    assert_ok(f, store_count_tokens(f->store, &count, &f->err));
    assert_ok(f, store_list_tokens(f->store, id, &f->arena, &table, &f->err));
    assert_ok(f, store_list_tokens(f->store, STR(""), &f->arena, &table, &f->err));
    struct store_login_limit limit = {10, 60};
    int64_t wait_ns;
    assert_ok(f, store_note_login_failure(f->store, 1, &limit, &f->err));
    assert_ok(f, store_login_wait(f->store, 1, &limit, &wait_ns, &f->err));
    assert_ok(f, store_add_session(f->store, hash, id, &f->err));
    db_raw_run(f->path, "UPDATE session SET used_ns = used_ns - 120000000000 WHERE hash = "
                        "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'");
    assert_ok(f, store_find_session(f->store, hash, &f->arena, &token, &found, &f->err));
    assert_ok(f, store_end_session(f->store, hash, &f->err));
    int64_t expires_ns = INT64_MAX;
    struct str user = STR("alice");
    assert_ok(f, store_add_user_session(f->store, hash, user, expires_ns, &f->err));
    assert_ok(f, store_find_user_session(f->store, hash, &f->arena, &user, &expires_ns, &f->err));
    assert_ok(f, store_quota_charge(f->store, id, 1, 1, &f->err));
    add_by(f, "k_1", "owned", 'o');
    assert_ok(f, store_quota_use(f->store, id, 1, &use, &f->err));
    assert_ok(f, store_add_audit(f->store, &row, NULL, &f->err));
    assert_ok(f, store_sum_audit(f->store, 0, 2, 2, &f->err));
    struct store_room room;
    assert_ok(f, store_measure_room(f->store, &room, &f->err));
    assert_ok(f, store_prune_audit(f->store, 1, &pruned, &f->err));
    assert_ok(f, store_list_audit(f->store, &queries[0], &f->arena, &table, &f->err));
    assert_ok(f, store_list_audit(f->store, &queries[1], &f->arena, &table, &f->err));
    assert_ok(f, store_revoke_token(f->store, id, &f->arena, &id, &f->err));
}

static inline void begin_in_pieces(struct fixture *f, const char *key, struct resumable *resumable)
{
    struct resumable_request request = {
        .owner = STR("me"), .key = str_of(key), .metadata = STR("run YQ=="), .bytes = 9};
    request.expires_ns = INT64_MAX;
    assert_ok(f, store_add_resumable(f->store, &request, &f->arena, resumable, &f->err));
}

static inline void add_to_a_run_of_others(struct fixture *f, struct str run_id)
{
    struct trace_part part = {.sha256 = abc_sha256, .bytes = 3, .filename = STR("x"), .rank = 9};
    struct upload_request request = {
        .run = {.name = run_id, .world_size = STORE_ANY, .adds_only = true},
        .parts = &part,
        .count = 1};
    struct upload upload;
    struct run made;
    assert_false(store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(f->err.code, ERR_DENIED);
    request.run = (struct run_request){.name = STR("empty"), .world_size = STORE_ANY};
    assert_ok(f, store_create_run(f->store, &request.run, &f->arena, &made, &f->err));
}

static inline void send_in_pieces(struct fixture *f)
{
    struct resumable one, other;
    const struct upload_key key = {STR("1"), 7};
    struct keyed_upload found;
    struct upload upload;
    bool is_there;
    begin_in_pieces(f, "1", &one);
    begin_in_pieces(f, "", &other);
    struct store *store = f->store;
    assert_ok(f, store_extend_resumable(store, &one, 9, INT64_MAX, &f->err));
    assert_ok(f, store_refuse_resumable(store, other.id, "why", &f->err));
    assert_ok(f, store_drop_resumable(store, other.id, &f->err));
    assert_ok(f, store_names_resumable(store, one.id, &is_there, &f->err));
    assert_ok(f, store_find_resumable_of_key(store, STR("me"), STR("1"), &f->arena, &one, &f->err));
    struct trace_part part = {.sha256 = abc_sha256, .bytes = 3, .filename = STR("x"), .rank = 0};
    struct upload_request request = {.run = {.name = STR("pieces"), .world_size = STORE_ANY},
                                     .parts = &part,
                                     .count = 1,
                                     .owner = STR("me"),
                                     .key = key,
                                     .resumable_id = one.id};
    assert_ok(f, store_add_upload(store, &request, &f->arena, &upload, &f->err));
    assert_ok(f, store_find_resumable(store, one.id, &f->arena, &one, &f->err));
    assert_text(one.upload_id, upload.id.at);
    assert_ok(f, store_find_upload_of_key(store, STR("me"), key.text, &f->arena, &found, &f->err));
    assert_int_equal(found.request, 7);
    assert_ok(f, store_drop_expired(store, INT64_MAX, &is_there, &f->err));
    assert_true(is_there);
    assert_ok(f, store_delete_run(store, upload.run_id, STORE_ANY, &f->err));
}

// Archives that are taken apart, that fail, and that are not archives.
static inline void unpack_archives(struct fixture *f)
{
    struct unpack_state unpack;
    struct input_row *inputs, input;
    size_t count;
    struct upload upload = add_archive(f, "archive", 'a', false);
    struct job job = claim_archive(f);
    assert_ok(f, store_begin_unpack(f->store, &job, &f->arena, &unpack, &f->err));
    add_two_members(f, &job, "iteration_10");
    assert_ok(f, store_finish_unpack(f->store, &job, STR(""), &f->err));
    assert_ok(f, store_list_inputs(f->store, upload.run_id, &f->arena, &inputs, &count, &f->err));
    assert_ok(f, store_find_input(f->store, inputs->id, &f->arena, &input, &f->err));
    add_one_archive(f, &(struct archive){"archive", 'a', .role = "policy"});
    add_archive(f, "failing", 'b', false);
    job = claim_archive(f);
    assert_ok(f, store_fail_job(f->store, &job, "why", &f->err));
    add_archive(f, "no archive", 'c', false);
    job = claim_archive(f);
    assert_ok(f, store_unpack_as_trace(f->store, &job, &f->err));
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
}

// Attachments that are read.
static inline void read_evidence(struct fixture *f)
{
    struct evidence_row *rows;
    size_t count;
    struct report report = {.arena = &f->arena};
    struct job job = claim_evidence(f, "evidence", 'd');
    assert_true(end_evidence(f, &job, 10));
    assert_ok(f, store_list_evidence(f->store, job.run_id, &f->arena, &rows, &count, &f->err));
    assert_int_equal(count, 1);
    assert_ok(f,
              store_load_input_tables(f->store, rows->input_id, evidence_tables, &report, &f->err));
    FILE *file = tmpfile();
    assert_ok(f, store_copy_input_parts(f->store, rows->input_id, evidence_tables, fileno(file),
                                        &f->err));
    fclose(file);
    assert_ok(f, store_delete_run(f->store, job.run_id, STORE_ANY, &f->err));
}

static inline void announce(struct fixture *f)
{
    bool was;
    assert_ok(f, store_note_announced(f->store, "run-r_1", &f->err));
    assert_ok(f, store_was_announced(f->store, "run-r_1", &was, &f->err));
    assert_true(was);
    assert_ok(f, store_was_announced(f->store, "run-r_2", &was, &f->err));
    assert_false(was);
}

// Jobs that do not succeed, in every way.
static inline void work_in_vain(struct fixture *f, struct str run_id)
{
    const struct job_strike why = {"crashed", "SIGSEGV"};
    struct job job = claim(f);
    size_t lost;
    bool again;
    assert_ok(f, store_keep_leases(f->store, &job.id, 1, &lost, &f->err));
    bool leads;
    assert_ok(f, store_take_role(f->store, "care", &leads, &f->err));
    char kept[STORE_ID_SIZE];
    assert_ok(f, store_keep_mark(f->store, "mark", kept, &f->err));
    announce(f);
    assert_ok(f, store_strike_job(f->store, &job, &why, &again, &f->err));
    assert_ok(f, store_cancel_run(f->store, run_id, &f->err));
}

// Into the bin, out of it, and in again.
static inline void throw_away_and_restore(struct fixture *f, struct str run_id)
{
    struct stored_list list;
    struct stored_run run;
    bool found;
    assert_ok(f, store_bin_run(f->store, run_id, STORE_ANY, STR("me"), &f->err));
    assert_ok(f, store_list_stored(f->store, STORED_IN_BIN, &f->arena, &list, &f->err));
    assert_ok(f, store_list_stored(f->store, STORED_ALL, &f->arena, &list, &f->err));
    assert_ok(f, store_list_old(f->store, 1000, &f->arena, &list, &f->err));
    assert_ok(f, store_find_in_bin(f->store, run_id, &f->arena, &run, &f->err));
    assert_ok(f, store_next_in_bin(f->store, INT64_MAX, &f->arena, &run, &found, &f->err));
    assert_ok(f, store_restore_run(f->store, run_id, &f->err));
    assert_ok(f, store_bin_run(f->store, run_id, STORE_ANY, STR(""), &f->err));
}

static inline void note_garbage(struct fixture *f)
{
    struct garbage item = {GARBAGE_BLOB, STR("x")};
    assert_true(garbage_count(f) > 0);
    assert_ok(f, store_note_garbage(f->store, &item, &f->err));
    assert_ok(f, store_forget_garbage(f->store, &item, &f->err));
    struct store_removal removal = {.sha256 = "x"};
    assert_ok(f, store_begin_removal(f->store, &removal, &f->err));
    assert_ok(f, store_end_removal(f->store, &removal, &f->err));
}

// The name of a folder with several traces is no rank, though it seemed one of the first.
static inline void share_a_folder(struct fixture *f)
{
    add(f, "folder", 'h', STORE_NO_RANK, "exp_rank5/a.json");
    add(f, "folder", 'i', STORE_NO_RANK, "exp_rank5/b.json");
    finish_next(f, -1);
    finish_next(f, -1);
    struct job job = claim(f);
    finish_run(f, &job);
}

// From a first upload to the deletion of its run, with everything that may happen in between.
// Two processes of a file that were read in the other order.
static inline void order_processes(struct fixture *f)
{
    char sha256[STORE_SHA256_SIZE];
    struct upload upload;
    for (int process = 2; process > 0; process--) {
        char *name = arena_printf(&f->arena, &f->err, "p.sqlite/process%d", process);
        struct trace_part part = part_of(sha256, 'p', STORE_NO_RANK, name);
        struct upload_request request = {
            .run = {.name = STR("p"), .world_size = STORE_ANY}, .parts = &part, .count = 1};
        part.process = process;
        part.sha256 = process == 2 ? abc_sha256 : sha256;
        assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    }
    finish_next(f, -1);
    finish_next(f, -1);
    assert_ok(f, store_order_processes(f->store, upload.run_id, &f->arena, &f->err));
    struct job job = claim(f);
    finish_run(f, &job);
}

static inline void live_a_life(struct fixture *f)
{
    track_a_series(f);
    add(f, "wide", 'f', 0, "u.json");
    finish_next_wide(f, REPORT_PART_ROWS + 1);
    struct job wide = claim(f);
    finish_run(f, &wide);
    share_a_folder(f);
    order_processes(f);
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'a', STORE_NO_RANK, "x.json");
    add(f, "r", 'b', STORE_NO_RANK, "y.json");
    add(f, "r", 'b', 1, "y.json");
    add(f, "r", 'c', STORE_NO_RANK, "z.json");
    add(f, "r", 'e', STORE_NO_RANK, "v.json");
    finish_next(f, 0);
    finish_next(f, 0);
    finish_next(f, -1); // takes the first free rank, 2
    finish_next(f, 2);  // is that rank, so the other moves
    struct job job = claim(f);
    finish_run(f, &job);
    add_new_rank_1(f, STR(""), true);
    finish_next(f, 1);
    add_new_rank_1(f, STR("policy"), false);
    job = claim(f);
    finish_run(f, &job);
    add(f, "r", 'd', 7, "w.json");
    bool found;
    assert_ok(f, store_claim_small_job(f->store, &f->arena, &job, &found, &f->err));
    assert_ok(f, store_requeue_job(f->store, &job, &f->err));
    job = claim(f);
    assert_ok(f, store_recover_jobs(f->store, true, &f->err));
    job = claim(f);
    assert_ok(f, store_fail_job(f->store, &job, "cut", &f->err));
    struct queue_state queue;
    assert_ok(f, store_queue_state(f->store, &queue, &f->err));
    assert_ok(f, store_probe(f->store, &f->err));
    list_runs_in_every_way(f);
    read_tables(f, upload.run_id);
    find_runs_in_every_way(f, &upload);
    read_reports(f, &upload);
    dismiss_a_finding(f, upload.run_id);
    say_and_keep(f, upload.run_id);
    promise_a_gain(f, upload.run_id);
    pin_and_describe_a_run(f, upload.run_id);
    guard_a_service(f);
    send_in_pieces(f);
    add_to_a_run_of_others(f, upload.run_id);
    look_after_a_run(f, &upload);
    assert_ok(f, store_finalize_run(f->store, upload.run_id, &f->err));
    struct str name = STR("other");
    struct run_tag tags[] = {{STR("k"), STR("v")}, {STR("gone"), {NULL, 0}}};
    struct run_patch patch = {.name = &name, .tags = tags, .tag_count = 2, .forgets_tags = true};
    assert_ok(f, store_patch_run(f->store, upload.run_id, &patch, STORE_ANY, &f->err));
    assert_ok(f, store_reanalyze_run(f->store, upload.run_id, &f->err));
    open_jobs(f);
    work_in_vain(f, upload.run_id);
    throw_away_and_restore(f, upload.run_id);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    unpack_archives(f);
    read_evidence(f);
    note_garbage(f);
}

#endif
