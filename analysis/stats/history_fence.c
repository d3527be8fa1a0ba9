// SPDX-License-Identifier: Apache-2.0
// The upper fence of the differences between neighboring runs.
#include "analysis/stats/history_fence.h"

#include "analysis/stats/reals.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// The newest usable values, oldest first. Returns how many.
static size_t take_usable(const double *step_ns, size_t count, double *values)
{
    size_t from = count, usable = 0;
    while (from > 0 && usable < HISTORY_MAX_RUNS) {
        from--;
        usable += step_ns[from] > 0 && isfinite(step_ns[from]);
    }
    size_t kept = 0;
    for (size_t i = from; i < count; i++)
        if (step_ns[i] > 0 && isfinite(step_ns[i]))
            values[kept++] = step_ns[i];
    return kept;
}

static bool are_multiples(const double *values, size_t count, double unit)
{
    for (size_t i = 0; i < count; i++)
        if (fmod(values[i], unit) != 0)
            return false;
    return true;
}

// Values that are all multiples of a power of ten were rounded to it. As round numbers look coarser
// than they are, three digits are supposed at least.
double history_printed_share(const double *values, size_t count)
{
    double least = values[0], printed = 0;
    for (size_t i = 1; i < count; i++)
        least = fmin(least, values[i]);
    for (double unit = 1; unit < least / 100 && are_multiples(values, count, unit); unit *= 10)
        printed = unit;
    return printed / (least - printed) * (1 + 1e-9); // of the next value, if it is lower
}

double history_fence(const double *step_ns, size_t count)
{
    double differences[HISTORY_MAX_RUNS];
    size_t runs = take_usable(step_ns, count, differences);
    if (runs < HISTORY_MIN_RUNS)
        return NAN;
    double least = fmax(HISTORY_LEAST_SHARE, history_printed_share(differences, runs));
    size_t pairs = runs - 1, half = pairs / 2;
    for (size_t i = 0; i < pairs; i++)
        differences[i] = fabs(log(differences[i + 1]) - log(differences[i]));
    qsort(differences, pairs, sizeof *differences, order_doubles);
    double q1 = reals_median(differences, half);
    double q3 = reals_median(differences + pairs - half, half);
    return fmax(expm1(q3 + HISTORY_FENCE_IQRS * (q3 - q1)), least);
}
