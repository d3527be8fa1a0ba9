// SPDX-License-Identifier: Apache-2.0
// The binary form of a report: little-endian, each table with its column names, so that a reader
// with other columns still finds those it knows.
#include "analysis/report.h"

// "report" and a version; then per table: name, columns (type and name), rows.
#define MAGIC        "SSREP\0\0\1"
#define MAGIC_LEN    8
#define ROW_MIN_SIZE 1 // a row has at least one byte per column

static void put_u32(struct buf *out, uint32_t value)
{
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    buf_add(out, bytes, sizeof bytes);
}

static void put_u64(struct buf *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out, (uint32_t)(value >> 32));
}

static void put_text(struct buf *out, struct str text)
{
    put_u32(out, (uint32_t)text.len);
    buf_add_str(out, text);
}

// One byte says whether a value follows.
static void put_cell(struct buf *out, enum column_type type, const struct cell *cell)
{
    buf_putc(out, cell->null ? 0 : 1);
    if (cell->null)
        return;
    uint64_t bits;
    switch (type) {
    case COLUMN_TEXT: put_text(out, cell->s); break;
    case COLUMN_F64:
        memcpy(&bits, &cell->f, sizeof bits);
        put_u64(out, bits);
        break;
    case COLUMN_I64:
    case COLUMN_BOOL: put_u64(out, (uint64_t)cell->i); break;
    }
}

static void put_table(struct buf *out, const struct table *table)
{
    const struct table_desc *desc = table->desc;
    put_text(out, str_of(desc->name));
    put_u32(out, desc->column_count);
    for (unsigned c = 0; c < desc->column_count; c++) {
        buf_putc(out, (char)desc->columns[c].type);
        put_text(out, str_of(desc->columns[c].name));
    }
    put_u64(out, table->row_count);
    for (size_t i = 0; i < table->row_count * desc->column_count; i++)
        put_cell(out, desc->columns[i % desc->column_count].type, &table->cells[i]);
}

bool report_save(const struct report *report, struct buf *out, struct err *err)
{
    buf_add(out, MAGIC, MAGIC_LEN);
    put_u32(out, report->table_count);
    for (unsigned i = 0; i < report->table_count; i++)
        put_table(out, &report->tables[i]);
    return buf_ok(out, err);
}

// What is left to read. After a failure it stays failed and yields zeros.
struct cursor {
    struct str left;
    uint64_t pos;
    bool failed;
};

static struct str take(struct cursor *in, size_t len)
{
    if (in->failed || len > in->left.len) {
        in->failed = true;
        return (struct str){NULL, 0};
    }
    struct str taken = {in->left.at, len};
    in->left.at += len;
    in->left.len -= len;
    in->pos += len;
    return taken;
}

static uint64_t take_number(struct cursor *in, size_t size)
{
    struct str bytes = take(in, size);
    uint64_t value = 0;
    for (size_t i = bytes.len; i-- > 0;)
        value = value << 8 | (unsigned char)bytes.at[i];
    return value;
}

static struct str take_text(struct cursor *in)
{
    return take(in, take_number(in, 4));
}

static struct cell take_cell(struct cursor *in, enum column_type type)
{
    struct cell cell = {.null = take_number(in, 1) != 1};
    if (cell.null)
        return cell;
    if (type == COLUMN_TEXT) {
        cell.s = take_text(in);
        return cell;
    }
    uint64_t bits = take_number(in, 8);
    if (type == COLUMN_F64)
        memcpy(&cell.f, &bits, sizeof bits);
    else
        memcpy(&cell.i, &bits, sizeof bits);
    return cell;
}

// Columns of a stored table: their types there, and where each goes here (-1: nowhere).
struct layout {
    const struct table_desc *desc; // NULL: a table nobody knows
    unsigned count;
    enum column_type types[TABLE_MAX_COLUMNS];
    int to[TABLE_MAX_COLUMNS];
};

static const struct table_desc *find_known(const struct table_desc *const *known, struct str name)
{
    for (; *known; known++)
        if (str_equal(str_of((*known)->name), name))
            return *known;
    return NULL;
}

static int find_target(const struct table_desc *desc, enum column_type type, struct str name)
{
    if (!desc)
        return -1;
    for (unsigned c = 0; c < desc->column_count; c++)
        if (str_equal(str_of(desc->columns[c].name), name))
            return desc->columns[c].type == type ? (int)c : -1;
    return -1;
}

static void take_layout(struct cursor *in, const struct table_desc *const *known,
                        struct layout *layout)
{
    layout->desc = find_known(known, take_text(in));
    layout->count = (unsigned)take_number(in, 4);
    if (layout->count == 0 || layout->count > TABLE_MAX_COLUMNS) {
        in->failed = true;
        return;
    }
    for (unsigned c = 0; c < layout->count; c++) {
        uint64_t type = take_number(in, 1);
        if (type > COLUMN_BOOL)
            in->failed = true;
        layout->types[c] = (enum column_type)type;
        layout->to[c] = find_target(layout->desc, layout->types[c], take_text(in));
    }
}

static bool take_rows(struct cursor *in, const struct layout *layout, struct report *report,
                      struct err *err)
{
    uint64_t rows = take_number(in, 8);
    if (rows > in->left.len / ROW_MIN_SIZE)
        in->failed = true;
    for (uint64_t r = 0; r < rows && !in->failed; r++) {
        struct cell row[TABLE_MAX_COLUMNS];
        for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++)
            row[c] = cell_null();
        for (unsigned c = 0; c < layout->count; c++) {
            struct cell cell = take_cell(in, layout->types[c]);
            if (layout->to[c] >= 0)
                row[layout->to[c]] = cell;
        }
        if (!in->failed && layout->desc && !report_add(report, layout->desc, row, err))
            return false;
    }
    return true;
}

bool report_load(struct report *report, struct str bytes, const struct table_desc *const *known,
                 struct err *err)
{
    struct cursor in = {.left = bytes};
    struct str magic = take(&in, MAGIC_LEN);
    if (in.failed || memcmp(magic.at, MAGIC, MAGIC_LEN) != 0)
        return err_set_at(err, ERR_FORMAT, 0, "stored result: found no report at byte 0");
    uint64_t tables = take_number(&in, 4);
    for (uint64_t i = 0; i < tables && !in.failed; i++) {
        struct layout layout = {0};
        take_layout(&in, known, &layout);
        if (!in.failed && !take_rows(&in, &layout, report, err))
            return false;
    }
    if (in.failed || in.left.len)
        return err_set_at(err, ERR_FORMAT, in.pos, "stored result: damaged at byte %llu",
                          (unsigned long long)in.pos);
    return true;
}
