// SPDX-License-Identifier: Apache-2.0
// Reads Upload-Metadata.
#include "server/uploads/tus_metadata.h"

#include "ingest/base/secrets.h"
#include "server/base/base64.h"

// Cuts off what precedes the first `end`, or everything.
static struct str take(struct str *rest, char end)
{
    const char *at = rest->len ? memchr(rest->at, end, rest->len) : NULL;
    size_t len = at ? (size_t)(at - rest->at) : rest->len;
    struct str taken = {rest->at, len};
    size_t used = len + (at != NULL);
    *rest = (struct str){rest->at + used, rest->len - used};
    return taken;
}

static bool check_name(struct str name, struct err *err)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] <= ' ' || name.at[i] > '~')
            return err_set(err, ERR_USAGE, "found a name in Upload-Metadata with byte 0x%02x",
                           (unsigned char)name.at[i]);
    return name.len || err_set(err, ERR_USAGE, "found a pair without a name in Upload-Metadata");
}

static bool add(struct tus_metadata *metadata, struct tus_field field, struct err *err)
{
    if (metadata->count == TUS_MAX_FIELDS)
        return err_set(err, ERR_USAGE, "found more than %zu values in Upload-Metadata",
                       TUS_MAX_FIELDS);
    metadata->fields[metadata->count++] = field;
    return true;
}

static bool add_lines(struct tus_metadata *metadata, struct tus_field field, struct err *err)
{
    struct str rest = field.value;
    do {
        field.value = take(&rest, '\n');
        if (field.value.len && !add(metadata, field, err))
            return false;
    } while (rest.len);
    return true;
}

static bool parse_pair(struct str pair, struct arena *arena, struct tus_metadata *metadata,
                       struct err *err)
{
    struct tus_field field = {.name = take(&pair, ' ')};
    if (!check_name(field.name, err) ||
        !base64_decode(str_trim(pair, " \t"), arena, &field.value, err))
        return false;
    if (str_valid_utf8(field.value) != field.value.len ||
        memchr(field.value.at, '\0', field.value.len))
        return err_set(err, ERR_USAGE, "found '%.*s' in Upload-Metadata, which is not UTF-8 text",
                       (int)(field.name.len < 40 ? field.name.len : 40), field.name.at);
    bool repeats = str_equal(field.name, STR("tag")) || str_equal(field.name, STR("meta"));
    return repeats ? add_lines(metadata, field, err) : add(metadata, field, err);
}

bool tus_metadata_parse(struct str header, struct arena *arena, struct tus_metadata *metadata,
                        struct err *err)
{
    metadata->count = 0;
    while (header.len) {
        struct str pair = str_trim(take(&header, ','), " \t");
        if (!parse_pair(pair, arena, metadata, err))
            return false;
    }
    return true;
}

bool tus_metadata_clean(const struct tus_metadata *metadata, struct arena *arena,
                        struct str *header, struct err *err)
{
    struct buf out = {0}, value = {0};
    for (size_t i = 0; i < metadata->count; i++) {
        const struct tus_field *field = &metadata->fields[i];
        buf_clear(&value);
        secrets_redact_value(field->name, field->value, &value);
        buf_puts(&out, i ? "," : "");
        buf_add_str(&out, field->name);
        buf_putc(&out, ' ');
        base64_encode((struct str){value.at, value.len}, &out);
    }
    bool ok = buf_ok(&value, err) && buf_ok(&out, err);
    *header = STR("");
    if (ok && out.len) {
        *header = (struct str){arena_strdup(arena, (struct str){out.at, out.len}, err), out.len};
        ok = header->at != NULL;
    }
    buf_free(&value);
    buf_free(&out);
    return ok;
}
