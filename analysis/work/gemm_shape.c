// SPDX-License-Identifier: Apache-2.0
// Alignment first, then tiles: their number relative to the device, and how well the shape fills
// them.
#include "analysis/work/gemm_shape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE        128 // rows and columns of results usually computed per block
#define LEAST_TILE  16  // smaller or larger values are not a tile size
#define MOST_TILE   512
#define FULL_ENOUGH 0.75 // of tiles or waves
#define FEW_WAVES   4    // beyond this, a partial last wave hardly matters

struct dims {
    int64_t batch, m, n, k;
};

// What a block computes.
struct tile {
    int64_t rows, columns;
};

// A number at *at, which is moved past it; 0 if there is none, or one with four or more digits.
static int64_t take_size(struct str text, size_t *at)
{
    int64_t size = 0;
    size_t first = *at;
    for (; *at < text.len && isdigit((unsigned char)text.at[*at]); ++*at)
        size = *at - first < 3 ? 10 * size + (text.at[*at] - '0') : 0;
    return *at - first > 3 ? 0 : size;
}

static bool is_size(int64_t size)
{
    return size >= LEAST_TILE && size <= MOST_TILE && size % LEAST_TILE == 0;
}

// The first two sizes with an x between them in a kernel's name.
static struct tile tile_of(struct str kernel)
{
    for (size_t at = 0; at < kernel.len;) {
        struct tile tile = {take_size(kernel, &at), 0};
        if (!is_size(tile.rows) || at >= kernel.len || kernel.at[at] != 'x') {
            at++;
            continue;
        }
        at++;
        tile.columns = take_size(kernel, &at);
        if (is_size(tile.columns))
            return tile;
    }
    return (struct tile){TILE, TILE};
}

// A number after "M=" and so on in the problem's text, or the fallback.
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

static int64_t tiles_of(int64_t size, int64_t tile)
{
    return (size + tile - 1) / tile;
}

// For the results of one product. Column-major libraries swap them: the orientation that fills its
// tiles better is assumed.
static int64_t count_tiles(const struct dims *dims, struct tile *tile)
{
    int64_t straight = tiles_of(dims->m, tile->rows) * tiles_of(dims->n, tile->columns);
    int64_t swapped = tiles_of(dims->m, tile->columns) * tiles_of(dims->n, tile->rows);
    if (straight <= swapped)
        return straight;
    *tile = (struct tile){tile->columns, tile->rows};
    return swapped;
}

static bool tell_waves(int64_t tiles, struct tile tile, int64_t multiprocessors,
                       struct gemm_reason *reason)
{
    if (multiprocessors <= 0)
        return false;
    if ((double)tiles < FULL_ENOUGH * (double)multiprocessors) {
        snprintf(reason->text, sizeof reason->text,
                 "its %" PRId64 " tiles of %" PRId64 " x %" PRId64
                 " leave multiprocessors idle: there are %" PRId64,
                 tiles, tile.rows, tile.columns, multiprocessors);
        return true;
    }
    int64_t waves = (tiles + multiprocessors - 1) / multiprocessors;
    double full = (double)tiles / (double)(waves * multiprocessors);
    if (waves > FEW_WAVES || full >= FULL_ENOUGH)
        return false;
    snprintf(reason->text, sizeof reason->text,
             "wave quantization: its %" PRId64 " tiles of %" PRId64 " x %" PRId64 " need %" PRId64
             " waves of %" PRId64 " multiprocessors, which are %.0f %% full",
             tiles, tile.rows, tile.columns, waves, multiprocessors, 100 * full);
    return true;
}

static bool tell_tiles(const struct dims *dims, int64_t tiles, struct tile tile,
                       struct gemm_reason *reason)
{
    double area = (double)tiles * (double)(tile.rows * tile.columns);
    double full = (double)dims->m * (double)dims->n / area;
    if (full < FULL_ENOUGH) {
        snprintf(reason->text, sizeof reason->text,
                 "tile quantization: M x N fills its tiles of %" PRId64 " x %" PRId64 " to %.0f %%",
                 tile.rows, tile.columns, 100 * full);
        return true;
    }
    if (dims->n % 64 == 0 && dims->k % 64 == 0)
        return false;
    snprintf(reason->text, sizeof reason->text, "%c = %" PRId64 " is not a multiple of 64",
             dims->k % 64 ? 'K' : 'N', dims->k % 64 ? dims->k : dims->n);
    return true;
}

bool gemm_shape_reason(const struct work *work, struct str kernel, int64_t multiprocessors,
                       struct gemm_reason *reason)
{
    struct dims dims = {dimension(work->problem, "B=", 1), dimension(work->problem, "M=", 0),
                        dimension(work->problem, "N=", 0), dimension(work->problem, "K=", 0)};
    if (work->kind != WORK_GEMM || dims.batch <= 0 || dims.m <= 0 || dims.n <= 0 || dims.k <= 0)
        return false;
    if ((double)dims.batch * (double)dims.m * (double)dims.n > 1e15)
        return false;
    struct tile tile = tile_of(kernel);
    int64_t tiles = count_tiles(&dims, &tile);
    int64_t unit = alignment_of(work->precision);
    return tell_alignment('K', dims.k, unit, reason) || tell_alignment('N', dims.n, unit, reason) ||
           tell_waves(dims.batch * tiles, tile, multiprocessors, reason) ||
           tell_tiles(&dims, tiles, tile, reason);
}
