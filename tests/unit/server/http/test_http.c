// SPDX-License-Identifier: Apache-2.0
// The running server against raw bytes: hostile requests are answered at once and clearly, good
// ones are stored, and every answer has the same protective headers.
// labels: threads
#include "server/http/http.h"

#include "server/care/intake.h"
#include "server/care/retention_plan.h"
#include "server/routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct server {
    char folder[32];
    struct blobs *blobs;
    struct store *store;
    struct intake intake;
    struct retention_rules retention;
    struct http *http;
};

static void start(struct server *server, unsigned uploads_in_flight)
{
    char path[64];
    struct err err = {0};
    memcpy(server->folder, "/tmp/test_http_XXXXXX", 22);
    assert_non_null(mkdtemp(server->folder));
    snprintf(path, sizeof(path), "%s/stepscope.db", server->folder);
    server->blobs = blob_open(server->folder, &err);
    server->store = server->blobs ? store_open(path, &err) : NULL;
    server->intake = (struct intake){.store = server->store, .blobs = server->blobs};
    struct http_config config = {.listen = "127.0.0.1:0",
                                 .threads = 8,
                                 .services = {.intake = &server->intake,
                                              .max_upload_bytes = 1 << 20,
                                              .uploads_in_flight = uploads_in_flight,
                                              .retention = &server->retention},
                                 .answer = routes_answer};
    server->http = server->store ? http_start(&config, &err) : NULL;
    if (!server->http)
        fail_msg("%s", err.msg);
}

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void stop(struct server *server)
{
    http_stop(server->http, 1000);
    store_close(server->store);
    blob_close(server->blobs);
    nftw(server->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int set_up(void **state)
{
    struct server *server = calloc(1, sizeof(*server));
    start(server, 4);
    *state = server;
    return 0;
}

static int tear_down(void **state)
{
    stop(*state);
    free(*state);
    return 0;
}

// --- talking ------------------------------------------------------------------------------------

// errno is set unless it can connect.
static int try_to_connect(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)http_port(server->http))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    errno = 0;
    (void)connect(fd, (struct sockaddr *)&address, sizeof(address));
    return fd;
}

static int connect_to(const struct server *server)
{
    int fd = try_to_connect(server);
    assert_int_equal(errno, 0);
    return fd;
}

static void send_bytes(int fd, struct str bytes)
{
    while (bytes.len) {
        ssize_t sent = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (sent <= 0)
            return; // the server has already answered and closed
        bytes = (struct str){bytes.at + sent, bytes.len - (size_t)sent};
    }
}

// Everything received until the server closes.
static void receive_all(int fd, struct buf *out)
{
    char block[4096];
    ssize_t got = 0;
    while ((got = recv(fd, block, sizeof(block), 0)) > 0)
        buf_add(out, block, (size_t)got);
    buf_putc(out, '\0');
}

// Sends bytes, shuts down its side, and reads the answer.
static void exchange(const struct server *server, struct str bytes, struct buf *answer)
{
    int fd = connect_to(server);
    send_bytes(fd, bytes);
    shutdown(fd, SHUT_WR);
    receive_all(fd, answer);
    close(fd);
}

static int status_of(const struct buf *answer)
{
    return strncmp(answer->at, "HTTP/1.1 ", 9) == 0 ? (int)strtol(answer->at + 9, NULL, 10) : 0;
}

static void assert_protected(const struct buf *answer)
{
    assert_non_null(strstr(answer->at, "\r\nContent-Security-Policy: default-src 'none';"));
    assert_non_null(strstr(answer->at, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(answer->at, "\r\nX-Request-Id: "));
    assert_null(strstr(answer->at, "Access-Control-"));
}

static void assert_status(const struct server *server, struct str bytes, int expected)
{
    struct buf answer = {0};
    exchange(server, bytes, &answer);
    if (status_of(&answer) != expected)
        fail_msg("%.*s\nwas answered: %.300s", (int)bytes.len, bytes.at, answer.at);
    assert_protected(&answer);
    buf_free(&answer);
}

#define HOST  "Host: localhost\r\n"
#define CLOSE "Connection: close\r\n"

// --- tests --------------------------------------------------------------------------------------

static void hostile_requests_are_answered_and_refused(void **state)
{
    const struct {
        struct str bytes;
        int status;
    } samples[] = {
        {STR("GET /healthz HTTP/1.1\r\n" HOST CLOSE "\r\n"), 200},
        {STR("HEAD /healthz HTTP/1.1\r\n" HOST CLOSE "\r\n"), 200},
        {STR("GET /healthz HTTP/1.1\r\n\r\n"), 400},
        {STR("GET /healthz HTTP/1.1\r\n" HOST HOST "\r\n"), 400},
        {STR("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421},
        {STR("GET /healthz%00x HTTP/1.1\r\n" HOST "\r\n"), 400},
        {STR("GET /%0d%0aX:y HTTP/1.1\r\n" HOST "\r\n"), 400},
        {STR("GET /static/x/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n" HOST CLOSE "\r\n"), 404},
        {STR("GET /../../etc/passwd HTTP/1.1\r\n" HOST CLOSE "\r\n"), 404},
        {STR("BREW / HTTP/1.1\r\n" HOST CLOSE "\r\n"), 400},
        {STR("GET / HTTP/3.7\r\n" HOST CLOSE "\r\n"), 505},
        {STR("nonsense\r\n\r\n"), 400},
        {STR("OPTIONS /upload HTTP/1.1\r\n" HOST CLOSE "Origin: http://evil.example\r\n"
             "Access-Control-Request-Method: POST\r\n\r\n"),
         403},
        {STR("OPTIONS /upload HTTP/1.1\r\n" HOST CLOSE "\r\n"), 204},
        {STR("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 400},
        {STR("GET http://evil.example/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {STR("GET / HTTP/1.1\r\n" HOST " folded\r\nContent-Length: 5\r\n\r\n"), 400},
        {STR("GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n"), 400},
        {STR("GET / HTTP/1.1\n" HOST "\r\n"), 400},
        // Bodies that hang the library's own form reader forever.
        {STR("POST /upload HTTP/1.1\r\n" HOST CLOSE "Content-Length: 10\r\nContent-Type: "
             "application/x-www-form-urlencoded\r\n\r\na=b\0c&d=e\0"),
         415},
        {STR("POST /upload HTTP/1.1\r\n" HOST CLOSE "Content-Length: 3\r\nContent-Type: "
             "application/x-www-form-urlencoded\r\n\r\na=%"),
         415},
        {STR("POST /upload HTTP/1.1\r\n" HOST CLOSE "Content-Length: 45\r\nContent-Type: "
             "multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data\r\n\r\n"
             "\r\n--x--"),
         422},
        {STR("POST /upload HTTP/1.1\r\n" HOST CLOSE "Content-Type: multipart/form-data; "
             "boundary=x\r\n\r\n"),
         411},
        {STR("POST /upload HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"
             "\r\nabc"),
         400},
        {STR("POST /upload HTTP/1.1\r\n" HOST "Content-Length: 99999999\r\nContent-Type: "
             "multipart/form-data; boundary=x\r\n\r\n--x"),
         413},
        {STR("POST /upload HTTP/1.1\r\n" HOST "Content-Length: 9\r\nOrigin: http://evil.example\r\n"
             "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x--\r\n\r\n"),
         403},
        {STR("PATCH /api/v1/runs/none HTTP/1.1\r\n" HOST CLOSE "Content-Length: 2\r\n\r\n{}"), 404},
        {STR("POST /api/v1/runs HTTP/1.1\r\n" HOST CLOSE "Content-Type: text/plain\r\n"
             "Content-Length: 2\r\n\r\n{}"),
         415},
        {STR("POST /api/v1/runs HTTP/1.1\r\n" HOST CLOSE "Content-Type: application/json\r\n"
             "Content-Length: 9\r\n\r\n{\"nam\":1}"),
         400},
        {STR("GET /api/v1/runs?nope=1 HTTP/1.1\r\n" HOST CLOSE "\r\n"), 400},
        {STR("GET /api/v1/compare?base=a&cand=b HTTP/1.1\r\n" HOST CLOSE "\r\n"), 404},
    };
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        assert_status(*state, samples[i].bytes, samples[i].status);
}

// Connection threads have 100 KB of stack: a recursive parser must not get this.
static void a_body_of_deep_json_is_refused(void **state)
{
    enum { DEPTH = 100000 };
    struct buf bytes = {0};
    buf_printf(&bytes,
               "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
               "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
               DEPTH);
    for (int i = 0; i < DEPTH; i++)
        buf_putc(&bytes, '[');
    assert_status(*state, (struct str){bytes.at, bytes.len}, 400);
    buf_free(&bytes);
}

// A client that learns that the connection stays open sends its next request on it.
static void a_connection_that_ends_is_said_to_end(void **state)
{
    const struct str samples[] = {
        STR("GET /healthz HTTP/1.1\r\n" HOST CLOSE "\r\n"),
        STR("GET /healthz HTTP/1.1\r\n" HOST "Connection: x\r\nConnection: keep-alive\r\n\r\n"),
        STR("GET /healthz HTTP/1.1\r\n" HOST "Connection: keep-alive\r\n" CLOSE "\r\n"),
        STR("GET /healthz HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nG"),
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct buf answer = {0};
        exchange(*state, samples[i], &answer);
        assert_non_null(strstr(answer.at, "\r\nConnection: close\r\n"));
        buf_free(&answer);
    }
}

static void headers_beyond_every_limit_are_refused(void **state)
{
    struct buf many = {0}, large = {0};
    buf_puts(&many, "GET /healthz HTTP/1.1\r\n" HOST);
    for (int i = 0; i < 100; i++)
        buf_printf(&many, "X-%d: y\r\n", i);
    buf_puts(&many, "\r\n");
    assert_status(*state, (struct str){many.at, many.len}, 431);
    buf_puts(&large, "GET /healthz HTTP/1.1\r\nX: ");
    for (int i = 0; i < 20000; i++)
        buf_putc(&large, 'x');
    assert_status(*state, (struct str){large.at, large.len}, 400);
    buf_free(&many);
    buf_free(&large);
}

#define FIELD(name) "--x\r\nContent-Disposition: form-data; name=\"" name "\""
#define GOOD_FORM                                                      \
    FIELD("trace")                                                     \
    "; filename=\"rank3.json\"\r\n\r\n{\"traceEvents\":[]}\r\n" FIELD( \
        "run") "\r\n\r\nllama\r\n--x--"

static void post_form(const struct server *server, struct str form, size_t announced,
                      struct buf *answer)
{
    struct buf bytes = {0};
    buf_printf(&bytes,
               "POST /upload HTTP/1.1\r\n" HOST CLOSE "Content-Length: %zu\r\n"
               "Content-Type: multipart/form-data; boundary=x\r\n\r\n",
               announced);
    buf_add_str(&bytes, form);
    exchange(server, (struct str){bytes.at, bytes.len}, answer);
    buf_free(&bytes);
}

static uint64_t run_count(const struct server *server)
{
    struct arena arena;
    struct run_list list;
    struct run_query all = {.limit = 10};
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(store_list_runs(server->store, &all, &arena, &list, &err));
    arena_free(&arena);
    return list.total;
}

static void an_upload_is_stored_and_its_repetition_found(void **state)
{
    struct server *server = *state;
    struct buf answer = {0};
    post_form(server, STR(GOOD_FORM), sizeof(GOOD_FORM) - 1, &answer);
    assert_int_equal(status_of(&answer), 202);
    assert_non_null(strstr(answer.at, "\"run_name\":\"llama\""));
    assert_non_null(strstr(answer.at, "\"filename\":\"rank3.json\""));
    assert_non_null(strstr(answer.at, "\r\nLocation: /api/v1/uploads/u_"));
    assert_int_equal(answer.at[answer.len - 2], '\n');
    assert_int_equal(run_count(server), 1);
    buf_free(&answer);
    post_form(server, STR(GOOD_FORM), sizeof(GOOD_FORM) - 1, &answer);
    assert_int_equal(status_of(&answer), 200);
    buf_free(&answer);
}

static void a_bad_run_name_is_refused_before_the_file_is_read(void **state)
{
    static const char form[] =
        "--x\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\na/b\r\n"
        "--x\r\nContent-Disposition: form-data; name=\"trace\"; filename=\"a\"\r\n\r\n[";
    struct buf answer = {0};
    post_form(*state, str_of(form), 1 << 20, &answer);
    assert_int_equal(status_of(&answer), 400);
    assert_non_null(strstr(answer.at, "run name has a '/'"));
    buf_free(&answer);
}

// Even with replace: the first file would be silently lost.
static void two_files_for_one_rank_are_refused(void **state)
{
    static const char form[] =
        "--x\r\nContent-Disposition: form-data; name=\"replace\"\r\n\r\ntrue\r\n"
        "--x\r\nContent-Disposition: form-data; name=\"rank\"\r\n\r\n3\r\n"
        "--x\r\nContent-Disposition: form-data; name=\"rank\"\r\n\r\n3\r\n"
        "--x\r\nContent-Disposition: form-data; name=\"trace\"; filename=\"a\"\r\n\r\n[1]\r\n"
        "--x\r\nContent-Disposition: form-data; name=\"trace\"; filename=\"b\"\r\n\r\n[2]\r\n"
        "--x--\r\n";
    struct buf answer = {0};
    uint64_t before = run_count(*state);
    post_form(*state, str_of(form), sizeof(form) - 1, &answer);
    assert_int_equal(status_of(&answer), 400);
    assert_non_null(strstr(answer.at, "two files for rank 3"));
    assert_int_equal(run_count(*state), before);
    buf_free(&answer);
}

static void an_upload_that_is_not_whole_is_not_stored(void **state)
{
    struct server *server = *state;
    struct buf answer = {0};
    size_t whole = sizeof(GOOD_FORM) - 1;
    post_form(server, STR(GOOD_FORM), whole + 10, &answer); // announced more than sent
    assert_int_equal(status_of(&answer), 408);
    buf_free(&answer);
    post_form(server, (struct str){GOOD_FORM, whole - 1}, whole - 1, &answer); // no final delimiter
    assert_int_equal(status_of(&answer), 422);
    buf_free(&answer);
    post_form(server, STR(GOOD_FORM), whole - 4, &answer); // announced fewer than sent
    assert_int_equal(status_of(&answer), 422);
    buf_free(&answer);
    assert_int_equal(run_count(server), 1); // from the test before
}

static void files_that_cannot_be_traces_are_refused_by_name(void **state)
{
    struct server *server = *state;
    struct buf answer = {0};
    static const char png[] =
        FIELD("trace") "; filename=\"a.png\"\r\n\r\n\x89PNG\r\n\x1a\n\r\n--x--";
    post_form(server, str_of(png), sizeof(png) - 1, &answer);
    assert_int_equal(status_of(&answer), 422);
    assert_non_null(strstr(answer.at, "a.png: found a PNG image, expected a trace"));
    buf_free(&answer);
    static const char both[] = FIELD("trace") "; filename=\"a.png\"\r\n\r\n\x89PNG\r\n" GOOD_FORM;
    post_form(server, str_of(both), sizeof(both) - 1, &answer);
    assert_int_equal(status_of(&answer), 200);
    assert_non_null(strstr(answer.at, "\"status\":\"refused\""));
    buf_free(&answer);
}

static void a_chunked_body_is_read(void **state)
{
    struct buf bytes = {0};
    buf_puts(&bytes, "PUT /api/v1/runs/chunks/ranks/0/trace HTTP/1.1\r\n" HOST CLOSE
                     "Transfer-Encoding: chunked\r\n\r\n");
    size_t head = bytes.len;
    buf_puts(&bytes, "4\r\n{\"tr\r\nf\r\naceEvents\":[] }\r\n0\r\n\r\n");
    assert_status(*state, (struct str){bytes.at, bytes.len}, 202);
    bytes.len = head;
    buf_puts(&bytes, "4\r\n{\"tr\r\nzz\r\n");
    assert_status(*state, (struct str){bytes.at, bytes.len}, 400);
    bytes.len = head;
    buf_puts(&bytes, "4\r\n{\"tr\r\n");
    assert_status(*state, (struct str){bytes.at, bytes.len}, 400);
    assert_int_equal(run_count(*state), 2);
    buf_free(&bytes);
}

static void a_client_that_waits_goes_on_only_after_the_checks(void **state)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct buf answer = {0};
    static const char large[] = "PUT /api/v1/runs/a/ranks/0/trace HTTP/1.1\r\n" HOST
                                "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n";
    exchange(*state, str_of(large), &answer);
    assert_int_equal(status_of(&answer), 413);
    buf_free(&answer);
    int fd = connect_to(*state);
    char got[sizeof(interim)] = "";
    send_bytes(fd, STR("PUT /api/v1/runs/a/ranks/0/trace HTTP/1.1\r\n" HOST CLOSE
                       "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    assert_int_equal(recv(fd, got, sizeof(interim) - 1, MSG_WAITALL), sizeof(interim) - 1);
    assert_string_equal(got, interim);
    send_bytes(fd, STR("{}"));
    receive_all(fd, &answer);
    assert_int_equal(status_of(&answer), 202);
    buf_free(&answer);
    close(fd);
}

static void requests_follow_each_other_on_one_connection(void **state)
{
    struct buf answer = {0};
    exchange(*state,
             STR("GET /healthz HTTP/1.1\r\n" HOST "\r\nGET /nope HTTP/1.1\r\n" HOST
                 "\r\nGET /api/v1/version HTTP/1.1\r\n" HOST CLOSE "\r\n"),
             &answer);
    const char *second = strstr(answer.at + 1, "HTTP/1.1 404 ");
    assert_int_equal(status_of(&answer), 200);
    assert_non_null(second);
    assert_non_null(strstr(second, "HTTP/1.1 200 "));
    buf_free(&answer);
}

static void an_upload_too_many_is_asked_to_come_back(void **state)
{
    (void)state;
    struct server server = {0};
    struct buf answer = {0};
    start(&server, 0);
    post_form(&server, STR(GOOD_FORM), sizeof(GOOD_FORM) - 1, &answer);
    assert_int_equal(status_of(&answer), 503);
    assert_non_null(strstr(answer.at, "\r\nRetry-After: "));
    buf_free(&answer);
    assert_status(&server, STR("GET /healthz HTTP/1.1\r\n" HOST CLOSE "\r\n"), 200);
    stop(&server);
}

static void a_draining_server_refuses_and_stops(void **state)
{
    struct server *server = *state;
    http_drain(server->http);
    assert_status(server, STR("GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 503);
}

static void send_and_see(int fd, const char *request, const char *expected)
{
    char block[4096];
    send_bytes(fd, str_of(request));
    ssize_t got = recv(fd, block, sizeof(block) - 1, 0);
    assert_true(got > 0);
    block[got] = '\0';
    assert_non_null(strstr(block, expected));
}

static void a_server_that_gives_way_only_answers_on_open_connections(void **state)
{
    (void)state;
    struct server server = {0};
    start(&server, 4);
    int open = connect_to(&server);
    send_and_see(open, "GET /healthz HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200 ");
    http_give_way(server.http, 0);
    int late = try_to_connect(&server);
    assert_int_equal(errno, ECONNREFUSED);
    close(late);
    send_and_see(open, "GET /api/v1/version HTTP/1.1\r\n" HOST "\r\n", "\r\nConnection: close\r\n");
    close(open);
    stop(&server);
}

static void an_address_that_cannot_be_one_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",   "localhost", "127.0.0.1:", "127.0.0.1:70000",
                               "80", ":80",       "80s",        "80,81"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct http_config config = {.listen = bad[i]};
        struct err err = {0};
        assert_null(http_start(&config, &err));
        assert_int_equal(err.code, ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_requests_are_answered_and_refused),
        cmocka_unit_test(a_connection_that_ends_is_said_to_end),
        cmocka_unit_test(headers_beyond_every_limit_are_refused),
        cmocka_unit_test(a_body_of_deep_json_is_refused),
        cmocka_unit_test(an_upload_is_stored_and_its_repetition_found),
        cmocka_unit_test(a_bad_run_name_is_refused_before_the_file_is_read),
        cmocka_unit_test(two_files_for_one_rank_are_refused),
        cmocka_unit_test(an_upload_that_is_not_whole_is_not_stored),
        cmocka_unit_test(files_that_cannot_be_traces_are_refused_by_name),
        cmocka_unit_test(a_chunked_body_is_read),
        cmocka_unit_test(a_client_that_waits_goes_on_only_after_the_checks),
        cmocka_unit_test(requests_follow_each_other_on_one_connection),
        cmocka_unit_test(an_upload_too_many_is_asked_to_come_back),
        cmocka_unit_test(a_draining_server_refuses_and_stops),
        cmocka_unit_test(a_server_that_gives_way_only_answers_on_open_connections),
        cmocka_unit_test(an_address_that_cannot_be_one_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
