// SPDX-License-Identifier: Apache-2.0
// rocprofv3's JSON: what records become, and what is done about those that make no sense.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rocm_hand.h"

#define PROCESS(pid, records) PROCESS_WITH(pid, "", records)
#define PROCESS_WITH(pid, counted, records)                                                     \
    "{\"metadata\":{\"pid\":" pid ",\"command\":[\"secret\"]},"                                 \
    "\"agents\":[{\"id\":{\"handle\":7},\"type\":1,\"logical_node_type_id\":0},"                \
    "{\"id\":{\"handle\":9},\"type\":2,\"logical_node_type_id\":3,\"cu_count\":304,"            \
    "\"name\":\"gfx942\",\"product_name\":\"AMD Instinct MI300X\"}],"                           \
    "\"counters\":[{\"agent_id\":{\"handle\":9},\"id\":{\"handle\":31},\"name\":\"SQ_WAVES\"}," \
    "{\"agent_id\":{\"handle\":9},\"id\":{\"handle\":32},\"name\":\"GRBM_COUNT\"}],"            \
    "\"strings\":{\"callback_records\":[],\"buffer_records\":["                                 \
    "{\"kind\":\"NONE\",\"operations\":[\"NONE\"]},"                                            \
    "{\"kind\":\"MEMORY_COPY\",\"operations\":[\"NONE\",\"MEMORY_COPY_HOST_TO_DEVICE\"]},"      \
    "{\"kind\":\"HIP_RUNTIME_API\",\"operations\":[\"hipLaunchKernel\"]},"                      \
    "{\"kind\":\"MARKER_CORE_RANGE_API\",\"operations\":[\"roctxThreadRangeA\"]},"              \
    "{\"kind\":\"MEMORY_ALLOCATION\",\"operations\":[\"MEMORY_ALLOCATION_NONE\","               \
    "\"MEMORY_ALLOCATION_ALLOCATE\",\"MEMORY_ALLOCATION_FREE\"]}],"                             \
    "\"marker_api\":[{\"key\":5,\"value\":\"train \\\"step\\\" 1\"}]},"                         \
    "\"kernel_symbols\":[{\"kernel_id\":1,\"kernel_name\":\"_Z4gemm.kd\","                      \
    "\"formatted_kernel_name\":\"gemm(float*)\"},"                                              \
    "{\"kernel_id\":2,\"kernel_name\":\"plain.kd\",\"formatted_kernel_name\":\"\"}],"           \
    "\"callback_records\":{\"counter_collection\":[" counted "]},"                              \
    "\"buffer_records\":{" records "}}"
#define FILE_OF(processes) "{\"rocprofiler-sdk-tool\":[" processes "]}"

#define KERNEL(kernel, start, end)                                                                \
    "{\"size\":184,\"kind\":11,\"operation\":2,\"thread_id\":8,\"correlation_id\":{\"internal\":" \
    "4,"                                                                                          \
    "\"external\":0},\"start_timestamp\":" start ",\"end_timestamp\":" end                        \
    ",\"dispatch_info\":{\"size\":72,\"agent_id\":{\"handle\":9},\"queue_id\":{\"handle\":2},"    \
    "\"kernel_id\":" kernel                                                                       \
    ",\"dispatch_id\":98765432,\"private_segment_size\":0,\"group_segment_size\":512,"            \
    "\"workgroup_size\":{\"x\":64,\"y\":1,\"z\":1},\"grid_size\":{\"x\":130,\"y\":2,\"z\":1}},"   \
    "\"stream_id\":{\"handle\":77}}"
#define RECORD(kind, correlation, rest)                                                     \
    "{\"kind\":" kind ",\"operation\":0,\"correlation_id\":{\"internal\":" correlation "}," \
    "\"start_timestamp\":10,\"end_timestamp\":20,\"thread_id\":8" rest "}"

static uint32_t event_of(const struct trace *trace, enum event_kind kind)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == kind)
            return i;
    fail_msg("no such event");
    return 0;
}

static void assert_name(const struct trace *trace, uint32_t event, const char *name)
{
    assert_true(str_equal(trace_text(trace, trace->name[event]), str_of(name)));
}

static void a_kernel_has_its_name_device_and_shape(void **state)
{
    (void)state;
    struct trace *trace = read_good(
        STR(FILE_OF(PROCESS("40", "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "," KERNEL(
                                      "2", "200", "260") "," KERNEL("3", "300", "301") "]"))));
    const struct device_args *args = &trace->device_args[trace->args[0]];
    const struct launch_shape *shape = &trace->shapes[args->shape];
    assert_int_equal(trace->event_count, 3);
    assert_name(trace, 0, "gemm(float*)");
    assert_name(trace, 1, "plain");
    assert_name(trace, 2, "3"); // no symbol
    assert_int_equal(trace->begin_ns[0], 100);
    assert_int_equal(trace->dur_ns[0], 50);
    assert_int_equal(args->correlation, 4);
    assert_int_equal(shape->grid[0], 3); // of 130 work items
    assert_int_equal(shape->grid[1], 2);
    assert_int_equal(shape->block[0], 64);
    assert_int_equal(shape->shared_bytes, 512);
    assert_int_equal(trace->tracks[0].pid.number, 3);
    assert_int_equal(trace->tracks[0].tid.number, 77);
    assert_int_equal(trace->device_count, 1);
    assert_int_equal(trace->devices[0].multiprocessors, 304);
    assert_true(str_equal(trace_text(trace, trace->devices[0].name), STR("AMD Instinct MI300X")));
    assert_true(trace->job.recorder == RECORDER_ROCM);
    trace_free(trace);
}

static void calls_markers_and_copies_have_their_texts(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(FILE_OF(PROCESS(
        "40",
        "\"hip_api\":[" RECORD(
            "2", "4",
            "") "],\"scratch_memory\":[{\"a\":{\"b\":1}}],"
                "\"marker_api\":[" RECORD(
                    "3", "5",
                    "") "],\"memory_copy\":["
                        "{\"kind\":1,\"operation\":1,\"correlation_id\":{\"internal\":6},\"start_"
                        "timestamp\":30,"
                        "\"end_timestamp\":40,\"dst_agent_id\":{\"handle\":9},\"src_agent_id\":{"
                        "\"handle\":7},"
                        "\"bytes\":4096},"
                        "{\"kind\":1,\"operation\":1,\"start_timestamp\":30,\"end_timestamp\":40,"
                        "\"dst_agent_id\":{\"handle\":7},\"src_agent_id\":{\"handle\":7}}]"))));
    uint32_t call = event_of(trace, EVENT_RUNTIME), copy = event_of(trace, EVENT_MEMCPY);
    assert_int_equal(trace->event_count, 3); // the copy from host to host is left out
    assert_name(trace, call, "hipLaunchKernel");
    assert_int_equal(trace->launch_args[trace->args[call]].correlation, 4);
    assert_name(trace, event_of(trace, EVENT_ANNOTATION), "train \"step\" 1");
    assert_name(trace, copy, "MEMORY_COPY_HOST_TO_DEVICE");
    assert_int_equal(trace->shapes[trace->device_args[trace->args[copy]].shape].bytes, 4096);
    trace_free(trace);
}

#define COPY(to, from, start, end)                                                     \
    "{\"kind\":1,\"operation\":1,\"start_timestamp\":" start ",\"end_timestamp\":" end \
    ",\"dst_agent_id\":{\"handle\":" to "},\"src_agent_id\":{\"handle\":" from "},\"bytes\":4096"

#define OF_STREAM(stream) ",\"stream_id\":{\"handle\":" stream "}}"
#define ON(queue, stream, start)                                                       \
    "{\"start_timestamp\":" start ",\"end_timestamp\":" start                          \
    "5,\"dispatch_info\":{\"agent_id\":{\"handle\":9},\"queue_id\":{\"handle\":" queue \
    "}}" OF_STREAM(stream)

static void assert_rows(const char *records, const char *const *rows, uint32_t count)
{
    char file[8192];
    snprintf(file, sizeof file, FILE_OF(PROCESS("40", "%s")), records);
    struct trace *trace = read_good(str_of(file));
    assert_int_equal(trace->track_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct label *row = &trace->tracks[i].tid;
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)row->number);
        assert_string_equal(row->text ? trace_text(trace, row->text).at : number, rows[i]);
    }
    trace_free(trace);
}

// Whatever queues it takes.
static void work_of_a_stream_is_one_row(void **state)
{
    (void)state;
    static const char *const rows[] = {"3", "4"};
    assert_rows("\"kernel_dispatch\":[" ON("1", "3", "100") "," ON("2", "3", "200") "," ON(
                    "1", "4", "300") "],\"memory_copy\":[" COPY("9", "7", "30", "60")
                    OF_STREAM("3") "," COPY("9", "7", "40", "50") OF_STREAM("4") "]",
                rows, 2);
}

static void copies_on_the_default_stream_follow_its_kernels(void **state)
{
    (void)state;
    static const char *const rows[] = {"queue 2", "1"};
    assert_rows("\"kernel_dispatch\":[" ON("2", "0", "100") "," ON(
                    "1", "1", "200") "],\"memory_copy\":[" COPY("9", "7", "30", "60")
                    OF_STREAM("0") "]",
                rows, 2);
}

// They may overlap, which events of a row do not.
static void copies_of_an_unknown_stream_have_a_row_by_direction(void **state)
{
    (void)state;
    static const char *const rows[] = {"queue 2", "queue 1", "copies HtoD"};
    assert_rows("\"kernel_dispatch\":[" ON("2", "0", "100") "," ON(
                    "1", "0", "200") "],\"memory_copy\":[" COPY("9", "7", "30", "60")
                    OF_STREAM("0") "," COPY("9", "7", "70", "80") "}]",
                rows, 3);
}

#define COUNT(counter, value) "{\"counter_id\":{\"handle\":" counter "},\"value\":" value "}"
#define COUNTED(start, end, records)                                                             \
    "{\"thread_id\":8,\"dispatch_data\":{\"size\":128,\"correlation_id\":{\"internal\":4},"      \
    "\"start_timestamp\":" start ",\"end_timestamp\":" end ",\"dispatch_info\":{\"size\":72,"    \
    "\"agent_id\":{\"handle\":9},\"queue_id\":{\"handle\":2},\"kernel_id\":1,\"dispatch_id\":"   \
    "98765432,"                                                                                  \
    "\"workgroup_size\":{\"x\":64,\"y\":1,\"z\":1},\"grid_size\":{\"x\":130,\"y\":2,\"z\":1}}}," \
    "\"records\":[" records "],\"kernel_rename_val\":0}"

static double value_of(const struct trace *trace, const char *name)
{
    for (uint32_t i = 0; i < trace->counter_count; i++) {
        const struct counter *counter = &trace->counters[i];
        if (!str_equal(trace_text(trace, counter->name), str_of(name)))
            continue;
        assert_int_equal(counter->pid, 3);
        assert_int_equal(counter->count, 1);
        assert_int_equal(trace->counter_samples[counter->first].time_ns, 100);
        return trace->counter_samples[counter->first].value;
    }
    fail_msg("no counter %s", name);
    return 0;
}

#define WAVES      COUNT("31", "1000.0")
#define MORE_WAVES COUNT("31", "24.0")
#define CYCLES     COUNT("32", "7.5")
#define NO_CYCLES  COUNT("32", "\"many\"")
#define COUNTS     COUNTED("100", "150", WAVES "," CYCLES "," MORE_WAVES ",{},3," NO_CYCLES)

// With rocprofv3 --pmc; of one with --kernel-trace, too, each kernel is there twice.
static void a_kernel_with_counters_is_one_kernel(void **state)
{
    (void)state;
    static const char *const files[] = {
        FILE_OF(PROCESS_WITH("40", COUNTS, "")),
        FILE_OF(PROCESS_WITH("40", COUNTS, "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "]")),
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct trace *trace = read_good(str_of(files[i]));
        const struct device_args *args = &trace->device_args[trace->args[0]];
        assert_int_equal(trace->event_count, 1);
        assert_name(trace, 0, "gemm(float*)");
        assert_int_equal(args->correlation, 4);
        assert_int_equal(trace->shapes[args->shape].grid[0], 3);
        assert_int_equal(trace->counter_count, 2);
        assert_true(value_of(trace, "SQ_WAVES") == 1024);
        assert_true(value_of(trace, "GRBM_COUNT") == 7.5);
        trace_free(trace);
    }
}

// As rocprofv3 before ROCm 6.3 writes them.
static void counters_without_times_are_counted(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(FILE_OF(PROCESS_WITH(
        "40",
        "{\"dispatch_data\":{\"dispatch_info\":{\"dispatch_id\":98765432}},\"records\":[" COUNT(
            "31", "2.0") "]}",
        "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "]"))));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->counter_count, 0);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 1);
    trace_free(trace);
}

#define ALLOCATION(operation, agent, address, size, start)                                    \
    "{\"kind\":4,\"operation\":" operation ",\"start_timestamp\":" start                      \
    ",\"end_timestamp\":" start ",\"agent_id\":{\"handle\":" agent "},\"address\":\"" address \
    "\",\"allocation_size\":" size "}"

#define BLOCK       "0x00007f0000001000"
#define OTHER_BLOCK "0x00007f0000002000"
#define TAKEN       ALLOCATION("1", "9", BLOCK, "4096", "10")
#define OF_CPU      ALLOCATION("1", "7", OTHER_BLOCK, "64", "11")
#define OF_CPU_BACK ALLOCATION("2", "0", OTHER_BLOCK, "0", "12")
#define BACK        ALLOCATION("2", "0", BLOCK, "0", "13")
#define BACK_AGAIN  ALLOCATION("2", "0", BLOCK, "0", "14")

static void allocations_of_gpus_are_read(void **state)
{
    (void)state;
    struct trace *trace =
        read_good(STR(FILE_OF(PROCESS("40", "\"memory_allocation\":[" TAKEN "," OF_CPU
                                            "," OF_CPU_BACK "," BACK "," BACK_AGAIN "]"))));
    assert_int_equal(trace->event_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(trace->begin_ns[i], i ? 13 : 10);
        assert_int_equal(trace->memory_args[i].bytes, i ? -4096 : 4096);
        assert_int_equal(trace->memory_args[i].device, 3);
    }
    trace_free(trace);
}

static void kernels_from_0_to_0_have_no_times(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(FILE_OF(PROCESS(
        "40", "\"kernel_dispatch\":[" KERNEL("1", "0", "0") "," KERNEL("1", "100", "150") "]"))));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->begin_ns[0], 100);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 1);
    trace_free(trace);
}

static void processes_have_correlations_of_their_own(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(
        FILE_OF(PROCESS("40", "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "]") "," PROCESS(
            "41", "\"kernel_dispatch\":[" KERNEL("1", "200", "250") "]"))));
    assert_int_equal(trace->event_count, 2);
    assert_int_not_equal(trace->device_args[trace->args[0]].correlation,
                         trace->device_args[trace->args[1]].correlation);
    assert_int_equal(trace->repairs[REPAIR_SECOND_LIST].count, 1);
    trace_free(trace);
}

static void records_that_make_no_sense_are_counted(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(FILE_OF(
        PROCESS("40", "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "," KERNEL(
                          "1", "\"x\"", "150") ","
                                               "{},3,[],\"a\"," KERNEL("1", "99999999999999999999",
                                                                       "1") "],\"hip_api\":7"))));
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 3);
    trace_free(trace);
}

static void members_of_another_kind_are_left_out(void **state)
{
    (void)state;
    struct trace *trace = read_good(STR(
        "{\"rocprofiler-sdk-tool\":[{\"metadata\":[1],\"strings\":[{}],\"agents\":{\"a\":1},"
        "\"kernel_symbols\":3,\"buffer_records\":{\"kernel_dispatch\":[" KERNEL("1", "100",
                                                                                "150") "]}},7]}"));
    assert_int_equal(trace->event_count, 1);
    assert_name(trace, 0, "1");
    assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
    trace_free(trace);
}

// Containers of any size where numbers belong move the window under the names of their members.
static void large_values_do_not_outlive_their_place(void **state)
{
    (void)state;
    struct buf text = {0}, large = {0};
    for (int i = 0; i < 100000; i++)
        buf_puts(&large, i ? ",{\"x\":[1]}" : "[{\"x\":[1]}");
    buf_putc(&large, ']');
    buf_puts(&text, "{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{\"kernel_dispatch\":[{"
                    "\"start_timestamp\":1,\"end_timestamp\":3,\"correlation_id\":{\"internal\":");
    buf_add(&text, large.at, large.len);
    buf_puts(&text, ",\"external\":1},\"dispatch_info\":{\"grid_size\":{\"x\":");
    buf_add(&text, large.at, large.len);
    buf_puts(&text, ",\"y\":2},\"agent_id\":");
    buf_add(&text, large.at, large.len);
    buf_puts(&text, "}}]}}]}");
    struct trace *trace = read_good((struct str){text.at, text.len});
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->dur_ns[0], 2);
    assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
    trace_free(trace);
    buf_free(&text);
    buf_free(&large);
}

static void a_cut_file_gives_the_records_before_the_cut(void **state)
{
    (void)state;
    struct str text =
        STR(FILE_OF(PROCESS("40", "\"kernel_dispatch\":[" KERNEL("1", "100", "150") "," KERNEL(
                                      "1", "200", "250") "]")));
    uint32_t most = 0;
    for (size_t len = 1; len < text.len; len++) {
        struct err err;
        struct trace *trace = read_text((struct str){text.at, len}, &err);
        if (!trace) {
            assert_int_equal(err.code, ERR_FORMAT);
            continue;
        }
        assert_int_equal(trace->repairs[REPAIR_TRUNCATED].count, 1);
        assert_true(trace->event_count >= most);
        most = trace->event_count;
        trace_free(trace);
    }
    assert_int_equal(most, 2);
}

static void a_file_without_records_is_refused(void **state)
{
    (void)state;
    struct err err;
    assert_null(read_text(STR(FILE_OF(PROCESS("40", ""))), &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.msg, "--kernel-trace"));
}

// As jq -S writes it: kernels would have numbers for names, and no category.
static void names_after_the_records_are_refused(void **state)
{
    (void)state;
    struct err err;
    assert_null(read_text(STR(FILE_OF("{\"buffer_records\":{\"kernel_dispatch\":[" KERNEL(
                              "1", "100", "150") "]},\"kernel_symbols\":[{\"kernel_id\":1,"
                                                 "\"formatted_kernel_name\":\"gemm\"}]}")),
                          &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(strstr(err.msg, "kernel_symbols after the records"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_after_the_records_are_refused),
        cmocka_unit_test(a_kernel_has_its_name_device_and_shape),
        cmocka_unit_test(work_of_a_stream_is_one_row),
        cmocka_unit_test(copies_on_the_default_stream_follow_its_kernels),
        cmocka_unit_test(copies_of_an_unknown_stream_have_a_row_by_direction),
        cmocka_unit_test(a_kernel_with_counters_is_one_kernel),
        cmocka_unit_test(counters_without_times_are_counted),
        cmocka_unit_test(allocations_of_gpus_are_read),
        cmocka_unit_test(kernels_from_0_to_0_have_no_times),
        cmocka_unit_test(calls_markers_and_copies_have_their_texts),
        cmocka_unit_test(processes_have_correlations_of_their_own),
        cmocka_unit_test(records_that_make_no_sense_are_counted),
        cmocka_unit_test(members_of_another_kind_are_left_out),
        cmocka_unit_test(large_values_do_not_outlive_their_place),
        cmocka_unit_test(a_cut_file_gives_the_records_before_the_cut),
        cmocka_unit_test(a_file_without_records_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
