// SPDX-License-Identifier: Apache-2.0
// What each framework calls the same setting, and how it writes the same value.
#include "ingest/evidence/standard_settings.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

// "global_batch_size=128 samples", or "" for none.
static const char *shown(const char *source, const char *name, const char *value)
{
    static char out[512];
    struct standard_setting setting =
        standard_setting_of(str_of(source), str_of(name), str_of(value));
    out[0] = '\0';
    if (setting.name)
        snprintf(out, sizeof out, "%s=%.*s%s%s", setting.name, (int)setting.len, setting.value,
                 setting.unit ? " " : "", setting.unit ? setting.unit : "");
    return out;
}

static void frameworks_have_their_own_names(void **state)
{
    (void)state;
    static const struct {
        const char *source, *name, *value, *standard;
    } cases[] = {
        {"megatron-lm", "global_batch_size", "128", "global_batch_size=128 samples"},
        {"deepspeed", "train_batch_size", "256", "global_batch_size=256 samples"},
        {"", "training.local_batch_size", "2", "micro_batch_size=2 samples"},
        {"maxtext", "per_device_batch_size", "4", "device_batch_size=4 samples"},
        {"maxtext", "global_batch_size_to_train_on", "64", "global_batch_size=64 samples"},
        {"", "modules.pre_trainer.overrides.seq_length", "8192", "seq_length=8192 tokens"},
        {"", "model.optim.name", "distributed_fused_adam", "optimizer=distributed_fused_adam"},
        {"megatron-lm", "tensor-model-parallel size", "4", "tensor_parallel_size=4 ranks"},
        {"", "model-parallel-size", "2", "tensor_parallel_size=2 ranks"},
        {"", "pipe-parallel-size", "8", "pipeline_parallel_size=8 ranks"},
        {"", "zero_optimization.stage", "3", "zero_stage=3"},
        {"", "activation_checkpoint.mode", "Selective", "recompute=selective"},
        {"pip", "pip.torch", "2.7.1+rocm6.3", "pytorch_version=2.7.1+rocm6.3"},
        {"", "SLURM_NNODES", "4", "nodes=4"},
        {"", "gradient_checkpointing", "True", "recompute=full"},
        {"", "trainer.mock_data", "true", "data=synthetic"},
        {"megatron-lm", "mock_data", "False", "data=real"},
        {"megatron-lm", "data_path", "None", ""},
        {"megatron-lm", "fp8_recipe", "delayed", ""}, // the default, also without fp8
        {"maxtext", "dataset_type", "synthetic", "data=synthetic"},
        {"torchtitan", "training.dataset", "c4", "data=real"},
        {"", "data_path", "/data/dummy_user/data", "data=real"},
        {"", "data_path", "/data/fake_tokens/", "data=synthetic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(shown(cases[i].source, cases[i].name, cases[i].value),
                            cases[i].standard);
}

static void values_have_one_form(void **state)
{
    (void)state;
    assert_string_equal(shown("", "precision", "bf16-mixed"), "precision=bf16");
    assert_string_equal(shown("", "params_dtype", "torch.bfloat16"), "precision=bf16");
    assert_string_equal(shown("", "bf16", "True"), "precision=bf16");
    assert_string_equal(shown("", "mixed_precision", "no"), "precision=fp32");
    assert_string_equal(shown("", "lr", "3.0e-4"), "learning_rate=0.0003");
    assert_string_equal(shown("", "lr", ".0003"), "learning_rate=0.0003");
    assert_string_equal(shown("", "seq_len", "4_096"), "seq_length=4096 tokens");
    assert_string_equal(shown("", "seq_len", "4096.0"), "seq_length=4096 tokens");
    assert_string_equal(shown("", "model_parameters", "8,030,261,248"), "parameters=8030261248");
    assert_string_equal(shown("", "n_params", "8.03 billion"), "parameters=8030000000");
    assert_string_equal(shown("", "rank_parameters", "54.7 M"), "rank_parameters=54700000");
    assert_string_equal(shown("", "hidden_act", "silu"), "gated_mlp=true");
    assert_string_equal(shown("", "hidden_act", "gelu"), "");
    assert_string_equal(shown("", "use_peft", "False"), "adapter=false");
    assert_string_equal(shown("", "finetuning_type", "LoRA"), "adapter=lora");
    assert_string_equal(shown("", "moe_layer_freq", "([0]*1+[1]*26)"),
                        "expert_layers=([0]*1+[1]*26)");
    assert_string_equal(shown("", "num_parameters", "8B?"), "");
    assert_string_equal(shown("", "num_parameters", "many"), "");
    assert_string_equal(shown("", "sequence_parallel", "yes"), "sequence_parallel=true");
    assert_string_equal(shown("", "compile.enable", "False"), "compile=false");
}

static void what_is_not_decided_is_no_value(void **state)
{
    (void)state;
    static const char *const open[] = {"auto", "None",  "null", "",      "-1",  "0",  "1.5",
                                       "many", "${BS}", "1e99", "12 12", "nan", "0x", "inf"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_string_equal(shown("", "global_batch_size", open[i]), "");
    assert_string_equal(shown("", "bf16", "false"), "");
    assert_string_equal(shown("", "bf16", "auto"), "");
    assert_string_equal(shown("", "fsdp", "false"), "");
    assert_string_equal(shown("", "compile", "maybe"), "");
}

static void names_of_other_things_are_not_standard(void **state)
{
    (void)state;
    assert_string_equal(shown("", "train_batch_size", "8"), ""); // of one device for some
    assert_string_equal(shown("hf-trainer", "torch", "8"), "");
    assert_string_equal(shown("", "min_lr", "1e-5"), "");
    assert_string_equal(shown("", "eval_global_batch_size", "8"), "");
    assert_string_equal(shown("", "", "8"), "");
}

static void places_follow_what_matters(void **state)
{
    (void)state;
    assert_int_equal(standard_setting_place(STR("model")), 0);
    assert_true(standard_setting_place(STR("global_batch_size")) <
                standard_setting_place(STR("learning_rate")));
    assert_true(standard_setting_place(STR("python_version")) < STANDARD_MOST);
    assert_true(standard_setting_place(STR("lr")) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frameworks_have_their_own_names),
        cmocka_unit_test(values_have_one_form),
        cmocka_unit_test(what_is_not_decided_is_no_value),
        cmocka_unit_test(names_of_other_things_are_not_standard),
        cmocka_unit_test(places_follow_what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
