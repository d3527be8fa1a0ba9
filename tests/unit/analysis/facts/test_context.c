// SPDX-License-Identifier: Apache-2.0
// The context of launches: modules, backward, repeated forwards; on handmade traces.
#include "analysis/facts/context.h"
#include "analysis/facts/module_tree.h"

#include "tests/unit/hand_trace.h"

#include <stdio.h>

#define MAIN   1
#define ENGINE 2

static void add_frame(struct hand *hand, const char *name, int64_t thread, int64_t begin_ns,
                      int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_PYTHON,
                                       .name = name,
                                       .row = thread,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns});
}

// A time span on a thread.
struct at {
    int64_t thread, begin_ns, dur_ns;
};

static void add_op(struct hand *hand, const char *name, struct at at, int64_t sequence)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = name,
                                       .row = at.thread,
                                       .begin_ns = at.begin_ns,
                                       .dur_ns = at.dur_ns,
                                       .sequence = sequence});
}

// A launch of 1 ns and its kernel of 10 ns; the kernel's number gives its place in time.
static void add_launch(struct hand *hand, int64_t thread, int64_t begin_ns, int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .row = thread,
                                       .begin_ns = begin_ns,
                                       .dur_ns = 1,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .row = 7,
                                       .begin_ns = 100000 + 10 * correlation,
                                       .dur_ns = 10,
                                       .correlation = correlation});
}

// The launch of the device event with that correlation; they run in this order.
static const struct launch *launch_of(const struct hand *hand, int64_t correlation)
{
    uint32_t device = (uint32_t)(correlation - 1);
    assert_true(device < hand->facts.device_count);
    assert_int_equal(hand->facts.devices[device].begin_ns, 100000 + 10 * correlation);
    assert_int_not_equal(hand->facts.devices[device].launch, FACTS_NONE);
    return &hand->facts.launches[hand->facts.devices[device].launch];
}

static void assert_path(struct hand *hand, uint32_t module, const char *path)
{
    struct str text = context_module_path(&hand->facts, module, &hand->arena, &hand->err);
    assert_non_null(text.at);
    assert_string_equal(text.at, path);
}

static void assert_name(const struct hand *hand, uint32_t event, const char *name)
{
    assert_int_not_equal(event, FACTS_NONE);
    assert_string_equal(trace_text(hand->trace, hand->trace->name[event]).at, name);
}

static void a_launch_works_for_the_innermost_module_around_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_frame(&hand, "train.py(1): step", MAIN, 0, 1000);
    add_frame(&hand, "nn.Module: Net_0", MAIN, 10, 500);
    add_frame(&hand, "nn.Module: Linear_0", MAIN, 20, 50);
    add_frame(&hand, "torch/nn/modules/linear.py(9): forward", MAIN, 25, 40);
    add_launch(&hand, MAIN, 30, 1);
    add_launch(&hand, MAIN, 300, 2);
    add_launch(&hand, MAIN, 900, 3);
    add_launch(&hand, 5, 30, 4); // another thread, without frames
    hand_facts(&hand);
    assert_int_equal(hand.facts.module_count, 3);
    assert_path(&hand, launch_of(&hand, 1)->module, "Net_0/Linear_0");
    assert_name(&hand, launch_of(&hand, 1)->frame, "torch/nn/modules/linear.py(9): forward");
    assert_path(&hand, launch_of(&hand, 2)->module, "Net_0");
    assert_path(&hand, launch_of(&hand, 3)->module, "");
    assert_name(&hand, launch_of(&hand, 3)->frame, "train.py(1): step");
    assert_int_equal(launch_of(&hand, 4)->frame, FACTS_NONE);
    assert_int_equal(launch_of(&hand, 4)->module, 0);
    hand_end(&hand);
}

static void one_instance_below_two_parents_is_two_modules_and_each_counts_its_calls(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t call = 0; call < 3; call++) {
        const char *parent = call < 2 ? "nn.Module: A_0" : "nn.Module: B_0";
        add_frame(&hand, parent, MAIN, 100 * call, 90);
        add_frame(&hand, "nn.Module: Shared_0", MAIN, 100 * call + 1, 80);
        add_launch(&hand, MAIN, 100 * call + 10, call + 1);
    }
    hand_facts(&hand);
    assert_int_equal(hand.facts.module_count, 5);
    uint32_t below_a = launch_of(&hand, 1)->module, below_b = launch_of(&hand, 3)->module;
    assert_int_equal(launch_of(&hand, 2)->module, below_a);
    assert_path(&hand, below_a, "A_0/Shared_0");
    assert_path(&hand, below_b, "B_0/Shared_0");
    assert_int_equal(hand.facts.modules[below_a].calls, 2);
    assert_int_equal(hand.facts.modules[below_b].calls, 1);
    hand_end(&hand);
}

// As in PyTorch: an outer operator that records nothing, and the wrappers, have the number that the
// innermost one gives its node.
static void
a_backward_launch_works_for_the_module_of_the_latest_operator_of_its_number(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::add_", (struct at){MAIN, 10, 5}, 8); // in no module
    add_frame(&hand, "nn.Module: BatchNorm2d_0", MAIN, 20, 50);
    add_op(&hand, "aten::batch_norm", (struct at){MAIN, 22, 40}, 8);
    add_op(&hand, "aten::native_batch_norm", (struct at){MAIN, 25, 30}, 8);
    add_launch(&hand, MAIN, 30, 1);
    add_op(&hand, "aten::relu", (struct at){MAIN, 80, 5}, 9);
    add_op(&hand, "autograd::engine::evaluate_function: NativeBatchNormBackward0",
           (struct at){ENGINE, 200, 60}, 8);
    add_op(&hand, "NativeBatchNormBackward0", (struct at){ENGINE, 205, 50}, 8);
    add_op(&hand, "aten::native_batch_norm_backward", (struct at){ENGINE, 210, 40}, 0);
    add_launch(&hand, ENGINE, 220, 2);
    add_op(&hand, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
           (struct at){ENGINE, 300, 20}, 0);
    add_launch(&hand, ENGINE, 310, 3);
    hand_facts(&hand);
    assert_false(launch_of(&hand, 1)->backward);
    assert_int_equal(launch_of(&hand, 1)->forward, FACTS_NONE);
    const struct launch *launch = launch_of(&hand, 2);
    assert_true(launch->backward);
    assert_false(launch->recompute);
    assert_name(&hand, launch->forward, "aten::native_batch_norm");
    assert_path(&hand, launch->module, "BatchNorm2d_0");
    assert_true(launch_of(&hand, 3)->backward);
    assert_int_equal(launch_of(&hand, 3)->forward, FACTS_NONE);
    assert_int_equal(launch_of(&hand, 3)->module, 0);
    hand_end(&hand);
}

// The same number occurs once per thread: the engine's own thread used it later, too.
static void a_forward_on_another_thread_comes_before_one_of_the_engine(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mul", (struct at){MAIN, 10, 5}, 8);
    add_op(&hand, "aten::add", (struct at){ENGINE, 100, 5}, 8);
    add_op(&hand, "autograd::engine::evaluate_function: MulBackward0", (struct at){ENGINE, 200, 60},
           8);
    add_launch(&hand, ENGINE, 220, 1);
    add_op(&hand, "aten::sub", (struct at){MAIN, 400, 5}, 8); // after the backward
    hand_facts(&hand);
    assert_name(&hand, launch_of(&hand, 1)->forward, "aten::mul");
    hand_end(&hand);
}

static void a_backward_on_the_thread_of_its_forward_finds_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mul", (struct at){MAIN, 10, 5}, 8);
    add_op(&hand, "autograd::engine::evaluate_function: MulBackward0", (struct at){MAIN, 200, 60},
           8);
    add_launch(&hand, MAIN, 220, 1);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->backward);
    assert_name(&hand, launch_of(&hand, 1)->forward, "aten::mul");
    hand_end(&hand);
}

static void an_old_backward_without_the_engine_around_it_is_backward(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mul", (struct at){MAIN, 10, 5}, 8);
    add_op(&hand, "MulBackward", (struct at){ENGINE, 200, 60}, 8);
    add_launch(&hand, ENGINE, 220, 1);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->backward);
    assert_name(&hand, launch_of(&hand, 1)->forward, "aten::mul");
    hand_end(&hand);
}

// torch.utils.checkpoint, use_reentrant=False: the first node's hook repeats the forward. The stack
// of the engine's thread does not have the modules around the checkpoint.
static void a_forward_repeated_by_a_hook_differs_from_the_backward_around_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_frame(&hand, "nn.Module: Net_0", MAIN, 0, 100);
    add_frame(&hand, "nn.Module: Block_0", MAIN, 10, 80);
    add_frame(&hand, "nn.Module: Linear_0", MAIN, 20, 20);
    add_op(&hand, "aten::linear", (struct at){MAIN, 21, 10}, 8);
    add_launch(&hand, MAIN, 25, 1);
    add_frame(&hand, "<built-in method run_backward of torch._C._EngineBase object>", ENGINE, 150,
              500);
    add_op(&hand, "autograd::engine::evaluate_function: AddmmBackward0",
           (struct at){ENGINE, 200, 300}, 8);
    add_frame(&hand, "torch/utils/checkpoint.py(1111): unpack_hook", ENGINE, 210, 100);
    add_frame(&hand, "torch/utils/checkpoint.py(1500): recompute_fn", ENGINE, 212, 90);
    add_frame(&hand, "nn.Module: Block_0", ENGINE, 215, 80);
    add_frame(&hand, "nn.Module: Linear_0", ENGINE, 220, 20);
    add_op(&hand, "aten::linear", (struct at){ENGINE, 221, 10},
           8); // by chance the number of the node
    add_launch(&hand, ENGINE, 225, 2);
    add_launch(&hand, ENGINE, 400, 3);
    hand_facts(&hand);
    assert_int_equal(hand.facts.module_count, 4);
    assert_path(&hand, launch_of(&hand, 1)->module, "Net_0/Block_0/Linear_0");
    assert_false(launch_of(&hand, 1)->recompute);
    assert_true(launch_of(&hand, 2)->recompute);
    assert_false(launch_of(&hand, 2)->backward);
    assert_int_equal(launch_of(&hand, 2)->forward, FACTS_NONE);
    assert_int_equal(launch_of(&hand, 2)->module, launch_of(&hand, 1)->module);
    assert_true(launch_of(&hand, 3)->backward);
    assert_false(launch_of(&hand, 3)->recompute);
    assert_int_equal(hand.trace->begin_ns[launch_of(&hand, 3)->forward], 21);
    assert_int_equal(launch_of(&hand, 3)->module, launch_of(&hand, 1)->module);
    assert_int_equal(hand.facts.modules[launch_of(&hand, 1)->module].calls, 1);
    hand_end(&hand);
}

// use_reentrant=True: a function of its own repeats the forward and runs the engine again inside
// itself; its nodes have the numbers of the engine's thread. No Python frames needed.
static void a_checkpointed_function_repeats_a_forward_and_runs_its_backward(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "CheckpointFunction", (struct at){MAIN, 10, 50}, 8);
    add_op(&hand, "aten::other", (struct at){MAIN, 80, 5}, 3);
    add_op(&hand, "autograd::engine::evaluate_function: CheckpointFunctionBackward",
           (struct at){ENGINE, 200, 500}, 8);
    add_op(&hand, "CheckpointFunctionBackward", (struct at){ENGINE, 205, 490}, 8);
    add_op(&hand, "aten::addmm", (struct at){ENGINE, 220, 20}, 3);
    add_launch(&hand, ENGINE, 225, 1);
    add_op(&hand, "autograd::engine::evaluate_function: AddmmBackward0",
           (struct at){ENGINE, 300, 100}, 3);
    add_launch(&hand, ENGINE, 325, 2);
    add_op(&hand, "aten::add_", (struct at){ENGINE, 450, 10}, 0); // a sum of gradients
    add_launch(&hand, ENGINE, 455, 3);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->recompute);
    assert_false(launch_of(&hand, 1)->backward);
    for (int64_t i = 2; i <= 3; i++) {
        assert_true(launch_of(&hand, i)->backward);
        assert_false(launch_of(&hand, i)->recompute);
    }
    assert_name(&hand, launch_of(&hand, 2)->forward, "aten::addmm");
    assert_int_equal(launch_of(&hand, 3)->forward, FACTS_NONE);
    hand_end(&hand);
}

// The recording started after the forward: what the hook repeats has the node's number by chance.
static void a_repeated_operator_is_not_taken_for_a_forward_that_was_not_recorded(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "autograd::engine::evaluate_function: AddmmBackward0",
           (struct at){ENGINE, 200, 300}, 8);
    add_frame(&hand, "torch/utils/checkpoint.py(1500): recompute_fn", ENGINE, 212, 90);
    add_op(&hand, "aten::linear", (struct at){ENGINE, 221, 10}, 8);
    add_launch(&hand, ENGINE, 225, 1);
    add_op(&hand, "autograd::engine::evaluate_function: AddmmBackward0",
           (struct at){ENGINE, 600, 100}, 8);
    add_launch(&hand, ENGINE, 650, 2);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->recompute);
    assert_true(launch_of(&hand, 2)->backward);
    assert_int_equal(launch_of(&hand, 2)->forward, FACTS_NONE);
    hand_end(&hand);
}

// With Python frames the same function shows up twice: as an operator and as a frame, inside which
// the engine's frame starts the backward. Its gradient sums are outside its nodes.
static void the_engine_within_a_checkpointed_function_is_backward(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "autograd::engine::evaluate_function: CheckpointFunctionBackward",
           (struct at){ENGINE, 200, 500}, 0);
    add_op(&hand, "CheckpointFunctionBackward", (struct at){ENGINE, 205, 490}, 8);
    add_frame(&hand, "torch/utils/checkpoint.py(300): backward", ENGINE, 210, 480);
    add_frame(&hand, "nn.Module: Linear_0", ENGINE, 215, 30);
    add_op(&hand, "aten::addmm", (struct at){ENGINE, 220, 20}, 3);
    add_launch(&hand, ENGINE, 225, 1);
    add_frame(&hand, "torch/autograd/graph.py(814): _engine_run_backward", ENGINE, 300, 300);
    add_op(&hand, "autograd::engine::evaluate_function: AddmmBackward0",
           (struct at){ENGINE, 310, 100}, 3);
    add_launch(&hand, ENGINE, 325, 2);
    add_op(&hand, "aten::add", (struct at){ENGINE, 450, 10}, 0);
    add_launch(&hand, ENGINE, 455, 3);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->recompute);
    assert_path(&hand, launch_of(&hand, 1)->module, "Linear_0");
    for (int64_t i = 2; i <= 3; i++) {
        assert_true(launch_of(&hand, i)->backward);
        assert_false(launch_of(&hand, i)->recompute);
    }
    assert_name(&hand, launch_of(&hand, 2)->forward, "aten::addmm");
    assert_path(&hand, launch_of(&hand, 2)->module, "Linear_0");
    hand_end(&hand);
}

// The engine's operator may lack its number while the node inside it has one.
static void a_checkpointed_function_is_known_by_the_operator_around_its_node(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "autograd::engine::evaluate_function: CheckpointFunctionBackward",
           (struct at){ENGINE, 200, 500}, 0);
    add_op(&hand, "CheckpointFunctionBackward", (struct at){ENGINE, 205, 490}, 8);
    add_launch(&hand, ENGINE, 225, 1);
    hand_facts(&hand);
    assert_true(launch_of(&hand, 1)->recompute);
    hand_end(&hand);
}

static void a_module_hierarchy_gives_modules_where_no_frame_does(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                        .name = "aten::conv2d",
                                        .row = MAIN,
                                        .begin_ns = 10,
                                        .dur_ns = 50,
                                        .sequence = 8,
                                        .module = "TOP(Net)::forward.conv1(Conv2d)::forward."
                                                  "SELF(Conv2d)::_conv_forward"});
    add_op(&hand, "aten::cudnn_convolution", (struct at){MAIN, 20, 30}, 0);
    add_launch(&hand, MAIN, 25, 1);
    add_op(&hand, "autograd::engine::evaluate_function: ConvolutionBackward0",
           (struct at){ENGINE, 200, 60}, 8);
    add_launch(&hand, ENGINE, 220, 2);
    hand_facts(&hand);
    assert_int_equal(hand.facts.module_count, 3);
    assert_path(&hand, launch_of(&hand, 1)->module, "TOP(Net)/conv1(Conv2d)");
    assert_int_equal(launch_of(&hand, 2)->module, launch_of(&hand, 1)->module);
    hand_end(&hand);
}

static void one_event_is_looked_up_with_what_surrounds_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_frame(&hand, "nn.Module: Net_0", MAIN, 0, 100);
    add_op(&hand, "aten::linear", (struct at){MAIN, 10, 50}, 0);
    add_op(&hand, "aten::addmm", (struct at){MAIN, 20, 10}, 0);
    add_op(&hand, "aten::late", (struct at){MAIN, 200, 10}, 0);
    hand_kernel(&hand, "k", 7, 0, 10);
    hand_facts(&hand);
    for (uint32_t e = 0; e < hand.trace->event_count; e++) {
        if (hand.trace->kind[e] != EVENT_CPU_OP)
            continue;
        struct context context;
        assert_true(context_at(&hand.facts, e, &context, &hand.err));
        bool nested = hand.trace->begin_ns[e] == 20, late = hand.trace->begin_ns[e] == 200;
        if (nested)
            assert_name(&hand, context.op, "aten::linear");
        else
            assert_int_equal(context.op, FACTS_NONE);
        assert_int_equal(context.frame == FACTS_NONE, late);
        assert_path(&hand, context.module, late ? "" : "Net_0");
    }
    hand_end(&hand);
}

static void modules_deeper_than_the_limit_count_as_the_last_one_and_paths_stay_short(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    char name[64];
    for (int64_t depth = 0; depth < MODULE_MAX_DEPTH + 20; depth++) {
        snprintf(name, sizeof name, "nn.Module: AModuleWithALongName_%d", (int)depth);
        add_frame(&hand, name, MAIN, depth, 1000 - 2 * depth);
    }
    add_launch(&hand, MAIN, 400, 1);
    hand_facts(&hand);
    const struct module *module = &hand.facts.modules[launch_of(&hand, 1)->module];
    assert_int_equal(module->depth, MODULE_MAX_DEPTH);
    assert_int_equal(hand.facts.module_count, MODULE_MAX_DEPTH + 1);
    assert_string_equal(module->name.at, "AModuleWithALongName_63");
    struct str path =
        context_module_path(&hand.facts, launch_of(&hand, 1)->module, &hand.arena, &hand.err);
    assert_true(path.len <= CONTEXT_PATH_MAX && path.len > CONTEXT_PATH_MAX - 64);
    assert_memory_equal(path.at, ".../", 4);
    assert_memory_equal(path.at + path.len - 23, "AModuleWithALongName_63", 23);
    hand_end(&hand);
}

// Device events of earlier launches, and one whose launch was lost; a graph launch has two.
static void events_launched_before_the_recording_are_distinguished_from_lost_launches(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launch(&hand, MAIN, 10, 5);
    add_launch(&hand, MAIN, 20, 9);
    static const int64_t unlinked[] = {3, 4, 7, 0};
    for (int i = 0; i < 4; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .row = 7,
                                            .begin_ns = 200000 + 100 * i,
                                            .dur_ns = 10,
                                            .correlation = unlinked[i]});
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "k",
                                        .row = 8,
                                        .begin_ns = 300000,
                                        .dur_ns = 10,
                                        .correlation = 9});
    hand_analyze(&hand);
    static const struct {
        const char *metric;
        int64_t value;
    } expected[] = {
        {"linked_device_events", 3},      {"unlinked_device_events", 4},
        {"launched_before_recording", 2}, {"graph_launches", 1},
        {"graph_device_events", 2},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t row = hand_find(&hand, "launches", "metric", expected[i].metric);
        assert_int_equal(hand_i64(&hand, "launches", row, "value"), expected[i].value);
    }
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_works_for_the_innermost_module_around_it),
        cmocka_unit_test(one_instance_below_two_parents_is_two_modules_and_each_counts_its_calls),
        cmocka_unit_test(
            a_backward_launch_works_for_the_module_of_the_latest_operator_of_its_number),
        cmocka_unit_test(a_forward_on_another_thread_comes_before_one_of_the_engine),
        cmocka_unit_test(a_backward_on_the_thread_of_its_forward_finds_it),
        cmocka_unit_test(an_old_backward_without_the_engine_around_it_is_backward),
        cmocka_unit_test(a_forward_repeated_by_a_hook_differs_from_the_backward_around_it),
        cmocka_unit_test(a_checkpointed_function_repeats_a_forward_and_runs_its_backward),
        cmocka_unit_test(a_repeated_operator_is_not_taken_for_a_forward_that_was_not_recorded),
        cmocka_unit_test(the_engine_within_a_checkpointed_function_is_backward),
        cmocka_unit_test(a_checkpointed_function_is_known_by_the_operator_around_its_node),
        cmocka_unit_test(a_module_hierarchy_gives_modules_where_no_frame_does),
        cmocka_unit_test(one_event_is_looked_up_with_what_surrounds_it),
        cmocka_unit_test(events_launched_before_the_recording_are_distinguished_from_lost_launches),
        cmocka_unit_test(modules_deeper_than_the_limit_count_as_the_last_one_and_paths_stay_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
