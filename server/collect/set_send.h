// SPDX-License-Identifier: Apache-2.0
// Files of a folder that a hub reads as one, such as rocprofv3's CSV files of a process: joined as
// they are sent.
#ifndef SERVER_SET_SEND_H
#define SERVER_SET_SEND_H

#include "ingest/base/arena.h"
#include "ingest/file_sets.h"
#include "server/collect/file_list.h"
#include "server/collect/send_file.h"

enum { SET_SEND_MOST = 32 }; // files of a set

// A file that may belong to a set.
struct set_file {
    struct listed_file file;
    struct file_set_key key;
};

// Those that a pass has found.
struct set_send {
    struct arena arena;
    struct set_file *files;
    size_t count, cap;
};

void set_send_init(struct set_send *sets);
void set_send_free(struct set_send *sets);

// Whether a file may belong to a set, by its name: then it is kept for the end of the pass.
// ERR_MEMORY.
MUST_CHECK bool set_send_keep(struct set_send *sets, const struct listed_file *now, bool *kept,
                              struct err *err);

// Puts files that may be of one set next to each other.
void set_send_sort(struct set_send *sets);

// How many there are from an index on whose names fit those of the first.
size_t set_send_like(const struct set_send *sets, size_t from);

// The set that `count` files from an index on form, in the order in which they are joined; returns
// how many, 0 if they form none, or more than SET_SEND_MOST. members: room for as many.
size_t set_send_members(const struct set_send *sets, size_t from, size_t count,
                        const struct set_file **members);

// The file that counts instead of one of `count` files from an index on, as of file_set_original;
// NULL: none.
const struct set_file *set_send_original(const struct set_send *sets, size_t from, size_t count,
                                         const struct set_file *file);

// Sends a set as one file with the name that it is given. Fails like send_file.
MUST_CHECK bool set_send_one(const struct set_file *const *members, size_t count,
                             const struct send_target *target, const char *folder,
                             struct send_result *result, struct err *err);

#endif
