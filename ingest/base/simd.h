// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes at a time, with what every x86-64 and every aarch64 has, and a scalar twin.
#ifndef INGEST_BASE_SIMD_H
#define INGEST_BASE_SIMD_H

#include <stdbool.h>
#include <stdint.h>

// Bytes that must be readable behind a text whose end is looked for with these functions.
#define SIMD_SLACK 16

// Each returns a mask: bit i speaks of byte i.
static inline uint32_t simd_equal16_scalar(const char *a, const char *b)
{
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (uint32_t)(a[i] == b[i]) << i;
    return mask;
}

static inline uint32_t simd_text_stops16_scalar(const char *at)
{
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (uint32_t)(at[i] == '"' || at[i] == '\\' || (signed char)at[i] < 0x20) << i;
    return mask;
}

static inline uint32_t simd_list_marks16_scalar(const char *at)
{
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++) {
        char folded = (char)(at[i] | 0x20);
        bool mark =
            at[i] == '"' || at[i] == '\0' || at[i] == '\\' || folded == '{' || folded == '}';
        mask |= (uint32_t)mark << i;
    }
    return mask;
}

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i simd_load16(const char *at)
{
    return _mm_loadu_si128((const void *)at);
}

static inline __m128i simd_is16(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static inline uint32_t simd_equal16(const char *a, const char *b)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(simd_load16(a), simd_load16(b)));
}

static inline uint32_t simd_text_stops16(const char *at)
{
    __m128i bytes = simd_load16(at);
    // As signed numbers, control characters and all beyond ASCII are less than a space.
    __m128i odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    __m128i marks = _mm_or_si128(simd_is16(bytes, '"'), simd_is16(bytes, '\\'));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(odd, marks));
}

static inline uint32_t simd_list_marks16(const char *at)
{
    __m128i bytes = simd_load16(at);
    __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); // [ becomes {, ] becomes }
    __m128i brackets = _mm_or_si128(simd_is16(folded, '{'), simd_is16(folded, '}'));
    __m128i marks = _mm_or_si128(simd_is16(bytes, '"'), simd_is16(bytes, '\\'));
    marks = _mm_or_si128(marks, simd_is16(bytes, '\0'));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(marks, brackets));
}

#else

static inline uint32_t simd_equal16(const char *a, const char *b)
{
    return simd_equal16_scalar(a, b);
}

static inline uint32_t simd_text_stops16(const char *at)
{
    return simd_text_stops16_scalar(at);
}

static inline uint32_t simd_list_marks16(const char *at)
{
    return simd_list_marks16_scalar(at);
}

#endif

#endif
