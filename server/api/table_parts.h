// SPDX-License-Identifier: Apache-2.0
// Sends stored tables part by part, so that an answer takes the same memory however long they are.
#ifndef SERVER_TABLE_PARTS_H
#define SERVER_TABLE_PARTS_H

#include "server/api/table_reply.h"
#include "server/store/store.h"

// Answers with all rows from the query's offset on, unsorted, while they are read.
MUST_CHECK bool table_parts_stream(struct request *request, struct response *response,
                                   const struct table_place *place,
                                   const struct table_request *table, struct str name,
                                   struct err *err);

#endif
