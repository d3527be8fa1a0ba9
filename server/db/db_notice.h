// SPDX-License-Identifier: Apache-2.0
// Services that share a database tell each other that there is something to do. It is a hint: it
// may come late, twice or not at all, so whoever waits for it also looks now and then.
#ifndef SERVER_DB_NOTICE_H
#define SERVER_DB_NOTICE_H

#include "ingest/base/err.h"

struct db_notice;

// Listens on a separate connection and thread, which connect again after they lost the
// database. heard is called on that thread when another service did so. ERR_UNSUPPORTED for
// a database that only one service has.
MUST_CHECK struct db_notice *db_notice_open(const char *place, void (*heard)(void *context),
                                            void *context, struct err *err);
void db_notice_close(struct db_notice *notice); // NULL is allowed

// Tells all others, from any thread; does not wait. NULL is allowed.
void db_notice_tell(struct db_notice *notice);

#endif
