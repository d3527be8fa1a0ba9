// SPDX-License-Identifier: Apache-2.0
// Stored runs with the size of their files: uploads and the traces made from them.
#ifndef SERVER_STORED_RUNS_H
#define SERVER_STORED_RUNS_H

#include "server/files/blob_store.h"
#include "server/store/store_bin.h"

// Like store_list_stored; traces are looked up among the files.
MUST_CHECK bool stored_runs_list(struct store *store, struct blob_store *files,
                                 enum stored_which which, struct arena *arena,
                                 struct stored_list *list, struct err *err);

uint64_t stored_runs_bytes(const struct stored_list *list); // of all of them

#endif
