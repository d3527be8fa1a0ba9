// SPDX-License-Identifier: Apache-2.0
// How much memory large answers may hold together while their clients take them, so that many
// clients that read slowly cannot use it all up; and turns to make them.
#ifndef SERVER_REPLY_ROOM_H
#define SERVER_REPLY_ROOM_H

#include "server/http/response.h"

#include <semaphore.h>

#define REPLY_ROOM_SMALL_BYTES ((uint64_t)1 << 20) // answers below this need no room

struct reply_room {
    uint64_t limit_bytes;
    _Atomic uint64_t held_bytes;
    sem_t turns;
};

void reply_room_init(struct reply_room *room, uint64_t limit_bytes, unsigned turns);
void reply_room_destroy(struct reply_room *room);

// Waits until few enough others make a large answer. ERR_BUSY when there will hardly be room for
// it: then it is not worth making. Pair with reply_room_end when true.
MUST_CHECK bool reply_room_begin(struct reply_room *room, struct err *err);
void reply_room_end(struct reply_room *room);

// Makes room for an answer of so many bytes; one alone always has it. False: the client has to come
// back. Pair with reply_room_leave of as many bytes.
MUST_CHECK bool reply_room_enter(struct reply_room *room, uint64_t bytes);
void reply_room_leave(struct reply_room *room, uint64_t bytes);

#endif
