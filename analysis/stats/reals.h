// SPDX-License-Identifier: Apache-2.0
// The center and spread of real numbers.
#ifndef ANALYSIS_REALS_H
#define ANALYSIS_REALS_H

#include <stddef.h>

double reals_mean(const double *values, size_t count);

// The sum of the squared distances from a mean.
double reals_squares(const double *values, size_t count, double mean);

// Of at least one; of an even count the mean of the middle two.
double reals_median(const double *ascending, size_t count);

#endif
