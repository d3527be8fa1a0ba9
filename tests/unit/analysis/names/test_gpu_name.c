// SPDX-License-Identifier: Apache-2.0
// Devices without a name are identified by compute units and memory.
#include "analysis/names/gpu_name.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void assert_name(const char *recorded, int64_t units, int64_t bytes, const char *name)
{
    assert_true(str_equal(gpu_name(str_of(recorded), units, bytes), str_of(name)));
}

static void a_device_without_a_name_is_recognized(void **state)
{
    (void)state;
    assert_name("", 304, 206141652992, "AMD Instinct MI300X");
    assert_name("", 304, 205571227648, "AMD Instinct MI300X"); // a virtual function has less
    assert_name("", 304, 274861129728, "AMD Instinct MI325X");
    assert_name("AMD Radeon Graphics", 104, 68702699520, "AMD Instinct MI210 or MI250");
}

static void a_name_of_its_own_is_kept(void **state)
{
    (void)state;
    assert_name("AMD Instinct MI210", 104, 68702699520, "AMD Instinct MI210");
    assert_name("NVIDIA H100 80GB HBM3", 304, 206141652992, "NVIDIA H100 80GB HBM3");
}

static void an_unknown_device_keeps_what_was_recorded(void **state)
{
    (void)state;
    assert_name("AMD Radeon Graphics", 12, 8589934592, "AMD Radeon Graphics");
    assert_name("", 304, 8589934592, "");
    assert_name("", 0, 0, "");
}

static void two_models_of_one_name_differ_by_compute_units(void **state)
{
    (void)state;
    assert_name("AMD Instinct MI250X / MI250", 104, 68702699520, "AMD Instinct MI250");
    assert_name("AMD Instinct MI250X / MI250", 110, 68702699520, "AMD Instinct MI250X / MI250");
}

static void a_device_with_fewer_compute_units_than_its_name_is_a_part(void **state)
{
    (void)state;
    assert_true(gpu_name_is_part(STR("AMD Instinct MI300X"), 38));
    assert_true(gpu_name_is_part(STR("AMD Instinct MI355X"), 128));
    assert_false(gpu_name_is_part(STR("AMD Instinct MI300X VF"), 304));
    assert_false(gpu_name_is_part(STR("AMD Instinct MI300X"), 0));
    assert_false(gpu_name_is_part(STR("AMD Instinct MI250"), 104));
    assert_false(gpu_name_is_part(STR("NVIDIA H100 80GB HBM3"), 38));
}

static void assert_short(const char *name, const char *expected)
{
    assert_true(str_equal(gpu_name_short(str_of(name)), str_of(expected)));
}

static void a_short_name_leaves_out_makers_and_variants(void **state)
{
    (void)state;
    assert_short("NVIDIA H100 80GB HBM3", "H100");
    assert_short("AMD Instinct MI300X VF", "MI300X");
    assert_short("NVIDIA RTX 5000 Ada Generation Laptop GPU", "RTX 5000 Ada Generation Laptop");
    assert_short("GPU", "GPU");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_without_a_name_is_recognized),
        cmocka_unit_test(a_name_of_its_own_is_kept),
        cmocka_unit_test(a_short_name_leaves_out_makers_and_variants),
        cmocka_unit_test(an_unknown_device_keeps_what_was_recorded),
        cmocka_unit_test(two_models_of_one_name_differ_by_compute_units),
        cmocka_unit_test(a_device_with_fewer_compute_units_than_its_name_is_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
