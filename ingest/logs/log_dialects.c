// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_dialects.h"

#include "ingest/logs/log_text.h"

#include <math.h>

enum { LOG_UNUSED = -1 };

#define GIB        (1024.0 * 1024 * 1024)
#define MS         1e-3
#define PERCENT    1e-2
#define BYTES      "GiB GB"
#define COUNTS     "K M B G T P" // nanotron's, and 1e9 by either letter
#define BIT(value) (1u << (value))

// Megatron-LM and what builds on it: Primus with both of its backends, DeepSpeed's Megatron,
// GPT-NeoX, Megatron-Bridge. Of "now/mean" the first counts.
static const struct log_field megatron[] = {
    {"consumed samples", LOG_CONSUMED_SAMPLES, 1, NULL},
    {"consumed tokens", LOG_CONSUMED_TOKENS, 1, NULL},
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
    {"loss", LOG_LOSS, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"memory", LOG_MEMORY_BYTES, GIB, BYTES},
    {"tps", LOG_TOKENS_PER_S, 1, NULL},
    {"wps", LOG_TOKENS_PER_S, 1, NULL},
    {"tflops", LOG_TFLOPS, 1, NULL},
    {"mfu", LOG_MFU, PERCENT, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
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
};

static const struct log_field automodel[] = {
    {"epoch", LOG_EPOCH, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"mem", LOG_MEMORY_BYTES, GIB, NULL},
    {"tps", LOG_JOB_TOKENS_PER_S, 1, NULL}, // and per GPU in parentheses
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
    {"tokens/train_per_sec_per_gpu", LOG_TOKENS_PER_S, 1, NULL},
    {"tokens_per_second_per_gpu", LOG_TOKENS_PER_S, 1, NULL},
    {"memory/device_reserved (GiB)", LOG_MEMORY_BYTES, GIB, NULL},
    {"memory/device_mem_reserved(gib)", LOG_MEMORY_BYTES, GIB, NULL},
};

static const struct log_field maxtext[] = {
    {"seconds", LOG_STEP_S, 1, NULL},
    {"TFLOP/s/device", LOG_TFLOPS, 1, NULL},
    {"Tokens/s/device", LOG_TOKENS_PER_S, 1, NULL},
    {"Samples/s/device", LOG_DEVICE_SAMPLES_PER_S, 1, NULL},
    {"loss", LOG_LOSS, 1, NULL},
};

static const struct log_field nanotron[] = {
    {"consumed_tokens", LOG_CONSUMED_TOKENS, 1, COUNTS},
    {"elapsed_time_per_iteration_ms", LOG_STEP_S, MS, COUNTS},
    {"time_per_iteration_ms", LOG_STEP_S, MS, COUNTS},
    {"tokens_per_sec", LOG_JOB_TOKENS_PER_S, 1, COUNTS},
    {"tokens_per_sec_per_gpu", LOG_TOKENS_PER_S, 1, COUNTS},
    {"global_batch_size", LOG_GLOBAL_BATCH, 1, COUNTS},
    {"lm_loss", LOG_LOSS, 1, COUNTS},
    {"lr", LOG_LEARNING_RATE, 1, COUNTS},
    {"model_tflops_per_gpu", LOG_TFLOPS, 1, COUNTS},
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

static const struct log_field llm_c[] = {
    {"loss", LOG_LOSS, 1, NULL},        {"norm", LOG_GRAD_NORM, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL}, {"ms", LOG_STEP_S, MS, NULL},
    {"*MFU", LOG_MFU, PERCENT, NULL},   {"tok/s", LOG_JOB_TOKENS_PER_S, 1, NULL},
};

// The share of the peak that verl prints is that of the update alone.
static const struct log_field verl[] = {
    {"timing_s/step", LOG_STEP_S, 1, NULL},
    {"perf/throughput", LOG_TOKENS_PER_S, 1, NULL},
    {"perf/max_memory_reserved_gb", LOG_MEMORY_BYTES, GIB, NULL},
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

// Progress bars of Lightning, so of NeMo 1.
static const struct log_field lightning[] = {
    {"loss", LOG_LOSS, 1, NULL},
    {"train_loss", LOG_LOSS, 1, NULL},
    {"train_loss_step", LOG_LOSS, 1, NULL},
    {"reduced_train_loss", LOG_LOSS, 1, NULL},
    {"lr", LOG_LEARNING_RATE, 1, NULL},
    {"grad_norm", LOG_GRAD_NORM, 1, NULL},
    {"consumed_samples", LOG_CONSUMED_SAMPLES, 1, NULL},
    {"train_step_timing in s", LOG_STEP_S, 1, NULL},
};

#define FIELDS(of) .fields = of, .field_count = sizeof of / sizeof *of

static const char nemo_rl_name[] = "nemo-rl";
#define NEMO_RL(starts, value)                                                         \
    {                                                                                  \
        .name = nemo_rl_name, .source = nemo_rl_name, .mark = (starts), .below = true, \
        .style = LOG_LINE, .needs = BIT(value), FIELDS(nemo_rl)                        \
    }

static const char lightning_name[] = "lightning";
#define LIGHTNING(after, any)                                                                      \
    {                                                                                              \
        .name = lightning_name, .source = lightning_name, .mark = (after),                         \
        .steps = {"global_step=", "| "}, .per_epoch = true, .any_bar = (any), .style = LOG_EQUALS, \
        .needs = BIT(LOG_LOSS), FIELDS(lightning)                                                  \
    }

const struct log_dialect log_dialects[] = {
    {.name = "megatron",
     .source = "megatron-lm",
     .mark = "elapsed time per iteration",
     .steps = {"iteration"},
     .style = LOG_BARS,
     .needs = BIT(LOG_STEP_S),
     FIELDS(megatron)},
    {.name = "torchtitan",
     .source = "torchtitan",
     .mark = "memory: ",
     .steps = {"step:"},
     .not_after = "validate ",
     .style = LOG_WORDS,
     .needs = BIT(LOG_LOSS) | BIT(LOG_TOKENS_PER_S),
     FIELDS(torchtitan)},
    {.name = "deepspeed",
     .source = "deepspeed",
     .mark = "SamplesPerSec=",
     .steps = {"global_step=", "/"},
     .style = LOG_EQUALS,
     .needs = BIT(LOG_MEAN_SAMPLES_PER_S),
     FIELDS(deepspeed)},
    {.name = "deepspeed-rates",
     .source = "deepspeed",
     .mark = ", skipped=",
     .steps = {"step="},
     .minor = true,
     .style = LOG_EQUALS,
     .needs = BIT(LOG_ALL_SKIPPED),
     FIELDS(deepspeed_rates)},
    {.name = "deepspeed-pipeline",
     .source = "deepspeed",
     .mark = "iter time (s): ",
     .steps = {"steps:"},
     .minor = true,
     .style = LOG_WORDS,
     .needs = BIT(LOG_STEP_S),
     FIELDS(deepspeed_pipeline)},
    {.name = "nemo2",
     .source = "nemo",
     .mark = "global_step: ",
     .steps = {"global_step:"},
     .style = LOG_BARS,
     .needs = BIT(LOG_LOSS),
     FIELDS(nemo2)},
    {.name = "automodel",
     .source = "nemo-automodel",
     .mark = "| epoch ",
     .steps = {"step "},
     .style = LOG_BARS,
     .needs = BIT(LOG_LOSS) | BIT(LOG_JOB_TOKENS_PER_S),
     FIELDS(automodel)},
    {.name = "hf",
     .source = "hf-trainer",
     .mark = "'epoch': ",
     .style = LOG_DICT,
     .needs = BIT(LOG_LOSS),
     FIELDS(hf)},
    {.name = "maxtext",
     .source = "maxtext",
     .mark = "completed step: ",
     .steps = {"completed step:"},
     .style = LOG_COMMAS,
     .needs = BIT(LOG_STEP_S) | BIT(LOG_TFLOPS),
     FIELDS(maxtext)},
    {.name = "nanotron",
     .source = "nanotron",
     .mark = "time_per_iteration_ms",
     .steps = {"iteration"},
     .style = LOG_BARS,
     .needs = BIT(LOG_STEP_S),
     FIELDS(nanotron)},
    {.name = "torchtune",
     .source = "torchtune",
     .mark = "tokens_per_second_per_gpu:",
     .steps = {"Step"},
     .style = LOG_WORDS,
     .needs = BIT(LOG_LOSS) | BIT(LOG_TOKENS_PER_S),
     FIELDS(torchtune)},
    {.name = "torchtune",
     .source = "torchtune",
     .mark = "gpu_resources:", // of its first versions
     .steps = {"Step"},
     .style = LOG_WORDS,
     .needs = BIT(LOG_LOSS),
     FIELDS(torchtune)},
    {.name = "nanogpt",
     .source = "nanogpt",
     .mark = "ms, mfu ",
     .steps = {"iter"},
     .style = LOG_PAIRS,
     .needs = BIT(LOG_LOSS) | BIT(LOG_STEP_S),
     FIELDS(nanogpt)},
    {.name = "llm.c",
     .source = "llm.c",
     .mark = "16 MFU | ", // of bf16 and fp16
     .steps = {"step"},
     .style = LOG_BARS,
     .needs = BIT(LOG_LOSS) | BIT(LOG_STEP_S),
     FIELDS(llm_c)},
    {.name = "verl",
     .source = "verl",
     .mark = "timing_s/step:",
     .steps = {"step:"},
     .style = LOG_WORDS,
     .needs = BIT(LOG_STEP_S),
     FIELDS(verl)},
    {.name = "fairseq",
     .source = "fairseq",
     .mark = "\"num_updates\": ",
     .steps = {"\"num_updates\": \""},
     .style = LOG_DICT,
     .needs = BIT(LOG_LOSS),
     FIELDS(fairseq)},
    {.name = "fairseq",
     .source = "fairseq",
     .mark = ", num_updates=",
     .steps = {", num_updates="},
     .whole = true,
     .style = LOG_EQUALS,
     .needs = BIT(LOG_LOSS),
     FIELDS(fairseq)},
    {.name = "megatron-bridge",
     .source = "megatron-bridge",
     .mark = "Step Time : ",
     .minor = true,
     .style = LOG_WORDS,
     .needs = BIT(LOG_STEP_S) | BIT(LOG_TFLOPS),
     FIELDS(bridge)},
    {.name = nemo_rl_name,
     .source = nemo_rl_name,
     .mark = "== Step ",
     .steps = {"== Step"},
     .style = LOG_BARS,
     .heads = true},
    NEMO_RL(BULLET "Loss: ", LOG_LOSS),
    NEMO_RL(BULLET "Total step time: ", LOG_STEP_S),
    NEMO_RL(BULLET "Grad Norm: ", LOG_GRAD_NORM),
    NEMO_RL("E2E (Tokens/sec/gpu): ", LOG_TOKENS_PER_S),
    NEMO_RL("E2E (Tokens/sec): ", LOG_JOB_TOKENS_PER_S),
    LIGHTNING(", v_num=", false),
    LIGHTNING("it/s, loss=", true),
    LIGHTNING("s/it, loss=", true),
    LIGHTNING("it/s, train_loss", true),
    LIGHTNING("s/it, train_loss", true),
};
const size_t log_dialect_count = sizeof log_dialects / sizeof *log_dialects;

// --- fields -------------------------------------------------------------------------------------

static bool ends_with(struct str text, const char *ending)
{
    struct str end = str_of(ending);
    return text.len >= end.len && str_equal(log_from(text, text.len - end.len), end);
}

static bool is_key(const struct log_field *field, struct str key)
{
    size_t len = strlen(field->key);
    if (*field->key == '*')
        return ends_with(key, field->key + 1);
    if (field->key[len - 1] == '*')
        return str_starts_with(key, (struct str){field->key, len - 1});
    return key.len == len && memcmp(key.at, field->key, len) == 0;
}

// The row of a key; the number of rows if there is none.
static size_t row_of(const struct log_dialect *dialect, struct str key, unsigned char *hint)
{
    if (*hint < dialect->field_count && is_key(&dialect->fields[*hint], key))
        return *hint;
    for (size_t i = 0; i < dialect->field_count; i++)
        if (is_key(&dialect->fields[i], key)) {
            *hint = (unsigned char)i;
            return i;
        }
    return dialect->field_count;
}

// Whether a number ends here, or one of its units follows. *factor: of a unit such as
// "K".
static bool ends_number(const char *units, struct str rest, double *factor)
{
    static const struct {
        char letter;
        double factor;
    } counts[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    if (rest.len == 0 || memchr(" \t/(%,])}|", *rest.at, 11))
        return true;
    for (const char *unit = units; unit && *unit;) {
        size_t len = strcspn(unit, " ");
        bool is = str_starts_with(rest, (struct str){unit, len});
        for (size_t i = 0; is && len == 1 && i < sizeof counts / sizeof *counts; i++)
            *factor = counts[i].letter == *unit ? counts[i].factor : *factor;
        if (is)
            return ends_number(NULL, log_from(rest, len), factor);
        unit += len + (unit[len] == ' ');
    }
    return false;
}

// NumPy 2 prints its numbers as "np.float64(0.5)".
static struct str without_type(struct str value)
{
    size_t bracket = str_starts_with(value, STR("np.")) ? str_find(value, STR("(")) : SIZE_MAX;
    return bracket < value.len ? log_from(value, bracket + 1) : value;
}

// False if the value is garbled.
static bool take_value(const struct log_field *field, struct str value, struct log_step *step)
{
    double number, factor = 1;
    struct str rest;
    bool has = field->value != LOG_UNUSED && log_step_has(step, (enum log_value)field->value);
    if (field->value == LOG_UNUSED || (has && field->value != LOG_MEMORY_BYTES))
        return true;
    enum log_number found = log_number(without_type(value), &number, &rest);
    if (found != LOG_NUMBER || !ends_number(field->units, rest, &factor))
        return found == LOG_NO_NUMBER;
    number *= field->scale * factor;
    if (field->value == LOG_MFU && number < 0)
        return true;
    if (has) // of several figures of memory the highest
        number = fmax(number, step->values[field->value]);
    log_step_set(step, (enum log_value)field->value, number);
    if (field->value == LOG_JOB_TOKENS_PER_S && rest.len && *rest.at == '(' &&
        log_number(log_from(rest, 1), &number, &rest) == LOG_NUMBER)
        log_step_set(step, LOG_TOKENS_PER_S, number);
    return true;
}

// A key that comes twice belongs to another line that was written into this one.
static bool take_fields(const struct log_dialect *dialect, struct log_fields *fields,
                        struct log_hints *hints, struct log_step *step)
{
    struct str key, value;
    uint64_t seen = 0;
    for (size_t i = 0; i < LOG_MOST_FIELDS && log_fields_next(fields, &key, &value); i++) {
        size_t row = row_of(dialect, key, &hints->rows[i]);
        if (row == dialect->field_count)
            continue;
        if (seen >> row & 1 || !take_value(&dialect->fields[row], value, step))
            return false;
        seen |= UINT64_C(1) << row;
    }
    return (step->has & dialect->needs) == dialect->needs;
}

// --- lines --------------------------------------------------------------------------------------

// What follows the number of a step: "/100", " |", ".000", ":", a quote in JSON.
static bool ends_step(struct str rest)
{
    return rest.len == 0 || memchr(" /|,.:\"", *rest.at, 7);
}

// The number of the step, what follows it, and in *at where its name is.
static bool find_step(const struct log_dialect *dialect, const char *step_name, struct str text,
                      struct log_step *step, size_t *at)
{
    struct str name = str_of(step_name), after = text, rest;
    for (;;) {
        size_t found = str_find(after, name);
        if (found == SIZE_MAX)
            return false;
        *at = (size_t)(after.at - text.at) + found;
        after = log_from(text, *at + name.len);
        bool other =
            dialect->not_after && ends_with((struct str){text.at, *at}, dialect->not_after);
        struct str number = after.len && *after.at == ':' ? log_from(after, 1) : after;
        if (!other && log_count(number, &step->step, &rest) && ends_step(rest))
            return true;
    }
}

// "Epoch 2:  12%| | 3/25 [": the 53rd step, if epochs have 25 each.
static void count_epochs(struct str text, size_t at, struct log_step *step)
{
    int64_t epoch, total, ignored;
    struct str rest;
    size_t word = str_find(text, STR("Epoch "));
    if (word == SIZE_MAX || !log_count(log_from(text, word + 6), &epoch, &rest) ||
        !log_count(log_from(text, at + 2), &ignored, &rest) || !str_starts_with(rest, STR("/")) ||
        !log_count(log_from(rest, 1), &total, &rest) ||
        __builtin_mul_overflow(epoch, total, &total) ||
        __builtin_add_overflow(step->step, total, &step->step))
        step->step = LOG_NO_STEP;
}

static bool number_step(const struct log_dialect *dialect, struct str text, struct log_step *step,
                        size_t *at)
{
    *at = 0;
    step->step = LOG_NO_STEP;
    if (!dialect->steps[0])
        return true;
    if (find_step(dialect, dialect->steps[0], text, step, at))
        return true;
    if (!dialect->steps[1] || !find_step(dialect, dialect->steps[1], text, step, at))
        return false;
    if (dialect->per_epoch)
        count_epochs(text, *at, step);
    return true;
}

// The part of a line that has the fields; false if it is not complete.
static bool find_fields(const struct log_dialect *dialect, struct str text, size_t at,
                        struct str *part)
{
    size_t mark = str_find(text, str_of(dialect->mark)), close = 0;
    bool whole = dialect->style == LOG_BARS || dialect->per_epoch || dialect->whole;
    *part = log_from(text, whole ? 0 : at);
    if (dialect->below)
        *part = log_from(text, mark < text.len ? mark : text.len);
    if (dialect->style != LOG_DICT)
        return true;
    struct str after = log_from(text, mark);
    const char *open = mark == SIZE_MAX ? NULL : memrchr(text.at, '{', mark);
    close = str_find(after, STR("}"));
    if (!open || close == SIZE_MAX)
        return false;
    *part = (struct str){open + 1, (size_t)(after.at + close - open) - 1};
    return true;
}

// Whether a progress bar, of which any loop may have one, is that of an epoch of training.
static bool is_training_bar(struct str text, const char *mark)
{
    static const char *const others[] = {"Valid", "Eval", "Test"};
    size_t end = str_find(text, str_of(mark));
    struct str before = {text.at, end < text.len ? end : text.len};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_find(before, str_of(others[i])) != SIZE_MAX)
            return false;
    return str_find(before, STR("Epoch ")) != SIZE_MAX;
}

static void take_bar_time(struct str text, struct log_step *step)
{
    struct log_bar bar;
    size_t at = str_find(text, STR("| "));
    while (at < text.len && !log_bar_read(log_from(text, at + 2), &bar)) {
        size_t next = str_find(log_from(text, at + 2), STR("| "));
        at = next == SIZE_MAX ? SIZE_MAX : at + 2 + next;
    }
    if (at < text.len && bar.seconds > 0 && !log_step_has(step, LOG_STEP_S))
        log_step_set(step, LOG_STEP_S, bar.seconds);
}

bool log_dialect_read(const struct log_dialect *dialect, const struct log_written *line,
                      struct log_hints *hints, struct log_step *step, bool *utc)
{
    size_t at;
    struct str text = line->text, part;
    *step = (struct log_step){.step = LOG_NO_STEP, .time_ns = LOG_NO_TIME, .rank = -1};
    if (dialect->any_bar && !is_training_bar(text, dialect->mark))
        return false;
    if (!number_step(dialect, text, step, &at) || !find_fields(dialect, text, at, &part))
        return false;
    struct log_fields fields = {dialect->style, part, line->ended || dialect->style == LOG_DICT};
    if (!take_fields(dialect, &fields, hints, step))
        return false;
    if (dialect->per_epoch)
        take_bar_time(text, step);
    struct log_prefix prefix = log_prefix_of(text);
    step->rank = prefix.rank;
    step->time_ns = prefix.time_ns;
    *utc = prefix.utc;
    return true;
}
