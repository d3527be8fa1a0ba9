// SPDX-License-Identifier: Apache-2.0
// The upper fence of the differences between neighboring runs.
#include "analysis/stats/history_fence.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

// Median of ascending values, at least one.
static double middle_of(const double *ascending, size_t count)
{
    return ascending[(count - 1) / 2] / 2 + ascending[count / 2] / 2;
}

// The newest usable values, oldest first, as logarithms. Returns how many.
static size_t take_logs(const double *step_ns, size_t count, double *logs)
{
    size_t from = count, usable = 0;
    while (from > 0 && usable < HISTORY_MAX_RUNS) {
        from--;
        usable += step_ns[from] > 0 && isfinite(step_ns[from]);
    }
    size_t kept = 0;
    for (size_t i = from; i < count; i++)
        if (step_ns[i] > 0 && isfinite(step_ns[i]))
            logs[kept++] = log(step_ns[i]);
    return kept;
}

double history_fence(const double *step_ns, size_t count)
{
    double differences[HISTORY_MAX_RUNS];
    size_t runs = take_logs(step_ns, count, differences);
    if (runs < HISTORY_MIN_RUNS)
        return NAN;
    size_t pairs = runs - 1, half = pairs / 2;
    for (size_t i = 0; i < pairs; i++)
        differences[i] = fabs(differences[i + 1] - differences[i]);
    qsort(differences, pairs, sizeof *differences, order_doubles);
    double q1 = middle_of(differences, half);
    double q3 = middle_of(differences + pairs - half, half);
    return expm1(q3 + HISTORY_FENCE_IQRS * (q3 - q1));
}
