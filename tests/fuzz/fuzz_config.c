// SPDX-License-Identifier: Apache-2.0
// Any bytes as settings of a job, in each of the formats that has them: the same in pieces as in
// one, and tables of whatever was read.
#include "tests/fuzz/gathered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = {"config-yaml", "config-toml", "env",        "pip-freeze",
                                      "collect-env", "slurm",       "config-json"};
enum { FORMATS = sizeof formats / sizeof *formats };

static uint64_t sum_of(const struct evidence *evidence)
{
    uint64_t sum = evidence->log.step_count;
    for (size_t i = 0; i < evidence->setting_count; i++) {
        struct str value = evidence->settings[i].value;
        if (str_valid_utf8(value) != value.len || value.len > 1024)
            abort();
        sum = sum * 31 + value.len;
    }
    for (size_t i = 0; i < evidence->result_count; i++)
        sum = sum * 31 + evidence->results[i].name.len;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    const struct format *format = format_named(str_of(formats[data[0] % FORMATS]));
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    (void)format_like(format, head, STR("a.yaml"));
    gathered_check(format, text, (size_t)data[0] / FORMATS + 1, sum_of);
    return 0;
}
