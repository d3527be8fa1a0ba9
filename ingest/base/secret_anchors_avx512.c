// SPDX-License-Identifier: Apache-2.0
// The search for anchors with AVX-512 and its look-up of bytes (VBMI): Ice Lake, Zen 4 and later.
#include "ingest/base/secret_anchors.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,bmi")))
#define STEP   ((size_t)64)

struct sets {
    __m512i low, high;
};

AVX512 static inline struct sets load_sets(unsigned place)
{
    const uint8_t *sets = secret_anchor_sets[place];
    return (struct sets){_mm512_loadu_si512(sets), _mm512_loadu_si512(sets + 64)};
}

// Of bytes beyond ASCII those of the byte without its highest bit, which is checked later.
AVX512 static inline __m512i look_up(const struct sets *sets, __m512i bytes)
{
    return _mm512_permutex2var_epi8(sets->low, bytes, sets->high);
}

AVX512 bool secret_anchor_wide_avx512(struct str text, size_t *at)
{
    const struct sets first = load_sets(0), second = load_sets(1), third = load_sets(2);
    // The last step reads its end alone: what lies after the text counts as zeros.
    for (size_t i = *at; i + SECRET_ANCHOR_BYTES <= text.len; i += STEP) {
        size_t left = text.len - i;
        const char *from = text.at + i;
        __m512i a, b, c;
        if (left >= STEP + 2) {
            a = _mm512_loadu_si512(from);
            b = _mm512_loadu_si512(from + 1);
            c = _mm512_loadu_si512(from + 2);
        } else {
            uint64_t have = left >= STEP ? UINT64_MAX : (UINT64_C(1) << left) - 1;
            uint64_t one_less = left > STEP ? UINT64_MAX : UINT64_MAX >> (STEP + 1 - left);
            a = _mm512_maskz_loadu_epi8(have, from);
            b = _mm512_maskz_loadu_epi8(one_less, from + 1);
            c = _mm512_maskz_loadu_epi8(UINT64_MAX >> (STEP + 2 - left), from + 2);
        }
        __m512i sets = _mm512_ternarylogic_epi64(look_up(&first, a), look_up(&second, b),
                                                 look_up(&third, c), 0x80);
        uint64_t hits = _mm512_test_epi8_mask(sets, sets);
        for (; hits; hits &= hits - 1) {
            *at = i + (size_t)__builtin_ctzll(hits);
            if (secret_anchor_at(text.at + *at))
                return true;
        }
    }
    *at = text.len;
    return false;
}

bool secret_anchor_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
}

#endif
