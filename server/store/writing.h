// SPDX-License-Identifier: Apache-2.0
// A statement that is written piece by piece, each piece with the value for its placeholder, so
// that values cannot be bound to the wrong one.
#ifndef SERVER_WRITING_H
#define SERVER_WRITING_H

#include "ingest/base/buf.h"
#include "server/db/db.h"

struct bound;

// {.arena = ...} is empty. A failure is kept in sql.
struct writing {
    struct buf sql;
    struct bound *bound; // values of its placeholders, in their order
    size_t count;
    struct arena *arena;
};

void writing_put(struct writing *to, const char *sql);
// SQL with one placeholder, and its value.
void writing_put_text(struct writing *to, const char *sql, struct str value);
void writing_put_i64(struct writing *to, const char *sql, int64_t value);
void writing_put_f64(struct writing *to, const char *sql, double value);

// Its sql must be sound (buf_ok).
struct stmt writing_begin(struct db *db, const struct writing *from, struct err *err);

// Reads whole numbers from its first row, 0 without one, and ends it.
MUST_CHECK bool writing_read_numbers(struct db *db, struct writing *from, uint64_t *numbers,
                                     int count, struct err *err);

#endif
