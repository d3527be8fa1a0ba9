// SPDX-License-Identifier: Apache-2.0
// The memory planner: what training or generating would take on each GPU, from counts in the
// address alone.
#include "server/api/api.h"

#include "analysis/plan/plan_search.h"
#include "server/api/plan_request.h"

#include <math.h>

static const char *const known_parameters[] = {PLAN_REQUEST_NAMES, "run", NULL};

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
    given_member("kv_heads", model->kv_heads, out);
    given_member("seq_len", model->seq_len, out);
    count_member("vocab", model->vocab, out);
    count_member("micro_batch", job->micro_batch, out);
    text_member("attention", job->flash_attention ? "flash" : "standard", out);
    text_member("recompute", plan_recompute_words[job->recompute], out);
    buf_printf(out, ",\"sequence_parallel\":%s", job->sequence_parallel ? "true" : "false");
    given_member("micro_batches", job->micro_batches, out);
    count_member("interleave", job->interleave, out);
    count_member("cached", job->cached, out);
    text_member("cache", job->fp8_cache ? "fp8" : "same", out);
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
static bool device_json(const struct plan_request *asked, const struct memory_plan *plan,
                        const struct gpu_memory *gpu, struct buf *out, struct err *err)
{
    double largest;
    bool too_much = plan->total_bytes > gpu->bytes;
    const char *fits = too_much ? "false" : plan->complete ? "true" : "null";
    if (out->at && out->at[out->len - 1] == '}')
        buf_putc(out, ',');
    buf_puts(out, "{\"gpu\":");
    buf_json(out, str_of(gpu->name));
    count_member("memory_bytes", gpu->bytes, out);
    buf_printf(out, ",\"fits\":%s,\"headroom_bytes\":%lld", fits,
               (long long)(gpu->bytes - plan->total_bytes));
    if (!plan_largest(&asked->model, &asked->job, gpu->bytes, &largest, err))
        return false;
    buf_puts(out, ",\"largest_parameters\":");
    buf_f64(out, largest);
    text_member("source", gpu->source, out);
    buf_putc(out, '}');
    return true;
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
        if (!device_json(asked, plan, &own, out, err))
            return false;
    }
    for (size_t i = 0; i < request->query.count; i++) {
        const struct query_param *param = &request->query.params[i];
        if (!str_equal(param->name, STR("gpu")))
            continue;
        const struct gpu_memory *gpu = gpu_memory_find(param->value);
        if (!gpu)
            return plan_request_refuse_gpu(request, response, param->value, err);
        if (!device_json(asked, plan, gpu, out, err))
            return false;
        any = true;
    }
    for (size_t i = 0; !any && i < gpu_memory_count; i++)
        if (!device_json(asked, plan, &gpu_memories[i], out, err))
            return false;
    buf_putc(out, ']');
    return true;
}

// What a run took, next to its plan without the allowance for what no formula covers.
static bool measured_json(struct request *request, struct response *response,
                          const struct memory_plan *plan, struct err *err)
{
    struct str key = query_get(&request->query, "run");
    struct run run;
    struct buf *out = &response->body;
    if (!key.len) {
        buf_puts(out, ",\"measured\":null");
        return true;
    }
    if (!api_find_run(request, response, key, &run, err))
        return false;
    double bytes = run.figures[RUN_FIGURE_MEMORY];
    int64_t planned = plan->total_bytes - plan->parts[PLAN_OVERHEAD].bytes;
    buf_puts(out, ",\"measured\":{\"run\":");
    buf_json(out, run.id);
    buf_puts(out, ",\"name\":");
    buf_json(out, run.name);
    count_member("memory_bytes", isnan(bytes) ? COUNT_UNKNOWN : (int64_t)bytes, out);
    count_member("planned_bytes", planned, out);
    buf_putc(out, '}');
    return true;
}

bool api_get_plan(struct request *request, struct response *response, struct err *err)
{
    struct plan_request asked;
    struct memory_plan plan;
    struct buf *out = &response->body;
    if (!plan_request_read(&request->query, known_parameters, &asked, err) ||
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
    if (!devices_json(request, response, &asked, &plan, err) ||
        !measured_json(request, response, &plan, err))
        return false;
    buf_putc(out, '}');
    return api_finish_json(request, response, "plan", err);
}

// --- ways to share it out -----------------------------------------------------------------------

// The memory of the one GPU that is asked about.
static bool find_gpu(struct request *request, struct response *response,
                     const struct plan_request *asked, struct gpu_memory *gpu, struct err *err)
{
    struct str name = query_text(&request->query, "gpu");
    if (asked->memory_bytes > 0) {
        *gpu = (struct gpu_memory){"as given", (int64_t)asked->memory_bytes, "memory_gb"};
        return true;
    }
    const struct gpu_memory *found = gpu_memory_find(name);
    if (!found)
        return plan_request_refuse_gpu(request, response, name, err);
    *gpu = *found;
    return true;
}

static void setup_json(const struct plan_setup *setup, int64_t memory_bytes, bool first,
                       struct buf *out)
{
    const struct plan_job *job = &setup->job;
    bool too_much = setup->total_bytes > memory_bytes;
    buf_printf(out, "%s{\"strategy\":\"%s\",\"recompute\":\"%s\"", first ? "" : ",",
               plan_strategy_words[job->strategy], plan_recompute_words[job->recompute]);
    count_member("dp", job->dp, out);
    count_member("tp", job->tp, out);
    count_member("pp", job->pp, out);
    count_member("total_bytes", setup->total_bytes, out);
    count_member("headroom_bytes", memory_bytes - setup->total_bytes, out);
    buf_printf(out, ",\"fits\":%s}", too_much ? "false" : setup->complete ? "true" : "null");
}

bool api_get_plan_setups(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {PLAN_MODEL_NAMES, "gpus", "limit", NULL};
    struct plan_request asked;
    struct gpu_memory gpu;
    struct plan_setup *setups;
    size_t count;
    int64_t gpus, limit;
    struct buf *out = &response->body;
    if (!plan_request_read(&request->query, known, &asked, err) ||
        !query_get_int(&request->query, (struct query_int){"gpus", 8, 1, 1000000}, &gpus, err) ||
        !query_get_int(&request->query, (struct query_int){"limit", 20, 1, PLAN_MOST_SETUPS},
                       &limit, err) ||
        !find_gpu(request, response, &asked, &gpu, err) ||
        !plan_setups(&(const struct plan_search){&asked.model, &asked.job, gpus, gpu.bytes},
                     request->arena, &setups, &count, err))
        return false;
    buf_puts(out, "{\"gpu\":");
    buf_json(out, str_of(gpu.name));
    count_member("memory_bytes", gpu.bytes, out);
    count_member("gpu_count", gpus, out);
    count_member("tried", (int64_t)count, out);
    buf_puts(out, ",\"setups\":[");
    for (size_t i = 0; i < count && i < (size_t)limit; i++)
        setup_json(&setups[i], gpu.bytes, i == 0, out);
    buf_puts(out, "]}");
    return api_finish_json(request, response, "setups", err);
}
