// SPDX-License-Identifier: Apache-2.0
// The formats of a table.
#include "server/api/table_reply.h"

#include "ingest/base/hash.h"

// --- JSON ---------------------------------------------------------------------------------------

void table_json_cell(struct cell cell, enum column_type type, struct buf *out)
{
    if (cell.null) {
        buf_puts(out, "null");
        return;
    }
    switch (type) {
    case COLUMN_I64: buf_i64(out, cell.i); break;
    case COLUMN_BOOL: buf_puts(out, cell.i ? "true" : "false"); break;
    case COLUMN_F64: buf_f64(out, cell.f); break;
    case COLUMN_TEXT: buf_json(out, cell.s); break;
    }
}

static struct cell cell_at(const struct table *rows, size_t row, unsigned column)
{
    return rows->cells[row * rows->desc->column_count + column];
}

static void json_row(const struct table_request *table, const struct table *rows, size_t row,
                     struct buf *out)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->desc->columns[table->columns[i]];
        buf_putc(out, i ? ',' : '{');
        buf_json(out, str_of(column->name));
        buf_putc(out, ':');
        table_json_cell(cell_at(rows, row, table->columns[i]), column->type, out);
    }
    buf_putc(out, '}');
}

static const char *type_word(enum column_type type)
{
    switch (type) {
    case COLUMN_I64: return "integer";
    case COLUMN_F64: return "number";
    case COLUMN_TEXT: return "string";
    case COLUMN_BOOL: return "boolean";
    }
    return "";
}

static void json_columns(const struct table_request *table, struct buf *out)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->desc->columns[table->columns[i]];
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        buf_json(out, str_of(column->name));
        buf_printf(out, ",\"type\":\"%s\",\"unit\":", type_word(column->type));
        buf_json(out, str_of(column->unit));
        buf_puts(out, ",\"help\":");
        buf_json(out, str_of(column->help));
        buf_putc(out, '}');
    }
}

static bool has_more(const struct table_page *page)
{
    return page->offset + page->table.row_count < page->total && page->table.row_count > 0;
}

static void json_tail(const struct table_request *table, const struct table_page *page,
                      struct buf *out)
{
    buf_printf(out, "],\"total\":%llu,\"next_cursor\":", (unsigned long long)page->total);
    char cursor[TABLE_CURSOR_SIZE];
    table_cursor_write(&table->query, page->offset + page->table.row_count, cursor);
    if (has_more(page))
        buf_json(out, str_of(cursor));
    else
        buf_puts(out, "null");
    buf_puts(out, ",\"columns\":[");
    json_columns(table, out);
    buf_puts(out, "]}\n");
}

// {"name":unit,...} or the same of helps.
static void json_texts(const struct table_request *table, bool helps, struct buf *out)
{
    buf_putc(out, '{');
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->desc->columns[table->columns[i]];
        if (i)
            buf_putc(out, ',');
        buf_json(out, str_of(column->name));
        buf_putc(out, ':');
        buf_json(out, str_of(helps ? column->help : column->unit));
    }
    buf_putc(out, '}');
}

void table_put_values(const struct table *rows, unsigned column, uint64_t before, struct buf *out)
{
    for (size_t row = 0; row < rows->row_count; row++) {
        if (row || before)
            buf_putc(out, ',');
        table_json_cell(cell_at(rows, row, column), rows->desc->columns[column].type, out);
    }
}

void table_put_columns_tail(const struct table_request *table, uint64_t rows, uint64_t total,
                            struct buf *out)
{
    buf_puts(out, "},\"units\":");
    json_texts(table, false, out);
    buf_puts(out, ",\"help\":");
    json_texts(table, true, out);
    buf_printf(out, ",\"row_count\":%llu,\"total\":%llu}\n", (unsigned long long)rows,
               (unsigned long long)total);
}

static void write_columns(const struct table_request *table, const struct table_page *page,
                          struct buf *out)
{
    buf_puts(out, "{\"columns\":{");
    for (unsigned i = 0; i < table->column_count; i++) {
        if (i)
            buf_putc(out, ',');
        buf_json(out, str_of(table->desc->columns[table->columns[i]].name));
        buf_puts(out, ":[");
        table_put_values(&page->table, table->columns[i], 0, out);
        buf_putc(out, ']');
    }
    table_put_columns_tail(table, page->table.row_count, page->total, out);
}

// --- CSV ----------------------------------------------------------------------------------------

// The same signs as East Asian keyboards give them: U+FF1D, U+FF0B, U+FF0D, U+FF20.
static bool begins_wide(struct str line, size_t at)
{
    static const char *const signs[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                        "\xEF\xBC\xA0"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_starts_with((struct str){line.at + at, line.len - at}, str_of(signs[i])))
            return true;
    return false;
}

// Whether a spreadsheet would take a line for a formula: it begins, after blanks, with one of
// these.
static bool begins_formula(struct str line)
{
    size_t i = 0;
    for (;;) {
        if (i < line.len && line.at[i] == ' ')
            i++;
        else if (i + 1 < line.len && memcmp(line.at + i, "\xC2\xA0", 2) == 0)
            i += 2;
        else
            break;
    }
    return i < line.len && (memchr("=+-@\t\r", line.at[i], 6) || begins_wide(line, i));
}

// Text that is UTF-8, within the quotes; *line_begins carries on from piece to piece.
static void csv_text(struct str text, bool *line_begins, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (*line_begins && begins_formula((struct str){text.at + i, text.len - i}))
            buf_putc(out, '\'');
        if (c == '"')
            buf_putc(out, '"');
        buf_putc(out, c);
        *line_begins = c == '\n' || c == '\r';
    }
}

void table_csv_cell(struct cell cell, enum column_type type, struct buf *out)
{
    if (cell.null)
        return;
    if (type != COLUMN_TEXT) {
        table_json_cell(cell, type, out);
        return;
    }
    bool line_begins = true;
    struct str rest = cell.s;
    buf_putc(out, '"');
    while (rest.len) {
        size_t valid = str_valid_utf8(rest);
        csv_text((struct str){rest.at, valid}, &line_begins, out);
        size_t bad = valid < rest.len; // a byte that readers of UTF-8 would stumble over
        if (bad)
            buf_puts(out, "\xEF\xBF\xBD");
        rest = (struct str){rest.at + valid + bad, rest.len - valid - bad};
    }
    buf_putc(out, '"');
}

static void csv_row(const struct table_request *table, const struct table *rows, size_t row,
                    struct buf *out)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        unsigned column = table->columns[i];
        if (i)
            buf_putc(out, ',');
        table_csv_cell(cell_at(rows, row, column), table->desc->columns[column].type, out);
    }
    buf_puts(out, "\r\n");
}

static void csv_names(const struct table_request *table, struct buf *out)
{
    for (unsigned i = 0; i < table->column_count; i++)
        buf_printf(out, "%s%s", i ? "," : "", table->desc->columns[table->columns[i]].name);
    buf_puts(out, "\r\n");
}

// --- row after row ------------------------------------------------------------------------------

void table_put_head(const struct table_request *table, struct buf *out)
{
    if (table->format == TABLE_JSON)
        buf_puts(out, "{\"items\":[");
    else if (table->format == TABLE_CSV)
        csv_names(table, out);
}

void table_put_rows(const struct table_request *table, const struct table *rows, uint64_t before,
                    struct buf *out)
{
    for (size_t row = 0; row < rows->row_count; row++) {
        if (table->format == TABLE_CSV) {
            csv_row(table, rows, row, out);
            continue;
        }
        if (table->format == TABLE_JSON && (row || before))
            buf_putc(out, ',');
        json_row(table, rows, row, out);
        if (table->format == TABLE_NDJSON)
            buf_putc(out, '\n');
    }
}

void table_put_tail(const struct table_request *table, const struct table_page *page,
                    struct buf *out)
{
    if (table->format == TABLE_JSON)
        json_tail(table, page, out);
}

// --- headers ------------------------------------------------------------------------------------

static bool is_name_char(char c)
{
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    return letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// `attachment; filename="..."` of letters, digits and dashes.
static void name_download(struct request *request, struct response *response, struct str name,
                          const char *suffix)
{
    struct buf plain = {0};
    for (size_t i = 0; i < name.len; i++)
        buf_putc(&plain, is_name_char(name.at[i]) ? name.at[i] : '-');
    response_header(response, request->arena, "Content-Disposition",
                    "attachment; filename=\"%s.%s\"", plain.at ? plain.at : "table", suffix);
    buf_free(&plain);
}

// The same address with the next page's cursor.
static void link_next(struct request *request, struct response *response,
                      const struct table_request *table, const struct table_page *page)
{
    struct buf link = {0};
    char cursor[TABLE_CURSOR_SIZE];
    table_cursor_write(&table->query, page->offset + page->table.row_count, cursor);
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
    switch (table->format) {
    case TABLE_JSON:
    case TABLE_COLUMNS: response->type = "application/json"; break;
    case TABLE_CSV:
        response->type = "text/csv; charset=utf-8";
        name_download(request, response, name, "csv");
        break;
    case TABLE_NDJSON: response->type = "application/x-ndjson"; break;
    }
}

bool table_reply_write(struct request *request, struct response *response,
                       const struct table_request *table, const struct table_page *page,
                       struct str name, struct err *err)
{
    struct buf *out = &response->body;
    table_reply_head(request, response, table, name);
    if (table->format == TABLE_COLUMNS) {
        write_columns(table, page, out);
    } else {
        table_put_head(table, out);
        table_put_rows(table, &page->table, 0, out);
        table_put_tail(table, page, out);
    }
    if (has_more(page))
        link_next(request, response, table, page);
    return buf_ok(out, err);
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
