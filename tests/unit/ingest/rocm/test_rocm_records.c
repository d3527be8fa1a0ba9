// SPDX-License-Identifier: Apache-2.0
// Records of AMD's profilers that are not traces: they are counted, and refused as traces.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "tests/unit/foreign_database.h"

static void assert_counted(struct str text, const char *name, const char *expected)
{
    struct err err = {0};
    struct budget budget = {0};
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    const struct format *format = format_find(text, STR("x.csv"));
    assert_non_null(format);
    assert_string_equal(format->name, name);
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(text.at, text.len, 0, &err);
    assert_true(format->count(&input, &err));
    source_close(input.source);
    figures_json(&figures, &out);
    assert_string_equal(out.at, expected);
    assert_int_equal(budget.used, 0);
    assert_null(format_of_trace(text, STR(""), &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.msg, "--kernel-trace"));
    assert_non_null(strstr(err.msg, format->advice)); // it fits
    buf_free(&out);
    arena_free(&arena);
}

// They have the times of kernels that ran one at a time.
static void counters_are_not_said_to_have_no_times(void **state)
{
    (void)state;
    static const char *const named[] = {"rocprofv3-counter-csv", "rocprof-csv"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        assert_null(strstr(format_named(str_of(named[i]))->advice, "timeline"));
}

static void counters_are_summed_by_name(void **state)
{
    (void)state;
    assert_counted(STR("\"Dispatch_Id\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\"\n"
                       "1,\"A\",2.5,9\n1,\"B\",1,9\n2,\"A\",2,9\n2\n"),
                   "rocprofv3-counter-csv",
                   "{\"rows\":4,\"dispatches\":2,\"counters\":{\"A\":{\"rows\":2,\"sum\":4.5},"
                   "\"B\":{\"rows\":1,\"sum\":1},\"unnamed\":{\"rows\":1,\"sum\":0}}}");
}

static void dispatches_are_numbered_in_each_process(void **state)
{
    (void)state;
    assert_counted(STR("Dispatch_Id,Process_Id,Counter_Name,Counter_Value\n"
                       "1,20,A,1\n2,20,A,1\n1,21,A,1\n1,21,A,1\n"),
                   "rocprofv3-counter-csv",
                   "{\"rows\":4,\"dispatches\":3,\"counters\":{\"A\":{\"rows\":4,\"sum\":4}}}");
}

static void counters_of_old_rocprof_are_columns(void **state)
{
    (void)state;
    assert_counted(
        STR("Index,KernelName,gpu-id,pid,sig,obj,GPUBusy,L2CacheHit\n"
            "0,\"k(int, int)\",0,24,0x0,0x7f,100,0.5\n1,\"k\",0,24,0x0,0x7f,50,1,9\n"),
        "rocprof-counter-csv",
        "{\"rows\":2,\"dispatches\":2,\"counters\":{\"GPUBusy\":{\"rows\":2,\"sum\":150},"
        "\"L2CacheHit\":{\"rows\":2,\"sum\":1.5}}}");
}

static void names_of_counters_cannot_leave_their_place(void **state)
{
    (void)state;
    assert_counted(STR("Dispatch_Id,Counter_Name,Counter_Value\n1,a\x1F"
                       "b\xFF,1\n"),
                   "rocprofv3-counter-csv",
                   "{\"rows\":1,\"dispatches\":1,\"counters\":{\"a_b_\":{\"rows\":1,\"sum\":1}}}");
}

static void sums_are_added_up(void **state)
{
    (void)state;
    assert_counted(STR("\"Name\",\"Calls\",\"TotalDurationNs\"\n\"a\",2,10\n\"b\",3,20\n"),
                   "rocprof-stats-csv", "{\"calls\":5,\"total_ns\":30,\"rows\":2}");
}

static void other_records_are_known_and_counted(void **state)
{
    (void)state;
    assert_counted(STR("\"Kind\",\"Operation\",\"Start_Timestamp\"\nM,A,1\nM,F,2\n"),
                   "rocprof-csv-other", "{\"rows\":2}");
    assert_counted(STR("Sample_Timestamp,Exec_Mask\n1,2\n"), "rocprof-csv-other", "{\"rows\":1}");
}

#define COMPUTE "Dispatch_ID,GPU_ID,LDS_Per_Workgroup,Kernel_Name,Start_Timestamp,End_Timestamp\n"

static void rounded_times_are_said_to_be_unusable(void **state)
{
    (void)state;
    assert_counted(STR(COMPUTE "1,2,0,k,8.1E+14,8.1E+14\n2,2,0,k,8.1E+14,8.1E+14\n"), "rocprof-csv",
                   "{\"timestamps_unusable\":1,\"rows\":2}");
    const struct format *good = format_find(STR(COMPUTE "1,2,0,k,81,82\n"), STR(""));
    assert_string_equal(good->name, "rocprof-kernel-csv");
}

#define COUNTERS                                                                            \
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,Accum_VGPR,"   \
    "Kernel_Name,TCC_EA0_RDREQ_sum,TCC_EA0_RDREQ_32B_sum,TCC_BUBBLE_sum,TCC_EA0_WRREQ_sum," \
    "TCC_EA0_WRREQ_64B_sum,TCC_HIT_sum,TCC_MISS_sum,SQ_INSTS_VALU_MFMA_MOPS_F16,"           \
    "SQ_INSTS_VALU_MFMA_MOPS_BF16,SQ_INSTS_VALU_MFMA_MOPS_F32,SQ_INSTS_VALU_MFMA_MOPS_F64," \
    "SQ_INSTS_VALU_ADD_F16,SQ_WAVE_CYCLES,SQ_BUSY_CU_CYCLES,SQ_WAIT_ANY,SQ_WAIT_INST_ANY,"  \
    "SQ_ACTIVE_INST_ANY,Start_Timestamp,End_Timestamp\n"

static void gather(struct str text, struct budget *budget, struct evidence *evidence)
{
    extern const struct format format_rocm_compute;
    struct err err = {0};
    struct format_input input = {.budget = budget, .evidence = evidence};
    evidence_init(evidence, budget);
    input.source = source_mem_open(text.at, text.len, 0, &err);
    assert_true(format_rocm_compute.gather(&input, &err));
    source_close(input.source);
}

// vcopy of a real file: 8 MiB are read and as much is written.
static void counters_of_a_launch_become_its_figures(void **state)
{
    (void)state;
    const struct str text =
        STR(COUNTERS
            "0,2,1048576,256,0,4,4,\"vecCopy(double*, int) (.kd)\",65775,0,"
            "65536,131072,131072,66160,131311,0,3,0,0,5,37155126,5304706,28336787,6427087,278528,"
            "1000,6500\n"
            "1,2,100,0,0,4,4,k,x,0,0,1,1,0,0,0,0,0,0,5,,,,,,8.1E+14,8.1E+14\n");
    struct budget budget = {0};
    struct evidence evidence;
    gather(text, &budget, &evidence);
    assert_int_equal(evidence.profiles.count, 2);
    const struct kernel_profile *launch = evidence.profiles.items;
    assert_true(str_equal(launch->kernel, STR("vecCopy(double*, int)")));
    assert_int_equal(launch->device, 2);
    assert_int_equal(launch->grid[0], 4096);
    assert_int_equal(launch->block[0], 256);
    assert_true(launch->figures[PROFILE_DURATION_NS] == 5500);
    assert_true(launch->figures[PROFILE_DRAM_BYTES] == 64 * 239 + (2 << 23));
    assert_true(launch->figures[PROFILE_TENSOR_FLOPS] == 3 * 512);
    assert_true(launch->figures[PROFILE_L2_HIT_PERCENT] == 100.0 * 66160 / 197471);
    assert_true(launch->figures[PROFILE_REGISTERS] == 8);
    assert_true(isnan(launch->figures[PROFILE_FLOPS])); // most of its counters are not there
    assert_true(launch->figures[PROFILE_OCCUPANCY_PERCENT] == 100 * 37155126.0 / 5304706 / 32);
    assert_true(launch->stalls[profile_stall_of(STR("dependency_wait"))] ==
                100 * 28336787.0 / 37155126);
    assert_int_equal(launch->family, PROFILE_STALLS_PER_ACTIVE);
    assert_int_equal(launch[1].family, PROFILE_STALLS_NONE);
    assert_true(isnan(launch[1].figures[PROFILE_DURATION_NS]));
    assert_true(isnan(launch[1].figures[PROFILE_DRAM_BYTES]));
    assert_true(isnan(launch[1].figures[PROFILE_L2_HIT_PERCENT]));
    assert_int_equal(launch[1].grid[0], 0);
    evidence_free(&evidence);
    assert_int_equal(budget.used, 0);
}

// Of ten reads six are of 128 bytes and one is of 32. TCC_BUBBLE is 0 there.
static void an_mi350_counts_its_large_reads_by_themselves(void **state)
{
    (void)state;
#define MI350                                                                               \
    "Dispatch_ID,GPU_ID,LDS_Per_Workgroup,Kernel_Name,TCC_EA0_RDREQ_sum,"                   \
    "TCC_EA0_RDREQ_32B_sum,TCC_BUBBLE_sum,TCC_EA0_WRREQ_sum,TCC_EA0_WRREQ_64B_sum,"         \
    "SQ_INSTS_VALU_MFMA_MOPS_F16,SQ_INSTS_VALU_MFMA_MOPS_BF16,SQ_INSTS_VALU_MFMA_MOPS_F32," \
    "SQ_INSTS_VALU_MFMA_MOPS_F64,SQ_INSTS_VALU_MFMA_MOPS_F6F4"
    struct budget budget = {0};
    struct evidence evidence;
    gather(STR(MI350 ",TCC_EA0_RDREQ_128B_sum\n0,1,0,k,10,1,0,2,1,0,0,0,0,4,6\n"), &budget,
           &evidence);
    const double *figures = evidence.profiles.items->figures;
    assert_true(figures[PROFILE_DRAM_BYTES] == 6 * 128 + 3 * 64 + 32 + 64 + 32);
    assert_true(figures[PROFILE_TENSOR_FLOPS] == 4 * 512);
    evidence_free(&evidence);
    gather(STR(MI350 "\n0,1,0,k,10,1,0,2,1,0,0,0,0,4\n"), &budget, &evidence);
    assert_true(isnan(evidence.profiles.items->figures[PROFILE_DRAM_BYTES]));
    evidence_free(&evidence);
}

static void a_database_of_metrics_is_counted_by_table(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct figures figures = {.arena = &arena};
    struct buf bytes = {0}, out = {0};
    struct err err = {0};
    struct budget budget = {0};
    struct foreign_file file = {0};
    foreign_database(&bytes, "CREATE TABLE compute_metadata(name);"
                             "INSERT INTO compute_metadata VALUES('a'), (NULL);"
                             "CREATE TABLE compute_kernel(a); CREATE TABLE other(a);");
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &err);
    const struct format *format = format_of_database(source);
    struct format_input input = {.source = source, .budget = &budget, .figures = &figures};
    assert_string_equal(format->name, "rocprof-compute-db");
    assert_true(format->count(&input, &err));
    figures_json(&figures, &out);
    assert_string_equal(out.at, "{\"rows\":{\"compute_metadata\":2,\"compute_kernel\":0}}");
    foreign_read_as(&file, (struct str){bytes.at, bytes.len}, "x.db");
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.err.msg, "found an analysis database of rocprof-compute"));
    assert_non_null(strstr(file.err.msg, format->advice)); // it fits
    foreign_close(&file);
    source_close(source);
    buf_free(&out);
    buf_free(&bytes);
    arena_free(&arena);
}

// Whether its header fits into what a probe sees or not.
static void counters_of_rocprof_compute_are_no_trace(void **state)
{
    (void)state;
#define TIMED  "Dispatch_ID,GPU_ID,LDS_Per_Workgroup,Kernel_Name,Start_Timestamp,End_Timestamp"
#define LAUNCH "\n0,4,0,k,10,20"
    assert_counted(STR(TIMED ",SQ_WAVES" LAUNCH ",7\n"), "rocprof-csv", "{\"rows\":1}");
    assert_string_equal(format_find(STR(TIMED LAUNCH "\n"), STR("t.csv"))->name,
                        "rocprof-kernel-csv");
    // rocprofv2's file plugin, which puts a blank line below the names
    assert_string_equal(format_find(STR(TIMED ",SQ_WAVES\n" LAUNCH ",7\n"), STR("t.csv"))->name,
                        "rocprof-kernel-csv");
}

static void the_limits_of_a_machine_are_counted(void **state)
{
    (void)state;
    assert_counted(STR("device,HBMBw,HBMBwLow,HBMBwHigh\n0,3919.1,3900.0,3930.0\n"),
                   "rocprof-csv-other", "{\"rows\":1}");
}

static void launches_without_measurements_are_counted(void **state)
{
    (void)state;
    assert_counted(STR("Dispatch_ID,Kernel_Name,GPU_ID\n0,\"add(int)\",2\n"), "rocprof-csv-other",
                   "{\"rows\":1}");
}

static void json_of_old_rocprof_is_named(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(format_of_trace(STR("{ \"traceEvents\":[{}\n,{\"ph\":\"X\",\"pid\":\"6\"}\n]}"),
                                STR("results.json"), &err));
    assert_non_null(strstr(err.msg, "results.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_rocprof_compute_are_no_trace),
        cmocka_unit_test(the_limits_of_a_machine_are_counted),
        cmocka_unit_test(launches_without_measurements_are_counted),
        cmocka_unit_test(json_of_old_rocprof_is_named),
        cmocka_unit_test(counters_are_not_said_to_have_no_times),
        cmocka_unit_test(counters_are_summed_by_name),
        cmocka_unit_test(dispatches_are_numbered_in_each_process),
        cmocka_unit_test(counters_of_old_rocprof_are_columns),
        cmocka_unit_test(names_of_counters_cannot_leave_their_place),
        cmocka_unit_test(sums_are_added_up),
        cmocka_unit_test(other_records_are_known_and_counted),
        cmocka_unit_test(rounded_times_are_said_to_be_unusable),
        cmocka_unit_test(counters_of_a_launch_become_its_figures),
        cmocka_unit_test(an_mi350_counts_its_large_reads_by_themselves),
        cmocka_unit_test(a_database_of_metrics_is_counted_by_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
