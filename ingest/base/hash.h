// SPDX-License-Identifier: Apache-2.0
// A fast 64-bit hash of short byte strings, for hash tables and checksums against accidental
// damage; not for secrets or content addresses.
#ifndef INGEST_BASE_HASH_H
#define INGEST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Multiply-and-fold over 8-byte words (the construction of wyhash and the like).
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Nobody outside can guess the key, so no input can be crafted to make all its texts collide.
struct hash_key {
    uint64_t a, b;
};

#define HASH_KEY_FIXED ((struct hash_key){0x9E3779B97F4A7C15u, 0xE7037ED1A0B428DBu})

// A random key from the system; in fuzzing builds always the same one.
struct hash_key hash_key_random(void);

static inline uint64_t hash_keyed(struct hash_key key, const char *at, size_t len)
{
    const uint64_t k0 = key.a, k1 = key.b;
    uint64_t h = k0 ^ len;
    uint64_t w[2];
    while (len > 16) {
        memcpy(w, at, 16);
        h = hash_mix(w[0] ^ k1, w[1] ^ h);
        at += 16;
        len -= 16;
    }
    w[0] = w[1] = 0;
    if (len >= 8) {
        memcpy(&w[0], at, 8);
        memcpy(&w[1], at + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&w[0], at, 4);
        memcpy(&w[1], at + len - 4, 4);
    } else if (len) {
        w[0] = (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[len / 2] << 8 |
               (unsigned char)at[len - 1];
    }
    return hash_mix(w[0] ^ k1, w[1] ^ h ^ k0);
}

// Unkeyed: the same in every process, for values that are stored.
static inline uint64_t hash_bytes(const char *at, size_t len)
{
    return hash_keyed(HASH_KEY_FIXED, at, len);
}

static inline uint64_t hash_u64(uint64_t value)
{
    return hash_mix(value ^ 0x9E3779B97F4A7C15u, 0xE7037ED1A0B428DBu);
}

#endif
