// SPDX-License-Identifier: Apache-2.0
// Readers of numbers, sizes and types in names.
#include "analysis/kernel_names/kernel_scan.h"

#include <assert.h>

static bool is_suffix(char c)
{
    return c == 'u' || c == 'l' || c == 'U' || c == 'L';
}

bool scan_number(struct str text, int32_t *number)
{
    while (text.len > 1 && is_suffix(text.at[text.len - 1]))
        text.len--;
    if (!text.len || text.len > 8)
        return false;
    int32_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!str_is_digit(text.at[i]))
            return false;
        value = 10 * value + (text.at[i] - '0');
    }
    *number = value;
    return true;
}

bool scan_after(struct str text, const char *prefix, int32_t *number)
{
    struct str start = str_of(prefix);
    return str_starts_with(text, start) &&
           str_is_digit(text.len > start.len ? text.at[text.len - 1] : ' ') &&
           scan_number((struct str){text.at + start.len, text.len - start.len}, number);
}

size_t scan_sizes(struct str text, int32_t *sizes, size_t max)
{
    size_t count = 0;
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.at[i] != 'x')
            continue;
        struct str part = {text.at + start, i - start};
        if (count == max || !part.len || !str_is_digit(part.at[part.len - 1]) ||
            !scan_number(part, &sizes[count]))
            return 0;
        count++;
        start = i + 1;
    }
    return count > 1 ? count : 0;
}

// --- types ---------------------------------------------------------------------------------------

struct type_word {
    const char *word;
    enum kernel_type type;
};

// Longer words before those they start with, for scan_type_prefix.
static const struct type_word words[] = {
    {"bfloat16", TYPE_bf16},   {"bf16", TYPE_bf16},       {"tf32", TYPE_tf32},
    {"fp16", TYPE_f16},        {"f16", TYPE_f16},         {"fp32", TYPE_f32},
    {"float", TYPE_f32},       {"f32", TYPE_f32},         {"fp64", TYPE_f64},
    {"double", TYPE_f64},      {"f64", TYPE_f64},         {"half", TYPE_f16},
    {"mxfp8", TYPE_mxfp8},     {"mxfp6", TYPE_mxfp6},     {"mxfp4", TYPE_mxfp4},
    {"f8e4m3", TYPE_fp8_e4m3}, {"f8e5m2", TYPE_fp8_e5m2}, {"e4m3", TYPE_fp8_e4m3},
    {"e5m2", TYPE_fp8_e5m2},   {"e2m1", TYPE_fp4_e2m1},   {"fp8", TYPE_fp8},
    {"fp4", TYPE_fp4_e2m1},    {"int8", TYPE_int8},       {"uint8", TYPE_uint8},
    {"int32", TYPE_int32},     {"uint32", TYPE_uint32},   {"int64", TYPE_int64},
    {"uint64", TYPE_uint64},   {"i8", TYPE_int8},         {"s8", TYPE_int8},
    {"u8", TYPE_uint8},        {"i32", TYPE_int32},       {"s32", TYPE_int32},
    {"u32", TYPE_uint32},      {"i64", TYPE_int64},       {"u64", TYPE_uint64},
    {"cf32", TYPE_c64},        {"cf64", TYPE_c128},
};

enum kernel_type scan_type(struct str word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(word, str_of(words[i].word)))
            return words[i].type;
    return TYPE_NONE;
}

enum kernel_type scan_type_prefix(struct str *text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_of(words[i].word);
        if (!str_starts_with(*text, word))
            continue;
        *text = (struct str){text->at + word.len, text->len - word.len};
        return words[i].type;
    }
    return TYPE_NONE;
}

static const struct type_word cpp[] = {
    {"float", TYPE_f32},
    {"double", TYPE_f64},
    {"Half", TYPE_f16},
    {"__half", TYPE_f16},
    {"half", TYPE_f16},
    {"half_t", TYPE_f16},
    {"_Float16", TYPE_f16},
    {"float16", TYPE_f16},
    {"float16_t", TYPE_f16},
    {"fp16_t", TYPE_f16},
    {"fp16", TYPE_f16},
    {"BFloat16", TYPE_bf16},
    {"__nv_bfloat16", TYPE_bf16},
    {"nv_bfloat16", TYPE_bf16},
    {"__hip_bfloat16", TYPE_bf16},
    {"hip_bfloat16", TYPE_bf16},
    {"__bf16", TYPE_bf16},
    {"bfloat16_t", TYPE_bf16},
    {"bfloat16", TYPE_bf16},
    {"bf16_t", TYPE_bf16},
    {"bf16", TYPE_bf16},
    {"bhalf_t", TYPE_bf16},
    {"tfloat32_t", TYPE_tf32},
    {"Float8_e4m3fn", TYPE_fp8_e4m3},
    {"Float8_e4m3fnuz", TYPE_fp8_e4m3},
    {"__nv_fp8_e4m3", TYPE_fp8_e4m3},
    {"__hip_fp8_e4m3", TYPE_fp8_e4m3},
    {"__hip_fp8_e4m3_fnuz", TYPE_fp8_e4m3},
    {"float_e4m3_t", TYPE_fp8_e4m3},
    {"float_ue4m3_t", TYPE_fp8_e4m3},
    {"fp8_e4m3", TYPE_fp8_e4m3},
    {"f8_fnuz_t", TYPE_fp8_e4m3},
    {"f8_ocp_t", TYPE_fp8_e4m3},
    {"f8_t", TYPE_fp8_e4m3},
    {"fp8_t", TYPE_fp8},
    {"Float8_e5m2", TYPE_fp8_e5m2},
    {"Float8_e5m2fnuz", TYPE_fp8_e5m2},
    {"__nv_fp8_e5m2", TYPE_fp8_e5m2},
    {"float_e5m2_t", TYPE_fp8_e5m2},
    {"fp8_e5m2", TYPE_fp8_e5m2},
    {"bf8_fnuz_t", TYPE_fp8_e5m2},
    {"bf8_t", TYPE_fp8_e5m2},
    {"float_e2m1_t", TYPE_fp4_e2m1},
    {"__nv_fp4_e2m1", TYPE_fp4_e2m1},
    {"Float4_e2m1fn_x2", TYPE_fp4_e2m1},
    {"long", TYPE_int64},
    {"long long", TYPE_int64},
    {"int64_t", TYPE_int64},
    {"int", TYPE_int32},
    {"int32_t", TYPE_int32},
    {"short", TYPE_int16},
    {"signed char", TYPE_int8},
    {"int8_t", TYPE_int8},
    {"unsigned long", TYPE_uint64},
    {"unsigned long long", TYPE_uint64},
    {"unsigned int", TYPE_uint32},
    {"unsigned char", TYPE_uint8},
    {"uint8_t", TYPE_uint8},
    {"bool", TYPE_bool},
    {"complex<float>", TYPE_c64},
    {"complex<double>", TYPE_c128},
    {"cuComplex", TYPE_c64},
    {"float2", TYPE_c64},
    {"double2", TYPE_c128},
};

enum kernel_type scan_cpp_type(struct str type)
{
    if (str_starts_with(type, STR("const ")))
        type = (struct str){type.at + 6, type.len - 6};
    while (type.len && (type.at[type.len - 1] == '*' || type.at[type.len - 1] == '&'))
        type.len--;
    if (kernel_matches(type, "* const"))
        type.len -= 6;
    while (type.len && type.at[type.len - 1] == ' ')
        type.len--;
    type = kernel_last_of(type);
    for (size_t i = 0; i < sizeof cpp / sizeof *cpp; i++)
        if (str_equal(type, str_of(cpp[i].word)))
            return cpp[i].type;
    return TYPE_NONE;
}

bool type_is_float(enum kernel_type type)
{
    return (type >= TYPE_f64 && type <= TYPE_mxfp4) || type == TYPE_c64 || type == TYPE_c128;
}

enum kernel_type scan_nth_float(const struct kernel_args *args, size_t n)
{
    for (size_t i = 0; i < args->count; i++) {
        enum kernel_type type = scan_cpp_type(args->at[i]);
        if (type_is_float(type) && n-- == 0)
            return type;
    }
    return TYPE_NONE;
}

enum kernel_type scan_first_float(const struct kernel_args *args)
{
    return scan_nth_float(args, 0);
}

size_t scan_tuple(struct str type, int32_t sizes[3])
{
    struct kernel_args parts;
    kernel_args_of(type, &parts);
    if (!kernel_matches(kernel_last_of(kernel_head_of(type)), "tuple") || parts.count > 3)
        return 0;
    for (size_t i = 0; i < parts.count; i++) {
        struct kernel_args constant;
        kernel_args_of(parts.at[i], &constant);
        if (!constant.count || !scan_number(constant.at[constant.count - 1], &sizes[i]))
            return 0;
    }
    return parts.count;
}

int scan_bool(const struct kernel_args *args, size_t index)
{
    if (index >= args->count)
        return -1;
    struct str arg = args->at[index];
    if (str_equal(arg, STR("true")) || str_equal(arg, STR("1")))
        return 1;
    return str_equal(arg, STR("false")) || str_equal(arg, STR("0")) ? 0 : -1;
}

bool scan_has_token(const struct kernel_tokens *tokens, const char *pattern)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (kernel_matches(tokens->at[i], pattern))
            return true;
    return false;
}

// --- fields --------------------------------------------------------------------------------------

static_assert(FLAG_COUNT <= 128, "two words of flags");

void doubt_unsettled(struct kernel_decoded *out)
{
    out->doubts |= DOUBT_ALL & ~out->settled;
}

void set_flag(struct kernel_decoded *out, enum kernel_flag flag)
{
    out->flags[flag / 64] |= UINT64_C(1) << (flag % 64);
}

void clear_flag(struct kernel_decoded *out, enum kernel_flag flag)
{
    out->flags[flag / 64] &= ~(UINT64_C(1) << (flag % 64));
}

void set_flag_if(struct kernel_decoded *out, enum kernel_flag flag, bool holds)
{
    if (holds)
        set_flag(out, flag);
}

bool kernel_has_flag(const struct kernel_decoded *decoded, enum kernel_flag flag)
{
    return decoded->flags[flag / 64] >> (flag % 64) & 1;
}

void read_opaque_size(struct str name, struct kernel_decoded *out)
{
    static const struct {
        const char *word;
        enum kernel_flag flag;
    } sizes[] = {{"OpaqueType<1", FLAG_elem1B},
                 {"OpaqueType<2", FLAG_elem2B},
                 {"OpaqueType<4", FLAG_elem4B},
                 {"OpaqueType<8", FLAG_elem8B},
                 {"OpaqueType<16", FLAG_elem16B}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t at = str_find(name, str_of(sizes[i].word));
        size_t end = at == SIZE_MAX ? name.len : at + strlen(sizes[i].word);
        bool complete = end < name.len && (name.at[end] == '>' || name.at[end] == 'u');
        set_flag_if(out, sizes[i].flag, complete);
    }
}

void set_tile(struct kernel_decoded *out, const int32_t *sizes, size_t count)
{
    for (size_t i = 0; i < count && i < 3; i++)
        out->tile[i] = sizes[i];
}

static void copy_text(char *to, size_t room, const char *prefix, struct str text)
{
    size_t len = strlen(prefix);
    if (!text.len || len + text.len >= room)
        return;
    memcpy(to, prefix, len);
    memcpy(to + len, text.at, text.len);
    to[len + text.len] = '\0';
}

// "90", "90a", "sm90": what follows the letters of the maker starts with a digit.
static bool is_arch(const char *prefix, struct str version)
{
    if (!*prefix && str_starts_with(version, STR("sm")))
        version = (struct str){version.at + 2, version.len - 2};
    for (size_t i = 0; i < version.len; i++)
        if (!str_is_digit(version.at[i]) && (i == 0 || version.at[i] < 'a' || version.at[i] > 'f'))
            return false;
    return version.len > 0;
}

void set_arch(struct kernel_decoded *out, const char *prefix, struct str version)
{
    if (is_arch(prefix, version))
        copy_text(out->arch, sizeof out->arch, prefix, version);
}

void set_layout(struct kernel_decoded *out, struct str layout)
{
    copy_text(out->layout, sizeof out->layout, "", layout);
}

void set_causal(struct kernel_decoded *out, int yes)
{
    if (yes >= 0)
        out->causal = yes ? KERNEL_CAUSAL_YES : KERNEL_CAUSAL_NO;
}
