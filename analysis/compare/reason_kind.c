// SPDX-License-Identifier: Apache-2.0
// What a slow kernel's name shows: that it was built for an older GPU or for unaligned data, and
// which input dimension forces that.
#include "analysis/compare/reasons.h"
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/names/gpu_arch.h"
#include "analysis/report/tables.h"

// "Ampere" for "sm80"; NULL for others.
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

// 80 for a kernel built for "sm80"; 0 for others.
static int generation_of(const struct kernel_decoded *decoded)
{
    struct str arch = str_of(decoded->arch);
    int64_t own = 0;
    if (!str_starts_with(arch, STR("sm")) || !str_to_i64(str_of(arch.at + 2), &own))
        return 0;
    return (int)own;
}

// The kernel's generation, if it is older than the GPU's; else 0.
static int older_generation(const struct reason_case *the_case, int side,
                            const struct kernel_decoded *decoded)
{
    int own = generation_of(decoded);
    return own / 10 < gpu_arch_sm(the_case->gpus[side]) / 10 && generation_name(own) ? own : 0;
}

// The length whose digits start at *at, which moves past them.
static long read_length(struct str dims, size_t *at)
{
    const long most = 100000000;
    long length = 0;
    for (; *at < dims.len && str_is_digit(dims.at[*at]); (*at)++)
        length = length < most ? 10 * length + (dims.at[*at] - '0') : most;
    return length;
}

static bool is_odd(long length)
{
    return length > 1 && length % 2;
}

// The first length above 1 of the inputs' last two that is odd: data with it cannot be aligned.
static long odd_length(struct str dims)
{
    long before = 0, last = 0;
    for (size_t i = 0; i < dims.len;) {
        if (str_is_digit(dims.at[i])) {
            before = last;
            last = read_length(dims, &i);
            continue;
        }
        if (dims.at[i] == ']' && (is_odd(last) || is_odd(before)))
            return is_odd(last) ? last : before;
        if (dims.at[i] == '[')
            before = last = 0;
        i++;
    }
    return 0;
}

// The dimensions of the shape with the most time: rows come with the largest differences first.
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
    if (kernel_is_simt(&decoded[slow]))
        return false; // without tensor cores neither matters
    int older = older_generation(the_case, slow, &decoded[slow]);
    bool unaligned = decoded[slow].alignment == 1;
    int other = generation_of(&decoded[1 - slow]);
    if (older_generation(the_case, 1 - slow, &decoded[1 - slow]) == older ||
        (other && other < older))
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
