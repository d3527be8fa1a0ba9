// SPDX-License-Identifier: Apache-2.0
// The checks that the library behind http.c leaves to us.
#include "server/http/precheck.h"

#define LENGTH_DIGITS 18 // of a Content-Length; any such number fits in int64_t

// Headers that would be ambiguous if given twice.
static bool check_single(const struct request *request, struct response *response, struct err *err)
{
    static const char *const names[] = {
        "Authorization", "Content-Type",    "Content-Encoding", "Content-Range",
        "Expect",        "Idempotency-Key", "If-Range",         "Origin",
        "Range",         "Sec-Fetch-Site",  "Tus-Resumable",    "Upload-Checksum",
        "Upload-Length", "Upload-Offset",   "Upload-Metadata",  "X-Forwarded-User"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (request_header_count(request, names[i]) > 1)
            return response_refuse(response, err, (struct refusal){400, "header-twice"},
                                   "found more than one %s header", names[i]);
    return true;
}

static bool check_headers(const struct request *request, struct response *response, struct err *err)
{
    if (request->header_count <= REQUEST_MAX_HEADERS)
        return true;
    return response_refuse(response, err, (struct refusal){431, "too-many-headers"},
                           "found %zu or more header lines, expected at most %d",
                           request->header_count, REQUEST_MAX_HEADERS);
}

// --- Host ---------------------------------------------------------------------------------------

// "name:8080" without its port; brackets of an IPv6 address stay. False if it cannot be a host.
static bool split_host(struct str authority, struct str *host)
{
    size_t colon = authority.len;
    for (size_t i = authority.len; i-- > 0 && authority.at[i] != ']';)
        if (authority.at[i] == ':')
            colon = i;
    *host = (struct str){authority.at, colon};
    for (size_t i = colon + 1; i < authority.len; i++)
        if (authority.at[i] < '0' || authority.at[i] > '9')
            return false;
    return colon > 0;
}

// The authority of "https://host:port/path".
static struct str url_authority(struct str url)
{
    size_t scheme = str_find(url, STR("://"));
    if (scheme != SIZE_MAX)
        url = (struct str){url.at + scheme + 3, url.len - scheme - 3};
    size_t slash = str_find(url, STR("/"));
    return (struct str){url.at, slash == SIZE_MAX ? url.len : slash};
}

// Another site's name can be made to resolve to us; an address cannot.
static bool is_address(struct str host)
{
    if (host.len && host.at[0] == '[')
        return true;
    for (size_t i = 0; i < host.len; i++)
        if ((host.at[i] < '0' || host.at[i] > '9') && host.at[i] != '.')
            return false;
    return host.len > 0;
}

// Whether a comma-separated list contains that host, ignoring ports in the list.
static bool lists_host(struct str list, struct str host)
{
    while (list.len) {
        size_t comma = str_find(list, STR(","));
        struct str item = {list.at, comma == SIZE_MAX ? list.len : comma};
        struct str name;
        if (split_host(item, &name) && str_equal_nocase(host, name))
            return true;
        size_t used = item.len < list.len ? item.len + 1 : item.len;
        list = (struct str){list.at + used, list.len - used};
    }
    return false;
}

static bool is_known_host(const struct precheck *precheck, struct str host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
        if (str_equal_nocase(host, str_of(loopback[i])))
            return true;
    struct str own;
    if (lists_host(precheck->allow_hosts, host))
        return true;
    if (split_host(url_authority(precheck->public_url), &own) && str_equal_nocase(host, own))
        return true;
    if (!split_host(precheck->listen, &own))
        return false;
    if (str_equal(own, STR("0.0.0.0")) || str_equal(own, STR("[::]")))
        return is_address(host);
    return str_equal_nocase(host, own);
}

static bool check_host(const struct precheck *precheck, const struct request *request,
                       struct response *response, struct err *err)
{
    size_t count = request_header_count(request, "Host");
    if (count != 1)
        return response_refuse(response, err, (struct refusal){400, "host"},
                               "found %zu Host headers, expected one", count);
    struct str authority = request_header(request, "Host");
    struct str host;
    if (split_host(authority, &host) && is_known_host(precheck, host))
        return true;
    response->fix = STR("add the host with --public-url or --allow-host, or open the address that "
                        "the service listens on");
    return response_refuse(response, err, (struct refusal){421, "unknown-host"},
                           "found Host '%.*s', which is not a name of this service",
                           (int)(authority.len < 80 ? authority.len : 80), authority.at);
}

// --- length -------------------------------------------------------------------------------------

static bool all_digits(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
    return text.len > 0 && text.len <= LENGTH_DIGITS;
}

static bool check_length(const struct request *request, struct response *response, struct err *err)
{
    size_t lengths = request_header_count(request, "Content-Length");
    size_t codings = request_header_count(request, "Transfer-Encoding");
    if (lengths + codings > 1)
        return response_refuse(response, err, (struct refusal){400, "length"},
                               "found %zu Content-Length and %zu Transfer-Encoding headers, "
                               "expected one of either",
                               lengths, codings);
    if (lengths && !all_digits(request_header(request, "Content-Length")))
        return response_refuse(response, err, (struct refusal){400, "length"},
                               "found a Content-Length that is not a decimal number");
    struct str coding = request_header(request, "Transfer-Encoding");
    if (codings && !str_equal_nocase(coding, STR("chunked")))
        return response_refuse(response, err, (struct refusal){501, "length"},
                               "found a Transfer-Encoding other than chunked");
    struct str expect = request_header(request, "Expect");
    if (expect.at && !str_equal_nocase(expect, STR("100-continue")))
        return response_refuse(response, err, (struct refusal){417, "expectation"},
                               "found an Expect header other than 100-continue");
    return true;
}

uint64_t precheck_length(const struct request *request)
{
    if (request_header(request, "Transfer-Encoding").at)
        return BODY_UNKNOWN;
    int64_t length = 0;
    struct str text = request_header(request, "Content-Length");
    return text.at && str_to_i64(text, &length) ? (uint64_t)length : 0;
}

// --- address and origin -------------------------------------------------------------------------

static bool check_address(const struct request *request, struct response *response, struct err *err)
{
    struct str decoded;
    if (request->path.len == 0 || request->path.at[0] != '/')
        return response_refuse(response, err, (struct refusal){400, "address"},
                               "expected a path that starts with '/'");
    if (query_decode(request->path, false, request->arena, &decoded, err) &&
        query_decode(request->query_text, true, request->arena, &decoded, err))
        return true;
    response->word = "address";
    return false;
}

// Whether another site's page may make a browser send this: it may link to us, nothing more.
static bool is_wanted_from(struct str site, const struct request *request)
{
    if (!site.at || str_equal(site, STR("same-origin")) || str_equal(site, STR("none")))
        return true;
    struct str mode = request_header(request, "Sec-Fetch-Mode");
    return request_is_safe(request) && (!mode.at || str_equal(mode, STR("navigate")));
}

// Browsers state where a request comes from; programs, which do not, cannot be misled by pages.
static bool check_origin(const struct precheck *precheck, const struct request *request,
                         struct response *response, struct err *err)
{
    struct str origin = request_header(request, "Origin");
    if (!is_wanted_from(request_header(request, "Sec-Fetch-Site"), request))
        return response_refuse(
            response, err, (struct refusal){403, "cross-site"},
            "a page of another site sent this request, expected one of this service");
    if (!origin.at)
        return true;
    bool is_url = str_find(origin, STR("://")) != SIZE_MAX;
    struct str from = url_authority(origin);
    if (is_url &&
        (str_equal_nocase(from, request_header(request, "Host")) ||
         (precheck->public_url.len && str_equal_nocase(from, url_authority(precheck->public_url)))))
        return true;
    return response_refuse(response, err, (struct refusal){403, "cross-site"},
                           "found Origin '%.*s', expected the address of this service",
                           (int)(origin.len < 80 ? origin.len : 80), origin.at);
}

bool precheck_request(const struct precheck *precheck, const struct request *request,
                      struct response *response, struct err *err)
{
    return check_headers(request, response, err) && check_single(request, response, err) &&
           check_host(precheck, request, response, err) && check_length(request, response, err) &&
           check_address(request, response, err) && check_origin(precheck, request, response, err);
}
