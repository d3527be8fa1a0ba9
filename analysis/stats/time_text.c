// SPDX-License-Identifier: Apache-2.0
// Chooses the unit and digits of a time, and groups those of a count.
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int decimals_of(double value)
{
    if (value >= 99.95)
        return 0;
    return value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
}

// Commas between thousands.
static void group(char *at)
{
    at += *at == '-';
    size_t digits = strspn(at, "0123456789");
    for (size_t i = digits; i > 3; i -= 3) {
        memmove(at + i - 2, at + i - 3, strlen(at + i - 3) + 1);
        at[i - 3] = ',';
    }
}

static const struct unit {
    int64_t from_ns;
    double ns;
    const char *name;
} units[] = {
    {600000000000, 60e9, "min"},
    {10000000000, 1e9, "s"},
    {100000, 1e6, "ms"},
    {0, 1e3, "us"},
};

// Nothing is said in milliseconds, as most times beside it are.
static const struct unit *unit_of(int64_t ns)
{
    int64_t size = ns == 0 ? 100000 : llabs(ns < -INT64_MAX ? INT64_MAX : ns);
    const struct unit *unit = units;
    while (size < unit->from_ns)
        unit++;
    return unit;
}

static struct time_text in_unit(int64_t ns, const struct unit *unit)
{
    struct time_text text;
    double value = (double)ns / unit->ns;
    snprintf(text.text, sizeof text.text, "%.*f %s", decimals_of(fabs(value)), value, unit->name);
    group(text.text);
    return text;
}

struct time_text time_text(int64_t ns)
{
    return in_unit(ns, unit_of(ns));
}

struct time_text time_text_beside(int64_t ns, int64_t other_ns)
{
    const struct unit *unit = unit_of(other_ns);
    bool fits = unit->ns < unit_of(ns)->ns && fabs((double)ns / unit->ns) < 9999.5;
    return in_unit(ns, fits ? unit : unit_of(ns));
}

struct count_text count_text(int64_t count)
{
    struct count_text text;
    snprintf(text.text, sizeof text.text, "%lld", (long long)count);
    group(text.text);
    return text;
}

struct count_text mean_text(double count, int decimals)
{
    struct count_text text;
    double shown = fmin(fmax(count, -1e15), 1e15); // whose digits and commas fit
    snprintf(text.text, sizeof text.text, "%.*f", decimals, shown);
    group(text.text);
    return text;
}
