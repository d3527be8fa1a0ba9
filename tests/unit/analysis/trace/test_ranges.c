// SPDX-License-Identifier: Apache-2.0
// Named ranges as a tree, with the device time of what was launched in them.
#include "tests/unit/hand_trace.h"

#include <stdio.h>

static void add_range(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand,
             (struct hand_event){
                 .kind = EVENT_ANNOTATION, .name = name, .begin_ns = begin_ns, .dur_ns = dur_ns});
}

static void add_work(struct hand *hand, int64_t row, int64_t launch_ns, int64_t begin_ns,
                     int64_t dur_ns)
{
    static int64_t correlation;
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .row = row,
                                       .begin_ns = launch_ns,
                                       .dur_ns = 1,
                                       .correlation = ++correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

static int64_t of(struct hand *hand, const char *name, const char *column)
{
    return hand_i64(hand, "ranges", hand_find(hand, "ranges", "name", name), column);
}

static void ranges_nest_and_count_what_was_launched_in_them(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 3; i++) {
        add_range(&hand, i == 0 ? "step 7" : i == 1 ? "step 8" : "step 9", 1000 * i, 900);
        add_range(&hand, "forward", 1000 * i + 10, 200);
        add_work(&hand, 0, 1000 * i + 20, 10000 * (i + 1), 100 + i);
        add_work(&hand, 0, 1000 * i + 500, 10000 * (i + 1) + 300, 50);
    }
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "ranges"), 3);
    assert_int_equal(of(&hand, "step *", "calls"), 3);
    assert_int_equal(of(&hand, "step *", "total_owned_ns"), 303 + 150);
    assert_int_equal(of(&hand, "step *", "owned_median_ns"), 151);
    assert_int_equal(of(&hand, "step *", "idle_ns"), 200 + 199 + 198);
    assert_int_equal(of(&hand, "step *", "host_ns"), 2700);
    assert_int_equal(of(&hand, "forward", "total_owned_ns"), 303);
    assert_int_equal(of(&hand, "forward", "compute_ns"), 303);
    assert_int_equal(of(&hand, "forward", "idle_ns"), 0);
    assert_int_equal(of(&hand, "forward", "parent"), of(&hand, "step *", "id"));
    assert_int_equal(of(&hand, "step *", "children"), 1);
    hand_end(&hand);
}

static void a_thread_without_ranges_works_for_the_main_thread(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_range(&hand, "train", 0, 1000);
    add_range(&hand, "backward", 400, 500);
    add_work(&hand, 0, 100, 2000, 10);
    add_work(&hand, 2, 500, 3000, 100);   // the autograd engine's
    add_work(&hand, 2, 5000, 9000, 1000); // nothing was open
    hand_analyze(&hand);
    assert_int_equal(of(&hand, "backward", "total_owned_ns"), 100);
    assert_int_equal(of(&hand, "train", "total_owned_ns"), 110);
    assert_int_equal(hand_i64(&hand, "ranges", 0, "total_owned_ns"), 1110);
    hand_end(&hand);
}

// As DDP's on the autograd engine's thread; what people name there stays a range of that thread.
static void collectives_of_another_thread_are_within_the_main_threads_ranges(void **state)
{
    (void)state;
    static const char *const names[] = {"nccl:all_reduce", "prefetch"};
    for (int i = 0; i < 2; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_range(&hand, "backward", 0, 100);
        hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                            .name = names[i],
                                            .row = 2,
                                            .begin_ns = 10,
                                            .dur_ns = 20});
        add_work(&hand, 2, 15, 1000, 50);
        hand_analyze(&hand);
        size_t row = hand_find(&hand, "ranges", "name", "backward");
        assert_int_equal(hand_i64(&hand, "ranges", row, "total_owned_ns"), i ? 0 : 50);
        row = hand_find(&hand, "ranges", "name", names[i]);
        assert_int_equal(hand_i64(&hand, "ranges", row, "total_owned_ns"), 50);
        assert_int_equal(hand_i64(&hand, "ranges", row, "depth"), i ? 1 : 2);
        hand_end(&hand);
    }
}

static void a_step_in_which_two_threads_enter_a_range_counts_once(void **state)
{
    (void)state;
    static const char *const steps[] = {"ProfilerStep#1", "ProfilerStep#2"};
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 2; i++) {
        add_range(&hand, steps[i], 1000 * i, 900);
        for (int64_t row = 0; row < 2; row++) {
            hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                                .name = "nccl:all_reduce",
                                                .row = row,
                                                .begin_ns = 1000 * i + 100 * (row + 1),
                                                .dur_ns = 50});
            add_work(&hand, row, 1000 * i + 100 * (row + 1) + 10, 1000 * i + 300 * (row + 1), 50);
        }
    }
    hand_analyze(&hand);
    assert_int_equal(of(&hand, "nccl:all_reduce", "calls"), 4);
    assert_int_equal(of(&hand, "nccl:all_reduce", "steps"), 2);
    assert_int_equal(of(&hand, "nccl:all_reduce", "total_owned_ns"), 200);
    assert_int_equal(of(&hand, "ProfilerStep#*", "total_owned_ns"), 200);
    hand_end(&hand);
}

static void numbers_that_count_steps_make_no_ranges_others_do(void **state)
{
    (void)state;
    static const char *const names[] = {"ProfilerStep#1", "ProfilerStep#2", "layer_1", "layer_2",
                                        "iter_10",        "iter_11",        "7"};
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 7; i++)
        add_range(&hand, names[i], 100 * i, 50);
    add_work(&hand, 0, 10, 2000, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "ranges"), 1 + 5);
    assert_int_equal(of(&hand, "ProfilerStep#*", "calls"), 2);
    assert_int_equal(of(&hand, "iter_*", "calls"), 2);
    assert_int_equal(of(&hand, "layer_2", "calls"), 1);
    assert_int_equal(of(&hand, "7", "calls"), 1);
    hand_end(&hand);
}

static void a_range_within_its_like_is_the_same_range(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_range(&hand, "visit", 0, 1000);
    add_range(&hand, "visit", 100, 500);
    add_work(&hand, 0, 200, 2000, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "ranges"), 2);
    assert_int_equal(of(&hand, "visit", "calls"), 1);
    assert_int_equal(of(&hand, "visit", "total_owned_ns"), 10);
    hand_end(&hand);
}

static void deep_and_many_ranges_count_in_those_above(void **state)
{
    (void)state;
    struct hand hand;
    char name[32];
    hand_begin(&hand);
    for (int64_t i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "level_%c%c", (char)('a' + i / 10), (char)('a' + i % 10));
        add_range(&hand, name, i, 1000 - 2 * i);
    }
    add_work(&hand, 0, 500, 2000, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "ranges"), 1 + 64);
    assert_int_equal(of(&hand, "level_gd", "depth"), 64);
    assert_int_equal(of(&hand, "level_gd", "total_owned_ns"), 10);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_nest_and_count_what_was_launched_in_them),
        cmocka_unit_test(a_thread_without_ranges_works_for_the_main_thread),
        cmocka_unit_test(a_step_in_which_two_threads_enter_a_range_counts_once),
        cmocka_unit_test(collectives_of_another_thread_are_within_the_main_threads_ranges),
        cmocka_unit_test(numbers_that_count_steps_make_no_ranges_others_do),
        cmocka_unit_test(a_range_within_its_like_is_the_same_range),
        cmocka_unit_test(deep_and_many_ranges_count_in_those_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
