// SPDX-License-Identifier: Apache-2.0
// Fills one row of a table cell by cell, in any order; unfilled cells are null.
#ifndef ANALYSIS_ROW_H
#define ANALYSIS_ROW_H

#include "analysis/report/report.h"

// Starts as {.desc = &table_x}.
struct row {
    const struct table_desc *desc;
    uint64_t filled; // a bit per column
    struct cell cells[TABLE_MAX_COLUMNS];
};

// The column must be of the table's enum and of the value's type (asserted).
void row_i64(struct row *row, unsigned column, int64_t value);
void row_f64(struct row *row, unsigned column, double value); // NaN becomes null
void row_bool(struct row *row, unsigned column, bool value);
void row_text(struct row *row, unsigned column, struct str text);  // copied by row_end only
void row_word(struct row *row, unsigned column, const char *text); // NULL becomes null

// The same, or null unless `known`.
void row_i64_if(struct row *row, unsigned column, bool known, int64_t value);
void row_f64_if(struct row *row, unsigned column, bool known, double value);
void row_bool_if(struct row *row, unsigned column, bool known, bool value);
void row_text_if(struct row *row, unsigned column, bool known, struct str text);

// A size, null if it is not known: NaN, negative or beyond all memory.
void row_bytes(struct row *row, unsigned column, double bytes);

// part / whole, null when whole is 0.
void row_share(struct row *row, unsigned column, int64_t part, int64_t whole);

// A cell of another table, whose column has the same type.
void row_cell(struct row *row, unsigned column, struct cell cell);

// From `column` on, the cells of another table's row from `first` to its last, which are the same
// columns (asserted).
void row_copy(struct row *row, unsigned column, const struct table *table, size_t index,
              unsigned first);

// Adds the row to its table in the report.
MUST_CHECK bool row_end(struct row *row, struct report *report, struct err *err);

// Writes it to an array of cells instead; texts are not copied.
void row_put(struct row *row, struct cell *cells);

#endif
