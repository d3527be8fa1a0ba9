// SPDX-License-Identifier: Apache-2.0
// Training logs: the lines of every framework, what stands around them, and lines that are no step.
#include "ingest/evidence/evidence.h"
#include "ingest/base/buf.h"
#include "ingest/source/format.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

extern const struct format format_training_log;

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

static bool gather(struct str text, struct err *err)
{
    *err = (struct err){.pos = ERR_NO_POS};
    struct source *source = source_mem_open(text.at, text.len, 0, err);
    assert_non_null(source);
    struct format_input input = {.source = source, .budget = &budget, .evidence = &evidence};
    bool ok = format_training_log.gather(&input, err);
    source_close(source);
    return ok;
}

// The only step of a log.
static const struct log_step *step_in(const char *text)
{
    struct err err;
    if (!gather(str_of(text), &err))
        fail_msg("%s", err.msg);
    assert_int_equal(evidence.log.step_count, 1);
    return &evidence.log.steps[0];
}

static void assert_value(const struct log_step *step, enum log_value value, double wanted)
{
    assert_true(log_step_has(step, value));
    double found = step->values[value];
    if (!(fabs(found - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("value %d: found %.17g, expected %.17g", value, found, wanted);
}

static void assert_no_step(const char *text)
{
    struct err err;
    assert_false(gather(str_of(text), &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_int_equal(evidence.log.step_count, 0);
}

// --- frameworks ---------------------------------------------------------------------------------

static void megatron_has_its_figures_by_name(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        " [2026-11-20 08:00:01.250000] iteration       17/     200 | consumed samples:         2176"
        " | elapsed time per iteration (ms): 5973.4 | throughput per GPU (TFLOP/s/GPU): 334.1 |"
        " learning rate: 1.200000E-04 | global batch size:   128 | lm loss: 1.042000E+01 | loss "
        "scale: 1.0 | grad norm: 1.240 | number of skipped iterations:   3 | number of nan "
        "iterations:   1 |\n");
    assert_int_equal(step->step, 17);
    assert_string_equal(step->writer, "megatron");
    assert_true(step->time_ns == INT64_C(1795161601250000000));
    assert_value(step, LOG_STEP_S, 5.9734);
    assert_value(step, LOG_TFLOPS, 334.1);
    assert_value(step, LOG_LEARNING_RATE, 1.2e-4);
    assert_value(step, LOG_GLOBAL_BATCH, 128);
    assert_value(step, LOG_LOSS, 10.42);
    assert_value(step, LOG_GRAD_NORM, 1.24);
    assert_value(step, LOG_SKIPPED, 3);
    assert_value(step, LOG_NAN, 1);
    assert_value(step, LOG_CONSUMED_SAMPLES, 2176);
}

static void primus_prints_the_current_value_first(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        "[20261120 08:00:01][rank-7/8][INFO     ] [trainer.py:100] :  iteration  5/ 50 | "
        "elapsed time per iteration (ms): 5900.0/6100.5 | hip mem usage/free/total/"
        "usage_ratio: 140.5GB/51.2GB/191.7GB/73.3% | tokens per GPU (tokens/s/GPU): "
        "7140.6/7001.2 | compute per GPU (TFLOP/s/GPU): 401.5 (avg 390.2) | lm loss: 2.5 |");
    assert_int_equal(step->rank, 7);
    assert_value(step, LOG_STEP_S, 5.9);
    assert_value(step, LOG_MEMORY_BYTES, 140.5 * 0x1p30);
    assert_value(step, LOG_TOKENS_PER_S, 7140.6);
    assert_value(step, LOG_TFLOPS, 401.5);
}

static void a_loss_that_is_no_number_differs_from_none(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("iteration 5/ 50 | elapsed time per iteration (ms): 59.0 | lm loss: NaN |");
    assert_true(log_step_has(step, LOG_LOSS) && isnan(step->values[LOG_LOSS]));
    assert_false(log_step_has(step, LOG_GRAD_NORM));
}

static void torchtitan_is_read_through_its_colors(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("[rank3]:[titan] 2026-11-20 08:00:01,500 - root - INFO - \x1b[31mstep: 10  "
                "\x1b[32mloss:  8.1234  \x1b[38mgrad_norm:  1.5  \x1b[34mmemory: 45.25GiB(56.77%)  "
                "\x1b[34mtps: 7,123  \x1b[36mtflops: 1,412.5  \x1b[35mmfu: 41.5%\x1b[39m\n");
    assert_int_equal(step->step, 10);
    assert_int_equal(step->rank, 3);
    assert_true(step->time_ns == INT64_C(1795161601500000000));
    assert_value(step, LOG_LOSS, 8.1234);
    assert_value(step, LOG_MEMORY_BYTES, 45.25 * 0x1p30);
    assert_value(step, LOG_TOKENS_PER_S, 7123);
    assert_value(step, LOG_TFLOPS, 1412.5);
    assert_value(step, LOG_MFU, 0.415);
}

static void colors_without_their_escape_and_older_words_are_read(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("0: 2026-11-20 08:00:01,500 - root - INFO - [36mstep:  1  [32mloss: 12.5  "
                "[33mmemory: 9.5GiB(10.0%)  [34mwps: 1,024  [35mmfu: N/A[39m\n");
    assert_int_equal(step->rank, 0);
    assert_value(step, LOG_TOKENS_PER_S, 1024);
    assert_false(log_step_has(step, LOG_MFU));
}

static void an_evaluation_of_torchtitan_is_no_step(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("step: 10  loss:  3.1  memory:  9.5GiB(10.0%)  tps: 900\n"
                           "validate step: 10  loss:  3.5  memory:  9.5GiB(10.0%)  tps: 900\n"),
                       &err));
    assert_int_equal(evidence.log.step_count, 1);
    assert_int_equal(evidence.log.event_count, 1);
    assert_int_equal(evidence.log.events[0].kind, LOG_EVALUATION);
    assert_true(evidence.log.events[0].loss == 3.5);
}

static void deepspeed_prints_the_whole_job(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("[2026-11-20 08:00:01,250] [INFO] [timer.py:215:stop] epoch=0/micro_step=20/"
                "global_step=10, RunningAvgSamplesPerSec=100.5, CurrSamplesPerSec=98.25, "
                "MemAllocated=3.0GB, MaxMemAllocated=8.5GB\n");
    assert_int_equal(step->step, 10);
    assert_value(step, LOG_SAMPLES_PER_S, 98.25);
    assert_value(step, LOG_MEAN_SAMPLES_PER_S, 100.5);
}

static void older_deepspeed_has_its_step_alone(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("[INFO 2026-11-20 08:00:01] 0/50, SamplesPerSec=1284.5\n");
    assert_int_equal(step->step, 50);
    assert_value(step, LOG_MEAN_SAMPLES_PER_S, 1284.5);
}

static void nemo_counts_by_its_global_step(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("(pretraining, pid=123) Training epoch 0, iteration 3/99 | lr: 1.5e-07 | "
                "global_batch_size: 512 | global_step: 13 | reduced_train_loss: 11.03 | "
                "train_step_timing in s: 7.6 | consumed_samples: 7168\n");
    assert_int_equal(step->step, 13);
    assert_value(step, LOG_STEP_S, 7.6);
    assert_value(step, LOG_LOSS, 11.03);
}

// "Per GPU" is the job's divided by the copies of the model, not by the GPUs.
static void automodel_prints_a_copy_of_the_model_in_brackets(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        "2026-11-20 08:00:01 | INFO | root | step 7 | epoch 0 | loss 2.1234 | grad_norm "
        "1.5 | lr 1.00e-05 | mem 12.50 GiB | tps 8192.50(1024.25/gpu) | num_label_tokens 9");
    assert_int_equal(step->step, 7);
    assert_value(step, LOG_JOB_TOKENS_PER_S, 8192.5);
    assert_value(step, LOG_COPY_TOKENS_PER_S, 1024.25);
    assert_false(log_step_has(step, LOG_TOKENS_PER_S));
    assert_value(step, LOG_MEMORY_BYTES, 12.5 * 0x1p30);
}

static void a_progress_bar_numbers_and_times_what_is_printed_over_it(void **state)
{
    (void)state;
    static const char text[] =
        " 10%|#   | 9/100 [00:13<02:15, 1.50s/it]\r{'loss': 2.0, 'epoch': 0.1}\n"
        " 10%|#   | 10/100 [00:15<02:15, 1.50s/it]\r 20%|##  | 20/100 [00:30<02:00, "
        "2.00it/s]\r{'loss': 1.5, 'epoch': 0.2}\n 21%|##  | 21/100 [00:31<02:00, 2.00it/s]\n"
        "{'eval_loss': 1.2, 'epoch': 0.2}\n| 5/7 [00:01<00:01, 4.0it/s]\r"
        "{'loss': 1.2, 'epoch': 0.3}\n";
    struct err err;
    assert_true(gather(str_of(text), &err));
    const struct log_step *steps = evidence.log.steps;
    assert_int_equal(evidence.log.step_count, 3);
    assert_int_equal(steps[0].step, 9); // 10 may be the next one
    assert_value(&steps[0], LOG_STEP_S, 1.5);
    assert_int_equal(steps[1].step, 20);
    assert_value(&steps[1], LOG_STEP_S, 0.5);
    assert_true(steps[2].step == LOG_NO_STEP);
}

static void deepspeed_s_pipeline_has_a_line_of_its_own(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("steps: 10 loss: 6.5123 iter time (s): 1.250 samples/sec: 51.200\n");
    assert_int_equal(step->step, 10);
    assert_value(step, LOG_LOSS, 6.5123);
    assert_value(step, LOG_STEP_S, 1.25);
    assert_value(step, LOG_SAMPLES_PER_S, 51.2);
}

static void bars_of_lightning_need_no_version(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("Epoch 1:  12%|#  | 3/25 [00:03<00:26, 0.80it/s, loss=2.5]\n");
    assert_int_equal(step->step, 28);
    assert_value(step, LOG_LOSS, 2.5);
    assert_value(step, LOG_STEP_S, 1.25);
}

static void bars_of_nemo_1_have_their_loss_before_the_step(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("Epoch 0:   1%|  | 795/77225 [9:07:58<878:01:48, 41.36s/it, loss=3.1, v_num=, "
                "reduced_train_loss=3.090, global_step=794.0, consumed_samples=1.63e+6]\n");
    assert_int_equal(step->step, 794);
    assert_value(step, LOG_LOSS, 3.1);
    assert_value(step, LOG_STEP_S, 41.36);
}

static void primus_says_the_memory_of_the_rank_with_the_most(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("iteration 2/100 | elapsed time per iteration (ms): 5973.1/5990.2 | rocm mem "
                "usage/free/total/usage_ratio: 100.0GB/91.9GB/191.98GB/52.1% | rank-5 rocm max mem "
                "usage/usage_ratio: 150.0GB/78.2% | lm loss: 1.1E+01 |\n");
    assert_value(step, LOG_MEMORY_BYTES, 150 * 0x1p30);
}

static void months_may_come_first(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("11/20/2025 10:00:01 [INFO|DP=0|PP=0|TP=0]: iteration: 2 / 9 | "
                "elapsed_time_per_iteration_ms: 1.45K | lm_loss: 9.5 |\n");
    assert_int_equal(step->time_ns, INT64_C(1763632801) * 1000000000);
    assert_false(log_step_has(step, LOG_MEMORY_BYTES));
}

static void hugging_face_prints_dicts_after_progress(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("  1%|          | 10/1000 [00:05<08:15]\r{'loss': '2.0912', 'grad_norm': 1.25, "
                "'learning_rate': 5e-05, 'epoch': 0.02}\r  2%|x         | 11/1000\n"
                "{'train_runtime': 26.5, 'train_steps_per_second': '1.92', 'epoch': 1.0}\n");
    assert_int_equal(step->step, 10);
    assert_value(step, LOG_LOSS, 2.0912);
    assert_value(step, LOG_LEARNING_RATE, 5e-5);
    assert_int_equal(evidence.setting_count, 2);
    assert_true(str_equal(evidence.settings[1].value, STR("1.92")));
}

static void maxtext_is_read_key_by_key(void **state)
{
    (void)state;
    const struct log_step *step =
        step_in("completed step: 12, seconds: 0.319, TFLOP/s/device: 402.5, Tokens/s/device: "
                "9000.5, total_weights: 65536, loss: 9.75\n");
    assert_int_equal(step->step, 12);
    assert_value(step, LOG_STEP_S, 0.319);
    assert_value(step, LOG_TFLOPS, 402.5);
    assert_value(step, LOG_LOSS, 9.75);
}

static void nanotron_abbreviates_numbers(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        "11/20/2026 08:00:01 [INFO|DP=0]: iteration: 991 / 1000 | consumed_tokens: 634K | "
        "elapsed_time_per_iteration_ms: 45.5 | tokens_per_sec_per_gpu: 1.78K | lm_loss: 4.5\n");
    assert_int_equal(step->step, 991);
    assert_value(step, LOG_CONSUMED_TOKENS, 634e3);
    assert_value(step, LOG_TOKENS_PER_S, 1780);
}

static void the_two_lines_of_megatron_bridge_are_one_step(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        "job/0 Step Time : 9.09s GPU utilization: 663.5MODEL_TFLOP/s/GPU\n"
        "job/0  [2025-12-22 15:18:33] iteration       50/      50 | consumed samples:  25 | "
        "elapsed time per iteration (ms): 9089.0 | lm loss: 8.5E+00 |\n");
    assert_int_equal(step->step, 50);
    assert_string_equal(step->writer, "megatron");
    assert_value(step, LOG_TFLOPS, 663.5);
    assert_value(step, LOG_STEP_S, 9.089); // the first line rounds it
    assert_value(step, LOG_LOSS, 8.5);
}

static void the_most_memory_of_any_rank_is_that_of_the_step(void **state)
{
    (void)state;
    const struct log_step *step = step_in(
        "[Rank 1] (after 10 iterations) memory (MB) | allocated: 5.5 | max reserved: 200.0[Rank 2] "
        "(after 10 iterations) memory (MB) | allocated: 5.5 | max reserved: 300.0\n"
        "iteration 10/ 50 | elapsed time per iteration (ms): 59.0 |\n"
        "[Rank 0] (after 10 iterations) memory (MB) | allocated: 5.5 | max reserved: 250.0\n"
        "[Rank 0] (after 20 iterations) memory (MB) | allocated: 5.5 | max reserved: 900.0\n");
    assert_value(step, LOG_MEMORY_BYTES, 300.0 * 0x1p20);
}

static void ranks_may_print_the_same_steps_in_turns(void **state)
{
    (void)state;
    struct err err;
    struct buf text = {0};
    for (int i = 0; i < 6; i++)
        buf_printf(&text, "[rank%d]: step: %d  loss: 2.5  memory: 1GiB(1%%)  tps: 7\n", i % 2,
                   i / 2);
    assert_true(gather((struct str){text.at, text.len}, &err));
    assert_int_equal(evidence.log.step_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(evidence.log.steps[i].rank, i % 2);
        assert_int_equal(evidence.log.steps[i].step, i / 2);
    }
    buf_free(&text);
}

static void numbers_go_back_after_a_restart(void **state)
{
    (void)state;
    struct err err;
    static const int64_t steps[] = {1, 2, 3, 2, 3};
    struct buf text = {0};
    for (size_t i = 0; i < 5; i++)
        buf_printf(&text, "iteration %d/ 9 | elapsed time per iteration (ms): 5 |\n",
                   (int)steps[i]);
    assert_true(gather((struct str){text.at, text.len}, &err));
    assert_int_equal(evidence.log.step_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(evidence.log.steps[i].step, steps[i]);
    buf_free(&text);
}

// --- around steps -------------------------------------------------------------------------------

static void events_have_their_time_and_the_step_before(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                           "[GC] Peforming periodical GC collection. 0.06 seconds.\n"
                           "Finished saving the checkpoint (or staging if async is enabled) in "
                           "12.50 seconds.\n"
                           "Finished dumping profiler traces in 0.22 seconds\n"),
                       &err));
    const struct log_event *events = evidence.log.events;
    assert_int_equal(evidence.log.event_count, 3);
    assert_int_equal(events[0].kind, LOG_GARBAGE);
    assert_true(events[0].dur_ns == 60000000 && events[0].after_step == 10);
    assert_int_equal(events[1].kind, LOG_CHECKPOINT);
    assert_true(events[1].dur_ns == INT64_C(12500000000));
    assert_int_equal(events[2].kind, LOG_PROFILER);
}

static void a_fault_that_every_rank_reports_is_one(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("step: 9  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                           "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried\n"
                           "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried\n"
                           "step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                           "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried\n"),
                       &err));
    assert_int_equal(evidence.log.event_count, 2);
    assert_int_equal(evidence.log.events[0].rank, 0);
    assert_int_equal(evidence.log.events[1].after_step, 10);
}

static void an_end_completes_its_start(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                           "Saving the checkpoint (or staging if async is enabled).\n"
                           "Finished saving the checkpoint in 2.50 seconds.\n"
                           "successfully saved checkpoint from iteration 10 to /x\n"),
                       &err));
    assert_int_equal(evidence.log.event_count, 2);
    assert_true(evidence.log.events[0].dur_ns == INT64_C(2500000000));
    assert_true(str_starts_with(evidence.log.events[0].text, STR("Saving the")));
    assert_int_equal(evidence.log.events[1].dur_ns, -1);
}

static void a_traceback_is_known_by_its_exception(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("[rank3]: Traceback (most recent call last):\n"
                           "[rank3]:   File \"train.py\", line 5, in <module>\n"
                           "[rank3]:     raise ValueError(x)\n"
                           "[rank3]: ValueError: no batch\n"
                           "step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                           "Traceback (most recent call last):\n"
                           "  File \"train.py\", line 5, in <module>\n"
                           "KeyboardInterrupt\n"
                           "Traceback (most recent call last):\n"
                           "step: 11  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"),
                       &err));
    assert_int_equal(evidence.log.step_count, 2);
    assert_int_equal(evidence.log.event_count, 2);
    assert_true(str_equal(evidence.log.events[1].text, STR("KeyboardInterrupt")));
    assert_int_equal(evidence.log.events[0].rank, 3);
    assert_true(str_equal(evidence.log.events[0].text, STR("[rank3]: ValueError: no batch")));
    assert_true(evidence.log.events[0].after_step == LOG_NO_STEP);
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

static void settings_within_sentences_are_read(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(
        STR("using world size: 64, data-parallel-size: 4, tensor-model-parallel size: 16 \n"
            "- INFO - Building device mesh with parallelism: pp=1, dp_shard=8, tp=2\n"
            "- INFO - Training starts at step 1, with local batch size 8, global batch size 64 "
            "(x), sequence length 8192, total steps 1000 (warmup 200)\n"
            "[INFO] [config.py:1000:print]   train_batch_size ............. 32\n"
            "Config param per_device_batch_size: 4\n"
            "step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"),
        &err));
    assert_setting("world size", "64");
    assert_setting("tensor-model-parallel size", "16");
    assert_setting("dp_shard", "8");
    assert_setting("local batch size", "8");
    assert_setting("global batch size", "64");
    assert_setting("sequence length", "8192");
    assert_setting("total steps", "1000");
    assert_setting("train_batch_size", "32");
    assert_setting("per_device_batch_size", "4");
}

static void the_size_of_the_model_is_a_setting(void **state)
{
    (void)state;
    struct err err;
    assert_true(gather(STR("54.7 M    Total params\nTotal number of parameters: 1.04G (1 MiB)\n"
                           "step: 1  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"),
                       &err));
    assert_setting("model_parameters", "1.04G");
    assert_setting("rank_parameters", "54.7 M");
    assert_true(gather(STR("Model x size: 8,030,261,248 total parameters\n"), &err) || true);
    assert_setting("model_parameters", "8,030,261,248");
}

static void the_arguments_of_megatron_are_settings(void **state)
{
    (void)state;
    struct err err;
    assert_true(
        gather(STR("------------------------ arguments ------------------------\n"
                   "0:   seq_length ...................................... 4096\n"
                   "  wandb_api_key .................................... s3cr3ts3cr3ts3cr3t\n"
                   "  lr ............................................... 0.00015\n"
                   "-------------------- end of arguments ---------------------\n"
                   "  not_an_argument .................................. 1\n"
                   "iteration 5/ 50 | elapsed time per iteration (ms): 59.0 |\n"),
               &err));
    assert_int_equal(evidence.setting_count, 3);
    assert_true(str_equal(evidence.settings[0].name, STR("seq_length")));
    assert_true(str_equal(evidence.settings[0].value, STR("4096")));
    assert_true(str_equal(evidence.settings[1].value, STR("[redacted:named]")));
}

static void ranks_are_read_from_what_launchers_print(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        int64_t rank;
    } lines[] = {
        {"[1,12]<stdout>: x", 12},
        {"3: x", 3},
        {"[rank7]: x", 7},
        {"[rank-7/8][INFO] x", 7},
        {"[Rank 5] x", 5},
        {"[2026-11-20 08:00:01] x", -1},
        {"", -1},
        {"[1,", -1},
        {"[rank", -1},
        {"worker-4: x", -1},
        {"[rank99999999999999999999]", -1},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(log_prefix_of(str_of(lines[i].before)).rank, lines[i].rank);
}

static void assert_time(const char *text, int64_t ns, bool utc)
{
    struct log_prefix prefix = log_prefix_of(str_of(text));
    assert_true(prefix.time_ns == ns);
    assert_true(prefix.utc == utc);
}

static void times_are_those_of_the_calendar(void **state)
{
    (void)state;
    assert_time("1980-01-01 00:00:00", INT64_C(315532800000000000), false);
    assert_time("x 2024-02-29T23:59:59.5", INT64_C(1709251199500000000), false);
    assert_time("[20240229 23:59:59] ", INT64_C(1709251199000000000), false);
    assert_time("2024-02-29T23:59:59.123456789Z ", INT64_C(1709251199123456789), true);
    assert_time("2024-03-01T00:59:59+01:00 ", INT64_C(1709251199000000000), true);
    assert_time("2026-13-20 08:00:01", LOG_NO_TIME, false);
    assert_time("99999-11-20 08:00:01", LOG_NO_TIME, false);
    assert_time("2026-11-20 08:00", LOG_NO_TIME, false);
}

// Whatever takes the short way must give what strtod gives.
static void numbers_are_those_of_the_library(void **state)
{
    (void)state;
    static const char *const texts[] = {"0.1",
                                        "-3.25",
                                        "1.2e-05",
                                        "9007199254740993",
                                        "1E+22",
                                        "1e-22",
                                        "123456.789012345",
                                        "1e300",
                                        "5.5",
                                        "0.000123",
                                        "5973.4",
                                        "1.042000E+01",
                                        "1e-320",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double number;
        struct str rest;
        assert_int_equal(log_number(str_of(texts[i]), &number, &rest), LOG_NUMBER);
        assert_true(number == strtod(texts[i], NULL));
        assert_int_equal(rest.len, 0);
    }
}

static void numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    double number;
    struct str rest;
    char digits[200];
    memset(digits, '7', sizeof digits);
    assert_int_equal(log_number(STR(""), &number, &rest), LOG_NO_NUMBER);
    assert_int_equal(log_number(STR("-"), &number, &rest), LOG_NO_NUMBER);
    assert_int_equal(log_number(STR("N/A"), &number, &rest), LOG_NO_NUMBER);
    assert_int_equal(log_number((struct str){digits, sizeof digits}, &number, &rest), LOG_GARBLED);
    assert_int_equal(log_number(STR("-inf"), &number, &rest), LOG_NUMBER);
    assert_true(isinf(number) && number < 0);
    assert_int_equal(log_number(STR("1,234,567.5"), &number, &rest), LOG_NUMBER);
    assert_true(number == 1234567.5);
    assert_int_equal(log_number(STR("1,2345"), &number, &rest), LOG_NUMBER);
    assert_true(number == 1 && rest.len == 5);
}

// --- what is no step ----------------------------------------------------------------------------

static void lines_that_only_look_like_steps_are_none(void **state)
{
    (void)state;
    assert_no_step("iteration 5/ 50 | elapsed time per iteration (\n");
    assert_no_step("elapsed time per iteration (ms): 59.0 |\n");
    assert_no_step("loss:  8.1  memory: 1GiB(1%)  tps: 7,123\n");
    assert_no_step("step: x  loss:  8.1  memory: 1GiB(1%)  tps: 7,123\n");
    assert_no_step("step: 99999999999999999999  loss:  8.1  memory: 1GiB(1%)  tps: 7,123\n");
    assert_no_step("step: 1  loss:  8.1step:  memory: 1GiB(1%)  tps: 7,123\n");
    assert_no_step("step: 1  loss:  8.1  memory: 1GiB(1%) loss: 2  tps: 7,123\n");
    assert_no_step("iteration 5/ 50 | elapsed time per iteration (ms): 59[rank3]: | a: 1 |\n");
    assert_no_step("{'loss': 'n/a', 'epoch': 0.1}\n");
    assert_no_step("plain words\n");
    assert_no_step("");
}

// The end of a file that is still being written may have half a number.
static void a_number_that_ends_the_file_without_a_line_end_is_not_taken(void **state)
{
    (void)state;
    const struct log_step *step = step_in("completed step: 3, seconds: 0.5, TFLOP/s/device: 402.5, "
                                          "loss: 9.7");
    assert_false(log_step_has(step, LOG_LOSS));
    assert_value(step, LOG_STEP_S, 0.5);
}

static void a_step_cut_before_its_figures_is_none(void **state)
{
    (void)state;
    assert_no_step("completed step: 3, seconds: 0.5, TFLOP/s/device: 402");
    assert_no_step("iteration 5/ 50 | elapsed time per iteration (ms): 59");
}

static void bytes_that_are_no_text_are_passed(void **state)
{
    (void)state;
    struct err err;
    static const char text[] = "\0\xff\x1b[\0step: 1  loss: 2\0\n"
                               "step: 2  loss: nan  memory: 1GiB(1%)  tps: inf  mfu: -\n\0";
    assert_true(gather((struct str){text, sizeof text - 1}, &err));
    assert_int_equal(evidence.log.step_count, 1);
    assert_true(isnan(evidence.log.steps[0].values[LOG_LOSS]));
    assert_true(isinf(evidence.log.steps[0].values[LOG_TOKENS_PER_S]));
}

// Lines that end in CR alone, more of them than fit a line.
static void progress_without_line_ends_is_read_whole(void **state)
{
    (void)state;
    struct buf text = {0};
    struct err err;
    for (int i = 0; i < 30000; i++)
        buf_printf(&text,
                   "Epoch 2:  12%%|#| %d/30000 [00:03<00:26, 0.83it/s, v_num=0, train_loss=2.5]\r",
                   i + 1);
    assert_true(text.len > 2 << 20);
    assert_true(gather((struct str){text.at, text.len}, &err));
    assert_int_equal(evidence.log.step_count, 30000);
    assert_int_equal(evidence.log.steps[29999].step, 3 * 30000);
    assert_int_equal(evidence.log.steps[29999].pos + strlen(strrchr(text.at, 'E')), text.len);
    buf_free(&text);
}

static void a_line_of_a_megabyte_harms_nothing(void **state)
{
    (void)state;
    static char text[3 << 20];
    static const char step[] = "\nstep: 1  loss: 2.5  memory: 1GiB(1%)  tps: 7\n";
    memset(text, '{', sizeof text);
    memcpy(text + sizeof text - sizeof step, step, sizeof step);
    struct err err;
    assert_true(gather((struct str){text, sizeof text - 1}, &err));
    assert_int_equal(evidence.log.step_count, 1);
}

// Each return ends a piece, and looking for the line of one must not pass over all before it.
static void returns_without_line_ends_take_no_longer_than_lines(void **state)
{
    (void)state;
    enum { PIECES = 600000 };
    static const char piece[] = "max reserved: \r";
    struct buf text = {0};
    struct err err;
    for (int i = 0; i < PIECES; i++)
        buf_add(&text, piece, sizeof piece - 1);
    clock_t before = clock();
    assert_false(gather((struct str){text.at, text.len}, &err));
    assert_true((clock() - before) / CLOCKS_PER_SEC < 5);
    buf_free(&text);
}

static void a_full_budget_ends_it(void **state)
{
    (void)state;
    struct budget small = {.limit = 2 << 20};
    struct evidence little;
    struct err err = {.pos = ERR_NO_POS};
    static char text[2 << 20];
    static const char step[] = "step: 1 loss: 2 memory: 1GiB(1%) tps: 7\n";
    for (size_t at = 0; at + sizeof step < sizeof text; at += sizeof step - 1)
        memcpy(text + at, step, sizeof step);
    struct source *source = source_mem_open(text, strlen(text), 0, &err);
    evidence_init(&little, &small);
    struct format_input input = {.source = source, .budget = &small, .evidence = &little};
    assert_false(format_training_log.gather(&input, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    source_close(source);
    evidence_free(&little);
    assert_int_equal(small.used, 0);
}

static void what_a_file_is_shows_in_its_start_or_its_name(void **state)
{
    (void)state;
    const struct {
        struct str head, name;
        const char *format;
    } files[] = {
        {STR("step: 1 loss: 2 memory: 1GiB(1%) tps: 7\n"), STR("x"), "training-log"},
        {STR("[rank0]: starting\n"), STR("slurm-123.out"), "training-log"},
        {STR("[2026-11-20 08:00:01] starting\n"), STR("train.log"), "training-log"},
        {STR("[1,0]<stdout>: starting\n"), STR("train.log"), "training-log"},
        {STR("starting\n"), STR("notes"), "text"},
        {STR("{\"traceEvents\": []}"), STR("x.log"), "kineto"},
        {STR("[{\"ph\": \"X\", \"name\": \"tps: 1\"}]"), STR("x.log"), "kineto"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(format_find(files[i].head, files[i].name)->name, files[i].format);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(megatron_has_its_figures_by_name),
        TEST(primus_prints_the_current_value_first),
        TEST(a_loss_that_is_no_number_differs_from_none),
        TEST(torchtitan_is_read_through_its_colors),
        TEST(colors_without_their_escape_and_older_words_are_read),
        TEST(an_evaluation_of_torchtitan_is_no_step),
        TEST(deepspeed_prints_the_whole_job),
        TEST(older_deepspeed_has_its_step_alone),
        TEST(nemo_counts_by_its_global_step),
        TEST(automodel_prints_a_copy_of_the_model_in_brackets),
        TEST(a_progress_bar_numbers_and_times_what_is_printed_over_it),
        TEST(deepspeed_s_pipeline_has_a_line_of_its_own),
        TEST(bars_of_lightning_need_no_version),
        TEST(bars_of_nemo_1_have_their_loss_before_the_step),
        TEST(primus_says_the_memory_of_the_rank_with_the_most),
        TEST(months_may_come_first),
        TEST(hugging_face_prints_dicts_after_progress),
        TEST(maxtext_is_read_key_by_key),
        TEST(nanotron_abbreviates_numbers),
        TEST(the_two_lines_of_megatron_bridge_are_one_step),
        TEST(the_most_memory_of_any_rank_is_that_of_the_step),
        TEST(ranks_may_print_the_same_steps_in_turns),
        TEST(numbers_go_back_after_a_restart),
        TEST(events_have_their_time_and_the_step_before),
        TEST(a_fault_that_every_rank_reports_is_one),
        TEST(an_end_completes_its_start),
        TEST(a_traceback_is_known_by_its_exception),
        TEST(settings_within_sentences_are_read),
        TEST(the_size_of_the_model_is_a_setting),
        TEST(the_arguments_of_megatron_are_settings),
        TEST(ranks_are_read_from_what_launchers_print),
        TEST(times_are_those_of_the_calendar),
        TEST(numbers_are_those_of_the_library),
        TEST(numbers_that_are_none_are_refused),
        TEST(lines_that_only_look_like_steps_are_none),
        TEST(a_number_that_ends_the_file_without_a_line_end_is_not_taken),
        TEST(a_step_cut_before_its_figures_is_none),
        TEST(bytes_that_are_no_text_are_passed),
        TEST(progress_without_line_ends_is_read_whole),
        TEST(a_line_of_a_megabyte_harms_nothing),
        TEST(returns_without_line_ends_take_no_longer_than_lines),
        TEST(a_full_budget_ends_it),
        TEST(what_a_file_is_shows_in_its_start_or_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
