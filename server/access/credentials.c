// SPDX-License-Identifier: Apache-2.0
// Reads Authorization and Cookie.
#include "server/access/credentials.h"

#include "server/base/token.h"

struct str credentials_bearer(const struct request *request)
{
    struct str value = request_header(request, "Authorization");
    struct str scheme = {value.at, value.len < 7 ? value.len : 7};
    if (!str_equal_nocase(scheme, STR("Bearer ")))
        return (struct str){NULL, 0};
    value = (struct str){value.at + 7, value.len - 7};
    while (value.len && value.at[0] == ' ')
        value = (struct str){value.at + 1, value.len - 1};
    return value;
}

static struct str next_pair(struct str *rest)
{
    size_t end = str_find(*rest, STR(";"));
    struct str pair = {rest->at, end == SIZE_MAX ? rest->len : end};
    size_t used = pair.len + (end != SIZE_MAX);
    *rest = (struct str){rest->at + used, rest->len - used};
    while (pair.len && pair.at[0] == ' ')
        pair = (struct str){pair.at + 1, pair.len - 1};
    return pair;
}

// Whether that pair is the cookie; if so, its value.
static bool is_cookie(struct str pair, struct str name, struct str *value)
{
    if (!str_starts_with(pair, name) || pair.len <= name.len || pair.at[name.len] != '=')
        return false;
    *value = (struct str){pair.at + name.len + 1, pair.len - name.len - 1};
    return true;
}

struct str credentials_cookie(const struct request *request, const char *cookie_name)
{
    struct str name = str_of(cookie_name), found = {NULL, 0};
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        struct str rest = request->headers[i].value;
        if (!str_equal_nocase(request->headers[i].name, STR("Cookie")))
            continue;
        while (rest.len)
            count += is_cookie(next_pair(&rest), name, &found);
    }
    return count == 1 ? found : (struct str){NULL, 0};
}

struct str credentials_session(const struct request *request, const char *cookie_name)
{
    struct str found = credentials_cookie(request, cookie_name);
    return token_has_form(found, SESSION_PREFIX) ? found : (struct str){NULL, 0};
}
