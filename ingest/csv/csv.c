// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv/csv.h"

#include "ingest/source/source.h"

#include <stddef.h>

#define BLOCK_BYTES ((size_t)FUZZED_SIZE(64 << 10, 256))

enum state { CELL_START, PLAIN, QUOTED, AFTER_QUOTE };

struct csv {
    struct source *source;
    struct budget *budget;
    uint64_t pos; // of the next byte
    size_t next, got;
    enum state state;
    size_t count, used, cell_at; // of the current row: cells, bytes, where the open cell starts
    bool quoted;                 // some cell of it
    char block[BLOCK_BYTES];
    char bytes[CSV_MAX_ROW_BYTES];
    struct str cells[CSV_MAX_CELLS];
};

struct csv *csv_open(struct source *source, struct budget *budget, struct err *err)
{
    struct csv *csv = budget_alloc(budget, sizeof *csv, err);
    if (!csv)
        return NULL;
    memset(csv, 0, offsetof(struct csv, block));
    csv->source = source;
    csv->budget = budget;
    return csv;
}

void csv_close(struct csv *csv)
{
    if (csv)
        budget_free(csv->budget, csv, sizeof *csv);
}

// *c is -1 at the end.
static bool next_byte(struct csv *csv, int *c, struct err *err)
{
    do {
        if (csv->next == csv->got) {
            csv->next = 0;
            if (!source_read(csv->source, csv->block, BLOCK_BYTES, &csv->got, err)) {
                csv->got = 0;
                return false;
            }
        }
        *c = csv->got ? (unsigned char)csv->block[csv->next++] : -1;
        csv->pos += csv->got > 0;
    } while (*c == '\0');
    return true;
}

static bool put(struct csv *csv, int c, struct err *err)
{
    if (csv->used == CSV_MAX_ROW_BYTES)
        return err_set_at(err, ERR_FORMAT, csv->pos - 1,
                          "found a row of more than 1 MiB: a quote may be missing before it ends");
    csv->bytes[csv->used++] = (char)c;
    return true;
}

static bool end_cell(struct csv *csv, struct err *err)
{
    if (csv->count == CSV_MAX_CELLS)
        return err_set_at(err, ERR_FORMAT, csv->pos - 1, "found a row of more than %d cells",
                          CSV_MAX_CELLS);
    csv->cells[csv->count++] = (struct str){csv->bytes + csv->cell_at, csv->used - csv->cell_at};
    csv->cell_at = csv->used;
    csv->state = CELL_START;
    return true;
}

static bool is_line_end(int c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(const struct csv *csv)
{
    return csv->count == 0 && csv->used == 0 && !csv->quoted;
}

static bool take_quoted(struct csv *csv, int c, struct err *err)
{
    if (csv->state == QUOTED && c != '"')
        return put(csv, c, err);
    bool doubled = csv->state == AFTER_QUOTE;
    csv->state = csv->state == QUOTED ? AFTER_QUOTE : QUOTED;
    return !doubled || put(csv, c, err);
}

// A byte that ends no row.
static bool take(struct csv *csv, int c, struct err *err)
{
    if (csv->state == QUOTED || (csv->state == AFTER_QUOTE && c == '"'))
        return take_quoted(csv, c, err);
    if (c == ',')
        return end_cell(csv, err);
    if (csv->state == CELL_START && c == '"') {
        csv->state = QUOTED;
        csv->quoted = true;
        return true;
    }
    csv->state = PLAIN;
    return put(csv, c, err);
}

static void start_row(struct csv *csv, struct csv_row *row)
{
    csv->count = csv->used = csv->cell_at = 0;
    csv->quoted = false;
    csv->state = CELL_START;
    *row = (struct csv_row){.cells = csv->cells, .pos = csv->pos};
}

// Files that follow one another in one may each start with a mark.
static void drop_mark(struct csv *csv)
{
    if (csv->used != 3 || csv->count || csv->quoted || memcmp(csv->bytes, "\xEF\xBB\xBF", 3) != 0)
        return;
    csv->used = 0;
    csv->state = CELL_START;
}

bool csv_next(struct csv *csv, struct csv_row *row, bool *end, struct err *err)
{
    int c;
    *end = false;
    start_row(csv, row);
    for (;;) {
        if (!next_byte(csv, &c, err))
            return false;
        bool over = c < 0 || (is_line_end(c) && csv->state != QUOTED);
        if (over && is_blank(csv) && c >= 0) {
            row->pos = csv->pos;
            continue;
        }
        if (over)
            break;
        if (!take(csv, c, err))
            return false;
        drop_mark(csv);
    }
    row->cut = csv->state == QUOTED;
    row->half = c < 0 && csv->state != AFTER_QUOTE;
    *end = is_blank(csv);
    if (*end || !end_cell(csv, err))
        return false;
    row->count = csv->count;
    return true;
}

static bool is_name(struct str text, const char *name)
{
    if (text.len > 1 && text.at[0] == '"' && text.at[text.len - 1] == '"')
        text = (struct str){text.at + 1, text.len - 2};
    return str_equal_nocase(text, str_of(name));
}

// Up to the first such byte, or all.
static struct str before(struct str text, char end)
{
    const char *at = text.len ? memchr(text.at, end, text.len) : NULL;
    return at ? (struct str){text.at, (size_t)(at - text.at)} : text;
}

bool csv_head_has(struct str head, const char *column)
{
    if (str_starts_with(head, STR("\xEF\xBB\xBF")))
        head = (struct str){head.at + 3, head.len - 3};
    struct str line = before(before(head, '\n'), '\r'), cell = before(line, ',');
    while (!is_name(cell, column)) {
        if (cell.len == line.len)
            return false;
        line = (struct str){cell.at + cell.len + 1, line.len - cell.len - 1};
        cell = before(line, ',');
    }
    return true;
}
