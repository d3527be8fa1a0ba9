// SPDX-License-Identifier: Apache-2.0
// From a body to sealed spools: every byte is looked at once and only one buffer is held.
#include "ingest/file_sets.h"
#include "server/uploads/upload_form.h"

#include "ingest/base/secrets.h"
#include "ingest/source/format.h"
#include "server/uploads/multipart.h"
#include "server/uploads/sniff.h"

#include <stdlib.h>

#define FIELD_MAX_BYTES   (STORE_NOTE_MAX_BYTES + 96)
#define DISPLAY_MAX_BYTES ((size_t)255)

struct upload_form *upload_form_new(struct request *request, struct err *err)
{
    struct upload_form *form = arena_alloc(request->arena, sizeof(*form), err);
    if (!form)
        return NULL;
    form->run.world_size = STORE_ANY;
    form->run.name = form->run.project = form->run.note = form->run.step_pattern = STR("");
    form->run.tags = form->tags;
    form->run.meta = form->meta;
    form->run.owner = request->who.key;
    form->run.adds_only = !(request->who.scopes & SCOPE_WRITE);
    return form;
}

void upload_form_close(struct upload_form *form)
{
    for (size_t i = 0; form && i < form->part_count; i++)
        blob_spool_close(form->parts[i].spool);
    if (form)
        form->part_count = 0;
}

bool upload_display_name(struct str name, struct arena *arena, struct str *display, struct err *err)
{
    struct buf out = {0}, clean = {0};
    secrets_redact(name, NULL, &clean);
    name = (struct str){clean.at, clean.len};
    while (name.len && out.len < DISPLAY_MAX_BYTES) {
        size_t valid = str_valid_utf8((struct str){name.at, name.len < 4 ? name.len : 4});
        unsigned char c = (unsigned char)name.at[0];
        size_t used = 1;
        if (valid == 0)
            buf_puts(&out, "\xEF\xBF\xBD");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(&out, "\\x%02x", c);
        else if (c < 0x80)
            buf_putc(&out, (char)c);
        else
            buf_add(&out, name.at, used = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4);
        name = (struct str){name.at + used, name.len - used};
    }
    size_t len = out.len < DISPLAY_MAX_BYTES ? out.len : DISPLAY_MAX_BYTES;
    *display = (struct str){"", str_valid_utf8((struct str){out.at, len})};
    bool ok =
        buf_ok(&clean, err) && buf_ok(&out, err) &&
        (display->len == 0 ||
         (display->at = arena_strdup(arena, (struct str){out.at, display->len}, err)) != NULL);
    buf_free(&out);
    buf_free(&clean);
    return ok;
}

bool upload_form_check_scope(const struct request *request, struct response *response,
                             const struct upload_form *form, struct err *err)
{
    return !form->replace || request->who.scopes & SCOPE_WRITE ||
           response_refuse(response, err, (struct refusal){403, "scope"},
                           "%.*s may not replace traces, which needs the scope write",
                           (int)request->who.name.len, request->who.name.at);
}

void upload_form_explain_denial(struct response *response)
{
    response->word = "scope";
    response->fix = STR("use a different run name, or a token with the scope write");
}

// --- one file -----------------------------------------------------------------------------------

// The bytes of one file, block by block; an empty block is the end.
struct blocks {
    bool (*next)(void *ctx, struct str *bytes, struct err *err);
    void *ctx;
    uint64_t expected_bytes; // 0 unknown
    struct str filename;
    bool may_be_archive;
};

// Collects the first bytes; what the last block holds beyond them is left in *rest.
static bool read_head(struct blocks *blocks, char head[SNIFF_BYTES], size_t *head_len,
                      struct str *rest, struct err *err)
{
    *head_len = 0;
    do {
        if (!blocks->next(blocks->ctx, rest, err))
            return false;
        size_t room = SNIFF_BYTES - *head_len;
        size_t taken = rest->len < room ? rest->len : room;
        memcpy(head + *head_len, rest->at, taken);
        *head_len += taken;
        if (rest->len > taken) {
            *rest = (struct str){rest->at + taken, rest->len - taken};
            return true;
        }
    } while (rest->len && *head_len < SNIFF_BYTES);
    *rest = (struct str){rest->at, 0};
    return true;
}

static bool write_rest(struct spool *spool, struct blocks *blocks, struct str bytes, bool more,
                       struct err *err)
{
    if (bytes.len && !blob_spool_write(spool, bytes.at, bytes.len, err))
        return false;
    while (more) {
        if (!blocks->next(blocks->ctx, &bytes, err))
            return false;
        more = bytes.len > 0;
        if (more && !blob_spool_write(spool, bytes.at, bytes.len, err))
            return false;
    }
    return blob_spool_seal(spool, err);
}

// Whether the first bytes are of something that is taken. A raw file is a rank's trace.
static bool look(struct str head, const struct blocks *blocks, struct str *archive, struct err *err)
{
    struct file_set_key set;
    *archive = STR("");
    if (!blocks->may_be_archive)
        return sniff_trace(head, err);
    // upload_join checks again what it does not join
    return sniff_upload(head, blocks->filename, archive, err) ||
           (head.len && file_set_key(blocks->filename, &set));
}

// Stores a file; *refused: its first bytes show that it is not a trace, err has the reason, the
// rest is unread.
static bool receive(struct request *request, struct upload_form *form, struct blocks *blocks,
                    bool *refused, struct err *err)
{
    char head[SNIFF_BYTES];
    struct str archive;
    size_t head_len = 0;
    struct str rest;
    *refused = false;
    if (!read_head(blocks, head, &head_len, &rest, err))
        return false;
    if (!look((struct str){head, head_len}, blocks, &archive, err)) {
        *refused = true;
        return false;
    }
    if (form->coding.len && !sniff_is_coded((struct str){head, head_len}, form->coding))
        return err_set(err, ERR_FORMAT,
                       "found bytes that are not %.*s, as declared by Content-Encoding",
                       (int)form->coding.len, form->coding.at);
    struct blobs *blobs = request->services->intake->blobs;
    struct spool *spool = form->is_repeat ? blob_spool_open_unkept(blobs, err)
                                          : blob_spool_open(blobs, blocks->expected_bytes, err);
    if (!spool)
        return false;
    form->parts[form->part_count++] = (struct intake_part){
        .spool = spool, .filename = blocks->filename, .rank = STORE_NO_RANK, .archive = archive};
    return blob_spool_write(spool, head, head_len, err) &&
           write_rest(spool, blocks, rest, head_len == SNIFF_BYTES, err);
}

// --- multipart ----------------------------------------------------------------------------------

static bool read_body(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    return body_read(ctx, bytes, cap, got, err);
}

static bool next_of_part(void *ctx, struct str *bytes, struct err *err)
{
    return multipart_read(ctx, bytes, err);
}

static bool read_file(struct request *request, struct upload_form *form,
                      struct multipart *multipart, const struct multipart_part *part,
                      struct err *err)
{
    struct blocks blocks = {.next = next_of_part, .ctx = multipart, .may_be_archive = true};
    struct str name;
    bool refused = false;
    if (!store_check_target(request->services->intake->store, &form->run, err))
        return false; // before the long part of the body
    if (form->part_count + form->refused_count == UPLOAD_MAX_FILES)
        return err_set(err, ERR_LIMIT, "found more than %zu files in one upload", UPLOAD_MAX_FILES);
    if (!upload_display_name(str_of(part->filename), request->arena, &name, err))
        return false;
    blocks.filename = name;
    bool ok = receive(request, form, &blocks, &refused, err);
    if (!refused)
        return ok;
    struct api_refused_part *entry = &form->refused[form->refused_count++];
    entry->filename = name;
    memcpy(entry->reason, err->msg, sizeof(entry->reason));
    return true;
}

static bool read_field_text(struct request *request, struct multipart *multipart,
                            const struct multipart_part *part, struct str *text, struct err *err)
{
    char value[FIELD_MAX_BYTES];
    size_t len = 0;
    struct str bytes;
    do {
        if (!multipart_read(multipart, &bytes, err))
            return false;
        if (bytes.len > sizeof(value) - len)
            return err_set(err, ERR_USAGE, "found a field '%.40s' of more than %zu bytes",
                           part->name, sizeof(value));
        memcpy(value + len, bytes.at, bytes.len);
        len += bytes.len;
    } while (bytes.len);
    if (str_valid_utf8((struct str){value, len}) != len || memchr(value, '\0', len))
        return err_set(err, ERR_USAGE, "found a field '%.40s' that is not UTF-8 text", part->name);
    *text = (struct str){arena_strdup(request->arena, (struct str){value, len}, err), len};
    return text->at != NULL;
}

static bool set_rank(struct upload_form *form, struct str text, struct err *err)
{
    int64_t rank = -1;
    if (!str_to_i64(text, &rank) || rank < 0 || rank > INT32_MAX)
        return err_set(err, ERR_USAGE, "found rank '%.*s', expected a number",
                       (int)(text.len < 20 ? text.len : 20), text.at);
    if (form->rank_count == UPLOAD_MAX_FILES)
        return err_set(err, ERR_USAGE, "found more than %zu rank fields", UPLOAD_MAX_FILES);
    form->ranks[form->rank_count++] = rank;
    return true;
}

static bool set_role(struct upload_form *form, struct str text, struct err *err)
{
    form->role = text;
    return (text.len > 0 && text.len <= TRACE_ROLE_MAX) ||
           err_set(err, ERR_USAGE, "found a role of %zu bytes, expected 1 to %d", text.len,
                   TRACE_ROLE_MAX);
}

static bool set_world_size(struct upload_form *form, struct str text, struct err *err)
{
    int64_t size = 0;
    if (!str_to_i64(text, &size) || size < 1 || size > INT32_MAX)
        return err_set(err, ERR_USAGE, "found world_size '%.*s', expected a number of ranks",
                       (int)(text.len < 20 ? text.len : 20), text.at);
    form->run.world_size = size;
    return true;
}

static bool set_warmup(struct upload_form *form, struct str text, struct err *err)
{
    form->warmup_steps = -1;
    form->run.warmup_steps = &form->warmup_steps;
    return str_equal(text, STR("auto")) ||
           (str_to_i64(text, &form->warmup_steps) && form->warmup_steps >= 0 &&
            form->warmup_steps <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found warmup '%.*s', expected a number of steps or auto",
                   (int)(text.len < 20 ? text.len : 20), text.at);
}

static bool add_tag(struct upload_form *form, struct str text, struct err *err)
{
    if (form->run.tag_count == UPLOAD_MAX_TAGS)
        return err_set(err, ERR_USAGE, "found more than %zu tags", UPLOAD_MAX_TAGS);
    return api_parse_pair("tag", text, &form->tags[form->run.tag_count++], err);
}

bool upload_form_add_meta(struct upload_form *form, struct str text, struct err *err)
{
    if (form->run.meta_count == STORE_MAX_META)
        return err_set(err, ERR_USAGE, "found more than %zu meta fields", STORE_MAX_META);
    return api_parse_pair("meta", text, &form->meta[form->run.meta_count++], err);
}

bool upload_form_set_replace(struct upload_form *form, struct str text, struct err *err)
{
    form->replace = str_equal(text, STR("true"));
    return form->replace || str_equal(text, STR("false")) ||
           err_set(err, ERR_USAGE, "found replace '%.*s', expected true or false",
                   (int)(text.len < 20 ? text.len : 20), text.at);
}

static bool refuse_field(struct str name, struct err *err)
{
    int len = (int)(name.len < 40 ? name.len : 40);
    return err_set(err, ERR_USAGE,
                   "found field '%.*s', expected trace, run, rank, role, project, tag, meta, note, "
                   "world_size, step, warmup or replace; meta=%.*s=VALUE keeps any other fact",
                   len, name.at, len, name.at);
}

bool upload_form_set(struct upload_form *form, struct str name, struct str text, struct err *err)
{
    if (str_equal(name, STR("run")))
        form->run.name = text;
    else if (str_equal(name, STR("project")))
        form->run.project = text;
    else if (str_equal(name, STR("note")))
        form->run.note = text;
    else if (str_equal(name, STR("rank")))
        return set_rank(form, text, err);
    else if (str_equal(name, STR("role")))
        return set_role(form, text, err);
    else if (str_equal(name, STR("world_size")))
        return set_world_size(form, text, err);
    else if (str_equal(name, STR("step")))
        form->run.step_pattern = text;
    else if (str_equal(name, STR("warmup")))
        return set_warmup(form, text, err);
    else if (str_equal(name, STR("tag")))
        return add_tag(form, text, err);
    else if (str_equal(name, STR("meta")))
        return upload_form_add_meta(form, text, err);
    else if (str_equal(name, STR("replace")))
        return upload_form_set_replace(form, text, err);
    else
        return refuse_field(name, err);
    return true;
}

static bool read_part(struct request *request, struct upload_form *form,
                      struct multipart *multipart, const struct multipart_part *part,
                      struct err *err)
{
    struct str text;
    if (strcmp(part->name, "trace") == 0)
        return read_file(request, form, multipart, part, err);
    return read_field_text(request, multipart, part, &text, err) &&
           upload_form_set(form, str_of(part->name), text, err);
}

// The first file of the set that each file is in; itself if it is in none.
static void find_sets(const struct upload_form *form, size_t *set_of)
{
    struct str names[UPLOAD_MAX_FILES];
    size_t in_set[UPLOAD_MAX_FILES];
    for (size_t i = 0; i < form->part_count; i++) {
        names[i] = form->parts[i].filename;
        set_of[i] = i;
    }
    for (size_t i = 0; i < form->part_count; i++) {
        size_t count = file_set_find(names, form->part_count, i, in_set);
        for (size_t k = 0; k < count; k++)
            set_of[in_set[k]] = i;
    }
    for (size_t i = 0; i < form->part_count; i++) {
        size_t original = file_set_original(names, form->part_count, i);
        set_of[i] = set_of[original == SIZE_MAX ? i : original];
    }
}

// Files have a rank in common if, and only if, they are of one set.
static bool check_ranks(const struct upload_form *form, const size_t *set_of, struct err *err)
{
    for (size_t i = 0; i < form->part_count; i++)
        for (size_t other = 0; other < i; other++) {
            bool same = form->ranks[other] == form->ranks[i];
            if (same && set_of[other] != set_of[i])
                return err_set(err, ERR_USAGE, "found two files for rank %lld",
                               (long long)form->ranks[i]);
            if (!same && set_of[other] == set_of[i])
                return err_set(err, ERR_USAGE,
                               "found ranks %lld and %lld for files that are read as one, "
                               "expected the same rank",
                               (long long)form->ranks[other], (long long)form->ranks[i]);
        }
    return true;
}

// Rank fields apply to the files in order.
static bool give_ranks(struct upload_form *form, struct err *err)
{
    if (form->rank_count == 0)
        return true;
    if (form->rank_count != form->part_count)
        return err_set(err, ERR_USAGE, "found %zu rank fields for %zu files, expected one each",
                       form->rank_count, form->part_count);
    for (size_t i = 0; i < form->part_count; i++) {
        struct intake_part *part = &form->parts[i];
        if (sniff_may_be_trace(part->archive, part->filename))
            part->archive = STR(""); // with a rank it is one process
        if (part->archive.len)
            return err_set(err, ERR_USAGE,
                           "found a rank field for an archive, expected none: its members say "
                           "which ranks they are");
        part->rank = form->ranks[i];
    }
    size_t set_of[UPLOAD_MAX_FILES];
    find_sets(form, set_of);
    return check_ranks(form, set_of, err);
}

// Whether it is a log, a monitor or the like, which has no role.
static bool is_no_trace(const struct intake_part *part)
{
    const struct format *format = part->archive.len ? format_named(part->archive) : NULL;
    return format && format_is_kept(format);
}

// Traces in an archive, or processes in a file, get the role once they are unpacked.
static void give_role(struct upload_form *form)
{
    for (size_t i = 0; i < form->part_count; i++)
        if (!is_no_trace(&form->parts[i]))
            form->parts[i].role = form->role;
}

static bool settle(struct upload_form *form, struct err *err)
{
    if (!give_ranks(form, err))
        return false;
    give_role(form);
    return true;
}

bool upload_form_take(struct upload_form *form, struct spool *spool, struct str filename,
                      struct str archive, struct err *err)
{
    form->parts[0] = (struct intake_part){
        .spool = spool, .filename = filename, .rank = STORE_NO_RANK, .archive = archive};
    form->part_count = 1;
    return settle(form, err);
}

static bool check_form(struct upload_form *form, struct response *response, struct err *err)
{
    if (form->part_count)
        return settle(form, err);
    if (form->refused_count)
        return err_set(err, ERR_FORMAT, "%.120s: %s",
                       form->refused[0].filename.len ? form->refused[0].filename.at : "trace",
                       form->refused[0].reason);
    response->fix = STR("curl -F run=NAME -F trace=@FILE http://HOST/upload");
    return err_set(err, ERR_USAGE, "found no file in the upload, expected a part named trace");
}

bool upload_form_read(struct request *request, struct response *response, struct upload_form *form,
                      struct err *err)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    struct multipart_part *part = arena_alloc(request->arena, sizeof(*part), err);
    bool found = false;
    if (!part || !multipart_boundary(request_header(request, "Content-Type"), boundary, err))
        return false;
    struct multipart_source source = {read_body, request->body};
    struct multipart *multipart = multipart_open(boundary, source, err);
    bool ok = multipart != NULL;
    while (ok && (ok = multipart_next(multipart, part, &found, err)) && found)
        ok = read_part(request, form, multipart, part, err);
    multipart_close(multipart);
    return ok && check_form(form, response, err);
}

// --- raw ----------------------------------------------------------------------------------------

struct raw_body {
    struct body *body;
    char *block;
};

static bool next_of_body(void *ctx, struct str *bytes, struct err *err)
{
    struct raw_body *raw = ctx;
    size_t got = 0;
    bool ok = body_read(raw->body, raw->block, MULTIPART_BUFFER_BYTES, &got, err);
    *bytes = (struct str){raw->block, got};
    return ok;
}

bool upload_form_read_raw(struct request *request, struct upload_form *form, struct str filename,
                          struct err *err)
{
    bool refused = false;
    struct raw_body raw = {request->body, malloc(MULTIPART_BUFFER_BYTES)};
    uint64_t length = request->body->length;
    struct blocks blocks = {.next = next_of_body,
                            .ctx = &raw,
                            .expected_bytes = length == BODY_UNKNOWN ? 0 : length,
                            .filename = filename};
    bool ok = raw.block ? receive(request, form, &blocks, &refused, err)
                        : err_set(err, ERR_MEMORY, "out of memory for an upload");
    free(raw.block);
    return ok;
}
