// SPDX-License-Identifier: Apache-2.0
// Roles of a reinforcement learning job: names of ranges, and spans of ranks put in order of time.
#include "analysis/names/role_name.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_roles.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void assert_role(const char *range, const char *role)
{
    struct str found = role_name_of(str_of(range));
    if (!role)
        assert_null(found.at);
    else
        assert_true(found.at && str_equal(found, str_of(role)));
}

static void names_of_ranges_say_roles(void **state)
{
    (void)state;
    assert_role("generate_sequences", "generation");
    assert_role("Rollout #3", "generation");
    assert_role("compute_ref_log_prob", "reference");
    assert_role("actor/compute_ref_log_prob", "reference");
    assert_role("compute_rm_score", "reward");
    assert_role("update_critic", "critic");
    assert_role("update_actor", "policy");
    assert_role("role=judge", "judge");
    assert_role("forward", NULL);
    assert_role("refresh", NULL);
    assert_role("regenerate", NULL);
    assert_role("role=", NULL);
    assert_role("", NULL);
}

struct bench {
    struct arena arena;
    struct report heads[2], report;
    struct run run;
    struct rank_source source;
    struct run_roles roles;
    struct err err;
};

enum { NO_STEP = -1 };

static const int64_t both[] = {0, 1};

static void begin(struct bench *bench)
{
    *bench = (struct bench){0};
    arena_init(&bench->arena, NULL);
    bench->report.arena = &bench->arena;
    bench->run = (struct run){.source = &bench->source,
                              .ranks = both,
                              .count = 2,
                              .heads = bench->heads,
                              .report = &bench->report};
    for (int64_t i = 0; i < 2; i++) {
        struct row row = {.desc = &table_summary};
        bench->heads[i].arena = &bench->arena;
        row_i64(&row, SUMMARY_WINDOW_BEGIN_NS, 1000000 + 100 * i);
        assert_true(row_end(&row, &bench->heads[i], &bench->err));
    }
    run_roles_open(&bench->roles, NULL);
}

static void end(struct bench *bench)
{
    run_roles_close(&bench->roles);
    arena_free(&bench->arena);
}

static void add_step(struct report *report, const char *role, int64_t step, int64_t begin_ns,
                     int64_t end_ns)
{
    struct row row = {.desc = &table_role_steps};
    row_word(&row, ROLE_STEPS_ROLE, role);
    row_i64_if(&row, ROLE_STEPS_STEP, step != NO_STEP, step);
    row_i64(&row, ROLE_STEPS_BEGIN_NS, begin_ns);
    row_i64(&row, ROLE_STEPS_END_NS, end_ns);
    row_i64(&row, ROLE_STEPS_COMPUTE_NS, end_ns - begin_ns);
    struct err err;
    assert_true(row_end(&row, report, &err));
}

static void waits_lie_between_the_spans_of_all_ranks(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    for (size_t rank = 0; rank < 2; rank++) {
        struct report report = {.arena = &bench.arena};
        add_step(&report, "generation", 1, 0, 500);
        add_step(&report, "policy", 1, 700, 900);
        if (rank == 1)
            add_step(&report, "generation", 2, 1400, 1500);
        assert_true(run_roles_add(&bench.roles, &bench.run, rank, &report, &bench.err));
    }
    assert_true(run_roles_write(&bench.roles, &bench.run, &bench.err));
    const struct table *steps = report_find(&bench.report, "role_steps");
    assert_int_equal(steps->row_count, 3);
    assert_int_equal(table_i64(steps, 0, RUN_ROLE_STEPS_END_NS, -1), 600); // the later clock's
    assert_int_equal(table_i64(steps, 1, RUN_ROLE_STEPS_WAIT_NS, -1), 100);
    assert_int_equal(table_i64(steps, 1, RUN_ROLE_STEPS_RANKS, -1), 2);
    assert_int_equal(table_i64(steps, 2, RUN_ROLE_STEPS_WAIT_NS, -1), 500);
    assert_true(table_is(steps, 2, RUN_ROLE_STEPS_AFTER, STR("policy")));
    const struct table *roles = report_find(&bench.report, "roles");
    assert_int_equal(roles->row_count, 2);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_STEPS, -1), 2);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_SHARED_STEPS, -1), 1);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_COMPUTE_NS, -1), 1100);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_WAIT_NS, -1), 500);
    assert_int_equal(table_i64(roles, 1, RUN_ROLES_WAIT_NS, -1), 100);
    end(&bench);
}

// It may be before the first step and after the last, and would hide everything between.
static void work_outside_the_steps_ends_no_wait(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    struct report report = {.arena = &bench.arena};
    add_step(&report, "generation", NO_STEP, 0, 5000);
    add_step(&report, "generation", 1, 1000, 1500);
    add_step(&report, "policy", 1, 1700, 1900);
    assert_true(run_roles_add(&bench.roles, &bench.run, 0, &report, &bench.err));
    assert_true(run_roles_write(&bench.roles, &bench.run, &bench.err));
    const struct table *steps = report_find(&bench.report, "role_steps");
    assert_int_equal(steps->row_count, 3);
    assert_true(table_cell(steps, 0, RUN_ROLE_STEPS_AFTER)->null);
    assert_true(table_cell(steps, 1, RUN_ROLE_STEPS_AFTER)->null);
    assert_int_equal(table_i64(steps, 2, RUN_ROLE_STEPS_WAIT_NS, -1), 200);
    const struct table *roles = report_find(&bench.report, "roles");
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_COMPUTE_NS, -1), 5500);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_SPAN_NS, -1), 500);
    assert_int_equal(table_i64(roles, 0, RUN_ROLES_STEPS, -1), 1);
    end(&bench);
}

// In a trace without steps there is no other work.
static void without_steps_all_work_is_in_order(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    struct report report = {.arena = &bench.arena};
    add_step(&report, "generation", NO_STEP, 0, 500);
    add_step(&report, "policy", NO_STEP, 700, 900);
    assert_true(run_roles_add(&bench.roles, &bench.run, 0, &report, &bench.err));
    assert_true(run_roles_write(&bench.roles, &bench.run, &bench.err));
    const struct table *steps = report_find(&bench.report, "role_steps");
    assert_int_equal(table_i64(steps, 1, RUN_ROLE_STEPS_WAIT_NS, -1), 200);
    end(&bench);
}

static void one_role_is_no_division_of_work(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    struct report report = {.arena = &bench.arena};
    add_step(&report, "generation", 1, 0, 500);
    assert_true(run_roles_add(&bench.roles, &bench.run, 0, &report, &bench.err));
    assert_true(run_roles_write(&bench.roles, &bench.run, &bench.err));
    assert_int_equal(bench.report.table_count, 0);
    end(&bench);
}

static void times_of_a_hostile_report_do_not_overflow(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    struct report report = {.arena = &bench.arena};
    add_step(&report, "generation", INT64_MAX, INT64_MAX - 5, INT64_MAX);
    add_step(&report, "policy", INT64_MIN, INT64_MIN / 4, INT64_MIN / 4 + 1);
    assert_true(run_roles_add(&bench.roles, &bench.run, 0, &report, &bench.err));
    assert_true(run_roles_write(&bench.roles, &bench.run, &bench.err));
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_ranges_say_roles),
        cmocka_unit_test(waits_lie_between_the_spans_of_all_ranks),
        cmocka_unit_test(work_outside_the_steps_ends_no_wait),
        cmocka_unit_test(without_steps_all_work_is_in_order),
        cmocka_unit_test(one_role_is_no_division_of_work),
        cmocka_unit_test(times_of_a_hostile_report_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
