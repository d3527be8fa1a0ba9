// SPDX-License-Identifier: Apache-2.0
// The same step as other versions, launchers and terminals print it.
#include "ingest/base/buf.h"
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static struct budget budget;
static struct evidence evidence;

static int set_up(void **state)
{
    (void)state;
    evidence_init(&evidence, &budget);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    evidence_free(&evidence);
    assert_int_equal(budget.used, 0);
    return 0;
}

// By what it is found to be; in pieces of that size, 0: as one.
static void read_pieces(struct str text, const char *name, size_t bytes)
{
    struct err err = {.pos = ERR_NO_POS};
    const struct format *format = format_find(text, str_of(name));
    assert_non_null(format);
    if (!format->gather)
        fail_msg("%s is taken for %s", name, format->name);
    struct source *source = source_mem_open(text.at, text.len, bytes, &err);
    assert_non_null(source);
    struct format_input input = {.source = source, .budget = &budget, .evidence = &evidence};
    if (!format->gather(&input, &err))
        fail_msg("%s: %s", text.at, err.msg);
    source_close(source);
}

static void read_file(struct str text, const char *name)
{
    read_pieces(text, name, 0);
}

static void assert_value(const char *text, size_t at, enum log_value value, double wanted)
{
    assert_true(at < evidence.log.step_count);
    const struct log_step *step = &evidence.log.steps[at];
    double found = log_step_has(step, value) ? step->values[value] : (double)NAN;
    if (!(fabs(found - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("value %d is %g, expected %g: %s", value, found, wanted, text);
}

static void forget(void)
{
    tear_down(NULL);
    set_up(NULL);
}

#define MEGATRON                                                                             \
    " [2026-01-16 07:32:24] iteration        5/     100 | consumed samples:        10240 | " \
    "elapsed time per iteration (ms): 15800.0 | throughput per GPU (TFLOP/s/GPU): 490.0 | "  \
    "learning rate: 4.134000E-07 | global batch size:  2048 | lm loss: 1.344240E+01 | loss " \
    "scale: "                                                                                \
    "1.0 | grad norm: 2.870 | number of skipped iterations:   0 | number of nan iterations:   0 |"

static void a_line_is_read_behind_whatever_a_launcher_prints(void **state)
{
    (void)state;
    static const char *const before[] = {
        "",
        "\xEF\xBB\xBF",
        "0: ",
        "[1,7]<stdout>:",
        "  [1,7]<stdout>: ",
        "worker-3: ",
        "[default7]:",
        "[default7]:[rank7]:",
        "[rank7]:",
        "[lrdn3321:3]:",
        "training-1  | ",
        "2026-01-16T07:00:00.123456789Z ",
        "[pod/train-worker-0/main] ",
        "(trainer, pid=123) ",
        "demo/0 [default0]:",
        "\x1B[32m",
        "[32m",
        "\x1B[1;36m[info]\x1B[0m ",
        " 12%|#2   | 3/25 [00:03<00:26, 0.83it/s]\r",
    };
    static const char *const after[] = {"\n", "\r\n", "\x1B[0m\n", "[0m\n", " \n"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        for (size_t k = 0; k < sizeof after / sizeof *after; k++) {
            struct buf text = {0};
            buf_printf(&text, "%s" MEGATRON "%s", before[i], after[k]);
            read_file((struct str){text.at, text.len}, "train.log");
            assert_int_equal(evidence.log.step_count, 1);
            assert_int_equal(evidence.log.steps[0].step, 5);
            assert_value(text.at, 0, LOG_STEP_S, 15.8);
            assert_value(text.at, 0, LOG_LOSS, 13.4424);
            assert_value(text.at, 0, LOG_TFLOPS, 490);
            buf_free(&text);
            forget();
        }
}

#define TITAN(text) "[titan] 2026-09-14 15:08:27,273 - root - INFO - " text "\n"
#define PRIMUS(text)                                                                           \
    "[20251202 06:56:28][rank-7/8][INFO ] [--------trainer.py:2560] : iteration 4408/ 5000 | " \
    "consumed samples: 564224 | elapsed time per iteration (ms): 13100.0/13240.9 | " text      \
    " | lm loss: 4.142716E-03 | number of nan iterations: 0 |\n"
#define NEMO_RL(step)                                                             \
    "\n========================= Step " step "/100 =========================\n"   \
    "\xE2\x96\xB6 Preparing batch...\n  \xE2\x80\xA2 Loss: 0.4900\n"              \
    "  \xE2\x80\xA2 Avg Reward: 0.1234\n  \xE2\x80\xA2 Total step time: 21.50s\n" \
    "  \xE2\x80\xA2 generation: 10.00s (46.5%)\n  - E2E (Tokens/sec/gpu): 812.50\n"

static const struct {
    const char *text, *name;
    size_t steps;
    enum log_value value; // of the last
    double wanted;
} spelled[] = {
    // torchtitan
    {TITAN("step: 20  loss: 11.83506  grad_norm:  9.6669  memory: 48.87GiB(51.44%)  tps: 4,376  "
           "tflops: 1,253.41  mfu: 25.62%"),
     "a.log", 1, LOG_TFLOPS, 1253.41},
    {TITAN("step: 20  loss: 11.83506  grad_norm:  9.6669  memory: 48.87GiB(51.44%)  tps: 4,376  "
           "tflops: 253.41  mfu: N/A"),
     "a.log", 1, LOG_TOKENS_PER_S, 4376},
    {TITAN("\x1B[31mstep: 20  \x1B[32mloss: 11.83506  \x1B[38;2;54;234;195mgrad_norm:  9.6669  "
           "\x1B[33mmemory: 48.87GiB(51.44%)  \x1B[34mtps: 4,376\x1B[39m"),
     "a.log", 1, LOG_LOSS, 11.83506},
    {TITAN("[31mstep: 20  [32mloss: 11.83506  [33mmemory: 48.87GiB(51.44%)  [34mtps: 4,376[39m"),
     "a.log", 1, LOG_LOSS, 11.83506},
    {TITAN("step: 20  loss:  7.5  lr: 3.0e-04  moe_balance: 0.5  memory: 1.00GiB(1.44%)  tps: 4"),
     "a.log", 1, LOG_LEARNING_RATE, 3e-4},
    {"[rank0]:2024-06-13 11:02:31,300 - root - INFO - step: 10  loss:  8.9000  memory: "
     "22.33GiB(28.27%)  wps: 1,234  mfu: 37.61%\n",
     "a.log", 1, LOG_MFU, 0.3761},
    // Primus
    {PRIMUS("compute per GPU (TFLOP/s/GPU): 579.4 (avg 573.6)"), "a.log", 1, LOG_TFLOPS, 579.4},
    {PRIMUS("throughput per GPU (TFLOP/s/GPU): 579.4/573.6"), "a.log", 1, LOG_TFLOPS, 579.4},
    {PRIMUS("tokens/s/GPU inst/harmonic mean: 10005.5/9903.7"), "a.log", 1, LOG_TOKENS_PER_S,
     10005.5},
    // Megatron-LM
    {" iteration      199/  317892 | consumed samples: 152832 | elapsed time per iteration (s): "
     "14.29 | lm loss: 5.9E+00 | samples per second: 53.75 | TFLOPs: 199.03 |\n",
     "a.log", 1, LOG_SAMPLES_PER_S, 53.75},
    {" iteration        7/     100 | elapsed time per iteration (ms): 1000.0 | lm loss: 5.9E+00 | "
     "grad norm: inf | number of nan iterations:   0 |\n",
     "a.log", 1, LOG_LOSS, 5.9},
    // DeepSpeed
    {"[2023-08-02 00:41:17,936] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, "
     "lr=[5e-05, 5e-05], mom=[(0.9, 0.999)]\n[2023-08-02 00:41:17,937] [INFO] [timer.py:215:stop] "
     "epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=220.7, "
     "CurrSamplesPerSec=222.9, "
     "MemAllocated=0.07GB, MaxMemAllocated=1.5GB\n",
     "a.log", 1, LOG_ALL_SKIPPED, 2},
    {"[INFO] [timer.py:215:stop] epoch=0/micro_step=10/global_step=10, "
     "RunningAvgSamplesPerSec=220.7, CurrSamplesPerSec=222.9, MemAllocated=0.07GB, "
     "MaxMemAllocated=1.5GB\n",
     "a.log", 1, LOG_MEMORY_BYTES, 1.5 * 0x1p30},
    {"[2023-08-02 00:41:17,936] [INFO] [Rank 0] step=10, skipped=0, lr=[5e-05], mom=[0]\n", "a.log",
     1, LOG_LEARNING_RATE, 5e-5},
    // others
    {NEMO_RL("1") NEMO_RL("2"), "a.log", 2, LOG_STEP_S, 21.5},
    {NEMO_RL("1") NEMO_RL("2"), "a.log", 2, LOG_LOSS, 0.49},
    {NEMO_RL("1") "\n===== Step 2/100 =====\n", "a.log", 1, LOG_TOKENS_PER_S, 812.5},
    {"iteration: 7 / 1000 | consumed_tokens: 1.31M | time_per_iteration_ms: 2.04K | "
     "tokens_per_sec_per_gpu: 40.1K | lm_loss: 9.1\n",
     "a.log", 1, LOG_STEP_S, 2.04},
    {"{'loss': '76.31', 'grad_norm': '2175', 'learning_rate': '6.667e-06', 'epoch': '1.5'}\n",
     "a.log", 1, LOG_LOSS, 76.31},
    {"I1120 10:00:01.123456 140 metric_logger.py:100] completed step: 4, seconds: 5.668, "
     "TFLOP/s/device: 245.6, Tokens/s/device: 1500.1, total_weights: 65536, loss: 8.6, "
     "perplexity: 8000.1\n",
     "a.log", 1, LOG_LOSS, 8.6},
    // metrics
    {"\xEF\xBB\xBF{\"step\":1,\"loss\":2.5}\r\n{\"step\":2,\"loss\":2.25}\r\n", "m.jsonl", 2,
     LOG_LOSS, 2.25},
    {"epoch,lr,step,train_loss,val_loss\n0,,9,2.91,\n0,,49,2.5,\n0,,49,,2.9\n", "metrics.csv", 2,
     LOG_LOSS, 2.5},
    {"\xEF\xBB\xBF\"_step\",\"_timestamp\",\"train/loss\"\r\n0,1700000000.5,3.5\r\n1,1700000001.5,"
     "\"3.25\"\r\n",
     "wandb.csv", 2, LOG_LOSS, 3.25},
};

static void other_spellings_are_the_same_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        read_file(str_of(spelled[i].text), spelled[i].name);
        if (evidence.log.step_count != spelled[i].steps)
            fail_msg("%zu steps: %s", evidence.log.step_count, spelled[i].text);
        assert_value(spelled[i].text, spelled[i].steps - 1, spelled[i].value, spelled[i].wanted);
        forget();
    }
}

static void times_of_a_history_are_utc(void **state)
{
    (void)state;
    read_file(STR("_step,_timestamp,loss\n0,1700000000.5,3.5\n"), "history.csv");
    assert_true(evidence.log.utc);
    assert_true(evidence.log.steps[0].time_ns == INT64_C(1700000000500000000));
}

static void other_tables_are_no_metrics(void **state)
{
    (void)state;
    static const char *const heads[] = {"step,time\n1,2\n", "name,loss\na,2\n", "epoch,x\n1,2\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const struct format *format = format_find(str_of(heads[i]), STR("x.csv"));
        assert_true(!format || strcmp(format->name, "metrics-csv") != 0);
    }
}

static void nemo_may_print_no_times(void **state)
{
    (void)state;
    read_file(STR("Training epoch 0, iteration 1/9 | lr: 0.0006 | consumed_samples: 64 | "
                  "global_batch_size: 32 | global_step: 1 | reduced_train_loss: 9.761\n"),
              "a.log");
    assert_int_equal(evidence.log.steps[0].step, 1);
    assert_value("nemo", 0, LOG_LOSS, 9.761);
}

static void data_sets_are_named_before_they_are_read(void **state)
{
    (void)state;
    read_file(STR("Building MockGPTDataset splits with sizes=(100, 0, 0)\n"
                  "iteration 1/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 |\n"),
              "a.log");
    assert_int_equal(evidence.setting_count, 1);
    assert_true(str_equal(evidence.settings[0].name, STR("dataset_name")));
    assert_true(str_equal(evidence.settings[0].value, STR("MockGPTDataset")));
}

static void a_bar_of_another_loop_is_no_step(void **state)
{
    (void)state;
    read_file(STR("Epoch 0:  12%|#  | 3/25 [00:03<00:26, 0.80it/s, loss=2.5]\n"
                  "Evaluating:  10%|#  | 1/10 [00:03<00:26, 0.80it/s, loss=9.5]\n"
                  "Validation Epoch 0:  10%|#  | 1/10 [00:03<00:26, 0.80it/s, loss=9.5]\n"
                  "Epoch 0:  16%|#  | 4/25 [00:04<00:25, 0.80it/s, loss=2.4]\n"),
              "a.log");
    assert_int_equal(evidence.log.step_count, 2);
    assert_value("lightning", 1, LOG_LOSS, 2.4);
}

static void a_bar_on_the_line_of_the_figures_is_theirs(void **state)
{
    (void)state;
    static const char text[] =
        "\r  2%|#  | 10/50 [00:01<00:10, 1.9it/s]{'loss': 2.0, 'epoch': 0.2}\n"
        "\r  4%|#  | 12/50 [00:02<00:10, 1.9it/s]"
        "\r  6%|#  | 20/50 [00:02<00:10, 1.9it/s]{'loss': 1.9, 'epoch': 0.4}\n"
        "{'train_runtime': 26.1, 'train_loss': 1.8, 'epoch': 1.0}\n";
    read_file(str_of(text), "a.log");
    assert_int_equal(evidence.log.step_count, 2);
    assert_int_equal(evidence.log.steps[0].step, 10);
    assert_int_equal(evidence.log.steps[1].step, 20);
}

// Of Trainer 5 on an H100: the bar stood at 54 when step 55 was printed, and its rate was still
// that of the slow start.
static void steps_at_even_distances_have_the_number_of_the_next_bar(void **state)
{
    (void)state;
    static const char text[] =
        " 72%|#| 43/60 [00:04<00:00, 20.75it/s]\r"
        "{'loss': '7.589', 'epoch': '0.75', 'train_runtime': '4.515'}\n"
        " 75%|#| 45/60 [00:04<00:00, 20.75it/s]\r 80%|#| 48/60 [00:04<00:00, 26.50it/s]\r"
        "{'loss': '7.576', 'epoch': '0.8333', 'train_runtime': '4.606'}\n"
        " 83%|#| 50/60 [00:04<00:00, 26.50it/s]\r 90%|#| 54/60 [00:04<00:00, 32.17it/s]\r"
        "{'loss': '7.577', 'epoch': '0.9167', 'train_runtime': '4.699'}\n"
        " 92%|#| 55/60 [00:04<00:00, 32.17it/s]\r 98%|#| 59/60 [00:04<00:00, 32.23it/s]\r"
        "{'loss': '7.583', 'epoch': '1', 'train_runtime': '4.871'}\n"
        "100%|#| 60/60 [00:04<00:00, 32.23it/s]\r";
    read_file(str_of(text), "a.log");
    const struct log_step *steps = evidence.log.steps;
    assert_int_equal(evidence.log.step_count, 4);
    assert_int_equal(steps[1].step, 50);
    assert_int_equal(steps[2].step, 55);
    assert_int_equal(steps[3].step, 60);
    assert_value("trainer", 3, LOG_RUN_S, 4.871);
    assert_false(log_step_has(&steps[3], LOG_STEP_S));
}

static void deepspeed_and_megatron_may_print_the_same_step(void **state)
{
    (void)state;
    static const char text[] =
        "[rank 3] 0/10, RunningAvgSamplesPerSec=100.5, CurrSamplesPerSec=98.25\n"
        "iteration 10/ 50 | elapsed time per iteration (ms): 59.0 | lm loss: 2.5 | tokens per gpu "
        "per second (tgs): 2200.5 |\n";
    read_file(str_of(text), "a.log");
    const struct log_step *steps = evidence.log.steps;
    assert_int_equal(evidence.log.step_count, 2);
    assert_false(steps[0].more);
    assert_true(steps[1].more);
    assert_int_equal(steps[1].step, 10);
    assert_int_equal(steps[1].rank, steps[0].rank);
    assert_value("timer", 0, LOG_SAMPLES_PER_S, 98.25);
    assert_value("iteration", 1, LOG_STEP_S, 0.059);
    assert_value("iteration", 1, LOG_TOKENS_PER_S, 2200.5);
    assert_true(str_equal(evidence.source, STR("megatron-lm"))); // which has the loss
}

// DeepSpeed's timer prints before the trainer moves its bar, and that before the figures.
static void a_timer_before_the_figures_is_of_the_same_step(void **state)
{
    (void)state;
    static const char text[] =
        "global_step=10, RunningAvgSamplesPerSec=25.5, CurrSamplesPerSec=25.7\n"
        "\r  5%|#| 10/200 [00:10<03:10, 1.0s/it]\r{'loss': 2.5, 'epoch': 0.1}\n"
        "global_step=20, RunningAvgSamplesPerSec=25.5, CurrSamplesPerSec=25.7\n"
        "\r 10%|#| 20/200 [00:20<03:00, 1.0s/it]\r{'loss': 2.4, 'epoch': 0.2}\n"
        "global_step=30, RunningAvgSamplesPerSec=25.5, CurrSamplesPerSec=25.7\n"
        "\r 15%|#| 30/200 [00:30<02:50, 1.0s/it]\r{'loss': 2.3, 'epoch': 0.3}\n";
    read_file(str_of(text), "a.log");
    const struct log_step *steps = evidence.log.steps;
    assert_int_equal(evidence.log.step_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(steps[i].step, (int64_t)(i / 2 + 1) * 10);
        assert_int_equal(steps[i].more, i % 2);
    }
    assert_value("the last", 5, LOG_LOSS, 2.3);
    assert_true(str_equal(evidence.source, STR("hf-trainer")));
}

static void a_timer_numbers_figures_without_a_bar(void **state)
{
    (void)state;
    static const char text[] =
        "global_step=10, RunningAvgSamplesPerSec=25.5\n{'loss': 2.5, 'epoch': 0.1}\n"
        "global_step=20, RunningAvgSamplesPerSec=25.5\n{'loss': 2.4, 'epoch': 0.2}\n";
    read_file(str_of(text), "a.log");
    assert_int_equal(evidence.log.step_count, 4);
    assert_int_equal(evidence.log.steps[1].step, 10);
    assert_int_equal(evidence.log.steps[2].step, 20);
    assert_int_equal(evidence.log.steps[3].step, 20);
    assert_false(evidence.log.steps[2].more);
}

// LLaMA-Factory's callback and the trainer both print the figures of a step.
static void two_dicts_behind_a_bar_are_one_step(void **state)
{
    (void)state;
    static const char text[] =
        "\r  3%|#| 1/30 [00:01<00:30, 1.0s/it]\r[INFO] >> {'loss': 2.5000, 'epoch': 0.10}\n"
        "{'loss': 2.5, 'grad_norm': 1.5, 'epoch': 0.1}\n"
        "\r  6%|#| 2/30 [00:02<00:29, 1.0s/it]\r[INFO] >> {'loss': 2.4000, 'epoch': 0.20}\n"
        "{'loss': 2.4, 'grad_norm': 1.4, 'epoch': 0.2}\n"
        "\r 10%|#| 3/30 [00:03<00:28, 1.0s/it]\r[INFO] >> {'loss': 2.3000, 'epoch': 0.30}\n"
        "{'loss': 2.3, 'grad_norm': 1.3, 'epoch': 0.3}\n";
    read_file(str_of(text), "a.log");
    assert_int_equal(evidence.log.step_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(evidence.log.steps[i].step, (int64_t)i / 2 + 1);
        assert_int_equal(evidence.log.steps[i].more, i % 2);
    }
}

static void equal_figures_of_two_steps_are_two_steps(void **state)
{
    (void)state;
    static const char text[] = "{'loss': 0.0, 'grad_norm': 0.0, 'epoch': 0.0}\n"
                               "{'loss': 0.0, 'grad_norm': 0.0, 'epoch': 0.0}\n";
    read_file(str_of(text), "a.log");
    assert_int_equal(evidence.log.step_count, 2);
    assert_false(evidence.log.steps[1].more);
}

static void research_codes_print_steps_too(void **state)
{
    (void)state;
    read_file(STR("step 0: train loss 10.98, val loss 10.99\n"
                  "iter 0: loss 10.9886, time 36212.85ms, mfu -100.00%\n"
                  "iter 10: loss 9.9000, time 564.14ms, mfu 38.85%\n"),
              "a.log");
    assert_int_equal(evidence.log.step_count, 2);
    assert_int_equal(evidence.log.steps[1].step, 10);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_MFU));
    assert_value("nanoGPT", 1, LOG_LOSS, 9.9);
    assert_value("nanoGPT", 1, LOG_STEP_S, 0.56414);
    assert_value("nanoGPT", 1, LOG_MFU, 0.3885);
    forget();
    read_file(
        STR("step    7/19560 | loss 10.90 (+nanz)| norm 15.30 (+nanz)| lr 8.60e-07 | 1235.50 ms "
            "| 50.1% bf16 MFU | 424243 tok/s\n"),
        "a.log");
    assert_int_equal(evidence.log.steps[0].step, 7);
    assert_value("llm.c", 0, LOG_LOSS, 10.9);
    assert_value("llm.c", 0, LOG_GRAD_NORM, 15.3);
    assert_value("llm.c", 0, LOG_STEP_S, 1.2355);
    assert_value("llm.c", 0, LOG_MFU, 0.501);
    assert_value("llm.c", 0, LOG_JOB_TOKENS_PER_S, 424243);
    forget();
    read_file(STR("\x1b[36m(TaskRunner pid=16292)\x1b[0m step:2 - actor/pg_loss:0.001 - "
                  "perf/mfu/actor:0.298 - perf/max_memory_reserved_gb:2.0 - "
                  "training/global_step:2.000 - timing_s/gen:74.1 - timing_s/step:96.6 - "
                  "perf/throughput:5667.1\n"),
              "a");
    assert_int_equal(evidence.log.steps[0].step, 2);
    assert_value("verl", 0, LOG_STEP_S, 96.6);
    assert_value("verl", 0, LOG_TOKENS_PER_S, 5667.1);
    assert_value("verl", 0, LOG_MEMORY_BYTES, 2147483648);
    forget();
    read_file(STR("step:1 - actor/pg_loss:np.float64(-0.25) - actor/lr:np.float64(1e-06) - "
                  "timing_s/step:96.6 - perf/throughput:5667.1\n"),
              "a");
    assert_value("verl with NumPy 2", 0, LOG_LOSS, -0.25);
    assert_value("verl with NumPy 2", 0, LOG_LEARNING_RATE, 1e-6);
    forget();
    read_file(STR("Step 3 | loss:1.5971 lr:2e-05 gpu_resources:40600000003 \n"), "a.log");
    assert_value("torchtune", 0, LOG_LOSS, 1.5971);
    assert_value("torchtune", 0, LOG_LEARNING_RATE, 2e-5);
}

// logrotate empties a file that its writer goes on with where it was.
static void a_log_may_begin_with_a_hole(void **state)
{
    (void)state;
    struct buf text = {0};
    for (int i = 0; i < 9000; i++)
        buf_putc(&text, '\0');
    buf_puts(&text, MEGATRON "\n");
    read_file((struct str){text.at, text.len}, "a.log");
    assert_int_equal(evidence.log.step_count, 1);
    assert_int_equal(evidence.log.nul_bytes, 9000);
    forget();
    read_file((struct str){text.at + 8000, text.len - 8000}, "job7"); // its content is seen
    assert_int_equal(evidence.log.step_count, 1);
    buf_free(&text);
}

static void a_job_that_failed_before_its_first_step_says_why(void **state)
{
    (void)state;
    read_file(STR("CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has\n"), "a.log");
    assert_int_equal(evidence.log.step_count, 0);
    assert_int_equal(evidence.log.events[0].kind, LOG_FAULT);
}

// Each GPU has its own fault in the kernel's log; a link's and a launcher's count once.
static void faults_of_gpus_links_and_launchers_are_kept(void **state)
{
    (void)state;
    static const char *const faults[] = {
        "NVRM: Xid (PCI:0000:dc:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:ed:00): 45, pid=7, name=python3, Ch 00000001",
        "amdgpu 0000:0c:00.0: amdgpu: GPU reset begin!",
        "Out of memory: Killed process 4242 (python3) total-vm:1kB",
        "ib.c:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4> with status=12",
        "failed (exitcode: -9) local_rank: 3 (pid: 7) of binary: p",
    };
    read_file(STR("[ 1843.1] NVRM: Xid (PCI:0000:dc:00): 79, GPU has fallen off the bus.\n"
                  "[ 1843.2] NVRM: Xid (PCI:0000:ed:00): 45, pid=7, name=python3, Ch 00000001\n"
                  "[ 1843.3] amdgpu 0000:0c:00.0: amdgpu: GPU reset begin!\n"
                  "[ 1843.4] Out of memory: Killed process 4242 (python3) total-vm:1kB\n"
                  "a:1:2 [4] ib.c:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4> with "
                  "status=12\n"
                  "a:1:2 [5] ib.c:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4> with "
                  "status=12\n"
                  "torch/distributed/api.py:826] failed (exitcode: -9) local_rank: 3 (pid: 7) of "
                  "binary: p\n"),
              "dmesg.txt");
    assert_int_equal(evidence.log.event_count, sizeof faults / sizeof *faults);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(evidence.log.events[i].kind, LOG_FAULT);
        assert_true(str_equal(evidence.log.events[i].text, str_of(faults[i])));
    }
}

static void assert_refused(struct str text, const char *word)
{
    struct err err = {.pos = ERR_NO_POS};
    struct source *source = source_mem_open(text.at, text.len, 0, &err);
    struct format_input input = {
        .head = text, .source = source, .budget = &budget, .evidence = &evidence};
    assert_false(format_find(text, STR("a.log"))->gather(&input, &err));
    assert_non_null(strstr(err.msg, word));
    source_close(source);
}

static void what_is_no_log_says_what_to_send(void **state)
{
    (void)state;
    assert_refused(STR("def evaluate(model):\n    return {'eval_loss': loss / len(loader)}\n"),
                   "events.out.tfevents");
    assert_refused(STR("n1:4110:4110 [0] NCCL INFO Bootstrap : Using ib0\n"), "NCCL_DEBUG=INFO");
    assert_refused(STR("procs -----------memory---------- ---swap--\n"), "vmstat");
    assert_refused(STR("GPU: 0\n    USAGE:\n        GFX_ACTIVITY: 0 %\n"), "--csv -w 1");
    assert_refused(STR("=== ROCm System Management Interface ===\n"), "--showmemuse --json");
    assert_refused(STR("  Count    Size      Time, us        Bandwidth, GB/s\n"), "nvbandwidth");
    assert_refused(STR("# OSU MPI-CUDA Allreduce Latency Test v7.5\n"), "nccl-tests");
    assert_refused(STR("Job ID: 8812\nCPU Efficiency: 6.03% of 01:01:01\n"), "use sacct");
    assert_refused(STR("Process 7: python train.py\nThread 7 (idle): \"MainThread\"\n"),
                   "py-spy record");
    assert_refused(STR(":::MLLOG {\"key\": \"train_loss\"}\n"), "MLPerf");
    assert_refused(STR("| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04 |\n"),
                   "nvidia-smi --query-gpu=");
    assert_refused(STR("Epoch 1/5\n390/390 [====] - 26s 68ms/step - loss: 1.3\n"), "CSVLogger");
    assert_refused(STR("  Epoch    GPU_mem   box_loss\n   1/25     0.721G   1.222\n"), "yolo");
    assert_refused(STR("Train epoch [1/1]: 50%|#| 1/2 [00:02<00:02, pg=0.1]\n"), "tensorboard");
    assert_refused(STR("Progress on:train 1.23kit/10.0kit rate:1.2s/it remaining:2:51\n"), "W&B");
    assert_refused(STR("INFO Avg generation throughput: 3.6 tokens/s\n"), "vLLM");
    assert_refused(STR("train.py:6 step:1K smpl:9K loss:0.064 lr:3.0e-05 updt_s:0.094\n"),
                   "rounds");
    assert_refused(STR("GPU available: True (cuda), used: True\nEpoch 1/1\n"), "metrics.csv");
}

static void bars_are_counted_once_whatever_marks_them(void **state)
{
    (void)state;
    struct err err = {.pos = ERR_NO_POS};
    struct buf json = {0};
    struct arena arena;
    struct str text = STR("Epoch 0:  12%|#  | 3/25 [00:03<00:26, 0.80it/s, loss=2.5]\n"
                          "Epoch 0:  16%|#  | 4/25 [00:04<00:25, 0.80it/s, loss=2.4]\n");
    const struct format *format = format_find(text, STR("a.log"));
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(text.at, text.len, 0, &err);
    assert_true(format->count(&input, &err));
    figures_json(&figures, &json);
    buf_putc(&json, '\0');
    assert_non_null(strstr(json.at, "\"lightning\":2"));
    buf_free(&json);
    source_close(input.source);
    arena_free(&arena);
}

// What a container wrote, in pieces of a few bytes.
static void read_container(struct str text)
{
    struct err err = {.pos = ERR_NO_POS};
    struct format_hint hint = {.filename = STR("0.log"), .scratch = {-1, 0}};
    struct format_found found;
    struct source *source = source_mem_open(text.at, text.len, 7, &err);
    source = format_open(source, &hint, &found, &err);
    assert_non_null(source);
    assert_int_equal(found.layer_count, 1);
    assert_string_equal(found.layers[0]->name, "container-log");
    assert_string_equal(found.format->name, "training-log");
    struct format_input input = {.source = source, .budget = &budget, .evidence = &evidence};
    if (!found.format->gather(&input, &err))
        fail_msg("%s: %s", text.at, err.msg);
    source_close(source);
}

static void an_event_is_what_was_written_after_all_prefixes(void **state)
{
    (void)state;
    read_file(STR("iteration 1/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 |\n"
                  "demo/0 [default0]:[NeMo I 2025-03-07 22:35:29 model_checkpoint:522] Async "
                  "checkpoint save for step 20 [a] - b\n"
                  "[rank0]:[titan] 2026-01-16 07:32:01,123 - root - INFO - Dumping traces at 10\n"
                  "{'eval_loss': 2.5}\n"),
              "a.log");
    assert_int_equal(evidence.log.event_count, 3);
    assert_true(
        str_equal(evidence.log.events[0].text, STR("Async checkpoint save for step 20 [a] - b")));
    assert_true(str_equal(evidence.log.events[1].text, STR("Dumping traces at 10")));
    assert_true(str_equal(evidence.log.events[2].text, STR("{'eval_loss': 2.5}")));
}

#define SECOND INT64_C(1000000000)

static void docker_s_lines_are_read_as_what_was_written(void **state)
{
    (void)state;
    read_container(
        STR("{\"log\":\"[rank2]:[titan] 2026-01-16 16:32:01,123 - root - INFO - "
            "\\u001b[31mstep:  1  \\u001b[32mloss: 11.00000  \\u001b[34mmemory: 47.10GiB(59.1%)  "
            "\\u001b[36mtps: 7,123\\u001b[39m\\n\",\"stream\":\"stderr\","
            "\"time\":\"2026-01-16T07:32:01.5Z\"}\n"
            "{\"log\":\"Traceback (most recent call last):\\n\",\"stream\":\"stderr\","
            "\"time\":\"2026-01-16T07:32:02Z\"}\n"
            "{\"log\":\"  File \\\"train.py\\\", line 3\\n\",\"stream\":\"stderr\","
            "\"time\":\"2026-01-16T07:32:02Z\"}\n"
            "{\"log\":\"ValueError: no data\\n\",\"stream\":\"stderr\","
            "\"time\":\"2026-01-16T07:32:02Z\"}\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_value("", 0, LOG_LOSS, 11);
    assert_value("", 0, LOG_TOKENS_PER_S, 7123);
    assert_int_equal(evidence.log.steps[0].rank, 2);
    assert_int_equal(evidence.log.steps[0].time_ns, 1768548721 * SECOND + SECOND / 2);
    assert_true(evidence.log.utc);
    assert_int_equal(evidence.log.event_count, 1);
    assert_int_equal(evidence.log.events[0].kind, LOG_FAULT);
}

static void metrics_with_a_text_and_a_time_are_no_container_s(void **state)
{
    (void)state;
    struct str text = STR("{\"log\":\"train\",\"time\":\"2026-01-16T07:32:01Z\",\"step\":1,"
                          "\"loss\":2.5}\n");
    assert_string_not_equal(format_find(text, STR("m.jsonl"))->name, "container-log");
}

static void pieces_of_a_line_of_kubernetes_are_joined(void **state)
{
    (void)state;
    read_container(
        STR("2026-01-16T16:32:01.5+09:00 stdout F some words\n"
            "2026-01-16T16:32:01.5+09:00 stdout P 3: iteration 5/ 9 | elapsed time per itera\n"
            "2026-01-16T16:32:02.5+09:00 stdout F tion (ms): 10.0 | lm loss: 9.0 |\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_value("", 0, LOG_STEP_S, 0.01);
    assert_value("", 0, LOG_LOSS, 9);
    assert_int_equal(evidence.log.steps[0].rank, 3);
    assert_int_equal(evidence.log.steps[0].time_ns, 1768548721 * SECOND + SECOND / 2);
}

static void long_lines_of_docker_are_one_line(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "{\"log\":\"");
    for (size_t i = 0; i < 16 << 10; i++)
        buf_putc(&text, 'x');
    for (int i = 5; i < 7; i++) // the first follows what is longer than any step
        buf_printf(&text,
                   "%s iteration %d/ 9 | elapsed time per iteration (ms): 1%d.0 | lm loss: 8.0 |"
                   "\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-16T07:32:01Z\"}\n",
                   i == 5 ? "\",\"stream\":\"stdout\",\"time\":\"\"}\n{\"log\":\"" : "{\"log\":\"",
                   i, i);
    assert_false(text.failed);
    read_container((struct str){text.at, text.len});
    buf_free(&text);
    assert_int_equal(evidence.log.step_count, 1);
    assert_value("", 0, LOG_STEP_S, 0.016);
}

static void other_words_before_a_data_set_are_no_name(void **state)
{
    (void)state;
    read_file(STR("Loading dataset from /data\nReading the dataset from /data\n"
                  "Preparing c4 dataset from allenai/c4\n"
                  "iteration 1/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 |\n"),
              "a.log");
    assert_int_equal(evidence.setting_count, 1);
    assert_true(str_equal(evidence.settings[0].value, STR("c4")));
}

// As axolotl's: figures follow the bar of their step, wherever a block of the file ends.
static void a_bar_at_the_end_of_a_block_numbers_what_follows(void **state)
{
    (void)state;
    enum { STEPS = 40 };
    char text[STEPS * 128];
    size_t len = 0;
    for (int i = 1; i <= STEPS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "\r %2d%%|###  | %d/40 [00:%02d<00:00,  5.00s/it]\n"
                                "{'loss': 1.5, 'grad_norm': 1.5, 'epoch': 0.%02d}\n",
                                i * 5 / 2, i, i, i);
    for (size_t bytes = 90; bytes < 700; bytes += 61) {
        forget();
        read_pieces((struct str){text, len}, "train.log", bytes);
        assert_int_equal(evidence.log.step_count, STEPS);
        for (int i = 0; i < STEPS; i++)
            assert_int_equal(evidence.log.steps[i].step, i + 1);
    }
}

static void nanotron_counts_in_giga(void **state)
{
    (void)state;
    static const char line[] =
        "10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: iteration: 327281 / 378950 | consumed_tokens: "
        "85.8G | elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K | "
        "tokens_per_sec_per_gpu: 11.4K | lm_loss: 2.38 | model_tflops_per_gpu: 38.3\n";
    read_file(str_of(line), "train.log");
    assert_value(line, 0, LOG_CONSUMED_TOKENS, 85.8e9);
    assert_value(line, 0, LOG_STEP_S, 11.5);
    assert_value(line, 0, LOG_TFLOPS, 38.3);
}

static void torchtune_has_a_log_of_its_own(void **state)
{
    (void)state;
    static const char line[] =
        "Step 7 | loss:1.95 lr:2e-05 tokens_per_second_per_gpu:3012.5 grad_norm:1.1 "
        "peak_memory_active:22.5 peak_memory_alloc:22.4 peak_memory_reserved:24.0 \n";
    read_file(str_of(line), "log_1718000000.txt");
    assert_int_equal(evidence.log.steps[0].step, 7);
    assert_value(line, 0, LOG_LOSS, 1.95);
    assert_value(line, 0, LOG_TOKENS_PER_S, 3012.5);
    assert_value(line, 0, LOG_MEMORY_BYTES, 24.0 * 1024 * 1024 * 1024);
}

static void neox_names_its_figures_in_its_own_way(void **state)
{
    (void)state;
    static const char line[] =
        " samples/sec: 7.799 | iteration       34/   10000 | elapsed time per iteration (ms): "
        "4103.1 | learning rate: 2.111E-06 | approx flops per GPU: 112.9TFLOPS | lm_loss: "
        "1.118665E+01 | number of skipped iterations:   0 | number of nan iterations:   0 |\n";
    read_file(str_of(line), "train.log");
    assert_int_equal(evidence.log.steps[0].step, 34);
    assert_value(line, 0, LOG_SAMPLES_PER_S, 7.799);
    assert_value(line, 0, LOG_TFLOPS, 112.9);
    assert_value(line, 0, LOG_LOSS, 11.18665);
}

static void assert_setting(const char *name, const char *value)
{
    for (size_t i = 0; i < evidence.setting_count; i++)
        if (str_equal(evidence.settings[i].name, str_of(name))) {
            assert_true(str_equal(evidence.settings[i].value, str_of(value)));
            return;
        }
    fail_msg("no %s", name);
}

#define STEP_LINE "step: 1  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"

static void parts_of_the_model_are_settings(void **state)
{
    (void)state;
    read_file(STR("trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: "
                  "0.0622\n" STEP_LINE),
              "train.log");
    assert_setting("trainable_parameters", "4,194,304");
    assert_setting("model_parameters", "6,742,609,920");
    forget();
    read_file(STR("Trainable parameters = 41,943,040 of 8,072,204,288 (0.52% trained)\n"
                  "[rank0] Total parameter count: dense 1,234, sparse 15,000, active "
                  "2,345\n" STEP_LINE),
              "train.log");
    assert_setting("trainable_parameters", "41,943,040");
    assert_setting("model_parameters", "8,072,204,288");
    assert_setting("active_parameters", "2,345");
    forget();
    read_file(STR(" > number of parameters on (tensor, pipeline) model parallel rank (0, "
                  "0): 504889344\n > number of parameters on (tensor, pipeline) model "
                  "parallel rank (0 ,1): 504888320\n" STEP_LINE),
              "train.log");
    assert_setting("rank_parameters", "504889344");
    assert_setting("rank_parameters.0.0", "504889344");
    assert_setting("rank_parameters.0.1", "504888320");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bar_at_the_end_of_a_block_numbers_what_follows),
        TEST(nanotron_counts_in_giga),
        TEST(torchtune_has_a_log_of_its_own),
        TEST(neox_names_its_figures_in_its_own_way),
        TEST(parts_of_the_model_are_settings),
        TEST(a_line_is_read_behind_whatever_a_launcher_prints),
        TEST(other_spellings_are_the_same_figures),
        TEST(nemo_may_print_no_times),
        TEST(data_sets_are_named_before_they_are_read),
        TEST(a_bar_of_another_loop_is_no_step),
        TEST(a_bar_on_the_line_of_the_figures_is_theirs),
        TEST(steps_at_even_distances_have_the_number_of_the_next_bar),
        TEST(a_job_that_failed_before_its_first_step_says_why),
        TEST(faults_of_gpus_links_and_launchers_are_kept),
        TEST(what_is_no_log_says_what_to_send),
        TEST(bars_are_counted_once_whatever_marks_them),
        TEST(an_event_is_what_was_written_after_all_prefixes),
        TEST(docker_s_lines_are_read_as_what_was_written),
        TEST(metrics_with_a_text_and_a_time_are_no_container_s),
        TEST(pieces_of_a_line_of_kubernetes_are_joined),
        TEST(long_lines_of_docker_are_one_line),
        TEST(other_words_before_a_data_set_are_no_name),
        TEST(research_codes_print_steps_too),
        TEST(a_log_may_begin_with_a_hole),
        TEST(deepspeed_and_megatron_may_print_the_same_step),
        TEST(a_timer_before_the_figures_is_of_the_same_step),
        TEST(a_timer_numbers_figures_without_a_bar),
        TEST(two_dicts_behind_a_bar_are_one_step),
        TEST(equal_figures_of_two_steps_are_two_steps),
        TEST(times_of_a_history_are_utc),
        TEST(other_tables_are_no_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
