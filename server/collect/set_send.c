// SPDX-License-Identifier: Apache-2.0
#include "server/collect/set_send.h"

#include "ingest/base/buf.h"
#include "ingest/source/source.h"
#include "server/collect/found_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)

void set_send_init(struct set_send *sets)
{
    *sets = (struct set_send){0};
    arena_init(&sets->arena, NULL);
}

void set_send_free(struct set_send *sets)
{
    arena_free(&sets->arena);
}

bool set_send_keep(struct set_send *sets, const struct listed_file *now, bool *kept,
                   struct err *err)
{
    struct set_file file = {.file = *now};
    *kept = file_set_key(str_of(now->name), &file.key);
    if (!*kept)
        return true;
    if (sets->count == sets->cap) {
        size_t cap = sets->cap ? 2 * sets->cap : 64;
        struct set_file *files = arena_grow(&sets->arena, sets->files, sets->cap * sizeof *files,
                                            cap * sizeof *files, err);
        if (!files)
            return false;
        sets->files = files;
        sets->cap = cap;
    }
    file.file.name = arena_strdup(&sets->arena, str_of(now->name), err);
    if (!file.file.name)
        return false;
    (void)file_set_key(str_of(file.file.name), &file.key); // whose texts are the copy's
    sets->files[sets->count++] = file;
    return true;
}

// --- what belongs together ----------------------------------------------------------------------

static int compare(const void *left, const void *right)
{
    const struct set_file *a = left, *b = right;
    int order = str_compare(a->key.stem, b->key.stem);
    return order ? order : strcmp(a->key.ending, b->key.ending);
}

void set_send_sort(struct set_send *sets)
{
    if (sets->count)
        qsort(sets->files, sets->count, sizeof *sets->files, compare);
}

size_t set_send_like(const struct set_send *sets, size_t from)
{
    size_t count = 1;
    while (from + count < sets->count &&
           compare(&sets->files[from], &sets->files[from + count]) == 0)
        count++;
    return count;
}

const struct set_file *set_send_original(const struct set_send *sets, size_t from, size_t count,
                                         const struct set_file *file)
{
    struct str names[SET_SEND_MOST];
    if (count > SET_SEND_MOST)
        return NULL;
    for (size_t i = 0; i < count; i++)
        names[i] = str_of(sets->files[from + i].file.name);
    size_t original = file_set_original(names, count, (size_t)(file - sets->files) - from);
    return original == SIZE_MAX ? NULL : &sets->files[from + original];
}

size_t set_send_members(const struct set_send *sets, size_t from, size_t count,
                        const struct set_file **members)
{
    struct str names[SET_SEND_MOST];
    size_t in_set[SET_SEND_MOST], found;
    if (count > SET_SEND_MOST)
        return 0;
    for (size_t i = 0; i < count; i++)
        names[i] = str_of(sets->files[from + i].file.name);
    found = file_set_find(names, count, 0, in_set);
    for (size_t i = 0; i < found; i++)
        members[i] = &sets->files[from + in_set[i]];
    return found;
}

// --- one set ------------------------------------------------------------------------------------

static struct source *open_members(const struct set_file *const *members, size_t count,
                                   const char *folder, struct err *err)
{
    struct source **parts = calloc(count, sizeof *parts);
    size_t opened = 0;
    bool ok = parts || err_set(err, ERR_MEMORY, "out of memory");
    while (ok && opened < count) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", folder, members[opened]->file.name);
        int fd = found_files_open(path, err);
        parts[opened] = fd >= 0 ? source_fd_take(fd, err) : NULL;
        ok = parts[opened];
        opened += ok;
    }
    struct source *joined = ok ? file_set_open(parts, count, err) : NULL;
    while (!ok && opened > 0)
        source_close(parts[--opened]);
    free(parts);
    return joined;
}

static bool are_unchanged(const struct set_file *const *members, size_t count, const char *folder,
                          struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        char path[4200];
        const struct listed_file *file = &members[i]->file;
        struct listed_file now = {0};
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, file->name);
        if (lstat(path, &info) == 0)
            now = file_list_entry(file->name, &info);
        if (now.bytes != file->bytes || now.modified_ns != file->modified_ns)
            return err_set(err, ERR_CONFLICT, "%.180s changed while it was sent", file->name);
    }
    return true;
}

static bool write_all(int fd, const char *bytes, size_t len, struct err *err)
{
    while (len > 0) {
        ssize_t wrote = write(fd, bytes, len);
        if (wrote <= 0 && !(wrote < 0 && errno == EINTR))
            return err_set_errno(err, "writing the joined files");
        bytes += wrote > 0 ? wrote : 0;
        len -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static bool copy(struct source *source, int fd, struct err *err)
{
    char *block = malloc(BLOCK_BYTES);
    bool ok = block || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t got = 1; ok && got;)
        ok = source_read(source, block, BLOCK_BYTES, &got, err) && write_all(fd, block, got, err);
    free(block);
    return ok;
}

// The stem and the ending, with the coding that a member has.
static bool name_set(const struct set_file *const *members, size_t count, struct buf *name,
                     struct err *err)
{
    struct str coding = STR("");
    for (size_t i = 0; i < count; i++)
        coding = members[i]->key.coding.len ? members[i]->key.coding : coding;
    buf_add_str(name, members[0]->key.stem);
    buf_puts(name, members[0]->key.ending);
    buf_add_str(name, coding);
    return buf_ok(name, err);
}

bool set_send_one(const struct set_file *const *members, size_t count,
                  const struct send_target *target, const char *folder, struct send_result *result,
                  struct err *err)
{
    const char *place = getenv("TMPDIR");
    struct buf path = {0}, name = {0};
    buf_printf(&path, "%s/stepscope-XXXXXX", place && *place ? place : "/tmp");
    int fd = buf_ok(&path, err) ? mkstemp(path.at) : -1;
    struct source *source = fd >= 0 ? open_members(members, count, folder, err) : NULL;
    bool ok = (fd >= 0 || err_set_errno(err, "%.180s", path.at ? path.at : "")) && source &&
              copy(source, fd, err) && are_unchanged(members, count, folder, err) &&
              name_set(members, count, &name, err) &&
              send_file(target, path.at, name.at, result, err);
    source_close(source);
    if (fd >= 0) {
        close(fd);
        unlink(path.at);
    }
    buf_free(&path);
    buf_free(&name);
    return ok;
}
