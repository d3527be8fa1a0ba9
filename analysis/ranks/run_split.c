// SPDX-License-Identifier: Apache-2.0
// Clusters of values on a line.
#include "analysis/ranks/run_split.h"

size_t run_split_low(const double *ascending, size_t count, double gap)
{
    size_t least = (count + 3) / 4;
    least = least < 2 && count >= 4 ? 2 : least;
    while (count > least && least > 0) {
        size_t widest = least - 1;
        for (size_t i = least; i + 1 < count; i++)
            if (ascending[i + 1] - ascending[i] > ascending[widest + 1] - ascending[widest])
                widest = i;
        double width = ascending[widest + 1] - ascending[widest];
        if (width < gap || width < ascending[widest] - ascending[0])
            break;
        count = widest + 1;
    }
    return count;
}
