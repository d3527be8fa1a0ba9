// SPDX-License-Identifier: Apache-2.0
// Handlers of agents on nodes and of captures.
#ifndef SERVER_AGENTS_H
#define SERVER_AGENTS_H

#include "server/http/response.h"

bool agents_post_poll(struct request *request, struct response *response, struct err *err);
bool agents_get(struct request *request, struct response *response, struct err *err);
bool agents_post_capture(struct request *request, struct response *response, struct err *err);

#endif
