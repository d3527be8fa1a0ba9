// SPDX-License-Identifier: Apache-2.0
// A page's head names what it will fetch first, so that the browser fetches that together with the
// page's scripts instead of after them. Which page fetches what is web/early.txt.
#ifndef SERVER_EARLY_H
#define SERVER_EARLY_H

#include "server/http/request.h"

#include "ingest/base/buf.h"

// Adds a link for every line of the table that fits the address of the request. A line is
// "PATTERN ADDRESS". In both, {name} is a segment of the path or a parameter of the query; a
// segment * of a pattern stands for all that follow. After its '?' come the parameters that the
// query must have and no others, or * for any; without '?' the query must be empty.
void early_links(const struct request *request, struct str table, struct buf *html);

#endif
