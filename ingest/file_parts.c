// SPDX-License-Identifier: Apache-2.0
// Opens a file or the members of an archive, one level deep.
#include "ingest/file_parts.h"

#include <stdlib.h>

static bool is_archive(const struct format_found *found)
{
    return found->format && found->format->kind == FORMAT_ARCHIVE;
}

// --- processes ----------------------------------------------------------------------------------

struct walk {
    struct file_parts *parts;
    take_part *take;
    void *context;
};

static bool take_process(const struct walk *walk, const struct file_part *whole,
                         struct source *source, struct err *err)
{
    struct file_part part = *whole;
    walk->parts->count++;
    part.source = source_lend(source, err);
    return part.source && walk->take(walk->context, &part, err);
}

static bool take_processes(const struct walk *walk, struct file_part *part,
                           const struct format_parts *processes, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < processes->count; i++) {
        part->process = i;
        part->found.part = processes->at[i];
        ok = take_process(walk, part, part->source, err);
    }
    source_close(part->source);
    return ok;
}

// Takes over the part's source.
static bool take_one(const struct walk *walk, struct file_part *part, struct err *err)
{
    walk->parts->count++;
    part->processes = 1;
    return walk->take(walk->context, part, err);
}

static bool take_found(const struct walk *walk, struct file_part *part, struct err *err)
{
    const struct format *format = part->found.format;
    if (!part->source || !format || !format->parts)
        return take_one(walk, part, err);
    struct format_parts *processes = malloc(sizeof *processes);
    bool ok = processes || err_set(err, ERR_MEMORY, "out of memory");
    if (ok && !format->parts(part->source, processes, &part->problem)) {
        source_close(part->source);
        part->source = NULL;
        ok = take_one(walk, part, err);
    } else if (ok && processes->count < 2) {
        ok = take_one(walk, part, err);
    } else if (ok) {
        part->processes = processes->count;
        ok = take_processes(walk, part, processes, err);
    }
    free(processes);
    return ok;
}

static bool take_file(const struct walk *walk, struct source *source, struct err *err)
{
    struct file_part part = {
        .found = walk->parts->found, .source = source, .problem = {.pos = ERR_NO_POS}};
    if (part.found.layer_count || !source_size(source, &part.size))
        part.size = 0;
    return take_found(walk, &part, err);
}

// --- members ------------------------------------------------------------------------------------

// Nested archives would multiply what a few bytes can unpack to, and are not seekable.
static void refuse_archive(struct file_part *part)
{
    source_close(part->source);
    part->source = NULL;
    err_set(&part->problem, ERR_UNSUPPORTED,
            "%s within an archive, expected files: unpack it and give those",
            part->found.format->what);
}

static void open_member(const struct walk *walk, struct unpack *unpack,
                        const struct unpack_member *member, struct file_part *part)
{
    struct format_hint hint = {str_of(member->name), walk->parts->hint.scratch};
    if (member->unread) {
        err_set(&part->problem, ERR_UNSUPPORTED, "%s", member->unread);
        return;
    }
    part->source = unpack_source(unpack, &part->problem);
    if (part->source)
        part->source = format_open(part->source, &hint, &part->found, &part->problem);
    uint64_t size;
    if (part->source && part->found.layer_count && !source_size(part->source, &size))
        part->source = unpack_decoded(unpack, part->source, &part->problem);
    if (part->source && is_archive(&part->found))
        refuse_archive(part);
}

static bool take_members(const struct walk *walk, struct unpack *unpack, struct err *err)
{
    const struct unpack_member *member;
    for (;;) {
        if (!unpack_next(unpack, &member, err))
            return false;
        if (!member)
            return true;
        struct file_part part = {
            .name = member->name, .size = member->size, .problem = {.pos = ERR_NO_POS}};
        open_member(walk, unpack, member, &part);
        if (!take_found(walk, &part, err))
            return false;
    }
}

bool file_parts_each(struct file_parts *parts, take_part *take, void *context, struct err *err)
{
    struct walk walk = {parts, take, context};
    struct source *source = format_open(parts->source, &parts->hint, &parts->found, err);
    if (!source)
        return false;
    if (!is_archive(&parts->found) || !parts->found.format->unpack)
        return take_file(&walk, source, err);
    struct unpack *unpack = unpack_open(source, parts->found.format, parts->limits, err);
    bool ok = unpack && take_members(&walk, unpack, err);
    unpack_close(unpack);
    return ok;
}
