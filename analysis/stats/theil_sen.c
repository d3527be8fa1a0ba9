// SPDX-License-Identifier: Apache-2.0
// Sorts the slopes of all pairs; their ranks give the slope and its interval.
#include "analysis/stats/theil_sen.h"

#include "analysis/stats/sort.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define Z_95 1.959963984540054 // of the normal distribution, 97.5 %

// Maps a double to an integer of the same order; its own inverse.
static int64_t flip(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static int64_t to_key(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return flip(bits);
}

static double from_key(int64_t key)
{
    double value;
    int64_t bits = flip(key);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t fill_slopes(const int64_t *x, const int64_t *y, size_t count, int64_t *keys)
{
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double slope = ((double)y[j] - (double)y[i]) / ((double)x[j] - (double)x[i]);
            keys[pairs++] = to_key(slope == 0 ? 0 : slope); // no -0
        }
    return pairs;
}

// Sum of t(t-1)(2t+5) over groups of equal values; sorts them.
static double tied(int64_t *values, int64_t *scratch, size_t count)
{
    double sum = 0;
    sort_i64(values, scratch, count);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && values[to] == values[from];)
            to++;
        double t = (double)(to - from);
        sum += t * (t - 1) * (2 * t + 5);
    }
    return sum;
}

static void find(struct theil_sen *line, const int64_t *keys, size_t pairs, double variance)
{
    double low_of_middle = from_key(keys[(pairs - 1) / 2]);
    line->slope = low_of_middle + (from_key(keys[pairs / 2]) - low_of_middle) / 2;
    if (!line->interval)
        return;
    double lower = floor(((double)pairs - Z_95 * sqrt(variance)) / 2); // rank from 1
    size_t skip = lower >= 1 ? (size_t)lower - 1 : 0;
    line->low = from_key(keys[skip]);
    line->high = from_key(keys[pairs - 1 - skip]);
}

bool theil_sen_make(const int64_t *x, const int64_t *y, size_t count, struct budget *budget,
                    struct theil_sen *line, struct err *err)
{
    assert(count <= THEIL_SEN_MAX_POINTS);
    *line = (struct theil_sen){.slope = NAN, .interval = count >= THEIL_SEN_MIN_POINTS};
    if (count < 2)
        return true;
    size_t pairs = count * (count - 1) / 2;
    size_t size = 2 * (pairs + count) * sizeof(int64_t);
    int64_t *keys = budget_alloc(budget, size, err);
    if (!keys)
        return false;
    int64_t *values = keys + pairs, *scratch = values + count;
    memcpy(values, y, count * sizeof *values);
    double n = (double)count;
    double variance = (n * (n - 1) * (2 * n + 5) - tied(values, scratch, count)) / 18;
    fill_slopes(x, y, count, keys);
    sort_i64(keys, scratch, pairs);
    find(line, keys, pairs, variance);
    budget_free(budget, keys, size);
    return true;
}
