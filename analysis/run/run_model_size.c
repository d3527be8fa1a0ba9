// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_model_size.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_stated.h"

#include <math.h>
#include <string.h>

struct model {
    const struct report *report;
    double layers, width;
    double experts, chosen; // per layer with experts: all, and those that a token uses
    double expert;          // weights of one; 0 unknown
    double expert_layers;   // NAN: stated, but not understood
    double counted;         // experts of a layer within the parameters that are known
};

static double stated(const struct report *report, const char *standard)
{
    return (double)run_stated_count(report, standard);
}

static double stated_or(const struct report *report, const char *standard, double otherwise)
{
    double value = stated(report, standard);
    return value > 0 ? value : otherwise;
}

// --- experts ------------------------------------------------------------------------------------

// "([0]*1+[1]*26)", "[0, 1, 1]": a 1 for each layer with experts. NAN if it is not for all layers.
static double pattern_layers(struct str pattern, double layers)
{
    double ones = 0, items = 0, list_ones = 0, list_items = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.at[i];
        int64_t times = 1;
        if (c == '[')
            list_ones = list_items = 0;
        list_ones += c == '1';
        list_items += c == '0' || c == '1';
        if (c != ']')
            continue;
        struct str rest = {pattern.at + i + 1, pattern.len - i - 1};
        size_t digits = 1;
        while (rest.len > digits && str_is_digit(rest.at[digits]))
            digits++;
        if (rest.len && *rest.at == '*') {
            if (!str_to_i64((struct str){rest.at + 1, digits - 1}, &times))
                return (double)NAN;
            i += digits;
        }
        ones += list_ones * (double)times;
        items += list_items * (double)times;
    }
    return items == layers ? ones : (double)NAN;
}

static double expert_layers(const struct report *report, double layers)
{
    struct str pattern = run_stated(report, "expert_layers");
    double dense = stated(report, "dense_layers");
    int64_t every;
    if (dense > 0)
        return fmax(layers - dense, 0);
    if (pattern.len == 0)
        return layers;
    if (str_to_i64(pattern, &every) && every > 0)
        return ceil(layers / (double)every);
    return pattern_layers(pattern, layers);
}

// The matrices of an MLP of that width; 0 if it is not stated whether there are two or three.
static double mlp_weights(const struct model *model, double ffn)
{
    struct str gated = run_stated(model->report, "gated_mlp");
    return gated.len ? (str_equal(gated, STR("true")) ? 3 : 2) * model->width * ffn : 0;
}

static struct model model_of(const struct report *report)
{
    struct model model = {.report = report,
                          .layers = stated(report, "layers"),
                          .width = stated(report, "hidden_size"),
                          .experts = stated(report, "experts"),
                          .chosen = stated(report, "experts_per_token")};
    double ffn = stated_or(report, "expert_ffn_hidden_size", stated(report, "ffn_hidden_size"));
    model.experts = model.experts > 1 ? model.experts : 0;
    model.expert = mlp_weights(&model, ffn);
    model.expert_layers = model.experts > 0 ? expert_layers(report, model.layers) : 0;
    model.counted = model.experts;
    return model;
}

// What is missing to tell the experts of a token from the others; NULL if nothing is.
static const char *missing_of_experts(const struct model *model)
{
    if (model->experts == 0)
        return NULL;
    if (model->chosen == 0)
        return "the model has experts, and no file states how many of them a token uses "
               "(moe_router_topk, num_experts_per_tok)";
    if (isnan(model->expert_layers))
        return "which layers have experts is stated in a form that is not understood "
               "(moe_layer_freq)";
    if (model->layers == 0 || model->expert == 0)
        return "the model has experts, and no file states how large one is (layers, hidden size, "
               "MLP size of an expert, and whether it is gated)";
    return NULL;
}

// --- by the shape -------------------------------------------------------------------------------

// DeepSeek's attention: keys and values by way of a small latent vector. Megatron-LM prints its
// sizes for any model.
static bool is_latent(const struct report *report)
{
    struct str is = run_stated(report, "latent_attention");
    return stated(report, "latent_kv_size") > 0 && !str_equal(is, STR("false"));
}

double run_attention_width(const struct report *report)
{
    double heads = stated(report, "heads"), width = stated(report, "hidden_size");
    double head = stated(report, "head_size"), key = stated(report, "latent_key_size");
    double rotary = stated(report, "latent_rotary_size");
    double value = stated(report, "latent_value_size");
    if (is_latent(report))
        return key > 0 && rotary > 0 && value > 0 ? heads * (key + rotary + value) / 2 : 0;
    return head > 0 && heads > 0 ? heads * head : width;
}

// Weights of that attention in a layer; 0 unknown.
static double latent_weights(const struct model *model)
{
    const struct report *report = model->report;
    double heads = stated(report, "heads"), kv = stated(report, "latent_kv_size"),
           queries = stated(report, "latent_query_size"), value, key, rotary;
    key = stated(report, "latent_key_size");
    rotary = stated(report, "latent_rotary_size");
    value = stated(report, "latent_value_size");
    if (heads == 0 || key == 0 || rotary == 0 || value == 0)
        return 0;
    double query = queries > 0 ? queries * (model->width + heads * (key + rotary))
                               : model->width * heads * (key + rotary);
    return query + model->width * (kv + rotary) + kv * heads * (key + value) +
           heads * value * model->width;
}

static double attention_weights(const struct model *model)
{
    const struct report *report = model->report;
    double heads = stated(report, "heads"), kv_heads = stated_or(report, "kv_heads", heads);
    if (is_latent(report))
        return latent_weights(model);
    double head = heads > 0 ? stated_or(report, "head_size", model->width / heads) : 0;
    return 2 * model->width * head * (heads + kv_heads);
}

// Experts that every token uses, of a layer: their width together, or how many of the others' size.
static double shared_weights(const struct model *model)
{
    double width = stated(model->report, "shared_expert_ffn_hidden_size");
    return width > 0 ? mlp_weights(model, width)
                     : stated(model->report, "shared_experts") * model->expert;
}

// The weights of the matrix products: attention, MLP or experts with their router, output layer.
static double weights_by_shape(const struct model *model)
{
    const struct report *report = model->report;
    double vocabulary =
        stated_or(report, "padded_vocabulary_size", stated(report, "vocabulary_size"));
    double dense = model->layers - model->expert_layers, attention = attention_weights(model);
    double mlp = dense > 0 ? mlp_weights(model, stated(report, "ffn_hidden_size")) : 0;
    if (model->layers == 0 || attention == 0 || vocabulary == 0 || (dense > 0 && mlp == 0))
        return 0;
    double experts = model->chosen * model->expert + shared_weights(model) +
                     model->width * model->experts; // the router
    return model->layers * attention + dense * mlp + model->expert_layers * experts +
           model->width * vocabulary;
}

// --- as counted ---------------------------------------------------------------------------------

enum { MOST_RANKS = 64 }; // of a tensor group, and pipeline stages

struct rank_sum {
    double parameters;
    int64_t ranks;
    uint64_t seen[MOST_RANKS]; // by tensor rank, a bit for each stage
};

// "rank_parameters.1.3": of tensor rank 1 in stage 3, as Megatron-LM prints them.
static bool is_of_rank(struct str name, int64_t *tensor, int64_t *stage)
{
    struct str prefix = STR("rank_parameters.");
    if (!str_starts_with(name, prefix))
        return false;
    name = (struct str){name.at + prefix.len, name.len - prefix.len};
    size_t dot = str_find(name, STR("."));
    return dot < name.len && str_to_i64((struct str){name.at, dot}, tensor) &&
           str_to_i64((struct str){name.at + dot + 1, name.len - dot - 1}, stage) && *tensor >= 0 &&
           *tensor < MOST_RANKS && *stage >= 0 && *stage < MOST_RANKS;
}

// Each rank once, whichever files have it.
static struct rank_sum sum_ranks(const struct report *report)
{
    const struct table *settings = report_find(report, "job_settings");
    struct rank_sum sum = {0};
    for (size_t row = 0; settings && row < settings->row_count; row++) {
        const struct cell *name = table_cell(settings, row, JOB_SETTINGS_NAME);
        const struct cell *value = table_cell(settings, row, JOB_SETTINGS_VALUE);
        int64_t tensor, stage, count;
        if (name->null || value->null || !is_of_rank(name->s, &tensor, &stage) ||
            !str_to_i64(value->s, &count) || count <= 0 || (sum.seen[tensor] >> stage & 1))
            continue;
        sum.seen[tensor] |= UINT64_C(1) << stage;
        sum.parameters += (double)count;
        sum.ranks++;
    }
    return sum;
}

// A rank that states its parameters has only a part of the experts.
static double counted_experts(const struct model *model, double tensor)
{
    double expert_parallel = stated_or(model->report, "expert_parallel_size", 1);
    double expert_tensor = stated_or(model->report, "expert_tensor_parallel_size", tensor);
    return model->experts / expert_parallel * tensor / expert_tensor;
}

// The parameters of all ranks that hold the model together; 0 unknown. Without memory there is no
// source.
static double parameters_of_ranks(struct model *model, struct model_size *size, struct err *err)
{
    const struct report *report = model->report;
    double tensor = stated_or(report, "tensor_parallel_size", 1);
    double stages = stated_or(report, "pipeline_parallel_size", 1);
    double rank = stated(report, "rank_parameters");
    struct rank_sum sum = sum_ranks(report);
    model->counted = counted_experts(model, tensor);
    if (tensor * stages > 1 && (double)sum.ranks == tensor * stages) {
        size->source = arena_printf(report->arena, err, "parameters of %lld ranks together",
                                    (long long)sum.ranks);
        return sum.parameters;
    }
    if (stages > 1 && rank > 0 &&
        !(size->why = arena_printf(report->arena, err,
                                   "the model is split into %.0f pipeline stages, and the files "
                                   "state the parameters of %lld of %.0f ranks",
                                   stages, (long long)sum.ranks, tensor * stages)))
        size->source = NULL;
    if (stages > 1 || rank == 0)
        return 0;
    size->source = "parameters as stated";
    if (tensor > 1)
        size->source =
            arena_printf(report->arena, err,
                         "parameters of a rank times %.0f, the tensor parallel size", tensor);
    return rank * tensor;
}

// All parameters, with all experts; 0 unknown.
static double all_parameters(struct model *model, struct model_size *size, struct err *err)
{
    double parameters = stated(model->report, "parameters");
    size->source = "parameters as stated";
    return parameters > 0 ? parameters : parameters_of_ranks(model, size, err);
}

// Sets the weights that work on a token.
static bool find_active(struct model *model, struct model_size *size, struct err *err)
{
    const struct report *report = model->report;
    const char *missing = missing_of_experts(model);
    size->source = "active parameters as stated";
    size->active = stated(report, "active_parameters");
    if (size->active > 0)
        return true;
    double all = all_parameters(model, size, err);
    if (!size->source)
        return false;
    if (missing) {
        size->why = missing;
        return true;
    }
    size->active = all - model->expert_layers * model->expert * (model->counted - model->chosen);
    if (all == 0 || size->active <= 0) {
        size->active = weights_by_shape(model);
        size->source = "weights of matrix products by the shape of the model";
    }
    if (model->experts > 0 && size->active > 0)
        size->source = arena_printf(report->arena, err, "%s, with %.0f of %.0f experts per token",
                                    size->source, model->chosen, model->experts);
    return size->source;
}

// --- adapters -----------------------------------------------------------------------------------

static bool is_off(const struct cell *value)
{
    static const char *const none[] = {"", "none", "null", "false", "0", "no", "full", "freeze"};
    bool off = value->null;
    for (size_t i = 0; !off && i < sizeof none / sizeof *none; i++)
        off = str_equal_nocase(value->s, str_of(none[i]));
    return off;
}

// Whether a level of a dotted name is "lora" or starts with "lora_": not DeepSeek's q_lora_rank.
static bool names_lora(struct str name)
{
    for (size_t from = 0, at = 0; at <= name.len; at++) {
        if (at < name.len && name.at[at] != '.')
            continue;
        struct str level = {name.at + from, at - from};
        from = at + 1;
        if (str_equal_nocase(level, STR("lora")) ||
            (level.len > 5 && str_equal_nocase((struct str){level.at, 5}, STR("lora_"))))
            return true;
    }
    return false;
}

static struct str last_level(struct str name)
{
    const char *dot = memrchr(name.at, '.', name.len);
    return dot ? (struct str){dot + 1, (size_t)(name.at + name.len - dot) - 1} : name;
}

// axolotl, LLaMA-Factory, TRL, NeMo: what decides, whatever the settings of LoRA are.
static bool decides(struct str name)
{
    static const char *const names[] = {"adapter", "finetuning_type", "use_peft", "peft_scheme"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal_nocase(last_level(name), str_of(names[i])))
            return true;
    return false;
}

// LoRA and its like, as a setting says, else by settings that only it has.
static bool has_adapter(const struct report *report)
{
    const struct table *settings = report_find(report, "job_settings");
    bool is = false;
    for (size_t row = 0; settings && row < settings->row_count; row++) {
        const struct cell *name = table_cell(settings, row, JOB_SETTINGS_NAME);
        const struct cell *value = table_cell(settings, row, JOB_SETTINGS_VALUE);
        if (table_is(settings, row, JOB_SETTINGS_STANDARD, STR("adapter")))
            return !is_off(table_cell(settings, row, JOB_SETTINGS_STANDARD_VALUE));
        if (!name->null && decides(name->s))
            return !is_off(value);
        is = is || (!name->null && names_lora(name->s) && !is_off(value));
    }
    return is;
}

// What is trained of a model of which most is frozen.
static void find_trained(const struct report *report, struct model_size *size)
{
    double trained = stated(report, "trainable_parameters");
    bool part = trained > 0 && trained < size->active / 2;
    size->adapter = size->active > 0 && (part || has_adapter(report));
    size->trained = size->adapter && part ? trained : 0;
    if (size->active == 0 && !size->why && trained > 0)
        size->why = "only trainable parameters are stated, which are those of an adapter if there "
                    "is one";
}

bool run_model_size(const struct report *report, struct model_size *size, struct err *err)
{
    struct model model = model_of(report);
    *size = (struct model_size){0};
    if (!find_active(&model, size, err))
        return false;
    find_trained(report, size);
    if (size->active > 0)
        size->why = NULL; // the shape says what counts did not
    else if (!size->why)
        size->why = "no file states the size of the model: its parameters, or layers, hidden size, "
                    "heads, MLP size, whether that is gated, and vocabulary";
    return true;
}
