// SPDX-License-Identifier: Apache-2.0
// Settings and results in JSON: a job's configuration as DeepSpeed and Hugging Face have it, and
// what benchmarks write at the end, with figures and lists of a value per step.
#include "ingest/config/config_results.h"
#include "ingest/config/config_settings.h"
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"
#include "ingest/logs/log_text.h"

#include <math.h>

enum { MOST_STEPS = 100000 };

struct reader {
    struct config_settings settings;
    struct json_cursor json;
    struct budget *budget;
    struct buf text; // the last one, decoded
    struct log_step *steps;
    size_t step_count, step_cap;
    size_t depth;
};

static void check(struct reader *reader, bool ok, const struct err *err)
{
    if (!ok)
        json_cursor_fail(&reader->json, err);
}

static struct str decoded(struct reader *reader, struct str raw)
{
    if (json_text_is_plain(raw))
        return raw;
    buf_clear(&reader->text);
    (void)json_text_decode(raw, &reader->text);
    return (struct str){reader->text.at, reader->text.len};
}

static struct str text_of(struct reader *reader, const struct json_value *value)
{
    bool none = value->type == JSON_SCALAR && str_equal(value->text, STR("null"));
    return none ? STR("") : value->type == JSON_TEXT ? decoded(reader, value->text) : value->text;
}

// --- values -------------------------------------------------------------------------------------

static struct str path_of(const struct reader *reader)
{
    return (struct str){reader->settings.path.at, reader->settings.path.len};
}

static void take_scalar(struct reader *reader, const struct json_value *value)
{
    struct err err = {.pos = ERR_NO_POS};
    double number;
    bool is = value->type == JSON_SCALAR && log_is_number(value->text, &number);
    const char *unit = is ? config_result_unit(path_of(reader)) : NULL;
    bool ok =
        unit ? evidence_add_result(reader->settings.evidence, path_of(reader), number, unit, &err)
             : config_set_here(&reader->settings, text_of(reader, value), &err);
    check(reader, ok, &err);
}

// --- lists --------------------------------------------------------------------------------------

static bool make_step(struct reader *reader, size_t index, struct err *err)
{
    struct log_step *grown = budget_room(reader->budget, reader->steps, &reader->step_cap,
                                         index + 1, sizeof *grown, err);
    if (!grown)
        return false;
    reader->steps = grown;
    for (; reader->step_count <= index; reader->step_count++)
        reader->steps[reader->step_count] = (struct log_step){
            .step = (int64_t)reader->step_count + 1,
            .time_ns = LOG_NO_TIME,
            .rank = -1,
            .pos = json_cursor_pos(&reader->json),
            .writer = "results",
        };
    return true;
}

// A list with a value per step.
static void take_series(struct reader *reader, const struct config_series *series)
{
    struct err err = {.pos = ERR_NO_POS};
    struct json_value item;
    for (size_t i = 0; json_cursor_item(&reader->json, &item); i++) {
        double number = NAN;
        bool is = item.type == JSON_SCALAR && log_is_number(item.text, &number);
        json_cursor_pass(&reader->json, &item);
        if (i >= MOST_STEPS || !(is || str_equal(item.text, STR("NaN"))))
            continue;
        bool ok = make_step(reader, i, &err);
        check(reader, ok, &err);
        if (ok)
            log_step_set(&reader->steps[i], series->value, number * series->scale);
    }
}

static void take_value(struct reader *reader, const struct json_value *value);

static void take_list(struct reader *reader)
{
    struct err err = {.pos = ERR_NO_POS};
    struct json_value item;
    bool is_flat = true;
    for (size_t i = 0; json_cursor_item(&reader->json, &item); i++) {
        bool inner = item.type == JSON_OBJECT || item.type == JSON_ARRAY;
        if (!inner) {
            config_list_add(&reader->settings, is_flat ? text_of(reader, &item) : STR(""));
            continue;
        }
        is_flat = false;
        buf_clear(&reader->settings.list);
        size_t outer = config_enter_item(&reader->settings, i);
        take_value(reader, &item);
        config_leave(&reader->settings, outer);
    }
    if (!is_flat)
        buf_clear(&reader->settings.list);
    check(reader, config_list_end(&reader->settings, &err), &err);
}

static void take_members(struct reader *reader)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&reader->json, &key, &value)) {
        size_t outer = config_enter(&reader->settings, decoded(reader, key));
        take_value(reader, &value);
        config_leave(&reader->settings, outer);
    }
}

static void take_inner(struct reader *reader, const struct json_value *value)
{
    struct config_series series;
    reader->depth++;
    if (value->type == JSON_OBJECT)
        take_members(reader);
    else if (config_series_of(path_of(reader), &series))
        take_series(reader, &series);
    else
        take_list(reader);
    reader->depth--;
}

static void take_value(struct reader *reader, const struct json_value *value)
{
    if (value->type == JSON_TEXT || value->type == JSON_SCALAR)
        take_scalar(reader, value);
    else if (reader->depth < CONFIG_MOST_DEPTH)
        take_inner(reader, value);
    else
        json_cursor_pass(&reader->json, value);
}

// --- the document -------------------------------------------------------------------------------

static bool add_steps(struct reader *reader, struct err *err)
{
    for (size_t i = 0; i < reader->step_count; i++)
        if (!log_book_add(reader->settings.evidence, &reader->steps[i], err))
            return false;
    return true;
}

// The source matters: some names mean something else in other sources.
static void find_source(struct evidence *evidence)
{
    static const char *const names[] = {"zero_optimization*", "train_micro_batch_size_per_gpu",
                                        NULL};
    for (size_t i = 0; i < evidence->setting_count; i++)
        if (config_is_listed(evidence->settings[i].name, names))
            evidence->source = STR("deepspeed");
}

static bool read_all(struct reader *reader, const struct format_input *input, struct err *err)
{
    struct json_value root;
    struct evidence *evidence = input->evidence;
    bool ok = json_cursor_open(&reader->json, input->source, input->budget, &root, err);
    if (ok && !reader->json.stop && root.type == JSON_OBJECT)
        take_members(reader);
    if (ok && reader->json.stop == JSON_FAILED)
        *err = reader->json.err;
    ok = ok && reader->json.stop != JSON_FAILED && buf_ok(&reader->text, err) &&
         add_steps(reader, err);
    json_cursor_close(&reader->json);
    find_source(evidence);
    return ok && (evidence->result_count > 0 || evidence->log.step_count > 0 ||
                  config_settings_ended(&reader->settings, CONFIG_LEAST, "JSON", err));
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    struct reader *reader = budget_zalloc(input->budget, sizeof *reader, err);
    if (!reader)
        return false;
    reader->settings.evidence = input->evidence;
    reader->budget = input->budget;
    bool ok = read_all(reader, input, err);
    config_settings_free(&reader->settings);
    buf_free(&reader->text);
    budget_free(input->budget, reader->steps, reader->step_cap * sizeof *reader->steps);
    budget_free(input->budget, reader, sizeof *reader);
    return ok;
}

extern const struct format format_config_json;

static bool count_json(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_config_json, err);
}

// --- recognition --------------------------------------------------------------------------------

static size_t count_in(struct str head, const char *const *names)
{
    size_t count = 0;
    for (; *names; names++)
        count += str_find(head, str_of(*names)) != SIZE_MAX;
    return count;
}

static enum format_likeness probe_json(const struct format_sample *sample)
{
    // Keys of settings and results, and of other documents that may contain such keys.
    static const char *const ours[] = {
        "\"global_batch_size\"",
        "\"micro_batch_size\"",
        "\"train_batch_size\"",
        "\"train_micro_batch_size_per_gpu\"",
        "\"per_device_train_batch_size\"",
        "\"gradient_accumulation_steps\"",
        "\"zero_optimization\"",
        "\"seq_length\"",
        "\"sequence_length\"",
        "\"tensor_model_parallel_size\"",
        "\"num_attention_heads\"",
        "\"num_hidden_layers\"",
        "\"hidden_size\"",
        "\"tokens_per_s",
        "\"avg_step_time",
        "\"mean_step_time",
        "\"step_time",
        "\"loss_values\"",
        "\"losses\"",
        "\"train_runtime\"",
        "\"train_loss\"",
        "\"train_samples_per_second\"",
        NULL,
    };
    static const char *const others[] = {
        "\"traceEvents\"",
        "\"schemaVersion\"",
        "\"deviceProperties\"",
        "\"ph\"",
        "\"distributedInfo\"",
        "\"log_history\"",
        "\"pg_config\"",
        "\"workload_graph\"",
        "\"nbformat\"",
        "\"weight_map\"",
        "\"segments\"",
        "\"device_traces\"",
        NULL,
    };
    bool document = sample->outline->json && sample->outline->root == '{' &&
                    !(sample->outline->ended && sample->outline->after);
    if (!document || count_in(sample->head, others))
        return FORMAT_UNLIKE;
    size_t count = count_in(sample->head, ours);
    return count >= CONFIG_LEAST ? FORMAT_SURE : count ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_config_json = {
    .name = "config-json",
    .what = "settings or results in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};
