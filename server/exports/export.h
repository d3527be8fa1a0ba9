// SPDX-License-Identifier: Apache-2.0
// The formats in which tables are exported. To add one: a file export_x.c with a
// `const struct table_export export_x`, and a line in exports.c.
#ifndef SERVER_EXPORT_H
#define SERVER_EXPORT_H

#include "ingest/base/buf.h"

#include "analysis/report/report.h"

// The columns to show, in order.
struct export_view {
    const struct table_desc *desc;
    const unsigned *columns; // indexes into desc
    unsigned column_count;   // at least 1
    void *state;             // of the format, between open and close
};

struct export_end {
    uint64_t rows, total; // written, and matching
    bool total_is_least;  // not all that match were counted
    const char *next;     // cursor of the next page; NULL: this is the last
};

// Functions append to out, which may have been sent and emptied between calls.
struct table_export {
    const char *word;   // of the parameter `format`
    const char *accept; // media type in Accept that selects it; NULL: only the parameter does
    const char *type;   // Content-Type
    const char *suffix; // of the file name of a download; NULL: shown inline
    bool paged;         // without a limit, one page is sent instead of everything

    // Which tables have it; NULL: all.
    bool (*suits)(const struct table_desc *desc);

    // For formats that keep something between calls: sets view->state. NULL: nothing. Pair with
    // close, also after a failure that set it.
    MUST_CHECK bool (*open)(struct export_view *view, struct err *err);
    void (*close)(void *state);

    // Before the rows; NULL: nothing.
    void (*head)(const struct export_view *view, struct buf *out);

    // Either rows, in batches, after `before` others;
    void (*rows)(const struct export_view *view, const struct table *rows, uint64_t before,
                 struct buf *out);

    // or one column after another: first the start of a column, by its position in the view, then
    // its values in batches, from a table that has the column at `index`.
    void (*column)(const struct export_view *view, unsigned place, struct buf *out);
    void (*values)(const struct table *rows, unsigned index, uint64_t before, struct buf *out);

    // After the rows; NULL: nothing.
    void (*tail)(const struct export_view *view, const struct export_end *end, struct buf *out);

    // What follows that, in pieces until *more is false; NULL: nothing.
    MUST_CHECK bool (*rest)(const struct export_view *view, struct buf *out, bool *more,
                            struct err *err);
};

extern const struct table_export export_json, export_columns, export_csv, export_ndjson,
    export_arrow, export_parquet, export_xlsx, export_speedscope, export_pprof;

// In the order in which messages list them, the default first; ends with NULL.
extern const struct table_export *const exports[];

// Differs between formats; used in the ETag.
uint64_t export_hash(const struct table_export *export);

// ERR_USAGE lists the known formats.
MUST_CHECK const struct table_export *export_find(struct str word, struct err *err);

// Writes a whole table, which is in memory.
MUST_CHECK bool export_table(const struct table_export *export, struct export_view *view,
                             const struct table *rows, const struct export_end *end,
                             struct buf *out, struct err *err);

// Its pieces, for rows that come in parts.
MUST_CHECK bool export_open(const struct table_export *export, struct export_view *view,
                            struct err *err);
void export_close(const struct table_export *export, struct export_view *view);
void export_head(const struct table_export *export, const struct export_view *view,
                 struct buf *out);
void export_rows(const struct table_export *export, const struct export_view *view,
                 const struct table *rows, struct buf *out);
void export_tail(const struct table_export *export, const struct export_view *view,
                 const struct export_end *end, struct buf *out);

// "total": and what follows from it, as members of an object.
void export_json_total(const struct export_end *end, struct buf *out);

// A cell as JSON.
void export_json_cell(struct cell cell, enum column_type type, struct buf *out);

// A row as an object.
void export_json_row(const struct export_view *view, const struct table *rows, size_t row,
                     struct buf *out);

// A cell as CSV: text quoted so that no spreadsheet takes it for a formula, plain numbers, nothing
// for null.
void export_csv_cell(struct cell cell, enum column_type type, struct buf *out);

// A view of all columns; room for their places.
static inline struct export_view export_view_of(const struct table_desc *desc, unsigned *columns)
{
    for (unsigned i = 0; i < desc->column_count; i++)
        columns[i] = i;
    return (struct export_view){desc, columns, desc->column_count, NULL};
}

static inline struct cell export_cell(const struct table *rows, size_t row, unsigned column)
{
    return rows->cells[row * rows->desc->column_count + column];
}

#endif
