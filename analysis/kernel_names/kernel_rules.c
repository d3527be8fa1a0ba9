// SPDX-License-Identifier: Apache-2.0
// Rules about words in names, and the libraries of namespaces.
#include "analysis/kernel_names/families.h"

#include "analysis/kernel_names/kernel_mangled.h"

static const struct {
    const char *space;
    enum kernel_library library;
} spaces[] = {
    {"at_cuda_detail*", LIBRARY_cub},
    {"cub", LIBRARY_cub},
    {"cub::*", LIBRARY_cub},
    {"*::cub", LIBRARY_cub},
    {"*::cub::*", LIBRARY_cub},
    {"rocprim*", LIBRARY_rocprim},
    {"hipcub*", LIBRARY_rocprim},
    {"at::*", LIBRARY_pytorch},
    {"at", LIBRARY_pytorch},
    {"c10d*", LIBRARY_pytorch},
    {"*pytorch_flash*", LIBRARY_flash_attn},
    {"vllm*", LIBRARY_vllm},
    {"sglang*", LIBRARY_sglang},
    {"sgl_*", LIBRARY_sglang},
    {"flashinfer*", LIBRARY_flashinfer},
    {"transformer_engine*", LIBRARY_transformer_engine},
    {"tensorrt_llm*", LIBRARY_tensorrt_llm},
    {"moe::dev*", LIBRARY_tensorrt_llm},
    {"fused_moe", LIBRARY_tensorrt_llm},
    {"aiter*", LIBRARY_aiter},
    {"ck_tile*", LIBRARY_ck_tile},
    {"ck", LIBRARY_ck},
    {"ck::*", LIBRARY_ck},
    {"fbgemm*", LIBRARY_fbgemm},
    {"nv_fbgemm*", LIBRARY_fbgemm},
    {"deep_gemm*", LIBRARY_deep_gemm},
    {"deep_ep*", LIBRARY_deep_ep},
    {"dpsk*", LIBRARY_deepseek},
    {"cudnn*", LIBRARY_cudnn},
    {"cask*cudnn*", LIBRARY_cudnn},
    {"cutlass_cudnn*", LIBRARY_cudnn},
    {"cutlass__5x_cudnn*", LIBRARY_cudnn},
    {"cusolver*", LIBRARY_cusolver},
    {"magma*", LIBRARY_magma},
    {"xformers*", LIBRARY_xformers},
    {"marlin*", LIBRARY_vllm},
    {"cublas*", LIBRARY_cublas},
};

enum kernel_library library_of_space(struct str space)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces && space.len; i++)
        if (kernel_matches(space, spaces[i].space))
            return spaces[i].library;
    return LIBRARY_NONE;
}

bool is_bare(const struct kernel_text *text)
{
    if (kernel_is_mangled(text->raw))
        return false;
    for (size_t i = 0; i < text->raw.len; i++) {
        char c = text->raw.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || str_is_digit(c) || c == '_'))
            return false;
    }
    return text->raw.len > 0;
}

static enum kernel_type nested_type(const struct kernel_args *args)
{
    struct kernel_args inner;
    for (size_t i = 0; i < args->count; i++) {
        kernel_args_of(args->at[i], &inner);
        enum kernel_type type = scan_first_float(&inner);
        if (type)
            return type;
    }
    return TYPE_NONE;
}

static enum kernel_type first_type(const struct kernel_args *args)
{
    enum kernel_type type = TYPE_NONE;
    for (size_t i = 0; i < args->count && !type; i++)
        type = scan_cpp_type(args->at[i]);
    return type;
}

static enum kernel_type type_of(const struct kernel_args *args, enum type_from from)
{
    switch (from) {
    case FROM_FIRST: return args->count ? scan_cpp_type(args->at[0]) : TYPE_NONE;
    case FROM_FLOAT: return scan_nth_float(args, 0);
    case FROM_SECOND: return scan_nth_float(args, 1);
    case FROM_TYPE: return first_type(args);
    case FROM_NESTED: return nested_type(args);
    case FROM_NOWHERE: break;
    }
    return TYPE_NONE;
}

bool apply_rules(const struct kernel_rule *rules, size_t count, const struct kernel_text *text,
                 struct kernel_decoded *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct kernel_rule *rule = &rules[i];
        if (!kernel_matches(text->base, rule->base) ||
            (rule->space && !kernel_matches(text->space, rule->space)))
            continue;
        out->library = rule->library ? rule->library : library_of_space(text->space);
        out->op = rule->op;
        out->func = rule->func;
        out->dtype = type_of(&text->args, rule->type);
        out->settled = text->base_cut ? 0 : DOUBT_ALL & ~(out->dtype ? 0 : DOUBT_DTYPE);
        if (!rule->library)
            out->settled |= DOUBT_LIBRARY;
        for (size_t f = 0; f < sizeof rule->flags / sizeof *rule->flags; f++)
            set_flag_if(out, rule->flags[f], rule->flags[f] != FLAG_NONE);
        return true;
    }
    return false;
}
