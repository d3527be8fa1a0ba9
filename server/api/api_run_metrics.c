// SPDX-License-Identifier: Apache-2.0
// Figures of the newest run of each series, for dashboards of the whole fleet: in Prometheus's text
// format, or as OpenMetrics.
#include "server/api/api.h"

#include "server/http/reply_room.h"
#include "server/store/server_tables.h"
#include "server/store/store_tracking.h"

#include <math.h>
#include <stdio.h>

#define OPEN_METRICS "application/openmetrics-text"

// The newest run of a series that has a step time.
struct newest {
    struct str project, series;
    int64_t runs;
    struct run run;
};

struct fleet {
    struct newest *at;
    size_t count;
};

static bool find_runs(const struct request *request, const struct table *series,
                      struct fleet *fleet, struct err *err)
{
    struct store *store = request->services->intake->store;
    fleet->at = arena_array(request->arena, series->row_count + 1, sizeof *fleet->at, err);
    for (size_t row = 0; fleet->at && row < series->row_count; row++) {
        struct newest *newest = &fleet->at[fleet->count];
        struct str id = table_text(series, row, SERIES_LAST_RUN);
        newest->project = table_text(series, row, SERIES_PROJECT);
        newest->series = table_text(series, row, SERIES_SERIES);
        newest->runs = table_i64(series, row, SERIES_RUNS, 0);
        if (!id.len)
            continue;
        if (store_find_run(store, id, request->arena, &newest->run, err))
            fleet->count++;
        else if (err->code != ERR_NOT_FOUND) // deleted meanwhile
            return false;
    }
    return fleet->at;
}

static void put_label(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '\\' || value.at[i] == '"')
            buf_putc(out, '\\');
        if (value.at[i] == '\n')
            buf_puts(out, "\\n");
        else
            buf_putc(out, value.at[i]);
    }
    buf_putc(out, '"');
}

static void open_sample(struct buf *out, const char *name, const struct newest *newest)
{
    buf_printf(out, "%s{", name);
    put_label(out, "project", newest->project);
    buf_putc(out, ',');
    put_label(out, "series", newest->series);
    buf_putc(out, ',');
    put_label(out, "gpu", newest->run.gpu.null ? STR("") : newest->run.gpu.s);
}

static void put_sample(struct buf *out, const char *name, const struct newest *newest, double value)
{
    open_sample(out, name, newest);
    buf_puts(out, "} ");
    buf_f64(out, value);
    buf_putc(out, '\n');
}

static void put_family(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

// "step_ns" becomes stepscope_run_step_seconds: the convention there is base units.
static void put_figure(struct buf *out, const struct fleet *fleet, size_t figure)
{
    char name[96];
    const char *metric = run_figures[figure].metric;
    size_t len = strlen(metric);
    bool is_ns = len > 3 && strcmp(metric + len - 3, "_ns") == 0;
    snprintf(name, sizeof name, "stepscope_run_%.*s%s", (int)(is_ns ? len - 3 : len), metric,
             is_ns ? "_seconds" : "");
    put_family(out, name, run_figures[figure].help);
    for (size_t i = 0; i < fleet->count; i++) {
        double value = fleet->at[i].run.figures[figure];
        if (isfinite(value))
            put_sample(out, name, &fleet->at[i], is_ns ? value / 1e9 : value);
    }
}

// The only figure labelled with the run's name: elsewhere it would start new series with each run.
static void put_info(struct buf *out, const struct fleet *fleet)
{
    static const char name[] = "stepscope_series_newest_run_info";
    put_family(out, name, "The newest run of the series; always 1.");
    for (size_t i = 0; i < fleet->count; i++) {
        open_sample(out, name, &fleet->at[i]);
        buf_putc(out, ',');
        put_label(out, "run", fleet->at[i].run.name);
        buf_puts(out, "} 1\n");
    }
}

static void put_all(struct buf *out, const struct fleet *fleet)
{
    for (size_t figure = 0; figure < RUN_FIGURE_COUNT; figure++)
        put_figure(out, fleet, figure);
    put_family(out, "stepscope_run_created_timestamp_seconds", "When it was created, since 1970.");
    for (size_t i = 0; i < fleet->count; i++)
        put_sample(out, "stepscope_run_created_timestamp_seconds", &fleet->at[i],
                   (double)fleet->at[i].run.created_ns / 1e9);
    put_family(out, "stepscope_series_runs", "Runs of the series.");
    for (size_t i = 0; i < fleet->count; i++)
        put_sample(out, "stepscope_series_runs", &fleet->at[i], (double)fleet->at[i].runs);
    put_info(out, fleet);
}

// One query per series, so it waits for a turn.
static bool find_fleet(const struct request *request, const struct series_query *query,
                       struct fleet *fleet, struct err *err)
{
    struct table series;
    return store_list_series(request->services->intake->store, query, request->arena, &series,
                             err) &&
           find_runs(request, &series, fleet, err);
}

bool api_get_run_metrics(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"project", NULL};
    struct series_query query = {.project = query_text(&request->query, "project"),
                                 .search = STR("")};
    struct fleet fleet = {0};
    bool open = request_accepts(request, "Accept", OPEN_METRICS);
    if (!query_allow(&request->query, known, err) || !api_take_turn(request, response, err))
        return false;
    bool ok = find_fleet(request, &query, &fleet, err);
    reply_room_end(request->services->room);
    if (!ok)
        return false;
    put_all(&response->body, &fleet);
    if (open)
        buf_puts(&response->body, "# EOF\n");
    response->type = open ? OPEN_METRICS "; version=1.0.0; charset=utf-8"
                          : "text/plain; version=0.0.4; charset=utf-8";
    response->cache = CACHE_NEVER;
    return buf_ok(&response->body, err);
}
