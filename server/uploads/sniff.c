// SPDX-License-Identifier: Apache-2.0
// Accepts what is compressed, JSON or an archive; the error names anything else, by the table of
// formats.
#include "server/uploads/sniff.h"

#include "ingest/source/source.h"

bool sniff_is_coded(struct str head, struct str coding)
{
    const char *name = str_equal_nocase(coding, STR("zstd")) ? "zstd" : "gzip";
    const struct format *found = format_find(head, (struct str){"", 0});
    return found && strcmp(found->name, name) == 0;
}

static bool is_blank(struct str head)
{
    size_t i = str_starts_with(head, STR("\xEF\xBB\xBF")) ? 3 : 0;
    while (i < head.len && memchr(" \t\r\n", head.at[i], 4))
        i++;
    return i == head.len;
}

// For content of an unknown kind.
static bool sniff_unknown(struct str head, struct err *err)
{
    if (head.len == 0)
        return format_refuse_what("an empty file", err);
    if (is_blank(head))
        return head.len == SNIFF_BYTES || format_refuse_what("only white space", err);
    return format_refuse_what("content that is neither JSON nor a known compression", err);
}

static bool judge(const struct format *found, struct str head, struct err *err)
{
    if (!found)
        return sniff_unknown(head, err);
    bool may_be = found->read || found->decode || found->member || found->kind == FORMAT_DATABASE;
    return may_be || format_refuse(found, err);
}

bool sniff_trace(struct str head, struct err *err)
{
    return judge(format_find(head, (struct str){"", 0}), head, err);
}

bool sniff_may_be_trace(struct str archive, struct str filename)
{
    const struct format *format = format_named(archive);
    return format && !format->unpack && !format_has_ending(1u << FORMAT_ARCHIVE, filename);
}

// A compressed file that is named like a trace; others may be an archive or a log.
static bool may_only_be_trace(struct str filename)
{
    return format_has_ending(1u << FORMAT_TRACE, filename) && !format_may_be_many(filename);
}

// Whether the first bytes of what is compressed are of a format that may hold several processes:
// ranks merged into one trace.
static bool is_many_within(struct str head, struct str filename)
{
    struct err ignored;
    struct format_found found;
    struct format_hint hint = {filename, SCRATCH_NONE};
    struct source *source = source_mem_open(head.at, head.len, 0, &ignored);
    source = source ? format_open(source, &hint, &found, &ignored) : NULL;
    bool many = source && found.format && found.format->parts;
    source_close(source);
    return many;
}

bool sniff_upload(struct str head, struct str filename, struct str *archive, struct err *err)
{
    const struct format *found = format_find(head, filename);
    // A database may hold several processes.
    bool unpacks =
        found &&
        (found->unpack || found->parts || format_is_kept(found) || found->kind == FORMAT_DATABASE ||
         (found->decode && (!may_only_be_trace(filename) || is_many_within(head, filename))));
    *archive = unpacks ? str_of(found->name) : STR("");
    return unpacks || judge(found, head, err);
}
