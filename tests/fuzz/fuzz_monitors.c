// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a monitor recorded: whichever it looks like reads or refuses them.
#include <math.h>
#include <stdint.h>

#include "tests/fuzz/gathered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static uint64_t add_text(uint64_t sum, struct str text)
{
    check(str_valid_utf8(text) == text.len);
    return sum * 31 + text.len;
}

static uint64_t sum_of_series(const struct sample_set *set, uint32_t index)
{
    const struct sample_series *series = &set->series[index];
    uint64_t sum = series->missing;
    check(series->device < set->device_count && series->metric < SAMPLE_METRICS);
    check(samples_of(set, series->device, series->metric) == series);
    for (size_t i = 0; i < series->count; i++) {
        check(isfinite(series->at[i].value));
        check(i == 0 || series->at[i - 1].time_ns <= series->at[i].time_ns);
        sum = sum * 31 + (uint64_t)series->at[i].time_ns;
    }
    return sum;
}

static uint64_t sum_of_devices(const struct sample_set *set)
{
    uint64_t sum = 0;
    check(set->device_count <= SAMPLE_MOST_DEVICES);
    for (size_t i = 0; i < set->device_count; i++) {
        const struct sample_identity *is = &set->devices[i].is;
        check(is->index >= -1);
        sum = add_text(add_text(sum, is->uuid), is->bus_id) + (uint64_t)is->index;
        sum = add_text(add_text(add_text(sum, is->host), is->name), is->part);
    }
    return sum;
}

// Series are settled only if the file was read to its end.
static uint64_t sum_of(const struct evidence *evidence)
{
    const struct sample_set *set = &evidence->samples;
    uint64_t sum = sum_of_devices(set) + set->rows * 7 + set->bad_rows * 11 + set->bad_pos;
    for (uint32_t i = 0; evidence->source.len && i < set->series_count; i++)
        sum = sum * 31 + sum_of_series(set, i);
    for (size_t i = 0; i < set->left_out_count; i++)
        sum = add_text(sum, set->left_out[i]);
    return sum;
}

// Other formats have their own targets.
static bool is_of_monitor(const struct format *format)
{
    static const char *const names[] = {
        "nvidia-smi-csv", "nvidia-smi-dmon", "dcgmi-dmon",   "prometheus-text", "prometheus-query",
        "amd-smi-csv",    "amd-smi-json",    "amd-smi-text", "rocm-smi-csv",    "rocm-smi-json"};
    for (size_t i = 0; format && i < sizeof names / sizeof *names; i++)
        if (strcmp(format->name, names[i]) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR(""));
    if (is_of_monitor(format))
        gathered_check(format, text, (size_t)data[0] + 1, sum_of);
    return 0;
}
