// SPDX-License-Identifier: Apache-2.0
// Several services on one database: whose jobs each recovers, and which of them has a role.
#include "tests/unit/store_fixture.h"

// The fixture's store is that of the service "a".
struct services {
    struct fixture *f;
    struct store *b;
};

static struct services open_both(struct fixture *f)
{
    store_close(f->store);
    f->store = store_open_as(f->path, "a", &f->err);
    assert_ok(f, f->store != NULL);
    struct services both = {f, store_open_as(f->path, "b", &f->err)};
    assert_ok(f, both.b != NULL);
    return both;
}

static int64_t running(struct fixture *f)
{
    return db_raw_number(f->path, "SELECT count(*) FROM job WHERE state = 'running'");
}

static void end_leases(struct fixture *f)
{
    db_raw_run(f->path, "UPDATE job SET lease_until_ns = 1 WHERE state = 'running'");
}

static void a_service_that_starts_leaves_the_jobs_of_others(void **state)
{
    struct fixture *f = *state;
    struct services both = open_both(f);
    add(f, "r", 'a', 0, "x.json");
    struct job job = claim(f);
    assert_ok(f, store_recover_jobs(both.b, true, &f->err));
    assert_int_equal(running(f), 1);
    assert_ok(f, store_recover_jobs(f->store, false, &f->err));
    assert_int_equal(running(f), 0); // it is its own
    assert_false(store_fail_job(f->store, &job, "late", &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    store_close(both.b);
}

static void a_job_whose_lease_ran_out_goes_to_another(void **state)
{
    struct fixture *f = *state;
    struct services both = open_both(f);
    size_t lost;
    bool found;
    add(f, "r", 'a', 0, "x.json");
    struct job job = claim(f), taken;
    assert_ok(f, store_keep_leases(both.b, NULL, 0, &lost, &f->err));
    assert_int_equal(lost, 0);
    end_leases(f);
    assert_ok(f, store_keep_leases(both.b, NULL, 0, &lost, &f->err));
    assert_int_equal(lost, 1);
    db_raw_run(f->path, "UPDATE job SET due_ns = 0");
    assert_ok(f, store_claim_job(both.b, &f->arena, &taken, &found, &f->err));
    assert_true(found);
    assert_int_equal(taken.id, job.id);
    end_leases(f); // the first one cannot renew what is not its own
    assert_ok(f, store_keep_leases(f->store, &job.id, 1, &lost, &f->err));
    assert_int_equal(lost, 1);
    store_close(both.b);
}

// The lease of the other's job does not blame it for a crash of this service.
static void only_own_jobs_are_to_blame_for_a_crash(void **state)
{
    struct fixture *f = *state;
    struct services both = open_both(f);
    add(f, "r", 'a', 0, "x.json");
    claim(f);
    end_leases(f);
    assert_ok(f, store_recover_jobs(both.b, true, &f->err));
    assert_int_equal(running(f), 0);
    assert_int_equal(db_raw_number(f->path, "SELECT sum(crashes) FROM job"), 0);
    store_close(both.b);
}

static void a_role_is_taken_by_one_until_its_time_is_over(void **state)
{
    struct fixture *f = *state;
    struct services both = open_both(f);
    bool leads;
    for (int i = 0; i < 2; i++) {
        assert_ok(f, store_take_role(f->store, "care", &leads, &f->err));
        assert_true(leads);
        assert_ok(f, store_take_role(both.b, "care", &leads, &f->err));
        assert_false(leads);
    }
    assert_ok(f, store_take_role(both.b, "other", &leads, &f->err));
    assert_true(leads);
    db_raw_run(f->path, "UPDATE leader SET until_ns = 1");
    assert_ok(f, store_take_role(both.b, "care", &leads, &f->err));
    assert_true(leads);
    assert_ok(f, store_take_role(f->store, "care", &leads, &f->err));
    assert_false(leads);
    store_close(both.b);
}

static void all_services_get_the_first_mark_of_the_place(void **state)
{
    struct fixture *f = *state;
    struct services both = open_both(f);
    char kept[STORE_ID_SIZE];
    assert_ok(f, store_keep_mark(f->store, "one", kept, &f->err));
    assert_string_equal(kept, "one");
    assert_ok(f, store_keep_mark(both.b, "other", kept, &f->err));
    assert_string_equal(kept, "one");
    store_close(both.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_that_starts_leaves_the_jobs_of_others, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_whose_lease_ran_out_goes_to_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_own_jobs_are_to_blame_for_a_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_services_get_the_first_mark_of_the_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_role_is_taken_by_one_until_its_time_is_over, set_up,
                                        tear_down),
    };
    return run_on_each_kind(tests);
}
