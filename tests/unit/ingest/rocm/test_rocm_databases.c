// SPDX-License-Identifier: Apache-2.0
// rocpd in both layouts and rpd, from statements written by hand.
#include "tests/unit/foreign_database.h"

#define ROCPD_3(suffix)                                                                     \
    "CREATE TABLE rocpd_metadata" suffix " (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);" \
    "INSERT INTO rocpd_metadata" suffix " VALUES (1, 'schema_version', '3');"               \
    "CREATE TABLE rocpd_string" suffix " (id INTEGER PRIMARY KEY, string TEXT);"            \
    "INSERT INTO rocpd_string" suffix                                                       \
    " VALUES (1, 'HIP_RUNTIME_API_EXT'), (2, 'MARKER_CORE_API'),"                           \
    " (3, 'hipLaunchKernel'), (4, 'roctxRangePushA'), (5, 'MEMORY_COPY_HOST_TO_DEVICE');"   \
    "CREATE TABLE rocpd_info_agent" suffix                                                  \
    " (id INTEGER PRIMARY KEY, type TEXT, type_index INT, product_name TEXT, name TEXT);"   \
    "INSERT INTO rocpd_info_agent" suffix                                                   \
    " VALUES (1, 'CPU', 0, 'EPYC', ''), (4, 'GPU', 2, 'AMD Instinct MI300X', 'gfx942');"    \
    "CREATE TABLE rocpd_info_kernel_symbol" suffix                                          \
    " (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);"                       \
    "INSERT INTO rocpd_info_kernel_symbol" suffix " VALUES (9, 'gemm.kd', 'gemm');"         \
    "CREATE TABLE rocpd_event" suffix                                                       \
    " (id INTEGER PRIMARY KEY, category_id INT, stack_id INT, extdata TEXT);"               \
    "INSERT INTO rocpd_event" suffix " VALUES (1, 1, 70, '{}'), (2, 1, 70, '{}'), "         \
    "(3, 2, 71, '{\"message\": \"step 4\"}'), (4, 1, 72, '{}');"

#define RECORDS_3(suffix)                                                                        \
    "CREATE TABLE rocpd_kernel_dispatch" suffix                                                  \
    " (id INTEGER PRIMARY KEY, agent_id INT, kernel_id INT, queue_id INT, start INT, \"end\" "   \
    "INT, "                                                                                      \
    "group_segment_size INT, workgroup_size_x INT, workgroup_size_y INT, workgroup_size_z INT, " \
    "grid_size_x INT, grid_size_y INT, grid_size_z INT, event_id INT);"                          \
    "INSERT INTO rocpd_kernel_dispatch" suffix                                                   \
    " VALUES (1, 4, 9, 3, 5000, 7500, 64, 256, 1, 1, 1000, 2, 1, 2);"                            \
    "CREATE TABLE rocpd_memory_copy" suffix                                                      \
    " (id INTEGER PRIMARY KEY, start INT, \"end\" INT, name_id INT, dst_agent_id INT, "          \
    "src_agent_id INT, size INT, queue_id INT, event_id INT);"                                   \
    "INSERT INTO rocpd_memory_copy" suffix                                                       \
    " VALUES (1, 100, 300, 5, 4, 1, 4096, 3, 4), (2, 400, 500, 5, 1, 1, 10, 3, 4);"              \
    "CREATE TABLE rocpd_region" suffix                                                           \
    " (id INTEGER PRIMARY KEY, tid INT, start INT, \"end\" INT, name_id INT, event_id INT);"     \
    "INSERT INTO rocpd_region" suffix                                                            \
    " VALUES (1, 55, 1000, 1200, 3, 1), (2, 55, 900, 9000, 4, 3);"

static uint32_t assert_event(const struct trace *trace, enum event_kind kind, const char *name,
                             int64_t begin_ns, int64_t dur_ns)
{
    uint32_t event = foreign_event(trace, kind);
    assert_string_equal(trace_text(trace, trace->name[event]).at, name);
    assert_int_equal(trace->begin_ns[event], begin_ns);
    assert_int_equal(trace->dur_ns[event], dur_ns);
    return event;
}

static const struct track *track_of(const struct trace *trace, uint32_t event)
{
    const struct track *track = trace->tracks;
    while (event >= track->first + track->count)
        track++;
    return track;
}

static void assert_job(const struct trace *trace)
{
    assert_int_equal(trace->event_count, 4);
    assert_int_equal(trace->job.recorder, RECORDER_ROCM);
    uint32_t kernel = assert_event(trace, EVENT_KERNEL, "gemm", 5000, 2500);
    assert_int_equal(track_of(trace, kernel)->pid.number, 2);
    assert_int_equal(track_of(trace, kernel)->tid.number, 3);
    const struct device_args *args = &trace->device_args[trace->args[kernel]];
    const struct launch_shape *shape = &trace->shapes[args->shape];
    assert_int_equal(shape->grid[0], 4); // blocks for 1,000 work items
    assert_int_equal(shape->grid[1], 2);
    assert_int_equal(shape->block[0], 256);
    uint32_t call = assert_event(trace, EVENT_RUNTIME, "hipLaunchKernel", 1000, 200);
    assert_int_equal(args->correlation, 70);
    assert_int_equal(trace->launch_args[trace->args[call]].correlation, 70);
    assert_event(trace, EVENT_ANNOTATION, "step 4", 900, 8100);
    uint32_t copy = assert_event(trace, EVENT_MEMCPY, "MEMORY_COPY_HOST_TO_DEVICE", 100, 200);
    args = &trace->device_args[trace->args[copy]];
    assert_int_equal(trace->shapes[args->shape].bytes, 4096);
    assert_string_equal(trace_text(trace, trace->devices[0].name).at, "AMD Instinct MI300X");
    assert_int_equal(trace->devices[0].id, 2);
}

static void layout_3_has_times_and_places_in_its_rows(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("_a1") RECORDS_3("_a1"));
    assert_int_equal(file.count, 1);
    assert_string_equal(file.format->name, "rocpd");
    assert_job(file.traces[0]);
    foreign_close(&file);
}

// A partition of a GPU has fewer than its product.
static void agents_say_how_many_compute_units_they_have(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("")
                     RECORDS_3("") "ALTER TABLE rocpd_info_agent ADD extdata TEXT;"
                                   "UPDATE rocpd_info_agent SET extdata = "
                                   "'{\"num_xcc\": 1, \"cu_count\": 38, \"name\": \"gfx942\"}';");
    assert_int_equal(file.traces[0]->devices[0].multiprocessors, 38);
    foreign_close(&file);
    foreign_open(&file, ROCPD_3("") RECORDS_3(""));
    assert_int_equal(file.traces[0]->devices[0].multiprocessors, VALUE_ABSENT);
    foreign_close(&file);
}

// roctxMark; a sample of counters says nothing.
static void marks_are_ranges_without_a_duration(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("") RECORDS_3(
                     "") "DELETE FROM rocpd_region WHERE id = 2;"
                         "INSERT INTO rocpd_event VALUES (60, 2, 0, "
                         "'{\"message\": \"iter 3\"}'), (61, 2, 0, '{}');"
                         "CREATE TABLE rocpd_sample (id INTEGER PRIMARY KEY, track_id INT, "
                         "timestamp INT, event_id INT);"
                         "INSERT INTO rocpd_sample VALUES (1, 1, 880, 60), (2, 1, 890, 61);");
    const struct trace *trace = file.traces[0];
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 1);
    assert_event(trace, EVENT_ANNOTATION, "iter 3", 880, 0);
    foreign_close(&file);
}

// rocprofv3 records no queue of a copy.
#define COPIES_WITHOUT_QUEUE                           \
    ROCPD_3("")                                        \
    RECORDS_3("")                                      \
    "ALTER TABLE rocpd_memory_copy ADD stream_id INT;" \
    "UPDATE rocpd_memory_copy SET queue_id = NULL;"

static void copies_are_on_the_stream_of_their_kernels(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, COPIES_WITHOUT_QUEUE "ALTER TABLE rocpd_kernel_dispatch ADD stream_id INT;"
                                             "UPDATE rocpd_kernel_dispatch SET stream_id = 2;"
                                             "UPDATE rocpd_memory_copy SET stream_id = 2;");
    const struct trace *trace = file.traces[0];
    const struct track *track = track_of(trace, foreign_event(trace, EVENT_MEMCPY));
    assert_ptr_equal(track, track_of(trace, foreign_event(trace, EVENT_KERNEL)));
    assert_int_equal(track->pid.number, 2);
    assert_int_equal(track->tid.number, 2);
    foreign_close(&file);
}

static void copies_without_a_stream_have_a_row_by_direction(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, COPIES_WITHOUT_QUEUE);
    const struct trace *trace = file.traces[0];
    const struct track *track = track_of(trace, foreign_event(trace, EVENT_MEMCPY));
    assert_string_equal(trace_text(trace, track->tid.text).at, "copies HtoD");
    foreign_close(&file);
}

// As rocprofv3 and rocprof-sys write it.
static void what_the_driver_did_is_no_call_of_hip(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("")
                     RECORDS_3("") "INSERT INTO rocpd_string VALUES (50, 'KFD_PAGE_MIGRATE'), "
                                   "(51, 'rocm_kfd_page_fault');"
                                   "INSERT INTO rocpd_event VALUES (60, 50, 0, '{}'), "
                                   "(61, 51, 0, '{}');"
                                   "INSERT INTO rocpd_region VALUES (9, 55, 2000, 2100, 3, 60), "
                                   "(10, 55, 2200, 2300, 3, 61);");
    assert_int_equal(foreign_count(file.traces[0], EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_OS_CALL), 2);
    foreign_close(&file);
}

// Regions of these categories: two of a function that lasts all the time, one within, and a call.
#define REGIONS_OF(first, second, third, fourth)                                               \
    ROCPD_3("")                                                                                \
    RECORDS_3("")                                                                              \
    "INSERT INTO rocpd_string VALUES (50, '" first "'), (51, '" second "'), (52, '" third      \
    "'), (53, '" fourth "'), (54, 'main');"                                                    \
    "INSERT INTO rocpd_event VALUES (60, 50, 0, '{}'), (61, 51, 0, '{}'), (62, 52, 0, '{}'), " \
    "(63, 53, 0, '{}');"                                                                       \
    "INSERT INTO rocpd_region VALUES (9, 55, 10, 9900, 54, 60), (10, 55, 20, 9800, 54, 61), "  \
    "(11, 55, 30, 40, 54, 62), (12, 55, 2000, 2100, 3, 63);"

// rocprof-sys; what it records of the program is no call of the runtime, which all idle time is in.
static void functions_of_the_program_are_no_calls_of_hip(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, REGIONS_OF("host", "python", "pthread", "rocm_hip_api"));
    const struct trace *trace = file.traces[0];
    assert_int_equal(foreign_count(trace, EVENT_RUNTIME), 2);
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 2);
    assert_int_equal(foreign_count(trace, EVENT_PYTHON), 1);
    assert_int_equal(foreign_count(trace, EVENT_OS_CALL), 1);
    foreign_close(&file);
}

// Nor are the functions that rocprof-sys samples, and calls of libraries.
static void samples_and_calls_of_libraries_are_no_calls_of_hip(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, REGIONS_OF("timer_sampling", "overflow_sampling", "rocm_ompt_api",
                                   "rocm_rocdecode_api"));
    const struct trace *trace = file.traces[0];
    assert_int_equal(foreign_count(trace, EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 3);
    assert_int_equal(foreign_count(trace, EVENT_OTHER), 2);
    foreign_close(&file);
}

static void tables_may_have_no_suffix(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("") RECORDS_3(""));
    assert_int_equal(file.count, 1);
    assert_job(file.traces[0]);
    foreign_close(&file);
}

static void ids_of_events_may_have_gaps_and_any_size(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("") RECORDS_3("") "UPDATE rocpd_event SET id = id + 1000 WHERE id > 2;"
                                           "UPDATE rocpd_memory_copy SET event_id = 1004;"
                                           "UPDATE rocpd_region SET event_id = 1003 WHERE id = 2;");
    assert_int_equal(file.count, 1);
    assert_job(file.traces[0]);
    foreign_close(&file);
    file = (struct foreign_file){0};
    foreign_open(&file,
                 ROCPD_3("")
                     RECORDS_3("") "UPDATE rocpd_event SET stack_id = 9000000000 WHERE id < 3;"
                                   "UPDATE rocpd_event SET stack_id = -5 WHERE id = 4;");
    const struct trace *trace = file.traces[0];
    const struct device_args *args =
        &trace->device_args[trace->args[foreign_event(trace, EVENT_KERNEL)]];
    assert_int_equal(args->correlation, 9000000000);
    args = &trace->device_args[trace->args[foreign_event(trace, EVENT_MEMCPY)]];
    assert_int_equal(args->correlation, VALUE_ABSENT);
    foreign_close(&file);
}

static void each_guid_is_a_process(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("_a1") RECORDS_3("_a1") ROCPD_3("_b2") RECORDS_3("_b2"));
    assert_int_equal(file.count, 2);
    assert_job(file.traces[0]);
    assert_job(file.traces[1]);
    foreign_close(&file);
}

// A launcher comes first.
static void a_process_without_device_work_is_no_rank_beside_others(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("_a1") ROCPD_3("_b2") RECORDS_3("_b2"));
    assert_int_equal(file.count, 1);
    assert_job(file.traces[0]);
    foreign_close(&file);
    foreign_open(&file, ROCPD_3("_a1") RECORDS_3("_a1") ROCPD_3("_b2")
                            RECORDS_3("_b2") "DELETE FROM rocpd_kernel_dispatch_b2;");
    assert_int_equal(file.count, 2);
    assert_int_equal(foreign_count(file.traces[1], EVENT_MEMCPY), 1); // copies are work, too
    foreign_close(&file);
    foreign_open(
        &file,
        ROCPD_3("_a1") RECORDS_3("_a1") ROCPD_3("_b2") RECORDS_3(
            "_b2") "DELETE FROM rocpd_kernel_dispatch_a1; DELETE FROM rocpd_memory_copy_a1;"
                   "DELETE FROM rocpd_kernel_dispatch_b2; DELETE FROM rocpd_memory_copy_b2;");
    assert_int_equal(file.count, 2);
    foreign_close(&file);
}

// Its work may be in the pages that are not there.
static void a_process_whose_tables_are_cut_off_is_no_launcher(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct buf bytes = {0};
    foreign_database(&bytes, ROCPD_3("_a1") RECORDS_3("_a1") ROCPD_3("_b2") RECORDS_3("_b2"));
    foreign_read(&file, (struct str){bytes.at, bytes.len * 7 / 10});
    assert_int_equal(file.count, 1);
    assert_non_null(strstr(file.err.msg, "ends early or is damaged"));
    foreign_close(&file);
    buf_free(&bytes);
}

// Names in two processes with the same ids of events, and as JSON writes them.
static void markers_of_all_processes_are_listed_as_text(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct figures figures = {.arena = &arena};
    struct foreign_file file = {.figures = &figures};
    struct buf json = {0};
    foreign_open(&file,
                 ROCPD_3("_a1") RECORDS_3("_a1") ROCPD_3("_b2") RECORDS_3(
                     "_b2") "UPDATE rocpd_event_b2 SET extdata = "
                            "'{\"message\": \"say \\\"hi\\\", C:\\\\x \\u00e9\"}' WHERE id = 3;");
    assert_int_equal(file.count, 2);
    assert_job(file.traces[0]);
    uint32_t marker = foreign_event(file.traces[1], EVENT_ANNOTATION);
    assert_string_equal(trace_text(file.traces[1], file.traces[1]->name[marker]).at,
                        "say \"hi\", C:\\x \xC3\xA9");
    figures_json(&figures, &json);
    assert_non_null(
        strstr(json.at, "\"markers\":[\"say \\\"hi\\\", C:\\\\x \xC3\xA9\",\"step 4\"]"));
    buf_free(&json);
    foreign_close(&file);
    arena_free(&arena);
}

static void layout_4_has_them_in_tables_of_their_own(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(
        &file,
        ROCPD_3(
            "_a1") "CREATE TABLE rocpd_info_category_a1 (id INTEGER PRIMARY KEY, name TEXT);"
                   "INSERT INTO rocpd_info_category_a1 VALUES (1, 'HIP_RUNTIME_API'), (2, "
                   "'MARKER_CORE_API');"
                   "CREATE TABLE rocpd_timestamp_a1 (id INTEGER PRIMARY KEY, value INT);"
                   "INSERT INTO rocpd_timestamp_a1 VALUES (1, 5000), (2, 7500), (3, 100), (4, "
                   "300), "
                   "(5, 1000), (6, 1200), (7, 900), (8, 9000);"
                   "CREATE TABLE rocpd_track_a1 (id INTEGER PRIMARY KEY, tid INT, agent_id INT, "
                   "queue_id INT, stream_id INT);"
                   "INSERT INTO rocpd_track_a1 VALUES (1, NULL, 4, 8, 3), "
                   "(2, 55, NULL, NULL, NULL);"
                   "CREATE TABLE rocpd_kernel_dispatch_a1 (id INTEGER PRIMARY KEY, track_id INT, "
                   "kernel_id "
                   "INT, start_id INT, end_id INT, workgroup_size_x INT, workgroup_size_y INT, "
                   "workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT, "
                   "event_id INT);"
                   "INSERT INTO rocpd_kernel_dispatch_a1 VALUES (1, 1, 9, 1, 2, 256, 1, 1, 1000, "
                   "2, 1, 2);"
                   "CREATE TABLE rocpd_memory_copy_a1 (id INTEGER PRIMARY KEY, track_id INT, "
                   "start_id INT, "
                   "end_id INT, name_id INT, dst_agent_id INT, src_agent_id INT, size INT, "
                   "event_id INT);"
                   "INSERT INTO rocpd_memory_copy_a1 VALUES (1, 1, 3, 4, 5, 4, 1, 4096, 4);"
                   "CREATE TABLE rocpd_region_a1 (id INTEGER PRIMARY KEY, track_id INT, start_id "
                   "INT, end_id "
                   "INT, name_id INT, event_id INT);"
                   "INSERT INTO rocpd_region_a1 VALUES (1, 2, 5, 6, 3, 1), (2, 2, 7, 8, 4, 3);");
    assert_int_equal(file.count, 1);
    assert_job(file.traces[0]);
    foreign_close(&file);
}

static void rows_that_make_no_sense_are_counted(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("_a1") RECORDS_3(
                            "_a1") "INSERT INTO rocpd_kernel_dispatch_a1 (id, start, \"end\") "
                                   "VALUES (2, 'soon', 5), "
                                   "(3, NULL, 5), (4, 9223372036854775807, -9223372036854775808);"
                                   "INSERT INTO rocpd_region_a1 VALUES (3, 1, 500, 400, 77, 99);");
    assert_int_equal(file.count, 1);
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE].count, 3);
    assert_int_equal(trace->repairs[REPAIR_NEGATIVE_DURATION].count, 1);
    assert_int_equal(trace->event_count, 5);
    foreign_close(&file);
}

static void allocations_and_counters_are_read(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(
        &file,
        ROCPD_3("") RECORDS_3(
            "") "CREATE TABLE rocpd_memory_allocate (id INTEGER PRIMARY KEY, agent_id INT, type "
                "TEXT, "
                "level TEXT, start INT, \"end\" INT, address INT, size INT, event_id INT);"
                "INSERT INTO rocpd_memory_allocate VALUES (1, 4, 'FREE', 'REAL', 90, 91, 64, 0, "
                "1), "
                "(2, 4, 'ALLOC', 'REAL', 100, 101, 64, 4096, 1), "
                "(3, NULL, 'FREE', 'REAL', 200, 201, 64, 0, 1), "
                "(4, 4, 'ALLOC', 'SCRATCH', 300, 301, 128, 10, 1), "
                "(5, 1, 'ALLOC', 'REAL', 300, 301, 256, 10, 1), "
                "(6, 4, 'ALLOC', 'VIRTUAL', 400, 401, 64, 512, 1);"
                "CREATE TABLE rocpd_info_pmc (id INTEGER PRIMARY KEY, agent_id INT, name TEXT);"
                "INSERT INTO rocpd_info_pmc VALUES (1, 4, 'busy'), (2, NULL, 'SQ_WAVES');"
                "CREATE TABLE rocpd_sample (id INTEGER PRIMARY KEY, track_id INT, timestamp INT, "
                "event_id INT);"
                "INSERT INTO rocpd_sample VALUES (1, 1, 5500, 77), (2, 1, 6500, 78);"
                "CREATE TABLE rocpd_pmc_event (id INTEGER PRIMARY KEY, event_id INT, pmc_id INT, "
                "value REAL);"
                "INSERT INTO rocpd_pmc_event VALUES (1, 77, 1, 50.5), (2, 78, 1, 60), "
                "(3, 2, 2, 1024), (4, 99, 1, 1), (5, 78, 1, 'many');");
    assert_int_equal(file.count, 1);
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->event_count, 4 + 3);
    uint32_t taken = 0;
    while (taken < trace->event_count && trace->kind[taken] != EVENT_ALLOCATION)
        taken++;
    assert_int_equal(trace->begin_ns[taken], 100);
    static const int64_t bytes[] = {4096, -4096, 512};
    for (uint32_t i = 0; i < 3; i++) {
        const struct memory_args *memory = &trace->memory_args[trace->args[taken + i]];
        assert_int_equal(memory->bytes, bytes[i]);
        assert_int_equal(memory->device, 2);
    }
    assert_int_equal(trace->counter_count, 2);
    assert_int_equal(trace->counter_sample_count, 3);
    for (uint32_t c = 0; c < 2; c++) {
        const struct counter *counter = &trace->counters[c];
        const struct counter_sample *first = &trace->counter_samples[counter->first];
        bool of_kernel = strcmp(trace_text(trace, counter->name).at, "SQ_WAVES") == 0;
        assert_int_equal(counter->pid, 2);
        assert_int_equal(first->time_ns, of_kernel ? 5000 : 5500);
        assert_true(first->value == (of_kernel ? 1024 : 50.5));
    }
    foreign_close(&file);
}

// Of a counter that both GPUs have, rocprofv3 lists the first one's.
static void a_kernels_counter_is_the_sum_of_its_instances(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("") RECORDS_3(
                     "") "INSERT INTO rocpd_info_agent VALUES (3, 'GPU', 1, '', 'gfx942');"
                         "CREATE TABLE rocpd_info_pmc (id INTEGER PRIMARY KEY, agent_id INT, name "
                         "TEXT);"
                         "INSERT INTO rocpd_info_pmc VALUES (1, 3, 'SQ_WAVES'), (2, 3, 'GRBM');"
                         "CREATE TABLE rocpd_pmc_event (id INTEGER PRIMARY KEY, event_id INT, "
                         "pmc_id INT, value REAL);"
                         "INSERT INTO rocpd_pmc_event VALUES (1, 2, 1, 1000), (2, 2, 2, 7), "
                         "(3, 2, 1, 24), (4, 2, 2, 9e999);");
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->counter_count, 1);
    assert_int_equal(trace->counter_sample_count, 1);
    assert_int_equal(trace->counters[0].pid, 2);
    assert_string_equal(trace_text(trace, trace->counters[0].name).at, "SQ_WAVES");
    assert_int_equal(trace->counter_samples[0].time_ns, 5000);
    assert_true(trace->counter_samples[0].value == 1024);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE_OTHER].count, 1); // no sum is infinite
    foreign_close(&file);
}

#define COUNTERS(names, samples, values)                                                         \
    "CREATE TABLE rocpd_info_pmc (id INTEGER PRIMARY KEY, agent_id INT, name TEXT);"             \
    "INSERT INTO rocpd_info_pmc VALUES " names                                                   \
    ";CREATE TABLE rocpd_sample (id INTEGER PRIMARY KEY, track_id INT, timestamp INT, event_id " \
    "INT); INSERT INTO rocpd_sample VALUES " samples                                             \
    ";CREATE TABLE rocpd_pmc_event (id INTEGER PRIMARY KEY, event_id INT, pmc_id INT, value "    \
    "REAL, sample_id INT); INSERT INTO rocpd_pmc_event VALUES " values ";"

static void assert_sample(const struct trace *trace, uint32_t i, int64_t time_ns, double value)
{
    assert_int_equal(trace->counter_samples[i].time_ns, time_ns);
    assert_true(trace->counter_samples[i].value == value);
}

// While a kernel runs, instances are summed at each moment.
static void samples_within_a_kernel_have_their_times(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("") RECORDS_3("") COUNTERS(
                     "(1, 4, 'waves')", "(1, 1, 5100, 2), (2, 1, 5200, 2)",
                     "(1, 2, 1, 10, 1), (2, 2, 1, 20, 1), (3, 2, 1, 30, 2), (4, 2, 1, 40, 2)"));
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->counter_sample_count, 2);
    assert_sample(trace, 0, 5100, 30);
    assert_sample(trace, 1, 5200, 70);
    foreign_close(&file);
}

static void units_of_counters_are_in_their_names(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, ROCPD_3("") RECORDS_3("")
                            COUNTERS("(1, 4, 'device_power'), (2, 4, 'device_xgmi_read_data_0')",
                                     "(1, 1, 1000000000, 77), (2, 1, 3000000000, 78)",
                                     "(1, 77, 1, 700, NULL), (2, 77, 2, 50, NULL), (3, 78, 2, 150, "
                                     "NULL)") "ALTER TABLE rocpd_info_pmc ADD units TEXT;"
                                              "UPDATE rocpd_info_pmc SET units = CASE id WHEN 1 "
                                              "THEN 'W' ELSE 'KB' END;");
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->counter_count, 2);
    for (uint32_t c = 0; c < 2; c++) {
        bool is_power = trace->counter_samples[trace->counters[c].first].value == 700;
        assert_string_equal(trace_text(trace, trace->counters[c].name).at,
                            is_power ? "device_power (W)" : "device_xgmi_read_data_0 (KB/s)");
    }
    foreign_close(&file);
}

static void totals_are_shown_as_their_growth(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file,
                 ROCPD_3("") RECORDS_3("") COUNTERS(
                     "(1, 4, 'device_xgmi_read_data_0'), (2, 1, 'process_memory_hwm')",
                     "(1, 1, 1000000000, 77), (2, 1, 3000000000, 78), (3, 1, 4000000000, 79)",
                     "(1, 77, 1, 4000000000, NULL), (2, 77, 2, 5, NULL), "
                     "(3, 78, 1, 4000000100, NULL), (4, 79, 1, 8, NULL)"));
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->counter_count, 2);
    assert_int_equal(trace->counter_sample_count, 2);
    for (uint32_t c = 0; c < 2; c++) {
        const struct counter *counter = &trace->counters[c];
        bool is_total =
            str_equal(trace_text(trace, counter->name), STR("device_xgmi_read_data_0/s"));
        assert_int_equal(counter->pid, is_total ? 2 : VALUE_ABSENT); // a CPU is no GPU
        assert_sample(trace, counter->first, 1000000000, is_total ? 50 : 5);
    }
    foreign_close(&file);
}

static void rpd_links_operations_to_calls(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(
        &file,
        "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
        "INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'gemm'), "
        "(4, 'CopyHostToDevice'), (5, 'hipLaunchKernel'), (6, 'UserMarker'), (7, 'forward'), "
        "(8, 'Task');"
        "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INT, queueId INT, start INT, \"end\" "
        "INT, description_id INT, opType_id INT);"
        "INSERT INTO rocpd_op VALUES (1, 2, 3, 5000, 7500, 3, 2), (2, 2, 3, 100, 300, 1, 4);"
        "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INT, tid INT, start INT, \"end\" INT, "
        "apiName_id INT, args_id INT);"
        "INSERT INTO rocpd_api VALUES (70, 9, 55, 1000, 1200, 5, 1), (71, 9, 55, 900, 9000, 6, 7);"
        "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INT, op_id INT);"
        "INSERT INTO rocpd_api_ops VALUES (1, 70, 1), (2, 72, 2);"
        "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size INT);"
        "INSERT INTO rocpd_copyapi VALUES (72, 4096);"
        "CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX INT, gridY INT, gridZ "
        "INT, workgroupX INT, workgroupY INT, workgroupZ INT);"
        "INSERT INTO rocpd_kernelapi VALUES (70, 4, 1, 1, 256, 1, 1);"
        "CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INT, "
        "monitorType TEXT, start INT, \"end\" INT, value TEXT);"
        "INSERT INTO rocpd_monitor VALUES (1, 'gpu', 2, 'sclk', 0, 9, '1700'), "
        "(2, 'gpu', 2, 'sclk', 9, 10, 'fast');");
    assert_int_equal(file.count, 1);
    assert_string_equal(file.format->name, "rpd");
    const struct trace *trace = file.traces[0];
    uint32_t kernel = assert_event(trace, EVENT_KERNEL, "gemm", 5000, 2500);
    uint32_t call = assert_event(trace, EVENT_RUNTIME, "hipLaunchKernel", 1000, 200);
    const struct device_args *args = &trace->device_args[trace->args[kernel]];
    assert_int_equal(args->correlation, trace->launch_args[trace->args[call]].correlation);
    assert_int_equal(trace->shapes[args->shape].grid[0], 4);
    assert_event(trace, EVENT_ANNOTATION, "forward", 900, 8100);
    uint32_t copy = assert_event(trace, EVENT_MEMCPY, "CopyHostToDevice", 100, 200);
    assert_int_equal(trace->shapes[trace->device_args[trace->args[copy]].shape].bytes, 4096);
    assert_int_equal(trace->counter_sample_count, 1);
    assert_true(trace->counter_samples[0].value == 1700);
    assert_int_equal(trace->repairs[REPAIR_INCOMPLETE_OTHER].count, 1);
    foreign_close(&file);
}

// As CREATE and INSERT of rocpd_op and rocpd_api in schema 3, which names domains and keeps
// arguments in a table of their own.
#define RPD_3                                                                                    \
    "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"                           \
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'gemm'), (4, "         \
    "'Memcpy'), "                                                                                \
    "(5, 'SDMA'), (6, 'Fill'), (7, 'Barrier'), (8, 'hip'), (9, 'hipLaunchKernel'), "             \
    "(10, 'roctx'), (11, 'UserMarker'), (12, 'torch'), (13, 'function'), (14, 'user_scope'), "   \
    "(15, 'aten::mm'), (16, 'Optimizer.step#SGD.step'), (17, 'rpd_tracer'), (18, 'flush'), "     \
    "(19, 'Memset');"                                                                            \
    "CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);"                          \
    "INSERT INTO rocpd_ustring VALUES (3, 'step 4');"                                            \
    "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INT, queueId INT, start INT, \"end\" " \
    "INT, description_id INT, opType_id INT);"                                                   \
    "INSERT INTO rocpd_op VALUES (1, 2, 3, 5000, 7500, 3, 2), (2, 2, 3, 7500, 9000, 1, 7), "     \
    "(3, 2, 3, 100, 300, 5, 4), (4, 2, 3, 400, 500, 6, 4), (5, 2, 3, 600, 650, 1, 19);"          \
    "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INT, tid INT, start INT, \"end\" INT, " \
    "domain_id INT, category_id INT, apiName_id INT, args_id INT);"                              \
    "INSERT INTO rocpd_api VALUES (70, 9, 55, 1000, 1200, 8, 1, 9, 1), "                         \
    "(71, 9, 55, 900, 9000, 10, 1, 11, 3), (72, 9, 55, 950, 1300, 12, 13, 15, 1), "              \
    "(73, 9, 55, 940, 1400, 12, 14, 16, 1), (74, 9, 55, 9500, 9600, 17, 1, 18, 1);"

static void rpd_says_what_a_call_is_since_schema_3(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, RPD_3);
    assert_int_equal(file.count, 1);
    const struct trace *trace = file.traces[0];
    assert_int_equal(trace->event_count, 9); // all but the barrier
    assert_event(trace, EVENT_KERNEL, "gemm", 5000, 2500);
    assert_event(trace, EVENT_MEMCPY, "Memcpy", 100, 200);
    assert_int_equal(foreign_count(trace, EVENT_MEMSET), 2);
    assert_event(trace, EVENT_RUNTIME, "hipLaunchKernel", 1000, 200);
    assert_event(trace, EVENT_CPU_OP, "aten::mm", 950, 350);
    assert_event(trace, EVENT_OVERHEAD, "flush", 9500, 100);
    uint32_t named = 0;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_ANNOTATION)
            named += strcmp(trace_text(trace, trace->name[e]).at, "step 4") == 0 ? 1 : 10;
    assert_int_equal(named, 11); // the marker by its argument, the scope by its name
    foreign_close(&file);
}

// Two that train, the first of them on the second GPU, and one without work that only marks ranges.
// Work without a call, and what a monitor saw, are of the process that uses the GPU.
#define RPD_TWO                                                                              \
    RPD_3                                                                                    \
    "DELETE FROM rocpd_op; DELETE FROM rocpd_api;"                                           \
    "INSERT INTO rocpd_op VALUES (1, 1, 3, 5000, 7500, 3, 2), (2, 0, 3, 5100, 7600, 3, 2), " \
    "(3, 1, 3, 8000, 8500, 3, 2);"                                                           \
    "INSERT INTO rocpd_api VALUES (70, 9, 55, 1000, 1200, 8, 1, 9, 1), "                     \
    "(71, 10, 56, 1010, 1210, 8, 1, 9, 1), (72, 11, 57, 900, 9000, 10, 1, 11, 3), "          \
    "(73, 9, 55, 940, 1400, 12, 14, 16, 1);"                                                 \
    "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INT, op_id INT);"            \
    "INSERT INTO rocpd_api_ops VALUES (1, 70, 1), (2, 71, 2);"                               \
    "CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INT, "    \
    "monitorType TEXT, start INT, \"end\" INT, value TEXT);"                                 \
    "INSERT INTO rocpd_monitor VALUES (1, 'gpu', 1, 'sclk', 0, 9, '1700');"

static void each_process_with_work_in_rpd_is_a_trace(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, RPD_TWO);
    assert_int_equal(file.count, 2);
    assert_int_equal(file.traces[0]->event_count, 2); // of process 10, on GPU 0
    assert_event(file.traces[0], EVENT_KERNEL, "gemm", 5100, 2500);
    assert_event(file.traces[0], EVENT_RUNTIME, "hipLaunchKernel", 1010, 200);
    assert_int_equal(file.traces[0]->counter_count, 0);
    assert_int_equal(file.traces[1]->event_count, 4);
    assert_int_equal(foreign_count(file.traces[1], EVENT_KERNEL), 2);
    assert_event(file.traces[1], EVENT_ANNOTATION, "Optimizer.step#SGD.step", 940, 460);
    assert_int_equal(file.traces[1]->counter_count, 1);
    foreign_close(&file);
}

// Workers that load data record their ranges into the same file.
static void processes_without_work_in_rpd_stay_with_the_one_that_has_some(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, RPD_TWO "DELETE FROM rocpd_api_ops WHERE op_id = 2;");
    assert_int_equal(file.count, 1);
    assert_int_equal(file.traces[0]->event_count, 7);
    foreign_close(&file);
}

// Before schema 3 a range of Python has its name where a call has its own.
static void ranges_of_python_are_no_calls_of_hip_in_old_rpd(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, RPD_3 "UPDATE rocpd_api SET domain_id = 1, category_id = 1;"
                              "DELETE FROM rocpd_api WHERE id = 71;");
    const struct trace *trace = file.traces[0];
    assert_event(trace, EVENT_RUNTIME, "hipLaunchKernel", 1000, 200);
    assert_int_equal(foreign_count(trace, EVENT_RUNTIME), 1);
    assert_int_equal(foreign_count(trace, EVENT_ANNOTATION), 3);
    foreign_close(&file);
}

// Each call of PyTorch has arguments that no other has.
static void arguments_of_calls_that_are_no_markers_take_no_memory(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    foreign_open(&file, RPD_3 "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n "
                              "WHERE i < 400) INSERT INTO rocpd_ustring SELECT i, "
                              "printf('%.*c', 100000, '{') FROM n;");
    assert_int_equal(file.count, 1);
    assert_int_equal(foreign_count(file.traces[0], EVENT_ANNOTATION), 2);
    assert_in_range(file.budget.peak, 1, 20000000); // of 30 MB
    foreign_close(&file);
}

// Its list of tables is whole, and a page of it is not.
static void a_cut_database_is_said_to_be_cut(void **state)
{
    (void)state;
    struct foreign_file file = {0};
    struct buf bytes = {0};
    foreign_database(&bytes, "CREATE TABLE other (a INT);");
    foreign_read(&file, (struct str){bytes.at, bytes.len - 1});
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.err.msg, "truncated or damaged"));
    foreign_close(&file);
    foreign_read(&file, (struct str){bytes.at, bytes.len});
    assert_non_null(strstr(file.err.msg, "none of the tables"));
    foreign_close(&file);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_database_is_said_to_be_cut),
        cmocka_unit_test(layout_3_has_times_and_places_in_its_rows),
        cmocka_unit_test(agents_say_how_many_compute_units_they_have),
        cmocka_unit_test(marks_are_ranges_without_a_duration),
        cmocka_unit_test(copies_are_on_the_stream_of_their_kernels),
        cmocka_unit_test(copies_without_a_stream_have_a_row_by_direction),
        cmocka_unit_test(what_the_driver_did_is_no_call_of_hip),
        cmocka_unit_test(functions_of_the_program_are_no_calls_of_hip),
        cmocka_unit_test(samples_and_calls_of_libraries_are_no_calls_of_hip),
        cmocka_unit_test(tables_may_have_no_suffix),
        cmocka_unit_test(ids_of_events_may_have_gaps_and_any_size),
        cmocka_unit_test(each_guid_is_a_process),
        cmocka_unit_test(a_process_without_device_work_is_no_rank_beside_others),
        cmocka_unit_test(a_process_whose_tables_are_cut_off_is_no_launcher),
        cmocka_unit_test(markers_of_all_processes_are_listed_as_text),
        cmocka_unit_test(layout_4_has_them_in_tables_of_their_own),
        cmocka_unit_test(rows_that_make_no_sense_are_counted),
        cmocka_unit_test(allocations_and_counters_are_read),
        cmocka_unit_test(a_kernels_counter_is_the_sum_of_its_instances),
        cmocka_unit_test(samples_within_a_kernel_have_their_times),
        cmocka_unit_test(units_of_counters_are_in_their_names),
        cmocka_unit_test(totals_are_shown_as_their_growth),
        cmocka_unit_test(rpd_links_operations_to_calls),
        cmocka_unit_test(rpd_says_what_a_call_is_since_schema_3),
        cmocka_unit_test(ranges_of_python_are_no_calls_of_hip_in_old_rpd),
        cmocka_unit_test(each_process_with_work_in_rpd_is_a_trace),
        cmocka_unit_test(processes_without_work_in_rpd_stay_with_the_one_that_has_some),
        cmocka_unit_test(arguments_of_calls_that_are_no_markers_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
