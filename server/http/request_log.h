// SPDX-License-Identifier: Apache-2.0
// One line of the log per answered request.
#ifndef SERVER_REQUEST_LOG_H
#define SERVER_REQUEST_LOG_H

#include "server/http/response.h"

struct request_cost {
    int64_t ns;          // from head received to answer sent
    uint64_t sent_bytes; // of content
};

// Logs method, path without its query, status, bytes both ways, time, peer, who and id. Health,
// metrics and the dashboard's own files are logged only when they fail.
void request_log(const struct request *request, const struct response *response,
                 struct request_cost cost);

#endif
