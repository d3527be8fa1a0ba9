// SPDX-License-Identifier: Apache-2.0
#include "server/exports/proto_write.h"

#include "server/exports/clean_text.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void proto_varint(struct buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_putc(out, (char)(value | 0x80));
    buf_putc(out, (char)value);
}

void proto_number(struct buf *out, unsigned field, uint64_t value)
{
    proto_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    proto_varint(out, value);
}

void proto_fixed64(struct buf *out, unsigned field, uint64_t value)
{
    proto_varint(out, (uint64_t)field << 3 | WIRE_FIXED64);
    buf_add(out, &value, sizeof value);
}

void proto_double(struct buf *out, unsigned field, double value)
{
    proto_varint(out, (uint64_t)field << 3 | WIRE_FIXED64);
    buf_add(out, &value, sizeof value);
}

void proto_message(struct buf *out, unsigned field, const struct buf *message)
{
    proto_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    proto_varint(out, message->len);
    buf_add(out, message->at, message->len);
    out->failed |= message->failed;
}

void proto_put_text(struct buf *out, unsigned field, struct str text)
{
    struct buf clean = {0};
    clean_text(text, &clean);
    proto_message(out, field, &clean);
    buf_free(&clean);
}
