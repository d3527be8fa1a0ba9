// SPDX-License-Identifier: Apache-2.0
// What one event of a handmade trace is linked with.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "ingest/trace/trace_file.h"
#include "server/api/event_args.h"
#include "server/api/event_links.h"
#include "tests/unit/hand_trace.h"

enum { DEVICE = 0, PROCESS = 1, MAIN = 1 };

static void host(struct hand *hand, struct hand_event event)
{
    event.pid = PROCESS;
    event.row = MAIN;
    hand_add(hand, event);
}

// On a stream, which is its row.
static void kernel(struct hand *hand, struct hand_event event)
{
    event.kind = EVENT_KERNEL;
    event.pid = DEVICE;
    event.grid = 32;
    hand_add(hand, event);
}

// An operator with two launches inside a frame; the kernels run one after the other on stream 7,
// a third on stream 8 after them, and a call that waits for the device.
static struct trace_file *open_trace(struct hand *hand)
{
    char path[] = "/tmp/stepscope-links-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    hand_begin(hand);
    host(hand, (struct hand_event){.kind = EVENT_PYTHON,
                                   .name = "frame",
                                   .begin_ns = 0,
                                   .dur_ns = 90000,
                                   .correlation = 0});
    host(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                   .name = "aten::mm",
                                   .begin_ns = 1000,
                                   .dur_ns = 30000,
                                   .correlation = 0,
                                   .dims = "[[8,4]]"});
    host(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                   .name = "cudaLaunchKernel",
                                   .begin_ns = 2000,
                                   .dur_ns = 1000,
                                   .correlation = 11});
    host(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                   .name = "cudaLaunchKernel",
                                   .begin_ns = 4000,
                                   .dur_ns = 1000,
                                   .correlation = 12});
    host(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                   .name = "cudaLaunchKernel",
                                   .begin_ns = 40000,
                                   .dur_ns = 1000,
                                   .correlation = 13});
    host(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                   .name = "cudaDeviceSynchronize",
                                   .begin_ns = 50000,
                                   .dur_ns = 100000,
                                   .correlation = 14});
    kernel(hand,
           (struct hand_event){
               .name = "first", .row = 7, .begin_ns = 5000, .dur_ns = 20000, .correlation = 11});
    kernel(hand,
           (struct hand_event){
               .name = "second", .row = 7, .begin_ns = 25500, .dur_ns = 50000, .correlation = 12});
    kernel(hand,
           (struct hand_event){
               .name = "third", .row = 8, .begin_ns = 76000, .dur_ns = 1000, .correlation = 13});
    hand_seal(hand);
    assert_true(trace_file_save(hand->trace, path, &hand->err));
    struct trace_file *file = trace_file_open(path, &hand->err);
    assert_non_null(file);
    unlink(path);
    return file;
}

// The track of an event by its start, which no other event here shares.
static struct event_links links_at(const struct trace_file *file, int64_t begin_ns)
{
    struct event_links links;
    struct err err = {.pos = ERR_NO_POS};
    bool found = false;
    for (size_t lane = 0; lane < 8 && !found; lane++) {
        struct event_place place = {lane, begin_ns, -1};
        assert_true(event_links_read(file, &place, &links, &found, &err));
    }
    assert_true(found);
    return links;
}

static void a_kernel_is_linked_with_its_launch_and_what_encloses_it(void **state)
{
    (void)state;
    struct hand hand;
    struct trace_file *file = open_trace(&hand);
    struct event_links links = links_at(file, 25500);
    assert_true(links.has_launch);
    assert_int_equal(links.launch.event.begin_ns, 4000);
    assert_int_equal(links.correlation, 12);
    assert_int_equal(links.stack_count, 2);
    assert_int_equal(links.stack[0].event.begin_ns, 0);
    assert_int_equal(links.stack[1].event.begin_ns, 1000);
    assert_int_equal(links.work.count, 0);
    trace_file_close(file);
    hand_end(&hand);
}

static void an_operator_knows_the_device_work_of_its_launches(void **state)
{
    (void)state;
    struct hand hand;
    struct trace_file *file = open_trace(&hand);
    struct event_links links = links_at(file, 1000);
    assert_false(links.has_launch);
    assert_int_equal(links.work.count, 2);
    assert_int_equal(links.work.busy_ns, 70000);
    assert_int_equal(links.work.begin_ns, 5000);
    assert_int_equal(links.work.end_ns, 75500);
    assert_int_equal(links.work.first.event.begin_ns, 5000);
    assert_int_equal(links.stack_count, 1);
    trace_file_close(file);
    hand_end(&hand);
}

static void waits_name_what_was_waited_for(void **state)
{
    static const struct {
        int64_t begin_ns, for_ns;
        enum event_wait wait;
    } cases[] = {
        {5000, 0, WAIT_NONE},
        {25500, 5000, WAIT_STREAM},
        {76000, 25500, WAIT_OTHER_STREAM},
        {50000, 76000, WAIT_DEVICE},
    };
    (void)state;
    struct hand hand;
    struct trace_file *file = open_trace(&hand);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event_links links = links_at(file, cases[i].begin_ns);
        assert_int_equal(links.wait, cases[i].wait);
        if (cases[i].wait != WAIT_NONE)
            assert_int_equal(links.waited_for.event.begin_ns, cases[i].for_ns);
    }
    trace_file_close(file);
    hand_end(&hand);
}

static void no_event_is_found_where_none_starts(void **state)
{
    (void)state;
    struct hand hand;
    struct event_links links;
    bool found = true;
    struct trace_file *file = open_trace(&hand);
    struct event_place inside = {0, 1500, -1}, no_track = {99, 1000, -1};
    assert_true(event_links_read(file, &inside, &links, &found, &hand.err));
    assert_false(found);
    assert_true(event_links_read(file, &no_track, &links, &found, &hand.err));
    assert_false(found);
    trace_file_close(file);
    hand_end(&hand);
}

static void arguments_are_those_of_the_launch_and_of_the_operator(void **state)
{
    (void)state;
    struct hand hand;
    struct buf out = {0};
    struct trace_file *file = open_trace(&hand);
    struct event_links links = links_at(file, 25500);
    assert_true(event_args_json(file, &links, &out, &hand.err));
    buf_putc(&out, '\0');
    assert_non_null(strstr(out.at, "{\"correlation\":12,\"grid\":[32,1,1],\"block\":"));
    assert_non_null(strstr(out.at, "\"inputs\":{\"of\":\"aten::mm\",\"dims\":\"[[8,4]]\""));
    assert_non_null(strstr(out.at, "\"bytes\":null"));
    buf_free(&out);
    trace_file_close(file);
    hand_end(&hand);
}

static void the_innermost_frames_of_a_deep_stack_are_kept(void **state)
{
    (void)state;
    enum { DEEP = 100, OP_NS = 1000 };
    struct hand hand;
    struct buf out = {0};
    char path[] = "/tmp/stepscope-links-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    hand_begin(&hand);
    for (int i = 0; i < DEEP; i++)
        host(&hand, (struct hand_event){.kind = EVENT_PYTHON,
                                        .name = "frame",
                                        .begin_ns = i,
                                        .dur_ns = 9000 - 2 * i,
                                        .correlation = 0});
    host(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                    .name = "aten::mm",
                                    .begin_ns = OP_NS,
                                    .dur_ns = 900,
                                    .correlation = 0,
                                    .dims = "[[8,4]]"});
    host(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                    .name = "cudaLaunchKernel",
                                    .begin_ns = OP_NS + 100,
                                    .dur_ns = 100,
                                    .correlation = 11});
    // Without length, long after its launch: not what it waited for itself.
    kernel(&hand,
           (struct hand_event){
               .name = "empty", .row = 7, .begin_ns = 80000, .dur_ns = 0, .correlation = 11});
    hand_seal(&hand);
    assert_true(trace_file_save(hand.trace, path, &hand.err));
    struct trace_file *file = trace_file_open(path, &hand.err);
    assert_non_null(file);
    unlink(path);
    struct event_links links = links_at(file, 80000);
    assert_int_equal(links.stack_count, EVENT_STACK_MOST);
    assert_int_equal(links.stack[0].event.begin_ns, DEEP + 1 - (int)EVENT_STACK_MOST);
    assert_int_equal(links.stack[EVENT_STACK_MOST - 1].event.begin_ns, OP_NS);
    assert_int_equal(links.wait, WAIT_NONE);
    assert_true(event_args_json(file, &links, &out, &hand.err));
    buf_putc(&out, '\0');
    assert_non_null(strstr(out.at, "\"inputs\":{\"of\":\"aten::mm\""));
    buf_free(&out);
    trace_file_close(file);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_linked_with_its_launch_and_what_encloses_it),
        cmocka_unit_test(an_operator_knows_the_device_work_of_its_launches),
        cmocka_unit_test(the_innermost_frames_of_a_deep_stack_are_kept),
        cmocka_unit_test(waits_name_what_was_waited_for),
        cmocka_unit_test(no_event_is_found_where_none_starts),
        cmocka_unit_test(arguments_are_those_of_the_launch_and_of_the_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
