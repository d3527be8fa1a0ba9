// SPDX-License-Identifier: Apache-2.0
#include "server/cli/inspected_folder.h"

#include "ingest/base/orders.h"
#include "ingest/unpack.h"
#include "server/cli/hang_dumps.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_FILES = 65536, MOST_DEPTH = 16, MOST_NAME = 4096 };

static const struct format folder = {.name = "folder", .what = "a folder", .kind = FORMAT_ARCHIVE};
static const struct format flight_job = {.name = "flight-recorder-job",
                                         .what = "the Flight Recorder dumps of a job",
                                         .kind = FORMAT_RECORDS};

struct folder_walk {
    const char *path;
    struct arena *arena;
    struct inspected *file;
    struct hang_dumps dumps;
    bool has_traces;
    char **names;
    size_t count;
};

// --- its files ----------------------------------------------------------------------------------

static bool list_names(struct folder_walk *walk, const char *below, int depth, struct err *err);

static bool is_folder(const struct folder_walk *walk, const char *name)
{
    struct stat info;
    char path[2 * MOST_NAME];
    snprintf(path, sizeof path, "%s/%s", walk->path, name);
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool add_name(struct folder_walk *walk, const char *name, int depth, struct err *err)
{
    if (unpack_is_left_behind(name))
        return true;
    if (depth < MOST_DEPTH && is_folder(walk, name))
        return list_names(walk, name, depth + 1, err);
    if (walk->count == MOST_FILES)
        return err_set(err, ERR_LIMIT, "found more than %d files in the folder", MOST_FILES);
    walk->names = arena_more(walk->arena, walk->names, walk->count, sizeof *walk->names, err);
    return walk->names &&
           (walk->names[walk->count++] = arena_strdup(walk->arena, str_of(name), err));
}

// As an archive of the folder would have them: "node0/dump_0".
static bool add_entry(struct folder_walk *walk, const char *below, const char *entry, int depth,
                      struct err *err)
{
    char name[MOST_NAME];
    int len = snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry);
    bool self = strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0;
    return self || len >= (int)sizeof name || add_name(walk, name, depth, err);
}

// A folder within that vanishes, or must not be listed, is no error.
static bool list_names(struct folder_walk *walk, const char *below, int depth, struct err *err)
{
    bool ok = true;
    char path[2 * MOST_NAME];
    snprintf(path, sizeof path, "%s%s%s", walk->path, *below ? "/" : "", below);
    DIR *dir = opendir(path);
    if (!dir)
        return depth > 0 || err_set_errno(err, "cannot list the folder");
    for (const struct dirent *entry; ok && (entry = readdir(dir));)
        ok = add_entry(walk, below, entry->d_name, depth, err);
    closedir(dir);
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
        return "a folder nested too deep: give it by itself";
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

static struct inspected *look_at(struct folder_walk *walk, const char *name, struct err *err)
{
    struct inspected *seen = arena_array(walk->arena, 1, sizeof *seen, err);
    char *path = arena_printf(walk->arena, err, "%s/%s", walk->path, name);
    if (!seen || !path)
        return NULL;
    const char *why = unread(path);
    if (!why && !inspected_alone(path, &walk->dumps, seen, err))
        return NULL;
    if (why) {
        *seen = (struct inspected){.figures = {.arena = walk->arena}};
        err_set(&seen->problem, ERR_UNSUPPORTED, "%s", why);
    }
    seen->name = name;
    walk->has_traces |= seen->format && seen->format->read;
    refuse_members(seen);
    return seen;
}

static bool look_at_all(struct folder_walk *walk, struct err *err)
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

// --- a folder -----------------------------------------------------------------------------------

static bool inspect_folder(struct folder_walk *walk, struct err *err)
{
    struct inspected *file = walk->file;
    file->format = &folder;
    if (!list_names(walk, "", 0, &file->problem)) {
        file->failed = true;
        return true;
    }
    if (walk->count)
        qsort(walk->names, walk->count, sizeof *walk->names, order_texts);
    if (!look_at_all(walk, err))
        return false;
    if (walk->dumps.count && !walk->has_traces) {
        file->format = &flight_job;
        file->failed = !hang_dumps_diagnose(&walk->dumps, file, &file->problem);
    }
    figures_add(&file->figures, (int64_t)walk->count, "members");
    return true;
}

bool inspected_path(const char *path, uint64_t memory_bytes, struct arena *arena,
                    struct inspected *file, struct err *err)
{
    struct stat info;
    struct folder_walk walk = {.path = path, .arena = arena, .file = file};
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return inspected_file(path, memory_bytes, arena, file, err);
    *file = (struct inspected){
        .name = path, .problem = {.pos = ERR_NO_POS}, .figures = {.arena = arena}};
    hang_dumps_init(&walk.dumps, memory_bytes, arena);
    bool ok = inspect_folder(&walk, err);
    hang_dumps_free(&walk.dumps);
    return ok;
}
