// SPDX-License-Identifier: Apache-2.0
// Which runs the retention rules select.
#include "server/care/retention_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define DAY INT64_C(86400000000000)
#define NOW (20000 * DAY)

enum { MOST = 400 };

struct store_of_runs {
    struct stored_run runs[MOST];
    struct stored_list list;
    struct arena arena;
    struct retention_plan plan;
};

static int set_up(void **state)
{
    struct store_of_runs *s = calloc(1, sizeof *s);
    arena_init(&s->arena, NULL);
    s->list.runs = s->runs;
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct store_of_runs *s = *state;
    arena_free(&s->arena);
    free(s);
    return 0;
}

// Of 100 bytes; the oldest are added first.
static struct stored_run *add(struct store_of_runs *s, const char *series, int64_t age_days)
{
    struct stored_run *run = &s->runs[s->list.count++];
    *run = (struct stored_run){.id = STR("r_x"),
                               .project = STR("p"),
                               .series = str_of(series),
                               .created_ns = NOW - age_days * DAY,
                               .since_ns = NOW - age_days * DAY,
                               .bytes = 100};
    return run;
}

static void plan(struct store_of_runs *s, struct retention_rules rules)
{
    struct err err;
    assert_true(retention_check(&rules, &err));
    assert_true(retention_plan(&rules, &s->list, NOW, &s->arena, &s->plan, &err));
}

// Each run's fate as a letter, oldest first.
static void assert_fates(const struct store_of_runs *s, const char *expected)
{
    static const char letters[] = {
        [STAYS] = '.',        [STAYS_BASELINE] = 'b', [STAYS_BUSY] = 'w',
        [STAYS_NEWEST] = 'n', [STAYS_EVERY] = 'e',    [STAYS_IN_BIN] = 't',
        [GOES_FOR_AGE] = 'A', [GOES_FOR_SIZE] = 'S',  [GOES_FOR_GOOD] = 'G'};
    char found[MOST + 1] = "";
    for (size_t i = 0; i < s->list.count; i++)
        found[i] = letters[s->plan.fates[i]];
    assert_string_equal(found, expected);
}

static void without_rules_all_stays(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 10000);
    add(s, "a", 0);
    plan(s, (struct retention_rules){.bin_days = 30});
    assert_fates(s, "..");
    assert_int_equal(s->plan.bin_bytes, 0);
}

static void what_is_older_goes(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 91);
    add(s, "b", 90); // not older than 90 days
    add(s, "a", 1);
    plan(s, (struct retention_rules){.days = 90});
    assert_fates(s, "A..");
    assert_int_equal(s->plan.bin_bytes, 100);
    assert_int_equal(s->plan.free_bytes, 0);
}

static void baselines_and_what_is_analyzed_stay(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 100)->is_baseline = true;
    add(s, "a", 99)->is_busy = true;
    add(s, "a", 98);
    plan(s, (struct retention_rules){.days = 90, .size_bytes = 1});
    assert_fates(s, "bwA");
    assert_int_equal(s->plan.over_bytes, 199);
}

static void the_newest_of_each_series_stay(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "b", 110);
    add(s, "a", 100);
    add(s, "a", 99);
    add(s, "a", 98);
    plan(s, (struct retention_rules){.days = 90, .newest = 2});
    assert_fates(s, "nAnn");
}

static void series_of_other_projects_are_others(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 100);
    add(s, "a", 99)->project = STR("q");
    plan(s, (struct retention_rules){.days = 90, .newest = 1});
    assert_fates(s, "nn");
}

static void one_run_of_each_span_stays(void **state)
{
    struct store_of_runs *s = *state;
    for (int age = 13; age >= 0; age--) // a span of seven days starts a day before the last run
        add(s, "a", age);
    plan(s, (struct retention_rules){.days = 5, .every_days = 7});
    assert_fates(s, "eAAAAeAA....e.");
}

// What a plan leaves, the same rules leave again on any later day: nightly runs end up a week
// apart, not ever sparser.
static void what_stays_does_not_depend_on_what_went(void **state)
{
    struct store_of_runs *s = *state;
    struct retention_rules rules = {.days = 30, .every_days = 7};
    int64_t now_ns = NOW;
    struct err err;
    for (int age = MOST - 1; age >= 0; age--)
        add(s, "a", age);
    for (int day = 0; day < 60; day++, now_ns += DAY) {
        size_t kept = 0;
        assert_true(retention_plan(&rules, &s->list, now_ns, &s->arena, &s->plan, &err));
        for (size_t i = 0; i < s->list.count; i++)
            if (!retention_goes(s->plan.fates[i]))
                s->runs[kept++] = s->runs[i];
        s->list.count = kept;
    }
    assert_in_range(s->list.count, MOST / 7, MOST / 7 + 2);
    for (size_t i = 2; i < s->list.count; i++)
        assert_int_equal((s->runs[i].created_ns - s->runs[i - 1].created_ns) / DAY, 7);
}

static void the_oldest_go_until_the_rest_fits(void **state)
{
    struct store_of_runs *s = *state;
    for (int age = 9; age >= 0; age--)
        add(s, age % 2 ? "a" : "b", age);
    plan(s, (struct retention_rules){.size_bytes = 750});
    assert_fates(s, "SSS.......");
    assert_int_equal(s->plan.bin_bytes, 300);
    assert_int_equal(s->plan.over_bytes, 0);
}

static void for_its_size_the_thinned_past_goes_last_and_the_newest_never(void **state)
{
    struct store_of_runs *s = *state;
    for (int age = 13; age >= 0; age--)
        add(s, "a", age);
    struct retention_rules rules = {.size_bytes = 500, .every_days = 7, .newest = 3};
    plan(s, rules);
    assert_fates(s, "eSSSSeSSSSSnnn");
    rules.size_bytes = 350;
    plan(s, rules);
    assert_fates(s, "SSSSSSSSSSSnnn");
    rules.size_bytes = 250;
    plan(s, rules);
    assert_fates(s, "SSSSSSSSSSSnnn");
    assert_int_equal(s->plan.over_bytes, 50);
}

static void age_comes_before_size(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 100);
    add(s, "a", 50);
    add(s, "a", 1);
    plan(s, (struct retention_rules){.days = 90, .size_bytes = 200});
    assert_fates(s, "A..");
}

static void the_bin_has_a_time_of_its_own(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 200)->deleted_ns = NOW - 30 * DAY;
    add(s, "a", 200)->deleted_ns = NOW - 29 * DAY;
    add(s, "a", 2);
    add(s, "a", 1);
    plan(s, (struct retention_rules){.days = 90, .size_bytes = 100, .newest = 1, .bin_days = 30});
    assert_fates(s, "GtSn"); // runs in the bin count neither as newest nor towards the size
    assert_int_equal(s->plan.free_bytes, 100);
    assert_int_equal(s->plan.over_bytes, 0);
}

static void a_restored_run_is_as_old_as_its_restore(void **state)
{
    struct store_of_runs *s = *state;
    add(s, "a", 101);
    add(s, "a", 5);
    add(s, "a", 100)->since_ns = NOW - DAY;
    plan(s, (struct retention_rules){.days = 90, .newest = 1});
    assert_fates(s, "An."); // and yet none of the newest
}

static void rules_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct err err;
    const struct retention_rules wrong[] = {{.days = -1},
                                            {.bin_days = RETENTION_MAX_DAYS + 1},
                                            {.every_days = RETENTION_MAX_DAYS + 1},
                                            {.newest = -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(retention_check(&wrong[i], &err));
        assert_int_equal(err.code, ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_rules_all_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_older_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(baselines_and_what_is_analyzed_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_newest_of_each_series_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(series_of_other_projects_are_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_run_of_each_span_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stays_does_not_depend_on_what_went, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_go_until_the_rest_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            for_its_size_the_thinned_past_goes_last_and_the_newest_never, set_up, tear_down),
        cmocka_unit_test_setup_teardown(age_comes_before_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_restored_run_is_as_old_as_its_restore, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_bin_has_a_time_of_its_own, set_up, tear_down),
        cmocka_unit_test(rules_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
