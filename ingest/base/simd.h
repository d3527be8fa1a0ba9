// SPDX-License-Identifier: Apache-2.0
// One vector of bytes at a time, as wide as the including file is compiled for: 64 with AVX-512, 32
// with AVX2, 16 with the baseline of x86-64 and aarch64. Each function has a scalar twin.
#ifndef INGEST_BASE_SIMD_H
#define INGEST_BASE_SIMD_H

#include <stdbool.h>
#include <stdint.h>

// Bytes that must be readable after a text that is read in vectors of any width.
#define SIMD_SLACK 64

#if defined(__AVX512BW__)
#include <immintrin.h>
#define SIMD_BYTES 64
#elif defined(__AVX2__)
#include <immintrin.h>
#define SIMD_BYTES 32
#elif defined(__SSE2__)
#include <emmintrin.h>
#define SIMD_BYTES 16
#elif defined(__aarch64__)
#include <arm_neon.h>
#define SIMD_BYTES 16
#define SIMD_BITS  4 // the highest of the four is the byte's bit
#else
#define SIMD_BYTES 16
#endif

#ifndef SIMD_BITS
#define SIMD_BITS 1
#endif

// One bit per byte, the first byte lowest, SIMD_BITS apart.
typedef uint64_t simd_mask;

#define SIMD_EVERY (SIMD_BITS == 4 ? UINT64_C(0x8888888888888888) : UINT64_MAX)

static inline unsigned simd_first(simd_mask mask)
{
    return (unsigned)__builtin_ctzll(mask) / SIMD_BITS;
}

// The first count bytes, 1 to SIMD_BYTES.
static inline simd_mask simd_low(unsigned count)
{
    return SIMD_EVERY & UINT64_MAX >> (64 - SIMD_BITS * count);
}

// The bit of a given byte.
static inline simd_mask simd_bit(unsigned byte)
{
    return UINT64_C(1) << (SIMD_BITS * (byte + 1) - 1);
}

static inline simd_mask simd_equal_scalar(const char *a, const char *b)
{
    simd_mask mask = 0;
    for (unsigned i = 0; i < SIMD_BYTES; i++)
        mask |= a[i] == b[i] ? simd_bit(i) : 0;
    return mask;
}

static inline simd_mask simd_text_stops_scalar(const char *at)
{
    simd_mask mask = 0;
    for (unsigned i = 0; i < SIMD_BYTES; i++)
        mask |= at[i] == '"' || at[i] == '\\' || (signed char)at[i] < 0x20 ? simd_bit(i) : 0;
    return mask;
}

// Where a list has what: brackets and braces are treated alike; odd means backslashes and NULs.
struct simd_list {
    simd_mask quotes, opens, closes, odd;
};

static inline struct simd_list simd_list_scalar(const char *at)
{
    struct simd_list list = {0};
    for (unsigned i = 0; i < SIMD_BYTES; i++) {
        char c = at[i];
        list.quotes |= c == '"' ? simd_bit(i) : 0;
        list.opens |= c == '[' || c == '{' ? simd_bit(i) : 0;
        list.closes |= c == ']' || c == '}' ? simd_bit(i) : 0;
        list.odd |= c == '\\' || c == '\0' ? simd_bit(i) : 0;
    }
    return list;
}

// For every byte, whether the number of marked bytes up to and including it is odd.
static inline simd_mask simd_parity(simd_mask marks)
{
    for (unsigned shift = SIMD_BITS; shift < 64; shift *= 2)
        marks ^= marks << shift;
    return marks;
}

// simd_equal: where a and b have the same byte.
// simd_text_stops: quotes, backslashes, control characters and non-ASCII bytes.
// simd_list: see above.
#if SIMD_BYTES == 64

static inline simd_mask simd_is(__m512i bytes, char c)
{
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
}

static inline simd_mask simd_equal(const char *a, const char *b)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}

static inline simd_mask simd_text_stops(const char *at)
{
    __m512i bytes = _mm512_loadu_si512(at);
    // As signed numbers, control characters and all non-ASCII bytes are less than a space.
    return _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0x20)) | simd_is(bytes, '"') |
           simd_is(bytes, '\\');
}

static inline struct simd_list simd_list(const char *at)
{
    __m512i bytes = _mm512_loadu_si512(at);
    __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20)); // [ becomes {, ] becomes }
    return (struct simd_list){simd_is(bytes, '"'), simd_is(folded, '{'), simd_is(folded, '}'),
                              simd_is(bytes, '\\') | simd_is(bytes, '\0')};
}

#elif SIMD_BYTES == 32

static inline __m256i simd_is(__m256i bytes, char c)
{
    return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
}

static inline __m256i simd_load(const char *at)
{
    return _mm256_loadu_si256((const void *)at);
}

static inline simd_mask simd_mask_of(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

static inline simd_mask simd_equal(const char *a, const char *b)
{
    return simd_mask_of(_mm256_cmpeq_epi8(simd_load(a), simd_load(b)));
}

static inline simd_mask simd_text_stops(const char *at)
{
    __m256i bytes = simd_load(at), odd = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
    __m256i marks = _mm256_or_si256(simd_is(bytes, '"'), simd_is(bytes, '\\'));
    return simd_mask_of(_mm256_or_si256(odd, marks));
}

static inline struct simd_list simd_list(const char *at)
{
    __m256i bytes = simd_load(at);
    __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20)); // [ becomes {, ] becomes }
    __m256i odd = _mm256_or_si256(simd_is(bytes, '\\'), simd_is(bytes, '\0'));
    return (struct simd_list){simd_mask_of(simd_is(bytes, '"')), simd_mask_of(simd_is(folded, '{')),
                              simd_mask_of(simd_is(folded, '}')), simd_mask_of(odd)};
}

#elif defined(__SSE2__)

static inline __m128i simd_is(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static inline __m128i simd_load(const char *at)
{
    return _mm_loadu_si128((const void *)at);
}

static inline simd_mask simd_mask_of(__m128i bytes)
{
    return (uint32_t)_mm_movemask_epi8(bytes);
}

static inline simd_mask simd_equal(const char *a, const char *b)
{
    return simd_mask_of(_mm_cmpeq_epi8(simd_load(a), simd_load(b)));
}

static inline simd_mask simd_text_stops(const char *at)
{
    __m128i bytes = simd_load(at), odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    __m128i marks = _mm_or_si128(simd_is(bytes, '"'), simd_is(bytes, '\\'));
    return simd_mask_of(_mm_or_si128(odd, marks));
}

static inline struct simd_list simd_list(const char *at)
{
    __m128i bytes = simd_load(at);
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); // [ becomes {, ] becomes }
    __m128i odd = _mm_or_si128(simd_is(bytes, '\\'), simd_is(bytes, '\0'));
    return (struct simd_list){simd_mask_of(simd_is(bytes, '"')), simd_mask_of(simd_is(folded, '{')),
                              simd_mask_of(simd_is(folded, '}')), simd_mask_of(odd)};
}

#elif defined(__aarch64__)

static inline uint8x16_t simd_is(uint8x16_t bytes, char c)
{
    return vceqq_u8(bytes, vdupq_n_u8((uint8_t)c));
}

static inline uint8x16_t simd_load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline simd_mask simd_mask_of(uint8x16_t bytes)
{
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4);
    return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & SIMD_EVERY;
}

static inline simd_mask simd_equal(const char *a, const char *b)
{
    return simd_mask_of(vceqq_u8(simd_load(a), simd_load(b)));
}

static inline simd_mask simd_text_stops(const char *at)
{
    uint8x16_t bytes = simd_load(at);
    uint8x16_t odd = vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(0x20));
    return simd_mask_of(vorrq_u8(odd, vorrq_u8(simd_is(bytes, '"'), simd_is(bytes, '\\'))));
}

static inline struct simd_list simd_list(const char *at)
{
    uint8x16_t bytes = simd_load(at);
    uint8x16_t folded = vorrq_u8(bytes, vdupq_n_u8(0x20)); // [ becomes {, ] becomes }
    uint8x16_t odd = vorrq_u8(simd_is(bytes, '\\'), simd_is(bytes, '\0'));
    return (struct simd_list){simd_mask_of(simd_is(bytes, '"')), simd_mask_of(simd_is(folded, '{')),
                              simd_mask_of(simd_is(folded, '}')), simd_mask_of(odd)};
}

#else

static inline simd_mask simd_equal(const char *a, const char *b)
{
    return simd_equal_scalar(a, b);
}

static inline simd_mask simd_text_stops(const char *at)
{
    return simd_text_stops_scalar(at);
}

static inline struct simd_list simd_list(const char *at)
{
    return simd_list_scalar(at);
}

#endif

#endif
