// SPDX-License-Identifier: Apache-2.0
// Each part is a header of four numbers and a frame. Both sides are the same program, so the header
// has no version; frames are stored and have one.
#include "analysis/report/report_parts.h"

#include "ingest/base/fd_io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define PART_MAGIC UINT64_C(0x7472617073657273)
enum { ZSTD_LEVEL = 3 };

struct header {
    uint64_t magic, table, number, len; // table: its place in the list
};

// --- writing ------------------------------------------------------------------------------------

struct writing {
    int fd;
    ZSTD_CCtx *context;
    struct buf plain;
    struct report_block packed;
};

static bool put_part(int fd, const struct header *header, struct str frame, struct err *err)
{
    return (fd_write(fd, header, sizeof *header) && fd_write(fd, frame.at, frame.len)) ||
           err_set_errno(err, "writing the tables");
}

bool report_part_write(const struct report_part *part, int fd, struct err *err)
{
    struct header header = {PART_MAGIC, part->table, part->number, part->frame.len};
    return put_part(fd, &header, part->frame, err);
}

// The content of the block is lost.
static bool make_room(struct report_block *block, size_t len, struct err *err)
{
    if (len <= block->cap)
        return true;
    free(block->at);
    *block = (struct report_block){malloc(len), len};
    if (!block->at)
        block->cap = 0;
    return block->at || err_set(err, ERR_MEMORY, "out of memory for tables");
}

static bool write_part(struct writing *writing, const struct table *rows, struct header header,
                       struct err *err)
{
    struct report one = {.tables = {*rows}, .table_count = 1};
    buf_clear(&writing->plain);
    if (!report_save(&one, &writing->plain, err))
        return false;
    size_t room = ZSTD_compressBound(writing->plain.len);
    if (room > REPORT_PART_MOST_BYTES)
        return err_set(err, ERR_LIMIT, "table %s: a row takes %zu bytes", rows->desc->name,
                       writing->plain.len);
    if (!make_room(&writing->packed, room, err))
        return false;
    header.len = ZSTD_compressCCtx(writing->context, writing->packed.at, room, writing->plain.at,
                                   writing->plain.len, ZSTD_LEVEL);
    if (ZSTD_isError(header.len))
        return err_set(err, ERR_INTERNAL, "compressing tables: %s", ZSTD_getErrorName(header.len));
    struct str frame = {writing->packed.at, header.len};
    return put_part(writing->fd, &header, frame, err);
}

// The number of rows in the part that starts with `first`.
static size_t count_rows(const struct table *table, size_t first)
{
    size_t count = 0, bytes = 0, left = table->row_count - first;
    while (count < left && count < REPORT_PART_ROWS) {
        bytes += table_row_bytes(table, first + count);
        if (count > 0 && bytes > REPORT_PART_BYTES)
            break;
        count++;
    }
    return count;
}

static bool write_table(struct writing *writing, const struct table *table, uint64_t index,
                        struct err *err)
{
    struct header header = {.magic = PART_MAGIC, .table = index};
    size_t row = 0;
    do {
        struct table rows = *table;
        rows.cells = table->cells ? table->cells + row * table->desc->column_count : NULL;
        rows.row_count = rows.row_cap = count_rows(table, row);
        if (!write_part(writing, &rows, header, err))
            return false;
        header.number++;
        row += rows.row_count;
    } while (row < table->row_count);
    return true;
}

static bool write_tables(struct writing *writing, const struct report *report,
                         const struct table_desc *const *known, struct err *err)
{
    for (unsigned i = 0; i < report->table_count; i++) {
        size_t index = table_place(known, report->tables[i].desc);
        if (!known[index])
            return err_set(err, ERR_INTERNAL, "no table %s is known", report->tables[i].desc->name);
        if (!write_table(writing, &report->tables[i], index, err))
            return false;
    }
    return true;
}

bool report_parts_write(const struct report *report, const struct table_desc *const *known, int fd,
                        struct err *err)
{
    struct writing writing = {.fd = fd, .context = ZSTD_createCCtx()};
    bool ok = writing.context ? write_tables(&writing, report, known, err)
                              : err_set(err, ERR_MEMORY, "out of memory for compressing tables");
    ZSTD_freeCCtx(writing.context);
    buf_free(&writing.plain);
    free(writing.packed.at);
    return ok;
}

int report_parts_hold(const struct report *report, const struct table_desc *const *known,
                      struct err *err)
{
    int fd = memfd_create("stepscope-tables", MFD_CLOEXEC);
    if (fd < 0) {
        err_set_errno(err, "making a file for the tables");
    } else if (!report_parts_write(report, known, fd, err)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// --- reading ------------------------------------------------------------------------------------

void report_parts_open(struct report_parts *parts, int fd, const struct table_desc *const *known)
{
    *parts = (struct report_parts){.fd = fd, .known = known, .end = UINT64_MAX};
}

void report_parts_close(struct report_parts *parts)
{
    free(parts->frame.at);
}

// *got is less than len at the end.
static bool read_all(struct report_parts *parts, void *to, size_t len, size_t *got, struct err *err)
{
    uint64_t left = parts->end - parts->at;
    ssize_t read = len <= left ? fd_read_at(parts->fd, to, len, parts->at) : 0;
    if (read < 0)
        return err_set_errno(err, "reading tables");
    *got = (size_t)read;
    parts->at += *got;
    return true;
}

static bool refuse_damaged(const struct report_parts *parts, struct err *err)
{
    return err_set_at(err, ERR_FORMAT, parts->at, "its tables are cut or damaged");
}

static bool take_header(struct report_parts *parts, const struct header *header, struct err *err)
{
    uint64_t count = 0;
    while (count < REPORT_MAX_TABLES && parts->known[count])
        count++;
    if (header->magic != PART_MAGIC || header->table >= count || header->len == 0 ||
        header->len > REPORT_PART_MOST_BYTES || header->number != parts->next[header->table]++)
        return refuse_damaged(parts, err);
    parts->part = (struct report_part){.desc = parts->known[header->table],
                                       .table = (unsigned)header->table,
                                       .number = header->number};
    return true;
}

bool report_parts_next(struct report_parts *parts, bool *found, struct err *err)
{
    struct header header = {0};
    size_t got;
    *found = false;
    if (!read_all(parts, &header, sizeof header, &got, err))
        return false;
    if (got == 0)
        return true;
    if (got < sizeof header)
        return refuse_damaged(parts, err);
    if (!take_header(parts, &header, err) || !make_room(&parts->frame, header.len, err) ||
        !read_all(parts, parts->frame.at, header.len, &got, err))
        return false;
    if (got < header.len)
        return refuse_damaged(parts, err);
    parts->part.frame = (struct str){parts->frame.at, header.len};
    *found = true;
    return true;
}

// The plain text lives in the arena.
static bool unpack(struct str frame, size_t max_bytes, struct arena *arena, struct str *plain,
                   struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame.at, frame.len);
    if (size > max_bytes) // both error values are larger, too
        return err_set(err, ERR_FORMAT, "stored tables are damaged");
    char *at = arena_room(arena, size + 1, 1, err);
    if (!at)
        return false;
    *plain = (struct str){at, ZSTD_decompress(at, size, frame.at, frame.len)};
    return plain->len == size || err_set(err, ERR_FORMAT, "stored tables are damaged");
}

bool report_unpack(struct str frame, size_t max_bytes, const struct table_desc *const *known,
                   struct report *report, struct err *err)
{
    struct arena arena; // loading copies texts
    struct str plain;
    arena_init(&arena, report->arena->budget);
    bool ok =
        unpack(frame, max_bytes, &arena, &plain, err) && report_load(report, plain, known, err);
    arena_free(&arena);
    return ok;
}

bool report_part_load(const struct report_part *part, struct report *report, struct err *err)
{
    const struct table *table = report_find(report, part->desc->name);
    size_t before = table ? table->row_count : 0;
    struct arena arena;
    struct str plain;
    arena_init(&arena, report->arena->budget);
    bool ok = unpack(part->frame, REPORT_PART_MOST_BYTES, &arena, &plain, err) &&
              report_load_part(report, plain, part->desc, REPORT_PART_ROWS, err);
    arena_free(&arena);
    table = report_find(report, part->desc->name);
    bool more = table && table->row_count > before;
    return ok && (more || part->number == 0 ||
                  err_set(err, ERR_FORMAT, "a part of table %s has no rows", part->desc->name));
}
