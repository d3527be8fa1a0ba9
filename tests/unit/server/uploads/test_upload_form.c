// SPDX-License-Identifier: Apache-2.0
// Files that can be neither traces nor archives are recognized at once, and names are made fit to
// show.
#include "server/uploads/sniff.h"
#include "server/uploads/upload_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void what_may_be_a_trace_passes(void **state)
{
    (void)state;
    char blanks[SNIFF_BYTES]; // what follows is unknown
    memset(blanks, ' ', sizeof blanks);
    const struct str good[] = {STR("{\"traceEvents\":"), STR("  \n[{"),
                               STR("\xEF\xBB\xBF {"),    STR("\x1F\x8B\x08"),
                               STR("\x28\xB5\x2F\xFD"),  STR("\x5A\x2A\x4D\x18"),
                               {blanks, sizeof blanks}};
    struct err err = {0};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!sniff_trace(good[i], &err))
            fail_msg("sample %zu: %s", i, err.msg);
}

static void what_cannot_be_one_is_named(void **state)
{
    (void)state;
    const struct {
        struct str head;
        const char *what;
    } bad[] = {{STR(""), "an empty file"},
               {STR(" \n"), "only white space"},
               {STR("\x89PNG\r\n\x1a\n"), "a PNG image"},
               {STR("PK\x03\x04"), "a zip archive"},
               {STR("<!doctype html>"), "HTML or XML"},
               {STR("\xFF\xFE{\0"), "UTF-16 text"},
               {STR("\0\0\0\0"), "content that is neither JSON nor a known compression"},
               {STR("\x1F"), "content that is neither"}};
    struct err err = {0};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_false(sniff_trace(bad[i].head, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        if (!strstr(err.msg, bad[i].what))
            fail_msg("sample %zu: %s", i, err.msg);
    }
}

// By content, or by the name of what is compressed.
static void archives_are_recognized(void **state)
{
    (void)state;
    const struct {
        struct str head;
        const char *filename, *archive;
    } samples[] = {{STR("PK\x03\x04"), "rank0.json", "zip"},
                   {STR("\x1F\x8B\x08"), "job.tar.gz", "gzip"},
                   {STR("\x28\xB5\x2F\xFD"), "job.tar.zst", "zstd"},
                   {STR("\x28\xB5\x2F\xFD"), "rank0.json.zst", ""},
                   {STR("{\"traceEvents\":"), "job.tar.zst", ""}};
    struct err err = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct str archive;
        assert_true(sniff_upload(samples[i].head, str_of(samples[i].filename), &archive, &err));
        assert_true(str_equal(archive, str_of(samples[i].archive)));
    }
}

// By as many first bytes as where a file is read: what one finds the other does not refuse.
static void a_step_late_in_the_head_is_found(void **state)
{
    static const char step[] = "\niteration 5/ 10 | elapsed time per iteration (ms): 15800.0 |\n";
    char head[SNIFF_BYTES];
    struct str archive;
    struct err err = {0};
    (void)state;
    memset(head, '-', sizeof head);
    memcpy(head + 3000, step, sizeof step - 1);
    assert_true(sniff_upload((struct str){head, sizeof head}, STR("job-7"), &archive, &err));
    assert_true(str_equal(archive, STR("training-log")));
}

static void assert_display(struct str name, const char *expected)
{
    struct arena arena;
    struct str display;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(upload_display_name(name, &arena, &display, &err));
    assert_true(str_equal(display, str_of(expected)));
    arena_free(&arena);
}

static void names_are_shown_as_utf8_without_control_characters(void **state)
{
    (void)state;
    assert_display(STR("rank-3/trace.json"), "rank-3/trace.json");
    assert_display(STR("caf\xC3\xA9 \xF0\x9F\x94\xA5"), "caf\xC3\xA9 \xF0\x9F\x94\xA5");
    assert_display(STR("a\r\n\x1b[31m"), "a\\x0d\\x0a\\x1b[31m");
    assert_display(STR("a\xFF\xC3"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_display(STR(""), "");
    char longest[2000], expected[256] = "";
    for (size_t i = 0; i < 1000; i++)
        memcpy(longest + 2 * i, "\xC3\xA9", 2);
    memcpy(expected, longest, 254);
    assert_display((struct str){longest, sizeof(longest)}, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_be_a_trace_passes),
        cmocka_unit_test(what_cannot_be_one_is_named),
        cmocka_unit_test(archives_are_recognized),
        cmocka_unit_test(a_step_late_in_the_head_is_found),
        cmocka_unit_test(names_are_shown_as_utf8_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
