// SPDX-License-Identifier: Apache-2.0
// Kernels of ggml, which llama.cpp runs: ggml/src/ggml-cuda, for HIP as well.
#include "analysis/kernel_names/families.h"

#define G LIBRARY_ggml

// Those whose names are no one else's.
static const struct kernel_rule rules[] = {
    {"", "mul_mat_vec_q*", G, OP_gemv, FROM_NOWHERE, {0}, 0},
    {"", "mul_mat_vec_f*", G, OP_gemv, FROM_FLOAT, {0}, 0},
    {"", "dequantize_mul_mat_vec*", G, OP_gemv, FROM_NOWHERE, {0}, 0},
    {"", "mul_mat_q_stream_k_fixup", G, OP_gemm_splitk_reduce, FROM_NOWHERE, {0}, 0},
    {"", "mul_mat_q*", G, OP_gemm, FROM_NOWHERE, {0}, 0},
    {"", "mul_mat_f*", G, OP_gemm, FROM_FLOAT, {0}, 0},
    {"", "quantize_q8_1", G, OP_quantize, FROM_NOWHERE, {0}, 0},
    {"", "quantize_mmq_q8_1", G, OP_quantize, FROM_NOWHERE, {0}, 0},
    {"", "k_get_rows*", G, OP_gather, FROM_NOWHERE, {0}, 0},
    {"", "k_set_rows*", G, OP_scatter, FROM_NOWHERE, {0}, 0},
    {"", "k_bin_bcast*", G, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"", "rms_norm_f32", G, OP_rms_norm_fwd, FROM_NOWHERE, {0}, 0},
    {"", "soft_max_f32", G, OP_softmax_fwd, FROM_NOWHERE, {0}, 0},
    {"", "rope_neox", G, OP_rope, FROM_NOWHERE, {0}, 0},
    {"", "rope_norm", G, OP_rope, FROM_NOWHERE, {0}, 0},
    {"", "ssm_conv_f32", G, OP_causal_conv1d, FROM_NOWHERE, {FLAG_fwd}, 0},
    {"", "ssm_scan_f32", G, OP_ssm_scan, FROM_NOWHERE, {FLAG_fwd}, 0},
    {"", "gated_delta_net_cuda", G, OP_linear_attention, FROM_NOWHERE, {FLAG_fwd}, 0},
};

bool family_ggml(const struct kernel_text *text, struct kernel_decoded *out)
{
    return apply_rules(rules, sizeof rules / sizeof *rules, text, out);
}
