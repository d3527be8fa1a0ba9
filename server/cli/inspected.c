// SPDX-License-Identifier: Apache-2.0
// Walks a file, reads the traces in it and takes a few figures of each.
#include "server/cli/inspected.h"

#include "analysis/facts/identity.h"
#include "ingest/ingest.h"

struct inspection {
    struct arena *arena;
    uint64_t memory_bytes; // for reading one trace
    struct inspected *file, **last;
    int64_t members, traces;
};

static void add(struct inspected *seen, const char *name, int64_t number)
{
    seen->figures[seen->figure_count++] = (struct inspected_figure){name, NULL, number};
}

// --- a trace ------------------------------------------------------------------------------------

static bool add_identity(struct inspected *seen, const struct trace *trace, struct arena *arena,
                         struct err *err)
{
    struct identity identity;
    if (!identity_of(trace, arena, &identity, err))
        return false;
    if (identity.rank >= 0)
        add(seen, "rank", identity.rank);
    if (identity.world_size >= 0)
        add(seen, "world_size", identity.world_size);
    if (!identity.gpu.len)
        return true;
    const char *gpu = arena_strdup(arena, identity.gpu, err);
    seen->figures[seen->figure_count] = (struct inspected_figure){"gpu", gpu, 0};
    seen->figure_count += gpu != NULL;
    return gpu;
}

static uint64_t repairs_of(const struct trace *trace)
{
    uint64_t count = 0;
    for (int i = 0; i < REPAIR_COUNT; i++)
        count += trace->repairs[i].count;
    return count;
}

static bool add_trace(struct inspected *seen, const struct trace *trace, struct arena *arena,
                      struct err *err)
{
    uint64_t repairs = repairs_of(trace);
    add(seen, "events", trace->event_count);
    if (repairs)
        add(seen, "repairs", (int64_t)repairs);
    return add_identity(seen, trace, arena, err);
}

// Decides why a trace could not be read: it is damaged, or JSON of another kind.
static void judge(struct inspected *seen, struct str head)
{
    struct str name = str_of(seen->name);
    seen->failed =
        seen->problem.code != ERR_FORMAT || format_like(seen->format, head, name) == FORMAT_SURE;
    if (!seen->failed)
        seen->format = format_find_unread(head, name);
}

// Closes the part's source.
static bool read_trace(struct inspection *inspection, struct inspected *seen,
                       struct file_part *part, struct err *err)
{
    char first[FORMAT_HEAD_BYTES];
    struct budget budget = {.limit = inspection->memory_bytes};
    struct str head = {first, part->found.head.len};
    memcpy(first, part->found.head.at, head.len); // the source's own goes with it
    struct trace *trace = ingest_opened(part->source, &part->found, &budget, NULL, &seen->problem);
    if (!trace) {
        judge(seen, head);
        return true;
    }
    inspection->traces++;
    bool ok = add_trace(seen, trace, inspection->arena, err);
    trace_free(trace);
    return ok;
}

// --- files and members --------------------------------------------------------------------------

static void take_format(struct inspected *seen, const struct format_found *found)
{
    seen->format = found->format;
    seen->layer_count = found->layer_count;
    memcpy(seen->layers, found->layers, sizeof seen->layers);
}

static bool look_at(struct inspection *inspection, struct inspected *seen, struct file_part *part,
                    struct err *err)
{
    take_format(seen, &part->found);
    seen->problem = part->problem;
    seen->failed = part->problem.code != ERR_NONE && part->problem.code != ERR_UNSUPPORTED;
    if (part->size)
        add(seen, "bytes", (int64_t)part->size);
    if (part->source && part->found.format && part->found.format->read)
        return read_trace(inspection, seen, part, err);
    source_close(part->source);
    return true;
}

static bool take(void *context, struct file_part *part, struct err *err)
{
    struct inspection *inspection = context;
    if (!part->name)
        return look_at(inspection, inspection->file, part, err);
    struct inspected *seen = arena_array(inspection->arena, 1, sizeof *seen, err);
    if (seen)
        seen->name = arena_strdup(inspection->arena, str_of(part->name), err);
    if (!seen || !seen->name) {
        source_close(part->source);
        return false;
    }
    inspection->members++;
    *inspection->last = seen;
    inspection->last = &seen->next;
    return look_at(inspection, seen, part, err);
}

static bool walk(struct inspection *inspection, struct source *source, struct err *err)
{
    struct inspected *file = inspection->file;
    struct file_parts parts = {
        .source = source, .filename = str_of(file->name), .limits = &unpack_limits};
    struct err problem = {.pos = ERR_NO_POS};
    bool ok = file_parts_each(&parts, take, inspection, &problem);
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
        add(file, "members", inspection->members);
        add(file, "traces", inspection->traces);
    }
    return true;
}

bool inspected_file(const char *path, uint64_t memory_bytes, struct arena *arena,
                    struct inspected *file, struct err *err)
{
    *file = (struct inspected){.name = path, .problem = {.pos = ERR_NO_POS}};
    struct inspection inspection = {
        .arena = arena, .memory_bytes = memory_bytes, .file = file, .last = &file->members};
    struct source *source = source_file_open(path, &file->problem);
    file->failed = !source;
    return !source || walk(&inspection, source, err);
}

enum err_code inspected_failure(const struct inspected *file)
{
    if (file->failed)
        return file->problem.code;
    for (const struct inspected *member = file->members; member; member = member->next)
        if (member->failed)
            return member->problem.code;
    return ERR_NONE;
}
