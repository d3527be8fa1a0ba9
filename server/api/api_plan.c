// SPDX-License-Identifier: Apache-2.0
// The memory planner: what training would take on each GPU, from counts in the address alone.
#include "server/api/api.h"

#include "analysis/names/gpu_memory.h"
#include "analysis/plan/memory_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const known_parameters[] = {"parameters",
                                               "precision",
                                               "gradients",
                                               "optimizer",
                                               "strategy",
                                               "dp",
                                               "tp",
                                               "pp",
                                               "layers",
                                               "hidden",
                                               "heads",
                                               "seq_len",
                                               "vocab",
                                               "micro_batch",
                                               "attention",
                                               "recompute",
                                               "micro_batches",
                                               "interleave",
                                               "sequence_parallel",
                                               "overhead_gb",
                                               "gpu",
                                               "memory_gb",
                                               NULL};

struct plan_request {
    struct plan_model model;
    struct plan_job job;
    double memory_bytes; // of a GPU that is not listed; 0: not given
};

// --- reading ------------------------------------------------------------------------------------

// What a last letter means for a count of parameters.
static double scale_of(char letter)
{
    switch (letter) {
    case 'K':
    case 'k': return 1e3;
    case 'M':
    case 'm': return 1e6;
    case 'B':
    case 'b':
    case 'G':
    case 'g': return 1e9;
    case 'T':
    case 't': return 1e12;
    default: return 0;
    }
}

// "7e9", "7000000000", "6.7B"; false for anything else.
static bool read_amount(struct str text, bool letters, double *value)
{
    char copy[40] = "";
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.len);
    double scale = letters ? scale_of(copy[text.len - 1]) : 0;
    if (scale > 0)
        copy[text.len - 1] = '\0';
    char *end = copy;
    if (copy[0] == '\0' || strspn(copy, "0123456789.eE+ ") != strlen(copy))
        return false;
    for (char *at = copy; *at; at++) // a '+' not written as %2B
        *at = *at == ' ' ? '+' : *at;
    *value = strtod(copy, &end) * (scale > 0 ? scale : 1);
    return *end == '\0' && isfinite(*value);
}

static bool refuse_value(const char *name, struct str text, const char *expected, struct err *err)
{
    return err_set(err, ERR_USAGE, "found %s=%.*s, expected %s", name,
                   (int)(text.len < 40 ? text.len : 40), text.at ? text.at : "", expected);
}

static bool read_parameters(const struct query *query, double *value, struct err *err)
{
    static const char *const expected =
        "the model's parameters as an integer from 1 to 1e14, such as 7e9 or 7B";
    struct str text = query_get(query, "parameters");
    if (read_amount(text, true, value) && *value >= 1 && *value <= 1e14 && *value == floor(*value))
        return true;
    return refuse_value("parameters", text, expected, err);
}

static bool read_gigabytes(const struct query *query, const char *name, double fallback,
                           double *bytes, struct err *err)
{
    struct str text = query_get(query, name);
    double value = fallback;
    if (text.at && (!read_amount(text, false, &value) || value > 1e6))
        return refuse_value(name, text, "gigabytes (1e9 bytes) from 0 to 1e6", err);
    *bytes = value * 1e9;
    return true;
}

// The position of a parameter's word in a NULL-terminated list, 0 if it is not given.
static bool read_word(const struct query *query, const char *name, const char *const *words,
                      unsigned *place, struct err *err)
{
    struct str text = query_get(query, name);
    char expected[160] = "one of:";
    *place = 0;
    for (unsigned i = 0; words[i]; i++) {
        if (!text.at || str_equal(text, str_of(words[i]))) {
            *place = i;
            return true;
        }
        size_t len = strlen(expected);
        snprintf(expected + len, sizeof(expected) - len, "%s %s", i ? "," : "", words[i]);
    }
    return refuse_value(name, text, expected, err);
}

static bool read_words(const struct query *query, struct plan_job *job, struct err *err)
{
    static const char *const gradients[] = {"same", "fp32", NULL};
    static const char *const attention[] = {"flash", "standard", NULL};
    static const char *const yes_no[] = {"true", "false", NULL};
    const char *const *const lists[] = {plan_precision_words,
                                        plan_optimizer_words,
                                        plan_strategy_words,
                                        plan_recompute_words,
                                        gradients,
                                        attention,
                                        yes_no};
    static const char *const names[] = {"precision", "optimizer", "strategy",         "recompute",
                                        "gradients", "attention", "sequence_parallel"};
    unsigned places[7] = {0};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!read_word(query, names[i], lists[i], &places[i], err))
            return false;
    if (!query_get(query, "precision").at)
        places[0] = PLAN_MIXED_BF16;
    if (!query_get(query, "optimizer").at)
        places[1] = PLAN_ADAMW;
    job->precision = (enum plan_precision)places[0];
    job->optimizer = (enum plan_optimizer)places[1];
    job->strategy = (enum plan_strategy)places[2];
    job->recompute = (enum plan_recompute)places[3];
    job->fp32_gradients = places[4] == 1;
    job->flash_attention = places[5] == 0;
    job->sequence_parallel = places[6] == 0;
    return true;
}

static bool read_counts(const struct query *query, struct plan_model *model, struct plan_job *job,
                        struct err *err)
{
    const struct {
        struct query_int what;
        int64_t *value;
    } counts[] = {
        {{"layers", 0, 1, 100000}, &model->layers},
        {{"hidden", 0, 1, 10000000}, &model->hidden},
        {{"heads", 0, 1, 100000}, &model->heads},
        {{"seq_len", 0, 1, 100000000}, &model->seq_len},
        {{"vocab", 32000, 0, 100000000}, &model->vocab},
        {{"dp", 1, 1, 1000000}, &job->dp},
        {{"tp", 1, 1, 100000}, &job->tp},
        {{"pp", 1, 1, 100000}, &job->pp},
        {{"micro_batch", 1, 1, 1000000}, &job->micro_batch},
        {{"micro_batches", 0, 1, 1000000}, &job->micro_batches},
        {{"interleave", 1, 1, 1000}, &job->interleave},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (!query_get_int(query, counts[i].what, counts[i].value, err))
            return false;
    return true;
}

static bool read_request(const struct query *query, struct plan_request *plan, struct err *err)
{
    *plan = (struct plan_request){0};
    return query_allow(query, known_parameters, err) &&
           read_parameters(query, &plan->model.parameters, err) &&
           read_words(query, &plan->job, err) &&
           read_counts(query, &plan->model, &plan->job, err) &&
           read_gigabytes(query, "overhead_gb", 2, &plan->job.overhead_bytes, err) &&
           read_gigabytes(query, "memory_gb", 0, &plan->memory_bytes, err);
}

// --- writing ------------------------------------------------------------------------------------

static void text_member(const char *name, const char *text, struct buf *out)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json(out, str_of(text));
}

static void count_member(const char *name, int64_t count, struct buf *out)
{
    buf_printf(out, ",\"%s\":", name);
    api_count_json(count, out);
}

// A count of the model that was not given is null.
static void given_member(const char *name, int64_t count, struct buf *out)
{
    count_member(name, count ? count : COUNT_UNKNOWN, out);
}

static void inputs_json(const struct plan_request *plan, struct buf *out)
{
    const struct plan_model *model = &plan->model;
    const struct plan_job *job = &plan->job;
    buf_puts(out, "{\"inputs\":{\"parameters\":");
    buf_f64(out, model->parameters);
    text_member("precision", plan_precision_words[job->precision], out);
    text_member("gradients", job->fp32_gradients ? "fp32" : "same", out);
    text_member("optimizer", plan_optimizer_words[job->optimizer], out);
    text_member("strategy", plan_strategy_words[job->strategy], out);
    count_member("dp", job->dp, out);
    count_member("tp", job->tp, out);
    count_member("pp", job->pp, out);
    given_member("layers", model->layers, out);
    given_member("hidden", model->hidden, out);
    given_member("heads", model->heads, out);
    given_member("seq_len", model->seq_len, out);
    count_member("vocab", model->vocab, out);
    count_member("micro_batch", job->micro_batch, out);
    text_member("attention", job->flash_attention ? "flash" : "standard", out);
    text_member("recompute", plan_recompute_words[job->recompute], out);
    buf_printf(out, ",\"sequence_parallel\":%s", job->sequence_parallel ? "true" : "false");
    given_member("micro_batches", job->micro_batches, out);
    count_member("interleave", job->interleave, out);
    buf_puts(out, ",\"overhead_gb\":");
    buf_f64(out, job->overhead_bytes / 1e9);
    buf_putc(out, '}');
}

static void parts_json(const struct memory_plan *plan, struct buf *out)
{
    buf_puts(out, ",\"parts\":[");
    for (int i = 0; i < PLAN_PARTS; i++) {
        const struct plan_part *part = &plan->parts[i];
        buf_printf(out, "%s{\"part\":\"%s\"", i ? "," : "", part->name);
        count_member("bytes", part->bytes, out);
        text_member("help", part->help, out);
        text_member("formula", part->formula, out);
        text_member("worked", part->worked, out);
        text_member("source", part->source, out);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

// It does not fit if the known parts are already too much; it fits only if all parts are known.
static void device_json(const struct memory_plan *plan, const struct gpu_memory *gpu,
                        struct buf *out)
{
    bool too_much = plan->total_bytes > gpu->bytes;
    const char *fits = too_much ? "false" : plan->complete ? "true" : "null";
    if (out->at && out->at[out->len - 1] == '}')
        buf_putc(out, ',');
    buf_puts(out, "{\"gpu\":");
    buf_json(out, str_of(gpu->name));
    count_member("memory_bytes", gpu->bytes, out);
    buf_printf(out, ",\"fits\":%s,\"headroom_bytes\":%lld", fits,
               (long long)(gpu->bytes - plan->total_bytes));
    text_member("source", gpu->source, out);
    buf_putc(out, '}');
}

static bool refuse_gpu(struct request *request, struct response *response, struct str name,
                       struct err *err)
{
    struct buf names = {0};
    buf_puts(&names, "use one of: ");
    for (size_t i = 0; i < gpu_memory_count; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", gpu_memories[i].name);
    buf_puts(&names, "; or give its size as memory_gb");
    char *fix = arena_strdup(request->arena, (struct str){names.at, names.len}, NULL);
    response->fix = str_of(fix ? fix : "");
    buf_free(&names);
    return err_set(err, ERR_USAGE, "found gpu=%.*s, which is not in the list of GPUs",
                   (int)(name.len < 40 ? name.len : 40), name.at);
}

// The requested GPUs, or all.
static bool devices_json(struct request *request, struct response *response,
                         const struct plan_request *asked, const struct memory_plan *plan,
                         struct err *err)
{
    struct buf *out = &response->body;
    bool any = asked->memory_bytes > 0;
    buf_puts(out, ",\"gpus\":[");
    if (any) {
        const struct gpu_memory own = {"as given", (int64_t)asked->memory_bytes, "memory_gb"};
        device_json(plan, &own, out);
    }
    for (size_t i = 0; i < request->query.count; i++) {
        const struct query_param *param = &request->query.params[i];
        if (!str_equal(param->name, STR("gpu")))
            continue;
        const struct gpu_memory *gpu = gpu_memory_find(param->value);
        if (!gpu)
            return refuse_gpu(request, response, param->value, err);
        device_json(plan, gpu, out);
        any = true;
    }
    for (size_t i = 0; !any && i < gpu_memory_count; i++)
        device_json(plan, &gpu_memories[i], out);
    buf_putc(out, ']');
    return true;
}

bool api_get_plan(struct request *request, struct response *response, struct err *err)
{
    struct plan_request asked;
    struct memory_plan plan;
    struct buf *out = &response->body;
    if (!read_request(&request->query, &asked, err) ||
        !memory_plan_make(&asked.model, &asked.job, request->arena, &plan, err))
        return false;
    inputs_json(&asked, out);
    count_member("gpu_count", plan.gpus, out);
    count_member("bytes_per_parameter", plan.bytes_per_parameter, out);
    count_member("model_static_bytes", plan.model_static_bytes, out);
    count_member("static_bytes", plan.static_bytes, out);
    count_member("total_bytes", plan.total_bytes, out);
    buf_printf(out, ",\"complete\":%s", plan.complete ? "true" : "false");
    parts_json(&plan, out);
    if (!devices_json(request, response, &asked, &plan, err))
        return false;
    buf_putc(out, '}');
    return api_finish_json(request, response, "plan", err);
}
