// SPDX-License-Identifier: Apache-2.0
// SplitMix64, the only source of randomness in the generator: same seed, same bytes, on every
// machine.
#pragma once

#include <stdint.h>

struct splitmix {
    uint64_t state;
};

static inline uint64_t splitmix_next(struct splitmix *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// A whole number from 0 to below - 1.
static inline int64_t splitmix_below(struct splitmix *rng, int64_t below)
{
    return (int64_t)(splitmix_next(rng) % (uint64_t)below);
}

// ns shifted by at most spread_ppm millionths of itself; small shifts are likelier than large ones.
static inline int64_t splitmix_jitter(struct splitmix *rng, int64_t ns, int64_t spread_ppm)
{
    if (spread_ppm <= 0)
        return ns;
    uint64_t draw = splitmix_next(rng);
    int64_t ppm = (int64_t)((draw & 0xfffff) + (draw >> 20 & 0xfffff)) - 0xfffff;
    return ns + ns * spread_ppm / 1000000 * ppm / 0xfffff;
}
