// SPDX-License-Identifier: Apache-2.0
// Reads the stored form of a report; nothing in it is trusted.
#include "analysis/report/report_form.h"

#include <stddef.h>

// The rest of the input. After a failure it stays failed and yields zeros.
struct cursor {
    struct str left;
    uint64_t pos;
    bool failed;
};

static struct str take(struct cursor *in, uint64_t len)
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

// The next `len` bytes as a separate input.
static struct cursor take_part(struct cursor *in)
{
    uint64_t len = take_number(in, 8);
    struct cursor part = {.pos = in->pos};
    part.left = take(in, len);
    part.failed = in->failed;
    return part;
}

// A failure in a part, or bytes left in it, fails the whole at the same byte.
static void end_part(struct cursor *in, const struct cursor *part)
{
    if (in->failed || !(part->failed || part->left.len))
        return;
    in->failed = true;
    in->pos = part->pos;
}

// One column being loaded into a table.
struct filling {
    struct cell *cells; // of the first row
    size_t stride, rows;
    enum column_type type;
    struct str known; // a bit per row; NULL: all are
    uint64_t *values; // room for all rows
    size_t count;
    struct arena *arena;
};

static bool is_known(const struct filling *filling, size_t row)
{
    return !filling->known.at || (unsigned char)filling->known.at[row / 8] >> (row % 8) & 1;
}

static void take_known(struct cursor *in, struct filling *filling)
{
    uint64_t all = take_number(in, 1);
    filling->count = filling->rows;
    if (all > 1)
        in->failed = true;
    if (all)
        return;
    filling->known = take(in, (filling->rows + 7) / 8);
    filling->count = 0;
    for (size_t row = 0; !in->failed && row < filling->rows; row++)
        filling->count += is_known(filling, row);
}

static uint64_t number_at(const unsigned char *at, size_t width)
{
    uint64_t value = at[0];
    if (width > 1)
        value |= (uint64_t)at[1] << 8;
    if (width > 2)
        value |= (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
    if (width > 4)
        value |= (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
                 (uint64_t)at[7] << 56;
    return value;
}

// A loop per width lets the compiler use a single load for each value.
static void widen(const char *from, size_t width, uint64_t *values, size_t count)
{
    const unsigned char *at = (const unsigned char *)from;
    if (width == 1)
        for (size_t i = 0; i < count; i++)
            values[i] = number_at(at + i, 1);
    else if (width == 2)
        for (size_t i = 0; i < count; i++)
            values[i] = number_at(at + 2 * i, 2);
    else if (width == 4)
        for (size_t i = 0; i < count; i++)
            values[i] = number_at(at + 4 * i, 4);
    else
        for (size_t i = 0; i < count; i++)
            values[i] = number_at(at + 8 * i, 8);
}

static void take_values(struct cursor *in, struct filling *filling)
{
    uint64_t form = take_number(in, 1);
    size_t width = form & REPORT_WIDTH, count = filling->count;
    bool delta = form & REPORT_DELTA;
    if ((width != 1 && width != 2 && width != 4 && width != 8) || form > (REPORT_DELTA | 8))
        in->failed = true;
    uint64_t value = delta ? take_number(in, 8) : 0, least = take_number(in, 8);
    size_t stored = count - delta;
    struct str bytes = take(in, in->failed ? 0 : stored * width);
    if (in->failed)
        return;
    widen(bytes.at, width, filling->values + delta, stored);
    filling->values[0] = delta ? value : filling->values[0] + least;
    for (size_t i = 1; i < count; i++) {
        value += filling->values[i] + least;
        filling->values[i] = delta ? value : filling->values[i] + least;
    }
}

// The texts of a column are copied into one block, each with a NUL after it.
static bool place_texts(struct cursor *in, const struct filling *filling, struct err *err)
{
    char *to = arena_room(filling->arena, in->left.len + filling->count, 1, err);
    if (!to)
        return false;
    size_t at = 0;
    for (size_t row = 0; row < filling->rows; row++) {
        struct cell *cell = filling->cells + row * filling->stride;
        *cell = cell_null();
        if (!is_known(filling, row))
            continue;
        struct str text = take(in, filling->values[at++]);
        if (in->failed)
            return true;
        memcpy(to, text.at, text.len);
        to[text.len] = '\0';
        *cell = cell_text((struct str){to, text.len});
        to += text.len + 1;
    }
    return true;
}

// The bits of a floating-point number are stored like those of an integer.
_Static_assert(sizeof(double) == sizeof(int64_t) &&
                   offsetof(struct cell, f) == offsetof(struct cell, i),
               "both take the same place");

static void place_numbers(const struct filling *filling)
{
    const uint64_t *value = filling->values;
    struct cell *cell = filling->cells;
    if (!filling->known.at)
        for (size_t row = 0; row < filling->rows; row++, cell += filling->stride)
            *cell = cell_i64((int64_t)value[row]);
    else
        for (size_t row = 0; row < filling->rows; row++, cell += filling->stride)
            *cell = is_known(filling, row) ? cell_i64((int64_t)*value++) : cell_null();
}

static void place_nulls(const struct filling *filling)
{
    for (size_t row = 0; row < filling->rows; row++)
        filling->cells[row * filling->stride] = cell_null();
}

static bool take_cells(struct cursor *in, struct filling *filling, struct err *err)
{
    take_known(in, filling);
    if (in->failed || filling->count == 0) {
        place_nulls(filling);
        return true;
    }
    take_values(in, filling);
    if (in->failed)
        return true;
    if (filling->type == COLUMN_TEXT)
        return place_texts(in, filling, err);
    place_numbers(filling);
    return true;
}

static int find_target(const struct table_desc *desc, uint64_t type, struct str name)
{
    int column = table_column(desc, name);
    return column >= 0 && desc->columns[column].type == type ? column : -1;
}

// A table being loaded.
struct loading {
    struct table table;
    bool stored[TABLE_MAX_COLUMNS];
    uint64_t *values; // room for all rows
    struct arena *arena;
};

static struct filling filling_of(const struct loading *loading, unsigned column)
{
    const struct table_desc *desc = loading->table.desc;
    return (struct filling){.cells = loading->table.cells + column,
                            .stride = desc->column_count,
                            .rows = loading->table.row_count,
                            .type = desc->columns[column].type,
                            .values = loading->values,
                            .arena = loading->arena};
}

static bool take_column(struct cursor *in, struct loading *loading, struct err *err)
{
    uint64_t type = take_number(in, 1);
    int target = find_target(loading->table.desc, type, take_text(in));
    struct cursor part = take_part(in);
    if (in->failed || target < 0)
        return true;
    struct filling filling = filling_of(loading, (unsigned)target);
    bool ok = take_cells(&part, &filling, err);
    end_part(in, &part);
    loading->stored[target] = true;
    return ok;
}

// Rows of a table in parts are loaded in place, so that none is in memory twice.
static bool make_cells(struct loading *loading, struct table *table, struct err *err)
{
    size_t rows = loading->table.row_count;
    loading->values = arena_room(loading->arena, rows, sizeof *loading->values, err);
    loading->table.cells = table->cells + table->row_count * table->desc->column_count;
    return loading->values;
}

static bool take_table(struct cursor *in, const struct table_desc *desc, struct report *report,
                       struct err *err)
{
    struct loading loading = {.table = {.desc = desc}, .arena = report->arena};
    uint64_t columns = take_number(in, 4), rows = take_number(in, 8);
    // Each row takes at least a bit per column.
    if (columns == 0 || columns > TABLE_MAX_COLUMNS || rows / 8 > in->left.len)
        in->failed = true;
    if (in->failed || rows == 0)
        return true;
    loading.table.row_count = rows;
    struct table *table = report_room(report, desc, rows, err);
    if (!table || !make_cells(&loading, table, err))
        return false;
    for (uint64_t c = 0; c < columns && !in->failed; c++)
        if (!take_column(in, &loading, err))
            return false;
    for (unsigned c = 0; c < desc->column_count; c++)
        if (!loading.stored[c]) {
            struct filling filling = filling_of(&loading, c);
            place_nulls(&filling);
        }
    table->row_count += in->failed ? 0 : rows;
    return true;
}

static const struct table_desc *find_known(const struct table_desc *const *known, struct str name)
{
    for (; *known; known++)
        if (str_equal(str_of((*known)->name), name))
            return *known;
    return NULL;
}

static bool take_next(struct cursor *in, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    const struct table_desc *desc = find_known(known, take_text(in));
    struct cursor part = take_part(in);
    if (in->failed || !desc)
        return true;
    bool ok = take_table(&part, desc, report, err);
    end_part(in, &part);
    return ok;
}

static bool check_magic(struct cursor *in, struct err *err)
{
    struct str magic = take(in, REPORT_MAGIC_LEN);
    if (in->failed || memcmp(magic.at, REPORT_MAGIC, REPORT_MAGIC_LEN - 1) != 0)
        return err_set_at(err, ERR_FORMAT, 0, "stored result: found no report at byte 0");
    unsigned version = (unsigned char)magic.at[REPORT_MAGIC_LEN - 1];
    if (version != (unsigned char)REPORT_MAGIC[REPORT_MAGIC_LEN - 1])
        return err_set_at(err, ERR_FORMAT, REPORT_MAGIC_LEN - 1,
                          "stored result: found version %u, expected %u; it will be recomputed",
                          version, (unsigned char)REPORT_MAGIC[REPORT_MAGIC_LEN - 1]);
    return true;
}

// Checks the head alone: rows without cells take no bytes, so a short input may claim any number.
static bool check_part(struct str bytes, const struct table_desc *desc, uint64_t most_rows,
                       struct err *err)
{
    struct cursor in = {.left = bytes};
    if (!check_magic(&in, err))
        return false;
    bool alone = take_number(&in, 4) == 1 && str_equal(take_text(&in), str_of(desc->name));
    take_number(&in, 8); // bytes of the table
    take_number(&in, 4); // columns
    uint64_t rows = take_number(&in, 8);
    return (alone && !in.failed && rows <= most_rows) ||
           err_set_at(err, ERR_FORMAT, in.pos, "found no part of table %s with at most %llu rows",
                      desc->name, (unsigned long long)most_rows);
}

bool report_load_part(struct report *report, struct str bytes, const struct table_desc *desc,
                      uint64_t most_rows, struct err *err)
{
    const struct table_desc *const known[] = {desc, NULL};
    return check_part(bytes, desc, most_rows, err) && report_load(report, bytes, known, err);
}

bool report_load(struct report *report, struct str bytes, const struct table_desc *const *known,
                 struct err *err)
{
    struct cursor in = {.left = bytes};
    if (!check_magic(&in, err))
        return false;
    uint64_t tables = take_number(&in, 4);
    for (uint64_t i = 0; i < tables && !in.failed; i++)
        if (!take_next(&in, known, report, err))
            return false;
    if (in.failed || in.left.len)
        return err_set_at(err, ERR_FORMAT, in.pos, "stored result: damaged at byte %llu",
                          (unsigned long long)in.pos);
    return true;
}
