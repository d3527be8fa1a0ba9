// SPDX-License-Identifier: Apache-2.0
// What `env` prints in a job. Takes only variables that say how a job uses its GPUs: others may
// hold secrets, names and paths.
#include "ingest/config/config_lines.h"

static bool is_variable(struct str line)
{
    struct str name, value;
    return config_split_variable(line, &name, &value);
}

static bool gather_env(const struct format_input *input, struct err *err)
{
    static const struct config_dialect dialect = {"env", "variables of a job", 0,
                                                  config_take_variable};
    return config_read_lines(&dialect, input, err);
}

extern const struct format format_env;

static bool count_env(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_env, err);
}

static enum format_likeness probe_env(const struct format_sample *sample)
{
    return config_like_lines(sample, is_variable);
}

const struct format format_env = {
    .name = "env",
    .what = "variables of a job",
    .kind = FORMAT_RECORDS,
    .probe = probe_env,
    .count = count_env,
    .gather = gather_env,
};
