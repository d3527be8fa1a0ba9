// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol, field by field: only what Parquet's metadata needs.
#ifndef SERVER_THRIFT_WRITE_H
#define SERVER_THRIFT_WRITE_H

#include "ingest/base/buf.h"

enum { THRIFT_DEPTH = 8 };
enum thrift_type {
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift {
    struct buf *out;
    int last[THRIFT_DEPTH]; // field of each struct that is open
    int depth;
};

// A field of the struct that is open, by its id.
void thrift_i32(struct thrift *thrift, int id, int32_t value);
void thrift_i64(struct thrift *thrift, int id, int64_t value);
void thrift_binary(struct thrift *thrift, int id, struct str bytes);

// A list, whose items follow; id as above.
void thrift_list(struct thrift *thrift, int id, size_t count, enum thrift_type type);
void thrift_item_i32(struct thrift *thrift, int32_t value);
void thrift_item_binary(struct thrift *thrift, struct str bytes);

// A struct as a field, or with id 0 as an item of a list; and its end. The outermost has no start.
void thrift_open(struct thrift *thrift, int id);
void thrift_close(struct thrift *thrift);

#endif
