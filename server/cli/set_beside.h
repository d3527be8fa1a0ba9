// SPDX-License-Identifier: Apache-2.0
// Files that say more as one (ingest/file_sets), found beside those that were given.
#ifndef SERVER_SET_BESIDE_H
#define SERVER_SET_BESIDE_H

#include "ingest/base/arena.h"
#include "ingest/source/source.h"

struct path_list {
    const char **at;
    size_t count;
};

// Given paths, and after them those of files that say nothing but what is in one of them is named,
// if they lie beside it. It lives in the arena.
MUST_CHECK bool set_beside_add(struct arena *arena, const char *const *given, size_t count,
                               struct path_list *all, struct err *err);

// The file beside it that a file says nothing without, "t.prv" of "t.pcf"; NULL: none, or the file
// says more.
const char *set_beside_named(struct arena *arena, const char *path, struct err *err);

// Files of a set as one, in this order.
struct source *set_beside_open(const char *const *paths, const size_t *in_set, size_t count,
                               struct err *err);

#endif
