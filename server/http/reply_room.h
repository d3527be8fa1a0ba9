// SPDX-License-Identifier: Apache-2.0
// How much memory large answers may hold together while clients take them, so that many slow
// readers cannot use it all up; and turns for making them.
#ifndef SERVER_REPLY_ROOM_H
#define SERVER_REPLY_ROOM_H

#include "server/http/response.h"

#include <semaphore.h>

#define REPLY_ROOM_SMALL_BYTES ((uint64_t)1 << 20) // smaller answers are not counted

struct reply_room {
    uint64_t limit_bytes;
    _Atomic uint64_t held_bytes;
    sem_t turns;
};

void reply_room_init(struct reply_room *room, uint64_t limit_bytes, unsigned turns);
void reply_room_destroy(struct reply_room *room);

// Waits until few enough others are making a large answer. ERR_BUSY if there will hardly be room
// for it: then it is not worth making. Pair with reply_room_end when true.
MUST_CHECK bool reply_room_begin(struct reply_room *room, struct err *err);
void reply_room_end(struct reply_room *room);

// Makes room for an answer of this size; a single one always fits. False: the client has to come
// back. Pair with reply_room_leave of the same size.
MUST_CHECK bool reply_room_enter(struct reply_room *room, uint64_t bytes);
void reply_room_leave(struct reply_room *room, uint64_t bytes);

#endif
