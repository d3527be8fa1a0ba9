// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's just-in-time kernels, from Hopper on: nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT.
#include "analysis/kernel_names/families.h"

static enum kernel_type type_of_letter(char letter)
{
    switch (letter) {
    case 'h': return TYPE_f16;
    case 't': return TYPE_bf16;
    case 's': return TYPE_f32;
    case 'd': return TYPE_f64;
    case 'q': return TYPE_fp8_e4m3;
    case 'r': return TYPE_fp8_e5m2;
    case 'o': return TYPE_fp4_e2m1;
    default: return TYPE_NONE;
    }
}

// Three letters are A, accumulator and result; five A, B, C, accumulator and result.
static void read_types(struct str letters, struct kernel_decoded *out)
{
    if (letters.len != 3 && letters.len != 5)
        return;
    enum kernel_type types[5] = {0};
    for (size_t i = 0; i < letters.len; i++) {
        types[i] = type_of_letter(letters.at[i]);
        if (!types[i])
            return;
    }
    out->dtype = types[0];
    out->dtype_b = letters.len == 5 && types[1] != types[0] ? types[1] : TYPE_NONE;
    out->dtype_acc = types[letters.len == 5 ? 3 : 1];
    out->dtype_out = types[letters.len - 1];
    bool reads_tf32 = str_equal(letters, STR("sss")) || str_equal(letters, STR("sssss"));
    if (reads_tf32)
        out->dtype = TYPE_tf32;
    if (reads_tf32 || memchr(letters.at, 'o', letters.len))
        out->doubts |= DOUBT_DTYPE; // how others read these letters
}

static const struct {
    const char *word;
    enum kernel_flag flag;
} marks[] = {
    {"2cta", FLAG_N2sm},   {"h", FLAG_raster_h},         {"v", FLAG_raster_v},
    {"coopA", FLAG_coopA}, {"coopB", FLAG_coopB},        {"splitK", FLAG_split_k},
    {"bias", FLAG_bias},   {"relu", FLAG_epilogue_relu}, {"gelu", FLAG_epilogue_gelu},
};

static void read_mark(struct str token, struct kernel_decoded *out)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        set_flag_if(out, marks[i].flag, str_equal(token, str_of(marks[i].word)));
    if (!str_starts_with(token, STR("Avec")))
        return;
    set_flag(out, FLAG_block_scaled);
    if (kernel_matches(token, "Avec32UE8M0*") && out->dtype == TYPE_fp8_e4m3)
        out->dtype = TYPE_mxfp8;
}

// "TNN": transposition of A and B, and a letter or, of mma kernels, two of unknown meaning.
static bool read_layout(struct str token, struct kernel_decoded *out)
{
    char letters[2];
    if (token.len != 3 && token.len != 4)
        return false;
    for (size_t i = 0; i < token.len; i++)
        if (token.at[i] != 'T' && token.at[i] != 'N')
            return false;
    letters[0] = token.at[0] == 'T' ? 't' : 'n';
    letters[1] = token.at[1] == 'T' ? 't' : 'n';
    set_layout(out, (struct str){letters, 2});
    return true;
}

// "mma_64x128x64_8_32x64x64", of devices without wgmma: the tile, stages and the tile of a warp.
static size_t read_mma(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    int32_t tile[3];
    if (at + 3 >= tokens->count || !str_equal(tokens->at[at], STR("mma")) ||
        scan_sizes(tokens->at[at + 1], tile, 3) != 3)
        return at;
    set_tile(out, tile, 3);
    if (!scan_number(tokens->at[at + 2], &out->stages))
        out->stages = 0;
    return at + 3;
}

// The tile, K and stages, and the cluster: "256x128_64x4_1x2".
static size_t read_shape(const struct kernel_tokens *tokens, size_t at, struct kernel_decoded *out)
{
    int32_t tile[3];
    int32_t pipeline[2];
    int32_t cluster[2];
    if (at + 3 >= tokens->count || scan_sizes(tokens->at[at], tile, 2) != 2 ||
        scan_sizes(tokens->at[at + 1], pipeline, 2) != 2 ||
        scan_sizes(tokens->at[at + 2], cluster, 2) != 2)
        return at;
    tile[2] = pipeline[0];
    set_tile(out, tile, 3);
    out->stages = pipeline[1];
    memcpy(out->cluster, cluster, sizeof cluster);
    return at + 3;
}

bool family_nvjet(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    if (!str_starts_with(text->base, STR("nvjet_")))
        return false;
    kernel_tokens_of(text->base, &tokens);
    size_t at = 1;
    out->library = LIBRARY_cublas;
    out->op = OP_gemm;
    set_flag(out, FLAG_nvjet);
    if (at + 1 < tokens.count && str_starts_with(tokens.at[at], STR("sm")))
        set_arch(out, "", tokens.at[at++]);
    out->settled = DOUBT_LIBRARY | DOUBT_OP;
    if (at + 1 >= tokens.count)
        return true;
    read_types(tokens.at[at++], out);
    at = read_mma(&tokens, read_shape(&tokens, at, out), out);
    for (; at + 1 < tokens.count; at++)
        if (!read_layout(tokens.at[at], out))
            read_mark(tokens.at[at], out);
    bool ends = at < tokens.count && !text->cut && read_layout(tokens.at[at], out);
    bool may_have_scales = out->dtype == TYPE_fp8_e4m3 || out->dtype == TYPE_fp4_e2m1;
    out->settled = DOUBT_ALL & ~(may_have_scales ? DOUBT_DTYPE : 0u);
    if (!ends)
        doubt_unsettled(out);
    return true;
}
