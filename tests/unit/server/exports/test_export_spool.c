// SPDX-License-Identifier: Apache-2.0
// Exports that are read by parts are written once, dropped when there is no room, and given up when
// they are too large or unwanted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "server/exports/export_spool.h"

#define PIECE 1000

struct counted {
    int pieces, written; // to write, and so far
    bool wanted, fails;
};

static bool next(void *context, struct buf *out, bool *more, struct err *err)
{
    struct counted *counted = context;
    char piece[PIECE];
    memset(piece, 'a' + counted->written++, sizeof piece);
    buf_add(out, piece, sizeof piece);
    *more = counted->written < counted->pieces;
    return !counted->fails || err_set(err, ERR_FORMAT, "a damaged trace");
}

static bool is_wanted(void *context)
{
    const struct counted *counted = context;
    return counted->wanted;
}

static struct spooled ask(struct export_spool *spool, const char *key, struct counted *counted)
{
    struct spool_source source = {str_of(key), next, is_wanted, counted};
    struct spooled found;
    struct err err = {.pos = ERR_NO_POS};
    assert_true(export_spool_write(spool, &source, &found, &err));
    return found;
}

static struct export_spool *open_spool(uint64_t most_bytes)
{
    struct err err;
    struct export_spool *spool = export_spool_open(most_bytes, 0, &err);
    assert_non_null(spool);
    return spool;
}

static void an_export_is_written_once_and_each_reader_has_a_place_of_its_own(void **state)
{
    (void)state;
    struct export_spool *spool = open_spool(10 * PIECE);
    struct counted counted = {.pieces = 3, .wanted = true};
    struct spooled one = ask(spool, "a", &counted), two = ask(spool, "a", &counted);
    char at;
    assert_int_equal(counted.written, 3);
    assert_int_equal(one.bytes, 3 * PIECE);
    assert_int_equal(two.bytes, 3 * PIECE);
    assert_int_equal(lseek(one.fd, 2 * PIECE, SEEK_SET), 2 * PIECE);
    assert_int_equal(read(two.fd, &at, 1), 1);
    assert_int_equal(at, 'a');
    assert_int_equal(read(one.fd, &at, 1), 1);
    assert_int_equal(at, 'c');
    close(one.fd);
    close(two.fd);
    export_spool_close(spool);
}

static void those_least_recently_used_make_room(void **state)
{
    (void)state;
    struct export_spool *spool = open_spool(5 * PIECE);
    struct counted first = {.pieces = 2, .wanted = true}, second = first, third = first;
    struct spooled kept = ask(spool, "a", &first);
    close(ask(spool, "b", &second).fd);
    close(ask(spool, "c", &third).fd);
    assert_int_equal(export_spool_find(spool, STR("a")).fd, -1);
    struct spooled found = export_spool_find(spool, STR("c"));
    char at;
    assert_true(found.fd >= 0);
    assert_int_equal(read(kept.fd, &at, 1), 1); // a reader goes on
    close(found.fd);
    close(kept.fd);
    export_spool_close(spool);
}

static void what_is_too_large_or_unwanted_is_given_up_and_leaves_room(void **state)
{
    (void)state;
    struct export_spool *spool = open_spool(5 * PIECE);
    struct counted large = {.pieces = 20, .wanted = true}, left = {.pieces = 2};
    struct counted fine = {.pieces = 5, .wanted = true};
    assert_int_equal(ask(spool, "large", &large).fd, -1);
    assert_true(large.written < 20);
    int once = large.written;
    assert_int_equal(ask(spool, "large", &large).fd, -1);
    assert_int_equal(large.written, once);
    assert_int_equal(ask(spool, "left", &left).fd, -1);
    assert_int_equal(ask(spool, "left", &left).fd, -1);
    assert_int_equal(left.written, 2);
    struct spooled found = ask(spool, "fine", &fine);
    assert_true(found.fd >= 0);
    close(found.fd);
    export_spool_close(spool);
}

static void a_failure_is_that_of_the_export_and_the_next_one_is_written(void **state)
{
    (void)state;
    struct export_spool *spool = open_spool(5 * PIECE);
    struct counted broken = {.pieces = 2, .wanted = true, .fails = true};
    struct counted fine = {.pieces = 2, .wanted = true};
    struct spool_source source = {STR("a"), next, NULL, &broken};
    struct spooled found;
    struct err err = {.pos = ERR_NO_POS};
    assert_false(export_spool_write(spool, &source, &found, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    found = ask(spool, "a", &fine);
    assert_int_equal(found.bytes, 2 * PIECE);
    close(found.fd);
    export_spool_close(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_export_is_written_once_and_each_reader_has_a_place_of_its_own),
        cmocka_unit_test(those_least_recently_used_make_room),
        cmocka_unit_test(what_is_too_large_or_unwanted_is_given_up_and_leaves_room),
        cmocka_unit_test(a_failure_is_that_of_the_export_and_the_next_one_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
