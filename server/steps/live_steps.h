// SPDX-License-Identifier: Apache-2.0
// Handlers of stage times that running jobs send.
#ifndef SERVER_LIVE_STEPS_H
#define SERVER_LIVE_STEPS_H

#include "server/http/response.h"

bool live_steps_post(struct request *request, struct response *response, struct err *err);
bool live_steps_get(struct request *request, struct response *response, struct err *err);

#endif
