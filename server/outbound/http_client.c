// SPDX-License-Identifier: Apache-2.0
#include "server/outbound/http_client.h"

#include "server/base/curl_calls.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/visible.h"

#include <stdlib.h>
#include <unistd.h>

enum { CONNECT_SECONDS = 10, STALL_SECONDS = 60 };
#define ANSWER_MAX_BYTES ((size_t)4 << 20)

struct http_client {
    struct curl_calls calls;
    CURL *curl; // keeps its connection between calls
    char failure[CURL_ERROR_SIZE];
};

// What the callbacks of one call share.
struct exchange {
    const struct http_call *call;
    struct http_answer *answer;
    uint64_t sent; // of the file
    bool file_failed, too_large, stopped;
};

struct http_client *http_client_open(struct err *err)
{
    struct http_client *client = calloc(1, sizeof *client);
    if (!client) {
        err_set(err, ERR_MEMORY, "out of memory for the HTTP client");
        return NULL;
    }
    bool ok = curl_calls_load(&client->calls, "reaching other services", err);
    if (!ok || client->calls.global_init(CURL_GLOBAL_DEFAULT) != 0) {
        if (ok)
            err_set(err, ERR_MEMORY, "cannot start the HTTP client");
        free(client);
        return NULL;
    }
    client->curl = client->calls.easy_init();
    if (client->curl)
        return client;
    err_set(err, ERR_MEMORY, "cannot start the HTTP client");
    http_client_close(client);
    return NULL;
}

void http_client_close(struct http_client *client)
{
    if (!client)
        return;
    if (client->curl)
        client->calls.easy_cleanup(client->curl);
    client->calls.global_cleanup();
    free(client);
}

// --- addresses ----------------------------------------------------------------------------------

bool http_client_is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

// Not the URL itself: its path or a password may be secret.
static bool refuse_url(const char *url, struct err *err)
{
    const char *colon = strstr(url, "://");
    size_t scheme = colon ? (size_t)(colon - url) + 3 : 0;
    size_t len = strcspn(url + scheme, "/?#");
    const char *host = url + scheme, *at = memrchr(host, '@', len);
    if (at) {
        len -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    struct buf shown = {0};
    buf_add_visible(&shown, (struct str){url, scheme});
    buf_add_visible(&shown, (struct str){host, len});
    err_set(err, ERR_USAGE, "found the address '%.80s', expected http://HOST or https://HOST",
            shown.at && !shown.failed ? shown.at : "");
    buf_free(&shown);
    return false;
}

bool http_client_check_url(const char *url, struct err *err)
{
    struct str text = str_of(url);
    size_t scheme = str_starts_with(text, STR("https://"))  ? 8
                    : str_starts_with(text, STR("http://")) ? 7
                                                            : 0;
    return (scheme && text.len > scheme && http_client_is_plain(url)) || refuse_url(url, err);
}

// This machine is not reached through a proxy.
static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *rest = strstr(url, "://") + 3;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t len = strlen(hosts[i]);
        if (strncmp(rest, hosts[i], len) == 0 && (!rest[len] || strchr(":/?", rest[len])))
            return true;
    }
    return false;
}

// --- what curl asks for -------------------------------------------------------------------------

static size_t take(char *bytes, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct buf *body = &exchange->answer->body;
    size_t len = size * count;
    exchange->too_large = body->len + len > ANSWER_MAX_BYTES;
    if (exchange->too_large)
        return 0;
    buf_add(body, bytes, len);
    return body->failed ? 0 : len;
}

// Headers of an earlier answer, such as "100 Continue", do not count.
static size_t take_header(char *bytes, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct buf *headers = &exchange->answer->headers;
    size_t len = size * count;
    if (str_starts_with((struct str){bytes, len}, STR("HTTP/")))
        buf_clear(headers);
    exchange->too_large = headers->len + len > ANSWER_MAX_BYTES;
    if (exchange->too_large)
        return 0;
    buf_add(headers, bytes, len);
    return headers->failed ? 0 : len;
}

static size_t give(char *bytes, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    const struct http_call *call = exchange->call;
    uint64_t left = call->file_bytes - exchange->sent;
    size_t want = size * count < left ? size * count : (size_t)left;
    ssize_t got = fd_read_at(call->fd, bytes, want, call->file_at + exchange->sent);
    exchange->file_failed = got < 0 || (got == 0 && want > 0);
    if (exchange->file_failed)
        return CURL_READFUNC_ABORT;
    exchange->sent += (uint64_t)got;
    return (size_t)got;
}

static int look(void *data, curl_off_t all_down, curl_off_t down, curl_off_t all_up, curl_off_t up)
{
    struct exchange *exchange = data;
    const struct http_call *call = exchange->call;
    (void)all_down, (void)down, (void)all_up, (void)up;
    exchange->stopped = call->stop && call->stop(call->context);
    return exchange->stopped;
}

// --- a call -------------------------------------------------------------------------------------

static void set_limits(struct http_client *client, const struct http_call *call)
{
    CURL *curl = client->curl;
    __typeof__(curl_easy_setopt) *set = client->calls.set;
    set(curl, CURLOPT_URL, call->url);
    set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    set(curl, CURLOPT_NOSIGNAL, 1L);
    set(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    set(curl, CURLOPT_TIMEOUT, (long)call->timeout_s);
    set(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    set(curl, CURLOPT_ERRORBUFFER, client->failure);
    set(curl, CURLOPT_USERAGENT, "stepscope/" STEPSCOPE_VERSION);
    if (is_loopback(call->url))
        set(curl, CURLOPT_NOPROXY, "*");
}

static void set_exchange(struct http_client *client, struct exchange *exchange)
{
    CURL *curl = client->curl;
    __typeof__(curl_easy_setopt) *set = client->calls.set;
    set(curl, CURLOPT_WRITEFUNCTION, take);
    set(curl, CURLOPT_WRITEDATA, exchange);
    set(curl, CURLOPT_HEADERFUNCTION, take_header);
    set(curl, CURLOPT_HEADERDATA, exchange);
    set(curl, CURLOPT_XFERINFOFUNCTION, look);
    set(curl, CURLOPT_XFERINFODATA, exchange);
    set(curl, CURLOPT_NOPROGRESS, 0L);
}

static void set_body(struct http_client *client, struct exchange *exchange)
{
    CURL *curl = client->curl;
    __typeof__(curl_easy_setopt) *set = client->calls.set;
    const struct http_call *call = exchange->call;
    if (call->file_bytes) {
        set(curl, CURLOPT_UPLOAD, 1L);
        set(curl, CURLOPT_READFUNCTION, give);
        set(curl, CURLOPT_READDATA, exchange);
        set(curl, CURLOPT_SEEKFUNCTION, curl_calls_seek);
        set(curl, CURLOPT_SEEKDATA, &exchange->sent);
        set(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->file_bytes);
    } else if (strcmp(call->method, "HEAD") == 0) {
        set(curl, CURLOPT_NOBODY, 1L);
    } else if (strcmp(call->method, "GET") != 0) {
        set(curl, CURLOPT_POSTFIELDS, call->body.at ? call->body.at : "");
        set(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    }
    set(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

static bool explain(struct http_client *client, const struct exchange *exchange, CURLcode code,
                    struct err *err)
{
    if (exchange->stopped)
        return err_set(err, ERR_CANCELLED, "stopped");
    if (exchange->file_failed)
        return err_set(err, ERR_IO, "the file cannot be read, or shrank meanwhile");
    if (exchange->too_large)
        return err_set(err, ERR_LIMIT, "found an answer of more than %zu bytes", ANSWER_MAX_BYTES);
    return err_set(err, ERR_BUSY, "the service cannot be reached: %.160s",
                   client->failure[0] ? client->failure : client->calls.explain(code));
}

static struct curl_slist *header_list(struct http_client *client, const struct http_call *call)
{
    struct curl_slist *list = client->calls.append(NULL, "Expect:");
    for (size_t i = 0; list && i < call->header_count; i++) {
        struct curl_slist *longer = client->calls.append(list, call->headers[i]);
        if (!longer)
            client->calls.free_list(list);
        list = longer;
    }
    return list;
}

bool http_client_call(struct http_client *client, const struct http_call *call,
                      struct http_answer *answer, struct err *err)
{
    struct exchange exchange = {.call = call, .answer = answer};
    buf_clear(&answer->headers);
    buf_clear(&answer->body);
    answer->status = 0;
    struct curl_slist *headers = header_list(client, call);
    if (!headers)
        return err_set(err, ERR_MEMORY, "out of memory for headers");
    client->calls.easy_reset(client->curl);
    client->failure[0] = '\0';
    set_limits(client, call);
    set_exchange(client, &exchange);
    set_body(client, &exchange);
    client->calls.set(client->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = client->calls.perform(client->curl);
    client->calls.free_list(headers);
    if (code != CURLE_OK)
        return explain(client, &exchange, code, err);
    client->calls.get(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    return true;
}

// --- an answer ----------------------------------------------------------------------------------

void http_answer_free(struct http_answer *answer)
{
    buf_free(&answer->headers);
    buf_free(&answer->body);
}

struct str http_answer_header(const struct http_answer *answer, const char *name)
{
    struct str rest = {answer->headers.at, answer->headers.len};
    while (rest.len) {
        const char *end = memchr(rest.at, '\n', rest.len);
        struct str line = {rest.at, end ? (size_t)(end - rest.at) : rest.len};
        const char *colon = line.len ? memchr(line.at, ':', line.len) : NULL;
        struct str found = {line.at, colon ? (size_t)(colon - line.at) : 0};
        if (colon && str_equal_nocase(found, str_of(name)))
            return str_trim((struct str){colon + 1, line.len - found.len - 1}, " \t\r");
        size_t used = line.len + (end != NULL);
        rest = (struct str){rest.at + used, rest.len - used};
    }
    return (struct str){NULL, 0};
}

int64_t http_answer_retry_s(const struct http_answer *answer, int64_t most_s)
{
    int64_t seconds;
    if (!str_to_i64(http_answer_header(answer, "Retry-After"), &seconds) || seconds < 0)
        return -1;
    return seconds < most_s ? seconds : most_s;
}
