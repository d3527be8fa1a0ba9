// SPDX-License-Identifier: Apache-2.0
// Backups of a data folder, which a service may have open: a copy of the database first, then the
// files that it names. A backup is a folder like a data folder, with a file that says what it is.
#ifndef SERVER_BACKUP_H
#define SERVER_BACKUP_H

#include "ingest/base/err.h"

#include <stdio.h>

struct backup_report {
    uint64_t files, bytes; // uploaded files that are named
    uint64_t added;        // of those, not there before
    uint64_t damaged;      // missing, or with other bytes than were uploaded; each was told to out
    uint64_t removed;      // files of an earlier backup that nothing names any more
    FILE *out;             // one line for each damaged file
};

// Makes or renews the backup in folder `to`. ERR_CONFLICT when that folder holds something else,
// ERR_BUSY while another process writes there, ERR_IO when the database is damaged.
MUST_CHECK bool backup_make(const char *data, const char *to, struct backup_report *report,
                            struct err *err);

// When the last backup of a data folder was made, in seconds since 1970; 0 never. Beside the data
// stands a file of which only the time counts.
double backup_last_s(const char *data);

// Makes a data folder of a backup. ERR_CONFLICT when there is data in it already, ERR_NOT_FOUND
// when `from` is no backup.
MUST_CHECK bool backup_restore(const char *from, const char *data, struct backup_report *report,
                               struct err *err);

// Looks for the files that a data folder's database names; reads them when asked to.
MUST_CHECK bool backup_check_files(const char *data, bool reads, struct backup_report *report,
                                   struct err *err);

#endif
