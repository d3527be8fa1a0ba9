// SPDX-License-Identifier: Apache-2.0
// Stored runs with all that their files take: uploads and the traces made of them.
#ifndef SERVER_STORED_RUNS_H
#define SERVER_STORED_RUNS_H

#include "server/store/store_bin.h"

// As store_list_stored; traces are looked for below the data folder.
MUST_CHECK bool stored_runs_list(struct store *store, const char *data_dir, enum stored_which which,
                                 struct arena *arena, struct stored_list *list, struct err *err);

uint64_t stored_runs_bytes(const struct stored_list *list); // of all of them

#endif
