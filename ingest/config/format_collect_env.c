// SPDX-License-Identifier: Apache-2.0
// What `python -m torch.utils.collect_env` prints.
#include "ingest/config/config_lines.h"

static const char *const reported[] = {
    "PyTorch version",
    "Is debug build",
    "CUDA used to build PyTorch",
    "ROCM used to build PyTorch",
    "OS",
    "GCC version",
    "Clang version",
    "Libc version",
    "Python version",
    "Is CUDA available",
    "CUDA runtime version",
    "CUDA_MODULE_LOADING set to",
    "GPU 0",
    "Nvidia driver version",
    "cuDNN version",
    "HIP runtime version",
    "MIOpen runtime version",
    "Is XNNPACK available",
    "Model name",
    "CPU(s)",
    NULL,
};

static struct str without(struct str line, size_t count)
{
    return (struct str){line.at + count, line.len - count};
}

static bool take_report(struct config_lines *lines, struct str line, struct err *err)
{
    struct str name, value;
    static const char *const marks[] = {"[pip3] ", "[pip] "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_starts_with(line, str_of(marks[i])))
            return config_take_package(lines, without(line, strlen(marks[i])), err);
    if (!config_split(line, STR(":"), &name, &value))
        return true;
    // Of a single GPU on the same line: "GPU models and configuration: GPU 0: NVIDIA H100".
    if (str_equal(name, STR("GPU models and configuration")) &&
        !config_split(value, STR(":"), &name, &value))
        return true;
    // What was found follows on separate lines.
    return str_starts_with(value, STR("Probably one of")) || !config_is_listed(name, reported) ||
           config_set(&lines->settings, name, value, err);
}

static bool gather_collect_env(const struct format_input *input, struct err *err)
{
    static const struct config_dialect dialect = {
        "collect-env", "a report of PyTorch's environment", 1, take_report};
    return config_read_lines(&dialect, input, err);
}

extern const struct format format_collect_env;

static bool count_collect_env(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_collect_env, err);
}

static enum format_likeness probe_collect_env(const struct format_sample *sample)
{
    bool is = config_has_line(sample->head, STR("PyTorch version: ")) &&
              config_has_line(sample->head, STR("Is debug build: "));
    return is && !config_is_named_like_log(sample->filename) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_collect_env = {
    .name = "collect-env",
    .what = "a report of PyTorch's environment",
    .kind = FORMAT_RECORDS,
    .probe = probe_collect_env,
    .count = count_collect_env,
    .gather = gather_collect_env,
};
