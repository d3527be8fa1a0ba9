// SPDX-License-Identifier: Apache-2.0
// What `pip freeze` prints.
#include "ingest/config/config_lines.h"

static bool is_package(struct str line)
{
    struct str name, version;
    bool pinned = config_split(line, STR("=="), &name, &version) && name.len &&
                  str_find(name, STR(" ")) == SIZE_MAX;
    return pinned || config_split(line, STR(" @ "), &name, &version) ||
           str_starts_with(line, STR("-e ")) || *line.at == '#';
}

static bool gather_pip_freeze(const struct format_input *input, struct err *err)
{
    static const struct config_dialect dialect = {"pip", "versions of packages", 1,
                                                  config_take_package};
    return config_read_lines(&dialect, input, err);
}

extern const struct format format_pip_freeze;

static bool count_pip_freeze(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_pip_freeze, err);
}

static enum format_likeness probe_pip_freeze(const struct format_sample *sample)
{
    return config_like_lines(sample, is_package);
}

const struct format format_pip_freeze = {
    .name = "pip-freeze",
    .what = "versions of packages",
    .kind = FORMAT_RECORDS,
    .probe = probe_pip_freeze,
    .count = count_pip_freeze,
    .gather = gather_pip_freeze,
};
