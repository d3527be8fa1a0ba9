// SPDX-License-Identifier: Apache-2.0
// Series, continued fractions and bisection for statistical functions.
#include "analysis/stats/special_functions.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define SERIES_FROM    12.0 // from here on the asymptotic series reach full precision
#define MAX_STEPS      200  // of bisection and Newton; both end sooner
#define MAX_TERMS      20000
#define NORMAL_FROM_DF 1e7

double special_digamma(double x)
{
    if (!(x > 0))
        return NAN;
    double sum = 0;
    for (; x < SERIES_FROM; x++)
        sum -= 1 / x;
    double r = 1 / (x * x);
    double tail =
        r *
        (1.0 / 12 -
         r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691 / 32760)))));
    return sum + log(x) - 0.5 / x - tail;
}

double special_trigamma(double x)
{
    if (!(x > 0))
        return NAN;
    double sum = 0;
    for (; x < SERIES_FROM; x++)
        sum += 1 / (x * x);
    double r = 1 / (x * x);
    double tail =
        r * (1.0 / 6 -
             r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * (5.0 / 66 - r * 691 / 2730)))));
    return sum + (1 + 0.5 / x + tail) / x;
}

double special_tetragamma(double x)
{
    if (!(x > 0))
        return NAN;
    double sum = 0;
    for (; x < SERIES_FROM; x++)
        sum -= 2 / (x * x * x);
    double r = 1 / (x * x);
    double tail =
        r * (1.0 / 2 -
             r * (1.0 / 6 - r * (1.0 / 6 - r * (3.0 / 10 - r * (5.0 / 6 - r * 691.0 / 210)))));
    return sum - (1 + 1 / x + tail) / (x * x);
}

double special_trigamma_inverse(double y)
{
    if (!(y > 0))
        return NAN;
    if (y > 1e7)
        return 1 / sqrt(y); // trigamma(x) is 1 / x^2 for small x
    if (y < 1e-6)
        return 1 / y + 0.5; // and 1 / x + 1 / 2x^2 for large x
    double x = 0.5 + 1 / y;
    for (int i = 0; i < MAX_STEPS; i++) {
        double value = special_trigamma(x);
        double step = value * (1 - value / y) / special_tetragamma(x);
        x += step;
        if (-step / x < 1e-15)
            break;
    }
    return x;
}

// Keeps a divisor away from zero, as required by Lentz's method.
static double apart_from_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / apart_from_zero(1 - (a + b) * x / (a + 1));
    double product = d;
    for (int i = 1; i < MAX_TERMS; i++) {
        double m = i;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / apart_from_zero(1 + even * d);
        c = apart_from_zero(1 + even / c);
        product *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / apart_from_zero(1 + odd * d);
        c = apart_from_zero(1 + odd / c);
        product *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return product;
}

// lgamma writes the sign into a global variable, which threads would share.
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

// y is 1 - x, which the caller may know more precisely than the difference.
static double beta_share(double x, double y, double a, double b)
{
    if (!(x > 0) || !(y > 0))
        return x > 0 ? 1 : 0;
    double front = exp(a * log(x) + b * log(y) + log_gamma(a + b) - log_gamma(a) - log_gamma(b));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(y, b, a) / b;
}

double special_beta_share(double x, double a, double b)
{
    if (!(x >= 0 && x <= 1 && a > 0 && b > 0 && isfinite(a) && isfinite(b)))
        return NAN;
    return beta_share(x, 1 - x, a, b);
}

double special_t_two_sided(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (df > NORMAL_FROM_DF)
        return erfc(fabs(t) / sqrt(2));
    if (isinf(t))
        return 0;
    double ratio = t / df * t; // t^2 / df; may be infinite for a t beyond 1e154
    return beta_share(1 / (1 + ratio), 1 / (1 + 1 / ratio), df / 2, 0.5);
}

double special_t_two_sided_quantile(double p, double df)
{
    if (!(p > 0 && p <= 1) || !(df > 0))
        return NAN;
    double low = 0, high = 1;
    while (high < 1e300 && special_t_two_sided(high, df) > p) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < MAX_STEPS; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        bool beyond = special_t_two_sided(middle, df) > p;
        low = beyond ? middle : low;
        high = beyond ? high : middle;
    }
    return p < 1 ? high : 0;
}

double special_normal_two_sided_quantile(double p)
{
    return special_t_two_sided_quantile(p, INFINITY);
}
