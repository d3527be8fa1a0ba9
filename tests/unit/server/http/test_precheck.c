// SPDX-License-Identifier: Apache-2.0
// Requests that the library would accept are refused before a handler sees them.
#include "server/http/precheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MAX_HEADERS 70

// Headers as "Name: value" lines; the answer's status, 0 if the request passes.
struct sent {
    const char *method, *path;
    const char *lines[8];
    const char *query; // NULL none
};

static int status_of(const struct precheck *precheck, const struct sent *sent)
{
    struct arena arena;
    struct response response;
    struct request_header headers[8];
    struct err err = {0};
    arena_init(&arena, NULL);
    response_init(&response);
    struct request request = {.arena = &arena,
                              .method = str_of(sent->method),
                              .path = str_of(sent->path),
                              .query_text = str_of(sent->query ? sent->query : ""),
                              .headers = headers};
    for (size_t i = 0; i < 8 && sent->lines[i]; i++) {
        const char *colon = strstr(sent->lines[i], ": ");
        headers[request.header_count++] = (struct request_header){
            {sent->lines[i], (size_t)(colon - sent->lines[i])}, str_of(colon + 2)};
    }
    bool ok = precheck_request(precheck, &request, &response, &err);
    int status = ok ? 0 : response.status ? response.status : 400;
    response_free(&response);
    arena_free(&arena);
    return status;
}

static const struct precheck loopback = {
    {"127.0.0.1:8080", 14}, {"https://traces.example/x/", 25}, {"a.example,B.example:80", 22}};
static const struct precheck everywhere = {{"0.0.0.0:8080", 12}, {"", 0}, {"", 0}};

#define HOST "Host: localhost:8080"

static int get(const struct precheck *precheck, const char *host)
{
    return status_of(precheck, &(struct sent){"GET", "/", {host}, NULL});
}

static void one_known_host_is_needed(void **state)
{
    (void)state;
    const char *const known[] = {HOST,
                                 "Host: LocalHost",
                                 "Host: 127.0.0.1:9999",
                                 "Host: [::1]:80",
                                 "host: traces.example",
                                 "Host: a.example:99",
                                 "Host: b.example"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_int_equal(get(&loopback, known[i]), 0);
    const char *const unknown[] = {"Host: evil.example",
                                   "Host: localhost.evil.example",
                                   "Host: localhost:80x",
                                   "Host: 192.168.1.7:8080",
                                   "Host: a.example,B.example",
                                   "Host: b.example:80:80",
                                   "Host: ",
                                   "Host: :8080"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_int_equal(get(&loopback, unknown[i]), 421);
    assert_int_equal(status_of(&loopback, &(struct sent){"GET", "/", {NULL}, NULL}), 400);
    assert_int_equal(status_of(&loopback, &(struct sent){"GET", "/", {HOST, HOST}, NULL}), 400);
}

static void addresses_are_known_where_all_are_listened_on(void **state)
{
    (void)state;
    assert_int_equal(get(&everywhere, "Host: 10.1.2.3:8080"), 0);
    assert_int_equal(get(&everywhere, "Host: [fe80::1]:8080"), 0);
    assert_int_equal(get(&everywhere, "Host: evil.example:8080"), 421);
}

static int with(const char *a, const char *b)
{
    return status_of(&loopback, &(struct sent){"POST", "/upload", {HOST, a, b}, NULL});
}

static void one_honest_length_is_needed(void **state)
{
    (void)state;
    assert_int_equal(with("Content-Length: 10", NULL), 0);
    assert_int_equal(with("Transfer-Encoding: chunked", NULL), 0);
    assert_int_equal(with("Content-Length: 10", "Content-Length: 10"), 400);
    assert_int_equal(with("Content-Length: 10", "Transfer-Encoding: chunked"), 400);
    assert_int_equal(with("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400);
    assert_int_equal(with("Transfer-Encoding: gzip", NULL), 501);
    assert_int_equal(with("Expect: 200-ok", NULL), 417);
    assert_int_equal(with("Expect: 100-continue", NULL), 0);
    const char *const bad[] = {"Content-Length: ",      "Content-Length: +5",
                               "Content-Length: -5",    "Content-Length: 0x5",
                               "Content-Length: 10abc", "Content-Length: 9999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(with(bad[i], NULL), 400);
}

static void addresses_that_are_no_text_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"/uri/a%00b", "/a%0d%0aX:%20y", "/%", "/\x7f", "*", ""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(status_of(&loopback, &(struct sent){"GET", bad[i], {HOST}, NULL}), 400);
}

static void queries_that_are_no_text_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"q=%00", "q=a%0d%0aX:%20y", "q=%", "q=%c3%28", "%zz"};
    struct precheck precheck = loopback;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(status_of(&precheck, &(struct sent){"GET", "/", {HOST}, bad[i]}), 400);
    assert_int_equal(status_of(&precheck, &(struct sent){"GET", "/", {HOST}, "q=a+%c3%a4"}), 0);
}

static void headers_that_may_come_once_come_once(void **state)
{
    (void)state;
    const char *const once[] = {"Content-Type: a/b", "Authorization: Bearer x",
                                "Range: bytes=0-1",  "X-Forwarded-User: alice",
                                "Upload-Offset: 0",  "expect: 100-continue"};
    for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++) {
        assert_int_equal(with(once[i], NULL), 0);
        assert_int_equal(with(once[i], once[i]), 400);
    }
    assert_int_equal(with("Accept: a/b", "Accept: c/d"), 0);
    assert_int_equal(with("X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 10.0.0.2"), 0);
}

static void changes_sent_by_pages_of_other_sites_are_refused(void **state)
{
    (void)state;
    assert_int_equal(with("Sec-Fetch-Site: same-origin", "Origin: http://localhost:8080"), 0);
    assert_int_equal(with("Sec-Fetch-Site: none", NULL), 0);
    assert_int_equal(with("Origin: https://traces.example", NULL), 0);
    assert_int_equal(with("Sec-Fetch-Site: cross-site", NULL), 403);
    assert_int_equal(with("Sec-Fetch-Site: same-site", NULL), 403);
    assert_int_equal(with("Origin: https://evil.example", NULL), 403);
    assert_int_equal(with("Origin: http://localhost:9090", NULL), 403);
    assert_int_equal(with("Origin: null", NULL), 403);
    struct sent get_it = {"GET", "/", {HOST, "Sec-Fetch-Site: cross-site"}, NULL};
    assert_int_equal(status_of(&loopback, &get_it), 0);
    get_it.lines[2] = "Sec-Fetch-Mode: navigate";
    assert_int_equal(status_of(&loopback, &get_it), 0);
    get_it.lines[2] = "Sec-Fetch-Mode: no-cors";
    assert_int_equal(status_of(&loopback, &get_it), 403);
    get_it.lines[1] = "Origin: https://evil.example";
    get_it.lines[2] = NULL;
    assert_int_equal(status_of(&loopback, &get_it), 403);
}

static void more_headers_than_the_library_keeps_are_refused(void **state)
{
    (void)state;
    struct request_header headers[MAX_HEADERS];
    struct response response;
    struct err err = {0};
    response_init(&response);
    for (size_t i = 0; i < MAX_HEADERS; i++)
        headers[i] = (struct request_header){STR("X"), STR("y")};
    struct request request = {.headers = headers, .header_count = REQUEST_MAX_HEADERS + 1};
    assert_false(precheck_request(&loopback, &request, &response, &err));
    assert_int_equal(response.status, 431);
    response_free(&response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_known_host_is_needed),
        cmocka_unit_test(addresses_are_known_where_all_are_listened_on),
        cmocka_unit_test(one_honest_length_is_needed),
        cmocka_unit_test(addresses_that_are_no_text_are_refused),
        cmocka_unit_test(queries_that_are_no_text_are_refused),
        cmocka_unit_test(headers_that_may_come_once_come_once),
        cmocka_unit_test(changes_sent_by_pages_of_other_sites_are_refused),
        cmocka_unit_test(more_headers_than_the_library_keeps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
