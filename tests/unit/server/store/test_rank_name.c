// SPDX-License-Identifier: Apache-2.0
// Ranks in file names, as tools and people write them.
#include "server/store/rank_name.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect(const char *path, int64_t rank)
{
    if (rank_of_filename(str_of(path)) != rank)
        fail_msg("%s: expected %lld, found %lld", path, (long long)rank,
                 (long long)rank_of_filename(str_of(path)));
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
    expect("1767900123.45-TP-3-PP-1.trace.json.gz", -1); // its rank depends on both
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_names_give_their_rank),
        cmocka_unit_test(the_file_speaks_before_its_folder_and_the_last_before_the_first),
        cmocka_unit_test(other_names_give_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
