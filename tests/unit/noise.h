// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers, for tests that check statistics against their promises.
#ifndef TESTS_UNIT_NOISE_H
#define TESTS_UNIT_NOISE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct noise {
    uint64_t state; // any seed
};

// SplitMix64 (Steele, Lea, Flood 2014).
static inline uint64_t noise_bits(struct noise *noise)
{
    uint64_t z = noise->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// Strictly between 0 and 1.
static inline double noise_uniform(struct noise *noise)
{
    return ((double)(noise_bits(noise) >> 11) + 0.5) * 0x1p-53;
}

static inline double noise_normal(struct noise *noise)
{
    double radius = sqrt(-2 * log(noise_uniform(noise)));
    return radius * cos(6.283185307179586 * noise_uniform(noise));
}

// Student's t with 3 degrees of freedom: heavy tails.
static inline double noise_heavy(struct noise *noise)
{
    double x = noise_normal(noise), y = noise_normal(noise), z = noise_normal(noise);
    return noise_normal(noise) / sqrt((x * x + y * y + z * z) / 3);
}

// Mean 0, deviation 1, with a long tail of slow ones.
static inline double noise_skewed(struct noise *noise)
{
    return -log(noise_uniform(noise)) - 1;
}

// One in twenty is 6 deviations slower.
static inline double noise_outliers(struct noise *noise)
{
    double outlier = noise_uniform(noise) < 0.05 ? 6 : 0;
    return noise_normal(noise) + outlier;
}

enum noise_kind { NOISE_NORMAL, NOISE_HEAVY, NOISE_SKEWED, NOISE_OUTLIERS, NOISE_KINDS };

// A deviate of the given kind.
static inline double noise_of_kind(struct noise *noise, enum noise_kind kind)
{
    switch (kind) {
    case NOISE_HEAVY: return noise_heavy(noise);
    case NOISE_SKEWED: return noise_skewed(noise);
    case NOISE_OUTLIERS: return noise_outliers(noise);
    case NOISE_NORMAL:
    case NOISE_KINDS: break;
    }
    return noise_normal(noise);
}

// Step times of 100 ms with 1 % noise of a kind, slower by the factor 1 + shift.
static inline void noise_fill(struct noise *noise, enum noise_kind kind, double shift,
                              double *step_ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        step_ns[i] = 1e8 * (1 + shift) * exp(0.01 * noise_of_kind(noise, kind));
}

#endif
