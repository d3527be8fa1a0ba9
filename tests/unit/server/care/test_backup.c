// SPDX-License-Identifier: Apache-2.0
// Backups of a data folder: their contents, when they refuse, what damage they report; checks of
// single files, and the ballast.
#include "server/care/backup.h"
#include "server/care/ballast.h"
#include "server/care/intake.h"
#include "server/files/file_copy.h"
#include "server/files/scrub.h"
#include "tests/unit/db_raw.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

struct service {
    char folder[64], data[80], to[80], back[80];
    struct intake intake;
    struct arena arena;
    struct err err;
};

static void check(const struct service *s, bool ok)
{
    if (!ok)
        fail_msg("%s", s->err.msg);
}
// The argument is evaluated before the error is read.
#define check(s, call) (check)((s), (call))

static int set_up(void **state)
{
    struct service *s = calloc(1, sizeof *s);
    char path[96];
    snprintf(s->folder, sizeof s->folder, "/tmp/test_backup.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->data, sizeof s->data, "%s/data", s->folder);
    snprintf(s->to, sizeof s->to, "%s/backup", s->folder);
    snprintf(s->back, sizeof s->back, "%s/back", s->folder);
    arena_init(&s->arena, NULL);
    check(s, (s->intake.blobs = blob_open(s->data, &s->err)) != NULL);
    snprintf(path, sizeof path, "%s/stepscope.db", s->data);
    check(s, (s->intake.store = ready_store_open(path, &s->err)) != NULL);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct service *s = *state;
    store_close(s->intake.store);
    blob_close(s->intake.blobs);
    folder_remove(s->folder);
    arena_free(&s->arena);
    free(s);
    return 0;
}

static bool send(struct service *s, const char *run, const char *content, struct upload *upload)
{
    struct spool *spool = blob_spool_open(s->intake.blobs, 100, &s->err);
    check(s, spool != NULL);
    check(s, blob_spool_write(spool, content, strlen(content), &s->err));
    check(s, blob_spool_seal(spool, &s->err));
    struct intake_part part = {.spool = spool, .filename = STR("x.json")};
    struct intake_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    bool ok = intake_accept(&s->intake, &request, &s->arena, upload, &s->err);
    blob_spool_close(spool);
    return ok;
}

static struct upload accept(struct service *s, const char *run, const char *content)
{
    struct upload upload;
    check(s, send(s, run, content, &upload));
    return upload;
}

static void refuse(struct service *s, const char *run, const char *content)
{
    struct upload upload;
    assert_false(send(s, run, content, &upload));
    assert_int_equal(s->err.code, ERR_CONFLICT);
}

static struct backup_report made(struct service *s)
{
    struct backup_report report = {.out = stdout};
    check(s, backup_make(s->data, s->to, &report, &s->err));
    return report;
}

static void blob_of(const char *folder, const struct upload *upload, char path[256])
{
    const char *sha256 = upload->traces[0].sha256.at;
    snprintf(path, 256, "%s/blobs/%.2s/%s", folder, sha256, sha256);
}

static void a_backup_follows_what_is_stored(void **state)
{
    struct service *s = *state;
    struct upload first = accept(s, "a", "first");
    accept(s, "b", "second");
    struct backup_report report = made(s);
    assert_int_equal(report.files, 2);
    assert_int_equal(report.bytes, 11);
    assert_int_equal(report.added, 2);
    accept(s, "c", "third");
    check(s, intake_delete_run(&s->intake, first.run_id, STORE_ANY, &s->err));
    report = made(s);
    assert_int_equal(report.files, 2);
    assert_int_equal(report.added, 1);
    assert_int_equal(report.removed, 1);
    assert_int_equal(report.damaged, 0);
    assert_int_equal(folder_count_all(s->to, "blobs"), 2);
}

static int hold_removals(const struct service *s)
{
    char path[128];
    snprintf(path, sizeof path, "%s/" BLOB_REMOVALS_LOCK, s->data);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
    return fd;
}

static void a_backup_keeps_what_is_deleted_while_it_is_made(void **state)
{
    struct service *s = *state;
    struct upload upload = accept(s, "a", "first");
    char path[256];
    blob_of(s->data, &upload, path);
    int held = hold_removals(s); // as a backup does
    check(s, intake_delete_run(&s->intake, upload.run_id, STORE_ANY, &s->err));
    assert_int_equal(access(path, F_OK), 0);
    close(held);
    check(s, intake_collect(&s->intake, &s->err));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_of_a_refused_upload_goes_when_the_backup_has_ended(void **state)
{
    struct service *s = *state;
    accept(s, "a", "first");
    int held = hold_removals(s);
    refuse(s, "a", "second");
    assert_int_equal(folder_count_all(s->data, "blobs"), 2);
    close(held);
    check(s, intake_collect(&s->intake, &s->err));
    assert_int_equal(folder_count_all(s->data, "blobs"), 1);
}

static void a_folder_with_other_things_is_never_written_to(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = stdout};
    accept(s, "a", "first");
    assert_false(backup_make(s->data, s->data, &report, &s->err));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    assert_false(backup_make("/nowhere", s->to, &report, &s->err));
    assert_int_equal(s->err.code, ERR_NOT_FOUND);
    assert_int_not_equal(access(s->to, F_OK), 0);
}

static void a_damaged_file_is_reported_and_the_rest_is_saved(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = tmpfile()};
    struct upload broken = accept(s, "a", "first"), gone = accept(s, "b", "second");
    accept(s, "c", "third");
    char path[256], line[256];
    blob_of(s->data, &broken, path);
    folder_write("", path, "fIrst");
    blob_of(s->data, &gone, path);
    unlink(path);
    check(s, backup_make(s->data, s->to, &report, &s->err));
    assert_int_equal(report.damaged, 2);
    assert_int_equal(report.added, 1);
    rewind(report.out);
    bool tells_missing = false, tells_bytes = false;
    while (fgets(line, sizeof line, report.out)) {
        tells_missing = tells_missing || strstr(line, "is missing");
        tells_bytes = tells_bytes || strstr(line, "differs from the uploaded bytes");
    }
    assert_true(tells_missing && tells_bytes);
    fclose(report.out);
    struct backup_report looked = {.out = stdout}, read = {.out = stdout};
    check(s, backup_check_files(s->data, false, &looked, &s->err));
    check(s, backup_check_files(s->data, true, &read, &s->err));
    assert_int_equal(looked.damaged, 1);
    assert_int_equal(read.damaged, 2);
}

static void what_is_restored_is_what_was_saved(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = stdout}, again = {.out = stdout};
    struct run run;
    char path[128];
    accept(s, "a", "first");
    made(s);
    check(s, backup_restore(s->to, s->back, &report, &s->err));
    assert_int_equal(report.added, 1);
    assert_false(backup_restore(s->to, s->back, &again, &s->err));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    assert_false(backup_restore(s->data, s->back, &again, &s->err));
    assert_int_equal(s->err.code, ERR_NOT_FOUND);
    store_close(s->intake.store);
    blob_close(s->intake.blobs);
    check(s, (s->intake.blobs = blob_open(s->back, &s->err)) != NULL);
    snprintf(path, sizeof path, "%s/stepscope.db", s->back);
    check(s, (s->intake.store = store_open(path, &s->err)) != NULL);
    struct swept_folders *swept = calloc(1, sizeof *swept);
    check(s, intake_sweep(&s->intake, &s->err));
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    free(swept);
    check(s, store_find_run(s->intake.store, STR("a"), &s->arena, &run, &s->err));
    assert_int_equal(run.received, 1);
    check(s, backup_check_files(s->back, true, &again, &s->err));
    assert_int_equal(again.damaged, 0);
    assert_int_equal(again.files, 1);
}

static void write_line(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", name);
    fclose(file);
}

static void assert_line(const char *folder, const char *name)
{
    char path[128], line[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(strncmp(line, name, strlen(name)), 0);
    assert_string_equal(line + strlen(name), "\n");
}

static void all_files_of_the_audit_log_are_saved(void **state)
{
    static const char *const names[] = {"audit.log", "audit.log.1", "audit.log.12"};
    struct service *s = *state;
    struct backup_report report = {.out = stdout};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_line(s->data, names[i]);
    made(s);
    check(s, backup_restore(s->to, s->back, &report, &s->err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_line(s->back, names[i]);
}

// SQLite would replay the log into the restored database.
static void nothing_is_restored_beside_the_log_of_another_database(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = stdout};
    char path[128];
    accept(s, "a", "first");
    made(s);
    assert_int_equal(mkdir(s->back, 0700), 0);
    snprintf(path, sizeof path, "%s/stepscope.db-wal", s->back);
    FILE *log = fopen(path, "w");
    assert_non_null(log);
    fclose(log);
    assert_false(backup_restore(s->to, s->back, &report, &s->err));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    assert_int_equal(unlink(path), 0);
    check(s, backup_restore(s->to, s->back, &report, &s->err));
}

static void a_service_holds_its_folder_against_a_restore(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = stdout};
    char path[128];
    accept(s, "a", "first");
    made(s);
    store_close(s->intake.store);
    s->intake.store = NULL;
    snprintf(path, sizeof path, "%s/stepscope.db", s->data);
    assert_int_equal(unlink(path), 0);
    assert_false(backup_restore(s->to, s->data, &report, &s->err));
    assert_int_equal(s->err.code, ERR_BUSY);
}

// --- single files -------------------------------------------------------------------------------

static bool stop(void *context, int64_t ns)
{
    int64_t *rested_ns = context;
    *rested_ns += ns;
    return false;
}

static struct blob_store *files_of(struct service *s)
{
    struct blob_store *files = blob_store_open(s->data, NULL, &s->err);
    assert_non_null(files);
    return files;
}

static void a_look_at_a_file_rests_and_can_be_stopped(void **state)
{
    struct service *s = *state;
    struct upload upload = accept(s, "a", "first");
    struct store_blob blob = {.bytes = 5};
    struct blob_store *files = files_of(s);
    char path[256], damage[STORE_DAMAGE_SIZE];
    int64_t rested_ns = 0;
    struct scrub_pace pace = {stop, &rested_ns, 5000, false};
    memcpy(blob.sha256, upload.traces[0].sha256.at, sizeof blob.sha256);
    assert_false(scrub_file(files, &blob, &pace, damage, &s->err));
    assert_int_equal(s->err.code, ERR_CANCELLED);
    assert_int_equal(rested_ns, 1000000);
    struct scrub_pace fast = {0};
    check(s, scrub_file(files, &blob, &fast, damage, &s->err));
    assert_string_equal(damage, "");
    blob.bytes = 6;
    check(s, scrub_file(files, &blob, &fast, damage, &s->err));
    assert_string_equal(damage, "has 5 bytes, 6 were uploaded");
    blob_of(s->data, &upload, path);
    assert_int_equal(unlink(path), 0);
    check(s, scrub_file(files, &blob, &fast, damage, &s->err));
    assert_string_equal(damage, "is missing");
    blob_store_close(files);
}

static void a_file_that_cannot_be_opened_for_want_of_descriptors_is_not_damaged(void **state)
{
    struct service *s = *state;
    struct upload upload = accept(s, "a", "first");
    struct store_blob blob = {.bytes = 5};
    struct blob_store *files = files_of(s);
    struct scrub_pace fast = {0};
    char damage[STORE_DAMAGE_SIZE];
    struct rlimit before, none;
    memcpy(blob.sha256, upload.traces[0].sha256.at, sizeof blob.sha256);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool ok = scrub_file(files, &blob, &fast, damage, &s->err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(ok);
    assert_int_equal(s->err.code, ERR_BUSY);
    assert_string_equal(damage, "");
    blob_store_close(files);
}

static void the_same_bytes_uploaded_again_mend_a_damaged_file(void **state)
{
    struct service *s = *state;
    struct upload upload = accept(s, "a", "first");
    struct store_blob blob = {.bytes = 5};
    struct blob_store *files = files_of(s);
    struct scrub_pace fast = {0};
    char path[256], damage[STORE_DAMAGE_SIZE];
    memcpy(blob.sha256, upload.traces[0].sha256.at, sizeof blob.sha256);
    blob_of(s->data, &upload, path);
    chmod(path, 0600);
    folder_write("", path, "fIrst");
    check(s, scrub_file(files, &blob, &fast, damage, &s->err));
    assert_string_equal(damage, "differs from the uploaded bytes");
    accept(s, "a", "first");
    check(s, scrub_file(files, &blob, &fast, damage, &s->err));
    assert_string_equal(damage, "");
    blob_store_close(files);
}

static void a_copy_takes_the_place_of_what_was_there(void **state)
{
    struct service *s = *state;
    char from[128], to[128], text[16] = "";
    enum file_copy how;
    snprintf(from, sizeof from, "%s/from", s->folder);
    snprintf(to, sizeof to, "%s/to", s->folder);
    folder_write("", from, "new");
    folder_write("", to, "old");
    check(s, file_copy(from, to, &how, &s->err));
    check(s, file_copy(from, to, &how, &s->err)); // both may be one file now
    check(s, file_copy_bytes(from, to, &s->err));
    FILE *file = fopen(to, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "new");
    assert_int_equal(folder_count(s->folder, ""), 3); // the data folder, from, to
    assert_false(file_copy("/nowhere", to, &how, &s->err));
    assert_int_equal(s->err.code, ERR_NOT_FOUND);
}

// --- the ballast --------------------------------------------------------------------------------

static void what_a_newer_program_stored_is_neither_copied_nor_called_sound(void **state)
{
    struct service *s = *state;
    struct backup_report report = {.out = stdout};
    struct store_check found;
    char path[96];
    snprintf(path, sizeof path, "%s/stepscope.db", s->data);
    db_raw_run(path, "PRAGMA user_version = 9999");
    assert_false(backup_make(s->data, s->to, &report, &s->err));
    assert_int_equal(s->err.code, ERR_UNSUPPORTED);
    snprintf(path, sizeof path, "%s/stepscope.db", s->to);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/stepscope.db", s->data);
    assert_false(store_check_file(path, &found, &s->err));
    assert_int_equal(s->err.code, ERR_UNSUPPORTED);
}

static void the_ballast_is_dropped_once_and_made_again_when_there_is_room(void **state)
{
    struct service *s = *state;
    struct ballast ballast, next;
    struct stat info;
    const uint64_t size = 1 << 20;
    ballast_init(&ballast, s->folder, size);
    assert_false(ballast.is_there);
    check(s, ballast_make(&ballast, 2 * size - 1, &s->err)); // too little room
    assert_false(ballast.is_there);
    check(s, ballast_make(&ballast, 2 * size, &s->err));
    assert_true(ballast.is_there);
    assert_int_equal(stat(ballast.path, &info), 0);
    assert_true((uint64_t)info.st_blocks * 512 >= size);
    ballast_init(&next, s->folder, size); // as the next process finds it
    assert_true(next.is_there);
    ballast_drop(&next);
    ballast_drop(&next);
    assert_false(next.is_there);
    assert_int_not_equal(stat(next.path, &info), 0);
    check(s, ballast_make(&next, 100 * size, &s->err));
    ballast_init(&ballast, s->folder, 0); // no longer wanted
    assert_int_not_equal(stat(next.path, &info), 0);
}

static void a_backup_says_what_it_does(void **state)
{
    struct service *s = *state;
    char *said = NULL;
    size_t len;
    struct backup_report report = {.out = open_memstream(&said, &len)};
    check(s, backup_make(s->data, s->to, &report, &s->err));
    fclose(report.out);
    assert_non_null(strstr(said, "copying the database\nchecking the copy of the database\n"));
    free(said);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_backup_follows_what_is_stored),
        TEST(a_backup_keeps_what_is_deleted_while_it_is_made),
        TEST(a_file_of_a_refused_upload_goes_when_the_backup_has_ended),
        TEST(a_folder_with_other_things_is_never_written_to),
        TEST(a_damaged_file_is_reported_and_the_rest_is_saved),
        TEST(what_is_restored_is_what_was_saved),
        TEST(all_files_of_the_audit_log_are_saved),
        TEST(nothing_is_restored_beside_the_log_of_another_database),
        TEST(a_service_holds_its_folder_against_a_restore),
        TEST(a_look_at_a_file_rests_and_can_be_stopped),
        TEST(a_file_that_cannot_be_opened_for_want_of_descriptors_is_not_damaged),
        TEST(the_same_bytes_uploaded_again_mend_a_damaged_file),
        TEST(a_copy_takes_the_place_of_what_was_there),
        TEST(what_a_newer_program_stored_is_neither_copied_nor_called_sound),
        TEST(the_ballast_is_dropped_once_and_made_again_when_there_is_room),
        TEST(a_backup_says_what_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
