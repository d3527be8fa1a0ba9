// SPDX-License-Identifier: Apache-2.0
// Kernels whose names are those of cuBLAS itself, and of MAGMA in it.
#include "analysis/kernel_names/families.h"

static const struct kernel_rule rules[] = {
    {NULL, "gemv2*", LIBRARY_cublas, OP_gemv, FROM_FLOAT, {0}, 0},
    {NULL, "gemvNSP*", LIBRARY_cublas, OP_gemv, FROM_FLOAT, {0}, 0},
    {"*internal::gemvx*", "kernel", LIBRARY_cublas, OP_gemv, FROM_FLOAT, {0}, 0},
    {"*gemvx", "*", LIBRARY_cublas, OP_gemv, FROM_FLOAT, {0}, 0},
    {NULL, "gemmk1_kernel", LIBRARY_cublas, OP_gemm, FROM_FLOAT, {0}, 0},
    {NULL, "gemmSN_*", LIBRARY_cublas, OP_gemm, FROM_FLOAT, {0}, 0},
    {NULL, "sgemm_largek*", LIBRARY_cublas, OP_gemm, FROM_NOWHERE, {FLAG_simt}, 0},
    {NULL, "dot_kernel", LIBRARY_cublas, OP_dot, FROM_FLOAT, {0}, 0},
    {NULL, "reduce_1Block_kernel", LIBRARY_cublas, OP_dot, FROM_FLOAT, {0}, 0},
    {NULL,
     "splitKreduce_kernel",
     LIBRARY_cublas,
     OP_gemm_splitk_reduce,
     FROM_NOWHERE,
     {FLAG_split_k},
     0},
    {"cublasLt*",
     "splitKreduce_kernel",
     LIBRARY_cublas,
     OP_gemm_splitk_reduce,
     FROM_NOWHERE,
     {FLAG_split_k},
     0},
    {NULL, "scal_kernel*", LIBRARY_cublas, OP_elementwise, FROM_FLOAT, {0}, FUNC_mul},
    {NULL, "axpy_kernel*", LIBRARY_cublas, OP_elementwise, FROM_FLOAT, {0}, FUNC_add},
    {NULL, "asum_kernel*", LIBRARY_cublas, OP_reduce, FROM_FLOAT, {0}, FUNC_sum},
    {"*epilogue::impl",
     "globalKernel",
     LIBRARY_cublas,
     OP_elementwise,
     FROM_NOWHERE,
     {FLAG_gemm_epilogue},
     0},
    {NULL, "magma_sgemm*", LIBRARY_magma, OP_gemm, FROM_NOWHERE, {FLAG_simt}, 0},
    {NULL, "magma_dgemm*", LIBRARY_magma, OP_gemm, FROM_NOWHERE, {0}, 0},
    {NULL, "magma_*", LIBRARY_magma, OP_linalg, FROM_NOWHERE, {0}, 0},
    {NULL, "trsm_*", LIBRARY_cublas, OP_linalg, FROM_FLOAT, {0}, 0},
    {NULL, "getrf*", LIBRARY_cusolver, OP_linalg, FROM_FLOAT, {0}, 0},
    {"", "xxtrf4_*", LIBRARY_cusolver, OP_linalg, FROM_NOWHERE, {0}, 0},
    {"cusolver*", "*", LIBRARY_cusolver, OP_linalg, FROM_FLOAT, {0}, 0},
};

// Words of anyone's linear algebra: cuBLAS passes them structures of its kind.
static bool is_common(const struct kernel_text *text)
{
    static const char *const patterns[] = {
        "dot_kernel", "scal_kernel*", "axpy_kernel*", "asum_kernel*", "gemv2*", "trsm_*", "getrf*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (kernel_matches(text->base, patterns[i]))
            return !text->space.len && !kernel_has(text->raw, "cublas");
    return false;
}

bool family_cublas(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!apply_rules(rules, sizeof rules / sizeof *rules, text, out))
        return false;
    if (is_common(text))
        out->doubts |= DOUBT_LIBRARY;
    if (kernel_matches(text->base, "gemv2*") && scan_nth_float(&text->args, 3))
        out->dtype_out = scan_nth_float(&text->args, 2); // A, x, y and the arithmetic
    if (kernel_has(text->base, "sgemm"))
        out->dtype = TYPE_f32;
    if (kernel_has(text->base, "dgemm"))
        out->dtype = TYPE_f64;
    return true;
}
