// SPDX-License-Identifier: Apache-2.0
// Trace files that are the ranks of one run, analyzed without a service: what the commands read.
#ifndef SERVER_RANK_FILES_H
#define SERVER_RANK_FILES_H

#include "server/base/pipeline.h"

// How files are read.
struct rank_files_options {
    const char *command; // that starts messages on stderr: "analyze"
    struct analysis_options analysis;
    uint64_t job_memory_bytes; // for the analysis of one file
    struct progress *progress;
    bool keeps; // the sealed traces, in temporary files
};

// A file, or a member of an archive, that was read. Its report is kept in its saved form, which
// takes a tenth of the memory.
struct rank_file {
    const char *path; // borrowed; of a member: "job.tar.zst/rank0.json"
    int64_t rank;
    int64_t says;    // the rank by its metadata, -1 none
    bool is_process; // one of several in its file: its own trust report says how it got its rank
    bool by_order;   // the rank is only the file's place
    struct buf saved;
    int kept; // its sealed trace; -1: not kept
};

struct rank_files {
    struct rank_file *at; // by rank
    size_t count, room;
    struct arena arena;   // of the list and of the run's report
    struct report report; // of the run; no tables when no file could be read
    struct err unread; // of the first file that could not be read, already reported; ERR_NONE: none
};

// Reads files, and the traces in archives and folders, one by one, and joins them. Ranks come from
// their metadata, else from their names, else the first free one is used. Files that cannot be read
// are reported on stderr and skipped; what is no trace in an archive or a folder is skipped
// silently. Call rank_files_free even if it fails.
MUST_CHECK bool rank_files_read(struct rank_files *files, const char *const *paths, size_t count,
                                const struct rank_files_options *options, struct err *err);
void rank_files_free(struct rank_files *files);

// Adds tables of one rank to a report, those of `known` (NULL-terminated).
MUST_CHECK bool rank_files_load(const struct rank_files *files, size_t index,
                                const struct table_desc *const *known, struct report *report,
                                struct err *err);

// Opens the sealed trace of a rank, which is closed with trace_file_close. ERR_NOT_FOUND if it was
// not kept.
struct trace_file;
MUST_CHECK struct trace_file *rank_files_open(const struct rank_files *files, size_t index,
                                              struct err *err);

// That trace as a whole, for the caller to free.
MUST_CHECK struct trace *rank_files_trace(const struct rank_files *files, size_t index,
                                          struct budget *budget, struct err *err);

// Frees the reports of all ranks but one; SIZE_MAX: of all.
void rank_files_keep_only(struct rank_files *files, size_t index);

// Threads a command may use: as requested, 0: one per core; includes the calling one.
void rank_files_share_cores(struct cores *cores, int64_t threads);

#endif
