// SPDX-License-Identifier: Apache-2.0
// A report as a spreadsheet: a sheet per table, numbers as numbers in the unit that the last column
// gives, so that people can calculate with them.
#include "server/exports/xlsx_close.h"
#include "server/report/document.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAME = 31, MOST_TEXT = 32767, BLOCK = 16384, MOST_UNITS = 24 };

struct book {
    lxw_workbook *at;
    lxw_format *head, *title;
    const char *units[MOST_UNITS]; // that have a format
    lxw_format *formats[MOST_UNITS];
    size_t unit_count;
    struct buf text; // of the cell that is written, which the library wants to end with NUL
    bool failed;
};

static const char *ended(struct book *book, struct str text)
{
    size_t most = text.len < MOST_TEXT ? text.len : MOST_TEXT;
    buf_clear(&book->text);
    buf_add_str(&book->text, (struct str){text.at, str_valid_utf8((struct str){text.at, most})});
    buf_putc(&book->text, '\0');
    book->failed |= book->text.failed;
    return book->text.failed ? "" : book->text.at;
}

// "Where the difference goes: A against B", shortened, without characters that sheet names must not
// have, and unique.
static const char *sheet_name(struct book *book, struct str title, size_t number,
                              char name[MOST_NAME + 1])
{
    char wanted[MOST_NAME + 1];
    size_t len = 0;
    for (size_t i = 0; i < title.len && len < MOST_NAME; i++)
        wanted[len++] = strchr("[]:*?/\\'", title.at[i]) ? '-' : title.at[i];
    len = str_valid_utf8((struct str){wanted, len});
    snprintf(name, MOST_NAME + 1, "%.*s", (int)len, wanted);
    if (workbook_validate_sheet_name(book->at, name) != LXW_NO_ERROR)
        snprintf(name, MOST_NAME + 1, "%.*s %zu",
                 (int)str_valid_utf8((struct str){wanted, len < 24 ? len : 24}), wanted, number);
    return name;
}

static void write_code(const char *unit, char code[48])
{
    bool whole = strcmp(unit, "ns") == 0 || strcmp(unit, "bytes") == 0;
    if (strcmp(unit, "share") == 0)
        snprintf(code, 48, "0.0%%");
    else if (strcmp(unit, "count") == 0)
        snprintf(code, 48, "#,##0");
    else
        snprintf(code, 48, "%s\" %.20s\"", whole ? "#,##0" : "#,##0.00", unit);
}

// Of a number with that unit; NULL: as it is.
static lxw_format *format_of(struct book *book, const char *unit)
{
    char code[48];
    size_t i = 0;
    while (i < book->unit_count && strcmp(book->units[i], unit) != 0)
        i++;
    if (i < book->unit_count)
        return book->formats[i];
    if (!unit[0] || strcmp(unit, "-") == 0 || i == MOST_UNITS)
        return NULL;
    write_code(unit, code);
    book->units[i] = unit;
    book->formats[i] = workbook_add_format(book->at);
    book->failed |= !book->formats[i];
    if (book->formats[i])
        format_set_num_format(book->formats[i], code);
    book->unit_count++;
    return book->formats[i];
}

static void write_cell(struct book *book, lxw_worksheet *sheet, const struct doc_cell *cell,
                       lxw_row_t row, lxw_col_t column)
{
    lxw_error rc = LXW_NO_ERROR;
    if (isfinite(cell->number))
        rc = worksheet_write_number(sheet, row, column, cell->number, format_of(book, cell->unit));
    else if (cell->text.len)
        rc = worksheet_write_string(sheet, row, column, ended(book, cell->text), NULL);
    book->failed |= rc != LXW_NO_ERROR;
}

static const struct doc_cell *cell_at(const struct doc_section *section, size_t row, size_t column)
{
    return &section->cells[row * section->column_count + column];
}

// The unit of the numbers in a row, "" without any.
static const char *unit_of(const struct doc_section *section, size_t row)
{
    for (size_t i = 0; i < section->column_count; i++)
        if (isfinite(cell_at(section, row, i)->number))
            return cell_at(section, row, i)->unit;
    return "";
}

static bool has_units(const struct doc_section *section)
{
    for (size_t row = 0; row < doc_rows(section); row++)
        if (unit_of(section, row)[0])
            return true;
    return false;
}

// In the last column: the unit of the row's times or other numbers; shares are shares everywhere.
static void write_units(struct book *book, lxw_worksheet *sheet, const struct doc_section *section)
{
    lxw_col_t column = (lxw_col_t)section->column_count;
    if (!has_units(section))
        return;
    worksheet_write_string(sheet, 0, column, "Unit", book->head);
    for (size_t row = 0; row < doc_rows(section); row++)
        worksheet_write_string(sheet, (lxw_row_t)row + 1, column, unit_of(section, row), NULL);
}

static void write_head(struct book *book, lxw_worksheet *sheet, const struct doc_section *section)
{
    for (size_t i = 0; i < section->column_count; i++)
        book->failed |= worksheet_write_string(sheet, 0, (lxw_col_t)i,
                                               ended(book, section->columns[i]), book->head);
    worksheet_freeze_panes(sheet, 1, 0);
    worksheet_set_column(sheet, 0, 0, 36, NULL);
    worksheet_set_column(sheet, 1, DOC_MOST_COLUMNS, 18, NULL);
}

// Bars where the page draws some.
static void write_bars(struct book *book, lxw_worksheet *sheet, const struct doc_section *section)
{
    lxw_conditional_format bars = {
        .type = LXW_CONDITIONAL_DATA_BAR, .bar_solid = LXW_TRUE, .bar_color = 0x9DC3E6};
    lxw_col_t column = (lxw_col_t)(section->bars - 1);
    if (section->bars)
        book->failed |=
            worksheet_conditional_format_range(sheet, 1, column, (lxw_row_t)doc_rows(section),
                                               column, &bars) != LXW_NO_ERROR;
}

static void write_section(struct book *book, const struct doc_section *section, size_t number)
{
    char name[MOST_NAME + 1];
    lxw_worksheet *sheet =
        workbook_add_worksheet(book->at, sheet_name(book, section->title, number, name));
    if (!sheet) {
        book->failed = true;
        return;
    }
    write_head(book, sheet, section);
    for (size_t i = 0; i < doc_rows(section) * section->column_count; i++)
        write_cell(book, sheet, &section->cells[i], (lxw_row_t)(i / section->column_count + 1),
                   (lxw_col_t)(i % section->column_count));
    write_units(book, sheet, section);
    write_bars(book, sheet, section);
}

// Titles and sentences, which have no table.
static void write_texts(struct book *book, const struct document *doc)
{
    lxw_worksheet *sheet = workbook_add_worksheet(book->at, "Report");
    lxw_row_t row = 0;
    if (!sheet) {
        book->failed = true;
        return;
    }
    worksheet_set_column(sheet, 0, 0, 120, NULL);
    worksheet_write_string(sheet, row++, 0, ended(book, doc->title), book->title);
    worksheet_write_string(sheet, row++, 0, ended(book, doc->subtitle), NULL);
    for (size_t i = 0; i < doc->count; i++) {
        const struct doc_section *section = &doc->sections[i];
        if (!section->text.len)
            continue;
        worksheet_write_string(sheet, ++row, 0, ended(book, section->title), book->head);
        worksheet_write_string(sheet, ++row, 0, ended(book, section->text), NULL);
    }
}

static bool write_book(const struct document *doc, const char *path, struct err *err)
{
    struct book book = {.at = workbook_new(path)};
    if (!book.at)
        return err_set(err, ERR_MEMORY, "out of memory");
    book.head = workbook_add_format(book.at);
    book.title = workbook_add_format(book.at);
    if (book.head && book.title) {
        format_set_bold(book.head);
        format_set_bold(book.title);
        format_set_font_size(book.title, 16);
    }
    write_texts(&book, doc);
    for (size_t i = 0; i < doc->count; i++)
        if (doc_rows(&doc->sections[i]))
            write_section(&book, &doc->sections[i], i + 1);
    lxw_error rc = xlsx_close(book.at);
    buf_free(&book.text);
    if (rc == LXW_NO_ERROR && !book.failed)
        return true;
    return err_set(err, rc == LXW_ERROR_CREATING_TMPFILE ? ERR_SPACE : ERR_INTERNAL,
                   "writing the spreadsheet: %s", lxw_strerror(rc));
}

static bool read_back(int fd, struct buf *out, struct err *err)
{
    char block[BLOCK];
    ssize_t got;
    off_t at = 0;
    while ((got = pread(fd, block, sizeof block, at)) > 0) {
        buf_add(out, block, (size_t)got);
        at += got;
    }
    return got == 0 ? buf_ok(out, err) : err_set_errno(err, "reading the spreadsheet");
}

// The library writes files only.
static bool write_xlsx(const struct document *doc, struct buf *out, struct err *err)
{
    char path[64];
    int fd = memfd_create("report", MFD_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, "making room for the spreadsheet");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = write_book(doc, path, err) && read_back(fd, out, err);
    close(fd);
    return ok;
}

const struct report_format report_as_xlsx = {
    .word = "xlsx",
    .type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    .suffix = "xlsx",
    .write = write_xlsx};
