// SPDX-License-Identifier: Apache-2.0
// The bytes between the pieces that the library makes of a head, which is cut here the way it does.
#include "tests/unit/http_head_cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static int status_of(const char *head)
{
    struct cut *cut = test_malloc(sizeof(struct cut));
    struct request_header headers[MG_MAX_HEADERS];
    struct request request = {0};
    struct response response;
    struct err err = {0};
    response_init(&response);
    assert_true(cut_head(cut, str_of(head)));
    http_head_read(&cut->info, headers, &request);
    bool ok = http_head_check(&cut->info, &request, &response, &err);
    response_free(&response);
    test_free(cut);
    return ok ? 0 : response.status;
}

#define HOST "Host: a\r\n"

static void heads_that_everybody_reads_alike_pass(void **state)
{
    (void)state;
    const char *const fine[] = {
        "GET / HTTP/1.1\r\n" HOST "\r\n",
        "GET /a?b=c HTTP/1.1\r\n" HOST "\r\n",
        "GET /a? HTTP/1.0\r\n" HOST "\r\n",
        "GET / HTTP/1.1\r\nHost:a\r\nA:   b c  \r\nEmpty:\r\nLast: \r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nHost: A\r\n\r\n",
        "PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nX!#$%&'*+-.^_`|~9: y\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (status_of(fine[i]) != 0)
            fail_msg("%s gave %d", fine[i], status_of(fine[i]));
}

static void heads_that_others_may_read_otherwise_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {
        "GET  / HTTP/1.1\r\n" HOST "\r\n",
        "GET /  HTTP/1.1\r\n" HOST "\r\n",
        "GET /?a  HTTP/1.1\r\n" HOST "\r\n",
        "GET / HTTP/1.1\n" HOST "\r\n",
        "GET / HTTP/1.1\r\n " HOST "\r\n",
        "GET / HTTP/1.1\r\nHost: a\nB: c\r\n\r\n",
        "GET / HTTP/1.1\r\nB: c\r\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST "A(b): c\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST " folded\r\nContent-Length: 5\r\n\r\n",
        "GET / HTTP/1.1\r\n" HOST ": no name\r\nContent-Length: 5\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c\r\n" HOST "\r\n",
        "GET / HTTP/1.1\r\n" HOST "\rContent-Length: 5\r\n\r\n",
        "GET http://b/ HTTP/1.1\r\n" HOST "\r\n",
        "GET http://a:80/ HTTP/1.1\r\n" HOST "\r\n",
        "PUT / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (status_of(bad[i]) != 400)
            fail_msg("%s gave %d", bad[i], status_of(bad[i]));
}

static void other_versions_are_refused(void **state)
{
    (void)state;
    assert_int_equal(status_of("GET / HTTP/2.0\r\n" HOST "\r\n"), 505);
    assert_int_equal(status_of("GET / HTTP/1.10\r\n" HOST "\r\n"), 505);
    assert_int_equal(status_of("GET / HTTP/\r\n" HOST "\r\n"), 505);
}

static void a_head_that_fills_the_buffer_is_refused(void **state)
{
    (void)state;
    char head[MAX_HEAD];
    snprintf(head, sizeof head, "GET / HTTP/1.1\r\n" HOST "A: %*s\r\n\r\n", HTTP_HEAD_MAX_BYTES,
             "b");
    assert_int_equal(status_of(head), 431);
    snprintf(head, sizeof head, "GET / HTTP/1.1\r\n" HOST "A: %0*d\r\n\r\n",
             HTTP_HEAD_MAX_BYTES - 100, 0);
    assert_int_equal(status_of(head), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_that_everybody_reads_alike_pass),
        cmocka_unit_test(heads_that_others_may_read_otherwise_are_refused),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(a_head_that_fills_the_buffer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
