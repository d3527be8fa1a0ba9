// SPDX-License-Identifier: Apache-2.0
// Calls and kernels of a small trace, and what its steps take after a change.
#ifndef TESTS_REPLAY_HAND_H
#define TESTS_REPLAY_HAND_H

#include "tests/unit/hand_trace.h"

#include "analysis/replay/whatif.h"

static inline void add_call(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns,
                            int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = name,
                                       .row = 1,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

static inline void add_kernel(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns,
                              int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = name,
                                       .row = 7,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

static inline struct whatif_answer ask(struct hand *hand, const char *change)
{
    struct whatif whatif;
    struct whatif_answer answer;
    struct change_list list = {.count = 0};
    assert_true(!*change || change_parse(str_of(change), &list, &hand->err));
    assert_true(whatif_open(&hand->facts, &hand->arena, &hand->arena, &whatif, &hand->err));
    assert_true(whatif_change(&whatif, &list, &hand->arena, &answer, NULL, &hand->err));
    return answer;
}

static inline int64_t changed(struct hand *hand, const char *change)
{
    struct whatif_answer answer = ask(hand, change);
    assert_null(answer.refused);
    assert_int_equal(answer.step_count, 1);
    assert_int_equal(answer.steps[0].replayed_ns, answer.steps[0].measured_ns);
    return answer.steps[0].changed_ns;
}

#endif
