// SPDX-License-Identifier: Apache-2.0
// Archives and what became of their members.
#include "server/api/api.h"
#include "server/api/table_reply.h"
#include "server/store/server_tables.h"
#include "server/store/store_inputs.h"

static const char *const no_parameters[] = {NULL};

// Progress of an archive, 0..1; the rest is done or waits for its trace.
static double progress_of(const struct request *request, const struct input_row *input)
{
    double share = 0;
    if (input->state == TRACE_DONE || input->state == TRACE_FAILED)
        return 1;
    if (request->services->intake->jobs)
        (void)jobs_progress(request->services->intake->jobs,
                            input->trace_id.len ? input->trace_id : input->id, &share);
    return share;
}

static void fill_row(const struct request *request, const struct input_row *input, struct cell *row)
{
    const struct cell cells[] = {
        cell_text(input->id),
        cell_text(input->run_id),
        cell_text(input->run_name),
        cell_text(input->parent),
        cell_i64(input->position),
        cell_text(str_of(input_kind_word(input->kind))),
        cell_text(input->format),
        cell_text(input->filename),
        cell_i64(input->bytes),
        input->rank < 0 ? cell_null() : cell_i64(input->rank),
        cell_text(input->trace_id),
        cell_text(str_of(trace_state_word(input->state))),
        cell_f64(progress_of(request, input)),
        cell_text(input->reason),
        cell_bool(input->kind == INPUT_ATTACHMENT && input->blob.len > 0),
        input->secrets < 0 ? cell_null() : cell_i64(input->secrets),
    };
    memcpy(row, cells, sizeof cells);
}

static bool fill_table(const struct request *request, const struct input_row *inputs,
                       struct table *table, struct err *err)
{
    unsigned width = table_inputs.column_count;
    table->desc = &table_inputs;
    table->cells =
        arena_array(request->arena, table->row_count * width + 1, sizeof *table->cells, err);
    for (size_t i = 0; table->cells && i < table->row_count; i++)
        fill_row(request, &inputs[i], table->cells + i * width);
    return table->cells;
}

bool api_list_inputs(struct request *request, struct response *response, struct err *err)
{
    struct table_request asked;
    struct run run;
    struct input_row *inputs;
    struct table table = {0};
    if (!table_request_parse(request, &table_inputs, NULL, &asked, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !store_list_inputs(request->services->intake->store, run.id, request->arena, &inputs,
                           &table.row_count, err) ||
        !fill_table(request, inputs, &table, err))
        return false;
    api_locate_run(request, response, &run, "/inputs");
    return table_reply_rows(request, response, &asked, &table, err);
}

void api_input_json(const struct request *request, const struct input_row *input, struct buf *out)
{
    struct cell row[TABLE_MAX_COLUMNS];
    struct table table = {.desc = &table_inputs, .cells = row, .row_count = 1};
    fill_row(request, input, row);
    report_row_json(&table, 0, out);
}

bool api_get_input_file(struct request *request, struct response *response, struct err *err)
{
    struct input_row input;
    request->is_download = true;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_find_input(request->services->intake->store, request->captures[0], request->arena,
                          &input, err))
        return false;
    if (input.kind != INPUT_ATTACHMENT || input.blob.len == 0)
        return err_set(err, ERR_NOT_FOUND, "found input %.*s, %s %s; expected an attachment",
                       (int)input.id.len, input.id.at, input.kind == INPUT_ARCHIVE ? "an" : "a",
                       input_kind_word(input.kind));
    const char *slash = memrchr(input.filename.at, '/', input.filename.len);
    struct str name = input.filename;
    if (slash)
        name = (struct str){slash + 1, (size_t)(name.at + name.len - slash - 1)};
    struct api_file file = {input.blob, name, input.secrets};
    return api_send_file(request, response, &file, err);
}
