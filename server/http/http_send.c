// SPDX-License-Identifier: Apache-2.0
// Status line, headers and content; and closing so that the client sees them.
#include "server/http/http_send.h"

#include "ingest/base/clock.h"
#include "server/http/stream_send.h"

#include <civetweb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES     ((size_t)256 * 1024)
#define LINGER_NS       ((int64_t)2 * 1000000000)
#define ONE_WRITE_BYTES 16384 // a small answer is sent together with its headers

#define PAGE_POLICY(scripts, types)                                                           \
    "Content-Security-Policy: default-src 'none'; script-src " scripts "; style-src 'self'; " \
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; "          \
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "      \
    "require-trusted-types-for 'script'; trusted-types " types "\r\n"

static const char usual_policy[] = PAGE_POLICY("'self'", "'none'");
// For the page that analyzes in the browser: a module is compiled, and a worker started.
static const char module_policy[] = PAGE_POLICY("'self' 'wasm-unsafe-eval'", "standalone");
// No script can run, and nothing is loaded.
static const char scriptless_policy[] =
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-top-navigation-by-user-activation "
    "allow-popups; require-trusted-types-for 'script'; trusted-types 'none'\r\n";
// For everything else: even opened as a page it loads, runs and sends nothing.
static const char data_policy[] =
    "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n";
static const char fixed_headers[] = "Cross-Origin-Resource-Policy: same-origin\r\n"
                                    "X-Content-Type-Options: nosniff\r\n"
                                    "Referrer-Policy: same-origin\r\n";
static const char page_headers[] =
    "Cross-Origin-Opener-Policy: same-origin-allow-popups\r\n"
    "Permissions-Policy: accelerometer=(), camera=(), display-capture=(), geolocation=(), "
    "gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()\r\n";

uint64_t http_send_bytes(const struct response *response)
{
    if (response->fd >= 0)
        return response->file_bytes;
    return response->borrowed.at ? response->borrowed.len : response->body.len;
}

static const char *cache_control(enum response_cache cache)
{
    switch (cache) {
    case CACHE_REVALIDATE: return "private, no-cache";
    case CACHE_IMMUTABLE: return "public, max-age=31536000, immutable";
    case CACHE_NEVER: return "no-store";
    }
    return "no-store";
}

static void add_date(struct buf *head)
{
    char text[40];
    time_t now = (time_t)(clock_wall_ns() / 1000000000);
    struct tm parts;
    if (gmtime_r(&now, &parts) && strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts))
        buf_printf(head, "Date: %s\r\n", text);
}

static void add_content_headers(struct buf *head, const struct http_send *send,
                                const struct response *response)
{
    if (response->status == 304)
        return;
    if (!response->stream.next)
        buf_printf(head, "Content-Length: %llu\r\n", (unsigned long long)http_send_bytes(response));
    else if (!send->old)
        buf_puts(head, "Transfer-Encoding: chunked\r\n");
    if (response->type)
        buf_printf(head, "Content-Type: %s\r\n", response->type);
    if (response->gzipped)
        buf_puts(head, "Content-Encoding: gzip\r\n");
}

static bool type_is(const struct response *response, const char *type)
{
    return response->type && strncmp(response->type, type, strlen(type)) == 0;
}

// Sent only where they have an effect: otherwise a page's small answers would be mostly headers.
// Browsers apply a 304's headers to the copy they kept, which has the right ones.
static void add_policies(struct buf *head, const struct response *response)
{
    bool is_kept = response->status == 304 && !response->type;
    bool is_page = !is_kept && (!response->type || type_is(response, "text/html"));
    if (response->inline_style)
        buf_puts(head, scriptless_policy);
    else if (is_page || type_is(response, "text/javascript")) // a worker's policy is its script's
        buf_puts(head, response->runs_module ? module_policy : usual_policy);
    else if (!is_kept)
        buf_puts(head, data_policy);
    buf_puts(head, fixed_headers);
    if (is_page)
        buf_puts(head, page_headers);
}

static void build_head(const struct http_send *send, const struct request *request,
                       const struct response *response, struct buf *head)
{
    buf_printf(head, "HTTP/1.1 %d %s\r\n", response->status, response_phrase(response->status));
    add_date(head);
    add_content_headers(head, send, response);
    buf_printf(head, "Cache-Control: %s\r\nVary: Accept, Accept-Encoding\r\n",
               cache_control(response->cache));
    // A stream is compressed into other bytes than the same answer in one piece.
    if (response->etag.len)
        buf_printf(head, "ETag: %s%.*s\r\n", response->stream.next && response->gzipped ? "W/" : "",
                   (int)response->etag.len, response->etag.at);
    for (size_t i = 0; i < response->header_count; i++) {
        buf_add_str(head, response->headers[i].name);
        buf_puts(head, ": ");
        buf_add_str(head, response->headers[i].value);
        buf_puts(head, "\r\n");
    }
    add_policies(head, response);
    buf_printf(head, "X-Request-Id: %s\r\n", request->id);
    if (send->closes)
        buf_puts(head, "Connection: close\r\n\r\n");
    else
        buf_printf(head, "Connection: keep-alive\r\nKeep-Alive: timeout=%d\r\n\r\n", HTTP_IDLE_S);
}

static bool write_all(struct mg_connection *connection, const char *at, size_t len)
{
    while (len) {
        size_t step = len < BLOCK_BYTES ? len : BLOCK_BYTES;
        if (mg_write(connection, at, step) != (int)step)
            return false;
        at += step;
        len -= step;
    }
    return true;
}

static bool write_file(struct mg_connection *connection, int fd, uint64_t left)
{
    char *block = malloc(BLOCK_BYTES);
    bool ok = block != NULL;
    while (ok && left) {
        ssize_t got = read(fd, block, left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES);
        ok = got > 0 && write_all(connection, block, (size_t)got);
        left -= ok ? (uint64_t)got : 0;
    }
    free(block);
    return ok;
}

static bool write_to(void *context, const char *at, size_t len)
{
    return write_all(context, at, len);
}

static bool write_stream(struct http_send *send, struct response *response)
{
    struct stream_send stream = {.write = write_to,
                                 .context = send->connection,
                                 .fd = send->fd,
                                 .chunked = !send->old,
                                 .packed = response->gzipped};
    bool ok = stream_send(&stream, response);
    send->sent_bytes = ok ? stream.sent_bytes : 0;
    return ok;
}

static bool write_content(struct mg_connection *connection, const struct response *response)
{
    if (response->fd >= 0)
        return write_file(connection, response->fd, response->file_bytes);
    if (response->borrowed.at)
        return write_all(connection, response->borrowed.at, response->borrowed.len);
    return write_all(connection, response->body.at, response->body.len);
}

// Closing a socket with unread bytes sends a reset, and the answer may be lost. So shut down our
// side and drain what the client still sends, for a while.
static void linger(int fd)
{
    char scrap[16384];
    int64_t until_ns = clock_mono_ns() + LINGER_NS;
    shutdown(fd, SHUT_WR);
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int64_t left_ms = (until_ns - clock_mono_ns()) / 1000000;
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0 ||
            recv(fd, scrap, sizeof(scrap), 0) <= 0)
            return;
    }
}

void http_send(struct http_send *send, const struct request *request, struct response *response)
{
    struct buf head = {0};
    if (response->status == 0)
        response->status = 200;
    response_compress(request, response);
    bool streams = response->stream.next;
    if (streams) {
        response->gzipped = response_packs(request, response);
        send->closes |= send->old;
    }
    build_head(send, request, response, &head);
    bool with_content = !str_equal(request->method, STR("HEAD")) && response->status != 304;
    bool in_one =
        with_content && !streams && response->fd < 0 && http_send_bytes(response) < ONE_WRITE_BYTES;
    if (in_one && response->borrowed.at)
        buf_add_str(&head, response->borrowed);
    else if (in_one)
        buf_add(&head, response->body.at, response->body.len);
    bool sent = !head.failed && write_all(send->connection, head.at, head.len);
    if (sent && with_content && streams) {
        sent = write_stream(send, response);
    } else {
        sent = sent && (!with_content || in_one || write_content(send->connection, response));
        send->sent_bytes = sent && with_content ? http_send_bytes(response) : 0;
    }
    if (send->closes || !sent)
        mg_disable_connection_keep_alive(send->connection);
    if (send->discards && sent && send->fd >= 0)
        linger(send->fd);
    buf_free(&head);
}
