// SPDX-License-Identifier: Apache-2.0
// Tables pass through a file one part at a time; anything cut, damaged or out of order is refused.
#include "analysis/analysis.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

static const struct table_desc *const known[] = {&table_environment, &table_classes, NULL};

struct way {
    struct arena arena;
    struct report sent;
    struct err err;
};

static int set_up(void **state)
{
    struct way *w = calloc(1, sizeof *w);
    arena_init(&w->arena, NULL);
    w->sent.arena = &w->arena;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct way *w = *state;
    arena_free(&w->arena);
    free(w);
    return 0;
}

static void add_rows(struct way *w, size_t rows, struct str value)
{
    for (size_t i = 0; i < rows; i++) {
        char *key = arena_printf(&w->arena, &w->err, "key %zu", i);
        const struct cell row[] = {cell_text(str_of(key)), cell_text(value)};
        assert_true(report_add(&w->sent, &table_environment, row, &w->err));
    }
}

static void add_class(struct way *w)
{
    const struct cell row[] = {cell_text(STR("compute")), cell_i64(3), cell_null()};
    assert_true(report_add(&w->sent, &table_classes, row, &w->err));
}

static int send_all(struct way *w)
{
    int fd = report_parts_hold(&w->sent, known, &w->err);
    assert_true(fd >= 0);
    return fd;
}

// Joins what a file contains, at most `most` rows and `most_bytes` at a time.
static bool receive(struct way *w, int fd, struct report *all, size_t most_bytes)
{
    struct report_parts parts;
    bool found = true, ok = true;
    report_parts_open(&parts, fd, known);
    while (ok && (ok = report_parts_next(&parts, &found, &w->err)) && found) {
        struct report one = {.arena = &w->arena};
        ok = report_part_load(&parts.part, &one, &w->err) &&
             report_part_load(&parts.part, all, &w->err);
        assert_true(report_bytes(&one) <= most_bytes);
        assert_true(!one.table_count || one.tables[0].row_count <= REPORT_PART_ROWS);
    }
    report_parts_close(&parts);
    return ok;
}

static void tables_arrive_as_they_were(void **state)
{
    struct way *w = *state;
    struct report all = {.arena = &w->arena};
    struct buf sent = {0}, received = {0};
    add_rows(w, 2 * REPORT_PART_ROWS + 3, STR("v"));
    add_class(w);
    int fd = send_all(w);
    assert_true(receive(w, fd, &all, REPORT_PART_BYTES));
    report_json(&w->sent, &sent);
    report_json(&all, &received);
    assert_string_equal(sent.at, received.at);
    buf_free(&sent);
    buf_free(&received);
    close(fd);
}

static void long_texts_make_short_parts(void **state)
{
    enum { TEXT_BYTES = 300000, ROWS = 20 };
    struct way *w = *state;
    struct report all = {.arena = &w->arena};
    char *text = malloc(TEXT_BYTES);
    memset(text, 'x', TEXT_BYTES);
    add_rows(w, ROWS, (struct str){text, TEXT_BYTES});
    int fd = send_all(w);
    assert_true(receive(w, fd, &all, REPORT_PART_BYTES));
    assert_int_equal(report_find(&all, "environment")->row_count, ROWS);
    assert_memory_equal(named_cell(&all.tables[0], ROWS - 1, "value")->s.at, text, TEXT_BYTES);
    free(text);
    close(fd);
}

static void a_table_without_rows_is_there(void **state)
{
    struct way *w = *state;
    struct report_parts parts;
    bool found;
    assert_non_null(report_room(&w->sent, &table_classes, 0, &w->err));
    int fd = send_all(w);
    report_parts_open(&parts, fd, known);
    assert_true(report_parts_next(&parts, &found, &w->err));
    assert_true(found);
    assert_ptr_equal(parts.part.desc, &table_classes);
    assert_true(report_parts_next(&parts, &found, &w->err));
    assert_false(found);
    report_parts_close(&parts);
    close(fd);
}

static off_t size_of(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return info.st_size;
}

static void refuse(struct way *w, int fd)
{
    struct report all = {.arena = &w->arena};
    assert_false(receive(w, fd, &all, SIZE_MAX));
    assert_int_equal(w->err.code, ERR_FORMAT);
}

static void a_file_that_is_cut_is_refused(void **state)
{
    struct way *w = *state;
    struct report all = {.arena = &w->arena};
    add_class(w);
    int fd = send_all(w);
    for (off_t len = size_of(fd) - 1; len > 0; len--) {
        assert_int_equal(ftruncate(fd, len), 0);
        refuse(w, fd);
    }
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_true(receive(w, fd, &all, 0)); // nothing was found
    close(fd);
}

static void a_byte_that_changed_never_passes_as_other_parts(void **state)
{
    struct way *w = *state;
    add_class(w);
    int fd = send_all(w);
    off_t len = size_of(fd);
    size_t refused = 0;
    for (off_t at = 0; at < len; at++) {
        struct report all = {.arena = &w->arena};
        char byte, other;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        other = (char)~byte;
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        refused += !receive(w, fd, &all, SIZE_MAX);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_true(refused >= 32); // of the header at least
    close(fd);
}

// Appends another report's parts.
// Whether what was sent loads as a part of that table.
static bool loads(struct way *w, const struct table_desc *desc)
{
    struct buf plain = {0};
    char frame[4096];
    struct report one = {.arena = &w->arena};
    assert_true(report_save(&w->sent, &plain, &w->err));
    size_t len = ZSTD_compress(frame, sizeof frame, plain.at, plain.len, 3);
    assert_false(ZSTD_isError(len));
    buf_free(&plain);
    struct report_part part = {.desc = desc, .frame = {frame, len}};
    bool ok = report_part_load(&part, &one, &w->err);
    assert_true(ok || w->err.code == ERR_FORMAT);
    return ok;
}

static void a_part_hides_no_other_table(void **state)
{
    struct way *w = *state;
    add_rows(w, 1, STR("value"));
    assert_true(loads(w, &table_environment));
    assert_false(loads(w, &table_classes));
    add_class(w);
    assert_false(loads(w, &table_environment));
    assert_false(loads(w, &table_classes));
}

// Rows of nothing take no bytes in the file, but memory when they are read.
static void a_part_with_more_rows_than_it_may_have_is_refused_by_its_head(void **state)
{
    struct way *w = *state;
    const struct cell row[] = {cell_null(), cell_null()};
    for (size_t i = 0; i < REPORT_PART_ROWS; i++)
        assert_true(report_add(&w->sent, &table_environment, row, &w->err));
    assert_true(loads(w, &table_environment));
    assert_true(report_add(&w->sent, &table_environment, row, &w->err));
    assert_false(loads(w, &table_environment));
}

static void append(int to, int from)
{
    char bytes[4096];
    ssize_t got = pread(from, bytes, sizeof bytes, 0);
    assert_true(got > 0);
    assert_int_equal(pwrite(to, bytes, (size_t)got, size_of(to)), got);
}

static void a_table_comes_once_and_in_order(void **state)
{
    struct way *w = *state;
    add_class(w);
    int fd = send_all(w), again = send_all(w);
    append(fd, again);
    refuse(w, fd);
    uint64_t one = 1; // the number of the second part where the first one's belongs
    assert_int_equal(pwrite(again, &one, sizeof one, 16), sizeof one);
    refuse(w, again);
    close(fd);
    close(again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_arrive_as_they_were),
        TEST(long_texts_make_short_parts),
        TEST(a_table_without_rows_is_there),
        TEST(a_file_that_is_cut_is_refused),
        TEST(a_byte_that_changed_never_passes_as_other_parts),
        TEST(a_table_comes_once_and_in_order),
        TEST(a_part_hides_no_other_table),
        TEST(a_part_with_more_rows_than_it_may_have_is_refused_by_its_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
