// SPDX-License-Identifier: Apache-2.0
// Protocol buffers, field by field.
#ifndef SERVER_PROTO_WRITE_H
#define SERVER_PROTO_WRITE_H

#include "ingest/base/buf.h"

void proto_varint(struct buf *out, uint64_t value);
void proto_number(struct buf *out, unsigned field, uint64_t value);
void proto_fixed64(struct buf *out, unsigned field, uint64_t value);
void proto_double(struct buf *out, unsigned field, double value);
// A text, whose bytes that are not UTF-8 become U+FFFD.
void proto_put_text(struct buf *out, unsigned field, struct str text);
// A message within the message.
void proto_message(struct buf *out, unsigned field, const struct buf *message);

#endif
