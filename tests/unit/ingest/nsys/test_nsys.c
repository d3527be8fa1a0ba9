// SPDX-License-Identifier: Apache-2.0
// Exports of Nsight Systems: what each table becomes, and what is done about tables, columns and
// values that are missing or make no sense.
#include "tests/unit/nsys_hand.h"

#include <stdlib.h>

// --- devices and calls --------------------------------------------------------------------------

static void a_kernel_has_its_launch_and_shape(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(&file, STRINGS KERNELS CALLS KERNEL("1000", "1500", "5", P0, "1")
                                              CALL("900", "950", T0, "5"));
    uint32_t kernel = foreign_event(trace, EVENT_KERNEL);
    uint32_t call = foreign_event(trace, EVENT_RUNTIME);
    const struct launch_shape *shape = &trace->shapes[device_of(trace, kernel)->shape];
    assert_true(str_equal(name_of(trace, kernel), STR("gemm")));
    assert_true(str_equal(name_of(trace, call), STR("cudaLaunchKernel")));
    assert_int_equal(trace->begin_ns[kernel], 1000);
    assert_int_equal(trace->dur_ns[kernel], 500);
    assert_int_equal(device_of(trace, kernel)->correlation, 5);
    assert_int_equal(trace->launch_args[trace->args[call]].correlation, 5);
    assert_int_equal(shape->grid[0], 4);
    assert_int_equal(shape->registers, 40);
    assert_int_equal(shape->shared_bytes, 1024);
    foreign_close(&file);
}

#define IN_CONTEXT(device, context)                                                         \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId," \
    "globalPid, shortName, contextId) VALUES(10, 20, " device ", 7, 1, " P0 ", 1, " context ");"

static void streams_of_several_contexts_are_several(void **state)
{
    (void)state;
    static const struct {
        int64_t device;
        const char *stream;
    } tracks[] = {{0, ""}, {1, ""}, {0, "7 (context 3)"}};
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS
                 "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN contextId;" IN_CONTEXT("0", "1")
                     IN_CONTEXT("1", "2") IN_CONTEXT("0", "3") IN_CONTEXT("0", "1"));
    assert_int_equal(trace->track_count, 3);
    for (size_t i = 0; i < 3; i++) {
        bool found = false;
        for (uint32_t t = 0; t < trace->track_count; t++)
            found |=
                trace->tracks[t].pid.number == tracks[i].device &&
                trace->tracks[t].tid.number == 7 &&
                str_equal(trace_text(trace, trace->tracks[t].tid.text), str_of(tracks[i].stream));
        assert_true(found);
    }
    foreign_close(&file);
}

static void missing_columns_and_tables_are_no_error(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(end, start);"
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(20, 10), (40, 30);");
    assert_int_equal(foreign_count(trace, EVENT_KERNEL), 2);
    assert_int_equal(trace->dur_ns[0], 10);
    assert_int_equal(trace->job.base_ns, VALUE_ABSENT);
    foreign_close(&file);
}

static void rows_that_make_no_sense_are_counted(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS CALLS KERNEL("10", "20", "1", P0, "1")
                   KERNEL("NULL", "20", "1", P0, "1") KERNEL("30", "NULL", "1", P0, "1")
                       KERNEL("'x'", "20", "1", P0, "1") KERNEL("x'00'", "1.5", "1", P0, "1")
                           KERNEL("9223372036854775807", "20", "1", P0, "1")
                               KERNEL("(-9223372036854775807 - 1)", "9223372036854775807", "1", P0,
                                      "1") CALL("100", "50", T0, "9"));
    assert_int_equal(foreign_count(trace, EVENT_KERNEL), 1);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 6);
    uint32_t call = foreign_event(trace, EVENT_RUNTIME);
    assert_int_equal(trace->dur_ns[call], 0);
    assert_int_equal(trace->repairs[REPAIR_NEGATIVE_DURATION].count, 1);
    foreign_close(&file);
}

static void text_in_place_of_all_times_is_refused_with_its_row(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, STRINGS KERNELS KERNEL("NULL", "5", "4", P0, "1")
                            KERNEL("'1000 ns'", "1500", "5", P0, "1"));
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.err.msg, "found text as the time of row 2 of "
                                         "CUPTI_ACTIVITY_KIND_KERNEL, expected integers"));
    foreign_close(&file);
    file = (struct foreign_file){0};
    struct trace *trace = open_one(&file, STRINGS KERNELS KERNEL("'1000 ns'", "1500", "5", P0, "1")
                                              KERNEL("1000", "1500", "5", P0, "1"));
    assert_int_equal(trace->event_count, 1); // damage, which is counted
    foreign_close(&file);
}

static void negative_times_are_kept(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(&file, STRINGS KERNELS KERNEL("-2000", "-1000", "1", P0, "1")
                                              KERNEL("10", "20", "1", P0, "'no number'"));
    assert_int_equal(trace->begin_ns[0], -2000);
    assert_int_equal(trace->dur_ns[0], 1000);
    assert_int_equal(trace->event_count, 2);
    assert_true(str_equal(name_of(trace, 1), STR("unnamed kernel")));
    foreign_close(&file);
}

static void a_view_is_not_read(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, STRINGS "CREATE TABLE META_DATA_EXPORT(name, value);"
                                "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS "
                                "end, 0 AS deviceId, 7 AS streamId;");
    assert_int_equal(file.count, 0);
    assert_int_equal(file.err.code, ERR_FORMAT);
    foreign_close(&file);
}

static void a_log_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct buf bytes = {0};
    foreign_database(&bytes, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1"));
    bytes.at[18] = bytes.at[19] = 2;
    foreign_read(&file, (struct str){bytes.at, bytes.len});
    assert_int_equal(file.count, 1);
    assert_int_equal(file.traces[0]->repairs[REPAIR_LOG].count, 1);
    assert_non_null(strstr(repair_text(REPAIR_LOG), "may still be in a file that ends in -wal"));
    foreign_close(&file);
    buf_free(&bytes);
}

static void a_cut_export_gives_the_rows_before_the_cut(void **state)
{
    (void)state;
    struct buf bytes = {0};
    foreign_database(&bytes, STRINGS KERNELS
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                     "3000) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, "
                     "7, i, " P0 ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM n;");
    for (size_t part = 1; part < 8; part++) {
        struct foreign_file file = {0};
        foreign_read(&file, (struct str){bytes.at, bytes.len * part / 8});
        if (file.count) {
            assert_in_range(file.traces[0]->event_count, 1, 2999);
            assert_int_equal(file.traces[0]->repairs[REPAIR_TRUNCATED].count, 1);
        }
        assert_true(part < 6 || file.count == 1);
        foreign_close(&file);
    }
    buf_free(&bytes);
}

static void several_processes_are_several_traces(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct figures figures = {.arena = &arena};
    struct foreign_file file = {.figures = &figures};
    struct buf json = {0};
    foreign_open(&file,
                 STRINGS KERNELS CALLS RANGES KERNEL("10", "20", "1", P1, "1")
                     KERNEL("12", "22", "1", P0, "1") KERNEL("30", "40", "2", P0, "1")
                         CALL("1", "2", T0, "1") CALL("3", "4", T1, "1") CALL("5", "6", "99", "1")
                             RANGE("1", "2", "59",
                                   "'mine'") "CREATE TABLE OSRT_API(start, end, globalTid, nameId);"
                                             "INSERT INTO OSRT_API VALUES(1, 2, 99, 5), (3, 4, " T0
                                             ", 5);");
    assert_int_equal(file.count, 2);
    assert_int_equal(foreign_count(file.traces[0], EVENT_KERNEL), 2);
    assert_int_equal(foreign_count(file.traces[1], EVENT_KERNEL), 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(file.traces[1], EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_ANNOTATION), 1);
    assert_int_equal(foreign_count(file.traces[1], EVENT_ANNOTATION), 0);
    figures_json(&figures, &json);
    buf_putc(&json, '\0');
    assert_non_null(strstr(json.at, "\"api_calls\":3"));
    assert_non_null(strstr(json.at, "\"osrt_calls\":2"));
    assert_non_null(strstr(json.at, "\"processes_with_gpu_work\":2"));
    assert_non_null(strstr(json.at, "\"copies\":{}"));
    assert_null(strstr(json.at, "nccl_payload"));
    buf_free(&json);
    foreign_close(&file);
    arena_free(&arena);
}

static void work_without_a_process_is_counted_once(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(
        &file,
        STRINGS KERNELS CALLS RANGES KERNEL("10", "20", "1", P0, "1")
            KERNEL("12", "22", "1", P1, "1") KERNEL("30", "40", "2", "NULL", "1")
                CALL("1", "2", "NULL", "2")
                    RANGE("1", "2", "59",
                          "'mine'") "UPDATE NVTX_EVENTS SET globalTid = NULL;"
                                    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 "
                                    "WHERE globalPid = " P1 ";"
                                    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId);"
                                    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(50, 60, 1);");
    assert_int_equal(file.count, 2);
    assert_int_equal(foreign_count(file.traces[0], EVENT_KERNEL), 2);
    assert_int_equal(foreign_count(file.traces[1], EVENT_KERNEL), 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_MEMSET), 0);
    assert_int_equal(foreign_count(file.traces[1], EVENT_MEMSET), 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(file.traces[1], EVENT_RUNTIME), 0);
    assert_int_equal(foreign_count(file.traces[0], EVENT_ANNOTATION), 1);
    assert_int_equal(foreign_count(file.traces[1], EVENT_ANNOTATION), 0);
    foreign_close(&file);
}

static void other_calls_of_the_host_are_read(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file,
        STRINGS KERNELS KERNEL(
            "10", "20", "1", P0,
            "1") "CREATE TABLE OSRT_API(start, end, globalTid, nameId);"
                 "INSERT INTO OSRT_API VALUES(3, 4, " T0 ", 5);"
                 "CREATE TABLE PROFILER_OVERHEAD(start, end, globalTid, nameId);"
                 "INSERT INTO PROFILER_OVERHEAD VALUES(3, 4, " T0 ", 6);"
                 "CREATE TABLE MPI_COLLECTIVES_EVENTS(start, end, globalTid, textId);"
                 "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(5, 6, " T0 ", 8);"
                 "CREATE TABLE MPI_RANKS(globalTid, rank); INSERT INTO MPI_RANKS VALUES(" T1
                 ", 8), (" T0 ", 3);"
                 "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, deviceId, address, "
                 "bytes, memKind, memoryOperationType);"
                 "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(1, " P0
                 ", 0, 4096, 512, 2, 0), (2, " P0 ", 0, 4096, 512, 2, 1), (3, " P0
                 ", 0, 1, 512, 1, 0), (4, " P0 ", 0, 1, -5, 2, 0);");
    assert_true(str_equal(name_of(trace, foreign_event(trace, EVENT_OS_CALL)), STR("poll")));
    assert_int_equal(foreign_count(trace, EVENT_OVERHEAD), 1);
    assert_true(
        str_equal(name_of(trace, foreign_event(trace, EVENT_ANNOTATION)), STR("MPI_Barrier")));
    assert_int_equal(trace->job.rank, 3);
    assert_int_equal(trace->memory_args_count, 2);
    assert_int_equal(trace->memory_args[0].bytes, 512);
    assert_int_equal(trace->memory_args[1].bytes, -512);
    foreign_close(&file);
}

// Rows of schemas 3.17.2 and 3.20.2, in which the call is right and the number is not; and one of a
// call that was not recorded.
static void waits_are_of_the_kind_of_their_call(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file,
        STRINGS KERNELS CALLS KERNEL(
            "10", "20", "1", P0,
            "1") "INSERT INTO StringIds VALUES (20, 'cudaStreamSynchronize_v3020'), "
                 "(21, 'cudaDeviceSynchronize_v3020'), (22, 'cudaStreamWaitEvent_v3020_ptsz');"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (30, 40, 0, " T0 ", 2, 20),"
                 "(50, 60, 0, " T0 ", 3, 21), (70, 71, 0, " T0 ", 4, 22), (80, 90, 0, " T0
                 ", NULL, 21);"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, streamId, "
                 "correlationId, globalPid, deprecatedSyncType, syncType);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (30, 40, 0, 7, 2, " P0
                 ", 2, 2),"
                 "(50, 60, 0, 4294967295, 3, " P0 ", 0, 0), (70, 71, 0, 7, 4, " P0 ", NULL, 2),"
                 "(80, 90, 0, 7, NULL, " P0 ", NULL, 1);");
    static const char *const words[] = {"Stream Sync", "Stream Wait Event", "Event Sync"};
    uint32_t found = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_SYNC && trace->begin_ns[i] != 50)
            assert_true(str_equal(name_of(trace, i), str_of(words[found++])));
        else if (trace->kind[i] == EVENT_SYNC)
            assert_true(str_equal(name_of(trace, i), STR("Context Sync")));
    assert_int_equal(found, 3);
    uint32_t all = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        all += trace->tracks[t].family == TRACK_DEVICE_NOTE && trace->tracks[t].tid.number == -1;
    assert_int_equal(all, 1); // of the wait for all streams
    foreign_close(&file);
}

// --- ranges -------------------------------------------------------------------------------------

static void ranges_of_pytorch_are_operators(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") RANGES RANGE(
                   "1", "9", "59", "'aten::mm, seq = 12, op_id = 34, sizes = [[8, 4], [4, 2], []]'")
                   RANGE("11", "12", "59", "'FSDP::pre_forward (blocks.0), op_id = 35'")
                       RANGE("13", "14", "59", "'forward, op_id = 36'"));
    uint32_t op = foreign_event(trace, EVENT_CPU_OP);
    const struct op_args *args = &trace->op_args[trace->args[op]];
    assert_true(str_equal(name_of(trace, op), STR("aten::mm")));
    assert_int_equal(args->sequence, 12);
    assert_true(str_equal(trace_text(trace, trace->op_inputs[args->inputs].dims),
                          STR("[[8, 4], [4, 2], []]")));
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 2);
    for (uint32_t i = 0; i < trace->event_count; i++)
        assert_true(str_find(name_of(trace, i), STR("op_id")) == SIZE_MAX);
    foreign_close(&file);
}

static void operators_may_have_no_sequence(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file,
        STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") RANGES RANGE(
            "1", "2", "59", "'autograd::engine::evaluate_function: AddBackward0, op_id = 1'")
            RANGE("3", "4", "59", "'record_param_comms, op_id = 2'")
                RANGE("5", "6", "59", "'detach, op_id = 3'") RANGE("7", "8", "59", "'detach'"));
    assert_int_equal(foreign_count(trace, EVENT_CPU_OP), 3);
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 1);
    foreign_close(&file);
}

static void damaged_sizes_are_left_out(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") RANGES RANGE(
                            "1", "9", "59", "'aten::mm, seq = 99999999999999999999, sizes = [[8'"));
    uint32_t op = foreign_event(trace, EVENT_CPU_OP);
    assert_int_equal(trace->args[op], ARGS_NONE);
    foreign_close(&file);
}

static void ranges_have_domains_threads_and_ends(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") RANGES
        "CREATE TABLE ANALYSIS_DETAILS(duration); INSERT INTO ANALYSIS_DETAILS VALUES(500);"
        "INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, 'lib', NULL, " T0 ", NULL, 3, NULL),"
        "(1, 2, 59, 'inner', NULL, " T0 ", NULL, 3, NULL),"
        "(100, NULL, 60, NULL, 6, " T0 ", NULL, 0, NULL),"
        "(200, 0, 59, 'open', NULL, " T0 ", NULL, 0, NULL),"
        "(4, 5, 60, 'moves', NULL, " T0 ", " T1 ", 0, NULL),"
        "(6, NULL, 34, 'mark', NULL, " T0 ", NULL, 0, NULL),"
        "(7, 8, 59, NULL, NULL, " T0 ", NULL, 0, NULL);");
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 5);
    int found = 0;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        for (uint32_t i = track->first; i < track->first + track->count; i++) {
            struct str name = name_of(trace, i);
            found += str_equal(name, STR("lib:inner"));
            found += str_equal(name, STR("registered")) && trace->dur_ns[i] == 400;
            found += str_equal(name, STR("moves")) && track->tid.text;
            found += str_equal(name, STR("open")) && trace->dur_ns[i] == 300;
        }
    }
    assert_int_equal(found, 4);
    assert_int_equal(trace->repairs[REPAIR_BEGIN_WITHOUT_END].count, 2);
    foreign_close(&file);
}

static void huge_texts_are_cut(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace =
        open_one(&file, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") RANGES
                 "INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, printf('%.*c', 3000000, 'x'), NULL, " T0
                 ", NULL, 0, NULL);");
    uint32_t range = foreign_event(trace, EVENT_ANNOTATION);
    assert_int_equal(name_of(trace, range).len, 65536);
    assert_int_equal(trace->repairs[REPAIR_LONG_TEXT].count, 1);
    foreign_close(&file);
}

// --- facts --------------------------------------------------------------------------------------

static void devices_have_the_ordinals_of_the_process(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file,
        STRINGS KERNELS KERNEL(
            "10", "20", "1", P0,
            "1") "CREATE TABLE TARGET_INFO_GPU(id, name, cuDevice, smCount);"
                 "INSERT INTO TARGET_INFO_GPU VALUES(0, 'first', 1, 10), (1, 'second', 0, 20);"
                 "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
                 "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(0, 5, 999), (1, 0, 100);"
                 "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId, metricId, metricName);"
                 "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(256, 3, 'SM'), (257, 3, 'SM'), (257, "
                 "4, 'T');"
                 "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
                 "INSERT INTO GPU_METRICS VALUES(-5, 257, 3, 1), (5, 257, 3, 50), (5, 256, 3, 9), "
                 "(5, 257, 4, 7), (6, 257, 9, 1), (15, 257, 3, 60), (16, 257, 3, 'x');");
    assert_int_equal(trace->device_count, 1);
    assert_true(str_equal(trace_text(trace, trace->devices[0].name), STR("second")));
    assert_int_equal(trace->devices[0].id, 0);
    assert_int_equal(trace->counter_count, 2);
    assert_int_equal(trace->counter_sample_count, 3);
    foreign_close(&file);
}

#define METRICS                                                                            \
    "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId, metricId, metricName);"                  \
    "INSERT INTO TARGET_INFO_GPU_METRICS VALUES(256, 0, 'GPC Clock Frequency [MHz]');"     \
    "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"                        \
    "INSERT INTO GPU_METRICS VALUES(10, 256, 0, 1980000000), (20, 256, 0, -1768172296), "  \
    "(30, 256, 0, 0), (40, 256, 0, 1755);"                                                 \
    "CREATE TABLE NIC_ID_MAP(nicId, globalId); INSERT INTO NIC_ID_MAP VALUES(0, 77);"      \
    "CREATE TABLE TARGET_INFO_NIC_INFO(nicId, name);"                                      \
    "INSERT INTO TARGET_INFO_NIC_INFO VALUES(0, 'mlx5_0');"                                \
    "CREATE TABLE TARGET_INFO_NETWORK_METRICS(metricsListId, metricsIdx, name, unit);"     \
    "INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES(0, 6, 'IB: Bytes sent', 'bytes/ms'), " \
    "(0, 7, 'Packet size', 'bytes'), (0, 8, 'Other', NULL);"                               \
    "CREATE TABLE NET_NIC_METRIC(start, globalId, portId, metricsListId, metricsIdx, "     \
    "value);"                                                                              \
    "INSERT INTO NET_NIC_METRIC VALUES(10, 77, 0, 0, 6, 50000000), (10, 77, 1, 0, 6, 3), " \
    "(10, 77, 0, 0, 7, 4096), (10, 77, 0, 0, 8, 5);"

// The values of a counter: "1980 2526.795".
static void assert_counted(const struct trace *trace, const char *name, const char *key,
                           const char *expected)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < trace->counter_count; i++) {
        const struct counter *counter = &trace->counters[i];
        if (!str_equal(trace_text(trace, counter->name), str_of(name)) ||
            !str_equal(trace_text(trace, counter->key), str_of(key)))
            continue;
        for (uint32_t at = 0; at < counter->count; at++)
            buf_printf(&out, "%s%.10g", at ? " " : "",
                       trace->counter_samples[counter->first + at].value);
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

static void counters_have_the_units_that_are_said(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(&file, STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") METRICS);
    assert_counted(trace, "GPC Clock Frequency [MHz]", "", "1980 2526.795 0 1755");
    assert_counted(trace, "mlx5_0", "IB: Bytes sent (bytes/s)", "5e+10");
    assert_counted(trace, "mlx5_0 port 1", "IB: Bytes sent (bytes/s)", "3000");
    assert_counted(trace, "mlx5_0", "Packet size (bytes)", "4096");
    assert_counted(trace, "mlx5_0", "Other", "5");
    foreign_close(&file);
}

static void only_the_rank_is_taken_from_the_environment(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS KERNEL(
                   "10", "20", "1", P0,
                   "1") "CREATE TABLE META_DATA_CAPTURE(name, value);"
                        "INSERT INTO META_DATA_CAPTURE VALUES"
                        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_PROCID=\"1\"'),"
                        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_NTASKS=\"2\"'),"
                        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_RANK=\"5\"'),"
                        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_SIZE=\"8\"'),"
                        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'MY_TOKEN=\"not for anyone\"');");
    assert_int_equal(trace->job.rank, 5);
    assert_int_equal(trace->job.world_size, 8);
    assert_int_equal(
        str_find((struct str){trace->strings.text, trace->strings.text_len}, STR("not for anyone")),
        SIZE_MAX);
    foreign_close(&file);
}

#define STARTED(at)                                            \
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs);" \
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(" at ");"

static void times_of_a_normalized_export_are_since_1970(void **state)
{
    (void)state;
    static const struct {
        const char *statements;
        int64_t base_ns;
    } exports[] = {
        {STRINGS KERNELS KERNEL("10", "20", "1", P0, "1") STARTED("1760000000000000000"),
         1760000000000000000},
        {STRINGS KERNELS KERNEL("1760000001000000000", "1760000001000000010", "1", P0, "1")
             STARTED("1760000000000000000"),
         0},
    };
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++) {
        struct foreign_file file = {0};
        assert_int_equal(open_one(&file, exports[i].statements)->job.base_ns, exports[i].base_ns);
        foreign_close(&file);
    }
}

static const char *setting_of(const struct trace *trace, const char *key)
{
    const struct trace_setting *setting = trace_setting_find(trace, str_of(key));
    assert_non_null(setting);
    return trace_text(trace, setting->text).at;
}

static void what_recorded_it_is_a_setting(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct trace *trace = open_one(
        &file, STRINGS KERNELS KERNEL(
                   "10", "20", "1", P0,
                   "1") "CREATE TABLE META_DATA_EXPORT(name, value);"
                        "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION', '2026.1');"
                        "CREATE TABLE ANALYSIS_DETAILS(duration); INSERT INTO ANALYSIS_DETAILS "
                        "VALUES(500);"
                        "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name, value);"
                        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('NvDriverVersion', '550.54'), "
                        "('CudaDriverVersion', '12040'), ('DeviceEnvironment', 'SECRET=1');"
                        "CREATE TABLE DIAGNOSTIC_EVENT(severity, text);"
                        "INSERT INTO DIAGNOSTIC_EVENT VALUES(1, 'Not all is bad'), "
                        "(2, 'Not all CUDA events might have been collected.'), "
                        "(2, 'Not all OpenGL events might have been collected.');");
    assert_string_equal(setting_of(trace, "profiler"), "Nsight Systems 2026.1");
    assert_string_equal(setting_of(trace, "driver"), "550.54");
    assert_string_equal(setting_of(trace, "runtime"), "12.4");
    assert_string_equal(setting_of(trace, "capture_ns"), "500");
    assert_int_equal(trace->setting_count, 4);
    assert_int_equal(trace->job.recorder, RECORDER_NSYS);
    assert_int_equal(trace->repairs[REPAIR_LOST].count, 1);
    foreign_close(&file);
}

static void a_report_is_answered_with_the_command_that_exports_it(void **state)
{
    (void)state;
    static const char *const names[] = {"job.nsys-rep", "job.qdrep"};
    for (size_t i = 0; i < 2; i++) {
        struct foreign_file file = {0};
        foreign_read_as(&file, STR("\x01\x02\x03\x04"), names[i]);
        assert_int_equal(file.count, 0);
        assert_non_null(strstr(file.err.msg, "nsys export --type sqlite --include-blobs=true"));
        assert_non_null(strstr(file.err.msg, names[i] + 3));
        foreign_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_has_its_launch_and_shape),
        cmocka_unit_test(streams_of_several_contexts_are_several),
        cmocka_unit_test(missing_columns_and_tables_are_no_error),
        cmocka_unit_test(rows_that_make_no_sense_are_counted),
        cmocka_unit_test(text_in_place_of_all_times_is_refused_with_its_row),
        cmocka_unit_test(negative_times_are_kept),
        cmocka_unit_test(a_view_is_not_read),
        cmocka_unit_test(a_log_that_is_not_there_is_said),
        cmocka_unit_test(a_cut_export_gives_the_rows_before_the_cut),
        cmocka_unit_test(several_processes_are_several_traces),
        cmocka_unit_test(work_without_a_process_is_counted_once),
        cmocka_unit_test(other_calls_of_the_host_are_read),
        cmocka_unit_test(waits_are_of_the_kind_of_their_call),
        cmocka_unit_test(ranges_of_pytorch_are_operators),
        cmocka_unit_test(operators_may_have_no_sequence),
        cmocka_unit_test(damaged_sizes_are_left_out),
        cmocka_unit_test(ranges_have_domains_threads_and_ends),
        cmocka_unit_test(huge_texts_are_cut),
        cmocka_unit_test(devices_have_the_ordinals_of_the_process),
        cmocka_unit_test(counters_have_the_units_that_are_said),
        cmocka_unit_test(times_of_a_normalized_export_are_since_1970),
        cmocka_unit_test(only_the_rank_is_taken_from_the_environment),
        cmocka_unit_test(what_recorded_it_is_a_setting),
        cmocka_unit_test(a_report_is_answered_with_the_command_that_exports_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
