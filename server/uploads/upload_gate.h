// SPDX-License-Identifier: Apache-2.0
// What is looked at before the body of an upload is read: everything that can be refused is refused
// here, so that nobody sends gigabytes in vain.
#ifndef SERVER_UPLOAD_GATE_H
#define SERVER_UPLOAD_GATE_H

#include "server/http/response.h"

// Lets in a request whose body is an upload: 411 without a length, 413 for its size, 507 for the
// disk, 503 while too many uploads are under way or too many jobs wait, 429 or 507 over a quota.
// Pair with upload_gate_leave when true.
MUST_CHECK bool upload_gate_enter(struct request *request, struct response *response,
                                  struct err *err);

// The same for bytes that may come later, in other requests; takes no place among the uploads under
// way. Pair with upload_gate_forget when true, once the store knows of the upload.
MUST_CHECK bool upload_gate_announce(struct request *request, struct response *response,
                                     uint64_t announced_bytes, struct err *err);
void upload_gate_forget(struct request *request);

// A place alone, for a piece of an upload that was announced. Pair with upload_gate_leave when
// true.
MUST_CHECK bool upload_gate_enter_piece(struct request *request, struct response *response,
                                        struct err *err);

// The same for an upload that came before and is compared with that: nothing of it is stored.
MUST_CHECK bool upload_gate_enter_repeat(struct request *request, struct response *response,
                                         struct err *err);

// Once nothing more is read; a second time does nothing.
void upload_gate_leave(struct request *request);

#endif
