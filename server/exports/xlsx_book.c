// SPDX-License-Identifier: Apache-2.0
#include "server/exports/xlsx_book.h"

#include "ingest/base/scratch.h"
#include "ingest/base/visible.h"
#include "server/exports/xlsx_close.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXT = 32767, PIECE = 1 << 14, MOST_FORMATS = 48, MOST_SHEETS = 512 };

#define MOST_ROWS ((uint64_t)LXW_ROW_MAX - 2) // below the head, above the note on what is left out

struct number_format {
    char code[48];
    lxw_format *format;
};

struct xlsx_book {
    lxw_workbook *at; // NULL once it is written
    lxw_format *head;
    struct number_format formats[MOST_FORMATS];
    size_t format_count;
    lxw_worksheet *sheet; // the last one
    const struct table_desc *descs[MOST_SHEETS];
    size_t sheet_count;
    uint64_t rows;                       // of the last sheet
    unsigned columns[TABLE_MAX_COLUMNS]; // of the last sheet, indexes into its table's
    unsigned column_count;
    struct buf text;
    int fd;
    off_t read_to;
    bool failed;
};

struct xlsx_book *xlsx_book_open(struct err *err)
{
    char path[64];
    struct xlsx_book *book = calloc(1, sizeof *book);
    if (!book) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    book->fd = scratch_open().fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", book->fd);
    lxw_workbook_options options = {.constant_memory = LXW_TRUE, .tmpdir = getenv("TMPDIR")};
    book->at = book->fd >= 0 ? workbook_new_opt(path, &options) : NULL;
    book->head = book->at ? workbook_add_format(book->at) : NULL;
    if (!book->head) {
        err_set(err, ERR_SPACE, "found no room for a spreadsheet in the temporary folder");
        xlsx_book_close(book);
        return NULL;
    }
    format_set_bold(book->head);
    format_set_bottom(book->head, LXW_BORDER_THIN);
    return book;
}

void xlsx_book_close(struct xlsx_book *book)
{
    if (!book)
        return;
    if (book->at)
        (void)xlsx_close(book->at); // the only way to free it
    if (book->fd >= 0)
        close(book->fd);
    buf_free(&book->text);
    free(book);
}

// --- formats of numbers -------------------------------------------------------------------------

// "#,##0\" ns\"", or percents for shares.
static void write_code(const struct column *column, char code[48])
{
    bool whole = column->type == COLUMN_I64;
    const char *unit = column->unit, *number = whole ? "#,##0" : "#,##0.00";
    if (strcmp(unit, "share") == 0)
        snprintf(code, 48, "0.0%%");
    else if (strcmp(unit, "percent") == 0)
        snprintf(code, 48, "0.0\"%%\"");
    else if (strcmp(unit, "count") == 0)
        snprintf(code, 48, "%s", number);
    else if (unit[0] && strcmp(unit, "-") != 0)
        snprintf(code, 48, "%s\" %.20s\"", number, strcmp(unit, "bytes") == 0 ? "B" : unit);
    else
        snprintf(code, 48, "%s", whole ? "0" : "General");
}

static lxw_format *format_of(struct xlsx_book *book, const struct column *column)
{
    char code[48];
    if (column->type == COLUMN_TEXT || column->type == COLUMN_BOOL)
        return NULL;
    write_code(column, code);
    for (size_t i = 0; i < book->format_count; i++)
        if (strcmp(book->formats[i].code, code) == 0)
            return book->formats[i].format;
    if (book->format_count == MOST_FORMATS)
        return NULL;
    struct number_format *new = &book->formats[book->format_count++];
    memcpy(new->code, code, sizeof code);
    new->format = workbook_add_format(book->at);
    if (new->format)
        format_set_num_format(new->format, code);
    book->failed |= !new->format;
    return new->format;
}

// --- sheets -------------------------------------------------------------------------------------

// Text as the library wants it: cut to what a cell holds, UTF-8, ending with NUL.
static const char *ended(struct xlsx_book *book, struct str text)
{
    buf_clear(&book->text);
    buf_add_visible(&book->text,
                    (struct str){text.at, text.len < MOST_TEXT ? text.len : MOST_TEXT});
    size_t valid = book->text.len < MOST_TEXT ? book->text.len : MOST_TEXT;
    if (!book->text.failed && book->text.at)
        book->text.at[str_valid_utf8((struct str){book->text.at, valid})] = '\0';
    book->failed |= book->text.failed;
    return book->text.failed || !book->text.at ? "" : book->text.at;
}

static bool has_bars(const struct column *column)
{
    return strcmp(column->unit, "share") == 0 || strcmp(column->name, "total_ns") == 0 ||
           strcmp(column->name, "per_step_ns") == 0;
}

// Ends the last sheet: what covers all its rows.
static void end_sheet(struct xlsx_book *book)
{
    if (!book->sheet)
        return;
    const struct table_desc *desc = book->descs[book->sheet_count - 1];
    uint64_t shown = book->rows < MOST_ROWS ? book->rows : MOST_ROWS;
    char note[80];
    for (unsigned i = 0; shown && i < book->column_count; i++) {
        lxw_conditional_format bars = {
            .type = LXW_CONDITIONAL_DATA_BAR, .bar_solid = LXW_TRUE, .bar_color = 0x9DC3E6};
        if (has_bars(&desc->columns[book->columns[i]]))
            book->failed |=
                worksheet_conditional_format_range(book->sheet, 1, (lxw_col_t)i, (lxw_row_t)shown,
                                                   (lxw_col_t)i, &bars) != LXW_NO_ERROR;
    }
    if (book->rows > shown) {
        snprintf(note, sizeof note, "%llu more rows do not fit into a sheet",
                 (unsigned long long)(book->rows - shown));
        worksheet_write_string(book->sheet, (lxw_row_t)shown + 1, 0, note, NULL);
    }
    if (shown && !book->failed)
        worksheet_autofilter(book->sheet, 0, 0, (lxw_row_t)shown,
                             (lxw_col_t)(book->column_count - 1));
}

static double width_of(const struct column *column)
{
    double wide = (double)strlen(column->name) + 3;
    double least = column->type == COLUMN_TEXT ? 28 : 12;
    return wide > least ? wide : least;
}

static lxw_worksheet *add_sheet(struct xlsx_book *book, const char *name)
{
    char cut[XLSX_MOST_NAME + 1];
    snprintf(cut, sizeof cut, "%s", name);
    if (workbook_validate_sheet_name(book->at, cut) != LXW_NO_ERROR)
        snprintf(cut, sizeof cut, "%.24s %zu", name, book->sheet_count);
    lxw_worksheet *sheet = workbook_add_worksheet(book->at, cut);
    book->failed |= !sheet;
    if (sheet)
        worksheet_freeze_panes(sheet, 1, 1);
    return sheet;
}

void xlsx_book_sheet(struct xlsx_book *book, const struct export_view *view)
{
    end_sheet(book);
    book->rows = 0;
    if (book->sheet_count == MOST_SHEETS || !(book->sheet = add_sheet(book, view->desc->name))) {
        book->failed = true;
        book->sheet = NULL;
        return;
    }
    book->descs[book->sheet_count++] = view->desc;
    book->column_count = view->column_count;
    memcpy(book->columns, view->columns, view->column_count * sizeof *view->columns);
    for (unsigned i = 0; i < view->column_count; i++) {
        const struct column *column = &view->desc->columns[view->columns[i]];
        worksheet_set_column(book->sheet, (lxw_col_t)i, (lxw_col_t)i, width_of(column), NULL);
        worksheet_write_string(book->sheet, 0, (lxw_col_t)i, column->name, book->head);
    }
}

static void write_cell(struct xlsx_book *book, struct cell cell, const struct column *column,
                       unsigned place)
{
    lxw_row_t row = (lxw_row_t)book->rows;
    lxw_col_t at = (lxw_col_t)place;
    double number = column->type == COLUMN_F64 ? cell.f : (double)cell.i;
    lxw_error rc = LXW_NO_ERROR;
    if (cell.null)
        return;
    if (column->type == COLUMN_TEXT)
        rc = worksheet_write_string(book->sheet, row, at, ended(book, cell.s), NULL);
    else if (column->type == COLUMN_BOOL)
        rc = worksheet_write_boolean(book->sheet, row, at, cell.i != 0, NULL);
    else if (isfinite(number))
        rc = worksheet_write_number(book->sheet, row, at, number, format_of(book, column));
    book->failed |= rc != LXW_NO_ERROR;
}

void xlsx_book_rows(struct xlsx_book *book, const struct export_view *view,
                    const struct table *rows)
{
    for (size_t row = 0; book->sheet && row < rows->row_count; row++) {
        if (++book->rows > MOST_ROWS)
            continue;
        for (unsigned i = 0; i < view->column_count; i++)
            write_cell(book, export_cell(rows, row, view->columns[i]),
                       &view->desc->columns[view->columns[i]], i);
    }
}

void xlsx_book_table(struct xlsx_book *book, const struct table *table)
{
    unsigned columns[TABLE_MAX_COLUMNS];
    struct export_view view = export_view_of(table->desc, columns);
    if (table->row_count == 0)
        return;
    xlsx_book_sheet(book, &view);
    xlsx_book_rows(book, &view, table);
}

// --- the file -----------------------------------------------------------------------------------

// What each column means, after the tables.
static void write_meanings(struct xlsx_book *book)
{
    static const char *const heads[] = {"table", "column", "unit", "meaning"};
    static const double widths[] = {22, 26, 10, 110};
    lxw_row_t row = 0;
    lxw_worksheet *sheet = add_sheet(book, "columns");
    for (lxw_col_t i = 0; sheet && i < 4; i++) {
        worksheet_set_column(sheet, i, i, widths[i], NULL);
        worksheet_write_string(sheet, 0, i, heads[i], book->head);
    }
    for (size_t t = 0; sheet && t < book->sheet_count; t++) {
        const struct table_desc *desc = book->descs[t];
        for (unsigned i = 0; i < desc->column_count; i++) {
            const char *const cells[] = {desc->name, desc->columns[i].name, desc->columns[i].unit,
                                         desc->columns[i].help};
            row++;
            for (lxw_col_t c = 0; c < 4; c++)
                worksheet_write_string(sheet, row, c, cells[c], NULL);
        }
    }
}

bool xlsx_book_finish(struct xlsx_book *book, struct err *err)
{
    end_sheet(book);
    book->sheet = NULL;
    if (!book->failed)
        write_meanings(book);
    lxw_error rc = xlsx_close(book->at);
    book->at = NULL;
    if (rc == LXW_NO_ERROR && !book->failed)
        return true;
    return err_set(err, rc == LXW_ERROR_CREATING_TMPFILE ? ERR_SPACE : ERR_INTERNAL,
                   "writing the spreadsheet: %s", lxw_strerror(rc));
}

bool xlsx_book_read(struct xlsx_book *book, struct buf *out, bool *more, struct err *err)
{
    char piece[PIECE];
    ssize_t got = pread(book->fd, piece, sizeof piece, book->read_to);
    if (got < 0)
        return err_set_errno(err, "reading the spreadsheet");
    buf_add(out, piece, (size_t)got);
    book->read_to += got;
    *more = got > 0;
    return buf_ok(out, err);
}
