// SPDX-License-Identifier: Apache-2.0
// The parity ledger: how a gap is attributed, who is behind, and the programs that time its rows.
#include "analysis/compare/parity_code.h"
#include "tests/unit/compare_hand.h"

#include <stdio.h>

#define PARITY "compare_parity"

enum { MS = 1000000 };

// A side of one step: a product, its roofline, and 5 ms that both have in common.
struct side {
    int64_t events, ns;             // of a step
    int64_t calls, work_events;     // of the whole trace
    int64_t allowed_ns;             // 0: not known
    const char *dims, *gpu, *bound; // bound NULL: memory
};

static void add_side(struct bench *bench, struct side side)
{
    const char *bound = side.bound ? side.bound : "memory";
    bench_add(bench);
    bench_part(bench, (struct hand_part){"other_compute", "elementwise", "aten::add", NULL, NULL,
                                         "add", 10, 5 * MS});
    bench_part(bench, (struct hand_part){"gemm", "GEMM", "aten::mm", side.dims, NULL, "mm",
                                         side.events, side.ns});
    bench_steps(bench, 1, 5 * MS + side.ns);
    if (side.gpu)
        ROW(bench_run(bench), &table_run_environment, {"key", .text = "gpu"},
            {"value", .text = side.gpu}, {"ranks", .i = 1});
    struct field fields[] = {{"op", .text = "aten::mm"},
                             {"dims", .text = side.dims},
                             {"types", .text = "[\"float\"]"},
                             {"calls", .i = side.calls},
                             {"kernels", .i = side.work_events},
                             {"busy_ns", .i = side.ns},
                             {side.allowed_ns ? "bound" : NULL, .text = bound},
                             {"roofline_ns", .i = side.allowed_ns},
                             {.name = NULL}};
    bench_row(bench_rank(bench), &table_roofline, fields);
    bench_side(bench, 1);
}

static void compare_two(struct bench *bench, struct side base, struct side cand)
{
    bench_begin(bench);
    add_side(bench, base);
    add_side(bench, cand);
    bench_compare(bench);
}

static void assert_ns(const struct bench *bench, const char *column, int64_t ns)
{
    assert_int_equal(bench_i64(bench, PARITY, 0, column), ns);
}

static void a_gap_is_the_ratio_of_the_peaks_and_a_shortfall(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench, (struct side){2, 4 * MS, 2, 2, 1 * MS, "[[8]]", "NVIDIA H100", NULL},
                (struct side){2, 2 * MS, 2, 2, 800000, "[[8]]", "AMD Instinct MI300X", NULL});
    assert_ns(&bench, "delta_ns", -2 * MS);
    assert_ns(&bench, "calls_ns", 0);
    assert_ns(&bench, "hardware_ns", -800000); // 4 ms x (0.8 - 1)
    assert_ns(&bench, "software_ns", -1200000);
    assert_ns(&bench, "shortfall_ns", 1500000); // at 40 % of its peak the base takes 2.5 ms
    assert_true(bench_says(&bench, PARITY, 0, "behind", "base"));
    assert_true(bench_says(&bench, PARITY, 0, "gpu", "NVIDIA H100"));
    assert_true(bench_says(&bench, PARITY, 0, "bound", "memory"));
    assert_true(bench_f64(&bench, PARITY, 0, "hardware_ratio") == 0.8);
    assert_true(bench_f64(&bench, PARITY, 0, "base_peak_share") == 0.25);
    assert_true(bench_f64(&bench, PARITY, 0, "cand_peak_share") == 0.4);
    assert_true(bench_cell(&bench, PARITY, 0, "unattributed_ns")->null);
    bench_end(&bench);
}

// Three kernels a call on the base and one on the candidate, which calls twice as often; the trace
// has ten steps' calls.
static void calls_are_of_the_operator_whatever_it_launches(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench, (struct side){6, 4 * MS, 20, 60, 10 * MS, "[[8]]", NULL, "compute"},
                (struct side){4, 12 * MS, 40, 40, 40 * MS, "[[8]]", NULL, "compute"});
    assert_true(bench_f64(&bench, PARITY, 0, "base_calls") == 2);
    assert_true(bench_f64(&bench, PARITY, 0, "cand_calls") == 4);
    assert_ns(&bench, "base_roofline_ns", 1 * MS);
    assert_ns(&bench, "cand_roofline_ns", 4 * MS);
    assert_ns(&bench, "calls_ns", 4 * MS);
    assert_ns(&bench, "hardware_ns", 8 * MS); // a call may take twice as long: 4 ms x (4 - 2)
    assert_ns(&bench, "software_ns", -4 * MS);
    assert_ns(&bench, "shortfall_ns", 1 * MS); // 4 ms - 12 ms / 4
    assert_true(bench_f64(&bench, PARITY, 0, "hardware_ratio") == 2);
    assert_true(bench_says(&bench, PARITY, 0, "bound", "compute"));
    bench_end(&bench);
}

static void what_is_not_known_stays_whole(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench, (struct side){2, 4 * MS, 2, 2, 1 * MS, "[[8]]", NULL, NULL},
                (struct side){2, 7 * MS, 2, 2, 0, "[[8]]", NULL, NULL});
    assert_ns(&bench, "unattributed_ns", 3 * MS);
    assert_true(bench_cell(&bench, PARITY, 0, "software_ns")->null);
    assert_true(bench_says(&bench, PARITY, 0, "note",
                           "the work of a call is not known, or a device's peak"));
    bench_end(&bench);
    compare_two(&bench, (struct side){2, 4 * MS, 2, 2, 1 * MS, "[[8]]", NULL, NULL},
                (struct side){2, 5 * MS, 2, 2, 1 * MS, "[[9]]", NULL, NULL});
    assert_ns(&bench, "unattributed_ns", 1 * MS);
    assert_true(bench_says(&bench, PARITY, 0, "note", "not matched by operator and shape"));
    bench_end(&bench);
}

// Only a hostile recording has so many calls.
static void a_part_beyond_any_time_is_not_known(void **state)
{
    (void)state;
    struct bench bench;
    compare_two(&bench, (struct side){1, 4 * MS, 1, 1, 1 * MS, "[[8]]", NULL, NULL},
                (struct side){1, 7 * MS, INT64_MAX / 2, 1, 1 * MS, "[[8]]", NULL, NULL});
    assert_ns(&bench, "unattributed_ns", 3 * MS);
    assert_true(bench_cell(&bench, PARITY, 0, "calls_ns")->null);
    bench_end(&bench);
}

static void rows_sum_to_the_computation_of_the_waterfall(void **state)
{
    (void)state;
    static const char *const columns[] = {"calls_ns", "hardware_ns", "software_ns",
                                          "unattributed_ns"};
    char dims[600][24];
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        for (int i = 0; i < 600; i++) {
            snprintf(dims[i], sizeof dims[i], "[[%d]]", i);
            bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", dims[i], NULL, "mm",
                                                  1 + i % 3, (side + 1) * (1000 + 7 * i)});
        }
        bench_part(&bench, (struct hand_part){"exposed_comm", "all_reduce", NULL, NULL, NULL, "ar",
                                              1, 500 * (side + 1)});
        bench_steps(&bench, 1, 5 * MS);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    const struct table *rows = bench_table(&bench, PARITY);
    int64_t gap_ns = 0, parts_ns = 0, expected_ns = 0;
    for (int i = 0; i < 600; i++)
        expected_ns += 1000 + 7 * i;
    assert_int_equal(rows->row_count, 501);
    for (size_t row = 0; row < rows->row_count; row++) {
        gap_ns += bench_i64(&bench, PARITY, row, "delta_ns");
        for (size_t c = 0; c < 4; c++)
            if (!bench_cell(&bench, PARITY, row, columns[c])->null)
                parts_ns += bench_i64(&bench, PARITY, row, columns[c]);
    }
    assert_int_equal(gap_ns, expected_ns);
    assert_int_equal(parts_ns, expected_ns);
    assert_true(bench_says(&bench, PARITY, 500, "note", "all other operators together"));
    bench_end(&bench);
}

// --- programs -----------------------------------------------------------------------------------

static void assert_strided(const char *op, const char *inputs[3], const char *lines)
{
    struct buf out = {.at = NULL};
    struct op_arg_texts texts = {
        .dims = str_of(inputs[0]), .types = str_of(inputs[1]), .strides = str_of(inputs[2])};
    const char *why = parity_code(str_of(op), &texts, &out);
    if (why)
        fail_msg("%s", why);
    if (!strstr(out.at, lines))
        fail_msg("%s", out.at);
    buf_free(&out);
}

static void assert_code(const char *op, const char *dims, const char *types, const char *lines)
{
    assert_strided(op, (const char *[]){dims, types, ""}, lines);
}

static void assert_no_code(const char *op, const char *dims, const char *types, const char *why)
{
    struct buf out = {.at = NULL};
    struct op_arg_texts texts = {.dims = str_of(dims), .types = str_of(types)};
    const char *found = parity_code(str_of(op), &texts, &out);
    if (!found)
        fail_msg("%s", out.at);
    assert_string_equal(found, why);
    assert_int_equal(out.len, 0);
    buf_free(&out);
}

static void a_program_has_the_shapes_and_types(void **state)
{
    (void)state;
    assert_code("aten::addmm", "[[512],[141,512],[512,512],[],[]]",
                "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\"]",
                "a0 = torch.randn([512], device=\"cuda\").to(torch.bfloat16)\n"
                "a1 = torch.randn([141, 512], device=\"cuda\").to(torch.bfloat16)\n"
                "a2 = torch.randn([512, 512], device=\"cuda\").to(torch.bfloat16)\n"
                "\ndef call():\n    return torch.ops.aten.addmm(a0, a1, a2)\n");
    assert_code("aten::mul", "[[4],[]]", "[\"float\",\"Scalar\"]", "torch.ops.aten.mul(a0, 2)");
    assert_code("aten::native_layer_norm", "[[2,8],[],[8],[8],[]]",
                "[\"float\",\"ScalarList\",\"float\",\"float\",\"Scalar\"]",
                "torch.nn.functional.layer_norm(a0, a2.shape, a2, a3)");
    assert_code("aten::embedding", "[[100,8],[5]]", "[\"float\",\"long int\"]",
                "a1 = torch.randint(0, 100, [5], device=\"cuda\").to(torch.int64)");
    assert_code("my_lib::op_2", "[[4]]", "[\"float\"]", "torch.ops.my_lib.op_2(a0)");
    assert_code("aten::cat", "[[[2,3],[2,3]],[]]", "[[\"float\",\"float\"],\"Scalar\"]",
                "a0 = [torch.randn([6], device=\"cuda\").to(torch.float32) for _ in range(2)]");
}

static void inputs_are_laid_out_as_recorded(void **state)
{
    (void)state;
    static const char *const two = "[\"float\",\"float\"]";
    assert_strided("aten::add", (const char *[]){"[[4,6],[4,6]]", two, "[[1,4],[6,1]]"},
                   "# aten::add, inputs laid out as recorded\nimport torch\n\n"
                   "a0 = torch.randn([24], device=\"cuda\").to(torch.float32)"
                   ".as_strided([4, 6], [1, 4])\n"
                   "a1 = torch.randn([4, 6], device=\"cuda\").to(torch.float32)\n");
    assert_strided("aten::add", (const char *[]){"[[4,6],[4,6]]", two, "[[0,1],[18,1]]"},
                   "a0 = torch.randn([6], device=\"cuda\").to(torch.float32)"
                   ".as_strided([4, 6], [0, 1])\n"
                   "a1 = torch.randn([60], device=\"cuda\").to(torch.float32)"
                   ".as_strided([4, 6], [18, 1])\n");
    static const char *const contiguous[] = {
        "[[1,0],[6,1]]",                   // one row: its stride does not matter
        "[[6,1],[9223372036854775807,1]]", // no memory is that large
        "[[6,1],[-6,1]]",                  // PyTorch has none
        "[[6,1],[6]]",
        "[[6,1],[1000000,1]]", // not the tensor's, or a few of many rows
        "[[6,1],[__import__,1]]",
    };
    for (size_t i = 0; i < sizeof contiguous / sizeof *contiguous; i++)
        assert_strided("aten::add",
                       (const char *[]){i ? "[[4,6],[4,6]]" : "[[1,1],[4,6]]", two, contiguous[i]},
                       "# aten::add, contiguous inputs\n");
}

static void a_number_beside_tensors_stays_on_the_host(void **state)
{
    (void)state;
    assert_code("aten::mul", "[[1,8],[]]", "[\"c10::BFloat16\",\"double\"]",
                "a1 = torch.tensor(2, dtype=torch.float64)\n");
    assert_code("aten::add", "[[1,8],[],[]]", "[\"float\",\"long int\",\"Scalar\"]",
                "a1 = torch.tensor(2, dtype=torch.int64)\n");
    assert_code("aten::mul", "[[1,8],[]]", "[\"float\",\"float\"]",
                "a1 = torch.randn([], device=\"cuda\").to(torch.float32)\n");
    assert_code("aten::mul", "[[],[]]", "[\"double\",\"double\"]",
                "a1 = torch.randn([], device=\"cuda\").to(torch.float64)\n");
}

static void names_from_traces_never_become_code(void **state)
{
    (void)state;
    static const char *const hostile[] = {"aten::mm(); import os",
                                          "aten::mm\n",
                                          "a\"b::mm",
                                          "::mm",
                                          "aten::",
                                          "aten::a::b",
                                          "aten mm",
                                          "1a::mm",
                                          "aten::\xc3\xa9"};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        assert_no_code(hostile[i], "[[4]]", "[\"float\"]",
                       "it has no operator that PyTorch could call");
    assert_no_code("aten::mm", "[[4],[4]]", "[\"float\",\"x); import os\"]",
                   "an input has a type or shape that cannot be made");
    assert_no_code("aten::mm", "[[4, os]]", "[\"float\"]", "its shapes and types are not recorded");
    assert_no_code("aten::mm", "[[-4]]", "[\"float\"]", "its shapes and types are not recorded");
    assert_no_code("aten::sort", "[[4],[],[]]", "[\"float\",\"Scalar\",\"Scalar\"]",
                   "its other arguments are not kept");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_the_ratio_of_the_peaks_and_a_shortfall),
        cmocka_unit_test(calls_are_of_the_operator_whatever_it_launches),
        cmocka_unit_test(what_is_not_known_stays_whole),
        cmocka_unit_test(a_part_beyond_any_time_is_not_known),
        cmocka_unit_test(rows_sum_to_the_computation_of_the_waterfall),
        cmocka_unit_test(a_program_has_the_shapes_and_types),
        cmocka_unit_test(inputs_are_laid_out_as_recorded),
        cmocka_unit_test(a_number_beside_tensors_stays_on_the_host),
        cmocka_unit_test(names_from_traces_never_become_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
