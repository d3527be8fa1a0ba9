// SPDX-License-Identifier: Apache-2.0
// Searches by name in a handmade trace.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "ingest/trace/trace_file.h"
#include "server/api/name_find.h"
#include "tests/unit/hand_trace.h"

// Three kernels with the text on two streams, two of which start at once, and one without.
static struct trace_file *open_trace(struct hand *hand)
{
    char path[] = "/tmp/stepscope-find-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    hand_begin(hand);
    hand_kernel(hand, "Gemm_a", 7, 1000, 10);
    hand_kernel(hand, "gemm_b", 8, 1000, 20);
    hand_kernel(hand, "softmax", 7, 1500, 30);
    hand_kernel(hand, "gemm_c", 7, 2000, 40);
    hand_seal(hand);
    assert_true(trace_file_save(hand->trace, path, &hand->err));
    struct trace_file *file = trace_file_open(path, &hand->err);
    assert_non_null(file);
    unlink(path);
    return file;
}

static struct name_found search(const struct trace_file *file, bool backward, int64_t begin_ns,
                                uint64_t lane)
{
    struct err err;
    struct name_found found;
    struct name_find wanted = {.text = STR("gemm"), .backward = backward, .from = {begin_ns, lane}};
    assert_true(name_find(file, &wanted, &found, &err));
    return found;
}

static void events_follow_each_other_by_start_and_lane_and_around(void **state)
{
    (void)state;
    static const int64_t durs_ns[] = {10, 20, 40, 10};
    struct hand hand;
    struct trace_file *file = open_trace(&hand);
    struct name_found found = search(file, false, INT64_MIN, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found.count, 3);
        assert_int_equal(found.index, i % 3 + 1);
        assert_int_equal(found.event.end_ns - found.event.begin_ns, durs_ns[i]);
        found = search(file, false, found.event.begin_ns, found.lane);
    }
    trace_file_close(file);
    hand_end(&hand);
}

static void the_way_back_is_the_same_the_other_way_round(void **state)
{
    (void)state;
    static const int64_t durs_ns[] = {40, 20, 10, 40};
    struct hand hand;
    struct trace_file *file = open_trace(&hand);
    struct name_found found = search(file, true, 3000, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found.index, 3 - i % 3);
        assert_int_equal(found.event.end_ns - found.event.begin_ns, durs_ns[i]);
        found = search(file, true, found.event.begin_ns, found.lane);
    }
    trace_file_close(file);
    hand_end(&hand);
}

static void a_text_that_no_name_has_is_not_found(void **state)
{
    (void)state;
    struct hand hand;
    struct name_found found;
    struct trace_file *file = open_trace(&hand);
    struct name_find wanted = {.text = STR("conv")};
    assert_true(name_find(file, &wanted, &found, &hand.err));
    assert_int_equal(found.count, 0);
    trace_file_close(file);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_follow_each_other_by_start_and_lane_and_around),
        cmocka_unit_test(the_way_back_is_the_same_the_other_way_round),
        cmocka_unit_test(a_text_that_no_name_has_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
