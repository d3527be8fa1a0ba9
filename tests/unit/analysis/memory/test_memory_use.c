// SPDX-License-Identifier: Apache-2.0
// Memory by device: curve, peak, what was live at the peak, leak; by hand and at random.
#include "analysis/memory/memory_curve.h"
#include "tests/unit/hand_trace.h"
#include "tests/unit/near.h"

#include <math.h>
#include <stdio.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define MB INT64_C(1000000)

// An allocation (bytes > 0) or release, and the totals after it.
struct change {
    int64_t time_ns, address, bytes, allocated, reserved;
};

// On cuda:0 by thread 1.
static void allocate(struct hand *hand, struct change change)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                       .name = "[memory]",
                                       .begin_ns = change.time_ns,
                                       .pid = 1,
                                       .row = 1,
                                       .address = change.address,
                                       .bytes = change.bytes,
                                       .allocated = change.allocated,
                                       .reserved = change.reserved,
                                       .device_type = 1});
}

// A marked step of 1 ms on the host whose kernel runs half a millisecond later.
static void add_step(struct hand *hand, int number)
{
    char name[32];
    int64_t begin_ns = number * MS;
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    hand_host(hand, EVENT_ANNOTATION, name, begin_ns, MS);
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = begin_ns + 10 * US,
                                       .dur_ns = US,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = 1 + number});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "sgemm",
                                       .row = 7,
                                       .begin_ns = begin_ns + 500 * US,
                                       .dur_ns = 400 * US,
                                       .correlation = 1 + number});
}

static int64_t sum_of(const struct hand *hand, const char *table, const char *column,
                      const char *device)
{
    int64_t sum = 0;
    for (size_t i = 0; i < hand_rows(hand, table); i++)
        if (strcmp(hand_word(hand, table, i, "device"), device) == 0)
            sum += hand_i64(hand, table, i, column);
    return sum;
}

static bool is_null(const struct hand *hand, const char *table, size_t row, const char *column)
{
    return hand_cell(hand, table, row, column)->null;
}

static void peak_and_what_held_it_are_found(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{\"id\": 0, \"totalGlobalMem\": 80000}]");
    add_step(&hand, 0);
    hand_host(&hand, EVENT_CPU_OP, "aten::mm", 100 * US, 100 * US);
    hand_host(&hand, EVENT_CPU_OP, "aten::empty", 110 * US, 20 * US);
    allocate(&hand,
             (struct change){120 * US, 1, 400, 1400, 4000}); // in empty; 1,000 were there before
    allocate(&hand, (struct change){150 * US, 2, 300, 1700, 4000}); // in mm
    allocate(&hand, (struct change){160 * US, 1, -400, 1300, 4000});
    allocate(&hand, (struct change){170 * US, 1, 500, 1800, 6000});  // in mm, where the first was
    allocate(&hand, (struct change){180 * US, 9, -100, 1700, 6000}); // from before the recording
    allocate(&hand, (struct change){300 * US, 3, 200, 1900, 5000});  // in no operator: the peak
    allocate(&hand, (struct change){400 * US, 3, -200, 1700, 5000});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "memory"), 1);
    assert_string_equal(hand_word(&hand, "memory", 0, "device"), "cuda:0");
    assert_int_equal(hand_i64(&hand, "memory", 0, "events"), 7);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 1900);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_reserved_bytes"), 6000);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_ns"), 300 * US - 500 * US);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_step"), 0);
    assert_true(is_null(&hand, "memory", 0, "peak_op"));
    assert_int_equal(hand_i64(&hand, "memory", 0, "fragmentation_bytes"), 5000 - 1900);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 1000);
    assert_int_equal(hand_i64(&hand, "memory", 0, "end_bytes"), 1700);
    assert_int_equal(hand_i64(&hand, "memory", 0, "capacity_bytes"), 80000);
    // 800 of mm, 200 of none; of the 1,000 from before 100 were released.
    assert_int_equal(hand_rows(&hand, "memory_peak"), 3);
    assert_string_equal(hand_word(&hand, "memory_peak", 0, "op"), "aten::mm");
    assert_int_equal(hand_i64(&hand, "memory_peak", 0, "bytes"), 800);
    assert_int_equal(hand_i64(&hand, "memory_peak", 0, "allocations"), 2);
    assert_true(is_null(&hand, "memory_peak", 1, "op"));
    assert_string_equal(hand_word(&hand, "memory_peak", 1, "origin"), "recorded");
    assert_int_equal(hand_i64(&hand, "memory_peak", 1, "bytes"), 200);
    assert_string_equal(hand_word(&hand, "memory_peak", 2, "origin"), "before");
    assert_true(is_null(&hand, "memory_peak", 2, "allocations"));
    assert_int_equal(hand_i64(&hand, "memory_peak", 2, "bytes"), 900);
    hand_end(&hand);
}

static void the_module_of_the_peak_is_named(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_step(&hand, 0);
    hand_host(&hand, EVENT_PYTHON, "nn.Module: Net_0", 90 * US, 300 * US);
    hand_host(&hand, EVENT_PYTHON, "nn.Module: Linear_1", 95 * US, 200 * US);
    hand_host(&hand, EVENT_CPU_OP, "aten::mm", 100 * US, 100 * US);
    allocate(&hand, (struct change){120 * US, 1, 400, 400, 1000});
    hand_host(&hand, EVENT_CPU_OP, "aten::mm", 300 * US, 10 * US);
    allocate(&hand, (struct change){305 * US, 2, 10, 410, 1000}); // after the inner module
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "memory", 0, "peak_op"), "aten::mm");
    assert_string_equal(hand_word(&hand, "memory", 0, "peak_module"), "Net_0");
    assert_int_equal(hand_rows(&hand, "memory_peak"), 2);
    assert_string_equal(hand_word(&hand, "memory_peak", 0, "module"), "Net_0/Linear_1");
    assert_int_equal(hand_i64(&hand, "memory_peak", 0, "bytes"), 400);
    assert_string_equal(hand_word(&hand, "memory_peak", 1, "module"), "Net_0");
    hand_end(&hand);
}

static void allocations_of_one_moment_keep_the_order_of_the_file(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 100; i++) { // also past the size that is sorted by insertion
        allocate(&hand, (struct change){10, 1, 50, 150, 200});
        allocate(&hand, (struct change){10, 1, -50, 100, 200});
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 100);
    assert_int_equal(hand_i64(&hand, "memory", 0, "end_bytes"), 100);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 150);
    for (size_t i = 1; i < 201; i++)
        assert_int_equal(hand_i64(&hand, "memory_timeline", i, "allocated_bytes"),
                         i % 2 ? 150 : 100);
    hand_end(&hand);
}

static void devices_are_distinguished_and_the_host_comes_last(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties",
                "[{\"id\": 0, \"totalGlobalMem\": 5}, {\"id\": 1, \"totalGlobalMem\": \"7\"}]");
    for (int device = -1; device < 2; device++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                            .name = "[memory]",
                                            .begin_ns = 5 - device,
                                            .address = 77, // the same everywhere
                                            .bytes = 16 + device,
                                            .allocated = 16 + device,
                                            .device_type = device < 0 ? 0 : 6,
                                            .device = device});
    hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                        .name = "[memory]",
                                        .begin_ns = 7,
                                        .address = 78,
                                        .bytes = 1,
                                        .allocated = 16,
                                        .device_type = 0}); // the host without its usual -1
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "memory"), 3);
    assert_string_equal(hand_word(&hand, "memory", 0, "device"), "hip:0");
    assert_string_equal(hand_word(&hand, "memory", 1, "device"), "hip:1");
    assert_string_equal(hand_word(&hand, "memory", 2, "device"), "cpu");
    for (size_t i = 0; i < 3; i++) {
        const int64_t bytes[] = {16, 17, 16};
        assert_int_equal(hand_i64(&hand, "memory", i, "peak_allocated_bytes"), bytes[i]);
    }
    assert_int_equal(hand_i64(&hand, "memory", 0, "capacity_bytes"), 5);
    assert_int_equal(hand_i64(&hand, "memory", 1, "capacity_bytes"), 7);
    assert_true(is_null(&hand, "memory", 2, "capacity_bytes"));
    assert_true(is_null(&hand, "memory", 2, "peak_reserved_bytes"));
    assert_true(is_null(&hand, "memory", 2, "fragmentation_bytes"));
    // Without device work, time counts from the first allocation.
    assert_int_equal(hand_i64(&hand, "memory", 1, "peak_ns"), 0);
    assert_int_equal(hand_i64(&hand, "memory", 2, "peak_ns"), 7 - 4);
    hand_end(&hand);
}

static void threads_that_allocate_in_turn_make_one_curve(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int thread = 0; thread < 2; thread++) { // the file has one thread after the other
        hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                            .name = thread ? "aten::mul" : "aten::add",
                                            .begin_ns = 0,
                                            .dur_ns = 1000,
                                            .pid = 1,
                                            .row = thread});
        for (int i = 0; i < 50; i++)
            hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                                .name = "[memory]",
                                                .begin_ns = 10 * i + 5 * thread,
                                                .pid = 1,
                                                .row = thread,
                                                .address = 2 * i + thread,
                                                .bytes = 4,
                                                .allocated = 4 * (2 * i + thread + 1),
                                                .reserved = 1000,
                                                .device_type = 1});
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 0);
    assert_int_equal(hand_i64(&hand, "memory", 0, "end_bytes"), 400);
    for (size_t i = 0; i < 101; i++)
        assert_int_equal(hand_i64(&hand, "memory_timeline", i, "allocated_bytes"), 4 * i);
    assert_int_equal(hand_rows(&hand, "memory_peak"), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(hand_word(&hand, "memory_peak", i, "op"),
                            i ? "aten::mul" : "aten::add");
        assert_int_equal(hand_i64(&hand, "memory_peak", i, "bytes"), 200);
    }
    hand_end(&hand);
}

static void of_equal_peaks_the_first_counts(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){100, 1, 50, 150, 200});
    allocate(&hand, (struct change){200, 1, -50, 100, 200});
    allocate(&hand, (struct change){300, 1, 50, 150, 200});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_ns"), 0);
    assert_int_equal(hand_i64(&hand, "memory", 0, "fragmentation_bytes"), 50);
    hand_end(&hand);
}

static void bytes_that_contradict_the_totals_give_no_level_below_0(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){100, 1, 500, 150, 200});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 0);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 150);
    assert_int_equal(sum_of(&hand, "memory_peak", "bytes", "cuda:0"), 150);
    hand_end(&hand);
}

static void totals_that_are_not_recorded_follow_from_the_bytes(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){1, 1, 30, VALUE_ABSENT, VALUE_ABSENT});
    allocate(&hand, (struct change){2, 2, 20, 150, 500});
    allocate(&hand, (struct change){3, 1, -30, VALUE_ABSENT, VALUE_ABSENT});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 100);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 150);
    assert_int_equal(hand_i64(&hand, "memory", 0, "end_bytes"), 120);
    assert_true(is_null(&hand, "memory", 0, "end_reserved_bytes"));
    assert_non_null(strstr(hand_word(&hand, "memory", 0, "note"), "2 of 3 totals"));
    assert_true(is_null(&hand, "memory_timeline", 1, "reserved_bytes"));
    hand_end(&hand);
}

static void worked_out_levels_stay_above_0(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 0;
    add_step(&hand, 0);
    add_step(&hand, 1);
    allocate(&hand, (struct change){US, 1, -INT64_MAX, 0, 10});
    allocate(&hand, (struct change){2 * US, 2, -INT64_MAX, VALUE_ABSENT, 10});
    allocate(&hand, (struct change){MS - 1, 3, 1, INT64_MAX, 10});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory_timeline", 2, "allocated_bytes"), 0);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), INT64_MAX);
    hand_end(&hand);
}

static void without_any_total_the_least_possible_level_is_taken(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){1, 1, 30, VALUE_ABSENT, VALUE_ABSENT});
    allocate(&hand,
             (struct change){2, 9, -70, VALUE_ABSENT, VALUE_ABSENT}); // so at least 40 were there
    allocate(&hand, (struct change){3, 2, 10, VALUE_ABSENT, VALUE_ABSENT});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "begin_bytes"), 40);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 70);
    assert_int_equal(hand_i64(&hand, "memory", 0, "end_bytes"), 10);
    assert_non_null(strstr(hand_word(&hand, "memory", 0, "note"), "miss memory"));
    assert_int_equal(sum_of(&hand, "memory_peak", "bytes", "cuda:0"), 70);
    hand_end(&hand);
}

static void a_lost_release_shows_as_a_negative_rest(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){1, 1, 300, 300, 1000});
    allocate(&hand, (struct change){3, 2, 400, 400, 1000}); // the release of the first is missing
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 400);
    assert_int_equal(sum_of(&hand, "memory_peak", "bytes", "cuda:0"), 400);
    size_t before = hand_find(&hand, "memory_peak", "origin", "before");
    assert_int_equal(hand_i64(&hand, "memory_peak", before, "bytes"), -300);
    assert_non_null(strstr(hand_word(&hand, "memory", 0, "note"), "by 300 bytes"));
    hand_end(&hand);
}

static void the_most_may_be_allocated_before_the_first_event(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    allocate(&hand, (struct change){1000, 1, -300, 700, 2000});
    allocate(&hand, (struct change){2000, 2, 100, 800, 2000});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "peak_allocated_bytes"), 1000);
    assert_true(is_null(&hand, "memory", 0, "fragmentation_bytes"));
    assert_int_equal(hand_rows(&hand, "memory_peak"), 1);
    assert_int_equal(hand_i64(&hand, "memory_peak", 0, "bytes"), 1000);
    assert_string_equal(hand_word(&hand, "memory_peak", 0, "origin"), "before");
    assert_int_equal(hand_i64(&hand, "memory_timeline", 0, "allocated_bytes"), 1000);
    hand_end(&hand);
}

static void bytes_that_add_up_to_more_than_fits_give_no_figures(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++)
        allocate(&hand, (struct change){i, i, INT64_MAX / 2, VALUE_ABSENT, VALUE_ABSENT});
    for (int i = 0; i < 3; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                            .name = "[memory]",
                                            .bytes = INT64_MIN + 1,
                                            .allocated = i ? VALUE_ABSENT : INT64_MAX,
                                            .reserved = INT64_MAX,
                                            .device_type = 0,
                                            .device = -1});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "memory"), 0);
    assert_int_equal(hand_rows(&hand, "memory_peak"), 0);
    size_t row = hand_find(&hand, "trust", "item", "allocations");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 6);
    hand_end(&hand);
    hand_begin(&hand); // the totals are small, but live memory does not add up
    for (int i = 0; i < 3; i++)
        allocate(&hand, (struct change){i, i, INT64_MAX / 2, 100, 100});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "memory"), 0);
    hand_end(&hand);
}

static void of_more_than_64_devices_the_rest_is_counted(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 70; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                            .name = "[memory]",
                                            .bytes = 8,
                                            .allocated = 8,
                                            .device_type = 1,
                                            .device = i});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "memory"), 64);
    size_t row = hand_find(&hand, "trust", "item", "allocations");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 6);
    hand_end(&hand);
}

// --- timeline ------------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 27;
}

#define MANY 10000

static void thinning_out_keeps_every_extreme(void **state)
{
    (void)state;
    static int64_t levels[MANY], reserved[MANY];
    struct hand hand;
    hand_begin(&hand);
    uint64_t random = 7;
    for (int i = 0; i < MANY; i++) {
        levels[i] = (int64_t)(next_random(&random) % 1000000);
        reserved[i] = (int64_t)(2000000 + next_random(&random) % 1000000);
        int64_t bytes = levels[i] - (i ? levels[i - 1] : 5);
        allocate(&hand, (struct change){100 * i, i, bytes, levels[i], reserved[i]});
    }
    hand_analyze(&hand);
    size_t count = hand_rows(&hand, "memory_timeline");
    assert_in_range(count, 1500, 2000);
    assert_int_equal(hand_i64(&hand, "memory_timeline", 0, "allocated_bytes"), 5);
    // Each row is an event, in order, and in each of 333 pieces no level exceeds those kept.
    size_t row = 1;
    for (int p = 0; p < 333; p++) {
        int first = MANY * p / 333, end = MANY * (p + 1) / 333;
        int64_t low = INT64_MAX, high = 0, low_reserved = INT64_MAX, high_reserved = 0, at = 0;
        for (; row < count; row++) {
            at = hand_i64(&hand, "memory_timeline", row, "time_ns") / 100;
            if (at >= end)
                break;
            int64_t level = hand_i64(&hand, "memory_timeline", row, "allocated_bytes");
            int64_t held = hand_i64(&hand, "memory_timeline", row, "reserved_bytes");
            assert_int_equal(level, levels[at]);
            assert_int_equal(held, reserved[at]);
            low = level < low ? level : low;
            high = level > high ? level : high;
            low_reserved = held < low_reserved ? held : low_reserved;
            high_reserved = held > high_reserved ? held : high_reserved;
        }
        for (int i = first; i < end; i++) {
            assert_in_range(levels[i], low, high);
            assert_in_range(reserved[i], low_reserved, high_reserved);
        }
    }
    assert_int_equal(row, count);
    assert_int_equal(hand_i64(&hand, "memory_timeline", count - 1, "time_ns"), 100 * (MANY - 1));
    hand_end(&hand);
}

static void every_event_is_kept_up_to_1999(void **state)
{
    (void)state;
    for (int events = 1999; events <= 2000; events++) {
        struct hand hand;
        hand_begin(&hand);
        for (int i = 0; i < events; i++)
            allocate(&hand, (struct change){i, i, 8, 8 * (i + 1), 100000});
        hand_analyze(&hand);
        size_t count = hand_rows(&hand, "memory_timeline");
        if (events == 1999)
            assert_int_equal(count, 2000);
        else
            assert_in_range(count, 600, 1999);
        hand_end(&hand);
    }
}

// --- leak ----------------------------------------------------------------------------------------

// Steps that each allocate and release, and keep `kept[i]` bytes; temporary memory in between.
static void add_steps(struct hand *hand, const int64_t *kept, int count)
{
    int64_t level = 0;
    for (int i = 0; i < count; i++) {
        add_step(hand, i);
        allocate(hand,
                 (struct change){i * MS + 100 * US, 1000 + i, 50 * MB, level + 50 * MB, 900 * MB});
        allocate(hand, (struct change){i * MS + 200 * US, 1000 + i, -50 * MB, level, 900 * MB});
        // The new level comes at the end, so it is the minimum of the next step.
        level += kept[i];
        allocate(hand, (struct change){(i + 1) * MS, i, kept[i], level, 900 * MB});
    }
}

static void memory_that_grows_each_step_is_a_leak(void **state)
{
    (void)state;
    int64_t kept[12];
    struct hand hand;
    for (int i = 0; i < 12; i++)
        kept[i] = 2 * MB;
    kept[6] = 20 * MB; // an outlier hardly moves the slope
    hand_begin(&hand);
    add_steps(&hand, kept, 12);
    hand_analyze(&hand);
    // Minimum of step k: 2k, and 18 more from step 7 on. The first step is warm-up.
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_steps"), 11);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), 2 * 10 * MB + 18 * MB);
    double slope = hand_cell(&hand, "memory", 0, "leak_bytes_per_step")->f;
    double low = hand_cell(&hand, "memory", 0, "leak_low")->f;
    double high = hand_cell(&hand, "memory", 0, "leak_high")->f;
    // 25 pairs on either side of the outlier have slope 2, 30 pairs across it have 2 + 18 / d.
    assert_near(slope, (2 + 18.0 / 9) * 1e6, 1e-3);
    assert_near(low, 2e6, 1e-3);
    assert_true(high > slope && high <= 20e6);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak"), 1);
    hand_end(&hand);
}

static void memory_that_goes_up_and_down_is_no_leak(void **state)
{
    (void)state;
    int64_t kept[20];
    struct hand hand;
    for (int i = 0; i < 20; i++)
        kept[i] = i % 2 ? -30 * MB : 30 * MB;
    hand_begin(&hand);
    add_steps(&hand, kept, 20);
    hand_analyze(&hand);
    assert_true(hand_cell(&hand, "memory", 0, "leak_low")->f <= 0);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak"), 0);
    hand_end(&hand);
}

static void a_slope_that_noise_explains_is_no_leak(void **state)
{
    (void)state;
    // Levels 0 40 5 45 0 50 10 30 20 35 MB: slope 2.5 MB, but from -3.75 MB on.
    const int64_t kept[] = {0,        40 * MB, -35 * MB, 40 * MB, -45 * MB, 50 * MB,
                            -40 * MB, 20 * MB, -10 * MB, 15 * MB, 0};
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 1;
    add_steps(&hand, kept, 11);
    hand_analyze(&hand);
    assert_near(hand_cell(&hand, "memory", 0, "leak_bytes_per_step")->f, 2.5e6, 1e-3);
    assert_near(hand_cell(&hand, "memory", 0, "leak_low")->f, -3.75e6, 1e-3);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), 35 * MB);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak"), 0);
    hand_end(&hand);
}

static void a_step_without_allocations_stays_at_its_level(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 0;
    for (int i = 0; i < 4; i++)
        add_step(&hand, i);
    allocate(&hand, (struct change){MS + US, 1, 30, 130, 200}); // step 0 has none before it
    allocate(&hand, (struct change){MS + 2 * US, 2, 7, 137,
                                    200}); // step 1: from 100 up, so its minimum is 100
    allocate(&hand, (struct change){2 * MS - US, 3, 63, 200, 200}); // step 2 and 3 hold this
    hand_analyze(&hand);
    // 100 100 200 200: slopes 0 0 50 100/3 50 100.
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), 100);
    assert_near(hand_cell(&hand, "memory", 0, "leak_bytes_per_step")->f, (50 + 100.0 / 3) / 2,
                1e-9);
    hand_end(&hand);
}

static void growth_up_to_1_mb_is_no_leak(void **state)
{
    (void)state;
    for (int over = 0; over <= 1; over++) {
        int64_t kept[12] = {0};
        struct hand hand;
        for (int i = 0; i < 12; i++)
            kept[i] = MB / 10; // ten steps from the first steady one to the last
        kept[11] = 0;
        kept[5] += over;
        hand_begin(&hand);
        add_steps(&hand, kept, 12);
        hand_analyze(&hand);
        assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), MB + over);
        assert_true(hand_cell(&hand, "memory", 0, "leak_low")->f > 0);
        assert_int_equal(hand_i64(&hand, "memory", 0, "leak"), over);
        hand_end(&hand);
    }
}

static void fewer_than_5_steady_steps_tell_no_leak(void **state)
{
    (void)state;
    int64_t kept[5] = {5 * MB, 5 * MB, 5 * MB, 5 * MB, 5 * MB};
    struct hand hand;
    hand_begin(&hand);
    add_steps(&hand, kept, 5);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_steps"), 4);
    assert_near(hand_cell(&hand, "memory", 0, "leak_bytes_per_step")->f, 5e6, 1e-3);
    assert_true(is_null(&hand, "memory", 0, "leak_low"));
    assert_true(is_null(&hand, "memory", 0, "leak"));
    assert_non_null(strstr(hand_word(&hand, "memory", 0, "note"), "fewer than 5 steady steps"));
    hand_end(&hand);
}

static void the_least_of_a_step_is_taken_over_the_time_of_its_mark(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 0;
    add_step(&hand, 0);
    add_step(&hand, 1);
    allocate(&hand, (struct change){0, 1, 70, 70, 100});
    allocate(&hand, (struct change){100 * US, 1, -60, 10, 100});
    allocate(&hand, (struct change){200 * US, 2, 80, 90, 100});
    // Step 1 starts at 90; on the device it would start only after this release.
    allocate(&hand, (struct change){MS, 3, 5, 95, 100});
    allocate(&hand, (struct change){MS + 400 * US, 2, -80, 15, 100});
    allocate(&hand, (struct change){2 * MS, 3, -5, 10, 100}); // after it
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_steps"), 2);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), 15 - 10);
    hand_end(&hand);
}

static void a_thousand_steps_are_thinned_out(void **state)
{
    (void)state;
    static int64_t kept[1000];
    struct hand hand;
    for (int i = 0; i < 1000; i++)
        kept[i] = 3 * MB;
    hand_begin(&hand);
    hand.options.warmup_steps = 0;
    add_steps(&hand, kept, 1000);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_steps"), 300);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak_growth_bytes"), 999 * 3 * MB);
    assert_near(hand_cell(&hand, "memory", 0, "leak_bytes_per_step")->f, 3e6, 1e-3);
    assert_int_equal(hand_i64(&hand, "memory", 0, "leak"), 1);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_and_what_held_it_are_found),
        cmocka_unit_test(the_module_of_the_peak_is_named),
        cmocka_unit_test(allocations_of_one_moment_keep_the_order_of_the_file),
        cmocka_unit_test(devices_are_distinguished_and_the_host_comes_last),
        cmocka_unit_test(threads_that_allocate_in_turn_make_one_curve),
        cmocka_unit_test(of_equal_peaks_the_first_counts),
        cmocka_unit_test(bytes_that_contradict_the_totals_give_no_level_below_0),
        cmocka_unit_test(totals_that_are_not_recorded_follow_from_the_bytes),
        cmocka_unit_test(worked_out_levels_stay_above_0),
        cmocka_unit_test(without_any_total_the_least_possible_level_is_taken),
        cmocka_unit_test(a_lost_release_shows_as_a_negative_rest),
        cmocka_unit_test(the_most_may_be_allocated_before_the_first_event),
        cmocka_unit_test(bytes_that_add_up_to_more_than_fits_give_no_figures),
        cmocka_unit_test(of_more_than_64_devices_the_rest_is_counted),
        cmocka_unit_test(thinning_out_keeps_every_extreme),
        cmocka_unit_test(every_event_is_kept_up_to_1999),
        cmocka_unit_test(memory_that_grows_each_step_is_a_leak),
        cmocka_unit_test(memory_that_goes_up_and_down_is_no_leak),
        cmocka_unit_test(a_slope_that_noise_explains_is_no_leak),
        cmocka_unit_test(a_step_without_allocations_stays_at_its_level),
        cmocka_unit_test(growth_up_to_1_mb_is_no_leak),
        cmocka_unit_test(fewer_than_5_steady_steps_tell_no_leak),
        cmocka_unit_test(the_least_of_a_step_is_taken_over_the_time_of_its_mark),
        cmocka_unit_test(a_thousand_steps_are_thinned_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
