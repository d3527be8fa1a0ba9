// SPDX-License-Identifier: Apache-2.0
// Which device events count, who launched them, and whose time it is: small cases computed by
// hand.
#include "tests/unit/hand_trace.h"

#include "tests/unit/intervals_minus.h"
#include "analysis/facts/sweep.h"

#include <stdio.h>

#define US   INT64_C(1000)
#define HOUR INT64_C(3600000000000)

static void events_with_impossible_times_are_quarantined(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "early", 7, 0, 5);
    for (int i = 0; i < 3; i++)
        hand_kernel(&hand, "good", 7, 10 * HOUR + i * 100, 10);
    hand_kernel(&hand, "negative", 7, 10 * HOUR + 400, -1);
    hand_kernel(&hand, "endless", 7, 10 * HOUR + 500, HOUR + 1);
    hand_kernel(&hand, "latest", 7, 11 * HOUR + 400, 10); // the median start is 10 h + 400
    hand_kernel(&hand, "too late", 7, 11 * HOUR + 401, 10);
    hand_facts(&hand);
    assert_int_equal(hand.facts.device_count, 4);
    assert_int_equal(hand.facts.quarantine.implausible, 4);
    assert_int_equal(hand.facts.quarantine.implausible_ns, 15);
    assert_int_equal(hand.facts.begin_ns, 10 * HOUR);
    assert_int_equal(hand.facts.end_ns, 11 * HOUR + 410);
    hand_end(&hand);
}

static void extreme_times_do_not_overflow(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "a", 7, -TRACE_MAX_NS, TRACE_MAX_NS);
    hand_kernel(&hand, "b", 7, TRACE_MAX_NS - 5, TRACE_MAX_NS);
    hand_kernel(&hand, "c", 7, TRACE_MAX_NS - 5, 3);
    hand_facts(&hand);
    assert_int_equal(hand.facts.device_count, 1);
    assert_int_equal(hand.facts.quarantine.implausible, 2);
    hand_end(&hand);
}

static void only_overruns_of_more_than_100_us_are_clipped(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "overrun", 7, 0, 200 * US);
    hand_kernel(&hand, "next", 7, 99 * US, 10 * US); // 101 us before the other's end
    hand_kernel(&hand, "overlap", 8, 0, 200 * US);
    hand_kernel(&hand, "next", 8, 100 * US, 10 * US); // exactly 100 us: stays
    hand_facts(&hand);
    assert_int_equal(hand.facts.quarantine.clipped, 1);
    assert_int_equal(hand.facts.quarantine.clipped_ns, 101 * US);
    assert_int_equal(hand.facts.devices[0].end_ns, 99 * US);
    assert_int_equal(hand.facts.devices[1].end_ns, 200 * US);
    assert_int_equal(hand.facts.stream_count, 2);
    hand_end(&hand);
}

// The rows of a stream are sorted by (begin, end), not in file order.
static void clipping_looks_at_the_next_event_by_begin_and_end(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "long", 7, 0, 500 * US);
    hand_kernel(&hand, "short", 7, 0, 300 * US);
    hand_facts(&hand);
    assert_int_equal(hand.facts.devices[0].end_ns, 500 * US);
    assert_int_equal(hand.facts.devices[1].end_ns, 0); // "short" is first and is cut at 0
    hand_end(&hand);
}

static void add_copy(struct hand *hand, int64_t device, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                       .name = "Memcpy DtoH (Device -> Host)",
                                       .pid = device,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns});
}

// PyTorch on ROCm writes the copies of all streams on one row.
static void copies_beside_each_other_are_not_clipped(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_copy(&hand, 0, 0, 5000 * US);
    add_copy(&hand, 0, 1000 * US, 200 * US);
    hand_kernel(&hand, "MEMORY_COPY_HOST_TO_DEVICE", 0, 1300 * US, 500 * US);
    hand_kernel(&hand, "MEMORY_COPY_DEVICE_TO_HOST", 0, 1400 * US, 10 * US);
    hand_facts(&hand);
    assert_int_equal(hand.facts.quarantine.clipped, 0);
    assert_int_equal(hand.facts.devices[0].end_ns, 5000 * US);
    assert_int_equal(hand.facts.devices[2].end_ns, 1800 * US);
    assert_int_equal(parts_busy_ns(&hand.facts.whole), 5000 * US);
    hand_end(&hand);
}

// PyTorch on ROCm writes a copy to the host under the number of a CPU.
static void copies_are_of_the_device_that_has_all_other_work(void **state)
{
    (void)state;
    for (int64_t kernels_of_0 = 0; kernels_of_0 < 2; kernels_of_0++) {
        struct hand hand;
        hand_begin(&hand);
        add_copy(&hand, 0, 0, 3 * US);
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "gemm",
                                            .pid = 3,
                                            .row = 7,
                                            .begin_ns = 10 * US,
                                            .dur_ns = 90 * US});
        add_copy(&hand, 1, 110 * US, 3 * US);
        hand_kernel(&hand, kernels_of_0 ? "gemm" : "MEMORY_COPY_DEVICE_TO_HOST", 0, 120 * US, US);
        hand_facts(&hand);
        const struct facts *facts = &hand.facts;
        assert_int_equal(facts->gpu_count, kernels_of_0 ? 3 : 1);
        assert_int_equal(facts->gpus[0].number, kernels_of_0 ? 0 : 3);
        assert_int_equal(facts->gpu_first[1], kernels_of_0 ? 2 : 4);
        assert_int_equal(facts->stream_count, 3);
        assert_int_equal(facts->gpu_gaps == NULL, !kernels_of_0);
        hand_end(&hand);
    }
}

static void add_op(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_host(hand, EVENT_CPU_OP, name, begin_ns, dur_ns);
}

static void add_launched(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 10,
                                       .row = 7,
                                       .correlation = correlation});
}

static void of_several_launches_the_last_in_the_file_counts(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_call(&hand, "late", 500, 5, 9);
    hand_call(&hand, "cudaLaunchKernel", 100, 5, 9);
    hand_call(&hand, "cudaLaunchKernel", 200, 5, 77);   // has no device event
    hand_call(&hand, "cudaLaunchHostFunc", 220, 5, 78); // cannot have one
    add_launched(&hand, 1000, 9);
    add_launched(&hand, 2000, 9);
    add_launched(&hand, 3000, 0);
    hand_facts(&hand);
    const struct facts *facts = &hand.facts;
    assert_int_equal(facts->launch_count, 1);
    assert_int_equal(facts->linked, 2);
    assert_int_equal(facts->launches_without_events, 1);
    assert_int_equal(hand.trace->begin_ns[facts->launches[0].event], 100);
    assert_int_equal(facts->launches[0].first, 0);
    assert_int_equal(facts->devices[0].next, 1);
    assert_int_equal(facts->devices[1].next, FACTS_NONE);
    assert_int_equal(facts->devices[2].launch, FACTS_NONE);
    hand_end(&hand);
}

// The last step lasts to the end of the trace because its own was not recorded, or its last kernel
// was launched, but not recorded; copies of the next step's data were.
static void a_step_that_the_recording_cuts_is_not_steady(void **state)
{
    (void)state;
    static const char *const reasons[] = {NULL, "its annotation has no end",
                                          "the recording ended before all the work it launched"};
    for (int cut = 0; cut < 3; cut++) {
        struct hand hand;
        hand_begin(&hand);
        for (int i = 0; i < 4; i++) {
            hand_host(&hand, EVENT_ANNOTATION, "step", 1000 * i, 1000);
            hand_call(&hand, "cudaLaunchKernel", 1000 * i + 100, 5, i + 1);
            add_launched(&hand, 1000 * i + 200, i + 1);
        }
        if (cut == 1)
            trace_builder_repair(hand.builder, REPAIR_BEGIN_WITHOUT_END, ERR_NO_POS);
        if (cut == 2)
            hand_call(&hand, "cudaLaunchKernel", 3300, 5, 5);
        hand_call(&hand, "cudaMemcpyAsync", 3400, 5, 6);
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = "Memcpy HtoD",
                                            .begin_ns = 3500,
                                            .dur_ns = 10,
                                            .row = 8,
                                            .correlation = 6});
        hand_facts(&hand);
        assert_true(hand.facts.steps[2].steady);
        assert_int_equal(hand.facts.steps[3].steady, !cut);
        if (cut)
            assert_string_equal(hand.facts.steps[3].reason, reasons[cut]);
        hand_end(&hand);
    }
}

static const char *op_of(const struct hand *hand, uint32_t device)
{
    str_id op = facts_device_op(&hand->facts, device);
    return op ? trace_text(hand->trace, op).at : "none";
}

static void a_launch_belongs_to_the_innermost_operator_around_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "outer", 0, 1000);
    add_op(&hand, "inner", 100, 100);
    add_op(&hand, "same begin", 300, 50); // starts with the launch, listed after it
    hand_call(&hand, "l", 110, 20, 1);
    hand_call(&hand, "l", 190, 20, 2); // sticks out of inner
    hand_call(&hand, "l", 300, 20, 3);
    hand_call(&hand, "l", 900, 200, 4); // sticks out of outer
    hand_call(&hand, "l", 1200, 20, 5);
    for (int i = 1; i <= 5; i++)
        add_launched(&hand, 5000 + 100 * i, i);
    hand_facts(&hand);
    assert_string_equal(op_of(&hand, 0), "inner");
    assert_string_equal(op_of(&hand, 1), "outer");
    assert_string_equal(op_of(&hand, 2), "same begin");
    assert_string_equal(op_of(&hand, 3), "none");
    assert_string_equal(op_of(&hand, 4), "none");
    hand_end(&hand);
}

// A simple search by the definition: the last operator pushed that still encloses the launch.
static str_id slow_op(const struct trace *trace, uint32_t launch)
{
    uint32_t stack[512], depth = 0;
    str_id found = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_CPU_OP || trace->begin_ns[e] > trace->begin_ns[launch])
            continue;
        while (depth && facts_event_end(trace, stack[depth - 1]) <= trace->begin_ns[e])
            depth--;
        stack[depth++] = e;
    }
    while (depth && facts_event_end(trace, stack[depth - 1]) <= trace->begin_ns[launch])
        depth--;
    for (uint32_t i = 0; i < depth; i++)
        if (facts_event_end(trace, stack[i]) >= facts_event_end(trace, launch))
            found = trace->name[stack[i]];
    return found;
}

static void operators_that_cross_each_other_are_searched_as_defined(void **state)
{
    (void)state;
    struct hand hand;
    uint64_t random = 12345;
    hand_begin(&hand);
    for (int i = 1; i <= 400; i++) {
        char name[16];
        random = random * 6364136223846793005u + 1442695040888963407u;
        snprintf(name, sizeof name, "op%d", i);
        add_op(&hand, name, (int64_t)(random >> 33) % 2000,
               (int64_t)(random >> 13) % (i % 8 ? 12 : 200));
        random = random * 6364136223846793005u + 1442695040888963407u;
        hand_call(&hand, "l", (int64_t)(random >> 33) % 2200, (int64_t)(random >> 13) % 20, i);
        add_launched(&hand, 10000 + i, i);
    }
    hand_facts(&hand);
    assert_int_equal(hand.facts.launch_count, 400);
    int owned = 0;
    for (uint32_t l = 0; l < 400; l++) {
        uint32_t device = hand.facts.launches[l].first;
        str_id expected = slow_op(hand.trace, hand.facts.launches[l].event);
        assert_int_equal(facts_device_op(&hand.facts, device), expected);
        owned += expected != 0;
    }
    assert_in_range(owned, 100, 399);
    hand_end(&hand);
}

// gemm  [0,10)      on stream 7
// norm  [5,20)      on stream 8: owns [10,20)
// nccl  [15,30)     owns [20,30)
// copy  [28,40)     owns [30,40); then idle [40,50) and gemm [50,60)
static void each_instant_belongs_to_the_first_class_that_runs(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "sgemm", 7, 0, 10);
    hand_kernel(&hand, "layer_norm", 8, 5, 15);
    hand_kernel(&hand, "ncclDevKernel_AllReduce", 9, 15, 15);
    hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                        .name = "Memcpy HtoD (Pinned -> Device)",
                                        .begin_ns = 28,
                                        .dur_ns = 12,
                                        .row = 10});
    hand_kernel(&hand, "sgemm", 7, 50, 10);
    hand_facts(&hand);
    const struct parts *whole = &hand.facts.whole;
    assert_int_equal(parts_window_ns(whole), 60);
    assert_int_equal(whole->bar_ns[BAR_GEMM], 20);
    assert_int_equal(whole->bar_ns[BAR_OTHER_COMPUTE], 10);
    assert_int_equal(whole->bar_ns[BAR_EXPOSED_COMM], 10);
    assert_int_equal(whole->bar_ns[BAR_EXPOSED_MEMORY], 10);
    assert_int_equal(whole->bar_ns[BAR_IDLE_OTHER], 10);
    assert_int_equal(parts_busy_ns(whole), 50);
    assert_int_equal(whole->total_comm_ns, 15);
    assert_int_equal(whole->total_memory_ns, 12);
    const int64_t owned[] = {10, 10, 10, 10, 10};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(hand.facts.devices[i].owned_ns, owned[i]);
    hand_end(&hand);
}

static void a_gap_is_the_hosts_when_the_next_launch_returned_within_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launched(&hand, 0, 1);   // [0,10)
    add_launched(&hand, 100, 2); // launch returned at 30, inside the gap [10,100)
    add_launched(&hand, 200, 3); // launch returned at 10, long before the gap [110,200)
    hand_call(&hand, "l", -50, 5, 1);
    hand_call(&hand, "l", 20, 10, 2);
    hand_call(&hand, "l", 5, 5, 3);
    hand_facts(&hand);
    assert_int_equal(hand.facts.whole.bar_ns[BAR_IDLE_HOST_WAIT], 90);
    assert_int_equal(hand.facts.whole.bar_ns[BAR_IDLE_OTHER], 90);
    hand_end(&hand);
}

// Union of the spans of one class, by the plain definition.
static size_t spans_of(const struct facts *facts, int class, struct span *spans)
{
    size_t count = 0;
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (class < 0 || facts->devices[i].class == class)
            spans[count++] = (struct span){facts->devices[i].begin_ns, facts->devices[i].end_ns};
    return intervals_union(spans, count);
}

static void ownership_sums_to_the_unions_on_random_traces(void **state)
{
    (void)state;
    static const char *const names[] = {"sgemm", "flash_fwd", "reduce", "ncclKernel", "Memset x"};
    uint64_t random = 99;
    for (int round = 0; round < 40; round++) {
        struct hand hand;
        hand_begin(&hand);
        for (int i = 0; i < 60; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            hand_kernel(&hand, names[(random >> 40) % 5], (int64_t)(random >> 45) % 3,
                        (int64_t)(random >> 33) % 1500, (int64_t)(random >> 20) % 60);
        }
        hand_facts(&hand);
        struct span c[60], m[60], y[60], all[60], rest[120], more[180];
        const struct facts *facts = &hand.facts;
        size_t c_count = spans_of(facts, CLASS_COMPUTE, c);
        size_t m_count = spans_of(facts, CLASS_COMMUNICATION, m);
        size_t y_count = spans_of(facts, CLASS_MEMORY, y);
        size_t all_count = spans_of(facts, -1, all);
        const struct parts *whole = &facts->whole;
        assert_int_equal(parts_compute_ns(whole), intervals_length(c, c_count));
        assert_int_equal(whole->total_comm_ns, intervals_length(m, m_count));
        assert_int_equal(whole->total_memory_ns, intervals_length(y, y_count));
        assert_int_equal(parts_busy_ns(whole), intervals_length(all, all_count));
        assert_int_equal(whole->bar_ns[BAR_EXPOSED_COMM],
                         intervals_length(rest, intervals_minus(m, m_count, c, c_count, rest)));
        size_t rest_count = intervals_minus(y, y_count, c, c_count, rest);
        assert_int_equal(
            whole->bar_ns[BAR_EXPOSED_MEMORY],
            intervals_length(more, intervals_minus(rest, rest_count, m, m_count, more)));
        assert_int_equal(parts_window_ns(whole), facts->end_ns - facts->begin_ns);
        int64_t owned_ns = 0;
        for (uint32_t i = 0; i < facts->device_count; i++)
            owned_ns += facts->devices[i].owned_ns;
        assert_int_equal(owned_ns, parts_busy_ns(whole));
        hand_end(&hand);
    }
}

static void a_trace_without_device_events_has_empty_facts(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mm", 0, 10);
    hand_facts(&hand);
    assert_int_equal(hand.facts.device_count, 0);
    assert_int_equal(hand.facts.step_count, 0);
    assert_int_equal(parts_window_ns(&hand.facts.whole), 0);
    hand_end(&hand);
}

static void past_its_budget_an_analysis_fails_and_frees_everything(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 1; i <= 3000; i++) {
        hand_call(&hand, "l", i, 1, i);
        add_launched(&hand, 100 * i, i);
    }
    hand_seal(&hand);
    uint64_t used = hand.budget.used;
    for (uint64_t room = 0; room < 300000; room += 7000) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        hand.budget.limit = used + room;
        if (!analyze_trace(hand.trace, &hand.options, &report, &hand.err))
            assert_int_equal(hand.err.code, ERR_LIMIT);
        else
            assert_true(room > 100000);
        assert_int_equal(hand.budget.used, used);
        arena_free(&arena);
    }
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_with_impossible_times_are_quarantined),
        cmocka_unit_test(extreme_times_do_not_overflow),
        cmocka_unit_test(only_overruns_of_more_than_100_us_are_clipped),
        cmocka_unit_test(clipping_looks_at_the_next_event_by_begin_and_end),
        cmocka_unit_test(copies_beside_each_other_are_not_clipped),
        cmocka_unit_test(copies_are_of_the_device_that_has_all_other_work),
        cmocka_unit_test(of_several_launches_the_last_in_the_file_counts),
        cmocka_unit_test(a_step_that_the_recording_cuts_is_not_steady),
        cmocka_unit_test(a_launch_belongs_to_the_innermost_operator_around_it),
        cmocka_unit_test(operators_that_cross_each_other_are_searched_as_defined),
        cmocka_unit_test(each_instant_belongs_to_the_first_class_that_runs),
        cmocka_unit_test(a_gap_is_the_hosts_when_the_next_launch_returned_within_it),
        cmocka_unit_test(ownership_sums_to_the_unions_on_random_traces),
        cmocka_unit_test(a_trace_without_device_events_has_empty_facts),
        cmocka_unit_test(past_its_budget_an_analysis_fails_and_frees_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
