// SPDX-License-Identifier: Apache-2.0
// Apache Arrow's IPC stream: a schema with units and meanings, then batches of rows.
#include "server/exports/clean_text.h"
#include "server/exports/export.h"
#include "server/exports/flat_build.h"

#include <stdlib.h>

enum { VERSION_5 = 4 }; // MetadataVersion
enum { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6 };
enum { PRECISION_DOUBLE = 2 };
enum { MOST_BUFFERS = 3 }; // of a column

#define BATCH_ROWS ((size_t)1 << 16)

// --- messages -----------------------------------------------------------------------------------

// Frames a header as a message; its body follows.
static void put_message(struct flat *flat, uint8_t kind, uint32_t header, int64_t body_bytes,
                        struct buf *out)
{
    const uint32_t mark = UINT32_MAX;
    flat_start(flat);
    flat_number(flat, 3, body_bytes, 8);
    flat_link(flat, 2, header);
    flat_number(flat, 0, VERSION_5, 2);
    flat_number(flat, 1, kind, 1);
    flat_root(flat, flat_end(flat));
    buf_add(out, &mark, sizeof mark);
    buf_add(out, &flat->used, sizeof flat->used);
    buf_add(out, flat_begin(flat), flat->used);
    out->failed |= flat->failed;
}

static struct flat *new_flat(struct buf *out)
{
    struct flat *flat = malloc(sizeof *flat);
    out->failed |= !flat;
    if (flat)
        flat->used = 0;
    if (flat)
        flat->failed = false;
    return flat;
}

// --- the schema ---------------------------------------------------------------------------------

static uint32_t put_type(struct flat *flat, enum column_type type, uint8_t *kind)
{
    static const uint8_t kinds[] = {[COLUMN_I64] = TYPE_INT,
                                    [COLUMN_F64] = TYPE_FLOAT,
                                    [COLUMN_TEXT] = TYPE_UTF8,
                                    [COLUMN_BOOL] = TYPE_BOOL};
    *kind = kinds[type];
    flat_start(flat);
    if (type == COLUMN_I64) {
        flat_number(flat, 0, 64, 4);
        flat_number(flat, 1, 1, 1);
    } else if (type == COLUMN_F64) {
        flat_number(flat, 0, PRECISION_DOUBLE, 2);
    }
    return flat_end(flat);
}

static uint32_t put_pair(struct flat *flat, const char *key, const char *value)
{
    uint32_t name = flat_text(flat, str_of(key)), text = flat_text(flat, str_of(value));
    flat_start(flat);
    flat_link(flat, 0, name);
    flat_link(flat, 1, text);
    return flat_end(flat);
}

static uint32_t put_field(struct flat *flat, const struct column *column)
{
    uint8_t kind;
    uint32_t pairs[2] = {put_pair(flat, "unit", column->unit),
                         put_pair(flat, "help", column->help)};
    uint32_t notes = flat_vector(flat, pairs, 2);
    uint32_t name = flat_text(flat, str_of(column->name));
    uint32_t type = put_type(flat, column->type, &kind);
    uint32_t children = flat_vector(flat, NULL, 0);
    flat_start(flat);
    flat_link(flat, 0, name);
    flat_link(flat, 3, type);
    flat_link(flat, 5, children);
    flat_link(flat, 6, notes);
    flat_number(flat, 1, 1, 1); // may be null
    flat_number(flat, 2, kind, 1);
    return flat_end(flat);
}

static void head(const struct export_view *view, struct buf *out)
{
    uint32_t fields[TABLE_MAX_COLUMNS];
    struct flat *flat = new_flat(out);
    if (!flat)
        return;
    for (unsigned i = 0; i < view->column_count; i++)
        fields[i] = put_field(flat, &view->desc->columns[view->columns[i]]);
    uint32_t list = flat_vector(flat, fields, view->column_count);
    flat_start(flat);
    flat_link(flat, 1, list);
    put_message(flat, HEADER_SCHEMA, flat_end(flat), 0, out);
    free(flat);
}

// --- batches ------------------------------------------------------------------------------------

struct batch {
    const struct table *rows;
    size_t first, count;
    struct buf body;
    int64_t buffers[TABLE_MAX_COLUMNS * MOST_BUFFERS][2]; // offset and length of each
    uint32_t buffer_count;
    int64_t nodes[TABLE_MAX_COLUMNS][2]; // rows and nulls of each column
};

static struct cell cell_of(const struct batch *batch, size_t i, unsigned column)
{
    return export_cell(batch->rows, batch->first + i, column);
}

// What was added to the body from there on is a buffer; the next one is aligned.
static void end_buffer(struct batch *batch, size_t from)
{
    int64_t *buffer = batch->buffers[batch->buffer_count++];
    buffer[0] = (int64_t)from;
    buffer[1] = (int64_t)(batch->body.len - from);
    while (batch->body.len % 8 && !batch->body.failed)
        buf_putc(&batch->body, '\0');
}

// A bit per row: whether it is not null, or its truth.
static int64_t put_bits(struct batch *batch, unsigned column, bool truth)
{
    size_t from = batch->body.len;
    int64_t set = 0;
    for (size_t i = 0; i < batch->count; i += 8) {
        unsigned bits = 0;
        for (size_t k = i; k < i + 8 && k < batch->count; k++) {
            struct cell cell = cell_of(batch, k, column);
            bool is_set = !cell.null && (!truth || cell.i);
            bits |= (unsigned)is_set << (k - i);
            set += is_set;
        }
        buf_putc(&batch->body, (char)bits);
    }
    end_buffer(batch, from);
    return set;
}

static void put_numbers(struct batch *batch, unsigned column)
{
    size_t from = batch->body.len;
    for (size_t i = 0; i < batch->count; i++) {
        struct cell cell = cell_of(batch, i, column);
        buf_add(&batch->body, &cell.i, sizeof cell.i); // or the double, which shares its place
    }
    end_buffer(batch, from);
}

static void put_texts(struct batch *batch, unsigned column)
{
    struct buf texts = {0};
    size_t from = batch->body.len;
    int32_t end = 0;
    buf_add(&batch->body, &end, sizeof end);
    for (size_t i = 0; i < batch->count; i++) {
        struct cell cell = cell_of(batch, i, column);
        if (!cell.null)
            clean_text(cell.s, &texts);
        end = (int32_t)texts.len;
        buf_add(&batch->body, &end, sizeof end);
    }
    end_buffer(batch, from);
    from = batch->body.len;
    buf_add(&batch->body, texts.at, texts.len);
    batch->body.failed |= texts.failed || texts.len > INT32_MAX;
    buf_free(&texts);
    end_buffer(batch, from);
}

static void put_column(struct batch *batch, unsigned column, int64_t *node)
{
    node[0] = (int64_t)batch->count;
    node[1] = node[0] - put_bits(batch, column, false);
    switch (batch->rows->desc->columns[column].type) {
    case COLUMN_I64:
    case COLUMN_F64: put_numbers(batch, column); break;
    case COLUMN_BOOL: put_bits(batch, column, true); break;
    case COLUMN_TEXT: put_texts(batch, column); break;
    }
}

static void put_batch(const struct export_view *view, struct batch *batch, struct buf *out)
{
    struct flat *flat = new_flat(out);
    if (!flat)
        return;
    buf_clear(&batch->body);
    batch->buffer_count = 0;
    for (unsigned i = 0; i < view->column_count; i++)
        put_column(batch, view->columns[i], batch->nodes[i]);
    uint32_t buffers = flat_structs(flat, batch->buffers[0], batch->buffer_count, 2);
    uint32_t nodes = flat_structs(flat, batch->nodes[0], view->column_count, 2);
    flat_start(flat);
    flat_number(flat, 0, (int64_t)batch->count, 8);
    flat_link(flat, 1, nodes);
    flat_link(flat, 2, buffers);
    put_message(flat, HEADER_BATCH, flat_end(flat), (int64_t)batch->body.len, out);
    buf_add(out, batch->body.at, batch->body.len);
    out->failed |= batch->body.failed;
    free(flat);
}

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    (void)before;
    struct batch batch = {.rows = rows};
    for (; batch.first < rows->row_count; batch.first += batch.count) {
        size_t left = rows->row_count - batch.first;
        batch.count = left < BATCH_ROWS ? left : BATCH_ROWS;
        put_batch(view, &batch, out);
    }
    buf_free(&batch.body);
}

static void tail(const struct export_view *view, const struct export_end *end, struct buf *out)
{
    static const uint32_t mark[2] = {UINT32_MAX, 0};
    (void)view;
    (void)end;
    buf_add(out, mark, sizeof mark);
}

const struct table_export export_arrow = {.word = "arrow",
                                          .accept = "application/vnd.apache.arrow.stream",
                                          .type = "application/vnd.apache.arrow.stream",
                                          .suffix = "arrows",
                                          .head = head,
                                          .rows = put_rows,
                                          .tail = tail};
