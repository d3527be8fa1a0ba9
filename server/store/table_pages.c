// SPDX-License-Identifier: Apache-2.0
// Pages of tables that are read part by part.
#include "server/store/store.h"

#include "ingest/base/clock.h"

#define KEEP_ROWS ((uint64_t)4096) // kept beyond a page before other rows are dropped
#define RETRY_NS  INT64_C(2000000000)
enum { TRIES = 4 }; // to read a page whose run keeps changing

bool store_read_matches(struct store *store, struct table_cursor *cursor,
                        const struct table_query *query, struct arena *arena,
                        struct table_page *matches, struct err *err)
{
    struct report report = {.arena = arena};
    struct table_query filters = *query;
    struct table none = {.desc = cursor->place.desc};
    filters.sort_count = 0;
    filters.offset = 0;
    filters.limit = TABLE_QUERY_NO_LIMIT;
    if (!store_read_part(store, cursor, &report, err))
        return false;
    const struct table *found = report.table_count ? &report.tables[0] : &none;
    return table_select(found, &filters, arena, matches, err);
}

// Candidates for the rows of a page.
struct keeping {
    const struct table_query *query;
    struct arena arena; // of report, within the page's budget
    struct report report;
    uint64_t total, end; // number of matching rows; the first after the page
};

static bool keep_rows(struct report *to, const struct table *rows, size_t first, size_t count,
                      struct err *err)
{
    for (size_t row = first; row < first + count; row++)
        if (!report_add(to, rows->desc, rows->cells + row * rows->desc->column_count, err))
            return false;
    return true;
}

// Drops rows that cannot be on the page.
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
    if (query->sort_count == 0) { // only rows of the page
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

static bool keep_rest(struct keeping *keeping, struct store *store, struct table_cursor *cursor,
                      struct err *err)
{
    bool ok = true;
    while (ok && cursor->more) {
        struct arena scratch;
        struct table_page matches;
        arena_init(&scratch, NULL);
        ok = store_read_matches(store, cursor, keeping->query, &scratch, &matches, err) &&
             keep_matches(keeping, &matches.table, err);
        arena_free(&scratch);
    }
    return ok;
}

// The page, once the first part's matches are known.
static bool read_rest(struct store *store, struct table_cursor *cursor,
                      const struct table_query *query, struct arena *arena, struct table_page *page,
                      struct err *err)
{
    struct keeping keeping = {.query = query};
    struct table none = {.desc = cursor->place.desc};
    struct table_query last = *query;
    bool all = query->limit > UINT64_MAX - query->offset;
    keeping.end = all ? UINT64_MAX : query->offset + query->limit;
    arena_init(&keeping.arena, arena->budget);
    keeping.report.arena = &keeping.arena;
    last.filter_count = 0;
    last.search = STR("");
    // Without an order, rows before the page were left out already.
    last.offset = query->sort_count ? query->offset : 0;
    bool ok = keep_matches(&keeping, &page->table, err) &&
              keep_rest(&keeping, store, cursor, err) &&
              table_select(kept_rows(&keeping) ? &keeping.report.tables[0] : &none, &last, arena,
                           page, err);
    arena_take(arena, &keeping.arena);
    page->total = keeping.total;
    page->offset = query->offset;
    return ok;
}

static bool read_page(struct store *store, const struct table_place *place,
                      const struct table_query *query, struct arena *arena, struct table_page *page,
                      struct err *err)
{
    struct table_cursor cursor = {.place = *place};
    struct table_page first;
    struct table_query rest = *query;
    if (!store_read_matches(store, &cursor, query, arena, &first, err))
        return false;
    rest.filter_count = 0;
    rest.search = STR("");
    if (!cursor.more) // the usual case: nothing needs to be copied
        return table_select(&first.table, &rest, arena, page, err);
    *page = first;
    return read_rest(store, &cursor, query, arena, page, err);
}

bool store_read_table(struct store *store, const struct table_place *place,
                      const struct table_query *query, struct arena *arena, struct table_page *page,
                      struct err *err)
{
    *page = (struct table_page){.table = {.desc = place->desc}};
    if (!table_query_check(query, place->desc, err))
        return false;
    int64_t end_ns = clock_mono_ns() + RETRY_NS;
    for (int tries = 1; !read_page(store, place, query, arena, page, err); tries++)
        if (err->code != ERR_BUSY || place->revision != STORE_ANY || tries == TRIES ||
            clock_mono_ns() > end_ns)
            return false;
    return true;
}
