// SPDX-License-Identifier: Apache-2.0
// The head of a request as parsed by the library, and what the library overlooked.
#ifndef SERVER_HTTP_HEAD_H
#define SERVER_HTTP_HEAD_H

#include "server/http/response.h"

#define HTTP_HEAD_MAX_BYTES 16000 // less than the library's buffer

struct mg_request_info;

// Fills method, address, headers (at least MG_MAX_HEADERS of them) and peer; all borrowed.
void http_head_read(const struct mg_request_info *info, struct request_header *headers,
                    struct request *request);

// Refuses heads that the library accepts although other readers, such as a proxy in front, would
// see a different request: spaces before a colon, lines that end in LF alone, lines that start with
// a space, invalid names, an absolute address that differs from Host, chunks in HTTP 1.0. 400, 431,
// 505.
MUST_CHECK bool http_head_check(const struct mg_request_info *info, struct request *request,
                                struct response *response, struct err *err);

#endif
