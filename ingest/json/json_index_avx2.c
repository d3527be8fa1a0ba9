// SPDX-License-Identifier: Apache-2.0
// Structural index with AVX2: x86-64 since 2013.
#include "ingest/json/json_index_block.h"

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2,bmi,pclmul,popcnt")))

AVX2 static inline uint64_t equal_mask(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return (uint64_t)b << 32 | a;
}

AVX2 static inline struct block_masks classify(const char *text)
{
    __m256i low = _mm256_loadu_si256((const void *)text);
    __m256i high = _mm256_loadu_si256((const void *)(text + 32));
    struct block_masks masks = {equal_mask(low, high, '"'), equal_mask(low, high, '\\'), 0};
    // Setting bit 5 turns [ into { and ] into }, and no other byte into either.
    __m256i bit = _mm256_set1_epi8(0x20);
    low = _mm256_or_si256(low, bit);
    high = _mm256_or_si256(high, bit);
    masks.bracket = equal_mask(low, high, '{') | equal_mask(low, high, '}');
    return masks;
}

// Writes the set bits as offsets, eight at a time: the surplus is overwritten by the next block.
AVX2 static inline uint32_t *flatten(uint64_t tokens, uint32_t base, uint32_t *out)
{
    uint32_t *end = out + __builtin_popcountll(tokens);
    while (out < end) {
#pragma GCC unroll 8 // without it -O2 keeps the loop, which takes a tenth of the index's time
        for (int i = 0; i < 8; i++) {
            out[i] = base + (uint32_t)_tzcnt_u64(tokens);
            tokens &= tokens - 1;
        }
        out += 8;
    }
    return end;
}

AVX2 size_t json_index_avx2(const char *text, size_t len, uint32_t base,
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

bool json_index_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
}

#endif
