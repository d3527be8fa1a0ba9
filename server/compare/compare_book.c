// SPDX-License-Identifier: Apache-2.0
// All tables of a comparison as one spreadsheet.
#include "server/compare/compare_reply.h"

#include "analysis/analysis.h"
#include "server/compare/compare_sides.h"
#include "server/exports/xlsx_book.h"

static bool write_book(const struct report *report, struct buf *out, struct err *err)
{
    bool more = true;
    struct xlsx_book *book = xlsx_book_open(err);
    if (!book)
        return false;
    for (size_t i = 0; i < report->table_count; i++)
        xlsx_book_table(book, &report->tables[i]);
    bool ok = xlsx_book_finish(book, err);
    while (ok && more)
        ok = xlsx_book_read(book, out, &more, err);
    xlsx_book_close(book);
    return ok;
}

static bool name_download(struct request *request, struct response *response,
                          const struct compared *compared, struct err *err)
{
    const struct str base = compared->sides[0].runs[0].name, cand = compared->sides[1].runs[0].name;
    char *name =
        arena_printf(request->arena, err, "%.*s%s-vs-%.*s", (int)cand.len, cand.at,
                     compared->side_count > 2 ? "-and-others" : "", (int)base.len, base.at);
    if (name)
        response_download(response, request->arena, str_of(name), export_xlsx.suffix);
    return name != NULL;
}

bool compare_get_workbook(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"base",  "cand",           "per",         "rank",
                                        "alpha", "relevant_share", "relevant_ns", NULL};
    struct compared compared = {0};
    struct comparison comparison;
    if (!query_allow(&request->query, known, err) ||
        !compare_sides_find(request, response, &compared, err))
        return false;
    response->lasts = true;
    if (response_data_unchanged(request, response, "c%d-%016llx-workbook", ANALYSIS_VERSION,
                                (unsigned long long)compare_sides_hash(request, &compared)))
        return true;
    if (!compare_sides_analyze(request, response, &compared, &comparison, err) ||
        !name_download(request, response, &compared, err))
        return false;
    response->type = export_xlsx.type;
    return write_book(&comparison.report, &response->body, err);
}
