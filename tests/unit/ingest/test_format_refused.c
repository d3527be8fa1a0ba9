// SPDX-License-Identifier: Apache-2.0
// A file without events is refused with what it is instead.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/golden/trace_dump.h"
#include "tests/unit/archive_bytes.h"

#define EVENT "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}"

static struct trace *read_all(const char *text, size_t step, struct budget *budget, struct err *err)
{
    *err = (struct err){.code = ERR_NONE};
    return dump_read(str_of(text), step, budget, err);
}

static void assert_refused_at(const char *text, uint64_t pos, const char *says)
{
    static const size_t steps[] = {0, 1, 7};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct budget budget = {0};
        struct err err;
        assert_null(read_all(text, steps[i], &budget, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        if (!strstr(err.msg, says))
            fail_msg("%s: expected \"%s\", found \"%s\"", text, says, err.msg);
        assert_true(pos == ERR_NO_POS || err.pos == pos);
        assert_int_equal(budget.used, 0);
    }
}

static void assert_refused(const char *text, const char *says)
{
    assert_refused_at(text, ERR_NO_POS, says);
}

static void a_log_is_no_trace_though_it_begins_with_a_bracket(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "[2026-01-01 12:00:00] INFO step 1, loss 2.3\n[2026-01-01 12:00:01] INFO step 2\n",
        "[rank0]: Traceback (most recent call last):\n",
        "[INFO] started \"run\n",
        "[1/3] Building CXX object\n",
        "[0]: NCCL version 2.27.3\n",
        "{'loss': 2.3, 'step': 1}\n",
        "{{ template }}",
        "\x1b[36mstarted\x1b[0m\n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_refused(logs[i], "found text that is not JSON, perhaps a log, expected a trace");
}

static void json_without_an_event_is_named_by_what_it_holds(void **state)
{
    (void)state;
    assert_refused("{\"start\":{},\"intervals\":[]}", "results of iperf3");
    assert_refused("{\"sysstat\":{\"hosts\":[]}}", "samples of sysstat");
    assert_refused("\"Step\",\"run-1 - train/loss\"\n1,2\n", "a chart that W&B or TensorBoard");
    assert_refused("[]", "found an empty list");
    assert_refused(" [ ] \n", "found an empty list");
    assert_refused("{}", "found an empty JSON object");
    assert_refused("[1, 2.5e3, -1]", "found a list of numbers");
    assert_refused("[\"a\", \"b\"]", "found a list of strings");
    assert_refused("[[1, 2], [3]]", "found a list of lists");
    assert_refused("[{\"step\": 1, \"loss\": {\"ph\": 2}}, {\"lr\": 2}]",
                   "found a list of objects that are not events, perhaps metrics, with "
                   "step, loss, expected");
    assert_refused("[{\"ph\": \"?\"}, {\"ph\": 7.2}, {}]", "with ph, expected");
    assert_refused("{\"step\": 1}\n{\"step\": 2}\n",
                   "found lines of JSON objects, perhaps a log, with step");
    assert_refused("{\"lr\": 0.1, \"layers\": {\"a\": 1}, \"x\": [{\"y\": 1}]}",
                   "found a JSON object with lr, layers, x, expected");
    assert_refused("{\"model_type\": \"llama\"}", "found settings of a model");
    assert_refused("{\"version\": \"2.10\", \"pg_config\": {}, \"entries\": []}",
                   "found a Flight Recorder dump");
    assert_refused("{\"schema\": \"1.1.1\", \"nodes\": [{\"id\": 1}]}", "found an execution trace");
    assert_refused("{\"schemaVersion\": 1, \"deviceProperties\": []}",
                   "found the head of a trace without its events");
}

static void what_other_tools_write_is_named_with_what_to_send(void **state)
{
    (void)state;
    static const struct {
        const char *text, *is, *instead;
    } files[] = {
        {"{\"system.gpu.0.gpu\": 50.0, \"_timestamp\": 1}\n{\"a\": 1}\n", "system metrics of W&B",
         "nvidia-smi, DCGM or amd-smi"},
        {"{\"loss\": 2.5, \"training_iteration\": 1}\n{\"loss\": 2}\n", "results of Ray Tune",
         "events.out.tfevents.*"},
        {"[[1773237600.5, 0, 2.5], [1773237601.5, 1, 2.25]]", "a chart that TensorBoard exported",
         "events.out.tfevents.*"},
        {"1773237600000 2.5 0\n1773237601000 2e-1 10\n", "a metric of MLflow",
         "JSON lines with a step"},
        {"{\"DCGM Diagnostic\": {}}", "results of dcgmi diag", "monitors of its GPUs"},
        {"<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n", "XML of nvidia-smi -q", "--query-gpu"},
        {"# HELP node_load1 1m load\nnode_load1 3.5\n", "of which none is of a GPU",
         "dcgm-exporter"},
        {"[CUDA Bandwidth Test] - Starting...\n", "what bandwidthTest prints", "nccl-tests"},
        {"1.7%  proc'd: 0 (4 Gflop/s)   errors: 0  temps: 61 C\n", "what gpu-burn prints",
         "monitors"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_refused(files[i].text, files[i].is);
        assert_refused(files[i].text, files[i].instead);
    }
    assert_refused("only words\n", "give it a name that ends in .log");
}

static void names_of_members_leave_room_for_what_to_send(void **state)
{
    (void)state;
    assert_refused("{\"abcdefghijklmnopqrstuv.1\": 1, \"abcdefghijklmnopqrstuv.2\": 1, "
                   "\"abcdefghijklmnopqrstuv.3\": 1}\n{\"a\": 1}\n",
                   "prof.export_chrome_trace()");
}

static void what_members_are_called_is_repeated_only_if_it_is_a_name(void **state)
{
    (void)state;
    assert_refused("{\"a\\nb\": 1, \"<b>\": 2, \"ok\": 3}", "object with ok, expected");
    assert_refused("{\"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\": 1}",
                   "found a JSON object, expected");
}

static void an_empty_recording_says_that_nothing_was_recorded(void **state)
{
    (void)state;
    assert_refused("{\"traceEvents\": []}", "no events were recorded");
    assert_refused("{\"schemaVersion\": 1, \"traceEvents\": [], \"traceName\": \"t\"}",
                   "no events were recorded");
    assert_refused("{\"traceEvents\": 5}", "found traceEvents that is not a list");
    assert_refused("{\"traceEvents\": {\"ph\": \"X\"}, \"b\": 1}",
                   "traceEvents that is not a list");
}

static void a_trace_that_is_cut_before_its_first_event_says_so(void **state)
{
    (void)state;
    assert_refused_at("{\"schemaVersion\": 1, \"traceEvents\": [", 37, "before its first event");
    assert_refused_at("{\"schemaVersion\": 1, \"tra", 25, "before its first event");
    assert_refused_at("[{\"ph\": \"X\", \"na", 16, "the file ends before its first event");
}

static void one_event_makes_a_trace_whatever_stands_around_it(void **state)
{
    (void)state;
    static const char *const traces[] = {
        "[" EVENT,
        "[1, " EVENT "]",
        "[INFO] {\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}",
        "{\"traceEvents\": [{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1}]}",
        "{\"traceEvents\": [{\"ph\": \"i\", \"name\": \"Record Window End\", \"ts\": 1}, ",
    };
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct budget budget = {0};
        struct err err;
        struct trace *trace = read_all(traces[i], 0, &budget, &err);
        if (!trace)
            fail_msg("%s: %s", traces[i], err.msg);
        trace_free(trace);
    }
}

static void a_table_without_commas_says_how_to_save_it(void **state)
{
    (void)state;
    static const char says[] =
        "found a table with semicolons or tabs between its cells, expected a trace";
    assert_refused("\"ID\";\"Process ID\";\"a\";\"b\";\"c\";\"d\"\n\"0\";\"1\"\n", says);
    assert_refused("Kind\tAgent_Id\tQueue_Id\tThread_Id\tDispatch_Id\tKernel_Id\r\n", says);
    assert_refused("a; b; c; d; e; f; it is text, though\n", "found text that is not JSON");
}

static void bytes_that_are_no_text_are_named(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    assert_null(read_all("\x80\x04\x95 pickle", 0, &budget, &err));
    assert_non_null(strstr(err.msg, "found a Python pickle"));
    struct buf tar = {0};
    put_tar_header(&tar, "run/rank0.json", '0', 0);
    assert_null(dump_read((struct str){tar.at, tar.len}, 0, &budget, &err));
    buf_free(&tar);
    assert_non_null(strstr(err.msg, "found a tar archive"));
    assert_null(read_all("PK\x03\x04", 0, &budget, &err));
    assert_non_null(strstr(err.msg,
                           "found a zip archive, expected a trace as .json, .xplane.pb, .prv, "
                           ".csv, .db, .rpd or .sqlite, also as .gz or .zst: unpack it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_no_trace_though_it_begins_with_a_bracket),
        cmocka_unit_test(json_without_an_event_is_named_by_what_it_holds),
        cmocka_unit_test(what_other_tools_write_is_named_with_what_to_send),
        cmocka_unit_test(names_of_members_leave_room_for_what_to_send),
        cmocka_unit_test(what_members_are_called_is_repeated_only_if_it_is_a_name),
        cmocka_unit_test(an_empty_recording_says_that_nothing_was_recorded),
        cmocka_unit_test(a_trace_that_is_cut_before_its_first_event_says_so),
        cmocka_unit_test(one_event_makes_a_trace_whatever_stands_around_it),
        cmocka_unit_test(a_table_without_commas_says_how_to_save_it),
        cmocka_unit_test(bytes_that_are_no_text_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
