// SPDX-License-Identifier: Apache-2.0
// Rules about copies: those that block, and those that nothing hides.
#include "tests/unit/findings_hand.h"

// A copy or memset from 10 to 11 ms, and its call from 9 ms on.
static void add_copy(struct hand *hand, const char *name, const char *call, int64_t call_ns)
{
    bool sets = strstr(name, "Memset") != NULL;
    hand_add(hand, (struct hand_event){.kind = sets ? EVENT_MEMSET : EVENT_MEMCPY,
                                       .name = name,
                                       .row = 7,
                                       .begin_ns = 10 * MS,
                                       .dur_ns = MS,
                                       .bytes = 1000,
                                       .correlation = 1 + 10 * MS});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = call,
                                       .begin_ns = 9 * MS,
                                       .dur_ns = call_ns,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = 1 + 10 * MS});
}

static void copies_that_block_are_found_with_the_wait_behind_them(void **state)
{
    (void)state;
    static const struct {
        const char *copy, *call;
        int64_t call_ns, wait_ns;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync", US, US}, // staged
        {"Memcpy HtoD (Pinned -> Device)", "cudaMemcpy", 2 * MS, 100 * US},
        {"CopyHostToDevice", "hipMemcpyWithStream", 2 * MS, 100 * US},
        {"Memcpy DtoH (Device -> Host)", "hipMemcpyWithStream", 2 * MS - US, 100 * US}, // clocks
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_gemm(&hand, 0, 10 * MS, -MS);
        add_copy(&hand, cases[i].copy, cases[i].call, cases[i].call_ns);
        add_gemm(&hand, 13 * MS, MS, 12 * MS); // 2 ms after the copy
        hand_analyze(&hand);
        assert_int_equal(cost_of(&hand, "blocking_copies"), MS + cases[i].wait_ns);
        assert_true(evidence_has(&hand, "blocking_copies", "1 blocking copy in the recording ("));
        hand_end(&hand);
    }
}

// CASES.md, "A copy that waits for its batch". The host prepares a batch for 8 ms, copies it for
// 1 ms, and launches 60 us later.
static void what_the_host_does_before_a_copy_is_not_the_copys(void **state)
{
    (void)state;
    static const struct {
        const char *range, *rule;
    } cases[] = {{"aten::sort", "launch_bound"}, {"load_batch", "starved_data_loading"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_gemm(&hand, 0, 2 * MS, -MS);
        hand_add(&hand, (struct hand_event){.kind = i ? EVENT_ANNOTATION : EVENT_CPU_OP,
                                            .name = cases[i].range,
                                            .begin_ns = MS,
                                            .dur_ns = 8 * MS - 10 * US,
                                            .pid = 1,
                                            .row = 1});
        add_copy(&hand, "Memcpy HtoD (Pinned -> Device)", "cudaMemcpy", 2 * MS); // from 9 to 11
        add_gemm(&hand, 11 * MS + 60 * US, 30 * MS, 11 * MS + 50 * US);
        hand_analyze(&hand);
        assert_int_equal(cost_of(&hand, "blocking_copies"), MS + 60 * US);
        // From 2 ms to 10 ms, the last of which is the call that copies.
        size_t row = hand_find(&hand, "findings", "rule", cases[i].rule);
        assert_int_equal(hand_i64(&hand, "findings", row, "cost_ns"), 8 * MS + (i ? 0 : 60 * US));
        assert_int_equal(hand_i64(&hand, "findings", row, "own_cost_ns"),
                         8 * MS + (i ? 0 : 60 * US));
        hand_end(&hand);
    }
}

static void copies_that_do_not_block_are_not_found(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync"},
        {"Memcpy DtoD (Device -> Device)", "cudaMemcpyAsync"},
        {"Memset (Device)", "cudaMemset"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_gemm(&hand, 0, 10 * MS, -MS);
        add_copy(&hand, cases[i][0], cases[i][1], 2 * MS);
        add_gemm(&hand, 13 * MS, MS, 12 * MS);
        hand_analyze(&hand);
        assert_false(has_finding(&hand, "blocking_copies"));
        bool sets = strstr(cases[i][0], "Memset") != NULL;
        assert_int_equal(has_finding(&hand, "exposed_copies"), !sets);
        hand_end(&hand);
    }
}

// Two copies of 3 ms, of which compute hides 2 ms of the first.
static void copies_that_nothing_hides_are_found(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    for (int i = 0; i < 2; i++)
        add_work(&hand,
                 (struct hand_event){.kind = EVENT_MEMCPY,
                                     .name = "Memcpy HtoD (Pinned -> Device)",
                                     .row = 8,
                                     .begin_ns = (8 + 3 * i) * MS,
                                     .dur_ns = 3 * MS,
                                     .bytes = 75000000},
                 "cudaMemcpyAsync", -MS);
    add_gemm(&hand, 14 * MS, 10 * MS, -MS);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "findings"), 1);
    assert_int_equal(cost_of(&hand, "exposed_copies"), 4 * MS);
    assert_true(evidence_has(&hand, "exposed_copies",
                             "to the device: 4.00 ms exposed, 150,000,000 bytes in the recording "
                             "at 25.0 GB/s"));
    hand_end(&hand);
}

// The change no_copies removes both.
static void a_rule_gains_nothing_from_the_copies_of_another(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_gemm(&hand, 0, 10 * MS, -MS);
    add_copy(&hand, "Memcpy HtoD (Pinned -> Device)", "cudaMemcpy", 2 * MS); // from 9 to 11
    add_work(&hand,
             (struct hand_event){.kind = EVENT_MEMCPY,
                                 .name = "Memcpy DtoD (Device -> Device)",
                                 .row = 7,
                                 .begin_ns = 11 * MS + 20 * US,
                                 .dur_ns = 5 * MS},
             "cudaMemcpyAsync", 11 * MS + 10 * US);
    add_gemm(&hand, 16 * MS + 20 * US, MS, 12 * MS);
    hand_analyze(&hand);
    static const char *const rules[] = {"blocking_copies", "exposed_copies"};
    for (size_t i = 0; i < 2; i++) {
        size_t row = hand_find(&hand, "findings", "rule", rules[i]);
        int64_t gain_ns = hand_i64(&hand, "findings", row, "gain_ns");
        assert_true(gain_ns > 0);
        assert_true(gain_ns <= hand_i64(&hand, "findings", row, "cost_ns"));
    }
    hand_end(&hand);
}

static void copies_without_any_compute_are_not_exposed(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_copy(&hand, "Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync", US);
    hand_analyze(&hand);
    assert_false(has_finding(&hand, "exposed_copies"));
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_that_block_are_found_with_the_wait_behind_them),
        cmocka_unit_test(what_the_host_does_before_a_copy_is_not_the_copys),
        cmocka_unit_test(copies_that_do_not_block_are_not_found),
        cmocka_unit_test(copies_that_nothing_hides_are_found),
        cmocka_unit_test(a_rule_gains_nothing_from_the_copies_of_another),
        cmocka_unit_test(copies_without_any_compute_are_not_exposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
