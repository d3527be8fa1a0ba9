// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_mlperf.h"

#include "ingest/logs/json_line.h"
#include "ingest/logs/log_text.h"

#include <math.h>
#include <stdio.h>

// A record, as written.
struct entry {
    struct str key, type;
    struct json_line_value value;
    int64_t time_ns;
    double step, samples, lr; // of its metadata; NAN
};

static double number_of(const struct json_line_value *value)
{
    double number;
    bool is = value->kind == JSON_LINE_SCALAR && log_is_number(value->text, &number);
    return is ? number : (double)NAN;
}

#define IS_ANY(key, names) str_is_one_of(key, names, sizeof(names) / sizeof *(names))

static void take_metadata(struct entry *entry, struct str text)
{
    static const char *const steps[] = {"step", "curr_global_step"};
    struct json_line members;
    struct json_line_value value;
    struct str key;
    if (!json_line_open(&members, text))
        return;
    while (json_line_next(&members, &key, &value)) {
        if (IS_ANY(key, steps))
            entry->step = number_of(&value);
        else if (str_equal(key, STR("samples_count")))
            entry->samples = number_of(&value);
        else if (str_equal(key, STR("lr")))
            entry->lr = number_of(&value);
    }
}

static void take_member(struct entry *entry, struct str key, const struct json_line_value *value)
{
    double ms = number_of(value);
    if (str_equal(key, STR("key")))
        entry->key = value->text;
    else if (str_equal(key, STR("event_type")))
        entry->type = value->text;
    else if (str_equal(key, STR("value")))
        entry->value = *value;
    else if (str_equal(key, STR("metadata")))
        take_metadata(entry, value->text);
    else if (str_equal(key, STR("time_ms")) && ms > 0 && ms < 9e12)
        entry->time_ns = (int64_t)ms * 1000000;
}

// False if it is cut.
static bool read_entry(struct str text, struct entry *entry)
{
    struct json_line members = {text};
    struct json_line_value value;
    struct str key;
    *entry = (struct entry){
        .time_ns = LOG_NO_TIME, .step = (double)NAN, .samples = (double)NAN, .lr = (double)NAN};
    while (json_line_next(&members, &key, &value))
        take_member(entry, key, &value);
    struct str rest = log_trim(members.rest);
    return rest.len && *rest.at == '}' && entry->key.len;
}

// --- steps --------------------------------------------------------------------------------------

static bool is_whole(double number)
{
    return number >= 0 && number < 1e15 && floor(number) == number;
}

// Some count a step by its samples.
static int64_t step_of(const struct log_mlperf *mlperf, const struct entry *entry)
{
    double step = entry->step;
    if (mlperf->batch > 0 && !mlperf->counts_tokens &&
        (isnan(step) || (step == entry->samples && mlperf->batch > 1)))
        step = entry->samples / mlperf->batch;
    return is_whole(step) ? (int64_t)step : LOG_NO_STEP;
}

static void begin_step(const struct log_mlperf *mlperf, const struct entry *entry,
                       struct log_step *step)
{
    *step =
        (struct log_step){.step = step_of(mlperf, entry), .time_ns = entry->time_ns, .rank = -1};
    if (mlperf->batch > 0)
        log_step_set(step, LOG_GLOBAL_BATCH, mlperf->batch);
    if (is_whole(entry->samples) && !mlperf->counts_tokens)
        log_step_set(step, LOG_CONSUMED_SAMPLES, entry->samples);
}

// The mean of a block, which has a step's time if all its steps had the same batch.
static enum log_mlperf_kind end_block(struct log_mlperf *mlperf, const struct entry *entry,
                                      struct log_step *step)
{
    double rate = mlperf->throughput;
    mlperf->throughput = 0;
    begin_step(mlperf, entry, step);
    if (!(rate > 0) || step->step == LOG_NO_STEP)
        return MLPERF_NOTHING;
    log_step_set(step, mlperf->counts_tokens ? LOG_JOB_TOKENS_PER_S : LOG_SAMPLES_PER_S, rate);
    if (mlperf->batch > 0 && !mlperf->counts_tokens)
        log_step_set(step, LOG_STEP_S, mlperf->batch / rate);
    return MLPERF_STEP;
}

// {"train_step_time": 0.147, "reduced_train_loss": 5.8}, or {"throughput": 5.87} of a block.
static enum log_mlperf_kind take_stats(struct log_mlperf *mlperf, const struct entry *entry,
                                       struct log_step *step)
{
    static const char *const losses[] = {"reduced_train_loss", "train_loss", "loss"};
    struct json_line members;
    struct json_line_value value;
    struct str key;
    double seconds = (double)NAN, loss = (double)NAN;
    if (entry->value.kind != JSON_LINE_OTHER || !json_line_open(&members, entry->value.text))
        return MLPERF_NOTHING;
    while (json_line_next(&members, &key, &value)) {
        if (str_equal(key, STR("train_step_time")))
            seconds = number_of(&value);
        else if (str_equal(key, STR("throughput")))
            mlperf->throughput = number_of(&value);
        else if (IS_ANY(key, losses))
            loss = number_of(&value);
    }
    begin_step(mlperf, entry, step);
    if (isnan(entry->step) || step->step == LOG_NO_STEP || (isnan(seconds) && isnan(loss)))
        return MLPERF_NOTHING;
    if (seconds > 0)
        log_step_set(step, LOG_STEP_S, seconds);
    if (!isnan(loss))
        log_step_set(step, LOG_LOSS, loss);
    return MLPERF_STEP;
}

static enum log_mlperf_kind take_loss(const struct log_mlperf *mlperf, const struct entry *entry,
                                      struct log_step *step)
{
    begin_step(mlperf, entry, step);
    log_step_set(step, LOG_LOSS, number_of(&entry->value));
    if (entry->lr >= 0)
        log_step_set(step, LOG_LEARNING_RATE, entry->lr);
    return step->step == LOG_NO_STEP ? MLPERF_NOTHING : MLPERF_STEP;
}

// --- events and settings ------------------------------------------------------------------------

static enum log_mlperf_kind take_evaluation(struct log_mlperf *mlperf, const struct entry *entry,
                                            struct log_event *event)
{
    double found = number_of(&entry->value);
    bool loss = mlperf->measures_loss || str_equal(entry->key, STR("eval_loss"));
    bool timed = mlperf->eval_ns != LOG_NO_TIME && entry->time_ns > mlperf->eval_ns;
    if (isnan(found))
        return MLPERF_NOTHING;
    int len = snprintf(mlperf->text, sizeof mlperf->text, "%.*s: %.6g", (int)entry->key.len,
                       entry->key.at, found);
    *event = (struct log_event){.kind = LOG_EVALUATION,
                                .time_ns = timed ? mlperf->eval_ns : entry->time_ns,
                                .rank = -1,
                                .dur_ns = timed ? entry->time_ns - mlperf->eval_ns : -1,
                                .loss = loss ? found : (double)NAN,
                                .text = {mlperf->text, (size_t)len}};
    mlperf->eval_ns = LOG_NO_TIME;
    return MLPERF_EVENT;
}

// Of language and image models the rules take a loss for an accuracy.
static void take_benchmark(struct log_mlperf *mlperf, struct str name)
{
    static const char *const models[] = {"llama", "gpt", "flux"};
    mlperf->counts_tokens = str_equal(name, STR("gpt3"));
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        mlperf->measures_loss = mlperf->measures_loss || str_starts_with(name, str_of(models[i]));
}

static enum log_mlperf_kind take_setting(struct log_mlperf *mlperf, const struct entry *entry,
                                         struct log_mlperf_record *record)
{
    double number = number_of(&entry->value);
    if (str_equal(entry->key, STR("global_batch_size")) && number > 0)
        mlperf->batch = number;
    if (str_equal(entry->key, STR("submission_benchmark")))
        take_benchmark(mlperf, entry->value.text);
    if (entry->value.kind == JSON_LINE_OTHER || str_equal(entry->value.text, STR("null")))
        return MLPERF_NOTHING;
    record->name = entry->key;
    record->value = entry->value.text;
    return MLPERF_SETTING;
}

enum log_mlperf_kind log_mlperf_read(struct log_mlperf *mlperf, struct str text,
                                     struct log_mlperf_record *record)
{
    static const char *const evaluations[] = {"eval_accuracy", "eval_loss"};
    struct entry entry;
    if (!read_entry(text, &entry))
        return MLPERF_NOTHING;
    if (str_equal(entry.key, STR("tracked_stats")))
        return take_stats(mlperf, &entry, &record->step);
    if (str_equal(entry.key, STR("train_loss")))
        return take_loss(mlperf, &entry, &record->step);
    if (str_equal(entry.key, STR("block_stop")))
        return end_block(mlperf, &entry, &record->step);
    if (IS_ANY(entry.key, evaluations))
        return take_evaluation(mlperf, &entry, &record->event);
    if (str_equal(entry.key, STR("eval_start")))
        mlperf->eval_ns = entry.time_ns;
    return str_equal(entry.type, STR("POINT_IN_TIME")) ? take_setting(mlperf, &entry, record)
                                                       : MLPERF_NOTHING;
}
