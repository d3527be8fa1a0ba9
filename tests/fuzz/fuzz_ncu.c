// SPDX-License-Identifier: Apache-2.0
// Any bytes as CSV of Nsight Compute or rocprof-compute.
#include <math.h>
#include <stdint.h>

#include "tests/fuzz/gathered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static uint64_t sum_of(const struct evidence *evidence)
{
    const struct kernel_profiles *profiles = &evidence->profiles;
    uint64_t sum = profiles->metrics * 7 + profiles->not_numbers + profiles->left_out;
    check(profiles->count <= PROFILE_MOST_LAUNCHES);
    for (size_t i = 0; i < profiles->count; i++) {
        const struct kernel_profile *profile = &profiles->items[i];
        check(str_valid_utf8(profile->kernel) == profile->kernel.len);
        sum = sum * 31 + profile->kernel.len + (uint64_t)profile->grid[0] + profile->family;
        for (int f = 0; f < PROFILE_FIGURES; f++)
            sum = sum * 3 + !isnan(profile->figures[f]);
        for (int s = 0; s < PROFILE_STALLS; s++)
            sum = sum * 3 + !isnan(profile->stalls[s]);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR("x.csv"));
    if (format &&
        (strcmp(format->name, "ncu-csv") == 0 || strcmp(format->name, "rocprof-csv") == 0))
        gathered_check(format, text, (size_t)data[0] + 1, sum_of);
    return 0;
}
