// SPDX-License-Identifier: Apache-2.0
// Untrusted text.
#include "ingest/trace/trace_text.h"
#include "ingest/base/buf.h"
#include "ingest/base/secrets.h"

size_t trace_text_cut(struct str raw)
{
    const size_t around = (size_t)4 << 10;
    if (raw.len <= TRACE_MAX_TEXT)
        return raw.len;
    size_t from = TRACE_MAX_TEXT - around,
           end = raw.len < TRACE_MAX_TEXT + around ? raw.len : TRACE_MAX_TEXT + around;
    struct str near = {raw.at + from, end - from};
    struct secret secret;
    for (size_t at = 0; secrets_find(near, at, &secret) && secret.at < around;
         at = secret.at + secret.len)
        if (secret.at + secret.len > around)
            return from + secret.at;
    return TRACE_MAX_TEXT;
}

// Invalid UTF-8 and control characters become U+FFFD.
static bool intern_repaired(struct trace_builder *builder, struct str raw, str_id *id,
                            struct err *err)
{
    struct buf clean = {0};
    buf_add_shown(&clean, raw);
    bool ok =
        buf_ok(&clean, err) && strtab_intern_outside(trace_builder_strings(builder),
                                                     (struct str){clean.at, clean.len}, id, err);
    buf_free(&clean);
    return ok;
}

static bool is_plain(struct str raw)
{
    for (size_t i = 0; i < raw.len; i++)
        if ((unsigned char)raw.at[i] < ' ')
            return false;
    return str_valid_utf8(raw) == raw.len;
}

bool trace_builder_text(struct trace_builder *builder, struct str raw, uint64_t pos, str_id *id,
                        struct err *err)
{
    size_t len = trace_text_cut(raw);
    if (len < raw.len)
        trace_builder_repair(builder, REPAIR_LONG_TEXT, pos);
    raw.len = len;
    if (is_plain(raw))
        return strtab_intern_outside(trace_builder_strings(builder), raw, id, err);
    trace_builder_repair(builder, REPAIR_TEXT, pos);
    return intern_repaired(builder, raw, id, err);
}
