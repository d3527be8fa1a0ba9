// SPDX-License-Identifier: Apache-2.0
// Accepts traces: everything that can be refused is refused before the body is read, and nothing is
// acknowledged before it is durable.
#include "server/access/audit.h"
#include "server/access/quota.h"
#include "server/base/metrics.h"
#include "server/store/store_inputs.h"
#include "server/store/store_resumable.h"
#include "server/uploads/upload_form.h"
#include "server/uploads/upload_gate.h"
#include "server/uploads/upload_join.h"
#include "server/uploads/upload_key.h"
#include "server/uploads/uploads.h"

static const char *const own_parameters[] = {"wait", NULL};

#define MAX_WAIT_SECONDS 60

// --- after the body -----------------------------------------------------------------------------

// A client that waits wants to use the result: one failed file is a failed upload. It is stored
// anyway.
static bool refuse_failed(struct request *request, struct response *response,
                          const struct upload_form *form, const struct upload *upload,
                          struct err *err)
{
    const char *reason = form->refused_count ? form->refused[0].reason : "";
    struct str name = form->refused_count ? form->refused[0].filename : STR("");
    size_t failed = form->refused_count, others = 0;
    for (size_t i = 0; i < upload->count; i++) {
        const struct trace_row *trace = &upload->traces[i];
        if (trace->state != TRACE_FAILED)
            continue;
        reason = failed++ ? reason : trace->error.at;
        name = failed == 1 ? trace->filename : name;
    }
    for (size_t i = 0; i < upload->input_count; i++) {
        const struct input_row *input = &upload->inputs[i];
        others += input->trace_id.len == 0;
        if (input->state != TRACE_FAILED || input->trace_id.len)
            continue;
        reason = failed++ ? reason : input->reason.at;
        name = failed == 1 ? input->filename : name;
    }
    if (failed == 0)
        return true;
    char *fix =
        arena_printf(request->arena, err,
                     "see /api/v1/uploads/%.*s, and send a readable file to the same run and rank",
                     (int)upload->id.len, upload->id.at);
    if (fix)
        response->fix = str_of(fix);
    return response_refuse(response, err, (struct refusal){422, "analysis-failed"},
                           "%zu of %zu files failed, first '%.*s': %s", failed,
                           upload->count + others + form->refused_count,
                           (int)(name.len < 60 ? name.len : 60), name.at, reason);
}

static bool reply(struct request *request, struct response *response,
                  const struct upload_form *form, struct upload *upload, struct err *err)
{
    const struct intake *intake = request->services->intake;
    struct run run;
    int64_t seconds = 0;
    struct query_int wait = {"wait", 0, 0, MAX_WAIT_SECONDS};
    if (!query_get_int(&request->query, wait, &seconds, err))
        return false;
    bool settled = upload->all_existing;
    if (seconds && intake->jobs) {
        upload_gate_leave(request); // a client waiting for the analysis does not block other
                                    // uploads
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
    if (seconds && settled && !refuse_failed(request, response, form, upload, err))
        return false;
    return api_upload_json(request, &what, &response->body, err) &&
           api_finish_json(request, response, NULL, err);
}

// --- keys that were used -------------------------------------------------------------------------

static bool has_same_bytes(const struct upload_form *form, const struct upload *upload)
{
    bool same = form->part_count == upload->count && !upload->input_count;
    for (size_t i = 0; same && i < upload->count; i++)
        same = str_equal(upload->traces[i].sha256, str_of(blob_spool_sha256(form->parts[i].spool)));
    return same;
}

static bool refuse_reuse(struct response *response, const struct upload_form *form,
                         const struct upload *before, struct err *err)
{
    const char *what = has_same_bytes(form, before)
                           ? "the same bytes for another run or rank, or with other fields"
                           : "other bytes";
    response->fix = STR(
        "use a unique key per upload, such as a UUID, and the same key only to repeat that upload");
    return response_refuse(response, err, (struct refusal){422, "key-reused"},
                           "this Idempotency-Key came with %s before, as upload %.*s, so nothing "
                           "of this one is stored",
                           what, (int)before->id.len, before->id.at);
}

// Answers with the upload that the key created before, if this is the same one.
static bool repeat(struct request *request, struct response *response,
                   const struct upload_form *form, const struct upload_key *key, struct err *err)
{
    struct keyed_upload before;
    struct str owner = request->who.key;
    if (!store_find_upload_of_key(request->services->intake->store, owner, key->text,
                                  request->arena, &before, err))
        return err->code == ERR_NOT_FOUND
                   ? err_set(err, ERR_BUSY,
                             "the upload of this Idempotency-Key was deleted while it was "
                             "repeated; send it once more")
                   : false;
    bool same =
        before.has_hash ? before.request == key->request : has_same_bytes(form, &before.upload);
    return same ? reply(request, response, form, &before.upload, err)
                : refuse_reuse(response, form, &before.upload, err);
}

// Whether the key created an upload before: then these bytes are compared with that one's.
static bool find_key(struct request *request, const struct upload_key *key, bool *used,
                     struct err *err)
{
    struct keyed_upload before;
    *used = false;
    if (key->text.len == 0)
        return true;
    *used = store_find_upload_of_key(request->services->intake->store, request->who.key, key->text,
                                     request->arena, &before, err);
    return *used || err->code == ERR_NOT_FOUND;
}

// --- new uploads ---------------------------------------------------------------------------------

static bool acknowledge(struct request *request, struct response *response,
                        const struct upload_form *form, struct upload *upload, struct err *err)
{
    quota_settle(request, request->body->received);
    audit_name_upload(request, upload);
    metrics_add(request->services->metrics, METRIC_UPLOADS, 1);
    metrics_add(request->services->metrics, METRIC_UPLOAD_BYTES, request->body->received);
    return reply(request, response, form, upload, err);
}

// The same key may have arrived on another connection meanwhile.
static bool explain_conflict(struct request *request, struct response *response,
                             const struct upload_form *form, const struct upload_key *key,
                             struct err *err)
{
    bool used = false;
    struct err why = *err;
    if (!find_key(request, key, &used, err))
        return false;
    if (used)
        return repeat(request, response, form, key, err);
    *err = why;
    response->word = "rank-conflict";
    response->fix =
        STR("add -F replace=true to replace the existing trace, or use another run name");
    return false;
}

static bool accept_form(struct request *request, struct response *response,
                        struct upload_form *form, struct err *err)
{
    struct upload upload;
    struct intake_request wanted = {.run = form->run,
                                    .parts = form->parts,
                                    .replace = form->replace,
                                    .owner = request->who.key,
                                    .sent_bytes = request->body->received};
    if (!upload_key_read(request, &wanted.key, err) ||
        !upload_form_check_scope(request, response, form, err))
        return false;
    wanted.key.request = upload_key_hash(form);
    if (form->is_repeat)
        return repeat(request, response, form, &wanted.key, err);
    if (!upload_join(request, form, err))
        return false;
    wanted.count = form->part_count;
    if (intake_accept(request->services->intake, &wanted, request->arena, &upload, err))
        return acknowledge(request, response, form, &upload, err);
    if (err->code == ERR_DENIED)
        upload_form_explain_denial(response);
    return err->code == ERR_CONFLICT && explain_conflict(request, response, form, &wanted.key, err);
}

// --- handlers -----------------------------------------------------------------------------------

static bool take_form(struct request *request, struct response *response, struct upload_form *form,
                      struct err *err)
{
    return upload_form_read(request, response, form, err) &&
           accept_form(request, response, form, err);
}

// Between the checks: all that an upload consists of, in any form. A body sent with a used key is
// read to its end, because only its bytes show whether it is the same.
static bool take(struct request *request, struct response *response,
                 bool (*receive)(struct request *request, struct response *response,
                                 struct upload_form *form, struct err *err),
                 struct err *err)
{
    struct upload_key key;
    struct upload_form *form = upload_form_new(request, err);
    if (!form || !upload_key_read(request, &key, err) ||
        !find_key(request, &key, &form->is_repeat, err))
        return false;
    if (!(form->is_repeat ? upload_gate_enter_repeat : upload_gate_enter)(request, response, err))
        return false;
    bool ok = receive(request, response, form, err);
    upload_form_close(form);
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
                               "found a different Content-Type, expected multipart/form-data");
    }
    return take(request, response, take_form, err);
}

// An existing run by any of its names, else a new one of that name. An id means exactly that run,
// even if it is renamed while the body arrives.
static bool name_run(struct request *request, struct upload_form *form, struct err *err)
{
    struct run run;
    struct str key = request->captures[0];
    form->run.name = key;
    if (!store_find_run(request->services->intake->store, key, request->arena, &run, err))
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

// A trace may arrive compressed, and is stored that way; a coding that we cannot undo is refused
// rather than stored as something else.
static bool read_coding(const struct request *request, struct response *response,
                        struct str *coding, struct err *err)
{
    struct str text = request_header(request, "Content-Encoding");
    *coding = STR("");
    if (!text.at || text.len == 0 || str_equal_nocase(text, STR("identity")))
        return true;
    *coding = text;
    if (str_equal_nocase(text, STR("gzip")) || str_equal_nocase(text, STR("x-gzip")) ||
        str_equal_nocase(text, STR("zstd")))
        return true;
    response_header(response, request->arena, "Accept-Encoding", "gzip, zstd");
    return response_refuse(response, err, (struct refusal){415, "content-encoding"},
                           "found Content-Encoding '%.*s', expected gzip, zstd or none",
                           (int)(text.len < 40 ? text.len : 40), text.at);
}

static bool take_raw(struct request *request, struct response *response, struct upload_form *form,
                     struct err *err)
{
    int64_t rank = -1;
    if (!read_rank(request, &rank, err) || !read_coding(request, response, &form->coding, err))
        return false;
    char *filename = arena_printf(request->arena, err, "rank%lld", (long long)rank);
    if (!filename || !read_replace(request, form, err) || !read_meta(request, form, err) ||
        !name_run(request, form, err) ||
        !store_check_target(request->services->intake->store, &form->run, err) ||
        !upload_form_read_raw(request, form, str_of(filename), err))
        return false;
    form->parts[0].rank = rank;
    return accept_form(request, response, form, err);
}

bool upload_put(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"wait", "replace", "meta", NULL};
    struct query_int wait = {"wait", 0, 0, MAX_WAIT_SECONDS};
    int64_t seconds = 0, rank = -1;
    if (!query_allow(&request->query, known, err) ||
        !query_get_int(&request->query, wait, &seconds, err))
        return false;
    struct str coding;
    if (!read_rank(request, &rank, err) || !read_coding(request, response, &coding, err))
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
