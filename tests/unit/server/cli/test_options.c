// SPDX-License-Identifier: Apache-2.0
// Options: defaults, environment, command line, and messages for wrong ones.
#include "server/cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct values {
    bool quiet;
    const char *listen, *format;
    uint64_t memory_bytes;
    int64_t count, wait_s;
    double share;
};

#define AT(member) offsetof(struct values, member)
static const struct option table[] = {
    {"--quiet", NULL, NULL, NULL, "say less", NULL, OPTION_FLAG, AT(quiet)},
    {"--listen", "TEST_LISTEN", "here", "ADDR", "where", NULL, OPTION_TEXT, AT(listen)},
    {"--format", NULL, "text", "FORMAT", "how", "text|json", OPTION_CHOICE, AT(format)},
    {"--memory", NULL, "4G", "BYTES", "how much", NULL, OPTION_BYTES, AT(memory_bytes)},
    {"--count", NULL, NULL, "COUNT", "how many", NULL, OPTION_INT, AT(count)},
    {"--share", NULL, "0.03", "SHARE", "which part", NULL, OPTION_NUMBER, AT(share)},
    {"--wait", NULL, "2m", "TIME", "how long", NULL, OPTION_SECONDS, AT(wait_s)},
};
static const struct option_set set = {"test", "Tests.", "FILE...", table,
                                      sizeof table / sizeof *table};

// Parses up to eight words.
static bool parse(const char *const *words, struct values *values, struct option_args *args,
                  char *argv[9], struct err *err)
{
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = strdup(words[argc]);
    return options_parse(&set, argc, argv, values, args, err);
}

// Frees the words, whatever their order now.
static void release(char *argv[9], const char *const *words)
{
    (void)words;
    for (int i = 0; i < 9; i++)
        free(argv[i]);
}

static void defaults_hold_until_somebody_says_otherwise(void **state)
{
    (void)state;
    struct values values = {0};
    struct option_args args;
    struct err err = {0};
    char *argv[9] = {0};
    const char *words[] = {NULL};
    assert_true(parse(words, &values, &args, argv, &err));
    assert_false(values.quiet);
    assert_string_equal(values.listen, "here");
    assert_true(values.memory_bytes == (uint64_t)4 << 30);
    assert_int_equal(values.wait_s, 120);
    assert_int_equal(values.count, 0);
    assert_true(values.share > 0.0299 && values.share < 0.0301);
    release(argv, words);
}

static void the_command_line_beats_the_environment(void **state)
{
    (void)state;
    struct values values = {0};
    struct option_args args;
    struct err err = {0};
    char *argv[9] = {0};
    const char *none[] = {NULL}, *words[] = {"--listen=there", NULL};
    setenv("TEST_LISTEN", "elsewhere", 1);
    assert_true(parse(none, &values, &args, argv, &err));
    assert_string_equal(values.listen, "elsewhere");
    assert_true(parse(words, &values, &args, argv, &err));
    assert_string_equal(values.listen, "there");
    unsetenv("TEST_LISTEN");
    release(argv, words);
}

static void operands_may_stand_between_options(void **state)
{
    (void)state;
    struct values values = {0};
    struct option_args args;
    struct err err = {0};
    char *words_at[9] = {0};
    char *argv[9];
    const char *words[] = {"a", "--quiet", "b", "--memory", "512k", "--", "--count", NULL};
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = words_at[argc] = strdup(words[argc]);
    assert_true(options_parse(&set, argc, argv, &values, &args, &err));
    assert_int_equal(args.operand_count, 3);
    assert_string_equal(args.operands[0], "a");
    assert_string_equal(args.operands[1], "b");
    assert_string_equal(args.operands[2], "--count");
    assert_true(values.quiet);
    assert_int_equal(values.memory_bytes, 512 << 10);
    release(words_at, words);
}

static void expect_error(const char *word, const char *second, const char *part)
{
    struct values values = {0};
    struct option_args args;
    struct err err = {0};
    char *argv[9] = {0};
    const char *words[] = {word, second, NULL};
    assert_false(parse(words, &values, &args, argv, &err));
    assert_int_equal(err.code, ERR_USAGE);
    if (!strstr(err.msg, part))
        fail_msg("expected '%s' in '%s'", part, err.msg);
    release(argv, words);
}

static void mistakes_are_named_and_the_nearest_option_suggested(void **state)
{
    (void)state;
    expect_error("--lisen", "x", "did you mean --listen?");
    expect_error("--nothing-like-it", NULL, "unknown option --nothing-like-it");
    expect_error("--memory", "lots", "a size such as");
    expect_error("--memory", "99999999T", "a size such as");
    expect_error("--count", "-1", "a whole number");
    expect_error("--format", "xml", "text|json");
    expect_error("--wait", "5x", "a duration");
    for (int i = 0; i < 6; i++)
        expect_error("--share", ((const char *[]){"3%", "nan", "0x1", "", "1e999", "1 2"})[i],
                     "a number such as 0.03");
    expect_error("--count", NULL, "the end of the command line");
}

static void help_lists_every_option_with_its_default_and_environment_name(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options_help(&set, out);
    fclose(out);
    for (size_t i = 0; i < set.count; i++)
        assert_non_null(strstr(text, table[i].name));
    assert_non_null(strstr(text, "[4G]"));
    assert_non_null(strstr(text, "(TEST_LISTEN)"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_until_somebody_says_otherwise),
        cmocka_unit_test(the_command_line_beats_the_environment),
        cmocka_unit_test(operands_may_stand_between_options),
        cmocka_unit_test(mistakes_are_named_and_the_nearest_option_suggested),
        cmocka_unit_test(help_lists_every_option_with_its_default_and_environment_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
