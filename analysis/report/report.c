// SPDX-License-Identifier: Apache-2.0
// Adding rows to tables, finding cells, and writing tables as JSON.
#include "analysis/report/report.h"

#include <assert.h>

struct table *report_table(struct report *report, const struct table_desc *desc)
{
    for (unsigned i = 0; i < report->table_count; i++)
        if (report->tables[i].desc == desc)
            return &report->tables[i];
    return NULL;
}

static struct table *find_or_add(struct report *report, const struct table_desc *desc,
                                 struct err *err)
{
    struct table *table = report_table(report, desc);
    if (table)
        return table;
    if (report->table_count == REPORT_MAX_TABLES) {
        err_set(err, ERR_INTERNAL, "table %s is one more than the %d a report holds", desc->name,
                REPORT_MAX_TABLES);
        return NULL;
    }
    table = &report->tables[report->table_count++];
    *table = (struct table){.desc = desc};
    return table;
}

static bool grow(struct report *report, struct table *table, size_t rows, struct err *err)
{
    size_t row_bytes = table->desc->column_count * sizeof *table->cells;
    size_t cap = table->row_cap ? table->row_cap + table->row_cap / 2 : 8;
    if (cap < rows)
        cap = rows;
    struct cell *cells =
        arena_grow(report->arena, table->cells, table->row_cap * row_bytes, cap * row_bytes, err);
    if (!cells)
        return false;
    table->cells = cells;
    table->row_cap = cap;
    return true;
}

struct table *report_room(struct report *report, const struct table_desc *desc, size_t rows,
                          struct err *err)
{
    struct table *table = find_or_add(report, desc, err);
    if (!table || (rows > table->row_cap - table->row_count &&
                   !grow(report, table, table->row_count + rows, err)))
        return NULL;
    return table;
}

bool report_add(struct report *report, const struct table_desc *desc, const struct cell *row,
                struct err *err)
{
    struct table *table = find_or_add(report, desc, err);
    if (!table || (table->row_count == table->row_cap && !grow(report, table, 0, err)))
        return false;
    struct cell *to = table->cells + table->row_count * desc->column_count;
    for (unsigned c = 0; c < desc->column_count; c++) {
        to[c] = row[c];
        if (desc->columns[c].type != COLUMN_TEXT || row[c].null)
            continue;
        to[c].s.at = arena_strdup(report->arena, row[c].s, err);
        if (!to[c].s.at)
            return false;
    }
    table->row_count++;
    return true;
}

bool report_append(struct report *report, const struct table *other, struct err *err)
{
    struct table *table = find_or_add(report, other->desc, err);
    if (!table)
        return false;
    if (table->row_count == 0) {
        *table = *other;
        return true;
    }
    size_t width = other->desc->column_count, rows = table->row_count + other->row_count;
    if (rows > table->row_cap && !grow(report, table, rows, err))
        return false;
    memcpy(table->cells + table->row_count * width, other->cells,
           other->row_count * width * sizeof *other->cells);
    table->row_count = rows;
    return true;
}

bool report_join(struct report *report, struct report *other, struct err *err)
{
    arena_take(report->arena, other->arena);
    for (unsigned i = 0; i < other->table_count; i++)
        if (!report_append(report, &other->tables[i], err))
            return false;
    other->table_count = 0;
    return true;
}

bool report_borrow(struct report *report, const struct table *table, struct err *err)
{
    struct table *own = find_or_add(report, table->desc, err);
    if (!own)
        return false;
    *own = *table;
    own->row_cap = own->row_count; // so that more rows go elsewhere
    return true;
}

const struct table *report_find(const struct report *report, const char *name)
{
    for (unsigned i = 0; i < report->table_count; i++)
        if (strcmp(report->tables[i].desc->name, name) == 0)
            return &report->tables[i];
    return NULL;
}

int table_column(const struct table_desc *desc, struct str name)
{
    for (unsigned c = 0; c < desc->column_count; c++)
        if (str_equal(str_of(desc->columns[c].name), name))
            return (int)c;
    return -1;
}

const struct cell *table_cell(const struct table *table, size_t row, unsigned column)
{
    assert(row < table->row_count);
    return &table->cells[row * table->desc->column_count + column_place(table->desc, column)];
}

static const struct cell *cell_of(const struct table *table, size_t row, unsigned column,
                                  enum column_type type)
{
    assert(table->desc->columns[column_place(table->desc, column)].type == type);
    (void)type;
    return table_cell(table, row, column);
}

int64_t table_i64(const struct table *table, size_t row, unsigned column, int64_t otherwise)
{
    bool flag = table->desc->columns[column_place(table->desc, column)].type == COLUMN_BOOL;
    const struct cell *cell = cell_of(table, row, column, flag ? COLUMN_BOOL : COLUMN_I64);
    return cell->null ? otherwise : cell->i;
}

double table_f64(const struct table *table, size_t row, unsigned column, double otherwise)
{
    const struct cell *cell = cell_of(table, row, column, COLUMN_F64);
    return cell->null ? otherwise : cell->f;
}

struct str table_text(const struct table *table, size_t row, unsigned column)
{
    const struct cell *cell = cell_of(table, row, column, COLUMN_TEXT);
    return cell->null ? STR("") : cell->s;
}

double table_number(const struct table *table, size_t row, unsigned column, double otherwise)
{
    const struct cell *cell = table_cell(table, row, column);
    bool real = table->desc->columns[column_place(table->desc, column)].type == COLUMN_F64;
    return cell->null ? otherwise : real ? cell->f : (double)cell->i;
}

bool table_is(const struct table *table, size_t row, unsigned column, struct str word)
{
    return !table_cell(table, row, column)->null && str_equal(table_text(table, row, column), word);
}

size_t table_row_bytes(const struct table *table, size_t row)
{
    const struct table_desc *desc = table->desc;
    const struct cell *cells = table->cells + row * desc->column_count;
    size_t bytes = desc->column_count * sizeof cells->i;
    for (unsigned c = 0; c < desc->column_count; c++)
        bytes += desc->columns[c].type == COLUMN_TEXT && !cells[c].null ? cells[c].s.len : 0;
    return bytes;
}

uint64_t report_bytes(const struct report *report)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < report->table_count; i++)
        for (size_t row = 0; row < report->tables[i].row_count; row++)
            bytes += table_row_bytes(&report->tables[i], row);
    return bytes;
}

static void write_cell(enum column_type type, const struct cell *cell, struct buf *out)
{
    if (cell->null) {
        buf_puts(out, "null");
        return;
    }
    switch (type) {
    case COLUMN_I64: buf_i64(out, cell->i); break;
    case COLUMN_F64: buf_f64(out, cell->f); break;
    case COLUMN_TEXT: buf_json(out, cell->s); break;
    case COLUMN_BOOL: buf_puts(out, cell->i ? "true" : "false"); break;
    }
}

void report_row_json(const struct table *table, size_t row, struct buf *out)
{
    const struct table_desc *desc = table->desc;
    const struct cell *cells = table->cells + row * desc->column_count;
    for (unsigned c = 0; c < desc->column_count; c++) {
        buf_puts(out, c ? ",\"" : "{\"");
        buf_puts(out, desc->columns[c].name); // snake_case
        buf_puts(out, "\":");
        write_cell(desc->columns[c].type, &cells[c], out);
    }
    buf_putc(out, '}');
}

void report_json(const struct report *report, struct buf *out)
{
    buf_putc(out, '{');
    for (unsigned i = 0; i < report->table_count; i++) {
        const struct table *table = &report->tables[i];
        if (i)
            buf_putc(out, ',');
        buf_json(out, str_of(table->desc->name));
        buf_puts(out, ":[");
        for (size_t row = 0; row < table->row_count; row++) {
            if (row)
                buf_putc(out, ',');
            report_row_json(table, row, out);
        }
        buf_putc(out, ']');
    }
    buf_putc(out, '}');
}

size_t table_place(const struct table_desc *const *known, const struct table_desc *desc)
{
    size_t place = 0;
    while (known[place] && known[place] != desc)
        place++;
    return place;
}
