// SPDX-License-Identifier: Apache-2.0
// Where files and rows meet: an upload becomes blobs and rows so that nothing acknowledged is lost,
// and a deleted run leaves neither. Handlers call this instead of the store or the blobs.
#ifndef SERVER_INTAKE_H
#define SERVER_INTAKE_H

#include "server/files/blob.h"
#include "server/jobs/jobs.h"
#include "server/store/store.h"

struct care;

struct intake {
    struct store *store;
    struct blobs *blobs;
    struct jobs *jobs; // NULL: no workers are woken
    struct care *care; // NULL: cleanup is not triggered
};

// One received file: its sealed spool and what the client said about it.
struct intake_part {
    struct spool *spool;
    struct str filename; // display only, valid UTF-8
    int64_t rank;        // from a field, or STORE_NO_RANK
    struct str role;     // as in trace_part
    struct str archive;  // the format word of an archive, "": it is a trace
};

struct intake_request {
    struct run_request run;
    const struct intake_part *parts;
    size_t count;
    bool replace;
    struct upload_key key;
    struct str owner, resumable_id; // as in upload_request
    uint64_t sent_bytes;            // this, too
};

// Names the blobs, adds all rows in one transaction and wakes the workers. After true, answer 202
// (200 if upload->all_existing). The caller still closes the spools. Fails like store_add_upload.
MUST_CHECK bool intake_accept(const struct intake *intake, const struct intake_request *request,
                              struct arena *arena, struct upload *upload, struct err *err);

// Moves a run to the bin, like store_bin_run, even on a full disk.
MUST_CHECK bool intake_bin_run(const struct intake *intake, struct str run_id, int64_t expected,
                               struct str who, struct err *err);

// Deletes a run for good, whether in the bin or not: rows, then files. expected: its revision or
// STORE_ANY.
MUST_CHECK bool intake_delete_run(const struct intake *intake, struct str run_id, int64_t expected,
                                  struct err *err);

// Removes the files of deleted rows.
MUST_CHECK bool intake_collect(const struct intake *intake, struct err *err);

// What was found in folders of files when they were last looked through. {0}: none was.
enum { SWEPT_CHARACTERS = 36, SWEPT_FOLDERS = SWEPT_CHARACTERS * SWEPT_CHARACTERS };
struct swept_folder {
    int64_t changed_ns; // when it had changed before that; 0: unknown, or something was removed
    uint64_t files, bytes;
    uint64_t sweep; // the last one in which it was there
};
struct swept_folders {
    struct swept_folder at[2][SWEPT_FOLDERS]; // by type and name
    uint64_t sweeps;
};

// Removes files that no row refers to, and those among them that were never completed, even while
// uploads and jobs are running. Folders in which nothing has come or gone since the last time are
// passed over: what loses its row is garbage, which intake_collect removes.
MUST_CHECK bool intake_sweep_unnamed(const struct intake *intake, struct swept_folders *swept,
                                     struct err *err);
// Files of that type that remained, and their bytes, after the last sweep.
void swept_count(const struct swept_folders *swept, enum blob_type type, uint64_t *files,
                 uint64_t *bytes);

// At startup, before jobs and handlers: removes what an earlier process did not finish. How long it
// takes does not depend on how much is stored.
MUST_CHECK bool intake_sweep(const struct intake *intake, struct err *err);

#endif
