// SPDX-License-Identifier: Apache-2.0
// JSON in the body of a request.
#ifndef SERVER_JSON_BODY_H
#define SERVER_JSON_BODY_H

#include "server/http/response.h"

#include <jansson.h>

// The body as a JSON object; free it with json_decref. NULL if it is not one (ERR_USAGE), too long
// or too deep, of another media type, or if memory runs out (ERR_MEMORY).
MUST_CHECK json_t *json_body_read(struct request *request, struct response *response,
                                  struct err *err);

// Same for a text that was read already.
MUST_CHECK json_t *json_body_parse(struct str text, struct err *err);

// Refuses members that are not in the NULL-terminated list. ERR_USAGE.
MUST_CHECK bool json_body_allow(json_t *object, const char *const *known, struct err *err);

// A text member, copied into the arena; "" if missing or null. ERR_USAGE.
MUST_CHECK bool json_body_text(json_t *object, const char *name, struct arena *arena,
                               struct str *text, struct err *err);

#endif
