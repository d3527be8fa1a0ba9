// SPDX-License-Identifier: Apache-2.0
// Rows, cell by cell.
#include "analysis/report/row.h"

#include <assert.h>
#include <math.h>

void row_cell(struct row *row, unsigned column, struct cell cell)
{
    unsigned place = column_place(row->desc, column);
    row->cells[place] = cell;
    row->filled |= UINT64_C(1) << place;
}

static void fill(struct row *row, unsigned column, enum column_type type, struct cell cell)
{
    assert(row->desc->columns[column_place(row->desc, column)].type == type);
    (void)type;
    row_cell(row, column, cell);
}

void row_i64(struct row *row, unsigned column, int64_t value)
{
    fill(row, column, COLUMN_I64, cell_i64(value));
}

void row_f64(struct row *row, unsigned column, double value)
{
    fill(row, column, COLUMN_F64, isnan(value) ? cell_null() : cell_f64(value));
}

void row_bool(struct row *row, unsigned column, bool value)
{
    fill(row, column, COLUMN_BOOL, cell_bool(value));
}

void row_text(struct row *row, unsigned column, struct str text)
{
    fill(row, column, COLUMN_TEXT, cell_text(text));
}

void row_word(struct row *row, unsigned column, const char *text)
{
    fill(row, column, COLUMN_TEXT, text ? cell_text(str_of(text)) : cell_null());
}

void row_i64_if(struct row *row, unsigned column, bool known, int64_t value)
{
    fill(row, column, COLUMN_I64, known ? cell_i64(value) : cell_null());
}

void row_f64_if(struct row *row, unsigned column, bool known, double value)
{
    fill(row, column, COLUMN_F64, known ? cell_f64(value) : cell_null());
}

void row_bool_if(struct row *row, unsigned column, bool known, bool value)
{
    fill(row, column, COLUMN_BOOL, known ? cell_bool(value) : cell_null());
}

void row_text_if(struct row *row, unsigned column, bool known, struct str text)
{
    fill(row, column, COLUMN_TEXT, known ? cell_text(text) : cell_null());
}

void row_bytes(struct row *row, unsigned column, double bytes)
{
    bool known = bytes >= 0 && bytes < 9e18;
    row_i64_if(row, column, known, known ? (int64_t)bytes : 0);
}

void row_share(struct row *row, unsigned column, int64_t part, int64_t whole)
{
    row_f64_if(row, column, whole != 0, (double)part / (double)(whole ? whole : 1));
}

void row_copy(struct row *row, unsigned column, const struct table *table, size_t index,
              unsigned first)
{
    unsigned from = column_place(table->desc, first);
    for (unsigned c = from; c < table->desc->column_count; c++) {
        assert(!strcmp(row->desc->columns[column_place(row->desc, column) + c - from].name,
                       table->desc->columns[c].name));
        row_cell(row, column + c - from, table->cells[index * table->desc->column_count + c]);
    }
}

static void leave_null(struct row *row)
{
    for (unsigned c = 0; c < row->desc->column_count; c++)
        if (!(row->filled >> c & 1))
            row->cells[c] = cell_null();
}

bool row_end(struct row *row, struct report *report, struct err *err)
{
    leave_null(row);
    return report_add(report, row->desc, row->cells, err);
}

void row_put(struct row *row, struct cell *cells)
{
    leave_null(row);
    memcpy(cells, row->cells, row->desc->column_count * sizeof *cells);
}
