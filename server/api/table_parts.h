// SPDX-License-Identifier: Apache-2.0
// Stored tables a part at a time, so that an answer takes the same memory whatever their length.
#ifndef SERVER_TABLE_PARTS_H
#define SERVER_TABLE_PARTS_H

#include "server/api/table_reply.h"
#include "server/store/store.h"

// Reads the requested rows, a page or a sorted whole. ERR_LIMIT if what must be held for it exceeds
// the arena's budget.
MUST_CHECK bool table_parts_page(struct store *store, const struct table_place *place,
                                 const struct table_query *query, struct arena *arena,
                                 struct table_page *page, struct err *err);

// Answers with all rows from the query's offset on, unsorted, while reading them.
MUST_CHECK bool table_parts_stream(struct request *request, struct response *response,
                                   const struct table_place *place,
                                   const struct table_request *table, struct str name,
                                   struct err *err);

#endif
