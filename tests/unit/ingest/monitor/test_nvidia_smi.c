// SPDX-License-Identifier: Apache-2.0
// CSV of nvidia-smi in the ways that queries, options and shells make it.
#include "tests/unit/samples_hand.h"

#define HEAD "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"

static void read_text(struct links_hand *hand, struct str text)
{
    links_hand_read(hand, "nvidia-smi-csv", text);
}

// --- values -------------------------------------------------------------------------------------

static void values_are_in_one_unit_whatever_cells_say(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(HEAD "1970/01/02 00:00:00.500, 0, 97 %, 2 MiB, 399.12 W\n"
                              "1970/01/02 00:00:01.500, 0, 5, 3, 100\n"
                              "1970/01/02 00:00:02.500, 0, 1 %, 4 GiB, 2500 mW\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "97 5 1");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "2097152 3145728 4294967296");
    assert_values(&hand, 0, SAMPLE_POWER, "399.12 100 2.5");
    assert_times(&hand, 0, SAMPLE_POWER, "86400500 86401500 86402500");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_LOCAL);
    assert_int_equal(samples_hand_set(&hand)->period_ns, 0);
    assert_text(hand.evidence.source, "nvidia-smi");
    links_hand_free(&hand);
}

static void tables_may_have_semicolons_and_decimal_commas(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp; index; utilization.gpu [%]; power.draw [W]; temperature.gpu\n"
                         "1970/01/02 00:00:01.500; 0; 97 %; 612,34 W; 61\n"
                         "1970/01/02 00:00:02.500; 0; 98; 1.5; [N/A]\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "97 98");
    assert_values(&hand, 0, SAMPLE_POWER, "612.34 1.5");
    assert_values(&hand, 0, SAMPLE_TEMPERATURE, "61 ?");
    assert_times(&hand, 0, SAMPLE_POWER, "86401500 86402500");
    links_hand_free(&hand);
    assert_found_as(STR("index; utilization.gpu [%]; power.draw [W]\n0; 97 %; 612,34 W\n"),
                    "nvidia-smi-csv");
}

static void what_is_absent_is_missing_and_not_0(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp, index, utilization.gpu [%]\n"
                         "2026/01/02 00:00:00.000, 0, [N/A]\n2026/01/02 00:00:01.000, 0, N/A\n"
                         "2026/01/02 00:00:02.000, 0, [Not Supported]\n"
                         "2026/01/02 00:00:03.000, 0, [Unknown Error]\n"
                         "2026/01/02 00:00:04.000, 0, \n2026/01/02 00:00:05.000, 0, 0 %\n"
                         "2026/01/02 00:00:06.000, 0, 5 W\n2026/01/02 00:00:07.000, 0, nan\n"
                         "2026/01/02 00:00:08.000, 0, 1e999\n2026/01/02 00:00:09.000, 0, 7x\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "0 ? ? ? ? ? ? ? ? ?");
    links_hand_free(&hand);
}

static void throttling_is_bits_in_one_column_or_in_many(void **state)
{
    (void)state;
    assert_only_values("nvidia-smi-csv",
                       STR("index, clocks_throttle_reasons.active\n0, 0x0000000000000044\n"
                           "0, 0x0000000000000000\n0, [N/A]\n0, 0xFFFFFFFFFFFFFFFFF\n"),
                       SAMPLE_THROTTLE_REASONS, "68 0 ? ?");
    assert_only_values("nvidia-smi-csv",
                       STR("index, clocks_event_reasons.sw_power_cap, "
                           "clocks_event_reasons.hw_thermal_slowdown\n0, Active, Active\n"
                           "0, Not Active, Not Active\n0, [N/A], Active\n0, [N/A], [N/A]\n"),
                       SAMPLE_THROTTLE_REASONS, "68 0 64 ?");
    assert_only_values("nvidia-smi-csv",
                       STR("clocks_throttle_reasons.active, clocks_throttle_reasons.gpu_idle\n"
                           "0x4, Active\n"),
                       SAMPLE_THROTTLE_REASONS, "4");
}

static void states_fans_and_counters_are_numbers_too(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("pstate, fan.speed [%], clocks_event_reasons_counters.sw_power_cap [us], "
                         "ecc.errors.uncorrected.volatile.total\nP8, 30 %, 1500000 us, 2\n"));
    assert_values(&hand, 0, SAMPLE_PERFORMANCE_STATE, "8");
    assert_values(&hand, 0, SAMPLE_FAN, "30");
    assert_values(&hand, 0, SAMPLE_POWER_VIOLATION_TIME, "1.5");
    assert_values(&hand, 0, SAMPLE_ECC_UNCORRECTED, "2");
    links_hand_free(&hand);
}

// --- columns ------------------------------------------------------------------------------------

static void columns_go_by_their_names_in_any_case_and_alias(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("Power.Draw.Instant [W],Clocks.SM [MHz],driver_version,clocks.current.sm "
                         "[MHz],power.draw.average [W]\n70.5 W,1980 MHz,550.1,5 MHz,71 W\n"));
    assert_values(&hand, 0, SAMPLE_POWER_INSTANT, "70.5");
    assert_values(&hand, 0, SAMPLE_POWER, "71");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "1980"); // the first of two
    assert_int_equal(samples_hand_set(&hand)->left_out_count, 1);
    assert_text(samples_hand_set(&hand)->left_out[0], "driver_version");
    assert_int_equal(samples_hand_set(&hand)->series_count, 3);
    links_hand_free(&hand);
}

static void a_header_may_come_again_and_change(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(HEAD "2026/01/02 00:00:00.000, 0, 1 %, 2 MiB, 3 W\n" HEAD
                              "2026/01/02 00:00:01.000, 0, 4 %, 5 MiB, 6 W\n"
                              "timestamp, power.draw [W], index\n2026/01/02 00:00:02.000, 7 W, 0\n"
                              "2026/01/02 00:00:03.000, 0, 1 %, 2 MiB, 3 W\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "1 4");
    assert_values(&hand, 0, SAMPLE_POWER, "3 6 7");
    assert_int_equal(samples_hand_set(&hand)->rows, 3);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 1);
    links_hand_free(&hand);
}

static void rows_that_do_not_fit_are_counted_with_their_place(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("nohup: ignoring input\r\n" HEAD "\r\n"
                         "2026/01/02 00:00:00.000, 0, 1 %, 2 MiB, 3 W\r\n"
                         "2026/01/02 00:00:00.000, 0, 1 %\r\n"
                         "Unable to determine the device handle for GPU0000:0A:00.0\n"
                         "2026/01/02 00:00:00.000, x, 1 %, 2 MiB, 3 W\n"
                         "then, 0, 1 %, 2 MiB, 3 W\n99999/01/02 00:00:00.000, 0, 1 %, 2 MiB, 3 W\n"
                         "2026/13/02 00:00:00.000, 0, 1 %, 2 MiB, 3 W\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "1");
    assert_int_equal(samples_hand_set(&hand)->rows, 1);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 7);
    assert_int_equal(samples_hand_set(&hand)->bad_pos, 0);
    links_hand_free(&hand);
}

// --- devices ------------------------------------------------------------------------------------

static void each_device_has_series_of_its_own(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp, name, index, pci.bus_id, uuid, power.draw [W]\n"
                         "2026/01/02 00:00:00.000, H100, 0, 00:0A:00.0, GPU-a, 1 W\n"
                         "2026/01/02 00:00:00.010, H100, 1, 00:0B:00.0, GPU-b, 2 W\n"
                         "2026/01/02 00:00:01.000, H100, 0, 00:0A:00.0, GPU-a, 3 W\n"
                         "2026/01/02 00:00:01.010, H100, 1, 00:0B:00.0, GPU-b, 4 W\n"));
    assert_int_equal(samples_hand_set(&hand)->device_count, 2);
    assert_values(&hand, 0, SAMPLE_POWER, "1 3");
    assert_values(&hand, 1, SAMPLE_POWER, "2 4");
    const struct sample_identity *is = &samples_hand_set(&hand)->devices[1].is;
    assert_int_equal(is->index, 1);
    assert_text(is->uuid, "GPU-b");
    assert_text(is->bus_id, "00:0B:00.0");
    assert_text(is->name, "H100");
    links_hand_free(&hand);
}

static void without_a_name_rows_of_one_moment_are_several_devices(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp, power.draw [W]\n2026/01/02 00:00:00.000, 1 W\n"
                         "2026/01/02 00:00:00.000, 2 W\n2026/01/02 00:00:01.000, 3 W\n"
                         "2026/01/02 00:00:01.000, 4 W\n"));
    assert_int_equal(samples_hand_set(&hand)->device_count, 2);
    assert_values(&hand, 0, SAMPLE_POWER, "1 3");
    assert_values(&hand, 1, SAMPLE_POWER, "2 4");
    links_hand_free(&hand);
}

static void devices_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    struct links_hand hand;
    struct buf text = {0};
    buf_puts(&text, "index, power.draw [W]\n");
    for (int i = 0; i < SAMPLE_MOST_DEVICES + 10; i++)
        buf_printf(&text, "%d, 1 W\n", i);
    buf_puts(&text, "7, 2 W\n");
    read_text(&hand, (struct str){text.at, text.len});
    assert_int_equal(samples_hand_set(&hand)->device_count, SAMPLE_MOST_DEVICES);
    assert_int_equal(samples_hand_set(&hand)->lost_rows, 10);
    assert_values(&hand, 7, SAMPLE_POWER, "1 2");
    links_hand_free(&hand);
    buf_free(&text);
}

// --- nodes --------------------------------------------------------------------------------------

#define NODE_HEAD "timestamp, index, power.draw [W]\n"
#define UUID_HEAD "timestamp, uuid, power.draw [W]\n"

static void files_of_nodes_that_were_joined_have_gpus_of_each(void **state)
{
    (void)state;
    struct links_hand hand;
    struct str text =
        STR(NODE_HEAD "2026/03/11 14:00:00.100, 0, 1 W\n2026/03/11 14:00:00.107, 1, 2 W\n"
                      "2026/03/11 14:00:09.100, 0, 3 W\n" NODE_HEAD
                      "2026/03/11 14:00:01.100, 0, 4 W\n2026/03/11 14:00:01.107, 1, 5 W\n"
                      "2026/03/11 14:00:07.100, 0, 6 W\n" NODE_HEAD
                      "2026/03/11 14:00:00.000, 0, 7 W\n");
    read_text(&hand, text);
    assert_int_equal(samples_hand_set(&hand)->device_count, 5);
    assert_int_equal(samples_hand_set(&hand)->joined_nodes, 3);
    assert_values(&hand, 0, SAMPLE_POWER, "1 3");
    assert_values(&hand, 2, SAMPLE_POWER, "4 6");
    assert_values(&hand, 4, SAMPLE_POWER, "7");
    assert_text(samples_hand_set(&hand)->devices[1].is.host, "node-1");
    assert_text(samples_hand_set(&hand)->devices[3].is.host, "node-2");
    assert_int_equal(samples_hand_set(&hand)->backward, 0);
    links_hand_free(&hand);
    assert_link_figures(
        STR("timestamp, index, power.draw [W]\n2026/03/11 14:00:05.000, 3, 1 W\n"
            "timestamp, index, power.draw [W]\n2026/03/11 14:00:01.000, 3, 2 W\n"),
        "{\"samples\":2,\"bad_lines\":0,\"gpus\":[\"node-1:3\",\"node-2:3\"],\"power\":"
        "{\"node-1:3\":{\"n\":1,\"mean\":1,\"max\":1,\"absent\":0},"
        "\"node-2:3\":{\"n\":1,\"mean\":2,\"max\":2,\"absent\":0}},\"clock\":\"local\","
        "\"device_count\":2,\"series\":2,\"joined_nodes\":2}");
}

static void clocks_that_are_set_back_are_no_other_node(void **state)
{
    (void)state;
    static const char *const texts[] = {
        // the end of summer time, a Sunday
        NODE_HEAD "2026/10/25 02:20:00.000, 0, 1 W\n2026/10/25 02:59:59.000, 0, 2 W\n" NODE_HEAD
                  "2026/10/25 02:00:04.000, 0, 3 W\n",
        // a clock set right
        NODE_HEAD "2026/03/11 14:00:00.000, 0, 1 W\n2026/03/11 14:00:05.000, 0, 2 W\n" NODE_HEAD
                  "2026/03/11 14:00:03.000, 0, 3 W\n",
        // no header
        NODE_HEAD "2026/03/11 14:00:00.000, 0, 1 W\n2026/03/11 14:00:15.000, 0, 2 W\n"
                  "2026/03/11 14:00:03.000, 0, 3 W\n",
        // and GPUs whose names differ
        UUID_HEAD "2026/03/11 14:00:10.000, GPU-a, 1 W\n" UUID_HEAD
                  "2026/03/11 14:00:00.000, GPU-a, 2 W\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct links_hand hand;
        read_text(&hand, str_of(texts[i]));
        assert_int_equal(samples_hand_set(&hand)->device_count, 1);
        assert_int_equal(samples_hand_set(&hand)->joined_nodes, 0);
        assert_int_equal(samples_hand_set(&hand)->backward, 1);
        links_hand_free(&hand);
    }
}

// --- times --------------------------------------------------------------------------------------

static void times_that_go_back_are_put_in_order(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp, index, power.draw [W]\n1970/01/01 00:00:05.000, 0, 1 W\n"
                         "1970/01/01 00:00:03.000, 0, 2 W\n1970/01/01 00:00:04.000, 0, 3 W\n"));
    assert_times(&hand, 0, SAMPLE_POWER, "3000 4000 5000");
    assert_values(&hand, 0, SAMPLE_POWER, "2 3 1");
    assert_int_equal(samples_hand_set(&hand)->backward, 1);
    links_hand_free(&hand);
}

static void without_times_rows_of_a_device_are_numbered(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("index, power.draw [W]\n0, 1 W\n1, 2 W\n0, [N/A]\n1, 3 W\n0, 4 W\n"));
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_RELATIVE);
    assert_int_equal(samples_hand_set(&hand)->period_ns, 1000000000);
    assert_times(&hand, 0, SAMPLE_POWER, "0 2000");
    assert_times(&hand, 1, SAMPLE_POWER, "0 1000");
    links_hand_free(&hand);
    read_text(&hand, STR("index, power.draw [W]\n0, 1 W\n1, 2 W\n"));
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_NO_CLOCK);
    links_hand_free(&hand);
}

static void a_row_of_another_clock_cannot_be_placed(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("timestamp, index, power.draw [W]\n2026/01/02 00:00:00.000, 0, 1 W\n"
                         "1767312000, 0, 2 W\nindex, power.draw [W]\n0, 3 W\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "1");
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 2);
    links_hand_free(&hand);
}

// --- damage -------------------------------------------------------------------------------------

static void the_last_number_of_a_cut_line_may_be_half_of_one(void **state)
{
    (void)state;
    struct str text = STR("index, power.draw [W], temperature.gpu\n0, 1 W, 45\n0, 2 W, 4");
    assert_only_values("nvidia-smi-csv", text, SAMPLE_TEMPERATURE, "45 ?");
    assert_only_values("nvidia-smi-csv", text, SAMPLE_POWER, "1 2");
    assert_only_values("nvidia-smi-csv", STR("index, power.draw [W]\n0, 1 W\n0, 22 W"),
                       SAMPLE_POWER, "1 22");
}

static void long_lines_and_many_columns_are_bad_rows(void **state)
{
    (void)state;
    struct links_hand hand;
    struct buf text = {0};
    buf_puts(&text, "index, power.draw [W]\n0, 1 W\n0, ");
    for (int i = 0; i < 2000000; i++)
        buf_putc(&text, 'x');
    buf_puts(&text, "\nindex");
    for (int i = 0; i < 1000000; i++)
        buf_puts(&text, ",");
    buf_puts(&text, "\n0, 2 W\nindex");
    for (int i = 0; i < 1100; i++)
        buf_puts(&text, ",a");
    buf_puts(&text, "\n0, 3 W\n");
    read_text(&hand, (struct str){text.at, text.len});
    assert_values(&hand, 0, SAMPLE_POWER, "1 2 3");
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 3);
    links_hand_free(&hand);
    buf_free(&text);
}

static void a_table_without_a_sample_is_refused(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "nvidia-smi-csv", STR(HEAD)));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
    assert_false(links_hand_try(&hand, "nvidia-smi-csv", STR("index, power.draw [W]\n0, [N/A]\n")));
    assert_string_equal(hand.err.msg, "found a table of nvidia-smi without a single sample");
    links_hand_free(&hand);
}

// --- recognition --------------------------------------------------------------------------------

static void only_its_headers_are_recognized(void **state)
{
    (void)state;
    assert_found_as(STR("\xEF\xBB\xBF" HEAD), "nvidia-smi-csv");
    assert_found_as(STR("\n\nutilization.gpu [%]\n12 %\n"), "nvidia-smi-csv");
    assert_found_as(STR("timestamp, index, name\n"), "text");
    assert_found_as(STR("timestamp,gpu,power\n1,0,2\n"), "text");
    assert_found_as(STR("step, loss, the utilization.gpu of all, utilization.gpu\n"), "text");
    assert_found_as(STR("utilization.gpu was 5, so power.draw was low\n"), "text");
}

static void inspect_counts_per_gpu_in_the_files_units(void **state)
{
    (void)state;
    assert_link_figures(
        STR(HEAD "2026/01/02 00:00:00.000, 1, 10 %, 2 MiB, 3 W\n"
                 "2026/01/02 00:00:00.000, 0, 30 %, 4 MiB, [N/A]\n"
                 "2026/01/02 00:00:01.000, 1, 20 %, 6 MiB, 5 W\nbad\n"),
        "{\"samples\":3,\"bad_lines\":1,\"gpus\":[\"0\",\"1\"],"
        "\"utilization.gpu\":{\"1\":{\"n\":2,\"mean\":15,\"max\":20,\"absent\":0},"
        "\"0\":{\"n\":1,\"mean\":30,\"max\":30,\"absent\":0}},"
        "\"memory.used\":{\"1\":{\"n\":2,\"mean\":4,\"max\":6,\"absent\":0},"
        "\"0\":{\"n\":1,\"mean\":4,\"max\":4,\"absent\":0}},"
        "\"power\":{\"1\":{\"n\":2,\"mean\":4,\"max\":5,\"absent\":0},"
        "\"0\":{\"n\":0,\"absent\":1}},\"clock\":\"local\",\"device_count\":2,\"series\":6}");
}

static void rows_of_gpus_that_need_a_reset_are_counted(void **state)
{
    (void)state;
    assert_link_figures(
        STR("index, utilization.gpu [%], power.draw [W]\n0, 10 %, 3 W\n1, 10 %, 3 W\n"
            "0, 10 %, 3 W\n1, [GPU requires reset], [GPU requires reset]\n"
            "0, 10 %, 3 W\n1, [GPU is lost], [GPU is lost]\n"),
        "{\"samples\":6,\"bad_lines\":0,\"failed_gpu_lines\":2,\"gpus\":[\"0\",\"1\"],"
        "\"utilization.gpu\":{\"0\":{\"n\":3,\"mean\":10,\"max\":10,\"absent\":0},"
        "\"1\":{\"n\":1,\"mean\":10,\"max\":10,\"absent\":2}},"
        "\"power\":{\"0\":{\"n\":3,\"mean\":3,\"max\":3,\"absent\":0},"
        "\"1\":{\"n\":1,\"mean\":3,\"max\":3,\"absent\":2}},\"clock\":\"relative\","
        "\"device_count\":2,\"series\":4}");
}

static void inspect_has_the_power_of_a_moment_where_there_is_no_other(void **state)
{
    (void)state;
    assert_link_figures(STR("index, power.draw.instant [W]\n0, 200.5 W\n0, 203.5 W\n"),
                        "{\"samples\":2,\"bad_lines\":0,\"gpus\":[\"0\"],\"power\":{\"0\":{\"n\":2,"
                        "\"mean\":202,\"max\":203.5,\"absent\":0}},\"clock\":\"relative\","
                        "\"device_count\":1,\"series\":1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_in_one_unit_whatever_cells_say),
        cmocka_unit_test(tables_may_have_semicolons_and_decimal_commas),
        cmocka_unit_test(what_is_absent_is_missing_and_not_0),
        cmocka_unit_test(throttling_is_bits_in_one_column_or_in_many),
        cmocka_unit_test(states_fans_and_counters_are_numbers_too),
        cmocka_unit_test(columns_go_by_their_names_in_any_case_and_alias),
        cmocka_unit_test(a_header_may_come_again_and_change),
        cmocka_unit_test(rows_that_do_not_fit_are_counted_with_their_place),
        cmocka_unit_test(each_device_has_series_of_its_own),
        cmocka_unit_test(without_a_name_rows_of_one_moment_are_several_devices),
        cmocka_unit_test(devices_beyond_the_limit_are_counted),
        cmocka_unit_test(files_of_nodes_that_were_joined_have_gpus_of_each),
        cmocka_unit_test(clocks_that_are_set_back_are_no_other_node),
        cmocka_unit_test(times_that_go_back_are_put_in_order),
        cmocka_unit_test(without_times_rows_of_a_device_are_numbered),
        cmocka_unit_test(a_row_of_another_clock_cannot_be_placed),
        cmocka_unit_test(the_last_number_of_a_cut_line_may_be_half_of_one),
        cmocka_unit_test(long_lines_and_many_columns_are_bad_rows),
        cmocka_unit_test(a_table_without_a_sample_is_refused),
        cmocka_unit_test(only_its_headers_are_recognized),
        cmocka_unit_test(inspect_counts_per_gpu_in_the_files_units),
        cmocka_unit_test(rows_of_gpus_that_need_a_reset_are_counted),
        cmocka_unit_test(inspect_has_the_power_of_a_moment_where_there_is_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
