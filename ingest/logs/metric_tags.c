// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/metric_tags.h"

#include <math.h>

#define GIB     0x1p30
#define PERCENT 0.01

static const struct {
    const char *name;
    enum log_value value;
    double scale;
} tags[] = {
    // torchtitan
    {"loss_metrics/global_avg_loss", LOG_LOSS, 1},
    {"throughput(tps)", LOG_TOKENS_PER_S, 1},
    {"mfu(%)", LOG_MFU, PERCENT},
    {"time_metrics/end_to_end(s)", LOG_STEP_S, 1},
    {"memory/max_reserved(GiB)", LOG_MEMORY_BYTES, GIB},
    {"tflops", LOG_TFLOPS, 1},
    {"tps", LOG_TOKENS_PER_S, 1},
    {"mfu", LOG_MFU, 1},
    // Megatron-LM, Primus
    {"lm loss", LOG_LOSS, 1},
    {"grad-norm", LOG_GRAD_NORM, 1},
    {"learning-rate", LOG_LEARNING_RATE, 1},
    {"batch-size", LOG_GLOBAL_BATCH, 1},
    {"iteration-time", LOG_STEP_S, 1},
    {"throughput", LOG_TFLOPS, 1},
    {"mem-reserved-bytes", LOG_MEMORY_BYTES, 1},
    {"power/gpu", LOG_POWER_W, 1},
    // NeMo
    {"reduced_train_loss", LOG_LOSS, 1},
    {"train_step_timing in s", LOG_STEP_S, 1},
    {"consumed_samples", LOG_CONSUMED_SAMPLES, 1},
    {"global_batch_size", LOG_GLOBAL_BATCH, 1},
    {"tokens_per_sec_per_gpu", LOG_TOKENS_PER_S, 1},
    {"TFLOPS_per_GPU", LOG_TFLOPS, 1},
    {"tps_per_gpu", LOG_TOKENS_PER_S, 1},
    {METRIC_JOB_TOKENS, LOG_JOB_TOKENS_PER_S, 1},
    {"mem", LOG_MEMORY_BYTES, GIB},
    // HF Trainer, Lightning, and what people write
    {"loss", LOG_LOSS, 1},
    {"train/loss", LOG_LOSS, 1},
    {"train_loss", LOG_LOSS, 1},
    {"train_loss_step", LOG_LOSS, 1},
    {"Loss/train", LOG_LOSS, 1},
    {"loss/train", LOG_LOSS, 1},
    {"grad_norm", LOG_GRAD_NORM, 1},
    {"train/grad_norm", LOG_GRAD_NORM, 1},
    {"lr", LOG_LEARNING_RATE, 1},
    {"learning_rate", LOG_LEARNING_RATE, 1},
    {"train/learning_rate", LOG_LEARNING_RATE, 1},
    {"epoch", LOG_EPOCH, 1},
    {"train/epoch", LOG_EPOCH, 1},
    {"num_input_tokens_seen", LOG_CONSUMED_TOKENS, 1},
    {"train/num_input_tokens_seen", LOG_CONSUMED_TOKENS, 1},
};
enum { TAGS = sizeof tags / sizeof *tags, FAR_BACK = 64 };

static size_t tag_of(struct str name)
{
    size_t i = 0;
    while (i < TAGS && !str_equal(name, str_of(tags[i].name)))
        i++;
    return i;
}

// The step among the last ones; NULL if it is a new one.
static struct log_step *find_step(struct log_book *book, const struct metric_scalar *scalar,
                                  enum log_value value)
{
    size_t last = book->step_count;
    for (size_t i = last; i > 0 && last - i < FAR_BACK; i--) {
        struct log_step *step = &book->steps[i - 1];
        if (step->step == scalar->step && step->rank == scalar->rank)
            return log_step_has(step, value) ? NULL : step;
    }
    return NULL;
}

static void set(struct log_step *step, size_t tag, double number)
{
    // A share, or per cent of it: a use of more than 100 % or less than 1.5 % is unlikely.
    if (tags[tag].value == LOG_MFU && tags[tag].scale == 1 && number > 1.5)
        number *= PERCENT;
    log_step_set(step, tags[tag].value, number * tags[tag].scale);
}

bool metric_take(struct evidence *evidence, const struct metric_scalar *scalar, const char *writer,
                 struct err *err)
{
    size_t tag = tag_of(scalar->name);
    if (tag == TAGS || scalar->step < 0)
        return true;
    struct log_step *step = find_step(&evidence->log, scalar, tags[tag].value);
    if (step) {
        set(step, tag, scalar->number);
        return true;
    }
    struct log_step added = {.step = scalar->step,
                             .time_ns = scalar->time_ns,
                             .rank = scalar->rank,
                             .pos = scalar->pos,
                             .writer = writer};
    set(&added, tag, scalar->number);
    return log_book_add(evidence, &added, err);
}
