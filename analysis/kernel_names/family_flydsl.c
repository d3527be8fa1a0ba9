// SPDX-License-Identifier: Apache-2.0
// Kernels that FlyDSL makes for AMD's aiter, whose names list what they are made for.
#include "analysis/kernel_names/families.h"

static void read_layout(struct str word, struct kernel_decoded *out)
{
    char letters[2];
    for (size_t i = 0; i < word.len; i++)
        if (word.len != sizeof letters || (word.at[i] != 'T' && word.at[i] != 'N'))
            return;
    for (size_t i = 0; i < word.len; i++)
        letters[i] = word.at[i] == 'T' ? 't' : 'n';
    if (word.len)
        set_layout(out, (struct str){letters, sizeof letters});
}

// "hgemm_bf16_16x64x64x7_SPK4_W1x2x1_BLDS1_TN_AS1_0": the tile and stages, the parts of K.
static bool read_gemm(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    enum { PLACE = 2 };
    int32_t sizes[4], parts;
    enum kernel_type type = tokens->count > PLACE ? scan_type(tokens->at[PLACE - 1]) : TYPE_NONE;
    size_t count = type ? scan_sizes(tokens->at[PLACE], sizes, 4) : 0;
    if (count < 3)
        return false;
    out->op = OP_gemm;
    out->dtype = type;
    set_tile(out, sizes, 3);
    out->stages = count == 4 ? sizes[3] : 0;
    for (size_t i = PLACE + 1; i < tokens->count; i++) {
        read_layout(tokens->at[i], out);
        set_flag_if(out, FLAG_split_k, scan_after(tokens->at[i], "SPK", &parts) && parts > 1);
        set_flag_if(out, FLAG_bias, str_equal(tokens->at[i], STR("BIAS")));
    }
    return true;
}

// The type in "afp8" and "wfp4"; four bits have scales per 32 elements.
static enum kernel_type type_after(struct str word, char letter)
{
    if (word.len < 2 || word.at[0] != letter)
        return TYPE_NONE;
    word = (struct str){word.at + 1, word.len - 1};
    return str_equal(word, STR("fp4")) ? TYPE_mxfp4 : scan_type(word);
}

// "mfma_moe1_silu_mul_afp8_wfp4_fp8_t32x128x256_pm1": types of A, of B, and what is written.
static bool read_moe(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    int32_t tile[3];
    size_t at = 2;
    while (at + 2 < tokens->count && !type_after(tokens->at[at], 'a'))
        at++;
    if (at + 2 >= tokens->count || !type_after(tokens->at[at + 1], 'w'))
        return false;
    out->op = OP_moe_gemm;
    out->dtype = type_after(tokens->at[at], 'a');
    if (type_after(tokens->at[at + 1], 'w') != out->dtype)
        out->dtype_b = type_after(tokens->at[at + 1], 'w');
    struct str written = tokens->at[at + 2];
    out->dtype_out = str_equal(written, STR("fp4")) ? TYPE_mxfp4 : scan_type(written);
    for (size_t i = at + 3; i < tokens->count && !out->tile[0]; i++) {
        struct str word = tokens->at[i];
        if (word.len > 1 && word.at[0] == 't' &&
            scan_sizes((struct str){word.at + 1, word.len - 1}, tile, 3) == 3)
            set_tile(out, tile, 3);
    }
    set_flag_if(out, FLAG_silu, str_equal(tokens->at[2], STR("silu")));
    return true;
}

bool family_flydsl(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    kernel_tokens_of(text->base, &tokens);
    tokens.count -= text->cut && tokens.count ? 1 : 0;
    if (!is_bare(text) || !tokens.count)
        return false;
    bool is_moe = str_equal(tokens.at[0], STR("mfma")) && scan_has_token(&tokens, "moe*");
    bool is_gemm = str_equal(tokens.at[0], STR("hgemm"));
    if (!(is_gemm && read_gemm(&tokens, out)) && !(is_moe && read_moe(&tokens, out)))
        return false;
    out->library = LIBRARY_aiter;
    out->settled = DOUBT_LIBRARY | DOUBT_OP | DOUBT_DTYPE | (out->tile[0] ? DOUBT_TILE : 0);
    return true;
}
