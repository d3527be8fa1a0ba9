// SPDX-License-Identifier: Apache-2.0
// Tables of single ranges that do not follow from sums: made by the analyses themselves, run on
// what was launched in a range, and kept as rows of range_rows.
#ifndef ANALYSIS_RANGE_ROWS_H
#define ANALYSIS_RANGE_ROWS_H

#include "analysis/trace/range_tree.h"

// In the column `table` of the row by which a range has the table named in text_1.
#define RANGE_ROWS_HEAD "kept"

// Whether a table of a trace is kept by range.
bool range_rows_have(const struct table_desc *desc);

// Adds range_rows: the tables of the ranges with the most device time. Each range takes what the
// analyses of its device events take; together they have at most six times those of the trace.
MUST_CHECK bool range_rows_add(const struct range_tree *tree, struct report *report,
                               struct err *err);

// Adds the rows of a table. rows: those of range_rows of the range whose table is the table's name
// or RANGE_ROWS_HEAD. ERR_NOT_FOUND if the range does not have the table.
MUST_CHECK bool range_rows_view(const struct table *rows, const struct table_desc *desc,
                                struct report *report, struct err *err);

#endif
