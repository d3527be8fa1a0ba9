// SPDX-License-Identifier: Apache-2.0
// Text that is named like a log and is what another tool prints says so, and what to send.
#include "tests/unit/links_hand.h"

static void assert_says(struct str text, const char *says)
{
    struct links_hand hand = {.budget = {.limit = (uint64_t)64 << 20}};
    evidence_init(&hand.evidence, &hand.budget);
    struct format_input input = {.budget = &hand.budget, .evidence = &hand.evidence, .head = text};
    input.source = source_mem_open(text.at, text.len, 0, &hand.err);
    const struct format *format = format_find(text, STR("job.txt"));
    assert_string_equal(format->name, "training-log");
    assert_false(format->gather(&input, &hand.err));
    if (!strstr(hand.err.msg, says))
        fail_msg("expected \"%s\" in: %s", says, hand.err.msg);
    source_close(input.source);
    links_hand_free(&hand);
}

static void what_other_tools_print_says_what_to_send(void **state)
{
    (void)state;
    assert_says(STR("          RocmBandwidthTest Version: 2.6.0\n"), "nccl-tests");
    assert_says(STR("NIC statistics:\n     rx_packets: 1\n"), "network card");
    assert_says(STR("STREAM version $Revision: 5.10 $\n"), "monitors of its GPUs");
    assert_says(STR("ROCProfiler: input from \"/tmp/a.xml\"\n"), "results.csv");
    assert_says(STR("   CPU    %usr   %nice    %sys %iowait\n"), "mpstat");
}

static void errors_of_nsight_compute_say_their_cause(void **state)
{
    (void)state;
    assert_says(STR("==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user\n"),
                "permission");
    assert_says(STR("==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n"),
                "--target-processes all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_other_tools_print_says_what_to_send),
        cmocka_unit_test(errors_of_nsight_compute_say_their_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
