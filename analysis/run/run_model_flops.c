// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_model_flops.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_stated.h"

// What files state; 0 unknown.
struct model {
    double layers, width, tokens; // L, H, S
    double parameters;            // N
    const char *source;           // of the parameters
};

static double stated(const struct report *report, const char *standard)
{
    return (double)run_stated_count(report, standard);
}

// Adapters (LoRA) train a small part of the parameters.
static bool has_adapter(const struct report *report)
{
    static const char *const words[] = {"lora", "adapter", "peft"};
    static const char *const none[] = {"", "none", "null", "false", "0"};
    const struct table *settings = report_find(report, "job_settings");
    for (size_t row = 0; settings && row < settings->row_count; row++) {
        struct str name = table_cell(settings, row, JOB_SETTINGS_NAME)->s;
        const struct cell *value = table_cell(settings, row, JOB_SETTINGS_VALUE);
        bool is = false, is_off = value->null;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            is |= str_contains_nocase(name, str_of(words[i]));
        for (size_t i = 0; is && !is_off && i < sizeof none / sizeof *none; i++)
            is_off = str_equal_nocase(value->s, str_of(none[i]));
        if (is && !is_off)
            return true;
    }
    return false;
}

// A rank's count is the model's if nothing splits the model.
static bool is_split(const struct report *report)
{
    return stated(report, "tensor_parallel_size") > 1 ||
           stated(report, "pipeline_parallel_size") > 1;
}

// The weights of the matrix products: attention, MLP and output layer.
static double weights_by_shape(const struct report *report, const struct model *model)
{
    double heads = stated(report, "heads"), kv_heads = stated(report, "kv_heads");
    double head = stated(report, "head_size"), ffn = stated(report, "ffn_hidden_size");
    double vocabulary = stated(report, "padded_vocabulary_size");
    struct str gated = run_stated(report, "gated_mlp");
    if (vocabulary == 0)
        vocabulary = stated(report, "vocabulary_size");
    if (model->layers == 0 || model->width == 0 || heads == 0 || ffn == 0 || vocabulary == 0 ||
        gated.len == 0)
        return 0;
    head = head > 0 ? head : model->width / heads;
    kv_heads = kv_heads > 0 ? kv_heads : heads;
    double attention = 2 * model->width * head * (heads + kv_heads);
    double mlp = (str_equal(gated, STR("true")) ? 3 : 2) * model->width * ffn;
    return model->layers * (attention + mlp) + model->width * vocabulary;
}

static void find_parameters(const struct report *report, struct model *model)
{
    model->parameters = stated(report, "parameters");
    model->source = "parameters as stated";
    if (model->parameters == 0 && !is_split(report))
        model->parameters = stated(report, "rank_parameters");
    if (model->parameters > 0)
        return;
    model->parameters = weights_by_shape(report, model);
    model->source = "weights of matrix products by the shape of the model";
}

bool run_model_flops(const struct report *report, struct model_flops *flops, struct err *err)
{
    struct model model = {.layers = stated(report, "layers"),
                          .width = stated(report, "hidden_size"),
                          .tokens = stated(report, "seq_length")};
    *flops = (struct model_flops){0};
    if (stated(report, "experts") > 1 || has_adapter(report))
        return true;
    find_parameters(report, &model);
    if (model.parameters == 0)
        return true;
    double attention = 12 * model.layers * model.width * model.tokens;
    flops->per_token = 6 * model.parameters + attention;
    flops->basis =
        attention > 0
            ? arena_printf(report->arena, err,
                           "6 N + 12 L H S operations per token: N = %.0f (%s), L = %.0f layers, "
                           "H = %.0f wide, S = %.0f tokens",
                           model.parameters, model.source, model.layers, model.width, model.tokens)
            : arena_printf(report->arena, err,
                           "6 N operations per token: N = %.0f (%s); attention is not counted, as "
                           "layers, hidden size and sequence length are not all stated",
                           model.parameters, model.source);
    return flops->basis;
}
