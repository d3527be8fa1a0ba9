// SPDX-License-Identifier: Apache-2.0
#include "server/base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct scale {
    const char *unit;
    double from, divisor;
    const char *shown;
} scales[] = {
    {"ns", 600e9, 60e9, " min"}, {"ns", 10e9, 1e9, " s"}, // as analysis/stats/time_text
    {"ns", 1e5, 1e6, " ms"},     {"ns", 1e3, 1e3, " µs"},    {"ns", 0, 1, " ns"},
    {"bytes", 1e9, 1e9, " GB"},  {"bytes", 1e6, 1e6, " MB"}, {"bytes", 1e3, 1e3, " kB"},
    {"bytes", 0, 1, " B"},       {"share", 0, 0.01, " %"},   {"TFLOP/s", 0, 1, " TFLOP/s"},
    {"W", 0, 1, " W"},           {"J", 0, 1, " J"},          {"GB/s", 0, 1, " GB/s"},
};

// "1234567" with commas.
static void add_grouped(double number, struct buf *out)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", fabs(number));
    buf_puts(out, number < 0 ? "-" : "");
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

// Four significant digits; more only before the decimal point.
static void add_plain(double number, struct buf *out)
{
    double size = fabs(number);
    if (size >= 1000 && size < 1e15)
        add_grouped(number, out);
    else if (size >= 100)
        buf_printf(out, "%.1f", number);
    else if (size >= 10)
        buf_printf(out, "%.2f", number);
    else
        buf_printf(out, "%.4g", number);
}

void number_text_add(double number, const char *unit, struct buf *out)
{
    if (strcmp(unit, "count") == 0) {
        add_grouped(number, out);
        return;
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const struct scale *scale = &scales[i];
        if (strcmp(scale->unit, unit) != 0 || fabs(number) < scale->from)
            continue;
        if (strcmp(unit, "share") == 0)
            buf_printf(out, "%.1f", number / scale->divisor);
        else if (strcmp(scale->shown, " ns") == 0)
            buf_printf(out, "%.0f", number); // clocks tell no less
        else
            add_plain(number / scale->divisor, out);
        buf_puts(out, scale->shown);
        return;
    }
    add_plain(number, out);
}
