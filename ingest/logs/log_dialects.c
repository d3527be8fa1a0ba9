// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_dialects.h"

#include "ingest/logs/log_text.h"

#include <math.h>

// --- what they print ----------------------------------------------------------------------------

#define NAMED(text) .name = {"" text, sizeof text - 1}
#define FIGURE(text, of)                                                  \
    {                                                                     \
        NAMED(text), .value = LOG_##of, .scale = 1, .inner = LOG_NO_VALUE \
    }
#define FIGURE_OF(text, of)                                                                \
    {                                                                                      \
        NAMED(text), .goes_on = true, .value = LOG_##of, .scale = 1, .inner = LOG_NO_VALUE \
    }
#define SCALED(text, of, by)                                               \
    {                                                                      \
        NAMED(text), .value = LOG_##of, .scale = by, .inner = LOG_NO_VALUE \
    }
#define INNER(text, of, in)                                           \
    {                                                                 \
        NAMED(text), .value = LOG_##of, .scale = 1, .inner = LOG_##in \
    }
#define PERCENT 0.01
#define MILLI   1e-3
#define BIT(of) (1u << LOG_##of)

static const struct log_field megatron[] = {
    FIGURE("iteration", FIELD_STEP),
    FIGURE("consumed samples", CONSUMED_SAMPLES),
    FIGURE("consumed tokens", CONSUMED_TOKENS),
    SCALED("elapsed time per iteration (ms)", STEP_S, MILLI),
    FIGURE("elapsed time per iteration (s)", STEP_S),
    FIGURE_OF("throughput per GPU", TFLOPS),
    FIGURE_OF("compute per GPU", TFLOPS),
    FIGURE("TFLOPs", TFLOPS),
    FIGURE_OF("tokens per GPU", TOKENS_PER_S),
    FIGURE("tokens/sec/GPU", TOKENS_PER_S),
    FIGURE("samples per second", SAMPLES_PER_S),
    FIGURE_OF("energy per GPU", ENERGY_J),
    FIGURE_OF("power per GPU", POWER_W),
    FIGURE("learning rate", LEARNING_RATE),
    FIGURE("global batch size", GLOBAL_BATCH),
    FIGURE("lm loss", LOSS),
    FIGURE("lm-loss", LOSS),
    FIGURE("loss", LOSS),
    FIGURE("grad norm", GRAD_NORM),
    FIGURE("number of skipped iterations", SKIPPED),
    FIGURE("number of nan iterations", NAN),
    FIGURE_OF("hip mem usage", MEMORY_BYTES),
    FIGURE_OF("rocm mem usage", MEMORY_BYTES),
    FIGURE_OF("memory usage", MEMORY_BYTES),
    SCALED("mfu", MFU, PERCENT),
};

static const struct log_field torchtitan[] = {
    FIGURE("step", FIELD_STEP),     FIGURE("loss", LOSS),        FIGURE("grad_norm", GRAD_NORM),
    FIGURE("memory", MEMORY_BYTES), FIGURE("tps", TOKENS_PER_S), FIGURE("wps", TOKENS_PER_S),
    FIGURE("tflops", TFLOPS),       SCALED("mfu", MFU, PERCENT),
};

static const struct log_field deepspeed[] = {
    FIGURE("global_step", FIELD_STEP),
    FIGURE("", FIELD_STEP),
    FIGURE("SamplesPerSec", MEAN_SAMPLES_PER_S),
    FIGURE("RunningAvgSamplesPerSec", MEAN_SAMPLES_PER_S),
    FIGURE("CurrSamplesPerSec", SAMPLES_PER_S),
    FIGURE("MaxMemAllocated", MEMORY_BYTES),
};

static const struct log_field nemo[] = {
    FIGURE("global_step", FIELD_STEP),
    FIGURE("lr", LEARNING_RATE),
    FIGURE("global_batch_size", GLOBAL_BATCH),
    FIGURE("reduced_train_loss", LOSS),
    FIGURE("train_step_timing in s", STEP_S),
    FIGURE("consumed_samples", CONSUMED_SAMPLES),
    FIGURE("grad_norm", GRAD_NORM),
    FIGURE("tokens_per_sec_per_gpu", TOKENS_PER_S),
    FIGURE("TFLOPS_per_GPU", TFLOPS),
};

static const struct log_field automodel[] = {
    FIGURE("step", FIELD_STEP),
    FIGURE("epoch", EPOCH),
    FIGURE("loss", LOSS),
    FIGURE("grad_norm", GRAD_NORM),
    FIGURE("lr", LEARNING_RATE),
    FIGURE("mem", MEMORY_BYTES),
    INNER("tps", JOB_TOKENS_PER_S, TOKENS_PER_S),
};

static const struct log_field trainer[] = {
    FIGURE("loss", LOSS),
    FIGURE("grad_norm", GRAD_NORM),
    FIGURE("learning_rate", LEARNING_RATE),
    FIGURE("epoch", EPOCH),
    FIGURE("tokens/total", CONSUMED_TOKENS),
    FIGURE("tokens/train_per_sec_per_gpu", TOKENS_PER_S),
    FIGURE("tokens_per_second_per_gpu", TOKENS_PER_S),
    SCALED("memory/max_active (GiB)", MEMORY_BYTES, 0x1p30),
};

static const struct log_field maxtext[] = {
    FIGURE("completed step", FIELD_STEP),
    FIGURE("seconds", STEP_S),
    FIGURE("TFLOP/s/device", TFLOPS),
    FIGURE("Tokens/s/device", TOKENS_PER_S),
    FIGURE("Samples/s/device", DEVICE_SAMPLES_PER_S),
    FIGURE("loss", LOSS),
};

static const struct log_field nanotron[] = {
    FIGURE("iteration", FIELD_STEP),
    FIGURE("consumed_tokens", CONSUMED_TOKENS),
    SCALED("elapsed_time_per_iteration_ms", STEP_S, MILLI),
    SCALED("time_per_iteration_ms", STEP_S, MILLI),
    FIGURE("tokens_per_sec_per_gpu", TOKENS_PER_S),
    FIGURE("global_batch_size", GLOBAL_BATCH),
    FIGURE("lm_loss", LOSS),
    FIGURE("lr", LEARNING_RATE),
    FIGURE("model_tflops_per_gpu", TFLOPS),
    FIGURE("grad_norm", GRAD_NORM),
};

#define FIELDS(of)   .fields = of, .field_count = sizeof of / sizeof *of
#define NEEDLE(text) .needle = {"" text, sizeof text - 1}

const struct log_dialect log_dialects[LOG_DIALECT_COUNT] = {
    {.name = "megatron",
     NEEDLE("elapsed time per iteration ("),
     .start = "iteration",
     .style = LOG_BARS,
     .required = BIT(STEP_S),
     .numbered = true,
     FIELDS(megatron)},
    {.name = "torchtitan",
     NEEDLE("tps: "),
     .start = "step:",
     .unless = "validate ",
     .style = LOG_SPACED,
     .required = BIT(TOKENS_PER_S),
     .numbered = true,
     FIELDS(torchtitan)},
    {.name = "torchtitan",
     NEEDLE("wps: "),
     .start = "step:",
     .unless = "validate ",
     .style = LOG_SPACED,
     .required = BIT(TOKENS_PER_S),
     .numbered = true,
     FIELDS(torchtitan)},
    {.name = "deepspeed",
     NEEDLE("SamplesPerSec="),
     .style = LOG_EQUALS,
     .required = BIT(SAMPLES_PER_S) | BIT(MEAN_SAMPLES_PER_S),
     .numbered = true,
     FIELDS(deepspeed)},
    {.name = "nemo2",
     NEEDLE("timing in s: "),
     .start = "iteration ",
     .style = LOG_BARS,
     .required = BIT(STEP_S),
     .numbered = true,
     FIELDS(nemo)},
    {.name = "automodel",
     NEEDLE("/gpu)"),
     .start = "step ",
     .style = LOG_BARS,
     .required = BIT(TOKENS_PER_S),
     .numbered = true,
     FIELDS(automodel)},
    {.name = "hf",
     NEEDLE("'loss': "),
     .start = "{",
     .style = LOG_DICT,
     .required = BIT(LOSS),
     FIELDS(trainer)},
    {.name = "maxtext",
     NEEDLE("TFLOP/s/device: "),
     .start = "completed step:",
     .style = LOG_COMMAS,
     .required = BIT(STEP_S),
     .numbered = true,
     FIELDS(maxtext)},
    {.name = "nanotron",
     NEEDLE("elapsed_time_per_iteration_ms: "),
     .start = "iteration: ",
     .style = LOG_BARS,
     .required = BIT(STEP_S),
     .numbered = true,
     FIELDS(nanotron)},
    {.name = "nanotron",
     NEEDLE("| time_per_iteration_ms: "),
     .start = "iteration: ",
     .style = LOG_BARS,
     .required = BIT(STEP_S),
     .numbered = true,
     FIELDS(nanotron)},
};

// --- reading them -------------------------------------------------------------------------------

struct pair {
    struct str name, value;
};

static bool is_one_of(char c, const char *characters)
{
    while (*characters && *characters != c)
        characters++;
    return *characters;
}

// The place of the first of some characters; the length without any.
static size_t find_any(struct str text, const char *characters)
{
    size_t at = 0;
    if (!characters[1]) {
        const char *found = memchr(text.at, *characters, text.len);
        return found ? (size_t)(found - text.at) : text.len;
    }
    while (at < text.len && !is_one_of(text.at[at], characters))
        at++;
    return at;
}

// The text up to one of some characters, which goes too.
static struct str take_until(struct str *rest, const char *ends)
{
    struct str taken = {rest->at, find_any(*rest, ends)};
    *rest = log_from(*rest, taken.len + 1);
    return taken;
}

// A name and a value parted by the first of some characters; without one, by the first blank.
static struct pair part(struct str text, const char *characters)
{
    text = log_trim(text);
    size_t at = find_any(text, characters);
    if (at == text.len)
        at = find_any(text, " ");
    return (struct pair){log_trim((struct str){text.at, at}), log_trim(log_from(text, at + 1))};
}

static bool is_all_digits(struct str text)
{
    int64_t ignored;
    return text.len && text.at[0] != '-' && str_to_i64(text, &ignored);
}

static struct pair next_equals(struct str *rest)
{
    struct str text = log_trim(take_until(rest, ",/"));
    return is_all_digits(text) ? (struct pair){STR(""), text} : part(text, "=");
}

static struct pair next_spaced(struct str *rest)
{
    while (rest->len && (*rest->at == ' ' || *rest->at == '\t'))
        *rest = log_from(*rest, 1);
    struct str name = take_until(rest, ":");
    *rest = log_trim(*rest);
    struct str value = take_until(rest, " \t");
    // Words between the figures: the name is the last of them.
    const char *blank = memrchr(name.at, ' ', name.len);
    return (struct pair){blank ? log_from(name, (size_t)(blank - name.at) + 1) : name, value};
}

static struct pair next_of_dict(struct str *rest)
{
    size_t at = find_any(*rest, "'}");
    if (at == rest->len || rest->at[at] == '}') {
        *rest = STR("");
        return (struct pair){STR(""), STR("")};
    }
    *rest = log_from(*rest, at + 1);
    struct str name = take_until(rest, "'");
    struct str value = log_from(*rest, find_any(*rest, ":") + 1);
    size_t len = find_any(value, ",}");
    *rest = log_from(value, len);
    return (struct pair){name, {value.at, len}};
}

static struct pair next_pair(enum log_style style, struct str *rest)
{
    switch (style) {
    case LOG_SPACED: return next_spaced(rest);
    case LOG_EQUALS: return next_equals(rest);
    case LOG_DICT: return next_of_dict(rest);
    case LOG_COMMAS: return part(take_until(rest, ","), ":");
    case LOG_BARS: break;
    }
    return part(take_until(rest, "|"), ":");
}

static bool is_named(const struct log_field *field, struct str name)
{
    return field->goes_on ? str_starts_with(name, field->name) : str_equal(name, field->name);
}

static const struct log_field *field_of(const struct log_dialect *dialect, struct str name)
{
    for (size_t i = 0; i < dialect->field_count; i++)
        if (is_named(&dialect->fields[i], name))
            return &dialect->fields[i];
    return NULL;
}

#define MOST_STEP 9e15 // a larger number is no whole one

static void take_pair(const struct log_field *field, struct str value, struct log_step *step)
{
    double number;
    if (!log_number(value, &number))
        return;
    if (field->value == LOG_FIELD_STEP) {
        if (number >= 0 && number <= MOST_STEP)
            step->step = (int64_t)number;
        return;
    }
    log_step_set(step, (enum log_value)field->value, number * field->scale);
    if (field->inner != LOG_NO_VALUE &&
        log_number(log_from(value, find_any(value, "(") + 1), &number))
        log_step_set(step, (enum log_value)field->inner, number);
}

// Where the figures start: at the last `start` before the needle.
static bool find_start(const struct log_dialect *dialect, struct str line, size_t needle_at,
                       size_t *start)
{
    struct str word = str_of(dialect->start ? dialect->start : "");
    *start = 0;
    if (!word.len)
        return true;
    for (size_t at = needle_at + 1; at > 0; at--)
        if (str_starts_with(log_from(line, at - 1), word)) {
            *start = at - 1;
            return true;
        }
    return false;
}

static bool is_other(const struct log_dialect *dialect, struct str line, size_t start)
{
    struct str word = str_of(dialect->unless ? dialect->unless : "");
    return word.len && start >= word.len &&
           memcmp(line.at + start - word.len, word.at, word.len) == 0;
}

bool log_dialect_read(const struct log_dialect *dialect, struct str line, size_t needle_at,
                      size_t *start, struct log_step *step)
{
    if (!find_start(dialect, line, needle_at, start) || is_other(dialect, line, *start))
        return false;
    step->step = LOG_NO_STEP;
    step->has = 0;
    for (struct str rest = log_from(line, *start); rest.len;) {
        struct pair pair = next_pair(dialect->style, &rest);
        const struct log_field *field = field_of(dialect, pair.name);
        if (field)
            take_pair(field, pair.value, step);
    }
    return step->has & dialect->required && (!dialect->numbered || step->step != LOG_NO_STEP);
}
