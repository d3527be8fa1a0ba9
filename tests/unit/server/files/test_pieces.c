// SPDX-License-Identifier: Apache-2.0
// What counts of a resumable upload after crashes and power cuts: what was flushed, and whatever
// follows it exactly as sent.
#include "ingest/base/buf.h"
#include "server/files/pieces.h"
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { TOTAL = 1000000, BLOCK = 100000 };

struct fixture {
    char folder[64];
    struct blobs *blobs;
    char bytes[TOTAL];
    struct err err;
};

static void check(const struct fixture *f, bool ok)
{
    if (!ok)
        fail_msg("%s", f->err.msg);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_pieces.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->blobs = blob_open(f->folder, &f->err);
    check(f, f->blobs != NULL);
    check(f, pieces_create(f->blobs, "p_1", &f->err));
    for (int i = 0; i < TOTAL; i++)
        f->bytes[i] = (char)(i * 7 + i / 1000);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    blob_close(f->blobs);
    folder_remove(f->folder);
    free(f);
    return 0;
}

static struct pieces *open_at(struct fixture *f, uint64_t flushed)
{
    struct pieces *pieces = pieces_open(f->blobs, "p_1", TOTAL, &f->err);
    check(f, pieces != NULL);
    check(f, pieces_find_end(pieces, flushed, &f->err));
    return pieces;
}

// Sends the next blocks.
static void write_blocks(struct fixture *f, struct pieces *pieces, int count)
{
    for (int i = 0; i < count; i++)
        check(f, pieces_write(pieces, f->bytes + pieces_offset(pieces), BLOCK, true, &f->err));
}

static int open_raw(struct fixture *f, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/pieces/%s", f->folder, name);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    return fd;
}

static void assert_offset(struct fixture *f, uint64_t flushed, uint64_t expected)
{
    struct pieces *pieces = open_at(f, flushed);
    assert_int_equal(pieces_offset(pieces), expected);
    pieces_close(pieces);
}

static void blocks_that_nobody_flushed_count_after_a_crash(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, 3);
    pieces_close(pieces);
    assert_offset(f, 0, 3 * BLOCK);
    assert_offset(f, 0, 3 * BLOCK); // even if nobody recorded that
    pieces = open_at(f, 3 * BLOCK);
    write_blocks(f, pieces, 2);
    pieces_close(pieces);
    assert_offset(f, 3 * BLOCK, 5 * BLOCK);
}

static void a_page_that_a_power_cut_lost_ends_what_counts(void **state)
{
    struct fixture *f = *state;
    static const char zeros[4096];
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, 4);
    pieces_close(pieces);
    int fd = open_raw(f, "p_1.part");
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, 2 * BLOCK + 8192), sizeof zeros);
    close(fd);
    assert_offset(f, 0, 2 * BLOCK);
    struct stat info;
    fd = open_raw(f, "p_1.part");
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, 2 * BLOCK);
    close(fd);
}

static void what_was_flushed_counts_without_checksums(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, 4);
    check(f, pieces_flush(pieces, &f->err));
    pieces_close(pieces);
    int fd = open_raw(f, "p_1.sums");
    assert_int_equal(ftruncate(fd, 16), 0);
    close(fd);
    assert_offset(f, 4 * BLOCK, 4 * BLOCK);
}

static void a_size_without_its_bytes_does_not_count(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, 1);
    pieces_close(pieces);
    int fd = open_raw(f, "p_1.part");
    assert_int_equal(ftruncate(fd, 3 * BLOCK), 0);
    close(fd);
    assert_offset(f, 0, BLOCK);
}

static void bytes_that_must_be_checked_first_do_not_count_after_a_crash(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    check(f, pieces_write(pieces, f->bytes, BLOCK, false, &f->err));
    assert_int_equal(pieces_offset(pieces), BLOCK);
    pieces_close(pieces);
    assert_offset(f, 0, 0);
}

static void what_is_taken_back_is_gone_and_comes_again(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    check(f, pieces_write(pieces, f->bytes, BLOCK, false, &f->err));
    check(f, pieces_rewind(pieces, 0, &f->err));
    assert_int_equal(pieces_offset(pieces), 0);
    write_blocks(f, pieces, 2);
    pieces_close(pieces);
    assert_offset(f, 0, 2 * BLOCK);
}

static void one_request_at_a_time_has_the_file(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    assert_null(pieces_open(f->blobs, "p_1", TOTAL, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
    pieces_close(pieces);
    pieces_close(open_at(f, 0));
}

static void more_than_was_announced_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, TOTAL / BLOCK);
    assert_false(pieces_write(pieces, "x", 1, true, &f->err));
    pieces_close(pieces);
}

// Disk usage in bytes.
static int64_t held_bytes(struct fixture *f)
{
    struct stat info;
    int fd = open_raw(f, "p_1.part");
    assert_int_equal(fstat(fd, &info), 0);
    close(fd);
    return (int64_t)info.st_blocks * 512;
}

static void disk_is_held_for_bytes_that_come_and_no_longer(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(held_bytes(f), 0);
    struct pieces *pieces = open_at(f, 0);
    write_blocks(f, pieces, 1);
    int64_t held = held_bytes(f);
    if (held < 2 * BLOCK)
        print_message("NOTE: this filesystem reserves nothing\n");
    assert_true(held < TOTAL); // though that much was announced
    pieces_close(pieces);
    assert_true(held_bytes(f) < 2 * BLOCK);
    assert_offset(f, 0, BLOCK);
}

static void a_complete_file_gets_a_second_name_and_keeps_the_first(void **state)
{
    struct fixture *f = *state;
    struct pieces *pieces = open_at(f, 0);
    assert_null(pieces_seal(pieces, &f->err)); // not complete
    write_blocks(f, pieces, TOTAL / BLOCK);
    for (int turn = 0; turn < 2; turn++) { // a second try finds both names
        struct spool *spool = pieces_seal(pieces, &f->err);
        check(f, spool != NULL);
        check(f, blob_spool_keep(spool, &f->err));
        uint64_t size = 0;
        int fd = -1;
        check(f, blob_open_read(f->blobs, blob_spool_sha256(spool), &fd, &size, &f->err));
        assert_int_equal(size, TOTAL);
        char *content = malloc(TOTAL);
        assert_int_equal(read(fd, content, TOTAL), TOTAL);
        assert_memory_equal(content, f->bytes, TOTAL);
        free(content);
        close(fd);
        blob_spool_close(spool);
    }
    pieces_close(pieces);
    assert_offset(f, TOTAL, TOTAL);
    check(f, pieces_remove(f->blobs, "p_1", &f->err));
    check(f, pieces_remove(f->blobs, "p_1", &f->err)); // removing again is fine
    assert_null(pieces_open(f->blobs, "p_1", TOTAL, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static bool note_id(void *ctx, const char *id, struct err *err)
{
    (void)err;
    struct buf *seen = ctx;
    buf_puts(seen, id);
    buf_putc(seen, ' ');
    return true;
}

static void files_are_listed_by_the_id_of_their_upload(void **state)
{
    struct fixture *f = *state;
    struct buf seen = {0};
    struct pieces_visitor visitor = {note_id, &seen};
    check(f, pieces_each(f->blobs, &visitor, &f->err));
    assert_string_equal(seen.at, "p_1 ");
    buf_free(&seen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_that_nobody_flushed_count_after_a_crash),
        TEST(a_page_that_a_power_cut_lost_ends_what_counts),
        TEST(what_was_flushed_counts_without_checksums),
        TEST(a_size_without_its_bytes_does_not_count),
        TEST(bytes_that_must_be_checked_first_do_not_count_after_a_crash),
        TEST(what_is_taken_back_is_gone_and_comes_again),
        TEST(one_request_at_a_time_has_the_file),
        TEST(more_than_was_announced_is_refused),
        TEST(disk_is_held_for_bytes_that_come_and_no_longer),
        TEST(a_complete_file_gets_a_second_name_and_keeps_the_first),
        TEST(files_are_listed_by_the_id_of_their_upload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
