// SPDX-License-Identifier: Apache-2.0
// Runs, traces and uploads as JSON.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "ingest/base/clock.h"
#include "server/api/table_reply.h"
#include "server/store/store_inputs.h"

#include <math.h>

static void key(struct buf *out, const char *name)
{
    buf_puts(out, ",\"");
    buf_puts(out, name);
    buf_puts(out, "\":");
}

void api_text_json(struct str text, struct buf *out)
{
    if (text.len)
        buf_json(out, text);
    else
        buf_puts(out, "null");
}

void api_count_json(int64_t count, struct buf *out)
{
    if (count >= 0)
        buf_i64(out, count);
    else
        buf_puts(out, "null");
}

static void time_json(int64_t wall_ns, struct buf *out)
{
    char text[CLOCK_RFC3339_SIZE];
    clock_rfc3339(wall_ns, text);
    buf_json(out, str_of(text));
}

// --- runs ---------------------------------------------------------------------------------------

static bool url_json(const struct request *request, const struct run *run, struct buf *out,
                     struct err *err)
{
    struct str base;
    if (!request_base_url(request, &base, err))
        return false;
    char *url = arena_printf(request->arena, err, "%.*s/runs/%.*s", (int)base.len, base.at,
                             (int)run->id.len, run->id.at);
    if (url)
        buf_json(out, str_of(url));
    return url != NULL;
}

double api_trace_progress(const struct request *request, const struct trace_row *trace)
{
    double share = 0;
    if (trace->state == TRACE_DONE || trace->state == TRACE_FAILED)
        return 1;
    if (request->services->intake->jobs &&
        jobs_progress(request->services->intake->jobs, trace->id, &share))
        return share;
    return 0;
}

// null if nothing is in progress.
static bool progress_json(const struct request *request, const struct run *run, struct buf *out,
                          struct err *err)
{
    if (run->active <= 0) {
        buf_puts(out, "null");
        return true;
    }
    struct trace_row *traces = NULL;
    size_t count = 0;
    if (!store_list_traces(request->services->intake->store, run->id, request->arena, &traces,
                           &count, err))
        return false;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += api_trace_progress(request, &traces[i]);
    buf_printf(out, "%.3f", count ? sum / (double)count : 0.0);
    return true;
}

static void pairs_json(const struct run_tag *pairs, size_t count, struct buf *out)
{
    buf_putc(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        buf_json(out, pairs[i].key);
        buf_putc(out, ':');
        buf_json(out, pairs[i].value);
    }
    buf_putc(out, '}');
}

static void baselines_json(const struct run *run, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < run->baseline_count; i++) {
        if (i)
            buf_putc(out, ',');
        buf_json(out, run->baselines[i]);
    }
    buf_putc(out, ']');
}

static void parts_json(const struct run *run, struct buf *out)
{
    if (run->parts[0].null) {
        buf_puts(out, "null");
        return;
    }
    for (int i = 0; i < PART_COUNT; i++) {
        buf_putc(out, i ? ',' : '{');
        buf_json(out, str_of(run_part_columns[i]));
        buf_putc(out, ':');
        export_json_cell(run->parts[i], COLUMN_I64, out);
    }
    buf_putc(out, '}');
}

// Whether all ranks that will come have arrived.
static bool is_complete(const struct run *run)
{
    bool expected = run->world_size > 0 && run->received >= run->world_size;
    return run->received > 0 && (run->finalized || expected);
}

static void identity_json(const struct run *run, struct buf *out)
{
    buf_puts(out, "{\"id\":");
    buf_json(out, run->id);
    key(out, "name");
    buf_json(out, run->name);
    key(out, "project");
    buf_json(out, run->project);
    key(out, "series");
    buf_json(out, run->series);
    key(out, "created");
    time_json(run->created_ns, out);
    key(out, "status");
    buf_json(out, str_of(run_status_word(run->status)));
    key(out, "received");
    buf_i64(out, run->received);
    key(out, "failed");
    buf_i64(out, run->failed);
    key(out, "evidence");
    buf_i64(out, run->evidence);
    key(out, "world_size");
    api_count_json(run->world_size, out);
    key(out, "complete");
    buf_puts(out, is_complete(run) ? "true" : "false");
    key(out, "step");
    api_text_json(run->step_pattern, out);
    key(out, "warmup");
    api_count_json(run->warmup_steps, out);
    key(out, "tags");
    pairs_json(run->tags, run->tag_count, out);
    key(out, "meta");
    pairs_json(run->meta, run->meta_count, out);
    key(out, "baselines");
    baselines_json(run, out);
    key(out, "note");
    buf_json(out, run->note);
}

// Those that are known.
static void known_figures_json(const struct run *run, struct buf *out)
{
    const char *before = "";
    buf_putc(out, '{');
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
        if (isnan(run->figures[i]))
            continue;
        buf_puts(out, before);
        buf_json(out, str_of(run_figures[i].metric));
        buf_putc(out, ':');
        export_json_cell(cell_f64(run->figures[i]), COLUMN_F64, out);
        before = ",";
    }
    buf_putc(out, '}');
}

static void figures_json(const struct run *run, struct buf *out)
{
    const struct {
        const char *name;
        struct cell cell;
        enum column_type type;
    } figures[] = {
        {"gpu", run->gpu, COLUMN_TEXT},
        {"step_median_ns", run->step_median_ns, COLUMN_I64},
        {"busy_share", run->busy_share, COLUMN_F64},
        {"exposed_comm_share", run->exposed_comm_share, COLUMN_F64},
        {"findings", run->findings, COLUMN_I64},
        {"trust_severity", run->trust_severity, COLUMN_TEXT},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        key(out, figures[i].name);
        export_json_cell(figures[i].cell, figures[i].type, out);
    }
    key(out, "no_steps");
    buf_puts(out, run->no_steps.null ? "false" : "true");
    key(out, "parts");
    parts_json(run, out);
    key(out, "figures");
    known_figures_json(run, out);
}

bool api_run_json(const struct request *request, const struct run *run, struct buf *out,
                  struct err *err)
{
    identity_json(run, out);
    figures_json(run, out);
    key(out, "error");
    api_text_json(run->error, out);
    key(out, "progress");
    if (!progress_json(request, run, out, err))
        return false;
    key(out, "url");
    return url_json(request, run, out, err);
}

void api_rows_json(const struct table *table, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (row)
            buf_putc(out, ',');
        report_row_json(table, row, out);
    }
    buf_putc(out, ']');
}

// --- traces and uploads -------------------------------------------------------------------------

void api_trace_json(const struct request *request, const struct trace_row *trace, struct buf *out)
{
    buf_puts(out, "{\"id\":");
    buf_json(out, trace->id);
    key(out, "rank");
    api_count_json(trace->rank, out);
    key(out, "rank_from");
    buf_json(out, trace->rank_from);
    key(out, "role");
    api_text_json(trace->role, out);
    key(out, "filename");
    buf_json(out, trace->filename);
    key(out, "bytes");
    buf_i64(out, trace->bytes);
    key(out, "sha256");
    buf_json(out, trace->sha256);
    key(out, "status");
    buf_json(out, str_of(trace_state_word(trace->state)));
    key(out, "progress");
    buf_printf(out, "%.3f", api_trace_progress(request, trace));
    key(out, "error");
    api_text_json(trace->error, out);
    key(out, "uploaded");
    time_json(trace->uploaded_ns, out);
    key(out, "secrets");
    api_count_json(trace->secrets, out);
    key(out, "damage");
    api_text_json(trace->damage, out);
    buf_putc(out, '}');
}

static bool any_is_done(const struct upload *upload)
{
    for (size_t i = 0; i < upload->count; i++)
        if (upload->traces[i].state == TRACE_DONE)
            return true;
    return false;
}

// Doubts in the run's trust report about its ranks, by rank.
static bool read_doubts(const struct request *request, const struct run *run,
                        struct table_page *page, struct err *err)
{
    static const struct table_query query = {
        .filters = {{{"severity", 8}, {"warning", 7}}, {{"severity", 8}, {"error", 5}}},
        .filter_count = 2,
        .sorts = {{{"rank", 4}, false}},
        .sort_count = 1,
        .limit = TABLE_QUERY_NO_LIMIT};
    return api_read_run_table(request, run, &table_run_trust, &query, page, err);
}

// Where the rows of a rank start; those of the whole run come last.
static size_t first_of_rank(const struct table *doubts, int64_t rank)
{
    size_t low = 0, high = doubts->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct cell *cell = table_cell(doubts, middle, RUN_TRUST_RANK);
        if (!cell->null && cell->i < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void warnings_json(const struct trace_row *trace, const struct table *doubts,
                          struct buf *out)
{
    size_t row =
        trace->state == TRACE_DONE ? first_of_rank(doubts, trace->rank) : doubts->row_count;
    buf_putc(out, '[');
    if (trace->warning.len)
        buf_json(out, trace->warning);
    bool any = trace->warning.len;
    for (; row < doubts->row_count; row++, any = true) {
        const struct cell *rank = table_cell(doubts, row, RUN_TRUST_RANK);
        if (rank->null || rank->i != trace->rank)
            break;
        buf_puts(out, any ? "," : "");
        buf_json(out, table_cell(doubts, row, RUN_TRUST_DETAIL)->s);
    }
    buf_putc(out, ']');
}

static void upload_trace_json(const struct request *request, const struct trace_row *trace,
                              const struct table *doubts, struct buf *out)
{
    api_trace_json(request, trace, out);
    out->len -= out->len > 0; // reopens the object
    key(out, "trace");
    buf_json(out, trace->id);
    buf_printf(out, ",\"existing\":%s,\"warnings\":", trace->existing ? "true" : "false");
    warnings_json(trace, doubts, out);
    buf_putc(out, '}');
}

static void refused_json(const struct api_refused_part *refused, struct buf *out)
{
    buf_puts(out, "{\"id\":null,\"rank\":null,\"rank_from\":null,\"role\":null,\"filename\":");
    buf_json(out, refused->filename);
    buf_puts(out,
             ",\"bytes\":null,\"sha256\":null,\"status\":\"refused\",\"progress\":1,\"error\":");
    buf_json(out, str_of(refused->reason));
    buf_puts(out, ",\"uploaded\":null,\"secrets\":null,\"damage\":null,\"trace\":null,\"existing\":"
                  "false,\"warnings\":[]}");
}

static void upload_traces_json(const struct request *request, const struct api_upload *what,
                               const struct table *doubts, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < what->upload->count; i++) {
        if (i)
            buf_putc(out, ',');
        upload_trace_json(request, &what->upload->traces[i], doubts, out);
    }
    for (size_t i = 0; i < what->refused_count; i++) {
        if (i || what->upload->count)
            buf_putc(out, ',');
        refused_json(&what->refused[i], out);
    }
    buf_putc(out, ']');
}

// Archives and those of their members that are no traces.
static void upload_inputs_json(const struct request *request, const struct upload *upload,
                               struct buf *out)
{
    bool any = false;
    buf_putc(out, '[');
    for (size_t i = 0; i < upload->input_count; i++) {
        if (upload->inputs[i].trace_id.len)
            continue;
        buf_puts(out, any ? "," : "");
        api_input_json(request, &upload->inputs[i], out);
        any = true;
    }
    buf_putc(out, ']');
}

bool api_upload_json(const struct request *request, const struct api_upload *what, struct buf *out,
                     struct err *err)
{
    struct table_page doubts = {0};
    buf_puts(out, "{\"url\":");
    if ((any_is_done(what->upload) && !read_doubts(request, what->run, &doubts, err)) ||
        !url_json(request, what->run, out, err))
        return false;
    key(out, "run");
    buf_json(out, what->run->id);
    key(out, "run_name");
    buf_json(out, what->run->name);
    key(out, "project");
    buf_json(out, what->run->project);
    key(out, "received");
    buf_i64(out, what->run->received);
    key(out, "world_size");
    api_count_json(what->run->world_size, out);
    key(out, "status");
    buf_json(out, str_of(run_status_word(what->run->status)));
    key(out, "upload");
    buf_json(out, what->upload->id);
    key(out, "traces");
    upload_traces_json(request, what, &doubts.table, out);
    key(out, "inputs");
    upload_inputs_json(request, what->upload, out);
    buf_putc(out, '}');
    return true;
}

bool api_refuse_metric(struct str metric, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "found metric=%.*s, expected a figure of runs, such as mfu, "
                   "tokens_per_s_per_gpu, memory_bytes or meta.KEY",
                   (int)(metric.len < 60 ? metric.len : 60), metric.at);
}
