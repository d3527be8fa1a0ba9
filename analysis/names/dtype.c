// SPDX-License-Identifier: Apache-2.0
// The tables of element types and precisions.
#include "analysis/names/dtype.h"
#include "analysis/kernel_names/kernel_decoded.h"

static const struct {
    const char *name;
    enum dtype dtype;
} names[] = {
    {"float", DTYPE_FP32},
    {"double", DTYPE_FP64},
    {"c10::Half", DTYPE_FP16},
    {"c10::BFloat16", DTYPE_BF16},
    {"long int", DTYPE_INT64},
    {"long", DTYPE_INT64},
    {"long long", DTYPE_INT64},
    {"unsigned long", DTYPE_INT64},
    {"int", DTYPE_INT32},
    {"unsigned int", DTYPE_INT32},
    {"short int", DTYPE_INT16},
    {"short", DTYPE_INT16},
    {"unsigned short", DTYPE_INT16},
    {"signed char", DTYPE_INT8},
    {"char", DTYPE_INT8},
    {"unsigned char", DTYPE_UINT8},
    {"bool", DTYPE_BOOL},
    {"c10::Float8_e4m3fn", DTYPE_FP8},
    {"c10::Float8_e4m3fnuz", DTYPE_FP8},
    {"c10::Float8_e5m2", DTYPE_FP8},
    {"c10::Float8_e5m2fnuz", DTYPE_FP8},
    {"c10::Float8_e8m0fnu", DTYPE_FP8},
    {"c10::Float4_e2m1fn_x2", DTYPE_FP4},
    {"c10::complex<c10::Half>", DTYPE_COMPLEX32},
    {"c10::complex<float>", DTYPE_COMPLEX64},
    {"c10::complex<double>", DTYPE_COMPLEX128},
};

enum dtype dtype_of_name(struct str name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str_of(names[i].name)))
            return names[i].dtype;
    return DTYPE_UNKNOWN;
}

enum dtype dtype_of_number(int64_t number)
{
    static const uint8_t numbers[] = {
        [0] = DTYPE_UINT8,     [1] = DTYPE_INT8,      [2] = DTYPE_INT16,       [3] = DTYPE_INT32,
        [4] = DTYPE_INT64,     [5] = DTYPE_FP16,      [6] = DTYPE_FP32,        [7] = DTYPE_FP64,
        [8] = DTYPE_COMPLEX32, [9] = DTYPE_COMPLEX64, [10] = DTYPE_COMPLEX128, [11] = DTYPE_BOOL,
        [15] = DTYPE_BF16,     [23] = DTYPE_FP8,      [24] = DTYPE_FP8,        [25] = DTYPE_FP8,
        [26] = DTYPE_FP8,      [27] = DTYPE_INT16,    [28] = DTYPE_INT32,      [29] = DTYPE_INT64,
        [44] = DTYPE_FP8,      [45] = DTYPE_FP4,
    };
    if (number < 0 || number >= (int64_t)sizeof numbers)
        return DTYPE_UNKNOWN;
    return (enum dtype)numbers[number];
}

int64_t dtype_bytes(enum dtype dtype)
{
    static const uint8_t bytes[DTYPE_COUNT] = {
        [DTYPE_BOOL] = 1,      [DTYPE_UINT8] = 1,     [DTYPE_INT8] = 1,        [DTYPE_INT16] = 2,
        [DTYPE_INT32] = 4,     [DTYPE_INT64] = 8,     [DTYPE_FP4] = 1,         [DTYPE_FP8] = 1,
        [DTYPE_BF16] = 2,      [DTYPE_FP16] = 2,      [DTYPE_FP32] = 4,        [DTYPE_FP64] = 8,
        [DTYPE_COMPLEX32] = 4, [DTYPE_COMPLEX64] = 8, [DTYPE_COMPLEX128] = 16,
    };
    return bytes[dtype];
}

bool dtype_is_floating(enum dtype dtype)
{
    return dtype >= DTYPE_FP4;
}

enum dtype dtype_promote(enum dtype a, enum dtype b)
{
    if (a == DTYPE_UNKNOWN || b == DTYPE_UNKNOWN)
        return DTYPE_UNKNOWN;
    if ((a == DTYPE_BF16 && b == DTYPE_FP16) || (a == DTYPE_FP16 && b == DTYPE_BF16))
        return DTYPE_FP32;
    if ((a == DTYPE_UINT8 && b == DTYPE_INT8) || (a == DTYPE_INT8 && b == DTYPE_UINT8))
        return DTYPE_INT16;
    if ((a == DTYPE_COMPLEX64 && b == DTYPE_FP64) || (a == DTYPE_FP64 && b == DTYPE_COMPLEX64))
        return DTYPE_COMPLEX128;
    return a > b ? a : b; // the list ascends within and across the categories
}

enum precision dtype_precision(enum dtype dtype)
{
    static const uint8_t precisions[DTYPE_COUNT] = {
        [DTYPE_UINT8] = PRECISION_INT8, [DTYPE_INT8] = PRECISION_INT8,
        [DTYPE_FP4] = PRECISION_FP4,    [DTYPE_FP8] = PRECISION_FP8,
        [DTYPE_BF16] = PRECISION_BF16,  [DTYPE_FP16] = PRECISION_FP16,
        [DTYPE_FP32] = PRECISION_FP32,  [DTYPE_FP64] = PRECISION_FP64,
    };
    return (enum precision)precisions[dtype];
}

// --- names of kernels ----------------------------------------------------------------------------

struct mark {
    const char *lower; // part of the name, in lower case
    enum precision precision;
};

// A mark that begins with '_' may also begin the name: the d of "GroupedGemm" is no type.
static bool has_mark(struct str kernel, struct str mark)
{
    struct str word = {mark.at + 1, mark.len - 1};
    struct str begin = {kernel.at, kernel.len < word.len ? kernel.len : word.len};
    return str_contains_nocase(kernel, mark) || (*mark.at == '_' && str_equal_nocase(begin, word));
}

static enum precision first_mark(const struct mark *marks, size_t count, struct str kernel)
{
    for (size_t i = 0; i < count; i++)
        if (has_mark(kernel, str_of(marks[i].lower)))
            return marks[i].precision;
    return PRECISION_NONE;
}

// Of the type that a library's grammar of names gives, where it is sure. It is sure enough of tf32:
// what runs in tensor cores has no product in fp32.
static enum precision decoded_precision(struct str kernel)
{
    static const uint8_t precisions[TYPE_COUNT] = {
        [TYPE_f64] = PRECISION_FP64,     [TYPE_f32] = PRECISION_FP32,
        [TYPE_tf32] = PRECISION_TF32,    [TYPE_bf16] = PRECISION_BF16,
        [TYPE_f16] = PRECISION_FP16,     [TYPE_fp8] = PRECISION_FP8,
        [TYPE_fp8_e4m3] = PRECISION_FP8, [TYPE_fp8_e5m2] = PRECISION_FP8,
        [TYPE_fp4_e2m1] = PRECISION_FP4, [TYPE_int8] = PRECISION_INT8,
        [TYPE_mxfp8] = PRECISION_FP8,    [TYPE_mxfp4] = PRECISION_FP4,
    };
    struct kernel_decoded decoded;
    kernel_decode(kernel, &decoded);
    bool sure = !(decoded.doubts & DOUBT_DTYPE) || decoded.dtype == TYPE_tf32;
    return sure ? (enum precision)precisions[decoded.dtype] : PRECISION_NONE;
}

static const struct mark tf32_marks[] = {
    {"tf32", PRECISION_TF32},
    {"xf32", PRECISION_TF32},
    {"tensorop_s1688gemm", PRECISION_TF32}, // CUTLASS: fp32 in tensor cores
    {"_s_mx_b", PRECISION_TF32},            // Tensile
};

enum precision precision_refine(enum precision precision, struct str kernel)
{
    if (precision != PRECISION_FP32)
        return precision;
    bool is_tf32 = first_mark(tf32_marks, sizeof tf32_marks / sizeof *tf32_marks, kernel) ||
                   decoded_precision(kernel) == PRECISION_TF32;
    return is_tf32 ? PRECISION_TF32 : PRECISION_FP32;
}

// Libraries' names for the types of a product; narrow types come first, since the wide type of the
// accumulator is in the same names. Exceptions before them: fp4 times fp8 runs at the rate of fp8,
// ue4m3 is the type of the scales of fp4, and bf16 in aiter's f4gemm_bf16 that of the result.
static const struct mark kernel_marks[] = {
    {"mxe2m1mxe4m3", PRECISION_FP8},
    {"ue4m3xf4", PRECISION_FP4},
    {"f4gemm_", PRECISION_FP4},
    {"i8gemm_", PRECISION_INT8},
    {"e2m1", PRECISION_FP4},
    {"mxfp4", PRECISION_FP4},
    {"nvfp4", PRECISION_FP4},
    {"e4m3", PRECISION_FP8},
    {"e5m2", PRECISION_FP8},
    {"fp8", PRECISION_FP8},
    {"float8", PRECISION_FP8},
    {"nvjet_qq", PRECISION_FP8},
    {"_f8_", PRECISION_FP8},
    {"f8f8", PRECISION_FP8},
    {"_f8b8", PRECISION_FP8},
    {"bf16", PRECISION_BF16},
    {"bfloat16", PRECISION_BF16},
    {"nvjet_t", PRECISION_BF16},
    {"_bbs_", PRECISION_BF16},
    {"_bss_", PRECISION_BF16},
    {"_bjlk_bb", PRECISION_BF16},
    {"_bljk_bb", PRECISION_BF16},
    {"fp16", PRECISION_FP16},
    {"f16", PRECISION_FP16},
    {"_hgemm", PRECISION_FP16},
    {"h884", PRECISION_FP16},
    {"h1688", PRECISION_FP16},
    {"h16816", PRECISION_FP16},
    {"__half", PRECISION_FP16},
    {"nvjet_h", PRECISION_FP16},
    {"_hhs_", PRECISION_FP16},
    {"_hss_", PRECISION_FP16},
    {"_bjlk_hh", PRECISION_FP16},
    {"_bljk_hh", PRECISION_FP16},
    {"tf32", PRECISION_TF32},
    {"xf32", PRECISION_TF32},
    {"tensorop_s1688gemm", PRECISION_TF32},
    {"_s_mx_b", PRECISION_TF32},
    {"i8i8", PRECISION_INT8},
    {"int8", PRECISION_INT8},
    {"imma", PRECISION_INT8},
    {"_dgemm", PRECISION_FP64},
    {"_bjlk_db", PRECISION_FP64},
    {"_bljk_db", PRECISION_FP64},
    {"d884", PRECISION_FP64},
    {"_sgemm", PRECISION_FP32},
    {"f32f32", PRECISION_FP32},
    {"_bjlk_s_", PRECISION_FP32},
    {"_bljk_s_", PRECISION_FP32},
    {"_bjlk_sb", PRECISION_FP32},
    {"_bljk_sb", PRECISION_FP32},
};

enum precision precision_of_kernel(struct str kernel)
{
    enum precision found =
        first_mark(kernel_marks, sizeof kernel_marks / sizeof *kernel_marks, kernel);
    return found ? found : decoded_precision(kernel);
}

const char *precision_word(enum precision precision)
{
    static const char *const words[PRECISION_COUNT] = {"unknown", "fp4",  "fp8",  "int8", "bf16",
                                                       "fp16",    "tf32", "fp32", "fp64"};
    return words[precision];
}
