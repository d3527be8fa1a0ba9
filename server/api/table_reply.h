// SPDX-License-Identifier: Apache-2.0
// Tables over HTTP: one set of parameters and formats for every table endpoint.
#ifndef SERVER_TABLE_REPLY_H
#define SERVER_TABLE_REPLY_H

#include "server/exports/export.h"
#include "server/http/response.h"
#include "server/store/table_query.h"

// A client's request for a table.
struct table_request {
    const struct table_desc *desc;
    struct table_query query;
    const struct table_export *export;
    unsigned columns[TABLE_MAX_COLUMNS]; // indexes of those to show, in order
    unsigned column_count;
    bool chosen; // the client chose the columns
    void *state; // of the format, while it is written
};

// Reads limit, cursor, sort, fields, q, format and filters by column name from the query (and the
// Accept header). `others` is a NULL-terminated list of parameters that the endpoint itself reads.
// ERR_USAGE, listing the known ones.
MUST_CHECK bool table_request_parse(const struct request *request, const struct table_desc *desc,
                                    const char *const *others, struct table_request *table,
                                    struct err *err);

// Writes a page in the requested format. name is used for the download's file name.
MUST_CHECK bool table_reply_write(struct request *request, struct response *response,
                                  const struct table_request *table, const struct table_page *page,
                                  struct str name, struct err *err);

// The headers of a page, for rows sent in parts; then the view that the format writes.
void table_reply_head(struct request *request, struct response *response,
                      const struct table_request *table, struct str name);
struct export_view table_view(const struct table_request *table); // lives as long as the request

// Same with an ETag of the answer's content.
MUST_CHECK bool table_reply_tagged(struct request *request, struct response *response,
                                   const struct table_request *table, const struct table_page *page,
                                   struct str name, struct err *err);

// Answers with the requested rows of a table in memory, with an ETag of their content.
MUST_CHECK bool table_reply_rows(struct request *request, struct response *response,
                                 const struct table_request *asked, const struct table *table,
                                 struct err *err);

#define TABLE_CURSOR_SIZE 40

// Where a page starts, as opaque text bound to the query's order and filters; and back into
// query->offset. ERR_USAGE for a cursor from another query.
void table_cursor_write(const struct table_query *query, uint64_t offset,
                        char text[TABLE_CURSOR_SIZE]);
MUST_CHECK bool table_cursor_read(struct table_query *query, struct str text, struct err *err);

#endif
