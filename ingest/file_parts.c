// SPDX-License-Identifier: Apache-2.0
// Opens a file or the members of an archive, one level deep.
#include "ingest/file_parts.h"

#include "ingest/file_sets.h"

#include <stdlib.h>

static bool is_archive(const struct format_found *found)
{
    return found->format && found->format->kind == FORMAT_ARCHIVE;
}

// --- processes ----------------------------------------------------------------------------------

// A member that may belong to a set of files, some of which come later.
struct waiting {
    struct source *source; // NULL: taken
    uint64_t size;
};

struct walk {
    struct file_parts *parts;
    take_part *take;
    void *context;
    struct scratch scratch; // what is left of it
    struct arena arena;     // of those that wait
    struct waiting *waiting;
    struct str *names; // of those that wait
    size_t waiting_count;
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

// Takes over the source; NULL: see the part's problem.
static void open_source(const struct walk *walk, struct unpack *unpack, struct source *source,
                        struct file_part *part)
{
    struct format_hint hint = {str_of(part->name), walk->scratch};
    uint64_t size;
    part->source = source;
    if (part->source)
        part->source = format_open(part->source, &hint, &part->found, &part->problem);
    if (part->source && part->found.layer_count && !source_size(part->source, &size))
        part->source = unpack_decoded(unpack, part->source, &part->problem);
    if (part->source && is_archive(&part->found))
        refuse_archive(part);
}

static bool take_member(const struct walk *walk, struct unpack *unpack,
                        const struct unpack_member *member, struct err *err)
{
    struct file_part part = {
        .name = member->name, .size = member->size, .problem = {.pos = ERR_NO_POS}};
    if (member->unread)
        err_set(&part.problem, ERR_UNSUPPORTED, "%s", member->unread);
    else
        open_source(walk, unpack, unpack_source(unpack, &part.problem), &part);
    return take_found(walk, &part, err);
}

// --- members of a set ---------------------------------------------------------------------------

// Every two names are compared, so beyond a few seconds' worth files are read alone.
static bool may_wait(const struct walk *walk, const struct unpack_member *member)
{
    enum { MOST_WAITING = 4096 };
    struct file_set_key key;
    return walk->parts->joins && walk->scratch.fd >= 0 && !member->unread &&
           walk->waiting_count < MOST_WAITING && file_set_key(str_of(member->name), &key);
}

static bool make_room(struct walk *walk, struct err *err)
{
    size_t count = walk->waiting_count;
    struct waiting *waiting = arena_more(&walk->arena, walk->waiting, count, sizeof *waiting, err);
    struct str *names = arena_more(&walk->arena, walk->names, count, sizeof *names, err);
    walk->waiting = waiting ? waiting : walk->waiting;
    walk->names = names ? names : walk->names;
    return waiting && names;
}

// A member that is cut or damaged waits, too: whoever reads it to its end reports that.
static bool keep_waiting(struct walk *walk, struct unpack *unpack,
                         const struct unpack_member *member, struct err *err)
{
    struct err cut = {.pos = ERR_NO_POS};
    const char *name = arena_strdup(&walk->arena, str_of(member->name), err);
    struct source *source = name && make_room(walk, err) ? unpack_source(unpack, err) : NULL;
    if (!source)
        return false;
    source = source_seekable_open(source, walk->scratch, &cut);
    if (!source) {
        struct file_part part = {.name = name, .size = member->size, .problem = cut};
        return take_one(walk, &part, err);
    }
    struct waiting *waiting = &walk->waiting[walk->waiting_count];
    waiting->source = source;
    (void)source_size(source, &waiting->size);
    walk->names[walk->waiting_count++] = str_of(name);
    walk->scratch.from += waiting->size;
    return true;
}

static struct source *take_source(struct waiting *waiting)
{
    struct source *source = waiting->source;
    waiting->source = NULL;
    return source;
}

static struct source *open_set(const struct walk *walk, const size_t *in_set, struct source **parts,
                               size_t count, struct file_part *part)
{
    part->size = 0;
    for (size_t i = 0; i < count; i++) {
        struct waiting *waiting = &walk->waiting[in_set[i]];
        part->size += waiting->size;
        parts[i] = take_source(waiting);
    }
    return file_set_open(parts, count, &part->problem);
}

// "908.csv" of 908_kernel_trace.csv and others.
static const char *name_of_set(struct walk *walk, size_t first, struct err *err)
{
    struct file_set_key key;
    (void)file_set_key(walk->names[first], &key);
    return arena_printf(&walk->arena, err, "%.*s%s", (int)key.stem.len, key.stem.at, key.ending);
}

// Room for the files of a set.
struct set {
    size_t *in_set;
    struct source **parts;
};

// Takes the member that waits at an index, with the others of its set.
static bool take_waiting(struct walk *walk, struct unpack *unpack, size_t index,
                         const struct set *set, struct err *err)
{
    if (!walk->waiting[index].source)
        return true;
    size_t count = file_set_find(walk->names, walk->waiting_count, index, set->in_set);
    size_t original = file_set_original(walk->names, walk->waiting_count, index);
    struct file_part part = {.name = walk->names[index].at, .problem = {.pos = ERR_NO_POS}};
    if (!count && original != SIZE_MAX) {
        part.is_copy = true;
        file_set_tell_copy(walk->names[original], &part.problem);
        return take_one(walk, &part, err);
    }
    part.name = count ? name_of_set(walk, index, err) : part.name;
    if (!part.name)
        return false;
    part.size = walk->waiting[index].size;
    open_source(walk, unpack,
                count ? open_set(walk, set->in_set, set->parts, count, &part)
                      : take_source(&walk->waiting[index]),
                &part);
    return take_found(walk, &part, err);
}

static bool take_all_waiting(struct walk *walk, struct unpack *unpack, struct err *err)
{
    size_t count = walk->waiting_count;
    struct set set = {.in_set = arena_array(&walk->arena, count + 1, sizeof *set.in_set, err),
                      .parts = arena_array(&walk->arena, count + 1, sizeof *set.parts, err)};
    bool ok = set.in_set && set.parts;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_waiting(walk, unpack, i, &set, err);
    return ok;
}

// --- the archive --------------------------------------------------------------------------------

static bool take_members(struct walk *walk, struct unpack *unpack, struct err *err)
{
    const struct unpack_member *member = NULL;
    struct err end = {.pos = ERR_NO_POS}; // of an archive that is cut: what came before counts
    while (unpack_next(unpack, &member, &end) && member)
        if (!(may_wait(walk, member) ? keep_waiting(walk, unpack, member, err)
                                     : take_member(walk, unpack, member, err)))
            return false;
    if (!take_all_waiting(walk, unpack, err))
        return false;
    if (end.code != ERR_NONE && err)
        *err = end;
    return end.code == ERR_NONE;
}

static void drop_waiting(struct walk *walk)
{
    for (size_t i = 0; i < walk->waiting_count; i++)
        source_close(walk->waiting[i].source);
    arena_free(&walk->arena);
}

bool file_parts_each(struct file_parts *parts, take_part *take, void *context, struct err *err)
{
    struct walk walk = {
        .parts = parts, .take = take, .context = context, .scratch = parts->hint.scratch};
    struct source *source = format_open(parts->source, &parts->hint, &parts->found, err);
    if (!source)
        return false;
    if (!is_archive(&parts->found) || !parts->found.format->unpack)
        return take_file(&walk, source, err);
    struct unpack *unpack = unpack_open(source, parts->found.format, parts->limits, err);
    bool ok = unpack && take_members(&walk, unpack, err);
    drop_waiting(&walk);
    unpack_close(unpack);
    return ok;
}
