// SPDX-License-Identifier: Apache-2.0
// Files that are kept beside a run: what they are and what is counted in them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/source/format.h"
#include "ingest/source/source.h"

// The words of a file's figures; it is recognized as the format of that name.
static void assert_words(const char *name, const char *text, const char *words)
{
    struct err err = {.pos = ERR_NO_POS};
    struct arena arena;
    struct budget budget = {0};
    char found[240];
    struct str bytes = str_of(text);
    const struct format *format = format_find(bytes, STR(""));
    assert_non_null(format);
    assert_string_equal(format->name, name);
    assert_true(format_is_kept(format));
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(bytes.at, bytes.len, 5, &err);
    if (!format->count(&input, &err))
        fail_msg("%s", err.msg);
    figures_words(&figures, found, sizeof found);
    assert_string_equal(found, words);
    source_close(input.source);
    arena_free(&arena);
}

static void perf_script_is_counted_by_sample_command_and_top_frame(void **state)
{
    (void)state;
    assert_words("perf-script",
                 "# a comment\n"
                 "python 42/43 [003] 12.345678:  250000 cycles:u: \n"
                 "\t  7f1c2d3e4f50 forward+0x1a (/usr/bin/python3)\n"
                 "\t  7f1c2d3e4f60 main+0x1a (/usr/bin/python3)\n\n"
                 "pt main thread 42 12.345679:  250000 cycles:u: \n"
                 "\t  7f1c2d3e4f50 forward+0x1a (/usr/bin/python3)\n",
                 "samples 2; frames 3; events cycles:u 100 %; commands python 50 %, "
                 "pt main thread 50 %; top frames forward 100 %");
}

static void samples_of_perf_count_as_their_periods(void **state)
{
    (void)state;
    assert_words("perf-script",
                 "python 42/43 [003] 12.345678:  300 cycles:u: \n"
                 "\t  401136 forward+0x1a (/usr/bin/a)\n\n"
                 "python 42/43 [003] 12.345679:  100 cycles:u: \n"
                 "\t  401156 load+0x1a (/usr/bin/a)\n",
                 "samples 2; frames 2; events cycles:u 100 %; commands python 100 %; "
                 "top frames forward 75 %, load 25 %");
}

static void speedscope_is_counted_with_frames_before_or_after_profiles(void **state)
{
    (void)state;
    const char *words = "profiles 2; frames 3; samples 3; events 4; top frames main 43 %, "
                        "load 43 %, forward 14 %";
    // two samples of main and one of forward, then 1 of main and 3 of load
#define PROFILES                                                                              \
    "\"profiles\":[{\"type\":\"sampled\",\"samples\":[[0],[1,0],[0,1]],\"weights\":[1,1,1]}," \
    "{\"type\":\"evented\",\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},"                \
    "{\"type\":\"O\",\"frame\":2,\"at\":1},{\"type\":\"C\",\"frame\":2,\"at\":4},"            \
    "{\"type\":\"C\",\"frame\":0,\"at\":4}]}]"
#define FRAMES \
    "\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"forward\"},{\"name\":\"load\"}]}"
    assert_words("speedscope", "{" PROFILES "," FRAMES "}", words);
    assert_words("speedscope",
                 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"," FRAMES
                 "," PROFILES "}",
                 words);
}

static void samples_of_speedscope_count_as_their_weights(void **state)
{
    (void)state;
    static const char *const members[] = {"\"samples\":[[0],[0,1]],\"weights\":[30,10]",
                                          "\"weights\":[30,10],\"samples\":[[0],[0,1]]"};
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"," FRAMES
                 ",\"profiles\":[{\"type\":\"sampled\",%s}]}",
                 members[i]);
        assert_words("speedscope", text,
                     "profiles 1; frames 3; samples 2; top frames main 75 %, forward 25 %");
    }
}

static void execution_traces_are_counted_by_node(void **state)
{
    (void)state;
    assert_words("execution-trace",
                 "{\"schema\":\"1.0.2\",\"nodes\":[{\"name\":\"## process_group:init ##\"},"
                 "{\"name\":\"aten::mm\",\"inputs\":{\"shapes\":[[8,4]]}},"
                 "{\"name\":\"aten::mm\",\"input_shapes\":[[8]]}]}",
                 "schema 1.0.2; nodes 3; names 2; process groups 1; communication nodes 0; nodes "
                 "with shapes 2; most frequent aten::mm 67 %, ## process_group:init ## 33 %");
    assert_words("chakra", "{\"workload_graph\":[{\"Name\":\"c10d::broadcast_\"}]}",
                 "nodes 1; names 1; process groups 0; communication nodes 1; nodes with shapes 0; "
                 "most frequent c10d::broadcast_ 100 %");
}

static void chakra_as_protocol_buffers_is_counted_by_node(void **state)
{
    (void)state;
    // metadata {version}, node {id, name, type COMM_COLL, ctrl_deps}, node {name, type COMP}
    static const char et[] = "\x07\x0A\x05"
                             "0.0.4"
                             "\x0B\x08\x01\x12\x02"
                             "ar"
                             "\x18\x07\x22\x01\x09"
                             "\x06\x12\x02"
                             "mm"
                             "\x18\x04";
    struct str bytes = {et, sizeof et - 1};
    const struct format *format = format_find(bytes, STR(""));
    assert_non_null(format);
    assert_string_equal(format->name, "chakra-et");
    struct err err = {.pos = ERR_NO_POS};
    struct arena arena;
    struct budget budget = {0};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(bytes.at, bytes.len, 1, &err);
    assert_true(format->count(&input, &err));
    char words[200];
    figures_words(&figures, words, sizeof words);
    assert_string_equal(words,
                        "nodes 2; names 2; communication nodes 1; most frequent ar 50 %, mm 50 %");
    source_close(input.source);
    arena_free(&arena);
    assert_null(format_find(STR("\x07\x0A\x05hello"), STR("")));
}

static void what_is_no_sample_is_no_perf_script(void **state)
{
    (void)state;
    const struct format *format =
        format_find(STR("python 42 12.345678: step\nstep 2, loss 3\n"), STR(""));
    assert_true(!format || strcmp(format->name, "perf-script") != 0);
    format = format_find(STR("2024-01-01 12:00:00.123456: I tensorflow/core: start\n"
                             "   add foo bar\n"),
                         STR(""));
    assert_true(!format || strcmp(format->name, "perf-script") != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_script_is_counted_by_sample_command_and_top_frame),
        cmocka_unit_test(samples_of_perf_count_as_their_periods),
        cmocka_unit_test(samples_of_speedscope_count_as_their_weights),
        cmocka_unit_test(speedscope_is_counted_with_frames_before_or_after_profiles),
        cmocka_unit_test(execution_traces_are_counted_by_node),
        cmocka_unit_test(chakra_as_protocol_buffers_is_counted_by_node),
        cmocka_unit_test(what_is_no_sample_is_no_perf_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
