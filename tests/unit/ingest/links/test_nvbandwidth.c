// SPDX-License-Identifier: Apache-2.0
// Tests of nvbandwidth, as text and as JSON: the mean of a matrix, and its slowest pair.
#include "tests/unit/links_hand.h"

static const struct link_run *run_of(const struct links_hand *hand, size_t i)
{
    assert_true(i < hand->evidence.links.parts[LINK_RUNS].count);
    return (const struct link_run *)hand->evidence.links.parts[LINK_RUNS].items + i;
}

static const struct link_row *row_of(const struct links_hand *hand, size_t i)
{
    assert_true(i < hand->evidence.links.parts[LINK_ROWS].count);
    return (const struct link_row *)hand->evidence.links.parts[LINK_ROWS].items + i;
}

static size_t row_count(const struct links_hand *hand)
{
    return hand->evidence.links.parts[LINK_ROWS].count;
}

static void text_has_a_matrix_for_each_test(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvbandwidth",
                    STR("nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\n"
                        "CUDA Runtime Version: 12080\nDriver Version: 570.86.15\n\ngpu012\n"
                        "Device 0: NVIDIA H100 80GB HBM3 (00000000:18:00)\n\n"
                        "Running host_to_device_memcpy_ce.\n"
                        "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
                        "           0         1         2\n 0     50.00     10.00     60.00\n\n"
                        "SUM host_to_device_memcpy_ce 120.00\n\n"
                        "Running device_to_device_memcpy_read_ce.\n"
                        "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
                        "           0         1\n 0       N/A    300.00\n 1    400.00       N/A\n\n"
                        "SUM device_to_device_memcpy_read_ce 700.00\n"
                        "COEFFICIENT_OF_VARIATION device_to_device_memcpy_read_ce 0.00\n\n"
                        "Running multinode_device_to_device_memcpy_read_ce.\n"
                        "Waived: \n"
                        "Running device_to_device_latency_sm.\n"
                        "Device to Device Latency SM GPU(row) <-> GPU(column) latency (ns)\n"
                        "           0         1\n 0       N/A    700.00\n 1    900.00       N/A\n\n"
                        "SUM device_to_device_latency_sm 1600.00\n"));
    assert_int_equal(row_count(&hand), 6);
    assert_text(run_of(&hand, 0)->collective, "host_to_device_memcpy_ce");
    assert_text(run_of(&hand, 0)->version, "v0.8");
    assert_near(row_of(&hand, 0)->bus_bps, 40e9, 1);
    assert_near(row_of(&hand, 0)->peak_bps, 60e9, 1);
    assert_text(run_of(&hand, 1)->collective, "host_to_device_memcpy_ce, slowest: row 0, column 1");
    assert_near(row_of(&hand, 1)->bus_bps, 10e9, 1);
    assert_near(row_of(&hand, 2)->bus_bps, 350e9, 1);
    assert_text(run_of(&hand, 5)->collective,
                "device_to_device_latency_sm, slowest: row 1, column 0");
    assert_near(row_of(&hand, 4)->time_ns, 800, 1e-6);
    assert_near(row_of(&hand, 5)->time_ns, 900, 1e-6);
    for (int i = 0; i < LINK_WARNINGS; i++)
        assert_int_equal(hand.evidence.links.warnings[i].count, 0);
    links_hand_free(&hand);
}

static void text_that_is_cut_gives_what_came_before(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvbandwidth",
                    STR("[1,0]<stdout>:nvbandwidth Version: v0.8\n"
                        "[1,0]<stdout>:Running device_to_device_memcpy_read_ce.\n"
                        "[1,0]<stdout>:memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
                        "[1,0]<stdout>:           0         1\n"
                        "[1,0]<stdout>: 0       N/A    300.00\n"
                        "[1,0]<stdout>: 1    40"));
    assert_int_equal(row_count(&hand), 1);
    assert_near(row_of(&hand, 0)->bus_bps, 300e9, 1);
    assert_int_equal(hand.evidence.links.warnings[LINK_CUT].count, 1);
    assert_int_equal(hand.evidence.links.warnings[LINK_BAD_ROW].count, 1);
    links_hand_free(&hand);
}

static void json_has_the_same(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvbandwidth-json",
                    STR("{\"nvbandwidth\": {\"CUDA Runtime Version\": 12070, \"testcases\": ["
                        "{\"bandwidth_description\": \"memcpy CE CPU(row) <- GPU(column) bandwidth "
                        "(GB/s)\", \"bandwidth_matrix\": [[\"50.5\", \"N/A\", \"49.5\"]], "
                        "\"name\": \"device_to_host_memcpy_ce\", \"status\": \"Passed\", "
                        "\"sum\": 100.0}, {\"name\": \"x\", \"status\": \"Waived\"}, "
                        "{\"name\": \"y\", \"status\": \"Error\"}], \"version\": \"v0.8\"}}"));
    assert_int_equal(row_count(&hand), 2);
    assert_near(row_of(&hand, 0)->bus_bps, 50e9, 1);
    assert_text(run_of(&hand, 1)->collective, "device_to_host_memcpy_ce, slowest: row 0, column 2");
    assert_int_equal(hand.evidence.links.warnings[LINK_FAILED].count, 1);
    links_hand_free(&hand);
}

// One direction, the other, and both.
static void the_sums_of_a_bidirectional_test_count(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "nvbandwidth-json",
        STR("{\"nvbandwidth\": {\"testcases\": [{\"bandwidth_description\": \"memcpy CE "
            "GPU(row) <-> GPU(column) Total bandwidth (GB/s)\", \"bandwidth_matrix\": "
            "[[\"N/A\", \"300\"], [\"300\", \"N/A\"], [\"N/A\", \"290\"], "
            "[\"310\", \"N/A\"], [\"N/A\", \"590\"], [\"610\", \"N/A\"]], "
            "\"name\": \"both_ce\", \"status\": \"Passed\", \"sum\": 1200}]}}"));
    assert_int_equal(row_count(&hand), 2);
    assert_text(run_of(&hand, 0)->collective, "both_ce_total");
    assert_near(row_of(&hand, 0)->bus_bps, 600e9, 1);
    assert_near(row_of(&hand, 0)->peak_bps, 610e9, 1);
    assert_text(run_of(&hand, 1)->collective, "both_ce_total, slowest: row 0, column 1");
    assert_near(row_of(&hand, 1)->bus_bps, 590e9, 1);
    links_hand_free(&hand);
}

static void output_without_a_result_says_so(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "nvbandwidth",
                                STR("nvbandwidth Version: v0.8\nRunning a.\nWaived: \n")));
    assert_non_null(strstr(hand.err.msg, "without a single result"));
    links_hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_matrix_for_each_test),
        cmocka_unit_test(text_that_is_cut_gives_what_came_before),
        cmocka_unit_test(json_has_the_same),
        cmocka_unit_test(the_sums_of_a_bidirectional_test_count),
        cmocka_unit_test(output_without_a_result_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
