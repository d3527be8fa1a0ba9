// SPDX-License-Identifier: Apache-2.0
// Dumps with more groups and ranks than any job has.
#include "tests/unit/hangs_hand.h"

static void many_groups_and_strange_ranks_are_no_harm(void **state)
{
    (void)state;
    enum { GROUP_COUNT = 50000 };
    struct hand *hand = hand_new();
    struct buf json = {0};
    buf_puts(&json, "{\"pg_config\": {");
    for (int i = 0; i < GROUP_COUNT; i++)
        buf_printf(&json,
                   "%s\"%d\": {\"desc\": \"same\", \"ranks\": \"[0, 9, 9, %d, "
                   "9223372036854775807]\"}",
                   i ? ", " : "", i, i % 3);
    buf_puts(&json, "}, \"entries\": [{\"process_group\": [\"5\", \"\"], "
                    "\"collective_seq_id\": 9223372036854775807, \"state\": \"scheduled\"}, "
                    "{\"process_group\": [\"6\", \"\"], \"collective_seq_id\": -4, "
                    "\"state\": \"scheduled\"}, {\"process_group\": [\"7\", \"\"], "
                    "\"collective_seq_id\": 0, \"state\": \"scheduled\"}]}");
    add_dump(hand, (struct str){json.at, json.len}, 0);
    add_dump(hand, (struct str){json.at, json.len}, 1);
    add_dump(hand, (struct str){json.at, json.len}, 1);
    diagnose(hand);
    assert_int_equal(report_find(&hand->report, "hang_ranks")->row_count, 2);
    assert_int_equal(report_find(&hand->report, "hang_groups")->row_count, 1);
    hand_free(hand);
    buf_free(&json);
}

static void a_list_of_all_ranks_there_could_be_is_refused(void **state)
{
    (void)state;
    enum { LISTED = 400000, GROUP_COUNT = 42 }; // 16.8 million in all
    struct hand *hand = hand_new();
    struct buf list = {0}, json = {0};
    for (int i = 0; i < LISTED; i++)
        buf_puts(&list, "1,");
    buf_puts(&json, "{\"pg_config\": {");
    for (int i = 0; i < GROUP_COUNT; i++)
        buf_printf(&json, "%s\"%d\": {\"desc\": \"%d\", \"ranks\": \"%s\"}", i ? ", " : "", i, i,
                   list.at);
    buf_puts(&json, "}, \"entries\": [");
    for (int i = 0; i < GROUP_COUNT; i++)
        buf_printf(&json, "%s{\"process_group\": [\"%d\", \"\"], \"collective_seq_id\": 1}",
                   i ? ", " : "", i);
    buf_puts(&json, "]}");
    add_dump(hand, (struct str){json.at, json.len}, 1);
    assert_false(hangs_find(hand->dumps, hand->count, &hand->report, &hand->hangs, &hand->err));
    assert_int_equal(hand->err.code, ERR_LIMIT);
    hand_free(hand);
    buf_free(&list);
    buf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_groups_and_strange_ranks_are_no_harm),
        cmocka_unit_test(a_list_of_all_ranks_there_could_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
