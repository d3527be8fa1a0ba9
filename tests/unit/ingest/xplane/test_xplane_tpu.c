// SPDX-License-Identifier: Apache-2.0
// XPlane profiles of TPUs, made by hand.
#include "tests/unit/ingest/xplane/xplane_bytes.h"

static void assert_collective(const struct trace *trace, uint32_t event, const char *name)
{
    uint32_t index = trace->device_args[trace->args[event]].collective;
    assert_int_equal(index == ARGS_NONE, name == NULL);
    if (name)
        assert_string_equal(trace_text(trace, trace->collectives[index].name).at, name);
}

// The category is of the operation's name, or stated with the event, or the name says it.
static void collectives_of_a_tpu_are_communication(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("XLA Ops", 1000);
    put_bytes(&plane, 2, STR("/device:TPU:1"));
    put_stated(&line, (struct event){1, 0, 5000, 0}, 0, "");
    put_stated(&line, (struct event){2, 5000, 5000, 0}, 0, "");
    put_stated(&line, (struct event){3, 10000, 5000, 0}, 1, "all-gather");
    put_stated(&line, (struct event){4, 15000, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_category(&plane, 1, "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %all-reduce.3)", "loop fusion");
    put_category(&plane, 2, "fusion.7", "all-reduce-scatter fusion");
    put_name(&plane, 4, 3, "fusion.8");
    put_name(&plane, 4, 4, "%all-reduce.3 = f32[4096]{0} all-reduce(...)");
    put_name(&plane, 5, 1, "hlo_category");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_good(&bytes);
    static const char *const collectives[] = {NULL, "reduce_scatter", "allgather", "allreduce"};
    assert_int_equal(trace->event_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_collective(trace, i, collectives[i]);
    trace_free(trace);
}

struct operation {
    const char *name, *category;
    uint64_t begin_us, end_us;
};

// A profile of a TPU that did these, in the order of the file.
static struct trace *read_operations(const struct operation *operations, size_t count)
{
    struct buf bytes = {0}, plane = {0}, line = line_named("XLA Ops", 1000);
    put_bytes(&plane, 2, STR("/device:TPU:1"));
    for (size_t i = 0; i < count; i++) {
        uint64_t from_us = operations[i].begin_us, us = operations[i].end_us - from_us;
        put_stated(&line, (struct event){i + 1, from_us * 1000000, us * 1000000, 0}, 0, "");
    }
    put_message(&plane, 3, &line);
    for (size_t i = 0; i < count; i++)
        put_category(&plane, i + 1, operations[i].name, operations[i].category);
    put_name(&plane, 5, 1, "hlo_category");
    put_message(&bytes, 1, &plane);
    return read_good(&bytes);
}

// The operands of an instruction are other work.
static void operations_of_a_tpu_are_named_by_category_and_without_operands(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        {"%fusion.12 = bf16[1024,6144]{1,0:T(8,128)(2,1)} fusion(bf16[8]{0} %all-gather.3, "
         "bf16[8]{0} "
         "%copy-done.4), kind=kOutput, calls=%fused_computation.12",
         "convolution fusion", 0, 1},
        {"%add.7 = (f32[8]{0}, /*index=1*/f32[8]{0}) fusion(f32[8]{0} %all_gather.5), kind=kLoop",
         "loop fusion", 1, 2},
        {"%all_gather.5 = f32[8]{0} all-gather(f32[4]{0} %add.7)", "all-gather", 2, 3},
        {"%fusion.9 = f32[] fusion()", "", 3, 4},
        {"fusion.9", "custom fusion", 4, 5},
    };
    static const struct {
        const char *name;
        enum device_class class;
    } expected[] = {
        {"convolution fusion: %fusion.12 = bf16[1024,6144]{1,0:T(8,128)(2,1)} fusion",
         CLASS_COMPUTE},
        {"loop fusion: %add.7 = (f32[8]{0}, /*index=1*/f32[8]{0}) fusion", CLASS_COMPUTE},
        {"%all_gather.5 = f32[8]{0} all-gather", CLASS_COMMUNICATION},
        {"%fusion.9 = f32[] fusion", CLASS_COMPUTE},
        {"custom fusion: fusion.9", CLASS_COMPUTE},
    };
    struct trace *trace = read_operations(operations, sizeof operations / sizeof *operations);
    assert_int_equal(trace->event_count, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        struct str name = trace_text(trace, trace->name[i]);
        bool collective = trace->device_args[trace->args[i]].collective != ARGS_NONE;
        assert_string_equal(name.at, expected[i].name);
        assert_int_equal(event_device_class(EVENT_KERNEL, name, collective), expected[i].class);
    }
    trace_free(trace);
}

// By its category, else its name, else its operation.
static void an_asynchronous_collective_is_one_call(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        {"%all-gather-start.3 = (f32[8]{0}, f32[16]{0}) all-gather-start(f32[8]{0} %p)",
         "all-gather-start", 0, 1},
        {"%all-gather-done.3 = f32[16]{0} all-gather-done((f32[8]{0}, f32[16]{0}) %s)",
         "all-gather-done", 1, 2},
        {"%async-collective-start.1 = f32[8]{0} fusion(f32[8]{0} %p)", "custom fusion", 2, 3},
        {"%async-collective-done.1 = f32[8]{0} fusion(f32[8]{0} %p)", "custom fusion", 3, 4},
        {"%async-start = ((f32[8]{0}), f32[4]{0}) reduce-scatter-start(f32[8]{0} %p)",
         "async-start", 4, 5},
        {"%async-done = f32[4]{0} reduce-scatter-done(((f32[8]{0}), f32[4]{0}) %s)", "async-done",
         5, 6},
        {"%send.1 = (f32[8]{0}, u32[], token[]) send(f32[8]{0} %p)", "send", 6, 7},
        {"%send-done.1 = token[] send-done((f32[8]{0}, u32[], token[]) %send.1)", "send-done", 7,
         8},
        {"%async-done.2 = f32[4]{0} sort-done(f32[4]{0} %all-gather.3)", "async-done", 8, 9},
    };
    static const char *const collectives[] = {"async_start",      "allgather",   "async_start",
                                              "async_collective", "async_start", "reduce_scatter",
                                              "async_start",      "send",        NULL};
    struct trace *trace = read_operations(operations, sizeof operations / sizeof *operations);
    assert_int_equal(trace->event_count, sizeof operations / sizeof *operations);
    for (uint32_t i = 0; i < trace->event_count; i++)
        assert_collective(trace, i, collectives[i]);
    trace_free(trace);
}

// Whether what it holds comes behind it in the file, or before.
static void what_holds_other_operations_is_no_work(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        {"%while.1 = (s32[]) while((s32[]) %t), body=%b", "while", 0, 100},
        {"%conditional.1 = f32[] conditional(s32[] %i)", "conditional", 0, 90},
        {"%fusion.1 = f32[] fusion()", "loop fusion", 0, 50},
        {"%all-reduce.2 = f32[] all-reduce(f32[] %fusion.1)", "all-reduce", 50, 89},
        {"%call.7 = f32[] call(f32[] %a)", "call", 90, 95}, // nothing is in it
        {"%fusion.3 = f32[] fusion()", "loop fusion", 110, 115},
        {"%call.8 = f32[] call(f32[] %a)", "", 110, 120},
    };
    struct trace *trace = read_operations(operations, sizeof operations / sizeof *operations);
    assert_int_equal(trace->event_count, 4);
    assert_event(trace, 0, "loop fusion: %fusion.1 = f32[] fusion", 1000, 50000);
    assert_event(trace, 1, "%all-reduce.2 = f32[] all-reduce", 51000, 39000);
    assert_event(trace, 2, "call: %call.7 = f32[] call", 91000, 5000);
    assert_event(trace, 3, "loop fusion: %fusion.3 = f32[] fusion", 111000, 5000);
    trace_free(trace);
}

static void a_tpu_that_waits_for_the_host_does_not_work(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        {"%infeed.1 = ((f32[8]{0}), token[]) infeed(token[] %t)", "infeed", 0, 30},
        {"%fusion.1 = f32[] fusion()", "loop fusion", 30, 90},
        {"%send.1 = (f32[8]{0}, u32[], token[]) send(f32[8]{0} %p), is_host_transfer=true",
         "host send", 90, 91},
        {"%send-done.1 = token[] send-done(token[] %t)", "host send-done", 91, 99},
        {"%outfeed.2 = token[] outfeed(f32[8]{0} %p)", "", 99, 100},
    };
    struct trace *trace = read_operations(operations, sizeof operations / sizeof *operations);
    assert_int_equal(trace->event_count, 1);
    assert_event(trace, 0, "loop fusion: %fusion.1 = f32[] fusion", 31000, 60000);
    trace_free(trace);
}

static void put_cores(struct buf *bytes, const char *name, const char *row, uint64_t offset_ps)
{
    struct buf plane = {0}, line = line_named(row, 1000);
    put_bytes(&plane, 2, str_of(name));
    put_stated(&line, (struct event){1, offset_ps, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "fusion");
    put_message(bytes, 1, &plane);
}

// Lines of all planes have the same ids.
static void sparse_cores_work_beside_the_tensor_core(void **state)
{
    (void)state;
    struct buf bytes = {0};
    put_cores(&bytes, "/device:TPU:3", "XLA Ops", 0);
    put_cores(&bytes, "/device:TPU:3 SparseCore 0", "Sparse Core Ops", 2000);
    put_cores(&bytes, "/device:TPU:3 SparseCore 1", "Sparse Core Ops", 9000);
    put_cores(&bytes, "/device:TPU:3 SparseCore 1", "Sparse Core Modules", 0);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->event_count, 3);
    assert_int_equal(trace->track_count, 3);
    for (uint32_t t = 0; t < 3; t++)
        assert_int_equal(trace->tracks[t].pid.number, 3);
    assert_string_equal(trace_text(trace, trace->tracks[1].name).at, "Sparse Core Ops");
    trace_free(trace);
}

// By a number that is stated, or at the end of the name.
static void a_device_has_a_line_of_steps(void **state)
{
    (void)state;
    struct buf bytes = {0}, plane = {0}, line = line_named("Steps", 1000);
    put_bytes(&plane, 2, STR("/device:TPU:0"));
    put_stated(&line, (struct event){1, 0, 5000, 0}, 0, "");
    put_stated(&line, (struct event){2, 5000, 5000, 0}, 0, "");
    put_stated(&line, (struct event){3, 10000, 5000, 0}, 0, "");
    put_message(&plane, 3, &line);
    put_name(&plane, 4, 1, "11");
    put_name(&plane, 4, 2, "train 12");
    put_name(&plane, 4, 3, "other");
    put_message(&bytes, 1, &plane);
    struct trace *trace = read_good(&bytes);
    assert_int_equal(trace->event_count, 2);
    assert_event(trace, find(trace, EVENT_GPU_ANNOTATION, 0), "ProfilerStep#11", 1000, 5);
    assert_event(trace, find(trace, EVENT_GPU_ANNOTATION, 1), "ProfilerStep#12", 1005, 5);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_of_a_tpu_are_communication),
        cmocka_unit_test(operations_of_a_tpu_are_named_by_category_and_without_operands),
        cmocka_unit_test(an_asynchronous_collective_is_one_call),
        cmocka_unit_test(what_holds_other_operations_is_no_work),
        cmocka_unit_test(a_tpu_that_waits_for_the_host_does_not_work),
        cmocka_unit_test(sparse_cores_work_beside_the_tensor_core),
        cmocka_unit_test(a_device_has_a_line_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
