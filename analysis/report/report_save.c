// SPDX-License-Identifier: Apache-2.0
// Writes the stored form of a report column by column, so that it compresses well: numbers as their
// difference from the least or from the previous one, in as few bytes as hold them all.
#include "analysis/report/report_form.h"

static void put_number(struct buf *out, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    buf_add(out, bytes, size);
}

static void put_text(struct buf *out, struct str text)
{
    put_number(out, text.len, 4);
    buf_add_str(out, text);
}

// Starts a stretch that is preceded by its length; end_length fills that in.
static size_t begin_length(struct buf *out)
{
    put_number(out, 0, 8);
    return out->len;
}

static void end_length(struct buf *out, size_t begin)
{
    if (out->failed)
        return;
    uint64_t len = out->len - begin;
    for (int i = 0; i < 8; i++)
        out->at[begin - 8 + (size_t)i] = (char)(len >> (8 * i));
}

// The smallest number of bytes that holds values up to largest.
static size_t width_of(uint64_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : largest <= UINT32_MAX ? 4 : 8;
}

// Values, or their differences, are written relative to the least of them.
struct range {
    uint64_t least;
    size_t width;
};

static struct range range_of(const struct column_values *values, bool delta)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = delta; i < values->count; i++) {
        uint64_t value = values->at[i] - (delta ? values->at[i - 1] : 0);
        least = (int64_t)value < least ? (int64_t)value : least;
        most = (int64_t)value > most ? (int64_t)value : most;
    }
    bool none = values->count <= delta;
    return (struct range){none ? 0 : (uint64_t)least,
                          none ? 1 : width_of((uint64_t)most - (uint64_t)least)};
}

// A byte of form, the first value if these are differences, the least, then all.
static void put_values(struct buf *out, const struct column_values *values)
{
    struct range plain = range_of(values, false), differences = range_of(values, true);
    bool delta = values->count > 1 && differences.width < plain.width;
    struct range range = delta ? differences : plain;
    buf_putc(out, (char)(range.width | (delta ? REPORT_DELTA : 0)));
    if (delta)
        put_number(out, values->at[0], 8);
    put_number(out, range.least, 8);
    for (size_t i = delta; i < values->count; i++)
        put_number(out, values->at[i] - (delta ? values->at[i - 1] : 0) - range.least, range.width);
}

static uint64_t bits_of(enum column_type type, const struct cell *cell)
{
    uint64_t bits = (uint64_t)cell->i;
    if (type == COLUMN_TEXT)
        return cell->s.len;
    if (type == COLUMN_F64)
        memcpy(&bits, &cell->f, sizeof bits);
    return bits;
}

// One column of a table, cell by cell.
struct walk {
    const struct cell *cell;
    size_t stride, rows;
    enum column_type type;
};

static const struct cell *cell_at(const struct walk *walk, size_t row)
{
    return walk->cell + row * walk->stride;
}

// A bit per row, set if it is not null; nothing if no row is.
static void put_known(struct buf *out, const struct walk *walk, size_t count)
{
    buf_putc(out, count == walk->rows);
    if (count == walk->rows)
        return;
    unsigned char byte = 0;
    for (size_t row = 0; row < walk->rows; row++) {
        byte |= (unsigned char)(!cell_at(walk, row)->null << (row % 8));
        if (row % 8 == 7 || row + 1 == walk->rows) {
            buf_putc(out, (char)byte);
            byte = 0;
        }
    }
}

static bool put_column(struct buf *out, const struct walk *walk, struct column_values *values,
                       struct err *err)
{
    values->count = 0;
    for (size_t row = 0; row < walk->rows; row++)
        if (!cell_at(walk, row)->null)
            values->at[values->count++] = bits_of(walk->type, cell_at(walk, row));
    size_t begin = begin_length(out);
    put_known(out, walk, values->count);
    if (values->count)
        put_values(out, values);
    for (size_t row = 0; walk->type == COLUMN_TEXT && row < walk->rows; row++)
        if (!cell_at(walk, row)->null)
            buf_add_str(out, cell_at(walk, row)->s);
    end_length(out, begin);
    return buf_ok(out, err);
}

static bool put_table(struct buf *out, const struct table *table, struct column_values *values,
                      struct err *err)
{
    const struct table_desc *desc = table->desc;
    put_text(out, str_of(desc->name));
    size_t begin = begin_length(out);
    put_number(out, desc->column_count, 4);
    put_number(out, table->row_count, 8);
    for (unsigned c = 0; c < desc->column_count; c++) {
        struct walk walk = {table->cells + c, desc->column_count, table->row_count,
                            desc->columns[c].type};
        buf_putc(out, (char)walk.type);
        put_text(out, str_of(desc->columns[c].name));
        if (!put_column(out, &walk, values, err))
            return false;
    }
    end_length(out, begin);
    return buf_ok(out, err);
}

bool report_save(const struct report *report, struct buf *out, struct err *err)
{
    struct arena arena;
    size_t rows = 1;
    for (unsigned i = 0; i < report->table_count; i++)
        rows = report->tables[i].row_count > rows ? report->tables[i].row_count : rows;
    arena_init(&arena, NULL);
    struct column_values values = {.at = arena_room(&arena, rows, sizeof *values.at, err)};
    bool ok = values.at != NULL;
    buf_add(out, REPORT_MAGIC, REPORT_MAGIC_LEN);
    put_number(out, report->table_count, 4);
    for (unsigned i = 0; ok && i < report->table_count; i++)
        ok = put_table(out, &report->tables[i], &values, err);
    arena_free(&arena);
    return ok && buf_ok(out, err);
}
