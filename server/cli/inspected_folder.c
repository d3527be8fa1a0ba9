// SPDX-License-Identifier: Apache-2.0
#include "server/cli/inspected_folder.h"

#include "analysis/hangs/hangs.h"
#include "ingest/evidence/evidence.h"
#include "ingest/ingest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 65536 };

static const struct format folder = {.name = "folder", .what = "a folder", .kind = FORMAT_ARCHIVE};
static const struct format flight_job = {.name = "flight-recorder-job",
                                         .what = "the Flight Recorder dumps of a job",
                                         .kind = FORMAT_RECORDS};

struct folder_walk {
    const char *path;
    uint64_t memory_bytes;
    struct arena *arena;
    struct inspected *file;
    char **names;
    size_t count, cap;
};

// --- its files ----------------------------------------------------------------------------------

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(struct folder_walk *walk, const char *name, struct err *err)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    if (walk->count == MOST_FILES)
        return err_set(err, ERR_LIMIT, "found more than %d files in the folder", MOST_FILES);
    if (walk->count == walk->cap) {
        size_t cap = walk->cap ? 2 * walk->cap : 64;
        walk->names = arena_grow(walk->arena, walk->names, walk->cap * sizeof *walk->names,
                                 cap * sizeof *walk->names, err);
        walk->cap = cap;
    }
    return walk->names &&
           (walk->names[walk->count++] = arena_strdup(walk->arena, str_of(name), err));
}

static bool list_names(struct folder_walk *walk, struct err *err)
{
    bool ok = true;
    DIR *dir = opendir(walk->path);
    if (!dir)
        return err_set_errno(err, "cannot list the folder");
    for (const struct dirent *entry; ok && (entry = readdir(dir));)
        ok = add_name(walk, entry->d_name, err);
    closedir(dir);
    if (walk->count)
        qsort(walk->names, walk->count, sizeof *walk->names, by_name);
    return ok;
}

// Why a file of the folder is not read; NULL: it is.
static const char *unread(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return "it is gone";
    if (S_ISLNK(info.st_mode))
        return "a symbolic link";
    if (S_ISDIR(info.st_mode))
        return "a folder within the folder: give it instead";
    return S_ISREG(info.st_mode) ? NULL : "no regular file";
}

// An archive's own members would be two levels deep.
static void refuse_members(struct inspected *seen)
{
    if (!seen->members)
        return;
    seen->members = NULL;
    err_set(&seen->problem, ERR_UNSUPPORTED,
            "an archive within a folder, whose files are counted together: give it by itself");
}

static struct inspected *look_at(const struct folder_walk *walk, const char *name, struct err *err)
{
    struct inspected *seen = arena_array(walk->arena, 1, sizeof *seen, err);
    char *path = arena_printf(walk->arena, err, "%s/%s", walk->path, name);
    if (!seen || !path)
        return NULL;
    const char *why = unread(path);
    if (!why && !inspected_file(path, walk->memory_bytes, walk->arena, seen, err))
        return NULL;
    if (why) {
        *seen = (struct inspected){.figures = {.arena = walk->arena}};
        err_set(&seen->problem, ERR_UNSUPPORTED, "%s", why);
    }
    seen->name = name;
    refuse_members(seen);
    return seen;
}

static bool look_at_all(const struct folder_walk *walk, struct err *err)
{
    struct inspected **last = &walk->file->members;
    for (size_t i = 0; i < walk->count; i++) {
        *last = look_at(walk, walk->names[i], err);
        if (!*last)
            return false;
        last = &(*last)->next;
    }
    return true;
}

// --- a job that hangs ---------------------------------------------------------------------------

static bool is_dump(const struct inspected *seen)
{
    return seen->format && !seen->failed && strcmp(seen->format->name, "flight-recorder") == 0;
}

static bool is_trace(const struct inspected *seen)
{
    return seen->format && seen->format->read;
}

// How many dumps there are; 0 if there are traces, too.
static size_t count_dumps(const struct inspected *file)
{
    size_t dumps = 0;
    for (const struct inspected *member = file->members; member; member = member->next) {
        if (is_trace(member))
            return 0;
        dumps += is_dump(member);
    }
    return dumps;
}

static void list_ranks(struct figures *figures, const char *name, const int64_t *ranks,
                       size_t count)
{
    figures_list(figures, "%s" IN, name);
    for (size_t i = 0; i < count; i++)
        figures_add(figures, ranks[i], "%s" IN "%zu", name, i);
}

static bool read_dump(const struct folder_walk *walk, struct inspected *seen,
                      struct evidence *evidence, struct err *err)
{
    struct ingest_from from = {.scratch = SCRATCH_NONE, .filename = str_of(seen->name)};
    char *path = arena_printf(walk->arena, err, "%s/%s", walk->path, seen->name);
    if (!path || !source_open_path(path, &from.fd, err))
        return false;
    bool ok = ingest_evidence(&from, evidence, NULL, err);
    close(from.fd);
    if (ok && evidence->flight.rank < 0)
        err_set(&seen->problem, ERR_UNSUPPORTED,
                "its name does not end in the number of its rank: not diagnosed");
    return ok;
}

// Dumps, as ranks. Those without entries are suspicious.
struct dumps {
    struct evidence *evidence;
    const struct flight **flights;
    int64_t *ranks;
    size_t count;
};

static int by_rank(const void *a, const void *b)
{
    int64_t x = (*(const struct flight *const *)a)->rank;
    int64_t y = (*(const struct flight *const *)b)->rank;
    return (x > y) - (x < y);
}

// The ranks of all dumps, or of those without entries; repeated ones once.
static size_t ranks_of(const struct dumps *dumps, bool empty_only)
{
    size_t kept = 0;
    for (size_t i = 0; i < dumps->count; i++) {
        const struct flight *flight = dumps->flights[i];
        bool again = kept && dumps->ranks[kept - 1] == flight->rank;
        if (flight->rank >= 0 && !again && !(empty_only && flight->entry_count))
            dumps->ranks[kept++] = flight->rank;
    }
    return kept;
}

static bool diagnose(const struct folder_walk *walk, const struct dumps *dumps, struct err *err)
{
    struct inspected *file = walk->file;
    struct budget budget = {.limit = walk->memory_bytes};
    struct arena arena;
    struct hangs hangs;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    struct buf json = {0};
    bool ok = hangs_find(dumps->flights, dumps->count, &report, &hangs, err);
    if (ok) {
        report_json(&report, &json);
        list_ranks(&file->figures, "suspects", hangs.suspects, hangs.suspect_count);
        list_ranks(&file->figures, "ranks", dumps->ranks, ranks_of(dumps, false));
        list_ranks(&file->figures, "ranks_without_entries", dumps->ranks, ranks_of(dumps, true));
        file->verdict = arena_strdup(walk->arena, str_of(hangs.findings[0].verdict), err);
        file->tables = buf_ok(&json, err)
                           ? arena_strdup(walk->arena, (struct str){json.at, json.len}, err)
                           : NULL;
        ok = file->verdict && file->tables;
    }
    buf_free(&json);
    arena_free(&arena);
    return ok;
}

static bool read_dumps(const struct folder_walk *walk, struct budget *budget, struct dumps *dumps,
                       struct err *err)
{
    for (struct inspected *member = walk->file->members; member; member = member->next) {
        if (!is_dump(member))
            continue;
        struct evidence *evidence = &dumps->evidence[dumps->count];
        evidence_init(evidence, budget);
        dumps->flights[dumps->count++] = &evidence->flight;
        if (!read_dump(walk, member, evidence, err))
            return false;
    }
    return true;
}

// Problems of the diagnosis are the folder's.
static bool add_diagnosis(const struct folder_walk *walk, size_t count, struct err *err)
{
    struct budget budget = {.limit = walk->memory_bytes};
    struct dumps dumps = {
        .evidence = arena_array(walk->arena, count, sizeof *dumps.evidence, err),
        .flights = arena_array(walk->arena, count, sizeof *dumps.flights, err),
        .ranks = arena_array(walk->arena, count, sizeof *dumps.ranks, err),
    };
    if (!dumps.evidence || !dumps.flights || !dumps.ranks)
        return false;
    walk->file->format = &flight_job;
    if (read_dumps(walk, &budget, &dumps, &walk->file->problem)) {
        qsort(dumps.flights, dumps.count, sizeof *dumps.flights, by_rank);
        walk->file->failed = !diagnose(walk, &dumps, &walk->file->problem);
    } else {
        walk->file->failed = true;
    }
    for (size_t i = 0; i < dumps.count; i++)
        evidence_free(&dumps.evidence[i]);
    return true;
}

// --- a folder -----------------------------------------------------------------------------------

static bool inspect_folder(struct folder_walk *walk, struct err *err)
{
    struct inspected *file = walk->file;
    file->format = &folder;
    if (!list_names(walk, &file->problem)) {
        file->failed = true;
        return true;
    }
    if (!look_at_all(walk, err))
        return false;
    size_t dumps = count_dumps(file);
    if (dumps && !add_diagnosis(walk, dumps, err))
        return false;
    figures_add(&file->figures, (int64_t)walk->count, "members");
    return true;
}

bool inspected_path(const char *path, uint64_t memory_bytes, struct arena *arena,
                    struct inspected *file, struct err *err)
{
    struct stat info;
    struct folder_walk walk = {path, memory_bytes, arena, file, NULL, 0, 0};
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return inspected_file(path, memory_bytes, arena, file, err);
    *file = (struct inspected){
        .name = path, .problem = {.pos = ERR_NO_POS}, .figures = {.arena = arena}};
    return inspect_folder(&walk, err);
}
