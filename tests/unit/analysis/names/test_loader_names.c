// SPDX-License-Identifier: Apache-2.0
// Which names are those of data loaders, and what the model does inside one.
#include "analysis/facts/gaps.h"
#include "analysis/names/loader_names.h"
#include "tests/unit/hand_trace.h"

#define US INT64_C(1000)

static void loaders_are_known_by_whole_words(void **state)
{
    (void)state;
    static const char *const loaders[] = {
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "enumerate(DataPipe)#Mapper data loading",
        "aten::_pin_memory",
        "torch/utils/data/dataloader.py(631): __next__",
        "torch\\utils\\data\\_utils\\pin_memory.py(50): do_one_step",
        "/opt/lib/python3/torch/utils/data/_utils/fetch.py(52): fetch",
        "nvidia/dali/plugin/base_iterator.py(80): __next__",
        "/opt/lib/streaming/base/dataset.py(1510): __iter__",
        "datasets/arrow_dataset.py(2800): __getitem__",
        "webdataset/pipeline.py(70): iterator next",
        "tensorflow/python/data/ops/iterator_ops.py(800): __next__",
        "accelerate/data_loader.py(550): __iter__",
        "lightning/pytorch/loops/fetchers.py(130): __next__",
        "pretrain_gpt.py(120): get_batch",
        "train.py(7): _load_batch",
        "[pl][profile][_TrainingEpochLoop].train_dataloader_next",
        "[pl][profile][_EvaluationLoop].val_next",
        "## load_batch ##",
        "## data_load ##",
        "next_batch",
        "##dataLoading##",
        "fetch",
        "Data",
    };
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        if (!loader_names_have(str_of(loaders[i])))
            fail_msg("%s", loaders[i]);
}

static void iterators_and_namesakes_are_no_loaders(void **state)
{
    (void)state;
    static const char *const others[] = {
        "transformers/pipelines/pt_utils.py(124): __next__", // a generator around the forward
        "<built-in function next>",
        "dataloader_study/train.py(12): main",  // a folder proves nothing
        "dataloader.py(12): <module>",          // nor does a script
        "datasets/arrow_dataset.py(3100): map", // runs what it is given
        "sglang/scheduler.py(9): get_next_batch_to_run",
        "get_next_batch_to_run", // a scheduler of requests
        "FullyShardedDataParallel._pre_backward_prefetch",
        "DistributedDataParallel.forward",
        "nn.Module: DataLoader_0",
        "aten::_softmax_backward_data",
        "## all2all_data:lengths ##",
        "Optimizer.step#AdamW.step",
        "ProfilerStep#3",
        "load_state_dict",
        "",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (loader_names_have(str_of(others[i])))
            fail_msg("%s", others[i]);
}

// --- what the model does in one ------------------------------------------------------------------

static void add_host(struct hand *hand, enum event_kind kind, const char *name, int64_t begin_us,
                     int64_t end_us)
{
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = name,
                                       .begin_ns = begin_us * US,
                                       .dur_ns = (end_us - begin_us) * US,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = kind == EVENT_RUNTIME ? begin_us : 0});
}

static void add_device(struct hand *hand, enum event_kind kind, int64_t begin_us, int64_t end_us,
                       int64_t launch_us)
{
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = "work",
                                       .begin_ns = begin_us * US,
                                       .dur_ns = (end_us - begin_us) * US,
                                       .row = 7,
                                       .correlation = launch_us});
    add_host(hand, EVENT_RUNTIME, "cudaLaunchKernel", launch_us, launch_us + 2);
}

// The device is idle from 1000 to 1300 us, while the host is in a loader's frame from 1010 to 1280
// around an operator, which is in another frame and launches a copy or a kernel.
static const char *cause_of(const char *frame, enum event_kind launched)
{
    struct hand hand;
    hand_begin(&hand);
    add_device(&hand, EVENT_KERNEL, 500, 1000, 400);
    add_host(&hand, EVENT_PYTHON, "dataloader.py(1): __next__", 1010, 1280);
    add_host(&hand, EVENT_PYTHON, frame, 1015, 1275);
    add_host(&hand, EVENT_CPU_OP, "aten::linear", 1020, 1270);
    add_device(&hand, launched, 1400, 1410, 1260);
    add_device(&hand, EVENT_KERNEL, 1300, 1400, 1290);
    hand_facts(&hand);
    assert_int_equal(hand.facts.gaps.count, 1);
    const char *word = idle_cause_word((enum idle_cause)hand.facts.gaps.gaps[0].cause);
    hand_end(&hand);
    return word;
}

// CASES.md, "A generator is no loader".
static void a_forward_inside_a_loader_is_not_loading(void **state)
{
    (void)state;
    assert_string_equal(cause_of("prefetch.py(3): step", EVENT_MEMCPY), "data_loading");
    assert_string_equal(cause_of("generate.py(3): step", EVENT_KERNEL), "host_compute");
    assert_string_equal(cause_of("nn.Module: Encoder_0", EVENT_MEMCPY), "host_compute");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaders_are_known_by_whole_words),
        cmocka_unit_test(iterators_and_namesakes_are_no_loaders),
        cmocka_unit_test(a_forward_inside_a_loader_is_not_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
