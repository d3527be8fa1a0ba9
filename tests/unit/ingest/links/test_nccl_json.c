// SPDX-License-Identifier: Apache-2.0
// What NCCL's tools write as JSON: nccl-tests, Inspector, RAS.
#include "tests/unit/links_hand.h"

// --- nccl-tests ---------------------------------------------------------------------------------

#define HEAD(args)                                                                             \
    "{\"version\":2,\"start_time\":\"2025-11-20 08:00:00\",\"args\":[" args "],\"env\":["      \
    "\"HOME=\\/root\",\"WANDB_API_KEY=0123456789012345678901234567890123456789\",\"a_perf\"]," \
    "\"nccl_version\":22807,"
#define DEVICE(rank) DEVICE_IN("0", rank)
#define DEVICE_IN(group, rank)                                                               \
    "{\"rank\":" rank ",\"group\":" group ",\"pid\":7,\"hostname\":\"node-a\",\"device\":0," \
    "\"device_hex\":\"0000:1b:00\",\"device_info\":\"NVIDIA B200\"}"
#define MODE(time) "{\"time\":" time ",\"alg_bw\":2.5,\"bus_bw\":5,\"nwrong\":1.000000}"
#define RESULT(out, in)                                                                      \
    "{\"size\":1024,\"count\":256,\"type\":\"float\",\"redop\":\"sum\",\"root\":\"    -1\"," \
    "\"out_of_place\":" out ",\"out_of_place_per_iter\":{\"min_us\":1,\"p99_us\":3,"         \
    "\"times_us\":[1,2,[3]]},\"in_place\":" in ",\"actual_iterations\":20}"
#define RESULTS(results) "\"results\":[" results "]"
#define PROCESS(threads, gpus, devices) \
    "\"config\":{\"nthreads\":" threads ",\"ngpus\":" gpus ",\"devices\":[" devices "]},"
#define TRAILER                                                              \
    ",\"out_of_bounds\":{\"count\":2,\"okay\":\"false\"},"                   \
    "\"average_bus_bandwidth\":{\"bandwidth\":12.5,\"okay\":\"unchecked\"}," \
    "\"errors\":[\"\",\"unhandled\"]}"

static void read_results(struct links_hand *hand, const char *text)
{
    links_hand_read(hand, "nccl-tests-json", str_of(text));
}

static void devices_inside_the_settings_are_the_first_of_each_process(void **state)
{
    (void)state;
    struct links_hand hand;
    static const char devices[] = HEAD("\".\\/all_gather_perf_mpi\",\"-J\",\"x_perf\"")
        PROCESS("2", "4", DEVICE("0") "," DEVICE("8")) RESULTS(RESULT(MODE("4.5"), MODE("9")))
            TRAILER;
    read_results(&hand, devices);
    const struct link_run *run = links_hand_run(&hand, 0);
    const struct link_row *row = links_hand_row(&hand, 0);
    assert_text(run->collective, "all_gather");
    assert_int_equal(run->ranks, 16);
    assert_int_equal(run->nodes, 1);
    assert_int_equal(run->out_of_bounds, 2);
    assert_near(run->average_bus_bps, 12.5e9, 1);
    assert_true(run->concluded);
    assert_text(links_hand_device(&hand, 1)->bus_id, "0000:1b:00");
    assert_int_equal(links_hand_device(&hand, 1)->rank, 8);
    assert_int_equal(row->root, -1);
    assert_near(row->time_ns, 4500, 1e-6);
    assert_near(row->least_ns, 1000, 1e-6);
    assert_near(row->tail_ns, 3000, 1e-6);
    assert_true(isnan(links_hand_row(&hand, 1)->least_ns));
    assert_near(links_hand_row(&hand, 1)->time_ns, 9000, 1e-6);
    assert_true(links_hand_row(&hand, 1)->in_place);
    assert_int_equal(links_hand_warned(&hand, LINK_WRONG), 2);
    assert_int_equal(links_hand_warned(&hand, LINK_FAILED), 1);
    links_hand_free(&hand);
}

// Each test is of the processes of one group.
static void a_group_of_processes_has_its_ranks(void **state)
{
    (void)state;
    struct links_hand hand;
    static const char devices[] = HEAD("\"a_perf\"")
        PROCESS("1", "8",
                DEVICE_IN("0", "0") "," DEVICE_IN("1", "8") "," DEVICE_IN("0", "16") "," DEVICE_IN(
                    "1", "24")) RESULTS(RESULT(MODE("4.5"), MODE("9"))) TRAILER;
    read_results(&hand, devices);
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 16);
    links_hand_free(&hand);
}

#define NO_FIGURES   "{\"cpu_time\":3,\"alg_bw\":\"nan\",\"bus_bw\":\"nan\",\"nwrong\":null}"
#define RUN(results) HEAD("\"a_perf\"") RESULTS(results) "}"

static void texts_and_null_in_place_of_figures_are_none(void **state)
{
    (void)state;
    struct links_hand hand;
    read_results(&hand, RUN(RESULT(NO_FIGURES, "null") ",{\"size\":\"many\"}"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_near(links_hand_row(&hand, 0)->time_ns, 3000, 1e-6);
    assert_true(isnan(links_hand_row(&hand, 0)->bus_bps));
    assert_int_equal(links_hand_row(&hand, 0)->wrong, -1);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 1);
    links_hand_free(&hand);
}

static void the_environment_is_not_kept(void **state)
{
    (void)state;
    struct links_hand hand;
    read_results(&hand, RUN(RESULT(MODE("1"), "null")));
    assert_int_equal(hand.evidence.setting_count, 1);
    assert_text(hand.evidence.settings[0].name, "nccl_version");
    assert_text(hand.evidence.settings[0].value, "22807");
    links_hand_free(&hand);
}

static void every_device_listed_is_a_rank(void **state)
{
    (void)state;
    struct links_hand hand;
    static const char devices[] = HEAD("\"a_perf\"") PROCESS("1", "2", DEVICE("0") "," DEVICE("1"))
        RESULTS(RESULT(MODE("1"), "null"));
    read_results(&hand, devices);
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 2);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
}

static void sizes_are_listed(void **state)
{
    (void)state;
    assert_link_figures(
        STR(RUN(RESULT("null", MODE("2")))),
        "{\"ranks_listed\":0,\"runs\":1,\"collectives\":{\"a\":1},\"rows\":1,\"peak_busbw\":5,"
        "\"first\":{\"size\":1024,\"count\":256,\"type\":\"float\",\"redop\":\"sum\",\"root\":-1,"
        "\"ip_us\":2,\"ip_algbw\":2.5,\"ip_busbw\":5},\"last\":{\"size\":1024,\"count\":256,"
        "\"type\":\"float\",\"redop\":\"sum\",\"root\":-1,\"ip_us\":2,\"ip_algbw\":2.5,"
        "\"ip_busbw\":5},\"warnings\":{\"rows with wrong results\":1},\"sizes\":[1024]}");
}

// --- Inspector ----------------------------------------------------------------------------------

#define LINE_HEAD(id, rank)                                                                      \
    "{\"header\":{\"id\":\"" id "\",\"rank\":" rank ",\"n_ranks\":4,\"nnodes\":2},\"metadata\":" \
    "{\"dump_timestamp_us\":1772585717263338,\"hostname\":\"node-a\",\"pid\":7},"
#define COLL(id, rank, number) COLL_OF("AllReduce", "4.5", id, rank, number)
#define COLL_OF(operation, bus, id, rank, number)                                                 \
    LINE_HEAD(id, rank)                                                                           \
    "\"coll_perf\":{\"coll\":\"" operation "\",\"coll_sn\":" number                               \
    ",\"coll_msg_size_bytes\":1024,\"coll_exec_time_us\":2.5,\"coll_timing_source\":"             \
    "\"kernel_gpu\",\"coll_algobw_gbs\":3,\"coll_busbw_gbs\":" bus ",\"event_trace_sn\":{\"a\":[" \
    "{\"channel_id\":0}]}}}\n"

static const struct link_record *record_of(const struct links_hand *hand, size_t index)
{
    const struct link_record *records = hand->evidence.links.parts[LINK_RECORDS].items;
    assert_true(index < links_hand_count(hand, LINK_RECORDS));
    return &records[index];
}

#define SEND(id)                                                                           \
    LINE_HEAD(id, "0")                                                                     \
    "\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":3,\"p2p_peer\":2,\"p2p_msg_size_bytes\":8," \
    "\"p2p_exec_time_us\":1}}\n"

static void read_log(struct links_hand *hand, const char *text)
{
    links_hand_read(hand, "nccl-inspector", str_of(text));
}

static void each_line_is_an_operation_of_a_rank(void **state)
{
    (void)state;
    struct links_hand hand;
    read_log(&hand, COLL("0xa", "1", "7") COLL("0xb", "2", "8") COLL("0xa", "3", "9") SEND("0xa"));
    const struct link_comm *comms = hand.evidence.links.parts[LINK_COMMS].items;
    const struct link_record *record = record_of(&hand, 0), *send = record_of(&hand, 3);
    assert_int_equal(links_hand_count(&hand, LINK_RECORDS), 4);
    assert_int_equal(links_hand_count(&hand, LINK_COMMS), 2);
    assert_text(comms[1].id, "0xb");
    assert_int_equal(comms[1].ranks, 4);
    assert_int_equal(comms[1].nodes, 2);
    assert_int_equal(record_of(&hand, 1)->comm, 1);
    assert_int_equal(record_of(&hand, 2)->comm, 0);
    assert_text(record->operation, "AllReduce");
    assert_text(record->timing, "kernel_gpu");
    assert_text(record->host, "node-a");
    assert_int_equal(record->rank, 1);
    assert_int_equal(record->sequence, 7);
    assert_int_equal(record->peer, -1);
    assert_int_equal(record->bytes, 1024);
    assert_near(record->time_ns, 2500, 1e-6);
    assert_near(record->bus_bps, 4.5e9, 1);
    assert_true(record->written_ns == INT64_C(1772585717263338000));
    assert_text(send->operation, "Send");
    assert_int_equal(send->peer, 2);
    assert_true(isnan(send->bus_bps));
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
    links_hand_free(&hand);
}

static void sizes_are_of_all_ranks(void **state)
{
    (void)state;
    struct links_hand hand;
    read_log(&hand,
             COLL_OF("AllGather", "4.5", "0xa", "1", "7") COLL_OF("All2All", "0", "0xa", "1", "8"));
    assert_int_equal(record_of(&hand, 0)->bytes, 4 * 1024);
    assert_near(record_of(&hand, 0)->bus_bps, 4.5e9, 1);
    assert_int_equal(record_of(&hand, 1)->bytes, 1024);
    assert_true(isnan(record_of(&hand, 1)->bus_bps)); // not computed
    links_hand_free(&hand);
}

#define BROKEN       "{\"header\":{\"id\": oops\n"
#define OTHERS       "{\"metadata\":{}}\n[]\nwords\n"
#define CUT          LINE_HEAD("0xa", "0") "\"coll_perf\":{\"coll\":\"AllRe"
#define FINE(number) COLL("0xa", "0", number)

// From version 4.3 on.
static void lines_of_a_dump_have_the_header_of_its_first(void **state)
{
    (void)state;
    struct links_hand hand;
    read_log(
        &hand,
        LINE_HEAD(
            "0xa",
            "1") "\"dump_stats\":{\"coll_records\":2}}\n"
                 "{\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":5}}\n"
                 "{\"proxy_trace\":{\"ops\":[]}}\n" LINE_HEAD(
                     "0xb",
                     "2") "\"dump_stats\":{}}\n{\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_peer\":3}}\n");
    const struct link_comm *comms = hand.evidence.links.parts[LINK_COMMS].items;
    assert_int_equal(links_hand_count(&hand, LINK_RECORDS), 2);
    assert_int_equal(links_hand_count(&hand, LINK_COMMS), 2);
    assert_text(comms[0].id, "0xa");
    assert_int_equal(comms[0].ranks, 4);
    assert_text(record_of(&hand, 0)->host, "node-a");
    assert_int_equal(record_of(&hand, 0)->rank, 1);
    assert_int_equal(record_of(&hand, 0)->sequence, 5);
    assert_int_equal(record_of(&hand, 1)->comm, 1);
    assert_int_equal(record_of(&hand, 1)->rank, 2);
    assert_int_equal(record_of(&hand, 1)->peer, 3);
    assert_int_equal(record_of(&hand, 1)->sequence, -1);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 0);
    links_hand_free(&hand);
    const struct format *found =
        format_find(STR(LINE_HEAD("0xa", "1") "\"dump_stats\":{}}\n"), STR("x.log"));
    assert_string_equal(found->name, "nccl-inspector");
}

static void damaged_lines_are_passed_and_the_last_may_be_cut(void **state)
{
    (void)state;
    struct links_hand hand;
    read_log(&hand, FINE("1") BROKEN FINE("2") OTHERS FINE("3") CUT);
    assert_int_equal(links_hand_count(&hand, LINK_RECORDS), 3);
    assert_int_equal(record_of(&hand, 2)->sequence, 3);
    assert_int_equal(links_hand_warned(&hand, LINK_BAD_ROW), 4);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
}

static void members_of_other_types_are_unknown(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "nccl-inspector",
                    STR("{\"header\":{\"id\":5,\"rank\":-3,\"n_ranks\":\"x\"},\"metadata\":"
                        "{\"dump_timestamp_us\":9223372036854775807},\"coll_perf\":{\"coll\":[1],"
                        "\"coll_sn\":1e99,\"coll_exec_time_us\":-1}}"));
    const struct link_comm *comm = hand.evidence.links.parts[LINK_COMMS].items;
    assert_int_equal(comm->ranks, 0);
    assert_int_equal(record_of(&hand, 0)->rank, -1);
    assert_int_equal(record_of(&hand, 0)->written_ns, -1);
    assert_true(isnan(record_of(&hand, 0)->time_ns));
    assert_text(record_of(&hand, 0)->operation, "");
    links_hand_free(&hand);
}

static void records_are_counted_by_operation(void **state)
{
    (void)state;
    assert_link_figures(STR(COLL("0xa", "0", "1") COLL("0xb", "0", "1")),
                        "{\"records\":2,\"comms\":2,\"ops\":{\"AllReduce\":2},\"exec_us_sum\":5}");
}

// --- RAS ----------------------------------------------------------------------------------------

#define RANK(rank, count)                                                             \
    "{\"rank\":" rank ",\"host\":\"node-a\",\"pid\":9,\"cuda_dev\":1,\"status\":{"    \
    "\"init_state\":0,\"async_error\":6,\"abort_flag\":true},\"collective_counts\":{" \
    "\"AllReduce\":" count ",\"Broadcast\":\"x\"}}"
#define RAS(ranks, missing)                                                                 \
    "{\"nccl_version\":\"2.28.9\",\"cuda_driver_version\":13000,\"communicators_count\":1," \
    "\"communicators\":[{\"hash\":\"0x1\",\"size\":4,\"ranks_count\":2,"                    \
    "\"missing_ranks_count\":1,\"ranks\":[" ranks "],\"missing_ranks\":[" missing "]}]}"

// With the comma that NCCL 2.28.9 forgets.
#define DEAD                                                            \
    "{\"rank\":3,\"host\":\"node-b\"\n\"status\":{\"considered_dead\":" \
    "true,\"unresponsive\":false}}"

static void ranks_that_did_not_answer_are_apart(void **state)
{
    (void)state;
    struct links_hand hand;
    static const char status[] = RAS(RANK("0", "812") "," RANK("1", "811"), DEAD);
    links_hand_read(&hand, "nccl-ras-json", str_of(status));
    const struct link_member *members = hand.evidence.links.parts[LINK_MEMBERS].items;
    const struct link_op_count *counts = hand.evidence.links.parts[LINK_OP_COUNTS].items;
    const struct link_comm *comm = hand.evidence.links.parts[LINK_COMMS].items;
    assert_int_equal(links_hand_count(&hand, LINK_MEMBERS), 3);
    assert_int_equal(links_hand_count(&hand, LINK_OP_COUNTS), 2);
    assert_int_equal(comm->ranks, 4);
    assert_int_equal(comm->missing_ranks, 1);
    assert_int_equal(members[1].rank, 1);
    assert_int_equal(members[1].device, 1);
    assert_int_equal(members[1].async_error, 6);
    assert_true(members[1].aborted);
    assert_false(members[1].missing);
    assert_int_equal(counts[1].member, 1);
    assert_int_equal(counts[1].count, 811);
    assert_text(counts[1].operation, "AllReduce");
    assert_true(members[2].missing);
    assert_true(members[2].dead);
    assert_false(members[2].unresponsive);
    assert_text(members[2].host, "node-b");
    assert_text(hand.evidence.settings[0].value, "2.28.9");
    assert_text(hand.evidence.settings[1].value, "13000");
    links_hand_free(&hand);
}

static void ranks_are_counted(void **state)
{
    (void)state;
    assert_link_figures(STR(RAS(RANK("0", "1"), "{\"rank\":1}")),
                        "{\"communicators\":1,\"ranks\":1,\"missing_ranks\":1}");
}

// --- all ----------------------------------------------------------------------------------------

static void files_that_end_anywhere_give_what_came_before(void **state)
{
    (void)state;
    const struct {
        const char *format;
        struct str text;
        size_t from; // where its probe is sure
        enum link_part part;
    } files[] = {
        {"nccl-inspector", STR(COLL("0xa", "0", "1") COLL("0xa", "0", "2")), 180, LINK_RECORDS},
        {"nccl-ras-json", STR(RAS(RANK("0", "1"), "{\"rank\":1}")), 80, LINK_COMMS},
        {"nccl-tests-json", STR(RUN(RESULT(MODE("1"), MODE("2")))), 180, LINK_ROWS},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t len = files[i].from; len <= files[i].text.len; len++) {
            struct links_hand hand;
            bool ok = links_hand_try(&hand, files[i].format, (struct str){files[i].text.at, len});
            assert_int_equal(ok, links_hand_count(&hand, files[i].part) > 0);
            assert_int_equal(hand.err.code, ok ? ERR_NONE : ERR_FORMAT);
            links_hand_free(&hand);
        }
}

static void other_json_is_none_of_these(void **state)
{
    (void)state;
    static const char *const others[] = {
        "{\"start_time\":\"now\",\"args\":[\"train.py\"],\"env\":[]}",
        "[{\"coll_perf\":{}}]",
        "{\"traceEvents\":[{\"ph\":\"X\",\"args\":{\"coll_perf\":1}}]}",
        "{\"step\":1,\"communicators\":2}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct format *found = format_find(str_of(others[i]), STR("x.json"));
        assert_true(!found || strncmp(found->name, "nccl", 4) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_inside_the_settings_are_the_first_of_each_process),
        cmocka_unit_test(a_group_of_processes_has_its_ranks),
        cmocka_unit_test(texts_and_null_in_place_of_figures_are_none),
        cmocka_unit_test(the_environment_is_not_kept),
        cmocka_unit_test(every_device_listed_is_a_rank),
        cmocka_unit_test(sizes_are_listed),
        cmocka_unit_test(each_line_is_an_operation_of_a_rank),
        cmocka_unit_test(sizes_are_of_all_ranks),
        cmocka_unit_test(lines_of_a_dump_have_the_header_of_its_first),
        cmocka_unit_test(damaged_lines_are_passed_and_the_last_may_be_cut),
        cmocka_unit_test(members_of_other_types_are_unknown),
        cmocka_unit_test(records_are_counted_by_operation),
        cmocka_unit_test(ranks_that_did_not_answer_are_apart),
        cmocka_unit_test(ranks_are_counted),
        cmocka_unit_test(files_that_end_anywhere_give_what_came_before),
        cmocka_unit_test(other_json_is_none_of_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
