// SPDX-License-Identifier: Apache-2.0
// Series of runs: a list of them, and the points and levels of one.
#include "server/api/api.h"
#include "server/api/api_parts.h"
#include "server/api/table_reply.h"
#include "server/store/store_tracking.h"
#include "server/store/server_tables.h"

#include "ingest/base/log.h"

bool api_judge_series(const struct request *request)
{
    struct err err = {.pos = ERR_NO_POS};
    bool ok = store_judge_series(request->services->intake->store, &err);
    if (!ok)
        log_warn("judging series: %s", err.msg);
    return ok;
}

bool api_list_series(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"project", "tag", NULL};
    struct table_request asked;
    struct table table;
    struct series_query query = {.project = query_text(&request->query, "project")};
    struct run_tag *tags = NULL;
    if (!table_request_parse(request, &table_series, known, &asked, err) ||
        !api_read_tags(request, &tags, &query.tag_count, err))
        return false;
    query.tags = tags;
    query.search = asked.query.search;
    asked.query.search = STR(""); // found already
    response->lasts = api_judge_series(request);
    return store_list_series(request->services->intake->store, &query, request->arena, &table,
                             err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

// What both tables of a series need before they are read.
static bool find_series(struct request *request, struct response *response,
                        const struct table_desc *desc, struct table_request *asked,
                        struct series_key *key, struct err *err)
{
    static const char *const known[] = {"project", "metric", NULL};
    *key = (struct series_key){query_text(&request->query, "project"), request->captures[0]};
    if (!table_request_parse(request, desc, known, asked, err))
        return false;
    if (!store_find_series(request->services->intake->store, key, request->arena, err)) {
        response->fix = STR("GET /api/v1/series lists the series");
        return false;
    }
    response->lasts = api_judge_series(request);
    return true;
}

bool api_list_known_figures(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"project", "series", NULL};
    struct store *store = request->services->intake->store;
    struct series_key key = {query_text(&request->query, "project"),
                             query_text(&request->query, "series")};
    struct table_request asked;
    struct table table;
    if (!table_request_parse(request, &table_known_figures, known, &asked, err) ||
        (key.series.len && !store_find_series(store, &key, request->arena, err)))
        return false;
    response->lasts = true;
    api_judge_series(request);
    return store_list_known_figures(store, &key, request->arena, &table, err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

bool api_get_points(struct request *request, struct response *response, struct err *err)
{
    struct series_key key;
    struct table_request asked;
    struct table table;
    struct str metric = query_text(&request->query, "metric");
    if (metric.len && !store_knows_figure(metric))
        return api_refuse_metric(metric, err);
    return find_series(request, response, &table_series_points, &asked, &key, err) &&
           store_list_points(request->services->intake->store, &key, metric, request->arena, &table,
                             err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

bool api_get_level_changes(struct request *request, struct response *response, struct err *err)
{
    struct series_key key;
    struct table_request asked;
    struct table table;
    return find_series(request, response, &table_series_changes, &asked, &key, err) &&
           store_list_level_changes(request->services->intake->store, &key, request->arena, &table,
                                    err) &&
           table_reply_rows(request, response, &asked, &table, err);
}
