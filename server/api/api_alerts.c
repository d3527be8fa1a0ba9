// SPDX-License-Identifier: Apache-2.0
// The inbox of alerts, and people's decisions on them.
#include "server/api/api.h"
#include "server/api/table_reply.h"
#include "server/http/json_body.h"
#include "server/store/store_tracking.h"
#include "server/store/server_tables.h"

bool api_list_alerts(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"project", "series", "status", "metric", NULL};
    struct table_request asked;
    struct table table;
    struct alert_query query = {
        query_text(&request->query, "project"), query_text(&request->query, "series"),
        query_text(&request->query, "status"), query_text(&request->query, "metric")};
    if (!table_request_parse(request, &table_alerts, known, &asked, err))
        return false;
    if (query.metric.len && !store_knows_figure(query.metric))
        return api_refuse_metric(query.metric, err);
    (void)api_judge_series(request);
    api_tell_storage(request, response);
    return store_list_alerts(request->services->intake->store, &query, request->arena, &table,
                             err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

static bool check_members(json_t *object, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "status") != 0 && strcmp(name, "comment") != 0)
            return err_set(err, ERR_USAGE, "found member '%.40s', expected status or comment",
                           name);
    }
    return true;
}

static bool patch(struct request *request, json_t *object, struct err *err)
{
    struct str status, comment;
    if (!check_members(object, err) ||
        !json_body_text(object, "status", request->arena, &status, err) ||
        !json_body_text(object, "comment", request->arena, &comment, err))
        return false;
    struct alert_patch change = {
        .status = json_object_get(object, "status") ? &status : NULL,
        .comment = json_object_get(object, "comment") ? &comment : NULL,
    };
    return store_patch_alert(request->services->intake->store, request->captures[0], &change, err);
}

bool api_patch_alert(struct request *request, struct response *response, struct err *err)
{
    static const char *const no_parameters[] = {NULL};
    struct table table;
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && patch(request, object, err);
    json_decref(object);
    if (!ok)
        return false;
    if (!store_find_alert(request->services->intake->store, request->captures[0], request->arena,
                          &table, err))
        return false;
    report_row_json(&table, 0, &response->body);
    return api_finish_json(request, response, NULL, err);
}
