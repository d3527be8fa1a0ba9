// SPDX-License-Identifier: Apache-2.0
// CUB and rocPRIM: sorts, scans, selections and reductions.
#include "analysis/kernel_names/families.h"

static const struct kernel_rule cub[] = {
    {NULL, "DeviceRadixSort*", 0, OP_sort, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceSegmentedRadixSort*", 0, OP_sort, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceMergeSort*", 0, OP_sort, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceSegmentedSort*", 0, OP_sort, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceSelect*", 0, OP_select, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceCompactInit*", 0, OP_select, FROM_NOWHERE, {0}, 0},
    {NULL, "DevicePartition*", 0, OP_select, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceUniqueByKey*", 0, OP_select, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceScan*", 0, OP_scan, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceReduceByKey*", 0, OP_reduce, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceReduce*", 0, OP_reduce, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceSegmentedReduce*", 0, OP_reduce, FROM_NOWHERE, {0}, 0},
    {NULL, "DeviceRleSweep*", 0, OP_select, FROM_NOWHERE, {0}, 0},
};

// What a kernel of rocPRIM does, in its own name or, in newer ones, among the first arguments of
// the one that stands for all.
static const struct {
    const char *word;
    enum kernel_op op;
} words[] = {
    {"radix_sort", OP_sort},
    {"onesweep", OP_sort},
    {"block_sort", OP_sort},
    {"merge_sort", OP_sort},
    {"device_merge", OP_sort},
    {"segmented_sort", OP_sort},
    {"device_block_merge", OP_sort},
    {"partition", OP_select},
    {"select", OP_select},
    {"reduce_by_key", OP_reduce},
    {"reduce", OP_reduce},
    {"init_lookback_scan", OP_scan},
    {"scan", OP_scan},
    {"transform", OP_elementwise},
    {"histogram", OP_reduce},
};

// In "scan_impl<(select_method)0, ...>" the word before the template counts, not its arguments.
static struct str implementation(const struct kernel_text *text)
{
    if (!str_equal(text->base, STR("trampoline_kernel")))
        return text->base;
    size_t at = str_find(text->name, STR("_impl<"));
    if (at == SIZE_MAX)
        return (struct str){text->name.at, 0};
    size_t start = at;
    while (start && text->name.at[start - 1] != ':' && text->name.at[start - 1] != ' ')
        start--;
    return (struct str){text->name.at + start, at - start};
}

static bool decode_rocprim(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (library_of_space(text->space) != LIBRARY_rocprim)
        return false;
    out->library = LIBRARY_rocprim;
    out->settled = DOUBT_LIBRARY;
    struct str name = implementation(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (kernel_has(name, words[i].word)) {
            out->op = words[i].op;
            return true;
        }
    return true;
}

bool family_primitives(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (library_of_space(text->space) == LIBRARY_cub)
        return apply_rules(cub, sizeof cub / sizeof *cub, text, out);
    return decode_rocprim(text, out);
}
