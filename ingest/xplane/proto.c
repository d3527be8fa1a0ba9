// SPDX-License-Identifier: Apache-2.0
#include "ingest/xplane/proto.h"

enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

static bool load(struct proto_file *file, uint64_t at, struct err *err)
{
    struct source_place place = {at, file->window, PROTO_WINDOW};
    file->at = at;
    file->len = 0;
    return source_read_at(file->source, &place, &file->len, err);
}

static bool take_byte(struct proto *message, unsigned char *byte, struct err *err)
{
    struct proto_file *file = message->file;
    if (message->at >= message->end) {
        file->damaged = true;
        return false;
    }
    bool inside = message->at >= file->at && message->at < file->at + file->len;
    if (!inside && !load(file, message->at, err))
        return false;
    if (file->len == 0) {
        file->damaged = true;
        return false;
    }
    *byte = (unsigned char)file->window[message->at++ - file->at];
    return true;
}

static bool take_varint(struct proto *message, uint64_t *value, struct err *err)
{
    unsigned char byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (shift > 63) {
            message->file->damaged = true;
            return false;
        }
        if (!take_byte(message, &byte, err))
            return false;
        *value |= (uint64_t)(byte & 0x7F) << shift;
    }
    return true;
}

static bool take_fixed(struct proto *message, unsigned bytes, uint64_t *value, struct err *err)
{
    unsigned char byte;
    *value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        if (!take_byte(message, &byte, err))
            return false;
        *value |= (uint64_t)byte << 8 * i;
    }
    return true;
}

static bool take_bytes(struct proto *message, struct proto *bytes, struct err *err)
{
    uint64_t len;
    if (!take_varint(message, &len, err))
        return false;
    if (len > message->end - message->at) {
        message->file->damaged = true;
        return false;
    }
    *bytes = (struct proto){message->file, message->at, message->at + len};
    message->at += len;
    return true;
}

static bool take_value(struct proto *message, unsigned wire, struct proto_field *field,
                       struct err *err)
{
    field->is_bytes = wire == WIRE_BYTES;
    switch (wire) {
    case WIRE_VARINT: return take_varint(message, &field->value, err);
    case WIRE_8_BYTES: return take_fixed(message, 8, &field->value, err);
    case WIRE_4_BYTES: return take_fixed(message, 4, &field->value, err);
    case WIRE_BYTES: return take_bytes(message, &field->bytes, err);
    default: message->file->damaged = true; return false;
    }
}

bool proto_next(struct proto *message, struct proto_field *field, struct err *err)
{
    uint64_t tag;
    if (message->file->damaged || message->at >= message->end || !take_varint(message, &tag, err))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX) {
        message->file->damaged = true;
        return false;
    }
    *field = (struct proto_field){.number = (uint32_t)(tag >> 3)};
    return take_value(message, tag & 7, field, err);
}

bool proto_text(const struct proto *bytes, char *text, size_t cap, size_t *len, struct err *err)
{
    uint64_t size = bytes->end - bytes->at;
    struct source_place place = {bytes->at, text, size < cap ? (size_t)size : cap};
    return source_read_at(bytes->file->source, &place, len, err);
}
