// SPDX-License-Identifier: Apache-2.0
// The anchor search with AVX2: x86-64 since 2013.
#include "ingest/base/secret_anchors.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi")))
#define STEP ((size_t)32)

// secret_anchor_sets split by a byte's low and high half; a byte's sets are among those common to
// both halves.
static const uint8_t low[SECRET_ANCHOR_BYTES][16] = {
    {0xc0, 0x93, 0x01, 0x8c, 0x12, 0x70, 0x80, 0x82, 0x18, 0x48, 0x09, 0xc0, 0x00, 0x20, 0x04,
     0x01},
    {0x05, 0x81, 0x60, 0x2f, 0x30, 0x91, 0x08, 0xc4, 0x82, 0xa1, 0x00, 0x0d, 0x0a, 0x00, 0x00,
     0x5b},
    {0x86, 0x0d, 0x36, 0x84, 0x46, 0xa4, 0x04, 0x0c, 0x1c, 0x85, 0xa0, 0x12, 0x40, 0x4c, 0x04,
     0x0b},
};
static const uint8_t high[SECRET_ANCHOR_BYTES][16] = {
    {0x00, 0x00, 0x20, 0x09, 0xf7, 0xdc, 0xff, 0xd8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
     0x00},
    {0x00, 0x00, 0x01, 0x02, 0xf5, 0xd9, 0xfb, 0xfd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
     0x00},
    {0x00, 0x00, 0x0d, 0x44, 0x75, 0xea, 0x77, 0xea, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
     0x00},
};

AVX2 static inline __m256i load_sets(const uint8_t *sets)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)sets));
}

AVX2 static inline __m256i sets_of(const char *from, unsigned place)
{
    const __m256i half = _mm256_set1_epi8(0x0f);
    __m256i bytes = _mm256_loadu_si256((const void *)(from + place));
    __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    return _mm256_and_si256(
        _mm256_shuffle_epi8(load_sets(low[place]), _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(load_sets(high[place]), upper));
}

AVX2 bool secret_anchor_wide_avx2(struct str text, size_t *at)
{
    size_t i = *at;
    for (; i + STEP + 2 <= text.len; i += STEP) {
        const char *from = text.at + i;
        __m256i sets = _mm256_and_si256(_mm256_and_si256(sets_of(from, 0), sets_of(from, 1)),
                                        sets_of(from, 2));
        __m256i none = _mm256_cmpeq_epi8(sets, _mm256_setzero_si256());
        uint32_t hits = ~(uint32_t)_mm256_movemask_epi8(none);
        for (; hits; hits &= hits - 1) {
            *at = i + (size_t)__builtin_ctz(hits);
            if (secret_anchor_at(text.at + *at))
                return true;
        }
    }
    *at = i;
    return false;
}

bool secret_anchor_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}

#endif
