// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/metric_tags.h"

#include <math.h>

#define GIB     0x1p30
#define PERCENT 0.01

#define END_TO_END "time_metrics/end_to_end(s)"
#define THROUGHPUT "throughput"

#define TAG(text, of, scale)                        \
    {                                               \
        {"" text, sizeof text - 1}, LOG_##of, scale \
    }

static const struct {
    struct str name;
    enum log_value value;
    double scale;
} tags[] = {
    // torchtitan
    TAG("loss_metrics/global_avg_loss", LOSS, 1),
    TAG("throughput(tps)", TOKENS_PER_S, 1),
    TAG("mfu(%)", MFU, PERCENT),
    TAG(END_TO_END, STEP_S, 1),
    TAG("memory/max_reserved(GiB)", MEMORY_BYTES, GIB),
    TAG("tflops", TFLOPS, 1),
    TAG("tps", TOKENS_PER_S, 1),
    TAG("mfu", MFU, 1),
    // Megatron-LM, Primus
    TAG("lm loss", LOSS, 1),
    TAG("grad-norm", GRAD_NORM, 1),
    TAG("learning-rate", LEARNING_RATE, 1),
    TAG("batch-size", GLOBAL_BATCH, 1),
    TAG("iteration-time", STEP_S, 1),
    TAG(THROUGHPUT, TFLOPS, 1),
    TAG("mem-reserved-bytes", MEMORY_BYTES, 1),
    TAG("power/gpu", POWER_W, 1),
    // NeMo
    TAG("reduced_train_loss", LOSS, 1),
    TAG("train_step_timing in s", STEP_S, 1),
    TAG("consumed_samples", CONSUMED_SAMPLES, 1),
    TAG("global_batch_size", GLOBAL_BATCH, 1),
    TAG("tokens_per_sec_per_gpu", TOKENS_PER_S, 1),
    TAG("TFLOPS_per_GPU", TFLOPS, 1),
    TAG(METRIC_COPY_TOKENS, COPY_TOKENS_PER_S, 1),
    TAG(METRIC_JOB_TOKENS, JOB_TOKENS_PER_S, 1),
    TAG("mem", MEMORY_BYTES, GIB),
    // HF Trainer, Lightning, and what people write
    TAG("loss", LOSS, 1),
    TAG("train/loss", LOSS, 1),
    TAG("train.loss", LOSS, 1),
    TAG("train.grad_norm", GRAD_NORM, 1),
    TAG("train.learning_rate", LEARNING_RATE, 1),
    TAG("train_loss", LOSS, 1),
    TAG("train_loss_step", LOSS, 1),
    TAG("Loss/train", LOSS, 1),
    TAG("loss/train", LOSS, 1),
    TAG("grad_norm", GRAD_NORM, 1),
    TAG("train/grad_norm", GRAD_NORM, 1),
    TAG("lr", LEARNING_RATE, 1),
    TAG("learning_rate", LEARNING_RATE, 1),
    TAG("train/learning_rate", LEARNING_RATE, 1),
    TAG("epoch", EPOCH, 1),
    TAG("train/epoch", EPOCH, 1),
    TAG("num_input_tokens_seen", CONSUMED_TOKENS, 1),
    TAG("train/num_input_tokens_seen", CONSUMED_TOKENS, 1),
    TAG("train_runtime", RUN_S, 1),
    // ms-swift, Detectron2
    TAG("memory(GiB)", MEMORY_BYTES, GIB),
    TAG("total_loss", LOSS, 1),
    // Keras, whose steps are epochs: the time between two is none of a step
    TAG("epoch_loss", LOSS, 1),
    TAG("epoch_learning_rate", LEARNING_RATE, 1),
};
enum { TAGS = sizeof tags / sizeof *tags, FAR_BACK = 64 };

// Whatever case it is in, it means the same and has the same unit.
static bool is_plain(enum log_value value)
{
    return value == LOG_LOSS || value == LOG_LEARNING_RATE || value == LOG_EPOCH ||
           value == LOG_GRAD_NORM;
}

static size_t tag_of(struct str name)
{
    size_t i = 0;
    while (i < TAGS && !str_equal(name, tags[i].name) &&
           !(is_plain(tags[i].value) && str_equal_nocase(name, tags[i].name)))
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
            return log_step_has(step, value) && value != LOG_EPOCH ? NULL : step;
    }
    return NULL;
}

// The last step of a name; -1: none so far.
static int64_t last_step_of(const struct metric_book *metrics, struct str name)
{
    for (size_t i = 0; i < metrics->series_count; i++)
        if (str_equal(metrics->series[i].name, name))
            return metrics->series[i].last_step;
    return -1;
}

// torchtitan divides the time since its last line or validation by the steps between two lines,
// which are more than were in it after the start, and after a validation between them.
static bool take_end_to_end(const struct evidence *evidence, struct metric_scalar *scalar)
{
    const struct log_book *book = &evidence->log;
    size_t lines = book->step_count;
    lines -= lines && book->steps[lines - 1].step == scalar->step;
    int64_t before = lines > 1 ? book->steps[lines - 1].step : INT64_MAX;
    int64_t validated = last_step_of(&evidence->metrics, STR("validation_metrics/loss"));
    if (before >= scalar->step || validated >= scalar->step)
        return false;
    if (validated > before)
        scalar->number *= (double)(scalar->step - before) / (double)(scalar->step - validated);
    return true;
}

// Whether it is what the tag says. A throughput may be of anything: of Megatron-LM it follows the
// time of the step.
static bool is_sure(struct evidence *evidence, struct metric_scalar *scalar)
{
    if (str_equal(scalar->name, STR(END_TO_END)))
        return take_end_to_end(evidence, scalar);
    if (!str_equal(scalar->name, STR(THROUGHPUT)))
        return true;
    const struct log_step *step = find_step(&evidence->log, scalar, LOG_TFLOPS);
    return step && log_step_has(step, LOG_STEP_S);
}

static void set(struct log_step *step, size_t tag, double number)
{
    // A share, or per cent of it: a use of more than 100 % or less than 1.5 % is unlikely.
    if (tags[tag].value == LOG_MFU && tags[tag].scale == 1 && number > 1.5)
        number *= PERCENT;
    log_step_set(step, tags[tag].value, number * tags[tag].scale);
}

bool metric_take(struct evidence *evidence, const struct metric_scalar *written, const char *writer,
                 struct err *err)
{
    struct metric_scalar sure = *written;
    const struct metric_scalar *scalar = &sure;
    size_t tag = tag_of(scalar->name);
    if (tag == TAGS || scalar->step < 0 || !is_sure(evidence, &sure))
        return true;
    struct log_step *step = find_step(&evidence->log, scalar, tags[tag].value);
    if (step) {
        set(step, tag, scalar->number);
        return true;
    }
    bool of_epoch = str_starts_with(scalar->name, STR("epoch_"));
    struct log_step added = {.step = scalar->step,
                             .time_ns = of_epoch ? LOG_NO_TIME : scalar->time_ns,
                             .rank = scalar->rank,
                             .pos = scalar->pos,
                             .writer = writer};
    set(&added, tag, scalar->number);
    return log_book_add(evidence, &added, err);
}
