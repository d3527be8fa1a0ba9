// SPDX-License-Identifier: Apache-2.0
// What a recording has and lacks, on small traces computed by hand.
#include "analysis/trace/recording_texts.h"
#include "tests/unit/hand_trace.h"

static void add_launch(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_call(hand, "cudaLaunchKernel", begin_ns, 5, correlation);
}

static void add_op(struct hand *hand, int64_t begin_ns, const char *dims)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "aten::mm",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 50,
                                       .pid = 1,
                                       .row = 1,
                                       .dims = dims});
}

static void add_kernel(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .row = 7,
                                       .begin_ns = begin_ns,
                                       .dur_ns = 10,
                                       .grid = correlation ? 4 : 0,
                                       .correlation = correlation});
}

static void assert_state(const struct hand *hand, const char *item, const char *expected)
{
    size_t row = hand_find(hand, "recording", "item", item);
    const char *word = hand_word(hand, "recording", row, "state");
    if (strcmp(word, expected) != 0)
        fail_msg("%s is %s, expected %s", item, word, expected);
}

static double coverage(const struct hand *hand, const char *item)
{
    size_t row = hand_find(hand, "recording", "item", item);
    const struct cell *cell = hand_cell(hand, "recording", row, "coverage");
    assert_false(cell->null);
    return cell->f;
}

static bool has_item(const struct hand *hand, const char *item)
{
    for (size_t i = 0; i < hand_rows(hand, "recording"); i++)
        if (strcmp(hand_word(hand, "recording", i, "item"), item) == 0)
            return true;
    return false;
}

static void every_item_says_what_it_shows_how_and_at_what_cost(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 100, 0);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "recording"), 13);
    static const char *const columns[] = {"shows", "how", "cost"};
    for (size_t i = 0; i < hand_rows(&hand, "recording"); i++)
        for (int c = 0; c < 3; c++)
            assert_true(strlen(hand_word(&hand, "recording", i, columns[c])) >= 7);
    hand_end(&hand);
}

static void a_bare_kernel_shows_that_all_else_is_missing(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 100, 0);
    hand_analyze(&hand);
    assert_state(&hand, "device_events", "present");
    static const char *const missing[] = {"operators",     "launches",  "steps",       "repeats",
                                          "shapes",        "stacks",    "modules",     "memory",
                                          "launch_shapes", "occupancy", "sync_events", "device"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_state(&hand, missing[i], "missing");
    hand_end(&hand);
}

static void coverage_is_the_share_of_the_events_concerned(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, 0, "[[2, 3], [3, 4]]");
    add_op(&hand, 100, NULL);
    add_launch(&hand, 10, 1);
    add_launch(&hand, 110, 2);
    add_launch(&hand, 200, 3); // outside operators
    for (int i = 0; i < 4; i++)
        add_kernel(&hand, 1000 + 100 * i, i); // the first without a launch
    hand_analyze(&hand);
    assert_true(coverage(&hand, "launches") == 0.75);
    assert_true(coverage(&hand, "operators") == 0.5);
    assert_true(coverage(&hand, "shapes") == 0.5); // of the two operators that launched
    assert_true(coverage(&hand, "launch_shapes") == 0.75);
    assert_state(&hand, "shapes", "partial");
    assert_state(&hand, "launches", "partial");
    hand_end(&hand);
}

static void what_nearly_all_have_is_present(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 10; i++) {
        if (i)
            add_launch(&hand, 100 * i, i);
        add_kernel(&hand, 10000 + 100 * i, i);
    }
    hand_analyze(&hand);
    assert_true(coverage(&hand, "launches") == 0.9);
    assert_state(&hand, "launches", "present");
    hand_end(&hand);
}

// The backward launches from a thread without frames, and steps leave out what is between them.
static void one_stack_one_module_and_one_step_are_enough(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(
        &hand,
        (struct hand_event){
            .kind = EVENT_PYTHON, .name = "nn.Module: Linear_0", .dur_ns = 50, .pid = 1, .row = 1});
    hand_add(
        &hand,
        (struct hand_event){
            .kind = EVENT_ANNOTATION, .name = "ProfilerStep#1", .dur_ns = 50, .pid = 1, .row = 1});
    for (int i = 0; i < 10; i++) {
        add_launch(&hand, 100 * i + 10, i + 1);
        add_kernel(&hand, 10000 + 100 * i, i + 1);
    }
    hand_analyze(&hand);
    static const char *const items[] = {"stacks", "modules", "steps"};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        assert_true(coverage(&hand, items[i]) <= 0.1);
        assert_state(&hand, items[i], "present");
    }
    assert_state(&hand, "repeats", "partial");
    hand_end(&hand);
}

static void five_steady_steps_make_an_interval(void **state)
{
    (void)state;
    for (int steps = 4; steps <= 5; steps++) {
        struct hand hand;
        hand_begin(&hand);
        hand.options.warmup_steps = 0;
        for (int i = 0; i < steps; i++) {
            hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                                .name = "ProfilerStep#1",
                                                .begin_ns = 100 * i,
                                                .dur_ns = 100,
                                                .pid = 1,
                                                .row = 1});
            add_launch(&hand, 100 * i + 10, i + 1);
            add_kernel(&hand, 100 * i + 50, i + 1);
        }
        hand_analyze(&hand);
        assert_state(&hand, "steps", "present");
        assert_true(coverage(&hand, "steps") == 1);
        assert_state(&hand, "repeats", steps < 5 ? "partial" : "present");
        assert_true(coverage(&hand, "repeats") == steps / 5.0);
        hand_end(&hand);
    }
}

static void collectives_and_ranks_concern_only_jobs_that_communicate(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 100, 0);
    hand_analyze(&hand);
    assert_false(has_item(&hand, "collectives"));
    assert_false(has_item(&hand, "distributed"));
    hand_end(&hand);
    hand_begin(&hand);
    hand_kernel(&hand, "ncclDevKernel_Generic(x)", 7, 0, 10);
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "ncclDevKernel_AllReduce(x)",
                                        .row = 7,
                                        .begin_ns = 20,
                                        .dur_ns = 10,
                                        .collective = "allreduce"});
    hand_analyze(&hand);
    assert_true(coverage(&hand, "collectives") == 0.5);
    assert_state(&hand, "distributed", "missing");
    hand_end(&hand);
}

static void recorded_allocations_waits_and_devices_are_present(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{\"name\": \"NVIDIA H100\"}]");
    hand_member(&hand, "distributedInfo", "{\"rank\": 3, \"world_size\": 8}");
    add_kernel(&hand, 100, 0);
    hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                        .name = "[memory]",
                                        .pid = 1,
                                        .row = 1,
                                        .bytes = 512,
                                        .device_type = 1});
    hand_add(&hand, (struct hand_event){.kind = EVENT_SYNC, .name = "Event Sync", .dur_ns = 5});
    hand_analyze(&hand);
    assert_state(&hand, "memory", "present");
    assert_state(&hand, "sync_events", "present");
    assert_state(&hand, "device", "present");
    assert_state(&hand, "distributed", "present");
    hand_end(&hand);
}

static void a_recording_of_the_host_alone_has_operators(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, 0, NULL);
    hand_analyze(&hand);
    assert_state(&hand, "operators", "present");
    assert_state(&hand, "device_events", "missing");
    hand_end(&hand);
}

static void each_profiler_records_in_its_own_way(void **state)
{
    (void)state;
    static const char *const ways[RECORDER_COUNT] = {"ProfilerActivity", "nsys profile",
                                                     "rocprofv3", "jax.profiler", "nsys2prv"};
    for (int i = 0; i < RECORDER_COUNT; i++) {
        struct hand hand;
        hand_begin(&hand);
        trace_builder_recorder(hand.builder, (enum trace_recorder)i);
        add_launch(&hand, 0, 1);
        add_kernel(&hand, 100, 1);
        hand_analyze(&hand);
        size_t row = hand_find(&hand, "recording", "item", "device_events");
        assert_non_null(strstr(hand_word(&hand, "recording", row, "how"), ways[i]));
        assert_int_equal(hand_cell(&hand, "recording", row, "cost")->null, i != RECORDER_PYTORCH);
        row = hand_find(&hand, "environment", "key", "recorder");
        assert_string_equal(hand_word(&hand, "environment", row, "value"),
                            trace_recorder_name((enum trace_recorder)i));
        hand_end(&hand);
    }
}

// By default nsys ends the program together with the range.
static void no_capture_range_ends_the_training(void **state)
{
    (void)state;
    size_t found = 0;
    for (size_t i = 0; i < ITEM_COUNT; i++) {
        const char *how = recording_texts[i].how[RECORDER_NSYS];
        if (!how || !strstr(how, "--capture-range="))
            continue;
        assert_non_null(strstr(how, "--capture-range-end=stop"));
        found++;
    }
    assert_true(found >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_says_what_it_shows_how_and_at_what_cost),
        cmocka_unit_test(a_bare_kernel_shows_that_all_else_is_missing),
        cmocka_unit_test(coverage_is_the_share_of_the_events_concerned),
        cmocka_unit_test(what_nearly_all_have_is_present),
        cmocka_unit_test(one_stack_one_module_and_one_step_are_enough),
        cmocka_unit_test(five_steady_steps_make_an_interval),
        cmocka_unit_test(collectives_and_ranks_concern_only_jobs_that_communicate),
        cmocka_unit_test(recorded_allocations_waits_and_devices_are_present),
        cmocka_unit_test(a_recording_of_the_host_alone_has_operators),
        cmocka_unit_test(each_profiler_records_in_its_own_way),
        cmocka_unit_test(no_capture_range_ends_the_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
