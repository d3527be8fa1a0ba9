// SPDX-License-Identifier: Apache-2.0
// All tables of a run as one spreadsheet: those of the run, then those that only a rank has, of its
// headline rank, and that rank's sheets as TraceLens has them.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "server/exports/tracelens_sheets.h"
#include "server/exports/xlsx_book.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

#include <stdlib.h>

#define WORKBOOK_HELD_BYTES ((uint64_t)8 << 20) // a part of a table, and the texts of a sheet

struct workbook {
    struct store *store;
    struct xlsx_book *book;
    const struct table_desc *const *next; // of those not begun
    struct str run_id, trace_id;          // trace "": none, or those of the run are not done
    struct str headline_trace;
    int64_t headline_rank;
    struct table_cursor cursor; // of the current table, if its desc is set
    bool has_sheet, is_finished;
};

// The next table; false after the last.
static bool begin_table(struct workbook *workbook)
{
    bool of_rank = workbook->trace_id.len > 0;
    while (of_rank && *workbook->next && !api_is_detail(*workbook->next))
        workbook->next++;
    if (!*workbook->next) {
        if (of_rank || !workbook->headline_trace.len)
            return false;
        workbook->trace_id = workbook->headline_trace;
        workbook->next = trace_tables;
        return begin_table(workbook);
    }
    workbook->cursor = (struct table_cursor){
        .place = {workbook->run_id, STORE_ANY, workbook->trace_id, *workbook->next++}};
    workbook->has_sheet = false;
    return true;
}

static bool add_part(struct workbook *workbook, struct err *err)
{
    const struct table_desc *desc = workbook->cursor.place.desc;
    struct table_query query = {.limit = TABLE_QUERY_NO_LIMIT, .search = STR("")};
    unsigned columns[TABLE_MAX_COLUMNS];
    struct export_view view = export_view_of(desc, columns);
    struct table_page page;
    struct arena arena;
    arena_init(&arena, NULL);
    bool ok = store_read_matches(workbook->store, &workbook->cursor, &query, &arena, &page, err);
    if (ok && page.table.row_count) {
        if (!workbook->has_sheet)
            xlsx_book_sheet(workbook->book, &view);
        workbook->has_sheet = true;
        xlsx_book_rows(workbook->book, &view, &page.table);
    }
    arena_free(&arena);
    if (ok && !workbook->cursor.more)
        workbook->cursor.place.desc = NULL;
    return ok;
}

static bool add_tracelens(struct workbook *workbook, struct err *err)
{
    static const struct table_desc *const of_run[] = {&table_run_breakdown, NULL};
    static const struct table_desc *const of_rank[] = {&table_operators, NULL};
    struct arena arena;
    if (!workbook->headline_trace.len)
        return true;
    arena_init(&arena, NULL);
    struct report run = {.arena = &arena}, rank = {.arena = &arena};
    bool ok =
        store_load_run_tables(workbook->store, workbook->run_id, of_run, &run, err) &&
        store_load_trace_tables(workbook->store, workbook->headline_trace, of_rank, &rank, err);
    if (ok)
        tracelens_add_timeline(workbook->book, report_find(&run, table_run_breakdown.name),
                               workbook->headline_rank);
    ok = ok && tracelens_add_ops(workbook->book, report_find(&rank, table_operators.name), err);
    arena_free(&arena);
    return ok;
}

static bool next_piece(void *context, struct buf *out, bool *more, struct err *err)
{
    struct workbook *workbook = context;
    *more = true;
    if (workbook->is_finished)
        return xlsx_book_read(workbook->book, out, more, err);
    if (workbook->cursor.place.desc || begin_table(workbook))
        return add_part(workbook, err);
    workbook->is_finished = true;
    return add_tracelens(workbook, err) && xlsx_book_finish(workbook->book, err);
}

static void end_workbook(void *context)
{
    struct workbook *workbook = context;
    xlsx_book_close(workbook->book);
    free(workbook);
}

bool api_get_workbook(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {NULL};
    struct run run;
    struct str trace_id;
    int64_t rank = -1;
    if (!query_allow(&request->query, known, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !api_find_details(request, &run, &rank, &trace_id, err))
        return false;
    api_locate_run(request, response, &run, "/workbook");
    if (api_run_unchanged(request, response, &run, "workbook", 0))
        return true;
    struct workbook *workbook = calloc(1, sizeof *workbook);
    if (!workbook)
        return err_set(err, ERR_MEMORY, "out of memory");
    *workbook = (struct workbook){.store = request->services->intake->store,
                                  .book = xlsx_book_open(err),
                                  .next = run_tables,
                                  .run_id = run.id,
                                  .trace_id = STR(""),
                                  .headline_trace = trace_id,
                                  .headline_rank = rank};
    response->type = export_xlsx.type;
    response_download(response, request->arena, run.name, export_xlsx.suffix);
    response->stream = (struct response_stream){.next = next_piece,
                                                .end = end_workbook,
                                                .context = workbook,
                                                .held_bytes = WORKBOOK_HELD_BYTES};
    return workbook->book != NULL;
}
