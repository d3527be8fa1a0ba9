// SPDX-License-Identifier: Apache-2.0
// Settings of jobs in YAML, TOML and JSON, their results, and what says where a job ran.
#include "tests/unit/config_hand.h"

// --- YAML ---------------------------------------------------------------------------------------

static void nested_keys_become_dotted_names(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "exp/pretrain.yaml",
                     "exp_name: llama\n"
                     "modules:\n"
                     "  pre_trainer:\n"
                     "    framework: megatron\n"
                     "    overrides:\n"
                     "      micro_batch_size: 2   # per GPU\n"
                     "      seq_length: 8_192\n"
                     "      profile_ranks: [0, 1,\n"
                     "        8]\n"
                     "      empty: []\n"
                     "      nothing:\n"
                     "      stages:\n"
                     "      - layers: 4\n"
                     "      - layers: [5, [6]]\n"
                     "last: 'a: b'\n"
                     "---\n"
                     "second: 1\n");
    assert_string_equal(config_hand_found("a.yml", "a: 1\n"), "config-yaml");
    assert_setting(&hand, "exp_name", "llama");
    assert_setting(&hand, "modules.pre_trainer.framework", "megatron");
    assert_setting(&hand, "modules.pre_trainer.overrides.micro_batch_size", "2");
    assert_setting(&hand, "modules.pre_trainer.overrides.profile_ranks", "[0, 1, 8]");
    assert_setting(&hand, "modules.pre_trainer.overrides.stages.0.layers", "4");
    assert_setting(&hand, "modules.pre_trainer.overrides.stages.1.layers.0", "[6]");
    assert_setting(&hand, "last", "a: b");
    assert_setting(&hand, "second", "1");
    assert_int_equal(hand.evidence.setting_count, 9);
    config_hand_free(&hand);
}

#define SETTINGS "micro_batch_size: 1\nseq_length: 4096\n"

static void aliases_of_containers_are_not_followed(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "a.yaml",
                     SETTINGS "a: &a [lol, lol]\n"
                              "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
                              "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
                              "d: {x: *c, y: *c}\n"
                              "size: &size 64\n"
                              "global_batch_size: *size\n"
                              "<<: *d\n");
    assert_setting(&hand, "a", "[lol, lol]");
    assert_setting(&hand, "d.x", "");
    assert_setting(&hand, "global_batch_size", "64");
    assert_true(hand.budget.peak < 1 << 20);
    config_hand_free(&hand);
}

static void yaml_of_something_else_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n",
        "on: push\njobs: {build: {steps: []}}\n",
        "just text\n",
        "micro_batch_size: 1\n",
        "? [a, b]\n: c\n",
        "a: b: c\n",
        "\t- x\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct config_hand hand;
        assert_false(config_hand_try(&hand, "values.yaml", str_of(texts[i])));
        assert_int_equal(hand.err.code, ERR_FORMAT);
        config_hand_free(&hand);
    }
}

static void yaml_that_is_nested_too_deep_is_refused(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, SETTINGS "deep: ");
    for (int i = 0; i < 100000; i++)
        buf_putc(&text, '[');
    struct config_hand hand;
    assert_false(config_hand_try(&hand, "a.yaml", (struct str){text.at, text.len}));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    config_hand_free(&hand);
    buf_free(&text);
}

static void yaml_that_ends_early_gives_what_came_before(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "a.yaml", SETTINGS "name: \"cut he");
    assert_setting(&hand, "seq_length", "4096");
    assert_setting(&hand, "name", "");
    config_hand_free(&hand);
}

static void secrets_are_not_kept(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "a.yaml",
                     SETTINGS "logger:\n"
                              "  wandb_api_key: 0123456789abcdef0123456789abcdef01234567\n"
                              "  tokens: [hf_abcdefghijklmnopqrstuvwxyz012345]\n"
                              "  tokenizer: llama\n");
    assert_setting(&hand, "logger.wandb_api_key", "[redacted:named]");
    assert_setting(&hand, "logger.tokenizer", "llama");
    struct str tokens = config_hand_value(&hand, "logger.tokens");
    assert_true(str_find(tokens, STR("hf_abc")) == SIZE_MAX);
    config_hand_free(&hand);
}

// --- TOML ---------------------------------------------------------------------------------------

static void sections_of_toml_become_dotted_names(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "llama3_8b.toml",
                     "# torchtitan\n"
                     "top = 1\n"
                     "[training]\r\n"
                     "local_batch_size = 1  # \"per\" GPU\n"
                     "seq_len=8192\n"
                     "dataset = \"c4 # not a comment\"\n"
                     "[ parallelism ]\n"
                     "tensor_parallel_degree = 8\n"
                     "names = [\n"
                     "  'a]', # why\n"
                     "  [\"c\"],\n"
                     "]\n"
                     "[activation_checkpoint]\n"
                     "mode = 'selective'\n"
                     "[[job.steps]]\n"
                     "\"n\" = 2\n"
                     "broken\n");
    assert_setting(&hand, "top", "1");
    assert_setting(&hand, "training.local_batch_size", "1");
    assert_setting(&hand, "training.seq_len", "8192");
    assert_setting(&hand, "training.dataset", "c4 # not a comment");
    assert_setting(&hand, "parallelism.tensor_parallel_degree", "8");
    assert_setting(&hand, "parallelism.names", "['a]',[\"c\"],]");
    assert_setting(&hand, "activation_checkpoint.mode", "selective");
    assert_setting(&hand, "job.steps.n", "2");
    assert_int_equal(hand.evidence.setting_count, 8);
    config_hand_free(&hand);
}

static void toml_of_something_else_is_refused(void **state)
{
    (void)state;
    struct config_hand hand;
    struct str text =
        STR("[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\na = \"1\"\n");
    assert_false(config_hand_try(&hand, "Cargo.toml", text));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    config_hand_free(&hand);
}

// --- JSON ---------------------------------------------------------------------------------------

static double result(const struct config_hand *hand, const char *name, const char *unit)
{
    for (size_t i = 0; i < hand->evidence.result_count; i++) {
        const struct evidence_result *found = &hand->evidence.results[i];
        if (str_equal(found->name, str_of(name))) {
            assert_string_equal(found->unit, unit);
            return found->value;
        }
    }
    fail_msg("no result %s", name);
    return 0;
}

static void results_differ_from_settings_by_their_names(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(
        &hand, "benchmark.json",
        "{\"gpu_info\": {\"device_name\": \"MI300X\", \"total_memory_gb\": 206.1},\n"
        " \"training_config\": {\"global_batch_size\": 64, \"sequence_length\": 2048,\n"
        "   \"target_loss\": 2, \"betas\": [0.9, 0.95], \"note\": null},\n"
        " \"metrics\": {\"tokens_per_second_per_gpu\": 6742.9, \"final_loss\": NaN,\n"
        "   \"step_ms\": {\"mean\": 2430, \"p95\": 2600}, \"min_us\": 7,\n"
        "   \"total_time_seconds\": 12.5, \"mfu_percent\": 41.2,\n"
        "   \"peak_memory_gb\": 80.5, \"loss_scale\": 65536}}");
    assert_true(result(&hand, "metrics.tokens_per_second_per_gpu", "tokens/s") == 6742.9);
    assert_true(result(&hand, "metrics.step_ms.mean", "ms") == 2430);
    assert_true(result(&hand, "metrics.step_ms.p95", "ms") == 2600);
    assert_true(result(&hand, "metrics.min_us", "us") == 7);
    assert_true(result(&hand, "metrics.total_time_seconds", "s") == 12.5);
    assert_true(result(&hand, "metrics.mfu_percent", "%") == 41.2);
    assert_true(result(&hand, "metrics.peak_memory_gb", "GB") == 80.5);
    assert_int_equal(hand.evidence.result_count, 7);
    assert_setting(&hand, "training_config.global_batch_size", "64");
    assert_setting(&hand, "training_config.target_loss", "2");
    assert_setting(&hand, "training_config.betas", "[0.9, 0.95]");
    assert_setting(&hand, "metrics.loss_scale", "65536");
    assert_setting(&hand, "gpu_info.total_memory_gb", "206.1");
    config_hand_free(&hand);
}

static void lists_with_a_value_per_step_are_steps(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "benchmark.json",
                     "{\"global_batch_size\": 64, \"seq_length\": 2048,"
                     " \"step_times_ms\": [2500, 2400, null, 2300], \"val_loss\": [1, 2],"
                     " \"loss_values\": [11.5, NaN, 9], \"learning_rates\": [1e-4]}");
    const struct log_book *log = &hand.evidence.log;
    assert_int_equal(log->step_count, 4);
    assert_int_equal(log->steps[0].step, 1);
    assert_true(log->steps[0].values[LOG_STEP_S] == 2.5);
    assert_true(log->steps[0].values[LOG_LEARNING_RATE] == 1e-4);
    assert_true(log_step_has(&log->steps[1], LOG_LOSS));
    assert_true(log->steps[1].values[LOG_LOSS] != log->steps[1].values[LOG_LOSS]); // no number
    assert_false(log_step_has(&log->steps[2], LOG_STEP_S));
    assert_true(log->steps[2].values[LOG_LOSS] == 9);
    assert_false(log_step_has(&log->steps[3], LOG_LOSS));
    assert_setting(&hand, "val_loss", "[1, 2]");
    config_hand_free(&hand);
}

static void settings_of_deepspeed_are_its_own(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "ds_config.json",
                     "{\"train_batch_size\": 256, \"gradient_accumulation_steps\": \"auto\",\n"
                     " \"zero_optimization\": {\"stage\": 3, \"x\": [{\"a\": \"\\u0041\"}]},\n"
                     " \"bf16\": {\"enabled\": true}}");
    assert_true(str_equal(hand.evidence.source, STR("deepspeed")));
    assert_setting(&hand, "zero_optimization.stage", "3");
    assert_setting(&hand, "zero_optimization.x.0.a", "A");
    assert_setting(&hand, "bf16.enabled", "true");
    config_hand_free(&hand);
}

static void json_of_something_else_is_not_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"traceEvents\": [], \"seq_length\": 1, \"hidden_size\": 2}",
        "{\"schemaVersion\": 1, \"seq_length\": 1, \"micro_batch_size\": 2}",
        "{\"name\": \"x\", \"version\": \"1\"}",
        "[{\"seq_length\": 1, \"hidden_size\": 2}]",
        "{\"seq_length\": 1, \"hidden_size\": 2}\n{\"seq_length\": 1}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_not_equal(config_hand_found("a.json", texts[i]), "config-json");
    struct config_hand hand;
    struct str text = STR("{\"seq_length\": null, \"a\": 1}");
    assert_false(config_hand_try(&hand, "a.json", text));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    config_hand_free(&hand);
}

static void json_that_is_nested_too_deep_is_passed(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "{\"seq_length\": 1, \"micro_batch_size\": 2, \"deep\": ");
    for (int i = 0; i < 100000; i++)
        buf_putc(&text, '[');
    struct config_hand hand;
    assert_true(config_hand_try(&hand, "a.json", (struct str){text.at, text.len}));
    assert_setting(&hand, "micro_batch_size", "2");
    config_hand_free(&hand);
    buf_free(&text);
}

// --- where it ran -------------------------------------------------------------------------------

#define ENVIRONMENT                                                               \
    "PATH=/usr/bin:/bin\nHOME=/scratch/jane\nNCCL_DEBUG=INFO\nNCCL_ALGO=Ring\n"   \
    "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\nNCCL_SECRET_KEY=x\n"           \
    "NCCL_TUNER_PLUGIN=/scratch/jane/x.so\nSLURM_NNODES=2\nSLURM_JOB_USER=jane\n" \
    "BASH_FUNC_module%%=() {  eval `x`\n}\nCUDA_DEVICE_MAX_CONNECTIONS=1\n"

static void only_variables_that_say_how_a_job_runs_are_taken(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "env.txt", ENVIRONMENT "PYTORCH_HIP_ALLOC_CONF='a:True'\n");
    assert_string_equal(config_hand_found("env.txt", ENVIRONMENT), "env");
    assert_setting(&hand, "NCCL_ALGO", "Ring");
    assert_setting(&hand, "NCCL_DEBUG", "INFO");
    assert_setting(&hand, "SLURM_NNODES", "2");
    assert_setting(&hand, "CUDA_DEVICE_MAX_CONNECTIONS", "1");
    assert_setting(&hand, "PYTORCH_HIP_ALLOC_CONF", "a:True");
    assert_int_equal(hand.evidence.setting_count, 5);
    config_hand_free(&hand);
}

static void variables_that_a_shell_exports_count(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "job.env",
                     "declare -x NCCL_ALGO=\"Tree\"\nexport HSA_X=1\ndeclare -x USER=\"jane\"\n");
    assert_setting(&hand, "NCCL_ALGO", "Tree");
    assert_setting(&hand, "HSA_X", "1");
    assert_int_equal(hand.evidence.setting_count, 2);
    config_hand_free(&hand);
}

static void a_log_that_starts_with_its_environment_stays_a_log(void **state)
{
    (void)state;
    static const char *const names[] = {"train.log", "slurm-7.out", "stderr"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(config_hand_found(names[i], ENVIRONMENT), "training-log");
}

static void packages_have_their_version(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "requirements.txt",
                     "absl-py==2.1.0\ntorch==2.7.1+rocm6.3\n# a comment\n"
                     "megatron-core @ git+https://jane:secret@example.com/x@abc\n"
                     "-e git+ssh://a@b/c#egg=d\nflash-attn == 2.8.0\n");
    assert_setting(&hand, "pip.torch", "2.7.1+rocm6.3");
    assert_setting(&hand, "pip.flash-attn", "2.8.0");
    assert_int_equal(hand.evidence.setting_count, 3);
    config_hand_free(&hand);
    assert_false(config_hand_try(&hand, "requirements.txt", STR("flask==1.0\njinja2==2.0\n")));
    config_hand_free(&hand);
}

static void a_report_of_the_environment_is_read(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "collect_env.txt",
                     "Collecting environment information...\n"
                     "PyTorch version: 2.7.1+cu126\nIs debug build: False\n"
                     "CUDA used to build PyTorch: 12.6\nROCM used to build PyTorch: N/A\n\n"
                     "GPU models and configuration: \nGPU 0: NVIDIA H100 80GB HBM3\n"
                     "Nvidia driver version: 550.54.15\nHostname: jane-laptop\n"
                     "Versions of relevant libraries:\n[pip3] nvidia-nccl-cu12==2.26.2\n");
    assert_setting(&hand, "PyTorch version", "2.7.1+cu126");
    assert_setting(&hand, "GPU 0", "NVIDIA H100 80GB HBM3");
    assert_setting(&hand, "pip.nvidia-nccl-cu12", "2.26.2");
    assert_setting(&hand, "Hostname", "");
    config_hand_free(&hand);
    config_hand_read(&hand, "collect_env.txt", // of one GPU
                     "PyTorch version: 2.11.0+cu130\nIs debug build: False\n"
                     "GPU models and configuration: GPU 0: NVIDIA H100 80GB HBM3\n"
                     "cuDNN version: Probably one of the following:\n"
                     "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0\n");
    assert_setting(&hand, "GPU 0", "NVIDIA H100 80GB HBM3");
    assert_setting(&hand, "cuDNN version", "");
    config_hand_free(&hand);
}

static void facts_of_a_slurm_job_name_nobody(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "job.txt",
                     "JobId=7 JobName=train\n   UserId=jane(1000) GroupId=g(1)\n"
                     "   JobState=RUNNING Reason=None\n   Restarts=2 Account=acme\n"
                     "   NumNodes=4 NumCPUs=512 NumTasks=32 CPUs/Task=16\n"
                     "   ReqTRES=cpu=512,node=4,gres/gpu=32\n   WorkDir=/scratch/jane\n\n"
                     "JobId=8 JobName=other\n   NumNodes=9\n");
    assert_setting(&hand, "NumNodes", "4");
    assert_setting(&hand, "CPUs/Task", "16");
    assert_setting(&hand, "ReqTRES", "cpu=512,node=4,gres/gpu=32");
    assert_setting(&hand, "UserId", "");
    assert_setting(&hand, "WorkDir", "");
    assert_setting(&hand, "Account", "");
    config_hand_free(&hand);
}

static void the_first_row_of_accounting_is_the_job(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "sacct.txt",
                     "JobID|User|State|Elapsed|NNodes|\n7|jane|COMPLETED|01:00:00|4|\n"
                     "7.0||FAILED|0|1|\n");
    assert_setting(&hand, "State", "COMPLETED");
    assert_setting(&hand, "NNodes", "4");
    assert_setting(&hand, "User", "");
    config_hand_free(&hand);
    config_hand_read(&hand, "logs/job-8812.out", "JobID|State|NNodes|\n7|COMPLETED|4|\n");
    assert_setting(&hand, "NNodes", "4");
    config_hand_free(&hand);
}

static void a_batch_script_has_options_and_variables(void **state)
{
    (void)state;
    struct config_hand hand;
    config_hand_read(&hand, "train.sbatch",
                     "#!/bin/bash\n#SBATCH --job-name=x\n#SBATCH --nodes=4 # many\n"
                     "#SBATCH -t 01:00:00\n#SBATCH --exclusive\n#SBATCH --gres=gpu:8\n"
                     "export NCCL_IB_HCA=\"mlx5\"\nexport WANDB_API_KEY=abc\nsrun x --nodes=9\n");
    assert_setting(&hand, "nodes", "4");
    assert_setting(&hand, "time", "01:00:00");
    assert_setting(&hand, "exclusive", "true");
    assert_setting(&hand, "gres", "gpu:8");
    assert_setting(&hand, "NCCL_IB_HCA", "mlx5");
    assert_int_equal(hand.evidence.setting_count, 5);
    config_hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_keys_become_dotted_names),
        cmocka_unit_test(aliases_of_containers_are_not_followed),
        cmocka_unit_test(yaml_of_something_else_is_refused),
        cmocka_unit_test(yaml_that_is_nested_too_deep_is_refused),
        cmocka_unit_test(yaml_that_ends_early_gives_what_came_before),
        cmocka_unit_test(secrets_are_not_kept),
        cmocka_unit_test(sections_of_toml_become_dotted_names),
        cmocka_unit_test(toml_of_something_else_is_refused),
        cmocka_unit_test(results_differ_from_settings_by_their_names),
        cmocka_unit_test(lists_with_a_value_per_step_are_steps),
        cmocka_unit_test(settings_of_deepspeed_are_its_own),
        cmocka_unit_test(json_of_something_else_is_not_taken),
        cmocka_unit_test(json_that_is_nested_too_deep_is_passed),
        cmocka_unit_test(only_variables_that_say_how_a_job_runs_are_taken),
        cmocka_unit_test(variables_that_a_shell_exports_count),
        cmocka_unit_test(a_log_that_starts_with_its_environment_stays_a_log),
        cmocka_unit_test(packages_have_their_version),
        cmocka_unit_test(a_report_of_the_environment_is_read),
        cmocka_unit_test(facts_of_a_slurm_job_name_nobody),
        cmocka_unit_test(the_first_row_of_accounting_is_the_job),
        cmocka_unit_test(a_batch_script_has_options_and_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
