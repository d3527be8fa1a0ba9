// SPDX-License-Identifier: Apache-2.0
// Building answers.
#include "server/http/response.h"

#include "server/base/program_version.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void response_init(struct response *response)
{
    *response = (struct response){.fd = -1};
}

void response_free(struct response *response)
{
    buf_free(&response->body);
    if (response->stream.end)
        response->stream.end(response->stream.context);
    response->stream = (struct response_stream){0};
    if (response->fd >= 0)
        close(response->fd);
    response->fd = -1;
}

PRINTF_LIKE(2, 0)
static char *format(struct arena *arena, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1, NULL);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, args);
    return text;
}

void response_header(struct response *response, struct arena *arena, const char *name,
                     const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *value = format(arena, fmt, args);
    va_end(args);
    if (!value || response->header_count == RESPONSE_MAX_HEADERS)
        return;
    for (char *c = value; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    response->headers[response->header_count++] =
        (struct request_header){str_of(name), str_of(value)};
}

bool response_tag_matches(struct str list, struct str etag)
{
    if (!list.at || etag.len == 0)
        return false;
    if (str_equal(list, STR("*")))
        return true;
    // Tags contain neither commas nor quotes, so that finding one, quotes included, is enough.
    return str_find(list, etag) != SIZE_MAX;
}

static bool is_name_char(char c)
{
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    return letter || str_is_digit(c) || c == '-' || c == '_' || c == '.';
}

void response_download(struct response *response, struct arena *arena, struct str name,
                       const char *suffix)
{
    struct buf plain = {0};
    for (size_t i = 0; i < name.len; i++)
        buf_putc(&plain, is_name_char(name.at[i]) ? name.at[i] : '-');
    response_header(response, arena, "Content-Disposition", "attachment; filename=\"%s.%s\"",
                    plain.at ? plain.at : "table", suffix);
    buf_free(&plain);
}

// tag: NULL without memory for it.
static bool has_tag(const struct request *request, struct response *response, const char *tag)
{
    char *quoted = tag ? arena_printf(request->arena, NULL, "\"%s\"", tag) : NULL;
    if (!quoted)
        return false;
    response->etag = str_of(quoted);
    if (!response_tag_matches(request_header(request, "If-None-Match"), response->etag))
        return false;
    response->status = 304;
    return true;
}

bool response_unchanged(const struct request *request, struct response *response, const char *fmt,
                        ...)
{
    va_list args;
    va_start(args, fmt);
    char *tag = format(request->arena, fmt, args);
    va_end(args);
    return has_tag(request, response, tag);
}

bool response_data_unchanged(const struct request *request, struct response *response,
                             const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *tag = format(request->arena, fmt, args);
    va_end(args);
    if (tag)
        tag = arena_printf(request->arena, NULL, "%s-%s", tag, program_version);
    return has_tag(request, response, tag);
}

bool response_refuse(struct response *response, struct err *err, struct refusal refusal,
                     const char *fmt, ...)
{
    char text[sizeof(err->msg)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    response->status = refusal.status;
    response->word = refusal.word;
    return err_set(err, ERR_USAGE, "%s", text);
}

void response_retry_later(struct response *response, struct request *request)
{
    unsigned spread = 0;
    for (size_t i = 0; i < response->header_count; i++)
        if (str_equal(response->headers[i].name, STR("Retry-After")))
            return;
    for (const char *c = request->id; *c; c++)
        spread = spread * 31 + (unsigned char)*c;
    response_header(response, request->arena, "Retry-After", "%u", 2 + spread % 6);
}

bool response_stopping(struct response *response, struct request *request, const char *more,
                       struct err *err)
{
    response_retry_later(response, request);
    return response_refuse(response, err, (struct refusal){503, "stopping"},
                           "the service is stopping%s", more);
}

const char *response_phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {303, "See Other"},
        {304, "Not Modified"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {423, "Locked"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {460, "Checksum Mismatch"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };
    for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Error";
}
