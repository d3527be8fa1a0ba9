// SPDX-License-Identifier: Apache-2.0
// Copies by direction, host memory and waiting call, by hand.
#include "tests/unit/hand_trace.h"

#include <math.h>

#define US INT64_C(1000)

static int64_t next_correlation;

struct copy {
    const char *name;
    int64_t begin_ns, dur_ns, bytes, correlation;
};

static void add_copy(struct hand *hand, struct copy copy)
{
    bool sets = strstr(copy.name, "emset") != NULL;
    hand_add(hand, (struct hand_event){.kind = sets ? EVENT_MEMSET : EVENT_MEMCPY,
                                       .name = copy.name,
                                       .row = 7,
                                       .begin_ns = copy.begin_ns,
                                       .dur_ns = copy.dur_ns,
                                       .bytes = copy.bytes,
                                       .correlation = copy.correlation});
}

// A copy of 10 us at begin_ns whose call started 5 us earlier and lasts call_ns.
static void add_pair(struct hand *hand, const char *name, const char *call, int64_t begin_ns,
                     int64_t call_ns)
{
    next_correlation++;
    add_copy(hand, (struct copy){name, begin_ns, 10 * US, 1000, next_correlation});
    hand_call(hand, call, begin_ns - 5 * US, call_ns, next_correlation);
}

// The row of a kind; -1 if there is none. wait: 1, 0, or -1 for unknown.
static int find_row(const struct hand *hand, const char *direction, const char *memory, int wait)
{
    for (size_t i = 0; i < hand_rows(hand, "copies"); i++) {
        const char *word = hand_word(hand, "copies", i, "host_memory");
        const struct cell *cell = hand_cell(hand, "copies", i, "blocking");
        bool same_memory = memory ? word && strcmp(word, memory) == 0 : !word;
        bool same_wait = wait < 0 ? cell->null : !cell->null && cell->i == wait;
        if (strcmp(hand_word(hand, "copies", i, "direction"), direction) == 0 && same_memory &&
            same_wait)
            return (int)i;
    }
    return -1;
}

static int64_t cell_of(const struct hand *hand, int row, const char *column)
{
    assert_true(row >= 0);
    return hand_i64(hand, "copies", (size_t)row, column);
}

static void assert_gbps(const struct hand *hand, int row, double expected)
{
    assert_true(row >= 0);
    const struct cell *cell = hand_cell(hand, "copies", (size_t)row, "gbps");
    if (isnan(expected)) {
        assert_true(cell->null);
        return;
    }
    assert_false(cell->null);
    assert_true(fabs(cell->f - expected) < 1e-12 * expected);
}

static void bandwidth_is_bytes_divided_by_the_time_they_took(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    // 1,000 bytes in 1 us and 9,000 in 3 us: 10,000 bytes in 4 us are 2.5 GB/s. The mean of the
    // copies' own bandwidths would be 2, and a difference of float microseconds at this time of day
    // is off by a quarter.
    int64_t day_ns = INT64_C(1700000000000000000);
    add_copy(&hand, (struct copy){"Memcpy HtoD (Pinned -> Device)", day_ns, 1 * US, 1000, 0});
    add_copy(&hand,
             (struct copy){"Memcpy HtoD (Pinned -> Device)", day_ns + 7 * US, 3 * US, 9000, 0});
    // A copy without its size counts as a call, not in the bandwidth.
    add_copy(&hand,
             (struct copy){"Memcpy HtoD (Pinned -> Device)", day_ns + 20 * US, 50 * US, 0, 0});
    hand_analyze(&hand);
    int row = find_row(&hand, "HtoD", "pinned", -1);
    assert_int_equal(hand_rows(&hand, "copies"), 1);
    assert_int_equal(cell_of(&hand, row, "calls"), 3);
    assert_int_equal(cell_of(&hand, row, "sized_calls"), 2);
    assert_int_equal(cell_of(&hand, row, "bytes"), 10000);
    assert_int_equal(cell_of(&hand, row, "total_ns"), 54 * US);
    assert_int_equal(cell_of(&hand, row, "median_ns"), 3 * US);
    assert_int_equal(cell_of(&hand, row, "p95_ns"), 50 * US);
    assert_int_equal(cell_of(&hand, row, "max_ns"), 50 * US);
    assert_gbps(&hand, row, 2.5);
    hand_end(&hand);
}

static void names_of_all_kinds_are_distinguished(void **state)
{
    (void)state;
    static const struct {
        const char *name, *direction, *memory;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", "HtoD", "pageable"},
        {"Memcpy HtoD (Pinned -> Device)", "HtoD", "pinned"},
        {"Memcpy HtoD (Host -> Device)", "HtoD", NULL},
        {"Memcpy DtoH (Device -> Pageable)", "DtoH", "pageable"},
        {"Memcpy DtoH (Device -> Pinned)", "DtoH", "pinned"},
        {"Memcpy DtoD (Device -> Device)", "DtoD", NULL},
        {"Memcpy PtoP (Device -> Device)", "PtoP", NULL},
        {"Memcpy HtoH (Pageable -> Pageable)", "HtoH", "pageable"},
        {"Memset (Device)", "memset", NULL},
        {"CopyHostToDevice", "HtoD", NULL},
        {"CopyDeviceToHost", "DtoH", NULL},
        {"CopyDeviceToDevice", "DtoD", NULL},
        {"MEMORY_COPY_HOST_TO_DEVICE", "HtoD", NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", "DtoH", NULL},
        {"MEMORY_COPY_DEVICE_TO_DEVICE", "DtoD", NULL},
        {"[CUDA memcpy Host-to-Device]", "HtoD", NULL},
        {"[CUDA memcpy Device-to-Host]", "DtoH", NULL},
        {"[CUDA memcpy Device-to-Device]", "DtoD", NULL},
        {"[CUDA memcpy Peer-to-Peer]", "PtoP", NULL},
        {"MemcpyH2D", "HtoD", NULL},
        {"MemcpyH2D (pageable)", "HtoD", "pageable"},
        {"MemcpyD2H", "DtoH", NULL},
        {"MemcpyD2D", "DtoD", NULL},
        {"MemcpyP2P", "PtoP", NULL},
        {"Memcpy", "unknown", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_copy(&hand, (struct copy){cases[i].name, 0, US, 8, 0});
        hand_analyze(&hand);
        assert_int_equal(find_row(&hand, cases[i].direction, cases[i].memory, -1), 0);
        hand_end(&hand);
    }
}

static void kernels_that_copy_or_fill_count_too(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "__amd_rocclr_copyBuffer", 7, 0, 10);
    hand_kernel(&hand, "__amd_rocclr_fillBufferAligned", 7, 20, 30);
    hand_kernel(&hand, "elementwise_kernel", 7, 60, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "copies"), 2);
    assert_int_equal(cell_of(&hand, find_row(&hand, "unknown", NULL, -1), "total_ns"), 10);
    assert_int_equal(cell_of(&hand, find_row(&hand, "memset", NULL, -1), "total_ns"), 30);
    hand_end(&hand);
}

static void a_call_waits_when_it_ends_behind_the_copy(void **state)
{
    (void)state;
    static const struct {
        const char *name, *call;
        int64_t call_ns;
        const char *direction, *memory;
        int wait;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync", 15 * US, "HtoD", "pageable", 1},
        {"Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync", 14 * US, "HtoD", "pageable", 0},
        {"Memcpy HtoD (Pinned -> Device)", "cudaMemcpy", 16 * US, "HtoD", "pinned", 1},
        // Asynchronous by contract; a slow call does not mean that it waits.
        {"Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync", 90 * US, "HtoD", "pinned", 0},
        {"Memcpy DtoD (Device -> Device)", "cudaMemcpyAsync", 90 * US, "DtoD", NULL, 0},
        {"Memset (Device)", "cudaMemsetAsync", 90 * US, "memset", NULL, 0},
        {"Memcpy DtoD (Device -> Device)", "hipMemcpyWithStream", 90 * US, "DtoD", NULL, 1},
        // What was copied to the host has arrived, even if clocks differ by a microsecond.
        {"Memcpy DtoH (Device -> Pageable)", "cudaMemcpy", 14 * US, "DtoH", "pageable", 1},
        {"Memcpy DtoH (Device -> Pinned)", "cudaGraphLaunch", 90 * US, "DtoH", "pinned", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_pair(&hand, cases[i].name, cases[i].call, 0, cases[i].call_ns);
        hand_analyze(&hand);
        int row = find_row(&hand, cases[i].direction, cases[i].memory, cases[i].wait);
        if (row != 0)
            fail_msg("case %zu: %s by %s", i, cases[i].name, cases[i].call);
        bool graph = strstr(cases[i].call, "Graph") != NULL;
        assert_int_equal(cell_of(&hand, row, "host_ns"), graph ? 0 : cases[i].call_ns);
        hand_end(&hand);
    }
}

static void add_hip(struct hand *hand, enum copy_direction copies, int64_t bytes, int64_t begin_ns,
                    int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "hipMemcpyAsync",
                                       .pid = 1,
                                       .row = 1,
                                       .begin_ns = begin_ns,
                                       .dur_ns = US,
                                       .correlation = correlation,
                                       .copies = copies,
                                       .bytes = bytes});
}

static void what_a_hip_call_asked_for_counts_before_the_name(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    // ROCm records copies of pinned host memory as device to device, without their size.
    add_hip(&hand, COPY_HTOD, 4000, 0, 1);
    add_copy(&hand, (struct copy){"Memcpy DtoD (Device -> Device)", 10 * US, 2 * US, 0, 1});
    add_hip(&hand, COPY_DTOH, 6000, 20 * US, 2);
    add_copy(&hand, (struct copy){"Memcpy DtoD (Device -> Device)", 30 * US, 2 * US, 7000, 2});
    // If one call made two copies, the size of neither is known.
    add_hip(&hand, COPY_DTOD, 9000, 40 * US, 3);
    add_copy(&hand, (struct copy){"Memcpy DtoD (Device -> Device)", 50 * US, 2 * US, 0, 3});
    add_copy(&hand, (struct copy){"Memcpy DtoD (Device -> Device)", 60 * US, 4 * US, 0, 3});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "copies"), 3);
    int up = find_row(&hand, "HtoD", NULL, 0), down = find_row(&hand, "DtoH", NULL, 0);
    int twice = find_row(&hand, "DtoD", NULL, 0);
    assert_int_equal(cell_of(&hand, up, "bytes"), 4000);
    assert_gbps(&hand, up, 2);
    assert_int_equal(cell_of(&hand, down, "bytes"), 7000); // what the device recorded
    assert_int_equal(cell_of(&hand, twice, "calls"), 2);
    assert_int_equal(cell_of(&hand, twice, "sized_calls"), 0);
    assert_true(hand_cell(&hand, "copies", (size_t)twice, "bytes")->null);
    assert_gbps(&hand, twice, NAN);
    assert_int_equal(cell_of(&hand, twice, "host_ns"), US); // one call
    hand_end(&hand);
}

static void copies_own_what_nothing_else_covers(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "sgemm", 1, 0, 10 * US);
    add_copy(&hand, (struct copy){"Memcpy HtoD (Pinned -> Device)", 4 * US, 10 * US, 8, 0});
    add_copy(&hand, (struct copy){"Memset (Device)", 20 * US, 5 * US, 8, 0});
    hand_analyze(&hand);
    assert_int_equal(cell_of(&hand, find_row(&hand, "HtoD", "pinned", -1), "exposed_ns"), 4 * US);
    assert_int_equal(cell_of(&hand, find_row(&hand, "memset", NULL, -1), "exposed_ns"), 5 * US);
    assert_string_equal(hand_word(&hand, "copies", 0, "direction"), "HtoD"); // the most time first
    hand_end(&hand);
}

static void sums_that_do_not_fit_are_empty(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 4; i++) {
        int64_t begin_ns = 20 * US * i;
        add_copy(&hand, (struct copy){"Memcpy HtoD (Pageable -> Device)", begin_ns, US,
                                      INT64_MAX / 2, 1 + i});
        hand_call(&hand, "cudaMemcpyAsync", begin_ns - US, TRACE_MAX_NS * 2 - 100, 1 + i);
    }
    hand_analyze(&hand);
    int row = find_row(&hand, "HtoD", "pageable", 1);
    assert_int_equal(cell_of(&hand, row, "calls"), 4);
    assert_true(hand_cell(&hand, "copies", (size_t)row, "bytes")->null);
    assert_gbps(&hand, row, NAN);
    assert_true(hand_cell(&hand, "copies", (size_t)row, "host_ns")->null);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth_is_bytes_divided_by_the_time_they_took),
        cmocka_unit_test(names_of_all_kinds_are_distinguished),
        cmocka_unit_test(kernels_that_copy_or_fill_count_too),
        cmocka_unit_test(a_call_waits_when_it_ends_behind_the_copy),
        cmocka_unit_test(what_a_hip_call_asked_for_counts_before_the_name),
        cmocka_unit_test(copies_own_what_nothing_else_covers),
        cmocka_unit_test(sums_that_do_not_fit_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
