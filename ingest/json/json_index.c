// SPDX-License-Identifier: Apache-2.0
// Structural index of JSON text byte by byte: the reference for the wide variants, which must agree
// with it on every input, and the choice among them.
#include "ingest/json/json_index_block.h"

size_t json_index_scalar(const char *text, size_t len, uint32_t base,
                         struct json_index_state *state, uint32_t *out)
{
    uint32_t *at = out;
    bool in_string = state->in_string, escaped = state->escaped;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool quote = c == '"' && !escaped;
        bool bracket = !in_string && (c == '{' || c == '}' || c == '[' || c == ']');
        if (quote || bracket)
            *at++ = base + (uint32_t)i;
        in_string ^= quote;
        escaped = c == '\\' && !escaped;
    }
    *state = (struct json_index_state){in_string, escaped};
    return (size_t)(at - out);
}

#if defined(__x86_64__)

const struct json_index *json_index_variants(void)
{
    static const struct json_index variants[] = {
        {"AVX-512", json_index_avx512},
        {"AVX2", json_index_avx2},
        {"scalar", json_index_scalar},
        {0},
    };
    if (json_index_has_avx512())
        return variants;
    return json_index_has_avx2() ? variants + 1 : variants + 2;
}

#else

const struct json_index *json_index_variants(void)
{
    static const struct json_index variants[] = {
#if defined(__aarch64__)
        {"NEON", json_index_neon},
#endif
        {"scalar", json_index_scalar},
        {0},
    };
    return variants;
}

#endif

json_index_fn *json_index_best(void)
{
    return json_index_variants()->run;
}
