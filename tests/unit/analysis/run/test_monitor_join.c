// SPDX-License-Identifier: Apache-2.0
// Which GPU of a monitor is a rank's: by what both say, or by nothing, and why.
#include "analysis/run/run_monitors_inner.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct scene {
    struct arena arena;
    struct report report;
    struct monitor_file file;
    struct rank_device devices[16];
    size_t count;
};

static int set_up(void **state)
{
    static struct scene s;
    s = (struct scene){.file = {.name = STR("smi.csv")}};
    arena_init(&s.arena, NULL);
    s.report.arena = s.file.arena = &s.arena;
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    arena_free(&s->arena);
    return 0;
}

static void gpu(struct scene *s, const char *host, int64_t index, const char *uuid,
                const char *bus_id)
{
    struct err err;
    struct row row = {.desc = &table_monitors};
    row_word(&row, MONITORS_FILE, "smi.csv");
    row_i64(&row, MONITORS_GPU, index);
    row_text_if(&row, MONITORS_HOST, *host, str_of(host));
    row_text_if(&row, MONITORS_UUID, *uuid, str_of(uuid));
    row_text_if(&row, MONITORS_BUS_ID, *bus_id, str_of(bus_id));
    assert_true(row_end(&row, &s->report, &err));
}

static struct rank_device *device(struct scene *s, const char *node, int64_t gpu, const char *basis)
{
    struct rank_device *device = &s->devices[s->count];
    *device = (struct rank_device){.rank = s->count++,
                                   .node = str_of(node),
                                   .gpu = gpu,
                                   .basis = str_of(basis),
                                   .alone = true};
    return device;
}

static void join(struct scene *s)
{
    s->file.monitors = report_find(&s->report, "monitors");
    monitor_join(&s->file, s->devices, s->count);
}

static void assert_joined(const struct scene *s, size_t rank, size_t monitor, const char *by)
{
    const struct rank_device *device = &s->devices[rank];
    assert_non_null(device->joined_by);
    assert_string_equal(device->joined_by, by);
    assert_int_equal(device->monitor, monitor);
}

static void assert_unknown(const struct scene *s, size_t rank, const char *why)
{
    assert_null(s->devices[rank].joined_by);
    assert_int_equal(s->devices[rank].monitor, MONITOR_NONE);
    assert_non_null(s->devices[rank].doubt);
    assert_non_null(strstr(s->devices[rank].doubt, why));
}

static void an_address_counts_more_than_a_number(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 0, "GPU-aaaaaaaa-1", "00000000:1B:00.0");
    gpu(s, "", 1, "GPU-bbbbbbbb-2", "00000000:1C:00.0");
    device(s, "", 0, "trace")->uuid = STR("BBBBBBBB-2");
    device(s, "", 1, "trace")->bus_id = STR("0000:1b:00.0");
    device(s, "", 1, "trace")->bus_id = STR("0000:2b:00.0");
    join(s);
    assert_joined(s, 0, 1, "UUID");
    assert_joined(s, 1, 0, "bus id");
    assert_null(s->devices[2].joined_by); // it is another GPU, whatever its number
}

static void domains_have_any_number_of_digits(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 0, "", "00000001:00:00.0");
    gpu(s, "", 1, "", "00000002:00:00.0");
    gpu(s, "", 2, "", "00000000:00:00.0");
    device(s, "", 0, "trace")->bus_id = STR("0002:00:00.0");
    device(s, "", 1, "trace")->bus_id = STR("1:00:00.0");
    device(s, "", 2, "trace")->bus_id = STR("00:00.0");
    join(s);
    assert_joined(s, 0, 1, "bus id");
    assert_joined(s, 1, 0, "bus id");
    assert_joined(s, 2, 2, "bus id");
}

static void numbers_count_on_the_host_of_the_rank(void **state)
{
    struct scene *s = *state;
    for (int64_t i = 0; i < 4; i++)
        gpu(s, i < 2 ? "a.cluster" : "b:9400", i % 2, "", "");
    device(s, "a", 1, "trace");
    device(s, "b", 1, "visible devices");
    device(s, "c", 1, "trace");
    join(s);
    assert_joined(s, 0, 1, "index");
    assert_joined(s, 1, 3, "index (visible devices)");
    assert_null(s->devices[2].joined_by);
}

static void a_number_that_fits_several_is_no_join(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 0, "", "");
    gpu(s, "", 1, "", "");
    device(s, "a", 0, "trace");
    device(s, "b", 0, "trace");
    device(s, "a", 1, "trace");
    join(s);
    assert_unknown(s, 0, "several ranks");
    assert_unknown(s, 1, "several ranks");
    assert_joined(s, 2, 1, "index");
}

static void the_name_of_the_file_may_say_the_node(void **state)
{
    struct scene *s = *state;
    s->file.name = STR("smi-node1.csv");
    gpu(s, "", 0, "", "");
    gpu(s, "", 1, "", "");
    device(s, "node0", 0, "trace");
    device(s, "node1", 0, "trace");
    device(s, "node10", 1, "trace");
    join(s);
    assert_null(s->devices[0].joined_by);
    assert_joined(s, 1, 0, "index");
    assert_null(s->devices[2].joined_by);
}

static void a_process_that_sees_one_gpu_does_not_say_which(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 0, "", "");
    gpu(s, "", 1, "", "");
    gpu(s, "", 2, "", "");
    device(s, "", 0, "only visible");
    device(s, "", 0, "only visible");
    join(s);
    assert_unknown(s, 0, "whichever it is");
    assert_unknown(s, 1, "whichever it is");
    device(s, "", 0, "only visible");
    join(s); // as many ranks as GPUs
    assert_joined(s, 2, 2, "order of ranks");
    assert_non_null(strstr(s->devices[2].doubt, "guess"));
}

static void agents_of_rocm_are_in_the_order_of_the_gpus(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 0, "", "");
    gpu(s, "", 1, "", "");
    gpu(s, "", 2, "", "");
    device(s, "", 2, "agent");
    device(s, "", 4, "agent");
    join(s);
    assert_unknown(s, 0, "CPUs"); // 2 is not the GPU of that number
    device(s, "", 3, "agent");
    join(s);
    assert_joined(s, 0, 0, "order of devices");
    assert_joined(s, 1, 2, "order of devices");
    assert_joined(s, 2, 1, "order of devices");
}

static void a_single_gpu_needs_no_name(void **state)
{
    struct scene *s = *state;
    gpu(s, "", 3, "", "");
    device(s, "", 0, "only visible");
    join(s);
    assert_joined(s, 0, 0, "only GPU");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_address_counts_more_than_a_number),
        TEST(domains_have_any_number_of_digits),
        TEST(numbers_count_on_the_host_of_the_rank),
        TEST(a_number_that_fits_several_is_no_join),
        TEST(the_name_of_the_file_may_say_the_node),
        TEST(a_process_that_sees_one_gpu_does_not_say_which),
        TEST(agents_of_rocm_are_in_the_order_of_the_gpus),
        TEST(a_single_gpu_needs_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
