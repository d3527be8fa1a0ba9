// SPDX-License-Identifier: Apache-2.0
// Alignment first, then tiles: their number against the device, and how well the shape fills them.
#include "analysis/gemm_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE        128  // rows and columns of results that a block usually works out
#define FULL_ENOUGH 0.75 // of tiles or waves
#define FEW_WAVES   4    // beyond, a last wave that is not full hardly matters

struct dims {
    int64_t batch, m, n, k;
};

// A number behind "M=" and the like in the problem's text, or the fallback.
static int64_t dimension(const char *problem, const char *name, int64_t fallback)
{
    const char *at = strstr(problem, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : fallback;
}

// Elements in 16 bytes, which tensor cores load at once.
static int64_t alignment_of(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP64: return 2;
    case PRECISION_FP32:
    case PRECISION_TF32: return 4;
    case PRECISION_FP8:
    case PRECISION_INT8: return 16;
    case PRECISION_FP4: return 32;
    case PRECISION_BF16:
    case PRECISION_FP16:
    case PRECISION_NONE:
    case PRECISION_COUNT: break;
    }
    return 8;
}

static bool tell_alignment(char name, int64_t size, int64_t unit, struct gemm_reason *reason)
{
    if (size % unit == 0)
        return false;
    snprintf(reason->text, sizeof reason->text,
             "%c = %" PRId64 " is not a multiple of %" PRId64
             ", so rows are not aligned to 16 bytes",
             name, size, unit);
    return true;
}

static int64_t tiles_of(int64_t size)
{
    return (size + TILE - 1) / TILE;
}

static bool tell_waves(int64_t tiles, int64_t multiprocessors, struct gemm_reason *reason)
{
    if (multiprocessors <= 0)
        return false;
    if (tiles < multiprocessors) {
        snprintf(reason->text, sizeof reason->text,
                 "its %" PRId64
                 " tiles of 128 x 128 leave multiprocessors idle: there are %" PRId64,
                 tiles, multiprocessors);
        return true;
    }
    int64_t waves = (tiles + multiprocessors - 1) / multiprocessors;
    double full = (double)tiles / (double)(waves * multiprocessors);
    if (waves > FEW_WAVES || full >= FULL_ENOUGH)
        return false;
    snprintf(reason->text, sizeof reason->text,
             "wave quantization: its %" PRId64 " tiles of 128 x 128 need %" PRId64
             " waves of %" PRId64 " multiprocessors, which are %.0f %% full",
             tiles, waves, multiprocessors, 100 * full);
    return true;
}

static bool tell_tiles(const struct dims *dims, struct gemm_reason *reason)
{
    double area = (double)(tiles_of(dims->m) * TILE) * (double)(tiles_of(dims->n) * TILE);
    double full = (double)dims->m * (double)dims->n / area;
    if (full < FULL_ENOUGH) {
        snprintf(reason->text, sizeof reason->text,
                 "tile quantization: M x N fills its tiles of 128 x 128 to %.0f %%", 100 * full);
        return true;
    }
    if (dims->n % 64 == 0 && dims->k % 64 == 0)
        return false;
    snprintf(reason->text, sizeof reason->text, "%c = %" PRId64 " is not a multiple of 64",
             dims->k % 64 ? 'K' : 'N', dims->k % 64 ? dims->k : dims->n);
    return true;
}

bool gemm_shape_reason(const struct work *work, int64_t multiprocessors, struct gemm_reason *reason)
{
    struct dims dims = {dimension(work->problem, "B=", 1), dimension(work->problem, "M=", 0),
                        dimension(work->problem, "N=", 0), dimension(work->problem, "K=", 0)};
    if (work->kind != WORK_GEMM || dims.batch <= 0 || dims.m <= 0 || dims.n <= 0 || dims.k <= 0)
        return false;
    double tiles = (double)dims.batch * (double)tiles_of(dims.m) * (double)tiles_of(dims.n);
    if (tiles > 1e15)
        return false;
    int64_t unit = alignment_of(work->precision);
    return tell_alignment('K', dims.k, unit, reason) || tell_alignment('N', dims.n, unit, reason) ||
           tell_waves((int64_t)tiles, multiprocessors, reason) || tell_tiles(&dims, reason);
}
