// SPDX-License-Identifier: Apache-2.0
// What is known of the files of a folder: since when each is unchanged, and which were sent. What
// was sent is kept in a file of JSON lines, so that nothing is sent twice.
#ifndef SERVER_FILE_LIST_H
#define SERVER_FILE_LIST_H

#include "ingest/base/err.h"

#include <stddef.h>
#include <sys/stat.h>

// FILE_UNREAD: of no kind that a hub reads; only this process knows.
enum file_status { FILE_SEEN, FILE_SENT, FILE_REFUSED, FILE_UNREAD };

struct listed_file {
    struct listed_file *next;
    const char *name; // within the folder
    uint64_t bytes;
    int64_t modified_ns;
    int64_t since_ns; // on the monotonic clock: unchanged since then
    enum file_status status;
    bool was_sent; // with other bytes, before it changed
    uint32_t pass; // in which it was last seen
};

struct file_list {
    void *tree;                // of struct listed_file, by name
    struct listed_file *first; // of all
    uint32_t pass;
    const char *target; // what the lines of this list are about: service and run
    size_t count;
    int fd;         // of the file; -1: none
    bool is_broken; // it cannot be written
};

// Reads the file, or makes it, and locks it. path may be NULL: nothing is kept. ERR_BUSY if another
// process has it; ERR_IO, ERR_SPACE. Free it in any case.
MUST_CHECK bool file_list_open(struct file_list *list, const char *path, const char *target,
                               struct err *err);
void file_list_free(struct file_list *list);

// A file as it is now. The name is not copied.
struct listed_file file_list_entry(const char *name, const struct stat *info);

// The entry of a file as it is now; one that has changed counts as new. ERR_LIMIT.
MUST_CHECK struct listed_file *file_list_see(struct file_list *list, const struct listed_file *now,
                                             struct err *err);

// Starts another pass, which sees all files that there are. If the list is long, it forgets those
// that the last pass did not see; what was sent of them is forgotten by this process alone.
void file_list_pass(struct file_list *list);

// Writes down what became of a file. False the first time that this fails; the list goes on.
bool file_list_record(struct file_list *list, const struct listed_file *file, const char *note,
                      struct err *err);

#endif
