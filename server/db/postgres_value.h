// SPDX-License-Identifier: Apache-2.0
// Values as PostgreSQL sends and takes them in binary.
#ifndef SERVER_DB_POSTGRES_VALUE_H
#define SERVER_DB_POSTGRES_VALUE_H

#include "ingest/base/buf.h"

// The numbers of its built-in types, which never change.
enum postgres_type {
    POSTGRES_BOOL = 16,
    POSTGRES_BYTEA = 17,
    POSTGRES_INT8 = 20,
    POSTGRES_INT2 = 21,
    POSTGRES_INT4 = 23,
    POSTGRES_TEXT = 25,
    POSTGRES_FLOAT8 = 701,
    POSTGRES_NUMERIC = 1700,
};

bool postgres_is_i64(unsigned type);

// 0 for a type that is no number, and for bytes of the wrong length.
int64_t postgres_i64(unsigned type, struct str bytes);
double postgres_f64(unsigned type, struct str bytes);

void postgres_put_i64(int64_t value, unsigned char bytes[8]);
void postgres_put_f64(double value, unsigned char bytes[8]);

// Adds a text as PostgreSQL takes it: in place of bytes that are not UTF-8, and of NUL, U+FFFD.
void postgres_clean_text(struct str text, struct buf *out);
bool postgres_is_clean(struct str text);

#endif
