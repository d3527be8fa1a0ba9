// SPDX-License-Identifier: Apache-2.0
// Counts the memory held by large answers.
#include "server/http/reply_room.h"

#include <stdatomic.h>

void reply_room_init(struct reply_room *room, uint64_t limit_bytes, unsigned turns)
{
    *room = (struct reply_room){.limit_bytes = limit_bytes};
    sem_init(&room->turns, 0, turns);
}

void reply_room_destroy(struct reply_room *room)
{
    sem_destroy(&room->turns);
}

static bool check_room(struct reply_room *room, struct err *err)
{
    return atomic_load(&room->held_bytes) < room->limit_bytes / 8 * 7 ||
           err_set(err, ERR_BUSY, "too many large answers are being sent; try again soon");
}

bool reply_room_begin(struct reply_room *room, struct err *err)
{
    if (!check_room(room, err))
        return false;
    while (sem_wait(&room->turns) != 0)
        continue;              // interrupted
    if (check_room(room, err)) // it may have filled up meanwhile
        return true;
    reply_room_end(room);
    return false;
}

void reply_room_end(struct reply_room *room)
{
    sem_post(&room->turns);
}

bool reply_room_enter(struct reply_room *room, uint64_t bytes)
{
    if (bytes < REPLY_ROOM_SMALL_BYTES)
        return true;
    uint64_t held = atomic_load(&room->held_bytes);
    do {
        if (held > 0 && (held > room->limit_bytes || bytes > room->limit_bytes - held))
            return false;
    } while (!atomic_compare_exchange_weak(&room->held_bytes, &held, held + bytes));
    return true;
}

void reply_room_leave(struct reply_room *room, uint64_t bytes)
{
    if (bytes >= REPLY_ROOM_SMALL_BYTES)
        atomic_fetch_sub(&room->held_bytes, bytes);
}
