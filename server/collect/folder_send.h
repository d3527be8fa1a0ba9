// SPDX-License-Identifier: Apache-2.0
// Sends what is in a folder: once, or as it settles.
#ifndef SERVER_FOLDER_SEND_H
#define SERVER_FOLDER_SEND_H

#include "server/collect/file_list.h"
#include "server/collect/found_files.h"
#include "server/collect/send_file.h"
#include "server/collect/set_send.h"

struct folder_send {
    const struct send_target *target;
    struct file_list *list;
    const char *folder, *only;
    int64_t settle_ns; // unchanged for this long; 0: whatever is there
    bool retry;        // what was refused before
    bool removes;      // files that were sent, but logs and members of a set
    bool said_kept;    // that one could not be removed
    size_t sent, known, refused, failed,
        waiting;            // files, of the passes so far; waiting: of the last
    int notify;             // inotify; -1: none
    char run_id[64];        // of the last file that was sent
    struct set_send sets;   // of the current pass
    struct files_left left; // of all passes of a push, of the last while watching
};

// Sends all that is settled. False if going on is useless: ERR_DENIED, ERR_BUSY, ERR_CANCELLED, or
// the folder cannot be read.
MUST_CHECK bool folder_send_pass(struct folder_send *send, struct err *err);

// One file by its path; name is what the hub sees.
MUST_CHECK bool folder_send_one(struct folder_send *send, const char *path, const char *name,
                                struct err *err);

// Passes until stop says so, and one more then. Wakes up when something in the folder is closed or
// moved there, and every minute, since other machines' writes are not announced.
MUST_CHECK bool folder_send_watch(struct folder_send *send, struct stop_signal *stop,
                                  struct err *err);

#endif
