// SPDX-License-Identifier: Apache-2.0
// The library cuts the head into pieces in place, writing NULs between them. The distance between
// pieces shows what was between them.
#include "server/http/http_head.h"

#include <civetweb.h>

static struct str trim_end(struct str text)
{
    while (text.len && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
        text.len--;
    return text;
}

void http_head_read(const struct mg_request_info *info, struct request_header *headers,
                    struct request *request)
{
    for (int i = 0; i < info->num_headers; i++)
        headers[i] = (struct request_header){str_of(info->http_headers[i].name),
                                             trim_end(str_of(info->http_headers[i].value))};
    request->headers = headers;
    request->header_count = (size_t)info->num_headers;
    request->method = str_of(info->request_method);
    request->path = str_of(info->local_uri_raw);
    request->query_text = str_of(info->query_string ? info->query_string : "");
    request->peer = str_of(info->remote_addr);
}

static bool refuse(struct response *response, struct err *err, const char *what)
{
    return response_refuse(response, err, (struct refusal){400, "request"}, "found %s", what);
}

// --- the request line ---------------------------------------------------------------------------

static const char *end_of(const char *text)
{
    return text + strlen(text);
}

static bool check_line(const struct mg_request_info *info, struct response *response,
                       struct err *err)
{
    const char *version = info->http_version;
    const char *address = info->query_string ? info->query_string : info->request_uri;
    if (strcmp(version, "1.1") != 0 && strcmp(version, "1.0") != 0)
        return response_refuse(response, err, (struct refusal){505, "http-version"},
                               "found an unsupported HTTP version, expected 1.1");
    if (end_of(info->request_method) + 1 != info->request_uri ||
        end_of(address) + 1 + strlen("HTTP/") != version)
        return refuse(response, err, "a request line with other than one space between its parts");
    if (info->num_headers > 0 && end_of(version) + 2 != info->http_headers[0].name)
        return refuse(response, err, "a request line that does not end in CR LF");
    return true;
}

// --- header lines -------------------------------------------------------------------------------

static bool is_token(const char *name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (const char *c = name; *c; c++) {
        bool letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z';
        if (!letter && !(str_is_digit(*c)) && !strchr(others, *c))
            return false;
    }
    return *name != '\0';
}

// The first byte after a header's line end, or NULL if that is not CR LF. The library leaves two
// NULs for CR LF, and one for LF alone.
static const char *behind_line(const struct mg_header *header)
{
    const char *end = end_of(header->value);
    return end[1] == '\0' ? end + 2 : NULL;
}

static bool check_header(const struct mg_header *header, struct response *response, struct err *err)
{
    const char *colon = end_of(header->name);
    if (!is_token(header->name))
        return refuse(response, err, "a header name with invalid characters");
    if (header->value > colon + 1 && colon[1] == '\0')
        return refuse(response, err, "a space between a header's name and its colon");
    if (!behind_line(header))
        return refuse(response, err, "a header line that does not end in CR LF");
    return true;
}

// The empty line after the headers, whose last byte the library replaces by a NUL.
static bool is_end(const char *line)
{
    return line[0] == '\r' && line[1] == '\0';
}

// The library takes a line that starts with CR, a space, a colon or a non-ASCII byte for the end of
// the headers; those after it would be lost.
static bool check_headers(const struct mg_request_info *info, struct response *response,
                          struct err *err)
{
    for (int i = 0; i < info->num_headers; i++) {
        const struct mg_header *header = &info->http_headers[i];
        if (!check_header(header, response, err))
            return false;
        const char *next = behind_line(header);
        bool last = i + 1 == info->num_headers;
        if (last ? !is_end(next) && info->num_headers < MG_MAX_HEADERS
                 : next != info->http_headers[i + 1].name)
            return refuse(response, err, "a header line without a name");
    }
    return true;
}

// --- both ---------------------------------------------------------------------------------------

// An HTTP/1.0 proxy would take the chunks for the next request.
static bool check_chunks(const struct mg_request_info *info, const struct request *request,
                         struct response *response, struct err *err)
{
    return strcmp(info->http_version, "1.0") != 0 ||
           !request_header(request, "Transfer-Encoding").at ||
           refuse(response, err, "a Transfer-Encoding in a request of HTTP 1.0");
}

// "GET http://host/path": allowed if the Host header agrees.
static bool check_authority(const struct mg_request_info *info, const struct request *request,
                            struct response *response, struct err *err)
{
    struct str address = str_of(info->request_uri);
    size_t scheme = str_find(address, STR("://"));
    if (address.at[0] == '/' || scheme == SIZE_MAX)
        return true;
    struct str rest = {address.at + scheme + 3, address.len - scheme - 3};
    size_t slash = str_find(rest, STR("/"));
    rest.len = slash == SIZE_MAX ? rest.len : slash;
    return str_equal_nocase(rest, request_header(request, "Host")) ||
           refuse(response, err, "an address of another host than the Host header's");
}

bool http_head_check(const struct mg_request_info *info, struct request *request,
                     struct response *response, struct err *err)
{
    if (info->num_headers > 0) {
        const char *last = end_of(info->http_headers[info->num_headers - 1].value);
        if (last - info->request_method > HTTP_HEAD_MAX_BYTES)
            return response_refuse(response, err, (struct refusal){431, "head-too-long"},
                                   "found a head of more than %d bytes", HTTP_HEAD_MAX_BYTES);
    }
    return check_line(info, response, err) && check_headers(info, response, err) &&
           check_chunks(info, request, response, err) &&
           check_authority(info, request, response, err);
}
