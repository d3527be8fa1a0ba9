// SPDX-License-Identifier: Apache-2.0
#include "server/cli/folder_files.h"

#include "ingest/base/orders.h"
#include "ingest/file_sets.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "server/collect/found_files.h"
#include "server/jobs/windows.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_FILES = 65536 };

struct listing {
    const char *folder;
    struct arena *arena;
    struct folder_files *files;
};

bool folder_files_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool may_be_trace(struct str name)
{
    struct file_set_key key;
    return format_has_ending(1u << FORMAT_TRACE | 1u << FORMAT_ARCHIVE, name) ||
           file_set_key(name, &key);
}

// A table may be anything: its header decides.
static bool is_trace_inside(const char *path)
{
    struct err ignored;
    struct format_found found = {0};
    struct format_hint hint = {str_of(path), SCRATCH_NONE};
    struct source *source = source_file_open(path, &ignored);
    source = source ? format_open(source, &hint, &found, &ignored) : NULL;
    bool is = source && found.format && found.format->kind == FORMAT_TRACE && found.format->read;
    source_close(source);
    return is;
}

static bool make_room(struct listing *listing, struct err *err)
{
    struct folder_files *files = listing->files;
    if (files->count == MOST_FILES)
        return err_set(err, ERR_LIMIT, "found more than %d files in the folder", MOST_FILES);
    files->at = arena_more(listing->arena, files->at, files->count, sizeof *files->at, err);
    return files->at;
}

static bool take_file(void *context, const char *name, const struct stat *info, struct err *err)
{
    struct listing *listing = context;
    (void)info;
    bool named = may_be_trace(str_of(name));
    if (!named && !format_has_common_ending(1u << FORMAT_TRACE, str_of(name)))
        return true;
    const char *path = arena_printf(listing->arena, err, "%s/%s", listing->folder, name);
    if (!path)
        return false;
    if (!named && !is_trace_inside(path))
        return true;
    if (!make_room(listing, err))
        return false;
    listing->files->at[listing->files->count++] = path;
    return true;
}

// --- recordings ---------------------------------------------------------------------------------

// "iteration_100" comes after "iteration_20".
static bool is_later(struct str one, struct str other)
{
    return one.len != other.len ? one.len > other.len : str_compare(one, other) > 0;
}

static bool is_window(const struct str *windows, size_t i, struct str window)
{
    return windows[i].len == 0 || str_equal(windows[i], window);
}

static size_t count_windows(const struct str *windows, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        while (before < i && !str_equal(windows[before], windows[i]))
            before++;
        found += windows[i].len && before == i;
    }
    return found;
}

// Several recordings are not several ranks.
static bool keep_last_window(struct listing *listing, struct err *err)
{
    struct folder_files *files = listing->files;
    struct member_list members = {.count = files->count};
    struct str last = STR("");
    members.at = arena_array(listing->arena, files->count, sizeof *members.at, err);
    for (size_t i = 0; members.at && i < files->count; i++)
        members.at[i] = (struct member){.name = str_of(files->at[i] + strlen(listing->folder) + 1),
                                        .kind = MEMBER_TRACE};
    struct str *windows = members.at ? windows_of(&members, listing->arena, err) : NULL;
    if (!windows)
        return false;
    for (size_t i = 0; i < files->count; i++)
        last = is_later(windows[i], last) ? windows[i] : last;
    files->windows = count_windows(windows, files->count);
    files->window = arena_strdup(listing->arena, last, err);
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++)
        if (is_window(windows, i, last))
            files->at[kept++] = files->at[i];
    files->count = kept;
    return files->window;
}

bool folder_files_list(const char *folder, struct arena *arena, struct folder_files *files,
                       struct err *err)
{
    struct listing listing = {folder, arena, files};
    struct found_files walk = {
        .folder = folder, .only = "*", .file = take_file, .context = &listing};
    *files = (struct folder_files){0};
    if (!found_files_walk(&walk, err))
        return false;
    if (!files->count)
        return err_set(err, ERR_NOT_FOUND, "found no file in the folder that may be a trace");
    qsort(files->at, files->count, sizeof *files->at, order_texts);
    return keep_last_window(&listing, err);
}
