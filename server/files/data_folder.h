// SPDX-License-Identifier: Apache-2.0
// A folder of uploaded files, of a service or a backup, inspected without opening it.
#ifndef SERVER_DATA_FOLDER_H
#define SERVER_DATA_FOLDER_H

#include "ingest/base/err.h"

// Whether it contains uploaded files.
bool data_folder_has_uploads(const char *folder);

// Call before opening its database, which creates a missing one: ERR_CONFLICT if there are uploaded
// files but no database. A new one would refer to none of them, and unreferenced files are removed.
MUST_CHECK bool data_folder_check(const char *folder, struct err *err);

#endif
