// SPDX-License-Identifier: Apache-2.0
// Slices of a lane go to rows on which they nest or follow one another, and each ends once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "server/exports/lane_rows.h"

struct ended {
    size_t count;
    uint32_t row[16];
    int64_t end_ns[16];
};

static void note_end(void *context, uint32_t row, int64_t end_ns)
{
    struct ended *ended = context;
    assert_true(ended->count < 16);
    ended->row[ended->count] = row;
    ended->end_ns[ended->count++] = end_ns;
}

static uint32_t place(struct lane_rows *rows, int64_t begin_ns, int64_t end_ns, struct ended *ended)
{
    struct lane_ends ends = {note_end, ended};
    uint32_t row;
    assert_true(lane_rows_place(rows, begin_ns, end_ns, &ends, &row));
    return row;
}

static void slices_within_one_another_share_a_row(void **state)
{
    (void)state;
    struct lane_rows rows = {.nests = true};
    struct ended ended = {0};
    assert_int_equal(place(&rows, 0, 100, &ended), 0);
    assert_int_equal(place(&rows, 10, 50, &ended), 0);
    assert_int_equal(place(&rows, 20, 50, &ended), 0);
    assert_int_equal(ended.count, 0);
    assert_int_equal(place(&rows, 50, 100, &ended), 0);
    assert_int_equal(ended.count, 2);
    assert_int_equal(ended.end_ns[0], 50);
    struct lane_ends ends = {note_end, &ended};
    lane_rows_finish(&rows, &ends);
    assert_int_equal(ended.count, 4);
    assert_int_equal(ended.end_ns[3], 100);
    lane_rows_free(&rows);
}

static void slices_that_cross_go_to_rows_of_their_own(void **state)
{
    (void)state;
    struct lane_rows rows = {.nests = true};
    struct ended ended = {0};
    assert_int_equal(place(&rows, 0, 100, &ended), 0);
    assert_int_equal(place(&rows, 50, 150, &ended), 1);
    assert_int_equal(place(&rows, 60, 90, &ended), 0);
    assert_int_equal(place(&rows, 95, 160, &ended), 2);
    assert_int_equal(place(&rows, 150, 160, &ended), 0);
    lane_rows_free(&rows);
}

static void slices_of_a_stream_never_share_a_row_while_they_run(void **state)
{
    (void)state;
    struct lane_rows rows = {.nests = false};
    struct ended ended = {0};
    assert_int_equal(place(&rows, 0, 100, &ended), 0);
    assert_int_equal(place(&rows, 10, 20, &ended), 1);
    assert_int_equal(place(&rows, 20, 30, &ended), 1);
    assert_int_equal(place(&rows, 100, 110, &ended), 0);
    lane_rows_free(&rows);
}

static void too_many_rows_are_reported_and_not_made(void **state)
{
    (void)state;
    struct lane_rows rows = {.nests = false};
    struct ended ended = {0};
    for (uint32_t i = 0; i < LANE_MOST_ROWS; i++)
        assert_int_equal(place(&rows, i, INT64_MAX, &ended), i);
    assert_int_equal(place(&rows, LANE_MOST_ROWS, INT64_MAX, &ended), LANE_NO_ROW);
    lane_rows_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_within_one_another_share_a_row),
        cmocka_unit_test(slices_that_cross_go_to_rows_of_their_own),
        cmocka_unit_test(slices_of_a_stream_never_share_a_row_while_they_run),
        cmocka_unit_test(too_many_rows_are_reported_and_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
