// SPDX-License-Identifier: Apache-2.0
// Collectives of a run beside what tests of its links reached.
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_link_shares.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MIB (INT64_C(1) << 20)

struct joined {
    struct arena arena;
    struct report report;
    struct err err;
};

static int set_up(void **state)
{
    static struct joined joined;
    joined = (struct joined){.err = {.pos = ERR_NO_POS}};
    arena_init(&joined.arena, NULL);
    joined.report.arena = &joined.arena;
    *state = &joined;
    return 0;
}

static int tear_down(void **state)
{
    struct joined *joined = *state;
    arena_free(&joined->arena);
    return 0;
}

// An all_reduce at that bus bandwidth.
static void measure(struct joined *joined, const char *file, int64_t nodes, int64_t bytes,
                    double bus_gbps)
{
    struct row row = {.desc = &table_link_tests};
    row_text(&row, LINK_TESTS_FILE, str_of(file));
    row_word(&row, LINK_TESTS_TOOL, "nccl-tests");
    row_word(&row, LINK_TESTS_KIND, "all_reduce");
    row_i64(&row, LINK_TESTS_RANKS, 8);
    row_i64_if(&row, LINK_TESTS_NODES, nodes, nodes);
    row_i64(&row, LINK_TESTS_BYTES, bytes);
    row_f64(&row, LINK_TESTS_BUS_GBPS, bus_gbps);
    assert_true(row_end(&row, &joined->report, &joined->err));
}

static void wait_row(struct joined *joined, const char *kind, const char *span, int64_t bytes,
                     double bus_gbps)
{
    struct row row = {.desc = &table_run_comm_waits};
    row_word(&row, RUN_COMM_WAITS_PROCESS_GROUP, span ? span : "");
    row_i64(&row, RUN_COMM_WAITS_GROUP_SIZE, 8);
    row_word(&row, RUN_COMM_WAITS_KIND, kind);
    row_i64_if(&row, RUN_COMM_WAITS_BYTES, bytes, bytes);
    row_word(&row, RUN_COMM_WAITS_SPAN, span);
    row_f64(&row, RUN_COMM_WAITS_BUS_GBPS, bus_gbps);
    assert_true(row_end(&row, &joined->report, &joined->err));
}

static void recorded_row(struct joined *joined, const char *group, int64_t bytes, double bus_gbps)
{
    const unsigned sums = RUN_COLLECTIVES_COLLECTIVE_SUMS;
    struct row row = {.desc = &table_run_collectives};
    row_word(&row, sums + COLLECTIVE_SUMS_PROCESS_GROUP, group);
    row_i64(&row, sums + COLLECTIVE_SUMS_GROUP_SIZE, 8);
    row_word(&row, sums + COLLECTIVE_SUMS_KIND, "all_reduce");
    row_i64(&row, sums + COLLECTIVE_SUMS_BYTES, bytes);
    row_f64(&row, sums + COLLECTIVE_SUMS_BUS_GBPS, bus_gbps);
    assert_true(row_end(&row, &joined->report, &joined->err));
}

static const struct table *share(struct joined *joined, const char *name)
{
    if (!run_link_shares(&joined->report, &joined->err))
        fail_msg("%s", joined->err.msg);
    return report_find(&joined->report, name);
}

static void assert_wait(const struct table *waits, size_t row, double gbps, double of,
                        const char *basis)
{
    double reference = table_f64(waits, row, RUN_COMM_WAITS_REFERENCE_GBPS, -1);
    double reached = table_f64(waits, row, RUN_COMM_WAITS_REFERENCE_SHARE, -1);
    struct str from = table_text(waits, row, RUN_COMM_WAITS_REFERENCE_BASIS);
    if (!(fabs(reference - gbps) < 1e-6) || !(fabs(reached - of) < 1e-9) ||
        !str_equal(from, str_of(basis)))
        fail_msg("row %zu: %g GB/s, %g, \"%.*s\"", row, reference, reached, (int)from.len, from.at);
}

static void a_collective_has_its_share_of_the_test(void **state)
{
    struct joined *joined = *state;
    measure(joined, "a.txt", 1, 1 * MIB, 100);
    measure(joined, "b.txt", 1, 16 * MIB, 400);
    wait_row(joined, "all_reduce", "intra-node", 16 * MIB, 244);
    wait_row(joined, "all_reduce", "intra-node", 4 * MIB, 50);
    const struct table *waits = share(joined, "comm_waits");
    assert_wait(waits, 0, 400, 0.61, "b.txt");
    // by the power law between both sizes
    assert_wait(waits, 1, 200, 0.25, "b.txt");
}

static void the_tests_of_a_run_are_curves(void **state)
{
    struct joined *joined = *state;
    measure(joined, "two.txt", 2, 8 * MIB, 40);
    measure(joined, "a.txt", 1, 1 * MIB, 100);
    measure(joined, "a.txt", 1, 16 * MIB, 380);
    measure(joined, "b.txt", 1, 16 * MIB, 400);
    measure(joined, "b.txt", 1, 32 * MIB, 410);
    const struct table *curves = share(joined, "link_curves");
    assert_int_equal(curves->row_count, 2);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_NODES, -1), 1);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_SIZES, -1), 3);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_LEAST_BYTES, -1), MIB);
    assert_true(fabs(table_f64(curves, 0, RUN_LINK_CURVES_PEAK_GBPS, -1) - 410) < 1e-9);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_PEAK_BYTES, -1), 32 * MIB);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_RISING, -1), 0);
    assert_int_equal(table_i64(curves, 0, RUN_LINK_CURVES_ENOUGH_BYTES, -1), 16 * MIB);
    assert_true(table_cell(curves, 0, RUN_LINK_CURVES_FLOOR_NS)->null);
    assert_int_equal(table_i64(curves, 1, RUN_LINK_CURVES_RISING, -1), 1);
}

static void what_was_not_tested_says_why(void **state)
{
    struct joined *joined = *state;
    measure(joined, "a.txt", 1, 1 * MIB, 100);
    measure(joined, "a.txt", 1, 2 * MIB, 100);
    wait_row(joined, "all_gather", "intra-node", MIB, 50);
    wait_row(joined, "all_reduce", "intra-node", MIB / 2, 50);
    wait_row(joined, "all_reduce", "intra-node", 4 * MIB, 50);
    wait_row(joined, "all_reduce", "intra-node", 0, NAN);
    wait_row(joined, "all_reduce", "inter-node", MIB, 50);
    const struct table *waits = share(joined, "comm_waits");
    assert_wait(waits, 0, -1, -1, "not tested");
    assert_wait(waits, 1, -1, -1, "smaller than tested");
    assert_wait(waits, 2, -1, -1, "larger than tested");
    assert_wait(waits, 3, -1, -1, "size or ranks unknown");
    assert_wait(waits, 4, -1, -1, "not tested with this many ranks and nodes");
}

static void a_group_across_nodes_is_compared_with_such_a_test(void **state)
{
    struct joined *joined = *state;
    measure(joined, "one.txt", 1, MIB, 400);
    measure(joined, "two.txt", 2, MIB, 50);
    wait_row(joined, "all_reduce", "inter-node", MIB, 25);
    wait_row(joined, "all_reduce", "intra-node", MIB, 100);
    wait_row(joined, "all_reduce", NULL, MIB, 25);
    recorded_row(joined, "inter-node", MIB, 10);
    recorded_row(joined, "intra-node", MIB, 10);
    const struct table *waits = share(joined, "comm_waits");
    assert_wait(waits, 0, 50, 0.5, "two.txt");
    assert_wait(waits, 1, 400, 0.25, "one.txt");
    assert_wait(waits, 2, -1, -1, "tested on different numbers of nodes");
    // whose group spans nodes as it does among the waits
    const struct table *recorded = report_find(&joined->report, "collectives");
    assert_true(table_f64(recorded, 0, RUN_COLLECTIVES_REFERENCE_SHARE, -1) == 0.2);
    assert_true(table_f64(recorded, 1, RUN_COLLECTIVES_REFERENCE_SHARE, -1) == 0.025);
}

static void without_tests_nothing_is_filled(void **state)
{
    struct joined *joined = *state;
    wait_row(joined, "all_reduce", "intra-node", MIB, 50);
    const struct table *waits = share(joined, "comm_waits");
    assert_true(table_cell(waits, 0, RUN_COMM_WAITS_REFERENCE_BASIS)->null);
    assert_true(table_cell(waits, 0, RUN_COMM_WAITS_REFERENCE_GBPS)->null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_collective_has_its_share_of_the_test, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_tests_of_a_run_are_curves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_tested_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_group_across_nodes_is_compared_with_such_a_test, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_tests_nothing_is_filled, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
