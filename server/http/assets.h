// SPDX-License-Identifier: Apache-2.0
// Handlers of pages and their files.
#ifndef SERVER_ASSETS_H
#define SERVER_ASSETS_H

#include "server/http/response.h"

bool assets_get_page(struct request *request, struct response *response, struct err *err);
bool assets_get_static(struct request *request, struct response *response, struct err *err);
bool assets_get_client(struct request *request, struct response *response, struct err *err);
bool assets_get_standalone_home(struct request *request, struct response *response,
                                struct err *err);
bool assets_get_standalone(struct request *request, struct response *response, struct err *err);
bool assets_get_llms(struct request *request, struct response *response, struct err *err);

#endif
