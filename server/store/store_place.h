// SPDX-License-Identifier: Apache-2.0
// Which database a data folder belongs to.
#ifndef SERVER_STORE_PLACE_H
#define SERVER_STORE_PLACE_H

#include "ingest/base/err.h"

struct store;

// Opens the database at a place such as postgres://..., else (NULL) that of the data folder. On a
// place that several services share, this one is known by a name that the folder keeps.
MUST_CHECK struct store *store_open_at(const char *place, const char *folder, struct err *err);

#endif
