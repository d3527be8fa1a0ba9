// SPDX-License-Identifier: Apache-2.0
// Cuts a head in place, as the HTTP library does.
#ifndef TESTS_UNIT_HTTP_HEAD_CUT_H
#define TESTS_UNIT_HTTP_HEAD_CUT_H

#include "server/http/http_head.h"

#include <civetweb.h>

#define MAX_HEAD 20000

struct cut {
    char text[MAX_HEAD + 1];
    struct mg_request_info info;
};

// Like skip_to_end_of_word_and_terminate: what follows a word is lost. NULL: no word follows.
static inline char *cut_word(char *at, const char *ends)
{
    size_t len = strcspn(at, " \r\n");
    if (len == 0 || !at[len] || !strchr(ends, at[len]))
        return NULL;
    at += len;
    while (*at == ' ' || *at == '\r' || *at == '\n')
        *at++ = '\0';
    return at;
}

// Like parse_http_headers: spaces before a colon are dropped, LF alone ends a line, and a line
// without a name ends the headers. False for what the library itself refuses.
static inline bool cut_headers(struct mg_request_info *info, char *at)
{
    while (info->num_headers < MG_MAX_HEADERS) {
        struct mg_header *header = &info->http_headers[info->num_headers];
        char *colon = at;
        while (*colon > ' ' && *colon < 0x7f && *colon != ':')
            colon++;
        if (colon == at)
            return true;
        header->name = at;
        while (*colon == ' ')
            *colon++ = '\0';
        if (*colon != ':')
            return false;
        *colon++ = '\0';
        header->value = colon + strspn(colon, " ");
        at = colon + strcspn(colon, "\r\n");
        if (at[0] == '\r' && at[1] != '\n')
            return false;
        info->num_headers++;
        if (*at == '\0')
            return true;
        if (*at == '\r')
            *at++ = '\0';
        *at++ = '\0';
        if (*at == '\r' || *at == '\n')
            return true;
    }
    return true;
}

// The end of a head in text: after CR LF CR LF or LF LF; 0 if there is none, or a control character
// first.
static inline size_t head_size(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        struct str rest = {text.at + i, text.len - i};
        unsigned char c = (unsigned char)text.at[i];
        if ((c < ' ' && c != '\r' && c != '\n') || c == 0x7f)
            return 0;
        if (str_starts_with(rest, STR("\n\n")))
            return i + 2;
        if (str_starts_with(rest, STR("\r\n\r\n")))
            return i + 4;
    }
    return 0;
}

// False if the library itself would refuse the head.
static inline bool cut_head(struct cut *cut, struct str text)
{
    struct mg_request_info *info = &cut->info;
    size_t size = head_size(text);
    *info = (struct mg_request_info){0};
    if (size == 0 || size > MAX_HEAD)
        return false;
    memcpy(cut->text, text.at, size);
    cut->text[size] = '\r'; // anything may follow
    cut->text[size - 1] = '\0';
    char *uri = cut_word(cut->text, " ");
    char *version = uri ? cut_word(uri, " ") : NULL;
    char *headers = version ? cut_word(version, "\r\n") : NULL;
    if (!headers || strncmp(version, "HTTP/", 5) != 0)
        return false;
    info->request_method = cut->text;
    info->request_uri = info->local_uri_raw = uri;
    info->http_version = version + 5;
    char *query = strchr(uri, '?');
    if (query)
        *query++ = '\0';
    info->query_string = query;
    return cut_headers(info, headers);
}

#endif
