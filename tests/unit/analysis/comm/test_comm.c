// SPDX-License-Identifier: Apache-2.0
// Communication of one rank: groups, sizes and bandwidths of small traces computed by hand.
#include "tests/unit/real_traces.h"

#include "analysis/names/bandwidth.h"
#include "analysis/comm/group_ranks.h"

#include <math.h>

#define MIB ((int64_t)1 << 20)

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static double share(const struct hand *hand, const char *table, size_t row, const char *column)
{
    const struct cell *cell = hand_cell(hand, table, row, column);
    assert_false(cell->null);
    return cell->f;
}

static bool is_null(const struct hand *hand, const char *table, size_t row, const char *column)
{
    return hand_cell(hand, table, row, column)->null;
}

// An all-reduce of `elems` floats on a separate stream.
static struct hand_event all_reduce(const char *group, int64_t ranks, int64_t begin_ns,
                                    int64_t dur_ns, int64_t elems)
{
    return (struct hand_event){
        .kind = EVENT_KERNEL,
        .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        .row = 20,
        .begin_ns = begin_ns,
        .dur_ns = dur_ns,
        .collective = "allreduce",
        .dtype = "Float",
        .group = group,
        .in_elems = elems,
        .out_elems = elems,
        .group_size = ranks};
}

static void add_launch(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_call(hand, "cudaLaunchKernelExC", begin_ns, 5, correlation);
}

// --- what a collective moves --------------------------------------------------------------------

static void collectives_are_recognized_by_their_own_or_the_kernels_name(void **state)
{
    (void)state;
    assert_int_equal(bandwidth_kind(STR("_allgather_base")), KIND_ALL_GATHER);
    assert_int_equal(bandwidth_kind(STR("_reduce_scatter_base")), KIND_REDUCE_SCATTER);
    assert_int_equal(bandwidth_kind(STR("allreduce_coalesced")), KIND_ALL_REDUCE);
    assert_int_equal(bandwidth_kind(STR("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)")),
                     KIND_ALL_REDUCE);
    assert_int_equal(bandwidth_kind(STR("ncclKernel_SendRecv_RING_SIMPLE")), KIND_SEND_RECV);
    assert_int_equal(bandwidth_kind(STR("all_to_allv")), KIND_ALL_TO_ALL);
    assert_int_equal(bandwidth_kind(STR("reduce_scatter_tensor_coalesced")), KIND_REDUCE_SCATTER);
    assert_int_equal(bandwidth_kind(STR("void deep_ep::intranode::dispatch<4>(x)")),
                     KIND_ALL_TO_ALL);
    assert_int_equal(bandwidth_kind(STR("isend")), KIND_SEND);
    assert_int_equal(bandwidth_kind(STR("recv")), KIND_RECV);
    assert_int_equal(bandwidth_kind(STR("ncclDevKernel_Generic_1(x)")), KIND_UNKNOWN);
    assert_int_equal(bandwidth_kind(STR("%all-gather-start.3")), KIND_UNKNOWN);
    assert_null(bandwidth_kind_word(KIND_UNKNOWN));
}

static void bus_factors_are_those_of_nccl_tests(void **state)
{
    (void)state;
    assert_true(bandwidth_bus_factor(KIND_ALL_REDUCE, 8) == 1.75);
    assert_true(bandwidth_bus_factor(KIND_ALL_GATHER, 8) == 0.875);
    assert_true(bandwidth_bus_factor(KIND_ALL_TO_ALL, 4) == 0.75);
    assert_true(bandwidth_bus_factor(KIND_BROADCAST, 8) == 1);
    assert_true(isnan(bandwidth_bus_factor(KIND_UNKNOWN, 8)));
    assert_true(isnan(bandwidth_bus_factor(KIND_ALL_REDUCE, VALUE_ABSENT)));
}

static struct collective moves(int64_t in_elems, int64_t out_elems, int64_t ranks)
{
    return (struct collective){.in_elems = in_elems, .out_elems = out_elems, .group_size = ranks};
}

static int64_t bytes_of(enum collective_kind kind, struct collective c, const char *dtype)
{
    return bandwidth_bytes(kind, &c, bandwidth_element_bytes(str_of(dtype)));
}

static void message_sizes_are_those_of_nccl_tests(void **state)
{
    (void)state;
    assert_int_equal(bytes_of(KIND_ALL_REDUCE, moves(100, 100, 8), "Half"), 200);
    assert_int_equal(bytes_of(KIND_ALL_GATHER, moves(100, 800, 8), "Half"), 1600);
    assert_int_equal(bytes_of(KIND_REDUCE_SCATTER, moves(800, 100, 8), "Float"), 3200);
    assert_int_equal(bytes_of(KIND_ALL_TO_ALL, moves(300, 500, 8), "Float"), 1200);
    assert_int_equal(bytes_of(KIND_SEND, moves(10, 10, 8), "Float"), 40);
    assert_int_equal(bytes_of(KIND_RECV, moves(0, 10, 8), "Float"), 40);
    assert_int_equal(bytes_of(KIND_BARRIER, moves(1, 1, 8), "Byte"), -1);
    assert_int_equal(bytes_of(KIND_ALL_REDUCE, moves(100, 100, 8), "tensor"), -1);
    assert_int_equal(bytes_of(KIND_ALL_REDUCE, moves(VALUE_ABSENT, 1, 8), "Float"), -1);
    assert_int_equal(bytes_of(KIND_ALL_REDUCE, moves(INT64_MAX, 1, 8), "Float"), -1);
}

static void every_rank_of_a_gather_or_scatter_sees_the_same_message(void **state)
{
    (void)state;
    assert_int_equal(bytes_of(KIND_GATHER, moves(10, 80, 8), "Float"), 320); // the root
    assert_int_equal(bytes_of(KIND_GATHER, moves(10, 0, 8), "Float"), 320);
    assert_int_equal(bytes_of(KIND_SCATTER, moves(80, 10, 8), "Float"), 320); // the root
    assert_int_equal(bytes_of(KIND_SCATTER, moves(0, 10, 8), "Float"), 320);
    assert_int_equal(bytes_of(KIND_GATHER, moves(10, 80, VALUE_ABSENT), "Float"), -1);
    assert_int_equal(bytes_of(KIND_GATHER, moves(INT64_MAX, 0, 8), "Byte"), -1);
}

static void element_sizes_are_known_for_all_types_that_pytorch_sends(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        int bytes;
    } samples[] = {
        {"Bool", 1},
        {"Char", 1},
        {"Byte", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e5m2fnuz", 1},
        {"Float8_e8m0fnu", 1},
        {"BFloat16", 2},
        {"Half", 2},
        {"c10::BFloat16", 2},
        {"torch.float16", 2},
        {"Short", 2},
        {"Int", 4},
        {"Float", 4},
        {"Long", 8},
        {"Double", 8},
        {"ComplexHalf", 4},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"tensor", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_int_equal(bandwidth_element_bytes(str_of(samples[i].dtype)), samples[i].bytes);
}

// --- process groups -----------------------------------------------------------------------------

static void a_gigabyte_is_1e9_bytes_and_not_2_to_the_30(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, all_reduce("0", 8, 0, 1000000, 256 * MIB / 1024)); // 1 MiB in 1 ms
    hand_analyze(&hand);
    assert_true(is_near(share(&hand, "comm_sizes", 0, "algo_gbps"), 1.048576)); // not 0.9765625
    assert_true(is_near(share(&hand, "comm_sizes", 0, "bus_gbps"), 1.835008));  // times 14/8
    assert_string_equal(hand_word(&hand, "comm_sizes", 0, "size_class"), "1 MiB - 2 MiB");
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "bytes"), MIB);
    hand_end(&hand);
}

static void groups_of_one_size_stay_apart(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, all_reduce("tp", 2, 0, 100, 1000));
    hand_add(&hand, all_reduce("dp", 2, 200, 300, 1000));
    hand_add(&hand, all_reduce("tp", 2, 600, 100, 1000));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 2);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "process_group"), "dp");
    assert_int_equal(hand_i64(&hand, "process_groups", 0, "calls"), 1);
    assert_int_equal(hand_i64(&hand, "process_groups", 0, "bytes"), 4000);
    assert_string_equal(hand_word(&hand, "process_groups", 1, "process_group"), "tp");
    assert_int_equal(hand_i64(&hand, "process_groups", 1, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "process_groups", 1, "size"), 2);
    assert_int_equal(hand_i64(&hand, "process_groups", 1, "bytes"), 8000);
    assert_int_equal(hand_i64(&hand, "process_groups", 1, "total_ns"), 200);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 2);
    hand_end(&hand);
}

static void groups_of_one_name_and_several_sizes_stay_apart(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, all_reduce("0", 4, 0, 300, 1000));
    hand_add(&hand, all_reduce("0", 2, 400, 200, 1000));
    hand_add(&hand, all_reduce("0", 0, 700, 100, 1000));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 3);
    assert_int_equal(hand_i64(&hand, "process_groups", 0, "size"), 4);
    assert_int_equal(hand_i64(&hand, "process_groups", 1, "size"), 2);
    assert_true(hand_cell(&hand, "process_groups", 2, "size")->null);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 3);
    hand_end(&hand);
}

static void what_compute_hides_is_not_exposed(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 0, 150);
    hand_add(&hand, all_reduce("0", 2, 100, 200, 1000)); // 50 of 200 hidden
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "process_groups", 0, "exposed_ns"), 150);
    assert_true(share(&hand, "process_groups", 0, "exposed_share") == 0.75);
    assert_true(share(&hand, "process_groups", 0, "window_share") == 0.5);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "exposed_ns"), 150);
    assert_true(share(&hand, "comm_sizes", 0, "exposed_share") == 0.75);
    hand_end(&hand);
}

static void cut_lists_of_ranks_give_way_to_first_last_and_stride(void **state)
{
    (void)state;
    struct hand hand;
    struct hand_event whole = all_reduce("tp", 2, 0, 100, 10),
                      cut = all_reduce("dp", 64, 200, 10, 9);
    whole.ranks = "[4, 5]";
    whole.description = "mesh_tp";
    cut.ranks = "[1, 9, 17, ..., 505]";
    cut.description = "undefined";
    cut.rank_start = 1;
    cut.rank_stride = 8;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{}, {}, {}, {}, {}, {}, {}, {}]");
    hand_add(&hand, whole);
    hand_add(&hand, cut);
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "ranks"), "[4, 5]");
    assert_string_equal(hand_word(&hand, "process_groups", 0, "description"), "mesh_tp");
    assert_string_equal(hand_word(&hand, "process_groups", 0, "span"), "intra-node");
    assert_string_equal(hand_word(&hand, "process_groups", 1, "ranks"), "1:505:8");
    assert_null(hand_word(&hand, "process_groups", 1, "description"));
    assert_string_equal(hand_word(&hand, "process_groups", 1, "span"), "inter-node");
    hand_end(&hand);
}

static void the_description_of_the_job_fills_what_kernels_leave_out(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{}, {}]");
    hand_member(&hand, "distributedInfo",
                "{\"pg_config\": [{\"pg_name\": \"3\", \"pg_desc\": \"mesh_dp\", \"pg_size\": 2, "
                "\"ranks\": [0, 2]}, 7, {\"pg_name\": \"4\", \"ranks\": \"[0, 1]\"}]}");
    hand_add(&hand, all_reduce("3", 0, 0, 100, 10));
    hand_add(&hand, all_reduce("4", 2, 200, 50, 10));
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "description"), "mesh_dp");
    assert_string_equal(hand_word(&hand, "process_groups", 0, "ranks"), "[0, 2]");
    assert_int_equal(hand_i64(&hand, "process_groups", 0, "size"), 2);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "span"), "inter-node");
    assert_string_equal(hand_word(&hand, "process_groups", 1, "ranks"), "[0, 1]");
    assert_string_equal(hand_word(&hand, "process_groups", 1, "span"), "intra-node");
    hand_end(&hand);
}

static void a_list_of_ranks_ends_at_a_nul_in_its_text(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "deviceProperties", "[{}, {}]");
    hand_member(&hand, "distributedInfo",
                "{\"pg_config\": [{\"pg_name\": \"3\", \"pg_desc\": \"dp\\u0000x\", "
                "\"ranks\": \"[0, 1]\\u0000 and much that follows behind the end\"}]}");
    hand_add(&hand, all_reduce("3", 2, 0, 100, 10));
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "description"), "dp");
    assert_string_equal(hand_word(&hand, "process_groups", 0, "ranks"), "[0, 1]");
    hand_end(&hand);
}

// The order of the calls does not matter; a list without an end was too long to keep.
static void the_list_that_is_whole_stands_for_those_that_are_cut(void **state)
{
    (void)state;
    static const char *const lists[][3] = {{"[0, ..., 2]", "[0, 2]", "[0, ..., 2]"},
                                           {"[0, 2]", "[0, ..., 2]", NULL},
                                           {"[0, 1", "[0, ..., 2]", "[0, 2]"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct hand hand;
        hand_begin(&hand);
        for (int c = 0; c < 3; c++) {
            struct hand_event call = all_reduce("3", 2, 100 * c, 50, 10);
            call.ranks = lists[i][c];
            hand_add(&hand, call);
        }
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "process_groups", 0, "ranks"), "[0, 2]");
        hand_end(&hand);
    }
}

static void a_span_is_known_only_when_ranks_and_node_are_known(void **state)
{
    (void)state;
    assert_string_equal(group_span_of_list(STR("[0, 7]"), 8), "intra-node");
    assert_string_equal(group_span_of_list(STR("[7, 8]"), 8), "inter-node");
    assert_null(group_span_of_list(STR("[0, 7]"), 0));
    assert_null(group_span_of_list(STR("[0, 7]"), 1)); // each process saw only its own GPU
    assert_null(group_span_of_list(STR("[]"), 8));
    assert_null(group_span_of_list(STR("[0, x]"), 8));
    assert_null(group_span_of_list((struct str){"[0\0, 1]", 7}, 8));
    assert_null(group_span_of_list(STR("[0, 99999999999999999999]"), 8));
    assert_string_equal(group_span_of_stride(8, 1, 8, 8), "intra-node");
    assert_string_equal(group_span_of_stride(0, 8, 2, 8), "inter-node");
    assert_null(group_span_of_stride(0, INT64_MAX, 3, 8));
    assert_null(group_span_of_stride(0, 1, VALUE_ABSENT, 8));
    assert_null(group_span_of_stride(VALUE_ABSENT, VALUE_ABSENT, 8, 8));
}

// --- sizes --------------------------------------------------------------------------------------

static void kinds_and_types_of_one_size_stay_apart(void **state)
{
    (void)state;
    struct hand hand;
    struct hand_event of_type = all_reduce("0", 2, 200, 100, 2000),
                      of_kind = all_reduce("0", 2, 400, 100, 1000);
    of_type.dtype = "Half"; // 4000 bytes each
    of_kind.collective = "broadcast";
    hand_begin(&hand);
    hand_add(&hand, all_reduce("0", 2, 0, 100, 1000));
    hand_add(&hand, of_type);
    hand_add(&hand, of_kind);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 3);
    assert_int_equal(hand_rows(&hand, "process_groups"), 1);
    hand_find(&hand, "comm_sizes", "kind", "broadcast");
    hand_find(&hand, "comm_sizes", "dtype", "Half");
    hand_end(&hand);
}

static void what_has_no_known_size_has_no_bandwidth(void **state)
{
    (void)state;
    struct hand hand;
    struct hand_event call = all_reduce("0", 2, 0, 100, 1000);
    call.dtype = "tensor";
    hand_begin(&hand);
    hand_add(&hand, call);
    hand_analyze(&hand);
    static const char *const columns[] = {"bytes", "size_class", "algo_gbps", "bus_gbps",
                                          "best_bus_gbps"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        assert_true(is_null(&hand, "comm_sizes", 0, columns[i]));
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "total_ns"), 100);
    hand_end(&hand);
}

static void calls_and_time_per_step_are_those_of_steady_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 1;
    for (int64_t i = 0; i < 6; i++) { // four calls in the first step, one in the others
        int64_t begin_ns = i < 4 ? 10 * i : 100 * (i - 3);
        struct hand_event call = all_reduce("0", 2, begin_ns + 10, 5, 1000);
        if (i == 0 || i >= 4)
            hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                                .name = "ProfilerStep#1",
                                                .begin_ns = begin_ns,
                                                .dur_ns = 100,
                                                .pid = 1,
                                                .row = 1});
        add_launch(&hand, begin_ns + 1, i + 1);
        call.correlation = i + 1;
        hand_add(&hand, call);
        if (i < 3)
            continue;
        add_launch(&hand, begin_ns + 2, 10 + i); // ends the step
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .row = 7,
                                            .begin_ns = begin_ns + 20,
                                            .dur_ns = 2,
                                            .correlation = 10 + i});
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "calls"), 6);
    assert_true(share(&hand, "comm_sizes", 0, "calls_per_step") == 1);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "total_ns"), 30);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "steady_ns"), 10);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "steady_exposed_ns"), 10);
    assert_true(share(&hand, "kernels", 0, "calls_per_step") == 1);
    assert_true(share(&hand, "kernels", 0, "per_step_ns") == 5);
    hand_end(&hand);
}

static void bandwidths_are_medians_over_calls_and_the_best_is_the_best(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    // 1500 x 4 = 6000 bytes in 1000, 2000 and 3000 ns: 6, 3 and 2 GB/s; 4 ranks: factor 1.5
    hand_add(&hand, all_reduce("0", 4, 0, 3000, 1500));
    hand_add(&hand, all_reduce("0", 4, 5000, 1000, 1500));
    hand_add(&hand, all_reduce("0", 4, 7000, 2000, 1500));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 1);
    assert_string_equal(hand_word(&hand, "comm_sizes", 0, "size_class"), "4 KiB - 8 KiB");
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "calls"), 3);
    assert_true(share(&hand, "comm_sizes", 0, "calls_per_step") == 3);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "bytes"), 18000);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "steady_ns"), 6000);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "median_ns"), 2000);
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "p95_ns"), 3000);
    assert_true(is_near(share(&hand, "comm_sizes", 0, "algo_gbps"), 3));
    assert_true(is_near(share(&hand, "comm_sizes", 0, "bus_gbps"), 4.5));
    assert_true(is_near(share(&hand, "comm_sizes", 0, "best_bus_gbps"), 9));
    hand_end(&hand);
}

static void size_classes_begin_at_a_power_of_two(void **state)
{
    (void)state;
    static const struct {
        int64_t elems;
        const char *class;
    } samples[] = {{255, "512 B - 1 KiB"},           {256, "1 KiB - 2 KiB"},
                   {MIB / 4 - 1, "512 KiB - 1 MiB"}, {MIB / 4, "1 MiB - 2 MiB"},
                   {MIB * 256, "1 GiB - 2 GiB"},     {INT64_MAX / 4, "4 EiB - 8 EiB"}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct hand hand;
        hand_begin(&hand);
        hand_add(&hand, all_reduce("0", 2, 0, 100, samples[i].elems));
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "comm_sizes", 0, "size_class"), samples[i].class);
        hand_end(&hand);
    }
}

static void sums_of_bytes_that_do_not_fit_are_left_empty(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++)
        hand_add(&hand, all_reduce("0", 2, 200 * i, 100, INT64_MAX / 4));
    hand_analyze(&hand);
    assert_true(is_null(&hand, "comm_sizes", 0, "bytes"));
    assert_true(is_null(&hand, "process_groups", 0, "bytes"));
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "calls"), 3);
    hand_end(&hand);
}

static void barriers_have_a_duration_and_no_size(void **state)
{
    (void)state;
    struct hand hand;
    struct hand_event barrier = all_reduce("0", 8, 0, 500, 1);
    barrier.collective = "barrier";
    barrier.dtype = "Byte";
    hand_begin(&hand);
    hand_add(&hand, barrier);
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "comm_sizes", 0, "kind"), "barrier");
    assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "median_ns"), 500);
    assert_null(hand_word(&hand, "comm_sizes", 0, "size_class"));
    assert_true(is_null(&hand, "comm_sizes", 0, "bytes"));
    assert_true(is_null(&hand, "comm_sizes", 0, "bus_gbps"));
    assert_true(is_null(&hand, "process_groups", 0, "bytes"));
    hand_end(&hand);
}

// --- kernels without metadata -------------------------------------------------------------------

static void custom_all_reduce_is_communication_of_the_kind_its_name_says(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
        "two_shot_all_reduce_kernel",
        "void quickreduce::allreduce_prototype_twoshot<...>",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct hand hand;
        hand_begin(&hand);
        hand_kernel(&hand, "gemm", 7, 0, 100);
        hand_kernel(&hand, names[i], 7, 100, 50);
        hand_analyze(&hand);
        assert_int_equal(hand_i64(&hand, "breakdown", 0, "exposed_comm_ns"), 50);
        assert_int_equal(hand_i64(&hand, "breakdown", 0, "compute_ns"), 100);
        assert_int_equal(hand_rows(&hand, "comm_sizes"), 1);
        assert_string_equal(hand_word(&hand, "comm_sizes", 0, "kind"), "all_reduce");
        assert_string_equal(hand_word(&hand, "comm_sizes", 0, "kernel"), names[i]);
        assert_true(is_null(&hand, "comm_sizes", 0, "bus_gbps"));
        hand_end(&hand);
    }
}

static void kernels_without_metadata_keep_rows_of_their_own(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, all_reduce("0", 8, 0, 100, 10));
    hand_kernel(&hand, "ncclDevKernel_Generic_1(x)", 20, 200, 70);
    hand_kernel(&hand, "ncclDevKernel_Generic_1(x)", 20, 300, 30);
    hand_kernel(&hand, "ncclKernel_SendRecv_RING", 20, 400, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 2);
    size_t row = 1 - hand_find(&hand, "process_groups", "process_group", "0");
    assert_null(hand_word(&hand, "process_groups", row, "process_group"));
    assert_true(is_null(&hand, "process_groups", row, "size"));
    assert_int_equal(hand_i64(&hand, "process_groups", row, "calls"), 3);
    assert_int_equal(hand_i64(&hand, "process_groups", row, "total_ns"), 110);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 3);
    row = hand_find(&hand, "comm_sizes", "kernel", "ncclDevKernel_Generic_1(x)");
    assert_null(hand_word(&hand, "comm_sizes", row, "kind"));
    assert_int_equal(hand_i64(&hand, "comm_sizes", row, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "comm_sizes", row, "total_ns"), 100);
    row = hand_find(&hand, "comm_sizes", "kernel", "ncclKernel_SendRecv_RING");
    assert_string_equal(hand_word(&hand, "comm_sizes", row, "kind"), "send_recv");
    hand_end(&hand);
}

// A 512 ns kernel of an operator that was recorded with its inputs.
struct described {
    const char *op, *kernel, *dims, *types, *concrete, *kind;
    int64_t bytes;
};

static void add_described(struct hand *hand, const struct described *its)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = its->op,
                                       .begin_ns = 1000,
                                       .dur_ns = 100,
                                       .pid = 1,
                                       .row = 1,
                                       .dims = its->dims,
                                       .types = its->types,
                                       .concrete = its->concrete});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = 1010,
                                       .dur_ns = 10,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = 3});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = its->kernel,
                                       .begin_ns = 2000,
                                       .dur_ns = 512,
                                       .row = 7,
                                       .correlation = 3});
}

// Symmetric memory and custom all-reduces have no metadata, but their operators' inputs do.
static void inputs_of_the_operator_tell_the_message(void **state)
{
    (void)state;
    static const struct described cases[] = {
        {"symm_mem::one_shot_all_reduce", "one_shot_all_reduce_kernel", "[[4,256],[],[]]",
         "[\"c10::BFloat16\",\"\",\"\"]", "[\"\",\"sum\",\"0\"]", "all_reduce", 2048},
        {"symm_mem::one_shot_all_reduce_copy", "one_shot_all_reduce_kernel",
         "[[8192],[4,256],[],[]]", "[\"c10::BFloat16\",\"c10::BFloat16\",\"\",\"\"]",
         "[\"\",\"\",\"sum\",\"0\"]", "all_reduce", 2048},
        {"_C_custom_ar::all_reduce", "void vllm::cross_device_reduce_1stage<half, 8>(x)",
         "[[],[32,128],[32,128],[],[]]",
         "[\"Scalar\",\"c10::Half\",\"c10::Half\",\"Scalar\",\"Scalar\"]",
         "[\"94\",\"\",\"\",\"0\",\"0\"]", "all_reduce", 8192},
        {"_c10d_functional::all_gather_into_tensor", "ncclDevKernel_AllGather_RING_LL(x)",
         "[[16,8],[],[]]", "[\"float\",\"Scalar\",\"\"]", "[\"\",\"4\",\"0\"]", "all_gather", 2048},
        {"vllm::all_gather", "ncclDevKernel_AllGather_RING_LL(x)", "[[16,8],[],[],[]]",
         "[\"float\",\"Scalar\",\"Scalar\",\"\"]", "[\"\",\"1\",\"4\",\"tp:0\"]", "all_gather",
         2048},
        // Here the output comes first.
        {"sglang::reg_all_gather_into_tensor", "ncclDevKernel_AllGather_RING_LL(x)",
         "[[64,8],[16,8],[]]", "[\"float\",\"float\",\"\"]", "[\"\",\"\",\"0\"]", "all_gather",
         2048},
        {"sglang::reg_reduce_scatter_tensor", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)",
         "[[16,8],[64,8],[]]", "[\"float\",\"float\",\"\"]", "[\"\",\"\",\"0\"]", "reduce_scatter",
         2048},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_described(&hand, &cases[i]);
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "comm_sizes", 0, "kind"), cases[i].kind);
        assert_int_equal(hand_i64(&hand, "comm_sizes", 0, "bytes"), cases[i].bytes);
        assert_true(hand_cell(&hand, "comm_sizes", 0, "algo_gbps")->f ==
                    (double)cases[i].bytes / 512);
        assert_string_equal(hand_word(&hand, "roofline", 0, "note"),
                            "communication: its bytes are in the table comm_sizes");
        hand_end(&hand);
    }
}

// record_param_comms [0, 100) around an aten operator [10, 50) with a launch, and one [50, 90) with
// its own metadata and another launch; a third launch comes after all of them.
static void begin_lending(struct hand *hand)
{
    struct hand_event comms = all_reduce("5", 4, 0, 100, 64),
                      inner = all_reduce("6", 2, 50, 40, 32);
    comms.kind = inner.kind = EVENT_CPU_OP;
    comms.name = inner.name = "record_param_comms";
    comms.pid = inner.pid = comms.row = inner.row = 1;
    hand_begin(hand);
    hand_add(hand, comms);
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "aten::x",
                                       .begin_ns = 10,
                                       .dur_ns = 40,
                                       .pid = 1,
                                       .row = 1});
    hand_add(hand, inner);
    add_launch(hand, 20, 1);
    add_launch(hand, 60, 2);
    add_launch(hand, 120, 3);
    for (int i = 1; i <= 3; i++)
        hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                           .name = "ncclDevKernel_Generic(x)",
                                           .row = 20,
                                           .begin_ns = 1000 * i,
                                           .dur_ns = 128,
                                           .correlation = i});
    hand_analyze(hand);
}

static void the_innermost_recorded_collective_around_the_launch_lends_its_metadata(void **state)
{
    (void)state;
    struct hand hand;
    begin_lending(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 3);
    size_t row = hand_find(&hand, "process_groups", "process_group", "5");
    assert_int_equal(hand_i64(&hand, "process_groups", row, "calls"), 1);
    assert_int_equal(hand_i64(&hand, "process_groups", row, "bytes"), 256);
    row = hand_find(&hand, "process_groups", "process_group", "6");
    assert_int_equal(hand_i64(&hand, "process_groups", row, "bytes"), 128);
    row = hand_find(&hand, "comm_sizes", "process_group", "5");
    assert_true(is_near(share(&hand, "comm_sizes", row, "algo_gbps"), 2));
    row = hand_find(&hand, "comm_sizes", "kernel", "ncclDevKernel_Generic(x)");
    assert_int_equal(hand_i64(&hand, "comm_sizes", row, "calls"), 1);
    hand_end(&hand);
}

static void the_table_of_collectives_shows_only_what_kernels_carry_themselves(void **state)
{
    (void)state;
    struct hand hand;
    begin_lending(&hand);
    assert_int_equal(hand_rows(&hand, "collectives"), 1);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "calls"), 3);
    assert_null(hand_word(&hand, "collectives", 0, "process_group"));
    hand_end(&hand);
}

static void a_kernels_own_metadata_goes_before_that_of_the_operator(void **state)
{
    (void)state;
    struct hand hand;
    struct hand_event comms = all_reduce("5", 4, 0, 100, 64),
                      kernel = all_reduce("own", 2, 500, 9, 1);
    comms.kind = EVENT_CPU_OP;
    comms.pid = comms.row = 1;
    kernel.correlation = 1;
    hand_begin(&hand);
    hand_add(&hand, comms);
    add_launch(&hand, 20, 1);
    hand_add(&hand, kernel);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 1);
    assert_string_equal(hand_word(&hand, "process_groups", 0, "process_group"), "own");
    hand_end(&hand);
}

static void a_trace_without_communication_has_no_rows(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 0, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "process_groups"), 0);
    assert_int_equal(hand_rows(&hand, "comm_sizes"), 0);
    hand_end(&hand);
}

static int64_t sum_of(const struct hand *hand, const char *table, const char *column)
{
    int64_t sum = 0;
    for (size_t i = 0; i < hand_rows(hand, table); i++)
        sum += hand_i64(hand, table, i, column);
    return sum;
}

// Both tables contain each communication event once: their sums are the class's, and the exposed
// part is the breakdown's exposed communication.
static void check_sums(const struct hand *hand)
{
    int64_t events = 0, sum_ns = 0, exposed_ns = 0;
    for (size_t i = 0; i < hand_rows(hand, "classes"); i++)
        if (strcmp(hand_word(hand, "classes", i, "class"), "communication") == 0) {
            events = hand_i64(hand, "classes", i, "events");
            sum_ns = hand_i64(hand, "classes", i, "sum_ns");
        }
    if (hand_rows(hand, "breakdown"))
        exposed_ns = hand_i64(hand, "breakdown", 0, "exposed_comm_ns");
    static const char *const tables[] = {"process_groups", "comm_sizes"};
    for (int t = 0; t < 2; t++) {
        assert_int_equal(sum_of(hand, tables[t], "calls"), events);
        assert_int_equal(sum_of(hand, tables[t], "total_ns"), sum_ns);
        assert_int_equal(sum_of(hand, tables[t], "exposed_ns"), exposed_ns);
    }
}

static void sums_of_real_traces_are_those_of_the_breakdown(void **state)
{
    (void)state;
    real_traces_each(check_sums);
}

static void sums_of_many_random_calls_are_those_of_the_breakdown(void **state)
{
    (void)state;
    static const char *const groups[] = {"0", "1", "tp", NULL};
    uint32_t seed = 1;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1664525 + 1013904223;
        struct hand_event call =
            all_reduce(groups[seed >> 8 & 3], 1 + (seed >> 10 & 3), (seed >> 4) % 100000,
                       (seed >> 12) % 500, 1 << (seed >> 20 & 15));
        call.row = seed >> 28;
        if (seed >> 24 & 1)
            call.collective = NULL; // without metadata
        hand_add(&hand, call);
        hand_kernel(&hand, "gemm", 100, 50 * i, seed >> 16 & 31);
    }
    hand_analyze(&hand);
    assert_true(hand_rows(&hand, "comm_sizes") > 20);
    check_sums(&hand);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_are_recognized_by_their_own_or_the_kernels_name),
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
        cmocka_unit_test(message_sizes_are_those_of_nccl_tests),
        cmocka_unit_test(every_rank_of_a_gather_or_scatter_sees_the_same_message),
        cmocka_unit_test(element_sizes_are_known_for_all_types_that_pytorch_sends),
        cmocka_unit_test(a_gigabyte_is_1e9_bytes_and_not_2_to_the_30),
        cmocka_unit_test(groups_of_one_size_stay_apart),
        cmocka_unit_test(groups_of_one_name_and_several_sizes_stay_apart),
        cmocka_unit_test(what_compute_hides_is_not_exposed),
        cmocka_unit_test(cut_lists_of_ranks_give_way_to_first_last_and_stride),
        cmocka_unit_test(a_list_of_ranks_ends_at_a_nul_in_its_text),
        cmocka_unit_test(the_list_that_is_whole_stands_for_those_that_are_cut),
        cmocka_unit_test(the_description_of_the_job_fills_what_kernels_leave_out),
        cmocka_unit_test(a_span_is_known_only_when_ranks_and_node_are_known),
        cmocka_unit_test(kinds_and_types_of_one_size_stay_apart),
        cmocka_unit_test(what_has_no_known_size_has_no_bandwidth),
        cmocka_unit_test(calls_and_time_per_step_are_those_of_steady_steps),
        cmocka_unit_test(bandwidths_are_medians_over_calls_and_the_best_is_the_best),
        cmocka_unit_test(size_classes_begin_at_a_power_of_two),
        cmocka_unit_test(sums_of_bytes_that_do_not_fit_are_left_empty),
        cmocka_unit_test(barriers_have_a_duration_and_no_size),
        cmocka_unit_test(custom_all_reduce_is_communication_of_the_kind_its_name_says),
        cmocka_unit_test(kernels_without_metadata_keep_rows_of_their_own),
        cmocka_unit_test(inputs_of_the_operator_tell_the_message),
        cmocka_unit_test(the_innermost_recorded_collective_around_the_launch_lends_its_metadata),
        cmocka_unit_test(the_table_of_collectives_shows_only_what_kernels_carry_themselves),
        cmocka_unit_test(a_kernels_own_metadata_goes_before_that_of_the_operator),
        cmocka_unit_test(a_trace_without_communication_has_no_rows),
        cmocka_unit_test(sums_of_real_traces_are_those_of_the_breakdown),
        cmocka_unit_test(sums_of_many_random_calls_are_those_of_the_breakdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
