// SPDX-License-Identifier: Apache-2.0
// What became of an upload, and the bytes as they came.
#include "server/api.h"

#include "server/file_range.h"

static const char *const no_parameters[] = {NULL};

bool api_get_upload(struct request *request, struct response *response, struct err *err)
{
    struct store *store = request->services->intake.store;
    struct upload upload;
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_find_upload(store, request->captures[0], request->arena, &upload, err) ||
        !store_find_run(store, upload.run_id, request->arena, &run, err))
        return false;
    struct api_upload what = {.upload = &upload, .run = &run};
    return api_upload_json(request, &what, &response->body, err) &&
           api_finish_json(request, response, "upload", err);
}

// RFC 6266: a plain form that every client takes, and the true name in UTF-8.
static void name_file(struct request *request, struct response *response, struct str name)
{
    static const char hex[] = "0123456789ABCDEF";
    struct buf plain = {0}, encoded = {0};
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool safe = letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        buf_putc(&plain, safe ? (char)c : '_');
        if (safe)
            buf_putc(&encoded, (char)c);
        else
            buf_printf(&encoded, "%%%c%c", hex[c >> 4], hex[c & 15]);
    }
    if (!plain.failed && !encoded.failed && name.len)
        response_header(response, request->arena, "Content-Disposition",
                        "attachment; filename=\"%s\"; filename*=UTF-8''%s", plain.at, encoded.at);
    else
        response_header(response, request->arena, "Content-Disposition", "attachment");
    buf_free(&plain);
    buf_free(&encoded);
}

// What a file holds that looks like a secret is shown nowhere else; until it was read nobody knows.
static bool may_have(struct request *request, struct response *response,
                     const struct trace_row *trace, struct err *err)
{
    if (trace->clean || request->who.scopes & SCOPE_ADMIN)
        return true;
    response->fix =
        STR("ask somebody with the scope admin for the file, or wait until it was read");
    return response_refuse(response, err, (struct refusal){403, "secrets"},
                           "the file %s what looks like secrets: only the scope admin may have it",
                           trace->state == TRACE_DONE ? "holds" : "may hold");
}

bool api_get_trace(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = &request->services->intake;
    struct run run;
    struct trace_row trace;
    int64_t rank = -1;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    if (!str_to_i64(request->captures[1], &rank) || rank < 0)
        return err_set(err, ERR_USAGE, "found rank '%.*s', expected a number",
                       (int)(request->captures[1].len < 20 ? request->captures[1].len : 20),
                       request->captures[1].at);
    if (!store_find_rank(intake->store, run.id, rank, request->arena, &trace, err) ||
        !may_have(request, response, &trace, err))
        return false;
    if (response_unchanged(request, response, "%.*s", (int)trace.sha256.len, trace.sha256.at))
        return true;
    char *sha256 = arena_strdup(request->arena, trace.sha256, err);
    if (!sha256 ||
        !blob_open_read(intake->blobs, sha256, &response->fd, &response->file_bytes, err))
        return false;
    response->type = "application/octet-stream";
    name_file(request, response, trace.filename);
    return file_range_apply(request, response, err);
}
