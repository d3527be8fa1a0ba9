// SPDX-License-Identifier: Apache-2.0
// Handlers of the upload routes.
#ifndef SERVER_UPLOADS_H
#define SERVER_UPLOADS_H

#include "server/http/response.h"

// Forms and raw files (upload.c).
bool upload_post(struct request *request, struct response *response, struct err *err);
bool upload_put(struct request *request, struct response *response, struct err *err);

// Resumable uploads (tus.c).
bool tus_options(struct request *request, struct response *response, struct err *err);
bool tus_post(struct request *request, struct response *response, struct err *err);
bool tus_get(struct request *request, struct response *response, struct err *err);
bool tus_patch(struct request *request, struct response *response, struct err *err);
bool tus_delete(struct request *request, struct response *response, struct err *err);
bool tus_post_other(struct request *request, struct response *response, struct err *err);

#endif
