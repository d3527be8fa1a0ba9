// SPDX-License-Identifier: Apache-2.0
// Paraver traces: states become ranges, and what is damaged is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/ingest.h"
#include "ingest/source/source.h"

#define HEADER "#Paraver (21/01/2022 at 16:37):1000_ns:1(4):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"

static struct budget budget;

static struct trace *read_as(struct str text, struct figures *figures, struct err *err)
{
    struct format_found found;
    *err = (struct err){0};
    struct source *source = source_mem_open(text.at, text.len, 0, err);
    source = format_open(source, NULL, &found, err);
    found.figures = figures;
    return ingest_opened(source, &found, &budget, NULL, err);
}

static struct trace *read_good(struct str text)
{
    struct err err;
    struct trace *trace = read_as(text, NULL, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    return trace;
}

static void assert_refused(struct str text, const char *part)
{
    struct err err;
    assert_null(read_as(text, NULL, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    if (!strstr(err.msg, part))
        fail_msg("expected '%s' in: %s", part, err.msg);
}

static void states_are_ranges_of_threads(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(HEADER "1:1:1:2:1:100:300:1\r\n"
                                               "1:1:1:2:1:300:400:0\n"
                                               "1:1:1:2:1:400:-1:13\n"
                                               "1:0:1:1:3:0:5:77\n"));
    assert_int_equal(trace->event_count, 3); // idle is no range
    assert_int_equal(trace->track_count, 2);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        struct str name = trace_text(trace, trace->name[i]);
        assert_int_equal(trace->kind[i], EVENT_ANNOTATION);
        if (str_equal(name, STR("Group communication")))
            assert_int_equal(trace->dur_ns[i], 600); // to the end of the trace
        else
            assert_true(str_equal(name, STR("Running")) || str_equal(name, STR("State 77")));
    }
    trace_free(trace);
}

static void times_have_the_unit_of_the_header(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR("#Paraver (x):1000:0:1:1(1:0)\n1:0:1:1:1:2:5:1\n"));
    assert_int_equal(trace->begin_ns[0], 2000);
    assert_int_equal(trace->dur_ns[0], 3000);
    trace_free(trace);
    trace = read_good(STR("new format\n#PARAVER (x):9_ms:2(4,4):1:1(1:1)\n1:0:1:1:1:2:5:1\n"));
    assert_int_equal(trace->dur_ns[0], 3000000);
    trace_free(trace);
}

static void records_are_counted(void **state)
{
    (void)state;
    struct err err;
    struct arena arena = {0};
    struct figures figures = {.arena = &arena};
    struct buf json = {0};
    struct trace *trace =
        read_as(STR(HEADER "# a comment\n\n1:1:1:1:1:0:7:1\n1:1:1:1:1:7:9:8\n1:1:1:1:1:9:10:1\n"
                           "2:1:1:1:1:5:50:1:51:2:52\n2:1:1:1:1:5:50:0\n4:1:1\nnonsense\n2:1:x\n"
                           "3:1:1:1:1:1:2:1:1:2:1:3:4:4096:7\n"),
                &figures, &err);
    assert_non_null(trace);
    figures_json(&figures, &json);
    assert_string_equal(
        json.at, "{\"end\":1000,\"unit\":\"ns\",\"applications\":1,\"communicators\":1,"
                 "\"comments\":1,\"states\":3,\"event_lines\":2,\"event_pairs\":3,\"comms\":1,"
                 "\"comm_bytes\":4096,\"other\":3,\"state_time\":{\"1\":8,\"8\":2}}");
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE_OTHER].count, 1);
    buf_free(&json);
    trace_free(trace);
    arena_free(&arena);
}

static void damaged_numbers_are_no_ranges(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(
        HEADER "1:1:1:1:1:0:7:1\n1:1:1:1:1:-5:7:1\n1:1:1:1:1:0:9223372036854775807:1\n"
               "1:1:1:1:1:0:99999999999999999999:1\n1:1:1:1:1:9:3:1\n1:1:1:1:1:0:7:-1\n1:1:1\n"));
    assert_int_equal(trace->event_count, 2); // one of them from 9 to 3, without length
    trace_free(trace);
}

static void what_has_no_states_is_refused(void **state)
{
    (void)state;
    assert_refused(STR(HEADER "2:1:1:1:1:5:50:1\n"), "without states");
    assert_refused(STR(HEADER), "without any record");
    assert_refused(STR("LEVEL THREAD SIZE 1\nTHREAD 1.1.1\n\n" HEADER "2:1:1:1:1:5:50:1\n"),
                   "that its .pcf and .row name");
    assert_refused(STR("#Paraver (x):12\n"), "header");
    assert_refused(STR("#Paraver nothing\n"), "header");
    assert_refused(STR("#Paraver"), "header");
}

// As a .pcf and a .row come before the trace.
static void states_have_the_names_of_the_pcf(void **state)
{
    (void)state;
#define PCF                                                                            \
    "DEFAULT_OPTIONS\n\nLEVEL THREAD\n\nSTATES\n0    Idle\n1    Computing on host\n\n" \
    "STATES_COLOR\n1    {0,0,255}\n"
    struct trace *trace =
        read_good(STR(PCF "\nLEVEL THREAD SIZE 1\nTHREAD 1.1.1\n\n" HEADER "1:1:1:2:1:100:300:1\n"
                          "1:1:1:2:1:300:400:13\n"));
    assert_int_equal(trace->event_count, 2);
    bool found = false;
    for (uint32_t i = 0; i < trace->event_count; i++)
        found |= str_equal(trace_text(trace, trace->name[i]), STR("Computing on host"));
    assert_true(found);
    trace_free(trace);
    assert_refused(STR(PCF), "send the .prv");
}

#define GPU_NAMES                                                                        \
    "DEFAULT_OPTIONS\n\nLEVEL THREAD\n\nEVENT_TYPE\n0    9101    Kernel grid X\n\n"      \
    "EVENT_TYPE\n0    63000006    CUDA kernel\nVALUES\n0   End\n5   sgemm\n6   relu\n\n" \
    "EVENT_TYPE\n0    63000001    Memcpy/memset kind\nVALUES\n0   End\n1   HtoD\n\n"     \
    "LEVEL THREAD SIZE 3\nTHREAD 1.1.1\nCUDA-D1.S7-node\nTHREAD 1.2.1\n\n"
#define GPU_HEADER "#Paraver (21/01/2022 at 16:37):1000_ns:0:1:2(2:1,1:1)\n"

static void events_on_rows_of_devices_are_device_work(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(GPU_NAMES GPU_HEADER "2:0:1:1:2:100:63000006:5:9101:0\n"
                                           "2:0:1:1:2:180:63000006:0:9101:0\n"
                                           "2:0:1:1:2:200:63000001:1:9999:4\n"
                                           "2:0:1:1:2:230:63000001:0\n"
                                           "2:0:1:2:1:300:63000006:5\n" // a thread of the host
                                           "2:0:1:1:2:400:63000006:6\n"));
    assert_int_equal(trace->event_count, 2); // the last one does not end
    for (uint32_t i = 0; i < 2; i++) {
        bool kernel = trace->kind[i] == EVENT_KERNEL;
        assert_true(kernel || trace->kind[i] == EVENT_MEMCPY);
        assert_int_equal(trace->dur_ns[i], kernel ? 80 : 30);
        assert_true(
            str_equal(trace_text(trace, trace->name[i]), kernel ? STR("sgemm") : STR("HtoD")));
    }
    trace_free(trace);
}

static void work_that_its_name_says_is_a_copy_is_no_kernel(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR("DEFAULT_OPTIONS\n\nEVENT_TYPE\n0 63000006 CUDA kernel\nVALUES\n0 End\n5 sgemm\n"
            "6 [CUDA memcpy Host-to-Device]\n7 [CUDA memset]\n\n"
            "LEVEL THREAD SIZE 3\nTHREAD 1.1.1\nCUDA-D1.S7-node\nTHREAD 1.2.1\n\n" GPU_HEADER
            "2:0:1:1:2:100:63000006:5\n2:0:1:1:2:180:63000006:0\n"
            "2:0:1:1:2:200:63000006:6\n2:0:1:1:2:210:63000006:0\n"
            "2:0:1:1:2:220:63000006:7\n2:0:1:1:2:230:63000006:0\n"));
    static const enum event_kind kinds[] = {EVENT_KERNEL, EVENT_MEMCPY, EVENT_MEMSET};
    assert_int_equal(trace->event_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(trace->kind[i], kinds[i]);
    trace_free(trace);
}

// nsys2prv 0.6 calls them so, and has taken the brackets off the names of Nsight Systems.
static void copies_of_nsys2prv_are_no_kernels(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(
        "\n    DEFAULT_OPTIONS\n\nEVENT_TYPE\n0 63000006 CUDA kernel\nVALUES\n0 End\n5 sgemm\n\n"
        "EVENT_TYPE\n0 63000001 CUDA memcpy kernel\nVALUES\n0 End\n"
        "6 CUDA memcpy Host-to-Device\n7 CUDA memset\n\n"
        "EVENT_TYPE\n0 9101 Kernel GrdX\n0 9102 Kernel GrdY\n0 9106 Kernel BlkZ\n"
        "0 9107 Kernel Static Shared Memory\n0 9110 Kernel Registers/Thread\n"
        "0 63000002 Memcopy size\n\n"
        "LEVEL THREAD SIZE 3\nTHREAD 1.1.1\nCUDA-D1.S7-node\nTHREAD 1.2.1\n\n" GPU_HEADER
        "2:0:1:1:2:100:63000006:5:9101:128:9102:2:9106:3:9107:0:9110:96\n"
        "2:0:1:1:2:180:63000006:0:9101:0:9102:0:9106:0:9107:0:9110:0\n"
        "2:0:1:1:2:200:63000001:6:63000002:1048576\n2:0:1:1:2:210:63000001:0:63000002:0\n"
        "2:0:1:1:2:220:63000001:7:63000002:4\n2:0:1:1:2:230:63000001:0:63000002:0\n"));
    static const struct {
        enum event_kind kind;
        const char *name;
        struct launch_shape shape;
    } expected[] = {
        {EVENT_KERNEL, "sgemm", {{128, 2, 0}, {0, 0, 3}, 96, -1, VALUE_ABSENT, VALUE_ABSENT}},
        {EVENT_MEMCPY, "[CUDA memcpy Host-to-Device]", {{0}, {0}, -1, -1, VALUE_ABSENT, 1048576}},
        {EVENT_MEMSET, "[CUDA memset]", {{0}, {0}, -1, -1, VALUE_ABSENT, 4}},
    };
    assert_int_equal(trace->event_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(trace->kind[i], expected[i].kind);
        assert_string_equal(trace_text(trace, trace->name[i]).at, expected[i].name);
        assert_memory_equal(&trace->shapes[trace->device_args[trace->args[i]].shape],
                            &expected[i].shape, sizeof expected[i].shape);
    }
    trace_free(trace);
}

// A process counts its correlations by itself, and what is no call on a row of the host is not
// read.
static void calls_of_nsys2prv_have_their_correlations(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR("\n    DEFAULT_OPTIONS\n\nEVENT_TYPE\n0 63000000 CUDA library call\nVALUES\n0 End\n"
            "1 cudaLaunchKernel\n\nEVENT_TYPE\n0 63000006 CUDA kernel\nVALUES\n0 End\n5 sgemm\n\n"
            "EVENT_TYPE\n0 9200 Correlation ID\n\n"
            "LEVEL THREAD SIZE 5\nTHREAD 1.1.1\nTHREAD 1.1.2\nCUDA-D0.S7\nTHREAD 1.2.1\n"
            "CUDA-D0.S7\n\n#Paraver (28/11/2026 at 07:00):1000_ns:0:1:2:(3:1,2:1)\n"
            "2:0:1:1:3:100:63000006:5:9200:7\n2:0:1:1:3:180:63000006:0:9200:0\n"
            "2:0:1:2:2:100:63000006:5:9200:7\n2:0:1:2:2:180:63000006:0:9200:0\n"
            "2:0:1:1:2:10:63000000:1:9200:7\n2:0:1:1:2:20:63000000:0:9200:0\n"
            "2:0:1:2:1:10:63000000:1:9200:7\n2:0:1:2:1:20:63000000:0:9200:0\n"
            "2:0:1:1:1:10:63000006:5\n2:0:1:1:1:20:63000006:0\n"));
    assert_int_equal(trace->event_count, 4);
    assert_int_equal(trace->track_count, 4);
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        bool host = track->family == TRACK_HOST;
        bool second = host ? track->pid.number == 2
                           : str_equal(trace_text(trace, track->pid.text), STR("[task 2] 0"));
        uint32_t args = trace->args[track->first];
        int64_t correlation =
            host ? trace->launch_args[args].correlation : trace->device_args[args].correlation;
        assert_int_equal(trace->kind[track->first], host ? EVENT_RUNTIME : EVENT_KERNEL);
        assert_int_equal(track->tid.number, host ? (second ? 1 : 2) : 7);
        assert_int_equal(correlation, second ? INT64_C(2) << 32 | 7 : 7);
    }
    trace_free(trace);
}

// As Extrae names them; it has states of devices, too.
#define EXTRAE_NAMES(CALLS)                                                             \
    "DEFAULT_OPTIONS\n\nLEVEL THREAD\n\nEVENT_TYPE\n" CALLS                             \
    "EVENT_TYPE\n0    63000019    CUDA kernel\nVALUES\n0   End\n1 gemm\n\n"             \
    "EVENT_TYPE\n0    63000119    CUDA kernel source code line\nVALUES\n0   End\n1 12 " \
    "(gemm.cu)\n\n"
#define EXTRAE_ROW                                      \
    "LEVEL THREAD SIZE 4\nTHREAD 1.1.1\nCUDA-D1.S1-a\n" \
    "THREAD 1.2.1\nCUDA-D1.S1-b\n\n"
#define EXTRAE_HEADER "#Paraver (24/11/2025 at 09:15):1000_ns:0:1:2(2:1,2:2)\n"

static void the_line_of_a_kernel_is_no_kernel(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(EXTRAE_NAMES("0 63000001 CUDA library call\nVALUES\n0 End\n1 cudaLaunch\n\n")
                          EXTRAE_ROW EXTRAE_HEADER "1:1:1:1:2:100:180:1\n"
                                                   "2:0:1:1:2:100:63000019:1:63000119:1\n"
                                                   "2:0:1:1:2:180:63000019:0:63000119:0\n"
                                                   "2:0:1:1:2:950:63000001:1\n"));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->kind[0], EVENT_KERNEL);
    assert_int_equal(trace->dur_ns[0], 80);
    assert_string_equal(trace_text(trace, trace->name[0]).at, "gemm");
    trace_free(trace);
}

// Extrae to 4.1 records copies on a device's row as calls, later ones as transfers.
static void copies_of_extrae_are_device_work(void **state)
{
    (void)state;
#define COPY_LINES(TYPE)                                                            \
    EXTRAE_ROW EXTRAE_HEADER "1:1:1:1:2:200:230:17\n2:0:1:1:2:200:" TYPE ":7\n"     \
                             "2:0:1:1:2:230:" TYPE ":0\n2:0:1:1:2:300:63000001:8\n" \
                             "2:0:1:1:2:310:63000001:0\n2:0:1:1:2:320:63000001:4\n" \
                             "2:0:1:1:2:950:63000001:0\n"
#define CALLS "0 63000001 CUDA library call\nVALUES\n0 End\n4 cudaDeviceSynchronize\n"
    static const char *const texts[] = {
        EXTRAE_NAMES(CALLS "7 cudaMemcpyAsync\n8 cudaMemset\n\n") COPY_LINES("63000001"),
        EXTRAE_NAMES(CALLS "8 cudaMemset\n\nEVENT_TYPE\n0 63000020 CUDA memory transfer\n"
                           "VALUES\n0 End\n7 cudaMemcpyAsync\n\n") COPY_LINES("63000020")};
    for (size_t i = 0; i < 2; i++) {
        struct trace *trace = read_good(str_of(texts[i]));
        assert_int_equal(trace->event_count, 2);
        for (uint32_t e = 0; e < 2; e++) {
            bool copy = trace->kind[e] == EVENT_MEMCPY;
            assert_true(copy || trace->kind[e] == EVENT_MEMSET);
            assert_int_equal(trace->dur_ns[e], copy ? 30 : 10);
        }
        trace_free(trace);
    }
}

// Each process sees its GPU as the first.
static void each_task_has_its_devices(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(EXTRAE_NAMES("0 63000001 CUDA library call\n\n") EXTRAE_ROW EXTRAE_HEADER
                      "2:0:1:1:2:100:63000019:1\n2:0:1:2:2:150:63000019:1\n"
                      "2:0:1:1:2:180:63000019:0\n2:0:1:2:2:950:63000019:0\n"));
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace->track_count, 2);
    assert_string_equal(trace_text(trace, trace->tracks[0].pid.text).at, "[task 1] 1");
    assert_string_equal(trace_text(trace, trace->tracks[1].pid.text).at, "[task 2] 1");
    assert_int_equal(trace->dur_ns[0], 80);
    assert_int_equal(trace->dur_ns[1], 800);
    trace_free(trace);
}

static void a_device_may_be_of_hip(void **state)
{
    (void)state;
    static const char *const rows[] = {"HIP-D2.S3-node", "GPU-D2.S3-node"};
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%sLEVEL THREAD SIZE 1\n%s\n\n%s",
                 EXTRAE_NAMES("0 63500001 HIP library call\n\n"), rows[i],
                 "#Paraver (x):1000_ns:0:1:1(1:1)\n2:0:1:1:1:100:63000019:1\n"
                 "2:0:1:1:1:980:63000019:0\n");
        struct trace *trace = read_good(str_of(text));
        assert_int_equal(trace->event_count, 1);
        assert_int_equal(trace->tracks[0].pid.number, 2);
        assert_int_equal(trace->tracks[0].tid.number, 3);
        trace_free(trace);
    }
}

static void a_trace_that_ends_in_a_record_is_cut(void **state)
{
    (void)state;
    const struct {
        struct str text;
        bool cut;
    } cases[] = {
        {STR(HEADER "1:1:1:1:1:0:950:1\n"), false},
        {STR(HEADER "1:1:1:1:1:0:950:1"), false},
        {STR(HEADER "1:1:1:1:1:0:7:1\n2:1:1:1:1:980:5:5\n"), false},
        {STR(HEADER "1:1:1:1:1:0:7:1\n"), false}, // the header's 1000 need not be reached
        {STR(HEADER "1:1:1:1:1:0:7:1\n2:1:1:1:1:980:5:5:6"), true},
        {STR(HEADER "1:1:1:1:1:0:950:1\n1:1:1:1:1:95"), true},
        {STR(HEADER "1:1:1:1:1:0:950:1\n1:1:1:1:1:9\0\0\0\0"), true},
        {STR(HEADER "1:1:1:1:1:0:950:1\n\0\0\0\0"), true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *trace = read_good(cases[i].text);
        assert_int_equal(trace->repairs[REPAIR_TRUNCATED].count, cases[i].cut);
        trace_free(trace);
    }
}

// Its three versions write a colon before the threads, and the newer ones indent a .pcf.
static void what_nsys2prv_writes_is_read(void **state)
{
    (void)state;
    static const char *const starts[] = {"\n", "\n    ", "\r\n\t", ""};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s", starts[i], GPU_NAMES,
                 "#Paraver (21/01/2022 at 16:37):1000_ns:0:1:2:(2:1,1:1)\n"
                 "2:0:1:1:2:100:63000006:5\n2:0:1:1:2:180:63000006:0\n");
        struct trace *trace = read_good(str_of(text));
        assert_int_equal(trace->event_count, 1);
        assert_int_equal(trace->kind[0], EVENT_KERNEL);
        trace_free(trace);
    }
}

static void indented_names_of_states_are_read(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR("\n    DEFAULT_OPTIONS\n\n    STATES\n    0    Idle\n"
                                        "    1    Computing\n\n" HEADER "1:1:1:2:1:1:3:1\n"));
    assert_int_equal(trace->event_count, 1);
    assert_true(str_equal(trace_text(trace, trace->name[0]), STR("Computing")));
    trace_free(trace);
}

static void a_row_without_its_pcf_comes_before_the_trace(void **state)
{
    (void)state;
#define ROW_FILE "LEVEL NODE SIZE 1\nnode1\n\nLEVEL THREAD SIZE 1\nTHREAD 1.1.1\n\n"
    struct trace *trace = read_good(STR(ROW_FILE HEADER "1:1:1:2:1:1:3:1\n"));
    assert_int_equal(trace->event_count, 1);
    trace_free(trace);
    assert_refused(STR(ROW_FILE), "send the .prv");
}

static void a_thread_beyond_those_of_its_task_is_of_no_other(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(GPU_NAMES "#Paraver (21/01/2022 at 16:37):1000_ns:0:1:2(1:1,2:1)\n"
                                "2:0:1:2:1:100:63000006:5\n"
                                "2:0:1:2:1:180:63000006:0\n"
                                "2:0:1:1:2:300:63000006:5\n"
                                "2:0:1:1:2:400:63000006:0\n"));
    assert_int_equal(trace->event_count, 1);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_on_rows_of_devices_are_device_work),
        cmocka_unit_test(work_that_its_name_says_is_a_copy_is_no_kernel),
        cmocka_unit_test(copies_of_nsys2prv_are_no_kernels),
        cmocka_unit_test(calls_of_nsys2prv_have_their_correlations),
        cmocka_unit_test(the_line_of_a_kernel_is_no_kernel),
        cmocka_unit_test(copies_of_extrae_are_device_work),
        cmocka_unit_test(each_task_has_its_devices),
        cmocka_unit_test(a_device_may_be_of_hip),
        cmocka_unit_test(a_trace_that_ends_in_a_record_is_cut),
        cmocka_unit_test(what_nsys2prv_writes_is_read),
        cmocka_unit_test(indented_names_of_states_are_read),
        cmocka_unit_test(a_row_without_its_pcf_comes_before_the_trace),
        cmocka_unit_test(a_thread_beyond_those_of_its_task_is_of_no_other),
        cmocka_unit_test(states_have_the_names_of_the_pcf),
        cmocka_unit_test(states_are_ranges_of_threads),
        cmocka_unit_test(times_have_the_unit_of_the_header),
        cmocka_unit_test(records_are_counted),
        cmocka_unit_test(damaged_numbers_are_no_ranges),
        cmocka_unit_test(what_has_no_states_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
