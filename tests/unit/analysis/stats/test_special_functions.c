// SPDX-License-Identifier: Apache-2.0
// Special functions against tables (Abramowitz and Stegun; Student 1908) and figures of R 4.2.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats/special_functions.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static void assert_close(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

static void gammas_are_those_of_the_tables(void **state)
{
    (void)state;
    static const double rows[][4] = {
        {0.001, -1000.57557193181, 1000001.6425332, -2000000002.39763},
        {0.5, -1.96351002602142, 4.93480220054468, -16.8287966442343},
        {1, -0.577215664901532, 1.64493406684823, -2.40411380631919},
        {2.5, 0.703156640645243, 0.490357756100235, -0.236204051641727},
        {10, 2.25175258906672, 0.105166335681686, -0.0110498349708021},
        {100, 4.60016185273809, 0.0100501666633336, -0.00010100499983335},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_close(special_digamma(rows[i][0]), rows[i][1], 1e-13);
        assert_close(special_trigamma(rows[i][0]), rows[i][2], 1e-13);
        assert_close(special_tetragamma(rows[i][0]), rows[i][3], 1e-13);
    }
}

static void inverse_of_trigamma_undoes_it(void **state)
{
    (void)state;
    for (double x = 1e-6; x < 1e9; x *= 1.7)
        assert_close(special_trigamma_inverse(special_trigamma(x)), x, 1e-7);
    for (double x = 1e-3; x < 1e4; x *= 1.7)
        assert_close(special_trigamma_inverse(special_trigamma(x)), x, 1e-11);
}

static void beta_shares_are_those_of_r(void **state)
{
    (void)state;
    assert_close(special_beta_share(0.3, 2, 5), 0.579825, 1e-12);
    assert_close(special_beta_share(0.5, 0.5, 0.5), 0.5, 1e-12);
    assert_close(special_beta_share(0.01, 10, 0.5), 1.77003496552859e-21, 1e-12);
    assert_close(special_beta_share(0.7, 50, 30), 0.920720776176328, 1e-12);
    assert_true(special_beta_share(0, 2, 3) == 0 && special_beta_share(1, 2, 3) == 1);
}

static void tails_of_student_are_those_of_r(void **state)
{
    (void)state;
    static const double rows[][3] = {
        {1, 3, 0.391002218955771},       {2.5, 3, 0.0877066470080655},
        {10, 3, 0.00212839905841415},    {40, 3, 3.43806807891585e-05},
        {1, 8.5, 0.344925140596971},     {2.5, 8.5, 0.035303207537515},
        {10, 8.5, 5.47262099950949e-06}, {40, 8.5, 5.59961498509211e-11},
        {1e5, 1, 6.36619772346361e-06},  {0, 5, 1},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_close(special_t_two_sided(rows[i][0], rows[i][1]), rows[i][2], 1e-12);
        assert_close(special_t_two_sided(-rows[i][0], rows[i][1]), rows[i][2], 1e-12);
    }
    assert_close(special_t_two_sided(6, 1e6), 1.97384981235444e-09, 1e-8);
}

// The table in every textbook: two-sided 10 %, 5 %, 1 %, 0.1 %.
static void quantiles_are_those_of_the_table_of_student(void **state)
{
    (void)state;
    static const double shares[] = {0.1, 0.05, 0.01, 0.001};
    static const double rows[][5] = {
        {1, 6.31375151467504, 12.7062047361747, 63.6567411628715, 636.61924876879},
        {2, 2.91998558035372, 4.30265272974946, 9.92484320091829, 31.5990545764454},
        {3, 2.35336343480182, 3.18244630528371, 5.84090930973335, 12.923978636688},
        {4, 2.13184678632665, 2.77644510519779, 4.60409487134999, 8.61030158137952},
        {5, 2.01504837333302, 2.57058183563631, 4.03214298355523, 6.86882662588127},
        {8, 1.8595480375309, 2.30600413520417, 3.3553873313334, 5.04130543337346},
        {10, 1.81246112281168, 2.22813885198627, 3.16927267261695, 4.58689385870271},
        {30, 1.69726088659396, 2.04227245630124, 2.74999565356723, 3.64595863504206},
        {120, 1.65765089935523, 1.97993040508242, 2.61742114510687, 3.37345376856253},
        {INFINITY, 1.64485362695147, 1.95996398454005, 2.5758293035489, 3.29052673149193},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t j = 0; j < LENGTH(shares); j++)
            assert_close(special_t_two_sided_quantile(shares[j], rows[i][0]), rows[i][j + 1],
                         1e-11);
    assert_close(special_t_two_sided_quantile(0.05, 3.7), 2.86752070719119, 1e-11);
    assert_close(special_normal_two_sided_quantile(0.05), 1.95996398454005, 1e-12);
}

static void arguments_outside_the_domain_give_nan(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, -INFINITY};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_true(isnan(special_digamma(bad[i])));
        assert_true(isnan(special_trigamma(bad[i])));
        assert_true(isnan(special_tetragamma(bad[i])));
        assert_true(isnan(special_trigamma_inverse(bad[i])));
        assert_true(isnan(special_t_two_sided(1, bad[i])));
        assert_true(isnan(special_t_two_sided_quantile(0.05, bad[i])));
        assert_true(isnan(special_t_two_sided_quantile(bad[i], 5)));
        assert_true(isnan(special_beta_share(0.5, bad[i], 1)));
    }
    assert_true(isnan(special_t_two_sided(NAN, 5)));
    assert_true(isnan(special_t_two_sided_quantile(1.5, 5)));
    assert_true(isnan(special_beta_share(1.5, 1, 1)));
    assert_true(special_t_two_sided(INFINITY, 5) == 0 && special_t_two_sided(1e300, 5) == 0);
    assert_true(special_t_two_sided_quantile(1, 5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gammas_are_those_of_the_tables),
        cmocka_unit_test(inverse_of_trigamma_undoes_it),
        cmocka_unit_test(beta_shares_are_those_of_r),
        cmocka_unit_test(tails_of_student_are_those_of_r),
        cmocka_unit_test(quantiles_are_those_of_the_table_of_student),
        cmocka_unit_test(arguments_outside_the_domain_give_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
