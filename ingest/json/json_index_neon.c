// SPDX-License-Identifier: Apache-2.0
// Structural index with NEON: every aarch64.
#include "ingest/json/json_index_block.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TOP_BIT (UINT64_C(1) << 63)

struct bytes64 {
    uint8x16_t part[4];
};

// Narrows four comparisons to a bit per byte: each byte keeps its bit of eight, then pairs are
// added.
static inline uint64_t mask_of(const uint8x16_t is[4])
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit = vld1q_u8(bits);
    uint8x16_t low = vpaddq_u8(vandq_u8(is[0], bit), vandq_u8(is[1], bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(is[2], bit), vandq_u8(is[3], bit));
    uint8x16_t quarters = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

static inline uint64_t equal_mask(const struct bytes64 *bytes, char c)
{
    uint8x16_t is[4];
    for (int i = 0; i < 4; i++)
        is[i] = vceqq_u8(bytes->part[i], vdupq_n_u8((uint8_t)c));
    return mask_of(is);
}

static inline uint64_t bracket_mask(const struct bytes64 *bytes)
{
    uint8x16_t is[4];
    for (int i = 0; i < 4; i++) {
        // Setting bit 5 turns [ into { and ] into }, and no other byte into either.
        uint8x16_t folded = vorrq_u8(bytes->part[i], vdupq_n_u8(0x20));
        is[i] = vorrq_u8(vceqq_u8(folded, vdupq_n_u8('{')), vceqq_u8(folded, vdupq_n_u8('}')));
    }
    return mask_of(is);
}

static inline struct block_masks classify(const char *text)
{
    struct bytes64 bytes;
    for (int i = 0; i < 4; i++)
        bytes.part[i] = vld1q_u8((const uint8_t *)text + 16 * i);
    return (struct block_masks){
        .quote = equal_mask(&bytes, '"'),
        .backslash = equal_mask(&bytes, '\\'),
        .bracket = bracket_mask(&bytes),
    };
}

// Writes the set bits as offsets, eight at a time: the surplus is overwritten by the next block.
static inline uint32_t *flatten(uint64_t tokens, uint32_t base, uint32_t *out)
{
    uint32_t *end = out + __builtin_popcountll(tokens);
    while (out < end) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            out[i] = base + (uint32_t)__builtin_ctzll(tokens | TOP_BIT); // defined with none left
            tokens &= tokens - 1;
        }
        out += 8;
    }
    return end;
}

size_t json_index_neon(const char *text, size_t len, uint32_t base, struct json_index_state *state,
                       uint32_t *out)
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

#endif
