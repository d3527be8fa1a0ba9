// SPDX-License-Identifier: Apache-2.0
// Tables in the formats of server/exports.
#include "server/api/table_reply.h"

#include "ingest/base/hash.h"

struct export_view table_view(const struct table_request *table)
{
    return (struct export_view){table->desc, table->columns, table->column_count, table->state};
}

static bool has_more(const struct table_page *page)
{
    return page->offset + page->table.row_count < page->total && page->table.row_count > 0;
}

// --- headers ------------------------------------------------------------------------------------

// The same address with the next page's cursor.
static void link_next(struct request *request, struct response *response, const char *cursor)
{
    struct buf link = {0};
    buf_printf(&link, "<%.*s?", (int)request->path.len, request->path.at);
    struct str rest = request->query_text;
    while (rest.len) {
        size_t end = str_find(rest, STR("&"));
        struct str one = {rest.at, end == SIZE_MAX ? rest.len : end};
        rest = end == SIZE_MAX ? STR("") : (struct str){rest.at + end + 1, rest.len - end - 1};
        if (str_starts_with(one, STR("cursor=")))
            continue;
        buf_add_str(&link, one);
        buf_putc(&link, '&');
    }
    buf_printf(&link, "cursor=%s>; rel=\"next\"", cursor);
    response_header(response, request->arena, "Link", "%s", link.at ? link.at : "");
    buf_free(&link);
}

void table_reply_head(struct request *request, struct response *response,
                      const struct table_request *table, struct str name)
{
    response->type = table->export->type;
    if (table->export->suffix)
        response_download(response, request->arena, name, table->export->suffix);
}

bool table_reply_write(struct request *request, struct response *response,
                       const struct table_request *table, const struct table_page *page,
                       struct str name, struct err *err)
{
    struct export_view view = table_view(table);
    struct export_end end = {.rows = page->table.row_count,
                             .total = page->total,
                             .total_is_least = page->total_is_least};
    char cursor[TABLE_CURSOR_SIZE];
    if (has_more(page)) {
        table_cursor_write(&table->query, page->offset + page->table.row_count, cursor);
        end.next = cursor;
        link_next(request, response, cursor);
    }
    table_reply_head(request, response, table, name);
    return export_table(table->export, &view, &page->table, &end, &response->body, err);
}

bool table_reply_tagged(struct request *request, struct response *response,
                        const struct table_request *table, const struct table_page *page,
                        struct str name, struct err *err)
{
    if (!table_reply_write(request, response, table, page, name, err))
        return false;
    uint64_t hash = hash_bytes(response->body.at, response->body.len);
    (void)response_unchanged(request, response, "%s.%016llx", table->desc->name,
                             (unsigned long long)hash);
    return true;
}

bool table_reply_rows(struct request *request, struct response *response,
                      const struct table_request *asked, const struct table *table, struct err *err)
{
    struct table_page page;
    return table_select(table, &asked->query, request->arena, &page, err) &&
           table_reply_tagged(request, response, asked, &page, str_of(asked->desc->name), err);
}
