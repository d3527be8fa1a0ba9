// SPDX-License-Identifier: Apache-2.0
#include "server/cli/set_beside.h"

#include "ingest/file_sets.h"

#include <stdlib.h>
#include <unistd.h>

static bool holds(const struct path_list *list, const char *path)
{
    size_t i = 0;
    while (i < list->count && strcmp(list->at[i], path) != 0)
        i++;
    return i < list->count;
}

static bool append(struct arena *arena, struct path_list *list, const char *path, struct err *err)
{
    list->at = arena_more(arena, list->at, list->count, sizeof *list->at, err);
    if (list->at)
        list->at[list->count++] = path;
    return list->at;
}

// The next other file of the set of a path that is there.
static const char *next_beside(struct arena *arena, const char *path, struct file_set_turn *turn,
                               struct err *err)
{
    char *beside = NULL;
    while (file_set_turn(str_of(path), turn)) {
        beside = arena_printf(arena, err, "%.*s%s%s", (int)turn->stem.len, turn->stem.at,
                              turn->ending, turn->coding);
        if (!beside || (strcmp(beside, path) != 0 && access(beside, R_OK) == 0))
            return beside;
    }
    return NULL;
}

static bool add_names(struct arena *arena, const char *path, struct path_list *all, struct err *err)
{
    struct file_set_turn turn = {.bare = true};
    struct file_set_key key;
    const char *beside;
    err->code = ERR_NONE;
    if (!file_set_key(str_of(path), &key) || !key.events)
        return true;
    while ((beside = next_beside(arena, path, &turn, err)))
        if (!holds(all, beside) && !append(arena, all, beside, err))
            return false;
    return err->code == ERR_NONE;
}

bool set_beside_add(struct arena *arena, const char *const *given, size_t count,
                    struct path_list *all, struct err *err)
{
    *all = (struct path_list){0};
    for (size_t i = 0; i < count; i++)
        if (!append(arena, all, given[i], err))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!add_names(arena, given[i], all, err))
            return false;
    return true;
}

const char *set_beside_named(struct arena *arena, const char *path, struct err *err)
{
    struct file_set_turn turn = {0};
    struct file_set_key key;
    bool bare = file_set_key(str_of(path), &key) && key.bare;
    return bare ? next_beside(arena, path, &turn, err) : NULL;
}

struct source *set_beside_open(const char *const *paths, const size_t *in_set, size_t count,
                               struct err *err)
{
    struct source **parts = calloc(count, sizeof *parts);
    if (!parts) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    size_t opened = 0;
    while (opened < count && (parts[opened] = source_file_open(paths[in_set[opened]], err)))
        opened++;
    struct source *joined = opened == count ? file_set_open(parts, count, err) : NULL;
    for (size_t i = 0; opened < count && i < opened; i++)
        source_close(parts[i]);
    free(parts);
    return joined;
}
