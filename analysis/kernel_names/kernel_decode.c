// SPDX-License-Identifier: Apache-2.0
// Asks one grammar after the other; the first that knows the name decides.
#include "analysis/kernel_names/kernel_decoded.h"

#include "analysis/kernel_names/families.h"
#include "analysis/kernel_names/kernel_label.h"

// Special spellings before words that any library may use.
static kernel_family *const families[] = {
    family_runtime,
    family_inductor,
    family_nvjet,
    family_tensile,
    family_attention,
    family_cutlass3,
    family_cublas_sass,
    family_xmma,
    family_ggml,
    family_collectives,
    family_gemm_generators,
    family_ck,
    family_aiter,
    family_flydsl,
    family_cupy,
    family_xla,
    family_elementwise,
    family_primitives,
    family_pytorch,
    family_cudnn,
    family_miopen,
    family_cublas,
    family_serving,
    family_cutlass2,
    family_triton,
    family_libraries,
};

void kernel_decode(struct str name, struct kernel_decoded *decoded)
{
    struct kernel_text text;
    memset(decoded, 0, sizeof *decoded);
    kernel_text_read(name, &text);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i](&text, decoded))
            break;
    if (text.cut)
        doubt_unsettled(decoded);
    kernel_label(&text, decoded);
}

const char *kernel_algo_word(const struct kernel_decoded *decoded)
{
    static const char *const words[] = {NULL, "ring", "tree"};
    return words[decoded->algo];
}

const char *kernel_proto_word(const struct kernel_decoded *decoded)
{
    static const char *const words[] = {NULL, "ll", "ll128", "simple"};
    return words[decoded->proto];
}

bool kernel_is_simt(const struct kernel_decoded *decoded)
{
    return kernel_has_flag(decoded, FLAG_simt);
}
