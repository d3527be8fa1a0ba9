// SPDX-License-Identifier: Apache-2.0
// Sheets that TraceLens's workbooks have, with its names of columns: those whose definitions agree
// with tables of ours. server/exports/TRACELENS.md lists the others.
#ifndef SERVER_TRACELENS_SHEETS_H
#define SERVER_TRACELENS_SHEETS_H

#include "server/exports/xlsx_book.h"

// The rows of gpu_timeline and the columns of the breakdown that they show.
enum { TRACELENS_PARTS = 8 };
extern const struct tracelens_part {
    const char *type;
    unsigned column;
} tracelens_parts[TRACELENS_PARTS];

// gpu_timeline: one rank over its whole window. NULL is allowed.
void tracelens_add_timeline(struct xlsx_book *book, const struct table *breakdown, int64_t rank);

// ops_summary: operators by the time of what they launched directly. NULL is allowed.
MUST_CHECK bool tracelens_add_ops(struct xlsx_book *book, const struct table *operators,
                                  struct err *err);

#endif
