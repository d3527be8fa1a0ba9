// SPDX-License-Identifier: Apache-2.0
// MIOpen: igemm_fwd_gtcx3_nhwc_bf16_..._bt32x64x32_..., naive_conv_*, Winograd in assembly, norms.
#include "analysis/kernel_names/families.h"

static const struct {
    const char *word;
    enum kernel_op op;
} directions[] = {
    {"fwd", OP_conv_fwd},
    {"bwd", OP_conv_dgrad},
    {"wrw", OP_conv_wgrad},
};

static enum kernel_op direction_of(struct str token)
{
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (str_equal(token, str_of(directions[i].word)))
            return directions[i].op;
    return OP_NONE;
}

static bool is_layout(struct str token)
{
    return str_equal(token, STR("nhwc")) || str_equal(token, STR("nchw")) ||
           str_equal(token, STR("ndhwc")) || str_equal(token, STR("ncdhw"));
}

static void read_igemm_token(struct str token, struct kernel_decoded *out)
{
    static const char *const archs[][2] = {{"gtcx", "908"}, {"gtcx2", "90a"}, {"gtcx3", "942"}};
    int32_t tile[3];
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (str_equal(token, str_of(archs[i][0])))
            set_arch(out, "gfx", str_of(archs[i][1]));
    if (is_layout(token))
        set_layout(out, token);
    if (!out->dtype)
        out->dtype = scan_type(token);
    if (str_starts_with(token, STR("bt")) &&
        scan_sizes((struct str){token.at + 2, token.len - 2}, tile, 3) == 3)
        set_tile(out, tile, 3);
    set_flag_if(out, FLAG_split_k, str_equal(token, STR("gkgs")));
}

static bool decode_igemm(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("igemm_")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_miopen;
    out->op = direction_of(tokens.at[1]);
    out->op = out->op ? out->op : OP_conv;
    set_flag(out, FLAG_igemm);
    set_flag(out, FLAG_asm);
    size_t complete = tokens.count - 1;
    if (!text->cut && str_equal(tokens.at[complete], STR("gkgs")))
        complete++; // other last words say nothing, or are cut
    for (size_t i = 2; i < complete; i++)
        read_igemm_token(tokens.at[i], out);
    return true;
}

// naive_conv_ab_nonpacked_fwd_ncdhw_ushort_double_ushort: ushort is bf16.
static bool decode_naive(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("naive_conv_")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_miopen;
    out->op = OP_conv;
    set_flag(out, FLAG_naive);
    for (size_t i = 2; i < tokens.count - (text->cut ? 1 : 0); i++) {
        struct str token = tokens.at[i];
        if (direction_of(token))
            out->op = direction_of(token);
        if (is_layout(token))
            set_layout(out, token);
        else if (out->layout[0] && !out->dtype)
            out->dtype = str_equal(token, STR("ushort")) ? TYPE_bf16 : scan_type(token);
    }
    return true;
}

// miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1: the direction is not said.
static bool decode_winograd(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("miopenSp3AsmConv")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    out->library = LIBRARY_miopen;
    out->op = OP_conv;
    set_flag(out, FLAG_winograd);
    set_flag(out, FLAG_asm);
    for (size_t i = 1; i < tokens.count - (text->cut ? 1 : 0) && !out->dtype; i++)
        out->dtype = scan_type(tokens.at[i]);
    return true;
}

static const struct kernel_rule rules[] = {
    {"", "batched_transpose_*", LIBRARY_miopen, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "transpose_NCHW2CNHW*", LIBRARY_miopen, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "transpose_CNHW2NCHW*", LIBRARY_miopen, OP_transpose, FROM_NOWHERE, {0}, 0},
    {"", "SubTensorOpWithCast*", LIBRARY_miopen, OP_copy, FROM_NOWHERE, {FLAG_casting}, 0},
    {"", "SubTensorOpWithScalar*", LIBRARY_miopen, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"", "SubTensorOpWithSubTensor*", LIBRARY_miopen, OP_copy, FROM_NOWHERE, {0}, 0},
    {"", "SubTensorOpWithTransform*", LIBRARY_miopen, OP_copy, FROM_NOWHERE, {0}, 0},
    {"", "OpTensorFwdBias*", LIBRARY_miopen, OP_elementwise, FROM_NOWHERE, {0}, FUNC_add},
    {"", "OpTensor*", LIBRARY_miopen, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"", "Op*dTensor*", LIBRARY_miopen, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenBatchNormBwd*", LIBRARY_miopen, OP_batch_norm_bwd, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenBatchNormFwd*", LIBRARY_miopen, OP_batch_norm_fwd, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenBatchNormActivBwd*", LIBRARY_miopen, OP_batch_norm_bwd, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenBatchNormActiv*", LIBRARY_miopen, OP_batch_norm_fwd, FROM_NOWHERE, {0}, 0},
    {"", "Im2Col*", LIBRARY_miopen, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {"", "Im2d2Col*", LIBRARY_miopen, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {"", "Im3d2Col*", LIBRARY_miopen, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {"", "Col2Im*", LIBRARY_miopen, OP_conv_helper, FROM_NOWHERE, {0}, 0},
    {"", "miopenGcnAsmConv*WrW*", LIBRARY_miopen, OP_conv_wgrad, FROM_NOWHERE, {FLAG_asm}, 0},
    {"", "miopenGcnAsmConv*", LIBRARY_miopen, OP_conv, FROM_NOWHERE, {FLAG_asm}, 0},
    {"", "gcnAsmConv*", LIBRARY_miopen, OP_conv, FROM_NOWHERE, {FLAG_asm}, 0},
    {"", "MIOpenConv*", LIBRARY_miopen, OP_conv, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenCv*", LIBRARY_miopen, OP_conv, FROM_NOWHERE, {0}, 0},
    {"", "gridwise_convolution_implicit_gemm*", LIBRARY_miopen, OP_conv, FROM_NOWHERE, {0}, 0},
    {"", "miopenWinograd*", LIBRARY_miopen, OP_conv_helper, FROM_NOWHERE, {FLAG_winograd}, 0},
    {"", "mloPoolingBwd*", LIBRARY_miopen, OP_pool_bwd, FROM_NOWHERE, {0}, 0},
    {"", "mloPooling*Bwd", LIBRARY_miopen, OP_pool_bwd, FROM_NOWHERE, {0}, 0},
    {"", "mloPooling*", LIBRARY_miopen, OP_pool_fwd, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenSoftmaxBackward*", LIBRARY_miopen, OP_softmax_bwd, FROM_NOWHERE, {0}, 0},
    {"", "SoftmaxBackward*", LIBRARY_miopen, OP_softmax_bwd, FROM_NOWHERE, {0}, 0},
    {"", "SoftmaxForward*", LIBRARY_miopen, OP_softmax_fwd, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenNeuron*", LIBRARY_miopen, OP_elementwise, FROM_NOWHERE, {0}, 0},
    {"", "MIOpenLRN*", LIBRARY_miopen, OP_NONE, FROM_NOWHERE, {0}, 0},
    {"", "MIOpen*", LIBRARY_miopen, OP_NONE, FROM_NOWHERE, {0}, 0},
    {"", "miopen*", LIBRARY_miopen, OP_NONE, FROM_NOWHERE, {0}, 0},
};

bool family_miopen(const struct kernel_text *text, struct kernel_decoded *out)
{
    return decode_igemm(text, out) || decode_naive(text, out) || decode_winograd(text, out) ||
           apply_rules(rules, sizeof rules / sizeof *rules, text, out);
}
