// SPDX-License-Identifier: Apache-2.0
// A folder of uploaded files, of a service or a backup, inspected without opening it.
#ifndef SERVER_DATA_FOLDER_H
#define SERVER_DATA_FOLDER_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

// Whether it contains uploaded files.
bool data_folder_has_uploads(const char *folder);

// Call before opening its database, which creates a missing one: ERR_CONFLICT if there are uploaded
// files but no database. A new one would refer to none of them, and unreferenced files are removed.
MUST_CHECK bool data_folder_check(const char *folder, struct err *err);

// The bytes of the files in all folders DATA/NAME/ID.
uint64_t data_folder_bytes(const char *data, const char *name);

// Removes a folder DATA/NAME/ID with its files, for what is kept of a run beside the database. A
// missing one is none. Returns whether nothing is left.
bool data_folder_drop(const char *data, const char *name, struct str id);

#endif
