// SPDX-License-Identifier: Apache-2.0
// What members beside the events say becomes facts of the trace, whatever they look like.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/kineto/kineto_members.h"

struct members {
    struct budget budget;
    struct err err;
    struct kineto_members kept;
    struct trace *trace;
};

static void begin(struct members *members)
{
    *members = (struct members){0};
    assert_true(kineto_members_init(&members->kept, &members->budget, &members->err));
}

static void keep(struct members *members, const char *key, const char *json)
{
    assert_true(kineto_members_keep(&members->kept, str_of(key), str_of(json), &members->err));
}

static void read_all(struct members *members)
{
    struct trace_builder *builder = trace_builder_new(&members->budget, &members->err);
    assert_non_null(builder);
    assert_true(kineto_members_read(&members->kept, builder, &members->err));
    members->trace = trace_builder_seal(builder, &members->err);
    assert_non_null(members->trace);
}

static void end(struct members *members)
{
    trace_free(members->trace);
    kineto_members_free(&members->kept);
    assert_int_equal(members->budget.used, 0);
}

static void assert_text(const struct members *members, str_id id, const char *text)
{
    assert_string_equal(trace_text(members->trace, id).at, text);
}

static void assert_setting(const struct members *members, const char *key, const char *text)
{
    const struct trace_setting *setting = trace_setting_find(members->trace, str_of(key));
    assert_non_null(setting);
    assert_text(members, setting->text, text);
}

static void devices_keep_their_order_and_what_is_given(void **state)
{
    (void)state;
    struct members members;
    begin(&members);
    keep(&members, "deviceProperties",
         "[{\"id\": 4, \"name\": \"A\", \"numSms\": 132, \"computeMajor\": 9, \"computeMinor\": 0,"
         " \"totalGlobalMem\": \"80\"}, 7, {\"totalGlobalMem\": 1.5, \"name\": null}]");
    read_all(&members);
    const struct trace_device *devices = members.trace->devices;
    assert_int_equal(members.trace->device_count, 3);
    assert_int_equal(devices[0].id, 4);
    assert_int_equal(devices[0].multiprocessors, 132);
    assert_int_equal(devices[0].compute_major, 9);
    assert_int_equal(devices[0].compute_minor, 0);
    assert_int_equal(devices[0].memory_bytes, 80);
    assert_text(&members, devices[0].name, "A");
    assert_int_equal(devices[1].id, 1);
    assert_int_equal(devices[2].memory_bytes, VALUE_ABSENT);
    assert_int_equal(devices[2].name, 0);
    assert_setting(&members, "gpus_visible", "3");
    end(&members);
}

static void devices_of_2021_have_older_names(void **state)
{
    (void)state;
    struct members members;
    begin(&members);
    keep(&members, "computeProperties",
         "[{\"id\": 0, \"name\": \"V\", \"multiProcessorCount\": 80, \"major\": 7, \"minor\": 5}]");
    read_all(&members);
    assert_int_equal(members.trace->device_count, 1);
    assert_int_equal(members.trace->devices[0].multiprocessors, 80);
    assert_int_equal(members.trace->devices[0].compute_major, 7);
    assert_int_equal(members.trace->devices[0].compute_minor, 5);
    assert_text(&members, members.trace->devices[0].name, "V");
    end(&members);
}

static void the_job_is_rank_size_groups_and_settings(void **state)
{
    (void)state;
    struct members members;
    begin(&members);
    keep(&members, "baseTimeNanoseconds", "1700000000000000000");
    keep(&members, "distributedInfo",
         "{\"backend\": \"nccl\", \"rank\": \"3\", \"world_size\": 8, \"pg_config\": ["
         "{\"pg_name\": \"b\", \"pg_size\": 9}, {\"pg_desc\": \"no name\"}, 5,"
         "{\"pg_name\": \"a\", \"pg_desc\": \"dp\", \"pg_size\": 2, \"ranks\": [0,2]},"
         "{\"pg_name\": \"b\", \"ranks\": \"[1, 3]\"}]}");
    read_all(&members);
    const struct trace *trace = members.trace;
    assert_int_equal(trace->job.base_ns, 1700000000000000000);
    assert_int_equal(trace->job.rank, 3);
    assert_int_equal(trace->job.world_size, 8);
    assert_int_equal(trace->group_count, 2);
    const struct trace_group *a = trace_group_find(trace, strtab_find(&trace->strings, STR("a")));
    const struct trace_group *b = trace_group_find(trace, strtab_find(&trace->strings, STR("b")));
    assert_text(&members, a->description, "dp");
    assert_text(&members, a->ranks, "[0, 2]");
    assert_int_equal(a->size, 2);
    assert_text(&members, b->ranks, "[1, 3]");
    assert_int_equal(b->size, VALUE_ABSENT); // the later one counts
    assert_setting(&members, "distributed.backend", "nccl");
    assert_null(trace_setting_find(trace, STR("distributed.rank")));
    end(&members);
}

static void versions_have_common_names_unless_the_file_uses_them(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        struct members members;
        begin(&members);
        keep(&members, "cuda_driver_version", "12090");
        keep(&members, "cuda_runtime_version", "\"12040\"");
        if (own)
            keep(&members, "driver", "\"mine\"");
        keep(&members, "metadata",
             "{\"system\": {\"torch_env_info\": {\"torch_version\": \"2.6.0\", "
             "\"nvidia_driver_version\": \"N/A\", \"secret\": 1}}}");
        read_all(&members);
        assert_setting(&members, "framework", "PyTorch 2.6.0");
        assert_setting(&members, "driver", own ? "mine" : "CUDA 12.9");
        assert_setting(&members, "runtime", "CUDA 12.4");
        assert_int_equal(members.trace->setting_count, 5);
        end(&members);
    }
}

static void values_are_typed_and_others_are_named(void **state)
{
    (void)state;
    struct members members;
    begin(&members);
    keep(&members, "text", "\"12\"");
    keep(&members, "text", "\"twelve\"");
    keep(&members, "real", "0.1");
    keep(&members, "truth", "true");
    keep(&members, "object", "{\"x\": 5, \"deep\": {\"y\": 6}, \"timestamp\": 7}");
    keep(&members, "list", "[1]");
    keep(&members, "nothing", "null");
    keep(&members, "broken", "{\"a\": inf}");
    keep(&members, "traceName", "broken as well");
    keep(&members, "baseTimeNanoseconds", "soon");
    read_all(&members);
    assert_int_equal(members.trace->setting_count, 5);
    assert_setting(&members, "text", "twelve");
    assert_int_equal(trace_setting_find(members.trace, STR("text"))->number, VALUE_ABSENT);
    assert_setting(&members, "real", "0.1");
    assert_setting(&members, "truth", "true");
    assert_int_equal(trace_setting_find(members.trace, STR("object.x"))->number, 5);
    assert_int_equal(trace_setting_find(members.trace, STR("broken"))->unread, 1);
    assert_int_equal(members.trace->job.base_ns, VALUE_ABSENT);
    end(&members);
}

// A list of ranks is longer with blanks, and a key with that of its member before it.
static void what_would_be_too_long_is_left_out(void **state)
{
    (void)state;
    struct members members;
    struct buf json = {0};
    begin(&members);
    buf_puts(&json, "{\"pg_config\":[{\"pg_name\":\"long\",\"ranks\":[0");
    while (json.len < STRTAB_MAX_LEN - 8)
        buf_puts(&json, ",1");
    buf_puts(&json, "]}]}");
    keep(&members, "distributedInfo", json.at);
    buf_clear(&json);
    while (json.len < STRTAB_MAX_LEN)
        buf_puts(&json, "kkkkkkkk");
    keep(&members, json.at, "{\"a\": 1}");
    read_all(&members);
    assert_int_equal(members.trace->group_count, 1);
    assert_int_equal(members.trace->groups[0].ranks, 0);
    assert_int_equal(members.trace->setting_count, 0);
    buf_free(&json);
    end(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_keep_their_order_and_what_is_given),
        cmocka_unit_test(devices_of_2021_have_older_names),
        cmocka_unit_test(the_job_is_rank_size_groups_and_settings),
        cmocka_unit_test(versions_have_common_names_unless_the_file_uses_them),
        cmocka_unit_test(values_are_typed_and_others_are_named),
        cmocka_unit_test(what_would_be_too_long_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
