// SPDX-License-Identifier: Apache-2.0
// Named runs that others are compared with.
#include "server/api/api.h"
#include "server/api/table_reply.h"
#include "server/http/json_body.h"
#include "server/store/store_tracking.h"
#include "server/store/server_tables.h"

static const char *const no_parameters[] = {NULL};

bool api_list_baselines(struct request *request, struct response *response, struct err *err)
{
    struct table_request asked;
    struct table table;
    response->lasts = true;
    return table_request_parse(request, &table_baselines, NULL, &asked, err) &&
           store_list_baselines(request->services->intake->store, STR(""), request->arena, &table,
                                err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

static bool reply_one(struct request *request, struct response *response, const char *tag,
                      struct err *err)
{
    struct str name = request->captures[0];
    struct table table;
    if (!store_list_baselines(request->services->intake->store, name, request->arena, &table, err))
        return false;
    if (table.row_count == 0) {
        response->fix = STR("GET /api/v1/baselines lists the baselines");
        return err_set(err, ERR_NOT_FOUND, "no baseline '%.*s'",
                       (int)(name.len < 80 ? name.len : 80), name.at);
    }
    report_row_json(&table, 0, &response->body);
    return api_finish_json(request, response, tag, err);
}

bool api_get_baseline(struct request *request, struct response *response, struct err *err)
{
    return query_allow(&request->query, no_parameters, err) &&
           reply_one(request, response, "baseline", err);
}

static bool check_members(json_t *object, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "run") != 0)
            return err_set(err, ERR_USAGE, "found member '%.40s', expected run", name);
    }
    return json_is_string(json_object_get(object, "run")) ||
           err_set(err, ERR_USAGE, "found no run, expected {\"run\": \"KEY\"}");
}

bool api_put_baseline(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    struct str key;
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok =
        object && check_members(object, err) &&
        json_body_text(object, "run", request->arena, &key, err) &&
        api_find_run(request, response, key, &run, err) &&
        store_set_baseline(request->services->intake->store, request->captures[0], run.id, err);
    json_decref(object);
    return ok && reply_one(request, response, NULL, err);
}

bool api_delete_baseline(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_drop_baseline(request->services->intake->store, request->captures[0], err))
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}
