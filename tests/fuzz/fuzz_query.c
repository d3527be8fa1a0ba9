// SPDX-License-Identifier: Apache-2.0
// Any bytes as an address, its parameters, cursors, hosts and names: never a crash, and only clean
// text comes out.
#include "server/api/table_reply.h"
#include "server/http/precheck.h"
#include "server/routes.h"
#include "server/uploads/sniff.h"
#include "server/uploads/upload_form.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Either outcome is fine; only crashes are not.
static void ignore(bool outcome)
{
    (void)outcome;
}

// A decoded text contains neither control characters nor invalid UTF-8.
static void check_clean(struct str text)
{
    if (str_valid_utf8(text) != text.len)
        abort();
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < 0x20)
            abort();
}

static void fuzz_query(struct str text, struct arena *arena)
{
    struct query query;
    struct err err = {0};
    int64_t seconds = 0;
    if (!query_parse(text, arena, &query, &err))
        return;
    for (size_t i = 0; i < query.count; i++) {
        check_clean(query.params[i].name);
        check_clean(query.params[i].value);
        ignore(query_duration(query.params[i].value, &seconds, &err));
        struct table_query table = {.search = query.params[i].name};
        ignore(table_cursor_read(&table, query.params[i].value, &err));
    }
}

static void fuzz_request(struct str text, struct arena *arena)
{
    struct precheck precheck = {.listen = STR("127.0.0.1:8080"), .public_url = STR("")};
    struct request_header headers[] = {{STR("Host"), text},
                                       {STR("Content-Length"), text},
                                       {STR("Accept"), text},
                                       {STR("If-None-Match"), text}};
    struct request request = {.arena = arena,
                              .method = STR("POST"),
                              .path = text,
                              .headers = headers,
                              .header_count = sizeof(headers) / sizeof(*headers)};
    struct response response;
    struct err err = {0};
    response_init(&response);
    ignore(precheck_request(&precheck, &request, &response, &err));
    (void)precheck_length(&request);
    (void)request_accepts(&request, "Accept", "text/html");
    (void)response_unchanged(&request, &response, "tag");
    if (routes_find(&request, &response, &err) && request.route)
        for (size_t i = 0; i < REQUEST_MAX_CAPTURES; i++)
            if (request.captures[i].at)
                check_clean(request.captures[i]);
    response_free(&response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct err err = {0};
    struct str text = {(const char *)data, size};
    struct str display;
    struct buf csv = {0};
    arena_init(&arena, NULL);
    fuzz_query(text, &arena);
    fuzz_request(text, &arena);
    ignore(sniff_trace(text, &err));
    if (upload_display_name(text, &arena, &display, &err)) {
        check_clean(display);
        if (display.len > 255)
            abort();
    }
    export_csv_cell(cell_text(text), COLUMN_TEXT, &csv);
    buf_free(&csv);
    arena_free(&arena);
    return 0;
}
