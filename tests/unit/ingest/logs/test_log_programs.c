// SPDX-License-Identifier: Apache-2.0
// Steps and faults as further programs print them, and newer or older versions of others.
#include "tests/unit/log_hand.h"

static const struct printed printed[] = {
    // nanochat, autoresearch and build-nanogpt, also with commas between digits
    {"step 00500/04000 (12.50%) | loss: 7.500000 | lrm: 1.00 | dt: 250.00ms | tok/sec: 13,435 | "
     "bf16_mfu: 12.50 | epoch: 1 pq: 0 rg: 1 | total time: 0.16m | eta: 1.1m\n",
     "nanochat",
     1,
     500,
     {{LOG_LOSS, 7.5}, {LOG_STEP_S, 0.25}, {LOG_JOB_TOKENS_PER_S, 13435}, {LOG_MFU, 0.125}}},
    {"step 00349 (99.7%) | loss: 1.250000 | lrm: 0.50 | dt: 125ms | tok/sec: 182,000 | mfu: 37.5% "
     "| epoch: 1 | remaining: 1s    \r",
     "nanochat",
     1,
     349,
     {{LOG_LOSS, 1.25}, {LOG_STEP_S, 0.125}, {LOG_JOB_TOKENS_PER_S, 182000}, {LOG_MFU, 0.375}}},
    {"step     3 | loss: 9.500000 | lr 6.0000e-04 | norm: 1.5000 | dt: 500.00ms | tok/sec: "
     "12987.50\n",
     "nanochat",
     1,
     3,
     {{LOG_LOSS, 9.5},
      {LOG_LEARNING_RATE, 6e-4},
      {LOG_GRAD_NORM, 1.5},
      {LOG_STEP_S, 0.5},
      {LOG_JOB_TOKENS_PER_S, 12987.5}}},
    {"step 3, loss: 9.500000, dt: 500.00ms, tok/sec: 12,987.50\n",
     "build-nanogpt",
     1,
     3,
     {{LOG_LOSS, 9.5}, {LOG_STEP_S, 0.5}, {LOG_JOB_TOKENS_PER_S, 12987.5}}},
    {"step 1,012,999 | loss: 9.500000 | dt: 500.00ms | tok/sec: 1,234,567\n",
     "nanochat",
     1,
     1012999,
     {{LOG_LOSS, 9.5}, {LOG_STEP_S, 0.5}, {LOG_JOB_TOKENS_PER_S, 1234567}}},
    // bars that are written again with newer figures of their step, and that begin again with those
    // of the last
    {"Steps:   0%|          | 0/101 [00:03<?, ?it/s, lr=1e-5, step_loss=0.75]\r"
     "Steps:   1%|          | 1/101 [00:04<08:00,  4.50s/it, lr=1e-5, step_loss=0.75]\r"
     "Steps:   1%|          | 1/101 [00:04<08:00,  4.50s/it, lr=2e-5, step_loss=0.25]\n",
     "diffusers",
     1,
     1,
     {{LOG_LOSS, 0.25}, {LOG_LEARNING_RATE, 2e-5}, {LOG_STEP_S, 4.5}}},
    {"Epoch 0: 100%|#####| 2/2 [00:01<00:00,  2.00it/s, loss=2.5, v_num=0]\r"
     "Epoch 0:   0%|     | 0/2 [00:00<?, ?it/s, loss=2.5, v_num=0]\r"
     "Epoch 1:   0%|     | 0/2 [00:00<?, ?it/s, loss=2.5, v_num=0]\r"
     "Epoch 1:  50%|##   | 1/2 [00:00<00:00,  2.00it/s, loss=2.5, v_num=0]\r"
     "Epoch 1:  50%|##   | 1/2 [00:00<00:00,  2.00it/s, loss=2.25, v_num=0]\n",
     "lightning",
     2,
     3,
     {{LOG_LOSS, 2.25}, {LOG_STEP_S, 0.5}}},
    // after an evaluation its clock has gone on
    {"Epoch 0: 100%|#####| 8/8 [00:04<00:00,  2.00it/s, loss=2.5, v_num=0]\r"
     "Epoch 0: 100%|#####| 8/8 [00:32<00:00,  4.00s/it, loss=2.25, v_num=0, val_acc=0.5]\n",
     "lightning",
     1,
     8,
     {{LOG_LOSS, 2.25}, {LOG_STEP_S, 0.5}}},
    // of slow steps the time says more than a rate of two decimals, unless the bar began in between
    {"Epoch 0:   3%|#    | 8/260 [17:04<8:57:59,  0.01it/s, v_num=2ch5]\n",
     "lightning",
     1,
     8,
     {{LOG_STEP_S, 128}}},
    {"Epoch 0:  96%|#### | 250/260 [17:04<8:57:59,  0.01it/s, loss=2.5, v_num=2ch5]\n",
     "lightning",
     1,
     250,
     {{LOG_LOSS, 2.5}}},
    // in notebooks
    {"#015Epoch 1:  50% 1/2 [00:00<00:00,  4.00it/s, loss=2.5, v_num=0]\n",
     "lightning",
     1,
     3,
     {{LOG_LOSS, 2.5}, {LOG_STEP_S, 0.25}}},
    {"Steps:  10% 103/1000 [05:03<44:00,  2.50s/it, lr=0.0001, step_loss=0.25]\n",
     "diffusers",
     1,
     103,
     {{LOG_LOSS, 0.25}, {LOG_LEARNING_RATE, 1e-4}, {LOG_STEP_S, 2.5}}},
    {"{'loss': 2.5, 'epoch': 0.5}\n 10% 5/50 [00:10<01:30,  2.00s/it]\n",
     "hf-trainer",
     1,
     5,
     {{LOG_LOSS, 2.5}, {LOG_EPOCH, 0.5}, {LOG_STEP_S, 2}}},
    {"steps:   0%|          | 2/500 [00:17<1:11:10,  8.50s/it, avr_loss=0.125]\n",
     "sd-scripts",
     1,
     2,
     {{LOG_LOSS, 0.125}, {LOG_STEP_S, 8.5}}},
    // PaddleNLP, whose rate may have too few digits
    {"[2022-08-31 16:19:16,008] [    INFO] - loss: 3.25, learning_rate: 3e-05, global_step: 10, "
     "interval_runtime: 2.5, interval_samples_per_second: 3.541, interval_steps_per_second: "
     "4.000, epoch: 0.5\n",
     "paddlenlp",
     1,
     10,
     {{LOG_LOSS, 3.25}, {LOG_LEARNING_RATE, 3e-5}, {LOG_STEP_S, 0.25}, {LOG_EPOCH, 0.5}}},
    {"[    INFO] - loss: 2.5, learning_rate: 2e-05, global_step: 20, current_memory_reserved: "
     "7.25, max_memory_reserved: 7.5, interval_runtime: 808.1, "
     "interval_tokens_per_second_per_device: 889.5, interval_steps_per_second: 0.012, "
     "progress_or_epoch: 0.75\n",
     "paddlenlp",
     1,
     20,
     {{LOG_LOSS, 2.5},
      {LOG_LEARNING_RATE, 2e-5},
      {LOG_MEMORY_BYTES, 7.5 * GIB},
      {LOG_TOKENS_PER_S, 889.5},
      {LOG_EPOCH, 0.75}}},
    // PaddleOCR; FleetX, whose first epoch is often the only one; PaddleClas and PaddleScience
    {"[2022/08/16 03:08:41] ppocr INFO: epoch: [1/400], global_step: 40, lr: 0.000100, acc: "
     "0.000000, loss: 1.750000, loc_loss: 0.670590, avg_reader_cost: 0.02533 s, avg_batch_cost: "
     "3.25000 s, avg_samples: 48.0, ips: 14.23271 samples/s, eta: 6 days, 23:28:43\n",
     "paddle",
     1,
     40,
     {{LOG_LEARNING_RATE, 1e-4}, {LOG_LOSS, 1.75}, {LOG_STEP_S, 3.25}}},
    {"[2022-09-21 05:43:59,508] [    INFO] - [train] epoch: 0, batch: 3, loss: 11.500000000, "
     "avg_batch_cost: 0.75000 sec, speed: 1.33 step/s, ips_total: 92267 tokens/s, ips: 11533 "
     "tokens/s, learning rate: 5.00000e-08\n",
     "paddle",
     1,
     3,
     {{LOG_LOSS, 11.5},
      {LOG_STEP_S, 0.75},
      {LOG_JOB_TOKENS_PER_S, 92267},
      {LOG_LEARNING_RATE, 5e-8}}},
    {"[2022/04/30 11:30:30] ppcls INFO: [Train][Epoch 2/300][Iter: 100/1252]lr: 0.00403, CELoss: "
     "6.97696, loss: 6.50000, batch_cost: 0.75000s, reader_cost: 0.22499, ips: 269.8 images/sec\n"
     "[2022/04/30 11:31:26] ppcls INFO: [Eval][Epoch 2][Iter: 0/16]CELoss: 1.05227, loss: "
     "1.05227, batch_cost: 3.20560s, reader_cost: 1.45519, ips: 19.9 images/sec\n",
     "paddle",
     1,
     1352,
     {{LOG_LOSS, 6.5}, {LOG_STEP_S, 0.75}}},
    {"ppsci INFO: [Train][Epoch  9/10][Iter  80/100] lr: 0.00200, loss: 0.50000, EQ: 0.50000, "
     "batch_cost: 0.00250s, reader_cost: 0.00011s, ips: 17756.64, eta: 0:00:00\n",
     "paddle",
     1,
     880,
     {{LOG_LEARNING_RATE, 0.002}, {LOG_LOSS, 0.5}, {LOG_STEP_S, 0.0025}}},
    // PaddleSeg, PaddleDetection and PaddleGAN
    {"2021-08-11 09:11:35 [INFO]\t[TRAIN] epoch: 1, iter: 20/2000, loss: 3.2500, lr: 0.005000, "
     "batch_cost: 0.1250, reader_cost: 0.01135, ips: 37.4259 samples/sec | ETA 00:03:31\n"
     "82/82 [====] - 3s 33ms/step - batch_cost: 0.0321 - reader cost: 3.6484e-04\n",
     "paddle",
     1,
     20,
     {{LOG_LOSS, 3.25}, {LOG_LEARNING_RATE, 0.005}, {LOG_STEP_S, 0.125}}},
    {"[07/23 00:27:42] ppdet.engine.callbacks INFO: Epoch: [2] [  50/1876] learning_rate: "
     "0.000050 loss: 0.750000 loss_cls: 0.386098 eta: 8:10:56 batch_cost: 0.2500 data_cost: "
     "0.0950 ips: 61.8343 images/s\n",
     "paddle",
     1,
     3802,
     {{LOG_LEARNING_RATE, 5e-5}, {LOG_LOSS, 0.75}, {LOG_STEP_S, 0.25}}},
    {"[05/29 18:26:11] ppgan.engine.trainer INFO: Iter: 13110/20000 lr: 5.000e-05 loss_dual: "
     "0.949 loss_total: 8.856 batch_cost: 0.25000 sec reader_cost: 0.00029 sec\n",
     "paddle",
     1,
     13110,
     {{LOG_LEARNING_RATE, 5e-5}, {LOG_STEP_S, 0.25}}},
    // MindFormers in two versions, and programs for MindSpore
    {"2025-04-07 15:34:29,173 - [mindformers/core/callback/callback.py:529] - INFO - { Epoch:[  "
     "2/  2], step:[    3/   19], loss: 10.500, per_step_time: 1750ms, lr: 1e-05, overflow cond: "
     "False, loss_scale: 1.0, global_norm: [1.5], train_throughput_per_npu: 170.500T\n",
     "mindformers",
     1,
     22,
     {{LOG_LOSS, 10.5}, {LOG_STEP_S, 1.75}, {LOG_LEARNING_RATE, 1e-5}, {LOG_TFLOPS, 170.5}}},
    {"INFO - { step:[    2/   10], loss:  11.750000, per_step_time:    750ms, "
     "load_balancing_loss:   1.106543, lr: 1.000000e-05, grad_norm:  19.500000, throughput:  "
     "25.50T }\n",
     "mindformers",
     1,
     2,
     {{LOG_LOSS, 11.75},
      {LOG_STEP_S, 0.75},
      {LOG_LEARNING_RATE, 1e-5},
      {LOG_GRAD_NORM, 19.5},
      {LOG_TFLOPS, 25.5}}},
    {"2023-01-10 17:32:11,619:INFO:epoch[2], iter[755], loss:681.500000, per step time: 487.50 "
     "ms, fps: 131.04, lr:0.006\n",
     "mindspore",
     1,
     755,
     {{LOG_LOSS, 681.5}, {LOG_STEP_S, 0.4875}, {LOG_LEARNING_RATE, 0.006}}},
    {"epoch: [2/20] step: [3/300], loss: 2.500000, overflow: False, lr: 0.001000, per step time: "
     "125.000 ms, fps: 99.50 img/s\n"
     "epoch time: 36501.857 ms, per step time: 935.945 ms\n",
     "mindspore",
     1,
     303,
     {{LOG_LOSS, 2.5}, {LOG_LEARNING_RATE, 0.001}, {LOG_STEP_S, 0.125}}},
    {"   --> TIME: 2025-08-19 14:23:42 -- STEP: 200/3984 -- GLOBAL_STEP: 4184\n"
     "     | > loss_mel_ce: 4.792850971221924  (nan)\n"
     "     | > loss: 0.125  (nan)\n"
     "     | > current_lr: 5e-06 \n"
     "     | > step_time: 0.25  (0.1479287660121917)\n"
     "     | > loader_time: 0.01  (0.02)\n\n"
     "   --> TRAIN PERFORMACE -- EPOCH TIME: 63.65 sec -- GLOBAL_STEP: 4185\n"
     "     | > avg_loss: 0.35386\n\n",
     "coqui",
     1,
     4184,
     {{LOG_LOSS, 0.125}, {LOG_LEARNING_RATE, 5e-6}, {LOG_STEP_S, 0.25}}},
    // what newer and older versions print: trl's GRPO, Gaudi; MaxText; verl
    {"{'loss': 0.5, 'step_time': 12.5, 'max_memory_allocated (GB)': 6.5, 'global_step': 5, "
     "'epoch': 0.25}\n",
     "hf-trainer",
     1,
     5,
     {{LOG_LOSS, 0.5}, {LOG_STEP_S, 12.5}, {LOG_MEMORY_BYTES, 6.5 * GIB}, {LOG_EPOCH, 0.25}}},
    {"completed step: 15107, seconds: 2.250, TFLOP/s: 36.750, loss: 2.125\n",
     "maxtext",
     1,
     15107,
     {{LOG_STEP_S, 2.25}, {LOG_TFLOPS, 36.75}, {LOG_LOSS, 2.125}}},
    {"Epoch 1/1:  99%|####| 109/110 [1:14:27<01:11, 71.50s/it]step:109 - train/loss:0.25 - "
     "train/grad_norm:0.5 - train/lr:1e-05 - train/mfu:0.2\n",
     "verl",
     1,
     109,
     {{LOG_LOSS, 0.25}, {LOG_GRAD_NORM, 0.5}, {LOG_LEARNING_RATE, 1e-5}, {LOG_STEP_S, 71.5}}},
    {"step:34 - actor/pg_loss:0.125 - actor/perf/max_memory_reserved_gb:27.5 - timing_s/step:96.5 "
     "- perf/throughput:512.5\n",
     "verl",
     1,
     34,
     {{LOG_LOSS, 0.125},
      {LOG_MEMORY_BYTES, 27.5 * GIB},
      {LOG_STEP_S, 96.5},
      {LOG_TOKENS_PER_S, 512.5}}},
};

static void programs_print_steps_in_their_own_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        assert_printed(&printed[i], "train.log");
}

// The time of the step comes last.
static void steps_may_have_two_hundred_figures(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "step:2 - actor/pg_loss:0.125");
    for (int i = 0; i < 200; i++)
        buf_printf(&text, " - rollout_corr/x%d:1.000", i);
    buf_puts(&text, " - timing_s/step:96.5\n");
    buf_putc(&text, '\0');
    read_whole(text.at);
    assert_int_equal(evidence.log.step_count, 1);
    assert_true(log_step_has(&evidence.log.steps[0], LOG_STEP_S));
    evidence_free(&evidence);
    buf_free(&text);
}

// Later epochs do not say how many batches they have.
static void steps_of_later_epochs_may_have_no_number(void **state)
{
    (void)state;
    read_whole("[train] epoch: 1, batch: 3, loss: 11.5, avg_batch_cost: 0.75 sec\n");
    assert_int_equal(evidence.log.step_count, 1);
    assert_true(evidence.log.steps[0].step == LOG_NO_STEP);
    evidence_free(&evidence);
    read_whole(
        "INFO:epoch[1], iter[1], loss:7776.75, fps:0.95 imgs/sec, lr:1.5e-05, per step time: "
        "270250.0ms\n"
        "INFO:epoch[2], iter[1], loss:723.5, fps:181.37 imgs/sec, lr:1.5e-05, per step time: "
        "1250.0ms\n");
    assert_int_equal(evidence.log.step_count, 2);
    const struct log_step *last = &evidence.log.steps[1];
    assert_true(last->step == LOG_NO_STEP);
    assert_true(last->values[LOG_STEP_S] == 1.25 && last->values[LOG_LOSS] == 723.5);
    evidence_free(&evidence);
}

static void speedruns_print_evaluations_as_steps(void **state)
{
    (void)state;
    read_whole("step:1000/20000 val_loss:2.125 val_bpb:1.3629 train_time:334849ms "
               "step_avg:334.85ms\n");
    assert_int_equal(evidence.log.step_count, 1);
    assert_evaluation(2.125, -1);
}

// Speedruns print their own program before all else.
static void source_code_has_no_evaluation(void **state)
{
    (void)state;
    read_whole("    print0(f\"step:{step}/{train_steps} val_loss:{val_loss:.4f} "
               "train_time:{time_ms:.0f}ms step_avg:{time_ms/max(step, 1):.2f}ms\")\n"
               "step:125/1390 val_loss:4.25 train_time:9190ms step_avg:73.52ms\n");
    assert_int_equal(evidence.log.step_count, 1);
    assert_evaluation(4.25, -1);
}

static void what_stops_a_job_is_a_fault(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "Loss is nan, stopping training\n",
        "2026-03-25 10:34:07 ERROR Loss is NaN, stopping training.\n",
        "Loss is inf, stopping training\n",
        "E coordination_service.cc:954] /job:jax_worker/task:37 has been set to ERROR in "
        "coordination service: UNAVAILABLE: heartbeat timeout. This indicates that the remote task "
        "has failed, got preempted, or crashed unexpectedly.\n",
        "(raylet) A worker died or was killed while executing a task by an unexpected system "
        "error.\n",
        "(raylet) node_manager.cc:3049: 10 Workers (tasks / actors) killed due to memory pressure "
        "(OOM), 0 Workers crashed due to other reasons at node (ID: e5, IP: 10.0.62.231)\n",
        "[2026-03-25T10:34:07.530] error: *** STEP 7.0 ON n1 CANCELLED AT 2026-03-25T10:34:07 DUE "
        "TO PREEMPTION ***\n[2026-03-25T10:34:07.531] error: *** JOB 7 ON n1 CANCELLED AT "
        "2026-03-25T10:34:07 DUE TO PREEMPTION ***\n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        read_whole(logs[i]);
        assert_int_equal(evidence.log.event_count, 1);
        assert_int_equal(evidence.log.events[0].kind, LOG_FAULT);
        evidence_free(&evidence);
    }
    read_whole("{'loss': 0.5, 'epoch': 0.25}\n[INFO] Reached max_steps (9), stopping training.\n"
               "Validation loss is not improving, stopping training\n");
    assert_int_equal(evidence.log.event_count, 0);
    evidence_free(&evidence);
}

static void lines_of_launchers_name_their_rank(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "[1,mpirank:3,algo-1]<stdout>:{'loss': 0.5, 'epoch': 0.25}\n", // SageMaker
        "[Rank 3 | Local Rank 1] 2026-09-21 15:51:59 INFO => {'loss': 0.5, 'epoch': 0.25}\n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        read_whole(logs[i]);
        assert_int_equal(evidence.log.steps[0].rank, 3);
        evidence_free(&evidence);
    }
}

static void clocks_may_have_twelve_hours(void **state)
{
    (void)state;
    static const char *const clocks[] = {
        "02:00:50 PM",   "14:00:50 PM",    "14:00:50",   "12:30:00 PM",
        "12:30:00 AMD:", "12:30:00 PMIX:", "12:30:00 AM"};
    int64_t times[7];
    for (size_t i = 0; i < 7; i++) {
        char text[96];
        snprintf(text, sizeof text, "03/08/2020 %s - INFO - {'loss': 0.5, 'epoch': 0.25}\n",
                 clocks[i]);
        read_whole(text);
        times[i] = evidence.log.steps[0].time_ns;
        evidence_free(&evidence);
    }
    assert_true(times[0] != LOG_NO_TIME && times[0] == times[1] && times[0] == times[2]);
    assert_true(times[3] == times[4] && times[3] == times[5]);
    assert_true(times[3] - times[6] == INT64_C(43200) * 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_print_steps_in_their_own_ways),
        cmocka_unit_test(steps_may_have_two_hundred_figures),
        cmocka_unit_test(steps_of_later_epochs_may_have_no_number),
        cmocka_unit_test(speedruns_print_evaluations_as_steps),
        cmocka_unit_test(source_code_has_no_evaluation),
        cmocka_unit_test(what_stops_a_job_is_a_fault),
        cmocka_unit_test(lines_of_launchers_name_their_rank),
        cmocka_unit_test(clocks_may_have_twelve_hours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
