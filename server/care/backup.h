// SPDX-License-Identifier: Apache-2.0
// Backups of a data folder, which a running service may be using: a copy of the database first,
// then the files it refers to. A backup has the layout of a data folder plus a file that identifies
// it.
#ifndef SERVER_BACKUP_H
#define SERVER_BACKUP_H

#include "ingest/base/err.h"

#include <stdio.h>

struct backup_report {
    uint64_t files, bytes; // uploaded files referred to
    uint64_t added;        // of those, not there before
    uint64_t damaged;      // missing, or with other bytes than uploaded; each is reported to out
    uint64_t removed;      // files of an earlier backup that nothing refers to any more
    FILE *out;             // one line for each damaged file
};

// Creates or updates the backup in folder `to`. ERR_CONFLICT if that folder contains something
// else, ERR_BUSY while another process writes there, ERR_IO if the database is damaged.
MUST_CHECK bool backup_make(const char *data, const char *to, struct backup_report *report,
                            struct err *err);

// When the last backup of a data folder was made, in seconds since 1970; 0: never. It is the time
// of a file next to the data.
double backup_last_s(const char *data);

// Creates a data folder from a backup. ERR_CONFLICT if it already contains data, ERR_NOT_FOUND if
// `from` is not a backup.
MUST_CHECK bool backup_restore(const char *from, const char *data, struct backup_report *report,
                               struct err *err);

// Checks for the files that a data folder's database refers to; reads them on request.
MUST_CHECK bool backup_check_files(const char *data, bool reads, struct backup_report *report,
                                   struct err *err);

#endif
