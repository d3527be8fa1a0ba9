// SPDX-License-Identifier: Apache-2.0
// CSV files of AMD's profilers: what becomes of rows, and of rows that are not as they should be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/rocm_hand.h"

#define KERNELS                                                                      \
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Kernel_Name\","              \
    "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\","   \
    "\"VGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\"," \
    "\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define KERNEL "\"KERNEL_DISPATCH\",\"Agent 4\",1,7,\"add(float*, int)\",3,"
#define SHAPE  ",512,8,64,2,1,100,2,1\n"
#define CALLS  "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
#define COPIES                                                                      \
    "Kind,Direction,Stream_Id,Source_Agent_Id,Destination_Agent_Id,Correlation_Id," \
    "Start_Timestamp,End_Timestamp\n"

static void assert_refused(struct str text, const char *part)
{
    struct err err;
    assert_null(read_text(text, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    if (!strstr(err.msg, part))
        fail_msg("expected '%s' in: %s", part, err.msg);
}

static void assert_name(const struct trace *trace, uint32_t event, struct str name)
{
    assert_true(str_equal(trace_text(trace, trace->name[event]), name));
}

static void kernels_have_their_agent_stream_and_shape(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(KERNELS KERNEL "1000,1500" SHAPE));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->kind[0], EVENT_KERNEL);
    assert_int_equal(trace->begin_ns[0], 1000);
    assert_int_equal(trace->dur_ns[0], 500);
    assert_name(trace, 0, STR("add(float*, int)"));
    assert_int_equal(trace->tracks[0].pid.number, 4);
    assert_int_equal(trace->tracks[0].tid.number, 7);
    assert_int_equal(trace->shape_count, 1);
    assert_int_equal(trace->shapes[0].grid[0], 2); // of 64 work items each
    assert_int_equal(trace->shapes[0].grid[1], 1);
    assert_int_equal(trace->shapes[0].block[0], 64);
    assert_int_equal(trace->shapes[0].registers, 8);
    assert_int_equal(trace->shapes[0].shared_bytes, 512);
    assert_int_equal(trace->job.recorder, RECORDER_ROCM);
    assert_int_equal(trace->job.base_ns, VALUE_ABSENT);
    trace_free(trace);
}

static void columns_of_old_rocprof_are_known(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR("Index,KernelName,gpu-id,queue-id,grd,wgr,BeginNs,EndNs\n"
                                        "0,\"k.kd\",2,1,256,64,10,30\n"));
    assert_name(trace, 0, STR("k")); // without what says that it is a descriptor
    assert_int_equal(trace->dur_ns[0], 20);
    assert_int_equal(trace->tracks[0].pid.number, 2);
    assert_int_equal(trace->tracks[0].tid.number, 1);
    assert_int_equal(trace->shapes[0].grid[0], 4);
    assert_int_equal(trace->shapes[0].block[1], 1);
    trace_free(trace);
}

static void counters_of_old_rocprof_are_columns(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR("Index,KernelName,gpu-id,sig,obj,SQ_WAVES,TCC_HIT[0],DispatchNs,BeginNs,EndNs\n"
            "0,\"k.kd\",2,0x0,0x7f,2048.0,12.5,5,10,30\n"
            "1,\"k.kd\",2,0x0,0x7f,,,35,40,60\n"));
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace->counter_count, 2);
    assert_int_equal(trace->counter_sample_count, 2);
    for (uint32_t c = 0; c < 2; c++) {
        const struct counter *counter = &trace->counters[c];
        bool is_hits = str_equal(trace_text(trace, counter->name), STR("TCC_HIT[0]"));
        assert_int_equal(counter->pid, 2);
        assert_int_equal(trace->counter_samples[counter->first].time_ns, 10);
        assert_true(trace->counter_samples[counter->first].value == (is_hits ? 12.5 : 2048));
    }
    trace_free(trace);
}

static void calls_are_of_the_kind_of_their_domain(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(CALLS "HIP_RUNTIME_API_EXT,hipMalloc,5,6,1,10,20\n"
                                              "HSA_CORE_API,hsa_init,5,6,2,30,40\n"
                                              "MARKER_CORE_API,forward,5,6,3,50,60\n"
                                              "RCCL_API,ncclAllReduce,5,6,4,70,80\n"));
    static const enum event_kind kinds[] = {EVENT_RUNTIME, EVENT_DRIVER, EVENT_ANNOTATION,
                                            EVENT_ANNOTATION};
    assert_int_equal(trace->event_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(trace->kind[i], kinds[i]);
    assert_int_equal(trace->tracks[0].pid.number, 5);
    assert_int_equal(trace->tracks[0].tid.number, 6);
    trace_free(trace);
}

// hip_api_trace.csv of rocprofv2.
static void calls_beside_a_column_of_kernels_are_calls(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR("Domain,Function,Kernel_Name,Start_Timestamp,"
                                        "End_Timestamp,Correlation_ID\n\n"
                                        "HIP_API_DOMAIN,hipMalloc,,10,20,1\n"
                                        "HIP_API_DOMAIN,hipLaunchKernel,add(int),30,40,2\n"));
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace->kind[0], EVENT_RUNTIME);
    assert_name(trace, 0, STR("hipMalloc"));
    assert_int_equal(trace->kind[1], EVENT_RUNTIME);
    assert_name(trace, 1, STR("hipLaunchKernel"));
    trace_free(trace);
}

// hcc_ops_trace.csv of rocprofv2.
static void operations_without_a_kernel_are_copies_and_fills(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR("Domain,Operation,Kernel_Name,Start_Timestamp,"
                                        "Stop_Timestamp,Correlation_ID\n\n"
                                        "HIP_OPS_DOMAIN,\"KernelExecution\",\"add(int)\",10,20,1\n"
                                        "HIP_OPS_DOMAIN,\"CopyHostToDevice\",,30,45,2\n"
                                        "HIP_OPS_DOMAIN,\"FillBuffer\",,50,51,3\n"));
    static const enum event_kind kinds[] = {EVENT_KERNEL, EVENT_MEMCPY, EVENT_MEMSET};
    assert_int_equal(trace->event_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(trace->kind[i], kinds[i]);
    assert_name(trace, 0, STR("add(int)"));
    assert_name(trace, 1, STR("CopyHostToDevice"));
    assert_int_equal(trace->dur_ns[1], 15);
    trace_free(trace);
}

static void copies_belong_to_the_gpu(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(COPIES "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,7,Agent 0,Agent 4,1,10,20\n"
                             "MEMORY_COPY,MEMORY_COPY_DEVICE_TO_HOST,7,Agent 4,Agent 0,2,30,40\n"));
    assert_int_equal(trace->track_count, 1);
    assert_int_equal(trace->tracks[0].pid.number, 4);
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace->kind[1], EVENT_MEMCPY);
    trace_free(trace);
}

static void copies_between_hosts_belong_to_no_gpu(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(COPIES "MEMORY_COPY,MEMORY_COPY_HOST_TO_HOST,7,Agent 0,Agent 1,1,10,20\n"
                             "MEMORY_COPY,HOST_TO_HOST,7,0,1,1,10,20\n"
                             "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,7,Agent 0,Agent 4,1,10,20\n"));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->tracks[0].pid.number, 4);
    trace_free(trace);
}

static void assert_row(const struct trace *trace, uint32_t track, const char *row)
{
    assert_int_equal(trace->tracks[track].tid.number, 0);
    assert_true(str_equal(trace_text(trace, trace->tracks[track].tid.text), str_of(row)));
}

// They may overlap, which events of a stream do not.
static void copies_of_an_unknown_stream_have_a_row_by_direction(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(COPIES "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,0,Agent 0,Agent 4,1,10,20\n"
                             "MEMORY_COPY,DEVICE_TO_HOST,0,Agent 4,Agent 0,2,15,40\n"));
    assert_int_equal(trace->track_count, 2);
    assert_row(trace, 0, "copies HtoD");
    assert_row(trace, 1, "copies DtoH");
    trace_free(trace);
}

static void kernels_of_an_unknown_stream_have_the_row_of_their_queue(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(KERNELS "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,\"a\",3,1000,1500" SHAPE
                              "\"KERNEL_DISPATCH\",\"Agent 4\",2,0,\"b\",4,1100,1600" SHAPE
                              "\"KERNEL_DISPATCH\",\"Agent 4\",2,1,\"c\",5,1700,1800" SHAPE));
    assert_int_equal(trace->track_count, 3);
    assert_row(trace, 0, "queue 1");
    assert_row(trace, 1, "queue 2");
    assert_int_equal(trace->tracks[2].tid.number, 1);
    trace_free(trace);
}

// ROCm 6.1 and 6.2; names are those of newer versions, for which analyses look.
static void directions_of_old_versions_are_those_of_new_ones(void **state)
{
    (void)state;
    static const char *const directions[] = {"HOST_TO_DEVICE", "DEVICE_TO_HOST",
                                             "DEVICE_TO_DEVICE"};
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        char text[512], name[64];
        snprintf(text, sizeof text, "%sMEMORY_COPY,%s,0,1,2,1,10,20\n", COPIES, directions[i]);
        snprintf(name, sizeof name, "MEMORY_COPY_%s", directions[i]);
        struct trace *trace = read_good(str_of(text));
        assert_name(trace, 0, str_of(name));
        assert_int_equal(trace->tracks[0].pid.number, i == 1 ? 1 : 2);
        trace_free(trace);
    }
    struct trace *trace = read_good(STR(COPIES "MEMORY_COPY,SIDEWAYS,0,1,2,1,10,20\n"));
    assert_name(trace, 0, STR("SIDEWAYS"));
    trace_free(trace);
}

static void rows_without_times_are_counted_and_left_out(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(KERNELS KERNEL "1000,1500" SHAPE KERNEL "9\n" KERNEL "x,y" SHAPE KERNEL
                                     "9999999999999999999,5" SHAPE));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 3);
    assert_int_equal(trace->input_events, 4);
    trace_free(trace);
}

// rocprofv2's results; a window from 0 on would be the time since the machine started.
static void kernels_from_0_to_0_have_no_times(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR("Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
            "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,"
            "Start_Timestamp,End_Timestamp,Correlation_ID\n\n"
            "0,1,1,5,5,128,64,512,0,8,0,16,64,\"gemm\",1000000,1500000,1\n"
            "1,1,1,5,5,128,64,512,0,8,0,16,64,\"gemm\",0,0,2\n"));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->begin_ns[0], 1000000);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 1);
    assert_int_equal(trace->shapes[0].grid[0], 2);
    assert_int_equal(trace->shapes[0].registers, 8);
    assert_int_equal(trace->shapes[0].shared_bytes, 512);
    trace_free(trace);
}

static void times_that_a_spreadsheet_rounded_are_refused(void **state)
{
    (void)state;
    assert_refused(STR(KERNELS KERNEL "8.1097E+14,8.1097E+14" SHAPE), "spreadsheet");
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    assert_refused(STR(KERNELS), "no rows");
    assert_refused(STR("Kernel_Name,Counter_Name,Start_Timestamp,End_Timestamp\nk,c,1,2\n"),
                   "expected a trace");
}

#define AGENT_INFO                                                        \
    "\"Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Name\",\"Product_Name\"\n" \
    "0,\"CPU\",0,\"cpu\",\"EPYC\"\n4,\"GPU\",304,\"gfx942\",\"MI300X\"\n"
#define COUNTERS                                                                        \
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\"," \
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"

// As the files of a process follow one another once they are joined.
static void files_of_a_process_are_one_trace(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR(AGENT_INFO
            "\n" KERNELS KERNEL "1000,1500" SHAPE "\n" CALLS
            "HIP_RUNTIME_API,hipLaunchKernel,5,6,3,900,950\n"
            "MARKER_CORE_API,step,5,6,8,100,2000\n" COPIES
            "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,0,Agent 0,Agent 4,9,10,20\n" COUNTERS
            "3,1,\"Agent 4\",\"k\",\"SQ_WAVES\",128,1000,1500\n"
            "Kind,Operation,Agent_Id,Allocation_Size,Address,Correlation_Id,"
            "Start_Timestamp,End_Timestamp\n"
            "MEMORY_ALLOCATION,MEMORY_ALLOCATION_VMEM_ALLOCATE,Agent "
            "4,4096,0x00007ffb26354000,7,10,20\n"
            "MEMORY_ALLOCATION,MEMORY_ALLOCATION_ALLOCATE,Agent 0,64,0x00007ffb26355000,7,10,20\n"
            "MEMORY_ALLOCATION,MEMORY_ALLOCATION_ALLOCATE,Agent 4,64,address,7,10,20\n"
            "MEMORY_ALLOCATION,MEMORY_ALLOCATION_FREE,,0,0x00007ffb26355000,7,25,26\n"
            "MEMORY_ALLOCATION,MEMORY_ALLOCATION_VMEM_FREE,,0,0x00007ffb26354000,7,30,40\n"));
    uint32_t kinds[EVENT_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < trace->event_count; i++)
        kinds[trace->kind[i]]++;
    assert_int_equal(trace->event_count, 6);
    assert_int_equal(kinds[EVENT_ALLOCATION], 2); // of a GPU
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(trace->memory_args[i].bytes, i ? -4096 : 4096);
        assert_int_equal(trace->memory_args[i].device, 0);
    }
    assert_int_equal(kinds[EVENT_KERNEL], 1);
    assert_int_equal(kinds[EVENT_RUNTIME], 1);
    assert_int_equal(kinds[EVENT_ANNOTATION], 1);
    assert_int_equal(kinds[EVENT_MEMCPY], 1);
    assert_int_equal(trace->device_count, 1);
    assert_true(str_equal(trace_text(trace, trace->devices[0].name), STR("MI300X")));
    assert_int_equal(trace->devices[0].id, 0); // agent 4 is the first GPU
    assert_int_equal(trace->counter_count, 1);
    assert_int_equal(trace->launch_args_count, 1);
    trace_free(trace);
}

// As a spreadsheet writes them.
static void each_file_of_a_process_may_start_with_a_mark(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR("\xEF\xBB\xBF" AGENT_INFO "\xEF\xBB\xBF" KERNELS KERNEL "1000,1500" SHAPE
                      "\xEF\xBB\xBF" CALLS "HIP_RUNTIME_API,hipLaunchKernel,5,6,3,900,950\n"));
    assert_int_equal(trace->event_count, 2);
    trace_free(trace);
}

// By --agent-index: logical nodes where a container hides GPUs, numbers of GPUs, nodes.
static void agents_are_numbered_in_three_ways(void **state)
{
    (void)state;
    static const char *const agents[][2] = {{"Agent 2", "Agent 3"}, {"GPU 0", "GPU 1"}, {"3", "5"}};
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "Node_Id,Logical_Node_Id,Agent_Type\n0,0,CPU\n1,1,CPU\n3,2,GPU\n5,3,GPU\n"
                 "Kind,Agent_Id,Kernel_Name,Group_Segment_Size,Start_Timestamp,End_Timestamp\n"
                 "K,%s,a,512,10,20\nK,%s,b,512,10,20\n",
                 agents[i][0], agents[i][1]);
        struct trace *trace = read_good(str_of(text));
        assert_int_equal(trace->track_count, 2);
        assert_int_equal(trace->tracks[0].pid.number, 0);
        assert_int_equal(trace->tracks[1].pid.number, 1);
        assert_int_equal(trace->shapes[0].shared_bytes, 512);
        trace_free(trace);
    }
}

// --agent-index=absolute writes nodes as "Agent 3", too. That no GPU is logical node 4 shows it,
// whichever row does so.
static void agents_may_be_nodes(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR("Node_Id,Logical_Node_Id,Agent_Type\n0,0,CPU\n2,1,GPU\n3,2,GPU\n4,3,GPU\n"
            "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"
            "K,Agent 3,a,10,20\nK,Agent 2,b,10,20\nK,Agent 4,c,10,20\nK,Agent 3,d,30,40\n"));
    assert_int_equal(trace->track_count, 3);
    assert_int_equal(trace->tracks[0].pid.number, 1);
    assert_int_equal(trace->tracks[1].pid.number, 0);
    assert_int_equal(trace->tracks[2].pid.number, 2);
    trace_free(trace);
}

static void agents_without_a_trace_are_said_to_be(void **state)
{
    (void)state;
    assert_refused(STR(AGENT_INFO), "agents of rocprofv3 without a trace");
    assert_refused(STR("Node_Id,Agent_Type,Name\n"), "no rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_of_a_process_may_start_with_a_mark),
        cmocka_unit_test(agents_are_numbered_in_three_ways),
        cmocka_unit_test(agents_may_be_nodes),
        cmocka_unit_test(kernels_from_0_to_0_have_no_times),
        cmocka_unit_test(copies_between_hosts_belong_to_no_gpu),
        cmocka_unit_test(copies_of_an_unknown_stream_have_a_row_by_direction),
        cmocka_unit_test(kernels_of_an_unknown_stream_have_the_row_of_their_queue),
        cmocka_unit_test(agents_without_a_trace_are_said_to_be),
        cmocka_unit_test(files_of_a_process_are_one_trace),
        cmocka_unit_test(kernels_have_their_agent_stream_and_shape),
        cmocka_unit_test(columns_of_old_rocprof_are_known),
        cmocka_unit_test(counters_of_old_rocprof_are_columns),
        cmocka_unit_test(calls_are_of_the_kind_of_their_domain),
        cmocka_unit_test(calls_beside_a_column_of_kernels_are_calls),
        cmocka_unit_test(operations_without_a_kernel_are_copies_and_fills),
        cmocka_unit_test(copies_belong_to_the_gpu),
        cmocka_unit_test(directions_of_old_versions_are_those_of_new_ones),
        cmocka_unit_test(rows_without_times_are_counted_and_left_out),
        cmocka_unit_test(times_that_a_spreadsheet_rounded_are_refused),
        cmocka_unit_test(what_is_no_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
