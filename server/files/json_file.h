// SPDX-License-Identifier: Apache-2.0
// A small JSON document kept as a file.
#ifndef SERVER_JSON_FILE_H
#define SERVER_JSON_FILE_H

#include "ingest/base/err.h"

#include <jansson.h>

// Replaces what was there atomically and durably. what: for the message, "a webhook".
MUST_CHECK bool json_file_save(const char *path, const json_t *document, const char *what,
                               struct err *err);

#endif
