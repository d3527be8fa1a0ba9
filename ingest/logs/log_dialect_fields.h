// SPDX-License-Identifier: Apache-2.0
// What the figures of a step are called, and in which units they are, for the rows of
// log_dialects.c.
#ifndef INGEST_LOGS_LOG_DIALECT_FIELDS_H
#define INGEST_LOGS_LOG_DIALECT_FIELDS_H

#include "ingest/logs/log_dialects.h"

#define GIB     (1024.0 * 1024 * 1024)
#define MIB     (1024.0 * 1024)
#define GB      1e9
#define MB      1e6
#define MS      1e-3
#define PERCENT 1e-2
#define BYTES   "GiB GB"
#define COUNTS  "K M B G T P" // nanotron's, and 1e9 by either letter

// Megatron-LM and what builds on it: Primus with both of its backends, DeepSpeed's Megatron,
// GPT-NeoX, Megatron-Bridge. Of "now/mean" the first counts.
static const struct log_field megatron[] = {
    {"consumed samples", LOG_CONSUMED_SAMPLES, 1, NULL},
    {"consumed tokens", LOG_CONSUMED_TOKENS, 1, COUNTS},
    {"elapsed time per iteration (ms)", LOG_STEP_S, MS, NULL},
    {"elapsed time per iteration (s)", LOG_STEP_S, 1, NULL},
    {"learning rate", LOG_LEARNING_RATE, 1, NULL},
    {"global batch size", LOG_GLOBAL_BATCH, 1, NULL},
    {"gloabl batch size", LOG_GLOBAL_BATCH, 1, NULL},
    {"lm loss", LOG_LOSS, 1, NULL},
    {"lm-loss", LOG_LOSS, 1, NULL},
    {"lm_loss", LOG_LOSS, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
    {"loss scale", LOG_UNUSED, 1, NULL},
    {"grad norm", LOG_GRAD_NORM, 1, NULL},
    {"num zeros", LOG_UNUSED, 1, NULL},
    {"params norm", LOG_UNUSED, 1, NULL},
    {"number of skipped iterations", LOG_SKIPPED, 1, NULL},
    {"number of nan iterations", LOG_NAN, 1, NULL},
    {"throughput per GPU*", LOG_TFLOPS, 1, NULL},
    {"compute per GPU*", LOG_TFLOPS, 1, NULL},
    {"flop throughput*", LOG_TFLOPS, 1, NULL},
    {"TFLOPs", LOG_TFLOPS, 1, NULL},
    {"approx flops per GPU", LOG_TFLOPS, 1, "TFLOPS"},
    {"tokens per GPU*", LOG_TOKENS_PER_S, 1, NULL},
    {"tokens per gpu per second*", LOG_TOKENS_PER_S, 1, NULL},
    {"tokens/s/GPU*", LOG_TOKENS_PER_S, 1, NULL},
    {"tokens/sec/GPU", LOG_TOKENS_PER_S, 1, NULL},
    {"tokens/sec/gpu", LOG_TOKENS_PER_S, 1, NULL},
    {"Tokens per second per GPU*", LOG_TOKENS_PER_S, 1, NULL},
    {"samples per second", LOG_SAMPLES_PER_S, 1, NULL},
    {"samples/sec", LOG_SAMPLES_PER_S, 1, NULL},
    {"energy per GPU*", LOG_ENERGY_J, 1, NULL},
    {"power per GPU*", LOG_POWER_W, 1, NULL},
    {"mfu", LOG_MFU, PERCENT, NULL},
    // Primus: used/free/total; under torchtitan reserved/active/%, whatever its label
    {"hip mem usage*", LOG_MEMORY_BYTES, GIB, BYTES},
    {"rocm mem usage*", LOG_MEMORY_BYTES, GIB, BYTES},
    {"memory usage*", LOG_MEMORY_BYTES, GIB, BYTES},
    {"*max mem usage/usage_ratio", LOG_MEMORY_BYTES, GIB, BYTES}, // of the rank with the most
};

static const struct log_field torchtitan[] = {
    {"loss", LOG_LOSS_IF_ANY, 1, NULL},       {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"memory", LOG_MEMORY_BYTES, GIB, BYTES}, {"tps", LOG_TOKENS_PER_S, 1, NULL},
    {"wps", LOG_TOKENS_PER_S, 1, NULL},       {"tflops", LOG_TFLOPS, 1, NULL},
    {"mfu", LOG_MFU, PERCENT, NULL},          {"lr", LOG_LEARNING_RATE, 1, NULL},
};

static const struct log_field deepspeed[] = {
    {"RunningAvgSamplesPerSec", LOG_MEAN_SAMPLES_PER_S, 1, NULL},
    {"SamplesPerSec", LOG_MEAN_SAMPLES_PER_S, 1, NULL},
    {"CurrSamplesPerSec", LOG_SAMPLES_PER_S, 1, NULL},
    {"MaxMemAllocated", LOG_MEMORY_BYTES, GIB, BYTES},
};

// A line before that of DeepSpeed's timer.
static const struct log_field deepspeed_rates[] = {
    {"skipped", LOG_ALL_SKIPPED, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL}, // of the first group of parameters
};

// Of its pipeline engine.
static const struct log_field deepspeed_pipeline[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"(s)", LOG_STEP_S, 1, NULL},
    {"samples/sec", LOG_SAMPLES_PER_S, 1, NULL},
};

static const struct log_field nemo2[] = {
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"global_batch_size", LOG_GLOBAL_BATCH, 1, NULL},
    {"reduced_train_loss", LOG_LOSS, 1, NULL},
    {"train_step_timing in s", LOG_STEP_S, 1, NULL},
    {"consumed_samples", LOG_CONSUMED_SAMPLES, 1, NULL},
    {"tokens_per_sec_per_gpu", LOG_TOKENS_PER_S, 1, NULL},
    {"TFLOPS_per_GPU", LOG_TFLOPS, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"peak_memory_usage", LOG_MEMORY_BYTES, 1, NULL},
    {"max_memory_reserved", LOG_MEMORY_BYTES, 1, NULL},
};

static const struct log_field automodel[] = {
    {"epoch", LOG_EPOCH, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"mem", LOG_MEMORY_BYTES, GIB, NULL},
    {"tps", LOG_JOB_TOKENS_PER_S, 1, NULL}, // and in parentheses divided by copies of the model
};

static const struct log_field hf[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"learning_rate", LOG_LEARNING_RATE, 1, NULL},
    {"epoch", LOG_EPOCH, 1, NULL},
    {"num_tokens", LOG_CONSUMED_TOKENS, 1, NULL},
    {"num_input_tokens_seen", LOG_CONSUMED_TOKENS, 1, NULL},
    {"train_runtime", LOG_RUN_S, 1, NULL},
    // axolotl
    {"tokens/total", LOG_CONSUMED_TOKENS, 1, NULL},
    {"memory/device_reserved (GiB)", LOG_MEMORY_BYTES, GIB, NULL},
    {"memory/device_mem_reserved(gib)", LOG_MEMORY_BYTES, GIB, NULL},
    // ms-swift; and what people add to the figures
    {"global_step/max_steps", LOG_ITS_STEP, 1, NULL},
    {"iteration", LOG_ITS_STEP, 1, NULL},
    {"global_step", LOG_ITS_STEP, 1, NULL},
    {"step", LOG_ITS_STEP, 1, NULL},
    {"memory(GiB)", LOG_MEMORY_BYTES, GIB, NULL},
    {"train_speed(iter/s)", LOG_ALL_STEPS_PER_S, 1, NULL},
    {"step_time", LOG_STEP_S, 1, NULL},                         // trl's GRPO
    {"max_memory_allocated (GB)", LOG_MEMORY_BYTES, GIB, NULL}, // Gaudi's, in use
};

static const struct log_field maxtext[] = {
    {"seconds", LOG_STEP_S, 1, NULL},
    {"TFLOP/s/device", LOG_TFLOPS, 1, NULL},
    {"TFLOP/s", LOG_TFLOPS, 1, NULL}, // the same in 2023
    {"Tokens/s/device", LOG_TOKENS_PER_S, 1, NULL},
    {"Samples/s/device", LOG_DEVICE_SAMPLES_PER_S, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
};

// What newer versions call the size of a batch is in tokens; that of those that print an elapsed
// time is in samples.
static const struct log_field nanotron[] = {
    {"consumed_tokens", LOG_CONSUMED_TOKENS, 1, COUNTS},
    {"time_per_iteration_ms", LOG_STEP_S, MS, COUNTS},
    {"tokens_per_sec", LOG_JOB_TOKENS_PER_S, 1, COUNTS},
    {"tokens_per_sec_per_gpu", LOG_TOKENS_PER_S, 1, COUNTS},
    {"lm_loss", LOG_LOSS, 1, COUNTS},
    {"lr", LOG_LEARNING_RATE, 1, COUNTS},
    {"model_tflops_per_gpu", LOG_TFLOPS, 1, COUNTS},
    {"grad_norm", LOG_GRAD_NORM, 1, COUNTS},
};

static const struct log_field nanotron_2024[] = {
    {"consumed_tokens", LOG_CONSUMED_TOKENS, 1, COUNTS},
    {"elapsed_time_per_iteration_ms", LOG_STEP_S, MS, COUNTS},
    {"tokens_per_sec", LOG_JOB_TOKENS_PER_S, 1, COUNTS},
    {"tokens_per_sec_per_gpu", LOG_TOKENS_PER_S, 1, COUNTS},
    {"global_batch_size", LOG_GLOBAL_BATCH, 1, COUNTS},
    {"lm_loss", LOG_LOSS, 1, COUNTS},
    {"lr", LOG_LEARNING_RATE, 1, COUNTS},
    {"model_tflops_per_gpu", LOG_TFLOPS, 1, COUNTS},
    {"cuda_max_memory_reserved", LOG_MEMORY_BYTES, 1, COUNTS},
    {"grad_norm", LOG_GRAD_NORM, 1, COUNTS},
};

static const struct log_field torchtune[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"tokens_per_second_per_gpu", LOG_TOKENS_PER_S, 1, NULL},
    {"peak_memory_reserved", LOG_MEMORY_BYTES, GIB, NULL},
};

// nanoGPT and what was made from it. A share of -100% is not known yet.
static const struct log_field nanogpt[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"time", LOG_STEP_S, MS, "ms"},
    {"mfu", LOG_MFU, PERCENT, NULL},
};

// Speedruns of it, whose time leaves out tests.
static const struct log_field modded_nanogpt[] = {
    {"train_loss", LOG_LOSS, 1, NULL},
    {"train_time", LOG_RUN_S, MS, "ms"},
};

// nanochat, autoresearch and what was made from "build-nanogpt". The rate is of all GPUs.
static const struct log_field nanochat[] = {
    {"loss", LOG_LOSS, 1, NULL},      {"dt", LOG_STEP_S, MS, "ms"},
    {"time", LOG_STEP_S, MS, "ms"},   {"tok/sec", LOG_JOB_TOKENS_PER_S, 1, NULL},
    {"norm", LOG_GRAD_NORM, 1, NULL}, {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"mfu", LOG_MFU, PERCENT, NULL},  {"bf16_mfu", LOG_MFU, PERCENT, NULL},
};

static const struct log_field internevo[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"tflops", LOG_TFLOPS, 1, NULL},
    {"(tokens/gpu/second)", LOG_TOKENS_PER_S, 1, NULL},
    {"num_consumed_tokens", LOG_CONSUMED_TOKENS, 1, NULL},
};

// Of reinforcement learning on Megatron-LM or FSDP; what a rollout took is counted by rollouts.
static const struct log_field slime[] = {
    {"train/loss", LOG_LOSS, 1, NULL},
    {"train/grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"train/lr-pg_0", LOG_LEARNING_RATE, 1, NULL},
};

static const struct log_field llm_c[] = {
    {"loss", LOG_LOSS, 1, NULL},        {"norm", LOG_GRAD_NORM, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL}, {"ms", LOG_STEP_S, MS, NULL},
    {"*MFU", LOG_MFU, PERCENT, NULL},   {"tok/s", LOG_JOB_TOKENS_PER_S, 1, NULL},
};

// The rate is of all GPUs, the share of the peak of one; 0 until a second step is counted.
static const struct log_field prime_rl[] = {
    {"Time", LOG_STEP_S, 1, "s"},       {"Loss", LOG_LOSS, 1, NULL},
    {"KL Loss", LOG_LOSS, 1, NULL},     {"Grad. Norm", LOG_GRAD_NORM, 1, NULL},
    {"LR", LOG_LEARNING_RATE, 1, NULL}, {"Throughput", LOG_JOB_TOKENS_PER_S, 1, "tokens/s"},
    {"MFU", LOG_MFU, PERCENT, NULL},    {"Peak Mem.", LOG_MEMORY_BYTES, GIB, NULL},
};

// PyTorch's ImageNet example, Swin Transformer and theirs: now, and in parentheses the mean.
// Their "Speed" is of all GPUs with some and of one with others.
static const struct log_field averages[] = {
    {"Time", LOG_STEP_S, 1, "s"},          {"time", LOG_STEP_S, 1, "s"},
    {"Loss", LOG_LOSS, 1, NULL},           {"loss", LOG_LOSS, 1, NULL},
    {"LR", LOG_LEARNING_RATE, 1, NULL},    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL}, {"mem", LOG_MEMORY_BYTES, MIB, "MB"},
};

// The time is that of a batch, of which several are a step.
static const struct log_field litgpt[] = {
    {"loss train", LOG_LOSS, 1, NULL},
    {"iter time", LOG_STEP_S, MS, NULL},
};

static const struct log_field verl_sft[] = {
    {"train/loss", LOG_LOSS, 1, NULL},        {"train/grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"train/lr", LOG_LEARNING_RATE, 1, NULL}, {"train/lr(1e-3)", LOG_LEARNING_RATE, 1e-3, NULL},
    {"train/time(s)", LOG_STEP_S, 1, NULL},
};

// The share of the peak that verl prints is that of the update alone.
static const struct log_field verl[] = {
    {"timing_s/step", LOG_STEP_S, 1, NULL},
    {"perf/throughput", LOG_TOKENS_PER_S, 1, NULL},
    {"perf/max_memory_reserved_gb", LOG_MEMORY_BYTES, GIB, NULL},
    {"actor/perf/max_memory_reserved_gb", LOG_MEMORY_BYTES, GIB, NULL},
    {"actor/pg_loss", LOG_LOSS, 1, NULL},
    {"actor/grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"actor/lr", LOG_LEARNING_RATE, 1, NULL},
};

// As JSON, and as "epoch 001: 100 / 5000 loss=8.2, ...": both print what metrics.log_* collected
// over all ranks (fairseq/trainer.py), so words and sentences are those of the job. "* loss"
// follows the progress; nll_loss has no blank.
static const struct log_field fairseq[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"* loss", LOG_LOSS, 1, NULL},
    {"gnorm", LOG_GRAD_NORM, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"wps", LOG_JOB_TOKENS_PER_S, 1, NULL},
    {"bsz", LOG_GLOBAL_BATCH, 1, NULL},
    {"wall", LOG_RUN_S, 1, NULL},
};

// A line before that of Megatron-LM.
static const struct log_field bridge[] = {
    {"Time", LOG_STEP_S, 1, "s"},
    {"utilization", LOG_TFLOPS, 1, "MODEL_TFLOP/s/GPU"},
};

#define BULLET "\xE2\x80\xA2 "

// A heading with the step's number, and its figures in lines below.
static const struct log_field nemo_rl[] = {
    {BULLET "Loss", LOG_LOSS, 1, NULL},
    {BULLET "Total step time", LOG_STEP_S, 1, "s"},
    {BULLET "Grad Norm", LOG_GRAD_NORM, 1, NULL},
    {"E2E (Tokens/sec/gpu)", LOG_TOKENS_PER_S, 1, NULL},
    {"E2E (Tokens/sec)", LOG_JOB_TOKENS_PER_S, 1, NULL},
};

// OpenMMLab's, of which xtuner prints rates of a GPU, and Detectron2. What they call memory is the
// most that was allocated.
static const struct log_field vision[] = {
    {"time", LOG_STEP_S, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"memory", LOG_MEMORY_BYTES, MIB, NULL},
    {"mem", LOG_MEMORY_BYTES, MIB, NULL}, // "max mem: 4358"
    {"tflops", LOG_TFLOPS, 1, NULL},
    {"tokens_per_sec", LOG_TOKENS_PER_S, 1, NULL},
};

// Its time is the mean since the job began, but for the last step's of newer versions.
static const struct log_field detectron2[] = {
    {"total_loss", LOG_LOSS, 1, NULL},
    {"time", LOG_STEP_S, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"max_mem", LOG_MEMORY_BYTES, MIB / MB, "M"},
};

static const struct log_field detectron2_last[] = {
    {"total_loss", LOG_LOSS, 1, NULL},
    {"last_time", LOG_STEP_S, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"max_mem", LOG_MEMORY_BYTES, MIB / MB, "M"},
};

static const struct log_field timm[] = {
    {"Loss", LOG_LOSS, 1, NULL},
    {"Time", LOG_STEP_S, 1, "s"},
    {"LR", LOG_LEARNING_RATE, 1, NULL},
};

// Its four decimals are too few for learning rates.
static const struct log_field composer[] = {
    {"loss/train/total", LOG_LOSS, 1, NULL},
    {"throughput/batches_per_sec", LOG_STEPS_PER_S, 1, NULL},
    {"throughput/samples_per_sec", LOG_SAMPLES_PER_S, 1, NULL},
    {"throughput/tokens_per_sec", LOG_JOB_TOKENS_PER_S, 1, NULL},
    {"throughput/device/tokens_per_sec", LOG_TOKENS_PER_S, 1, NULL},
    {"throughput/device/flops_per_sec", LOG_TFLOPS, 1e-12, NULL},
    {"throughput/device/mfu", LOG_MFU, 1, NULL},
    {"memory/peak_reserved_mem", LOG_MEMORY_BYTES, GB, NULL},
    {"l2_norm/grad/global", LOG_GRAD_NORM, 1, NULL},
};

// OLMo, and OLMo-core with blanks in its names.
static const struct log_field olmo[] = {
    {"*train/CrossEntropyLoss", LOG_LOSS, 1, NULL},
    {"*train/CE loss", LOG_LOSS, 1, NULL},
    {"*throughput/total_tokens", LOG_CONSUMED_TOKENS, 1, NULL},
    {"*throughput/total tokens", LOG_CONSUMED_TOKENS, 1, NULL},
    {"*throughput/device/tokens_per_second", LOG_TOKENS_PER_S, 1, NULL},
    {"*throughput/device/TPS", LOG_TOKENS_PER_S, 1, NULL},
    {"*throughput/device/batches_per_second", LOG_STEPS_PER_S, 1, NULL},
    {"*throughput/device/BPS", LOG_STEPS_PER_S, 1, NULL},
    {"*throughput/device/MFU", LOG_MFU, PERCENT, NULL},
    {"*System/Peak GPU Memory (MB)", LOG_MEMORY_BYTES, MB, NULL},
    {"*gpu_memory/GPU reserved mem (GiB)", LOG_MEMORY_BYTES, GIB, NULL},
    {"*optim/total_grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"*optim/total grad norm", LOG_GRAD_NORM, 1, NULL},
    {"*optim/learning_rate_group0", LOG_LEARNING_RATE, 1, NULL},
    {"*optim/LR (group 0)", LOG_LEARNING_RATE, 1, NULL},
};

// Of reinforcement learning; and its bars of other trainers, which count micro-batches.
static const struct log_field openrlhf[] = {
    {"policy_loss", LOG_LOSS, 1, NULL},
    {"actor_lr", LOG_LEARNING_RATE, 1, NULL},
    {"actor_grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"timing/step_total", LOG_STEP_S, 1, NULL},
};

static const struct log_field openrlhf_bar[] = {
    {"gpt_loss", LOG_LOSS, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
};

// Progress bars of Lightning, so of NeMo 1.
static const struct log_field lightning[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"train/loss", LOG_LOSS, 1, NULL},
    {"train/loss_step", LOG_LOSS, 1, NULL},
    {"train_loss", LOG_LOSS, 1, NULL},
    {"train_loss_step", LOG_LOSS, 1, NULL},
    {"reduced_train_loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"consumed_samples", LOG_CONSUMED_SAMPLES, 1, NULL},
    {"train_step_timing in s", LOG_STEP_S, 1, NULL},
};

// PaddleNLP's trainer. Its samples per second are too few by the steps between two lines in its
// first versions.
static const struct log_field paddlenlp[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"* loss", LOG_LOSS, 1, NULL}, // behind what the logger prints
    {"learning_rate", LOG_LEARNING_RATE, 1, NULL},
    {"interval_steps_per_second", LOG_STEPS_PER_S, 1, NULL},
    {"interval_tokens_per_second_per_device", LOG_TOKENS_PER_S, 1, NULL},
    {"max_memory_reserved", LOG_MEMORY_BYTES, GIB, NULL},
    {"epoch", LOG_EPOCH, 1, NULL},
    {"progress_or_epoch", LOG_EPOCH, 1, NULL},
};

// PaddlePaddle's other programs. Their "ips" are of all GPUs with some and of one with others.
static const struct log_field paddle[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"* lr", LOG_LEARNING_RATE, 1, NULL},
    {"learning rate", LOG_LEARNING_RATE, 1, NULL},
    {"learning_rate", LOG_LEARNING_RATE, 1, NULL},
    {"avg_batch_cost", LOG_STEP_S, 1, "s"},
    {"batch_cost", LOG_STEP_S, 1, "s"},
    {"ips_total", LOG_JOB_TOKENS_PER_S, 1, NULL},
};

// MindSpore and MindFormers. "170.7T" are TFLOP/s.
static const struct log_field mindspore[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"per_step_time", LOG_STEP_S, MS, "ms"},
    {"per step time", LOG_STEP_S, MS, "ms"},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"train_throughput_per_npu", LOG_TFLOPS, 1e-12, "T"},
    {"throughput", LOG_TFLOPS, 1e-12, "T"},
};

// Progress bars of diffusers and of sd-scripts.
static const struct log_field diffusers[] = {
    {"step_loss", LOG_LOSS, 1, NULL},
    {"avr_loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
};

// Coqui's trainer, without the time that it waits for its loader.
static const struct log_field coqui[] = {
    {"| > loss", LOG_LOSS, 1, NULL},
    {"| > step_time", LOG_STEP_S, 1, NULL},
    {"| > grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"| > current_lr", LOG_LEARNING_RATE, 1, NULL},
};

#endif
