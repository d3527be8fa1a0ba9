// SPDX-License-Identifier: Apache-2.0
// What must hold in every real trace. Each is read once, and all checks look at its report.
#include "tests/unit/real_traces.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

// The sum of a column, of rows with this word in another column, or of all.
static int64_t sum_where(const struct hand *hand, const char *table, const char *column,
                         const char *of, const char *word)
{
    int64_t sum = 0;
    for (size_t i = 0; i < hand_rows(hand, table); i++)
        if (!of || strcmp(hand_word(hand, table, i, of), word) == 0)
            sum += hand_i64(hand, table, i, column);
    return sum;
}

static int64_t sum_of(const struct hand *hand, const char *table, const char *column)
{
    return sum_where(hand, table, column, NULL, NULL);
}

static void check_bars(const struct hand *hand, const char *scope, const char *column)
{
    static const char *const bars[][2] = {
        {"gemm", "gemm_ns"},
        {"attention", "attention_ns"},
        {"other_compute", "other_compute_ns"},
        {"exposed_comm", "exposed_comm_ns"},
        {"exposed_memory", "exposed_memory_ns"},
    };
    size_t row = hand_find(hand, "breakdown", "scope", scope);
    for (size_t b = 0; b < COUNT(bars); b++)
        assert_int_equal(sum_where(hand, "categories", column, "bar", bars[b][0]),
                         hand_i64(hand, "breakdown", row, bars[b][1]));
    assert_int_equal(sum_of(hand, "categories", column),
                     hand_i64(hand, "breakdown", row, "busy_ns"));
}

static void categories_sum_to_bars(const struct hand *hand)
{
    if (hand_rows(hand, "breakdown") == 0)
        return;
    check_bars(hand, "trace", "owned_ns");
    check_bars(hand, "steady", "steady_owned_ns");
    assert_int_equal(sum_of(hand, "categories", "calls"), sum_of(hand, "kernels", "calls"));
    int64_t unknown_ns = sum_of(hand, "uncategorized", "owned_ns");
    for (size_t i = 0; i < hand_rows(hand, "categories"); i++)
        if (strcmp(hand_word(hand, "categories", i, "category"), "other") == 0)
            assert_int_equal(unknown_ns, hand_i64(hand, "categories", i, "owned_ns"));
    int64_t busy_ns = hand_i64(hand, "breakdown", 0, "busy_ns");
    if (unknown_ns * 20 > busy_ns)
        fail_msg("%lld of %lld ns are in other, most in %s", (long long)unknown_ns,
                 (long long)busy_ns, hand_word(hand, "uncategorized", 0, "kernel"));
}

// Every launch of every trace is counted in one row; queues and shares keep their bounds.
static void launches_are_counted_once(const struct hand *hand)
{
    int64_t launches = 0;
    for (size_t i = 0; i < hand_rows(hand, "launch_delays"); i++)
        launches += hand_i64(hand, "launch_delays", i, "launches");
    size_t row = hand_find(hand, "launches", "metric", "launches");
    assert_int_equal(launches, hand_i64(hand, "launches", row, "value"));
    for (size_t i = 0; i < hand_rows(hand, "queues"); i++) {
        double mean = hand_cell(hand, "queues", i, "mean")->f;
        double empty = hand_cell(hand, "queues", i, "empty_share")->f;
        assert_true(mean >= 0 && mean <= (double)hand_i64(hand, "queues", i, "max"));
        assert_true(hand_i64(hand, "queues", i, "median") <= hand_i64(hand, "queues", i, "p95"));
        assert_true(hand_i64(hand, "queues", i, "p95") <= hand_i64(hand, "queues", i, "max"));
        assert_int_equal(empty >= 0.5, hand_i64(hand, "queues", i, "median") == 0);
    }
}

// The rows are the memory class: its events, its time, its owned time.
static void copies_sum_to_their_class(const struct hand *hand)
{
    int64_t calls = 0, total_ns = 0, exposed_ns = 0;
    for (size_t i = 0; i < hand_rows(hand, "copies"); i++) {
        calls += hand_i64(hand, "copies", i, "calls");
        total_ns += hand_i64(hand, "copies", i, "total_ns");
        exposed_ns += hand_i64(hand, "copies", i, "exposed_ns");
    }
    int64_t class_calls = 0, class_ns = 0;
    for (size_t i = 0; i < hand_rows(hand, "classes"); i++)
        if (strcmp(hand_word(hand, "classes", i, "class"), "memory") == 0) {
            class_calls = hand_i64(hand, "classes", i, "events");
            class_ns = hand_i64(hand, "classes", i, "sum_ns");
        }
    assert_int_equal(calls, class_calls);
    assert_int_equal(total_ns, class_ns);
    if (hand_rows(hand, "breakdown"))
        assert_int_equal(exposed_ns, hand_i64(hand, "breakdown", 0, "exposed_memory_ns"));
}

static void parts_sum_to_peak(const struct hand *hand)
{
    for (size_t i = 0; i < hand_rows(hand, "memory"); i++) {
        const char *device = hand_word(hand, "memory", i, "device");
        int64_t peak = hand_i64(hand, "memory", i, "peak_allocated_bytes");
        assert_int_equal(sum_where(hand, "memory_peak", "bytes", "device", device), peak);
        int64_t most = 0;
        for (size_t r = 0; r < hand_rows(hand, "memory_timeline"); r++)
            if (strcmp(hand_word(hand, "memory_timeline", r, "device"), device) == 0 &&
                hand_i64(hand, "memory_timeline", r, "allocated_bytes") > most)
                most = hand_i64(hand, "memory_timeline", r, "allocated_bytes");
        assert_int_equal(most, peak);
    }
    int64_t events = 0;
    for (size_t i = 0; i < hand_rows(hand, "memory"); i++)
        events += hand_i64(hand, "memory", i, "events");
    assert_int_equal(events, hand->trace->memory_args_count);
}

static void calls_sum_to_collectives(const struct hand *hand)
{
    static const char *const times[] = {"compute_ns",      "memory_ns", "comm_ns",
                                        "data_loading_ns", "host_ns",   "idle_ns",
                                        "unrecorded_ns"};
    int64_t exposed_ns = 0, total_ns = 0, last_ns = 0;
    for (size_t i = 0; i < hand_rows(hand, "comm_calls"); i++) {
        int64_t begin_ns = hand_i64(hand, "comm_calls", i, "begin_ns"), sum_ns = 0;
        for (size_t t = 0; t < sizeof times / sizeof *times; t++)
            sum_ns += hand_i64(hand, "comm_calls", i, times[t]);
        assert_true(sum_ns == begin_ns && begin_ns >= last_ns);
        last_ns = begin_ns;
        exposed_ns += hand_i64(hand, "comm_calls", i, "exposed_ns");
        total_ns += hand_i64(hand, "comm_calls", i, "dur_ns");
        assert_true((size_t)hand_i64(hand, "comm_calls", i, "op") < hand_rows(hand, "comm_ops"));
    }
    for (size_t i = 0; i < hand_rows(hand, "collectives"); i++) {
        exposed_ns -= hand_i64(hand, "collectives", i, "exposed_ns");
        total_ns -= hand_i64(hand, "collectives", i, "total_ns");
    }
    assert_int_equal(exposed_ns, 0);
    assert_int_equal(total_ns, 0);
}

// Calls and times of the rows sum to those of the table of operators, exactly.
static void roofline_sums_to_operators(const struct hand *hand)
{
    for (size_t op = 0; op < hand_rows(hand, "operators"); op++) {
        const char *name = hand_word(hand, "operators", op, "name");
        if (!name)
            continue; // device events without an operator
        int64_t calls = 0, busy_ns = 0;
        for (size_t r = 0; r < hand_rows(hand, "roofline"); r++) {
            if (strcmp(hand_word(hand, "roofline", r, "op"), name) != 0)
                continue;
            calls += hand_i64(hand, "roofline", r, "calls");
            busy_ns += hand_i64(hand, "roofline", r, "busy_ns");
        }
        assert_int_equal(calls, hand_i64(hand, "operators", op, "launching_calls"));
        assert_int_equal(busy_ns, hand_i64(hand, "operators", op, "self_ns"));
    }
}

struct problem {
    const char *op, *problem;
    int64_t calls, busy_ns, flops, bytes;
};

// One figure of a real trace: rows with the operator and the problem, summed.
static void check_problem(const struct hand *hand, const struct problem *want)
{
    int64_t found_calls = 0, found_ns = 0;
    for (size_t r = 0; r < hand_rows(hand, "roofline"); r++) {
        const char *text = hand_word(hand, "roofline", r, "problem");
        if (!text || strcmp(text, want->problem) != 0 ||
            strcmp(hand_word(hand, "roofline", r, "op"), want->op) != 0)
            continue;
        found_calls += hand_i64(hand, "roofline", r, "calls");
        found_ns += hand_i64(hand, "roofline", r, "busy_ns");
        assert_int_equal(hand_i64(hand, "roofline", r, "flops"), want->flops);
        assert_int_equal(hand_i64(hand, "roofline", r, "bytes"), want->bytes);
    }
    assert_int_equal(found_calls, want->calls);
    assert_int_equal(found_ns, want->busy_ns);
}

// Computed from the raw JSON by a separate program that shares no code with this one.
static const struct problem h100[] = {
    {"aten::bmm", "M=32 N=559 K=1", 1, 3520, 35776, 73916},
    {"aten::addmm", "M=8944 N=1024 K=1024", 72, 2329075, 18766086144, 38733824},
    {"aten::_flash_attention_forward", "B=16 H=16 Hkv=16 Nq=559 Nkv=559 dqk=64 dv=64 causal", 24,
     2722705, 10239377408, 73269248},
    {"aten::mm", "M=8944 N=1024 K=1024", 24, 778141, 18756927488, 38731776},
    {"aten::mm", "M=8944 N=2816 K=1024", 48, 4055251, 51581550592, 74457088},
    {"aten::mm", "M=8944 N=1024 K=2816", 24, 1835287, 51581550592, 74457088}};
static const struct problem mi300x[] = {
    {"aten::bmm", "M=32 N=559 K=1", 1, 27342, 35776, 73916},
    {"aten::addmm", "M=8944 N=1024 K=1024", 72, 2954763, 18766086144, 38733824},
    {"aten::_flash_attention_forward", "B=16 H=16 Hkv=16 Nq=559 Nkv=559 dqk=64 dv=64 causal", 24,
     3908798, 10239377408, 73269248},
    {"aten::mm", "M=8944 N=1024 K=1024", 24, 980549, 18756927488, 38731776},
    {"aten::mm", "M=8944 N=2816 K=1024", 48, 5308273, 51581550592, 74457088},
    {"aten::mm", "M=8944 N=1024 K=2816", 24, 2374795, 51581550592, 74457088}};

static void work_is_as_computed_apart(const struct hand *hand)
{
    const struct trace *trace = hand->trace;
    const struct problem *problems = NULL;
    size_t count = 0;
    // The two recordings of the same program have this many.
    if (trace->device_count && trace->input_events >= 18000 && trace->input_events <= 18300) {
        struct str name = trace_text(trace, trace->devices[0].name);
        bool nvidia = str_contains_nocase(name, STR("h100"));
        problems = nvidia ? h100 : mi300x;
        count = nvidia ? sizeof h100 / sizeof *h100 : sizeof mi300x / sizeof *mi300x;
    }
    for (size_t i = 0; i < count; i++)
        check_problem(hand, &problems[i]);
}

static int64_t copies, devices; // so far, so that a reader that finds none is noticed

static void check(const struct hand *hand)
{
    static void (*const checks[])(const struct hand *) = {
        categories_sum_to_bars,    launches_are_counted_once, copies_sum_to_their_class,
        parts_sum_to_peak,         calls_sum_to_collectives,  roofline_sums_to_operators,
        work_is_as_computed_apart,
    };
    for (size_t i = 0; i < COUNT(checks); i++)
        checks[i](hand);
    copies += sum_of(hand, "copies", "calls");
    devices += (int64_t)hand_rows(hand, "memory");
}

static void tables_of_real_traces_agree_with_each_other(void **state)
{
    (void)state;
    real_traces_each(check);
    assert_true(copies > 3000);
    assert_true(devices > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_real_traces_agree_with_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
