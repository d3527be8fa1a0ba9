// SPDX-License-Identifier: Apache-2.0
// The store of a page without a server: one run, from files that were just analyzed. Its functions
// are those of store.h and blob.h that reading a run takes, so that the handlers of server/api
// answer as in the service.
#ifndef SERVER_STORE_OF_FILES_H
#define SERVER_STORE_OF_FILES_H

#include "server/cli/rank_files.h"
#include "server/store/store.h"

#define STORE_OF_FILES_RUN "r_1"

struct store {
    struct rank_files files;
    struct str name; // of the run
    int64_t created_ns;
};

struct blobs {
    struct store *store;
};

#endif
