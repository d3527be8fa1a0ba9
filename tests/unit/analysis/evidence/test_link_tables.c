// SPDX-License-Identifier: Apache-2.0
// The tables of tests and records of links.
#include "analysis/evidence/evidence_report.h"
#include "analysis/evidence/link_tables.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "tests/unit/links_hand.h"

#include <stdio.h>

struct shown {
    struct links_hand hand;
    struct arena arena;
    struct report report;
};

static void show(struct shown *shown)
{
    arena_init(&shown->arena, &shown->hand.budget);
    shown->report = (struct report){.arena = &shown->arena};
    if (!evidence_report(&shown->hand.evidence, STR("a.txt"), &shown->report, &shown->hand.err))
        fail_msg("%s", shown->hand.err.msg);
}

static void read_shown(struct shown *shown, const char *format, const char *text)
{
    links_hand_read(&shown->hand, format, str_of(text));
    show(shown);
}

static void close_shown(struct shown *shown)
{
    arena_free(&shown->arena);
    links_hand_free(&shown->hand);
}

static const struct table *shown_table(const struct shown *shown, const struct table_desc *desc,
                                       size_t rows)
{
    const struct table *table = report_find(&shown->report, desc->name);
    assert_non_null(table);
    assert_int_equal(table->row_count, rows);
    return table;
}

static void assert_cell(const struct table *table, size_t row, unsigned column,
                        const char *expected)
{
    assert_text(table_text(table, row, column), expected);
}

// --- tests --------------------------------------------------------------------------------------

#define SETUP "# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) validation: 1\n"
#define RANK(n, host) \
    "#  Rank  " n " Group  0 Pid  7 on  " host " device  0 [0000:05:00] Some GPU\n"
#define BOTH "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"

static void a_size_has_a_row_for_each_mode(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "nccl-tests",
               SETUP RANK("0", "a") RANK("1", "b") BOTH
               " 1024 256 float sum -1 10.5 97.52 97.52 0 20.0 51.20 51.20 N/A\n"
               "# Collective test concluded: all_reduce_perf\n");
    const struct table *tests = shown_table(&shown, &table_link_tests, 2);
    assert_cell(tests, 0, LINK_TESTS_FILE, "a.txt");
    assert_cell(tests, 0, LINK_TESTS_TOOL, "nccl-tests");
    assert_cell(tests, 0, LINK_TESTS_KIND, "all_reduce");
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_RANKS, -1), 2);
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_NODES, -1), 2);
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_BYTES, -1), 1024);
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_IN_PLACE, -1), 0);
    assert_int_equal(table_i64(tests, 1, LINK_TESTS_IN_PLACE, -1), 1);
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_TIME_NS, -1), 10500);
    assert_near(table_f64(tests, 1, LINK_TESTS_BUS_GBPS, -1), 51.2, 1e-9);
    assert_int_equal(table_i64(tests, 0, LINK_TESTS_WRONG, -1), 0);
    assert_true(table_cell(tests, 1, LINK_TESTS_WRONG)->null);
    assert_true(table_cell(tests, 0, LINK_TESTS_P99_NS)->null);
    assert_null(report_find(&shown.report, "link_topology"));
    close_shown(&shown);
}

static void a_test_between_two_hosts_is_no_collective(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "perftest",
               "-----\n                    Send BW Test\n-----\n"
               " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
               " 65536 5000 396.0 392.0 0.7\n-----\n");
    const struct table *tests = shown_table(&shown, &table_link_tests, 1);
    assert_cell(tests, 0, LINK_TESTS_OPERATION, "Send BW");
    assert_true(table_cell(tests, 0, LINK_TESTS_KIND)->null);
    assert_true(table_cell(tests, 0, LINK_TESTS_DTYPE)->null);
    assert_near(table_f64(tests, 0, LINK_TESTS_BUS_GBPS, -1), 49, 1e-9);
    close_shown(&shown);
}

static void wrong_results_are_doubted(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "nccl-tests",
               SETUP BOTH " 1024 256 float sum -1 10.5 97.52 146.3 3 20.0 51.20 76.80 0\n");
    assert_int_equal(trust_count(&shown.report, "link_wrong_results"), 1);
    const struct table *trust = report_find(&shown.report, "trust");
    assert_cell(trust, 0, TRUST_SEVERITY, "error");
    assert_cell(trust, 0, TRUST_DETAIL, "rows with wrong results in a.txt");
    close_shown(&shown);
}

static void a_long_test_is_cut_and_says_so(void **state)
{
    (void)state;
    struct shown shown = {.hand = {.budget = {.limit = (uint64_t)64 << 20}}};
    struct links_hand *hand = &shown.hand;
    struct link_run run = {.tool = STR("nccl-tests"), .collective = STR("all_reduce"), .ranks = 2};
    evidence_init(&hand->evidence, &hand->budget);
    assert_true(link_tests_add(&hand->evidence, LINK_RUNS, &run, &hand->err));
    for (int i = 0; i < LINK_TABLE_ROWS + 5; i++) {
        struct link_row row = {.bytes = i, .time_ns = 1, .bus_bps = 1e9};
        assert_true(link_tests_add(&hand->evidence, LINK_ROWS, &row, &hand->err));
    }
    show(&shown);
    (void)shown_table(&shown, &table_link_tests, LINK_TABLE_ROWS);
    assert_int_equal(trust_count(&shown.report, TRUST_ROWS_LEFT_OUT), 5);
    close_shown(&shown);
}

// --- hosts --------------------------------------------------------------------------------------

static void paths_have_their_meaning(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "nvidia-smi-topo",
               "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
               "GPU0\t X \tNV18\tPIX\t0-55\t0\nGPU1\tNV1\t X \tSYS\t\t1\n"
               "NIC0\tPIX\tSYS\t X \t\t\nNIC0: mlx5_0\n");
    const struct table *topology = shown_table(&shown, &table_link_topology, 6);
    assert_cell(topology, 0, LINK_TOPOLOGY_FROM_NAME, "GPU0");
    assert_cell(topology, 0, LINK_TOPOLOGY_FROM_NUMA, "0");
    assert_cell(topology, 0, LINK_TOPOLOGY_TO_NAME, "GPU1");
    assert_cell(topology, 0, LINK_TOPOLOGY_KIND, "NV18");
    assert_cell(topology, 0, LINK_TOPOLOGY_MEANING, "18 bonded NVLinks");
    assert_cell(topology, 2, LINK_TOPOLOGY_MEANING, "1 NVLink");
    assert_cell(topology, 1, LINK_TOPOLOGY_TO_DEVICE, "mlx5_0");
    assert_cell(topology, 1, LINK_TOPOLOGY_MEANING, "at most one PCIe bridge");
    assert_true(table_cell(topology, 0, LINK_TOPOLOGY_FROM_DEVICE)->null);
    close_shown(&shown);
}

static void matrices_of_several_hosts_are_counted(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "nvidia-smi-topo",
               "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
               "GPU1\tNV4\t X \t0\t0\nGPU0\t X \tNV4\t0\t0\n"
               "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
               "GPU0\t X \tSYS\t0\t0\nGPU1\tSYS\t X \t0\t0\n");
    const struct table *topology = shown_table(&shown, &table_link_topology, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(table_i64(topology, i, LINK_TOPOLOGY_MATRIX, -1), i / 2);
    close_shown(&shown);
}

static void ports_have_their_rate_in_bytes(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "ibstat",
               "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"
               "\t\tLink layer: InfiniBand\nCA 'mlx5_1'\n\tCA type: MT4129\n\tPort 1:\n"
               "\t\tState: Down\n");
    const struct table *ports = shown_table(&shown, &table_link_ports, 2);
    assert_cell(ports, 0, LINK_PORTS_DEVICE, "mlx5_0");
    assert_near(table_f64(ports, 0, LINK_PORTS_RATE_GBPS, -1), 50, 1e-9);
    assert_cell(ports, 1, LINK_PORTS_STATE, "Down");
    assert_true(table_cell(ports, 1, LINK_PORTS_RATE_GBPS)->null);
    assert_true(table_cell(ports, 1, LINK_PORTS_LAYER)->null);
    close_shown(&shown);
}

// --- communicators ------------------------------------------------------------------------------

#define RECORD(rank, bytes, us, bus)                                                            \
    "{\"header\":{\"id\":\"0x1\",\"rank\":" rank ",\"n_ranks\":2,\"nnodes\":1},\"coll_perf\":{" \
    "\"coll\":\"AllReduce\",\"coll_msg_size_bytes\":" bytes ",\"coll_exec_time_us\":" us        \
    ",\"coll_busbw_gbs\":" bus "}}\n"

static void records_are_summed_up_by_size(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(&shown, "nccl-inspector",
               RECORD("0", "4096", "30", "3") RECORD("1", "4096", "10", "9")
                   RECORD("0", "1024", "7", "1") RECORD("1", "4096", "20", "5"));
    const struct table *records = shown_table(&shown, &table_link_records, 2);
    assert_cell(records, 0, LINK_RECORDS_KIND, "all_reduce");
    assert_int_equal(table_i64(records, 0, LINK_RECORDS_BYTES, -1), 1024);
    assert_int_equal(table_i64(records, 1, LINK_RECORDS_BYTES, -1), 4096);
    assert_int_equal(table_i64(records, 1, LINK_RECORDS_CALLS, -1), 3);
    assert_int_equal(table_i64(records, 1, LINK_RECORDS_MEDIAN_NS, -1), 20000);
    assert_int_equal(table_i64(records, 1, LINK_RECORDS_RANKS, -1), 2);
    assert_near(table_f64(records, 1, LINK_RECORDS_BUS_GBPS, -1), 5, 1e-9);
    assert_near(table_f64(records, 1, LINK_RECORDS_BEST_BUS_GBPS, -1), 9, 1e-9);
    assert_null(report_find(&shown.report, "link_communicators"));
    close_shown(&shown);
}

#define MEMBER(rank, error, count)                                                \
    "{\"rank\":" rank ",\"status\":{\"init_state\":0,\"async_error\":" error "}," \
    "\"collective_counts\":{\"AllReduce\":" count ",\"AllGather\":10}}"

static void communicators_name_who_is_missing_or_behind(void **state)
{
    (void)state;
    struct shown shown;
    read_shown(
        &shown, "nccl-ras-json",
        "{\"nccl_version\":\"2.28\",\"communicators_count\":2,\"communicators\":["
        "{\"hash\":\"0x1\",\"size\":5,\"missing_ranks_count\":2,\"ranks\":[" MEMBER(
            "0", "0",
            "7") "," MEMBER("1", "3",
                            "5") "," MEMBER("2", "0",
                                            "7") "],\"missing_ranks\":[{\"rank\":4},{\"rank\":3}]},"
                                                 "{\"hash\":\"0x2\",\"size\":2,\"missing_ranks_"
                                                 "count\":0,\"ranks\":[" MEMBER(
                                                     "0", "0", "9") "," MEMBER("1", "0",
                                                                               "9") "]}]}");
    const struct table *comms = shown_table(&shown, &table_link_communicators, 2);
    assert_cell(comms, 0, LINK_COMMUNICATORS_COMMUNICATOR, "0x1");
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_RANKS, -1), 5);
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_MISSING_RANKS, -1), 2);
    assert_cell(comms, 0, LINK_COMMUNICATORS_MISSING, "3-4");
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_FAILED_RANKS, -1), 1);
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_LEAST_COLLECTIVES, -1), 15);
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_MOST_COLLECTIVES, -1), 17);
    assert_int_equal(table_i64(comms, 0, LINK_COMMUNICATORS_BEHIND_RANK, -1), 1);
    assert_true(table_cell(comms, 1, LINK_COMMUNICATORS_BEHIND_RANK)->null);
    assert_true(table_cell(comms, 1, LINK_COMMUNICATORS_MISSING)->null);
    close_shown(&shown);
}

// --- nothing ------------------------------------------------------------------------------------

static void a_file_without_rows_says_so(void **state)
{
    (void)state;
    struct shown shown = {.hand = {.budget = {.limit = 1 << 20}}};
    evidence_init(&shown.hand.evidence, &shown.hand.budget);
    show(&shown);
    assert_int_equal(trust_count(&shown.report, "file_without_rows"), 1);
    close_shown(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_has_a_row_for_each_mode),
        cmocka_unit_test(a_test_between_two_hosts_is_no_collective),
        cmocka_unit_test(wrong_results_are_doubted),
        cmocka_unit_test(a_long_test_is_cut_and_says_so),
        cmocka_unit_test(paths_have_their_meaning),
        cmocka_unit_test(matrices_of_several_hosts_are_counted),
        cmocka_unit_test(ports_have_their_rate_in_bytes),
        cmocka_unit_test(records_are_summed_up_by_size),
        cmocka_unit_test(communicators_name_who_is_missing_or_behind),
        cmocka_unit_test(a_file_without_rows_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
