// SPDX-License-Identifier: Apache-2.0
// Apache Parquet: a row group per batch of rows, plain values in pages compressed with zstd, with
// the least and greatest value of each column, so that readers can skip row groups.
#include "server/exports/clean_text.h"
#include "server/exports/export.h"
#include "server/exports/proto_write.h"
#include "server/exports/thrift_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

enum { TYPE_BOOLEAN = 0, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTES = 6 };
enum { OPTIONAL = 1, UTF8 = 0, PLAIN = 0, RLE = 3, ZSTD = 6, DATA_PAGE = 0, ZSTD_LEVEL = 1 };

#define MAGIC STR("PAR1")

struct chunk {
    int64_t offset, plain_bytes, packed_bytes; // with the page's header
    int64_t nulls;
    bool has_bounds;
    int64_t low, high; // of integers, or doubles in their place
};

struct group {
    int64_t rows;
    struct chunk *chunks; // of each column
};

struct parquet {
    uint64_t written;
    struct group *groups;
    size_t group_count, group_cap;
    ZSTD_CCtx *zstd;
    struct buf page, packed;
};

static bool open_file(struct export_view *view, struct err *err)
{
    struct parquet *file = calloc(1, sizeof *file);
    if (!file || !(file->zstd = ZSTD_createCCtx())) {
        free(file);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    view->state = file;
    return true;
}

static void close_file(void *state)
{
    struct parquet *file = state;
    for (size_t i = 0; i < file->group_count; i++)
        free(file->groups[i].chunks);
    free(file->groups);
    ZSTD_freeCCtx(file->zstd);
    buf_free(&file->page);
    buf_free(&file->packed);
    free(file);
}

static void head(const struct export_view *view, struct buf *out)
{
    struct parquet *file = view->state;
    buf_add_str(out, MAGIC);
    file->written += MAGIC.len;
}

// --- pages --------------------------------------------------------------------------------------

// Definition levels, 0 for null: one run of packed bits, after its length.
static int64_t put_levels(const struct table *rows, unsigned column, struct buf *page)
{
    struct buf levels = {0};
    int64_t nulls = 0;
    proto_varint(&levels, (uint64_t)((rows->row_count + 7) / 8) << 1 | 1);
    for (size_t i = 0; i < rows->row_count; i += 8) {
        unsigned bits = 0;
        for (size_t k = i; k < i + 8 && k < rows->row_count; k++) {
            bool is_null = export_cell(rows, k, column).null;
            bits |= (unsigned)!is_null << (k - i);
            nulls += is_null;
        }
        buf_putc(&levels, (char)bits);
    }
    uint32_t len = (uint32_t)levels.len;
    buf_add(page, &len, sizeof len);
    buf_add(page, levels.at, levels.len);
    page->failed |= levels.failed;
    buf_free(&levels);
    return nulls;
}

static bool is_less(enum column_type type, struct cell a, struct cell b)
{
    return type == COLUMN_F64 ? a.f < b.f : a.i < b.i;
}

static void widen(struct chunk *chunk, enum column_type type, struct cell cell)
{
    struct cell low = {.i = chunk->low}, high = {.i = chunk->high};
    if (!chunk->has_bounds || is_less(type, cell, low))
        chunk->low = cell.i;
    if (!chunk->has_bounds || is_less(type, high, cell))
        chunk->high = cell.i;
    chunk->has_bounds = true;
}

static void put_text(struct str text, struct buf *page)
{
    size_t at = page->len;
    uint32_t len = 0;
    buf_add(page, &len, sizeof len);
    clean_text(text, page);
    if (page->failed)
        return;
    len = (uint32_t)(page->len - at - sizeof len);
    memcpy(page->at + at, &len, sizeof len);
}

static void put_bools(const struct table *rows, unsigned column, struct buf *page)
{
    unsigned bits = 0, count = 0;
    for (size_t i = 0; i < rows->row_count; i++) {
        struct cell cell = export_cell(rows, i, column);
        if (cell.null)
            continue;
        bits |= (unsigned)(cell.i != 0) << count++ % 8;
        if (count % 8 == 0) {
            buf_putc(page, (char)bits);
            bits = 0;
        }
    }
    if (count % 8)
        buf_putc(page, (char)bits);
}

static void put_values(const struct table *rows, unsigned column, struct chunk *chunk,
                       struct buf *page)
{
    enum column_type type = rows->desc->columns[column].type;
    bool has_nan = false;
    if (type == COLUMN_BOOL) {
        put_bools(rows, column, page);
        return;
    }
    for (size_t i = 0; i < rows->row_count; i++) {
        struct cell cell = export_cell(rows, i, column);
        if (cell.null)
            continue;
        if (type == COLUMN_TEXT) {
            put_text(cell.s, page);
            continue;
        }
        buf_add(page, &cell.i, sizeof cell.i);
        has_nan |= type == COLUMN_F64 && isnan(cell.f);
        widen(chunk, type, cell);
    }
    chunk->has_bounds &= !has_nan;
}

static bool pack(struct parquet *file)
{
    size_t room = ZSTD_compressBound(file->page.len);
    buf_clear(&file->packed);
    while (file->packed.len < room && !file->packed.failed) // frees space in the buffer
        buf_add(&file->packed, file->page.at,
                file->page.len < room - file->packed.len ? file->page.len
                                                         : room - file->packed.len);
    if (file->packed.failed || file->page.failed)
        return false;
    size_t len = ZSTD_compressCCtx(file->zstd, file->packed.at, room, file->page.at, file->page.len,
                                   ZSTD_LEVEL);
    if (ZSTD_isError(len))
        return false;
    file->packed.len = len;
    return true;
}

static void put_chunk(struct parquet *file, const struct table *rows, unsigned column,
                      struct chunk *chunk, struct buf *out)
{
    struct thrift thrift = {.out = out};
    size_t from = out->len;
    buf_clear(&file->page);
    chunk->nulls = put_levels(rows, column, &file->page);
    put_values(rows, column, chunk, &file->page);
    if (!pack(file)) {
        out->failed = true;
        return;
    }
    thrift_i32(&thrift, 1, DATA_PAGE);
    thrift_i32(&thrift, 2, (int32_t)file->page.len);
    thrift_i32(&thrift, 3, (int32_t)file->packed.len);
    thrift_open(&thrift, 5);
    thrift_i32(&thrift, 1, (int32_t)rows->row_count);
    thrift_i32(&thrift, 2, PLAIN);
    thrift_i32(&thrift, 3, RLE);
    thrift_i32(&thrift, 4, RLE);
    thrift_close(&thrift);
    thrift_close(&thrift);
    size_t header = out->len - from;
    buf_add(out, file->packed.at, file->packed.len);
    chunk->offset = (int64_t)file->written;
    chunk->plain_bytes = (int64_t)(header + file->page.len);
    chunk->packed_bytes = (int64_t)(header + file->packed.len);
    file->written += header + file->packed.len;
}

static struct group *add_group(struct parquet *file, unsigned columns)
{
    struct group *grown = budget_room(NULL, file->groups, &file->group_cap, file->group_count + 1,
                                      sizeof *grown, NULL);
    if (!grown)
        return NULL;
    file->groups = grown;
    struct group *group = &file->groups[file->group_count];
    group->chunks = calloc(columns, sizeof *group->chunks);
    file->group_count += group->chunks != NULL;
    return group->chunks ? group : NULL;
}

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    (void)before;
    struct parquet *file = view->state;
    if (rows->row_count == 0)
        return;
    struct group *group = add_group(file, view->column_count);
    if (!group || rows->row_count > INT32_MAX) {
        out->failed = true;
        return;
    }
    group->rows = (int64_t)rows->row_count;
    for (unsigned i = 0; i < view->column_count; i++)
        put_chunk(file, rows, view->columns[i], &group->chunks[i], out);
}

// --- the footer ---------------------------------------------------------------------------------

static int32_t type_of(const struct column *column)
{
    switch (column->type) {
    case COLUMN_I64: return TYPE_INT64;
    case COLUMN_F64: return TYPE_DOUBLE;
    case COLUMN_BOOL: return TYPE_BOOLEAN;
    case COLUMN_TEXT: break;
    }
    return TYPE_BYTES;
}

static const struct column *column_of(const struct export_view *view, unsigned place)
{
    return &view->desc->columns[view->columns[place]];
}

static void put_schema(const struct export_view *view, struct thrift *thrift)
{
    thrift_list(thrift, 2, view->column_count + 1, THRIFT_STRUCT);
    thrift_open(thrift, 0);
    thrift_binary(thrift, 4, str_of(view->desc->name));
    thrift_i32(thrift, 5, (int32_t)view->column_count);
    thrift_close(thrift);
    for (unsigned i = 0; i < view->column_count; i++) {
        const struct column *column = column_of(view, i);
        thrift_open(thrift, 0);
        thrift_i32(thrift, 1, type_of(column));
        thrift_i32(thrift, 3, OPTIONAL);
        thrift_binary(thrift, 4, str_of(column->name));
        if (column->type == COLUMN_TEXT)
            thrift_i32(thrift, 6, UTF8);
        thrift_close(thrift);
    }
}

static struct str bytes_of(const int64_t *value)
{
    return (struct str){(const char *)value, sizeof *value};
}

static void put_bounds(const struct chunk *chunk, const struct column *column,
                       struct thrift *thrift)
{
    bool is_number = column->type == COLUMN_I64 || column->type == COLUMN_F64;
    thrift_open(thrift, 12);
    thrift_i64(thrift, 3, chunk->nulls);
    if (chunk->has_bounds && is_number) {
        thrift_binary(thrift, 5, bytes_of(&chunk->high));
        thrift_binary(thrift, 6, bytes_of(&chunk->low));
    }
    thrift_close(thrift);
}

static void put_chunk_data(const struct chunk *chunk, const struct column *column, int64_t rows,
                           struct thrift *thrift)
{
    thrift_open(thrift, 0);
    thrift_i64(thrift, 2, chunk->offset);
    thrift_open(thrift, 3);
    thrift_i32(thrift, 1, type_of(column));
    thrift_list(thrift, 2, 2, THRIFT_I32);
    thrift_item_i32(thrift, PLAIN);
    thrift_item_i32(thrift, RLE);
    thrift_list(thrift, 3, 1, THRIFT_BINARY);
    thrift_item_binary(thrift, str_of(column->name));
    thrift_i32(thrift, 4, ZSTD);
    thrift_i64(thrift, 5, rows);
    thrift_i64(thrift, 6, chunk->plain_bytes);
    thrift_i64(thrift, 7, chunk->packed_bytes);
    thrift_i64(thrift, 9, chunk->offset);
    put_bounds(chunk, column, thrift);
    thrift_close(thrift);
    thrift_close(thrift);
}

static void put_groups(const struct export_view *view, struct thrift *thrift)
{
    const struct parquet *file = view->state;
    thrift_list(thrift, 4, file->group_count, THRIFT_STRUCT);
    for (size_t g = 0; g < file->group_count; g++) {
        const struct group *group = &file->groups[g];
        int64_t bytes = 0;
        thrift_open(thrift, 0);
        thrift_list(thrift, 1, view->column_count, THRIFT_STRUCT);
        for (unsigned i = 0; i < view->column_count; i++) {
            put_chunk_data(&group->chunks[i], column_of(view, i), group->rows, thrift);
            bytes += group->chunks[i].plain_bytes;
        }
        thrift_i64(thrift, 2, bytes);
        thrift_i64(thrift, 3, group->rows);
        thrift_close(thrift);
    }
}

// Units, and that numbers compare as their type does.
static void put_notes(const struct export_view *view, struct thrift *thrift)
{
    thrift_list(thrift, 5, view->column_count, THRIFT_STRUCT);
    for (unsigned i = 0; i < view->column_count; i++) {
        char key[96];
        int len = snprintf(key, sizeof key, "unit:%s", column_of(view, i)->name);
        thrift_open(thrift, 0);
        thrift_binary(thrift, 1, (struct str){key, len < 96 ? (size_t)len : 95});
        thrift_binary(thrift, 2, str_of(column_of(view, i)->unit));
        thrift_close(thrift);
    }
    thrift_binary(thrift, 6, STR("stepscope"));
    thrift_list(thrift, 7, view->column_count, THRIFT_STRUCT);
    for (unsigned i = 0; i < view->column_count; i++) {
        thrift_open(thrift, 0);
        thrift_open(thrift, 1);
        thrift_close(thrift);
        thrift_close(thrift);
    }
}

static void tail(const struct export_view *view, const struct export_end *end, struct buf *out)
{
    struct thrift thrift = {.out = out};
    size_t from = out->len;
    thrift_i32(&thrift, 1, 1);
    put_schema(view, &thrift);
    thrift_i64(&thrift, 3, (int64_t)end->rows);
    put_groups(view, &thrift);
    put_notes(view, &thrift);
    thrift_close(&thrift);
    uint32_t len = (uint32_t)(out->len - from);
    buf_add(out, &len, sizeof len);
    buf_add_str(out, MAGIC);
}

const struct table_export export_parquet = {.word = "parquet",
                                            .accept = "application/vnd.apache.parquet",
                                            .type = "application/vnd.apache.parquet",
                                            .suffix = "parquet",
                                            .open = open_file,
                                            .close = close_file,
                                            .head = head,
                                            .rows = put_rows,
                                            .tail = tail};
