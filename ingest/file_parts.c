// SPDX-License-Identifier: Apache-2.0
// Opens a file or the members of an archive, one level deep.
#include "ingest/file_parts.h"

static bool is_archive(const struct format_found *found)
{
    return found->format && found->format->kind == FORMAT_ARCHIVE;
}

static bool take_file(struct file_parts *parts, struct source *source, take_part *take,
                      void *context, struct err *err)
{
    struct file_part part = {.found = parts->found, .source = source};
    if (parts->found.layer_count || !source_size(source, &part.size))
        part.size = 0;
    parts->count++;
    return take(context, &part, err);
}

// Nested archives would multiply what a few bytes can unpack to, and are not seekable.
static void refuse_archive(struct file_part *part)
{
    source_close(part->source);
    part->source = NULL;
    err_set(&part->problem, ERR_UNSUPPORTED,
            "%s within an archive, expected files: unpack it and give those",
            part->found.format->what);
}

static void open_member(struct unpack *unpack, const struct unpack_member *member,
                        struct file_part *part)
{
    if (member->unread) {
        err_set(&part->problem, ERR_UNSUPPORTED, "%s", member->unread);
        return;
    }
    part->source = unpack_source(unpack, &part->problem);
    if (part->source)
        part->source =
            format_open(part->source, str_of(member->name), &part->found, &part->problem);
    if (part->source && part->found.layer_count)
        part->source = unpack_decoded(unpack, part->source, &part->problem);
    if (part->source && is_archive(&part->found))
        refuse_archive(part);
}

static bool take_members(struct file_parts *parts, struct unpack *unpack, take_part *take,
                         void *context, struct err *err)
{
    const struct unpack_member *member;
    for (;;) {
        if (!unpack_next(unpack, &member, err))
            return false;
        if (!member)
            return true;
        struct file_part part = {
            .name = member->name, .size = member->size, .problem = {.pos = ERR_NO_POS}};
        open_member(unpack, member, &part);
        parts->count++;
        if (!take(context, &part, err))
            return false;
    }
}

bool file_parts_each(struct file_parts *parts, take_part *take, void *context, struct err *err)
{
    struct source *source = format_open(parts->source, parts->filename, &parts->found, err);
    if (!source)
        return false;
    if (!is_archive(&parts->found) || !parts->found.format->unpack)
        return take_file(parts, source, take, context, err);
    struct unpack *unpack = unpack_open(source, parts->found.format, parts->limits, err);
    bool ok = unpack && take_members(parts, unpack, take, context, err);
    unpack_close(unpack);
    return ok;
}
