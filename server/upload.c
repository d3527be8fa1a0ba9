// SPDX-License-Identifier: Apache-2.0
// Taking in traces: everything that can be refused is refused before the body is read, and nothing
// is acknowledged before it is durable.
#include "server/upload_form.h"
#include "server/upload_gate.h"

static const char *const own_parameters[] = {"wait", NULL};

#define MAX_WAIT_SECONDS 60

// --- after the body -----------------------------------------------------------------------------

static bool reply(struct request *request, struct response *response,
                  const struct upload_form *form, struct upload *upload, struct err *err)
{
    const struct intake *intake = &request->services->intake;
    struct run run;
    int64_t seconds = 0;
    struct query_int wait = {"wait", 0, 0, MAX_WAIT_SECONDS};
    if (!query_get_int(&request->query, wait, &seconds, err))
        return false;
    bool settled = upload->all_existing;
    if (seconds && intake->jobs) {
        settled = jobs_wait_upload(intake->jobs, upload->id, (uint64_t)seconds * 1000);
        if (!store_find_upload(intake->store, upload->id, request->arena, upload, err))
            return false;
    }
    if (!store_find_run(intake->store, upload->run_id, request->arena, &run, err))
        return false;
    struct api_upload what = {upload, &run, form->refused, form->refused_count};
    response->status = settled ? 200 : 202;
    response_header(response, request->arena, "Location", "/api/v1/uploads/%.*s",
                    (int)upload->id.len, upload->id.at);
    return api_upload_json(request, &what, &response->body, err) &&
           api_finish_json(request, response, NULL, err);
}

static bool accept_form(struct request *request, struct response *response,
                        const struct upload_form *form, struct err *err)
{
    struct upload upload;
    struct intake_request wanted = {.run = form->run,
                                    .parts = form->parts,
                                    .count = form->part_count,
                                    .replace = form->replace};
    if (intake_accept(&request->services->intake, &wanted, request->arena, &upload, err))
        return reply(request, response, form, &upload, err);
    if (err->code == ERR_CONFLICT) {
        response->word = "rank-conflict";
        response->fix = STR("add -F replace=true to put the new trace in place of the other, or "
                            "use another run name");
    }
    return false;
}

// --- handlers -----------------------------------------------------------------------------------

static bool take_form(struct request *request, struct response *response, struct err *err)
{
    struct upload_form *form = upload_form_new(request, err);
    bool ok = form && upload_form_read(request, response, form, err) &&
              accept_form(request, response, form, err);
    upload_form_close(form);
    return ok;
}

bool upload_post(struct request *request, struct response *response, struct err *err)
{
    struct query_int wait = {"wait", 0, 0, MAX_WAIT_SECONDS};
    int64_t seconds = 0;
    if (!query_allow(&request->query, own_parameters, err) ||
        !query_get_int(&request->query, wait, &seconds, err))
        return false;
    if (!request_has_type(request, "multipart/form-data")) {
        response->fix = STR("curl -F run=NAME -F trace=@FILE http://HOST/upload");
        return response_refuse(response, err, (struct refusal){415, "media-type"},
                               "found another Content-Type, expected multipart/form-data");
    }
    if (!upload_gate_enter(request, response, err))
        return false;
    bool ok = take_form(request, response, err);
    upload_gate_leave(request);
    return ok;
}

// An existing run by any of its names, else a new one of that name.
static bool name_run(struct request *request, struct upload_form *form, struct err *err)
{
    struct run run;
    struct str key = request->captures[0];
    form->run.name = key;
    if (store_find_run(request->services->intake.store, key, request->arena, &run, err)) {
        form->run.name = run.name;
        form->run.project = run.project;
        return true;
    }
    return err->code == ERR_NOT_FOUND;
}

static bool read_replace(const struct request *request, struct upload_form *form, struct err *err)
{
    struct str text = query_get(&request->query, "replace");
    return !text.at || upload_form_set_replace(form, text, err);
}

static bool read_meta(const struct request *request, struct upload_form *form, struct err *err)
{
    for (size_t i = 0; i < request->query.count; i++)
        if (str_equal(request->query.params[i].name, STR("meta")) &&
            !upload_form_add_meta(form, request->query.params[i].value, err))
            return false;
    return true;
}

static bool take_raw(struct request *request, struct response *response, int64_t rank,
                     struct err *err)
{
    struct upload_form *form = upload_form_new(request, err);
    char *filename = arena_printf(request->arena, err, "rank%lld", (long long)rank);
    bool ok = form && filename && read_replace(request, form, err) &&
              read_meta(request, form, err) && name_run(request, form, err) &&
              store_check_run(&form->run, err) &&
              upload_form_read_raw(request, form, str_of(filename), err);
    if (ok) {
        form->parts[0].rank = rank;
        ok = accept_form(request, response, form, err);
    }
    upload_form_close(form);
    return ok;
}

bool upload_put(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"wait", "replace", "meta", NULL};
    struct query_int wait = {"wait", 0, 0, MAX_WAIT_SECONDS};
    int64_t seconds = 0, rank = -1;
    struct str text = request->captures[1];
    if (!query_allow(&request->query, known, err) ||
        !query_get_int(&request->query, wait, &seconds, err))
        return false;
    if (!str_to_i64(text, &rank) || rank < 0 || rank > INT32_MAX)
        return err_set(err, ERR_USAGE, "found rank '%.*s', expected a number",
                       (int)(text.len < 20 ? text.len : 20), text.at);
    if (request_has_type(request, "multipart/form-data"))
        return response_refuse(response, err, (struct refusal){415, "media-type"},
                               "found multipart/form-data, expected the bytes of the file "
                               "(curl -T FILE)");
    if (!upload_gate_enter(request, response, err))
        return false;
    bool ok = take_raw(request, response, rank, err);
    upload_gate_leave(request);
    return ok;
}
