// SPDX-License-Identifier: Apache-2.0
// Reading events by their layout gives the same as reading them member by member, whatever single
// bytes are changed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/kineto/kineto_layout.h"
#include "tests/golden/trace_dump.h"

// One event per line, as printed by the profilers of several versions; # is the repetition's
// number.
static const char *const events[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 542, \"tid\": 639,\n"
    "\"ts\": 374341124910#.025, \"dur\": 0.720, \"args\": {\"External id\": 4#, \"Sequence "
    "number\": #,"
    " \"Input Dims\": [[64, 3], [3, 7], []], \"Input type\": [\"float\", \"float\", \"\"]}}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<8, float>(int)\", \"pid\": 0, "
    "\"tid\": 7,"
    " \"ts\": 374341124920#.125, \"dur\": 1#.123, \"args\": {\"device\": 0, \"context\": 1, "
    "\"stream\": 7,"
    " \"correlation\": #, \"grid\": [24, 2, 1], \"block\": [128, 1, 1], \"est. achieved occupancy "
    "%\": 31}}",
    "{\"ph\": \"s\", \"id\": #, \"pid\": 542, \"tid\": 639, \"ts\": 37434112491#, \"cat\": "
    "\"ac2g\","
    " \"name\": \"ac2g\", \"more\": {\"a\": [1, #]}}",
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 542, "
    "\"tid\": 639,"
    " \"ts\": #, \"dur\": #, \"args\": {\"cbid\": 211, \"correlation\": #, \"blocking\": true}}",
    "{\"name\": \"[memory]\", \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"pid\": 1, \"tid\": "
    "1, \"s\": \"t\","
    " \"ts\": 10#.5, \"args\": {\"Addr\": 14023423423423#, \"Bytes\": -#, \"Device Type\": 1}}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"b\\\\\\\"#\", \"pid\": 542, \"tid\": 639, "
    "\"ts\": 168272589823#567,"
    " \"dur\": 3, \"args\": {\"note\": \"C:\\\\new\\\"\", \"Concrete Inputs\": [\"a\\\"]\", "
    "\"\\\\\"]}}",
    "{\"args\": {\"stream\": 7, \"correlation\": #, \"bytes\": #}, \"ph\": \"X\", \"cat\": "
    "\"gpu_memcpy\","
    " \"name\": \"Memcpy HtoD\", \"pid\": \"a\", \"tid\": \"8\", \"ts\": #.5, \"dur\": 1e1}",
    "{\"\\u0070h\": \"\\u0058\", \"c\\u0061t\": \"kern\\u0065l\", \"n\\u0061me\": \"k\", "
    "\"pid\": 0, \"tid\": 7, \"ts\": #.25, \"dur\": #, \"\\u0061rgs\": {\"stre\\u0061m\": 9, "
    "\"correl\\u0061tion\": #, \"\\u0067rid\": [1, 2, 3]}}",
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": 1#, "
    "\"args\": {\"Device Type\": 1, \"Addr\": 64#, \"Bytes\": #}}",
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy\", \"pid\": 0, \"tid\": 7, "
    "\"ts\": #, \"dur\": 1, \"args\": {\"stream\": 7, \"copy kind\": \"HtoD\", "
    "\"src kind\": \"pageable\", \"dst kind\": \"device\", \"original_stream\": 9}}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": #.75, "
    "\"dur\": #, \"args\": {\"Collective name\": \"broadcast\", \"dtype\": null, "
    "\"Collective name\": null}}",
};
#define EVENTS (sizeof events / sizeof *events)

static void add_event(struct buf *out, const char *event, int number)
{
    for (; *event; event++)
        if (*event == '#')
            buf_printf(out, "%d", number);
        else
            buf_putc(out, *event);
}

// Repeats the events so that the layouts of later ones are known.
static void make_document(struct buf *out, int repeats)
{
    buf_puts(out, "{\"traceEvents\": [\n");
    for (int i = 0; i < repeats; i++)
        for (size_t e = 0; e < EVENTS; e++) {
            buf_puts(out, i || e ? ",\n  " : "  ");
            add_event(out, events[e], i);
        }
    buf_puts(out, "\n]}\n");
}

static void read_by(const struct kineto_match *match, struct str text, struct buf *dump)
{
    struct budget budget = {0};
    struct err err = {0};
    dump_result(dump, dump_read_by(match, text, &budget, &err), &err);
    buf_putc(dump, '\0');
    assert_true(buf_ok(dump, &err));
    assert_int_equal(budget.used, 0);
}

static void expect_same(const struct buf *plain, const struct buf *matched, const char *name)
{
    size_t same = 0;
    while (same < plain->len && same < matched->len && plain->at[same] == matched->at[same])
        same++;
    bool agree = same == plain->len && same == matched->len;
    if (!agree)
        print_error("member by member: %.300s\nby %s: %.300s\n", plain->at + same, name,
                    matched->at + same);
    assert_true(agree);
}

static void expect_twins_agree(struct str text)
{
    struct buf plain = {0};
    read_by(NULL, text, &plain);
    for (const struct kineto_match *match = kineto_match_variants(); match->name; match++) {
        struct buf matched = {0};
        read_by(match, text, &matched);
        expect_same(&plain, &matched, match->name);
        buf_free(&matched);
    }
    buf_free(&plain);
}

static void events_of_known_layouts_give_the_same(void **state)
{
    (void)state;
    struct buf text = {0};
    make_document(&text, 40);
    expect_twins_agree((struct str){text.at, text.len});
    buf_free(&text);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Replaces, removes or inserts one byte, mostly a significant one.
static void change_byte(struct buf *text, uint32_t *seed)
{
    static const char bytes[] = "\"\\{}[],:.-+eE0123456789 \n\t\x01\x80tfnNaX";
    size_t at = 20 + next_random(seed) % (text->len - 20);
    char byte = bytes[next_random(seed) % (sizeof bytes - 1)];
    switch (next_random(seed) % 3) {
    case 0: text->at[at] = byte; break;
    case 1:
        memmove(text->at + at, text->at + at + 1, text->len - at - 1);
        text->len--;
        break;
    default:
        buf_putc(text, 0);
        memmove(text->at + at + 1, text->at + at, text->len - at - 1);
        text->at[at] = byte;
    }
}

static void changed_bytes_mean_the_same_to_both(void **state)
{
    (void)state;
    struct buf original = {0};
    make_document(&original, 4);
    for (uint32_t round = 0; round < 3000; round++) {
        struct buf text = {0};
        uint32_t seed = round;
        buf_add(&text, original.at, original.len);
        for (uint32_t changes = 0; changes <= round % 4; changes++)
            change_byte(&text, &seed);
        expect_twins_agree((struct str){text.at, text.len});
        buf_free(&text);
    }
    buf_free(&original);
}

// More different events than there is room for layouts.
static void layouts_without_end_are_survived(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_puts(&text, "[{}");
    for (int i = 0; i < 6000; i++)
        buf_printf(&text,
                   ", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"k%d\": 1, \"name\": \"a\", \"ts\": %d,"
                   " \"dur\": 1, \"pid\": 1, \"tid\": 1}",
                   i / 2, i);
    buf_puts(&text, "]");
    expect_twins_agree((struct str){text.at, text.len});
    buf_free(&text);
}

// An event too large to keep stays so, however much of it is in memory when its layout is known.
static void known_layouts_do_not_make_events_larger(void **state)
{
    (void)state;
    static const char event[] =
        ", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1,"
        " \"tid\": 1, \"ts\": 1, \"dur\": 1, \"args\": {\"note\": [";
    struct buf text = {0};
    buf_puts(&text, "[{}");
    for (int i = 0; i < 6; i++) {
        buf_puts(&text, event);
        for (size_t at = 0; i == 3 && at < (size_t)17 << 20; at += 4)
            buf_puts(&text, "1, 2");
        buf_puts(&text, "]}}");
    }
    buf_puts(&text, "]");
    expect_twins_agree((struct str){text.at, text.len});
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_known_layouts_give_the_same),
        cmocka_unit_test(changed_bytes_mean_the_same_to_both),
        cmocka_unit_test(layouts_without_end_are_survived),
        cmocka_unit_test(known_layouts_do_not_make_events_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
