// SPDX-License-Identifier: Apache-2.0
// What a report of some runs says: their figures side by side, whether they differ by more than
// noise and where, what was found in them and what limits trust in it.
#ifndef SERVER_REPORT_CONTENT_H
#define SERVER_REPORT_CONTENT_H

#include "server/compare/compare_sides.h"
#include "server/report/document.h"

// Fills the document; it lives as long as the request. Sides of one model are compared with the
// first of it, as far as they have traces.
MUST_CHECK bool report_content(struct request *request, struct response *response,
                               const struct compared *compared, struct document *doc,
                               struct err *err);

#endif
