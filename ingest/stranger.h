// SPDX-License-Identifier: Apache-2.0
// Says of a file that is no trace what it looks like, and what to do instead.
#ifndef INGEST_STRANGER_H
#define INGEST_STRANGER_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

struct stranger {
    const char *what;   // "a zip archive"
    const char *advice; // "unpack it and upload the traces in it"; NULL when there is none
};

// By the first bytes; NULL when they are of nothing that is known, and always of JSON.
const struct stranger *stranger_by_bytes(struct str head);

// Fails with ERR_FORMAT: what was found and what was expected.
bool stranger_refuse(const struct stranger *stranger, struct err *err);

// Whether what begins with a bracket goes on as JSON does.
bool stranger_is_json(struct str head);

// The same of a text that begins as JSON does and holds no event. head: its first bytes, of which
// only names of members are repeated.
bool stranger_refuse_json(struct str head, struct err *err);

#endif
