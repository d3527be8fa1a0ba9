// SPDX-License-Identifier: Apache-2.0
// A workbook, written row by row to a temporary file, so that tables of any length take little
// memory. A sheet per table: numbers in the format of their unit, bars for shares and times, a
// frozen header row with filters; and a sheet that says what the columns mean.
#ifndef SERVER_XLSX_BOOK_H
#define SERVER_XLSX_BOOK_H

#include "server/exports/export.h"

enum { XLSX_MOST_NAME = 31 }; // of a sheet

struct xlsx_book;

// Pair with xlsx_book_close. ERR_MEMORY, ERR_SPACE.
MUST_CHECK struct xlsx_book *xlsx_book_open(struct err *err);
void xlsx_book_close(struct xlsx_book *book); // NULL is allowed

// Starts a sheet for a table, and adds rows to the last one. Rows beyond what a sheet holds are
// counted in its last row. Failures are kept until xlsx_book_finish.
void xlsx_book_sheet(struct xlsx_book *book, const struct export_view *view);
void xlsx_book_rows(struct xlsx_book *book, const struct export_view *view,
                    const struct table *rows);

// Both for a whole table with all its columns; nothing if it has no rows.
void xlsx_book_table(struct xlsx_book *book, const struct table *table);

// Writes the file; then reads it piece by piece.
MUST_CHECK bool xlsx_book_finish(struct xlsx_book *book, struct err *err);
MUST_CHECK bool xlsx_book_read(struct xlsx_book *book, struct buf *out, bool *more,
                               struct err *err);

#endif
