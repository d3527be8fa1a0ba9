// SPDX-License-Identifier: Apache-2.0
// Pages and streams of tables in parts.
#include "server/api/table_parts.h"

#include "server/base/services.h"
#include "server/care/intake.h"

#define STREAM_HELD_BYTES ((uint64_t)4 << 20) // a part as cells and as text, and its compressor
#define KEEP_ROWS         ((uint64_t)4096)    // beyond a page, before others are dropped

// --- one part -----------------------------------------------------------------------------------

// A table being read part by part.
struct reading {
    struct store *store;
    const struct table_place *place;
    const struct table_query *query;
    uint64_t at; // of the next part
    bool more;   // it may have rows
};

// The rows of the next part that match.
static bool read_matches(struct reading *reading, struct arena *arena, struct table_page *matches,
                         struct err *err)
{
    struct report report = {.arena = arena};
    struct table_query filters = *reading->query;
    struct table none = {.desc = reading->place->desc};
    filters.sort_count = 0;
    filters.offset = 0;
    filters.limit = TABLE_QUERY_NO_LIMIT;
    if (!store_read_part(reading->store, reading->place, &reading->at, &report, &reading->more,
                         err))
        return false;
    const struct table *found = report.table_count ? &report.tables[0] : &none;
    return table_select(found, &filters, arena, matches, err);
}

// --- pages --------------------------------------------------------------------------------------

// Candidates for a page so far.
struct keeping {
    const struct table_query *query;
    struct arena arena; // of report, within the page's budget
    struct report report;
    uint64_t total, end; // matching rows; the first that is on no page
};

static bool keep_rows(struct report *to, const struct table *rows, size_t first, size_t count,
                      struct err *err)
{
    for (size_t row = first; row < first + count; row++)
        if (!report_add(to, rows->desc, rows->cells + row * rows->desc->column_count, err))
            return false;
    return true;
}

// Drops all but the first rows.
static bool thin_out(struct keeping *keeping, struct err *err)
{
    struct report fewer = {.arena = &(struct arena){0}};
    struct table_query best = *keeping->query;
    struct table_page page;
    best.offset = 0;
    best.limit = keeping->end;
    best.filter_count = 0;
    best.search = STR("");
    arena_init(fewer.arena, keeping->arena.budget);
    bool ok = table_select(&keeping->report.tables[0], &best, &keeping->arena, &page, err) &&
              keep_rows(&fewer, &page.table, 0, page.table.row_count, err);
    arena_free(&keeping->arena);
    keeping->arena = *fewer.arena;
    keeping->report = fewer;
    keeping->report.arena = &keeping->arena;
    return ok;
}

static size_t kept_rows(const struct keeping *keeping)
{
    return keeping->report.table_count ? keeping->report.tables[0].row_count : 0;
}

static bool keep_matches(struct keeping *keeping, const struct table *matches, struct err *err)
{
    const struct table_query *query = keeping->query;
    uint64_t before = keeping->total, count = matches->row_count, first = 0;
    keeping->total += count;
    if (query->sort_count == 0) { // those within the page
        first = query->offset > before ? query->offset - before : 0;
        uint64_t end = keeping->end > before ? keeping->end - before : 0;
        end = end < count ? end : count;
        count = first < end ? end - first : 0;
    }
    if (count && !keep_rows(&keeping->report, matches, first, count, err))
        return false;
    return query->sort_count == 0 || keeping->end > UINT64_MAX / 4 ||
           kept_rows(keeping) < 2 * keeping->end + KEEP_ROWS || thin_out(keeping, err);
}

static bool keep_all(struct keeping *keeping, struct store *store, const struct table_place *place,
                     struct err *err)
{
    struct reading reading = {store, place, keeping->query, 0, true};
    bool ok = true;
    while (ok && reading.more) {
        struct arena scratch;
        struct table_page matches;
        arena_init(&scratch, NULL);
        ok = read_matches(&reading, &scratch, &matches, err) &&
             keep_matches(keeping, &matches.table, err);
        arena_free(&scratch);
    }
    return ok;
}

bool table_parts_page(struct store *store, const struct table_place *place,
                      const struct table_query *query, struct arena *arena, struct table_page *page,
                      struct err *err)
{
    struct keeping keeping = {.query = query};
    struct table none = {.desc = place->desc};
    struct table_query last = *query;
    bool all = query->limit > UINT64_MAX - query->offset;
    keeping.end = all ? UINT64_MAX : query->offset + query->limit;
    arena_init(&keeping.arena, arena->budget);
    keeping.report.arena = &keeping.arena;
    *page = (struct table_page){.table = none};
    if (!table_query_check(query, place->desc, err))
        return false;
    last.filter_count = 0;
    last.search = STR("");
    last.offset = query->sort_count ? query->offset : 0; // otherwise earlier rows were already left
                                                         // out
    bool ok = keep_all(&keeping, store, place, err) &&
              table_select(kept_rows(&keeping) ? &keeping.report.tables[0] : &none, &last, arena,
                           page, err);
    arena_take(arena, &keeping.arena);
    page->total = keeping.total;
    page->offset = query->offset;
    return ok;
}

// --- streams ------------------------------------------------------------------------------------

struct table_stream {
    struct store *store;
    struct table_place place;
    struct table_request table;
    uint64_t at;            // of the next part
    uint64_t total, rows;   // matched, and written
    unsigned column;        // being written, if columns follow one another
    struct table_desc lone; // with only this column, if no other is filtered
};

// Rows of the next part from the offset on.
static bool next_rows(struct table_stream *stream, struct arena *arena, struct table *rows,
                      bool *more, struct err *err)
{
    const struct table_query *query = &stream->table.query;
    struct table_page matches;
    struct reading reading = {stream->store, &stream->place, query, stream->at, false};
    if (!read_matches(&reading, arena, &matches, err))
        return false;
    stream->at = reading.at;
    *more = reading.more;
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

static bool put_next_rows(void *context, struct buf *out, bool *more, struct err *err)
{
    struct table_stream *stream = context;
    struct arena arena;
    struct table rows;
    arena_init(&arena, NULL);
    bool ok = next_rows(stream, &arena, &rows, more, err);
    if (ok) {
        struct export_view view = table_view(&stream->table);
        stream->table.export->rows(&view, &rows, stream->rows, out);
        stream->rows += rows.row_count;
    }
    arena_free(&arena);
    if (ok && !*more) {
        struct export_end end = {.rows = stream->rows, .total = stream->total};
        table_put_tail(&stream->table, &end, out);
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
    stream->place.desc = is_lone(stream) ? &stream->lone : desc;
    stream->total = stream->rows = 0;
}

static bool put_next_values(void *context, struct buf *out, bool *more, struct err *err)
{
    struct table_stream *stream = context;
    struct arena arena;
    struct table rows;
    if (stream->at == 0)
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
    stream->at = 0;
    *more = ++stream->column < stream->table.column_count;
    struct export_end end = {.rows = stream->rows, .total = stream->total};
    if (!*more)
        table_put_tail(&stream->table, &end, out);
    return true;
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
        .store = request->services->intake->store, .place = *place, .table = *table};
    response->stream =
        (struct response_stream){.next = table->export->column ? put_next_values : put_next_rows,
                                 .context = stream,
                                 .held_bytes = STREAM_HELD_BYTES};
    table_reply_head(request, response, table, name);
    table_put_head(table, &response->body);
    // What cannot be read at all is refused, not truncated; short answers have a length.
    bool ok = response->stream.next(stream, &response->body, &more, err);
    if (!more || !ok)
        response->stream = (struct response_stream){0};
    return ok && buf_ok(&response->body, err);
}
