// SPDX-License-Identifier: Apache-2.0
// The Upload-Metadata header of the tus protocol: pairs of a name and a value in base64.
#ifndef SERVER_TUS_METADATA_H
#define SERVER_TUS_METADATA_H

#include "ingest/base/arena.h"

#define TUS_MAX_FIELDS ((size_t)128)

struct tus_field {
    struct str name;  // printable ASCII
    struct str value; // UTF-8 without NUL; "" if the pair has none
};

struct tus_metadata {
    struct tus_field fields[TUS_MAX_FIELDS];
    size_t count;
};

// Reads a header. tag and meta, which may be repeated, may also hold several values, one per line;
// each becomes a field. ERR_USAGE. Names point into the header, values into the arena.
MUST_CHECK bool tus_metadata_parse(struct str header, struct arena *arena,
                                   struct tus_metadata *metadata, struct err *err);

// Writes the pairs as a header again, into the arena, without anything that looks like a secret.
MUST_CHECK bool tus_metadata_clean(const struct tus_metadata *metadata, struct arena *arena,
                                   struct str *header, struct err *err);

#endif
