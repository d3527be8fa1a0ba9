// SPDX-License-Identifier: Apache-2.0
// A report is data: typed tables, each described once. The store writes them, REST lists them, the
// dashboard renders them and the command line prints them, all from the same descriptors.
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

#include <assert.h>

enum column_type { COLUMN_I64, COLUMN_F64, COLUMN_TEXT, COLUMN_BOOL };

struct column {
    const char *name; // snake_case with its unit: total_ns, busy_share
    enum column_type type;
    const char *unit; // "ns", "bytes", "GB/s", "share", "percent", "count" or ""
    const char *help; // the definition, one sentence, shown beside the number
};

struct table_desc {
    const char *name; // as in REST and the store: "kernels"
    const char *help;
    const struct column *columns;
    unsigned column_count;
    unsigned number; // no other table has it; 0 for tables without an enum of columns
};

#define TABLE_MAX_COLUMNS 56

// The place of a column in rows. Enums of columns hold the table's number above 8 bits of place, so
// that using a column of another table is caught (asserted).
static inline unsigned column_place(const struct table_desc *desc, unsigned column)
{
    assert(column >> 8 == desc->number && (column & 0xff) < desc->column_count);
    (void)desc;
    return column & 0xff;
}

// The first column of a table, for code that serves several tables.
static inline unsigned table_first(const struct table_desc *desc)
{
    return desc->number << 8;
}

// One value, possibly null. The column decides which member is valid.
struct cell {
    bool null;
    union {
        int64_t i; // COLUMN_I64, COLUMN_BOOL
        double f;  // COLUMN_F64
        struct str s;
    };
};

static inline struct cell cell_i64(int64_t value)
{
    return (struct cell){.i = value};
}

static inline struct cell cell_f64(double value)
{
    return (struct cell){.f = value};
}

static inline struct cell cell_bool(bool value)
{
    return (struct cell){.i = value};
}

static inline struct cell cell_text(struct str value)
{
    return (struct cell){.s = value};
}

static inline struct cell cell_null(void)
{
    return (struct cell){.null = true};
}

// Rows of one table, row after row: cells[row * desc->column_count + column].
struct table {
    const struct table_desc *desc;
    struct cell *cells;
    size_t row_count, row_cap;
};

#define REPORT_MAX_TABLES 64

// All tables of one trace, or of one run. Texts and cells live in the arena.
struct report {
    struct arena *arena;
    struct table tables[REPORT_MAX_TABLES];
    unsigned table_count;
};

// Appends a row of desc->column_count cells; texts are copied. ERR_LIMIT when memory runs out.
MUST_CHECK bool report_add(struct report *report, const struct table_desc *desc,
                           const struct cell *row, struct err *err);

// The table, with room for that many more rows; NULL on failure.
struct table *report_room(struct report *report, const struct table_desc *desc, size_t rows,
                          struct err *err);

// Appends all rows of another report and takes over its arena; the other report is empty
// afterwards. Both arenas must share a budget.
MUST_CHECK bool report_join(struct report *report, struct report *other, struct err *err);

// Adds rows whose cells and texts are already in the report's arena.
MUST_CHECK bool report_append(struct report *report, const struct table *table, struct err *err);

// Adds the rows of a table without copying them: the table must outlive the report.
MUST_CHECK bool report_borrow(struct report *report, const struct table *table, struct err *err);

// The table of that name; NULL if there is none, as may be the case for an empty result.
const struct table *report_find(const struct report *report, const char *name);
// The same by its description, to be changed.
struct table *report_table(struct report *report, const struct table_desc *desc);

// The cell of a row. The column must be one of the table's enum (asserted).
const struct cell *table_cell(const struct table *table, size_t row, unsigned column);

// Its value, by the column's type (asserted); `otherwise` or "" if it is null.
int64_t table_i64(const struct table *table, size_t row, unsigned column, int64_t otherwise);
double table_f64(const struct table *table, size_t row, unsigned column, double otherwise);
struct str table_text(const struct table *table, size_t row, unsigned column);

// The same for columns that hold numbers of either type.
double table_number(const struct table *table, size_t row, unsigned column, double otherwise);

// Whether it is that word; false if it is null.
bool table_is(const struct table *table, size_t row, unsigned column, struct str word);

// The index of a column whose name comes from outside, or -1.
int table_column(const struct table_desc *desc, struct str name);

// The size of rows: eight bytes a cell, plus texts.
size_t table_row_bytes(const struct table *table, size_t row);
uint64_t report_bytes(const struct report *report);

// {"columns": ...} is left to callers; this writes one row as a JSON object.
void report_row_json(const struct table *table, size_t row, struct buf *out);

// All tables as one JSON object: {"kernels": [{...}, ...], ...}, each row one object.
void report_json(const struct report *report, struct buf *out);

// Converts all tables to a compact binary form for the store, and back. Loading checks every length
// and finds tables by name in the list `known`; it skips others, so that an older program can read
// a newer report. ERR_FORMAT if it is damaged or of an older version.
MUST_CHECK bool report_save(const struct report *report, struct buf *out, struct err *err);
MUST_CHECK bool report_load(struct report *report, struct str bytes,
                            const struct table_desc *const *known, struct err *err);

// The same for a report of one table with at most that many rows; ERR_FORMAT for any other.
MUST_CHECK bool report_load_part(struct report *report, struct str bytes,
                                 const struct table_desc *desc, uint64_t most_rows,
                                 struct err *err);

// The index of a table in a list, or that of the NULL at its end.
size_t table_place(const struct table_desc *const *known, const struct table_desc *desc);

#endif
