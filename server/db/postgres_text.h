// SPDX-License-Identifier: Apache-2.0
// The store's statements in PostgreSQL's SQL.
#ifndef SERVER_DB_POSTGRES_TEXT_H
#define SERVER_DB_POSTGRES_TEXT_H

#include "ingest/base/buf.h"

// Adds the first statement of a text to *out: "?" and "?3" become "$1" and "$3", LIKE ignores the
// case of letters as it does in SQLite, and CROSS JOIN ... ON, which tells SQLite an order, is
// JOIN. Returns what follows the statement. Nothing is added if only whitespace and comments were
// left.
const char *postgres_text(const char *text, struct buf *out);

#endif
