// SPDX-License-Identifier: Apache-2.0
#include "analysis/stats/reals.h"

double reals_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] / (double)count;
    return sum;
}

double reals_squares(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

double reals_median(const double *ascending, size_t count)
{
    return ascending[(count - 1) / 2] / 2 + ascending[count / 2] / 2;
}
