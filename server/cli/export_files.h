// SPDX-License-Identifier: Apache-2.0
// Exports of a run that was read from files, to files: one table of formats with the service.
#ifndef SERVER_EXPORT_FILES_H
#define SERVER_EXPORT_FILES_H

#include "server/cli/rank_files.h"
#include "server/exports/event_source.h"
#include "server/exports/export.h"

struct export_files {
    const struct rank_files *run;
    const struct event_export *events; // either, set by export_files_find
    const struct table_export *tables;
    const char *out;        // file for events, folder for tables; "-": standard output
    struct str name;        // of the run
    int64_t from_ns, to_ns; // of events; to -1: to the end
    bool device_only;
    bool wants_events; // in a format that tables have, too
};

// Appends the words of all formats and what they are.
void export_files_formats(struct buf *out);

// Finds the format of that word. ERR_USAGE, listing the known ones.
MUST_CHECK bool export_files_find(struct export_files *what, struct str word, struct err *err);

// Writes events to the file, or those of an archive to the folder; all tables to one workbook, or
// each table of a rank to OUT/TABLE/run=NAME/rank=N.SUFFIX and those
// that only the run has to OUT/TABLE/run=NAME/run.SUFFIX.
MUST_CHECK bool export_files_write(const struct export_files *what, struct err *err);

#endif
