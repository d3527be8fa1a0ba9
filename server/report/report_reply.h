// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_REPORT_REPLY_H
#define SERVER_REPORT_REPLY_H

#include "server/http/response.h"

// GET /api/v1/report?run=KEY[,KEY...]&run=...&format=html|md|xlsx|json
bool report_get(struct request *request, struct response *response, struct err *err);

#endif
