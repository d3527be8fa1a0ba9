// SPDX-License-Identifier: Apache-2.0
// Any request head, one header per line, through all checks that run before a handler: what passes
// has one known Host, one honest length and clean texts.
#include "server/access/peers.h"
#include "server/base/token.h"
#include "server/http/precheck.h"
#include "server/routes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_HEADERS 64

static void check(bool holds)
{
    if (!holds)
        abort();
}

// Either outcome is fine; only crashes are not.
static void ignore(bool outcome)
{
    (void)outcome;
}

// What comes before the separator; *rest is what comes after it.
static struct str take(struct str *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    struct str taken = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = taken.len + (end != NULL);
    *rest = (struct str){rest->at + used, rest->len - used};
    return taken;
}

// The library's texts are NUL-terminated and so contain no NUL.
static struct str without_nul(struct str text)
{
    const char *nul = text.len ? memchr(text.at, '\0', text.len) : NULL;
    return (struct str){text.at, nul ? (size_t)(nul - text.at) : text.len};
}

static void read_head(struct str text, struct request *request, struct request_header *headers)
{
    struct str line = take(&text, '\n');
    request->method = without_nul(take(&line, ' '));
    request->path = without_nul(take(&line, '?'));
    request->query_text = without_nul(line);
    request->headers = headers;
    while (text.len && request->header_count < MOST_HEADERS) {
        line = take(&text, '\n');
        struct str name = without_nul(take(&line, ':'));
        headers[request->header_count++] = (struct request_header){name, without_nul(line)};
    }
}

static void check_passed(const struct request *request)
{
    check(request_header_count(request, "Host") == 1);
    check(request_header_count(request, "Content-Length") <= 1);
    bool both = request_header(request, "Content-Length").at &&
                request_header(request, "Transfer-Encoding").at;
    check(!both && request->header_count <= REQUEST_MAX_HEADERS);
    struct str length = request_header(request, "Content-Length");
    for (size_t i = 0; i < length.len; i++)
        check(length.at[i] >= '0' && length.at[i] <= '9');
    (void)precheck_length(request);
}

static void check_route(struct request *request, struct response *response)
{
    struct err err = {0};
    if (!routes_find(request, response, &err) || !request->route)
        return;
    for (size_t i = 0; i < REQUEST_MAX_CAPTURES; i++) {
        struct str capture = request->captures[i];
        check(!capture.at || str_valid_utf8(capture) == capture.len);
        for (size_t c = 0; capture.at && c < capture.len; c++)
            check((unsigned char)capture.at[c] >= 0x20);
    }
}

static void look_at_headers(const struct request *request)
{
    struct peers peers;
    struct err err;
    unsigned scopes = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        struct str value = request->headers[i].value;
        if (peers_parse(value, &peers, &err))
            ignore(peers_hold(&peers, request->path));
        ignore(token_has_form(value, "ss_"));
        ignore(token_parse_scopes(value, &scopes, &err));
    }
    ignore(request_wants_page(request));
    ignore(request_has_type(request, "application/json"));
    ignore(request_accepts(request, "Accept-Encoding", "gzip"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    const struct precheck precheck = {.listen = STR("127.0.0.1:8080"),
                                      .public_url = STR("https://traces.example/"),
                                      .allow_hosts = STR("a.example,b.example")};
    struct request_header headers[MOST_HEADERS];
    struct arena arena;
    struct request request = {.arena = &arena};
    struct response response;
    struct err err = {0};
    arena_init(&arena, NULL);
    response_init(&response);
    read_head((struct str){size ? (const char *)data : empty, size}, &request, headers);
    if (precheck_request(&precheck, &request, &response, &err)) {
        check_passed(&request);
        check_route(&request, &response);
    } else {
        check(err.code != ERR_NONE);
    }
    look_at_headers(&request);
    response_free(&response);
    arena_free(&arena);
    return 0;
}
