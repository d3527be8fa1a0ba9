// SPDX-License-Identifier: Apache-2.0
// Ranks in file names, as tools and people write them.
#include "server/store/rank_name.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect(const char *path, int64_t rank)
{
    int64_t found = rank_name_of(str_of(path)).rank;
    if (found != rank)
        fail_msg("%s: expected %lld, found %lld", path, (long long)rank, (long long)found);
}

static void usual_names_give_their_rank(void **state)
{
    (void)state;
    expect("rank0.json", 0);
    expect("rank-34", 34);
    expect("rank_3", 3);
    expect("trace_r12.json.zst", 12);
    expect("mi300x_rank3.1699999999.pt.trace.json.gz", 3);
    expect("traces/rank-3/trace.json", 3);
    expect("Rank7.JSON", 7);
    expect("rank=5.json", 5);
    expect("node-r4_2024.json", 4);
    expect("primus-megatron-exp[x]-rank[7].1767900123456.pt.trace.json.gz", 7);
    expect("1767900123.45-TP-3-DP-0.trace.json.gz", 3);
    expect("1767900123.45-TP-3.trace.json.gz", 3);
    expect("decode-1767900123.45-TP-3.trace.json.gz", 3);
}

static void reports_of_nsight_systems_are_numbered_by_rank(void **state)
{
    (void)state;
    expect("report_0.sqlite", 0);
    expect("run/report_12.sqlite.zst", 12);
    expect("report.7.nsys-rep.sqlite", 7);
    expect("exp_rank5/report_2.sqlite", 2);
    expect("report_rank_3.sqlite", 3);
    expect("report1.sqlite", -1); // nsys counts the reports of a folder
    expect("report_2026-11-27.sqlite", -1);
    expect("report_3a.sqlite", -1);
    expect("report_.sqlite", -1);
    expect("report_", -1);
    expect("report", -1);
    expect("report_3/trace.json", -1);
}

static void what_says_the_rank_is_said(void **state)
{
    (void)state;
    struct str folder = rank_name_of(STR("job/rank-3/it_10/trace.json")).folder;
    assert_true(str_equal(folder, STR("job/rank-3/")));
    assert_int_equal(rank_name_of(STR("rank1/rank2.json")).folder.len, 0);
    assert_int_equal(rank_name_of(STR("trace.json")).folder.len, 0);
}

static void the_file_speaks_before_its_folder_and_the_last_before_the_first(void **state)
{
    (void)state;
    expect("rank1/rank2.json", 2);
    expect("rank1_of_rank8.json", 8);
    expect("rank9/trace.json", 9);
}

static void other_names_give_none(void **state)
{
    (void)state;
    expect("", -1);
    expect("trace.json", -1);
    expect("rank.json", -1);
    expect("frank3.json", -1);
    expect("for3.json", -1);
    expect("r3.json", -1);
    expect("llama_r12b.json", -1);
    expect("rank99999999999999999999.json", -1);
    expect("////", -1);
    expect("rank", -1);
    expect("rank[x].json", -1);
    expect("HTTP-3.json", -1);
    expect("TP-3.json", -1);
    expect("llama-TP-8.json", -1);
    expect("qwen2-TP-8.json", -1);
    expect("qwen2.5-TP-8.json", -1);
    expect("20261127-TP-8.json", -1);
    expect("2026-11-27-TP-8/trace.json", -1);
    expect("1767900123.45-TP-3-PP-1.trace.json.gz", -1); // its rank depends on both
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_names_give_their_rank),
        cmocka_unit_test(reports_of_nsight_systems_are_numbered_by_rank),
        cmocka_unit_test(what_says_the_rank_is_said),
        cmocka_unit_test(the_file_speaks_before_its_folder_and_the_last_before_the_first),
        cmocka_unit_test(other_names_give_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
