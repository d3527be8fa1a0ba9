// SPDX-License-Identifier: Apache-2.0
// A line of the log is one line, whatever it contains, and machines can read it in both formats.
#include "ingest/base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define MAX_LINE 8192

// Everything written to standard error since begin_log.
static FILE *begin_log(const char *format, int *saved)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    setenv(LOG_FORMAT_ENV, format, 1);
    *saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    return file;
}

static void end_log(FILE *file, int saved, char line[MAX_LINE])
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    size_t got = fread(line, 1, MAX_LINE - 1, file);
    line[got] = '\0';
    fclose(file);
}

static void log_one(const char *format, const char *message, struct log_field field,
                    char line[MAX_LINE])
{
    int saved;
    FILE *file = begin_log(format, &saved);
    log_event(LOG_WARN, message, &field, 1);
    end_log(file, saved, line);
}

// After the timestamp, which is the current time.
static const char *behind_time(const char *line, const char *open)
{
    assert_memory_equal(line, open, strlen(open));
    const char *level = strstr(line, "level");
    assert_non_null(level);
    return level;
}

static void text_is_logfmt(void **state)
{
    (void)state;
    char line[MAX_LINE];
    log_one("text", "GET", (struct log_field){"path", STR("/runs/a"), 0}, line);
    assert_string_equal(behind_time(line, "time=20"), "level=warn message=GET path=/runs/a\n");
    log_one("text", "two words", (struct log_field){"status", {NULL, 0}, 200}, line);
    assert_string_equal(behind_time(line, "time=20"),
                        "level=warn message=\"two words\" status=200\n");
}

static void json_is_an_object_a_line(void **state)
{
    (void)state;
    char line[MAX_LINE];
    log_one("json", "two words", (struct log_field){"ms", {NULL, 0}, -3}, line);
    assert_string_equal(behind_time(line, "{\"time\":\"20"),
                        "level\":\"warn\",\"message\":\"two words\",\"ms\":-3}\n");
}

static void names_from_outside_forge_nothing(void **state)
{
    (void)state;
    char line[MAX_LINE];
    struct log_field field = {"path", STR("a\nb\" level=error \x1b[31m\xc2\x9bz\\\x7f \xff\xc3"),
                              0};
    log_one("text", "x", field, line);
    assert_string_equal(behind_time(line, "time=20"),
                        "level=warn message=x path=\"a b\\\" level=error  [31m z\\\\  "
                        "\xef\xbf\xbd\xef\xbf\xbd\"\n");
    log_one("json", "x", field, line);
    assert_string_equal(behind_time(line, "{\"time"),
                        "level\":\"warn\",\"message\":\"x\",\"path\":\"a b\\\" level=error  [31m "
                        "z\\\\  \xef\xbf\xbd\xef\xbf\xbd\"}\n");
}

static void an_empty_value_stays_one(void **state)
{
    (void)state;
    char line[MAX_LINE];
    log_one("text", "x", (struct log_field){"who", STR(""), 0}, line);
    assert_string_equal(behind_time(line, "time=20"), "level=warn message=x who=\"\"\n");
}

static void a_line_that_is_too_long_keeps_its_frame(void **state)
{
    (void)state;
    char line[MAX_LINE], bad[600];
    int saved;
    struct log_field fields[12];
    memset(bad, 0xff, sizeof bad);
    for (size_t i = 0; i < 12; i++)
        fields[i] = (struct log_field){"field", {bad, sizeof bad}, 0};
    FILE *file = begin_log("json", &saved);
    log_event(LOG_INFO, "long", fields, 12);
    end_log(file, saved, line);
    size_t len = strlen(line), quotes = 0;
    assert_true(len < 4096);
    assert_string_equal(line + len - 3, "\"}\n");
    for (size_t i = 0; i < len; i++)
        quotes += line[i] == '"';
    assert_int_equal(quotes, (3 + 12) * 4);
}

static void a_long_message_is_cut(void **state)
{
    (void)state;
    char line[MAX_LINE], text[3000];
    int saved;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    FILE *file = begin_log("text", &saved);
    log_error("%s\n", text);
    end_log(file, saved, line);
    assert_true(strlen(line) > 800 && strlen(line) < 1100);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

// Nobody reads the pipe until it is more than full: no line blocks, and none is cut.
static void a_log_that_nobody_reads_loses_lines_and_stops_nobody(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    int ends[2], saved = dup(STDERR_FILENO);
    setenv(LOG_FORMAT_ENV, "text", 1);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    for (int i = 0; i < LINES; i++)
        log_info("line %d", i);
    static char text[1 << 20];
    size_t got = (size_t)read(ends[0], text, sizeof text / 2);
    log_info("again");
    dup2(saved, STDERR_FILENO); // the last one that could write
    close(saved);
    assert_true(text[got - 1] == '\n');
    int kept = 0;
    for (size_t i = 0; i < got; i++)
        kept += text[i] == '\n';
    assert_in_range(kept, 1, LINES - 1);
    ssize_t rest = read(ends[0], text, sizeof text - 1);
    assert_true(rest > 0);
    text[rest] = '\0';
    char lost[64];
    snprintf(lost, sizeof lost, "\"%d lines were lost: nobody read the log\"\n", LINES - kept);
    char *line = strstr(text, lost);
    assert_non_null(line);
    assert_non_null(strstr(line, "message=again\n"));
    assert_int_equal(read(ends[0], text, sizeof text), 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_logfmt),
        cmocka_unit_test(json_is_an_object_a_line),
        cmocka_unit_test(names_from_outside_forge_nothing),
        cmocka_unit_test(an_empty_value_stays_one),
        cmocka_unit_test(a_line_that_is_too_long_keeps_its_frame),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(a_log_that_nobody_reads_loses_lines_and_stops_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
