// SPDX-License-Identifier: Apache-2.0
// Findings of a run that someone dismissed, each with a reason. The table of findings stays as the
// analysis wrote it; pages join the two by the finding's id.
#include "ingest/base/clock.h"
#include "server/api/api.h"
#include "server/http/json_body.h"

static const char *const no_parameters[] = {NULL};

static void dismissal_json(const struct dismissal *dismissal, struct buf *out)
{
    char created[CLOCK_RFC3339_SIZE];
    clock_rfc3339(dismissal->created_ns, created);
    buf_puts(out, "{\"finding\":");
    buf_json(out, dismissal->finding);
    buf_puts(out, ",\"reason\":");
    buf_json(out, dismissal->reason);
    buf_printf(out, ",\"created\":\"%s\"}", created);
}

static bool reply_all(struct request *request, struct response *response, const struct run *run,
                      const char *tag, struct err *err)
{
    struct dismissal *dismissals;
    size_t count;
    if (!store_list_dismissals(request->services->intake->store, run->id, request->arena,
                               &dismissals, &count, err))
        return false;
    buf_puts(&response->body, "{\"items\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(&response->body, i ? "," : "");
        dismissal_json(&dismissals[i], &response->body);
    }
    buf_puts(&response->body, "]}");
    return api_finish_json(request, response, tag, err);
}

bool api_list_dismissals(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           reply_all(request, response, &run, "dismissals", err);
}

static bool check_members(json_t *object, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "reason") != 0)
            return err_set(err, ERR_USAGE, "found member '%.40s', expected reason", name);
    }
    return true;
}

bool api_put_dismissal(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    struct str reason;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok =
        object && check_members(object, err) &&
        json_body_text(object, "reason", request->arena, &reason, err) &&
        store_dismiss(request->services->intake->store, run.id, request->captures[1], reason, err);
    json_decref(object);
    return ok && reply_all(request, response, &run, NULL, err);
}

bool api_delete_dismissal(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           store_take_back_dismissal(request->services->intake->store, run.id, request->captures[1],
                                     err) &&
           reply_all(request, response, &run, NULL, err);
}
