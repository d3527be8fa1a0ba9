// SPDX-License-Identifier: Apache-2.0
// Handmade idle gaps, in microseconds.
#ifndef TESTS_UNIT_GAP_HAND_H
#define TESTS_UNIT_GAP_HAND_H

#include "analysis/names/gap_cause.h"
#include "analysis/facts/gaps.h"
#include "tests/unit/hand_trace.h"

#define US INT64_C(1000)

enum { MAIN = 1, AUTOGRAD = 2, COMPUTE = 7, COMM = 20 };

// Microseconds.
struct stretch {
    int64_t begin, end;
};

static inline struct stretch span(int64_t begin_us, int64_t end_us)
{
    return (struct stretch){begin_us, end_us};
}

struct place {
    int64_t device, stream;
};

static inline struct place on(int64_t device, int64_t stream)
{
    return (struct place){device, stream};
}

// A launch of 2 us.
struct launching {
    int64_t thread, begin_us;
};

static inline struct launching by(int64_t thread, int64_t begin_us)
{
    return (struct launching){thread, begin_us};
}

static inline void add_host(struct hand *hand, enum event_kind kind, int64_t thread,
                            const char *name, struct stretch when)
{
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = name,
                                       .begin_ns = when.begin * US,
                                       .dur_ns = (when.end - when.begin) * US,
                                       .pid = 1,
                                       .row = thread});
}

static inline void add_work(struct hand *hand, struct place place, struct stretch when,
                            struct launching launch)
{
    int64_t correlation = 1 + when.begin * 100 + place.stream + 10 * place.device;
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = when.begin * US,
                                       .dur_ns = (when.end - when.begin) * US,
                                       .pid = place.device,
                                       .row = place.stream,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = launch.begin_us * US,
                                       .dur_ns = 2 * US,
                                       .pid = 1,
                                       .row = launch.thread,
                                       .correlation = correlation});
}

// The device is busy in [0, 1000); its next kernel starts at 1300 and was launched at launch_us.
static inline void begin_with_gap(struct hand *hand, int64_t launch_us)
{
    hand_begin(hand);
    add_work(hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
    add_work(hand, on(0, COMPUTE), span(1300, 1400), by(MAIN, launch_us));
}

// Its next kernel starts at 1020.
static inline void begin_with_short_gap(struct hand *hand, int64_t launch_us)
{
    hand_begin(hand);
    add_work(hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
    add_work(hand, on(0, COMPUTE), span(1020, 1400), by(MAIN, launch_us));
}

static inline const struct gap *gap_at(const struct hand *hand, int64_t begin_us)
{
    for (uint32_t i = 0; i < hand->facts.gaps.count; i++)
        if (hand->facts.gaps.gaps[i].begin_ns == begin_us * US)
            return &hand->facts.gaps.gaps[i];
    fail_msg("no gap begins at %lld us", (long long)begin_us);
    return NULL;
}

static inline void assert_gap(const struct hand *hand, int64_t begin_us, const char *cause,
                              const char *host_event)
{
    const struct gap *gap = gap_at(hand, begin_us);
    assert_string_equal(idle_cause_word((enum idle_cause)gap->cause), cause);
    if (!host_event) {
        assert_int_equal(gap->host_event, FACTS_NONE);
        return;
    }
    assert_int_not_equal(gap->host_event, FACTS_NONE);
    assert_string_equal(trace_text(hand->trace, hand->trace->name[gap->host_event]).at, host_event);
}

// Seals, checks the gap [1000, 1300) and frees.
static inline void end_with_gap(struct hand *hand, const char *cause, const char *host_event)
{
    hand_facts(hand);
    assert_int_equal(hand->facts.gaps.count, 1);
    assert_gap(hand, 1000, cause, host_event);
    enum idle_cause is = (enum idle_cause)hand->facts.gaps.gaps[0].cause;
    assert_int_equal(hand->facts.whole.idle_ns[is], 300 * US);
    assert_int_equal(hand->facts.whole.bar_ns[idle_cause_bar(is)], 300 * US);
    hand_end(hand);
}

#endif
