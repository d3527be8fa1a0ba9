// SPDX-License-Identifier: Apache-2.0
// Structural index with AVX-512 and its byte compression (VBMI2): Ice Lake, Zen 4 and later.
#include "ingest/json/json_index_block.h"

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,pclmul,popcnt")))

AVX512 static inline uint64_t equal_mask(__m512i bytes, char c)
{
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
}

AVX512 static inline struct block_masks classify(const char *text)
{
    __m512i bytes = _mm512_loadu_si512(text);
    // Setting bit 5 turns [ into { and ] into }, and no other byte into either.
    __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    return (struct block_masks){
        .quote = equal_mask(bytes, '"'),
        .backslash = equal_mask(bytes, '\\'),
        .bracket = equal_mask(folded, '{') | equal_mask(folded, '}'),
    };
}

AVX512 static inline __m512i bytes_from_0_to_63(void)
{
    const uint64_t eight = 0x0808080808080808u, first = 0x0706050403020100u;
    return _mm512_setr_epi64(first, first + eight, first + 2 * eight, first + 3 * eight,
                             first + 4 * eight, first + 5 * eight, first + 6 * eight,
                             first + 7 * eight);
}

// Writes the set bits as offsets, 16 at a time: the surplus is overwritten by the next block.
AVX512 static inline uint32_t *flatten(uint64_t tokens, uint32_t base, uint32_t *out)
{
    uint32_t *end = out + __builtin_popcountll(tokens);
    __m512i from = _mm512_set1_epi32((int)base);
    __m512i places = _mm512_maskz_compress_epi8(tokens, bytes_from_0_to_63());
    do {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
        _mm512_storeu_si512(out, _mm512_add_epi32(wide, from));
        places = _mm512_alignr_epi64(places, places, 2);
        out += 16;
    } while (out < end);
    return end;
}

AVX512 size_t json_index_avx512(const char *text, size_t len, uint32_t base,
                                struct json_index_state *state, uint32_t *out)
{
    uint32_t *at = out;
    struct block_carry carry = block_carry_of(state);
    size_t i = 0;
    for (; i + BLOCK_BYTES <= len; i += BLOCK_BYTES) {
        struct block_masks masks = classify(text + i);
        at = flatten(block_tokens(&masks, &carry), base + (uint32_t)i, at);
    }
    *state = block_state_of(carry);
    return (size_t)(at - out) + json_index_scalar(text + i, len - i, base + (uint32_t)i, state, at);
}

bool json_index_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("pclmul") &&
           __builtin_cpu_supports("popcnt");
}

#endif
