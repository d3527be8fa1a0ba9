// SPDX-License-Identifier: Apache-2.0
// Blobs and intake: files come and go with their rows, and nothing else stays.
#include "server/care/intake.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static const char abc_sha256[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // of "abc", FIPS 180

// Overrides the C library's function: the disk fails to flush a folder once.
static ino_t failing;
int fsync(int fd)
{
    struct stat info;
    if (failing && fstat(fd, &info) == 0 && info.st_ino == failing) {
        failing = 0;
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

struct service {
    char folder[64];
    struct intake intake;
    struct arena arena;
    struct err err;
};

static void check(const struct service *s, bool ok)
{
    if (!ok)
        fail_msg("%s", s->err.msg);
}

static void open_service(struct service *s)
{
    char path[96];
    snprintf(path, sizeof path, "%s/db", s->folder);
    s->intake.blobs = blob_open(s->folder, &s->err);
    check(s, s->intake.blobs != NULL);
    s->intake.store = ready_store_open(path, &s->err);
    check(s, s->intake.store != NULL);
}

static int set_up(void **state)
{
    struct service *s = calloc(1, sizeof *s);
    snprintf(s->folder, sizeof s->folder, "/tmp/test_blob.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    arena_init(&s->arena, NULL);
    open_service(s);
    *state = s;
    return 0;
}

static void close_service(struct service *s)
{
    store_close(s->intake.store);
    blob_close(s->intake.blobs);
}

static int tear_down(void **state)
{
    struct service *s = *state;
    close_service(s);
    folder_remove(s->folder);
    arena_free(&s->arena);
    free(s);
    return 0;
}

static struct spool *spooled(struct service *s, const char *content)
{
    struct spool *spool = blob_spool_open(s->intake.blobs, 100, &s->err);
    check(s, spool != NULL);
    for (const char *at = content; *at; at++)
        check(s, blob_spool_write(spool, at, 1, &s->err));
    check(s, blob_spool_seal(spool, &s->err));
    return spool;
}

static bool accept(struct service *s, const char *run, const char *content, int64_t rank,
                   struct upload *upload)
{
    struct spool *spool = spooled(s, content);
    struct intake_part part = {.spool = spool, .filename = STR("x.json"), .rank = rank};
    struct intake_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    bool ok = intake_accept(&s->intake, &request, &s->arena, upload, &s->err);
    blob_spool_close(spool);
    return ok;
}

static bool is_blob_there(struct service *s, const char *sha256)
{
    uint64_t bytes;
    struct blob_key key = {BLOB_UPLOAD, sha256};
    return blob_store_size(blob_stored(s->intake.blobs), key, &bytes, &s->err);
}

static void a_kept_file_has_the_name_of_its_content(void **state)
{
    struct service *s = *state;
    struct spool *spool = spooled(s, "abc");
    assert_string_equal(blob_spool_sha256(spool), abc_sha256);
    assert_int_equal(blob_spool_bytes(spool), 3);
    assert_false(is_blob_there(s, abc_sha256));
    check(s, blob_spool_keep(spool, &s->err));
    blob_spool_close(spool);
    int fd;
    uint64_t size;
    check(s, blob_open_read(s->intake.blobs, abc_sha256, &fd, &size, &s->err));
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, 3); // reserved but unused space is given back
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(size, 3);
    close(fd);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
    struct service *s = *state;
    blob_spool_close(spooled(s, "abc"));
    assert_int_equal(folder_count(s->folder, "spool"), 0);
    assert_int_equal(folder_count(s->folder, "blobs"), 0);
}

static void the_same_content_twice_is_one_file(void **state)
{
    struct service *s = *state;
    struct spool *one = spooled(s, "abc"), *two = spooled(s, "abc");
    check(s, blob_spool_keep(one, &s->err));
    check(s, blob_spool_keep(two, &s->err));
    blob_spool_close(one);
    blob_spool_close(two);
    assert_true(is_blob_there(s, abc_sha256));
    assert_int_equal(folder_count(s->folder, "spool"), 0);
}

static void a_data_directory_serves_one_process_at_a_time(void **state)
{
    struct service *s = *state;
    struct blobs *second = blob_open(s->folder, &s->err);
    assert_null(second);
    assert_int_equal(s->err.code, ERR_BUSY);
}

static void more_than_the_disk_holds_is_refused_at_once(void **state)
{
    struct service *s = *state;
    struct spool *spool = blob_spool_open(s->intake.blobs, (uint64_t)1 << 60, &s->err);
    assert_null(spool);
    assert_int_equal(folder_count(s->folder, "spool"), 0);
}

// What a start does, and care soon after.
static void sweep_all(struct service *s)
{
    struct swept_folders *swept = calloc(1, sizeof *swept);
    check(s, intake_sweep(&s->intake, &s->err));
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    free(swept);
}

static void a_refused_upload_leaves_no_file(void **state)
{
    struct service *s = *state;
    struct upload upload;
    assert_true(accept(s, "r", "abc", 0, &upload));
    assert_false(accept(s, "r", "def", 0, &upload));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    sweep_all(s);
    assert_true(is_blob_there(s, abc_sha256));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
}

// One thread's uploads to a rank that is taken, each with different bytes.
static void *send_wrong_bytes(void *context)
{
    struct service own = {.intake = *(const struct intake *)context};
    arena_init(&own.arena, NULL);
    for (int i = 0; i < 25; i++) {
        char content[64];
        struct upload upload;
        snprintf(content, sizeof content, "%d of %p", i, (void *)&own);
        assert_false(accept(&own, "r", content, 0, &upload));
        assert_int_equal(own.err.code, ERR_CONFLICT);
    }
    arena_free(&own.arena);
    return NULL;
}

static void refused_uploads_leave_no_file_however_many_come_at_once(void **state)
{
    struct service *s = *state;
    struct upload upload;
    pthread_t threads[8];
    assert_true(accept(s, "r", "abc", 0, &upload));
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_wrong_bytes, &s->intake), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
    assert_int_equal(folder_count(s->folder, "spool"), 0);
}

static void a_deleted_run_takes_its_files_unless_another_needs_them(void **state)
{
    struct service *s = *state;
    struct upload one, two, only;
    check(s, accept(s, "one", "abc", 0, &one));
    check(s, accept(s, "two", "abc", 0, &two));
    check(s, accept(s, "one", "only here", 1, &only));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 2);
    check(s, intake_delete_run(&s->intake, one.run_id, STORE_ANY, &s->err));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
    assert_true(is_blob_there(s, abc_sha256));
    check(s, intake_delete_run(&s->intake, two.run_id, STORE_ANY, &s->err));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 0);
}

// The next flush would succeed, though the folder's new name may be lost.
static void after_a_flush_of_any_folder_failed_nothing_is_taken_in(void **state)
{
    struct service *s = *state;
    struct upload upload;
    struct stat info;
    char path[96];
    snprintf(path, sizeof path, "%s/blobs", s->folder);
    assert_int_equal(stat(path, &info), 0);
    failing = info.st_ino;
    assert_false(accept(s, "r", "abc", 0, &upload));
    assert_int_equal(failing, 0);
    assert_false(blob_check_writable(s->intake.blobs, &s->err));
    assert_int_equal(s->err.code, ERR_BUSY);
}

static void store_trace(struct service *s, const char *trace_id)
{
    struct blob_part part;
    check(s, blob_part_open(s->intake.blobs, &part, &s->err));
    assert_int_equal(write(part.fd, "trace", 5), 5);
    check(s, blob_keep_trace(s->intake.blobs, trace_id, &part, &s->err));
    blob_part_close(&part);
}

// How long it takes does not depend on how much is stored.
static void a_start_looks_into_no_folder_of_files(void **state)
{
    struct service *s = *state;
    store_trace(s, "t_000000000000");
    folder_write(s->folder, "traces/00/t_111111111111.sst.part", "half");
    check(s, intake_sweep(&s->intake, &s->err));
    assert_int_equal(folder_count_all(s->folder, "traces"), 2);
    sweep_all(s);
    assert_int_equal(folder_count_all(s->folder, "traces"), 0);
}

static void a_start_removes_what_no_row_names(void **state)
{
    struct service *s = *state;
    struct upload upload;
    check(s, accept(s, "r", "abc", 0, &upload));
    struct spool *orphan = spooled(s, "killed before its rows");
    check(s, blob_spool_keep(orphan, &s->err));
    blob_spool_close(orphan);
    folder_write(s->folder, "spool/1234.part", "half");
    folder_write(s->folder, "blobs/ba/1234.part", "half of a copy");
    store_trace(s, "t_000000000000");
    store_trace(s, upload.traces[0].id.at);
    close_service(s);
    open_service(s);
    sweep_all(s);
    assert_int_equal(folder_count(s->folder, "spool"), 0);
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
    assert_int_equal(folder_count_all(s->folder, "traces"), 1);
    assert_true(is_blob_there(s, abc_sha256));
}

static void set_time(const struct service *s, const char *folder, struct timespec changed)
{
    char path[128];
    const struct timespec times[] = {changed, changed};
    snprintf(path, sizeof path, "%s/%s", s->folder, folder);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// As if it had last changed long ago.
static void set_old(const struct service *s, const char *folder)
{
    set_time(s, folder, (struct timespec){1000, 7});
}

static void a_folder_in_which_nothing_came_or_went_is_passed_over(void **state)
{
    struct service *s = *state;
    struct swept_folders *swept = calloc(1, sizeof *swept);
    struct upload upload;
    check(s, accept(s, "r", "abc", 0, &upload));
    set_old(s, "blobs/ba");
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    char orphan[96] = "blobs/ba/";
    snprintf(orphan + strlen(orphan), sizeof orphan - strlen(orphan), "%.63s0", abc_sha256);
    folder_write(s->folder, orphan, "of a process that was killed");
    set_old(s, "blobs/ba");
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 2);
    folder_write(s->folder, "blobs/ba/new", "changes the folder");
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    assert_int_equal(folder_count_all(s->folder, "blobs"), 2);
    assert_true(is_blob_there(s, abc_sha256));
    free(swept);
}

static void assert_swept(const struct swept_folders *swept, enum blob_type type, uint64_t files,
                         uint64_t bytes)
{
    uint64_t found_files, found_bytes;
    swept_count(swept, type, &found_files, &found_bytes);
    assert_int_equal(found_files, files);
    assert_int_equal(found_bytes, bytes);
}

static void a_sweep_counts_what_remains(void **state)
{
    struct service *s = *state;
    struct swept_folders *swept = calloc(1, sizeof *swept);
    struct upload upload;
    check(s, accept(s, "r", "abc", 0, &upload));
    check(s, accept(s, "r", "defgh", 1, &upload));
    store_trace(s, "t_ab0000000000");
    set_old(s, "blobs/ba");
    for (int i = 0; i < 2; i++) { // the second passes over a folder
        check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
        assert_swept(swept, BLOB_UPLOAD, 2, 8);
        assert_swept(swept, BLOB_TRACE, 0, 0);
    }
    check(s, intake_delete_run(&s->intake, upload.run_id, STORE_ANY, &s->err));
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    assert_swept(swept, BLOB_UPLOAD, 0, 0);
    free(swept);
}

static void a_folder_without_a_time_is_looked_through(void **state)
{
    struct service *s = *state;
    struct swept_folders *swept = calloc(1, sizeof *swept);
    for (int i = 0; i < 2; i++) {
        store_trace(s, "t_ab0000000000");
        set_time(s, "traces/ab", (struct timespec){0});
        check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
        assert_int_equal(folder_count_all(s->folder, "traces"), 0);
    }
    free(swept);
}

static void a_folder_that_just_changed_is_looked_through_again(void **state)
{
    struct service *s = *state;
    struct swept_folders *swept = calloc(1, sizeof *swept);
    store_trace(s, "t_ab0000000000");
    check(s, intake_sweep_unnamed(&s->intake, swept, &s->err));
    assert_int_equal(folder_count_all(s->folder, "traces"), 0);
    for (size_t i = 0; i < SWEPT_FOLDERS; i++)
        assert_int_equal(swept->at[1][i].changed_ns, 0);
    free(swept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kept_file_has_the_name_of_its_content),
        TEST(an_abandoned_file_leaves_nothing),
        TEST(the_same_content_twice_is_one_file),
        TEST(a_data_directory_serves_one_process_at_a_time),
        TEST(more_than_the_disk_holds_is_refused_at_once),
        TEST(a_refused_upload_leaves_no_file),
        TEST(refused_uploads_leave_no_file_however_many_come_at_once),
        TEST(a_deleted_run_takes_its_files_unless_another_needs_them),
        TEST(after_a_flush_of_any_folder_failed_nothing_is_taken_in),
        TEST(a_start_looks_into_no_folder_of_files),
        TEST(a_start_removes_what_no_row_names),
        TEST(a_folder_in_which_nothing_came_or_went_is_passed_over),
        TEST(a_sweep_counts_what_remains),
        TEST(a_folder_without_a_time_is_looked_through),
        TEST(a_folder_that_just_changed_is_looked_through_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
