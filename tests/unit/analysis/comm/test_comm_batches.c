// SPDX-License-Identifier: Apache-2.0
// Sends and receives recorded before their kernel was launched, and where in a call its exposed
// time is.
#include "tests/unit/hand_trace.h"

#include "analysis/comm/comm_pieces.h"

static const char nccl[] = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
static const char rccl[] = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";

// record_param_comms on a thread, 10 ns long.
struct passing {
    const char *name;
    int64_t peer, elems;
};

static void add_record(struct hand *hand, int64_t thread, int64_t begin_ns, struct passing what)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "record_param_comms",
                                       .pid = 1,
                                       .row = thread,
                                       .begin_ns = begin_ns,
                                       .dur_ns = 10,
                                       .collective = what.name,
                                       .dtype = "Float",
                                       .group = "pp",
                                       .ranks = "[0, 1, 2, 3]",
                                       .in_elems = what.elems,
                                       .out_elems = what.elems,
                                       .group_size = 4,
                                       .peer = 1 + what.peer});
}

// A launch of 2 ns on a thread and its kernel of 50 ns, 100 ns later.
static void add_kernel(struct hand *hand, int64_t thread, int64_t begin_ns, int64_t correlation,
                       const char *name)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernelExC",
                                       .pid = 1,
                                       .row = thread,
                                       .begin_ns = begin_ns,
                                       .dur_ns = 2,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = name,
                                       .row = 20,
                                       .begin_ns = begin_ns + 100,
                                       .dur_ns = 50,
                                       .correlation = correlation});
}

static const char *op_word(const struct hand *hand, size_t call, const char *column)
{
    return hand_word(hand, "comm_ops", (size_t)hand_i64(hand, "comm_calls", call, "op"), column);
}

static int64_t op_i64(const struct hand *hand, size_t call, const char *column)
{
    return hand_i64(hand, "comm_ops", (size_t)hand_i64(hand, "comm_calls", call, "op"), column);
}

// A send of 400 bytes to 2 and a receive of 800 from 0 are recorded, then one kernel is launched;
// later a receive from 2 and its kernel.
static void a_kernel_takes_what_its_thread_recorded_since_the_launch_before(void **state)
{
    (void)state;
    static const char *const names[] = {nccl, rccl};
    for (size_t i = 0; i < 2; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_record(&hand, 1, 0, (struct passing){"send", 2, 100});
        add_record(&hand, 1, 20, (struct passing){"recv", 0, 200});
        add_record(&hand, 2, 25, (struct passing){"send", 3, 100}); // of another thread
        add_kernel(&hand, 1, 40, 1, names[i]);
        add_record(&hand, 1, 1000, (struct passing){"recv", 2, 100});
        add_kernel(&hand, 1, 1020, 2, names[i]);
        hand_analyze(&hand);
        assert_int_equal(hand_rows(&hand, "comm_calls"), 3);
        static const char *const kinds[] = {"send", "recv", "recv"};
        static const int64_t peers[] = {2, 0, 2}, bytes[] = {400, 800, 400}, parts[] = {0, 1, 0},
                             exposed_ns[] = {50, 0, 50};
        for (size_t call = 0; call < 3; call++) {
            assert_string_equal(op_word(&hand, call, "kind"), kinds[call]);
            assert_string_equal(op_word(&hand, call, "process_group"), "pp");
            assert_int_equal(op_i64(&hand, call, "peer"), peers[call]);
            assert_int_equal(op_i64(&hand, call, "bytes"), bytes[call]);
            assert_int_equal(hand_i64(&hand, "comm_calls", call, "part"), parts[call]);
            assert_int_equal(hand_i64(&hand, "comm_calls", call, "exposed_ns"), exposed_ns[call]);
            assert_int_equal(hand_i64(&hand, "comm_calls", call, "dur_ns"), 50);
        }
        // Elsewhere one kernel is one call; it moves the larger of both directions.
        assert_int_equal(hand_rows(&hand, "process_groups"), 1);
        assert_int_equal(hand_i64(&hand, "process_groups", 0, "calls"), 2);
        assert_int_equal(hand_i64(&hand, "process_groups", 0, "bytes"), 1200);
        size_t row = hand_find(&hand, "comm_sizes", "kind", "send_recv");
        assert_int_equal(hand_i64(&hand, "comm_sizes", row, "bytes"), 800);
        hand_end(&hand);
    }
}

// A send whose kernel is launched within its record, then a batch of one receive.
static void a_record_with_a_kernel_of_its_own_is_taken_by_no_other(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_record(&hand, 1, 0, (struct passing){"send", 1, 100});
    add_kernel(&hand, 1, 4, 1, nccl);
    add_record(&hand, 1, 20, (struct passing){"recv", 3, 100});
    add_kernel(&hand, 1, 40, 2, nccl);
    add_kernel(&hand, 1, 300, 3, nccl); // nothing was recorded for it
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_calls"), 3);
    assert_string_equal(op_word(&hand, 0, "kind"), "send");
    assert_string_equal(op_word(&hand, 1, "kind"), "recv");
    assert_string_equal(op_word(&hand, 2, "kind"), "send_recv");
    assert_string_equal(op_word(&hand, 2, "kernel"), nccl);
    hand_end(&hand);
}

// It does not take what a kernel's name rules out, and the next one still does.
static void a_kernel_of_another_kind_takes_no_sends(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_record(&hand, 1, 0, (struct passing){"send", 1, 100});
    add_kernel(&hand, 1, 20, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
    add_kernel(&hand, 1, 200, 2, nccl);
    hand_analyze(&hand);
    assert_string_equal(op_word(&hand, 0, "kind"), "all_reduce");
    assert_string_equal(op_word(&hand, 1, "kind"), "send");
    hand_end(&hand);
}

// A call [0, 100) with compute in [20, 50) and [60, 100).
static void calls_know_where_their_exposed_time_lies(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, nccl, 20, 0, 100);
    hand_kernel(&hand, "gemm", 7, 20, 30);
    hand_kernel(&hand, "gemm", 7, 60, 40);
    hand_kernel(&hand, nccl, 20, 200, 10);
    hand_analyze(&hand);
    const struct cell *cell = hand_cell(&hand, "comm_calls", 0, "exposed_at");
    assert_true(str_equal(cell->s, STR("0+20 50+10")));
    assert_true(hand_cell(&hand, "comm_calls", 1, "exposed_at")->null);
    hand_end(&hand);
}

static void pieces_are_summed_up_to_a_moment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t until_ns, sum_ns;
    } cases[] = {{"0+20 50+10", 0, 0},
                 {"0+20 50+10", 15, 15},
                 {"0+20 50+10", 40, 20},
                 {"0+20 50+10", 55, 25},
                 {"0+20 50+10", 99, 30},
                 {"100+60/30", 120, 10},
                 {"100+60/30", 1000, 30},
                 {"", 10, 0},
                 {"nonsense", 10, 0},
                 {"7", 10, 0},
                 {"7+", 10, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(comm_pieces_before(cases[i].text, cases[i].until_ns), cases[i].sum_ns);
}

static struct comm_piece piece_of(int64_t begin_ns, int64_t end_ns, uint32_t step)
{
    return (struct comm_piece){.begin_ns = begin_ns, .end_ns = end_ns, .step = step};
}

// Of 17 pieces of 10 ns, 100 ns apart except two that are 3 ns apart, those two are merged.
static void the_pieces_closest_together_are_joined(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    struct comm_pieces pieces;
    struct buf text = {0};
    arena_init(&arena, NULL);
    assert_true(comm_pieces_open(&pieces, 2, &arena, &err));
    int64_t at_ns = 0;
    for (int i = 0; i < COMM_PIECES_MAX + 1; i++) {
        assert_true(comm_pieces_add(&pieces, 1, piece_of(at_ns, at_ns + 4, 0), &err));
        assert_true(
            comm_pieces_add(&pieces, 1, piece_of(at_ns + 4, at_ns + 10, 0), &err)); // touches
        at_ns += i == 5 ? 13 : 110;
    }
    comm_pieces_put(&pieces, 1, &text);
    buf_puts(&text, "");
    assert_true(buf_ok(&text, &err));
    char *joined = strstr(text.at, " 550+23/20 ");
    assert_non_null(joined);
    assert_int_equal(comm_pieces_before(text.at, at_ns), 10 * (COMM_PIECES_MAX + 1));
    text.len = 0;
    comm_pieces_put(&pieces, 0, &text);
    assert_int_equal(text.len, 0);
    buf_free(&text);
    arena_free(&arena);
}

// A step ends at 560, between the two closest pieces: two others are joined, so that the sum up to
// there stays exact.
static void pieces_of_two_steps_are_not_joined(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    struct comm_pieces pieces;
    struct buf text = {0};
    arena_init(&arena, NULL);
    assert_true(comm_pieces_open(&pieces, 1, &arena, &err));
    int64_t at_ns = 0;
    for (uint32_t i = 0; i < COMM_PIECES_MAX + 1; i++) {
        assert_true(comm_pieces_add(&pieces, 0, piece_of(at_ns, at_ns + 10, i <= 5 ? 0 : 1), &err));
        at_ns += i == 5 ? 13 : 110;
    }
    comm_pieces_put(&pieces, 0, &text);
    buf_puts(&text, "");
    assert_true(buf_ok(&text, &err));
    assert_non_null(strstr(text.at, " 550+10 563+10"));
    assert_int_equal(comm_pieces_before(text.at, 560), 60);
    buf_free(&text);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_takes_what_its_thread_recorded_since_the_launch_before),
        cmocka_unit_test(a_record_with_a_kernel_of_its_own_is_taken_by_no_other),
        cmocka_unit_test(a_kernel_of_another_kind_takes_no_sends),
        cmocka_unit_test(calls_know_where_their_exposed_time_lies),
        cmocka_unit_test(pieces_are_summed_up_to_a_moment),
        cmocka_unit_test(the_pieces_closest_together_are_joined),
        cmocka_unit_test(pieces_of_two_steps_are_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
