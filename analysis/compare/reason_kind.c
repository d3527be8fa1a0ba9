// SPDX-License-Identifier: Apache-2.0
// What the name of a slow kernel tells: built for an older GPU, or for data without alignment, and
// which length of the inputs forces that.
#include "analysis/compare/reasons.h"
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/report/tables.h"

#include <stdlib.h>

// Generations of NVIDIA GPUs that matter here, by the start of their short names.
static const struct {
    const char *gpu;
    int generation;
} gpus[] = {{"V100", 70},  {"A100", 80},  {"A800", 80},   {"H100", 90},
            {"H800", 90},  {"H200", 90},  {"H20", 90},    {"GH200", 90},
            {"B200", 100}, {"B300", 103}, {"GB200", 100}, {"GB300", 103}};

static int generation_of(struct str gpu)
{
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (str_starts_with(gpu, str_of(gpus[i].gpu)))
            return gpus[i].generation;
    return 0;
}

// "Ampere" of "sm80"; NULL of others.
static const char *generation_name(int generation)
{
    switch (generation) {
    case 70: return "a Volta";
    case 75: return "a Turing";
    case 80:
    case 86: return "an Ampere";
    case 89: return "an Ada";
    case 90: return "a Hopper";
    default: return NULL;
    }
}

// The kernel's generation, if it is older than the GPU's; else 0.
static int older_generation(const struct reason_case *the_case, int side,
                            const struct kernel_decoded *decoded)
{
    int own = strncmp(decoded->arch, "sm", 2) == 0 ? atoi(decoded->arch + 2) : 0;
    int gpu = generation_of(the_case->gpus[side]);
    return own && own / 10 < gpu / 10 && generation_name(own) ? own : 0;
}

// The first length above 1 of the inputs' last two that is odd: data with it cannot be aligned.
static long odd_length(struct str dims)
{
    long last[2] = {0, 0};
    for (size_t i = 0; i < dims.len; i++) {
        if (dims.at[i] == '[')
            last[0] = last[1] = 0;
        if (dims.at[i] >= '0' && dims.at[i] <= '9') {
            long length = 0;
            for (; i < dims.len && dims.at[i] >= '0' && dims.at[i] <= '9' && length < 100000000;
                 i++)
                length = 10 * length + (dims.at[i] - '0');
            last[0] = last[1];
            last[1] = length;
        }
        if (i < dims.len && dims.at[i] == ']')
            for (int k = 1; k >= 0; k--)
                if (last[k] > 1 && last[k] % 2)
                    return last[k];
    }
    return 0;
}

// Of the shape with the most time: rows come with the largest differences first.
static struct str main_dims(const struct reason_case *the_case)
{
    const struct reason *detail = the_case->detail;
    if (detail->shape != REASON_NONE)
        return reason_text(the_case, detail->shape, COMPARE_WATERFALL_DIMS);
    for (size_t row = detail->row; row < detail->end; row++)
        if (table_is(the_case->waterfall, row, COMPARE_WATERFALL_LEVEL, STR("shape")))
            return reason_text(the_case, row, COMPARE_WATERFALL_DIMS);
    return STR("");
}

bool reason_say_kind(const struct reason_case *the_case, struct words *words)
{
    int slow = reason_slow_side(the_case->detail);
    struct kernel_decoded decoded[SIDES];
    for (int side = 0; side < SIDES; side++)
        kernel_decode(reason_main_kernel(the_case, the_case->detail, side), &decoded[side]);
    int older = older_generation(the_case, slow, &decoded[slow]);
    bool unaligned = decoded[slow].alignment == 1;
    if (older_generation(the_case, 1 - slow, &decoded[1 - slow]) == older)
        older = 0; // so does the other side
    if (!older && (!unaligned || decoded[1 - slow].alignment == 1))
        return false;
    words_say(words, "%s runs %s kernel", the_case->names[slow],
              older ? generation_name(older) : "a");
    if (unaligned)
        words_say(words, "%s at alignment 1", older ? "" : " that reads");
    long odd = unaligned ? odd_length(main_dims(the_case)) : 0;
    if (odd)
        words_say(words, ", as length %ld is odd", odd);
    return true;
}
