// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/standard_settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum form {
    COUNT,     // a whole number of at least 1; as a text or not
    AMOUNT,    // such a number in any spelling: "8,030,261,248", "8.03B", "8.03 billion"
    NUMBER,    // any that is at least 0
    WORD,      // as it is, in lower case
    PRECISION, // of which there are many spellings
    TEXT,      // as it is
    SWITCH,    // true or false, of any spelling
    GATED,     // the same, or the function of an MLP that is gated
    DATA,      // synthetic or real
};

// What matters most for a comparison comes first.
#define STANDARDS(ROW)                                       \
    ROW(model, TEXT, NULL)                                   \
    ROW(precision, PRECISION, NULL)                          \
    ROW(fp8, WORD, NULL)                                     \
    ROW(global_batch_size, COUNT, "samples")                 \
    ROW(micro_batch_size, COUNT, "samples")                  \
    ROW(device_batch_size, COUNT, "samples")                 \
    ROW(gradient_accumulation_steps, COUNT, "micro-batches") \
    ROW(seq_length, COUNT, "tokens")                         \
    ROW(nodes, COUNT, NULL)                                  \
    ROW(gpus_per_node, COUNT, NULL)                          \
    ROW(world_size, COUNT, "ranks")                          \
    ROW(tensor_parallel_size, COUNT, "ranks")                \
    ROW(pipeline_parallel_size, COUNT, "ranks")              \
    ROW(virtual_pipeline_size, COUNT, "stages")              \
    ROW(data_parallel_size, COUNT, "ranks")                  \
    ROW(data_parallel_shard_size, COUNT, "ranks")            \
    ROW(data_parallel_replicate_size, COUNT, "ranks")        \
    ROW(context_parallel_size, COUNT, "ranks")               \
    ROW(expert_parallel_size, COUNT, "ranks")                \
    ROW(expert_tensor_parallel_size, COUNT, "ranks")         \
    ROW(sequence_parallel, SWITCH, NULL)                     \
    ROW(zero_stage, NUMBER, NULL)                            \
    ROW(fsdp, WORD, NULL)                                    \
    ROW(distributed_optimizer, SWITCH, NULL)                 \
    ROW(recompute, WORD, NULL)                               \
    ROW(recompute_layers, COUNT, "layers")                   \
    ROW(compile, SWITCH, NULL)                               \
    ROW(cuda_graphs, SWITCH, NULL)                           \
    ROW(attention_backend, WORD, NULL)                       \
    ROW(overlap_grad_reduce, SWITCH, NULL)                   \
    ROW(overlap_param_gather, SWITCH, NULL)                  \
    ROW(parameters, AMOUNT, NULL)                            \
    ROW(rank_parameters, AMOUNT, NULL)                       \
    ROW(active_parameters, AMOUNT, NULL)                     \
    ROW(trainable_parameters, AMOUNT, NULL)                  \
    ROW(adapter, WORD, NULL)                                 \
    ROW(layers, COUNT, "layers")                             \
    ROW(hidden_size, COUNT, NULL)                            \
    ROW(ffn_hidden_size, COUNT, NULL)                        \
    ROW(heads, COUNT, NULL)                                  \
    ROW(kv_heads, COUNT, NULL)                               \
    ROW(head_size, COUNT, NULL)                              \
    ROW(gated_mlp, GATED, NULL)                              \
    ROW(vocabulary_size, COUNT, "tokens")                    \
    ROW(padded_vocabulary_size, COUNT, "tokens")             \
    ROW(experts, COUNT, NULL)                                \
    ROW(experts_per_token, COUNT, NULL)                      \
    ROW(expert_ffn_hidden_size, COUNT, NULL)                 \
    ROW(expert_layers, TEXT, NULL)                           \
    ROW(dense_layers, COUNT, "layers")                       \
    ROW(shared_experts, COUNT, NULL)                         \
    ROW(shared_expert_ffn_hidden_size, COUNT, NULL)          \
    ROW(latent_attention, SWITCH, NULL)                      \
    ROW(latent_query_size, COUNT, NULL)                      \
    ROW(latent_kv_size, COUNT, NULL)                         \
    ROW(latent_key_size, COUNT, NULL)                        \
    ROW(latent_rotary_size, COUNT, NULL)                     \
    ROW(latent_value_size, COUNT, NULL)                      \
    ROW(optimizer, WORD, NULL)                               \
    ROW(learning_rate, NUMBER, NULL)                         \
    ROW(weight_decay, NUMBER, NULL)                          \
    ROW(gradient_clipping, NUMBER, NULL)                     \
    ROW(train_steps, COUNT, "steps")                         \
    ROW(seed, NUMBER, NULL)                                  \
    ROW(data, DATA, NULL)                                    \
    ROW(gpu, TEXT, NULL)                                     \
    ROW(driver, TEXT, NULL)                                  \
    ROW(image, TEXT, NULL)                                   \
    ROW(pytorch_version, TEXT, NULL)                         \
    ROW(cuda_version, TEXT, NULL)                            \
    ROW(rocm_version, TEXT, NULL)                            \
    ROW(nccl_version, TEXT, NULL)                            \
    ROW(cudnn_version, TEXT, NULL)                           \
    ROW(triton_version, TEXT, NULL)                          \
    ROW(flash_attention_version, TEXT, NULL)                 \
    ROW(transformer_engine_version, TEXT, NULL)              \
    ROW(megatron_version, TEXT, NULL)                        \
    ROW(deepspeed_version, TEXT, NULL)                       \
    ROW(transformers_version, TEXT, NULL)                    \
    ROW(python_version, TEXT, NULL)

#define ID(name, form, unit) STANDARD_##name,
enum standard { STANDARDS(ID) STANDARD_COUNT };
_Static_assert((int)STANDARD_COUNT <= (int)STANDARD_MOST, "places are below it");

#define DESCRIBE(name, form, unit) {#name, form, unit},
static const struct {
    const char *name;
    enum form form;
    const char *unit;
} standards[STANDARD_COUNT] = {STANDARDS(DESCRIBE)};

// What files call them: the whole name or its last levels, in lower case and with _ for other
// signs. `only`: of that source alone, where others mean something else by it.
struct alias {
    const char *name;
    enum standard standard;
    const char *only;
    const char *word; // what `true` means; anything else is then no setting of that kind
    bool overrides;   // it counts, whatever another name of the same level says
};

#define AS(name, standard)                           \
    {                                                \
        name, STANDARD_##standard, NULL, NULL, false \
    }
#define FIRST(name, standard)                       \
    {                                               \
        name, STANDARD_##standard, NULL, NULL, true \
    }
#define OF(source, name, standard)                     \
    {                                                  \
        name, STANDARD_##standard, source, NULL, false \
    }
#define MEANS(name, standard, of_true)                  \
    {                                                   \
        name, STANDARD_##standard, NULL, of_true, false \
    }

static const struct alias aliases[] = {
    // batches and lengths
    AS("global_batch_size", global_batch_size),
    AS("global_train_batch_size", global_batch_size),
    OF("deepspeed", "train_batch_size", global_batch_size),
    AS("micro_batch_size", micro_batch_size),
    AS("local_batch_size", micro_batch_size),
    AS("train_micro_batch_size_per_gpu", micro_batch_size),
    AS("per_device_train_batch_size", micro_batch_size),
    AS("device_train_microbatch_size", micro_batch_size),
    AS("per_device_batch_size", device_batch_size), // MaxText's, also of devices that share a model
    AS("global_batch_size_to_train_on", global_batch_size),
    OF("torchtitan", "training.batch_size", micro_batch_size),
    AS("gradient_accumulation_steps", gradient_accumulation_steps),
    AS("accumulate_grad_batches", gradient_accumulation_steps),
    AS("batch_accumulation_per_replica", gradient_accumulation_steps),
    AS("seq_length", seq_length),
    AS("seq_len", seq_length),
    AS("sequence_length", seq_length),
    AS("sequence_len", seq_length),
    AS("encoder_seq_length", seq_length),
    AS("max_seq_length", seq_length),
    AS("max_seq_len", seq_length),
    AS("max_target_length", seq_length),
    AS("cutoff_len", seq_length),
    // precision
    AS("precision", precision),
    AS("mixed_precision", precision),
    AS("mixed_precision_param", precision),
    AS("params_dtype", precision),
    OF("torchtitan", "training.dtype", precision),
    MEANS("bf16", precision, "bf16"),
    MEANS("bf16.enabled", precision, "bf16"),
    MEANS("bfloat16.enabled", precision, "bf16"),
    MEANS("fp16", precision, "fp16"),
    MEANS("fp16.enabled", precision, "fp16"),
    AS("fp8", fp8),
    // parallel sizes
    AS("num_nodes", nodes),
    AS("nnodes", nodes),
    AS("num_machines", nodes),
    AS("slurm_nnodes", nodes),
    AS("slurm_job_num_nodes", nodes),
    OF("slurm", "numnodes", nodes),
    OF("slurm", "nodes", nodes),
    AS("trainer.devices", gpus_per_node),
    AS("num_gpus_per_node", gpus_per_node),
    AS("gpus_per_node", gpus_per_node),
    AS("nproc_per_node", gpus_per_node),
    AS("slurm_gpus_on_node", gpus_per_node),
    AS("slurm_gpus_per_node", gpus_per_node),
    AS("world_size", world_size),
    AS("num_gpus", world_size),
    AS("num_processes", world_size),
    AS("tensor_model_parallel_size", tensor_parallel_size),
    AS("tensor_parallel_degree", tensor_parallel_size),
    AS("tensor_parallel_size", tensor_parallel_size),
    AS("ici_tensor_parallelism", tensor_parallel_size),
    AS("parallelism.tp", tensor_parallel_size),
    AS("tp_size", tensor_parallel_size),
    AS("model_parallel_size", tensor_parallel_size), // GPT-NeoX
    AS("tp", tensor_parallel_size),
    AS("pipeline_model_parallel_size", pipeline_parallel_size),
    AS("pipeline_parallel_degree", pipeline_parallel_size),
    AS("pipeline_parallel_size", pipeline_parallel_size),
    AS("pp_size", pipeline_parallel_size),
    AS("pipe_parallel_size", pipeline_parallel_size),
    AS("pp", pipeline_parallel_size),
    AS("virtual_pipeline_model_parallel_size", virtual_pipeline_size),
    AS("num_virtual_stages_per_pipeline_rank", virtual_pipeline_size),
    AS("data_parallel_size", data_parallel_size),
    AS("dp_size", data_parallel_size),
    AS("parallelism.dp", data_parallel_size),
    AS("data_parallel_shard_degree", data_parallel_shard_size),
    AS("ici_fsdp_parallelism", data_parallel_shard_size),
    AS("dp_shard", data_parallel_shard_size),
    AS("data_parallel_replicate_degree", data_parallel_replicate_size),
    AS("dp_replicate", data_parallel_replicate_size),
    AS("context_parallel_size", context_parallel_size),
    AS("context_parallel_degree", context_parallel_size),
    AS("cp_size", context_parallel_size),
    AS("cp", context_parallel_size),
    AS("expert_model_parallel_size", expert_parallel_size),
    AS("expert_parallel_degree", expert_parallel_size),
    AS("expert_parallel_size", expert_parallel_size),
    AS("ici_expert_parallelism", expert_parallel_size),
    AS("ep_size", expert_parallel_size),
    AS("ep", expert_parallel_size),
    AS("expert_tensor_parallel_size", expert_tensor_parallel_size),
    AS("expert_tensor_parallel_degree", expert_tensor_parallel_size),
    AS("sequence_parallel", sequence_parallel),
    // sharding, memory, speed
    AS("zero_optimization.stage", zero_stage),
    AS("zero_stage", zero_stage),
    AS("fsdp_sharding_strategy", fsdp),
    AS("data_parallel_sharding_strategy", fsdp),
    AS("fsdp", fsdp),
    MEANS("use_torch_fsdp2", fsdp, "fsdp2"),
    MEANS("use_custom_fsdp", fsdp, "megatron"),
    MEANS("use_megatron_fsdp", fsdp, "megatron"),
    AS("use_distributed_optimizer", distributed_optimizer),
    AS("recompute_granularity", recompute),
    AS("activations_checkpoint_granularity", recompute),
    AS("activation_checkpoint.mode", recompute),
    AS("remat_policy", recompute),
    MEANS("gradient_checkpointing", recompute, "full"),
    MEANS("recompute_activations", recompute, "selective"),
    AS("recompute_num_layers", recompute_layers),
    AS("activations_checkpoint_num_layers", recompute_layers),
    AS("torch_compile", compile),
    AS("compile.enable", compile),
    AS("training.compile", compile),
    AS("compile", compile),
    AS("enable_cuda_graph", cuda_graphs),
    AS("attention_backend", attention_backend),
    AS("attn_implementation", attention_backend),
    AS("_attn_implementation", attention_backend),
    AS("attn_impl", attention_backend),
    MEANS("use_flash_attn", attention_backend, "flash"),
    MEANS("flash_attention", attention_backend, "flash"),
    MEANS("use_flash_attention", attention_backend, "flash"),
    AS("overlap_grad_reduce", overlap_grad_reduce),
    AS("overlap_param_gather", overlap_param_gather),
    // the model
    AS("model_parameters", parameters),
    AS("num_parameters", parameters),
    AS("num_params", parameters),
    AS("n_params", parameters),
    AS("total_parameters", parameters),
    AS("total_params", parameters),
    AS("rank_parameters", rank_parameters),
    AS("active_parameters", active_parameters),
    AS("trainable_parameters", trainable_parameters),
    AS("adapter", adapter),
    AS("finetuning_type", adapter),
    AS("peft_scheme", adapter),
    AS("peft_type", adapter),
    AS("use_peft", adapter),
    AS("model_name", model),
    AS("model.name", model),
    AS("pre_trainer.model", model),
    AS("sft_trainer.model", model),
    AS("model_name_or_path", model),
    AS("base_model", model),
    AS("num_layers", layers),
    AS("n_layers", layers),
    AS("n_layer", layers),
    AS("num_hidden_layers", layers),
    AS("base_num_decoder_layers", layers),
    AS("hidden_size", hidden_size),
    AS("d_model", hidden_size),
    AS("n_embd", hidden_size),
    AS("base_emb_dim", hidden_size),
    AS("ffn_hidden_size", ffn_hidden_size),
    AS("intermediate_size", ffn_hidden_size),
    AS("base_mlp_dim", ffn_hidden_size),
    AS("num_attention_heads", heads),
    AS("n_heads", heads),
    AS("n_head", heads),
    AS("base_num_query_heads", heads),
    AS("num_query_groups", kv_heads),
    AS("num_key_value_heads", kv_heads),
    AS("n_kv_heads", kv_heads),
    AS("base_num_kv_heads", kv_heads),
    AS("kv_channels", head_size),
    AS("head_dim", head_size),
    AS("swiglu", gated_mlp),
    AS("gated_linear_unit", gated_mlp),
    AS("hidden_act", gated_mlp),
    AS("vocab_size", vocabulary_size),
    AS("padded_vocab_size", padded_vocabulary_size),
    AS("num_experts", experts),
    AS("num_moe_experts", experts),
    AS("num_local_experts", experts),
    AS("n_routed_experts", experts),
    AS("moe_router_topk", experts_per_token),
    AS("num_experts_per_tok", experts_per_token),
    AS("moe_top_k", experts_per_token),
    AS("moe_ffn_hidden_size", expert_ffn_hidden_size),
    AS("moe_intermediate_size", expert_ffn_hidden_size),
    AS("moe_layer_freq", expert_layers),
    AS("decoder_sparse_step", expert_layers),
    AS("first_k_dense_replace", dense_layers),
    AS("n_shared_experts", shared_experts),
    AS("num_shared_experts", shared_experts),
    AS("moe_shared_expert_intermediate_size", shared_expert_ffn_hidden_size),
    AS("shared_expert_intermediate_size", shared_expert_ffn_hidden_size),
    AS("multi_latent_attention", latent_attention),
    AS("q_lora_rank", latent_query_size),
    AS("kv_lora_rank", latent_kv_size),
    FIRST("qk_nope_head_dim", latent_key_size),
    AS("qk_head_dim", latent_key_size), // Hugging Face adds the rotary part, Megatron-LM does not
    AS("qk_rope_head_dim", latent_rotary_size),
    AS("qk_pos_emb_head_dim", latent_rotary_size),
    AS("v_head_dim", latent_value_size),
    // training
    AS("optimizer", optimizer),
    AS("optimizer.name", optimizer),
    AS("optimizer.type", optimizer),
    AS("optim.name", optimizer),
    AS("optim", optimizer),
    AS("learning_rate", learning_rate),
    AS("optimizer.params.lr", learning_rate),
    AS("lr", learning_rate),
    AS("weight_decay", weight_decay),
    AS("clip_grad", gradient_clipping),
    AS("gradient_clipping", gradient_clipping),
    AS("gradient_clip_val", gradient_clipping),
    AS("max_grad_norm", gradient_clipping),
    AS("training.max_norm", gradient_clipping),
    AS("train_iters", train_steps),
    AS("max_steps", train_steps),
    AS("training.steps", train_steps),
    AS("seed", seed),
    AS("mock_data", data),
    AS("synthetic_data", data),
    AS("use_synthetic_data", data),
    AS("dataset_type", data),
    AS("dataset_name", data),
    AS("data_path", data),
    AS("train_data_path", data),
    AS("training.dataset", data),
    AS("dataset.path_or_dataset", data),
    // where it ran; also the rows of pip and of PyTorch's collect_env
    AS("gpu_info.device_name", gpu),
    AS("gpu_0", gpu),
    AS("container_image", image),
    AS("docker_image", image),
    AS("nvidia_driver_version", driver),
    AS("driver_version", driver),
    AS("pytorch_version", pytorch_version),
    AS("cuda_version", cuda_version),
    AS("cuda_used_to_build_pytorch", cuda_version),
    AS("rocm_version", rocm_version),
    AS("rocm_used_to_build_pytorch", rocm_version),
    AS("hip_runtime_version", rocm_version),
    AS("nccl_version", nccl_version),
    AS("rccl_version", nccl_version),
    AS("cudnn_version", cudnn_version),
    AS("python_version", python_version),
    AS("transformers_version", transformers_version),
    AS("pip.torch", pytorch_version),
    AS("pip.nvidia_nccl_cu11", nccl_version),
    AS("pip.nvidia_nccl_cu12", nccl_version),
    AS("pip.nvidia_nccl_cu13", nccl_version),
    AS("pip.nvidia_cudnn_cu12", cudnn_version),
    AS("pip.nvidia_cudnn_cu13", cudnn_version),
    AS("pip.triton", triton_version),
    AS("pip.pytorch_triton_rocm", triton_version),
    AS("pip.flash_attn", flash_attention_version),
    AS("pip.transformer_engine", transformer_engine_version),
    AS("pip.megatron_core", megatron_version),
    AS("pip.deepspeed", deepspeed_version),
    AS("pip.transformers", transformers_version),
};
enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

// --- names --------------------------------------------------------------------------------------

enum { MOST_NAME = 256 };

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return (c >= 'a' && c <= 'z') || str_is_digit(c) || c == '.' ? c : '_';
}

// Whether a plain name is the alias, or ends with it after a dot.
static bool ends_with(struct str name, struct str alias)
{
    if (alias.len > name.len || memcmp(name.at + name.len - alias.len, alias.at, alias.len) != 0)
        return false;
    return alias.len == name.len || name.at[name.len - alias.len - 1] == '.';
}

static const struct alias *find_alias(struct str source, struct str name)
{
    const struct alias *best = NULL; // the longest: optim.name, not name
    for (size_t i = 0; i < ALIAS_COUNT; i++) {
        const struct alias *alias = &aliases[i];
        if (ends_with(name, str_of(alias->name)) &&
            (!alias->only || str_equal(source, str_of(alias->only))) &&
            (!best || strlen(alias->name) > strlen(best->name)))
            best = alias;
    }
    return best;
}

// --- values -------------------------------------------------------------------------------------

static bool is_one_of(struct str value, const char *const *words)
{
    for (; *words; words++)
        if (str_equal_nocase(value, str_of(*words)))
            return true;
    return false;
}

// Whether the value is unknown, or left to something else.
static bool is_open(struct str value)
{
    static const char *const words[] = {"none", "null",      "~",   "auto",
                                        "n/a",  "not found", "???", NULL};
    return value.len == 0 || value.len >= STANDARD_VALUE_BYTES || is_one_of(value, words) ||
           str_find(value, STR("${")) != SIZE_MAX || str_find(value, STR("[redacted")) != SIZE_MAX;
}

static bool is_true(struct str value)
{
    static const char *const words[] = {"true", "yes", "on", "1", NULL};
    return is_one_of(value, words);
}

static bool is_false(struct str value)
{
    static const char *const words[] = {"false", "no", "off", "0", NULL};
    return is_one_of(value, words);
}

static void put(struct standard_setting *setting, struct str value)
{
    memcpy(setting->value, value.at, value.len);
    setting->len = value.len;
}

static void put_number(struct standard_setting *setting, struct str value, bool whole)
{
    char text[64], *end;
    size_t len = 0;
    for (size_t i = 0; i < value.len && len + 1 < sizeof text; i++)
        if (value.at[i] != '_') // as in 4_096
            text[len++] = value.at[i];
    text[len] = '\0';
    double number = strtod(text, &end);
    if (len == 0 || *end || len + 1 == sizeof text || !isfinite(number) || number < whole ||
        (whole && (number != floor(number) || number > 9e15)))
        return;
    int count = snprintf(setting->value, sizeof setting->value, "%.12g", number);
    setting->len = (size_t)count;
}

// What a letter or word after a number multiplies it by; 0: something else.
static double scale_of(struct str word)
{
    static const struct {
        const char *words[4];
        double scale;
    } scales[] = {{{"", NULL}, 1},
                  {{"k", "thousand", NULL}, 1e3},
                  {{"m", "million", NULL}, 1e6},
                  {{"b", "g", "billion", NULL}, 1e9},
                  {{"t", "trillion", NULL}, 1e12}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (is_one_of(word, scales[i].words))
            return scales[i].scale;
    return 0;
}

static void put_amount(struct standard_setting *setting, struct str value)
{
    char digits[32];
    size_t len = 0, at = 0;
    for (; at < value.len && len + 1 < sizeof digits; at++)
        if (str_is_digit(value.at[at]) || value.at[at] == '.')
            digits[len++] = value.at[at];
        else if (value.at[at] != ',' && value.at[at] != '_')
            break;
    digits[len] = '\0';
    while (at < value.len && value.at[at] == ' ')
        at++;
    char *end;
    double number = strtod(digits, &end) * scale_of((struct str){value.at + at, value.len - at});
    if (*end || !(number >= 1) || number > 9e15)
        return;
    int count = snprintf(setting->value, sizeof setting->value, "%.0f", number);
    setting->len = (size_t)count;
}

static void put_lower(struct standard_setting *setting, struct str value)
{
    put(setting, value);
    for (size_t i = 0; i < setting->len; i++)
        if (setting->value[i] >= 'A' && setting->value[i] <= 'Z')
            setting->value[i] = (char)(setting->value[i] | 0x20);
}

static void put_precision(struct standard_setting *setting, struct str value)
{
    static const char *const words[][2] = {
        {"bfloat16", "bf16"},
        {"torch.bfloat16", "bf16"},
        {"bf16-mixed", "bf16"},
        {"bf16_mixed", "bf16"},
        {"bf16-true", "bf16"},
        {"float16", "fp16"},
        {"torch.float16", "fp16"},
        {"half", "fp16"},
        {"16", "fp16"},
        {"16-mixed", "fp16"},
        {"fp16-mixed", "fp16"},
        {"float32", "fp32"},
        {"torch.float32", "fp32"},
        {"float", "fp32"},
        {"32", "fp32"},
        {"32-true", "fp32"},
        {"no", "fp32"},
        {"amp_bf16", "bf16"},
        {"amp_fp16", "fp16"},
        {"torch.half", "fp16"},
        {"bf16_with_fp8_mixed", "bf16"},
    };
    put_lower(setting, value);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(standard_setting_value(setting), str_of(words[i][0]))) {
            put(setting, str_of(words[i][1]));
            return;
        }
}

static struct str last_of_path(struct str path)
{
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    const char *slash = memrchr(path.at, '/', path.len);
    return slash ? (struct str){slash + 1, (size_t)(path.at + path.len - slash) - 1} : path;
}

// "synthetic" or "real": a switch or type, or the name or path of a data set. A name may be a
// default that the other overrides.
static void put_data(struct standard_setting *setting, struct str value)
{
    static const char *const made_up[] = {"synthetic", "mock", "dummy", "fake", NULL};
    struct str name = last_of_path(value);
    bool is = is_true(value) || is_one_of(value, made_up);
    setting->overrides = is;
    for (const char *const *word = made_up; *word; word++)
        is = is || str_contains_nocase(name, str_of(*word));
    put(setting, is ? STR("synthetic") : STR("real"));
}

// SiLU is the function of gated MLPs only: of Llama, Mistral, Qwen, DeepSeek.
static void put_gated(struct standard_setting *setting, struct str value)
{
    static const char *const gated[] = {"silu", "swiglu", "geglu", NULL};
    if (is_true(value) || is_one_of(value, gated))
        put(setting, STR("true"));
    else if (is_false(value))
        put(setting, STR("false"));
}

static void put_form(struct standard_setting *setting, enum form form, struct str value)
{
    switch (form) {
    case COUNT: put_number(setting, value, true); break;
    case NUMBER: put_number(setting, value, false); break;
    case AMOUNT: put_amount(setting, value); break;
    case PRECISION: put_precision(setting, value); break;
    case TEXT: put(setting, value); break;
    case WORD: put_lower(setting, value); break;
    case DATA: put_data(setting, value); break;
    case GATED: put_gated(setting, value); break;
    case SWITCH:
        if (is_true(value) || is_false(value))
            put(setting, is_true(value) ? STR("true") : STR("false"));
        break;
    }
}

// --- both ---------------------------------------------------------------------------------------

struct standard_setting standard_setting_of(struct str source, struct str name, struct str value)
{
    char text[MOST_NAME];
    struct standard_setting setting = {0};
    if (name.len > MOST_NAME || is_open(value))
        return setting;
    for (size_t i = 0; i < name.len; i++)
        text[i] = plain(name.at[i]);
    const struct alias *alias = find_alias(source, (struct str){text, name.len});
    if (!alias)
        return setting;
    enum form form = standards[alias->standard].form;
    if (alias->word && is_true(value))
        put(&setting, str_of(alias->word));
    else if (!alias->word &&
             !(form == WORD && is_false(value) && alias->standard != STANDARD_adapter))
        put_form(&setting, form, value);
    if (setting.len) {
        setting.place = alias->standard;
        setting.name = standards[alias->standard].name;
        setting.unit = standards[alias->standard].unit;
        setting.overrides = setting.overrides || alias->overrides;
    }
    return setting;
}

size_t standard_setting_place(struct str standard)
{
    for (size_t i = 0; i < STANDARD_COUNT; i++)
        if (str_equal(standard, str_of(standards[i].name)))
            return i;
    return SIZE_MAX;
}
