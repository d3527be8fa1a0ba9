// SPDX-License-Identifier: Apache-2.0
// Looks up a request's headers.
#include "server/http/request.h"

#include "server/base/services.h"

struct str request_header(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_nocase(request->headers[i].name, str_of(name)))
            return request->headers[i].value;
    return (struct str){NULL, 0};
}

size_t request_header_count(const struct request *request, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++)
        count += str_equal_nocase(request->headers[i].name, str_of(name));
    return count;
}

bool request_is_safe(const struct request *request)
{
    return str_equal(request->method, STR("GET")) || str_equal(request->method, STR("HEAD")) ||
           str_equal(request->method, STR("OPTIONS"));
}

// Cuts off and returns what precedes the separator in *rest.
static struct str next_item(struct str *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->len);
    struct str item = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = end ? item.len + 1 : item.len;
    *rest = (struct str){rest->at + used, rest->len - used};
    return str_trim(item, " \t");
}

// "q=0", "q=0.0", ... but not "q=0.1".
static bool is_refusal(struct str parameter)
{
    if (parameter.len < 3 || (parameter.at[0] | 0x20) != 'q' || parameter.at[1] != '=')
        return false;
    for (size_t i = 2; i < parameter.len; i++)
        if (parameter.at[i] != '0' && parameter.at[i] != '.')
            return false;
    return true;
}

enum stance { SILENT, WANTED, REFUSED };

// What a list says about a word at its first occurrence.
static enum stance stance_of(struct str list, struct str word)
{
    while (list.len) {
        struct str item = next_item(&list, ',');
        if (item.len == 0 || !str_equal_nocase(next_item(&item, ';'), word))
            continue;
        while (item.len)
            if (is_refusal(next_item(&item, ';')))
                return REFUSED;
        return WANTED;
    }
    return SILENT;
}

bool request_accepts(const struct request *request, const char *header, const char *word)
{
    enum stance stance = SILENT; // several lines form one list
    for (size_t i = 0; i < request->header_count && stance == SILENT; i++)
        if (str_equal_nocase(request->headers[i].name, str_of(header)))
            stance = stance_of(request->headers[i].value, str_of(word));
    return stance == WANTED;
}

bool request_wants_page(const struct request *request)
{
    return request_accepts(request, "Accept", "text/html");
}

bool request_has_type(const struct request *request, const char *type)
{
    struct str value = request_header(request, "Content-Type");
    return value.len && str_equal_nocase(next_item(&value, ';'), str_of(type));
}

bool request_base_url(const struct request *request, struct str *url, struct err *err)
{
    const char *public_url = request->services->public_url;
    if (public_url && *public_url) {
        *url = str_of(public_url);
        while (url->len && url->at[url->len - 1] == '/')
            url->len--;
        return true;
    }
    struct str host = request_header(request, "Host");
    char *text = arena_printf(request->arena, err, "http://%.*s", (int)host.len, host.at);
    *url = str_of(text);
    return text != NULL;
}
