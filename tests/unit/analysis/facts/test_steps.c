// SPDX-License-Identifier: Apache-2.0
// Steps on the device, and their marks.
#include "tests/unit/hand_trace.h"

#include "analysis/facts/step_marks.h"

#include <math.h>
#include <stdio.h>

static void add_mark(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_host(hand, EVENT_ANNOTATION, name, begin_ns, dur_ns);
}

// A kernel or copy on a stream, launched at launch_ns on thread 2.
static void add_on(struct hand *hand, enum event_kind kind, int64_t stream, const int64_t times[3])
{
    static int64_t correlation;
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = times[0],
                                       .dur_ns = 1,
                                       .pid = 1,
                                       .row = 2,
                                       .correlation = ++correlation});
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = "k",
                                       .begin_ns = times[1],
                                       .dur_ns = times[2] - times[1],
                                       .row = stream,
                                       .correlation = correlation});
}

#define ADD(hand, kind, stream, launch_ns, begin_ns, end_ns) \
    add_on(hand, kind, stream, (const int64_t[3]){launch_ns, begin_ns, end_ns})

static void add_pair(struct hand *hand, int64_t launch_ns, int64_t begin_ns, int64_t dur_ns)
{
    ADD(hand, EVENT_KERNEL, 7, launch_ns, begin_ns, begin_ns + dur_ns);
}

static void expect_step(const struct facts *facts, uint32_t at, int64_t begin_ns, int64_t end_ns)
{
    assert_int_equal(facts->steps[at].begin_ns, begin_ns);
    assert_int_equal(facts->steps[at].end_ns, end_ns);
}

// The case of analysis/CASES.md, "Steps".
static void a_step_runs_from_the_end_of_the_one_before_to_its_last_compute(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#8", 100, 100);
    add_mark(&hand, "ProfilerStep#7", 0, 100);
    add_mark(&hand, "ProfilerStep#9", 200, 100);
    add_mark(&hand, "ProfilerStep#10", 300, 100); // launches nothing
    ADD(&hand, EVENT_KERNEL, 7, 10, 50, 60);
    ADD(&hand, EVENT_KERNEL, 7, 99, 110, 160);  // still running after mark 8 started
    ADD(&hand, EVENT_MEMCPY, 8, 105, 120, 130); // step 8's data, ahead on another stream
    ADD(&hand, EVENT_KERNEL, 7, 190, 240, 280); // step 8 had to wait for 80
    ADD(&hand, EVENT_MEMCPY, 7, 195, 280, 290); // a copy ends no step
    ADD(&hand, EVENT_KERNEL, 7, 210, 295, 360); // the last step is whole
    hand_kernel(&hand, "beside", 8, 300, 5);    // unlaunched, within step 9
    hand_facts(&hand);
    const struct facts *facts = &hand.facts;
    assert_true(facts->marked);
    assert_int_equal(facts->step_count, 4);
    assert_int_equal(facts->steps[0].number, 7);
    expect_step(facts, 0, 50, 160);
    expect_step(facts, 1, 160, 280);
    expect_step(facts, 2, 280, 360);
    assert_string_equal(facts->steps[0].reason, "warm-up: the first step");
    assert_string_equal(facts->steps[3].reason, "it launched no compute on the main stream");
    const uint32_t expected[] = {0, 0, 1, 1, 1, 2, 2}; // by start
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(facts->devices[i].step, expected[i]);
    assert_int_equal(parts_idle_ns(&facts->step_parts[1]), 80);
    hand_end(&hand);
}

static void the_main_stream_has_most_compute_launched_inside_marks(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "unlaunched", 9, 0, 900);
    add_mark(&hand, "ProfilerStep#1", 0, 100);
    add_mark(&hand, "ProfilerStep#2", 100, 100);
    ADD(&hand, EVENT_KERNEL, 8, 10, 20, 60); // 80 in total
    ADD(&hand, EVENT_KERNEL, 7, 20, 30, 35);
    ADD(&hand, EVENT_MEMCPY, 7, 30, 40, 190); // long, but no compute
    ADD(&hand, EVENT_KERNEL, 8, 110, 120, 160);
    ADD(&hand, EVENT_KERNEL, 7, 120, 200, 260);
    hand_facts(&hand);
    expect_step(&hand.facts, 0, 20, 60);
    expect_step(&hand.facts, 1, 60, 160);
    hand_end(&hand);
}

// An empty mark inside another one is not a step, and leaves those after it in order.
static void an_empty_mark_within_another_joins_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#1", 0, 100);
    add_mark(&hand, "ProfilerStep#1", 50, 0);
    add_mark(&hand, "ProfilerStep#2", 95, 105);
    add_pair(&hand, 60, 70, 10);
    add_pair(&hand, 97, 100, 10); // both marks have it: the earlier step's
    add_pair(&hand, 150, 160, 10);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 2);
    assert_int_equal(hand.facts.joined_marks, 1);
    expect_step(&hand.facts, 0, 70, 110);
    expect_step(&hand.facts, 1, 110, 170);
    hand_end(&hand);
}

static void marks_that_overlap_a_little_are_both_kept(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#1", 0, 101);
    add_mark(&hand, "ProfilerStep#2", 100, 101);
    add_mark(&hand, "ProfilerStep#2", 110, 95); // a second thread's
    add_mark(&hand, "ProfilerStep#3", 204, 100);
    add_pair(&hand, 100, 102, 10); // both marks have it: the earlier step's
    add_pair(&hand, 150, 160, 10);
    add_pair(&hand, 204, 210, 10);
    add_pair(&hand, 250, 260, 10);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 3);
    assert_int_equal(hand.facts.joined_marks, 1);
    expect_step(&hand.facts, 0, 102, 112);
    expect_step(&hand.facts, 1, 112, 220); // with what is only in the second thread's mark
    expect_step(&hand.facts, 2, 220, 270);
    hand_end(&hand);
}

static void a_step_whose_compute_was_overtaken_has_no_time(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++)
        add_mark(&hand, "ProfilerStep#1", 100 * i, 100);
    add_pair(&hand, 110, 120, 10);
    add_pair(&hand, 10, 150, 10);
    add_pair(&hand, 210, 220, 10);
    hand_facts(&hand);
    expect_step(&hand.facts, 0, 150, 160);
    expect_step(&hand.facts, 1, 160, 160);
    assert_string_equal(hand.facts.steps[1].reason,
                        "its compute ended before that of the previous step");
    expect_step(&hand.facts, 2, 160, 230);
    hand_end(&hand);
}

static void without_marks_the_window_is_one_step(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "k", 7, 100, 50);
    hand_kernel(&hand, "k", 7, 200, 50);
    hand_facts(&hand);
    assert_false(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 1);
    assert_int_equal(hand.facts.steady_count, 1);
    assert_int_equal(parts_window_ns(&hand.facts.steady), 150);
    hand_end(&hand);
}

static void add_device_mark(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_GPU_ANNOTATION,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .row = 90});
}

// As on a TPU, whose work no call of the host launches.
static void without_launches_marks_on_the_device_are_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#90", 0, 500); // of the host, without a launch
    add_device_mark(&hand, "ProfilerStep#4", 100, 100);
    add_device_mark(&hand, "ProfilerStep#5", 200, 150);
    add_device_mark(&hand, "other", 100, 300);
    hand_kernel(&hand, "k", 7, 100, 90);
    hand_kernel(&hand, "k", 7, 220, 60);
    hand_kernel(&hand, "k", 7, 290, 50);
    hand_facts(&hand);
    const struct facts *facts = &hand.facts;
    assert_true(facts->marked);
    assert_int_equal(facts->joined_marks, 0);
    assert_int_equal(facts->step_count, 2);
    assert_int_equal(facts->steps[1].number, 5);
    expect_step(facts, 0, 100, 190);
    expect_step(facts, 1, 190, 340);
    assert_int_equal(facts->devices[2].step, 1);
    hand_end(&hand);
}

static void launches_go_before_marks_on_the_device(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#8", 0, 100);
    add_device_mark(&hand, "ProfilerStep#4", 100, 100);
    add_device_mark(&hand, "ProfilerStep#5", 200, 100);
    add_pair(&hand, 10, 110, 80);
    add_pair(&hand, 20, 210, 80);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 1);
    assert_int_equal(hand.facts.steps[0].number, 8);
    hand_end(&hand);
}

static void the_users_pattern_goes_before_profiler_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.step_pattern = "train_*";
    add_mark(&hand, "ProfilerStep#1", 0, 400);
    add_mark(&hand, "train_a", 0, 100);
    add_mark(&hand, "train_b", 100, 100);
    add_pair(&hand, 10, 50, 10);
    add_pair(&hand, 110, 150, 10);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 2);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[1].name).at, "train_b");
    assert_int_equal(hand.facts.steps[1].number, 1);
    hand_end(&hand);
}

static void a_chosen_range_marks_steps_whatever_lies_inside_or_around(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.step_pattern = "rollout";
    add_mark(&hand, "epoch", 0, 400);
    for (int i = 0; i < 2; i++) {
        add_mark(&hand, "rollout", 200 * i, 190);
        add_mark(&hand, "generate", 200 * i + 5, 60);
        add_mark(&hand, "reward", 200 * i + 70, 100);
        add_pair(&hand, 200 * i + 10, 200 * i + 50, 10);
        add_pair(&hand, 200 * i + 80, 200 * i + 90, 10);
    }
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 2);
    expect_step(&hand.facts, 0, 50, 100);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[1].name).at, "rollout");
    hand_end(&hand);
}

// Steps whose annotation has other numbers each time, as of vLLM; what repeats within them does not
// say that it is a step.
static void numbers_in_the_name_of_a_step_may_differ(void **state)
{
    (void)state;
    static const char *const names[] = {"execute_context_1(512)_generation_0(0)",
                                        "execute_context_0(0)_generation_2(2)",
                                        "execute_context_0(0)_generation_13(13)"};
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++) {
        add_mark(&hand, names[i], 100 * i, 95);
        add_pair(&hand, 100 * i + 10, 100 * i + 50, 40);
    }
    hand_facts(&hand);
    assert_true(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 3);
    expect_step(&hand.facts, 1, 90, 190);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[2].name).at, names[2]);
    hand_end(&hand);
}

static uint32_t steps_with(const char *const names[3])
{
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++) {
        add_mark(&hand, names[i], 100 * i, 95);
        add_pair(&hand, 100 * i + 10, 100 * i + 50, 40);
    }
    hand_facts(&hand);
    uint32_t count = hand.facts.marked ? hand.facts.step_count : 0;
    hand_end(&hand);
    return count;
}

static void only_names_that_say_step_may_differ(void **state)
{
    (void)state;
    assert_int_equal(
        steps_with((const char *const[3]){"iteration 9", "iteration 10", "Iteration 11"}), 0);
    assert_int_equal(
        steps_with((const char *const[3]){"iteration 9", "iteration 10", "iteration 11"}), 3);
    assert_int_equal(steps_with((const char *const[3]){"layer_0", "layer_1", "layer_2"}), 0);
    assert_int_equal(
        steps_with((const char *const[3]){"criterion_0", "criterion_1", "criterion_2"}), 0);
    assert_int_equal(
        steps_with((const char *const[3]){"trainIter 0", "trainIter 1", "trainIter 2"}), 3);
    assert_int_equal(
        steps_with((const char *const[3]){"micro_step 0", "micro_step 1", "micro_step 2"}), 0);
    assert_int_equal(
        steps_with((const char *const[3]){"Warm-up Step 1", "Warm-up Step 2", "Warm-up Step 3"}),
        0);
    assert_int_equal(steps_with((const char *const[3]){"step a", "step b", "step c"}), 0);
}

// A forced decode of ATOM is a pass like others. What is written like one, but is a part of a
// numbered step, is none.
static void passes_of_all_kinds_are_steps(void **state)
{
    (void)state;
    assert_int_equal(steps_with((const char *const[3]){"prefill[bs=1 tok=9 ctx=[4, 5]]",
                                                       "decode[bs=117/128 tok=117 d=117]",
                                                       "eager_decode[bs=1 tok=1 ctx=9]"}),
                     3);
    assert_int_equal(steps_with((const char *const[3]){"step[1] forward", "step[1] backward",
                                                       "step[2] forward"}),
                     0);
    assert_int_equal(steps_with((const char *const[3]){"step[1]", "step[2]", "step[3]"}), 3);
    assert_int_equal(steps_with((const char *const[3]){"step[", "step[a", "decode[]"}), 0);
}

// An engine's host runs ahead: a step of 100 ns is a graph launched in 4 ns, after which it waits
// for the step before in an annotation that says no step. Passes of all kinds are steps; one that
// is around them, and what else repeats, are none.
static void steps_that_only_launch_are_known_by_what_they_launch(void **state)
{
    (void)state;
    static const char *const names[] = {"step[EXTEND bs=1 toks=512]", "step[DECODE bs=8]",
                                        "step[DECODE bs=8]", "step[DECODE bs=9]"};
    for (int around = 0; around < 2; around++) {
        struct hand hand;
        hand_begin(&hand);
        if (around)
            add_mark(&hand, "serve", 0, 450);
        for (int i = 0; i < 4; i++) {
            add_mark(&hand, names[i], 100 * i, 4);
            add_mark(&hand, "process_batch_result", 100 * i + 6, 90);
            add_pair(&hand, 100 * i + 1, 100 * i + 50, 95);
        }
        hand_facts(&hand);
        assert_true(hand.facts.marked);
        assert_int_equal(hand.facts.step_count, 4);
        expect_step(&hand.facts, 2, 245, 345);
        assert_string_equal(trace_text(hand.trace, hand.facts.steps[0].name).at, names[0]);
        hand_end(&hand);
    }
}

// Marks of 4 ns in steps of 100, within others or alone, which launch one kernel of two; the
// other one is as long, or longer.
static uint32_t steps_that_launch(const char *name, const char *around, int64_t other_ns)
{
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 4; i++) {
        if (around)
            add_mark(&hand, around, 100 * i, 8);
        add_mark(&hand, name, 100 * i + 1, 4);
        add_pair(&hand, 100 * i + 2, 100 * i + 40, 30);
        add_pair(&hand, 100 * i + 9, 100 * i + 70, other_ns);
    }
    hand_facts(&hand);
    uint32_t count = hand.facts.marked ? hand.facts.step_count : 0;
    hand_end(&hand);
    return count;
}

static void steps_that_only_launch_must_say_so_and_launch_most(void **state)
{
    (void)state;
    assert_int_equal(steps_that_launch("scheduler.run_batch", NULL, 20), 4);
    assert_int_equal(steps_that_launch("_forward_step", "executor", 20), 4);
    assert_int_equal(steps_that_launch("optimizer_step", NULL, 30), 0);
    assert_int_equal(steps_that_launch("layer", NULL, 20), 0);
    assert_int_equal(steps_that_launch("micro_step", NULL, 20), 0);
    assert_int_equal(steps_that_launch("warmup_step", NULL, 20), 0);
    assert_int_equal(steps_that_launch("backward_step", NULL, 20), 0);
    assert_int_equal(steps_that_launch("forward_backward_step", NULL, 20), 4);
}

static void optimizer_marks_leave_the_last_step_open(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++) {
        add_mark(&hand, "Optimizer.step#AdamW.step", 100 * i, 10);
        add_pair(&hand, 100 * i + 50, 100 * i + 60, 10); // after the mark's own end
    }
    add_pair(&hand, 205, 210, 5);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 3);
    expect_step(&hand.facts, 0, 60, 70);
    expect_step(&hand.facts, 1, 70, 170);
    assert_string_equal(hand.facts.steps[2].reason,
                        "the optimizer step that would end it was not recorded");
    assert_int_equal(hand.facts.steady_count, 1);
    hand_end(&hand);
}

// It ends a step that has no known beginning; an annotation around it may know.
static void one_optimizer_marks_no_step(void **state)
{
    (void)state;
    for (int around = 0; around < 2; around++) {
        struct hand hand;
        hand_begin(&hand);
        for (int i = 0; i < 3; i++) {
            add_mark(&hand, around ? "train" : "forward", 100 * i, around ? 100 : 10);
            add_pair(&hand, 100 * i + 20, 100 * i + 30, 10);
        }
        add_mark(&hand, "Optimizer.step#AdamW.step", 280, 10);
        add_pair(&hand, 285, 290, 4);
        hand_facts(&hand);
        assert_int_equal(hand.facts.marked, around);
        expect_step(&hand.facts, 0, 30, around ? 40 : 294);
        assert_int_equal(hand.facts.step_count, around ? 3 : 1);
        hand_end(&hand);
    }
}

// A graph of a memset of 2 ns and a kernel of 8 ns.
static void add_graph(struct hand *hand, int64_t launch_ns, int64_t begin_ns)
{
    const int64_t correlation = 1000000 + launch_ns;
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaGraphLaunch",
                                       .begin_ns = launch_ns,
                                       .dur_ns = 1,
                                       .pid = 1,
                                       .row = 2,
                                       .correlation = correlation});
    for (int i = 0; i < 2; i++)
        hand_add(hand, (struct hand_event){.kind = i ? EVENT_KERNEL : EVENT_MEMSET,
                                           .name = i ? "k" : "Memset (Device)",
                                           .begin_ns = begin_ns + 2 * i,
                                           .dur_ns = i ? 8 : 2,
                                           .row = 7,
                                           .correlation = correlation});
}

// An iteration of 100 ns: optimizers step, one after the other or with a backward between them, and
// 50 ns later the forward runs, a graph that starts with a memset.
static void add_iteration(struct hand *hand, int64_t begin_ns, const char *const classes[2],
                          bool work_between)
{
    int64_t second_ns = begin_ns + (work_between ? 30 : 6);
    add_mark(hand, classes[0], begin_ns, 5);
    add_pair(hand, begin_ns + 2, begin_ns + 3, 2);
    if (work_between)
        add_pair(hand, begin_ns + 10, begin_ns + 12, 2);
    add_mark(hand, classes[1], second_ns, 4);
    add_pair(hand, second_ns + 1, second_ns + 2, 2);
    add_graph(hand, begin_ns + 50, begin_ns + 60);
}

static void several_optimizers_of_an_iteration_end_one_step(void **state)
{
    (void)state;
    static const struct {
        const char *classes[2];
        bool work_between;
    } cases[] = {
        {{"Optimizer.step#Muon.step", "Optimizer.step#AdamW.step"}, false},
        {{"Optimizer.step#AdamW.step", "Optimizer.step#AdamW.step"}, false}, // of two models
        {{"Optimizer.step#SGD.step", "Optimizer.step#Adam.step"}, true},     // of a GAN
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        for (int64_t step = 0; step < 3; step++)
            add_iteration(&hand, 100 * step, cases[i].classes, cases[i].work_between);
        hand_facts(&hand);
        const struct facts *facts = &hand.facts;
        assert_int_equal(facts->step_count, 3);
        assert_int_equal(facts->joined_marks, 0);
        expect_step(facts, 0, 3, 70);
        expect_step(facts, 1, 70, 170);
        for (uint32_t s = 0; s < 3; s++)
            assert_string_equal(trace_text(hand.trace, facts->steps[s].name).at,
                                cases[i].classes[0]);
        assert_string_equal(facts->steps[2].reason,
                            "the optimizer step that would end it was not recorded");
        hand_end(&hand);
    }
}

static void add_blocks(struct hand *hand, int64_t launch_ns, int64_t dur_ns, int32_t grid)
{
    const int64_t correlation = 2000000 + launch_ns;
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = launch_ns,
                                       .dur_ns = 1,
                                       .pid = 1,
                                       .row = 2,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = launch_ns + 3,
                                       .dur_ns = dur_ns,
                                       .row = 7,
                                       .correlation = correlation,
                                       .grid = grid});
}

#define FORWARD_OF_TURN 0 // it has as many blocks as the update before it

// An iteration of 100 ns: an optimizer whose kernel has these blocks, and the forward after it.
static void add_update(struct hand *hand, int64_t begin_ns, int32_t grid, int32_t forward)
{
    add_mark(hand, "Optimizer.step#Adam.step", begin_ns, 10);
    add_blocks(hand, begin_ns + 2, 5, grid);
    add_blocks(hand, begin_ns + 27, 40, forward == FORWARD_OF_TURN ? grid : forward);
}

static uint32_t steps_of(const int32_t *grids, uint32_t count, int32_t forward)
{
    struct hand hand;
    hand_begin(&hand);
    for (uint32_t i = 0; i < count; i++)
        add_update(&hand, 100 * (int64_t)i, grids[i], forward);
    hand_facts(&hand);
    uint32_t steps = hand.facts.step_count;
    if (steps < count)
        assert_int_equal(hand.facts.steps[1].begin_ns, 100 * (count / steps) - 30);
    hand_end(&hand);
    return steps;
}

static uint32_t steps_of_updates(const int32_t *grids, uint32_t count)
{
    return steps_of(grids, count, FORWARD_OF_TURN);
}

// The two of a GAN, of which the first iteration prepares more; three; one of which the parameters
// never change, or once; and two iterations, which are too few.
static void optimizers_of_one_class_that_take_turns_end_one_step(void **state)
{
    (void)state;
    assert_int_equal(steps_of_updates((const int32_t[]){9, 9, 50, 40, 50, 40, 50, 40}, 8), 4);
    assert_int_equal(steps_of_updates((const int32_t[]){5, 5, 4, 5, 5, 4, 5, 5, 4}, 9), 3);
    assert_int_equal(steps_of_updates((const int32_t[]){5, 5, 5, 5, 5, 5, 5, 5}, 8), 8);
    assert_int_equal(steps_of_updates((const int32_t[]){5, 5, 5, 5, 4, 4, 4, 4}, 8), 8);
    assert_int_equal(steps_of_updates((const int32_t[]){5, 4, 5, 4, 5, 4, 5, 5}, 8), 8);
    assert_int_equal(steps_of_updates((const int32_t[]){5, 4, 5, 4}, 4), 4);
}

// As one that averages its parameters every few updates.
static void one_optimizer_that_does_more_now_and_then_takes_no_turns(void **state)
{
    (void)state;
    assert_int_equal(steps_of((const int32_t[]){4, 9, 4, 9, 4, 9, 4, 9}, 8, 7), 8);
    assert_int_equal(steps_of((const int32_t[]){4, 4, 4, 9, 4, 4, 4, 9, 4, 4, 4, 9}, 12, 7), 12);
}

// Where nothing is launched between any two steps, each is one.
static void optimizers_without_other_work_step_alone(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++) {
        add_mark(&hand, "Optimizer.step#AdamW.step", 100 * i, 90);
        add_pair(&hand, 100 * i + 50, 100 * i + 60, 10);
    }
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 3);
    hand_end(&hand);
}

// One optimizer for each parameter, which steps as soon as the gradient is there.
static void optimizers_that_step_in_the_backward_mark_no_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 6; i++) {
        hand_add(&hand, (struct hand_event){
                            .kind = EVENT_CPU_OP,
                            .name = "autograd::engine::evaluate_function: "
                                    "torch::autograd::AccumulateGrad",
                            .begin_ns = 100 * i,
                            .dur_ns = 20,
                            .pid = 1,
                            .row = 1,
                        });
        add_mark(&hand, "Optimizer.step#Adam.step", 100 * i + 5, 10);
        add_pair(&hand, 100 * i + 50, 100 * i + 60, 10);
    }
    hand_facts(&hand);
    assert_false(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 1);
    hand_end(&hand);
}

// Six marks, of which those whose characters are '+' train. With accumulation the others have a
// backward.
static void add_loop(struct hand *hand, const char *trains, bool backward)
{
    for (int i = 0; i < 6; i++) {
        add_mark(hand, "ProfilerStep#1", 100 * i, 100);
        add_pair(hand, 100 * i + 20, 100 * i + 30, trains[i] == '+' ? 60 : 20);
        if (trains[i] == '+')
            add_mark(hand, "Optimizer.step#SGD.step", 100 * i + 60, 10);
        if (trains[i] == '+' || backward)
            hand_add(hand,
                     (struct hand_event){.kind = EVENT_CPU_OP,
                                         .name = "autograd::engine::evaluate_function: MmBackward0",
                                         .begin_ns = 100 * i + 40,
                                         .dur_ns = 10,
                                         .pid = 1,
                                         .row = 3});
    }
}

// After steps that warm up, all of an iteration may be one graph; and a loop may act several times
// before it learns from that.
static void steps_that_evaluate_are_left_out_where_others_train(void **state)
{
    (void)state;
    static const struct {
        const char *trains;
        bool backward, graphs;
        uint32_t steady;
    } cases[] = {{"+++---", false, false, 3},
                 {"+++---", true, false, 6},
                 {"+++---", false, true, 6},
                 {"--+--+", false, false, 6}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hand hand;
        hand_begin(&hand);
        hand.options.warmup_steps = 0;
        add_loop(&hand, cases[c].trains, cases[c].backward);
        for (int i = 3; i < 6 && cases[c].graphs; i++)
            add_graph(&hand, 100 * i + 60, 100 * i + 70);
        hand_facts(&hand);
        assert_int_equal(hand.facts.step_count, 6);
        assert_int_equal(hand.facts.steady_count, cases[c].steady);
        if (cases[c].steady == 3)
            assert_string_equal(hand.facts.steps[3].reason,
                                "it has no backward and no optimizer, unlike other steps");
        hand_end(&hand);
    }
}

// What the user chooses counts.
static void chosen_steps_may_evaluate(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options = (struct analysis_options){.step_pattern = "Profiler*"};
    add_loop(&hand, "+++---", false);
    hand_facts(&hand);
    assert_int_equal(hand.facts.steady_count, 6);
    hand_end(&hand);
}

static void a_repeated_annotation_at_the_top_of_a_thread_marks_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 4; i++) {
        add_mark(&hand, "iteration", 100 * i, 95);
        add_mark(&hand, "forward", 100 * i, 40); // inside
        add_pair(&hand, 100 * i + 20, 100 * i + 30, 10);
    }
    hand_facts(&hand);
    assert_true(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 4);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[0].name).at, "iteration");
    hand_end(&hand);
}

static void patterns_are_whole_names_or_beginnings(void **state)
{
    (void)state;
    assert_true(step_marks_fit(STR("step"), STR("step")));
    assert_false(step_marks_fit(STR("step"), STR("step 1")));
    assert_true(step_marks_fit(STR("step*"), STR("step 1")));
    assert_true(step_marks_fit(STR("*"), STR("")));
    assert_int_equal(step_marks_number(STR("ProfilerStep#12"), 3), 12);
    assert_int_equal(step_marks_number(STR("Optimizer.step#AdamW"), 3), 3);
}

static void add_call(struct hand *hand, int64_t launch_ns, int64_t dur_ns, int32_t grid)
{
    static const char *const names[] = {"few", "many"};
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .pid = 1,
                                       .row = 1,
                                       .begin_ns = launch_ns,
                                       .dur_ns = 5,
                                       .correlation = launch_ns + 1});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = names[grid > 608],
                                       .row = 7,
                                       .begin_ns = launch_ns + 10,
                                       .dur_ns = dur_ns,
                                       .correlation = launch_ns + 1,
                                       .grid = grid});
}

// Calls of 1,000 blocks in four steps: 100; 100; 100 and 100; 150. The last three are steady, their
// four calls 112.5 on average. More calls are not slower; a grid of 100 blocks shows nothing.
static void the_rate_of_a_step_is_its_time_by_the_usual_one_of_its_calls(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 4; step++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", (int)step);
        add_mark(&hand, name, 1000 * step, 1000);
        add_call(&hand, 1000 * step + 100, step == 3 ? 150 : 100, 1000);
        if (step == 2)
            add_call(&hand, 1000 * step + 300, 100, 1000);
        add_call(&hand, 1000 * step + 900, 50 + 10 * step, 100);
    }
    hand.options.warmup_steps = 1;
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "step_rates"), 4);
    for (size_t step = 0; step < 4; step++) {
        assert_int_equal(hand_i64(&hand, "step_rates", step, "step"), step);
        double expected = (step == 3 ? 150 : 100) / 112.5;
        assert_true(fabs(hand_cell(&hand, "step_rates", step, "ratio")->f - expected) < 1e-9);
    }
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_runs_from_the_end_of_the_one_before_to_its_last_compute),
        cmocka_unit_test(the_main_stream_has_most_compute_launched_inside_marks),
        cmocka_unit_test(marks_that_overlap_a_little_are_both_kept),
        cmocka_unit_test(an_empty_mark_within_another_joins_it),
        cmocka_unit_test(a_step_whose_compute_was_overtaken_has_no_time),
        cmocka_unit_test(without_marks_the_window_is_one_step),
        cmocka_unit_test(without_launches_marks_on_the_device_are_steps),
        cmocka_unit_test(launches_go_before_marks_on_the_device),
        cmocka_unit_test(the_users_pattern_goes_before_profiler_steps),
        cmocka_unit_test(a_chosen_range_marks_steps_whatever_lies_inside_or_around),
        cmocka_unit_test(numbers_in_the_name_of_a_step_may_differ),
        cmocka_unit_test(only_names_that_say_step_may_differ),
        cmocka_unit_test(passes_of_all_kinds_are_steps),
        cmocka_unit_test(steps_that_only_launch_are_known_by_what_they_launch),
        cmocka_unit_test(steps_that_only_launch_must_say_so_and_launch_most),
        cmocka_unit_test(optimizer_marks_leave_the_last_step_open),
        cmocka_unit_test(one_optimizer_marks_no_step),
        cmocka_unit_test(several_optimizers_of_an_iteration_end_one_step),
        cmocka_unit_test(optimizers_of_one_class_that_take_turns_end_one_step),
        cmocka_unit_test(one_optimizer_that_does_more_now_and_then_takes_no_turns),
        cmocka_unit_test(optimizers_without_other_work_step_alone),
        cmocka_unit_test(optimizers_that_step_in_the_backward_mark_no_steps),
        cmocka_unit_test(steps_that_evaluate_are_left_out_where_others_train),
        cmocka_unit_test(chosen_steps_may_evaluate),
        cmocka_unit_test(a_repeated_annotation_at_the_top_of_a_thread_marks_steps),
        cmocka_unit_test(the_rate_of_a_step_is_its_time_by_the_usual_one_of_its_calls),
        cmocka_unit_test(patterns_are_whole_names_or_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
