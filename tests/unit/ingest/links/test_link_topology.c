// SPDX-License-Identifier: Apache-2.0
// perftest between two hosts, nvidia-smi's matrix within one, and the ports of its cards.
#include "tests/unit/links_hand.h"

// --- perftest -----------------------------------------------------------------------------------

#define DASHES      "--------------------------------------------------------------\n"
#define TITLE(name) DASHES "                    " name " Test\n Device         : mlx5_0\n" DASHES
#define BW(unit) \
    " #bytes     #iterations    BW peak[" unit "]    BW average[" unit "]   MsgRate[Mpps]\n"
#define LATENCY                                                                             \
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    " \
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"

static void read_perftest(struct links_hand *hand, const char *text)
{
    links_hand_read(hand, "perftest", str_of(text));
}

static void bandwidths_have_units_of_their_header(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double unit;
    } units[] = {
        {TITLE("RDMA_Write BW") BW("MB/sec") " 8 5000 2.00 1.50 0.1\n" DASHES, 1048576},
        {TITLE("RDMA_Write BW") BW("MiB/sec") " 8 5000 2.00 1.50 0.1\n" DASHES, 1048576},
        {TITLE("RDMA_Write BW") BW("Gb/sec") " 8 5000 2.00 1.50 0.1\n" DASHES, 125e6},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct links_hand hand;
        read_perftest(&hand, units[i].text);
        assert_text(links_hand_run(&hand, 0)->collective, "RDMA_Write BW");
        assert_text(links_hand_run(&hand, 0)->tool, "perftest");
        assert_int_equal(links_hand_row(&hand, 0)->bytes, 8);
        assert_int_equal(links_hand_row(&hand, 0)->count, 5000);
        assert_near(links_hand_row(&hand, 0)->peak_bps, 2 * units[i].unit, 1e-3);
        assert_near(links_hand_row(&hand, 0)->bus_bps, 1.5 * units[i].unit, 1e-3);
        assert_true(isnan(links_hand_row(&hand, 0)->time_ns));
        assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
        links_hand_free(&hand);
    }
}

static void a_peak_of_zero_was_not_measured(void **state)
{
    (void)state;
    struct links_hand hand;
    read_perftest(&hand, BW("MB/sec") " 8 5000 0.00 1.50 0.1\n");
    assert_true(isnan(links_hand_row(&hand, 0)->peak_bps));
    assert_text(links_hand_run(&hand, 0)->collective, "");
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
}

static void latencies_are_means_with_their_spread(void **state)
{
    (void)state;
    struct links_hand hand;
    read_perftest(&hand, TITLE("Send Latency") LATENCY
                  "Conflicting CPU frequency values detected: 2200.0 != 1040.3.\n"
                  " 2 1000 1.85 28.40 2.05 2.11 0.31 2.38 16.81\n 4 1000 1.85\n" DASHES);
    assert_text(links_hand_run(&hand, 0)->collective, "Send Latency");
    assert_near(links_hand_row(&hand, 0)->time_ns, 2110, 1e-6);
    assert_near(links_hand_row(&hand, 0)->least_ns, 1850, 1e-6);
    assert_near(links_hand_row(&hand, 0)->tail_ns, 2380, 1e-6);
    assert_true(isnan(links_hand_row(&hand, 0)->bus_bps));
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 1);
    links_hand_free(&hand);
}

static void old_latencies_are_typical_ones(void **state)
{
    (void)state;
    struct links_hand hand;
    read_perftest(&hand, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"
                         " 2 1000 1.00 3.00 2.00\n");
    assert_near(links_hand_row(&hand, 0)->time_ns, 2000, 1e-6);
    links_hand_free(&hand);
}

static void ports_and_levels_of_service_have_columns_too(void **state)
{
    (void)state;
    struct links_hand hand;
    read_perftest(&hand,
                  "gpu-1:                     RDMA_Write BW Test\n"
                  "gpu-1:  #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
                  "MsgRate[Mpps]   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW "
                  "Port2[Gb/sec]   MsgRate Port2[Mpps]\n"
                  "gpu-1:  65536 10000 0.00 386.00 0.7 193.02 0.3 193.09 0.4\n" TITLE(
                      "Send BW") " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW "
                                 "average[Gb/sec]   MsgRate[Mpps]\n"
                                 " 65536      3           5000           100.50             100.00 "
                                 "     0.18\n");
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 2);
    assert_text(links_hand_run(&hand, 0)->collective, "RDMA_Write BW");
    assert_near(links_hand_row(&hand, 0)->bus_bps, 48.25e9, 1);
    assert_int_equal(links_hand_row(&hand, 1)->count, 5000);
    assert_near(links_hand_row(&hand, 1)->bus_bps, 12.5e9, 1);
    links_hand_free(&hand);
}

static void each_table_is_a_run(void **state)
{
    (void)state;
    struct links_hand hand;
    read_perftest(&hand, TITLE("RDMA_Read BW")
                             BW("MB/sec") " 8 1 2 3 4\n" DASHES "7 8 9 1 2\n" TITLE("Send Latency")
                                 LATENCY " 2 1 1 1 1 1 1 1 1\n" DASHES);
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 2);
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 2);
    assert_int_equal(links_hand_row(&hand, 1)->run, 1);
    links_hand_free(&hand);
}

#define INFO "{\"test_info\": {\"test\": \"Send_BW\",\"Transport_type\": \"IB\"},\n\"results\": {"

static void json_has_the_unit_that_fits_the_rate_of_messages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bps;
    } files[] = {
        {INFO "\"MsgSize\": 65536,\"n_iterations\": 5000,\"BW_peak\": 389.5,\"BW_average\": "
              "388.80,\"MsgRate\": 0.741456}}",
         48.6e9},
        {INFO "\"MsgSize\": 65536,\"n_iterations\": 5000,\"BW_peak\": 0,\"BW_average\": "
              "46341.0,\"MsgRate\": 0.741456}}",
         46341.0 * 1048576},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct links_hand hand;
        links_hand_read(&hand, "perftest-json", str_of(files[i].text));
        assert_text(links_hand_run(&hand, 0)->tool, "perftest");
        assert_text(links_hand_run(&hand, 0)->collective, "Send_BW");
        assert_int_equal(links_hand_row(&hand, 0)->bytes, 65536);
        assert_int_equal(links_hand_row(&hand, 0)->count, 5000);
        assert_near(links_hand_row(&hand, 0)->bus_bps, files[i].bps, 1e3);
        assert_int_equal(isnan(links_hand_row(&hand, 0)->peak_bps), i);
        links_hand_free(&hand);
    }
}

static void json_may_be_of_latencies_or_of_no_known_unit(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "perftest-json",
                    STR(INFO "\"MsgSize\": 2,\"t_min\": 1.85,\"t_max\": 28.4,\"t_typical\": 2.05,"
                             "\"t_avg\": 2.11,\"percentile_99\": 2.38}}"));
    assert_near(links_hand_row(&hand, 0)->time_ns, 2110, 1e-6);
    assert_near(links_hand_row(&hand, 0)->least_ns, 1850, 1e-6);
    assert_near(links_hand_row(&hand, 0)->tail_ns, 2380, 1e-6);
    links_hand_free(&hand);
    assert_false(links_hand_try(&hand, "perftest-json",
                                STR(INFO "\"MsgSize\": 2,\"BW_average\": 5,\"MsgRate\": 9}}")));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

static void a_title_without_results_is_refused(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "perftest", STR(TITLE("Send BW") BW("MB/sec"))));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

// --- topology -----------------------------------------------------------------------------------

#define HEADER "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
#define LEGEND                                                         \
    "\nLegend:\n\n  X    = Self\n  NV#  = a bonded set of # NVLinks\n" \
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC7: mlx5_7\n"

static const struct link_place *place_of(const struct links_hand *hand, size_t index)
{
    const struct link_place *places = hand->evidence.links.parts[LINK_PLACES].items;
    assert_true(index < links_hand_count(hand, LINK_PLACES));
    return &places[index];
}

static void assert_path(const struct links_hand *hand, size_t index, struct link_path expected)
{
    const struct link_path *paths = hand->evidence.links.parts[LINK_PATHS].items;
    assert_true(index < links_hand_count(hand, LINK_PATHS));
    assert_int_equal(paths[index].from, expected.from);
    assert_int_equal(paths[index].to, expected.to);
    assert_text(paths[index].kind, expected.kind.at);
}

static void each_two_devices_have_a_path(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-topo",
                    STR(HEADER
                        "GPU0\t X \tNV18\tPIX\t0-55,112-167\t0\t\tN/A\n"
                        "GPU1\tNV18\t X \tSYS\t\t1\t\tN/A\nNIC0\tPIX\tSYS\t X \t\t\t\t\n" LEGEND));
    assert_int_equal(links_hand_count(&hand, LINK_PLACES), 3);
    assert_int_equal(links_hand_count(&hand, LINK_PATHS), 6);
    assert_path(&hand, 0, (struct link_path){0, 1, STR("NV18")});
    assert_path(&hand, 3, (struct link_path){1, 2, STR("SYS")});
    assert_path(&hand, 4, (struct link_path){2, 0, STR("PIX")});
    assert_text(place_of(&hand, 0)->cpus, "0-55,112-167");
    assert_text(place_of(&hand, 1)->cpus, "");
    assert_text(place_of(&hand, 1)->numa, "1");
    assert_text(place_of(&hand, 2)->name, "NIC0");
    assert_text(place_of(&hand, 2)->device, "mlx5_0");
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 0);
    links_hand_free(&hand);
}

static void copies_from_a_terminal_have_blanks_and_lost_cells(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-topo",
                    STR("$ nvidia-smi topo -m\n"
                        "        GPU0    GPU1    mlx5_0  CPU Affinity    NUMA Affinity\n"
                        "GPU0     X      NODE    PHB     0-31    0\n"
                        "GPU1    NODEX      PHB     0-31    0\n"
                        "mlx5_0  PHB     PHB      X\n"));
    assert_int_equal(links_hand_count(&hand, LINK_PATHS), 4);
    assert_text(place_of(&hand, 0)->cpus, "0-31");
    assert_text(place_of(&hand, 0)->numa, "0");
    assert_path(&hand, 2, (struct link_path){2, 0, STR("PHB")});
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 1);
    links_hand_free(&hand);
}

static void paths_are_counted_by_kind(void **state)
{
    (void)state;
    assert_link_figures(STR(HEADER "GPU0\t X \tNV2\tPIX\t0\t0\nGPU1\tNV2\t X \tPIX\t0\t0\n"),
                        "{\"gpus\":2,\"nics\":1,\"paths\":{\"NV2\":2,\"PIX\":2}}");
}

static void a_header_alone_is_refused(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "nvidia-smi-topo", STR(HEADER "GPU0\tX\n")));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

// --- ports --------------------------------------------------------------------------------------

#define CARD(name) "CA '" name "'\n\tCA type: MT4129\n\tNumber of ports: 1\n"
#define PORT(number, state, rate)                                                           \
    "\tPort " number ":\n\t\tState: " state "\n\t\tPhysical state: LinkUp\n\t\tRate: " rate \
    "\n\t\tPort GUID: 0x1\n\t\tLink layer: InfiniBand\n"

static const struct link_port *port_of(const struct links_hand *hand, size_t index)
{
    const struct link_port *ports = hand->evidence.links.parts[LINK_PORTS].items;
    assert_true(index < links_hand_count(hand, LINK_PORTS));
    return &ports[index];
}

static void each_port_has_its_state_and_rate(void **state)
{
    (void)state;
    struct links_hand hand;
    static const char cards[] =
        CARD("mlx5_0") PORT("1", "Active", "400") PORT("2", "Down", "x") CARD("mlx5_1") "\tPort 1:";
    links_hand_read(&hand, "ibstat", str_of(cards));
    assert_int_equal(links_hand_count(&hand, LINK_PORTS), 3);
    assert_text(port_of(&hand, 0)->device, "mlx5_0");
    assert_int_equal(port_of(&hand, 0)->number, 1);
    assert_text(port_of(&hand, 0)->state, "Active");
    assert_text(port_of(&hand, 0)->layer, "InfiniBand");
    assert_near(port_of(&hand, 0)->rate_bps, 50e9, 1);
    assert_int_equal(port_of(&hand, 1)->number, 2);
    assert_text(port_of(&hand, 1)->state, "Down");
    assert_true(isnan(port_of(&hand, 1)->rate_bps));
    assert_text(port_of(&hand, 2)->device, "mlx5_1");
    assert_text(port_of(&hand, 2)->state, "");
    links_hand_free(&hand);
}

static void ports_are_counted_by_state(void **state)
{
    (void)state;
    assert_link_figures(STR(CARD("a") PORT("1", "Active", "1") PORT("2", "Down", "1")),
                        "{\"ports\":2,\"states\":{\"Active\":1,\"Down\":1}}");
}

static void cards_without_ports_are_refused(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "ibstat", STR(CARD("a") "\tPort GUID: 1\n")));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

static void other_text_is_neither(void **state)
{
    (void)state;
    static const char *const others[] = {
        "GPU0 is at 80 C, CPU Affinity 0-3\n",
        "we ran the BW Test\n",
        "#bytes received\n1 2\n",
        "Unit Latency Test passed\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct format *found = format_find(str_of(others[i]), STR("x.log"));
        if (found && (!strcmp(found->name, "perftest") || !strcmp(found->name, "nvidia-smi-topo")))
            fail_msg("%s", others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidths_have_units_of_their_header),
        cmocka_unit_test(a_peak_of_zero_was_not_measured),
        cmocka_unit_test(latencies_are_means_with_their_spread),
        cmocka_unit_test(old_latencies_are_typical_ones),
        cmocka_unit_test(ports_and_levels_of_service_have_columns_too),
        cmocka_unit_test(each_table_is_a_run),
        cmocka_unit_test(json_has_the_unit_that_fits_the_rate_of_messages),
        cmocka_unit_test(json_may_be_of_latencies_or_of_no_known_unit),
        cmocka_unit_test(a_title_without_results_is_refused),
        cmocka_unit_test(each_two_devices_have_a_path),
        cmocka_unit_test(copies_from_a_terminal_have_blanks_and_lost_cells),
        cmocka_unit_test(paths_are_counted_by_kind),
        cmocka_unit_test(a_header_alone_is_refused),
        cmocka_unit_test(each_port_has_its_state_and_rate),
        cmocka_unit_test(ports_are_counted_by_state),
        cmocka_unit_test(cards_without_ports_are_refused),
        cmocka_unit_test(other_text_is_neither),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
