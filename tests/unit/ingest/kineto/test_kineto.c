// SPDX-License-Identifier: Apache-2.0
// Traces that are too large or too many to write by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/golden/trace_dump.h"

#define EVENT \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}"

static struct trace *read_steps(const struct buf *text, size_t step, struct budget *budget)
{
    struct err err = {0};
    struct trace *trace = dump_read((struct str){text->at, text->len}, step, budget, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    assert_null(dump_broken_promise(trace));
    return trace;
}

static void drop(struct trace *trace, const struct budget *budget)
{
    trace_free(trace);
    assert_int_equal(budget->used, 0);
}

static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

// Moves the keys into their next order; false after the last.
static bool next_order(int order[8])
{
    int i = 6, j = 7;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[j] < order[i])
        j--;
    swap(&order[i], &order[j]);
    for (i++, j = 7; i < j; i++, j--)
        swap(&order[i], &order[j]);
    return true;
}

static void the_keys_of_an_event_may_come_in_any_order(void **state)
{
    (void)state;
    static const char *const keys[8] = {
        "\"ph\":\"X\"",   "\"cat\":\"kernel\"",
        "\"name\":\"k\"", "\"pid\":0",
        "\"tid\":7",      "\"ts\":1.5",
        "\"dur\":2",      "\"args\":{\"correlation\":9,\"stream\":3}"};
    int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct buf text = {0};
    struct budget budget = {0};
    do {
        buf_puts(&text, text.len ? ",{" : "[{");
        for (int i = 0; i < 8; i++)
            buf_printf(&text, "%s%s", i ? "," : "", keys[order[i]]);
        buf_puts(&text, "}");
    } while (next_order(order));
    buf_puts(&text, "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->event_count, 40320);
    assert_int_equal(trace->track_count, 1);
    assert_int_equal(trace->tracks[0].tid.number, 3);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        assert_int_equal(trace->kind[i], EVENT_KERNEL);
        assert_int_equal(trace->begin_ns[i], 1500);
        assert_int_equal(trace->dur_ns[i], 2000);
        assert_int_equal(trace->device_args[i].correlation, 9);
    }
    drop(trace, &budget);
    buf_free(&text);
}

static void a_send_or_recv_keeps_its_other_side_and_others_have_none(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        int64_t peer, peer_in_group;
    } cases[] = {
        {"\"send\",\"Rank\":1,\"Dst Rank\":5", 5, 1},
        {"\"recv\",\"Rank\":\"0\",\"Src Rank\":\"3\"", 3, 0},
        {"\"send\",\"Rank\":2,\"Src Rank\":3", VALUE_ABSENT, 2},
        {"\"broadcast\",\"Rank\":2,\"Src Rank\":3", VALUE_ABSENT, VALUE_ABSENT},
    };
    struct buf text = {0};
    struct budget budget = {0};
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < CASES; i++)
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                   "\"ts\":%d,\"dur\":1,\"args\":{\"Collective name\":%s}}",
                   i ? "," : "[", i, cases[i].args);
    buf_puts(&text, "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->event_count, CASES);
    for (int i = 0; i < CASES; i++) {
        const struct collective *c = &trace->collectives[trace->device_args[i].collective];
        assert_true(c->peer == cases[i].peer);
        assert_true(c->peer_in_group == cases[i].peer_in_group);
    }
    drop(trace, &budget);
    buf_free(&text);
}

static void a_group_without_a_name_has_its_number_or_its_ranks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"Process Group Name\":\"tp\",\"Process Group Ranks\":\"[0, 1]\"", "tp"},
        {"\"Process Group ID\":7,\"Process Group Ranks\":\"[0, 1]\"", "7"},
        {"\"Process Group Name\":\"\",\"Process Group Ranks\":\"[0, 1]\"", "[0, 1]"},
        {"\"Process Group Name\":\"\",\"Process Group Ranks\":\"[]\"", ""},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct buf text = {0};
    struct budget budget = {0};
    for (int i = 0; i < CASES; i++)
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                   "\"ts\":%d,\"dur\":1,\"args\":{\"Collective name\":\"allreduce\",%s}}",
                   i ? "," : "[", i, cases[i][0]);
    buf_puts(&text, "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    for (int i = 0; i < CASES; i++) {
        const struct collective *c = &trace->collectives[trace->device_args[i].collective];
        assert_string_equal(trace_text(trace, c->group).at, cases[i][1]);
    }
    drop(trace, &budget);
    buf_free(&text);
}

// By a file with two calls and a member after them.
static int64_t rank_of(const char *first, const char *second, const char *member)
{
    static const char call[] = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\","
                               "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
                               "\"args\":{\"Collective name\":%s}}";
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text, "{\"traceEvents\":[");
    buf_printf(&text, call, first);
    buf_puts(&text, ",");
    buf_printf(&text, call, second);
    buf_printf(&text, "]%s}", member);
    struct trace *trace = read_steps(&text, 0, &budget);
    int64_t rank = trace->job.rank;
    drop(trace, &budget);
    buf_free(&text);
    return rank;
}

#define OF_THE_FIRST  ",\"Group size\":4,\"Global rank start\":0,\"Global rank stride\":1"
#define OF_THE_SECOND ",\"Group size\":4,\"Global rank start\":4,\"Global rank stride\":1"

static void calls_without_a_root_tell_the_rank_if_nothing_else_does(void **state)
{
    (void)state;
    static const char all[] = "\"allreduce\",\"Rank\":2" OF_THE_FIRST;
    static const char root[] = "\"broadcast\",\"Rank\":0" OF_THE_FIRST;
    static const char other[] = "\"_allgather_base\",\"Rank\":3" OF_THE_FIRST;
    static const char within[] = "\"allreduce\",\"Rank\":1" OF_THE_SECOND;
    static const char beyond[] = "\"allreduce\",\"Rank\":4" OF_THE_FIRST;
    assert_int_equal(rank_of(all, root, ""), 2);
    assert_int_equal(rank_of(within, all, ""), 2);
    assert_int_equal(rank_of(all, all, ",\"distributedInfo\":{\"backend\":\"nccl\"}"), 2);
    assert_int_equal(rank_of(all, all, ",\"distributedInfo\":{\"rank\":5}"), 5);
    assert_true(rank_of(all, other, "") == VALUE_ABSENT);
    assert_true(rank_of(root, within, "") == VALUE_ABSENT);
    assert_true(rank_of(beyond, root, "") == VALUE_ABSENT);
}

static void what_counts_cannot_be_less_than_none(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text,
             "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,"
             "\"dur\":1,\"args\":{\"Collective name\":\"allreduce\",\"In msg nelems\":-1,"
             "\"Out msg nelems\":-9223372036854775808,\"Group size\":-8,\"shared memory\":-3,"
             "\"bytes\":-5,\"registers per thread\":-2,\"grid\":[-1,2,3],\"block\":[1,-2,3]}}]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->event_count, 1);
    const struct collective *c = &trace->collectives[trace->device_args[0].collective];
    const struct launch_shape *shape = &trace->shapes[trace->device_args[0].shape];
    assert_true(c->in_elems == VALUE_ABSENT && c->out_elems == VALUE_ABSENT);
    assert_true(c->group_size == VALUE_ABSENT);
    assert_true(shape->shared_bytes == VALUE_ABSENT && shape->bytes == VALUE_ABSENT);
    assert_int_equal(shape->registers, -1);
    assert_int_equal(shape->grid[0], 0);
    assert_int_equal(shape->block[1], 0);
    drop(trace, &budget);
    buf_free(&text);
}

static void host_events_of_over_a_day_count_with_no_length(void **state)
{
    (void)state;
    static const char *const durations[] = {"1",    "86400000000",          "86400000001",
                                            "1e15", "1000000000000000.000", "2305843009213693"};
    enum { CASES = sizeof durations / sizeof *durations, TURNS = 4 };
    struct buf text = {0};
    struct budget budget = {0};
    for (int i = 0; i < CASES * TURNS; i++)
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
                   "\"ts\":%d,\"dur\":%s}",
                   i ? "," : "[", i, durations[i % CASES]);
    buf_puts(&text, ",{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":1},"
                    "{\"ph\":\"E\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":1e15}]");
    struct trace *trace = read_steps(&text, 0, &budget);
    int64_t most_ns = 0;
    assert_int_equal(trace->event_count, CASES * TURNS + 1);
    for (uint32_t i = 0; i < trace->event_count; i++)
        most_ns = trace->dur_ns[i] > most_ns ? trace->dur_ns[i] : most_ns;
    assert_int_equal(most_ns, INT64_C(86400000000000));
    assert_int_equal(trace->repairs[REPAIR_LONG_DURATION].count, (CASES - 2) * TURNS + 1);
    drop(trace, &budget);
    buf_free(&text);
}

static void names_of_any_length_are_kept_or_cut_at_64_kib(void **state)
{
    (void)state;
    static const size_t lengths[] = {5000, 65535, 65536, 65537, 3000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct buf text = {0};
        struct budget budget = {0};
        buf_puts(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"");
        for (size_t n = 0; n < lengths[i]; n++)
            buf_putc(&text, 'n');
        buf_puts(&text, "\"}," EVENT "]");
        struct trace *trace = read_steps(&text, 0, &budget);
        bool cut = lengths[i] > 65536;
        assert_int_equal(trace->event_count, 2);
        assert_int_equal(trace_text(trace, trace->name[0]).len, cut ? 65536 : lengths[i]);
        assert_int_equal(trace->repairs[REPAIR_LONG_TEXT].count, cut);
        drop(trace, &budget);
        buf_free(&text);
    }
}

// Each invalid one is one row of the trust report; null and quoted numbers are valid.
static void numbers_among_the_args_that_are_none_are_counted(void **state)
{
    (void)state;
    static const char *const args[] = {"\"correlation\":\"x\"",
                                       "\"registers per thread\":[3]",
                                       "\"bytes\":nan,\"correlation\":1e400",
                                       "\"correlation\":null",
                                       "\"bytes\":\"12\"",
                                       "\"stream\":\"main\"",
                                       "\"bytes\":12.5"};
    struct buf text = {0};
    struct budget budget = {0};
    buf_putc(&text, '[');
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        buf_printf(&text,
                   "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":%zu,\"dur\":1,"
                   "\"args\":{%s}},",
                   10 * i, args[i]);
    buf_puts(&text, EVENT "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->repairs[REPAIR_BAD_NUMBER].count, 3);
    drop(trace, &budget);
    buf_free(&text);
}

// Two events of a graph that ran beside each other, moved to one stream for display.
static void an_event_moved_to_another_stream_stays_where_it_ran(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    for (int i = 0; i < 20; i++)
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                   "\"ts\":%d,\"dur\":100,\"args\":{\"device\":0,\"stream\":7,\"correlation\":9,"
                   "\"original_stream\":%d}}",
                   i ? "," : "[", 10 * i, 54 + i % 2);
    buf_puts(&text, "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->track_count, 2);
    for (uint32_t t = 0; t < 2; t++) {
        assert_int_equal(trace->tracks[t].tid.number, 54 + t);
        assert_int_equal(trace->tracks[t].count, 10);
    }
    drop(trace, &budget);
    buf_free(&text);
}

static void copies_without_a_name_are_called_by_their_args(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"gpu_memcpy", "\"copy kind\":\"HtoD\",\"src kind\":\"pageable\",\"dst kind\":\"device\"",
         "Memcpy HtoD (Pageable -> Device)"},
        {"gpu_memcpy", "\"copy kind\":\"DtoH\",\"src kind\":\"device\",\"dst kind\":\"pinned\"",
         "Memcpy DtoH (Device -> Pinned)"},
        {"gpu_memcpy", "\"copy kind\":\"PtoP\",\"dst kind\":\"\"", "Memcpy PtoP (Unknown -> )"},
        {"gpu_memcpy", "\"copy kind\":9,\"src kind\":\"pageable\"", "Memcpy"},
        {"gpu_memcpy", "\"bytes\":4", "Memcpy"},
        {"kernel", "\"copy kind\":\"HtoD\"", "Memcpy"},
    };
    enum { CASES = sizeof cases / sizeof *cases, TURNS = 3 };
    struct buf text = {0};
    struct budget budget = {0};
    for (int i = 0; i < CASES * TURNS; i++)
        buf_printf(&text,
                   "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"Memcpy\",\"pid\":0,\"tid\":7,"
                   "\"ts\":%d,\"dur\":1,\"args\":{%s}}",
                   i ? "," : "[", cases[i % CASES][0], 10 * i, cases[i % CASES][1]);
    buf_puts(&text, "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->event_count, CASES * TURNS);
    for (int i = 0; i < CASES * TURNS; i++)
        assert_string_equal(trace_text(trace, trace->name[i]).at, cases[i % CASES][2]);
    drop(trace, &budget);
    buf_free(&text);
}

// As written in 2021. Other instants are none, whatever their args are.
static void allocations_may_have_no_category(void **state)
{
    (void)state;
    static const char head[] = "\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":1,\"ts\":5";
    static const char args[] = "\"Device Type\":1,\"Device Id\":0,\"Addr\":64,\"Bytes\":512";
    struct buf text = {0};
    struct budget budget = {0};
    buf_printf(&text, "[{%s,\"name\":\"[memory]\",\"args\":{%s}}", head, args);
    buf_printf(&text, ",{\"args\":{%s},%s,\"name\":\"[memory]\"}", args, head);
    buf_printf(&text, ",{%s,\"name\":\"mark\",\"args\":{%s}}", head, args);
    buf_printf(&text, ",{%s,\"name\":\"mark\",\"args\":{\"bytes\":\"many\",\"size\":[1]}}", head);
    buf_printf(&text, ",{%s,\"name\":\"mark\",\"args\":{\"a\":\"b\" c \"d\"}}", head);
    buf_puts(&text, "," EVENT "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->memory_args_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(trace->memory_args[i].bytes, 512);
        assert_int_equal(trace->memory_args[i].address, 64);
        assert_int_equal(trace->memory_args[i].device_type, 1);
        assert_int_equal(trace->memory_args[i].device, 0);
    }
    assert_int_equal(trace->event_count, 3);
    assert_int_equal(trace->repairs[REPAIR_BAD_NUMBER].count, 0);
    assert_int_equal(trace->repairs[REPAIR_ARGS].count, 0);
    assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
    drop(trace, &budget);
    buf_free(&text);
}

static void nesting_of_any_depth_is_passed_over(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text, "{\"deep\":");
    for (int i = 0; i < 100000; i++)
        buf_puts(&text, "[");
    for (int i = 0; i < 100000; i++)
        buf_puts(&text, "]");
    buf_puts(&text, ",\"traceEvents\":[{\"ph\":\"X\",\"name\":\"n\",\"ts\":1,\"dur\":1,\"args\":");
    for (int i = 0; i < 100000; i++)
        buf_puts(&text, "{\"a\":");
    buf_puts(&text, "1");
    for (int i = 0; i < 100000; i++)
        buf_puts(&text, "}");
    buf_puts(&text, "}," EVENT "]}");
    struct trace *trace = read_steps(&text, 5000, &budget);
    assert_int_equal(trace->event_count, 2);
    assert_true(trace_setting_find(trace, STR("deep"))->unread);
    drop(trace, &budget);
    buf_free(&text);
}

static const size_t block_steps[] = {0, 1, 7, 300, 100000, 700000, 1500000};

static void a_list_within_a_member_that_is_whole_is_the_members_own(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text, "{\"a\":{\"traceEvents\":[" EVENT "]} \n , \"b\":[{\"traceEvents\":[]}],"
                    "\"traceEvents\":[" EVENT "," EVENT "]}");
    for (size_t i = 0; i < sizeof block_steps / sizeof *block_steps; i++) {
        struct trace *trace = read_steps(&text, block_steps[i], &budget);
        assert_int_equal(trace->event_count, 2);
        assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
        assert_int_equal(trace->setting_count, 0);
        drop(trace, &budget);
    }
    buf_free(&text);
}

// A member that lacks a bracket, followed by an event list after `len` bytes.
static void add_swallowed(struct buf *text, size_t len)
{
    buf_puts(text, "{\"user\":{\"a\":{\"b\":1},\"pad\":\"");
    for (size_t n = 0; n < len; n++)
        buf_putc(text, 'x');
    buf_puts(text, "\",\"traceEvents\":[" EVENT "],\"traceName\":\"t\"}");
}

static void a_swallowed_list_is_found_or_not_however_it_arrives(void **state)
{
    (void)state;
    static const size_t lengths[] = {10, 1000000, 2000000, 2096900, 2097152, 3000000, 5000000};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        struct buf text = {0}, whole = {0};
        struct budget budget = {0};
        add_swallowed(&text, lengths[l]);
        dump_bytes(&whole, (struct str){text.at, text.len}, 0, &budget);
        assert_int_equal(strncmp(whole.at, "error", 5) != 0, lengths[l] <= 2096900);
        for (size_t i = 3; i < sizeof block_steps / sizeof *block_steps; i++) {
            struct buf dump = {0};
            dump_bytes(&dump, (struct str){text.at, text.len}, block_steps[i], &budget);
            assert_string_equal(dump.at, whole.at);
            buf_free(&dump);
        }
        buf_free(&whole);
        buf_free(&text);
    }
}

static void nesting_without_end_is_an_error_or_a_cut(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    struct err err = {0};
    for (int i = 0; i < 3000000; i++)
        buf_puts(&text, i % 2 ? "{\"a\":" : "[");
    struct trace *trace = dump_read((struct str){text.at, text.len}, 0, &budget, &err);
    if (trace)
        assert_int_equal(trace->repairs[REPAIR_TRUNCATED].count, 1);
    drop(trace, &budget);
    buf_free(&text);
}

// An operator whose "Input Dims" is a list of `len` bytes.
static void add_list(struct buf *text, size_t len)
{
    buf_puts(text, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"ts\":1,\"dur\":1,\"args\":{"
                   "\"Input type\":[\"int\"],\"Input Dims\":[1");
    for (size_t n = 3; n < len; n++)
        buf_putc(text, n % 2 ? ',' : '1');
    buf_puts(text, "]}}]");
}

static void argument_lists_of_more_than_64_kib_count_as_not_given(void **state)
{
    (void)state;
    static const size_t lengths[] = {3, 65535, 65537, 2000001};
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        struct buf text = {0};
        struct budget budget = {0};
        size_t len = lengths[i / 2];
        add_list(&text, len);
        struct trace *trace = read_steps(&text, i % 2 ? 1000 : 0, &budget);
        assert_int_equal(trace->op_inputs_count, 1);
        assert_int_equal(trace_text(trace, trace->op_inputs[0].dims).len, len > 65536 ? 0 : len);
        assert_true(str_equal(trace_text(trace, trace->op_inputs[0].types), STR("[\"int\"]")));
        assert_int_equal(trace->repairs[REPAIR_LONG_TEXT].count, len > 65536);
        drop(trace, &budget);
        buf_free(&text);
    }
}

static void arguments_mean_the_same_before_and_behind_the_category(void **state)
{
    (void)state;
    static const char *const args[] = {
        "{\"Sequence number\":5,\"Input Dims\":[[1,2],[\"]\"]],\"Concrete Inputs\":[\"\"]}",
        "{\"Sequence number\":5,\"a\":\"b\" c \"d\"}",
        "{\"Collective name\":\"x\",\"In split size\":[1,2]}",
        "{\"Input Dims\":[{1,2]}}",
        "[]",
        "null",
    };
    for (size_t i = 0; i < 2 * sizeof args / sizeof *args; i++) {
        static const char head[] = "\"name\":\"op\",\"ts\":1,\"dur\":1";
        struct buf front = {0}, behind = {0}, dumps[2] = {{0}, {0}};
        struct budget budget = {0};
        const char *cat =
            i % 2 ? "\"cat\":\"cpu_op\",\"ph\":\"X\"" : "\"ph\":\"X\",\"cat\":\"Operator\"";
        buf_printf(&front, "[{\"args\":%s,%s,%s}]", args[i / 2], head, cat);
        buf_printf(&behind, "[{%s,%s,\"args\":%s}]", head, cat, args[i / 2]);
        dump_bytes(&dumps[0], (struct str){front.at, front.len}, 0, &budget);
        dump_bytes(&dumps[1], (struct str){behind.at, behind.len}, 0, &budget);
        assert_non_null(strstr(dumps[0].at, "cpu-op \"op\""));
        assert_true(str_equal((struct str){dumps[0].at, dumps[0].len},
                              (struct str){dumps[1].at, dumps[1].len}));
        buf_free(&front);
        buf_free(&behind);
        buf_free(&dumps[0]);
        buf_free(&dumps[1]);
    }
}

static void add_often(struct buf *text, const char *part, size_t times)
{
    enum { AT_ONCE = 1024 }; // each call costs, more so with sanitizers
    struct buf many = {0};
    for (size_t n = 0; n < AT_ONCE; n++)
        buf_puts(&many, part);
    for (; times >= AT_ONCE; times -= AT_ONCE)
        buf_add(text, many.at, many.len);
    while (times-- > 0)
        buf_puts(text, part);
    buf_free(&many);
}

// A list of three events, the middle one with `len` bytes of args.
static void add_large(struct buf *text, size_t len)
{
    buf_puts(text, "{\"traceEvents\":[" EVENT
                   ",{\"ph\":\"X\",\"name\":\"big\",\"ts\":5,\"dur\":1,\"args\":{\"x\":[0");
    add_often(text, ",123", len / 4);
    buf_puts(text, "]}}," EVENT "],\"baseTimeNanoseconds\":5}");
}

static void check_large(size_t len, size_t step, uint32_t events)
{
    struct buf text = {0};
    struct budget budget = {.limit = (uint64_t)512 << 20};
    add_large(&text, len);
    struct trace *trace = read_steps(&text, step, &budget);
    assert_int_equal(trace->event_count, events);
    assert_int_equal(trace->input_events, 3);
    assert_int_equal(trace->repairs[REPAIR_OVERSIZE].count, events == 2);
    assert_int_equal(trace->job.base_ns, 5);
    drop(trace, &budget);
    buf_free(&text);
}

static void an_event_of_more_than_16_mib_is_skipped_however_it_arrives(void **state)
{
    (void)state;
    static const size_t steps[] = {0, 100000, 4096};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        check_large((size_t)15 << 20, steps[i], 3);
        check_large((size_t)17 << 20, steps[i], 2);
        check_large((size_t)40 << 20, steps[i], 2);
    }
}

static void many_tokens_in_one_event_take_linear_time_and_bounded_memory(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {.limit = (uint64_t)256 << 20};
    buf_puts(&text, "[" EVENT ",{\"ph\":");
    add_often(&text, "[]", (size_t)10 << 20);
    buf_puts(&text, "}," EVENT "]");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->event_count, 2);
    drop(trace, &budget);
    buf_free(&text);
}

static void add_member(struct buf *text, bool as_text, size_t len)
{
    buf_puts(text, as_text ? "\"big\":\"" : "\"big\":[\"");
    add_often(text, "m", len);
    buf_puts(text, as_text ? "\"," : "\"],");
}

static void a_member_of_more_than_1_mib_is_dropped_and_the_rest_kept(void **state)
{
    (void)state;
    for (int kind = 0; kind < 12; kind++) {
        struct buf text = {0};
        struct budget budget = {0};
        size_t len = (size_t)(kind / 4 * 3 + 2) << 20;
        buf_puts(&text, "{\"a\":1,");
        if (kind & 2)
            buf_puts(&text, "\"traceEvents\":[" EVENT "],");
        add_member(&text, kind & 1, len);
        buf_puts(&text, "\"distributedInfo\":{\"rank\":3}");
        if (!(kind & 2))
            buf_puts(&text, ",\"traceEvents\":[" EVENT "]");
        buf_puts(&text, ",\"z\":26}");
        struct trace *trace = read_steps(&text, kind < 8 ? 0 : 30000, &budget);
        assert_int_equal(trace->event_count, 1);
        assert_int_equal(trace->setting_count, 2);
        assert_int_equal(trace->job.rank, 3);
        assert_int_equal(trace->repairs[REPAIR_METADATA].count, 1);
        assert_int_equal(trace->repairs[REPAIR_MALFORMED].count, 0);
        assert_int_equal(trace_setting_find(trace, STR("z"))->number, 26);
        drop(trace, &budget);
        buf_free(&text);
    }
}

static void a_hundred_thousand_members_rows_and_thread_names_are_read_quickly(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text, "{");
    for (int i = 0; i < 100000; i++)
        buf_printf(&text, "\"m%d\":%d,", i, i);
    buf_puts(&text, "\"traceEvents\":[");
    for (int i = 0; i < 100000; i++) {
        buf_printf(&text, "{\"ph\":\"X\",\"name\":\"n\",\"pid\":%d,\"tid\":%d,\"ts\":1,\"dur\":1},",
                   i, i);
        buf_printf(&text,
                   "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{"
                   "\"name\":\"t%d\"}},",
                   i, i, i);
    }
    buf_puts(&text, "]}");
    struct trace *trace = read_steps(&text, 0, &budget);
    assert_int_equal(trace->track_count, 100000);
    assert_int_equal(trace->setting_count, 4096);
    assert_true(str_equal(trace_text(trace, trace->tracks[77777].name), STR("t77777")));
    drop(trace, &budget);
    buf_free(&text);
}

static void garbage_between_events_is_passed_over_in_linear_time(void **state)
{
    (void)state;
    static const char *const garbage[] = {":{",   "{ ",        "\"", "{\"ph\":", "[",
                                          "\\\"", "{\"ph\":{", "}",  ","};
    for (size_t g = 0; g < sizeof garbage / sizeof *garbage; g++) {
        struct buf text = {0};
        struct budget budget = {0};
        struct err err = {0};
        buf_puts(&text, "[" EVENT ",");
        for (int i = 0; i < 400000; i++)
            buf_puts(&text, garbage[g]);
        buf_puts(&text, "\n" EVENT "]");
        struct trace *trace = dump_read((struct str){text.at, text.len}, 70000, &budget, &err);
        assert_non_null(trace);
        assert_in_range(trace->event_count, 1, 2);
        drop(trace, &budget);
        buf_free(&text);
    }
}

static void running_out_of_budget_fails_cleanly_wherever_it_happens(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "{\"traceEvents\":[");
    for (int i = 0; i < 3000; i++)
        buf_printf(&text,
                   "{\"ph\":\"%s\",\"cat\":\"kernel\",\"name\":\"n%d\",\"pid\":%d,\"tid\":1,\"ts\":"
                   "1,\"dur\":1},",
                   i % 3 ? "X" : "B", i, i % 100);
    buf_puts(&text, "]}");
    struct budget whole = {0};
    drop(read_steps(&text, 0, &whole), &whole);
    for (uint64_t limit = 1; limit < whole.peak; limit += 9973) {
        struct budget budget = {.limit = limit};
        struct err err = {0};
        assert_null(dump_read((struct str){text.at, text.len}, 0, &budget, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(budget.used, 0);
    }
    buf_free(&text);
}

static void a_second_list_of_events_is_read_and_reported(void **state)
{
    (void)state;
    struct buf text = {0};
    struct budget budget = {0};
    buf_puts(&text, "{\"traceEvents\":[" EVENT "],\"a\":1,\"traceEvents\":[" EVENT "]}");
    for (size_t step = 0; step < 64; step++) {
        struct trace *trace = read_steps(&text, step, &budget);
        assert_int_equal(trace->event_count, 2);
        assert_int_equal(trace->repairs[REPAIR_SECOND_LIST].count, 1);
        drop(trace, &budget);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keys_of_an_event_may_come_in_any_order),
        cmocka_unit_test(a_send_or_recv_keeps_its_other_side_and_others_have_none),
        cmocka_unit_test(a_group_without_a_name_has_its_number_or_its_ranks),
        cmocka_unit_test(calls_without_a_root_tell_the_rank_if_nothing_else_does),
        cmocka_unit_test(what_counts_cannot_be_less_than_none),
        cmocka_unit_test(host_events_of_over_a_day_count_with_no_length),
        cmocka_unit_test(names_of_any_length_are_kept_or_cut_at_64_kib),
        cmocka_unit_test(numbers_among_the_args_that_are_none_are_counted),
        cmocka_unit_test(an_event_moved_to_another_stream_stays_where_it_ran),
        cmocka_unit_test(copies_without_a_name_are_called_by_their_args),
        cmocka_unit_test(allocations_may_have_no_category),
        cmocka_unit_test(nesting_of_any_depth_is_passed_over),
        cmocka_unit_test(a_list_within_a_member_that_is_whole_is_the_members_own),
        cmocka_unit_test(a_swallowed_list_is_found_or_not_however_it_arrives),
        cmocka_unit_test(nesting_without_end_is_an_error_or_a_cut),
        cmocka_unit_test(argument_lists_of_more_than_64_kib_count_as_not_given),
        cmocka_unit_test(arguments_mean_the_same_before_and_behind_the_category),
        cmocka_unit_test(an_event_of_more_than_16_mib_is_skipped_however_it_arrives),
        cmocka_unit_test(many_tokens_in_one_event_take_linear_time_and_bounded_memory),
        cmocka_unit_test(a_member_of_more_than_1_mib_is_dropped_and_the_rest_kept),
        cmocka_unit_test(a_hundred_thousand_members_rows_and_thread_names_are_read_quickly),
        cmocka_unit_test(garbage_between_events_is_passed_over_in_linear_time),
        cmocka_unit_test(a_second_list_of_events_is_read_and_reported),
        cmocka_unit_test(running_out_of_budget_fails_cleanly_wherever_it_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
