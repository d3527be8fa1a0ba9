// SPDX-License-Identifier: Apache-2.0
// Copies and fills of CUDA's and ROCm's runtimes.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word;
    enum kernel_op op;
} starts[] = {
    {"Memcpy HtoD", OP_memcpy_h2d},
    {"Memcpy DtoH", OP_memcpy_d2h},
    {"Memcpy DtoD", OP_memcpy_d2d},
    {"Memcpy PtoP", OP_memcpy_p2p},
    {"Memcpy HtoH", OP_memcpy_h2h},
    {"[CUDA memcpy HtoD", OP_memcpy_h2d},
    {"[CUDA memcpy Host-to-Device", OP_memcpy_h2d},
    {"[CUDA memcpy DtoH", OP_memcpy_d2h},
    {"[CUDA memcpy Device-to-Host", OP_memcpy_d2h},
    {"[CUDA memcpy DtoD", OP_memcpy_d2d},
    {"[CUDA memcpy Device-to-Device", OP_memcpy_d2d},
    {"[CUDA memcpy PtoP", OP_memcpy_p2p},
    {"[CUDA memcpy Peer-to-Peer", OP_memcpy_p2p},
    {"CopyHostToDevice", OP_memcpy_h2d},
    {"CopyDeviceToHost", OP_memcpy_d2h},
    {"CopyDeviceToDevice", OP_memcpy_d2d},
    {"MEMORY_COPY_HOST_TO_DEVICE", OP_memcpy_h2d},
    {"MEMORY_COPY_DEVICE_TO_HOST", OP_memcpy_d2h},
    {"MEMORY_COPY_DEVICE_TO_DEVICE", OP_memcpy_d2d},
    {"Memset", OP_memset},
    {"[CUDA memset", OP_memset},
    {"FillBuffer", OP_memset},
};

// ROCm's copies and fills that run on the compute units.
static bool decode_blit(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct str start = STR("__amd_rocclr_");
    if (!str_starts_with(text->base, start))
        return false;
    out->library = LIBRARY_runtime;
    struct str what = {text->base.at + start.len, text->base.len - start.len};
    out->op = kernel_matches(what, "copy*") || kernel_matches(what, "stream*") ? OP_copy
              : kernel_matches(what, "fill*")                                  ? OP_memset
                                                                               : OP_NONE;
    set_flag_if(out, FLAG_blit, out->op != OP_NONE);
    return true;
}

bool family_runtime(const struct kernel_text *text, struct kernel_decoded *out)
{
    if (decode_blit(text, out))
        return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (!str_starts_with(text->raw, str_of(starts[i].word)))
            continue;
        out->library = LIBRARY_runtime;
        out->op = starts[i].op;
        set_flag_if(out, FLAG_pageable, str_contains_nocase(text->raw, STR("pageable")));
        set_flag_if(out, FLAG_pinned, str_contains_nocase(text->raw, STR("pinned")));
        return true;
    }
    return false;
}
