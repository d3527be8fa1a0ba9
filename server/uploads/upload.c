// SPDX-License-Identifier: Apache-2.0
// Taking in traces: everything that can be refused is refused before the body is read, and nothing
// is acknowledged before it is durable.
#include "server/access/audit.h"
#include "server/access/quota.h"
#include "server/store/store_resumable.h"
#include "server/uploads/upload_form.h"
#include "server/uploads/upload_gate.h"
#include "server/uploads/upload_key.h"

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
        upload_gate_leave(request); // who waits for the analysis keeps nobody from uploading
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

static bool refuse_reuse(struct response *response, struct err *err)
{
    response->fix = STR("give each upload a key of its own, such as a UUID, and the same one only "
                        "to send that upload again");
    return response_refuse(response, err, (struct refusal){422, "key-reused"},
                           "this Idempotency-Key came with another upload before, so nothing of "
                           "this one is stored");
}

// What the same key brought before, if anything; *known says so.
static bool repeat(struct request *request, struct response *response, const struct upload_key *key,
                   bool *known, struct err *err)
{
    static const struct upload_form nothing_refused = {0};
    struct upload upload;
    *known = false;
    if (key->text.len == 0)
        return true;
    *known = store_find_upload_of_key(request->services->intake.store, request->who.key, key,
                                      request->arena, &upload, err);
    if (*known)
        return reply(request, response, &nothing_refused, &upload, err);
    *known = err->code == ERR_CONFLICT;
    return *known ? refuse_reuse(response, err) : err->code == ERR_NOT_FOUND;
}

static bool acknowledge(struct request *request, struct response *response,
                        const struct upload_form *form, struct upload *upload, struct err *err)
{
    quota_settle(request, request->body->received);
    audit_name_upload(request, upload);
    metrics_add(request->services->metrics, METRIC_UPLOADS, 1);
    metrics_add(request->services->metrics, METRIC_UPLOAD_BYTES, request->body->received);
    return reply(request, response, form, upload, err);
}

static bool accept_form(struct request *request, struct response *response,
                        const struct upload_form *form, struct err *err)
{
    struct upload upload;
    struct intake_request wanted = {.run = form->run,
                                    .parts = form->parts,
                                    .count = form->part_count,
                                    .replace = form->replace,
                                    .owner = request->who.key,
                                    .sent_bytes = request->body->received};
    bool known = false;
    if (!upload_key_read(request, &wanted.key, err) ||
        !upload_form_check_scope(request, response, form, err))
        return false;
    if (intake_accept(&request->services->intake, &wanted, request->arena, &upload, err))
        return acknowledge(request, response, form, &upload, err);
    // The same key may have come on another connection meanwhile.
    struct err why = *err;
    if (why.code == ERR_CONFLICT && wanted.key.text.len) {
        bool ok = repeat(request, response, &wanted.key, &known, err);
        if (known)
            return ok;
        *err = why;
    }
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

// Between the checks: everything that an upload is, whatever its form. A client that repeats itself
// gets its answer before it sends the body.
static bool take(struct request *request, struct response *response,
                 bool (*receive)(struct request *request, struct response *response,
                                 struct err *err),
                 struct err *err)
{
    struct upload_key key;
    bool known = false;
    if (!upload_key_read(request, &key, err) || !repeat(request, response, &key, &known, err))
        return false;
    if (known)
        return true;
    if (!upload_gate_enter(request, response, err))
        return false;
    bool ok = receive(request, response, err);
    upload_gate_leave(request);
    if (!ok && (err->code == ERR_IO || err->code == ERR_SPACE || err->code == ERR_CANCELLED))
        metrics_add(request->services->metrics, METRIC_UPLOAD_FAILURES, 1);
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
    return take(request, response, take_form, err);
}

// An existing run by any of its names, else a new one of that name. Whoever names it by its id
// means that very run, also when it gets another name while the body comes.
static bool name_run(struct request *request, struct upload_form *form, struct err *err)
{
    struct run run;
    struct str key = request->captures[0];
    form->run.name = key;
    if (!store_find_run(request->services->intake.store, key, request->arena, &run, err))
        return err->code == ERR_NOT_FOUND;
    form->run.name = str_equal(key, run.id) ? run.id : run.name;
    form->run.project = run.project;
    return true;
}

static bool read_rank(const struct request *request, int64_t *rank, struct err *err)
{
    struct str text = request->captures[1];
    return (str_to_i64(text, rank) && *rank >= 0 && *rank <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found rank '%.*s', expected a number",
                   (int)(text.len < 20 ? text.len : 20), text.at);
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

static bool take_raw(struct request *request, struct response *response, struct err *err)
{
    int64_t rank = -1;
    if (!read_rank(request, &rank, err))
        return false;
    struct upload_form *form = upload_form_new(request, err);
    char *filename = arena_printf(request->arena, err, "rank%lld", (long long)rank);
    bool ok = form && filename && read_replace(request, form, err) &&
              read_meta(request, form, err) && name_run(request, form, err) &&
              store_check_target(request->services->intake.store, &form->run, err) &&
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
    if (!query_allow(&request->query, known, err) ||
        !query_get_int(&request->query, wait, &seconds, err))
        return false;
    if (!read_rank(request, &rank, err))
        return false;
    if (request_has_type(request, "multipart/form-data"))
        return response_refuse(response, err, (struct refusal){415, "media-type"},
                               "found multipart/form-data, expected the bytes of the file "
                               "(curl -T FILE)");
    if (request_header(request, "Content-Range").at)
        return response_refuse(response, err, (struct refusal){400, "partial"},
                               "found Content-Range, expected the whole file; pieces go to "
                               "/api/v1/tus");
    return take(request, response, take_raw, err);
}
