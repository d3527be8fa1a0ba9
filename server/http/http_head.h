// SPDX-License-Identifier: Apache-2.0
// The head of a request as the library parsed it, and what the library overlooked while parsing.
#ifndef SERVER_HTTP_HEAD_H
#define SERVER_HTTP_HEAD_H

#include "server/http/response.h"

#define HTTP_HEAD_MAX_BYTES 16000 // less than the library's buffer has

struct mg_request_info;

// Fills method, address, headers (at least MG_MAX_HEADERS of them) and peer; all borrowed.
void http_head_read(const struct mg_request_info *info, struct request_header *headers,
                    struct request *request);

// Refuses heads that the library lets through though other readers, such as a proxy in front, would
// see another request in them: spaces before a colon, lines that end in LF alone, lines that begin
// with a space, names that are none, an absolute address that is not the Host's, chunks in
// HTTP 1.0. 400, 431, 505.
MUST_CHECK bool http_head_check(const struct mg_request_info *info, struct request *request,
                                struct response *response, struct err *err);

#endif
