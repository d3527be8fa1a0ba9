// SPDX-License-Identifier: Apache-2.0
// Real numbers that need not be equal to the last bit.
#ifndef TESTS_UNIT_NEAR_H
#define TESTS_UNIT_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void assert_near(double found, double expected, double apart)
{
    if (!(fabs(found - expected) <= apart))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

#endif
