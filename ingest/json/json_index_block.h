// SPDX-License-Identifier: Apache-2.0
// Code shared by the variants of the structural index: from the masks of 64 bytes to offsets.
// Private to json_index_*.c; bit i of a mask is for byte i.
#ifndef INGEST_JSON_INDEX_BLOCK_H
#define INGEST_JSON_INDEX_BLOCK_H

#include "ingest/json/json_index.h"

#if defined(__x86_64__)
json_index_fn json_index_avx2, json_index_avx512;
bool json_index_has_avx2(void);
bool json_index_has_avx512(void); // implies AVX2
#elif defined(__aarch64__)
json_index_fn json_index_neon;
#endif

// Each variant is one function compiled for its processor, with all of this inlined.
#define BLOCK_INLINE static inline __attribute__((always_inline))

#define BLOCK_BYTES 64

struct block_masks {
    uint64_t quote, backslash, bracket;
};

// struct json_index_state in the form the masks need.
struct block_carry {
    uint64_t escaped; // 1: the first byte of the next block follows a backslash
    uint64_t inside;  // all ones: the next block starts inside a string
};

BLOCK_INLINE struct block_carry block_carry_of(const struct json_index_state *state)
{
    return (struct block_carry){state->escaped, state->in_string ? UINT64_MAX : 0};
}

BLOCK_INLINE struct json_index_state block_state_of(struct block_carry carry)
{
    return (struct json_index_state){carry.inside != 0, carry.escaped != 0};
}

// Bytes that follow an odd run of backslashes. The carry of one subtraction separates runs that
// start at even and at odd positions (simdjson's method).
BLOCK_INLINE uint64_t block_escaped(uint64_t backslash, struct block_carry *carry)
{
    const uint64_t odd = 0xAAAAAAAAAAAAAAAAu;
    uint64_t first = carry->escaped;
    carry->escaped = 0;
    if (!backslash)
        return first;
    uint64_t starts = backslash & ~first;
    uint64_t ends = (((starts << 1) | odd) - starts) ^ odd;
    carry->escaped = (ends & backslash) >> 63;
    return ends ^ (backslash | first);
}

#if defined(__x86_64__)
#include <immintrin.h>

// Bit i becomes the parity of bits 0..i.
__attribute__((target("pclmul"))) static inline uint64_t block_parity(uint64_t bits)
{
    __m128i ones = _mm_set1_epi8((char)0xFF);
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), ones, 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#else

static inline uint64_t block_parity(uint64_t bits)
{
    for (int shift = 1; shift < BLOCK_BYTES; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

#endif

// The bytes to index: quotes, and brackets outside strings.
BLOCK_INLINE uint64_t block_tokens(const struct block_masks *masks, struct block_carry *carry)
{
    uint64_t quotes = masks->quote & ~block_escaped(masks->backslash, carry);
    uint64_t in_string = block_parity(quotes) ^ carry->inside;
    carry->inside = (uint64_t)((int64_t)in_string >> 63);
    return quotes | (masks->bracket & ~in_string);
}

#endif
