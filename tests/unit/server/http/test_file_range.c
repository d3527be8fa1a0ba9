// SPDX-License-Identifier: Apache-2.0
// Which bytes of a ten-byte file each request gets.
#include "server/http/file_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define SIZE 10

struct outcome {
    int status;
    char bytes[SIZE + 1];
    char content_range[40];
};

struct asked {
    const char *method, *range, *if_range; // NULL: no such header
};

static void take_header(const struct response *response, const char *name, char value[40])
{
    for (size_t i = 0; i < response->header_count; i++)
        if (str_equal(response->headers[i].name, str_of(name)))
            snprintf(value, 40, "%.*s", (int)response->headers[i].value.len,
                     response->headers[i].value.at);
}

static struct outcome ask(struct asked asked)
{
    struct outcome outcome = {0};
    struct arena arena;
    struct response response;
    struct err err = {0};
    struct request_header headers[2];
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs("0123456789", file);
    rewind(file);
    arena_init(&arena, NULL);
    response_init(&response);
    response.fd = dup(fileno(file));
    response.file_bytes = SIZE;
    response.etag = STR("\"v1\"");
    struct request request = {.arena = &arena, .method = str_of(asked.method), .headers = headers};
    if (asked.range)
        headers[request.header_count++] =
            (struct request_header){STR("Range"), str_of(asked.range)};
    if (asked.if_range)
        headers[request.header_count++] =
            (struct request_header){STR("If-Range"), str_of(asked.if_range)};
    bool ok = file_range_apply(&request, &response, &err);
    assert_int_equal(ok, response.status != 416);
    outcome.status = response.status;
    take_header(&response, "Content-Range", outcome.content_range);
    assert_in_range(response.file_bytes, 0, SIZE);
    assert_int_equal(read(response.fd, outcome.bytes, response.file_bytes), response.file_bytes);
    response_free(&response);
    arena_free(&arena);
    fclose(file);
    return outcome;
}

static void one_range_is_sent(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"bytes=0-0", "0", "bytes 0-0/10"},
        {"bytes=2-4", "234", "bytes 2-4/10"},
        {"bytes=7-", "789", "bytes 7-9/10"},
        {"bytes=-3", "789", "bytes 7-9/10"},
        {"bytes=-99", "0123456789", "bytes 0-9/10"},
        {"bytes=8-99999999999999999", "89", "bytes 8-9/10"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = ask((struct asked){"GET", cases[i][0], NULL});
        assert_int_equal(outcome.status, 206);
        assert_string_equal(outcome.bytes, cases[i][1]);
        assert_string_equal(outcome.content_range, cases[i][2]);
    }
}

static void a_range_outside_is_refused_with_the_size(void **state)
{
    (void)state;
    const char *const outside[] = {"bytes=10-", "bytes=10-12", "bytes=-0",
                                   "bytes=999999999999999999-"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct outcome outcome = ask((struct asked){"GET", outside[i], NULL});
        assert_int_equal(outcome.status, 416);
        assert_string_equal(outcome.content_range, "bytes */10");
    }
}

static void what_is_no_single_range_gets_the_whole_file(void **state)
{
    (void)state;
    const char *const others[] = {"bytes=0-1,3-4",
                                  "bytes=4-2",
                                  "bytes=",
                                  "bytes=-",
                                  "bytes=a-b",
                                  "lines=0-1",
                                  "bytes=1",
                                  "bytes=+1-2",
                                  "bytes= 1-2",
                                  "bytes=--2",
                                  "bytes=1-2-",
                                  "bytes=1-0x2",
                                  "",
                                  "bytes=99999999999999999999-"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct outcome outcome = ask((struct asked){"GET", others[i], NULL});
        assert_int_equal(outcome.status, 0);
        assert_string_equal(outcome.bytes, "0123456789");
        assert_string_equal(outcome.content_range, "");
    }
    assert_int_equal(ask((struct asked){"GET", NULL, NULL}).status, 0);
    assert_int_equal(ask((struct asked){"HEAD", "bytes=0-1", NULL}).status, 0);
}

static void a_range_of_another_version_gets_the_whole_file(void **state)
{
    (void)state;
    assert_int_equal(ask((struct asked){"GET", "bytes=0-1", "\"v1\""}).status, 206);
    const char *const others[] = {"\"v2\"", "W/\"v1\"", "", "Sat, 21 Nov 2026 10:00:00 GMT"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(ask((struct asked){"GET", "bytes=0-1", others[i]}).status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_range_is_sent),
        cmocka_unit_test(a_range_outside_is_refused_with_the_size),
        cmocka_unit_test(what_is_no_single_range_gets_the_whole_file),
        cmocka_unit_test(a_range_of_another_version_gets_the_whole_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
