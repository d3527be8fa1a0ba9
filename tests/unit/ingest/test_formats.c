// SPDX-License-Identifier: Apache-2.0
// Files are recognized by their first bytes and names, and messages follow the table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/formats_unread.h"
#include "tests/unit/archive_bytes.h"

static const struct str no_name = {"", 0};

static void assert_found(struct str head, const char *filename, const char *name)
{
    const struct format *found = format_find(head, str_of(filename));
    const char *is = found ? found->name : "nothing";
    if (strcmp(is, name) != 0)
        fail_msg("%s '%.*s': expected %s, found %s", filename, (int)head.len, head.at, name, is);
}

static void files_are_named_by_their_first_bytes(void **state)
{
    (void)state;
    struct buf header = {0};
    put_tar_header(&header, "run/rank0.json", '0', 0);
    assert_found(STR("{\"traceEvents\": ["), "", "kineto");
    assert_found(STR("\xEF\xBB\xBF                                        "), "", "nothing");
    assert_found(STR("\xEF\xBB\xBF {\"a\": 1}"), "", "kineto");
    assert_found(STR("[{\"ph\": \"X\"}]"), "", "kineto");
    assert_found(STR("\x1F\x8B\x08"), "", "gzip");
    assert_found(STR("\x28\xB5\x2F\xFD"), "", "zstd");
    assert_found(STR("\x5A\x2A\x4D\x18"), "", "zstd");
    assert_found(STR("PK\x03\x04"), "rank0.json", "zip");
    assert_found((struct str){header.at, header.len}, "rank0.json", "tar");
    buf_free(&header);
    assert_found(STR("SQLite format 3\0"), "", "sqlite");
    assert_found(STR("\x80\x04\x95"), "", "pickle");
    assert_found(STR("\x80\x02}q\0(X\x09\0\0\0pg_config"), "", "flight-recorder");
    assert_found(STR("\x80\x04]\x94}\x94(\x8c\x0e"
                     "allocated_size"),
                 "", "memory-snapshot");
    assert_found(STR("{\0\"\0"), "", "utf-16");
    assert_found(STR("#Paraver (1/1/26 at 1:1)"), "", "prv");
    assert_found(STR("\"ID\",\"Process ID\",\"Name\""), "", "ncu-csv");
    assert_found(STR("step 1, loss 2.3\n"), "rank0.json", "text");
    assert_found(STR(""), "", "nothing");
    assert_found(STR("\0\0\0\0"), "rank0.json", "nothing");
    assert_found(STR("\0\0\0\0\0\0\0\0{\"traceEvents\": []}"), "rank0.json", "nothing");
}

static void an_archive_is_not_what_its_first_member_is(void **state)
{
    (void)state;
    static const char log[] = " iteration 1/ 9 | elapsed time per iteration (ms): 10.0 | "
                              "global batch size: 8 | lm loss: 2.5E+00 |\n";
    struct buf tar = {0}, zip = {0};
    put_tar_file(&tar, "train.txt", log);
    buf_add(&zip, "PK\x03\x04", 4);
    buf_puts(&zip, "\n");
    buf_puts(&zip, log);
    assert_found(str_of(log), "", "training-log");
    assert_found((struct str){tar.at, tar.len}, "", "tar");
    assert_found((struct str){zip.at, zip.len}, "", "zip");
    buf_free(&tar);
    buf_free(&zip);
}

static void json_is_named_by_members_that_only_it_has(void **state)
{
    (void)state;
    assert_found(STR("{\"version\": \"2.9\", \"pg_config\": {}}"), "", "flight-recorder");
    assert_found(STR("{\"segments\": [{\"allocated_size\": 1"), "", "memory-snapshot");
    assert_found(STR("{\"device_traces\": []"), "", "memory-snapshot");
    assert_found(STR("{\"nodes\": [], \"traceEvents\": []}"), "", "kineto");
    assert_found(STR("{\"schemaVersion\": 1, \"deviceProperties\": []"), "", "kineto");
    assert_found(STR("{\"rocprofiler-sdk-tool\": []}"), "", "rocprofv3-json");
}

// Whatever table it is, and with what the program printed above it.
static void tables_of_nsys_stats_are_known(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "Time (%),Total Time (ns),Instances,Name\n",
        "Start (ns),Duration (ns),CorrId,GrdX\n",
        "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n",
        "Total (MB),Count,Avg (MB),Operation\n",
        "Range,Style,Total Proj Time (ns),Range Instances\n",
        "Generating SQLite file a.sqlite from a.nsys-rep\nProcessing [a.sqlite] with "
        "[cuda_gpu_kern_sum.py]...\nTime (%),Total Time (ns)\n",
        "\nNOTICE: Existing SQLite export found: a.sqlite\n\nProcessing [a.sqlite] with "
        "[cuda_gpu_trace.py]...\n",
        "\"Time (%)\",\"Total Time (ns)\",\"Num Calls\"\n",
        "API Start (ns),API Dur (ns),Queue Start (ns)\n",
        "Start (ns),End (ns),Duration (ns),DurChild (ns)\n",
        "Generating SQLite file a\n\n ** CUDA GPU MemOps (cuda_gpu_mem_size_sum):\n\nTotal (MB)\n",
        "\n ** CUDA GPU Trace (cuda_gpu_trace):\n\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        assert_found(str_of(heads[i]), "a.csv", "nsys-stats");
    assert_found(STR("Generating SQLite file a.sqlite\nstep 1, loss 2.3\n"), "a.log",
                 "training-log");
}

static void what_other_programs_write_is_known(void **state)
{
    (void)state;
    assert_found(
        STR("[\n{\"name\": \"Group API\", \"cat\": \"GROUP_API\", \"ph\": \"b\", \"id\": 0, "
            "\"pid\": 7, \"tid\": 1, \"ts\": 1.5},\n"),
        "nccl.json", "nccl-plugin");
    assert_found(
        STR("[{\"name\": \"load\", \"cat\": \"io\", \"ph\": \"b\", \"id\": 0, \"ts\": 1},"),
        "a.json", "kineto");
    assert_found(STR("Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"),
                 "kernel_details.csv", "ascend-table");
    assert_found(STR("Device_id,OP Type,Core Type,Count,Total Time(us)\n"), "op_statistic.csv",
                 "ascend-table");
    assert_found(STR("----------  ----------\n      Name  Self CPU %  Self CPU\n"), "a.txt",
                 "torch-averages");
}

static void names_count_where_bytes_say_nothing(void **state)
{
    (void)state;
    assert_found(STR("\x01\x02"), "report_0.nsys-rep", "nsys-rep");
    assert_found(STR("\x01\x02"), "report_0.qdrep", "qdrep");
    assert_found(STR("ARROW1\0\0"), "CUPTI_ACTIVITY_KIND_KERNEL.arrow", "arrow");
    assert_found(STR("\x89HDF\r\n\x1A\n"), "report_0.h5", "hdf5");
    assert_found(STR("{\"Type\":79,\"CudaEvent\":{\"startNs\":\"1\"}}\n{"), "a.jsonl", "nsys-json");
    assert_found(STR("\x0A\x02"), "host.XPLANE.pb", "xplane");
    assert_found(STR("\x18\0\0\0"), "tb/events.out.tfevents.1700000000.host.1.0", "tfevents");
    assert_found(STR("PK\x03\x04"), "report_0.nsys-rep", "zip");
    assert_found(STR("{\"traceEvents\": ["), "a.nsys-rep", "kineto");
}

static void every_format_that_is_not_read_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < formats_unread_count; i++) {
        const struct format *format = &formats_unread[i];
        assert_non_null(format->name);
        assert_non_null(format->what);
        assert_false(format_is_read(format));
        assert_non_null(format_kind_word(format->kind));
        assert_true(format->magic.len || format->member || format->words || format->probe ||
                    format->ending);
        struct err err = {0};
        assert_false(format_refuse(format, &err));
        assert_non_null(strstr(err.msg, format->what));
        assert_true(!format->advice || strstr(err.msg, format->advice)); // it fits
    }
}

static void only_json_is_tried_as_a_trace(void **state)
{
    (void)state;
    struct err err = {0};
    const struct format *format = format_of_trace(STR("{\"nodes\": {}}"), no_name, &err);
    assert_string_equal(format->name, "kineto"); // it may hold events, too
    assert_null(format_of_trace(STR("SQLite format 3\0"), no_name, &err));
    assert_non_null(strstr(err.msg, "found an SQLite database, expected a trace as .json"));
    assert_null(format_of_trace(STR("\x1F\x8B"), no_name, &err));
    assert_non_null(strstr(err.msg, "compress the trace once"));
}

// --- endings ------------------------------------------------------------------------------------

static void read_text(const char *path, struct buf *text)
{
    char block[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        buf_add(text, block, got);
    fclose(file);
}

static void what_people_read_lists_what_is_read(void **state)
{
    (void)state;
    static const char *const pages[] = {"schema/openapi.json", "web/views/runs/upload.mjs"};
    char traces[FORMAT_ENDINGS_BYTES];
    format_endings(1u << FORMAT_TRACE, traces);
    assert_string_equal(traces,
                        ".json, .xplane.pb, .prv, .csv, .db, .rpd or .sqlite, also as .gz or .zst");
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct buf text = {0};
        read_text(pages[i], &text);
        if (!strstr(text.at, traces))
            fail_msg("%s: expected %s", pages[i], traces);
        buf_free(&text);
    }
}

// The client searches folders for them.
static void the_client_knows_the_same_endings(void **state)
{
    (void)state;
    char traces[FORMAT_ENDINGS_BYTES];
    struct buf client = {0};
    format_endings(1u << FORMAT_TRACE, traces);
    read_text("web/client/stepscope.py", &client);
    const char *line = strstr(client.at, "_ENDINGS = (");
    const char *end = line ? strchr(line, '\n') : NULL;
    assert_non_null(end);
    size_t endings = 0, listed = 0;
    *strstr(traces, ", also") = '\0';
    for (const char *at = traces; at;
         at = strpbrk(at + 1, " ")) // before each but the first, and "or"
        endings += at == traces || at[1] == '.';
    for (const char *at = line; (at = strstr(at, "\".")) && at < end; at++) {
        const char *close = strchr(at + 1, '"');
        assert_non_null(close);
        struct str ending = {at + 1, (size_t)(close - at - 1)};
        assert_true(str_find(str_of(traces), ending) != SIZE_MAX);
        listed++;
    }
    assert_int_equal(listed, endings);
    buf_free(&client);
}

static void names_end_as_what_is_read_does(void **state)
{
    (void)state;
    unsigned traces = 1u << FORMAT_TRACE;
    assert_true(format_has_ending(traces, STR("rank0.json")));
    assert_true(format_has_ending(traces, STR("a/rank0.pt.trace.JSON.gz")));
    assert_true(format_has_ending(traces, STR("rank0.json.zst")));
    assert_false(format_has_ending(traces, STR(".json")));
    assert_false(format_has_ending(traces, STR("rank0.jsonl")));
    assert_false(format_has_ending(traces, STR("rank0.gz")));
    assert_false(format_has_ending(0, STR("rank0.json")));
}

// --- opening ------------------------------------------------------------------------------------

static void compression_comes_off_and_is_named(void **state)
{
    (void)state;
    struct buf once = {0}, twice = {0}, thrice = {0}, out = {0};
    struct err err = {0};
    struct format_found found;
    add_gzip(&once, STR("{\"traceEvents\": []}"), 6);
    add_zstd(&twice, compress_text(&once));
    add_gzip(&thrice, compress_text(&twice), 6);
    struct source *source = source_mem_open(twice.at, twice.len, 0, &err);
    source = format_open(source, NULL, &found, &err);
    assert_non_null(source);
    assert_int_equal(found.layer_count, 2);
    assert_string_equal(found.layers[0]->name, "zstd");
    assert_string_equal(found.layers[1]->name, "gzip");
    assert_string_equal(found.format->name, "kineto");
    assert_true(str_equal(found.head, STR("{\"traceEvents\": []}")));
    uint64_t size;
    assert_false(source_size(source, &size));
    assert_int_equal(compress_drain(source, 7, &out), ERR_NONE);
    assert_string_equal(out.at, "{\"traceEvents\": []}");

    source = source_mem_open(thrice.at, thrice.len, 0, &err);
    source = format_open(source, NULL, &found, &err);
    assert_non_null(source);
    assert_string_equal(found.format->name, "gzip"); // the third layer stays
    source_close(source);
    buf_free(&once);
    buf_free(&twice);
    buf_free(&thrice);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_named_by_their_first_bytes),
        cmocka_unit_test(an_archive_is_not_what_its_first_member_is),
        cmocka_unit_test(json_is_named_by_members_that_only_it_has),
        cmocka_unit_test(tables_of_nsys_stats_are_known),
        cmocka_unit_test(what_other_programs_write_is_known),
        cmocka_unit_test(names_count_where_bytes_say_nothing),
        cmocka_unit_test(every_format_that_is_not_read_says_what_it_is),
        cmocka_unit_test(only_json_is_tried_as_a_trace),
        cmocka_unit_test(what_people_read_lists_what_is_read),
        cmocka_unit_test(the_client_knows_the_same_endings),
        cmocka_unit_test(names_end_as_what_is_read_does),
        cmocka_unit_test(compression_comes_off_and_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
