// SPDX-License-Identifier: Apache-2.0
// How large a run's tables become in a format, before someone fetches them.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "server/exports/export.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

// Longer tables are not read in full: their size is extrapolated from this many rows, by what the
// second half of these adds.
#define SAMPLE_ROWS ((uint64_t)256)

struct table_sizes {
    struct request *request;
    const struct run *run;
    const struct table_export *export;
    struct str trace_id; // of the rank whose details are asked for; "": none
    struct buf *out;
    const char *comma;
};

// Bytes of a file with the first rows of a page.
static bool measure(const struct table_export *export, const struct table_page *page, size_t rows,
                    uint64_t *bytes, struct err *err)
{
    unsigned columns[TABLE_MAX_COLUMNS];
    struct table part = page->table;
    struct export_view view = export_view_of(part.desc, columns);
    struct export_end end = {.rows = page->total, .total = page->total};
    struct buf file = {0};
    part.row_count = rows;
    bool ok = export_table(export, &view, &part, &end, &file, err);
    *bytes = file.len;
    buf_free(&file);
    return ok;
}

// A spreadsheet says when it was made, and that compresses to a few bytes more or fewer.
static bool is_steady(const struct table_export *export)
{
    return export != &export_xlsx;
}

static bool put_size(struct table_sizes *sizes, const struct table_page *page, struct err *err)
{
    uint64_t bytes, half_bytes = 0;
    size_t rows = page->table.row_count, half = rows / 2;
    bool is_all = rows == page->total;
    if (!measure(sizes->export, page, rows, &bytes, err) ||
        (!is_all && !measure(sizes->export, page, half, &half_bytes, err)))
        return false;
    if (!is_all && bytes > half_bytes)
        bytes += (bytes - half_bytes) * (page->total - rows) / (rows - half);
    buf_printf(sizes->out, "%s{\"table\":\"%s\",\"rows\":%llu,\"bytes\":%llu,\"exact\":%s}",
               sizes->comma, page->table.desc->name, (unsigned long long)page->total,
               (unsigned long long)bytes, is_all && is_steady(sizes->export) ? "true" : "false");
    sizes->comma = ",";
    return buf_ok(sizes->out, err);
}

static bool put_table(struct table_sizes *sizes, const struct table_desc *desc, struct str trace_id,
                      struct err *err)
{
    struct table_place place = {sizes->run->id, STORE_ANY, trace_id, desc};
    struct table_query query = {.limit = SAMPLE_ROWS};
    struct table_page page;
    struct arena arena;
    if (sizes->export->suits && !sizes->export->suits(desc))
        return true;
    arena_init(&arena, NULL);
    bool ok = store_read_table(sizes->request->services->intake->store, &place, &query, &arena,
                               &page, err) &&
              put_size(sizes, &page, err);
    arena_free(&arena);
    return ok;
}

static bool put_tables(struct table_sizes *sizes, struct err *err)
{
    for (const struct table_desc *const *desc = run_tables; *desc; desc++)
        if (!put_table(sizes, *desc, STR(""), err))
            return false;
    for (const struct table_desc *const *desc = trace_tables; sizes->trace_id.len && *desc; desc++)
        if (api_is_detail(*desc) && !put_table(sizes, *desc, sizes->trace_id, err))
            return false;
    return true;
}

static bool write_sizes(struct table_sizes *sizes, struct response *response, struct err *err)
{
    sizes->out = &response->body;
    sizes->comma = "";
    response->type = "application/json";
    if (!api_take_turn(sizes->request, response, err))
        return false;
    buf_printf(sizes->out, "{\"format\":\"%s\",\"tables\":[", sizes->export->word);
    bool ok = put_tables(sizes, err);
    reply_room_end(sizes->request->services->room);
    buf_puts(sizes->out, "]}\n");
    return ok && buf_ok(sizes->out, err);
}

static bool read_format(const struct request *request, const struct table_export **export,
                        struct err *err)
{
    struct str word = query_get(&request->query, "format");
    *export = word.at ? export_find(word, err) : &export_csv;
    return *export != NULL;
}

bool api_get_table_sizes(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"rank", "format", NULL};
    struct table_sizes sizes = {.request = request};
    struct run run;
    int64_t rank = -1;
    if (!query_allow(&request->query, known, err) || !read_format(request, &sizes.export, err) ||
        !query_get_int(&request->query, (struct query_int){"rank", -1, 0, INT32_MAX}, &rank, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !api_find_details(request, &run, &rank, &sizes.trace_id, err))
        return false;
    sizes.run = &run;
    return api_run_unchanged(request, response, &run, "table-sizes",
                             export_hash(sizes.export) + (uint64_t)rank) ||
           write_sizes(&sizes, response, err);
}
