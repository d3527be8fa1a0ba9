// SPDX-License-Identifier: Apache-2.0
// Trace files that are the ranks of one run, analysed without a service: what the commands read.
#ifndef SERVER_RANK_FILES_H
#define SERVER_RANK_FILES_H

#include "server/base/pipeline.h"

// How files are read.
struct rank_files_options {
    const char *command; // that messages on stderr begin with: "analyze"
    struct analysis_options analysis;
    uint64_t job_memory_bytes; // for the analysis of one file
    struct progress *progress;
};

// One file, or member of an archive, that could be read. Its report is kept as it is saved, which
// takes a tenth of its tables.
struct rank_file {
    const char *path; // borrowed; of a member behind the archive's: "job.tar.zst/rank0.json"
    int64_t rank;
    struct buf saved;
};

struct rank_files {
    struct rank_file *at; // by rank
    size_t count, room;
    struct arena arena;   // of the list and of the run's report
    struct report report; // of the run; no tables when no file could be read
    struct err unread;    // of the first file that could not be read, already told; ERR_NONE: none
};

// Reads files one by one, of archives the traces in them, and joins them. Their ranks are what they
// say, else what their names say, else the first that are free. A file that cannot be read is told
// of on stderr and left out. Of an archive, members that are no traces are left out silently.
// rank_files_free is due even when it fails.
MUST_CHECK bool rank_files_read(struct rank_files *files, const char *const *paths, size_t count,
                                const struct rank_files_options *options, struct err *err);
void rank_files_free(struct rank_files *files);

// Adds tables of one rank to a report, those of `known` (NULL-terminated).
MUST_CHECK bool rank_files_load(const struct rank_files *files, size_t index,
                                const struct table_desc *const *known, struct report *report,
                                struct err *err);

// Lets go of what is kept of all ranks but one, SIZE_MAX: of all.
void rank_files_keep_only(struct rank_files *files, size_t index);

// Threads that a command may work with: as asked, 0: one per core; the calling one is among them.
void rank_files_share_cores(struct cores *cores, int64_t threads);

#endif
