// SPDX-License-Identifier: Apache-2.0
// Fills one row of a table cell by cell, in the order of its columns.
#ifndef ANALYSIS_ROW_H
#define ANALYSIS_ROW_H

#include "analysis/report/report.h"

struct row {
    struct cell cells[TABLE_MAX_COLUMNS];
    unsigned count;
};

void row_cell(struct row *row, struct cell cell);
void row_i64(struct row *row, int64_t value);
void row_f64(struct row *row, double value); // NaN becomes null
void row_bool(struct row *row, bool value);
void row_text(struct row *row, struct str text);  // text is copied by row_end only
void row_word(struct row *row, const char *text); // NULL becomes null
void row_null(struct row *row);

// The same, or null unless `known`.
void row_i64_if(struct row *row, bool known, int64_t value);
void row_f64_if(struct row *row, bool known, double value);
void row_text_if(struct row *row, bool known, struct str text);

// part / whole, null when whole is 0.
void row_share(struct row *row, int64_t part, int64_t whole);

// Adds the row, which must have exactly the table's columns (asserted).
MUST_CHECK bool row_end(const struct row *row, const struct table_desc *desc, struct report *report,
                        struct err *err);

#endif
