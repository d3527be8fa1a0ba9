// SPDX-License-Identifier: Apache-2.0
// Operators with the same meaning under different names, each with its reason.
#include "analysis/names/op_alias.h"

#include <stdlib.h>

struct alias {
    const char *op, *name;
};

#define ATTENTION      "aten::scaled_dot_product_attention"
#define ATTENTION_BACK "aten::scaled_dot_product_attention_backward"

// Sorted by operator. Kinds of reasons:
// [library]  PyTorch calls the vendor's library where there is one: cuDNN, MIOpen, oneDNN, or its
//            own kernels; inputs and result are the same.
// [fused]    fused attention: PyTorch takes flash, memory-efficient or cuDNN attention by what the
//            device supports, and the flash_attn package the same under its own name.
// [version]  the operator was renamed or split between PyTorch versions.
static const struct alias aliases[] = {
    {"aten::_batch_norm_no_update", "aten::batch_norm"},                        // [version]
    {"aten::_batch_norm_with_update", "aten::batch_norm"},                      // [version]
    {"aten::_conv_depthwise2d", "aten::convolution"},                           // [library]
    {"aten::_cudnn_attention_forward", ATTENTION},                              // [fused]
    {"aten::_cudnn_ctc_loss", "aten::_ctc_loss"},                               // [library]
    {"aten::_cudnn_rnn", "aten::rnn"},                                          // [library]
    {"aten::_cudnn_rnn_backward", "aten::rnn_backward"},                        // [library]
    {"aten::_efficient_attention_backward", ATTENTION_BACK},                    // [fused]
    {"aten::_efficient_attention_forward", ATTENTION},                          // [fused]
    {"aten::_flash_attention_backward", ATTENTION_BACK},                        // [fused]
    {"aten::_flash_attention_forward", ATTENTION},                              // [fused]
    {"aten::_native_batch_norm_legit", "aten::batch_norm"},                     // [version]
    {"aten::_scaled_dot_product_cudnn_attention", ATTENTION},                   // [fused]
    {"aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION_BACK},     // [fused]
    {"aten::_scaled_dot_product_efficient_attention", ATTENTION},               // [fused]
    {"aten::_scaled_dot_product_efficient_attention_backward", ATTENTION_BACK}, // [fused]
    {"aten::_scaled_dot_product_flash_attention", ATTENTION},                   // [fused]
    {"aten::_scaled_dot_product_flash_attention_backward", ATTENTION_BACK},     // [fused]
    {"aten::_slow_conv2d_backward", "aten::convolution_backward"},              // [library]
    {"aten::_slow_conv2d_forward", "aten::convolution"},                        // [library]
    {"aten::cudnn_batch_norm", "aten::batch_norm"},                             // [library]
    {"aten::cudnn_batch_norm_backward", "aten::batch_norm_backward"},           // [library]
    {"aten::cudnn_convolution", "aten::convolution"},                           // [library]
    {"aten::cudnn_convolution_add_relu", "aten::convolution_add_relu"},         // [library]
    {"aten::cudnn_convolution_backward", "aten::convolution_backward"},         // [version]
    {"aten::cudnn_convolution_backward_input", "aten::convolution_backward"},   // [version]
    {"aten::cudnn_convolution_backward_weight", "aten::convolution_backward"},  // [version]
    {"aten::cudnn_convolution_relu", "aten::convolution_relu"},                 // [library]
    {"aten::cudnn_convolution_transpose", "aten::convolution"},                 // [library]
    {"aten::cudnn_grid_sampler", "aten::grid_sampler_2d"},                      // [library]
    {"aten::miopen_batch_norm", "aten::batch_norm"},                            // [library]
    {"aten::miopen_batch_norm_backward", "aten::batch_norm_backward"},          // [library]
    {"aten::miopen_convolution", "aten::convolution"},                          // [library]
    {"aten::miopen_convolution_add_relu", "aten::convolution_add_relu"},        // [library]
    {"aten::miopen_convolution_backward", "aten::convolution_backward"},        // [version]
    {"aten::miopen_convolution_backward_input", "aten::convolution_backward"},  // [version]
    {"aten::miopen_convolution_backward_weight", "aten::convolution_backward"}, // [version]
    {"aten::miopen_convolution_relu", "aten::convolution_relu"},                // [library]
    {"aten::miopen_convolution_transpose", "aten::convolution"},                // [library]
    {"aten::miopen_ctc_loss", "aten::_ctc_loss"},                               // [library]
    {"aten::miopen_depthwise_convolution", "aten::convolution"},                // [library]
    {"aten::miopen_rnn", "aten::rnn"},                                          // [library]
    {"aten::miopen_rnn_backward", "aten::rnn_backward"},                        // [library]
    {"aten::mkldnn_convolution", "aten::convolution"},                          // [library]
    {"aten::native_batch_norm", "aten::batch_norm"},                            // [library]
    {"aten::native_batch_norm_backward", "aten::batch_norm_backward"},          // [library]
    {"flash_attn::_flash_attn_backward", ATTENTION_BACK},                       // [fused]
    {"flash_attn::_flash_attn_forward", ATTENTION},                             // [fused]
};

static int compare_op(const void *key, const void *alias)
{
    const struct str *op = key;
    return str_compare(*op, str_of(((const struct alias *)alias)->op));
}

struct str op_alias_name(struct str op)
{
    const struct alias *found =
        bsearch(&op, aliases, sizeof aliases / sizeof *aliases, sizeof *aliases, compare_op);
    return found ? str_of(found->name) : op;
}

size_t op_alias_count(void)
{
    return sizeof aliases / sizeof *aliases;
}

struct str op_alias_at(size_t index)
{
    return str_of(aliases[index].op);
}
