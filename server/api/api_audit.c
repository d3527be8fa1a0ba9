// SPDX-License-Identifier: Apache-2.0
// The audit log over HTTP.
#include "server/access/audit.h"
#include "server/api/api.h"
#include "server/api/table_reply.h"
#include "server/store/server_tables.h"
#include "server/store/store_access.h"

#define NEWEST 5000 // entries available to filters and pages

bool api_list_audit(struct request *request, struct response *response, struct err *err)
{
    static const char *const own[] = {"before", NULL};
    struct table_request asked;
    struct table table;
    struct query_int before = {"before", INT64_MAX, 1, INT64_MAX};
    struct audit_query query = {.limit = NEWEST};
    audit_settle(request->services->audit);
    return table_request_parse(request, &table_audit, own, &asked, err) &&
           query_get_int(&request->query, before, &query.before, err) &&
           store_list_audit(request->services->intake->store, &query, request->arena, &table,
                            err) &&
           table_reply_rows(request, response, &asked, &table, err);
}
