// SPDX-License-Identifier: Apache-2.0
// Copies the rows of a database into another one, of any kind. What was copied is compared, not
// copied again, so that an interrupted copy continues where it stopped.
#ifndef SERVER_STORE_COPY_H
#define SERVER_STORE_COPY_H

#include "server/store/store.h"

struct store_copy;

// Told after every few hundred rows.
struct store_copy_watch {
    void (*tell)(void *context, const char *table, uint64_t rows); // rows of all tables so far
    void *context;
};

// from and to are places of databases (db.h). The target is created if it is missing; it must be
// empty, or have an earlier copy of the same source that no service has used since. ERR_CONFLICT;
// ERR_BUSY if a service uses one of them; ERR_UNSUPPORTED if the source has an older schema.
MUST_CHECK struct store_copy *store_copy_open(const char *from, const char *to, struct err *err);
void store_copy_close(struct store_copy *copy); // NULL is allowed

// Whether the target's database keeps the mark of a place of files already. An earlier copy that
// was refused for its place has left none.
MUST_CHECK bool store_copy_has_mark(struct store_copy *copy, bool *has_mark, struct err *err);

// The mark of the target's files (blob_store.h), kept in its database: mark, or an earlier one.
MUST_CHECK bool store_copy_keep_mark(struct store_copy *copy, const char *mark,
                                     char kept[STORE_ID_SIZE], struct err *err);

// Copies what the target lacks. ERR_CONFLICT if it has something else.
MUST_CHECK bool store_copy_rows(struct store_copy *copy, const struct store_copy_watch *watch,
                                struct err *err);
// Reads both again and compares every value of every row; *rows is their number. ERR_CONFLICT.
MUST_CHECK bool store_copy_compare(struct store_copy *copy, const struct store_copy_watch *watch,
                                   uint64_t *rows, struct err *err);
// Everything is there: services may use the target.
MUST_CHECK bool store_copy_end(struct store_copy *copy, struct err *err);

// Called by a service that starts. ERR_CONFLICT if a copy into its database has not ended; one that
// has is forgotten, since the service will change what was copied.
MUST_CHECK bool store_check_copied(struct store *store, struct err *err);

#endif
