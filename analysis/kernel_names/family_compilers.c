// SPDX-License-Identifier: Apache-2.0
// Kernels of compilers: XLA's fusions and CuPy's functions.
#include "analysis/kernel_names/families.h"

static const struct kernel_rule xla[] = {
    {"", "gemm_fusion_*", LIBRARY_xla, OP_gemm, FROM_NOWHERE, {FLAG_triton}, 0},
    {"", "input_transpose_fusion*", LIBRARY_xla, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "loop_transpose_fusion*", LIBRARY_xla, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "wrapped_transpose*", LIBRARY_xla, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "wrapped_concatenate*", LIBRARY_xla, OP_cat, FROM_NOWHERE, {0}, 0},
    {"", "wrapped_reduce*", LIBRARY_xla, OP_fused_reduction, FROM_NOWHERE, {0}, 0},
    {"", "wrapped_scatter*", LIBRARY_xla, OP_scatter, FROM_NOWHERE, {0}, 0},
    {"", "input_concatenate_fusion*", LIBRARY_xla, OP_cat, FROM_NOWHERE, {0}, 0},
    {"", "input_scatter_fusion*", LIBRARY_xla, OP_scatter, FROM_NOWHERE, {0}, 0},
    {"", "input_*reduce*fusion*", LIBRARY_xla, OP_fused_reduction, FROM_NOWHERE, {0}, 0},
    {"", "input_reduce*", LIBRARY_xla, OP_fused_reduction, FROM_NOWHERE, {0}, 0},
    {"", "triton_softmax*", LIBRARY_xla, OP_fused_reduction, FROM_NOWHERE, {FLAG_triton}, 0},
    {"", "triton_gemm*", LIBRARY_xla, OP_gemm, FROM_NOWHERE, {FLAG_triton}, 0},
    {"", "loop_*fusion*", LIBRARY_xla, OP_fused_pointwise, FROM_NOWHERE, {0}, 0},
};

bool family_xla(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (!is_bare(text) || !apply_rules(xla, sizeof xla / sizeof *xla, text, out))
        return false;
    bool names_reduction = kernel_matches(text->base, "input_*") && out->op == OP_NONE &&
                           kernel_has(text->base, "reduce");
    if (names_reduction)
        out->op = OP_fused_reduction;
    return true;
}

static const struct {
    const char *word;
    enum kernel_op op;
    enum kernel_func func;
} cupy[] = {
    {"copy", OP_copy, 0},
    {"fill", OP_fill, 0},
    {"add", OP_elementwise, FUNC_add},
    {"subtract", OP_elementwise, FUNC_sub},
    {"multiply", OP_elementwise, FUNC_mul},
    {"true_divide", OP_elementwise, FUNC_div},
    {"floor_divide", OP_elementwise, FUNC_floor_divide},
    {"remainder", OP_elementwise, FUNC_remainder},
    {"power", OP_elementwise, FUNC_pow},
    {"sqrt", OP_elementwise, FUNC_sqrt},
    {"exp", OP_elementwise, FUNC_exp},
    {"log", OP_elementwise, FUNC_log},
    {"absolute", OP_elementwise, FUNC_abs},
    {"negative", OP_elementwise, FUNC_neg},
    {"maximum", OP_elementwise, FUNC_maximum},
    {"minimum", OP_elementwise, FUNC_minimum},
    {"clip", OP_elementwise, FUNC_clamp},
    {"where", OP_elementwise, FUNC_where},
    {"arange", OP_elementwise, FUNC_arange},
    {"sum", OP_reduce, FUNC_sum},
    {"mean", OP_reduce, FUNC_mean},
    {"prod", OP_reduce, FUNC_prod},
    {"amax", OP_reduce, FUNC_max},
    {"amin", OP_reduce, FUNC_min},
    {"max", OP_reduce, FUNC_max},
    {"min", OP_reduce, FUNC_min},
    {"argmax", OP_reduce, FUNC_argmax},
    {"argmin", OP_reduce, FUNC_argmin},
    {"take", OP_gather, 0},
};

static enum kernel_type numpy_type(struct str word)
{
    if (str_equal(word, STR("float64")))
        return TYPE_f64;
    if (str_equal(word, STR("float32")))
        return TYPE_f32;
    if (str_equal(word, STR("float16")))
        return TYPE_f16;
    return scan_type(word);
}

// cupy_true_divide__float64_float64_float64: function, then types of inputs and outputs.
bool family_cupy(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str start = STR("cupy_");
    if (!str_starts_with(text->base, start))
        return false;
    out->library = LIBRARY_cupy;
    struct str rest = {text->base.at + start.len, text->base.len - start.len};
    size_t types = str_find(rest, STR("__"));
    struct str word = {rest.at, types == SIZE_MAX ? rest.len : types};
    for (size_t i = 0; i < sizeof cupy / sizeof *cupy; i++)
        if (str_equal(word, str_of(cupy[i].word))) {
            out->op = cupy[i].op;
            out->func = cupy[i].func;
        }
    if (types == SIZE_MAX)
        return true;
    struct kernel_tokens tokens;
    kernel_tokens_of((struct str){rest.at + types + 2, rest.len - types - 2}, &tokens);
    out->dtype = tokens.count ? numpy_type(tokens.at[0]) : TYPE_NONE;
    return true;
}
