// SPDX-License-Identifier: Apache-2.0
// The command line's JSON object has its fixed keys, with and without device events.
#include "tests/unit/hand_trace.h"

#include "analysis/run/analysis_json.h"

#include <jansson.h>

static json_t *write_and_parse(struct hand *hand)
{
    struct buf out = {0};
    assert_true(analysis_json_trace(&hand->report, &out, &hand->err));
    json_t *object = json_loadb(out.at, out.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    buf_free(&out);
    return object;
}

static json_int_t number(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void add_collective(struct hand *hand, int64_t begin_ns, const char *group)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "ncclDevKernel",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 10 + begin_ns / 100,
                                       .row = 20,
                                       .collective = "broadcast",
                                       .group = group,
                                       .in_elems = 7});
}

static void collectives_are_joined_over_process_groups(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_collective(&hand, 0, "0");
    add_collective(&hand, 100, "1");
    hand_kernel(&hand, "ncclKernel_A", 20, 300, 5);
    hand_kernel(&hand, "ncclKernel_B", 20, 400, 5);
    hand_analyze(&hand);
    json_t *object = write_and_parse(&hand);
    json_t *rows = json_object_get(object, "collectives");
    assert_int_equal(json_array_size(rows), 2);
    const json_t *broadcast = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(broadcast, "collective")), "broadcast");
    assert_int_equal(number(broadcast, "calls"), 2);
    assert_int_equal(number(broadcast, "total_ns"), 21);
    assert_int_equal(number(broadcast, "min_ns"), 10);
    assert_int_equal(number(broadcast, "max_ns"), 11);
    assert_int_equal(number(broadcast, "in_elems"), 7);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "collective")));
    assert_int_equal(number(json_array_get(rows, 1), "calls"), 2);
    json_decref(object);
    hand_end(&hand);
}

static void the_fixed_keys_are_there(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "distributedInfo", "{\"rank\": 2, \"world_size\": 4}");
    hand_kernel(&hand, "sgemm", 7, 0, 10);
    hand_kernel(&hand, "late", 7, 10, -1);
    trace_builder_count_input(hand.builder, 12, 1000);
    hand_analyze(&hand);
    json_t *object = write_and_parse(&hand);
    assert_int_equal(number(object, "trace_events"), 12);
    assert_int_equal(number(object, "device_events"), 1);
    assert_int_equal(number(object, "linked_device_events"), 0);
    assert_int_equal(number(object, "streams"), 1);
    assert_int_equal(number(object, "rank"), 2);
    assert_int_equal(number(object, "world_size"), 4);
    const json_t *quarantined = json_object_get(object, "quarantined");
    assert_int_equal(json_object_size(quarantined), 1);
    assert_int_equal(number(quarantined, "implausible"), 1);
    assert_int_equal(number(json_object_get(object, "breakdown"), "window_ns"), 10);
    const json_t *compute = json_object_get(json_object_get(object, "classes"), "compute");
    assert_int_equal(number(compute, "events"), 1);
    assert_non_null(json_object_get(json_object_get(object, "tables"), "summary"));
    json_decref(object);
    hand_end(&hand);
}

static void without_device_events_the_breakdown_is_null(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_analyze(&hand);
    json_t *object = write_and_parse(&hand);
    assert_int_equal(number(object, "device_events"), 0);
    assert_true(json_is_null(json_object_get(object, "breakdown")));
    assert_true(json_is_null(json_object_get(object, "rank")));
    assert_int_equal(json_array_size(json_object_get(object, "kernels")), 0);
    json_decref(object);
    hand_end(&hand);
}

static void a_report_without_a_summary_is_refused(void **state)
{
    (void)state;
    struct report report = {0};
    struct buf out = {0};
    struct err err;
    assert_false(analysis_json_trace(&report, &out, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_are_joined_over_process_groups),
        cmocka_unit_test(the_fixed_keys_are_there),
        cmocka_unit_test(without_device_events_the_breakdown_is_null),
        cmocka_unit_test(a_report_without_a_summary_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
