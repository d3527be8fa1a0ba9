// SPDX-License-Identifier: Apache-2.0
// Output of nccl-tests as people keep it: excerpts, logs of launchers, several runs in a file.
#include "tests/unit/links_hand.h"

#include <math.h>

#define SETUP "# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) validation: 1\n"
#define NAMES "# size count type redop root time algbw busbw #wrong"
#define MODE  " time algbw busbw #wrong"
#define BOTH  NAMES MODE "\n"
#define ENDS  "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.5 \n"

static void read_text(struct links_hand *hand, struct str text)
{
    links_hand_read(hand, "nccl-tests", text);
}

// --- rows ---------------------------------------------------------------------------------------

static void each_line_is_a_row_out_of_place_and_one_in_place(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(SETUP BOTH
                         " 1024 256 float sum -1 10.5 97.52 146.3 0 20.0 51.20 76.80 2\n" ENDS));
    const struct link_row *out = links_hand_row(&hand, 0), *in = links_hand_row(&hand, 1);
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 2);
    assert_int_equal(out->bytes, 1024);
    assert_int_equal(out->count, 256);
    assert_text(out->type, "float");
    assert_text(out->reduction, "sum");
    assert_int_equal(out->root, -1);
    assert_false(out->in_place);
    assert_near(out->time_ns, 10500, 1e-6);
    assert_near(out->algorithm_bps, 97.52e9, 1);
    assert_near(out->bus_bps, 146.3e9, 1);
    assert_int_equal(out->wrong, 0);
    assert_true(in->in_place);
    assert_int_equal(in->bytes, 1024);
    assert_text(in->type, "float");
    assert_near(in->time_ns, 20000, 1e-6);
    assert_int_equal(in->wrong, 2);
    assert_int_equal(in->pos, out->pos);
    assert_int_equal(links_hand_warned(&hand, LINK_WRONG), 1);
    assert_near(links_hand_run(&hand, 0)->average_bus_bps, 12.5e9, 1);
    assert_int_equal(links_hand_run(&hand, 0)->out_of_bounds, 0);
    assert_true(links_hand_run(&hand, 0)->concluded);
    links_hand_free(&hand);
}

static void columns_are_found_by_their_names(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv%"
                  " time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
                  "# (B) (elements) (us) (GB/s) (GB/s) (us) (us) (us) (%) (us) (GB/s) (GB/s)\n"
                  " 8 2 float sum -1 1.2e+09 1.00 2.00 N/A 3.5 9.5 9.0 1.1 5.00 3.00 4.00 0 4.5 "
                  "6.5 6.0 2.2"
                  " 2025-11-20 08:00:00\n"));
    const struct link_row *out = links_hand_row(&hand, 0), *in = links_hand_row(&hand, 1);
    assert_near(out->time_ns, 1.2e12, 1);
    assert_near(out->least_ns, 3500, 1e-6);
    assert_near(out->tail_ns, 9000, 1e-6);
    assert_int_equal(out->wrong, -1);
    assert_near(in->bus_bps, 4e9, 1);
    assert_near(in->least_ns, 4500, 1e-6);
    assert_near(in->tail_ns, 6000, 1e-6);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 0);
    links_hand_free(&hand);
}

static void columns_may_be_in_any_order(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("# size time algbw busbw #wrong redop type\n 8 1.00 2.00 3.00 0 sum half\n"
                  " 16 1.00 2.00 3.00 0 sum half\n# size time algbw busbw\n 8 1.0 2.0 3.0 0\n"
                  " 8 1.0 2.0 3.0\n# size time busbw x y\n 8 1.0 2.0 3.0 4\n"));
    assert_text(links_hand_row(&hand, 0)->type, "half");
    assert_text(links_hand_row(&hand, 1)->reduction, "sum");
    assert_text(links_hand_row(&hand, 2)->type, "");
    assert_text(links_hand_row(&hand, 2)->reduction, "");
    links_hand_free(&hand);
}

static void a_table_may_be_in_place_only(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("#                         in-place\n" NAMES
                         "\n 8 2 float sum -1 1.00 2.00 3.00 0\n"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_true(links_hand_row(&hand, 0)->in_place);
    links_hand_free(&hand);
}

static void a_row_may_lack_its_first_mode(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("#  out-of-place   in-place\n" BOTH " 8 2 float sum -1   1.00 2.00 3.00 0\n"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_true(links_hand_row(&hand, 0)->in_place);
    assert_near(links_hand_row(&hand, 0)->bus_bps, 3e9, 1);
    links_hand_free(&hand);
}

static void old_layouts_have_no_root_blank_reductions_and_deviations(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR("# size count type redop time algbw busbw error time algbw busbw error\n"
                         " 8 2 float sum 1.00 2.00 3.00 0e+00 4.00 5.00 6.00 1e-06\n"
                         " 16 4 float       1.00 2.00 3.00 0e+00 4.00 5.00 6.00 N/A\n"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 4);
    assert_int_equal(links_hand_row(&hand, 0)->wrong, 0);
    assert_int_equal(links_hand_row(&hand, 1)->wrong, -1);
    assert_text(links_hand_row(&hand, 1)->reduction, "sum");
    assert_text(links_hand_row(&hand, 2)->reduction, "");
    assert_near(links_hand_row(&hand, 2)->time_ns, 1000, 1e-6);
    links_hand_free(&hand);
}

static void what_is_no_number_is_missing(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(BOTH " 8 2 float sum -1 nan inf nan 0 1.00 -3 1e999 1e+06\n"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_true(isnan(links_hand_row(&hand, 0)->algorithm_bps));
    assert_true(isnan(links_hand_row(&hand, 0)->bus_bps));
    assert_int_equal(links_hand_row(&hand, 0)->wrong, 1000000);
    links_hand_free(&hand);
}

static void rows_that_do_not_fit_the_header_are_counted(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR(BOTH " 8 2 float sum -1 1.00 2.00 3.00 0 1.00 2.00 3.00\n"
                       " 99999999999999999999 2 float sum -1 1.00 2.00 3.00 0 1.00 2.00 3.00 0\n"
                       " 16 4 float sum -1 1.00 2.00 3.00 0 1.00 2.00 3.00 0\n"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 2);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 2);
    assert_int_equal(hand.evidence.links.warnings[LINK_BAD_ROW].pos, sizeof BOTH - 1);
    links_hand_free(&hand);
}

// --- runs ---------------------------------------------------------------------------------------

#define ROW " 1024 256 float none -1 10.0 20.00 10.00 0 10.0 20.00 10.00 0\n"

static void each_header_that_comes_again_starts_a_run(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("+ srun ./build/all_gather_perf_mpi -b 1K\n" SETUP BOTH ROW ENDS
                  "# nccl-tests version 2.17.1 nccl-headers=22807 nccl-library=22807\n"
                  "# Collective test starting: alltoall_perf\n" SETUP BOTH ROW ROW ENDS BOTH ROW));
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 3);
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 8);
    assert_text(links_hand_run(&hand, 0)->collective, "all_gather");
    assert_text(links_hand_run(&hand, 0)->version, "");
    assert_text(links_hand_run(&hand, 1)->collective, "alltoall");
    assert_text(links_hand_run(&hand, 1)->version, "2.17.1");
    assert_text(links_hand_run(&hand, 2)->collective, "");
    assert_int_equal(links_hand_row(&hand, 7)->run, 2);
    assert_false(links_hand_run(&hand, 2)->concluded);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
}

static void labels_of_launchers_keep_runs_apart(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("[1,0]<stdout>:" BOTH " [1,0]<stdout>:" ROW " 1: " BOTH
                  "1: 8 2 float none -1 1.0 2.00"
                  " 3.00 0 1.0 2.00 3.00 0\n[1,0]<stdout>: " ROW "1: # Avg bus bandwidth : 3\n"
                  "[1,0]<stdout>:# Collective test concluded: broadcast_perf\n"));
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 2);
    assert_int_equal(links_hand_row(&hand, 2)->run, 1);
    assert_int_equal(links_hand_row(&hand, 4)->run, 0);
    assert_text(links_hand_run(&hand, 0)->collective, "broadcast");
    assert_true(isnan(links_hand_run(&hand, 0)->average_bus_bps));
    assert_near(links_hand_run(&hand, 1)->average_bus_bps, 3e9, 1);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
    links_hand_free(&hand);
}

#define DEVICE(rank, pid) \
    "#  Rank  " rank " Group  0 Pid " pid " on gpu-1 device 0 [0000:18:00] NVIDIA\n"
#define SIZED(size, bus) " " size " 2 float sum -1 1.0 2.00 " bus " 0 1.0 2.00 " bus " 0\n"

static void processes_that_print_at_the_same_time_are_runs(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("# nccl-tests version 2.17.6 x\n# nccl-tests version 2.17.6 x\n"
                  "# Collective test starting: all_reduce_perf\n"
                  "# Collective test starting: all_reduce_perf\n" SETUP SETUP DEVICE("0", "7")
                      DEVICE("1", "8") DEVICE("0", "9") DEVICE("1", "10") BOTH BOTH SIZED(
                          "8", "1.00") SIZED("8", "2.00") SIZED("16", "3.00") SIZED("32", "4.00")
                          SIZED("16", "5.00") SIZED("32", "6.00") ENDS ENDS));
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 2);
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 12);
    for (size_t i = 0; i < 2; i++) {
        assert_text(links_hand_run(&hand, i)->collective, "all_reduce");
        assert_text(links_hand_run(&hand, i)->version, "2.17.6");
        assert_int_equal(links_hand_run(&hand, i)->ranks, 2);
        assert_near(links_hand_run(&hand, i)->average_bus_bps, 12.5e9, 1);
    }
    assert_int_not_equal(links_hand_row(&hand, 0)->run, links_hand_row(&hand, 2)->run);
    assert_int_equal(links_hand_row(&hand, 4)->run, links_hand_row(&hand, 6)->run);
    assert_int_not_equal(links_hand_row(&hand, 4)->run, links_hand_row(&hand, 8)->run);
    assert_int_equal(links_hand_warned(&hand, LINK_APART), 2);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
    links_hand_free(&hand);
}

static void a_run_that_ended_early_has_no_rows_of_the_next(void **state)
{
    (void)state;
    static const char *const ends[] = {SETUP, SETUP DEVICE("0", "7"), SETUP DEVICE("0", "7") BOTH};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct links_hand hand;
        struct buf text = {0};
        buf_printf(&text, "# Collective test starting: all_reduce_perf\n%s%s", ends[i],
                   "gpu-1: Test NCCL failure common.cu:1 'unhandled system error'\n"
                   "# Collective test starting: all_gather_perf\n" SETUP DEVICE("0", "8")
                       BOTH SIZED("8", "1.00") SIZED("16", "2.00") ENDS);
        read_text(&hand, (struct str){text.at, text.len});
        assert_int_equal(links_hand_count(&hand, LINK_ROWS), 4);
        for (size_t row = 0; row < 4; row++)
            assert_text(links_hand_run(&hand, links_hand_row(&hand, row)->run)->collective,
                        "all_gather");
        assert_int_equal(links_hand_warned(&hand, LINK_APART), 0);
        assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
        links_hand_free(&hand);
        buf_free(&text);
    }
}

static void tests_before_2019_give_milliseconds(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR("nThread 1 nGpus 4 minBytes 1 maxBytes 9 step: 2(factor) validation: 1 \n"
                  "#   Rank  0 on  dgx device  0 [0x02] Tesla P100\n"
                  "#      bytes             N    type      op     time  algbw  busbw      res     "
                  "time  algbw  busbw      res\n"
                  "    10000000      10000000    char     sum    1.628   6.14   9.21    0e+00    "
                  "1.932   5.18   7.77    5e-07\n"
                  " Out of bounds values : 0 OK\n Avg bus bandwidth    : 8.5 \n"));
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 1);
    assert_near(links_hand_row(&hand, 0)->time_ns, 1628000, 1e-3);
    assert_near(links_hand_row(&hand, 1)->time_ns, 1932000, 1e-3);
    assert_int_equal(links_hand_row(&hand, 0)->bytes, 10000000);
    assert_int_equal(links_hand_row(&hand, 0)->wrong, 0);
    assert_text(links_hand_row(&hand, 0)->reduction, "sum");
    assert_near(links_hand_run(&hand, 0)->average_bus_bps, 8.5e9, 1);
    assert_int_equal(links_hand_run(&hand, 0)->out_of_bounds, 0);
    links_hand_free(&hand);
}

static void labels_may_be_of_several_launchers(void **state)
{
    (void)state;
    static const char *const before[] = {
        "(head, rank=0, pid=3808) [1,0]<stdout>:",
        "[pod/nccl-launcher-x7b2q/launcher] [1,0]<stdout>:",
        "2026-03-01T08:00:00.123456789Z ",
        "[pod/nccl/main] 2026-03-01T08:00:00.123456789Z [1,0]<stdout>:",
        "(RayTrainWorker pid=4242, ip=10.0.0.1) 0: ",
        "gpu-7.rack2: ",
        "Wed Mar 11 14:02:00 2026[1,0]<stdout>:",
        "Wed Mar  1 14:02:00 2026<stdout>:",
    };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        static const char *const lines[] = {SETUP, BOTH, ROW, "# Avg bus bandwidth : 3\n"};
        struct links_hand hand;
        struct buf text = {0};
        buf_puts(&text, "(worker1, rank=1, pid=2769, ip=10.0.0.2) Worker nodes\n");
        for (size_t line = 0; line < sizeof lines / sizeof *lines; line++)
            buf_printf(&text, "%s%s", before[i], lines[line]);
        read_text(&hand, (struct str){text.at, text.len});
        assert_int_equal(links_hand_count(&hand, LINK_RUNS), 1);
        assert_int_equal(links_hand_count(&hand, LINK_ROWS), 2);
        assert_near(links_hand_run(&hand, 0)->average_bus_bps, 3e9, 1);
        assert_string_equal(format_find((struct str){text.at, text.len}, STR("job.log"))->name,
                            "nccl-tests");
        links_hand_free(&hand);
        buf_free(&text);
    }
}

static void other_lines_between_the_rows_are_passed(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR(SETUP
                  "node-a:77:77 [0] NCCL INFO cudaDriverVersion 12040\n" BOTH
                  "node-a:77:77 [0] NCCL INFO 8 coll channels, all_reduce_perf 16 p2p channels\n"
                  "  16 p2p\n" ROW "  ...\n" ROW
                  "node-a: Test NCCL failure common.cu:400 'unhandled system error'\n" ENDS));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 4);
    assert_text(links_hand_run(&hand, 0)->collective, "");
    assert_int_equal(links_hand_warned(&hand, LINK_LEFT_OUT), 1);
    assert_int_equal(links_hand_warned(&hand, LINK_FAILED), 1);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 0);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
    links_hand_free(&hand);
}

// --- devices ------------------------------------------------------------------------------------

static void devices_give_ranks_and_nodes(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR(SETUP
                  "rccl-tests: Version develop:83d38d9\n# Using devices\n"
                  "#  Rank  1 Group  0 Pid  12 on  node-b device  1 [0000:26:00] AMD  Instinct \n"
                  "#  Rank  0 Group  0 Pid  11 on  node-a device  0 [0x1b] AMD  Instinct\n"
                  "#  Rank  2 Group  0 Pid  13 on  node-a device  2 [0x1c] AMD  Instinct\n"
                  "#  Rank  3 Group  1 Pid  14 on  node-c device  3 [0x1d] AMD  Instinct\n" BOTH ROW
                      ENDS));
    const struct link_device *device = links_hand_device(&hand, 1);
    assert_int_equal(links_hand_count(&hand, LINK_DEVICES), 4);
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 3);
    assert_int_equal(links_hand_run(&hand, 0)->nodes, 2);
    assert_text(links_hand_run(&hand, 0)->tool, "rccl-tests");
    assert_text(links_hand_run(&hand, 0)->version, "develop:83d38d9");
    assert_int_equal(device->rank, 1);
    assert_int_equal(device->group, 0);
    assert_int_equal(device->pid, 12);
    assert_int_equal(device->device, 1);
    assert_text(device->host, "node-b");
    assert_text(device->bus_id, "0000:26:00");
    assert_text(device->name, "AMD  Instinct");
    links_hand_free(&hand);
}

#define OLD_RANK "#   Rank  0 Pid  11 on node-a device  0 [0x1b] NVIDIA\n"

static void a_single_rank_is_a_warning(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(SETUP OLD_RANK BOTH ROW ENDS));
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 1);
    assert_int_equal(links_hand_device(&hand, 0)->group, -1);
    assert_int_equal(links_hand_warned(&hand, LINK_SINGLE_RANK), 1);
    links_hand_free(&hand);
}

static void a_list_that_was_cut_does_not_give_the_ranks(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(SETUP OLD_RANK "...\n" BOTH ROW ENDS));
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 0);
    assert_true(links_hand_run(&hand, 0)->devices_cut);
    links_hand_free(&hand);
}

static void bandwidths_give_the_collective_and_its_ranks(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(
        &hand,
        STR(BOTH
            " 8 2 float sum -1 1.00 0.01 0.02 0 1.00 0.01 0.01 0\n"
            " 1024 256 float sum -1 10.0 200.00 350.00 0 10.0 100.00 175.00 0\n" BOTH
            " 1024 256 float sum -1 10.0 200.00 150.00 0 10.0 100.00 75.00 0\n" BOTH
            " 1024 256 float sum 2 10.0 200.00 200.00 0 10.0 100.00 100.00 0\n" BOTH
            " 1024 256 float sum -1 10.0 200.00 200.00 0 10.0 100.00 100.00 0\n" SETUP OLD_RANK BOTH
            " 1024 256 float sum -1 10.0 200.00 300.00 0 10.0 100.00 150.00 0\n"));
    static const struct {
        const char *collective;
        int64_t ranks;
        bool guessed, cut;
    } expected[] = {{"all_reduce", 8, true, false},
                    {"reduce_scatter", 4, true, false},
                    {"reduce", 0, true, false},
                    {"", 0, false, false},
                    {"all_reduce", 4, true, true}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct link_run *run = links_hand_run(&hand, i);
        assert_text(run->collective, expected[i].collective);
        assert_int_equal(run->ranks, expected[i].ranks);
        assert_int_equal(run->guessed, expected[i].guessed);
        assert_int_equal(run->devices_cut, expected[i].cut);
    }
    links_hand_free(&hand);
}

static void a_run_without_results_stays_unknown(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(SETUP BOTH ROW ENDS SETUP BOTH));
    assert_text(links_hand_run(&hand, 1)->collective, "");
    assert_false(links_hand_run(&hand, 1)->guessed);
    links_hand_free(&hand);
}

static void rounding_hides_large_numbers_of_ranks(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand, STR(BOTH " 1024 256 float sum -1 10.0 10.00 19.98 0 10.0 10.00 19.98 0\n"));
    assert_text(links_hand_run(&hand, 0)->collective, "all_reduce");
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 0);
    links_hand_free(&hand);
}

// --- the file -----------------------------------------------------------------------------------

static void a_test_without_results_is_refused(void **state)
{
    (void)state;
    struct links_hand hand;
    assert_false(links_hand_try(&hand, "nccl-tests", STR(SETUP BOTH ENDS)));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

static void logs_with_lines_of_nccl_are_no_tests(void **state)
{
    (void)state;
    static const char *const others[] = {
        "node-a:77:77 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nstep 1 loss 2.5\n",
        "# time size busbw\n1 2 3\n",
        "iteration 1/ 10 | elapsed time per iteration (ms): 1.0\nnThread 1 nGpus 1\n",
        "ran all_reduce_perf: Avg bus bandwidth 12.5\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct format *found = format_find(str_of(others[i]), STR("train.log"));
        if (found && strcmp(found->name, "nccl-tests") == 0 && i != 1)
            fail_msg("%s", others[i]);
    }
}

static void secrets_in_names_are_not_kept(void **state)
{
    (void)state;
    struct links_hand hand;
    read_text(&hand,
              STR(SETUP
                  "#  Rank  0 Group  0 Pid  12 on  ghp_0123456789abcdefghijABCDEFGHIJ012345 device "
                  "0 [0x1b] NVIDIA\n" BOTH ROW ENDS));
    struct str host = links_hand_device(&hand, 0)->host;
    assert_int_equal(str_find(host, STR("0123456789abcdef")), SIZE_MAX);
    assert_int_not_equal(str_find(host, STR("redacted")), SIZE_MAX);
    links_hand_free(&hand);
}

static void figures_are_of_lines(void **state)
{
    (void)state;
    assert_link_figures(
        STR(BOTH " 8 2 half sum 0 1.50 2.00 3.00 0 2.50 4.00 5.00 0\n"
                 " 16 4 half sum 0 1.00 1.00 7.00 0 2.00 1.00 1.00 0\n" ENDS),
        "{\"ranks_listed\":0,\"runs\":1,\"collectives\":{\"reduce\":1},\"avg_busbw\":12.5,\"rows\":"
        "2,"
        "\"peak_busbw\":7,\"first\":{\"size\":8,\"count\":2,\"type\":\"half\",\"redop\":\"sum\","
        "\"root\":0,\"oop_us\":1.5,\"oop_algbw\":2,\"oop_busbw\":3,\"ip_us\":2.5,\"ip_algbw\":4,"
        "\"ip_busbw\":5},\"last\":{\"size\":16,\"count\":4,\"type\":\"half\",\"redop\":\"sum\","
        "\"root\":0,\"oop_us\":1,\"oop_algbw\":1,\"oop_busbw\":7,\"ip_us\":2,\"ip_algbw\":1,"
        "\"ip_busbw\":1}}");
}

static void files_that_end_anywhere_give_what_came_before(void **state)
{
    (void)state;
    static const char text[] = SETUP OLD_RANK BOTH ROW ROW ENDS;
    for (size_t len = sizeof SETUP - 1; len < sizeof text; len++) {
        struct links_hand hand;
        bool ok = links_hand_try(&hand, "nccl-tests", (struct str){text, len});
        size_t rows = links_hand_count(&hand, LINK_ROWS);
        assert_int_equal(ok, rows > 0);
        assert_true(rows <= 4);
        links_hand_free(&hand);
    }
}

static void hostile_lines_do_no_harm(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text,
             SETUP BOTH ROW "# Rank\n# Rank 0\n# Avg bus bandwidth\n[1,0]<stdout>\n[1,0]<std");
    buf_puts(&text, "\n# Rank 1 on\n# Rank 2 [\n# Rank 3 on x [ ]\n# Rank 4 on x []\n");
    for (int i = 0; i < 200; i++)
        buf_printf(&text, "%d: " BOTH "%d: " ROW, i, i);
    for (int i = 0; i < 200; i++)
        buf_puts(&text, "# size time busbw ");
    buf_puts(&text, "\n");
    struct links_hand hand;
    read_text(&hand, (struct str){text.at, text.len});
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 402);
    links_hand_free(&hand);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_a_row_out_of_place_and_one_in_place),
        cmocka_unit_test(columns_are_found_by_their_names),
        cmocka_unit_test(columns_may_be_in_any_order),
        cmocka_unit_test(a_table_may_be_in_place_only),
        cmocka_unit_test(a_row_may_lack_its_first_mode),
        cmocka_unit_test(old_layouts_have_no_root_blank_reductions_and_deviations),
        cmocka_unit_test(what_is_no_number_is_missing),
        cmocka_unit_test(rows_that_do_not_fit_the_header_are_counted),
        cmocka_unit_test(each_header_that_comes_again_starts_a_run),
        cmocka_unit_test(labels_of_launchers_keep_runs_apart),
        cmocka_unit_test(processes_that_print_at_the_same_time_are_runs),
        cmocka_unit_test(a_run_that_ended_early_has_no_rows_of_the_next),
        cmocka_unit_test(tests_before_2019_give_milliseconds),
        cmocka_unit_test(labels_may_be_of_several_launchers),
        cmocka_unit_test(other_lines_between_the_rows_are_passed),
        cmocka_unit_test(devices_give_ranks_and_nodes),
        cmocka_unit_test(a_single_rank_is_a_warning),
        cmocka_unit_test(a_list_that_was_cut_does_not_give_the_ranks),
        cmocka_unit_test(bandwidths_give_the_collective_and_its_ranks),
        cmocka_unit_test(a_run_without_results_stays_unknown),
        cmocka_unit_test(rounding_hides_large_numbers_of_ranks),
        cmocka_unit_test(a_test_without_results_is_refused),
        cmocka_unit_test(logs_with_lines_of_nccl_are_no_tests),
        cmocka_unit_test(secrets_in_names_are_not_kept),
        cmocka_unit_test(figures_are_of_lines),
        cmocka_unit_test(files_that_end_anywhere_give_what_came_before),
        cmocka_unit_test(hostile_lines_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
