// SPDX-License-Identifier: Apache-2.0
// Statistical functions that the C library lacks.
#ifndef ANALYSIS_SPECIAL_FUNCTIONS_H
#define ANALYSIS_SPECIAL_FUNCTIONS_H

// Each returns NaN for arguments outside its domain. Relative errors are below 1e-12 unless noted.

// Psi, the derivative of log gamma, its first and its second derivative, for x > 0. Recurrence up
// to 12, then the asymptotic series (Abramowitz and Stegun 6.3.18, 6.4.12, 6.4.13).
double special_digamma(double x);
double special_trigamma(double x);
double special_tetragamma(double x);

// The x > 0 whose trigamma is y > 0: Newton on 1 / trigamma, which is convex (Smyth 2004,
// appendix).
double special_trigamma_inverse(double y);

// Regularized incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]: continued fraction
// (Abramowitz and Stegun 26.5.8) by Lentz's method.
double special_beta_share(double x, double a, double b);

// Probability that |T| >= |t| for Student's t with df > 0 degrees of freedom; infinity is the
// normal distribution, and so is all above 1e7 (relative error below 1e-5 where |t| < 10).
double special_t_two_sided(double t, double df);

// The t >= 0 with special_t_two_sided(t, df) = p for 0 < p <= 1.
double special_t_two_sided_quantile(double p, double df);

// The z >= 0 that a normal deviate is beyond, on either side, with probability p in (0, 1].
double special_normal_two_sided_quantile(double p);

#endif
