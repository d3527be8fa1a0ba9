// SPDX-License-Identifier: Apache-2.0
// Tables that are sent part by part.
#include "server/api/table_parts.h"

#include "server/base/services.h"
#include "server/care/intake.h"

#define STREAM_HELD_BYTES ((uint64_t)4 << 20) // a part as cells and as text, and what packs it

struct table_stream {
    struct store *store;
    struct table_cursor cursor;
    struct table_request table;
    uint64_t total, rows;   // that matched, and that were written
    bool ended;             // only the rest of the format is left
    unsigned column;        // which is written, where columns follow one another
    struct table_desc lone; // of only this column, if no other is filtered
};

// Rows of the next part from the offset on.
static bool next_rows(struct table_stream *stream, struct arena *arena, struct table *rows,
                      bool *more, struct err *err)
{
    const struct table_query *query = &stream->table.query;
    struct table_page matches;
    if (!store_read_matches(stream->store, &stream->cursor, query, arena, &matches, err))
        return false;
    *more = stream->cursor.more;
    uint64_t before = stream->total, count = matches.table.row_count;
    uint64_t skipped = query->offset > before ? query->offset - before : 0;
    skipped = skipped < count ? skipped : count;
    stream->total += count;
    *rows = matches.table;
    rows->row_count -= skipped;
    if (rows->cells)
        rows->cells += skipped * rows->desc->column_count;
    return true;
}

static void put_tail(struct table_stream *stream, struct buf *out)
{
    struct export_view view = table_view(&stream->table);
    struct export_end end = {.rows = stream->rows, .total = stream->total};
    export_tail(stream->table.export, &view, &end, out);
}

static bool put_rest(struct table_stream *stream, struct buf *out, bool *more, struct err *err)
{
    struct export_view view = table_view(&stream->table);
    return stream->table.export->rest(&view, out, more, err);
}

static bool put_next_rows(void *context, struct buf *out, bool *more, struct err *err)
{
    struct table_stream *stream = context;
    struct arena arena;
    struct table rows;
    if (stream->ended)
        return put_rest(stream, out, more, err);
    arena_init(&arena, NULL);
    bool ok = next_rows(stream, &arena, &rows, more, err);
    if (ok) {
        struct export_view view = table_view(&stream->table);
        stream->table.export->rows(&view, &rows, stream->rows, out);
        stream->rows += rows.row_count;
    }
    arena_free(&arena);
    if (ok && !*more) {
        put_tail(stream, out);
        stream->ended = *more = stream->table.export->rest;
    }
    return ok;
}

// Whether a column alone decides which of its rows are wanted.
static bool is_lone(const struct table_stream *stream)
{
    return stream->table.query.filter_count == 0 && stream->table.query.search.len == 0;
}

static void begin_column(struct table_stream *stream, struct buf *out)
{
    const struct table_desc *desc = stream->table.desc;
    unsigned column = stream->table.columns[stream->column];
    struct export_view view = table_view(&stream->table);
    stream->table.export->column(&view, stream->column, out);
    stream->lone = (struct table_desc){desc->name, desc->help, &desc->columns[column], 1, 0};
    stream->cursor.place.desc = is_lone(stream) ? &stream->lone : desc;
    stream->total = stream->rows = 0;
}

static bool put_next_values(void *context, struct buf *out, bool *more, struct err *err)
{
    struct table_stream *stream = context;
    struct arena arena;
    struct table rows;
    if (stream->cursor.next == 0)
        begin_column(stream, out);
    arena_init(&arena, NULL);
    bool ok = next_rows(stream, &arena, &rows, more, err);
    if (ok) {
        unsigned index = is_lone(stream) ? 0 : stream->table.columns[stream->column];
        stream->table.export->values(&rows, index, stream->rows, out);
        stream->rows += rows.row_count;
    }
    arena_free(&arena);
    if (!ok || *more)
        return ok;
    stream->cursor.next = 0;
    *more = ++stream->column < stream->table.column_count;
    if (!*more)
        put_tail(stream, out);
    return true;
}

// Writes all columns of a table of a few parts, which are read once. *more: it has too many, and
// nothing was written.
static bool put_at_once(const struct table_stream *stream, struct buf *out, bool *more,
                        struct err *err)
{
    struct budget budget = {.limit = STREAM_HELD_BYTES};
    struct arena arena;
    struct table_page page;
    arena_init(&arena, &budget);
    bool ok = store_read_table(stream->store, &stream->cursor.place, &stream->table.query, &arena,
                               &page, err);
    *more = !ok && err->code == ERR_LIMIT;
    if (ok) {
        struct export_view view = table_view(&stream->table);
        struct export_end end = {.rows = page.table.row_count, .total = page.total};
        export_rows(stream->table.export, &view, &page.table, out);
        export_tail(stream->table.export, &view, &end, out);
    }
    arena_free(&arena);
    return ok || *more;
}

// Frees what the format keeps.
static void end_stream(void *context)
{
    struct table_stream *stream = context;
    struct export_view view = table_view(&stream->table);
    export_close(stream->table.export, &view);
    stream->table.state = NULL;
}

static bool begin_stream(struct table_stream *stream, struct buf *out, struct err *err)
{
    struct export_view view = table_view(&stream->table);
    bool ok = export_open(stream->table.export, &view, err);
    stream->table.state = view.state;
    if (ok)
        export_head(stream->table.export, &view, out);
    return ok;
}

bool table_parts_stream(struct request *request, struct response *response,
                        const struct table_place *place, const struct table_request *table,
                        struct str name, struct err *err)
{
    struct table_stream *stream = arena_alloc(request->arena, sizeof *stream, err);
    bool more = true;
    if (!stream)
        return false;
    *stream = (struct table_stream){
        .store = request->services->intake->store, .cursor = {.place = *place}, .table = *table};
    response->stream =
        (struct response_stream){.next = table->export->column ? put_next_values : put_next_rows,
                                 .end = end_stream,
                                 .context = stream,
                                 .held_bytes = STREAM_HELD_BYTES};
    table_reply_head(request, response, table, name);
    // What cannot be read at all is refused, not truncated; short answers have a length.
    bool ok = begin_stream(stream, &response->body, err) &&
              (!table->export->column || put_at_once(stream, &response->body, &more, err));
    ok = ok && (!more || response->stream.next(stream, &response->body, &more, err));
    if (!more || !ok) {
        end_stream(stream);
        response->stream = (struct response_stream){0};
    }
    return ok && buf_ok(&response->body, err);
}
