// SPDX-License-Identifier: Apache-2.0
#include "server/api/plan_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    static const char *const cache[] = {"same", "fp8", NULL};
    const char *const *const lists[] = {plan_precision_words,
                                        plan_optimizer_words,
                                        plan_strategy_words,
                                        plan_recompute_words,
                                        gradients,
                                        attention,
                                        yes_no,
                                        cache};
    static const char *const names[] = {"precision", "optimizer", "strategy",          "recompute",
                                        "gradients", "attention", "sequence_parallel", "cache"};
    unsigned places[8] = {0};
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
    job->fp8_cache = places[7] == 1;
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
        {{"kv_heads", 0, 1, 100000}, &model->kv_heads},
        {{"cached", 0, 0, 10000000}, &job->cached},
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

bool plan_request_read(const struct query *query, const char *const *known,
                       struct plan_request *plan, struct err *err)
{
    *plan = (struct plan_request){0};
    return query_allow(query, known, err) && read_parameters(query, &plan->model.parameters, err) &&
           read_words(query, &plan->job, err) &&
           read_counts(query, &plan->model, &plan->job, err) &&
           read_gigabytes(query, "overhead_gb", 2, &plan->job.overhead_bytes, err) &&
           read_gigabytes(query, "memory_gb", 0, &plan->memory_bytes, err);
}

bool plan_request_refuse_gpu(struct request *request, struct response *response, struct str name,
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
