// SPDX-License-Identifier: Apache-2.0
// Chooses the unit and digits of a time.
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int decimals_of(double value)
{
    if (value >= 99.95)
        return 0;
    return value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
}

// Commas between thousands: from there on there are no decimals.
static void group(char *at, size_t digits)
{
    for (size_t i = digits; i > 3; i -= 3) {
        memmove(at + i - 2, at + i - 3, strlen(at + i - 3) + 1);
        at[i - 3] = ',';
    }
}

struct time_text time_text(int64_t ns)
{
    struct time_text text;
    bool small = ns != 0 && ns > -100000 && ns < 100000;
    double value = (double)ns / (small ? 1e3 : 1e6);
    snprintf(text.text, sizeof text.text, "%.*f %s", decimals_of(fabs(value)), value,
             small ? "us" : "ms");
    char *digits = text.text + (*text.text == '-');
    group(digits, strspn(digits, "0123456789"));
    return text;
}
