// SPDX-License-Identifier: Apache-2.0
// Steps as one framework each prints them, with every figure that is read of them.
#include "tests/unit/log_hand.h"

#define SWIFT                                                                        \
    "{'loss': 1.75, 'grad_norm': 2.5, 'learning_rate': 2e-05, 'memory(GiB)': 16.5, " \
    "'train_speed(iter/s)': 0.25, 'epoch': 0.05, "
#define SWIFT_FIGURES                                                      \
    {                                                                      \
        {LOG_LOSS, 1.75}, {LOG_GRAD_NORM, 2.5}, {LOG_LEARNING_RATE, 2e-5}, \
            {LOG_MEMORY_BYTES, 16.5 * GIB}, {LOG_EPOCH, 0.05},             \
        {                                                                  \
            LOG_RUN_S, 40                                                  \
        }                                                                  \
    }
#define COMPOSER(prefix)                                                      \
    prefix "[epoch=2][batch=3/5]:\n" prefix "\t Train time/batch: 7\n" prefix \
           "\t Train time/token: 9000\n" prefix                               \
           "\t Train memory/peak_reserved_mem: 51.3280\n" prefix              \
           "\t Train loss/train/total: 8.9213\n" prefix                       \
           "\t Train throughput/batches_per_sec: 0.2000\n" prefix             \
           "\t Train throughput/samples_per_sec: 6.4000\n" prefix             \
           "\t Train throughput/device/samples_per_sec: 0.8000\n" prefix      \
           "\t Train throughput/tokens_per_sec: 13107.2000\n" prefix          \
           "\t Train throughput/device/tokens_per_sec: 1638.4000\n" prefix    \
           "\t Train throughput/device/mfu: 0.4100\n" prefix                  \
           "\t Train lr-DecoupledAdamW/group0: 0.0000\n"
#define COMPOSER_FIGURES                                                                           \
    {                                                                                              \
        {LOG_MEMORY_BYTES, 51.328e9}, {LOG_LOSS, 8.9213}, {LOG_STEP_S, 5},                         \
            {LOG_SAMPLES_PER_S, 6.4}, {LOG_JOB_TOKENS_PER_S, 13107.2}, {LOG_TOKENS_PER_S, 1638.4}, \
            {LOG_MFU, 0.41},                                                                       \
    }

#define MLLOG(ms, type, key, value, metadata)                                        \
    "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": " ms ", \"event_type\": \"" type \
    "\", \"key\": \"" key "\", \"value\": " value                                    \
    ", \"metadata\": {\"file\": \"a.py\", \"lineno\": "                              \
    "7" metadata "}}\n"
#define POINT(ms, key, value, metadata) MLLOG(ms, "POINT_IN_TIME", key, value, metadata)
#define MLPERF(model)                                                   \
    POINT("1700000000000", "submission_benchmark", "\"" model "\"", "") \
    POINT("1700000000001", "global_batch_size", "8", "")                \
    MLLOG("1700000000002", "INTERVAL_START", "run_start", "null", "")
// A block of 192 steps of 8 samples, and its evaluation.
#define MLPERF_BLOCK                                                                          \
    POINT("1700000266000", "tracked_stats", "{\"throughput\": 6.4}", ", \"step\": 1536")      \
    MLLOG("1700000266001", "INTERVAL_END", "block_stop", "null", ", \"samples_count\": 1536") \
    MLLOG("1700000267000", "INTERVAL_START", "eval_start", "null", "")                        \
    POINT("1700000279500", "eval_accuracy", "0.9375", ", \"samples_count\": 1536")

static const struct printed printed[] = {
    // Megatron-LM with tokens of others' patches: counted with units, and of one GPU
    {"3:  [2026-01-01 10:00:00] iteration  30/  300 | consumed samples: 3072 | consumed tokens: "
     "1.25B | elapsed time per iteration (ms): 8000.0 | eta: 0:36:00 | tokens/sec/gpu: 8000.5 | "
     "lm loss: 4.5E+00 |\n",
     "megatron-lm",
     1,
     30,
     {{LOG_CONSUMED_SAMPLES, 3072},
      {LOG_CONSUMED_TOKENS, 1.25e9},
      {LOG_STEP_S, 8},
      {LOG_TOKENS_PER_S, 8000.5},
      {LOG_LOSS, 4.5}}},
    {"[default3]: [2026-01-01 10:00:00] iteration  80/  100 | elapsed time per iteration (ms): "
     "1500.0 | mem usages: 0.8131 | Tokens per second per GPU (Tok/s/GPU): 2645.8 |\n",
     "megatron-lm",
     1,
     80,
     {{LOG_STEP_S, 1.5}, {LOG_TOKENS_PER_S, 2645.8}}},
    // averages: now, and the mean in parentheses; steps count within an epoch
    {"Epoch: [0][10/50]\tTime  0.500 ( 1.500)\tData  0.250 ( 0.500)\tLoss 6.7500e+00 "
     "(6.8750e+00)\tAcc@1   0.78 (  0.27)\nEpoch: [2][10/50]   Time 0.250 (1.500)      Data 0.125 "
     "(0.250)      Loss 6.5000 (6.8750)    Prec@1 6.250 (1.374)\nTest: [ 0/9]\tTime 2.341 "
     "(2.341)\tLoss 1.5 (1.5)\tAcc@1 71.8 (71.8)\n",
     "pytorch-examples",
     2,
     110,
     {{LOG_STEP_S, 0.25}, {LOG_LOSS, 6.5}}},
    // research codes with two times, in any order
    {"Epoch: [0][10/50]\tBatch Time 0.750 (1.500)\tData Time 0.250 (0.500)\tLoss 6.75 (6.85)\n"
     "Epoch: [0][20/50]\tData time 0.250 (0.500)\tTime 0.500 (1.500)\tLoss 6.50 (6.85)\n",
     "pytorch-examples",
     2,
     20,
     {{LOG_STEP_S, 0.5}, {LOG_LOSS, 6.5}}},
    {"[2026-01-01 09:05:16 tiny] (main.py 226): INFO Train: [1/300][20/50]\teta 0:10:52 lr "
     "0.000750\ttime 0.6250 (0.6516)\tloss 6.5000 (6.3074)\tgrad_norm 2.5000 (3.5000)\tmem "
     "14764MB\n",
     "swin",
     1,
     70,
     {{LOG_LEARNING_RATE, 0.00075},
      {LOG_STEP_S, 0.625},
      {LOG_LOSS, 6.5},
      {LOG_GRAD_NORM, 2.5},
      {LOG_MEMORY_BYTES, 14764.0 * MIB}}},
    // torchtitan on a stage of the pipeline that has no loss, and a device whose memory it does
    // not see
    {"[rank0]:[titan] 2026-01-16 16:32:01,123 - root - INFO - step:  1  loss: -1.0000  memory:  "
     "0.00GiB(0.00%)  tps: 8,192  tflops: 2.50  mfu: 0.25%\n",
     "torchtitan",
     1,
     1,
     {{LOG_TOKENS_PER_S, 8192}, {LOG_TFLOPS, 2.5}, {LOG_MFU, 0.0025}}},
    // litgpt, of whose iterations five are one step of the optimizer
    {"Epoch 1 | iter 50 step 10 | loss train: 2.750, val: n/a | iter time: 112.50 ms (step) "
     "remaining time: 0:01:54\n"
     "Epoch 1 | iter 52 step 10 | loss train: 2.500, val: n/a | iter time: 100.00 ms "
     "remaining time: 0:01:53\n",
     "litgpt",
     1,
     10,
     {{LOG_LOSS, 2.75}, {LOG_STEP_S, 0.5625}}},
    {"Epoch 1 | iter 51 step 10 | loss train: 2.750, val: n/a | iter time: 112.50 ms (step)\n",
     "litgpt",
     1,
     10,
     {{LOG_LOSS, 2.75}}}, // the batches of a step were changed
    // verl's trainer of fine-tuning: in thousandths, of which all digits may be zeros
    {"step:1 - train/loss:1.500 - train/lr(1e-3):0.000 - train/time(s):1.500\n"
     "step:2 - train/loss:1.250 - train/grad_norm:0.5 - train/lr(1e-3):0.010 - "
     "train/time(s):1.250\n",
     "verl",
     2,
     2,
     {{LOG_LOSS, 1.25}, {LOG_GRAD_NORM, 0.5}, {LOG_LEARNING_RATE, 1e-5}, {LOG_STEP_S, 1.25}}},
    // prime-rl, which prints 0 for a rate that it does not know yet
    {"02:40:52 SUCCESS Step 7 | Time: 5.00s | Loss: 12.2500 | Grad. Norm: 28.0000 | LR: 1.00e-06 "
     "| Throughput: 4000 tokens/s | MFU: 1.5% | Peak Mem.: 5.5/23.7 GiB (23.2%) | Max Vio: 1.0\n",
     "prime-rl",
     1,
     7,
     {{LOG_STEP_S, 5},
      {LOG_LOSS, 12.25},
      {LOG_GRAD_NORM, 28},
      {LOG_LEARNING_RATE, 1e-6},
      {LOG_JOB_TOKENS_PER_S, 4000},
      {LOG_MFU, 0.015},
      {LOG_MEMORY_BYTES, 5.5 * GIB}}},
    {"02:40:52 SUCCESS Step 0 | Time: 5.00s | Loss: 12.2500 | LR: 1.00e-06 | Throughput: 0 "
     "tokens/s | MFU: 0.0% | Peak Mem.: 5.5 GiB\n",
     "prime-rl",
     1,
     0,
     {{LOG_STEP_S, 5},
      {LOG_LOSS, 12.25},
      {LOG_LEARNING_RATE, 1e-6},
      {LOG_MEMORY_BYTES, 5.5 * GIB}}},
    // ms-swift: figures name their step, and the mean rate says how long the job has run
    {SWIFT "'global_step': 5}\n" SWIFT "'global_step': 10}\n", "hf-trainer", 2, 10, SWIFT_FIGURES},
    // people add a number of the step as they like
    {"{'loss': 1.75, 'epoch': 0.05, 'step': 100.0}\n{'loss': 1.5, 'epoch': 0.1, 'step': 200.0}\n",
     "hf-trainer",
     2,
     200,
     {{LOG_LOSS, 1.5}, {LOG_EPOCH, 0.1}}},
    {SWIFT "'global_step/max_steps': '10/94'}\n", "hf-trainer", 1, 10, SWIFT_FIGURES},
    {"{'loss': 0.125, 'iteration': '405/426', 'memory(GiB)': 113.5, 'train_speed(s/it)': 4.6}\n",
     "ms-swift",
     1,
     405,
     {{LOG_LOSS, 0.125}, {LOG_MEMORY_BYTES, 113.5 * GIB}}},
    // NeMo 1 without the number of a version, with a number that is rounded
    {"Epoch 0: : 100%|##| 50/50 [23:22<00:00, reduced_train_loss=0.186, global_step=49.00, "
     "consumed_samples=51200.0, train_step_timing in s=24.00]\n",
     "lightning",
     1,
     49,
     {{LOG_LOSS, 0.186}, {LOG_CONSUMED_SAMPLES, 51200}, {LOG_STEP_S, 24}}},
    {"Epoch 1: : 20%|#| 2000/9000 [43:24<00:00, reduced_train_loss=0.186, global_step=1.1e+4, "
     "train_step_timing in s=24.00]\n",
     "lightning",
     1,
     11000,
     {{LOG_LOSS, 0.186}, {LOG_STEP_S, 24}}},
    // Lightning with the rate alone, and with names that have a slash
    {"Epoch 0:   4%|4| 350/8000 [00:09<03:23, 40.00it/s, v_num=0]\n",
     "lightning",
     1,
     350,
     {{LOG_STEP_S, 0.025}}},
    {"Epoch 0:   1%|1| 1/115 [00:02<05:40,  0.50it/s, v_num=0, train/loss_step=12.90]\n",
     "lightning",
     1,
     1,
     {{LOG_LOSS, 12.9}, {LOG_STEP_S, 2}}},
    {"Training epoch 0, iteration 45/99 | global_step: 45 | max_memory_reserved: 127785762816 | "
     "max_memory_allocated: 115792977920 | reduced_train_loss: 11.96\n",
     "nemo",
     1,
     45,
     {{LOG_MEMORY_BYTES, 127785762816.0}, {LOG_LOSS, 11.96}}},
    // OpenMMLab
    {"02/20 14:43:13 - mmengine - INFO - Epoch(train)   [2][ 200/3125]  base_lr: 1.0000e-01 lr: "
     "5.0000e-02  eta: 1 day, 4:23:08  time: 0.0154  data_time: 0.0003  memory: 214  grad_norm: "
     "1.5  loss: 2.0963  loss_cls: 2.0\n"
     "02/20 14:44:13 - mmengine - INFO - Epoch(val) [2][4/4]    accuracy: 72.4  data_time: 0.0483 "
     " time: 0.1160\n",
     "mmengine",
     1,
     3325,
     {{LOG_LEARNING_RATE, 0.05},
      {LOG_STEP_S, 0.0154},
      {LOG_MEMORY_BYTES, 214 * MIB},
      {LOG_GRAD_NORM, 1.5},
      {LOG_LOSS, 2.0963}}},
    {"2025/02/09 07:47:36 - mmengine - INFO - Iter(train) [ 8852/96000]  lr: 1.0e-06  eta: 18 "
     "days, 16:17:59  time: 16.5  data_time: 0.0452  memory: 54044  loss: 0.5  tflops: 33.5  "
     "tokens_per_sec: 998.5\n",
     "mmengine",
     1,
     8852,
     {{LOG_LEARNING_RATE, 1e-6},
      {LOG_STEP_S, 16.5},
      {LOG_MEMORY_BYTES, 54044 * MIB},
      {LOG_LOSS, 0.5},
      {LOG_TFLOPS, 33.5},
      {LOG_TOKENS_PER_S, 998.5}}},
    {"2020-05-08 18:56:16,649 - mmdet - INFO - Epoch [2][2400/7517]\tlr: 0.00125, eta: 4:33:09, "
     "time: 0.595, data_time: 0.032, memory: 6836, loss_cls: 0.1939, loss: 0.4890\n",
     "mmcv",
     1,
     9917,
     {{LOG_LEARNING_RATE, 0.00125},
      {LOG_STEP_S, 0.595},
      {LOG_MEMORY_BYTES, 6836 * MIB},
      {LOG_LOSS, 0.489}}},
    // Detectron2, of which newer versions have the time of the last step, too
    {"[04/05 01:30:31 d2.utils.events]:  eta: 0:03:14  iter: 39  total_loss: 1.353  loss_cls: "
     "0.6354  time: 0.3633  data_time: 0.0641  lr: 7.5e-06  max_mem: 433M\n",
     "detectron2",
     1,
     39,
     {{LOG_LOSS, 1.353},
      {LOG_STEP_S, 0.3633},
      {LOG_LEARNING_RATE, 7.5e-6},
      {LOG_MEMORY_BYTES, 433 * MIB}}},
    {"[04/05 01:30:31 d2.utils.events]:  eta: 0:03:14  iter: 39  total_loss: 1.353  time: 0.3633  "
     "last_time: 0.4125  data_time: 0.0641  last_data_time: 0.0012  lr: 7.5e-06  max_mem: 433M\n",
     "detectron2",
     1,
     39,
     {{LOG_LOSS, 1.353},
      {LOG_STEP_S, 0.4125},
      {LOG_LEARNING_RATE, 7.5e-6},
      {LOG_MEMORY_BYTES, 433 * MIB}}},
    // the logger of torchvision's references
    {"Epoch: [2]  [1480/1504]  eta: 0:01:41  lr: 0.000005  loss: 0.8662 (0.8558)  grad_norm: "
     "0.2537 (0.3329)  time: 4.3713  data: 0.0001  max mem: 51710\n"
     "Test:  [  0/157]  eta: 0:01:41  loss: 0.9 (0.9)  time: 0.6473  data: 0.5  max mem: 51710\n",
     "torchvision",
     1,
     4488,
     {{LOG_LEARNING_RATE, 5e-6},
      {LOG_LOSS, 0.8662},
      {LOG_GRAD_NORM, 0.2537},
      {LOG_STEP_S, 4.3713},
      {LOG_MEMORY_BYTES, 51710 * MIB}}},
    {"2019-05-27 10:48:54,461 maskrcnn_benchmark.trainer INFO: eta: 0:17:37  iter: 87940  loss: "
     "0.6097 (0.9191)  time: 0.5063 (0.5132)  data: 0.0062 (0.0078)  lr: 0.000025  max mem: 4358\n",
     "torchvision",
     1,
     87940,
     {{LOG_LOSS, 0.6097},
      {LOG_STEP_S, 0.5063},
      {LOG_LEARNING_RATE, 2.5e-5},
      {LOG_MEMORY_BYTES, 4358 * MIB}}},
    {"Train: 2 [  50/10009 (  0%)]  Loss:  6.9278 (6.9180)  Time: 1.462s,   87.53/s  (1.896s,   "
     "67.51/s)  LR: 1.000e-06  Data: 0.026 (0.199)\n"
     "Test: [  30/30]  Time: 3.856 (0.732)  Loss:   6.615 ( 6.691)  Acc@1:   0.000 (  0.076)\n",
     "timm",
     1,
     20068,
     {{LOG_LOSS, 6.9278}, {LOG_STEP_S, 1.462}, {LOG_LEARNING_RATE, 1e-6}}},
    // a line per figure
    {COMPOSER(""), "composer", 1, 8, COMPOSER_FIGURES},
    {COMPOSER("[rank0]:"), "composer", 1, 8, COMPOSER_FIGURES},
    {"\t Train time/batch: 7\n\t Train loss/train/total: 1.5\n\t Train throughput/"
     "batches_per_sec: 0.0027\n[Eval batch=1/2] Eval on eval data:\n\t Train time/batch: 8\n"
     "\t Train loss/train/total: 1.25\n",
     "composer",
     2,
     9,
     {{LOG_LOSS, 1.25}}},
    {"[2024-04-17 09:42:38] INFO     [olmo.train:816, rank=0] [step=2/739328]\n"
     "    train/CrossEntropyLoss=10.73\n    train/Perplexity=45,773\n"
     "    throughput/total_tokens=8,388,608\n    throughput/device/tokens_per_second=45,538\n"
     "    throughput/device/batches_per_second=0.0800\n    System/Peak GPU Memory (MB)=43,309\n"
     "Saving checkpoint...\n    train/CrossEntropyLoss=9.9\n",
     "olmo",
     1,
     2,
     {{LOG_LOSS, 10.73},
      {LOG_CONSUMED_TOKENS, 8388608},
      {LOG_TOKENS_PER_S, 45538},
      {LOG_STEP_S, 12.5},
      {LOG_MEMORY_BYTES, 43309e6}}},
    {"0: 2026-08-08 12:01:00 INFO [olmo_core.train.callbacks.console_logger:68] [step=100/2000,"
     "epoch=0,eta=5h11m]\n0:     train/CE loss=6.2341\n0:     optim/LR (group 0)=0.0003\n"
     "0:     throughput/device/TPS=7,900\n0:     throughput/device/TPS (actual avg)=7,800\n"
     "0:     throughput/device/MFU=41.5\n",
     "olmo",
     1,
     100,
     {{LOG_LOSS, 6.2341}, {LOG_LEARNING_RATE, 0.0003}, {LOG_TOKENS_PER_S, 7900}, {LOG_MFU, 0.415}}},
    // nanotron, whose batch is of tokens since it prints no elapsed time
    {"12/21 01:39:51 [INFO|DP=0|TP=0|n7]: iteration: 21 / 15000 | consumed_tokens: 480B | "
     "time_per_iteration_ms: 8K | tokens_per_sec: 192K | tokens_per_sec_per_gpu: 699 | "
     "global_batch_size: 1.536M | lm_loss: 2.04 | eta: 131 days, 1:45:39\n",
     "nanotron",
     1,
     21,
     {{LOG_CONSUMED_TOKENS, 480e9},
      {LOG_STEP_S, 8},
      {LOG_JOB_TOKENS_PER_S, 192e3},
      {LOG_TOKENS_PER_S, 699},
      {LOG_LOSS, 2.04}}},
    {"08/31/2024 14:37:31 [INFO|DP=0|PP=0|TP=0]: iteration: 2 / 15 | consumed_tokens: 1.02K | "
     "elapsed_time_per_iteration_ms: 4.5K | global_batch_size: 2 | lm_loss: 5.25 | "
     "cuda_max_memory_reserved: 520M\n",
     "nanotron",
     1,
     2,
     {{LOG_CONSUMED_TOKENS, 1020},
      {LOG_STEP_S, 4.5},
      {LOG_GLOBAL_BATCH, 2},
      {LOG_LOSS, 5.25},
      {LOG_MEMORY_BYTES, 520e6}}},
    // InternEvo, in two versions
    {"2024-11-24 02:35:28,531 INFO pipeline.py:770 in record_metrics -- tflops=229.5 step=642 "
     "loss=2.25 real_tgs=719.84 tgs (tokens/gpu/second)=720.5 tgs/tgs_all=716.63 lr=9.5e-05 "
     "grad_norm={'0_default': 2.15, '1_fp32': 0.0} num_consumed_tokens=674234368 "
     "fwd_bwd_time=1.4\n",
     "internevo",
     1,
     642,
     {{LOG_TFLOPS, 229.5},
      {LOG_LOSS, 2.25},
      {LOG_TOKENS_PER_S, 720.5},
      {LOG_LEARNING_RATE, 9.5e-5},
      {LOG_CONSUMED_TOKENS, 674234368}}},
    {"2023-07-07 12:29:01,636\tINFO train.py:323 -- tflops=189.5,step=1,loss=11.5,tgs "
     "(tokens/gpu/second)=4274.5,lr=6e-07,grad_norm=65.5,num_consumed_tokens=262144,micro_num=4\n",
     "internevo",
     1,
     1,
     {{LOG_TFLOPS, 189.5},
      {LOG_LOSS, 11.5},
      {LOG_TOKENS_PER_S, 4274.5},
      {LOG_LEARNING_RATE, 6e-7},
      {LOG_GRAD_NORM, 65.5},
      {LOG_CONSUMED_TOKENS, 262144}}},
    {"(Actor pid=1) [2026-08-15 05:04:17.003 rank8] log_utils.py:460 - step 7: {'train/loss': "
     "1.25, "
     "'train/pg_loss': -0.5, 'train/grad_norm': 2.5, 'train/lr-pg_0': 2e-05, 'train/step': 7}\n",
     "slime",
     1,
     7,
     {{LOG_LOSS, 1.25}, {LOG_GRAD_NORM, 2.5}, {LOG_LEARNING_RATE, 2e-5}}},
    {"step:7400/20000 train_loss:2.0282 train_time:595325ms step_avg:80.45ms\n",
     "modded-nanogpt",
     1,
     7400,
     {{LOG_LOSS, 2.0282}, {LOG_RUN_S, 595.325}}},
    // a rate that was rounded away
    {"(Runner) step:2 - actor/pg_loss:0.125 - actor/lr:0.000 - timing_s/step:96.5 - perf/x:1\n",
     "verl",
     1,
     2,
     {{LOG_LOSS, 0.125}, {LOG_STEP_S, 96.5}}},
    // MLPerf
    {MLPERF("llama2_70b_lora") MLPERF_BLOCK,
     "mlperf",
     1,
     192,
     {{LOG_GLOBAL_BATCH, 8},
      {LOG_CONSUMED_SAMPLES, 1536},
      {LOG_SAMPLES_PER_S, 6.4},
      {LOG_STEP_S, 1.25}}},
    {MLPERF("llama31_8b") POINT("1700000010000", "tracked_stats",
                                "{\"train_step_time\": 0.125, \"reduced_train_loss\": 5.75}",
                                ", \"step\": 351.0, \"samples_count\": 2808.0")
         POINT("1700000010500", "tracked_stats", "{\"validation_step_time\": 0.25}",
               ", \"step\": 24, \"samples_count\": 900")
             POINT("1700000011000", "tracked_stats", "{\"train_step_time\": 0.125}",
                   ", \"samples_count\": 2736"),
     "mlperf",
     1,
     351,
     {{LOG_GLOBAL_BATCH, 8}, {LOG_CONSUMED_SAMPLES, 2808}, {LOG_STEP_S, 0.125}, {LOG_LOSS, 5.75}}},
    {MLPERF("gpt-oss-20b")
         POINT("1700000010000", "train_loss", "11.5", ", \"samples_count\": 64, \"lr\": 3.0e-06"),
     "mlperf",
     1,
     8,
     {{LOG_GLOBAL_BATCH, 8},
      {LOG_CONSUMED_SAMPLES, 64},
      {LOG_LOSS, 11.5},
      {LOG_LEARNING_RATE, 3e-6}}},
    {MLPERF("gpt3")
         POINT("1700000266000", "tracked_stats", "{\"throughput\": 5000000.5}", ", \"step\": 4096")
             MLLOG("1700000266001", "INTERVAL_END", "block_stop", "null", ", \"step\": 12"),
     "mlperf",
     1,
     12,
     {{LOG_GLOBAL_BATCH, 8}, {LOG_JOB_TOKENS_PER_S, 5000000.5}}},
    // OpenRLHF
    {"(PPOTrainer pid=1) ppo_trainer.py:547] \xE2\x9C\xA8 Global step 12: {'response_length': "
     "40.3, "
     "'policy_loss': 0.25, 'timing/generation': 2.95, 'actor_lr': 3.25e-06, 'timing/step_total': "
     "8.5}\n",
     "openrlhf",
     1,
     12,
     {{LOG_LOSS, 0.25}, {LOG_LEARNING_RATE, 3.25e-6}, {LOG_STEP_S, 8.5}}},
    {"Train step of epoch 1:  12%|1| 121/1000 [02:00<14:00,  1.5s/it, gpt_loss=1.25, "
     "loss_mean=1.3, lr=5e-6]\n",
     "openrlhf-bar",
     1,
     1121,
     {{LOG_LOSS, 1.25}, {LOG_LEARNING_RATE, 5e-6}, {LOG_STEP_S, 1.5}}},
};

static void frameworks_print_steps_in_their_own_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        assert_printed(&printed[i], "train.log");
}

static const struct printed recorded[] = {
    {"{\"loss\": 1.5, \"global_step/max_steps\": \"1/94\", \"train_speed(iter/s)\": 0.125, "
     "\"memory(GiB)\": 16.5}\n"
     "{\"loss\": 1.25, \"global_step/max_steps\": \"5/94\", \"train_speed(iter/s)\": 0.25, "
     "\"memory(GiB)\": 16.5}\n",
     "jsonl",
     2,
     5,
     {{LOG_LOSS, 1.25}, {LOG_MEMORY_BYTES, 16.5 * GIB}, {LOG_RUN_S, 20}}},
    {"{\"lr\": 0.001, \"data_time\": 0.05, \"loss\": 2.25, \"time\": 2.5, \"step\": 23}\n"
     "{\"lr\": 0.001, \"data_time\": 0.05, \"loss\": 2.0, \"time\": 2.25, \"step\": 46}\n"
     "{\"mIoU\": 0.8, \"data_time\": 0.1, \"time\": 3.0, \"step\": 2}\n",
     "jsonl",
     2,
     46,
     {{LOG_LEARNING_RATE, 0.001}, {LOG_LOSS, 2}, {LOG_STEP_S, 2.25}}},
    {"{\"data_time\": 0.004, \"iteration\": 19, \"lr\": 0.001, \"time\": 0.375, \"total_loss\": "
     "1.375}\n"
     "{\"data_time\": 0.004, \"iteration\": 39, \"lr\": 0.001, \"time\": 0.25, \"total_loss\": "
     "1.25}\n",
     "jsonl",
     2,
     39,
     {{LOG_LEARNING_RATE, 0.001}, {LOG_STEP_S, 0.25}, {LOG_LOSS, 1.25}}},
};

static void their_records_have_the_same_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        assert_printed(&recorded[i], "metrics.json");
}

static void mlperf_s_accuracy_is_a_loss_of_language_models(void **state)
{
    (void)state;
    read_whole(MLPERF("llama2_70b_lora") MLPERF_BLOCK);
    assert_true(evidence.log.utc);
    assert_int_equal(evidence.log.events[0].time_ns, INT64_C(1700000267000) * 1000000);
    assert_int_equal(evidence.log.events[0].rank, 0);
    assert_evaluation(0.9375, INT64_C(12500000000));
    read_whole(MLPERF("bert") MLPERF_BLOCK);
    assert_evaluation((double)NAN, INT64_C(12500000000));
}

// The same launcher fails twice, with a step between.
static void each_step_of_mlperf_may_have_its_fault(void **state)
{
    (void)state;
    read_whole(MLPERF("bert") "srun: error: n1: task 3: Killed\n" POINT(
        "1700000010000", "train_loss", "11.5",
        ", \"samples_count\": 64") "srun: error: n2: task 9: Killed\nsrun: error: n2: task 8: "
                                   "Killed\n");
    assert_int_equal(evidence.log.step_count, 1);
    assert_int_equal(evidence.log.event_count, 2);
    evidence_free(&evidence);
}

static void a_log_may_have_evaluations_alone(void **state)
{
    (void)state;
    read_whole("{'eval_loss': 2.125, 'eval_runtime': 12.5, 'epoch': 1.0}\n");
    assert_int_equal(evidence.log.step_count, 0);
    assert_evaluation(2.125, INT64_C(12500000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frameworks_print_steps_in_their_own_ways),
        cmocka_unit_test(their_records_have_the_same_figures),
        cmocka_unit_test(mlperf_s_accuracy_is_a_loss_of_language_models),
        cmocka_unit_test(each_step_of_mlperf_may_have_its_fault),
        cmocka_unit_test(a_log_may_have_evaluations_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
