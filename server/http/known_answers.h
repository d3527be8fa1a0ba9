// SPDX-License-Identifier: Apache-2.0
// Answers that follow from the store and the request alone: while the store has not changed, they
// are given again, or confirmed to a client that has them, without being made again. Thread-safe.
#ifndef SERVER_KNOWN_ANSWERS_H
#define SERVER_KNOWN_ANSWERS_H

#include "server/http/response.h"

struct known_answers;

// NULL if there is no memory; then, as here and below, nothing is known.
struct known_answers *known_answers_new(void);
void known_answers_free(struct known_answers *known);

// Whether an answer to such a request was kept, at whatever version.
bool known_answers_expect(struct known_answers *known, const struct request *request);

// Gives the answer that this request had at that version of the store: 304 if the client has it,
// else its content. False if it must be made. 0: the version is unknown.
MUST_CHECK bool known_answers_give(struct known_answers *known, struct request *request,
                                   struct response *response, uint64_t version);

// Keeps an answer that was begun at that version, if it lasts. Compresses it first if the client
// accepts that, so that this is done once.
void known_answers_keep(struct known_answers *known, const struct request *request,
                        struct response *response, uint64_t version);

#endif
