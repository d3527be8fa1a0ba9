// SPDX-License-Identifier: Apache-2.0
// ETags of answers that follow from the store and the request alone: while the store has not
// changed, a client that has one is answered without making the answer again. Thread-safe.
#ifndef SERVER_KNOWN_ETAGS_H
#define SERVER_KNOWN_ETAGS_H

#include "server/http/response.h"

struct known_etags;

// NULL if there is no memory; then, as here and below, nothing is known.
struct known_etags *known_etags_new(void);
void known_etags_free(struct known_etags *known);

// Answers 304 if the client has the ETag that this request's answer had at that version of the
// store. 0: the version is unknown.
MUST_CHECK bool known_etags_answer(struct known_etags *known, struct request *request,
                                   struct response *response, uint64_t version);

// Keeps the ETag of an answer that was begun at that version, if the answer lasts.
void known_etags_keep(struct known_etags *known, const struct request *request,
                      const struct response *response, uint64_t version);

#endif
