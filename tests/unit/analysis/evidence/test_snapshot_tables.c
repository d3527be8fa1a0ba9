// SPDX-License-Identifier: Apache-2.0
// The tables of memory snapshots: the peak and what held it, requests that failed, growth.
#include "analysis/evidence/evidence_report.h"
#include "analysis/report/tables.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ALLOC, FREE, ASK_FREE, RESERVE, OOM = 8, INACTIVE = 0, IN_USE = 1 };

struct fixture {
    struct budget budget;
    struct evidence evidence;
    struct arena arena;
    struct report report;
    struct err err;
    int64_t time_us;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.err = {.pos = ERR_NO_POS}, .time_us = 1000};
    evidence_init(&f.evidence, &f.budget);
    arena_init(&f.arena, &f.budget);
    f.report = (struct report){.arena = &f.arena};
    assert_true(memory_snapshot_start(&f.evidence, STR("rank2_memory_snapshot.pickle"), &f.err));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    evidence_free(&f->evidence);
    arena_free(&f->arena);
    assert_int_equal(f->budget.used, 0);
    return 0;
}

static uint32_t calls(struct fixture *f, const char *text, enum snapshot_category category)
{
    uint32_t stack;
    assert_true(memory_snapshot_stack(&f->evidence, str_of(text), category, &stack, &f->err));
    return stack;
}

static void event(struct fixture *f, unsigned action, uint64_t address, int64_t size,
                  uint32_t stack)
{
    const struct snapshot_event event = {.address = address,
                                         .size = size,
                                         .time_us = f->time_us++,
                                         .device_free = 7,
                                         .action = action,
                                         .stack = stack};
    assert_true(memory_snapshot_event(&f->evidence, &event, &f->err));
}

static void segment(struct fixture *f, int64_t total, int64_t allocated)
{
    const struct snapshot_segment segment = {
        .total_size = total, .allocated_size = allocated, .active_size = allocated};
    assert_true(memory_snapshot_segment(&f->evidence, &segment, &f->err));
}

static void block(struct fixture *f, uint64_t address, int64_t size, unsigned state, uint32_t stack)
{
    const struct snapshot_block_record block = {address, size, state, stack};
    assert_true(memory_snapshot_block(&f->evidence, &block, &f->err));
}

static const struct table *table_of(struct fixture *f, const char *name)
{
    if (!f->report.table_count)
        assert_true(evidence_report(&f->evidence, STR("s.pickle"), &f->report, &f->err));
    return report_find(&f->report, name);
}

static void assert_held(const struct table *table, size_t row, const char *calls, int64_t bytes)
{
    assert_int_equal(table_i64(table, row, SNAPSHOT_HOLDERS_BYTES, -1), bytes);
    assert_true(table_is(table, row, SNAPSHOT_HOLDERS_CALLS, str_of(calls)) ||
                (!*calls && table_cell(table, row, SNAPSHOT_HOLDERS_CALLS)->null));
}

// 100 bytes were there before: 60 that stay, 40 that are freed while recording.
static void what_held_the_peak_sums_to_it(void **state)
{
    struct fixture *f = *state;
    uint32_t weights = calls(f, "init", SNAPSHOT_WEIGHTS);
    uint32_t forward = calls(f, "forward", SNAPSHOT_ACTIVATIONS);
    uint32_t step = calls(f, "step", SNAPSHOT_OPTIMIZER);
    block(f, 0x10, 60, IN_USE, weights);
    block(f, 0x90, 5, IN_USE, step);
    block(f, 0x95, 35, INACTIVE, SNAPSHOT_NO_STACK);
    segment(f, 100, 65);
    block(f, 0x200, 50, INACTIVE, SNAPSHOT_NO_STACK);
    segment(f, 50, 0);
    event(f, ALLOC, 0x50, 20, forward);
    event(f, ALLOC, 0x60, 30, forward); // the peak: 100 + 50
    event(f, FREE, 0x50, 20, forward);
    event(f, FREE, 0x70, 40, SNAPSHOT_NO_STACK); // of before
    event(f, ALLOC, 0x90, 5, step);
    event(f, FREE, 0x60, 30, forward);

    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_RANK, -1), 2);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_PEAK_ALLOCATED_BYTES, -1), 150);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_PEAK_NS, -1), 1000);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_BEGIN_BYTES, -1), 100);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_FRAGMENTATION_BYTES, -1), 85);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_LARGEST_FREE_BYTES, -1), 50);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_RELEASABLE_BYTES, -1), 50);
    assert_true(table_is(table, 0, SNAPSHOTS_TOP_CATEGORY, STR("weights")));
    table = table_of(f, "snapshot_holders");
    assert_int_equal(table->row_count, 3);
    assert_held(table, 0, "init", 60);
    assert_held(table, 1, "forward", 50);
    assert_held(table, 2, "", 40);
    assert_true(table_is(table, 0, SNAPSHOT_HOLDERS_ORIGIN, STR("before")));
    assert_true(table_is(table, 1, SNAPSHOT_HOLDERS_ORIGIN, STR("recorded")));
    table = table_of(f, "snapshot_series");
    assert_int_equal(table_i64(table, 0, SNAPSHOT_SERIES_ALLOCATED_BYTES, -1), 120);
    assert_int_equal(table_i64(table, table->row_count - 1, SNAPSHOT_SERIES_ALLOCATED_BYTES, -1),
                     65);
}

static void a_request_fails_for_fragmentation_if_as_much_was_free(void **state)
{
    struct fixture *f = *state;
    uint32_t forward = calls(f, "forward", SNAPSHOT_ACTIVATIONS);
    event(f, RESERVE, 0, 100, SNAPSHOT_NO_STACK);
    event(f, ALLOC, 1, 40, forward);
    event(f, OOM, 0, 60, forward);
    event(f, ALLOC, 2, 30, forward);
    event(f, OOM, 0, 60, forward);
    segment(f, 100, 70);
    const struct table *table = table_of(f, "snapshot_ooms");
    assert_int_equal(table->row_count, 2);
    assert_true(table_is(table, 0, SNAPSHOT_OOMS_CAUSE, STR("fragmentation")));
    assert_int_equal(table_i64(table, 0, SNAPSHOT_OOMS_CACHED_BYTES, -1), 60);
    assert_int_equal(table_i64(table, 0, SNAPSHOT_OOMS_DEVICE_FREE_BYTES, -1), 7);
    assert_true(table_is(table, 1, SNAPSHOT_OOMS_CAUSE, STR("full")));
    table = table_of(f, "snapshot_holders");
    assert_int_equal(table->row_count, 2);
    assert_true(table_is(table, 1, SNAPSHOT_HOLDERS_MOMENT, STR("oom")));
    assert_held(table, 1, "forward", 70);
}

// As with set_per_process_memory_fraction: 7 bytes are free on the device.
static void a_request_fails_for_a_limit_if_the_device_had_room(void **state)
{
    struct fixture *f = *state;
    event(f, RESERVE, 0, 40, SNAPSHOT_NO_STACK);
    event(f, ALLOC, 1, 40, SNAPSHOT_NO_STACK);
    event(f, OOM, 0, 7, SNAPSHOT_NO_STACK);
    event(f, OOM, 0, 8, SNAPSHOT_NO_STACK);
    segment(f, 40, 40);
    const struct table *table = table_of(f, "snapshot_ooms");
    assert_true(table_is(table, 0, SNAPSHOT_OOMS_CAUSE, STR("limit")));
    assert_true(table_is(table, 1, SNAPSHOT_OOMS_CAUSE, STR("full")));
}

// Sizes that no device has may come from outside.
static void sums_beyond_64_bits_saturate(void **state)
{
    struct fixture *f = *state;
    segment(f, 0, 0);
    event(f, FREE, 1, INT64_MAX, SNAPSHOT_NO_STACK);
    event(f, FREE, 2, 1, SNAPSHOT_NO_STACK);
    event(f, OOM, 3, 5, SNAPSHOT_NO_STACK);
    event(f, ALLOC, 4, INT64_MAX, SNAPSHOT_NO_STACK);
    event(f, ALLOC, 5, 1, SNAPSHOT_NO_STACK);
    const struct table *table = table_of(f, "snapshot_ooms");
    assert_int_equal(table->row_count, 1);
    assert_int_equal(table_i64(table, 0, SNAPSHOT_OOMS_CACHED_BYTES, -1), INT64_MAX);
}

// A block whose free was requested is in use until that is completed, and no longer allocated.
static void what_awaits_its_free_is_in_use(void **state)
{
    struct fixture *f = *state;
    uint32_t forward = calls(f, "forward", SNAPSHOT_ACTIVATIONS);
    const struct snapshot_segment waiting = {.total_size = 100, .active_size = 40};
    assert_true(memory_snapshot_segment(&f->evidence, &waiting, &f->err));
    event(f, ALLOC, 1, 40, forward);
    event(f, ASK_FREE, 1, 40, forward);
    memory_snapshot_done(&f->evidence, 1);
    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_BEGIN_BYTES, -1), 0);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_PEAK_ALLOCATED_BYTES, -1), 40);
    table = table_of(f, "snapshot_holders");
    assert_int_equal(table->row_count, 1);
    assert_held(table, 0, "forward", 40);
}

// As at the end of 1000 bytes reserved and 300 allocated, without figures of the events.
static void assert_only_the_end_is_known(struct fixture *f)
{
    segment(f, 1000, 300);
    memory_snapshot_done(&f->evidence, 1);
    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_PEAK_ALLOCATED_BYTES, -1), 300);
    assert_true(table_cell(table, 0, SNAPSHOTS_BEGIN_BYTES)->null);
    assert_true(table_cell(table, 0, SNAPSHOTS_TOP_CATEGORY)->null);
    assert_null(report_find(&f->report, "snapshot_holders"));
    assert_null(report_find(&f->report, "snapshot_series"));
    table = table_of(f, "trust");
    assert_true(table_is(table, 0, TRUST_ITEM, STR("snapshot_incomplete")));
}

// skip_actions=["free_completed"]
static void frees_that_are_only_requested_are_not_replayed(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        event(f, ALLOC, 1, 100, SNAPSHOT_NO_STACK);
        event(f, ASK_FREE, 1, 100, SNAPSHOT_NO_STACK);
    }
    assert_only_the_end_is_known(f);
}

// skip_actions=["free_requested", "free_completed"]: more than there is at the end.
static void allocations_without_frees_are_not_replayed(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 4; i++)
        event(f, ALLOC, i + 1, 100, SNAPSHOT_NO_STACK);
    assert_only_the_end_is_known(f);
}

// skip_actions=["alloc"]: more than was reserved.
static void frees_without_allocations_are_not_replayed(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 8; i++)
        event(f, FREE, i + 1, 100, SNAPSHOT_NO_STACK);
    assert_only_the_end_is_known(f);
}

// It has tensors and the addresses between them.
static void a_profile_does_not_say_what_is_reserved(void **state)
{
    struct fixture *f = *state;
    uint32_t forward = calls(f, "forward", SNAPSHOT_ACTIVATIONS);
    const struct snapshot_segment span = {.address = 1000, .total_size = 900, .profiled = true};
    block(f, 0, 100, IN_USE, SNAPSHOT_NO_STACK);
    block(f, 0, 770, INACTIVE, SNAPSHOT_NO_STACK);
    block(f, 0, 30, IN_USE, forward);
    assert_true(memory_snapshot_segment(&f->evidence, &span, &f->err));
    event(f, ALLOC, 1870, 30, forward);
    memory_snapshot_done(&f->evidence, 2);

    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_PEAK_ALLOCATED_BYTES, -1), 130);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_BEGIN_BYTES, -1), 100);
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_END_ALLOCATED_BYTES, -1), 130);
    assert_true(table_cell(table, 0, SNAPSHOTS_PEAK_RESERVED_BYTES)->null);
    assert_true(table_cell(table, 0, SNAPSHOTS_FRAGMENTATION_SHARE)->null);
    assert_true(table_cell(table, 0, SNAPSHOTS_RELEASABLE_BYTES)->null);
    table = table_of(f, "snapshot_holders");
    assert_int_equal(table->row_count, 2);
    assert_held(table, 0, "forward", 30);
    assert_held(table, 1, "", 100);
    table = table_of(f, "snapshot_series");
    assert_true(table_cell(table, 0, SNAPSHOT_SERIES_RESERVED_BYTES)->null);
}

enum { MB = 1000000 };

static void mark_step(struct fixture *f)
{
    const struct snapshot_annotation mark = {STR("ProfilerStep#1"), true, 0, f->time_us};
    assert_true(memory_snapshot_annotation(&f->evidence, &mark, &f->err));
}

// Six steps: one call leaves 1 MB in each, another only in the first, as an optimizer's state.
static void what_is_left_behind_throughout_is_growth(void **state)
{
    struct fixture *f = *state;
    uint32_t kept = calls(f, "log_loss", SNAPSHOT_OTHER);
    uint32_t state_of = calls(f, "step", SNAPSHOT_OPTIMIZER);
    uint32_t forward = calls(f, "forward", SNAPSHOT_ACTIVATIONS);
    for (unsigned step = 0; step < 7; step++) {
        mark_step(f);
        event(f, ALLOC, 100 + step, MB, kept);
        if (step == 0)
            event(f, ALLOC, 500, 1000, state_of);
        event(f, ALLOC, 600, 30, forward);
        event(f, FREE, 600, 30, forward);
    }
    segment(f, 8 * MB, 7 * MB + 1000);
    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_GROWTH_STEPS, -1), 4);
    assert_true(table_f64(table, 0, SNAPSHOTS_GROWTH_BYTES, 0) == MB);
    assert_int_equal(table_cell(table, 0, SNAPSHOTS_LEAK)->i, true);
    table = table_of(f, "snapshot_growth");
    assert_int_equal(table->row_count, 1);
    assert_true(table_is(table, 0, SNAPSHOT_GROWTH_CALLS, STR("log_loss")));
    assert_int_equal(table_i64(table, 0, SNAPSHOT_GROWTH_BLOCKS, -1), 4);
}

// Steps of which every `every`-th adds a block to a list, which is emptied when it has `most`.
static void fill_list(struct fixture *f, unsigned steps, unsigned every, unsigned most)
{
    uint32_t kept = calls(f, "keep", SNAPSHOT_OTHER);
    unsigned count = 0;
    for (unsigned step = 0; step <= steps; step++) {
        mark_step(f);
        if (step % every == 0)
            event(f, ALLOC, 100 + count++, MB, kept);
        if (count == most)
            while (count)
                event(f, FREE, 100 + --count, MB, kept);
    }
    segment(f, (int64_t)(steps + 1) * MB, (int64_t)count * MB);
}

static void assert_leak(struct fixture *f, bool leak, double per_step)
{
    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_cell(table, 0, SNAPSHOTS_LEAK)->i, leak);
    assert_true(table_f64(table, 0, SNAPSHOTS_GROWTH_BYTES, -1) == per_step);
}

static void what_every_tenth_step_leaves_is_a_leak(void **state)
{
    fill_list(*state, 60, 10, UINT_MAX);
    assert_leak(*state, true, 5.0 * MB / 58); // of steps 10 to 50
}

static void a_list_that_is_emptied_is_no_growth(void **state)
{
    fill_list(*state, 18, 1, 7); // which has five in the end
    assert_leak(*state, false, 0);
}

static void growth_up_to_a_megabyte_is_no_leak(void **state)
{
    struct fixture *f = *state;
    uint32_t kept = calls(f, "keep", SNAPSHOT_OTHER);
    for (unsigned step = 0; step < 7; step++) {
        mark_step(f);
        event(f, ALLOC, 100 + step, MB / 4, kept);
    }
    segment(f, 2 * MB, 7 * MB / 4);
    assert_leak(f, false, MB / 4);
    assert_int_equal(report_find(&f->report, "snapshot_growth")->row_count, 1);
}

// Marks are kept longer than events are.
static void steps_before_the_first_event_do_not_count(void **state)
{
    struct fixture *f = *state;
    for (unsigned step = 0; step < 20; step++) {
        mark_step(f);
        f->time_us += 10;
    }
    fill_list(f, 8, 1, UINT_MAX);
    assert_leak(f, true, MB);
    assert_int_equal(table_i64(table_of(f, "snapshots"), 0, SNAPSHOTS_GROWTH_STEPS, -1), 6);
}

static void what_was_recorded_without_calls_was_not_there_before(void **state)
{
    struct fixture *f = *state;
    event(f, ALLOC, 100, 10, SNAPSHOT_NO_STACK);
    segment(f, 100, 10);
    const struct table *table = table_of(f, "snapshots");
    assert_int_equal(table_i64(table, 0, SNAPSHOTS_BEGIN_BYTES, -1), 0);
    assert_true(table_cell(table, 0, SNAPSHOTS_TOP_CATEGORY)->null);
}

static void steps_that_are_not_marked_are_not_judged(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 50; i++)
        event(f, ALLOC, i + 1, 10, SNAPSHOT_NO_STACK);
    segment(f, 2000, 500);
    const struct table *table = table_of(f, "snapshots");
    assert_true(table_cell(table, 0, SNAPSHOTS_LEAK)->null);
    assert_null(report_find(&f->report, "snapshot_growth"));
    table = table_of(f, "trust");
    assert_true(table_is(table, 0, TRUST_ITEM, STR("snapshot_without_calls")));
}

static void a_million_events_are_drawn_with_their_extremes(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 1000000; i++)
        event(f, i % 2 ? FREE : ALLOC, 1,
              i == 777776 ? 5000
              : i % 2     ? (i == 777777 ? 5000 : 10)
                          : 10,
              SNAPSHOT_NO_STACK);
    segment(f, 8000, 0);
    const struct table *table = table_of(f, "snapshot_series");
    assert_true(table->row_count <= 2000 && table->row_count > 400);
    int64_t most = 0, last_ns = -1;
    for (size_t i = 0; i < table->row_count; i++) {
        int64_t bytes = table_i64(table, i, SNAPSHOT_SERIES_ALLOCATED_BYTES, -1);
        int64_t time_ns = table_i64(table, i, SNAPSHOT_SERIES_TIME_NS, -1);
        most = bytes > most ? bytes : most;
        assert_true(time_ns > last_ns);
        last_ns = time_ns;
    }
    assert_int_equal(most, 5000);
    assert_int_equal(last_ns, 999999000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_held_the_peak_sums_to_it),
        TEST(a_request_fails_for_fragmentation_if_as_much_was_free),
        TEST(a_request_fails_for_a_limit_if_the_device_had_room),
        TEST(sums_beyond_64_bits_saturate),
        TEST(what_awaits_its_free_is_in_use),
        TEST(frees_that_are_only_requested_are_not_replayed),
        TEST(allocations_without_frees_are_not_replayed),
        TEST(frees_without_allocations_are_not_replayed),
        TEST(a_profile_does_not_say_what_is_reserved),
        TEST(what_is_left_behind_throughout_is_growth),
        TEST(what_every_tenth_step_leaves_is_a_leak),
        TEST(a_list_that_is_emptied_is_no_growth),
        TEST(growth_up_to_a_megabyte_is_no_leak),
        TEST(steps_before_the_first_event_do_not_count),
        TEST(what_was_recorded_without_calls_was_not_there_before),
        TEST(steps_that_are_not_marked_are_not_judged),
        TEST(a_million_events_are_drawn_with_their_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
