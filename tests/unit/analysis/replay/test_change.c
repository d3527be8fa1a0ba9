// SPDX-License-Identifier: Apache-2.0
// What changes make of work whose peaks, other run or profiler are known, one by one and in pairs.
#include "tests/unit/analysis/replay/replay_hand.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

// Between calls a thread begins three operators, of which the profiler takes 3.3 us each.
static void what_recording_took_of_the_host_can_be_taken_off(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int k = 0; k < 10; k++) {
        add_call(&hand, "cudaLaunchKernel", k * 50000, 4000, k + 1);
        add_kernel(&hand, "k", k * 50000 + 5000, 10000, k + 1);
        for (int op = 0; op < 3; op++)
            hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                                .name = "aten::add",
                                                .row = 1,
                                                .begin_ns = k * 50000 + 10000 + op * 1000,
                                                .dur_ns = 30000 - op * 5000});
    }
    hand_facts(&hand);
    assert_int_equal(changed(&hand, "remove:profiler"), 9 * (50000 - 3 * 3300) + 10000);
    assert_int_equal(changed(&hand, "scale=2:profiler"), 9 * (50000 + 3 * 3300) + 10000);
    hand_end(&hand);
}

static void add_product(struct hand *hand, int k, const char *dims, int64_t dur_ns)
{
    int64_t begin_ns = k * INT64_C(10000);
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "aten::mm",
                                       .row = 1,
                                       .begin_ns = begin_ns,
                                       .dur_ns = 8000,
                                       .dims = dims,
                                       .types = "[\"float\", \"float\"]"});
    add_call(hand, "cudaLaunchKernel", begin_ns + 2000, 4000, k + 1);
    add_kernel(hand, "gemm", 7000 + k * 101000, dur_ns, k + 1);
}

// Three products of 100 us in one shape and one of 50 us in another.
static void begin_products(struct hand *hand)
{
    hand_begin(hand);
    for (int k = 0; k < 4; k++)
        add_product(hand, k, k < 3 ? "[[4, 8], [8, 2]]" : "[[4, 8], [8, 1]]",
                    k < 3 ? 100000 : 50000);
    hand_facts(hand);
}

static int64_t changed_twice(struct hand *hand, const char *first, const char *second)
{
    struct whatif whatif;
    struct whatif_answer answer;
    struct change_list list = {.count = 0};
    assert_true(change_parse(str_of(first), &list, &hand->err));
    assert_true(change_parse(str_of(second), &list, &hand->err));
    assert_true(whatif_open(&hand->facts, &hand->arena, &hand->arena, &whatif, &hand->err));
    assert_true(whatif_change(&whatif, &list, &hand->arena, &answer, NULL, &hand->err));
    return answer.steps[0].changed_ns;
}

// 16 us of 100 at the peak, 36 at 45 % of it.
static void a_roofline_is_of_the_recorded_time_whatever_else_changes(void **state)
{
    (void)state;
    static const char whole[] = "roofline:kernel=gemm", part[] = "roofline=0.45:kernel=gemm";
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{\"name\":\"NVIDIA H100 80GB HBM3\"}]");
    for (int k = 0; k < 4; k++)
        add_product(&hand, k, "[[1024, 512], [512, 1024]]", 100000);
    hand_facts(&hand);
    int64_t whole_ns = changed(&hand, whole), part_ns = changed(&hand, part);
    assert_true(whole_ns < part_ns && part_ns < changed(&hand, "scale=1:kernel=*"));
    assert_int_equal(changed_twice(&hand, whole, part), whole_ns);
    assert_int_equal(changed_twice(&hand, part, whole), whole_ns);
    int64_t both_ns = changed_twice(&hand, "scale=0.5:kernel=gemm", whole);
    assert_true(both_ns < whole_ns);
    assert_int_equal(changed_twice(&hand, whole, "scale=0.5:kernel=gemm"), both_ns);
    hand_end(&hand);
}

static void add_other(struct report *report, const char *dims, int64_t calls, int64_t busy_ns)
{
    struct row row = {.desc = &table_roofline};
    struct err err;
    row_word(&row, ROOFLINE_OP, "aten::mm");
    row_word(&row, ROOFLINE_DIMS, dims);
    row_word(&row, ROOFLINE_TYPES, "[\"float\",\"float\"]");
    row_i64(&row, ROOFLINE_CALLS, calls);
    row_i64(&row, ROOFLINE_BUSY_NS, busy_ns);
    assert_true(row_end(&row, report, &err));
}

static void another_run_s_kernels_take_its_time_for_the_same_shapes(void **state)
{
    (void)state;
    struct hand hand;
    struct whatif whatif;
    struct whatif_answer answer;
    struct change_list list = {.count = 0};
    begin_products(&hand);
    struct report other = {.arena = &hand.arena};
    add_other(&other, "[[4,8],[8,2]]", 10, 400000); // 40 us a call, however many it made
    add_other(&other, "[[9,9],[9,9]]", 1, 1);
    list.counterpart = report_find(&other, table_roofline.name);
    assert_true(change_parse(STR("other_kernels"), &list, &hand.err));
    assert_true(change_needs_counterpart(&list));
    assert_true(whatif_open(&hand.facts, &hand.arena, &hand.arena, &whatif, &hand.err));
    assert_true(whatif_change(&whatif, &list, &hand.arena, &answer, NULL, &hand.err));
    assert_int_equal(answer.touched_ns[0], 300000); // the other shape has no counterpart
    assert_int_equal(answer.steps[0].replayed_ns - answer.steps[0].changed_ns, 180000);
    list.counterpart = NULL;
    assert_true(whatif_change(&whatif, &list, &hand.arena, &answer, NULL, &hand.err));
    assert_int_equal(answer.touched_ns[0], 0);
    hand_end(&hand);
}

// What a kernel, and the thread before its call, take after two changes of the same work.
struct pair_times {
    int64_t device_ns, host_ns;
};

static struct pair_times times_of(struct hand *hand, const struct whatif *whatif,
                                  const struct table *other, const char *first, const char *second)
{
    struct change_list list = {.counterpart = other};
    int64_t touched_ns[CHANGE_MOST];
    int64_t *dur =
        arena_room(&hand->arena, whatif->graph.graph.node_count, sizeof *dur, &hand->err);
    struct pair_times times = {0};
    assert_true(change_parse(str_of(first), &list, &hand->err));
    assert_true(change_parse(str_of(second), &list, &hand->err));
    assert_true(change_apply(&list, &hand->facts, &whatif->graph, dur, touched_ns, &hand->err));
    for (uint32_t n = 0; n < whatif->graph.graph.node_count; n++)
        *(n < hand->facts.device_count ? &times.device_ns : &times.host_ns) += dur[n];
    return times;
}

static void two_changes_of_the_same_work_bring_the_same_in_either_order(void **state)
{
    (void)state;
    static const char *const changes[] = {"scale=0.5:kernel=gemm",
                                          "scale=0.7:category=*",
                                          "scale=3:class=compute",
                                          "set=12us:kernel=gemm",
                                          "set=300us:op=aten::mm",
                                          "add=-5us:kernel=*",
                                          "add=9us:op=aten::mm",
                                          "roofline:kernel=gemm",
                                          "roofline=0.45:kernel=*",
                                          "counterpart:op=*",
                                          "overlap:kernel=gemm",
                                          "remove:op=aten::mm",
                                          "drop:op=aten::mm",
                                          "host_free",
                                          "scale=0.3:host",
                                          "scale=0.5:host=aten::mm",
                                          "scale=0.5:host=cuda*",
                                          "set=1us:host=aten::mm",
                                          "set=2us:host",
                                          "remove:host=aten::mm",
                                          "data_ready",
                                          "remove:profiler"};
    enum { COUNT = sizeof changes / sizeof *changes };
    struct hand hand;
    struct whatif whatif;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{\"name\":\"NVIDIA H100 80GB HBM3\"}]");
    for (int k = 0; k < 4; k++)
        add_product(&hand, k, "[[1024, 512], [512, 1024]]", 100000);
    hand_facts(&hand);
    struct report report = {.arena = &hand.arena};
    add_other(&report, "[[1024,512],[512,1024]]", 10, 1500000);
    const struct table *other = report_find(&report, table_roofline.name);
    assert_true(whatif_open(&hand.facts, &hand.arena, &hand.arena, &whatif, &hand.err));
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < a; b++) {
            struct pair_times one = times_of(&hand, &whatif, other, changes[a], changes[b]);
            struct pair_times two = times_of(&hand, &whatif, other, changes[b], changes[a]);
            if (one.device_ns != two.device_ns || one.host_ns != two.host_ns)
                fail_msg("%s and %s differ by their order", changes[a], changes[b]);
        }
    // The other run's kernels take 150 us, the roofline 16: the shortest of these counts, and then
    // what is added, and then what scales.
    int64_t roofline_ns =
        times_of(&hand, &whatif, other, "roofline:kernel=gemm", "overlap:kernel=gemm").device_ns;
    assert_true(roofline_ns < 4 * 100000);
#define DEVICE_NS(first, second) times_of(&hand, &whatif, other, first, second).device_ns
    assert_int_equal(DEVICE_NS("counterpart:op=*", "overlap:kernel=gemm"), 4 * 150000);
    assert_int_equal(DEVICE_NS("counterpart:op=*", "roofline:kernel=gemm"), roofline_ns);
    assert_int_equal(DEVICE_NS("counterpart:op=*", "scale=0.5:kernel=gemm"), 4 * 75000);
    assert_int_equal(DEVICE_NS("scale=0.5:op=*", "scale=0.5:kernel=gemm"), 4 * 25000);
    assert_int_equal(DEVICE_NS("scale=0.5:op=*", "add=9us:kernel=gemm"), 4 * 109000 / 2);
#undef DEVICE_NS
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_roofline_is_of_the_recorded_time_whatever_else_changes),
        cmocka_unit_test(another_run_s_kernels_take_its_time_for_the_same_shapes),
        cmocka_unit_test(two_changes_of_the_same_work_bring_the_same_in_either_order),
        cmocka_unit_test(what_recording_took_of_the_host_can_be_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
