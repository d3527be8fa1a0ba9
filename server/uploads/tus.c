// SPDX-License-Identifier: Apache-2.0
// Resumable uploads, by the tus 1.0 protocol with its extensions creation, creation-with-upload,
// checksum, termination and expiration: everything except receiving bytes.
#include "server/uploads/tus.h"

#include "ingest/base/clock.h"
#include "ingest/base/hash.h"
#include "ingest/base/log.h"
#include "server/care/care.h"
#include "server/files/hasher.h"
#include "server/files/pieces.h"
#include "server/http/route.h"
#include "server/uploads/tus_metadata.h"
#include "server/uploads/upload_form.h"
#include "server/uploads/upload_gate.h"
#include "server/uploads/upload_key.h"
#include "server/uploads/uploads.h"

#include <stdlib.h>
#include <time.h>

#define VERSION    "1.0.0"
#define EXTENSIONS "creation,creation-with-upload,checksum,termination,expiration"

// --- headers ------------------------------------------------------------------------------------

static bool check_version(struct request *request, struct response *response, struct err *err)
{
    struct str version = request_header(request, "Tus-Resumable");
    response_header(response, request->arena, "Tus-Resumable", VERSION);
    if (version.at && str_equal(version, STR(VERSION)))
        return true;
    response_header(response, request->arena, "Tus-Version", VERSION);
    return response_refuse(response, err, (struct refusal){412, "tus-version"},
                           "found %s Tus-Resumable header, expected one that says " VERSION,
                           version.at ? "another" : "no");
}

void tus_show_offset(struct request *request, struct response *response, uint64_t offset)
{
    response_header(response, request->arena, "Upload-Offset", "%llu", (unsigned long long)offset);
}

void tus_show_expiry(struct request *request, struct response *response, int64_t expires_ns)
{
    char text[40];
    time_t at = (time_t)(expires_ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&at, &parts) && strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts))
        response_header(response, request->arena, "Upload-Expires", "%s", text);
}

bool tus_show_result(struct request *request, struct response *response, struct str upload_id,
                     struct err *err)
{
    struct upload upload;
    if (!store_find_upload(request->services->intake->store, upload_id, request->arena, &upload,
                           err))
        return false;
    response_header(response, request->arena, "Upload-Result", "/api/v1/uploads/%.*s",
                    (int)upload_id.len, upload_id.at);
    response_header(response, request->arena, "Upload-Run", "%.*s", (int)upload.run_id.len,
                    upload.run_id.at);
    return true;
}

int64_t tus_expiry(const struct request *request)
{
    return clock_wall_ns() + request->services->resume_ns;
}

bool tus_options(struct request *request, struct response *response, struct err *err)
{
    (void)err;
    response->status = 204;
    response_header(response, request->arena, "Tus-Resumable", VERSION);
    response_header(response, request->arena, "Tus-Version", VERSION);
    response_header(response, request->arena, "Tus-Extension", EXTENSIONS);
    response_header(response, request->arena, "Tus-Checksum-Algorithm", "sha1,sha256");
    response_header(response, request->arena, "Tus-Max-Size", "%llu",
                    (unsigned long long)request->services->max_upload_bytes);
    return true;
}

// --- creation -----------------------------------------------------------------------------------

// "filename" counts before "name".
static const char *const filenames[] = {"filename", "name", NULL};

// Client metadata: names are shown, types are not trusted.
static bool set_fields(struct upload_form *form, const struct tus_metadata *metadata,
                       struct err *err)
{
    static const char *const unused[] = {"filetype", "type", "relativePath", NULL};
    for (size_t i = 0; i < metadata->count; i++) {
        const struct tus_field *field = &metadata->fields[i];
        if (!str_is_listed(field->name, filenames) && !str_is_listed(field->name, unused) &&
            !upload_form_set(form, field->name, field->value, err))
            return false;
    }
    return true;
}

static bool find_filename(struct request *request, const struct tus_metadata *metadata,
                          struct str *filename, struct err *err)
{
    struct str name = STR("");
    for (size_t i = 0; i < metadata->count; i++) {
        const struct tus_field *field = &metadata->fields[i];
        if (str_is_listed(field->name, filenames) &&
            (name.len == 0 || str_equal(field->name, STR("filename"))))
            name = field->value;
    }
    return upload_display_name(name, request->arena, filename, err);
}

bool tus_filename(struct request *request, struct str metadata, struct str *filename,
                  struct err *err)
{
    struct tus_metadata *parsed = arena_alloc(request->arena, sizeof *parsed, err);
    return parsed && tus_metadata_parse(metadata, request->arena, parsed, err) &&
           find_filename(request, parsed, filename, err);
}

struct upload_form *tus_form(struct request *request, struct str metadata, struct str *filename,
                             struct err *err)
{
    struct tus_metadata *parsed = arena_alloc(request->arena, sizeof *parsed, err);
    struct upload_form *form = parsed ? upload_form_new(request, err) : NULL;
    bool ok = form && tus_metadata_parse(metadata, request->arena, parsed, err) &&
              set_fields(form, parsed, err) &&
              store_check_target(request->services->intake->store, &form->run, err) &&
              find_filename(request, parsed, filename, err);
    return ok ? form : NULL;
}

// Metadata is stored until the last byte arrives, and must not contain secrets there.
static bool clean_metadata(struct request *request, struct str *metadata, struct err *err)
{
    struct tus_metadata *parsed = arena_alloc(request->arena, sizeof *parsed, err);
    return parsed && tus_metadata_parse(*metadata, request->arena, parsed, err) &&
           tus_metadata_clean(parsed, request->arena, metadata, err);
}

// Digits only: readers differ in which signs they accept.
static bool read_count(struct str text, int64_t *count)
{
    return text.len && str_is_digit(text.at[0]) && str_to_i64(text, count);
}

// Refuses extensions that are not supported: if ignored, a part would become a trace by itself, and
// a deferred length would be missing.
static bool check_extensions(const struct request *request, struct err *err)
{
    static const char *const names[] = {"Upload-Concat", "Upload-Defer-Length"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (request_header(request, names[i]).at)
            return err_set(err, ERR_USAGE, "found %s, expected no extensions but " EXTENSIONS,
                           names[i]);
    return true;
}

static bool read_length(struct request *request, uint64_t *bytes, struct err *err)
{
    struct str text = request_header(request, "Upload-Length");
    int64_t length = -1;
    if (!check_extensions(request, err))
        return false;
    if (!text.at)
        return err_set(err, ERR_USAGE, "found no Upload-Length, expected the size of the file");
    if (!read_count(text, &length))
        return err_set(err, ERR_USAGE, "found an Upload-Length that is not a number of bytes");
    *bytes = (uint64_t)length;
    return length > 0 || err_set(err, ERR_FORMAT, "found an empty file, expected a trace in JSON");
}

// Checks the description of an upload.
static bool check_wanted(struct request *request, struct response *response,
                         struct resumable_request *wanted, struct err *err)
{
    struct str metadata = request_header(request, "Upload-Metadata");
    struct str filename;
    struct upload_key key;
    wanted->metadata = metadata.at ? metadata : STR("");
    wanted->owner = request->who.key;
    wanted->expires_ns = tus_expiry(request);
    if (wanted->metadata.len > TUS_MAX_METADATA)
        return err_set(err, ERR_USAGE, "found Upload-Metadata of %zu bytes, expected at most %zu",
                       wanted->metadata.len, TUS_MAX_METADATA);
    if (!read_length(request, &wanted->bytes, err) || !upload_key_read(request, &key, err))
        return false;
    wanted->key = key.text;
    wanted->request = (int64_t)(hash_bytes(wanted->metadata.at, wanted->metadata.len) >> 1);
    const struct upload_form *form = tus_form(request, wanted->metadata, &filename, err);
    return form && upload_form_check_scope(request, response, form, err) &&
           clean_metadata(request, &wanted->metadata, err);
}

static bool forget(struct request *request, const struct resumable *found, struct err *err)
{
    const struct intake *intake = request->services->intake;
    return store_drop_resumable(intake->store, found->id, err) &&
           pieces_remove(intake->blobs, found->id.at, err);
}

static bool create(struct request *request, const struct resumable_request *wanted,
                   struct resumable *made, struct err *err)
{
    const struct intake *intake = request->services->intake;
    if (!store_add_resumable(intake->store, wanted, request->arena, made, err))
        return false;
    if (pieces_create(intake->blobs, made->id.at, err))
        return true;
    struct err ignored; // a row without its file is dropped when it is next requested
    if (!store_drop_resumable(intake->store, made->id, &ignored))
        log_warn("the row of an upload that could not start remains: %s", ignored.msg);
    return false;
}

static bool check_same(const struct resumable *known, const struct resumable_request *wanted,
                       struct err *err)
{
    if (known->bytes != wanted->bytes)
        return err_set(err, ERR_CONFLICT, "this Idempotency-Key started an upload of %llu bytes",
                       (unsigned long long)known->bytes);
    return known->request < 0 || known->request == wanted->request ||
           err_set(err, ERR_CONFLICT,
                   "this Idempotency-Key started an upload with other Upload-Metadata");
}

// The upload that a key started, whatever its state, unless it has expired. ERR_NOT_FOUND.
static bool find_known(struct request *request, const struct resumable_request *wanted,
                       struct resumable *known, struct err *err)
{
    struct store *store = request->services->intake->store;
    if (!store_find_resumable_of_key(store, wanted->owner, wanted->key, request->arena, known, err))
        return false;
    if (known->expires_ns >= care_clock_ns(request->services->intake->care))
        return check_same(known, wanted, err);
    return forget(request, known, err) && err_set(err, ERR_NOT_FOUND, "the upload has expired");
}

static bool find_or_create(struct request *request, struct response *response,
                           const struct resumable_request *wanted, struct resumable *made,
                           struct err *err)
{
    if (wanted->key.len && find_known(request, wanted, made, err))
        return true;
    if ((wanted->key.len && err->code != ERR_NOT_FOUND) ||
        !upload_gate_announce(request, response, wanted->bytes, err))
        return false;
    bool is_made = create(request, wanted, made, err);
    upload_gate_forget(request);
    if (is_made)
        return true;
    // The same key may have arrived on another connection meanwhile.
    return wanted->key.len && err->code == ERR_CONFLICT && find_known(request, wanted, made, err);
}

// --- keys of complete uploads --------------------------------------------------------------------

static bool hash_body(struct request *request, char sha256[HASHER_TEXT_SIZE], struct err *err)
{
    struct hasher *hasher = hasher_new(err);
    char *block = hasher ? malloc(PIECES_BLOCK_BYTES) : NULL;
    size_t got = 1;
    bool ok = block || (hasher && err_set(err, ERR_MEMORY, "out of memory for an upload"));
    while (ok && got)
        ok = body_read(request->body, block, PIECES_BLOCK_BYTES, &got, err) &&
             hasher_add(hasher, block, got, err);
    ok = ok && hasher_end(hasher, sha256, err);
    free(block);
    hasher_free(hasher);
    return ok;
}

static bool has_same_bytes(struct request *request, struct response *response,
                           const struct resumable *made, bool *same, struct err *err)
{
    char sha256[HASHER_TEXT_SIZE];
    struct upload upload;
    if (!store_find_upload(request->services->intake->store, made->upload_id, request->arena,
                           &upload, err) ||
        !upload_gate_enter_repeat(request, response, err))
        return false;
    bool ok = hash_body(request, sha256, err);
    *same = ok && upload.count == 1 && str_equal(upload.traces[0].sha256, str_of(sha256));
    upload_gate_leave(request);
    return ok;
}

// Only the bytes sent along show whether this is the same upload: without them no client may be
// made to believe that a different file is stored.
static bool repeat_complete(struct request *request, struct response *response,
                            const struct resumable *made, bool brings_bytes, struct err *err)
{
    bool same = false;
    if (brings_bytes && !has_same_bytes(request, response, made, &same, err))
        return false;
    if (!tus_show_result(request, response, made->upload_id, err))
        return false;
    if (same) {
        tus_show_offset(request, response, made->bytes);
        response->status = 201;
        return true;
    }
    response->fix = STR("compare the sha256 of the upload that Upload-Result names; use another "
                        "key for another file");
    return response_refuse(response, err, (struct refusal){409, "key-reused"},
                           "the upload of this Idempotency-Key is complete%s",
                           brings_bytes ? ", with other bytes" : "");
}

bool tus_post(struct request *request, struct response *response, struct err *err)
{
    struct resumable_request wanted = {0};
    struct resumable made;
    if (!check_version(request, response, err) || !check_wanted(request, response, &wanted, err) ||
        !find_or_create(request, response, &wanted, &made, err))
        return false;
    response_header(response, request->arena, "Location", TUS_PATH "/%.*s", (int)made.id.len,
                    made.id.at);
    response->cache = CACHE_NEVER;
    bool brings_bytes = request_has_type(request, "application/offset+octet-stream");
    if (made.upload_id.len)
        return repeat_complete(request, response, &made, brings_bytes, err);
    if (!brings_bytes || made.flushed || made.refused.len)
        tus_show_expiry(request, response, made.expires_ns);
    else if (!tus_receive(request, response, &made, 0, err))
        return false;
    response->status = 201;
    return true;
}

// --- one upload ---------------------------------------------------------------------------------

static bool find(struct request *request, struct response *response, struct resumable *found,
                 struct err *err)
{
    struct store *store = request->services->intake->store;
    if (!store_find_resumable(store, request->captures[0], request->arena, found, err))
        return false;
    request->object = found->id; // for the audit log, until it is an upload
    if (!str_equal(found->owner, request->who.key) && !(request->who.scopes & SCOPE_ADMIN))
        return err_set(err, ERR_NOT_FOUND, "no resumable upload %.*s", (int)found->id.len,
                       found->id.at);
    if (found->upload_id.len == 0 && found->refused.len == 0 &&
        found->expires_ns < care_clock_ns(request->services->intake->care))
        return response_refuse(response, err, (struct refusal){410, "expired"},
                               "this upload has expired; start another");
    return true;
}

static bool find_open(struct request *request, struct response *response, struct resumable *found,
                      struct err *err)
{
    if (!find(request, response, found, err))
        return false;
    return found->refused.len == 0 ||
           response_refuse(response, err, (struct refusal){410, "refused"}, "%.*s",
                           (int)found->refused.len, found->refused.at);
}

static bool read_offset(struct request *request, uint64_t *offset, struct err *err)
{
    struct str text = request_header(request, "Upload-Offset");
    int64_t value = -1;
    if (!text.at || !read_count(text, &value))
        return err_set(err, ERR_USAGE, "found no valid Upload-Offset, expected a number of bytes");
    *offset = (uint64_t)value;
    return true;
}

// A piece for an upload that was already accepted: its sender never got the last answer.
static bool repeat_result(struct request *request, struct response *response,
                          const struct resumable *found, uint64_t offset, struct err *err)
{
    tus_show_offset(request, response, found->bytes);
    if (offset != found->bytes || request->body->length != 0)
        return response_refuse(response, err, (struct refusal){409, "offset"},
                               "this upload is complete");
    if (!tus_show_result(request, response, found->upload_id, err))
        return false;
    response->status = 204;
    return true;
}

bool tus_patch(struct request *request, struct response *response, struct err *err)
{
    struct resumable found;
    uint64_t offset = 0;
    request->is_piece = true;
    if (!check_version(request, response, err) || !find_open(request, response, &found, err))
        return false;
    if (!request_has_type(request, "application/offset+octet-stream"))
        return response_refuse(
            response, err, (struct refusal){415, "media-type"},
            "found a different Content-Type, expected application/offset+octet-stream");
    if (!read_offset(request, &offset, err))
        return false;
    if (found.upload_id.len)
        return repeat_result(request, response, &found, offset, err);
    if (!tus_receive(request, response, &found, offset, err))
        return false;
    response->status = 204;
    return true;
}

bool tus_delete(struct request *request, struct response *response, struct err *err)
{
    struct resumable found;
    if (!check_version(request, response, err) || !find(request, response, &found, err) ||
        !forget(request, &found, err))
        return false;
    response->status = 204;
    return true;
}

// Clients that cannot send PATCH or DELETE use a header of a POST instead.
static bool overrides(const struct request *request, const char *method)
{
    struct str meant = request_header(request, "X-HTTP-Method-Override");
    return meant.at && str_equal(meant, str_of(method));
}

bool tus_post_other(struct request *request, struct response *response, struct err *err)
{
    if (overrides(request, "PATCH"))
        return tus_patch(request, response, err);
    if (overrides(request, "DELETE"))
        return tus_delete(request, response, err);
    return response_refuse(response, err, (struct refusal){405, "method"},
                           "found POST without X-HTTP-Method-Override, expected PATCH or DELETE");
}

// --- looking ------------------------------------------------------------------------------------

static bool head(struct request *request, struct response *response, struct err *err)
{
    struct resumable found;
    response->cache = CACHE_NEVER;
    if (!check_version(request, response, err) || !find_open(request, response, &found, err))
        return false;
    response_header(response, request->arena, "Upload-Length", "%llu",
                    (unsigned long long)found.bytes);
    if (found.metadata.len)
        response_header(response, request->arena, "Upload-Metadata", "%.*s",
                        (int)found.metadata.len, found.metadata.at);
    if (found.upload_id.len == 0)
        return tus_settle(request, response, &found, err);
    tus_show_offset(request, response, found.bytes);
    return tus_show_result(request, response, found.upload_id, err);
}

static bool write_result(struct request *request, const struct resumable *found, struct buf *out,
                         struct err *err)
{
    struct store *store = request->services->intake->store;
    struct upload upload;
    struct run run;
    if (!store_find_upload(store, found->upload_id, request->arena, &upload, err) ||
        !store_find_run(store, upload.run_id, request->arena, &run, err))
        return false;
    struct api_upload what = {.upload = &upload, .run = &run};
    return api_upload_json(request, &what, out, err);
}

static const char *state_word(const struct resumable *found)
{
    if (found->refused.len)
        return "refused";
    return found->upload_id.len ? "accepted" : "receiving";
}

// For people and programs that do not speak the protocol.
bool tus_get(struct request *request, struct response *response, struct err *err)
{
    struct resumable found;
    struct buf *out = &response->body;
    char expires[CLOCK_RFC3339_SIZE];
    if (str_equal(request->method, STR("HEAD")))
        return head(request, response, err);
    if (!find(request, response, &found, err))
        return false;
    buf_puts(out, "{\"id\":");
    buf_json(out, found.id);
    clock_rfc3339(found.expires_ns, expires);
    buf_printf(out, ",\"state\":\"%s\",\"bytes\":%llu,\"offset\":%llu,\"expires\":\"%s\",",
               state_word(&found), (unsigned long long)found.bytes,
               (unsigned long long)(found.upload_id.len ? found.bytes : found.flushed), expires);
    buf_puts(out, "\"refused\":");
    api_text_json(found.refused, out);
    buf_puts(out, ",\"upload\":");
    if (found.upload_id.len == 0)
        buf_puts(out, "null");
    else if (!write_result(request, &found, out, err))
        return false;
    buf_putc(out, '}');
    return api_finish_json(request, response, NULL, err);
}
