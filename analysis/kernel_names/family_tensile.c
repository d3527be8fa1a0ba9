// SPDX-License-Identifier: Apache-2.0
// Tensile, the generator of rocBLAS and hipBLASLt:
// Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x128_MI16x16x1_SN_..._ISA942_...
#include "analysis/kernel_names/families.h"

static const struct {
    const char *letters;
    enum kernel_type type;
} types[] = {
    {"F8N", TYPE_fp8_e4m3}, {"B8N", TYPE_fp8_e5m2}, {"F8", TYPE_fp8_e4m3}, {"B8", TYPE_fp8_e5m2},
    {"F4", TYPE_fp4_e2m1},  {"I8", TYPE_int8},      {"B", TYPE_bf16},      {"H", TYPE_f16},
    {"S", TYPE_f32},        {"D", TYPE_f64},        {"I", TYPE_int32},     {"C", TYPE_c64},
    {"Z", TYPE_c128},
};

// The types that a word of letters lists, 0 if it lists anything else.
static size_t read_letters(struct str word, enum kernel_type found[4])
{
    size_t count = 0;
    while (word.len) {
        size_t i = 0;
        while (i < sizeof types / sizeof *types && !str_starts_with(word, str_of(types[i].letters)))
            i++;
        if (i == sizeof types / sizeof *types || count == 4)
            return 0;
        found[count++] = types[i].type;
        size_t taken = strlen(types[i].letters);
        word = (struct str){word.at + taken, word.len - taken};
    }
    return count;
}

// A, B if it differs, result, compute. A single type, or one with a B for beta, says less.
static void set_types(struct kernel_decoded *out, struct str word)
{
    enum kernel_type found[4];
    size_t count = read_letters(word, found);
    if (!count)
        return;
    out->dtype = found[0];
    bool high_precision = str_equal(word, STR("HBH")) || str_equal(word, STR("BBH"));
    if (high_precision) { // beta, and accumulation in f32
        out->dtype_out = found[0];
        out->dtype_acc = TYPE_f32;
    } else if (count >= 3) {
        out->dtype_b = count == 4 && found[1] != found[0] ? found[1] : TYPE_NONE;
        out->dtype_out = found[count - 2];
        out->dtype_acc = found[count - 1];
    } else if (count == 2 && found[1] == TYPE_bf16) {
        out->dtype_out = found[0];
    }
}

// "F8H_HHS": A and B, then result and compute. Letters of beta are not such a pair.
static bool set_mixed_types(struct kernel_decoded *out, struct str pair, struct str word)
{
    enum kernel_type operands[4];
    enum kernel_type found[4];
    size_t count = read_letters(word, found);
    if (read_letters(pair, operands) != 2 || count < 3)
        return false;
    out->dtype = operands[0];
    out->dtype_b = operands[1] != operands[0] ? operands[1] : TYPE_NONE;
    out->dtype_out = found[count - 2];
    out->dtype_acc = found[count - 1];
    return true;
}

static char transposition(struct str index, const char *plain, const char *transposed)
{
    if (str_starts_with(index, str_of(plain)))
        return 'n';
    return str_starts_with(index, str_of(transposed)) ? 't' : '\0';
}

static void read_layout(const struct kernel_tokens *tokens, struct kernel_decoded *out)
{
    char layout[2] = {transposition(tokens->at[1], "Ailk", "Alik"),
                      transposition(tokens->at[2], "Bljk", "Bjlk")};
    if (layout[0] && layout[1])
        set_layout(out, (struct str){layout, 2});
}

// "HA", "A_", "HAS": what the kernel could do, not what it did.
static bool is_activation(struct str token)
{
    if (token.len && *token.at == 'H')
        token = (struct str){token.at + 1, token.len - 1};
    return token.len && *token.at == 'A' &&
           (token.len == 1 || (token.len == 2 && strchr("SHB", token.at[1])));
}

static void read_stream_k(struct str token, struct kernel_decoded *out)
{
    int32_t number;
    set_flag_if(out, FLAG_stream_k, scan_after(token, "SK", &number) && number > 0);
}

static void read_abilities(struct str token, struct kernel_decoded *out)
{
    set_flag_if(out, FLAG_bias_capable, str_starts_with(token, STR("Bias")));
    set_flag_if(out, FLAG_activation_capable, is_activation(token));
    if (str_equal(token, STR("GG")))
        out->op = OP_grouped_gemm;
    if (str_equal(token, STR("MX")) && out->dtype == TYPE_f32)
        out->dtype = TYPE_tf32;
    if (str_equal(token, STR("UserArgs")) || str_starts_with(token, STR("Bias")))
        out->library = LIBRARY_hipblaslt;
    read_stream_k(token, out); // of kernels written by hand
}

static void read_solution(struct str token, struct kernel_decoded *out)
{
    int32_t sizes[4];
    int32_t number;
    if (str_starts_with(token, STR("MI"))) {
        size_t count = scan_sizes((struct str){token.at + 2, token.len - 2}, sizes, 4);
        set_flag_if(out, FLAG_mfma, count >= 3);
        if (count >= 3)
            out->library = count == 4 ? LIBRARY_rocblas : LIBRARY_hipblaslt;
    }
    if (str_starts_with(token, STR("ISA")) && token.len > 3 && token.at[3] != '0')
        set_arch(out, "gfx", (struct str){token.at + 3, token.len - 3});
    if (str_starts_with(token, STR("gfx")))
        set_arch(out, "gfx", (struct str){token.at + 3, token.len - 3});
    set_flag_if(out, FLAG_split_k, scan_after(token, "GSU", &number) && number > 1);
    read_stream_k(token, out);
}

static bool read_tile(struct str token, struct kernel_decoded *out)
{
    int32_t tile[3];
    if (!str_starts_with(token, STR("MT")))
        return false;
    size_t count = scan_sizes((struct str){token.at + 2, token.len - 2}, tile, 3);
    set_tile(out, tile, count == 3 ? 3 : 0);
    return count == 3;
}

// The name of an instruction is the same for both kinds of matrix cores: RDNA and its successors
// have WMMA, and which device it is comes after the instruction.
static void read_cores(struct kernel_decoded *out)
{
    bool is_rdna = str_starts_with(str_of(out->arch), STR("gfx1"));
    if (!kernel_has_flag(out, FLAG_mfma))
        return;
    if (!out->arch[0])
        out->doubts |= DOUBT_FLAGS;
    if (!is_rdna)
        return;
    clear_flag(out, FLAG_mfma);
    set_flag(out, FLAG_wmma);
}

// Each kernel's name continues after its tile: the last word of one that ends before may be cut.
static void read_words(const struct kernel_tokens *tokens, bool cut, struct kernel_decoded *out)
{
    bool has_tile = false;
    size_t at = 4;
    for (; at + 1 < tokens->count; at++) {
        struct str token = tokens->at[at];
        if (has_tile)
            read_solution(token, out);
        else if (!read_tile(token, out))
            read_abilities(token, out);
        has_tile = has_tile || out->tile[0];
    }
    // A truncated instruction still counts as one.
    set_flag_if(out, FLAG_mfma,
                has_tile && str_starts_with(tokens->at[at], STR("MI")) && tokens->at[at].len > 3);
    if (has_tile && !cut && str_starts_with(tokens->at[at], STR("gfx")))
        read_solution(tokens->at[at], out);
    read_cores(out);
}

bool family_tensile(const struct kernel_text *text, struct kernel_decoded *out)
{
    struct kernel_tokens tokens;
    struct str name = text->base;
    if (str_starts_with(name, STR("Custom_")))
        name = (struct str){name.at + 7, name.len - 7};
    if (!str_starts_with(name, STR("Cijk_")))
        return false;
    kernel_tokens_of(name, &tokens);
    if (kernel_has(name, "_PostGSU")) {
        out->op = OP_gemm_splitk_reduce;
        out->library = LIBRARY_hipblaslt;
        set_flag(out, FLAG_split_k);
        return true;
    }
    if (tokens.count < 4 || tokens.at[1].len < 4 || *tokens.at[1].at != 'A')
        return true; // a helper
    out->op = OP_gemm;
    read_layout(&tokens, out);
    if (tokens.count > 4 && !set_mixed_types(out, tokens.at[3], tokens.at[4]))
        set_types(out, tokens.at[3]);
    read_words(&tokens, text->cut, out);
    out->settled = DOUBT_TILE | DOUBT_REST | DOUBT_FLAGS;
    if (out->tile[0])
        out->settled |= DOUBT_OP | DOUBT_DTYPE | DOUBT_TYPES;
    else
        doubt_unsettled(out);
    return true;
}
