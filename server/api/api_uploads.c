// SPDX-License-Identifier: Apache-2.0
// The state of an upload, and the bytes as uploaded.
#include "server/api/api.h"

#include "analysis/report/row.h"
#include "server/api/table_reply.h"
#include "server/store/server_tables.h"

static const char *const no_parameters[] = {NULL};

// --- the state of an upload ---------------------------------------------------------------------

static void fill_row(const struct request *request, const struct trace_row *trace,
                     struct cell *cells)
{
    struct row row = {.desc = &table_upload};
    row_text(&row, UPLOAD_TRACE, trace->id);
    row_text(&row, UPLOAD_RUN, trace->run_id);
    row_i64_if(&row, UPLOAD_RANK, trace->rank >= 0, trace->rank);
    row_text(&row, UPLOAD_RANK_FROM, trace->rank_from);
    row_text(&row, UPLOAD_FILENAME, trace->filename);
    row_i64(&row, UPLOAD_BYTES, trace->bytes);
    row_text(&row, UPLOAD_SHA256, trace->sha256);
    row_word(&row, UPLOAD_STATUS, trace_state_word(trace->state));
    row_f64(&row, UPLOAD_PROGRESS, api_trace_progress(request, trace));
    row_text(&row, UPLOAD_ERROR, trace->error);
    row_text(&row, UPLOAD_WARNING, trace->warning);
    row_put(&row, cells);
}

static bool reply_table(struct request *request, struct response *response,
                        const struct table_request *asked, const struct upload *upload,
                        struct err *err)
{
    struct table table = {.desc = &table_upload, .row_count = upload->count};
    unsigned width = table_upload.column_count;
    table.cells = arena_array(request->arena, upload->count * width, sizeof *table.cells, err);
    if (!table.cells)
        return false;
    for (size_t i = 0; i < upload->count; i++)
        fill_row(request, &upload->traces[i], table.cells + i * width);
    return table_reply_rows(request, response, asked, &table, err);
}

bool api_get_upload(struct request *request, struct response *response, struct err *err)
{
    static const char *const of_object[] = {"fields", "format", NULL};
    struct store *store = request->services->intake->store;
    struct table_request asked;
    struct upload upload;
    struct run run;
    if (!table_request_parse(request, &table_upload, NULL, &asked, err) ||
        !store_find_upload(store, request->captures[0], request->arena, &upload, err) ||
        !store_find_run(store, upload.run_id, request->arena, &run, err))
        return false;
    if (asked.export != &export_json || asked.chosen)
        return reply_table(request, response, &asked, &upload, err);
    if (!query_allow(&request->query, of_object, err)) {
        response->fix = STR("filters, order and pages need its table form: add fields or a format");
        return false;
    }
    struct api_upload what = {.upload = &upload, .run = &run};
    return api_upload_json(request, &what, &response->body, err) &&
           api_finish_json(request, response, "upload", err);
}

// --- the bytes as uploaded ----------------------------------------------------------------------

bool api_get_trace(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = request->services->intake;
    struct run run;
    struct trace_row trace;
    int64_t rank = -1;
    request->is_download = true;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    if (!str_to_i64(request->captures[1], &rank) || rank < 0)
        return err_set(err, ERR_USAGE, "found rank '%.*s', expected a number",
                       (int)(request->captures[1].len < 20 ? request->captures[1].len : 20),
                       request->captures[1].at);
    if (!store_find_rank(intake->store, run.id, rank, request->arena, &trace, err))
        return false;
    struct api_file file = {trace.sha256, trace.filename, trace.secrets};
    return api_send_file(request, response, &file, err);
}
