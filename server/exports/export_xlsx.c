// SPDX-License-Identifier: Apache-2.0
// A table as a spreadsheet.
#include "server/exports/xlsx_book.h"

#include <stdlib.h>

struct xlsx_export {
    struct xlsx_book *book;
    bool finished;
};

static bool open_book(struct export_view *view, struct err *err)
{
    struct xlsx_export *state = calloc(1, sizeof *state);
    if (!state)
        return err_set(err, ERR_MEMORY, "out of memory");
    view->state = state;
    return (state->book = xlsx_book_open(err)) != NULL;
}

static void close_book(void *context)
{
    struct xlsx_export *state = context;
    xlsx_book_close(state->book);
    free(state);
}

static void head(const struct export_view *view, struct buf *out)
{
    struct xlsx_export *state = view->state;
    (void)out;
    xlsx_book_sheet(state->book, view);
}

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    struct xlsx_export *state = view->state;
    (void)before;
    (void)out;
    xlsx_book_rows(state->book, view, rows);
}

static bool rest(const struct export_view *view, struct buf *out, bool *more, struct err *err)
{
    struct xlsx_export *state = view->state;
    if (!state->finished && !xlsx_book_finish(state->book, err))
        return false;
    state->finished = true;
    return xlsx_book_read(state->book, out, more, err);
}

const struct table_export export_xlsx = {
    .word = "xlsx",
    .accept = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    .type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    .suffix = "xlsx",
    .open = open_book,
    .close = close_book,
    .head = head,
    .rows = put_rows,
    .rest = rest};
