// SPDX-License-Identifier: Apache-2.0
// Walks a file, reads the traces in it and takes a few figures of each.
#include "server/cli/inspected.h"

#include "analysis/facts/identity.h"
#include "ingest/file_sets.h"
#include "ingest/ingest.h"
#include "server/cli/hang_dumps.h"
#include "server/cli/set_beside.h"
#include "server/cli/trace_figures.h"

#include <sys/stat.h>

struct inspection {
    struct arena *arena;
    uint64_t memory_bytes; // for reading one trace
    struct hang_dumps *dumps;
    struct inspected *file, *current, **last; // current: the member being looked at
    int64_t members, traces;
    struct trace_figures totals; // of the current file or member
};

// --- a trace ------------------------------------------------------------------------------------

// Of a file with several processes only what they have in common.
static bool add_identity(struct inspected *seen, const struct trace *trace, bool alone,
                         struct err *err)
{
    struct identity identity;
    struct figures *figures = &seen->figures;
    if (!identity_of(trace, figures->arena, &identity, err))
        return false;
    if (identity.rank >= 0 && alone)
        figures_add(figures, identity.rank, "rank");
    if (identity.world_size >= 0 && alone)
        figures_add(figures, identity.world_size, "world_size");
    if (identity.gpu.len)
        figures_text(figures, identity.gpu, "gpu");
    return true;
}

// Decides why a trace could not be read: it is damaged, JSON of another kind, or the names of a
// trace, which are read with it.
static void judge(struct inspected *seen, struct str head)
{
    struct str name = str_of(seen->name);
    struct file_set_key key;
    bool sure = format_like(seen->format, head, name) == FORMAT_SURE;
    bool names = sure && file_set_key(name, &key) && !key.events;
    seen->failed = seen->problem.code != ERR_FORMAT || (sure && !names);
    if (!seen->failed && !names)
        seen->format = format_find_unread(head, name);
}

// What could be read of a file that is cut or damaged counts, but is not all.
static void judge_whole(struct inspected *seen, const struct trace *trace)
{
    static const enum repair cuts[] = {REPAIR_TRUNCATED, REPAIR_DAMAGED, REPAIR_COMPRESSION};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts && seen->problem.code == ERR_NONE; i++)
        if (trace->repairs[cuts[i]].count)
            err_set(&seen->problem, ERR_FORMAT, "%s", repair_text(cuts[i]));
    seen->failed = seen->failed || seen->problem.code == ERR_FORMAT;
}

// Closes the part's source.
static bool read_trace(struct inspection *inspection, struct inspected *seen,
                       struct file_part *part, struct err *err)
{
    char first[FORMAT_HEAD_BYTES];
    struct budget budget = {.limit = inspection->memory_bytes};
    struct str head = {first, part->found.head.len};
    memcpy(first, part->found.head.at, head.len); // the source's copy is freed with it
    part->found.figures = &seen->figures;
    struct trace *trace = ingest_opened(part->source, &part->found, &budget, NULL, &seen->problem);
    if (!trace) {
        judge(seen, head);
        return true;
    }
    inspection->traces++;
    judge_whole(seen, trace);
    bool ok = trace_figures_add(&inspection->totals, trace, err) &&
              add_identity(seen, trace, part->processes == 1, err);
    trace_free(trace);
    return ok;
}

static bool count(const struct inspection *inspection, struct inspected *seen,
                  struct source *source, struct str head)
{
    struct budget budget = {.limit = inspection->memory_bytes};
    struct format_input input = {.source = source,
                                 .budget = &budget,
                                 .head = head,
                                 .filename = str_of(seen->name),
                                 .figures = &seen->figures};
    return seen->format->count(&input, &seen->problem);
}

static bool keep_or_count(const struct inspection *inspection, struct inspected *seen,
                          struct source *source, struct str head)
{
    return hang_dumps_take(seen->format)
               ? hang_dumps_read(inspection->dumps, seen, source, &seen->problem)
               : count(inspection, seen, source, head);
}

// Closes the part's source.
static void count_records(const struct inspection *inspection, struct inspected *seen,
                          struct file_part *part)
{
    bool seeks = part->found.format->access == FORMAT_SEEK;
    // Text that is only named like a log need not be one.
    bool sure = seen->format->tables ||
                format_like(seen->format, part->found.head, str_of(seen->name)) == FORMAT_SURE;
    struct source *source =
        seeks ? part->source : source_limit_open(part->source, source_trace_limits, &seen->problem);
    bool counted = source && keep_or_count(inspection, seen, source, part->found.head);
    seen->failed = !counted && (!source || sure || seen->problem.code != ERR_FORMAT);
    source_close(source);
}

// Marks and locks are empty; a trace is not.
static void judge_empty(struct inspected *seen)
{
    err_set(&seen->problem, ERR_FORMAT, "the file is empty");
    seen->failed = format_has_ending(1u << FORMAT_TRACE, str_of(seen->name));
}

// Closes the part's source.
static bool look_into(struct inspection *inspection, struct inspected *seen, struct file_part *part,
                      struct err *err)
{
    const struct format *format = part->source ? part->found.format : NULL;
    if (format && format->read) {
        // A reader that counts as well seeks, so it finds the source as if it were new.
        if (format->count && part->process == 0)
            seen->failed = !count(inspection, seen, part->source, part->found.head);
        return read_trace(inspection, seen, part, err);
    }
    if (format && format->count) {
        count_records(inspection, seen, part);
        return true;
    }
    if (part->source && !part->found.head.len)
        judge_empty(seen);
    if (format && format->kind == FORMAT_DATABASE)
        (void)format_refuse_database(part->source, &seen->failed, &seen->problem);
    source_close(part->source);
    return true;
}

// --- files and members --------------------------------------------------------------------------

static void take_format(struct inspected *seen, const struct format_found *found)
{
    seen->format = found->format;
    seen->layer_count = found->layer_count;
    memcpy(seen->layers, found->layers, sizeof seen->layers);
}

static void start(struct inspection *inspection, struct inspected *seen)
{
    struct budget *uncounted = inspection->totals.kernels.budget;
    groups_free(&inspection->totals.kernels);
    groups_init(&inspection->totals.kernels, uncounted);
    inspection->totals.figures = &seen->figures;
    inspection->totals.devices = 0;
}

static bool look_at(struct inspection *inspection, struct inspected *seen, struct file_part *part,
                    struct err *err)
{
    if (part->process == 0)
        start(inspection, seen);
    take_format(seen, &part->found);
    if (part->process == 0)
        seen->problem = part->problem;
    seen->failed =
        !part->is_copy && seen->problem.code != ERR_NONE && seen->problem.code != ERR_UNSUPPORTED;
    if (part->size && part->process == 0)
        figures_add(&seen->figures, (int64_t)part->size, "bytes");
    return look_into(inspection, seen, part, err);
}

static bool take(void *context, struct file_part *part, struct err *err)
{
    struct inspection *inspection = context;
    if (!part->name)
        return look_at(inspection, inspection->file, part, err);
    if (part->process > 0)
        return look_at(inspection, inspection->current, part, err);
    struct inspected *seen = arena_array(inspection->arena, 1, sizeof *seen, err);
    if (seen)
        seen->name = arena_strdup(inspection->arena, str_of(part->name), err);
    if (!seen || !seen->name) {
        source_close(part->source);
        return false;
    }
    seen->figures.arena = inspection->arena;
    inspection->members++;
    inspection->current = seen;
    *inspection->last = seen;
    inspection->last = &seen->next;
    return look_at(inspection, seen, part, err);
}

static bool walk(struct inspection *inspection, struct source *source, struct err *err)
{
    struct inspected *file = inspection->file;
    struct file_parts parts = {.source = source,
                               .hint = {str_of(file->name), scratch_open()},
                               .limits = &unpack_limits,
                               .joins = true};
    struct err problem = {.pos = ERR_NO_POS};
    bool ok = file_parts_each(&parts, take, inspection, &problem);
    scratch_close(parts.hint.scratch);
    if (!ok && problem.code == ERR_MEMORY) {
        *err = problem;
        return false;
    }
    if (!ok) {
        file->problem = problem;
        file->failed = true;
    }
    if (!file->format)
        take_format(file, &parts.found);
    if (inspection->members) {
        figures_add(&file->figures, inspection->members, "members");
        figures_add(&file->figures, inspection->traces, "traces");
    }
    return true;
}

// The file, with those beside it that name what is in it.
static struct source *open_named(struct inspection *inspection, const char *path, struct err *err)
{
    struct arena *arena = inspection->arena;
    struct path_list all;
    if (!set_beside_add(arena, &path, 1, &all, err))
        return NULL;
    struct str *names = arena_array(arena, all.count, sizeof *names, err);
    size_t *in_set = arena_array(arena, all.count, sizeof *in_set, err);
    if (!names || !in_set)
        return NULL;
    for (size_t i = 0; i < all.count; i++)
        names[i] = str_of(all.at[i]);
    size_t found = file_set_find(names, all.count, 0, in_set);
    struct stat info;
    if (found && stat(path, &info) == 0)
        figures_add(&inspection->file->figures, info.st_size, "bytes");
    return found ? set_beside_open(all.at, in_set, found, err) : source_file_open(path, err);
}

// A file that only names what is in another one, which is read with it.
static void tell_named(struct inspected *file, const char *named)
{
    const char *slash = strrchr(named, '/');
    struct file_set_key key;
    if (file_set_key(str_of(named), &key))
        file->format = format_named(str_of(key.ending + 1)); // ".prv" of "prv"
    figures_text(&file->figures, str_of(slash ? slash + 1 : named), "read_with");
}

bool inspected_alone(const char *path, struct hang_dumps *dumps, struct inspected *file,
                     struct err *err)
{
    struct budget uncounted = {0};
    *file = (struct inspected){
        .name = path, .problem = {.pos = ERR_NO_POS}, .figures = {.arena = dumps->arena}};
    struct inspection inspection = {.arena = dumps->arena,
                                    .memory_bytes = dumps->budget.limit,
                                    .dumps = dumps,
                                    .file = file,
                                    .last = &file->members};
    const char *named = set_beside_named(dumps->arena, path, &file->problem);
    if (named) {
        tell_named(file, named);
        return true;
    }
    struct source *source = open_named(&inspection, path, &file->problem);
    file->failed = !source;
    groups_init(&inspection.totals.kernels, &uncounted);
    bool ok = !source || walk(&inspection, source, err);
    groups_free(&inspection.totals.kernels);
    return ok;
}

static bool has_traces(const struct inspected *file)
{
    for (const struct inspected *member = file->members; member; member = member->next)
        if (member->format && member->format->read)
            return true;
    return false;
}

bool inspected_file(const char *path, uint64_t memory_bytes, struct arena *arena,
                    struct inspected *file, struct err *err)
{
    struct hang_dumps dumps;
    struct err problem;
    hang_dumps_init(&dumps, memory_bytes, arena);
    bool ok = inspected_alone(path, &dumps, file, err);
    if (ok && dumps.count && file->members && !has_traces(file) &&
        !hang_dumps_diagnose(&dumps, file, &problem) && !file->failed) {
        file->problem = problem;
        file->failed = true;
    }
    hang_dumps_free(&dumps);
    return ok;
}

static bool is_read(const struct inspected *file)
{
    const struct format *format = file->format;
    return file->members || (format && (format->kind == FORMAT_ARCHIVE || format_is_read(format) ||
                                        format_is_kept(format)));
}

enum err_code inspected_failure(const struct inspected *file)
{
    if (file->failed || file->problem.code != ERR_NONE)
        return file->problem.code;
    for (const struct inspected *member = file->members; member; member = member->next)
        if (member->failed)
            return member->problem.code;
    return is_read(file) ? ERR_NONE : ERR_FORMAT;
}
