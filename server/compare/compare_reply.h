// SPDX-License-Identifier: Apache-2.0
// Handlers of comparisons (compare_reply.c, compare_book.c, gate_reply.c).
#ifndef SERVER_COMPARE_REPLY_H
#define SERVER_COMPARE_REPLY_H

#include "server/http/response.h"

// Runs side by side, the table of the route's row for a comparison, all of them as a spreadsheet,
// and a gate.
bool compare_get(struct request *request, struct response *response, struct err *err);
bool compare_get_table(struct request *request, struct response *response, struct err *err);
bool compare_get_workbook(struct request *request, struct response *response, struct err *err);
bool compare_get_gate(struct request *request, struct response *response, struct err *err);

#endif
