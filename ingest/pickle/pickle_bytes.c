// SPDX-License-Identifier: Apache-2.0
#include "ingest/pickle/pickle_bytes.h"
#include "ingest/pickle/pickle.h"

static bool load(struct pickle_bytes *bytes, struct err *err)
{
    bytes->pos += bytes->end;
    bytes->at = bytes->end = 0;
    if (!source_read(bytes->source, bytes->block, sizeof bytes->block, &bytes->end, err))
        return false;
    return bytes->end || err_set_at(err, ERR_FORMAT, bytes->pos,
                                    "the pickle ends early: it was cut; send it again, whole");
}

bool pickle_take_byte(struct pickle_bytes *bytes, unsigned char *byte, struct err *err)
{
    if (bytes->at == bytes->end && !load(bytes, err))
        return false;
    *byte = bytes->block[bytes->at++];
    return true;
}

bool pickle_take_number(struct pickle_bytes *bytes, unsigned count, uint64_t *number,
                        struct err *err)
{
    unsigned char byte;
    *number = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!pickle_take_byte(bytes, &byte, err))
            return false;
        *number |= (uint64_t)byte << 8 * i;
    }
    return true;
}

// How many of `count` bytes are in the block, at least one.
static bool piece(struct pickle_bytes *bytes, uint64_t count, size_t *there, struct err *err)
{
    if (bytes->at == bytes->end && !load(bytes, err))
        return false;
    size_t rest = bytes->end - bytes->at;
    *there = count < rest ? (size_t)count : rest;
    return true;
}

bool pickle_skip(struct pickle_bytes *bytes, uint64_t count, struct err *err)
{
    size_t there;
    for (; count; count -= there) {
        if (!piece(bytes, count, &there, err))
            return false;
        bytes->at += there;
    }
    return true;
}

static bool gather(struct pickle_bytes *bytes, uint64_t count, struct str *text, struct err *err)
{
    size_t there;
    for (size_t len = 0; len < count; len += there) {
        if (!piece(bytes, count - len, &there, err))
            return false;
        char *room = budget_room(bytes->budget, bytes->text, &bytes->text_cap, len + there, 1, err);
        if (!room)
            return false;
        bytes->text = room;
        memcpy(room + len, bytes->block + bytes->at, there);
        bytes->at += there;
    }
    *text = (struct str){bytes->text, (size_t)count};
    return true;
}

bool pickle_take_text(struct pickle_bytes *bytes, uint64_t count, struct str *text, struct err *err)
{
    if (count > PICKLE_MAX_TEXT)
        return err_set_at(err, ERR_LIMIT, pickle_bytes_pos(bytes),
                          "found a text of %llu bytes in the pickle, expected at most %zu",
                          (unsigned long long)count, PICKLE_MAX_TEXT);
    if (count > bytes->end - bytes->at)
        return gather(bytes, count, text, err);
    *text = (struct str){(const char *)bytes->block + bytes->at, (size_t)count};
    bytes->at += (size_t)count;
    return true;
}

void pickle_bytes_free(struct pickle_bytes *bytes)
{
    budget_free(bytes->budget, bytes->text, bytes->text_cap);
}
