// SPDX-License-Identifier: Apache-2.0
// Files that rccl-tests writes with -x: lists and lines of JSON, and tables with a name too few.
#include "tests/unit/links_hand.h"

#define OBJECT(size, in_place, time, bus)                                                     \
    "{\"numCycle\":0, \"name\":\"AllReduce\", \"nodes\":2, \"ranks\":4, \"ranksPerNode\":2, " \
    "\"gpusPerRank\":4, \"size\":" size                                                       \
    ", \"type\":\"float\", \"redop\":\"sum\", \"inPlace\":" in_place ", \"time\":" time       \
    ", \"algBw\":2.000000, \"busBw\":" bus ", \"wrong\":\"0\"}"
#define OF_GPUS(size, gpus)                                                          \
    "{\"#wrong\":\"N/A\",\"algBw\":2,\"busBw\":3.5,\"gpus\":" gpus ",\"inPlace\":0," \
    "\"name\":\"AllReduce\",\"redop\":\"sum\",\"size\":" size ",\"time\":5,\"type\":\"half\"}\n"

// Of two communicators, which the file calls nodes, with two processes of four GPUs each.
static void assert_both(const struct links_hand *hand)
{
    assert_int_equal(links_hand_count(hand, LINK_RUNS), 1);
    assert_int_equal(links_hand_count(hand, LINK_ROWS), 3);
    assert_text(links_hand_run(hand, 0)->tool, "rccl-tests");
    assert_text(links_hand_run(hand, 0)->collective, "AllReduce");
    assert_int_equal(links_hand_run(hand, 0)->ranks, 8);
    assert_int_equal(links_hand_run(hand, 0)->nodes, 0); // not said
    assert_int_equal(links_hand_row(hand, 1)->bytes, 1024);
    assert_true(links_hand_row(hand, 1)->in_place);
    assert_near(links_hand_row(hand, 1)->time_ns, 33500, 1e-6);
    assert_near(links_hand_row(hand, 1)->algorithm_bps, 2e9, 1e-3);
    assert_near(links_hand_row(hand, 1)->bus_bps, 3.5e9, 1e-3);
    assert_int_equal(links_hand_row(hand, 1)->wrong, 0);
    assert_text(links_hand_row(hand, 1)->type, "float");
    assert_text(links_hand_row(hand, 1)->reduction, "sum");
    assert_int_equal(links_hand_row(hand, 1)->pos, links_hand_row(hand, 0)->pos);
    assert_int_not_equal(links_hand_row(hand, 2)->pos, links_hand_row(hand, 0)->pos);
    assert_int_equal(links_hand_warned(hand, LINK_CUT), 0);
}

static void a_list_has_an_object_for_each_size_and_mode(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rccl-tests-json",
                    STR("[\n" OBJECT("1024", "0", "33.25", "3.25") ",\n" OBJECT(
                        "1024", "1", "33.5", "3.5") ",\n" OBJECT("2048", "0", "1", "1") "\n]\n"));
    assert_both(&hand);
    links_hand_free(&hand);
}

static void without_mpi_there_is_an_object_a_line(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rccl-tests-json",
                    STR(OF_GPUS("8", "4") OF_GPUS("16", "4") OF_GPUS("8", "8")));
    assert_int_equal(links_hand_count(&hand, LINK_RUNS), 2);
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 3);
    assert_int_equal(links_hand_run(&hand, 0)->ranks, 4);
    assert_int_equal(links_hand_run(&hand, 1)->ranks, 8);
    assert_int_equal(links_hand_row(&hand, 0)->wrong, -1);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 0);
    links_hand_free(&hand);
    links_hand_read(&hand, "rccl-tests-json",
                    STR(OF_GPUS("8", "4") "{\"name\":\"AllReduce\",\"si"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
}

#define ROWS                                                                   \
    "0,\"AllReduce\",2,4,2,4,1024,\"float\",\"sum\",0,33.25,2.00,3.25,\"0\"\n" \
    "0,\"AllReduce\",2,4,2,4,1024,\"float\",\"sum\",1,33.50,2.00,3.50,\"0\"\n" \
    "0,\"AllReduce\",2,4,2,4,2048,\"float\",\"sum\",0,1.00,2.00,3.50,\"0\"\n"

static void a_table_may_lack_the_name_of_its_nodes(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,"
        "algbw,busbw,#wrong\n" ROWS,
        "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,"
        "busbw,#wrong\n" ROWS};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct links_hand hand;
        links_hand_read(&hand, "rccl-tests-csv", str_of(heads[i]));
        assert_both(&hand);
        links_hand_free(&hand);
    }
}

static void files_that_end_early_say_so(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(&hand, "rccl-tests-json",
                    STR("[\n" OBJECT("1024", "0", "1", "1") ",\n{\"size\":8,"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
    links_hand_read(
        &hand, "rccl-tests-csv",
        STR("collective,ranks,size,inplace,time,busbw\nAllGather,4,8,0,1,2\nAllGather,4,16"));
    assert_int_equal(links_hand_count(&hand, LINK_ROWS), 1);
    assert_int_equal(links_hand_warned(&hand, LINK_CUT), 1);
    links_hand_free(&hand);
    assert_false(links_hand_try(&hand, "rccl-tests-csv", STR("collective,size,inplace,busbw\n")));
    assert_int_equal(hand.err.code, ERR_FORMAT);
    links_hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_an_object_for_each_size_and_mode),
        cmocka_unit_test(without_mpi_there_is_an_object_a_line),
        cmocka_unit_test(a_table_may_lack_the_name_of_its_nodes),
        cmocka_unit_test(files_that_end_early_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
