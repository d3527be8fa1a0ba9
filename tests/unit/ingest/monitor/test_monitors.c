// SPDX-License-Identifier: Apache-2.0
// What other monitors than nvidia-smi's CSV write: tables between blanks, CSV with lists, JSON, and
// text for Prometheus.
#include "tests/unit/samples_hand.h"

// --- nvidia-smi dmon ----------------------------------------------------------------------------

#define DMON                                                                                       \
    "# gpu    pwr  gtemp     sm     fb  rxpci  tviol\n# Idx      W      C      %     MB   MB/s   " \
    "bool\n"

static void dmon_has_names_units_and_rows_between_blanks(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-dmon",
                    STR(DMON "    0    312     53     48      2      3      1\n"
                             "    1      -     75      5      1      0      0\n" DMON
                             "    0    100     54      -      2      3      0\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "312 100");
    assert_times(&hand, 0, SAMPLE_POWER, "0 1000");
    assert_values(&hand, 1, SAMPLE_POWER, "?");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "48 ?");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "2097152 2097152");
    assert_values(&hand, 0, SAMPLE_PCIE_RECEIVED, "3000000 3000000");
    assert_values(&hand, 0, SAMPLE_THERMAL_VIOLATION, "100 0");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_RELATIVE);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void dmon_may_say_date_and_time(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "nvidia-smi-dmon",
        STR("#Date       Time        gpu    pwr\n#YYYYMMDD   HH:MM:SS    Idx      W\n"
            " 19700102   00:00:05      0    312\n 19700102   00:00:06      0    313\n"));
    assert_times(&hand, 0, SAMPLE_POWER, "86405000 86406000");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_LOCAL);
    links_hand_free(&hand);
}

static void rows_of_processes_are_those_of_their_gpus(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-dmon",
                    STR("# gpu         pid   type     fb   ccpm     sm    mem    command \n"
                        "# Idx           #    C/G     MB     MB      %      %    name \n"
                        "    0      12345     C  40000      0     91     40    python  \n"
                        "    1          -     -      -      -      -      -    -       \n"
                        "    0      12345     C  40001      0     93     40    python  \n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "91 93");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "4.194304e+10 4.194408858e+10");
    assert_values(&hand, 1, SAMPLE_UTILIZATION, "?");
    links_hand_free(&hand);
}

static void processes_of_one_moment_are_summed_for_their_gpu(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-dmon",
                    STR("# gpu         pid   type     fb     sm    mem    command \n"
                        "# Idx           #    C/G     MB      %      %    name \n"
                        "    0        100     C    1024     30     10    python  \n"
                        "    0        101     C    2048     40      -    python  \n"
                        "    1        102     C    4096     50     20    python  \n"
                        "    0        101     C    2048     60     30    python  \n"
                        "    0        103     C    1024     70     40    python  \n"
                        "    1          -     -       -      -      -    -       \n"
                        "    0        101     C    1024     10      5    python  \n"
                        "    1        102     C    4096     51     21    python  \n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "70 100 10"); // at most all of it
    assert_times(&hand, 0, SAMPLE_UTILIZATION, "0 1000 2000");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "3221225472 3221225472 1073741824");
    assert_values(&hand, 0, SAMPLE_MEMORY_UTILIZATION, "10 70 5");
    assert_values(&hand, 1, SAMPLE_UTILIZATION, "50 51 ?");
    assert_times(&hand, 1, SAMPLE_UTILIZATION, "0 2000");
    links_hand_free(&hand);
}

static void text_of_amd_smi_has_units_after_blanks(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "amd-smi-text",
        STR(" TIMESTAMP  GPU  XCP  POWER   GPU_T   GFX_CLK  GFX%   ENC%   VRAM_USAGE\n"
            "1700000000    0    0  700 W  60 \xC2\xB0\x43  2100 MHz  97 %  N/A  "
            "1.5/192.0 GB\n"
            "1700000000    1    0  710 W  61 C  2100 MHz  98 %  0.0 %  2.0/192.0 GB\n"
            "1700000001    0    0  N/A  60 C  2100 MHz  97%  N/A  285/196592 MB\n"
            "1700000001    1    0  710 W  61 C  2100 MHz  98 %  0.0 %  0.5/ 64.0 GB\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "700 ?");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "97 97");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "1610612736 ?");
    assert_values(&hand, 1, SAMPLE_MEMORY_USED, "2147483648 536870912");
    assert_values(&hand, 1, SAMPLE_SM_CLOCK, "2100 2100");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_UTC);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void lines_of_a_gpu_may_lack_its_address(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-0\","
                        "pci_bus_id=\"00000000:1B:00.0\"} 400\n"
                        "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0\"} 87\n"));
    assert_int_equal(samples_hand_set(&hand)->device_count, 1);
    links_hand_free(&hand);
}

#define METRIC(name, gpu) \
    "{\"metric\": {\"__name__\": \"" name "\", \"gpu\": \"" gpu "\", \"Hostname\": \"gpu12\"}, "
#define SERIES(name, gpu, values) METRIC(name, gpu) "\"values\": [" values "]}"
#define ANSWER(type, series)                                            \
    "{\"status\": \"success\", \"data\": {\"resultType\": \"" type "\"" \
    ", \"result\": [" series "]}}\n"
#define MATRIX(series) ANSWER("matrix", series)

#define POWER     "DCGM_FI_DEV_POWER_USAGE"
#define POWER_0   SERIES(POWER, "0", "[1763625600.123, \"400\"], [1763625615, \"NaN\"], [7]") ", "
#define POWER_1   SERIES(POWER, "1", "[1763625600.123, \"410.5\"]") ", "
#define ACTIVITY  SERIES("amd_gpu_gfx_activity", "2", "[1763625600, \"97\"]") ", "
#define OTHER     SERIES("up", "2", "[1763625600, \"1\"]") ", "
#define UNNAMED   "{\"metric\": {\"gpu\": \"0\"}, \"values\": [[1763625600, \"1\"]]}"
#define ONE_LATER METRIC(POWER, "1") "\"value\": [1763625630, \"420\"]}"

static void answers_of_prometheus_are_series_with_times(void **state)
{
    (void)state;
    static const char answers[] =
        MATRIX(POWER_0 POWER_1 ACTIVITY OTHER UNNAMED) ANSWER("vector", ONE_LATER);
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-query", str_of(answers));
    assert_int_equal(samples_hand_set(&hand)->device_count, 3);
    assert_values(&hand, 0, SAMPLE_POWER, "400 ?");
    assert_values(&hand, 1, SAMPLE_POWER, "410.5 420");
    assert_times(&hand, 1, SAMPLE_POWER, "1763625600123 1763625630000");
    assert_values(&hand, 2, SAMPLE_UTILIZATION, "97");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_UTC);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 1);
    assert_int_equal(samples_hand_set(&hand)->left_out_count, 1);
    assert_text(samples_hand_set(&hand)->devices[0].is.host, "gpu12");
    links_hand_free(&hand);
}

#define OVER_0 SERIES(POWER, "0", "[1763625600, \"400\"], [1763625615, \"401\"]")
#define OVER_1 \
    SERIES(POWER, "0", "[1763625600, \"400\"], [1763625615, \"402\"], [1763625630, \"401\"]")

static void what_answers_of_prometheus_have_in_common_counts_once(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-query", STR(MATRIX(OVER_0) MATRIX(OVER_1)));
    assert_times(&hand, 0, SAMPLE_POWER, "1763625600000 1763625615000 1763625615000 1763625630000");
    assert_values(&hand, 0, SAMPLE_POWER, "400 401 402 401");
    assert_int_equal(samples_hand_set(&hand)->devices[0].rows, 4);
    links_hand_free(&hand);
}

static void long_labels_in_answers_of_prometheus_are_left_out(void **state)
{
    (void)state;
    struct links_hand hand;
    struct buf text = {0};
    buf_puts(&text, "{\"status\": \"success\", \"data\": {\"resultType\": \"vector\", \"result\": ["
                    "{\"metric\": {\"__name__\": \"" POWER "\", \"gpu\": \"0\", \"Hostname\": \"");
    for (int i = 0; i < 300; i++)
        buf_putc(&text, 'h');
    buf_puts(&text, "\"}, \"value\": [1763625600, \"400\"]}]}}\n");
    links_hand_read(&hand, "prometheus-query", (struct str){text.at, text.len});
    assert_values(&hand, 0, SAMPLE_POWER, "400");
    assert_int_equal(samples_hand_set(&hand)->devices[0].is.host.len, 0);
    links_hand_free(&hand);
    buf_free(&text);
}

static void answers_of_prometheus_without_a_metric_of_a_gpu_say_what_to_query(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "prometheus-query", STR(MATRIX(UNNAMED))));
    assert_non_null(strstr(hand.err.msg, "query the metric itself"));
    links_hand_free(&hand);
    assert_false(links_hand_try(&hand, "prometheus-query",
                                STR(MATRIX(SERIES("up", "0", "[1763625600, \"1\"]")))));
    assert_non_null(strstr(hand.err.msg, "without a metric of a GPU"));
    links_hand_free(&hand);
}

static void a_time_without_a_date_goes_on_after_midnight(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-dmon",
                    STR("#Time        gpu    pwr\n#HH:MM:SS    Idx      W\n"
                        " 23:59:59      0    1\n 00:00:01      0    2\n"));
    assert_times(&hand, 0, SAMPLE_POWER, "86399000 86401000");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_RELATIVE);
    assert_int_equal(samples_hand_set(&hand)->period_ns, 0);
    links_hand_free(&hand);
}

static void days_without_a_date_are_counted_to_a_limit(void **state)
{
    (void)state;
    struct links_hand hand;
    struct buf text = {0};
    buf_puts(&text, "#Time gpu pwr\n");
    for (int i = 0; i < 11000; i++)
        buf_puts(&text, "23:59:59 0 1\n00:00:01 0 2\n");
    links_hand_read(&hand, "nvidia-smi-dmon", (struct str){text.at, text.len});
    const struct sample_set *set = samples_hand_set(&hand);
    assert_true(set->bad_rows > 0);
    assert_int_equal(set->rows + set->bad_rows, 22000);
    links_hand_free(&hand);
    buf_free(&text);
}

static void dmon_may_have_commas(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-dmon",
                    STR("#gpu, pwr, gtemp, mclk, pclk\n#Idx, W, C, MHz, MHz\n"
                        "0, 70, -, 2619, 345\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "70");
    assert_values(&hand, 0, SAMPLE_TEMPERATURE, "?");
    assert_values(&hand, 0, SAMPLE_MEMORY_CLOCK, "2619");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "345");
    links_hand_free(&hand);
}

// --- dcgmi dmon ---------------------------------------------------------------------------------

#define DCGMI "#Entity   GRACT        TENSO        TOTEC   XYZ\nID\n"

static void dcgmi_counts_shares_of_1_and_has_parts_of_gpus(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "dcgmi-dmon",
        STR(DCGMI
            "      Id\nGPU 0     0.25      N/A   1500  1\nGPU-I 0   1.000     0.5   N/A  1\n" DCGMI
            "# a note\nGPU 0     0.750     0.1   2500  1\nGPU 0\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->device_count, 2);
    assert_values(&hand, 0, SAMPLE_ENGINE_ACTIVITY, "25 75");
    assert_values(&hand, 0, SAMPLE_TENSOR_ACTIVITY, "10 ?");
    assert_values(&hand, 0, SAMPLE_ENERGY, "1.5 2.5");
    assert_values(&hand, 1, SAMPLE_ENGINE_ACTIVITY, "100");
    assert_int_equal(set->devices[0].is.index, 0);
    assert_text(set->devices[1].is.part, "GPU-I 0");
    assert_int_equal(set->bad_rows, 1);
    assert_text(set->left_out[0], "XYZ");
    links_hand_free(&hand);
}

// --- rocm-smi -----------------------------------------------------------------------------------

static void a_semicolon_in_a_cell_is_no_separator(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nvidia-smi-csv",
                    STR("index, name, power.draw [W], clocks.current.sm [MHz]\n"
                        "0, A;B, 300.50 W, \"1,980 MHz\"\n0, A;B, 310.50 W, 990 MHz\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "300.5 310.5");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "1980 990");
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
    links_hand_read(&hand, "nvidia-smi-csv",
                    STR("index; power.draw [W]\n0; 300,5 W\n0; 1310,125 W\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "300.5 1310.125");
    links_hand_free(&hand);
}

static void rocm_smi_has_a_snapshot_of_each_card(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rocm-smi-csv",
                    STR("WARNING: AMD GPU device(s) is/are in a low-power state.\r\n\r\n"
                        "device,Temperature (Sensor junction) (C),GPU use (%),sclk clock speed:,"
                        "VRAM Total Used Memory (B),Card series\r\n"
                        "card0,50.5,80,(1300Mhz),1024,MI300X\r\ncard1,N/A,0,(2Ghz),2048,MI300X\r\n"
                        "system,,,,,\r\n\r\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->device_count, 2);
    assert_int_equal(set->clock, SAMPLE_NO_CLOCK);
    assert_int_equal(set->bad_rows, 1); // the warning
    assert_values(&hand, 0, SAMPLE_HOTSPOT_TEMPERATURE, "50.5");
    assert_values(&hand, 1, SAMPLE_HOTSPOT_TEMPERATURE, "?");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "1300");
    assert_values(&hand, 1, SAMPLE_SM_CLOCK, "2000");
    assert_values(&hand, 1, SAMPLE_MEMORY_USED, "2048");
    assert_text(set->devices[1].is.name, "MI300X");
    links_hand_free(&hand);
}

static void rocm_smi_says_the_same_as_json(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rocm-smi-json",
                    STR("{\"card1\": {\"GPU use (%)\": \"80\", \"Energy\": {\"a\": [1]}, "
                        "\"Average Graphics Package Power (W)\": \"N/A\"}, "
                        "\"card0\": {\"GPU use (%)\": \"81\"}, "
                        "\"system\": {\"Driver version\": \"6.8\"}}"));
    assert_int_equal(samples_hand_set(&hand)->devices[0].is.index, 1);
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "80");
    assert_values(&hand, 0, SAMPLE_POWER, "?");
    assert_values(&hand, 1, SAMPLE_UTILIZATION, "81");
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

// --- amd-smi ------------------------------------------------------------------------------------

static void rows_with_lists_without_quotes_are_put_together(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR("\xEF\xBB\xBFgpu,gfx_usage,mm_usage_list,fb_used,gfx_cur_clk\n"
                        "0,98,[0, 0, [1]],363,N/A\n1,97,[],364,N/A (Secondary die)\n"
                        "2,96,[0, 0,363,1\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "98");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "380633088");
    assert_values(&hand, 1, SAMPLE_SM_CLOCK, "?");
    assert_int_equal(set->wide_rows, 1);
    assert_int_equal(set->bad_rows, 1);
    links_hand_free(&hand);
}

#define WATCH "timestamp,gpu,gfx_activity,vcn_activity,socket_power,mem,throttle_status\n"

static void batches_come_with_blank_lines_and_unix_times(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR(WATCH "1786553852,0,79,\"['N/A', 0]\",238,45,UNTHROTTLED\n"
                              "1786553852,1,N/A,\"['N/A', 0]\",239,46,THROTTLED\n\n" WATCH
                              "1786553853,0,80,\"['N/A', 0]\",240,47,N/A\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->clock, SAMPLE_CLOCK_UTC);
    assert_times(&hand, 0, SAMPLE_POWER, "1786553852000 1786553853000");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "79 80");
    assert_values(&hand, 0, SAMPLE_MEMORY_TEMPERATURE, "45 47");
    assert_values(&hand, 0, SAMPLE_THROTTLE_REASONS, "0 ?");
    assert_values(&hand, 1, SAMPLE_UTILIZATION, "?");
    assert_values(&hand, 1, SAMPLE_THROTTLE_REASONS, "8");
    assert_int_equal(set->bad_rows, 0);
    links_hand_free(&hand);
}

static void mem_of_the_monitor_is_no_temperature(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR("timestamp,gpu,xcp,power_usage,gfx_clock,gfx,mem,vram_used,pcie_bw\n"
                        "1786553852,0,0,210,2100,50,7,1,16\n1786553852,0,1,N/A,2000,51,8,2,N/A\n"));
    assert_values(&hand, 0, SAMPLE_MEMORY_UTILIZATION, "7");
    assert_values(&hand, 0, SAMPLE_MEMORY_TEMPERATURE, "none");
    assert_values(&hand, 0, SAMPLE_PCIE_TRAFFIC, "2000000");
    assert_text(samples_hand_set(&hand)->devices[0].is.part, "");
    assert_text(samples_hand_set(&hand)->devices[1].is.part, "1");
    assert_values(&hand, 1, SAMPLE_SM_CLOCK, "2000");
    links_hand_free(&hand);
}

static void gigabytes_of_the_monitor_have_a_point(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR("timestamp,gpu,xcp,power_usage,gfx_clk,gfx,mem,vram_used,vram_total\n"
                        "1786553852,0,0,734,2107,98,13,N/A,192.0\n"
                        "1786553853,0,0,734,2107,98,13,150.5,192.0\n"
                        "timestamp,gpu,vram_used,vram_free,vram_total,vram_percent\n"
                        "1786553854,0,132,196460,196592,0.1\n"));
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "1.615981445e+11 138412032 ?");
    assert_values(&hand, 0, SAMPLE_MEMORY_TOTAL, "2.061584302e+11 2.061584302e+11 2.06141653e+11");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED_SHARE, "0.1");
    links_hand_free(&hand);
}

static void of_violations_by_heat_the_greatest_counts(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR("timestamp,gpu,ppt_violation_status,hbm_thermal_violation_status,"
                        "prochot_violation_activity,ppt_violation_activity,"
                        "socket_thermal_violation_activity,hbm_thermal_violation_activity\n"
                        "1786553852,0,ACTIVE,NOT ACTIVE,0,3,1,4\n"
                        "1786553853,0,NOT ACTIVE,N/A,N/A,0,N/A,N/A\n"));
    assert_values(&hand, 0, SAMPLE_POWER_VIOLATION, "3 0");
    assert_values(&hand, 0, SAMPLE_THERMAL_VIOLATION, "4 ?");
    assert_values(&hand, 0, SAMPLE_THROTTLE_REASONS, "4 0");
    links_hand_free(&hand);
}

static void processes_of_the_monitor_are_no_gpus(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-csv",
                    STR("gpu,power_usage,gfx\n0,700,97\n1,710,98\n"
                        "gpu,name,pid,mem_usage\n0,python,12,4096\n0,python,13,4096\n\n"
                        "gpu,power_usage,gfx\n0,701,96\n1,711,95\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "700 701");
    assert_times(&hand, 0, SAMPLE_POWER, "0 1000");
    assert_values(&hand, 0, SAMPLE_MEMORY_UTILIZATION, "none");
    assert_int_equal(samples_hand_set(&hand)->devices[0].rows, 2);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void json_of_amd_smi_has_values_with_units(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "amd-smi-json",
        STR("[{\"gpu\": 0, \"usage\": {\"gfx_activity\": {\"value\": 97, \"unit\": \"%\"}, "
            "\"vcn_activity\": [\"N/A\", {\"value\": 1}]}, "
            "\"power\": {\"socket_power\": {\"value\": 2, \"unit\": \"kW\"}}, "
            "\"clock\": {\"gfx_0\": {\"clk\": {\"value\": 2, \"unit\": \"GHz\"}, "
            "\"max_clk\": \"N/A\"}}, \"temperature\": {\"mem\": {\"value\": 45, \"unit\": \"C\"}}, "
            "\"mem_usage\": {\"total_vram\": {\"value\": 1, \"unit\": \"GB\"}}}]"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "97");
    assert_values(&hand, 0, SAMPLE_POWER, "?"); // not a unit of it
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "2000");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK_MAX, "?");
    assert_values(&hand, 0, SAMPLE_MEMORY_TEMPERATURE, "45");
    assert_values(&hand, 0, SAMPLE_MEMORY_TOTAL, "1073741824");
    links_hand_free(&hand);
}

static void json_may_be_of_the_monitor_or_within_gpu_data(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "amd-smi-json",
        STR("[{\"timestamp\": 1786553852, \"gpu\": 0, \"power_usage\": {\"value\": 210, "
            "\"unit\": \"W\"}, \"gfx\": {\"value\": 5, \"unit\": \"%\"}, \"mem\": "
            "\"N/A\"}, {\"timestamp\": 1786553853, \"gpu\": 0, \"power_usage\": "
            "{\"value\": 211, \"unit\": \"W\"}, \"gfx\": \"N/A\", \"mem\": \"N/A\"}]"));
    assert_values(&hand, 0, SAMPLE_POWER, "210 211");
    assert_values(&hand, 0, SAMPLE_MEMORY_UTILIZATION, "? ?");
    assert_times(&hand, 0, SAMPLE_POWER, "1786553852000 1786553853000");
    links_hand_free(&hand);
    assert_only_values("amd-smi-json",
                       STR("{\"gpu_data\": [{\"gpu\": 0, \"power\": {\"socket_power\": "
                           "{\"value\": 7, \"unit\": \"W\"}}}]}"),
                       SAMPLE_POWER, "7");
}

#define SOCKET(gpu, watts) \
    "\"gpu\": " gpu ", \"power\": {\"socket_power\": {\"value\": " watts ", \"unit\": \"W\"}}}"

static void processors_in_json_are_no_gpus(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "amd-smi-json",
                    STR("{\"cpu_data\": [{\"cpu\": 0, \"cpu_temp\": {\"response\": \"40\"}}], "
                        "\"core_data\": [{\"core\": 0, \"boost_limit\": {\"value\": 3700}}], "
                        "\"gpu_data\": [{" SOCKET("0", "140") ", {" SOCKET("1", "141") "]}"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->device_count, 2);
    assert_int_equal(set->devices[0].rows, 1);
    assert_int_equal(set->clock, SAMPLE_NO_CLOCK);
    assert_values(&hand, 0, SAMPLE_POWER, "140");
    assert_values(&hand, 1, SAMPLE_POWER, "141");
    links_hand_free(&hand);
}

static void json_of_watching_ends_with_what_came_before(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "amd-smi-json",
        STR("[{\"timestamp\": 1786553852, " SOCKET(
            "0", "140") "]\n"
                        "[{\"timestamp\": 1786553853, " SOCKET(
                            "0", "150") "]\n"
                                        "{\"gpu_data\": [{" SOCKET("0", "140") ", {" SOCKET(
                                            "0", "150") "]}\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "140 150");
    assert_times(&hand, 0, SAMPLE_POWER, "1786553852000 1786553853000");
    assert_int_equal(samples_hand_set(&hand)->devices[0].rows, 2);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void json_may_follow_warnings_and_come_again_in_a_loop(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rocm-smi-json",
                    STR("WARNING: AMD GPU device(s) is/are in a low-power state. \"runtime\"\n\n"
                        "{\"card0\": {\"GPU use (%)\": \"80\"}}\n\n"
                        "Exception caught: map::at\n"
                        "{\"card0\": {\"GPU use (%)\": \"81\"}}\n{\"card0\": {\"GPU use\n"
                        "{\"card0\": {\"GPU use (%)\": \"82\"}}\n"));
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "80 81 82");
    assert_times(&hand, 0, SAMPLE_UTILIZATION, "0 1000 3000");
    links_hand_free(&hand);
    links_hand_read(
        &hand, "amd-smi-json",
        STR("WARNING: User is missing the following required groups: render\n"
            "[\n    {\n        \"gpu\": 0,\n        \"power\": {\n            "
            "\"socket_power\": {\"value\": 7, \"unit\": \"W\"}\n        }\n    }\n]\n"
            "[\n    {\n        \"gpu\": 0,\n        \"power\": {\n            "
            "\"socket_power\": {\"value\": 8, \"unit\": \"W\"}\n        }\n    }\n]\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "7 8");
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void json_that_is_cut_gives_what_came_before(void **state)
{
    (void)state;
    assert_only_values("amd-smi-json",
                       STR("[{\"gpu\": 0, \"gfx_activity\": 5}, {\"gpu\": 0, \"gfx_activity\": 6"),
                       SAMPLE_UTILIZATION, "5");
}

// --- Prometheus ---------------------------------------------------------------------------------

#define A "{gpu=\"0\",UUID=\"GPU-a\",modelName=\"H100\",Hostname=\"n1\"}"
#define B "{gpu=\"0\",UUID=\"GPU-b\",modelName=\"H100\",Hostname=\"n2\",pod=\"x\\\"}\"}"

static void blank_values_are_missing(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 40\n"
                        "DCGM_FI_DEV_MEMORY_TEMP" A " 9223372036854775794\n"
                        "DCGM_FI_DEV_GPU_UTIL" A " 2147483632\n"
                        "DCGM_FI_DEV_FB_USED" A " 9223372036854775792\n"
                        "DCGM_FI_DEV_POWER_USAGE" A " 140737488355329.0\n"
                        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE" A " NaN\n"
                        "DCGM_FI_PROF_DRAM_ACTIVE" A " 0.25\nDCGM_FI_DEV_NEW" A " 1\n"
                        "DCGM_FI_DEV_THERMAL_VIOLATION" A " 2e9\n"));
    assert_values(&hand, 0, SAMPLE_TEMPERATURE, "40");
    assert_values(&hand, 0, SAMPLE_MEMORY_TEMPERATURE, "?");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "?");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "?");
    assert_values(&hand, 0, SAMPLE_POWER, "?");
    assert_values(&hand, 0, SAMPLE_TENSOR_ACTIVITY, "?");
    assert_values(&hand, 0, SAMPLE_DRAM_ACTIVITY, "25");
    assert_values(&hand, 0, SAMPLE_THERMAL_VIOLATION_TIME, "2");
    assert_text(samples_hand_set(&hand)->left_out[0], "DCGM_FI_DEV_NEW");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_NO_CLOCK);
    links_hand_free(&hand);
}

static void labels_say_which_device_it_is(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("DCGM_FI_DEV_GPU_TEMP" A " 40\nDCGM_FI_DEV_GPU_TEMP" B " 41\n"
                        "DCGM_FI_DEV_GPU_TEMP{gpu=\"1\",GPU_I_ID=\"3\"} 42\n"
                        "DCGM_FI_DEV_GPU_TEMP{nvswitch=\"1\"} 43\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->device_count, 3);
    assert_text(set->devices[0].is.host, "n1");
    assert_text(set->devices[1].is.host, "n2");
    assert_text(set->devices[1].is.uuid, "GPU-b");
    assert_text(set->devices[1].is.name, "H100");
    assert_text(set->devices[2].is.part, "3");
    assert_values(&hand, 1, SAMPLE_TEMPERATURE, "41");
    links_hand_free(&hand);
}

static void scrapes_follow_one_another(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "prometheus-text",
        STR("DCGM_FI_DEV_GPU_TEMP" A " 40\nDCGM_FI_DEV_GPU_UTIL" A " 1\n"
            "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",pod=\"y\"} 9\n"
            "DCGM_FI_DEV_GPU_TEMP" A " 41\nDCGM_FI_DEV_GPU_TEMP" A " 42\n"));
    assert_values(&hand, 0, SAMPLE_TEMPERATURE, "40 41 42");
    assert_times(&hand, 0, SAMPLE_TEMPERATURE, "0 1000 2000");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "1"); // of the same moment
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_RELATIVE);
    links_hand_free(&hand);
}

static void times_may_be_milliseconds_or_seconds(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("# TYPE a gauge\n# TYPE b gauge\n# TYPE c gauge\n# TYPE d gauge\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 40 1786553852500\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 41 1786553853.5\nDCGM_FI_DEV_GPU_TEMP" A " 42\n"
                        "DCGM_FI_DEV_GPU_TEMP{gpu=\"0 43\nDCGM_FI_DEV_GPU_TEMP{gpu=0} 44 1\n"));
    assert_times(&hand, 0, SAMPLE_TEMPERATURE, "1786553852500 1786553853500");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_UTC);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 3);
    links_hand_free(&hand);
}

static void times_may_be_on_lines_before_each_scrape(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("1773237600\nDCGM_FI_DEV_GPU_TEMP" A " 40\n1773237610\n"
                        "# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 41\nDCGM_FI_DEV_GPU_TEMP" A
                        " 42 1773237615000\n"));
    assert_times(&hand, 0, SAMPLE_TEMPERATURE, "1773237600000 1773237610000 1773237615000");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_UTC);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void times_after_a_scrape_without_one_are_not_read(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("DCGM_FI_DEV_GPU_TEMP" A " 40\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 41 1773237600000\n1773237700\n"
                        "DCGM_FI_DEV_GPU_TEMP" A " 42\n"));
    assert_values(&hand, 0, SAMPLE_TEMPERATURE, "40 41 42");
    assert_times(&hand, 0, SAMPLE_TEMPERATURE, "0 1000 2000");
    assert_int_equal(samples_hand_set(&hand)->clock, SAMPLE_CLOCK_RELATIVE);
    assert_int_equal(samples_hand_set(&hand)->bad_rows, 0);
    links_hand_free(&hand);
}

static void amds_exporter_names_clocks_by_a_label(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("# TYPE gpu_package_power gauge\n"
                        "gpu_package_power{gpu_id=\"0\",hostname=\"n1\"} 748\n"
                        "gpu_power_usage{gpu_id=\"0\",hostname=\"n1\"} 1\n"
                        "gpu_energy_consumed{gpu_id=\"0\",hostname=\"n1\"} 3e6\n"
                        "gpu_junction_temperature{gpu_id=\"0\",hostname=\"n1\"} 65535\n"
                        "gpu_clock{gpu_id=\"0\",hostname=\"n1\","
                        "clock_type=\"GPU_CLOCK_TYPE_SYSTEM\"} 1533\n"
                        "gpu_clock{gpu_id=\"0\",hostname=\"n1\",clock_type=\"memory\"} 1292\n"));
    assert_values(&hand, 0, SAMPLE_POWER, "748");
    assert_values(&hand, 0, SAMPLE_ENERGY, "3");
    assert_values(&hand, 0, SAMPLE_HOTSPOT_TEMPERATURE, "?");
    assert_values(&hand, 0, SAMPLE_SM_CLOCK, "1533");
    assert_values(&hand, 0, SAMPLE_MEMORY_CLOCK, "1292");
    assert_text(samples_hand_set(&hand)->left_out[0], "gpu_power_usage");
    links_hand_free(&hand);
}

static void metrics_of_one_gpu_may_say_more_or_less_of_it(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "prometheus-text",
                    STR("gpu_package_power{gpu_id=\"0\",hostname=\"n1\"} 748\n"
                        "gpu_package_power{gpu_id=\"1\",hostname=\"n1\"} 749\n"
                        "gpu_gfx_activity{gpu_id=\"0\",hostname=\"n1\",gpu_uuid=\"a\"} 90\n"
                        "gpu_gfx_activity{gpu_id=\"0\",hostname=\"n2\",gpu_uuid=\"b\"} 10\n"
                        "gpu_used_vram{gpu_uuid=\"a\"} 1\n"
                        "gpu_used_vram{gpu_uuid=\"b\"} 2\n"
                        "gpu_total_vram{gpu_id=\"0\"} 3\n"));
    const struct sample_set *set = samples_hand_set(&hand);
    assert_int_equal(set->device_count, 4); // which of two the last is about is not known
    assert_values(&hand, 0, SAMPLE_POWER, "748");
    assert_values(&hand, 0, SAMPLE_UTILIZATION, "90");
    assert_values(&hand, 0, SAMPLE_MEMORY_USED, "1048576");
    assert_text(set->devices[0].is.uuid, "a");
    assert_values(&hand, 1, SAMPLE_POWER, "749");
    assert_values(&hand, 2, SAMPLE_UTILIZATION, "10");
    assert_values(&hand, 2, SAMPLE_MEMORY_USED, "2097152");
    links_hand_free(&hand);
}

// --- recognition --------------------------------------------------------------------------------

static void other_text_is_not_taken_for_a_monitors(void **state)
{
    (void)state;
    assert_found_as(STR("# gpu power\n"), "text");
    assert_found_as(STR("#Entities of the model\n"), "text");
    assert_found_as(STR("device,loss\ncard0,1\n"), "text");
    assert_found_as(STR("gpu,loss\n0,1\n"), "text");
    assert_found_as(STR("# HELP go_gc_duration_seconds x\ngo_gc_duration_seconds 1\n"),
                    "prometheus-other");
    assert_found_as(STR("see DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1\nand so on\n"), "text");
    assert_found_as(STR("[{\"gpu\": 0, \"loss\": 1}]"), "kineto");
    assert_found_as(STR("{\"card0\": {\"loss\": 1}}"), "kineto");
}

static void inspect_shows_means_in_the_files_units(void **state)
{
    (void)state;
    assert_link_figures(STR(DCGMI "GPU 0 0.25 N/A 1500 1\nGPU 0 0.75 N/A 2500 1\n"),
                        "{\"rows\":2,\"means\":{\"GRACT\":0.5,\"TOTEC\":2000},\"clock\":"
                        "\"relative\",\"device_count\":1,\"series\":3,\"left_out\":[\"XYZ\"]}");
    assert_link_figures(STR(WATCH "1786553852,1,5,[],200,1,N/A\n1786553852,0,5,[],300,1\n"),
                        "{\"rows\":2,\"rows_wrong_width\":1,\"socket_power_mean\":{\"1\":200},"
                        "\"means\":{\"gfx_activity\":5,\"socket_power\":200,\"mem\":1},\"clock\":"
                        "\"utc\",\"device_count\":1,\"series\":4,\"left_out\":[\"vcn_activity\"]}");
    assert_link_figures(STR("device,GPU use (%)\ncard1,5\ncard0,6\n"),
                        "{\"devices\":[\"card0\",\"card1\"],\"rows\":2,\"means\":{\"GPU use\":5.5},"
                        "\"clock\":\"none\",\"device_count\":2,\"series\":2}");
    assert_link_figures(STR("DCGM_FI_DEV_GPU_TEMP" A " 40\nDCGM_FI_DEV_GPU_TEMP" B " 41\n"),
                        "{\"samples\":2,\"metrics\":{\"DCGM_FI_DEV_GPU_TEMP\":2},\"gpus\":[\"0\"],"
                        "\"clock\":\"none\",\"device_count\":2,\"series\":2}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dmon_has_names_units_and_rows_between_blanks),
        cmocka_unit_test(dmon_may_say_date_and_time),
        cmocka_unit_test(rows_of_processes_are_those_of_their_gpus),
        cmocka_unit_test(processes_of_one_moment_are_summed_for_their_gpu),
        cmocka_unit_test(text_of_amd_smi_has_units_after_blanks),
        cmocka_unit_test(lines_of_a_gpu_may_lack_its_address),
        cmocka_unit_test(answers_of_prometheus_are_series_with_times),
        cmocka_unit_test(what_answers_of_prometheus_have_in_common_counts_once),
        cmocka_unit_test(long_labels_in_answers_of_prometheus_are_left_out),
        cmocka_unit_test(answers_of_prometheus_without_a_metric_of_a_gpu_say_what_to_query),
        cmocka_unit_test(a_time_without_a_date_goes_on_after_midnight),
        cmocka_unit_test(days_without_a_date_are_counted_to_a_limit),
        cmocka_unit_test(dmon_may_have_commas),
        cmocka_unit_test(dcgmi_counts_shares_of_1_and_has_parts_of_gpus),
        cmocka_unit_test(a_semicolon_in_a_cell_is_no_separator),
        cmocka_unit_test(rocm_smi_has_a_snapshot_of_each_card),
        cmocka_unit_test(rocm_smi_says_the_same_as_json),
        cmocka_unit_test(rows_with_lists_without_quotes_are_put_together),
        cmocka_unit_test(batches_come_with_blank_lines_and_unix_times),
        cmocka_unit_test(mem_of_the_monitor_is_no_temperature),
        cmocka_unit_test(gigabytes_of_the_monitor_have_a_point),
        cmocka_unit_test(of_violations_by_heat_the_greatest_counts),
        cmocka_unit_test(processes_of_the_monitor_are_no_gpus),
        cmocka_unit_test(json_of_amd_smi_has_values_with_units),
        cmocka_unit_test(json_may_be_of_the_monitor_or_within_gpu_data),
        cmocka_unit_test(processors_in_json_are_no_gpus),
        cmocka_unit_test(json_of_watching_ends_with_what_came_before),
        cmocka_unit_test(json_may_follow_warnings_and_come_again_in_a_loop),
        cmocka_unit_test(json_that_is_cut_gives_what_came_before),
        cmocka_unit_test(blank_values_are_missing),
        cmocka_unit_test(labels_say_which_device_it_is),
        cmocka_unit_test(scrapes_follow_one_another),
        cmocka_unit_test(times_may_be_milliseconds_or_seconds),
        cmocka_unit_test(times_may_be_on_lines_before_each_scrape),
        cmocka_unit_test(times_after_a_scrape_without_one_are_not_read),
        cmocka_unit_test(amds_exporter_names_clocks_by_a_label),
        cmocka_unit_test(metrics_of_one_gpu_may_say_more_or_less_of_it),
        cmocka_unit_test(other_text_is_not_taken_for_a_monitors),
        cmocka_unit_test(inspect_shows_means_in_the_files_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
