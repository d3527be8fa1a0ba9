// SPDX-License-Identifier: Apache-2.0
// The memory planner's formulas; PLAN.md explains them and gives their sources.
#include "analysis/plan/memory_plan.h"

#include <math.h>

const char *const plan_precision_words[] = {"fp32", "mixed_bf16",  "mixed_fp16", "bf16",
                                            "fp8",  "fp8_weights", NULL};
const char *const plan_optimizer_words[] = {"adam",         "adamw", "adam_8bit", "lion",
                                            "sgd_momentum", "sgd",   "none",      NULL};
const char *const plan_strategy_words[] = {"ddp", "zero1", "zero2", "zero3", NULL};
const char *const plan_recompute_words[] = {"none", "selective", "full", NULL};

#define ZERO      "Rajbhandari et al. 2020, ZeRO, section 3 and figure 1"
#define KORTHI    "Korthikanti et al. 2022, Reducing Activation Recomputation, "
#define ENGINE    "NVIDIA Transformer Engine, FP8 primer: "
#define MOST_HELD ((double)((int64_t)1 << 53)) // bytes that a double counts exactly

// Bytes of one element of each kind.
struct widths {
    int weight, gradient, master, state;
    int element, input; // of activations, and of those that are inputs of linear layers
};

static struct widths widths_of(const struct plan_job *job)
{
    static const struct widths all[] = {
        [PLAN_FP32] = {4, 4, 0, 4, 4, 4},
        [PLAN_MIXED_BF16] = {2, 2, 4, 4, 2, 2},
        [PLAN_MIXED_FP16] = {2, 2, 4, 4, 2, 2},
        [PLAN_BF16] = {2, 2, 0, 2, 2, 2},
        // An 8-bit copy and its transpose, for the forward and backward products.
        [PLAN_FP8] = {2 + 1 + 1, 2, 4, 4, 2, 1},
        [PLAN_FP8_WEIGHTS] = {1 + 1, 2, 4, 4, 2, 1},
    };
    struct widths widths = all[job->precision];
    if (job->fp32_gradients)
        widths.gradient = 4;
    if (job->optimizer == PLAN_NO_OPTIMIZER) {
        bool fp8 = job->precision == PLAN_FP8 || job->precision == PLAN_FP8_WEIGHTS;
        widths.weight = fp8 ? 1 : widths.element;
        widths.gradient = widths.master = widths.state = 0;
    }
    return widths;
}

// Bytes of optimizer state per parameter.
static int state_bytes(const struct plan_job *job)
{
    int width = widths_of(job).state;
    switch (job->optimizer) {
    case PLAN_ADAM:
    case PLAN_ADAMW: return 2 * width;
    case PLAN_ADAM_8BIT: return 2;
    case PLAN_LION:
    case PLAN_SGD_MOMENTUM: return width;
    case PLAN_SGD:
    case PLAN_NO_OPTIMIZER: return 0;
    }
    return 0;
}

static bool layers_known(const struct plan_model *model)
{
    return model->layers && model->hidden && model->heads && model->seq_len;
}

// --- weights, gradients, master copy, optimizer -------------------------------------------------

// A part of some bytes per parameter, split over tp and pp and perhaps dp.
struct shared_part {
    enum plan_part_kind kind;
    const char *name, *help, *source;
    int bytes;                   // of each parameter
    enum plan_strategy split_by; // from this strategy on it is split over dp
};

static bool add_shared(const struct plan_model *model, const struct plan_job *job,
                       const struct shared_part *what, struct memory_plan *plan,
                       struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[what->kind];
    int64_t dp = job->strategy >= what->split_by ? job->dp : 1;
    double split = (double)dp * (double)job->tp * (double)job->pp;
    bool by_dp = job->strategy >= what->split_by;
    *part = (struct plan_part){.name = what->name, .help = what->help, .source = what->source};
    part->bytes = (int64_t)ceil(what->bytes * model->parameters / split);
    part->formula =
        arena_printf(arena, err, by_dp ? "%d P / (t p d)" : "%d P / (t p)", what->bytes);
    part->worked =
        arena_printf(arena, err, "%d x %.0f / %.0f", what->bytes, model->parameters, split);
    return part->formula && part->worked;
}

static const char *weights_source(const struct plan_job *job)
{
    if (job->optimizer == PLAN_NO_OPTIMIZER)
        return "no training: each weight once";
    if (job->precision == PLAN_FP8)
        return ENGINE "16-bit weights with an 8-bit copy and its transpose";
    if (job->precision == PLAN_FP8_WEIGHTS)
        return ENGINE "8-bit weights with their transposes";
    return ZERO;
}

static const char *optimizer_source(const struct plan_job *job)
{
    switch (job->optimizer) {
    case PLAN_ADAM_8BIT:
        return "Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization; block scales "
               "add about one percent";
    case PLAN_LION: return "Chen et al. 2023, Symbolic Discovery of Optimization Algorithms";
    default: return ZERO;
    }
}

static bool add_static(const struct plan_model *model, const struct plan_job *job,
                       struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct widths widths = widths_of(job);
    const char *gradients = job->fp32_gradients && widths.weight == 2
                                ? "Megatron Core, distributed optimizer: 16-bit weights with "
                                  "gradients accumulated in 32 bits"
                                : ZERO;
    const struct shared_part parts[] = {
        {PLAN_PARAMETERS, "parameters", "the weights used by forward and backward",
         weights_source(job), widths.weight, PLAN_ZERO3},
        {PLAN_GRADIENTS, "gradients", "the gradient of each weight", gradients, widths.gradient,
         PLAN_ZERO2},
        {PLAN_MASTER, "master", "the 32-bit master copy of the weights", ZERO, widths.master,
         PLAN_ZERO1},
        {PLAN_OPTIMIZER, "optimizer", "the optimizer's state of each weight", optimizer_source(job),
         state_bytes(job), PLAN_ZERO1},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!add_shared(model, job, &parts[i], plan, arena, err))
            return false;
        plan->bytes_per_parameter += parts[i].bytes;
    }
    plan->model_static_bytes = (int64_t)ceil((double)plan->bytes_per_parameter * model->parameters);
    return true;
}

// --- activations --------------------------------------------------------------------------------

// s b h, the elements of one activation between layers.
static double elements(const struct plan_model *model, const struct plan_job *job)
{
    return (double)model->seq_len * (double)job->micro_batch * (double)model->hidden;
}

// What a layer keeps, in bytes per element of s b h: elements of the paper's table have two bytes
// and masks one, so its 10 + 24 / t is (4 e + 2) + 12 e / t with e bytes per element. Of these 2
// and 5 are inputs of linear layers, which 8-bit products keep in 8 bits.
struct layer_factors {
    double whole, split; // of what norms and dropouts keep, and of what tensor parallelism splits
    double attention;    // (2 e + 1) a s / h, what the attention keeps of each pair of tokens
};

static struct layer_factors factors_of(const struct plan_model *model, const struct plan_job *job)
{
    struct widths widths = widths_of(job);
    double width = widths.element;
    double pairs = (double)model->heads * (double)model->seq_len / (double)model->hidden;
    return (struct layer_factors){.whole = 2 * width + 2 * widths.input + 2,
                                  .split = 7 * width + 5 * widths.input,
                                  .attention = job->flash_attention ? 0 : (2 * width + 1) * pairs};
}

// Bytes per element of s b h that a layer keeps for its backward pass.
static double kept_factor(const struct plan_model *model, const struct plan_job *job,
                          enum plan_recompute recompute)
{
    struct layer_factors factors = factors_of(model, job);
    double tp = (double)job->tp;
    if (job->optimizer == PLAN_NO_OPTIMIZER)
        return 0; // no backward pass
    if (recompute == PLAN_FULL)
        return widths_of(job).element;
    double sum = factors.whole / (job->sequence_parallel ? tp : 1) + factors.split / tp;
    return recompute == PLAN_SELECTIVE ? sum : sum + factors.attention / tp;
}

// Micro-batches whose activations the first pipeline stage holds at once.
static double in_flight(const struct plan_job *job)
{
    double most = (double)job->pp;
    if (job->interleave > 1)
        most += (double)(job->pp - 1) / (double)job->interleave;
    return job->micro_batches && (double)job->micro_batches < most ? (double)job->micro_batches
                                                                   : most;
}

static int64_t stage_layers(const struct plan_model *model, const struct plan_job *job)
{
    return (model->layers + job->pp - 1) / job->pp;
}

static char *layer_formula(const struct plan_job *job, struct arena *arena, struct err *err)
{
    struct widths widths = widths_of(job);
    int width = widths.element, pairs = 2 * width + 1;
    int whole = 2 * width + 2 * widths.input + 2, split = 7 * width + 5 * widths.input;
    bool attention = !job->flash_attention && job->recompute == PLAN_KEEP_ALL;
    if (job->optimizer == PLAN_NO_OPTIMIZER)
        return arena_printf(arena, err, "0");
    if (job->recompute == PLAN_FULL)
        return arena_printf(arena, err, "(L / p) f s b h x %d", width);
    if (job->tp == 1 || job->sequence_parallel) {
        const char *end = job->tp == 1 ? "" : " / t";
        return attention ? arena_printf(arena, err, "(L / p) f s b h (%d + %d a s / h)%s",
                                        whole + split, pairs, end)
                         : arena_printf(arena, err, "(L / p) f s b h x %d%s", whole + split, end);
    }
    return attention ? arena_printf(arena, err, "(L / p) f s b h (%d + %d / t + %d a s / (h t))",
                                    whole, split, pairs)
                     : arena_printf(arena, err, "(L / p) f s b h (%d + %d / t)", whole, split);
}

static const char *activations_source(const struct plan_job *job)
{
    if (job->optimizer == PLAN_NO_OPTIMIZER)
        return "nothing is kept without a backward pass";
    if (job->recompute == PLAN_FULL)
        return KORTHI "table 2: only the input of each layer is kept";
    if (job->flash_attention && job->recompute == PLAN_KEEP_ALL)
        return KORTHI "table 2 without the attention term, which flash attention (Dao et al. 2022) "
                      "does not store";
    return job->recompute == PLAN_SELECTIVE ? KORTHI "table 2, selective recomputation"
                                            : KORTHI "equations 1 to 4 and table 2";
}

static bool add_activations(const struct plan_model *model, const struct plan_job *job,
                            struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_ACTIVATIONS];
    double layers = (double)stage_layers(model, job), flight = in_flight(job);
    double factor = kept_factor(model, job, job->recompute);
    part->bytes = (int64_t)ceil(fmin(layers * flight * elements(model, job) * factor, MOST_HELD));
    part->formula = layer_formula(job, arena, err);
    part->source = activations_source(job);
    part->worked = arena_printf(arena, err, "%.0f x %.6g x %lld x %lld x %lld x %.6g", layers,
                                flight, (long long)model->seq_len, (long long)job->micro_batch,
                                (long long)model->hidden, factor);
    return part->formula && part->worked;
}

// The dropout after the embedding; and if the last stage is also the first, the inputs of the last
// norm and of the output layer, and the logits in 32 bits.
static bool add_output(const struct plan_model *model, const struct plan_job *job,
                       struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_OUTPUT];
    double split = job->sequence_parallel ? (double)job->tp : 1;
    double per_token = (double)model->hidden / split * in_flight(job);
    int width = widths_of(job).element;
    bool trains = job->optimizer != PLAN_NO_OPTIMIZER;
    if (!trains)
        per_token = 0; // no dropout
    if (job->pp == 1)
        per_token += 2.0 * width * (double)model->hidden / split +
                     4.0 * (double)model->vocab / (double)job->tp;
    double tokens = (double)model->seq_len * (double)job->micro_batch;
    part->bytes = (int64_t)ceil(fmin(tokens * per_token, MOST_HELD));
    const char *end = split > 1 ? " / t" : "";
    if (job->pp > 1)
        part->formula = trains ? arena_printf(arena, err, "f s b h%s", end) : "0";
    else
        part->formula = arena_printf(arena, err, "s b (%d h%s + 4 v / t)", 2 * width + trains, end);
    part->source = KORTHI "section 4.3";
    part->worked = arena_printf(arena, err, "%.0f tokens x %.6g bytes", tokens, per_token);
    return part->formula && part->worked;
}

// While a layer is recomputed, everything it dropped is there once more.
static bool add_recomputed(const struct plan_model *model, const struct plan_job *job,
                           struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_RECOMPUTED];
    double all = kept_factor(model, job, PLAN_KEEP_ALL);
    double factor = all - kept_factor(model, job, job->recompute);
    part->bytes = (int64_t)ceil(fmin(elements(model, job) * factor, MOST_HELD));
    part->formula =
        job->recompute == PLAN_KEEP_ALL ? "0" : "activations of one layer minus those already kept";
    part->source = "from the activation formula, one layer at a time";
    part->worked = arena_printf(arena, err, "%.0f x %.6g", elements(model, job), factor);
    return part->worked != NULL;
}

// --- keys and values ----------------------------------------------------------------------------

// With fewer key heads than GPUs that share tensors, each head is on several of them.
static bool add_cache(const struct plan_model *model, const struct plan_job *job,
                      struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_CACHE];
    *part = (struct plan_part){.name = "cache",
                               .help = "keys and values of the sequences in generation",
                               .formula = "0",
                               .worked = "0",
                               .source = "Pope et al. 2022, Efficiently Scaling Transformer "
                                         "Inference, section 3.3"};
    if (job->cached == 0)
        return true;
    part->bytes = COUNT_UNKNOWN;
    part->worked = "needs layers, hidden, heads and seq_len";
    int element = job->fp8_cache ? 1 : widths_of(job).element;
    part->formula = arena_printf(arena, err, "%d (L / p) s n k h / (a t)", 2 * element);
    if (!layers_known(model))
        return part->formula;
    double heads = (double)(model->kv_heads ? model->kv_heads : model->heads);
    double split = fmin((double)job->tp, heads), layers = (double)stage_layers(model, job);
    double width = (double)model->hidden / (double)model->heads * heads;
    double tokens = (double)model->seq_len * (double)job->cached;
    part->bytes = (int64_t)ceil(fmin(2 * element * layers * tokens * width / split, MOST_HELD));
    part->worked = arena_printf(arena, err, "%d x %.0f x %.0f tokens x %.0f / %.0f", 2 * element,
                                layers, tokens, width, split);
    return part->formula && part->worked;
}

// --- temporary parts, and the rest ---------------------------------------------------------------

static bool add_gathered(const struct plan_model *model, const struct plan_job *job,
                         struct memory_plan *plan, struct arena *arena, struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_GATHERED];
    struct widths widths = widths_of(job);
    int bytes = 2 * widths.weight + widths.gradient;
    bool gathers = job->strategy == PLAN_ZERO3 && job->dp > 1;
    double of_layer = model->layers ? model->parameters / (double)model->layers : 0;
    *part = (struct plan_part){
        .name = "gathered",
        .help = "with zero3: two layers' weights gathered from all GPUs, and one layer's gradients "
                "not sharded yet",
        .formula = gathers ? arena_printf(arena, err, "%d P / (L t)", bytes) : "0",
        .worked = !gathers         ? "0"
                  : !model->layers ? "needs layers"
                                   : arena_printf(arena, err, "%d x %.0f / %lld", bytes, of_layer,
                                                  (long long)job->tp),
        .source = "Zhao et al. 2023, PyTorch FSDP, section 3.4: at most two gathers in flight",
    };
    if (gathers)
        part->bytes =
            model->layers ? (int64_t)ceil(bytes * of_layer / (double)job->tp) : COUNT_UNKNOWN;
    return part->formula && part->worked;
}

static bool add_overhead(const struct plan_job *job, struct memory_plan *plan, struct arena *arena,
                         struct err *err)
{
    struct plan_part *part = &plan->parts[PLAN_OVERHEAD];
    *part = (struct plan_part){
        .name = "overhead",
        .bytes = (int64_t)ceil(job->overhead_bytes),
        .help = "driver context, collective buffers, library workspaces, allocator fragmentation",
        .formula = "an allowance",
        .worked = arena_printf(arena, err, "overhead_gb = %.6g", job->overhead_bytes / 1e9),
        .source = "no formula: measure it as the device's used memory minus the reserved peak that "
                  "a run reports",
    };
    return part->worked != NULL;
}

// --- the plan -----------------------------------------------------------------------------------

static bool check_counts(const struct plan_model *model, const struct plan_job *job,
                         struct err *err)
{
    if (!(model->parameters >= 1 && model->parameters <= 1e14))
        return err_set(err, ERR_USAGE, "parameters: expected a count from 1 to 1e14");
    if (model->layers && job->pp > model->layers)
        return err_set(err, ERR_USAGE, "pp: found %lld stages for %lld layers, expected no more",
                       (long long)job->pp, (long long)model->layers);
    if (model->heads && job->tp > model->heads)
        return err_set(err, ERR_USAGE, "tp: found %lld GPUs for %lld heads, expected no more",
                       (long long)job->tp, (long long)model->heads);
    if (model->heads && model->hidden % model->heads)
        return err_set(err, ERR_USAGE, "heads: found %lld, which does not divide hidden=%lld",
                       (long long)model->heads, (long long)model->hidden);
    if (model->kv_heads && (!model->heads || model->heads % model->kv_heads))
        return err_set(err, ERR_USAGE, "kv_heads: found %lld, which does not divide heads=%lld",
                       (long long)model->kv_heads, (long long)model->heads);
    if (job->cached && job->optimizer != PLAN_NO_OPTIMIZER)
        return err_set(err, ERR_USAGE,
                       "cached: found a cache in training, expected optimizer=none");
    if (job->interleave > 1 && job->pp == 1)
        return err_set(err, ERR_USAGE, "interleave: expected a pipeline, found pp=1");
    return true;
}

static void name_activations(struct memory_plan *plan)
{
    static const char *const lacks = "needs layers, hidden, heads and seq_len";
    plan->parts[PLAN_ACTIVATIONS] =
        (struct plan_part){.name = "activations", .help = "activations kept for the backward pass"};
    plan->parts[PLAN_OUTPUT] = (struct plan_part){
        .name = "output", .help = "the dropout of the embedding, the output layer and its logits"};
    plan->parts[PLAN_RECOMPUTED] = (struct plan_part){
        .name = "recomputed", .help = "with recomputation: what one layer recomputes"};
    for (int i = PLAN_ACTIVATIONS; i <= PLAN_RECOMPUTED; i++) {
        plan->parts[i].bytes = COUNT_UNKNOWN;
        plan->parts[i].formula = plan->parts[i].worked = lacks;
        plan->parts[i].source = KORTHI "table 2";
    }
}

static bool sum_up(struct memory_plan *plan, struct err *err)
{
    plan->complete = true;
    for (int i = 0; i < PLAN_PARTS; i++) {
        int64_t bytes = plan->parts[i].bytes;
        if (bytes >= (int64_t)MOST_HELD)
            return err_set(err, ERR_USAGE,
                           "%s: found more than 9 PB on one GPU, expected a realistic plan; check "
                           "seq_len, micro_batch, hidden and parameters",
                           plan->parts[i].name);
        plan->complete = plan->complete && count_known(bytes);
        plan->total_bytes += count_known(bytes) ? bytes : 0;
        plan->static_bytes += i <= PLAN_OPTIMIZER ? bytes : 0;
    }
    return true;
}

bool memory_plan_make(const struct plan_model *model, const struct plan_job *job,
                      struct arena *arena, struct memory_plan *plan, struct err *err)
{
    *plan = (struct memory_plan){.gpus = job->dp * job->tp * job->pp};
    if (!check_counts(model, job, err))
        return false;
    name_activations(plan);
    return add_static(model, job, plan, arena, err) &&
           (!layers_known(model) || (add_activations(model, job, plan, arena, err) &&
                                     add_output(model, job, plan, arena, err) &&
                                     add_recomputed(model, job, plan, arena, err))) &&
           add_cache(model, job, plan, arena, err) && add_gathered(model, job, plan, arena, err) &&
           add_overhead(job, plan, arena, err) && sum_up(plan, err);
}
