// SPDX-License-Identifier: Apache-2.0
// Looking after the database: checks, copies, damaged files, old data, and its settings.
#include "ingest/base/clock.h"
#include "server/store/store_access.h"
#include "server/store/store_bin.h"
#include "server/store/store_care.h"
#include "tests/unit/folder.h"
#include "tests/unit/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>

static const atomic_bool never;

// --- checks -------------------------------------------------------------------------------------

static void a_new_database_is_sound(void **state)
{
    struct fixture *f = *state;
    struct store_check found, last;
    add(f, "r", 'a', 0, "x.json");
    for (int full = 0; full < 2; full++) {
        assert_ok(f, store_last_check(f->store, full, &last, &f->err));
        assert_int_equal(last.checked_ns, 0);
        assert_ok(f, store_check_database(f->store, full, &never, &found, &f->err));
        assert_string_equal(found.damage, "");
        assert_ok(f, store_note_check(f->store, full, &found, &f->err));
        assert_ok(f, store_last_check(f->store, full, &last, &f->err));
        assert_int_equal(last.checked_ns, found.checked_ns);
    }
    assert_ok(f, store_check_file(f->path, &found, &f->err));
    assert_string_equal(found.damage, "");
}

static void another_programs_database_is_not_ours(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    char path[128];
    snprintf(path, sizeof path, "%s/foreign.db", f->folder);
    db_raw_run(path, "CREATE TABLE blob (x); PRAGMA user_version = 5");
    assert_ok(f, store_check_file(path, &found, &f->err));
    assert_non_null(strstr(found.damage, "none of our tables"));
}

static void a_reference_into_nothing_is_damage_that_a_full_check_names(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    db_raw_run(f->path,
               "PRAGMA foreign_keys = OFF; INSERT INTO run_tag VALUES ('r_gone', 'k', 'v')");
    assert_ok(f, store_check_database(f->store, true, &never, &found, &f->err));
    assert_string_equal(found.damage, "run_tag names rows of stored_run that are not there");
    assert_ok(f, store_check_file(f->path, &found, &f->err));
    assert_string_equal(found.damage, "references missing rows: run_tag");
}

// Zeroes a table's page in the file; its header and everything else remain.
static void damage_page_of(struct fixture *f, const char *table)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    long page = db_raw_number(f->path, sql);
    FILE *file = fopen(f->path, "r+");
    char zeros[4096] = {0};
    assert_int_equal(fseek(file, (page - 1) * 4096, SEEK_SET), 0);
    assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
    fclose(file);
}

static void a_page_that_the_disk_lost_is_found(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    store_close(f->store);
    damage_page_of(f, "baseline");
    f->store = store_open(f->path, &f->err);
    assert_ok(f, f->store != NULL);
    assert_ok(f, store_check_database(f->store, false, &never, &found, &f->err));
    assert_string_not_equal(found.damage, "");
}

// Leaves the process only this many free descriptors; returns the previous limit.
static struct rlimit leave_descriptors(rlim_t spare)
{
    struct rlimit before, few;
    int next = dup(STDOUT_FILENO);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)next + spare;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    return before;
}

static void a_database_that_no_descriptor_is_left_for_is_not_called_damaged(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    for (rlim_t spare = 0; spare < 2; spare++) { // for none of its files, or not for its log
        struct rlimit before = leave_descriptors(spare);
        bool ok = store_check_database(f->store, true, &never, &found, &f->err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_false(ok);
        assert_string_equal(found.damage, "");
        assert_int_equal(f->err.code, ERR_BUSY);
    }
}

static void a_path_is_a_path_even_when_it_looks_like_a_uri(void **state)
{
    struct fixture *f = *state;
    static const char name[] = "file:x?mode=memory";
    char before[256];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    struct store *store = store_open(name, &f->err);
    bool is_there = access(name, F_OK) == 0;
    store_close(store);
    assert_int_equal(chdir(before), 0);
    assert_ok(f, store != NULL);
    assert_true(is_there);
}

static void a_check_stops_when_it_is_asked_to(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    const atomic_bool now = true;
    for (int i = 0; i < 400; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        add(f, name, 'a', 0, "x.json");
    }
    assert_false(store_check_database(f->store, true, &now, &found, &f->err));
    assert_int_equal(f->err.code, ERR_CANCELLED);
}

// --- copies -------------------------------------------------------------------------------------

static bool count_blob(void *context, const struct store_blob *blob, struct err *err)
{
    (void)err;
    int *count = context;
    assert_int_equal(blob->bytes, 100);
    (*count)++;
    return true;
}

static bool count_trace(void *context, const char *trace_id, struct err *err)
{
    (void)err;
    int *count = context;
    assert_int_equal(strncmp(trace_id, "t_", 2), 0);
    (*count)++;
    return true;
}

static void a_copy_holds_all_and_needs_no_other_file(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    char to[128], log[140];
    int blobs = 0, traces = 0;
    add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    add(f, "other", 'b', 1, "y.json");
    snprintf(to, sizeof to, "%s/copy", f->folder);
    snprintf(log, sizeof log, "%s-wal", to);
    assert_ok(f, store_copy_file(f->path, to, &f->err));
    assert_ok(f, store_check_file(to, &found, &f->err));
    assert_string_equal(found.damage, "");
    assert_ok(f, store_each_blob(to, count_blob, &blobs, &f->err));
    assert_int_equal(blobs, 2);
    assert_ok(f, store_each_trace(to, count_trace, &traces, &f->err));
    assert_int_equal(traces, 3);
    assert_int_not_equal(access(log, F_OK), 0);
    assert_false(store_copy_file(f->path, to, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_false(store_copy_file("/nowhere/db", to, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static int copies(const struct fixture *f)
{
    return folder_count(f->folder, "") - 1;
}

static void the_newest_two_copies_from_before_a_schema_stay(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    folder_write(f->folder, "db.schema-0001", "old");
    folder_write(f->folder, "db.schema-0002", "old");
    db_raw_run(f->path,
               "DROP TABLE database_check; DROP INDEX upload_by_created;"
               "DROP INDEX job_by_end; DROP INDEX blob_damaged; DROP INDEX blob_by_checked;"
               "ALTER TABLE blob DROP COLUMN damage; ALTER TABLE blob DROP COLUMN checked_ns;"
               "PRAGMA user_version = 10");
    f->store = store_open(f->path, &f->err);
    if (!f->store) // other parts of that migration exist already; the copy was made before
        assert_non_null(strstr(f->err.msg, "0011"));
    char first[112], last[112];
    struct store_check found;
    snprintf(first, sizeof first, "%s.schema-0001", f->path);
    snprintf(last, sizeof last, "%s.schema-0010", f->path);
    assert_int_not_equal(access(first, F_OK), 0);
    assert_ok(f, store_check_file(last, &found, &f->err));
    assert_string_equal(found.damage, "");
}

static void copies_from_before_a_schema_go_when_asked(void **state)
{
    struct fixture *f = *state;
    int before = copies(f);
    folder_write(f->folder, "db.schema-0001", "old");
    folder_write(f->folder, "db.schema-0002", "old");
    folder_write(f->folder, "other.schema-0002", "not ours");
    assert_ok(f, store_drop_schema_copies(f->store, &f->err));
    assert_int_equal(copies(f), before + 1);
}

// --- files --------------------------------------------------------------------------------------

static void the_file_looked_at_longest_ago_is_next(void **state)
{
    struct fixture *f = *state;
    struct store_blob blob;
    bool found;
    int64_t before_ns = clock_wall_ns() - 1;
    add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    assert_ok(f, store_next_to_scrub(f->store, before_ns, &blob, &found, &f->err));
    assert_false(found);
    assert_ok(f, store_next_to_scrub(f->store, clock_wall_ns(), &blob, &found, &f->err));
    assert_true(found);
    assert_int_equal(blob.sha256[0], 'a');
    assert_ok(f, store_note_scrub(f->store, blob.sha256, "", &f->err));
    assert_ok(f, store_next_to_scrub(f->store, clock_wall_ns(), &blob, &found, &f->err));
    assert_int_equal(blob.sha256[0], 'b');
}

static void a_file_that_was_looked_at_by_a_clock_ahead_of_its_time_is_looked_at_again(void **state)
{
    struct fixture *f = *state;
    struct store_blob blob;
    bool found;
    add(f, "r", 'a', 0, "x.json");
    add(f, "r", 'b', 1, "y.json");
    db_raw_run(f->path, "UPDATE blob SET checked_ns = checked_ns * 2 WHERE sha256 LIKE 'b%'");
    assert_ok(f, store_next_to_scrub(f->store, 1, &blob, &found, &f->err));
    assert_true(found);
    assert_int_equal(blob.sha256[0], 'b');
    assert_ok(f, store_note_scrub(f->store, blob.sha256, "", &f->err));
    assert_ok(f, store_next_to_scrub(f->store, 1, &blob, &found, &f->err));
    assert_false(found);
}

static size_t damaged(struct fixture *f)
{
    struct damaged_blob *blobs;
    size_t count;
    assert_ok(f, store_list_damaged(f->store, &f->arena, &blobs, &count, &f->err));
    return count;
}

static struct str warning_of(struct fixture *f, struct str run_id)
{
    struct trace_row row;
    assert_ok(f, store_find_rank(f->store, run_id, 0, &f->arena, &row, &f->err));
    return row.warning;
}

static void a_damaged_file_is_warned_of_until_it_is_uploaded_again(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    struct str sha256 = upload.traces[0].sha256;
    struct run before, after;
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &before, &f->err));
    assert_ok(f, store_note_scrub(f->store, sha256.at, "is missing", &f->err));
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &after, &f->err));
    assert_int_equal(damaged(f), 1);
    assert_text(warning_of(f, upload.run_id), "the stored file is damaged; upload it again");
    assert_true(after.revision > before.revision);
    add(f, "r", 'a', 0, "x.json");
    assert_int_equal(damaged(f), 0);
    assert_text(warning_of(f, upload.run_id), "");
}

static void a_damaged_file_names_a_run_that_is_not_deleted(void **state)
{
    struct fixture *f = *state;
    struct damaged_blob *blobs;
    size_t count;
    struct upload first = add(f, "r", 'a', 0, "x.json"), second = add(f, "q", 'a', 0, "y.json");
    assert_ok(f, store_note_scrub(f->store, first.traces[0].sha256.at, "is missing", &f->err));
    assert_ok(f, store_bin_run(f->store, first.run_id, STORE_ANY, STR(""), &f->err));
    assert_ok(f, store_list_damaged(f->store, &f->arena, &blobs, &count, &f->err));
    assert_int_equal(count, 1);
    assert_text(blobs[0].run_id, second.run_id.at);
    assert_ok(f, store_bin_run(f->store, second.run_id, STORE_ANY, STR(""), &f->err));
    assert_ok(f, store_list_damaged(f->store, &f->arena, &blobs, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(blobs[0].run_id.len, 0);
}

// --- what is old --------------------------------------------------------------------------------

static void jobs_and_uploads_are_forgotten_but_not_what_waits(void **state)
{
    struct fixture *f = *state;
    uint64_t pruned;
    struct upload again, upload = add(f, "a", 'a', 0, "x.json");
    add(f, "b", 'b', 0, "y.json");
    db_raw_run(f->path, "UPDATE job SET state = 'done', finished_ns = 5 WHERE id = 1");
    assert_ok(f, store_prune(f->store, 5, &pruned, &f->err));
    assert_int_equal(pruned, 0);
    assert_ok(f, store_prune(f->store, clock_wall_ns() + 1, &pruned, &f->err));
    assert_int_equal(pruned, 3); // a job and two uploads
    claim(f);
    assert_false(store_find_upload(f->store, upload.id, &f->arena, &again, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void days_of_quotas_are_forgotten(void **state)
{
    enum { DAY = 86400 };
    struct fixture *f = *state;
    uint64_t pruned;
    for (int64_t day = 6; day < 9; day++)
        assert_ok(f, store_quota_charge(f->store, STR("k_1"), day, 10, &f->err));
    assert_ok(f, store_prune(f->store, (int64_t)8 * DAY * 1000000000, &pruned, &f->err));
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM quota_day"), 1);
}

// --- the disk -----------------------------------------------------------------------------------

static void after_a_flush_failed_nothing_is_written_and_all_is_read(void **state)
{
    struct fixture *f = *state;
    struct disk_fault fault = {0};
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    struct run run;
    bool done;
    store_share_fault(f->store, &fault);
    disk_fault_set(&fault, "flushing a file: EIO");
    disk_fault_set(&fault, "another one");
    assert_false(store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
    assert_non_null(strstr(f->err.msg, "flushing a file: EIO"));
    assert_false(store_empty_log(f->store, &done, &f->err));
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    store_close(f->store); // before the fault goes out of scope
    f->store = store_open(f->path, &f->err);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
}

static void emptying_the_log_leaves_no_byte_of_what_was_deleted(void **state)
{
    struct fixture *f = *state;
    struct store_sizes sizes;
    bool done;
    struct upload upload = add(f, "secretly-named", 'a', 0, "x.json");
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    store_sizes(f->store, &sizes);
    assert_true(sizes.wal_bytes > 0);
    assert_true(sizes.writes >= 2);
    assert_ok(f, store_empty_log(f->store, &done, &f->err));
    assert_true(done);
    store_sizes(f->store, &sizes);
    assert_int_equal(sizes.wal_bytes, 0);
    char *bytes = malloc(sizes.db_bytes);
    FILE *file = fopen(f->path, "r");
    assert_int_equal(fread(bytes, 1, sizes.db_bytes, file), sizes.db_bytes);
    fclose(file);
    assert_null(memmem(bytes, sizes.db_bytes, "secretly-named", 14));
    free(bytes);
}

static void a_reader_delays_the_emptying_but_not_for_long(void **state)
{
    struct fixture *f = *state;
    bool done;
    add(f, "r", 'a', 0, "x.json");
    struct db *db = db_raw_open(f->path);
    assert_ok(f, sql_execute_all(db, "BEGIN; SELECT count(*) FROM run", &f->err));
    add(f, "r", 'b', 1, "x.json");
    int64_t begin_ns = clock_mono_ns();
    assert_ok(f, store_empty_log(f->store, &done, &f->err));
    assert_true(clock_mono_ns() - begin_ns < 2000000000);
    assert_false(done);
    db_close(db, true);
    assert_ok(f, store_empty_log(f->store, &done, &f->err));
    assert_true(done);
}

static void limit_files(uint64_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static bool fill(struct fixture *f, int i)
{
    char name[16], note[3000];
    memset(note, 'n', sizeof note);
    snprintf(name, sizeof name, "full%d", i);
    struct run_request request = {
        .name = str_of(name), .note = {note, sizeof note}, .world_size = STORE_ANY};
    struct run run;
    return store_create_run(f->store, &request, &f->arena, &run, &f->err);
}

static void a_write_that_fails_fails_alone(void **state)
{
    struct fixture *f = *state;
    struct store_check found;
    int i = 0;
    limit_files(1 << 20);
    while (i < 1000 && fill(f, i))
        i++;
    assert_in_range(i, 1, 999);
    assert_int_equal(f->err.code, ERR_IO);
    limit_files(RLIM_INFINITY);
    assert_true(fill(f, i));
    assert_ok(f, store_check_database(f->store, true, &never, &found, &f->err));
    assert_string_equal(found.damage, "");
}

static void one_that_was_killed_is_known_by_its_log(void **state)
{
    struct fixture *f = *state;
    char log[112];
    assert_false(store_was_unclean(f->store));
    reopen(f);
    assert_false(store_was_unclean(f->store));
    store_close(f->store);
    snprintf(log, sizeof log, "%s-wal", f->path);
    folder_write("", log, "half a frame");
    f->store = store_open(f->path, &f->err);
    assert_ok(f, f->store != NULL);
    assert_true(store_was_unclean(f->store));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_database_is_sound),
        TEST(another_programs_database_is_not_ours),
        TEST(a_reference_into_nothing_is_damage_that_a_full_check_names),
        TEST(a_page_that_the_disk_lost_is_found),
        TEST(a_database_that_no_descriptor_is_left_for_is_not_called_damaged),
        TEST(a_path_is_a_path_even_when_it_looks_like_a_uri),
        TEST(a_check_stops_when_it_is_asked_to),
        TEST(a_copy_holds_all_and_needs_no_other_file),
        TEST(the_newest_two_copies_from_before_a_schema_stay),
        TEST(copies_from_before_a_schema_go_when_asked),
        TEST(the_file_looked_at_longest_ago_is_next),
        TEST(a_file_that_was_looked_at_by_a_clock_ahead_of_its_time_is_looked_at_again),
        TEST(a_damaged_file_is_warned_of_until_it_is_uploaded_again),
        TEST(a_damaged_file_names_a_run_that_is_not_deleted),
        TEST(jobs_and_uploads_are_forgotten_but_not_what_waits),
        TEST(days_of_quotas_are_forgotten),
        TEST(after_a_flush_failed_nothing_is_written_and_all_is_read),
        TEST(emptying_the_log_leaves_no_byte_of_what_was_deleted),
        TEST(a_reader_delays_the_emptying_but_not_for_long),
        TEST(a_write_that_fails_fails_alone),
        TEST(one_that_was_killed_is_known_by_its_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
