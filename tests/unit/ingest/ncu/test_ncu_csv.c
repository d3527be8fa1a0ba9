// SPDX-License-Identifier: Apache-2.0
// Both pages of Nsight Compute's CSV, with numbers as locales write them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

static bool count_text(struct str text, struct arena *arena, struct buf *out, struct err *err)
{
    *err = (struct err){0};
    struct budget budget = {0};
    struct figures figures = {.arena = arena};
    const struct format *format = format_find(text, STR("x.csv"));
    assert_non_null(format);
    assert_string_equal(format->name, "ncu-csv");
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(text.at, text.len, 0, err);
    bool ok = format->count(&input, err);
    source_close(input.source);
    assert_int_equal(budget.used, 0);
    figures_json(&figures, out);
    return ok;
}

static void assert_counted(struct str text, const char *expected)
{
    struct err err;
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    if (!count_text(text, &arena, &out, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(out.at, expected);
    buf_free(&out);
    arena_free(&arena);
}

#define DETAILS \
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define RAW "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n"

static void details_have_a_row_per_metric(void **state)
{
    (void)state;
    assert_counted(STR("==PROF== Profiling \"b\" - 0: 10 passes\n" DETAILS
                       "\"0\",\"1\",\"b\",\"Duration\",\"us\",\"1,234.5\"\n"
                       "\"0\",\"1\",\"b\",\"Hits\",\"\",\"n/a\"\n"
                       "\"1\",\"1\",\"a\",\"\",\"\",\"\"\n"
                       "\"2\"\n"
                       "\"0\",\"1\",\"b\",\"Duration\",\"us\",\"2\"\n"),
                   "{\"page\":\"details\",\"kernels\":2,\"metric_rows\":3,\"not_a_number\":1,"
                   "\"kernel_names\":[\"a\",\"b\"]}");
    assert_counted(STR(DETAILS "\"0\",\"1\",\"a\",\"Bytes\",\"byte\",\"27.595.520\"\n"
                               "\"0\",\"1\",\"a\",\"L2 Hit Rate\",\"%\",\"65,77\"\n"
                               "\"0\",\"1\",\"a\",\"Hits\",\"\",\"n/a\"\n"),
                   "{\"page\":\"details\",\"kernels\":1,\"metric_rows\":3,\"not_a_number\":1,"
                   "\"kernel_names\":[\"a\"]}");
}

static void raw_has_a_row_per_launch_after_the_units(void **state)
{
    (void)state;
    assert_counted(STR(RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"1,234.5\",\"n/a\"\n"
                           "\"1\",\"1\",\"a\",\"2\"\n"),
                   "{\"page\":\"raw\",\"kernels\":2,\"decimal_comma\":0,"
                   "\"duration_ns_total\":1236500,\"not_a_number\":1,\"kernel_names\":[\"a\"]}");
}

// "12" may be half of "1234".
static void half_of_a_last_row_is_left_out(void **state)
{
    (void)state;
    assert_counted(STR(DETAILS "\"0\",\"1\",\"a\",\"Duration\",\"us\",\"5\"\n"
                               "\"1\",\"1\",\"b\",\"Duration\",\"us\",\"12"),
                   "{\"page\":\"details\",\"kernels\":1,\"metric_rows\":1,\"not_a_number\":0,"
                   "\"cut_rows\":1,\"kernel_names\":[\"a\"]}");
    assert_counted(STR(RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"5\",\"2\"\n"
                           "\"1\",\"1\",\"b\",\"12"),
                   "{\"page\":\"raw\",\"kernels\":2,\"decimal_comma\":0,"
                   "\"duration_ns_total\":5000,\"not_a_number\":0,\"cut_rows\":1,"
                   "\"kernel_names\":[\"a\",\"b\"]}");
    assert_counted(STR(RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"5\",\"2\"\n"
                           "\"1\",\"1\",\"void gem"),
                   "{\"page\":\"raw\",\"kernels\":1,\"decimal_comma\":0,"
                   "\"duration_ns_total\":5000,\"not_a_number\":0,\"cut_rows\":1,"
                   "\"kernel_names\":[\"a\"]}");
}

static void a_last_row_without_a_line_end_is_whole(void **state)
{
    (void)state;
    assert_counted(STR(DETAILS "\"0\",\"1\",\"a\",\"Duration\",\"us\",\"5\""),
                   "{\"page\":\"details\",\"kernels\":1,\"metric_rows\":1,\"not_a_number\":0,"
                   "\"kernel_names\":[\"a\"]}");
}

static void one_decimal_comma_decides_for_the_file(void **state)
{
    (void)state;
    assert_counted(STR(RAW "\"\",\"\",\"\",\"ns\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"1.234,567\",\"5\"\n"
                           "\"1\",\"1\",\"a\",\"2.000\",\"0,25\"\n"),
                   "{\"page\":\"raw\",\"kernels\":2,\"decimal_comma\":1,"
                   "\"duration_ns_total\":3234.567,\"not_a_number\":0,\"kernel_names\":[\"a\"]}");
}

static void several_points_are_no_decimal_marks(void **state)
{
    (void)state;
    assert_counted(STR(RAW "\"\",\"\",\"\",\"ns\",\"byte\"\n"
                           "\"0\",\"1\",\"a\",\"117.344\",\"27.595.520\"\n"),
                   "{\"page\":\"raw\",\"kernels\":1,\"decimal_comma\":1,"
                   "\"duration_ns_total\":117344,\"not_a_number\":0,\"kernel_names\":[\"a\"]}");
}

static void thousands_may_be_separated_by_blanks_and_apostrophes(void **state)
{
    (void)state;
    static const char *const numbers[] = {"117\xE2\x80\xAF"
                                          "344",
                                          "117\xC2\xA0"
                                          "344",
                                          "117\xE2\x80\x99"
                                          "344",
                                          "117'344"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct buf text = {0};
        buf_printf(&text, "%s\"\",\"\",\"\",\"ns\",\"byte\"\n\"0\",\"1\",\"a\",\"%s\",\"0,25\"\n",
                   RAW, numbers[i]);
        assert_counted((struct str){text.at, text.len},
                       "{\"page\":\"raw\",\"kernels\":1,\"decimal_comma\":1,"
                       "\"duration_ns_total\":117344,\"not_a_number\":0,\"kernel_names\":[\"a\"]}");
        buf_free(&text);
    }
}

static void an_open_quote_before_the_table_is_said(void **state)
{
    (void)state;
    struct err err;
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    assert_false(count_text(STR("\"never closed\n" DETAILS), &arena, &out, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    buf_free(&out);
    arena_free(&arena);
}

static void it_is_no_trace(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(format_of_trace(STR(RAW), STR(""), &err));
    assert_non_null(strstr(err.msg, "found a CSV of Nsight Compute, expected a trace"));
}

static void gather(struct str text, struct budget *budget, struct evidence *evidence)
{
    struct err err = {0};
    evidence_init(evidence, budget);
    struct format_input input = {.budget = budget, .evidence = evidence};
    input.source = source_mem_open(text.at, text.len, 0, &err);
    if (!format_find(text, STR("x.csv"))->gather(&input, &err))
        fail_msg("%s", err.msg);
    source_close(input.source);
}

static void assert_figure(const struct evidence *evidence, size_t launch, enum profile_figure which,
                          double expected)
{
    assert_true(launch < evidence->profiles.count);
    double found = evidence->profiles.items[launch].figures[which];
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("launch %zu: %.17g, expected %.17g", launch, found, expected);
}

static void figures_are_in_base_units_whatever_their_unit_was(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR(DETAILS "\"7\",\"1\",\"k\",\"Duration\",\"us\",\"1,234.5\"\n"
                       "\"7\",\"1\",\"k\",\"Memory Throughput\",\"%\",\"61.84\"\n"
                       "\"7\",\"1\",\"k\",\"Memory Throughput\",\"Gbyte/second\",\"2.5\"\n"
                       "\"7\",\"1\",\"k\",\"SM Frequency\",\"cycle/nsecond\",\"1.5\"\n"
                       "\"7\",\"1\",\"k\",\"Achieved Occupancy\",\"%\",\"n/a\"\n"),
           &budget, &evidence);
    assert_int_equal(evidence.profiles.count, 1);
    assert_int_equal(evidence.profiles.items[0].launch, 7);
    assert_figure(&evidence, 0, PROFILE_DURATION_NS, 1234500);
    assert_figure(&evidence, 0, PROFILE_MEMORY_PERCENT, 61.84);
    assert_figure(&evidence, 0, PROFILE_DRAM_BPS, 2.5e9);
    assert_figure(&evidence, 0, PROFILE_CYCLES_HZ, 1.5e9);
    assert_true(isnan(evidence.profiles.items[0].figures[PROFILE_OCCUPANCY_PERCENT]));
    evidence_free(&evidence);
    assert_int_equal(budget.used, 0);
}

#define WIDE(...)                                                                          \
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"," __VA_ARGS__ "\n" \
    "\"\",\"\",\"\",\"\",\"\","

static void instructions_are_summed_as_operations(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR(WIDE("\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed\","
                    "\"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed\","
                    "\"sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum\","
                    "\"sm__ops_path_tensor_src_fp8_dst_fp32_sparsity_off.sum\","
                    "\"dram__bytes_read.sum\",\"dram__bytes_write.sum\"") "\"inst/cycle\",\"inst/"
                                                                          "cycle\",\"\",\"\","
                                                                          "\"Kbyte\",\"Mbyte\"\n"
                                                                          "\"0\",\"1\",\"k\",\"("
                                                                          "256, 1, 1)\",\"(12, 3, "
                                                                          "1)\",\"5.5\",\"2\","
                                                                          "\"100\",\"50\","
                                                                          "\"500\",\"2\"\n"),
           &budget, &evidence);
    assert_figure(&evidence, 0, PROFILE_FLOPS_PER_CYCLE, 13);
    assert_figure(&evidence, 0, PROFILE_TENSOR_FLOPS, 150);
    assert_figure(&evidence, 0, PROFILE_DRAM_READ_BYTES, 5e5);
    assert_figure(&evidence, 0, PROFILE_DRAM_WRITE_BYTES, 2e6);
    assert_int_equal(evidence.profiles.items[0].grid[0], 12);
    assert_int_equal(evidence.profiles.items[0].grid[1], 3);
    assert_int_equal(evidence.profiles.items[0].block[0], 256);
    evidence_free(&evidence);
}

#define TENSOR "sm__ops_path_tensor_src_"

// What the tensor pipe does in all and by instructions, and a list, which has no decimal commas.
static void a_whole_comes_before_its_parts(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(
        STR(WIDE("\"launch__tpc_enabled\",\"gpu__time_duration.sum\","
                 "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active\","
                 "\"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active\","
                 "\"" TENSOR "bf16_dst_fp32.sum\",\"" TENSOR "bf16_dst_fp32_sparsity_off.sum\","
                 "\"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum\"") "\"\",\"us\",\"%\",\"%"
                                                                            "\",\"\",\"\",\"\"\n"
                                                                            "\"0\",\"1\",\"k\",\"("
                                                                            "1, 1, 1)\",\"(1, 1, "
                                                                            "1)\",\"0,1,2\",\"1,"
                                                                            "234.56\",\"85\",\"0\","
                                                                            "\"1000\",\"1000\","
                                                                            "\"10\"\n"),
        &budget, &evidence);
    assert_figure(&evidence, 0, PROFILE_DURATION_NS, 1234560);
    assert_figure(&evidence, 0, PROFILE_TENSOR_PERCENT, 85);
    assert_figure(&evidence, 0, PROFILE_TENSOR_FLOPS, 1000);
    assert_figure(&evidence, 0, PROFILE_FLOPS, 40);
    evidence_free(&evidence);
}

// Several sections of the details page may have a metric.
static void what_two_sections_show_is_added_once(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR("\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric "
               "Unit\","
               "\"Metric Value\"\n"
               "\"0\",\"1\",\"a\",\"one\",\"" TENSOR "fp8.sum\",\"\",\"5\"\n"
               "\"0\",\"1\",\"a\",\"one\",\"" TENSOR "fp8_dst_fp32.sum\",\"\",\"4\"\n"
               "\"0\",\"1\",\"a\",\"one\",\"" TENSOR "int8.sum\",\"\",\"2\"\n"
               "\"0\",\"1\",\"a\",\"two\",\"" TENSOR "fp8.sum\",\"\",\"5\"\n"
               "\"1\",\"1\",\"a\",\"two\",\"" TENSOR "fp8.sum\",\"\",\"5\"\n"),
           &budget, &evidence);
    assert_int_equal(evidence.profiles.count, 2);
    assert_figure(&evidence, 0, PROFILE_TENSOR_FLOPS, 7); // a part is in the whole
    assert_figure(&evidence, 1, PROFILE_TENSOR_FLOPS, 5);
    evidence_free(&evidence);
}

static void families_of_stalls_are_not_mixed(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(
        STR(WIDE(
            "\"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio\","
            "\"smsp__pcsamp_warps_issue_stalled_barrier\","
            "\"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio\"") "\"inst\",\"\","
                                                                                 "\"inst\"\n"
                                                                                 "\"0\",\"1\","
                                                                                 "\"k\",\"\",\"\","
                                                                                 "\"3.5\",\"900\","
                                                                                 "\"1.25\"\n"
                                                                                 "\"1\",\"1\","
                                                                                 "\"k\",\"\",\"\","
                                                                                 "\"n/"
                                                                                 "a\",\"900\",\"1."
                                                                                 "25\"\n"),
        &budget, &evidence);
    const struct kernel_profile *profiles = evidence.profiles.items;
    assert_int_equal(profiles[0].family, PROFILE_STALLS_PER_ISSUE);
    assert_true(profiles[0].stalls[profile_stall_of(STR("barrier"))] == 3.5);
    assert_true(profiles[0].stalls[profile_stall_of(STR("wait"))] == 1.25);
    evidence_free(&evidence);
}

static void tables_follow_each_other_and_what_is_printed_between_is_skipped(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR("==PROF== Connected to process 1\n" RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
               "\"0\",\"1\",\"a\",\"1\",\"5\"\n"
               "step 1 loss 2.5\n"
               "42\n"
               "\n"
               "==PROF== Disconnected from process 1\n"
               "\"ID\",\"Process ID\",\"dram__bytes.sum\",\"Kernel Name\"\n"
               "\"\",\"\",\"Kbyte\",\"\"\n"
               "\"0\",\"2\",\"7\",\"b\"\n"),
           &budget, &evidence);
    assert_int_equal(evidence.profiles.count, 2);
    assert_figure(&evidence, 0, PROFILE_DURATION_NS, 1000);
    assert_figure(&evidence, 1, PROFILE_DRAM_BYTES, 7000);
    evidence_free(&evidence);
}

static void a_details_page_after_a_raw_one_has_its_own_launches(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR(RAW "\"\",\"\",\"\",\"us\",\"byte\"\n"
                   "\"0\",\"1\",\"a\",\"1\",\"5\"\n" DETAILS
                   "\"0\",\"1\",\"b\",\"Duration\",\"us\",\"7\"\n"
                   "\"0\",\"1\",\"b\",\"Achieved Occupancy\",\"%\",\"50\"\n"),
           &budget, &evidence);
    assert_int_equal(evidence.profiles.count, 2);
    assert_figure(&evidence, 0, PROFILE_DURATION_NS, 1000);
    assert_true(isnan(evidence.profiles.items[0].figures[PROFILE_OCCUPANCY_PERCENT]));
    assert_figure(&evidence, 1, PROFILE_DURATION_NS, 7000);
    assert_figure(&evidence, 1, PROFILE_OCCUPANCY_PERCENT, 50);
    evidence_free(&evidence);
}

static void text_without_a_table_says_how_to_get_one(void **state)
{
    (void)state;
    struct err err;
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    assert_false(count_text(STR("==PROF== Profiling \"k\" - 0: 10 passes\n  k (1, 1, 1)\n"), &arena,
                            &out, &err));
    assert_non_null(strstr(err.msg, "ncu --import FILE.ncu-rep --csv --page raw > FILE.csv"));
    buf_free(&out);
    arena_free(&arena);
}

static void why_there_is_no_table_is_said(void **state)
{
    (void)state;
    const struct {
        struct str text;
        const char *says;
    } files[] = {
        {STR("==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n"),
         "--target-processes all"},
        {STR("==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not\n"),
         "ERR_NVGPUCTRPERM"},
        {STR("==PROF== Connected to process 1\n==ERROR== The application crashed\n"),
         "an error of"},
        {STR(DETAILS), "without a launch"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct err err;
        struct arena arena;
        struct buf out = {0};
        arena_init(&arena, NULL);
        assert_false(count_text(files[i].text, &arena, &out, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        if (!strstr(err.msg, files[i].says))
            fail_msg("%s", err.msg);
        buf_free(&out);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_have_a_row_per_metric),
        cmocka_unit_test(raw_has_a_row_per_launch_after_the_units),
        cmocka_unit_test(half_of_a_last_row_is_left_out),
        cmocka_unit_test(a_last_row_without_a_line_end_is_whole),
        cmocka_unit_test(one_decimal_comma_decides_for_the_file),
        cmocka_unit_test(several_points_are_no_decimal_marks),
        cmocka_unit_test(thousands_may_be_separated_by_blanks_and_apostrophes),
        cmocka_unit_test(an_open_quote_before_the_table_is_said),
        cmocka_unit_test(it_is_no_trace),
        cmocka_unit_test(figures_are_in_base_units_whatever_their_unit_was),
        cmocka_unit_test(instructions_are_summed_as_operations),
        cmocka_unit_test(a_whole_comes_before_its_parts),
        cmocka_unit_test(what_two_sections_show_is_added_once),
        cmocka_unit_test(families_of_stalls_are_not_mixed),
        cmocka_unit_test(tables_follow_each_other_and_what_is_printed_between_is_skipped),
        cmocka_unit_test(a_details_page_after_a_raw_one_has_its_own_launches),
        cmocka_unit_test(why_there_is_no_table_is_said),
        cmocka_unit_test(text_without_a_table_says_how_to_get_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
