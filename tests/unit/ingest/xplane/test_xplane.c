// SPDX-License-Identifier: Apache-2.0
// XPlane profiles made by hand: what is read of planes, lines and events, and that no bytes do
// harm.
#include "tests/unit/ingest/xplane/xplane_bytes.h"

#include "tests/unit/compress.h"

static void put_names(struct buf *plane)
{
    put_name(plane, 4, 1, "gemm");
    put_name(plane, 4, 2, "hipModuleLaunchKernel");
    put_name(plane, 4, 3, "Thunk:dot");
    put_name(plane, 4, 4, "MemcpyH2D");
    put_name(plane, 5, 9, "correlation_id");
}

static void put_profile(struct buf *out)
{
    struct buf plane = {0};
    put_bytes(&plane, 2, STR("/host:CPU"));
    put_line(&plane, "main", (const struct event[]){{3, 0, 9000000, 0}, {2, 1000000, 2000000, 5}},
             2);
    put_names(&plane);
    put_message(out, 1, &plane);
    put_number(&plane, 1, 3);
    put_bytes(&plane, 2, STR("/device:GPU:2"));
    put_line(&plane, "Stream #7(Kernel)",
             (const struct event[]){{1, 10000500, 1000, 5}, {1, 10001500, 1000, 5}}, 2);
    put_line(&plane, "Stream #8(MemcpyH2D)", (const struct event[]){{4, 20000000, 3000, 0}}, 1);
    put_line(&plane, "XLA Modules", (const struct event[]){{1, 0, 99000000, 0}}, 1);
    put_names(&plane);
    put_message(out, 1, &plane);
}

static void streams_are_device_work_and_derived_lines_are_not(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct budget budget = {0};
    struct err err = {0};
    put_profile(&bytes);
    struct trace *trace = read_bytes((struct str){bytes.at, bytes.len}, &budget, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, 5);
    assert_int_equal(trace->job.recorder, RECORDER_XLA);
    assert_int_equal(trace->job.base_ns, VALUE_ABSENT);
    uint32_t first = find(trace, EVENT_KERNEL, 0), second = find(trace, EVENT_KERNEL, 1);
    assert_event(trace, first, "gemm", 11000, 1);
    assert_event(trace, second, "gemm", 11001, 1); // without a gap, as in picoseconds
    assert_event(trace, find(trace, EVENT_MEMCPY, 0), "MemcpyH2D", 21000, 3);
    assert_event(trace, find(trace, EVENT_CPU_OP, 0), "Thunk:dot", 1000, 9000);
    uint32_t call = find(trace, EVENT_RUNTIME, 0);
    assert_event(trace, call, "hipModuleLaunchKernel", 2000, 2000);
    assert_int_equal(trace->launch_args[trace->args[call]].correlation, 5);
    assert_int_equal(trace->device_args[trace->args[first]].correlation, 5);
    trace_free(trace);
    buf_free(&bytes);
}

// As XLA names the stream on which JAX computes on NVIDIA's GPUs.
static void work_of_a_mixed_stream_is_of_the_kind_of_its_name(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0};
    struct budget budget = {0};
    struct err err = {0};
    put_bytes(&plane, 2, STR("/device:GPU:0"));
    put_line(&plane, "Stream #14(MemoryAlloc,MemcpyD2D,Memset,Compute)",
             (const struct event[]){{1, 0, 5000, 1},
                                    {4, 6000, 1000, 2},
                                    {5, 8000, 1000, 3},
                                    {6, 9000, 0, 4},
                                    {99, 10000, 1000, 5}},
             5);
    put_line(&plane, "Stream #268435457(UnifiedMemory)",
             (const struct event[]){{7, 20000, 1000, 6}, {8, 20000, 1000, 7}}, 2);
    put_line(&plane, "Stream #0(MemoryResidency)", (const struct event[]){{9, 0, 90000, 8}}, 1);
    put_names(&plane);
    put_name(&plane, 4, 5, "Memset 3");
    put_name(&plane, 4, 6, "MemoryAlloc");
    put_name(&plane, 4, 7, "UM_BYTES_TRANSFER_HTOD");
    put_name(&plane, 4, 8, "UM_GPU_PAGE_FAULT");
    put_name(&plane, 4, 9, "Memory Device");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_bytes((struct str){bytes.at, bytes.len}, &budget, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, 5);
    assert_event(trace, find(trace, EVENT_KERNEL, 0), "gemm", 1000, 5);
    assert_event(trace, find(trace, EVENT_MEMCPY, 0), "MemcpyH2D", 1006, 1);
    assert_event(trace, find(trace, EVENT_MEMCPY, 1), "UM_BYTES_TRANSFER_HTOD", 1020, 1);
    assert_event(trace, find(trace, EVENT_MEMSET, 0), "Memset 3", 1008, 1);
    assert_event(trace, find(trace, EVENT_KERNEL, 1), "event 99", 1010, 1); // without a name
    trace_free(trace);
    buf_free(&bytes);
}

// As jax.profiler.StepTraceAnnotation("train", step_num=4) writes it.
static void a_numbered_step_of_jax_is_a_step(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = {0}, message = {0}, stat = {0};
    struct budget budget = {0};
    struct err err = {0};
    put_number(&message, 1, 1);
    put_number(&message, 2, 5000000);
    put_number(&message, 3, 8000000);
    put_number(&stat, 1, 6);
    put_number(&stat, 3, 4);
    put_message(&message, 4, &stat);
    put_bytes(&line, 2, STR("python3"));
    put_message(&line, 4, &message);
    put_bytes(&plane, 2, STR("/host:CPU"));
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "train");
    put_name(&plane, 5, 6, "step_num");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_bytes((struct str){bytes.at, bytes.len}, &budget, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, 2);
    assert_event(trace, find(trace, EVENT_ANNOTATION, 0), "train", 5000, 8000);
    assert_event(trace, find(trace, EVENT_ANNOTATION, 1), "ProfilerStep#4", 5000, 8000);
    trace_free(trace);
    buf_free(&bytes);
}

static uint32_t count_of(const struct trace *trace, enum event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        count += trace->kind[i] == kind;
    return count;
}

static const struct launch_shape *shape_of(const struct trace *trace, uint32_t event)
{
    return &trace->shapes[trace->device_args[trace->args[event]].shape];
}

static int64_t bytes_of(const struct trace *trace, uint32_t event)
{
    return shape_of(trace, event)->bytes;
}

// The profiler of XLA names a stream by all kinds of events on it, and XLA has one stream for all.
static void events_of_one_stream_are_what_each_says(void **state)
{
    (void)state;
    static const char *const names[] = {"Stream #13(MemcpyD2H,Memset,MemcpyD2D,Compute)",
                                        "Stream #13(Compute,Memset)", "Stream #13"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf bytes = {0}, plane = {0}, line = line_named(names[i], 1000);
        put_bytes(&plane, 2, STR("/device:GPU:0"));
        put_stated(&line, (struct event){1, 0, 5000, 0}, 1, "regs:168 grid:132,1,1");
        put_stated(&line, (struct event){2, 5000, 5000, 0}, 2, "kind_src:device size:4");
        put_stated(&line, (struct event){3, 10000, 5000, 0}, 3, "kind:device num_bytes:8");
        put_stated(&line, (struct event){4, 15000, 0, 0}, 4, "kind:device num_bytes:8");
        put_stated(&line, (struct event){5, 20000, 5000, 0}, 5, "");
        put_stated(&line, (struct event){2, 25000, 5000, 0}, 0, "");
        put_stated(&line, (struct event){6, 30000, 5000, 0}, 0, "");
        put_message(&plane, 3, &line);
        put_name(&plane, 4, 1, "Memcpy_like_kernel");
        put_name(&plane, 4, 2, "MemcpyD2D");
        put_name(&plane, 4, 3, "fill");
        put_name(&plane, 4, 4, "MemoryAlloc");
        put_name(&plane, 4, 5, "graph");
        put_name(&plane, 4, 6, "fusion");
        put_name(&plane, 5, 1, "kernel_details");
        put_name(&plane, 5, 2, "memcpy_details");
        put_name(&plane, 5, 3, "Memset_details");
        put_name(&plane, 5, 4, "memalloc_details");
        put_name(&plane, 5, 5, "cuda_graph_exec_id");
        put_message(&bytes, 1, &plane);
        struct trace *trace = read_good(&bytes);
        assert_int_equal(trace->event_count, 6); // an allocation is no work
        assert_int_equal(count_of(trace, EVENT_KERNEL), 2);
        assert_int_equal(count_of(trace, EVENT_MEMCPY), 2);
        assert_int_equal(count_of(trace, EVENT_MEMSET), 1);
        assert_int_equal(count_of(trace, EVENT_GRAPH), 1);
        assert_event(trace, find(trace, EVENT_KERNEL, 0), "Memcpy_like_kernel", 1000, 5);
        assert_int_equal(bytes_of(trace, find(trace, EVENT_MEMCPY, 0)), 4);
        assert_int_equal(bytes_of(trace, find(trace, EVENT_MEMCPY, 1)), VALUE_ABSENT);
        assert_int_equal(bytes_of(trace, find(trace, EVENT_MEMSET, 0)), 8);
        trace_free(trace);
    }
}

static void put_device(struct buf *bytes, const char *name, const char *row)
{
    struct buf plane = {0}, line = line_named(row, 1000);
    put_bytes(&plane, 2, str_of(name));
    put_stated(&line, (struct event){1, 0, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "fusion");
    put_message(bytes, 1, &plane);
}

// Those of processes that were profiled with it have the same numbers.
// As XLA writes them for CUDA and for ROCm, which has no registers, and no occupancy but 0.
static void kernels_say_how_they_were_launched(void **state)
{
    (void)state;
    static const struct {
        const char *details;
        struct launch_shape shape;
    } cases[] = {
        {"regs:168 static_shared:1024 dynamic_shared:98304 grid:264,2,1 block:256,4,1 occ_pct:50",
         {{264, 2, 1}, {256, 4, 1}, 168, 50, 99328, VALUE_ABSENT}},
        {"grid:219,40,1 block:256,1,1 private_mem:0 group_mem:49280 occ_pct:0",
         {{219, 40, 1}, {256, 1, 1}, -1, -1, 49280, VALUE_ABSENT}},
        {"grid:x regs:", {{0}, {0}, -1, -1, VALUE_ABSENT, VALUE_ABSENT}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf bytes = {0}, plane = {0}, line = line_named("Stream #13(Compute)", 1000);
        put_bytes(&plane, 2, STR("/device:GPU:0"));
        put_stated(&line, (struct event){1, 0, 5000, 0}, 1, cases[i].details);
        put_message(&plane, 3, &line);
        put_name(&plane, 4, 1, "gemm");
        put_name(&plane, 5, 1, "kernel_details");
        put_message(&bytes, 1, &plane);
        struct trace *trace = read_good(&bytes);
        assert_memory_equal(shape_of(trace, 0), &cases[i].shape, sizeof cases[i].shape);
        trace_free(trace);
    }
}

static void copies_say_what_memory_of_the_host_they_use(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"kind_src:pageable kind_dst:device size:4096 dest:0 async:1", "MemcpyH2D (pageable)"},
        {"kind_src:device kind_dst:pinned size:4096 dest:0 async:1", "MemcpyH2D (pinned)"},
        {"kind:Unknown size:4096 dest:512 async:1", "MemcpyH2D"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf bytes = {0}, plane = {0}, line = line_named("Stream #14(MemcpyH2D)", 1000);
        put_bytes(&plane, 2, STR("/device:GPU:0"));
        put_stated(&line, (struct event){1, 0, 5000, 0}, 1, cases[i][0]);
        put_message(&plane, 3, &line);
        put_name(&plane, 4, 1, "MemcpyH2D");
        put_name(&plane, 5, 1, "memcpy_details");
        put_message(&bytes, 1, &plane);
        struct trace *trace = read_good(&bytes);
        assert_event(trace, find(trace, EVENT_MEMCPY, 0), cases[i][1], 1000, 5);
        assert_int_equal(bytes_of(trace, 0), 4096);
        trace_free(trace);
    }
}

static void devices_of_other_processes_and_parts_of_devices_are_left_out(void **state)
{
    (void)state;
    struct buf bytes = {0};
    put_device(&bytes, "/device:GPU:1", "Stream #13");
    put_device(&bytes, "/device:GPU:1 [4711]", "Stream #13");
    put_device(&bytes, "/device:TPU:0 SparseCore 1", "XLA Ops");
    put_device(&bytes, "/device:TPU:0 Other 1", "Sparse Core Ops");
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->event_count, 1);
    assert_event(trace, 0, "fusion", 1000, 5);
    trace_free(trace);
}

// What CUPTI took on a stream is on its row, which is named after that.
static void a_stream_with_an_overhead_of_the_profiler_works(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("CUPTI overhead", 1000);
    put_bytes(&plane, 2, STR("/device:GPU:0"));
    put_stated(&line, (struct event){1, 0, 5000, 0}, 1, "regs:168 grid:132,1,1");
    put_stated(&line, (struct event){2, 5000, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "gemm");
    put_name(&plane, 4, 2, "Command buffer full");
    put_name(&plane, 5, 1, "kernel_details");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->event_count, 1);
    assert_event(trace, 0, "gemm", 1000, 5);
    trace_free(trace);
}

static void put_task(struct buf *bytes, uint64_t start_ns)
{
    struct buf plane = {0}, stat = {0};
    put_bytes(&plane, 2, STR("Task Environment"));
    put_number(&stat, 1, 2);
    put_number(&stat, 3, start_ns);
    put_message(&plane, 6, &stat);
    put_name(&plane, 5, 1, "profile_stop_time");
    put_name(&plane, 5, 2, "profile_start_time");
    put_message(bytes, 1, &plane);
}

static void the_task_says_when_the_profile_starts(void **state)
{
    (void)state;
    struct buf bytes = {0};
    put_profile(&bytes);
    put_task(&bytes, 1764230400000000000);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->job.base_ns, 1764230400000000000);
    trace_free(trace);
    put_profile(&bytes);
    put_task(&bytes, 77);
    trace = read_good(&bytes);
    assert_int_equal(trace->job.base_ns, VALUE_ABSENT);
    trace_free(trace);
}

static void lines_may_count_from_1970(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("Stream #1", 1764230400000911061);
    put_bytes(&plane, 2, STR("/device:GPU:0"));
    put_stated(&line, (struct event){9, 5000, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_message(&bytes, 1, &plane);
    put_task(&bytes, 1764230400000000000);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->job.base_ns, 0);
    assert_event(trace, 0, "event 9", 1764230400000911066, 5); // what it is named is missing
    trace_free(trace);
}

// Before its planes are merged, TensorFlow has the calls in a plane of their own.
static void calls_of_the_plane_of_cupti_are_launches(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("77", 1000);
    put_bytes(&plane, 2, STR("/host:CUPTI"));
    put_event(&line, (struct event){1, 0, 5000, 21});
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "cuLaunchKernel");
    put_name(&plane, 5, 9, "correlation_id");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_good(&bytes);
    assert_event(trace, find(trace, EVENT_DRIVER, 0), "cuLaunchKernel", 1000, 5);
    assert_int_equal(trace->launch_args[trace->args[0]].correlation, 21);
    trace_free(trace);
}

// As XLA names the work of a CPU.
static void only_functions_of_cuda_are_calls_of_the_driver(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("tf_XLAEigen/77", 1000);
    put_bytes(&plane, 2, STR("/host:CPU"));
    put_stated(&line, (struct event){1, 0, 5000, 0}, 0, "");
    put_stated(&line, (struct event){2, 5000, 5000, 0}, 0, "");
    put_stated(&line, (struct event){3, 10000, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "custom-call.3");
    put_name(&plane, 4, 2, "cumsum");
    put_name(&plane, 4, 3, "cuMemAlloc_v2");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(count_of(trace, EVENT_CPU_OP), 2);
    assert_int_equal(count_of(trace, EVENT_DRIVER), 1);
    trace_free(trace);
}

static void what_the_profiler_reports_is_kept(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct budget budget = {0};
    struct err err = {0};
    put_profile(&bytes);
    put_bytes(&bytes, 2, STR("CUPTI could not be loaded"));
    put_bytes(&bytes, 3, STR("dropped 7 events"));
    struct trace *trace = read_good(&bytes);
    const struct trace_setting *messages = trace_setting_find(trace, STR(TRACE_MESSAGES));
    assert_non_null(messages);
    assert_int_equal(messages->number, 2);
    assert_string_equal(trace_text(trace, messages->text).at,
                        "CUPTI could not be loaded; dropped 7 events");
    trace_free(trace);
    put_bytes(&bytes, 1, STR("\x12\x09/host:CPU"));
    put_bytes(&bytes, 2, STR("CUPTI could not be loaded"));
    assert_null(read_bytes((struct str){bytes.at, bytes.len}, &budget, &err));
    assert_non_null(strstr(err.msg, "the profiler said: CUPTI could not be loaded"));
    buf_free(&bytes);
}

// Fields are read at positions, which a stream does not have.
static void a_compressed_profile_is_read_from_a_copy(void **state)
{
    (void)state;
    struct buf bytes = {0}, gzip = {0};
    struct budget budget = {0};
    struct err err = {0};
    put_profile(&bytes);
    add_gzip(&gzip, compress_text(&bytes), 6);
    struct format_hint hint = {STR("host.xplane.pb.gz"), scratch_open()};
    struct format_found found;
    struct source *source = source_mem_open(gzip.at, gzip.len, 0, &err);
    source = format_open(source, &hint, &found, &err);
    assert_non_null(source);
    struct trace *trace = ingest_opened(source, &found, &budget, NULL, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_int_equal(trace->event_count, 5);
    trace_free(trace);
    scratch_close(hint.scratch);
    assert_null(read_bytes((struct str){gzip.at, gzip.len}, &budget, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "compressed"));
    buf_free(&bytes);
    buf_free(&gzip);
}

// Every byte of it is there, so the reader that seeks meets no end of the stream.
static void a_wrong_checksum_at_the_end_is_a_repair(void **state)
{
    (void)state;
    struct buf bytes = {0}, packed[2] = {{0}, {0}};
    struct budget budget = {0};
    struct err err = {0};
    for (int i = 0; i < 100; i++) // more than the first bytes, which are read alone
        put_profile(&bytes);
    struct trace *plain = read_bytes(compress_text(&bytes), &budget, &err);
    add_gzip(&packed[0], compress_text(&bytes), 6);
    packed[0].at[packed[0].len - 6] ^= 1;
    add_zstd(&packed[1], compress_text(&bytes));
    packed[1].at[packed[1].len - 1] ^= 1;
    for (int i = 0; i < 2; i++) {
        struct format_hint hint = {STR("host.xplane.pb"), scratch_open()};
        struct format_found found;
        struct source *source = source_mem_open(packed[i].at, packed[i].len, 0, &err);
        source = format_open(source, &hint, &found, &err);
        assert_non_null(source);
        struct trace *trace = ingest_opened(source, &found, &budget, NULL, &err);
        assert_non_null(trace);
        assert_int_equal(trace->event_count, plain->event_count);
        assert_int_equal(trace->repairs[REPAIR_COMPRESSION].count, 1);
        trace_free(trace);
        scratch_close(hint.scratch);
        buf_free(&packed[i]);
    }
    trace_free(plain);
    buf_free(&bytes);
}

static void a_plane_without_lines_is_a_profile_without_events(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err = {0};
    assert_null(read_bytes(STR("\x0A\x0B\x12\x09/host:CPU"), &budget, &err));
    assert_non_null(strstr(err.msg, "without any event"));
}

static void a_cut_profile_keeps_what_came_before(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct budget budget = {0};
    size_t partial = 0;
    put_profile(&bytes);
    for (size_t len = 1; len < bytes.len; len++) {
        struct err err = {0};
        struct trace *trace = read_bytes((struct str){bytes.at, len}, &budget, &err);
        assert_true(trace || err.code == ERR_FORMAT || err.code == ERR_UNSUPPORTED);
        partial += trace && trace->repairs[REPAIR_TRUNCATED].count;
        trace_free(trace);
    }
    assert_true(partial > 0);
    buf_free(&bytes);
}

static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct budget budget = {0};
    put_profile(&bytes);
    for (size_t i = 0; i < bytes.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct err err = {0};
            bytes.at[i] ^= (char)(1u << bit);
            trace_free(read_bytes((struct str){bytes.at, bytes.len}, &budget, &err));
            bytes.at[i] ^= (char)(1u << bit);
        }
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_device_work_and_derived_lines_are_not),
        cmocka_unit_test(work_of_a_mixed_stream_is_of_the_kind_of_its_name),
        cmocka_unit_test(events_of_one_stream_are_what_each_says),
        cmocka_unit_test(kernels_say_how_they_were_launched),
        cmocka_unit_test(copies_say_what_memory_of_the_host_they_use),
        cmocka_unit_test(devices_of_other_processes_and_parts_of_devices_are_left_out),
        cmocka_unit_test(a_stream_with_an_overhead_of_the_profiler_works),
        cmocka_unit_test(only_functions_of_cuda_are_calls_of_the_driver),
        cmocka_unit_test(the_task_says_when_the_profile_starts),
        cmocka_unit_test(lines_may_count_from_1970),
        cmocka_unit_test(calls_of_the_plane_of_cupti_are_launches),
        cmocka_unit_test(what_the_profiler_reports_is_kept),
        cmocka_unit_test(a_numbered_step_of_jax_is_a_step),
        cmocka_unit_test(a_compressed_profile_is_read_from_a_copy),
        cmocka_unit_test(a_wrong_checksum_at_the_end_is_a_repair),
        cmocka_unit_test(a_plane_without_lines_is_a_profile_without_events),
        cmocka_unit_test(a_cut_profile_keeps_what_came_before),
        cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
