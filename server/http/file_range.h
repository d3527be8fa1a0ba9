// SPDX-License-Identifier: Apache-2.0
// Sends part of a file to a client that asks for it, so that a download can be resumed.
#ifndef SERVER_FILE_RANGE_H
#define SERVER_FILE_RANGE_H

#include "server/http/response.h"

// Reduces an answer that is a whole file (fd, file_bytes, etag set) to the one range that a GET
// requests: 206, or 416 if none of it exists. Several ranges, malformed ones, and a range of
// another version (If-Range) get the whole file.
MUST_CHECK bool file_range_apply(const struct request *request, struct response *response,
                                 struct err *err);

#endif
