// SPDX-License-Identifier: Apache-2.0
// Any lines as Cookie and Authorization headers: what is found is inside them and has the form of a
// secret, and a second cookie of the same name is ignored.
#include "server/access/credentials.h"
#include "server/base/token.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_LINES 8
#define NAME       "stepscope"

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool lies_in(struct str part, struct str whole)
{
    return part.at >= whole.at && part.at + part.len <= whole.at + whole.len;
}

// Each line is a header; those that start with '=' are Authorization.
static size_t read_lines(struct str text, struct request_header headers[MOST_LINES])
{
    size_t count = 0;
    while (text.len && count < MOST_LINES) {
        const char *end = memchr(text.at, '\n', text.len);
        struct str line = {text.at, end ? (size_t)(end - text.at) : text.len};
        size_t used = line.len + (end != NULL);
        text = (struct str){text.at + used, text.len - used};
        bool authorizes = line.len && line.at[0] == '=';
        headers[count++] =
            authorizes ? (struct request_header){STR("authorization"), {line.at + 1, line.len - 1}}
                       : (struct request_header){STR("cookie"), line};
    }
    return count;
}

static void check_cookie(struct request *request, struct request_header *headers, struct str text)
{
    struct str secret = credentials_session(request, NAME);
    if (!secret.at)
        return;
    check(lies_in(secret, text) && token_has_form(secret, SESSION_PREFIX));
    headers[request->header_count++] = (struct request_header){STR("Cookie"), STR("a; " NAME "=")};
    check(!credentials_session(request, NAME).at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    struct str text = {size ? (const char *)data : empty, size};
    struct request_header headers[MOST_LINES + 1];
    struct request request = {.headers = headers, .header_count = read_lines(text, headers)};
    struct str bearer = credentials_bearer(&request);
    check(!bearer.at || lies_in(bearer, text));
    check(bearer.len == 0 || bearer.at[0] != ' ');
    check_cookie(&request, headers, text);
    return 0;
}
