// SPDX-License-Identifier: Apache-2.0
// Rows, cell by cell.
#include "analysis/report/row.h"

#include <assert.h>
#include <math.h>

void row_cell(struct row *row, struct cell cell)
{
    assert(row->count < TABLE_MAX_COLUMNS);
    row->cells[row->count++] = cell;
}

void row_i64(struct row *row, int64_t value)
{
    row_cell(row, cell_i64(value));
}

void row_f64(struct row *row, double value)
{
    row_cell(row, isnan(value) ? cell_null() : cell_f64(value));
}

void row_bool(struct row *row, bool value)
{
    row_cell(row, cell_bool(value));
}

void row_text(struct row *row, struct str text)
{
    row_cell(row, cell_text(text));
}

void row_word(struct row *row, const char *text)
{
    row_cell(row, text ? cell_text(str_of(text)) : cell_null());
}

void row_null(struct row *row)
{
    row_cell(row, cell_null());
}

void row_i64_if(struct row *row, bool known, int64_t value)
{
    row_cell(row, known ? cell_i64(value) : cell_null());
}

void row_f64_if(struct row *row, bool known, double value)
{
    row_cell(row, known ? cell_f64(value) : cell_null());
}

void row_text_if(struct row *row, bool known, struct str text)
{
    row_cell(row, known ? cell_text(text) : cell_null());
}

void row_share(struct row *row, int64_t part, int64_t whole)
{
    row_f64_if(row, whole != 0, (double)part / (double)(whole ? whole : 1));
}

bool row_end(const struct row *row, const struct table_desc *desc, struct report *report,
             struct err *err)
{
    assert(row->count == desc->column_count);
    return report_add(report, desc, row->cells, err);
}
