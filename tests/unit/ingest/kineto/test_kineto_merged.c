// SPDX-License-Identifier: Apache-2.0
// Traces of several ranks in one file are read one rank at a time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "ingest/trace/trace.h"

static const struct format *merged(void)
{
    return format_named(STR("kineto-merged"));
}

#define LAUNCH(pid, number)                                                       \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", " \
    "\"pid\": \"" pid "\", \"tid\": 1, \"ts\": 1.0, \"dur\": 2.0, \"args\": "     \
    "{\"correlation\": " number "}}"
#define KERNEL(pid, name)                                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": \"" pid \
    "\", \"tid\": 7, \"ts\": 4.0, \"dur\": 9.0, \"args\": "                        \
    "{\"device\": 0, \"stream\": 7, \"correlation\": 5}}"
#define MEMBERS                                                                           \
    "\"deviceProperties\": [{\"id\": 0, \"name\": \"X\"}, {\"id\": 1, \"name\": \"X\"}, " \
    "{\"id\": 0, \"name\": \"X\"}, {\"id\": 1, \"name\": \"X\"}], \"distributedInfo\": "  \
    "{\"rank\": 0, \"world_size\": 2, \"pg_config\": [{\"pg_name\": \"0\", \"pg_size\": 2}]}"
#define FILE_OF(a, b)                                                                    \
    "{\"traceEvents\": [" LAUNCH(a " 70", "5") ", " KERNEL(a " 0", "first") ", " LAUNCH( \
        b " 71", "5") ", " KERNEL(b " 0", "second") ", " KERNEL(b " 0", "third") "], " MEMBERS "}"

static void find_parts(struct str text, struct format_parts *parts)
{
    struct err err = {0};
    struct source *source = source_mem_open(text.at, text.len, 0, &err);
    assert_non_null(source);
    assert_true(merged()->parts(source, parts, &err));
    source_close(source);
}

static struct trace *read_part(struct str text, int64_t part, struct budget *budget)
{
    struct err err = {0};
    struct source *source = source_mem_open(text.at, text.len, 0, &err);
    struct trace_builder *builder = trace_builder_new(budget, &err);
    struct format_input input = {
        .source = source, .head = text, .builder = builder, .budget = budget, .part = part};
    assert_true(merged()->read(&input, &err));
    source_close(source);
    return trace_builder_seal(builder, &err);
}

static void each_rank_has_its_own_events_launches_and_number(void **state)
{
    (void)state;
    static const char bytes[] = FILE_OF("[TP00]", "[TP01]");
    const struct str text = str_of(bytes);
    struct format_parts parts;
    struct budget budget = {0};
    assert_ptr_equal(format_find(text, STR("")), merged());
    find_parts(text, &parts);
    assert_int_equal(parts.count, 2);
    for (int64_t rank = 0; rank < 2; rank++) {
        struct trace *trace = read_part(text, parts.at[rank], &budget);
        assert_int_equal(trace->job.rank, rank);
        assert_int_equal(trace->job.world_size, 2);
        assert_int_equal(trace->event_count, 2 + rank);
        assert_int_equal(trace->device_count, 2);
        for (size_t i = 0; i < trace->track_count; i++)
            assert_int_equal(trace->tracks[i].pid.text, 0);
        trace_free(trace);
    }
    assert_int_equal(budget.used, 0);
}

static void rank_of(const char *a, const char *b, int64_t first, int64_t second)
{
    char text[4096];
    struct format_parts parts;
    snprintf(
        text, sizeof text,
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": \"%s 1\"}, {\"ph\":\"M\",\"pid\":\"%s 1\"}, "
        "{\"ph\": \"M\", \"pid\": 3}, {\"ph\": \"M\", \"pid\": \"%s Spans\"}]}",
        a, b, a);
    find_parts(str_of(text), &parts);
    assert_int_equal(parts.count, 2);
    assert_int_equal((parts.at[0] >> 32) - 1, first);
    assert_int_equal((parts.at[1] >> 32) - 1, second);
}

static void ranks_of_tensor_parallelism_are_those_of_the_job_if_they_differ(void **state)
{
    (void)state;
    rank_of("[TP00]", "[TP01]", 0, 1);
    rank_of("[TP02]", "[TP07]", 2, 7); // of the second host
    rank_of("[TP00-DP00-PP00]", "[TP00-DP00-PP01]", 0, 1);
    rank_of("[TP03-DP00]", "[TP04-DP01-EP00]", 3, 4);
    rank_of("[Unknown]", "[TP05]", 0, 1);
    rank_of("[TP99999999999999999999]", "[TP05]", 0, 1);
}

static void processes_without_a_label_are_those_of_a_plain_trace(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": 1}]}",
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": \"[TP00]\"}]}",
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": \"[] 1\"}]}",
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": \"[a\\\" ] 1\"}]}",
        "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": ",
        "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"pid\"}]}",
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_string_equal(format_find(str_of(plain[i]), STR(""))->name, "kineto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_has_its_own_events_launches_and_number),
        cmocka_unit_test(ranks_of_tensor_parallelism_are_those_of_the_job_if_they_differ),
        cmocka_unit_test(processes_without_a_label_are_those_of_a_plain_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
