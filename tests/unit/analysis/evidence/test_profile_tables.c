// SPDX-License-Identifier: Apache-2.0
// Launches that Nsight Compute measured, as a table.
#include "analysis/evidence/evidence_report.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct shown {
    struct budget budget;
    struct evidence evidence;
    struct arena arena;
    struct report report;
    struct err err;
};

static int set_up(void **state)
{
    static struct shown shown;
    shown = (struct shown){.err = {.pos = ERR_NO_POS}};
    evidence_init(&shown.evidence, &shown.budget);
    arena_init(&shown.arena, &shown.budget);
    shown.report.arena = &shown.arena;
    *state = &shown;
    return 0;
}

static int tear_down(void **state)
{
    struct shown *shown = *state;
    arena_free(&shown->arena);
    evidence_free(&shown->evidence);
    assert_int_equal(shown->budget.used, 0);
    return 0;
}

static struct kernel_profile *add(struct shown *shown)
{
    struct kernel_profile *profile = kernel_profiles_add(&shown->evidence, &shown->err);
    assert_non_null(profile);
    profile->kernel = STR("gemm");
    profile->figures[PROFILE_DURATION_NS] = 2e6;
    return profile;
}

static const struct table *show(struct shown *shown)
{
    assert_true(evidence_report(&shown->evidence, STR("a.csv"), &shown->report, &shown->err));
    const struct table *table = report_find(&shown->report, "kernel_profiles");
    assert_non_null(table);
    return table;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", found, expected);
}

static void assert_text(struct str found, const char *expected)
{
    if (!str_equal(found, str_of(expected)))
        fail_msg("\"%.*s\", expected \"%s\"", (int)found.len, found.at, expected);
}

static void operations_per_cycle_become_a_rate(void **state)
{
    struct shown *shown = *state;
    struct kernel_profile *profile = add(shown);
    profile->figures[PROFILE_FLOPS_PER_CYCLE] = 1000;
    profile->figures[PROFILE_CYCLES_HZ] = 1.5e9;
    profile->figures[PROFILE_TENSOR_PERCENT] = 0;
    profile->figures[PROFILE_DRAM_BPS] = 3e11;
    const struct table *table = show(shown);
    assert_int_equal(table_i64(table, 0, KERNEL_PROFILES_FLOPS, -1), 3000000000);
    assert_near(table_f64(table, 0, KERNEL_PROFILES_TFLOPS, -1), 1.5);
    assert_int_equal(table_i64(table, 0, KERNEL_PROFILES_DRAM_BYTES, -1), 600000000);
    assert_near(table_f64(table, 0, KERNEL_PROFILES_DRAM_GBPS, -1), 300);
    assert_near(table_f64(table, 0, KERNEL_PROFILES_INTENSITY, -1), 5);
}

// They would be a small part of all, and look like a slow kernel.
static void operations_are_unknown_if_those_of_tensor_cores_were_not_counted(void **state)
{
    struct shown *shown = *state;
    for (int i = 0; i < 3; i++) {
        struct kernel_profile *profile = add(shown);
        profile->figures[PROFILE_FLOPS] = 1e9;
        profile->figures[PROFILE_DRAM_BYTES] = 1e6;
        if (i > 0)
            profile->figures[PROFILE_TENSOR_PERCENT] = 40;
        if (i == 2)
            profile->figures[PROFILE_TENSOR_FLOPS] = 9e9;
    }
    const struct table *table = show(shown);
    assert_true(table_cell(table, 0, KERNEL_PROFILES_FLOPS)->null);
    assert_true(table_cell(table, 1, KERNEL_PROFILES_INTENSITY)->null);
    assert_near(table_f64(table, 2, KERNEL_PROFILES_INTENSITY, -1), 10000);
}

static void the_longest_waits_are_shares_of_all_time(void **state)
{
    struct shown *shown = *state;
    struct kernel_profile *profile = add(shown);
    profile->family = PROFILE_STALLS_PER_ISSUE;
    profile->stalls[profile_stall_of(STR("selected"))] = 10;
    profile->stalls[profile_stall_of(STR("barrier"))] = 4;
    profile->stalls[profile_stall_of(STR("long_scoreboard"))] = 5;
    profile->stalls[profile_stall_of(STR("wait"))] = 0.5;
    profile->stalls[profile_stall_of(STR("membar"))] = 0.5;
    const struct table *table = show(shown);
    assert_text(table_text(table, 0, KERNEL_PROFILES_STALLS), "long_scoreboard 25 %, barrier 20 %");
    assert_text(table_text(table, 0, KERNEL_PROFILES_STALL_BASIS), "per issued instruction");
}

static void what_was_not_measured_is_empty(void **state)
{
    struct shown *shown = *state;
    add(shown)->grid[0] = 3;
    const struct table *table = show(shown);
    assert_text(table_text(table, 0, KERNEL_PROFILES_GRID), "3,0,0");
    assert_true(table_cell(table, 0, KERNEL_PROFILES_BLOCK)->null);
    assert_true(table_cell(table, 0, KERNEL_PROFILES_DRAM_BYTES)->null);
    assert_true(table_cell(table, 0, KERNEL_PROFILES_STALLS)->null);
    assert_true(table_cell(table, 0, KERNEL_PROFILES_LAUNCH)->null);
    assert_true(table_cell(table, 0, KERNEL_PROFILES_MATCHED)->null);
}

static void launches_beyond_the_limit_are_in_the_trust_report(void **state)
{
    struct shown *shown = *state;
    for (int i = 0; i < PROFILE_MOST_LAUNCHES; i++)
        add(shown);
    assert_null(kernel_profiles_add(&shown->evidence, &shown->err));
    assert_int_equal(shown->err.code, ERR_NONE);
    assert_int_equal(show(shown)->row_count, PROFILE_MOST_LAUNCHES);
    const struct table *trust = report_find(&shown->report, "trust");
    assert_non_null(trust);
    assert_text(table_text(trust, 0, TRUST_DOUBT + DOUBT_ITEM), "rows_left_out");
}

static void a_cut_file_is_in_the_trust_report(void **state)
{
    struct shown *shown = *state;
    add(shown);
    shown->evidence.profiles.cut = true;
    (void)show(shown);
    const struct table *trust = report_find(&shown->report, "trust");
    assert_non_null(trust);
    assert_text(table_text(trust, 0, TRUST_DETAIL), "a.csv ends in the middle of a row");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(operations_per_cycle_become_a_rate),
        TEST(operations_are_unknown_if_those_of_tensor_cores_were_not_counted),
        TEST(the_longest_waits_are_shares_of_all_time),
        TEST(what_was_not_measured_is_empty),
        TEST(launches_beyond_the_limit_are_in_the_trust_report),
        TEST(a_cut_file_is_in_the_trust_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
