// SPDX-License-Identifier: Apache-2.0
// PyTorch's templates around a functor: vectorized_elementwise_kernel<4, CUDAFunctor_add<float>,
// ...>, reduce_kernel, multi_tensor_apply_kernel, random numbers, indexing.
#include "analysis/kernel_names/families.h"

struct functor {
    const char *pattern; // of the name of the functor or of the function that a lambda is in
    enum kernel_func func;
    enum kernel_op op; // OP_NONE: elementwise
};

// The first that matches decides; prefixes of others come after them.
static const struct functor functors[] = {
    {"direct_copy_kernel_cuda", FUNC_copy, OP_copy},
    {"bfloat16_copy_kernel_cuda", FUNC_copy, OP_copy},
    {"float16_copy_kernel_cuda", FUNC_copy, OP_copy},
    {"float8_copy_kernel_cuda", FUNC_copy, OP_copy},
    {"*tofloat32_copy_kernel_cuda", FUNC_copy, OP_copy},
    {"*copy_kernel_cuda", FUNC_copy, OP_copy},
    {"FillFunctor", FUNC_fill, OP_fill},
    {"fill_kernel_cuda", FUNC_fill, OP_fill},
    {"CUDAFunctor_add", FUNC_add, OP_NONE},
    {"CUDAFunctorOnSelf_add", FUNC_add, OP_NONE},
    {"CUDAFunctorOnOther_add", FUNC_add, OP_NONE},
    {"AddFunctor", FUNC_add, OP_NONE},
    {"MulFunctor", FUNC_mul, OP_NONE},
    {"DivFunctor", FUNC_div, OP_NONE},
    {"div_floor_kernel_cuda", FUNC_floor_divide, OP_NONE},
    {"div_trunc_kernel_cuda", FUNC_trunc_divide, OP_NONE},
    {"div_true_kernel_cuda", FUNC_div, OP_NONE},
    {"remainder_kernel_cuda", FUNC_remainder, OP_NONE},
    {"fmod_kernel_cuda", FUNC_remainder, OP_NONE},
    {"pow_tensor_*", FUNC_pow, OP_NONE},
    {"pow_scalar_*", FUNC_pow, OP_NONE},
    {"rsqrt_kernel_cuda", FUNC_rsqrt, OP_NONE},
    {"sqrt_kernel_cuda", FUNC_sqrt, OP_NONE},
    {"reciprocal_kernel_cuda", FUNC_reciprocal, OP_NONE},
    {"exp_kernel_cuda", FUNC_exp, OP_NONE},
    {"log_kernel_cuda", FUNC_log, OP_NONE},
    {"log2_kernel_cuda", FUNC_log2, OP_NONE},
    {"neg_kernel_cuda", FUNC_neg, OP_NONE},
    {"AbsFunctor", FUNC_abs, OP_NONE},
    {"abs_kernel_cuda", FUNC_abs, OP_NONE},
    {"sign_kernel_cuda", FUNC_sign, OP_NONE},
    {"ceil_kernel_cuda", FUNC_ceil, OP_NONE},
    {"floor_kernel_cuda", FUNC_floor, OP_NONE},
    {"sin_kernel_cuda", FUNC_sin, OP_NONE},
    {"cos_kernel_cuda", FUNC_cos, OP_NONE},
    {"launch_clamp_scalar", FUNC_clamp, OP_NONE},
    {"clamp_*", FUNC_clamp, OP_NONE},
    {"minimum_kernel_cuda", FUNC_minimum, OP_NONE},
    {"maximum_kernel_cuda", FUNC_maximum, OP_NONE},
    {"where_kernel_impl", FUNC_where, OP_NONE},
    {"masked_fill_kernel", FUNC_masked_fill, OP_NONE},
    {"masked_scale_kernel", FUNC_masked_scale, OP_NONE},
    {"CompareEqFunctor", FUNC_eq_ne, OP_NONE},
    {"CompareEQFunctor", FUNC_eq_ne, OP_NONE},
    {"CompareNEFunctor", FUNC_eq_ne, OP_NONE},
    {"eq_kernel_cuda", FUNC_eq_ne, OP_NONE},
    {"ne_kernel_cuda", FUNC_eq_ne, OP_NONE},
    {"CompareFunctor", FUNC_compare, OP_NONE},
    {"CompareGTFunctor", FUNC_compare, OP_NONE},
    {"CompareGEFunctor", FUNC_compare, OP_NONE},
    {"CompareLTFunctor", FUNC_compare, OP_NONE},
    {"CompareLEFunctor", FUNC_compare, OP_NONE},
    {"compare_*_kernel", FUNC_compare, OP_NONE},
    {"logical_and_kernel_cuda", FUNC_logical_and, OP_NONE},
    {"logical_not_kernel_cuda", FUNC_logical_not, OP_NONE},
    {"BitwiseAndFunctor", FUNC_bitwise_and, OP_NONE},
    {"BitwiseOrFunctor", FUNC_bitwise_or, OP_NONE},
    {"bitwise_and_kernel_cuda", FUNC_bitwise_and, OP_NONE},
    {"bitwise_or_kernel_cuda", FUNC_bitwise_or, OP_NONE},
    {"bitwise_not_kernel_cuda", FUNC_bitwise_not, OP_NONE},
    {"isnan_kernel*", FUNC_isnan, OP_NONE},
    {"isfinite*", FUNC_isfinite, OP_NONE},
    {"nan_to_num_kernel_cuda", FUNC_nan_to_num, OP_NONE},
    {"sigmoid_backward_kernel_cuda", FUNC_sigmoid_bwd, OP_NONE},
    {"sigmoid_kernel_cuda", FUNC_sigmoid, OP_NONE},
    {"launch_log_sigmoid_forward_kernel", FUNC_log_sigmoid, OP_NONE},
    {"log_sigmoid_forward*", FUNC_log_sigmoid, OP_NONE},
    {"tanh_backward_kernel_cuda", FUNC_tanh_bwd, OP_NONE},
    {"tanh_kernel_cuda", FUNC_tanh, OP_NONE},
    {"GeluBackwardCUDAKernelImpl", FUNC_gelu_bwd, OP_NONE},
    {"GeluCUDAKernelImpl", FUNC_gelu, OP_NONE},
    {"silu_backward_kernel", FUNC_silu_bwd, OP_NONE},
    {"silu_kernel", FUNC_silu, OP_NONE},
    {"relu_kernel*", FUNC_relu, OP_NONE},
    {"threshold_kernel_impl", FUNC_threshold, OP_NONE},
    {"elu_kernel", FUNC_elu, OP_NONE},
    {"logit_backward_kernel_cuda", FUNC_logit_bwd, OP_NONE},
    {"logit_kernel_cuda", FUNC_logit, OP_NONE},
    {"mse_backward_cuda_kernel", FUNC_mse_bwd, OP_NONE},
    {"mse_kernel_cuda", FUNC_mse, OP_NONE},
    {"smooth_l1_kernel_cuda", FUNC_smooth_l1, OP_NONE},
    {"lerp_*", FUNC_lerp, OP_NONE},
    {"addcmul_cuda*", FUNC_addcmul, OP_NONE},
    {"addcdiv_cuda*", FUNC_addcdiv, OP_NONE},
    {"arange_cuda_out", FUNC_arange, OP_NONE},
    {"dropout*", 0, OP_dropout},
};

static const struct functor *functor_of(struct str name)
{
    for (size_t i = 0; i < sizeof functors / sizeof *functors; i++)
        if (kernel_matches(name, functors[i].pattern))
            return &functors[i];
    return NULL;
}

// For a cut name: the function that all functors starting with it have in common.
static const struct functor *functor_of_start(struct str start)
{
    enum { TELLING = 4 };
    const struct functor *found = NULL;
    for (size_t i = 0; i < sizeof functors / sizeof *functors && start.len >= TELLING; i++) {
        if (!str_starts_with(str_of(functors[i].pattern), start))
            continue;
        if (found && (found->func != functors[i].func || found->op != functors[i].op))
            return NULL;
        found = &functors[i];
    }
    return found;
}

// The functor inside of gpu_kernel_impl<...>, BinaryFunctor<A, B, R, op> and the like; empty where
// the name ends before it.
static struct str unwrap(struct str functor, struct kernel_args *args)
{
    static const char *const wrappers[] = {"gpu_kernel_impl*", "*UnaryFunctor", "BinaryFunctor",
                                           "BinaryFunctorWithOp*", "opmath_*gpu_kernel*"};
    for (int depth = 0; depth < 4; depth++) {
        struct str name = kernel_last_of(kernel_head_of(functor));
        bool is_open = kernel_open_args_of(functor, args);
        bool wraps = false;
        for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
            wraps = wraps || kernel_matches(name, wrappers[i]);
        if (!wraps || !args->count)
            break;
        bool is_outer = kernel_matches(name, "gpu_kernel_impl*");
        bool has_types = kernel_matches(name, "*UnaryFunctor") || // A, B and R
                         kernel_matches(name, "BinaryFunctor*");
        if (is_open && has_types && args->count < 4)
            return (struct str){functor.at + functor.len, 0};
        functor = args->at[is_outer ? 0 : args->count - 1];
    }
    return functor;
}

// Splits "T, U)..." at its commas, up to the bracket that closes it; none if it does not close.
static void split_types(struct str rest, struct kernel_args *types)
{
    struct kernel_brackets open = {.depth = 0};
    size_t start = 0;
    for (size_t i = 0; i < rest.len && types->count < KERNEL_ARGS_MAX; i++) {
        char c = rest.at[i];
        bool closes = c == ')' && !open.depth;
        kernel_brackets_step(&open, rest, i);
        if (!closes && !(c == ',' && !open.depth))
            continue;
        types->at[types->count++] = (struct str){rest.at + start, i - start};
        if (closes)
            return;
        start = i + 1 + (i + 1 < rest.len && rest.at[i + 1] == ' ');
    }
    types->count = 0;
}

// The types of the last "{lambda(T, U)#1}" in text.
static void lambda_types(struct str text, struct kernel_args *types)
{
    struct str mark = STR("{lambda(");
    types->count = 0;
    for (size_t at = text.len; at >= mark.len; at--) {
        struct str rest = {text.at + at - mark.len, text.len - at + mark.len};
        if (!str_starts_with(rest, mark))
            continue;
        split_types((struct str){rest.at + mark.len, rest.len - mark.len}, types);
        return;
    }
}

// The type of a functor: of its first argument, or of what the lambda takes; for `where` that of
// the value.
static enum kernel_type type_of(struct str functor, const struct kernel_args *args,
                                enum kernel_func func)
{
    struct kernel_args types;
    lambda_types(functor, &types);
    if (types.count) {
        size_t value = func == FUNC_where && types.count > 1 ? 1 : 0;
        return scan_cpp_type(types.at[value]);
    }
    return args->count ? scan_cpp_type(args->at[0]) : TYPE_NONE;
}

static void read_copy(struct str name, struct kernel_decoded *out)
{
    if (kernel_matches(name, "*tofloat32_copy_kernel_cuda")) {
        out->dtype = TYPE_f32;
        set_flag(out, kernel_matches(name, "bfloat16*") ? FLAG_cast_from_bf16 : FLAG_cast_from_f16);
    } else if (str_equal(name, STR("bfloat16_copy_kernel_cuda"))) {
        out->dtype = TYPE_bf16;
        set_flag(out, FLAG_cast_to_bf16);
    } else if (str_equal(name, STR("float16_copy_kernel_cuda"))) {
        out->dtype = TYPE_f16;
        set_flag(out, FLAG_cast_to_f16);
    } else if (str_equal(name, STR("float8_copy_kernel_cuda"))) {
        out->dtype = TYPE_fp8;
        set_flag(out, FLAG_cast_to_fp8);
    }
}

// The part of a functor that names its function: what comes before its parameters.
static struct str name_of(struct str functor)
{
    return kernel_last_of(kernel_head_of(functor));
}

// BinaryFunctor<A, B, R, op> shows the element type, its op the type of the arithmetic.
static bool read_wrapped_type(struct str given, struct kernel_decoded *out)
{
    struct kernel_args outer;
    struct str whole = given;
    if (kernel_matches(name_of(given), "gpu_kernel_impl*")) {
        kernel_open_args_of(given, &outer);
        whole = outer.count ? outer.at[0] : given;
    }
    bool is_wrapped = kernel_matches(name_of(whole), "*UnaryFunctor") ||
                      kernel_matches(name_of(whole), "BinaryFunctor*");
    kernel_args_of(whole, &outer);
    if (!is_wrapped || !outer.count)
        return is_wrapped;
    out->dtype = scan_cpp_type(outer.at[0]);
    out->settled |= DOUBT_DTYPE;
    return true;
}

// Reads a functor as it is given: complete, or up to a cut.
static void read_functor(struct str given, bool is_open, struct kernel_decoded *out)
{
    struct kernel_args args;
    struct str inner = unwrap(given, &args);
    struct str name = name_of(inner);
    bool is_whole = (!is_open && !kernel_has(name, "...")) ||
                    (name.len && name.at + name.len < given.at + given.len);
    const struct functor *functor = is_whole ? functor_of(name) : functor_of_start(name);
    out->op = functor && functor->op ? functor->op : OP_elementwise;
    out->func = functor ? functor->func : FUNC_NONE;
    out->settled |= is_whole && functor ? DOUBT_OP | DOUBT_FUNC : 0; // others may be shortened
    if (!read_wrapped_type(given, out) && is_whole)
        out->dtype = type_of(inner, &args, out->func);
    if (out->op == OP_copy && is_whole)
        read_copy(name, out);
}

static void read_memory(const struct kernel_text *text, struct kernel_decoded *out)
{
    set_flag_if(out, FLAG_casting,
                kernel_has(text->name, "LoadWithCast") || kernel_has(text->name, "StoreWithCast"));
}

static bool decode_elementwise(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str base = text->base;
    bool vectorized = kernel_matches(base, "vectorized_elementwise_kernel*") ||
                      kernel_matches(base, "vectorized_templated_elementwise_kernel");
    bool unrolled = kernel_matches(base, "unrolled_*elementwise_kernel*");
    bool indexed = str_equal(base, STR("elementwise_kernel_with_index"));
    bool plain = kernel_matches(base, "elementwise_kernel*") && !indexed;
    if (!vectorized && !unrolled && !indexed && !plain)
        return false;
    bool modern = kernel_matches(text->space, "*modern");
    out->library = LIBRARY_pytorch;
    out->op = OP_elementwise;
    out->settled = DOUBT_LIBRARY | (text->base_cut ? 0 : DOUBT_REST | DOUBT_FLAGS);
    struct kernel_args args;
    bool is_open = kernel_open_args(text, &args);
    size_t at = 0;
    int32_t number = 0;
    while (at < text->args.count &&
           (scan_number(args.at[at], &number) || (indexed && scan_cpp_type(args.at[at]))))
        at++;
    if (vectorized && at)
        out->vec = number;
    set_flag_if(out, FLAG_unrolled, unrolled);
    set_flag_if(out, FLAG_strided, plain || modern);
    if (at < args.count)
        read_functor(args.at[at], is_open && at + 1 == args.count, out);
    else
        out->doubts |= DOUBT_OP; // copies and fills are such kernels too
    read_memory(text, out);
    return true;
}

// --- reductions ----------------------------------------------------------------------------------

static const struct functor reductions[] = {
    {"*sum_functor*", FUNC_sum, 0},
    {"*SumOps*", FUNC_sum, 0},
    {"*MeanOps*", FUNC_mean, 0},
    {"*WelfordOps*", FUNC_var, 0},
    {"*Norm*Ops*", FUNC_norm, 0},
    {"*ArgMaxOps*", FUNC_argmax, 0},
    {"*ArgMinOps*", FUNC_argmin, 0},
    {"*MaxNanFunctor*", FUNC_max, 0},
    {"*MinNanFunctor*", FUNC_min, 0},
    {"*MinMaxOps*", FUNC_NONE, 0}, // both
    {"*MaxOps*", FUNC_max, 0},
    {"*MinOps*", FUNC_min, 0},
    {"*max_functor*", FUNC_max, 0},
    {"*min_functor*", FUNC_min, 0},
    {"*and_kernel*", FUNC_all, 0},
    {"*or_kernel*", FUNC_any, 0},
    {"*prod_functor*", FUNC_prod, 0},
    {"*max_values_kernel*", FUNC_max, 0},
    {"*min_values_kernel*", FUNC_min, 0},
};

static bool decode_reduce(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    bool is_split = kernel_matches(text->base, "reduce_kernel");
    struct str reduce_op = kernel_instance(text->name, "ReduceOp<");
    if (!is_split || (!reduce_op.len && !kernel_matches(text->space, "at::native*")))
        return false;
    out->library = LIBRARY_pytorch;
    out->op = OP_reduce;
    out->settled = DOUBT_LIBRARY | DOUBT_OP | DOUBT_REST;
    bool is_open = kernel_open_args_of(reduce_op, &args);
    if (!is_open || args.count > 1)
        out->settled |= DOUBT_DTYPE;
    if (args.count)
        out->dtype = scan_cpp_type(args.at[0]);
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions && args.count > 1; i++)
        if (kernel_matches(args.at[1], reductions[i].pattern)) {
            out->func = reductions[i].func;
            return true;
        }
    return true;
}

// --- many tensors at once ------------------------------------------------------------------------

static const struct functor multi[] = {
    {"FusedAdam*", FUNC_adam, OP_optimizer},
    {"FusedSgd*", FUNC_sgd, OP_optimizer},
    {"FusedAdagrad*", 0, OP_optimizer},
    {"AdamFunctor*", FUNC_adam, OP_optimizer},
    {"AdamCapturable*", FUNC_adam, OP_optimizer},
    {"SGDFunctor*", FUNC_sgd, OP_optimizer},
    {"LAMB*", 0, OP_optimizer},
    {"Adagrad*", 0, OP_optimizer},
    {"DistAdam*", FUNC_adam, OP_optimizer},
    {"LpNormFunctor", FUNC_norm, OP_foreach},
    {"L2NormFunctor", FUNC_norm, OP_foreach},
    {"MaxNormFunctor", FUNC_norm, OP_foreach},
    {"UnscaleL2NormFunctor", FUNC_norm, OP_foreach},
    {"ScaleFunctor", FUNC_mul, OP_foreach},
    {"AxpbyFunctor", FUNC_add, OP_foreach},
    {"TernaryOp*Functor", FUNC_lerp, OP_foreach},
    {"CopyFunctor", FUNC_copy, OP_foreach},
    {"Copy", FUNC_copy, OP_foreach},
    {"ZeroFunctor", FUNC_fill, OP_foreach},
};

static const struct functor operations[] = {
    {"*_amp_foreach_non_finite_check*", FUNC_unscale_check, 0},
    {"*power_functor*", FUNC_pow, 0},
    {"*reverse_power_functor*", FUNC_pow, 0},
    {"*LerpFunctor*", FUNC_lerp, 0},
    {"*Rsqrt<*", FUNC_rsqrt, 0},
    {"*Sqrt<*", FUNC_sqrt, 0},
    {"*Reciprocal<*", FUNC_reciprocal, 0},
    {"*Abs<*", FUNC_abs, 0},
    {"*Exp<*", FUNC_exp, 0},
    {"*Log<*", FUNC_log, 0},
    {"*Sign<*", FUNC_sign, 0},
    {"*Sigmoid<*", FUNC_sigmoid, 0},
    {"*Tanh<*", FUNC_tanh, 0},
    {"*negate<*", FUNC_neg, 0},
    {"*minimum<*", FUNC_minimum, 0},
    {"*maximum<*", FUNC_maximum, 0},
    {"*CopyFunctor<*", FUNC_copy, 0},
    {"*Copy<*", FUNC_copy, 0},
};

static enum kernel_func arithmetic(struct str operation, bool is_pointwise)
{
    if (kernel_has(operation, "multiplies"))
        return is_pointwise ? FUNC_addcmul : FUNC_mul;
    if (kernel_has(operation, "divides"))
        return is_pointwise ? FUNC_addcdiv : FUNC_div;
    if (kernel_has(operation, "minus"))
        return FUNC_sub;
    if (kernel_has(operation, "plus"))
        return FUNC_add;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (kernel_matches(operation, operations[i].pattern))
            return operations[i].func;
    return FUNC_NONE;
}

// It comes after the list of tensors, and in older ones after a chunk.
static size_t functor_at(const struct kernel_args *args)
{
    size_t at = 0;
    while (at < args->count && !kernel_matches(name_of(args->at[at]), "*Functor*") &&
           !kernel_matches(name_of(args->at[at]), "Copy"))
        at++;
    return at;
}

// Without a namespace they are apex's, or DeepSpeed's, which are named alike.
static void take_library(struct str space, struct str functor, struct kernel_decoded *out)
{
    out->library = library_of_space(space);
    if (!out->library && library_of_space(functor) == LIBRARY_transformer_engine)
        out->library = LIBRARY_transformer_engine;
    else if (out->library)
        out->settled = DOUBT_LIBRARY;
    else
        out->doubts |= DOUBT_LIBRARY;
    out->library = out->library ? out->library : LIBRARY_apex;
}

static bool decode_multi_tensor(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_args args;
    if (!str_starts_with(text->base, STR("multi_tensor_apply_kernel")))
        return false;
    size_t at = functor_at(&text->args);
    struct str functor = at < text->args.count ? text->args.at[at] : STR("");
    take_library(text->space, functor, out);
    if (at == text->args.count) {
        out->op = kernel_has(text->name, "FusedOptimize") ? OP_optimizer : OP_NONE;
        return true;
    }
    struct str name = name_of(functor);
    kernel_args_of(functor, &args);
    out->op = OP_foreach;
    out->dtype = scan_first_float(&args);
    for (size_t i = 0; i < sizeof multi / sizeof *multi; i++)
        if (kernel_matches(name, multi[i].pattern)) {
            out->op = multi[i].op;
            out->func = multi[i].func;
            break;
        }
    if (out->func == FUNC_NONE && out->op == OP_foreach && at + 1 < text->args.count)
        out->func = arithmetic(text->args.at[at + 1], kernel_matches(name, "Pointwise*"));
    return true;
}

// --- random numbers and indexing -----------------------------------------------------------------

static bool decode_rng(const struct kernel_text *text, struct kernel_decoded *out)
{
    static const struct functor kinds[] = {
        {"normal_*", FUNC_normal, 0},
        {"uniform_*", FUNC_uniform, 0},
        {"exponential_*", FUNC_exponential, 0},
        {"bernoulli_*", FUNC_bernoulli, 0},
    };
    struct kernel_args args;
    if (!str_starts_with(text->base, STR("distribution_")))
        return false;
    out->library = LIBRARY_pytorch;
    out->op = OP_rng;
    out->settled = DOUBT_LIBRARY | DOUBT_OP;
    out->dtype = scan_first_float(&text->args);
    for (size_t i = 0; i < text->args.count; i++) {
        struct str name = name_of(text->args.at[i]);
        kernel_args_of(text->args.at[i], &args);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !out->func; k++)
            if (kernel_matches(name, kinds[k].pattern)) {
                out->func = kinds[k].func;
                enum kernel_type type = scan_first_float(&args);
                out->dtype = type ? type : out->dtype;
            }
    }
    return true;
}

static const struct {
    const char *word;
    enum kernel_op op;
} indexings[] = {
    {"index_put_kernel_impl", OP_index_put},
    {"index_copy_kernel_impl", OP_index_copy},
    {"index_fill_kernel_impl", OP_index_fill},
    {"index_kernel_impl", OP_gather},
    {"take_kernel", OP_gather},
    {"put_kernel", OP_index_put},
    {"take_put_kernel_template", OP_NONE},
};

static bool decode_indexing(const struct kernel_text *text, struct kernel_decoded *out)
{
    bool scatters = kernel_has(text->base, "scatter_gather_elementwise_kernel");
    bool indexes = kernel_matches(text->base, "index_elementwise_kernel*") ||
                   kernel_matches(text->base, "vectorized_index_*");
    if (!scatters && !indexes)
        return false;
    out->library = LIBRARY_pytorch;
    out->settled = DOUBT_LIBRARY;
    if (scatters) {
        bool says_direction = kernel_has(text->name, "_internal_kernel<");
        if (text->cut && !says_direction)
            return true;
        bool fills = kernel_has(text->name, "_cuda_scatter_fill_internal_kernel");
        bool writes = kernel_has(text->name, "_internal_kernel<true");
        out->op = fills || writes ? OP_scatter : OP_gather;
        set_flag_if(out, FLAG_fill, fills);
        set_flag_if(out, FLAG_add, kernel_has(text->name, "ReduceAdd"));
        return true;
    }
    read_opaque_size(text->name, out);
    for (size_t i = 0; i < sizeof indexings / sizeof *indexings; i++)
        if (kernel_has(text->name, indexings[i].word)) {
            out->op = indexings[i].op;
            return true;
        }
    return true;
}

bool family_elementwise(const struct kernel_text *text, struct kernel_decoded *out)
{
    return decode_elementwise(text, out) || decode_reduce(text, out) ||
           decode_multi_tensor(text, out) || decode_rng(text, out) || decode_indexing(text, out);
}
