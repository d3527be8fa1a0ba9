// SPDX-License-Identifier: Apache-2.0
// Files that a profiler writes separately and that say more as one: rocprofv3's CSV files of a
// process, Paraver's trace with its names. Joined, they follow one another in the order of their
// places.
#ifndef INGEST_FILE_SETS_H
#define INGEST_FILE_SETS_H

#include "ingest/source/source.h"

// By the name of a file.
struct file_set_key {
    struct str stem;    // what the names of a set have in common: "traces/908"
    const char *ending; // of the joined file without a compression, and the kind of set: ".csv"
    struct str coding;  // of the file: ".gz", ".zst" or ""
    unsigned place;     // those with names come before those with events
    bool events;
    bool names; // it only names what is in others of the set
    bool bare;  // and says nothing by itself
};

// False for a file that belongs to no set.
bool file_set_key(struct str filename, struct file_set_key *key);

// Goes through the names that other files of a file's set may have: those that say nothing by
// themselves, or those with events. Starts as zeros but for the first member.
struct file_set_turn {
    bool bare;
    size_t next;
    struct str stem; // the name is these, one after another
    const char *ending, *coding;
};
// False after the last, or for a file that belongs to no set.
bool file_set_turn(struct str filename, struct file_set_turn *turn);

// Finds the files of the set that the file of an index belongs to, in the order in which they are
// joined. The number of them; 0 unless it is the first of at least two, one with events. Files of
// the same name, whose folders are not known, are of different ranks and make no set. Copies in
// another compression are left out.
// in_set: room for `count` indices.
size_t file_set_find(const struct str *names, size_t count, size_t index, size_t *in_set);

// The file of the same name that counts instead of this one, which has its bytes in a compression:
// "9_kernel_trace.csv" rather than "9_kernel_trace.csv.gz". SIZE_MAX: none, this one counts.
size_t file_set_original(const struct str *names, size_t count, size_t index);
// Why a copy is left out.
void file_set_tell_copy(struct str original, struct err *why);

// The bytes of the files one after another, with a line end between them. If some are compressed,
// so is the whole: nothing is decompressed here. Takes over the sources, also on failure.
MUST_CHECK struct source *file_set_open(struct source **parts, size_t count, struct err *err);

#endif
