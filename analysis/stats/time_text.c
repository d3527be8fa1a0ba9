// SPDX-License-Identifier: Apache-2.0
// Chooses the unit and digits of a time.
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static int decimals_of(double value)
{
    if (value >= 99.95)
        return 0;
    return value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
}

struct time_text time_text(int64_t ns)
{
    struct time_text text;
    bool small = ns != 0 && ns > -100000 && ns < 100000;
    double value = (double)ns / (small ? 1e3 : 1e6);
    snprintf(text.text, sizeof text.text, "%.*f %s", decimals_of(fabs(value)), value,
             small ? "us" : "ms");
    return text;
}
