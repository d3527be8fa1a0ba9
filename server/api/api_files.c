// SPDX-License-Identifier: Apache-2.0
// Stored files as downloads.
#include "server/api/api_parts.h"
#include "server/http/file_range.h"

// RFC 6266: a plain form that every client takes, and the true name in UTF-8.
static void name_file(struct request *request, struct response *response, struct str name)
{
    static const char hex[] = "0123456789ABCDEF";
    struct buf plain = {0}, encoded = {0};
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        bool safe = letter || str_is_digit(c) || c == '-' || c == '_' || c == '.';
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

// Possible secrets in a file are shown nowhere else; until it has been read, nobody knows of them.
static bool may_have(struct request *request, struct response *response,
                     const struct api_file *file, struct err *err)
{
    if (file->secrets == 0 || request->who.scopes & SCOPE_ADMIN)
        return true;
    response->fix =
        STR("ask someone with the scope admin for the file, or wait until it has been analyzed");
    return response_refuse(
        response, err, (struct refusal){403, "secrets"},
        "the file %s text that looks like secrets: only the scope admin may download it",
        file->secrets > 0 ? "holds" : "may hold");
}

bool api_send_file(struct request *request, struct response *response, const struct api_file *file,
                   struct err *err)
{
    if (!may_have(request, response, file, err))
        return false;
    if (response_unchanged(request, response, "%.*s", (int)file->sha256.len, file->sha256.at))
        return true;
    char *sha256 = arena_strdup(request->arena, file->sha256, err);
    if (!sha256 || !blob_open_read(request->services->intake->blobs, sha256, &response->fd,
                                   &response->file_bytes, err))
        return false;
    response->type = "application/octet-stream";
    name_file(request, response, file->name);
    return file_range_apply(request, response, err);
}
