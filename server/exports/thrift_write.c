// SPDX-License-Identifier: Apache-2.0
#include "server/exports/thrift_write.h"

#include "server/exports/proto_write.h"

#include <assert.h>

static void put_signed(struct thrift *thrift, int64_t value)
{
    proto_varint(thrift->out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_field(struct thrift *thrift, int id, enum thrift_type type)
{
    int step = id - thrift->last[thrift->depth];
    if (step > 0 && step < 16) {
        buf_putc(thrift->out, (char)(step << 4 | (int)type));
    } else {
        buf_putc(thrift->out, (char)type);
        put_signed(thrift, id);
    }
    thrift->last[thrift->depth] = id;
}

void thrift_i32(struct thrift *thrift, int id, int32_t value)
{
    put_field(thrift, id, THRIFT_I32);
    put_signed(thrift, value);
}

void thrift_i64(struct thrift *thrift, int id, int64_t value)
{
    put_field(thrift, id, THRIFT_I64);
    put_signed(thrift, value);
}

void thrift_item_binary(struct thrift *thrift, struct str bytes)
{
    proto_varint(thrift->out, bytes.len);
    buf_add_str(thrift->out, bytes);
}

void thrift_binary(struct thrift *thrift, int id, struct str bytes)
{
    put_field(thrift, id, THRIFT_BINARY);
    thrift_item_binary(thrift, bytes);
}

void thrift_item_i32(struct thrift *thrift, int32_t value)
{
    put_signed(thrift, value);
}

void thrift_list(struct thrift *thrift, int id, size_t count, enum thrift_type type)
{
    put_field(thrift, id, THRIFT_LIST);
    if (count < 15) {
        buf_putc(thrift->out, (char)((int)count << 4 | (int)type));
    } else {
        buf_putc(thrift->out, (char)(0xf0 | (int)type));
        proto_varint(thrift->out, count);
    }
}

void thrift_open(struct thrift *thrift, int id)
{
    assert(thrift->depth + 1 < THRIFT_DEPTH);
    if (id)
        put_field(thrift, id, THRIFT_STRUCT);
    thrift->last[++thrift->depth] = 0;
}

void thrift_close(struct thrift *thrift)
{
    buf_putc(thrift->out, '\0');
    if (thrift->depth)
        thrift->depth--;
}
