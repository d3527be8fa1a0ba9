// SPDX-License-Identifier: Apache-2.0
// How large a shift from one sample to another may still be: the bound a gate's pass is based on.
#ifndef ANALYSIS_EQUIVALENCE_H
#define ANALYSIS_EQUIVALENCE_H

#include "analysis/stats/mann_whitney.h"

// Most ways to deal the values to two sides for which the bound is that of the means: 8 against 8.
#define EQUIVALENCE_MOST_DEALS 20000

// The upper bound on the shift from a to b, one-sided: whatever the noise distribution, the shift
// exceeds its bound in at most alpha of cases. A permutation test of means rejects all shifts above
// it (E. J. G. Pitman 1937): it is the k-th largest difference of means over all pairs of equally
// large subsets, k = alpha x the ways to deal (D. Tritchler 1984). With more ways than the limit
// above it is that of the rank test, as in mann_whitney.h. Infinity if alpha is smaller than the
// counts of runs can show. ERR_MEMORY if memory runs out.
MUST_CHECK bool equivalence_bound(struct samples a, struct samples b, double alpha, double *bound,
                                  struct err *err);

#endif
