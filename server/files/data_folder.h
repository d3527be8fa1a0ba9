// SPDX-License-Identifier: Apache-2.0
// A folder of uploaded files, of a service or a backup, looked at without opening it.
#ifndef SERVER_DATA_FOLDER_H
#define SERVER_DATA_FOLDER_H

#include "ingest/base/err.h"

// Whether uploaded files are in it.
bool data_folder_has_uploads(const char *folder);

// Before its database is opened, which makes one where there is none: ERR_CONFLICT when uploaded
// files are there but no database. A new one would name none of them, and what nothing names is
// removed.
MUST_CHECK bool data_folder_check(const char *folder, struct err *err);

#endif
