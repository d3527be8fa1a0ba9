// SPDX-License-Identifier: Apache-2.0
// A device that is kept busy, step by step, for tests of the rules.
#ifndef TESTS_UNIT_FINDINGS_HAND_H
#define TESTS_UNIT_FINDINGS_HAND_H

#include "tests/unit/hand_trace.h"

#include <stdio.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

// One kernel or copy and the call that launched it, which returns at once.
static inline void add_work(struct hand *hand, struct hand_event work, const char *call,
                            int64_t launch_ns)
{
    work.correlation = 1 + work.begin_ns;
    hand_add(hand, work);
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = call,
                                       .begin_ns = launch_ns,
                                       .dur_ns = US,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = work.correlation});
}

static inline void add_gemm(struct hand *hand, int64_t begin_ns, int64_t dur_ns, int64_t launch_ns)
{
    add_work(hand,
             (struct hand_event){.kind = EVENT_KERNEL,
                                 .name = "sgemm",
                                 .row = 7,
                                 .begin_ns = begin_ns,
                                 .dur_ns = dur_ns},
             "cudaLaunchKernel", launch_ns);
}

// A trace of back-to-back device events, launched long before they start.
struct busy {
    struct hand hand;
    int64_t now_ns;  // end of the device's work so far
    int64_t host_ns; // end of the host's work so far
};

// What an operator launches.
struct busy_work {
    const char *op, *kernel;
    const char *dims, *types;
    int64_t dur_ns;
    int64_t wait_ns; // the device waits this long before the launch
    int32_t grid;
    const char *concrete;
};

static inline void busy_begin(struct busy *busy)
{
    *busy = (struct busy){.now_ns = 10 * MS};
    hand_begin(&busy->hand);
    hand_member(&busy->hand, "deviceProperties",
                "[{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"numSms\": 132}]");
}

static inline void busy_host(struct busy *busy, enum event_kind kind, const char *name,
                             int64_t begin_ns, int64_t dur_ns)
{
    hand_add(&busy->hand, (struct hand_event){.kind = kind,
                                              .name = name,
                                              .begin_ns = begin_ns,
                                              .dur_ns = dur_ns,
                                              .pid = 1,
                                              .row = 1});
}

// An operator of 3 us, with a sequence number unless 0, that launches one kernel, the next thing
// the device does.
static inline void busy_run_numbered(struct busy *busy, struct busy_work work, int64_t sequence)
{
    int64_t begin_ns = busy->now_ns + work.wait_ns;
    if (work.wait_ns)
        busy->host_ns = begin_ns - 2 * US; // the launch returns when the kernel starts
    int64_t correlation = 1 + begin_ns;
    hand_add(&busy->hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                              .name = work.op,
                                              .begin_ns = busy->host_ns,
                                              .dur_ns = 3 * US,
                                              .pid = 1,
                                              .row = 1,
                                              .dims = work.dims,
                                              .types = work.types,
                                              .concrete = work.concrete,
                                              .sequence = sequence});
    hand_add(&busy->hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                              .name = "cudaLaunchKernel",
                                              .begin_ns = busy->host_ns + US,
                                              .dur_ns = US,
                                              .pid = 1,
                                              .row = 1,
                                              .correlation = correlation});
    hand_add(&busy->hand, (struct hand_event){.kind = EVENT_KERNEL,
                                              .name = work.kernel,
                                              .begin_ns = begin_ns,
                                              .dur_ns = work.dur_ns,
                                              .row = 7,
                                              .correlation = correlation,
                                              .grid = work.grid});
    busy->host_ns += 3 * US;
    busy->now_ns = begin_ns + work.dur_ns;
}

static inline void busy_run(struct busy *busy, struct busy_work work)
{
    busy_run_numbered(busy, work, 0);
}

// Same, several times.
static inline void busy_repeat(struct busy *busy, int times, struct busy_work work)
{
    for (int i = 0; i < times; i++)
        busy_run(busy, work);
}

// A mark around what the host does until busy_step_end.
static inline int64_t busy_step_begin(struct busy *busy)
{
    busy->host_ns += US;
    return busy->host_ns - US;
}

static inline void busy_step_end(struct busy *busy, int64_t begin_ns, int number)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    busy->host_ns += US;
    busy_host(busy, EVENT_ANNOTATION, name, begin_ns, busy->host_ns - begin_ns);
    busy->host_ns += US;
}

static inline bool has_finding(const struct hand *hand, const char *rule)
{
    for (size_t i = 0; i < hand_rows(hand, "findings"); i++)
        if (strcmp(hand_word(hand, "findings", i, "rule"), rule) == 0)
            return true;
    return false;
}

static inline size_t finding_row(const struct hand *hand, const char *rule)
{
    return hand_find(hand, "findings", "rule", rule);
}

static inline int64_t cost_of(const struct hand *hand, const char *rule)
{
    return hand_i64(hand, "findings", finding_row(hand, rule), "cost_ns");
}

static inline const char *finding_word(const struct hand *hand, const char *rule,
                                       const char *column)
{
    return hand_word(hand, "findings", finding_row(hand, rule), column);
}

static inline bool evidence_has(const struct hand *hand, const char *rule, const char *words)
{
    size_t row = hand_find(hand, "findings", "rule", rule);
    return strstr(hand_word(hand, "findings", row, "evidence"), words) != NULL;
}

// Equal up to rounding down for each device event.
static inline void assert_about(int64_t found, double expected)
{
    double off = (double)found - expected;
    if (off > expected * 1e-5 + 1 || -off > expected * 1e-5 + 1)
        fail_msg("%lld, expected %.0f", (long long)found, expected);
}

// No finding explains time that another one does.
static inline void assert_own_costs_fit(const struct hand *hand, int64_t step_ns)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < hand_rows(hand, "findings"); i++)
        sum_ns += hand_i64(hand, "findings", i, "own_cost_ns");
    assert_true(sum_ns <= step_ns);
}

#endif
