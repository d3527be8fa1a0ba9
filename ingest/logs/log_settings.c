// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_settings.h"

#include "ingest/logs/log_fields.h"
#include "ingest/logs/log_text.h"

#include <inttypes.h>
#include <stdio.h>

const struct log_setting_row log_setting_rows[] = {
    // parameters: Megatron-LM, NeMo, PyTorch Lightning; torchtitan; nanotron, nanoGPT; MaxText
    {"number of parameters on (tensor, pipeline) model parallel rank (", LOG_RANK, false,
     "rank_parameters"},
    {"Total params", LOG_OF, false, "rank_parameters"},
    {" total parameters", LOG_OF, false, "model_parameters"},
    {"number of parameters: ", LOG_AMOUNT, false, "model_parameters"},
    {"number parameters: ", LOG_AMOUNT, false, "model_parameters"},
    // PEFT and what prints with it; unsloth; HF Trainer; torchtitan's mixtures of experts
    {"trainable params: ", LOG_PART, false, "trainable_parameters"},
    {"Trainable parameters = ", LOG_PART, false, "trainable_parameters"},
    {"Number of trainable parameters = ", LOG_AMOUNT, false, "trainable_parameters"},
    {"Total parameter count: dense ", LOG_AFTER, false, "active_parameters"},
    // Megatron-LM; the block of arguments is read as such
    {"using world size: ", LOG_LIST, true, NULL},
    // "Building MockGPTDataset splits with sizes=..."
    {" splits with sizes", LOG_BEFORE, false, NULL},
    // torchtitan
    {"local batch size ", LOG_LIST, true, NULL},
    {"device mesh with parallelism: ", LOG_LIST, false, NULL},
    {"CUDA capacity: ", LOG_REST, true, NULL},
    {"GPU capacity: ", LOG_REST, true, NULL},
    {" dataset from ", LOG_BEFORE, false, NULL}, // "Preparing c4 dataset from allenai/c4"
    // DeepSpeed
    {":print]  ", LOG_DOTS, false, NULL},
    // MaxText
    {"Config param ", LOG_REST, false, NULL},
    // HF Trainer
    {"{'train_runtime':", LOG_TRAIN, false, NULL},
};
const size_t log_setting_row_count = sizeof log_setting_rows / sizeof *log_setting_rows;

enum { MOST_NAME = 64, MOST_LIST = 32 };

static bool set(struct evidence *evidence, struct str name, struct str value, struct err *err)
{
    name = log_trim(name);
    value = log_trim(value);
    return name.len == 0 || name.len > MOST_NAME || value.len == 0 ||
           evidence_set(evidence, name, value, err);
}

// "tensor-model-parallel size: 4", "dp_shard=8", "global batch size 64"
static bool set_item(struct evidence *evidence, struct str item, struct err *err)
{
    size_t between = str_find(item, STR("=")), colon = str_find(item, STR(":"));
    between = colon < between ? colon : between;
    if (str_starts_with(item, STR("using ")))
        return set_item(evidence, log_from(item, 6), err);
    for (size_t i = item.len; between == SIZE_MAX && i > 0; i--)
        between = item.at[i - 1] == ' ' ? i - 1 : between;
    if (between == SIZE_MAX)
        return true;
    return set(evidence, (struct str){item.at, between}, log_from(item, between + 1), err);
}

static bool set_list(struct evidence *evidence, struct str text, struct err *err)
{
    for (size_t i = 0; text.len && i < MOST_LIST; i++) {
        const char *comma = memchr(text.at, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.at) : text.len;
        struct str item = log_trim((struct str){text.at, len});
        size_t note = str_find(item, STR(" ("));
        item.len = note < item.len ? note : item.len;
        if (!set_item(evidence, item, err))
            return false;
        text = log_from(text, len + 1);
    }
    return true;
}

static bool set_rest(struct evidence *evidence, struct str text, struct err *err)
{
    size_t colon = str_find(text, STR(":"));
    return colon == SIZE_MAX ||
           set(evidence, (struct str){text.at, colon}, log_from(text, colon + 1), err);
}

static bool set_train(struct evidence *evidence, struct str text, struct err *err)
{
    struct str key, value;
    size_t open = str_find(text, STR("{")), close = str_find(text, STR("}"));
    if (open > close || close == SIZE_MAX)
        return true;
    struct log_fields fields = {LOG_DICT, {text.at + open + 1, close - open - 1}, true};
    for (size_t i = 0; i < MOST_LIST && log_fields_next(&fields, &key, &value); i++)
        if (str_starts_with(key, STR("train_")) && !set(evidence, key, value, err))
            return false;
    return true;
}

// "8.030 billion", "1.04G (1984.26MiB)"
static bool set_amount(struct evidence *evidence, const char *name, struct str text,
                       struct err *err)
{
    size_t note = str_find(text, STR(" ("));
    text.len = note < text.len ? note : text.len;
    return set(evidence, str_of(name), text, err);
}

// "0, 1): 504889344" and "0 ,1): 504889344"; the first rank's count is also known by the name
// alone.
static bool set_rank(struct evidence *evidence, const char *name, struct str text, struct err *err)
{
    char full[64];
    int64_t at[2] = {-1, -1};
    size_t from = 0, to = 0, end = str_find(text, STR("): "));
    for (size_t i = 0; end < text.len && i < 2; i++) {
        for (from = to; from < end && !str_is_digit(text.at[from]);)
            from++;
        for (to = from; to < end && str_is_digit(text.at[to]);)
            to++;
        if (!str_to_i64((struct str){text.at + from, to - from}, &at[i]))
            return true;
    }
    if (end >= text.len)
        return true;
    struct str count = log_trim(log_from(text, end + 3));
    snprintf(full, sizeof full, "%s.%" PRId64 ".%" PRId64, name, at[0], at[1]);
    return set(evidence, str_of(full), count, err) &&
           (at[0] || at[1] || set(evidence, str_of(name), count, err));
}

static struct str number_at(struct str text)
{
    size_t len = 0;
    while (len < text.len && (str_is_digit(text.at[len]) || text.at[len] == ','))
        len++;
    while (len && text.at[len - 1] == ',')
        len--;
    return (struct str){text.at, len};
}

// "4,194,304 || all params: 6,742,609,920 || trainable%: 0.06", "41,943,040 of 8,072,204,288 (0.52%
// trained)", "24,313,856/3,000,000,000 (0.81% trained)"
static bool set_part(struct evidence *evidence, const char *name, struct str text, struct err *err)
{
    static const char *const between[] = {" || all params: ", " of ", "/"};
    struct str part = number_at(text);
    if (!set(evidence, str_of(name), part, err))
        return false;
    text = log_from(text, part.len);
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        if (part.len && str_starts_with(text, str_of(between[i])))
            return set(evidence, STR("model_parameters"),
                       number_at(log_from(text, strlen(between[i]))), err);
    return true;
}

// "dense 1,234, sparse 15,000, active 2,345"
static bool set_active(struct evidence *evidence, const char *name, struct str text,
                       struct err *err)
{
    size_t at = str_find(text, STR(", active "));
    return at == SIZE_MAX || set(evidence, str_of(name), number_at(log_from(text, at + 9)), err);
}

// "54.7 M    Total params", "size: 8,030,261,248 total parameters"
static bool set_amount_before(struct evidence *evidence, const char *name, struct str before,
                              struct err *err)
{
    before = log_trim(before);
    size_t from = before.len;
    if (from && memchr("KMBT", before.at[from - 1], 4))
        from--;
    while (from && before.at[from - 1] == ' ')
        from--;
    while (from && (str_is_digit(before.at[from - 1]) || memchr(",.", before.at[from - 1], 2)))
        from--;
    return set(evidence, str_of(name), log_from(before, from), err);
}

bool log_argument_read(struct str text, struct evidence *evidence, bool *is, struct err *err)
{
    size_t dots = str_find(text, STR(" ..")), from = dots, to = dots + 1;
    *is = false;
    if (dots == SIZE_MAX)
        return true;
    while (from > 0 && text.at[from - 1] != ' ')
        from--;
    while (to < text.len && text.at[to] == '.')
        to++;
    struct str value = log_trim(log_from(text, to));
    *is = to < text.len && text.at[to] == ' ' && value.len && from < dots;
    return !*is || set(evidence, (struct str){text.at + from, dots - from}, value, err);
}

// The word before the mark, which is the name of a data set after what these programs say.
static bool set_dataset(struct evidence *evidence, struct str before, struct err *err)
{
    size_t from = before.len;
    while (from > 0 && before.at[from - 1] != ' ')
        from--;
    struct str said = {before.at, from};
    return (!str_ends_with(said, STR("Preparing ")) && !str_ends_with(said, STR("Building "))) ||
           set(evidence, STR("dataset_name"), log_from(before, from), err);
}

bool log_setting_read(const struct log_setting_row *row, struct str text, size_t at,
                      struct evidence *evidence, struct err *err)
{
    bool ignored;
    struct str after = log_from(text, row->with_mark ? at : at + strlen(row->mark));
    switch (row->form) {
    case LOG_LIST: return set_list(evidence, after, err);
    case LOG_DOTS: return log_argument_read(after, evidence, &ignored, err);
    case LOG_REST: return set_rest(evidence, after, err);
    case LOG_BEFORE: return set_dataset(evidence, (struct str){text.at, at}, err);
    case LOG_TRAIN: return set_train(evidence, log_from(text, at), err);
    case LOG_AMOUNT: return set_amount(evidence, row->name, after, err);
    case LOG_RANK: return set_rank(evidence, row->name, after, err);
    case LOG_PART: return set_part(evidence, row->name, after, err);
    case LOG_AFTER: return set_active(evidence, row->name, after, err);
    case LOG_OF: return set_amount_before(evidence, row->name, (struct str){text.at, at}, err);
    }
    return true;
}
