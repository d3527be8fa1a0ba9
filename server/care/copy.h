// SPDX-License-Identifier: Apache-2.0
// Moves a service to another kind of database, to another place of files, or both: everything is
// copied and compared, and only the source's name changes. After an interruption it continues.
#ifndef SERVER_COPY_H
#define SERVER_COPY_H

#include "ingest/base/err.h"

#include <stdio.h>

// One side. Rows are in a folder (stepscope.db), or in another kind of database; files are in the
// folder, or where blobs says.
struct copy_side {
    const char *folder; // NULL: none
    const char *store;  // NULL: in the folder
    const char *blobs;  // NULL: in the folder
};

struct copy_request {
    struct copy_side from, to;
    FILE *out; // progress, and damaged files; a terminal gets a line that changes
};

// ERR_CONFLICT if the target has other data, ERR_BUSY if a service uses one of them, ERR_IO if
// files of the source are missing or damaged; everything else is copied then.
MUST_CHECK bool copy_service(const struct copy_request *request, struct err *err);

#endif
