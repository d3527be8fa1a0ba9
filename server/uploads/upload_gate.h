// SPDX-License-Identifier: Apache-2.0
// Checks made before the body of an upload is read: everything that can be refused is refused here,
// so that nobody sends gigabytes for nothing.
#ifndef SERVER_UPLOAD_GATE_H
#define SERVER_UPLOAD_GATE_H

#include "server/http/response.h"

// Admits a request whose body is an upload: 411 without a length, 413 for its size, 507 for the
// disk, 503 while too many uploads are under way or too many jobs are queued, 429 or 507 over a
// quota. Pair with upload_gate_leave if true.
MUST_CHECK bool upload_gate_enter(struct request *request, struct response *response,
                                  struct err *err);

// Like upload_gate_enter, for bytes that may arrive later, in other requests; takes no upload slot.
// Pair with upload_gate_forget if true, once the store knows the upload.
MUST_CHECK bool upload_gate_announce(struct request *request, struct response *response,
                                     uint64_t announced_bytes, struct err *err);
void upload_gate_forget(struct request *request);

// Only a slot, for a piece of an announced upload. Pair with upload_gate_leave if true.
MUST_CHECK bool upload_gate_enter_piece(struct request *request, struct response *response,
                                        struct err *err);

// Like upload_gate_enter, for a repeated upload that is compared with the first: nothing of it is
// stored.
MUST_CHECK bool upload_gate_enter_repeat(struct request *request, struct response *response,
                                         struct err *err);

// Call when nothing more is read; calling it again does nothing.
void upload_gate_leave(struct request *request);

#endif
